"""
What centring is worth
======================

Move the same rows away from the origin. You see that the gap between the classes stays the same, but that training
makes many more mistakes, and that centring the rows avoids them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from perceptrons import Perceptron
from perceptrons.theory import mistake_bound, separability

# %%
# With and without a bias
# -----------------------
# Without a bias, a boundary goes through the origin. :func:`~perceptrons.theory.separability` decides both cases. Here
# they differ. Lengths and widths of petals are positive, so both classes lie in the same direction from the origin.

X, y = load_iris(return_X_y=True)
X, y = X[:, 2:], y == 0
print(separability(X, y))

# %%
# The bias is the weight of one more feature, the constant 1. With this feature, the margin is a different number: the
# *augmented margin*. It is never larger than the margin, and the convergence theorem is about this one.
#
# Before and after
# ----------------
# Centring moves the mean of the rows to the origin. Scaling also gives the features the same spread. ``settings`` let
# training go on until it makes no mistake: the default stops when more passes no longer change the predictions.

settings = {"readout": "last", "max_iter": 10**7}
centred, scaled = X - X.mean(axis=0), StandardScaler().fit_transform(X)
for name, rows in (("as measured", X), ("centred", centred), ("centred and scaled", scaled)):
    made = np.mean([Perceptron(random_state=seed, **settings).fit(rows, y).n_mistakes_ for seed in range(20)])
    verdict = separability(rows, y)
    print(f"{name:18}  margin {verdict.margin:.2f}, augmented {verdict.augmented_margin:.2f}", end="; ")
    print(f"at most {int(mistake_bound(rows, y).bound):3} mistakes, {made:.1f} made on average")

# %%
# Farther and farther
# -------------------
# Now the centred rows move away from the origin, by the same amount in both features. The gap between the classes does
# not change. But the constant 1 is small beside such long rows, so the bias learns in steps that are too small. A
# larger constant, the parameter ``intercept_scaling`` of :class:`~perceptrons.Perceptron`, helps, but less than
# centring, which undoes the move. (The mean is a good place for the origin, but not the best one. After a move by 1,
# the origin is in the gap between the classes, and training makes even fewer mistakes.)

offsets = 2.0 ** np.arange(8)
allowed, made, larger = [], [], []
for offset in offsets:
    rows = centred + offset
    allowed.append(int(mistake_bound(rows, y).bound))
    made.append(np.mean([Perceptron(random_state=seed, **settings).fit(rows, y).n_mistakes_ for seed in range(5)]))
    models = [Perceptron(intercept_scaling=offset, random_state=seed, **settings).fit(rows, y) for seed in range(5)]
    larger.append(np.mean([model.n_mistakes_ for model in models]))
    print(f"moved by {offset:4.0f}: {allowed[-1]:9,} allowed, {made[-1]:5.1f} made")

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained", width_ratios=[1, 1.25])
for moved, alpha in ((0.0, 0.35), (8.0, 1.0)):
    left.scatter(*(centred[~y] + moved).T, s=14, color="#D55E00", marker="o", alpha=alpha)
    left.scatter(*(centred[y] + moved).T, s=14, color="#0072B2", marker="^", alpha=alpha)
left.plot(0, 0, "+", color="#222222", markersize=14, markeredgewidth=2)
left.annotate("", (7.5, 6.8), xytext=(2.7, 2.0), arrowprops={"arrowstyle": "->", "color": "#222222"})
left.text(0.9, -1.0, "origin", color="#222222")
left.set(xlabel="petal length − mean + offset", ylabel="petal width − mean + offset", title="the same rows, moved by 8")
right.plot(offsets, allowed, "s-", color="#222222", label="allowed by the theorem")
right.plot(offsets, made, "o-", color="#D55E00", label="made")
right.plot(offsets, larger, "D--", color="#009E73", label="made, with the constant as large as the offset")
centred_made = np.mean([Perceptron(random_state=seed, **settings).fit(centred, y).n_mistakes_ for seed in range(5)])
right.axhline(centred_made, color="#0072B2", linestyle=":", label="made, after centring")
right.set(xscale="log", yscale="log", ylim=(0.8, 1e11), xlabel="offset", ylabel="mistakes (made: mean of 5 orders)")
right.set_xticks(offsets, [f"{offset:g}" for offset in offsets])
right.minorticks_off()
right.legend(loc="upper left", fontsize=9)

# %%
# :doc:`/choose/scaling` says what to do with arrays, sparse rows, tables and streams.

plt.show()
