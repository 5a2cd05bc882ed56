"""Verdicts in words: one line, and the report."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from perceptrons.shown import some
from perceptrons.solver.rounding import down, up

VERDICT = {True: "separable", False: "not separable", None: "undecided"}


def brief(result: Any) -> str:
    """Describe a verdict in one line."""
    verdict = f"separable, margin={result.margin}" if result.separable else VERDICT[result.separable]
    return f"<{type(result).__name__}: {verdict}, fit_intercept={result.fit_intercept}, {result.n_rows} rows>"


def _augmented(result: Any) -> str:
    """The margin with the bias as a weight, and what it is for."""
    text = down(result.augmented_margin, 6)
    if not result.fit_intercept:
        return f"{text}, used in Novikoff's bound and by tol"
    share = result.augmented_margin / math.hypot(result.radius, 1.0)
    return f"{text}, or {share:.3g} of R with the constant 1; used in Novikoff's bound and by tol"


def report(result: Any, where: str, point: str, meeting: Sequence[str] = (), about: Sequence[str] = ()) -> str:
    """Describe a verdict with its margins or its contradiction, line by line.

    where: the data, after the verdict. point: the name of a row. meeting: more lines for a contradiction. about: more
    lines after the proof.
    """
    sides = {True: ("with", "without"), False: ("without", "with")}[result.fit_intercept]
    lines = [f"{VERDICT[result.separable]} {sides[0]} a bias, {VERDICT[result.other]} {sides[1]} one{where}"]
    if result.separable and result.margin_bounds is not None and math.isfinite(result.margin_bounds[0]):
        low, high = result.margin_bounds
        lines += [
            f"  largest margin    proved to be between {down(low, 10)} and {up(high, 10)}",
            f"  relative to R     {low / result.radius:.3g}, where R = {up(result.radius, 6)} is the longest {point}",
            f"  augmented margin  {_augmented(result)}",
            f"  determined by     {some(np.unique(result.support))}",
        ]
    elif result.separable is False:
        if result.irreducible is not None:
            rows, alone = some(result.irreducible), len(result.irreducible) == 1  # a row of zeros, without a bias
            how = (
                "is all zeros, and lies on every hyperplane through the origin"
                if alone
                else "cannot be separated; without any one of them they can"
            )
            lines.append(f"  irreducible       {rows} {how}")
        lines += meeting
    lines += [f"  proof             {result.reason}", *about]
    for (a, b), pair in result.pairs.items():
        margin = f", margin {down(pair.margin, 6)}" if pair.margin is not None else ""
        lines.append(f"  {a!r} | {b!r}: {VERDICT[pair.separable]}{margin}")
    return "\n".join(lines)
