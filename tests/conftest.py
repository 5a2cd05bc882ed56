"""Property tests draw the same examples in every run; `--hypothesis-profile=explore` draws new ones.

Copies of rows are kept in a folder of the tests, not of whoever runs them.
"""

import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, max_examples=500)
settings.load_profile("same")


@pytest.fixture(scope="session", autouse=True)
def cache_home(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield
