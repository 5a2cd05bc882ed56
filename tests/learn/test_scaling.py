"""Features on one scale: the statistics, the map, and models that learn from it and take rows as they are."""

import naive
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import dump_svmlight_file

from perceptrons import KernelPerceptron, Perceptron, load, save
from perceptrons.data import as_rows, source
from perceptrons.learn.holdout import chosen
from perceptrons.learn.scale import statistics
from perceptrons.learn.scale.scaling import Scaling
from perceptrons.learn.scale.statistics import APART, FARTHEST, Sizes, Statistics, off_scale
from perceptrons.theory import margins

WILD = np.array([1e-6, 1.0, 5e3, 1e9])  # sizes of columns
OFFSET = np.array([0.0, 1.0, -2e4, 3e9])


def wild(n=300, seed=0):
    """Rows whose columns differ in size and offset, and labels that depend on all of them alike."""
    random = np.random.default_rng(seed)
    Z = random.standard_normal((n, len(WILD)))
    return OFFSET + WILD * Z, np.where(Z.sum(axis=1) > 0, "up", "down")


def scaled_by(statistics, X, left_out=None):
    statistics.add(as_rows(X), left_out)
    return statistics.scaling(True).apply(as_rows(X)).matrix()


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    X, y = wild()
    path = tmp_path_factory.mktemp("scaling") / "wild.npz"
    np.savez(path, X=X, y=y)
    return path, X, y


@given(st.integers(1, 40), st.integers(1, 5), st.integers(0, 10**6))
def test_columns_get_mean_0_and_deviation_1(n, d, seed):
    random = np.random.default_rng(seed)
    X = random.integers(-5, 6, (n, d)) * 10.0 ** random.integers(-4, 5, d)
    held = random.random(n) < 0.3
    if held.all():
        held[0] = False
    found = scaled_by(Statistics(d), X, held)
    assert np.allclose(found, np.clip(naive.standardised(X, ~held), -FARTHEST, FARTHEST), rtol=1e-9, atol=1e-9)


def test_statistics_do_not_depend_on_how_rows_are_cut():
    X, _ = wild()
    whole, parts = Statistics(4), Statistics(4)
    whole.add(as_rows(X))
    for begin, end in [(0, 1), (1, 7), (7, 250), (250, 300)]:
        parts.add(as_rows(X[begin:end]))
    for name in ("count", "mean", "squares", "low", "high", "sample"):
        assert np.array_equal(getattr(whole, name), getattr(parts, name))


def test_the_sample_is_spread_evenly_whatever_the_cuts(monkeypatch):
    monkeypatch.setattr(statistics, "KEPT", 8)
    found = Statistics(1)
    held = np.zeros(30, dtype=bool)
    held[::3] = True
    X = np.arange(30.0)[:, np.newaxis]
    for begin, end in [(0, 5), (5, 6), (6, 30)]:
        found.add(as_rows(X[begin:end]), held[begin:end])
    assert found.sample.ravel().tolist() == X[~held].ravel()[::4].tolist()


@pytest.mark.parametrize("matrix", [np.asarray, sp.csr_array])
def test_advice_about_scales_looks_at_2_to_the_13_values(matrix):
    """Of four times as many it sees every fourth row. The sizes in a row depend on how often its number is even."""
    number = np.arange(1 << 13)
    X = np.ones((len(number), 4))
    X[:, 0] = np.where(number % 4, 1e9, np.where(number % 64, 1e6, 1e3))
    found = off_scale(as_rows(matrix(X)), None)
    assert X[::4].size == 1 << 13 and found == off_scale(as_rows(matrix(X[::4])), None)
    assert "about 9.7e+05" in found and "about 1e+03" in off_scale(as_rows(matrix(X[::64])), None)


def test_advice_about_scales_leaves_out_what_is_rare_or_0():
    X = np.full((100, 4), [1.0, 2.0, 1e9, 0.0])
    X[9:, 2] = 0.0
    assert off_scale(as_rows(X), None) == off_scale(as_rows(sp.csr_array(X)), None) == ""
    X[9, 2] = 1e9
    assert "column 2" in off_scale(as_rows(X), None) == off_scale(as_rows(sp.csr_array(X)), None)
    stored = sp.csr_array(X)
    stored.data[stored.indices == 2] = 0.0
    assert off_scale(as_rows(stored), None) == off_scale(as_rows(sp.csr_array((2, 3))), None) == ""


def test_advice_about_scales_looks_at_16_rows_if_they_are_long():
    """With fewer, the size of some feature among many would look small by chance."""
    X = np.random.default_rng(0).standard_normal((64, 4000))
    assert off_scale(as_rows(X[:1]), None) != ""
    assert off_scale(as_rows(X), None) == off_scale(as_rows(sp.csr_array(X)), None) == ""


def test_advice_about_scales_of_huge_values():
    X = np.array([[1e150, 1.0], [-1e154, 1.0], [1e154, 2.0]])
    for rows in (as_rows(X), as_rows(sp.csr_array(X)), as_rows(100 * X, any_length=True)):
        assert "column 0" in off_scale(rows, None)


def test_a_sample_of_rows_has_at_most_2_to_the_14():
    found = Statistics(1)
    found.add(as_rows(np.arange(1.0 + (1 << 14))[:, np.newaxis]))
    assert found.sample.ravel().tolist() == np.arange(0.0, 1 + (1 << 14), 2).tolist()


def test_a_wild_cell_does_not_hide_the_others():
    random = np.random.default_rng(5)
    X = random.standard_normal((2000, 2))
    X[77, 0] = 1e9  # a typing error
    found = scaled_by(Statistics(2), X)
    others = np.arange(2000) != 77
    assert 0.9 < found[others, 0].std() < 1.1 and found[77, 0] == FARTHEST
    assert np.allclose(found[:, 1], scaled_by(Statistics(1), X[:, 1:])[:, 0])


def test_a_column_that_is_almost_always_0_keeps_its_deviation():
    X = np.zeros((2000, 1))
    X[[3, 900]] = 1.0
    statistics = Statistics(1)
    statistics.add(as_rows(X))
    assert statistics.scaling(True).spread[0] == pytest.approx(X.std())


def test_dense_rows_equal_sparse_rows_with_all_entries():
    X, _ = wild(50)
    X[:, 1] = np.round(X[:, 1])  # some zeros
    every = sp.csr_array((X.ravel(), np.tile(np.arange(4), 50), np.arange(0, 201, 4)), shape=X.shape)
    dense, sparse = Statistics(4), Statistics(4)
    dense.add(as_rows(X))
    sparse.add(as_rows(every))
    one, other = dense.scaling(True).apply(as_rows(X)), sparse.scaling(True).apply(as_rows(every))
    assert np.allclose(one.matrix(), other.matrix().toarray(), rtol=1e-9)
    assert np.allclose(one.sq_norm, (one.matrix() ** 2).sum(axis=1)) and np.allclose(one.sq_norm, other.sq_norm)


def test_absent_entries_of_sparse_rows_do_not_count_and_stay_absent():
    X = sp.csr_array((np.array([2.0, 4.0, 7.0]), np.array([0, 0, 1]), np.array([0, 1, 2, 3])), shape=(3, 2))
    found = scaled_by(Statistics(1), X)
    assert found.toarray().tolist() == [[-1, 0], [1, 0], [0, 7]]  # the mean of column 0 is 3; column 1 is not scaled


@pytest.mark.parametrize("value", [0.1, 1e12 / 3, -3.0, 0.0])
def test_constant_columns_become_zero(value):
    X = np.column_stack([np.full(1000, value), np.arange(1000.0)])
    statistics = Statistics(2)
    statistics.add(as_rows(X))
    assert statistics.scaling(True).constant == [0]
    assert not statistics.scaling(True).apply(as_rows(X)).matrix()[:, 0].any()


