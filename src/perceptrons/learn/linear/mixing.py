"""Mixing of linear learners that have made one pass each, over different shards, from the same hypothesis w₀.

The hypothesis becomes w₀ + Σ k_i·δ_i/Σ k_i, where δ_i is what shard i has moved it by. With k_i the number of updates
of shard i (or 1 for all), it stays a sum Σ c_t·y_t·x_t with c ≥ 0, so that Σ c takes the place of Στ in the bound on
the margin. Of rules with a covariance, k_i is the precision of each weight, P_i = 1/σ_i or Σ_i⁻¹.

The sum of all hypotheses, for averages, grows by n_i·w₀ + D_i in shard i, which has processed n_i examples.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from perceptrons.learn.linear.along import Along, Change
from perceptrons.learn.readouts import Last
from perceptrons.learn.shards.counts import added_to, counts_of
from perceptrons.learn.shards.part import Part, Sent, part_of, sent_of
from perceptrons.learn.state import Floats, Ints, State

if TYPE_CHECKING:
    from perceptrons.learn.linear.learner import LinearLearner


def refuse(learner: LinearLearner) -> None:
    """Raise an error if learners of different shards cannot be mixed."""
    readout = learner.readout
    if readout.unmixed:
        raise ValueError(f"readout={readout.name!r} cannot learn from shards: {readout.unmixed}. Use 'averaged'")


def template(learner: LinearLearner) -> LinearLearner:
    """The learner without its hypothesis, for `receive`."""
    new = copy.copy(learner)
    empty = State(tail=learner.state.tail, layout=learner.state.layout)
    empty.kinds = dict(learner.state.kinds)
    vars(new).update(state=empty, _read={}, scaling=None)
    return new


def send(learner: LinearLearner) -> Sent:
    """What shards need to go on from the current hypothesis."""
    averages = learner.readout.sums and learner.burn_in <= 0
    return sent_of(averages, w=learner.current, **learner.shape.sent(learner.state))


def reader(learner: LinearLearner) -> LinearLearner:
    """A template for learners that only decide, by weights that were sent."""
    new = template(learner)
    new.readout, new.shape = Last(), Along(learner.rule)
    return new


def send_weights(learner: LinearLearner, weights: Floats | None = None) -> Sent:
    """What a `reader` needs: the weights of the readout, or these."""
    return sent_of(False, w=learner.weights if weights is None else weights)


def received(template: LinearLearner, sent: Sent) -> LinearLearner:
    """A learner that goes on from what was sent; its counts begin at 0."""
    new, old = copy.copy(template), template.state
    state = State(tail=old.tail, layout=old.layout)
    state.kinds = dict(old.kinds)
    vars(new).update(state=state, _read={}, burn_in=0)
    for name in sent.arrays:
        kind = state.kinds[name]
        state.hold(name, sent.whole(name, state.layout if kind.by_row else "C").copy(order="K"), kind)
    if sent.averages:
        state.hold("kept", new.shape.begin_kept(state), state.kinds["kept"])
    elif new.readout.sums:
        new.burn_in = np.iinfo(np.int64).max  # averages begin with a later epoch
    return new


def going_on(template: LinearLearner, state: State, burn_in: int) -> LinearLearner:
    """A learner that goes on from a copy of a whole state."""
    new = copy.copy(template)
    vars(new).update(state=state.copy(), burn_in=burn_in, _read={})
    return new


def whole(learner: LinearLearner) -> tuple[State, int]:
    """What `going_on` needs."""
    return learner.state, learner.burn_in


def take_over(learner: LinearLearner, state: State, burn_in: int) -> None:
    """Become what another learner has become, which has gone on from this one."""
    vars(learner).update(state=state.copy(), burn_in=burn_in, _read={})  # what was received may be read-only


def part(learner: LinearLearner, sent: Sent, mixing: str, shard: int, touched: Ints | None = None) -> Part:
    """What a learner has learned since `received`.

    shard: its number. touched: the features that occur in the shard, if they are known.
    """
    shape, state, totals = learner.shape, learner.state, learner.totals
    numbers, weight = counts_of(state, mixing)
    numbers |= shape.numbers(state, weight)
    arrays = {name: sent.whole(name, state.layout if state.kinds[name].by_row else "C") for name in sent.arrays}
    among = None if touched is None else _entries(touched, learner)
    change = Change(state, arrays, weight, totals.averaged if sent.averages else None, among)
    keys, moved = shape.moved(change)
    rest: dict[str, Any] = {"sq_radius": totals.sq_radius, "mistakes": {shard: int(totals.mistakes)}}
    if keys is None:
        return Part(state["w"].size, None, moved, numbers, **rest)
    return part_of(state["w"].size, keys, moved, numbers=numbers, **rest)


def _entries(features: Ints, learner: LinearLearner) -> Ints:
    """The entries of w that belong to these features and to the bias, in the order of memory."""
    rows, width = np.append(features, learner.n_features), learner.state["w"].size // (learner.n_features + 1)
    if learner.state.layout == "C":
        return np.asarray((rows[:, np.newaxis] * width + np.arange(width)).ravel())
    return np.asarray((np.arange(width)[:, np.newaxis] * (learner.n_features + 1) + rows).ravel())


def mix(learner: LinearLearner, part: Part) -> None:
    """Take over what all shards have learned in an epoch. Ctrl-C leaves all of it, or nothing."""
    numbers, state = part.numbers, learner.state
    totals, course = added_to(learner.totals, learner.course, part)
    arrays: dict[str, Any] = {}
    if numbers["updates"] > 0.0:
        arrays = learner.shape.mixed(state, part, totals.averaged if "sums" in part.arrays else None)
    new = state.with_arrays(**arrays)
    new.totals, new.course = totals, course
    waits = learner.burn_in > 0
    changes: dict[str, Any] = {"state": new, "_read": {}, "burn_in": learner.burn_in - int(numbers["seen"])}
    vars(learner).update(changes if waits else {**changes, "burn_in": learner.burn_in})
    if waits and learner.burn_in <= 0:
        learner.begin_average()
