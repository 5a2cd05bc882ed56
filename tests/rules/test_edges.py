"""Rules at the edges: streams before fits, formulas that allocate or are faulty, rows of extreme lengths, growth."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons import PassiveAggressiveRegressor, Perceptron
from perceptrons.learn.linear import covariances
from perceptrons.learn.tuning import variants
from perceptrons.rules import AROW, NHERD, ROMMA, RULES, SCW1, SCW2, Shifting, resolve

rng = np.random.default_rng(0)
X, y = rng.normal(size=(40, 4)), rng.integers(2, size=40)


def test_a_fit_after_a_stream_ends():
    """A stream leaves the note that only some weights were saved; passes of a fit must not wait for more."""
    rows = sp.csr_array(X)
    model = Perceptron(rule=Shifting(5.0), warm_start=True, max_iter=8, tol=None, shuffle=False)
    model.partial_fit(rows[:1], y[:1]).fit(rows, y)
    assert model.n_iter_ == 8


class Listed(NamedTuple):
    """A formula that allocates memory."""

    C: float = 1.0

    def tau(self, margin, sq_norm, weight):
        return max([0.0, self.C - margin])


def test_formulas_may_allocate():
    model = Perceptron(readout="last", rule=Listed(0.5), max_iter=1, tol=None, shuffle=False).fit(X, y)
    w = np.zeros(5)
    for x, label in zip(np.column_stack([X, np.ones(40)]), 2 * y - 1, strict=True):
        w += max(0.0, 0.5 - label * w @ x) * label * x
    np.testing.assert_allclose([*model.coef_[0], *model.intercept_], w)


class Growing(NamedTuple):
    """A metric whose variances would grow, and a target that depends on a parameter."""

    bar: float = 0.5

    @property
    def target(self):
        return self.bar

    def metric(self, margin, variance, weight):
        return (0.1, -1.0) if margin < self.bar else (0.0, 0.0)


def test_variances_may_not_grow():
    model = Perceptron(rule=Growing(), shuffle=False)
    with pytest.raises(
        ValueError, match=r"the rule Growing returns \(0.1, -1.0\) at row 0, for .*two finite numbers >= 0"
    ):
        model.fit(X, y)


def test_covariances_that_overflow_are_an_error():
    for rule in (NHERD(covariance="full"), NHERD()):
        model = Perceptron(rule=rule, fit_intercept=False)
        with pytest.raises(ValueError, match="overflow"):
            model.partial_fit([[1e80, 0.0]], [0], classes=[0, 1])


@pytest.mark.parametrize("rule", [SCW2(), ROMMA(), ROMMA(aggressive=True)])
def test_the_unit_of_rows_does_not_matter_to_mistakes(rule):
    """Rows times a power of two: ROMMA makes the same mistakes. SCW-II does so once C is in the same unit."""
    counts = []
    for power in (0, 120) if isinstance(rule, SCW2) else (-250, -220, 0, 300):
        rows = np.ldexp(X, power)
        scaled = rule._replace(C=np.ldexp(1.0, -2 * power)) if isinstance(rule, SCW2) else rule
        counts.append(Perceptron(rule=scaled, fit_intercept=False).partial_fit(rows, y, classes=[0, 1]).n_mistakes_)
    if isinstance(rule, ROMMA):
        assert len(set(counts)) == 1
    else:
        assert 0 < counts[1] < 40  # it learns


def test_scw2_is_its_formula():
    C, eta, m, v = 0.3, 0.75, -0.4, 2.0
    phi, n = 0.6744897501960817, v + 1 / (2 * C)
    root = phi * np.sqrt(phi**2 * m**2 * v**2 + 4 * n * v * (n + v * phi**2))
    alpha = (-(2 * m * n + phi**2 * m * v) + root) / (2 * (n**2 + n * v * phi**2))
    assert resolve(SCW2(C, eta)).metric(m, v, 1.0)[0] == pytest.approx(alpha, rel=1e-12)


def test_a_covariance_that_does_not_fit_is_refused_before_it_grows(monkeypatch):
    model = Perceptron(rule=AROW(covariance="full")).partial_fit(X, y)
    monkeypatch.setattr(covariances, "memory", lambda: 500.0)
    with pytest.raises(ValueError, match=r"covariance='full' needs .* use covariance='diagonal'"):
        model.partial_fit(X, np.arange(40) % 3)
    assert model.classes_.tolist() == [0, 1]


def test_parameters_must_be_of_their_type():
    for rule, message in (
        (ROMMA(aggressive="no"), "aggressive must be True or False, got 'no'"),
        (AROW(r="a"), "r must be a number, got 'a'"),
        (SCW1(eta=0.5), "eta must be above 0.5 and below 1, got 0.5"),
    ):
        with pytest.raises(ValueError, match=message):
            resolve(rule)


class One(NamedTuple):
    def metric(self, margin, variance, weight):
        return 0.5


class Few(NamedTuple):
    def scale(self, margin):
        return 1.0, 0.0


class Unknown(NamedTuple):
    def tau(self, margin, sq_norm, weight):
        return undefined_name  # noqa: F821


def test_faulty_formulas_are_explained():
    for rule, message in (
        (One(), r"the formula metric of One must return two numbers, α and c, got 0.5"),
        (
            Few(),
            r"the formula scale of Few, which gets margin, sq_norm, sq_length, k, weight, fails: .*argument",
        ),
        (Unknown(), r"the formula tau of Unknown, .* fails: name 'undefined_name' is not defined"),
    ):
        with pytest.raises(TypeError, match=message):
            Perceptron(rule=rule).fit(X, y)


class Scaled(NamedTuple):
    def scale(self, margin, sq_norm, sq_length, k, weight):
        return 1.0, 0.0


def test_regression_refuses_rules_that_scale_w_or_ask_for_the_class():
    with pytest.raises(ValueError, match="Scaled does not combine with regression"):
        PassiveAggressiveRegressor(rule=Scaled()).fit(X, X[:, 0])


@pytest.mark.parametrize("page", ["CHANGELOG.md", "docs/choose/rules.md"])
def test_pages_have_all_rules(page):
    text = (Path(__file__).parents[2] / page).read_text(encoding="utf-8")
    assert [name for name in RULES if f'`"{name}"`' not in text and f"`{name}`" not in text] == []


@pytest.mark.parametrize("name", RULES)
def test_variants_are_valid_and_different(name):
    made = variants(resolve(name))
    assert made[0] == resolve(name) and len(set(made)) == len(made)
    assert all(resolve(rule) == rule for rule in made)
