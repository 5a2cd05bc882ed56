"""Parse lines of the svmlight format into CSR rows.

    line = [label [qid:n] {index:value}] [# comment]

Spaces and tabs separate fields; indices rise within a line. A common field, such as 17:0.25, is read in one step: one
look at 32 bytes shows which are digits, and so where the parts end; three multiplications turn the digits of a part
into a number (Lemire 2021, §4). All other fields are read byte by byte, their numbers by `decimal`.
"""

from __future__ import annotations

import numpy as np

from perceptrons.core.jit.compiled import exact, exact_uncounted
from perceptrons.core.jit.deferred import register_jitable
from perceptrons.core.parse.bits import PLAIN, U, eight, is_digit, low_zeros, n_ones, within
from perceptrons.core.parse.decimal import BAD, GOOD, HARD, HUGE, TENS, WHOLE, n_digits, number, whole

PADDING = 64  # line feeds that must follow the text, because it is read in windows

# Why parsing stopped.
FINE, NOT_A_LABEL, NOT_A_FEATURE, NOT_A_VALUE, TOO_LARGE, NOT_RISING, BELOW_ONE, BEYOND, FULL = range(9)

TAB, FEED, RETURN, SPACE, COMMENT, MINUS, DOT, COLON = 9, 10, 13, 32, 35, 45, 46, 58
LEFT_OUT = 1 << 62  # in place of the number of a value: this value is left out
DIGITS = U(0x3030303030303030)
TENTH = U(922337203685477581)  # 2⁶³/10, rounded up


@register_jitable(**PLAIN)
def ends_fields(text, p):
    """Whether no field can begin at text[p], because the line ends or a comment begins there."""
    return text[p] == FEED or text[p] == COMMENT or (text[p] == RETURN and text[p + U(1)] == FEED)


@register_jitable(**PLAIN)
def after_field(text, p):
    """Whether text[p] may follow a field."""
    return text[p] == SPACE or text[p] == TAB or ends_fields(text, p)


@register_jitable(**PLAIN)
def skip_blanks(text, p):
    while text[p] == SPACE or text[p] == TAB:
        p += U(1)
    return p


@register_jitable(**PLAIN)
def short(text, p):
    """Read the number at text[p] as `decimal.number` does; fast for up to seven digits on either side of the point."""
    negative = text[p] == MINUS
    q = p + U(negative)
    word = eight(text, q) ^ DIGITS
    n = n_digits(word)
    if n == U(0) or n == U(8):
        return number(text, p)
    m, q = whole(word, n), q + n
    if text[q] == DOT:
        word = eight(text, q + U(1)) ^ DIGITS
        n = n_digits(word)
        if n == U(0) or n == U(8):
            return number(text, p)
        m, q = m * WHOLE[n] + whole(word, n), q + U(1) + n
        x = np.float64(m) / TENS[n]
    else:
        x = np.float64(m)
    if text[q] | 32 == 101:
        return number(text, p)
    return -x if negative else x, q, GOOD


@register_jitable(**PLAIN)
def position(text, p):
    """Read the whole number at text[p], at most 2⁶³: its value and where it ends, which is p if there is no digit."""
    word = eight(text, p) ^ DIGITS
    n = n_digits(word)
    if n == U(0):
        return U(0), p
    if n < U(8):
        return whole(word, n), p + n
    total = U(0)
    while is_digit(text[p]):
        total = min(total, TENTH) * U(10) + U(text[p]) - U(48)
        p += U(1)
    return min(total, U(1) << U(63)), p


@register_jitable(**PLAIN)
def field(text, p):
    """Read a common field index:value at text[p]: index, value, and where the next field begins; 0 if not common.

    Common: an index of up to eight digits, a value of up to eight digits, or seven and a point, then a space or a line
    feed. One look at the bytes tells where the next field begins, so that fields overlap in the processor's pipeline.
    """
    minus = within(text, p, 45, 45)
    others = ~(within(text, p, 48, 57) | minus) & U(0xFFFFFFFF)
    n = low_zeros(others)
    others &= others - U(1)
    end = p + low_zeros(others)
    begin = p + n + U(1)
    negative = U(text[begin] == MINUS)
    begin += negative
    known = negative << (n + U(1))  # the one place where a minus is allowed
    digits = end - begin
    if text[p + n] != COLON or n - U(1) > U(7) or digits - U(1) > U(7):
        return U(0), 0.0, U(0)
    word = eight(text, begin) ^ DIGITS
    if text[end] == DOT:
        others &= others - U(1)
        places = p + low_zeros(others) - end - U(1)
        end += places + U(1)
        if places - U(1) > U(6) or digits + places > U(7):
            return U(0), 0.0, U(0)
        before = (U(1) << (digits << U(3))) - U(1)
        word = (word & before) | ((word >> U(8)) & ~before)  # the digits without the point
        x = np.float64(np.int64(whole(word, digits + places))) / TENS[places]
    else:
        x = np.float64(np.int64(whole(word, digits)))
    if (minus ^ known) & ((U(1) << (end - p)) - U(1)) != U(0):
        return U(0), 0.0, U(0)
    j = whole(eight(text, p) ^ DIGITS, n)
    x = -x if negative else x
    if text[end] == SPACE:
        return j, x, end + U(1)
    if text[end] == FEED:
        return j, x, end
    return U(0), 0.0, U(0)


