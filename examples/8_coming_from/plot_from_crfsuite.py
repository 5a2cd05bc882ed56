"""
Coming from sklearn-crfsuite
============================

Train ``sklearn_crfsuite.CRF`` and :class:`~perceptrons.SequenceTagger` on the same dicts of features. The calls are the
same. You see how many names both find in new sentences, and how fast, and what the tagger adds.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn_crfsuite import CRF

from perceptrons import SequenceTagger

# %%
# Sentences with names
# --------------------
# Names of people, towns and firms have one or two new words, and at times a word that is typical of their kind. The
# words around them tell something, too.

rng = np.random.default_rng(0)
first = {"PER": ["Ada", "Max", "Eva", "Tom"], "LOC": ["New", "Port", "Saint"], "ORG": ["First", "United", "Royal"]}
last = {"PER": ["Jr", "Smith"], "LOC": ["Bridge", "Falls", "Hill"], "ORG": ["Bank", "Ltd", "Brothers"]}
frames = ["{PER} left {LOC}", "{PER} of {ORG} met {PER}", "he works for {ORG} in {LOC}", "{ORG} of {LOC} bought {ORG}"]
frames += ["she saw {PER} and {LOC}", "{LOC} is far from {LOC}", "yesterday {PER} {ORG} and {LOC} agreed"]


def name(kind):
    """Make a name."""
    parts = [str(rng.choice(first[kind]))] * (rng.random() < 0.4)
    parts += ["".join(rng.choice(list(letters)) for letters in ("BDGKLMNR", "aeiou", "bdglmnrst")) for _ in range(2)]
    return parts[: len(parts) - int(rng.random() < 0.5)] + [str(rng.choice(last[kind]))] * (rng.random() < 0.4)


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


# %%
# Features as in crfsuite
# -----------------------
# A token is a dict: numbers are values, text is a category, and True counts as 1. Both libraries read the same dicts.


def token(words, i):
    """Describe one token of a sentence."""
    features = {"bias": 1.0, "word": words[i], "title": words[i].istitle(), "ending": words[i][-2:]}
    features["before"] = words[i - 1] if i > 0 else "BOS"
    features["after"] = words[i + 1] if i + 1 < len(words) else "EOS"
    return features


words, y = corpus(400)
words_test, y_test = corpus(1000)
X = [[token(sentence, i) for i in range(len(sentence))] for sentence in words]
X_test = [[token(sentence, i) for i in range(len(sentence))] for sentence in words_test]
print(X[0][0], y[0][0])

# %%
# Side by side
# ------------
# ``lbfgs`` trains a conditional random field, which gives probabilities. ``ap`` is crfsuite's own averaged perceptron.
# Ten passes over the data are the default of the tagger. The result of a perceptron depends on the order of the
# sentences, so its scores are means of five runs. A name counts as found if both its ends and its kind are right.

makers = {
    "CRF, lbfgs": lambda run: CRF(algorithm="lbfgs", c1=0.1, c2=0.1, max_iterations=100),
    "CRF, ap": lambda run: CRF(algorithm="ap", max_iterations=10),
    "SequenceTagger": lambda run: SequenceTagger(random_state=run),
}


def names(labellings):
    """List the names: sentence, first and last token, and kind."""
    found = set()
    for number, labels in enumerate(labellings):
        for i, label in enumerate(labels):
            if label[0] == "B" or (label[0] == "I" and (i == 0 or labels[i - 1][1:] != label[1:])):
                begin = i
            if label != "O" and (i + 1 == len(labels) or labels[i + 1] != f"I-{label[2:]}"):
                found.add((number, begin, i, label[2:]))
    return found


def f1(found, right):
    """Compute F1 of names."""
    return 2 * len(names(found) & names(right)) / (len(names(found)) + len(names(right)))


makers["SequenceTagger"](0).fit(X[:10], y[:10])  # code is loaded, once
sizes, scores = (25, 50, 100, 200, 400), {}
print(f"{'400 sentences':16}{'training F1':>12}{'held-out F1':>13}{'seconds':>9}")
for title, make in makers.items():
    scores[title] = []
    for n in sizes:
        found = []
        for run in range(1 if "lbfgs" in title else 5):
            begin = time.perf_counter()
            model = make(run).fit(X[:n], y[:n])
            took = time.perf_counter() - begin
            found.append((f1(model.predict(X[:n]), y[:n]), f1(model.predict(X_test), y_test), took))
        scores[title].append(np.mean(found, axis=0))
    training, held_out, seconds = scores[title][-1]
    print(f"{title:16}{training:12.3f}{held_out:13.3f}{seconds:9.3f}")

# %%
# With few sentences, the CRF is ahead on these data. With more, the difference becomes small. The seconds are those of
# one run, on whatever machine made this page.

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
styles = [("s--", "#D55E00"), ("^:", "#009E73"), ("o-", "#0072B2")]
for (title, found), (style, colour) in zip(scores.items(), styles, strict=True):
    axis.plot(sizes, [held_out for _, held_out, _ in found], style, color=colour, label=title)
axis.set(xscale="log", xlabel="training sentences", ylabel="held-out F1 of names")
axis.set_xticks(sizes, sizes)
axis.minorticks_off()
axis.legend()

# %%
# What is new
# -----------
# The tagger recognises the scheme of the labels and never predicts what it forbids, such as I-PER after B-LOC. It goes
# on learning with ``partial_fit``, where a CRF starts again. And templates make features from plain words, so you
# need no function like ``token``.

tagger = SequenceTagger(["word[0]", "word[-1]", "word[1]", "word[0].suffix(2)", "word[0].is_title()"])
tagger.fit(words, y)
print("scheme:", tagger.scheme_)
print(tagger.report(words_test, y_test))
training, held_out = 1 - tagger.score(words, y), 1 - tagger.score(words_test, y_test)
print(f"tokens with a wrong label: training error {training:.1%}, held-out error {held_out:.1%}")
tagger.partial_fit([["Zed", "slept", "in", "Zurich"]], [["B-PER", "O", "O", "B-LOC"]])
print(tagger.predict([["Zed", "works", "in", "Zurich"]])[0])

# %%
# ===================================  =============================================================
# sklearn_crfsuite.CRF                 SequenceTagger
# ===================================  =============================================================
# ``fit``, ``predict``, ``score``      the same
# ``fit(X, y, X_dev, y_dev)``          the same, and ``validation_errors_`` has the error of each pass
# ``predict_single``                   the same
# ``predict_marginals``                none: a perceptron has no probabilities; ``predict_k_best``
# ``classes_``, ``attributes_``        the same
# ``state_features_``                  the same
# ``transition_features_``             the same
# ``c1``, ``c2``                       none: averaging keeps weights steady
# ``algorithm="ap"``                   ``rule="perceptron"``, the default
# ``algorithm="pa"``                   ``rule="pa1"``
# ``algorithm="arow"``                 none
# ===================================  =============================================================
#
# More: :doc:`/guides/taggers`.

plt.show()
