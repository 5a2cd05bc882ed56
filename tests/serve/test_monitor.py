"""The watch over mistakes: ADWIN against its slow twin, the exact window against a deque, and what both promise."""

import json
from collections import deque

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_drift import Adwin

from perceptrons.core.drift import DRIFTED, FALLS, RISES, ROSE
from perceptrons.serve.model.monitor import Monitor


def stream(*parts, seed=0):
    """Random bits; a part is (number of bits, rate of ones)."""
    random = np.random.default_rng(seed)
    return np.concatenate([random.random(n) < rate for n, rate in parts]).astype(np.uint8)


def pieces(bits, random, longest=150):
    """Cut bits at random; some pieces are empty."""
    while bits.size:
        n = int(random.integers(0, longest + 1))
        yield bits[:n]
        bits = bits[n:]


def facts(monitor):
    names = ("rises", "falls", "rose", "drifts", "drifted")
    state = monitor.state()
    return (monitor.adapted_seen, round(monitor.adapted_seen * (monitor.adapted_rate or 0)), *(state[n] for n in names))


def twin_facts(twin):
    return twin.length, twin.ones, twin.rises, twin.falls, twin.rose, twin.drifts, twin.drifted


STREAMS = {
    "still": [(2500, 0.2)],
    "jump": [(1000, 0.05), (1000, 0.4)],
    "fall": [(1000, 0.5), (1000, 0.1)],
    "both ways": [(500, 0.1), (300, 0.5), (600, 0.02), (400, 0.9), (100, 0.0), (600, 0.3)],
    "slow": [(100, 0.05 * i) for i in range(20)],
    "constant": [(300, 0.0), (300, 1.0), (300, 0.0)],
}


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("delta", [0.002, 0.3])
def test_equals_the_twin_after_every_call(name, delta):
    for seed in range(3):
        bits, random = stream(*STREAMS[name], seed=seed), np.random.default_rng(seed)
        monitor, twin = Monitor(delta=delta), Adwin(delta)
        for piece in pieces(bits, random):
            monitor.add(piece, 0)
            for bit in piece.tolist():
                twin.add(bit)
            assert facts(monitor) == twin_facts(twin)
            in_order = [ones for line in reversed(monitor.state()["buckets"]) for ones in line]
            assert in_order == [ones for _, ones in twin.buckets]
        assert twin.seen == bits.size


def test_the_streams_of_the_twin_cover_every_outcome():
    totals = np.zeros(10, dtype=int)
    for parts in STREAMS.values():
        monitor = Monitor()
        monitor.add(stream(*parts), 0)
        totals += monitor._totals
    assert all(totals[[RISES, FALLS, ROSE, DRIFTED]] > 0)
    assert totals[RISES] > 10


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.sampled_from(sorted(STREAMS)), st.integers(1, 400))
def test_calls_do_not_matter(seed, name, longest):
    bits, random = stream(*STREAMS[name], seed=seed), np.random.default_rng(seed)
    whole, cut = Monitor(window=77), Monitor(window=77)
    whole.add(bits, 5)
    for piece in pieces(bits, random, longest):
        cut.add(piece, 5)
    assert whole.state() == cut.state()


def test_bytes_bytearrays_and_arrays_are_the_same():
    bits = stream(*STREAMS["jump"])
    states = []
    for kind in (bits, bytes(bits), bytearray(bits), np.repeat(bits, 2)[::2]):
        monitor = Monitor()
        monitor.add(kind, 3)
        states.append(monitor.state())
    assert states[0] == states[1] == states[2] == states[3]
    with pytest.raises(TypeError, match="array of uint8, got an array of int64"):
        Monitor().add(bits.astype(np.int64), 3)


# -- what it notices ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_notices_a_jump_once_and_soon(seed):
    """0.05 → 0.4: one drift within 200 examples, at the position of the call that found it."""
    monitor, found, bits = Monitor(), [], stream((2000, 0.05), (1000, 0.4), seed=seed)
    for position, start in enumerate(range(0, 3000, 10)):
        monitor.add(bits[start : start + 10], position)
        if monitor.n_drifts > len(found):
            found.append((start, position))
    [(start, position)] = found
    assert 2000 < start <= 2200
    assert monitor.drift_at == position
    assert 900 <= monitor.adapted_seen <= 1200
    assert monitor.adapted_rate == pytest.approx(0.4, abs=0.06)


def test_notices_every_jump():
    monitor, drifts = Monitor(), []
    for rate in (0.05, 0.4, 0.05, 0.4, 0.8):
        monitor.add(stream((1500, rate), seed=int(100 * rate)), 0)
        drifts.append(monitor.n_drifts)
    assert drifts == [0, 1, 1, 2, 3]


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.3, 0.5])
def test_few_false_alarms(rate):
    """No theorem covers this: δ = 0.002 a check leaves at most one alarm in 20 streams of 5,000 bits."""
    monitors = [Monitor() for _ in range(20)]
    for seed, monitor in enumerate(monitors):
        monitor.add(stream((5000, rate), seed=seed), 0)
    assert sum(monitor.n_drifts for monitor in monitors) <= 1
    assert sum(monitor.adapted_seen == 5000 for monitor in monitors) >= 17  # no other cut either


