"""The linear classifiers on Dask."""

from __future__ import annotations

import copy
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from dask import delayed, is_dask_collection
from distributed import Client

from perceptrons.dask import lazy
from perceptrons.dask.cluster import client_of
from perceptrons.dask.collections import shards_of
from perceptrons.dask.crew import DaskCrew, Done, at, spread
from perceptrons.dask.estimator import CONSTRAINTS, OnCluster
from perceptrons.data.batches import Source
from perceptrons.learn.shards.counts import BY_MISTAKES
from perceptrons.learn.shards.material import Shards
from perceptrons.learn.shards.rows import SourceShard
from perceptrons.learn.shards.task import Beside, from_shards, refuse
from perceptrons.learn.task import Task
from perceptrons.models import PassiveAggressiveClassifier, Perceptron, sources
from perceptrons.models.parameters import entries, with_entries
from perceptrons.models.supervised import Start

if TYPE_CHECKING:
    from perceptrons.models.classifier import Classifier
else:
    Classifier = object  # the local estimator, which comes later in the order of classes, is one


def crew_of_files(client: Client, source: Source, n_shards: int | None, done: Done | None = None) -> DaskCrew:
    """Workers that hold the shards of a source. done: told about the progress of an epoch."""
    parts = source.shards(n_shards)
    for part in parts:
        part.paths = [os.path.abspath(path) for path in part.paths]  # workers may be in other folders
    made, planned = [], spread(len(parts), list(client.nthreads()))
    for part, home in zip(parts, planned, strict=True):
        with at(home):
            made.append(delayed(SourceShard, pure=False, traverse=False)(part))
    return DaskCrew(client, client.compute(made), done, planned)


def crew_of(client: Client, model: Any, X: Any, y: Any, weight: Any, name: str = "X") -> DaskCrew:
    """Workers that hold the shards of a source, or of a collection."""
    if isinstance(X, Source):
        return crew_of_files(client, X, model.n_shards)
    return DaskCrew(client, client.compute(shards_of(X, y, weight, model.n_shards, type(model).__name__, name)))


