"""The content of a model file, and how to write and read it. Needs no scikit-learn."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from perceptrons import __version__
from perceptrons.learn.classes import ClassLearner
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.linear.values import ValueLearner
from perceptrons.store.classes import pack_classes, unpack_classes
from perceptrons.store.facts import REPORT, TRAINED, unpack_facts
from perceptrons.store.format import Array, ModelFileError, Tensors, read_file, write_file
from perceptrons.store.learners import pack_linear, pack_values, unpack_linear, unpack_values
from perceptrons.store.memory import Memory, limit_of
from perceptrons.store.scalings import pack_scaling, unpack_scaling
from perceptrons.store.values import Settings, from_json, pack, rule_from, take, to_json, unpack

if TYPE_CHECKING:
    from perceptrons.store.taggers import SavedTagger

# The kinds of learners that each estimator can have.
LEARNERS = {
    "Perceptron": ("linear",),
    "PassiveAggressiveClassifier": ("linear",),
    "PassiveAggressiveRegressor": ("values",),
    "KernelPerceptron": ("kernel", "budget"),
}
TAGGER = "SequenceTagger"  # handled in `taggers`, which is imported when needed


@dataclass
class Saved:
    """A model in the form that is saved: the estimator's name and parameters, and its trained learner.

    `read` returns it, without importing scikit-learn.

    Parameters
    ----------
    estimator : str
        The class of the model: "Perceptron", "PassiveAggressiveClassifier", "PassiveAggressiveRegressor" or
        "KernelPerceptron".
    params : dict
        Its parameters by name. A rule is its name, or a dict such as ``{"rule": "pa1", "C": 0.1}``.
    learner : learner
        The trained learner, with its weights.
    classes : ndarray
        The sorted class labels; empty for a regressor.
    n_features : int
        Number of features.
    feature_names : list of str, optional
        Names of the features, if they have names.
    report : dict, optional
        Facts about the last fit: n_iter, converged, mistakes, validation_errors, contradiction, and n_rows, the number
        of rows in a pass.
    encoding : Encoding, optional
        How columns of tables became features, if the model was trained on tables.
    trained : dict, optional
        Any other facts about the training, ready for JSON.
    names_of_dicts : bool, default=False
        Whether the names of features came with dicts. If so, scikit-learn does not ask for them.
    table : dict, optional
        The TableClassifier or TableRegressor that `load` returns, with this model inside: its parameters, its columns,
        and how they are treated. See `perceptrons.store.tables`.

    Examples
    --------
    >>> import os, tempfile
    >>> from perceptrons import Perceptron, save
    >>> from perceptrons.store import read
    >>> model = Perceptron(rule="arow").fit([[0.0, 1.0], [1.0, 0.0]], ["ham", "spam"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, os.path.join(folder, "spam.perceptron"))
    ...     saved = read(os.path.join(folder, "spam.perceptron"))
    >>> saved.estimator, saved.params["rule"], saved.classes.tolist(), saved.n_features
    ('Perceptron', 'arow', ['ham', 'spam'], 2)
    """

    estimator: str
    params: dict[str, Any]
    learner: ClassLearner
    classes: Array
    n_features: int
    feature_names: list[str] | None = None
    report: dict[str, Any] = field(default_factory=dict)
    encoding: Any = None
    trained: dict[str, Any] = field(default_factory=dict)
    names_of_dicts: bool = False
    table: dict[str, Any] | None = None


def write(saved: Saved | SavedTagger, path: str | os.PathLike[str], *, drop_zeros: bool = False) -> None:
    """Write a model file. An existing file is replaced only when the new one is complete.

    Parameters
    ----------
    saved : Saved or SavedTagger
        The model.
    path : str or path
        The file to write.
    drop_zeros : bool, default=False
        Store only weights that are not zero, with their positions, if that is shorter; for taggers, only features with
        weights.

    Raises
    ------
    TypeError
        If `saved` is not a Saved or a SavedTagger.
    ValueError
        If a parameter, a class or a weight of the model cannot be saved.
    OSError
        If the file cannot be written. What was there before remains.

    Examples
    --------
    Note in the file on what the model was trained:

    >>> import os, tempfile
    >>> from perceptrons import Perceptron, save
    >>> from perceptrons.store import read, write
    >>> model = Perceptron().fit([[0.0, 1.0], [1.0, 0.0]], ["ham", "spam"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "spam.perceptron")
    ...     save(model, path)
    ...     saved = read(path)
    ...     saved.trained["data"] = "mails of May"
    ...     write(saved, path)
    ...     read(path).trained
    {'data': 'mails of May'}
    """
    if isinstance(saved, Saved):
        content = _packed(saved, drop_zeros)
    else:
        from perceptrons.store import taggers

        if not isinstance(saved, taggers.SavedTagger):
            raise TypeError(f"saved must be what `read` returns, got {type(saved).__name__}; use `save` for estimators")
        content = taggers.packed(saved, drop_zeros)
    write_file(path, *content)


def read(path: str | os.PathLike[str], *, max_memory: float | None = None) -> Saved | SavedTagger:
    """Read a model file. Nothing in it is executed, and everything is checked before it is used.

    Parameters
    ----------
    path : str or path
        The file to read.
    max_memory : float, optional
        The largest number of bytes that the model may take; see `perceptrons.load`.

    Returns
    -------
    saved : Saved or SavedTagger
        The model, without scikit-learn's estimator around it.

    Raises
    ------
    ModelFileError
        If the file is not a model file, is damaged, needs too much memory, or has content that does not fit together.
    OSError
        If the file does not exist or cannot be opened.

    Examples
    --------
    >>> import os, tempfile
    >>> from perceptrons import Perceptron, save
    >>> from perceptrons.store import read
    >>> model = Perceptron().fit([[0.0, 1.0], [1.0, 0.0]], ["ham", "spam"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, os.path.join(folder, "spam.perceptron"))
    ...     saved = read(os.path.join(folder, "spam.perceptron"))
    >>> saved.params["readout"], saved.report["converged"]
    ('averaged', True)
    """
    limit = limit_of(max_memory)
    try:
        memory = Memory(os.path.getsize(path), limit)
        found, tensors = read_file(path)
        if found.get("estimator") != TAGGER:
            return _unpacked(found, tensors, memory)
        from perceptrons.store import taggers

        return taggers.unpacked(found, tensors, memory)
    except (ModelFileError, OSError):
        raise
    except Exception as error:  # a hostile file may raise anything
        what = str(error) or type(error).__name__
        raise ModelFileError(f"{os.fspath(path)} cannot be read: {what}") from error


def _packed(saved: Saved, drop_zeros: bool) -> tuple[dict[str, Any], Tensors]:
    """Convert a model to settings and arrays."""
    kind, learner, tensors = _packed_learner(saved.learner, drop_zeros)
    if kind not in LEARNERS.get(saved.estimator, ()):
        raise ValueError(f"a {saved.estimator} with a learner of kind {kind!r} cannot be saved")
    params = {name: to_json(value, name) for name, value in saved.params.items()}
    if params.get("rule") is not None:
        _check_rule(saved.estimator, params["rule"])
    classes, arrays = pack_classes(saved.classes)
    report = {**saved.report}
    mistakes = np.array(report.pop("mistakes", ()), dtype=np.int64)
    errors = np.array(report.pop("validation_errors", ()), dtype=np.float64)
    tensors |= arrays | {"report.mistakes": mistakes, "report.validation_errors": errors}
    settings: dict[str, Any] = {
        "perceptrons": __version__,
        "estimator": saved.estimator,
        "params": params,
        "n_features": int(saved.n_features),
        "named": saved.feature_names is not None,
        "classes": classes,
        "learner": {"kind": kind, **learner},
        "report": {name: to_json(value, name) for name, value in report.items()},
        "trained": {name: to_json(value, name) for name, value in saved.trained.items()},
    }
    if saved.learner.scaling is not None and not saved.learner.scales_online:  # those are in the state
        settings["scaling"], arrays = pack_scaling(saved.learner.scaling)
        tensors |= arrays
    if saved.feature_names is not None:
        tensors |= pack(saved.feature_names, "feature_names")
    if saved.names_of_dicts:
        settings["names_of_dicts"] = True
    if saved.table is not None:
        settings["table"] = {name: to_json(value, name) for name, value in saved.table.items()}
    if saved.encoding is not None:
        meta, lists = saved.encoding.state()
        settings["encoding"] = {"state": meta, "lists": list(lists)}
        for number, texts in enumerate(lists.values()):
            tensors |= pack(texts, f"encoding.{number}")
    return settings, tensors


def _packed_learner(learner: ClassLearner, drop_zeros: bool) -> tuple[str, dict[str, Any], Tensors]:
    """Convert a learner to its kind, settings and arrays."""
    if isinstance(learner, ValueLearner):
        return "values", *pack_values(learner, drop_zeros)
    if isinstance(learner, LinearLearner):
        return "linear", *pack_linear(learner, drop_zeros)
    from perceptrons.store import expansions  # kernels take long to import

    assert isinstance(learner, expansions.Expanded)
    return expansions.kind_of(learner), *expansions.pack_expansion(learner)


def _unpacked_learner(kind: str, settings: Settings, tensors: Tensors, n_features: int, memory: Memory) -> ClassLearner:
    """Restore a learner from `_packed_learner`."""
    if kind == "values":
        return unpack_values(settings, tensors, n_features, memory)
    if kind == "linear":
        return unpack_linear(settings, tensors, n_features, memory)
    from perceptrons.store import expansions

    unpack = expansions.unpack_budget if kind == "budget" else expansions.unpack_kernel
    return unpack(settings, tensors, n_features, memory)


def _unpacked(found: dict[str, Any], tensors: Tensors, memory: Memory) -> Saved:
    """Restore a model from `_packed`."""
    settings = Settings(found)
    estimator = settings.choice("estimator", list(LEARNERS))
    learner = settings.part("learner")
    kind, n_features = learner.choice("kind", LEARNERS[estimator]), settings.whole("n_features", 1)
    params = settings.any("params")
    if not isinstance(params, dict):
        raise ValueError("params must be an object")
    if "rule" in params and (params["rule"] is not None or kind != "values"):
        _check_rule(estimator, params["rule"])
    # Classes first: their number is checked before weights are allocated.
    n_classes = 0 if kind == "values" else learner.whole("n_classes", 1, 2**31 - 1)
    classes = unpack_classes(settings.part("classes"), tensors, n_classes, memory)
    restored = _unpacked_learner(kind, learner, tensors, n_features, memory)
    saved = Saved(estimator, params, restored, classes, n_features)
    saved.report = unpack_facts(settings, "report", REPORT)
    saved.report["mistakes"] = take(tensors, "report.mistakes", "i8", (None,)).tolist()
    saved.report["validation_errors"] = take(tensors, "report.validation_errors", "f8", (None,)).tolist()
    saved.trained = unpack_facts(settings, "trained", TRAINED)
    if settings.flag("named"):
        saved.feature_names = unpack(tensors, "feature_names")
        if len(saved.feature_names) != n_features:
            raise ValueError(f"there are {len(saved.feature_names)} names for {n_features} features")
        saved.names_of_dicts = "names_of_dicts" in found and settings.flag("names_of_dicts")  # older files do not tell
    if "encoding" in found:
        saved.encoding = _encoding(settings.part("encoding"), tensors, n_features)
    if "table" in found:
        saved.table = {name: from_json(value) for name, value in settings.part("table").found.items()}
    if "scaling" in found:
        if restored.scales_online:
            raise ValueError("it scales features twice, online and by a fixed map")
        restored.scaling = unpack_scaling(settings.part("scaling"), tensors, n_features, saved.encoding, memory)
    if tensors:
        raise ValueError(f"it has unexpected arrays: {', '.join(sorted(tensors))}"[:200])
    return saved


def _check_rule(estimator: str, rule: Any) -> None:
    """Refuse a rule whose formula is not in this package. The rule "auto" is one of it."""
    if (estimator, rule) != ("KernelPerceptron", "auto"):
        rule_from(from_json(rule))


def _encoding(settings: Settings, tensors: Tensors, n_features: int) -> Any:
    """Restore how columns become features."""
    from perceptrons.data.table.encoding import Encoding  # seldom needed

    names = settings.any("lists")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("lists must be a list of names")
    lists = {name: unpack(tensors, f"encoding.{number}") for number, name in enumerate(names)}
    encoding = Encoding.from_state(settings.part("state").found, lists)
    # It has more categories if Ctrl-C came before a batch with new ones was learned. Hashed features are all there.
    if not encoding.begin_onehot <= n_features <= encoding.n_features:
        raise ValueError(f"its columns give {encoding.n_features} features, but the model has {n_features}")
    return encoding
