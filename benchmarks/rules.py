"""Which rule for which data: errors of every rule, with its default parameters, on public data sets.

    python benchmarks/rules.py [FOLDER] [PART ...]     # default ../shared/data; parts: held_out, raw, stream, rare

held_out: errors after one pass and after five, of the averaged weights and of the last. raw: the same on features as
they were measured, on very different scales. stream: mistakes in one pass in the order of time, while the concept
drifts. rare: a class that has a tenth of the rows, or less. The line `majority` always says the most frequent class.
Everything takes about five minutes, half of it to compile passes for the first time. docs/choose/rules.md draws on it.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import public_sets
from public_sets import Split, csr, flipped, standardised
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import balanced_accuracy_score, f1_score
from sklearn.preprocessing import StandardScaler

from perceptrons import Perceptron
from perceptrons.rules import AROW, ROMMA, RULES, SCW1, Margin, Shifting, Uneven

PASSES = 5
DEFAULTS: dict[str, Any] = {name: rule() for name, rule in RULES.items()}
DEFAULTS["romma, aggressive"] = ROMMA(aggressive=True)


def errors(split: Split, rule: Any, readout: str, passes: int = PASSES) -> list[float]:
    """Held-out errors after each pass; none if the rule does not learn several classes."""
    X, y, X_test, y_test = split
    model = Perceptron(rule=rule, readout=readout, max_iter=passes, tol=None, random_state=0)
    try:
        model.fit(X, y, X_val=X_test, y_val=y_test)
    except ValueError as error:
        if "classes" not in str(error):
            raise
        return []
    found = list(model.validation_errors_)
    return found + found[-1:] * (passes - len(found))  # it ends early when a pass makes no mistake


def majority(split: Split) -> float:
    """The error of always saying the most frequent class of the training rows."""
    _, y, _, y_test = split
    labels, counts = np.unique(y, return_counts=True)
    return float(np.mean(y_test != labels[counts.argmax()]))


def table(title: str, sets: dict[str, Split], once: tuple[str, ...] = ()) -> None:
    """Print errors in %: after one pass and after five, averaged and last. Sets in `once` get one pass only."""
    found = {
        (name, readout, label): errors(split, rule, readout, 1 if name in once else PASSES)
        for name, split in sets.items()
        for readout in ("averaged", "last")
        for label, rule in DEFAULTS.items()
    }
    for readout in ("averaged", "last"):
        for passes in (1, PASSES):
            shown = [name for name in sets if passes == 1 or name not in once]
            print(f"\n{title}, error in %, {readout}, {passes} {'pass' if passes == 1 else 'passes'}")
            print(f"{'':<18}" + "".join(f"{name:>10}" for name in shown))
            print(f"{'majority':<18}" + "".join(f"{100 * majority(sets[name]):>10.2f}" for name in shown))
            for label in DEFAULTS:
                cells = [found[name, readout, label] for name in shown]
                line = "".join(f"{100 * cell[passes - 1]:>10.2f}" if cell else f"{'–':>10}" for cell in cells)
                print(f"{label:<18}{line}", flush=True)


def held_out(folder: Path) -> None:
    X, y, X_test, y_test = public_sets.mnist(folder)
    a9a, mushroom = public_sets.a9a(folder), public_sets.mushroom(folder)
    sets = {
        "a9a": a9a,
        "a9a 15%": flipped(a9a),
        "ijcnn1": public_sets.ijcnn1(folder),
        "mushroom": mushroom,
        "mush. 15%": flipped(mushroom),
        "sms": public_sets.sms(folder),
        "news": public_sets.news(folder),
        "letter": public_sets.letter(folder),
        "mnist 10k": (csr(X[:10_000]), y[:10_000], csr(X_test), y_test),
        "covtype": standardised(public_sets.covtype(folder)),
    }
    table("Held-out rows (15%: that share of training labels is flipped)", sets, once=("covtype",))


def raw(folder: Path) -> None:
    X, y = public_sets.svmguide3(folder)
    sets = {
        "wine": public_sets.wine(),
        "breast": public_sets.breast_cancer(),
        "covtype": public_sets.covtype(folder, 50_000),
        "svmguide3": public_sets.cut(X, y),
    }
    table("Raw features", sets)


def switching(rows: int = 20_000, width: int = 20, every: int = 2_000) -> tuple[np.ndarray, np.ndarray]:
    """A made stream: another linear concept every 2,000 rows, and 5 % of the labels flipped."""
    rng = np.random.default_rng(0)
    X, concepts = rng.normal(size=(rows, width)), rng.normal(size=(rows // every, width)).repeat(every, axis=0)
    y = (X * concepts).sum(axis=1) > 0
    return X, y ^ (rng.random(rows) < 0.05)


def stream(folder: Path) -> None:
    """Mistakes on rows in the order of time; each is predicted before it is learned."""
    X, y = public_sets.elec2(folder)
    streams = {
        "elec2": (X, y),
        "elec2, scaled": (StandardScaler().fit(X[:1_000]).transform(X), y),  # by its first rows
        "switching": switching(),
    }
    print("\nStreams with drift, online error in %")
    print(f"{'':<18}" + "".join(f"{name:>15}" for name in streams))
    print(f"{'majority':<18}" + "".join(f"{100 * min(y.mean(), 1 - y.mean()):>15.2f}" for _, y in streams.values()))
    print(f"{'the last label':<18}" + "".join(f"{100 * np.mean(y[1:] != y[:-1]):>15.2f}" for _, y in streams.values()))
    given = {f"shifting, {lam}": Shifting(lam) for lam in (1, 2, 10, 100)}
    for label, rule in {**DEFAULTS, **given}.items():
        rates = [Perceptron(rule=rule).partial_fit(csr(X), y).n_mistakes_ / len(y) for X, y in streams.values()]
        print(f"{label:<18}" + "".join(f"{100 * rate:>15.2f}" for rate in rates), flush=True)


def rare(folder: Path) -> None:
    """Balanced error (the mean of the errors in both classes) and F1 of the rare class; averaged, five passes."""
    tables = {"ijcnn1": public_sets.ijcnn1(folder), "sms": public_sets.sms(folder)}
    X, y, X_test, y_test = standardised(public_sets.covtype(folder))
    tables["covtype, class 4"] = X, y == 4, X_test, y_test == 4
    for name, (X, y, X_test, y_test) in tables.items():
        positive = np.unique(y)[1]
        print(f"\n{name}: {np.mean(y == positive):.1%} of the rows are positive; in %, averaged, {PASSES} passes")
        print(f"{'':<34}{'error':>8}{'balanced':>10}{'F1':>8}")
        settings: dict[str, tuple[Any, Any]] = {label: (rule, None) for label, rule in DEFAULTS.items()}
        settings |= {f"uneven, {up:g} and {down:g}": (Uneven(up, down), None) for up, down in UNEVEN}
        for label, rule in {"perceptron": "perceptron", "margin": Margin(), "arow": AROW(), "scw1": SCW1()}.items():
            settings[f"{label}, class_weight balanced"] = rule, "balanced"
        for label, (rule, weights) in settings.items():
            model = Perceptron(
                rule=rule, readout="averaged", max_iter=PASSES, tol=None, random_state=0, class_weight=weights
            )
            answers = model.fit(X, y).predict(X_test)
            wrong, balanced = np.mean(answers != y_test), 1 - balanced_accuracy_score(y_test, answers)
            f1 = f1_score(y_test, answers, pos_label=positive)
            print(f"{label:<34}{100 * wrong:>8.2f}{100 * balanced:>10.2f}{100 * f1:>8.2f}", flush=True)


UNEVEN = ((3, 0), (10, 0), (30, 0), (100, 0))
PARTS = {"held_out": held_out, "raw": raw, "stream": stream, "rare": rare}


def main(*arguments: str) -> None:
    folder = Path(next((each for each in arguments if each not in PARTS), "../shared/data"))
    if not (folder / "a9a").exists():
        print(f"no {folder / 'a9a'}: pass the folder of data sets as argument")
        return
    warnings.simplefilter("ignore", ConvergenceWarning)  # the passes are what is measured
    for part in [each for each in arguments if each in PARTS] or PARTS:
        PARTS[part](folder)


if __name__ == "__main__":
    main(*sys.argv[1:])
