"""
Rare features move further
==========================

AROW keeps a variance for each weight: how unsure it is about it. You see how variances shrink as features are seen, and
why that helps with words, most of which are rare.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import Perceptron
from perceptrons.rules import AROW

# %%
# Words
# -----
# The program makes short texts. As in real texts, a few words occur all the time and most of them rarely. Every word has
# a hidden weight, and the sum of these weights decides the label.

N_WORDS = 1000
rng = np.random.default_rng(0)
frequency = 1 / np.arange(1, N_WORDS + 1)
hidden = rng.normal(size=N_WORDS)


def texts(n):
    """Which words occur in each of n texts, and the labels."""
    X = np.zeros((n, N_WORDS))
    X[np.arange(n)[:, np.newaxis], rng.choice(N_WORDS, (n, 15), p=frequency / frequency.sum())] = 1
    return X, np.where(X @ hidden > 0, 1, -1)


X, y = texts(4000)
X_test, y_test = texts(2000)
print(f"the most frequent word is in {X[:, 0].sum():.0f} of 4,000 texts, the median word in {np.median(X.sum(axis=0)):.0f}")

# %%
# One pass
# --------
# Rare words are the problem: the model meets each of them only a few times, and must learn from that. ``"arow"`` does so
# without averaging.

settings = {
    "perceptron, last": {},
    "perceptron, averaged": {"readout": "averaged"},
    "pa, averaged": {"rule": "pa", "readout": "averaged"},
    "arow, last": {"rule": "arow"},
}
models = {}
print(f"baseline (always the larger class): held-out error {min(np.mean(y_test > 0), np.mean(y_test < 0)):.1%}")
for name, setting in settings.items():
    model = models[name] = Perceptron(fit_intercept=False, **setting).partial_fit(X, y, classes=[-1, 1])
    print(f"{name:22} training error {1 - model.score(X, y):5.1%}, held-out error {1 - model.score(X_test, y_test):5.1%}")

# %%
# The rule in five lines
# ----------------------
# Here is the same rule in plain Python, with the formula of :class:`perceptrons.rules.AROW`. A step moves each weight in
# proportion to its variance. Then it shrinks the variances of the words in the text.

rule, w, variance = AROW(), np.zeros(N_WORDS), np.ones(N_WORDS)
reached = np.zeros(N_WORDS)  # how far each weight has moved, all its steps added
for x, label in zip(X, y, strict=True):
    alpha, c = rule.metric(label * (w @ x), x @ (variance * x), 1.0)
    step = alpha * label * variance * x
    w += step
    variance = 1 / (1 / variance + c * x**2)
    reached += np.abs(step)
print("the same weights as the library:", np.allclose(w, models["arow, last"].coef_[0]))

# %%
# Left: a word that was never seen has the variance 1. Each text with the word makes it smaller. Right: the size of a
# typical step. A step of the perceptron moves each weight in the text by 1, whether the word is rare or not. AROW moves
# rare words much further than frequent ones, whose weights are already well known.

counts = X.sum(axis=0)
seen = counts > 0
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
left.loglog(counts[seen], variance[seen], ".", color="#0072B2", alpha=0.5)
left.set(xlabel="texts with the word", ylabel="variance of its weight at the end")
right.loglog(counts[seen], reached[seen] / counts[seen], ".", color="#0072B2", alpha=0.5, label="arow")
right.axhline(1, color="#D55E00", linestyle="--", label="perceptron: each step of a mistake")
right.set(xlabel="texts with the word", ylabel="mean change of the weight by a text with the word")
right.legend()

# %%
# Is the belief right? The picture compares the weights that were learned with the hidden ones, at the best common scale.
# The weights of frequent words are close to the line. Rare words have weights that are too small: there was too
# little to learn from.

frequent = counts >= np.quantile(counts, 0.9)
scale = (w[frequent] @ hidden[frequent]) / (hidden[frequent] @ hidden[frequent])
figure, axis = plt.subplots(figsize=(5.5, 5), layout="constrained")
axis.scatter(hidden[~frequent], w[~frequent] / scale, s=8, color="#999999", label="rarer words")
axis.scatter(hidden[frequent], w[frequent] / scale, s=16, color="#0072B2", label="the most frequent tenth")
axis.plot([-3, 3], [-3, 3], color="#222222", linewidth=1)
axis.set(xlabel="hidden weight", ylabel="learned weight, scaled", aspect="equal")
axis.legend()
print()

# %%
# :doc:`/choose/rules` says when such rules are worth it, and :doc:`/learn/10-after` where they come from.

plt.show()
