"""The interface of learners to the training loop, and the bound on the margin that all of them prove."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from decimal import ROUND_CEILING, Context
from typing import Any, NamedTuple, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from perceptrons import rules
from perceptrons.learn.state import Course, State, Totals

EPSILON = float(np.finfo(np.float64).eps)
Order = npt.NDArray[np.unsignedinteger[Any]]  # numbers of examples in the order of a pass; one line per pass


class Words(NamedTuple):
    """Words for examples in messages."""

    unit: str = "rows"
    held_out_unit: str = "rows"  # unit of held-out errors
    separable: str = "linearly separable"
    who_tells: str = "perceptrons.theory.separability proves whether they are"
    other_space: str = "an averaged readout, or nonlinear features (a kernel)"
    stuck: str = "the misclassified rows are zero, or too short for a step"
    unstick: str = "leaving these rows out or rescaling them"
    stalled: str = "recent passes made no fewer mistakes than earlier ones"
    unstall: str = "a larger n_iter_no_change"
    warns_at_max_iter: bool = True
    held_out: str = "held-out error {:.2%}"
    mistakes: str = "mistakes"
    enough: str = ""  # what to try if passes were not enough; by default, what the other words say


def words_of_structures(unit: str, held_out_unit: str, found: str) -> Words:
    """Words for structures in messages; a search finds `found` for each `unit`."""
    return Words(
        unit,
        held_out_unit,
        separable="separable",
        who_tells="",
        other_space="or more informative features",
        stuck=f"the search misses {found} that score higher, or finds {found} with the features of the right ones",
        unstick=f"a wider search, or features that tell these {unit} apart",
        warns_at_max_iter=False,
    )


class Batch(Protocol):
    """Examples that are all in memory."""

    def __len__(self) -> int: ...

    def order(self) -> Order:
        """Numbers of the examples whose weight is not 0, in their own order."""

    def split(self, held: npt.NDArray[np.bool_]) -> tuple[Self, Self]:
        """The examples to learn from, and those held out."""


E = TypeVar("E", contravariant=True)


class Learner(Protocol[E]):
    """A learner from examples of type E, as `fit` needs it.

    Its hypothesis is the sum of its steps, w − w_0 = Σ τ_t·Δ_t. This class holds all that follows from this alone.
    """

    words: Words = Words()
    state: State  # arrays and totals, by name
    definite: bool = True  # whether examples have lengths and margins, so that something can be proved
    roundings: int = 1  # of the hypothesis in a step, at most
    plan: str = ""  # how passes are made, in a few words, if there is a choice

    @property
    def totals(self) -> Totals:
        return self.state.totals

    @property
    def course(self) -> Course:
        return self.state.course

    # -- learning ---------------------------------------------------------------------------------------------

    @property
    def one_by_one(self) -> bool:
        """Whether every pass needs its own call."""
        return False

    def begin(self, examples: E) -> None:
        """Get ready for the first pass."""
        return None

    def at_once(self, examples: E) -> int:
        """Number of passes that one call may make."""
        return 1

    @abstractmethod
    def once(self, examples: E, order: Order, *, last: bool = False) -> int:
        """Make one pass in this order; return the number of mistakes. `last`: whether it is the last pass."""

    def repeat(self, examples: E, orders: Order, tol: float | None) -> list[int]:
        """Make passes until one makes no mistake, or the margin looks too small; return the mistakes of each."""
        return [self.once(examples, order) for order in orders]

    @abstractmethod
    def confirms(self, examples: E) -> bool:
        """After a pass without a mistake: whether the current hypothesis makes none at all."""

    def converge(self) -> None:
        """Called when the current hypothesis makes no mistake."""
        return None

    def check_finite(self) -> None:
        """Raise an error if the hypothesis has overflowed; not needed if passes check it themselves."""
        return None

    def seal(self) -> None:
        """Release the examples, except those that the hypothesis needs."""
        return None

    @property
    def may_improve(self) -> bool:
        """Whether more passes over examples that cannot be separated may find a better hypothesis to keep."""
        return False

    @abstractmethod
    def watch(self, examples: E) -> Callable[[], float]:
        """A function that returns the current error of the readout on these examples."""

    def guesses(self, examples: E) -> npt.NDArray[Any]:
        """What the readout predicts for these examples, as small codes; only of learners of classes."""
        raise TypeError(f"{type(self).__name__} does not predict classes")

    @abstractmethod
    def snapshot(self) -> Any:
        """What `restore` needs to undo learning."""

    @abstractmethod
    def restore(self, snapshot: Any) -> None:
        """Go back to a snapshot."""

    # -- the bound --------------------------------------------------------------------------------------------

    @property
    def radius(self) -> float:
        """R: the length of the longest example, or of the longest step."""
        return float(np.sqrt(self.totals.sq_radius))

    @property
    def longest_step(self) -> float:
        """The length of the longest Δ: R, unless one example moves more than one weight vector."""
        return self.radius

    @abstractmethod
    def hull_point(self, total: float) -> tuple[float, float]:
        """‖w − w_0‖/Στ, including the rounding errors of computing it, and ‖w_0‖/Στ."""

    @property
    def margin_bound(self) -> float:
        """Proved upper bound on the margin of any hypothesis on the examples seen: ‖w − w_0‖/Στ, rounded up.

        (w − w_0)/Στ is a point of the convex hull of all Δ. Each of k updates rounds w, once or a few
        times, by at most ε·‖w‖ ≤ ε·(‖w_0‖ + R·Στ), and the sum Στ by a relative ε; and so does mixing.
        """
        total, roundings = self.totals.sum_tau, self.roundings * self.totals.updates + self.totals.mixed + 4
        if total == 0.0 or not self.definite:
            return float("inf")
        length, start = self.hull_point(total)
        return length * (1 + roundings * EPSILON) + 2 * roundings * EPSILON * (self.longest_step + start)

    def gives_up(self, tol: float) -> bool:
        """Whether the margin of the examples seen is proved to be below tol·R."""
        return self.margin_bound <= tol * self.radius

    @property
    def status(self) -> str:
        """What is known of the current hypothesis, in a few words."""
        bound = self.margin_bound
        return f"margin at most {at_most(bound)}" if math.isfinite(bound) else "no bound on the margin"


def overflow(where: str, rule: Any = None, *asked: float) -> ValueError:
    """The error for a step that is not finite. `asked`: the arguments that the rule's formula got there."""
    fault = _fault(rule, asked) if asked and np.isfinite(asked).all() else None
    if fault is not None:
        kind = rules.kind_of(rule)
        names = getattr(type(rule), kind).__code__.co_varnames[1:]
        told = ", ".join(f"{name}={number:g}" for name, number in zip(names, asked, strict=False))
        right = "a finite number" if kind == "tau" else "two finite numbers >= 0"
        return ValueError(
            f"the rule {type(rule).__name__} {fault} {where}, for {told}; the model is unchanged. {kind} must return "
            f"{right}, 0 for no step."
        )
    return ValueError(
        f"weights overflow float64 {where}; the model is unchanged. "
        "Rescale the features, for instance with StandardScaler, or lower eta0."
    )


def _fault(rule: Any, asked: tuple[float, ...]) -> str | None:
    """What is wrong with the answer of a user's rule; None if nothing is. Rules of this package only overflow."""
    if type(rule).__module__ == rules.__name__:
        return None
    try:
        answer = getattr(rule, rules.kind_of(rule))(*asked)
    except ArithmeticError as error:  # compiled code returns infinity or NaN instead
        return f"fails ({error})"
    sound = np.isfinite(answer).all() and (rules.kind_of(rule) != "metric" or answer[1] >= 0.0)
    return None if sound else f"returns {answer}"


def at_most(number: float) -> str:
    """Format an upper bound with three digits, rounded up so that it stays true."""
    return f"{float(Context(prec=3, rounding=ROUND_CEILING).create_decimal_from_float(number)):.3g}"
