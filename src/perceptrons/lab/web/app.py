"""The application: files of the page, and a WebSocket over which a page asks and is answered."""

from __future__ import annotations

import asyncio
import gc
import html
import logging
import re
import warnings
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.resources import files
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from perceptrons.lab.web.gate import Gate

logger = logging.getLogger("perceptrons.lab")
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml"}
NAME = re.compile(r"[a-z0-9_-]{1,80}(\.[a-z]{1,8})?")  # of a file of the page, or of a folder
LARGEST = 8 << 20  # bytes of a request
REFUSED = 4403  # code with which a page is turned away
PAGES = 16  # tabs that may be open at a time
WRONG_TOKEN = """<!doctype html><html lang="en"><meta charset="utf-8"><title>perceptrons lab</title>
<body><h1>{0}</h1>
<p>Open the address that <code>perceptrons lab</code> has printed. To see the scene of an old address again, stop the
lab and start it with that address: <code>perceptrons lab 'ADDRESS'</code>.</p></body></html>"""


class Lab:
    """The application. What it computes is imported in the background, so that the page is there at once."""

    def __init__(self, file: str | None = None, fragment: str = "") -> None:
        self.gate, self.file, self.fragment = Gate(), file, fragment
        self.pool = ThreadPoolExecutor(2, "perceptrons-lab")
        self.jobs = set[Future[Any]]()  # what threads compute now
        self.pages = 0
        self.app = Starlette(
            routes=[
                Route("/", self.index),
                Route("/{path:path}", self.asset),
                WebSocketRoute("/talk", self.talk),
            ]
        )
        self.folder = files("perceptrons.lab") / "page"

    def start(self, port: int) -> None:
        """Begin to get ready, for requests to this port."""
        self.gate.port = port
        self.engine = self._submit(_engine)

    def _submit(self, work: Callable[..., Any], *args: Any) -> Future[Any]:
        job = self.pool.submit(work, *args)
        self.jobs.add(job)
        job.add_done_callback(self.jobs.discard)
        return job

    @property
    def busy(self) -> bool:
        """Whether a thread computes something."""
        return any(job.running() for job in list(self.jobs))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request, with headers that keep the page to itself: it loads from here only, nothing is kept."""

        async def headed(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *self._headers()]
            await send(message)

        await self.app(scope, receive, headed)

    def _headers(self) -> list[tuple[bytes, bytes]]:
        here = " ".join(f"ws://{name}" for name in self.gate.hosts)
        policy = (
            f"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src {here}; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        return [
            (b"content-security-policy", policy.encode()),
            (b"cache-control", b"no-store"),
            (b"referrer-policy", b"no-referrer"),
            (b"x-content-type-options", b"nosniff"),
        ]

    @property
    def address(self) -> str:
        """The address to open, with the scene of an earlier address."""
        return self.gate.address + (f"#{self.fragment}" if self.fragment else "")

    async def index(self, request: Request) -> Response:
        """The page."""
        refused = self.gate.refusal(request.scope, needs_token=True)
        if refused is not None:
            return HTMLResponse(WRONG_TOKEN.format(html.escape(refused)), 403)
        return HTMLResponse((self.folder / "index.html").read_bytes())

    async def asset(self, request: Request) -> Response:
        """A script or a style sheet of the page; these are no secret."""
        refused = self.gate.refusal(request.scope, needs_token=False)
        if refused is not None:
            return PlainTextResponse(refused, 403)
        parts = request.path_params["path"].split("/")
        place = self.folder
        for part in parts:
            if not NAME.fullmatch(part):
                return PlainTextResponse("There is no such file.", 404)
            place = place / part
        kind = KINDS.get("." + parts[-1].rpartition(".")[2])
        if kind is None or not place.is_file():
            return PlainTextResponse("There is no such file.", 404)
        return Response(place.read_bytes(), media_type=kind)

    async def talk(self, socket: WebSocket) -> None:
        """Answer one page until it goes. Requests of a page are answered one after the other."""
        if self.gate.refusal(socket.scope, needs_token=False) is not None:
            await socket.close()
            return
        await socket.accept()
        why = self.gate.refusal(socket.scope, needs_token=True)
        if why is None and self.pages >= PAGES:
            why = f"The lab answers {PAGES} pages at a time: close one of them."
        if why is not None:  # a page reads the reason only if it was let in first
            await socket.close(REFUSED, why)
            return
        self.pages += 1
        try:
            await self._talk(socket)
        except (WebSocketDisconnect, asyncio.CancelledError):  # the page has gone, or the lab stops
            pass
        finally:
            self.pages -= 1

    async def _talk(self, socket: WebSocket) -> None:
        engine = await asyncio.wrap_future(self.engine)
        session = engine.Session(self.file)
        await socket.send_bytes(engine.messages.encoded({"id": 0, **engine.welcome(self.file)}))
        while socket.client_state == WebSocketState.CONNECTED:
            received = await socket.receive()
            if received["type"] == "websocket.disconnect":
                return
            try:
                if received.get("text") is None:
                    raise ValueError("expected text, got bytes")
                request = engine.messages.decoder.decode(received["text"])
            except (ValueError, RecursionError) as error:  # msgspec's errors are of these, too
                await socket.send_bytes(engine.messages.encoded({"id": -1, "error": f"not a request: {error}"}))
                continue
            answer = await self._run(session.answer, request)
            await socket.send_bytes(answer)

    async def _run(self, work: Callable[[Any], bytes], request: Any) -> bytes:
        """Work in a thread, so that other tabs and the page's files are served meanwhile."""
        try:
            answer: bytes = await asyncio.wrap_future(self._submit(work, request))
            return answer
        except Exception:
            logger.exception("a request failed")
            fault = {"id": request.id, "error": "The lab made a mistake; the terminal says which."}
            return _without_arrays(fault)


def _without_arrays(head: dict[str, Any]) -> bytes:
    """An answer without arrays."""
    from perceptrons.lab.messages import encoded

    return encoded(head)


def _engine() -> Any:
    """Import what answers, and answer once, so that the first real answer is quick."""
    gc.disable()  # nothing of what is imported is garbage, and looking for it takes a tenth of the time
    try:
        from sklearn.exceptions import ConvergenceWarning

        from perceptrons.lab import answers
        from perceptrons.lab.messages import Scene, Show

        # `catch_warnings` in one thread undoes that of another, so none may be left to catch.
        warnings.simplefilter("ignore", ConvergenceWarning)
        scene = Scene([[0.0, 0.0], [1.0, 1.0]], [0, 1], [-1, 1])
        answers.Session().answer(Show(0, scene))
    finally:
        gc.enable()
    return answers
