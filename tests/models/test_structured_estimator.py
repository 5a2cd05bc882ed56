"""The structured perceptron as an estimator: copies, streams, interrupts, and what it refuses."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from structured_cases import AlwaysWrong, Classes, Failing, Greedy, points, tastes

from perceptrons import StructuredPerceptron
from perceptrons.rules import PA1, Plain
from perceptrons.structures import Ranking


def test_parameters_copies_and_searches():
    X, Y, _ = tastes(noise=1.0)
    model = StructuredPerceptron(Ranking(), rule="pa1", max_iter=2, random_state=0)
    assert model.get_params()["rule__C"] == 1.0 and "Ranking" in repr(model)
    copy = clone(model.set_params(rule__C=0.01))
    assert copy.rule == PA1(0.01) and copy.problem is not model.problem
    with pytest.raises(NotFittedError):
        copy.predict(X)
    search = GridSearchCV(copy, {"rule__C": [0.01, 1.0]}, cv=3, error_score="raise").fit(X, Y)
    assert search.best_params_["rule__C"] in (0.01, 1.0)
    model.fit(X, Y)
    loaded = pickle.loads(pickle.dumps(model))
    assert loaded.predict(X) == model.predict(X)
    np.testing.assert_array_equal(loaded.partial_fit(X, Y).weights_, model.partial_fit(X, Y).weights_)


def test_a_stream_may_change_its_rule_but_not_its_problem():
    X, Y, _ = tastes(noise=1.0)
    model = StructuredPerceptron(Ranking()).partial_fit(X, Y)
    model.set_params(rule="pa", eta0=0.5).partial_fit(X, Y)
    for changed in ({"problem": Ranking()}, {"readout": "last"}):
        other = pickle.loads(pickle.dumps(model)).set_params(**changed)
        with pytest.raises(ValueError, match=f"{next(iter(changed))} was changed after learning had begun: use fit"):
            other.partial_fit(X, Y)


def test_progress_is_reported(capsys):
    X, y = points()
    StructuredPerceptron(AlwaysWrong(), verbose=2, max_iter=2).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2 and "search errors" in lines[1]


@pytest.mark.parametrize("form", ["array", "dict", "sparse"])
@pytest.mark.parametrize("error", [KeyboardInterrupt(), RuntimeError("no")])
def test_a_call_that_fails_changes_nothing(form, error):
    X, y = points()
    model = StructuredPerceptron(Failing(form, error, 90), shuffle=False)
    with pytest.raises(type(error)):
        model.fit(X[:5], y[:5]).partial_fit(np.tile(X, (3, 1)), np.tile(y, 3))
    fresh = StructuredPerceptron(Classes(form=form), shuffle=False).fit(X[:5], y[:5])
    np.testing.assert_equal(model.weights_, fresh.weights_)
    assert (model.n_seen_, model.n_updates_) == (fresh.n_seen_, fresh.n_updates_)
    np.testing.assert_equal(model.partial_fit(X, y).weights_, fresh.partial_fit(X, y).weights_)


@pytest.mark.parametrize("form", ["array", "dict", "sparse"])
def test_an_interrupted_fit_keeps_its_finished_passes(form):
    X, y = points()
    model = StructuredPerceptron(Failing(form, KeyboardInterrupt(), 150), shuffle=False, max_iter=5)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    two = StructuredPerceptron(Classes(form=form), shuffle=False, max_iter=2).fit(X, y)
    np.testing.assert_equal(model.weights_, two.weights_)
    assert model.n_iter_ == 2 and model.n_seen_ == 120 and not model.converged_
    first = StructuredPerceptron(Failing(form, KeyboardInterrupt(), 20))
    with pytest.raises(KeyboardInterrupt):
        first.fit(X, y)
    assert not hasattr(first, "n_iter_")


# -- what goes wrong ------------------------------------------------------------------------------------------


class Odd(Classes):
    """A problem with some methods replaced."""

    def __init__(self, **methods):
        super().__init__()
        self.__dict__.update(methods)


def wide(x, y):
    return np.ones(3 + y)


def outside(x, y):
    row = sp.csr_array(np.ones((1, 3)) * (1 + y))
    row.indices[-1] = -1
    return row


@pytest.mark.parametrize(
    ("methods", "error", "message"),
    [
        (
            {"features": lambda x, y: [1.0, 2.0]},
            ValueError,
            r"must return a dict of .* for example 0 it returned a list",
        ),
        ({"features": lambda x, y: None}, ValueError, "for example 0 it returned None"),
        ({"features": lambda x, y: np.ones((2, 2))}, ValueError, r"of shape \(2, 2\): return one vector"),
        ({"features": lambda x, y: sp.eye_array(2)}, ValueError, r"of shape \(2, 2\): return one vector"),
        (
            {"features": outside, "argmax": lambda x, w: 1},
            ValueError,
            "indices range from -1 to 1, expected 0 to 2",
        ),
        ({"features": lambda x, y: np.full(2, np.nan)}, ValueError, "nan for feature 0: values must be finite"),
        ({"features": lambda x, y: np.array(["a"])}, ValueError, "an array of <U1: values must be numbers"),
        ({"features": wide, "argmax": lambda x, w: 1}, ValueError, r"y by problem.argmax, .* 4 features, but 3 before"),
        ({"features": lambda x, y: {"a": "1"}}, ValueError, "a str for 'a': values must be numbers"),
        ({"features": lambda x, y: {"a": np.inf}}, ValueError, "inf for 'a': values must be finite"),
        (
            {"features": lambda x, y: {"a": 1} if y else np.ones(2), "argmax": lambda x, w: 1},
            ValueError,
            "it returned a dict, but an array before: return one kind for all structures",
        ),
        (
            {"features": lambda x, y: np.ones(2) if y else {"a": 1}, "argmax": lambda x, w: 1},
            ValueError,
            "it returned a ndarray, but a dict before: return one kind for all structures",
        ),
        (
            {"argmax": lambda x, w: None},
            ValueError,
            r"argmax\(x, weights\) must return a structure; for example 0 .* None",
        ),
        ({"argmax": lambda x, w: 1, "loss": lambda y, z: -1}, ValueError, "must return a number >= 0; .* returned -1"),
        (
            {"argmax": lambda x, w: 1, "loss": lambda y, z: "x"},
            ValueError,
            "must return a number >= 0; .* returned 'x'",
        ),
        (
            {"argmax": lambda x, w: sp.eye_array(2)},
            TypeError,
            "structures must be comparable: for example 0, y == y_hat",
        ),
        ({"violation": lambda x, w, y: 3}, ValueError, "must return a pair .* for example 0 it returned a int"),
        ({"argmax": 3}, TypeError, r"problem must have a method argmax\(x, weights\) that returns the best structure"),
    ],
)
def test_what_a_problem_returns_is_checked(methods, error, message):
    model = StructuredPerceptron(Odd(**methods), shuffle=False)
    with pytest.raises(error, match=message):
        model.fit(np.ones((2, 1)), [0, 0])
    with pytest.raises(NotFittedError):
        model.predict([1])


def test_errors_of_a_problem_say_where():
    with pytest.raises(IndexError) as caught:
        StructuredPerceptron(Odd(argmax=lambda x, w: 7), shuffle=False).fit(np.ones((2, 1)), [0, 0])
    assert caught.value.__notes__ == ["raised by problem.features(x, y), y by problem.argmax, for example 0"]


@pytest.mark.parametrize(
    ("settings", "error", "message"),
    [
        ({"problem": Ranking}, TypeError, r"problem must be an object, got the class Ranking: pass Ranking\(\)"),
        ({"problem": None}, TypeError, r"problem must have a method features\(x, y\) .* NoneType has none"),
        ({"problem": Greedy(), "rule": "margin"}, ValueError, r"needs problem\.augmented\(x, weights, y, scale\)"),
        ({"readout": "voted"}, ValueError, "The 'readout' parameter .* must be a str among"),
        ({"rule": "adagrad"}, ValueError, "rule must be one of 'perceptron'"),
        ({"max_iter": 0}, ValueError, "The 'max_iter' parameter"),
    ],
)
def test_settings_are_checked(settings, error, message):
    with pytest.raises(error, match=message):
        StructuredPerceptron(**{"problem": Classes(), **settings}).fit(["a"], ["b"])


@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([1, 2], [1], "X and Y must have the same length, got 2 and 1"),
        ([], [], "X has no examples"),
        ("ab", [1, 2], "X must be a sequence with one entry per example, got a str"),
        ([1], 1, "Y must be a sequence with one entry per example, got a int"),
        ([1], np.array(1), "Y must be a sequence with one entry per example, got a ndarray"),
    ],
)
def test_examples_are_checked(X, Y, message):
    with pytest.raises((TypeError, ValueError), match=message):
        StructuredPerceptron(Classes()).fit(X, Y)


def test_frames_are_refused():
    pd = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match="got a data frame: pass a list of its rows"):
        StructuredPerceptron(Classes()).fit(pd.DataFrame({"a": [1, 2]}), [0, 1])


@pytest.mark.parametrize("form", ["array", "dict", "sparse"])
def test_overflow_is_refused(form):
    model = StructuredPerceptron(Classes(form=form), eta0=1e200, rule=Plain()).fit([[1.0]], [0])
    with pytest.raises(ValueError, match="weights overflow float64 at example 0"):
        model.partial_fit([[1e150]], [1])
    with pytest.raises(ValueError, match="weights overflow float64 at example 1"):
        model.partial_fit([[1.0], [1e200]], [0, 1])
    assert model.n_seen_ == 1 and model.predict([[1.0]]) == [0]
