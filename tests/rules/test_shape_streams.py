"""Covariances and scales are part of the state: after cuts, growth, undo, copies and files, learning goes on."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_shapes import Shaped
from shape_cases import KINDS, LAYOUTS, NAMES, Endless, assert_same, close, data, joined, state_of
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file

from perceptrons import KernelPerceptron, Perceptron, SequenceTagger, StructuredPerceptron, load, save
from perceptrons.core.linear import shapes as entries
from perceptrons.data.svmlight import SvmlightSource
from perceptrons.rules import RULES, Shifting, kind_of
from perceptrons.structures import Ranking
from perceptrons.theory import trace

WAYS = pytest.mark.parametrize("kind", KINDS)
CUTS = st.sets(st.integers(1, 23), max_size=6).map(sorted)


def slow_twin(kind, **settings):
    rule = KINDS[kind]
    return Shaped(type(rule).__name__.lower(), **rule._asdict(), **settings)


def fast(kind, readout="averaged", **settings):
    return Perceptron(rule=KINDS[kind], readout=readout, shuffle=False, tol=None, **settings)


def late(seed, n=24):
    """Labels whose classes appear at rows 0, 3, 8 and 14."""
    random = np.random.default_rng(seed)
    known = np.searchsorted([0, 3, 8, 14], np.arange(n), side="right")
    codes = random.integers(known)
    codes[[0, 3, 8, 14]] = random.permutation(4)
    first = codes[[0, 3, 8, 14]]
    for i in range(n):  # only classes that have appeared
        if i not in (0, 3, 8, 14):
            codes[i] = first[random.integers(known[i])]
    return NAMES[codes]


# -- cuts and growth -------------------------------------------------------------------------------------------------


@WAYS
@given(cuts=CUTS, seed=st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_cuts_change_not_a_bit(kind, cuts, seed):
    """Also where a class appears for the first time inside a chunk."""
    X, y = data(4, seed)[0], late(seed)
    rows = LAYOUTS["csr"](X)
    whole, parts = fast(kind).partial_fit(rows, y), fast(kind)
    for begin, end in zip([0, *cuts], [*cuts, 24], strict=True):
        parts.partial_fit(rows[begin:end], y[begin:end])
    assert state_of(parts) == state_of(whole)


@WAYS
def test_classes_that_appear_later(kind):
    checked = 0
    for seed in range(10):
        X, y = data(4, seed)[0], late(seed)
        slow = slow_twin(kind)
        slow.partial_fit(X, y)
        if slow.unclear == 0:
            assert_same(fast(kind).partial_fit(LAYOUTS["csr"](X), y), slow)
            checked += 1
    assert checked > 5


def written(tmp_path, X, y):
    path = tmp_path / "rows.svm"
    dump_svmlight_file(X, y, str(path), zero_based=True)
    return SvmlightSource([str(path)], block=300)


@WAYS
def test_features_that_appear_later(kind, tmp_path):
    """New features have weights of 0, and the variance of the start; a stream from a file equals one from an array."""
    random = np.random.default_rng(3)
    X = sp.random_array((120, 40), density=0.2, rng=random, format="lil")
    X[:30, 6:], X[30:60, 14:] = 0, 0
    X[59, 13] = X[119, 39] = 1.0
    X, y = X.tocsr(), np.where(np.arange(120) < 4, np.arange(120) % 2, random.integers(2, size=120)).astype(float)
    source = written(tmp_path, X, y)
    assert len({batch.rows.n_features for batch in source.batches()}) > 3
    files, arrays = fast(kind).partial_fit(source), fast(kind).partial_fit(X, y)
    assert files.n_features_in_ == 40 and files.n_updates_ == arrays.n_updates_
    close(joined(files), joined(arrays), 1e-12)
    passes = fast(kind, max_iter=3).fit(source)
    close(joined(passes), joined(fast(kind, max_iter=3).fit(X, y)), 1e-9)
    slow = slow_twin(kind)
    dense = X.toarray()
    for begin, end, width in ((0, 30, 6), (30, 60, 14), (60, 120, 40)):
        if begin:
            slow.widen(width)
        slow.partial_fit(dense[begin:end, :width], y[begin:end])
    close(joined(files), slow.averaged(), 1e-9)


@WAYS
def test_predict_then_learn(kind):
    X, y, _ = data(2, seed=5)
    slow, model = slow_twin(kind, classes=NAMES[:2]), fast(kind, "last")
    for begin, end in ((0, 7), (7, 8), (8, 24)):
        expected = slow.partial_fit(X[begin:end], y[begin:end])
        got = model.predict_then_learn(X[begin:end], y[begin:end], classes=NAMES[:2])
        np.testing.assert_array_equal(got, expected)
    assert_same(model, slow)


# -- going back ------------------------------------------------------------------------------------------------------


@WAYS
@pytest.mark.parametrize("layout", LAYOUTS)
def test_bad_rows_change_nothing(kind, layout):
    X, y, _ = data(2)
    model = fast(kind, "last").partial_fit(X, y)
    before = state_of(model)
    bad = X.copy()
    bad[12, 1] = np.nan
    with pytest.raises(ValueError, match="NaN at row 12"):
        model.partial_fit(LAYOUTS[layout](bad), y)
    assert state_of(model) == before


@WAYS
def test_an_overflow_in_the_middle_is_undone(kind):
    """After rows that were learned, and after a new class appeared. Few rows are undone by their features only."""
    X, y, _ = data(2)
    model = fast(kind).partial_fit(LAYOUTS["csr"](X), y)
    before = state_of(model)
    for n in (4, 24):
        huge, labels = X[:n].copy(), np.resize(NAMES[:3], n)
        huge[n - 2 :] = [[-1e153], [1e153]]
        model.set_params(**({"rule": Endless()} if kind == "scale" else {"eta0": 1e300}))
        with pytest.raises(ValueError, match="overflow"):
            model.partial_fit(LAYOUTS["csr"](huge), labels)
        model.set_params(rule=KINDS[kind], eta0=1.0)
        assert state_of(model) == before
    model.partial_fit(LAYOUTS["csr"](X), y)  # it goes on


@WAYS
def test_rows_with_few_of_many_features(kind):
    """Such a row is undone by its own features, but the scale of w must be folded into all weights now and then."""
    random = np.random.default_rng(0)
    X = sp.csr_array(sp.random_array((400, 60), density=0.05, rng=random))
    y = NAMES[random.integers(2, size=400)]
    rule = Shifting(lam=30.0) if kind == "scale" else KINDS[kind]
    whole, parts = (Perceptron(rule=rule, readout="averaged") for _ in range(2))
    whole.partial_fit(X, y, classes=NAMES[:2])
    bad = sp.csr_array(([np.nan], ([0], [5])), shape=(1, 60))
    folds = 0
    for i in range(400):
        parts.partial_fit(X[i : i + 1], y[i : i + 1], classes=NAMES[:2])
        if kind == "scale":
            folds += parts._learner.state["scale"][entries.SCALE] == 1.0
        if i % 50 == 7:
            with pytest.raises(ValueError, match="NaN"):
                parts.partial_fit(sp.vstack([X[:1], bad], format="csr"), y[:2])
    np.testing.assert_array_equal(joined(parts), joined(whole))
    assert parts.n_updates_ == whole.n_updates_ and (folds > 5 or kind != "scale")


@WAYS
def test_a_file_that_breaks_off_changes_nothing(kind, tmp_path):
    X, y, _ = data(2, n=120)
    path = tmp_path / "rows.svm"
    dump_svmlight_file(X, (y == NAMES[0]).astype(int), str(path), zero_based=True)
    path.write_text(path.read_text() + "1 0:1 90:2\n0 0:nonsense\n")
    model = fast(kind).partial_fit(LAYOUTS["csr"](X), (y == NAMES[0]).astype(float))
    before = state_of(model)
    with pytest.raises(ValueError, match="nonsense"):
        model.partial_fit(SvmlightSource([str(path)], block=300))
    assert state_of(model) == before


@WAYS
def test_early_stopping_goes_back_to_the_best_pass(kind):
    settings = {"early_stopping": True, "random_state": 0}
    for seed in range(20):
        X, y, _ = data(2, seed, n=60)
        model = fast(kind, "last", n_iter_no_change=3, **settings).fit(X, y)
        errors = model.validation_errors_
        best = int(np.flatnonzero(errors == errors.min())[-1]) + 1
        if best < model.n_iter_:
            break
    again = fast(kind, "last", n_iter_no_change=10**6, max_iter=best, **settings).fit(X, y)
    assert model.n_iter_ > again.n_iter_ == best
    for name in model._learner.state:
        np.testing.assert_array_equal(model._learner.state[name], again._learner.state[name], err_msg=name)


# -- going on --------------------------------------------------------------------------------------------------------


@WAYS
@pytest.mark.parametrize("n_classes", [2, 3])
def test_warm_start_goes_on(kind, n_classes):
    X, y, _ = data(n_classes)
    rows = LAYOUTS["csr"](X)
    warm = fast(kind, max_iter=2, warm_start=True).fit(rows, y).fit(rows, y)
    once = fast(kind, max_iter=4).fit(rows, y)
    assert once.n_iter_ == 4 and warm.n_updates_ == once.n_updates_
    for name in once._learner.state:
        if name != "scale":  # its share of the origin is measured from the second fit on
            np.testing.assert_array_equal(warm._learner.state[name], once._learner.state[name], err_msg=name)
    np.testing.assert_array_equal(joined(warm), joined(once))


@WAYS
def test_warm_start_with_a_new_class(kind):
    X, y, _ = data(3, n=40)
    old = y != NAMES[2]
    rows = LAYOUTS["csr"](X)
    model = fast(kind, max_iter=1, warm_start=True).fit(rows[old], y[old]).fit(rows, y)
    slow = slow_twin(kind, classes=NAMES[:2])
    slow.partial_fit(X[old], y[old])
    slow.meet(NAMES[2])
    slow.partial_fit(X, y)
    close(joined(model), slow.averaged())


WAYS_TO_COPY = {
    "pickle": lambda model, path: pickle.loads(pickle.dumps(model)),
    "deepcopy": lambda model, path: copy.deepcopy(model),
    "file": lambda model, path: save(model, path) or load(path),
}


@WAYS
@pytest.mark.parametrize("way", WAYS_TO_COPY)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_copies_in_the_middle_of_a_stream_go_on(kind, way, n_classes, tmp_path):
    X, y, Q = data(n_classes, n=48)
    rows = LAYOUTS["csr"](X)
    model = fast(kind).partial_fit(rows[:24], y[:24])
    again = WAYS_TO_COPY[way](model, tmp_path / "m.perceptron")
    assert state_of(again) == state_of(model) and again.rule == model.rule
    np.testing.assert_array_equal(again.decision_function(Q), model.decision_function(Q))
    for each in (model, again):
        each.partial_fit(rows[24:], y[24:])
    assert state_of(again) == state_of(model)
    assert again.margin_bound_ == model.margin_bound_
    assert state_of(clone(model).partial_fit(rows, y)) == state_of(model)


@WAYS
def test_a_saved_stream_may_grow(kind, tmp_path):
    """By classes, after it was loaded."""
    X, y = data(4, 1)[0], late(1)
    rows = LAYOUTS["csr"](X)
    whole, model = fast(kind).partial_fit(rows, y), fast(kind).partial_fit(rows[:6], y[:6])
    save(model, tmp_path / "m.perceptron")
    assert state_of(load(tmp_path / "m.perceptron").partial_fit(rows[6:], y[6:])) == state_of(whole)


@WAYS
@pytest.mark.parametrize("readout", ["last", "averaged"])
def test_normalized_models_predict_the_same(kind, readout):
    X, y, Q = data(3)
    model = fast(kind, readout).partial_fit(LAYOUTS["csr"](X), y)
    unit = model.normalized()
    np.testing.assert_allclose(np.linalg.norm(unit.coef_), 1.0)
    np.testing.assert_array_equal(unit.predict(Q), model.predict(Q))
    close(unit.coef_ / np.abs(unit.coef_).max(), model.coef_ / np.abs(model.coef_).max())


# -- what does not combine -------------------------------------------------------------------------------------------

SHAPES = [name for name in RULES if kind_of(RULES[name]) != "tau"]


@pytest.mark.parametrize("name", SHAPES)
def test_what_does_not_combine_says_why(name):
    X, y, _ = data(2)
    rule = RULES[name].__name__
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match=rf"readout='voted' does not combine with the rule {rule}: .*Use"):
            getattr(Perceptron(rule=name, readout="voted"), method)(X, y)
    known = rf"the rule {rule} does not combine with .*: .*Use one of 'perceptron'"
    with pytest.raises(ValueError, match=known):
        KernelPerceptron(rule=name).fit(X, y)
    with pytest.raises(ValueError, match=known):
        SequenceTagger(rule=name).fit([["a", "b"]], [["X", "Y"]])
    with pytest.raises(ValueError, match=known):
        StructuredPerceptron(Ranking(), rule=name).fit([[[0.0, 1.0], [1.0, 0.0]]], [[1, 0]])
    with pytest.raises(ValueError, match=known):
        trace(Perceptron(rule=name), X, y)


@WAYS
def test_a_rule_of_another_kind_may_not_take_over(kind):
    """A stream that has kept no covariance has none to go on with; parameters may change."""
    X, y, _ = data(2)
    model = fast(kind).partial_fit(LAYOUTS["csr"](X), y)
    before = state_of(model)
    other = "perceptron" if kind == "scale" else "romma"
    with pytest.raises(ValueError, match="rule was changed"):
        model.set_params(rule=other).partial_fit(LAYOUTS["csr"](X), y)
    assert state_of(model.set_params(rule=KINDS[kind])) == before
