"""When `fit` ends although mistakes remain: proofs that rows cannot be separated, and losses that stop falling."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.exceptions import ConvergenceWarning
from training_cases import noisy, separable, textbook, textbook_kernel

from perceptrons import PassiveAggressiveClassifier, load, save
from perceptrons.cli.main import main
from perceptrons.data import source
from perceptrons.data.arrays import as_rows
from perceptrons.learn.examples import Examples
from perceptrons.learn.fit import Falling
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.rules import Plain
from perceptrons.solver.decision import decision
from perceptrons.theory import separability, trace


def with_twins(n=20_000, d=20, classes=2, at=(7, 1234)):
    """Rows that can be separated, except for one pair of equal rows."""
    X, y = separable(n, d, 0.3)
    if classes > 2:
        X = X + 2.0 * np.eye(d)[np.arange(len(X)) % classes] * 4
        y = np.arange(len(X)) % classes
    X[at[1]], y[at[1]] = X[at[0]], (y[at[0]] + 1) % classes
    return X, y


# -- a proof that rows cannot be separated ---------------------------------------------------------------------


@pytest.mark.parametrize("form", ["dense", "sparse", "float32", "3 classes"])
def test_one_contradicting_pair_ends_training_and_is_named(form):
    X, y = with_twins(classes=3 if form == "3 classes" else 2)
    X = {"sparse": sp.csr_array(X), "float32": X.astype(np.float32)}.get(form, X)
    with pytest.warns(ConvergenceWarning, match="rows 7 and 1234 are equal but have different labels, so the rows are"):
        model = textbook().fit(X, y)
    assert model.contradiction_.tolist() == [7, 1234]
    assert not model.converged_ and model.margin_bound_ > 1e-3  # the bound on the margin had not ended it
    assert model.n_iter_ < 1000


def test_rows_without_twins_that_contradict_each_other_are_named():
    X, y = separable(20_000, 10, 0.3)
    y[17] = 1 - y[17]
    with pytest.warns(ConvergenceWarning, match=r"12 rows: .* cannot be separated from each other"):
        model = textbook().fit(X, y)
    rows = model.contradiction_
    assert separability(X[rows], y[rows]).separable is False
    for left_out in range(len(rows)):
        some = np.delete(rows, left_out)
        assert len(set(y[some])) == 1 or separability(X[some], y[some]).separable


def test_the_proof_counts_work_and_not_time():
    X, y = with_twins()
    quiet = textbook().fit(X, y)
    for settings in ({"verbose": 0}, {"verbose": 2}):
        again = textbook(**settings).fit(X, y)
        np.testing.assert_array_equal(again.coef_, quiet.coef_)
        assert again.n_iter_ == quiet.n_iter_
    assert trace(textbook(), X, y).stop == "inseparable"


def test_rows_of_weight_zero_contradict_nothing():
    X, y = with_twins()
    weight = np.ones(len(X))
    weight[1234] = 0.0
    assert textbook().fit(X, y, sample_weight=weight).converged_
    weight[1234], weight[0] = 1.0, 0.0
    assert textbook().fit(X, y, sample_weight=weight).contradiction_.tolist() == [7, 1234]


def test_rows_are_numbered_as_the_user_has_them():
    X, y = separable(20_000, 10, 0.3)
    y[17] = 1 - y[17]
    weight = np.ones(len(X))
    weight[:10] = 0.0
    rows = textbook().fit(X, y, sample_weight=weight).contradiction_
    assert rows.min() >= 10 and 17 in rows and separability(X[rows], y[rows]).separable is False


def test_tol_none_makes_all_passes():
    X, y = with_twins(2_000)
    model = textbook(tol=None, max_iter=3_000).fit(X, y)
    assert model.n_iter_ == 3_000 and model.contradiction_ is None


def test_the_pocket_goes_on_while_it_may_improve():
    X, y = with_twins(2_000)
    model = textbook(readout="pocket").fit(X, y)
    assert model.contradiction_ is not None and round((1 - model.score(X, y)) * len(X)) == 1  # the fewest possible
    y[20:23] = 1 - y[20:23]
    pocket, last = (textbook(readout=readout, tol=1e-4).fit(X, y) for readout in ("pocket", "last"))
    assert pocket.n_iter_ > last.n_iter_


def test_a_pocket_that_goes_on_tells_of_the_proof():
    X, y = with_twins(2_000)
    y[20:23] = 1 - y[20:23]
    with pytest.warns(ConvergenceWarning, match=r"by tol=0.0001: rows 7 and 1234 are equal but have different labels"):
        textbook(readout="pocket", tol=1e-4).fit(X, y)
    with pytest.warns(ConvergenceWarning, match=r"by max_iter: rows 7 and 1234 are equal"):
        textbook(readout="pocket", tol=1e-4, max_iter=200).fit(X, y)


def test_a_row_of_zeros_is_named_without_a_bias():
    with pytest.warns(ConvergenceWarning, match="all values of row 0 are 0, and so is its score without a bias"):
        model = textbook(fit_intercept=False, tol=1e-9).fit([[0.0], [1.0], [2.0], [-1.0]], [0, 1, 1, 0])
    assert model.contradiction_.tolist() == [0] and model.n_iter_ < 10_000  # small data: passes cost their overhead


def test_rows_with_a_small_margin_are_still_separated():
    """The decision says that they can be separated, so training goes on until they are."""
    g = 1.1e-3
    X = np.array([[1.0, g], [-(5**0.5 - 1) / 2, g]])
    X, y = np.vstack([X, -X, np.full((200_000, 2), [0.0, 0.5])]), [1, 1, 0, 0] + [1] * 200_000
    model = textbook(fit_intercept=False, shuffle=False).fit(X, y)
    rows, codes = as_rows(X), np.array(y, dtype=np.uint8)
    learner = LinearLearner(Plain(), "last", n_features=2, n_classes=2, fit_intercept=False)
    asked = decision(learner, Examples(rows, codes), 1)
    assert asked.ask().separable is True and model.converged_
    assert asked.after < model.n_iter_


def test_ties_that_are_right_contradict_nothing():
    """x and −x are both positive: no w has a positive margin on both, but w·x = 0 is right for tie="positive"."""
    X, y = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), np.array([1, 1, 0], dtype=np.uint8)
    for tie, proved in (("mistake", False), ("positive", None)):
        learner = LinearLearner(Plain(), "last", n_features=2, n_classes=2, fit_intercept=False, tie=tie)
        assert decision(learner, Examples(as_rows(X), y), 1).ask().separable is proved
    assert textbook(fit_intercept=False, tie="positive").fit(X, y).converged_


def test_equal_rows_contradict_each_other_in_every_feature_space():
    X, y = with_twins(400, at=(7, 123))
    with pytest.warns(ConvergenceWarning, match="rows 7 and 123 are equal"):
        textbook_kernel(tol=1e-6).fit(X, y)


def test_a_proof_ends_training_after_n_iter_no_change_passes():
    X, y = noisy(n=5_000)
    for passes in (1, 5, 9):
        with pytest.warns(ConvergenceWarning, match="by tol"):
            model = textbook(n_iter_no_change=passes, tol=0.1).fit(X, y)
        assert model.n_iter_ == passes
        assert textbook(n_iter_no_change=passes, tol=0.1, verbose=2).fit(X, y).n_iter_ == passes


def test_a_saved_model_remembers_the_contradiction(tmp_path):
    X, y = with_twins()
    save(textbook().fit(X, y), tmp_path / "model")
    assert load(tmp_path / "model").contradiction_.tolist() == [7, 1234]


# -- losses that stop falling ----------------------------------------------------------------------------------


def naive_passive_aggressive(X, y, C, loss, tol, patience, max_iter):
    """PA-I and PA-II without a bias, with scikit-learn's stop, in the order of the rows."""
    w, best, waited, passes = np.zeros(X.shape[1]), np.inf, 0, 0
    while passes < max_iter and waited < patience:
        total, passes = 0.0, passes + 1
        for x, sign in zip(X, np.where(y == 1, 1.0, -1.0), strict=True):
            hinge = max(0.0, 1.0 - sign * (w @ x))
            total += hinge
            w = w + sign * (min(C, hinge / (x @ x)) if loss == "hinge" else hinge / (x @ x + 0.5 / C)) * x
        waited = waited + 1 if total > best - tol * len(X) else 0
        best = min(best, total)
    return w, passes


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize(("tol", "patience"), [(1e-3, 5), (1e-2, 2), (1e-4, 3)])
def test_passive_aggressive_stops_when_the_loss_stops_falling(loss, tol, patience):
    X, y = separable(300, 5, 0.0)
    y[::17] = 1 - y[::17]
    expected = naive_passive_aggressive(X, y, 0.05, loss, tol, patience, 1000)
    model = PassiveAggressiveClassifier(
        C=0.05, loss=loss, tol=tol, n_iter_no_change=patience, fit_intercept=False, shuffle=False
    ).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], expected[0], rtol=1e-9)
    assert model.n_iter_ == expected[1] < 1000
    assert not model.converged_


