"""The same data, share and seed hold out the same examples, whatever learns from them and wherever they come from."""

import numpy as np
import pytest

from perceptrons import KernelPerceptron, PassiveAggressiveClassifier, Perceptron, SequenceTagger
from perceptrons.cli.main import group
from perceptrons.data import source
from perceptrons.learn import holdout
from perceptrons.learn.holdout import chosen, split
from perceptrons.learn.structure.learner import Pairs

N = 41


@pytest.mark.parametrize("share", [0.01, 0.1, 0.2, 1 / 3, 0.5, 0.7, 0.99])
def test_the_share_is_exact_and_cuts_do_not_matter(share):
    for n in (1, 7, 100, 1000):
        held = chosen(0, n, share, seed=5)
        assert abs(held.sum() - share * n) <= 1
        for cut in {0, 1, min(3, n), n // 2}:
            parts = [chosen(0, cut, share, 5), chosen(cut, n - cut, share, 5)]
            np.testing.assert_array_equal(np.concatenate(parts), held)


def test_places_are_random_and_even():
    counts = sum(chosen(0, 100, 0.1, seed) for seed in range(2000))
    assert (counts.reshape(10, 10).sum(axis=1) == 2000).all()  # one of every ten
    assert counts.min() > 120 and counts.max() < 290  # 200 expected, standard deviation 13


def test_large_numbers_of_rows_do_not_overflow():
    first = 2**31 - 50
    whole = chosen(first, 100, 0.1, 3)
    assert whole.sum() in (9, 10, 11)
    np.testing.assert_array_equal(np.concatenate([chosen(first, 37, 0.1, 3), chosen(first + 37, 63, 0.1, 3)]), whole)


def test_a_share_that_leaves_nothing_is_refused():
    with pytest.raises(ValueError, match="1e-06 of 3 rows holds out no rows: choose a larger share"):
        split(Pairs([1, 2, 3], [1, 2, 3]), 1e-6, 0, "rows")
    seed = next(seed for seed in range(99) if chosen(0, 1, 0.5, seed).all())
    with pytest.raises(ValueError, match=r"0\.5 of 1 rows holds out all rows: choose a smaller share"):
        split(Pairs([1], [1]), 0.5, seed, "rows")


@pytest.fixture
def held(monkeypatch):
    """Which examples were held out, run by run."""
    found = []

    def noting(first, n, share, seed):
        mask = chosen(first, n, share, seed)
        found.append((n, np.flatnonzero(mask).tolist()))
        return mask

    monkeypatch.setattr(holdout, "chosen", noting)
    monkeypatch.setattr("perceptrons.learn.stream.chosen", noting)
    return found


def test_every_estimator_and_every_source_hold_out_the_same(held, tmp_path):
    random = np.random.default_rng(0)
    X, y = random.normal(size=(N, 2)), np.arange(N) % 2
    path = tmp_path / "rows.svm"
    path.write_text("".join(f"{label} 0:{a} 1:{b}\n" for label, (a, b) in zip(y, X, strict=True)))
    early = {"early_stopping": True, "validation_fraction": 0.2, "random_state": 3, "max_iter": 2, "tol": None}
    Perceptron(**early).fit(X, y)
    Perceptron(readout="averaged", init="random", **early).fit(X, y)
    Perceptron(readout="pocket", **early).fit(source(path))
    Perceptron(**early).fit(source(path))
    PassiveAggressiveClassifier(**early).fit(X, y)
    KernelPerceptron(**early).fit(X, y)
    SequenceTagger(**early).fit([[["a"]]] * N, [["A"]] * N)
    for options in (["--readout", "averaged"], ["--readout", "pocket"], ["--estimator", "kernel"]):
        args = ["train", str(path), "-m", str(tmp_path / "m"), "--validation", "0.2", "--seed", "3", "-q", *options]
        group.main([*args, "--passes", "2"], standalone_mode=False)
    assert len(held) >= 10 and all(each == held[0] for each in held) and len(held[0][1]) in (8, 9)


def test_rows_held_out_are_not_learned_from():
    """One row contradicts the others: learned from, it would be a mistake in every pass."""
    X, y = np.ones((N, 1)), np.ones(N, dtype=int)
    X[::2], y[::2] = -1.0, 0
    early = {"early_stopping": True, "validation_fraction": 0.2, "random_state": 3, "max_iter": 5}
    seed = np.random.RandomState(3).randint(2**31)
    row = int(np.flatnonzero(chosen(0, N, 0.2, seed))[0])
    y[row] = 1 - y[row]
    model = Perceptron(**early).fit(X, y)
    assert model.converged_ and model.n_seen_ == model.n_iter_ * (N - chosen(0, N, 0.2, seed).sum())
    assert model.validation_errors_[-1] == pytest.approx(1 / chosen(0, N, 0.2, seed).sum())
