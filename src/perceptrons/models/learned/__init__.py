"""What fitted models tell: weights by name, support rows, probabilities, tags."""
