"""Makes the picture that the README shows.   python docs/pictures/overview.py   (needs matplotlib)"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from sklearn.linear_model import Perceptron as TheirPerceptron

from perceptrons import Perceptron
from perceptrons.plots import BoundaryDisplay
from perceptrons.theory import separability

HERE = Path(__file__).parent
INK, BLUE, ORANGE = "#222222", "#0072B2", "#D55E00"  # told apart by colour-blind people, and in grey by their shade


def separable(random: np.random.Generator, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """2,000 normal rows of 20 features, those nearer than `margin` to a hyperplane left out."""
    X = random.normal(size=(2000, 20))
    w = random.normal(size=20)
    distance = X @ w / np.linalg.norm(w)
    keep = np.abs(distance) > margin
    return X[keep], (distance[keep] > 0).astype(int)


def errors_left(random: np.random.Generator, axes: Axes) -> None:
    """Training errors that the last weights of two libraries leave on separable rows."""
    margins = np.array([0.2, 0.1, 0.05, 0.02, 0.01, 0.005])
    errors: dict[str, list[float]] = {"scikit-learn": [], "perceptrons": []}
    for margin in margins:
        trials = [separable(random, margin) for _ in range(10)]
        mine = Perceptron(readout="last", max_iter=10**7)
        for name, model in (("scikit-learn", TheirPerceptron()), ("perceptrons", mine)):
            errors[name].append(np.mean([(model.fit(X, y).predict(X) != y).sum() for X, y in trials]))
    for (name, line), style, colour in zip(errors.items(), ("s--", "o-"), (ORANGE, BLUE), strict=True):
        axes.plot(margins, line, style, color=colour, label=name)
    axes.set(xscale="log", xlabel="margin of the rows", ylabel="training errors left (mean of 10)")
    axes.set_xticks(margins, [f"{margin:g}" for margin in margins])
    axes.minorticks_off()
    axes.invert_xaxis()
    axes.set_title("Separable rows, 2,000 × 20, last weights", fontsize=10)
    axes.legend()


def readouts(random: np.random.Generator, axes: Axes) -> None:
    """Held-out errors of three readouts on noisy rows."""
    X = random.normal(size=(3000, 40))
    y = (X @ random.normal(size=40) + 4 * random.normal(size=3000) > 0).astype(int)
    for readout, style, colour in (("last", ":", ORANGE), ("averaged", "-", BLUE), ("voted", "--", INK)):
        model = Perceptron(readout=readout, tol=None, max_iter=30)
        model.fit(X[:1000], y[:1000], X_val=X[1000:], y_val=y[1000:])
        axes.plot(np.arange(1, 31), model.validation_errors_, style, color=colour, label=readout)
    axes.set(xlabel="pass", ylabel="error on held-out rows", ylim=(0, None))
    axes.set_title("Noisy rows: which weights to keep", fontsize=10)
    axes.legend(title="readout")


def proved(axes: Axes) -> None:
    """A boundary with its margin band, and the verdict about its rows."""
    random = np.random.default_rng(3)
    X = random.normal(size=(150, 2)) @ [[1.6, 0.5], [0.0, 1.0]] + [1.0, 0.5]
    distance = (X @ [1.0, -2.0] + 0.4) / 5**0.5
    X = X[np.abs(distance) > 0.15]
    y = np.where(distance[np.abs(distance) > 0.15] > 0, "spam", "mail")
    BoundaryDisplay.from_estimator(Perceptron(readout="last").fit(X, y), X, y, ax=axes)
    verdict = separability(X, y)
    axes.set_title(f"Separable: proved. Largest margin {verdict.margin:.4f}", fontsize=10)
    if axes.get_legend():
        axes.get_legend().remove()


if __name__ == "__main__":
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(15, 4.2), layout="constrained")
    shared = np.random.default_rng(0)
    errors_left(shared, left)
    readouts(shared, middle)
    proved(right)
    figure.savefig(HERE / "overview.png", dpi=80)
