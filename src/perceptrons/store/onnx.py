"""Export to ONNX files, for programs without Python. `learn.graph` makes the graph of a model's decision."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from perceptrons.data.atomic import replaced
from perceptrons.learn.graph import OUTPUTS, VALUE, Graph, decision, value
from perceptrons.learn.linear.values import ValueLearner
from perceptrons.learn.scale.scaling import with_means
from perceptrons.store.format import Array
from perceptrons.store.saved import Saved

if TYPE_CHECKING:
    from perceptrons.models.supervised import Supervised

OPSETS, IR = {"": 15, "ai.onnx.ml": 2}, 8  # old enough for the runtimes in use


def export_onnx(model: Supervised | Saved, path: str | os.PathLike[str]) -> None:
    """Write a fitted model as an ONNX file. Needs the package onnx: ``pip install 'perceptrons[onnx]'``.

    The graph takes ``X``, float32 of shape (n_rows, n_features). For a model of tables, it takes the columns instead,
    each as an input with the column's name, of shape (n_rows, 1): numbers are double, NaN where they are missing, and
    categories text, empty where they are missing, or bool. It returns

    - ``label``, of shape (n_rows,): the classes that `predict` returns; text, numbers or booleans;
    - ``scores``, float64, as from `decision_function`: of shape (n_rows,) for two classes, positive for the second,
      else of shape (n_rows, n_classes);
    - of a regressor only ``value``, float64 of shape (n_rows,): what `predict` returns.

    Parameters
    ----------
    model : estimator or Saved
        A fitted model with readout "last", "averaged" or "pocket" and, if it has a kernel, one with a name. If
        columns were hashed, as those of text are, the graph takes X, the encoded features, because ONNX cannot hash.
    path : str or path
        The file to write. An existing file is replaced only when the new one is complete.

    Raises
    ------
    TypeError
        If the model is a SequenceTagger or not an estimator of this package.
    ValueError
        If the readout, the kernel or the classes cannot be exported, or the model is too large for ONNX.
    ImportError
        If the package onnx is not installed.

    Examples
    --------
    >>> import os, tempfile
    >>> import onnx
    >>> from perceptrons import Perceptron
    >>> from perceptrons.store import export_onnx
    >>> model = Perceptron().fit([[0.0, 1.0], [1.0, 0.0]], ["ham", "spam"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "spam.onnx")
    ...     export_onnx(model, path)
    ...     graph = onnx.load(path).graph
    >>> [each.name for each in graph.input], [each.name for each in graph.output]
    (['X'], ['label', 'scores'])
    """
    from perceptrons.store.estimators import unchanged

    with unchanged(getattr(model, "model_", model)):
        saved = model if isinstance(model, Saved) else _saved(model)
        content = _model(saved).SerializeToString()
    with replaced(path) as file:
        file.write(content)


def register_onnx() -> None:
    """Tell skl2onnx about the estimators, for grid searches and other meta-estimators around them.

    Models and pipelines need no registration: ``skl2onnx.to_onnx(model, X[:1])`` works at once. The graph returns
    ``label``, and ``scores`` with one column per class; for two classes, the score with either sign. The graph of a
    regressor returns ``value``, with one column.

    Raises
    ------
    ImportError
        If the package skl2onnx is not installed.

    Examples
    --------
    >>> import numpy as np
    >>> from skl2onnx import to_onnx
    >>> from sklearn.model_selection import GridSearchCV
    >>> from perceptrons import Perceptron
    >>> from perceptrons.store import register_onnx
    >>> X, y = np.array([[0, 1], [0, 2], [1, 0], [2, 0]], dtype=np.float32), [0, 0, 1, 1]
    >>> search = GridSearchCV(Perceptron(), {"rule": ["perceptron", "pa"]}, cv=2).fit(X, y)
    >>> register_onnx()
    >>> [each.name for each in to_onnx(search, X[:1]).graph.output]
    ['label', 'scores']
    """
    from perceptrons.models.onnx import register

    register()


def _saved(model: Supervised) -> Saved:
    from perceptrons.store.estimators import to_saved  # imports scikit-learn

    saved = to_saved(model)
    if not isinstance(saved, Saved):
        raise TypeError("a SequenceTagger cannot be exported: ONNX has no search for the best sequence")
    return saved


def _model(saved: Saved) -> Any:
    """Make the graph, and check it."""
    try:
        import onnx
    except ImportError as error:
        raise ImportError("export to ONNX needs the package onnx: pip install 'perceptrons[onnx]'") from error
    from perceptrons import __version__

    graph, outputs = Graph(onnx), VALUE if isinstance(saved.learner, ValueLearner) else OUTPUTS
    if takes_columns(saved):
        from perceptrons.store import onnx_columns

        encoding = saved.encoding
        if saved.learner.scales_online and encoding.indicates:  # absent numbers count as the centres, which move
            encoding = with_means(encoding, saved.learner.scaling)
        inputs = onnx_columns.inputs_of(encoding, onnx, outputs)
        x = onnx_columns.encoded(graph, encoding, saved.n_features, outputs)
    else:
        inputs = [onnx.helper.make_tensor_value_info("X", onnx.TensorProto.FLOAT, ["rows", saved.n_features])]
        x = graph.node("Cast", "X", to=onnx.TensorProto.DOUBLE)
    answers = _value(graph, x, saved) if isinstance(saved.learner, ValueLearner) else _decision(graph, x, saved)
    made = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes,
            saved.estimator,
            inputs,
            answers,
            graph.initializers,
        ),
        opset_imports=[onnx.helper.make_opsetid(domain, version) for domain, version in OPSETS.items()],
        ir_version=IR,
        producer_name="perceptrons",
        producer_version=__version__,
    )
    onnx.checker.check_model(made)
    return made


def _value(graph: Graph, x: str, saved: Saved) -> list[Any]:
    """Add nodes that compute values; declare the output."""
    assert isinstance(saved.learner, ValueLearner)
    graph.squeeze(value(graph, x, saved.learner, saved.n_features), "value")
    return [graph.onnx.helper.make_tensor_value_info("value", graph.onnx.TensorProto.DOUBLE, ["rows"])]


def _decision(graph: Graph, x: str, saved: Saved) -> list[Any]:
    """Add nodes that compute scores and classes; declare the outputs."""
    onnx, classes, several = graph.onnx, _labels(saved.classes), saved.learner.n_classes > 2
    info, double = onnx.helper.make_tensor_value_info, onnx.TensorProto.DOUBLE
    scores, code = decision(graph, x, saved.learner, saved.n_features)
    if several:
        graph.node("Identity", scores, output="scores")
    else:
        graph.squeeze(scores, "scores")
    graph.node("Gather", graph.constant(classes), code, output="label", axis=0)
    kind = onnx.TensorProto.STRING if classes.dtype == object else onnx.helper.np_dtype_to_tensor_dtype(classes.dtype)
    return [info("label", kind, ["rows"]), info("scores", double, ["rows", len(classes)] if several else ["rows"])]


def takes_columns(saved: Saved) -> bool:
    """Whether the graph of a model takes the columns of tables, not encoded features."""
    if saved.encoding is None:
        return False
    from perceptrons.store.onnx_columns import obstacle

    return obstacle(saved.encoding) is None


def _labels(classes: Array) -> Array:
    """Classes in types that ONNX has: text becomes objects."""
    if classes.dtype.kind in "UO" and all(isinstance(label, str) for label in classes.tolist()):
        return classes.astype(object)
    if classes.dtype.kind not in "biuf":
        raise ValueError(f"classes of type {classes.dtype} cannot be exported to ONNX: use numbers or text")
    return classes
