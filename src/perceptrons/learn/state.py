"""The state of a learner: named arrays and totals.

Adding classes or features, going back, scaling and saving iterate over the names. A rule or a learner that needs
another array adds it with its `Kind`, and all of these work.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Literal, NamedTuple, Self
from weakref import WeakValueDictionary

import numpy as np
import numpy.typing as npt

from perceptrons.core import counters

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
SPARE = 1.5  # arrays that grow get room for this many times their rows
# Arrays with spare rows behind those in use, by id. Only arrays made here may be used to their end.
_roomy: WeakValueDictionary[int, Array] = WeakValueDictionary()


class Entry:
    """A named number in an array that compiled code updates in place."""

    def __init__(self, at: int) -> None:
        self.at = at

    def __get__(self, owner: Entries, kind: type) -> float:
        return float(owner.array[self.at])

    def __set__(self, owner: Entries, value: float) -> None:
        owner.array[self.at] = value


class Entries:
    """Named numbers in one array of floats, which compiled code updates in place."""

    def __init__(self) -> None:
        self.array: Floats = np.zeros(len(self.names()))

    @classmethod
    @cache
    def names(cls) -> Mapping[str, int]:
        """Positions by name."""
        return {name: entry.at for name, entry in vars(cls).items() if isinstance(entry, Entry)}

    def copy(self) -> Self:
        new = type(self).__new__(type(self))
        new.array = self.array.copy()
        return new


class Totals(Entries):
    """Counts since the model began to learn."""

    seen = Entry(counters.SEEN)
    mistakes = Entry(counters.MISTAKES)
    updates = Entry(counters.UPDATES)
    sum_tau = Entry(counters.TAU)
    averaged = Entry(counters.AVERAGED)
    sq_norm = Entry(counters.SQ_NORM)
    sq_radius = Entry(counters.SQ_RADIUS)
    tokens = Entry(counters.TOKENS)
    wrong_tokens = Entry(counters.WRONG_TOKENS)
    mixed = Entry(counters.MIXED)

    DONE = ("seen", "mistakes", "updates", "tokens", "wrong_tokens")  # kept when an earlier hypothesis is restored

    def visit(self, examples: int) -> None:
        """Count processed examples."""
        self.seen += examples
        self.averaged += examples


class Course(Entries):
    """Progress within a pass."""

    passes = Entry(counters.PASSES)
    quiet = Entry(counters.QUIET)
    overflow = Entry(counters.OVERFLOW)
    logged = Entry(counters.LOGGED)
    visits = Entry(counters.VISITS)
    waits = Entry(counters.WAITS)
    run = Entry(counters.RUN)
    longest = Entry(counters.LONGEST)
    tried = Entry(counters.TRIED)
    pocket = Entry(counters.POCKET)
    used_rows = Entry(counters.USED_ROWS)
    loss = Entry(counters.LOSS)
    used_lines = Entry(counters.USED_LINES)
    paused = Entry(counters.PAUSED)


class Kind(NamedTuple):
    """How an array changes when its model grows or is scaled."""

    degree: int = 1  # scaling the model by f multiplies the array by f^degree
    by_row: bool = True  # whether the first axis is features, or support rows
    by_class: bool = True  # whether there is one column per class, for more than two
    signed: bool = True  # whether two classes have it with opposite signs
    fill: float = 0.0  # value for new rows and classes
    square: bool = False  # whether the last two axes are features; with several classes, the first is classes


HYPOTHESIS = Kind()  # weights or coefficients: one number per row, or per row and class
FACT = Kind(degree=0, by_class=False)  # a property of each row, independent of the hypothesis
FIXED = Kind(degree=0, by_row=False, by_class=False)  # anything else


class Growth(NamedTuple):
    """More classes: `codes` are the new numbers of the old classes."""

    n_classes: int
    codes: Ints

    @property
    def factor(self) -> float:
        """From two classes to more, w becomes +w/2 for the second and −w/2 for the first: the same differences."""
        return 0.5 if len(self.codes) == 2 and self.n_classes > 2 else 1.0


class State:
    """Named arrays and totals of a learner.

    Methods that change the shape of arrays return a new state. The caller assigns it in one step, so that Ctrl-C never
    leaves half a change.
    """

    # By name: the row of a feature that was never seen, one number a class, if it is not `Kind.fill` for all classes.
    fresh: Mapping[str, Array] = {}

    def __init__(self, *, tail: int = 0, layout: Literal["C", "F"] = "C") -> None:
        """`tail`: number of rows that stay last, such as that of the bias. `layout`: order of arrays in memory."""
        self.arrays: dict[str, Array] = {}
        self.kinds: dict[str, Kind] = {}
        self.totals, self.course = Totals(), Course()
        self.tail, self.layout = tail, layout

    # -- names ------------------------------------------------------------------------------------------------

    def __getitem__(self, name: str) -> Array:
        return self.arrays[name]

    def __setitem__(self, name: str, array: Array) -> None:
        """Replace an array; a new name is held as a hypothesis."""
        self.hold(name, array, self.kinds.get(name, HYPOTHESIS))

    def __contains__(self, name: str) -> bool:
        return name in self.arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self.arrays)

    def hold(self, name: str, array: Array | None, kind: Kind = HYPOTHESIS) -> None:
        """Keep an array under a name; None removes it."""
        self.kinds[name] = kind
        if array is None:
            self.arrays.pop(name, None)
        else:
            self.arrays[name] = array

    def get(self, name: str) -> Array | None:
        return self.arrays.get(name)

    def with_arrays(self, **arrays: Array | None) -> State:
        """A new state with some arrays replaced, or removed by None; totals are shared."""
        new = self._empty()
        new.arrays = {name: array for name, array in {**self.arrays, **arrays}.items() if array is not None}
        return new

    def _empty(self) -> State:
        new = State.__new__(State)
        vars(new).update(vars(self), arrays={}, kinds=dict(self.kinds))
        return new

    # -- more classes, more rows ------------------------------------------------------------------------------

    def with_classes(self, growth: Growth) -> State:
        """A new state with more classes, which start at 0, or as their kind says."""
        new = self._empty()
        for name, array in self.arrays.items():
            kind = self.kinds[name]
            new.arrays[name] = self._spread(array, growth, kind) if kind.by_class else array
            if kind.by_class and kind.fill != 0.0 and growth.n_classes > 2:
                row = self.fresh.get(name, np.full(1, kind.fill))
                new.fresh = {**new.fresh, name: self._spread(row, growth, kind._replace(square=False))}
        new.totals = self.totals.copy()
        new.totals.sum_tau *= growth.factor
        new.totals.sq_norm *= growth.factor  # ‖w/2‖² for each of two classes
        return new

    def _spread(self, old: Array, growth: Growth, kind: Kind) -> Array:
        n_classes, codes = growth
        if n_classes <= 2:
            return old
        each = old.ndim - kind.square - 1  # number of axes of classes: 0 for up to two, else 1
        if kind.square:
            new = np.repeat(kind.fill * np.eye(old.shape[-1])[np.newaxis], n_classes, axis=0)
            by_class = new
        else:
            new = np.full((len(old), n_classes), kind.fill, order=self.layout)
            by_class = new.T
        if each:
            by_class[codes] = old if kind.square else old.T
        elif len(codes) == 2:
            # The difference of two classes stays: w is +w/2 − (−w/2), and its variance the sum of two halves.
            factor = growth.factor if kind.signed else growth.factor ** (kind.degree / 2)
            by_class[codes[1]], by_class[codes[0]] = factor * old, (-factor if kind.signed else factor) * old
        return new

    def with_rows(self, n_rows: int) -> State:
        """A new state with `n_rows` rows before the tail; new rows start at 0, or as their kind says.

        Rows that are dropped must be as new ones are.
        """
        new = self._empty()
        for name, array in self.arrays.items():
            kind = self.kinds[name]
            fill = self.fresh.get(name, kind.fill)
            new.arrays[name] = self._resized(array, n_rows, kind, fill) if kind.by_row or kind.square else array
        return new

    def _resized(self, old: Array, n_rows: int, kind: Kind, fill: Any) -> Array:
        before = old.shape[-1 if kind.square else 0] - self.tail
        both, new_tail, old_tail = min(n_rows, before), n_rows + np.arange(self.tail), before + np.arange(self.tail)
        to, of = (np.concatenate([np.arange(both), tail]) for tail in (new_tail, old_tail))
        if kind.square:
            square = np.zeros((*old.shape[:-2], n_rows + self.tail, n_rows + self.tail))
            square[..., np.arange(n_rows + self.tail), np.arange(n_rows + self.tail)] = np.transpose(fill)
            square[..., to[:, np.newaxis], to] = old[..., of[:, np.newaxis], of]
            return square
        new = np.full((n_rows + self.tail, *old.shape[1:]), fill, dtype=old.dtype, order=self.layout)
        new[:both] = old[:both]
        new[new_tail] = old[old_tail]
        return new

    def grown(self, n_rows: int) -> tuple[State, list[tuple[Array, Any]]]:
        """As `with_rows` for more rows, but the cost of a new row does not depend on how many there are.

        Arrays keep spare rows, in which they grow. What was their tail is then a row of the new state. These rows are
        returned, too, with the value that they must get at the moment when the new state replaces this one.
        """
        new, tails = self._empty(), list[tuple[Array, Any]]()
        for name, array in self.arrays.items():
            kind = self.kinds[name]
            fill = self.fresh.get(name, kind.fill)
            if not kind.by_row or (array.ndim > 1 and self.layout == "F"):
                new.arrays[name] = self._resized(array, n_rows, kind, fill) if kind.by_row or kind.square else array
                continue
            size, before = n_rows + self.tail, len(array) - self.tail
            room, stays = _roomy.get(id(array.base)), 0
            if room is None or room is not array.base or len(room) < size:
                room, stays = np.empty((int(SPARE * size), *array.shape[1:]), dtype=array.dtype), before
                _roomy[id(room)] = room
            grown = new.arrays[name] = room[:size]
            if stays:
                grown[:stays] = array[:stays]
            if n_rows > before + self.tail:
                grown[before + self.tail : n_rows] = fill
            grown[n_rows:] = array[before:]
            tails.append((grown[before : before + self.tail], fill))
        return new, tails

    # -- going back, and scaling ------------------------------------------------------------------------------

    def copy(self, part: Any = slice(None)) -> State:
        """A copy; of arrays by row, only the rows `part`."""
        new = self._empty()
        for name, array in self.arrays.items():
            new.arrays[name] = array[part].copy(order="K") if self.kinds[name].by_row else array.copy()
        new.totals, new.course = self.totals.copy(), self.course.copy()
        return new

    def put_back(self, copied: State, part: Any = slice(None)) -> None:
        """Write the values of `copied` back into these rows; shapes must not have changed."""
        for name, array in copied.arrays.items():
            self.arrays[name][part if self.kinds[name].by_row else ...] = array
        self.totals.array[:], self.course.array[:] = copied.totals.array, copied.course.array

    def scale(self, factor: float) -> None:
        """Multiply all hypotheses by a positive number; no prediction changes."""
        for name, array in self.arrays.items():
            if self.kinds[name].degree:
                array *= factor ** self.kinds[name].degree
        self.totals.sum_tau *= factor
        self.totals.sq_norm *= factor * factor

    def shapes(self, like: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
        """The shapes of all arrays, by name, for hypotheses of shape `like`."""
        square = (*like[1:], like[0], like[0])
        by_row = {True: like, False: like[:1]}
        return {
            name: square if kind.square else by_row[kind.by_class] if kind.by_row else self._shape(name)
            for name, kind in self.kinds.items()
        }

    def _shape(self, name: str) -> tuple[int, ...]:
        return self.arrays[name].shape if name in self.arrays else ()

    def is_finite(self, part: Any = slice(None)) -> bool:
        """Whether no hypothesis has overflowed in these rows."""
        names = [name for name in self.arrays if self.kinds[name] == HYPOTHESIS]
        return all(bool(np.isfinite(self.arrays[name][part]).all()) for name in names)
