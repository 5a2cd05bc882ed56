"""Who gets in: tokens with scopes, and no pages of other sites in a browser on this machine."""

from __future__ import annotations

import ipaddress
from typing import Any

from perceptrons.serve.errors import Refused
from perceptrons.serve.web.tokens import SCOPES, Tokens

LOCAL = {b"localhost", b"127.0.0.1", b"[::1]"}


def is_loopback(host: str) -> bool:
    """Whether only programs on this machine reach this address."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def header(scope: Any, name: bytes) -> bytes | None:
    """The value of a header, whose name is in lower case."""
    for key, value in scope["headers"]:
        if key == name:
            found: bytes = value
            return found
    return None


class Gate:
    """Decides whether a request may pass.

    Without tokens, the server answers only programs on this machine. A page of another site, in a browser on this
    machine, could send requests, too: its `Origin` or `Host` gives it away.
    """

    def __init__(self, tokens: Tokens) -> None:
        self.tokens = tokens

    def admit(self, scope: Any, needed: int | None) -> int:
        """Refuse a request that lacks the scope, a place in `SCOPES`; None: everybody may. Returns what it may do."""
        origin, given, hosts = None, b"", []
        for key, value in scope["headers"]:
            if key == b"host":
                hosts.append(value)
            elif key == b"origin":
                origin = value
            elif key == b"authorization":
                given = value
        if len(hosts) > 1:
            raise Refused(400, "the request has two Host headers")
        host = hosts[0] if hosts else b""
        if origin is not None and origin.split(b"://")[-1] != host:
            raise Refused(403, "pages of other sites may not use this server")
        if not self.tokens.required:
            if host.rsplit(b":", 1)[0] not in LOCAL and host not in LOCAL:
                raise Refused(403, "without tokens, this server answers only to localhost, 127.0.0.1 and [::1]")
            return len(SCOPES) - 1
        if needed is None:
            return 0
        scheme, _, token = given.partition(b" ")
        allowed = self.tokens.scope_of(token.strip()) if scheme.lower() == b"bearer" else None
        if allowed is None:
            raise Refused(401, "this server needs a token: send the header 'Authorization: Bearer TOKEN'")
        if allowed < needed:
            raise Refused(403, f"this needs a token with the scope {SCOPES[needed]!r}; yours has {SCOPES[allowed]!r}")
        return allowed
