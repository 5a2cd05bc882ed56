"""What each feature contributes to the score of one example, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from perceptrons.data.arrays import Rows
from perceptrons.learn.linear.contributions import direction, explained, in_values, runner_up
from perceptrons.learn.linear.heaviest import name_of
from perceptrons.learn.stream import fitting
from perceptrons.models.examples import example_of, is_pair, names_of
from perceptrons.models.guard import reading
from perceptrons.shown import aligned, count, shown

SHOWN = 20  # the most features that a printed table has


class Contribution(NamedTuple):
    """One term of a score: contribution = weight·scaled."""

    feature: str
    value: float
    scaled: float  # the value on the scale of training; equal to `value` if the model scales no features
    weight: float
    contribution: float


class Explanation:
    """The contributions to a score, the largest first. Print it, iterate over it, or turn it into a data frame.

    Attributes
    ----------
    score : float
        What is explained: the sum of all contributions and the intercept, up to rounding errors.
    intercept : float
        The part of the score that does not depend on the example.
    label : label or None
        The class that positive contributions speak for; None in regression.
    against : label or None
        The class whose score is subtracted, if there is one.
    unknown : list of str
        Features of the example that the model does not know. They contribute nothing.
    """

    def __init__(
        self,
        contributions: list[Contribution],
        score: float,
        intercept: float,
        label: Any = None,
        against: Any = None,
        unknown: list[str] | None = None,
        title: str = "score",
        scaled: bool = False,
    ) -> None:
        self.contributions, self.score, self.intercept = contributions, score, intercept
        self.label, self.against, self.unknown = label, against, unknown or []
        self.title, self.scaled = title, scaled

    def __len__(self) -> int:
        return len(self.contributions)

    def __iter__(self) -> Iterator[Contribution]:
        return iter(self.contributions)

    def __getitem__(self, number: int) -> Contribution:
        return self.contributions[number]

    def to_frame(self) -> Any:
        """Return the contributions as a table.

        Returns
        -------
        pandas.DataFrame
            With the columns feature, value, weight and contribution; and scaled, if the model scales its features.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "to_frame needs pandas: pip install pandas. Without it, iterate over the table"
            ) from error
        frame = pd.DataFrame(self.contributions, columns=list(Contribution._fields))
        return frame if self.scaled else frame.drop(columns="scaled")

    def __repr__(self) -> str:
        return str(self)

    def __str__(self) -> str:
        first, rest = self.contributions[:SHOWN], self.contributions[SHOWN:]
        names, amounts = [shown(each.feature) for each in first], [each.contribution for each in first]
        if rest:
            names.append(f"({count(len(rest), 'other feature')})")
            amounts.append(float(np.sum([each.contribution for each in rest])))
        names, amounts = [*names, "(bias)", "sum"], [*amounts, self.intercept, self.score]
        values = [[f"{each.value:.6g}" for each in first], [f"{each.scaled:.6g}" for each in first]]
        numbers = {
            **dict(zip(("value", "scaled") if self.scaled else ("value",), values, strict=False)),
            "weight": aligned([each.weight for each in first]),
            "contribution": aligned(amounts),
        }
        columns = [["feature", *names]]
        columns += [[name, *texts, *[""] * (len(names) - len(texts))] for name, texts in numbers.items()]
        a, *others = (max(map(len, column)) for column in columns)
        lines = [
            "  ".join([f"{cells[0]:<{a}}", *(f"{cell:>{wide}}" for cell, wide in zip(cells[1:], others, strict=True))])
            for cells in zip(*columns, strict=True)
        ]
        return "\n".join([self.title, *lines])


@reading
def explain_one(model: Any, x: Any, label: Any = None) -> Explanation:
    """List what each feature contributes to the score of one example, the largest first, whatever its sign.

    Parameters
    ----------
    x : dict, sequence or pair
        As for `predict_one`. Features that the model does not know are left out.
    label : label, optional
        The class whose score is explained. By default, for two classes ``classes_[1]``; for more, the predicted class
        against the runner-up: its score minus the second largest.

    Returns
    -------
    Explanation
        Tuples (feature, value, scaled, weight, contribution) of all features that contribute, with the attributes
        `score`, `intercept`, `label`, `against` and `unknown`. The contributions and the intercept add up to the score,
        which is that of `score_one`; in regression, to the predicted value.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    AttributeError
        With the voted readout: many hypotheses vote.
    ValueError
        If `label` is not one of the classes, or is given in regression.

    Examples
    --------
    >>> from perceptrons import Perceptron
    >>> model = Perceptron(readout="last").learn_one({"free": 2, "from": "bank"}, "spam")
    >>> model = model.learn_one({"lunch": 1, "free": 1}, "ham").learn_one({"free": 3, "from": "bank"}, "spam")
    >>> print(model.explain_one({"free": 2, "from": "bank", "now": 1}))
    score: above 0 means spam
    feature    value  weight  contribution
    free           2      +2            +4
    from=bank      1      +1            +1
    (bias)                              +0
    sum                                 +5
    >>> model.explain_one({"now": 1}).unknown
    ['now']
    """
    check_is_fitted(model)
    (row, _), named = example_of(model, x, grows=False)
    told = _explained(model, row, None if named is None else getattr(model, "encoding_", None), label)
    told.unknown = _unknown(model, x)
    return told


