"""A server that is killed at random moments loses nothing that it has acknowledged, and learns nothing twice."""

import os

import pytest

pytest.importorskip("msgspec", reason="the server needs the extra 'serve'")
pytest.importorskip("uvicorn", reason="the server needs the extra 'serve'")

from forks import Forks
from killing import Rounds

ROUNDS = 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork, so servers cannot be started fast enough")
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
