"""Learn from rows on a cluster: the estimators on Dask, by iterative parameter mixing.

>>> from distributed import Client                                              # doctest: +SKIP
>>> from perceptrons.dask import DaskPerceptron                                 # doctest: +SKIP
>>> client = Client("tcp://scheduler:8786")                                     # doctest: +SKIP
>>> model = DaskPerceptron(readout="averaged").fit(X, y)                        # doctest: +SKIP
"""

try:
    import distributed  # noqa: F401
except ImportError as error:
    raise ImportError('perceptrons.dask needs Dask, which is not installed: pip install "perceptrons[dask]"') from error

from perceptrons.dask.linear import DaskPassiveAggressiveClassifier, DaskPerceptron

__all__ = ["DaskPassiveAggressiveClassifier", "DaskPerceptron"]
