"""What is learned: classes, or values. Labels become codes, which passes read, and what passes answer becomes labels.

The code around passes asks one of these objects, so that it does not depend on which of the two it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from perceptrons.data.arrays import Rows, readonly
from perceptrons.data.batches import Source
from perceptrons.learn.labels import Array, announced, distinct, encode, encode_held_out, new_classes, union
from perceptrons.learn.scale.statistics import FARTHEST, WILD, Statistics
from perceptrons.learn.state import Floats, Growth

GROUPS = 4  # of values, to see whether they are spread evenly over a file


class Targets(ABC):
    """What is learned. `n_classes` is what a learner needs to know; values have one weight vector, like two classes."""

    classes: Array  # sorted; values have none
    n_classes: int
    limit = FARTHEST  # of scaled features
    scaled = False  # whether labels are brought to one scale, and features with them

    @property
    def enough(self) -> bool:
        """Whether there is something to learn."""
        return True

    def check(self, where: str = "") -> None:
        """Raise an error if there is nothing to learn. `where`: " in train.csv", if the labels come from a file."""

    # -- before learning --------------------------------------------------------------------------------------

    def reads(self, source: Source) -> None:
        """Tell a source, before it is opened, what its labels are."""

    def for_source(self, source: Source, centred: bool) -> Self:
        """The same for the labels of a source; centred: whether values may be centred, which takes a bias."""
        self.reads(source)
        return self

    @abstractmethod
    def count(self, y: Array) -> tuple[Array, dict[Any, int]]:
        """The classes among labels, and the number of rows of each class, or of each group of values."""

    def note(self, y: Array) -> None:
        """Note labels that are read before the first pass, without those held out."""

    @abstractmethod
    def found(self, y: Array, classes: Array | None = None, held: Array | None = None) -> Targets:
        """What these labels are. classes: those of all labels, if they are known. held: which labels are held out."""

    @abstractmethod
    def joined(self, more: Targets) -> Targets:
        """What is known, and what was found in more labels."""

    @abstractmethod
    def announced(self, classes: Any, y: Array) -> tuple[Targets, list[int]]:
        """For labels that come once: what is known before the first, and the first row of each other class."""

    @abstractmethod
    def prepare(self, learner: Any, known: Targets | None = None) -> None:
        """Prepare a learner for this. `known`: what the learner was prepared for before."""

    # -- labels and codes -------------------------------------------------------------------------------------

    @abstractmethod
    def encode(self, y: Array, name: str = "y") -> Array:
        """The codes of labels; `name`: where they come from."""

    def encode_held_out(self, y: Array, name: str) -> tuple[Array, Array]:
        """The codes of held-out labels, and the labels that training has not seen."""
        return self.encode(y, name), y[:0]

    @abstractmethod
    def decode(self, answers: Array) -> Array:
        """The labels that the answers of a pass stand for."""

    @abstractmethod
    def room(self, n: int) -> Array:
        """Room for n answers."""

    @abstractmethod
    def tally(self, codes: Array) -> npt.NDArray[np.int64]:
        """The number of rows of each class, or of each group of values."""


class Classes(Targets):
    """Classes. A code is the number of a class."""

    def __init__(self, classes: Array | None = None) -> None:
        self.classes = np.empty(0) if classes is None else classes

    @property
    def n_classes(self) -> int:  # type: ignore[override]
        return len(self.classes)

    @property
    def enough(self) -> bool:
        return len(self.classes) > 1

    def check(self, where: str = "") -> None:
        if not self.enough:
            only = self.classes.tolist()[0]
            raise ValueError(f"The number of classes has to be greater than one; got 1 class: {only!r}{where}")

    def count(self, y: Array) -> tuple[Array, dict[Any, int]]:
        here, how_many = np.unique(y, return_counts=True)
        return here, dict(zip(here.tolist(), how_many.tolist(), strict=True))

    def found(self, y: Array, classes: Array | None = None, held: Array | None = None) -> Classes:
        return Classes(distinct(y) if classes is None else classes)

    def joined(self, more: Targets) -> Classes:
        return Classes(union(self.classes, more.classes))

    def announced(self, classes: Any, y: Array) -> tuple[Targets, list[int]]:
        known = self if classes is None else Classes(union(self.classes, announced(classes)))
        return known, new_classes(y, known.classes)

    def prepare(self, learner: Any, known: Targets | None = None) -> None:
        """Make room in the learner for all classes."""
        if known is not None and len(self.classes) > len(known.classes):
            learner.check_rule(learner.rule, learner.eta, len(self.classes), learner.readout)
            before = known.classes
            codes = np.searchsorted(self.classes, before) if len(before) else np.empty(0, dtype=np.intp)
            learner.make_room(Growth(len(self.classes), codes))

    def encode(self, y: Array, name: str = "y") -> Array:
        return encode(y, self.classes, name)

    def encode_held_out(self, y: Array, name: str) -> tuple[Array, Array]:
        return encode_held_out(y, self.classes, name)

    def decode(self, answers: Array) -> Array:
        return np.asarray(self.classes[answers])

    def room(self, n: int) -> Array:
        return np.zeros(n, dtype=np.int32)

    def tally(self, codes: Array) -> npt.NDArray[np.int64]:
        return np.bincount(codes, minlength=len(self.classes))


class Unit(NamedTuple):
    """The scale of values: value = centre + spread·(what a learner answers)."""

    centre: float = 0.0
    spread: float = 1.0
    mean: float = 0.0  # of the values in training, for comparison: the dullest prediction

    def decode(self, answers: Array) -> Floats:
        """The values that answers stand for."""
        return np.asarray(answers * self.spread + self.centre, dtype=np.float64)


class Values(Targets):
    """Values to predict, which are finite numbers. A code is a value on the scale of `unit`."""

    classes = np.empty(0)
    n_classes = 2
    limit = WILD  # a value follows its features farther than the choice between classes should

    def __init__(self, unit: Unit | None = None, *, scaled: bool = False, centred: bool = True) -> None:
        self.unit, self.scaled, self.centred = unit, scaled, centred
        self._statistics = Statistics(1)
        self._edges: Floats | None = None  # between the groups
        self._apart, self._tallied = 0.0, 0  # Σ|code| of the rows that were tallied, and their number

    def reads(self, source: Source) -> None:
        source.for_values()

    def for_source(self, source: Source, centred: bool) -> Values:
        self.reads(source)
        return Values(self.unit, scaled=self.unit is None and source.scale != "none", centred=centred)

    def count(self, y: Array) -> tuple[Array, dict[Any, int]]:
        groups = self._groups(numbers(y))
        return self.classes, dict(enumerate(np.bincount(groups, minlength=GROUPS).tolist()))

    def note(self, y: Array) -> None:
        self._statistics.add(_column(numbers(y)))

    def found(self, y: Array, classes: Array | None = None, held: Array | None = None) -> Values:
        """On one scale, if `scaled`: by all values that were noted, or else by these."""
        y = numbers(y) if held is None or held.all() else numbers(y)[~held]
        if self.unit is not None:
            return self
        if not self.scaled:
            return Values(Unit(mean=_mean(y)))
        noted = self._statistics
        if noted.n_rows == 0:
            noted.add(_column(y))
        scaling = noted.scaling(self.centred)
        assert scaling is not None
        centre, spread = float(scaling.centre[0]), float(scaling.spread[0])
        unit = Unit(centre, spread or abs(centre) or 1.0, float(noted.mean[0]))  # a single value has no spread
        made = Values(unit, scaled=True, centred=self.centred)
        made._edges = self._edges
        return made

    def joined(self, more: Targets) -> Targets:
        return self if self.unit is not None else more

    def announced(self, classes: Any, y: Array) -> tuple[Targets, list[int]]:
        return self.found(y), []

    def prepare(self, learner: Any, known: Targets | None = None) -> None:
        learner.unit = self.unit

    def encode(self, y: Array, name: str = "y") -> Array:
        y = numbers(y, name)
        return y if self.unit is None else (y - self.unit.centre) / self.unit.spread

    def decode(self, answers: Array) -> Array:
        return answers if self.unit is None else self.unit.decode(answers)

    def room(self, n: int) -> Array:
        return np.zeros(n)

    def tally(self, codes: Array) -> npt.NDArray[np.int64]:
        values = self.decode(codes)
        self._apart += float(np.abs(values - (self.unit.mean if self.unit is not None else 0.0)).sum())
        self._tallied += len(codes)
        return np.bincount(self._groups(values), minlength=GROUPS)

    @property
    def deviation(self) -> float | None:
        """The mean of |y − mean| over the rows that were tallied."""
        return self._apart / self._tallied if self._tallied else None

    def _groups(self, y: Floats) -> npt.NDArray[np.intp]:
        """The group of each value: between which quartiles of the first batch it lies."""
        if self._edges is None:
            self._edges = np.quantile(y, np.arange(1, GROUPS) / GROUPS)
        return np.searchsorted(self._edges, y)


def numbers(y: Array, name: str = "y") -> Floats:
    """Values as float64; an error tells which of them is not a finite number."""
    if y.dtype.kind not in "biuf":
        raise ValueError(f"expected numbers to predict, got {y.tolist()[0]!r:.60} in row 0 of {name}")
    found = np.ascontiguousarray(y, dtype=np.float64)
    if not np.isfinite(found).all():
        row = int(np.flatnonzero(~np.isfinite(found))[0])
        what = "NaN" if np.isnan(found[row]) else "infinity"
        raise ValueError(f"the value to predict is {what} at row {row} of {name}: remove the row, or correct it")
    return found


def _mean(y: Floats) -> float:
    """The mean of values, which may be very large."""
    largest = float(np.abs(y).max(initial=0.0)) or 1.0
    return float((y / largest).mean() * largest)


def _column(y: Floats) -> Rows:
    """Values as rows with one feature."""
    return Rows(readonly(y[:, np.newaxis]), None, None, 1, np.zeros(len(y)))
