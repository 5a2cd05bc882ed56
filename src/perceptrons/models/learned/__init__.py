"""What estimators give back once they are fitted: tables of weights, support rows, labels of sequences."""
