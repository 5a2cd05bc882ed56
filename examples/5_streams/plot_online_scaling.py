"""
Scale numbers while they arrive
===============================

The columns of these rows have very different sizes, and you cannot scale a stream in advance. You see how many mistakes
``scale="online"`` saves, and how it compares with scaling in advance.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from perceptrons import Perceptron

# %%
# Columns of all sizes
# --------------------
# A step of the perceptron moves each weight by the value of its feature. So the column with the largest values moves
# the score most, whether it matters or not.

data = load_breast_cancer()
X, X_test, y, y_test = train_test_split(data.data, data.target, random_state=0)
spread = X.std(axis=0)
for column in np.argsort(spread)[[0, 10, 20, 29]]:
    print(f"{data.feature_names[column]:24} standard deviation {spread[column]:10.4f}")

# %%
# Raw, online, in advance
# -----------------------
# With ``scale="online"``, :class:`~perceptrons.Perceptron` keeps the mean and the variance of each column so far, and
# puts each row on that scale before it learns. Scaling in advance needs all rows, so it is impossible in a stream. It
# is here for comparison.

scaler = StandardScaler().fit(X)
runs = {
    "raw": (Perceptron(), X, X_test),
    'scale="online"': (Perceptron(scale="online"), X, X_test),
    "scaled in advance": (Perceptron(), scaler.transform(X), scaler.transform(X_test)),
}
wrong = {}
for name, (model, rows, test) in runs.items():
    wrong[name] = model.predict_then_learn(rows, y, classes=[0, 1]) != y
    errors = f"training error {1 - model.score(rows, y):.1%}, held-out error {1 - model.score(test, y_test):.1%}"
    print(f"{name:18} {wrong[name].sum():3} mistakes in {len(y)} rows, {errors}")
print(f"always the more frequent class: held-out error {min(y_test.mean(), 1 - y_test.mean()):.1%}")

# %%
# Mistakes so far
# ---------------

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, found), colour in zip(wrong.items(), ("#D55E00", "#0072B2", "#009E73"), strict=True):
    axis.plot(np.arange(1, len(y) + 1), np.cumsum(found), color=colour, label=name)
axis.set(xlabel="rows", ylabel="mistakes so far", xlim=(0, len(y)), ylim=(0, None))
axis.legend()

# %%
# The model takes raw rows at all times, also to predict. ``coef_`` is for raw values, too.

model = runs['scale="online"'][0]
scores = X_test @ model.coef_[0] + model.intercept_[0]
print("coef_ gives the same scores for raw rows:", np.allclose(scores, model.decision_function(X_test)))

# %%
# More: :doc:`/choose/scaling`.

plt.show()
