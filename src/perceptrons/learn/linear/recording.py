"""Repeat a run and record every update. The path of w does not depend on the readout, so a readout can record it."""

from __future__ import annotations

import copy
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from perceptrons.core.linear import readouts as markers
from perceptrons.core.linear.replay import AFTER, BEFORE, COLUMNS, SQ_NORM, TOWARDS, replay
from perceptrons.data import Rows
from perceptrons.learn.examples import Examples
from perceptrons.learn.fit import InMemory, Passes, fit
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.readouts import Voted
from perceptrons.learn.state import Floats

ROOM = 64  # by default, w is recorded too if it has at most this many entries

# The record of one update; the weights after it are kept beside the notes.
NOTE = np.dtype(
    [
        ("update", np.int64),  # its number, from 1
        ("seen", np.int64),  # examples processed, this one included
        ("row", np.int64),
        ("code", np.int64),  # class of the row
        ("rival", np.int64),  # class that the step moves away from
        ("margin_before", np.float64),
        ("margin_after", np.float64),
        ("tau", np.float64),  # length of the step, η included
        ("sum_tau", np.float64),
        ("sq_norm", np.float64),  # ‖w‖² after the step
        ("progress", np.float64),  # w*·w after the step
    ]
)


class Recorder(Voted):
    """Read the log of a run and note what each update did.

    When there are more than `limit` notes, every second one is dropped, and from then on only every 2nd, 4th, … update
    is noted. The last update is always noted.
    """

    def __init__(self, learner: LinearLearner, star: Floats | None, limit: int, room: int) -> None:
        super().__init__()
        self.bias, self.tie_positive, self.limit = learner.bias, learner.tie_positive, limit
        self.w = learner.current.copy(order="K")  # a copy: the learner's own w is ahead of the log
        self.star = np.zeros_like(self.w)
        if star is not None:
            self.star[: len(star)] = star  # without a bias, the constant feature has weight 0
        self.width = self.w.size if self.w.size <= room else 0
        self.stride = 1
        self.n_updates = 0
        self.sum_tau, self.progress = 0.0, float((self.star * self.w).sum())
        self.notes: npt.NDArray[np.void] = np.empty(0, dtype=NOTE)
        self.hypotheses: Floats = np.empty((0, self.width))
        self.pieces: list[tuple[npt.NDArray[np.void], Floats]] = []
        self.kept = 0  # notes in all pieces
        self.last = (self.notes, self.hypotheses)

    def add(self, source: Rows, log: Floats) -> None:
        """Note the updates in one more part of the log."""
        lines = np.empty((len(log), COLUMNS + self.width))
        replay(*source.arrays, source.sq_norm, log, self.bias, self.tie_positive, self.star, self.w, lines)
        notes = np.empty(len(log), dtype=NOTE)
        notes["update"] = self.n_updates + 1 + np.arange(len(log))
        for name, column in (("seen", markers.AT), ("row", markers.ROW), ("code", markers.UP)):
            notes[name] = log[:, column]
        notes["rival"], notes["tau"] = log[:, markers.DOWN], log[:, markers.STEP]
        notes["margin_before"], notes["margin_after"] = lines[:, BEFORE], lines[:, AFTER]
        notes["sq_norm"] = lines[:, SQ_NORM]
        notes["sum_tau"] = self.sum_tau + np.cumsum(log[:, markers.STEP])
        notes["progress"] = self.progress + np.cumsum(lines[:, TOWARDS])
        self.n_updates += len(log)
        self.sum_tau, self.progress = float(notes["sum_tau"][-1]), float(notes["progress"][-1])
        self._keep(notes, lines[:, COLUMNS:])

    def _keep(self, notes: npt.NDArray[np.void], weights: Floats) -> None:
        """Keep every `stride`-th note; thin out all notes when there are too many."""
        self.last = notes[-1:].copy(), weights[-1:].copy()
        while True:
            chosen = notes["update"] % self.stride == 0
            if self.kept + np.count_nonzero(chosen) <= self.limit:
                break
            self._thin()
        self.pieces.append((notes[chosen], weights[chosen]))
        self.kept += int(np.count_nonzero(chosen))

    def _thin(self) -> None:
        """Drop every second note."""
        self.stride *= 2
        chosen = [notes["update"] % self.stride == 0 for notes, _ in self.pieces]
        self.pieces = [(notes[c], weights[c]) for (notes, weights), c in zip(self.pieces, chosen, strict=True)]
        self.kept = sum(len(notes) for notes, _ in self.pieces)

    def finish(self) -> tuple[npt.NDArray[np.void], Floats | None]:
        """All notes, and w after each of these updates (None if w is too large to record)."""
        if self.n_updates % self.stride:
            while self.kept + 1 > self.limit and self.kept:
                self._thin()
            self.pieces.append(self.last)
        notes = np.concatenate([self.notes, *(notes for notes, _ in self.pieces)])
        weights = np.concatenate([self.hypotheses, *(weights for _, weights in self.pieces)])
        return notes, weights.reshape(-1, *self.w.shape) if self.width else None


class Rerun(NamedTuple):
    """A run that can be repeated: the learner before the first pass, its examples, and how it passed over them."""

    learner: LinearLearner
    examples: Examples
    passes: Passes
    limit: int  # the most updates to record

    def record(self, star: Floats | None = None, room: int = ROOM) -> Recorder:
        """Repeat the passes and record the updates, with w after each if it has at most `room` entries.

        `star` is the separator along which progress is measured, in the shape of w.
        """
        learner = copy.copy(self.learner)
        learner.state, learner.burn_in = learner.state.copy(), 0
        learner.readout = recorder = Recorder(learner, star, self.limit, room)
        fit(learner, InMemory(self.examples), self.passes)
        return recorder
