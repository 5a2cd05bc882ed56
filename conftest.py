"""Tests, and examples in docstrings, keep their copies of rows in a folder of their own, not of whoever runs them."""

import importlib.util

import pytest

# River is optional. Without it, `perceptrons.river` cannot be imported, so its examples do not run.
collect_ignore = [] if importlib.util.find_spec("river") else ["src/perceptrons/river"]


@pytest.fixture(scope="session", autouse=True)
def cache_home(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield
