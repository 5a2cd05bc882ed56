"""
A concept that moves
====================

What decides the label turns slowly, and jumps once in the middle of the stream. You see which models follow and which
hold on to the past.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import Perceptron
from perceptrons.rules import PA1, Shifting

# %%
# The stream
# ----------
# Ten features decide the label, with the weights ``hidden``. In the first half these weights stand still. Then they
# jump by a right angle, and from there on they turn by 3 degrees every hundred examples. One label in twenty is wrong.

rng = np.random.default_rng(0)
n, d, jump = 5000, 10, 2500
X = rng.normal(size=(n, d))
hidden, other = np.linalg.qr(rng.normal(size=(d, 2)))[0].T
angle = np.where(np.arange(n) < jump, 0.0, np.pi / 2 + np.deg2rad(0.03) * (np.arange(n) - jump))
truth = np.sum(X * (np.outer(np.cos(angle), hidden) + np.outer(np.sin(angle), other)), axis=1) > 0
y = truth ^ (rng.random(n) < 0.05)

# %%
# Five models
# -----------
# Each example is predicted before it is learned. The last weights and their mean (``averaged``) come from the plain
# perceptron. :class:`~perceptrons.rules.Shifting` lets old steps fade. :class:`~perceptrons.rules.PA1` with a small C
# makes short steps, also for examples that are right by less than 1. The rule ``"arow"`` only ever becomes surer of its
# weights. All but ``averaged``, the default, predict with their last weights.

models = {
    "last": Perceptron(readout="last"),
    "averaged": Perceptron(),
    "shifting": Perceptron(rule=Shifting(lam=5), readout="last"),
    "pa1": Perceptron(rule=PA1(C=0.01), readout="last"),
    "arow": Perceptron(rule="arow", readout="last"),
}
wrong = {name: np.empty(n, bool) for name in models}
for i in range(n):
    for name, model in models.items():
        wrong[name][i] = model.predict_one(X[i]) != y[i]
        model.learn_one(X[i], y[i])

print(f"{'progressive error':18}{'stands still':>14}{'moves':>8}{'all':>8}")
for name, found in wrong.items():
    print(f"{name:18}{found[:jump].mean():14.1%}{found[jump:].mean():8.1%}{found.mean():8.1%}")
print(f"{'the true concept':18}{(truth != y)[:jump].mean():14.1%}{(truth != y)[jump:].mean():8.1%}")

# %%
# Averaging and AROW are best as long as nothing moves. After the jump, the long first half still decides their
# predictions, and they are no better than a coin. The other three forget sooner. ``last`` and ``shifting`` pay for it
# while nothing moves; ``shifting`` was made for such streams, but here it is no better than the plain perceptron. The
# short steps of ``pa1`` are nearly as good as the mean before the jump, and follow after it.

figure, axis = plt.subplots(figsize=(7.5, 4.2), layout="constrained")
colours = {"last": "#D55E00", "averaged": "#222222", "shifting": "#CC79A7", "pa1": "#009E73", "arow": "#0072B2"}
for name, found in wrong.items():
    axis.plot(np.arange(399, n), 100 * np.convolve(found, np.ones(400) / 400, "valid"), color=colours[name], label=name)
axis.axvline(jump, color="#222222", linestyle=":")
axis.annotate("the concept jumps,\nthen turns", (jump, 2), xytext=(6, 0), textcoords="offset points", va="bottom")
axis.set(xlim=(400, n), ylim=(0, None), xlabel="examples", ylabel="wrong, of the last 400 (%)")
axis.legend()

# %%
# :doc:`/guides/streams` compares more models on eight streams.

plt.show()
