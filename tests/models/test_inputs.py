"""Input as users have it, read in place where possible; bad input gets an error that helps, and changes nothing."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from perceptrons import PassiveAggressiveClassifier, Perceptron
from perceptrons.data import as_rows
from perceptrons.models.validation import features

rng = np.random.default_rng(0)
X = rng.integers(-3, 4, size=(30, 5)).astype(np.float64)
y = (X @ [3, -2, 1, 0, 5] > 0).astype(int)
COEF = Perceptron(readout="last", max_iter=4).fit(X, y).coef_


def memory_mapped(X, tmp_path):
    np.save(tmp_path / "X.npy", X)
    return np.load(tmp_path / "X.npy", mmap_mode="r")


def read_only(X):
    X = X.copy()
    X.flags.writeable = False
    return X


def with_int64_indices(X):
    S = sp.csr_array(X)
    return sp.csr_array((S.data, S.indices.astype(np.int64), S.indptr.astype(np.int64)), shape=S.shape)


def unsorted(X):
    S = sp.csr_array(X)
    for row in range(S.shape[0]):
        part = slice(S.indptr[row], S.indptr[row + 1])
        S.indices[part], S.data[part] = S.indices[part][::-1].copy(), S.data[part][::-1].copy()
    S.has_sorted_indices = False
    return S


def with_duplicates(X):
    """Each entry in two halves."""
    S = sp.coo_array(X)
    row, column = np.concatenate([S.row, S.row]), np.concatenate([S.col, S.col])
    order = np.argsort(row, kind="stable")
    pointers = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=S.shape[0]))])
    halves = np.concatenate([S.data / 2, S.data / 2])
    return sp.csr_array((halves[order], column[order], pointers), shape=S.shape)


def with_explicit_zeros(X):
    """Every entry is stored."""
    n, d = X.shape
    return sp.csr_array((X.ravel(), np.tile(np.arange(d), n), np.arange(0, X.size + 1, d)), X.shape)


LAYOUTS = {
    "list": lambda X: X.tolist(),
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=1)[:, ::2],
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: X.astype(np.float16),
    "int64": lambda X: X.astype(np.int64),
    "int8": lambda X: X.astype(np.int8),
    "big-endian": lambda X: X.astype(">f8"),
    "read-only": read_only,
    "csr": sp.csr_array,
    "csr matrix": sp.csr_matrix,
    "csr float32": lambda X: sp.csr_array(X.astype(np.float32)),
    "csr int64 values": lambda X: sp.csr_array(X.astype(np.int64)),
    "csr int64 indices": with_int64_indices,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "lil": sp.lil_array,
    "unsorted": unsorted,
    "duplicates": with_duplicates,
    "explicit zeros": with_explicit_zeros,
    "pandas": lambda X: pd.DataFrame(X, columns=list("abcde")),
    "pandas mixed": lambda X: pd.DataFrame(X, columns=list("abcde")).astype({"b": np.int32}),
    "polars": lambda X: pl.DataFrame(X, schema=list("abcde")),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_layout_learns_the_same(layout):
    rows = LAYOUTS[layout](X)
    model = Perceptron(readout="last", max_iter=4).fit(rows, y)
    np.testing.assert_array_equal(model.coef_, COEF)
    np.testing.assert_array_equal(model.decision_function(rows), X @ COEF[0] + model.intercept_)
    np.testing.assert_array_equal(Perceptron().partial_fit(rows, y).coef_, Perceptron().partial_fit(X, y).coef_)


def test_memory_mapped_rows(tmp_path):
    rows = memory_mapped(X, tmp_path)
    np.testing.assert_array_equal(Perceptron(readout="last", max_iter=4).fit(rows, y).coef_, COEF)


def test_booleans():
    B = X > 0
    np.testing.assert_array_equal(
        Perceptron(max_iter=4).fit(B, y).coef_, Perceptron(max_iter=4).fit(B.astype(float), y).coef_
    )


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_floats_are_read_in_place(kind):
    dense, sparse = X.astype(kind), sp.csr_array(X.astype(kind))
    wide = with_int64_indices(X.astype(kind))
    model = Perceptron()
    assert np.shares_memory(features(model, dense, reset=True).values, dense)
    for S in (sparse, wide):
        rows = features(model, S, reset=True)
        assert np.shares_memory(rows.values, S.data) and np.shares_memory(rows.indices, S.indices)
        assert rows.indices.itemsize == S.indices.itemsize


def test_input_is_left_as_it_was():
    S = with_duplicates(X)
    before = S.data.copy(), S.indices.copy()
    Perceptron(max_iter=2).fit(S, y)
    np.testing.assert_array_equal(S.data, before[0])
    np.testing.assert_array_equal(S.indices, before[1])


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_names_of_features(frame):
    table = frame(dict(zip("abcde", X.T, strict=True)))
    model = Perceptron().fit(table, y)
    assert model.feature_names_in_.tolist() == list("abcde")
    with pytest.warns(UserWarning, match="feature names"):
        model.predict(X)
    other = frame(dict(zip("abcdf", X.T, strict=True)))
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(other)
    with pytest.raises(ValueError, match="feature names should match"):
        model.partial_fit(other, y)
    hole = X.copy()
    hole[7, 2] = np.nan
    with pytest.raises(ValueError, match=r"contains NaN at row 7, column 2 \('c'\)"):
        Perceptron().fit(frame(dict(zip("abcde", hole.T, strict=True))), y)


@pytest.mark.parametrize(
    "labels",
    [
        np.where(y, "yes", "no"),
        np.where(y, "yes", "no").astype(object),
        np.where(y, 7, -7),
        y.astype(bool),
        np.where(y, 1.0, 0.0),
        pd.Series(np.where(y, "yes", "no")),
        pl.Series(np.where(y, "yes", "no")),
        np.where(y, "yes", "no").tolist(),
        np.array(["2020-01-01", "2021-01-01"], dtype="datetime64[D]")[y],
    ],
)
def test_labels_of_any_sortable_type(labels):
    array = np.asarray(labels)
    for model in (Perceptron(max_iter=4).fit(X, labels), Perceptron(max_iter=4).partial_fit(X, labels)):
        assert model.classes_.tolist() == sorted(set(array.tolist()))
        assert set(model.predict(X).tolist()) <= set(array.tolist())
        np.testing.assert_array_equal(Perceptron(readout="last", max_iter=4).fit(X, labels).coef_, COEF)


def state(model):
    """Everything that learning changes."""
    learner = model._learner
    counts, w = learner.totals.array.copy(), learner.state["w"].copy()
    return [model.classes_.tolist(), w, counts, model.n_iter_, model.decision_function(X)]


def spoiled(row, column, value):
    Z = X.copy()
    Z[row, column] = value
    return Z


def broken_csr():
    S = sp.csr_array(X)
    S.indices[-1] = 99
    return S


BAD = {
    "nan": (spoiled(3, 1, np.nan), y, "Input X contains NaN at row 3, column 1"),
    "infinity": (spoiled(4, 2, -np.inf), y, "Input X contains infinity at row 4, column 2"),
    "sparse nan": (sp.csr_array(spoiled(3, 1, np.nan)), y, "Input X contains NaN at row 3, column 1"),
    "too large": (spoiled(5, 0, 1e200), y, "Input X is too large at row 5"),
    "index out of range": (broken_csr(), y, "index 99 in row 29 is outside of its 5 columns"),
    "empty": (X[:0], y[:0], "0 sample"),
    "no features": (X[:, :0], y, "0 feature"),
    "one axis": (X[0], y[:5], "Reshape your data"),
    "lengths": (X, y[:-1], "inconsistent numbers of samples"),
    "no labels": (X, None, "requires y to be passed"),
    "nan label": (X, np.where(y, 1.0, np.nan), "Input y contains NaN at row"),
    "continuous": (X, X[:, 0] + 0.5 * np.arange(30) / 7, "Unknown label type"),
    "no label": (X, np.array([None, "a"], dtype=object)[y], "Input y contains None at row"),
    "nan among text": (X, ["a"] * 7 + [float("nan")] + ["b"] * 22, "Input y contains NaN at row 7"),
    "pandas' NA": (
        X,
        pd.Series(["a"] * 7 + [pd.NA] + ["b"] * 22, dtype="string"),
        "Input y contains (<NA>|NaN|nan) at row 7",
    ),
    "unsortable": (X, np.array([3, "a"], dtype=object)[y], r"sorted together|labels do not match"),
    "negative weight": (
        X,
        y,
        "sample_weight must be >= 0 and finite, got -1.0 at row 2",
        {"sample_weight": np.r_[1, 1, -1, [1] * 27]},
    ),
    "infinite weight": (X, y, "sample_weight must be >= 0 and finite, got inf", {"sample_weight": np.full(30, np.inf)}),
    "number of weights": (X, y, "sample_weight.shape", {"sample_weight": np.ones(7)}),
}


@pytest.mark.parametrize("case", BAD)
@pytest.mark.parametrize("method", ["fit", "partial_fit", "predict_then_learn"])
def test_bad_input_changes_nothing(case, method):
    rows, labels, message, *options = BAD[case]
    keywords = options[0] if options else {}
    fresh = Perceptron(readout="averaged")
    assert fresh._guard  # its locks are made when they are first used
    before = dict(vars(fresh))
    with pytest.raises(ValueError, match=message):
        getattr(fresh, method)(rows, labels, **keywords)
    assert vars(fresh) == before
    model = Perceptron(readout="averaged", max_iter=3).fit(X, y)
    before = state(model)
    with pytest.raises(ValueError, match=message):
        getattr(model, method)(rows, labels, **keywords)
    for now, then in zip(state(model), before, strict=True):
        np.testing.assert_array_equal(now, then)


def test_wrong_widths():
    model = Perceptron(max_iter=3).fit(X, y)
    for call in (model.predict, model.decision_function, lambda Z: model.partial_fit(Z, y)):
        with pytest.raises(ValueError, match="X has 4 features, but Perceptron is expecting 5 features as input"):
            call(X[:, :4])
    with pytest.raises(ValueError, match="X has 4 features"):
        Perceptron(early_stopping=True).fit(X, y, X_val=X[:, :4], y_val=y)


def test_weights_of_zero_only():
    with pytest.raises(ValueError, match="Sample weights must contain at least one non-zero number"):
        Perceptron().fit(X, y, sample_weight=np.zeros(30))


def test_one_class_only_in_fit():
    with pytest.raises(ValueError, match="number of classes has to be greater than one; got 1 class"):
        Perceptron().fit(X, np.ones(30))


def test_labels_that_do_not_match():
    model = Perceptron(max_iter=3).fit(X, y)
    before = state(model)
    with pytest.raises(ValueError, match=r"labels do not match: known classes are 0, 1 \(int64\), got 'b'"):
        model.partial_fit(X, np.where(y, "a", "b"))
    with pytest.raises(ValueError, match="label 5 at row 0 of y_val is not one of the classes: 0, 1"):
        model.fit(X, y, X_val=X, y_val=np.full(30, 5))
    for now, then in zip(state(model), before, strict=True):
        np.testing.assert_array_equal(now, then)


@pytest.mark.parametrize("rows", [X, sp.csr_array(X), sp.csr_array(X[:4])], ids=["dense", "csr", "few"])
@pytest.mark.parametrize("readout", ["last", "averaged", "voted"])
def test_overflow_is_named_and_undone(rows, readout):
    """In the middle of a chunk, after rows that were learned and after a new class appeared."""
    labels = np.arange(rows.shape[0]) % 3
    model = Perceptron(readout=readout).partial_fit(X, y)
    before = state(model)
    model.set_params(eta0=1e308)
    with pytest.raises(ValueError, match="weights overflow float64"):
        model.partial_fit(rows * 1e3, labels)
    for now, then in zip(state(model), before, strict=True):
        np.testing.assert_array_equal(now, then)
    fresh = Perceptron(eta0=1e308)
    with pytest.raises(ValueError, match="weights overflow float64"):
        fresh.fit(rows * 1e3, labels)
    assert not hasattr(fresh, "classes_")


def test_plain_pa_refuses_weights():
    for keywords in ({"sample_weight": np.ones(30)},):
        with pytest.raises(ValueError, match="the rule PA does not accept sample_weight"):
            Perceptron(rule="pa").fit(X, y, **keywords)
    with pytest.raises(ValueError, match="the rule PA does not accept sample_weight or class_weight"):
        Perceptron(rule="pa", class_weight="balanced").fit(X, y)


def test_bad_class_weights_are_named():
    for value in (-1.0, np.inf, np.nan):
        with pytest.raises(ValueError, match=f"class_weight must be >= 0 and finite, got {value} for class 1"):
            Perceptron(class_weight={1: value}).fit(X, y)


def test_announced_classes():
    assert Perceptron().partial_fit(X, y, classes={0, 1, 2}).classes_.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="classes must be a list of labels, got 2"):
        Perceptron().partial_fit(X, y, classes=2)


def test_parameters_are_checked_in_every_call():
    model = Perceptron().partial_fit(X, y)
    for wrong in ({"eta0": -1.0}, {"tie": "nope"}, {"readout": "nope"}, {"rule": "nope"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            clone(model).set_params(**wrong).fit(X, y)
        fitted = Perceptron().partial_fit(X, y).set_params(**wrong)
        with pytest.raises(ValueError, match=next(iter(wrong))):
            fitted.partial_fit(X, y)


def test_sparse_rows_with_one_axis():
    with pytest.raises(ValueError, match=r"Expected 2D|2D array|dimension"):
        Perceptron().fit(sp.coo_array(X[0]).tocsr(), [1])


def test_balanced_weights_need_all_labels():
    for model in (Perceptron(class_weight="balanced"), PassiveAggressiveClassifier(class_weight="balanced")):
        with pytest.raises(ValueError, match="class_weight='balanced' needs all labels in advance"):
            model.partial_fit(X, y)


def test_a_pocket_is_for_fit_only():
    model = Perceptron(readout="pocket")
    assert not hasattr(model, "partial_fit") and not hasattr(model.fit(X, y), "predict_then_learn")
    with pytest.raises(AttributeError) as refused:
        model.partial_fit(X, y)
    assert "readout='pocket' compares hypotheses on all training rows" in str(refused.value.__cause__)
    assert hasattr(model.set_params(readout="last"), "partial_fit")


def test_rows_that_share_no_memory_are_only_those_taken():
    rows = as_rows(sp.csr_array(X))
    part = rows.take(np.array([3, 0]))
    np.testing.assert_array_equal(part.matrix().toarray(), X[[3, 0]])
    np.testing.assert_array_equal(part.sq_norm, (X[[3, 0]] ** 2).sum(axis=1))


def test_masked_arrays_are_refused():
    masked = np.ma.masked_array([[0.0, 1.0], [1.0, 0.0]], mask=[[True, False], [False, False]])
    with pytest.raises(ValueError, match="X is a masked array, whose mask is not read"):
        Perceptron().fit(masked, [0, 1])
