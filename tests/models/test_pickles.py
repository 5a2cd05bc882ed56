"""Pickles and skops files hold plain data, and models from them go on learning as if nothing had happened."""

import copy
import io
import pickle

import joblib
import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons import KernelPerceptron, PassiveAggressiveClassifier, Perceptron, SequenceTagger, StructuredPerceptron
from perceptrons.learn.plain import TYPE, flattened, restored
from perceptrons.learn.state import State
from perceptrons.learn.structure.joint_space import Weights
from perceptrons.rules import PA1
from perceptrons.structures import Ranking

PLAIN = (type(None), bool, int, float, str, np.ndarray, np.generic)
rng = np.random.default_rng(0)
X = rng.integers(-3, 4, size=(40, 4)).astype(np.float64)
TWO, THREE = (X @ [3, -2, 1, 5] > 0).astype(int), rng.integers(3, size=40)
FEW = {"max_iter": 2, "shuffle": False}
SENTENCES, TAGS = [["the", "cat"], ["a", "dog", "sleeps"]], [["D", "N"], ["D", "N", "V"]]
ITEMS = [[[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]]]

MODELS = {
    "last": (Perceptron(**FEW), X, THREE),
    "averaged": (Perceptron(readout="averaged", rule=PA1(C=0.1), **FEW), sp.csr_array(X), TWO),
    "voted": (Perceptron(readout="voted", **FEW), X, TWO),
    "passive-aggressive": (PassiveAggressiveClassifier(average=100, **FEW), X, THREE),
    "kernel": (KernelPerceptron(gamma=0.1, readout="voted", **FEW), X, THREE),
    "random": (KernelPerceptron(gamma=0.1, budget=5, policy="random", **FEW), X, TWO),
    "projectron++": (KernelPerceptron(gamma=0.1, budget=5, **FEW), X, TWO),
    "templates": (SequenceTagger(features="pos", **FEW), SENTENCES, TAGS),
    "names": (SequenceTagger(**FEW), [[[word] for word in line] for line in SENTENCES], TAGS),
    "ranking": (StructuredPerceptron(Ranking(), **FEW), ITEMS, [[2, 0, 1], [0, 1, 2]]),
}
CASES = pytest.mark.parametrize("name", MODELS)


def fitted(name):
    model, X, y = MODELS[name]
    return copy.deepcopy(model).fit(X, y), X, y


def assert_plain(value):
    if type(value) is dict:
        assert all(type(key) is str for key in value)
        value = list(value.values())
    if type(value) in (list, tuple):
        for part in value:
            assert_plain(part)
    else:
        assert isinstance(value, PLAIN), type(value)


def assert_equal(a, b):
    """States are equal, bit for bit."""
    assert type(a) is type(b)
    if type(a) is dict:
        assert list(a) == list(b)
        a, b = list(a.values()), list(b.values())
    if type(a) in (list, tuple):
        assert len(a) == len(b)
        for x, y in zip(a, b, strict=True):
            assert_equal(x, y)
    else:
        np.testing.assert_array_equal(a, b, strict=isinstance(a, np.ndarray))


@CASES
def test_states_are_plain(name):
    model, *_ = fitted(name)
    state = model.__getstate__()
    assert_plain(state)
    assert "_locks" not in state and "_locks" in vars(model)


def memory_mapped(model, tmp_path):
    joblib.dump(model, tmp_path / "model")
    return joblib.load(tmp_path / "model")


def by_skops(model, tmp_path):
    skops = pytest.importorskip("skops.io")
    content, own = skops.dumps(model), f"{type(model).__module__}.{type(model).__name__}"
    assert skops.get_untrusted_types(data=content) == [own]
    return skops.loads(content, trusted=[own])


COPIES = {
    "pickle": lambda model, path: pickle.loads(pickle.dumps(model)),
    "joblib": memory_mapped,
    "deepcopy": lambda model, path: copy.deepcopy(model),
    "skops": by_skops,
}


@CASES
@pytest.mark.parametrize("way", COPIES)
def test_copies_go_on_learning(name, way, tmp_path):
    model, X, y = fitted(name)
    again = COPIES[way](model, tmp_path)
    assert_equal(again.__getstate__(), model.__getstate__())
    for each in (again, model):
        each.partial_fit(X, y)
    assert again.n_seen_ == model.n_seen_ > len(y)
    assert_equal(again.__getstate__(), model.__getstate__())
    if isinstance(model, SequenceTagger):
        assert again._tagger.learner is again._learner


def test_a_memory_map_of_a_pickle_predicts(tmp_path):
    model, X, _ = fitted("kernel")
    joblib.dump(model, tmp_path / "model")
    again = joblib.load(tmp_path / "model", mmap_mode="r")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_untrained_models_and_what_users_wrote():
    model = pickle.loads(pickle.dumps(Perceptron(rule=PA1(C=0.5), class_weight={TYPE: 2.0, 1: 3.0})))
    assert model.rule == PA1(C=0.5) and type(model.rule) is PA1
    assert model.class_weight == {TYPE: 2.0, 1: 3.0}
    curved = KernelPerceptron(kernel=linear, **FEW).fit(X, TWO)
    again = pickle.loads(pickle.dumps(curved))
    assert again.kernel is linear and again._learner.space.kernel is linear
    np.testing.assert_array_equal(again.predict(X), curved.predict(X))


def linear(A, B):
    return A @ B.T


def test_a_shallow_copy_shares_the_learner():
    model, *_ = fitted("last")
    assert copy.copy(model)._learner is model._learner


def test_copies_notice_overflow():
    model = pickle.loads(pickle.dumps(fitted("last")[0]))
    model._learner.state["w"][0] = np.inf
    with pytest.raises(ValueError, match="overflow"):
        model._learner.check_finite()


def test_objects_that_occur_twice_stay_one():
    state, array = State(), np.arange(3.0)
    state["w"] = array
    first, second, third = restored(flattened([state, {"again": state}, array]))
    assert first is second["again"] and type(first) is State and first["w"] is third


def test_dicts_with_any_keys():
    array = np.arange(2.0)
    value = {"names": Weights({("a", 1): 2.0, 3: 4.0}), "others": {("b", 2): [array], None: {TYPE: array}}}
    assert_plain(flattened(value))
    again = restored(pickle.loads(pickle.dumps(flattened(value))))
    assert again["names"] == value["names"] and type(again["names"]) is Weights
    assert again["names"]["unknown"] == 0.0
    assert again["others"]["b", 2][0] is again["others"][None][TYPE]


@pytest.mark.parametrize("name", ["cli.main.main", "__main__.main", "learn.fit.fit", "learn.fit.np", "os.system"])
def test_only_classes_of_models_are_restored(name):
    with pytest.raises(ValueError, match="is not a class that models consist of"):
        restored({TYPE: name, "of": {}})


def test_skops_files_of_pipelines(tmp_path):
    skops = pytest.importorskip("skops.io")
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    pipeline = make_pipeline(StandardScaler(), Perceptron(**FEW)).fit(X, THREE)
    file = io.BytesIO(skops.dumps(pipeline)).getvalue()
    assert skops.get_untrusted_types(data=file) == ["perceptrons.models.perceptron.Perceptron"]
    again = skops.loads(file, trusted=["perceptrons.models.perceptron.Perceptron"])
    np.testing.assert_array_equal(again.predict(X), pipeline.predict(X))
