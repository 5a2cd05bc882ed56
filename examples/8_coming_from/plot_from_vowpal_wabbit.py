"""
Coming from Vowpal Wabbit
=========================

Learn the same messages, one by one, with Vowpal Wabbit and with :class:`~perceptrons.Perceptron`. With plain gradient
steps, both learn the same weights. A table then gives the names of Vowpal Wabbit's options here.
"""

# %%
# Messages
# --------
# The messages are random words. Each word has a hidden weight, and the sum of the weights decides the label, with some
# noise.

from collections import Counter

import matplotlib.pyplot as plt
import numpy as np
from vowpalwabbit import Workspace

from perceptrons import Perceptron
from perceptrons.rules import AROW, Margin

rng = np.random.default_rng(0)
words = np.array([f"word{i}" for i in range(500)])
often = 1 / np.arange(1, 501)  # a few words are frequent, most are rare
hidden = rng.normal(size=500)
drawn = rng.choice(500, size=(3000, 15), p=often / often.sum())
messages = [" ".join(words[row]) for row in drawn]
labels = np.where(hidden[drawn].sum(axis=1) + rng.normal(size=3000) > 0, 1, -1)

# %%
# Two loops
# ---------
# Vowpal Wabbit reads lines of text. Here, an example is a dict. A mistake is a score of the wrong sign, or of 0,
# before the label is learned.


def vowpal_wabbit(options):
    """Run Vowpal Wabbit over the messages; return which were mistakes, and the weights."""
    vw = Workspace(f"{options} --quiet")
    scores = []
    for message, y in zip(messages, labels, strict=True):
        scores.append(vw.predict(f"| {message}"))
        vw.learn(f"{y} | {message}")
    weights = [vw.get_weight_from_name(word) for word in words]
    vw.finish()
    return labels * scores <= 0, weights


def ours(model):
    """Do the same with a model of this library."""
    counts = []
    for message, y in zip(messages, labels, strict=True):
        model.learn_one(Counter(message.split()), int(y), classes=[-1, 1])
        counts.append(model.n_mistakes_)
    names = dict(zip(model.feature_names_in_, model.coef_[0], strict=True))
    return np.diff(counts, prepend=0) > 0, [names.get(word, 0.0) for word in words]


# %%
# The same weights
# ----------------
# Vowpal Wabbit's hinge loss takes a step when the margin is below 1. With ``--sgd -l 1 --power_t 0``, the step is the
# row itself. That is the rule :class:`~perceptrons.rules.Margin`, which takes a step when the margin is at most
# ``beta``. Word counts give whole numbers as margins, so a ``beta`` just below 1 is the same test. Vowpal Wabbit hashes
# words: with ``-b 24``, no two of them share a weight here. The option ``--max_prediction`` keeps it from cutting
# scores off.

plain = "--loss_function hinge --sgd -l 1 --power_t 0 -b 24 --min_prediction=-1000 --max_prediction 1000"
runs = {
    "vw, plain steps": vowpal_wabbit(plain),
    "Margin(beta=1)": ours(Perceptron(rule=Margin(beta=1 - 1e-6), readout="last")),
    "vw, default steps": vowpal_wabbit("--loss_function hinge"),
    "AROW()": ours(Perceptron(rule=AROW(), readout="last")),
}
for name, (mistakes, _) in runs.items():
    print(f"{name:18} {mistakes.sum():4} mistakes in {len(labels)} messages, {mistakes.mean():.1%}")
print(f"always the more frequent label: {min((labels == 1).mean(), (labels == -1).mean()):.1%}")
print("the first two learned the same weights:", runs["vw, plain steps"][1] == runs["Margin(beta=1)"][1])

# %%
# By default, Vowpal Wabbit adapts the step to each feature, so rare features move further. Rules with a covariance,
# such as :class:`~perceptrons.rules.AROW`, do the same in another way. The progressive error is the share of mistakes
# so far.

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
styles = [("#D55E00", "-", 4), ("#222222", ":", 2), ("#009E73", "--", 2), ("#0072B2", "-", 2)]
seen = np.arange(1, len(labels) + 1)
for (name, (mistakes, _)), (colour, style, width) in zip(runs.items(), styles, strict=True):
    axis.plot(seen, 100 * mistakes.cumsum() / seen, style, color=colour, linewidth=width, label=name)
axis.set(xscale="log", xlim=(30, len(labels)), ylim=(0, 50), xlabel="messages", ylabel="progressive error (%)")
axis.legend()

# %%
# The options and their names here
# --------------------------------
#
# ================================================  ====================================================================
# Vowpal Wabbit                                     here
# ================================================  ====================================================================
# ``--loss_function hinge --sgd -l 1 --power_t 0``  ``Perceptron(rule="margin", readout="last")``; ``rule__beta``
# ``-l``                                            ``eta0``
# ``--noconstant``                                  ``fit_intercept=False``
# ``--oaa k``                                       nothing to set: classes are learned together, and may be new
# ``-b``                                            nothing to set: features keep their names and are not hashed
# ``--passes 5 --holdout_off``                      ``fit`` with ``max_iter=5, tol=None``
# ``--l1``, ``--l2``                                no penalties; the mean of the weights, the default, is steadier
# ``--audit``, ``--invert_hash``                    ``explain_one``, ``feature_weights``
# ``-f``, ``-i``                                    :func:`~perceptrons.save`, :func:`~perceptrons.load`
# ``-d FILE``                                       ``perceptrons train FILE``
# ``--daemon``                                      ``perceptrons serve``
# ================================================  ====================================================================
#
# :doc:`/guides/streams` says more about learning one example at a time, and :doc:`/choose/rules` about rules.

plt.show()
