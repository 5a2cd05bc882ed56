"""Set up training: from rows in memory, or from a source that may be larger than memory.

Estimators and the command line both use this, so that the same data, share and seed hold out the same rows and learn in
the same order. No scikit-learn here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from perceptrons.data.arrays import Rows, as_rows
from perceptrons.data.batches import Source
from perceptrons.learn.classes import ClassLearner
from perceptrons.learn.examples import Examples
from perceptrons.learn.fit import Decision, InMemory, Material, Passes, Run, fit
from perceptrons.learn.holdout import chosen, split
from perceptrons.learn.labels import Array, UnknownLabel, say_unknown, weights_of_classes, weights_of_rows
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.scale.scaling import fill_with_means
from perceptrons.learn.scale.statistics import to_one_scale
from perceptrons.learn.state import Floats
from perceptrons.learn.stream import Stream, Watched, check_features, labelled
from perceptrons.learn.targets import Classes, Targets

Beside = Callable[[Source], Source]  # from the training source to a source of held-out rows


@dataclass(eq=False, repr=False)
class Request:
    """All that training needs besides the data."""

    new_learner: Callable[[Rows, int], ClassLearner]  # for rows like these, and a number of classes
    passes: Passes  # its seed is drawn when the task is set up
    random: np.random.RandomState
    shuffle: bool = True
    share: float | None = None  # share of rows to hold out
    targets: Targets = field(default_factory=Classes)  # what is learned, as far as it is known
    class_weight: Callable[[Array], Any] = lambda classes: None  # weights of classes, given the classes
    learned: ClassLearner | None = None  # a learner to continue with, which has learned `targets`
    start: Callable[[ClassLearner, np.random.RandomState], None] | None = None  # sets the initial hypothesis
    reads_all: bool = False  # whether to read a source once before learning
    agrees: Callable[[Any], bool] = lambda encoding: True  # whether a table has the features of the model
    watch: Callable[[Source, int, int], None] | None = None  # called with rows and mistakes after each batch
    centred: bool = True  # whether scaled features may be centred, which takes a bias
    decide: Callable[[ClassLearner, Examples], Decision | None] = lambda learner, examples: None


@dataclass(eq=False, repr=False)
class Task:
    """Training that is ready for its first pass."""

    learner: ClassLearner
    material: Material[Any]
    targets: Targets
    passes: Passes
    held_out: Callable[[], float] | None
    source: Source | None = None  # where rows are read from
    kept: Examples | None = None  # the held-out rows, if they are in memory
    decision: Decision | None = None

    @property
    def n_features(self) -> int:
        """Number of features, once all rows have been seen."""
        if isinstance(self.learner, LinearLearner):
            return self.learner.n_features
        assert isinstance(self.material, InMemory)
        return int(self.material.examples.rows.n_features)

    def run(self, report: Callable[[Any, Run], None] | None = None) -> Run:
        return fit(
            self.learner, self.material, self.passes, held_out=self.held_out, report=report, decision=self.decision
        )

    def told(self, report: Callable[[Task, Run], None] | None) -> Run:
        """Train; `report` is called with this task between passes."""
        return self.run(None if report is None else lambda learner, run: report(self, run))


# Random numbers are drawn in an order that does not depend on where rows come from: for held-out rows, for the initial
# hypothesis, for shuffling.


def seed_of_held_out(request: Request) -> int:
    """Draw the seed for held-out rows."""
    return int(request.random.randint(2**31)) if request.share is not None else 0


def seeded(request: Request, learner: ClassLearner) -> Passes:
    """Set the initial hypothesis; return the passes with the seed for shuffling."""
    if request.start is not None:
        request.start(learner, request.random)
    return request.passes._replace(seed=int(request.random.randint(2**31)) if request.shuffle else None)


def learner_for(request: Request, rows: Rows, found: Targets) -> tuple[ClassLearner, Targets]:
    """A new learner, or the one to continue with, prepared for what was found in labels; and all that it learns."""
    if request.learned is None:
        learner = request.new_learner(rows, found.n_classes)
        found.prepare(learner)
        return learner, found
    learner, targets = request.learned, request.targets.joined(found)
    targets.prepare(learner, request.targets)
    learner.set_origin()
    return learner, targets


def from_rows(
    request: Request,
    rows: Rows,
    y: Array,
    sample_weight: Floats | None = None,
    held_out: Callable[[Targets], Examples] | None = None,
    source: Source | None = None,
) -> Task:
    """Set up training on rows that are all in memory.

    held_out: from what is learned to separate held-out examples. source: where the rows come from, if not from arrays;
    it says whether to scale them. Rows for a learner to continue with are scaled already.
    """
    found = request.targets.found(y)
    found.check(f" in {source.name}" if source is not None else "")
    seed = seed_of_held_out(request)
    scaling = None
    if request.learned is None:
        left_out = None if request.share is None or held_out is not None else chosen(0, len(rows), request.share, seed)
        scaling = to_one_scale(source, rows, left_out, request.centred, found.limit)
        rows = rows if scaling is None else scaling.apply(rows)
    learner, targets = learner_for(request, rows, found)
    if scaling is not None:
        learner.scaling = scaling
        fill_with_means(None if source is None else source.encoding, scaling)
    codes, classes = targets.encode(y), targets.classes
    weight = weights_of_rows(learner.rule, sample_weight, request.class_weight(classes), classes, y, codes)
    if weight is not None and not weight.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    examples = Examples(rows, codes, weight)
    passes = seeded(request, learner)
    kept = None if held_out is None else held_out(targets)
    if kept is not None:
        kept = replace(kept, rows=learner.scaled(kept.rows))
    elif request.share is not None:
        examples, kept = split(examples, request.share, seed, "rows")
    watched = None if kept is None else learner.watch(kept)
    decision = request.decide(learner, examples) if passes.tol is not None and passes.patience is None else None
    return Task(learner, InMemory(examples), targets, passes, watched, source, kept, decision)


def from_whole_source(request: Request, source: Source, beside: Beside | None = None) -> Task:
    """Set up training on a source that is read into memory, for learners that need all rows."""
    X, y = source.arrays()
    check_features(source, request.agrees(source.encoding))
    rows = as_rows(X, None, source.name)

    def kept(targets: Targets) -> Examples:
        assert beside is not None
        held_out = beside(source)
        X_val, y_val = held_out.arrays()
        codes = codes_of_held_out(targets, labelled(held_out, y_val), held_out.name)
        return Examples(as_rows(X_val, None, held_out.name), codes)

    return from_rows(request, rows, labelled(source, y), held_out=None if beside is None else kept, source=source)


def codes_of_held_out(targets: Targets, y: Array, name: str) -> Array:
    """The codes of held-out labels from a source called `name`; warns of labels that training has not seen."""
    codes, unknown = targets.encode_held_out(y, name)
    if unknown.size:
        say_unknown(list(dict.fromkeys(unknown.tolist())), len(unknown), name)
    return codes


def from_source(request: Request, source: Source, beside: Beside | None = None) -> Task:
    """Set up training of a linear model on a source, batch by batch."""
    often = request.passes.max_iter > 1 or request.share is not None
    share = request.share if beside is None else None
    seed = seed_of_held_out(request)
    targets = request.targets.for_source(source, request.centred)
    stream = Stream(source.again(often), share=share or 0.0, seed=seed, watch=request.watch, targets=targets)
    stream.scales = request.learned is None
    stream.centred = request.centred
    rows, known = stream.settle(request.reads_all, often)
    learner, stream.targets = learner_for(request, rows, stream.targets)
    assert isinstance(learner, LinearLearner)
    if request.learned is None:
        learner.scaling = stream.scaling
    else:
        stream.scaling = learner.scaling
    if request.learned is not None:
        stream.widest = learner.n_features
        stream.check = lambda: check_features(stream.source, request.agrees(stream.source.encoding))
    counts, classes = None if known is None else known.counts, stream.targets.classes
    stream.class_weight = weights_of_classes(request.class_weight(classes), classes, counts, learner.rule)
    passes = seeded(request, learner)
    watched: Callable[[], float] | None = None
    if beside is not None:
        held_out = beside(stream.source)
        watched = Watched(learner, held_out, stream.targets, stream.source, often=request.passes.max_iter > 1)
    elif request.share is not None:
        watched = partial(stream.error, learner)
    return Task(learner, stream, stream.targets, passes, watched, stream.source)


def train_on_source(
    request: Callable[[], Request],
    source: Source,
    beside: Beside | None = None,
    report: Callable[[Task, Run], None] | None = None,
) -> tuple[Task, Run]:
    """Train a linear model on a source. `report` is called after each pass.

    The classes are those of the first batch. If another class appears, training restarts with a new request, after all
    rows have been read once. So the result is the same as for arrays, and the common case costs nothing.
    """
    task = from_source(request(), source, beside)
    try:
        return task, task.told(report)
    except UnknownLabel:
        task = from_source(replace(request(), reads_all=True), source, beside)
        return task, task.told(report)
