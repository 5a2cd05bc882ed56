"""Words weighed by their rarity, against plain Python; models count them, and files keep the counts."""

import naive_text
import numpy as np
import onnxruntime
import pytest

from perceptrons import Perceptron, load, save
from perceptrons.data import source
from perceptrons.learn.holdout import chosen
from perceptrons.store import ModelFileError, export_onnx, read
from perceptrons.store.format import read_file, write_file

RANDOM = np.random.default_rng(0)
WORDS = [f"w{k}" for k in range(40)]
TEXTS = [" ".join(RANDOM.choice(WORDS, RANDOM.integers(0, 9), p=np.r_[0.4, [0.6 / 39] * 39])) for _ in range(60)]
BITS = 8


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("rarity") / "texts.csv"
    path.write_text("y,text\n" + "".join(f"{'ab'[i % 3 == 0]},{text}\n" for i, text in enumerate(TEXTS)))
    return path


def opened(path, **settings):
    return source(path, target="y", text=["text"], text_bits=BITS, **settings)


def matrix(rows):
    found = np.zeros((len(rows), 2**BITS))
    for i, row in enumerate(rows):
        found[i, list(row)] = list(row.values())
    return found


SETTINGS = {"readout": "averaged", "shuffle": False, "tol": None}


def test_several_passes_weigh_by_all_rows(table):
    rows, n, d = naive_text.naive_tfidf(TEXTS, BITS, 0)
    model = Perceptron(max_iter=3, **SETTINGS).fit(opened(table))
    y = np.array(["ab"[i % 3 == 0] for i in range(60)])
    plain = Perceptron(max_iter=3, **SETTINGS).fit(matrix(rows), y)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-9)
    rarity = model._learner.scaling.rarity
    assert int(rarity.rows[0]) == n and {j: int(c) for j, c in enumerate(rarity.counts) if c} == d
    np.testing.assert_allclose(model.decision_function(opened(table)), plain.decision_function(matrix(rows)), atol=1e-9)


@pytest.mark.parametrize("learn", ["fit", "partial_fit"])
def test_one_pass_weighs_by_the_rows_so_far(table, learn):
    rows, n, _ = naive_text.naive_tfidf(TEXTS, BITS, 0, running=True)
    y = np.array(["ab"[i % 3 == 0] for i in range(60)])
    model = getattr(Perceptron(max_iter=1, **SETTINGS), learn)(opened(table))
    plain = getattr(Perceptron(max_iter=1, **SETTINGS), learn)(matrix(rows), y)
    np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-9)
    final, _, _ = naive_text.naive_tfidf(TEXTS, BITS, 0)
    for _ in range(2):  # predictions count nothing
        np.testing.assert_allclose(
            model.decision_function(opened(table)), plain.decision_function(matrix(final)), atol=1e-9
        )
    assert int(model._learner.scaling.rarity.rows[0]) == n


def test_held_out_rows_are_not_counted(table):
    model = Perceptron(max_iter=2, early_stopping=True, validation_fraction=0.25, **SETTINGS).fit(opened(table))
    held = chosen(0, 60, 0.25, int(np.random.RandomState(0).randint(2**31)))
    _, n, d = naive_text.naive_tfidf(TEXTS, BITS, 0, learned=np.flatnonzero(~held).tolist())
    rarity = model._learner.scaling.rarity
    assert int(rarity.rows[0]) == n and {j: int(c) for j, c in enumerate(rarity.counts) if c} == d


def test_words_that_training_has_not_seen_change_nothing(table, tmp_path):
    model = Perceptron(max_iter=2, **SETTINGS).fit(opened(table, scale="none"))
    known = np.flatnonzero(model._learner.scaling.rarity.counts)
    new = next(w for w in map(str, range(10**6, 10**7)) if _place(w) not in known)
    (tmp_path / "new.csv").write_text(f"text\nw1 w2\nw1 {new} w2\n{new}\n\n")
    one, two, three = model.decision_function(source(tmp_path / "new.csv", like=model.encoding_))[:3]
    assert one == two and three == model.intercept_[0]


def _place(word):
    (place,) = naive_text.naive_counts(word, 1, BITS, 0)
    return place


def test_files_and_graphs_keep_the_counts(table, tmp_path):
    model = Perceptron(max_iter=2, **SETTINGS).fit(opened(table))
    expected = model.decision_function(opened(table))
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert np.array_equal(again.decision_function(source(table, like=again.encoding_)), expected)
    export_onnx(read(tmp_path / "model"), tmp_path / "graph")
    session = onnxruntime.InferenceSession(tmp_path / "graph", providers=["CPUExecutionProvider"])
    X = opened(table).arrays()[0].toarray().astype(np.float32)
    np.testing.assert_allclose(session.run(["scores"], {"X": X})[0], expected, atol=1e-6)


@pytest.mark.parametrize("change", ["order", "beyond", "counts", "rows"])
def test_counts_that_do_not_fit_are_refused(table, tmp_path, change):
    save(Perceptron(max_iter=2, **SETTINGS).fit(opened(table)), tmp_path / "model")
    settings, tensors = read_file(tmp_path / "model")
    words = tensors["scaling.words"].copy()
    if change == "order":
        words[:2] = words[1::-1]
    elif change == "beyond":
        words[-1] = 2**BITS
    elif change == "counts":
        tensors["scaling.counts"] = tensors["scaling.counts"] * 0
    else:
        settings["scaling"]["rows"] = 1
    write_file(tmp_path / "model", settings, {**tensors, "scaling.words": words})
    with pytest.raises(ModelFileError, match="word"):
        load(tmp_path / "model")
