"""Kernel perceptrons on MNIST: errors against Freund & Schapire 1999, time against SVC, reuse of columns, memory.

    python benchmarks/kernel.py [PART] [FOLDER]

PART is errors, svc, passes, memory or all (default); FOLDER holds mnist/ (default ../shared/data). Pixels are scaled to
[0, 1] as float32. All parts take about half an hour, most of it for SVC and for forty binary machines.
"""

from __future__ import annotations

import subprocess
import sys
import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np
from public_sets import mnist
from side_by_side import head, ratio, row
from sklearn.svm import SVC

from perceptrons import KernelPerceptron

Digits = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
PUBLISHED = {2: (2.8, 1.8), 4: (2.2, 1.6)}  # test error in % after 1 and 10 passes, recorded from memory


def polynomial(degree: int, **settings: object) -> KernelPerceptron:
    """The voted perceptron with kernel (1 + x·x′)^degree."""
    settings = {"rule": "perceptron", "readout": "voted", "fit_intercept": False, **settings}
    return KernelPerceptron(kernel="poly", degree=degree, gamma=1.0, coef0=1.0, **settings)


def errors(digits: Digits) -> None:
    """Test errors after 1 and 10 passes: ten binary machines, as in the paper, and one machine with ten classes."""
    X, y, X_test, y_test = digits
    print(f"\nMNIST, voted, kernel (1 + x·x′)^degree, {len(y):,} rows: test error in % after 1 and 10 passes")
    print(f"{'':<40}{'1':>7}{'10':>7}   Freund & Schapire 1999        support rows, seconds for 10 passes")
    for degree, published in PUBLISHED.items():
        machines: dict[int, list[np.ndarray]] = {1: [], 10: []}
        support, begun = set(), 0.0
        for passes, votes in machines.items():
            begun = time.perf_counter()
            for digit in range(10):
                model = polynomial(degree, max_iter=passes, random_state=digit).fit(X, y == digit)
                votes.append(model.decision_function(X_test))
                support.update(model.support_.tolist())
        found = [np.mean(np.argmax(votes, axis=0) != y_test) for votes in machines.values()]
        show(f"degree {degree}, ten binary machines", found, published, len(support), time.perf_counter() - begun)
        begun = time.perf_counter()
        model = polynomial(degree, max_iter=10).fit(X, y, X_val=X_test, y_val=y_test)
        taken = time.perf_counter() - begun
        found = [model.validation_errors_[0], model.validation_errors_[-1]]
        show(f"degree {degree}, one machine, ten classes", found, published, len(model.support_), taken)


def show(name: str, found: list[float], published: tuple[float, float], support: int, seconds: float) -> None:
    shown = "".join(f"{100 * error:>7.2f}" for error in found)
    bar = " and ".join(f"{error}" for error in published)
    print(f"{name:<40}{shown}   bar: about {bar:<18} {support:>7,} {seconds:>7.1f}", flush=True)


def svc(digits: Digits) -> None:
    """One pass against a support vector machine with the same kernel, fitted on the same rows."""
    X, y, X_test, y_test = digits
    head("MNIST, degree 4: one voted pass against SVC, seconds to fit", "ours", "SVC")
    for n in (10_000, 20_000):
        models = polynomial(4, max_iter=1), SVC(kernel="poly", degree=4, gamma=1.0, coef0=1.0)
        rows, labels = X[:n].copy(), y[:n]
        figures = ratio(*(partial(model.fit, rows, labels) for model in models), repeats=3)
        row(f"{n:,} rows", *figures, ">= 5" if n == 20_000 else "", unit=1.0)
        ours, theirs = (1 - model.score(X_test, y_test) for model in models)
        print(f"  test error {ours:.2%} against {theirs:.2%}: {100 * (ours - theirs):+.2f} points (bar: within 0.5)")


def passes(digits: Digits) -> None:
    """Ten passes against one: columns of kernel values are reused.

    A single pass computes half of each column, since rows visited before its step do not need it. How many columns ten
    passes need beyond those of the first depends on γ; the default is small for these rows.
    """
    X, y, X_test, y_test = digits
    X, y = X[:20_000].copy(), y[:20_000]
    head("RBF, 20,000 rows: one pass against ten (fewer if one makes no mistake), seconds", "one", "ten")
    for gamma in (0.05, 0.03, "scale"):
        plain = partial(KernelPerceptron, gamma=gamma, rule="perceptron", readout="last", tol=None)
        one, ten = (plain(max_iter=n) for n in (1, 10))
        figures = ratio(partial(one.fit, X, y), partial(ten.fit, X, y), repeats=5)
        row(f"gamma={gamma!r}", *figures, "<= 2.5", unit=1.0)
        print(
            f"  mistakes {ten.mistakes_.tolist()}, support rows {len(one.support_):,} and {len(ten.support_):,}, "
            f"test error {1 - ten.score(X_test, y_test):.2%}",
            flush=True,
        )


MEMORY = """
import sys, threading, time, warnings
sys.path[:0] = [{here!r}]
import numpy as np
from pathlib import Path
from kernel import mnist
from perceptrons import KernelPerceptron
warnings.simplefilter("ignore")
X, y = mnist(Path({folder!r}))[:2]
X, y = X.astype(np.{kind}), y
KernelPerceptron(max_iter=1).fit(X[:600].copy(), y[:600])  # compiles
def resident():
    for line in open("/proc/self/status"):
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024
before, peak, stop = resident(), [0], threading.Event()
def watch():
    while not stop.is_set():
        peak[0] = max(peak[0], resident()); time.sleep(0.002)
thread = threading.Thread(target=watch); thread.start()
model = KernelPerceptron(rule="perceptron", readout="last", max_iter=3, tol=None, max_memory=2**30).fit(X, y)
stop.set(); thread.join()
print(peak[0] - before, len(model.support_))
"""


def memory(folder: Path) -> None:
    """Growth of the resident memory while fitting 60,000 rows with a limit of 1 GiB."""
    print("\nRBF, 60,000 × 784, three passes, max_memory = 1 GiB: growth of the resident memory (bar: <= 1 GiB)")
    for kind in ("float32", "float64"):
        code = MEMORY.format(here=str(Path(__file__).parent), folder=str(folder), kind=kind)
        out = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
        growth, support = map(int, out.split())
        columns = support * 60_000 * np.dtype(kind).itemsize
        print(f"{kind:<62} {growth / 2**30:6.3f} GiB; all columns would take {columns / 2**30:.2f}", flush=True)


def main(part: str, folder: Path) -> None:
    if not (folder / "mnist" / "train-images-idx3-ubyte").exists():
        print(f"no {folder / 'mnist'}: pass the folder of data sets as argument")
        return
    warnings.simplefilter("ignore")
    digits = mnist(folder)
    for name, work in {"svc": svc, "passes": passes, "errors": errors}.items():
        if part in (name, "all"):
            work(digits)
    if part in ("memory", "all"):
        del digits
        memory(folder)


if __name__ == "__main__":
    arguments = sys.argv[1:]
    known = ("errors", "svc", "passes", "memory", "all")
    chosen = arguments.pop(0) if arguments and arguments[0] in known else "all"
    main(chosen, Path(arguments[0] if arguments else "../shared/data"))
