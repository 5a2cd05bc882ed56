"""The perceptron in a kernel's feature space."""

from __future__ import annotations

import copy
from dataclasses import dataclass
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
from perceptrons.learn.linear.defaults import KERNEL
from perceptrons.learn.readouts import READOUTS
from perceptrons.models import validation
from perceptrons.models.classifier import Classifier
from perceptrons.models.guard import reading
from perceptrons.models.learned import support
from perceptrons.models.parameters import COMMON, documented

RULE = rules.Margin(KERNEL["beta"])
# Parameters that are passed to the learner unchanged.
SETTINGS = ("fit_intercept", "tie", "kernel", "gamma", "degree", "coef0", "budget", "policy", "threshold")


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class KernelPerceptron(Classifier):
    """Nonlinear classifier: the perceptron in a kernel's feature space, on a budget if you want.

    Problem: find ``w = Σ_j α_j φ(x_j)`` and b with ``y·(w·φ(x) + b) > 0`` for all rows, where only inner products
    ``k(x, x′) = φ(x)·φ(x′)`` are known. Update, on a row with margin ``m = y·(Σ_j α_j k(x_j, x) + b) ≤ 0``:
    ``α_x += η·y``, ``b += η·y``; other rules step further or earlier. Several classes share the support rows, with one
    coefficient per class: the right one gets ``+τ``, the strongest wrong one ``−τ``.

    Guarantee, for the rule "perceptron" without a budget: if some hypothesis separates the rows in feature space with
    margin γ, training makes at most ``(R/γ)²`` updates. R² is the largest ``k(x, x)``; with a bias, add 1 to it, and
    b counts as one more weight in γ. Training ends when a whole pass makes no mistake, or when it has proved that
    γ < `tol`·R. A Gaussian or Laplacian kernel separates any rows, unless equal rows have different labels.

    Speed: the scores of all rows are kept up to date, so a visit costs nothing and an update costs one column of the
    kernel matrix. One matrix product computes many columns at a time, for all classes; they are kept for later updates
    by the same row as far as `max_memory` allows. float32 rows have float32 kernel values: half the time and memory of
    float64.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "cosine", "laplacian", "precomputed"} or callable, default="rbf"
        Values as in `sklearn.metrics.pairwise`. A callable takes two matrices of rows and returns the matrix of their
        kernel values, as for `sklearn.svm.SVC`. With "precomputed", X is the kernel matrix. The proofs need a positive
        semi-definite kernel, which "sigmoid" and "poly" with a negative `coef0` are not.
    gamma : {"scale", "auto"} or float, default="scale"
        γ of "rbf", "laplacian", "poly" and "sigmoid". "scale" is ``1/(n_features·X.var())``, "auto" ``1/n_features``.
        In a stream, "scale" uses the rows of the first call only; a number does not depend on how a stream is cut.
    degree : int, default=3
        Degree of "poly", ``(γ·x·x′ + coef0)^degree``.
    coef0 : float, default=0.0
        Constant of "poly", and of "sigmoid", ``tanh(γ·x·x′ + coef0)``.
    rule : {"auto", "perceptron", "margin", "uneven", "pa", "pa1", "pa2"} or rule object, default="auto"
        When to step and how far; an object such as ``perceptrons.rules.PA1(C=0.1)`` has parameters, which a grid search
        reaches as ``rule__C``. "auto" is ``perceptrons.rules.Margin(beta=2.0)``, or "perceptron" with a budget.
        `perceptrons.rules` has the formulas. Rules with a covariance, and those that scale w, do not combine with
        kernels: their steps are not along rows.
    readout : {"auto", "averaged", "last", "voted", "pocket"}, default="auto"
        Which hypothesis makes predictions, as for `Perceptron`. "auto" is "averaged", or "last" with a budget.
    fit_intercept : bool, default=True
        Whether to learn a bias b, the weight of a constant feature 1. It adds 1 to every kernel value.
    eta0 : float, default=1.0
        Scale of every step. With the rule "perceptron" it changes no prediction, unless there is a budget.
    max_iter : int, default=100
        Maximum number of passes over the data.
    tol : float or None, default=1e-3
        Stop when the margin in feature space is proved to be smaller than `tol` times R, or when the rows are proved
        not to be separable. Checked after each pass, from pass `n_iter_no_change` on. None means never.
    {shared: shuffle random_state tie early_stopping validation_fraction}
    n_iter_no_change : int, default=5
        Number of passes without a smaller held-out error after which `early_stopping` stops. Also the smallest number
        of passes before `tol` ends training. With a budget, `fit` also stops after this many passes without fewer
        mistakes than the best one.
    {shared: class_weight warm_start}
    budget : int or None, default=None
        Maximum number of support rows, B. It bounds the memory, and the time for an example, however long a stream is.
        Requires the readout "last". None keeps every row that makes a step.
    policy : {"projectron++", "projectron", "forgetron", "random"}, default="projectron++"
        What to do with a new support row when the budget is full.

        - "random" (RBP): remove a random row, but never the newest. Any of these rules, any number of classes.
        - "forgetron" (self-tuned): shrink all coefficients, as little as the analysis allows, then remove the oldest
          row. Two classes, the rule "perceptron", ``eta0=1``. The analysis is for ``k(x, x) ≤ 1``; larger kernels are
          divided by the largest value so far.
        - "projectron": if the squared distance of a row from the span of the rows kept is at most `threshold`, project
          the step onto the span; otherwise keep the row too. The rule "perceptron", any number of classes.
        - "projectron++": also make projected steps for rows that are right with a margin below 1.

        At B rows the projectrons always project, and the mistake bounds of their paper no longer hold.
    threshold : float, default=0.1
        η of the projectrons. A larger threshold keeps fewer rows.
    max_memory : int, default=2**30
        Bytes that `fit` may use besides X, without a budget. Kernel columns that do not fit are computed again when
        needed. A few columns and blocks are always allowed.
    verbose : int, default=0
        1 reports how training is organised, and progress now and then; 2 reports after each pass.

    Attributes
    ----------
    {shared: classes_}
    support_ : ndarray of shape (n_support,)
        Indices of the support rows, which made steps, sorted by class, then by index. They refer to X, or count rows
        over all calls of `partial_fit` and of `fit` with `warm_start`.
    support_vectors_ : ndarray or sparse array of shape (n_support, n_features)
        The support rows; empty for a precomputed kernel.
    n_support_ : ndarray of shape (n_classes,)
        Number of support rows of each class.
    dual_coef_ : ndarray of shape (1, n_support) or (n_classes, n_support)
        Coefficients α of the support rows. Not available with the voted readout.
    {shared: intercept_}
    gamma_ : float
        The value of γ in use.
    {shared: converged_ n_iter_ mistakes_ validation_errors_ contradiction_ n_seen_}
    margin_bound_ : float
        Proved upper bound on the margin of the rows seen, in feature space with the constant feature. Infinite with a
        budget, and for kernels that are known not to be positive semi-definite. Computing it takes the kernel values
        of all pairs of support rows.
    projection_error_ : float
        Largest relative residual of a projection so far, ``‖k − K·d‖/‖k‖``. Only with a projectron policy.
    {shared: n_features_in_ feature_names_in_ encoding_}

    Notes
    -----
    An alternative is to approximate a kernel's features: after scikit-learn's ``Nystroem`` or ``RBFSampler`` in a
    pipeline, the linear `Perceptron` learns in time that does not grow with the number of mistakes::

        make_pipeline(Nystroem(gamma=0.02, n_components=300), Perceptron())

    `perceptrons.theory.separability` and `mistake_bound` accept kernel matrices: pass ``K=model.kernel_matrix(X)``,
    and ``K_error=model.kernel_error(X)`` for its rounding errors.

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
    rule: Any = "auto"
    readout: str = "auto"
    max_iter: int = KERNEL["passes"]
    eta0: float = 1.0
    tie: str = "mistake"
    budget: int | None = None
    policy: str = "projectron++"
    threshold: float = 0.1
    max_memory: int = 2**30

    _streams: ClassVar[bool] = False  # fit keeps the scores of all rows, so it reads a source into memory
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
        "readout": [StrOptions({"auto", *READOUTS})],
    }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, X_val: Any = None, y_val: Any = None) -> Self:
        """Learn from all rows, pass after pass.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features), or Source
            C-ordered float32 and float64 arrays and CSR matrices are read in place. With ``kernel="precomputed"``, X is
            the kernel matrix, of shape (n_samples, n_samples). A source (`perceptrons.data.source`) is read into
            memory, because the scores of all rows are kept; `partial_fit` reads it batch by batch.
        y : array-like of shape (n_samples,)
            Labels: numbers, booleans, text or dates.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of rows. A weight scales the step, or C for PA-I and PA-II; rows with weight 0 are ignored.
        X_val, y_val : optional
            Held-out rows. The error on them is measured after each pass (`validation_errors_`); `early_stopping` uses
            them instead of a fraction of X.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, parameters do not combine, X or y has missing or infinite values, their
            lengths differ, or y has only one class.
        """
        if self.warm_start and self.kernel == "precomputed" and hasattr(self, "_learner"):
            raise ValueError("warm_start cannot be combined with kernel='precomputed': a new matrix has other columns")
        return self._fit(X, y, sample_weight, X_val, y_val)

    def _rows(self, fresh: Any, X: Any, *, reset: bool) -> Rows:
        rows = super()._rows(fresh, X, reset=reset)
        if self.kernel == "precomputed":
            support.check_matrix(rows)
        return rows

    @property
    def _scales(self) -> bool:
        return not (isinstance(self.kernel, str) and self.kernel == "precomputed")

    def _stream_obstacle(self) -> str | None:
        if isinstance(self.kernel, str) and self.kernel == "precomputed":
            return "kernel='precomputed' has no kernel values between new and old rows"
        return super()._stream_obstacle()

    def _settings(self) -> dict[str, Any]:
        rule, readout = rules.resolve(self._rule), self._readout
        if self.budget is not None:
            self._check_budget(rule)
        same = {name: getattr(self, name) for name in SETTINGS}
        return {"rule": rule, "readout": readout, "eta": self.eta0, "max_memory": self.max_memory, **same}

    @property
    def _rule(self) -> Any:
        automatic = RULE if self.budget is None else "perceptron"
        return automatic if isinstance(self.rule, str) and self.rule == "auto" else self.rule

    @property
    def _readout(self) -> str:
        automatic = "averaged" if self.budget is None else "last"
        return automatic if self.readout == "auto" else self.readout

    def _check_budget(self, rule: Any) -> None:
        """Raise an error for parameters that cannot be combined with a budget."""
        if self._readout != "last":
            raise ValueError(
                f"budget={self.budget} cannot be combined with readout={self.readout!r}, which needs rows that the "
                "budget has discarded: use readout='last', or budget=None"
            )
        if self.policy == "random":
            return
        if not isinstance(rule, rules.Plain):
            raise ValueError(
                f"policy={self.policy!r} requires rule='perceptron', got {rule}: policy='random' accepts others"
            )
        if self.policy == "forgetron" and self.eta0 != 1.0:
            raise ValueError(f"policy='forgetron' requires eta0=1, got eta0={self.eta0}")

    def _new_learner(self, settings: dict[str, Any], rows: Rows, n_classes: int) -> KernelLearner | BudgetLearner:
        limits = ("max_memory",) if self.budget is not None else ("budget", "policy", "threshold")
        settings = {name: value for name, value in settings.items() if name not in limits}
        if self.budget is None:
            return KernelLearner(**settings, rows=rows, n_classes=n_classes)
        if self.policy == "forgetron" and n_classes > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: policy='forgetron' "
                f"requires two classes, got {n_classes}. Use another policy."
            )
        seed = int(check_random_state(self.random_state).randint(2**31))
        return BudgetLearner(**settings, rows=rows, n_classes=n_classes, seed=seed)

    def _passes(self, seed: int | None = None) -> Passes:
        stall = None if self.budget is None else self.n_iter_no_change
        return super()._passes(seed)._replace(stall=stall)

    # -- learned attributes -----------------------------------------------------------------------------------

    @property
    def _expansion(self) -> KernelLearner | BudgetLearner:
        check_is_fitted(self)
        learner: KernelLearner | BudgetLearner = self._learner
        return learner

    @property
    @reading
    def support_(self) -> npt.NDArray[np.intp]:
        """Indices of the support rows, in X or in the whole stream, sorted by class, then by index."""
        learner = self._expansion
        return np.asarray(learner.state["numbers"][support.order(learner)])

    @property
    @reading
    def n_support_(self) -> npt.NDArray[np.intp]:
        """Number of support rows of each class."""
        return np.bincount(self._expansion.state["codes"], minlength=len(self.classes_))

    @property
    @reading
    def support_vectors_(self) -> Any:
        """The support rows, in the order of `support_`; empty for a precomputed kernel."""
        return support.vectors(self._expansion, self.n_features_in_)

    @property
    @reading
    def dual_coef_(self) -> npt.NDArray[np.float64]:
        """Coefficients of the support rows, of shape (1, n_support) or (n_classes, n_support)."""
        learner = self._expansion
        return np.asarray(support.lines(learner)[:, support.order(learner)])

    @property
    @reading
    def intercept_(self) -> npt.NDArray[np.float64]:
        """Bias, of shape (1,) or (n_classes,): the sum of the coefficients, or 0 without a bias."""
        return np.asarray(support.lines(self._expansion).sum(axis=1) * self._learner.bias)

    @property
    @reading
    def gamma_(self) -> float:
        """The value of γ in use."""
        return float(self._expansion.space.gamma)

    @property
    @reading
    def projection_error_(self) -> float:
        """Largest relative residual of a projection so far; only with a projectron policy."""
        error = getattr(self._expansion, "projection_error", None)
        if error is None:
            raise AttributeError("projection_error_ exists only with a budget and a projectron policy")
        return float(error)

    @reading
    def kernel_matrix(self, X: Any, Y: Any = None) -> npt.NDArray[np.float64]:
        """Compute the kernel matrix of rows in float64, without the 1 that the bias adds.

        The matrix of X with itself is exactly symmetric, and equal rows have exactly equal values.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.
        Y : array-like or sparse matrix of shape (n_others, n_features), optional
            The rows to pair with those of X; X itself by default.

        Returns
        -------
        ndarray of shape (n_samples, n_samples) or (n_samples, n_others)
            The kernel value of each pair.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted.
        ValueError
            If the kernel is "precomputed", or a row does not fit the model.
        """
        learner = self._expansion
        support.refuse_precomputed(learner)
        rows = learner.scaled(validation.features(self, X, reset=False))
        others = None if Y is None else learner.scaled(validation.features(self, Y, reset=False, input_name="Y"))
        return support.kernel_matrix(learner, rows, others)

    @reading
    def kernel_error(self, X: Any) -> float:
        """Compute a bound on the rounding errors in the kernel matrix of these rows.

        With this bound, proofs about the matrix hold for the exact kernel:
        ``separability(K=model.kernel_matrix(X), y=y, K_error=model.kernel_error(X))``. The values of your own kernel
        function are taken as exact.

        Parameters
        ----------
        X : array-like or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        float
            No entry of the matrix is further from its exact value.
        """
        learner = self._expansion
        rows = learner.scaled(validation.features(self, X, reset=False))
        return float(learner.space.error(rows.n_features, float(rows.sq_norm.max())))

    @reading
    def feature_space_norm(self) -> float:
        """Compute ‖w‖ in the kernel's feature space, over all classes and without the bias.

        Returns
        -------
        float
            0.0 if no step has been made.

        Raises
        ------
        AttributeError
            With the voted readout: many hypotheses vote.
        ValueError
            If the kernel is known not to be positive semi-definite, such as "sigmoid": w has no length.
        """
        return support.length(self._expansion, self.kernel)

    @reading
    def normalized(self) -> Self:
        """Scale the model to ‖w‖ = 1: decision values are then signed distances in feature space.

        Returns
        -------
        KernelPerceptron
            A copy that predicts the same.

        Raises
        ------
        ValueError
            If all coefficients are 0, so that there is no boundary, or if w has no length (see `feature_space_norm`).
        AttributeError
            With the voted readout: many hypotheses vote.
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
        tags.input_tags.sparse = self.kernel != "precomputed"
        tags.classifier_tags.multi_class = self.budget is None or self.policy != "forgetron"
        return tags
