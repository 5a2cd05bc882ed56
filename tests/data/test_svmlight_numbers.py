"""Numbers in svmlight files: rounded as Python does, and refused beyond float64."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from svmlight_cases import LARGEST, check, read


def shaped(rng, digits, exponent):
    """digits · 10^exponent, written in one of many ways."""
    sign = rng.choice(["", "", "-", "+"])
    digits = "0" * rng.choice([0, 0, 0, 1, 25]) + digits
    if rng.random() < 0.3 and abs(exponent) < 400:  # without an exponent
        if exponent >= 0:
            return sign + digits + "0" * exponent + rng.choice(["", ".", ".000"])
        digits = digits.rjust(rng.randint(0, 1) - exponent, "0")
        return sign + digits[:exponent] + "." + digits[exponent:]
    zeros = rng.choice([0, 0, 0, 3, 40])
    digits, exponent = digits + "0" * zeros, exponent - zeros
    dot = rng.randint(0, len(digits))
    exponent += len(digits) - dot
    written = f"{rng.choice('eE')}{rng.choice(['', '+']) if exponent >= 0 else '-'}{'0' * rng.choice([0, 0, 1, 20])}"
    return sign + digits[:dot] + "." + digits[dot:] + written + str(abs(exponent))


def middle(x):
    """The middle between a number x >= 0 and the next, exactly: its digits and the power of ten that they count."""
    both = (Fraction(x) + Fraction(math.nextafter(x, math.inf))) / 2
    k = both.denominator.bit_length() - 1
    return both.numerator * 5**k, -k


def random_double(rng):
    return np.uint64(rng.randrange(0x7FEFFFFFFFFFFFFF)).view(np.float64).item()  # all exponents alike


def subnormal(rng):
    return math.ldexp(rng.randrange(2 ** rng.randint(1, 52)), -1074)


def doubles(rng):
    for _ in range(2000):
        yield repr(rng.choice([1, -1]) * random_double(rng))
        yield repr(subnormal(rng))
        yield f"{random_double(rng):.16e}"
        yield f"{rng.uniform(-1000, 1000):.{rng.randint(0, 25)}f}"


def halfway(rng):
    for n in range(800):
        x = subnormal(rng) if n % 4 == 0 else rng.uniform(0, 100) if n % 4 == 1 else random_double(rng)
        whole, exponent = middle(x)
        yield shaped(rng, str(whole), exponent)
        far = rng.choice([1, 2, 20, 300])
        yield shaped(rng, str(whole * 10**far + 1), exponent - far)
        yield shaped(rng, str(whole * 10**far - 1), exponent - far)
        keep = rng.randint(17, 40)  # digits: the rest is cut off, or rounded up
        cut = max(0, len(str(whole)) - keep)
        yield shaped(rng, str(whole // 10**cut), exponent + cut)
        yield shaped(rng, str(whole // 10**cut + 1), exponent + cut)


def short_ties(rng):
    """Middles of at most 19 digits: an odd number of 54 bits is w·5^q, or is w / 5^q times a power of two."""
    for _ in range(200):
        for q in range(23):
            bits = 54 - (5**q).bit_length()
            w = rng.randrange(2**bits, 2 ** (bits + 1)) | 1
            yield shaped(rng, str(w + rng.choice([0, 0, -1, 1])), q)
        for q in range(5):
            w = (rng.randrange(2**53, 2**54) | 1) * 5**q
            yield shaped(rng, str(w + rng.choice([0, 0, -1, 1])), -q)


def long_digits(rng):
    for n in range(1, 801):
        digits = "".join(rng.choices("0123456789", k=n))
        yield shaped(rng, digits, rng.randint(-340 - n, 308 - n))
        yield shaped(rng, digits, -rng.randint(max(0, n - 300), n))
        yield shaped(rng, rng.choice("09") * n + rng.choice("0123456789"), -rng.randint(max(0, n - 300), n))


def integers(rng):
    for n in range(1, 31):
        for _ in range(40):
            yield rng.choice(["", "-", "+", "00"]) + "".join(rng.choices("0123456789", k=n))
        for delta in range(-3, 4):
            yield str(10**n + delta)
    for n in range(0, 130):
        for delta in range(-3, 4):
            yield str(2**n + delta)


def edges(rng):
    """Zeros, the smallest and the largest numbers, and exponents of any length."""
    yield from ["0", "-0", "+0", "0.", ".0", "-.0", "00", "-00.00", "0e5", "-0e-5", "0e400", f"0e{10**20}"]
    yield from ["1e-400", "-1e-400", f"1e-{10**20}", f"1e-{2**32}", "1e+00000000000000000003", "1E-0000000000000003"]
    yield from ["1.", ".5", "5.e1", "0.1e1", "1e22", "1e23", "8.5e-323", "1.7976931348623157e308"]
    yield from ["9007199254740993", "9007199254740992.99999", "9223372036854775808", "18446744073709551616"]
    yield "0." + "0" * 30000 + "1e30001"
    yield "1" + "0" * 30000 + "e-30000"
    for x in (0.0, 5e-324, 2.2250738585072009e-308, 2.2250738585072014e-308):
        digits, exponent = middle(x)
        for more in (-1, 0, 1):
            for far in (1, 50):
                yield shaped(rng, str(digits * 10**far + more), exponent - far)


@pytest.mark.parametrize("family", [doubles, halfway, short_ties, long_digits, integers, edges])
def test_numbers_are_those_that_python_reads(path, family):
    tokens = list(family(random.Random(0)))
    assert all(math.isfinite(float(token)) for token in tokens)
    # The label has no squared length, and may be as large as it likes.
    lines = [f"{token} 5:{token}" if abs(float(token)) < 1e150 else token for token in tokens]
    data = "\n".join(lines).encode()
    path.write_bytes(data)
    batches, error = read([path])
    assert error is None
    y = np.concatenate([batch.y for batch in batches])
    assert [token for token, x in zip(tokens, y.tolist(), strict=True) if repr(x) != repr(float(token))] == []
    check(path, data)


@settings(max_examples=200)
@given(st.floats(allow_nan=False, allow_infinity=False), st.floats(-1e150, 1e150))
def test_doubles_come_back_from_their_repr(path, label, value):
    path.write_text(f"{label!r} 0:{value!r}\n")
    [batch], _ = read([path])
    assert batch.y.tobytes() == np.float64(label).tobytes()
    assert batch.rows.values.tobytes() == np.float64(value).tobytes()


@pytest.mark.parametrize("token", [f"{LARGEST}", f"-{LARGEST}.0", "1e309", "-1e99999999999999999999", "9" * 310])
@pytest.mark.parametrize(("line", "column"), [("{}", 1), ("  {} 1:1", 3), ("1 4:{}", 3), ("1\t 4:{} 5:1\n", 4)])
def test_a_number_too_large_is_an_error(path, token, line, column):
    path.write_text("1 2:3\n" + line.format(token))
    assert read([path])[1].startswith(f"{path}:2:{column}: ")


def test_just_below_that_is_the_largest_double(path):
    path.write_text(f"{LARGEST - 1}\n-{LARGEST - 1}.{'9' * 900}")
    [batch], _ = read([path])
    assert batch.y.tolist() == [np.finfo(float).max, -np.finfo(float).max]


def test_squared_lengths(path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 7)) * 10.0 ** rng.integers(-5, 5, size=(200, 1))
    path.write_text("\n".join("1 " + " ".join(f"{j}:{x!r}" for j, x in enumerate(row)) for row in X.tolist()))
    batches, _ = read([path], block=500)
    got = np.concatenate([batch.rows.sq_norm for batch in batches])
    assert np.allclose(got, [math.fsum(x * x for x in row) for row in X.tolist()], rtol=1e-14, atol=0)


@pytest.mark.parametrize("line", ["1 1:1e155", "-1 1:-1e154 2:1e154 3:1", "1 1:3 5:1e300 # long"])
def test_a_squared_length_that_overflows_is_an_error(path, line):
    path.write_text(f"1 1:1e153\n{line}\n1 1:1")
    batches, error = read([path])
    assert not batches and error.startswith(f"{path}:2:1: ") and "squared length" in error
    assert read([path], n_features=1)[1] is None  # of columns that are left out nothing is known
