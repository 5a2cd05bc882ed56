"""Tokens: who may use a server. The file holds their SHA-256, not the tokens themselves.

A token has 256 random bits, so a plain digest keeps it secret: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Annotated, Literal, get_args

from msgspec import Meta, Struct, json

from perceptrons.data.atomic import CAREFUL, Folder, replaced_in

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

Scope = Literal["read", "learn", "admin"]  # each includes those before it
SCOPES: tuple[Scope, ...] = get_args(Scope)
PREFIX = "perceptron_"
FILE, LOCK = "tokens.json", "tokens.lock"  # a running server holds the file "lock" all its life
FRESH = 1.0  # seconds after which the file is looked at again


class Token(Struct):
    """A token as the file has it."""

    name: str
    scope: Scope
    digest: Annotated[str, Meta(pattern=r"\A[0-9a-f]{64}\Z")]


class Tokens:
    """The tokens of a directory. A running server notices changes within a second."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.path = Path(folder) / FILE
        self._looked, self._stamp, self._ever = 0.0, (0, 0), False
        self._scopes: dict[bytes, int] = {}
        self._load()  # a file that is damaged must not let everybody in

    def all(self) -> list[Token]:
        """All tokens in the file."""
        try:
            return json.decode(self.path.read_bytes(), type=list[Token])
        except FileNotFoundError:
            return []
        except (ValueError, RecursionError) as error:
            raise ValueError(f"{self.path} is damaged: {error}. Delete it, and make new tokens") from None

    def make(self, name: str, scope: str) -> str:
        """Make a token and return it: it is shown only now."""
        return self._add(name, scope)[1]

    def make_numbered(self, scope: str) -> tuple[str, str]:
        """Make a token whose name is the smallest free number; return the name and the token."""
        return self._add(None, scope)

    def _add(self, name: str | None, scope: str) -> tuple[str, str]:
        known = next((each for each in SCOPES if each == scope), None)
        if known is None:
            raise ValueError(f"scope must be one of {', '.join(SCOPES)}, got {scope!r}")
        text = PREFIX + secrets.token_urlsafe(32)
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with self._changing() as tokens:
            taken = {token.name for token in tokens}
            if name is None:
                name = next(str(k) for k in range(1, len(taken) + 2) if str(k) not in taken)
            elif name in taken:
                raise ValueError(f"there is a token {name!r} already: revoke it first, or choose another name")
            tokens.append(Token(name, known, digest_of(text.encode()).hex()))
        return name, text

    def revoke(self, name: str) -> None:
        """Delete a token."""
        unknown = ValueError(f"there is no token {name!r}")
        if not self.path.exists():  # nor perhaps a directory for the lock
            raise unknown
        with self._changing() as tokens:
            if all(token.name != name for token in tokens):
                raise unknown
            tokens[:] = [token for token in tokens if token.name != name]

    @contextmanager
    def _changing(self) -> Iterator[list[Token]]:
        """Write the tokens that the block has changed; others who change them wait from reading to writing."""

        def opener(path: str, flags: int) -> int:
            return os.open(path, flags | CAREFUL, 0o600)

        with open(self.path.with_name(LOCK), "ab", opener=opener) as lock:
            if fcntl is not None:
                fcntl.flock(lock, fcntl.LOCK_EX)
            tokens = self.all()
            yield tokens
            with Folder(os.fspath(self.path.parent)) as folder, replaced_in(folder, FILE, private=True) as file:
                file.write(json.encode(tokens))

    # -- for a server -----------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Read the file if it has changed. If it cannot be read, the tokens from before stay valid."""
        self._looked = time.monotonic()
        if self._found() != self._stamp:
            with suppress(OSError, ValueError):
                self._load()

    def _load(self) -> None:
        """Read the file; raise an error and change nothing if it is damaged."""
        self._looked = time.monotonic()
        stamp = self._found()  # before it is read: a later change is seen the next time
        self._scopes = {bytes.fromhex(token.digest): SCOPES.index(token.scope) for token in self.all()}
        self._stamp = stamp
        self._ever = self._ever or bool(self._scopes)

    def _found(self) -> tuple[int, int]:
        """What tells one state of the file from another."""
        try:
            found = os.stat(self.path)
        except OSError:
            return 0, 0
        return found.st_mtime_ns, found.st_ino

    @property
    def required(self) -> bool:
        """Whether there are tokens, or were some since the server started: then nobody gets in without one."""
        if time.monotonic() - self._looked > FRESH:
            self.refresh()
        return self._ever

    def scope_of(self, token: bytes) -> int | None:
        """What a token allows, as a place in `SCOPES`; None if it is not one of these."""
        wanted, found = digest_of(token), None
        for digest, scope in self._scopes.items():
            if hmac.compare_digest(digest, wanted):
                found = scope
        return found


def digest_of(token: bytes) -> bytes:
    """What is kept of a token."""
    return hashlib.sha256(token).digest()
