"""Numbers of features against a slow twin that keeps whole names in a dict."""

import itertools
import json
import pickle

import naive_tokens as naive
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from token_cases import COLUMNS, TEXTS

from perceptrons.core.parse.interning import EDGE, UNKNOWN
from perceptrons.data import DataError, Tokens
from perceptrons.data.token.vocabulary import NameVocabulary, TemplateVocabulary, from_state

WORDS = st.sampled_from(["the", "The-1", "", "x", "_B-1", "Äß9"])
SENTENCES = st.lists(st.lists(st.tuples(*[WORDS] * 4), max_size=5), max_size=5)
TEMPLATES = st.lists(TEXTS, min_size=1, max_size=5, unique=True)


def rows(sequences):
    """Numbers of the features of each token, all tokens below each other."""
    assert sequences.indices.dtype == np.uint32 and sequences.indptr.dtype == sequences.bounds.dtype == np.uint64
    ends = sequences.indptr.tolist()
    return [sequences.indices[a:b].tolist() for a, b in itertools.pairwise(ends)]


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(a, b, strict=True))


def expected(sentences, templates, known, grow):
    """Rows of features. A key is a template and the values around; a marker differs from a word that looks like it."""
    keys = []
    for sentence in sentences:
        for i in range(len(sentence)):
            names = naive.features([sentence], COLUMNS, templates)[0][i]
            inside = [tuple(0 <= i + offset < len(sentence) for offset in offsets(t)) for t in templates]
            keys.append(list(zip(names, inside, strict=True)))
    return naive.numbered(keys, known, grow)


def offsets(template):
    return [int(piece.split("[")[1].split("]")[0]) for piece in template.split("&")]


@settings(max_examples=60)
@given(SENTENCES, SENTENCES, TEMPLATES, st.integers(0, 5))
def test_features_are_those_of_the_twin(sentences, others, templates, cut):
    vocabulary, known = TemplateVocabulary(templates), {}
    tokens = Tokens.of(sentences, COLUMNS)
    whole = vocabulary.sequences(tokens, grow=True)
    assert rows(whole) == expected(sentences, templates, known, True)
    assert whole.values is None and np.array_equal(whole.bounds, tokens.bounds)
    assert vocabulary.n_features == len(known)
    assert vocabulary.names(range(len(known))) == [name for name, _ in known]
    # Without growing, what is not known is left out, and nothing changes.
    mark = vocabulary.mark()
    assert rows(vocabulary.sequences(Tokens.of(others, COLUMNS), grow=False)) == expected(
        others, templates, known, False
    )
    assert vocabulary.mark() == mark
    # In chunks the same features get the same numbers.
    parts = TemplateVocabulary(templates)
    for chunk in (sentences[:cut], sentences[cut:]):
        parts.sequences(Tokens.of(chunk, COLUMNS), grow=True)
    assert parts.names(range(parts.n_features)) == vocabulary.names(range(vocabulary.n_features))
    # What has grown can be undone.
    vocabulary.sequences(Tokens.of(others, COLUMNS), grow=True)
    vocabulary.back_to(mark)
    assert vocabulary.mark() == mark and same(vocabulary.sequences(tokens, grow=False), whole)
    again = vocabulary.sequences(Tokens.of(others, COLUMNS), grow=True)
    assert rows(again) == expected(others, templates, known, True)


@settings(max_examples=30)
@given(SENTENCES, TEMPLATES, st.randoms(use_true_random=False))
def test_kept_features_are_renumbered_in_order(sentences, templates, random):
    vocabulary, tokens = TemplateVocabulary(templates), Tokens.of(sentences, COLUMNS)
    whole = vocabulary.sequences(tokens, grow=True)
    mask = np.array([random.random() < 0.5 for _ in range(vocabulary.n_features)], dtype=bool)
    less = vocabulary.subset(mask)
    names = np.array(vocabulary.names(range(vocabulary.n_features)), dtype=object)
    assert less.names(range(less.n_features)) == names[mask].tolist()
    number = np.cumsum(mask) - 1
    assert rows(less.sequences(tokens, grow=False)) == [[number[j] for j in row if mask[j]] for row in rows(whole)]
    # No value is kept that no feature has.
    values = sum(len(values) for values in less.state()[1].values())
    assert values <= sum(len(template.parts) for template in less.templates) * less.n_features


