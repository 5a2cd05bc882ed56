"""Bounds for other rules than the plain one: no run makes more mistakes, and they follow from their hypothesis."""

import warnings
from dataclasses import replace
from fractions import Fraction
from math import floor, inf, log, sqrt

import numpy as np
import pytest
from bound_cases import inseparable, separable
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_runs import counted, facts, run
from sklearn.exceptions import ConvergenceWarning
from theory_cases import SEEDS

from perceptrons import Perceptron
from perceptrons.rules import ALMA, AROW, PA, PA1, PA2, ROMMA, SOP, Margin, Plain, Uneven
from perceptrons.theory import mistake_bound
from perceptrons.theory.certificate import CertificateError
from perceptrons.theory.theorems import BOUNDS, HOLDS, any_passes, counts_updates

FIRST = [Margin(0.5), Margin(20.0), Uneven(3.0, 0.5), PA(), PA1(1.0), PA1(0.03), PA2(1.0), PA2(0.05)]
SCALED = [ROMMA(), ROMMA(aggressive=True), ALMA(), ALMA(1.0), ALMA(0.4)]
METRIC = [AROW(r, "full") for r in (0.1, 1.0, 10.0)] + [SOP(a, "full") for a in (0.01, 1.0, 100.0)]
RULES = [*FIRST, *SCALED, *METRIC]
each_rule = pytest.mark.parametrize("rule", RULES, ids=str)


def classes_for(rule, seed):
    """Two classes, or with rules that have a bound for it sometimes three."""
    return 2 if rule in METRIC or isinstance(rule, Uneven) else 2 + seed % 2


# -- runs -----------------------------------------------------------------------------------------------------------


@each_rule
@given(seed=SEEDS, fit_intercept=st.booleans())
@settings(max_examples=6, deadline=None)
def test_separable_rows_in_any_number_of_passes(rule, seed, fit_intercept):
    X, y, _, _ = separable(seed, fit_intercept, classes_for(rule, seed))
    result = mistake_bound(X, y, fit_intercept=fit_intercept, rule=rule)
    if any_passes(HOLDS[type(rule)][0]):
        assert any_passes(result.theorem)
    else:
        assert result.bound <= len(y)
    assert result.rule == rule and result.check(X, y) is True
    for order in range(2):
        rows = np.random.default_rng(order).permutation(len(y))
        assert counted(rule, result.theorem, X[rows], y[rows], fit_intercept, 15) <= result.bound


@each_rule
@given(seed=SEEDS, fit_intercept=st.booleans())
@settings(max_examples=3, deadline=None)
def test_one_pass_over_any_rows(rule, seed, fit_intercept):
    X, y, _, _ = inseparable(seed, fit_intercept, classes_for(rule, seed))
    result = mistake_bound(X, y, fit_intercept=fit_intercept, rule=rule)
    assert not any_passes(result.theorem)
    assert result.bound <= len(y) and result.check(X, y) is True
    for order in range(4):
        rows = np.random.default_rng(order).permutation(len(y))
        assert counted(rule, result.theorem, X[rows], y[rows], fit_intercept, 1) <= result.bound


