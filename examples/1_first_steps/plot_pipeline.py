"""
A pipeline and a grid search
============================

Scale the features, train a perceptron, and let a grid search choose the rule, the readout and a parameter of the rule.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from perceptrons import Perceptron
from perceptrons.rules import PA1

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)

# %%
# Scale the features
# ------------------
# A step moves each weight by the value of its feature, so features with large values drown the others. A
# ``StandardScaler`` gives all features the same spread. With ``early_stopping=True``, training ends when the error on
# some of the training rows, which are set aside, has stopped falling. ``tol=None`` turns the other ends off.

print(f"standard deviations from {X.std().min():.4f} to {X.std().max():.1f}")
plain = Perceptron(early_stopping=True, tol=None)
scaled = make_pipeline(StandardScaler(), plain)
for name, model in [("raw rows", plain), ("scaled rows", scaled)]:
    print(f"{name:12} held-out error {1 - model.fit(X, y).score(X_test, y_test):.1%}")

# %%
# Search for a rule and a readout
# -------------------------------
# The steps of a pipeline have names, and so do their parameters: ``perceptron__rule``. A rule is an object with
# parameters of its own, so the search also reaches ``perceptron__rule__C``.

grid = [
    {"perceptron__rule": ["perceptron", "margin", "arow"], "perceptron__readout": ["last", "averaged"]},
    {
        "perceptron__rule": [PA1()],
        "perceptron__rule__C": [0.001, 0.01, 0.1, 1.0],
        "perceptron__readout": ["last", "averaged"],
    },
]
search = GridSearchCV(scaled, grid, cv=5).fit(X, y)
print(f"best: {search.best_estimator_[-1]}")
print(f"error {1 - search.best_score_:.1%} in cross-validation, {1 - search.score(X_test, y_test):.1%} held out")

# %%
# The search takes the smallest of many noisy errors, so the winner's error in cross-validation looks better than it is.
# On the held-out rows, the winner is no better here than the first pipeline with scaled rows.
#
# The picture shows the mean error of each candidate over five folds. A bar is one standard deviation between the folds
# to each side. Most bars overlap, so most of the differences may be chance.

table = search.cv_results_
names = []
for candidate in table["params"]:
    C = candidate.get("perceptron__rule__C")
    rule = candidate["perceptron__rule"] if C is None else f"PA-I, C = {C:g}"
    names.append(f"{rule}, {candidate['perceptron__readout']}")
order = np.argsort(table["mean_test_score"])
error = 1 - table["mean_test_score"][order]

figure, axes = plt.subplots(figsize=(7.5, 5), layout="constrained")
axes.errorbar(100 * error, range(len(order)), xerr=100 * table["std_test_score"][order], fmt="o", color="#0072B2")
axes.set(xlabel="error in cross-validation (%)", yticks=range(len(order)), yticklabels=[names[i] for i in order])
axes.grid(axis="x", alpha=0.3)

# %%
# :doc:`/choose/tuning` says which parameters are worth a search.

plt.show()
