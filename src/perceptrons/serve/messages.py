"""What requests and answers hold. The description at /openapi.json is made from these types."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, Raw, Struct, UnsetType, json

Label = str | float | int | bool


class Example(Struct, forbid_unknown_fields=True):
    """One example. `x`: named features, a row of numbers, or a pair [indices, values]; `y`: its label."""

    x: dict[str, Any] | list[Any]
    y: Label | UnsetType = UNSET
    id: str | UnsetType = UNSET


class Examples(Struct, forbid_unknown_fields=True):
    """Several examples, which are learned in their order, all or none."""

    examples: list[Example]


class Record(Struct, omit_defaults=True):
    """A line of the log: one example, or several. `given`: what was predicted for it, if the client was told."""

    x: dict[str, Any] | list[Any] | UnsetType = UNSET
    y: Label | UnsetType = UNSET
    id: str | UnsetType = UNSET
    given: Label | UnsetType | None = UNSET
    examples: list[Example] | UnsetType = UNSET


class RawRecord(Struct, omit_defaults=True):
    """A line of the log whose `x` is JSON already."""

    x: Raw
    y: Label
    id: str | UnsetType = UNSET
    given: Label | UnsetType | None = UNSET


class RawExample(Struct, forbid_unknown_fields=True):
    """An example whose `x` is kept as it was sent."""

    x: Raw
    y: Label | UnsetType = UNSET
    id: str | UnsetType = UNSET


class Labelled(Struct, forbid_unknown_fields=True):
    """The label of an earlier prediction."""

    id: str
    y: Label


class Explain(Struct, forbid_unknown_fields=True):
    """An example to explain, and the class whose score is explained, if not the usual one."""

    x: dict[str, Any] | list[Any]
    label: Label | None = None


class Create(Struct, forbid_unknown_fields=True):
    """A new model. `classes`: classes that exist before their first example.

    `snapshot_every`: after how many examples a snapshot is written. `keep`: how many positions of the log are kept, at
    least, when a snapshot is written; null keeps all. `window`: examples in the window of mistakes. `delta`: how
    readily drift is reported.
    """

    estimator: str = "Perceptron"
    params: dict[str, Any] = {}
    classes: list[Label] | None = None
    snapshot_every: int = 100_000
    keep: int | None = None
    window: int = 1000
    delta: float = 0.002


class Position(Struct, forbid_unknown_fields=True):
    """A position of the log: how many requests had been learned."""

    position: int


class Replay(Struct, forbid_unknown_fields=True):
    """A position of the log, and examples to predict with the model as it was there."""

    position: int
    examples: list[Example] = []


# -- answers --------------------------------------------------------------------------------------------------


class Predicted(Struct, omit_defaults=True):
    """A prediction; null if nothing has been learned yet.

    `score`: for two classes a number, positive for the second; else the score of each class. `ask`: whether the label
    is worth having.
    """

    prediction: Label | None
    score: float | dict[str, float] | UnsetType = UNSET
    ask: bool | UnsetType = UNSET
    ask_probability: float | UnsetType = UNSET


class ManyPredicted(Struct, omit_defaults=True):
    """Predictions, in the order of the examples."""

    predictions: list[Label | None]
    scores: list[Any] | UnsetType = UNSET


class Learned(Struct):
    """`position`: that of this request in the log. `mistakes`: how many of these examples were predicted wrong."""

    position: int
    learned: int
    mistakes: int


class PredictedLearned(Struct):
    """What was predicted before the example was learned, and whether that was wrong."""

    prediction: Label | None
    mistake: bool
    position: int


class ManyPredictedLearned(Struct):
    """What was predicted for each example before it was learned, and how many of these predictions were wrong.

    The current hypothesis predicts, whatever the readout, as in `predict_then_learn`.
    """

    predictions: list[Label | None]
    mistakes: int
    position: int


class Window(Struct):
    """Mistakes among the last examples."""

    size: int
    seen: int
    mistakes: int
    rate: float | None


class Drift(Struct):
    """How often the mistake rate rose (ADWIN), and at which position last; the rate since, and over how many."""

    found: int
    position: int | None
    rate: float | None
    examples: int


class State(Struct):
    """A model as it is. Names that estimators have, too, mean the same."""

    name: str
    estimator: str
    params: dict[str, Any]
    n_seen: int
    n_mistakes: int
    n_updates: int
    n_features: int
    classes: list[Label] | None
    position: int
    durable: int
    snapshot: int
    oldest: int
    examples_logged: int
    window: Window
    drift: Drift
    pending: int
    queue: int
    snapshot_every: int
    keep: int | None
    broken: str | None


class Models(Struct):
    """All models."""

    models: list[State]


class Replayed(Struct):
    """A model as it was at a position, and its predictions."""

    position: int
    n_seen: int
    n_mistakes: int
    n_updates: int
    n_features: int
    classes: list[Label] | None
    predictions: list[Label | None]


class Term(Struct):
    """What one feature contributes to the score: its scaled value times its weight."""

    feature: str
    value: float
    scaled: float
    weight: float
    contribution: float


class Explained(Struct):
    """The contributions to a score, the largest first. Positive ones speak for `label`."""

    score: float
    intercept: float
    label: Label | None
    against: Label | None
    unknown: list[str]
    contributions: list[Term]


class Failure(Struct):
    """What is wrong, and what to do."""

    error: str


encode = json.Encoder().encode
read_example = json.Decoder(Example).decode
read_raw = json.Decoder(RawExample).decode
read_record = json.Decoder(Record).decode
