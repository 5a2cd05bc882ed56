"""Vocabularies number features exactly. They are saved with a model, so that new sequences are read the same way."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from perceptrons.data.token.name_vocabulary import NameVocabulary
from perceptrons.data.token.template_vocabulary import TemplateVocabulary

__all__ = ["NameVocabulary", "TemplateVocabulary", "Vocabulary", "from_state"]

Vocabulary = TemplateVocabulary | NameVocabulary


def from_state(meta: Any, lists: dict[str, list[str]], arrays: dict[str, npt.NDArray[Any]]) -> Vocabulary:
    """Restore a vocabulary from its `state`, which is checked.

    Parameters
    ----------
    meta : dict
    lists : dict of list of str
    arrays : dict of ndarray

    Returns
    -------
    TemplateVocabulary or NameVocabulary
    """
    classes: tuple[type[TemplateVocabulary], type[NameVocabulary]] = (TemplateVocabulary, NameVocabulary)
    kinds = {each.kind: each for each in classes}
    kind = meta.get("kind") if isinstance(meta, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise ValueError(f"the kind of a vocabulary must be {' or '.join(kinds)}, got {kind!r}"[:200])
    return kinds[kind].from_state(meta, lists, arrays)
