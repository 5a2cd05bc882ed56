"""What the page and the server tell each other, over one WebSocket.

Requests are JSON. An answer is one binary message: the length of its head, the head as JSON, and behind it the arrays
that the head names. Numbers stay what they are, to the last bit.
"""

from __future__ import annotations

import struct
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Struct, field

Label = int | float | str
Array = npt.NDArray[Any]
Plain = Any  # what JSON can hold
KINDS = {"f": "<f8", "i": "<i4", "u": "<i4", "b": "<i4"}  # arrays of floats and whole numbers, as they are sent


class Choice(Struct, forbid_unknown_fields=True):
    """The choices of one model: the names are those of the estimators' parameters.

    `order`: how rows come in a pass. `order="shuffled"` uses the seed `random_state`; "sorted" is by class.
    """

    estimator: Literal["Perceptron", "KernelPerceptron"] = "Perceptron"
    rule: str = "perceptron"
    params: dict[str, float | bool | str] = {}
    readout: str = "last"
    fit_intercept: bool = True
    eta0: float = 1.0
    order: Literal["given", "shuffled", "sorted"] = "given"
    random_state: int = 0
    init: Literal["zeros", "random"] = "zeros"
    tie: Literal["mistake", "positive"] = "mistake"
    max_iter: int = 100
    tol: float | None = 1e-3
    kernel: str = "rbf"
    gamma: float = 1.0
    degree: int = 2
    coef0: float = 1.0
    budget: int | None = None
    policy: str = "projectron++"
    threshold: float = 0.1


class Scene(Struct, forbid_unknown_fields=True):
    """Points with their classes, and the models that learn them.

    `labels` are positions in `classes`, which are sorted. `held_out`: the share of rows that no model learns from.
    """

    rows: list[list[float]]
    labels: list[int]
    classes: list[Label]
    names: list[str] = field(default_factory=lambda: ["x1", "x2"])
    models: list[Choice] = field(default_factory=lambda: [Choice()])
    held_out: float = 0.0


class Show(Struct, tag="show", tag_field="do", forbid_unknown_fields=True):
    """Decide, train and record. `whole`: with every update; otherwise only what is needed while a point is dragged."""

    id: int
    scene: Scene
    whole: bool = True


class Look(Struct, tag="look", tag_field="do", forbid_unknown_fields=True):
    """The scores of a model over a grid, after `at` updates, for the scene that was shown last.

    `view`: left, right, bottom, top. `size`: columns and rows of the grid.
    """

    id: int
    model: int
    at: int
    view: tuple[float, float, float, float]
    size: tuple[int, int]


class Named(Struct, tag="set", tag_field="do", forbid_unknown_fields=True):
    """The points of a named set."""

    id: int
    name: str


class Read(Struct, tag="read", tag_field="do", forbid_unknown_fields=True):
    """Read a table: pasted text, a file from the browser, or without text the file that the command names."""

    id: int
    name: str = "pasted text"
    text: str | None = None
    content: bytes | None = None
    target: str | None = None


class Write(Struct, tag="write", tag_field="do", forbid_unknown_fields=True):
    """Write the program that makes this fit with the library."""

    id: int
    scene: Scene
    model: int = 0


Request = Show | Look | Named | Read | Write
decoder = msgspec.json.Decoder(Request)


def encoded(head: dict[str, Plain], arrays: dict[str, Array] | None = None) -> bytes:
    """An answer as bytes. Every array begins at a multiple of 8, so that the page reads it in place."""
    blocks, described, at = [], {}, 0
    for name, array in (arrays or {}).items():
        kind = KINDS[array.dtype.kind]
        block = np.ascontiguousarray(array, dtype=kind).tobytes()
        described[name] = [kind, at, list(array.shape)]
        blocks += [block, bytes(-len(block) % 8)]
        at += len(block) + -len(block) % 8
    text = msgspec.json.encode({**head, "arrays": described})
    text += b" " * (-(len(text) + 4) % 8)
    return b"".join([struct.pack("<I", len(text)), text, *blocks])


def plain(value: Any) -> Plain:
    """A value as JSON can hold it: NumPy's numbers and arrays, and infinite numbers as text."""
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {name: plain(each) for name, each in value.items()}
    if isinstance(value, float) and not np.isfinite(value):
        return "NaN" if value != value else "inf" if value > 0 else "-inf"
    return value