@pytest.mark.parametrize(
    "rule", [Margin(0.5), PA1(0.3), PA2(0.3), ROMMA(), ALMA(), AROW(1.0, "full"), SOP(1.0, "full")], ids=str
)
@pytest.mark.parametrize("make", [separable, inseparable])
def test_the_estimator_makes_no_more_mistakes(rule, make):
    for seed in range(3):
        X, y, _, _ = make(seed, True, n=60)
        result = mistake_bound(X, y, rule=rule)
        passes = 30 if any_passes(result.theorem) else 1
        model = Perceptron(rule=rule, tol=None, max_iter=passes, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.fit(X, y)
        assert (model.n_updates_ if counts_updates(rule) else model.n_mistakes_) <= result.bound


OF_THEIR_OWN = [rule for rule in RULES if HOLDS[type(rule)][0] in BOUNDS]


@pytest.mark.parametrize("rule", OF_THEIR_OWN, ids=str)
def test_the_theorem_holds_for_every_hypothesis(rule):
    """Climb from tiny integer rows and hypotheses to those where mistakes come nearest to the bound: never beyond."""
    random = np.random.default_rng(7)
    for start in range(6):
        n_classes, fit_intercept = classes_for(rule, start), start % 3 == 0
        n, d = int(random.integers(n_classes, 9)), int(random.integers(1, 4))
        X = random.integers(-2, 3, size=(n, d)).astype(float)
        W = random.integers(-2, 3, size=(1 if n_classes == 2 else n_classes, d + fit_intercept))
        y, scale, best = np.arange(n) % n_classes, Fraction(1, 2), Fraction(0)
        for _ in range(25):
            change = random.integers(4)
            trial = [X.copy(), y.copy(), W.copy(), scale]
            if change == 0:
                trial[0][random.integers(n), random.integers(d)] += random.choice([-1, 1])
            elif change == 1:
                trial[1][random.integers(n)] = random.integers(n_classes)
            elif change == 2:
                trial[2][random.integers(len(W)), random.integers(d + fit_intercept)] += random.choice([-1, 1])
            else:
                trial[3] = scale * random.choice([Fraction(1, 2), Fraction(4, 5), Fraction(3, 2)])
            if len(set(trial[1].tolist())) < n_classes or not trial[2].any():
                continue
            ratio = most_of_bound(rule, *trial, fit_intercept)
            if ratio >= best:
                (X, y, W, scale), best = trial, ratio


def most_of_bound(rule, X, y, W, scale, fit_intercept):
    """The share of the bounds that is reached; at most 1, or the theorem is wrong."""
    about = facts(X, y, [[int(v) * scale for v in line] for line in W], fit_intercept)
    shares = [0.0]
    for theorem in HOLDS[type(rule)]:
        bound = BOUNDS[theorem](rule, about)
        if bound is not None and not (any_passes(theorem) and min(about.margins) <= 0):
            made = counted(rule, theorem, X, y, fit_intercept, 12)
            assert made <= bound, (theorem, made, float(bound))
            shares.append(float(made / bound) if bound and bound < len(y) else 0.0)
    return max(shares)


def test_a_row_of_zeros_is_a_mistake_that_moves_nothing():
    """Every rule makes a mistake there in each pass; the bounds for one pass count it."""
    X, y = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [2.0, 1.0]]), np.array([1, 0, 1, 0, 1])
    for rule in (PA(), PA1(0.03), PA2(1.0), ALMA(), AROW(1.0, "full"), SOP(1.0, "full")):
        result = mistake_bound(X, y, fit_intercept=False, rule=rule)
        assert counted(rule, result.theorem, X, y, False, 1) <= result.bound <= len(y)
        assert result.check(X, y) is True


@pytest.mark.parametrize("rule", [Margin(1.0), PA(), PA1(0.3), PA2(0.3)], ids=str)
@pytest.mark.parametrize("make", [separable, inseparable])
def test_a_linear_kernel_has_the_bound_of_the_rows(rule, make):
    X, y, _, _ = make(5, False)
    one = mistake_bound(X, y, rule=rule, fit_intercept=False)
    two = mistake_bound(K=X @ X.T, y=y, rule=rule, fit_intercept=False)
    assert two.check(K=X @ X.T, y=y) is True
    assert two.theorem == one.theorem and two.bound == pytest.approx(one.bound, rel=0.05)
    assert counted(rule, two.theorem, X, y, False, 10) <= two.bound


# -- the theorems as they are published --------------------------------------------------------------------------


def substituted(result, X, y, fit_intercept):
    """ℓ*, u·x, ‖u‖² and R² for the hypothesis of a bound for two classes."""
    rows = np.column_stack([X, np.ones(len(y))]) if fit_intercept else X
    u = np.append(result.coef, result.intercept) if fit_intercept else result.coef
    margins = np.where(y == 1, 1, -1) * (rows @ np.asarray(u, dtype=float))
    return np.maximum(0, 1 - margins), margins, float(u @ u), (rows * rows).sum(axis=1)


