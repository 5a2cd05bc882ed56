"""Choose rule, parameters, class weights and number of passes: many models learn side by side from one reading of rows.

The candidates are those of ``CANDIDATES``, found on tables: each of them is the best one for some table, and more of
them make the best one hardly better.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from perceptrons.core.random import GOLDEN, mixed
from perceptrons.data.arrays import Rows
from perceptrons.data.batches import Source
from perceptrons.learn.examples import Examples
from perceptrons.learn.fit import Run
from perceptrons.learn.labels import Array, UnknownLabel, weights_of_classes
from perceptrons.learn.learner import Order
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.state import Floats
from perceptrons.learn.stream import Stream, Watched
from perceptrons.learn.task import Beside, Request, Task, from_source
from perceptrons.rules import PA1, PA2, Margin, resolve

FOLDS = 5  # of cross-validation; of many rows, one fold is held out
REPEATS, MOST = 10, 4000  # of cross-validation with other folds, and the most rows in all of them
FEW = 1 << 22  # values that are few enough for cross-validation, times the number of weight vectors
ROOM = 1 << 30  # bytes for the weights of all models together
DOUBT = 0.7  # standard errors by which a candidate must be better than the first one, and fewer passes than all
LOST = 2.0  # a candidate is dropped when its error is this many standard errors above the smallest one


class Candidate(NamedTuple):
    """A way to learn."""

    rule: Any
    class_weight: str | None = None  # "balanced", or as it was asked for

    def __str__(self) -> str:
        """
        >>> print(Candidate(PA1(C=0.1), "balanced"))
        PA1(C=0.1), balanced
        """
        return f"{self.rule}" + (f", {self.class_weight}" if self.class_weight else "")


CANDIDATES = [
    *(Candidate(Margin(beta)) for beta in (20.0, 5.0, 60.0)),
    Candidate(resolve("perceptron")),
    *(Candidate(PA1(C)) for C in (0.1, 0.01, 1.0)),
    *(Candidate(PA2(C)) for C in (0.03, 0.1)),
    Candidate(PA1(0.001)),
    *(Candidate(rule, "balanced") for rule in (PA1(0.01), PA1(0.1))),
]


# Values to try of parameters of rules that are not among the candidates, by name.
TRIED: dict[str, tuple[Any, ...]] = {
    **{"r": (1.0, 0.1, 10.0), "C": (0.3, 0.1, 1.0), "eta": (0.6, 0.55, 0.75, 0.9), "a": (1.0, 0.1, 10.0)},
    **{"alpha": (0.9, 0.7, 0.5), "lam": (2.0, 1.0, 0.5), "aggressive": (False, True)},
    **{"beta_positive": (1.0, 3.0, 10.0), "beta_negative": (0.0, 1.0)},
}


def variants(rule: Any) -> list[Any]:
    """The rule with other values of its parameters; the rule itself comes first.

    >>> variants(resolve("romma"))
    [ROMMA(aggressive=False), ROMMA(aggressive=True)]
    """
    names = [name for name in rule._fields if name in TRIED]
    made = (dict(zip(names, values, strict=True)) for values in product(*(TRIED[name] for name in names)))
    return list(dict.fromkeys([rule, *(rule._replace(**values) for values in made)]))


@dataclass(eq=False)
class Contender:
    """A candidate with its models, one for each fold."""

    candidate: Candidate
    learners: list[LinearLearner] = field(default_factory=list)
    weight: Floats | None = None  # of each class, if balanced
    mistakes: list[int] = field(default_factory=list)  # of each model in this pass
    settled: list[bool] = field(default_factory=list)  # which models separate their rows, so that nothing changes
    errors: list[float] = field(default_factory=list)  # by pass
    dropped: bool = False  # whether it has lost

    @property
    def error(self) -> float:
        return min(self.errors, default=1.0)

    @property
    def passes(self) -> int:
        """The number of passes with the smallest error; of equals the fewest."""
        return int(np.argmin(self.errors)) + 1

    @property
    def learns(self) -> bool:
        return not self.dropped and not all(self.settled)


class Contest(LinearLearner):
    """Several linear learners that see the same rows. For `fit`, they are one learner; its own weights stay 0."""

    def __init__(
        self,
        candidates: Sequence[Candidate],
        make: Callable[[Candidate], Callable[[Rows, int], Any]],
        rows: Rows,
        n: int,
    ) -> None:
        super().__init__(
            resolve("perceptron"), "last", n_features=rows.n_features, n_classes=n, dense=rows.indices is None
        )
        self.contenders = [Contender(candidate) for candidate in candidates]
        self.per_row = rows.values.size / max(1, len(rows))
        self._make: Callable[[Candidate], Any] = lambda candidate: make(candidate)(rows, n)
        self.folds = 0  # number of folds that are held out; 0: rows outside of these, or online errors
        self.seed, self.n_measured = 0, 0  # n_measured: number of different rows that errors are about

    def enter(self, stream: Stream, folds: bool, seed: int) -> None:
        """Make the models. `folds`: whether rows are held out here."""
        vectors = self.n_classes if self.n_classes > 2 else 1
        known, size = stream.known, 16 * (self.n_features + 1) * vectors
        self.contenders = self.contenders[: max(3, ROOM // size)]
        if folds:
            assert known is not None
            few = self.per_row * known.n_rows * vectors <= FEW and FOLDS * size * len(self.contenders) <= ROOM
            again = max(1, min(MOST // known.n_rows, ROOM // (FOLDS * size * len(self.contenders))))
            self.folds, self.seed = FOLDS * min(again, REPEATS) if few else 1, seed
        for each in self.contenders:
            number = max(1, self.folds)
            each.learners = [self._make(each.candidate) for _ in range(number)]
            each.mistakes, each.settled = [0] * number, [False] * number
            if each.candidate.class_weight == "balanced" and stream.class_weight is None:
                assert known is not None
                each.weight = weights_of_classes("balanced", stream.targets.classes, known.counts, each.candidate.rule)

    def held(self, examples: Examples, fold: int) -> Array:
        """Which rows are in a fold. Runs of FOLDS rows have one row in each of the folds 0 to 4, 5 to 9, …

        The place of that row depends on the seed and the number of the run.
        """
        number = examples.row_numbers.astype(np.uint64)
        seed = np.uint64(self.seed + fold // FOLDS)
        turn = mixed((number // np.uint64(FOLDS) + np.uint64(1)) * GOLDEN + seed) >> np.uint64(32)
        return np.asarray((number + turn) % np.uint64(FOLDS) == np.uint64(fold % FOLDS))

    # -- learning ---------------------------------------------------------------------------------------------

    def once(self, examples: Examples, order: Order, predicted: Array | None = None, *, last: bool = False) -> int:
        """Let every model learn; return the mistakes of the candidate that made the fewest."""
        orders = [order]
        if self.folds:
            orders = [order[~self.held(examples, fold)[order]] for fold in range(self.folds)]
        fewest = len(order)
        for each in (each for each in self.contenders if not each.dropped):
            own = examples if each.weight is None else replace(examples, weight=each.weight[examples.codes])
            made = [
                0 if settled else self._learn(learner, own, part)
                for learner, part, settled in zip(each.learners, orders, each.settled, strict=True)
            ]
            each.mistakes = [before + now for before, now in zip(each.mistakes, made, strict=True)]
            fewest = min(fewest, sum(made) // len(made))
        self.totals.visit(len(order))
        return fewest

    def _learn(self, learner: LinearLearner, examples: Examples, order: Order) -> int:
        updates = learner.totals.updates
        mistakes = learner.once(examples, order)
        self.totals.updates += learner.totals.updates - updates
        return mistakes

    def mistakes_of(self, examples: Examples, hypothesis: Floats) -> float:
        """Training goes on as long as any model moves."""
        return np.inf

    def resize(self, n_features: int) -> None:
        super().resize(n_features)
        for each in self.contenders:
            for learner in each.learners:
                learner.resize(n_features)

    # -- judging ----------------------------------------------------------------------------------------------

    def measure(self, stream: Stream, beside: Watched | None, online: bool) -> float:
        """Note the error of each candidate after a pass, and drop those that have lost; return the smallest error."""
        wrong, total = np.zeros(len(self.contenders)), 0
        if online:
            wrong, total = np.array([each.mistakes[0] for each in self.contenders], dtype=float), stream.n_rows
        for examples in () if beside is None else beside.parts():
            total += self._count(examples, 0, wrong)
        clean = any(0 in each.mistakes and each.learns for each in self.contenders)
        left = [[count == 0 for count in each.mistakes] for each in self.contenders]  # no mistake on any row so far
        for examples, held in stream.parts() if self.folds or stream.share or (clean and not online) else ():
            for number in range(max(1, self.folds)):
                apart = self.held(examples, number) if self.folds else held
                if apart is not None:
                    total += self._count(examples.take(apart), number, wrong)
                if clean:
                    self._try(examples if apart is None else examples.take(~apart), number, left)
        for each, right, count in zip(self.contenders, left, wrong, strict=True):
            if each.learns:
                each.errors.append(float(count / max(1, total)))
                each.settled = [before or now for before, now in zip(each.settled, right, strict=True)]
            each.mistakes = [0] * len(each.mistakes)
        self.n_measured = total // max(1, self.folds // FOLDS)
        self._drop(self.n_measured)
        return self.smallest.error

    def _count(self, examples: Examples, number: int, wrong: Floats) -> int:
        """Add the mistakes of each candidate's readout on held-out examples; return the number of examples."""
        for at, each in enumerate(self.contenders):
            if each.learns and len(examples):
                wrong[at] += each.learners[number].wrong(examples)
        return len(examples)

    def _try(self, examples: Examples, number: int, left: list[list[bool]]) -> None:
        """Find out which of the models that made no mistake in this pass make none at its end, either."""
        for each, right in zip(self.contenders, left, strict=True):
            if right[number] and each.learns:
                learner = each.learners[number]
                right[number] = learner.mistakes_of(examples, learner.current) == 0

    def _drop(self, total: int) -> None:
        """Drop candidates that are clearly worse than the best, after two passes: slow ones may catch up."""
        limit = self.smallest.error + LOST * self._standard_error(total)
        for each in self.contenders:
            each.dropped = each.dropped or (len(each.errors) >= 2 and each.error > limit)
            if each.dropped:
                each.learners = []

    @property
    def smallest(self) -> Contender:
        """The candidate with the smallest error; of equals the one that stands first."""
        return min(self.contenders, key=lambda each: each.error)

    def _standard_error(self, total: int) -> float:
        """The standard error of the smallest error, measured on `total` rows."""
        error, n = self.smallest.error, max(1, total)
        return float(np.sqrt((error * (1 - error) + 1 / n) / n))

    @property
    def doubt(self) -> float:
        """A difference of errors that may be chance. Of many candidates, one is always better by chance."""
        return DOUBT * self._standard_error(self.n_measured)

    @property
    def best(self) -> Contender:
        """The first candidate, the default, unless another one is better beyond doubt."""
        first = self.contenders[0]
        return first if first.error <= self.smallest.error + self.doubt else self.smallest

    @property
    def passes(self) -> int:
        """The number of passes for the best candidate: all, unless fewer are better beyond doubt.

        If rows are held out for good, the pass with the smallest error on them is kept in any case.
        """
        best = self.best
        return len(best.errors) if self.folds and best.errors[-1] <= best.error + self.doubt else best.passes


