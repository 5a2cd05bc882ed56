"""Examples, wherever they come from, as rows that a compiled pass can read."""

from perceptrons.data.arrays import Rows, as_rows
from perceptrons.data.batches import Batch, Source
from perceptrons.data.files import DataError
from perceptrons.data.source import source

__all__ = ["Batch", "DataError", "Rows", "Source", "as_rows", "source"]
