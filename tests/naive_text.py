"""Features of texts, from their definition."""

import math
import re

from sklearn.utils import murmurhash3_32


def naive_words(text):
    return re.findall(rb"[0-9A-Za-z_\x80-\xff]+", text.encode().lower())


def naive_counts(text, ngrams, bits, first):
    """How often each feature occurs in a text, from the definition."""
    words, counts = naive_words(text), {}
    for n in range(1, ngrams + 1):
        for i in range(len(words) - n + 1):
            j = first + murmurhash3_32(b" ".join(words[i : i + n]), 0, positive=True) % 2**bits
            counts[j] = counts.get(j, 0) + 1
    return {j: counts[j] for j in sorted(counts)}


def of_length_1(values):
    length = sum(value**2 for value in values.values()) ** 0.5
    return {j: value / length for j, value in values.items()}


WEIGHTS = {"counts": lambda count: count, "binary": lambda count: 1.0, "tfidf": lambda count: 1 + math.log(count)}


def naive_rows(texts, ngrams, bits, first, weighting="counts"):
    """Features and values of each text, from the definition; of tfidf only the first factor."""
    counts = [naive_counts(text, ngrams, bits, first) for text in texts]
    return [of_length_1({j: WEIGHTS[weighting](count) for j, count in row.items()}) for row in counts]


def naive_tfidf(texts, bits, first, learned=None, running=False):
    """Values by the numbers of texts that have each word, from the definition; and these numbers.

    learned: the texts that are counted, by default all. running: each text is weighed by those before it and itself.
    """
    counts = [naive_counts(text, 1, bits, first) for text in texts]
    learned = range(len(texts)) if learned is None else learned
    rows, n, d = [], 0, {}
    for i, row in enumerate(counts):
        known = [k for k in learned if k <= i] if running else learned
        n = len(known)
        d = {}
        for k in known:
            d |= {j: d.get(j, 0) + 1 for j in counts[k]}
        values = {j: (1 + math.log(c)) * math.log((n + 1) / (d[j] + 0.5)) if j in d else 0.0 for j, c in row.items()}
        rows.append(of_length_1(values) if any(values.values()) else values)
    return rows, n, d
