"""Makes the pictures that the README shows.   python docs/picture.py   (needs matplotlib)"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.linear_model import Perceptron as TheirPerceptron

from perceptrons import KernelPerceptron, Perceptron
from perceptrons.plots import BoundaryDisplay, MarginsDisplay, ProofDisplay
from perceptrons.plots.style import legend
from perceptrons.theory import trace

HERE = Path(__file__).parent
INK, BLUE, ORANGE = "#222222", "#0072B2", "#D55E00"  # told apart by colour-blind people, and in grey by their shade


def separable(random: np.random.Generator, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """2,000 normal rows of 20 features, those nearer than `margin` to a hyperplane left out."""
    X = random.normal(size=(2000, 20))
    w = random.normal(size=20)
    distance = X @ w / np.linalg.norm(w)
    keep = np.abs(distance) > margin
    return X[keep], (distance[keep] > 0).astype(int)


def readouts() -> None:
    """What is left of separable rows, and which hypothesis to keep of noisy ones."""
    random = np.random.default_rng(0)
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.4), layout="constrained")
    margins = np.array([0.2, 0.1, 0.05, 0.02, 0.01, 0.005])
    errors: dict[str, list[float]] = {"scikit-learn": [], "perceptrons": []}
    for margin in margins:
        trials = [separable(random, margin) for _ in range(10)]
        for name, model in (("scikit-learn", TheirPerceptron()), ("perceptrons", Perceptron())):
            errors[name].append(np.mean([(model.fit(X, y).predict(X) != y).sum() for X, y in trials]))
    for (name, line), style, colour in zip(errors.items(), ("s--", "o-"), (ORANGE, BLUE), strict=True):
        left.plot(margins, line, style, color=colour, label=name)
    left.set(xscale="log", xlabel="margin of the rows", ylabel="training errors left (mean of 10)")
    left.set_xticks(margins, [f"{margin:g}" for margin in margins])
    left.minorticks_off()
    left.invert_xaxis()
    left.set_title("Separable rows, 2,000 × 20, default settings")
    left.legend()

    X = random.normal(size=(3000, 40))
    y = (X @ random.normal(size=40) + 4 * random.normal(size=3000) > 0).astype(int)
    for readout, style, colour in (("last", ":", ORANGE), ("averaged", "-", BLUE), ("voted", "--", INK)):
        model = Perceptron(readout=readout, tol=None, max_iter=30)
        model.fit(X[:1000], y[:1000], X_val=X[1000:], y_val=y[1000:])
        right.plot(np.arange(1, 31), model.validation_errors_, style, color=colour, label=readout)
    right.set(xlabel="pass", ylabel="error on held-out rows", ylim=(0, None))
    right.set_title("Noisy rows: which hypothesis to keep")
    right.legend(title="readout")
    figure.savefig(HERE / "picture.png", dpi=110)


def proof() -> None:
    """A run over rows of two features: where it ended, and why it had to."""
    random = np.random.default_rng(3)
    X = random.normal(size=(400, 2)) @ [[1.6, 0.5], [0.0, 1.0]] + [1.0, 0.5]
    distance = (X @ [1.0, -2.0] + 0.4) / 5**0.5
    X = X[np.abs(distance) > 0.04]
    y = np.where(distance[np.abs(distance) > 0.04] > 0, "spam", "mail")
    run = trace(Perceptron(), X, y)
    figure = plt.figure(figsize=(13, 8.4), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(1.0, 1.05))
    left, right = above.subplots(1, 2, width_ratios=(1.2, 1.0))
    BoundaryDisplay.from_estimator(run.model, X, y, ax=left)
    models = {"after ten rows": Perceptron().partial_fit(X[:10], y[:10]), "converged": run.model}
    MarginsDisplay.from_estimators(models, X, y, ax=right)
    ProofDisplay.from_trace(run, ax=below.subplots(1, 3))
    figure.savefig(HERE / "proof.png", dpi=80)


def kernels() -> None:
    """Curved boundaries: with all the rows that made mistakes, and with ten of a stream."""
    figure, axes = plt.subplots(1, 2, figsize=(12, 4.4), layout="constrained")
    X, y = make_moons(150, noise=0.08, random_state=1)
    BoundaryDisplay.from_estimator(KernelPerceptron(gamma=2.0, rule="margin").fit(X, y), X, y, ax=axes[0])
    X, y = make_moons(5000, noise=0.3, random_state=0)
    stream = KernelPerceptron(gamma=2.0, budget=10).partial_fit(X, y)
    BoundaryDisplay.from_estimator(stream, X[:500], y[:500], ax=axes[1])
    kept = {"s": 110, "marker": "s", "facecolors": "none", "edgecolors": INK, "linewidths": 1.6, "zorder": 6}
    axes[1].scatter(*stream.support_vectors_.T, label="the ten rows kept", **kept)
    axes[1].set_title("Projectron++ after 5,000 noisy rows, budget 10", fontsize=10)
    legend(axes[1], own=False)
    figure.savefig(HERE / "kernel.png", dpi=110)


if __name__ == "__main__":
    readouts()
    proof()
    kernels()