def test_passive_aggressive_stops_alike_from_files_arrays_and_the_command_line(tmp_path):
    X, y = separable(300, 5, 0.0)
    y[::17] = 1 - y[::17]
    settings = {"C": 0.05, "tol": 1e-3, "shuffle": False}
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    arrays = PassiveAggressiveClassifier(**settings).fit(X, y)
    files = PassiveAggressiveClassifier(**settings).fit(source(tmp_path / "rows.npz"))
    options = "--estimator passive-aggressive --C 0.05 --tol 1e-3 --no-shuffle --readout last --passes 1000 --quiet"
    with pytest.raises(SystemExit):
        main(["train", str(tmp_path / "rows.npz"), *options.split(), "--model", str(tmp_path / "model")])
    for model in (files, load(tmp_path / "model")):
        np.testing.assert_array_equal(model.coef_, arrays.coef_)
        assert model.n_iter_ == arrays.n_iter_ < 1000


@pytest.mark.parametrize("begin", [True, 2, 3, 10])
def test_averages_begin_where_scikit_learns_begin(begin):
    """The mean of w over all examples from number `begin` on, after their updates."""
    X, y = separable(60, 3, 0.0)
    w, after = np.zeros(3), []
    for x, sign in zip(X, np.where(y == 1, 1.0, -1.0), strict=True):
        w = w + sign * min(0.1, max(0.0, 1.0 - sign * (w @ x)) / (x @ x)) * x
        after.append(w)
    model = PassiveAggressiveClassifier(
        C=0.1, average=begin, fit_intercept=False, shuffle=False, max_iter=1, tol=None
    ).fit(X, y)
    np.testing.assert_allclose(model.coef_[0], np.mean(after[int(begin) - 1 :], axis=0))


