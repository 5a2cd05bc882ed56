"""Words weighed by their rarity, against plain Python; and the words behind hashes."""

import json
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_text import naive_rows, naive_words
from sklearn.utils import murmurhash3_32

from perceptrons.data import source
from perceptrons.data.table import noted_words
from perceptrons.data.table.encoding import Encoding
from perceptrons.data.table.lexicon import Lexicon
from perceptrons.data.table.noted_words import NotedWords
from perceptrons.data.table.tables import TableSource
from perceptrons.data.table.text import word_rows

RNG = np.random.default_rng(0)
WORDS = [f"w{k}" for k in range(60)]
TEXTS = [" ".join(RNG.choice(WORDS, RNG.integers(0, 12), p=np.r_[0.4, [0.6 / 59] * 59])) for _ in range(80)]


def table(path, texts=TEXTS, **columns):
    lines = [",".join(["y", "text", *columns])]
    lines += [",".join([f"c{i % 3}", text, *(str(x[i]) for x in columns.values())]) for i, text in enumerate(texts)]
    path.write_text("\n".join(lines) + "\n")
    return [str(path)]


def opened(paths, **settings):
    return TableSource(paths, format="csv", target="y", text=["text"], text_bits=12, missing="mean", **settings)


def rows_of(source):
    """All rows as dicts."""
    found = []
    for batch in source.batches():
        cut = zip(batch.rows.indptr[:-1].tolist(), batch.rows.indptr[1:].tolist(), strict=True)
        found += [
            dict(zip(batch.rows.indices[a:b].tolist(), batch.rows.values[a:b].tolist(), strict=True)) for a, b in cut
        ]
    return found


def assert_same(found, expected):
    assert [list(row) for row in found] == [list(row) for row in expected]
    for row, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(list(row.values()), list(other.values()), rtol=1e-12)


def test_sources_leave_rarity_to_the_learner(tmp_path):
    training = opened(table(tmp_path / "a.csv"))
    expected = naive_rows(TEXTS, 1, 12, 0, "tfidf")
    for _ in range(2):
        assert_same(rows_of(training), expected)
    assert_same(rows_of(opened_like([str(tmp_path / "a.csv")], training.encoding)), expected)


def opened_like(paths, encoding):
    return TableSource(paths, format="csv", like=encoding)


def places(*words):
    return {word: murmurhash3_32(word, 0, positive=True) % 2**12 for word in words}


def test_batches_make_no_difference(tmp_path, monkeypatch):
    from perceptrons.data import batches

    whole = rows_of(opened(table(tmp_path / "a.csv")))
    monkeypatch.setattr(batches, "MOST_ROWS", 7)
    parts = opened([*table(tmp_path / "a.csv")])
    assert_same(rows_of(parts), whole)


def test_several_columns_and_others(tmp_path):
    """Each column of text has length 1; numbers and categories stay as they are."""
    other = [" ".join(reversed(text.split())) + " x" for text in TEXTS]
    paths = table(
        tmp_path / "a.csv",
        number=[i * 7 % 13 + 0.5 for i in range(80)],
        more=other,
        kind=["ab"[i % 2] for i in range(80)],
    )
    made = TableSource(
        paths, format="csv", target="y", text=["text", "more"], text_bits=12, scale="none", categorical=["kind"]
    )
    first, second = naive_rows(TEXTS, 1, 12, 1, "tfidf"), naive_rows(other, 1, 12, 1 + 2**12, "tfidf")
    begin = 1 + 2 * 2**12
    expected = [
        {0: i * 7 % 13 + 0.5, **a, **b, begin + i % 2: 1.0} for i, (a, b) in enumerate(zip(first, second, strict=True))
    ]
    assert_same(rows_of(made), expected)


def test_state_and_hostile_states(tmp_path):
    training = opened(table(tmp_path / "a.csv"))
    rows_of(training)
    meta, lists = json.loads(json.dumps(training.encoding.state()))
    again = Encoding.from_state(meta, lists)
    assert again == training.encoding and again.state() == training.encoding.state()
    assert_same(
        rows_of(opened_like([str(tmp_path / "a.csv")], again)),
        rows_of(opened_like([str(tmp_path / "a.csv")], training.encoding)),
    )
    code, text = lists["word"]
    wrong = [
        *({"word": [code]}, {"word": [code, text + "\nmore"]}, {"word": [code, "x" * 65 + "\n" * text.count("\n")]}),
        {"word": ["/////w==", "x"]},
    ]
    for change in wrong:
        with pytest.raises(ValueError, match="word"):
            Encoding.from_state(meta, {**lists, **change})
    for weighting in ("other", 3, None):
        with pytest.raises(ValueError, match="weighting"):
            Encoding.from_state({**meta, "weighting": weighting}, lists)
    del meta["weighting"]
    old = Encoding.from_state(meta, {name: lists[name] for name in ("column", "category")})
    assert old.weighting == "counts"  # as in files of earlier versions


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.sampled_from(["free", "Free", "ä", "x1", "the"]), max_size=8).map(" ".join), max_size=8))
def test_noted_words_are_the_most_frequent(texts):
    import pyarrow as pa

    for bits in (1, 12):
        lexicon = Lexicon()
        for text in texts:  # a table for each piece
            noted = NotedWords.for_piece(len(text))
            word_rows(pa.array([text]), 1, bits, 0, "tfidf", noted)
            lexicon.note([noted])
        counts = Counter(word.decode() for text in texts for word in naive_words(text))
        best = {}
        for word, number in counts.items():
            bucket = murmurhash3_32(word.encode(), 0, positive=True) % 2**bits
            best[bucket] = max(best.get(bucket, 0), number)
        features, words = lexicon.named(bits)
        assert features.tolist() == sorted(best)
        assert [counts[word] for word in words] == [best[j] for j in sorted(best)]


def test_tables_are_bounded(monkeypatch):
    import pyarrow as pa

    monkeypatch.setattr(noted_words, "MOST", 128)
    monkeypatch.setattr(noted_words, "IN_PIECE", 64)
    many, lexicon = " ".join(f"word{k}" for k in range(1000)), Lexicon()
    for text in (many, "frequent " * 9 + many, "x" * 65 + " " + "y" * 64):
        noted = NotedWords.for_piece(len(text))
        word_rows(pa.array([text]), 1, 18, 0, "tfidf", noted)
        lexicon.note([noted])
    (words,) = lexicon.noted
    assert words.hashes.size == 128 and 0 < int(words.used[0]) <= 64
    assert "frequent" in lexicon.named(18)[1] and "x" * 65 not in lexicon.named(18)[1]


def test_names_of_features(tmp_path):
    training = source(*table(tmp_path / "a.csv"), target="y", text=["text"], text_bits=12, cache=False)
    rows_of(training)
    (j,) = places("w5").values()
    few = training.encoding.with_words_of(np.array([j]))
    assert few.feature_name(j) == "text: w5" and few.feature_name(j ^ 1) == f"text[{j ^ 1}]"
    assert few.lexicon.words == {j: "w5"}
