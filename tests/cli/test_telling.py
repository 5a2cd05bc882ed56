"""What `train` and `evaluate` tell: passes as they end, the pass that is kept, the baseline, help in groups."""

import importlib
import signal
import subprocess
import time

import click
import numpy as np
import pytest

import perceptrons
from perceptrons import Perceptron
from perceptrons.cli.telling.groups import OTHERS, Grouped
from perceptrons.cli.telling.passes import PassTable


@pytest.fixture
def noise(tmp_path):
    """A file of rows whose labels have nothing to do with their features, three quarters of them 'b'."""
    random = np.random.default_rng(0)
    labels = np.where(np.arange(200) % 4 == 0, "a", "b")
    lines = [f"{x:.3f},{y}" for x, y in zip(random.normal(size=200), labels, strict=True)]
    (tmp_path / "noise.csv").write_text("x,y\n" + "\n".join(lines) + "\n")
    return tmp_path / "noise.csv"


def test_the_best_pass_is_kept_unless_told_otherwise(files, tmp_path, ask):
    args = ["train", files / "two.svm", "-m", tmp_path / "m", "--validation", "0.25", "--passes", 7]
    best, last = ask(*args), ask(*args, "--keep", "last")
    errors = best["held_out_errors"]
    assert errors == last["held_out_errors"] and len(errors) == 7
    assert best["held_out_error"] == min(errors) == errors[best["kept_pass"] - 1] == best["evaluation"]["error"]
    assert last["held_out_error"] == errors[-1] == last["evaluation"]["error"] and last["kept_pass"] is None
    with_patience = ask(*args, "--patience", 1)
    assert with_patience["held_out_error"] == min(with_patience["held_out_errors"])


def test_an_estimator_with_the_parameters_of_the_file_keeps_the_same_pass(files, numbers, tmp_path, ask):
    args = ["train", files / "two.npy", "-m", tmp_path / "m", "--validation", "0.25", "--passes", 7]
    told, model = ask(*args), perceptrons.load(tmp_path / "m")
    again = Perceptron(**model.get_params()).fit(*numbers[:2])
    assert np.array_equal(again.coef_, model.coef_)
    assert again.validation_errors_.tolist() == told["held_out_errors"]


@pytest.mark.parametrize("options", [["--keep", "last"], ["--validation", "0.2", "--keep", "last", "--patience", 2]])
def test_keep_needs_held_out_rows_and_no_patience(files, tmp_path, run, options):
    done = run("train", files / "two.svm", "-m", tmp_path / "m", *options)
    assert done.code == 2 and "--keep needs" in done.err and not (tmp_path / "m").exists()


@pytest.mark.parametrize("name", ["two.svm", "three.svm"])
@pytest.mark.parametrize("validation", [[], ["--validation", "0.25"], ["--validation", "FILE"]])
@pytest.mark.parametrize("estimator", ["perceptron", "kernel"])
def test_training_reports_what_evaluate_finds(files, tmp_path, ask, name, validation, estimator):
    data, held_out = files / name, tmp_path / "other.svm"
    lines = data.read_text().splitlines(keepends=True)
    held_out.write_text("".join(lines[:30]))
    options = [str(held_out) if each == "FILE" else each for each in validation]
    told = ask("train", data, "-m", tmp_path / "m", "--passes", 3, "--estimator", estimator, *options)
    found = told["evaluation"]
    assert found["of"] == ("held-out rows" if validation else "training rows")
    assert told["baseline"]["error"] == found["error_of_most_frequent_class"]
    if validation != ["--validation", "0.25"]:
        same = ask("evaluate", tmp_path / "m", held_out if validation else data)
        assert {key: same[key] for key in found if key != "of"} == {k: v for k, v in found.items() if k != "of"}
    if validation:
        assert found["error"] == pytest.approx(told["held_out_error"])
    else:
        assert found["error"] == pytest.approx(told["training_error"])


