"""What a fitted model says, and what progress, Ctrl-C and streams leave of it."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from training_cases import INTERRUPTED, noisy, rng, separable

from perceptrons import PassiveAggressiveClassifier, Perceptron


def test_voted_has_no_weights():
    X, y = noisy()
    model = Perceptron(readout="voted", max_iter=2).fit(X, y)
    with pytest.raises(AttributeError, match="many hypotheses vote"):
        getattr(model, "coef" + "_")
    assert not hasattr(model, "intercept_")
    assert (np.abs(model.decision_function(X)) <= 1).all()
    shares = Perceptron(readout="voted", max_iter=2).fit(X, noisy(classes=3)[1]).decision_function(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)


def test_unfitted():
    for ask in ("coef_", "n_seen_", "margin_bound_"):
        assert not hasattr(Perceptron(), ask)
    with pytest.raises(NotFittedError):
        Perceptron().predict([[1.0]])


def test_no_step_is_possible():
    """Mistakes on rows of zeros move nothing: another pass would do the same, and so would ten million."""
    for rule in ("pa", "pa1", "pa2"):
        with pytest.warns(ConvergenceWarning, match="made mistakes but no step"):
            model = Perceptron(readout="last", rule=rule, fit_intercept=False).fit([[1.0], [-1.0], [0.0]], [1, 0, 1])
        assert not model.converged_ and model.n_iter_ < 1000
    with pytest.warns(ConvergenceWarning, match="by tol"):
        model = Perceptron(readout="last", fit_intercept=False).fit(np.zeros((4, 2)), [0, 1, 0, 1])
    assert model.n_iter_ < 10 and model.margin_bound_ == 0


def test_the_bound_survives_normalizing():
    """The rows have margin 1, whatever the weights began with."""
    for keywords in ({"coef_init": [[-3.0, 4.0]]}, {}):
        model = Perceptron(fit_intercept=False, init="random").fit([[1.0, 0], [-1.0, 0]], [1, 0], **keywords)
        assert model.margin_bound_ >= 1
        assert model.normalized().margin_bound_ >= 1


@pytest.mark.parametrize("size", [1e170, 1e-170])
def test_normalizing_weights_of_any_size(size):
    X, y = separable(100, 3, 0.1)
    model = Perceptron(fit_intercept=False, eta0=size).fit(X, y)
    unit = model.normalized()
    np.testing.assert_allclose(np.linalg.norm(unit.coef_), 1)
    np.testing.assert_array_equal(unit.predict(X), model.predict(X))


@pytest.mark.parametrize("readout", ["averaged", "voted"])
def test_given_weights_begin_anew(readout):
    X, y = noisy(40, 2)
    settings = {"readout": readout, "max_iter": 2, "shuffle": False, "tol": None}
    start = {"coef_init": [[3.0, -3.0]], "intercept_init": [0.0]}
    warm = Perceptron(warm_start=True, **settings).fit(X, y).fit(X, y, **start)
    fresh = Perceptron(**settings).fit(X, y, **start)
    np.testing.assert_array_equal(warm.decision_function(X), fresh.decision_function(X))


def test_votes_are_counted_in_double_precision():
    X, y = separable(60, 3, 0.05)
    narrow = (X * 1e20).astype(np.float32)  # products overflow float32
    fits = [Perceptron(readout="voted", max_iter=3).fit(rows, y) for rows in (narrow, narrow.astype(np.float64))]
    np.testing.assert_array_equal(fits[0].predict(narrow), fits[1].predict(narrow))


def test_rows_of_weight_zero_do_not_count():
    rows, labels, weight = np.array([[1.0], [1.0], [2.0]]), [0, 0, 1], [0, 1, 1]
    model = Perceptron(readout="averaged").partial_fit(rows, labels, sample_weight=weight)
    without = Perceptron(readout="averaged").partial_fit(rows[1:], labels[1:])
    assert model.n_seen_ == without.n_seen_ == 2
    np.testing.assert_array_equal(model.coef_, without.coef_)
    X, y = noisy(20)
    some = np.r_[0, np.ones(19)]
    late = PassiveAggressiveClassifier(average=2).partial_fit(X, y, [0, 1], some)
    np.testing.assert_allclose(
        late.coef_, PassiveAggressiveClassifier(average=2).partial_fit(X[1:], y[1:], [0, 1]).coef_
    )


def test_few_features_of_a_wide_mean():
    """Scores of a few sparse rows are combined from two sums, not from the mean of all weights."""
    X = sp.random_array((50, 400), density=0.05, format="csr", rng=rng)
    y = rng.integers(2, size=50)
    model = Perceptron(readout="averaged").partial_fit(X, y)
    np.testing.assert_allclose(model.decision_function(X[:5]), model.decision_function(X)[:5])
    np.testing.assert_allclose(model.decision_function(X[:5]), X[:5] @ model.coef_[0] + model.intercept_)


def test_the_warning_points_at_the_caller():
    X, y = noisy()
    for model in (Perceptron(max_iter=1), PassiveAggressiveClassifier(max_iter=1)):
        with pytest.warns(ConvergenceWarning) as caught:
            model.fit(X, y)
        assert caught[0].filename == __file__


def test_verbose_counts_the_rows_learned_from(capsys):
    X, y = noisy(60)
    model = Perceptron(max_iter=4, tol=None, verbose=2, early_stopping=True, validation_fraction=0.5).fit(X, y)
    first = capsys.readouterr().out.splitlines()[0]
    assert f"{model.mistakes_[0]} mistakes ({model.mistakes_[0] / 30:.2%})" in first
    Perceptron(max_iter=20, tol=None, verbose=2).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 20 and all("no held-out rows" in line for line in lines)


def test_verbose(capsys):
    X, y = noisy()
    Perceptron(max_iter=5, tol=None, verbose=2).fit(X, y, X_val=X, y_val=y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 5
    assert lines[4].startswith("[Perceptron] pass 5: ") and "held-out error" in lines[4]
    Perceptron(max_iter=1000, tol=None, verbose=1).fit(X, y)
    assert 1 <= len(capsys.readouterr().out.splitlines()) < 20


@pytest.mark.parametrize("readout", ["averaged", "voted"])
def test_ctrl_c_leaves_a_usable_model(readout):
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", INTERRUPTED, readout], capture_output=True, text=True)
    assert done.stdout.split("\n")[:3] == ["True True True", "(5,)", "True"], done.stderr


def test_ctrl_c_is_heard_soon():
    """Long passes are cut into slices: the signal is answered long before the pass would end."""
    code = (
        "import numpy as np, time\n"
        "from perceptrons import Perceptron\n"
        "X = np.zeros((3_000_000, 40), dtype=np.float32); X[:, 0] = 1\n"
        "y = np.arange(len(X)) % 2\n"
        "print('ready', flush=True)\n"
        "Perceptron(tol=None).fit(X, y)\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "ready\n"
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors


def test_a_wide_sparse_stream_touches_only_its_features():
    """The weights of other features are not even looked at: they may be anything, here NaN."""
    width = 10_000
    row = sp.csr_array(([1.0, -2.0], [5, 77], [0, 2]), shape=(1, width))
    model = Perceptron(readout="averaged").partial_fit(row, [1], classes=[0, 1])
    untouched = np.setdiff1d(np.arange(width), [5, 77])
    model._learner.state["w"][untouched] = np.nan
    model._learner.state["kept"][untouched] = np.nan
    model.partial_fit(row, [0]).partial_fit(row, [1])
    assert model.n_seen_ == 3 and np.isfinite(model._learner.state["w"][[5, 77]]).all()


def test_a_voted_stream_predicts_as_one_chunk():
    X, y = noisy(60, classes=3)
    whole = Perceptron(readout="voted").partial_fit(X, y, classes=[0, 1, 2])
    rows = Perceptron(readout="voted")
    for i in range(60):  # dense and sparse chunks may alternate
        rows.partial_fit(sp.csr_array(X[i : i + 1]) if i % 7 == 0 else X[i : i + 1], y[i : i + 1], classes=[0, 1, 2])
        if i == 30:
            rows.predict(X)
    np.testing.assert_allclose(rows.decision_function(X), whole.decision_function(X))


def test_passive_aggressive_signature():
    """The parameters and defaults of scikit-learn's estimator, for people who change the import."""
    linear_model = pytest.importorskip("sklearn.linear_model")
    if not hasattr(linear_model, "PassiveAggressiveClassifier"):
        pytest.skip("this scikit-learn has removed it")
    import inspect

    theirs = inspect.signature(linear_model.PassiveAggressiveClassifier.__init__).parameters
    ours = inspect.signature(PassiveAggressiveClassifier.__init__).parameters
    assert set(theirs) <= set(ours)
    for name, parameter in theirs.items():
        if name not in ("self", "C"):
            assert ours[name].default == parameter.default or parameter.default == "deprecated", name
    assert ours["C"].default == 1.0


def test_iris_as_in_the_readme():
    X, y = load_iris(return_X_y=True)
    model = Perceptron().fit(X, y == 0)
    assert model.converged_ and model.score(X, y == 0) == 1
