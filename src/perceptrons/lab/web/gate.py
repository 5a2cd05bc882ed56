"""Who gets in: only the browser that was given the address, on this machine."""

from __future__ import annotations

import secrets
from typing import Any
from urllib.parse import parse_qs

NAMES = ("127.0.0.1", "localhost")


class Gate:
    """Knows the token of this start, and the port.

    Another page in the browser can send requests to this machine, but it does not know the token, and its `Origin`
    gives it away. A name of another site that points to 127.0.0.1 is seen in `Host`.
    """

    def __init__(self) -> None:
        self.token, self.port = secrets.token_urlsafe(16), 0

    @property
    def hosts(self) -> list[str]:
        """The names that a browser on this machine uses, with the port unless it is the usual one."""
        return [name if self.port == 80 else f"{name}:{self.port}" for name in NAMES]

    @property
    def address(self) -> str:
        """The address of the page."""
        return f"http://{self.hosts[0]}/?token={self.token}"

    def refusal(self, scope: Any, *, needs_token: bool) -> str | None:
        """Why a request is refused; None if it may pass."""
        hosts = [value.decode("latin-1") for name, value in scope["headers"] if name == b"host"]
        origins = [value.decode("latin-1") for name, value in scope["headers"] if name == b"origin"]
        if len(hosts) != 1 or hosts[0] not in self.hosts:
            return "The lab answers only at the address that it prints."
        if any(origin != f"http://{hosts[0]}" for origin in origins):
            return "Pages of other sites may not use the lab."
        if scope["type"] == "websocket" and not origins:
            return "Only the page of the lab may connect."
        given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if needs_token and not secrets.compare_digest(given.encode(), self.token.encode()):
            return "This address belongs to an earlier start of the lab."
        return None
