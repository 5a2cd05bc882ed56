"""The weights of a linear model by feature, for people."""

from __future__ import annotations

from collections.abc import Iterator
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from perceptrons.learn.linear.heaviest import heaviest, name_of
from perceptrons.models.guard import reading
from perceptrons.shown import aligned, shown


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

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    AttributeError
        With the voted readout: many hypotheses vote.
    ValueError
        If `feature_names` does not have one name per feature, or `top` is not a whole number ≥ 0.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from perceptrons import Perceptron
    >>> iris = load_iris(as_frame=True)
    >>> model = Perceptron().fit(iris.data, iris.target == 0)
    >>> print(model.feature_weights(top=2))
    feature            label    weight
    petal length (cm)  True   -7.83933
    sepal width (cm)   True   +4.29833
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
