"""Files that are damaged, foreign or hostile: each gives a ModelFileError that says what is wrong, never a crash."""

import copy
import os
import pickle
import re
from contextlib import suppress

import numpy as np
import pytest
from hostile import ODD, changed, forged, leaves
from safetensors.numpy import save as foreign

from perceptrons import KernelPerceptron, Perceptron, load, save
from perceptrons.data.table.encoding import Encoding
from perceptrons.store import ModelFileError, read
from perceptrons.store.format import read_file, write_file


def refused(path, content, text="is damaged|cannot be read"):
    path.write_bytes(content)
    with pytest.raises(ModelFileError, match=text) as error:
        load(path)
    assert str(error.value).startswith(str(path))


@pytest.fixture(scope="module")
def models(data, small):
    """Settings and arrays of files that hold all kinds of learners."""
    X, two, three = data
    few = {"max_iter": 2, "random_state": 0}
    return {
        "linear": small,
        "averaged": Perceptron(rule="pa1", readout="averaged", **few).fit(X, two),
        "voted": Perceptron(readout="voted", **few).fit(X, two),
        "sparse": Perceptron(readout="voted", **few),
        "kernel": KernelPerceptron(readout="voted", **few).fit(X, three),
        "precomputed": KernelPerceptron(kernel="precomputed", **few).fit(X @ X.T, two),
        "budget": KernelPerceptron(budget=8, **few).fit(X, three),
    }


@pytest.fixture
def parts(models, data, csr, tmp_path):
    """A function that gives settings and arrays of a good file, to be spoiled."""

    def give(name):
        model = models[name]
        if name == "sparse":
            model = copy.deepcopy(model).fit(csr(data[0]), data[2])
        save(model, tmp_path / "good")
        settings, tensors = read_file(tmp_path / "good")
        (tmp_path / "good").unlink()
        return settings, tensors

    return give


# -- damage ---------------------------------------------------------------------------------------------------


def test_every_flipped_byte_is_noticed(small, path):
    save(small, path)
    good = path.read_bytes()
    assert len(good) < 3000
    for at in range(len(good)):
        for mask in (0x20, 0xFF):  # 0x20 turns small letters into capitals
            spoiled = bytearray(good)
            spoiled[at] ^= mask
            path.write_bytes(spoiled)
            with pytest.raises(ModelFileError):
                read(path)
    path.write_bytes(good)
    assert load(path).n_seen_ == small.n_seen_


def test_every_truncation_and_addition_is_noticed(small, path):
    save(small, path)
    good = path.read_bytes()
    for size in range(len(good)):
        path.write_bytes(good[:size])
        with pytest.raises(ModelFileError):
            read(path)
    for more in (b"\0", b" ", good):
        refused(path, good + more, "is damaged: .*restore it from a copy")


def test_messages_tell_damage_from_files_of_others(small, path):
    save(small, path)
    good = path.read_bytes()
    refused(path, good[:-1] + bytes([good[-1] ^ 1]), "its content does not match its digest.*restore it from a copy")
    refused(path, good[:-3], "should take .* bytes, but there are")
    refused(path, good[:40], "it ends after 40 bytes")
    refused(path, b"", "not a perceptrons model: it is empty")
    for content in (
        pickle.dumps(small),
        foreign({"w": np.zeros(3)}),
        foreign({"w": np.zeros(3)}, {"format": "perceptrons model"}),
        b"PK\x03\x04 a zip file" * 20,
        b"1 3:0.5 7:2\n" * 100,
        os.urandom(1000),
    ):
        refused(path, content, "is not a perceptrons model: it begins with")


def test_what_is_no_file(tmp_path):
    with pytest.raises(ModelFileError, match="not a regular file"):
        load(tmp_path)
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe")
        with pytest.raises(ModelFileError, match="not a regular file"):
            load(tmp_path / "pipe")


# -- hostile authors: the digest is right ---------------------------------------------------------------------


def test_the_forger_can_forge(parts, models, data, path):
    for name in models:
        path.write_bytes(forged(*parts(name)))
        if name not in ("sparse", "precomputed"):
            assert load(path).predict(data[0]).tolist() == models[name].predict(data[0]).tolist()
        assert load(path).n_seen_ > 0


