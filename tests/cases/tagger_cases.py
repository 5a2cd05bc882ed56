"""Data and helpers that the tests of `tagger` share."""

from pathlib import Path

import naive_sequences
import numpy as np
from naive_sequences import NaiveTagger

from perceptrons import SequenceTagger

WORDS = ["a", "b", "c", "d", "e"]
TAGS = ["D", "N", "V"]
CHUNKS = ["B-X", "I-X", "O"]
N = 16  # means of 16, 32 and 64 whole numbers are exact


def data(seed, labels=TAGS, scheme=None, n=N, longest=4):
    """Sequences of tokens with a few names, and labels that no hypothesis explains."""
    random = np.random.default_rng(seed)
    X, Y = [], []
    while len(X) < n:
        y = random.choice(labels, random.integers(0, longest + 1)).tolist()
        if naive_sequences.obeys(y, scheme):
            X.append([random.choice(WORDS, random.integers(1, 4), replace=False).tolist() for _ in y])
            Y.append(y)
    return X, Y


def numbered(X):
    """Tokens as the twin takes them."""
    return [[dict.fromkeys(token, 1) for token in x] for x in X]


def streaming(readout="averaged", scheme="auto"):
    """A tagger and its twin."""
    return SequenceTagger(rule="perceptron", readout=readout, scheme=scheme), NaiveTagger(scheme=scheme)


def state(model):
    """All that can be seen of a model."""
    return (
        (model.state_features_, model.transition_features_, model.start_features_, model.end_features_),
        (model.classes_, model.scheme_),
        (model.n_features_, model.n_seen_, model.n_mistakes_, model.n_updates_, model.margin_bound_),
    )


def assert_same(model, twin, Q):
    w = getattr(twin, model.readout)()
    assert model.state_features_ == {key[1:]: v for key, v in w.items() if key[0] == "feature" and v}
    steps = {key[1:]: v for key, v in w.items() if key[0] == "step" and v}
    starts = {("start", label): v for label, v in model.start_features_.items()}
    ends = {(label, "stop"): v for label, v in model.end_features_.items()}
    assert model.transition_features_ | starts | ends == steps
    classes = [label for label in twin.labels if label in twin.seen] if twin.scheme == "IOB1" else twin.labels
    assert model.classes_ == classes and model.scheme_ == twin.scheme
    assert (model.n_seen_, model.n_mistakes_) == (len(twin.after), sum(twin.mistakes))
    assert model.n_updates_ == twin.n_updates
    assert model.predict(Q) == twin.predict(numbered(Q), model.readout)


# -- schemes ----------------------------------------------------------------------------------------------------------

LEGAL = {
    "BIO": ["B-X", "B-Y-Z", "I-X", "I-Y-Z", "O"],
    "BILOU": ["B-X", "I-X", "L-X", "O", "U-X"],
    "BIOES": ["B", "E", "I", "O", "S"],
    "IOB1": ["B-X", "I-X", "I-Y-Z", "O"],
}


# -- refusals ---------------------------------------------------------------------------------------------------------

GOOD = [["a"], ["new"]]
REFUSED = {
    "lengths": ([GOOD, GOOD], [["O", "O"], ["O"]], "sequence 1 has 2 tokens in X and 1 labels"),
    "number": ([GOOD, GOOD], [["O", "O"]], "2 sequences"),
    "nan": ([[{"new": 1.0}, {"a": np.nan}]], [["O", "O"]], "sequence 0, token 1"),
    "infinity": ([[{"new": np.inf}]], [["O"]], "sequence 0, token 0"),
    "name": ([GOOD, [[3]]], [["O", "O"], ["O"]], "sequence 1, token 0"),
    "token": ([GOOD, [None]], [["O", "O"], ["O"]], "sequence 1, token 0"),
    "label": ([GOOD], [["O", None]], "labels"),
    "text": ([GOOD], ["OO"], "sequence 0 of y must be a list"),
    "scheme": ([GOOD], [["O", "I-X"]], "sequence 0 does not obey scheme='BIO': O I-X"),
    "no label of it": ([GOOD], [["O", "U-X"]], "sequence 0 does not obey"),
}


# -- size -------------------------------------------------------------------------------------------------------------


STATM = Path("/proc/self/statm")
