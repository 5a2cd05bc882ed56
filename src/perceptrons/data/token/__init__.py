"""Tokens: CoNLL files, templates, and vocabularies that number the features of sequences."""
