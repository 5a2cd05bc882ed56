"""What goes wrong is one line that says what, where and what to do; exit code 2, and nothing is written."""

import os

import pytest

VERBS = ["train", "predict", "evaluate", "certify", "plot", "inspect", "export", "tag", "demo"]


def refused(done, *parts):
    assert done.code == 2 and done.out == ""
    assert all(str(part) in done.err for part in parts), done.err
    return True


def test_files_that_are_not_there(models, files, tmp_path, run):
    model, none = models["two"], tmp_path / "none.svm"
    for verb in (["train", none, "-m", tmp_path / "m"], ["predict", model, none], ["evaluate", model, none]):
        assert refused(run(*verb), f"error: {none}: no such file")
    assert refused(run("certify", none), "no such file")
    for verb in ("inspect", "predict", "evaluate"):
        data = [] if verb == "inspect" else [files / "two.svm"]
        assert refused(run(verb, none, *data), f"error: {none}: No such file or directory")
    assert refused(run("train", f"{tmp_path}/*.svm", "-m", tmp_path / "m"), "no file matches")
    assert refused(run("train", tmp_path, "-m", tmp_path / "m"), "is a folder")
    assert not list(tmp_path.iterdir())


def test_bad_lines_are_told_by_file_and_line(models, tmp_path, run):
    bad = tmp_path / "bad.svm"
    bad.write_text("1 0:1\n-1 0:2\n1 0:x\n")
    for verb in (["train", bad, "-m", tmp_path / "m"], ["evaluate", models["two"], bad], ["certify", bad]):
        assert refused(run(*verb), f"{bad}:3:", "'0:x' is not index:value")
    table = tmp_path / "bad.csv"
    table.write_text("age,job,note,kind\n1,smith,fine,ham\nx,nurse,poor,spam\n")
    assert refused(run("evaluate", models["mail"], table), f"{table}:3", "age")
    assert {each.name for each in tmp_path.iterdir()} == {"bad.svm", "bad.csv"}


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no named pipes here")
def test_targets_that_cannot_be_replaced_are_refused_before_any_work(models, files, tmp_path, run):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for verb in (["train", tmp_path / "none.svm", "-m"], ["predict", models["two"], tmp_path / "none.svm", "-o"]):
        assert refused(run(*verb, pipe), f"{pipe} is not a regular file")


def test_what_to_do_is_told_by_options(tmp_path, run):
    table = tmp_path / "a.csv"
    train = ["train", table, "-m", tmp_path / "m", "--target", "y"]
    table.write_text("a,y\n1,0\n,1\n")
    assert refused(run(*train, "--missing", "error", "--quiet"), f"{table}:3: column 'a'", "with --missing mean")
    table.write_text("a,y\n" + "1,0\n" * 500 + "u,1\n")
    assert refused(run(*train), f"{table}:502: column 'a'", "with --na 'u'", "with --categorical 'a'")
    table.write_text('a,y\n1,0\n",1\n')
    assert refused(run(*train, "--quotes", "--quiet"), f"{table}:3", "pass --no-quotes")
    table.write_text("1,2\n3,4\n")
    assert refused(run(*train), "pass --header")
    table.write_bytes(b"a,y\nM\xfcller,1\n")
    assert refused(run(*train, "--encoding", "utf-8"), "with --encoding latin-1")
    table.write_text("a,y\n" + "".join(f"{i % 7},{i}\n" for i in range(500)))
    assert refused(run(*train), "too many for classes", "pass --categorical 'y'")
    (tmp_path / "a.svm").write_text("1 0:1\n")
    assert refused(run("certify", tmp_path / "a.svm", "--one-based"), "with --one-based")


def test_wrong_columns(models, files, tmp_path, run):
    train = ["train", files / "mail.csv", "-m", tmp_path / "m"]
    assert refused(run(*train, "--target", "kin"), "no column 'kin'", "Did you mean 'kind'?")
    assert refused(run(*train), "column of labels with --target", "'age', 'job', 'note', 'kind'")
    assert refused(run("predict", models["mail"], files / "two.svm", "--target", "kind"), "--target is for tables")
    (tmp_path / "other.csv").write_text("age,note\n1,fine\n")
    assert refused(run("predict", models["mail"], tmp_path / "other.csv"), "no column 'job'", "'age', 'note'")
    (tmp_path / "bare.csv").write_text("1,fine\n")
    assert refused(run("predict", models["mail"], tmp_path / "bare.csv", "--no-header"), "identified by position")
    assert refused(run("predict", models["two"], files / "mail.csv"), "numbered features")
    assert refused(run("evaluate", models["mail"], files / "two.npy"), "features")
    assert not (tmp_path / "m").exists()


