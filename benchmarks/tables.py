"""The first command on a table, `perceptrons train FILE --target T`, against a plain scikit-learn pipeline.

Both learn from the same rows and are measured on the same held-out rows. The command reads CSV files. The pipeline
gets data frames: missing numbers become the mean and an indicator, numbers are standardised, categories one-hot
encoded, then LogisticRegression(max_iter=1000).

The ratio of two errors is that of (wrong + 1/2)/(rows + 1), so that a table without errors counts, but not infinitely.
The ratio of a table is the geometric mean over its splits, and the last line is the geometric mean over tables.

The defaults for tables (rule, margin, cutting off at 5 spreads) were chosen among about 150 settings on these kinds of
tables, with other seeds. The files with one split of their own (adult_raw, elec2 in time) took part in the choice.

    python benchmarks/tables.py                  # all, about ten minutes; data in ../shared/data
    python benchmarks/tables.py FOLDER errors    # one part: errors, covtype, time, defaults
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
import warnings
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from made_tables import MADE
from side_by_side import head, ratio, row
from sklearn import datasets
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from perceptrons.cli.main import main as perceptrons

SMALL = 1000  # tables with fewer rows are split SPLITS times, others a few times
SPLITS = 20
FEW = 10  # splits of each table on which other options are compared
TRAINING = 0.7  # share of rows to learn from
FRESH = 2026  # seed of splits and generated tables; defaults were chosen on other splits and other draws
SAMPLE = 60_000  # rows of covtype that the pipeline learns from
WORK = Path(tempfile.gettempdir())  # replaced by a folder of its own


class Split(NamedTuple):
    """Rows to learn from, and held-out rows, with classes in the column `y`."""

    table: str
    training: pd.DataFrame
    held_out: pd.DataFrame


class Result(NamedTuple):
    """Errors on one split."""

    table: str
    rows: int  # held out
    larger: int  # wrong answers of always saying the most frequent class of the training rows
    theirs: int  # of the pipeline
    ours: int | None  # of the command; None if it refused
    tuned: int | None  # with --tune


# -- tables -------------------------------------------------------------------------------------------------------


def cut(name: str, table: pd.DataFrame, seed: int, share: float = TRAINING) -> Split:
    order = np.random.default_rng([seed, FRESH]).permutation(len(table))
    edge = int(share * len(table))
    return Split(name, table.iloc[order[:edge]], table.iloc[order[edge:]])


def adult(folder: Path) -> Split:
    """The census table with its own test file, whose labels end in a full stop."""
    parts = []
    for part in ("train", "test"):
        path = folder / "adult_raw" / f"adult-{part}.csv"
        parts.append(pd.read_csv(path, header=None, names=[*map(str, range(14)), "y"], skipinitialspace=True))
        parts[-1]["y"] = parts[-1]["y"].str.rstrip(".")
    return Split("adult_raw, its own test file", *parts)


def covtype(folder: Path) -> pd.DataFrame:
    table = pd.read_csv(folder / "covtype" / "covtype.csv.gz")
    return table.rename(columns={table.columns[-1]: "y"})


def real(folder: Path) -> Iterator[Split]:
    """Tables that somebody collected."""
    for name in ("iris", "wine", "breast_cancer", "digits"):
        found = getattr(datasets, f"load_{name}")(as_frame=True)
        table = found.data.assign(y=found.target)
        for seed in range(SPLITS if len(table) < SMALL else 5):
            yield cut(name, table, seed)
    if not folder.is_dir():
        print(f"no {folder}: without adult_raw, elec2 and covtype; pass the folder of data sets as argument")
        return
    yield adult(folder)
    elec2 = pd.read_csv(folder / "elec2" / "elec_6feat.csv").rename(columns={"class": "y"})
    yield cut("elec2, random split", elec2, 0)
    edge = int(TRAINING * len(elec2))
    yield Split("elec2, later rows held out", elec2[:edge], elec2[edge:])
    some = cut("covtype", covtype(folder), 0)
    yield Split(f"covtype, {SAMPLE:,} rows", some.training[:SAMPLE], some.held_out[:SAMPLE])


def made() -> Iterator[Split]:
    """Generated tables; each split is of a table drawn anew."""
    for name, draw in MADE.items():
        for seed in range(SPLITS if name == "few rows" else 3):
            yield cut(name, draw(np.random.default_rng([seed, FRESH])), seed)


# -- two ways to learn --------------------------------------------------------------------------------------------


def command(*args: object) -> str:
    """Run the command in this process, and return what it prints."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            perceptrons([str(arg) for arg in args])
        except SystemExit as leave:
            if leave.code:
                raise RuntimeError(err.getvalue().strip()) from None
    return out.getvalue()


