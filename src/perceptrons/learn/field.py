"""The scores of all rows in training, kept up to date while steps are made in a kernel's feature space.

A step towards x_i moves the score of every row by k(x_i, ·): one column of the kernel matrix. Columns are computed for
many steps at a time, by one matrix product, and kept for the next step towards the same row as long as there is room.
Few rows are one `Table`, in which a compiled pass finds all it needs. Many are visited in windows: scores of a window
are completed by the steps still pending, a small table serves the steps made inside it, and these become pending in
turn. What is pending is spread over all rows when there is enough of it for an efficient product, or not at all if
no other pass follows, which halves the work of a single pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.data import Rows
from perceptrons.learn.feature_space import FeatureSpace
from perceptrons.learn.support import Support

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
WHOLE = 4096  # rows up to which there is one table
WINDOW = 512  # rows of a window
PENDING = 128  # columns that are computed together
CHUNK = 2048  # rows for which they are


class Table:
    """Kernel values among some rows: lines that are computed when they are first asked for."""

    def __init__(self, space: FeatureSpace, rows: Rows) -> None:
        self.space, self.rows = space, rows
        self.values = np.empty((len(rows), len(rows)), dtype=value_type(space, rows))
        self.lines = np.full(len(rows), -1, dtype=np.int64)
        self.used = 0

    def add(self, where: Array) -> None:
        """Compute the lines of the rows `where`, which have none yet."""
        block = self.space.products(self.rows, self.space.members(self.rows, where))
        self.values[self.used : self.used + len(where)] = block.T
        self.lines[where] = self.used + np.arange(len(where))
        self.used += len(where)


class Field:
    """Rows in training, the squared lengths of their images, and their scores."""

    def __init__(self, space: FeatureSpace, rows: Rows, scores: Floats, max_memory: int) -> None:
        self.space, self.rows, self.scores = space, rows, scores
        self.sq_norm = space.sq_norm(rows)
        n, kind = len(rows), value_type(space, rows)
        self.table: Table | None = None
        if n <= WHOLE and n * n * kind.itemsize <= max_memory:
            self.table = Table(space, rows)
        # Columns that are kept: as many as there is room for beside scores, a window and a block of new columns.
        wide = rows.n_features if rows.indices is None else rows.touched // max(1, n) * 2 + 1
        reserved = scores.nbytes + 24 * n + kind.itemsize * (WINDOW * (WINDOW + wide) + 2 * PENDING * wide)
        reserved += (kind.itemsize + 16) * PENDING * CHUNK
        room = max(0, max_memory - reserved) // (n * kind.itemsize)
        self.columns = np.empty((0 if self.table else min(n, room), n), dtype=kind)
        self.lines = np.full(n, -1, dtype=np.int64)
        self.members = np.full(n, -1, dtype=np.intp)  # their numbers in the support
        self.kept = self.computed = 0
        self._forget()

    def _forget(self) -> None:
        """Begin with nothing pending."""
        self.pending = Support(self.space)
        self.steps: Floats = np.zeros((0, *self.scores.shape[1:]))  # for each pending row, what its coefficients gain
        self.where: npt.NDArray[np.intp] = np.empty(0, dtype=np.intp)
        self.place: dict[int, int] = {}

    def window(self, where: Array) -> tuple[Table, Floats]:
        """An empty table of the rows `where`, and their scores with what is pending."""
        rows = self.rows.take(where)
        scores = np.asfortranarray(self.scores[where])
        if len(self.pending):
            scores += self.pending.combine(rows, self.steps)
        return Table(self.space, self.space.among(rows, where)), scores

    def add(self, where: Array, steps: Floats) -> None:
        """Steps that the scores do not have yet: what the coefficients of the rows `where` gain."""
        new = [row for row in where.tolist() if row not in self.place]
        if new:
            self.place |= {row: len(self.place) + k for k, row in enumerate(new)}
            self.where = np.append(self.where, new)
            self.pending.add(self.space.members(self.rows, np.array(new)))
            self.steps = np.concatenate([self.steps, np.zeros((len(new), *self.steps.shape[1:]))])
        self.steps[[self.place[row] for row in where.tolist()]] += steps

    def spread(self) -> None:
        """Bring all scores up to date: one matrix product for the columns that are not kept."""
        if len(self.pending) == 0:
            return
        line = self.lines[self.where]
        old, new = np.flatnonzero(line >= 0), np.flatnonzero(line < 0)
        members = self.space.members(self.rows, self.where[new])
        room = min(len(new), len(self.columns) - self.kept)
        self.computed += len(new)
        for top in range(0, len(self.rows), CHUNK):
            part = slice(top, top + CHUNK)
            if len(old):
                self.scores[part] += self.columns[line[old], part].T.astype(np.float64) @ self.steps[old]
            if len(new):
                block = self.space.products(self.rows.part(top, top + CHUNK), members)
                self.scores[part] += block.astype(np.float64, copy=False) @ self.steps[new]
                self.columns[self.kept : self.kept + room, part] = block[:, :room].T
        self.lines[self.where[new[:room]]] = self.kept + np.arange(room)
        self.kept += room
        self._forget()

    @property
    def plan(self) -> str:
        """What was chosen, by size, in a few words."""
        n = len(self.rows)
        if self.table is not None:
            return f"{n:,} rows in one table of kernel values, a line for each row that makes a step"
        size = self.columns.nbytes / 2**20
        return (
            f"{n:,} rows in windows of {WINDOW}, scores of all of them kept up to date, room for {len(self.columns):,} "
            f"columns of kernel values ({size:,.0f} MiB)"
        )

    @property
    def cost(self) -> str:
        """Columns of kernel values that were computed."""
        if self.table is not None:
            return f"{self.table.used:,} kernel columns computed"
        return f"{self.computed:,} kernel columns computed, {self.kept:,} kept"


def value_type(space: FeatureSpace, rows: Rows) -> np.dtype[Any]:
    """The type of the kernel values of these rows."""
    return np.dtype(np.float64) if callable(space.kernel) else rows.values.dtype
