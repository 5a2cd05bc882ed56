"""Labels, names and files that others have written cannot control a terminal, forge lines or cause a traceback."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from hostile import changed, forged

from perceptrons import Perceptron, SequenceTagger, save
from perceptrons.cli import main as program
from perceptrons.data import DataError, read_conll
from perceptrons.store import ModelFileError, read
from perceptrons.store.format import read_file, write_file

ESCAPES = "\x1b]0;owned\x07\x9b2J\u202eabc\u2066\u2028"  # sets a title, rings, erases, reverses, breaks the line
SEEN = r"\x1b]0;owned\x07\x9b2J\u202eabc\u2066\u2028"
UNSEEN = set(ESCAPES) - set("]0;owned2Jabc")
X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 0.5], [0.5, 2.0]])


@pytest.fixture
def hostile(tmp_path):
    """A folder with a model and a tagger that have such labels, and data for both."""
    labels = np.array(["a", ESCAPES])
    model = Perceptron(readout="last", max_iter=2, random_state=0).fit(X, labels[[0, 1, 1, 0]])
    save(model, tmp_path / "m.perceptron")
    words, tags = [["the", ESCAPES.replace("\u2028", "")], ["cat"]], [[ESCAPES, "a"], [ESCAPES]]
    save(SequenceTagger(["word[0]"], max_iter=2, random_state=0).fit(words, tags), tmp_path / "m.tagger")
    (tmp_path / "rows.svm").write_text("".join(f"1 0:{a} 1:{b}\n" for a, b in X.tolist()))
    (tmp_path / "text.txt").write_text("the a\ncat a\n")
    return tmp_path


def harmless(text):
    return not UNSEEN & set(text)


def test_reports_show_control_characters_as_escapes(hostile, run):
    model, data = hostile / "m.perceptron", hostile / "rows.svm"
    done = run("inspect", model)
    assert done.code == 0 and harmless(done.out) and SEEN in done.out
    done = run("evaluate", model, data)
    assert done.code == 0 and harmless(done.out) and f"as {SEEN}" in done.out
    done = run("inspect", hostile / "m.tagger")
    assert done.code == 0 and harmless(done.out) and f"word[0]={SEEN[:20]}" in done.out
    done = run("tag", "evaluate", hostile / "m.tagger", hostile / "text.txt", "--columns", "word,tag")
    assert done.code == 0 and harmless(done.out) and SEEN in done.out


def test_reports_of_training(hostile, run):
    table = hostile / "t.csv"
    table.write_text(f"n,{ESCAPES[:-1]},y\n1,2,ham{ESCAPES[:-1]}\n3,-4,spam\n")
    done = run("train", table, "--target", "y", "--model", hostile / "new", "--passes", 1, "--no-cache")
    assert done.code == 0 and harmless(done.out + done.err) and "ham" + SEEN[:20] in done.out
    done = run("inspect", hostile / "new")
    assert done.code == 0 and harmless(done.out) and SEEN[:20] in done.out


def test_errors_show_control_characters_as_escapes(hostile, run):
    for name in (f"{ESCAPES[:-1]}.svm", "nowhere\x1b[2J"):
        done = run("train", hostile / name, "--model", hostile / "new")
        assert done.code == 2 and harmless(done.err) and r"\x1b" in done.err
    done = run("predict", "--\x1b[2J", hostile / "m.perceptron")
    assert done.code == 2 and harmless(done.err) and r"\x1b[2J" in done.err
    (hostile / "wrong.csv").write_text(f"n,y\n1,{ESCAPES},2\n")
    done = run("train", hostile / "wrong.csv", "--target", "y", "--model", hostile / "new", "--no-cache")
    assert done.code == 2 and harmless(done.err) and len(done.err.splitlines()) == 1
    # In Python, too: such errors quote files.
    with pytest.raises(DataError) as error:
        read_conll(str(hostile / "text.txt"), [f"one{ESCAPES}", "two", "three"])
    assert harmless(str(error.value)) and SEEN in str(error.value)
    settings, tensors = read_file(hostile / "m.perceptron")
    (hostile / "more").write_bytes(forged(settings, {**tensors, ESCAPES: np.zeros(1)}))
    with pytest.raises(ModelFileError) as error:
        read(hostile / "more")
    assert harmless(str(error.value)) and SEEN in str(error.value)


def test_everything_is_printed_in_one_place():
    folder = Path(program.__file__).parent
    users = {
        path.name for path in folder.rglob("*.py") if re.search(r"(click\.|\b)s?echo\(|\bprint\(", path.read_text())
    }
    assert users == {"main.py", "output.py"}


def test_files_of_predictions_keep_labels_exact_or_refuse_them(hostile, run, ask):
    model, data = hostile / "m.perceptron", hostile / "rows.svm"
    settings, tensors = read_file(model)
    done = run("predict", model, data)  # a line separator: text.splitlines() would see two labels
    assert done.code == 2 and harmless(done.err) and "contains a line break or a tab: use --json" in done.err
    assert json.loads(run("predict", model, data, "--json").lines[1])["label"] == ESCAPES
    for label, options in (("b\nc", []), ("b\rc", []), ("b\tc", ["--scores"]), ("b\n", ["--scores"])):
        labels = ["a", label, "z"]
        ends = np.cumsum([len(each) for each in labels], dtype=np.uint64)
        several = changed(changed(settings, ("learner", "n_classes"), 3), ("classes", "width"), 3)
        more = {"classes.bytes": np.frombuffer("".join(labels).encode(), np.uint8), "classes.ends": ends}
        write_file(hostile / "three", several, {**tensors, **more, "w": np.arange(9.0).reshape(3, 3)})
        done = run("predict", hostile / "three", data, *options, "-o", hostile / "out")
        assert done.code == 2 and repr(label) in done.err and not (hostile / "out").exists()
    tagger, text = hostile / "m.tagger", hostile / "text.txt"
    done = run("tag", "predict", tagger, text)
    assert done.code == 2 and harmless(done.err) and "use --json" in done.err
    found = run("tag", "predict", tagger, text, "--json").out.rstrip("\n").split("\n")
    assert ESCAPES in [label for line in found for label in json.loads(line)["labels"]]


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="there are no pseudo-terminals")
def test_predictions_on_a_terminal(hostile, command):
    pty = pytest.importorskip("pty")
    save(Perceptron(max_iter=2).fit(X, np.array(["a", ESCAPES[:-1]])[[0, 1, 1, 0]]), hostile / "m.perceptron")
    main_end, end = pty.openpty()
    with command("predict", hostile / "m.perceptron", hostile / "rows.svm", stdout=end, stderr=end) as process:
        os.close(end)
        out = b""
        try:
            while piece := os.read(main_end, 4096):
                out += piece
        except OSError:  # Linux: the other end has closed
            pass
        os.close(main_end)
    said = out.decode().replace("\r\n", "\n")
    assert process.returncode == 0 and SEEN[:-6] in said.splitlines()
    assert harmless(said.replace("\x1b[2mcompiling for this machine (first run only) …\x1b[0m\n", ""))


# -- models whose facts are hostile ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("part", "name", "value"),
    [
        *(("trained", "files", value) for value in (3, {"a": 1}, [1], "train.svm")),
        *(("trained", "seconds", value) for value in ("x", -1, {"float": "nan"}, {"float": "inf"}, None)),
        *(("trained", "rows", value) for value in ({}, -1, 0.5, 2**70)),
        *(("trained", "source", value) for value in (3, {"format": 3}, {"header": "yes"}, {"delimiter": 7})),
        *(("trained", "date", 3), ("trained", "version", [])),
        *(("report", "stop", {}), ("report", "n_rows", "many"), ("report", "converged", "yes")),
    ],
)
def test_facts_about_training_are_checked(part, name, value, hostile, run):
    settings, tensors = read_file(hostile / "m.perceptron")
    settings[part][name] = value
    write_file(hostile / "wrong", settings, tensors)
    done = run("inspect", hostile / "wrong")
    assert done.code == 2 and f"wrong cannot be read: {name} of {part} must be " in done.err
    settings[part] = {**changed(settings, (part, name), KeyError)[part], "of my own": value}
    write_file(hostile / "right", settings, tensors)
    assert run("inspect", hostile / "right").code == run("inspect", hostile / "right", "--json").code == 0


def test_weights_that_overflow_when_they_are_averaged(hostile, run):
    model = Perceptron(readout="averaged", max_iter=2).fit(X, [0, 1, 1, 0])
    save(model, hostile / "m.perceptron")
    settings, tensors = read_file(hostile / "m.perceptron")
    write_file(hostile / "m.perceptron", settings, {**tensors, "w": np.full(3, 1e308)})
    for options in ([], ["--json"]):
        done = run("inspect", hostile / "m.perceptron", *options)
        assert done.code == 2 and "exceed the range of floats" in done.err


def test_parameters_that_the_estimator_refuses_when_it_is_drawn(hostile, run):
    settings, tensors = read_file(hostile / "m.perceptron")
    write_file(hostile / "m.perceptron", changed(settings, ("params", "eta0"), -1), tensors)
    done = run("plot", hostile / "m.perceptron", "--kind", "mistakes", "-o", hostile / "m.svg")
    assert done.code == 2 and "m.perceptron cannot be read: The 'eta0' parameter" in done.err
