"""What a linear learner keeps for its rule, besides w: see `core.linear.shapes`.

Learning asks only here for the kind of a rule.

To add a kind, write a class like those in `along`, `covariances` and `scaled`, its part in `core.linear.shapes`, and a
line in `shape_of`.
"""

from __future__ import annotations

from typing import Any

from perceptrons.learn.linear.along import Along
from perceptrons.learn.linear.covariances import Diagonal, Full
from perceptrons.learn.linear.scaled import Scaled
from perceptrons.rules import CHOICES, kind_of


def shape_of(rule: Any) -> Along:
    """What this rule keeps."""
    if kind_of(rule) == "metric":
        return (Full if getattr(rule, "covariance", CHOICES["covariance"][0]) == "full" else Diagonal)(rule)
    return (Scaled if kind_of(rule) == "scale" else Along)(rule)
