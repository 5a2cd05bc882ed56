"""Learning without scikit-learn: the driver of all training, the learners and their state, readouts, labels."""
