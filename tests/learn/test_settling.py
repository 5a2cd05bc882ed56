"""The stop of the averaged readout: more passes no longer change what it predicts."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from perceptrons import Perceptron
from perceptrons.data import source
from perceptrons.theory import trace

N, PASSES = 400, 200


def rows(noise: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    X = random.normal(size=(N, 5))
    y = X @ random.normal(size=5) > 0
    return X, y ^ (random.random(N) < noise)


def after(passes: int, X: np.ndarray, y: np.ndarray) -> np.ndarray:
    return Perceptron(max_iter=passes, tol=None).fit(X, y).predict(X)


def expected(X: np.ndarray, y: np.ndarray) -> int | None:
    """The pass after which the rule says to stop, by its own words."""
    mistakes = Perceptron(max_iter=PASSES, tol=None).fit(X, y).mistakes_
    for n in (16, 32, 64, 128):
        if n > len(mistakes):
            return None
        changed = np.mean(after(n, X, y) != after(n // 2, X, y))
        if (
            changed <= 0.005
            and len(set(after(n, X, y))) > 1
            and mistakes[n // 2 : n].mean() >= 0.5 * mistakes[n // 4 : n // 2].mean()
        ):
            return n
    return None


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("noise", [0.0, 0.02, 0.2])
def test_training_ends_when_the_predictions_of_the_mean_have_settled(noise, seed):
    X, y = rows(noise, seed)
    run = trace(Perceptron(tol=1e-12, max_iter=PASSES, n_iter_no_change=PASSES), X, y)
    assert (run.stop == "settled") == (expected(X, y) is not None)
    if run.stop == "settled":
        assert run.n_passes == expected(X, y)


def test_some_runs_settle_and_others_converge_first():
    assert {expected(*rows(0.2, seed)) for seed in range(6)} - {None}
    assert expected(*rows(0.0)) is None


def test_one_class_for_all_rows_is_not_settled():
    """Far from the origin, the bias learns slowly."""
    X, y = [[101.0], [102.0], [105.0], [106.0]], [0, 0, 1, 1]
    with pytest.warns(ConvergenceWarning, match="margin"):
        model = Perceptron().fit(X, y)
    assert model.n_iter_ > 16


def test_a_settled_run_has_no_warning(recwarn):
    X, y = rows(0.2)
    Perceptron(tol=1e-12, n_iter_no_change=PASSES).fit(X, y)
    assert not recwarn.list


@pytest.mark.parametrize(
    "settings", [{"tol": None}, {"readout": "last"}, {"readout": "voted"}, {"early_stopping": True}], ids=str
)
def test_other_runs_go_on(settings):
    X, y = rows(0.2)
    settings = {"tol": 1e-12, "n_iter_no_change": PASSES, **settings}
    assert Perceptron(max_iter=40, **settings).fit(X, y).n_iter_ == 40


def test_files_settle_as_arrays_do(tmp_path):
    X, y = rows(0.2, 1)
    table = np.column_stack([y, X])
    np.savetxt(tmp_path / "rows.csv", table, delimiter=",", header="y,a,b,c,d,e", comments="", fmt="%.17g")
    settings = {"tol": 1e-12, "n_iter_no_change": PASSES, "shuffle": False}
    of_file = Perceptron(**settings).fit(source(tmp_path / "rows.csv", target="y", scale="none"))
    of_array = Perceptron(**settings).fit(X, y)
    assert of_file.n_iter_ == of_array.n_iter_ < 200
    np.testing.assert_array_equal(of_file.coef_, of_array.coef_)
