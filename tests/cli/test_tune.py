"""`train --tune`: the table, the choice, and the model that is trained with it."""

import pytest

import perceptrons


@pytest.mark.parametrize("name", ["two.svm", "three.svm", "two.npy", "mail.csv"])
def test_the_model_is_the_one_of_the_best_candidate(files, tmp_path, ask, name):
    data = [files / name, *(["--target", "kind"] if name == "mail.csv" else [])]
    told = ask("train", *data, "-m", tmp_path / "tuned", "--tune", "--passes", 3)
    first, *others = told["tuning"]["candidates"]
    assert [each["error"] for each in others] == sorted(each["error"] for each in others) and len(others) >= 5
    assert first["error"] == min(first["errors"]) == first["errors"][first["passes"] - 1]
    assert told["tuning"]["error"] == first["errors"][told["tuning"]["passes"] - 1]
    assert told["tuning"]["by"] == "5-fold cross-validation" and told["tuning"]["rows"] == told["rows"] == 80
    rule = dict(first["rule"])
    options = ["--rule", rule.pop("rule"), "--passes", told["tuning"]["passes"]]
    options += [part for key, value in rule.items() for part in (f"--{key}", value)]
    options += ["--class-weight", first["class_weight"]] if first["class_weight"] else []
    alone = ask("train", *data, "-m", tmp_path / "alone", *options)
    assert alone["mistakes"] == told["mistakes"] and alone["params"] == told["params"]
    one, two = (perceptrons.load(tmp_path / each) for each in ("tuned", "alone"))
    assert (one.coef_ == two.coef_).all() and (one.intercept_ == two.intercept_).all()


@pytest.mark.parametrize("validation", ["0.25", "FILE"])
def test_with_held_out_rows_the_error_is_the_one_in_the_table(files, tmp_path, ask, validation):
    held_out = files / "three.svm" if validation == "FILE" else validation
    told = ask("train", files / "three.svm", "-m", tmp_path / "m", "--tune", "--validation", held_out)
    assert told["tuning"]["by"] == "held-out rows"
    assert told["tuning"]["error"] == told["held_out_error"] == told["evaluation"]["error"]
    assert told["tuning"]["rows"] == told["evaluation"]["rows"]
    again = ask("train", files / "three.svm", "-m", tmp_path / "m", "--tune", "--validation", held_out)
    assert again["tuning"] == told["tuning"]


def test_one_pass_is_judged_online(files, tmp_path, ask):
    told = ask("train", files / "two.svm", "-m", tmp_path / "m", "--tune", "--passes", 1)
    assert told["tuning"]["by"] == "the online error" and told["tuning"]["error"] == told["online_error"][0]


def test_what_was_given_stays(files, tmp_path, ask):
    args = ["train", files / "two.svm", "-m", tmp_path / "m", "--tune", "--passes", 2]
    found = ask(*args, "--rule", "pa1")["tuning"]["candidates"]
    assert {each["rule"]["rule"] for each in found} == {"pa1"} and len({each["rule"]["C"] for each in found}) == 4
    assert {each["class_weight"] for each in found} == {None, "balanced"}
    found = ask(*args, "--rule", "pa1", "--C", 0.3, "--class-weight", "1=2")
    assert [each["rule"] for each in found["tuning"]["candidates"]] == [{"rule": "pa1", "C": 0.3}]
    assert found["params"]["class_weight"] == {"1": 2.0}
    found = ask(*args, "--rule", "pa")["tuning"]["candidates"]
    assert [each["class_weight"] for each in found] == [None]


def test_the_table_is_printed(files, tmp_path, run):
    args = ["train", files / "two.svm", "-m", tmp_path / "m", "--tune", "--passes", 2]
    out = run(*args).out
    assert "candidates left" in out and "chosen" in out and "judged by 5-fold cross-validation" in out
    assert out.index("chosen") < out.index("online error") and "baseline (always" in out
    assert run(*args, "--quiet").out == ""


@pytest.mark.parametrize(
    "options", [["--estimator", "kernel"], ["--estimator", "passive-aggressive"], ["--readout", "pocket"]]
)
def test_what_cannot_be_tuned(files, tmp_path, run, options):
    done = run("train", files / "two.svm", "-m", tmp_path / "m", "--tune", *options)
    assert done.code == 2 and "--tune" in done.err and not (tmp_path / "m").exists()
    done = run("train", files / "two.svm", "-m", tmp_path / "m", "--tune", "--validation", "0.2", "--patience", 2)
    assert done.code == 2 and "--patience needs a training without --tune" in done.err
