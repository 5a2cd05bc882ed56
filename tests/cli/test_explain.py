"""`explain`: contributions add up to the scores that `predict` prints."""

import csv

import numpy as np
import pytest

import perceptrons


@pytest.mark.parametrize("readout", ["averaged", "last", "pocket"])
@pytest.mark.parametrize("name", ["two.svm", "two.npy", "mail.csv"])
@pytest.mark.parametrize("scale", ["auto", "standard"])
def test_contributions_add_up_to_the_score(files, tmp_path, run, ask, name, readout, scale):
    options = ["--target", "kind", "--text", "note"] if name == "mail.csv" else ["--scale", scale]
    assert run("train", files / name, "-m", tmp_path / "m", "--readout", readout, *options).code == 0
    scores = [float(line) for line in run("predict", tmp_path / "m", files / name, "--scores").lines]
    for row in (0, 7, 79):
        told = ask("explain", tmp_path / "m", files / name, "--row", row, "--top", 3)
        amounts = [each["contribution"] for each in told["contributions"]]
        assert told["score"] == scores[row]
        assert told["total"] == pytest.approx(sum(amounts) + told["others"] + told["intercept"])
        assert told["total"] == pytest.approx(scores[row], rel=1e-9, abs=1e-9)
        assert np.all(np.diff(np.abs(amounts)) <= 0) and len(amounts) <= 3
        assert told["label"] == ask("explain", tmp_path / "m", files / name, "--row", row)["label"]
        for each in told["contributions"]:
            assert each["contribution"] == pytest.approx(each.get("scaled", each["value"]) * each["weight"])


def test_the_predicted_class_against_the_runner_up(files, models, run, ask):
    head, *lines = (line.split("\t") for line in run("predict", models["three"], files / "three.svm", "--scores").lines)
    labels = run("predict", models["three"], files / "three.svm").lines
    weights = perceptrons.load(models["three"]).coef_
    for row in range(0, 80, 13):
        scores = np.array(lines[row], dtype=float)
        first, second = np.argsort(-scores)[:2]
        told = ask("explain", models["three"], files / "three.svm", "--row", row)
        assert str(told["label"]) == labels[row] == str(told["class"]) == head[first]
        assert str(told["against"]) == head[second]
        assert told["total"] == pytest.approx(scores[first] - scores[second])
        for each in told["contributions"]:
            assert each["weight"] == pytest.approx(np.subtract(*weights[[first, second], each["feature"]]))
        for number, label in enumerate(head):
            one = ask("explain", models["three"], files / "three.svm", "--row", row, "--class", label)
            assert one["total"] == pytest.approx(scores[number]) and one["against"] is None


def test_columns_have_their_names(files, models, run, ask):
    told = ask("explain", models["mail"], files / "unlabelled.csv", "--row", 5, "--top", 100)
    with (files / "unlabelled.csv").open() as file:
        row = list(csv.DictReader(file))[5]
    named = {each["name"]: each["value"] for each in told["contributions"]}
    assert named.get("age", float(row["age"])) == float(row["age"])
    assert [value for name, value in named.items() if name.startswith("job")] in ([1.0], [])
    out = run("explain", models["mail"], files / "unlabelled.csv", "--row", 5).out
    assert "(bias)" in out and "above 0 means spam" in out and all(name in out for name in named)


def test_what_cannot_be_explained(files, models, tmp_path, run):
    done = run("explain", models["two"], files / "two.svm", "--row", 80)
    assert done.code == 2 and "80 rows, counted from 0: there is no row 80" in done.err
    assert "readout" in run("explain", models["voted"], files / "two.svm", "--row", 0).err
    assert "share one score" in run("explain", models["two"], files / "two.svm", "--row", 0, "--class", "1").err
    done = run("explain", models["three"], files / "three.svm", "--row", 0, "--class", "9")
    assert done.code == 2 and "not one of the classes: 0, 1, 2" in done.err
    assert run("train", files / "two.svm", "-m", tmp_path / "k", "--estimator", "kernel", "-q").code == 0
    done = run("explain", tmp_path / "k", files / "two.svm", "--row", 0)
    assert done.code == 2 and "support rows, not over features" in done.err
