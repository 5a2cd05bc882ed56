"""Compiled search and learning over sequences of labels."""
