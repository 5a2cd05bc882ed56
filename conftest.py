"""Tests, and examples in docstrings, keep their copies of rows in a folder of their own, not of whoever runs them."""

import importlib.util
import multiprocessing
import os
import signal

import pytest

# Shells without job control let what they start in the background ignore Ctrl-C, and so would all that tests start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# River and Dask are optional. Without them, parts of the package cannot be imported, so examples there do not run.
OPTIONAL = {"river": "src/perceptrons/river", "distributed": "src/perceptrons/dask"}
# Files that Sphinx runs, and pages that it writes, are not tests. The page on adding has a test of its own.
collect_ignore_glob = ["docs/*.py", "docs/_*", "docs/gallery", "docs/pictures", "docs/reference/*/*"]
collect_ignore = ["docs/inside/adding.md"]
collect_ignore += [folder for package, folder in OPTIONAL.items() if not importlib.util.find_spec(package)]

try:
    multiprocessing.Lock()
except OSError:  # as without /dev/shm; in processes that tests start, joblib would warn
    os.environ["JOBLIB_MULTIPROCESSING"] = "0"


@pytest.fixture(scope="session", autouse=True)
def cache_home(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield
