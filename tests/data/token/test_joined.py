"""Joined vocabularies are those of a serial read: the same features, numbers and values, in the same order."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from token_cases import COLUMNS, TEXTS

from perceptrons.data import DataError, Tokens
from perceptrons.data.token.vocabulary import NameVocabulary, TemplateVocabulary, joined

WORDS = st.sampled_from(["the", "The-1", "", "x", "_B-1", "Äß9"])
PARTS = st.lists(st.lists(st.lists(st.tuples(*[WORDS] * 4), max_size=5), max_size=3), min_size=1, max_size=4)
TEMPLATES = st.lists(TEXTS, min_size=1, max_size=5, unique=True)
KEYS = st.sampled_from(["a", "b", "c", "", "a:b"])
TOKENS = st.one_of(
    st.dictionaries(KEYS, st.one_of(KEYS, st.booleans(), st.sampled_from([0, 2.5]), st.sets(KEYS)), max_size=3),
    st.lists(KEYS, max_size=3),
)


def check(make, parts):
    """Read parts by vocabularies of their own, and all by one; `parts` have what vocabularies read."""
    serial, own = make(), [make() for _ in parts]
    expected = [serial.sequences(part, grow=True) for part in parts]
    found = [vocabulary.sequences(part, grow=True) for vocabulary, part in zip(own, parts, strict=True)]
    states = [vocabulary.state() for vocabulary in own]
    whole, numbers = joined(states)
    for mine, its in zip(whole.state(), serial.state(), strict=True):
        assert list(mine) == list(its)
        for name in mine:
            np.testing.assert_array_equal(mine[name], its[name])
    for rows, right, number in zip(found, expected, numbers, strict=True):
        assert number.dtype == np.uint32
        np.testing.assert_array_equal(number[rows.indices], right.indices)
    # The joined vocabulary reads and grows like the serial one, and the states are as before.
    for part in (*parts, parts[0]):
        np.testing.assert_array_equal(whole.sequences(part, grow=False).indices, serial.sequences(part, False).indices)
    for vocabulary, state in zip(own, states, strict=True):
        assert all(np.array_equal(vocabulary.state()[2][name], state[2][name]) for name in state[2])
    return whole


@settings(max_examples=60)
@given(PARTS, TEMPLATES)
def test_templates(parts, templates):
    check(lambda: TemplateVocabulary(templates), [Tokens.of(part, COLUMNS) for part in parts])


@settings(max_examples=60)
@given(st.lists(st.lists(st.lists(TOKENS, max_size=3), max_size=3), min_size=1, max_size=4))
def test_names(parts):
    check(NameVocabulary, parts)


def test_many_features_with_equal_hashes():
    """The table grows many times; a hash has 32 bits, and some of these keys have the same hash."""
    rng = np.random.default_rng(0)
    words = [[[f"w{i}" for i in rng.integers(60_000, size=50_000)]] for _ in range(4)]
    parts = [Tokens.of(part, ["word"]) for part in words]
    whole = check(lambda: TemplateVocabulary(["word[0]", "word[-1] & word[0]"]), parts)
    slots = whole._slots[whole._slots > 0]
    assert len(np.unique(slots >> np.uint64(32))) < len(slots) == whole.n_features
    assert len(whole._keys) <= 2 * whole.n_features


def test_what_cannot_be_joined_says_why(monkeypatch):
    one, other = (TemplateVocabulary([text]) for text in ("word[0]", "word[-1]"))
    with pytest.raises(ValueError, match="templates must be the same in all vocabularies"):
        joined([one.state(), other.state()])
    one.sequences(Tokens.of([[f"w{i}" for i in range(3000)]], ["word"]), grow=True)
    monkeypatch.setattr("perceptrons.data.token.template_vocabulary.LARGEST", 2000)
    with pytest.raises(DataError, match="more than 2,000 features"):
        joined([one.state()])
