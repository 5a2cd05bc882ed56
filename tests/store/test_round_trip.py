"""A loaded model is the saved one: it says the same, predicts the same bits, and learns on to the same bits."""

import copy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from safetensors.numpy import load_file

from perceptrons import KernelPerceptron, PassiveAggressiveClassifier, Perceptron, load, save
from perceptrons.data import Rows, as_rows
from perceptrons.data.table.encoding import Encoding
from perceptrons.learn.examples import Examples
from perceptrons.rules import PA1, PA2, RULES, kind_of
from perceptrons.store import read, write

TEXT, NUMBERS, FLOATS = np.array(["a", "bé", "cc"]), np.array([-3, 5, 70], dtype=np.int16), np.array([-1.0, 1.0, 2.0])
TRUTH, DATES = np.array([False, True]), np.array(["2020-01", "2021-05", "2024-02"], dtype="M8[M]")
FEW = {"max_iter": 3, "random_state": 3}
# Estimator, number of classes, labels, sparse. Each pair of rule and readout is compiled for some seconds: few of them.
CASES = {
    "averaged": (Perceptron(rule=PA1(C=0.5), readout="averaged", **FEW), 2, TEXT, False),
    "voted": (Perceptron(readout="voted", **FEW), 3, NUMBERS, True),
    "voted two": (Perceptron(readout="voted", fit_intercept=False, **FEW), 2, TEXT, False),
    "pocket": (Perceptron(readout="pocket", **FEW), 2, TRUTH, False),
    "random start": (Perceptron(rule=PA2(C=np.float64(2)), init="random", tie="positive", **FEW), 3, FLOATS, False),
    "infinite C": (Perceptron(rule=PA1(C=np.inf), tol=None, **FEW), 2, DATES, False),
    "burn-in": (PassiveAggressiveClassifier(average=100, C=0.5, **FEW), 2, TEXT.astype(object), False),
    "squared hinge": (PassiveAggressiveClassifier(loss="squared_hinge", **FEW), 3, DATES, False),
    "rbf": (KernelPerceptron(**FEW), 2, TRUTH, False),
    "rbf averaged": (KernelPerceptron(readout="averaged", **FEW), 3, TEXT, True),
    "rbf voted": (KernelPerceptron(readout="voted", gamma=np.float32(0.5), **FEW), 3, TEXT, False),
    "rbf pocket": (KernelPerceptron(readout="pocket", gamma="auto", **FEW), 2, FLOATS, False),
    "precomputed": (KernelPerceptron(kernel="precomputed", readout="averaged", **FEW), 2, TEXT, False),
    "random": (KernelPerceptron(budget=8, policy="random", **FEW), 3, NUMBERS, False),
    "forgetron": (KernelPerceptron(budget=8, policy="forgetron", **FEW), 2, TRUTH, True),
    "projectron": (KernelPerceptron(budget=8, policy="projectron", kernel="poly", degree=2, **FEW), 2, TEXT, False),
    "projectron++": (KernelPerceptron(budget=8, threshold=0.01, kernel="cosine", **FEW), 3, TEXT, False),
    "large budget": (KernelPerceptron(budget=10**6, kernel="sigmoid", coef0=-1, **FEW), 3, TEXT, False),
}
REPORTS = ("n_iter_", "converged_", "mistakes_", "validation_errors_", "n_seen_", "n_mistakes_", "n_updates_")


def same(one, other):
    """Whether two things are equal down to the last bit, type and layout of arrays."""
    if isinstance(one, np.ndarray):
        alike = one.dtype == other.dtype and one.shape == other.shape
        return alike and one.flags.f_contiguous == other.flags.f_contiguous and one.tolist() == other.tolist()
    if isinstance(one, Rows):
        return all(same(a, b) for a, b in zip(vars(one).values(), vars(other).values(), strict=True))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        pairs = zip(one, other, strict=True)
        return type(one) is type(other) and len(one) == len(other) and all(same(a, b) for a, b in pairs)
    if hasattr(one, "__dict__") and type(one).__module__.startswith("perceptrons"):
        return type(one) is type(other) and same(vars(one), vars(other))
    return one == other and (not isinstance(one, float) or str(one) == str(other))


def state(model):
    """All that a learner is, but for what is worked out again when it is needed."""
    learner = copy.deepcopy(model._learner)
    kept, readout = learner.compact(), copy.copy(learner.readout)
    readout.since(0)  # in as few pieces as it takes
    log = np.concatenate([np.empty((0, 5)), readout.log])
    steps = getattr(readout, "sealed", [])
    others = {name: value for name, value in vars(learner).items() if name not in ("_read", "plan", "taken", "state")}
    arrays = {name: np.asarray(kept[name], order=kept.layout) for name in kept}  # there is as much room as is in use
    return {**others, "readout": (log, steps), "arrays": arrays, "totals": kept.totals.array, "layout": kept.layout}


