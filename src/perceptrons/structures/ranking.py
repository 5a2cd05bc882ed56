"""Learning to rank: put candidates in order by their features."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


class Ranking:
    """A problem for `StructuredPerceptron`: candidates and their order.

    x is a matrix with one row per candidate. y is an order of the n candidates: row numbers, the best first. The score
    of a candidate is w·x_i. The score of an order is the mean of ``w·x_i − w·x_j`` over all pairs with i before j; it
    is largest when candidates are sorted by their scores. The loss is ``(1 − ρ)/2``, where ρ is Spearman's rank
    correlation: 0 for the same order, 1 for its reverse.

    The score and this loss are both sums over candidates, of a number times the candidate's place. So the rule
    "margin", which searches for the largest score plus loss, also needs only a sort. (The share of pairs in the wrong
    order is not such a sum, and hard to search with.) If you write your own problem, choose a loss that is a sum over
    the same parts as the features.

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
        """Compute φ(x, y): the mean of x_i − x_j over all pairs with i before j.

        Parameters
        ----------
        x : array of shape (n, n_features)
            The candidates.
        y : list of int
            An order of the n candidates.

        Returns
        -------
        ndarray of shape (n_features,)
            φ(x, y); zeros if there is only one candidate.

        Raises
        ------
        ValueError
            If x is not a matrix with at least one row, or y does not have each number from 0 to n − 1 once.
        """
        rows = candidates(x)
        n = len(rows)
        if sorted(y) != list(range(n)):
            raise ValueError(f"an order of {n} candidates must have each number from 0 to {n - 1} once, got {y!r}")
        if n == 1:
            return np.zeros(rows.shape[1])
        # The candidate at place k comes before n − 1 − k others and after k.
        return np.asarray((n - 1.0 - 2.0 * np.arange(n)) @ rows[np.asarray(y)] / (n * (n - 1) / 2))

    def argmax(self, x: Any, weights: Any) -> list[int]:
        """Sort candidates by score; equal ones stay in their order.

        Parameters
        ----------
        x : array of shape (n, n_features)
            The candidates.
        weights : ndarray of shape (n_features,)
            The weights w.

        Returns
        -------
        list of int
            Row numbers, the best first.
        """
        return by_score(candidates(x) @ weights)

    def augmented(self, x: Any, weights: Any, y: Any, scale: float) -> list[int]:
        """Find the order with the largest score + scale·loss.

        With k_i the place of i and g_i its place in y, Σ(k_i − g_i)² = const − 2·Σ k_i·g_i. So both parts are sums of
        −k_i times a number: 4·w·x_i/(n(n − 1)), and scale·6·g_i/(n(n² − 1)).

        Parameters
        ----------
        x : array of shape (n, n_features)
            The candidates.
        weights : ndarray of shape (n_features,)
            The weights w.
        y : list of int
            The correct order.
        scale : float
            How much the loss counts.

        Returns
        -------
        list of int
            Row numbers, the best first.
        """
        places = np.argsort(y)
        return by_score(candidates(x) @ weights + scale * 1.5 / (len(places) + 1) * places)

    def loss(self, y: Any, y_hat: Any) -> float:
        """Compute (1 − ρ)/2 = 3·Σd²/(n(n² − 1)), where d are differences of places.

        Parameters
        ----------
        y, y_hat : list of int
            The correct and the predicted order.

        Returns
        -------
        float
            From 0, the same order, to 1, the reverse.
        """
        n = len(y)
        return float(3 * np.sum((np.argsort(y) - np.argsort(y_hat)) ** 2) / max(1, n * (n * n - 1)))


def candidates(x: Any) -> Array:
    """Convert candidates to a matrix."""
    rows = np.asarray(x, dtype=np.float64)
    if rows.ndim != 2 or len(rows) == 0:
        raise ValueError(f"candidates must be a matrix with at least one row, got shape {rows.shape}")
    return rows


def by_score(scores: Array) -> list[int]:
    """Sort numbers by falling score; for equal scores the smaller comes first."""
    order: list[int] = np.argsort(-scores, kind="stable").tolist()
    return order