@given(seed=SEEDS, fit_intercept=st.booleans(), C=st.sampled_from([0.01, 0.2, 3.0, inf]))
@settings(max_examples=20, deadline=None)
def test_passive_aggressive_separable(seed, fit_intercept, C):
    """Crammer et al.: R²‖u‖² for PA, max(R², 1/C)‖u‖² for PA-I, (R² + 1/2C)‖u‖² for PA-II; ours are not above."""
    X, y, _, _ = separable(seed, fit_intercept)
    bounds = [mistake_bound(X, y, fit_intercept=fit_intercept, rule=rule) for rule in (PA(), PA1(C), PA2(C))]
    R2 = bounds[0].radius ** 2
    squares = 1 / bounds[0].margin ** 2
    assert bounds[0].bound == pytest.approx(R2 * squares)
    for result, factor in zip(bounds[1:], (max(R2, 1 / C), R2 + 0.5 / C), strict=True):
        assert result.bound <= factor * squares * (1 + 1e-9)
    if inf == C:
        assert bounds[1].bound == bounds[2].bound == bounds[0].bound


@given(seed=SEEDS, fit_intercept=st.booleans(), C=st.sampled_from([0.01, 0.2, 3.0]))
@settings(max_examples=10, deadline=None)
def test_passive_aggressive_with_noise(seed, fit_intercept, C):
    """Theorems 4 and 5: max(R², 1/C)(‖u‖² + 2CΣℓ*) for PA-I, (R² + 1/2C)(‖u‖² + 2CΣℓ*²) for PA-II."""
    X, y, W, b = inseparable(seed, fit_intercept)
    for rule in (PA(), PA1(C), PA2(C)):
        about = facts(X, y, [[Fraction(v) / 2 for v in (*W[0], *b[:fit_intercept])]], fit_intercept)
        short, squares, R2 = about.short.astype(float), float(about.squares), float(about.longest)
        U = sqrt((short**2 / np.where(about.sq_steps > 0, about.sq_steps, inf).astype(float)).sum())
        published = {
            PA: R2 * (U + sqrt(U * U + squares)) ** 2 + (about.sq_steps == 0).sum(),
            PA1: max(R2, 1 / C) * (squares + 2 * C * short.sum()),
            PA2: (R2 + 0.5 / C) * (squares + 2 * C * (short**2).sum()),
        }
        assert BOUNDS["pa"](rule, about) <= published[type(rule)] * (1 + 1e-9)


@given(seed=SEEDS, fit_intercept=st.booleans(), a=st.sampled_from([0.1, 1.0, 20.0]))
@settings(max_examples=15, deadline=None)
def test_second_order_as_published(seed, fit_intercept, a):
    """The factor of u that the theorems leave free is chosen for all rows here."""
    X, y, _, _ = inseparable(seed, fit_intercept)
    result = mistake_bound(X, y, fit_intercept=fit_intercept, rule=AROW(a, "full"))
    rows = np.column_stack([X, np.ones(len(y))]) if fit_intercept else X
    D = np.linalg.slogdet(np.eye(rows.shape[1]) + rows.T @ rows / a)[1]
    if result.theorem == "arow":
        assert D <= result.log_det <= D + 1e-6
        short, margins, squares, _ = substituted(result, X, y, fit_intercept)
        worst = (a * squares + (margins**2).sum()) + D + np.maximum(0, 1 - 2 * margins).sum()  # of 2u, at the worst U
        assert result.bound <= worst * (1 + 1e-9)
        assert result.bound <= (a * squares + ((1 - margins) ** 2).sum() + D) * (1 + 1e-9)
    result = mistake_bound(X, y, fit_intercept=fit_intercept, rule=SOP(a, "full"))
    if result.theorem == "sop":
        made, _ = run(SOP(a, "full"), X, y, fit_intercept)
        short, margins, squares, _ = substituted(result, X, y, fit_intercept)
        assert made <= short.sum() + sqrt((a * squares + (margins**2).sum()) * D)


