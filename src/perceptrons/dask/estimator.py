"""What the estimators on Dask have in common with each other."""

from __future__ import annotations

import copy
from numbers import Integral
from typing import TYPE_CHECKING, Any, ClassVar, Self

from distributed import Client, Future
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from perceptrons.dask.cluster import client_of
from perceptrons.learn.shards.counts import MIXINGS

if TYPE_CHECKING:
    from perceptrons.models.base import Online
else:
    Online = object  # the local estimator, which comes later in the order of classes, is one

OWN = ("mixing", "n_shards", "client")  # parameters that the local estimator does not have
CONSTRAINTS: dict[str, Any] = {
    "mixing": [StrOptions(set(MIXINGS))],
    "n_shards": [Interval(Integral, 1, None, closed="left"), None],
    "client": [Client, None],
}


class OnCluster(Online):
    """An estimator that learns from shards on a Dask cluster, by iterative parameter mixing (McDonald et al. 2010).

    The docstrings of estimators copy the entries below.

    Parameters
    ----------
    mixing : {"mistakes", "uniform"}, default="mistakes"
        How much a shard counts when the hypotheses of all shards are mixed after an epoch: in proportion to its updates
        in this epoch, or all shards equally. With "mistakes", at most ``(R/γ)²`` epochs make a mistake on rows that can
        be separated with margin γ, and with both there are at most ``S·(R/γ)²`` mistakes in S shards. Rules with a
        covariance are mixed by the precision of each weight, whatever this is.
    n_shards : int or None, default=None
        Number of shards, at most. The result depends on the rows, the shards and the seed, but not on the workers. By
        default, 8 shards, or as many as it takes for shards of 256 MB; fewer if there are fewer blocks, or less than a
        megabyte of files for each. With one shard, the result is that of the local estimator.
    client : distributed.Client or None, default=None
        The cluster; by default the current client.

    Attributes
    ----------
    shard_mistakes_ : ndarray of shape (`n_iter_`, n_shards)
        Number of mistakes in each epoch, by shard.
    """

    mixing: str
    n_shards: int | None
    client: Any
    _local: ClassVar[type]  # the local estimator

    def __getstate__(self) -> dict[str, Any]:
        """For pickles: without the client, which belongs to this process."""
        state: dict[str, Any] = super().__getstate__()
        return {**state, "client": None}

    def __sklearn_clone__(self) -> Self:
        """An unfitted estimator with the same parameters and the same client."""
        params: dict[str, Any] = self.get_params(deep=False)
        client = params.pop("client")
        return type(self)(**copy.deepcopy(params), client=client)

    def to_local(self) -> Any:
        """Convert the fitted model to an ordinary estimator, which predicts the same and can be saved.

        Returns
        -------
        estimator
            A copy, for instance a `perceptrons.Perceptron`. It can go on learning, without the cluster.
        """
        check_is_fitted(self)
        params = self.get_params(deep=False)
        local = self._local(**{name: value for name, value in params.items() if name not in OWN})
        own = {*params, "shard_mistakes_", "_locks"}
        learned = {name: value for name, value in vars(self).items() if name not in own}
        vars(local).update(copy.deepcopy(learned))
        return local

    def submit(self, X: Any, y: Any = None, **given: Any) -> Future:
        """Let the cluster run `fit`, and return at once.

        Parameters
        ----------
        X, y, **given
            As for `fit`.

        Returns
        -------
        distributed.Future
            Its result is the fitted model. To fetch it from another process later, publish it:
            ``client.publish_dataset(spam=model.submit(X, y))``, and there ``client.get_dataset("spam").result()``. Rows
            that a client has persisted are lost when it goes away, unless they are published, too.
        """
        with client_of(self.client) as client:
            return client.submit(_fitted, _Opaque((copy.copy(self), X, y, given)), pure=False)


class _Opaque:
    """Something that Dask does not look into: a collection in it is not computed."""

    def __init__(self, content: Any) -> None:
        self.content = content


def _fitted(given: _Opaque) -> Any:
    """Fit a model, in a task."""
    model, X, y, rest = given.content
    return model.fit(X, y, **rest)