@dataclass
class Tuned:
    """The result of a contest."""

    contest: Contest
    run: Run
    by: str  # how errors were measured

    @property
    def best(self) -> Contender:
        return self.contest.best

    @property
    def error(self) -> float:
        """The error of the best candidate, after the number of passes that is chosen."""
        return self.best.errors[self.contest.passes - 1]


def tune(
    request: Callable[[], Request],
    source: Source,
    candidates: Sequence[Candidate],
    make: Callable[[Candidate], Callable[[Rows, int], Any]],
    beside: Beside | None = None,
    report: Callable[[Task, Run], None] | None = None,
) -> Tuned:
    """Let candidates learn side by side, and measure their errors after each pass.

    Errors are measured on the held-out rows of the request, on `beside`, or for a single pass while it learns (online).
    Otherwise by cross-validation, or with many rows on a fifth of them. The statistics for scaling come from all rows
    that are not held out by the request.

    make: from a candidate to a function that makes its learner.
    """

    def contest_of(asked: Request, everything: bool) -> tuple[Task, Contest, str]:
        online = asked.passes.max_iter == 1 and asked.share is None and beside is None
        entered = [each for each in candidates if not (online and each.class_weight == "balanced")]
        new = partial(Contest, entered, make)
        task = from_source(replace(asked, new_learner=new, reads_all=everything or not online), source, beside)
        contest, stream, watched = task.learner, task.material, task.held_out
        assert isinstance(contest, Contest) and isinstance(stream, Stream)
        contest.enter(stream, folds=not online and watched is None, seed=task.passes.seed or 0)
        other = watched if isinstance(watched, Watched) else None
        task.held_out = partial(contest.measure, stream, other, online)
        ways = {0: "held-out rows", 1: "a held-out fifth of the rows"}
        way = ways.get(contest.folds, f"{FOLDS}-fold cross-validation")
        return task, contest, "the online error" if online else way

    task, contest, by = contest_of(request(), False)
    try:
        run = task.told(report)
    except UnknownLabel:  # all classes must be known: read all rows first
        task, contest, by = contest_of(request(), True)
        run = task.told(report)
    return Tuned(contest, run, by)