def test_margins_that_are_demanded_are_added_to_the_radius():
    """‖w‖² grows by R² + 2β at most, so Novikoff's bound becomes (R² + 2β)/γ²."""
    X, y, _, _ = separable(3, True)
    plain, rows = mistake_bound(X, y), mistake_bound(X, y).radius ** 2
    for rule, beta in ((Margin(4.0), 4.0), (Uneven(0.5, 3.0), 3.0), (Margin(0.0), 0.0)):
        assert mistake_bound(X, y, rule=rule).bound == pytest.approx(plain.bound * (1 + 2 * beta / rows))
    assert mistake_bound(X, y, rule=Margin(inf)).theorem == "n"


@given(seed=SEEDS, fit_intercept=st.booleans(), alpha=st.sampled_from([0.3, 0.9, 1.0]))
@settings(max_examples=15, deadline=None)
def test_alma_separable(seed, fit_intercept, alpha):
    """Gentile: (2/γ²)(2/α − 1)² + 8/α − 4; ours is not above, and not below the recursion that it comes from."""
    X, y, _, _ = separable(seed, fit_intercept)
    result = mistake_bound(X, y, fit_intercept=fit_intercept, rule=ALMA(alpha))
    gamma, A = result.margin, 8 / alpha - 6
    assert result.bound <= 2 / gamma**2 * (2 / alpha - 1) ** 2 + 8 / alpha - 4
    f, k = 0.0, 0
    while gamma * f <= 1 and k < 10**5:
        k += 1
        f = (f + sqrt(2 / k)) / sqrt(1 + A / k)
    assert result.bound >= min(k - 1, 10**5)


def test_a_large_start_of_the_second_order_perceptron_has_the_bound_of_the_plain_one():
    X, y, _, _ = separable(3, False)
    plain = mistake_bound(X, y, fit_intercept=False).bound
    assert mistake_bound(X, y, fit_intercept=False, rule=SOP(1e9, "full")).bound == pytest.approx(plain, rel=1e-3)


@given(seed=SEEDS, fit_intercept=st.booleans(), a=st.sampled_from([0.5, 1.0, 8.0]))
@settings(max_examples=30, deadline=None)
def test_the_logarithm_of_the_determinant_is_rounded_up(seed, fit_intercept, a):
    """The exact determinant by elimination in fractions."""
    random = np.random.default_rng(seed)
    X = random.integers(-50, 51, size=(random.integers(1, 9), random.integers(1, 5))) / 16.0
    about = facts(X, np.zeros(len(X), int), [[1] * (X.shape[1] + fit_intercept)], fit_intercept)
    rows = np.column_stack([X, np.ones(len(X))]) if fit_intercept else X
    d = rows.shape[1]
    A = [
        [Fraction(int(i == j)) + sum(Fraction(x[i]) * Fraction(x[j]) for x in rows) / Fraction(a) for j in range(d)]
        for i in range(d)
    ]
    det = Fraction(1)
    for i in range(d):
        det *= A[i][i]
        for r in range(i + 1, d):
            A[r] = [v - A[r][i] / A[i][i] * p for v, p in zip(A[r], A[i], strict=True)]
    exact = log(det)
    assert exact <= about.log_det(a) <= exact + 1e-9


# -- what check and mistake_bound refuse ---------------------------------------------------------------------------


@each_rule
@pytest.mark.parametrize("make", [separable, inseparable])
def test_check_refuses_what_is_not_proved(rule, make):
    X, y, _, _ = make(4, True, n=40)
    result = mistake_bound(X, y, rule=rule)
    wrong = [{"bound": result.bound / 2}, {"bound": floor(result.bound) - 1.0}, {"rule": Plain()}, {"radius": 1.0}]
    if result.theorem != "n":
        wrong += [{"coef": -result.coef, "intercept": -result.intercept}, {"margin": 2 * result.margin}]
    for change in wrong:
        if "rule" in change and result.theorem in (*HOLDS[Plain], "n"):
            continue
        with pytest.raises(CertificateError):
            replace(result, **change).check(X, y)
    other = replace(result, theorem="novikoff" if result.theorem != "novikoff" else "pa-separable", bound=1e9)
    with pytest.raises(CertificateError):
        other.check(X, y)