def test_unknown_versions(parts, path):
    for version in ("2", "1.0", "", 1, None):
        refused(path, forged(*parts("linear"), version=version), "version .* of the model file format.*reads version 1")
    refused(path, forged(*parts("linear"), first="formal"), "not a perceptrons model")


def test_headers_that_lie_about_sizes(parts, path):
    settings, tensors = parts("linear")
    del tensors["w"]
    end = sum(array.nbytes for array in tensors.values())

    def entry(**changes):
        return {"w": {"dtype": "F64", "shape": [6], "data_offsets": [end, end + 48], **changes}}

    path.write_bytes(forged(settings, tensors, entries=entry(), tail=bytes(48)))
    assert load(path).n_seen_ > 0  # all zeros, but sound
    for changes in (
        {"shape": [2**60]},
        {"shape": [2**60], "data_offsets": [end, end + 2**63]},
        {"shape": [7], "data_offsets": [end, end + 56]},
        {"shape": [2**62, 0], "data_offsets": [end, end]},
        {"shape": [-6]},
        {"shape": [6.0]},
        {"shape": [True] * 6},
        {"shape": ["6"]},
        {"shape": 6},
        {"shape": [1] * 100 + [6]},
        {"data_offsets": [0, 48]},
        {"data_offsets": [end]},
        {"data_offsets": [end + 8, end + 56]},
        {"dtype": "F63"},
        {"dtype": ["F64"]},
        {"dtype": "O"},
    ):
        refused(path, forged(settings, tensors, entries=entry(**changes), tail=bytes(48)))
    for entries in ({"w": None}, {"w": []}, {"w": {}}, {"w": 3}):
        refused(path, forged(settings, tensors, entries=entries, tail=bytes(48)), "does not describe 'w'")
    header = b'{"__metadata__":{"format":"perceptrons model","digest":"' + b"0" * 64
    for length in (0, 5, 2**24 + 1, 2**63, 2**64 - 1):
        refused(path, length.to_bytes(8, "little") + header + bytes(100), "header would have|header cannot be read")


def test_settings_that_are_no_json_or_endless(parts, path):
    _, tensors = parts("linear")
    deep = "[" * 100_000 + "]" * 100_000
    for text in ("", "{", "null", "[]", "NaN", '{"a": ' + "9" * 10_000 + "}", deep, '{"params": ' + deep + "}"):
        refused(path, forged(text, tensors), "cannot be read")


@pytest.mark.parametrize("part", ["params", "trained", "report"])
def test_facts_that_nest_too_deeply(part, parts, path):
    """Whatever is read can be shown and saved again, with whatever room the stack has left."""
    settings, tensors = parts("linear")
    for depth in (101, 150, 300):
        value = 1
        for _ in range(depth):
            value = {"tuple": [value]} if depth == 150 else [value]
        settings[part]["deep"] = value
        refused(path, forged(settings, tensors), "nested more than 100 times")


@pytest.mark.parametrize("name", ["voted", "kernel", "budget"])
def test_every_setting_may_be_anything(name, parts, path, data):
    """What is refused is refused by a ModelFileError; what is not refused is a model that predicts and learns."""
    settings, tensors = parts(name)
    X, kept = data[0], 0
    for way in list(leaves(settings))[1:]:
        for value in ODD:
            path.write_bytes(forged(changed(settings, way, value), tensors))
            try:
                model = load(path)
            except ModelFileError:
                continue
            kept += 1
            if kept % 10 == 0:
                assert len(model.predict(X)) == 60
                if way[0] != "learner":  # other parameters would compile other passes
                    continue
                with suppress(ValueError):  # weights that overflow, settings that are there to stay
                    model.partial_fit(X[:9], model.classes_[data[2][:9] % len(model.classes_)])
    assert kept > 20  # parameters that may be other numbers, counts, seeds


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("text_bits", -1), ("text_bits", 40), ("hash_bits", 31), ("ngrams", -1), ("ngrams", 1.5)),
        *(("numbers", "abc"), ("numbers", [1]), ("numbers", []), ("categories", 5), ("flags", ["none"])),
        *(("label", 3), ("label", "f2"), ("target", 7), ("missing", "x"), ("missing", {"a": "x"})),
    ],
)
def test_columns_of_tables_may_be_anything(name, value, tmp_path):
    model = Perceptron(max_iter=1, tol=None).fit(np.eye(3), ["x", "y", "z"])
    model.encoding_ = Encoding("y", "str", ["a", "b"], ["job"], [], [])
    model.encoding_.number([np.array([0])], [["teacher"]], grow=True)
    save(model, tmp_path / "model")
    settings, tensors = read_file(tmp_path / "model")
    settings["encoding"]["state"][name] = value
    write_file(tmp_path / "model", settings, tensors)
    with pytest.raises(ModelFileError, match="cannot be read"):
        load(tmp_path / "model")


@pytest.mark.parametrize("name", ["linear", "averaged", "voted", "sparse", "kernel", "precomputed", "budget"])
def test_every_array_may_be_missing_or_of_another_shape_or_type(name, parts, path, data):
    settings, tensors = parts(name)
    assert len(tensors) > 3
    X = data[0] if name != "precomputed" else data[0] @ data[0].T
    for key, array in tensors.items():
        others = [array[:-1], np.concatenate([array, array]), array[np.newaxis], array.reshape(-1)[:0]]
        others += [array.astype(np.float32) if array.dtype == np.float64 else array.astype(np.float64)]
        others += [array.astype(np.int32), array.T.copy() if array.ndim == 2 else array.reshape(-1, 1)]
        for other in [None, *others]:
            if other is not None and (other.shape, other.dtype) == (array.shape, array.dtype):
                continue
            # Some may differ: updates that were never made, classes of other types, rows in float32, other passes.
            free = "log" in key or key == "classes" or key.startswith("report")
            free |= key.endswith(".values") and other is not None and other.dtype == np.float32
            path.write_bytes(forged(settings, {k: v for k, v in {**tensors, key: other}.items() if v is not None}))
            try:
                model = load(path)
            except ModelFileError:
                continue
            assert free and other is not None, (key, other)
            assert len(model.predict(X)) == 60
    refused(path, forged(settings, {**tensors, "more": np.zeros(1)}), "unexpected arrays: more")


@pytest.mark.parametrize("name", ["linear", "averaged", "voted", "sparse", "kernel", "budget"])
def test_nan_and_infinity_anywhere(name, parts, path):
    settings, tensors = parts(name)
    for key, array in tensors.items():
        if array.dtype == np.float64 and array.size:
            for number in (np.nan, np.inf, -np.inf):
                wrong = array.copy()
                wrong.flat[-1] = number
                refused(
                    path, forged(settings, {**tensors, key: wrong}), f"NaN or infinite numbers in '{re.escape(key)}'"
                )


@pytest.mark.parametrize(
    "name, key, value",
    [
        ("sparse", "steps.0.indices", 5),
        ("sparse", "steps.0.indices", 2**32 - 1),
        ("sparse", "steps.0.indptr", 2**40),
        ("sparse", "steps.0.indptr", 1),
        ("sparse", "steps.0.sq_norm", -1),
        ("kernel", "codes", 3),
        ("kernel", "codes", -1),
        ("kernel", "numbers", -1),
        ("precomputed", "pieces.0.values", 60),
        ("precomputed", "pieces.0.values", -1),
        ("precomputed", "pieces.0.values", 0.5),
        ("budget", "slots", 8),
        ("budget", "slots", -1),
        ("budget", "slots", 2**40),
        ("kernel", "pieces.0.sq_norm", -1),
        ("voted", "classes.ends", 2**40),
        ("voted", "classes", 1),
    ],
)
def test_numbers_out_of_range(name, key, value, parts, path):
    """Compiled code looks up indices without a check: one that is wrong would read foreign memory."""
    settings, tensors = parts(name)
    if key not in tensors:
        key, settings["classes"] = "classes", {"kind": "text", "width": 1} if "ends" in key else settings["classes"]
    for at in (0, -1):
        wrong = tensors[key].copy()
        if wrong.flat[at] != value:
            wrong.flat[at] = value
            refused(path, forged(settings, {**tensors, key: wrong}), "cannot be read")


