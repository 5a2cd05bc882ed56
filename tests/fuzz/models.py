"""Model files of every kind, with bytes or meanings changed: load them and use what loads.

The digest is right in most of them, as a hostile author would have it. A model that loads must predict, show what it
holds, learn on, and be the same after it is saved and loaded again.
"""

import functools
import io
import json
import os
import sys
import tempfile
import warnings
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from unittest.mock import patch

import numpy as np
import scipy.sparse as sp
from hostile import ODD, changed, forged, leaves

from perceptrons import KernelPerceptron, PassiveAggressiveClassifier, Perceptron, SequenceTagger, load, save
from perceptrons.cli.main import main
from perceptrons.data import source
from perceptrons.store import ModelFileError
from perceptrons.store.format import read_file

LIMIT = 1 << 27  # bytes that a model may take here
NUMBERS = (0, 1, 2, 3, 7, 8, 255, 2**16, 2**24, 2**28, 10**8, 2**31 - 1, 2**31, 2**32, 2**40, 2**53, 2**62, 2**63)
TEXTS = ("", "a\nb", "\x1b]0;x\x07", "\x9b2J", "\u202eabc", "\u2028", "\ud800", "a\tb", "$\\frac{", "é" * 300)
ANY = (*ODD, *NUMBERS, *(-n for n in NUMBERS), 1e-320, 1e300, {"float": "inf"}, {"float": "-inf"}, *TEXTS)
WORDS = [["the", "cat", "sleeps"], ["Rome"], ["the", "über", "cat", "in", "Rome"]]
TAGS = [["O", "B-X", "O"], ["B-X"], ["O", "B-X", "I-X", "O", "B-X"]]


def rows(n_features=5):
    """Rows with zeros, and numbers of two or three classes."""
    random = np.random.default_rng(1)
    X = np.round(random.normal(size=(12, n_features)) * (random.random((12, n_features)) < 0.7), 2)
    return X, np.arange(12) % 2, np.arange(12) % 3


def named(X):
    """Tokens with values of features."""
    return [[{"w": word, "len": len(word) / 7} for word in words] for words in X]


def table(folder):
    """A table of numbers, categories and text."""
    lines = [f"{i % 5},{'abc'[i % 3]},the cat {i % 4},{'ham' if i % 2 else 'spam'}" for i in range(12)]
    (folder / "t.csv").write_text("\n".join(["n,c,t,y", *lines]) + "\n")
    return source(str(folder / "t.csv"), target="y", text=["t"], text_bits=6, cache=False)


def fitted(folder):
    """Small models of every kind."""
    X, two, three = rows()
    text, few = np.array(["ham", "spam", "eggs"]), {"max_iter": 2, "random_state": 0}
    yield "last", Perceptron(**few).fit(X, text[two])
    yield "averaged", Perceptron(rule="pa1", readout="averaged", **few).fit(X, three)
    yield "voted", Perceptron(readout="voted", **few).fit(sp.csr_array(X), text[three])
    yield "pocket", Perceptron(readout="pocket", class_weight={0: 2.0}, **few).fit(X, two)
    yield "passive", PassiveAggressiveClassifier(average=True, **few).fit(sp.csr_array(X), two)
    yield "table", Perceptron(readout="averaged", **few).fit(table(folder))
    yield "kernel", KernelPerceptron(readout="voted", **few).fit(X, three)
    yield "sparse kernel", KernelPerceptron(kernel="poly", readout="averaged", **few).fit(sp.csr_array(X), two)
    yield "precomputed", KernelPerceptron(kernel="precomputed", **few).fit(X @ X.T, two)
    for policy in ("random", "forgetron", "projectron"):
        yield policy, KernelPerceptron(budget=4, policy=policy, **few).fit(X, two)
    yield "tagger", SequenceTagger(["word[0]", "word[-1] & word[0]"], **few).fit(WORDS, TAGS)
    yield "named", SequenceTagger(rule="pa1", order=2, readout="last", **few).fit(named(WORDS), TAGS)
    yield "beam", SequenceTagger("pos", beam=2, **few).fit(WORDS, TAGS)
    yield "lists", SequenceTagger(["word[0]"], rule="pa1", k_best=2, **few).fit(WORDS, TAGS)


