"""The scikit-learn estimators: parameters and validation around a learner. Each is imported on first use."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perceptrons.models.kernel import KernelPerceptron
    from perceptrons.models.passive_aggressive import PassiveAggressiveClassifier
    from perceptrons.models.perceptron import Perceptron
    from perceptrons.models.regressor import PassiveAggressiveRegressor
    from perceptrons.models.structured import StructuredPerceptron
    from perceptrons.models.table.classifier import TableClassifier
    from perceptrons.models.table.regressor import TableRegressor
    from perceptrons.models.tagger import SequenceTagger

MODULES = {
    "KernelPerceptron": "kernel",
    "PassiveAggressiveClassifier": "passive_aggressive",
    "PassiveAggressiveRegressor": "regressor",
    "Perceptron": "perceptron",
    "SequenceTagger": "tagger",
    "StructuredPerceptron": "structured",
    "TableClassifier": "table.classifier",
    "TableRegressor": "table.regressor",
}
__all__ = [
    "KernelPerceptron",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "Perceptron",
    "SequenceTagger",
    "StructuredPerceptron",
    "TableClassifier",
    "TableRegressor",
]


def __getattr__(name: str) -> Any:
    if name not in MODULES:
        raise AttributeError(f"module 'perceptrons.models' has no attribute {name!r}")
    found = getattr(importlib.import_module(f"perceptrons.models.{MODULES[name]}"), name)
    globals()[name] = found
    return found
