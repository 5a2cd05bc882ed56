"""Work that can be counted: Python calls, bytes, compilations. Times depend on the machine, these numbers do not.

A bound that fails means that something was put on the main path. Does it have to be there for every call?
"""

import os
import subprocess
import sys
import tracemalloc
from collections import Counter

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons import Perceptron

random = np.random.default_rng(0)


def python_calls(work):
    """The number of Python functions that are called."""
    count = 0

    def note(frame, event, argument):
        nonlocal count
        count += event == "call"

    work()  # sets up what later calls reuse
    work()
    sys.setprofile(note)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count - 1  # without `work`


def peak_bytes(work):
    """The most bytes that are allocated at once, beyond those allocated before."""
    work()
    work()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        work()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def sparse_row(width, n=100):
    """One row with `n` values, the same for every width."""
    where = np.arange(0, 10 * n, 10, dtype=np.int32)
    return sp.csr_array((np.linspace(-1.0, 2.0, n), where, [0, n]), shape=(1, width))


# -- Python calls -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("readout", ["last", "averaged"])
@pytest.mark.parametrize("n", [1, 100])
def test_predict_of_a_few_rows_takes_54_python_calls(n, readout):
    X = random.normal(size=(n, 30))
    model = Perceptron(readout=readout).partial_fit(random.normal(size=(50, 30)), np.arange(50) % 2)
    assert python_calls(lambda: model.predict(X)) <= 54


@pytest.mark.parametrize("readout", ["last", "averaged"])
@pytest.mark.parametrize("n", [10, 100])
def test_partial_fit_of_a_few_rows_takes_165_python_calls(n, readout):
    X, y = random.normal(size=(n, 30)), np.arange(n) % 2
    model = Perceptron(readout=readout).partial_fit(X, y)
    assert python_calls(lambda: model.partial_fit(X, y)) <= 165


def test_partial_fit_of_a_sparse_row_takes_195_python_calls():
    x = sparse_row(1000)
    model = Perceptron(readout="averaged").partial_fit(x, [0], classes=[0, 1])
    assert python_calls(lambda: model.partial_fit(x, [1])) <= 195


def test_partial_fit_of_a_dense_row_takes_20_python_calls():
    x, y = random.normal(size=(1, 30)), np.array([1])
    model = Perceptron().partial_fit(x, y, classes=[0, 1])
    assert python_calls(lambda: model.partial_fit(x, y)) <= 20


# -- bytes ------------------------------------------------------------------------------------------------------------

ONE_ROW = {
    "partial_fit": lambda model, x: model.partial_fit(x, [1]),
    "predict_then_learn": lambda model, x: model.predict_then_learn(x, [0]),
    "predict": lambda model, x: model.predict(x),
    "learn_one": lambda model, x: model.learn_one((x.indices, x.data), 1),
    "learn_one of a dict": lambda model, x: model.learn_one({"x10": 1.0, "x20": 2.0}, 1),
    "learn_one of a Counter": lambda model, x: model.learn_one(Counter(x10=1, x20=2), 1),
    "learn_one of lists": lambda model, x: model.learn_one((x.indices.tolist(), x.data.tolist()), 1),
    "learn_one with classes": lambda model, x: model.learn_one((x.indices, x.data), 1, classes=[0, 1]),
    "learn_one of a new feature": lambda model, x: model.learn_one({f"new{model.n_features_in_}": 1.0}, 1),
    "learn_many": lambda model, x: model.learn_many([{"x10": 1.0}, {"x20": 2.0}], [1, 0]),
    "predict_one": lambda model, x: model.predict_one((x.indices, x.data)),
}


@pytest.mark.parametrize(
    "settings", [{}, {"readout": "averaged"}, {"rule": "arow"}, {"rule": "pa1", "scale": "online"}]
)
@pytest.mark.parametrize("call", ONE_ROW)
def test_nothing_grows_with_the_width_of_the_model_for_one_sparse_row(call, settings):
    used = []
    for width in (1_000, 100_000):
        x = sparse_row(width)
        model = Perceptron(**settings).partial_fit(x, [0], classes=[0, 1])
        used.append(peak_bytes(lambda x=x, model=model: ONE_ROW[call](model, x)))
    assert used[1] <= used[0] + 1000