@register_jitable(**PLAIN)
def is_qid(text, p):
    return text[p] == 113 and text[p + U(1)] == 105 and text[p + U(2)] == 100 and text[p + U(3)] == COLON


@exact
def count(text):
    """Count line ends and colons, the largest possible numbers of rows and features; the padding is not counted."""
    lines, colons = U(1), U(0)
    size = U(text.size) - U(PADDING)
    whole_windows = size - size % U(32)
    for p in range(U(0), whole_windows, U(32)):
        lines += n_ones(within(text, p, FEED, FEED))
        colons += n_ones(within(text, p, COLON, COLON))
    for p in range(whole_windows, size):
        lines += U(text[p] == FEED)
        colons += U(text[p] == COLON)
    return lines, colons


@register_jitable(**PLAIN)
def number_field(text, p, otherwise):
    """Read the number at text[p], which must end its field: value, where it ends, status, and why it is refused.

    `otherwise` is the reason to give if it is not a number.
    """
    x, p, status = short(text, p)
    if status == BAD or not after_field(text, p):
        return x, p, status, otherwise
    return x, p, status, TOO_LARGE if status == HUGE else FINE


@register_jitable(**PLAIN)
def uncommon_field(text, p):
    """Read a field that is not common: index, value, where the value begins and ends, status, why it is refused."""
    j, colon = position(text, p)
    if colon == p or text[colon] != COLON:
        return j, 0.0, p, p, GOOD, NOT_A_FEATURE
    x, end, status, why = number_field(text, colon + U(1), NOT_A_VALUE)
    return j, x, colon + U(1), end, status, why


@register_jitable(**PLAIN)
def postpone(hard, n_hard, begin, end, which):
    """List a number that needs exact arithmetic; returns FULL if the list has no room."""
    if n_hard == U(hard.shape[0]):
        return FULL
    hard[n_hard, U(0)], hard[n_hard, U(1)], hard[n_hard, U(2)] = begin, end, which
    return FINE


@register_jitable(**PLAIN)
def read_features(text, p, first, limit, keep, values, indices, at, hard, n_hard):
    """Read the fields index:value of a line; fills values and indices from `at` on, and hard from `n_hard` on.

    Returns why and at which field it stopped, where the line goes on, the new `at` and `n_hard`, and the last index.
    """
    token, last, why = p, first - 1, FINE
    while text[p] != FEED:
        token = p
        j, x, p = field(text, token)
        begin, status = token, GOOD
        if p == U(0):
            p = token
            if ends_fields(text, p):
                break
            j, x, begin, p, status, why = uncommon_field(text, token)
            if why != FINE:
                break
        if np.int64(j) <= last:
            why = BELOW_ONE if j < U(first) else NOT_RISING
            break
        if j > U(limit):
            why = BEYOND
            break
        kept = j - U(first) < U(keep)
        if status == HARD:
            why = postpone(hard, n_hard, begin, p, np.int64(at) if kept else LEFT_OUT)
            if why != FINE:
                break
            n_hard += U(1)
        last = np.int64(j)
        if kept:
            indices[at] = j - U(first)
            values[at] = x
            at += U(1)
        p = skip_blanks(text, p)
    return why, token, p, at, n_hard, last


@exact_uncounted
def parse(text, size, first, limit, keep, labels, values, indices, indptr, hard, counts):
    """Parse the rows of text[:size]; fills labels, values, indices and indptr, and returns why it stopped and where.

    first: the index of the first column, 0 or 1. limit: the largest index that is allowed. keep: the number of
    columns; features beyond it are left out. `hard` lists numbers that need exact arithmetic: begin, end, and the
    number of the value (LEFT_OUT if it is left out; −1, −2, … for a label). counts: rows, values, hard numbers, lines,
    largest column + 1; updated in place.
    """
    p, end = U(0), U(size)
    row, at, n_hard, lines, width = U(0), U(0), U(0), 0, U(0)
    why, token = FINE, p
    while p < end:
        p = skip_blanks(text, p)
        token = p
        if not ends_fields(text, p):
            labels[row], p, status, why = number_field(text, p, NOT_A_LABEL)
            if why == FINE and status == HARD:
                why = postpone(hard, n_hard, token, p, -1 - np.int64(row))
                n_hard += U(1)
            if why != FINE:
                break
            p = skip_blanks(text, p)
            if is_qid(text, p):
                token = p
                _, p = position(text, token + U(4))
                if p == token + U(4) or not after_field(text, p):
                    why = NOT_A_FEATURE
                    break
                p = skip_blanks(text, p)
            why, token, p, at, n_hard, last = read_features(
                text, p, first, limit, keep, values, indices, at, hard, n_hard
            )
            if why != FINE:
                break
            if last >= first:
                width = max(width, U(last - first + 1))
            row += U(1)
            indptr[row] = at
        while text[p] != FEED:
            p += U(1)
        p += U(1)
        lines += 1
    counts[0], counts[1], counts[2], counts[3], counts[4] = row, at, n_hard, lines, width
    return why, token
