"""
A structure of your own: who takes which task
=============================================

Predict a matching: which helper takes which task, one each. You write how a matching is described and how the best one
is found, and the perceptron learns the rest. You see the matchings that it predicts for new groups.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment

from perceptrons import StructuredPerceptron

# %%
# The data
# --------
# There are six helpers and six tasks. ``x[i, j]`` has four numbers about helper i and task j: skill, distance, cost,
# and one that does not matter. A manager has assigned them by a taste that we do not know. We only see the result:
# ``y[i]`` is the task of helper i.

rng = np.random.default_rng(0)
names, hidden = ["skill", "distance", "cost", "noise"], np.array([2.0, -1.0, -1.5, 0.0])


def groups(n):
    """Make groups of helpers and tasks, and the manager's assignments."""
    X = rng.normal(size=(n, 6, 6, 4))
    wish = X @ hidden + rng.normal(0, 0.3, size=(n, 6, 6))
    return X, [linear_sum_assignment(scores, maximize=True)[1].tolist() for scores in wish]


X, Y = groups(100)
X_test, Y_test = groups(300)
print(X.shape, Y[0])

# %%
# The problem
# -----------
# A problem for :class:`~perceptrons.StructuredPerceptron` is an object with a few methods. ``features`` describes a
# matching by numbers, and its score is the product of these numbers with the weights. ``argmax`` finds the matching
# with the highest score: here SciPy does that, among all 720. ``loss`` says how wrong a matching is. ``augmented`` is
# only for the rule ``"margin"``: it finds the highest score plus loss.


class Matching:
    """Helpers and tasks, one each."""

    def features(self, x, y):
        """Add up the features of all pairs of the matching."""
        return x[np.arange(len(y)), y].sum(axis=0)

    def argmax(self, x, weights):
        """Find the matching with the highest score."""
        return linear_sum_assignment(x @ weights, maximize=True)[1].tolist()

    def loss(self, y, y_hat):
        """Count the helpers with a wrong task."""
        return sum(a != b for a, b in zip(y, y_hat, strict=True))

    def augmented(self, x, weights, y, scale):
        """Find the highest score plus loss: all pairs that are not in y get a bonus."""
        scores = x @ weights + scale
        scores[np.arange(len(y)), y] -= scale
        return linear_sum_assignment(scores, maximize=True)[1].tolist()


# %%
# Train
# -----
# There are no labels for pairs, and none are needed: when the predicted matching is wrong, the weights move towards the
# features of the right matching and away from those of the predicted one. Weights are printed at length 1.


def wrong(found, right):
    """Compute the share of helpers with a wrong task."""
    return np.mean(np.array(found) != np.array(right))


models = {rule: StructuredPerceptron(Matching(), rule=rule, max_iter=20).fit(X, Y) for rule in ("perceptron", "margin")}
print(f"{'':22}{'training error':>15}{'held-out error':>16}   weights of {', '.join(names)}")
for rule, model in models.items():
    errors = f"{wrong(model.predict(X), Y):15.1%}{wrong(model.predict(X_test), Y_test):16.1%}"
    print(f"{rule:22}{errors}   {(model.weights_ / np.linalg.norm(model.weights_)).round(2)}")
by_skill = [Matching().argmax(x, np.array([1.0, 0, 0, 0])) for x in X_test]
print(f"{'by skill alone':22}{'':15}{wrong(by_skill, Y_test):16.1%}")
print(f"{'the hidden weights':22}{'':15}{wrong([Matching().argmax(x, hidden) for x in X_test], Y_test):16.1%}", end="")
print(f"   {(hidden / np.linalg.norm(hidden)).round(2)}")

# %%
# Three new groups
# ----------------
# Lines are pairs that the model predicts. Dotted lines show what the manager did where that differs.

figure, axes = plt.subplots(1, 3, figsize=(9, 3.6), layout="constrained")
predicted = models["margin"].predict(X_test)
for axis, group in zip(axes, (0, 1, np.argmax([a != b for a, b in zip(predicted, Y_test, strict=True)])), strict=True):
    for i in range(6):
        same = predicted[group][i] == Y_test[group][i]
        axis.plot([0, 1], [i, predicted[group][i]], "o-", color="#0072B2" if same else "#D55E00")
        if not same:
            axis.plot([0, 1], [i, Y_test[group][i]], ":", color="#222222")
    axis.set_xticks([0, 1], ["helpers", "tasks"])
    axis.set(xlim=(-0.2, 1.2), yticks=[], title=f"group {group}")

# %%
# More: :doc:`/guides/structures`.

plt.show()
