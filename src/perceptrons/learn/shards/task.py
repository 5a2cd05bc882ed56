"""Set up training on shards: find out what is in them, and make a plan that every worker follows."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import accumulate
from typing import Any

import numpy as np

from perceptrons.data.arrays import Rows
from perceptrons.data.batches import Source
from perceptrons.data.shards.joining import joined_encoding
from perceptrons.learn.fit import Passes
from perceptrons.learn.labels import union, weights_of_classes
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.scale.scaling import Scaling, fill_with_means
from perceptrons.learn.scale.statistics import joined
from perceptrons.learn.shards import work
from perceptrons.learn.shards.crew import Crew
from perceptrons.learn.shards.material import Shards, Watched
from perceptrons.learn.shards.rows import Facts, Plan
from perceptrons.learn.stream import check_features
from perceptrons.learn.targets import Targets
from perceptrons.learn.task import Request, Task, learner_for, seed_of_held_out, seeded

EXPECTED = 20  # rows of a class that a shard should have, so that their absence is no chance


@dataclass(frozen=True)
class Beside:
    """Shards of separate held-out rows."""

    crew: Crew
    name: str


def from_shards(
    request: Request,
    crew: Crew,
    mixing: str,
    *,
    source: Source | None = None,
    beside: Callable[[Any], Beside] | None = None,
) -> Task:
    """Set up training of a linear model on shards.

    source: what the shards are parts of, if they are files; it gets the encoding of all of them. beside: from this
    encoding to separate held-out rows.
    """
    name = "X" if source is None else source.name
    refuse(request)
    found = crew.each(work.facts, request.targets)
    total = sum(each.n_rows for each in found)
    if total == 0:
        raise ValueError(f"{name} has no rows")
    targets = request.targets.found(np.empty(0), _classes(found))
    targets.check(f" in {name}" if name != "X" else "")
    _warn_of_lacking_classes(found, total, name)
    share = request.share if beside is None else None
    seed = seed_of_held_out(request)
    encoding = joined_encoding([each.encoding for each in found]) if found[0].encoding is not None else None
    if source is not None and encoding is not None:
        source.encoding = encoding
        check_features(source, request.agrees(encoding))
    width = _width(request, found, name, encoding)
    learner, targets = learner_for(request, _like(found, width), targets)
    assert isinstance(learner, LinearLearner)
    plan = Plan(
        learner.template(),
        learner.reader(),
        targets,
        [0, *accumulate(each.n_rows for each in found)],
        width,
        _class_weight(request, targets, found, learner.rule),
        share or 0.0,
        seed,
        learner.scaling,
        encoding,
    )
    n_learned = [plan.n_learned(number) for number in range(crew.n_shards)]
    if share is not None and sum(n_learned) in (0, total):
        what = "all" if sum(n_learned) == 0 else "no"
        raise ValueError(f"a share of {share:g} of {name} holds out {what} rows: choose another one")
    if source is not None and request.learned is None:
        plan, learner.scaling = _scaled(request, crew, plan, targets)
    passes: Passes = seeded(request, learner)
    kept = crew.keep(plan)
    material = Shards(crew, kept, sum(n_learned), mixing)
    watched: Any = None
    if beside is not None:
        others = beside(encoding)
        watched = Watched(learner, others.crew, others.crew.keep(plan), others.name)
    elif share is not None:
        watched = partial(material.error, learner)
    return Task(learner, material, targets, passes, watched, source)


def refuse(request: Request) -> None:
    """Raise an error for a learner that cannot be mixed, before anything is read."""
    learner = request.learned or request.new_learner(_empty(1, dense=True), 2)
    assert isinstance(learner, LinearLearner)
    learner.refuse_shards()


def _classes(found: Iterable[Facts]) -> Any:
    """The classes of all shards."""
    return reduce(union, (each.classes for each in found if each.n_rows), np.empty(0))


def _counted(found: list[Facts]) -> dict[Any, int]:
    """The number of rows of each class."""
    counts: dict[Any, int] = {}
    for each in found:
        for label, count in each.counts.items():
            counts[label] = counts.get(label, 0) + count
    return counts


def _warn_of_lacking_classes(found: list[Facts], total: int, name: str) -> None:
    """Warn if a shard has no row of a class of which it should have many: then the rows are sorted."""
    counts = _counted(found)
    for number, each in enumerate(found):
        for label, count in counts.items():
            if label not in each.counts and count * each.n_rows > EXPECTED * total:
                warnings.warn(
                    f"shard {number} of {name} has no row of class {label!r}: {name} seems to be sorted, and shards "
                    "learn better if each has rows of all classes. Shuffle the rows first",
                    stacklevel=2,
                )
                return


def _width(request: Request, found: list[Facts], name: str, encoding: Any) -> int:
    """The number of features of all shards; dense ones must agree."""
    if encoding is not None:
        return int(encoding.n_features)
    there = [each for each in found if each.n_rows]
    widths = sorted({each.n_features for each in there if each.dense})
    if len(widths) > 1:
        raise ValueError(f"the parts of {name} have different numbers of features: {widths[0]} and {widths[-1]}")
    width = max(each.n_features for each in there)
    if request.learned is None:
        return width
    assert isinstance(request.learned, LinearLearner)
    known = request.learned.n_features
    if width > known or (widths and width < known):
        raise ValueError(f"X has {width} features, but the model is expecting {known} features")
    return known


def _like(found: list[Facts], width: int) -> Rows:
    """No rows, of the kind that the shards have."""
    return _empty(width, dense=all(each.dense for each in found if each.n_rows))


def _empty(width: int, *, dense: bool) -> Rows:
    if dense:
        return Rows(np.empty((0, width)), None, None, width, np.empty(0))
    return Rows(np.empty(0), np.empty(0, dtype=np.uint32), np.zeros(1, dtype=np.uint64), width, np.empty(0))


def _class_weight(request: Request, targets: Targets, found: list[Facts], rule: Any) -> Any:
    counts = _counted(found)
    return weights_of_classes(request.class_weight(targets.classes), targets.classes, counts, rule)


def _scaled(request: Request, crew: Crew, plan: Plan, targets: Targets) -> tuple[Plan, Scaling | None]:
    """The plan with the scaling of features that follows from all rows that are learned, and this scaling."""
    if not any(crew.each(work.is_uneven, plan)):
        return plan, None
    parts = [part for part in crew.each(work.statistics, plan) if part is not None]
    scaling = joined(parts).scaling(request.centred, targets.limit) if parts else None
    fill_with_means(plan.encoding, scaling)
    return replace(plan, scaling=scaling), scaling
