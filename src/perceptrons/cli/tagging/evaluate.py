"""`perceptrons tag evaluate`: compare predictions with labels, by token, sentence and entity."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import click
import numpy as np

from perceptrons.cli import output
from perceptrons.cli.reading import options, tagger_in
from perceptrons.cli.tagging import reading
from perceptrons.cli.telling.confusion import MOST, more
from perceptrons.data.files import DataError
from perceptrons.learn.sequence.schemes import recognised
from perceptrons.metrics.entities import entity_report
from perceptrons.store.taggers import SavedTagger

CONFUSIONS = 10


@click.command("evaluate", epilog="Files are read in the same way as the training files.")
@click.argument("model", metavar="MODEL")
@reading.ARGUMENT
@click.option("--target", metavar="COLUMN", help="Column with the labels.  [default: as trained]")
@options(reading.OPTIONS)
@output.JSON
def command(model: str, data: tuple[str, ...], as_json: bool, **given: Any) -> None:
    """Compare the predictions of MODEL with the labels of the tokens of FILE.

    If labels mark entities, such as B-NP and I-NP, an entity is right if its first token, its last token and its type
    are right, as in conlleval. Precision is the share of predicted entities that are right, recall the share of
    entities that are found, F1 the harmonic mean of both. Labels in BIO are read as IOB1 if MODEL predicts IOB1, and
    the other way round.

    \b
      perceptrons tag evaluate chunks.tagger test.txt
    """
    saved = tagger_in(model, "evaluate")
    text = reading.for_model(data, given, saved, labels=True)
    if text.tokens.n_tokens == 0:
        raise DataError(f"{text.name} has no tokens")
    summary = {"model": model, "data": text.name, **compared(saved, text)}
    if as_json:
        output.as_json(summary)
    else:
        show(summary)


def compared(saved: SavedTagger, text: reading.Text) -> dict[str, Any]:
    """All facts, for --json."""
    tagger = saved.tagger
    predicted, bounds = tagger.predict(text.tokens)
    gold, names = tagger.own(text.labels(bounds), bounds)
    known = [str(label) for label in tagger.labels]
    report = entity_report(gold, names, predicted, known, bounds)
    numbers = {label: number for number, label in enumerate(known)}
    strangers = [label for label in names if label not in numbers]
    labels = [*known, *strangers]
    numbers |= {label: len(known) + number for number, label in enumerate(strangers)}
    truth = np.array([numbers[label] for label in names], dtype=np.int64)[gold]
    wrong = truth != predicted
    mixed, counts = np.unique(truth[wrong] * len(labels) + predicted[wrong], return_counts=True)
    order = np.argsort(-counts, kind="stable")
    confusions = [
        {"label": labels[pair // len(labels)], "predicted": labels[pair % len(labels)], "tokens": count}
        for pair, count in zip(mixed[order].tolist(), counts[order].tolist(), strict=True)
    ]
    return {
        "sentences": report.n_sequences,
        "tokens": report.n_tokens,
        "wrong_tokens": int(wrong.sum()),
        "token_error": float(wrong.mean()),
        "token_accuracy": report.token_accuracy,
        "sentence_accuracy": report.sequence_accuracy,
        "unknown_words": _unknown(saved, text, wrong),
        "unknown_labels": strangers,
        "scheme": tagger.scheme or recognised(gold, bounds, names),
        "micro": asdict(report.micro),
        "macro": asdict(report.macro),
        "weighted": asdict(report.weighted),
        "types": {name: asdict(scores) for name, scores in report.types.items()},
        "confusions": confusions,
    }


def _unknown(saved: SavedTagger, text: reading.Text, wrong: Any) -> dict[str, Any] | None:
    """How many words were not in the training files, and how well they were labelled."""
    new = reading.unknown(text, saved)
    if new is None:
        return None
    count, right = int(new.sum()), int((new & ~wrong).sum())
    return {"tokens": count, "accuracy": right / count if count else None}


def show(summary: dict[str, Any]) -> None:
    """Print the same facts for people."""
    sizes = f"{output.count(summary['sentences'], 'sentence')}, {output.count(summary['tokens'], 'token')}"
    output.heading(f"{summary['data']}: {sizes}")
    facts: list[tuple[str, Any]] = [
        ("tokens right", output.joined(_bold(summary["token_accuracy"]), f", {summary['wrong_tokens']:,} wrong"))
    ]
    facts.append(("sentences right", output.percent(summary["sentence_accuracy"])))
    new = summary["unknown_words"]
    if new is not None and new["tokens"]:
        share = f"{output.count(new['tokens'], 'token')}, {output.percent(new['tokens'] / summary['tokens'])}"
        facts.append(("unknown words right", f"{output.percent(new['accuracy'])} of {share} of all"))
    if summary["scheme"]:
        micro = summary["micro"]
        shares = f"precision {output.percent(micro['precision'])}, recall {output.percent(micro['recall'])}"
        facts.append(("entities", output.joined("F1 ", _bold(micro["f1"]), f", {shares}")))
    output.facts(facts)
    if summary["unknown_labels"]:
        listed = output.listed(summary["unknown_labels"], 6)
        output.say(output.style(f"labels that the model does not know: {listed}", fg="yellow"))
    output.say()
    types = list(summary["types"].items())
    if not summary["scheme"] and len(types) > MOST:
        output.say("labels with the smallest F1")
        types.sort(key=lambda each: each[1]["f1"])
    listed_types = types if summary["scheme"] else types[:MOST]
    lines = [_line(name, scores) for name, scores in listed_types]
    if summary["scheme"]:
        lines += [_line(f"({name})", summary[name]) for name in ("micro", "macro", "weighted")]
    head = ["entity" if summary["scheme"] else "label", "precision", "recall", "F1", "actual", "predicted", "right"]
    output.table(head, lines)
    more(len(types) - len(listed_types))
    mixed = summary["confusions"]
    output.say()
    output.say("largest confusions" if mixed else "no confusions")
    if mixed:
        shown = [[each["label"], each["predicted"], f"{each['tokens']:,}"] for each in mixed[:CONFUSIONS]]
        output.table(["label", "taken for", "tokens"], shown, left=2)
        more(len(mixed) - CONFUSIONS)


def _bold(share: float) -> output.Styled:
    return output.style(output.percent(share), bold=True)


def _line(name: str, scores: dict[str, Any]) -> list[str]:
    shares = [output.percent(scores[each]) for each in ("precision", "recall", "f1")]
    return [name, *shares, *(f"{scores[each]:,}" for each in ("support", "predicted", "correct"))]
