"""What workers do with shards. Each function runs where the shard is.

They change nothing that another call could see: the same call gives the same result, wherever it runs again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptrons.learn.fit import Passes
from perceptrons.learn.labels import Array
from perceptrons.learn.scale.statistics import Statistics
from perceptrons.learn.shards.part import Part, Sent
from perceptrons.learn.shards.rows import Facts, Plan, Shard, SourceShard
from perceptrons.learn.stream import Stream
from perceptrons.learn.targets import Targets

STRIDE = 0xD1B54A32D192ED03  # between the seeds of shards; shard 0 has that of the run


def facts(shard: Shard, number: int, targets: Targets) -> Facts:
    """Find out what is in a shard."""
    with shard.lock:
        return shard.facts(targets)


def is_uneven(shard: Shard, number: int, plan: Plan) -> bool:
    """Whether features are to be scaled: the beginning of the first shard decides, as that of a whole source does."""
    with shard.lock:
        return number == 0 and shard.is_uneven(plan, number)


def statistics(shard: Shard, number: int, plan: Plan) -> Statistics | None:
    """Statistics of the features of a shard."""
    with shard.lock:
        return shard.statistics(plan, number)


# The functions below also work on shards of sentences (`learn.shards.sentences`), with their plan.


def _learn(shard: Any, number: int, plan: Any, learner: Any, epoch: int, passes: Passes) -> None:
    """Make one pass over a shard."""
    if not plan.n_learned(number):
        return
    seed = None if passes.seed is None else (passes.seed + STRIDE * number) % 2**64
    shard.material(plan, number).learn(learner, epoch, 1, passes._replace(seed=seed))


def learned(shard: Any, number: int, sent: Sent, plan: Any, epoch: int, passes: Passes, mixing: str) -> Part:
    """Make one pass over a shard, from what was sent."""
    with shard.lock:
        learner = plan.template.received(sent)
        _learn(shard, number, plan, learner, epoch, passes)
        part: Part = learner.part(sent, mixing, number, shard.touched)
        return part


def continued(
    shard: Any, number: int, whole: tuple[Any, ...], plan: Any, epoch: int, passes: Passes
) -> tuple[Any, ...]:
    """Make one pass over the only shard: a learner goes on from its whole state, and nothing is mixed."""
    with shard.lock:
        learner = plan.template.going_on(*whole)
        _learn(shard, number, plan, learner, epoch, passes)
        after: tuple[Any, ...] = learner.whole
        return after


def confirmed(shard: Any, number: int, sent: Sent, plan: Any) -> bool:
    """Whether the weights that were sent make no mistake on the rows that are learned."""
    with shard.lock:
        return not plan.n_learned(number) or shard.material(plan, number).confirms(plan.reader.received(sent))


def guessed(shard: Any, number: int, sent: Sent, plan: Any) -> Array:
    """What the weights that were sent predict for the rows of a shard, as small codes."""
    with shard.lock:
        material = shard.material(plan, number)
        guesses: Array = material.guesses(plan.reader.received(sent))
        return guesses


def wrong(shard: Any, number: int, sent: Sent, plan: Any) -> tuple[float, int]:
    """Number of held-out rows, or tokens, that the weights decide wrong, and of all that are held out."""
    with shard.lock:
        learner = plan.reader.received(sent)
        counts = [plan.errors(learner, examples) for examples in shard.held_out(plan, number)]
    return sum(count for count, _ in counts), sum(n for _, n in counts)


def wrong_in_all(shard: Shard, number: int, sent: Sent, plan: Plan) -> tuple[float, int, list[Any]]:
    """Of a shard of separate held-out rows: number of wrong ones, of all, and labels that training has not seen."""
    count, total, unknown = 0.0, 0, list[Any]()
    with shard.lock:
        learner = plan.reader.received(sent)
        for examples, strange in shard.everything(plan):
            count, total = count + learner.wrong(examples), total + len(examples)
            unknown += strange.tolist()
    return count, total, unknown


Pairs = dict[tuple[int, int], int]  # number of rows by the codes of their label and of the prediction


def compared(shard: SourceShard, number: int, sent: Sent, plan: Plan) -> tuple[Pairs, Pairs]:
    """Count labels with predictions: of the rows that are learned, and of those held out."""
    learned, held_out = Pairs(), Pairs()
    with shard.lock:
        stream: Stream = shard.prepared(plan, number)
        for codes, guesses, held in stream.predictions(plan.reader.received(sent)):
            _count(learned, codes if held is None else codes[~held], guesses if held is None else guesses[~held])
            if held is not None:
                _count(held_out, codes[held], guesses[held])
    return learned, held_out


def compared_in_all(shard: Shard, number: int, sent: Sent, plan: Plan) -> Pairs:
    """Count labels with predictions, of a shard of separate held-out rows."""
    found = Pairs()
    with shard.lock:
        learner = plan.reader.received(sent)
        for examples, _ in shard.everything(plan):
            _count(found, examples.codes, learner.predict(learner.decide(examples.rows)))
    return found


def _count(pairs: Pairs, codes: Array, guesses: Array) -> None:
    both, counts = np.unique(np.stack([codes.astype(np.int64), guesses]), axis=1, return_counts=True)
    for (code, guess), count in zip(both.T.tolist(), counts.tolist(), strict=True):
        pairs[code, guess] = pairs.get((code, guess), 0) + count
