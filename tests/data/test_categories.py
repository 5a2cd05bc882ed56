"""Categories as they come: spelled with blanks, missing twice over, in dictionaries that hold more than the rows."""

import numpy as np
import pyarrow as pa
import pyarrow.feather
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptrons.data.table.csr import beside, compact, nonzeros, ones
from perceptrons.data.table.encoding import NONE, Encoding
from perceptrons.data.table.tables import TableSource


def names_of(source):
    """The names of the features of each row."""
    found = []
    for batch in source.batches():
        ends = zip(batch.rows.indptr[:-1].tolist(), batch.rows.indptr[1:].tolist(), strict=True)
        found += [[source.encoding.feature_name(j) for j in batch.rows.indices[a:b].tolist()] for a, b in ends]
    return found


def test_blanks_and_missing_categories_are_one(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("c,y\n u,0\nu ,1\n  ,0\nmissing,1\n,0\n")
    source = TableSource([str(path)], format="csv", target="y", missing=0)
    assert names_of(source) == [["c=u"], ["c=u"], ["c=(missing)"], ["c=missing"], ["c=(missing)"]]
    assert source.encoding.n_features == 3  # no cell can be written like a missing one


def test_dictionaries_with_more_than_the_rows(tmp_path):
    words = pa.array(["never", "b", "a", None, "b"])
    column = pa.DictionaryArray.from_arrays(pa.array([2, 4, None, 1, 3, 2], pa.int8()), words)
    pa.feather.write_feather(pa.table({"c": column, "y": [0, 1, 0, 1, 0, 1]}), tmp_path / "a.feather")
    source = TableSource([str(tmp_path / "a.feather")], format="arrow", target="y", missing=0)
    assert names_of(source) == [["c=a"], ["c=b"], ["c=(missing)"], ["c=b"], ["c=(missing)"], ["c=a"]]
    assert source.encoding.seen == [("c", "a"), ("c", "b"), ("c", "")]


def test_numbers_of_categories_do_not_depend_on_where_batches_end():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 9, (60, 3))
    whole, parts = (Encoding("y", "str", ["x"], ["a", "b", "c"], [], []) for _ in range(2))

    def number(encoding, rows):
        coded = [compact(column.astype(np.int64), 9) for column in rows.T]
        return encoding.number([codes for codes, _ in coded], [[f"v{k}" for k in were] for _, were in coded], grow=True)

    at_once = number(whole, rows)
    in_parts = np.vstack([number(parts, part) for part in np.split(rows, [1, 7, 30])])
    np.testing.assert_array_equal(at_once, in_parts)
    assert whole.seen == parts.seen
    assert at_once.min() == 1 and whole.n_features == 1 + len(whole.seen) == at_once.max() + 1
    order = dict.fromkeys((name, f"v{k}") for row in rows.tolist() for name, k in zip("abc", row, strict=True))
    assert whole.seen == list(order)
    known = number(Encoding.from_state(*whole.state()), rows)
    np.testing.assert_array_equal(known, at_once)


def test_unknown_categories_have_no_number():
    encoding = Encoding("y", "str", [], ["a"], [], [], seen=[("a", "u")])
    found = encoding.number([np.array([0, 1, 0])], [["v", "u"]], grow=False)
    assert found.tolist() == [[NONE], [0], [NONE]] and encoding.seen == [("a", "u")]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), max_size=8))
def test_sparse_rows_from_features_and_numbers(lists):
    features = np.array(lists, dtype=np.uint32).reshape(len(lists), 3)
    features[features == 5] = NONE
    values, indices, indptr = ones(features)
    dense = np.zeros((len(lists), 5))
    for i, row in enumerate(lists):
        for j in row:
            if j < 5:
                dense[i, j] += 1
    expected = nonzeros(dense)
    for one, two in zip((values, indices, indptr), expected, strict=True):
        np.testing.assert_array_equal(one, two)
    wide = beside(expected, (values, indices + np.uint32(5), indptr))
    for one, two in zip(wide, nonzeros(np.hstack([dense, dense])), strict=True):
        np.testing.assert_array_equal(one, two)
