"""Kernel perceptrons on a budget, on the stream of DOGMA's demo (Orabona 2009) and one that no line divides.

Online errors of 10,000 rounds, RBF kernel with γ = 1, no bias, means over seeds, and their ratio to the error of the
perceptron that keeps every row. DOGMA's figures of one run: perceptron 21.56 % (2,156 rows), Projectron 21.38 % (106),
Projectron++ 15.90 % (108), RBP 24.09 % (106), Forgetron 23.63 % (106).

    python benchmarks/budget.py [SEEDS]      # default 5, about half a minute
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from perceptrons.core import budget, keeping
from perceptrons.core.budget import Forgetron, Projectron, ProjectronPP, Random
from perceptrons.core.passes import How
from perceptrons.rules import Plain

ROUNDS, BLOCK, ROOM = 10_000, 100, 500  # ROOM: more rows than a projectron keeps here
POLICIES = {
    "RBP, B = 106": (Random, 106, "<= 1.2"),
    "Forgetron, B = 106": (Forgetron(), 106, "<= 1.2"),
    "Projectron, η = 0.1": (Projectron(0.1), ROOM, ""),
    "Projectron, η = 0.01, as in the demo": (Projectron(0.01), ROOM, ""),
    "Projectron++, η = 0.1": (ProjectronPP(0.1), ROOM, "<= 0.8, 110 rows"),
    "Projectron++, η = 0.01, as in the demo": (ProjectronPP(0.01), ROOM, "<= 0.8, 110 rows"),
}


def stream(rounds: int, seed: int, concept: str = "line") -> tuple[np.ndarray, np.ndarray]:
    """Normal points of the plane on two sides of a random line through 0, or of a parabola; 10 % of labels flipped."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rounds, 2))
    side = X @ random.normal(size=2) if concept == "line" else X[:, 1] - X[:, 0] ** 2 + 1
    y = (side > 0).astype(np.uint8)
    y[random.permutation(rounds)[: rounds // 10]] ^= 1
    return X, y


def rbf(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    """exp(−‖x − x′‖²) of all pairs."""
    sq_distance = (X**2).sum(axis=1)[:, np.newaxis] + (Y**2).sum(axis=1) - 2.0 * X @ Y.T
    return np.exp(-np.maximum(sq_distance, 0.0))


def unbudgeted(X: np.ndarray, y: np.ndarray) -> tuple[float, int]:
    """Online error, and rows kept, of the kernel perceptron: one more row for every mistake."""
    signs, rows, alpha = 2.0 * y - 1.0, np.empty_like(X), np.empty(len(y))
    kept = 0
    for x, sign in zip(X, signs, strict=True):
        if sign * (rbf(x[np.newaxis], rows[:kept])[0] @ alpha[:kept]) <= 0:
            rows[kept], alpha[kept] = x, sign
            kept += 1
    return kept / len(y), kept


def budgeted(policy: Any, B: int, X: np.ndarray, y: np.ndarray) -> tuple[float, int]:
    """Online error, and rows kept, of a policy."""
    alpha, rows, born = np.zeros(B), np.zeros((B, X.shape[1])), np.zeros(B)
    table, factor = np.zeros((B, B)), np.zeros((B, B))
    state, counts = np.zeros(budget.SIZE), np.zeros(keeping.SIZE)
    how = How(Plain(), keeping.Last(), 1.0, 0.0, False, 0.0)
    for start in range(0, len(y), BLOCK):
        block, m = X[start : start + BLOCK], int(state[budget.USED])
        columns, source = np.vstack([rows[:m], block]), np.arange(B)
        budget.learn(
            rbf(block, columns), np.ones(len(block)), y[start : start + BLOCK], None, how, policy, alpha, source, born,
            table, factor, state, counts, None,
        )  # fmt: skip
        used = int(state[budget.USED])
        rows[:used] = columns[source[:used]]
    return counts[keeping.MISTAKES] / len(y), used


def main(seeds: int) -> None:
    for concept in ("line", "parabola"):
        streams = [stream(ROUNDS, seed, concept) for seed in range(seeds)]
        error, kept = np.mean([unbudgeted(X, y) for X, y in streams], axis=0)
        print(f"\nOnline error, {concept}, {seeds} seeds\n{'':<40}{'error':>9}{'ratio':>8}{'rows':>8}   bar")
        print(f"{'perceptron':<40}{error:>9.2%}{1:>8.3f}{kept:>8.0f}")
        for name, (policy, B, bar) in POLICIES.items():
            found = [
                budgeted(Random(np.uint64(seed)) if policy is Random else policy, B, X, y)
                for seed, (X, y) in enumerate(streams)
            ]
            mean, rows = np.mean(found, axis=0)
            print(f"{name:<40}{mean:>9.2%}{mean / error:>8.3f}{rows:>8.0f}   {bar}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
