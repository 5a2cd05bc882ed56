"""The perceptron, with every rule and every readout."""

from __future__ import annotations

from typing import Any, ClassVar

from sklearn.utils._param_validation import StrOptions

from perceptrons import rules
from perceptrons.models.linear import LinearModel
from perceptrons.models.rule_parameters import COMMON, RuleParameters


class Perceptron(RuleParameters, LinearModel):
    """Linear classifier that learns from its mistakes.

    Problem: find w, b with ``y·(w·x + b) > 0`` for all rows. Update, on a row with margin ``m = y·(w·x + b) ≤ 0``:
    ``w += η·y·x``, ``b += η·y``; other rules step further or earlier. Several classes have one weight vector each:
    the right one gets ``+τ·x``, the strongest wrong one ``−τ·x``.

    Guarantee: rows that some hypothesis separates with margin γ (R the length of the longest row, the constant 1
    appended for the bias) cost at most ``(R/γ)²`` updates, in any order. Training ends when a whole pass makes no
    mistake (`converged_`), or when it has proved that γ < `tol`·R. With the default settings all data of relative
    margin 0.001 and more end with no training error.

    Parameters
    ----------
    rule : str or rule object, default="perceptron"
        How far a step goes: "perceptron", "margin", "pa", "pa1", "pa2" or an object such as
        ``perceptrons.rules.PA1(C=0.1)``; its parameters can be searched as ``rule__C``.
    readout : {"last", "averaged", "voted", "pocket"}, default="last"
        Which hypothesis predicts: the final one; the mean over all examples processed; all of them by vote, each
        weighted by how long it lasted; or the one with the fewest training mistakes.
    fit_intercept : bool, default=True
        Whether to learn b.
    eta0 : float, default=1.0
        Scales every step. From zero weights, with the rule "perceptron", it changes no prediction.
    max_iter : int, default=10_000_000
        The largest number of passes. The default is more than `tol` ever lets happen.
    tol : float or None, default=1e-3
        Stop when the margin is proved to be smaller than `tol` relative to R; looked at after each pass. None: never.
    shuffle : bool, default=True
        A new random order in each pass.
    random_state : int, RandomState or None, default=0
        Seeds the shuffling, the random start and the choice of held-out rows.
    init : {"zeros", "random"}, default="zeros"
        Weights before the first example of `fit`; streams begin with zeros.
    tie : {"mistake", "positive"}, default="mistake"
        A score of 0 counts as a mistake for either label; or as a prediction of `classes_[1]` (with several
        classes, of the first of the best), in training and prediction alike.
    early_stopping : bool, default=False
        Stop when the error on held-out rows has not fallen for `n_iter_no_change` passes, and go back to the best
        hypothesis.
    validation_fraction : float, default=0.1
        Share of rows held out by `early_stopping`, unless `fit` is given `X_val, y_val`.
    n_iter_no_change : int, default=5
        Patience of `early_stopping`, in passes.
    class_weight : dict, "balanced" or None, default=None
        Weights of classes, times `sample_weight`. A weight scales the step, or C for PA-I and PA-II; plain PA
        takes none.
    warm_start : bool, default=False
        Whether `fit` goes on from the last fit.
    verbose : int, default=0
        1 reports now and then, 2 after each pass.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted; `classes_[1]` is the positive one of two.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Not with the voted readout.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Not with the voted readout.
    converged_ : bool
        Whether `fit` ended with a pass without a mistake. Always False after `partial_fit`: a stream has no end.
    n_iter_ : int
        Passes of the last `fit`.
    mistakes_ : ndarray of shape (n_iter_,)
        Mistakes in each pass.
    validation_errors_ : ndarray
        Error on held-out rows after each pass, if there were any.
    n_seen_, n_mistakes_, n_updates_ : int
        Examples processed, mistakes and steps made, over all passes and calls.
    margin_bound_ : float
        Proved upper bound on the margin of the rows seen, in the space with the constant feature.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features_in_,)

    Notes
    -----
    There is no `predict_proba`: scores of a perceptron are no probabilities. Calibrate them where they are needed:
    ``CalibratedClassifierCV(Perceptron(readout="averaged"))``.

    Results are the same for the same seed on the same machine. Other processors may add in another order.

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
    >>> Perceptron(rule="pa1", readout="averaged").partial_fit(X, y).n_seen_
    150
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**COMMON, "init": [StrOptions({"zeros", "random"})]}

    def __init__(
        self,
        *,
        rule: Any = "perceptron",
        readout: str = "last",
        fit_intercept: bool = True,
        eta0: float = 1.0,
        max_iter: int = 10_000_000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        random_state: Any = 0,
        init: str = "zeros",
        tie: str = "mistake",
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        class_weight: Any = None,
        warm_start: bool = False,
        verbose: int = 0,
    ) -> None:
        self.rule = rule
        self.readout = readout
        self.fit_intercept = fit_intercept
        self.eta0 = eta0
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.init = init
        self.tie = tie
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.verbose = verbose

    def _settings(self) -> dict[str, Any]:
        return {
            "rule": rules.resolve(self.rule),
            "readout": self.readout,
            "eta": self.eta0,
            "fit_intercept": self.fit_intercept,
            "tie": self.tie,
        }
