"""
A rule of your own
==================

Write a rule as one formula, and use it as any other. You see its steps beside those of other rules, and how a grid
search finds its parameter.
"""

from math import exp
from typing import NamedTuple

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler

from perceptrons import Perceptron
from perceptrons.rules import PA1, Plain

# %%
# The formula
# -----------
# A rule is a ``NamedTuple`` of its parameters with one method. ``tau`` gets the margin of the row, its squared length
# and its weight, and returns how far to step along the row. This one makes a step that depends smoothly on the margin:
# stochastic gradient descent on the logistic loss. It is compiled when it is first used, so it runs as fast as the
# rules of the library.


class Logistic(NamedTuple):
    """Step by the derivative of log(1 + exp(−m)), times a rate."""

    rate: float = 0.1

    def tau(self, margin, sq_norm, weight):
        if margin > 30.0:  # exp would overflow for much larger margins, and the step would be 0
            return 0.0
        return self.rate * weight / (1.0 + exp(margin))


figure, axis = plt.subplots(figsize=(7, 3.6), layout="constrained")
m = np.linspace(-4, 4, 401)
for name, rule, colour, line in (
    ("Logistic(rate=1.0)", Logistic(1.0), "#0072B2", "-"),
    ("Plain()", Plain(), "#222222", "--"),
    ("PA1(C=1.0), row of length 2", PA1(1.0), "#D55E00", "-."),
):
    axis.plot(m, [rule.tau(margin, 4.0, 1.0) for margin in m], line, color=colour, linewidth=2, label=name)
axis.set(xlabel="margin m before the step", ylabel="τ (the step is τ·y·x)")
axis.legend()

# %%
# Use it
# ------
# A rule object goes where a name would go. It combines with the readouts, several classes, kernels and streams.

X, X_test, y, y_test = train_test_split(*load_breast_cancer(return_X_y=True), test_size=0.4, random_state=0)
scaler = StandardScaler().fit(X)
X, X_test = scaler.transform(X), scaler.transform(X_test)
print(f"baseline (the larger class): held-out error {min(y_test.mean(), 1 - y_test.mean()):.1%}")
for rule in (Plain(), PA1(0.01), Logistic()):
    model = Perceptron(rule=rule, early_stopping=True, tol=None).fit(X, y)
    print(
        f"{rule!s:20} training error {1 - model.score(X, y):.1%}, held-out error {1 - model.score(X_test, y_test):.1%}"
    )

# %%
# Search its parameter
# --------------------
# A grid search reaches the parameter as ``rule__rate``, as it would reach ``rule__C`` of
# :class:`~perceptrons.rules.PA1`.

model = Perceptron(rule=Logistic(), early_stopping=True, tol=None)
search = GridSearchCV(model, {"rule__rate": [0.001, 0.01, 0.1, 1.0]}, cv=5).fit(X, y)
for setting, accuracy in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True):
    print(f"rate {setting['rule__rate']:5g}: error {1 - accuracy:.1%} in cross-validation")
print(f"best: {search.best_estimator_.rule}, held-out error {1 - search.score(X_test, y_test):.1%}")

# %%
# :doc:`/choose/rules` has the two other kinds of formulas: rules with a covariance, and rules that scale the weights.

plt.show()
