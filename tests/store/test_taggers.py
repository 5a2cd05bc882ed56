"""Taggers in model files: they predict and learn on exactly as they did; and no file can do harm."""

import copy
import os
import subprocess
import sys

import numpy as np
import pytest
from hostile import ODD, changed, leaves

from perceptrons import Perceptron, SequenceTagger, StructuredPerceptron, load, save
from perceptrons.data import Tokens, column
from perceptrons.rules import PA1
from perceptrons.store import ModelFileError, SavedTagger, export_onnx, read, write
from perceptrons.store.format import read_file, write_file
from perceptrons.store.taggers import Reading

WORDS = ["the", "cat", "Rome", "sleeps", "über", "in"]
LABELS = ["B-X", "I-X", "O"]


def sentences(seed, n=30):
    """Words with labels that no hypothesis explains, in BIO."""
    random = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        x = random.choice(WORDS, random.integers(1, 6)).tolist()
        y = random.choice(LABELS, len(x)).tolist()
        X.append(x)
        Y.append(["B-X" if b == "I-X" and a == "O" else b for a, b in zip(["O", *y], y, strict=False)])
    return X, Y


def named(X):
    """The same with values of features, as dicts."""
    return [[{"word": word, "length": len(word) / 7, "bias": 1.0} for word in x] for x in X]


def state(model):
    """All that can be seen of a model."""
    return (
        (model.state_features_, model.transition_features_, model.classes_, model.scheme_, model.n_iter_),
        (model.n_seen_, model.n_mistakes_, model.n_updates_, model.margin_bound_, model.converged_),
        (model.mistakes_.tolist(), model.token_mistakes_.tolist(), model.validation_errors_.tolist()),
    )


TEMPLATES = ["word[0]", column("word")[-1] & column("word")[0], column("word")[0].suffix(2)]
FEW = {"max_iter": 3, "random_state": 0}


@pytest.fixture(scope="module")
def models():
    """Fitted taggers by name, and what makes input of sentences for each."""
    X, Y = sentences(0)
    numbers = [[LABELS.index(label) - 1 for label in y] for y in Y]
    dropped = SequenceTagger(TEMPLATES, early_stopping=True, validation_fraction=0.3, **FEW).fit(X, Y)
    wide = SequenceTagger(rule=PA1(C=0.5), order=2, eta0=0.5, **FEW).fit(named(X), Y)
    return {
        "templates": (SequenceTagger(TEMPLATES, columns=["word"], **FEW).fit(X, Y), list),
        "held out": (dropped, list),
        "last": (SequenceTagger("pos", readout="last", scheme=None, **FEW).fit(X, Y), list),
        "numbers": (SequenceTagger(TEMPLATES, **FEW).fit(X, numbers), list),
        "named": (wide, named),
    }


NAMES = ["templates", "held out", "last", "numbers", "named"]


@pytest.mark.parametrize("drop_zeros", [False, True])
@pytest.mark.parametrize("name", NAMES)
def test_what_is_loaded_is_what_was_saved(name, drop_zeros, models, path):
    model, given = copy.deepcopy(models[name])
    save(model, path, drop_zeros=drop_zeros)
    again = load(path)
    assert state(again) == state(model)
    assert again.n_features_ == model.n_features_ or (drop_zeros and again.n_features_ < model.n_features_)
    X, Y = sentences(1)
    Y = Y if name != "numbers" else [[LABELS.index(label) - 1 for label in y] for y in Y]
    assert again.predict(given(X)) == model.predict(given(X))
    assert [type(label) for label in again.classes_] == [type(label) for label in model.classes_]
    for part in (slice(0, 10), slice(10, 30)):
        for each in (model, again):
            each.set_params(early_stopping=False)  # `partial_fit` refuses it
            each.partial_fit(given(X[part]), Y[part])
        assert state(again) == state(model)
    new = (["Rome", "new"], ["B-Y", "B-Y"]) if name != "numbers" else (["new"], [7])
    for each in (model, again):
        each.partial_fit(given([new[0]]), [new[1]])  # a label and a feature that are new
    assert state(again) == state(model) and again.predict(given(X)) == model.predict(given(X))


@pytest.mark.parametrize("name", ["templates", "last", "named"])
def test_parameters_and_plan_come_back(name, models, path):
    model, _ = models[name]
    save(model, path)
    again = load(path)
    params = model.get_params()
    if isinstance(params["features"], list):
        params["features"] = [str(template) for template in params["features"]]
    assert again.get_params() == params and again._tagger.plan == model._tagger.plan
    assert again._tagger.candidates == model._tagger.candidates


@pytest.mark.filterwarnings("ignore:the labels do not obey")
def test_a_stream_of_which_nothing_obeys_a_scheme_stays_one(models, path):
    model = SequenceTagger(TEMPLATES)
    model.partial_fit([["the", "cat"]], [["O", "B-X"]])
    save(model, path)
    again = load(path)
    assert again.scheme_ == model.scheme_ == "BIO"
    for each in (model, again):
        each.partial_fit([["the"]], [["I-X"]])
    assert again.scheme_ is None and state(again) == state(model)


