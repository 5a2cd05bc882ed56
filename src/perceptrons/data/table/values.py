"""Look into Arrow arrays without importing what Arrow's own ways need."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt


def values_of(column: Any, dtype: Any) -> npt.NDArray[Any]:
    """View the numbers of a column without nulls. (The column's `to_numpy` would import pandas.)"""
    size = np.dtype(dtype).itemsize
    return np.frombuffer(column.buffers()[1], dtype=dtype, count=len(column), offset=column.offset * size)


def array_of(numbers: npt.NDArray[Any], valid: npt.NDArray[np.bool_] | None = None) -> Any:
    """View int64 or float64 numbers as an Arrow array, null where they are not valid. (`pa.array` imports pandas.)"""
    import pyarrow as pa

    kind = pa.int64() if numbers.dtype == np.int64 else pa.float64()
    bits = None if valid is None else pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.Array.from_buffers(kind, len(numbers), [bits, pa.py_buffer(np.ascontiguousarray(numbers))])


def text_array(texts: list[str]) -> Any:
    """Make an Arrow array of strings. (`pa.array` imports pandas.)"""
    import pyarrow as pa

    coded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, coded)]).astype(np.int32)
    return pa.Array.from_buffers(pa.string(), len(texts), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(coded))])


def nulls_of(column: Any) -> npt.NDArray[np.bool_]:
    """Tell which cells of an array are null. (Arrow's own way would import much.)"""
    bits = np.frombuffer(column.buffers()[0], dtype=np.uint8)
    valid = np.unpackbits(bits, bitorder="little")[column.offset : column.offset + len(column)]
    return np.logical_not(valid)


def floats_of(column: Any) -> npt.NDArray[np.float64]:
    """The numbers of a column of any numeric type, NaN for missing ones."""
    import pyarrow as pa

    column = column.combine_chunks()
    if pa.types.is_null(column.type):
        return np.full(len(column), np.nan)
    if not (pa.types.is_integer(column.type) or pa.types.is_float64(column.type)):
        column = column.cast(pa.float64(), safe=False)
    values = values_of(column, column.type.to_pandas_dtype()).astype(np.float64)
    if column.null_count:
        values[nulls_of(column)] = np.nan
    return values


def is_view(type: Any) -> bool:
    """Whether an Arrow type is text whose values may share memory."""
    import pyarrow as pa

    return hasattr(pa.types, "is_string_view") and bool(pa.types.is_string_view(type))  # not in older versions
