"""Candidates side by side learn what each of them learns alone."""

from itertools import product

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from perceptrons import Perceptron
from perceptrons.data import source
from perceptrons.learn import tuning
from perceptrons.learn.fit import Passes
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.task import Request, train_on_source
from perceptrons.learn.tuning import CANDIDATES, DOUBT, FOLDS, Candidate, tune
from perceptrons.rules import PA1, Plain


@pytest.fixture
def rows(tmp_path):
    """A source of noisy rows of three classes; small whole numbers, so that sums are exact."""
    random = np.random.default_rng(2)
    X = random.integers(-3, 4, size=(90, 5)).astype(float)
    y = (X[:, :3] + random.normal(size=(90, 3))).argmax(axis=1)
    np.savez(tmp_path / "rows.npz", X=X, y=y)
    return X, y, lambda: source(tmp_path / "rows.npz", scale="none", cache=False)


def make(candidate, readout="averaged"):
    def new(rows, n_classes):
        return LinearLearner(candidate.rule, readout, n_features=rows.n_features, n_classes=n_classes, dense=True)

    return new


def request(candidate=CANDIDATES[0], passes=4, **others):
    settings = {"class_weight": lambda classes: candidate.class_weight, "reads_all": True} if candidate else {}
    return Request(make(candidate), Passes(passes), np.random.RandomState(3), **{**settings, **others})


@pytest.mark.parametrize("share", [0.25, None])
def test_each_candidate_has_the_errors_that_it_has_alone(rows, share, monkeypatch):
    """On the held-out rows of a request, or of another source."""
    monkeypatch.setattr(tuning, "LOST", np.inf)
    beside = None if share else (lambda read: rows[2]())
    found = tune(lambda: request(share=share), rows[2](), CANDIDATES, make, beside)
    assert found.by == "held-out rows" and len(found.contest.contenders) == len(CANDIDATES)
    for each in found.contest.contenders:
        _task, run = train_on_source(lambda each=each: request(each.candidate, share=share), rows[2](), beside)
        assert each.errors == run.validation_errors
    contest, first = found.contest, found.contest.contenders[0]
    smallest = min(each.error for each in contest.contenders)
    assert contest.smallest.error == smallest == contest.smallest.errors[contest.smallest.passes - 1]
    doubt = DOUBT * np.sqrt((smallest * (1 - smallest) + 1 / contest.n_measured) / contest.n_measured)
    assert (found.best is first) == (first.error <= smallest + doubt) and contest.doubt == pytest.approx(doubt)
    assert found.error == found.best.error


@pytest.mark.parametrize("repeats", [1, 3])
def test_cross_validation_holds_out_each_row_once(rows, repeats, monkeypatch):
    monkeypatch.setattr(tuning, "REPEATS", repeats)
    X, y, data = rows
    candidate = Candidate(PA1(0.5))
    found = tune(lambda: request(passes=2, shuffle=False), data(), [candidate, Candidate(Plain())], make)
    assert found.by == f"{FOLDS}-fold cross-validation" and found.contest.n_measured == len(y)
    contest = found.contest
    wrong = 0
    for repeat, number in product(range(repeats), range(FOLDS)):
        fold = folds_by_definition(len(y), contest.seed + repeat)
        assert np.bincount(fold, minlength=FOLDS).tolist() == [len(y) // FOLDS] * FOLDS
        alone = Perceptron(rule=candidate.rule, max_iter=2, tol=None, shuffle=False, readout="averaged")
        with pytest.warns(ConvergenceWarning):
            alone.fit(X[fold != number], y[fold != number])
        wrong += int((alone.predict(X[fold == number]) != y[fold == number]).sum())
    assert contest.contenders[0].errors[1] == pytest.approx(wrong / len(y) / repeats)


def folds_by_definition(n, seed):
    """Row i of a run of FOLDS rows belongs to fold i + turn, where turn is a hash of the number of the run."""
    mask = 2**64 - 1
    folds = []
    for i in range(n):
        state = ((i // FOLDS + 1) * 0x9E3779B97F4A7C15 + seed) & mask
        state = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        state = ((state ^ (state >> 27)) * 0x94D049BB133111EB) & mask
        folds.append((i + ((state ^ (state >> 31)) >> 32)) % FOLDS)
    return np.array(folds)


def test_a_single_pass_is_judged_while_it_learns(rows):
    found = tune(lambda: request(passes=1), rows[2](), CANDIDATES, make)
    assert found.by == "the online error"
    assert all(each.candidate.class_weight is None for each in found.contest.contenders)
    for each in found.contest.contenders:
        _task, run = train_on_source(lambda each=each: request(each.candidate, passes=1, reads_all=False), rows[2]())
        assert each.errors == [run.mistakes[0] / 90]


def test_candidates_that_separate_the_rows_stop_as_they_do_alone(tmp_path):
    random = np.random.default_rng(0)
    X = random.normal(size=(60, 3))
    X[:, 0] += np.where(np.arange(60) % 2, 4.0, -4.0)
    np.savez(tmp_path / "rows.npz", X=X, y=np.arange(60) % 2)

    def data():
        return source(tmp_path / "rows.npz", scale="none", cache=False)

    found = tune(lambda: request(passes=20, share=0.25), data(), CANDIDATES, make)
    for each in found.contest.contenders:
        _task, run = train_on_source(lambda each=each: request(each.candidate, passes=20, share=0.25), data())
        if not each.dropped:
            assert each.errors == run.validation_errors


def test_many_rows_have_one_fold_and_the_losers_are_dropped(rows, monkeypatch):
    monkeypatch.setattr(tuning, "FEW", 10)
    monkeypatch.setattr(tuning, "LOST", 0.0)
    found = tune(lambda: request(passes=3), rows[2](), CANDIDATES, make)
    assert found.by == "a held-out fifth of the rows" and found.contest.n_measured == 18
    dropped = [each for each in found.contest.contenders if each.dropped]
    assert dropped and not found.best.dropped
    assert all(each.error > found.best.error and len(each.errors) >= 2 and not each.learners for each in dropped)


def test_the_seed_decides(rows):
    first, second = (tune(request, rows[2](), CANDIDATES, make) for _ in range(2))
    assert [each.errors for each in first.contest.contenders] == [each.errors for each in second.contest.contenders]


def test_the_default_stays_unless_another_is_better_beyond_doubt(rows):
    contest = tune(lambda: request(), rows[2](), CANDIDATES[:2], make).contest
    first, other = contest.contenders
    contest.n_measured = 10_000  # a standard error of 0.3 points at 10 %
    for error, chosen in ((0.0999, first), (0.05, other)):
        first.errors, other.errors = [0.1, 0.1], [error, 0.2]
        assert contest.best is chosen
    assert contest.passes == 1  # the second pass of the other one is worse beyond doubt