def test_sparse_features_keep_their_zeros_and_are_scaled_only_if_far_apart():
    random = np.random.default_rng(1)
    X = sp.random_array((200, 5), density=0.4, rng=random, format="csr")
    X.data = random.uniform(1, 2, X.data.size)
    alike = Sizes(dense=False)
    alike.add(as_rows(X))
    assert not alike.far_apart
    X = sp.csr_array(X.toarray() * np.array([1, 1, 1, 1, 3 * APART]))
    apart = Sizes(dense=False)
    found = scaled_by(apart, X)
    assert apart.far_apart
    assert np.allclose(found.toarray(), X.toarray() / naive.root_mean_squares(X.toarray()))
    assert (found.indices == X.indices).all()


def test_rare_features_do_not_decide_whether_to_scale():
    X = np.eye(100)[:, :3] * np.array([1.0, 1e3, 1e6]) + np.c_[np.zeros((100, 2)), np.ones(100)]
    X[0, 2] = 1.0
    found = Sizes(dense=False)
    found.add(as_rows(sp.csr_array(X)))
    assert not found.far_apart


def test_dense_numbered_features_that_are_mostly_not_zero_are_centred():
    X, _ = wild()
    few = np.where(np.arange(300) % 10 == 0, 5.0, 0.0)
    found = scaled_by(Sizes(dense=True), np.column_stack([X, few]))
    assert np.allclose(found[:, :4], naive.standardised(X), atol=1e-6)
    assert np.allclose(found[:, 4], few / 5.0)


def test_values_are_cut_off_at_the_limit():
    map = Scaling(np.array([1.0]), np.array([2.0]), limit=3.0)
    assert map.apply(as_rows(np.array([[1.0], [2.0], [100.0], [-100.0]]))).matrix().ravel().tolist() == [0, 0.5, 3, -3]


@pytest.mark.parametrize("shape", [(5,), (5, 3)])
def test_folded_weights_give_the_scores_of_scaled_rows(shape):
    random = np.random.default_rng(2)
    X, w = random.standard_normal((20, 4)), random.standard_normal(shape)
    map = Scaling(random.standard_normal(4), np.array([0.1, 2.0, 0.0, 50.0]))
    coef, offset = map.fold(w[:-1], w[-1:].ravel())
    assert np.allclose(X @ coef + offset, map.apply(as_rows(X)).matrix() @ w[:-1] + w[-1])


def test_without_a_bias_features_are_not_centred(file):
    path, X, _ = file
    model = Perceptron(readout="averaged", fit_intercept=False, max_iter=2, tol=None).fit(source(path))
    assert model.intercept_.tolist() == [0.0]
    assert np.allclose(model._learner.scaling.spread, naive.root_mean_squares(X))
    assert np.allclose(X @ model.coef_[0], model.decision_function(X))


@pytest.mark.parametrize("readout", ["averaged", "voted", "pocket"])
def test_models_learn_from_scaled_rows_and_take_raw_ones(file, readout, tmp_path):
    path, X, y = file
    settings = {"readout": readout, "shuffle": False, "max_iter": 4, "tol": None}
    model = Perceptron(**settings).fit(source(path))
    plain = Perceptron(**settings).fit(naive.standardised(X), y)
    assert np.allclose(model.decision_function(X), plain.decision_function(naive.standardised(X)), atol=1e-4)
    assert model.mistakes_.tolist() == plain.mistakes_.tolist()
    assert np.array_equal(model.decision_function(source(path)), model.decision_function(X))
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert np.array_equal(again.decision_function(X), model.decision_function(X))
    if readout == "averaged":
        assert np.allclose(X @ model.coef_[0] + model.intercept_, model.decision_function(X), atol=1e-5)
        for each in (model, again):
            each.partial_fit(X[:20], y[:20])
        assert np.array_equal(again.coef_, model.coef_)


