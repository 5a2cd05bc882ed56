"""
A kernel of your own
====================

A kernel says how similar two things are. You see two that are not built in: one for hours of the day, where 23 and 1
are close to each other, and one for words.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.preprocessing import normalize

from perceptrons import KernelPerceptron
from perceptrons.theory import separability

# %%
# Hours: a function of two matrices
# ---------------------------------
# The kernel can be a function. It gets two matrices of rows and returns the matrix of their similarities. Here each row
# has one number, the hour, and the clock goes round. The class is "night", from 22 to 6. One label in twenty is
# wrong, so training does not converge, and the program ignores the warning that says so.

warnings.simplefilter("ignore", ConvergenceWarning)
rng = np.random.default_rng(0)


def clock(A, B):
    """A similarity of hours: large if they are close to each other on the clock."""
    return np.exp(np.cos(2 * np.pi * (A - B.T) / 24))


def hours(n, share_wrong):
    """Hours of the day, and whether it is night."""
    X = rng.uniform(0, 24, size=(n, 1))
    night = (X[:, 0] >= 22) | (X[:, 0] < 6)
    return X, night ^ (rng.random(n) < share_wrong)


X, y = hours(100, share_wrong=0.05)
X_test, y_test = hours(5000, share_wrong=0.0)
print(f"baseline (always day): held-out error {y_test.mean():.1%}")
for kernel in ("linear", "rbf", clock):
    model = KernelPerceptron(kernel=kernel).fit(X, y)
    name = kernel if isinstance(kernel, str) else kernel.__name__
    print(
        f"{name:8} training error {1 - model.score(X, y):5.1%}, held-out error {1 - model.score(X_test, y_test):5.1%}"
    )

# %%
# The Gaussian kernel does well, too: it learns the two ends of the day separately. For the clock, the night is one
# piece. The picture shows the last model. Blue is night.

angle = np.linspace(0, 2 * np.pi, 481)
night = model.predict(24 * angle[:, np.newaxis] / (2 * np.pi))
figure, axis = plt.subplots(figsize=(4.8, 4.8), subplot_kw={"projection": "polar"}, layout="constrained")
axis.set_theta_zero_location("N")
axis.set_theta_direction(-1)
for label, colour in ((False, "#D55E00"), (True, "#0072B2")):
    axis.scatter(2 * np.pi * X[y == label, 0] / 24, rng.uniform(0.55, 0.85, np.sum(y == label)), s=18, color=colour)
axis.scatter(angle, np.ones_like(angle), s=12, color=np.where(night, "#0072B2", "#D55E00"))
axis.set(ylim=(0, 1.05), yticks=[], title="labels (points) and predictions (ring)")
axis.set_xticks(np.arange(0, 24, 3) * 2 * np.pi / 24, [f"{hour} h" for hour in range(0, 24, 3)])

# %%
# Words: a matrix of similarities
# -------------------------------
# The program invents two languages. Both use all letters equally often, but differ in which letters follow which.
# Which language is a word from?

LETTERS = np.array(list("aeioklmnrst"))


def grammar():
    """How often each letter follows each letter. Rows and columns sum to 1, so all letters are equally frequent."""
    likely = np.mean([np.eye(len(LETTERS))[rng.permutation(len(LETTERS))] for _ in range(4)], axis=0)
    return 0.7 * likely + 0.3 / len(LETTERS)


def word(follows):
    """A word of five to ten letters."""
    letters = [rng.integers(len(LETTERS))]
    for _ in range(rng.integers(4, 10)):
        letters.append(rng.choice(len(LETTERS), p=follows[letters[-1]]))
    return "".join(LETTERS[letters])


languages = grammar(), grammar()
y = np.sort(rng.integers(2, size=300))
y_test = rng.integers(2, size=1000)
words, new = [word(languages[label]) for label in y], [word(languages[label]) for label in y_test]
for label in (0, 1):
    print(f"language {label}:", *[text for text, of in zip(words, y, strict=True) if of == label][:7])

# %%
# Two words are similar if they share pieces of k letters. With ``kernel="precomputed"``,
# :meth:`~perceptrons.KernelPerceptron.fit` takes the matrix of all similarities instead of rows. ``predict`` takes the
# similarities of new words with the training words. So the objects need not be rows. The kernel must be an inner
# product of some features. Here the features are counts of pieces, scaled to length 1, so each word has the similarity
# 1 with itself.


def similarities(first, second, k):
    """Compare the pieces of k letters in each word of the first list with those in each word of the second."""
    counter = CountVectorizer(analyzer="char", ngram_range=(k, k)).fit(second)
    pieces = [normalize(counter.transform(texts).astype(float)) for texts in (first, second)]
    return (pieces[0] @ pieces[1].T).toarray()


print(f"baseline: held-out error {min(y_test.mean(), 1 - y_test.mean()):.1%}")
sizes, errors = (1, 2, 3, 4), []
for k in sizes:
    K, K_new = similarities(words, words, k), similarities(new, words, k)
    model = KernelPerceptron(kernel="precomputed").fit(K, y)
    errors.append((100 * (1 - model.score(K, y)), 100 * (1 - model.score(K_new, y_test))))
    print(f"pieces of {k}: training error {errors[-1][0]:4.1f}%, held-out error {errors[-1][1]:4.1f}%", end=", ")
    print("separable" if separability(K=K, y=y).separable else "not separable")

# %%
# Single letters say little about the language. Pieces of two letters are best. Longer pieces separate the training
# words, too, but new words share few of them. The left picture shows the similarities of the training words, sorted by
# language.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
image = left.imshow(similarities(words, words, 2), cmap="Blues", vmax=0.5)
left.axhline(np.sum(y == 0) - 0.5, color="#D55E00")
left.axvline(np.sum(y == 0) - 0.5, color="#D55E00")
left.set(title="similarity, pieces of 2 letters", xlabel="word", ylabel="word")
figure.colorbar(image, ax=left, shrink=0.8)
trained, held_out = np.transpose(errors)
right.plot(sizes, trained, "s--", color="#D55E00", label="training error")
right.plot(sizes, held_out, "o-", color="#0072B2", label="held-out error")
right.set(xlabel="letters in a piece", ylabel="error (%)", xticks=sizes, ylim=(-1, None))
right.legend()

# %%
# :doc:`/choose/kernels` lists the kernels that are built in.

plt.show()
