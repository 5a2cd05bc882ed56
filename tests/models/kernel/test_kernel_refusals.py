"""What the kernel perceptron refuses, with a reason; and a refused call changes nothing."""

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_cases import rings
from sklearn.exceptions import NotFittedError
from sklearn.metrics.pairwise import pairwise_kernels

from perceptrons import KernelPerceptron


def spoiled(row, column, value):
    X = rings(20)[0]
    X[row, column] = value
    return X


ROWS, LABELS = rings(20)
BAD = {
    "kernel": ({"kernel": "gauss"}, ROWS, "kernel.*gauss"),
    "gamma": ({"gamma": -1.0}, ROWS, "gamma.*-1"),
    "gamma by name": ({"gamma": "large"}, ROWS, "gamma.*large"),
    "degree": ({"kernel": "poly", "degree": -1}, ROWS, "degree.*-1"),
    "max_memory": ({"max_memory": -1}, ROWS, "max_memory.*-1"),
    "shape": ({"kernel": lambda X, Z: np.ones((len(X), 3))}, ROWS, r"kernel.*shape.*\(20, 3\)"),
    "one axis": ({"kernel": lambda X, Z: np.ones(len(X))}, ROWS, "kernel.*shape"),
    "not finite": ({"kernel": lambda X, Z: np.full((len(X), len(Z)), np.nan)}, ROWS, "kernel.*(NaN|nan|finite)"),
    "not square": ({"kernel": "precomputed"}, np.eye(20)[:, :7], "square.*20.*7"),
    "nan": ({}, spoiled(3, 1, np.nan), "contains NaN at row 3, column 1"),
    "infinity": ({}, spoiled(4, 0, np.inf), "contains infinity at row 4, column 0"),
    "sparse nan": ({}, sp.csr_array(spoiled(3, 1, np.nan)), "contains NaN at row 3, column 1"),
    "nan in a matrix": ({"kernel": "precomputed"}, np.where(np.eye(20) > 0, np.nan, 0), "NaN at row 0, column 0"),
    "readout": ({"readout": "nope"}, ROWS, "readout"),
    "rule": ({"rule": "nope"}, ROWS, "rule must be one of"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_is_refused_changes_nothing(case):
    settings, rows, message = BAD[case]
    fresh = KernelPerceptron(**settings)
    assert fresh._guard  # its locks are made when they are first used
    before = dict(vars(fresh))
    with pytest.raises(ValueError, match=message):
        fresh.fit(rows, LABELS)
    assert vars(fresh) == before
    precomputed = settings.get("kernel") == "precomputed"
    model = KernelPerceptron(kernel="precomputed" if precomputed else "rbf", max_iter=3)
    good = pairwise_kernels(ROWS, metric="rbf") if precomputed else ROWS
    before = state(model.fit(good, LABELS), good)
    for learn in (model.fit,) if precomputed else (model.fit, model.partial_fit, model.predict_then_learn):
        with pytest.raises(ValueError, match=r"was changed|" + message):
            model.set_params(**settings)
            learn(rows, LABELS)
        model.set_params(**{name: getattr(KernelPerceptron(), name) for name in settings if name != "kernel"})
        model.set_params(kernel="precomputed" if precomputed else "rbf")
        for now, then in zip(state(model, good), before, strict=True):
            np.testing.assert_array_equal(now, then)


def state(model, rows):
    counts = model.n_seen_, model.n_mistakes_, model.n_updates_, model.n_iter_
    return [counts, model.classes_, model.support_, model.dual_coef_, model.decision_function(rows)]


def test_a_stream_of_kernel_values_has_no_rows_to_keep():
    K = pairwise_kernels(ROWS, metric="rbf")
    for model in (KernelPerceptron(kernel="precomputed"), KernelPerceptron(kernel="precomputed").fit(K, LABELS)):
        assert not hasattr(model, "partial_fit") and not hasattr(model, "predict_then_learn")
        with pytest.raises(AttributeError) as refused:
            model.partial_fit(K, LABELS)
        assert "precomputed" in str(refused.value.__cause__)


def test_wrong_widths_and_unfitted():
    model = KernelPerceptron(max_iter=3).fit(ROWS, LABELS)
    for call in (model.predict, model.decision_function, lambda Z: model.partial_fit(Z, LABELS)):
        with pytest.raises(ValueError, match="X has 1 features, but KernelPerceptron is expecting 2 features as input"):
            call(ROWS[:, :1])
    K = pairwise_kernels(ROWS, metric="rbf")
    with pytest.raises(ValueError, match="20"):
        KernelPerceptron(kernel="precomputed").fit(K, LABELS).predict(K[:, :7])
    for name in ("support_", "dual_coef_", "n_seen_"):
        assert not hasattr(KernelPerceptron(), name)
    with pytest.raises(NotFittedError):
        KernelPerceptron().predict(ROWS)
    with pytest.raises(ValueError, match="number of classes has to be greater than one"):
        KernelPerceptron().fit(ROWS, np.ones(20))
    assert not hasattr(KernelPerceptron(readout="pocket"), "partial_fit")


def test_sparse_kernel_matrices_are_refused_in_predictions_too():
    X, y = rings(30)
    K = pairwise_kernels(X, metric="rbf")
    model = KernelPerceptron(kernel="precomputed").fit(K, y)
    with pytest.raises(ValueError, match="dense kernel matrix"):
        model.predict(sp.csr_array(K))
