"""`perceptrons tag`: taggers of sequences, from files of sentences with one token a line."""

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

    Files have one token a line and blank lines between sentences: columns as the CoNLL tasks have them, or CoNLL-U.

    \b
      perceptrons tag train train.txt --columns word,pos,chunk --features chunking --model chunks.tagger
      perceptrons tag evaluate chunks.tagger test.txt
      perceptrons tag predict chunks.tagger new.txt -o labelled.txt

    What a model holds is shown by `perceptrons inspect`, its mistakes in training by `perceptrons plot`.
    """
