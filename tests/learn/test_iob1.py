"""The codec of IOB1 does what the definition says, and loses nothing."""

from itertools import pairwise, product

import naive_sequences
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_sequences import converted, obeys
from token_cases import coded

from perceptrons.learn.sequence.iob1 import allowed_in, closed, decoded, encoded
from perceptrons.learn.sequence.labels import Labels
from perceptrons.learn.sequence.schemes import allowed

LABELS = ["B-A", "I-A", "B-B-C", "I-B-C", "B", "I", "O"]
SEQUENCES = st.lists(st.lists(st.sampled_from(LABELS), max_size=6), max_size=5)


def written(codes, names, bounds):
    flat = [names[code] for code in codes]
    return [flat[int(begin) : int(end)] for begin, end in pairwise(bounds)]


def there_and_back(sequences):
    """The sequences in BIO, and from there in IOB1."""
    codes, names, bounds = coded(sequences)
    inside = encoded(Labels(codes, names), bounds)
    outside = decoded(inside.codes, bounds, inside.names)
    return [written(each, inside.names, bounds) for each in (inside.codes, outside)]


@given(SEQUENCES)
def test_conversions_are_those_of_the_definition(sequences):
    """Whatever the labels, also if they are neither IOB1 nor BIO; entities stay what they are."""
    bio, iob1 = there_and_back(sequences)
    assert bio == [converted(y, "BIO") for y in sequences]
    assert iob1 == [converted(y, "IOB1") for y in sequences]
    for y, first, second in zip(sequences, bio, iob1, strict=True):
        assert obeys(first, "BIO") and obeys(second, "IOB1")
        assert naive_sequences.entities(y) == naive_sequences.entities(first) == naive_sequences.entities(second)


def test_nothing_is_lost():
    """IOB1 → BIO → IOB1 and BIO → IOB1 → BIO are the identity on all legal sequences of up to four labels."""
    every = [list(y) for n in range(5) for y in product(["B-A", "I-A", "I-C", "B-C", "O"], repeat=n)]
    iob1, bio = ([y for y in every if obeys(y, scheme)] for scheme in ("IOB1", "BIO"))
    assert there_and_back(iob1)[1] == iob1
    assert there_and_back(bio)[0] == bio
    assert sorted(there_and_back(iob1)[0]) == sorted(bio)  # one to one


def test_labels_of_no_entity_stay():
    y = [["I-A", "NN", "I-A", "S-A", "B-A"]]
    bio, iob1 = there_and_back(y)
    assert bio == [["B-A", "NN", "B-A", "S-A", "B-A"]] and iob1 == [["I-A", "NN", "I-A", "S-A", "I-A"]]
    names = closed(["I-A"])
    unknown = np.array([2, 0, 2], dtype=np.uint32)  # 2 is no label
    assert decoded(unknown, np.array([0, 3], dtype=np.uint64), names).tolist() == [2, 1, 2]


@pytest.mark.parametrize("touching", [(), ("B-A",), ("B-A", "B-C")])
def test_only_labels_that_were_seen_are_found(touching):
    """The search allows exactly the BIO of legal IOB1 with labels that were seen."""
    names = closed(["I-A", "I-C", "O"])
    start, follows, stop = allowed_in(names, "IOB1", touching)
    seen = {"I-A", "I-C", "O", *touching}
    for n in (1, 2, 3):
        for y in product(range(len(names)), repeat=n):
            labels = [names[code] for code in y]
            legal = obeys(labels, "BIO") and {*converted(labels, "IOB1")} <= seen
            assert (start[y[0]] and stop[y[-1]] and all(follows[y[t - 1], y[t]] for t in range(1, n))) == legal
    np.testing.assert_array_equal(allowed_in(names, "BIO", ()).transition, allowed(names, "BIO").transition)
