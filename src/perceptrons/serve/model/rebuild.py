"""A model from its folder: the newest snapshot that can be read, and the log after it.

A folder holds ``log.sqlite``, perhaps ``base.perceptron`` (the model file that the model was made from), and
snapshots ``snapshot-POSITION.perceptron``.
"""

from __future__ import annotations

import copy
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from perceptrons.serve.errors import Damaged
from perceptrons.serve.messages import Create
from perceptrons.serve.model.learning import learn_row
from perceptrons.serve.model.log import Log
from perceptrons.serve.model.monitor import Monitor

BASE = "base.perceptron"
LOG = "log.sqlite"


class Built(NamedTuple):
    """A model at a position of its log, with its monitor.

    examples: how many it has learned since the snapshot. oldest: the first position that can be restored. logged: the
    examples in the whole log.
    """

    model: Any
    monitor: Monitor
    position: int
    snapshot: int
    examples: int
    oldest: int
    logged: int


def new_estimator(create: Create) -> Any:
    """An estimator that has learned nothing. Raises ValueError or TypeError if its parameters are wrong."""
    from perceptrons import models
    from perceptrons.store.saved import LEARNERS
    from perceptrons.store.values import from_json, rule_from

    if create.estimator not in LEARNERS:
        raise ValueError(f"estimator must be one of {', '.join(LEARNERS)}, got {create.estimator!r:.80}")
    params = {name: from_json(value) for name, value in create.params.items()}
    if isinstance(params.get("rule"), dict):
        params["rule"] = rule_from(_complete(params["rule"]))
    known = set(getattr(models, create.estimator)._get_param_names())
    unknown = sorted(set(params) - known)
    if unknown:
        raise ValueError(f"{create.estimator} has no parameter {unknown[0]!r:.80}: it has {', '.join(sorted(known))}")
    model = getattr(models, create.estimator)(**params)
    try:
        model._check_learning_once(True)
    except AttributeError as error:  # as scikit-learn says that a method is not there
        raise ValueError(str(error)) from None
    return model


def _complete(rule: dict[str, Any]) -> dict[str, Any]:
    """A rule with all its parameters: those that are missing have their defaults."""
    from perceptrons import rules

    kind = rules.RULES.get(str(rule.get("rule")))
    return rule if kind is None else {**kind()._asdict(), **rule}


def rebuild(
    folder: Path, log: Log, create: Create, to: int | None = None, tell: Callable[[int], None] | None = None
) -> Built:
    """Rebuild a model as it was at a position, by default the last; `tell` is called with positions on the way.

    A snapshot that is damaged is passed over; an older one, or the beginning, and more of the log give the same model.
    Raises `Damaged` if that is not possible.
    """
    try:
        model, monitor, snapshot = _newest(folder, log, create, to)
        position, examples = snapshot, 0
        for row in log.rows(snapshot, to):
            try:
                monitor.add(learn_row(model, row, create.classes), row.last)
            except Exception as error:
                raise Damaged(
                    f"{log.path}: the requests at positions {row.first} to {row.last} cannot be learned again: {error}"
                ) from error
            position, examples = row.last, examples + row.examples
            if tell is not None:
                tell(position)
        oldest, logged = max(0, log.begin - 1), log.examples
    except sqlite3.Error as error:
        raise Damaged(f"{log.path} cannot be read: {error}") from error
    expected = log.tail if to is None else to
    if position != expected:
        raise Damaged(f"{log.path} has no position {expected}: its last is {position}")
    return Built(model, monitor, position, snapshot, examples, oldest, logged)


def _newest(folder: Path, log: Log, create: Create, to: int | None) -> tuple[Any, Monitor, int]:
    """The newest snapshot up to a position that can be read."""
    from perceptrons.store.estimators import load_rows as load

    troubles = []
    for position, file, facts in log.snapshots(to):
        try:
            return load(folder / file), Monitor.restored(facts["monitor"]), position
        except (OSError, ValueError, KeyError) as error:
            troubles.append(str(error))
    if log.begin > 1:
        troubles.append(f"the log begins at position {log.begin}, and no earlier snapshot can be read")
        raise Damaged(f"{folder} cannot be read: {'; '.join(troubles)}")
    monitor = Monitor(create.window, create.delta)
    if (folder / BASE).exists():
        try:
            return load(folder / BASE), monitor, 0
        except (OSError, ValueError) as error:
            raise Damaged(f"{folder} cannot be read: {error}") from error
    return new_estimator(create), monitor, 0


def save_snapshot(model: Any, path: Path) -> None:
    """Write a snapshot, and read it back: what cannot be read is not a snapshot."""
    from perceptrons.store.estimators import load_rows as load
    from perceptrons.store.estimators import save

    save(model, path)
    load(path)


def copied(model: Any) -> Any:
    """A copy of a model that no other thread changes."""
    with model._guard.mine():
        model._guard.settle()
        return copy.deepcopy(model)
