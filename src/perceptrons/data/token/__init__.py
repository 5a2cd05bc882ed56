"""Tokens: CoNLL files, templates, and the numbers of features of sequences."""
