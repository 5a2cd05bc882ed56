"""The description of the server, made from the table of routes and the types of messages."""

from __future__ import annotations

from typing import Any

from msgspec import json

from perceptrons import __version__
from perceptrons.serve.messages import Failure
from perceptrons.serve.web.routes import ROUTES, Route
from perceptrons.serve.web.tokens import SCOPES

FORMATS = {  # bodies that are not JSON
    "ndjson": "application/x-ndjson",
    "svmlight": "text/x-svmlight",
    "csv": "text/csv",
    "file": "application/octet-stream",
    "events": "text/event-stream",
    "text": "text/plain",
}
FAULTS = {
    400: "The request cannot be read.",
    401: "A token is needed.",
    403: "The token does not allow this.",
    404: "There is no such model, or no such prediction.",
    408: "The client was too slow.",
    409: "It conflicts with what is there: the name, the key or the id is taken, or nothing was learned yet.",
    413: "The body is too large, or the answer would be.",
    415: "The body is of a type that this route does not take.",
    422: "The examples or the parameters are wrong, or beyond a limit.",
    429: "Too much waits: try again after the time in Retry-After.",
    500: "A fault of the server.",
    503: "The model cannot be used now.",
    507: "The disk is full.",
}
TEXT = {"type": "string"}
NAMES = {int: "integer", float: "number", bool: "boolean", str: "string"}


def description() -> bytes:
    """The description, as JSON in the format OpenAPI 3.1."""
    types = [Failure]
    for route in ROUTES:
        types += [each for each in (*route.takes, *_several(route.answers)) if not isinstance(each, str)]
    schemas, components = json.schema_components(types, ref_template="#/components/schemas/{name}")
    schema = dict(zip(map(repr, types), schemas, strict=True))
    paths: dict[str, Any] = {}
    for route in ROUTES:
        paths.setdefault(route.path, {})[route.method.lower()] = _operation(route, schema)
    described = {
        "openapi": "3.1.0",
        "info": {
            "title": "perceptrons",
            "version": __version__,
            "description": "Models that learn from every example they are sent, and never lose one.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }
    return json.encode(described)


def _operation(route: Route, schema: dict[str, Any]) -> dict[str, Any]:
    """What one route takes and answers."""
    parameters = [
        {"name": name, "in": "query", "schema": {"type": NAMES[kind]}, "description": about}
        for name, (kind, about) in route.query.items()
    ]
    if "{name}" in route.path:
        parameters.append(_parameter("name", "path", "The name of the model.", required=True))
    if route.keyed:
        about = "Learn a request with this key only once: the same request again gets the first answer."
        parameters.append(_parameter("Idempotency-Key", "header", about))
    good: dict[str, Any] = {"description": route.summary}
    if route.answers is not None:
        good["content"] = _content(_several(route.answers), schema)
    faults = {str(status): _fault(about, schema) for status, about in FAULTS.items()}
    found: dict[str, Any] = {
        "operationId": f"{route.method.lower()}{route.path}".translate(str.maketrans("/-.", "___", "{}")),
        "summary": route.summary,
        "parameters": parameters,
        "responses": {str(route.status): good, **faults},
    }
    if route.status == 201:
        found["responses"]["200"] = {**good, "description": "The same request has created the model before."}
    if route.takes:
        found["requestBody"] = {"required": True, "content": _content(route.takes, schema)}
    if route.scope is not None:
        found["security"] = [{"token": []}, {}]
        found["description"] = f"If there are tokens, this needs one with the scope {SCOPES[route.scope]!r}."
    return found


def _parameter(name: str, where: str, about: str, *, required: bool = False) -> dict[str, Any]:
    return {"name": name, "in": where, "required": required, "schema": TEXT, "description": about}


def _fault(about: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": about, "content": {"application/json": {"schema": schema[repr(Failure)]}}}


def _content(kinds: tuple[Any, ...], schema: dict[str, Any]) -> dict[str, Any]:
    """Bodies by their types."""
    found: dict[str, Any] = {FORMATS.get(kind, kind): {"schema": TEXT} for kind in kinds if isinstance(kind, str)}
    known = [schema[repr(kind)] for kind in kinds if not isinstance(kind, str)]
    if known:
        found["application/json"] = {"schema": known[0] if len(known) == 1 else {"anyOf": known}}
    return found


def _several(kinds: Any) -> tuple[Any, ...]:
    """One type, several or none as a tuple."""
    return () if kinds is None else kinds if isinstance(kinds, tuple) else (kinds,)
