"""Dask arrays and data frames as shards of rows: consecutive blocks make a shard, on the worker that has them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from dask import delayed, is_dask_collection

from perceptrons.data.arrays import Rows, as_rows
from perceptrons.data.shards.cutting import LARGEST, USUAL
from perceptrons.learn.shards.rows import ArrayShard
from perceptrons.models import validation


class Blocks(NamedTuple):
    """The blocks of a collection."""

    blocks: list[Any]  # delayed
    sizes: list[float]  # number of rows of each; NaN if it is not known


def blocks_of(collection: Any, name: str) -> Blocks:
    """The blocks of a Dask array or data frame, each with all its columns."""
    if not is_dask_collection(collection) or not hasattr(collection, "to_delayed"):
        raise TypeError(
            f"{name} must be a Dask array, a Dask data frame or a source, got {type(collection).__name__}: use the "
            "local estimator, or dask.array.from_array"
        )
    if not hasattr(collection, "chunks"):  # a data frame
        parts = collection.to_delayed()
        return Blocks(list(parts), [np.nan] * len(parts))
    if collection.ndim == 2 and collection.numblocks[1] > 1:
        collection = collection.rechunk({1: -1})
    # Not optimised: X and y may share tasks, which must be the same in both graphs.
    parts = collection.to_delayed(optimize_graph=False).ravel().tolist()
    return Blocks(parts, [float(size) for size in collection.chunks[0]])


def check_matrix(X: Any, name: str = "X") -> None:
    """Raise an error for an array that is not a matrix."""
    if len(X.shape) != 2:
        raise ValueError(f"{name} must have two axes, rows and features, got an array of shape {X.shape}")


def aligned(collection: Any, like: Any, blocks: Blocks, name: str) -> list[Any]:
    """The blocks of labels or weights, which belong to those of X."""
    if isinstance(collection, (np.ndarray, list)) and not np.isnan(blocks.sizes).any():
        from dask import array

        collection = array.from_array(np.asarray(collection), chunks=-1)
    if not is_dask_collection(collection):
        raise TypeError(f"{name} must be a Dask array or series, as X is one, got {type(collection).__name__}")
    found = blocks_of(collection, name)
    known = not np.isnan([*found.sizes, *blocks.sizes]).any()
    if known and sum(found.sizes) != sum(blocks.sizes):
        raise ValueError(
            f"X has {int(sum(blocks.sizes)):,} rows, but {name} has {int(sum(found.sizes)):,}: they must have the same"
        )
    if known and found.sizes != blocks.sizes:
        rechunked = {0: tuple(int(size) for size in blocks.sizes)}
        found = blocks_of(collection.rechunk(rechunked), name)
    if len(found.blocks) != len(blocks.blocks):
        raise ValueError(
            f"X has {len(blocks.blocks)} blocks, but {name} has {len(found.blocks)}, and their sizes are not known: "
            "call compute_chunk_sizes() on both, or take both from one collection"
        )
    return found.blocks


def groups(blocks: Blocks, n_shards: int | None, row_bytes: float) -> list[range]:
    """Which consecutive blocks make a shard; about n_shards groups of similar size."""
    n = len(blocks.blocks)
    sizes = np.nan_to_num(np.array(blocks.sizes), nan=1.0)
    if n_shards is None:
        total = row_bytes * sizes.sum() if not np.isnan(blocks.sizes).any() else 0.0
        n_shards = max(USUAL, int(np.ceil(total / LARGEST)))
    n_shards = min(n, n_shards)
    share = np.cumsum(sizes) - sizes / 2  # the middle of each block
    number = np.minimum((share / max(1.0, sizes.sum()) * n_shards).astype(int), n_shards - 1)
    edges = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), n]
    return [range(begin, end) for begin, end in pairwise(edges)]


def shards_of(X: Any, y: Any, sample_weight: Any, n_shards: int | None, asker: str, name: str = "X") -> list[Any]:
    """Delayed shards of a collection with its labels. asker: the name of the estimator, for errors."""
    blocks = blocks_of(X, name)
    check_matrix(X, name)
    if y is None:
        raise ValueError(f"This {asker} estimator requires y to be passed, but the target y is None.")
    labels = aligned(y, X, blocks, name.replace("X", "y"))
    weights = None if sample_weight is None else aligned(sample_weight, X, blocks, "sample_weight")
    names = list(X.columns) if hasattr(X, "columns") else None
    width = len(names) if names is not None else X.shape[1]
    row_bytes = 8.0 * width if names is not None else float(X.dtype.itemsize * X.shape[1])
    make = delayed(_made, pure=False, traverse=False)
    return [
        make(
            [blocks.blocks[k] for k in group],
            [labels[k] for k in group],
            None if weights is None else [weights[k] for k in group],
            *(group.start, width, names, asker, name),
        )
        for group in groups(blocks, n_shards, row_bytes)
    ]


def _made(
    X: list[Any], y: list[Any], weights: list[Any] | None, first: int, width: int, names: Any, asker: str, name: str
) -> ArrayShard:
    """A shard of some blocks, in a task. A single block is not copied."""
    rows, labels, given = list[Rows](), list[Any](), list[Any]()
    for k, block in enumerate(X):
        if not block.shape[0]:
            continue
        try:
            part = as_rows(validation.readable(block, asker, name), names, name)
            labels.append(validation.labels(None, y[k], part, name.replace("X", "y")))
            if weights is not None:
                given.append(validation.sample_weights(weights[k], part))
        except ValueError as error:
            raise ValueError(f"block {first + k} of {name}: {error}") from error
        rows.append(part)
    if not rows:
        return ArrayShard(Rows(np.empty((0, width)), None, None, width, np.empty(0)), np.empty(0), None, name)
    joined = rows[0] if len(rows) == 1 else Rows.joined(rows)
    weight = None if weights is None else np.concatenate(given)
    return ArrayShard(joined, labels[0] if len(labels) == 1 else np.concatenate(labels), weight, name)
