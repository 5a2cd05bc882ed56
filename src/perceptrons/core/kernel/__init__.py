"""Compiled passes in a kernel's feature space, with all support rows or on a budget."""
