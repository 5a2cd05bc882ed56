"""The perceptron in a kernel's feature space."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from perceptrons import rules
from perceptrons.data.arrays import Rows
from perceptrons.learn.fit import Passes
from perceptrons.learn.kernel.budget import POLICIES, BudgetLearner
from perceptrons.learn.kernel.feature_space import KERNELS
from perceptrons.learn.kernel.learner import KernelLearner
from perceptrons.models import support, validation
from perceptrons.models.classifier import Classifier
from perceptrons.models.parameters import COMMON, documented

# Parameters that a learner takes as they are.
SETTINGS = ("readout", "fit_intercept", "tie", "kernel", "gamma", "degree", "coef0", "budget", "policy", "threshold")


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class KernelPerceptron(Classifier):
    """The perceptron in a kernel's feature space: nonlinear, with every rule and readout, and on a budget if asked.

    Problem: find ``w = Σ_j α_j φ(x_j)`` and b with ``y·(w·φ(x) + b) > 0`` for all rows, where only inner products
    ``k(x, x′) = φ(x)·φ(x′)`` are known. Update, on a row with margin ``m = y·(Σ_j α_j k(x_j, x) + b) ≤ 0``:
    ``α_x += η·y``, ``b += η·y``; other rules step further or earlier. Several classes share the support rows and have a
    coefficient each: the right one gets ``+τ``, the strongest wrong one ``−τ``.

    Guarantee: that of the perceptron, in feature space. Rows that some hypothesis separates there with margin γ cost
    at most ``(R/γ)²`` updates, R² being the largest ``k(x, x)``, plus 1 for the bias. Training ends when a whole pass
    makes no mistake, or when it has proved that γ < `tol`·R. A Gaussian or Laplacian kernel separates any rows, unless
    equal ones have different labels.

    How it is fast: the scores of all rows are kept up to date, so that a visit costs nothing and an update one column
    of the kernel matrix; columns are computed many at a time by one matrix product, shared by all classes, and kept for
    later updates by the same row as far as `max_memory` allows. float32 rows have float32 kernel values: half the
    time and memory of float64.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "cosine", "laplacian", "precomputed"} or callable, default="rbf"
        Values as in `sklearn.metrics.pairwise`. A callable takes two matrices of rows and returns the matrix of their
        kernel values, as for `sklearn.svm.SVC`. "precomputed": X is the kernel matrix. What is proved assumes a
        positive semi-definite kernel; "sigmoid" is not one, nor "poly" with a negative `coef0`.
    gamma : {"scale", "auto"} or float, default="scale"
        γ of "rbf", "laplacian", "poly" and "sigmoid". "scale" is ``1/(n_features·X.var())``, "auto" ``1/n_features``.
        In a stream "scale" looks at the rows of the first call only: a number makes it independent of how it is cut.
    degree : int, default=3
        Of "poly", ``(γ·x·x′ + coef0)^degree``.
    coef0 : float, default=0.0
        Of "poly" and "sigmoid", ``tanh(γ·x·x′ + coef0)``.
    {shared: rule readout}
    fit_intercept : bool, default=True
        Whether to learn a bias b, as the weight of a constant feature 1: every kernel value grows by 1.
    eta0 : float, default=1.0
        Scales every step. With the rule "perceptron" it changes no prediction, unless there is a budget.
    {shared: max_iter tol shuffle random_state tie early_stopping validation_fraction}
    n_iter_no_change : int, default=5
        Patience of `early_stopping`, in passes; with a budget, also passes after which `fit` stops when none of them
        made fewer mistakes than all before.
    {shared: class_weight warm_start}
    budget : int or None, default=None
        The largest number of support rows, B. Memory and time for an example are then bounded, whatever the length of a
        stream. Only with ``readout="last"``. None: every row that makes a step is kept.
    policy : {"projectron++", "projectron", "forgetron", "random"}, default="projectron++"
        What becomes of a support row that the budget has no room for.

        - "random" (RBP): a random row makes room, never the newest. Every rule, any number of classes.
        - "forgetron" (self-tuned): all coefficients shrink, as little as its analysis allows, then the oldest row makes
          room. Two classes, the rule "perceptron" with steps of length 1. For ``k(x, x) ≤ 1``; larger kernels are
          divided by the largest value so far.
        - "projectron": a step along a row whose squared distance from the span of the rows kept is at most `threshold`
          is projected onto the span, else the row is kept as well. The rule "perceptron", any number of classes.
        - "projectron++": also rows that are right, but with a margin below 1, make projected steps.

        At B rows the projectrons always project: the mistake bounds of their paper are then lost.
    threshold : float, default=0.1
        η of the projectrons: the larger, the fewer rows are kept.
    max_memory : int, default=2**30
        Bytes that `fit` may use beside X, without a budget: kernel columns that do not fit are computed again when they
        are needed. It never takes less than a few columns and blocks need.
    verbose : int, default=0
        1 reports the plan for these rows, and progress now and then; 2 after each pass.

    Attributes
    ----------
    {shared: classes_}
    support_ : ndarray of shape (n_support,)
        Numbers of the rows that made steps, by class, then by number: in X, or counted over all calls of `partial_fit`
        and of `fit` with `warm_start`.
    support_vectors_ : ndarray or sparse array of shape (n_support, n_features)
        These rows; empty for a precomputed kernel.
    n_support_ : ndarray of shape (n_classes,)
        How many each class has.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
        Their coefficients α. Not with the voted readout.
    {shared: intercept_}
    gamma_ : float
        γ as it was worked out.
    {shared: converged_ n_iter_ mistakes_ validation_errors_ n_seen_}
    margin_bound_ : float
        Proved upper bound on the margin of the rows seen, in feature space with the constant feature; infinite with a
        budget and for kernels that are known not to be positive semi-definite. Takes a product of all support rows with
        each other.
    projection_error_ : float
        With a projectron: the largest relative residual of a projection so far, ``‖k − K·d‖/‖k‖``.
    {shared: n_features_in_ feature_names_in_ encoding_}

    Notes
    -----
    There are maps that approximate a kernel's features: with scikit-learn's ``Nystroem`` or ``RBFSampler`` before it in
    a pipeline, the linear `Perceptron` learns in time that does not grow with the number of mistakes::

        make_pipeline(Nystroem(gamma=0.02, n_components=300), Perceptron(readout="averaged"))

    `perceptrons.theory.separability` and `mistake_bound` take kernel matrices: ``K=model.kernel_matrix(X)``, and
    ``K_error=model.kernel_error(X)`` for its rounding errors.

    References
    ----------
    Aizerman, Braverman & Rozonoer 1964; Freund & Schapire 1999 (voted, kernels); Cavallanti, Cesa-Bianchi & Gentile
    2007 (RBP); Dekel, Shalev-Shwartz & Singer 2008 (Forgetron); Orabona, Keshet & Caputo 2009 (Projectron).

    Examples
    --------
    >>> from perceptrons import KernelPerceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> model = KernelPerceptron(kernel="poly", degree=2, gamma=1, coef0=1).fit(X, y)   # no line separates these
    >>> model.converged_, model.predict(X)
    (True, array([0, 1, 1, 0]))
    >>> from sklearn.datasets import load_digits
    >>> X, y = load_digits(return_X_y=True)
    >>> stream = KernelPerceptron(gamma=0.001, budget=100).partial_fit(X, y)            # never more than 100 rows
    >>> len(stream.support_), stream.score(X, y) > 0.9
    (100, True)
    """

    kernel: Any = "rbf"
    gamma: Any = "scale"
    degree: int = 3
    coef0: float = 0.0
    rule: Any = "perceptron"
    readout: str = "last"
    eta0: float = 1.0
    tie: str = "mistake"
    budget: int | None = None
    policy: str = "projectron++"
    threshold: float = 0.1
    max_memory: int = 2**30

    _streams: ClassVar[bool] = False  # every row's scores are kept up to date: fit reads a source into memory
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **COMMON,
        "kernel": [StrOptions({*KERNELS, "precomputed"}), callable],
        "gamma": [StrOptions({"scale", "auto"}), Interval(Real, 0.0, None, closed="left")],
        "degree": [Interval(Integral, 0, None, closed="left")],
        "coef0": [Interval(Real, None, None, closed="neither")],
        "budget": [Interval(Integral, 1, None, closed="left"), None],
        "policy": [StrOptions(set(POLICIES))],
        "threshold": [Interval(Real, 0, None, closed="left")],
        "max_memory": [Interval(Integral, 0, None, closed="left")],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, X_val: Any = None, y_val: Any = None) -> Self:
        """Learn from all rows, pass after pass.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Source
            C-ordered float32 and float64 arrays and CSR matrices are read in place. With ``kernel="precomputed"`` the
            kernel matrix, of shape (n_samples, n_samples). A source (`perceptrons.data.source`) is read into memory,
            because every row's scores are kept; `partial_fit` reads it batch by batch.
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
            raise ValueError("warm_start cannot be combined with kernel='precomputed': a new matrix has other columns")
        return self._fit(X, y, sample_weight, X_val, y_val)

    def _rows(self, fresh: Any, X: Any, *, reset: bool) -> Rows:
        rows = validation.features(fresh, X, reset=reset)
        if self.kernel == "precomputed":
            support.check_matrix(rows)
        return rows

    def _check_stream(self) -> None:
        if self.kernel == "precomputed":
            raise ValueError(
                "kernel='precomputed' has no kernel values between new and old rows: use fit, or another kernel"
            )

    def _settings(self) -> dict[str, Any]:
        rule = rules.resolve(self.rule)
        if self.budget is not None:
            self._check_budget(rule)
        same = {name: getattr(self, name) for name in SETTINGS}
        return {"rule": rule, "eta": self.eta0, "max_memory": self.max_memory, **same}

    def _check_budget(self, rule: Any) -> None:
        """Refuse what a budget cannot be combined with."""
        if self.readout != "last":
            raise ValueError(
                f"budget={self.budget} cannot be combined with readout={self.readout!r}, which needs rows that the "
                "budget has discarded: use readout='last', or budget=None"
            )
        if self.policy == "random":
            return
        if not isinstance(rule, rules.Plain):
            raise ValueError(
                f"policy={self.policy!r} requires rule='perceptron', got {rule}: policy='random' accepts every rule"
            )
        if self.policy == "forgetron" and self.eta0 != 1.0:
            raise ValueError(f"policy='forgetron' requires eta0=1, got eta0={self.eta0}")

    def _new_learner(self, settings: dict[str, Any], rows: Rows, n_classes: int) -> KernelLearner | BudgetLearner:
        limits = ("max_memory",) if self.budget is not None else ("budget", "policy", "threshold")
        settings = {name: value for name, value in settings.items() if name not in limits}
        if self.budget is None:
            return KernelLearner(**settings, rows=rows, n_classes=n_classes)
        if self.policy == "forgetron" and n_classes > 2:
            raise ValueError(f"policy='forgetron' requires two classes, got {n_classes}: use another policy")
        seed = int(check_random_state(self.random_state).randint(2**31))
        return BudgetLearner(**settings, rows=rows, n_classes=n_classes, seed=seed)

    def _passes(self, seed: int | None = None) -> Passes:
        stall = None if self.budget is None else self.n_iter_no_change
        return replace(super()._passes(seed), stall=stall)

    # -- what has been learned --------------------------------------------------------------------------------

    @property
    def _expansion(self) -> KernelLearner | BudgetLearner:
        check_is_fitted(self)
        learner: KernelLearner | BudgetLearner = self._learner
        return learner

    @property
    def support_(self) -> npt.NDArray[np.intp]:
        """Numbers of the support rows in X, or in a stream since its beginning; by class, then by number."""
        learner = self._expansion
        return np.asarray(learner.state["numbers"][support.order(learner)])

    @property
    def n_support_(self) -> npt.NDArray[np.intp]:
        """Number of support rows of each class."""
        return np.bincount(self._expansion.state["codes"], minlength=len(self.classes_))

    @property
    def support_vectors_(self) -> Any:
        """The support rows, in the order of `support_`; empty for a precomputed kernel."""
        return support.vectors(self._expansion, self.n_features_in_)

    @property
    def dual_coef_(self) -> npt.NDArray[np.float64]:
        """Coefficients of the support rows, of shape (1, n_support) or (n_classes, n_support)."""
        learner = self._expansion
        return np.asarray(support.lines(learner)[:, support.order(learner)])

    @property
    def intercept_(self) -> npt.NDArray[np.float64]:
        """Bias, of shape (1,) or (n_classes,): the sum of the coefficients, if there is one."""
        return np.asarray(support.lines(self._expansion).sum(axis=1) * self._learner.bias)

    @property
    def gamma_(self) -> float:
        """γ as it was worked out."""
        return float(self._expansion.space.gamma)

    @property
    def projection_error_(self) -> float:
        """With a projectron: the largest relative residual of a projection so far."""
        error = getattr(self._expansion, "projection_error", None)
        if error is None:
            raise AttributeError("projection_error_ exists only with a budget and a projectron policy")
        return float(error)

    def kernel_matrix(self, X: Any, Y: Any = None) -> npt.NDArray[np.float64]:
        """Compute the kernel matrix of rows, in float64 and without the constant of the bias.

        The matrix of X with itself is symmetric, and equal rows have equal values, to the last bit.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
        Y : array-like or sparse matrix of shape (n_others, n_features), optional
            The rows to pair them with; X itself if not given.

        Returns
        -------
        ndarray of shape (n_samples, n_samples) or (n_samples, n_others)
        """
        learner = self._expansion
        support.refuse_precomputed(learner)
        rows = validation.features(self, X, reset=False)
        others = None if Y is None else validation.features(self, Y, reset=False, input_name="Y")
        return support.kernel_matrix(learner, rows, others)

    def kernel_error(self, X: Any) -> float:
        """Compute a bound on the rounding errors in the kernel matrix of these rows.

        With it, what is proved about the matrix holds for the kernel itself:
        ``separability(K=model.kernel_matrix(X), y=y, K_error=model.kernel_error(X))``. The values of a kernel function
        of your own are taken as they are.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)

        Returns
        -------
        float
        """
        learner = self._expansion
        rows = validation.features(self, X, reset=False)
        return float(learner.space.error(rows.n_features, float(rows.sq_norm.max())))

    def feature_space_norm(self) -> float:
        """Compute ‖w‖ in the kernel's feature space, over all classes and without the bias.

        Returns
        -------
        float
        """
        return support.length(self._expansion, self.kernel)

    def normalized(self) -> Self:
        """Scale the model to ‖w‖ = 1: decision values are then signed distances in feature space.

        Returns
        -------
        KernelPerceptron
            A copy that predicts the same.
        """
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
