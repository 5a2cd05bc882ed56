"""PA-I and PA-II with the interface of scikit-learn's PassiveAggressiveClassifier, which 1.10 removes."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from perceptrons import rules
from perceptrons.learn.fit import Passes
from perceptrons.models import linear
from perceptrons.models.classifier import Classifier
from perceptrons.models.learned.explanation import explain_one
from perceptrons.models.learned.feature_weights import feature_weights
from perceptrons.models.parameters import COMMON, SCALE, documented


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class PassiveAggressiveClassifier(Classifier):
    """Passive-aggressive classifier with the interface of scikit-learn's.

    Update, when the hinge loss ``ℓ = max(0, 1 − m)`` is positive: ``w += τ·y·x`` with ``τ = min(C, ℓ/‖x‖²)``
    (`loss="hinge"`, PA-I) or ``τ = ℓ/(‖x‖² + 1/(2C))`` (`loss="squared_hinge"`, PA-II). This is the smallest change of
    w that brings the loss on this row to zero, limited by C.

    Training ends as in scikit-learn: when the loss has stopped falling (`tol`, `n_iter_no_change`), or before that when
    a pass makes no step, because later passes would make none either. There are three differences. The bias is the
    weight of a constant feature 1, which counts in ‖x‖²; scikit-learn leaves it out, so that its steps with a bias are
    longer than the formula says. Several classes are learned together, not one against the rest. Dense and sparse rows
    get the same updates. Without a bias, two classes in the order of the rows (``shuffle=False``) get the same weights
    as in scikit-learn.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness: the largest step (PA-I), or how soft the limit is (PA-II).
    {shared: fit_intercept}
    max_iter : int, default=1000
        Maximum number of passes over the data.
    tol : float or None, default=1e-3
        Stop when the mean hinge loss of a pass has not fallen by `tol` below the smallest so far, for
        `n_iter_no_change` passes in a row. None means never. Not used with `early_stopping`.
    {shared: early_stopping validation_fraction}
    n_iter_no_change : int, default=5
        Passes to wait for a smaller loss, or with `early_stopping` for a smaller held-out error.
    {shared: shuffle verbose}
    loss : {"hinge", "squared_hinge"}, default="hinge"
        PA-I or PA-II.
    n_jobs : int or None, default=None
        Ignored, because all classes are learned in one pass. Accepted for compatibility with scikit-learn.
    random_state : int, RandomState or None, default=None
        Seed for shuffling and for the choice of held-out rows. With None, as in scikit-learn, each fit differs.
    {shared: warm_start class_weight}
    average : bool or int, default=False
        Whether to predict with the mean of the weights. An integer n > 1 starts the mean at example n.
    {shared: scale}

    Attributes
    ----------
    {shared: classes_ coef_ intercept_ converged_ n_iter_ mistakes_ validation_errors_ contradiction_ n_seen_}
    {shared: margin_bound_ n_features_in_ feature_names_in_ encoding_}

    References
    ----------
    Crammer, Dekel, Keshet, Shalev-Shwartz & Singer, Online passive-aggressive algorithms, JMLR 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from perceptrons import PassiveAggressiveClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = PassiveAggressiveClassifier(C=0.1, average=True, random_state=0).fit(X, y == 0)
    >>> model.converged_, model.score(X, y == 0)
    (True, 1.0)
    """

    C: float = 1.0
    max_iter: int = 1000
    loss: str = "hinge"
    n_jobs: int | None = None
    random_state: Any = None
    average: bool | int = False
    scale: str = "none"

    coef_, intercept_, normalized = linear.coef_, linear.intercept_, linear.normalized
    feature_weights, explain_one = feature_weights, explain_one
    _new_learner = linear.new_learner
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: rule for name, rule in COMMON.items() if name not in ("rule", "readout", "eta0", "tie")},
        "C": [Interval(Real, 0, None, closed="right")],
        "loss": [StrOptions({"hinge", "squared_hinge"})],
        "n_jobs": [None, Integral],
        "average": ["boolean", Interval(Integral, 0, None, closed="left")],
        "scale": SCALE,
    }

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
        X, y, coef_init, intercept_init, sample_weight, X_val, y_val
            As for `Perceptron.fit`, in scikit-learn's order.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As for `Perceptron.fit`.
        """
        return self._fit(X, y, sample_weight, X_val, y_val, self._start(coef_init, intercept_init))

    def _start(self, coef_init: Any, intercept_init: Any) -> Any:
        return linear.start(coef_init, intercept_init)

    def _passes(self, seed: int | None = None) -> Passes:
        return super()._passes(seed).by_loss()

    def _settings(self) -> dict[str, Any]:
        return {
            "rule": rules.resolve(rules.PA1(self.C) if self.loss == "hinge" else rules.PA2(self.C)),
            "readout": "averaged" if self.average else "last",
            "fit_intercept": self.fit_intercept,
            "burn_in": max(0, int(self.average) - 1),
            "scale": self.scale,
        }
