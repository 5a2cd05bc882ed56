"""Base class of learners of classes: settings, readout, and classes from scores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.data.arrays import Rows
from perceptrons.learn.examples import Examples
from perceptrons.learn.learner import Learner, Order, overflow
from perceptrons.learn.readouts import READOUTS, Ballot, Readout, Step
from perceptrons.learn.scale.scaling import Scaling
from perceptrons.learn.state import Floats, Growth, Ints, State
from perceptrons.rules import refuse_label, takes_label

Array = npt.NDArray[Any]


class ClassLearner(Learner[Examples]):
    """A learner of two or more classes. Subclasses add the space: weights of features, or of support rows."""

    bias: float  # value of the constant feature: c (1 unless a learner sets it), or 0 without a bias
    fixed: dict[str, Any]  # settings that cannot change after learning has begun
    n_classes: int
    burn_in = 0  # number of examples to process before averaging begins
    scaling: Scaling | None = None  # of features: learning and scores are about rows on this scale
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
        self.check_rule(rule, float(eta), n_classes, READOUTS[readout]())
        self.rule, self.eta = rule, float(eta)
        self.bias = 1.0 if fit_intercept else 0.0
        self.tie_positive = tie == "positive"
        self.fixed = {"readout": readout, "fit_intercept": fit_intercept}
        self.n_classes = n_classes
        self.readout = READOUTS[readout]()

    def adopt(self, *, rule: Any, eta: float = 1.0, tie: str = "mistake", **others: Any) -> None:
        """Continue with another rule, step scale or tie; other settings must stay."""
        for name, value in self.fixed.items():
            if others[name] != value:
                raise ValueError(
                    f"{name} was changed after learning had begun: fit without warm_start, or change it back"
                )
        self.check_rule(rule, float(eta), self.n_classes, self.readout)
        self.rule, self.eta, self.tie_positive = rule, float(eta), tie == "positive"

    def check_rule(self, rule: Any, eta: float, n_classes: int, readout: Readout) -> None:
        """Raise an error if this learner cannot use this rule with these settings."""
        if n_classes > 2:
            refuse_label(rule, f"{n_classes} classes")

    @property
    def radius(self) -> float:
        """R: the length of the longest row, with the constant feature if there is a bias."""
        return float(np.sqrt(self.totals.sq_radius + self.bias**2))

    @property
    def longest_step(self) -> float:
        """R, times √2 if a step moves two weight vectors."""
        return self.radius * (1.0 if self.n_classes <= 2 else float(np.sqrt(2.0)))

    @property
    def one_by_one(self) -> bool:
        return "origin" in self.state or self.burn_in > 0

    @property
    def may_improve(self) -> bool:
        return self.readout.may_improve(self.course)

    # -- defined by each space--------------------------------------------------------------------------------

    @property
    @abstractmethod
    def current(self) -> Floats:
        """The current hypothesis: weights, or coefficients of support rows."""

    @property
    def weights(self) -> Floats:
        """The weights, or coefficients, of the readout."""
        return self.readout.weights(self)

    @property
    def factored(self) -> tuple[Floats, float]:
        """An array and a factor: the current hypothesis is factor·array."""
        return self.current, 1.0

    @property
    def summed(self) -> tuple[Floats, float]:
        """An array and a factor: the sum of the hypotheses after all examples is factor·array − kept."""
        return self.current, self.totals.averaged + 1.0

    @abstractmethod
    def scores(self, rows: Rows, hypothesis: Floats) -> Floats:
        """Scores of rows by a hypothesis; one column for two classes."""

    def reads_less(self, rows: Rows) -> bool:
        """Whether scoring these rows with two hypotheses takes less work than combining all weights."""
        return False

    @abstractmethod
    def mistakes_of(self, examples: Examples, hypothesis: Floats) -> float:
        """Number of mistakes of a hypothesis on examples, weighted by their weights."""

    @abstractmethod
    def ballot(self, rows: Rows) -> Ballot:
        """Empty votes on these rows."""

    @abstractmethod
    def steps(self, first: int) -> list[Step]:
        """The updates that the voted readout has logged, starting with number `first`."""

    @abstractmethod
    def once(self, examples: Examples, order: Order, predicted: Array | None = None, *, last: bool = False) -> int:
        """Make one pass over the rows `order`; return the number of mistakes. Fills `predicted`, unless it is None."""

    @abstractmethod
    def make_room(self, growth: Growth) -> None:
        """Make room for new classes; a new class starts at 0."""

    @abstractmethod
    def widen(self, n_features: int) -> None:
        """Make room for more features, which have been 0 so far; nothing changes if there are as many already."""

    @abstractmethod
    def check_finite(self, columns: Ints | None = None) -> None:
        """Raise an error if a weight of these features (None: all) has overflowed."""

    @abstractmethod
    def snapshot(self, columns: Ints | None = None) -> Any:
        """What `restore` needs to undo learning from rows with only these features (None: all)."""

    def is_torn(self, snapshot: Any) -> bool:
        """Whether Ctrl-C has lost some of the updates since a snapshot."""
        return False

    def compact(self) -> State:
        """The part of the state that a model file stores."""
        return self.state

    def set_origin(self) -> None:
        """Restart Στ here, so that the bound on the margin is only about the rows that follow."""
        self.state.hold("origin", np.copy(self.current) if self.current.any() else None)
        self.totals.sum_tau = self.totals.sq_norm = self.totals.sq_radius = 0.0

    def step_error(self, where: str, scores: Array, code: Any, sq_norm: float, weight: float) -> ValueError:
        """The error for a step that is not finite, at an example with these scores (one for two classes)."""
        margin, y, moved = self.margin_of(scores, code)
        asked = margin, float(sq_norm) * len(moved), float(weight)
        return overflow(where, self.rule, *asked, *([y] if takes_label(self.rule) else []))

    def margin_of(self, scores: Array, code: Any) -> tuple[float, float, list[int]]:
        """The margin of an example with these scores, y = ±1 of two classes, and the weight vectors that would move."""
        y = 2.0 * code - 1.0
        if self.n_classes <= 2:
            return y * float(scores[0]), y, [0]
        others = np.delete(scores, code)
        rival = int(others.argmax())
        return float(scores[code]) - float(others[rival]), y, [code, rival + (rival >= code)]

    # -- reading ----------------------------------------------------------------------------------------------

    def scaled(self, rows: Rows, encoding: Any = None) -> Rows:
        """The rows that this learner learns from and decides, made from rows as users have them.

        encoding: of the table that they come from, where an absent number is missing; otherwise it is 0.
        """
        return rows if self.scaling is None else self.scaling.apply(rows, zeros=encoding is None)

    @property
    def scales_online(self) -> bool:
        """Whether this learner scales the rows of a stream by their statistics so far."""
        return False

    def to_learn(self, rows: Rows, encoding: Any = None) -> Rows:
        """Rows for `learn.once`, made from rows as users have them: scaled, unless `observe` does that later."""
        return rows if self.scales_online else self.scaled(rows, encoding)

    def observe(self, rows: Rows, weight: Floats | None) -> Rows:
        """Rows of a stream as they are learned, each on the scale of the rows so far if this learner scales them."""
        return rows

    def decide(self, rows: Rows) -> Floats:
        """Scores of all rows, one column for two classes; shares of votes for the voted readout."""
        return self.readout.decide(self, rows)

    def predict(self, scores: Floats) -> Ints:
        """Classes from scores. An even vote goes to the first class, whatever `tie` is."""
        return self.classes_of(scores, self.tie_positive and not self.readout.by_vote)

    def in_force(self, rows: Rows) -> Ints:
        """The classes that the current hypothesis predicts, whatever the readout."""
        return self.classes_of(self.scores(rows, self.current), self.tie_positive)

    def classes_of(self, scores: Floats, tie_positive: bool) -> Ints:
        """Classes from scores: by sign for two, otherwise the largest (the first of equals)."""
        if self.n_classes != 2:
            return np.asarray(scores.argmax(axis=1))
        return np.asarray(scores[:, 0] >= 0 if tie_positive else scores[:, 0] > 0, dtype=np.intp)

    def watch(self, examples: Examples) -> Callable[[], float]:
        """A function that returns the current error of the readout on these examples."""
        scores = self.readout.watch(self, examples.rows)
        return lambda: float(np.mean(self.predict(scores()) != examples.codes))

    def guesses(self, examples: Examples) -> Array:
        return self.predict(self.decide(examples.rows)).astype(np.min_scalar_type(self.n_classes))

    def wrong(self, examples: Examples) -> float:
        """Number of these examples that the readout predicts wrong, or the sum of its errors."""
        return int(np.count_nonzero(self.predict(self.decide(examples.rows)) != examples.codes))

    # -- the pocket -------------------------------------------------------------------------------------------

    def begin(self, examples: Examples) -> None:
        self.readout.fill(self, examples)

    def converge(self) -> None:
        self.readout.converge(self)
