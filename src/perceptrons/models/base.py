"""Base class of all estimators: parameters, training, counts and bounds."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from perceptrons import rules
from perceptrons.learn.fit import AnyLearner, Material, Passes, Run, fit
from perceptrons.learn.plain import flattened, restored
from perceptrons.learn.report import Progress, unconverged
from perceptrons.models.guard import Guard, reading

_parameters: dict[type, tuple[str, ...]] = {}  # of each class: scikit-learn inspects signatures in every call


def with_rule(rule: Any, params: dict[str, Any]) -> dict[str, Any]:
    """Parameters of an estimator, with those of its rule as ``rule__C``."""
    rule = rules.RULES.get(rule, tuple)() if isinstance(rule, str) else rule
    parts = rule._asdict() if isinstance(rule, tuple) and hasattr(rule, "_asdict") else {}
    return params | {f"rule__{name}": value for name, value in parts.items()}


def rule_with(rule: Any, params: dict[str, Any]) -> Any:
    """A rule with the parameters that are called ``rule__C``, of parameters of an estimator."""
    parts = {name.removeprefix("rule__"): value for name, value in params.items() if name.startswith("rule__")}
    rule = rules.resolve(rule)
    unknown = [name for name in parts if name not in rule._fields]
    if unknown:
        raise ValueError(
            f"Invalid parameter {unknown[0]!r} for rule {rule}. Valid parameters are: {list(rule._fields)!r}."
        )
    return rule._replace(**parts)


class Online(BaseEstimator):
    """Base class of all estimators. ``rule__C`` is the parameter C of the rule.

    The docstrings of estimators copy the entries below that they share.

    Parameters
    ----------
    rule : str or rule object, default="perceptron"
        When to step and how far:
        {rules},
        or an object such as ``perceptrons.rules.PA1(C=0.1)``. A grid search reaches its parameters as ``rule__C``.
        `perceptrons.rules` has their formulas. "uneven" is for two classes. Rules with a covariance ("arow" to "sop")
        and rules that scale w ("romma", "alma", "shifting") do not combine with the voted readout; the latter also
        need ``eta0=1``.
    readout : {"averaged", "last", "voted", "pocket"}, default="averaged"
        Which weight vector makes predictions. "averaged": the mean over all examples processed. "last": the final one.
        "voted": all of them by vote, each weighted by the number of examples that it lasted. "pocket": the one with the
        fewest mistakes on all training rows; a weight vector is tried on them when its run of right answers is the
        longest so far. The convergence theorem, `converged_` and `margin_bound_` are about "last", the textbook's
        perceptron. "averaged" predicts new rows better, whether or not the data can be separated.
    fit_intercept : bool, default=True
        Whether to learn a bias b, the weight of a constant feature 1.
    intercept_scaling : float, default=1.0
        The value c of the constant feature, so that b is c times its weight. The constant counts in the length of rows.
        Choose it in proportion to the features: for texts of length 1, 0.1 learns faster than 1.
    eta0 : float, default=1.0
        Scale of every step. From zero weights, with the rule "perceptron", it changes no prediction.
    max_iter : int, default=1000
        Maximum number of passes over the data.
    tol : float or None, default=1e-3
        Stop when the margin is proved to be smaller than `tol` times R, the length of the longest row, or when the rows
        are proved not to be separable. Checked after each pass, from pass `n_iter_no_change` on. Rules that keep a
        covariance prove nothing about the margin: with them, training stops when `n_iter_no_change` passes made no
        fewer mistakes than an earlier one. With other rules and the readout "averaged", training also stops when more
        passes no longer change the predictions: after 16, 32, 64, … passes, if the mean predicts at most 0.5 % of the
        training rows differently than after half as many, predicts more than one class, and a pass since then has made
        at least half as many mistakes as one in the quarter before. None turns all this off.
    shuffle : bool, default=True
        Whether each pass visits the examples in a new random order.
    random_state : int, RandomState or None, default=0
        Seed for shuffling, for the choice of held-out rows and for a random start.
    tie : {"mistake", "positive"}, default="mistake"
        What a score of 0 means. "mistake": a mistake in training, whatever the label, and `classes_[0]` in prediction.
        "positive": `classes_[1]` in both. With several classes, a tie is between the best scores, and the first of
        these classes is predicted.
    early_stopping : bool, default=False
        Whether to stop when the error on held-out rows has not fallen for `n_iter_no_change` passes, and to go back to
        the best hypothesis.
    validation_fraction : float, default=0.1
        Share of rows that `early_stopping` holds out, unless `fit` is given `X_val` and `y_val`. The same data, share
        and seed hold out the same rows in every estimator, from arrays and from files.
    n_iter_no_change : int, default=5
        Number of passes without a smaller held-out error after which `early_stopping` stops. Also the smallest number
        of passes before `tol` ends training: a model may still improve on rows that cannot be separated.
    class_weight : dict, "balanced" or None, default=None
        Weights of classes, multiplied by `sample_weight`. A weight scales the step, or C for PA-I and PA-II; each rule
        in `perceptrons.rules` says what it does. Some rules do not accept weights.
    warm_start : bool, default=False
        Whether `fit` continues from the previous fit.
    verbose : int, default=0
        1 reports progress now and then, 2 after each pass.
    scale : {"none", "online"}, default="none"
        Whether features of a stream are put on one scale. "online" is for `partial_fit`, `predict_then_learn`,
        `learn_one` and `learn_many`; `fit` refuses it: use a StandardScaler in a pipeline. Each row is first added to
        running statistics of its features, then scaled by them, then learned.

        - A feature that has occurred in every row so far is centred and divided by its standard deviation.
        - A feature that was absent from some row (sparse rows and dicts) is divided by its size, √(mean of x²) over the
          rows that have it, and not centred. With ``fit_intercept=False``, this holds for all features.
        - A feature occurs if the row has an entry for it, even of 0. An absent entry contributes 0 to the score, and so
          does a feature that is constant so far.

        Predictions use the scale of the rows so far. `coef_` and `intercept_` are for unscaled rows that have all
        entries; `margin_bound_` is about the rows as they were scaled when they were learned. Rows with weight 0 do not
        count. How a stream is cut into calls does not change the result.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels. Of two classes, `classes_[1]` is the positive one.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Bias. Not available with the voted readout.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the features. Not available with the voted readout. If the model was fitted on a file whose features
        were scaled (see `perceptrons.data.source`), these are weights per unit of the features as they stand in the
        file: ``X @ coef_.T + intercept_`` are the scores, except of words, and of values that are cut off.
    converged_ : bool
        Whether `fit` ended with a pass without a mistake, so that the final weights get all training examples right.
        Their mean (readout "averaged") or vote may still be wrong about some. Always False after `partial_fit`: a
        stream has no end.
    n_iter_ : int
        Number of passes of the last `fit`.
    mistakes_ : ndarray of shape (`n_iter_`,)
        Number of mistakes in each pass.
    validation_errors_ : ndarray
        Error on held-out examples after each pass; empty if none were held out.
    contradiction_ : ndarray or None
        The numbers, counted from 0, of some rows that cannot be separated from each other; None if `fit` has found
        none. `fit` ends when it has found them, except that the pocket readout goes on while it may improve.
    n_seen_, n_mistakes_, n_updates_ : int
        Number of examples processed, mistakes and steps, over all passes and calls.
    margin_bound_ : float
        Proved upper bound on the margin of the rows seen, with the bias as the weight of a constant feature. Infinite
        for rules that keep a covariance, which prove none.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the features, if X had feature names that are all strings.
    encoding_ : perceptrons.data.table.encoding.Encoding
        How the columns of a table became features, if the model was fitted on a table. To read another table in the
        same way, use ``source(..., like=model.encoding_)``.
    """

    # Parameters of every estimator.
    max_iter: int
    tol: float | None
    shuffle: bool
    random_state: Any
    verbose: int
    rule: Any = None  # for estimators without this parameter
    early_stopping: bool = False
    n_iter_no_change: int = 5

    _warns = True  # whether `fit` warns if it did not converge

    _learner: Any  # set by fitting, like everything below
    _n_rows: int  # number of rows, or tokens, in a pass: mistakes are a share of it

    @property
    def _guard(self) -> Guard:
        """The locks of this model."""
        found: Guard | None = self.__dict__.get("_locks")
        return self.__dict__.setdefault("_locks", Guard()) if found is None else found

    def __setattr__(self, name: str, value: Any) -> None:
        """Set an attribute. What was prepared for single examples is no longer valid."""
        super().__setattr__(name, value)
        locks: Guard | None = self.__dict__.get("_locks")
        if locks is not None:
            locks.lane = None

    def __copy__(self) -> Self:
        new = type(self).__new__(type(self))
        new.__dict__.update(self.__dict__)
        return new

    def __getstate__(self) -> dict[str, Any]:
        """Plain data for pickles, and for skops: no locks, and no types of this package."""
        state = super().__getstate__()  # may be the dict of this model
        plain: dict[str, Any] = flattened({name: value for name, value in state.items() if name != "_locks"})
        return plain

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(restored(state))

    @property
    def _trained(self) -> AnyLearner:
        """The learner; an error if the model is not fitted."""
        check_is_fitted(self)
        learner: AnyLearner = self._learner
        return learner

    # -- parameters -------------------------------------------------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters of this estimator.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of the rule, as ``rule__C``.

        Returns
        -------
        dict
            Parameters by name.
        """
        names = _parameters.get(type(self))
        if names is None:
            names = _parameters[type(self)] = tuple(super().get_params(deep=False))
        params: dict[str, Any] = {name: getattr(self, name) for name in names}
        return with_rule(self._rule, params) if deep else params

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this estimator.

        Rules are immutable: ``rule__C=0.1`` replaces the rule by a new one.

        Parameters
        ----------
        **params : dict
            Parameters by name.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the estimator or its rule has no parameter of this name. Values are checked by the next `fit`.
        """
        super().set_params(**{name: value for name, value in params.items() if not name.startswith("rule__")})
        if any(name.startswith("rule__") for name in params):
            self.rule = rule_with(self._rule, params)
        return self

    @property
    def _rule(self) -> Any:
        """The name of the rule, or the rule."""
        return self.rule

    # -- training ---------------------------------------------------------------------------------------------

    def _passes(self, seed: int | None = None) -> Passes:
        """The settings of `fit` that follow from the parameters."""
        return Passes(
            max_iter=self.max_iter,
            tol=self.tol,
            seed=seed,
            patience=self.n_iter_no_change if self.early_stopping else None,
            one_by_one=self.verbose > 1,
            least=self.n_iter_no_change,
        )

    def _report(self, material: Material[Any]) -> Progress | None:
        return Progress(type(self).__name__, material, self.verbose > 1) if self.verbose else None

    def _fit_examples(
        self, learner: AnyLearner, material: Material[Any], seed: int | None, held_out: Callable[[], float] | None
    ) -> Run:
        return fit(learner, material, self._passes(seed), held_out=held_out, report=self._report(material))

    def _commit(self, learner: AnyLearner, run: Run, n_rows: int) -> None:
        """Become the fitted model, while no thread reads; `n_rows` is the number of rows, or tokens, in a pass."""
        self.__dict__.update(
            _learner=learner,
            n_iter_=run.n_iter,
            converged_=run.converged,
            mistakes_=np.array(run.mistakes, dtype=np.int64),
            validation_errors_=np.array(run.validation_errors),
            _n_rows=n_rows,
        )

    def _conclude(self, learner: AnyLearner, run: Run, stacklevel: int, advice: Callable[[], str] = str) -> None:
        """After `_commit`: warn if training did not converge, with more advice, and raise a pending Ctrl-C."""
        text = unconverged(type(self).__name__, learner, run, self._passes()) if self._warns else None
        if text is not None:
            warnings.warn(text + advice(), ConvergenceWarning, stacklevel=stacklevel + 1)
        run.resume_interrupt()

    def _refuse_early_stopping(self) -> None:
        """Raise an error in `partial_fit`, which would ignore this parameter."""
        if self.early_stopping:
            raise ValueError(
                "early_stopping should be False with partial_fit, which makes one pass and cannot stop: call "
                "set_params(early_stopping=False)"
            )

    # -- reports ----------------------------------------------------------------------------------------------

    @property
    @reading
    def n_seen_(self) -> int:
        """Number of examples processed, over all passes and calls."""
        return int(self._trained.totals.seen)

    @property
    @reading
    def n_mistakes_(self) -> int:
        """Number of examples that were predicted wrong when they were processed, over all passes and calls."""
        return int(self._trained.totals.mistakes)

    @property
    @reading
    def n_updates_(self) -> int:
        """Number of steps, over all passes and calls."""
        return int(self._trained.totals.updates)

    @property
    @reading
    def margin_bound_(self) -> float:
        """Proved upper bound on the margin of the examples seen, with the bias as the weight of a constant feature."""
        return float(self._trained.margin_bound)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_learner")
