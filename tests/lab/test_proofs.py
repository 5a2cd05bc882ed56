"""What the lab says is proved is true: the lines of the convergence proof, bounds on mistakes, and verdicts."""

import naive_theory
import numpy as np
import pytest
from lab_cases import COVER, choice, kernel_choice, points, scene

from perceptrons import rules
from perceptrons.lab import proofs
from perceptrons.lab.messages import Choice
from perceptrons.lab.recording import record
from perceptrons.lab.scene import held_out, rows_of
from perceptrons.theory import separability

PROVED = [("perceptron", 2), ("perceptron", 3), ("margin", 2), ("margin", 3), ("uneven", 2)]
GAUSSIAN = {"kernel": "rbf", "gamma": 0.4}
QUADRATIC = {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0}
SLACK = 1e-9  # of rounding errors


def separable(X, y, bias, classes=None):
    """The verdict of the simplex method on fractions."""
    return naive_theory.separable_by_simplex(naive_theory.signed(X, y, bias, classes))


def recorded(made, X, y, share=0.2):
    shown = scene(X, y, made, held_out=share)
    return shown, record(made, rows_of(shown, made))


def lines_of(recording):
    """The lines of the proof, with the verdict on the rows in a kernel's feature space."""
    verdict, star = proofs.kernel_verdict(recording) if recording.kernel else (None, None)
    return proofs.lines(recording, verdict, star), verdict, star


# -- the lines of the proof -------------------------------------------------------------------------------------------


def assert_lines_hold(made, recording):
    """k·γ ≤ w*·w ≤ ‖w‖ and ‖w‖² ≤ k·growth after every update; the run ends before the lines meet."""
    found, _, _ = lines_of(recording)
    columns, k = recording.columns, recording.columns["update"]
    beta = max(rules.RULES[made.rule](**made.params), default=0.0)
    if recording.kernel:
        sq_radius = np.diag(recording.model.kernel_matrix(recording.rows.X)).max() + made.fit_intercept
    else:
        sq_radius = (recording.rows.X**2).sum(axis=1).max() + made.fit_intercept
    n_classes = len(recording.model.classes_)
    assert sq_radius <= found["radius"] ** 2 <= sq_radius * (1 + SLACK)
    growth = (sq_radius if n_classes == 2 else 2 * sq_radius) + 2 * beta
    assert growth <= found["growth"] <= growth * (1 + SLACK)
    assert (columns["sq_norm"] <= k * found["growth"] * (1 + SLACK)).all()
    if found["gamma"] is None:
        assert "progress" not in columns and found["max_updates"] is None and len(found["reason"]) > 20
        return False
    assert found["reason"] is None and 0 < found["gamma"] <= found["radius"]
    progress = columns["progress"]
    assert (k * found["gamma"] <= progress * (1 + SLACK)).all()
    assert (progress**2 <= columns["sq_norm"] * (1 + SLACK)).all()  # Cauchy & Schwarz
    limit = found["growth"] / found["gamma"] ** 2
    assert recording.model.n_updates_ <= found["max_updates"] <= limit * (1 + SLACK)
    assert limit * (1 - SLACK) < found["max_updates"] + 1
    if not recording.kernel:
        star = np.atleast_2d(found["separator"])
        star = np.column_stack([star, np.zeros((len(star), recording.path.shape[2] - star.shape[1]))])
        np.testing.assert_allclose(progress, (recording.path[1:] * star).sum(axis=(1, 2)), rtol=SLACK, atol=SLACK)
        assert np.isclose((star**2).sum(), 1.0, rtol=SLACK)
    return True


@pytest.mark.parametrize("rule, n_classes", PROVED)
@pytest.mark.parametrize("readout", ["last", "pocket", "averaged"])
def test_lines_of_linear_models(rule, n_classes, readout):
    if (rule, readout) == ("uneven", "pocket"):
        readout = "voted"
    for seed in range(4):
        for bias in (True, False):
            made = choice(rule, readout, fit_intercept=bias, order="shuffled", max_iter=200)
            for with_gap in (True, False):
                X, y = points(14, 2 + seed % 2, n_classes, seed, separable=with_gap, integers=seed == 3)
                _, recording = recorded(made, X, y)
                rows = recording.rows
                expected = separable(rows.X, rows.y, bias)
                assert assert_lines_hold(made, recording) == expected
                assert not expected or recording.model.converged_ or recording.run.stop == "settled"


