"""Run the application: addresses, TLS, slow clients, and stopping."""

from __future__ import annotations

import asyncio
import gc
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import uvicorn

from perceptrons.serve.limits import Limits
from perceptrons.serve.web.app import Server
from perceptrons.serve.web.gate import is_loopback
from perceptrons.serve.web.short import Short
from perceptrons.serve.web.tokens import Tokens

GRACE = 300  # seconds that requests have to finish when the server stops


class Runner(uvicorn.Server):
    """A server that ends its streams of events when it stops."""

    application: Server
    ready: Callable[[], None] | None = None

    async def startup(self, sockets: Any = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        if self.ready is not None and not self.should_exit:
            self.ready()

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Finish what was accepted, and stop."""
        self.application.events.stopping.set()
        super().handle_exit(sig, frame)


def new_loop() -> asyncio.AbstractEventLoop:
    """The fastest event loop that there is."""
    try:
        import uvloop
    except ImportError:  # Windows has none
        return asyncio.new_event_loop()
    loop: asyncio.AbstractEventLoop = uvloop.new_event_loop()
    return loop


def check_address(host: str, tokens: Tokens) -> None:
    """Refuse to be reached from other machines if there are no tokens."""
    if not tokens.required and not is_loopback(host):
        raise ValueError(
            f"without tokens, everybody who reaches {host} could use the models: make a token with `perceptrons serve "
            "token DIR`, or use --host 127.0.0.1"
        )


def run(
    path: Path,
    *,
    host: str = "127.0.0.1",
    port: int = 8000,
    limits: Limits | None = None,
    certificate: str | None = None,
    key: str | None = None,
    ready: Callable[[Server, int], None] | None = None,
    progress: Callable[[str, int], None] | None = None,
) -> None:
    """Serve a directory until the process is told to stop.

    Parameters
    ----------
    path : Path
        The directory.
    host : str
        Address to listen on.
    port : int
        Port to listen on; 0 takes a free one.
    limits : Limits, optional
        What is allowed.
    certificate, key : str, optional
        Files for TLS.
    ready : callable, optional
        Called with the application and its port when it listens.
    progress : callable, optional
        Called with the name of a model and a position while logs are read.
    """
    check_address(host, Tokens(path))
    with asyncio.Runner(loop_factory=new_loop) as runner:
        runner.run(_run(path, host, port, limits or Limits(), certificate, key, ready, progress))


async def _run(
    path: Path,
    host: str,
    port: int,
    limits: Limits,
    certificate: str | None,
    key: str | None,
    ready: Callable[[Server, int], None] | None,
    progress: Callable[[str, int], None] | None,
) -> None:
    listener = socket.create_server(
        (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=2048
    )
    server = Server(path, limits)
    server.directory.load(progress)
    protocol = type("Protocol", (Short,), {"patience": limits.timeout, "application": server})
    config = uvicorn.Config(
        server,
        http=protocol,
        proxy_headers=False,
        ws="none",
        access_log=False,
        log_level="warning",
        server_header=False,
        date_header=False,
        ssl_certfile=certificate,
        ssl_keyfile=key,
        timeout_keep_alive=int(max(5, limits.timeout)),
        timeout_graceful_shutdown=GRACE,
        h11_max_incomplete_event_size=1 << 16,
    )
    runner = Runner(config)
    runner.application = server

    gc.collect()
    gc.freeze()  # what is there now stays: looking at it again and again would keep requests waiting

    def listening() -> None:
        if ready is not None:
            ready(server, listener.getsockname()[1])

    runner.ready = listening
    await runner.serve([listener])
    if not runner.started:
        raise SystemExit(2)
