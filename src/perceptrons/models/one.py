"""One example a call, as River's names are: `learn_one`, `predict_one`, `score_one`, `explain_one`, `learn_many`."""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from perceptrons.data.arrays import Rows
from perceptrons.learn.single.example import Example, from_dict, from_pair
from perceptrons.learn.single.lane import Caller, Lane, lane_for
from perceptrons.learn.single.names import Names
from perceptrons.models import validation
from perceptrons.models.guard import Guard

if TYPE_CHECKING:
    from perceptrons.models.supervised import Supervised

INFINITY = math.inf


class FeatureNames:
    """The attribute `feature_names_in_`. Names that came with dicts become an array when somebody asks for them."""

    def __get__(self, model: Any, owner: Any = None) -> Any:
        """Called only if the model has no such entry in its own dict, as for the class below."""
        if model is None:
            return self
        names: Names | None = vars(model).get("_names")
        if names is None:
            raise AttributeError(f"{owner.__name__!r} object has no attribute 'feature_names_in_'")
        found = np.array([*names.listed(model.n_features_in_), None], dtype=object)[:-1]
        return model.__dict__.setdefault("feature_names_in_", found)


class Mistakes:
    """The attribute `mistakes_` after single examples, whose lane counts the mistakes of the last one."""

    def __get__(self, model: Any, owner: Any = None) -> Any:
        if model is None:
            return self
        counted = vars(model).get("_mistakes")
        if counted is None:
            raise AttributeError(f"{owner.__name__!r} object has no attribute 'mistakes_'")
        return counted[:1].astype(np.int64)


def names_of(model: Supervised) -> Names:
    """The names of a model's features."""
    found: Names | None = vars(model).get("_names")
    if found is not None:
        return found
    encoding = getattr(model, "encoding_", None)
    if encoding is not None and not encoding.named:
        raise ValueError(
            "this model was trained on a table whose features have no names of their own, because they are hashed or "
            "words of texts: it cannot read dicts. Write the examples to a table, and read that with "
            "source(..., like=model.encoding_)"
        )
    return Names(getattr(model, "feature_names_in_", ()))


def example_of(model: Supervised, x: Any, *, grows: bool) -> tuple[Example, Names | None]:
    """One example, not scaled yet; and the names of features, if it has some.

    grows: whether new features make room; otherwise they are left out.
    """
    n_features = model.n_features_in_ if hasattr(model, "_learner") else 0
    if not isinstance(x, Mapping) and hasattr(x, "to_dict") and hasattr(x, "index"):
        x = x.to_dict()  # a row of a data frame
    if isinstance(x, Mapping):
        names = names_of(model)
        return from_dict(x, names, n_features, grows=grows), names
    if is_pair(x):
        return from_pair(x[0], x[1], n_features, grows=grows), None
    row = np.asarray(x)
    if row.ndim != 1:
        raise ValueError(
            f"x must be one example: a dict, a row of numbers, or a pair (indices, values); got shape {row.shape}. "
            "For several rows, use partial_fit or predict"
        )
    if hasattr(model, "_learner") and len(row) != n_features:
        name = type(model).__name__
        raise ValueError(f"x has {len(row)} features, but {name} is expecting {n_features} features as input")
    nameless = copy.copy(model)  # a row has no names, and needs none
    nameless.__dict__.pop("feature_names_in_", None)
    nameless.__dict__.pop("_names", None)
    rows = validation.features(nameless, row[np.newaxis], reset=not hasattr(model, "_learner"), input_name="x")
    return Example(rows, []), None


def is_pair(x: Any) -> bool:
    """Whether x is (indices, values)."""
    return type(x) is tuple and len(x) == 2 and all(hasattr(part, "__len__") for part in x)


def examples_of(model: Supervised, X: Any, *, grows: bool) -> tuple[Example, Names]:
    """Several dicts as rows, not scaled yet, and the names of features; new names get numbers at once."""
    if hasattr(X, "to_dict") and hasattr(X, "columns"):
        X = X.to_dict("records")  # of a data frame
    names, n_features = names_of(model), model.n_features_in_ if hasattr(model, "_learner") else 0
    found, new = list[Rows](), list[str]()
    try:
        for i, x in enumerate(X):
            if not isinstance(x, Mapping):
                raise ValueError(f"expected dicts, got {type(x).__name__} at row {i}: use partial_fit for arrays")
            rows, more = from_dict(x, names, n_features + len(new), grows=grows)
            names.add(more, n_features + len(new))
            new += more
            found.append(rows)
        if not found:
            raise ValueError("X has no rows")
    except BaseException:
        names.cut(n_features)
        raise
    width = n_features + len(new)
    return Example(Rows.joined([rows.wide(width) for rows in found]), new), names


