"""What a fitted kernel perceptron says: kernel values and their errors, lengths, progress; and interruptions."""

import warnings
from functools import partial

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_cases import rings
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import pairwise_kernels, rbf_kernel
from sklearn.svm import SVC
from training_cases import textbook_kernel

from perceptrons import Perceptron
from perceptrons.learn.learner import at_most
from perceptrons.theory import margins, separability

# Each kernel in extended precision, from two rows and γ.
TRUTH = {
    "linear": lambda x, z, g: (x * z).sum(),
    "poly": lambda x, z, g: (g * (x * z).sum() + 1) ** 3,
    "rbf": lambda x, z, g: np.exp(-g * ((x - z) ** 2).sum()),
    "laplacian": lambda x, z, g: np.exp(-g * np.abs(x - z).sum()),
    "cosine": lambda x, z, g: (x * z).sum() / np.sqrt((x * x).sum() * (z * z).sum()),
}


@pytest.mark.parametrize("kernel", TRUTH)
@pytest.mark.parametrize("offset", [0.0, 30.0])
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_errors_of_kernel_values_are_within_their_bound(kernel, offset, layout):
    random = np.random.default_rng(0)
    X = random.normal(size=(30, 6)) + offset
    model = textbook_kernel(kernel=kernel, gamma=0.3, coef0=1.0, max_iter=1).fit(layout(X), np.arange(30) % 2)
    K, error = model.kernel_matrix(layout(X)), model.kernel_error(layout(X))
    wide, gamma = X.astype(np.longdouble), np.longdouble(model.gamma_)
    truth = np.array([[TRUTH[kernel](x, z, gamma) for z in wide] for x in wide])
    assert np.abs(K - truth).max() <= error
    assert error <= 1e-10 * max(1.0, np.abs(K).max())  # it is not empty words
    settings = {} if kernel in ("linear", "cosine") else {"gamma": 0.3}
    settings |= {"coef0": 1.0, "degree": 3} if kernel == "poly" else {}
    np.testing.assert_allclose(K, pairwise_kernels(X, metric=kernel, **settings), rtol=1e-9, atol=1e-12)


def test_gamma_is_that_of_svc():
    X, y = rings(60)
    for gamma in ("scale", "auto", 0.7):
        assert textbook_kernel(gamma=gamma, max_iter=1).fit(X, y).gamma_ == pytest.approx(
            SVC(gamma=gamma).fit(X, y)._gamma
        )
    precomputed = textbook_kernel(kernel="precomputed", max_iter=1).fit(rbf_kernel(X), y)
    with pytest.raises(ValueError, match="precomputed"):
        precomputed.kernel_matrix(X)


@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_kernel_matrices_see_copies_of_rows(layout):
    """rbf_kernel's values for copies differ in the last bit, by which a contradiction would be separated."""
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 5))
    X[30:] = X[:10]
    y = np.arange(40) % 2
    y[30] = 1 - y[0]
    model = textbook_kernel(gamma=0.4, max_iter=1).fit(layout(X), y)
    K = model.kernel_matrix(layout(X))
    np.testing.assert_array_equal(K, K.T)
    np.testing.assert_array_equal(K[30:], K[:10])
    np.testing.assert_allclose(K, model.kernel_matrix(layout(X), layout(X)), rtol=1e-12)
    verdict = separability(K=K, y=y)
    assert verdict.separable is False and set(verdict.support) == {0, 30}
    y[30] = y[0]
    assert separability(K=K[:31, :31], y=y[:31], K_error=model.kernel_error(X)).separable


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_lengths_in_feature_space(kernel, n_classes):
    X, y = rings(80, gap=-0.2)
    y = y + (n_classes - 2) * (X[:, 0] > 0) * y
    K = rbf_kernel(X, gamma=1.0)
    rows = X if kernel == "rbf" else K
    model = textbook_kernel(kernel=kernel, gamma=1.0, max_iter=3).fit(rows, y)
    alpha, among = model.dual_coef_, K[np.ix_(model.support_, model.support_)]
    assert model.feature_space_norm() == pytest.approx(np.sqrt(np.trace(alpha @ among @ alpha.T)))
    unit = model.normalized()
    assert unit.feature_space_norm() == pytest.approx(1)
    np.testing.assert_array_equal(unit.predict(rows), model.predict(rows))
    if kernel == "rbf":  # margins are distances in feature space
        scores = unit.decision_function(X)
        if n_classes == 2:
            expected = np.where(y == 1, scores, -scores)
        else:
            expected = [row[c] - np.delete(row, c).max() for row, c in zip(scores, y, strict=True)]
        np.testing.assert_allclose(margins(X, y, model), expected)


def test_a_hypothesis_of_zeros_has_no_length():
    model = textbook_kernel().partial_fit([[0.0, 1.0]], [1], classes=[0, 1])
    empty = textbook_kernel().partial_fit([[0.0, 1.0]], ["only"])
    assert model.feature_space_norm() == pytest.approx(1)
    with pytest.raises(ValueError, match="there is no boundary"):
        empty.normalized()
    with pytest.raises(AttributeError, match="projectron"):
        _ = model.projection_error_


def test_verbose_says_what_is_kept_and_what_it_cost(capsys):
    X, y = rings(5000, gap=-0.3)
    textbook_kernel(gamma=1.0, max_iter=2, verbose=2, max_memory=2**25).fit(X, y)
    plan, first, second = capsys.readouterr().out.splitlines()
    assert "5,000 rows" in plan and "windows" in plan and "MiB" in plan
    assert "pass 1" in first and "support rows" in first and "columns computed" in second
    textbook_kernel(gamma=1.0, max_iter=2, verbose=2, budget=10).fit(X, y)
    assert "at most 10 rows" in capsys.readouterr().out


