"""The columns of tables as inputs of an ONNX graph, which encodes them as training did."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from perceptrons.data.table.encoding import MISSING, Encoding
from perceptrons.data.table.settings import MEAN
from perceptrons.learn.graph import OUTPUTS, Graph

ML = "ai.onnx.ml"  # the domain of operators on text


def obstacle(encoding: Encoding) -> str | None:
    """Why a graph cannot encode these columns; None if it can."""
    hashed = [*encoding.texts, *(encoding.categories if encoding.n_hashed else [])]
    return f"column {hashed[0]!r} is hashed, and ONNX has no operator for that" if hashed else None


def input_names(encoding: Encoding, outputs: Sequence[str] = OUTPUTS) -> dict[str, str]:
    """The name of the input for each column: that of the column, unless an output has it."""
    return {name: f"{name} (column)" if name in outputs else name for name in encoding.columns}


def inputs_of(encoding: Encoding, onnx: Any, outputs: Sequence[str] = OUTPUTS) -> list[Any]:
    """Declare the inputs, one for each column, of shape (rows, 1): numbers are double, categories text or bool."""
    kinds = dict.fromkeys(encoding.numbers, onnx.TensorProto.DOUBLE)
    kinds |= dict.fromkeys(encoding.categories, onnx.TensorProto.STRING)
    kinds |= dict.fromkeys(encoding.flags, onnx.TensorProto.BOOL)
    names = input_names(encoding, outputs)
    return [onnx.helper.make_tensor_value_info(names[name], kinds[name], ["rows", 1]) for name in encoding.columns]


def encoded(graph: Graph, encoding: Encoding, n_features: int, outputs: Sequence[str] = OUTPUTS) -> str:
    """Add nodes that make rows of float64 from the columns; returns their name."""
    names, width = input_names(encoding, outputs), n_features - encoding.begin_onehot
    known: dict[str, dict[str, int]] = {}
    for number, (column, category) in enumerate(encoding.seen[:width]):
        known.setdefault(column, {})[category] = number
    parts, codes = [], []
    for column in encoding.numbers:
        absent = graph.node("IsNaN", names[column])
        by_mean = encoding.means if encoding.missing == MEAN else {}
        fill = np.float64(by_mean.get(column, encoding.fill(column) or 0.0))
        parts.append(graph.node("Where", absent, fill, names[column]))
        if MISSING in known.get(column, {}):
            codes.append(graph.node("Where", absent, np.int64(known[column][MISSING]), np.int64(width)))
    for column in encoding.categories:
        if column in known:
            marks = ["", *(encoding.dialect.missing_words if encoding.dialect is not None else [])]
            flag = column in encoding.flags
            codes.append(_code(graph, names[column], known[column], width, marks, flag=flag))
    if codes:  # one feature for each category; the number `width`, of categories that are not known, has none
        values, onehot = np.array([0.0, 1.0], dtype=np.float32), None  # runtimes have no OneHot of float64
        for code in codes:
            one = graph.node("OneHot", graph.squeeze(code), np.array([width], dtype=np.int64), values)
            onehot = one if onehot is None else graph.node("Add", onehot, one)
        parts.append(graph.node("Cast", str(onehot), to=graph.onnx.TensorProto.DOUBLE))
    return graph.node("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]


def _code(graph: Graph, name: str, known: dict[str, int], other: int, marks: list[str], *, flag: bool) -> str:
    """The numbers of the categories of a column; `other` for those that are not known. marks: of missing cells."""
    if flag:
        true, false = (np.int64(known.get(word, other)) for word in ("True", "False"))
        return graph.node("Where", name, true, false)
    table = {**dict.fromkeys(marks, known.get(MISSING, other)), **known}
    return graph.node(
        "LabelEncoder",
        name,
        domain=ML,
        keys_strings=list(table),
        values_int64s=list(table.values()),
        default_int64=other,
    )
