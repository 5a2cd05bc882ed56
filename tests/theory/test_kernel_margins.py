"""Margins by models of a kernel's feature space."""

from math import sqrt

import numpy as np
import pytest
from kernel_theory_cases import gaussian
from sklearn.base import BaseEstimator

from perceptrons.theory import margins, separability


class Model(BaseEstimator):
    """A fitted model of a feature space."""

    def __init__(self, K, A, b, classes):
        self.A, self.b, self.classes_, self.K = np.atleast_2d(A), np.atleast_1d(b), np.array(classes), K

    def fit(self, X, y):
        return self

    def __sklearn_is_fitted__(self):
        return self.K is not None

    @property
    def dual_coef_(self):
        return self.A

    def decision_function(self, X):
        scores = X @ self.A.T + self.b
        return scores[:, 0] if len(self.A) == 1 else scores

    def feature_space_norm(self):
        return sqrt(sum(a @ self.K @ a for a in self.A))


class Voted(Model):
    @property
    def dual_coef_(self):
        raise AttributeError("votes")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_margins_by_a_model_of_a_feature_space(n_classes):
    K, y = gaussian(30, n_classes)
    names = np.array(["a", "b", "c"])
    result = separability(K=K, y=y)
    model = Model(K, result.dual_coef, result.intercept, names[:n_classes])
    found = margins(K, names[y], model)
    assert found.min() == pytest.approx(result.margin, rel=1e-9)
    assert found[result.support] == pytest.approx(result.margin, rel=1e-6)
    Phi = np.linalg.cholesky(K)
    np.testing.assert_allclose(found, margins(Phi, y, result.dual_coef @ Phi, result.intercept), rtol=1e-6)
    doubled = Model(K, 2 * result.dual_coef, 2 * np.array(result.intercept), names[:n_classes])
    np.testing.assert_allclose(margins(K, names[y], doubled), found, rtol=1e-12)


def test_models_without_one_hypothesis_have_no_margins():
    K, y = gaussian(10)
    with pytest.raises(ValueError, match="voted models combine many"):
        margins(K, y, Voted(K, np.ones(10), 0.0, [0, 1]))
    with pytest.raises(ValueError, match="not all zero"):
        margins(K, y, Model(K, np.zeros(10), 0.0, [0, 1]))
    with pytest.raises(ValueError, match="not fitted"):
        margins(K, y, Model(None, np.ones(10), 0.0, [0, 1]))
    with pytest.raises(ValueError, match="not one of the classes"):
        margins(K, y + 1, Model(K, np.ones(10), 0.0, [0, 1]))