@pytest.mark.parametrize("name", ["voted", "sparse", "kernel"])
def test_logs_out_of_range(name, parts, path):
    settings, tensors = parts(name)
    key = "log" if name == "kernel" else "steps.0.log"
    for column, values in (
        (0, (-1, 10**6, 2**60, 0.5)),
        (1, (-1, 60, 2**40, 0.5)),
        (3, (-1, 3, 0.5)),
        (4, (-1, 3, 0.5)),
    ):
        for value in values:
            for at in (0, -1):
                wrong = tensors[key].copy()
                wrong[at, column] = value
                refused(path, forged(settings, {**tensors, key: wrong}), "whole numbers from 0|order of examples")
    refused(path, forged(settings, {**tensors, key: tensors[key][::-1].copy()}), "in the order of examples")


def test_indices_of_a_row_that_do_not_increase(parts, path):
    settings, tensors = parts("sparse")
    ends = tensors["steps.0.indptr"].astype(int)
    row = int(np.flatnonzero(np.diff(ends) > 1)[0])
    start, end = ends[row], ends[row + 1]
    tensors["steps.0.indices"][start:end] = tensors["steps.0.indices"][start:end][::-1].copy()
    refused(path, forged(settings, tensors), "must increase within each row")


def test_weights_without_their_zeros(parts, path):
    settings, tensors = parts("linear")
    del tensors["w"]
    pairs = {"w.index": np.array([0, 5], dtype=np.uint32), "w.value": np.ones(2)}
    path.write_bytes(forged(settings, {**tensors, **pairs}))
    assert load(path).coef_.tolist() == [[1, 0, 0, 0, 0]]
    for wrong in (
        {**pairs, "w.index": np.array([0, 6], dtype=np.uint32)},
        {**pairs, "w.index": np.array([0, 2**60], dtype=np.uint64)},
        {**pairs, "w.index": np.array([0, -1])},
        {**pairs, "w.value": np.ones(3)},
        {"w.index": pairs["w.index"]},
    ):
        refused(path, forged(settings, {**tensors, **wrong}), "cannot be read")
    for giant in (2**45, 2**62):
        settings["n_features"] = settings["learner"]["n_features"] = giant
        refused(path, forged(settings, {**tensors, **pairs}), "the model needs [0-9,]+ bytes of memory, but a file of")


def test_more_classes_than_there_are_take_no_memory(parts, path):
    for name in ("averaged", "kernel", "budget"):
        settings, tensors = parts(name)
        for number in (2**31 - 1, 2**62):
            wrong = changed(settings, ("learner", "n_classes"), number)
            refused(path, forged(wrong, tensors), "there must be 2147483647 classes|n_classes must be")


def test_classes_and_names(parts, path):
    settings, tensors = parts("linear")
    for ends in ([3, 8], [3, 2], [0, 2**63], [7]):
        wrong = {**tensors, "classes.ends": np.array(ends, dtype=np.uint64)}
        refused(path, forged(settings, wrong), "cannot be read")
    refused(path, forged(settings, {**tensors, "classes.bytes": np.full(7, 0xFF, np.uint8)}), "decode")
    backwards = {"classes.bytes": np.frombuffer(b"spamham", np.uint8), "classes.ends": np.array([4, 7], np.uint64)}
    refused(path, forged(settings, {**tensors, **backwards}), "classes must be sorted")
    for width in (3, 2**31, 2**62):
        wrong = changed(settings, ("classes", "width"), width)
        refused(path, forged(wrong, tensors), "do not fit a width")
    named = changed(settings, ("named",), True)
    names = {"feature_names.bytes": np.zeros(3, np.uint8), "feature_names.ends": np.arange(1, 4, dtype=np.uint64)}
    refused(path, forged(named, {**tensors, **names}), "3 names for 5 features")


def test_parameters_that_the_estimator_refuses(parts, path):
    settings, tensors = parts("linear")
    for name, value in (("eta0", -1), ("max_iter", "many"), ("readout", "all"), ("stranger", 1), ("random_state", "x")):
        refused(path, forged(changed(settings, ("params", name), value), tensors), "cannot be read: .*")
    for rule in ("exec", {"rule": "pa1"}, {"rule": "pa1", "C": -1}, {"rule": "pa1", "C": 1, "D": 1}, ["pa1"], None):
        refused(path, forged(changed(settings, ("params", "rule"), rule), tensors), "cannot be read")
        refused(path, forged(changed(settings, ("learner", "rule"), rule), tensors), "cannot be read")
    other = changed(settings, ("estimator",), "KernelPerceptron")
    refused(path, forged(other, tensors), "kind must be one of kernel, budget")
