"""The interface of a problem over structures, and checks of what its methods return."""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from numbers import Real
from typing import Any, Protocol

import numpy as np

from perceptrons.learn.structure.joint_space import ByName, ByNumber, Unfit, described

Space = ByName | ByNumber
KINDS = "a dict of names and numbers, a 1-D array or a sparse row"
PARAMETERS = {
    "features": "x, y",
    "argmax": "x, weights",
    "loss": "y, y_hat",
    "augmented": "x, weights, y, scale",
    "violation": "x, weights, y",
}


class Problem(Protocol):
    """Describes and searches structures. Optional methods: `loss`, `augmented`, `violation`."""

    def features(self, x: Any, y: Any) -> Any:
        """φ(x, y)."""

    def argmax(self, x: Any, weights: Any) -> Any:
        """The y with the largest w·φ(x, y)."""


class Checked:
    """A problem whose answers are all checked; `number` is the example, for error messages."""

    def __init__(self, problem: Any, *, augmented: bool) -> None:
        """`augmented`: whether training searches with the loss added."""
        if isinstance(problem, type):
            raise TypeError(f"problem must be an object, got the class {problem.__name__}: pass {problem.__name__}()")
        needed = {"features": "φ(x, y)", "argmax": "the best structure"}
        for name, meaning in needed.items():
            if not self._has(problem, name):
                raise TypeError(
                    f"problem must have a method {name}({PARAMETERS[name]}) that returns {meaning}, but "
                    f"{type(problem).__name__} has none"
                )
        self.problem, self.own_loss = problem, self._has(problem, "loss")
        self.by_violation = self._has(problem, "violation")
        if augmented and self.by_violation:
            raise ValueError(
                "rule='margin' adds the loss to scores, which problem.violation(x, weights, y) cannot do: "
                "use another rule, or a problem without violation"
            )
        if augmented and not self._has(problem, "augmented"):
            raise ValueError(
                "rule='margin' needs problem.augmented(x, weights, y, scale), the structure with the largest score + "
                f"scale·loss, but {type(problem).__name__} has none: write it, or use another rule"
            )

    @staticmethod
    def _has(problem: Any, name: str) -> bool:
        return callable(getattr(problem, name, None))

    def _call(self, name: str, number: int, *args: Any, about: str = "") -> Any:
        try:
            return getattr(self.problem, name)(*args)
        except Exception as error:
            error.add_note(f"raised by problem.{name}({PARAMETERS[name]}){about} for example {number}")
            raise

    def space(self, number: int, x: Any, y: Any) -> Space:
        """The feature space of this problem."""
        features = self._call("features", number, x, y)
        try:
            space: Space = ByName() if isinstance(features, dict) else ByNumber.like(features)
            space.read(features)  # check them before any search
        except Unfit as why:
            raise self._unfit(number, "", why) from None
        return space

    def features(self, space: Space, number: int, x: Any, y: Any, searched: str = "") -> Any:
        """φ(x, y), read by the space. `searched` is the method that found y, if y is not from the data."""
        about = f", y by problem.{searched}," if searched else ""
        features = self._call("features", number, x, y, about=about)
        try:
            return space.read(features)
        except Unfit as why:
            raise self._unfit(number, about, why) from None

    def _unfit(self, number: int, about: str, why: Unfit) -> Exception:
        return ValueError(f"problem.features(x, y){about} must return {KINDS}; for example {number} it returned {why}")

    def search(self, name: str, number: int, *args: Any) -> Any:
        """The structure that `argmax` or `augmented` finds."""
        found = self._call(name, number, *args)
        if found is None:
            raise ValueError(
                f"problem.{name}({PARAMETERS[name]}) must return a structure; for example {number} it returned None"
            )
        return found

    def violation(self, number: int, x: Any, weights: Any, y: Any) -> tuple[Any, Any] | None:
        """Parts of y and of the predicted structure, or None if the search finds y."""
        found = self._call("violation", number, x, weights, y)
        if found is None or (isinstance(found, tuple | list) and len(found) == 2):
            return None if found is None else (found[0], found[1])
        raise ValueError(
            "problem.violation(x, weights, y) must return a pair (part of y, part of the predicted structure), or None "
            f"if y is found; for example {number} it returned {described(found)}"
        )

    def loss(self, number: int, y: Any, predicted: Any) -> float:
        """L(y, ŷ): the problem's own loss, or 1 if they differ."""
        if not self.own_loss:
            return float(not self.same(number, y, predicted))
        loss = self._call("loss", number, y, predicted)
        if not isinstance(loss, Real | np.bool_) or not 0.0 <= float(loss) < math.inf:
            raise ValueError(
                f"problem.loss(y, y_hat) must return a number >= 0; for example {number} it returned {loss!r}"
            )
        return float(loss)

    def same(self, number: int, y: Any, predicted: Any) -> bool:
        """Whether two structures are equal."""
        try:
            return same(y, predicted)
        except Exception as error:
            raise TypeError(
                f"structures must be comparable: for example {number}, y == y_hat of a {type(y).__name__} and a "
                f"{type(predicted).__name__} gave neither True nor False ({error}). Use numbers, text, lists, tuples, "
                "arrays, or a class with __eq__"
            ) from error


def same(y: Any, predicted: Any) -> bool:
    """Whether two structures are equal; lists, tuples and arrays are compared by their contents.

    >>> same([1, (2, 3)], (1, np.array([2, 3]))), same([1, 2], [1, 2, 3]), same("ab", ["a", "b"])
    (True, False, False)
    """
    if type(y) is type(predicted) and isinstance(y, list | tuple):
        with suppress(ValueError):  # raised by arrays inside
            if y == predicted:
                return True
    if isinstance(y, np.ndarray) and isinstance(predicted, np.ndarray):
        return bool(np.array_equal(y, predicted))
    if all(isinstance(part, Sequence | np.ndarray) and not isinstance(part, str | bytes) for part in (y, predicted)):
        return len(y) == len(predicted) and all(map(same, y, predicted))
    equal = y == predicted
    if equal is True or equal is False or isinstance(equal, np.bool_):
        return bool(equal)
    raise TypeError(f"got a {type(equal).__name__}")
