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


def naive_tfidf(texts, bits, first, left_out=()):
    """Values by the counts of the texts up to each, from the definition; and the counts in the end."""
    rows, n, d = [], 0, {}
    for i, text in enumerate(texts):
        counts = naive_counts(text, 1, bits, first)
        if i not in left_out:
            n += 1
            d |= {j: d.get(j, 0) + 1 for j in counts}
        values = {j: (1 + math.log(c)) * math.log((n + 1) / (d.get(j, 0) + 0.5)) for j, c in counts.items()}
        rows.append(of_length_1(values))
    return rows, n, d
