"""
Rare features move further
==========================

AROW keeps a variance for each weight: how unsure it is about it. You see how variances shrink as features are seen, and
why that can help with words, most of which are rare.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import Perceptron
from perceptrons.rules import AROW

# %%
# Words
# -----
# The program makes short texts. As in real texts, a few words occur all the time and most of them rarely. Every word
# has a hidden weight, and the sum of these weights decides the label.

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
counts = X.sum(axis=0)
print(f"the most frequent word is in {counts.max():.0f} of 4,000 texts, the median word in {np.median(counts):.0f}")

# %%
# One pass
# --------
# Rare words are the problem: the model meets each of them only a few times, and must learn from that. ``"arow"`` is far
# better than the last weights of the perceptron, and here also better than averaged weights.

settings = {
    "perceptron, last": {"readout": "last"},
    "perceptron, averaged": {},
    "pa, averaged": {"rule": "pa"},
    "arow, last": {"rule": "arow", "readout": "last"},
}
models = {}
print(f"baseline (always the larger class): held-out error {min(np.mean(y_test > 0), np.mean(y_test < 0)):.1%}")
for name, setting in settings.items():
    model = models[name] = Perceptron(fit_intercept=False, **setting).partial_fit(X, y, classes=[-1, 1])
    print(
        f"{name:22} training error {1 - model.score(X, y):5.1%}, held-out error {1 - model.score(X_test, y_test):5.1%}"
    )

# %%
# The rule in plain Python
# ------------------------
# Here is the same run with the formula of :class:`~perceptrons.rules.AROW`. A step moves each weight in proportion to
# its variance. Then it shrinks the variances of the words in the text.

rule, w, variance = AROW(), np.zeros(N_WORDS), np.ones(N_WORDS)
moved, steps = np.zeros(N_WORDS), np.zeros(N_WORDS)  # of each weight: how far all its steps went, and their number
for x, label in zip(X, y, strict=True):
    alpha, c = rule.metric(label * (w @ x), x @ (variance * x), 1.0)
    step = alpha * label * variance * x
    w += step
    variance = 1 / (1 / variance + c * x**2)
    moved, steps = moved + np.abs(step), steps + (step != 0)
print("the same weights as the library:", np.allclose(w, models["arow, last"].coef_[0]))

# %%
# Left: each variance starts at 1, and each step for a text with the word makes it smaller. Right: the mean size of a
# step, compared with the most frequent word. A step of the perceptron moves the weights of all words in the text by the
# same amount. AROW moves the weights of most words more than ten times as far as that of the most frequent word, which
# is already well known.

size = moved / np.maximum(steps, 1)
seen = steps > 0
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained", sharex=True)
left.loglog(counts[seen], variance[seen], ".", color="#0072B2", alpha=0.5)
left.set(xlabel="texts with the word", ylabel="variance of its weight at the end")
right.loglog(counts[seen], size[seen] / size[0], ".", color="#0072B2", alpha=0.5, label="arow")
right.axhline(1, color="#D55E00", linestyle="--", label="perceptron")
right.set(xlabel="texts with the word", ylabel="mean step (most frequent word = 1)")
right.legend()

# %%
# What the variance knows
# -----------------------
# A variance says how well a weight is known. Here the program knows the hidden weights, so you can check that. The
# weights of frequent words, with small variances, lie close to a line. Those of rare words are scattered around it.

order = np.argsort(variance)
figure, axes = plt.subplots(1, 3, figsize=(9.5, 3.6), layout="constrained", sharex=True, sharey=True)
parts = {"smallest variances": order[:100], "in between": order[450:550], "largest variances": order[-100:]}
for axis, (name, words) in zip(axes, parts.items(), strict=True):
    axis.plot(hidden[words], w[words], ".", color="#0072B2")
    axis.set(title=f"100 words, {name}", xlabel="hidden weight")
    print(f"{name:19} correlation of learned and hidden weights {np.corrcoef(hidden[words], w[words])[0, 1]:.2f}")
axes[0].set_ylabel("learned weight")

# %%
# :doc:`/choose/rules` says when such rules are worth it, and :doc:`/learn/10-after` where they come from.

plt.show()