@reading
def explain_row(model: Any, row: Rows, encoding: Any, label: Any = None) -> Explanation:
    """Explain the score of a row of a table that was read with the encoding of the model."""
    return _explained(model, fitting(row, model.n_features_in_), encoding, label)


def _explained(model: Any, row: Rows, encoding: Any, label: Any) -> Explanation:
    learner = model._learner
    if learner.readout.by_vote:
        raise AttributeError(f"readout={learner.readout.name!r} has no contributions of features: many hypotheses vote")
    return (_of_class if hasattr(model, "classes_") else _of_value)(model, row, encoding, label)


def _of_value(model: Any, row: Rows, encoding: Any, label: Any) -> Explanation:
    """Explain a predicted value."""
    if label is not None:
        raise ValueError(f"label must be None in regression, which has no classes; got {label!r:.80}")
    learner = model._learner
    score = float(learner.predict(learner.decide(learner.scaled(row, encoding)))[0])
    return _told(model, in_values(learner, row, encoding), score, title="predicted value")


def _of_class(model: Any, row: Rows, encoding: Any, label: Any) -> Explanation:
    """Explain the score of a class: the one with this label, or the predicted one against the runner-up."""
    learner, classes = model._learner, model.classes_.tolist()
    scores = learner.decide(learner.scaled(row, encoding))
    if label is not None and label not in classes:
        known = ", ".join(map(repr, classes[:5])) + (", …" if len(classes) > 5 else "")
        raise ValueError(f"label {label!r:.80} is not one of the classes: {known}")
    of = None if label is None else classes.index(label)
    if len(classes) <= 2:  # one score, that of the second class
        of = len(classes) - 1 if of is None else of
        against, positive = None, of == len(classes) - 1
        weights, score = direction(learner, int(positive)), float(scores[0, 0]) * (1.0 if positive else -1.0)
        title = f"score: above 0 means {shown(classes[of])}"
    elif of is not None:
        against, weights, score = None, direction(learner, of), float(scores[0, of])
        title = f"score of {shown(classes[of])}"
    else:
        of = int(learner.predict(scores)[0])
        against = runner_up(scores[0], of)
        weights, score = direction(learner, of, against), float(scores[0, of]) - float(scores[0, against])
        title = f"score of {shown(classes[of])} minus score of {shown(classes[against])}, the runner-up"
    found = _told(model, explained(learner, row, weights, encoding), score, title)
    found.label, found.against = classes[of], None if against is None else classes[against]
    return found


def _told(model: Any, found: Any, score: float, title: str) -> Explanation:
    """An explanation with the names of features."""
    own = vars(model).get("_names")  # of dicts: an array of all names need not be made
    names = None if own is not None else getattr(model, "feature_names_in_", None)
    encoding = getattr(model, "encoding_", None)

    def name(j: int) -> str:
        return own.texts.get(j, f"x{j}") if own is not None else name_of(j, names, encoding) or f"x{j}"

    terms = [Contribution(name(j), *numbers) for j, *numbers in found.terms]
    return Explanation(terms, score, found.intercept, title=title, scaled=model._learner.scaling is not None)


def _unknown(model: Any, x: Any) -> list[str]:
    """The features of an example that a model does not know."""
    n_features = model.n_features_in_
    if not isinstance(x, Mapping) and hasattr(x, "to_dict") and hasattr(x, "index"):
        x = x.to_dict()  # a row of a data frame
    if isinstance(x, Mapping):
        names = names_of(model)
        texts = (f"{key}={given}" if isinstance(given, str) else str(key) for key, given in x.items())
        return [text for text in texts if names.find(text, n_features) is None]
    return [f"x{j}" for j in np.asarray(x[0]).tolist() if j >= n_features] if is_pair(x) else []
