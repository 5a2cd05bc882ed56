"""One example a call, by the names that River uses; `learn_many` and `predict_many` for several dicts."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import ClassifierMixin

from perceptrons.learn.single.example import Example
from perceptrons.learn.single.lane import Caller, Lane, fits, lane_for
from perceptrons.learn.single.names import Names
from perceptrons.models.examples import at_row, check_dict, dicts_of, example_of, examples_of, names_of
from perceptrons.models.guard import Guard, reading

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


def learn_rows(
    model: Supervised,
    example: Example,
    names: Names | None,
    y: Any,
    weight: Any,
    settings: dict[str, Any],
    classes: Any = None,
    predict: bool = False,
) -> Any:
    """Learn from rows that may have new features, which get the names `example.new`.

    With `predict`, returns the label predicted for each row before it was learned.
    """
    fresh = copy.copy(model)
    fresh.n_features_in_ = example.rows.n_features
    if names is not None:
        fresh._names = names
    if example.rows.n_features != vars(model).get("n_features_in_"):  # a pair brings features without names
        if names is None and "feature_names_in_" in vars(model):
            fresh._names = names_of(model)
        fresh.__dict__.pop("feature_names_in_", None)
    rows = example.rows
    try:
        if names is not None:
            names.add(example.new, rows.n_features - len(example.new))
        if hasattr(model, "_learner"):
            rows = model._learner.to_learn(rows, None if names is None else getattr(model, "encoding_", None))
        return model._learn_rows(settings, fresh, rows, y, classes, weight, predict, like=rows.part(0, 1))
    finally:  # after an error or Ctrl-C, too
        known = model.__dict__
        if known.get("n_features_in_") != rows.n_features:
            if getattr(known.get("_learner"), "n_features", 0) == rows.n_features:  # it has been widened
                known.update({name: vars(fresh)[name] for name in ("n_features_in_", "_names") if name in vars(fresh)})
                known.pop("feature_names_in_", None)
            elif names is not None:
                names.cut(rows.n_features - len(example.new))


def learn_one(model: Any, x: Any, y: Any, sample_weight: float | None = None, classes: Any = None) -> Any:
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
    classes : sequence of labels, optional
        Classes that exist from now on, for classifiers. Without it, classes exist from their first example on, and a
        model learns nothing before the second class has come. Passing it once, with the first example, is enough.

    Returns
    -------
    self

    Raises
    ------
    ValueError
        If `x` has missing or infinite values, `y` is not one label, or a parameter needs all rows in advance
        (``early_stopping``, ``class_weight="balanced"``).

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
    own = lane is not None and classes is None and lane.model is model.__dict__  # not that of a shallow copy
    if own and guard.quickly(lane.learn, x, y, sample_weight) is not None:
        return model
    with guard.learning:
        guard.settle()
        settings = _settings(model, classes)
        check_label(model, y)
        example, names = example_of(model, x, grows=True)
        weight = None if sample_weight is None else [sample_weight]
        learn_rows(model, example, names, [y], weight, settings, classes)
        if classes is None and is_plain(x):  # the next call is likely to be short
            shorten(model, settings)
    return model


def is_plain(x: Any) -> bool:
    """Whether the short way reads examples like this one."""
    return type(x) in (dict, np.ndarray) or (type(x) is tuple and type(x[0]) is np.ndarray is type(x[1]))


def shorten(model: Supervised, settings: dict[str, Any]) -> None:
    """Set up the short way for the next examples, after a call that learned with these settings.

    It looks at all weights, so this is not for calls that come again and again.
    """
    lane = model._guard.lane = lane_of(model, learns=True)
    # Parameters that another thread sets after this look drop the lane again, as `__setattr__` does.
    same = model._settings() == settings and not model.early_stopping
    if lane is not None and not (same and vars(model).get("class_weight") is lane.caller.class_weight):
        model._guard.lane = None


def _settings(model: Supervised, classes: Any) -> dict[str, Any]:
    """Return the settings of a model; raise an error if it cannot learn with them."""
    if classes is not None and not isinstance(model, ClassifierMixin):
        raise ValueError(f"classes must be None: {type(model).__name__} predicts numbers, which have no classes")
    return model._check_learning_once(not hasattr(model, "_learner"))


def check_label(model: Supervised, y: Any) -> None:
    """Raise an error if y cannot be the label of one example."""
    if y is None or isinstance(y, list | tuple | dict | set) or getattr(y, "ndim", 0) > 0:
        what = "label" if isinstance(model, ClassifierMixin) else "number"
        many = "" if y is None else ". For several examples, use learn_many or partial_fit"
        raise ValueError(f"y must be one {what}, got {'None' if y is None else type(y).__name__}{many}")


def is_single(X: Any, y: Any) -> bool:
    """Whether X is an array with one row, and y has one label."""
    one_label = len(y) == 1 if type(y) is list else type(y) is np.ndarray and y.shape == (1,)
    return one_label and type(X) is np.ndarray and X.ndim == 2 and len(X) == 1


def learn_row(model: Supervised, X: Any, y: Any, predict: bool) -> Any:
    """Learn from a single row by the short way. Returns what was predicted before, or None if the row was not learned.

    Without `predict`, nothing is predicted, and the array is empty.
    """
    guard: Guard = model.__dict__.get("_locks") or model._guard
    lane = guard.lane
    if lane is None or lane.model is not model.__dict__:
        return None
    return guard.quickly(lane.learn_row, X[0], y[0], predict)


def lane_of(model: Supervised, *, learns: bool) -> Lane | None:
    """The short way for single examples of this model; None if it has none. learns: whether it may learn, too."""
    known = model.__dict__

    def resized(n_features: int, names: Names) -> None:
        known["n_features_in_"], known["_names"] = n_features, names
        known.pop("feature_names_in_", None)

    class_weight = known.get("class_weight")
    if isinstance(class_weight, str):
        return None
    zeros, names = "encoding_" not in known, partial(names_of, model)
    caller = Caller(model._known(), names, resized, model._guard.thread, class_weight, zeros, learns)
    lane = lane_for(model._learner, caller)
    if lane is not None:
        lane.model = known
    if lane is not None and learns:
        lane.mistakes[0] = known.pop("mistakes_")[0]
        known["_mistakes"] = lane.mistakes
    return lane


def learn_many(model: Any, X: Any, y: Any, sample_weight: Any = None, classes: Any = None) -> Any:
    """Learn from several dicts, in their order: the same as `learn_one` of each, but all or none.

    Parameters
    ----------
    X : iterable of dict, or DataFrame of pandas or Polars
        Named features, as for `learn_one`.
    y : sequence of labels
        One for each dict.
    sample_weight : sequence of float, optional
        Weights of the examples.
    classes : sequence of labels, optional
        Classes that exist from now on, as for `learn_one`.

    Returns
    -------
    self

    Raises
    ------
    ValueError
        As for `learn_one`; the message has the number of the dict. Also if X and y have different lengths.
    """
    learn_batch(model, lambda: examples_of(model, dicts_of(X, "learn_one"), grows=True), y, sample_weight, classes)
    return model


def learn_batch(
    model: Any,
    read: Callable[[], tuple[Example, Names | None]],
    y: Any,
    sample_weight: Any = None,
    classes: Any = None,
    predict: bool = False,
) -> Any:
    """Learn from the rows that `read` returns, all or none, and add their features; `predict`: as in `learn_rows`."""
    with model._guard.learning:
        model._guard.settle()
        settings = _settings(model, classes)
        example, names = read()
        return learn_rows(model, example, names, y, sample_weight, settings, classes, predict)


def scores_of(model: Supervised, x: Any) -> Any:
    """The scores of one example, one column for two classes."""
    guard: Guard = model.__dict__.get("_locks") or model._guard
    lane = guard.lane or (_predicting_lane(model, guard) if fits(model._learner) else None)
    found = None if lane is None else guard.glance(lane.scores, x)
    if found is not None:
        return found
    with guard.mine():
        guard.settle()
        (rows, _), names = example_of(model, x, grows=False)
        learner = model._learner
        return learner.decide(learner.scaled(rows, None if names is None else getattr(model, "encoding_", None)))


def predicted(model: Supervised, scores: Any) -> Any:
    """The labels, or values, that scores stand for."""
    found = model._learner.predict(scores)
    return model.classes_[found] if hasattr(model, "classes_") else found


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

    Raises
    ------
    ValueError
        If `x` is a row of another length than the model has features, or has missing or infinite values.
    """
    try:
        guard: Guard = model.__dict__["_locks"]
    except KeyError:
        guard = model._guard
    lane = guard.lane
    if lane is not None and lane.model is model.__dict__:  # not that of a shallow copy
        dicts = lane.dicts
        if type(x) is dict and lane.decides and dicts is not None:
            score = dicts.score(id(x), dicts.score_desk)
            if 0.0 < score < INFINITY:
                return lane.labels[1]
            if -INFINITY < score < 0.0:
                return lane.labels[0]
        found = guard.glance(lane.predict, x)
        if found is not None:
            return found
    if not hasattr(model, "_learner"):
        return None
    return predicted(model, scores_of(model, x)).tolist()[0]


