"""Turn what users pass as X and y into an Arrow table, and compare its columns with those of training."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import assert_all_finite, check_consistent_length, column_or_1d, validate_data

from perceptrons.data.files import DataError
from perceptrons.data.source import is_frame
from perceptrons.data.table.arrow.frames import column_of, table_of
from perceptrons.data.table.schema import check_names

TARGET = "target"  # the name of a column of labels that has none


def features_of(model: Any, X: Any, target: str | None, *, reset: bool) -> tuple[Any, Any]:
    """The columns of X as an Arrow table, without the target; and the target's position and column, if X has it.

    Sets or compares the features of the model.
    """
    if sp.issparse(X):
        raise TypeError(
            f"Sparse data was passed for X, but dense data is required: {type(model).__name__} is for data frames. Use "
            "Perceptron or PassiveAggressiveRegressor for sparse matrices"
        )
    if not is_frame(X):
        return _of_array(model, X, reset), None
    table, found = table_of(X), None
    if table.column_names.count(target) == 1:
        found = table.column_names.index(target), table.column(target)
        table = table.drop_columns([target])
    names = table.column_names
    if not names:
        raise ValueError("X has no columns of features")
    if not len(table):
        raise ValueError(f"Found array with 0 sample(s) (shape=(0, {len(names)})) while a minimum of 1 is required.")
    if reset:
        note_names(model, names, named=not hasattr(X, "iloc") or all(isinstance(name, str) for name in X.columns))
    else:
        _compare(model, names)
    return table.rename_columns(model._columns), found


def note_names(model: Any, names: Sequence[str], *, named: bool = True) -> None:
    """Set the features of a model; named: whether they are names that users gave, not numbers."""
    model.__dict__.pop("feature_names_in_", None)
    model.n_features_in_, model._columns = len(names), list(names)
    if named:
        model.feature_names_in_ = np.array(names, dtype=object)


def _of_array(model: Any, X: Any, reset: bool) -> Any:
    """The columns of an array: x0, x1, …, or those of training."""
    import pyarrow as pa

    X = validate_data(model, X, reset=reset, dtype=None, ensure_all_finite=False)
    if np.iscomplexobj(X):
        raise ValueError(f"Complex data not supported\n{X}\n")
    if reset:
        note_names(model, [f"x{j}" for j in range(X.shape[1])], named=False)
    return pa.Table.from_arrays([column_of(X[:, j]) for j in range(X.shape[1])], names=model._columns)


def _compare(model: Any, names: list[str]) -> None:
    """Refuse columns that are not those of training, in the words of scikit-learn."""
    known = model._columns
    if names == known:
        return
    if not hasattr(model, "feature_names_in_") and len(names) == len(known):
        name = type(model).__name__
        warnings.warn(f"X has feature names, but {name} was fitted without feature names", stacklevel=5)
        return
    new, gone = ([name for name in one if name not in other] for one, other in ((names, known), (known, names)))
    parts = ["The feature names should match those that were passed during fit."]
    parts += ["Feature names unseen at fit time:", *(f"- {name}" for name in new[:5])] if new else []
    parts += ["Feature names seen at fit time, yet now missing:", *(f"- {name}" for name in gone[:5])] if gone else []
    parts += [] if new or gone else ["Feature names must be in the same order as they were in fit."]
    raise ValueError("\n".join([*parts, ""]))


def with_target(model: Any, table: Any, found: Any, y: Any, target: str | None, *, classes: bool) -> tuple[Any, str]:
    """The table with a column of labels or values, and the name of that column.

    found: the position and the column of the target in X, if X has it. target: the name that it must have; None to take
    it from y. classes: whether they are classes.
    """
    if y is None:
        raise ValueError(f"This {type(model).__name__} requires y to be passed, but the target y is None.")
    if isinstance(y, str):
        if found is None:
            check_names([y], table.column_names, "X")
        return table.add_column(found[0], target or y, found[1]), target or y
    name = getattr(y, "name", None)
    column = column_of(_checked(y, len(table), classes))
    name = target or (str(name) if isinstance(name, str) and name else TARGET)
    while name in table.column_names:
        name += "_"
    return table.append_column(name, column), name


def _checked(y: Any, n_rows: int, classes: bool) -> Any:
    """Labels or values as an array, as scikit-learn checks them."""
    if hasattr(y, "to_numpy") and not hasattr(y, "iloc"):  # of Polars and Arrow
        y = y.to_numpy() if not hasattr(y, "num_chunks") else y.to_numpy(zero_copy_only=False)
    y = column_or_1d(y, warn=True)
    check_consistent_length(range(n_rows), y)
    assert_all_finite(y, input_name="y")
    if classes:
        check_classification_targets(y)
    elif y.dtype == object or y.dtype.kind in "US":
        try:
            y = y.astype(np.float64)
        except ValueError as error:
            raise DataError(f"expected numbers to predict in y: {error}") from None
    return y
