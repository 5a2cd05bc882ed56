"""How training goes and ends: convergence and its proof, early stopping, warm starts, reports, interruptions."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from training_cases import noisy, rng, separable, textbook

from perceptrons.learn.linear.learner import BATCH
from perceptrons.learn.readouts import READOUTS
from perceptrons.rules import RULES, kind_of


@pytest.mark.parametrize("rule", [name for name in RULES if kind_of(RULES[name]) != "metric"])
def test_separable_rows_end_without_an_error(rule):
    """Rules with a metric promise nothing of the kind: their steps become ever shorter."""
    X, y = separable(2000, 20, 0.02)
    model = textbook(rule=rule).fit(X, y)
    assert model.converged_
    assert model.mistakes_[-1] == 0 and (model.mistakes_[:-1] > 0).any()
    assert (model.predict(X) == y).all()


def test_rows_of_the_smallest_margin_that_tol_promises():
    # Relative margin just above 1e-3. Steps to and fro along the first feature hardly ever cancel, so that only the
    # second, by g a step, can make room: many thousand passes.
    g = 1.1e-3
    X = np.array([[1.0, g], [-(5**0.5 - 1) / 2, g]])
    model = textbook(fit_intercept=False).fit(np.vstack([X, -X]), [1, 1, 0, 0])
    assert model.converged_
    assert model.n_updates_ <= (1 + g * g) / g**2
    assert model.n_updates_ > 500


@pytest.mark.parametrize("n_classes", [2, 3])
def test_giving_up_is_proved(n_classes):
    X, y = noisy(classes=n_classes)
    for tol in (0.1, 0.03):
        with pytest.warns(ConvergenceWarning, match=f"stopped after .* pass(es)? by tol={tol:g}"):
            model = textbook(tol=tol).fit(X, y)
        radius = np.sqrt((X**2).sum(axis=1).max() + 1)
        assert not model.converged_
        assert model.margin_bound_ < tol * radius
        # ‖w‖² ≤ k·R² (several classes: k·2R²), so ‖w‖/(R·k) falls below tol after 1/tol² updates. But the run
        # makes n_iter_no_change passes, and ends with a pass.
        assert model.n_updates_ <= max((1 if n_classes == 2 else 2) / tol**2 + len(X), 5 * len(X))
        assert model.n_iter_ >= model.n_iter_no_change


def test_tol_none_and_max_iter():
    X, y = noisy()
    with pytest.warns(ConvergenceWarning, match="max_iter=7"):
        model = textbook(tol=None, max_iter=7).fit(X, y)
    assert model.n_iter_ == 7 == len(model.mistakes_)
    assert model.mistakes_.sum() == model.n_mistakes_ == model.n_updates_
    assert model.n_seen_ == 7 * len(X)


def test_the_warning_says_what_happened_and_what_to_do():
    X, y = noisy()
    with pytest.warns(ConvergenceWarning) as caught:
        model = textbook(tol=0.1).fit(X, y)
    text = str(caught[0].message)
    for part in (str(model.n_iter_), f"{model.mistakes_[-1]} in the last pass", f"{model.mistakes_.min()} in the best"):
        assert part in text
    for advice in ("smaller tol", "averaged", "kernel"):
        assert advice in text


def test_many_passes_in_one_call_are_the_same_passes():
    """Small data sets make many passes in one call of a kernel; anything to do in between takes them one by one."""
    X, y = separable(300, 10, 0.01, seed=3)
    together = textbook().fit(X, y)
    assert together.n_iter_ > 4 and X.size * 2 < BATCH
    one_by_one = textbook().fit(X, y, X_val=X, y_val=y)
    np.testing.assert_array_equal(together.coef_, one_by_one.coef_)
    np.testing.assert_array_equal(together.mistakes_, one_by_one.mistakes_)
    np.testing.assert_allclose(one_by_one.validation_errors_[-1], 0)


def test_seeds():
    X, y = noisy()
    fits = [textbook(max_iter=3, random_state=seed).fit(X, y).coef_ for seed in (1, 1, 2)]
    np.testing.assert_array_equal(fits[0], fits[1])
    assert not np.array_equal(fits[0], fits[2])
    assert not np.array_equal(fits[0], textbook(max_iter=3, shuffle=False).fit(X, y).coef_)


def test_random_start():
    X, y = separable(200, 5, 0.1)
    models = [textbook(init="random", random_state=seed).fit(X, y) for seed in (0, 1)]
    assert all(model.score(X, y) == 1 for model in models)
    assert not np.allclose(models[0].coef_, models[1].coef_)
    assert (textbook(init="random", fit_intercept=False).fit(X, y).intercept_ == 0).all()


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("own", [False, True])
def test_early_stopping_goes_back_to_the_best_hypothesis(readout, own):
    X, y = noisy(400)
    X[:, 0] += y * 0.7
    keywords = {"X_val": X[300:], "y_val": y[300:]} if own else {}
    model = textbook(early_stopping=True, readout=readout, n_iter_no_change=4, tol=None).fit(
        X[:300], y[:300], **keywords
    )
    errors = model.validation_errors_
    assert len(errors) == model.n_iter_
    assert np.argmin(errors) + 4 == model.n_iter_ - 1
    # The hypothesis kept is that of the latest of the best passes.
    best = np.flatnonzero(errors == errors.min())[-1]
    passes = textbook(readout=readout, max_iter=int(best) + 1, tol=None, early_stopping=True, n_iter_no_change=10**6)
    again = passes.fit(X[:300], y[:300], **keywords)
    np.testing.assert_array_equal(model.decision_function(X), again.decision_function(X))
    # Counts are of all that was done, though some of it was not kept.
    assert model.n_mistakes_ == model.mistakes_.sum()
    assert model.n_seen_ == model.n_iter_ * again.n_seen_ // again.n_iter_
    if own:
        np.testing.assert_allclose(1 - model.score(X[300:], y[300:]), errors.min())


def test_held_out_rows_are_not_learned_from():
    X, y = separable(200, 5, 0.1)
    model = textbook(early_stopping=True, validation_fraction=0.25, max_iter=1).fit(X, y)
    assert abs(model.n_seen_ - 0.75 * len(X)) <= 1


def test_validation_without_early_stopping_only_watches():
    X, y = separable(200, 5, 0.05)
    watched = textbook().fit(X, y, X_val=X[:50], y_val=1 - y[:50])
    np.testing.assert_array_equal(watched.coef_, textbook().fit(X, y).coef_)
    assert watched.validation_errors_[-1] == 1
    with pytest.raises(ValueError, match="go together"):
        textbook().fit(X, y, X_val=X)


@pytest.mark.parametrize("readout", READOUTS)
def test_warm_start_goes_on(readout):
    """Two fits of two passes in order are one of four, but for the pocket, which is weighed anew."""
    X, y = noisy(classes=3)
    settings = {"readout": readout, "shuffle": False, "tol": None}
    warm = textbook(warm_start=True, max_iter=2, **settings)
    warm.fit(X, y).fit(X, y)
    once = textbook(max_iter=4, **settings).fit(X, y)
    np.testing.assert_array_equal(warm._learner.state["w"], once._learner.state["w"])
    assert (warm.n_seen_, warm.n_updates_) == (once.n_seen_, once.n_updates_)
    if readout != "pocket":
        np.testing.assert_array_equal(warm.decision_function(X), once.decision_function(X))
    cold = textbook(max_iter=2, **settings)
    assert cold.fit(X, y).fit(X, y).n_seen_ == 2 * len(X)


def test_warm_start_with_a_new_class():
    X, y = noisy(classes=3)
    model = textbook(warm_start=True, max_iter=2).fit(X[y < 2], y[y < 2]).fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2] and model.coef_.shape == (3, 5)


def test_parameters_that_may_not_change_in_a_stream():
    X, y = noisy()
    model = textbook().partial_fit(X, y)
    with pytest.raises(ValueError, match="readout was changed"):
        model.set_params(readout="averaged").partial_fit(X, y)
    with pytest.raises(ValueError, match="fit_intercept was changed"):
        model.set_params(readout="last", fit_intercept=False).partial_fit(X, y)
    steps = textbook().partial_fit(X[:9], y[:9]).set_params(rule="margin", rule__beta=2.0).partial_fit(X, y)
    assert steps.n_updates_ > model.n_updates_


def test_initial_weights_are_checked():
    X, y = noisy(classes=3)
    start = rng.normal(size=(3, 5))
    model = textbook(max_iter=1, eta0=1e-300).fit(X, y, coef_init=start, intercept_init=[1, 2, 3])
    np.testing.assert_allclose(model.coef_, start)
    np.testing.assert_allclose(model.intercept_, [1, 2, 3])
    for keywords in ({"coef_init": start.T}, {"intercept_init": [1, 2]}, {"coef_init": start * np.nan}):
        with pytest.raises(ValueError, match=r"(coef|intercept)_init must be"):
            textbook().fit(X, y, **keywords)
    with pytest.raises(ValueError, match="intercept_init must be 0"):
        textbook(fit_intercept=False).fit(X, y, intercept_init=[1, 2, 3])


def test_class_weights_move_the_boundary():
    X, y = noisy(600)
    X[:, 0] += y
    recall = []
    for weight in (None, {1: 20.0}, "balanced"):
        model = textbook(readout="averaged", class_weight=weight, max_iter=20)
        keep = np.flatnonzero((y == 0) | (np.arange(600) % 10 == 0))
        recall.append((model.fit(X[keep], y[keep]).predict(X[y == 1]) == 1).mean())
    assert recall[1] > recall[0] and recall[2] > recall[0]