@pytest.mark.parametrize("rule, n_classes", PROVED)
@pytest.mark.parametrize("kernel", [GAUSSIAN, QUADRATIC], ids=str)
def test_lines_of_kernels(rule, n_classes, kernel):
    held = 0
    for seed in range(3):
        made = kernel_choice(rule, max_iter=200, fit_intercept=seed != 1, **kernel)
        X, y = points(14, 2, n_classes, seed)
        _, recording = recorded(made, X, y)
        held += assert_lines_hold(made, recording)
        _, verdict, star = lines_of(recording)
        if star is None:
            continue
        K = recording.model.kernel_matrix(recording.rows.X)
        codes = np.searchsorted(recording.model.classes_, recording.rows.y)
        scores = star.images(K, recording.learner.bias)  # w* separates with margin γ, and has length 1
        own = scores[0] * (2 * codes - 1) if n_classes == 2 else None
        if own is None:
            others = np.where(np.arange(n_classes)[:, None] == codes, -np.inf, scores).max(axis=0)
            own = scores[codes, np.arange(len(codes))] - others
        assert own.min() >= star.margin * (1 - 1e-7)
        assert np.isclose(verdict["augmented_margin"], star.margin)
    assert held >= 1


def test_rows_that_no_kernel_separates():
    X, y = points(12, 2, 2, 0)
    X[3], y[2], y[3] = X[2], 0, 1  # equal rows of two classes
    _, recording = recorded(kernel_choice(**GAUSSIAN), X, y, share=0.0)
    found, verdict, star = lines_of(recording)
    assert verdict["separable"] is not True and star is None and len(verdict["reason"]) > 20
    assert found["gamma"] is None and "separat" in found["reason"]


WITHOUT_LINES = {
    "steps": (choice(eta0=0.5), "eta0"),
    "start": (choice(init="random"), "zeros"),
    "pa": (choice("pa"), "PA"),
    "pocket": (choice("pa1", "pocket"), "PA1"),
    "metric": (choice("arow"), "AROW"),
    "scale": (choice("romma"), "ROMMA"),
    "kernel": (kernel_choice("pa2"), "PA2"),
    "short kernel steps": (kernel_choice(eta0=0.5), "eta0"),
    "budget": (kernel_choice(budget=3), "budget"),
    "indefinite": (kernel_choice(kernel="sigmoid"), "feature space"),
}


@pytest.mark.parametrize("name", WITHOUT_LINES)
def test_a_reason_is_given_where_there_are_no_lines(name):
    made, word = WITHOUT_LINES[name]
    _, recording = recorded(made, *points(14, 2, 2, 1, separable=True))
    found, _, _ = lines_of(recording)
    assert word in found["reason"] and found["reason"].endswith(".")
    assert found["growth"] is None or found["gamma"] is None
    assert found["max_updates"] is None


# -- bounds -----------------------------------------------------------------------------------------------------------

BOUNDED = [(rule, readout, c) for rule, readout, c in COVER if readout == "last"]


@pytest.mark.parametrize("rule, readout, n_classes", BOUNDED)
def test_bounds_hold(rule, readout, n_classes):
    given = set()
    for seed in range(6):
        made = choice(rule, readout, order=("given", "shuffled", "sorted")[seed % 3], max_iter=60)
        if rule in ("arow", "sop"):
            made.params = {**made.params, "covariance": "full"}
        X, y = points(16, 2, n_classes, seed, separable=seed % 2 == 0)
        _, recording = recorded(made, X, y)
        check_bound(made, recording, given)
    known = rule in ("perceptron", "margin", "uneven", "pa", "pa1", "pa2", "romma", "alma", "arow", "sop")
    assert bool(given) == known and (not known or rule in ("arow",) or True in given)


def check_bound(made, recording, given):
    found, model = proofs.bound(recording), recording.model
    if "reason" in found:
        assert len(found["reason"]) > 20 and set(found) == {"reason"}
        return
    given.add(found["any_passes"])
    updates = made.rule in ("margin", "uneven", "alma")
    assert found["counted"] == ("updates" if updates else "mistakes")
    if found["any_passes"]:
        expected = model.n_updates_ if updates else model.n_mistakes_
    else:
        expected = (recording.columns["seen"] <= len(recording.rows.X)).sum() if updates else model.mistakes_[0]
    assert found["made"] == expected <= found["bound"]


