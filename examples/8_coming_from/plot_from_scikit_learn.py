"""
Coming from scikit-learn
========================

Fit scikit-learn's ``Perceptron`` and :class:`~perceptrons.Perceptron` to the same rows. You see how many errors each
makes on these rows and on new ones, and what ``tol`` means in each.
"""

# %%
# Rows that can be separated
# --------------------------
# A hyperplane labels the rows, and rows close to it are left out.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as TheirPerceptron

from perceptrons import Perceptron


def separable_rows(margin, seed):
    """Rows that a hyperplane separates by the margin."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(4000, 20)), rng.normal(size=20)
    distance = X @ w / np.linalg.norm(w)
    far = np.abs(distance) > margin
    X, y = X[far], distance[far] > 0
    return X[:2000], y[:2000], X[2000:], y[2000:]


X, y, X_test, y_test = separable_rows(margin=0.02, seed=0)
models = {
    "scikit-learn": TheirPerceptron(),
    "scikit-learn, tol=None": TheirPerceptron(tol=None, max_iter=1000),
    "perceptrons": Perceptron(),
    "perceptrons, last": Perceptron(readout="last", max_iter=10**7),
}
print(f"{'':24}{'passes':>8}{'training errors':>17}{'held-out errors':>17}")
for name, model in models.items():
    model.fit(X, y)
    errors = [(model.predict(rows) != labels).sum() for rows, labels in ((X, y), (X_test, y_test))]
    print(f"{name:24}{model.n_iter_:8}{errors[0]:17}{errors[1]:17}")

# %%
# What predicts, and when training ends
# -------------------------------------
# scikit-learn predicts with the last weights. There, ``tol`` is a decrease of the loss: a pass whose loss is not lower
# by ``tol`` counts as no progress, and a few such passes end training. With ``tol=None``, all ``max_iter`` passes run,
# also after the rows are separated.
#
# Here, the mean of all weights predicts by default. Training ends when a whole pass makes no mistake, or when more
# passes no longer change what the mean predicts. The mean can leave some training errors where a separator has none.
#
# With ``readout="last"``, the last weights predict. Training ends when a whole pass makes no mistake, or when it is
# proved that nothing separates the rows by a margin of ``tol`` times the longest row. That is a perceptron as in the
# textbooks: it leaves no errors on these rows.

margins = [0.2, 0.1, 0.05, 0.02, 0.01]
looks = {"scikit-learn": ("s--", "#D55E00"), "perceptrons": ("o-", "#0072B2"), "perceptrons, last": ("^:", "#222222")}
found = {name: [] for name in looks}
for margin in margins:
    trials = [separable_rows(margin, seed) for seed in range(5)]
    for name, errors in found.items():
        counts = []
        for rows, labels, *test in trials:
            model = models[name].fit(rows, labels)
            counts.append([(model.predict(A) != b).sum() for A, b in ((rows, labels), test)])
        errors.append(np.mean(counts, axis=0))

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", sharey=True)
for axis, title, which in zip(axes, ("training errors", "errors on as many new rows"), (0, 1), strict=True):
    for name, (line, colour) in looks.items():
        axis.plot(margins, np.array(found[name])[:, which], line, color=colour, label=name)
    axis.set(xscale="log", xlabel="margin of the rows", title=f"{title} (mean of 5 data sets)")
    axis.set_xticks(margins, [f"{margin:g}" for margin in margins])
    axis.minorticks_off()
    axis.invert_xaxis()
axes[0].legend()

# %%
# Rows that cannot be separated
# -----------------------------
# Now two equal rows have different labels. The warning says so. (With the default readout, training ends before it
# looks for such rows, and without a warning.)

X[1], y[1] = X[0], not y[0]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", ConvergenceWarning)
    models["perceptrons, last"].fit(X, y)
print(caught[0].message)

# %%
# Sparse rows and new classes
# ---------------------------
# Sparse rows get the same updates as dense rows. In scikit-learn they do not: it shortens the steps of the bias when
# rows are sparse. And a new class may appear in ``partial_fit`` at any time.

for name, model in (("scikit-learn", TheirPerceptron()), ("perceptrons", Perceptron(readout="last"))):
    dense = model.partial_fit(X, y, classes=[False, True]).intercept_
    sparse = clone(model).partial_fit(csr_array(X), y, classes=[False, True]).intercept_
    print(f"{name:14} bias {dense[0]:6.2f} from dense rows, {sparse[0]:6.2f} from sparse rows")

model = Perceptron().partial_fit(X, np.where(y, "ham", "spam"))
print(model.partial_fit(X[:2], ["news", "news"]).classes_)

# %%
# :doc:`/guides/scikit-learn` lists all differences, and why they are there.

plt.show()
