"""Mixing of sequence learners that have made one pass each, over different shards, from the same weights.

As for linear learners (`learn.linear.mixing`), but only weights that are not 0 exist. The key of a weight does not
depend on where it lies in memory: it follows from the history or feature, and the label.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from perceptrons.learn.readouts import Last
from perceptrons.learn.sequence.weights import entries
from perceptrons.learn.shards.counts import added_to, counts_of
from perceptrons.learn.shards.part import Part, Sent, key_type, part_of
from perceptrons.learn.state import Course, Floats, State, Totals

if TYPE_CHECKING:
    from perceptrons.learn.sequence.learner import SequenceLearner

Keys = npt.NDArray[np.int64]


def refuse(learner: SequenceLearner) -> None:
    """Raise an error if learners of different shards cannot be mixed. Those of sequences can."""


def template(learner: SequenceLearner) -> SequenceLearner:
    """The learner without its weights, for `received`."""
    new = copy.copy(learner)
    state = learner.state.copy(slice(0)).with_arrays(rows=learner.state["rows"][:0])
    state.totals, state.course = Totals(), Course()
    vars(new).update(state=state, _read=None, links=learner.links[:0])
    return new


def reader(learner: SequenceLearner) -> SequenceLearner:
    """A template for learners that only decide, by weights that were sent."""
    new = template(learner)
    new.readout = Last()
    return new


def send(learner: SequenceLearner) -> Sent:
    """What shards need to go on from the current weights."""
    keys, values = _keyed(learner, [learner.state["w"]])
    return _sent(learner, keys, values[0], learner.readout.sums)


def send_weights(learner: SequenceLearner, weights: Floats | None = None) -> Sent:
    """What a `reader` needs: the weights of the readout, or these, which lie in memory as those of the learner."""
    keys, values = _keyed(learner, [learner.reading()[0] if weights is None else weights])
    return _sent(learner, keys, values[0], False)


def _sent(learner: SequenceLearner, keys: Keys, w: Floats, averages: bool) -> Sent:
    size = _size(learner)
    return Sent({"w": w}, {"w": keys.astype(key_type(size))}, {"w": (size,)}, averages)


def received(template: SequenceLearner, sent: Sent) -> SequenceLearner:
    """A learner that goes on from what was sent; its counts begin at 0."""
    new, n_features = copy.copy(template), sent.shapes["w"][0] // template.width - _first(template)
    state = _filled(new, n_features, sent.keys["w"].astype(np.int64), sent.arrays["w"][np.newaxis])
    state.totals = Totals()
    new.replace_state(state)
    return new


def whole(learner: SequenceLearner) -> tuple[Any]:
    """What `going_on` needs."""
    return (learner.snapshot(),)


def going_on(template: SequenceLearner, snapshot: Any) -> SequenceLearner:
    """A learner that goes on from a whole state."""
    new = copy.copy(template)
    new.restore(snapshot)
    return new


def take_over(learner: SequenceLearner, snapshot: Any) -> None:
    """Become what another learner has become, which has gone on from this one."""
    learner.restore(snapshot)


def part(learner: SequenceLearner, sent: Sent, mixing: str, shard: int) -> Part:
    """What a learner has learned since `received`; `shard` is its number."""
    numbers, weight = counts_of(learner.state, mixing)
    arrays = [learner.state["w"], *([learner.state["kept"]] if sent.averages else [])]
    keys, (w, *kept) = _keyed(learner, arrays)
    before, w0 = sent.keys["w"].astype(np.int64), sent.arrays["w"]
    both = np.union1d(keys, before)
    delta, sums = np.zeros(len(both)), np.zeros(len(both))
    delta[np.searchsorted(both, keys)] = w
    delta[np.searchsorted(both, before)] -= w0
    if kept:
        sums = (learner.totals.averaged + 1.0) * delta
        sums[np.searchsorted(both, keys)] -= kept[0]
    changed = np.flatnonzero((delta != 0.0) | (sums != 0.0))
    moved = {"moved": weight * delta[changed], **({"sums": sums[changed]} if kept else {})}
    rest: dict[str, Any] = {"sq_radius": learner.totals.sq_radius, "mistakes": {shard: int(learner.totals.mistakes)}}
    return part_of(_size(learner), both[changed], moved, numbers=numbers, **rest)


def mix(learner: SequenceLearner, part: Part) -> None:
    """Take over what all shards have learned in an epoch. Ctrl-C leaves all of it, or nothing."""
    totals, course = added_to(learner.totals, learner.course, part)
    state, sums = learner.state.with_arrays(), part.arrays.get("sums")
    if part.numbers["updates"] > 0.0:
        arrays = [learner.state["w"], *([] if sums is None else [learner.state["kept"]])]
        before, values = _keyed(learner, arrays)
        there = np.arange(part.size) if part.keys is None else part.keys.astype(np.int64)
        both = np.union1d(before, there)
        mixed = np.zeros((len(arrays), len(both)))
        mixed[:, np.searchsorted(both, before)] = values
        place, delta = np.searchsorted(both, there), part.arrays["moved"] / part.numbers["weight"]
        mixed[0, place] += delta
        if sums is not None:  # kept′ = kept + (T + N + 1)·δ − D, as for linear learners
            mixed[1, place] += (totals.averaged + 1.0) * delta - sums
        left = np.flatnonzero(mixed.any(axis=0))
        state = _filled(learner, len(learner.state["rows"]), both[left], mixed[:, left])
        course.used_rows, course.used_lines = state.course.used_rows, state.course.used_lines
        totals.sq_norm = float((mixed[0] ** 2).sum())
    state.totals, state.course = totals, course
    learner.replace_state(state)


# -- weights by key -------------------------------------------------------------------------------------------------


def _first(learner: SequenceLearner) -> int:
    """The number of histories; features are numbered after them."""
    return learner.first_row - 1


def _size(learner: SequenceLearner) -> int:
    """The number of possible weights."""
    return (_first(learner) + len(learner.state["rows"])) * learner.width


def _keyed(learner: SequenceLearner, arrays: list[Floats]) -> tuple[Keys, Floats]:
    """Keys of the weights that are not 0, rising, and a line of values for each array."""
    numbers, rows = np.zeros(learner.used, dtype=np.int64), learner.state["rows"]
    numbers[1 : learner.first_row] = np.arange(_first(learner))
    features = np.flatnonzero(rows)
    numbers[rows[features]] = _first(learner) + features
    at, labels, values = entries(arrays, learner.pages, np.arange(learner.used))
    keys = numbers[at] * learner.width + labels
    order = np.argsort(keys, kind="stable")
    return keys[order], values[:, order]


def _filled(learner: SequenceLearner, n_features: int, keys: Keys, values: Floats) -> State:
    """A state with these weights and, in a second line of values, their sums."""
    first, width = learner.first_row, learner.width
    numbers, labels = keys // width, keys % width
    there = np.unique(numbers[numbers >= first - 1]) - (first - 1)
    rows = np.zeros(n_features, dtype=np.uint32)
    rows[there] = first + np.arange(len(there))
    place = numbers + 1
    place[numbers >= first - 1] = rows[numbers[numbers >= first - 1] - (first - 1)]
    state = learner.with_entries((first + n_features, width), place, labels, values).with_arrays(rows=rows)
    state.course.used_rows = first + len(there)
    return state