@settings(max_examples=30)
@given(SENTENCES, TEMPLATES)
def test_states_come_back(sentences, templates):
    vocabulary, tokens = TemplateVocabulary(templates), Tokens.of(sentences, COLUMNS)
    whole = vocabulary.sequences(tokens, grow=True)
    meta, lists, arrays = vocabulary.state()
    again = from_state(json.loads(json.dumps(meta)), lists, arrays)
    assert isinstance(again, TemplateVocabulary) and again.templates == vocabulary.templates
    assert same(again.sequences(tokens, grow=False), whole)
    assert again.mark() == vocabulary.mark() and pickle.loads(pickle.dumps(again)).mark() == again.mark()


def test_many_features_and_equal_hashes_are_kept_apart():
    """Tables grow many times; a hash has 32 bits, and among so many keys some have the same."""
    rng = np.random.default_rng(0)
    words = [f"w{i}" for i in rng.integers(60_000, size=200_000)]
    vocabulary = TemplateVocabulary(["word[0]", "word[-1] & word[0]"])
    found = rows(vocabulary.sequences(Tokens.of([words], ["word"]), grow=True))
    known = {}
    pairs = zip(["", *words], words, strict=False)
    assert found == naive.numbered([[(b,), (a, b)] for a, b in pairs], known, True)
    slots = vocabulary._slots[vocabulary._slots > 0]
    assert len(np.unique(slots >> np.uint64(32))) < len(slots) == len(known)
    # Room is for what there is: twice as much, not as many as tokens had features.
    assert len(vocabulary._keys) <= 2 * vocabulary.n_features


def test_take():
    sequences = TemplateVocabulary(["word[0]", "word[-1]"]).sequences(
        Tokens.of([["a", "b"], [], ["c"]], ["word"]), grow=True
    )
    assert rows(sequences) == [[0, 1], [2, 3], [4, 1]] and rows(sequences.take([0, 1, 2])) == rows(sequences)
    taken = sequences.take([2, 1, 0, 2])
    assert rows(taken) == [[4, 1], [0, 1], [2, 3], [4, 1]] and taken.bounds.tolist() == [0, 1, 1, 3, 4]
    assert (taken.n_tokens, taken.n_sequences, taken.values) == (4, 4, None) and sequences.take([]).n_tokens == 0
    assert rows(sequences.take(np.array([False, True, True]))) == [[4, 1]]
    named = NameVocabulary().sequences([[{"a": 2}], [{"b": 3, "c": 1}]], grow=True)
    assert named.take([1]).values.tolist() == [3.0, 1.0]


def test_a_refused_growth_changes_nothing(monkeypatch):
    vocabulary = TemplateVocabulary(["word[0]", "pos[0]"])
    vocabulary.sequences(Tokens.of([[("a", "A")]], ["word", "pos"]), grow=True)
    mark = vocabulary.mark()
    with pytest.raises(DataError, match=r"template pos\[0\] needs a column 'pos': the columns are word"):
        vocabulary.sequences(Tokens.of([["b"]], ["word"]), grow=True)
    assert vocabulary.mark() == mark and vocabulary.columns == ["word", "pos"]
    monkeypatch.setattr("perceptrons.data.token.template_vocabulary.LARGEST", 2000)
    many = Tokens.of([[(f"w{i}", "B") for i in range(5000)]], ["word", "pos"])
    with pytest.raises(DataError, match="more than 2,000 features"):
        vocabulary.sequences(many, grow=True)
    assert vocabulary.mark() == mark
    assert rows(vocabulary.sequences(many.take([]), grow=True)) == []
    with pytest.raises(DataError, match="feature 2 does not exist: there are 2"):
        vocabulary.names([2])
    with pytest.raises(ValueError, match=r"mask must have shape \(2,\)"):
        vocabulary.subset(np.ones(3, dtype=bool))


def damaged(change):
    vocabulary = TemplateVocabulary(["word[0]", "word[-1] & word[0].lower()"])
    vocabulary.sequences(Tokens.of([["The", "cat"]], ["word"]), grow=True)
    meta, lists, arrays = vocabulary.state()
    change(meta, lists, arrays)
    return meta, lists, arrays


def put(row, column, value):
    return lambda meta, lists, arrays: arrays["keys"].__setitem__((row, column), value)


