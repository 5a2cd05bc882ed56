"""`inspect`, `plot` and `export`: what is said of a model is what it is."""

import sys

import numpy as np
import pytest

import perceptrons
from perceptrons import KernelPerceptron, Perceptron, load
from perceptrons.learn.fit import InMemory
from perceptrons.learn.stream import Stream


def test_inspect_tells_what_the_library_tells(models, run, ask):
    for name, path in models.items():
        told, model = ask("inspect", path), perceptrons.load(path)
        model = getattr(model, "model_", model)  # the one inside a TableClassifier
        assert told["estimator"] == "Perceptron" and told["features"] == model.n_features_in_, name
        assert (told["seen"], told["mistakes"], told["updates"]) == (model.n_seen_, model.n_mistakes_, model.n_updates_)
        assert told["margin_bound"] == model.margin_bound_
        assert told["mistakes_of_passes"] == model.mistakes_.tolist() and told["passes"] == model.n_iter_
        assert told["bytes"] == path.stat().st_size
        assert run("inspect", path).lines[0].startswith(f"{path}: Perceptron, ")


def test_the_heaviest_features_are_named(models, run, ask):
    model = perceptrons.load(models["mail"])
    names, coef = model.encoding_.feature_names, model.coef_[0]
    (told,) = ask("inspect", models["mail"], "--top", 3)["heaviest"]
    assert told["class"] == "spam" and told["intercept"] == model.intercept_[0]
    sizes = [abs(each["weight"]) for each in told["features"]]
    assert sizes == sorted(np.abs(coef), reverse=True)[:3]
    assert all(each["name"] == names[each["feature"]] for each in told["features"])
    assert {each["name"] for each in told["features"]} & {f"note: {word}" for word in ("fine", "good", "poor", "awful")}
    out = run("inspect", models["mail"], "--top", 100).out
    assert "job=nurse" in out and "speaks for" in out and "labels in 'kind'" in out
    three, model = ask("inspect", models["three"])["heaviest"], perceptrons.load(models["three"])
    for each, coef in zip(three, model.coef_, strict=True):
        assert [coef[told["feature"]] for told in each["features"]] == [told["weight"] for told in each["features"]]
    assert "feature 3" in run("inspect", models["three"]).out
    assert ask("inspect", models["two"], "--top", 0)["heaviest"][0]["features"] == []


@pytest.mark.parametrize("estimator", ["perceptron", "passive-aggressive", "kernel"])
def test_every_estimator_tells_why_it_stopped(estimator, files, tmp_path, run, ask):
    train = ["train", files / "two.svm", "-m", tmp_path / "m", "--estimator", estimator, "--passes", 1]
    assert "not converged after 1 pass: all passes were made" in run(*train).out
    assert ask("inspect", tmp_path / "m")["stopped"] == "max_iter"


def test_votes_and_kernels_are_inspected_too(models, tmp_path, run, ask):
    assert "last hypothesis" in run("inspect", models["voted"]).out
    X = np.array([[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]])
    model = KernelPerceptron(gamma=0.5, max_iter=20).fit(X, ["a", "a", "b", "b"])
    perceptrons.save(model, tmp_path / "k.perceptron")
    told = ask("inspect", tmp_path / "k.perceptron")
    assert told["support"] == len(model.support_) and told["support_of_classes"] == model.n_support_.tolist()
    assert told["kernel"]["gamma"] == 0.5
    out = run("inspect", tmp_path / "k.perceptron").out
    assert "rbf (gamma=0.5)" in out and "support rows" in out
    np.save(tmp_path / "rows.npy", X)
    assert run("predict", tmp_path / "k.perceptron", tmp_path / "rows.npy").lines == model.predict(X).tolist()


@pytest.mark.parametrize("kind", ["boundary", "mistakes", "margins", "proof"])
def test_pictures_are_drawn(kind, models, files, tmp_path, run):
    pytest.importorskip("matplotlib")
    data = [] if kind == "mistakes" else [files / "two.svm"]
    done = run("plot", models["two"], *data, "--kind", kind, "-o", tmp_path / "a.png")
    assert done.code == 0, done.err
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"


def test_pictures_of_tables_and_in_other_formats(models, files, tmp_path, run):
    pytest.importorskip("matplotlib")
    assert run("plot", models["mail"], files / "mail.csv", "-o", tmp_path / "a.svg").code == 0
    assert b"<svg" in (tmp_path / "a.svg").read_bytes()
    done = run("plot", models["two"], files / "two.svm", "-o", tmp_path / "a.jpeg")
    assert done.code == 2 and ".png, .svg, .pdf" in done.err
    done = run("plot", models["two"], "-o", tmp_path / "a.png")
    assert done.code == 2 and "needs rows" in done.err
    assert {each.name for each in tmp_path.iterdir()} == {"a.svg"}


