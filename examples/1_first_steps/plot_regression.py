"""
Numbers instead of classes
==========================

Predict a number with a passive-aggressive regressor, beside ridge regression. You see what a few wild values in the
training data do to each of them.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_absolute_error

from perceptrons import PassiveAggressiveRegressor

# %%
# Rows with wild values
# ---------------------
# The value is a straight line plus a little noise. A tenth of the training rows have a wild value: it is too large by
# 15. They all have a positive x, so they also tilt a line. The held-out rows are clean.

rng = np.random.default_rng(0)


def rows(n, share_wild):
    """Rows, their values, and which values are wild."""
    X = rng.uniform(-2, 2, size=(n, 1))
    y = 1.5 * X[:, 0] + rng.normal(0, 0.3, n)
    wild = rng.random(n) < share_wild * (X[:, 0] > 0) * 2
    return X, np.where(wild, y + 15, y), wild


X, y, wild = rows(300, share_wild=0.1)
X_test, y_test, _ = rows(2000, share_wild=0.0)

# %%
# Two models and a dull one
# -------------------------
# :class:`~perceptrons.PassiveAggressiveRegressor` moves its line just as far as one row asks, but never further than
# ``C``. A small ``C`` therefore limits what a wild value can do: it pulls no harder than any other value. Ridge
# regression minimises squared errors, so the wild values pull hardest. The third model always predicts the median of
# the training values.

models = {
    "ridge": Ridge(),
    "passive-aggressive": PassiveAggressiveRegressor(C=0.01, average=True, random_state=0),
    "always the median": DummyRegressor(strategy="median"),
}
print(f"{'mean absolute error':20}  training  held out")
for name, model in models.items():
    model.fit(X, y)
    errors = [mean_absolute_error(values, model.predict(given)) for given, values in ((X, y), (X_test, y_test))]
    print(f"{name:20}{errors[0]:10.2f}{errors[1]:10.2f}")

# %%
# Ridge regression looks better in training if errors are squared, as they are in R². That is what it minimises. The
# held-out rows tell a different story.

for name in ("ridge", "passive-aggressive"):
    print(
        f"{name:20} R² {models[name].score(X, y):5.2f} in training, {models[name].score(X_test, y_test):5.2f} held out"
    )

# %%
# The lines
# ---------

figure, axes = plt.subplots(figsize=(7, 4.4), layout="constrained")
axes.scatter(X[~wild], y[~wild], s=12, color="#999999", label="training rows")
axes.scatter(X[wild], y[wild], s=22, color="#222222", marker="x", label="wild values")
ends = np.array([[-2.0], [2.0]])
axes.plot(ends, 1.5 * ends, ":", color="#222222", label="the true line")
axes.plot(ends, models["ridge"].predict(ends), "--", color="#D55E00", linewidth=2, label="ridge")
axes.plot(ends, models["passive-aggressive"].predict(ends), color="#0072B2", linewidth=2, label="passive-aggressive")
axes.set(xlabel="x", ylabel="value")
axes.legend(loc="upper left")

# %%
# How much C matters
# ------------------
# With a large ``C``, each wild value moves the line as far as it asks. With a very small ``C``, the first steps get
# nowhere, and the mean of all weights still contains them. ``C`` is in the unit of the values: scale them, or choose
# ``C`` accordingly.

sizes = np.logspace(-4, 1, 11)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for average, colour, mark in ((False, "#D55E00", "s--"), (True, "#0072B2", "o-")):
    errors = []
    for C in sizes:
        trained = [PassiveAggressiveRegressor(C=C, average=average, random_state=seed).fit(X, y) for seed in range(5)]
        errors.append(np.mean([mean_absolute_error(y_test, model.predict(X_test)) for model in trained]))
    axes.plot(sizes, errors, mark, color=colour, label="mean of all weights" if average else "last weights")
ridge = mean_absolute_error(y_test, models["ridge"].predict(X_test))
axes.axhline(ridge, color="#222222", linestyle=":", label="ridge")
axes.set(xscale="log", xlabel="C", ylabel="held-out mean absolute error\n(mean of 5 seeds)")
axes.legend()

# %%
# :doc:`/learn/09-passive-aggressive` derives the step of passive-aggressive models.

plt.show()
