"""Bounds for other rules than the plain one: what check and mistake_bound refuse, given hypotheses, reports."""

from dataclasses import replace
from math import floor

import numpy as np
import pytest
from bound_cases import inseparable, separable
from rule_runs import counted, each_rule
from scipy import sparse

from perceptrons.rules import ALMA, AROW, PA, PA1, PA2, ROMMA, SOP, Margin, Plain
from perceptrons.theory import mistake_bound
from perceptrons.theory.certificate import CertificateError
from perceptrons.theory.theorems import HOLDS


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


@pytest.mark.parametrize("rule", [PA1(0.3), ALMA(), AROW(1.0, "full"), SOP(1.0, "full")], ids=str)
@pytest.mark.parametrize("make", [separable, inseparable])
def test_sparse_equals_dense_and_float32_equals_double(rule, make):
    X, y, _, _ = make(6, True)
    dense = mistake_bound(X, y, rule=rule)
    for rows in (sparse.csr_matrix(X), X.astype(np.float32)):
        result = mistake_bound(rows, y, rule=rule)
        assert result.check(rows, y) and result.check(X, y)
        assert result.theorem == dense.theorem and result.bound == pytest.approx(dense.bound, rel=0.01, abs=1)


@each_rule
@pytest.mark.parametrize("size", [1e-150, 1e-100, 1e100])
def test_rows_of_any_length(rule, size):
    """What floats cannot prove is not claimed."""
    X, y, _, _ = separable(5, False)
    result = mistake_bound(size * X, y, rule=rule, fit_intercept=False)
    assert result.check(size * X, y)
    same = isinstance(rule, ALMA | PA | ROMMA)
    if same and size > 1e-140:  # rules that do not depend on the unit of length
        assert result.bound == pytest.approx(mistake_bound(X, y, rule=rule, fit_intercept=False).bound)
    if isinstance(rule, ROMMA) and size < 1e-140:  # ‖w‖² is beyond floats
        assert result.theorem == "n"
