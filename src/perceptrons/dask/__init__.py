"""Learn on a cluster: the estimators on Dask, by iterative parameter mixing.

>>> from distributed import Client                                              # doctest: +SKIP
>>> from perceptrons.dask import DaskPerceptron                                 # doctest: +SKIP
>>> client = Client("tcp://scheduler:8786")                                     # doctest: +SKIP
>>> model = DaskPerceptron().fit(X, y)                                          # doctest: +SKIP

Estimators are imported on first use, so that workers start without scikit-learn.
"""

import importlib
from typing import TYPE_CHECKING, Any

try:
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError('perceptrons.dask needs Dask, which is not installed: pip install "perceptrons[dask]"') from error

if TYPE_CHECKING:
    from perceptrons.dask.linear import DaskPassiveAggressiveClassifier, DaskPerceptron
    from perceptrons.dask.tagger import DaskSequenceTagger

__all__ = ["DaskPassiveAggressiveClassifier", "DaskPerceptron", "DaskSequenceTagger"]

LATER = {"DaskPassiveAggressiveClassifier": "linear", "DaskPerceptron": "linear", "DaskSequenceTagger": "tagger"}


def __getattr__(name: str) -> Any:
    if name not in LATER:
        raise AttributeError(f"module 'perceptrons.dask' has no attribute {name!r}")
    return getattr(importlib.import_module(f"perceptrons.dask.{LATER[name]}"), name)