@pytest.mark.parametrize("seed", range(10))
def test_a_falling_rate_is_no_drift(seed):
    monitor = Monitor()
    monitor.add(stream((2000, 0.4), (1000, 0.05), seed=seed), 9)
    assert monitor.n_drifts == 0
    assert monitor.drift_at is None
    assert monitor.state()["falls"] > 0
    assert monitor.adapted_rate < 0.1


def test_constant_streams():
    for bit, rate in ((b"\0", 0.0), (b"\1", 1.0), (b"\xff", 1.0)):  # anything but 0 is a mistake
        monitor = Monitor()
        monitor.add(bit * 3000, 1)
        assert (monitor.rate, monitor.adapted_rate, monitor.adapted_seen) == (rate, rate, 3000)
        assert monitor.n_drifts == 0


# -- the exact window ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("window", [1, 7, 32, 500, 10_000])
def test_recent_equals_a_deque(window):
    bits, random = stream((1500, 0.3), (500, 0.9), seed=window), np.random.default_rng(window)
    monitor, twin, mistakes = Monitor(window), deque(maxlen=window), 0
    for piece in pieces(bits, random):
        monitor.add(piece, 0)
        twin.extend(piece.tolist())
        mistakes += int(piece.sum())
        assert (monitor.recent, monitor.recent_seen, monitor.mistakes) == (sum(twin), len(twin), mistakes)
        assert monitor.rate == (sum(twin) / len(twin) if twin else None)
    assert monitor.seen == bits.size


def test_before_the_first_example():
    monitor = Monitor()
    monitor.add(b"", 4)
    assert (monitor.seen, monitor.recent_seen, monitor.adapted_seen, monitor.n_drifts) == (0, 0, 0, 0)
    assert monitor.rate is monitor.adapted_rate is monitor.drift_at is None


@pytest.mark.parametrize("options", [{"window": 0}, {"window": 10**9}, {"delta": 0}, {"delta": 1}, {"delta": np.nan}])
def test_parameters(options):
    (name,) = options
    with pytest.raises(ValueError, match=f"{name} must be"):
        Monitor(**options)


# -- state --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("window", [1, 13, 1000, 5000])
@pytest.mark.parametrize("stop", [0, 5, 31, 1200, 2100])
def test_restored_continues_the_same(window, stop):
    bits = stream(*STREAMS["both ways"])
    monitor = Monitor(window, 0.01)
    monitor.add(bits[:stop], 100)
    state = json.loads(json.dumps(monitor.state()))
    restored = Monitor.restored(state)
    assert restored.state() == monitor.state() == state
    for other in (monitor, restored):
        other.add(bits[stop:], 200)
    assert restored.state() == monitor.state()
    assert (restored.recent, restored.adapted_seen) == (monitor.recent, monitor.adapted_seen)
    assert monitor.n_drifts > 0


WRONG = {
    "window": [0, -1, 1.5, True, "9", None, 10**30],
    "delta": [0.0, 1.0, 2, "0.1", None, float("nan")],
    "seen": [-1, 2**63, 1.0, 0, 999, None],
    "mistakes": [-1, 0, 10**6, "1"],
    "rises": [0, 10**6, None],
    "falls": [10**6, -1],
    "rose": [0, 10**6],
    "drifts": [0, 10**6, []],
    "drifted": [10**6, 1.0],
    "drift_at": [None, -1, "3", False],
    "latest": ["", "*", "AAAA", None, 3, "é", b"AA"],
    "buckets": [[], None, {}, [[]], [[2]], [[0, 0, 0, 0, 0, 0]], [[0.5]], [[True]], [3], [[0]] * 64, [[1]] * 40],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in WRONG for value in WRONG[name]])
def test_malformed_states(name, value):
    monitor = Monitor()
    monitor.add(stream(*STREAMS["jump"]), 7)
    state = monitor.state()
    assert set(state) == set(WRONG)
    with pytest.raises(ValueError, match=r"state of a monitor: |window must be|delta must be"):
        Monitor.restored({**state, name: value})


def test_states_that_are_incomplete_or_something_else():
    state = Monitor().state()
    for wrong, message in (
        (None, "expected a dict, got NoneType"),
        ([], "expected a dict"),
        ({}, "missing or unknown"),
    ):
        with pytest.raises(ValueError, match=message):
            Monitor.restored(wrong)
    with pytest.raises(ValueError, match="missing or unknown entries: 'more', 'seen'"):
        Monitor.restored({**{k: v for k, v in state.items() if k != "seen"}, "more": 1})
