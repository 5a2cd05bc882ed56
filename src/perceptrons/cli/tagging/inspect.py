"""What `perceptrons inspect` shows of a tagger."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptrons.cli import output
from perceptrons.cli.inspect import facts_of
from perceptrons.cli.tagging.report import how
from perceptrons.cli.telling.report import size
from perceptrons.data.token.vocabulary import TemplateVocabulary
from perceptrons.learn.sequence.iob1 import IOB1
from perceptrons.learn.sequence.tagger import Tagger
from perceptrons.shown import aligned
from perceptrons.store.taggers import SavedTagger
from perceptrons.store.values import to_json


def describe(saved: SavedTagger, path: str, top: int) -> dict[str, Any]:
    """All facts about a tagger, for --json."""
    tagger, report = saved.tagger, saved.report
    learner, vocabulary = tagger.fitted, tagger.vocabulary
    features, labels, weights = learner.state_weights()
    return {
        **facts_of(saved, learner, path),
        "plan": {name: to_json(value, name) for name, value in tagger.plan._asdict().items()},
        "labels": [output.label(label) for label in tagger.classes],
        "scheme": tagger.scheme,
        "reading": None if saved.reading is None else saved.reading._asdict(),
        "features": vocabulary.n_features,
        "features_with_weights": len(np.unique(features)),
        "weights": len(weights),
        "templates": _templates(vocabulary, features) if isinstance(vocabulary, TemplateVocabulary) else None,
        "tokens_seen": int(learner.totals.tokens),
        "token_mistakes": int(learner.totals.wrong_tokens),
        "token_mistakes_of_passes": report["token_mistakes"],
        "rows_of_passes": saved.trained.get("sentences"),
        "strongest": _strongest(tagger, top, features, labels, weights),
        "transitions": _transitions(tagger, top),
    }


def _templates(vocabulary: TemplateVocabulary, weighty: Any) -> list[dict[str, Any]]:
    """The number of features that each template made, and how many of them have a weight."""
    made_by = vocabulary.state()[2]["keys"][:, 0]
    n = len(vocabulary.templates)
    made, heavy = (np.bincount(each, minlength=n).tolist() for each in (made_by, made_by[np.unique(weighty)]))
    return [
        {"template": str(template), "features": all_of, "with_weights": some}
        for template, all_of, some in zip(vocabulary.templates, made, heavy, strict=True)
    ]


def _strongest(tagger: Tagger, top: int, features: Any, labels: Any, weights: Any) -> list[dict[str, Any]]:
    """The features with the largest weights of each label, by absolute value."""
    found = []
    for number, label in enumerate(tagger.labels):
        here = np.flatnonzero(labels == number)
        best = here[np.lexsort((features[here], -np.abs(weights[here])))][:top]
        names = tagger.vocabulary.names(features[best].tolist())
        told = [{"feature": name, "weight": weight} for name, weight in zip(names, weights[best].tolist(), strict=True)]
        found.append({"label": output.label(label), "features": told})
    return found


def _transitions(tagger: Tagger, top: int) -> list[dict[str, Any]]:
    """The largest weights of transitions, by absolute value; None stands for the start or the end."""
    labels = [*(output.label(label) for label in tagger.labels), None]
    weights = tagger.fitted.transition_weights()
    before, after = np.nonzero(weights)
    sizes = weights[before, after]
    best = np.argsort(-np.abs(sizes), kind="stable")[:top]
    return [{"from": labels[before[i]], "to": labels[after[i]], "weight": float(sizes[i])} for i in best.tolist()]


def show(saved: SavedTagger, summary: dict[str, Any]) -> None:
    """Print the same facts for people."""
    from perceptrons.cli.inspect import LONGEST, SHOWN, facts_of_training, short

    labels, templates = summary["labels"], summary["templates"]
    output.heading(f"{summary['model']}: {summary['estimator']}, {size(summary['bytes'])}")
    listed = output.listed(labels, SHOWN)
    facts: list[tuple[str, Any]] = [("labels", f"{len(labels):,} ({listed})"), ("scheme", summary["scheme"] or "none")]
    if saved.reading is not None:
        columns = [
            f"{name}={saved.reading.names[name]}" if name in saved.reading.names else name
            for name in saved.reading.columns
        ]
        kind = "CoNLL-U, " if saved.reading.conllu else ""
        facts.append(("columns", f"{kind}{', '.join(columns)}; labels in {saved.reading.target!r}"))
    counted = f"{summary['features']:,}, of which {summary['features_with_weights']:,} have weights"
    by = f"from {output.count(len(templates), 'template')}" if templates else "given by name"
    facts += [("features", f"{counted}; {by}"), ("learning", how(tagger_settings(saved)))]
    output.facts(facts + facts_of_training(summary, "sentences"))
    if templates:
        output.say()
        lines = [[each["template"], f"{each['features']:,}", f"{each['with_weights']:,}"] for each in templates]
        output.table(["template", "features", "with weights"], lines)
    output.say()
    inside = " (the labels of IOB1 are learned as BIO)" if summary["scheme"] == IOB1 else ""
    output.say(f"strongest features of each label{inside}")
    listed_ones = [
        ("" if at else entry["label"], short(each["feature"]), each["weight"])
        for entry in summary["strongest"][:SHOWN]
        for at, each in enumerate(entry["features"])
    ]
    lines = _with_weights(listed_ones)
    output.table(["label", "feature".ljust(LONGEST // 2), "weight"], lines, left=2)
    hidden = len(summary["strongest"]) - SHOWN
    if hidden > 0:
        output.say(f"… and {hidden:,} more labels; --json has all")
    if summary["transitions"]:
        output.say()
        output.say("strongest transitions")
        steps = [
            (
                "(start)" if each["from"] is None else each["from"],
                "(end)" if each["to"] is None else each["to"],
                each["weight"],
            )
            for each in summary["transitions"]
        ]
        output.table(["label", "then", "weight"], _with_weights(steps), left=2)


def _with_weights(lines: list[tuple[Any, Any, float]]) -> list[list[Any]]:
    """Format the weights in the last column with aligned decimal points."""
    weights = aligned([line[-1] for line in lines])
    return [[*line[:-1], weight] for line, weight in zip(lines, weights, strict=True)]


def tagger_settings(saved: SavedTagger) -> dict[str, Any]:
    """The rule, readout and search that the tagger uses."""
    return saved.tagger.plan._asdict()
