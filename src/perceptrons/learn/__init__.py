"""Training without scikit-learn: the training loop, the learners and their state, readouts, labels."""
