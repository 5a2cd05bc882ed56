"""Mixing of sequence learners that have made one pass each, over different shards, from the same weights.

As for linear learners (`learn.linear.mixing`), but only weights that are not 0 exist. The key of a weight does not
depend on where it lies in memory: it follows from the history or feature, and the label.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.sequence.lanes import LANES
from perceptrons.learn.readouts import Last
from perceptrons.learn.sequence.weights import Positions, places, zeros
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
    return _sent(learner, learner.state["w"], learner.readout.sums)


def send_weights(learner: SequenceLearner, weights: Floats | None = None) -> Sent:
    """What a `reader` needs: the weights of the readout, or these, which lie in memory as those of the learner."""
    return _sent(learner, learner.reading()[0] if weights is None else weights, False)


def _sent(learner: SequenceLearner, weights: Floats, averages: bool) -> Sent:
    size, w = _size(learner), weights[: learner.lines]
    there = np.flatnonzero(w != 0.0)
    keys, [values] = _rising(_keys(learner, there), w.ravel()[there])
    return Sent({"w": values}, {"w": keys.astype(key_type(size))}, {"w": (size,)}, averages)


def received(template: SequenceLearner, sent: Sent) -> SequenceLearner:
    """A learner that goes on from what was sent; its counts begin at 0."""
    new, n_features = copy.copy(template), sent.shapes["w"][0] // template.width - _first(template)
    room = zeros(template.first_row + n_features, template.width, template.readout.sums)
    state = template.state.with_arrays(rows=np.zeros(n_features, dtype=np.uint32), **room)
    state.totals, state.course = Totals(), Course()
    state.course.used_rows, state.course.used_lines = template.first_row, 1
    state["w"][_placed(new, state, sent.keys["w"])] = sent.arrays["w"]
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
    learner.replace_state(learner.roomy(snapshot[-1]))


def part(learner: SequenceLearner, sent: Sent, mixing: str, shard: int, touched: None = None) -> Part:
    """What a learner has learned since `received`; `shard` is its number. It knows itself what it has touched."""
    numbers, weight = counts_of(learner.state, mixing)
    before, n = received(learner, sent), learner.lines
    w, w0, kept = learner.state["w"][:n], before.state["w"][:n], learner.state["kept"][:n]  # lines stay where they are
    changed = w != w0
    if sent.averages:
        changed |= kept != 0.0
    there = np.flatnonzero(changed)
    delta = w.ravel()[there] - w0.ravel()[there]
    arrays = {"moved": weight * delta}
    if sent.averages:
        arrays["sums"] = (learner.totals.averaged + 1.0) * delta - kept.ravel()[there]
    keys, values = _rising(_keys(learner, there), *arrays.values())
    rest: dict[str, Any] = {"sq_radius": learner.totals.sq_radius, "mistakes": {shard: int(learner.totals.mistakes)}}
    return part_of(_size(learner), keys, dict(zip(arrays, values, strict=True)), numbers=numbers, **rest)


def mix(learner: SequenceLearner, part: Part) -> None:
    """Take over what all shards have learned in an epoch. Ctrl-C leaves all of it, or nothing."""
    totals, course = added_to(learner.totals, learner.course, part)
    state, sums = learner.state.with_arrays(), part.arrays.get("sums")
    if part.numbers["updates"] > 0.0:
        state = learner.roomy(learner.state)
        keys = np.arange(part.size) if part.keys is None else part.keys
        place, delta = _placed(learner, state, keys), part.arrays["moved"] / part.numbers["weight"]
        state["w"][place] += delta
        if sums is not None:  # kept′ = kept + (T + N + 1)·δ − D, as for linear learners
            state["kept"][place] += (totals.averaged + 1.0) * delta - sums
        course.used_rows, course.used_lines = state.course.used_rows, state.course.used_lines
        totals.sq_norm = float(np.square(state["w"]).sum())
    state.totals, state.course = totals, course
    learner.replace_state(state)


# -- weights by key -------------------------------------------------------------------------------------------------


def _first(learner: SequenceLearner) -> int:
    """The number of histories; features are numbered after them."""
    return learner.first_row - 1


def _size(learner: SequenceLearner) -> int:
    """The number of possible weights."""
    return (_first(learner) + len(learner.state["rows"])) * learner.width


def _keys(learner: SequenceLearner, there: Positions) -> Keys:
    """Keys of weights at some positions of the array."""
    numbers, rows = np.zeros(learner.used, dtype=np.int64), learner.state["rows"]
    numbers[1 : learner.first_row] = np.arange(_first(learner))
    features = np.flatnonzero(rows)
    numbers[rows[features]] = _first(learner) + features
    begins, pages = numbers * learner.width, learner.pages  # the key of the first weight of each line
    if pages is not None:
        row, page = np.nonzero(pages[: learner.used])
        paged = begins[row] + page * LANES
        begins = np.zeros(learner.lines, dtype=np.int64)
        begins[pages[row, page]] = paged
    size = learner.state["w"].shape[1]
    lines = there // size
    keys: Keys = begins[lines] + (there - lines * size)
    return keys


def _rising(keys: Keys, *values: Floats) -> tuple[Keys, list[Floats]]:
    """Sort keys, and values with them."""
    if (keys[1:] > keys[:-1]).all():
        return keys, list(values)
    order = np.argsort(keys, kind="stable")
    return keys[order], [each[order] for each in values]


def _placed(learner: SequenceLearner, state: State, keys: npt.NDArray[Any]) -> tuple[Positions, Positions]:
    """Lines and columns of the weights with these rising keys in a state; makes room for those that are new."""
    numbers = (keys // learner.width).astype(np.intp)
    labels = keys.astype(np.intp) - numbers * learner.width
    first, rows = int(np.searchsorted(numbers, _first(learner))), state["rows"]
    features = numbers[first:] - _first(learner)
    new = features[rows[features] == 0]
    new = new[np.diff(new, prepend=-1) > 0]
    used = int(state.course.used_rows)
    rows[new] = used + np.arange(len(new))
    numbers[:first] += 1
    numbers[first:] = rows[features]
    lines, columns, n_lines = places(state.get("pages"), int(state.course.used_lines), numbers, labels)
    state.course.used_rows, state.course.used_lines = used + len(new), n_lines
    return lines, columns
