"""A small file cannot ask for much memory, unless the user allows it; honest models without zeros load by default."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from hostile import changed, forged, leaves

from perceptrons import KernelPerceptron, PassiveAggressiveClassifier, Perceptron, SequenceTagger, load, save
from perceptrons.data.table.encoding import Encoding
from perceptrons.store import ModelFileError
from perceptrons.store.format import read_file

WORDS, TAGS = [["the", "cat"], ["Rome"]], [["O", "B-X"], ["B-X"]]
FEW = {"max_iter": 2, "random_state": 0}


@pytest.fixture
def parts(data, tmp_path):
    """A function that gives settings and arrays of a model file without zeros."""
    X, two, three = data

    def give(name):
        model = {
            "averaged": lambda: Perceptron(readout="averaged", **FEW).fit(X, three),
            "passive": lambda: PassiveAggressiveClassifier(average=True, **FEW).fit(sp.csr_array(X), two),
            "texts": lambda: Perceptron(**FEW).fit(X, np.array(["ham", "spam"])[two]),
            "voted": lambda: Perceptron(readout="voted", **FEW).fit(sp.csr_array(X), two),
            "kernel": lambda: KernelPerceptron(kernel="linear", **FEW).fit(sp.csr_array(X), two),
            "tagger": lambda: SequenceTagger(["word[0]"], order=2, scheme=None, rule="pa1", **FEW).fit(WORDS, TAGS),
        }[name]()
        save(model, tmp_path / "good", drop_zeros=True)
        return read_file(tmp_path / "good")

    return give


def wide(settings, n):
    """The settings of a model with n features."""
    for way in [way for way in leaves(settings) if way and way[-1] == "n_features"]:
        settings = changed(settings, way, n)
    return settings


def sparse(tensors):
    """Weights as positions and values."""
    found = dict(tensors)
    for name in {"w", "kept"} & set(tensors):
        array = found.pop(name).reshape(-1)
        found |= {f"{name}.index": np.arange(array.size, dtype=np.uint32), f"{name}.value": array}
    return found


def texts(name, all_of):
    ends = np.cumsum([len(text) for text in all_of], dtype=np.uint64)
    return {f"{name}.bytes": np.frombuffer("".join(all_of).encode(), np.uint8), f"{name}.ends": ends}


def many_labels(settings, tensors, n):
    """A tagger with n labels and the weights of one."""
    settings = changed(settings, ("labels", "number"), n)
    few = {name: tensors[name][:1] for name in ("index", "w", "kept")}
    return settings, {**tensors, **few, **texts("classes", [f"{i:04}" for i in range(n)])}


def one_long_label(settings, tensors, n):
    """Two thousand classes, one of them with n characters."""
    labels = ["a" * n, *(f"b{i:04}" for i in range(2000))]
    settings = changed(changed(settings, ("classes", "width"), n), ("learner", "n_classes"), len(labels))
    return settings, {**tensors, **texts("classes", labels)}


ATTACKS = {  # a good file, and how it asks for more than 1.2 GB
    "weights of 3 classes": ("averaged", lambda s, t: (wide(s, 10**8), sparse(t))),
    "weights of 2 classes": ("passive", lambda s, t: (wide(s, 10**8), sparse(t))),
    "products of voted rows": ("voted", lambda s, t: (wide(s, 2**27), sparse(t))),
    "products of support rows": ("kernel", lambda s, t: (wide(s, 2**31), t)),
    "one long label": ("texts", lambda s, t: one_long_label(s, t, 10**6)),
    "pairs of labels": ("tagger", lambda s, t: many_labels(s, t, 400)),
    "lists of labellings": ("tagger", lambda s, t: (changed(s, ("plan", "k_best"), 2**31 - 1), t)),
    "lists of labellings, later": ("tagger", lambda s, t: (changed(s, ("params", "k_best"), 5000), t)),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_a_small_file_cannot_ask_for_much(name, parts, path):
    kind, spoil = ATTACKS[name]
    path.write_bytes(forged(*spoil(*parts(kind))))
    tracemalloc.start()
    try:
        with pytest.raises(
            ModelFileError, match=r"needs [0-9,]+ bytes of memory, but a file of [0-9,]+ bytes may take"
        ):
            load(path)
        assert tracemalloc.get_traced_memory()[1] < 30_000_000
    finally:
        tracemalloc.stop()


def test_hashed_features_are_there_from_the_start(path):
    """If the model had fewer of them, the first batch to learn from would ask for the others."""
    model = Perceptron(**FEW).fit(np.eye(16), np.arange(16) % 2)
    model.encoding_ = Encoding("y", "int64", [], [], [], ["t"], text_bits=4)
    save(model, path)
    assert load(path).encoding_ == model.encoding_
    settings, tensors = read_file(path)
    path.write_bytes(forged(changed(settings, ("encoding", "state", "text_bits"), 28), tensors))
    with pytest.raises(ModelFileError, match="its columns give 268435456 features, but the model has 16"):
        load(path)


def test_large_models_without_zeros_load_and_take_little(parts, path, data):
    """2^24 features and 4 classes with their averages would take 1.07 GB with all zeros."""
    settings, tensors = parts("averaged")
    settings = changed(wide(settings, 2**24), ("learner", "n_classes"), 4)
    settings = changed(settings, ("learner", "dense"), False)
    names = ("w.index", "w.value", "kept.index", "kept.value")
    tensors = {name: array for name, array in tensors.items() if name not in ("w", "kept", *names)}
    last = np.array([4 * 5 + 2, 4 * (2**24 - 1)], dtype=np.uint32)
    weights = {"w.index": last, "w.value": np.ones(2), "kept.index": last[:1], "kept.value": np.ones(1)}
    path.write_bytes(forged(settings, {**tensors, **weights, "classes": np.arange(4)}))
    model = load(path)
    X = sp.csr_array((np.ones(2), [5, 2**24 - 1], [0, 1, 2]), shape=(2, 2**24))
    assert model.predict(X).tolist() == [2, 0]
    model.partial_fit(X, [3, 0])
    assert model.n_features_in_ == 2**24


def test_the_user_decides(parts, path, data, monkeypatch):
    settings, tensors = parts("passive")
    path.write_bytes(forged(wide(settings, 10**8), sparse(tensors)))
    model = load(path, max_memory=2e9)
    X = sp.csr_array((data[0].ravel(), np.tile(np.arange(5), 60), np.arange(0, 301, 5)), shape=(60, 10**8))
    assert set(model.predict(X).tolist()) == {0, 1}
    monkeypatch.setenv("PERCEPTRONS_MAX_MEMORY", "2e9")
    assert load(path).n_features_in_ == 10**8
    with pytest.raises(
        ModelFileError, match=r"needs 1,600,[0-9,]+ bytes of memory, but the limit is 1,000,000,000\. If"
    ):
        load(path, max_memory=1e9)
    with pytest.raises(ModelFileError, match=r"needs [0-9,]+ bytes of memory, but the limit is 1,000\."):
        load(path, max_memory=1000)  # the file alone takes more
    for wrong in (0, -1, float("nan"), "much", True):
        with pytest.raises(ValueError, match=r"^max_memory must be a number of bytes > 0, got"):
            load(path, max_memory=wrong)
    monkeypatch.setenv("PERCEPTRONS_MAX_MEMORY", "2 GB")
    with pytest.raises(ValueError, match=r"^PERCEPTRONS_MAX_MEMORY must be a number of bytes > 0, got '2 GB'"):
        load(path)