def test_kernels_see_scaled_rows(file):
    path, X, y = file
    Z = naive.standardised(X)
    model = KernelPerceptron(shuffle=False, max_iter=3).fit(source(path))
    plain = KernelPerceptron(shuffle=False, max_iter=3).fit(Z, y)
    assert np.allclose(model.decision_function(X), plain.decision_function(Z), atol=1e-4)
    assert np.allclose(model.kernel_matrix(X[:5]), plain.kernel_matrix(Z[:5]), atol=1e-4)


def test_arrays_and_scale_none_stay_as_they_are(file):
    path, X, y = file
    settings = {"readout": "averaged", "shuffle": False, "max_iter": 2, "tol": None}
    raw = Perceptron(**settings).fit(X, y)
    assert np.array_equal(Perceptron(**settings).fit(source(path, scale="none")).coef_, raw.coef_)
    scaled = Perceptron(**settings).fit(source(path))
    assert not np.array_equal(scaled.coef_, raw.coef_)
    assert np.array_equal(scaled.fit(X, y).coef_, raw.coef_)  # nothing is left of the scaling


@pytest.mark.parametrize("estimator", [Perceptron(readout="averaged"), Perceptron(readout="pocket")])
def test_held_out_rows_take_no_part_in_the_statistics(file, tmp_path, estimator):
    path, X, y = file
    estimator.set_params(early_stopping=True, validation_fraction=0.2, max_iter=2, tol=None)
    model = estimator.fit(source(path))
    held = chosen(0, len(X), 0.2, int(np.random.RandomState(0).randint(2**31)))
    assert held.any()
    other = X.copy()
    other[held] *= 7.5
    np.savez(tmp_path / "other.npz", X=other, y=y)
    centre, spread = model._learner.scaling.centre, model._learner.scaling.spread
    learned = estimator.fit(source(tmp_path / "other.npz"))._learner.scaling
    assert np.array_equal(learned.centre, centre) and np.array_equal(learned.spread, spread)
    assert np.allclose(centre, X[~held].mean(axis=0))


def test_one_pass_has_running_statistics_and_ends_with_those_of_all_rows(tmp_path):
    random = np.random.default_rng(3)
    X = np.abs(random.standard_normal((400, 3))) * np.array([1.0, 1e4, 1e-3]) + 1e-6
    y = np.where(X[:, 0] > 0.7, 1, -1)
    path = tmp_path / "one.svm"
    dump_svmlight_file(X, y, str(path), zero_based=True)
    for model in (Perceptron(max_iter=1, tol=None).fit(source(path)), Perceptron().partial_fit(source(path))):
        assert np.allclose(model._learner.scaling.spread, naive.root_mean_squares(X))


def test_a_fit_that_goes_on_keeps_its_scaling(file):
    path, X, y = file
    model = Perceptron(readout="averaged", warm_start=True, max_iter=1, tol=None).fit(source(path))
    before = model._learner.scaling
    for data in ((source(path),), (X * 2.0, y)):
        assert model.fit(*data)._learner.scaling is not None
        assert np.array_equal(model._learner.scaling.centre, before.centre)


def test_advice_names_the_features_whose_scale_is_off():
    X, _ = wild(30)
    text = off_scale(as_rows(X), ["tiny", "one", "large", "huge"])
    assert "'huge'" in text and "'tiny'" in text and "StandardScaler" in text and "'large'" not in text
    assert "column 3" in off_scale(as_rows(X), None)
    assert off_scale(as_rows(naive.standardised(X)), None) == ""


@pytest.mark.parametrize("readout", ["averaged", "pocket"])
def test_missing_numbers_count_as_the_mean_of_training_rows(tmp_path, readout):
    random = np.random.default_rng(6)
    ages, jobs = random.normal(1000, 5, 80), random.choice(["a", "b"], 80)
    lines = [f"{age:.1f},{job},{'yes' if age > 1000 else 'no'}" for age, job in zip(ages, jobs, strict=True)]
    train, held = tmp_path / "train.csv", tmp_path / "held.csv"
    train.write_text("\n".join(["age,job,y", *lines, ",a,no"]) + "\n")
    model = Perceptron(readout=readout, max_iter=2, tol=None).fit(source(train, target="y"))
    mean = float(model._learner.scaling.centre[0])
    assert model.encoding_.means == {"age": mean} and mean == pytest.approx(np.round(ages, 1).mean())
    held.write_text(f"age,job,y\n,a,no\n{mean!r},a,no\n")
    one, other = model.decision_function(source(held, like=model.encoding_))
    marked = model.encoding_.feature_names.index("age=(missing)")
    assert one - other == pytest.approx(model.coef_[0, marked])  # they differ by the mark alone


