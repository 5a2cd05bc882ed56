"""`perceptrons demo`: train on real data, print errors and proofs, and draw pictures.

The data comes with scikit-learn: breast cancer in Wisconsin, 569 tumours with 30 measurements each.
"""

from __future__ import annotations

import time
import warnings
from pathlib import Path
from typing import Any

import click

from perceptrons.cli import output
from perceptrons.cli.certify import show
from perceptrons.rules import RULES

FOLDER = Path("demo")


@click.command("demo")
def command() -> None:
    """Train on built-in data, print what is proved, and draw it.

    The data are 569 tumours with 30 measurements each, benign or malignant. Three quarters are for training, the rest
    is held out. Pictures are written to the folder demo.
    """
    from sklearn.datasets import load_breast_cancer
    from sklearn.model_selection import train_test_split
    from sklearn.preprocessing import StandardScaler

    from perceptrons import Perceptron
    from perceptrons.theory import mistake_bound, separability, trace

    data = load_breast_cancer()
    y = data.target_names[data.target]
    train, test, y_train, y_test = train_test_split(data.data, y, test_size=0.25, random_state=0, stratify=y)
    output.heading(
        f"Breast cancer (Wisconsin): {len(train)} training rows, {len(test)} held out, {train.shape[1]} features"
    )
    output.say("The first run takes longer, because it compiles.")
    output.say()
    scaler = StandardScaler().fit(train)
    train, test = scaler.transform(train), scaler.transform(test)
    compare(train, test, y_train, y_test)

    output.say()
    output.heading("Can the training rows be separated at all?")
    verdict = separability(train, y_train)
    show(str(verdict), verdict.separable)
    verdict.check(train, y_train)
    output.say("  checked           the certificate holds in exact rational arithmetic")

    output.say()
    output.heading("How many mistakes can the perceptron make, and how many did it make?")
    for line in str(mistake_bound(train, y_train)).splitlines():
        output.say(line)
    run = trace(Perceptron(readout="last"), train, y_train)
    output.say(f"  made: {run.n_updates:,} in {run.n_passes} passes")
    draw(run, train, y_train)


def compare(train: Any, test: Any, y_train: Any, y_test: Any) -> None:
    """Print a table of spaces, rules and readouts with errors, passes, updates and time."""
    from sklearn.exceptions import ConvergenceWarning

    from perceptrons import KernelPerceptron, Perceptron
    from perceptrons.learn.readouts import READOUTS

    output.say(f"{'':<36}{'training':>9}{'held-out':>9}")
    output.say(
        f"{'space':<12}{'rule':<12}{'readout':<12}{'error':>9}{'error':>9}"
        f"{'converged':>11}{'passes':>8}{'updates':>9}{'seconds':>9}"
    )
    models: list[Any] = [Perceptron(readout=readout) for readout in READOUTS]
    models += [Perceptron(rule=rule, readout="averaged") for rule in RULES if rule != Perceptron().rule]
    models += [KernelPerceptron(rule="margin", readout=readout) for readout in READOUTS]
    for model in models:
        space = "linear" if isinstance(model, Perceptron) else "rbf kernel"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(train, y_train)  # the first fit of its kind compiles
            begun = time.perf_counter()
            model.fit(train, y_train)
            seconds = time.perf_counter() - begun
        output.say(
            f"{space:<12}{model.rule:<12}{model.readout:<12}"
            f"{1 - model.score(train, y_train):>9.1%}{1 - model.score(test, y_test):>9.1%}"
            f"{'yes' if model.converged_ else 'no':>11}{model.n_iter_:>8}{model.n_updates_:>9}{seconds:>9.3f}"
        )


def draw(run: Any, X: Any, y: Any) -> None:
    """Draw the boundary and the proof."""
    try:
        import matplotlib

        from perceptrons.plots import BoundaryDisplay, ProofDisplay
    except ImportError:
        output.say()
        output.say('For pictures: pip install "perceptrons[plots]"')
        return
    matplotlib.use("Agg")
    FOLDER.mkdir(exist_ok=True)
    boundary = BoundaryDisplay.from_estimator(run.model, X, y)
    boundary.figure_.savefig(FOLDER / "boundary.png", dpi=130, bbox_inches="tight")
    ProofDisplay.from_trace(run).figure_.savefig(FOLDER / "proof.png", dpi=110)
    output.say()
    output.say(f"Pictures: {FOLDER / 'boundary.png'} (the plane of w), {FOLDER / 'proof.png'} (why it had to stop)")
