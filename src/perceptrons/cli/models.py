"""Models of command lines: files of the kind that a verb is for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perceptrons.store.format import ModelFileError
from perceptrons.store.saved import Saved, read

if TYPE_CHECKING:
    from perceptrons.store.taggers import SavedTagger


def classifier(path: str, instead: str) -> Saved:
    """The model in a file, which labels rows. `instead`: what is to be done with a tagger, or why nothing is."""
    saved = read(path)
    if isinstance(saved, Saved):
        return saved
    raise ModelFileError(f"{path} holds a {saved.estimator}: {instead}")


def tagger(path: str, instead: str) -> SavedTagger:
    """The tagger in a file. `instead` is the verb for other models."""
    saved = read(path)
    if isinstance(saved, Saved):
        raise ModelFileError(f"{path} holds a {saved.estimator}: use perceptrons {instead}")
    return saved
