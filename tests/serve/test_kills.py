"""A server that is killed, or whose files are damaged, loses nothing silently that it has acknowledged."""

import os

import pytest

pytest.importorskip("msgspec", reason="the server needs the extra 'serve'")
pytest.importorskip("uvicorn", reason="the server needs the extra 'serve'")

from flips import Flips
from forks import Forks
from injected import KEEPS, OPERATIONS, Faults, spread
from killing import Rounds
from unchanged import KINDS, Run

pytestmark = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="this system has no fork, so servers cannot be started fast enough"
)

ROUNDS, STOPS, BITS, REQUESTS = 20, 40, 150, 20 * len(KINDS)


def test_nothing_acknowledged_is_lost_or_learned_twice(tmp_path):
    forks = Forks(tmp_path)
    try:
        rounds = Rounds(forks, seed=0)
        for _ in range(ROUNDS):
            rounds.round()
        assert rounds.n_acknowledged > 10 * ROUNDS
        forks.kill()
    finally:
        forks.close()


def test_a_server_may_stop_at_any_write(tmp_path):
    """Kill -9 before or after it, or Ctrl-C twice during it."""
    faults = Faults(tmp_path)
    try:
        cases = faults.cases()
        assert len(faults.writes) == len(OPERATIONS) * len(KEEPS) and min(faults.writes.values()) > 10
        trims = [case for case in cases if case[:2] == ("snapshot", 0) and case[3] == "interrupted twice"]
        for case in [*trims[:20:4], *spread(cases, STOPS)]:  # once, the first of these lost all examples
            faults.run(*case)
    finally:
        faults.close()


def test_no_flipped_bit_is_silent(tmp_path):
    """It has no effect, or is reported; other models go on."""
    flips = Flips(tmp_path)
    try:
        flips.run(BITS)
        assert flips.found == []
        assert sum(flips.n.values()) == BITS and min(flips.n.values()) > BITS / 10, flips.n
    finally:
        flips.close()


def test_an_error_answer_changes_neither_the_model_nor_its_log(tmp_path):
    forks = Forks(tmp_path)
    try:
        run = Run(forks)
        run.all(REQUESTS)
        assert run.found == []
        assert run.n_requests == REQUESTS and run.n_errors > REQUESTS / 4
    finally:
        forks.close()
