"""The perceptron for structures of any kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from perceptrons import rules
from perceptrons.learn.fit import InMemory, Run
from perceptrons.learn.readouts import OVER_STRUCTURES
from perceptrons.learn.structure.learner import Pairs, StructuredLearner
from perceptrons.learn.structure.problem import Checked
from perceptrons.models.base import Online
from perceptrons.models.guard import reading
from perceptrons.models.parameters import COMMON, documented


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class StructuredPerceptron(Online):
    """Perceptron that predicts structures: sequences, trees, rankings, or anything that a problem can search.

    Problem: find w with ``w·φ(x, y) > w·φ(x, y')`` for every example (x, y) and every other structure y'. Update, when
    the best structure ŷ by the current weights is not y: ``w += η·τ·Δφ`` with ``Δφ = φ(x, y) − φ(x, ŷ)`` and τ by the
    rule: the margin is ``m = w·Δφ``, the hinge loss ``ℓ = max(0, L(y, ŷ) − m)``, and ‖Δφ‖² takes the place of ‖x‖².
    With PA, PA-I and PA-II this is 1-best MIRA. The rule "margin" searches for the largest score + β·loss, and also
    steps when the score of a structure comes closer to that of y than β times its loss.

    Guarantee: if some w of length 1 separates y from all other structures by γ (``w·Δφ ≥ γ``) and no Δφ is longer
    than R, the rule "perceptron" makes at most ``(R/γ)²`` updates, in any order (Collins 2002).

    The proof needs every step to be a violation: the score of ŷ is not below that of y. Exact search finds nothing
    else. Inexact search, such as a beam or a greedy one, may fail to find y although y scores higher. A step would then
    push y further up although it is right already, the proof would fail, and weights could grow for ever (Huang, Fayong
    & Guo 2012). So no step is made, and `n_search_errors_` counts the case. Give such a problem a method `violation`.

    Parameters
    ----------
    problem : object
        Describes and searches the structures, with these methods; the last three are optional.

        - ``features(x, y)``: φ(x, y), as a dict of names and numbers, a 1-D array or a sparse row; one kind for all.
        - ``argmax(x, weights)``: the y with the largest score. The weights match the features: a dict in which an
          unknown name weighs 0, or an array. Do not change them.
        - ``loss(y, y_hat)``: a number ≥ 0. Without this method, the loss is 1 if the two differ.
        - ``augmented(x, weights, y, scale)``: the structure with the largest score + scale·loss; for the rule "margin".
        - ``violation(x, weights, y)``: for inexact search, called instead of `argmax` in training. Returns a pair (part
          of y, part of the structure found) to step along, or None if y is found. `features` and `loss` must accept
          parts. Early update takes the first place where y falls off the beam (Collins & Roark 2004), max-violation the
          place where y is furthest behind.

        Structures are compared by ==; lists, tuples and arrays by their contents.
    rule : {"perceptron", "margin", "pa", "pa1", "pa2"} or rule object, default="perceptron"
        When to step and how far; an object such as ``perceptrons.rules.PA1(C=0.1)`` has parameters, which a grid search
        reaches as ``rule__C``. `perceptrons.rules` has the formulas.
    readout : {"averaged", "last"}, default="averaged"
        Which weights make predictions: their mean over all examples processed, or the final ones. The mean predicts
        better after a few passes, before training converges.
    {shared: eta0}
    max_iter : int, default=10
        Maximum number of passes over the data. A few passes of averaging are the usual method, so there is no warning
        when training ends here. A pass without a mistake ends it earlier.
    tol : float or None, default=None
        Stop when γ/R is proved to be smaller than `tol`. Checked after each pass, from pass 5 on. None turns this off.
    {shared: shuffle}
    random_state : int, RandomState or None, default=0
        Seed for shuffling.
    {shared: verbose}

    Attributes
    ----------
    weights_ : dict or ndarray
        Weights of the readout.
    {shared: n_iter_ converged_ mistakes_ n_seen_}
    n_search_errors_ : int
        Number of searches that returned a structure with a lower score than y.
    margin_bound_ : float
        Proved upper bound on γ: no w of length 1 separates y from all other structures by more. If the problem has
        `violation`, the bound is about partial structures too.

    References
    ----------
    Collins 2002; Collins & Roark 2004; Crammer et al. 2006; Huang, Fayong & Guo 2012.

    Examples
    --------
    A structure is anything that can be searched, for instance a subset of items, chosen by their properties.

    >>> from perceptrons import StructuredPerceptron
    >>> class Subsets:
    ...     def features(self, x, y):
    ...         return {name: sum(x[i][name] for i in y) for name in ("price", "quality")}
    ...     def argmax(self, x, weights):
    ...         return [i for i, item in enumerate(x) if sum(weights[name] * item[name] for name in item) > 0]
    ...     def loss(self, y, y_hat):
    ...         return len(set(y) ^ set(y_hat))
    >>> X = [[{"price": 3, "quality": 1}, {"price": 1, "quality": 2}], [{"price": 2, "quality": 3}]]
    >>> model = StructuredPerceptron(Subsets(), rule="pa", random_state=0).fit(X, [[1], [0]])
    >>> model.converged_, model.predict([[{"price": 1, "quality": 3}, {"price": 9, "quality": 1}]])
    (True, [[0]])
    """

    problem: Any = field(kw_only=False)
    rule: Any = "perceptron"
    readout: str = "averaged"
    eta0: float = 1.0
    max_iter: int = 10
    tol: float | None = None
    shuffle: bool = True
    random_state: Any = 0
    verbose: int = 0

    _unit: ClassVar[str] = "structures"  # what plots of mistakes count
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "problem": "no_validation",  # checked by the learner
        "readout": [StrOptions(set(OVER_STRUCTURES))],
        **{name: COMMON[name] for name in ("rule", "eta0", "max_iter", "tol", "shuffle", "random_state", "verbose")},
    }

    # -- learning ---------------------------------------------------------------------------------------------

    def _settings(self) -> dict[str, Any]:
        return {"problem": self.problem, "rule": rules.resolve(self.rule), "readout": self.readout, "eta": self.eta0}

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, Y: Any) -> Self:
        """Learn from all examples, pass after pass, starting with zero weights.

        An error leaves the model unchanged; Ctrl-C keeps what the finished passes have learned.

        Parameters
        ----------
        X : sequence
            Inputs, in any form that the problem understands.
        Y : sequence of the same length
            The structure of each input.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            If X or Y is not a sequence with one entry per example, or the problem lacks a method.
        ValueError
            If X and Y have different lengths or are empty, or the problem returns something that it should not.
        """
        pairs = Pairs(*examples(X, Y))
        with self._guard.learning:
            learner = StructuredLearner(**self._settings())
            seed = int(check_random_state(self.random_state).randint(2**31)) if self.shuffle else None
            run = self._fit_examples(learner, InMemory(pairs), seed, None)
            if run.learned:
                self._guard.change(lambda: self._commit(learner, run, len(pairs)))
            self._conclude(learner, run, stacklevel=3)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, Y: Any) -> Self:
        """Learn from these examples once, in their order. A call that fails or is interrupted changes nothing.

        How a stream is cut into calls does not change the result.

        Parameters
        ----------
        X, Y
            As for `fit`.

        Returns
        -------
        self

        Raises
        ------
        TypeError, ValueError
            As for `fit`.
        """
        pairs, settings = Pairs(*examples(X, Y)), self._settings()

        def learn() -> None:
            learner = self._learner if hasattr(self, "_learner") else StructuredLearner(**settings)
            learner.adopt(**settings)
            mistakes = learner.once(pairs, pairs.order())
            self._commit(learner, Run(mistakes=[mistakes], stop="stream"), len(pairs))

        self._guard.change(learn)
        return self

    # -- learned attributes -----------------------------------------------------------------------------------

    @reading
    def predict(self, X: Any) -> list[Any]:
        """Predict the best structure of each input.

        Parameters
        ----------
        X : sequence
            Inputs, in any form that the problem understands.

        Returns
        -------
        list of structures
            One per input.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted.
        """
        check_is_fitted(self)
        return list(self._learner.predict(inputs(X, "X")))

    def score(self, X: Any, Y: Any) -> float:
        """Compute the share of structures that are predicted correctly as a whole.

        Parameters
        ----------
        X, Y
            As for `fit`.

        Returns
        -------
        float
            From 0 to 1.
        """
        return self._mean(X, Y, lambda checked: checked.same)

    def loss(self, X: Any, Y: Any) -> float:
        """Compute the mean loss of predictions, by the problem's own loss, or else the share of wrong structures.

        Parameters
        ----------
        X, Y
            As for `fit`.

        Returns
        -------
        float
            0 if all predictions are correct.
        """
        return self._mean(X, Y, lambda checked: checked.loss)

    @reading
    def _mean(self, X: Any, Y: Any, measure: Callable[[Checked], Callable[..., float]]) -> float:
        """The mean of a measure over pairs of a structure and its prediction."""
        check_is_fitted(self)
        X, Y = examples(X, Y)
        pairs, of = zip(Y, self.predict(X), strict=True), measure(self._learner.checked)
        return float(np.mean([of(number, *pair) for number, pair in enumerate(pairs)]))

    @property
    @reading
    def weights_(self) -> Any:
        """Weights of the readout: an array, or a dict in which unknown names weigh 0."""
        check_is_fitted(self)
        weights = self._learner.weights
        return type(weights)(weights) if isinstance(weights, dict) else weights  # arrays are read-only

    @property
    @reading
    def n_search_errors_(self) -> int:
        """Number of searches that returned a structure with a lower score than y, and made no step."""
        check_is_fitted(self)
        return int(self._learner.search_errors)


def inputs(values: Any, name: str) -> list[Any]:
    """The given values as a list."""
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0:
        raise TypeError(f"{name} must be a sequence with one entry per example, got a {type(values).__name__}")
    if hasattr(values, "iloc") and getattr(values, "ndim", 1) == 2:  # iterating would go over its columns
        raise TypeError(
            f"{name} must be a sequence with one entry per example, got a data frame: pass a list of its rows"
        )
    return values if isinstance(values, list) else list(values)


def examples(X: Any, Y: Any) -> tuple[list[Any], list[Any]]:
    """Both as lists, which must have the same length."""
    X, Y = inputs(X, "X"), inputs(Y, "Y")
    if len(X) != len(Y):
        raise ValueError(f"X and Y must have the same length, got {len(X)} and {len(Y)}")
    if not X:
        raise ValueError("X has no examples")
    return X, Y