def test_rows_that_are_separated_do_not_end_passive_aggressive_training():
    X, y = separable(300, 5, 0.1)
    model = PassiveAggressiveClassifier(C=0.01, random_state=0, tol=1e-4).fit(X, y)
    first_clean = int(np.flatnonzero(model.mistakes_ == 0)[0]) + 1
    assert model.converged_ and model.n_iter_ > first_clean + 5


def test_a_trace_of_passive_aggressive_training_goes_on_after_rows_are_separated():
    X, y = separable(300, 5, 0.1)
    run = trace(PassiveAggressiveClassifier(C=0.01, random_state=0, tol=1e-4), X, y)
    assert run.model.mistakes_[-1] == 0 == run.model.mistakes_[-4]
    assert run.n_updates == run.model.n_updates_
    np.testing.assert_allclose(run.weights[-1][:-1], run.model.coef_[0])


def test_a_pass_without_a_step_ends_passive_aggressive_training():
    X, y = separable(300, 5, 0.5)
    model = PassiveAggressiveClassifier(random_state=0, tol=None, max_iter=100_000).fit(X, y)
    assert model.converged_ and model.n_iter_ < 100_000
    assert np.min(np.where(y == 1, 1, -1) * model.decision_function(X)) >= 1 - 1e-9  # no loss is left


def test_passive_aggressive_warns_when_the_loss_still_falls():
    X, y = separable(300, 5, 0.1)
    with pytest.warns(ConvergenceWarning, match="stopped by max_iter=3"):
        PassiveAggressiveClassifier(C=1e-4, random_state=0, tol=1e-6, max_iter=3).fit(X, y)


def test_falling_counts_passes_in_a_row():
    falling = Falling(0.1, 2)
    assert not falling.stopped([5.0, 4.0], 10)
    assert not falling.stopped([5.0, 4.5, 3.0], 10)  # 4.5 > 5 − 1, but 3 is a fall
    assert falling.stopped([5.0, 3.0, 2.5, 2.2], 10)  # each is compared with the smallest before it
    assert not Falling(None, 2).stopped([5.0] * 9, 10)