class Interrupting:
    """A kernel during whose n-th call the user presses Ctrl-C."""

    def __init__(self, calls):
        self.calls = calls

    def __call__(self, X, Y):
        self.calls -= 1
        if self.calls == 0:
            raise KeyboardInterrupt
        return rbf_kernel(X, Y, gamma=1.0)


@pytest.mark.parametrize("n", [300, 5000])  # one table, and windows
@pytest.mark.parametrize("budget", [None, 20])
def test_interrupting_leaves_a_usable_model(n, budget):
    X, y = rings(n, gap=-0.3)
    before = -(-n // 64)  # calls for the lengths of rows
    finished = 0
    for calls in (before + 1, before + 4, before + 15):
        model = textbook_kernel(kernel=Interrupting(calls), budget=budget, policy="random")
        with pytest.raises(KeyboardInterrupt):
            model.fit(X, y)
        model.kernel.calls = -1
        assert model.predict(X[:10]).shape == (10,)
        np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
        if budget is None:  # every step that is counted is in the coefficients
            assert np.abs(model.dual_coef_).sum() == model.n_updates_ >= model.n_mistakes_
        finished = max(finished, model.n_updates_)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert model.partial_fit(X[:50], y[:50]).n_seen_ >= 50
    assert finished > 0


def test_interrupted_streams_keep_what_was_learned():
    X, y = rings(200, gap=-0.3)
    model = textbook_kernel(kernel=Interrupting(-1)).partial_fit(X[:100], y[:100])
    seen = model.n_seen_
    model.kernel.calls = 5
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(X[100:], y[100:])
    assert seen <= model.n_seen_ <= 200 and np.abs(model.dual_coef_).sum() == model.n_updates_
    model.kernel.calls = -1
    assert model.predict(X).shape == (200,)


# -- what users bring ---------------------------------------------------------------------------------------------


def test_a_kernel_that_is_no_inner_product_is_found_out():
    """Rounded inner products are indefinite: nothing is proved by them, and training ends all the same."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(200, 3)), random.integers(2, size=200)
    K = (X @ X.T).round()
    K[np.diag_indices(200)] = np.abs(np.diagonal(K))
    with pytest.warns(ConvergenceWarning, match="nothing is proved"):
        model = textbook_kernel(kernel="precomputed").fit(K, y)
    assert model.margin_bound_ == np.inf
    with pytest.raises(ValueError, match="not positive semi-definite"):
        textbook_kernel(kernel="sigmoid", max_iter=1).fit(X, y).feature_space_norm()


@pytest.mark.parametrize("kind", [sp.csr_matrix, sp.csr_array, np.asarray])
def test_scikit_learns_functions_are_kernels(kind):
    X, y = rings(60)
    named = textbook_kernel(gamma=1.0).fit(kind(X), y)
    for function in (partial(rbf_kernel, gamma=1.0), partial(pairwise_kernels, metric="rbf", gamma=1.0)):
        model = textbook_kernel(kernel=function, warm_start=True).fit(kind(X), y)
        np.testing.assert_array_equal(model.support_, named.support_)
        assert model.fit(kind(X), y).converged_  # it is the same function in the second fit
    with pytest.raises(ValueError, match="matrices of rows"):
        textbook_kernel(kernel=lambda x, z: x @ z).fit(X, y)


def test_kernel_matrices_must_be_symmetric():
    X, y = rings(40)
    K = rbf_kernel(X)
    K[3, 7] += 0.1
    with pytest.raises(ValueError, match=r"symmetric, got .* at row 3, column 7"):
        textbook_kernel(kernel="precomputed").fit(K, y)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_powers_beyond_single_precision(kind):
    """(x·x′)^8 leaves the range of float32 long before that of float64."""
    X, y = rings(60)
    model = textbook_kernel(kernel="poly", degree=8, gamma=1.0, coef0=1.0, max_iter=3).fit((X * 1e3).astype(kind), y)
    assert np.isfinite(model.decision_function((X * 1e8).astype(kind))).all()
    with pytest.raises(ValueError, match="overflow"):
        model.decision_function((X * 1e18).astype(kind) * kind(1e18))


@pytest.mark.parametrize("offset", [1e4, 1e7, 1e8])
def test_scale_does_not_cancel(offset):
    X, y = rings(60)
    for rows in (X + offset, sp.csr_array(X + offset)):
        model = textbook_kernel(kernel="linear", max_iter=1).fit(rows, y)
        assert model.gamma_ == pytest.approx(1 / (2 * (X + offset).var()), rel=1e-9)


def test_a_second_fit_gives_up_as_early_as_the_first():
    X, y = rings(200, gap=-1.0)
    warm = textbook_kernel(kernel="linear", tol=0.05, warm_start=True).fit(X, y)
    primal = Perceptron(tol=0.05, warm_start=True).fit(X, y)
    assert warm.fit(X, y).n_iter_ == primal.fit(X, y).n_iter_


def test_bounds_are_printed_rounded_up():
    assert at_most(0.0636251) == "0.0637" and at_most(2.0) == "2" and at_most(np.inf) == "inf"
    for number in np.random.default_rng(0).uniform(1e-6, 1e6, size=200):
        assert number <= float(at_most(number)) <= number * 1.01