def test_a_model_no_better_than_the_larger_class_is_called_so(noise, tmp_path, run, ask):
    args = ["train", noise, "--target", "y", "-m", tmp_path / "m", "--class-weight", "a=3"]
    told = ask(*args)
    assert told["baseline"] == {"label": "b", "error": 0.25} and told["evaluation"]["error"] >= 0.25
    assert "'b'" in told["warning"] and "--tune" in told["warning"]
    out = run(*args).out
    assert "baseline (always 'b') 25.00 %" in out and f"Warning: {told['warning']}" in out
    assert run(*args, "--quiet").out == ""
    again = ask("evaluate", tmp_path / "m", noise)
    assert again["warning"] == told["warning"] and again["most_frequent_class"] == "b"
    assert "Warning: " in run("evaluate", tmp_path / "m", noise).out


def test_no_warning_for_a_good_model(files, models, ask, tmp_path):
    assert ask("evaluate", models["mail"], files / "mail.csv")["warning"] is None
    assert ask("train", files / "three.svm", "-m", tmp_path / "m")["warning"] is None


def test_passes_are_printed_as_they_end_also_into_a_pipe(noise, tmp_path, command):
    args = ["train", noise, "--target", "y", "-m", tmp_path / "m", "--passes", 10**9]
    with command(*args, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        skip_to_passes(process.stdout)
        lines = [process.stdout.readline().split() for _ in range(2)]  # training goes on for hours
        process.send_signal(signal.SIGINT)
        process.stdout.read()
    assert process.returncode == 130
    assert [line[0] for line in lines] == [b"1", b"2"]


def skip_to_passes(stream):
    """Read up to the head of the table of passes."""
    while not stream.readline().startswith(b"pass"):
        pass


def test_training_goes_on_without_a_reader(noise, tmp_path, command):
    """As with `| head`: the model is saved, and the exit code says that nobody has read the report."""
    args = ["train", noise, "--target", "y", "-m", tmp_path / "m", "--passes", 3000]
    with command(*args, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        skip_to_passes(process.stdout)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141 and perceptrons.load(tmp_path / "m").n_iter_ == 3000


def test_of_very_many_passes_some_are_shown(capsys):
    table = PassTable(["mistakes"], ["1,000"], lambda number: [f"{number}"])
    table.at = time.perf_counter() + 1e9  # no time passes
    for n in range(1, 10):
        table.update(n)
    table.at = time.perf_counter() + 1e9
    table.shown = 9
    capsys.readouterr()
    table.update(1234)
    table.end(1234)
    shown = [int(line.split()[0]) for line in capsys.readouterr().out.splitlines() if line]
    assert shown == [*range(10, 21), *range(30, 101, 10), *range(200, 1001, 100), 1234]


def test_an_interrupted_first_pass_has_a_heading(files, tmp_path, run, monkeypatch):
    from perceptrons.learn.linear.learner import LinearLearner

    def interrupt(self, examples, order, *others, **named):
        self.totals.visit(1)
        raise KeyboardInterrupt

    monkeypatch.setattr(LinearLearner, "once", interrupt)
    done = run("train", files / "two.svm", "-m", tmp_path / "m")
    assert done.code == 130 and "interrupted in pass 1" in done.out and "two.svm" in done.lines[0]


@pytest.mark.parametrize("name", ["train", "tagging.train"])
def test_every_option_has_a_group(name):
    command = importlib.import_module(f"perceptrons.cli.{name}").command
    assert isinstance(command, Grouped)
    context = click.Context(command, info_name="train")
    groups = command.in_groups(context)
    assert groups[OTHERS] == []
    shown = [option.name for options in groups.values() for option in options]
    options = [each.name for each in command.get_params(context) if isinstance(each, click.Option)]
    assert sorted(shown) == sorted(options) and len(set(shown)) == len(shown)
    text = command.get_help(context)
    assert text.index("--model FILE") < text.index("--validation SHARE") < text.index("--seed")
    assert all(len(line) <= 100 for line in text.splitlines())
