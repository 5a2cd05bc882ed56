"""Tables on the command line: what is guessed is shown, can be overruled, and is remembered."""

import io
import sys
import warnings

import pytest

ADULT = "".join(
    f"{20 + i % 40}, {['Private', '?', 'State-gov'][i % 3]}, {['<=50K', '>50K'][i % 2]}\n" for i in range(90)
)


@pytest.fixture
def table(tmp_path):
    def made(content, name="a.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return made


def treated(done):
    """The lines of the table, without their examples."""
    return {line.split()[0]: line.split()[1] for line in done.lines if line[:1].strip()}


def test_a_dry_run_shows_guesses_and_writes_nothing(table, tmp_path, run):
    done = run("train", table(ADULT), "--target", "2", "-m", tmp_path / "m", "--dry-run")
    assert done.code == 0 and not (tmp_path / "m").exists()
    assert "delimiter comma, without a header" in done.lines[0]
    assert treated(done) | {"0": "number", "1": "category", "2": "label"} == treated(done)
    assert done.lines[3].endswith(" 30")  # missing


def test_guesses_are_shown_before_training_unless_quiet(table, tmp_path, run, ask):
    args = ["train", table(ADULT), "--target", "2", "-m", tmp_path / "m", "--passes", 2]
    assert "treated as" in run(*args).out
    assert run(*args, "--quiet").out == "" and "rows" in ask(*args)


def test_many_columns_are_grouped(table, tmp_path, run):
    head = [*(f"x{j}" for j in range(40)), "c", "d", "y"]
    rows = [[*(f"{i * j % 7}.5" for j in range(40)), "uv"[i % 2], "pq"[i % 2], i % 2] for i in range(40)]
    content = "\n".join(",".join(map(str, row)) for row in [head, *rows]) + "\n"
    done = run("train", table(content), "--target", "y", "-m", tmp_path / "m", "--dry-run")
    assert "40 columns: x0, x1, x2" in done.out and "2 columns: c, d" in done.out and len(done.lines) < 8


def test_files_without_columns_have_nothing_to_guess(files, tmp_path, run):
    done = run("train", files / "two.svm", "-m", tmp_path / "m", "--dry-run")
    assert done.code == 0 and "nothing is guessed" in done.out


def test_options_overrule_guesses(table, tmp_path, run):
    path = table("id;day;a;y\n" + "".join(f"{i};2024-01-{i % 28 + 1:02};{i % 5},5;{i % 2}\n" for i in range(50)))
    args = ["train", path, "--target", "y", "-m", tmp_path / "m", "--dry-run"]
    found = treated(run(*args))
    assert (found["id"], found["day"], found["a"]) == ("dropped:", "dropped:", "number")
    found = treated(run(*args, "--numeric", "id", "--categorical", "day,a"))
    assert (found["id"], found["day"], found["a"]) == ("number", "category", "category")
    assert "without a header" in run(*args[:3], "3", *args[4:], "--no-header", "--categorical", "0,1,2,3").lines[0]


def test_a_model_remembers_how_its_table_was_written(table, tmp_path, run):
    model = tmp_path / "m"
    assert run("train", table(ADULT), "--target", "2", "-m", model, "--passes", 3).code == 0
    done = run("predict", model, table("30, Private\n31, Cobbler\n, Private\n", "new.csv"))
    assert done.code == 0 and len(done.lines) == 3
    assert "missing cells: 0: 1" in done.err
    assert "1 row with categories that training has not seen (1: 'Cobbler')" in done.err
    done = run("evaluate", model, table("30, Private, >50K\n31, Cobbler, <=50K\n", "test.csv"))
    assert done.code == 0 and "1: 'Cobbler'" in done.err and "missing" not in done.err


def test_labels_of_a_validation_file_that_training_has_not_seen(table, tmp_path, run, ask):
    train, other = table("a,y\n" + "1,u\n2,v\n" * 20), table("a,y\n1,u\n2,v\n3,w\n", "other.csv")
    args = ["train", train, "--target", "y", "-m", tmp_path / "m", "--validation", other]
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        err, told = run(*args).err, ask(*args)
    assert "warning: 1 row has a label in" in err and "other.csv that training has not seen ('w')" in err
    assert told["held_out_error"] >= 1 / 3
    assert told["evaluation"]["wrong"] >= 1 and "(not seen in training)" in str(told["evaluation"])


def test_other_encodings_are_noted(table, tmp_path, run):
    path = table("Straße,y\nKöln,0\nBonn,1\n".encode("latin-1"))
    done = run("train", path, "--target", "y", "-m", tmp_path / "m", "--dry-run")
    assert "Windows-1252" in done.out and "--encoding" in done.out and "Straße" in done.out
    told = run("train", path, "--target", "y", "-m", tmp_path / "m", "--dry-run", "--encoding", "latin-1")
    assert "note:" not in told.out and "Straße" in told.out


def test_notes_are_printed_once(table, tmp_path, run):
    path = table("Straße,y\nKöln,0\nBonn,1\n".encode("latin-1"))
    done = run("train", path, "--target", "y", "-m", tmp_path / "m", "--passes", 1)
    assert done.code == 0 and (done.out + done.err).count("note:") == 1
    done = run("predict", tmp_path / "m", path)
    assert done.err.count("note:") == 1


def test_missing_labels_are_counted(table, tmp_path, run):
    for labels in (["u", "v", ""], ["1", "2", ""], ["1.0", "2.0", "NaN"], ["true", "false", ""]):
        path = table("a,y\n" + "".join(f"{i % 4},{label}\n" for i, label in enumerate(labels * 3)))
        done = run("train", path, "--target", "y", "--dry-run")
        assert "2 different values" in done.lines[3] and done.lines[3].endswith(" 3"), labels


def test_dates_are_not_offered_as_numbers(table, run):
    path = table("id,day,a,y\n" + "".join(f"{i},2024-01-{i % 28 + 1:02},{i % 5},{i % 2}\n" for i in range(50)))
    done = run("train", path, "--target", "y", "--dry-run")
    assert "to learn from id nevertheless: --numeric, --categorical or --text" in done.lines
    assert "to learn from day nevertheless: --categorical or --text" in done.lines


def test_a_wrong_share_is_refused_before_the_table_is_shown(table, tmp_path, run):
    done = run("train", table(ADULT), "--target", "2", "-m", tmp_path / "m", "--validation", "20")
    assert done.code == 2 and done.out == "" and "expected a share between 0 and 1" in done.err


def test_labels_of_which_the_model_knows_none(table, tmp_path, run, ask):
    assert run("train", table(ADULT), "--target", "2", "-m", tmp_path / "m", "--passes", 2).code == 0
    other = table(ADULT.replace("50K", "50K."), "test.csv")
    done = run("evaluate", tmp_path / "m", other)
    assert "is known to the model: '<=50K.', '>50K.'. The model knows '<=50K', '>50K'" in done.out
    assert "--tune" not in done.out and "labels that the model does not know" not in done.out
    assert ask("evaluate", tmp_path / "m", other)["warning"].startswith("no label of ")


@pytest.mark.parametrize("name", ["mail.csv", "two.svm"])
def test_the_format_of_standard_input_is_guessed(files, tmp_path, run, monkeypatch, name):
    options = ["--target", "kind"] if name == "mail.csv" else []
    for path in (files / name, "-"):
        content = io.BufferedReader(io.BytesIO((files / name).read_bytes()))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(content))
        assert run("train", path, *options, "-m", tmp_path / str(path == "-"), "--passes", 1).code == 0
    from_file, piped = (run("predict", tmp_path / str(is_piped), files / name).out for is_piped in (False, True))
    assert from_file == piped


def test_standard_input_whose_format_is_not_clear(tmp_path, run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(b"some prose\n" * 9))))
    done = run("train", "-", "--target", "y", "-m", tmp_path / "m")
    assert done.code == 2 and "its format is not clear" in done.err and "--format" in done.err
