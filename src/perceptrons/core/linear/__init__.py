"""Compiled passes over rows, with one weight vector or one per class."""