def wrong_of_command(split: Split, *options: object) -> int | None:
    """Wrong answers of the command on the held-out rows; None if it refuses the table."""
    training, held_out, model = WORK / "training.csv", WORK / "held_out.csv", WORK / "model.perceptron"
    split.training.to_csv(training, index=False)
    split.held_out.to_csv(held_out, index=False)
    try:
        command("train", training, "--target", "y", "-m", model, "-q", *options)
        return int(json.loads(command("evaluate", model, held_out, "--json"))["wrong"])
    except RuntimeError as error:
        print(f"  {split.table}: refused: {str(error).splitlines()[-1]}")
        return None


def wrong_of_pipeline(split: Split) -> int:
    """Wrong answers of the pipeline on the held-out rows."""
    X, y = split.training.drop(columns="y"), split.training["y"]
    numbers = [name for name in X if pd.api.types.is_numeric_dtype(X[name])]
    of_numbers = make_pipeline(SimpleImputer(add_indicator=True), StandardScaler())
    of_categories = make_pipeline(
        SimpleImputer(strategy="constant", fill_value="missing", missing_values=None),
        OneHotEncoder(handle_unknown="ignore"),
    )
    columns = make_column_transformer((of_numbers, numbers), (of_categories, [n for n in X if n not in numbers]))
    X_held_out = split.held_out.drop(columns="y")
    for name in set(X) - set(numbers):
        X, X_held_out = (each.assign(**{name: each[name].astype(object)}) for each in (X, X_held_out))
        X, X_held_out = (each.assign(**{name: each[name].where(each[name].notna(), None)}) for each in (X, X_held_out))
    model = make_pipeline(columns, LogisticRegression(max_iter=1000)).fit(X, y)
    return int((model.predict(X_held_out) != split.held_out["y"].to_numpy()).sum())


def has(option: str) -> bool:
    """Whether `train` has this option."""
    return option in command("train", "--help")


# -- parts --------------------------------------------------------------------------------------------------------


def log_ratio(mine: int, theirs: int, rows: int) -> float:
    return float(np.log((mine + 0.5) / (rows + 1)) - np.log((theirs + 0.5) / (rows + 1)))


def errors(folder: Path) -> None:
    """Errors on all tables, and their ratios."""
    tunes = has("--tune")
    if not tunes:
        print("`train` has no --tune yet: its column is empty")
    print(f"\n{'held-out errors, %':<34} {'splits':>6} {'larger':>7} {'sklearn':>7} {'ours':>7} {'--tune':>7} ", end="")
    print(f"{'ratio':>7} {'--tune':>7}")
    by_table: dict[str, list[Result]] = {}
    for split in (*real(folder), *made()):
        most = split.training["y"].mode()[0]
        larger = int((split.held_out["y"] != most).sum())
        tuned = wrong_of_command(split, "--tune") if tunes else None
        found = Result(
            split.table, len(split.held_out), larger, wrong_of_pipeline(split), wrong_of_command(split), tuned
        )
        by_table.setdefault(split.table, []).append(found)
    ratios = [show(results) for results in by_table.values()]
    for number, (name, bar) in enumerate((("default", 1.0), ("--tune", 0.97))):
        logs = sorted(pair[number] for pair in ratios if pair[number] is not None)
        if logs:
            print(f"geometric mean of {len(logs)} ratios, {name}: {np.exp(np.mean(logs)):.3f}   <= {bar:.2f}")
            print(f"    without the smallest and the largest ratio: {np.exp(np.mean(logs[1:-1])):.3f}")
    worse = [
        name
        for name, results in by_table.items()
        if all(r.ours is not None for r in results) and sum(r.ours for r in results) > sum(r.larger for r in results)
    ]
    print(f"worse than the larger class: {', '.join(worse) or 'none'}   none")
    for result in by_table.get("adult_raw, its own test file", []):
        if result.ours is not None:
            print(f"adult_raw: {result.ours / result.rows:.2%}   <= 15.30 %")


