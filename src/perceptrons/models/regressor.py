"""Regression with the interface of scikit-learn's PassiveAggressiveRegressor, which 1.10 removes."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import RegressorMixin, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from perceptrons import rules
from perceptrons.data.arrays import Rows
from perceptrons.data.batches import Source
from perceptrons.learn.fit import Passes
from perceptrons.learn.labels import refuse_weights
from perceptrons.learn.linear.values import ValueLearner, rule_for_values
from perceptrons.learn.stream import labelled
from perceptrons.learn.targets import Targets, Values, numbers
from perceptrons.metrics.deviations import Deviations
from perceptrons.models import linear, sources, validation
from perceptrons.models.guard import reading
from perceptrons.models.learned.explanation import explain_one
from perceptrons.models.learned.feature_weights import feature_weights
from perceptrons.models.parameters import COMMON, SCALE, documented
from perceptrons.models.supervised import Array, Supervised

SHARED = ("class_weight", "readout", "eta0", "tie")  # parameters that classifiers have, but regressors do not


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveRegressor(RegressorMixin, Supervised):
    """Passive-aggressive regression with the interface of scikit-learn's.

    Problem: predict ``y ≈ ŷ = w·x + b``. Update, when the loss ``ℓ = max(0, |y − ŷ| − ε)`` is positive:
    ``w += sign(y − ŷ)·τ·x`` with ``τ = min(C, ℓ/‖x‖²)`` (`loss="epsilon_insensitive"`, PA-I) or
    ``τ = ℓ/(‖x‖² + 1/(2C))`` (`loss="squared_epsilon_insensitive"`, PA-II). This is the smallest change of w that
    brings the loss on this row to zero, limited by C. `rule` chooses others, such as AROW, which keeps a variance for
    each weight: ``w += sign(y − ŷ)·α·Σx`` with ``α = ℓ/(xᵀΣx + r)``, ``Σ⁻¹ += xxᵀ/r``.

    Training ends as in scikit-learn: when the loss has stopped falling (`tol`, `n_iter_no_change`), or before that when
    a pass makes no step, because later passes would make none either. There are two differences. The bias is the weight
    of a constant feature 1, which counts in ‖x‖²; scikit-learn leaves it out, so that its steps with a bias are longer
    than the formula says. Dense and sparse rows get the same updates. Without a bias, rows in their order
    (``shuffle=False``) get the same weights as in scikit-learn. With `early_stopping`, the error on held-out rows is
    the mean absolute error.

    Arrays are learned as they are. C is the largest step in the unit of y, and ε an error in it: divide y by its
    standard deviation, or choose C accordingly, if values are large, and scale X (StandardScaler). From a file (see
    `perceptrons.data.source`), y and the features are centred and divided by their standard deviations for learning,
    unless the source has ``scale="none"``; C, r and `epsilon` then refer to standard deviations of y, and everything
    else is in the units of the file. The parameter ``scale="online"`` scales the features of a stream, but not y.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness: the largest step (PA-I), or how soft the limit is (PA-II). Not used if `rule` is an object.
    {shared: fit_intercept}
    max_iter : int, default=1000
        Maximum number of passes over the data.
    tol : float or None, default=1e-3
        Stop when the mean loss ℓ of a pass has not fallen by `tol` below the smallest so far, for `n_iter_no_change`
        passes in a row. None means never. Not used with `early_stopping`.
    {shared: early_stopping validation_fraction}
    n_iter_no_change : int, default=5
        Passes to wait for a smaller loss, or with `early_stopping` for a smaller held-out error.
    {shared: shuffle verbose}
    loss : {"epsilon_insensitive", "squared_epsilon_insensitive"}, default="epsilon_insensitive"
        PA-I or PA-II, unless `rule` is given.
    epsilon : float, default=0.1
        Errors up to this size are no loss, and make no step.
    random_state : int, RandomState or None, default=None
        Seed for shuffling and for the choice of held-out rows. With None, as in scikit-learn, each fit differs.
    {shared: warm_start}
    average : bool or int, default=False
        Whether to predict with the mean of the weights. An integer n > 1 starts the mean at example n.
    rule : {"pa", "pa1", "pa2", "arow"}, rule object or None, default=None
        When to step and how far. None: by `loss`. "pa1" and "pa2" take C from the parameter above; an object such as
        ``perceptrons.rules.AROW(r=10.0)`` has its own parameters, which a grid search reaches as ``rule__r``.
    {shared: scale}

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of the features, per unit of features and values as users have them.
    intercept_ : ndarray of shape (1,)
        Bias: the prediction for a row of zeros.
    converged_ : bool
        Whether `fit` ended with a pass in which no value was off by more than `epsilon`.
    {shared: n_iter_}
    mistakes_ : ndarray of shape (`n_iter_`,)
        Number of values in each pass that were off by more than `epsilon` when their row was visited.
    validation_errors_ : ndarray
        Mean absolute error on held-out rows after each pass; empty if none were held out.
    n_seen_, n_mistakes_, n_updates_ : int
        Number of rows processed, of values that were off by more than `epsilon`, and of steps, over all passes and
        calls.
    {shared: n_features_in_ feature_names_in_ encoding_}

    References
    ----------
    Crammer, Dekel, Keshet, Shalev-Shwartz & Singer, Online passive-aggressive algorithms, JMLR 2006.
    Crammer, Kulesza & Dredze, Adaptive regularization of weight vectors, NIPS 2009.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from perceptrons import PassiveAggressiveRegressor
    >>> X, y = make_regression(n_features=4, random_state=0)
    >>> model = PassiveAggressiveRegressor(random_state=0).fit(X, y)
    >>> print(f"{model.score(X, y):.3f}", model.converged_)
    1.000 True
    >>> PassiveAggressiveRegressor(rule="arow", average=True).partial_fit(X, y).n_seen_
    100
    """

    C: float = 1.0
    max_iter: int = 1000
    loss: str = "epsilon_insensitive"
    epsilon: float = 0.1
    random_state: Any = None
    average: bool | int = False
    rule: Any = None
    scale: str = "none"

    feature_weights, explain_one = feature_weights, explain_one
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: allowed for name, allowed in COMMON.items() if name not in SHARED},
        "C": [Interval(Real, 0, None, closed="right")],
        "loss": [StrOptions({"epsilon_insensitive", "squared_epsilon_insensitive"})],
        "epsilon": [Interval(Real, 0, None, closed="left")],
        "average": ["boolean", Interval(Integral, 0, None, closed="left")],
        "scale": SCALE,
    }

    # -- learned weights --------------------------------------------------------------------------------------

    @property
    @reading
    def coef_(self) -> npt.NDArray[np.float64]:
        """Weights of the features, of shape (n_features,)."""
        return np.copy(linear.per_unit(self)[0][0])

    @property
    @reading
    def intercept_(self) -> npt.NDArray[np.float64]:
        """Bias, of shape (1,): the weight of the constant feature."""
        return np.copy(linear.per_unit(self)[1])

    # -- learning ---------------------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,
        coef_init: Any = None,
        intercept_init: Any = None,
        sample_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
    ) -> Self:
        """Learn from all rows, pass after pass.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Source
            C-ordered float32 and float64 arrays and CSR matrices are read in place. A source
            (`perceptrons.data.source`) is read batch by batch and may be larger than memory; it has its own y.
        y : array-like of shape (n_samples,)
            Values to predict: finite numbers.
        coef_init, intercept_init : array-like, optional
            Weights to start from, in the shapes of `coef_` and `intercept_`.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of rows. A weight scales C, or divides r of AROW; rows with weight 0 are ignored. Plain PA does not
            accept weights.
        X_val, y_val : optional
            Held-out rows, or a source of them. The mean absolute error on them is measured after each pass
            (`validation_errors_`); `early_stopping` uses them instead of a fraction of X.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, parameters do not combine, X or y has missing or infinite values, or their
            lengths differ.
        """
        return self._fit(X, y, sample_weight, X_val, y_val, linear.start(coef_init, intercept_init))

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from these rows once, in their order. How a stream is cut into calls does not change the result.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Source
            A source (`perceptrons.data.source`) is read once, batch by batch; it has its own y.
        y : array-like of shape (n_samples,)
            Values to predict.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of rows, as for `fit`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As for `fit`. Also if X has another number of features than before, or with ``early_stopping=True``.
        """
        self._learn_once(X, y, None, sample_weight, predict=False)
        return self

    def predict_then_learn(self, X: Any, y: Any = None, sample_weight: Any = None) -> npt.NDArray[np.float64]:
        """Learn like `partial_fit`, and return the value predicted for each row before learning from it.

        The current weights make these predictions, even if the model predicts with their mean. With
        ``scale="online"``, a row is put on the scale of the rows so far, itself included, before its value is
        predicted.

        Parameters
        ----------
        X, y, sample_weight
            As for `partial_fit`.

        Returns
        -------
        ndarray of shape (n_samples,)
            The predicted values.

        Raises
        ------
        ValueError
            As for `partial_fit`.
        """
        predictions = self._learn_once(X, y, None, sample_weight, predict=True)
        assert predictions is not None
        return predictions

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters of this estimator.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of the rule, as ``rule__r``.

        Returns
        -------
        dict
            Parameters by name.
        """
        params = super().get_params(deep)
        named = isinstance(self.rule, str) and "rule__C" in params
        return params | ({"rule__C": self.C} if named else {})  # a rule's name takes C from the parameter

    def _settings(self) -> dict[str, Any]:
        by_loss = "pa1" if self.loss == "epsilon_insensitive" else "pa2"
        rule = by_loss if self.rule is None else self.rule
        if isinstance(rule, str) and "C" in getattr(rules.RULES.get(rule), "_fields", ()):
            rule = rules.RULES[rule](self.C)
        return {
            "rule": rule_for_values(rule),
            "readout": "averaged" if self.average else "last",
            "fit_intercept": self.fit_intercept,
            "burn_in": max(0, int(self.average) - 1),
            "scale": self.scale,
            "epsilon": float(self.epsilon),
        }

    def _new_learner(self, settings: dict[str, Any], rows: Rows, n_classes: int) -> ValueLearner:
        return ValueLearner(**settings, n_features=rows.n_features, n_classes=n_classes, dense=rows.indices is None)

    def _passes(self, seed: int | None = None) -> Passes:
        return super()._passes(seed).by_loss()

    def _known(self, *, fresh: bool = False) -> Targets:
        return Values() if fresh or not hasattr(self, "_learner") else Values(self._learner.unit)

    def _labels(self, y: Any, rows: Rows, input_name: str = "y") -> Array:
        y = validation.labels(self, y, rows, input_name)
        if y.dtype == object or y.dtype.kind in "US":
            y = validation.as_numbers(y, input_name)
        return numbers(y, input_name)

    def _weights_once(
        self, rule: Any, y: Array, sample_weight: Array | None, known: Targets, new: list[int]
    ) -> Array | None:
        if sample_weight is not None:
            refuse_weights(rule)
        return sample_weight

    # -- prediction -------------------------------------------------------------------------------------------

    @reading
    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict the value of each row.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Source
            The rows.

        Returns
        -------
        ndarray of shape (n_samples,)
            In the unit of the y that was learned.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted.
        ValueError
            If X has another number of features than the model, missing or infinite values, or no rows.
        """
        scores = self._scores(X)
        learner: ValueLearner = self._learner
        return learner.predict(scores)

    @reading
    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Compute R², the share of the variance of y that predictions explain: 1 − Σ(y − ŷ)²/Σ(y − mean)².

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Source
            The rows.
        y : array-like of shape (n_samples,)
            Their true values. A source has its own: leave `y` out.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; 1 by default.

        Returns
        -------
        float
            At most 1. Always predicting the mean of y gives 0, and worse predictions give less than 0.

        Raises
        ------
        sklearn.exceptions.NotFittedError, ValueError
            As for `predict`. Also ValueError if `y` or `sample_weight` is given with a source.
        """
        if not isinstance(X, Source):
            return float(super().score(X, y, sample_weight))
        sources.refuse_labels(y, sample_weight)
        found = Deviations()
        for rows, values in sources.rows_for(self, X):
            found.add(numbers(labelled(X, values), X.name), self._learner.predict(self._learner.decide(rows)))
        if found.n_rows == 0:
            raise ValueError(f"{X.name} has no rows")
        return found.r2