def test_one_class_among_many_grows_with_nothing_either():
    used = []
    for width in (1_000, 100_000):
        x = sparse_row(width)
        model = Perceptron(readout="averaged").partial_fit(x, [0], classes=np.arange(5))
        used.append(peak_bytes(lambda x=x, model=model: model.partial_fit(x, [3]).predict(x)))
    assert used[1] <= used[0] + 1000


@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_fit_allocates_a_few_numbers_per_row_and_no_copy_of_the_matrix(layout, kind, shuffle):
    """Squared lengths, order and classes, and row pointers of CSR; advice about scales looks at a few values."""
    n, width = 20_000, 100
    X = random.normal(size=(n, width)).astype(kind)
    X = X if layout == "dense" else sp.csr_array(X)
    y = (X @ random.normal(size=width) + random.normal(size=n) > 0).astype(np.int64)

    def fit():
        with pytest.warns(UserWarning, match="stopped by max_iter"):
            Perceptron(max_iter=2, tol=None, shuffle=shuffle).fit(X, y)

    assert peak_bytes(fit) < 40 * n + 600_000 < X.shape[0] * X.shape[1] * 8 / 10


@pytest.mark.parametrize(("readout", "arrays"), [("last", 4), ("averaged", 5)])
def test_fit_of_a_wide_matrix_allocates_a_few_arrays_of_its_width(readout, arrays):
    """The weights, a sum of the readout, and for the warning two counts of a sample."""
    width = 300_000
    X = sp.csr_array((np.ones(1000), np.arange(0, width, width // 1000, dtype=np.int32), np.arange(0, 1001, 10)))
    X.resize(100, width)

    def fit():
        with pytest.warns(UserWarning, match="stopped by max_iter"):
            Perceptron(max_iter=1, tol=None, readout=readout).fit(X, np.arange(100) % 2)

    assert peak_bytes(fit) < arrays * 8 * width


def test_predict_allocates_a_few_numbers_per_row():
    n, width = 20_000, 100
    X = sp.csr_array(random.normal(size=(n, width)))
    model = Perceptron().partial_fit(X, np.arange(n) % 2)
    assert peak_bytes(lambda: model.predict(X)) < 40 * n


# -- compilations -----------------------------------------------------------------------------------------------------

EVERYTHING = """
import gc, warnings
import numpy as np, scipy.sparse as sp
from perceptrons import Perceptron
from perceptrons.core.jit.compiled import Compiled
warnings.simplefilter("ignore")
X, y = np.random.default_rng(0).normal(size=(50, 4)), np.arange(50) % 2
for readout in ("last", "averaged"):
    for rows in (X, sp.csr_array(X)):
        model = Perceptron(max_iter=3, readout=readout).fit(rows, y)
        model.predict(rows)
        model.partial_fit(rows, y).partial_fit(rows[:1], y[:1]).partial_fit(rows[:1], y[:1])
        model.predict_then_learn(rows, y)
    model = Perceptron(readout=readout).learn_one({"a": 1.0}, 0).learn_one({"b": 2.0}, 1).learn_one({"b": 1.0}, 1)
    model.predict_one({"a": 2.0})
functions = [each for each in gc.get_objects() if isinstance(each, Compiled)]
used = [vars(each)["cached"] for each in functions if "cached" in vars(each)]
anew = [each for each in functions if {"fresh", "allocating"} & set(vars(each))]
print(len(used) > 5, len(anew), sum(sum(each.stats.cache_misses.values()) for each in used))
"""


def test_a_second_process_compiles_nothing():
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", EVERYTHING], capture_output=True, text=True, env=os.environ)
        assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True", "0", "0"]
