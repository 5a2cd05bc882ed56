"""The scores of all rows in training, kept up to date while steps are made in a kernel's feature space.

A step towards x_i changes the score of every row by k(x_i, ·), one column of the kernel matrix. One matrix product
computes the columns of many steps at a time. A `Table` keeps them for later steps towards the same rows, as long as
there is room.

With few rows, a compiled pass finds all columns in the table; if one is missing, the pass asks for the columns of all
rows that would make a step now.

With many rows, a pass visits them in windows from the first step whose column is missing. The scores of a window are
brought up to date with the pending steps, a small table serves the steps inside the window, and these become pending
in turn. Pending steps are added to all scores when there are enough of them for an efficient product; after the last
pass never, which halves the work of a single pass.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.kernel import dual
from perceptrons.data import Rows
from perceptrons.learn.kernel.feature_space import FeatureSpace
from perceptrons.learn.kernel.support import Support

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]
WHOLE = 4096  # up to this many rows, one table holds all columns
WINDOW = 512, 4096  # minimum and maximum number of rows in a window
STEPS = 32  # desired number of steps in a window
COPIED = 1 << 22  # maximum number of values in a window, which is a copy of its rows
LINES = 256  # maximum number of rows of a window that make steps
PENDING = 128  # columns that are computed together
CHUNK = 2048  # number of rows for which they are computed together


class Table:
    """Kernel values of some rows with all rows; lines are computed when they are first needed."""

    def __init__(self, space: FeatureSpace, rows: Rows, capacity: int) -> None:
        self.space, self.rows = space, rows
        self.values = np.empty((capacity, len(rows)), dtype=space.value_type(rows))
        self.lines = np.full(len(rows), -1, dtype=np.int64)  # line of each row; negative if it has none
        self.used = 0

    @property
    def room(self) -> int:
        """Number of lines that can be added."""
        return len(self.values) - self.used

    def add(self, where: Array) -> None:
        """Compute the lines of the rows `where`, which must have none yet."""
        members = self.space.members(self.rows, where)
        for top in range(0, len(self.rows), CHUNK):
            block = self.space.columns(self.rows.part(top, top + CHUNK), members)
            self.values[self.used : self.used + len(where), top : top + CHUNK] = block
        self.claim(where)

    def claim(self, where: Array) -> None:
        """Assign the next lines to the rows `where`."""
        self.lines[where] = self.used + np.arange(len(where))
        self.used += len(where)


class Field:
    """The training rows, the squared lengths of their images, and their scores."""

    def __init__(self, space: FeatureSpace, rows: Rows, scores: Floats, max_memory: int) -> None:
        self.space, self.rows, self.scores = space, rows, scores
        self.sq_norm = space.sq_norm(rows)
        n, kind = len(rows), space.value_type(rows)
        # The table takes the memory that scores, a window and a block of new columns leave.
        wide = rows.n_features if rows.indices is None else rows.touched // max(1, n) * 2 + 1
        self.most = int(np.clip(COPIED // wide, 1, WINDOW[1]))  # maximum rows of a window
        self.width = min(WINDOW[0], self.most)  # rows of the next window
        reserved = scores.nbytes + 24 * n + kind.itemsize * (self.most * (LINES + wide) + 2 * PENDING * wide)
        reserved += (kind.itemsize + 16) * PENDING * CHUNK + max_memory // 32  # and working memory of libraries
        room = max(0, max_memory - reserved) // (n * kind.itemsize)
        self.table = Table(space, rows, min(n, room))
        self.small = n <= WHOLE and room >= n
        self.members = np.full(n, -1, dtype=np.intp)  # numbers of the rows in the support
        self.passes = 0  # number of passes made
        self.computed = 0  # number of columns computed but not kept
        self._forget()

    def _forget(self) -> None:
        """Discard the pending steps."""
        self.pending = Support(self.space)
        self.steps: Floats = np.zeros((0, *self.scores.shape[1:]))  # the change of each pending row's coefficients
        self.where: npt.NDArray[np.intp] = np.empty(0, dtype=np.intp)

    def window(self, where: Array) -> tuple[Table, Floats]:
        """An empty table for the rows `where`, and their scores including pending steps."""
        rows = self.rows.take(where)
        scores = np.asfortranarray(self.scores[where])
        if len(self.pending):
            scores += self.pending.combine(rows, self.steps)
        table = Table(self.space, self.space.among(rows, where), min(LINES, len(where)))
        table.lines[self.table.lines[where] >= 0] = dual.ELSEWHERE
        return table, scores

    def adjust(self, visits: int, steps: float) -> None:
        """Choose the width of the next window for about STEPS steps, from the visits and steps of the last one."""
        self.width = int(np.clip(STEPS * visits / max(1.0, steps), min(WINDOW[0], self.most), self.most))

    def copy_line(self, where: Array, row: int, table: Table) -> None:
        """Copy a line from the table of all rows into the table of a window, which has the rows `where`."""
        table.values[table.used] = self.table.values[self.table.lines[where[row]]][where]
        table.claim(np.array([row]))

    def add(self, where: Array, steps: Floats) -> None:
        """Add steps that the scores do not include yet: changes of the coefficients of the rows `where`."""
        line = self.table.lines[where]
        old, new = line >= 0, line < 0
        dual.spread(self.table.values, line[old], steps[old], self.scores)
        self.where = np.append(self.where, where[new])
        self.steps = np.concatenate([self.steps, steps[new]])
        if new.any():
            self.pending.add(self.space.members(self.rows, where[new]))

    def spread(self) -> None:
        """Bring all scores up to date, with one matrix product for the columns that are not kept."""
        if len(self.pending) == 0:
            return
        table = self.table
        new, column = np.unique(self.where, return_inverse=True)
        steps = np.zeros((len(new), *self.steps.shape[1:]))
        np.add.at(steps, column, self.steps)
        members = self.space.members(self.rows, new)
        room = min(len(new), table.room)
        for top in range(0, len(self.rows), CHUNK):
            part = slice(top, top + CHUNK)
            block = self.space.columns(self.rows.part(top, top + CHUNK), members)
            self.scores[part] += (steps.T @ block.astype(np.float64, copy=False)).T
            table.values[table.used : table.used + room, part] = block[:room]
        table.claim(new[:room])
        self.computed += len(new) - room
        self._forget()

    @property
    def plan(self) -> str:
        """How training is organised for this number of rows, in a few words."""
        n, kept = len(self.rows), len(self.table.values)
        how = "" if self.small else " (visited in windows)"
        size = f"room for {kept:,} of {n:,} columns of kernel values ({self.table.values.nbytes / 2**20:,.0f} MiB)"
        return f"the scores of all {n:,} rows{how} are kept up to date; {size}"

    @property
    def cost(self) -> str:
        """How many kernel columns were computed."""
        return f"{self.table.used + self.computed:,} kernel columns computed, {self.table.used:,} kept"
