"""Predictions for Dask collections, which are computed block by block when they are needed."""

from __future__ import annotations

from typing import Any

import numpy as np
from dask import array, delayed, is_dask_collection
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from perceptrons.dask.collections import check_matrix
from perceptrons.models.learned import belief


def mapped(model: Any, X: Any, method: str) -> Any:
    """What a method of the fitted model returns for each block of a collection, as a Dask array."""
    check_is_fitted(model)
    local = delayed(model.to_local(), name=None, pure=False, traverse=False)
    few = model.n_features_in_
    like = getattr(model.to_local(), method)(_two_rows(X, few))
    meta = like[:0]
    if not hasattr(X, "chunks"):
        return X.map_partitions(_called, local, method, meta=meta)
    check_matrix(X)
    if X.shape[1] != few:
        name = type(model).__name__
        raise ValueError(f"X has {X.shape[1]} features, but {name} is expecting {few} features as input")
    X = X.rechunk({1: -1}) if X.numblocks[1] > 1 else X
    if like.ndim == 1:
        return array.map_blocks(_called, X, local, method, dtype=like.dtype, drop_axis=1, meta=meta)
    chunks = (X.chunks[0], (like.shape[1],))
    return array.map_blocks(_called, X, local, method, dtype=like.dtype, chunks=chunks, meta=meta)


def probabilities(name: str) -> Any:
    """The method of this name in `models.learned.belief`, also for Dask collections."""
    local = getattr(belief, name)

    def method(model: Any, X: Any) -> Any:
        return mapped(model, X, name) if is_dask_collection(X) else local.fn(model, X)

    method.__name__, method.__doc__ = name, local.__doc__
    return available_if(belief.believes)(method)


def _two_rows(X: Any, n_features: int) -> Any:
    """Rows of zeros, with the names of the columns."""
    zeros = np.zeros((2, n_features))
    if not hasattr(X, "columns"):
        return zeros
    import pandas

    return pandas.DataFrame(zeros, columns=X.columns)


def _called(block: Any, model: Any, method: str) -> Any:
    """Call a method of the model with a block, which may be empty."""
    if block.shape[0]:
        return getattr(model, method)(block)
    return getattr(model, method)(np.zeros((1, model.n_features_in_)))[:0]


def accuracy(model: Any, X: Any, y: Any, sample_weight: Any) -> float:
    """The share of rows that are predicted correctly, or of their weights; computed by the workers."""
    labels = y.map_partitions(np.asarray, meta=np.empty(0, dtype=object)) if hasattr(y, "map_partitions") else y
    right = (model.predict(X) == labels).astype(np.float64)
    if sample_weight is None:
        return float(right.mean().compute())
    return float(((right * sample_weight).sum() / sample_weight.sum()).compute())
