"""The verbs of `perceptrons tag`."""
