"""
Labels that must not follow each other
======================================

Names in sentences are labelled B (first word), I (a further word) and O (no name). You see which steps from one label
to the next the scheme forbids, which weights are learned for the others, and what the scheme saves on new sentences.
"""

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import SequenceTagger

# %%
# Sentences with names
# --------------------
# People, towns and firms have names of one to four words. Most of these words are new in each sentence. Only the words
# around a name, and some words in it, tell its kind.

rng = np.random.default_rng(0)
first = {"PER": ["Ada", "Max", "Eva", "Tom"], "LOC": ["New", "Port", "Saint"], "ORG": ["First", "United", "Royal"]}
last = {"PER": ["Jr", "Smith"], "LOC": ["Bridge", "Falls", "Hill"], "ORG": ["Bank", "Ltd", "Brothers"]}
frames = ["{PER} left {LOC}", "{PER} of {ORG} met {PER}", "he works for {ORG} in {LOC}", "{ORG} of {LOC} bought {ORG}"]
frames += ["she saw {PER} and {LOC}", "{LOC} is far from {LOC}", "yesterday {PER} {ORG} and {LOC} agreed"]


def name(kind):
    """Make a name: one or two random words, at times with a word that is typical of its kind."""
    found = ["".join(rng.choice(list(part)) for part in ("BDGKLMNR", "aeiou", "bdglmnrst", "aeio")) for _ in range(2)]
    found = found[: rng.integers(1, 3)]
    return (
        [str(rng.choice(first[kind]))] * (rng.random() < 0.4)
        + found
        + [str(rng.choice(last[kind]))] * (rng.random() < 0.4)
    )


def corpus(n):
    """Make sentences and their labels."""
    X, y = [], []
    for frame in rng.choice(frames, n):
        words, labels = [], []
        for part in frame.split():
            found = name(part[1:4]) if part[0] == "{" else [part]
            words += found
            labels += [f"B-{part[1:4]}"] + [f"I-{part[1:4]}"] * (len(found) - 1) if part[0] == "{" else ["O"]
        X.append(words)
        y.append(labels)
    return X, y


corpora = [corpus(80) for _ in range(10)]
X_test, y_test = corpus(1000)
X, y = corpora[0]
for word, label in zip(X[1], y[1], strict=True):
    print(f"{word:10} {label}")

# %%
# With the scheme and without
# ---------------------------
# :class:`~perceptrons.SequenceTagger` finds out that the labels obey BIO, and then never predicts what BIO forbids.
# ``scheme=None`` turns that off. With ``order=0``, a label does not depend on the one before, so nothing but the
# scheme keeps labels in order. A name counts as found if both its ends and its kind are right. The
# numbers are means over ten sets of 80 training sentences, and ± is the standard deviation between them.

templates = ["word[0]", "word[-1]", "word[1]", "word[0].shape()", "word[-1].shape()"]


def forbidden(labellings):
    """Count labels I that do not continue a name of their kind."""
    steps = [(a, b) for labels in labellings for a, b in pairwise(["O", *labels])]
    return sum(b[0] == "I" and a[1:] != b[1:] for a, b in steps)


taggers = {}
print(f"{'':21}{'training error':>15}{'held-out error':>16}{'F1 of names':>16}{'forbidden steps':>17}")
for order in (0, 1):
    for scheme in (None, "BIO"):
        found = []
        for X_train, y_train in corpora:
            tagger = SequenceTagger(templates, order=order, scheme=scheme).fit(X_train, y_train)
            report, steps = tagger.report(X_test, y_test), forbidden(tagger.predict(X_test))
            found.append((1 - tagger.score(X_train, y_train), 1 - report.token_accuracy, report.micro.f1, steps))
            taggers.setdefault((order, scheme), tagger)
        (training, held_out, f1, steps), spread = np.mean(found, axis=0), np.std(found, axis=0)[2]
        numbers = f"{training:15.1%}{held_out:16.1%}{f1:8.3f} ± {spread:.3f}{steps:17.0f}"
        print(f"order={order}, scheme={scheme or 'None':5}{numbers}")
print(f"always O: held-out error {np.mean(np.concatenate(y_test) != 'O'):.1%}, F1 of names 0")

# %%
# With ``order=0``, the scheme is worth a lot. With ``order=1``, the weights of steps do most of its work, and F1 is
# about the same with it and without it. But only the scheme makes sure that no forbidden step is left. A program that
# reads the labels may rely on that.
#
# By kind of name
# ---------------
# The tagger of the first set, with the scheme:

print(taggers[1, "BIO"].report(X_test, y_test))

# %%
# The weights of the steps
# ------------------------
# Each cell is the weight of a step from a label to the next. The scheme forbids the cells with a cross: no weight could
# allow them.

shown = {"None": taggers[1, None], "BIO": taggers[1, "BIO"]}
figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.4), layout="constrained", sharey=True)
labels = taggers[1, "BIO"].classes_
largest = max(abs(weight) for tagger in shown.values() for weight in tagger.transition_features_.values())
for axis, (title, tagger) in zip(axes, shown.items(), strict=True):
    weights = np.array([[tagger.transition_features_.get((a, b), 0.0) for b in labels] for a in labels])
    image = axis.imshow(weights, cmap="RdBu", vmin=-largest, vmax=largest)
    axis.set_xticks(range(len(labels)), labels, rotation=45)
    axis.set_yticks(range(len(labels)), labels)
    axis.set(title=f"scheme={title}", xlabel="next label")
    if title == "BIO":
        crosses = [(j, i) for i, a in enumerate(labels) for j, b in enumerate(labels) if b[0] == "I" and a[1:] != b[1:]]
        axis.plot(*zip(*crosses, strict=True), "x", color="#222222")
axes[0].set(ylabel="label")
figure.colorbar(image, ax=axes, label="weight")

# %%
# More: :doc:`/guides/taggers`.

plt.show()
