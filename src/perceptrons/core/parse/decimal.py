"""Decimal numbers to float64, rounded correctly: the double nearest to the number as written, of two the even one.

Most numbers in files are short: their digits make an integer below 2⁵³ and a power of ten up to 10²², both exact in
float64, so that one division or multiplication rounds correctly (Clinger 1990). Longer ones go through a product with
a 128-bit power of five (Lemire 2021, "Number parsing at a gigabyte per second", §5–§9); the few that even this does not
decide are left to the caller.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptrons.core.jit.deferred import register_jitable
from perceptrons.core.parse.bits import PLAIN, U, as_double, high_zeros, low_zeros, product

GOOD, BAD, HARD, HUGE = range(4)  # a number; no number; one that the caller must round; too large for float64

SMALLEST, LARGEST = -342, 308  # powers of ten beyond which a 19-digit integer times the power is 0 or overflows
TENS = np.array([float(10**q) for q in range(23)])
WHOLE = np.array([10**q for q in range(9)], dtype=np.uint64)


def _powers_of_five() -> np.ndarray[Any, Any]:
    """5^q scaled to 128 bits with the highest set, in two words each; rounded down for q ≥ 0, up for q < 0 (§5)."""
    table = []
    for q in range(SMALLEST, LARGEST + 1):
        power = 5 ** abs(q)
        if q < 0:  # down to −27 the power itself, in 128 bits, is exact enough to tell ties: its last bit is rounded up
            bits = power.bit_length()
            power = (1 << (bits + 127 if q >= -27 else 2 * bits + 128)) // power + 1
        extra = power.bit_length() - 128
        scaled = power >> extra if extra > 0 else power << -extra
        table.append((scaled >> 64, scaled & (2**64 - 1)))
    return np.array(table, dtype=np.uint64)


FIVES = _powers_of_five()


@register_jitable(**PLAIN)
def n_digits(word):
    """How many of the eight bytes, from the first on, are digits; `word` is their bytes exclusive-or 0x30…30."""
    other = ((word + U(0x7676767676767676)) | word) & U(0x8080808080808080)
    return low_zeros(other) >> U(3)


@register_jitable(**PLAIN)
def whole(word, n):
    """The number that the first n digits make, 1 ≤ n ≤ 8: pairs, then fours, then all eight at once."""
    word <<= U(64) - (n << U(3))  # zeros in front
    word = (word * U(10) + (word >> U(8))) & U(0x00FF00FF00FF00FF)
    word = (word * U(100) + (word >> U(16))) & U(0x0000FFFF0000FFFF)
    return (word * U(10000) + (word >> U(32))) & U(0xFFFFFFFF)


@register_jitable(**PLAIN)
def nearest(m, q):
    """The double nearest to m·10^q, m ≥ 1, as bits without sign; and GOOD, or HARD where this does not decide."""
    if q < SMALLEST:
        return U(0), GOOD
    if q > LARGEST:
        return U(0), HUGE
    shift = high_zeros(m)
    m <<= shift
    high, low = product(m, FIVES[U(q - SMALLEST), U(0)])
    if high & U(0x1FF) == U(0x1FF):  # the bits beyond the mantissa are all 1: more of the power is needed
        more, _ = product(m, FIVES[U(q - SMALLEST), U(1)])
        low += more
        if more > low:
            high += U(1)
    if low == U(0xFFFFFFFFFFFFFFFF) and (q < -27 or q > 55):
        return U(0), HARD
    top = high >> U(63)
    mantissa = high >> (top + U(9))  # 54 bits: one more than float64 keeps
    exponent = ((217706 * q) >> 16) + 63 + np.int64(top) - np.int64(shift) + 1023  # 217706/2¹⁶ ≈ log₂ 10
    if exponent <= 0:  # subnormal
        if exponent <= -63:
            return U(0), GOOD
        mantissa >>= U(1 - exponent)
        mantissa += mantissa & U(1)
        return mantissa >> U(1), GOOD  # a carry into bit 52 is the smallest normal number: the exponent follows
    if low <= U(1) and q >= -4 and q <= 23 and mantissa & U(3) == U(1) and mantissa << (top + U(9)) == high:
        mantissa &= ~U(1)  # exactly between two doubles: to the even one
    mantissa += mantissa & U(1)
    mantissa >>= U(1)
    if mantissa == U(1) << U(53):
        mantissa >>= U(1)
        exponent += 1
    if exponent >= 2047:
        return U(0), HUGE
    return (U(exponent) << U(52)) | (mantissa & U(0xFFFFFFFFFFFFF)), GOOD


@register_jitable(error_model="numpy")
def digits(text, p, m, used, lost):
    """Digits from text[p] on, appended to the integer m as long as it has less than 19 of them that count.

    Returns where they end, m and how many digits of it count, how many were appended, how many left out, and whether
    any of those was not 0.
    """
    appended, left_out = 0, 0
    while text[p] >= 48 and text[p] <= 57:
        digit = U(text[p]) - U(48)
        if used < 19:
            m = m * U(10) + digit
            used += m > U(0)
            appended += 1
        else:
            lost |= digit > U(0)
            left_out += 1
        p += U(1)
    return p, m, used, appended, left_out, lost


@register_jitable(error_model="numpy")
def number(text, p):
    """The number that begins at text[p]: its value, where it ends, and GOOD, BAD, HARD or HUGE.

    number = [+-] (digits [. [digits]] | . digits) [(e|E) [+-] digits]. Some byte after it must be none of these.
    """
    sign = U(0)
    if text[p] == 43 or text[p] == 45:
        sign = U(text[p] == 45) << U(63)
        p += U(1)
    m, used, lost, begin = U(0), 0, False, p
    p, m, used, _, q, lost = digits(text, p, m, used, lost)  # those left out before the point are powers of ten
    found = p - begin
    if text[p] == 46:
        begin = p + U(1)
        p, m, used, places, _, lost = digits(text, begin, m, used, lost)
        found += p - begin
        q -= places
    if found == U(0):
        return 0.0, p, BAD
    if text[p] | 32 == 101:
        p += U(1)
        minus = text[p] == 45
        if text[p] == 43 or text[p] == 45:
            p += U(1)
        if not (text[p] - 48 < 10 and text[p] >= 48):
            return 0.0, p, BAD
        exponent = 0
        while text[p] - 48 < 10 and text[p] >= 48:
            exponent = min(exponent * 10 + np.int64(text[p]) - 48, 1 << 40)  # more digits than any file has
            p += U(1)
        q += -exponent if minus else exponent
    if m == U(0):
        return as_double(sign), p, GOOD
    bits, status = nearest(m, q)
    if lost and status == GOOD:  # between m·10^q and (m + 1)·10^q: decided where both round to one double
        above, status = nearest(m + U(1), q)
        if above != bits or status != GOOD:
            status = HARD
    return as_double(bits | sign), p, status