def compare(model, again, inputs):
    assert type(again) is type(model)
    assert again.get_params() == model.get_params()
    assert same(again.classes_, model.classes_)
    for name in REPORTS:
        assert same(getattr(again, name), getattr(model, name)), name
    for X in inputs:
        assert same(again.decision_function(X), model.decision_function(X))
        assert same(again.predict(X), model.predict(X))
    assert again.margin_bound_ == model.margin_bound_
    mine, other = state(model), state(again)
    assert mine.keys() == other.keys()
    for name in mine:
        assert same(mine[name], other[name]), name


def through_file(model, path, **options):
    save(model, path, **options)
    return load(path)


@pytest.mark.parametrize("name", CASES)
def test_saved_and_loaded_is_the_same_model(name, data, csr, path):
    estimator, n_classes, labels, sparse = CASES[name]
    model = copy.deepcopy(estimator)
    X, codes = data[0], data[n_classes - 1]
    y = labels[codes]
    rows = csr(X) if sparse else X
    if name == "precomputed":
        rows = X @ X.T + 0.0
    model.fit(rows, y)
    again = through_file(model, path)
    inputs = [rows] if name == "precomputed" else [X, csr(X)]
    compare(model, again, inputs)
    written = path.read_bytes()
    save(again, path)
    assert path.read_bytes() == written
    if name == "precomputed":
        return
    if "pocket" not in name:  # a stream, in two chunks, the second one with the file between
        for part in (slice(0, 20), slice(20, 45)):
            for each in (model, again):
                each.partial_fit(rows[part], y[part][::-1])
            compare(model, again, inputs)
            again = through_file(again, path)
    for each in (model, again):
        each.set_params(warm_start=True).fit(rows, y[::-1])
    compare(model, again, inputs)
    save(model, path)
    written = path.read_bytes()
    save(again, path)
    assert path.read_bytes() == written


@pytest.mark.parametrize("estimator", [Perceptron(readout="voted"), KernelPerceptron(gamma=1.0)])
def test_a_stream_that_has_met_one_class_goes_on_to_others(estimator, data, path):
    X, two, three = data
    model = copy.deepcopy(estimator).partial_fit(X[:3], ["x"] * 3)
    for y in (two, three) if isinstance(model, KernelPerceptron) else (two,):
        again = through_file(model, path)
        compare(model, again, [X])
        for each in (model, again):
            each.partial_fit(X, np.array(["x", "y", "z"])[y])
        compare(model, again, [X])


def test_held_out_errors_survive(data, path):
    X, two, _ = data
    model = Perceptron(rule="pa1", max_iter=3).fit(X[:40], two[:40], X_val=X[40:], y_val=two[40:])
    again = through_file(model, path)
    assert len(model.validation_errors_) == 3 and same(again.validation_errors_, model.validation_errors_)


@pytest.mark.parametrize("name", [name for name in RULES if kind_of(RULES[name]) == "tau"])
def test_every_rule_survives(name, small, path):
    for rule in (name, RULES[name](), RULES[name](*(0.1 + 0.2 for _ in RULES[name]._fields))):
        model = copy.deepcopy(small).set_params(rule=rule)
        model._learner.rule = RULES[name]() if isinstance(rule, str) else rule
        again = through_file(model, path)
        assert again.rule == rule and type(again.rule) is type(rule)
        assert again._learner.rule == model._learner.rule


@pytest.mark.parametrize("name", [name for name in RULES if kind_of(RULES[name]) != "tau"])
def test_every_rule_survives_with_what_it_keeps(name, data, path):
    X, two, _ = data
    default = RULES[name]()
    changed = {field: 0.95 * value for field, value in default._asdict().items() if type(value) is float}
    for rule in (name, default, default._replace(**(changed or {"aggressive": True}))):
        model = Perceptron(rule=rule, max_iter=2).fit(X, two)
        again = through_file(model, path)
        assert again.rule == rule and type(again.rule) is type(rule)
        compare(model, again, [X])


def test_start_and_origin_survive(data, path):
    X, two, _ = data
    model = Perceptron(rule="pa1", max_iter=2, tol=None).fit(
        X, two, coef_init=[[1.0, 0, 0, 0, -2]], intercept_init=[3.0]
    )
    again = through_file(model, path)
    before, after = model._learner.state, again._learner.state
    assert same(after["start"], before["start"]) and after["start"][-1] == 3.0
    assert same(after["origin"], before["origin"])
    assert np.isfinite(model.margin_bound_) and again.margin_bound_ == model.margin_bound_


