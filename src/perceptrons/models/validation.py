"""Validate input: turn features into rows, labels into arrays, weights into one number per row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_consistent_length, column_or_1d, validate_data

from perceptrons.data import Rows, Source, as_rows
from perceptrons.data.sparse import check_sparse
from perceptrons.learn import labels as labels_of
from perceptrons.learn.examples import Examples
from perceptrons.learn.targets import Targets
from perceptrons.learn.task import codes_of_held_out

Array = npt.NDArray[Any]
FLOATS = (np.float64, np.float32)
NARROW = (np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.float16)  # float32 holds all their values


def features(model: BaseEstimator, X: Any, *, reset: bool, input_name: str = "X") -> Rows:
    """Rows of X, read in place where possible; sets or compares the features of the model."""
    names = getattr(X, "columns", None)
    X_checked = readable(X, model, input_name)
    rows = as_rows(X_checked, None if names is None else list(names), input_name)
    # The model changes last, so that bad input leaves it unchanged.
    if reset and isinstance(X, np.ndarray | sp.sparray | sp.spmatrix):  # without names: no need to look for them
        vars(model)["n_features_in_"] = rows.n_features
        vars(model).pop("feature_names_in_", None)
    elif not _known_width(model, X_checked, names, reset):
        validate_data(model, X if names is not None else X_checked, reset=reset, skip_check_array=True)
    return rows


def readable(X: Any, asker: Any, input_name: str = "X") -> Any:
    """X as a float array or CSR matrix, not copied if possible; `asker` is the estimator, or its name, for errors.

    A CSR matrix that passes can read in place is returned as it is: `as_rows` checks its arrays.
    """
    if isinstance(X, np.ma.MaskedArray):
        raise ValueError(f"Input {input_name} is a masked array, whose mask is not read: impute masked values first.")
    first = X[0] if isinstance(X, list | tuple) and X else X
    if isinstance(first, Mapping) and not sp.issparse(first):  # a sparse matrix in DOK format is a dict, too
        raise ValueError(
            f"Input {input_name} must be rows of numbers, got {'a dict' if isinstance(X, Mapping) else 'dicts'}. To "
            "learn from dicts, use learn_many, or learn_one for a single one; to predict, use predict_many or "
            "predict_one. For fit, turn dicts into a matrix first, with DictVectorizer of scikit-learn."
        )
    if isinstance(X, np.ndarray) and X.dtype in NARROW:
        X = X.astype(np.float32, order="C")
    if _as_is(X):
        return X
    if sp.issparse(X):
        check_sparse(X, input_name)
    try:
        return check_array(
            X,
            accept_sparse="csr",
            dtype=FLOATS,
            order="C",
            ensure_all_finite=False,  # as_rows reports where
            estimator=asker,
            input_name=input_name,
        )
    except OverflowError:  # an int
        raise ValueError(f"{input_name} has a number that is too large for float64") from None
    except (ValueError, TypeError) as error:
        from perceptrons.models.table.numeric import advice  # seldom needed

        what = advice(X, input_name)
        if what is None:
            raise
        raise ValueError(f"{what} ({error})") from None


def _known_width(model: BaseEstimator, X: Any, names: Any, reset: bool) -> bool:
    """Whether only the number of features needs comparing, and it matches: the fast path for streams."""
    nameless = names is None and ("_names" in vars(model) or not hasattr(model, "feature_names_in_"))
    return nameless and not reset and bool(X.shape[1] == getattr(model, "n_features_in_", None))


def _as_is(X: Any) -> bool:
    """Whether passes can read X in place, so that scikit-learn's slower checks are not needed."""
    if sp.issparse(X):
        values: Any = getattr(X, "data", None)
        plain = X.format == "csr" and X.ndim == 2 and isinstance(values, np.ndarray) and values.ndim == 1
        return bool(plain and values.dtype in FLOATS and min(X.shape) > 0)
    return (
        isinstance(X, np.ndarray)
        and X.dtype in FLOATS
        and X.dtype.isnative
        and X.ndim == 2
        and X.flags.c_contiguous
        and X.flags.aligned
        and min(X.shape) > 0
    )


