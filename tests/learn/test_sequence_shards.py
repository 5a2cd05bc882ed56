"""A tagger that shards agree on, and their corpora, are those that `Tagger.prepare` makes of the whole."""

import pickle
from itertools import accumulate, pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from token_cases import LABELS

from perceptrons import rules
from perceptrons.data import DataError, Tokens
from perceptrons.data.token.vocabulary import NameVocabulary, TemplateVocabulary
from perceptrons.learn import holdout
from perceptrons.learn.sequence import shards
from perceptrons.learn.sequence.labels import labels_in, labels_of
from perceptrons.learn.sequence.schemes import SCHEMES
from perceptrons.learn.sequence.tagger import Plan, Tagger

WORDS = ["the", "The-1", "x", "Ä9", "cat"]
TAGS = ["D", "N", "V", "S", "1"]
LEGAL = {  # sequences that obey a scheme
    "BIO": [["B-A", "I-A", "O"], ["O"], ["B-A", "B-A"], ["B-C", "I-C"], []],
    "BILOU": [["B-A", "I-A", "L-A"], ["U-A", "O"], ["O", "O"], ["U-C"]],
    "BIOES": [["B-A", "E-A"], ["S-A", "O"], ["O"], []],
    "IOB1": [["I-A", "I-A", "O"], ["O"], ["I-A", "B-A", "I-A"], ["I-C"], ["I-A", "I-C"], []],
}
SETS = st.sampled_from([*LEGAL.values(), [[tag] for tag in TAGS], [[label] for label in LABELS]])
CORPORA = st.one_of(
    SETS.flatmap(lambda some: st.lists(st.sampled_from(some), max_size=8)),
    SETS.flatmap(lambda some: st.lists(st.sampled_from([*some * 3, ["I-A", "O", "B-A", "L-C"]]), max_size=8)),
    st.lists(st.lists(st.sampled_from([*LABELS, *TAGS]), max_size=4), max_size=6),
)
CUTS = st.lists(st.integers(0, 8), max_size=5)


def words(Y, seed):
    """Sentences with these labels, of tokens with a few columns."""
    random = np.random.default_rng(seed)
    return [[(random.choice(WORDS).item(), label) for label in y] for y in Y]


def cut(X, cuts):
    """X in parts, some of which may be empty."""
    edges = [0, *sorted(min(at, len(X)) for at in cuts), len(X)]
    return [X[begin:end] for begin, end in pairwise(edges)]


def outcome(function):
    """What a function returns, or the text of its error."""
    try:
        return function()
    except DataError as error:
        return str(error)


def by_templates(X):
    """A vocabulary, and X and y as `Tagger.prepare` takes them; the labels are a column."""
    tokens = Tokens.of(X, ["word", "tag"])
    vocabulary = TemplateVocabulary(["word[0]", "word[-1] & word[0]", "word[1].lower()", "word[0].suffix(2)"])
    return vocabulary, tokens, lambda bounds: labels_in(tokens, "tag")


def by_names(X):
    """The same with features by name; only some tokens have a value that is not 1."""
    tokens = [[{"word": word, "digit": 2.5 * ("1" in word)} for word, _ in x] for x in X]
    y = [[label for _, label in x] for x in X]
    return NameVocabulary(), tokens, lambda bounds: labels_of(y, bounds)


def plan(scheme="auto"):
    return Plan(rules.resolve("perceptron"), scheme=scheme)


def serially(form, X, scheme):
    vocabulary, tokens, y = form(X)
    tagger = Tagger(vocabulary, plan(scheme))
    return tagger, tagger.prepare(tokens, y)


def in_shards(form, X, cuts, scheme):
    """What shards agree on, their tagger, and all corpora; all that goes to another process is pickled."""
    parts, summaries = [], []
    for part in cut(X, cuts):
        shard, summary = shards.read(*form(part))
        parts.append(shard)
        summaries.append(pickle.loads(pickle.dumps(summary)))
    agreed = pickle.loads(pickle.dumps(shards.agreed(summaries, scheme)))
    sizes = [shard.sequences.n_sequences for shard in parts]
    assert agreed.firsts == list(accumulate(sizes, initial=0))[:-1] and agreed.n_sequences == sum(sizes)
    tagger = agreed.tagger(plan(scheme))
    learned = tagger.labels, tagger.scheme
    corpora = [shard.corpus(numbers, *learned) for shard, numbers in zip(parts, agreed.numbers, strict=True)]
    return agreed, tagger, corpora


def assert_same_state(one, other):
    for mine, its in zip(one.state(), other.state(), strict=True):
        assert list(mine) == list(its)
        for name in mine:
            np.testing.assert_array_equal(mine[name], its[name])


