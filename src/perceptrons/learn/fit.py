"""The training loop: passes, their order, stopping, held-out error, progress, Ctrl-C.

`fit` trains every learner: from arrays, files or sentences, for an estimator or the command line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from perceptrons.core import random
from perceptrons.learn.learner import Batch, Learner, Order
from perceptrons.learn.state import Totals

L = TypeVar("L", contravariant=True)
B = TypeVar("B", bound=Batch)
T = TypeVar("T")
AnyLearner = Learner[Any]


class Passes(NamedTuple):
    """How passes are made, and when they end."""

    max_iter: int
    tol: float | None = None  # stop when the margin is proved to be below tol·R; None: never
    seed: int | None = None  # for shuffling each pass; None keeps the order of examples
    patience: int | None = None  # stop after this many passes without a smaller held-out error; keep the best
    keep_best: bool = False  # keep the pass with the smallest held-out error without patience, too
    stall: int | None = None  # stop after this many passes without fewer mistakes; None: never
    one_by_one: bool = False  # whether `report` must be called after every pass
    least: int = 1  # no proof that the examples cannot be separated ends training before this many passes
    falling: Falling | None = None  # stop when the loss stops falling, not when the examples are separated
    settles: bool = False  # whether to stop when more passes no longer change what the readout predicts

    def by_loss(self) -> Passes:
        """The same passes with the stop of scikit-learn's linear models: `tol` and `least` refer to the loss."""
        return self._replace(tol=None, falling=Falling(self.tol if self.patience is None else None, self.least))


class Falling(NamedTuple):
    """The stop of scikit-learn's linear models: the loss of a pass has stopped falling."""

    tol: float | None  # by how much the mean loss of an example must fall; None: never stop
    passes: int  # stop after this many passes in a row without such a fall

    def stopped(self, losses: list[float], n: int) -> bool:
        """Whether the sums of losses over n examples, one per pass, have stopped falling."""
        if self.tol is None or len(losses) <= self.passes:
            return False
        best = np.minimum.accumulate(losses)
        return all(losses[k] > best[k - 1] - self.tol * n for k in range(len(losses) - self.passes, len(losses)))


