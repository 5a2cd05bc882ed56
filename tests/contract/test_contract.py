"""What every estimator promises: parameters, repeatable fits, streams, refusals without harm, counts that add up."""

import pickle
import sys
from copy import deepcopy
from itertools import pairwise

import joblib
import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError

from perceptrons import PassiveAggressiveClassifier
from perceptrons.rules import PA1

COUNTS = ("n_seen_", "n_mistakes_", "n_updates_")


def new(case, **params):
    """A new model whose fits are repeatable."""
    return clone(case.model).set_params(**{"random_state": 3, "max_iter": 4, **params})


def told(model, X):
    """What one can see of a fitted model: predictions, scores, counts and the proof."""
    scores = model.decision_function(X).tolist() if hasattr(model, "decision_function") else None
    counts = [getattr(model, name) for name in COUNTS]
    return list(model.predict(X)), scores, counts, model.mistakes_.tolist(), model.margin_bound_


def test_parameters_survive_a_round_trip(case):
    model = clone(case.model)
    if isinstance(model, PassiveAggressiveClassifier):  # it has scikit-learn's parameters
        model.set_params(C=0.25)
    else:
        model.set_params(rule="pa1").set_params(rule__C=0.25)
        assert model.rule == PA1(0.25) and model.get_params()["rule__C"] == 0.25
        assert "rule__C" not in model.get_params(deep=False)
    plain = model.get_params(deep=False)
    assert clone(case.model).set_params(**model.get_params()).get_params(deep=False) == plain
    copy = clone(model).get_params(deep=False)
    assert copy | {"problem": None} == plain | {"problem": None}  # problems cannot be compared
    with pytest.raises(ValueError, match="Invalid parameter 'bogus'"):
        model.set_params(bogus=1)
    with pytest.raises(ValueError, match="max_iter"):
        model.set_params(max_iter=0).fit(*case.data())


def test_a_model_that_is_not_fitted_says_so(case):
    X, y = case.data()
    model = clone(case.model)
    with pytest.raises(NotFittedError):
        model.predict(X)
    with pytest.raises(NotFittedError):
        model.score(X, y)
    for name in (*COUNTS, "margin_bound_", "mistakes_", "converged_", "n_iter_"):
        assert not hasattr(model, name)


def test_fit_returns_the_model_and_changes_neither_parameters_nor_data(case):
    X, y = case.data()
    model = new(case)
    params, given = repr(model.get_params()), pickle.dumps((X, y))
    assert model.fit(X, y) is model and model.partial_fit(X, y) is model
    model.predict(X)
    assert repr(model.get_params()) == params and pickle.dumps((X, y)) == given


def test_fits_repeat(case):
    X, y = case.data()
    first = new(case).fit(X, y)
    assert told(new(case).fit(X, y), X) == told(first, X)
    again = new(case).fit(X[::-1], y[::-1]).fit(X, y)
    assert told(again, X) == told(first, X)
    streamed = new(case).partial_fit(X[:9], y[:9]).fit(X, y)
    assert told(streamed, X) == told(first, X)


@pytest.mark.parametrize("cuts", [(1, 2, 11), (15,), range(1, 30)], ids=["uneven", "halves", "single"])
def test_a_stream_may_be_cut_anywhere(case, cuts):
    X, y = case.data()
    # Without a number, gamma is chosen by the first rows.
    params = {"gamma": 0.25} if "gamma" in case.model.get_params() else {}
    whole, parts = new(case, **params).partial_fit(X, y), new(case, **params)
    edges = [0, *cuts, len(X)]
    for begin, end in pairwise(edges):
        parts.partial_fit(X[begin:end], y[begin:end])
    ours, theirs = told(parts, X), told(whole, X)
    assert sum(ours[3]) <= theirs[3][0] and not parts.converged_  # mistakes of the last call
    assert (ours[0], ours[2]) == (theirs[0], theirs[2])
    np.testing.assert_allclose(parts.margin_bound_, whole.margin_bound_)
    if ours[1] is not None:
        np.testing.assert_allclose(ours[1], theirs[1], atol=1e-9)