class LinearOnCluster(OnCluster, Classifier):
    """A linear classifier that learns on a cluster."""

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: Any,
        X_val: Any,
        y_val: Any,
        start: Start | None = None,
        stacklevel: int = 3,
    ) -> Any:
        with self._guard.learning:
            self._guard.settle()
            with client_of(self.client) as client:
                self._fit_shards(client, X, y, sample_weight, X_val, y_val, start, stacklevel + 1)
        return self

    def _fit_shards(
        self, client: Client, X: Any, y: Any, weight: Any, X_val: Any, y_val: Any, start: Any, stacklevel: int
    ) -> None:
        of_files = isinstance(X, Source)
        if of_files:
            sources.refuse_labels(y, weight)
        if X_val is not None and isinstance(X_val, Source) is not of_files:
            raise ValueError("X_val must be of the same kind as X: both sources, or both Dask collections")
        request = self._request(start)
        refuse(request)
        crew, beside = crew_of(client, self, X, y, weight), None
        if X_val is not None or y_val is not None:
            others = crew_of(client, self, X_val, y_val, None, "X_val")

            def beside(encoding: Any) -> Beside:
                return Beside(others, X_val.name if of_files else "X_val")

        read = copy.copy(X) if of_files else None  # it gets the encoding of all shards
        task = from_shards(request, crew, self.mixing, source=read, beside=beside)
        assert isinstance(task.material, Shards)
        run = task.run(self._report(task.material))
        fresh = copy.copy(self)
        if not self._goes_on(start):
            note_features(fresh, X, task)
        mistakes = np.array(task.material.mistakes[: run.n_iter], dtype=np.int64).reshape(-1, crew.n_shards)
        self._guard.change(lambda: setattr(self, "shard_mistakes_", mistakes))
        self._finish(task, run, fresh, stacklevel + 1)

    # -- prediction -------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> Any:
        """Predict the class of each row.

        Parameters
        ----------
        X : Dask array or data frame, or whatever the local estimator takes
            The rows.

        Returns
        -------
        Dask array or ndarray of shape (n_samples,)
            Of a Dask collection, a Dask array that is computed when it is needed.
        """
        if not is_dask_collection(X):
            return super().predict(X)
        return lazy.mapped(self, X, "predict")

    def decision_function(self, X: Any) -> Any:
        """Compute the score of each row.

        Parameters
        ----------
        X : Dask array or data frame, or whatever the local estimator takes
            The rows.

        Returns
        -------
        Dask array or ndarray of shape (n_samples,) or (n_samples, n_classes)
            Of a Dask collection, a Dask array that is computed when it is needed.
        """
        if not is_dask_collection(X):
            return super().decision_function(X)
        return lazy.mapped(self, X, "decision_function")

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Compute the accuracy: the share of rows that are predicted correctly.

        Parameters
        ----------
        X, y, sample_weight
            As for the local estimator, or Dask collections.

        Returns
        -------
        float
            From 0 to 1.
        """
        if not is_dask_collection(X):
            return float(super().score(X, y, sample_weight))
        return lazy.accuracy(self, X, y, sample_weight)


def note_features(fresh: Any, X: Any, task: Task) -> None:
    """Set the features of the model."""
    if task.source is not None:
        sources.note_features(fresh, task.source, task.n_features, task.learner)
        return
    fresh.n_features_in_ = task.n_features
    for name in ("feature_names_in_", "encoding_", "_names"):
        fresh.__dict__.pop(name, None)
    names = list(X.columns) if hasattr(X, "columns") else []
    if names and all(isinstance(name, str) for name in names):
        fresh.feature_names_in_ = np.array(names, dtype=object)


ON_CLUSTER = entries(OnCluster.__doc__)


@dataclass(kw_only=True, eq=False, repr=False)
class DaskPerceptron(LinearOnCluster, Perceptron):
    """`Perceptron` that learns on a Dask cluster.

    The rows are cut into shards, once. In each epoch, every shard makes one pass from the same weights; then the
    weights of all shards are mixed, and so on (iterative parameter mixing; McDonald, Hall & Mann 2010). Workers keep
    their rows, and only weights travel. If a worker is lost, others do its work again, and the result is the same bit
    for bit, however many workers there are.

    Guarantee, for the rule "perceptron": if some hypothesis separates the rows with margin γ, at most ``(R/γ)²`` epochs
    make mistakes (with ``mixing="mistakes"``), and all S shards together make at most ``S·(R/γ)²`` mistakes. Training
    ends as on one machine: after an epoch without a mistake, when it has proved that γ < `tol`·R, or when more epochs
    no longer change what the mean predicts (see `tol`).

    Parameters
    ----------
    {shared: rule}
    readout : {"averaged", "last"}, default="averaged"
        Which weight vector makes predictions: the mean over all examples processed, or the final one. The readouts
        "voted" and "pocket" of `Perceptron` cannot be mixed: `fit` refuses them.
    {shared: fit_intercept intercept_scaling eta0 max_iter tol shuffle random_state init tie}
    {shared: early_stopping validation_fraction n_iter_no_change class_weight warm_start verbose scale}
    {shared: penalty alpha n_jobs mixing n_shards client}

    Attributes
    ----------
    {shared: classes_ coef_ intercept_ converged_ n_iter_ mistakes_ shard_mistakes_ validation_errors_}
    contradiction_ : None
        Training on shards does not search for rows that contradict each other.
    {shared: n_seen_ margin_bound_ n_features_in_ feature_names_in_ encoding_}

    Notes
    -----
    `fit` takes Dask arrays (also with blocks that are CSR matrices), Dask data frames, or a source
    (`perceptrons.data.source`), whose files all workers must be able to read. A worker parses its part of the files
    once and keeps a binary copy on its own disk. Every shard should have rows of all classes: shuffle rows that are
    sorted.

    Other methods, such as `partial_fit`, `learn_one` and `predict` with NumPy arrays, work in this process.

    References
    ----------
    McDonald, Hall & Mann, Distributed training strategies for the structured perceptron, NAACL 2010.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.utils import shuffle
    >>> from perceptrons.dask import DaskPerceptron
    >>> X, y = shuffle(*load_iris(return_X_y=True), random_state=0)
    >>> X, y = da.from_array(X, chunks=(50, 4)), da.from_array(y == 0, chunks=50)
    >>> with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0") as client:
    ...     model = DaskPerceptron().fit(X, y)
    ...     share = float((model.predict(X) == y).mean().compute())
    >>> model.converged_, share, model.shard_mistakes_.shape[1]
    (True, 1.0, 3)
    >>> model.to_local()
    Perceptron()
    """

    mixing: str = BY_MISTAKES
    n_shards: int | None = None
    client: Any = None

    predict_proba, predict_log_proba = lazy.probabilities("predict_proba"), lazy.probabilities("predict_log_proba")
    _local: ClassVar[type] = Perceptron
    _parameter_constraints: ClassVar[dict[str, Any]] = {**Perceptron._parameter_constraints, **CONSTRAINTS}


@dataclass(kw_only=True, eq=False, repr=False)
class DaskPassiveAggressiveClassifier(LinearOnCluster, PassiveAggressiveClassifier):
    """`PassiveAggressiveClassifier` that learns on a Dask cluster.

    It learns from shards as `DaskPerceptron` does, and stops as the local class does, when the loss has stopped
    falling.

    Parameters
    ----------
    {shared: C fit_intercept max_iter tol early_stopping validation_fraction n_iter_no_change shuffle verbose loss}
    {shared: n_jobs random_state warm_start class_weight}
    average : bool or int, default=False
        Whether to predict with the mean of the weights. With an integer n > 1, the mean starts with the first epoch
        before which n examples have been processed.
    {shared: scale mixing n_shards client}

    Attributes
    ----------
    {shared: classes_ coef_ intercept_ converged_ n_iter_ mistakes_ shard_mistakes_ validation_errors_}
    {shared: n_seen_ margin_bound_ n_features_in_ feature_names_in_ encoding_}

    References
    ----------
    Crammer et al. 2006; McDonald, Hall & Mann 2010.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.utils import shuffle
    >>> from perceptrons.dask import DaskPassiveAggressiveClassifier
    >>> X, y = shuffle(*load_iris(return_X_y=True), random_state=0)
    >>> X, y = da.from_array(X, chunks=(50, 4)), da.from_array(y == 0, chunks=50)
    >>> with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0") as client:
    ...     model = DaskPassiveAggressiveClassifier(C=0.1, random_state=0).fit(X, y)
    >>> model.to_local().score(X.compute(), y.compute())
    1.0
    """

    mixing: str = BY_MISTAKES
    n_shards: int | None = None
    client: Any = None

    _local: ClassVar[type] = PassiveAggressiveClassifier
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **PassiveAggressiveClassifier._parameter_constraints,
        **CONSTRAINTS,
    }


for made in (DaskPerceptron, DaskPassiveAggressiveClassifier):
    made.__doc__ = with_entries(made.__doc__, {**entries(made._local.__doc__), **ON_CLUSTER})