def predict_many(model: Any, X: Any) -> Any:
    """Predict the labels of several dicts: the same as `predict_one` of each.

    Parameters
    ----------
    X : iterable of dict, or DataFrame of pandas or Polars
        As for `learn_many`. Features that the model does not know are ignored.

    Returns
    -------
    ndarray
        Labels, with the type of `classes_`, or in regression numbers. Each is None if nothing has been learned yet.

    Raises
    ------
    ValueError
        If an example is not a dict, or has missing or infinite values. The message has its number.

    Examples
    --------
    >>> from perceptrons import Perceptron
    >>> mails, labels = [{"free": 2, "from": "bank"}, {"lunch": 1, "from": "Eva"}], ["spam", "ham"]
    >>> model = Perceptron().learn_many(mails, labels, classes=["ham", "spam"])
    >>> model.predict_many([{"lunch": 2, "from": "Adam"}, {"from": "bank"}]).tolist()
    ['ham', 'spam']
    """
    dicts, guard = list(dicts_of(X, "predict_one")), model._guard
    for i, x in enumerate(dicts):
        check_dict(x, i, "predict")
    if not hasattr(model, "_learner"):
        return np.full(len(dicts), None)
    lane = guard.lane or _predicting_lane(model, guard)
    if dicts and (lane is None or not lane.reads_dicts or model._learner.readout.by_vote):
        return _predict_rows(model, dicts)

    def one_by_one() -> Any:
        scores = [np.empty((0, 1))]
        for i, x in enumerate(dicts):
            try:
                scores.append(scores_of(model, x))
            except ValueError as error:
                raise at_row(i, error) from None
        return predicted(model, np.concatenate(scores[1:] or scores))

    return guard.alone(one_by_one)


@reading
def _predict_rows(model: Any, dicts: list[Any]) -> Any:
    """Predict the labels of dicts at once: faster if there is no short way for single ones."""
    example, _ = examples_of(model, dicts, grows=False)
    learner = model._learner
    return predicted(model, learner.decide(learner.scaled(example.rows, getattr(model, "encoding_", None))))


def _predicting_lane(model: Supervised, guard: Guard) -> Lane | None:
    """Make the short way for a model that has not learned from single examples; None if it has none."""
    if not fits(model._learner):
        return None

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

    Raises
    ------
    ValueError
        As for `predict_one`.
    """
    if not hasattr(model, "_learner"):
        return 0.0
    scores = scores_of(model, x)
    if not hasattr(model, "classes_"):
        return float(model._learner.predict(scores)[0])
    if scores.shape[1] == 1:
        return float(scores[0, 0])
    return dict(zip(model.classes_.tolist(), scores[0].tolist(), strict=True))