def test_damaged_models(models, files, tmp_path, run):
    content = models["two"].read_bytes()
    damaged = tmp_path / "damaged.perceptron"
    for bad in (content[:-1], content[:100], b"", b"1 0:1\n", content[:-9] + b"\x01" + content[-8:]):
        damaged.write_bytes(bad)
        for verb in (["inspect"], ["predict", files / "two.svm"], ["evaluate", files / "two.svm"]):
            assert refused(run(verb[0], damaged, *verb[1:]), "error: ", damaged)
        assert refused(run("plot", damaged, files / "two.svm", "-o", tmp_path / "a.png"), damaged)
        assert refused(run("export", damaged, "--onnx", tmp_path / "a.onnx"), damaged)
    assert [each.name for each in tmp_path.iterdir()] == ["damaged.perceptron"]


def test_places_that_cannot_be_written_to(models, files, tmp_path, run):
    nowhere = tmp_path / "nowhere"
    assert refused(run("train", files / "two.svm", "-m", nowhere / "m", "--quiet"), nowhere)
    assert refused(run("train", "no such file", "-m", nowhere / "m"), nowhere)  # before any work is done
    assert refused(run("certify", "no such file", "--save", nowhere / "proof"), nowhere)
    assert refused(run("predict", models["two"], files / "two.svm", "-o", nowhere / "a.txt"), nowhere)
    assert refused(run("export", models["two"], "--onnx", nowhere / "a.onnx"), nowhere)
    assert refused(run("plot", models["two"], "--kind", "mistakes", "-o", nowhere / "a.png"), nowhere)
    assert not list(tmp_path.iterdir())


def test_what_is_read_is_not_replaced(models, files, tmp_path, run):
    data, model = tmp_path / "data.svm", tmp_path / "two.perceptron"
    data.write_bytes((files / "two.svm").read_bytes())
    model.write_bytes(models["two"].read_bytes())
    before = data.read_bytes(), model.read_bytes()
    why = "is an input file and would be overwritten"
    assert refused(run("train", "-m", data, f"{tmp_path}/*.svm"), why)
    assert refused(run("train", "-m", data, files / "two.svm", "--validation", data), why)
    assert refused(run("predict", model, data, "-o", data), why)
    assert refused(run("predict", model, data, "-o", model), why)
    assert refused(run("export", model, "--onnx", model), why)
    assert (data.read_bytes(), model.read_bytes()) == before
    assert run("train", data, "-m", model, "--quiet").code == 0  # a model may be trained again


def test_options(files, tmp_path, run):
    assert refused(run("train", files / "two.svm", "--modle", "m"), "No such option", "--model")
    assert refused(run("train", files / "two.svm"), "--model")
    assert refused(run("predct"), "predct", "Did you mean 'predict'?")
    assert refused(run("zzz"), "No such command 'zzz'.")
    assert refused(run("train"), "DATA")
    assert refused(run("train", files / "two.svm", "-m", tmp_path / "m", "--validation", "1.5"), "between 0 and 1")
    assert refused(run("train", files / "two.svm", "-m", tmp_path / "m", "--class-weight", "a"), "label=weight")
    assert refused(run("train", "-", "-m", tmp_path / "m"), "--format")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("options", "needed"),
    {
        "--kernel poly": "--estimator kernel",
        "--gamma 1": "--estimator kernel",
        "--budget 5": "--estimator kernel",
        "--C 0.1": "--rule pa1 or pa2",
        "--rule pa1 --beta 2": "--rule margin",
        "--patience 2": "--validation",
        "--estimator passive-aggressive --rule pa2": "--estimator perceptron",
        "--estimator passive-aggressive --readout voted": "--estimator perceptron",
        "--estimator kernel --gamma wide": "expected a number, scale or auto, got 'wide'",
    }.items(),
)
def test_options_that_would_change_nothing(options, needed, files, tmp_path, run):
    assert refused(run("train", files / "two.svm", "-m", tmp_path / "m", *options.split()), needed)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help(verb, run):
    done = run(verb, "--help")
    assert done.code == 0 and done.out.startswith(f"Usage: perceptrons {verb}")
    assert verb == "demo" or f"perceptrons {verb} " in done.out.split("Options:")[0].split("\n", 1)[1]  # an example


def test_help_and_version(run):
    done = run("--help")
    assert done.code == 0 and all(f"  {verb} " in done.out for verb in VERBS) and "130 interrupted" in done.out
    assert run("--version").out.startswith("perceptrons, version ")
