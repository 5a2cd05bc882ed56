"""Scores of tokens by the weights of their features, which lie in whole rows or in pages (see `passes`)."""

from __future__ import annotations

from perceptrons.core.counters import USED_LINES
from perceptrons.core.jit.deferred import forms, register_jitable
from perceptrons.core.rows import JIT, ONE, U, is_none, prefetch
from perceptrons.core.sequence.lanes import LANES, add_lines, add_times

CALLED = {**JIT, "forceinline": False}  # for large functions: inlining would add seconds of compile time


def by_values(types):
    return "ones" if is_none(types["values"]) else "numbers"


def by_pages(types):
    return "whole" if is_none(types["pages"]) else "paged"


def by_values_and_pages(types):
    return by_values(types) + ("" if is_none(types["pages"]) else "_paged")


@register_jitable(**JIT)
def gather(indices, rows, begin, end, near):
    """Put the rows of features that have weights into near, then eight times row 0, which is zero; returns how many."""
    m = U(0)
    for p in range(begin, end):
        row = rows[indices[p]]
        near[m] = row
        m += U(row != 0)
    for q in range(m, m + U(LANES)):
        near[q] = 0
    return m


@forms("ones numbers ones_paged numbers_paged", by_values_and_pages, **CALLED)
def emissions(indices, values, indptr, rows, pages, w, begin, n, emit, near):
    """Scores of n tokens from number `begin` on; fills emit. `near` is room for the rows of a token and eight more."""
    labels = U(w.shape[1])
    for t in range(n):
        m = gather(indices, rows, indptr[begin + t], indptr[begin + t + ONE], near)
        for c in range(labels):
            emit[t, c] = 0.0
        for q in range(U(0), m, U(LANES)):  # eight at a time: sums are loaded and stored less often
            a, b, d, e = U(near[q]), U(near[q + ONE]), U(near[q + U(2)]), U(near[q + U(3)])
            f, g, h, i = U(near[q + U(4)]), U(near[q + U(5)]), U(near[q + U(6)]), U(near[q + U(7)])
            for c in range(labels):
                one, two = w[a, c] + w[b, c] + w[d, c] + w[e, c], w[f, c] + w[g, c] + w[h, c] + w[i, c]
                emit[t, c] += one + two


@emissions.ones_paged
def _emissions_paged(indices, values, indptr, rows, pages, w, begin, n, emit, near):
    labels = U(emit.shape[1])
    for t in range(n):
        m = gather(indices, rows, indptr[begin + t], indptr[begin + t + ONE], near)
        for c in range(labels):
            emit[t, c] = 0.0
        for q in range(U(0), m, U(LANES)):
            a, b, d, e = U(near[q]), U(near[q + ONE]), U(near[q + U(2)]), U(near[q + U(3)])
            f, g, h, i = U(near[q + U(4)]), U(near[q + U(5)]), U(near[q + U(6)]), U(near[q + U(7)])
            for p in range(U(pages.shape[1])):
                one = U(pages[a, p]), U(pages[b, p]), U(pages[d, p]), U(pages[e, p])
                two = U(pages[f, p]), U(pages[g, p]), U(pages[h, p]), U(pages[i, p])
                add_lines(emit, t * labels + p * U(LANES), w, *one, *two)


@emissions.numbers
def _emissions(indices, values, indptr, rows, pages, w, begin, n, emit, near):
    labels = U(w.shape[1])
    for t in range(n):
        for c in range(labels):
            emit[t, c] = 0.0
        for p in range(indptr[begin + t], indptr[begin + t + ONE]):
            a, x = U(rows[indices[p]]), values[p]
            for c in range(labels):
                emit[t, c] += x * w[a, c]


@emissions.numbers_paged
def _emissions_of_numbers_paged(indices, values, indptr, rows, pages, w, begin, n, emit, near):
    labels = U(emit.shape[1])
    for t in range(n):
        for c in range(labels):
            emit[t, c] = 0.0
        for q in range(indptr[begin + t], indptr[begin + t + ONE]):
            a, x = U(rows[indices[q]]), values[q]
            for p in range(U(pages.shape[1])):
                j = U(pages[a, p])
                if j != U(0):
                    add_times(emit, t * labels + p * U(LANES), w, j, x)


@forms("whole paged", by_pages, **CALLED)
def rows_ahead(indices, indptr, rows, pages, w, begin, n):
    """Prefetch the weights of n tokens from number `begin` on."""
    labels = U(w.shape[1])
    for p in range(indptr[begin], indptr[begin + n]):
        row = U(rows[indices[p]])
        if row != U(0):
            for c in range(U(0), labels, U(LANES)):
                prefetch(w, row * labels + c)


@rows_ahead.paged
def _rows_ahead_paged(indices, indptr, rows, pages, w, begin, n):
    for q in range(indptr[begin], indptr[begin + n]):
        row = U(rows[indices[q]])
        if row != U(0):
            for p in range(U(pages.shape[1])):
                line = U(pages[row, p])
                if line != U(0):
                    prefetch(w, line * U(LANES))


# -- single weights ---------------------------------------------------------------------------------------------------


@forms("whole paged", by_pages, **JIT)
def place_of(pages, row, label):
    """The line and the column of a weight; line 0 is zero."""
    return row, label


@place_of.paged
def _place_of_paged(pages, row, label):
    return U(pages[row, label // U(LANES)]), label % U(LANES)


@forms("whole paged", by_pages, **JIT)
def open_line(pages, row, label, course):
    """Make a line for a weight, if it has none; updates pages and course in place."""


@open_line.paged
def _open_line_paged(pages, row, label, course):
    p = label // U(LANES)
    if pages[row, p] == 0:
        pages[row, p] = U(course[USED_LINES])
        course[USED_LINES] += 1.0