def test_absent_entries_of_sparse_arrays_are_zeros(file):
    """Of tables they are missing numbers; a user's sparse matrix has zeros there."""
    path, X, _ = file
    X = np.where(np.arange(X.size).reshape(X.shape) % 3 == 0, 0.0, X)
    for settings in ({}, {"readout": "voted"}):
        model = Perceptron(max_iter=2, tol=None, **settings).fit(source(path))
        assert model._learner.scaling.centre.any()
        np.testing.assert_allclose(model.decision_function(sp.csr_array(X)), model.decision_function(X), atol=1e-6)


def test_initial_weights_are_those_of_unscaled_rows(file):
    path, X, y = file
    model = Perceptron(max_iter=3, tol=None, shuffle=False).fit(source(path))
    again = Perceptron(max_iter=1, tol=None, shuffle=False)
    start = {"coef_init": model.coef_, "intercept_init": model.intercept_}
    again.fit(source(path), **start)
    unchanged = Perceptron(max_iter=1, tol=None, shuffle=False, eta0=1e-300).fit(source(path), **start)
    np.testing.assert_allclose(unchanged.decision_function(X), model.decision_function(X), rtol=1e-6, atol=1e-6)
    assert again.mistakes_[0] == (model.predict(X) != y).sum() or again.n_updates_ > 0


def test_one_absurd_value_among_few_rows(tmp_path):
    X = np.random.default_rng(7).standard_normal((200, 1))
    X[50] = 1e12
    found = scaled_by(Statistics(1), X)
    assert 0.9 < np.delete(found, 50).std() < 1.1


def test_like_has_means_of_its_own(tmp_path):
    for name, shift in (("a.csv", 0), ("b.csv", 1000)):
        lines = [f"{k % 7 + shift},{'xy'[k % 2]},{k % 2}" for k in range(40)] + [f",x,{k}" for k in (0, 1)]
        (tmp_path / name).write_text("\n".join(["age,job,y", *lines]) + "\n")
    first = Perceptron(max_iter=2, tol=None).fit(source(tmp_path / "a.csv", target="y"))
    before = dict(first.encoding_.means)
    Perceptron(readout="pocket", max_iter=2).fit(source(tmp_path / "b.csv", like=first.encoding_))
    assert first.encoding_.means == before


def test_margins_of_rows_that_are_cut_off_are_refused(tmp_path):
    X, y = wild(60)
    np.savetxt(tmp_path / "wild.csv", np.column_stack([X, y == "up"]), delimiter=",", header="a,b,c,d,y", comments="")
    model = Perceptron(max_iter=3, tol=None).fit(source(tmp_path / "wild.csv", target="y", categorical=["y"]))
    X = pd.DataFrame(X, columns=list("abcd"))
    labels = model.predict(X)
    assert len(margins(X, labels, model)) == 60
    X.iloc[0, 0] = 1e9
    with pytest.raises(ValueError, match="cuts off numbers"):
        margins(X, labels, model)


def test_a_fit_that_goes_on_with_arrays_can_be_saved(tmp_path):
    (tmp_path / "t.csv").write_text("text,y\n" + "".join(f"w{k % 5} common,{'ab'[k % 2]}\n" for k in range(40)))
    mail = source(tmp_path / "t.csv", target="y", text=["text"], text_bits=6)
    model = Perceptron(warm_start=True, max_iter=2, tol=None).fit(mail)
    X, y = mail.arrays()
    model.fit(X, y)
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    np.testing.assert_allclose(model.decision_function(X.toarray()), model.decision_function(X))
