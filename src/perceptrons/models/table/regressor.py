"""The regressor for tables as they are."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

from sklearn.base import RegressorMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from perceptrons.data.batches import Source
from perceptrons.learn.linear.defaults import EPSILON, for_values
from perceptrons.learn.readouts import READOUTS
from perceptrons.models.regressor import PassiveAggressiveRegressor
from perceptrons.models.table.base import TableModel, documented


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class TableRegressor(RegressorMixin, TableModel):
    """Linear regression for tables as they are: pandas, Polars or Arrow, with categories, text and missing cells.

    It learns what ``perceptrons train --regression`` learns from a CSV file of the same rows, with the same weights.
    Columns are treated as `TableClassifier` treats them; `describe` tells how. The values to predict are centred and
    divided by their standard deviation for learning, and predictions are in their unit.

    Parameters
    ----------
    rule : {"pa", "pa1", "pa2", "arow"}, rule object or None, default=None
        When to step and how far. None: ``PA1(C=0.1)``, or ``PA1(C=0.3)`` if there is text.
    epsilon : float, default=0.1
        Errors up to this size are no loss, in standard deviations of the values.
    readout : {"last", "averaged"}, default="averaged"
        Whether to predict with the last weights, or with their mean.
    {shared: max_iter}
    tol : float or None, default=None
        Stop when the mean loss of a pass has not fallen by `tol` for `n_iter_no_change` passes. None means never.
    {shared: fit_intercept}
    {shared: shuffle random_state early_stopping validation_fraction n_iter_no_change verbose drop numeric missing na}
    {shared: hash_bits ngrams text_bits weighting scale}

    Attributes
    ----------
    model_ : PassiveAggressiveRegressor
        The linear model of the features that the columns became, with everything that it tells.
    {shared: encoding_ n_features_in_ feature_names_in_ n_iter_ n_seen_}

    See Also
    --------
    TableClassifier : Predicts classes.
    PassiveAggressiveRegressor : For arrays and sparse matrices.

    Examples
    --------
    >>> import pandas as pd
    >>> from perceptrons import TableRegressor
    >>> flats = pd.DataFrame({"size": [20, 40, 60, 80], "city": ["Bonn", "Ulm", "Bonn", "Ulm"], "rent": [4, 6, 8, 10]})
    >>> model = TableRegressor(max_iter=100).fit(flats, "rent")
    >>> model.predict(pd.DataFrame({"size": [50], "city": ["Ulm"]})).round()
    array([7.])
    """

    epsilon: float = EPSILON

    _values = True
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TableModel._parameter_constraints,
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "readout": [StrOptions({name for name, readout in READOUTS.items() if readout.over_structures})],
    }

    def _usual(self, encoding: Any) -> dict[str, Any]:
        return for_values(encoding)

    def _made(self, usual: dict[str, Any], common: dict[str, Any]) -> PassiveAggressiveRegressor:
        return PassiveAggressiveRegressor(**common, epsilon=self.epsilon, average=READOUTS[self.readout].sums)

    def partial_fit(self, X: Any, y: Any = None) -> Self:
        """Learn from these rows once, in their order.

        The first call decides how columns are treated, which categories have a feature, and the unit of the values.

        Parameters
        ----------
        X : DataFrame, pyarrow.Table, array-like or Source
            Rows with the columns of the first call.
        y : array-like of shape (n_samples,), or str
            Values, or the name of their column in X.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As for `fit`. Also if the columns are not those of the first call.
        """
        return self._learn_once(X, y)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Compute R², the share of the variance of y that predictions explain.

        Parameters
        ----------
        X : DataFrame, pyarrow.Table, array-like or Source
            Rows with the columns of training.
        y : array-like of shape (n_samples,), or str
            True values, or the name of their column in X. A source has its own.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; 1 by default.

        Returns
        -------
        float
            At most 1.

        Raises
        ------
        sklearn.exceptions.NotFittedError, ValueError
            As for `predict`.
        """
        check_is_fitted(self)
        if isinstance(X, Source):
            return float(self.model_.score(X, y, sample_weight))
        return float(super().score(X, X[y] if isinstance(y, str) else y, sample_weight))