@pytest.mark.parametrize("rule, n_classes", [*PROVED, ("pa1", 2)])
def test_bounds_of_kernels_hold(rule, n_classes):
    given = set()
    for seed, kernel in enumerate((GAUSSIAN, QUADRATIC, {"kernel": "linear"})):
        made = kernel_choice(rule, max_iter=60, order="shuffled", **kernel)
        _, recording = recorded(made, *points(14, 2, n_classes, seed))
        check_bound(made, recording, given)
    assert bool(given) == (rule != "pa1")  # its proof needs exact lengths


WITHOUT_BOUND = {
    "steps": (choice(eta0=0.5), 2, "length 1"),
    "start": (choice(init="random"), 2, "zeros"),
    "budget": (kernel_choice(budget=3), 2, "budget"),
    "indefinite": (kernel_choice(kernel="sigmoid"), 2, "kernel"),
    "no theorem": (choice("cw"), 2, "CW"),
    "diagonal": (choice("arow"), 2, "full"),
    "three": (Choice(rule="arow", params={"covariance": "full"}, readout="averaged", max_iter=3), 3, "two classes"),
}


@pytest.mark.parametrize("name", WITHOUT_BOUND)
def test_a_reason_is_given_where_there_is_no_bound(name):
    made, n_classes, word = WITHOUT_BOUND[name]
    _, recording = recorded(made, *points(14, 2, n_classes, 1))
    found = proofs.bound(recording)
    assert set(found) == {"reason"} and word in found["reason"]


def test_many_points_are_not_decided_in_feature_space():
    X, y = points(proofs.KERNEL_ROWS + 1, 2, 2, 0)
    _, recording = recorded(kernel_choice(max_iter=1, **GAUSSIAN), X, y, share=0.0)
    found, verdict, star = lines_of(recording)
    assert verdict["separable"] is None and star is None and str(proofs.KERNEL_ROWS) in verdict["reason"]
    assert found["gamma"] is None and found["reason"] and "reason" in proofs.bound(recording)


# -- verdicts ---------------------------------------------------------------------------------------------------------


def smallest_margin(X, y, found):
    """The margin of the separator: of its worst row, at ‖w‖ = 1."""
    scores = naive_theory.scores(X, y, found["coef"], found["intercept"])
    return float(min(scores)) / np.linalg.norm(found["coef"])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("order", ["given", "sorted"])
def test_verdicts_name_rows_of_the_scene(n_classes, order):
    """Rows that support the margin have it alone; irreducible rows are inseparable, and separable without any one."""
    seen = set()
    for seed in range(8):
        X, y = points(12, 2, n_classes, seed, separable=seed % 2 == 0, integers=seed % 4 > 1)
        made = choice(order=order)
        shown = scene(X, y, made, held_out=0.25)
        rows, learned = rows_of(shown, made), np.flatnonzero(~held_out(shown))
        if len(np.unique(rows.y)) < n_classes:
            continue
        for bias in (True, False):
            found = proofs.verdict(rows, bias)
            assert found["separable"] == separable(X[learned], y[learned], bias)
            assert found["fit_intercept"] == bias and found["reason"]
            support = found["support"]
            assert set(support) <= set(learned) and len(support)
            seen.add(found["separable"])
            if found["separable"]:
                assert found["irreducible"] is None
                assert np.isclose(smallest_margin(X[learned], y[learned], found), found["margin"])
                if len(np.unique(y[support])) == n_classes:
                    only = separability(X[support], y[support], fit_intercept=bias)
                    assert np.isclose(only.margin, found["margin"])
                continue
            few = found["irreducible"]
            assert set(few) <= set(learned) and len(set(few)) == len(few)
            classes = range(n_classes)
            assert not separable(X[few], y[few], bias, classes)
            for i in range(len(few)):
                rest = np.delete(few, i)
                assert len(rest) == 0 or separable(X[rest], y[rest], bias, classes)
    assert seen == {True, False}


@pytest.mark.parametrize("order", ["given", "sorted"])
def test_verdicts_of_kernels_name_rows_of_the_scene(order):
    for seed in range(3):
        X, y = points(12, 2, 2, seed)
        shown, recording = recorded(kernel_choice(order=order, max_iter=2, **GAUSSIAN), X, y, share=0.25)
        found, _ = proofs.kernel_verdict(recording)
        support = found["support"]
        assert found["separable"] and set(support) <= set(np.flatnonzero(~held_out(shown)))
        K = recording.model.kernel_matrix(X[support])
        assert np.isclose(separability(K=K, y=y[support]).margin, found["margin"], rtol=1e-5)
