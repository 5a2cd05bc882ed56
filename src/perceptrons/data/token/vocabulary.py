"""Vocabularies number features exactly. They are saved with a model, so that new sequences are read the same way."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from perceptrons.data.token.name_vocabulary import NameVocabulary
from perceptrons.data.token.sequences import Numbers
from perceptrons.data.token.template_vocabulary import State, TemplateVocabulary

__all__ = ["NameVocabulary", "State", "TemplateVocabulary", "Vocabulary", "from_state", "joined"]

Vocabulary = TemplateVocabulary | NameVocabulary
KINDS: dict[str, type[TemplateVocabulary] | type[NameVocabulary]] = {
    TemplateVocabulary.kind: TemplateVocabulary,
    NameVocabulary.kind: NameVocabulary,
}


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
    kind = meta.get("kind") if isinstance(meta, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise ValueError(f"the kind of a vocabulary must be {' or '.join(KINDS)}, got {kind!r}"[:200])
    return KINDS[kind].from_state(meta, lists, arrays)


def joined(states: Sequence[State]) -> tuple[Vocabulary, list[Numbers]]:
    """Join vocabularies of one kind, as if one had read the tokens of all, one after the other.

    Parameters
    ----------
    states : list
        The `state` of each vocabulary, which is trusted; at least one.

    Returns
    -------
    vocabulary : TemplateVocabulary or NameVocabulary
    numbers : list of ndarray
        For each vocabulary, the new numbers of its features.
    """
    return KINDS[states[0][0]["kind"]].joined(states)
