"""
Predict, then learn
===================

Digits arrive one by one. The model predicts each before it is told the label, so every prediction is an honest test.
You see how the share of wrong predictions falls while the stream goes on.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from perceptrons import Perceptron

# %%
# The loop
# --------
# :meth:`~perceptrons.Perceptron.predict_one` and :meth:`~perceptrons.Perceptron.learn_one` take one example. Before the
# first one, nothing is known, and the prediction is None. Some rows are set aside to test the model at the end.

X, X_test, y, y_test = train_test_split(*load_digits(return_X_y=True), test_size=400, random_state=0)
classes = np.unique(y)


def wrong_predictions(model):
    """Predict each row, then learn from it; return which predictions were wrong."""
    wrong = []
    for x, label in zip(X, y, strict=True):
        wrong.append(model.predict_one(x) != label)
        model.learn_one(x, label, classes=classes)
    return np.array(wrong)


print("before the first example:", Perceptron().predict_one(X[0]))

# %%
# Three models run side by side. The last weights follow every mistake. Their mean, the default, is steadier.
# The rule ``"arow"`` makes smaller steps for pixels that it has seen often.

models = {
    "last weights": Perceptron(readout="last"),
    "averaged": Perceptron(),
    "arow": Perceptron(rule="arow"),
}
runs = {name: wrong_predictions(model) for name, model in models.items()}
print(f"{'':13}{'progressive error':>18}{'of the last 400':>17}{'held-out error':>16}{'training error':>16}")
for name, wrong in runs.items():
    held_out, training = 1 - models[name].score(X_test, y_test), 1 - models[name].score(X, y)
    print(f"{name:13}{wrong.mean():18.1%}{wrong[-400:].mean():17.1%}{held_out:16.1%}{training:16.1%}")
print(f"always the most frequent digit: {1 - np.bincount(y_test).max() / len(y_test):.1%}")

# %%
# The progressive error includes the mistakes of the untrained model. The last 400 predictions are usually
# closer to the held-out error at the end.

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
seen = np.arange(1, len(y) + 1)
for (name, wrong), colour in zip(runs.items(), ("#D55E00", "#009E73", "#0072B2"), strict=True):
    axis.plot(seen, 100 * np.cumsum(wrong) / seen, color=colour, label=name)
axis.set(xlim=(10, len(y)), ylim=(0, 70), xlabel="examples", ylabel="progressive error (%)")
axis.legend()

# %%
# Rows in chunks
# --------------
# :meth:`~perceptrons.Perceptron.predict_then_learn` takes many rows in one call, which takes much less time per row.
# It learns the same weights as the loop, bit for bit.

model, wrong = Perceptron(readout="last"), []
for i in range(0, len(X), 100):
    chunk, labels = X[i : i + 100], y[i : i + 100]
    wrong.extend(model.predict_then_learn(chunk, labels, classes=classes) != labels)
print(
    f"progressive error {np.mean(wrong):.1%}, the same weights: {(model.coef_ == models['last weights'].coef_).all()}"
)

# %%
# More: :doc:`/guides/streams`.

plt.show()
