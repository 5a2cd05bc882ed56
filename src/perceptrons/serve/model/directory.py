"""The directory of a server: one folder a model, and who may use it.

A new folder is filled under a hidden name and renamed when it is complete; a deleted one is renamed first. So each
model is there as a whole, or not at all, whenever the server stops.
"""

from __future__ import annotations

import asyncio
import os
import re
import secrets
import shutil
import sqlite3
from collections.abc import Callable
from concurrent.futures import Executor
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from msgspec import structs, to_builtins

from perceptrons.serve.errors import Damaged, Refused
from perceptrons.serve.limits import Limits
from perceptrons.serve.messages import Create
from perceptrons.serve.model.bulk import check_labels
from perceptrons.serve.model.commits import Key, could_not_write
from perceptrons.serve.model.log import Log
from perceptrons.serve.model.mark import MARK
from perceptrons.serve.model.rebuild import BASE, LOG, new_estimator
from perceptrons.serve.model.records import Group
from perceptrons.serve.model.served import Served
from perceptrons.store.values import to_json

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
Tell = Callable[[str, dict[str, Any]], None]


class Directory:
    """The models in a directory, by name. Only one server may use a directory at a time.

    Parameters
    ----------
    path : Path
        The directory; it is made if it does not exist.
    limits : Limits
        Of the server.
    pool, readers : Executor
        Run what would block the event loop: commits and learning, and what only reads.
    tell : callable
        Called with the name of an event and its facts.
    """

    def __init__(self, path: Path, limits: Limits, pool: Executor, readers: Executor, tell: Tell) -> None:
        self.path, self.limits, self.pool, self.readers, self.tell = path, limits, pool, readers, tell
        self.models: dict[str, Served] = {}
        self.making: set[str] = set()
        self.unreadable: dict[str, str] = {}  # models whose logs cannot be opened, and why
        self.folder = path / "models"
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._lock()

    def _lock(self) -> None:
        """Keep other servers out, until this process ends."""
        self.lock = open(self.path / "lock", "a+")
        os.chmod(self.path / "lock", 0o600)
        if fcntl is not None:
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise BlockingIOError(
                    f"{self.path} is used by another server: stop that one, or choose another directory"
                ) from None

    def load(self, tell: Callable[[str, int], None] | None = None) -> None:
        """Load all models; those that cannot be loaded say why when they are used."""
        for path in sorted(self.folder.iterdir()):
            if path.name.startswith("."):  # the server was stopped while it made or deleted this one
                shutil.rmtree(path, ignore_errors=True)
            elif path.is_dir() and NAME.fullmatch(path.name):
                name = path.name
                served = self._opened(name, path)
                if served is not None:
                    served.load(None if tell is None else partial(tell, name))
                    self.models[name] = served

    def _opened(self, name: str, path: Path) -> Served | None:
        try:
            return self._at(name, path)
        except Exception as error:  # whatever is wrong with one model, the others go on
            why = str(error) if isinstance(error, Damaged) else f"{path} cannot be read: {error}"
            self.unreadable[name] = why
            self.tell("trouble", {"name": name, "what": f"it cannot be loaded: {why}"})
            return None

    def _at(self, name: str, path: Path) -> Served:
        return Served(name, path, Log(path / LOG), self.limits, self.pool, self.readers, self.tell)

    def find(self, name: str) -> Served:
        """The model with this name."""
        found = self.models.get(name)
        if found is None and name in self.unreadable:
            raise Refused(503, f"the model {name!r} cannot be used: {self.unreadable[name]}")
        if found is None:
            raise Refused(404, f"there is no model {name!r:.80}")
        return found

    # -- making and deleting ----------------------------------------------------------------------------------

    async def create(self, name: str, create: Create, upload: bytes | None, key: Key | None) -> tuple[Served, bool]:
        """Make a model; returns it, and whether it is new: the same key makes a model only once."""
        if not NAME.fullmatch(name):
            raise Refused(
                422,
                "the name of a model must have 1 to 64 letters, digits, '.', '_' or '-', and begin with a letter or a "
                "digit",
            )
        if name in self.models or name in self.making or (self.folder / name).exists():
            made = self.models.get(name)
            kept = None if made is None or key is None else made.log.answer(key.text)
            if made is not None and key is not None and kept is not None and kept.digest == key.digest:
                return made, False
            raise Refused(409, f"there is a model {name!r} already: delete it first, or choose another name")
        if len(self.models) + len(self.making) >= self.limits.models:
            raise Refused(409, f"there are {len(self.models):,} models, which is the limit: delete one first")
        self._check(create)
        self.making.add(name)
        try:
            loop = asyncio.get_running_loop()
            made = await loop.run_in_executor(self.pool, self._make, name, create, upload, key)
            self.models[name] = made
            return made, True
        except (ValueError, TypeError) as error:
            raise Refused(422, str(error)) from None
        except (OSError, sqlite3.Error, Damaged) as error:
            raise could_not_write(error, "the model was not created") from None
        finally:
            self.making.discard(name)

    def _check(self, create: Create) -> None:
        for what, good, expected in (
            ("snapshot_every", create.snapshot_every >= 1, ">= 1"),
            ("keep", create.keep is None or 0 <= create.keep < 2**53, ">= 0, or null to keep all"),
            ("window", 1 <= create.window <= 1_000_000, "from 1 to 1,000,000"),
            ("delta", 0.0 < create.delta < 1.0, "between 0 and 1"),
        ):
            if not good:
                raise Refused(422, f"{what} must be {expected}, got {getattr(create, what)}")
        classes = create.classes
        if classes is None:
            return
        if create.estimator == "PassiveAggressiveRegressor":
            raise Refused(422, "classes must be null: a regressor predicts numbers, which have no classes")
        if not 2 <= len(classes) <= self.limits.classes or len(set(classes)) < len(classes):
            raise Refused(422, f"classes must be 2 to {self.limits.classes:,} different labels")
        try:
            check_labels(classes)
        except ValueError as error:
            raise Refused(422, str(error)) from None

    def _make(self, name: str, create: Create, upload: bytes | None, key: Key | None) -> Served:
        hidden = self.folder / f".new-{secrets.token_hex(8)}"
        hidden.mkdir(mode=0o700)
        folder, made = hidden, None
        try:
            if upload is not None:
                create = self._uploaded(hidden / BASE, upload, create)
            else:
                new_estimator(create)
            log = Log.create(hidden / LOG, to_builtins(create))
            if key is not None:
                log.append(Group(answers=[(key.text, key.digest, 0, 201, b"")]))
            log.close()
            os.rename(hidden, self.folder / name)
            folder = self.folder / name
            _sync(self.folder)
            made = self._at(name, folder)
            made.load()
            if made.broken is not None:
                raise OSError(made.broken)
            return made
        except BaseException:
            if made is not None:
                made.log.close()
            if folder != hidden:  # it has its name already, but nobody was told so
                os.rename(folder, hidden)
            _remove(hidden)
            raise

    def _uploaded(self, path: Path, content: bytes, create: Create) -> Create:
        """Check an uploaded model file, as `load` does, and keep the model."""
        from perceptrons.store.estimators import load_rows as load
        from perceptrons.store.estimators import save
        from perceptrons.store.saved import LEARNERS

        with open(path, "xb") as file:
            os.chmod(path, 0o600)
            file.write(content)
        try:
            model = load(path)
        except ValueError as error:
            raise ValueError(str(error).replace(str(path), "the model file")) from None
        kind = type(model).__name__
        if kind not in LEARNERS:
            raise ValueError(f"a {kind} cannot be served: upload one of {', '.join(LEARNERS)}")
        n_classes = len(getattr(model, "classes_", ()))
        weights = model.n_features_in_ * max(1, n_classes)
        for what, found in (("features", model.n_features_in_), ("classes", n_classes), ("weights", weights)):
            if found > getattr(self.limits, what):
                raise ValueError(f"the model has {found:,} {what}: the limit is {getattr(self.limits, what):,}")
        model.set_params(early_stopping=False)  # it was for `fit`; streams refuse it
        save(model, path)  # on the disk when this returns
        params = {name: to_json(value, name) for name, value in model.get_params(deep=False).items()}
        return structs.replace(create, estimator=kind, params=params)

    async def delete(self, name: str) -> None:
        """Delete a model, with its log and its snapshots."""
        served = None if name in self.unreadable else self.find(name)
        self.models.pop(name, None)
        self.making.add(name)
        try:
            if served is not None:
                await served.close(snapshot=False)
            hidden = self.folder / f".old-{secrets.token_hex(8)}"
            os.rename(self.folder / name, hidden)
            self.unreadable.pop(name, None)
            _sync(self.folder)
            await asyncio.get_running_loop().run_in_executor(
                self.pool, lambda: shutil.rmtree(hidden, ignore_errors=True)
            )
        except OSError as error:
            again = self._opened(name, self.folder / name)
            if again is not None:
                again.load()
                self.models[name] = again
            raise could_not_write(error, "the model was not deleted") from None
        finally:
            self.making.discard(name)

    async def close(self) -> None:
        """Finish what was accepted, write snapshots, and close all logs."""
        await asyncio.gather(*(served.close() for served in self.models.values()))
        self.lock.close()


def _sync(folder: Path) -> None:
    """Write the names in a folder to the disk."""
    if os.name == "posix":
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _remove(folder: Path) -> None:
    """Delete the folder of a model that was not made, also if no file can be opened, as `shutil.rmtree` needs to."""
    for name in (BASE, MARK, LOG, f"{LOG}-journal", f"{LOG}-wal", f"{LOG}-shm"):
        (folder / name).unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()
