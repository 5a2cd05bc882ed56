"""
When to step, and how far
=========================

Draw the formulas of the rules, and the boundaries that they learn from the same rows. You see which rules also learn
from rows that are right, and which ones limit their steps.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import Perceptron
from perceptrons.rules import AROW, PA, PA1, PA2, Margin, Plain

# %%
# The step as a function of the margin
# ------------------------------------
# The margin m of a row is y·(w·x + b): positive if the row is right, and large if it is right by far. A step is
# τ·y·x. A rule is an object with one formula, and you can call it. All curves are for a row of length 1.
#
# * :class:`~perceptrons.rules.Plain` steps after a mistake, always with τ = 1.
# * :class:`~perceptrons.rules.Margin` also steps if the row is right, but by less than β.
# * :class:`~perceptrons.rules.PA` goes just far enough for a margin of 1.
# * :class:`~perceptrons.rules.PA1` does the same, but with τ = C at most.
# * :class:`~perceptrons.rules.PA2` goes a fixed part of that way, which depends on C and on the length of the row.
#
# :class:`~perceptrons.rules.AROW` is different. It keeps a variance of each weight, which shrinks as a feature is seen.
# Its step depends on the variance v of the score: a row whose features are well known moves the weights less.

m = np.linspace(-2, 2, 401)
along = {"Plain()": Plain(), "Margin(0.5)": Margin(0.5), "PA()": PA(), "PA1(C=0.7)": PA1(0.7), "PA2(C=0.5)": PA2(0.5)}
lines = ["-", "--", "-", "--", "-."]
colours = ["#222222", "#E69F00", "#D55E00", "#0072B2", "#009E73"]
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained", sharey=True)
for (name, rule), line, colour in zip(along.items(), lines, colours, strict=True):
    left.plot(m, [rule.tau(margin, 1.0, 1.0) for margin in m], line, color=colour, linewidth=2, label=name)
for variance, shade in ((1.0, "#0072B2"), (0.3, "#56B4E9"), (0.05, "#999999")):
    moved = [variance * AROW().metric(margin, variance, 1.0)[0] for margin in m]
    right.plot(m, moved, color=shade, linewidth=2, label=f"AROW(), v = {variance:g}")
left.set(xlabel="margin m before the step", ylabel="change of the score by the step", title="rules along the row")
right.set(xlabel="margin m before the step", title="a rule with variances")
for axis in (left, right):
    axis.axvspan(-2, 0, color="#222222", alpha=0.06)
    axis.legend()
left.text(-1.9, 0.1, "mistakes", color="#222222")

# %%
# Boundaries
# ----------
# Two clouds overlap a little. Each rule makes one pass over the same 300 rows, in 30 random orders, and predicts with
# its last weights. The 30 lines show how much the order matters. Rules that step far follow whatever row came last.
# Limited steps and shrinking variances make the boundary steady.

rng = np.random.default_rng(0)


def clouds(n):
    """Rows of two clouds that overlap."""
    y = rng.choice([-1, 1], n)
    return rng.normal(size=(n, 2)) + 1.2 * y[:, np.newaxis], y


X, y = clouds(300)
X_test, y_test = clouds(5000)
best = np.mean(np.where(X_test.sum(axis=1) > 0, 1, -1) != y_test)
print(f"held-out error of the best boundary there is: {best:.1%}")

rules = {"Plain()": Plain(), "Margin(5)": Margin(5.0), "PA()": PA(), "PA1(C=0.01)": PA1(0.01), "AROW()": AROW()}
across = np.array([-5.0, 5.0])
figure, axes = plt.subplots(1, 5, figsize=(10, 2.8), layout="constrained", sharex=True, sharey=True)
for axis, (name, rule) in zip(axes, rules.items(), strict=True):
    for label, colour in ((-1, "#D55E00"), (1, "#0072B2")):
        axis.scatter(*X[y == label].T, s=3, color=colour, alpha=0.6)
    errors = []
    for _ in range(30):
        order = rng.permutation(len(y))
        model = Perceptron(rule=rule, readout="last").partial_fit(X[order], y[order])
        errors.append((1 - model.score(X, y), 1 - model.score(X_test, y_test)))
        (w,), (b,) = model.coef_, model.intercept_
        axis.plot(across, -(w[0] * across + b) / w[1], color="#222222", linewidth=0.6, alpha=0.7)
    trained, held_out = np.mean(errors, axis=0)
    print(f"{name:12} mean training error {trained:5.1%}, mean held-out error {held_out:5.1%}")
    axis.set(title=f"{name}\n{held_out:.1%} held out", aspect="equal", xlim=(-4, 4), ylim=(-4, 4), xlabel="feature 0")
axes[0].set_ylabel("feature 1")

# %%
# :doc:`/choose/rules` says which rule to take, and :class:`~perceptrons.Perceptron` lists them all.

plt.show()
