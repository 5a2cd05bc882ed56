"""`perceptrons tag`: taggers of sequences, from files with one token per line."""

from __future__ import annotations

import click

from perceptrons.cli.main import Verbs

VERBS = {
    "train": "Learn a tagger from files.",
    "predict": "Label the tokens of files.",
    "evaluate": "Compare predictions with labels.",
}


@click.group("tag", cls=Verbs, verbs=VERBS, folder="perceptrons.cli.tagging")
def command() -> None:
    """Label the tokens of sentences: parts of speech, chunks, names.

    Files have one token per line and blank lines between sentences, in columns as in the CoNLL tasks, or in CoNLL-U.

    \b
      perceptrons tag train train.txt --columns word,pos,chunk --features chunking --model chunks.tagger
      perceptrons tag evaluate chunks.tagger test.txt
      perceptrons tag predict chunks.tagger new.txt -o labelled.txt

    Use `perceptrons inspect` to see what a tagger holds, and `perceptrons plot` to draw its mistakes in training.
    """
