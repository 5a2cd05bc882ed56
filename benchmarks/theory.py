"""Separability and margins against a linear program and a support vector machine over all rows; memory; hard cases.

python benchmarks/theory.py              # everything, about two minutes
python benchmarks/theory.py separable    # one part: separable, flipped, machine, large, degenerate, last_bits, real
python benchmarks/theory.py real DATA    # a folder of data sets, default ../shared/data
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from scipy.optimize import linprog
from side_by_side import head, ratio, row
from sklearn.datasets import load_svmlight_file
from sklearn.svm import SVC

from perceptrons.theory import separability

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT.parent / "shared" / "data"


def apart(n: int, d: int, margin: float, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """n normal rows at a distance of more than `margin` from a random hyperplane through 0, labelled by its sides."""
    random = np.random.default_rng(seed)
    w = random.normal(size=d)
    X = random.normal(size=(int(n * (1 + 2 * margin)) + 1000, d))
    distance = X @ w / np.linalg.norm(w)
    keep = np.flatnonzero(np.abs(distance) > margin)[:n]
    return np.ascontiguousarray(X[keep]), (distance[keep] > 0).astype(np.int64)


def program(X: np.ndarray, y: np.ndarray) -> int:
    """The verdict by one linear program over all rows: y·(w·x + b) ≥ 1."""
    signed = (1 - 2 * y)[:, np.newaxis] * np.column_stack([X, np.ones(len(X))])
    found = linprog(np.zeros(signed.shape[1]), signed, -np.ones(len(X)), bounds=(None, None), method="highs")
    return int(found.status)


def separable() -> None:
    head("Verdict, seconds", "ours", "HiGHS")
    X, y = apart(100_000, 20, 0.05)
    assert separability(X, y).separable and program(X, y) == 0
    mine, other, factor = ratio(lambda: separability(X, y), lambda: program(X, y), repeats=5)
    row("100,000 x 20, |margin| > 0.05: verdict and margin", mine, other, factor, ">= 10", 1)


def flipped() -> None:
    head("Verdict, seconds", "ours", "HiGHS")
    X, y = apart(100_000, 20, 0.05)
    wrong = np.random.default_rng(1).choice(len(y), len(y) // 100, replace=False)
    y[wrong] = 1 - y[wrong]
    assert separability(X, y).separable is False and program(X, y) == 2
    mine, other, factor = ratio(lambda: separability(X, y), lambda: program(X, y), repeats=5)
    row("the same, 1 % of labels flipped: verdict and certificate", mine, other, factor, ">= 10", 1)


def machine() -> None:
    head("Largest margin, seconds", "ours", "SVC")
    X, y = apart(20_000, 20, 0.2)
    result = separability(X, y)
    low, high = result.margin_bounds
    theirs = 1 / np.linalg.norm(SVC(kernel="linear", C=1e10).fit(X, y).coef_)
    mine, other, factor = ratio(lambda: separability(X, y), lambda: SVC(kernel="linear", C=1e10).fit(X, y), repeats=9)
    row("20,000 x 20, |margin| > 0.2: margin", mine, other, factor, ">= 10", 1)
    print(f"{'  difference of the margins, relative':<62} {abs(theirs / low - 1):9.1e} {'':18}   <= 1e-3")
    print(f"{'  width of our enclosure, relative':<62} {high / low - 1:9.1e} {'':18}   <= 1e-6")


MEMORY = """
import re, time
import numpy as np
from perceptrons.theory import separability
random = np.random.default_rng(0)
small = random.normal(size=(1000, 50)).astype(np.float32)
separability(small, (small[:, 0] > 0).astype(np.int64))  # compile first
w = random.normal(size=50)
X = np.empty((1_000_000, 50), dtype=np.float32)
for part in np.split(X, 50):
    part[:] = random.normal(size=part.shape)
    distance = part @ w / np.linalg.norm(w)
    part += (0.05 * np.sign(distance)[:, None] * w / np.linalg.norm(w)).astype(np.float32)
y = np.concatenate([part @ w > 0 for part in np.split(X, 50)])
def peak():
    return 1024 * int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()).group(1))
with open("/proc/self/clear_refs", "w") as file:
    file.write("5")  # forget the peak so far
