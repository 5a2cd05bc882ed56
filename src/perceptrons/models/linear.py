"""Shared by the linear models: initial weights, learned weights, and a table of them for people."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from perceptrons.data.arrays import Rows
from perceptrons.learn.linear.heaviest import heaviest, name_of
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.models.guard import reading
from perceptrons.models.supervised import Start, Supervised
from perceptrons.shown import aligned, shown

Floats = npt.NDArray[np.float64]
L = TypeVar("L", bound=Supervised)


def new_learner(model: Supervised, settings: dict[str, Any], rows: Rows, n_classes: int) -> LinearLearner:
    """An untrained learner for rows like these."""
    return LinearLearner(**settings, n_features=rows.n_features, n_classes=n_classes, dense=rows.indices is None)


# -- initial weights ------------------------------------------------------------------------------------------


def start(coef: Any, intercept: Any, *, random: bool = False) -> Start | None:
    """A function that sets the initial weights: given, in the shapes of `coef_` and `intercept_`, or random."""
    given = coef is not None or intercept is not None

    def set_start(learner: LinearLearner, generator: np.random.RandomState) -> None:
        if given:
            learner.set_start(_given(learner, coef, intercept))
        else:
            w: Floats = generator.standard_normal(learner.current.shape)
            w[-1] *= learner.bias > 0.0
            learner.set_start(w)

    return set_start if given or random else None


def _given(learner: LinearLearner, coef: Any, intercept: Any) -> Floats:
    """Weights in the layout of the learner: those given, else the learner's own."""
    w = np.copy(learner.current)
    lines = 1 if w.ndim == 1 else w.shape[1]
    for name, given, part in (("coef_init", coef, slice(-1)), ("intercept_init", intercept, slice(-1, None))):
        if given is None:
            continue
        given, target = np.asarray(given, dtype=np.float64), w[part]
        right = (lines, target.size // lines) if name == "coef_init" else (lines,)
        if given.shape != right and not (lines == 1 and given.shape in (right[1:], (1,))):
            expected = f"({lines}, {len(w) - 1})" if name == "coef_init" else f"({lines},)"
            raise ValueError(f"{name} must be of shape {expected}, got {given.shape}")
        if not np.isfinite(given).all():
            raise ValueError(f"{name} must be finite, got NaN or infinity")
        if name == "intercept_init" and learner.bias == 0.0 and given.any():
            raise ValueError("intercept_init must be 0 with fit_intercept=False")
        scale = learner.bias or 1.0 if name == "intercept_init" else 1.0  # b = c·(the last weight)
        target[:] = given.reshape(lines, -1).T.reshape(target.shape) / scale
    if not learner.on_raw_scale:  # what is given is for rows, and values, as users have them
        w[:-1], offset = learner.of_units(w[:-1], w[-1:].ravel() * learner.bias)
        w[-1:] = (offset / (learner.bias or 1.0)).reshape(w[-1:].shape)
    return w


# -- learned weights ------------------------------------------------------------------------------------------


def per_unit(model: Supervised) -> tuple[Floats, Floats]:
    """Weights and offsets of the readout, one line per weight vector."""
    check_is_fitted(model)
    learner: LinearLearner = model._learner
    if learner.readout.by_vote:
        raise AttributeError(f"readout={learner.readout.name!r} has no coef_ and no intercept_: many hypotheses vote")
    w, offset = learner.per_unit(learner.weights)
    return np.asarray(w[np.newaxis] if w.ndim == 1 else w.T), offset


coef_ = property(
    reading(lambda model: per_unit(model)[0].copy()),
    doc="Weights of the features, of shape (1, n_features) or (n_classes, n_features).",
)
intercept_ = property(
    reading(lambda model: per_unit(model)[1].copy()),
    doc="Bias, of shape (1,) or (n_classes,): the weight of the constant feature, times its value.",
)


@reading
def normalized(model: L) -> L:
    """Scale the model to ‖w‖ = 1: decision values are then signed distances from the boundary.

    Returns
    -------
    estimator
        A copy that predicts the same.
    """
    check_is_fitted(model)
    coef, _ = per_unit(model)
    largest = float(np.abs(coef).max())
    if largest == 0.0:
        raise ValueError("all weights are 0: there is no boundary, and nothing to normalize")
    model = copy.deepcopy(model)
    model._learner.scale(1.0 / largest)  # first, so that no square overflows
    model._learner.scale(1.0 / float(np.linalg.norm(coef / largest)))
    return model


# -- a table of weights ---------------------------------------------------------------------------------------


class Weight(NamedTuple):
    """The weight of a feature for a class, or in regression, where the label is None."""

    feature: str
    label: Any
    weight: float


class FeatureWeights:
    """Weights by feature and class, the largest first. Print it, iterate over it, or turn it into a data frame."""

    def __init__(self, weights: list[Weight], *, labelled: bool = True) -> None:
        self.weights, self.labelled = weights, labelled

    def __len__(self) -> int:
        return len(self.weights)

    def __iter__(self) -> Iterator[Weight]:
        return iter(self.weights)

    def __getitem__(self, number: int) -> Weight:
        return self.weights[number]

    def to_frame(self) -> Any:
        """Return the weights as a table.

        Returns
        -------
        pandas.DataFrame
            With the columns feature, label and weight; in regression without labels.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "to_frame needs pandas: pip install pandas. Without it, iterate over the table"
            ) from error
        frame = pd.DataFrame(self.weights, columns=list(Weight._fields))
        return frame if self.labelled else frame.drop(columns="label")

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        numbers = aligned([each.weight for each in self])
        cells = [(shown(each.feature), shown(each.label), text) for each, text in zip(self, numbers, strict=True)]
        a, b, c = (max(map(len, column)) for column in zip(Weight._fields, *cells, strict=True))
        if not self.labelled:
            return "\n".join(f"{x:<{a}}  {z:>{c}}" for x, _, z in (Weight._fields, *cells))
        return "\n".join(f"{x:<{a}}  {y:<{b}}  {z:>{c}}" for x, y, z in (Weight._fields, *cells))


@reading
def feature_weights(model: Any, feature_names: Any = None, top: int | None = None) -> FeatureWeights:
    """List the weights of the features by name: what speaks for a class, and what against it.

    Parameters
    ----------
    feature_names : array-like of shape (n_features,), optional
        Names of the features, for instance ``pipeline[:-1].get_feature_names_out()``. By default, the columns of the
        data frame or table that the model was fitted on, else x0, x1, ….
    top : int, optional
        Number of features for each class. By default, all whose weight is not 0.

    Returns
    -------
    FeatureWeights
        Triples (feature, label, weight), class by class, and within a class by the size of the weight. Two classes
        share one weight vector: a positive weight speaks for the label in the table, ``classes_[1]``, a negative one
        for the other. In regression there are no labels: a weight is what one unit of the feature adds to the value.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from perceptrons import Perceptron
    >>> iris = load_iris(as_frame=True)
    >>> model = Perceptron().fit(iris.data, iris.target == 0)
    >>> print(model.feature_weights(top=2))
    feature            label    weight
    petal length (cm)  True   -8.00000
    sepal width (cm)   True   +4.40000
    """
    check_is_fitted(model)
    coef, names = np.atleast_2d(model.coef_), getattr(model, "feature_names_in_", None)
    if feature_names is not None:
        names = np.asarray(feature_names)
        if names.shape != (coef.shape[1],):
            raise ValueError(f"feature_names must be {coef.shape[1]} names, one per feature, got shape {names.shape}")
    if top is not None and (not isinstance(top, Integral) or top < 0):
        raise ValueError(f"top must be a whole number >= 0, or None for all, got {top!r}")
    encoding, labelled = getattr(model, "encoding_", None), hasattr(model, "classes_")
    labels = model.classes_.tolist()[-len(coef) :] if labelled else [None]
    return FeatureWeights(
        [
            Weight(name_of(j, names, encoding) or f"x{j}", label, float(line[j]))
            for label, line in zip(labels, coef, strict=True)
            for j in heaviest(line, top)
        ],
        labelled=labelled,
    )
