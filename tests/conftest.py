"""Property tests draw the same examples in every run; `--hypothesis-profile=explore` draws new ones."""

import multiprocessing
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=500)
settings.load_profile("same")

OTHER = 65534 if getattr(os, "geteuid", int)() != 65534 else 65533  # a user who is not this one


@pytest.fixture
def stranger(monkeypatch):
    """Let a file or folder belong to another user: really if root runs the tests; otherwise this user is another."""

    def give(path):
        if os.geteuid() == 0:
            os.chown(path, OTHER, OTHER, follow_symlinks=False)
        else:
            monkeypatch.setattr(os, "geteuid", lambda: OTHER)

    give.user = OTHER
    return give


@pytest.fixture(scope="session")
def semaphores():
    """Skip tests of processes that share locks where the system has none."""
    try:
        multiprocessing.Lock()
    except OSError as error:
        pytest.skip(f"processes cannot share locks here, which need /dev/shm: {error}")


@pytest.fixture
def open_to_others(tmp_path):
    """Let other users pass through the folders above `tmp_path` that pytest closes."""
    closed = {path: path.stat().st_mode for path in (tmp_path, *tmp_path.parents) if not path.stat().st_mode & 0o001}
    temporary = Path(tempfile.gettempdir()).resolve()
    if not all(temporary in path.parents for path in closed):
        pytest.skip(f"other users cannot reach folders in {temporary}")
    for path, mode in closed.items():
        path.chmod(mode | 0o011)
    yield
    for path, mode in closed.items():
        path.chmod(mode)
