"""Tokens: who may use a server. The file holds their SHA-256, not the tokens themselves.

A token has 256 random bits, so a plain digest keeps it secret: there is nothing to guess.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import time
from contextlib import suppress
from pathlib import Path

from msgspec import DecodeError, Struct, ValidationError, json

from perceptrons.data.atomic import Folder, replaced_in

SCOPES = ("read", "learn", "admin")  # each includes those before it
PREFIX = "perceptron_"
FILE = "tokens.json"
FRESH = 1.0  # seconds after which the file is looked at again


class Token(Struct):
    """A token as the file has it."""

    name: str
    scope: str
    digest: str


class Tokens:
    """The tokens of a directory. A running server notices changes within a second."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.path = Path(folder) / FILE
        self._looked, self._stamp, self._ever = 0.0, (0, 0), False
        self._scopes: dict[bytes, int] = {}
        self.all()  # a file that is damaged must not let everybody in
        self.refresh()

    def all(self) -> list[Token]:
        """All tokens in the file."""
        try:
            return json.decode(self.path.read_bytes(), type=list[Token])
        except FileNotFoundError:
            return []
        except (ValidationError, DecodeError) as error:
            raise ValueError(f"{self.path} is damaged: {error}. Delete it, and make new tokens") from None

    def make(self, name: str, scope: str) -> str:
        """Make a token and return it: it is shown only now."""
        if scope not in SCOPES:
            raise ValueError(f"scope must be one of {', '.join(SCOPES)}, got {scope!r}")
        tokens = self.all()
        if any(token.name == name for token in tokens):
            raise ValueError(f"there is a token {name!r} already: revoke it first, or choose another name")
        text = PREFIX + secrets.token_urlsafe(32)
        self._write([*tokens, Token(name, scope, digest_of(text.encode()).hex())])
        return text

    def revoke(self, name: str) -> None:
        """Delete a token."""
        tokens = self.all()
        if all(token.name != name for token in tokens):
            raise ValueError(f"there is no token {name!r}")
        self._write([token for token in tokens if token.name != name])

    def _write(self, tokens: list[Token]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with Folder(os.fspath(self.path.parent)) as folder, replaced_in(folder, FILE, private=True) as file:
            file.write(json.encode(tokens))

    # -- for a server -----------------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Read the file if it has changed. If it cannot be read, the tokens from before stay valid."""
        self._looked = time.monotonic()
        try:
            found = os.stat(self.path)
            stamp = found.st_mtime_ns, found.st_ino
        except OSError:
            stamp = (0, 0)
        if stamp == self._stamp:
            return
        with suppress(OSError, ValueError):
            self._scopes = {bytes.fromhex(token.digest): SCOPES.index(token.scope) for token in self.all()}
            self._stamp = stamp
            self._ever = self._ever or bool(self._scopes)

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
