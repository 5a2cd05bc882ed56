"""
In a pipeline of River
======================

River has scalers, metrics and evaluation for streams. :mod:`perceptrons.river` wraps this library's models for River.
You see three of them beside River's own perceptron, in the same pipeline and on the same stream.
"""

import matplotlib.pyplot as plt
import numpy as np
from river import linear_model, metrics, preprocessing, stream
from sklearn.datasets import load_breast_cancer
from sklearn.utils import shuffle

from perceptrons.river import PassiveAggressiveClassifier, Perceptron

# %%
# A stream and four pipelines
# ---------------------------
# River's ``StandardScaler`` scales each example by the statistics so far. :class:`perceptrons.river.Perceptron` takes
# every rule, with the readouts ``"last"`` and ``"averaged"``; rules along rows also with ``"voted"``.
# :class:`perceptrons.river.PassiveAggressiveClassifier` makes the smallest step that reaches margin 1, limited by C.

data = load_breast_cancer()
X, y = shuffle(data.data, data.target == 0, random_state=0)
pipelines = {
    "River's Perceptron": preprocessing.StandardScaler() | linear_model.Perceptron(),
    "arow": preprocessing.StandardScaler() | Perceptron(rule="arow"),
    "averaged": preprocessing.StandardScaler() | Perceptron(readout="averaged"),
    "passive-aggressive": preprocessing.StandardScaler() | PassiveAggressiveClassifier(C=0.1),
}

# %%
# Predict, then learn
# -------------------
# ``progressive_val_score`` of River does the same in one call. The loop is written out here to draw the curves.

scores = {name: metrics.Accuracy() for name in pipelines}
wrong = {name: [] for name in pipelines}
for x, label in stream.iter_array(X, y, feature_names=list(data.feature_names)):
    for name, pipeline in pipelines.items():
        guess = pipeline.predict_one(x)
        scores[name].update(label, bool(guess))  # None, before the first example, counts as False
        wrong[name].append(bool(guess) != label)
        pipeline.learn_one(x, bool(label))
for name, score in scores.items():
    print(f"{name:20} progressive error {1 - score.get():.1%}")
print(f"{'always benign':20} {y.mean():.1%}")

# %%
# Mistakes so far
# ---------------
# Most mistakes come at the beginning. The curves differ by a few examples only, so their order says little about other
# data.

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
for (name, found), colour in zip(wrong.items(), ("#D55E00", "#0072B2", "#009E73", "#222222"), strict=True):
    axis.plot(np.arange(1, len(y) + 1), np.cumsum(found), color=colour, label=name)
axis.set(xlim=(0, len(y)), ylim=(0, None), xlabel="examples", ylabel="wrong predictions so far")
axis.legend()

# %%
# What is behind it
# -----------------
# The last step of a pipeline has an ``estimator``: an ordinary estimator of this library, which can be saved, explained
# and exported. It saw scaled values, because the scaler comes first.

estimator = pipelines["arow"]["Perceptron"].estimator
print(estimator, estimator.n_seen_, "examples")
print(estimator.feature_weights(top=5))

# %%
# More: :doc:`/guides/streams`.

plt.show()
