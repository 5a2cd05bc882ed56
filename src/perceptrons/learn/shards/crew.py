"""Whoever works on the shards. The crew on a cluster is in `perceptrons.dask`; this one works here, one by one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from perceptrons.learn.shards.part import Part, Sent, added

FAN_IN = 4  # parts that are added at a time. Sums are added in the same tree however many workers there are


class Crew(Protocol):
    """Workers that hold shards. Each function is called with a shard, its number, and what else is given."""

    n_shards: int

    def keep(self, plan: Any) -> Any:
        """Give the workers something that they need as long as they work; returns what stands for it."""

    def each(self, function: Callable[..., Any], *given: Any, sent: Any = None) -> list[Any]:
        """What a function returns for each shard. `sent` is sent once to each worker, and given first."""

    def summed(self, function: Callable[..., Part], *given: Any, sent: Sent) -> Part:
        """The sum of the parts that a function returns for each shard, as `tree` adds them."""

    def agree(self, say: Say, decide: Decide, become: Become) -> tuple[Any, Crew]:
        """Let shards agree on something; returns what they have in common, and a crew with what shards become."""


Say = Callable[[Any, int], Any]  # what a shard says, given its number
Decide = Callable[[list[Any]], tuple[Any, Sequence[Any]]]  # what shards have in common, and what concerns each of them
Become = Callable[[Any, int, Any], Any]  # the new shard, of a shard, its number, and what concerns it


def tree(n: int) -> list[list[list[int]]]:
    """The groups in which n parts are added, level by level; the last level has one group.

    >>> tree(6)
    [[[0, 1, 2, 3], [4, 5]], [[0, 1]]]
    """
    levels = []
    while n > 1:
        levels.append([list(range(begin, min(n, begin + FAN_IN))) for begin in range(0, n, FAN_IN)])
        n = len(levels[-1])
    return levels


class Here:
    """A crew of one: it works in this process, shard after shard."""

    def __init__(self, shards: Sequence[Any]) -> None:
        self.shards, self.n_shards = list(shards), len(shards)

    def keep(self, plan: Any) -> Any:
        return plan

    def each(self, function: Callable[..., Any], *given: Any, sent: Any = None) -> list[Any]:
        first = () if sent is None else (sent,)
        return [function(shard, number, *first, *given) for number, shard in enumerate(self.shards)]

    def summed(self, function: Callable[..., Part], *given: Any, sent: Sent) -> Part:
        parts = self.each(function, *given, sent=sent)
        for level in tree(len(parts)):
            parts = [added([parts[k] for k in group]) for group in level]
        found: Part = parts[0]
        return found

    def agree(self, say: Say, decide: Decide, become: Become) -> tuple[Any, Crew]:
        common, own = decide(self.each(say))
        return common, Here([become(shard, number, own[number]) for number, shard in enumerate(self.shards)])
