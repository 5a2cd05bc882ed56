"""Rows and weights as arrays of a model file; weights may be stored without zeros."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np

from perceptrons.data import Rows
from perceptrons.data.sparse import are_pointers
from perceptrons.store.format import Array, Tensors
from perceptrons.store.values import Settings, check_range, take


def pack_rows(rows: Rows, name: str) -> tuple[dict[str, Any], Tensors]:
    """Convert rows to settings and arrays."""
    tensors = {f"{name}.values": rows.values, f"{name}.sq_norm": rows.sq_norm}
    if rows.indices is not None and rows.indptr is not None:
        tensors |= {f"{name}.indices": rows.indices, f"{name}.indptr": rows.indptr}
    return {"n_rows": len(rows), "sparse": rows.indices is not None}, tensors


def unpack_rows(settings: Settings, tensors: Tensors, name: str, n_features: int) -> Rows:
    """Restore rows from `pack_rows`, and check their indices, which compiled code trusts."""
    n = settings.whole("n_rows")
    kind = "f4" if f"{name}.values" in tensors and tensors[f"{name}.values"].dtype == np.float32 else "f8"
    sq_norm = take(tensors, f"{name}.sq_norm", "f8", (n,))
    if (sq_norm < 0).any():
        raise ValueError(f"{name}.sq_norm must be >= 0")
    if not settings.flag("sparse"):
        return Rows(_sealed(take(tensors, f"{name}.values", kind, (n, n_features))), None, None, n_features, sq_norm)
    values, indptr = take(tensors, f"{name}.values", kind, (None,)), take(tensors, f"{name}.indptr", "u8", (n + 1,))
    wide = f"{name}.indices" in tensors and tensors[f"{name}.indices"].dtype == np.uint64
    indices = take(tensors, f"{name}.indices", "u8" if wide else "u4", values.shape)
    if not are_pointers(indptr, len(values)):
        raise ValueError(f"{name}.indptr must increase from 0 to the number of values")
    check_range(f"{name}.indices", indices, n_features)
    falls = np.zeros(len(values) + 1, dtype=bool)
    falls[1:-1] = indices[1:] <= indices[:-1]
    falls[indptr] = False  # a new row begins
    if falls.any():
        raise ValueError(f"{name}.indices must increase within each row")
    return Rows(_sealed(values), _sealed(indices), _sealed(indptr), n_features, sq_norm)


def for_products(rows: Sequence[Rows]) -> int:
    """The bytes that inner products with sparse rows take: a number per feature."""
    return 8 * max((part.n_features + 1 for part in rows if part.indices is not None), default=0)


def _sealed(array: Array) -> Array:
    """Make an array read-only: passes are compiled for read-only rows."""
    array.flags.writeable = False
    return array


def pack_weights(array: Array, name: str, drop_zeros: bool) -> Tensors:
    """Convert weights to arrays: all of them, or positions and values of the non-zeros if that is shorter."""
    if drop_zeros:
        flat = array.reshape(-1)
        kind = np.uint32 if flat.size <= 1 << 32 else np.uint64
        index = np.flatnonzero(flat.view(np.uint64))  # compares bits, so that −0 is kept
        if len(index) * (8 + np.dtype(kind).itemsize) < array.nbytes:
            return {f"{name}.index": index.astype(kind), f"{name}.value": flat[index]}
    return {name: array}


def unpack_weights(tensors: Tensors, name: str, shape: tuple[int, ...], layout: Literal["C", "F"]) -> Array:
    """Restore weights from `pack_weights`. Zeros that were left out take no memory until they change."""
    if name in tensors or f"{name}.index" not in tensors:
        return np.asarray(take(tensors, name, "f8", shape), order=layout)
    wide = tensors[f"{name}.index"].dtype == np.uint64
    index = take(tensors, f"{name}.index", "u8" if wide else "u4", (None,))
    value = take(tensors, f"{name}.value", "f8", index.shape)
    weights: Array = np.zeros(shape, order=layout)
    check_range(f"{name}.index", index, weights.size)
    weights[np.unravel_index(index.astype(np.intp), shape)] = value
    return weights


def without_zeros(tensors: Tensors, shapes: Mapping[str, tuple[int, ...]]) -> int:
    """The bytes that arrays of these shapes, by name, take with their zeros, if they are stored without them."""
    return sum(8 * math.prod(shape) for name, shape in shapes.items() if f"{name}.index" in tensors)
