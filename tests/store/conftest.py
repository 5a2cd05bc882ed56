"""Small data and models that the tests of model files share."""

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons import Perceptron


@pytest.fixture(scope="session")
def data():
    """Rows with many zeros and numbers of two or three noisy classes."""
    random = np.random.default_rng(7)
    X = random.normal(size=(60, 5)) * (random.random((60, 5)) < 0.7)
    scores = X[:, :3] + 0.4 * random.normal(size=(60, 3))
    return X, (scores[:, 0] > 0).astype(int), scores.argmax(axis=1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "m.perceptron"


@pytest.fixture(scope="session")
def small(data):
    """A model that makes a small file."""
    X, two, _ = data
    return Perceptron(rule="pa1", readout="last", max_iter=2).fit(X, np.array(["ham", "spam"])[two])


@pytest.fixture(scope="session")
def csr():
    return sp.csr_array
