"""What `predict` and `evaluate` print is what the same model says in Python."""

import io
import json
import sys

import numpy as np
import pytest

import perceptrons
from perceptrons.data import source

PAIRS = [("two", "two.svm"), ("three", "three.svm"), ("mail", "mail.csv"), ("array", "two.npy"), ("voted", "two.npz")]


def in_python(model, data):
    """Labels of the file, labels predicted and scores, by the library."""
    loaded = perceptrons.load(model)
    like = {"like": loaded.encoding_} if hasattr(loaded, "encoding_") else {}
    rows = source(data, **like)
    y = rows.arrays()[1]
    return y, loaded.predict(rows), loaded.decision_function(rows)


def spelled(labels):
    return [str(int(label)) if isinstance(label, float) else str(label) for label in labels.tolist()]


@pytest.mark.parametrize(("model", "data"), PAIRS)
def test_labels_scores_and_errors_are_those_of_the_library(model, data, models, files, run, ask):
    y, predicted, scores = in_python(models[model], files / data)
    assert run("predict", models[model], files / data).lines == spelled(predicted)
    printed = run("predict", models[model], files / data, "--scores").lines
    if scores.ndim == 2:
        assert printed.pop(0) == "0\t1\t2"
        assert [[float(part) for part in line.split("\t")] for line in printed] == scores.tolist()
    else:
        assert [float(line) for line in printed] == scores.tolist()
    told = ask("evaluate", models[model], files / data)
    wrong = int((y != predicted).sum())
    assert (told["rows"], told["wrong"], told["error"]) == (len(y), wrong, wrong / len(y))
    for each, label in zip(told["classes"], np.unique(y), strict=True):
        right = ((y == label) & (predicted == label)).sum()
        assert each["rows"] == (y == label).sum() and each["predicted"] == (predicted == label).sum()
        assert each["recall"] == right / (y == label).sum()
        assert each["precision"] == (right / each["predicted"] if each["predicted"] else None)
    assert sum(pair["rows"] for pair in told["confusion"] if pair["label"] != pair["predicted"]) == wrong


def test_json_is_an_object_a_line(models, files, run):
    _, predicted, scores = in_python(models["three"], files / "three.svm")
    found = [json.loads(line) for line in run("predict", models["three"], files / "three.svm", "--json").lines]
    assert [each["label"] for each in found] == predicted.tolist()
    assert [list(each["scores"].values()) for each in found] == scores.tolist()
    found = [json.loads(line) for line in run("predict", models["mail"], files / "mail.csv", "--json").lines]
    assert {each["label"] for each in found} == {"ham", "spam"}
    assert all((each["score"] > 0) == (each["label"] == "spam") for each in found)


def test_labels_need_not_be_there(models, files, run):
    with_labels = run("predict", models["mail"], files / "mail.csv").out
    assert run("predict", models["mail"], files / "unlabelled.csv").out == with_labels
    assert (
        run("predict", models["array"], files / "rows.npy").out
        == run("predict", models["array"], files / "two.npy").out
    )
    done = run("evaluate", models["mail"], files / "unlabelled.csv")
    assert done.code == 2 and "has no labels" in done.err and "--target" in done.err


def test_other_formats_of_the_same_rows_get_the_same_labels(models, files, run):
    expected = run("predict", models["two"], files / "two.svm").out
    for name in ("two.svm.gz", "two.npy", "two.npz", "rows.npy"):
        assert run("predict", models["two"], files / name).out == expected
    assert run("predict", models["two"], files / "two.svm", files / "two.svm.gz").out == 2 * expected


def test_standard_input_is_of_the_models_format(models, files, run, monkeypatch):
    for model, name in (("two", "two.svm"), ("two", "two.svm.gz"), ("mail", "unlabelled.csv")):
        content = io.BufferedReader(io.BytesIO((files / name).read_bytes()))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(content))
        piped = run("predict", models[model], "-")
        assert piped.code == 0 and piped.out == run("predict", models[model], files / name).out


def test_settings_of_the_files_are_kept_with_the_model(tmp_path, run):
    (tmp_path / "a.csv").write_text("".join(f"{i};{'x' if i > 3 else 'y'}\n" for i in range(8)))
    (tmp_path / "b.csv").write_text("7\n0\n")
    (tmp_path / "c.svm").write_text("1 1:1 2:2\n-1 1:3\n")
    model = tmp_path / "m.perceptron"
    options = ["--target", "1", "--no-header", "--delimiter", ";"]
    assert run("train", tmp_path / "a.csv", "-m", model, *options, "--passes", "20").code == 0
    assert run("predict", model, tmp_path / "b.csv").lines == ["x", "y"]
    assert run("evaluate", model, tmp_path / "a.csv").code == 0
    assert run("train", tmp_path / "c.svm", "-m", model, "--one-based").code == 0
    assert perceptrons.load(model).n_features_in_ == 2
    assert run("evaluate", model, tmp_path / "c.svm").code == 0


def test_a_model_of_a_data_frame_reads_its_columns(tmp_path, files, run):
    import pandas

    frame = pandas.DataFrame({"b": [0.0, 1.0, 2.0, 3.0], "a": [1.0, 0.0, 1.0, 0.0]})
    y = np.array(["no", "no", "yes", "yes"])
    model = perceptrons.Perceptron(readout="averaged").fit(frame, y)
    perceptrons.save(model, tmp_path / "m.perceptron")
    frame[["a", "b"]].assign(kind=y).to_csv(tmp_path / "t.csv", index=False)
    assert run("predict", tmp_path / "m.perceptron", tmp_path / "t.csv").lines == model.predict(frame).tolist()
    assert (
        f"error {100 * (model.predict(frame) != y).mean():.2f} %"
        in run("evaluate", tmp_path / "m.perceptron", tmp_path / "t.csv", "--target", "kind").out
    )


