"""The perceptron, with every rule and every readout."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from perceptrons import rules
from perceptrons.learn.fit import Passes
from perceptrons.learn.linear.defaults import with_stops
from perceptrons.models import linear
from perceptrons.models.classifier import Classifier
from perceptrons.models.learned import belief
from perceptrons.models.learned.explanation import explain_one
from perceptrons.models.learned.feature_weights import feature_weights
from perceptrons.models.parameters import COMMON, SCALE, documented


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class Perceptron(Classifier):
    """Linear classifier that learns from its mistakes.

    Problem: find w, b with ``y·(w·x + b) > 0`` for all rows. Update, on a row with margin ``m = y·(w·x + b) ≤ 0``:
    ``w += η·y·x``, ``b += η·y``; other rules step further or earlier, keep a covariance of the weights (AROW, CW, SCW)
    or scale w (ROMMA, ALMA). With several classes, each has its own weight vector: the right one gets ``+τ·x``, the
    strongest wrong one ``−τ·x``.

    Guarantee, for the rule "perceptron": if some hypothesis separates the rows with margin γ, training makes at most
    ``(R/γ)²`` updates, in any order. R is the length of the longest row, with the constant of the bias appended.
    Training ends when a whole pass makes no mistake (`converged_`), or when it has proved that γ < `tol`·R. It also
    ends after `max_iter` passes, or when more passes no longer change what the mean predicts (see `tol`). With
    ``readout="last", max_iter=10**7``, all data with a relative margin γ/R of at least `tol` end without training
    errors. Centre rows that lie far from the origin: the constant feature is short beside them, so that γ/R is small.
    `perceptrons.theory.mistake_bound` has the theorems for other rules.

    Parameters
    ----------
    {shared: rule readout fit_intercept intercept_scaling eta0 max_iter tol shuffle random_state}
    init : {"zeros", "random"}, default="zeros"
        Weights at the start of `fit`. `partial_fit` starts with zeros.
    {shared: tie early_stopping validation_fraction n_iter_no_change class_weight warm_start verbose scale}
    penalty : None, default=None
        Accepted for compatibility with scikit-learn. Perceptrons do not shrink their weights;
        ``SGDClassifier(loss="perceptron", penalty="l2")`` does.
    alpha, l1_ratio : float, default=0.0001, 0.15
        Accepted for compatibility with scikit-learn. Without a penalty, they change nothing.
    n_jobs : int or None, default=None
        Accepted for compatibility with scikit-learn. All classes are learned in one pass, so it changes nothing.

    Attributes
    ----------
    {shared: classes_ coef_ intercept_ converged_ n_iter_ mistakes_ validation_errors_ contradiction_ n_seen_}
    {shared: margin_bound_ n_features_in_ feature_names_in_ encoding_}

    Notes
    -----
    `predict_proba` exists for rules with a covariance, such as "arow". It is the model's own belief, not a frequency.
    Scores of other rules are not probabilities. If you need frequencies, calibrate the scores:
    ``CalibratedClassifierCV(Perceptron())``.

    The same seed gives the same result on the same machine. Other processors may add numbers in a different order.

    References
    ----------
    Rosenblatt 1958; Novikoff 1962; Gallant 1990; Freund & Schapire 1999; Crammer & Singer 2003; Crammer et al. 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from perceptrons import Perceptron
    >>> X, y = load_iris(return_X_y=True)
    >>> model = Perceptron().fit(X, y == 0)
    >>> model.converged_, model.score(X, y == 0)
    (True, 1.0)
    >>> Perceptron(rule="pa1", readout="last").partial_fit(X, y).n_seen_
    150
    """

    rule: Any = "perceptron"
    readout: str = "averaged"
    intercept_scaling: float = 1.0
    eta0: float = 1.0
    tie: str = "mistake"
    scale: str = "none"
    init: str = "zeros"
    penalty: None = None
    alpha: float = 0.0001
    l1_ratio: float = 0.15
    n_jobs: int | None = None

    coef_, intercept_, normalized = linear.coef_, linear.intercept_, linear.normalized
    feature_weights, explain_one = feature_weights, explain_one
    predict_proba, predict_log_proba = belief.predict_proba, belief.predict_log_proba
    predict_proba_one = belief.predict_proba_one
    _new_learner = linear.new_learner
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON,
        "intercept_scaling": [Interval(Real, 0, None, closed="neither")],
        "scale": SCALE,
        "init": [StrOptions({"zeros", "random"})],
        "penalty": [
            StrOptions({"l1", "l2", "elasticnet"}),
            None,
        ],  # of scikit-learn's: `_settings` refuses all but None
        "alpha": [Interval(Real, 0, None, closed="left")],
        "l1_ratio": [Interval(Real, 0, 1, closed="both")],
        "n_jobs": [None, Integral],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self,
        X: Any,
        y: Any = None,
        sample_weight: Any = None,
        X_val: Any = None,
        y_val: Any = None,
        coef_init: Any = None,
        intercept_init: Any = None,
    ) -> Self:
        """Learn from all rows, pass after pass.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Source
            C-ordered float32 and float64 arrays and CSR matrices are read in place. A source
            (`perceptrons.data.source`) is read batch by batch and may be larger than memory; it has its own labels.
            Batches are shuffled, and rows within a batch; with ``shuffle=False`` the result is the same as for arrays.
            The pocket readout tries hypotheses on all rows, so it reads the whole source into memory.
        y : array-like of shape (n_samples,)
            Labels: numbers, booleans, text or dates.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of rows. A weight scales the step, or C for PA-I and PA-II; `perceptrons.rules` says what it does
            for other rules, and which accept none. Rows with weight 0 are ignored.
        X_val, y_val : optional
            Held-out rows, or a source of them. The error on them is measured after each pass (`validation_errors_`);
            `early_stopping` uses them instead of a fraction of X.
        coef_init, intercept_init : array-like, optional
            Weights to start from, in the shapes of `coef_` and `intercept_`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, parameters do not combine, X or y has missing or infinite values, their
            lengths differ, or y has only one class.
        """
        return self._fit(X, y, sample_weight, X_val, y_val, self._start(coef_init, intercept_init))

    def _start(self, coef_init: Any, intercept_init: Any) -> Any:
        random = self.init == "random" and not (self.warm_start and hasattr(self, "_learner"))
        return linear.start(coef_init, intercept_init, random=random)

    def _passes(self, seed: int | None = None) -> Passes:
        return with_stops(super()._passes(seed), rules.resolve(self.rule), self.readout)

    def _settings(self) -> dict[str, Any]:
        if self.penalty is not None:
            raise ValueError(
                f"penalty must be None, got {self.penalty!r}: perceptrons do not shrink their weights. Use the readout "
                f"'averaged', or sklearn.linear_model.SGDClassifier(loss='perceptron', penalty={self.penalty!r})"
            )
        return {
            "rule": rules.resolve(self.rule),
            "readout": self.readout,
            "eta": self.eta0,
            "fit_intercept": self.fit_intercept,
            "intercept_scaling": self.intercept_scaling,
            "tie": self.tie,
            "scale": self.scale,
        }
