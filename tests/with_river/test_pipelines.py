"""Our models in River's hands: pipelines, ensembles, encoders and converters."""

from collections import Counter

import numpy as np
import pytest

import perceptrons

pytest.importorskip("river", reason="perceptrons.river is for users of River, who have it installed")

from river import (
    compat,
    compose,
    datasets,
    dummy,
    ensemble,
    evaluate,
    feature_extraction,
    metrics,
    multiclass,
    preprocessing,
    stats,
    stream,
    tree,
    utils,
)

import perceptrons.river as ours

CLASSIFIERS = {
    "perceptron": ours.Perceptron(),
    "arow": ours.Perceptron(rule="arow"),
    "passive-aggressive": ours.PassiveAggressiveClassifier(average=True),
    "kernel": ours.KernelPerceptron(),
}


def accuracy(model, data):
    return evaluate.progressive_val_score(data, model, metrics.Accuracy()).get()


def majority(data):
    labels = [y for _, y in data]
    return Counter(labels).most_common(1)[0][1] / len(labels)


@pytest.mark.parametrize("data", [datasets.Phishing(), datasets.ImageSegments()], ids=["two", "several"])
@pytest.mark.parametrize("model", CLASSIFIERS.values(), ids=CLASSIFIERS)
def test_pipelines_beat_the_majority(model, data):
    data = list(data.take(500))
    assert accuracy(preprocessing.StandardScaler() | model.clone(), data) > majority(data) + 0.1


@pytest.mark.parametrize("rule", [None, "pa", "arow"])
def test_regression_beats_the_mean(rule):
    data = list(datasets.TrumpApproval())

    def error(each):
        return evaluate.progressive_val_score(data, each, metrics.MAE()).get()

    scaled = preprocessing.TargetStandardScaler(
        preprocessing.StandardScaler() | ours.PassiveAggressiveRegressor(rule=rule)
    )
    assert error(scaled) < 0.5 * error(dummy.StatisticRegressor(stats.Mean()))


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda model: ensemble.BaggingClassifier(model, n_models=3, seed=1),
        lambda model: ensemble.AdaBoostClassifier(model, n_models=3, seed=1),
        lambda model: ensemble.VotingClassifier([model, ours.PassiveAggressiveClassifier()]),
        multiclass.OneVsRestClassifier,
        multiclass.OneVsOneClassifier,
    ],
    ids=["bagging", "boosting", "voting", "one against the rest", "one against one"],
)
def test_ensembles(wrapped):
    data = list(datasets.ImageSegments().take(300))
    assert accuracy(preprocessing.StandardScaler() | wrapped(ours.Perceptron()), data) > majority(data) + 0.1


def test_other_models_of_river_that_use_ours():
    leaves = tree.HoeffdingTreeRegressor(leaf_model=ours.PassiveAggressiveRegressor(rule="pa"))
    assert evaluate.progressive_val_score(datasets.TrumpApproval().take(300), leaves, metrics.MAE()).get() < 10
    grid = utils.expand_param_grid(ours.PassiveAggressiveClassifier(), {"C": [0.1, 1.0]})
    assert [model.C for model in grid] == [0.1, 1.0]


def test_features_that_river_makes():
    """One-hot encoded text, or text itself; n-grams and random features, whose names are tuples."""
    encoded = compose.SelectType(str) | preprocessing.OneHotEncoder()
    numbers = compose.SelectType(float, int) | preprocessing.StandardScaler()
    data = [({"size": float(i), "colour": ["red", "blue"][i % 2]}, ["no", "yes"][i % 2]) for i in range(20)]
    for model in ((encoded + numbers) | ours.Perceptron(), ours.Perceptron()):
        for x, y in data:
            model.learn_one(x, y)
        assert model.predict_one({"colour": "blue"}) == "yes" and model.predict_one({"colour": "red"}) == "no"

    model = feature_extraction.BagOfWords(ngram_range=(1, 2)) | ours.Perceptron()
    for text, y in [("not good", False), ("good", True), ("not bad", True), ("bad", False)] * 10:
        model.learn_one(text, y)
    assert [model.predict_one(text) for text in ("not good", "not bad")] == [False, True]
    assert "('not', 'good')" in model["Perceptron"].estimator.feature_names_in_

    sampled = preprocessing.StandardScaler() | feature_extraction.RBFSampler(seed=1) | ours.Perceptron()
    assert accuracy(sampled, datasets.Phishing().take(300)) > 0.7


def test_scikit_learn_by_way_of_river():
    X, y = np.tile(np.eye(3), (5, 1)), np.tile(["a", "b", "c"], 5)
    model = compat.convert_river_to_sklearn(ours.Perceptron(rule="arow"))
    assert model.fit(X, y).score(X, y) == 1.0
    assert model.predict_proba(X).sum(axis=1) == pytest.approx(1.0)
    back = compat.convert_sklearn_to_river(perceptrons.Perceptron(), classes=["a", "b", "c"])
    for x, label in stream.iter_array(X, y):
        back.learn_one(x, label)
    assert back.predict_one({0: 0.0, 1: 0.0, 2: 1.0}) == "c"


def test_the_estimator_can_be_saved(tmp_path):
    model = ours.Perceptron(readout="averaged")
    data = list(datasets.Phishing().take(100))
    for x, y in data:
        model.learn_one(x, y)
    perceptrons.save(model.estimator, tmp_path / "model.perceptron")
    loaded = perceptrons.load(tmp_path / "model.perceptron")
    assert [loaded.predict_one(x) for x, _ in data] == [model.predict_one(x) for x, _ in data]


def test_memory_is_that_of_the_model():
    """Compiled code, which all models share, does not count."""
    model = preprocessing.StandardScaler() | ours.Perceptron()
    evaluate.progressive_val_score(datasets.Phishing().take(200), model, metrics.Accuracy())
    assert model["Perceptron"].estimator.coef_.nbytes < model["Perceptron"]._raw_memory_usage < 20_000
