"""
How many mistakes can there be?
===============================

Make the margin between two classes smaller and smaller. You see how many mistakes the theorem allows, and how many
training makes.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import Perceptron
from perceptrons.theory import mistake_bound, separability

# %%
# One data set
# ------------
# All rows have the length 1. A hyperplane labels them, and every row is at least as far from it as the wanted margin.
# :func:`~perceptrons.theory.mistake_bound` computes Novikoff's bound from the largest margin that the rows allow. The
# bound holds for any order of the rows and any number of passes.


def separable_rows(margin, n=500):
    """Rows of length 1 that a hyperplane separates by at least the margin."""
    rng = np.random.default_rng(0)
    distance = margin + (1 - margin) * rng.random(n) ** 2  # from the hyperplane; many rows are near it
    y, along = rng.choice([-1, 1], n), rng.normal(size=(n, 4))
    along *= (np.sqrt(1 - distance**2) / np.linalg.norm(along, axis=1))[:, np.newaxis]
    return np.column_stack([y * distance, along]), y


settings = {"readout": "last", "max_iter": 10**7}  # train until no pass makes a mistake
X, y = separable_rows(0.1)
print(mistake_bound(X, y))
made = [Perceptron(random_state=seed, **settings).fit(X, y).n_mistakes_ for seed in range(20)]
print(f"made in 20 random orders: {min(made)} to {max(made)}")

# %%
# A smaller margin
# ----------------
# The bound grows with the square of 1/γ. Training makes far fewer mistakes, and their number grows more slowly. The
# bound holds even for the worst order of the worst rows with this margin. Random rows are not the worst.

margins, allowed, counts = [], [], []
for wanted in np.geomspace(0.3, 0.003, 9):
    X, y = separable_rows(wanted)
    margins.append(separability(X, y).margin)
    allowed.append(int(mistake_bound(X, y).bound))
    counts.append([Perceptron(random_state=seed, **settings).fit(X, y).n_mistakes_ for seed in range(10)])
    print(f"margin {margins[-1]:.4f}: {allowed[-1]:7,} allowed, {np.mean(counts[-1]):5,.0f} made on average")

figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
axis.plot(margins, allowed, "s-", color="#D55E00", label="allowed by the theorem, $(R/γ)^2$")
axis.plot(margins, np.mean(counts, axis=1), "o-", color="#0072B2", label="made, mean of 10 orders")
axis.fill_between(margins, np.min(counts, axis=1), np.max(counts, axis=1), color="#0072B2", alpha=0.2)
axis.set(xscale="log", yscale="log", xlabel="largest margin of the rows", ylabel="mistakes")
axis.invert_xaxis()
axis.grid(alpha=0.3)
axis.legend()

# %%
# Rows that reach the bound
# -------------------------
# Rows at right angles to each other are much worse. Each row has its own feature, and a mistake on one row teaches
# nothing about the others. The perceptron makes one mistake on each row, and that is all the theorem allows.

n = 50
X, y = np.eye(n), np.where(np.arange(n) % 2, 1, -1)
model = Perceptron(fit_intercept=False, **settings).fit(X, y)
print(f"{int(mistake_bound(X, y, fit_intercept=False).bound)} allowed, {model.n_mistakes_} made")

# %%
# Other rules
# -----------
# Some other rules have theorems of their own. For a rule without one, ``mistake_bound`` raises an error.

X, y = separable_rows(0.1)
for rule in ("perceptron", "pa", "romma", "alma"):
    print(f"{rule:11}{int(mistake_bound(X, y, rule=rule).bound):6} allowed", end="")
    print(f"{Perceptron(rule=rule, random_state=0, **settings).fit(X, y).n_mistakes_:6} made")

# %%
# :doc:`/learn/04-convergence` proves the bound, and :doc:`/guides/proofs` has bounds for rows that cannot be separated.

plt.show()
