"""Every perceptron behind one scikit-learn API.

Names are imported on first use: `import perceptrons` loads neither Numba nor scikit-learn.
"""

# Neither `__future__` nor `typing` is imported: Ctrl-C during that would leave a traceback.
__version__ = "0.1.0"
TYPE_CHECKING = False  # as in `typing`

if TYPE_CHECKING:
    from typing import Any

    from perceptrons.models import (
        KernelPerceptron,
        PassiveAggressiveClassifier,
        PassiveAggressiveRegressor,
        Perceptron,
        SequenceTagger,
        StructuredPerceptron,
        TableClassifier,
        TableRegressor,
    )
    from perceptrons.store import load, save

__all__ = [
    "KernelPerceptron",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "Perceptron",
    "SequenceTagger",
    "StructuredPerceptron",
    "TableClassifier",
    "TableRegressor",
    "__version__",
    "load",
    "save",
]


def __getattr__(name: str) -> "Any":
    if name not in __all__:
        raise AttributeError(f"module 'perceptrons' has no attribute {name!r}")
    import importlib

    module = "perceptrons.store" if name in ("load", "save") else "perceptrons.models"
    return getattr(importlib.import_module(module), name)


def __dir__() -> list[str]:
    return sorted(__all__)