def test_files_are_small(models, path):
    X = [[f"w{i}", f"v{i}", "the"] for i in range(2000)]
    model = SequenceTagger(TEMPLATES, rule="perceptron", max_iter=1).fit(X, [["A", "A", "B"]] * 2000)
    save(model, path)
    whole = path.stat().st_size
    save(model, path, drop_zeros=True)
    assert path.stat().st_size < 20_000 < 50_000 < whole
    assert read_file(path)[1]["w"].dtype == np.int8  # whole numbers, which are small


def test_without_scikit_learn(models, path):
    model, _ = models["templates"]
    save(model, path)
    saved = read(path)
    assert isinstance(saved, SavedTagger) and saved.reading is None
    saved.reading = Reading(["word", "pos"], "pos", {"word": "form"}, False, True)
    saved.trained = {"files": ["a.txt"], "sentences": 3}
    write(saved, path)
    again = read(path)
    assert (again.reading, again.trained, again.params) == (saved.reading, saved.trained, saved.params)
    assert load(path).n_seen_ == model.n_seen_
    settings, tensors = read_file(path)
    for name, value in (("columns", []), ("columns", "word"), ("target", "none"), ("names", {"a": 1}), ("tabs", 0)):
        write_file(path, changed(settings, ("reading", name), value), tensors)
        refused(path)
    code = (
        "import sys, perceptrons.store.taggers, perceptrons.cli.tag, perceptrons.cli.tagging.inspect\n"
        "from perceptrons.cli.tagging import evaluate, predict, train\n"
        "print([m for m in ('sklearn', 'scipy', 'numba', 'pyarrow') if m in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "[]"


# -- refusals ---------------------------------------------------------------------------------------------------------


class Mine(SequenceTagger):
    pass


def test_what_cannot_be_saved(models, path):
    class Problem:
        def features(self, x, y):
            return {(x, y): 1.0}

        def predict(self, x, weights):
            return 0

    path.write_bytes(b"old")
    structured = StructuredPerceptron(Problem())
    for model, error, text in (
        (structured, TypeError, "its problem is code, and model files hold no code. Save its weights_"),
        (SequenceTagger(), ValueError, "not fitted"),
        (Mine(), TypeError, "got Mine"),
        (SequenceTagger(TEMPLATES).partial_fit([], []), ValueError, "not fitted"),
        (SequenceTagger(TEMPLATES).fit([["a"]], [[(1, 2)]]), ValueError, r"labels such as \(1, 2\) cannot be saved"),
        (SequenceTagger(TEMPLATES).fit([["a"]], [[2**70]]), ValueError, "cannot be saved: use strings or numbers"),
        (copy.deepcopy(models["last"][0]).set_params(random_state=np.random.RandomState(0)), ValueError, "RandomState"),
        (copy.deepcopy(models["last"][0]).set_params(k_best=0), ValueError, "k_best"),
    ):
        with pytest.raises(error, match=text):
            save(model, path)
        assert path.read_bytes() == b"old" and list(path.parent.iterdir()) == [path]
    with pytest.raises(TypeError, match="a SequenceTagger cannot be exported"):
        export_onnx(models["last"][0], path)


def refused(path, text="cannot be read"):
    with pytest.raises(ModelFileError, match=text) as error:
        load(path)
    assert str(error.value).startswith(str(path))


@pytest.fixture
def parts(models, path):
    """A function that gives settings and arrays of a good file, to be spoiled."""

    def give(name):
        save(models[name][0], path)
        return read_file(path)

    return give


def test_damage_is_noticed(models, path):
    save(models["templates"][0], path)
    good = path.read_bytes()
    for at in range(0, len(good), 7):
        path.write_bytes(good[:at] + bytes([good[at] ^ 0x20]) + good[at + 1 :])
        refused(path, "damaged|cannot be read|not a perceptrons model")
    for end in range(0, len(good), 97):
        path.write_bytes(good[:end])
        refused(path, "damaged|not a perceptrons model")


@pytest.mark.parametrize("name", ["templates", "named"])
def test_every_setting_may_be_anything(name, parts, models, path):
    """What is refused is refused by a ModelFileError; what is not refused is a model that predicts."""
    settings, tensors = parts(name)
    given, kept = models[name][1], 0
    X = given(sentences(1, 5)[0])
    for number, way in enumerate(list(leaves(settings))[1:]):
        for value in ODD[number % 3 :: 3]:
            write_file(path, changed(settings, way, value), tensors)
            try:
                model = load(path)
            except ModelFileError:
                continue
            kept += 1
            # Other orders would compile other searches; other columns are not those that are given.
            if kept % 5 == 0 and not {"order", "columns"} & set(way):
                assert [len(y) for y in model.predict(X)] == [len(x) for x in X]
    assert kept > 10  # parameters that may be other numbers, counts, seeds


@pytest.mark.parametrize("name", ["templates", "last", "named"])
def test_every_array_may_be_missing_or_of_another_shape_or_type(name, parts, models, path):
    settings, tensors = parts(name)
    X = models[name][1](sentences(1, 5)[0])
    for key, array in tensors.items():
        others = [array[:-1], np.concatenate([array, array]), array[np.newaxis], array.reshape(-1)[:0]]
        others += [array.astype(kind) for kind in (np.float32, np.float64, np.int32, np.int64, np.uint64)]
        others += [array.T.copy() if array.ndim == 2 else array.reshape(-1, 1)]
        for other in [None, *others]:
            if other is not None and ((other.shape, other.dtype) == (array.shape, array.dtype) or other.ndim > 2):
                continue
            # Some may differ: weights and positions are of several types, and there may be other passes.
            free = key in ("w", "kept", "index", "classes") or key.startswith("report")
            free |= key.endswith(".ends") and len(array) == 1  # twice: a text more, an empty one
            write_file(path, settings, {k: v for k, v in {**tensors, key: other}.items() if v is not None})
            try:
                model = load(path)
            except ModelFileError:
                continue
            assert free and other is not None, (key, other)
            assert len(model.predict(X)) == 5
    write_file(path, settings, {**tensors, "more": np.zeros(1)})
    refused(path, "unexpected arrays: more")


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        *(("templates", "rows", value) for value in (2**32 - 1, 1000, 1)),
        *(("templates", "index", value) for value in (2**32 - 1, 100_000, 3)),
        *(("templates", "vocabulary.keys", value) for value in (2**32 - 1, 50, 2**31)),
        *(("named", "rows", value) for value in (2**32 - 1, 2)),
        ("templates", "classes.ends", 2**40),
        ("templates", "vocabulary.0.ends", 2**40),
        ("numbers", "classes", 5),
    ],
)
def test_numbers_out_of_range(name, key, value, parts, path):
    """Compiled code looks up indices without a check: one that is wrong would read foreign memory."""
    settings, tensors = parts(name)
    for at in (0, -1):
        wrong = tensors[key].copy()
        if wrong.flat[at] == value or (key == "classes" and at == -1):
            continue
        wrong.flat[at] = value
        write_file(path, settings, {**tensors, key: wrong})
        refused(path)


