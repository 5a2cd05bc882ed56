"""Certificates about kernel matrices: nothing that is changed passes the check."""

from dataclasses import fields, replace
from fractions import Fraction

import numpy as np
import pytest
from kernel_theory_cases import gaussian
from theory_cases import BIAS

from perceptrons.theory import CertificateError, separability


def changes(result):
    """Each field that is verified, changed."""
    swapped = [*result.weights[1:], result.weights[0]]
    yield from (
        {"weights": swapped if swapped != result.weights else [Fraction(1)] + [Fraction(0)] * (len(swapped) - 1)},
        {"weights": [2 * weight for weight in result.weights]},
        {"support": (result.support + 1) % result.n_rows},
        {"radius": result.radius * 0.999},
        {"n_rows": result.n_rows + 1},
        {"separable": not result.separable},
        {"separable": None},
        {"classes": result.classes + 5},
        {"rivals": np.roll(result.classes, 1)[np.zeros(len(result.rivals), dtype=int)]},
        {"K_error": -1e-3},
    )
    if not result.separable:
        yield from ({"K_error": 1e-12}, {"irreducible": result.irreducible[1:]})
        return
    low, high = result.margin_bounds
    yield from (
        {"margin": low * (1 + 1e-6), "margin_bounds": (low * (1 + 1e-6), high * (1 + 1e-6))},
        {"margin_bounds": (low, low * (1 - 1e-6)), "margin": low},
        {"margin": low * (1 - 1e-5), "margin_bounds": (low * (1 - 1e-5), high * (1 - 1e-6))},
        {"margin": low / 2},
        {"augmented_margin": result.augmented_margin * (1 + 1e-6)},
        {"K_error": 1e-3},
        {"margin": None, "margin_bounds": None},
    )
    for name in ("dual_coef", "augmented_dual_coef"):
        value = getattr(result, name)
        wrong = value.copy()
        wrong[..., 0] += 0.1
        yield from ({name: -value}, {name: wrong}, {name: 0 * value}, {name: np.full_like(value, np.nan)})
        yield {name: value[..., 1:]}
    for name in ("intercept", "augmented_intercept"):
        wrong = np.array(getattr(result, name)) + np.eye(max(1, np.size(getattr(result, name))))[0]
        yield {name: wrong if wrong.size > 1 else float(wrong[0])}


@BIAS
@pytest.mark.parametrize("n_classes", [2, 3])
def test_check_refuses_what_is_not_proved(n_classes, fit_intercept):
    K, y = gaussian(24, n_classes)
    at = np.r_[:24, 3]
    for table, labels in ((K, y), (K[np.ix_(at, at)], np.r_[y, (y[3] + 1) % n_classes])):
        result = separability(K=table, y=labels, fit_intercept=fit_intercept)
        assert result.check(K=table, y=labels)
        for change in changes(result):
            if n_classes > 2 and "irreducible" in change:
                continue
            with pytest.raises(ValueError):
                replace(result, **change).check(K=table, y=labels)
                pytest.fail(f"{change} went through")
        with pytest.raises(ValueError):
            result.check(K=np.eye(len(table)), y=labels)
        with pytest.raises(ValueError):
            result.check(K=table, y=np.r_[labels[:-1], labels[3]] if len(labels) == 25 else labels[::-1])


def test_check_of_pairs():
    K, y = gaussian(30, 3)
    result = separability(K=K, y=y, pairwise=True)
    assert list(result.pairs) == [(0, 1), (0, 2), (1, 2)]
    assert result.check(K=K, y=y)
    for (a, b), pair in result.pairs.items():
        both = np.flatnonzero((y == a) | (y == b))
        alone = separability(K=K[np.ix_(both, both)], y=y[both])
        assert pair.margin == pytest.approx(alone.margin, rel=1e-9)
    wrong = replace(result.pairs[0, 1], radius=0.5)
    with pytest.raises(CertificateError):
        replace(result, pairs=result.pairs | {(0, 1): wrong}).check(K=K, y=y)
    assert "0 | 1: separable" in str(result)


def test_layouts_and_read_only_matrices():
    K, y = gaussian(30)
    before, K.flags.writeable = K.copy(), False
    expected = separability(K=K, y=y)
    np.testing.assert_array_equal(K, before)
    assert separability(K=np.asfortranarray(K), y=y).margin == expected.margin
    assert separability(K=K.tolist(), y=y.tolist()).margin == expected.margin
    narrow = separability(K=K.astype(np.float32), y=y)
    assert narrow.margin == pytest.approx(expected.margin, rel=1e-4) and narrow.check(K=K.astype(np.float32), y=y)
    assert separability(K=np.eye(3, dtype=int), y=[0, 1, 0]).separable is True


def test_the_result_cannot_be_changed_and_says_what_it_is():
    result = separability(K=np.eye(2), y=[0, 1])
    assert repr(result).startswith("<KernelSeparability: separable, margin=0.707")
    assert "coef" not in {field.name for field in fields(result)}
    with pytest.raises(AttributeError):
        result.margin = 1.0
