"""How training goes and ends: convergence and its proof, early stopping, warm starts, reports, interruptions."""

import signal
import subprocess
import sys
import time

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from perceptrons import PassiveAggressiveClassifier, Perceptron
from perceptrons.learn.linear.learner import BATCH
from perceptrons.learn.readouts import READOUTS
from perceptrons.rules import RULES

rng = np.random.default_rng(0)


def separable(n, d, margin, seed=0):
    """Normal rows that a random hyperplane separates by at least `margin` on either side."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d))
    w = random.normal(size=d)
    distance = X @ w / np.linalg.norm(w)
    keep = np.abs(distance) >= margin
    return X[keep], (distance[keep] > 0).astype(int)


def noisy(n=200, d=5, classes=2):
    X = rng.normal(size=(n, d))
    return X, rng.integers(classes, size=n)


@pytest.mark.parametrize("rule", RULES)
def test_separable_rows_end_without_an_error(rule):
    X, y = separable(2000, 20, 0.02)
    model = Perceptron(rule=rule).fit(X, y)
    assert model.converged_
    assert model.mistakes_[-1] == 0 and (model.mistakes_[:-1] > 0).any()
    assert (model.predict(X) == y).all()


def test_rows_of_the_smallest_margin_that_tol_promises():
    # Relative margin just above 1e-3. Steps to and fro along the first feature hardly ever cancel, so that only the
    # second, by g a step, can make room: many thousand passes.
    g = 1.1e-3
    X = np.array([[1.0, g], [-(5**0.5 - 1) / 2, g]])
    model = Perceptron(fit_intercept=False).fit(np.vstack([X, -X]), [1, 1, 0, 0])
    assert model.converged_
    assert model.n_updates_ <= (1 + g * g) / g**2
    assert model.n_updates_ > 500


@pytest.mark.parametrize("n_classes", [2, 3])
def test_giving_up_is_proved(n_classes):
    X, y = noisy(classes=n_classes)
    for tol in (0.1, 0.03):
        with pytest.warns(ConvergenceWarning, match=f"stopped after .* pass(es)? by tol={tol:g}"):
            model = Perceptron(tol=tol).fit(X, y)
        radius = np.sqrt((X**2).sum(axis=1).max() + 1)
        assert not model.converged_
        assert model.margin_bound_ < tol * radius
        # ‖w‖² ≤ k·R² (several classes: k·2R²), so ‖w‖/(R·k) falls below tol after 1/tol² updates, but for the pass.
        assert model.n_updates_ <= (1 if n_classes == 2 else 2) / tol**2 + len(X)


def test_tol_none_and_max_iter():
    X, y = noisy()
    with pytest.warns(ConvergenceWarning, match="max_iter=7"):
        model = Perceptron(tol=None, max_iter=7).fit(X, y)
    assert model.n_iter_ == 7 == len(model.mistakes_)
    assert model.mistakes_.sum() == model.n_mistakes_ == model.n_updates_
    assert model.n_seen_ == 7 * len(X)


def test_the_warning_says_what_happened_and_what_to_do():
    X, y = noisy()
    with pytest.warns(ConvergenceWarning) as caught:
        model = Perceptron(tol=0.1).fit(X, y)
    text = str(caught[0].message)
    for part in (str(model.n_iter_), f"{model.mistakes_[-1]} in the last pass", f"{model.mistakes_.min()} in the best"):
        assert part in text
    for advice in ("smaller tol", "averaged", "kernel"):
        assert advice in text


def test_many_passes_in_one_call_are_the_same_passes():
    """Small data sets make many passes in one call of a kernel; anything to do in between takes them one by one."""
    X, y = separable(300, 10, 0.01, seed=3)
    together = Perceptron().fit(X, y)
    assert together.n_iter_ > 4 and X.size * 2 < BATCH
    one_by_one = Perceptron().fit(X, y, X_val=X, y_val=y)
    np.testing.assert_array_equal(together.coef_, one_by_one.coef_)
    np.testing.assert_array_equal(together.mistakes_, one_by_one.mistakes_)
    np.testing.assert_allclose(one_by_one.validation_errors_[-1], 0)


def test_seeds():
    X, y = noisy()
    fits = [Perceptron(max_iter=3, random_state=seed).fit(X, y).coef_ for seed in (1, 1, 2)]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert not np.array_equal(fits[0], fits[2])
    assert not np.array_equal(fits[0], Perceptron(max_iter=3, shuffle=False).fit(X, y).coef_)


def test_random_start():
    X, y = separable(200, 5, 0.1)
    models = [Perceptron(init="random", random_state=seed).fit(X, y) for seed in (0, 1)]
    assert all(model.score(X, y) == 1 for model in models)
    assert not np.allclose(models[0].coef_, models[1].coef_)
    assert (Perceptron(init="random", fit_intercept=False).fit(X, y).intercept_ == 0).all()


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("own", [False, True])
def test_early_stopping_goes_back_to_the_best_hypothesis(readout, own):
    X, y = noisy(400)
    X[:, 0] += y * 0.7
    keywords = {"X_val": X[300:], "y_val": y[300:]} if own else {}
    model = Perceptron(early_stopping=True, readout=readout, n_iter_no_change=4, tol=None).fit(
        X[:300], y[:300], **keywords
    )
    errors = model.validation_errors_
    assert len(errors) == model.n_iter_
    assert np.argmin(errors) + 4 == model.n_iter_ - 1
    # The hypothesis kept is that of the latest of the best passes.
    best = np.flatnonzero(errors == errors.min())[-1]
    passes = Perceptron(readout=readout, max_iter=int(best) + 1, tol=None, early_stopping=True, n_iter_no_change=10**6)
    again = passes.fit(X[:300], y[:300], **keywords)
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))
    # Counts are of all that was done, though some of it was not kept.
    assert model.n_mistakes_ == model.mistakes_.sum()
    assert model.n_seen_ == model.n_iter_ * again.n_seen_ // again.n_iter_
    if own:
        np.testing.assert_allclose(1 - model.score(X[300:], y[300:]), errors.min())


def test_held_out_rows_are_not_learned_from():
    X, y = separable(200, 5, 0.1)
    model = Perceptron(early_stopping=True, validation_fraction=0.25, max_iter=1).fit(X, y)
    assert abs(model.n_seen_ - 0.75 * len(X)) <= 1


def test_validation_without_early_stopping_only_watches():
    X, y = separable(200, 5, 0.05)
    watched = Perceptron().fit(X, y, X_val=X[:50], y_val=1 - y[:50])
    np.testing.assert_array_equal(watched.coef_, Perceptron().fit(X, y).coef_)
    assert watched.validation_errors_[-1] == 1
    with pytest.raises(ValueError, match="go together"):
        Perceptron().fit(X, y, X_val=X)


@pytest.mark.parametrize("readout", READOUTS)
def test_warm_start_goes_on(readout):
    """Two fits of two passes in order are one of four, but for the pocket, which is weighed anew."""
    X, y = noisy(classes=3)
    settings = {"readout": readout, "shuffle": False, "tol": None}
    warm = Perceptron(warm_start=True, max_iter=2, **settings)
    warm.fit(X, y).fit(X, y)
    once = Perceptron(max_iter=4, **settings).fit(X, y)
    np.testing.assert_array_equal(warm._learner.state["w"], once._learner.state["w"])
    assert (warm.n_seen_, warm.n_updates_) == (once.n_seen_, once.n_updates_)
    if readout != "pocket":
        np.testing.assert_array_equal(warm.decision_function(X), once.decision_function(X))
    cold = Perceptron(max_iter=2, **settings)
    assert cold.fit(X, y).fit(X, y).n_seen_ == 2 * len(X)


def test_warm_start_with_a_new_class():
    X, y = noisy(classes=3)
    model = Perceptron(warm_start=True, max_iter=2).fit(X[y < 2], y[y < 2]).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2] and model.coef_.shape == (3, 5)


def test_parameters_that_may_not_change_in_a_stream():
    X, y = noisy()
    model = Perceptron().partial_fit(X, y)
    with pytest.raises(ValueError, match="readout was changed"):
        model.set_params(readout="averaged").partial_fit(X, y)
    with pytest.raises(ValueError, match="fit_intercept was changed"):
        model.set_params(readout="last", fit_intercept=False).partial_fit(X, y)
    steps = Perceptron().partial_fit(X[:9], y[:9]).set_params(rule="margin", rule__beta=2.0).partial_fit(X, y)
    assert steps.n_updates_ > model.n_updates_


def test_initial_weights_are_checked():
    X, y = noisy(classes=3)
    start = rng.normal(size=(3, 5))
    model = Perceptron(max_iter=1, eta0=1e-300).fit(X, y, coef_init=start, intercept_init=[1, 2, 3])
    np.testing.assert_allclose(model.coef_, start)
    np.testing.assert_allclose(model.intercept_, [1, 2, 3])
    for keywords in ({"coef_init": start.T}, {"intercept_init": [1, 2]}, {"coef_init": start * np.nan}):
        with pytest.raises(ValueError, match=r"(coef|intercept)_init must be"):
            Perceptron().fit(X, y, **keywords)
    with pytest.raises(ValueError, match="intercept_init must be 0"):
        Perceptron(fit_intercept=False).fit(X, y, intercept_init=[1, 2, 3])


def test_class_weights_move_the_boundary():
    X, y = noisy(600)
    X[:, 0] += y
    recall = []
    for weight in (None, {1: 20.0}, "balanced"):
        model = Perceptron(readout="averaged", class_weight=weight, max_iter=20)
        keep = np.flatnonzero((y == 0) | (np.arange(600) % 10 == 0))
        recall.append((model.fit(X[keep], y[keep]).predict(X[y == 1]) == 1).mean())
    assert recall[1] > recall[0] and recall[2] > recall[0]


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
            model = Perceptron(rule=rule, fit_intercept=False).fit([[1.0], [-1.0], [0.0]], [1, 0, 1])
        assert not model.converged_ and model.n_iter_ < 1000
    with pytest.warns(ConvergenceWarning, match="by tol"):
        model = Perceptron(fit_intercept=False).fit(np.zeros((4, 2)), [0, 1, 0, 1])
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


INTERRUPTED = """
import sys, threading, os, signal, numpy as np
from perceptrons import Perceptron
rng = np.random.default_rng(0)
X, y = rng.normal(size=(200_000, 50)), rng.integers(2, size=200_000)
model = Perceptron(tol=None, readout=sys.argv[1])
Perceptron(readout=sys.argv[1], max_iter=1).fit(X[:100], y[:100])
threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    model.fit(X, y)
except KeyboardInterrupt:
    print(model.n_iter_ >= 1, model.n_seen_ >= len(X), len(model.mistakes_) == model.n_iter_)
    print(model.predict(X[:5]).shape)
    print(model.partial_fit(X[:10], y[:10]).n_seen_ > len(X))
"""


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
