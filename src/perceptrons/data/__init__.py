"""Examples from arrays, files and streams, as rows that a compiled pass can read.

The parts for sequences are imported on first use, so that commands which read tables start without them.
"""

import importlib
from typing import TYPE_CHECKING, Any

from perceptrons.data.arrays import Rows, as_rows
from perceptrons.data.batches import Batch, Source
from perceptrons.data.files import DataError
from perceptrons.data.source import source

if TYPE_CHECKING:
    from perceptrons.data.token.conll import read_conll
    from perceptrons.data.token.conll_source import conll_source
    from perceptrons.data.token.templates import column
    from perceptrons.data.token.tokens import Tokens

__all__ = [
    "Batch",
    "DataError",
    "Rows",
    "Source",
    "Tokens",
    "as_rows",
    "column",
    "conll_source",
    "read_conll",
    "source",
]

LATER = {"Tokens": "tokens", "column": "templates", "conll_source": "conll_source", "read_conll": "conll"}


def __getattr__(name: str) -> Any:
    if name not in LATER:
        raise AttributeError(f"module 'perceptrons.data' has no attribute {name!r}")
    return getattr(importlib.import_module(f"perceptrons.data.token.{LATER[name]}"), name)
