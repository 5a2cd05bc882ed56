"""
Features and classes that appear late
=====================================

Support tickets arrive as dicts. New words, a new kind of ticket and a new field turn up in the middle of the stream,
and the model makes room for them. You see what it has learned about each, and why it decided as it did.
"""

from collections import Counter

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import Perceptron

# %%
# The stream
# ----------
# A ticket has a few words and the plan of the customer. From ticket 1000 on, there is an app, with words of its own and
# a new class ``"app"``. A number is the value of a feature. Text is a category: ``"plan": "free"`` is
# the feature ``plan=free``.

rng = np.random.default_rng(0)
words = {
    "billing": ["invoice", "refund", "card", "price", "tax"],
    "login": ["password", "reset", "locked", "email", "code"],
    "app": ["crash", "update", "android", "screen", "password"],
}
common = ["please", "help", "my", "account", "today", "not", "working", "thanks"]


def ticket(i):
    """Make one ticket and its class."""
    kind = rng.choice(["billing", "login", "app"] if i >= 1000 else ["billing", "login"])
    topic = kind if rng.random() > 0.1 else rng.choice(["billing", "login"])  # some tickets are off topic
    drawn = [*rng.choice(words[topic], 2), *rng.choice(common, 4)]
    x = {word: drawn.count(word) for word in drawn}
    x["plan"] = str(rng.choice(["free", "paid"], p=[0.2, 0.8] if kind == "billing" else [0.7, 0.3]))
    if i >= 1000:
        x["minutes in the app"] = float(rng.exponential(3.0 if kind == "app" else 0.5))
    return x, str(kind)


# %%
# Learn
# -----
# Nothing is declared beforehand. :meth:`~perceptrons.Perceptron.learn_one` makes room for a feature or a class when it
# first appears. The last weights follow a change at once; their mean, the default, would take longer.

model = Perceptron(rule="arow", readout="last")
wrong, dull, known, kinds = [], [], [], Counter()
for i in range(2000):
    x, kind = ticket(i)
    wrong.append(model.predict_one(x) != kind)
    model.learn_one(x, kind)
    dull.append(kind != max(kinds, key=kinds.get, default=None))  # always the most frequent class so far
    kinds[kind] += 1
    known.append((model.n_features_in_, len(model.classes_)))
    if i in (0, 1, 999, 1050):
        print(f"after ticket {i:4}: {known[-1][0]:2} features, classes {model.classes_.tolist()}")
for name, found in {"the model": wrong, "always the most frequent class": dull}.items():
    print(f"{name}: wrong in {np.mean(found[:1000]):.1%} of the first 1000 and {np.mean(found[1000:]):.1%} of the rest")

# %%
# What happened when the app came
# -------------------------------
# The dotted line marks ticket 1000. The model is wrong more often for a while, until it has learned the new class.

figure, (above, below) = plt.subplots(2, sharex=True, figsize=(7, 5), layout="constrained")
above.plot(np.arange(99, 2000), np.convolve(wrong, np.ones(100), "valid"), color="#D55E00")
above.set(ylabel="wrong, of the last 100", ylim=(0, None))
below.plot([features for features, _ in known], color="#0072B2", label="features")
below.plot([classes for _, classes in known], color="#009E73", label="classes")
below.set(xlabel="tickets", ylabel="known", ylim=(0, None), xlim=(0, 2000))
below.legend()
for axis in (above, below):
    axis.axvline(1000, color="#222222", linestyle=":")

# %%
# Why this class?
# ---------------
# :meth:`~perceptrons.Perceptron.explain_one` lists what each feature adds to the score. With three classes, it compares
# the predicted one with the runner-up. Features that the model has never seen add nothing.

late = {"crash": 1, "password": 1, "please": 1, "plan": "free", "minutes in the app": 4.0, "holograms": 1}
explained = model.explain_one(late)
print(explained)
print("unknown:", explained.unknown)

# %%
# More: :doc:`/guides/streams`.

plt.show()
