"""Lines of the svmlight format to CSR rows.

    line = [label [qid:n] {index:value}] [# comment]

Fields are separated by spaces and tabs; indices rise within a line. A common field, such as 17:0.25, is read in one
step: which of 32 bytes are digits tells where its parts end, and the digits of each part make a number by three
multiplications (Lemire 2021, §4). Everything else goes byte by byte, and through `decimal`.
"""

from __future__ import annotations

import numpy as np

from perceptrons.core.jit.compiled import exact
from perceptrons.core.jit.deferred import register_jitable
from perceptrons.core.parse.bits import PLAIN, U, eight, low_zeros, n_ones, within
from perceptrons.core.parse.decimal import BAD, GOOD, HARD, HUGE, TENS, WHOLE, n_digits, number, whole

PADDING = 64  # bytes that must follow the text, line feeds all of them: it is read in windows

# Why a text is refused.
FINE, NOT_A_LABEL, NOT_A_FEATURE, NOT_A_VALUE, TOO_LARGE, NOT_RISING, BELOW_ONE, BEYOND, FULL = range(9)

TAB, FEED, RETURN, SPACE, COMMENT, MINUS, DOT, COLON = 9, 10, 13, 32, 35, 45, 46, 58
LEFT_OUT = 1 << 62  # in place of which value a number is: none
DIGITS = U(0x3030303030303030)
TENTH = U(922337203685477581)  # 2⁶³/10, rounded up


@register_jitable(**PLAIN)
def after_field(text, p):
    """Whether a field may end before text[p]."""
    c = text[p]
    return c == SPACE or c == FEED or c == TAB or c == COMMENT or (c == RETURN and text[p + U(1)] == FEED)


@register_jitable(**PLAIN)
def skip_blanks(text, p):
    while text[p] == SPACE or text[p] == TAB:
        p += U(1)
    return p


@register_jitable(**PLAIN)
def short(text, p):
    """A number that begins at text[p], as `decimal.number` gives it; fast for up to seven digits on either side."""
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
    """The whole number that begins at text[p], 2⁶³ if it is that or more, and where it ends; p itself if none does."""
    word = eight(text, p) ^ DIGITS
    n = n_digits(word)
    if n == U(0):
        return U(0), p
    if n < U(8):
        return whole(word, n), p + n
    total = U(0)
    while text[p] >= 48 and text[p] <= 57:
        total = min(total, TENTH) * U(10) + U(text[p]) - U(48)
        p += U(1)
    return min(total, U(1) << U(63)), p


@register_jitable(**PLAIN)
def field(text, p):
    """The field index:value at text[p]: index, value, where the next one begins. 0 for that if it is not a common one.

    Common: up to eight digits of the index, as many of the value or seven and a point, then a space or a line feed.
    Where the next field begins depends on one look at the bytes: fields overlap in the processor's pipeline.
    """
    minus = within(text, p, 45, 45)
    others = ~(within(text, p, 48, 57) | minus) & U(0xFFFFFFFF)
    n = low_zeros(others)
    others &= others - U(1)
    end = p + low_zeros(others)
    begin = p + n + U(1)
    negative = U(text[begin] == MINUS)
    begin += negative
    known = negative << (n + U(1))  # where a minus may be
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
        word = (word & before) | ((word >> U(8)) & ~before)  # without the point
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
    """How many rows and features a text can have at most: line ends and colons. Its padding is not counted."""
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


@exact
def parse(text, size, first, limit, keep, labels, values, indices, indptr, hard, counts):
    """Rows of text[:size]; fills labels, values, indices and indptr, and returns why it stopped and where.

    first: number of the first index, 0 or 1. limit: largest index that is allowed. keep: number of columns; features
    beyond are left out. Numbers that need exact arithmetic are listed in `hard`: begin, end, and which value (or
    label, counted from −1 down; or LEFT_OUT). counts: rows, values, hard numbers, lines, largest column + 1; updated
    in place.
    """
    p, end = U(0), U(size)
    row, at, odd, lines, width = U(0), U(0), U(0), 0, U(0)
    why = FINE
    token = p
    while p < end and why == FINE:
        p = skip_blanks(text, p)
        token = p
        c = text[p]
        if c == FEED:
            p += U(1)
            lines += 1
            continue
        if c == RETURN and text[p + U(1)] == FEED:
            p += U(2)
            lines += 1
            continue
        if c != COMMENT:
            x, p, status = short(text, p)
            if status == BAD or not after_field(text, p):
                why = NOT_A_LABEL
                break
            if status == HUGE:
                why = TOO_LARGE
                break
            if status == HARD:
                if odd == U(hard.shape[0]):
                    why = FULL
                    break
                hard[odd, U(0)], hard[odd, U(1)], hard[odd, U(2)] = token, p, -1 - np.int64(row)
                odd += U(1)
            labels[row] = x
            last = first - 1
            p = skip_blanks(text, p)
            if is_qid(text, p):
                token = p
                _, p = position(text, p + U(4))
                if p == token + U(4) or not after_field(text, p):
                    why = NOT_A_FEATURE
                    break
                p = skip_blanks(text, p)
            while text[p] != FEED:
                token = p
                j, x, following = field(text, p)
                begin, status = token, GOOD
                if following > U(0):
                    p = following
                else:
                    j, p = position(text, p)
                    if p == token or text[p] != COLON:
                        p = token
                        break
                    begin = p + U(1)
                    x, p, status = short(text, begin)
                    if status == BAD or not after_field(text, p):
                        why = NOT_A_VALUE
                        break
                    if status == HUGE:
                        why = TOO_LARGE
                        break
                if np.int64(j) <= last:
                    why = BELOW_ONE if j < U(first) else NOT_RISING
                    break
                if j > U(limit):
                    why = BEYOND
                    break
                if status == HARD:
                    if odd == U(hard.shape[0]):
                        why = FULL
                        break
                    hard[odd, U(0)], hard[odd, U(1)], hard[odd, U(2)] = begin, p, np.int64(at)
                    if j - U(first) >= U(keep):
                        hard[odd, U(2)] = LEFT_OUT
                    odd += U(1)
                last = np.int64(j)
                if j - U(first) < U(keep):
                    indices[at] = j - U(first)
                    values[at] = x
                    at += U(1)
                p = skip_blanks(text, p)
            if why != FINE:
                break
            c = text[p]
            if not (c == FEED or c == COMMENT or (c == RETURN and text[p + U(1)] == FEED)):
                why = NOT_A_FEATURE
                break
            if last >= first:
                width = max(width, U(last - first + 1))
            row += U(1)
            indptr[row] = at
        while text[p] != FEED:
            p += U(1)
        p += U(1)
        lines += 1
    counts[0], counts[1], counts[2], counts[3], counts[4] = row, at, odd, lines, width
    return why, token
