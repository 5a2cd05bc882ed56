"""
Trees over sentences
====================

A dependency parser finds for each word the word that it belongs to. You see how many heads it gets right in new
sentences, and the trees that it draws over them.
"""

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.patches import Arc

from perceptrons import StructuredPerceptron
from perceptrons.structures import ProjectiveParsing

# %%
# Sentences and trees
# -------------------
# Subject, verb and object, with adjectives, adverbs and prepositional phrases. Where does the phrase belong? "of"
# belongs to the noun before it, and "with" to the verb. "in" belongs to verbs of placing, such as "hid", and otherwise
# to the noun. The parser must learn that from the trees. A tree is a list of heads: the number of the word that each
# word depends on, counted from 1, and 0 for the verb.

rng = np.random.default_rng(0)
nouns = ["dog", "garden", "house", "scarf", "friend", "girl", "tree", "hat", "hammer", "box", "park", "boat"]
placing, others = ["put", "hid", "laid", "left", "threw"], ["saw", "hit", "liked", "heard", "drew"]


def noun_phrase(words, noun):
    """Append a noun phrase whose words depend on the noun; return the number of the noun."""
    before = ["the/D"] + ["old/A"] * int(rng.random() < 0.3)
    number = len(words) + len(before) + 1
    words += [(word, number) for word in before] + [(f"{noun}/N", None)]
    return number


def sentence():
    """Make a sentence, a list of (word, tag), and its tree."""
    words = []
    subject = noun_phrase(words, rng.choice(nouns))
    if rng.random() < 0.3:
        words.append((f"{rng.choice(['soon', 'often'])}/R", len(words) + 2))
    action, preposition = rng.choice(placing + others), rng.choice(["of", "with", "in"])
    words.append((f"{action}/V", 0))
    verb = len(words)
    target = noun_phrase(words, rng.choice(nouns))
    if rng.random() < 0.8:
        to_verb = preposition == "with" or (preposition == "in" and action in placing)
        words.append((f"{preposition}/P", verb if to_verb else target))
        at, noun = len(words), rng.choice(nouns)
        words[noun_phrase(words, noun) - 1] = (f"{noun}/N", at)
    words[subject - 1], words[target - 1] = (words[subject - 1][0], verb), (words[target - 1][0], verb)
    return [tuple(word.split("/")) for word, _ in words], [head for _, head in words]


X, Y = map(list, zip(*(sentence() for _ in range(300)), strict=True))
X_test, Y_test = map(list, zip(*(sentence() for _ in range(200)), strict=True))
print(X[2])
print(Y[2])

# %%
# Train
# -----
# :class:`~perceptrons.structures.ProjectiveParsing` scores a tree by its arcs, and searches all trees without crossing
# arcs. :class:`~perceptrons.StructuredPerceptron` learns the weights: when the best tree is not the right one, it steps
# from the wrong tree towards the right one.


def wrong_heads(trees, right):
    """Compute the share of words with a wrong head."""
    return np.mean(np.concatenate(trees) != np.concatenate(right))


print(f"{'sentences':>9}{'passes':>8}{'training error':>16}{'held-out error':>16}")
for n in (10, 30, 100, 300):
    parser = StructuredPerceptron(ProjectiveParsing(2**16), random_state=0).fit(X[:n], Y[:n])
    training, held_out = wrong_heads(parser.predict(X[:n]), Y[:n]), wrong_heads(parser.predict(X_test), Y_test)
    print(f"{n:9}{parser.n_iter_:8}{training:16.1%}{held_out:16.1%}")
next_word = [[*range(2, len(x) + 1), 0] for x in X_test]
print(f"always the next word: {wrong_heads(next_word, Y_test):.1%}")

# %%
# The trees
# ---------
# The parser that learned from ten sentences, and the last one, on the same new sentence. Arcs go from a head to the
# words that depend on it. The vertical line marks the word that depends on none. A wrong arc is orange.


def draw(axis, x, heads, right, title):
    """Draw a tree above its words."""
    for word, (head, true) in enumerate(zip(heads, right, strict=True), 1):
        colour = "#0072B2" if head == true else "#D55E00"
        axis.plot(word, 0.06, "v", color=colour, markersize=7)
        if head == 0:
            axis.vlines(word, 0, 2.4, color=colour, lw=1.8)
            continue
        width = abs(head - word)
        axis.add_patch(Arc(((head + word) / 2, 0), width, 0.9 * width**0.8, theta1=0, theta2=180, color=colour, lw=1.8))
    for number, (text, tag) in enumerate(x, 1):
        axis.text(number, -0.15, f"{text}\n{tag}", ha="center", va="top")
    axis.set(xlim=(0.4, len(x) + 0.6), ylim=(-0.8, 2.5), title=title)
    axis.axis("off")


small = StructuredPerceptron(ProjectiveParsing(2**16), random_state=0).fit(X[:10], Y[:10])
both = zip(X_test, Y_test, small.predict(X_test), parser.predict(X_test), strict=True)
x, right, first, last = next(each for each in both if each[1] != each[2] and each[1] == each[3])
figure, axes = plt.subplots(2, 1, figsize=(8, 5.6), layout="constrained")
draw(axes[0], x, first, right, "after 10 sentences")
draw(axes[1], x, last, right, "after 300 sentences")

# %%
# More: :doc:`/guides/structures`.

plt.show()
