"""The compiled code and nothing else: rows, spaces, one pass. Imports NumPy, Numba and the rules."""
