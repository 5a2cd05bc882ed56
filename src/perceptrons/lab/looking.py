"""The scores of a recorded model over a grid, at any position of its run: for votes and for kernels.

A hypothesis scores a point x by a sum Σ h_j·f_j(x): f are the features of x and the constant, or its kernel values
with all rows. So one matrix gives the scores of every hypothesis of the run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.lab.recording import Recording
from perceptrons.plots.plane import Plane

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
View = tuple[float, float, float, float]
POINTS = 20_000  # the most points of a grid
AHEAD = 2_000  # positions between two counts of votes that are kept
BLOCK = 1 << 22  # scores that are computed together


class Looker:
    """Scores of one recording, over the grid that was asked for last."""

    def __init__(self, recording: Recording, plane: Plane, X: Floats) -> None:
        """`X`: the rows of the scene, whose classes are predicted along with the grid."""
        self.recording, self.plane, self.X = recording, plane, X
        self.asked: Any = None
        self.points: Floats = X  # of the grid, and the rows
        self.features: Floats = np.zeros((0, 0))
        self.votes: list[Floats] = []  # before position 0, AHEAD, 2·AHEAD, …

    def look(self, at: int, view: View, size: tuple[int, int]) -> tuple[Floats, Ints]:
        """The scores of the grid at a position, of shape (vectors, points), and the classes predicted for the rows.

        Scores are shares of votes if many hypotheses vote.
        """
        if min(size) < 2 or size[0] * size[1] > POINTS:
            raise ValueError(f"a grid has 2 × 2 to {POINTS:,} points, got {size[0]} × {size[1]}")
        if not 0 <= at < len(self.recording.path):
            raise ValueError(f"position {at} does not exist: the run has {len(self.recording.path)}")
        if (view, size) != self.asked:
            self.features, self.votes, self.asked = self._features(view, size), [], (view, size)
        if self.recording.by_vote and not self.recording.complete:  # the hypotheses that vote are not recorded
            scores = np.atleast_2d(self.recording.model.decision_function(self.points).T)
        elif self.recording.by_vote:
            scores = self._voted(at)
        else:
            path = self.recording.path if self.recording.readout is None else self.recording.readout
            scores = np.asarray(path[at] @ self.features)
        n = size[0] * size[1]
        return scores[:, :n], self.recording.learner.predict(scores[:, n:].T)

    def _features(self, view: View, size: tuple[int, int]) -> Floats:
        """f of each point of the grid, from the bottom to the top, and then of the rows; one column each."""
        left, right, bottom, top = view
        across, up = np.meshgrid(np.linspace(left, right, size[0]), np.linspace(bottom, top, size[1]))
        X = self.plane.lift(np.column_stack([across.ravel(), up.ravel()])[:, : len(self.plane.directions)])
        self.points = X = np.vstack([X, self.X])
        recording = self.recording
        if recording.kernel:
            return np.asarray(recording.model.kernel_matrix(recording.rows.X, X) + recording.learner.bias)
        return np.vstack([X.T, np.ones(len(X))])

    def _voted(self, at: int) -> Floats:
        """The share of votes of the hypotheses up to this position. Some counts are kept, so that none is far away."""
        path, lasts = self.recording.path, self.recording.lasts()
        n_vectors, n_points = path.shape[1], self.features.shape[1]
        self.votes = self.votes or [np.zeros((n_vectors, n_points))]
        while len(self.votes) <= at // AHEAD:
            begin = AHEAD * (len(self.votes) - 1)
            self.votes.append(self.votes[-1] + self._count(path, lasts, begin, begin + AHEAD))
        begin = AHEAD * (at // AHEAD)
        total = self.votes[at // AHEAD] + self._count(path, lasts, begin, at + 1)
        return np.asarray(total / max(1.0, lasts[: at + 1].sum()))

    def _count(self, path: Floats, lasts: Floats, begin: int, end: int) -> Floats:
        """The votes of the hypotheses from `begin` to `end`, each as often as it was in force."""
        n_vectors, n_points = path.shape[1], self.features.shape[1]
        total = np.zeros((n_vectors, n_points))
        height = max(1, BLOCK // (n_vectors * n_points))
        for first in range(begin, end, height):
            part, times = path[first : min(end, first + height)], lasts[first : min(end, first + height)]
            scores = part @ self.features
            if n_vectors == 1:
                right = (scores[:, 0] > 0) | (self.recording.learner.tie_positive & (scores[:, 0] == 0))
                total[0] += times @ np.where(right, 1.0, -1.0)
            else:
                chosen = scores.argmax(axis=1)
                for c in range(n_vectors):
                    total[c] += times @ (chosen == c)
        return total