def test_dropped_zeros_come_back(path):
    random = np.random.default_rng(0)
    X = np.zeros((20, 5000))
    X[np.arange(60) % 20, random.integers(0, 5000, 60)] = random.normal(size=60)
    averaged, several = Perceptron(rule="pa1", readout="averaged"), Perceptron(rule="pa2")
    for estimator, y in ((averaged, np.arange(20) % 2), (several, np.arange(20) % 3)):
        model = estimator.set_params(max_iter=2, tol=None).fit(X, y)
        model._learner.state["w"].flat[7] = -0.0
        save(model, path)
        whole = path.stat().st_size
        again = through_file(model, path, drop_zeros=True)
        assert path.stat().st_size < whole / 20
        compare(model, again, [X])
        assert np.signbit(again._learner.state["w"].flat[7])
        for each in (model, again):
            each.partial_fit(X, y[::-1])
        compare(model, again, [X])


def test_full_weights_are_not_stored_as_pairs(small, path):
    save(small, path)
    whole = path.read_bytes()
    save(small, path, drop_zeros=True)
    assert path.read_bytes() == whole


def test_names_of_features(data, path):
    X = pd.DataFrame(data[0], columns=["länge", "", "c d", "日本", "e"])
    model = Perceptron(rule="pa1", max_iter=2).fit(X, data[1])
    again = through_file(model, path)
    assert again.feature_names_in_.tolist() == X.columns.tolist() and again.feature_names_in_.dtype == object
    assert again.predict(X).tolist() == model.predict(X).tolist()
    with pytest.raises(ValueError, match="feature names"):
        again.predict(X[X.columns[::-1]])


def test_how_columns_become_features(small, path):
    encoding = Encoding("y", "str", ["a", "b", "c"], ["job"], [], [])
    encoding.number([np.array([0, 1])], [["teacher", "Ärztin"]], grow=True)
    model = copy.deepcopy(small)
    model.encoding_ = encoding
    again = through_file(model, path)
    assert again.encoding_.state() == encoding.state()
    assert again.encoding_.feature_names == ["a", "b", "c", "job=teacher", "job=Ärztin"]
    save(again, path)
    assert read(path).encoding.state() == encoding.state()


def test_parameters_of_all_types_survive(data, path):
    params = {"tol": None, "eta0": np.float32(0.5), "max_iter": 2, "random_state": np.int64(5)}
    model = Perceptron(rule="pa1", **params).fit(data[0], data[1] == 1)
    for weights in ({True: np.float64(2), False: 1}, {2: 1, -1: 0.5}, {0.5: 2}, {"a": 1, "rule": 2}, "balanced"):
        found = through_file(model.set_params(class_weight=weights), path).get_params()
        assert found == model.get_params()
        assert type(found["eta0"]) is float and type(found["random_state"]) is int
        kinds = [type(key) for key in found["class_weight"]]
        assert kinds == [type(key) for key in weights]


def test_changed_parameters_of_a_fitted_model_are_saved_beside_what_it_learned_with(data, path):
    model = Perceptron(rule="pa1", tie="positive", max_iter=2).fit(data[0], data[1])
    model.set_params(tie="mistake", rule="margin")
    again = through_file(model, path)
    assert again.get_params() == model.get_params()
    assert again._learner.tie_positive and same(again._learner.rule, model._learner.rule)


def test_other_programs_can_open_the_file(small, path):
    save(small, path)
    tensors = load_file(path)
    assert same(tensors["w"], small._learner.state["w"])
    saved = read(path)
    assert saved.estimator == "Perceptron" and saved.classes.tolist() == ["ham", "spam"]
    assert saved.report["n_rows"] == 60 and saved.report["mistakes"] == small.mistakes_.tolist()


@pytest.mark.parametrize("estimator", [Perceptron(readout="voted", max_iter=2), KernelPerceptron(max_iter=2)])
def test_a_learner_that_is_still_learning_is_saved_and_learns_on(estimator, data, path):
    """What a command writes between two passes changes nothing in the learner."""
    X, two, _ = data
    save(estimator.fit(X, two), path)
    rows, twins = as_rows(X), []
    for _ in range(2):
        learner = estimator._new_learner(estimator._settings(), rows, 2)
        examples = Examples(rows, two.astype(np.uint8))
        learner.once(examples, examples.order())
        twins.append((learner, examples))
    saved = read(path)
    saved.learner, saved.trained = twins[0][0], {"files": ["a.svm"], "seconds": 1.5}
    write(saved, path)
    assert read(path).trained == saved.trained
    assert same(read(path).learner.totals.array, saved.learner.totals.array)
    for learner, examples in twins:
        learner.once(examples, examples.order())
    (one, _), (other, _) = twins
    assert same(one.decide(rows), other.decide(rows)) and same(one.totals.array, other.totals.array)


def test_paths_of_all_kinds(small, tmp_path):
    for path in (tmp_path / "a", str(tmp_path / "b ü")):
        assert through_file(small, path).n_seen_ == small.n_seen_
    assert sorted(entry.name for entry in Path(tmp_path).iterdir()) == ["a", "b ü"]
