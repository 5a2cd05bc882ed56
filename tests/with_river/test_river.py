"""Our estimators as River's models: they pass River's own checks, and do exactly what the estimators do."""

import copy
import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest

import perceptrons
from perceptrons import rules

pytest.importorskip("river", reason="perceptrons.river is for users of River, who have it installed")

from river import base, checks, datasets

import perceptrons.river as ours

CLASSIFIERS = {
    "perceptron": ours.Perceptron(),
    "arow": ours.Perceptron(rule="arow"),
    "arow, scaled": ours.Perceptron(rule="arow", scale="online"),
    "pa2, averaged": ours.Perceptron(rule="pa2", readout="averaged", class_weight={True: 2.0, "sky": 2.0}),
    "pa": ours.Perceptron(rule=rules.PA(), fit_intercept=False, tie="positive"),
    "passive-aggressive": ours.PassiveAggressiveClassifier(average=True, scale="online"),
    "kernel": ours.KernelPerceptron(budget=20),
    "kernel, random": ours.KernelPerceptron(budget=20, policy="random", rule="pa1"),
}
REGRESSORS = {
    "regression": ours.PassiveAggressiveRegressor(),
    "regression, arow": ours.PassiveAggressiveRegressor(rule="arow", average=True),
}
EACH_CLASSIFIER = pytest.mark.parametrize("model", CLASSIFIERS.values(), ids=CLASSIFIERS)
EACH = pytest.mark.parametrize("model", (CLASSIFIERS | REGRESSORS).values(), ids=CLASSIFIERS | REGRESSORS)


def examples(model, n=200):
    """A stream of raw features: seven classes, or numbers."""
    data = datasets.ImageSegments() if isinstance(model, base.Classifier) else datasets.TrumpApproval()
    return list(data.take(n))


def plain(model):
    """The estimator of our own that a model stands for."""
    return getattr(perceptrons, type(model).__name__)(**model._get_params())


# -- River's rules ----------------------------------------------------------------------------------------------------


@EACH
def test_rivers_own_checks(model):
    if model is CLASSIFIERS["kernel, random"]:
        pytest.skip("takes long, and differs from the other kernel perceptron only in what it forgets")
    assert not model._unit_test_skips()
    checks.check_estimator(model)


@EACH
def test_a_clone_is_untrained_and_has_equal_parameters(model):
    model = model.clone()
    stream = examples(model, 50)
    for x, y in stream:
        assert model.learn_one(x, y) is None
    fresh = model.clone()
    assert fresh._get_params() == model._get_params()
    assert fresh.predict_one(stream[0][0]) == (None if isinstance(model, base.Classifier) else 0.0)
    whole = model.clone(include_attributes=True)
    assert whole.estimator is not model.estimator and whole.estimator.n_seen_ == 50


@EACH
def test_pickles_and_copies_in_the_middle_of_a_stream_go_on_alike(model):
    model = model.clone()
    stream = examples(model)
    for x, y in stream[:100]:
        model.learn_one(x, y)
    others = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model)]
    for x, y in stream[100:]:
        for each in [model, *others]:
            each.learn_one(x, y)
    for each in others:
        assert each.estimator is not model.estimator
        assert [each.score_one(x) for x, _ in stream] == [model.score_one(x) for x, _ in stream]
        assert each.estimator.n_updates_ == model.estimator.n_updates_


def test_defaults_are_those_of_the_estimators():
    """Except where a stream asks for others. All parameters are keywords, and none is about passes."""
    other = {("KernelPerceptron", name) for name in ("budget", "gamma", "rule", "readout")} | {
        ("Perceptron", "readout")
    }
    for name in ours.__all__:
        theirs = inspect.signature(getattr(perceptrons, name)).parameters
        for parameter in inspect.signature(getattr(ours, name)).parameters.values():
            assert parameter.kind is parameter.KEYWORD_ONLY
            same = parameter.default == theirs[parameter.name].default
            assert same is ((name, parameter.name) not in other), (name, parameter)
            assert parameter.name not in ("max_iter", "tol", "shuffle", "early_stopping", "warm_start", "verbose")
            assert f"\n{parameter.name} : " in inspect.getdoc(getattr(ours, name))


