"""The application: from a request to its answer.

Starlette finds the route. Requests that predict and learn take a short cut to the same endpoint: for one example,
finding the route would take longer than learning.
"""

from __future__ import annotations

import asyncio
import logging
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route as StarletteRoute

from perceptrons.serve.errors import Refused
from perceptrons.serve.limits import Limits
from perceptrons.serve.model.directory import Directory
from perceptrons.serve.web.events import Events
from perceptrons.serve.web.gate import Gate
from perceptrons.serve.web.http import Call, Questions, failure, send_reply
from perceptrons.serve.web.metrics import Metrics
from perceptrons.serve.web.openapi import description
from perceptrons.serve.web.routes import READ, ROUTES, V1, Route
from perceptrons.serve.web.tokens import Tokens

THREADS = 8
logger = logging.getLogger("perceptrons.serve")


class Server:
    """The application, which servers such as uvicorn run.

    Parameters
    ----------
    path : Path
        The directory with models and tokens.
    limits : Limits, optional
        What is allowed.
    """

    def __init__(self, path: Path, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self.pool = ThreadPoolExecutor(THREADS, "perceptrons")
        self.events = Events(self._facts)
        self.readers = ThreadPoolExecutor(2, "perceptrons-readers")
        self.directory = Directory(path, self.limits, self.pool, self.readers, self._tell)
        self.gate = Gate(Tokens(path))
        self.metrics = Metrics(self.directory)
        self.description = description()
        self.stopping = False
        self.questions = Questions()
        endpoints = {(route.method, route.path): Endpoint(self, route) for route in ROUTES}
        self.quick = {
            path.removeprefix(f"{V1}/"): endpoint
            for (method, path), endpoint in endpoints.items()
            if method == "POST" and path.startswith(f"{V1}/")
        }
        self.app = Starlette(
            routes=[StarletteRoute(path, each, methods=[method]) for (method, path), each in endpoints.items()],
            exception_handlers={HTTPException: _no_route},
            lifespan=self._lifespan,
        )
        self.app.router.redirect_slashes = False

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        if scope["type"] == "http" and scope["method"] == "POST":
            parts = scope["path"].split("/")
            if len(parts) == 5 and parts[1] == "v1" and parts[2] == "models" and parts[4] in self.quick:
                await self.quick[parts[4]].answer(parts[3], scope, receive, send)
                return
        await self.app(scope, receive, send)

    @asynccontextmanager
    async def _lifespan(self, app: Any) -> Any:
        sweeper = asyncio.create_task(self._sweep())
        yield
        self.stopping = True
        sweeper.cancel()
        await self.directory.close()
        self.pool.shutdown()
        self.readers.shutdown()

    async def _sweep(self) -> None:
        """Now and then, forget predictions whose labels never came."""
        while True:
            await asyncio.sleep(min(60.0, self.limits.pending_seconds))
            for served in list(self.directory.models.values()):
                with suppress(Refused):  # a model that cannot be used
                    await served.enter()
                    gone = served.pending.expired()
                    if gone:
                        served.batch().group.pending += gone

    def _tell(self, event: str, facts: dict[str, Any]) -> None:
        if event == "trouble":
            logger.warning("model %s: %s", facts["name"], facts["what"])
        self.events.tell(event, facts)

    def _facts(self) -> dict[str, Any]:
        """What listeners are sent every second."""
        return {
            "models": [served.state() for served in self.directory.models.values()],
            "uptime": round(time.monotonic() - self.metrics.started, 1),
            "requests": self.metrics.served,
        }


class Endpoint:
    """A route of a server, as an application of its own."""

    def __init__(self, server: Server, route: Route) -> None:
        self.server, self.route = server, route
        self.label = f"{route.method} {route.path}"

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.answer(scope["path_params"].get("name", ""), scope, receive, send)

    async def answer(self, name: str, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request to the model with this name."""
        server, route, begun = self.server, self.route, time.perf_counter()
        call = Call(scope, receive, name, server.limits, server.questions if route.scope in (None, READ) else None)
        try:
            call.allowed = server.gate.admit(scope, route.scope)
            reply = await route.act(server.directory.find(name) if route.of_model else server, call)
        except Refused as refused:
            reply = failure(refused)
        except Exception:
            if not server.stopping:  # otherwise there are no threads any more that could do the work
                logger.exception("%s failed", self.label)
            reply = failure(
                Refused(503, "the server is stopping: send the request again later")
                if server.stopping
                else Refused(500, "a fault of the server; its log says more")
            )
        server.questions.held.discard(call)
        server.metrics.count(self.label, reply.status, time.perf_counter() - begun)
        try:
            await send_reply(reply, call, send)
        except TimeoutError:
            logger.info("%s: the client did not take the answer in time", self.label)


async def _no_route(request: Request, error: Exception) -> Response:
    """The answer to a request that no route fits."""
    assert isinstance(error, HTTPException)
    path = f"{request.url.path[:200]!r}"
    words = f"there is no route {path}" if error.status_code == 404 else f"{path} does not take {request.method}"
    refused = failure(Refused(error.status_code, f"{words}: see /openapi.json"))
    assert isinstance(refused.body, bytes)
    return Response(refused.body, error.status_code, media_type="application/json")
