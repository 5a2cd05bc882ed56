"""How well entities are found: precision, recall and F1 by type, as conlleval and seqeval count them.

An entity is a longest run of tokens that its labels hold together: it begins at B, S or U, after an entity that E, L,
S or U ended, after O, and wherever the type changes. So a sequence that breaks its scheme has entities too. An
entity is right if its first token, its last token and its type are. A label of no scheme, such as NN, marks an entity
of one token; then the rows of the report are those of the labels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perceptrons.learn.sequence.schemes import Bounds, Codes, parts

Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]

UNTYPED = "_"  # what entities of the labels B, I, E, … without a type are called


class Entities(NamedTuple):
    """Entities in the order of their tokens."""

    first: Ints
    last: Ints
    kind: Ints  # number of the type


@dataclass(frozen=True)
class Scores:
    """precision = correct/predicted, recall = correct/support, F1 their harmonic mean; 0 where there is none."""

    precision: float
    recall: float
    f1: float
    support: int  # entities in the gold labels
    predicted: int
    correct: int


@dataclass(frozen=True)
class EntityReport:
    """Scores by type and their averages. `str` of it is a table.

    micro: of all entities together. macro: the mean over types. weighted: the mean over types, by support.
    """

    types: dict[str, Scores]
    micro: Scores
    macro: Scores
    weighted: Scores
    token_accuracy: float
    sequence_accuracy: float  # share of sequences all of whose labels are right
    n_tokens: int
    n_sequences: int

    def as_dict(self) -> dict[str, Any]:
        """The report as numbers under names, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        width = max(map(len, [*self.types, "weighted"]))

        def line(name: str, row: Scores) -> str:
            shares = f"{row.precision:9.4f}  {row.recall:6.4f}  {row.f1:6.4f}"
            return f"{name:{width}}  {shares}  {row.support:7}  {row.predicted:9}  {row.correct:7}"

        return "\n".join(
            [
                f"{'':{width}}  precision  recall      f1  support  predicted  correct",
                *(line(name, row) for name, row in self.types.items()),
                "",
                *(line(name, getattr(self, name)) for name in ("micro", "macro", "weighted")),
                "",
                f"right: {self.token_accuracy:.2%} of {self.n_tokens:,} tokens, "
                f"{self.sequence_accuracy:.2%} of {self.n_sequences:,} sequences",
            ]
        )


def entity_report(
    gold: Codes, gold_labels: Sequence[Any], predicted: Codes, predicted_labels: Sequence[Any], bounds: Bounds
) -> EntityReport:
    """Compare two labellings of the same sequences; codes are numbers in their own list of labels.

    >>> gold = np.array([0, 1, 2, 0, 2], dtype=np.uint32)
    >>> predicted = np.array([0, 1, 2, 2, 2], dtype=np.uint32)
    >>> labels = ["B-PER", "I-PER", "O"]
    >>> print(entity_report(gold, labels, predicted, labels, np.array([0, 3, 5], dtype=np.uint64)))
              precision  recall      f1  support  predicted  correct
    PER          1.0000  0.5000  0.6667        2          1        1
    <BLANKLINE>
    micro        1.0000  0.5000  0.6667        2          1        1
    macro        1.0000  0.5000  0.6667        2          1        1
    weighted     1.0000  0.5000  0.6667        2          1        1
    <BLANKLINE>
    right: 80.00% of 5 tokens, 50.00% of 2 sequences
    """
    numbers: dict[Any, int] = {}
    gold_numbers, predicted_numbers = (
        np.array([numbers.setdefault(label, len(numbers)) for label in labels], dtype=np.int64)
        for labels in (gold_labels, predicted_labels)
    )
    true, guess = gold_numbers[gold], predicted_numbers[predicted]
    labels = list(numbers)
    names = sorted({_tag_and_type(label)[1] for label in labels})
    edges = np.asarray(bounds, dtype=np.int64)
    ours, theirs = entities(true, edges, labels, names), entities(guess, edges, labels, names)

    last, kind = np.full(len(true), -1), np.full(len(true), -1)  # of the gold entity that begins at a token
    last[ours.first], kind[ours.first] = ours.last, ours.kind
    right = (last[theirs.first] == theirs.last) & (kind[theirs.first] == theirs.kind)
    support, predictions, correct = (
        np.bincount(kinds, minlength=len(names)) for kinds in (ours.kind, theirs.kind, theirs.kind[right])
    )
    present = np.flatnonzero(support + predictions)
    support, predictions, correct = support[present], predictions[present], correct[present]

    same = true == guess
    wrong = np.concatenate([[0], (~same).cumsum()])
    whole = wrong[edges[1:]] == wrong[edges[:-1]]
    rows = [_scores(*counts) for counts in zip(correct, predictions, support, strict=True)]
    micro = _scores(correct.sum(), predictions.sum(), support.sum())
    return EntityReport(
        types={names[number]: row for number, row in zip(present, rows, strict=True)},
        micro=micro,
        macro=_mean(rows, np.ones(len(rows)), micro),
        weighted=_mean(rows, support, micro),
        token_accuracy=_share(same.sum(), len(same)),
        sequence_accuracy=_share(whole.sum(), len(whole)),
        n_tokens=len(same),
        n_sequences=len(whole),
    )