class Settling:
    """The stop of a mean: more passes no longer change what it predicts, and mistakes no longer fall.

    Asked each time the number n of passes has doubled, from 16 on. Chosen by benchmarks/defaults.py.
    """

    CHANGED = 0.005  # of the predictions on the training rows, at most this share has changed since n/2 passes
    FALLEN = 0.5  # a pass after n/2 makes at least this share of the mistakes of a pass between n/4 and n/2

    def __init__(self) -> None:
        self.next = 8  # the number of passes after which predictions are made next
        self.guesses: npt.NDArray[Any] | None = None  # after half as many passes

    def settled(self, run: Run, guess: Callable[[], npt.NDArray[Any]]) -> bool:
        """Whether to stop; `guess` predicts the training rows."""
        n, mistakes = run.n_iter, run.mistakes
        if n < self.next:
            return False
        before, self.guesses, self.next = self.guesses, guess(), 2 * n
        if before is None or np.mean(self.guesses != before) > self.CHANGED:
            return False
        if self.guesses.min() == self.guesses.max():  # one class for all rows: nothing has been learned yet
            return False
        earlier, later = np.mean(mistakes[n // 4 : n // 2]), np.mean(mistakes[n // 2 :])
        return bool(later >= self.FALLEN * earlier)


class Verdict(NamedTuple):
    """What is proved about the training examples."""

    separable: bool | None  # None: nothing is proved
    rows: npt.NDArray[np.intp] | None = None  # if not separable: rows that cannot be separated from each other
    twins: bool = False  # whether these are two equal rows of different classes


UNKNOWN = Verdict(None)


class Decision(NamedTuple):
    """A way to decide whether the examples can be separated, for when passes do not find out."""

    after: int  # ask after this many passes, which have taken as much work
    ask: Callable[[], Verdict]


@dataclass(eq=False, repr=False)  # commands start faster with what is needed only
class Run:
    """What happened, pass by pass; filled during training."""

    mistakes: list[int] = field(default_factory=list)
    token_mistakes: list[int] = field(default_factory=list)  # of learners that count tokens
    losses: list[float] = field(default_factory=list)  # sums of hinge losses, if training watches them
    validation_errors: list[float] = field(default_factory=list)
    converged: bool = False
    # Why training ended: else "converged", "margin", "inseparable", "stuck", "settled", "stalled", "loss",
    # "validation", "max_iter" or "stream".
    stop: str = "interrupted"
    verdict: Verdict = UNKNOWN
    kept: int | None = None  # the pass whose hypothesis was kept, if the best one is
    interrupted: bool = False  # whether Ctrl-C was pressed
    learned: bool = False  # whether any example was processed

    @property
    def n_iter(self) -> int:
        return len(self.mistakes)

    @property
    def going(self) -> bool:
        return self.stop == "interrupted"

    @property
    def held_out_error(self) -> float | None:
        """Held-out error of the hypothesis that is kept; None if there were no held-out examples."""
        errors = self.validation_errors
        if self.kept is not None:
            return errors[self.kept - 1]
        return errors[-1] if errors and len(errors) == self.n_iter else None

    def resume_interrupt(self) -> None:
        """Raise the Ctrl-C that ended this run, if any. Call it when the learned model is safe."""
        if self.interrupted:
            raise KeyboardInterrupt

    def afterwards(self, work: Callable[[], T]) -> T | None:
        """Do optional work after training; return None if Ctrl-C comes before or during it."""
        if self.interrupted:
            return None
        try:
            return work()
        except KeyboardInterrupt:
            self.interrupted = True
            return None


class Material(Protocol[L]):
    """The examples to learn from, in memory or in a stream."""

    n_rows: int  # number of rows in a pass

    def begin(self, learner: L) -> None:
        """Get ready for the first pass."""

    def at_once(self, learner: L) -> int:
        """Number of passes that one call may make."""

    def learn(self, learner: L, number: int, lines: int, passes: Passes) -> list[int]:
        """Make up to `lines` passes, starting with number `number`; return the mistakes of each."""

    def confirms(self, learner: L) -> bool:
        """After a pass without a mistake: whether the current hypothesis makes none on all examples."""

    def guesses(self, learner: L) -> npt.NDArray[Any]:
        """What the readout predicts for all examples, for `Passes.settles`."""


class InMemory(Generic[B]):
    """Examples of any kind that are all in memory."""

    def __init__(self, examples: B) -> None:
        self.examples, self.order = examples, examples.order()
        self.n_rows = len(self.order)

    def begin(self, learner: Learner[B]) -> None:
        learner.begin(self.examples)

    def at_once(self, learner: Learner[B]) -> int:
        return learner.at_once(self.examples)

    def learn(self, learner: Learner[B], number: int, lines: int, passes: Passes) -> list[int]:
        orders = orders_of(self.order, lines, passes.seed, number)
        if lines == 1:
            return [learner.once(self.examples, orders[0], last=number + 1 == passes.max_iter)]
        return learner.repeat(self.examples, orders, passes.tol)

    def confirms(self, learner: Learner[B]) -> bool:
        return learner.confirms(self.examples)

    def guesses(self, learner: Learner[B]) -> npt.NDArray[Any]:
        return learner.guesses(self.examples)


def orders_of(order: Order, lines: int, seed: int | None, first: int) -> Order:
    """The orders of `lines` passes, starting with number `first`."""
    orders = np.tile(order, (lines, 1))
    if seed is not None:
        random.shuffle(orders, np.uint64(seed), np.uint64(first))
    return orders


def fit(
    learner: AnyLearner,
    material: Material[Any],
    passes: Passes,
    *,
    held_out: Callable[[], float] | None = None,
    report: Callable[[AnyLearner, Run], None] | None = None,
    decision: Decision | None = None,
) -> Run:
    """Train a learner, pass after pass, and return what happened.

    After Ctrl-C, `Run.stop` is "interrupted" and the learner holds what it has learned so far, perhaps nothing
    (`Run.learned`). The caller keeps the learner and then calls `Run.resume_interrupt`.

    Parameters
    ----------
    learner : Learner
        Changed in place.
    material : Material
        The examples to learn from.
    passes : Passes
        How passes are made, and when training ends.
    held_out : callable, optional
        Returns the error of the learner's readout on held-out examples; called after each pass.
    report : callable, optional
        Called with the learner and the run between passes; after every pass only with ``passes.one_by_one``.
    decision : Decision, optional
        Decides whether the examples can be separated, once passes have taken more work than that.

    Returns
    -------
    Run
    """
    run, seen, best = Run(), learner.totals.seen, None
    try:
        material.begin(learner)
        # One call makes many passes over a small data set, unless there is work to do between them.
        watched = held_out is not None or passes.falling is not None
        in_between = watched or passes.one_by_one or learner.one_by_one
        together, lines = (1 if in_between else material.at_once(learner)), 1
        ends = [passes.least, passes.max_iter, *([] if decision is None else [decision.after])]
        settling = Settling() if passes.settles else None
        while run.n_iter < passes.max_iter and run.going:
            stops = ends if settling is None else [*ends, settling.next]
            lines = min(lines, together, *(end - run.n_iter for end in stops if end > run.n_iter))
            _learn(learner, material, passes, run, lines)
            _judge(learner, material, passes, run, decision)
            if settling is not None and run.going and settling.settled(run, partial(material.guesses, learner)):
                run.stop = "settled"
            if held_out is not None:
                run.validation_errors.append(held_out())
                best = _remember(learner, passes, run, best)
            if report is not None:
                report(learner, run)
            lines = 1 if run.verdict.separable is False else 2 * lines
        if run.going:
            run.stop = "max_iter"
        if passes.falling is not None and run.mistakes[-1] == 0:
            run.converged = material.confirms(learner)
        learner.check_finite()
    except KeyboardInterrupt:
        run.stop, run.interrupted = "interrupted", True
    finally:
        if best is not None:
            _take_back(learner, run, best)
    run.learned = learner.totals.seen > seen
    learner.seal()
    return run


def _learn(learner: AnyLearner, material: Material[Any], passes: Passes, run: Run, lines: int) -> None:
    """Make passes and record their mistakes; a finished pass counts even if Ctrl-C comes at its end."""
    totals, done = learner.totals, list[int]()
    seen, mistakes, wrong_tokens, loss = totals.seen, totals.mistakes, totals.wrong_tokens, learner.course.loss
    try:
        done = material.learn(learner, run.n_iter, lines, passes)
    except KeyboardInterrupt:
        if lines == 1 and learner.totals.seen - seen == material.n_rows > 0:
            done = [int(learner.totals.mistakes - mistakes)]
        raise
    finally:
        run.mistakes += done
        if done and learner.totals.tokens:
            run.token_mistakes.append(int(learner.totals.wrong_tokens - wrong_tokens))
        if done and passes.falling is not None:
            run.losses.append(learner.course.loss - loss)


def _judge(learner: AnyLearner, material: Material[Any], passes: Passes, run: Run, decision: Decision | None) -> None:
    """Decide whether training is over, and why."""
    ends = passes.falling is None or learner.course.quiet  # whether training ends with a pass without a mistake
    if ends and run.mistakes[-1] == 0 and material.confirms(learner):
        run.converged, run.stop = True, "converged"
        learner.converge()
    elif learner.course.quiet:
        run.stop = "stuck"
    elif passes.tol is not None and run.n_iter >= passes.least and learner.gives_up(passes.tol):
        run.stop = "margin"
    elif _inseparable(run, decision) and not learner.may_improve:
        run.stop = "inseparable"
    elif passes.falling is not None and passes.falling.stopped(run.losses, material.n_rows):
        run.stop = "loss"
    elif passes.stall is not None and run.n_iter - 1 - int(np.argmin(run.mistakes)) >= passes.stall:
        run.stop = "stalled"


def _inseparable(run: Run, decision: Decision | None) -> bool:
    """Whether the examples are proved not to be separable; asks for the proof once."""
    if decision is not None and run.n_iter == decision.after:
        run.verdict = decision.ask()
    return run.verdict.separable is False


class Best(NamedTuple):
    """The hypothesis with the smallest held-out error so far; of equals the latest, which has learned most."""

    error: float
    number: int  # number of the pass, from 1
    converged: bool
    snapshot: Any


def _remember(learner: AnyLearner, passes: Passes, run: Run, best: Best | None) -> Best | None:
    """Keep the best hypothesis, and stop when it is `patience` passes old."""
    if passes.patience is None and not passes.keep_best:
        return None
    errors = run.validation_errors
    if best is None or errors[-1] <= best.error:
        best = Best(errors[-1], run.n_iter, run.converged, learner.snapshot())
    waited = len(errors) - 1 - int(np.argmin(errors))
    if passes.patience is not None and waited >= passes.patience and run.going:
        run.stop = "validation"
    return best


def _take_back(learner: AnyLearner, run: Run, best: Best) -> None:
    """Go back to the best hypothesis, but keep the counts of all passes."""
    done = {name: getattr(learner.totals, name) for name in Totals.DONE}
    learner.restore(best.snapshot)
    for name, count in done.items():
        setattr(learner.totals, name, count)
    run.converged, run.kept = best.converged, best.number