def show(results: list[Result]) -> tuple[float | None, float | None]:
    """Print the line of a table; return the means of the logarithms of its ratios, without and with --tune."""
    rows = sum(result.rows for result in results)
    sums = [
        None if any(getattr(r, name) is None for r in results) else sum(getattr(r, name) for r in results)
        for name in ("larger", "theirs", "ours", "tuned")
    ]
    means = [
        None
        if any(getattr(r, name) is None for r in results)
        else float(np.mean([log_ratio(getattr(r, name), r.theirs, r.rows) for r in results]))
        for name in ("ours", "tuned")
    ]
    cells = ["" if each is None else f"{100 * each / rows:.2f}" for each in sums]
    cells += ["" if each is None else f"{np.exp(each):.3f}" for each in means]
    print(f"{results[0].table:<34} {len(results):>6} " + " ".join(f"{cell:>7}" for cell in cells), flush=True)
    return means[0], means[1]


OTHERS = [  # options beside the default: rule margin with beta 20, readout averaged, 10 passes, numbers scaled
    "",
    "--rule perceptron",
    *(f"--rule margin --beta {beta}" for beta in (1, 10, 50)),
    *(f"--rule pa1 --C {C}" for C in (1, 0.1, 0.01)),
    "--rule pa2 --C 0.03",
    *(f"--passes {passes}" for passes in (1, 5, 20)),
    "--readout last",
    "--scale none",
]


def defaults(folder: Path) -> None:
    """The table behind the defaults: ratios of errors with other options, on few splits of each table."""
    taken: dict[str, int] = {}
    splits = []
    for split in (*real(folder), *made()):
        taken[split.table] = taken.get(split.table, 0) + 1
        if taken[split.table] <= FEW:
            splits.append((split, wrong_of_pipeline(split)))
    print(f"\n{'options of `train`, and the geometric mean of ratios of errors':<64} {'all':>7} {'real':>7}")
    named = {split.table: split.table not in MADE for split, _ in splits}
    for options in OTHERS:
        logs: dict[str, list[float]] = {}
        for split, theirs in splits:
            wrong = wrong_of_command(split, *options.split())
            if wrong is not None:
                logs.setdefault(split.table, []).append(log_ratio(wrong, theirs, len(split.held_out)))
        means = {name: np.mean(each) for name, each in logs.items()}
        every, actual = (np.exp(np.mean([means[n] for n in means if named[n] or both])) for both in (True, False))
        print(f"{options or 'the default':<64} {every:>7.3f} {actual:>7.3f}", flush=True)


def covtype_whole(folder: Path) -> None:
    """All rows of covtype, five passes."""
    if not folder.is_dir():
        return
    split = cut("covtype, all rows", covtype(folder), 0, 0.8)
    few = Split(split.table, split.training[:SAMPLE], split.held_out)
    ours, theirs = wrong_of_command(split, "--passes", 5), wrong_of_pipeline(few)
    assert ours is not None
    n, larger = len(split.held_out), int((split.held_out["y"] != split.training["y"].mode()[0]).sum())
    print(f"\ncovtype, {len(split.training):,} rows, 7 classes, 5 passes: {ours / n:.2%}   <= 28 %")
    print(f"    larger class {larger / n:.2%}; the pipeline, on a sample of {SAMPLE:,} of these rows: {theirs / n:.2%}")


def time_of_scaling(folder: Path) -> None:
    """Seconds of `train` with scaling against without."""
    if not has("--scale"):
        print("\n`train` has no --scale yet: no times")
        return
    head("Seconds of `train` with scaling against without", "standard", "none")
    files = {"many rows, generated": next(s for s in made() if s.table == "many rows")}
    if folder.is_dir():
        files |= {"adult_raw": adult(folder), "covtype": cut("covtype", covtype(folder), 0, 0.8)}
    for name, split in files.items():
        path, model = WORK / "time.csv", WORK / "time.perceptron"
        split.training.to_csv(path, index=False)
        words = ["train", path, "--target", "y", "-m", model, "-q", "--scale"]
        works = [partial(command, *words, how) for how in ("standard", "none")]
        a, b, factor = ratio(*works)
        row(f"{name}, {len(split.training):,} rows", a, b, 1 / factor, "<= 1.15 times as long", 1)


PARTS = {"errors": errors, "covtype": covtype_whole, "time": time_of_scaling, "defaults": defaults}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    names = [each for each in sys.argv[1:] if each in PARTS]
    places = [each for each in sys.argv[1:] if each not in PARTS]
    with tempfile.TemporaryDirectory() as place:
        WORK = Path(place)
        for name in names or ["errors", "covtype", "time"]:
            PARTS[name](Path(places[0] if places else "../shared/data"))
