"""
Coming from scikit-learn
========================

Fit scikit-learn's ``Perceptron`` and :class:`~perceptrons.Perceptron` to the same rows. You see how many
training errors each leaves, and what ``tol`` means in each.
"""

# %%
# Rows that can be separated
# --------------------------
# A hyperplane labels the rows, and rows close to it are left out.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from scipy.sparse import csr_array
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as TheirPerceptron

from perceptrons import Perceptron


def separable_rows(margin, seed):
    """Rows that a hyperplane separates by the margin."""
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(2000, 20)), rng.normal(size=20)
    distance = X @ w / np.linalg.norm(w)
    far = np.abs(distance) > margin
    return X[far], distance[far] > 0


X, y = separable_rows(margin=0.02, seed=0)
models = {
    "scikit-learn": TheirPerceptron(random_state=0),
    "scikit-learn, tol=None": TheirPerceptron(tol=None, max_iter=1000, random_state=0),
    "perceptrons": Perceptron(random_state=0),
}
print(f"{'':24}{'passes':>8}{'training errors':>17}")
for name, model in models.items():
    model.fit(X, y)
    print(f"{name:24}{model.n_iter_:8}{(model.predict(X) != y).sum():17}")

# %%
# What tol means
# --------------
# In scikit-learn, ``tol`` is a decrease of the loss. A pass whose loss is not lower by ``tol`` counts as no progress,
# and a few such passes end training. With ``tol=None``, all ``max_iter`` passes run, also after the rows are separated.
#
# Here, ``tol`` is a margin. Training ends when a whole pass makes no mistake, or when it is proved that nothing
# separates the rows by a margin of ``tol`` times the longest row. So the ``fit`` above ended by itself, with no errors.

margins = [0.2, 0.1, 0.05, 0.02, 0.01]
left = {"scikit-learn": [], "perceptrons": []}
for margin in margins:
    trials = [separable_rows(margin, seed) for seed in range(5)]
    for name, model in (("scikit-learn", TheirPerceptron()), ("perceptrons", Perceptron(random_state=0))):
        left[name].append(np.mean([(model.fit(X, y).predict(X) != y).sum() for X, y in trials]))

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
axis.plot(margins, left["scikit-learn"], "s--", color="#D55E00", label="scikit-learn")
axis.plot(margins, left["perceptrons"], "o-", color="#0072B2", label="perceptrons")
axis.set(xscale="log", xlabel="margin of the rows", ylabel="training errors left (mean of 5 data sets)")
axis.set_xticks(margins, [f"{margin:g}" for margin in margins])
axis.minorticks_off()
axis.invert_xaxis()
axis.legend(title="default settings")

# %%
# Rows that cannot be separated
# -----------------------------
# Now two equal rows have different labels. The warning says so.

X[1], y[1] = X[0], not y[0]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always", ConvergenceWarning)
    Perceptron(random_state=0).fit(X, y)
print(caught[0].message)

# %%
# Sparse rows and new classes
# ---------------------------
# Sparse rows get the same updates as dense rows. In scikit-learn they do not: it shortens the steps of the bias when
# rows are sparse. And a new class may appear in ``partial_fit`` at any time.

for name, model in (("scikit-learn", TheirPerceptron()), ("perceptrons", Perceptron(random_state=0))):
    dense = model.partial_fit(X, y, classes=[False, True]).intercept_
    sparse = type(model)().partial_fit(csr_array(X), y, classes=[False, True]).intercept_
    print(f"{name:14} bias {dense[0]:6.2f} from dense rows, {sparse[0]:6.2f} from sparse rows")

model = Perceptron().partial_fit(X, np.where(y, "ham", "spam"))
print(model.partial_fit(X[:2], ["news", "news"]).classes_)

# %%
# :doc:`/guides/scikit-learn` lists all differences, and why they are there.

plt.show()
