"""Counters of passes: entries of two arrays of floats that passes update in place.

`totals` belong to the model: they grow from call to call, and model files store them. `course` is the progress of a
pass: it belongs to the run, and model files do not store it.
"""

from __future__ import annotations

from perceptrons.core.jit.deferred import register_jitable
from perceptrons.core.rows import JIT

# Entries of `totals`.
(
    SEEN,  # examples processed
    MISTAKES,  # of them, those with m ≤ 0
    UPDATES,  # steps
    TAU,  # Στ, the sum of the lengths of all steps
    AVERAGED,  # examples in the mean of the averaged readout
    SQ_NORM,  # ‖w‖², added up step by step where w itself is not available
    SQ_RADIUS,  # max ‖x‖², or max ‖Δφ‖² over steps
    TOKENS,  # tokens of the sequences processed
    WRONG_TOKENS,  # of them, those whose predicted label was wrong
    MIXED,  # roundings of w by mixing hypotheses, at most
) = range(10)

# Entries of `course`.
(
    PASSES,  # passes completed in this call
    QUIET,  # 1 if the last of them made no update
    OVERFLOW,  # 1 + the number of the example at which a number overflowed
    LOGGED,  # lines in the log of updates
    VISITS,  # examples that a pass in a kernel's feature space has visited
    WAITS,  # what such a pass waits for: see `kernel.dual`
    RUN,  # right answers in a row by the current hypothesis
    LONGEST,  # the longest such run so far
    TRIED,  # 1 once the current hypothesis has been tried for the pocket
    POCKET,  # mistakes of the hypothesis in the pocket
    USED_ROWS,  # rows of the weights of sequences that are in use
    LOSS,  # Σ ℓ over the examples of linear passes, ℓ = max(0, 1 − m)
    USED_LINES,  # lines of these weights that are in use, if rows are paged
    PAUSED,  # 1 + the place in the order before which a pass stopped, because it needs arrays of its own
) = range(14)


@register_jitable(**JIT)
def count(totals, wrong, step):
    """Count one example and its step, if it makes one; updates totals in place."""
    totals[AVERAGED] += 1.0
    totals[SEEN] += 1.0
    if wrong:
        totals[MISTAKES] += 1.0
    if step > 0.0:
        totals[UPDATES] += 1.0
        totals[TAU] += step
