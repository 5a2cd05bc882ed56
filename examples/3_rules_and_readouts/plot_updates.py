"""
Update by update
================

Watch the boundary turn. You see every update of a small run: the row that made it, and the boundary before and after.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import Perceptron
from perceptrons.plots import BoundaryDisplay
from perceptrons.theory import trace

# %%
# A small run
# -----------
# There are twenty rows in two classes. Without a bias, the boundary goes through the origin and is at right angles to
# w. :func:`~perceptrons.theory.trace` trains as ``fit`` does, and records each update.

rng = np.random.default_rng(216)
X = rng.normal(0, 0.8, size=(20, 2)) + np.repeat([[-1.0, -0.6], [1.0, 0.6]], 10, axis=0)
y = np.where(X @ [0.86, 0.5] > 0, 1, -1)
run = trace(Perceptron(fit_intercept=False), X, y)
columns = ["update", "pass", "row", "x[0]", "x[1]", "label", "margin_before", "margin_after", "w[0]", "w[1]"]
print(run.to_frame()[columns].round(2).to_string(index=False))

# %%
# All of it
# ---------
# In each picture, the row with a ring is wrong. A score of 0 counts as wrong, too. That is why the first row makes an
# update: all weights are 0 before it. The update adds y·x to w (the arrow), and the boundary turns from the dashed line
# to the solid one. The row that made the update need not be right afterwards, and other rows may become wrong. But a
# line through the origin separates these rows, so the convergence theorem says that the updates end.

weights = np.vstack([[0.0, 0.0], run.to_frame()[["w[0]", "w[1]"]]])
figure, axes = plt.subplots(3, 3, figsize=(9, 9), layout="constrained", sharex=True, sharey=True)
figure.supxlabel("x[0]")
figure.supylabel("x[1]")
for axis in axes.flat[len(run) :]:
    axis.set_axis_off()
for k, axis in zip(range(len(run)), axes.flat, strict=False):
    for label, colour, mark in ((-1, "#D55E00", "o"), (1, "#0072B2", "^")):
        axis.scatter(*X[y == label].T, s=22, color=colour, marker=mark)
    axis.scatter(*X[run.row[k]], s=150, facecolors="none", edgecolors="#222222", linewidths=1.5)
    for w, line in ((weights[k], "--"), (weights[k + 1], "-")):
        if w.any():
            along = np.array([-w[1], w[0]]) / np.linalg.norm(w)
            axis.plot(*(10 * np.outer(along, [-1, 1])), line, color="#222222", linewidth=1.2)
    axis.quiver(0, 0, *weights[k + 1], angles="xy", scale_units="xy", scale=1, color="#222222", width=0.012)
    wrong = np.count_nonzero(y * (X @ weights[k + 1]) <= 0)
    axis.set(title=f"update {run.update[k]}, pass {run.pass_[k]}: then {wrong} wrong", aspect="equal")
    axis.set(xlim=(-3, 3), ylim=(-3, 3))

# %%
# The same as a film
# ------------------
# :meth:`~perceptrons.plots.BoundaryDisplay.animate` draws each update of a trace as one frame, with the sum of vectors
# beside it, and writes a GIF, a video or a page with buttons. With ``frames=3`` it shows three of the updates.

with tempfile.TemporaryDirectory() as folder:
    film = Path(folder) / "updates.gif"
    BoundaryDisplay.animate(run, X, y, film, frames=3, fps=1)
    plt.close()
    print(f"{film.name}: {film.stat().st_size / 1000:.0f} kB")

# %%
# :doc:`/learn/02-update` explains the update, and :doc:`/guides/lab` lets you watch runs on points that you draw.

plt.show()