# -- the same as the estimators ---------------------------------------------------------------------------------------


@EACH
def test_a_model_does_what_its_estimator_does(model):
    model, estimator = model.clone(), plain(model)
    at_first = None if isinstance(model, base.Classifier) else 0.0
    for i, (x, y) in enumerate(examples(model)):
        assert model.score_one(x) == estimator.score_one(x)
        assert model.predict_one(x) == (estimator.predict_one(x) if i > 0 else at_first)
        model.learn_one(x, y)
        estimator.learn_one(x, y)
    assert model.estimator.n_mistakes_ == estimator.n_mistakes_ > 0
    assert model.estimator.n_updates_ == estimator.n_updates_ > 0


def test_weights_of_examples():
    """w is the weight of an example; w = 1 is none, so that rules which accept no weights learn."""
    model, estimator = ours.PassiveAggressiveClassifier(), perceptrons.PassiveAggressiveClassifier()
    for i, (x, y) in enumerate(datasets.Phishing().take(100)):
        model.learn_one(x, y, w=0.1 * (1 + i % 3))
        estimator.learn_one(x, y, 0.1 * (1 + i % 3), classes=None if i else [False, True])
    assert (model.estimator.coef_ == estimator.coef_).all()
    unweighted = ours.Perceptron(rule="pa")
    unweighted.learn_one({"a": 1.0}, True, w=1)
    with pytest.raises(ValueError, match="sample_weight"):
        unweighted.learn_one({"a": 1.0}, False, w=2)


@pytest.mark.parametrize("library, values", [("pandas", "data"), ("polars", "values")])
def test_data_frames(library, values):
    frames = pytest.importorskip(library)
    stream = list(datasets.Phishing().take(100))
    X, y = frames.DataFrame([x for x, _ in stream]), frames.Series(name="spam", **{values: [y for _, y in stream]})
    by_rows, at_once = ours.Perceptron(rule="arow"), ours.Perceptron(rule="arow")
    for x, label in stream:
        by_rows.learn_one(x, label, w=0.5)
    at_once.predict_many(X)  # of nothing learned
    at_once.predict_proba_many(X)
    at_once.learn_many(X, y, w=0.5)
    assert (at_once.estimator.coef_ == by_rows.estimator.coef_).all()
    found = at_once.predict_many(X)
    assert isinstance(found, frames.Series) and found.name == "spam"
    assert found.to_list() == [by_rows.predict_one(x) for x, _ in stream]
    shares = at_once.predict_proba_many(X)
    assert shares.shape == (100, 2)
    one = by_rows.predict_proba_one(stream[3][0])
    assert {str(label): shares[label if library == "pandas" else str(label)][3] for label in one} == {
        str(label): share for label, share in one.items()
    }
    weighted = ours.Perceptron(rule="arow")
    weighted.learn_many(X, y, w=frames.Series(**{values: [0.5] * 100}))
    assert (weighted.estimator.coef_ == by_rows.estimator.coef_).all()


def test_parameters_can_change_while_a_model_learns():
    model, estimator = ours.PassiveAggressiveClassifier(), perceptrons.PassiveAggressiveClassifier()
    stream = list(datasets.Phishing().take(100))
    for i, (x, y) in enumerate(stream):
        if i == 50:
            model.mutate({"C": 0.01})
            estimator.set_params(C=0.01)
        model.learn_one(x, y)
        estimator.learn_one(x, y, classes=None if i else [False, True])
    assert model.C == model.estimator.C == 0.01
    assert (model.estimator.coef_ == estimator.coef_).all()
    with pytest.raises(ValueError, match="'average' is not a mutable attribute"):
        model.mutate({"average": True})
    model.average = True
    with pytest.raises(ValueError, match="readout was changed after learning had begun"):
        model.learn_one(*stream[0])


def test_what_a_stream_does_not_allow():
    with pytest.raises(ValueError, match="Perceptron cannot learn from a stream, because readout='pocket'"):
        ours.Perceptron(readout="pocket")
    with pytest.raises(ValueError, match="kernel='precomputed'"):
        ours.KernelPerceptron(kernel="precomputed")
    model = ours.Perceptron()
    with pytest.raises(ValueError, match="pocket"):
        model.readout = "pocket"
    assert model.readout == model.estimator.readout == "last"
    with pytest.raises(ValueError, match="balanced"):
        ours.Perceptron(class_weight="balanced").learn_one({"a": 1.0}, True)


