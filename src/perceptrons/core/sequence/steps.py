"""A step from wrong labels to the right ones: the difference of their features, the length of the step, the step.

The difference Δφ = φ(right) − φ(wrong) has few entries. It is a hash table with open addressing, by the number of the
weight. With several rivals, each place of the table has the differences to all of them.
"""

from __future__ import annotations

from perceptrons.core.counters import AVERAGED, SQ_NORM, USED_ROWS
from perceptrons.core.jit.deferred import forms, overload, register_jitable
from perceptrons.core.rows import JIT, ONE, U
from perceptrons.core.rule import tau
from perceptrons.core.sequence.emissions import CALLED, by_values, open_line, place_of
from perceptrons.core.sequence.lattice import pair_of, start_of, stop_of
from perceptrons.core.sequence.markov import Zeroth, by_order, is_a, is_second

FREE = U(0xFFFFFFFFFFFFFFFF)  # key of a free place in the table of differences
SWEEPS, ENOUGH = 1000, 1e-12  # coordinate ascent: maximum number of sweeps, and the relative change that ends it


@register_jitable(**JIT)
def place(keys, key):
    """Where a key is in the table, or where it would be."""
    mask = U(keys.size) - ONE
    at = (key * U(0x9E3779B97F4A7C15)) >> U(20) & mask
    while keys[at] != key and keys[at] != FREE:
        at = (at + ONE) & mask
    return at


@register_jitable(**CALLED)
def add(row, label, labels, amount, j, keys, changes, used, filled):
    """Δφ_j[row, label] += amount; updates the table in place, returns the number of its filled places."""
    key = row * labels + label
    at = place(keys, key)
    if keys[at] == FREE:
        keys[at] = key
        used[filled] = at
        filled += ONE
        for i in range(U(changes.shape[1])):
            changes[at, i] = 0.0
    changes[at, j] += amount
    return filled


def add_histories(markov, n, t, label, last, before, labels, amount, j, keys, changes, used, filled):
    """`add` the histories of label t of n, after the labels `before`, `last`; with STOP after the last label of all.

    START is `labels`.
    """


@overload(add_histories, jit_options=CALLED)
def _add_histories(markov, n, t, label, last, before, labels, amount, j, keys, changes, used, filled):
    if is_a(markov, Zeroth):

        def none(markov, n, t, label, last, before, labels, amount, j, keys, changes, used, filled):
            return filled

        return none

    def some(markov, n, t, label, last, before, labels, amount, j, keys, changes, used, filled):
        filled = add(ONE + last, label, labels, amount, j, keys, changes, used, filled)
        if is_second(markov) and t > U(0):
            row = ONE + pair_of(labels, before, last)
            filled = add(row, label, labels, amount, j, keys, changes, used, filled)
        if t == n - ONE:
            filled = add(ONE + stop_of(labels), label, labels, amount, j, keys, changes, used, filled)
        return filled

    return some


@forms("ones numbers", by_values, **JIT)
def value(values, p):
    """The value of entry p of the tokens' features."""
    return 1.0


@value.numbers
def _value(values, p):
    return values[p]


@register_jitable(**CALLED)
def difference(
    indices, values, indptr, gold, begin, n, m, markov, rows, labels, path, j, keys, changes, used, filled, course
):
    """Δφ_j = φ(right) − φ(path), for the first m of n tokens; updates the table, rows and course in place.

    Returns the number of filled places in the table, and the cost: the number of labels that differ.
    """
    cost = 0.0
    start = start_of(labels)
    right, wrong, right_before, wrong_before = start, start, start, start
    for t in range(m):
        y, z = U(gold[begin + t]), U(path[t])
        if y != z:
            cost += 1.0
            for p in range(indptr[begin + t], indptr[begin + t + ONE]):
                row = U(rows[indices[p]])
                if row == U(0):
                    row = U(course[USED_ROWS])
                    course[USED_ROWS] += 1.0
                    rows[indices[p]] = row
                amount = value(values, p)
                filled = add(row, y, labels, amount, j, keys, changes, used, filled)
                filled = add(row, z, labels, -amount, j, keys, changes, used, filled)
        if y != z or right != wrong or right_before != wrong_before:
            filled = add_histories(markov, n, t, y, right, right_before, labels, 1.0, j, keys, changes, used, filled)
            filled = add_histories(markov, n, t, z, wrong, wrong_before, labels, -1.0, j, keys, changes, used, filled)
        right_before, wrong_before, right, wrong = right, wrong, y, z
    return filled, cost


