"""Learning and predicting from sources of examples that may be larger than memory."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from perceptrons.data import Rows, Source
from perceptrons.learn.labels import union, weights_of_classes
from perceptrons.learn.stream import Stream, Watched, check_features, fitting, labelled, summary
from perceptrons.models import validation
from perceptrons.models.preparation import Task, make_room

Array = validation.Array


def refuse_labels(y: Any, sample_weight: Any) -> None:
    """A source has its own labels, and no weights."""
    if y is not None:
        raise ValueError("a source has its labels with it: pass no y")
    if sample_weight is not None:
        raise ValueError("a source has no sample_weight: use class_weight, or arrays")


def prepare(model: Any, source: Source, X_val: Any, y_val: Any, start: tuple[Any, ...], everything: bool) -> Task:
    """Set up a run of `fit` on a source; `everything`: read all rows first, to know all classes."""
    fresh, settings, random = copy.copy(model), model._settings(), check_random_state(model.random_state)
    given = any(part is not None for part in start)
    goes_on = bool(model.warm_start) and hasattr(model, "_learner") and not given
    source = source.again(model.max_iter > 1 or model.early_stopping)
    stream = Stream(source)
    everything = everything or given or model.init == "random" or model.class_weight is not None
    rows, known = stream.settle(everything)
    classes = stream.classes
    if goes_on:
        learner = copy.deepcopy(model._learner)
        classes = union(model.classes_, classes)
        make_room(learner, model.classes_, classes)
        learner.adopt(**settings)
        learner.set_origin()
        stream.widest = learner.n_features
        stream.check = lambda: check_features(source, _agree(model, source.encoding))
    else:
        learner = model._new_learner(settings, rows, len(classes))
    model._start(learner, random, start, goes_on)
    stream.classes = classes
    stream.class_weight = weights_of_classes(model.class_weight, classes, known and known.counts, settings["rule"])
    held_out: Any = None
    if X_val is not None:
        if not isinstance(X_val, Source) or y_val is not None:
            raise ValueError("X_val must be a source, without y_val, where X is a source")
        held_out = Watched(learner, X_val, classes, source, often=model.max_iter > 1)
    elif model.early_stopping:
        stream.share, stream.seed = model.validation_fraction, int(random.randint(2**31))
        held_out = partial(stream.error, learner, held_out=True)
    order = int(random.randint(2**31)) if model.shuffle else None

    def finish() -> None:
        if not goes_on:
            note_features(fresh, source, learner.n_features)

    return Task(fresh, learner, stream, held_out, classes, order, finish)


def whole(model: Any, source: Source) -> tuple[Any, Array | None]:
    """All rows in memory, and their labels, with features that the model goes on with, if it does."""
    X, y = source.arrays()
    check_features(source, not (model.warm_start and hasattr(model, "_learner")) or _agree(model, source.encoding))
    return X, y


def noting(task: Task, source: Source | None) -> Task:
    """The same run; the model then knows what its rows, which are all in memory, were read from."""
    if source is None:
        return task
    return replace(task, finish=partial(note_features, task.fresh, source, task.fresh.n_features_in_))


def note_features(model: Any, source: Source, n_features: int) -> None:
    """Let the model know the features, now that all rows have been seen."""
    model.n_features_in_ = n_features
    encoding = source.encoding
    if encoding is not None and encoding.named:  # a batch that Ctrl-C kept from being learned may have had new ones
        model.feature_names_in_ = np.array(encoding.feature_names[:n_features], dtype=object)
    else:
        vars(model).pop("feature_names_in_", None)
    vars(model).pop("encoding_", None)
    if encoding is not None:
        model.encoding_ = encoding


def rows_for(model: Any, source: Source) -> Iterator[tuple[Rows, Array | None]]:
    """Batches with the features that the model knows."""
    made = source.again(often=False)
    for rows, y in made.batches():
        check_features(source, _agree(model, made.encoding))
        yield fitting(rows, model.n_features_in_), y


def _agree(model: Any, encoding: Any) -> bool:
    """Whether a table has the features that the model knows, as far as can be told."""
    if encoding is None:
        return True
    if hasattr(model, "encoding_"):
        return bool(model.encoding_.agrees(encoding))
    names = getattr(model, "feature_names_in_", None)
    return names is None or encoding.feature_names == names.tolist()


def learn_once(model: Any, source: Source, classes: Any, predict: bool) -> Array:
    """`partial_fit` with all batches of a source, one after another; the model changes when all have been learned.

    Returns what was predicted for each row before it was learned from, if asked for.
    """
    trial = copy.copy(model)
    first = not hasattr(model, "_learner")
    model._check_learning_once(first)
    if not first:
        functions = {id(value): value for value in model.get_params(deep=False).values() if callable(value)}
        trial._learner = copy.deepcopy(model._learner, functions)
    guesses, mistakes, n_rows = [], 0, 0
    made = source.again(often=first and not model._grows)
    width = None if first and model._grows else summary(made).n_features if first else model.n_features_in_

    def keep() -> None:
        if first:
            note_features(trial, made, trial.n_features_in_)
        trial.mistakes_, trial._n_rows = np.array([mistakes]), n_rows
        vars(model).update(vars(trial))

    try:
        for rows, y in made.batches():
            if width is None:
                if hasattr(trial, "_learner") and rows.n_features > trial._learner.n_features:
                    trial._learner.resize(rows.n_features)
                trial.n_features_in_ = rows.n_features
            elif rows.n_features > width or (rows.indices is None and rows.n_features < width):
                name = type(model).__name__
                raise ValueError(f"X has {rows.n_features} features, but {name} is expecting {width} features as input")
            else:
                check_features(source, first or _agree(model, made.encoding))
                rows = rows.wide(width)
                trial.n_features_in_ = width
            guesses.append(trial._learn_rows(copy.copy(trial), rows, labelled(source, y), classes, None, predict))
            classes = None
            mistakes, n_rows = mistakes + int(trial.mistakes_[0]), n_rows + len(rows)
    except KeyboardInterrupt:  # what was finished is kept
        if n_rows:
            keep()
        raise
    if n_rows == 0:
        raise ValueError(f"{source.name} has no rows")
    keep()
    return np.concatenate(guesses) if predict else np.empty(0)
