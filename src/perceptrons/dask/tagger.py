"""The sequence tagger on Dask."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Self

import numpy as np
from dask import delayed
from dask.bag import Bag
from distributed import Client
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from perceptrons.dask import bags
from perceptrons.dask.cluster import client_of
from perceptrons.dask.crew import DaskCrew
from perceptrons.dask.estimator import CONSTRAINTS, OnCluster
from perceptrons.data.token.conll_source import ConllSource
from perceptrons.data.token.template_sets import columns_of, suited
from perceptrons.data.token.vocabulary import NameVocabulary, TemplateVocabulary
from perceptrons.learn.sequence.tagger import Tagger
from perceptrons.learn.shards.counts import BY_MISTAKES
from perceptrons.learn.shards.sentences import from_sentences
from perceptrons.models import SequenceTagger
from perceptrons.models.parameters import entries, with_entries
from perceptrons.models.tagger import held_out_of, warn_of


@dataclass(kw_only=True, eq=False, repr=False)
class DaskSequenceTagger(OnCluster, SequenceTagger):
    """`SequenceTagger` that learns on a Dask cluster.

    The sentences are cut into shards, once. In each epoch, every shard makes one pass from the same weights; then the
    weights of all shards are mixed, and so on (iterative parameter mixing; McDonald, Hall & Mann 2010). Workers keep
    their sentences, and only weights travel. If a worker is lost, others do its work again, and the result is the same
    bit for bit, however many workers there are.

    Guarantee, for the rule "perceptron": if the sentences can be separated with margin γ, at most ``(R/γ)²`` epochs
    make mistakes (with ``mixing="mistakes"``), and all S shards together make at most ``S·(R/γ)²`` mistakes.

    Parameters
    ----------
    {shared: features columns rule readout order scheme beam update k_best eta0 max_iter tol shuffle random_state}
    {shared: early_stopping validation_fraction n_iter_no_change verbose mixing n_shards client}

    Attributes
    ----------
    {shared: classes_ scheme_ n_features_ converged_ n_iter_ mistakes_ shard_mistakes_}
    {shared: validation_errors_ n_seen_ margin_bound_}

    Notes
    -----
    With one shard, the result is that of `SequenceTagger`. Features, labels and the scheme are those of all sentences,
    and the same sentences are held out. Other methods, such as `partial_fit`, and `predict` with lists, work in this
    process.

    References
    ----------
    McDonald, Hall & Mann, Distributed training strategies for the structured perceptron, NAACL 2010.

    Examples
    --------
    >>> import dask.bag as db
    >>> from distributed import Client
    >>> from perceptrons.dask import DaskSequenceTagger
    >>> X = [["the", "cat", "sleeps"], ["a", "dog", "barks"], ["the", "dog", "sleeps"]]
    >>> y = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"]]
    >>> pairs = db.from_sequence(zip(X, y), npartitions=2)
    >>> with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0") as client:
    ...     tagger = DaskSequenceTagger(features="pos").fit(pairs)
    ...     labels = tagger.predict(pairs.pluck(0)).compute()
    >>> labels == y, tagger.converged_, tagger.shard_mistakes_.shape[1]
    (True, True, 2)
    >>> tagger.to_local().predict([["a", "cat", "barks"]])
    [['DET', 'NOUN', 'VERB']]
    """

    mixing: str = BY_MISTAKES
    n_shards: int | None = None
    client: Any = None

    _local: ClassVar[type] = SequenceTagger
    _parameter_constraints: ClassVar[dict[str, Any]] = {**SequenceTagger._parameter_constraints, **CONSTRAINTS}

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any = None, X_val: Any = None, y_val: Any = None, *, X_dev: Any = None, y_dev: Any = None
    ) -> Self:
        """Learn from sequences on the cluster, epoch after epoch.

        Parameters
        ----------
        X : ConllSource or Dask bag
            Files, described by `perceptrons.data.conll_source`, which all workers must be able to read. Or a Dask bag
            of sequences, or of pairs (sequence, labels); consecutive partitions make a shard.
        y : str or Dask bag, optional
            The name of the column of the files that has the labels. Or a bag of the labels of each sequence, with as
            many partitions as X; none if X has pairs.
        X_val, y_val : optional
            Held-out sequences and their labels, in the same form, or as for `SequenceTagger`. This process reads them
            and measures the error on them after each epoch (`validation_errors_`); `early_stopping` uses them instead
            of a fraction of X.
        X_dev, y_dev : optional
            Other names for `X_val` and `y_val`.

        Returns
        -------
        self
        """
        held_out = held_out_of(*bags.pairs(X_val, y_val), *bags.pairs(X_dev, y_dev))
        with self._guard.learning:
            tagger = self._fit(*bags.pairs(X, y), *held_out)
        warn_of(tagger.given_up, stacklevel=4)
        return self

    def _fit(self, X: Any, y: Any, X_val: Any, y_val: Any, name: str) -> Tagger:
        plan = self._plan()
        with client_of(self.client) as client:
            crew = DaskCrew(client, client.compute(self._shards(X, y)))
            random = check_random_state(self.random_state)
            share = self.validation_fraction if self.early_stopping and X_val is None else None
            seed = 0 if share is None else int(random.randint(2**31))
            task = from_sentences(plan, crew, self.mixing, share, seed)
            tagger, watched = task.tagger, task.held_out
            if X_val is not None:
                X_val, y_val = _fetched(client, X_val, y_val)
                corpus = tagger.held_out(self._given(tagger, X_val), self._labels(X_val, y_val, name))
                watched = tagger.watch(corpus)
            try:
                self._learn(tagger, task.material, task.sizes.tokens, random, watched)
            finally:
                if task.material.mistakes:  # also after Ctrl-C
                    mistakes = np.array(task.material.mistakes[: self.n_iter_], dtype=np.int64)
                    self._guard.change(lambda: setattr(self, "shard_mistakes_", mistakes))
        return tagger

    def _shards(self, X: Any, y: Any) -> list[Any]:
        """Delayed shards."""
        if isinstance(X, ConllSource):
            if not isinstance(y, str):
                raise TypeError(f"y must be the name of the column that has the labels, got {type(y).__name__}")
            if self.features is None:
                self._given(Tagger(NameVocabulary(), self._plan()), X.read())  # raises the error of the local class
            features = suited(self.features, [column for column in X.columns if column != y])
            needed = columns_of(features)
            if y in needed:
                raise ValueError(f"the templates use the column {y!r}, which has the labels: remove it from them")
            return bags.from_files(X, y, [*needed, y], partial(TemplateVocabulary, features), self.n_shards)
        if not isinstance(X, Bag):
            raise TypeError(
                f"X must be a Dask bag or perceptrons.data.conll_source(…), got {type(X).__name__}: use SequenceTagger "
                "for sequences in memory, or dask.bag.from_sequence"
            )
        if self.features is None:
            return bags.from_bags(X, y, None, NameVocabulary, self.n_shards)
        looks = self.columns is None and suited(self.features, ()) != self.features  # whether words decide
        features = self._features(list(X.take(1, warn=False)) if looks else [], y)
        columns = self._columns(columns_of(features))
        return bags.from_bags(X, y, columns, partial(TemplateVocabulary, features), self.n_shards)

    def predict(self, X: Any) -> Any:
        """Predict the labels of each sequence.

        Parameters
        ----------
        X : Dask bag of sequences, or whatever `SequenceTagger` takes
            The sequences.

        Returns
        -------
        Dask bag or list of lists of labels
            Of a Dask bag, a bag that is computed when it is needed.
        """
        if not isinstance(X, Bag):
            return super().predict(X)
        check_is_fitted(self)
        return X.map_partitions(bags.labelled, delayed(self.to_local(), name=None, pure=False, traverse=False))


def _fetched(client: Client, X: Any, y: Any) -> tuple[Any, Any]:
    """Held-out sequences and labels in the memory of this process."""
    if isinstance(X, ConllSource):
        return X.read(), y
    both = [each for each in (X, y) if isinstance(each, Bag)]
    found = iter(client.gather(client.compute(both)) if both else [])
    return next(found) if isinstance(X, Bag) else X, next(found) if isinstance(y, Bag) else y


DaskSequenceTagger.__doc__ = with_entries(
    DaskSequenceTagger.__doc__, {**entries(SequenceTagger.__doc__), **entries(OnCluster.__doc__)}
)
