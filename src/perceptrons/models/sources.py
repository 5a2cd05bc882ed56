"""Learn and predict from sources of examples, which may be larger than memory."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from perceptrons.data import Rows, Source
from perceptrons.learn.classes import ClassLearner
from perceptrons.learn.labels import Array
from perceptrons.learn.linear.heaviest import with_heaviest_words
from perceptrons.learn.scale.scaling import with_means
from perceptrons.learn.scale.statistics import Statistics, statistics_of
from perceptrons.learn.stream import check_features, fitting, labelled, summary

if TYPE_CHECKING:
    from perceptrons.models.supervised import Supervised


def refuse_labels(y: Any, sample_weight: Any) -> None:
    """Raise an error if labels or weights are passed beside a source."""
    if y is not None:
        raise ValueError("a source has its own labels: do not pass y")
    if sample_weight is not None:
        raise ValueError("sample_weight cannot be used with a source: use class_weight, or pass arrays")


def note_features(model: Supervised, source: Source, n_features: int, learner: ClassLearner) -> None:
    """Set the features of the model, once all rows have been seen."""
    model.n_features_in_ = n_features
    encoding = with_heaviest_words(with_means(source.encoding, learner.scaling), learner)
    if encoding is not None and encoding.named:  # cut off the names from a batch that Ctrl-C interrupted
        model.feature_names_in_ = np.array(encoding.feature_names[:n_features], dtype=object)
    else:
        model.__dict__.pop("feature_names_in_", None)
    for name in ("encoding_", "_names"):
        model.__dict__.pop(name, None)
    if encoding is not None:
        model.encoding_ = encoding


def rows_for(model: Supervised, source: Source) -> Iterator[tuple[Rows, Array | None]]:
    """Batches with the features of the model."""
    model._known().reads(source)
    made = source.again(often=False)
    for rows, y in made.batches():
        check_features(source, agree(model, made.encoding))
        yield model._learner.scaled(fitting(rows, model.n_features_in_), made.encoding), y


def agree(model: Supervised, encoding: Any) -> bool:
    """Whether a table has the features of the model, as far as they are known."""
    if encoding is None:
        return True
    if hasattr(model, "encoding_"):
        return bool(model.encoding_.agrees(encoding))
    names = getattr(model, "feature_names_in_", None)
    return names is None or encoding.feature_names == names.tolist()


def learn_once(model: Supervised, source: Source, classes: Any, predict: bool) -> Array:
    """Call `partial_fit` with each batch of a source; the model changes only after the last.

    Returns the label predicted for each row before learning from it, if `predict` is set.
    """
    trial = copy.copy(model)
    first = not hasattr(model, "_learner")
    settings = model._check_learning_once(first)
    if not first:
        trial._learner = model._copied_learner()
    guesses, mistakes, n_rows = [], 0, 0
    centred = bool(settings["fit_intercept"])
    online = settings.get("scale") == "online"  # then the learner scales rows, and nothing scales values
    targets = model._known() if online else model._known().for_source(source, centred)
    targets.reads(source)
    made = source.again(often=first and not model._streams)
    width = None if first else model.n_features_in_
    if first and not model._streams:
        width = summary(made).n_features
    statistics: Statistics | None = None

    def keep() -> None:
        scaling = trial._learner.scaling
        if first and scaling is not None and scaling.rarity is not None:
            trial._learner.scaling = replace(scaling, rarity=scaling.rarity.frozen())
        if first:
            note_features(trial, made, trial.n_features_in_, trial._learner)
        trial.mistakes_, trial._n_rows = np.array([mistakes]), n_rows
        model._guard.change(lambda: model.__dict__.update(vars(trial)))

    try:
        for rows, y in made.batches():
            if width is None:
                trial.n_features_in_ = rows.n_features
            elif rows.n_features > width or (rows.indices is None and rows.n_features < width):
                name = type(model).__name__
                raise ValueError(f"X has {rows.n_features} features, but {name} is expecting {width} features as input")
            else:
                check_features(source, first or agree(model, made.encoding))
                rows = rows.wide(width)
                trial.n_features_in_ = width
            y = labelled(source, y)
            scaling = None if first or online else trial._learner.scaling
            if first and not online:
                statistics = statistics or statistics_of(made, rows, once=True, always=targets.scaled)
                if statistics is not None:  # of all batches so far, this one included
                    statistics.add(rows)
                    scaling = statistics.scaling(centred, targets.limit)
            scaled = rows if scaling is None else scaling.apply(rows, zeros=made.encoding is None and not first)
            before = None if hasattr(trial, "_learner") else targets
            guesses.append(trial._learn_rows(settings, copy.copy(trial), scaled, y, classes, None, predict, before))
            if not online:
                trial._learner.scaling = scaling
            classes = None
            mistakes, n_rows = mistakes + int(trial.mistakes_[0]), n_rows + len(rows)
    except KeyboardInterrupt:  # keep the finished batches
        if n_rows:
            keep()
        raise
    if n_rows == 0:
        raise ValueError(f"{source.name} has no rows")
    keep()
    return np.concatenate([guess for guess in guesses if guess is not None]) if predict else np.empty(0)
