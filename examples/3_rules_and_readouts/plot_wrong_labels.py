"""
Wrong labels
============

Flip more and more of the training labels, and measure the error on clean rows. You see which rules suffer most, and how
much averaging helps.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import Perceptron
from perceptrons.rules import PA1

# %%
# Rows with flipped labels
# ------------------------
# A hyperplane labels the rows, so a perfect model exists. Then some training labels are flipped. The rows that measure
# the error keep their right labels. Always saying the same class would be wrong on half of them.


def rows(n, flipped, rng):
    """Rows and their labels, some of them flipped."""
    X = rng.normal(size=(n, 20))
    y = np.where(X[:, :5].sum(axis=1) > 0, 1, -1)
    return X, np.where(rng.random(n) < flipped, -y, y)


# %%
# Rules
# -----
# Each model sees 2,000 rows once. ``"pa"`` moves until the row is right with margin 1, even if its label is wrong. A
# small C in :class:`~perceptrons.rules.PA1` limits each step. ``"arow"`` moves less and less as its variances shrink.
# The averaged readout, which is the default, lets single steps cancel out.

models = {
    "perceptron, last": {"readout": "last"},
    "pa, last": {"rule": "pa", "readout": "last"},
    "pa1 with C = 0.01, last": {"rule": PA1(C=0.01), "readout": "last"},
    "arow, last": {"rule": "arow", "readout": "last"},
    "perceptron, averaged": {},
    "pa, averaged": {"rule": "pa"},
}
shares, repeats = [0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4], 5
clean, trained = (np.zeros((len(models), len(shares), repeats)) for _ in range(2))
for j, share in enumerate(shares):
    for k in range(repeats):
        rng = np.random.default_rng(k)
        X, y = rows(2000, share, rng)
        X_test, y_test = rows(5000, 0.0, rng)
        for i, setting in enumerate(models.values()):
            model = Perceptron(**setting).partial_fit(X, y)
            clean[i, j, k], trained[i, j, k] = 1 - model.score(X_test, y_test), 1 - model.score(X, y)

# %%
# With a fifth of the labels flipped, the training error of a perfect model is about 20 %, because it disagrees with the
# flipped labels. A model that is close to that has learned the hyperplane, and not the noise.

at = shares.index(0.2)
print(f"{'20 % of the labels flipped':28}training error  error on clean rows")
for i, name in enumerate(models):
    print(f"{name:28}{trained[i, at].mean():14.1%}{clean[i, at].mean():21.1%}")

# %%
# The lines are means of five data sets.

looks = [
    ("#222222", "o-"),
    ("#D55E00", "s-"),
    ("#E69F00", "D-"),
    ("#0072B2", "^-"),
    ("#222222", "o:"),
    ("#D55E00", "s:"),
]
figure, axis = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
for name, errors, (colour, look) in zip(models, clean.mean(axis=2), looks, strict=True):
    axis.plot(100 * np.array(shares), 100 * errors, look, color=colour, label=name)
axis.set(xlabel="flipped labels (%)", ylabel="error on clean rows (%)", ylim=(0, 50))
axis.grid(alpha=0.3)
axis.legend()

# %%
# :doc:`/choose/rules` has errors on public data sets, with and without wrong labels.

plt.show()
