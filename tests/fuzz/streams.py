"""Single examples of any kind: those that are refused change nothing, and the others count as rows of `partial_fit`."""

import copy
import enum
import pickle
from collections import OrderedDict
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from perceptrons import PassiveAggressiveClassifier, PassiveAggressiveRegressor, Perceptron

WIDTH = 6  # features; those from 4 on come late
NAMES = [f"x{j}" for j in range(WIDTH)]
STRANGE: list[Any] = [float("nan"), float("inf"), None, [], {}, 1j, b"1", 10**400, -(10**400), 1e200, np.ones(1)]
STRANGE += [np.float128("1e4000") if hasattr(np, "float128") else "x", np.datetime64("2020"), object(), Decimal("nan")]
MAKERS = [
    Perceptron,
    lambda: Perceptron(readout="averaged"),
    lambda: Perceptron(readout="voted"),
    lambda: Perceptron(class_weight={1: 0.5}),
    lambda: PassiveAggressiveClassifier(C=0.1),
    lambda: PassiveAggressiveRegressor(C=0.1),
]


class Text(str):
    """Text of another type."""

    __slots__ = ()

    def __hash__(self):
        return str.__hash__(self)

    def __eq__(self, other):
        return str.__eq__(self, other)


class Kind(str, enum.Enum):  # noqa: UP042
    X0 = "x0"


def number(random, value):
    """The same value as another type."""
    forms = [float, np.float64, lambda x: np.float32(x), lambda x: Fraction(x), lambda x: Decimal(x), int, np.int8]
    return forms[random.integers(len(forms))](value)


def name(random, text):
    """The same name as another object."""
    forms = [lambda t: t, lambda t: "".join(list(t)), Text, np.str_, lambda t: Kind.X0 if t == "x0" else t]
    return forms[random.integers(len(forms))](text)


def good(random, known):
    """An example, and the indices and values that it has. New features come one by one."""
    width = min(WIDTH, known + 1)
    some = np.sort(random.permutation(width)[: random.integers(width + 1)])
    values = random.integers(-3, 4, len(some)).astype(float)
    way = random.integers(4) if known else 0
    if way == 0:
        order = random.permutation(len(some))
        kind = OrderedDict if random.integers(4) == 0 else dict
        return kind((name(random, NAMES[some[k]]), number(random, values[k])) for k in order), some, values
    if way == 1:
        row = np.zeros(known)
        row[some[some < known]] = values[some < known]
        wide = np.zeros(2 * known)
        wide[::2] = row
        forms = [row, row.tolist(), row.astype(np.float16), row.astype(">f8"), wide[::2], row.astype(np.float32)]
        forms += [np.asfortranarray(row), tuple(row.tolist()), row.astype(np.longdouble), np.ma.masked_array(row)]
        frozen = row.copy()
        frozen.setflags(write=False)
        forms.append(frozen)
        found = forms[random.integers(len(forms))]
        if type(found) is tuple and len(found) == 2:
            found = list(found)
        return found, np.arange(known), row
    kinds = [np.int64, np.uint8, np.int32, ">i4", np.uint64, np.uint16]
    indices = some.astype(kinds[random.integers(len(kinds))])
    given = values.astype([np.float64, np.float32, np.float16, np.int64][random.integers(4)])
    if random.integers(4) == 0:
        spread = np.zeros(3 * len(given), dtype=given.dtype)
        spread[::3] = given
        given = spread[::3]
    return (indices, given) if way == 2 else (indices.tolist(), given.tolist()), some, values


