"""Entities are counted as conlleval and seqeval count them, and schemes allow what they say."""

import json
from itertools import pairwise, product

import naive_sequences
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perceptrons.learn.sequence.schemes import SCHEMES, allowed, obeys, parts, recognised
from perceptrons.metrics.entities import EntityReport, entity_report

LABELS = [*(f"{prefix}-{kind}" for prefix in "BILUES" for kind in ("A", "B-C")), "B", "I", "E", "S", "O"]
labellings = st.lists(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), max_size=6), max_size=5)


def coded(sequences):
    """Codes, labels by number, and bounds."""
    labels = sorted({label for sequence in sequences for label in sequence})
    codes = np.array([labels.index(label) for sequence in sequences for label in sequence], dtype=np.uint32)
    return codes, labels, np.cumsum([0, *map(len, sequences)]).astype(np.uint64)


def reported(gold, predicted) -> EntityReport:
    """Both labellings have numbers of their own: the model need not know the labels that are true."""
    codes, labels, bounds = coded(gold)
    return entity_report(codes, labels, *coded(predicted)[:2], bounds)


def shares(row):
    return row.precision, row.recall, row.f1


# -- entities ---------------------------------------------------------------------------------------------------------


@given(labellings)
def test_the_report_is_that_of_the_definition(pairs):
    gold, predicted = ([[pair[i] for pair in sequence] for sequence in pairs] for i in range(2))
    report, scores = reported(gold, predicted), naive_sequences.entity_scores(gold, predicted)
    means = {"micro": scores.pop(None), "macro": scores.pop("macro"), "weighted": scores.pop("weighted")}
    assert list(report.types) == list(scores)  # sorted
    for kind, row in report.types.items():
        assert shares(row) == pytest.approx(scores[kind], abs=1e-12)
    for name, mean in means.items():
        assert shares(getattr(report, name)) == pytest.approx(mean, abs=1e-12)
    tokens = [a == b for sequence in pairs for a, b in sequence]
    assert report.token_accuracy == (sum(tokens) / len(tokens) if tokens else 0)
    right = [ours == theirs for ours, theirs in zip(gold, predicted, strict=True)]
    assert report.sequence_accuracy == (sum(right) / len(right) if right else 0)


@pytest.mark.parametrize("prefixes", ["BIO", "BIOES", "IO"])
def test_the_report_is_that_of_seqeval(prefixes):
    metrics = pytest.importorskip("seqeval.metrics")
    random = np.random.default_rng(0)
    labels = ["O", *(f"{prefix}-{kind}" for prefix in prefixes.replace("O", "") for kind in ("LOC", "PER"))]
    gold, predicted = ([list(random.choice(labels, 9)) for _ in range(40)] for _ in range(2))
    report = reported(gold, predicted)
    rows = metrics.classification_report(gold, predicted, output_dict=True, zero_division=0)
    for name, row in rows.items():
        ours = report.types[name] if name in report.types else getattr(report, name.removesuffix(" avg"))
        assert (*shares(ours), ours.support) == pytest.approx(
            (row["precision"], row["recall"], row["f1-score"], row["support"])
        )
    assert report.token_accuracy == metrics.accuracy_score(gold, predicted)


def test_bilou_is_bioes_with_other_letters():
    gold, predicted = [["B-X", "E-X", "S-X", "O"]], [["B-X", "I-X", "S-X", "S-Y"]]
    letters = str.maketrans("ES", "LU")
    other = reported(*([[label.translate(letters) for label in y] for y in Y] for Y in (gold, predicted)))
    assert other == reported(gold, predicted)
    assert other.micro.correct == 1 + 1  # B I is an entity too: U ends it where L should


def test_labels_of_no_scheme_are_counted_token_by_token():
    report = reported([["NN", "NN", "VB", "."]], [["NN", "NN", "NN", "."]])
    assert shares(report.types["NN"]) == pytest.approx((2 / 3, 1, 0.8))
    assert report.types["VB"].recall == 0 and report.types["."].f1 == 1
    assert report.micro.f1 == report.token_accuracy == 0.75


