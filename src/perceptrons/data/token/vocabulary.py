"""From features to numbers, exactly: what has to be kept with a model to read new sequences as it did."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from perceptrons.data.token.named import Named
from perceptrons.data.token.templated import Templated

__all__ = ["Named", "Templated", "Vocabulary", "from_state"]

Vocabulary = Templated | Named


def from_state(meta: Any, lists: dict[str, list[str]], arrays: dict[str, npt.NDArray[Any]]) -> Vocabulary:
    """The vocabulary whose `state` this is; it may come from anywhere, and is checked. A ValueError if it is none."""
    kinds: dict[str, type[Templated] | type[Named]] = {each.kind: each for each in (Templated, Named)}
    kind = meta.get("kind") if isinstance(meta, dict) else None
    if not isinstance(kind, str) or kind not in kinds:
        raise ValueError(f"features must be of the kind {' or '.join(kinds)}, got {kind!r}"[:200])
    return kinds[kind].from_state(meta, lists, arrays)
