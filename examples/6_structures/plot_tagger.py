"""
Parts of speech
===============

Train a tagger on sentences from a small made-up language. You see how the error on new sentences falls in the first
passes, and how the tagger handles words that it has never seen.
"""

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import SequenceTagger

# %%
# A small language
# ----------------
# Nouns, verbs, adjectives and adverbs have a random stem and an ending. Some endings, and stems without one, occur in
# several kinds of words: only the neighbours tell which it is, and not always.

rng = np.random.default_rng(0)
stems = ["".join(rng.choice(list(part)) for part in ("bdfgklmprst", "aeiou", "bdglmnrst")) for _ in range(400)]
endings = {
    "NOUN": ["", "", "s", "er", "ing", "tion"],
    "VERB": ["", "", "s", "ed", "ing"],
    "ADJ": ["", "y", "ful", "ed"],
    "ADV": ["", "ly", "ly"],
}
closed = {"DET": ["the", "a", "no", "this"], "ADP": ["in", "on", "of", "with"], "PRON": ["she", "they", "we"]}
phrases = ["DET NOUN", "DET ADJ NOUN", "PRON", "DET NOUN ADP DET NOUN", "NOUN", "DET NOUN NOUN", "ADJ NOUN"]
actions = ["VERB", "VERB ADV", "ADV VERB", "VERB DET NOUN", "VERB ADJ NOUN", "VERB ADP DET ADJ NOUN", "VERB ADJ"]


def word(tag):
    """Make a word of this kind. Early stems are frequent."""
    if tag in closed:
        return str(rng.choice(closed[tag]))
    return stems[int(400 * rng.random() ** 2)] + str(rng.choice(endings[tag]))


def corpus(n):
    """Make sentences and their tags."""
    tags = [f"{rng.choice(phrases)} {rng.choice(actions)} PUNCT".split() for _ in range(n)]
    return [["." if tag == "PUNCT" else word(tag) for tag in sentence] for sentence in tags], tags


X, y = corpus(600)
X_test, y_test = corpus(500)
for sentence, tags in zip(X[1:4], y[1:4], strict=True):
    print(*(f"{token}/{tag}" for token, tag in zip(sentence, tags, strict=True)))

# %%
# Train
# -----
# Templates say what a tagger looks at: the word, its ending, its neighbours. :class:`~perceptrons.SequenceTagger`
# learns their weights together with those of a tag and the next one. With held-out sentences, it measures the error on
# them after each pass.

templates = ["word[0]", "word[0].suffix(2)", "word[0].suffix(3)", "word[-1]", "word[1]", "word[1].suffix(2)"]
tagger = SequenceTagger(templates, random_state=0).fit(X, y, X_test, y_test)
print(f"{tagger.n_features_:,} features, {tagger.n_iter_} passes, {tagger.n_updates_:,} updates")
print(f"training error {1 - tagger.score(X, y):.1%}, held-out error {1 - tagger.score(X_test, y_test):.1%}")

# %%
# How good is that? As a baseline, give each word its most frequent tag, and NOUN to unknown words.

counts = {}
for token, tag in zip(np.concatenate(X), np.concatenate(y), strict=True):
    counts.setdefault(token, []).append(tag)
usual = {token: max(sorted(set(tags)), key=tags.count) for token, tags in counts.items()}
tokens, truth = np.concatenate(X_test), np.concatenate(y_test)
unknown = np.array([token not in counts for token in tokens])
guesses = {
    "most frequent tag of the word": np.array([usual.get(token, "NOUN") for token in tokens]),
    "SequenceTagger, last weights": np.concatenate(SequenceTagger(templates, readout="last").fit(X, y).predict(X_test)),
    "SequenceTagger": np.concatenate(tagger.predict(X_test)),
}
print(f"{'held-out error':31}{'all words':>10}{'unknown words':>15}")
for name, guess in guesses.items():
    print(f"{name:31}{(guess != truth).mean():10.1%}{(guess != truth)[unknown].mean():15.1%}")

# %%
# The passes
# ----------

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained", width_ratios=[3, 2])
passes = np.arange(1, tagger.n_iter_ + 1)
left.plot(passes, 100 * tagger.token_mistakes_ / len(np.concatenate(X)), "s--", color="#D55E00", label="while learning")
left.plot(passes, 100 * tagger.validation_errors_, "o-", color="#0072B2", label="held out, averaged weights")
left.set(xlabel="pass", ylabel="tokens with a wrong tag (%)", ylim=(0, None), xticks=passes)
left.legend()
weights = [(weight, f"{name} → {tag}") for (name, tag), weight in tagger.state_features_.items() if "suffix" in name]
largest, names = zip(*sorted(weights)[-12:], strict=True)
right.barh(names, largest, color="#0072B2")
right.set(xlabel="weight", title="largest weights of endings")

# %%
# A new sentence
# --------------
# No word but "the" and "." is known. The best three taggings, with their scores:

for tags, score in tagger.predict_k_best([["the", "quibtion", "zorping", "blatly", "."]], k=3)[0]:
    print(f"{score:7.1f}  {' '.join(tags)}")

# %%
# More: :doc:`/guides/taggers`.

plt.show()
