"""Which rule, number of best labellings and number of passes a tagger should have by default.

    python benchmarks/tagger_defaults.py [folder with the data, by default ../shared/data] [orders, by default 1]

Held-out errors of six tasks, in per cent: 1 − F1 for spans, share of wrong tokens for tags. Chunks and noun phrases (as
IOB1) are held-out sentences of CoNLL-2000's training file; the others are the development file of UD English-EWT. The
last columns compare with 10 passes of the first setting: geometric means of the ratios of errors, and of the ratios of
processor time that passes take.
"""

from __future__ import annotations

import sys
import time
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from perceptrons import SequenceTagger
from perceptrons.data import Tokens, read_conll
from perceptrons.data.token.tokens import interned
from perceptrons.learn.fit import InMemory, Passes, fit
from perceptrons.learn.sequence.labels import labels_in
from perceptrons.metrics.entities import entity_report
from perceptrons.rules import PA1, Margin, Plain

SHOWN = (5, 10)  # passes
SETTINGS: dict[str, dict[str, Any]] = {
    "perceptron": {"rule": Plain()},
    "perceptron, last": {"rule": Plain(), "readout": "last"},
    "margin 1": {"rule": Margin(1.0)},
    "margin 8": {"rule": Margin(8.0)},
    "pa1, C 1": {"rule": PA1(1.0)},
    "pa1, C 0.01": {"rule": PA1(0.01)},
    "pa1, C 0.01, 2 best": {"rule": PA1(0.01), "k_best": 2},
    "pa1, C 0.01, 3 best": {"rule": PA1(0.01), "k_best": 3},  # the default of `tag train`
    "pa1, C 0.01, 5 best": {"rule": PA1(0.01), "k_best": 5},
    "pa1, C 1, 5 best": {"rule": PA1(1.0), "k_best": 5},
}


class Task(NamedTuple):
    """Sentences to learn from and to measure on, with labels in the column y."""

    train: Tokens
    held_out: Tokens
    features: Any
    spans: bool  # whether labels mark spans, which F1 counts


def main(folder: Path, orders: int) -> None:
    """Print the table."""
    chunks, tags = folder / "conll2000", folder / "ud_english_ewt"
    for path in (chunks, tags):
        if not path.is_dir():
            print(f"{path} is missing: name the folder that has it")
            return
    tasks = {**from_chunks(chunks), **from_treebank(tags)}
    names = " ".join(f"{name:>9}" for name in tasks)
    print(f"{'held-out errors in %':<22} {'passes':>6} {names}  errors ×   time ×")
    first: tuple[Any, Any] | None = None
    for name, settings in SETTINGS.items():
        measured = [[course(task, settings, seed) for seed in range(orders)] for task in tasks.values()]
        errors, times = np.array(measured).mean(axis=1).transpose(1, 2, 0)  # [number of passes, task]
        first = first or (errors[SHOWN.index(10)], times[SHOWN.index(10)])
        for passes, error, spent in zip(SHOWN, errors, times, strict=True):
            cells = " ".join(f"{100 * each:9.3f}" for each in error)
            ratios = (float(np.exp(np.log(now / then).mean())) for now, then in zip((error, spent), first, strict=True))
            print(f"{name:<22} {passes:>6} {cells}  " + " ".join(f"{each:8.3f}" for each in ratios), flush=True)


def course(task: Task, settings: dict[str, Any], seed: int) -> list[list[float]]:
    """Held-out errors after the passes shown, and the processor time that passes took until then."""
    tagger = SequenceTagger(task.features, **settings)._new(task.train)
    corpus = tagger.prepare(task.train, lambda bounds: labels_in(task.train, "y"))
    errors, times, spent = [], [], 0.0
    tagger.fitted.warm_up(corpus, None)
    begun = time.process_time()

    def measure(learner: object, run: Any) -> None:
        nonlocal begun, spent
        spent += time.process_time() - begun
        if run.n_iter in SHOWN:
            errors.append(error_of(tagger, task))
            times.append(spent)
        begun = time.process_time()

    fit(tagger.fitted, InMemory(corpus), Passes(SHOWN[-1], seed=seed), report=measure)
    missing = len(SHOWN) - len(errors)  # passes after convergence
    return [errors + [error_of(tagger, task)] * missing, times + [spent] * missing]


def error_of(tagger: Any, task: Task) -> float:
    """The share of tokens that are wrong, or 1 − F1."""
    codes, bounds = tagger.predict(task.held_out)
    labels = tagger.own(labels_in(task.held_out, "y"), bounds)
    report = entity_report(labels.codes, labels.names, codes, tagger.labels, bounds)
    return 1.0 - float(report.micro.f1 if task.spans else report.token_accuracy)


# -- tasks ------------------------------------------------------------------------------------------------------------


def from_chunks(folder: Path) -> dict[str, Task]:
    """All chunks, and noun phrases as IOB1, of the training file of CoNLL-2000."""
    whole = read_conll(folder / "train.txt", ["word", "pos", "chunk"])
    order = np.random.RandomState(0).permutation(whole.n_sequences)
    parts = [whole.take(np.sort(part)) for part in (order[whole.n_sequences // 10 :], order[: whole.n_sequences // 10])]
    chunks = [labelled(part, part.lists("chunk")) for part in parts]
    nouns = [labelled(part, [iob1(noun_phrases(y)) for y in part.lists("chunk")]) for part in parts]
    return {
        "chunks": Task(chunks[0], chunks[1], "chunking", True),
        "nouns": Task(nouns[0], nouns[1], "chunking", True),
    }


def from_treebank(folder: Path) -> dict[str, Task]:
    """Tags, relations and runs of proper nouns of UD English-EWT."""
    columns = ["form", "upos", "xpos", "deprel"]
    parts = [read_conll(folder / f"en_ewt-ud-{part}.conllu", columns) for part in ("train", "dev")]
    parts = [part.renamed({"form": "word", "upos": "pos"}) for part in parts]
    names = [labelled(part, [proper_nouns(tags) for tags in part.lists("pos")]) for part in parts]
    sources = {"upos": ("pos", "pos"), "xpos": ("xpos", "pos"), "deprel": ("deprel", "chunking")}
    tasks = {
        name: Task(*(labelled(part, part.lists(source)) for part in parts), features, False)
        for name, (source, features) in sources.items()
    }
    return {**tasks, "names": Task(names[0], names[1], "ner-words", True)}


def labelled(tokens: Tokens, y: list[list[str]]) -> Tokens:
    """Tokens with labels in the column y."""
    flat = [label for sentence in y for label in sentence]
    return Tokens({**tokens.columns, "y": interned(flat, tokens.bounds, "y")}, tokens.bounds)


def noun_phrases(y: list[str]) -> list[str]:
    return [label if label.endswith("-NP") else "O" for label in y]


def iob1(y: list[str]) -> list[str]:
    """Labels of BIO as IOB1: an entity begins with B only after one of its type."""
    return [
        label if not label.startswith("B-") or before[2:] == label[2:] else f"I-{label[2:]}"
        for before, label in pairwise(["O", *y])
    ]


def proper_nouns(tags: list[str]) -> list[str]:
    """Mark each run of proper nouns."""
    marks = [tag == "PROPN" for tag in tags]
    return ["O" if not mark else "I-NAME" if before else "B-NAME" for before, mark in pairwise([False, *marks])]


if __name__ == "__main__":
    main(
        Path(sys.argv[1] if len(sys.argv) > 1 else "../shared/data"),
        int(sys.argv[2]) if len(sys.argv) > 2 else 1,
    )
