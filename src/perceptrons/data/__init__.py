"""Examples, wherever they come from, as rows that a compiled pass can read."""

from perceptrons.data.arrays import Rows, as_rows

__all__ = ["Rows", "as_rows"]
