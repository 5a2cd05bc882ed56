"""Hashed words: against a hash written from its definition, its published vectors, and a plain n-gram hasher."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_text import WEIGHTS, naive_rows
from sklearn.utils import murmurhash3_32

from perceptrons.data.table.tables import TableSource
from perceptrons.data.table.text import hashes, word_rows

# Published vectors of MurmurHash3_x86_32 with seed 0 (https://en.wikipedia.org/wiki/MurmurHash).
VECTORS = {
    "": 0,
    "test": 0xBA6BD213,
    "Hello, world!": 0xC0363E43,
    "The quick brown fox jumps over the lazy dog": 0x2E4FF723,
}


def found_rows(column, ngrams, bits, first, weighting="counts"):
    values, indices, indptr = word_rows(column, ngrams, bits, first, weighting)
    assert values.dtype == np.float64 and indices.dtype == np.uint32 and indptr.dtype == np.uint64
    ends = zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True)
    return [dict(zip(indices[a:b].tolist(), values[a:b].tolist(), strict=True)) for a, b in ends]


def assert_rows(column, texts, ngrams, bits, first=0, weighting="counts"):
    found = found_rows(column, ngrams, bits, first, weighting)
    expected = naive_rows(texts, ngrams, bits, first, weighting)
    assert [list(row) for row in found] == [list(row) for row in expected]
    for row, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(list(row.values()), list(other.values()), rtol=1e-15)


def test_published_vectors():
    wanted = {text: value % 2**28 for text, value in VECTORS.items()}
    assert dict(zip(VECTORS, hashes(pa.array(list(VECTORS)), 28).tolist(), strict=True)) == wanted


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(max_size=30)), st.integers(1, 28))
def test_hashes_of_any_text(texts, bits):
    expected = [murmurhash3_32(text.encode(), 0, positive=True) % 2**bits for text in texts]
    assert hashes(pa.array(texts, pa.string()), bits).tolist() == expected


words = st.sampled_from(["spam", "SPAM", "a_1", "don't", "Ä", "ä", "\u2019", "你好", "x"])
lines = st.lists(st.one_of(words, st.text(max_size=6)), max_size=12).map(" ".join)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(lines, max_size=6),
    st.integers(1, 4),
    st.sampled_from([1, 3, 18]),
    st.sampled_from([0, 7]),
    st.sampled_from(list(WEIGHTS)),
)
def test_words_against_plain_python(texts, ngrams, bits, first, weighting):
    assert_rows(pa.array(texts, pa.string()), texts, ngrams, bits, first, weighting)


def test_long_texts_and_slices():
    rng = np.random.default_rng(0)
    texts = [" ".join(f"w{k}" for k in rng.integers(0, 3000, n)) for n in (0, 5, 40_000, 1)]
    assert_rows(pa.array(texts), texts, 2, 20)
    assert_rows(pa.array(texts).slice(1, 1), texts[1:2], 1, 20)
    assert_rows(pa.array(texts).slice(1, 0), [], 1, 20)


def test_what_words_are():
    (one, two, three), (same, *_) = (
        found_rows(pa.array(texts), 1, 18, 0)
        for texts in (["Free MONEY!!", "Ärger ärger", ""], ["(free) money", "", ""])
    )
    assert one == same and len(two) == 2 and three == {}


def test_a_spam_filter_from_a_csv_file(tmp_path):
    path = tmp_path / "mails.csv"
    path.write_text('kind,subject,body,n\nspam,Win now,"Win, win\nand ""win""",0\nham,Hello,,3\n')
    how = {"text": ["body", "subject"], "ngrams": 2, "text_bits": 10, "weighting": "counts"}
    source = TableSource([str(path)], format="csv", target="kind", **how)
    (batch,) = source.batches()
    matrix = batch.rows.matrix().toarray()
    assert batch.y.tolist() == ["spam", "ham"] and matrix.shape == (2, 1 + 2 * 1024) == (2, source.encoding.n_features)
    bodies, subjects = ['Win, win\nand "win"', ""], ["Win now", "Hello"]
    # Columns of text stand in the order of the file.
    parts = naive_rows(subjects, 2, 10, 1), naive_rows(bodies, 2, 10, 1 + 1024)
    for i, line in enumerate(matrix):
        expected = parts[0][i] | parts[1][i] | ({0: 3.0} if i else {})
        assert {j: x for j, x in enumerate(line) if x} == pytest.approx(expected)
    assert source.encoding.feature_name(1) == "subject[0]" and source.encoding.feature_name(1025) == "body[0]"
    assert len(source.encoding.feature_names) == source.encoding.n_features