def test_bad_examples_leave_the_model_as_it_was(case):
    X, y = case.data()
    fitted = new(case).fit(X, y)
    before = told(fitted, X)
    for bad in case.bad:
        unfitted = new(case)
        for verb in (fitted.partial_fit, fitted.fit, unfitted.partial_fit, unfitted.fit):
            with pytest.raises((ValueError, TypeError)):
                verb(*bad)
        assert told(fitted, X) == before
        assert not hasattr(unfitted, "n_seen_")
    assert told(fitted.partial_fit(X, y), X) == told(new(case).fit(X, y).partial_fit(X, y), X)


class Interrupting:
    """A terminal at which somebody types Ctrl-C when a number of lines has been printed."""

    def __init__(self, lines):
        self.lines = lines

    def write(self, text):
        self.lines -= text.count("\n")
        if self.lines <= 0:
            raise KeyboardInterrupt

    def flush(self):
        pass


@pytest.mark.parametrize("lines", [1, 2])
def test_an_interrupt_leaves_a_model_that_can_be_used(case, lines, monkeypatch):
    X, y = case.data()
    model = new(case).fit(X[:20], y[:20])
    before = told(model, X)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(sys, "stdout", Interrupting(lines))
        model.set_params(verbose=2, tol=None).fit(X, y)
    after = told(model, X)
    if after != before:
        assert model.n_seen_ == model.n_iter_ * len(X) and 1 <= model.n_iter_ <= lines
    assert told(model.set_params(verbose=0).fit(X, y), X) == told(new(case, tol=None).fit(X, y), X)


def test_copies_predict_and_go_on_alike(case, tmp_path):
    X, y = case.data()
    model = new(case).fit(X, y)
    joblib.dump(model, tmp_path / "model")
    copies = [pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model"), deepcopy(model)]
    before = told(model, X)
    after = told(model.partial_fit(X[:9], y[:9]), X)
    for copy in copies:
        assert told(copy, X) == before
        assert told(copy.partial_fit(X[:9], y[:9]), X) == after


def test_counts_add_up(case):
    X, y = case.data()
    model = new(case).fit(X, y)
    assert len(model.mistakes_) == model.n_iter_ <= 4
    assert model.n_seen_ == model.n_iter_ * len(X)
    assert model.n_mistakes_ == model.mistakes_.sum() > 0
    assert model.converged_ == (model.mistakes_[-1] == 0)
    params = model.get_params()
    plain = params.get("rule") == "perceptron" and not params.get("budget")  # a projectron steps at small margins too
    assert model.n_updates_ == model.n_mistakes_ if plain else model.n_updates_ >= model.n_mistakes_
    seen, mistakes = model.n_seen_, model.n_mistakes_
    model.partial_fit(X, y)
    assert model.n_seen_ == seen + len(X) and model.n_mistakes_ == mistakes + model.mistakes_.sum()


def test_one_pass(case):
    X, y = case.data()
    model = new(case, max_iter=1).fit(X, y)
    assert model.n_iter_ == 1 and model.n_seen_ == len(X)


def test_only_verbose_models_print(case, capsys):
    X, y = case.data()
    quiet = new(case).fit(X, y)
    assert capsys.readouterr().out == ""
    loud = new(case, verbose=2).fit(X, y)
    assert len(capsys.readouterr().out.splitlines()) >= loud.n_iter_
    assert told(quiet, X) == told(loud, X)


def test_what_has_converged_makes_no_mistake(case):
    X, y = case.data()
    values, passive = is_regressor(case.model), "average" in case.model.get_params()
    params = {"average": False} if passive else {"readout": "last"}
    if values:  # steps of AROW shrink too fast for a bound on every error
        params |= {"rule": "pa1", "epsilon": 1.0, "tol": None}
    model = new(case, max_iter=500, **params).fit(X, y)
    assert model.converged_
    if values:
        assert np.abs(model.predict(X) - y).max() <= model.epsilon
    else:
        assert model.score(X, y) == 1.0
