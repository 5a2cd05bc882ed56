"""Where the tests of sources write their files; a module may have its own place."""

import pytest


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    return tmp_path_factory.mktemp("svmlight") / "train.svm"