def assert_same_corpus(parts, whole):
    """Corpora one after the other are the whole."""
    sequences = [part.sequences for part in parts]
    np.testing.assert_array_equal(np.concatenate([part.codes for part in parts]), whole.codes)
    np.testing.assert_array_equal(np.concatenate([each.indices for each in sequences]), whole.sequences.indices)
    for name in ("indptr", "bounds"):
        sizes = np.concatenate([np.diff(getattr(each, name)) for each in sequences])
        np.testing.assert_array_equal(sizes, np.diff(getattr(whole.sequences, name)))
    ones = [np.ones(len(each.indices)) if each.values is None else each.values for each in sequences]
    expected = whole.sequences.values
    np.testing.assert_array_equal(
        np.concatenate(ones), np.ones(len(whole.sequences.indices)) if expected is None else expected
    )
    for part in parts:
        assert (
            part.codes.dtype == np.uint32 == part.sequences.indices.dtype and not part.sequences.indices.flags.writeable
        )


def check(form, X, cuts, scheme="auto"):
    """Returns the tagger of all shards, or the text of the error that both ways raise."""
    expected = outcome(lambda: serially(form, X, scheme))
    found = outcome(lambda: in_shards(form, X, cuts, scheme))
    if isinstance(expected, str):
        assert found == expected
        return expected
    (tagger, whole), (_, one, corpora) = expected, found
    assert (one.labels, one.classes, one.scheme) == (tagger.labels, tagger.classes, tagger.scheme)
    assert (one.candidates, one.given_up, one.plan) == (tagger.candidates, tagger.given_up, tagger.plan)
    assert_same_state(one.vocabulary, tagger.vocabulary)
    assert_same_corpus(corpora, whole)
    np.testing.assert_array_equal(one.fitted.links, tagger.fitted.links)
    assert one.fitted.touching == tagger.fitted.touching
    assert len(one.fitted.state["rows"]) == len(tagger.fitted.state["rows"])
    return one


@settings(max_examples=150)
@given(CORPORA, CUTS, st.sampled_from([by_templates, by_names]), st.integers(0, 99))
@example([["B-A"]] * 5, [1, 2, 3, 4], by_templates, 0)  # one sentence in each shard
@example([["I-A"], ["O"], ["I-A", "B-A"]], [1, 1, 2], by_templates, 0)  # an empty shard, and one without entities
@example([["O"], ["O"], ["U-A"]], [1, 2], by_names, 0)  # only the last shard can tell the scheme
def test_taggers_of_shards_are_those_of_the_whole(Y, cuts, form, seed):
    check(form, words(Y, seed), cuts)


@settings(max_examples=80)
@given(CORPORA, CUTS, st.sampled_from([None, *SCHEMES]))
@example([["O"], ["B-A"], ["I-A", "O"]], [1, 2], "BIO")
@example([["I-A"] * 400, ["I-C"] * 2], [1], "BIO")
def test_schemes_that_are_set_are_checked_in_all_shards(Y, cuts, scheme):
    check(by_templates, words(Y, 0), cuts, scheme)


@pytest.mark.parametrize(
    ("Y", "scheme"),
    [
        ([["D", "N"], ["N"]], None),
        ([["B-A", "I-A"], ["O"]], "BIO"),
        ([["O"], ["U-A"]], "BILOU"),
        ([["I-A"], ["B-A"], ["I-A", "B-A"]], None),
        ([["I-A"], ["I-A", "B-A"]], "IOB1"),
    ],
)
def test_the_corpora_above_have_all_schemes(Y, scheme):
    assert check(by_templates, words(Y, 0), [1]).scheme == scheme


def test_a_scheme_that_some_shards_break_is_given_up_with_numbers_of_the_whole():
    Y = [["B-A", "I-A"]] * 5 + [["B-A", "O", "I-A"]] + [["O"]] * 2 + [["I-A"]]
    found = check(by_templates, words(Y, 0), [2, 4, 7]).given_up
    assert found[:3] == ("BIO", 5, 2) and found[4:] == (2, 9)
    assert found.what == "'I-A' after 'O'"


def test_labels_of_one_shard_must_be_of_the_kind_of_the_others():
    texts, numbers = ([("x", label)] for label in ("N", 1))
    summaries = [shards.read(*by_names([x]))[1] for x in (texts, numbers)]
    with pytest.raises(DataError, match=r"labels of y must be all strings or all numbers, .*, got 1 beside 'N'"):
        shards.agreed(summaries, "auto")


def test_no_tokens_are_refused():
    assert check(by_templates, [[], []], [1]) == "X must have tokens, got none"


@pytest.mark.parametrize("cuts", [[], [3], [1, 2, 3, 20, 20, 41]])
def test_held_out_sequences_are_those_of_the_whole(cuts):
    X = words([["B-A", "I-A"], ["O"], ["B-A"]] * 20, 1)
    _, whole = serially(by_templates, X, "auto")
    expected = holdout.split(whole, 0.15, 7, "sentences")
    agreed, _, corpora = in_shards(by_templates, X, cuts, "auto")
    both = [shards.split(part, first, 0.15, 7) for part, first in zip(corpora, agreed.firsts, strict=True)]
    for parts, right in zip(zip(*both, strict=True), expected, strict=True):
        assert_same_corpus(parts, right)
