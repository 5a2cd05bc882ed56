"""
Approximate kernels
===================

Turn rows into approximate features of a kernel, and train a linear perceptron on them. You see how many features it
takes to be as good as the kernel itself.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_gaussian_quantiles
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from perceptrons import KernelPerceptron, Perceptron

# %%
# Rows in shells
# --------------
# The three classes are shells around the origin: near, farther and far. No hyperplane separates them. A
# twentieth of the labels are random.

X, y = make_gaussian_quantiles(n_samples=8000, n_features=4, n_classes=3, random_state=0)
rng = np.random.default_rng(0)
y = np.where(rng.random(len(y)) < 0.05, rng.integers(3, size=len(y)), y)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)


def report(name, model):
    """Print the errors of a model and return the held-out one."""
    error = 1 - model.score(X_test, y_test)
    print(f"{name:42} training error {1 - model.score(X, y):5.1%}, held-out error {error:5.1%}")
    return error


# %%
# The kernel and a linear model
# -----------------------------
# :class:`~perceptrons.KernelPerceptron` keeps each row that made a step, and compares every new row with all of them.
# :class:`~perceptrons.Perceptron` keeps one weight per feature and class. Both make one pass here, and predict with the
# mean of their weights.

print(f"baseline: held-out error {1 - np.bincount(y_test).max() / len(y_test):.1%}")
linear = report("linear", Perceptron().partial_fit(X, y))
curved = KernelPerceptron(gamma=0.2).partial_fit(X, y)
exact = report(f"Gaussian kernel, {len(curved.support_):,} support rows", curved)

# %%
# Approximate features
# --------------------
# scikit-learn's ``Nystroem`` compares each row with a few training rows, and turns these similarities into features.
# ``RBFSampler`` uses waves with random directions instead. The inner product of two rows of such features is close to
# the kernel. The linear perceptron does the rest: its time for a row depends on the number of features, not on the
# number of mistakes. Training ends when the error on rows that are set aside has stopped falling.

sizes = [5, 10, 20, 50, 100, 200]
errors = {Nystroem: [], RBFSampler: []}
for kind, found in errors.items():
    for n in sizes:
        features = kind(gamma=0.2, n_components=n, random_state=0)
        perceptron = Perceptron(early_stopping=True, tol=None)
        model = make_pipeline(features, perceptron).fit(X, y)
        found.append(report(f"{kind.__name__}, {n} features", model))

# %%
# A few dozen features of ``Nystroem`` are about as good as the kernel with all its support rows. ``RBFSampler`` needs a
# few times as many. (The comparison is a little unfair to the kernel, which made only one pass.)

figure, axis = plt.subplots(figsize=(7, 4.4), layout="constrained")
axis.axhline(100 * linear, color="#222222", linestyle=":", label="linear")
for (kind, found), colour, line in zip(errors.items(), ("#0072B2", "#E69F00"), ("o-", "s--"), strict=True):
    axis.plot(sizes, 100 * np.array(found), line, color=colour, label=f"{kind.__name__}, then linear")
axis.axhline(100 * exact, color="#D55E00", label=f"Gaussian kernel, {len(curved.support_):,} support rows")
axis.set(xscale="log", xlabel="approximate features", ylabel="held-out error (%)", ylim=(0, None))
axis.set_xticks(sizes, [str(n) for n in sizes])
axis.minorticks_off()
axis.legend()

# %%
# :doc:`/choose/kernels` says when to take which.

plt.show()
