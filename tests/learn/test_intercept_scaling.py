"""The constant feature has any value c: a model with it is the model without a bias on rows with c appended."""

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons import PassiveAggressiveClassifier, Perceptron, load, rules, save
from perceptrons.store import export_onnx
from perceptrons.theory import augment, trace

RNG = np.random.default_rng(5)
X = RNG.integers(-4, 5, (60, 3)).astype(float)
LABELS = {2: (X @ [1, -2, 1] + RNG.integers(-3, 4, 60) > 1).astype(int), 3: RNG.integers(0, 3, 60)}
SETTINGS = {"max_iter": 6, "tol": None, "random_state": 3}


def pair(c, y, rows=X, **settings):
    """A model with the constant c, and one without a bias on rows with c appended."""
    given = {**SETTINGS, **settings}
    own = Perceptron(intercept_scaling=c, **given).fit(rows, y)
    return own, Perceptron(fit_intercept=False, **given).fit(augment(rows, c), y)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("c", [0.25, 2.0])
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("rule", ["perceptron", rules.Margin(0.5), "pa1", "pa2"], ids=str)
@pytest.mark.parametrize("readout", ["last", "averaged", "voted", "pocket"])
def test_the_constant_is_one_more_feature(c, classes, sparse, rule, readout):
    y, rows = LABELS[classes], sp.csr_matrix(X) if sparse else X
    own, other = pair(c, y, rows, rule=rule, readout=readout)
    assert own.mistakes_.tolist() == other.mistakes_.tolist()
    np.testing.assert_allclose(own.decision_function(rows), other.decision_function(augment(rows, c)), atol=1e-12)
    assert own._learner.radius == pytest.approx(other._learner.radius, rel=1e-15)
    assert own.margin_bound_ == pytest.approx(other.margin_bound_, rel=1e-12)
    if readout != "voted":
        np.testing.assert_allclose(own.coef_, other.coef_[:, :-1], rtol=1e-12)
        np.testing.assert_allclose(own.intercept_, c * other.coef_[:, -1], rtol=1e-12)
        scores = X @ own.coef_.T + own.intercept_
        np.testing.assert_allclose(own.decision_function(X).reshape(scores.shape), scores, atol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("classes", [2, 3])
def test_files_and_graphs(classes, tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    y = LABELS[classes]
    model, _ = pair(0.25, y, rule="pa1", readout="averaged")
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.get_params() == model.get_params() and again._learner.bias == 0.25
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    again.partial_fit(X, y)
    np.testing.assert_array_equal(again.coef_, model.partial_fit(X, y).coef_)
    export_onnx(model, tmp_path / "m.onnx")
    session = onnxruntime.InferenceSession(tmp_path / "m.onnx", providers=["CPUExecutionProvider"])
    _, scores = session.run(None, {"X": X.astype(np.float32)})
    np.testing.assert_allclose(scores, model.decision_function(X), atol=1e-9)


@pytest.mark.parametrize("c", [0.25, 3.0])
def test_traces_prove_with_the_constant(c):
    y = (X @ [1.0, -2.0, 1.0] > 0.5).astype(int)
    keep = abs(X @ [1.0, -2.0, 1.0] - 0.5) > 1
    run = trace(Perceptron(readout="last", intercept_scaling=c), X[keep], y[keep])
    other = trace(Perceptron(readout="last", fit_intercept=False), augment(X[keep], c), y[keep])
    assert run.converged and run.n_updates == other.n_updates <= run.max_updates == other.max_updates
    assert run.margin == pytest.approx(other.margin) and run.radius == pytest.approx(other.radius)
    assert (run.progress >= run.progress_bound * (1 - 1e-9)).all()
    np.testing.assert_allclose(run.sq_norm, other.sq_norm)
    assert (run.sq_norm <= run.sq_norm_bound * (1 + 1e-9)).all()
    np.testing.assert_allclose(run.to_frame()["b"].iloc[-1], run.model.intercept_[0])
    assert f"the constant {c:g} appended" in str(run)


def test_starts_and_changes():
    y = LABELS[2]
    model = Perceptron(intercept_scaling=0.5, max_iter=1, tol=None, eta0=1e-300)
    model.fit(X, y, coef_init=[[1.0, 2.0, 3.0]], intercept_init=[5.0])
    np.testing.assert_allclose(model.intercept_, [5.0])
    model.set_params(intercept_scaling=1.0)
    with pytest.raises(ValueError, match="intercept_scaling was changed"):
        model.partial_fit(X, y)
    for wrong in (0.0, -1.0, "1"):
        with pytest.raises(ValueError, match="intercept_scaling"):
            Perceptron(intercept_scaling=wrong).fit(X, y)
    assert "intercept_scaling" not in PassiveAggressiveClassifier().get_params()
