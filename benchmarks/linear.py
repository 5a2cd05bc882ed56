"""Linear perceptrons against scikit-learn: seconds per pass, convergence, start-up, memory, single rows.

python benchmarks/linear.py            # everything, about five minutes
python benchmarks/linear.py passes     # one part: passes, classes, converge, startup, memory, stream, one_row
"""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import scipy.sparse as sp
from side_by_side import head, ratio, row
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import Perceptron as TheirPerceptron
from sklearn.linear_model import SGDClassifier

from perceptrons import Perceptron

PASSES = 10
rng = np.random.default_rng(0)


def words(n: int = 100_000, length: int = 75, width: int = 50_000) -> sp.csr_array:
    """Rows of `length` distinct features whose frequencies fall as those of words do (Zipf), in no order of index."""
    frequency = 1 / np.arange(1, width + 1)
    cumulative = np.cumsum(frequency) / frequency.sum()
    indices = np.empty((n, length), dtype=np.int64)
    for i in range(n):
        drawn = np.unique(np.searchsorted(cumulative, rng.random(3 * length)))
        while len(drawn) < length:
            drawn = np.unique(np.append(drawn, rng.integers(width, size=length)))
        indices[i] = rng.permutation(drawn)[:length]
    indices = np.sort(rng.permutation(width)[indices], axis=1)
    values = rng.normal(size=n * length)
    return sp.csr_array(
        (values, indices.ravel().astype(np.int32), np.arange(0, n * length + 1, length, dtype=np.int32)),
        shape=(n, width),
    )


def teach(X) -> np.ndarray:
    """Labels by a linear teacher, with noise."""
    scores = X @ rng.normal(size=X.shape[1])
    return (scores + 0.3 * scores.std() * rng.normal(size=len(scores)) > 0).astype(np.int64)


def ours(X, y, passes=PASSES, **parameters):
    parameters = {"readout": "last", **parameters}
    return lambda: Perceptron(max_iter=passes, tol=None, **parameters).fit(X, y)


def theirs(X, y, passes=PASSES, **parameters):
    return lambda: TheirPerceptron(max_iter=passes, tol=None, **parameters).fit(X, y)


def per_pass(work: str, mine, other, bar: str, passes: int = PASSES) -> None:
    a, b, factor = ratio(mine, other)
    row(work, a / passes, b / passes, factor, bar)


def passes() -> None:
    head(f"One pass ({PASSES} passes, divided), milliseconds", "ours", "sklearn")
    dense = rng.normal(size=(100_000, 128))
    sparse = words()
    for name, X, bars in (
        ("dense 100,000 x 128", dense, ((2.2, 3.0), (2.5, 3.5))),
        ("CSR 100,000 x 75 of 50,000", sparse, ((2.0, 2.8), (3.0, 4.0))),
    ):
        y = teach(X)
        for shuffle, (wide, narrow) in zip((False, True), bars, strict=True):
            for kind, bar in ((np.float64, wide), (np.float32, narrow)):
                rows = X.astype(kind)
                order = "shuffled" if shuffle else "in order"
                per_pass(
                    f"{name}, {order}, {kind.__name__}",
                    ours(rows, y, shuffle=shuffle),
                    theirs(rows, y, shuffle=shuffle),
                    f">= {bar}",
                )
        for kind in (np.float64, np.float32):
            rows = X.astype(kind)
            a, b, factor = ratio(ours(rows, y, readout="averaged"), ours(rows, y))
            row(
                f"{name}, averaged against not, shuffled, {kind.__name__}",
                a / PASSES,
                b / PASSES,
                1 / factor,
                "<= 1.4 times as long",
            )
    rows, y = sparse.astype(np.float32), teach(sparse)
    sgd = SGDClassifier(loss="hinge", learning_rate="pa1", eta0=1.0, penalty=None, max_iter=PASSES, tol=None)
    for kind in (np.float64, np.float32):
        rows = sparse.astype(kind)
        per_pass(
            f"PA-I, CSR shuffled, {kind.__name__}",
            ours(rows, y, rule="pa1"),
            lambda rows=rows: sgd.fit(rows, y),
            ">= 3",
        )


def classes() -> None:
    head("Several classes, one pass (3 passes, divided), milliseconds", "ours", "sklearn")
    centres = rng.normal(size=(10, 784))
    y = rng.integers(10, size=60_000)
    X = (centres[y] * 0.12 + rng.normal(size=(60_000, 784))).astype(np.float32)
    per_pass("10 classes, dense 60,000 x 784 float32 (their one-vs-rest)", ours(X, y, 3), theirs(X, y, 3), ">= 5", 3)


