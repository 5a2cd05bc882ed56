"""The perceptron over structures of any kind."""

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
from perceptrons.models.parameters import COMMON, documented


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class StructuredPerceptron(Online):
    """Learns to predict structures: sequences, trees, rankings, whatever a problem can search.

    Problem: find w with ``w·φ(x, y) > w·φ(x, y')`` for every example (x, y) and every other structure y'. Update, when
    the best structure ŷ by the weights in force is not y: ``w += η·τ·Δφ`` with ``Δφ = φ(x, y) − φ(x, ŷ)`` and τ by the
    rule: the margin is ``m = w·Δφ``, the hinge loss ``ℓ = max(0, L(y, ŷ) − m)``, and ‖Δφ‖² takes the place of ‖x‖².
    With PA, PA-I and PA-II this is 1-best MIRA. The rule "margin" searches for the largest score + β·loss, and also
    steps where a structure comes closer to y than β times its loss.

    Guarantee: if some w of length 1 keeps all other structures at a distance of γ (``w·Δφ ≥ γ``) and no Δφ is longer
    than R, the rule "perceptron" makes at most ``(R/γ)²`` updates, in any order (Collins 2002).

    The proof needs every step to be a violation: a ŷ whose score is not below that of y. An exact search gives nothing
    else. A search that is not exact (a beam, a greedy one) may fail to find y although y scores higher; a step would
    then push further what is right already, the proof fails, and weights can grow for ever (Huang, Fayong & Guo 2012).
    No step is made there, and `n_search_errors_` counts it. Give such a problem `violation`.

    Parameters
    ----------
    problem : object
        What knows the structures. It has these methods; the last three are optional.

        - ``features(x, y)``: φ(x, y), as a dict of names and numbers, a 1-D array or a sparse row; one kind for all.
        - ``argmax(x, weights)``: the y with the largest score. Weights match the features: a dict in which an unknown
          name weighs 0, or an array. They are there to be read.
        - ``loss(y, y_hat)``: a number ≥ 0. Without it, 1 where the two differ.
        - ``augmented(x, weights, y, scale)``: the structure with the largest score + scale·loss; for the rule "margin".
        - ``violation(x, weights, y)``: for a search that is not exact, in place of `argmax` in training: a pair (part
          of y, part of the structure found) to step along, or None if y is found. `features` and `loss` must take
          parts. Early update takes the first place where y falls off a beam (Collins & Roark 2004), max-violation the
          place where it is furthest behind.

        Structures are compared by ==; lists, tuples and arrays by what is in them.
    rule : str or rule object, default="perceptron"
        How far a step goes: "perceptron", "margin", "pa", "pa1", "pa2" or an object such as
        ``perceptrons.rules.PA1(C=0.1)``; its parameters can be searched as ``rule__C``.
    readout : {"averaged", "last"}, default="averaged"
        Which weights predict: their mean over all examples processed, or the final ones.
    eta0 : float, default=1.0
        Scales every step. From zero weights, with the rule "perceptron", it changes no prediction.
    max_iter : int, default=10
        The largest number of passes.
    tol : float or None, default=None
        Stop when γ/R is proved to be smaller than `tol`; looked at after each pass. None: never.
    shuffle : bool, default=True
        A new random order in each pass.
    random_state : int, RandomState or None, default=None
        Seeds the shuffling.
    verbose : int, default=0
        1 reports now and then, 2 after each pass.

    Attributes
    ----------
    weights_ : dict or ndarray
        Those of the readout.
    n_iter_ : int
        Passes of the last `fit`.
    converged_ : bool
        Whether `fit` ended with a pass without a mistake. Always False after `partial_fit`: a stream has no end.
    mistakes_ : ndarray of shape (n_iter_,)
        Mistakes in each pass.
    n_seen_, n_mistakes_, n_updates_ : int
        Examples processed, wrong predictions and steps made, over all passes and calls.
    n_search_errors_ : int
        Searches that ended with a structure that is worse than y by their own weights.
    margin_bound_ : float
        Proved: no w of length 1 keeps y above all other structures by more; where the problem gives violations, above
        all other partial structures.

    References
    ----------
    Collins 2002; Collins & Roark 2004; Crammer et al. 2006; Huang, Fayong & Guo 2012.

    Examples
    --------
    A structure is anything that can be searched, for instance a subset: which items to take, by their properties.

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

    _unit: ClassVar[str] = "structures"  # what pictures of mistakes count
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "problem": "no_validation",  # the learner says what is wrong with it
        "readout": [StrOptions(set(OVER_STRUCTURES))],
        **{name: COMMON[name] for name in ("rule", "eta0", "max_iter", "tol", "shuffle", "random_state", "verbose")},
    }

    # -- learning ---------------------------------------------------------------------------------------------

    def _settings(self) -> dict[str, Any]:
        return {
            "problem": self.problem,
            "rule": rules.resolve(self.rule),
            "readout": self.readout,
            "eta": self.eta0,
        }

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, Y: Any) -> Self:
        """Learn from all examples, pass after pass, from zero weights on.

        An error leaves the model as it was; Ctrl-C leaves what the finished passes have learned.

        Parameters
        ----------
        X : sequence
            What structures are about, in any form that the problem understands.
        Y : sequence of the same length
            The structures.

        Returns
        -------
        self
        """
        pairs = Pairs(*examples(X, Y))
        learner = StructuredLearner(**self._settings())
        seed = int(check_random_state(self.random_state).randint(2**31)) if self.shuffle else None
        run = self._fit_examples(learner, InMemory(pairs), seed, None)
        if run.learned:
            self._commit(learner, run, len(pairs))
        self._conclude(learner, run, stacklevel=3)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, Y: Any) -> Self:
        """Learn from these examples, once, in their order. A call that fails or is interrupted changes nothing.

        Cutting a stream into other chunks changes nothing either.

        Parameters
        ----------
        X, Y
            As for `fit`.

        Returns
        -------
        self
        """
        pairs, settings = Pairs(*examples(X, Y)), self._settings()
        learner = self._learner if hasattr(self, "_learner") else StructuredLearner(**settings)
        learner.adopt(**settings)
        mistakes = learner.once(pairs, pairs.order())
        self._commit(learner, Run(mistakes=[mistakes], stop="stream"), len(pairs))
        return self

    # -- what has been learned --------------------------------------------------------------------------------

    def predict(self, X: Any) -> list[Any]:
        """Predict the best structure of each input.

        Parameters
        ----------
        X : sequence

        Returns
        -------
        list of structures
        """
        check_is_fitted(self)
        return list(self._learner.predict(inputs(X, "X")))

    def score(self, X: Any, Y: Any) -> float:
        """Compute the share of structures that are predicted right as a whole.

        Parameters
        ----------
        X, Y
            As for `fit`.

        Returns
        -------
        float
        """
        return self._mean(X, Y, lambda checked: checked.same)

    def loss(self, X: Any, Y: Any) -> float:
        """Compute the mean loss of what is predicted: that of the problem, or the share of wrong structures.

        Parameters
        ----------
        X, Y
            As for `fit`.

        Returns
        -------
        float
        """
        return self._mean(X, Y, lambda checked: checked.loss)

    def _mean(self, X: Any, Y: Any, measure: Callable[[Checked], Callable[..., float]]) -> float:
        """The mean of a measure of each pair of a structure and what is predicted for it."""
        check_is_fitted(self)
        X, Y = examples(X, Y)
        pairs, of = zip(Y, self.predict(X), strict=True), measure(self._learner.checked)
        return float(np.mean([of(number, *pair) for number, pair in enumerate(pairs)]))

    @property
    def weights_(self) -> Any:
        """Weights of the readout: by name, where a name that has none weighs 0, or an array."""
        check_is_fitted(self)
        weights = self._learner.weights
        return type(weights)(weights) if isinstance(weights, dict) else weights  # arrays cannot be written

    @property
    def n_search_errors_(self) -> int:
        """Searches that found something worse than y, and made no step."""
        check_is_fitted(self)
        return int(self._learner.search_errors)


def inputs(values: Any, name: str) -> list[Any]:
    """A list of what is given."""
    if isinstance(values, str | bytes | dict) or not isinstance(values, Iterable) or getattr(values, "ndim", 1) == 0:
        raise TypeError(f"{name} must be a sequence with one entry per example, got a {type(values).__name__}")
    if hasattr(values, "iloc") and getattr(values, "ndim", 1) == 2:  # iterating goes over its columns
        raise TypeError(
            f"{name} must be a sequence with one entry per example, got a data frame: pass a list of its rows"
        )
    return values if isinstance(values, list) else list(values)


def examples(X: Any, Y: Any) -> tuple[list[Any], list[Any]]:
    """Both as lists of one length."""
    X, Y = inputs(X, "X"), inputs(Y, "Y")
    if len(X) != len(Y):
        raise ValueError(f"X and Y must have the same length, got {len(X)} and {len(Y)}")
    if not X:
        raise ValueError("X has no examples")
    return X, Y