def learn_rows(
    model: Supervised, example: Example, names: Names | None, y: Any, weight: Any, settings: dict[str, Any]
) -> None:
    """Learn from rows that may have new features, which get the names `example.new`."""
    fresh = copy.copy(model)
    fresh.n_features_in_ = example.rows.n_features
    if names is not None:
        fresh._names = names
    if example.rows.n_features != vars(model).get("n_features_in_"):  # a pair brings features without names
        if names is None and "feature_names_in_" in vars(model):
            fresh._names = names_of(model)
        fresh.__dict__.pop("feature_names_in_", None)
    rows = example.rows
    if hasattr(model, "_learner"):
        rows = model._learner.to_learn(rows, None if names is None else getattr(model, "encoding_", None))
    first = rows.part(0, 1)
    try:
        if names is not None:
            names.add(example.new, rows.n_features - len(example.new))
        model._learn_rows(settings, fresh, rows, y, None, weight, predict=False, like=first)
    finally:  # after an error or Ctrl-C, too
        known = model.__dict__
        if known.get("n_features_in_") != rows.n_features:
            if getattr(known.get("_learner"), "n_features", 0) == rows.n_features:  # it has been widened
                known.update({name: vars(fresh)[name] for name in ("n_features_in_", "_names") if name in vars(fresh)})
                known.pop("feature_names_in_", None)
            elif names is not None:
                names.cut(rows.n_features - len(example.new))


def learn_one(model: Any, x: Any, y: Any, sample_weight: float | None = None) -> Any:
    """Learn from one example. A loop of these calls learns the same as `partial_fit` of all rows.

    Parameters
    ----------
    x : dict, sequence or pair
        Named features, a row of numbers, or a pair (indices, values). In a dict, text is a category:
        ``{"job": "cook"}`` is the feature "job=cook" with the value 1. Features that are left out are 0. New names, and
        indices beyond the last, make room for new features, whose weights start at 0.
    y : label
        Its class, or in regression its value.
    sample_weight : float, optional
        The weight of the example. It scales the step, or C for PA-I and PA-II.

    Returns
    -------
    self

    Examples
    --------
    >>> from perceptrons import Perceptron
    >>> model = Perceptron()
    >>> model = model.learn_one({"free": 2, "from": "bank"}, "spam").learn_one({"lunch": 1, "from": "Eva"}, "ham")
    >>> model.predict_one({"lunch": 1, "from": "Adam"}), model.n_features_in_
    ('ham', 4)
    """
    try:
        guard: Guard = model.__dict__["_locks"]
    except KeyError:
        guard = model._guard
    lane = guard.lane
    if lane is not None and guard.quickly(lane.learn, x, y, sample_weight) is not None:
        return model
    with guard.learning:
        guard.settle()
        settings = model._check_learning_once(not hasattr(model, "_learner"))
        example, names = example_of(model, x, grows=True)
        learn_rows(model, example, names, [y], None if sample_weight is None else [sample_weight], settings)
        shorten(model, settings)
    return model


def shorten(model: Supervised, settings: dict[str, Any]) -> None:
    """Set up the short way for the next examples, after a call that learned with these settings."""
    lane = model._guard.lane = lane_of(model, learns=True)
    # Parameters that another thread sets after this look drop the lane again, as `__setattr__` does.
    same = model._settings() == settings and not model.early_stopping
    if lane is not None and not (same and vars(model).get("class_weight") is lane.caller.class_weight):
        model._guard.lane = None


def is_single(X: Any, y: Any) -> bool:
    """Whether X is an array with one row, and y has one label."""
    one_label = len(y) == 1 if type(y) is list else type(y) is np.ndarray and y.shape == (1,)
    return one_label and type(X) is np.ndarray and X.ndim == 2 and len(X) == 1


