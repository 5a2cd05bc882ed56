"""The perceptron in a kernel's feature space."""

from __future__ import annotations

import copy
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from perceptrons import rules
from perceptrons.data import Rows
from perceptrons.learn import KERNELS, POLICIES, READOUTS, BudgetLearner, KernelLearner
from perceptrons.models import validation
from perceptrons.models.online import OnlineClassifier
from perceptrons.models.rule_parameters import RuleParameters

Array = npt.NDArray[Any]


class KernelPerceptron(RuleParameters, OnlineClassifier):
    """Perceptron in a kernel's feature space: nonlinear, with every rule and readout, optionally on a budget."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernel": [StrOptions({*KERNELS, "precomputed"}), callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "rule": "no_validation",  # rules.resolve says what is wrong with it
        "readout": [StrOptions(set(READOUTS))],
        "fit_intercept": ["boolean"],
        "eta0": [Interval(Real, 0, None, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left"), None],
        "shuffle": ["boolean"],
        "random_state": ["random_state"],
        "tie": [StrOptions({"mistake", "positive"})],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "class_weight": [StrOptions({"balanced"}), dict, None],
        "warm_start": ["boolean"],
        "budget": [Interval(Integral, 1, None, closed="left"), None],
        "policy": [StrOptions(set(POLICIES))],
        "threshold": [Interval(Real, 0, None, closed="left")],
        "max_memory": [Interval(Integral, 0, None, closed="left")],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: Any = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        rule: Any = "perceptron",
        readout: str = "last",
        fit_intercept: bool = True,
        eta0: float = 1.0,
        max_iter: int = 10_000_000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        random_state: Any = 0,
        tie: str = "mistake",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        budget: int | None = None,
        policy: str = "projectron++",
        threshold: float = 0.1,
        max_memory: int = 2**30,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.rule = rule
        self.readout = readout
        self.fit_intercept = fit_intercept
        self.eta0 = eta0
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.tie = tie
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.budget = budget
        self.policy = policy
        self.threshold = threshold
        self.max_memory = max_memory
        self.verbose = verbose

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, sample_weight: Any = None, X_val: Any = None, y_val: Any = None) -> Self:
        """Learn from all rows, pass after pass.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            C-ordered float32 and float64 arrays and CSR matrices are read in place. With ``kernel="precomputed"`` the
            kernel matrix, of shape (n_samples, n_samples).
        y : array-like of shape (n_samples,)
            Labels: numbers, booleans, text or dates.
        sample_weight : array-like of shape (n_samples,), optional
            Scales the step, or C for PA-I and PA-II. Rows of weight 0 are left out.
        X_val, y_val : optional
            Held-out rows; their error is taken after each pass (`validation_errors_`), and `early_stopping` uses
            them in place of a fraction of X.

        Returns
        -------
        self
        """
        if self.warm_start and self.kernel == "precomputed" and hasattr(self, "_learner"):
            raise ValueError("warm_start cannot go on with kernel='precomputed': a new matrix has other columns")
        self._train(self._prepare(X, y, sample_weight, X_val, y_val), stacklevel=4)
        return self

    def _rows(self, fresh: Any, X: Any, *, reset: bool) -> Rows:
        rows = validation.features(fresh, X, reset=reset)
        if self.kernel == "precomputed":
            if rows.indices is not None:
                raise ValueError("kernel='precomputed' needs a dense kernel matrix, got a sparse one")
            if len(rows) != rows.n_features:
                raise ValueError(
                    f"kernel='precomputed' needs the square matrix of all training rows, got {rows.values.shape}"
                )
            negative = np.flatnonzero(np.diagonal(rows.values) < 0)
            if negative.size:
                row = int(negative[0])
                raise ValueError(f"a kernel matrix has no negative diagonal, got {rows.values[row, row]} at row {row}")
        return rows

    def _check_stream(self) -> None:
        if self.kernel == "precomputed":
            raise ValueError(
                "kernel='precomputed' has no kernel values of new rows with old ones: use fit, or another kernel"
            )

    def _settings(self) -> dict[str, Any]:
        settings = {
            "rule": rules.resolve(self.rule),
            "readout": self.readout,
            "eta": self.eta0,
            "fit_intercept": self.fit_intercept,
            "tie": self.tie,
            "kernel": self.kernel,
            "gamma": self.gamma,
            "degree": self.degree,
            "coef0": self.coef0,
        }
        if self.budget is None:
            return {**settings, "max_memory": self.max_memory}
        self._check_budget(settings["rule"])
        return {**settings, "budget": self.budget, "policy": self.policy, "threshold": self.threshold}

    def _check_budget(self, rule: Any) -> None:
        """Refuse what a budget cannot be combined with."""
        if self.readout != "last":
            raise ValueError(
                f"budget={self.budget} cannot be combined with readout={self.readout!r}, which needs hypotheses made "
                "of rows that are gone: use readout='last', or no budget"
            )
        if self.policy == "random":
            return
        if not isinstance(rule, rules.Plain):
            raise ValueError(
                f"policy={self.policy!r} is defined for rule='perceptron', got {rule}: policy='random' takes every rule"
            )
        if self.policy == "forgetron" and self.eta0 != 1.0:
            raise ValueError(f"policy='forgetron' is defined for steps of length 1, got eta0={self.eta0}")

    def _new_learner(self, settings: dict[str, Any], rows: Rows, n_classes: int) -> KernelLearner | BudgetLearner:
        if self.budget is None:
            return KernelLearner(**settings, rows=rows, n_classes=n_classes)
        if self.policy == "forgetron" and n_classes > 2:
            raise ValueError(f"policy='forgetron' is defined for two classes, got {n_classes}: use another policy")
        seed = int(check_random_state(self.random_state).randint(2**31))
        return BudgetLearner(**settings, rows=rows, n_classes=n_classes, seed=seed)

    def _stall(self) -> int | None:
        return None if self.budget is None else self.n_iter_no_change

    # -- what has been learned --------------------------------------------------------------------------------

    def _order(self) -> Array:
        """Support rows by class, then by number."""
        check_is_fitted(self)
        return np.lexsort((self._learner.numbers, self._learner.codes))

    @property
    def support_(self) -> npt.NDArray[np.intp]:
        """Numbers of the support rows in X, or in a stream since its beginning; by class, then by number."""
        return np.asarray(self._learner.numbers[self._order()])

    @property
    def n_support_(self) -> npt.NDArray[np.intp]:
        """How many support rows each class has."""
        check_is_fitted(self)
        return np.bincount(self._learner.codes, minlength=len(self.classes_))

    @property
    def support_vectors_(self) -> Any:
        """The support rows, in the order of `support_`; empty for a precomputed kernel."""
        order = self._order()
        if self.kernel == "precomputed":
            return np.empty((0, 0))
        pieces = [piece.matrix() for piece in self._learner.support.pieces]
        if not pieces:
            return np.empty((0, self.n_features_in_))
        if any(map(sp.issparse, pieces)):
            return sp.vstack(pieces, format="csr")[order]
        return np.vstack(pieces)[order]

    @property
    def dual_coef_(self) -> npt.NDArray[np.float64]:
        """Coefficients of the support rows, of shape (1, n_support) or (n_classes, n_support)."""
        order = self._order()
        return np.asarray(self._lines()[:, order])

    @property
    def intercept_(self) -> npt.NDArray[np.float64]:
        """Bias, of shape (1,) or (n_classes,): the sum of the coefficients, if there is one."""
        check_is_fitted(self)
        return np.asarray(self._lines().sum(axis=1) * self._learner.bias)

    def _lines(self) -> npt.NDArray[np.float64]:
        if self._learner.by_vote:
            raise AttributeError("readout='voted' has no dual_coef_ and no intercept_: many hypotheses vote")
        coef = self._learner.coefficients
        return np.asarray(coef[np.newaxis] if coef.ndim == 1 else coef.T)

    def feature_space_norm(self) -> float:
        """‖w‖ in the kernel's feature space, over all classes and without the bias."""
        check_is_fitted(self)
        lines = self._lines()
        square, _ = self._learner.sq_length(lines.T if len(lines) > 1 else lines[0])
        return float(np.sqrt(max(0.0, square - float((self.intercept_**2).sum()))))

    def normalized(self) -> Self:
        """The same model with ‖w‖ = 1: decision values are then signed distances in feature space."""
        length = self.feature_space_norm()
        if length == 0.0:
            raise ValueError("all coefficients are 0: there is no boundary, and nothing to normalize")
        model = copy.deepcopy(self)
        model._learner.scale(1.0 / length)
        return model

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
