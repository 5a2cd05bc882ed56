"""How skl2onnx converts the estimators. It asks each estimator for the three functions below.

Meta-estimators of skl2onnx, such as that of GridSearchCV, look converters up by class instead: `register` adds ours.
skl2onnx is imported only when it asks, or when `register` is called.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from perceptrons.learn.graph import OLDEST, OUTPUTS, VALUE, Graph, decision, value

ALIAS = "Perceptrons"
# Options of other classifiers that mean here what they always give: scores as one array, and labels, not numbers.
OPTIONS = {"zipmap": [False], "nocl": [False], "raw_scores": [True, False]}


def register() -> None:
    """Register the estimators in skl2onnx."""
    from skl2onnx import update_registered_converter

    from perceptrons import models

    for model in (models.Perceptron, models.PassiveAggressiveClassifier, models.KernelPerceptron):
        alias = f"{ALIAS}{model.__name__}"
        update_registered_converter(model, alias, shapes, convert, parser=_parse, options=OPTIONS)
    regressor = models.PassiveAggressiveRegressor
    update_registered_converter(regressor, f"{ALIAS}{regressor.__name__}", shapes, convert, parser=_parse)


def _outputs(model: Any) -> tuple[str, ...]:
    return OUTPUTS if is_classifier(model) else VALUE


def onnx_parser(model: Any) -> Callable[..., Any]:
    """Name the outputs of the ONNX graph. skl2onnx calls this.

    Returns
    -------
    callable
        A parser, as skl2onnx expects it.
    """
    register()  # so that it knows the options
    return lambda scope=None, inputs=None: _outputs(model)


def onnx_shape_calculator(model: Any) -> Callable[[Any], None]:
    """Find the types of the outputs of the ONNX graph. skl2onnx calls this.

    Returns
    -------
    callable
        A shape calculator, as skl2onnx expects it.
    """
    return shapes


def onnx_converter(model: Any) -> Callable[[Any, Any, Any], None]:
    """Make the ONNX graph. skl2onnx calls this.

    Returns
    -------
    callable
        A converter, as skl2onnx expects it.
    """
    return convert


def _parse(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    """Declare a model with its inputs and outputs."""
    from skl2onnx import get_model_alias
    from skl2onnx.common.data_types import guess_tensor_type

    operator = scope.declare_local_operator(get_model_alias(type(model)), model)
    operator.inputs = inputs
    for name in _outputs(model):
        operator.outputs.append(scope.declare_local_variable(name, guess_tensor_type(inputs[0].type)))
    return operator.outputs


def shapes(operator: Any) -> None:
    """Set the types of the outputs: labels are text or int64; scores have the type of the input, if it is float."""
    from skl2onnx.common.data_types import Int64TensorType, StringTensorType, guess_tensor_type

    x, model = operator.inputs[0], operator.raw_operator
    n_rows = x.get_first_dimension()
    if not is_classifier(model):
        value = guess_tensor_type(x.type)
        value.shape = [n_rows, 1]
        operator.outputs[0].set_type(value)
        return
    classes = model.classes_
    text = _labels(classes).dtype == object
    operator.outputs[0].set_type((StringTensorType if text else Int64TensorType)([n_rows]))
    scores = guess_tensor_type(x.type)
    scores.shape = [n_rows, len(classes)]
    operator.outputs[1].set_type(scores)


def convert(scope: Any, operator: Any, container: Any) -> None:
    """Add the nodes of a fitted model to a graph. Scores are computed in float64 and rounded in the end."""
    import onnx
    from skl2onnx.common.data_types import guess_proto_type, guess_tensor_type

    model, names = operator.raw_operator, [output.full_name for output in operator.outputs]
    if container.target_opset < OLDEST:
        name = type(model).__name__
        raise ValueError(f"{name} needs opset {OLDEST} or later, got target_opset={container.target_opset}")
    graph = Graph(onnx, scope.get_unique_variable_name)
    kind = guess_proto_type(guess_tensor_type(operator.inputs[0].type))
    with model._guard.mine():
        model._guard.settle()
        x = graph.node("Cast", operator.inputs[0].full_name, to=onnx.TensorProto.DOUBLE)
        if not is_classifier(model):
            graph.node("Cast", value(graph, x, model._learner, model.n_features_in_), output=names[0], to=kind)
        else:
            lines, code = decision(graph, x, model._learner, model.n_features_in_)
            if len(model.classes_) == 2:
                lines = graph.node("Concat", graph.node("Neg", lines), lines, axis=1)
            graph.node("Cast", lines, output=names[1], to=kind)
            graph.node("Gather", graph.constant(_labels(model.classes_)), code, output=names[0], axis=0)
    container.initializers.extend(graph.initializers)
    for node in graph.nodes:
        attributes = {each.name: onnx.helper.get_attribute_value(each) for each in node.attribute}
        name = scope.get_unique_operator_name(node.op_type)
        container.add_node(node.op_type, list(node.input), list(node.output), name=name, **attributes)


def _labels(classes: Any) -> Any:
    """Classes in the types of skl2onnx: text, as objects, or int64."""
    if classes.dtype.kind in "UO" and all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(object)
    if classes.dtype.kind not in "biuf":
        raise ValueError(f"classes of type {classes.dtype} cannot be converted to ONNX: use numbers or text")
    return classes.astype(np.int64)