def test_sizes_beyond_what_there_is(parts, models, path):
    settings, tensors = parts("templates")
    write_file(path, changed(settings, ("labels", "number"), 2**31 - 1), tensors)
    refused(path, "there must be 2147483647 classes")
    settings, tensors = parts("named")
    many = [f"{number:06}" for number in range(20_000)]
    wide = {"classes.bytes": np.frombuffer("".join(many).encode(), np.uint8)}
    wide["classes.ends"] = np.arange(6, 6 * len(many) + 1, 6, dtype=np.uint64)
    write_file(path, changed(settings, ("labels", "number"), len(many)), {**tensors, **wide})
    refused(path, "the model needs [0-9,]+ bytes of memory")


def test_giant_weights_do_no_harm(parts, models, path):
    settings, tensors = parts("templates")
    giant = {"w": np.full(len(tensors["index"]), 1.7e308), "kept": np.zeros(len(tensors["index"]))}
    write_file(path, settings, {**tensors, **giant})
    refused(path, "exceed the range of floats")
    settings, tensors = parts("last")
    sizes = np.where(np.arange(len(tensors["index"])) % 2, 1.7e308, -1.7e308)
    write_file(path, settings, {**tensors, "w": sizes})
    predicted = load(path).predict(sentences(1, 20)[0])  # ∞ − ∞ and all that
    assert {label for y in predicted for label in y} <= set(LABELS)


def test_the_two_kinds_of_files_are_told_apart(models, small, path):
    save(small, path)
    settings, tensors = read_file(path)
    write_file(path, {**settings, "estimator": "SequenceTagger"}, tensors)
    refused(path)
    save(models["last"][0], path)
    settings, tensors = read_file(path)
    for name in ("Perceptron", "KernelPerceptron", "os.system", None):
        write_file(path, {**settings, "estimator": name}, tensors)
        refused(path)
    save(Perceptron(max_iter=1, tol=None).fit([[0.0], [1.0]], [0, 1]), path)
    assert isinstance(load(path), Perceptron)


def test_tokens_in_columns(path):
    tokens = Tokens.of([[("the", "D"), ("cat", "N")], [("Rome", "N")]], ["word", "pos"])
    model = SequenceTagger("chunking", max_iter=2).fit(tokens, [["B-X", "I-X"], ["B-X"]])
    save(model, path)
    assert load(path).predict(tokens) == model.predict(tokens)
    assert os.path.getsize(path) < 20_000
