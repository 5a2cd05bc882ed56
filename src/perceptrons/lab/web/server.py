"""Run the lab until it is stopped."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable
from typing import Any

import uvicorn

from perceptrons.lab.web.app import LARGEST, Lab
from perceptrons.lab.web.gate import NAMES


class Runner(uvicorn.Server):
    """A server that says when it listens, and stops at once."""

    ready: Callable[[], None]

    async def startup(self, sockets: Any = None) -> None:
        """Listen, then say so."""
        await super().startup(sockets)
        if not self.should_exit:
            self.ready()

    def handle_exit(self, sig: int, frame: Any) -> None:
        """Stop, whatever pages are waiting for."""
        super().handle_exit(sig, frame)
        self.force_exit = True


def listening(port: int) -> socket.socket:
    """Listen on this machine only."""
    try:
        return socket.create_server((NAMES[0], port))
    except OSError as error:
        why = os.strerror(error.errno) if error.errno else str(error)
        raise OSError(f"cannot listen on port {port}: {why}. Choose another --port; 0 takes a free one") from error


def run(lab: Lab, port: int, ready: Callable[[str], None]) -> None:
    """Serve the lab on this machine; `ready` is called with the address."""
    listener = listening(port)
    lab.start(listener.getsockname()[1])
    config = uvicorn.Config(
        lab,
        ws="websockets-sansio",
        ws_max_size=LARGEST,
        ws_per_message_deflate=False,
        proxy_headers=False,
        access_log=False,
        log_level="warning",
        server_header=False,
        lifespan="off",
    )
    runner = Runner(config)
    runner.ready = lambda: ready(lab.address)
    try:
        asyncio.run(runner.serve([listener]))
    finally:
        lab.pool.shutdown(wait=False, cancel_futures=True)
