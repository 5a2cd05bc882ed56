"""
Digits in one minute
====================

Train an averaged perceptron on small pictures of digits. You see how often it is wrong on pictures that it has not
seen, what each class looks for, and which pictures it misreads.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from perceptrons import Perceptron

# %%
# Train and test
# --------------
# Each row has the 64 pixels of one picture. :class:`~perceptrons.Perceptron` learns all ten classes together, and
# predicts with the mean of all weight vectors of the run. Training ends when more passes no longer change the
# predictions.

X, X_test, y, y_test = train_test_split(*load_digits(return_X_y=True), random_state=0)
model = Perceptron().fit(X, y)
print(f"training error {1 - model.score(X, y):.1%}, held-out error {1 - model.score(X_test, y_test):.1%}")
print(f"{model.n_iter_} passes, {model.n_mistakes_:,} mistakes on the way, converged: {model.converged_}")

# %%
# What each class looks for
# -------------------------
# Each class has one weight for each pixel. Ink on a blue pixel speaks for the class, and ink on a red pixel speaks
# against it.

largest = np.abs(model.coef_).max()
figure, axes = plt.subplots(2, 5, figsize=(8, 3.6), layout="constrained")
for axis, weights, digit in zip(axes.flat, model.coef_, model.classes_, strict=True):
    image = axis.imshow(weights.reshape(8, 8), cmap="RdBu", vmin=-largest, vmax=largest)
    axis.set(title=digit, xticks=[], yticks=[])
figure.colorbar(image, ax=axes, label="weight", shrink=0.9)

# %%
# What it misreads
# ----------------
# These are the first ten held-out pictures with a wrong prediction.

predicted = model.predict(X_test)
wrong = np.flatnonzero(predicted != y_test)
figure, axes = plt.subplots(2, 5, figsize=(8, 3.9), layout="constrained")
for axis, row in zip(axes.flat, wrong, strict=False):
    axis.imshow(X_test[row].reshape(8, 8), cmap="gray_r")
    axis.set(title=f"a {y_test[row]}, read as {predicted[row]}", xticks=[], yticks=[])
    axis.title.set_fontsize(10)

# %%
# :doc:`/start/first-model` takes the same steps more slowly, and :doc:`/choose/readouts` compares the readouts.

plt.show()
