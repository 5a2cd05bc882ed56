"""Schemes allow the sequences of labels that their definitions allow."""

from itertools import pairwise, product

import naive_sequences
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from token_cases import LABELS, coded

from perceptrons.learn.sequence.schemes import SCHEMES, allowed, obeys, parts, recognised


@pytest.mark.parametrize("scheme", SCHEMES)
def test_legal_sequences_are_those_of_the_definition(scheme):
    """All sequences of up to three labels."""
    labels = [*(f"{prefix}-X" for prefix in "BILUES"), "B-Y-Z", "I-Y-Z", "B", "I", "L", "O", "NN"]
    sequences = [list(y) for length in (0, 1, 2, 3) for y in product(labels, repeat=length)]
    codes, names, bounds = coded(sequences)
    expected = [naive_sequences.obeys(y, scheme) for y in sequences]
    np.testing.assert_array_equal(obeys(codes, bounds, names, scheme), expected)
    assert obeys(codes[:0], bounds[:1], names, scheme).shape == (0,)
    start, transition, stop = allowed(names, scheme)
    for y, legal in zip(sequences, expected, strict=True):
        numbers = [names.index(label) for label in y]
        steps = all(transition[a, b] for a, b in pairwise(numbers))
        assert (not y or (start[numbers[0]] and steps and stop[numbers[-1]])) == legal


@settings(max_examples=50)
@given(st.lists(st.lists(st.sampled_from(LABELS), max_size=4), max_size=4))
def test_the_first_scheme_that_all_obey_is_recognised(sequences):
    legal = [s for s in SCHEMES if all(naive_sequences.obeys(y, s) for y in sequences)]
    begins = any(label[0] in "BIUS" for y in sequences for label in y)
    codes, labels, bounds = coded(sequences)
    assert recognised(codes, bounds, labels) == (legal[0] if legal and begins else None)


@pytest.mark.parametrize(
    ("sequences", "scheme"),
    [
        ([["B-X", "I-X", "O"], []], "BIO"),
        ([["B-X", "L-X", "O"]], "BILOU"),
        ([["S", "O", "B", "I", "E"]], "BIOES"),
        ([["B-X", "I-Y"]], None),
        ([["B-X", "L-X"], ["S-X"]], None),
        ([["I-X", "O"]], "IOB1"),
        ([["I-X", "B-X", "I-Y"], ["O"]], "IOB1"),
        ([["I-X", "O", "B-X"]], None),
        ([["I-X", "O"], ["B-X", "O"]], None),
        ([["O", "O"]], None),
        ([["B", "NN"]], None),
        ([], None),
    ],
)
def test_what_is_recognised(sequences, scheme):
    codes, labels, bounds = coded(sequences)
    assert recognised(codes, bounds, labels) == scheme


def test_schemes_that_are_not_known_are_refused():
    with pytest.raises(ValueError, match="scheme must be one of 'BIO', 'BILOU', 'BIOES', 'IOB1', got 'IOE1'"):
        allowed(["O"], "IOE1")


def test_labels_need_not_be_text():
    assert parts(3) == ("", "3")
    codes, bounds = np.array([0, 1], dtype=np.uint32), np.array([0, 2], dtype=np.uint64)
    assert recognised(codes, bounds, [3, None]) is None
