"""Features of streams on one scale, by statistics of the rows so far. The linear estimators call it scale="online".

Definition. Before a row is learned, it is observed; then it is put on the scale that follows from all rows observed so
far, itself included; then it is learned. For each feature, over the rows in which it occurs:

    count += 1;  mean += (x − mean_before)/count;  squares += (x − mean_before)·(x − mean)        (Welford 1962)

A feature occurs in a dense row, even with the value 0, and in a sparse row or dict that has an entry for it. The scale
of a feature is computed anew when it occurs in a row that is observed:

- A feature that has occurred in every row so far is centred: z = (x − mean)/√(squares/count). If its deviation is 0
  up to rounding (at most 8ε·|mean|), z = 0.
- A feature that was absent from some row is sparse: z = x/√(mean of x²), where the mean of x² = mean² + squares/count
  is over the rows in which it occurs. It is not centred, so that zeros stay zeros. Without a bias, every feature is
  scaled like this.
- An absent entry contributes 0 to the score, in learning and in prediction.

Rows with weight 0 are not observed. |z| is not cut off, so that the scale can be folded into the weights. The result
does not depend on how a stream is cut into calls. The statistics are arrays of the learner's state: they grow, are
undone, copied and saved with it.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from perceptrons.core.scaling import standardize
from perceptrons.data.arrays import Rows, readonly
from perceptrons.learn.scale.scaling import Scaling
from perceptrons.learn.state import FACT, FIXED, State

Floats = npt.NDArray[np.float64]
ROWS = "running.rows"  # the number of rows, in one entry
COUNT, MEAN, SQUARES = "running.count", "running.mean", "running.squares"  # one entry a feature, and the tail
CENTRE, FACTOR = "running.centre", "running.factor"  # the scale: z = (x − centre)·factor
BY_FEATURE = (COUNT, MEAN, SQUARES, CENTRE, FACTOR)
ARRAYS = (ROWS, *BY_FEATURE)  # in the order of the parameters of `standardize`


def begin(state: State, n_features: int) -> None:
    """Let a state hold statistics of features, of no rows yet."""
    state.hold(ROWS, np.zeros(1), FIXED)
    for name in BY_FEATURE:
        state.hold(name, np.zeros(n_features + state.tail), FACT)


def observe(state: State, rows: Rows, weight: Floats | None, centred: bool) -> Rows:
    """Add rows to the statistics of a state, in place; returns them on their scale, each as it was observed.

    centred: whether features may be centred, which takes a bias.
    """
    left_out = weight == 0.0 if weight is not None and not weight.all() else None
    out, sq_norm = np.empty(rows.values.shape), np.empty(len(rows))
    good = int(standardize(*rows.arrays, left_out, centred, *(state[name] for name in ARRAYS), out, sq_norm))
    if good < len(rows):
        feature = int(np.argmax(~np.isfinite(state[SQUARES])))
        raise ValueError(
            f"feature {feature} is too large to be scaled at row {good}: its variance overflows float64; the model is "
            "unchanged. Divide it by a constant."
        )
    return Rows(readonly(out), rows.indices, rows.indptr, rows.n_features, sq_norm)


class RunningScaling(Scaling):
    """The map z = (x − centre)·factor by the statistics so far. It reads the state, which it does not change."""

    def __init__(self, state: State) -> None:
        end = len(state[CENTRE]) - state.tail
        vars(self).update(centre=state[CENTRE][:end], _factor=state[FACTOR][:end])

    @property
    def factor(self) -> Floats:
        """1/spread, and 0 for features that are constant or have not occurred."""
        found: Floats = vars(self)["_factor"]
        return found

    @property
    def spread(self) -> Floats:
        """The deviation or the size of each feature; 0 if it is constant or has not occurred."""
        return np.divide(1.0, self.factor, out=np.zeros_like(self.factor), where=self.factor > 0)

    def apply(self, rows: Rows, *, zeros: bool = False) -> Rows:
        """Scale rows; they are copied. Absent entries stay absent, whatever `zeros` is: they contribute 0."""
        return super().apply(rows)


def check(state: State) -> None:
    """Raise an error if the statistics, which were read from a file, cannot have been made by rows."""
    n, count, factor = float(state[ROWS][0]), state[COUNT], state[FACTOR]
    if not 0.0 <= n < np.inf or n != int(n):
        raise ValueError(f"{ROWS} must be a whole number >= 0, got {n}")
    if not ((count >= 0.0) & (count <= n) & (count == np.floor(count))).all():
        raise ValueError(f"{COUNT} must have whole numbers from 0 to {n:.0f} only")
    if not (np.isfinite(state[MEAN]) & np.isfinite(state[CENTRE])).all():
        raise ValueError(f"{MEAN} and {CENTRE} must have finite numbers only")
    if not ((state[SQUARES] >= 0.0) & (state[SQUARES] < np.inf) & (factor >= 0.0) & (factor < np.inf)).all():
        raise ValueError(f"{SQUARES} and {FACTOR} must have numbers >= 0 only")
