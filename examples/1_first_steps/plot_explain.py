"""
Why this prediction?
====================

Ask a model why it predicts what it predicts. You see which features speak for a class in general, and what each of them
adds to the score of one row.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from perceptrons import Perceptron

# %%
# Train
# -----
# Each row describes a tumour by thirty numbers. The scaler gives them the same spread, so you can compare weights: a
# weight is what one standard deviation adds to the score.

data = load_breast_cancer(as_frame=True)
labels = data.target_names[data.target]
X, X_test, y, y_test = train_test_split(data.data, labels, test_size=0.4, stratify=labels, random_state=0)
scaler = StandardScaler().set_output(transform="pandas").fit(X)
X, X_test = scaler.transform(X), scaler.transform(X_test)
model = Perceptron(early_stopping=True, tol=None).fit(X, y)
print(f"training error {1 - model.score(X, y):.1%}, held-out error {1 - model.score(X_test, y_test):.1%}", end=", ")
print(f"baseline (always 'benign') {(y_test != 'benign').mean():.1%}")

# %%
# In general
# ----------
# :meth:`~perceptrons.Perceptron.feature_weights` lists the weights by name, the largest first. With two classes there
# is one weight for each feature. A positive weight speaks for ``malignant``, and a negative one for ``benign``.

print(model.feature_weights(top=8))

# %%
# One row
# -------
# Why does the model miss a malignant tumour? :meth:`~perceptrons.Perceptron.explain_one` multiplies each weight by the
# value in the row. These contributions and the bias add up to the score, and its sign is the prediction. Here is the
# malignant tumour with the lowest score.

scores = model.decision_function(X_test)
missed = np.argmin(np.where(y_test == "malignant", scores, np.inf))
explained = model.explain_one(X_test.iloc[missed].to_dict())
print(f"held-out row {missed} is {y_test[missed]}, predicted as {model.predict(X_test)[missed]}\n")
print(explained)

# %%
# The picture adds up the same numbers from top to bottom. Each bar starts where the one above it ends.

largest, others = explained.contributions[:10], explained.contributions[10:]
steps = [(one.feature, one.contribution) for one in largest]
steps += [(f"{len(others)} other features", sum(one.contribution for one in others)), ("bias", explained.intercept)]
names, sizes = zip(*steps, strict=True)
ends = np.cumsum(sizes)

figure, axes = plt.subplots(figsize=(7.5, 4.6), layout="constrained")
axes.use_sticky_edges = False  # leave room on both sides
axes.barh(names, sizes, left=ends - sizes, color=["#D55E00" if size < 0 else "#0072B2" for size in sizes])
axes.barh("score", explained.score, color="#222222")
axes.axvline(0, color="#222222", linewidth=1)
axes.invert_yaxis()
axes.set(xlabel="score so far (below 0: benign, above 0: malignant)", title=f"why row {missed} is predicted as benign")

# %%
# One class against another
# -------------------------
# With several classes, the explanation compares the predicted class with the runner-up. Here are four held-out pictures
# of digits that a model misreads, and below them the contribution of each pixel. Ink on blue pixels speaks for the
# predicted digit, and ink on red pixels for the runner-up.

X, X_test, y, y_test = train_test_split(*load_digits(return_X_y=True), random_state=0)
digits = Perceptron().fit(X, y)
print(f"training error {1 - digits.score(X, y):.1%}, held-out error {1 - digits.score(X_test, y_test):.1%}")
wrong = np.flatnonzero(digits.predict(X_test) != y_test)[:4]
figure, axes = plt.subplots(2, 4, figsize=(8, 4.4), layout="constrained")
for (above, below), row in zip(axes.T, wrong, strict=True):
    why = digits.explain_one(X_test[row])
    added = np.zeros(64)
    for one in why.contributions:
        added[int(one.feature.removeprefix("x"))] = one.contribution
    above.imshow(X_test[row].reshape(8, 8), cmap="gray_r")
    above.set_title(f"a {y_test[row]}")
    below.imshow(added.reshape(8, 8), cmap="RdBu", vmin=-np.abs(added).max(), vmax=np.abs(added).max())
    below.set_title(f"{why.label} (blue), not {why.against} (red)", fontsize=9)
for one in axes.flat:
    one.set(xticks=[], yticks=[])

# %%
# :doc:`/start/understand` says how to read weights, and when they mislead.

plt.show()
