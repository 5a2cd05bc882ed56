"""
Learn to rank
=============

Guests put lists of hotels in order, the best first. The model learns from these orders what matters to guests. You see
how well it orders new lists, and the weights that it found.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import StructuredPerceptron
from perceptrons.rules import Margin
from perceptrons.structures import Ranking

# %%
# Lists of hotels
# ---------------
# A list has 6 to 10 hotels with five features each, on one scale. Guests share a taste, ``hidden``, and each guest also
# has moods: the order is by the score of each hotel plus noise.

rng = np.random.default_rng(0)
names = ["stars", "rating", "cheapness", "near the beach", "colour of the door"]
hidden = np.array([1.0, 2.0, 1.5, 0.5, 0.0])


def lists(n):
    """Make lists of hotels, and the order in which a guest put each."""
    X = [rng.normal(size=(rng.integers(6, 11), 5)) for _ in range(n)]
    return X, [np.argsort(-(x @ hidden + rng.normal(0, 1, len(x)))).tolist() for x in X]


X, Y = lists(150)
X_test, Y_test = lists(500)
print("the first guest's order:", Y[0])

# %%
# Train
# -----
# :class:`~perceptrons.structures.Ranking` describes the problem: how to score an order, and how to find the best one.
# For :class:`~perceptrons.StructuredPerceptron`, a mistake is an order that is not exactly the guest's. With
# :class:`~perceptrons.rules.Margin`, worse orders must also score lower by a wider gap. The loss of an order is
# (1 − ρ)/2, where ρ is the rank correlation: 0 for the same order, 1 for its reverse, 0.5 on average for a random one.

problem = Ranking()


def mean_loss(orders, right):
    """Compute the mean loss of predicted orders."""
    return np.mean([problem.loss(y, order) for y, order in zip(right, orders, strict=True)])


models = {
    "perceptron": StructuredPerceptron(problem).fit(X, Y),
    "margin": StructuredPerceptron(problem, rule=Margin(beta=5)).fit(X, Y),
}
print(f"{'':24}{'training loss':>14}{'held-out loss':>15}")
for name, model in models.items():
    print(f"{name:24}{mean_loss(model.predict(X), Y):14.3f}{mean_loss(model.predict(X_test), Y_test):15.3f}")
dull = {
    "in any order": lambda x: rng.permutation(len(x)),
    "by rating alone": lambda x: np.argsort(-x[:, 1]),
    "by the hidden weights": lambda x: np.argsort(-(x @ hidden)),
}
for name, order in dull.items():
    print(f"{name:24}{mean_loss(map(order, X), Y):14.3f}{mean_loss(map(order, X_test), Y_test):15.3f}")

# %%
# What matters to guests
# ----------------------
# Only the direction of the weights decides the order, so all are shown at length 1. On the right, each line is a hotel
# of one new list: from its place in the predicted order to its place in the guest's.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", width_ratios=[3, 2])
bars = {"hidden": hidden, **{name: model.weights_ for name, model in models.items()}}
for offset, ((name, weights), colour) in enumerate(zip(bars.items(), ("#222222", "#D55E00", "#0072B2"), strict=True)):
    left.barh(np.arange(5) + 0.27 * (offset - 1), weights / np.linalg.norm(weights), 0.25, color=colour, label=name)
left.set_yticks(range(5), names)
left.invert_yaxis()
left.set(xlabel="weight, at length 1")
left.legend(loc="lower right")

predicted, guest = models["margin"].predict(X_test[:1])[0], Y_test[0]
for hotel in guest:
    a, b = predicted.index(hotel) + 1, guest.index(hotel) + 1
    right.plot([0, 1], [a, b], "o-", color="#0072B2" if a == b else "#D55E00")
right.set_xticks([0, 1], ["predicted", "the guest's"])
right.set(ylabel="place", xlim=(-0.2, 1.2), title="one new list")
right.set_yticks(range(1, len(guest) + 1))
right.invert_yaxis()

# %%
# More: :doc:`/guides/structures`.

plt.show()