@register_jitable(**CALLED)
def gram(k, pages, w, labels, keys, changes, used, filled, inner, margins):
    """Inner products of the differences with each other and with w; fills inner and margins."""
    for i in range(k):
        margins[i] = 0.0
        for j in range(k):
            inner[i, j] = 0.0
    for q in range(filled):
        at = U(used[q])
        weight = w[place_of(pages, keys[at] // labels, keys[at] % labels)]
        for i in range(k):
            x = changes[at, i]
            if x != 0.0:
                margins[i] += x * weight
                for j in range(k):
                    inner[i, j] += x * changes[at, j]


@register_jitable(**CALLED)
def lengths(rule, target, k, inner, margins, costs, alphas):
    """The lengths of the steps along k differences; fills alphas.

    For one difference, it is the rule's τ with the cost in place of 1. For several, they minimise ‖w′ − w‖² under all
    constraints: each in turn gets the length that the rule gives it while the others stay, until nothing changes
    (coordinate ascent in the dual; Hildreth 1957). Differences of length 0 are no constraint.
    """
    for i in range(k):
        alphas[i] = 0.0
    for _ in range(1 if k == ONE else SWEEPS):
        change, largest = 0.0, 0.0
        for i in range(k):
            if inner[i, i] == 0.0:
                continue
            margin = margins[i] - target * (costs[i] - 1.0)
            for j in range(k):
                if j != i:
                    margin += alphas[j] * inner[i, j]
            new = tau(rule, margin, inner[i, i], 1.0, 1.0)
            change, largest = max(change, abs(new - alphas[i])), max(largest, new)
            alphas[i] = new
        if change <= ENOUGH * largest:
            break


@forms("first second", by_order, **CALLED)
def links_moved(markov, row, label, labels, pages, w, links):
    """Update links in place after a weight of history `row` has changed."""
    links[row, label] = w[place_of(pages, ONE + row, label)]


@links_moved.second
def _links_moved(markov, row, label, labels, pages, w, links):
    first = pair_of(labels, U(0), U(0))
    weight = w[place_of(pages, ONE + row, label)]
    if row < first:
        links[row, label] = weight
    if row < labels:  # the weight of the previous label is part of all its pairs
        for before in range(labels + ONE):
            pair = pair_of(labels, before, row)
            links[pair, label] = w[place_of(pages, ONE + pair, label)] + weight
    elif row >= first:
        links[row, label] = weight + w[place_of(pages, ONE + (row - first) % labels, label)]


@register_jitable(**CALLED)
def move(markov, eta, averaged, k, keys, changes, used, filled, alphas, pages, w, kept, links, totals, course):
    """One step along Σ α_i·Δφ_i; updates pages, w, kept, links, totals and course in place."""
    labels, histories = U(links.shape[1]), U(links.shape[0])
    for q in range(filled):
        at, step = U(used[q]), 0.0
        for i in range(k):
            step += alphas[i] * changes[at, i]
        if step == 0.0:
            continue
        step *= eta
        row, label = keys[at] // labels, keys[at] % labels
        open_line(pages, row, label, course)
        there = place_of(pages, row, label)
        old = w[there]
        w[there] = old + step
        totals[SQ_NORM] += step * (2.0 * old + step)
        if averaged:
            kept[there] += step * totals[AVERAGED]
        if row <= histories:
            links_moved(markov, row - ONE, label, labels, pages, w, links)
