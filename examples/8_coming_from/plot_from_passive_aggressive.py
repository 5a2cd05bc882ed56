"""
Coming from PassiveAggressiveClassifier
=======================================

scikit-learn deprecates its passive-aggressive models and removes them in version 1.10. Change the import, and keep the
program. You see when both learn the same weights, and how errors compare when they do not.
"""

# %%
# Change the import
# -----------------
# Replace ``from sklearn.linear_model import PassiveAggressiveClassifier`` by
# ``from perceptrons import PassiveAggressiveClassifier``. The parameters of
# :class:`~perceptrons.PassiveAggressiveClassifier` and :class:`~perceptrons.PassiveAggressiveRegressor` are those of
# scikit-learn's. Here both run side by side.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

from perceptrons import PassiveAggressiveClassifier, PassiveAggressiveRegressor


def theirs(ours, **settings):
    """Make scikit-learn's model of the same name, without its announcement that it will be removed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return getattr(linear_model, ours.__name__)(**settings)


# %%
# The same weights
# ----------------
# Without a bias, and with rows in their order, two classes get the same weights, up to rounding. With a bias, steps
# differ: the bias is the weight of a constant feature 1, which counts here in the length of a row. scikit-learn leaves
# it out, so its steps overshoot a little.

X, X_test, y, y_test = train_test_split(*load_breast_cancer(return_X_y=True), random_state=0)
scaler = StandardScaler().fit(X)
X, X_test = scaler.transform(X), scaler.transform(X_test)
figure, axes = plt.subplots(1, 2, figsize=(8.5, 4), layout="constrained")
for axis, bias in zip(axes, (False, True), strict=True):
    settings = {"fit_intercept": bias, "shuffle": False}
    ours = PassiveAggressiveClassifier(**settings).fit(X, y)
    other = theirs(PassiveAggressiveClassifier, **settings).fit(X, y)
    same = (ours.predict(X_test) == other.predict(X_test)).mean()
    print(f"fit_intercept={bias!s:6} passes: {other.n_iter_} and {ours.n_iter_}; same held-out predictions: {same:.1%}")
    axis.axline((0, 0), slope=1, color="#222222", linewidth=0.8)
    axis.plot(other.coef_[0], ours.coef_[0], "o", color="#0072B2")
    axis.set(title=f"fit_intercept={bias}", xlabel="weights in scikit-learn", ylabel="weights here")
    axis.set(xlim=(-2.4, 2.4), ylim=(-2.4, 2.4), aspect="equal")

# %%
# Default settings
# ----------------
# With shuffled rows or several classes, the weights are no longer the same, and the errors differ a little. For digits,
# scikit-learn trains ten models, one class against the rest. Here all classes are learned together.


def compare(name, model, X, y, measure, **settings):
    """Print what both models reach on training rows and on held-out rows, all of them scaled."""
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    both = theirs(model, random_state=0, **settings), model(random_state=0, **settings)
    both = [make_pipeline(StandardScaler(), each) for each in both]
    numbers = [(measure(each.fit(X, y).score(X, y)), measure(each.score(X_test, y_test))) for each in both]
    print(f"{name:28}" + "".join(f"{training:>11}{held_out:>10}" for training, held_out in numbers))


def error(accuracy):
    """Format an error."""
    return f"{1 - accuracy:.1%}"


cancer, digits = load_breast_cancer(return_X_y=True), load_digits(return_X_y=True)
X, y = load_diabetes(return_X_y=True)
print(f"{'':28}{'scikit-learn':>21}{'here':>21}")
print(f"{'':28}" + 2 * f"{'training':>11}{'held out':>10}")
compare("breast cancer, error", PassiveAggressiveClassifier, *cancer, error)
compare("the same, C=0.01", PassiveAggressiveClassifier, *cancer, error, C=0.01)
compare("digits, error", PassiveAggressiveClassifier, *digits, error)
compare("the same, C=0.01", PassiveAggressiveClassifier, *digits, error, C=0.01)
compare("diabetes, R², C=0.01", PassiveAggressiveRegressor, X, scale(y), "{:.2f}".format, C=0.01)
always = [1 - np.bincount(labels).max() / len(labels) for _, labels in (cancer, digits)]
print(f"always the most frequent class: breast cancer {always[0]:.1%}, digits {always[1]:.1%}; the mean: R² 0")

# %%
# What is new
# -----------
# The model also learns from dicts, one example at a time, and takes classes that were not announced.

model = PassiveAggressiveClassifier(C=0.1)
for x, label in [({"links": 3, "from": "bank"}, "spam"), ({"from": "Eva"}, "ham"), ({"links": 2}, "spam")] * 3:
    model.learn_one(x, label)
print(model.predict_one({"links": 4, "from": "Adam"}))

# %%
# More: :doc:`/guides/scikit-learn`.

plt.show()