def converge() -> None:
    head("Until converged, default settings, milliseconds", "ours", "sklearn")
    X = rng.normal(size=(40_000, 20))
    w = rng.normal(size=20)
    distance = X @ w / np.linalg.norm(w)
    X, distance = X[np.abs(distance) > 0.08][:16_000], distance[np.abs(distance) > 0.08][:16_000]
    y = distance > 0
    mine = Perceptron(readout="last", max_iter=10**7)
    a, b, factor = ratio(lambda: mine.fit(X, y), lambda: TheirPerceptron(tol=None, max_iter=1000).fit(X, y), 5)
    row("16,000 x 20 with margin 0.08 kept; its 1,000 passes", a, b, factor, ">= 20")
    enough = next(n for n in range(10, 1001, 10) if TheirPerceptron(tol=None, max_iter=n).fit(X, y).score(X, y) == 1)
    a, b, factor = ratio(lambda: mine.fit(X, y), lambda: TheirPerceptron(tol=None, max_iter=enough).fit(X, y), 15)
    row(f"the same; its {enough} passes, if one knew that they are enough", a, b, factor, "")
    print(
        f"    training errors: {int((mine.predict(X) != y).sum())}, passes: {mine.n_iter_}, updates: {mine.n_updates_}"
    )


STARTUP = """
from {package} import Perceptron
from sklearn.datasets import load_iris
X, y = load_iris(return_X_y=True)
Perceptron().fit(X, y == 0).predict(X)
"""


def startup() -> None:
    head("A process that imports, fits iris and predicts (second run), milliseconds", "ours", "sklearn")

    def process(package: str):
        command = [sys.executable, "-c", STARTUP.format(package=package)]
        return lambda: subprocess.run(command, check=True)

    a, b, factor = ratio(process("perceptrons"), process("sklearn.linear_model"), 9)
    row("import, fit, predict", a, b, 1 / factor, "<= 1.4 times as long")


MEMORY = """
import resource, sys, threading, time
import numpy as np, scipy.sparse as sp, warnings
from perceptrons import Perceptron
warnings.simplefilter("ignore")
def resident():
    for line in open("/proc/self/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
def rows(n):
    rng = np.random.default_rng(0)
    if {sparse}:
        X = sp.random_array((n, 5000), density=0.02, format="csr", dtype=np.{kind}, rng=rng)
        return X, X.data.nbytes + X.indices.nbytes + X.indptr.nbytes
    X = rng.standard_normal((n, 200), dtype=np.{kind})
    return X, X.nbytes
X, size = rows(100)
Perceptron(max_iter=2, tol=None).fit(X, np.arange(100) % 2)  # compiled
n = 200_000 if {sparse} else 400_000
X, size = rows(n)
y = np.random.default_rng(1).integers(2, size=n)
before, peak, stop = resident(), [0], threading.Event()
def watch():
    while not stop.is_set():
        peak[0] = max(peak[0], resident()); time.sleep(0.001)
thread = threading.Thread(target=watch); thread.start()
Perceptron(max_iter=3, tol=None, shuffle=True).fit(X, y)
stop.set(); thread.join()
print(size, peak[0] - before, n)
"""


def memory() -> None:
    print("\nResident memory while fitting: growth of the peak (bar: < 5 % of the data plus a few numbers per row)")
    for sparse in (False, True):
        for kind in ("float32", "float64"):
            code = MEMORY.format(sparse=sparse, kind=kind)
            out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
            size, growth, n = map(int, out.split())
            name = f"{'CSR' if sparse else 'dense'} {kind}, {size / 1e6:.0f} MB"
            print(
                f"{name:<62} {growth / 1e6:6.1f} MB = {growth / size:6.1%} = {growth / 8 / n:4.1f} times 8 bytes a row",
                flush=True,
            )


def stream() -> None:
    head("partial_fit of one row with 100 non-zeros, averaged, microseconds", "1,000,000", "1,000")

    def feed(width: int):
        many = [
            sp.csr_array(
                (rng.normal(size=100), np.sort(rng.choice(width, 100, replace=False)).astype(np.int32), [0, 100]),
                shape=(1, width),
            )
            for _ in range(300)
        ]
        model = Perceptron(readout="averaged").partial_fit(many[0], [0], classes=[0, 1])

        def work():
            for i, x in enumerate(many):
                model.partial_fit(x, [i % 2])

        return work

    a, b, factor = ratio(feed(1_000_000), feed(1_000), 9)
    row("into 1,000,000 features against into 1,000", a / 300, b / 300, 1 / factor, "<= 1.5 times as long", 1e6)


def one_row() -> None:
    head("One row a call: predict + partial_fit against predict_then_learn, microseconds", "together", "apart")
    dense, sparse = rng.normal(size=(2000, 30)), sp.random_array((2000, 10_000), density=0.003, format="csr", rng=rng)
    for name, X in (("dense, 30 features", dense), ("CSR, 30 of 10,000 features", sparse)):
        calls = [(X[i : i + 1], label) for i, label in enumerate(teach(X)[:, np.newaxis])]
        together, apart = (Perceptron(readout="last").partial_fit(*calls[0], classes=[0, 1]) for _ in range(2))

        def predict_then_learn(model=together, calls=calls):
            for x, label in calls:
                model.predict_then_learn(x, label)

        def predict_and_partial_fit(model=apart, calls=calls):
            for x, label in calls:
                model.predict(x)
                model.partial_fit(x, label)

        a, b, factor = ratio(predict_then_learn, predict_and_partial_fit)
        row(name, a / len(calls), b / len(calls), factor, ">= 1", 1e6)


if __name__ == "__main__":
    warnings.simplefilter("ignore", ConvergenceWarning)
    parts = {f.__name__: f for f in (passes, classes, converge, startup, memory, stream, one_row)}
    for name in sys.argv[1:] or parts:
        parts[name]()