def test_check_refuses_other_parameters():
    X, y, _, _ = separable(4, True, n=40)
    for rule, other in (
        (PA2(10.0), PA2(0.01)),
        (Margin(1.0), Margin(2.0)),
        (ALMA(0.9), ALMA(0.5)),
        (AROW(1.0, "full"), AROW(1.0, "diagonal")),
        (SOP(1.0, "full"), SOP(0.001, "full")),
    ):
        result = mistake_bound(X, y, rule=rule)
        assert result.check(X, y)
        with pytest.raises(CertificateError):
            replace(result, rule=other).check(X, y)


@pytest.mark.parametrize("rule", ["cw", "scw1", "scw2", "nherd", "shifting"])
def test_rules_without_a_theorem(rule):
    X, y, _, _ = separable(4, True)
    with pytest.raises(ValueError, match=r"no theorem is known for it\. Rules with a bound: 'perceptron', .*'sop'"):
        mistake_bound(X, y, rule=rule)


@pytest.mark.parametrize("rule", ["arow", "sop"])
def test_proofs_that_need_the_full_covariance_and_two_classes(rule):
    X, y, _, _ = separable(4, True)
    with pytest.raises(ValueError, match=r"the proof needs the full covariance\. Pass .*covariance='full'"):
        mistake_bound(X, y, rule=rule)
    X, y, _, _ = separable(4, True, 3)
    full = {"arow": AROW(covariance="full"), "sop": SOP(covariance="full")}[rule]
    with pytest.raises(ValueError, match="the proof is for two classes, and these rows have 3"):
        mistake_bound(X, y, rule=full)
    with pytest.raises(ValueError, match="it has a margin for each of two classes, and these rows have 3"):
        mistake_bound(X, y, rule="uneven")


def test_kernels_and_rules():
    X, y, _, _ = separable(4, True)
    with pytest.raises(ValueError, match=r"does not combine with kernels\. Pass rows X"):
        mistake_bound(K=X @ X.T, y=y, rule="romma")
    with pytest.raises(ValueError, match=r"with K_error they are not exact\. Pass K_error=0"):
        mistake_bound(K=X @ X.T, y=y, K_error=1e-6, rule="pa")
    assert mistake_bound(K=X @ X.T, y=y, K_error=1e-6, rule="margin").check(K=X @ X.T, y=y)


def test_a_rule_of_ones_own_has_no_bound():
    class Own(Margin):
        pass

    X, y, _, _ = separable(4, True)
    with pytest.raises(ValueError, match="the rule Own: no theorem is known for it"):
        mistake_bound(X, y, rule=Own(1.0))
    with pytest.raises(ValueError, match="rule must be one of"):
        mistake_bound(X, y, rule="perceptrons")


@each_rule
def test_a_given_hypothesis(rule):
    """It proves a bound, whatever its length; that of the search is not much larger."""
    X, y, W, b = separable(6, True)
    results = [mistake_bound(X, y, rule=rule, coef=scale * W[0], intercept=scale * b[0]) for scale in (1.0, 64.0)]
    best = mistake_bound(X, y, rule=rule)
    for result in results:
        assert result.check(X, y) and result.theorem == best.theorem
        assert result.bound == pytest.approx(results[0].bound, rel=0.01)
        assert best.bound <= result.bound * 1.01
        assert counted(rule, result.theorem, X, y, True, 12) <= result.bound


def test_the_report_names_the_rule_and_what_is_counted():
    X, y, _, _ = separable(4, True)
    text = str(mistake_bound(X, y, rule=Margin(2.0)))
    assert "updates of Margin(beta=2.0) in any number of passes" in text and "(R² + 2β)·‖w‖²/γ² updates" in text
    text = str(mistake_bound(np.vstack([X] * 9), np.tile(y, 9), rule=AROW(covariance="full")))
    assert "mistakes of AROW(r=1.0, covariance='full') in one pass" in text and "ln det = " in text
