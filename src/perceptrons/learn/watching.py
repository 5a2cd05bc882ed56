"""Learn one row a call, so that every update of any learner can be seen."""

from __future__ import annotations

from typing import Any, Protocol

from perceptrons.learn.examples import Examples
from perceptrons.learn.fit import InMemory, Passes, orders_of
from perceptrons.learn.learner import Learner


class Observer(Protocol):
    """Somebody who watches a learner."""

    def before(self, learner: Any) -> None:
        """Called before each row."""

    def updated(self, learner: Any, row: int | None) -> None:
        """Called after a row that made an update; None after a pass whose rows are not watched."""


class Watched(InMemory[Examples]):
    """Examples in memory whose rows are visited one by one, and an observer who is told of each update.

    It is material for the training loop like any other, and gives the same result. After `most` rows it goes on in
    whole passes, because a call for each row takes about 20 µs.
    """

    def __init__(self, examples: Examples, observer: Observer, most: int) -> None:
        super().__init__(examples)
        self.observer, self.left = observer, most

    def at_once(self, learner: Learner[Examples]) -> int:
        return 1

    def learn(self, learner: Learner[Examples], number: int, lines: int, passes: Passes) -> list[int]:
        order, updates, mistakes = orders_of(self.order, 1, passes.seed, number)[0], learner.totals.updates, 0
        watched, self.left = self.left >= len(order), self.left - len(order)
        for part in order.reshape(-1, 1) if watched else [order]:
            now = learner.totals.updates
            self.observer.before(learner)
            mistakes += learner.once(self.examples, part)
            if learner.totals.updates > now:
                self.observer.updated(learner, int(part[0]) if watched else None)
        learner.course.quiet = updates == learner.totals.updates
        return [mistakes]
