"""Precision, recall and F1 of entities by type, counted as conlleval and seqeval do.

An entity is the longest run of tokens that belong together. It begins at B, S or U, after a token with E, L, S or U,
after O, and where the type changes. So labels that break their scheme have entities, too. An entity is correct if its
first token, last token and type are. A label without a scheme, such as NN, marks an entity of one token, and the report
then has one row a label.
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

UNTYPED = "_"  # the type of entities whose labels B, I, E, … have none


class Entities(NamedTuple):
    """Entities in the order of their tokens."""

    first: Ints
    last: Ints
    type: Ints  # number of the type


@dataclass(frozen=True)
class Scores:
    """Scores of the entities of one type, or their average. `EntityReport` has several of them.

    Attributes
    ----------
    precision : float
        correct/predicted, or 0 if none is predicted.
    recall : float
        correct/support, or 0 if the gold labels have none.
    f1 : float
        The harmonic mean of precision and recall, or 0 if both are 0.
    support : int
        Number of entities in the gold labels.
    predicted : int
        Number of predicted entities.
    correct : int
        Number of predicted entities that are correct.

    Examples
    --------
    >>> from perceptrons import SequenceTagger
    >>> X, y = [["Eva", "Lang", "and", "Adam"]], [["B-PER", "I-PER", "O", "B-PER"]]
    >>> tagger = SequenceTagger(features="ner-words").fit(X, y)
    >>> tagger.report(X, y).micro
    Scores(precision=1.0, recall=1.0, f1=1.0, support=2, predicted=2, correct=2)
    """

    precision: float
    recall: float
    f1: float
    support: int
    predicted: int
    correct: int


@dataclass(frozen=True)
class EntityReport:
    """Scores of entities by type, and their averages. `SequenceTagger.report` returns it; print it to see a table.

    Attributes
    ----------
    types : dict of str to Scores
        Scores of each type of entity, in alphabetical order.
    micro : Scores
        Scores of all entities together.
    macro : Scores
        The mean over types.
    weighted : Scores
        The mean over types, weighted by support.
    token_accuracy : float
        Share of tokens with the correct label.
    sequence_accuracy : float
        Share of sequences whose labels are all correct.
    n_tokens, n_sequences : int
        Number of tokens and of sequences.

    Examples
    --------
    >>> from perceptrons import SequenceTagger
    >>> X, y = [["Eva", "Lang", "and", "Adam"]], [["B-PER", "I-PER", "O", "B-PER"]]
    >>> tagger = SequenceTagger(features="ner-words").fit(X, y)
    >>> report = tagger.report(X, [["B-PER", "I-PER", "O", "O"]])  # other labels
    >>> print(report)
              precision  recall      f1  support  predicted  correct
    PER          0.5000  1.0000  0.6667        1          2        1
    <BLANKLINE>
    micro        0.5000  1.0000  0.6667        1          2        1
    macro        0.5000  1.0000  0.6667        1          2        1
    weighted     0.5000  1.0000  0.6667        1          2        1
    <BLANKLINE>
    correct: 75.00% of 4 tokens, 0.00% of 1 sequence
    >>> report.types["PER"].recall
    1.0
    """

    types: dict[str, Scores]
    micro: Scores
    macro: Scores
    weighted: Scores
    token_accuracy: float
    sequence_accuracy: float
    n_tokens: int
    n_sequences: int

    def as_dict(self) -> dict[str, Any]:
        """Convert the report to plain data.

        Returns
        -------
        dict
            Ready for JSON.
        """
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
                f"correct: {self.token_accuracy:.2%} of {self.n_tokens:,} token{'' if self.n_tokens == 1 else 's'}, "
                f"{self.sequence_accuracy:.2%} of {self.n_sequences:,} sequence{'' if self.n_sequences == 1 else 's'}",
            ]
        )


def entity_report(
    gold: Codes, gold_labels: Sequence[Any], predicted: Codes, predicted_labels: Sequence[Any], bounds: Bounds
) -> EntityReport:
    """Compare predicted labels of sequences with gold labels.

    Parameters
    ----------
    gold, predicted : ndarray of shape (n_tokens,)
        Codes of labels: positions in `gold_labels` and `predicted_labels`.
    gold_labels, predicted_labels : sequence of str
        The labels.
    bounds : ndarray
        Sequence i has the tokens bounds[i] .. bounds[i + 1].

    Returns
    -------
    EntityReport

    Examples
    --------
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
    correct: 80.00% of 5 tokens, 50.00% of 2 sequences
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
    there, guessed = entities(true, edges, labels, names), entities(guess, edges, labels, names)

    last, type = np.full(len(true), -1), np.full(len(true), -1)  # of the gold entity that begins at a token
    last[there.first], type[there.first] = there.last, there.type
    right = (last[guessed.first] == guessed.last) & (type[guessed.first] == guessed.type)
    support, predictions, correct = (
        np.bincount(types, minlength=len(names)) for types in (there.type, guessed.type, guessed.type[right])
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
    """Find the entities of labelled sequences.

    Parameters
    ----------
    codes : ndarray of shape (n_tokens,)
        Codes of labels: positions in `labels`.
    bounds : ndarray
        Sequence i has the tokens bounds[i] .. bounds[i + 1].
    labels : sequence of str
    names : list of str
        The types, by number.

    Returns
    -------
    Entities

    Examples
    --------
    >>> codes, bounds = np.array([0, 1, 1, 2, 1]), np.array([0, 2, 5])
    >>> entities(codes, bounds, ["B-PER", "I-PER", "O"], ["", "PER"])
    Entities(first=array([0, 2, 4]), last=array([1, 2, 4]), type=array([1, 1, 1]))
    """
    pairs = [_tag_and_type(label) for label in labels]
    tag = np.array([tag for tag, _ in pairs], dtype="<U1")
    number = {name: i for i, name in enumerate(names)}
    types = np.array([number.get(type, -1) for _, type in pairs], dtype=np.int64)
    outside = tag == "O"
    opens = np.isin(tag, ["B", "S"])  # begins an entity, whatever comes before
    closes = np.isin(tag, ["E", "S", "O"])  # ends an entity, whatever comes after

    first_token = np.zeros(len(codes) + 1, dtype=bool)
    first_token[bounds] = True
    type = types[codes]
    begins = first_token[:-1] | opens[codes]
    begins[1:] |= closes[codes[:-1]] | (type[:-1] != type[1:])
    begins &= ~outside[codes]
    # An entity ends before the next one begins, before O, and at the end of a sequence.
    ends = first_token[1:].copy()
    ends[:-1] |= begins[1:] | outside[codes[1:]]
    ends &= ~outside[codes]
    first = np.flatnonzero(begins)
    return Entities(first, np.flatnonzero(ends), type[first])


def _tag_and_type(label: Any) -> tuple[str, str]:
    """Split a label into one of B, I, E, S, O and a type; L means the same as E, and U the same as S."""
    prefix, type = parts(label)
    if prefix == "":
        return "S", type
    return {"L": "E", "U": "S"}.get(prefix, prefix), type or UNTYPED


def _share(part: Any, whole: Any) -> float:
    return float(part) / float(whole) if whole else 0.0


def _scores(correct: Any, predicted: Any, support: Any) -> Scores:
    precision, recall = _share(correct, predicted), _share(correct, support)
    f1 = _share(2 * precision * recall, precision + recall)
    return Scores(precision, recall, f1, int(support), int(predicted), int(correct))


def _mean(rows: list[Scores], weights: npt.NDArray[Any], micro: Scores) -> Scores:
    """Average scores over types; the counts are those of all entities, as in `micro`."""
    total = weights.sum()
    precision, recall, f1 = (
        _share(sum(weight * share for weight, share in zip(weights, column, strict=True)), total)
        for column in ([row.precision for row in rows], [row.recall for row in rows], [row.f1 for row in rows])
    )
    return replace(micro, precision=precision, recall=recall, f1=f1)