def test_the_report_can_be_read_and_stored():
    report = reported([["B-a-long-name", "O"], []], [["B-a-long-name", "B-micro"], []])
    lines = str(report).splitlines()
    assert len({len(line) for line in lines[:-1] if line}) == 1  # columns stand below one another
    assert lines[1].split() == ["a-long-name", "1.0000", "1.0000", "1.0000", "1", "1", "1"]
    assert lines[2].split() == ["micro", "0.0000", "0.0000", "0.0000", "0", "1", "0"]
    assert lines[-1] == "right: 50.00% of 2 tokens, 50.00% of 2 sequences"
    stored = json.loads(json.dumps(report.as_dict()))
    assert stored["types"]["a-long-name"]["f1"] == 1 and stored["micro"]["precision"] == 0.5
    assert stored["n_tokens"] == 2 and stored["weighted"]["support"] == 1


def test_nothing_to_count_is_no_error():
    for gold in ([], [[]], [["O", "O"]]):
        report = reported(gold, gold)
        assert report.types == {} and shares(report.macro) == shares(report.weighted) == (0, 0, 0)
        assert "tokens" in str(report)


# -- schemes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
def test_legal_sequences_are_those_of_the_definition(scheme):
    """All sequences of up to three labels."""
    labels = [*(f"{prefix}-X" for prefix in "BILUES"), "B-Y-Z", "I-Y-Z", "B", "I", "L", "O", "NN"]
    sequences = [list(y) for length in (0, 1, 2, 3) for y in product(labels, repeat=length)]
    codes, names, bounds = coded(sequences)
    expected = [naive_sequences.obeys(y, scheme) for y in sequences]
    np.testing.assert_array_equal(obeys(codes, bounds, names, scheme), expected)
    assert obeys(codes[:0], bounds[:1], names, scheme).shape == (0,)
    start, transition, stop = allowed(names, scheme)
    for y, legal in zip(sequences, expected, strict=True):
        numbers = [names.index(label) for label in y]
        steps = all(transition[a, b] for a, b in pairwise(numbers))
        assert (not y or (start[numbers[0]] and steps and stop[numbers[-1]])) == legal


@settings(max_examples=50)
@given(st.lists(st.lists(st.sampled_from(LABELS), max_size=4), max_size=4))
def test_the_first_scheme_that_all_obey_is_recognised(sequences):
    legal = [s for s in SCHEMES if all(naive_sequences.obeys(y, s) for y in sequences)]
    begins = any(label[0] in "BUS" for y in sequences for label in y)
    codes, labels, bounds = coded(sequences)
    assert recognised(codes, bounds, labels) == (legal[0] if legal and begins else None)


@pytest.mark.parametrize(
    ("sequences", "scheme"),
    [
        ([["B-X", "I-X", "O"], []], "BIO"),
        ([["B-X", "L-X", "O"]], "BILOU"),
        ([["S", "O", "B", "I", "E"]], "BIOES"),
        ([["B-X", "I-Y"]], None),
        ([["B-X", "L-X"], ["S-X"]], None),
        ([["I-X", "O"]], None),  # nothing begins
        ([["O", "O"]], None),
        ([["B", "NN"]], None),
        ([], None),
    ],
)
def test_what_is_recognised(sequences, scheme):
    codes, labels, bounds = coded(sequences)
    assert recognised(codes, bounds, labels) == scheme


def test_labels_need_not_be_text():
    assert parts(3) == ("", "3")
    codes, bounds = np.array([0, 1], dtype=np.uint32), np.array([0, 2], dtype=np.uint64)
    assert recognised(codes, bounds, [3, None]) is None
    assert entity_report(codes, [3, None], codes, [3, None], bounds).micro.f1 == 1


def test_schemes_that_are_not_known_are_refused():
    with pytest.raises(ValueError, match="scheme must be one of 'BIO', 'BILOU', 'BIOES', got 'IOB1'"):
        allowed(["O"], "IOB1")
