"""Examples, wherever they come from, as rows that a compiled pass can read."""

from perceptrons.data.arrays import Rows, as_rows
from perceptrons.data.batches import Batch, Source
from perceptrons.data.conll import read_conll
from perceptrons.data.files import DataError
from perceptrons.data.source import source
from perceptrons.data.templates import column
from perceptrons.data.tokens import Tokens

__all__ = ["Batch", "DataError", "Rows", "Source", "Tokens", "as_rows", "column", "read_conll", "source"]
