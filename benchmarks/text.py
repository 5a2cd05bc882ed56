"""Text: error and time beside TfidfVectorizer + LinearSVC, online errors beside Vowpal Wabbit, and how defaults differ.

    python benchmarks/text.py [folder] [--defaults]

The folder (by default ../shared/data) has `newsgroups20/20news-bydate.tar.gz` and `sms_spam/SMSSpamCollection`. With
--defaults, a table shows the errors of other weightings, n-grams, rules and constants; the defaults of
`perceptrons train` for text come from it. Vowpal Wabbit: pip install vowpalwabbit.
"""

from __future__ import annotations

import csv
import importlib.util
import json
import os
import random
import re
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from side_by_side import head, row, seconds

COMMAND = [sys.executable, "-m", "perceptrons"]
# Programs as users have them: their modules compiled to bytecode once.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
VW = [sys.executable, "-m", "vowpalwabbit", "--loss_function", "hinge", "--binary", "-d"]
REPEATS = 5
SCRIPT = """
import csv, sys
csv.field_size_limit(2**31)
def read(path):
    with open(path, newline="") as file:
        rows = list(csv.reader(file))[1:]
    return [text for _, text in rows], [label for label, _ in rows]
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.svm import LinearSVC
texts, labels = read(sys.argv[1])
vectorizer = TfidfVectorizer()
model = LinearSVC().fit(vectorizer.fit_transform(texts), labels)
texts, labels = read(sys.argv[2])
guesses = model.predict(vectorizer.transform(texts))
print(sum(a != b for a, b in zip(guesses, labels)) / len(labels))
"""
STREAMS = {  # groups that play the part of spam
    "misc.forsale": ("misc.forsale",),
    "talk.*": ("talk.",),
    "comp.*": ("comp.",),
    "rec.*": ("rec.",),
    "sci.*": ("sci.",),
    "religion": ("alt.atheism", "soc.religion", "talk.religion"),
}
SETTINGS = [  # options of `perceptrons train`
    "",
    "--weighting counts",
    "--weighting binary",
    "--ngrams 2",
    "--text-bits 20",
    "--intercept-scaling 1",
    "--intercept-scaling 0.05",
    "--rule perceptron",
    "--rule pa1 --C 1",
    "--rule pa1 --C 0.1",
    "--passes 1",
    "--passes 10",
    "--weighting counts --intercept-scaling 1 --rule perceptron --passes 10",
]


def main(data: Path, folder: Path, defaults: bool) -> None:
    """Make the tables and print the results."""
    news, mail = data / "newsgroups20" / "20news-bydate.tar.gz", data / "sms_spam" / "SMSSpamCollection"
    absent = [path for path in (news, mail) if not path.exists()]
    if absent:
        print(f"{absent[0]} does not exist: name the folder of the data sets")
        return
    train, test, sms = make_tables(news, mail, folder)
    against_linear_svc(train, test, folder)
    if importlib.util.find_spec("vowpalwabbit") is None:
        print("vowpalwabbit is not installed: its rows are left out")
    else:
        against_vw(train, sms, folder)
    if defaults:
        compare_settings(train, test, sms, folder)


def make_tables(news: Path, mail: Path, folder: Path) -> tuple[Path, Path, Path]:
    """Write CSV files: 20 newsgroups, split by date, each part in a fixed random order; and SMS in their own order."""
    rows: dict[str, list[tuple[str, str]]] = {"train": [], "test": []}
    with tarfile.open(news) as archive:
        for member in archive:
            if member.isfile():
                part, group, _ = member.name.rsplit("/", 2)
                text = archive.extractfile(member).read().decode("latin-1")  # type: ignore[union-attr]
                rows["train" if part.endswith("train") else "test"].append((group, text.replace("\0", " ")))
    for part in rows.values():
        random.Random(0).shuffle(part)
    lines = mail.read_text(encoding="utf-8").splitlines()
    tables = {**rows, "sms": [tuple(line.split("\t", 1)) for line in lines]}
    return tuple(write(folder / f"{name}.csv", table) for name, table in tables.items())  # type: ignore[return-value]


def write(path: Path, rows: list[tuple[str, str]]) -> Path:
    """Write labels and messages as CSV."""
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("label", "message"), *rows])
    return path


def read(path: Path) -> list[tuple[str, str]]:
    """Read labels and messages from CSV."""
    csv.field_size_limit(2**31 - 1)
    with path.open(newline="", encoding="utf-8") as file:
        return [(label, text) for label, text in list(csv.reader(file))[1:]]


