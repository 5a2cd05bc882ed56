"""What learners of classes have in common, whatever space they move in: settings, readout, scores to classes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.data.arrays import Rows
from perceptrons.learn.examples import Examples
from perceptrons.learn.learner import Learner, Order
from perceptrons.learn.readouts import READOUTS, Ballot, Readout, Step
from perceptrons.learn.state import Floats, Growth, Ints, State

Array = npt.NDArray[Any]


class ClassLearner(Learner[Examples]):
    """A learner of two or more classes. Each kind adds the space that it moves in."""

    bias: float  # value of the constant feature: 1, or 0 without a bias
    fixed: dict[str, Any]  # settings that cannot change once learning has begun
    n_classes: int
    burn_in = 0  # examples still to be seen before averaging begins
    readout: Readout

    def __init__(
        self,
        rule: Any,
        readout: str,
        n_classes: int,
        eta: float = 1.0,
        fit_intercept: bool = True,
        tie: str = "mistake",
    ) -> None:
        self.rule, self.eta = rule, float(eta)
        self.bias = 1.0 if fit_intercept else 0.0
        self.tie_positive = tie == "positive"
        self.fixed = {"readout": readout, "fit_intercept": fit_intercept}
        self.n_classes = n_classes
        self.readout = READOUTS[readout]()

    def adopt(self, *, rule: Any, eta: float = 1.0, tie: str = "mistake", **others: Any) -> None:
        """Go on with another rule, step or tie; all other settings stay."""
        for name, value in self.fixed.items():
            if others[name] != value:
                raise ValueError(
                    f"{name} was changed after learning had begun: fit without warm_start, or change it back"
                )
        self.rule, self.eta, self.tie_positive = rule, float(eta), tie == "positive"

    @property
    def radius(self) -> float:
        """R: the length of the longest row, with the constant feature if there is a bias."""
        return float(np.sqrt(self.totals.sq_radius + self.bias))

    @property
    def longest_step(self) -> float:
        """R, times √2 where two weight vectors move."""
        return self.radius * (1.0 if self.n_classes <= 2 else float(np.sqrt(2.0)))

    @property
    def one_by_one(self) -> bool:
        return "origin" in self.state or self.burn_in > 0

    # -- what each space says --------------------------------------------------------------------------------

    @property
    @abstractmethod
    def current(self) -> Floats:
        """The hypothesis in force: weights, or coefficients of support rows."""

    @property
    def weights(self) -> Floats:
        """The weights, or coefficients, of the readout."""
        return self.readout.weights(self.current, self.state.get("kept"), self.totals)

    @abstractmethod
    def scores(self, rows: Rows, hypothesis: Floats) -> Floats:
        """Scores by weights, or coefficients, of this shape; one column for two classes."""

    def reads_less(self, rows: Rows) -> bool:
        """Whether scoring these rows reads fewer weights than there are."""
        return False

    @abstractmethod
    def mistakes_of(self, examples: Examples, hypothesis: Floats) -> float:
        """Mistakes of a hypothesis on examples, by their weights."""

    @abstractmethod
    def ballot(self, rows: Rows) -> Ballot:
        """Empty votes on these rows."""

    @abstractmethod
    def steps(self, first: int) -> list[Step]:
        """The updates that a voted readout has logged, from number `first` on."""

    @abstractmethod
    def once(self, examples: Examples, order: Order, predicted: Array | None = None, *, last: bool = False) -> int:
        """Make one pass over the rows `order`; return the number of mistakes. Fills `predicted`, unless None."""

    @abstractmethod
    def make_room(self, growth: Growth) -> None:
        """Make room for new classes; a new class starts at 0."""

    @abstractmethod
    def check_finite(self, columns: Ints | None = None) -> None:
        """Refuse a hypothesis that has overflowed, as far as these features go (None: all)."""

    @abstractmethod
    def snapshot(self, columns: Ints | None = None) -> Any:
        """What `restore` needs to undo learning that touches these features only (None: all)."""

    def compact(self) -> State:
        """What a model file holds of the state: all that is in use."""
        return self.state

    def set_origin(self) -> None:
        """Count Στ from here on: the bound on the margin is then about the rows that follow only."""
        self.state.hold("origin", np.copy(self.current) if self.current.any() else None)
        self.totals.sum_tau = self.totals.sq_norm = self.totals.sq_radius = 0.0

    # -- reading ----------------------------------------------------------------------------------------------

    def decide(self, rows: Rows) -> Floats:
        """Scores of all rows, one column for two classes; the share of votes when they vote."""
        return self.readout.decide(self, rows)

    def predict(self, scores: Floats) -> Ints:
        """The classes that scores stand for. An even vote goes to the first class, whatever `tie` says."""
        return self.classes_of(scores, self.tie_positive and not self.readout.by_vote)

    def in_force(self, rows: Rows) -> Ints:
        """The classes that the hypothesis in force predicts, whatever the readout."""
        return self.classes_of(self.scores(rows, self.current), self.tie_positive)

    def classes_of(self, scores: Floats, tie_positive: bool) -> Ints:
        """Two classes: the sign. Several: the largest, the first of equals."""
        if self.n_classes != 2:
            return np.asarray(scores.argmax(axis=1))
        return np.asarray(scores[:, 0] >= 0 if tie_positive else scores[:, 0] > 0, dtype=np.intp)

    def watch(self, examples: Examples) -> Callable[[], float]:
        """A function that returns the share of these examples that the readout gets wrong at the time of the call."""
        scores = self.readout.watch(self, examples.rows)
        return lambda: float(np.mean(self.predict(scores()) != examples.codes))

    def wrong(self, examples: Examples) -> int:
        """How many of these examples the readout gets wrong."""
        return int(np.count_nonzero(self.predict(self.decide(examples.rows)) != examples.codes))

    # -- the pocket -------------------------------------------------------------------------------------------

    def begin(self, examples: Examples) -> None:
        self.readout.fill(self, examples)

    def converge(self) -> None:
        self.readout.converge(self)