def bad(random, known):
    """Something that is no example, or may be none."""
    strange = STRANGE[random.integers(len(STRANGE))]
    ways = [
        lambda: {"x0": 1.0, "late": strange},
        lambda: {"late": 1.0, "x0": strange},
        lambda: {strange if strange.__hash__ else b"x0": 1.0},
        lambda: strange,
        lambda: [strange] * known,
        lambda: np.ones((1, known)),
        lambda: np.ones(known + 1),
        lambda: np.array(1.0),
        lambda: np.zeros(known, dtype=[("a", float)]),
        lambda: (np.array([0]), np.array([strange], dtype=object)),
        lambda: (np.array([-1]), np.ones(1)),
        lambda: (np.array([2**40]), np.ones(1)),
        lambda: (np.array([0, 1]), np.ones(1)),
        lambda: (np.array([0.0]), np.ones(1)),
        lambda: (np.array([0]), np.array([np.nan])),
        lambda: np.full(known, np.nan),
        lambda: {"x0": 1.0, "x1": float("nan")},
    ]
    return ways[random.integers(len(ways))]()


def same(model, twin, mistakes=True):
    """Whether two models have learned the same."""
    assert model.n_features_in_ == twin.n_features_in_, (model.n_features_in_, twin.n_features_in_)
    for name in ("n_seen_", "n_mistakes_", "n_updates_", "margin_bound_"):
        assert getattr(model, name) == getattr(twin, name), name
    if mistakes:
        assert model.mistakes_.tolist() == twin.mistakes_.tolist()
    if not model._learner.readout.by_vote:
        assert np.array_equal(model.coef_, twin.coef_) and np.array_equal(model.intercept_, twin.intercept_)


def label(random, values, known):
    """A label; two classes come first, the third late."""
    if values:
        return float(random.integers(-5, 6))
    return int(random.integers(2 if random.integers(40) else 3))


def case(random, folder):
    make = MAKERS[random.integers(len(MAKERS))]
    model, twin, known = make(), make(), 0
    values = isinstance(model, PassiveAggressiveRegressor)
    for _ in range(random.integers(1, 40)):
        way = random.integers(12)
        if way < 7:
            x, indices, given = good(random, known)
            y = label(random, values, known)
            weight = None if random.integers(5) else float(random.integers(3))
            width = max([known, *(indices + 1).tolist()])
            if isinstance(x, dict):  # names get their numbers in the order of the dict: only the next one is new
                width = max(known, known + sum(j >= known for j in indices.tolist()))
            if width == 0 or (known == 0 and width > 1) or (isinstance(x, dict) and width > known + 1):
                continue
            model.learn_one(x, y, weight)
            kind = np.float32 if type(x) is tuple and getattr(x[-1], "dtype", None) == np.float32 else np.float64
            row: Any = (given.astype(kind), indices.astype(np.int32), [0, len(given)])
            row = sp.csr_matrix(row, shape=(1, width))
            if not isinstance(x, dict) and not (type(x) is tuple and len(x) == 2):
                row = np.asarray(x)[np.newaxis]  # in its own layout and type: sums may be reassociated
            if hasattr(twin, "_learner") and width > known:
                twin._learner.widen(width)
                twin.n_features_in_ = width
            twin.partial_fit(row, [y], sample_weight=None if weight is None else [weight])
            known = width
            same(model, twin)
        elif known == 0:
            continue
        elif way < 9:
            x, y = bad(random, known), label(random, values, known)
            before = pickle.dumps(model)
            try:
                model.learn_one(x, y, [None, 10**400, -1.0][random.integers(3)])
            except (ValueError, TypeError):
                same(model, pickle.loads(before))
                continue
            return  # it was an example after all, and the twin does not know it
        elif way == 9:
            with suppress(ValueError, TypeError):
                model.predict_one(bad(random, known))
            x = good(random, known)[0]
            model.predict_one(x), model.score_one(x)
            same(model, twin)
        elif way == 10:
            copies = [copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m)), lambda m: m.set_params(verbose=0)]
            model = copies[random.integers(3)](model)
        else:
            row = random.integers(-3, 4, (random.integers(1, 3), known)).astype(float)
            y = [label(random, values, known) for _ in row]
            guesses = [each.predict_then_learn(row, y) for each in (model, twin)]
            assert np.array_equal(*guesses)
            same(model, twin)
