"""Limits on what a model may become: an example that would make it larger is refused before it is learned."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from sklearn.base import ClassifierMixin

from perceptrons.models.examples import names_of
from perceptrons.serve.errors import Refused
from perceptrons.serve.limits import Limits
from perceptrons.serve.model.bulk import NUMBERS, Part, check_labels, label_kind, names_in


class Room:
    """What a model may become.

    `classes`: those that exist before their first example. `labels`: the classes that the model has, or will have once
    it has learned all examples.
    """

    def __init__(self, limits: Limits, classes: list[Any] | None = None) -> None:
        self.limits = limits
        self.labels: set[Any] = set(classes or ())

    def check(self, model: Any, x: Any, y: Any) -> None:
        """Refuse an example that would make the model too large, or whose label does not fit."""
        self.check_labels(model, (y,))
        n_classes, limits = len(self.labels), self.limits
        if y not in self.labels and isinstance(model, ClassifierMixin):
            n_classes += 1
            if n_classes > limits.classes:
                raise Refused(422, f"the label {y!r:.80} would be class {n_classes:,}: the limit is {limits.classes:,}")
        width = model.__dict__.get("n_features_in_", 0)
        if type(x) is dict:
            if width + len(x) > min(limits.features, limits.weights // max(1, n_classes)):
                width += len(names_in(x) - known_names(model).keys())
        elif type(x) is tuple:
            width = max(width, int(x[0].max()) + 1 if x[0].size and x[0].dtype.kind in "iu" else 0)
        else:
            width = max(width, len(x))
        self.check_width(width, n_classes)

    def check_labels(self, model: Any, labels: Collection[Any]) -> None:
        """Refuse labels that this model cannot learn. Regressors learn numbers; classifiers, labels of one type."""
        check_labels(labels)
        found = next((label_kind(y) for y in labels), NUMBERS)
        if isinstance(model, ClassifierMixin):
            expected = next((label_kind(y) for y in self.labels), found)
            who = "the model has classes that are"
        else:
            expected, who = NUMBERS, "a regressor learns"
        if found != expected:
            example = next(iter(labels))
            raise Refused(422, f"labels must be {expected}, got {example!r:.80}: {who} {expected}")

    def check_width(self, width: int, n_classes: int) -> None:
        """Refuse a number of features that is too large."""
        most = min(self.limits.features, self.limits.weights // max(1, n_classes))
        if width > most:
            classes = f" with {n_classes:,} classes" if most < self.limits.features else ""
            raise Refused(422, f"the model would have {width:,} features: the limit is {most:,}{classes}")

    def check_parts(self, model: Any, parts: list[Part]) -> None:
        """Refuse examples that would make the model too large."""
        new, labels, known = set[str](), set(self.labels), known_names(model)
        width = model.__dict__.get("n_features_in_", 0)
        for part in parts:
            found = part.labels(model)
            self.check_labels(model, found)
            new |= part.new_names(known)
            width = max(width, part.width or 0)
            if isinstance(model, ClassifierMixin):
                labels |= set(found)
        if len(labels) > self.limits.classes:
            raise Refused(422, f"the model would have {len(labels):,} classes: the limit is {self.limits.classes:,}")
        self.check_width(width + len(new), len(labels))

    def add(self, model: Any, y: Any) -> None:
        """Note the class of an example. Regressors have no classes."""
        if isinstance(model, ClassifierMixin):
            self.labels.add(y)

    def note(self, model: Any) -> None:
        """Take over the classes of a model."""
        if hasattr(model, "classes_"):
            self.labels = set(model.classes_.tolist())


def known_names(model: Any) -> dict[Any, int]:
    """The numbers of features by name; none if the features have no names."""
    try:
        return names_of(model).numbers
    except ValueError:
        return {}
