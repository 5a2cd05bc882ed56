"""One example a call: beside River, and beside an earlier version of this library.

    python benchmarks/streams.py [OTHER] [part …]      # parts: dicts, rows, predict, pipeline, scaled, before

River comes from `pip install river`. OTHER is a checkout of an earlier version, which the part `before` needs:
`git worktree add ../before COMMIT`. Both sides alternate in short rounds, and the ratio is that of the medians of their
times. A tenth of the labels is wrong, drawn anew in each round, so that all models keep making mistakes. PA-I makes
slightly different steps on both sides, because ours counts the constant feature of the bias in ‖x‖².
"""

from __future__ import annotations

import gc
import json
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import versions
from side_by_side import head, row

from perceptrons import Perceptron

try:
    import river
    from river import linear_model, preprocessing
except ImportError:
    river = None

SIZE, ROUNDS = 500, 61  # examples in a round, rounds
WIDTH = 1_000_000
MISSING = "left out: River is missing (pip install river)"
rng = np.random.default_rng(0)
Stream = list[tuple[Any, Any]]
Work = Callable[[Stream], None]


# -- streams ----------------------------------------------------------------------------------------------------------


class Examples(NamedTuple):
    """The same examples as our side and as River takes them, and their labels before some are made wrong."""

    ours: Callable[[], list[Any]]
    dicts: Callable[[], list[Any]]
    y: np.ndarray
    empty: Any  # an example without features, as our side takes it
    known: int | None = None  # how many examples models have learned from before the first round; None: from all

    def rounds(self, count: int, size: int = SIZE) -> Iterator[tuple[Stream, Stream]]:
        """Streams for both sides, which start again at the end of the examples."""
        for turn in range(count):
            part = np.arange(turn * size, (turn + 1) * size) % len(self.y)
            y = (self.y[part] ^ (rng.random(size) < 0.1)).tolist()
            ours, dicts = self.ours(), self.dicts()
            yield tuple([(side[i], label) for i, label in zip(part, y, strict=True)] for side in (ours, dicts))


def always(given: list[Any]) -> Callable[[], list[Any]]:
    return lambda: given