@functools.cache
def good():
    """Settings and arrays of good files, as saved and without zeros."""
    found = []
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for kind, model in fitted(Path(name)):
            for drop_zeros in (False, True):
                save(model, Path(name, "m"), drop_zeros=drop_zeros)
                settings, tensors = read_file(Path(name, "m"))
                found.append((kind, as_trained_on_files(settings), tensors))
            CODE.add(code_of(model))
    return found


CODE = set()  # what the good models need; others would have to be compiled first, which takes seconds


def code_of(model):
    """What picks the compiled code of a model."""
    if isinstance(model, SequenceTagger):
        search = model.beam is None, model.k_best > 1, model._tagger.plan.beam is None, model._tagger.plan.k_best > 1
        return str(model.rule), model.readout, model.order, search, model.features is None
    learner = model._learner
    rule = getattr(model, "rule", None), type(learner.rule).__name__, learner.readout.name, model.class_weight is None
    return type(model).__name__, str(rule), len(model.classes_) > 2, type(getattr(learner, "policy", None)).__name__


def as_trained_on_files(settings):
    """Settings with all that the command line writes, too."""
    known = {"format": "svmlight", "zero_based": True, "delimiter": None, "header": True, "quotes": True}
    facts = {"files": ["/data/train.svm"], "source": {**known, "target": None}, "rows": 12, "seconds": 0.25}
    facts |= {"sentences": 3, "tokens": 9, "date": "2026-01-01 12:00:00 +0000", "version": "0.2.0"}
    settings = {**settings, "trained": facts, "report": {**settings["report"], "stop": "max_iter"}}
    if settings["estimator"] == "SequenceTagger" and settings["vocabulary"]["state"]["kind"] == "templates":
        columns = {"columns": ["word", "tag"], "target": "tag", "names": {}}
        settings["reading"] = {**columns, "conllu": False, "tabs": False}
    return settings


# -- changes --------------------------------------------------------------------------------------------------


def pick(random, choices):
    return choices[int(random.integers(len(choices)))]


def other_setting(random, settings):
    """Settings with one entry changed, removed, or taken from elsewhere."""
    ways = list(leaves(settings))[1:]
    soft = [way for way in ways if way[0] in ("params", "report", "trained", "reading", "classes", "labels")]
    way = pick(random, soft if soft and random.random() < 0.5 else ways)
    if random.random() < 0.15:
        value = settings
        for key in pick(random, ways):
            value = value[key]
        return changed(settings, way, json.loads(json.dumps(value)))
    return changed(settings, way, pick(random, ANY))


def other_array(random, tensors):
    """Arrays of which one is changed: some numbers, its type, its shape, or its name."""
    key = pick(random, sorted(tensors))
    array, others, what = tensors[key], dict(tensors), random.integers(8)
    if what < 4 and array.size:
        array = array.copy()
        at, scale = random.integers(array.size), pick(random, NUMBERS)
        with np.errstate(all="ignore"):
            number = np.array([scale if random.random() < 0.5 else -scale * random.random()])
            array.flat[at] = number.astype(array.dtype)[0]
    elif what == 4:
        with np.errstate(all="ignore"):
            array = array.astype(pick(random, ["f8", "f4", "i8", "u4", "u8", "u1", "i1"]))
    elif what == 5:
        array = pick(random, [array[:-1], array[:0], np.concatenate([array, array]), array.reshape(-1), array[::-1]])
    elif what == 6:
        del others[key]
        key = pick(random, [*sorted(tensors), key + ".index", key.removesuffix(".index"), "w", "w.index", "kept"])
    else:
        return {name: array for name, array in others.items() if name != key}
    return {**others, key: np.ascontiguousarray(array)}


