"""Shards as material of `fit`: an epoch is a pass over every shard from the same weights, and then the mixture."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from perceptrons.learn.fit import Passes
from perceptrons.learn.labels import Array, say_unknown
from perceptrons.learn.shards import work
from perceptrons.learn.shards.crew import Crew


class Shards:
    """The examples of all shards.

    plan: what the crew keeps. n_rows: number of examples that are learned in an epoch. mixing: how much shards count.
    """

    def __init__(self, crew: Crew, plan: Any, n_rows: int, mixing: str) -> None:
        self.crew, self.plan, self.n_rows, self.mixing = crew, plan, n_rows, mixing
        self.mistakes: list[list[int]] = []  # of each epoch, by shard

    def begin(self, learner: Any) -> None:
        """Nothing to do before the first epoch."""

    def at_once(self, learner: Any) -> int:
        return 1

    def learn(self, learner: Any, number: int, lines: int, passes: Passes) -> list[int]:
        if self.crew.n_shards == 1:
            before = learner.totals.mistakes
            [whole] = self.crew.each(work.continued, self.plan, number, passes, sent=learner.whole)
            learner.take_over(*whole)
            self.mistakes.append([int(learner.totals.mistakes - before)])
        else:
            part = self.crew.summed(work.learned, self.plan, number, passes, self.mixing, sent=learner.send())
            learner.mix(part)
            self.mistakes.append([part.mistakes[shard] for shard in range(self.crew.n_shards)])
        return [sum(self.mistakes[-1])]

    def confirms(self, learner: Any) -> bool:
        if learner.course.quiet:
            return True
        return all(self.crew.each(work.confirmed, self.plan, sent=learner.send_weights(learner.current)))

    def guesses(self, learner: Any) -> Array:
        return np.concatenate(list(self.crew.each(work.guessed, self.plan, sent=learner.send_weights())))

    def error(self, learner: Any) -> float:
        """The error of the readout on the held-out rows of all shards."""
        found = self.crew.each(work.wrong, self.plan, sent=learner.send_weights())
        return float(sum(count for count, _ in found) / sum(n for _, n in found))

    def compared(self, learner: Any) -> tuple[work.Pairs, work.Pairs]:
        """Labels with predictions: of the rows that are learned, and of those held out."""
        found = self.crew.each(work.compared, self.plan, sent=learner.send_weights())
        return _joined(learned for learned, _ in found), _joined(held_out for _, held_out in found)


def _joined(parts: Iterable[work.Pairs]) -> work.Pairs:
    total = work.Pairs()
    for part in parts:
        for pair, count in part.items():
            total[pair] = total.get(pair, 0) + count
    return total


class Watched:
    """The error of the readout on shards of separate held-out rows, called `name`."""

    def __init__(self, learner: Any, crew: Crew, plan: Any, name: str) -> None:
        self.learner, self.crew, self.plan, self.name = learner, crew, plan, name
        self._told = False  # whether labels that training has not seen were mentioned

    def __call__(self) -> float:
        found = self.crew.each(work.wrong_in_all, self.plan, sent=self.learner.send_weights())
        total, strange = sum(n for _, n, _ in found), [label for *_, labels in found for label in labels]
        if total == 0:
            raise ValueError(f"{self.name} has no rows")
        if strange and not self._told:
            self._told = True
            say_unknown(list(dict.fromkeys(strange)), len(strange), self.name)
        return float(sum(count for count, _, _ in found) / total)

    def compared(self) -> work.Pairs:
        """Labels with predictions."""
        return _joined(self.crew.each(work.compared_in_all, self.plan, sent=self.learner.send_weights()))
