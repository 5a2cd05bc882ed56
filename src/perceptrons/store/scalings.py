"""The scaling of features as settings and arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptrons.learn.scale.rarity import Rarity, rarity_of
from perceptrons.learn.scale.scaling import Scaling
from perceptrons.store.format import Tensors
from perceptrons.store.memory import Memory
from perceptrons.store.values import Settings, from_json, take, to_json


def pack_scaling(scaling: Scaling) -> tuple[dict[str, Any], Tensors]:
    """Convert the scaling of features to settings and arrays. Of words, only those that occurred are stored."""
    settings = {"limit": to_json(float(scaling.limit), "limit")}
    tensors: Tensors = {"scaling.centre": scaling.centre, "scaling.spread": scaling.spread}
    if scaling.rarity is not None:
        counts = scaling.rarity.counts
        settings["rows"] = int(scaling.rarity.rows[0])
        words = np.flatnonzero(counts).astype(np.uint32)
        tensors |= {"scaling.words": words, "scaling.counts": counts[words]}
    return settings, tensors


def unpack_scaling(settings: Settings, tensors: Tensors, n_features: int, encoding: Any, memory: Memory) -> Scaling:
    """Restore a scaling from `pack_scaling`; `encoding`: of the columns of a table."""
    centre, spread = (take(tensors, f"scaling.{name}", "f8", (None,)) for name in ("centre", "spread"))
    limit = from_json(settings.any("limit"))
    if len(centre) != len(spread) or len(centre) > n_features:
        raise ValueError(f"there are {len(centre)} centres and {len(spread)} spreads for {n_features} features")
    with np.errstate(divide="ignore", over="ignore"):
        fine = (spread == 0) | ((spread > 0) & np.isfinite(1.0 / spread))
    if not (np.isfinite(centre).all() and np.isfinite(spread).all() and fine.all()):
        raise ValueError("centres must be finite, and spreads 0, or positive numbers with a finite inverse")
    if type(limit) not in (int, float) or not limit > 0:
        raise ValueError(f"the limit of scaled values must be > 0, got {limit!r}")
    rarity = _rarity(settings, tensors, encoding, memory) if "rows" in settings.found else None
    return Scaling(centre, spread, float(limit), rarity)


def _rarity(settings: Settings, tensors: Tensors, encoding: Any, memory: Memory) -> Rarity:
    """Restore how many rows have each word."""
    rows = settings.whole("rows")
    words, counts = (take(tensors, f"scaling.{name}", "u4", (None,)) for name in ("words", "counts"))
    if encoding is None or not encoding.weighs_words:
        raise ValueError("words are weighed, but there is no column of text whose words are")
    size = len(encoding.texts) << encoding.text_bits
    ascending = bool((words[1:] > words[:-1]).all())
    if len(words) != len(counts) or not ascending or (len(words) and int(words[-1]) >= size):
        raise ValueError(f"the features of words must ascend, be below {size} and have a count each")
    if len(counts) and not 0 < int(counts.min()) <= int(counts.max()) <= rows:
        raise ValueError(f"a word must occur in 1 to {rows} rows")
    memory.take(12 * size)
    found = rarity_of(encoding)
    assert found is not None
    found.counts[words] = counts
    found.rows[0] = rows
    return found.frozen()
