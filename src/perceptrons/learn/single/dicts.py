"""Dicts of named features as rows, or as scores, by compiled code that knows the names: see `core.single`."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptrons.core import single
from perceptrons.core.jit.bound import bound
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.single.names import Names
from perceptrons.learn.single.row import Row
from perceptrons.learn.state import Ints


class Dicts:
    """Reads dicts into a row: ``read(id(x), skips, desk)``; or scores them: ``score(id(x), score_desk)``.

    Compiled code follows addresses of arrays, which are kept alive here. So nobody may use this before it is complete,
    or during `widen`, even if Ctrl-C or another thread comes in between.
    """

    def __init__(self, learner: LinearLearner, names: Names, row: Row, owner: Ints) -> None:
        """row: a sparse row of floats to fill. owner: an array with the number of the thread that owns the model."""
        self.learner, self.names, self.row = learner, names, row
        n_features, n_entries = learner.n_features, row.values.size
        self.texts = np.zeros(int(1.5 * n_features) + 1, dtype=np.int64)
        for j, text in names.texts.items():
            self.texts[j] = id(text)
        self.desk = single.new_desk(names.numbers, names.categories)
        self.kept: dict[int, Any] = {
            single.TEXTS: self.texts,
            single.VALUES: row.values,
            single.INDICES: row.indices,
            single.INDPTR: row.indptr,
            single.SQ_NORM: row.sq_norm,
            single.MISTAKES: row.mistakes,
            single.BIAS: np.array([learner.bias]),
            single.OWNER: owner,
        }
        for at, array in self.kept.items():
            self.desk[at] = array.ctypes.data
        self.desk[single.CAPACITY] = n_entries
        # Scores have room of their own: a signal handler may predict while an example is being learned.
        self.score_desk = self.desk.copy()
        self.room = np.zeros(n_entries), np.zeros(n_entries, dtype=np.uint32), np.zeros(2, dtype=np.uint64)
        self.room_at = [array.ctypes.data for array in self.room]
        self._arrange()
        self.read = bound(single.read_dict, 0, False, self.desk)
        self.score = bound(single.score_dict, 0, self.score_desk)

    def widen(self, new: list[str]) -> bool:
        """Read more features, which the learner has already, with these names; False if there is no room for that."""
        n_features = self.learner.n_features
        if n_features > self.texts.size:
            return False
        self.texts[n_features - len(new) : n_features] = list(map(id, new))
        self._arrange()
        return True

    def _arrange(self) -> None:
        """Fill what depends on the number of features."""
        desk, w, n_features = self.desk, self.learner.state["w"], self.learner.n_features
        self.kept[single.WEIGHTS], desk[single.WEIGHTS], desk[single.N_WEIGHTS] = w, w.ctypes.data, w.size
        desk[single.WIDTH] = desk[single.N_TEXTS] = n_features
        desk[single.ALL_NAMED] = len(self.names.texts) == n_features
        self.score_desk[: single.EXPECTED] = desk[: single.EXPECTED]
        self.score_desk[single.VALUES : single.INDPTR + 1] = self.room_at
