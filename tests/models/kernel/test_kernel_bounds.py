"""Lengths, radii and bounds of kernel perceptrons where a slip may go unnoticed: pieces, late classes, warm starts."""

from dataclasses import replace

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_cases import LINEAR
from naive_kernel import NaiveKernel, kernel
from training_cases import textbook, textbook_kernel

from perceptrons.theory import CertificateError, separability


@pytest.mark.parametrize("readout", ["last", "averaged", "pocket"])
def test_windows_beside_a_table_with_few_columns(readout):
    random = np.random.default_rng(0)
    X = random.integers(-3, 4, size=(5000, 4)).astype(float)
    y = (X @ [1.0, 2.0, -1.0, 3.0] + 4 * random.normal(size=5000) > 0).astype(int)
    primal = textbook(readout=readout, max_iter=3).fit(X, y)
    for memory in (0, 2**24 + 2**22, 2**25, 2**30):
        ours = textbook_kernel(**LINEAR, readout=readout, max_iter=3, max_memory=memory).fit(X, y)
        np.testing.assert_array_equal(ours.mistakes_, primal.mistakes_)
        np.testing.assert_allclose(ours.decision_function(X[:99]), primal.decision_function(X[:99]), 1e-9, 1e-9)


def test_the_bound_of_a_support_in_several_pieces():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(300, 3)), random.integers(2, size=300)
    ours, primal = textbook_kernel(**LINEAR), textbook()
    for part, kind in ((slice(0, 150), np.asarray), (slice(150, 240), sp.csr_array), (slice(240, 300), np.asarray)):
        ours.partial_fit(kind(X[part]), y[part])
        primal.partial_fit(X[part], y[part])
    np.testing.assert_allclose(ours.margin_bound_, primal.margin_bound_, rtol=1e-6)


def test_the_bound_after_a_third_class():
    random = np.random.default_rng(0)
    X, y = random.integers(-3, 4, size=(60, 3)).astype(float), np.arange(60) % 3
    ours, primal = textbook_kernel(**LINEAR), textbook()
    for model in (ours, primal):
        model.partial_fit(X[y < 2], y[y < 2]).partial_fit(X[y > 0][:7], y[y > 0][:7])
    np.testing.assert_allclose(ours.margin_bound_, primal.margin_bound_, rtol=1e-9)
    for learner in (ours._learner, ours.normalized()._learner):  # ‖w‖² as it was added up, step by step
        np.testing.assert_allclose(learner.totals.sq_norm, learner.sq_length(learner.current)[0], rtol=1e-9)


def test_rows_of_weight_0_have_no_length():
    X, y = np.array([[1.0, 0.1], [1.0, -0.1], [1e5, 1e5]]), [1, 0, 0]
    assert textbook_kernel(**LINEAR, tol=1e-2).fit(X, y, [1, 1, 0]).converged_


def test_a_warm_start_forgets_the_longest_row():
    settings = {**LINEAR, "tol": 1e-2, "warm_start": True, "fit_intercept": False}
    model = textbook_kernel(**settings).fit([[1e4, 0.0], [-1e4, 1.0]], [1, 0])
    model.fit([[0.0, 1.0], [0.3, -1.0], [0.3, 1.0]], [1, 0, 1])
    assert model.converged_ and model._learner.radius < 10


def test_the_length_of_a_row_has_the_constant_also_where_a_kernel_is_negative():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(30, 2)), np.arange(30) % 2
    shape = {"gamma": 0.1, "coef0": -0.5}
    model = textbook_kernel(kernel="sigmoid", **shape, rule="pa1", shuffle=False, max_iter=1).fit(X, y)
    coef = NaiveKernel("pa1").fit(kernel("sigmoid", X, X, **shape), y, 1).last()[0, :-1]
    np.testing.assert_allclose(np.sort(np.abs(model.dual_coef_[0])), np.sort(np.abs(coef[coef != 0])), rtol=1e-9)


def test_the_error_of_kernel_values_grows_with_the_features():
    for d in (1, 10, 1000):
        X = np.outer([1, 2, 3, 4], np.ones(d))
        for name in ("linear", "rbf", "poly", "cosine", "laplacian"):
            model = textbook_kernel(kernel=name, gamma=1.0, degree=1, max_iter=1).fit(X, [0, 1, 0, 1])
            assert model.kernel_error(X[:1]) >= (d + 1) * np.finfo(float).eps / 2
            _, error = model._learner.sq_length(model._learner.current)
            assert error >= model.kernel_error(model.support_vectors_) * np.abs(model.dual_coef_).sum() ** 2


def test_certificates_count_the_errors_of_the_matrix():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(9, 3)), np.arange(9) % 3
    K = np.exp(-((X[:, np.newaxis] - X) ** 2).sum(axis=2))
    found = separability(K=K, y=y, K_error=1e-3)
    assert found.check(K, y)
    with pytest.raises(CertificateError, match="R ="):
        replace(found, radius=float(np.sqrt(K.diagonal().max()))).check(K, y)
    # A margin from which only the errors of one class at a time are taken off.
    coef, sizes = found.dual_coef, np.abs(found.dual_coef).sum(axis=1)
    scores = coef @ K + found.intercept[:, np.newaxis]
    least = min(scores[c, i] - np.delete(scores[:, i], c).max() for i, c in enumerate(y))
    length = np.sqrt(np.trace(coef @ K @ coef.T) + 1e-3 * (sizes**2).sum())
    wrong = (least - 1e-3 * sizes.max()) / length * (1 - 1e-9)
    assert wrong > found.margin_bounds[0]
    with pytest.raises(CertificateError, match="margin"):
        replace(found, margin=wrong, margin_bounds=(wrong, found.margin_bounds[1])).check(K, y)


def test_a_normalized_budget_goes_on():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 2)), random.integers(2, size=200)
    unit = textbook_kernel(gamma=1.0, budget=20, policy="random").partial_fit(X[:100], y[:100]).normalized()
    scores = unit.decision_function(X)
    unit.partial_fit(X[100:101], y[100:101], sample_weight=[0.0])  # which changes nothing
    np.testing.assert_allclose(unit.decision_function(X), scores, rtol=1e-9)
