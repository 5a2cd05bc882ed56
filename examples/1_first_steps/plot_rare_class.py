"""
A rare class
============

One row in fifty belongs to the class that matters. You see how class weights and uneven margins find more of these
rows, and how many false alarms they raise in return.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import PrecisionRecallDisplay, precision_score, recall_score
from sklearn.model_selection import train_test_split

from perceptrons import Perceptron
from perceptrons.rules import Uneven

# %%
# Rows
# ----
# The two classes overlap. A model that never predicts the rare class has a small error, but it is useless. So look at
# two other numbers: *recall* is the share of rare rows that the model finds, and
# *precision* is the share of its alarms that are right.

rng = np.random.default_rng(0)
y = (rng.random(20_000) < 0.02).astype(int)
X = rng.normal(size=(20_000, 10))
X[y == 1, :5] += 1.0  # five of the ten features tell the classes apart, a little
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
print(f"{y_test.sum()} of {len(y_test):,} held-out rows are rare; never saying so has an error of {y_test.mean():.1%}")

# %%
# Five models
# -----------
# With ``class_weight``, the steps of rare rows are longer. ``"balanced"`` gives both classes the same total weight,
# which is about 50 to 1 here. The rule :class:`~perceptrons.rules.Uneven` asks the rare class for a larger margin, so a
# rare row also makes a step when it is right by less than that. Each model makes ten passes. Rows that overlap cannot
# be separated, so the program ignores the warning that :class:`~perceptrons.Perceptron` has not converged.

warnings.simplefilter("ignore", ConvergenceWarning)
settings = {
    "plain": {},
    "weights 1 : 10": {"class_weight": {0: 1, 1: 10}},
    "balanced weights": {"class_weight": "balanced"},
    "uneven margins, 10": {"rule": Uneven(beta_positive=10.0)},
    "uneven margins, 100": {"rule": Uneven(beta_positive=100.0)},
}
models, found = {}, {}
print(f"{'':21}training error  held-out error  recall  precision")
for name, setting in settings.items():
    model = models[name] = Perceptron(max_iter=10, tol=None, **setting).fit(X, y)
    predicted = model.predict(X_test)
    found[name] = recall_score(y_test, predicted), precision_score(y_test, predicted)
    errors = 1 - model.score(X, y), 1 - model.score(X_test, y_test)
    print(f"{name:21}{errors[0]:14.1%}{errors[1]:16.1%}{found[name][0]:8.0%}{found[name][1]:11.0%}")

# %%
# One curve
# ---------
# Each mark is one model, on the held-out rows. The line belongs to the plain model: it shows what you get if you move
# the threshold that its score must exceed. All five models are close to this line. The settings choose a place on it,
# and none of them separates the classes better. Which place is right depends on what a missed row and a false alarm
# cost you.

figure, axes = plt.subplots(figsize=(7, 4.6), layout="constrained")
look = {"color": "#222222", "linewidth": 1.0, "drawstyle": "default"}
PrecisionRecallDisplay.from_estimator(
    models["plain"], X_test, y_test, ax=axes, name="plain, any threshold", curve_kwargs=look
)
colours = ["#222222", "#0072B2", "#56B4E9", "#D55E00", "#E69F00"]
for (name, place), colour, mark in zip(found.items(), colours, "osD^v", strict=True):
    axes.plot(*place, mark, color=colour, markersize=9, label=name)
axes.set(xlabel="recall: share of rare rows found", ylabel="precision: share of alarms that are right")
axes.set(xlim=(0, 1.02), ylim=(0, 1.02), aspect="auto")
axes.legend()

# %%
# :doc:`/choose/imbalance` says how to choose, and how to set a threshold.

plt.show()
