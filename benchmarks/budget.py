"""Kernel perceptrons on a budget: a stream like DOGMA's demo (Orabona 2009), two features, 10 % of labels flipped.

Online errors of 10,000 rounds, RBF kernel with γ = 1, no bias, means over seeds, and their ratio to the error of the
perceptron that keeps every row. The demo's concept is a line; the bars are for one that no line divides. Figures of
the demo: perceptron 21.56 % (2,156 rows kept), Projectron 21.38 % (106), Projectron++ 15.90 % (108), RBP 24.09 % (106),
Forgetron 23.63 % (106).

    python benchmarks/budget.py [SEEDS]      # default 5, about half a minute
"""

from __future__ import annotations

import sys

import numpy as np

from perceptrons import KernelPerceptron

ROUNDS = 10_000
MODELS = {
    "no budget": ({"rule": "perceptron"}, ""),
    "RBP, B = 106": ({"budget": 106, "policy": "random"}, "<= 1.2"),
    "Forgetron, B = 106": ({"budget": 106, "policy": "forgetron"}, "<= 1.2"),
    "Projectron, η = 0.1": ({"budget": 110, "policy": "projectron"}, ""),
    "Projectron++, η = 0.1": ({"budget": 110, "policy": "projectron++"}, "<= 0.8, 110 rows"),
    "Projectron++, η = 0.01, as in the demo": (
        {"budget": 110, "policy": "projectron++", "threshold": 0.01},
        "<= 0.8, 110 rows",
    ),
}


def stream(rounds: int, seed: int, concept: str) -> tuple[np.ndarray, np.ndarray]:
    """Normal points of the plane on two sides of a parabola, or of a random line through 0; 10 % of labels flipped."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(rounds, 2))
    side = X @ random.normal(size=2) if concept == "line" else X[:, 1] - X[:, 0] ** 2 + 1
    y = (side > 0).astype(np.uint8)
    y[random.permutation(rounds)[: rounds // 10]] ^= 1
    return X, y


def main(seeds: int) -> None:
    for concept in ("parabola", "line"):
        print(
            f"\nOnline error, {ROUNDS:,} rounds, a {concept}, mean of {seeds} seeds\n"
            f"{'':<40}{'error':>8}{'rows':>7}{'ratio':>8}   bar"
        )
        base = None
        for name, (settings, bar) in MODELS.items():
            errors, rows = [], []
            for seed in range(seeds):
                model = KernelPerceptron(gamma=1.0, fit_intercept=False, **settings, random_state=seed)
                model.partial_fit(*stream(ROUNDS, seed, concept), classes=[0, 1])
                errors.append(model.n_mistakes_ / ROUNDS)
                rows.append(len(model.support_))
            error = float(np.mean(errors))
            base = error if base is None else base
            print(f"{name:<40}{error:>8.2%}{max(rows):>7,}{error / base:>8.3f}   {bar}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