def numbers(n: int = 2 * SIZE, raw: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Rows of 30 numbers and their labels; raw: columns of different means and sizes."""
    X = rng.normal(size=(n, 30))
    y = X @ rng.normal(size=30) > 0
    return (X * rng.uniform(0.1, 10, 30) + rng.uniform(-20, 20, 30) if raw else X), y


def named(X: np.ndarray) -> list[dict[str, float]]:
    names = [f"feature {j}" for j in range(X.shape[1])]
    return [dict(zip(names, x, strict=True)) for x in X.tolist()]


def dict_examples(raw: bool = False) -> Examples:
    X, y = numbers(raw=raw)
    return Examples(always(named(X)), always(named(X)), y, empty={})


def json_examples() -> Examples:
    """Dicts as they come from a network. Each has its own objects for its keys, also in each round."""
    X, y = numbers()
    texts = [json.dumps(x) for x in named(X)]

    def parsed() -> list[Any]:
        return [json.loads(text) for text in texts]

    return Examples(parsed, parsed, y, empty={})


def row_examples() -> Examples:
    X, y = numbers()
    return Examples(always(list(X)), always(named(X)), y, empty=np.zeros(30))


def pair_examples(n: int = 5000, length: int = 100) -> Examples:
    """Random features out of a million, all equally frequent: most of them are not in the processor's cache."""
    w, values = rng.normal(size=WIDTH), list(rng.normal(size=(n, length)))
    indices = [np.sort(rng.choice(WIDTH, length, replace=False)) for _ in range(n)]
    pairs = list(zip(indices, values, strict=True))
    dicts = [dict(zip(j.tolist(), v.tolist(), strict=True)) for j, v in pairs]
    y = np.array([w[j] @ v > 0 for j, v in pairs])
    return Examples(always(pairs), always(dicts), y, empty=(indices[0][:0], values[0][:0]))


def word_examples(n: int = ROUNDS * SIZE) -> Examples:
    """Messages of 20 words, whose frequencies fall as those of words do: new ones never end."""
    words = rng.zipf(1.3, size=(n, 20)) % 100_000
    dicts = [{f"word {j}": 1.0 for j in message} for message in words.tolist()]
    y = rng.normal(size=100_000)[words].sum(axis=1) > 0
    return Examples(always(dicts), always(dicts), y, empty={}, known=SIZE)


# -- work -------------------------------------------------------------------------------------------------------------


def learn(model: Any) -> Work:
    def work(stream: Stream) -> None:
        for x, y in stream:
            model.learn_one(x, y)

    return work


def predict(model: Any) -> Work:
    def work(stream: Stream) -> None:
        for x, _ in stream:
            model.predict_one(x)

    return work


def both(model: Any) -> Work:
    def work(stream: Stream) -> None:
        for x, y in stream:
            model.predict_one(x)
            model.learn_one(x, y)

    return work


def medians(ours: Work, theirs: Work | None, examples: Examples) -> tuple[float, float]:
    """Median seconds of one example on both sides, which take turns; NaN for a side that is missing.

    Seconds of the processor, of all threads: a round takes few milliseconds, and other programs would come between.
    """
    spent: tuple[list[float], list[float]] = ([], [])
    work = (ours, theirs)
    for turn, streams in enumerate(examples.rounds(ROUNDS)):
        gc.collect()
        gc.disable()
        for side in (0, 1) if turn % 2 else (1, 0):  # whoever comes second finds a warm cache
            act = work[side]
            if act is not None:
                begun = time.process_time()
                act(streams[side])
                spent[side].append((time.process_time() - begun) / SIZE)
        gc.enable()
    return statistics.median(spent[0]), statistics.median(spent[1] or [float("nan")])


def line(
    work: str, mine: Any, other: Any, examples: Examples, bar: str, does: Callable[[Any], Work] = learn, rate: int = 0
) -> None:
    """Print one line of the table. Both models first learn from examples: this compiles, and names get numbers.

    other: River's model, or None if River is missing. rate: how many examples a second are the bar.
    """
    if other is None and not rate:
        print(f"{work:<66} {MISSING}", flush=True)
        return
    before = next(examples.rounds(1, examples.known or len(examples.y)))
    if isinstance(mine, Perceptron):  # River's knows both classes from the start. So must ours, for the same steps
        learn(mine)([(examples.empty, label) for label in (False, True, False)])
    learn(mine)(before[0])
    if other is not None:
        learn(other)(before[1])
    a, b = medians(does(mine), None if other is None else does(other), examples)
    if rate:
        bar = f"{1 / a:,.0f} examples a second, bar {rate:,}" + ("" if other is not None else f"; {MISSING}")
    row(work, a, b, b / a, bar, 1e6)


def peers() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """Pairs of models with the same formula: ours, River's. River's is None if it is missing."""
    if river is None:
        return {"River's Perceptron": (lambda: Perceptron(readout="last"), lambda: None)}
    return {
        "River's Perceptron": (lambda: Perceptron(readout="last"), linear_model.Perceptron),
        "River's PAClassifier": (lambda: Perceptron(rule="pa1", readout="last"), linear_model.PAClassifier),
    }


def steps(mine: Any, other: Any, examples: Examples) -> None:
    """Print how often models make steps, and whether both sides do the same work."""
    if not hasattr(mine, "n_seen_"):  # left out
        return
    same = ""
    if other is not None:
        pairs = zip(*next(examples.rounds(1)), strict=True)
        agree = sum(mine.predict_one(x) == other.predict_one(z) for (x, _), (z, _) in pairs) / SIZE
        same = f"; both models predict the same label for {agree:.1%}"
    print(f"    {mine.n_updates_ / mine.n_seen_:.0%} of the examples made a step{same}", flush=True)


# -- parts ------------------------------------------------------------------------------------------------------------


def dicts() -> None:
    head("learn_one of dicts, microseconds a call", "ours", "River")
    for peer, (ours, theirs) in peers().items():
        for name, examples, bar in (
            ("30 floats", dict_examples(), ">= 3"),
            ("30 floats, parsed from JSON", json_examples(), ""),
            ("20 words, new ones all the time", word_examples(), ""),
        ):
            mine, other = ours(), theirs()
            line(f"{name}; {peer}", mine, other, examples, bar)
            steps(mine, other, examples)


def rows() -> None:
    head("learn_one of arrays, River's of the same examples as dicts, microseconds a call", "ours", "River")
    for name, make, rate in (
        ("NumPy rows of 30", row_examples, 250_000),
        ("pairs, 100 non-zeros into 1,000,000 features", pair_examples, 200_000),
    ):
        examples = make()
        for peer, (ours, theirs) in peers().items():
            mine, other = ours(), theirs()
            line(f"{name}; {peer}", mine, other, examples, "", rate=rate)
            steps(mine, other, examples)


def predictions() -> None:
    head("predict_one of a dict of 30 floats, microseconds a call", "ours", "River")
    for peer, (ours, theirs) in peers().items():
        line(peer, ours(), theirs(), dict_examples(), ">= 3", predict)
        line(f"parsed from JSON; {peer}", ours(), theirs(), json_examples(), "", predict)


CALLS = {"learn_one": learn, "predict_one": predict, "predict_one and learn_one": both}


def pipeline() -> None:
    head("StandardScaler() | model, dicts of 30 floats, microseconds a call", "ours", "River")
    if river is None:
        print(f"{'all lines':<66} {MISSING}")
        return
    try:
        from perceptrons.river import Perceptron as Ours
    except ImportError as error:
        print(f"{'all lines':<66} left out: perceptrons.river cannot be imported ({error})")
        return
    for peer, rule in (("Perceptron", "perceptron"), ("PAClassifier", "pa1")):
        for call, does in CALLS.items():
            mine = preprocessing.StandardScaler() | Ours(rule=rule)
            other = preprocessing.StandardScaler() | getattr(linear_model, peer)()
            line(f"{call}; River's {peer}", mine, other, dict_examples(raw=True), ">= 1", does)


def scaled() -> None:
    head('scale="online" against River\'s StandardScaler() | Perceptron(), microseconds a call', "ours", "River")
    if "scale" not in Perceptron().get_params():
        print(f"{'all lines':<66} left out: this version of Perceptron has no parameter scale")
        return
    for call, does in CALLS.items():
        other = None if river is None else preprocessing.StandardScaler() | linear_model.Perceptron()
        mine, examples = Perceptron(scale="online", readout="last"), dict_examples(raw=True)
        line(f"{call}, dicts of 30 floats", mine, other, examples, "", does)
        steps(mine, None, examples)


def before(other: Path | None) -> None:
    head("One NumPy row of 30 a call, against an earlier version, microseconds a call", "ours", "before")
    for name, bar in (("partial_fit", ">= 4"), ("predict_then_learn", ">= 8")):
        name = f"{name} of one NumPy row of 30"
        if other is None:
            print(f"{name:<66} left out: give the folder of an earlier version (git worktree add ../before COMMIT)")
            continue
        found = versions.medians(name, other, repeats=ROUNDS)
        if found is None:
            sys.exit(f"the earlier version in {other} cannot run: {name}")
        a, b = (spent / versions.CALLS for spent in found)
        row(name, a, b, b / a, bar, 1e6)


def main(arguments: list[str]) -> None:
    parts: dict[str, Callable[[], None]] = {
        "dicts": dicts, "rows": rows, "predict": predictions, "pipeline": pipeline, "scaled": scaled
    }  # fmt: skip
    folders = [each for each in arguments if each not in (*parts, "before")]
    if len(folders) > 1:
        sys.exit(__doc__)
    parts["before"] = lambda: before(versions.checkout(folders[0]) if folders else None)
    print("River is missing" if river is None else f"River {river.__version__}")
    for name in [each for each in arguments if each in parts] or parts:
        parts[name]()


if __name__ == "__main__":
    main(sys.argv[1:])
