"""The learner: weights and counts as one state, the order of rows, stopping, and readouts. No scikit-learn here.

Names are imported when they are first used: a command that trains a linear model starts without kernels.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perceptrons.learn.budget import POLICIES, BudgetLearner
    from perceptrons.learn.examples import Examples
    from perceptrons.learn.feature_space import KERNELS, FeatureSpace
    from perceptrons.learn.kernel import KernelLearner
    from perceptrons.learn.learner import Learner
    from perceptrons.learn.progress import Progress, unconverged
    from perceptrons.learn.readout import READOUTS
    from perceptrons.learn.training import HeldOut, InMemory, Run, train

WHERE = {
    "KERNELS": "feature_space",
    "POLICIES": "budget",
    "READOUTS": "readout",
    "BudgetLearner": "budget",
    "Examples": "examples",
    "FeatureSpace": "feature_space",
    "HeldOut": "training",
    "InMemory": "training",
    "KernelLearner": "kernel",
    "Learner": "learner",
    "Progress": "progress",
    "Run": "training",
    "train": "training",
    "unconverged": "progress",
}
__all__ = [
    "KERNELS",
    "POLICIES",
    "READOUTS",
    "BudgetLearner",
    "Examples",
    "FeatureSpace",
    "HeldOut",
    "InMemory",
    "KernelLearner",
    "Learner",
    "Progress",
    "Run",
    "train",
    "unconverged",
]


def __getattr__(name: str) -> Any:
    if name not in WHERE:
        raise AttributeError(f"module 'perceptrons.learn' has no attribute {name!r}")
    return getattr(importlib.import_module(f"perceptrons.learn.{WHERE[name]}"), name)