def learn_row(model: Supervised, X: Any, y: Any, predict: bool) -> Any:
    """Learn from a single row by the short way; None if there is none. Returns what was predicted before.

    Without `predict`, that is not computed, and the array is empty.
    """
    guard: Guard = model.__dict__.get("_locks") or model._guard
    lane = guard.lane
    return None if lane is None else guard.quickly(lane.learn_row, X[0], y[0], predict)


def lane_of(model: Supervised, *, learns: bool) -> Lane | None:
    """The short way for single examples of this model; None if it has none. learns: whether it may learn, too."""
    known = model.__dict__

    def resized(n_features: int, names: Names) -> None:
        known["n_features_in_"], known["_names"] = n_features, names
        known.pop("feature_names_in_", None)

    class_weight = known.get("class_weight")
    if isinstance(class_weight, str):
        return None
    caller = Caller(model._known(), partial(names_of, model), resized, model._guard.thread, class_weight, learns=learns)
    lane = lane_for(model._learner, caller)
    if lane is not None and learns:
        lane.mistakes[0] = known.pop("mistakes_")[0]
        known["_mistakes"] = lane.mistakes
    return lane


def learn_many(model: Any, X: Any, y: Any, sample_weight: Any = None) -> Any:
    """Learn from several dicts, in their order: the same as `learn_one` of each, but all or none.

    Parameters
    ----------
    X : iterable of dict, or DataFrame
        Named features, as for `learn_one`.
    y : sequence of labels
        One for each dict.
    sample_weight : sequence of float, optional
        Weights of the examples.

    Returns
    -------
    self
    """
    with model._guard.learning:
        model._guard.settle()
        settings = model._check_learning_once(not hasattr(model, "_learner"))
        example, names = examples_of(model, X, grows=True)
        learn_rows(model, example, names, y, sample_weight, settings)
    return model


def scores_of(model: Supervised, x: Any) -> Any:
    """The scores of one example, one column for two classes."""
    guard: Guard = model.__dict__.get("_locks") or model._guard
    lane = guard.lane or _predicting_lane(model, guard)
    found = None if lane is None else guard.glance(lane.scores, x)
    if found is not None:
        return found
    with guard.mine():
        guard.settle()
        (rows, _), names = example_of(model, x, grows=False)
        learner = model._learner
        return learner.decide(learner.scaled(rows, None if names is None else getattr(model, "encoding_", None)))


def predict_one(model: Any, x: Any) -> Any:
    """Predict the label of one example.

    Parameters
    ----------
    x : dict, sequence or pair
        As for `learn_one`. Features that the model does not know are ignored.

    Returns
    -------
    label
        As in `classes_`, or in regression a number. None if nothing has been learned yet.
    """
    try:
        guard: Guard = model.__dict__["_locks"]
    except KeyError:
        guard = model._guard
    lane = guard.lane
    if lane is not None:
        if type(x) is dict and lane.score is not None:
            score = lane.score(id(x), lane.desk)
            if 0.0 < score < INFINITY:
                return lane.labels[1]
            if -INFINITY < score < 0.0:
                return lane.labels[0]
        found = guard.glance(lane.predict, x)
        if found is not None:
            return found
    if not hasattr(model, "_learner"):
        return None
    scores = scores_of(model, x)
    return model._known().decode(model._learner.predict(scores)).tolist()[0]


def _predicting_lane(model: Supervised, guard: Guard) -> Lane | None:
    """Make the short way for a model that has not learned from single examples."""

    def make() -> Lane | None:
        lane: Lane | None = guard.lane or lane_of(model, learns=False)
        guard.lane = lane
        return lane

    return guard.soon(make)


def score_one(model: Any, x: Any) -> Any:
    """Compute the score of one example.

    Parameters
    ----------
    x : dict, sequence or pair
        As for `predict_one`.

    Returns
    -------
    float or dict
        For two classes a number, positive for `classes_[1]`; for more, the score of each class by its label. In
        regression the predicted value. 0.0 if nothing has been learned yet.
    """
    if not hasattr(model, "_learner"):
        return 0.0
    scores = scores_of(model, x)
    if not hasattr(model, "classes_"):
        return float(model._learner.predict(scores)[0])
    if scores.shape[1] == 1:
        return float(scores[0, 0])
    return dict(zip(model.classes_.tolist(), scores[0].tolist(), strict=True))
