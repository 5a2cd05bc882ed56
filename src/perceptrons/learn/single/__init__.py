"""Learning and predicting one example a call."""
