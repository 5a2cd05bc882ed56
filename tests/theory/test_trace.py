"""The trace of a run: every update against the plain-Python twin, and the theorems that it is a picture of."""

import sys
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from naive import Naive, tau
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from perceptrons import PassiveAggressiveClassifier, Perceptron
from perceptrons.rules import Uneven
from perceptrons.theory.trace import trace

PARAMS = {"perceptron": {}, "margin": {"beta": 1.0}, "pa1": {"C": 1.0}}


def integers(classes, seed=0, n=40, d=3):
    """Rows of small integers, most of them on the side of their class."""
    random = np.random.default_rng(seed)
    X = random.integers(-4, 5, size=(n, d)).astype(float)
    y = (X @ random.integers(-3, 4, size=(d, classes)) + random.integers(-2, 3, size=classes)).argmax(axis=1)
    return X, np.array(["a", "b", "c"])[y]


def separated(classes, seed=0, margin=0.3, n=60):
    """Rows that some hypothesis separates with a margin."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(300, 3))
    scores = X @ random.normal(size=(3, classes)) + 0.2 * random.normal(size=classes)
    best = np.sort(scores, axis=1)
    keep = best[:, -1] - best[:, -2] > margin
    return X[keep][:n], scores[keep][:n].argmax(axis=1)


def naive_trace(X, y, rule, eta0, max_iter, star):
    """The columns of a trace by their definitions, from a twin that keeps every hypothesis."""
    twin = Naive(rule, eta0=eta0, **PARAMS[rule]).fit(X, list(y), max_iter)
    before, total, lines = twin.first, 0.0, []
    for number, step in enumerate(twin.steps):
        x, label, _ = twin.examples[number % len(y)]
        if step.updated:
            margin, rival = twin.margin(before, x, label)
            t = eta0 * tau(rule, margin, x @ x if rival is None else 2 * x @ x, **PARAMS[rule])
            total += t
            if margin > 0:
                kind = "margin"
            elif rival is not None:
                kind = "mistake"
            else:
                kind = "false negative" if label == twin.classes[1] else "false positive"
            away = twin.classes[rival] if rival is not None else next(c for c in twin.classes if c != label)
            lines.append(
                {
                    "update": len(lines) + 1,
                    "pass": number // len(y) + 1,
                    "seen": number + 1,
                    "row": number % len(y),
                    "label": label,
                    "rival": away,
                    "kind": kind,
                    "margin_before": margin,
                    "margin_after": twin.margin(step.after, x, label)[0],
                    "tau": t,
                    "sum_tau": total,
                    "sq_norm": (step.after**2).sum(),
                    "progress": None if star is None else (np.atleast_2d(star) * step.after).sum(),
                }
            )
        before = step.after
    return lines, twin


@pytest.mark.parametrize(
    "rule, classes, sparse, eta0",
    [
        ("perceptron", 2, False, 1.0),
        ("perceptron", 3, True, 0.5),
        ("margin", 3, False, 1.0),
        ("pa1", 2, True, 1.0),
    ],
)
def test_every_update_is_as_the_plain_twin_makes_it(rule, classes, sparse, eta0):
    X, y = integers(classes)
    model = Perceptron(rule=rule, eta0=eta0, shuffle=False, max_iter=6)
    run = trace(model, sp.csr_matrix(X) if sparse else X, y)
    lines, twin = naive_trace(X, y, rule, eta0, 6, run.separator)
    assert len(lines) >= 10 and run.n_updates == len(run) == len(lines) == run.model.n_updates_
    columns = run.columns
    for name in ("update", "pass", "seen", "row", "label", "rival", "kind"):
        assert columns[name].tolist() == [line[name] for line in lines], name
    for name in ("margin_before", "margin_after", "tau", "sum_tau", "sq_norm"):
        np.testing.assert_allclose(columns[name], [line[name] for line in lines], rtol=1e-12, atol=1e-12, err_msg=name)
    if run.separable:
        np.testing.assert_allclose(run.progress, [line["progress"] for line in lines], rtol=1e-10)
    np.testing.assert_allclose(run.weights[-1].T.reshape(twin.w.shape), twin.w, rtol=1e-12)


@pytest.mark.parametrize(
    "classes, rule",
    [*((classes, rule) for classes in (2, 3) for rule in ("perceptron", "margin")), (2, Uneven(0.5, 1.0))],
)
def test_both_halves_of_the_proof(classes, rule):
    checked = 0
    for seed in range(6):
        X, y = separated(classes, seed)
        if len(set(y)) < classes:
            continue
        for fit_intercept in (True, False):
            run = trace(Perceptron(rule=rule, fit_intercept=fit_intercept, tol=1e-2), X, y)
            k = run.update
            sq_radius = (X**2).sum(axis=1).max() + fit_intercept
            growth = (sq_radius if classes == 2 else 2 * sq_radius) + 2 * (rule != "perceptron")
            assert run.growth == pytest.approx(growth) and run.growth >= growth
            assert (run.sq_norm <= k * run.growth).all() and (run.sq_norm_bound == k * run.growth).all()
            if not run.separable:
                assert run.progress is run.cosine is run.progress_bound is run.max_updates is None
                assert "not linearly separable" in run.reason
                continue
            checked += 1
            assert np.linalg.norm(run.separator) == pytest.approx(1)
            assert (run.progress >= k * run.margin * (1 - 1e-12)).all() and (run.progress_bound == k * run.margin).all()
            assert (run.cosine >= run.cosine_bound * (1 - 1e-12)).all() and (run.cosine <= 1 + 1e-12).all()
            assert run.n_updates <= run.max_updates <= run.growth / run.margin**2 * (1 + 1e-9)
            assert run.reason is None and f"at most {run.max_updates} updates" in str(run)
    assert checked >= 4


def test_the_bound_on_the_margin_falls_to_where_the_run_gave_up():
    X, y = integers(2, seed=1)
    y = np.where(np.arange(len(y)) % 5 == 0, "a", y)
    with pytest.warns(ConvergenceWarning, match="tol=0.01") as caught:
        run = trace(Perceptron(readout="last", tol=0.01), X, y)
    assert caught[0].filename == __file__
    assert run.stop == "margin" and not run.converged and run.separable is False
    assert run.relative_bound[-1] * run.radius == pytest.approx(run.model.margin_bound_, rel=1e-9)
    assert run.relative_bound[-1] <= run.tol
    np.testing.assert_allclose(run.relative_bound, np.sqrt(run.sq_norm) / (run.radius * run.sum_tau))
    assert "gave up" in str(run) and "cannot be separated by a margin above" in str(run)


@pytest.mark.parametrize("readout", ["last", "averaged", "voted", "pocket"])
@pytest.mark.parametrize("early_stopping", [False, True])
def test_the_model_is_what_fit_makes(readout, early_stopping):
    X, y = integers(2, seed=2, n=60)
    model = Perceptron(readout=readout, early_stopping=early_stopping, validation_fraction=0.3, tol=0.02)
    run = trace(model, X, y)
    assert not hasattr(model, "classes_")  # it was left as it was
    fitted = model.fit(X, y)
    np.testing.assert_array_equal(run.model.decision_function(X), fitted.decision_function(X))
    assert run.n_updates == fitted.n_updates_ and run.n_passes == fitted.n_iter_
    upto = run.weights[run.pass_ <= run.kept_pass]
    np.testing.assert_array_equal(upto[-1], run.model._learner.state["w"])
    if early_stopping:
        errors = fitted.validation_errors_
        assert errors[run.kept_pass - 1] == errors.min() and (errors[run.kept_pass :] > errors.min()).all()
        assert run.n_rows == 42


def test_long_runs_are_thinned_evenly():
    X, y = integers(2, seed=1)
    y = np.where(np.arange(len(y)) % 5 == 0, "a", y)
    model = Perceptron(readout="last", tol=0.005)
    whole = trace(model, X, y)
    assert whole.stride == 1 and len(whole) > 100
    for limit in (1, 2, 7, 64, len(whole) - 1, len(whole)):
        run = trace(model, X, y, limit=limit)
        assert len(run) <= limit and run.n_updates == len(whole) and run.update[-1] == len(whole)
        kept = [k for k in range(1, len(whole) + 1) if k % run.stride == 0 or k == len(whole)]
        assert run.update.tolist() == kept
        assert run.stride == 1 or len(whole) // (run.stride // 2) + 1 > limit  # no thinner than need be
        for name, column in run.columns.items():
            np.testing.assert_array_equal(column, whole.columns[name][np.array(kept) - 1])
        np.testing.assert_array_equal(run.weights, whole.weights[np.array(kept) - 1])
        assert (f"one update in {run.stride} is recorded" in str(run)) == (run.stride > 1)


@pytest.mark.parametrize(
    "params, options, why",
    [
        ({"rule": "pa1"}, {}, "not for PA1"),
        ({"eta0": 0.5}, {}, "eta0 is 0.5"),
        ({"init": "random"}, {}, "start from zeros"),
        ({"class_weight": {0: 2.0}}, {}, "without weights"),
        ({}, {"coef_init": np.ones((1, 3))}, "start from zeros"),
    ],
)
def test_where_the_proof_does_not_apply_the_lines_are_none(params, options, why):
    X, y = separated(2)
    run = trace(Perceptron(**params), X, y, **options)
    assert run.separable and why in run.reason and why in str(run)
    assert run.progress_bound is run.sq_norm_bound is run.cosine_bound is run.max_updates is None
    np.testing.assert_allclose(run.progress, run.weights @ run.separator)
    np.testing.assert_allclose(run.sq_norm, (run.weights**2).sum(axis=1))
    assert (run.relative_bound is None) == ("zeros" in why)


def test_weights_of_zero_and_one_are_no_weights():
    X, y = separated(2)
    some = np.arange(len(y)) % 3 > 0
    run = trace(Perceptron(), np.vstack([X, 100 * X[:1]]), np.append(y, 1 - y[0]), sample_weight=np.append(some, False))
    assert run.reason is None and run.radius**2 == pytest.approx((X[some] ** 2).sum(axis=1).max() + 1)
    assert set(run.row) <= set(np.flatnonzero(some)) and run.n_rows == some.sum()


def test_a_tie_that_was_predicted_right_is_no_mistake():
    X, y = np.array([[1.0], [-1.0]]), np.array([0, 1])
    run = trace(Perceptron(rule="margin", tie="positive", shuffle=False), X[::-1], y[::-1])
    assert run.kind[0] == "margin" and run.margin_before[0] == 0.0
    assert trace(Perceptron(shuffle=False), X[::-1], y[::-1]).kind[0] == "false negative"


def test_an_average_that_begins_late_and_a_seed_of_no_ones():
    X, y = integers(2, seed=3)
    run = trace(PassiveAggressiveClassifier(average=30, max_iter=4, random_state=None), X, y)
    np.testing.assert_array_equal(run.weights[-1], run.model._learner.state["w"])


def test_wide_hypotheses_are_not_kept():
    random = np.random.default_rng(0)
    X = random.normal(size=(20, 100))
    run = trace(Perceptron(), X, np.arange(20) % 2)
    assert run.weights is None and run.sq_norm[-1] == pytest.approx((run.model._learner.state["w"] ** 2).sum())


def test_a_table(monkeypatch):
    X, y = separated(2)
    run = trace(Perceptron(), X, y)
    frame = run.to_frame(vectors=False)
    assert list(frame.columns) == list(run.columns) and len(frame) == len(run)
    assert {"pass", "row", "label", "kind", "progress_bound", "sq_norm_bound"} <= set(frame.columns)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="needs pandas"):
        run.to_frame()


@pytest.mark.parametrize("classes, sparse, named, fit_intercept", [(2, True, False, True), (3, False, True, False)])
def test_the_table_has_the_row_and_the_weights_of_each_update(classes, sparse, named, fit_intercept):
    import pandas as pd

    X, y = integers(classes)
    names = ["one", "two", "three"] if named else [0, 1, 2]
    given = pd.DataFrame(X, columns=names) if named else sp.csr_matrix(X) if sparse else X
    run = trace(Perceptron(shuffle=False, max_iter=6, fit_intercept=fit_intercept), given, y)
    frame = run.to_frame()
    w, lines = np.zeros((1 if classes == 2 else classes, 4)), []
    codes = {name: c for c, name in enumerate(run.model.classes_)}
    for row, label, rival, tau_ in zip(frame["row"], frame["label"], frame["rival"], frame["tau"], strict=True):
        step = tau_ * np.append(X[row], float(fit_intercept))
        if classes == 2:
            w[0] += (2 * codes[label] - 1) * step
        else:
            w[codes[label]] += step
            w[codes[rival]] -= step
        lines.append(w[:, : 3 + fit_intercept].flatten())
    of = [""] if classes == 2 else [f"{name}, " for name in run.model.classes_]
    columns = [f"w[{c}{name}]" for c in of for name in names] + ["b"] * fit_intercept
    at = list(frame.columns)
    first = at.index("tau") + 1
    assert at[first : first + len(columns)] == columns and at[first + len(columns)] == "sum_tau"
    np.testing.assert_array_equal(frame.iloc[:, first : first + len(columns)], lines)
    first = at.index("row") + 1
    assert at[first : first + 3] == [f"x[{name}]" for name in names] and at[first + 3] == "label"
    np.testing.assert_array_equal(frame.iloc[:, first : first + 3], X[run.row])


def test_wide_weights_are_in_the_table_if_asked_for():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(30, 100)), np.arange(30) % 2
    for limit in (100_000, 5):
        run = trace(Perceptron(), X, y, limit=limit)
        assert run.weights is None and list(run.to_frame().columns) == list(run.columns)
        frame = run.to_frame(vectors=True)
        assert len(frame) == len(run) <= limit
        w = frame.filter(regex=r"^(w\[|b$)").to_numpy()
        assert w.shape == (len(run), 101)
        np.testing.assert_array_equal(w[-1], run.model._learner.state["w"])
        np.testing.assert_allclose((w**2).sum(axis=1), run.sq_norm)
    X *= -1.5
    with pytest.raises(ValueError, match="the rows have changed since they were traced"):
        run.to_frame(vectors=True)


def test_a_table_without_updates():
    X, y = separated(2)
    done = trace(Perceptron(), X, y).model
    run = trace(Perceptron(), X, y, coef_init=done.coef_, intercept_init=done.intercept_)
    frame = run.to_frame()
    assert len(run) == len(frame) == 0 and {"x[0]", "w[2]", "b"} <= set(frame.columns)


def test_what_cannot_be_traced():
    X, y = separated(2)
    with pytest.raises(TypeError, match="got Pipeline"):
        trace(make_pipeline(StandardScaler(), Perceptron()), X, y)
    with pytest.raises(ValueError, match="limit must be >= 1, got 0"):
        trace(Perceptron(), X, y, limit=0)
    with pytest.raises(ValueError, match="max_iter"):
        trace(Perceptron(max_iter=0), X, y)
    for rule, what in (("arow", "the covariance of the weights"), ("sop", "the covariance"), ("romma", "the scale")):
        with pytest.raises(ValueError, match=f"does not combine with a trace: it records steps .* also changes {what}"):
            trace(Perceptron(rule=rule), X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert trace(Perceptron(), X, y).converged


def test_weights_that_return_to_zero_have_no_negative_length():
    X, y = np.array([[0.1, -0.1], [0.6, 0.1], [0.1, -0.1], [0.6, 0.1]]), [0, 0, 1, 1]
    run = trace(Perceptron(fit_intercept=False), X, y)
    assert (run.sq_norm >= 0).all() and str(run)


def test_a_bound_beyond_all_floats_is_none():
    X, y = np.array([[1e-170], [-1e-170], [1.0]]), [1, 0, 1]
    run = trace(Perceptron(fit_intercept=False, max_iter=3), X, y)
    assert run.max_updates is None and str(run)
