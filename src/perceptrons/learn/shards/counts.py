"""Counts of an epoch: what shards have counted adds up, and says how much each of them counts."""

from __future__ import annotations

from perceptrons.learn.shards.part import Part
from perceptrons.learn.state import Course, State, Totals

BY_MISTAKES, UNIFORM = "mistakes", "uniform"
MIXINGS = (BY_MISTAKES, UNIFORM)  # how much shards count: in proportion to their updates, or all equally
GAINS = ("seen", "mistakes", "updates", "averaged", "tokens", "wrong_tokens")  # totals that add up


def counts_of(state: State, mixing: str) -> tuple[dict[str, float], float]:
    """The counts of a shard, which began at 0, and how much it counts."""
    totals = state.totals
    weight = 1.0 if mixing == UNIFORM else totals.updates
    numbers = {name: getattr(totals, name) for name in GAINS}
    return numbers | {
        "shards": 1.0,
        "weight": weight,
        "tau": weight * totals.sum_tau,
        "loss": state.course.loss,
    }, weight


def added_to(totals: Totals, course: Course, part: Part) -> tuple[Totals, Course]:
    """The counts after an epoch, in copies.

    Στ of the mixed hypothesis is the weighted mean of those of the shards. Mixing rounds w, too. Up to 3 roundings make
    k_i·δ_i, which are then added and divided: that is S + 3 roundings for S shards, each relative to the mean of
    ‖w_i‖ + ‖w₀‖; one more follows when w₀ is added.
    """
    totals, course, numbers = totals.copy(), course.copy(), part.numbers
    for name in GAINS:
        setattr(totals, name, getattr(totals, name) + numbers[name])
    weight = numbers["weight"]
    if weight > 0.0:  # of rules that scale w, the Στ from before the epoch is scaled, too
        totals.sum_tau = totals.sum_tau * numbers.get("origin", weight) / weight + numbers["tau"] / weight
    if numbers["updates"] > 0.0:
        totals.mixed += 2.0 * (numbers["shards"] + 4.0)
    totals.sq_radius = max(totals.sq_radius, part.sq_radius)
    course.loss += numbers["loss"]
    course.quiet = float(numbers["updates"] == 0.0)
    return totals, course