def other_sizes(random, settings):
    """Settings with another number of features, wherever it stands."""
    n = int(pick(random, NUMBERS))
    for way in [way for way in leaves(settings) if way and way[-1] == "n_features"]:
        settings = changed(settings, way, n)
    return settings


def spoiled(random):
    """The kind of a good file, and the bytes of a bad one."""
    kind, settings, tensors = pick(random, good())
    what = random.random()
    if what < 0.1:
        content = bytearray(forged(settings, tensors))
        for at in random.integers(len(content), size=random.integers(1, 4)):
            content[at] = random.integers(256)
        return kind, bytes(content[: random.integers(len(content))] if random.random() < 0.3 else content)
    if what < 0.4:
        for _ in range(random.integers(1, 3)):
            tensors = other_array(random, tensors) if tensors else tensors
    if what > 0.3:
        for _ in range(pick(random, [1, 1, 1, 1, 2, 3])):
            settings = other_setting(random, settings)
    if what > 0.9:
        settings = other_sizes(random, settings)
    return kind, forged(settings, {name: array for name, array in tensors.items() if array.ndim})


# -- use ------------------------------------------------------------------------------------------------------


def examples(kind, model):
    """Rows or sentences for a model, and labels that it knows."""
    if isinstance(model, SequenceTagger):
        return named(WORDS) if model.features is None else WORDS, TAGS
    n = model.n_features_in_
    X = rows()[0]
    if kind == "precomputed":
        X = X @ X.T if n == 12 else np.ones((n, n)) if n < 100 else X
    elif n > 100:
        X = sp.csr_array((X.ravel(), np.tile(np.arange(5), 12), np.arange(0, 61, 5)), shape=(12, n))
    elif n != 5:
        X = np.resize(X, (12, n))
    return X, model.classes_[np.arange(X.shape[0]) % len(model.classes_)]


def command(*args, codes=(0, 2)):
    """Run the command here. Errors that users can fix end it with 2 and one line; others are let out."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.TextIOWrapper(io.BytesIO(), "utf-8")
    code = 0
    with redirect_stdout(out), redirect_stderr(err), patch.dict(os.environ, PERCEPTRONS_MAX_MEMORY=str(LIMIT)):
        try:
            main([str(arg) for arg in args])
        except SystemExit as leave:
            code = leave.code or 0
        sys.stdout.flush(), sys.stderr.flush()
    said, wrong = out.buffer.getvalue().decode(), err.buffer.getvalue().decode()
    assert code in codes, (code, wrong)
    if code == 2:
        lines = [line for line in wrong.splitlines() if not line.startswith(("Usage:", "Try ", "compiling"))]
        assert len(lines) in (1, 2) and lines[-1].lower().startswith("error: "), wrong
    return said


def same(one, other):
    return all(
        np.array_equal(np.asarray(a, dtype=object), np.asarray(b, dtype=object))
        for a, b in zip(one, other, strict=True)
    )


def case(random, folder):
    """Load a spoiled file; if it loads, use it in every way."""
    kind, content = spoiled(random)
    path = folder / "m.perceptron"
    path.write_bytes(content)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        said = command("inspect", path, *(["--json"] if random.random() < 0.5 else []))
        assert not set(said) & {"\x1b", "\x07", "\x9b", "\u202e", "\u2028"}, said
        try:
            model = load(path, max_memory=LIMIT)
        except ModelFileError:
            return
        if code_of(model) not in CODE:
            return
        X, y = examples(kind, model)
        before = model.predict(X)
        assert len(before) == len(y)
        with suppress(ValueError, TypeError):  # parameters that a stream refuses, weights that overflow
            model.partial_fit(X, y)
        try:
            save(model, path)
        except ValueError:  # sums that overflow while it learns
            return
        assert same(load(path, max_memory=LIMIT).predict(X), model.predict(X))
