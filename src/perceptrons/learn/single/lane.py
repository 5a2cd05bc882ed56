"""The short way for one example of a linear learner: from a dict, a row or a pair to the compiled pass.

What is unusual, such as a new class or a value that is not a number, is left to the caller: a method then returns None
and has changed nothing. Methods that run for every example are written to take few calls.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from perceptrons.core import single
from perceptrons.core.jit.bound import bound
from perceptrons.core.pyobjects import usable
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.single.dicts import Dicts
from perceptrons.learn.single.example import entries_of, unusable
from perceptrons.learn.single.names import Names
from perceptrons.learn.single.row import Row
from perceptrons.learn.state import Ints
from perceptrons.learn.targets import Targets
from perceptrons.rules import takes_weights

ENTRIES = 64  # of sparse rows, for a start
LARGEST = 2.0**1000  # of weights, so that no steps make them overflow: see `passes.LONGEST`; and of values to predict
TYPES = {np.dtype(np.float64): np.float64, np.dtype(np.float32): np.float32}  # of values that are read as they are
NUMBERS = (float, int, np.float64)
EMPTY = np.empty(0)


class Caller(NamedTuple):
    """What a lane needs to know of the model that it belongs to."""

    targets: Targets
    find_names: Callable[[], Names]  # returns the names of features; called when the first dict comes
    resized: Callable[[int, Names], None]  # called with the new number of features
    owner: Ints  # an array whose entry is the number of the thread that owns the model, 0 for none
    class_weight: dict[Any, float] | None = None
    # Whether features that a dict does not have are 0, and new ones make room. A model that was trained on a table has
    # the features of its columns: others are left out, and those that a dict does not have are missing.
    zeros: bool = True
    learns: bool = True  # otherwise it only predicts


class Lane:
    """Bound calls for one learner. Made anew when its classes or its settings change."""

    def __init__(self, learner: LinearLearner, caller: Caller) -> None:
        self.learner, self.caller, self.targets = learner, caller, caller.targets
        self.model: Any = None  # a mark that the caller knows its lane by
        self.mistakes = np.zeros(2)  # of the last example, and of the one before a dict
        self.labels: list[Any] = self.targets.classes.tolist()
        self.codes = {label: code for code, label in enumerate(self.labels)}
        self.class_weight = None if caller.class_weight is None else dict(caller.class_weight)
        self.dense: dict[Any, Row] = {}  # by the type of values, like `sparse`
        self.sparse: dict[Any, Row] = {}
        self.pairs: dict[Any, Any] = {}  # functions that read pairs, by the types of indices and values
        self.dicts: Dicts | None = None  # reads dicts into one of them, once there was a dict
        # The pass over a dict, and its arguments by label, if there is nothing else to do for an example.
        self.call: Any = None
        self.usual: dict[Any, tuple[Any, ...]] = {}
        scaling = learner.scaling
        # With these, a feature that is 0 has another value on the scale of the learner, so it must not be left out.
        centred = scaling is not None and not learner.scales_online and bool(scaling.centre.any())
        self.reads_pairs, self.reads_dicts = not centred, not (centred and caller.zeros)
        # Whether the array w and a row give the score that decides between two classes.
        self.plain = learner.readout.name == "last" and learner.shape.key != "scale" and len(self.labels) == 2
        self.decides = self.plain and scaling is None  # whether `Dicts.score` is that score

    @cached_property
    def names(self) -> Names:
        return self.caller.find_names()

    # -- rows -------------------------------------------------------------------------------------------------

    def row_of(self, x: Any, skips: bool) -> Row | None:
        """The row of an example, measured; None if it is unusual. skips: whether unknown features are left out."""
        kind = type(x)
        if kind is dict:
            return self._from_dict(x, skips) if self.reads_dicts else None
        if kind is np.ndarray:
            row = self.dense.get(x.dtype) or self._dense(x.dtype)
            if row is None or x.shape != row.values.shape:
                return None
            row.values[:] = x
        elif kind is tuple and len(x) == 2 and type(x[0]) is np.ndarray is type(x[1]) and self.reads_pairs:
            row = self._from_pair(x[0], x[1], skips)
        else:
            return None
        return row if row is not None and row.is_good() else None

    def _dense(self, kind: Any) -> Row | None:
        if kind in TYPES:
            self.dense[kind] = Row(self.learner, self.targets, self.mistakes, None, TYPES[kind])
        return self.dense.get(kind)

    def _sparse(self, kind: Any, n_entries: int) -> Row:
        """A row with room for this many entries."""
        row = self.sparse.get(kind)
        if row is None or row.values.size < n_entries:
            if self.dicts is not None and row is self.dicts.row:
                self._forget_dicts()  # it would miss new features
            room = max(ENTRIES, 2 * n_entries)
            row = self.sparse[kind] = Row(self.learner, self.targets, self.mistakes, room, TYPES[kind])
        return row

    def _from_pair(self, indices: Any, values: Any, skips: bool) -> Row | None:
        if values.ndim != 1 or indices.shape != values.shape:
            return None
        row = self.sparse.get(values.dtype)
        if row is None or row.values.size < values.size:
            if values.dtype not in TYPES:
                return None
            row = self._sparse(values.dtype, values.size)
        kinds = indices.dtype, values.dtype
        read = self.pairs.get(kinds) or self._reads_pairs(*kinds, row)
        if read is None or read(indices, values, self.learner.n_features, skips, *row.arrays) == single.UNUSUAL:
            return None
        return row

    def _reads_pairs(self, of_indices: Any, of_values: Any, row: Row) -> Any:
        """The function that reads pairs of these types, or None for types that are not read here."""
        if of_indices.kind not in "iu" or not of_indices.isnative:
            return None
        indices, values = (np.zeros(4, dtype=kind)[::2] for kind in (of_indices, of_values))  # with any strides
        read = self.pairs[of_indices, of_values] = bound(single.read_pair, indices, values, 0, False, *row.arrays)
        return read

    def _from_dict(self, x: dict[Any, Any], skips: bool) -> Row | None:
        if self.dicts is None:
            self._expect(len(x))
        dicts = self.dicts
        if dicts is None:
            return None
        found = dicts.read(id(x), skips, dicts.desk)
        if not skips and found >= 0:
            self.mistakes[0] = self.mistakes[1]  # `Row.learn` counts for itself
        if found == single.CROWDED:
            self._forget_dicts()
            return self._from_dict(x, skips)
        row = dicts.row
        if found == single.UNSORTED:
            row.sort()
            return row if row.is_good() else None
        return row if found != single.UNUSUAL else None

    def _expect(self, n_entries: int) -> None:
        """Get ready to read dicts with up to this many entries, if that is possible."""
        if usable():
            self.names.cut(self.learner.n_features)  # what Ctrl-C may have left
            row = self._sparse(np.dtype(np.float64), n_entries)
            self.dicts = Dicts(self.learner, self.names, row, self.caller.owner)
            self._shorten()

    def _shorten(self) -> None:
        """Prepare the pass over a dict, if it is all that there is to do for an example."""
        if self.dicts is not None and self.labels and self.class_weight is None and self.caller.learns:
            self.usual, simple = {}, self.dicts.row.simple
            self.call = self.dicts.row.prepared(False, False)[0] if simple else None

    def _forget_dicts(self) -> None:
        """Read no dict as before; Ctrl-C may come at any point."""
        self.call = None
        self.dicts = None

    # -- learning ---------------------------------------------------------------------------------------------

    def learn(self, x: Any, y: Any, weight: float | None = None, answers: bool = False) -> Row | None:
        """Learn from an example; the row that it was, or None.

        answers: whether to fill `Row.answers` with what was predicted before.
        """
        if weight is None and not answers and type(x) is dict and self.call is not None:
            try:
                args = self.usual.get(y)
            except TypeError:  # a label that is not hashable
                return None
            dicts: Any = self.dicts
            if args is not None and dicts.read(id(x), False, dicts.desk) >= 0:
                if self.call(*args):
                    row: Row = dicts.row
                    return row
                self.mistakes[0] = self.mistakes[1]
                dicts.row.fails()
                return None
        return self._learn(x, y, weight, answers)

    def learn_row(self, x: Any, y: Any, predict: bool) -> Any:
        """Learn from an example; returns what was predicted before, or an empty array. None if it was not learned."""
        row = self._learn(x, y, None, predict)
        if row is None:
            return None
        return self.targets.decode(row.answers) if predict else EMPTY

    def _learn(self, x: Any, y: Any, weight: float | None, answers: bool) -> Row | None:
        try:
            code = self.codes.get(y) if self.labels else self._value(y)
        except (TypeError, OverflowError):  # a label that is not hashable, or too large a value
            return None
        if code is None or not self.caller.learns or not (weight is None or self._is_weight(weight)):
            return None
        if self.class_weight is not None:
            if self.class_weight != self.caller.class_weight:  # somebody has changed the dict
                return None
            weight = self.class_weight.get(y, 1.0) * (1.0 if weight is None else weight)
        before = self.learner.n_features
        row = self.row_of(x, False)
        if row is None:
            if type(x) is not dict or not self.reads_dicts:
                return None
            return self._learn_unusual(x, code, weight, answers, before)
        if self.call is not None and self.dicts is not None:
            self.usual[y] = self.dicts.row.for_code(code)
        return row if row.learn(code, weight, answers) else None

    def _learn_unusual(
        self, x: dict[Any, Any], code: Any, weight: float | None, answers: bool, n_features: int
    ) -> Row | None:
        """Learn from a dict that compiled code does not read; n_features: how many there are before."""
        totals = self.learner.totals
        seen, learned = totals.seen, False
        try:
            row = self._unusual(x)
            learned = row.learn(code, weight, answers)
        finally:  # after an error or Ctrl-C, too
            if not learned and totals.seen == seen and self.learner.n_features > n_features:
                self._shrink(n_features)
        return row if learned else None

    def _value(self, y: Any) -> float | None:
        """A value to predict, on the scale of the learner."""
        unit = self.learner.unit  # type: ignore[attr-defined]
        return (y - unit.centre) / unit.spread if type(y) in NUMBERS and abs(y) <= LARGEST else None

    def _is_weight(self, weight: Any) -> bool:
        return type(weight) in NUMBERS and 0.0 <= weight <= LARGEST and takes_weights(self.learner.rule)

    def _unusual(self, x: dict[Any, Any]) -> Row:
        """The row of a dict that compiled code does not read; makes room for new features if the model can grow.

        Raises an error, and changes nothing, if the dict is no example.
        """
        entries, new = entries_of(x, self.names, self.learner.n_features, grows=self.caller.zeros)
        row = self._sparse(np.dtype(np.float64), len(entries))
        if not row.fill(entries, self.learner.n_features + len(new)):
            raise unusable(x)
        if new:
            self._grow(new)
        return row

    def _grow(self, new: list[str]) -> None:
        """Make room for features with these names."""
        before, dicts = self.learner.n_features, self.dicts
        self._forget_dicts()
        self.learner.widen(before + len(new))
        self.names.add(new, before)
        self.dense = {}
        for row in self.sparse.values():
            row.refresh()
        if dicts is not None and dicts.widen(new):
            self.dicts = dicts
            self._shorten()
        self.caller.resized(before + len(new), self.names)

    def _shrink(self, n_features: int) -> None:
        """Undo `_grow`, or the part of it that Ctrl-C left."""
        self._forget_dicts()
        self.dense, self.sparse = {}, {}
        self.names.cut(n_features)
        self.learner.resize(n_features)
        self.caller.resized(n_features, self.names)

    # -- predicting -------------------------------------------------------------------------------------------

    def scores(self, x: Any) -> Any:
        """The scores of an example, one for each weight vector; None if they were left to the caller."""
        row = self.row_of(x, True)
        if row is None:
            return None
        row.to_scale()
        learner = self.learner
        # As `decide` does, so that scores are equal bit for bit.
        less = row.indptr is not None and row.indptr[1] < learner.n_features
        return learner.readout.decide_one(learner, row.score) if less else row.score(learner.weights).copy()

    def predict(self, x: Any) -> Any:
        """The label of an example; None if it was left to the caller."""
        if self.plain:
            row = self.row_of(x, True)
            if row is None:
                return None
            row.to_scale()
            return self.label_of(row.score(self.learner.state["w"]).item())
        scores = self.scores(x)
        if scores is None:
            return None
        found = self.learner.predict(scores)  # classes, or values
        return (self.targets.decode(found) if self.labels else found).tolist()[0]

    def label_of(self, score: float) -> Any:
        """The class of a score, one of two; None if the score is not finite."""
        if 0.0 < score < math.inf:
            return self.labels[1]
        if -math.inf < score <= 0.0:
            return self.labels[score == 0.0 and self.learner.tie_positive]
        return None


def fits(learner: Any) -> bool:
    """Whether there is a short way for this learner, unless its weights are huge."""
    if not isinstance(learner, LinearLearner) or learner.n_classes < 2 or learner.burn_in > 0:
        return False
    if learner.readout.by_vote:  # its log could miss an update after Ctrl-C, which batches undo
        return False
    return learner.scaling is None or learner.scaling.rarity is None


def lane_for(learner: Any, caller: Caller) -> Lane | None:
    """The short way for this learner; None if it has none."""
    if not fits(learner):
        return None
    arrays = [learner.state[name] for name in ("w", "kept") if name in learner.state]
    return Lane(learner, caller) if all(float(np.abs(array).max()) <= LARGEST for array in arrays) else None
