"""The inference half of the open inference protocol (version 2), which KServe, Triton and MLServer speak.

A model takes one tensor of rows, and returns their labels and scores.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from msgspec import UNSET, Struct, UnsetType

from perceptrons import __version__
from perceptrons.models.one import predicted
from perceptrons.serve.errors import Refused
from perceptrons.serve.messages import encode
from perceptrons.serve.model.bulk import Dense, are_numbers, check_scores
from perceptrons.serve.model.served import Served
from perceptrons.serve.web.http import JSON, Call, Reply, decoded

NUMBERS = {"FP32", "FP64", "INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64", "BOOL"}
TYPES = {"f": "FP64", "i": "INT64", "u": "UINT64", "b": "BOOL"}  # of labels, by the kind of their array


class Tensor(Struct):
    """A tensor: all its numbers in one list, row after row, or in nested lists."""

    name: str
    shape: list[int]
    datatype: str
    data: list[Any]
    parameters: dict[str, Any] | UnsetType = UNSET


class Wanted(Struct):
    """An output that the client asks for."""

    name: str
    parameters: dict[str, Any] | UnsetType = UNSET


class Inference(Struct):
    """Rows to predict."""

    inputs: list[Tensor]
    id: str | UnsetType = UNSET
    outputs: list[Wanted] | UnsetType = UNSET
    parameters: dict[str, Any] | UnsetType = UNSET


class Inferred(Struct, omit_defaults=True):
    """Labels and scores."""

    model_name: str
    outputs: list[Tensor]
    model_version: str = "1"
    id: str | UnsetType = UNSET


class ServerMetadata(Struct):
    """The server."""

    name: str
    version: str
    extensions: list[str]


class TensorMetadata(Struct):
    """A tensor that a model takes or returns; -1 stands for any size."""

    name: str
    datatype: str
    shape: list[int]


class ModelMetadata(Struct):
    """A model."""

    name: str
    versions: list[str]
    platform: str
    inputs: list[TensorMetadata]
    outputs: list[TensorMetadata]


async def server(call: Call) -> Reply:
    """Name and version of the server."""
    return Reply(encode(ServerMetadata("perceptrons", __version__, [])))


async def alive(call: Call) -> Reply:
    """The server answers."""
    return Reply(b'{"live":true}')


async def model(served: Served, call: Call) -> Reply:
    """What a model takes and returns."""
    served.check_open()
    labels = TensorMetadata("label", _labels_type(served.model), [-1])
    scores = TensorMetadata("scores", "FP64", [-1, -1])
    width = served.n_features or -1
    rows = TensorMetadata("X", "FP64", [-1, width])
    return Reply(encode(ModelMetadata(served.name, ["1"], "perceptrons", [rows], [labels, scores])))


async def ready(served: Served, call: Call) -> Reply:
    """Whether a model can predict."""
    served.check_open()
    if "_learner" not in served.model.__dict__:
        raise Refused(503, f"the model {served.name!r} has learned nothing yet")
    return Reply(encode({"name": served.name, "ready": True}))


async def infer(served: Served, call: Call) -> Reply:
    """Predict the rows of a tensor."""
    if call.content_type != JSON:
        raise Refused(415, "this route takes application/json")
    body = await call.body()
    served.check_open()
    if "_learner" not in served.model.__dict__:
        raise Refused(409, f"the model {served.name!r} has learned nothing yet")
    return Reply(encode(await served.read(_infer, served, body)))


def _infer(served: Served, body: bytes) -> Inferred:
    """Predict, in a thread."""
    asked: Inference = decoded(Inference, body)
    part = _rows(asked)
    wanted = {"label", "scores"} if asked.outputs is UNSET else {each.name for each in asked.outputs}
    if not wanted <= {"label", "scores"}:
        raise Refused(400, f"outputs are label and scores, got {', '.join(sorted(wanted))[:200]}")
    if "scores" in wanted:
        check_scores(served.model, len(part))
    try:
        outputs = _outputs(served.model, part, wanted)
    except (ValueError, TypeError) as error:
        raise Refused(422, str(error)) from None
    return Inferred(served.name, outputs, id=asked.id)


def _rows(asked: Inference) -> Dense:
    """The tensor as rows."""
    if len(asked.inputs) != 1:
        raise Refused(400, f"expected one input with all rows, got {len(asked.inputs)}")
    (tensor,) = asked.inputs
    if tensor.datatype not in NUMBERS:
        raise Refused(
            400, f"the datatype of {tensor.name!r:.80} must be a number such as FP64, got {tensor.datatype!r:.80}"
        )
    if len(tensor.shape) != 2 or min(tensor.shape) < 1:
        raise Refused(400, f"the shape of {tensor.name!r:.80} must be [rows, features], got {tensor.shape}")
    rows = tensor.data if tensor.data and type(tensor.data[0]) is list else [tensor.data]
    try:
        if not all(type(row) is list and are_numbers(row) for row in rows):  # NumPy would make long texts of them
            raise ValueError("it must be numbers, in one list or in a list of rows")
        size = sum(map(len, rows))
        if size != math.prod(tensor.shape) or (len(rows) > 1 and {len(row) for row in rows} != {tensor.shape[1]}):
            raise ValueError(f"its {size:,} values do not fill the shape {tensor.shape}")
        return Dense(np.array(rows).reshape(tensor.shape), None)
    except ValueError as error:
        raise Refused(400, f"the data of {tensor.name!r:.80} cannot be read: {error}") from None


def _outputs(model: Any, part: Dense, wanted: set[str]) -> list[Tensor]:
    """Labels, and scores of the same hypothesis."""
    with model._guard.mine():
        model._guard.settle()
        if "scores" not in wanted:
            scores, labels = None, part.predict(model)
        else:
            (rows, _), _ = part.read(model, grows=False)
            scores = model._learner.decide(model._learner.scaled(rows))
            labels = predicted(model, scores)
        kind = _labels_type(model)
    values = [str(label) for label in labels.tolist()] if kind == "BYTES" else labels.tolist()
    found = [Tensor("label", [len(labels)], kind, values)] if "label" in wanted else []
    if scores is not None:
        found.append(Tensor("scores", list(scores.shape), "FP64", scores.ravel().tolist()))
    return found


def _labels_type(model: Any) -> str:
    if not hasattr(model, "classes_"):
        return "FP64" if hasattr(model, "epsilon") else "BYTES"
    return TYPES.get(model.classes_.dtype.kind, "BYTES")