def labels(model: BaseEstimator, y: Any, rows: Rows, input_name: str = "y") -> Array:
    """Labels as a 1-D array, one per row, none missing."""
    if y is None:
        raise ValueError(f"This {type(model).__name__} estimator requires y to be passed, but the target y is None.")
    _refuse_missing(y if isinstance(y, list) else (), input_name)  # NumPy would turn them into text
    array = np.asarray(y) if isinstance(y, list) else y
    if not isinstance(array, np.ndarray) or array.ndim != 1:
        array = column_or_1d(y, warn=True)
    if len(array) != len(rows):
        check_consistent_length(rows.sq_norm, array)
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        row = int(np.flatnonzero(~np.isfinite(array))[0])
        what = "NaN" if np.isnan(array[row]) else "infinity"
        raise ValueError(f"Input {input_name} contains {what} at row {row}. Remove rows without a label first.")
    if array.dtype == object:
        _refuse_missing(array, input_name)
        numbers = np.array(array.tolist())
        array = numbers if numbers.dtype.kind in "biuf" and numbers.ndim == 1 else array
    return np.asarray(array)


def as_numbers(y: Array, input_name: str) -> Array:
    """Text and objects as numbers, as scikit-learn's regressors read them; an error names what is not a number."""
    for row, value in enumerate(y.tolist()):
        try:
            float(value)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                f"Unknown label type: expected numbers to predict, got {value!r:.60} at row {row} of {input_name}"
            ) from None
    return y.astype(np.float64)


def _refuse_missing(values: Any, input_name: str) -> None:
    """Raise an error for missing labels: None, NaN and those of pandas."""
    for row, value in enumerate(values):
        absent = value is None or type(value).__name__ in ("NAType", "NaTType")
        if absent or (isinstance(value, float) and value != value):
            what = "NaN" if isinstance(value, float) else value
            raise ValueError(f"Input {input_name} contains {what} at row {row}. Remove rows without a label first.")


def distinct(y: Array) -> Array:
    """The classes among labels, sorted."""
    classes = labels_of.distinct(y)
    check_classification_targets(classes[:10])  # a few are enough; many could look like regression
    return classes


def held_out(model: Any, X_val: Any, y_val: Any, targets: Targets) -> Examples:
    """The held-out examples that were passed to fit."""
    source = X_val if isinstance(X_val, Source) and y_val is None else None
    if source is not None:
        targets.reads(source)
        X_val, y_val = source.arrays()
    if X_val is None or y_val is None:
        raise ValueError("X_val and y_val go together: pass both or neither")
    rows = features(model, X_val, reset=False, input_name="X_val")
    y_val = model._labels(y_val, rows, "y_val")
    if source is None:
        return Examples(rows, targets.encode(y_val, "y_val"))
    return Examples(rows, codes_of_held_out(targets, y_val, source.name))


def sample_weights(sample_weight: Any, rows: Rows) -> npt.NDArray[np.float64] | None:
    """One weight per row; None if none were given."""
    if sample_weight is None:
        return None
    try:
        given = np.asarray(sample_weight, dtype=np.float64)
    except OverflowError:  # a large int
        raise ValueError("sample_weight must be >= 0 and finite, got a number that is too large for float64") from None
    if given.shape not in ((), (len(rows),)):
        raise ValueError(f"sample_weight.shape == {given.shape}, expected {(len(rows),)}!")
    weight = np.ones(len(rows)) * given
    bad = np.flatnonzero(~((weight >= 0) & (weight < np.inf)))
    if bad.size:
        raise ValueError(f"sample_weight must be >= 0 and finite, got {weight[bad[0]]} at row {bad[0]}")
    return weight
