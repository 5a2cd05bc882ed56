"""Data and helpers that the tests of rules with a covariance or a scale share."""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from naive_shapes import Shaped

from perceptrons import Perceptron
from perceptrons.rules import ALMA, AROW, CW, NHERD, ROMMA, SCW1, SCW2, SOP, Shifting, Uneven

NAMES = np.array(["ant", "bee", "cat", "dog"])
DIAGONAL = {
    "arow": AROW(r=0.5),
    "cw": CW(eta=0.8),
    "scw1": SCW1(C=0.3, eta=0.8),
    "scw2": SCW2(C=0.5, eta=0.85),
    "nherd": NHERD(C=0.5),
    "sop": SOP(a=2.0),
}
FULL = {f"{name} full": rule._replace(covariance="full") for name, rule in DIAGONAL.items()}
METRIC = {**DIAGONAL, **FULL}
SCALE = {
    "romma": ROMMA(),
    "romma aggressive": ROMMA(aggressive=True),
    "alma": ALMA(alpha=0.5),
    "shifting": Shifting(lam=1.7),
}
UNEVEN = {"uneven": Uneven(beta_positive=2.0, beta_negative=0.5)}
RULES = {**METRIC, **SCALE, **UNEVEN}
# Φ⁻¹ is known to nine digits, and α of CW is a difference of larger numbers.
TOLERANCE = {name: 1e-9 for name in RULES}
# One rule of each kind of state.
KINDS = {"diagonal": AROW(r=0.5), "full": AROW(r=0.5, covariance="full"), "scale": Shifting(lam=1.7)}
LAYOUTS = {"dense": np.ascontiguousarray, "csr": sp.csr_array}


def data(n_classes, seed=0, n=24, integers=False, d=4):
    """Rows with some zeros, labels that no hypothesis explains, and rows to be asked about."""
    random = np.random.default_rng(seed)
    X = random.integers(-2, 3, size=(n, d)).astype(np.float64)
    Q = random.integers(-3, 4, size=(20, d)).astype(np.float64)
    if not integers:
        X, Q = (np.where(A == 0, 0, A + random.normal(size=A.shape) / 2) for A in (X, Q))
    return X, NAMES[:n_classes][random.permutation(np.arange(n) % n_classes)], Q


def estimator(name, **settings):
    settings = {"shuffle": False, "tol": None, **settings}
    return Perceptron(rule=RULES[name], **settings)


def twin(name, **settings):
    return Shaped(name.split()[0], **RULES[name]._asdict(), **settings)


def close(ours, theirs, tolerance=1e-9):
    size = np.abs(theirs).max() if np.size(theirs) else 0.0
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * size)


def joined(model):
    """Weights and offsets of the readout, as the twin has them."""
    return np.column_stack([model.coef_, model.intercept_])


def assert_same(model, slow, tolerance=1e-9):
    """Equal counts, and weights but for rounding errors. `slow` must have been in doubt nowhere."""
    assert slow.unclear == 0
    np.testing.assert_array_equal(model.classes_, slow.classes)
    assert (model.n_seen_, model.n_mistakes_, model.n_updates_) == (slow.n_seen, slow.n_mistakes, slow.n_updates)
    close(joined(model), getattr(slow, model.readout)(), tolerance)


def state_of(model):
    """All that learning has changed, down to the last bit."""
    learner = model._learner
    return {
        "classes": model.classes_.tolist(),
        "totals": learner.totals.array.tolist(),
        **{name: learner.state[name].tolist() for name in learner.state},
        "coef": model.coef_.tolist(),
        "intercept": model.intercept_.tolist(),
    }


def covariances(model):
    """Σ of each weight vector, as matrices."""
    state = model._learner.state
    if "root" in state:
        roots = state["root"]
        return [root @ root.T for root in (roots[np.newaxis] if roots.ndim == 2 else roots)]
    return [np.diag(column) for column in np.atleast_2d(state["variance"].T)]


class Endless(NamedTuple):
    """A rule of a user's own with a scale, whose steps may overflow."""

    factor: float = 1e300

    def scale(self, margin, sq_norm, sq_length, k, weight):
        return (self.factor, self.factor) if margin <= 0.0 else (1.0, 0.0)
