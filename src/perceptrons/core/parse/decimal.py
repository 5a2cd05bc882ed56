"""Convert decimal numbers to float64, correctly rounded: to the nearest double, and to the even one of two.

Most numbers in files are short: their digits make an integer below 2⁵³ and a power of ten up to 10²². Both are exact in
float64, so one division or multiplication rounds correctly (Clinger 1990). Longer numbers are multiplied by a 128-bit
power of five (Lemire 2021, "Number parsing at a gigabyte per second", §5–§9). The caller rounds the few numbers for
which this is not exact enough.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptrons.core.jit.deferred import register_jitable
from perceptrons.core.parse.bits import PLAIN, U, as_double, high_zeros, is_digit, low_zeros, product

GOOD, BAD, HARD, HUGE = range(4)  # a number; not a number; the caller must round it; too large for float64

SMALLEST, LARGEST = -342, 308  # powers of ten beyond which a 19-digit integer times the power is 0 or overflows
TENS = np.array([float(10**q) for q in range(23)])
WHOLE = np.array([10**q for q in range(9)], dtype=np.uint64)


def _powers_of_five() -> np.ndarray[Any, Any]:
    """Tabulate 5^q in 128 bits, two words each, the highest bit set; rounded down for q ≥ 0, up for q < 0 (§5)."""
    table = []
    for q in range(SMALLEST, LARGEST + 1):
        power = 5 ** abs(q)
        if q < 0:  # down to −27, 128 bits of the power are exact enough to recognise ties: the last bit is rounded up
            bits = power.bit_length()
            power = (1 << (bits + 127 if q >= -27 else 2 * bits + 128)) // power + 1
        extra = power.bit_length() - 128
        scaled = power >> extra if extra > 0 else power << -extra
        table.append((scaled >> 64, scaled & (2**64 - 1)))
    return np.array(table, dtype=np.uint64)


FIVES = _powers_of_five()


@register_jitable(**PLAIN)
def n_digits(word):
    """Count the digits at the beginning of eight bytes; `word` is the bytes exclusive-or 0x30…30."""
    other = ((word + U(0x7676767676767676)) | word) & U(0x8080808080808080)
    return low_zeros(other) >> U(3)


@register_jitable(**PLAIN)
def whole(word, n):
    """Combine the first n digits, 1 ≤ n ≤ 8, to a number: in pairs, then in fours, then all eight at once."""
    word <<= U(64) - (n << U(3))  # zeros in front
    word = (word * U(10) + (word >> U(8))) & U(0x00FF00FF00FF00FF)
    word = (word * U(100) + (word >> U(16))) & U(0x0000FFFF0000FFFF)
    return (word * U(10000) + (word >> U(32))) & U(0xFFFFFFFF)


@register_jitable(**PLAIN)
def nearest(m, q):
    """Round m·10^q, m ≥ 1, to the nearest double: its bits without sign, and GOOD, HUGE, or HARD if undecided."""
    if q < SMALLEST:
        return U(0), GOOD
    if q > LARGEST:
        return U(0), HUGE
    shift = high_zeros(m)
    m <<= shift
    high, low = product(m, FIVES[U(q - SMALLEST), U(0)])
    if high & U(0x1FF) == U(0x1FF):  # all bits beyond the mantissa are 1: the second word of the power decides
        more, _ = product(m, FIVES[U(q - SMALLEST), U(1)])
        low += more
        if more > low:
            high += U(1)
    if low == U(0xFFFFFFFFFFFFFFFF) and (q < -27 or q > 55):
        return U(0), HARD
    top = high >> U(63)
    mantissa = high >> (top + U(9))  # 54 bits: one more than float64 has
    exponent = ((217706 * q) >> 16) + 63 + np.int64(top) - np.int64(shift) + 1023  # 217706/2¹⁶ ≈ log₂ 10
    if exponent <= 0:  # subnormal
        if exponent <= -63:
            return U(0), GOOD
        mantissa >>= U(1 - exponent)
        mantissa += mantissa & U(1)
        return mantissa >> U(1), GOOD  # a carry into bit 52 gives the smallest normal number, and its exponent
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
    """Append the digits from text[p] on to the integer m, up to 19 significant digits.

    Returns where the digits end, m, its number of significant digits, the numbers of digits appended and left out, and
    whether any digit left out is not 0.
    """
    appended, left_out = 0, 0
    while is_digit(text[p]):
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
    """Read the number at text[p]: its value, where it ends, and GOOD, BAD, HARD or HUGE.

    number = [+-] (digits [. [digits]] | . digits) [(e|E) [+-] digits]. A byte that cannot continue it must follow.
    """
    sign = U(0)
    if text[p] == 43 or text[p] == 45:
        sign = U(text[p] == 45) << U(63)
        p += U(1)
    m, used, lost, begin = U(0), 0, False, p
    p, m, used, _, q, lost = digits(text, p, m, used, lost)  # each digit left out before the point is a power of ten
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
        if not is_digit(text[p]):
            return 0.0, p, BAD
        exponent = 0
        while is_digit(text[p]):
            exponent = min(
                exponent * 10 + np.int64(text[p]) - 48, 1 << 40
            )  # beyond what any number of digits can offset
            p += U(1)
        q += -exponent if minus else exponent
    if m == U(0):
        return as_double(sign), p, GOOD
    bits, status = nearest(m, q)
    if lost and status == GOOD:  # between m·10^q and (m + 1)·10^q: decided if both round to the same double
        above, status = nearest(m + U(1), q)
        if above != bits or status != GOOD:
            status = HARD
    return as_double(bits | sign), p, status
