"""The report of `perceptrons tag train`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from perceptrons.cli import output
from perceptrons.cli.telling.passes import PassTable
from perceptrons.cli.telling.report import ending, final, kept_text, outcome, proved, size
from perceptrons.cli.telling.tuning import rule_text
from perceptrons.learn.fit import Run
from perceptrons.learn.sequence.shards import Sizes
from perceptrons.learn.sequence.tagger import Tagger
from perceptrons.store.taggers import SavedTagger


@dataclass
class Result:
    """A tagger and facts about its training."""

    saved: SavedTagger
    data: str
    run: Run
    training: float | None  # error of the final model on the training sentences
    held_sentences: int  # number of sentences held out of these files


def describe(result: Result, path: str, learning: float, total: float) -> dict[str, Any]:
    """All facts about a training, for --json."""
    tagger, trained = result.saved.tagger, result.saved.trained
    learner, mistakes, wrong = tagger.fitted, result.run.mistakes, result.run.token_mistakes
    sentences, tokens = max(1, trained["sentences"]), max(1, trained["tokens"])
    return {
        "data": result.data,
        "sentences": trained["sentences"],
        "tokens": trained["tokens"],
        "held_out_sentences": result.held_sentences,
        "labels": [output.label(label) for label in tagger.classes],
        "scheme": tagger.scheme,
        "templates": len(tagger.vocabulary.templates),
        "features": tagger.vocabulary.n_features,
        "features_with_weights": int(np.count_nonzero(learner.state["rows"])),
        "sentence_mistakes": mistakes,
        "token_mistakes": wrong,
        "online_sentence_error": [count / sentences for count in mistakes],
        "online_token_error": [count / tokens for count in wrong],
        "training_seconds": learning,
        "tokens_per_second": learner.totals.tokens / learning,
        **outcome(result, learner, path, total),
    }


def heading(tagger: Tagger, data: str, sizes: Sizes, params: dict[str, Any]) -> None:
    """Print what is learned, and how."""
    sentences = output.count(sizes.sentences + sizes.held_sentences, "sentence")
    sentences += f", {sizes.held_sentences:,} of them held out" if sizes.held_sentences else ""
    output.heading(f"{data}: {sentences}, {output.count(sizes.tokens + sizes.held_tokens, 'token')}")
    labels, scheme = [output.label(label) for label in tagger.labels], tagger.fitted.scheme
    ruled = f", scheme {scheme}" if scheme else ", no scheme"
    output.say(f"{output.count(len(labels), 'label')} ({output.listed(labels, 6)}){ruled}")
    named = f" ({params['features']})" if isinstance(params["features"], str) else ""
    templates = output.count(len(tagger.vocabulary.templates), "template") + named
    output.say(f"{templates}, {output.count(tagger.vocabulary.n_features, 'feature')}")
    output.say(how(params))
    output.say()


def passes_of(sizes: Sizes, run: Run, held_out: bool) -> PassTable:
    """The table of passes."""
    sentences, tokens = sizes.sentences, max(1, sizes.tokens)

    def line(number: int) -> list[str]:
        wrong, errors = run.token_mistakes[number - 1], run.validation_errors
        held = [output.percent(errors[number - 1]) if number <= len(errors) else ""] if held_out else []
        return [f"{run.mistakes[number - 1]:,}", f"{wrong:,}", output.percent(wrong / tokens), *held]

    head = ["sentences wrong", "tokens wrong", "token error", *(["held-out error"] if held_out else [])]
    return PassTable(head, [f"{sentences:,}", f"{tokens:,}", *[""] * (len(head) - 2)], line)


def show(result: Result, summary: dict[str, Any]) -> None:
    """Print the same facts for people, after the table of passes."""
    held = summary["held_out_errors"]
    told: list[list[Any]] = []
    if summary["training_error"] is not None:
        told.append(["training error ", summary["training_error"], " of tokens"])
    if summary["held_out_error"] is not None:
        told.append(["held-out error ", summary["held_out_error"]])
    elif not held and summary["stopped"] != "interrupted":
        told.append(["no held-out data: see --validation"])
    final(told)
    output.say(*ending(summary), kept_text(summary), f"; {output.count(summary['updates'], 'update')}")
    output.say(f"{summary['features_with_weights']:,} of {output.count(summary['features'], 'feature')} have weights")
    if summary["margin_bound"] is not None:
        unit = "sentences" if result.saved.params["beam"] is None else "sentences and their beginnings"
        output.say("proved: " + proved(summary["margin_bound"], result.saved.tagger.fitted.radius, unit, bias=False))
    speed, spent = f"{summary['tokens_per_second']:,.0f} tokens/s", output.seconds(summary["training_seconds"])
    output.say(f"{speed} in passes, which took {spent} of {output.seconds(summary['seconds'])} in total")
    output.say(f"model: {summary['model']} ({size(summary['bytes'])})")


def how(params: dict[str, Any]) -> str:
    """Describe rule, readout and search in a few words."""
    parts = [f"rule {rule_text(params['rule'])}", f"readout {params['readout']}", f"order {params['order']}"]
    if params.get("beam") is not None:
        parts.append(f"beam {params['beam']} with {params['update'].replace('_', ' ')} updates")
    if params.get("k_best", 1) > 1:
        parts.append(f"{params['k_best']} best")
    return ", ".join(parts)