def test_rules_without_parameters():
    """They are empty tuples, which River's `clone` takes for something else."""

    class Mine(type(rules.PA())):
        pass

    assert ours.Perceptron(rule=rules.PA()).clone().rule == "pa"
    assert ours.Perceptron(rule=rules.PA1(C=0.5)).clone().rule == rules.PA1(C=0.5)
    with pytest.raises(ValueError, match=r"River cannot clone .* register it"):
        ours.Perceptron(rule=Mine())


@pytest.mark.parametrize("first", [True, False, np.True_])
def test_the_first_truth_value_announces_both_classes(first):
    """So the first example is learned, as River's models do; of other labels, only those are known that have come."""
    model, estimator = ours.Perceptron(), perceptrons.Perceptron()
    model.learn_one({"a": 1.0}, first)
    estimator.learn_one({"a": 1.0}, bool(first), classes=[False, True])
    assert model.estimator.classes_.tolist() == [False, True]
    assert model.score_one({"a": 1.0}) == estimator.score_one({"a": 1.0}) != 0.0
    frames = pytest.importorskip("pandas")
    at_once = ours.Perceptron()
    at_once.learn_many(frames.DataFrame({"a": [1.0]}), frames.Series([first]))
    assert at_once.score_one({"a": 1.0}) == model.score_one({"a": 1.0})
    text = ours.Perceptron()
    text.learn_one({"a": 1.0}, "yes")
    assert text.estimator.classes_.tolist() == ["yes"] and text.score_one({"a": 1.0}) == 0.0


# -- labels and probabilities -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [(False, True), (np.False_, np.True_), (0, 1), ("ham", "spam")])
def test_labels_come_back_as_they_are(labels):
    model = ours.Perceptron()
    for _ in range(3):
        model.learn_one({"a": 1.0}, labels[1])
        model.learn_one({"b": 1.0}, labels[0])
    assert [model.predict_one({"b": 1.0}), model.predict_one({"a": 1.0})] == list(labels)
    kind = type(labels[0].item() if isinstance(labels[0], np.bool_) else labels[0])
    assert type(model.predict_one({"a": 1.0})) is kind
    assert set(model.predict_proba_one({"a": 1.0})) == set(labels)


@EACH_CLASSIFIER
def test_shares_of_labels(model):
    """Nothing before the first example, all for the only label known, and then shares that order as scores do."""
    text, model = model.clone(), model.clone()
    assert model.predict_proba_one({"a": 1.0}) == {}
    text.learn_one({"a": 1.0}, "sky")
    assert text.predict_proba_one({"a": 1.0}) == {"sky": 1.0}
    stream = list(datasets.Phishing().take(100))
    model.learn_one(*stream[0])
    assert set(model.predict_proba_one({"a": 1.0})) == {False, True}
    for x, y in stream:
        model.learn_one(x, y)
    shares = np.array([model.predict_proba_one(x)[True] for x, _ in stream])
    scores = np.array([model.score_one(x) for x, _ in stream])
    assert ((shares > 0.5) == (scores > 0.0)).all()
    if getattr(model, "rule", None) == "arow":
        X = np.array([[x[name] for name in model.estimator.feature_names_in_] for x, _ in stream])
        expected = model.estimator.predict_proba(X)[:, 1]
    else:
        expected = 1.0 / (1.0 + np.exp(-scores))
    np.testing.assert_allclose(shares, expected, rtol=1e-9)


# -- importing --------------------------------------------------------------------------------------------------------


def python(code):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)


def test_river_is_not_imported_otherwise():
    run = python("import perceptrons, sys; perceptrons.Perceptron; perceptrons.load; print('river' in sys.modules)")
    assert run.stdout == "False\n", run.stderr


def test_without_river_the_error_names_the_extra():
    run = python("import sys; sys.modules['river'] = None; import perceptrons.river")
    assert run.returncode == 1
    assert 'ImportError: perceptrons.river needs River 0.26 or later: pip install "perceptrons[river]"' in run.stderr
