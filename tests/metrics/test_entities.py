"""Entities are counted as conlleval and seqeval count them."""

import json

import naive_sequences
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from seqeval import metrics as seqeval
from token_cases import LABELS, coded

from perceptrons.metrics.entities import EntityReport, entity_report

labellings = st.lists(st.lists(st.tuples(st.sampled_from(LABELS), st.sampled_from(LABELS)), max_size=6), max_size=5)


def reported(gold, predicted) -> EntityReport:
    """Both labellings have numbers of their own: the model need not know the labels that are true."""
    codes, labels, bounds = coded(gold)
    return entity_report(codes, labels, *coded(predicted)[:2], bounds)


def shares(row):
    return row.precision, row.recall, row.f1


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
    random = np.random.default_rng(0)
    labels = ["O", *(f"{prefix}-{kind}" for prefix in prefixes.replace("O", "") for kind in ("LOC", "PER"))]
    gold, predicted = ([list(random.choice(labels, 9)) for _ in range(40)] for _ in range(2))
    report = reported(gold, predicted)
    rows = seqeval.classification_report(gold, predicted, output_dict=True, zero_division=0)
    for name, row in rows.items():
        ours = report.types[name] if name in report.types else getattr(report, name.removesuffix(" avg"))
        assert (*shares(ours), ours.support) == pytest.approx(
            (row["precision"], row["recall"], row["f1-score"], row["support"])
        )
    assert report.token_accuracy == seqeval.accuracy_score(gold, predicted)


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
    assert lines[-1] == "correct: 50.00% of 2 tokens, 50.00% of 2 sequences"
    stored = json.loads(json.dumps(report.as_dict()))
    assert stored["types"]["a-long-name"]["f1"] == 1 and stored["micro"]["precision"] == 0.5
    assert stored["n_tokens"] == 2 and stored["weighted"]["support"] == 1


def test_nothing_to_count_is_no_error():
    for gold in ([], [[]], [["O", "O"]]):
        report = reported(gold, gold)
        assert report.types == {} and shares(report.macro) == shares(report.weighted) == (0, 0, 0)
        assert "tokens" in str(report)


def test_labels_need_not_be_text():
    codes, bounds = np.array([0, 1], dtype=np.uint32), np.array([0, 2], dtype=np.uint64)
    assert entity_report(codes, [3, None], codes, [3, None], bounds).micro.f1 == 1
