"""
Probabilities
=============

Compare a model's own belief with calibrated probabilities. You see how often the class with a stated probability of
90 % really is the right one.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV, CalibrationDisplay
from sklearn.datasets import make_classification
from sklearn.metrics import brier_score_loss
from sklearn.model_selection import train_test_split

from perceptrons import Perceptron

# %%
# Three models
# ------------
# The rule ``"arow"`` learns a mean and a variance of each weight. From them,
# :meth:`~perceptrons.Perceptron.predict_proba` computes how sure the model is that a score is positive. This is a
# belief about the weights. It does not know how noisy the labels are.
#
# ``CalibratedClassifierCV`` uses only the scores. It trains five models, each on four fifths of the rows, and fits a
# curve from scores to frequencies on the fifth that is left. So it also works for rules that have no ``predict_proba``.
# The two classes overlap, so the rows cannot be separated. Training ends when the error on rows that are set aside has
# stopped falling.

X, y = make_classification(20_000, n_informative=5, class_sep=0.6, flip_y=0.05, random_state=0)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, random_state=0)
arow = Perceptron(rule="arow", early_stopping=True, tol=None)
averaged = Perceptron(early_stopping=True, tol=None)
models = {
    "arow, its own belief": arow,
    "arow, calibrated": CalibratedClassifierCV(arow),
    "averaged, calibrated": CalibratedClassifierCV(averaged),
}
for model in models.values():
    model.fit(X, y)

# %%
# How good are they?
# ------------------
# All three classify about equally well. But the first is far too sure. The *Brier score* is the mean squared difference
# between the stated probability and what happened, 0 or 1. Smaller is better, and always saying 50 % gives 0.25.

print(f"{'':22}training error  held-out error  mean stated  share right  Brier score")
for name, model in models.items():
    p = model.predict_proba(X_test)[:, 1]
    errors = 1 - model.score(X, y), 1 - model.score(X_test, y_test)
    print(f"{name:22}{errors[0]:14.1%}{errors[1]:16.1%}", end="")
    print(f"{np.maximum(p, 1 - p).mean():13.1%}{1 - errors[1]:13.1%}{brier_score_loss(y_test, p):13.3f}")

# %%
# The upper picture sorts the held-out rows by the stated probability of class 1, and shows which share of each tenth is
# in class 1. On the dotted line, what is stated is what happens. The belief of ``"arow"`` is too low on the left and
# too high on the right. The lower picture shows why that matters: this model says for most rows that it is nearly
# certain.

figure, (above, below) = plt.subplots(
    2, 1, figsize=(6.5, 6.5), layout="constrained", sharex=True, height_ratios=[2.2, 1]
)
for (name, model), colour, mark in zip(models.items(), ["#D55E00", "#0072B2", "#009E73"], "so^", strict=True):
    look = {"color": colour, "marker": mark, "ax": above, "name": name}
    CalibrationDisplay.from_estimator(model, X_test, y_test, n_bins=10, strategy="quantile", **look)
    below.hist(
        model.predict_proba(X_test)[:, 1], bins=np.linspace(0, 1, 21), histtype="step", color=colour, linewidth=1.5
    )
above.set(xlabel="", ylabel="share of rows in class 1")
above.legend(loc="upper left")
below.set(xlabel="stated probability of class 1", ylabel="held-out rows")

# %%
# :doc:`/choose/probabilities` compares more rules, and says when a belief is useful.

plt.show()
