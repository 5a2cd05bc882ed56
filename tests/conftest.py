"""Property tests draw the same examples in every run; `--hypothesis-profile=explore` draws new ones."""

import os

import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=500)
settings.load_profile("same")

OTHER = 65534  # a user who is not this one


@pytest.fixture
def stranger(monkeypatch):
    """Let a file or folder belong to another user: really if root runs the tests; otherwise this user is another."""

    def give(path):
        if os.geteuid() == 0:
            os.chown(path, OTHER, OTHER, follow_symlinks=False)
        else:
            monkeypatch.setattr(os, "geteuid", lambda: OTHER)

    return give
