"""All routes: one table, from which the server and its description at /openapi.json are made."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncGenerator, Awaitable, Callable, Generator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

from msgspec import convert, json

from perceptrons.serve import messages
from perceptrons.serve.errors import Damaged, Refused
from perceptrons.serve.messages import Create, Models, Position, Replay, Replayed, encode
from perceptrons.serve.model.bulk import parts_of, predict_parts
from perceptrons.serve.model.served import Served, classes_of, counts
from perceptrons.serve.web import inference, verbs
from perceptrons.serve.web.http import Call, Reply

READ, LEARN, ADMIN = 0, 1, 2  # places in `tokens.SCOPES`
FILE = b"application/octet-stream"
PIECE = 1 << 16  # bytes of a file that are sent at a time
NDJSON = b"application/x-ndjson"
PAGE = Path(__file__).parents[1] / "page"
POLICY = b"default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:"
PAGES = {
    "/": ("index.html", b"text/html"),
    "/page.css": ("page.css", b"text/css"),
    "/page.js": ("page.js", b"text/javascript"),
}


class Route(NamedTuple):
    """A route. scope: what its token must allow. takes, answers: types of bodies, or names of other formats.

    A tuple means one of several.

    of_model: whether `act` takes the model that the path names, and the call; otherwise the server and the call.
    """

    method: str
    path: str
    scope: int | None
    act: Callable[..., Awaitable[Reply]]
    answers: Any
    takes: tuple[Any, ...] = ()
    query: Mapping[str, tuple[type, str]] = MappingProxyType({})
    of_model: bool = True
    keyed: bool = False  # whether it takes an Idempotency-Key
    status: int = 200

    @property
    def summary(self) -> str:
        """What it does: the first line of its docstring."""
        return (self.act.__doc__ or "").split("\n")[0]


# -- models ---------------------------------------------------------------------------------------------------


async def models(server: Any, call: Call) -> Reply:
    """List all models with their states."""
    return Reply(encode(Models([served.state() for served in server.directory.models.values()])))


async def create(server: Any, call: Call) -> Reply:
    """Create a model, from an estimator and its parameters or from a model file."""
    body = await call.body()
    upload = None
    if call.content_type == FILE:
        options = call.options(snapshot_every=int, keep=int, window=int, delta=float)
        settings, upload = convert(options, Create), body
    else:
        settings = await call.read(Create, body)
    made, new = await server.directory.create(call.name, settings, upload, call.key(body))
    return Reply(encode(made.state()), 201 if new else 200)


async def state(served: Served, call: Call) -> Reply:
    """Show the state of a model."""
    return Reply(encode(served.state()))


async def delete(server: Any, call: Call) -> Reply:
    """Delete a model, its log and its snapshots."""
    await server.directory.delete(call.name)
    return Reply(b"", 204)


# -- the log --------------------------------------------------------------------------------------------------


async def rollback(served: Served, call: Call) -> Reply:
    """Go back to a position of the log."""
    body = await call.body()
    wanted: Position = await call.read(Position, body)
    await served.rollback(wanted.position, call.key(body))
    return Reply(encode(served.state()))


async def snapshot(served: Served, call: Call) -> Reply:
    """Write a snapshot now."""
    return Reply(encode(Position(await served.snapshot())))


async def replay(served: Served, call: Call) -> Reply:
    """Show the model as it was at a position, and predict with it; nothing changes."""
    wanted: Replay = await call.read(Replay)
    served.check_position(wanted.position)
    return Reply(await served.read(_replay, served, wanted))


def _replay(served: Served, wanted: Replay) -> bytes:
    """Rebuild and predict, in a thread: few do that at a time, and only they hold a model."""
    try:
        model = served.at(wanted.position)
        parts = parts_of(wanted.examples, labelled=False) if wanted.examples else []
        predictions = predict_parts(model, parts)
    except (ValueError, TypeError) as error:
        raise Refused(422, str(error)) from None
    n_features = int(model.__dict__.get("n_features_in_", 0))
    return encode(Replayed(wanted.position, *counts(model), n_features, classes_of(model), predictions))


async def log(served: Served, call: Call) -> Reply:
    """Export the log: one JSON object for each request that was learned, in order."""
    options = call.options(after=int, to=int)
    after = options.get("after", served.oldest)
    if after < served.oldest:
        raise Refused(422, f"after must be at least {served.oldest}: older parts of the log were deleted")
    lines = exported(served, after, options.get("to"))
    return Reply(in_thread(served, lines), kind=NDJSON)


def exported(served: Served, after: int, to: int | None) -> Generator[bytes]:
    """Lines of the log. Requests in other formats are one line each, with their text."""
    for row in served.log.rows(after, to):
        if row.kind == "json":
            numbered = enumerate(row.body.split(b"\n"), row.first)
            yield b"".join(b'{"position":%d,%s\n' % (position, line.strip()[1:]) for position, line in numbered)
        else:
            facts = {"position": row.first, "format": row.kind, "settings": json.decode(row.settings)}
            yield encode({**facts, "examples": row.examples, "body": row.body.decode("utf-8", "replace")}) + b"\n"


async def in_thread(served: Served, lines: Generator[bytes]) -> AsyncGenerator[bytes]:
    """Parts of an answer that a thread makes."""
    try:
        while part := await served.read(next, lines, b""):
            yield part
    except Damaged as error:  # the answer has begun
        yield encode({"error": str(error)}) + b"\n"
    finally:
        lines.close()


async def file(served: Served, call: Call) -> Reply:
    """Download the model as a model file, as it is or as it was at a position."""
    from perceptrons.store import save

    options = call.options(position=int)
    folder = tempfile.TemporaryDirectory()
    path = Path(folder.name) / "model"

    def saved(model: Any) -> int:
        if "_learner" not in model.__dict__:
            raise Refused(409, "nothing has been learned yet: there is nothing to save")
        save(model, path)
        return path.stat().st_size

    try:
        if "position" in options:
            served.check_position(options["position"])
            size = await served.read(lambda: saved(served.at(options["position"])))
        else:
            served.check_open()
            async with served.alone():  # what is not in the log yet is not shown
                size = await served.run(saved, served.model)
    except BaseException:
        folder.cleanup()
        raise
    name = b'attachment; filename="%s.perceptron"' % served.name.encode()
    headers = (b"content-disposition", name), (b"content-length", str(size).encode())
    return Reply(pieces(folder, path), kind=FILE, headers=headers)


async def pieces(folder: tempfile.TemporaryDirectory[str], path: Path) -> AsyncGenerator[bytes]:
    """The content of a file in a folder, which is deleted at the end."""
    with folder, open(path, "rb") as file:
        while piece := await asyncio.to_thread(file.read, PIECE):
            yield piece


# -- the server -----------------------------------------------------------------------------------------------


async def events(server: Any, call: Call) -> Reply:
    """Listen to events: the state of all models once a second, and drift when it is found."""
    headers = ((b"cache-control", b"no-store"),)
    return Reply(server.events.listen(), kind=b"text/event-stream", headers=headers)


async def metrics(server: Any, call: Call) -> Reply:
    """Show metrics for Prometheus."""
    return Reply(server.metrics.text(), kind=b"text/plain; version=0.0.4; charset=utf-8")


async def described(server: Any, call: Call) -> Reply:
    """Describe all routes."""
    return Reply(server.description)


async def page(server: Any, call: Call) -> Reply:
    """Show a page with all models as they run, or a file that the page loads."""
    name, kind = PAGES[call.scope["path"]]
    content = await asyncio.to_thread((PAGE / name).read_bytes)
    headers = (
        (b"content-security-policy", POLICY),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
    )
    return Reply(content, kind=kind + b"; charset=utf-8", headers=headers)


async def inference_server(server: Any, call: Call) -> Reply:
    """Name the server, by the open inference protocol."""
    return await inference.server(call)


async def live(server: Any, call: Call) -> Reply:
    """Say that the server runs."""
    return await inference.alive(call)


async def server_ready(server: Any, call: Call) -> Reply:
    """Say whether all models can be used."""
    broken = [served.name for served in server.directory.models.values() if served.broken is not None]
    broken += server.directory.unreadable
    if broken:
        raise Refused(503, f"these models cannot be used: {', '.join(broken)[:500]}")
    return Reply(b'{"ready":true}')


EXAMPLES = (messages.Example, messages.Examples, "ndjson", "svmlight", "csv")
TARGET = {
    "target": (str, "The column of a CSV body that holds the labels; y by default."),
    "zero_based": (bool, "Whether index 0 is the first column of an svmlight body; true by default."),
}
ASK = {
    "ask": (bool, "Whether to say if the label of this example is worth having."),
    "b": (float, "Asks with the probability b/(b + |score|); 1 by default."),
    "scores": (bool, "Whether to answer scores, too."),
}
SPAN = {
    "after": (int, "The position before the first line; by default all that the log has."),
    "to": (int, "The last position."),
}
UPLOAD = {
    "snapshot_every": (int, "For a model file: as in the JSON body."),
    "keep": (int, "For a model file: as in the JSON body."),
    "window": (int, "For a model file: as in the JSON body."),
    "delta": (float, "For a model file: as in the JSON body."),
}
AT = {"position": (int, "A position of the log; by default the model as it is.")}
V1, V2 = "/v1/models/{name}", "/v2/models/{name}"

ROUTES = (
    Route("GET", "/v1/models", READ, models, Models, of_model=False),
    Route("POST", V1, ADMIN, create, messages.State, (Create, "file"), UPLOAD, of_model=False, keyed=True, status=201),
    Route("GET", V1, READ, state, messages.State),
    Route("DELETE", V1, ADMIN, delete, None, of_model=False, status=204),
    Route(
        "POST",
        f"{V1}/predict",
        READ,
        verbs.predict,
        (messages.Predicted, messages.ManyPredicted),
        EXAMPLES,
        {**ASK, **TARGET},
    ),
    Route("POST", f"{V1}/learn", LEARN, verbs.learn, messages.Learned, EXAMPLES, TARGET, keyed=True),
    Route(
        "POST",
        f"{V1}/predict-learn",
        LEARN,
        verbs.predict_learn,
        (messages.PredictedLearned, messages.ManyPredictedLearned),
        EXAMPLES,
        TARGET,
        keyed=True,
    ),
    Route("POST", f"{V1}/label", LEARN, verbs.label, messages.PredictedLearned, (messages.Labelled,), keyed=True),
    Route("POST", f"{V1}/explain", READ, verbs.explain, messages.Explained, (messages.Explain,)),
    Route("POST", f"{V1}/rollback", ADMIN, rollback, messages.State, (Position,), keyed=True),
    Route("POST", f"{V1}/replay", READ, replay, Replayed, (Replay,)),
    Route("POST", f"{V1}/snapshot", ADMIN, snapshot, Position),
    Route("GET", f"{V1}/log", ADMIN, log, "ndjson", query=SPAN),
    Route("GET", f"{V1}/file", READ, file, "file", query=AT),
    Route("GET", "/v1/events", READ, events, "events", of_model=False),
    Route("GET", "/metrics", READ, metrics, "text", of_model=False),
    Route("GET", "/openapi.json", None, described, dict[str, Any], of_model=False),
    Route("GET", "/v2", None, inference_server, inference.ServerMetadata, of_model=False),
    Route("GET", "/v2/health/live", None, live, dict[str, bool], of_model=False),
    Route("GET", "/v2/health/ready", None, server_ready, dict[str, bool], of_model=False),
    Route("GET", V2, READ, inference.model, inference.ModelMetadata),
    Route("GET", f"{V2}/ready", READ, inference.ready, dict[str, Any]),
    Route("POST", f"{V2}/infer", READ, inference.infer, inference.Inferred, (inference.Inference,)),
    *(Route("GET", path, None, page, kind.decode(), of_model=False) for path, (_, kind) in PAGES.items()),
)