def entities(codes: npt.NDArray[Any], bounds: npt.NDArray[Any], labels: Sequence[Any], names: list[str]) -> Entities:
    """Entities of labelled sequences; `names` are the types, by number.

    >>> codes, bounds = np.array([0, 1, 1, 2, 1]), np.array([0, 2, 5])
    >>> entities(codes, bounds, ["B-PER", "I-PER", "O"], ["", "PER"])
    Entities(first=array([0, 2, 4]), last=array([1, 2, 4]), kind=array([1, 1, 1]))
    """
    pairs = [_tag_and_type(label) for label in labels]
    tag = np.array([tag for tag, _ in pairs], dtype="<U1")
    number = {name: i for i, name in enumerate(names)}
    kinds = np.array([number.get(kind, -1) for _, kind in pairs], dtype=np.int64)
    outside = tag == "O"
    opens = np.isin(tag, ["B", "S"])  # whatever was before it
    closes = np.isin(tag, ["E", "S", "O"])  # whatever comes after it

    first_token = np.zeros(len(codes) + 1, dtype=bool)
    first_token[bounds] = True
    kind = kinds[codes]
    begins = first_token[:-1] | opens[codes]
    begins[1:] |= closes[codes[:-1]] | (kind[:-1] != kind[1:])
    begins &= ~outside[codes]
    # Between two tokens an entity ends where the next one begins, before O, and where a sequence ends.
    ends = first_token[1:].copy()
    ends[:-1] |= begins[1:] | outside[codes[1:]]
    ends &= ~outside[codes]
    first = np.flatnonzero(begins)
    return Entities(first, np.flatnonzero(ends), kind[first])


def _tag_and_type(label: Any) -> tuple[str, str]:
    """A label as one of B, I, E, S, O and a type: L ends an entity as E does, and U is one as S is."""
    prefix, kind = parts(label)
    if prefix == "":
        return "S", kind
    return {"L": "E", "U": "S"}.get(prefix, prefix), kind or UNTYPED


def _share(part: Any, whole: Any) -> float:
    return float(part) / float(whole) if whole else 0.0


def _scores(correct: Any, predicted: Any, support: Any) -> Scores:
    precision, recall = _share(correct, predicted), _share(correct, support)
    f1 = _share(2 * precision * recall, precision + recall)
    return Scores(precision, recall, f1, int(support), int(predicted), int(correct))


def _mean(rows: list[Scores], weights: npt.NDArray[Any], micro: Scores) -> Scores:
    """Means over types; counts are those of all entities, as in `micro`."""
    total = weights.sum()
    precision, recall, f1 = (
        _share(sum(weight * share for weight, share in zip(weights, column, strict=True)), total)
        for column in ([row.precision for row in rows], [row.recall for row in rows], [row.f1 for row in rows])
    )
    return replace(micro, precision=precision, recall=recall, f1=f1)
