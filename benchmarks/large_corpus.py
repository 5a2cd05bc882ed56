"""Memory of training on a large corpus: a million tokens with 105 labels, the set pos, ten passes.

    python benchmarks/large_corpus.py

The corpus is made here, like the Brown corpus in its counts: labels follow each other, words have Zipf frequencies, one
or two labels each, and endings that tell of their labels. Peaks are those of whole processes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from files import COMMAND, ENVIRONMENT

SENTENCES, LABELS, WORDS = 57_000, 105, 50_000
BAR = 1.2  # GB
Corpus = tuple[list[list[str]], list[list[str]]]
SYLLABLES = [a + b + c for a in "bdfgklmnprst" for b in "aeiou" for c in ("", *"lnrst")]


def zipf(n: int, power: float = 1.0) -> np.ndarray:
    weights = np.arange(1, n + 1) ** -power
    return np.asarray(weights / weights.sum())


def corpus() -> Corpus:
    """Sentences of words, and their labels."""
    rng = np.random.default_rng(0)
    frequent, follow = zipf(LABELS), np.zeros((LABELS, LABELS))
    for row in follow:
        row[rng.choice(LABELS, LABELS, replace=False, p=frequent)] = zipf(LABELS, 1.5)
    first, second = (rng.choice(LABELS, WORDS, p=frequent) for _ in range(2))
    first[:LABELS] = np.arange(LABELS)  # each label has a word
    share = np.where(rng.random(WORDS) < 0.15, 0.25, 0.0)  # of the second label
    words, weights = [word(rng, label) for label in first.tolist()], zipf(WORDS)
    lengths = rng.poisson(18.8, size=SENTENCES).clip(1)
    labels = np.zeros((SENTENCES, lengths.max()), dtype=np.int64)
    labels[:, 0] = rng.choice(LABELS, SENTENCES, p=frequent)
    upto = follow.cumsum(axis=1)
    for t in range(1, lengths.max()):
        labels[:, t] = (upto[labels[:, t - 1]] < rng.random((SENTENCES, 1))).sum(axis=1).clip(max=LABELS - 1)
    numbers = np.zeros_like(labels)
    for label in range(LABELS):
        chances = np.cumsum(weights * ((first == label) * (1 - share) + (second == label) * share))
        here = labels == label
        numbers[here] = np.searchsorted(chances / chances[-1], rng.random(int(here.sum())))
    X = [[words[i] for i in row[:n]] for row, n in zip(numbers.tolist(), lengths.tolist(), strict=True)]
    y = [[f"T{i:03d}" for i in row[:n]] for row, n in zip(labels.tolist(), lengths.tolist(), strict=True)]
    return X, y


def word(rng: np.random.Generator, label: int) -> str:
    """A word with one of three endings of its label."""
    stem = "".join(SYLLABLES[i] for i in rng.integers(len(SYLLABLES), size=rng.integers(1, 4)))
    made = stem + SYLLABLES[(37 * (3 * label + int(rng.integers(3)))) % len(SYLLABLES)]
    look = rng.random()
    return made.capitalize() if look < 0.12 else str(rng.integers(100_000)) if look < 0.15 else made


def learn() -> None:
    """Train from lists of words in this process."""
    from perceptrons import SequenceTagger

    SequenceTagger("pos", rule="perceptron").fit(*corpus())


def peak(command: list[str]) -> tuple[float, float]:
    """The largest memory of a process in GB, and its seconds."""
    begun = time.perf_counter()
    process = subprocess.Popen(command, env=ENVIRONMENT, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit(f"{' '.join(command)} failed")
    return usage.ru_maxrss * 1024 / 1e9, time.perf_counter() - begun


def main() -> None:
    X, y = corpus()
    tokens, kinds = sum(map(len, X)), len({label for labels in y for label in labels})
    print(f"\n{tokens:,} tokens, {kinds} labels, the set pos, ten passes: peak memory of the process, GB\n")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "train.txt")
        with path.open("w") as file:
            for pair in zip(X, y, strict=True):
                file.writelines(f"{word} {label}\n" for word, label in zip(*pair, strict=True))
                file.write("\n")
        options = ["--columns", "word,label", "--features", "pos", "--model", f"{folder}/model"]
        rows = {
            "SequenceTagger.fit on lists of words": [sys.executable, __file__, "--learn"],
            "perceptrons tag train": [*COMMAND, "tag", "train", str(path), *options],
        }
        for name, command in rows.items():
            memory, spent = peak(command)
            print(f"{name:<62} {memory:9.2f}   <= {BAR}   ({spent:.0f} s)", flush=True)


if __name__ == "__main__":
    learn() if "--learn" in sys.argv else main()
