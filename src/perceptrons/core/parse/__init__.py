"""Compiled parsers: svmlight, CoNLL, CSV records, decimal numbers, hashing and interning of strings."""