def test_a_file_is_written_whole_or_not_at_all(models, files, tmp_path, run):
    path = tmp_path / "labels.txt"
    done = run("predict", models["two"], files / "two.svm", "-o", path)
    assert done.code == 0 and done.out == "" and "80 rows" in done.err
    assert path.read_text() == run("predict", models["two"], files / "two.svm").out
    (tmp_path / "bad.svm").write_text("1 0:1\n1 0:x\n")
    before = path.read_bytes()
    assert run("predict", models["two"], tmp_path / "bad.svm", "-o", path).code == 2
    assert path.read_bytes() == before
    assert {each.name for each in tmp_path.iterdir()} == {"labels.txt", "bad.svm"}


def test_labels_that_the_model_does_not_know_are_wrong(models, files, ask, run):
    told = ask("evaluate", models["two"], files / "three.svm")
    assert told["unknown_labels"] == [0, 2]
    unknown = [each for each in told["classes"] if each["label"] in (0, 2)]
    assert all(each["recall"] == 0 and each["precision"] is None for each in unknown)
    assert "does not know: 0, 2" in run("evaluate", models["two"], files / "three.svm").out


def test_of_many_classes_the_largest_confusions_are_shown(tmp_path, run, ask):
    rows = [f"{label} {label % 7}:1 {label % 3 + 7}:1" for label in range(20) for _ in range(2)]
    (tmp_path / "many.svm").write_text("\n".join(rows) + "\n")
    model = tmp_path / "m.perceptron"
    assert run("train", tmp_path / "many.svm", "-m", model, "--passes", "1").code == 0
    out = run("evaluate", model, tmp_path / "many.svm").out
    assert "largest confusions" in out and "more; --json has all" in out
    assert len(ask("evaluate", model, tmp_path / "many.svm")["classes"]) == 20


def test_cells_of_labels_may_be_empty(models, files, tmp_path, run):
    lines = (files / "mail.csv").read_text().splitlines()
    empty = tmp_path / "empty.csv"
    empty.write_text("\n".join([lines[0], *(line.rsplit(",", 1)[0] + "," for line in lines[1:])]) + "\n")
    assert run("predict", models["mail"], empty).lines == run("predict", models["mail"], files / "mail.csv").lines
    assert run("evaluate", models["mail"], empty).code == 2


def test_quotes_are_characters_where_that_is_said(tmp_path, run, ask):
    data, model = tmp_path / "raw.tsv", tmp_path / "m"
    data.write_text('spam\t"win a prize\nham\tlunch at noon\nspam\t"win money\nham\tsee you\n')
    train = ["train", data, "-m", model, "--no-header", "--target", "0", "--text", "1", "--text-bits", "8"]
    assert ask(*train, "--no-quotes")["rows"] == 4
    assert run("predict", model, data).lines == ["spam", "ham", "spam", "ham"]  # the model knows
    assert run("evaluate", model, data).code == 0


@pytest.mark.parametrize(("name", "data"), [("two", "two.svm"), ("three", "three.svm")])
def test_probabilities_are_those_of_the_library(name, data, files, tmp_path, run, ask):
    from sklearn.metrics import brier_score_loss, log_loss

    model = tmp_path / "arow.perceptron"
    assert run("train", files / data, "-m", model, "--rule", "arow", "--passes", "2", "--quiet").code == 0
    loaded, rows = perceptrons.load(model), source(files / data)
    found, y = loaded.predict_proba(rows), rows.arrays()[1]
    printed = run("predict", model, files / data, "--proba").lines
    assert printed.pop(0).split("\t") == spelled(loaded.classes_)
    assert [[float(part) for part in line.split("\t")] for line in printed] == found.tolist()
    lines = [json.loads(line) for line in run("predict", model, files / data, "--proba", "--json").lines]
    assert [list(each["probabilities"].values()) for each in lines] == found.tolist()
    assert [each["label"] for each in lines] == loaded.predict(rows).tolist()
    told = ask("evaluate", model, files / data, "--proba")
    assert told["log_loss"] == pytest.approx(log_loss(y, found))
    truth = y[:, np.newaxis] == loaded.classes_
    expected = (
        brier_score_loss(truth[:, 1], found[:, 1]) if name == "two" else ((found - truth) ** 2).sum(axis=1).mean()
    )
    assert told["brier_score"] == pytest.approx(expected)
    assert f"Brier score {expected:.4f}" in run("evaluate", model, files / data, "--proba").out
    assert "brier_score" not in ask("evaluate", model, files / data)
    stranger = tmp_path / "stranger.svm"
    stranger.write_text((files / data).read_text() + "9 0:1\n")
    assert ask("evaluate", model, stranger, "--proba")["brier_score"] == pytest.approx(expected)


def test_models_without_probabilities_say_what_to_do(models, files, tmp_path, run):
    values = tmp_path / "values.perceptron"
    assert run("train", files / "two.svm", "-m", values, "--regression", "--passes", "2", "--quiet").code == 0
    for verb in ("predict", "evaluate"):
        done = run(verb, values, files / "two.svm", "--proba")
        assert done.code == 2 and "predicts values" in done.err
    for verb in ("predict", "evaluate"):
        done = run(verb, models["two"], files / "two.svm", "--proba")
        assert done.code == 2 and not done.out
        assert "keeps no covariance" in done.err and "arow" in done.err and "CalibratedClassifierCV" in done.err
    done = run("predict", models["two"], files / "two.svm", "--proba", "--scores")
    assert done.code == 2 and "--scores and --proba" in done.err
