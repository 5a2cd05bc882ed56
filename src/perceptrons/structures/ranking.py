"""Learning to rank: in which order candidates belong, by what is known of each."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Ranking:
    """A problem for `StructuredPerceptron`: candidates and their order.

    x is a matrix with a row for each of n candidates. y is an order of them, the number of the best row first. With
    w·x_i the score of a candidate, that of an order is the mean of ``w·x_i − w·x_j`` over all pairs with i before j; it
    is largest when candidates are sorted by their scores. The loss is ``(1 − ρ)/2`` with ρ Spearman's correlation of
    ranks: 0 for the same order, 1 for its reverse.

    This loss, like the score, is a sum of something for each candidate times its place. So the search with the loss
    added, which the rule "margin" asks for, is a sort as well. (The share of pairs in the wrong order is no such sum:
    to search with it added is hard.) When you choose a loss of your own, let it fall into the parts that features have.

    Examples
    --------
    >>> import numpy as np
    >>> from perceptrons import StructuredPerceptron
    >>> from perceptrons.structures import Ranking
    >>> X = [np.array([[3.0, 1.0], [1.0, 1.0], [2.0, 5.0]]), np.array([[0.0, 4.0], [5.0, 2.0]])]
    >>> model = StructuredPerceptron(Ranking(), random_state=0).fit(X, [[2, 0, 1], [1, 0]])
    >>> model.predict([np.array([[1.0, 0.0], [2.0, 1.0], [0.0, 1.0]])])
    [[1, 0, 2]]
    """

    def features(self, x: Any, y: Any) -> Array:
        """φ(x, y): the mean of x_i − x_j over all pairs with i before j."""
        rows = candidates(x)
        n = len(rows)
        if sorted(y) != list(range(n)):
            raise ValueError(f"an order of {n} candidates has each of 0 to {n - 1} once, got {y!r}")
        if n == 1:
            return np.zeros(rows.shape[1])
        # The candidate at place k comes before n − 1 − k others and after k.
        return np.asarray((n - 1.0 - 2.0 * np.arange(n)) @ rows[np.asarray(y)] / (n * (n - 1) / 2))

    def argmax(self, x: Any, weights: Any) -> list[int]:
        """Candidates sorted by score; of equals the first."""
        return by_score(candidates(x) @ weights)

    def augmented(self, x: Any, weights: Any, y: Any, scale: float) -> list[int]:
        """The order with the largest score + scale·loss.

        With k_i the place of i and g_i its place in y, Σ(k_i − g_i)² = const − 2·Σ k_i·g_i. So both parts are sums of
        −k_i times something: of 4·w·x_i/(n(n − 1)), and of scale·6·g_i/(n(n² − 1)).
        """
        places = np.argsort(y)
        return by_score(candidates(x) @ weights + scale * 1.5 / (len(places) + 1) * places)

    def loss(self, y: Any, y_hat: Any) -> float:
        """(1 − ρ)/2 = 3·Σd²/(n(n² − 1)), d being differences of places."""
        n = len(y)
        return float(3 * np.sum((np.argsort(y) - np.argsort(y_hat)) ** 2) / max(1, n * (n * n - 1)))


def candidates(x: Any) -> Array:
    """The matrix of candidates."""
    rows = np.asarray(x, dtype=np.float64)
    if rows.ndim != 2 or len(rows) == 0:
        raise ValueError(f"candidates are the rows of a matrix, at least one, got shape {rows.shape}")
    return rows


def by_score(scores: Array) -> list[int]:
    """Numbers in the order of falling scores; of equals the smaller first."""
    order: list[int] = np.argsort(-scores, kind="stable").tolist()
    return order
