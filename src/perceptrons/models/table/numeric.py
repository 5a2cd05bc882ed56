"""Say which columns of a data frame an estimator for numbers cannot read, and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np


def advice(X: Any, input_name: str) -> str | None:
    """What is wrong with a data frame that could not become an array; None if it is something else.

    Parameters
    ----------
    X : data frame, or another object
    input_name : str
        Its name, for the message.

    Returns
    -------
    str or None
    """
    if not (hasattr(X, "columns") and hasattr(X, "__getitem__") and hasattr(X, "shape")):
        return None
    odd = [repr(str(name)) for name in getattr(X, "column_names", X.columns) if not _numeric(X[name])]
    if not odd:
        return None
    listed = ", ".join(odd[:5]) + (f" and {len(odd) - 5} more" if len(odd) > 5 else "")
    which = f"Columns {listed} of {input_name} hold" if len(odd) > 1 else f"Column {listed} of {input_name} holds"
    return (
        f"{which} no numbers. TableClassifier and TableRegressor learn from tables as they are, with categories, text "
        "and dates; for other models, turn such columns into numbers with a OneHotEncoder in a ColumnTransformer"
    )


def _numeric(column: Any) -> bool:
    """Whether a column can be converted to numbers."""
    try:
        values = np.asarray(column)
        return values.dtype.kind not in "mM" and values.astype(np.float64).ndim == 1
    except (ValueError, TypeError):
        return False
