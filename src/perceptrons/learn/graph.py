"""The decision of a learner as an ONNX graph: scores and classes of dense rows, for programs without Python.

The graph computes in float64, like linear models here. `predict` computes kernels of float32 rows in float32, so these
scores differ by rounding errors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from perceptrons.learn.classes import ClassLearner
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.scale.rarity import Rarity
from perceptrons.learn.scale.scaling import Scaling

if TYPE_CHECKING:
    from perceptrons.learn.kernel.expansion import Expansion
    from perceptrons.learn.linear.values import ValueLearner

Array = npt.NDArray[Any]
OUTPUTS, VALUE = ("label", "scores"), ("value",)  # names of the outputs of classifiers, and of regressors
LARGEST = 2**31 - 2**20  # bytes: the limit of a protocol buffers message
OLDEST = 13  # the first opset that has all operators in use here


def decision(graph: Graph, x: str, learner: ClassLearner, n_features: int) -> tuple[str, str]:
    """Add nodes that compute scores of rows x of float64, a column for each, and the numbers of their classes.

    For two classes there is one score, positive for the second.
    """
    scores = _scores(graph, x, learner, n_features)
    if learner.n_classes != 2:
        return scores, graph.node("ArgMax", scores, axis=1, keepdims=0)  # the first of equals
    positive = graph.node(
        "GreaterOrEqual" if learner.tie_positive else "Greater", graph.squeeze(scores), np.float64(0.0)
    )
    return scores, graph.node("Cast", positive, to=graph.onnx.TensorProto.INT64)


def value(graph: Graph, x: str, learner: ValueLearner, n_features: int) -> str:
    """Add nodes that compute the values of rows x of float64, in one column."""
    x = x if learner.scaling is None else _scaled(graph, x, learner.scaling, n_features)
    # The unit is part of the constants: onnxruntime would fuse a factor with the product, and round it to float32.
    return _linear(graph, x, learner.weights * learner.unit.spread, learner.bias, learner.unit.centre)


def _scores(graph: Graph, x: str, learner: ClassLearner, n_features: int) -> str:
    """Add nodes that compute scores of rows x, a column for each."""
    if learner.readout.by_vote:
        raise ValueError(
            "readout='voted' cannot be exported: it needs many weight vectors. Use readout='averaged', which is similar"
        )
    x = x if learner.scaling is None else _scaled(graph, x, learner.scaling, n_features)
    if isinstance(learner, LinearLearner):
        return _linear(graph, x, learner.weights, learner.bias)
    from perceptrons.learn.kernel.expansion import Expansion  # takes long to import

    assert isinstance(learner, Expansion)
    return _expansion(graph, x, learner, n_features)


def _linear(graph: Graph, x: str, weights: Array, bias: float, centre: float = 0.0) -> str:
    """x·w + b + centre, where b is the last weight times the value of the constant feature."""
    weights = _two(weights)
    products = graph.node("MatMul", x, graph.constant(weights[:-1]))
    return graph.node("Add", products, weights[-1:] * bias + centre)


def _scaled(graph: Graph, x: str, scaling: Scaling, n_features: int) -> str:
    """Rows on the learner's scale: (x − centre)·factor, cut off at ±limit."""
    centre, factor = np.zeros((1, n_features)), np.ones((1, n_features))
    centre[0, : len(scaling.centre)], factor[0, : len(scaling.centre)] = scaling.centre, scaling.factor
    limit = np.full((1, n_features), np.inf)
    limit[0, : len(scaling.centre)] = scaling.limit
    z = graph.node("Mul", graph.node("Sub", x, centre), factor)
    z = graph.node("Max", graph.node("Min", z, limit), -limit) if np.isfinite(limit).any() else z
    return z if scaling.rarity is None else _weighed(graph, z, scaling.rarity, n_features)


