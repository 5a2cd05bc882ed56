"""Eight threads on one model of each kind: three learn, three predict, one fits anew, one saves and loads.

Each kind runs in a process of its own. Afterwards the calls that learned are made again one after another, in the
order in which the model made them: the two models must be equal, bit by bit. A line for each kind; the exit code is 1
if a process crashed or hung, a thread raised an error, a saved file did not load, or the models differ.

    python benchmarks/threads.py [SECONDS]      # a kind; default 60, about ten minutes in all
"""

from __future__ import annotations

import itertools
import multiprocessing
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from perceptrons import (
    KernelPerceptron,
    PassiveAggressiveClassifier,
    Perceptron,
    SequenceTagger,
    StructuredPerceptron,
    load,
    save,
)
from perceptrons.structures import Ranking

KINDS = {
    "perceptron": lambda: Perceptron(readout="last", max_iter=3),
    "averaged": lambda: Perceptron(readout="averaged", max_iter=3),
    "voted": lambda: Perceptron(readout="voted", max_iter=3),
    "passive-aggressive": lambda: PassiveAggressiveClassifier(max_iter=3, random_state=0),
    "kernel": lambda: KernelPerceptron(max_iter=3),
    "kernel, voted": lambda: KernelPerceptron(readout="voted", max_iter=3),
    "kernel, budget": lambda: KernelPerceptron(budget=20, max_iter=3),
    "tagger, names": lambda: SequenceTagger(max_iter=3),
    "tagger, templates": lambda: SequenceTagger(features="pos", max_iter=3),
    "structures": lambda: StructuredPerceptron(Ranking(), max_iter=3),
}
REFIT = 0.2  # seconds between two fits, which also keep models small


def examples(model: Any, number: int) -> tuple[Any, Any]:
    """A few examples of the right kind, sometimes with new classes or features."""
    random = np.random.default_rng(number)
    if isinstance(model, StructuredPerceptron):
        return [random.normal(size=(4, 3)) for _ in range(3)], [list(random.permutation(4)) for _ in range(3)]
    if isinstance(model, SequenceTagger):
        words = [[f"w{k}" for k in random.integers(200, size=5)] for _ in range(3)]
        labels = [[f"L{k}" for k in random.integers(2 + number % 5, size=5)] for _ in range(3)]
        return (words if model.features else [[[word] for word in line] for line in words]), labels
    return random.normal(size=(10, 12)), random.integers(2 + number % 7, size=10)


def state(model: Any) -> list[bytes]:
    """Everything that learning changes, as far as predictions and counts show it."""
    X = examples(model, 1)[0]
    if isinstance(model, SequenceTagger):
        shown: list[Any] = [sorted(model.state_features_.items()), sorted(model.transition_features_.items(), key=str)]
    elif isinstance(model, StructuredPerceptron):
        shown = [model.weights_.tobytes()]
    else:
        shown = [model.decision_function(X).tobytes(), model.classes_.tolist()]
    counts = [model.n_seen_, model.n_mistakes_, model.n_updates_, model.predict(X)]
    return [repr(each).encode() for each in shown + counts]


def stress(kind: str, seconds: float) -> str:
    """Let eight threads use one model; returns a report, and raises an error if anything is wrong."""
    model, stop = KINDS[kind](), threading.Event()
    numbers, local = itertools.count(), threading.local()
    order: list[tuple[str, int]] = []  # the calls that learned, in the order in which the model made them
    counts = {"predictions": 0, "files": 0}
    errors: list[BaseException] = []
    plain = model._guard.change

    def logged(act: Any) -> Any:
        return plain(lambda: (order.append(local.call), act())[1])

    model._guard.change = logged

    def call(on: Any, method: str, number: int) -> None:
        getattr(on, method)(*examples(on, number))

    def learn(method: str, pause: float) -> None:
        local.call = method, next(numbers)
        call(model, *local.call)
        time.sleep(pause)

    def predict() -> None:
        X = examples(model, 2)[0]
        assert len(model.predict(X)) == len(X)
        counts["predictions"] += 1

    def store(path: Path) -> None:
        save(model, path)
        load(path).predict(examples(model, 2)[0])
        counts["files"] += 1

    def repeat(*work: Any) -> threading.Thread:
        def run() -> None:
            try:
                while not stop.is_set():
                    work[0](*work[1:])
            except BaseException as error:
                errors.append(error)
                stop.set()

        return threading.Thread(target=run)

    learn("fit", 0.0)
    with tempfile.TemporaryDirectory() as folder:
        works: list[Any] = [(learn, "partial_fit", 0.0)] * 3 + [(predict,)] * 3 + [(learn, "fit", REFIT)]
        if kind != "structures":  # their problem is code, which is not saved
            works.append((store, Path(folder) / "model"))
        threads = [repeat(*work) for work in works]
        for thread in threads:
            thread.start()
        stop.wait(seconds)
        stop.set()
        for thread in threads:
            thread.join()
    if errors:
        raise errors[0]
    again = KINDS[kind]()
    last = max(at for at, (method, _) in enumerate(order) if method == "fit")  # it forgets everything before
    for each in order[last:]:
        call(again, *each)
    assert state(again) == state(model), "the model differs from one that learned in one thread"
    return (
        f"{len(order):,} calls learned, {counts['predictions']:,} predicted, {counts['files']:,} files saved and loaded"
    )


def child(kind: str, seconds: float, results: Any) -> None:
    warnings.simplefilter("ignore")
    try:
        results.put((True, stress(kind, seconds)))
    except BaseException as error:
        results.put((False, f"{type(error).__name__}: {error}"))


def main() -> int:
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 60.0
    context, failed = multiprocessing.get_context("spawn"), 0
    for kind in KINDS:
        results = context.Queue()
        process = context.Process(target=child, args=(kind, seconds, results))
        process.start()
        process.join(4 * seconds + 120)
        if process.exitcode is None:
            process.kill()
            fine, text = False, "hangs"
        elif process.exitcode:
            fine, text = False, f"crashed with exit code {process.exitcode}"
        else:
            fine, text = results.get()
        failed += not fine
        print(f"{kind:20} {'fine:' if fine else 'FAILED:'} {text}", flush=True)
    print(f"{failed} of {len(KINDS)} kinds failed (bar: 0)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