def run(*command: str) -> str:
    """Run a command and return what it prints."""
    return subprocess.run(command, check=True, env=ENVIRONMENT, capture_output=True, text=True).stdout


def learn(table: Path, model: Path, *options: str) -> dict[str, Any]:
    """Train on a table; returns the report."""
    given = ["--target", "label", "--text", "message", "--json"]
    found: dict[str, Any] = json.loads(run(*COMMAND, "train", str(table), "-m", str(model), *given, *options))
    return found


def online(report: dict[str, Any]) -> float:
    """The share of mistakes in the first pass, each counted before the model learns from the row."""
    return float(report["online_error"][0])


def error_on(model: Path, table: Path) -> float:
    """The error of a model, by `perceptrons evaluate`."""
    return float(json.loads(run(*COMMAND, "evaluate", str(model), str(table), "--json"))["error"])


def against_linear_svc(train: Path, test: Path, folder: Path) -> None:
    """20 newsgroups, from the start of the process to 7,532 predictions."""
    model = folder / "news.perceptron"

    def ours() -> None:
        learn(train, model)
        run(*COMMAND, "predict", str(model), str(test))

    def theirs() -> str:
        return run(sys.executable, "-c", SCRIPT, str(train), str(test))

    head("20 newsgroups: read, train on 11,314, predict 7,532 messages; seconds", "ours", "svc")
    ours()
    other_error = float(theirs())
    times = [(seconds(ours), seconds(theirs)) for _ in range(REPEATS)]
    mine, other = (statistics.median(column) for column in zip(*times, strict=True))
    row("whole commands, against TfidfVectorizer + LinearSVC", mine, other, other / mine, ">= 3", unit=1)
    error = error_on(model, test)
    row(
        "held-out error, %; the ratio is theirs - ours", error, other_error, 100 * (other_error - error), ">= -1.5", 100
    )


def against_vw(train: Path, sms: Path, folder: Path) -> None:
    """Online errors in one pass, in the order of the file, on the same words."""
    head("Online error in one pass, %; the ratio is ours/theirs", "ours", "vw")
    rows = read(train)
    streams = {"sms_spam, its own order": [(label, text) for label, text in read(sms)]}
    for name, groups in STREAMS.items():
        told = [("spam" if label.startswith(groups) else "ham", text) for label, text in rows]
        streams[f"20 newsgroups, {name} against the rest"] = told
    for name, stream in streams.items():
        table, lines = write(folder / "stream.csv", stream), folder / "stream.vw"
        report = learn(table, folder / "stream.perceptron", "--passes", "1", "--no-shuffle", "--no-cache")
        mine = online(report)
        with lines.open("w", encoding="utf-8") as file:
            for label, text in stream:
                words = re.findall(r"[0-9a-z_\x80-\U0010ffff]+", re.sub("[A-Z]", lambda m: m[0].lower(), text))
                file.write(f"{1 if label == 'spam' else -1} | {' '.join(words)}\n")
        told = subprocess.run([*VW, str(lines)], check=True, capture_output=True, text=True)
        other = float(re.findall(r"average loss = ([0-9.]+)", told.stdout + told.stderr)[-1])
        row(name, mine, other, mine / other, "<= 1", 100)


def compare_settings(train: Path, test: Path, sms: Path, folder: Path) -> None:
    """Print the errors of other settings than the defaults."""
    print("\nErrors in %: 20 newsgroups held out, and online in the first pass; SMS held out (every 5th), and online")
    print(f"{'options of perceptrons train':<75} {'news':>7} {'online':>7} {'sms':>7} {'online':>7}")
    rows, model = read(sms), folder / "settings.perceptron"
    some, others = (write(folder / name, part) for name, part in split(rows).items())
    for options in SETTINGS:
        given, found = options.split(), []
        for table, held_out, stream in ((train, test, train), (some, others, sms)):
            learn(table, model, *given)
            found.append(error_on(model, held_out))
            once = [*given, "--passes", "1", "--no-shuffle", "--no-cache"]
            found.append(online(learn(stream, model, *once)))
        print(f"{options or '(none)':<75} " + " ".join(f"{100 * error:7.2f}" for error in found), flush=True)


def split(rows: list[tuple[str, str]]) -> dict[str, list[tuple[str, str]]]:
    """Hold out every fifth row."""
    return {"some.csv": [row for i, row in enumerate(rows) if i % 5], "others.csv": rows[::5]}


if __name__ == "__main__":
    named = [argument for argument in sys.argv[1:] if not argument.startswith("-")]
    with tempfile.TemporaryDirectory() as scratch:
        main(Path(named[0] if named else "../shared/data"), Path(scratch), "--defaults" in sys.argv)
