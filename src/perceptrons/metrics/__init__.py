"""Scores of predictions: precision, recall and F1 of entities by type."""
