"""What is done to a whole state goes by kinds of arrays and names nothing."""

import numpy as np
import pytest

from perceptrons.core import counters
from perceptrons.learn.state import FACT, FIXED, Course, Growth, Kind, State, Totals

VARIANCE = Kind(degree=2)


def state(tail=1):
    made = State(tail=tail)
    made["w"] = np.arange(1.0, 5.0)
    made.hold("sigma", np.full(4, 2.0), VARIANCE)
    made.hold("ids", np.arange(4), FACT)
    made.hold("memory", np.array([7.0, 8.0]), FIXED)
    made.totals.sum_tau, made.totals.sq_norm, made.totals.seen = 10.0, 30.0, 3.0
    return made


def test_entries_have_the_positions_of_compiled_code():
    for kind, size in ((Totals, counters.MIXED + 1), (Course, counters.PAUSED + 1)):
        assert sorted(kind.names().values()) == list(range(size)) and len(kind().array) == size
    totals = Totals()
    totals.updates += 2
    assert totals.array[counters.UPDATES] == 2.0 == totals.updates


def test_from_two_classes_to_three_scores_differ_as_before():
    grown = state().with_classes(Growth(3, np.array([0, 2])))
    np.testing.assert_array_equal(grown["w"][:, 2] - grown["w"][:, 0], np.arange(1.0, 5.0))
    assert not grown["w"][:, 1].any() and grown["ids"].shape == (4,) and grown["memory"].tolist() == [7.0, 8.0]
    assert grown.totals.sum_tau == 5.0 and grown.totals.sq_norm == 15.0 == (grown["w"] ** 2).sum()
    more = grown.with_classes(Growth(4, np.array([0, 1, 3])))
    np.testing.assert_array_equal(more["w"][:, [0, 1, 3]], grown["w"])
    assert more.totals.sum_tau == 5.0


def test_rows_come_before_the_tail():
    wide = state().with_rows(5)
    assert wide["w"].tolist() == [1.0, 2.0, 3.0, 0.0, 0.0, 4.0] and wide["memory"].tolist() == [7.0, 8.0]
    assert wide["ids"].dtype == state()["ids"].dtype
    assert wide.with_rows(3)["w"].tolist() == state()["w"].tolist()
    assert state(tail=0).with_rows(5)["w"].tolist() == [1.0, 2.0, 3.0, 4.0, 0.0]


def test_scaling_goes_by_degree():
    scaled = state()
    scaled.scale(3.0)
    assert scaled["w"].tolist() == [3.0, 6.0, 9.0, 12.0] and scaled["sigma"].tolist() == [18.0] * 4
    assert scaled["ids"].tolist() == [0, 1, 2, 3] and scaled["memory"].tolist() == [7.0, 8.0]
    assert scaled.totals.sum_tau == 30.0 and scaled.totals.sq_norm == 270.0 and scaled.totals.seen == 3.0


@pytest.mark.parametrize("part", [slice(None), np.array([1, 3])])
def test_going_back(part):
    now = state()
    copied = now.copy(part)
    for name in now:
        now[name][part if name != "memory" else ...] = -1
    now.totals.seen = now.course.visits = 99.0
    now.put_back(copied, part)
    for name in now:
        np.testing.assert_array_equal(now[name], state()[name])
    assert now.totals.seen == 3.0 and now.course.visits == 0.0


def test_overflow_is_seen_in_hypotheses_only():
    now = state()
    now["sigma"][0] = np.inf
    assert now.is_finite()
    now["w"][2] = np.nan
    assert not now.is_finite() and now.is_finite(np.array([0, 3]))