before = peak()
begun = time.perf_counter()
result = separability(X, y)
seconds = time.perf_counter() - begun
growth = peak() - before
print(X.nbytes, growth, seconds, result.separable, *result.margin_bounds)
"""


def large() -> None:
    out = subprocess.run([sys.executable, "-c", MEMORY], check=True, capture_output=True, text=True).stdout
    size, growth, seconds, verdict, low, high = out.split()
    print("\n1,000,000 x 50 float32, every row moved 0.05 away from a hyperplane")
    print(
        f"  separable: {verdict}, margin {float(low):.9g}, enclosed to {float(high) / float(low) - 1:.1e}, "
        f"{float(seconds):.1f} s"
    )
    share = 1 + int(growth) / int(size)
    print(f"  peak memory {share:.2f} times the {int(size) / 1e6:.0f} MB of data (bar: < 1.3)", flush=True)


def degenerate() -> None:
    sys.path.insert(0, str(ROOT / "tests"))
    from naive_theory import verdict  # the exact oracle of the tests: enumeration in rationals

    random = np.random.default_rng(0)
    wrong = undecided = unchecked = 0
    begun, cases = time.perf_counter(), 2000
    for _ in range(cases):
        n, d = random.integers(3, 9), random.integers(1, 4)
        X, y = random.integers(-2, 3, size=(n, d)).astype(float), random.integers(0, 2, size=n)
        y[:2] = 0, 1
        bias = bool(random.integers(2))
        result = separability(X, y, fit_intercept=bias)
        wrong += result.separable is not None and result.separable != verdict(X, y, fit_intercept=bias)
        undecided += result.separable is None
        try:
            result.check(X, y)
        except ValueError:
            unchecked += 1
    print(
        f"\n{cases} small-integer cases: {wrong} wrong verdicts, {undecided} undecided, {unchecked} bad certificates "
        f"(bar: 0, 0, 0); {time.perf_counter() - begun:.0f} s with the oracle",
        flush=True,
    )


def last_bits() -> None:
    """Rows of low rank up to rounding, so that the last bits decide, and rows of very different size."""
    print("\nVerdicts that depend on the last bits: seconds (bar: <= 10), of which on the processor; all are checked")
    random = np.random.default_rng(0)
    for n, d, rank in ((2000, 300, 10), (500, 300, 10), (250, 300, 10), (1000, 100, 10), (1000, 64, 8), (1000, 60, 8)):
        A = random.normal(size=(n, rank))
        X, y = A @ random.normal(size=(rank, d)), (A @ random.normal(size=rank) > 0).astype(np.int64)
        one, some = y.copy(), y.copy()
        one[0], some[: n // 20] = 1 - y[0], 1 - y[: n // 20]
        shape = f"{n:,} x {d} of rank {rank}"
        for labels, what in (
            (y, "linear"),
            (one, "1 flipped"),
            (some, "5 % flipped"),
            (random.permutation(y), "random"),
        ):
            decided(f"{shape}, labels {what}", X, labels)
        decided(f"{shape}, float32, labels random", X.astype(np.float32), random.permutation(y))
    X, y = random.normal(size=(300, 20)), random.integers(0, 2, size=300)
    decided("300 x 20, rows times 1e-150 to 1e150", X * 10.0 ** random.uniform(-150, 150, size=(300, 1)), y)
    decided("300 x 20, rows times 1e-150 or 1e150", X * random.choice([1e-150, 1e150], size=(300, 1)), y)


def decided(name: str, X: np.ndarray, y: np.ndarray) -> None:
    """Print the time, the verdict and the enclosure of the margin."""
    begun, before = time.perf_counter(), time.process_time()
    result = separability(X, y)
    seconds, busy = time.perf_counter() - begun, time.process_time() - before
    if result.separable is not None:
        result.check(X, y)
    low, high = result.margin_bounds or (0.0, 0.0)
    margin = f", margin {low:.3g}, enclosed to {high / low - 1:.0e}" if result.separable else ""
    print(f"  {name:<58} {seconds:6.2f} {busy:6.2f}  separable: {result.separable}{margin}", flush=True)


def real(folder: Path = DATA) -> None:
    """Real data sets: what is found, and how long it takes."""
    print("\nReal data sets")
    for name, file, options in (
        ("mushroom", "mushroom/agaricus.txt.train", {"zero_based": True}),
        ("a9a", "a9a/a9a", {}),
        ("svmguide3", "svmguide3/svmguide3", {}),
    ):
        if not (folder / file).exists():
            print(f"  {name}: {folder / file} is missing; give the folder of data sets as an argument")
            continue
        X, y = load_svmlight_file(str(folder / file), **options)
        separability(X[:1000], y[:1000])  # compiles
        begun = time.perf_counter()
        result = separability(X, y)
        print(f"  {name}: {time.perf_counter() - begun:.2f} s")
        print("    " + str(result).replace("\n", "\n    "), flush=True)


if __name__ == "__main__":
    parts = {f.__name__: f for f in (separable, flipped, machine, large, degenerate, last_bits, real)}
    names = [name for name in sys.argv[1:] if name in parts]
    folders = [Path(name) for name in sys.argv[1:] if name not in parts]
    for name in names or parts:
        parts[name](*folders) if name == "real" else parts[name]()
