"""
Find wrong labels
=================

A few labels are wrong, so training cannot converge. You see how the proof of that leads you to the wrong labels.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from perceptrons import Perceptron
from perceptrons.theory import margins, separability

# %%
# Six wrong labels
# ----------------
# The rows are pictures of the digits 3 and 8, reduced to 4 by 4 pixels. A hyperplane separates them. Then six
# pictures get the other label.

pictures, digits = load_digits(return_X_y=True)
chosen = np.isin(digits, [3, 8])
pictures, digits = pictures[chosen], digits[chosen]
X = pictures.reshape(-1, 4, 2, 4, 2).mean(axis=(2, 4)).reshape(-1, 16)
print(separability(X, digits))

wrong = np.random.default_rng(0).choice(len(digits), 6, replace=False)
y = digits.copy()
y[wrong] = 11 - y[wrong]

# %%
# What the warning says
# ---------------------
# By default, :class:`~perceptrons.Perceptron` averages its weights, and stops without a warning when more passes no
# longer change the predictions. With ``readout="last"``, it goes on until it makes no mistake, or gives up when it has
# proved that no separator has a margin worth waiting for (``tol``). Here the warning says more: some of the rows cannot
# be separated at all.

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", ConvergenceWarning)
    Perceptron(readout="last").fit(X, y)
print(caught[0].message)

# %%
# Rows that cannot be separated
# -----------------------------
# :func:`~perceptrons.theory.separability` proves it with a few rows. They cannot be separated, but without any one of
# them the others can. So every hyperplane has at least one of them on its wrong side. The proof does not say which one
# has a wrong label.

proof = separability(X, y)
print(proof)

# %%
# Remove the suspects
# -------------------
# Ask a model that learns what most rows say. Averaged weights and early stopping keep it from learning the wrong
# labels. The suspect is the row of the proof that is farthest on the wrong side of the model's boundary. Remove it and
# ask again, until the rest is separable. This is a heuristic. It may remove right labels, and it misses wrong labels
# that do not keep the classes from being separated.

model = Perceptron(early_stopping=True, tol=None).fit(X, y)
print(f"error {1 - model.score(X, y):.1%} on the labels as given, {1 - model.score(X, digits):.1%} on the true ones")
left, suspects = np.arange(len(y)), []
while not proof.separable:
    few = left[proof.irreducible]
    suspects.append(few[np.argmin(margins(X[few], y[few], model))])
    left = np.setdiff1d(left, suspects)
    proof = separability(X[left], y[left])
print(f"{len(suspects)} rows removed; the others are separable with margin {proof.margin:.3f}")
print(
    f"{np.isin(suspects, wrong).sum()} of the {len(suspects)} had a wrong label; there were {len(wrong)} wrong labels"
)

# %%
# These are the suspects, in the order in which they were found, with the labels that they had.

figure, axes = plt.subplots(1, len(suspects), figsize=(9, 2.2), layout="constrained")
for axis, row in zip(axes, suspects, strict=True):
    axis.imshow(pictures[row].reshape(8, 8), cmap="gray_r")
    axis.set(title=f"labelled {y[row]}", xticks=[], yticks=[])

# %%
# More features, fewer contradictions
# -----------------------------------
# With all 64 pixels, a hyperplane separates the same rows, wrong labels included. That training converges does not mean
# that the labels are right.

print("64 pixels:", separability(pictures, y))

# %%
# :doc:`/choose/warnings` explains each warning, and says what to do about it.

plt.show()