def _weighed(graph: Graph, x: str, rarity: Rarity, n_features: int) -> str:
    """Words weighed by their rarity; each text has length 1, or no words."""
    width, first = 1 << rarity.bits, rarity.first
    weight = np.ones((1, n_features))
    weight[0, first : first + len(rarity.counts)] = rarity.frozen().weights
    x = graph.node("Mul", x, weight)

    def part(begin: int, end: int) -> str:
        return graph.node("Slice", x, *(np.array([each], dtype=np.int64) for each in (begin, end, 1)))

    parts = [part(0, first)] if first else []
    for begin in range(first, first + len(rarity.counts), width):
        text = part(begin, begin + width)
        length = graph.node("Sqrt", graph.squares(text))
        empty = graph.node("Equal", length, np.float64(0.0))
        parts.append(graph.node("Div", text, graph.node("Where", empty, np.float64(1.0), length)))
    end = first + len(rarity.counts)
    parts += [part(end, n_features)] if end < n_features else []
    return graph.node("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]


def _two(weights: Array) -> Array:
    """Weights with two axes: a column for each score."""
    return weights if weights.ndim == 2 else weights[:, np.newaxis]


# -- kernels --------------------------------------------------------------------------------------------------


def _expansion(graph: Graph, x: str, learner: Expansion, n_features: int) -> str:
    """Scores Σ_j coef_j·(k(x, x_j) + bias)."""
    space, coef = learner.space, _two(learner.weights)
    if not isinstance(space.kernel, str) or space.kernel == "precomputed":
        raise ValueError(f"kernel={space.kernel!r} cannot be exported: ONNX has no formula for it")
    bias = coef.sum(axis=0, keepdims=True) * space.bias
    used = np.flatnonzero(coef.any(axis=1))
    size = 8 * max(1, len(used)) * n_features
    if size > LARGEST:
        raise ValueError(f"the dense support rows take {size:,} bytes, more than an ONNX file holds: {LARGEST:,}")
    if len(used) == 0:  # runtimes may not handle empty arrays
        members, coef = np.zeros((1, n_features)), np.zeros((1, coef.shape[1]))
    else:
        pieces = [piece.matrix() for piece in learner.support.take(used).pieces]
        members = np.vstack([piece.toarray() if hasattr(piece, "toarray") else piece for piece in pieces])
        coef = coef[used]
    kernel = _kernel(graph, x, members, space)
    return graph.node("Add", graph.node("MatMul", kernel, coef), bias)


def _kernel(graph: Graph, x: str, members: Array, space: Any) -> str:
    """k(x, x_j) of all rows x and members x_j, without the bias."""
    gamma, wide = np.float64(space.gamma), members.astype(np.float64)
    if space.kernel == "laplacian":
        return graph.node("Exp", graph.node("Mul", graph.distances(x, members), -gamma))
    if space.kernel in ("poly", "sigmoid"):
        # γ is part of the constants: onnxruntime would fuse a product with a later factor, and round it to float32.
        product = graph.node("MatMul", x, (gamma * wide).T)
        inner = graph.node("Add", product, np.float64(space.coef0))
        if space.kernel == "sigmoid":
            return graph.node("Tanh", inner)
        return graph.node("Pow", inner, np.float64(space.degree))
    square = (wide * wide).sum(axis=1)[np.newaxis]
    product = graph.node("MatMul", x, graph.node("Transpose", graph.double(members)))
    if space.kernel == "linear":
        return product
    if space.kernel == "cosine":
        own = graph.squares(x)
        lengths = graph.node(
            "Sqrt", graph.node("Where", graph.node("Greater", own, np.float64(0.0)), own, np.float64(1.0))
        )
        return graph.node("Div", graph.node("Div", product, lengths), np.sqrt(np.where(square > 0, square, 1.0)))
    # The Gaussian kernel: γ(2x·x′ − ‖x‖² − ‖x′‖²), never positive.
    apart = graph.node("Sub", graph.node("Mul", product, np.float64(2.0)), graph.squares(x))
    exponent = graph.node("Mul", graph.node("Sub", apart, square), gamma)
    return graph.node("Exp", graph.node("Min", exponent, np.float64(0.0)))


class Graph:
    """Nodes and constants in the order in which they are made. `name` makes a new name that begins with a word."""

    def __init__(self, onnx: Any, name: Callable[[str], str] | None = None) -> None:
        self.onnx = onnx
        self.nodes: list[Any] = []
        self.initializers: list[Any] = []
        self.size = self.named = 0
        self.name = name or self._numbered

    def _numbered(self, word: str) -> str:
        self.named += 1
        return f"{word}_{self.named}"

    def constant(self, array: Any) -> str:
        """Add a constant; returns its name."""
        array = np.asarray(array)
        name = self.name("constant")
        self.size += array.nbytes
        if self.size > LARGEST:
            raise ValueError(f"the model takes {self.size:,} bytes, more than an ONNX file holds: {LARGEST:,}")
        if array.dtype == object:
            texts = [text.encode() for text in array.tolist()]
            tensor = self.onnx.helper.make_tensor(name, self.onnx.TensorProto.STRING, array.shape, texts)
        else:
            tensor = self.onnx.numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
        self.initializers.append(tensor)
        return name

    def node(self, kind: str, *inputs: Any, output: str | None = None, **attributes: Any) -> str:
        """Add a node; returns the name of its output. Inputs are names, numbers or arrays."""
        name = output or self.name("value")
        names = [entry if isinstance(entry, str) else self.constant(entry) for entry in inputs]
        self.nodes.append(self.onnx.helper.make_node(kind, names, [name], **attributes))
        return name

    def double(self, array: Array) -> str:
        """Add a constant that is stored in its own type and used in float64."""
        name = self.constant(array)
        return name if array.dtype == np.float64 else self.node("Cast", name, to=self.onnx.TensorProto.DOUBLE)

    def squeeze(self, name: str, output: str | None = None) -> str:
        """Add a node that takes the only column."""
        return self.node("Squeeze", name, np.array([1], dtype=np.int64), output=output)

    def squares(self, x: str) -> str:
        """‖x‖² of each row, as a column."""
        return self.node("ReduceSum", self.node("Mul", x, x), np.array([1], dtype=np.int64), keepdims=1)

    def distances(self, x: str, members: Array) -> str:
        """‖x − x_j‖₁ of all pairs, row by row, because all differences at once would take too much memory."""
        helper, double = self.onnx.helper, self.onnx.TensorProto.DOUBLE
        others, axis = self.double(members), self.constant(np.array([1], dtype=np.int64))
        n, width = members.shape
        row, apart, absolute, distance = map(self.name, ("row", "apart", "absolute", "distance"))
        body = helper.make_graph(
            [
                helper.make_node("Sub", [others, row], [apart]),
                helper.make_node("Abs", [apart], [absolute]),
                helper.make_node("ReduceSum", [absolute, axis], [distance], keepdims=0),
            ],
            "distances",
            [helper.make_tensor_value_info(row, double, [width])],
            [helper.make_tensor_value_info(distance, double, [n])],
        )
        return self.node("Scan", x, body=body, num_scan_inputs=1)