@pytest.mark.parametrize("names", [("$a_{$", "_b"), ("$a_{$",)])
def test_pictures_have_the_names_of_columns_whatever_they_are(names, tmp_path, run):
    pytest.importorskip("matplotlib")
    rows = [
        ",".join(str(k * 0.5 * (j + 1)) for j in range(len(names))) + f",{'no' if k < 5 else 'yes'}" for k in range(9)
    ]
    (tmp_path / "rows.csv").write_text("\n".join([",".join([*names, "kind"]), *rows]))
    assert run("train", tmp_path / "rows.csv", "--target", "kind", "-m", tmp_path / "m").code == 0
    done = run("plot", tmp_path / "m", tmp_path / "rows.csv", "-o", tmp_path / "a.svg")
    assert done.code == 0, done.err
    assert all(f"<!-- {name} -->" in (tmp_path / "a.svg").read_text().replace("'", "") for name in names)


def test_without_matplotlib_the_remedy_is_named(models, files, tmp_path, run, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = run("plot", models["two"], files / "two.svm", "-o", tmp_path / "a.png")
    assert done.code == 2 and 'pip install "perceptrons[plots]"' in done.err


def test_export(models, files, tmp_path, run):
    runtime = pytest.importorskip("onnxruntime")
    pytest.importorskip("onnx")
    done = run("export", models["two"], "--onnx", tmp_path / "m.onnx")
    assert done.code == 0 and "takes X of 4 features" in done.out
    X = np.load(files / "rows.npy").astype(np.float32)
    session = runtime.InferenceSession(str(tmp_path / "m.onnx"), providers=["CPUExecutionProvider"])
    labels = session.run(["label"], {"X": X})[0]
    assert (labels == perceptrons.load(models["two"]).predict(X)).all()
    done = run("export", models["voted"], "--onnx", tmp_path / "v.onnx")
    assert done.code == 2 and "readout='averaged'" in done.err and not (tmp_path / "v.onnx").exists()


def test_a_model_of_the_library_that_was_never_trained_from_files(tmp_path, run, ask):
    model = Perceptron(readout="averaged").partial_fit([[0.0, 1.0], [1.0, 0.0]], [True, False], classes=[False, True])
    perceptrons.save(model, tmp_path / "m.perceptron")
    told = ask("inspect", tmp_path / "m.perceptron")
    assert told["trained"] == {} and told["classes"] == [False, True]
    assert "2 rows seen" in run("inspect", tmp_path / "m.perceptron").out


def test_what_train_prints_is_what_it_saves(files, tmp_path, ask):
    path = tmp_path / "m.perceptron"
    told = ask(
        "train", files / "two.svm", "-m", path, "--passes", 2, "--rule", "pa1", "--C", 0.5, "--class-weight", "1=2"
    )
    assert told["params"]["class_weight"] == {"1": 2.0}
    inspected = ask("inspect", path)
    assert told["mistakes"] == inspected["mistakes_of_passes"] and told["updates"] == inspected["updates"]
    assert inspected["rule"] == {"rule": "pa1", "C": 0.5}
    assert inspected["trained"]["files"] == [str(files / "two.svm")]
    assert told["training_error"] == ask("evaluate", path, files / "two.svm")["error"]


def test_held_out_tables_are_read_as_those_learned_from_with_and_without_a_copy(tmp_path, ask):
    train, other = tmp_path / "train.csv", tmp_path / "other.csv"
    train.write_text("age,job,y\n" + "1,nurse,1\n2,smith,0\n3,baker,0\n" * 20)
    other.write_text("job,age,y\n" + "baker,1,0\nsmith,2,0\nnurse,3,1\n" * 20)
    for missing in ([], ["--missing", "0"]):
        args = ["train", train, "--target", "y", "-m", tmp_path / "m", "--validation", other, *missing]
        args += ["--scale", "none"]  # so that jobs count more than ages, which mislead
        first, second = ask(*args), ask(*args)  # the second one from the copy
        assert first["held_out_errors"] == second["held_out_errors"] and first["held_out_error"] == 0.0


def test_a_model_knows_how_its_training_was_to_stop(files, tmp_path, run):
    assert run("train", files / "two.svm", "-m", tmp_path / "m", "--validation", 0.2, "--patience", 3).code == 0
    params = load(tmp_path / "m").get_params()
    assert (params["early_stopping"], params["n_iter_no_change"], params["validation_fraction"]) == (True, 3, 0.2)


def test_what_is_finished_is_saved_when_interrupted_later(files, tmp_path, run, monkeypatch):
    def interrupt(*args, **others):
        raise KeyboardInterrupt

    monkeypatch.setattr(Stream, "predictions", interrupt)  # of all rows, when training is over
    assert run("train", files / "two.svm", "-m", tmp_path / "m", "--cache", tmp_path).code == 130
    assert load(tmp_path / "m").n_iter_ > 1
    before = (tmp_path / "m").read_bytes()
    monkeypatch.setattr(Stream, "learn", interrupt)  # nothing has been learned yet
    assert run("train", files / "two.svm", "-m", tmp_path / "m").code == 130
    assert (tmp_path / "m").read_bytes() == before
    monkeypatch.setattr(InMemory, "begin", interrupt)
    done = run("train", files / "two.svm", "-m", tmp_path / "k", "--estimator", "kernel")
    assert done.code == 130 and not (tmp_path / "k").exists()