@pytest.mark.parametrize(
    "change, message",
    [
        (
            lambda meta, lists, arrays: meta.update(kind="others"),
            "must be templates or names, got 'others'",
        ),
        (lambda meta, lists, arrays: meta.update(templates="word[0]"), "templates must be a list of texts"),
        (lambda meta, lists, arrays: meta.update(templates=["word[0]", "word[0]"]), "given twice"),
        (lambda meta, lists, arrays: lists.pop("word"), r"expected values of word, word\.lower\(\)"),
        (lambda meta, lists, arrays: lists.update({"word": ["a", "a"]}), "a value of word occurs twice"),
        (lambda meta, lists, arrays: arrays.pop("keys"), "a matrix of uint32 with 3 columns"),
        (
            lambda meta, lists, arrays: arrays.update(keys=arrays["keys"][:, :2]),
            "a matrix of uint32 with 3 columns",
        ),
        (put(0, 0, 2), "a template beyond the 2 templates"),
        (put(0, 1, 2), "a value beyond those of word"),
        (put(0, 1, EDGE), "a value beyond those of word"),
        (put(1, 1, EDGE - 1), "a value beyond those of word"),
        (put(1, 1, EDGE - 2), "a value beyond those of word"),
        (put(1, 1, UNKNOWN), "a value beyond those of word"),
        (put(2, 1, 0), "feature 2 occurs twice"),
    ],
)
def test_damaged_states_are_refused(change, message):
    with pytest.raises(ValueError, match=message):
        from_state(*damaged(change))


# -- features by name -----------------------------------------------------------------------------------------

KEYS = st.sampled_from(["a", "b", "", "a:b"])
SIMPLE = st.one_of(KEYS, st.booleans(), st.sampled_from([0, 1, 2.5, -1.0]))
UNDER = st.one_of(
    SIMPLE, st.lists(KEYS, max_size=2), st.sets(KEYS, max_size=2), st.dictionaries(KEYS, SIMPLE, max_size=2)
)
TOKENS = st.one_of(st.dictionaries(KEYS, UNDER, max_size=4), st.lists(KEYS, max_size=3), st.sets(KEYS, max_size=3))
SEQUENCES = st.lists(st.lists(TOKENS, max_size=4), max_size=4)


@settings(max_examples=60)
@given(SEQUENCES, SEQUENCES)
def test_named_features_are_those_of_the_twin(X, others):
    vocabulary, known = NameVocabulary(), {}
    for data, grow in ((X, True), (others, False)):
        items = [naive.items(token) for sequence in data for token in sequence]
        sequences = vocabulary.sequences(data, grow)
        assert rows(sequences) == naive.numbered([[name for name, _ in token] for token in items], known, grow)
        values = [value for token in items for name, value in token if name in known]
        plain = all(value == 1.0 for value in values)
        assert sequences.values is None if plain else sequences.values.tolist() == values
        assert sequences.bounds.tolist() == [sum(map(len, data[:i])) for i in range(len(data) + 1)]
    assert vocabulary.names(range(vocabulary.n_features)) == list(known)
    again = from_state(*vocabulary.state())
    assert isinstance(again, NameVocabulary) and same(again.sequences(others, False)[:1], sequences[:1])
    mask = np.arange(len(known)) % 2 == 0
    assert vocabulary.subset(mask).names(range(mask.sum())) == list(known)[::2]


@pytest.mark.parametrize(
    "X, message",
    [
        ([[{"a": float("nan")}]], "sequence 0, token 0: a must be a finite number, got nan"),
        ([[{"a": float("inf")}]], "sequence 0, token 0: a must be a finite number, got inf"),
        ([[{"new": "x"}], [["a"], {5: "a"}]], "sequence 1, token 1: feature names must be strings, got 5"),
        ([[{5: 1.0}]], "sequence 0, token 0: feature names must be strings, got 5"),
        ([[["a", 5]]], "sequence 0, token 0: feature names must be strings, got 5"),
        ([[["a", []]]], r"sequence 0, token 0: feature names must be strings, got \[\]"),
        ([[{"a": ["b", 5]}]], "sequence 0, token 0: feature names must be strings, got 5"),
        ([[{"a": None}]], "sequence 0, token 0: a must be a string, number, .*, got None"),
        ([["word"]], "sequence 0, token 0: a token must be a dict or a list of feature names, got 'word'"),
        ([[], "the cat"], "sequence 1 must be a list of tokens, got 'the cat'"),
        ([5], "sequence 0 must be a list of tokens, got 5"),
        ("the cat", "X must be a list of sequences, got 'the cat'"),
    ],
)
def test_what_is_no_feature_says_where(X, message):
    vocabulary = NameVocabulary()
    vocabulary.sequences([[["a"]]], grow=True)
    for grow in (True, False):
        with pytest.raises(DataError, match=message):
            vocabulary.sequences(X, grow)
        assert vocabulary.n_features == 1


def test_damaged_names_are_refused():
    with pytest.raises(ValueError, match="a name occurs twice"):
        from_state({"kind": "names"}, {"names": ["a", "a"]}, {})
    with pytest.raises(ValueError, match="expected names and nothing else"):
        from_state({"kind": "names"}, {}, {})
