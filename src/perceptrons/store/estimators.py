"""Save scikit-learn estimators to model files, and load them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from perceptrons.learn.fit import Run, Verdict
from perceptrons.learn.single.names import Names
from perceptrons.store.format import ModelFileError
from perceptrons.store.saved import LEARNERS, TAGGER, Saved, read, write
from perceptrons.store.tables import TABLES, facts_of, table_model
from perceptrons.store.values import rule_from

if TYPE_CHECKING:
    from perceptrons.models import SequenceTagger
    from perceptrons.models.base import Online
    from perceptrons.store.taggers import SavedTagger


def save(model: Online, path: str | os.PathLike[str], *, drop_zeros: bool = False) -> None:
    """Save a fitted model.

    The file is in the safetensors format, with settings in JSON; `load` executes nothing in it. It is replaced in one
    step, so that a complete file, old or new, exists at every moment. A digest in the file reveals damage.

    Parameters
    ----------
    model : estimator
        A fitted model of this package, but not a StructuredPerceptron. Rules and kernels of your own cannot be saved,
        because they are code; neither can a RandomState as `random_state`.
    path : str or path
        The file to write, for instance ``"spam.perceptron"``.
    drop_zeros : bool, default=False
        Make the file smaller where possible: linear models store only weights that are not zero, with their
        positions; taggers leave out features without weights. Predictions and later learning stay the same.

    Raises
    ------
    TypeError
        If the model is not one of these estimators.
    ValueError
        If a parameter, a class or a weight of the model cannot be saved.

    Examples
    --------
    >>> import os, tempfile
    >>> from perceptrons import Perceptron, load, save
    >>> model = Perceptron().fit([[0.0, 1.0], [1.0, 0.0]], ["ham", "spam"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, os.path.join(folder, "spam.perceptron"))
    ...     again = load(os.path.join(folder, "spam.perceptron"))
    >>> again.predict([[0.0, 1.0]]), again.n_updates_ == model.n_updates_
    (array(['ham'], dtype='<U4'), True)
    """
    with unchanged(getattr(model, "model_", model)):
        write(to_saved(model), path, drop_zeros=drop_zeros)


def load(path: str | os.PathLike[str], *, max_memory: float | None = None) -> Any:
    """Load a saved model. It predicts exactly as before and can continue learning.

    Parameters
    ----------
    path : str or path
        A file written by `save` or by ``perceptrons train``.
    max_memory : float, optional
        The largest number of bytes that the model may take. Without it, a model may take 1.2 GB or 1000 times the size
        of its file, whichever is more, but no more than the machine has: with ``drop_zeros``, a small file can ask for
        much memory. The environment variable ``PERCEPTRONS_MAX_MEMORY`` sets another limit, also for the command line.

    Returns
    -------
    model : estimator
        The fitted model. For a table on which ``perceptrons train`` has learned with its default estimator, this is a
        TableClassifier or TableRegressor.

    Raises
    ------
    perceptrons.store.ModelFileError
        If the file is not a model file, is damaged, needs too much memory, or has content that does not fit together.
    OSError
        If the file does not exist or cannot be opened.

    Examples
    --------
    >>> import os, tempfile
    >>> from perceptrons import Perceptron, load, save
    >>> model = Perceptron(rule="pa1").partial_fit([[0.0, 1.0], [1.0, 0.0]], ["ham", "spam"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(model, os.path.join(folder, "spam.perceptron"))
    ...     again = load(os.path.join(folder, "spam.perceptron"))
    >>> again
    Perceptron(rule='pa1')
    >>> again.partial_fit([[1.0, 1.0]], ["ham"]).n_seen_
    3
    """
    return restored(read(path, max_memory=max_memory), path, tables=True)


def load_rows(path: str | os.PathLike[str]) -> Any:
    """Load a saved model as `load` does; of one for tables, the linear model that it learns with.

    The linear model keeps what it needs to become a model for tables again when it is saved.
    """
    return restored(read(path), path)


def restored(saved: Saved | SavedTagger, path: str | os.PathLike[str], *, tables: bool = False) -> Any:
    """Restore an estimator that was read from a file; the error names the file.

    tables: whether models for tables are restored as such.
    """
    try:
        if not isinstance(saved, Saved):
            return from_saved_tagger(saved)
        model = from_saved(saved)
        return model if saved.table is None or not tables else table_model(saved.table, model)
    except Exception as error:  # for instance, parameters that the estimator refuses
        raise ModelFileError(f"{os.fspath(path)} cannot be read: {error}") from error


@contextmanager
def unchanged(model: Any) -> Iterator[None]:
    """Keep a model from changing in other threads."""
    guard = getattr(model, "_guard", None)
    if guard is None:  # an object that `to_saved` refuses
        yield
        return
    with guard.mine():
        guard.settle()
        yield


def to_saved(model: Online) -> Saved | SavedTagger:
    """The parts of a fitted estimator that are saved."""
    from sklearn.utils.validation import check_is_fitted

    from perceptrons import models

    model = model.to_local() if hasattr(model, "to_local") else model  # of an estimator on a cluster
    if type(model).__name__ in TABLES and type(model) is getattr(models, type(model).__name__):
        check_is_fitted(model)
        model._validate_params()
        found = to_saved(model.model_)
        assert isinstance(found, Saved)
        found.table = facts_of(model)
        return found
    name, known = type(model).__name__, [*LEARNERS, TAGGER]
    if isinstance(model, models.StructuredPerceptron):
        raise TypeError(
            "a StructuredPerceptron cannot be saved: its problem is code, and model files hold no code. Save its "
            "weights_ instead, which are numbers"
        )
    if name not in known or type(model) is not getattr(models, name):
        raise TypeError(
            f"expected one of {', '.join([*known, *TABLES])}, got {name}; of a pipeline, save the last step"
        )
    check_is_fitted(model)
    params = model.get_params(deep=False)
    if isinstance(params["random_state"], np.random.RandomState):
        raise ValueError("random_state is a RandomState, which cannot be saved: set it to an integer or None first")
    model._validate_params()  # refuse now what `load` would refuse later
    if name == TAGGER:
        return _to_saved_tagger(model, params)
    model._settings()
    names, contradiction = getattr(model, "feature_names_in_", None), getattr(model, "contradiction_", None)
    return Saved(
        estimator=name,
        params=params,
        learner=model._learner,
        classes=getattr(model, "classes_", np.empty(0)),
        n_features=model.n_features_in_,
        feature_names=None if names is None else [str(text) for text in names],
        report={
            "n_iter": model.n_iter_,
            "converged": model.converged_,
            "mistakes": model.mistakes_,
            "validation_errors": model.validation_errors_,
            "n_rows": model._n_rows,
            "contradiction": None if contradiction is None else contradiction.tolist(),
        },
        encoding=getattr(model, "encoding_", None),
        names_of_dicts="_names" in vars(model),
        table=vars(model).get("_table"),
    )


def from_saved(saved: Saved) -> Any:
    """Restore an estimator, and check its parameters."""
    from perceptrons import models

    params = dict(saved.params)
    if isinstance(params.get("rule"), dict):
        params["rule"] = rule_from(params["rule"])
    model = getattr(models, saved.estimator)(**params)
    model._validate_params()
    report = saved.report
    mistakes = [int(count) for count in report.get("mistakes", ())]
    errors = [float(error) for error in report.get("validation_errors", ())]
    run = Run(mistakes, validation_errors=errors, converged=report.get("converged", False) is True)
    if report.get("contradiction") is not None:
        run.verdict = Verdict(False, np.array(report["contradiction"], dtype=np.intp))
    model._settings()  # raises an error for parameters that do not combine
    model._learned_with = {}  # not known: parameters may have changed before the model was saved
    model.n_features_in_ = saved.n_features
    if len(saved.classes):
        model.classes_ = saved.classes
    if saved.feature_names is not None and saved.names_of_dicts:
        model._names = Names(saved.feature_names)
    elif saved.feature_names is not None:
        model.feature_names_in_ = np.array(saved.feature_names, dtype=object)
    if saved.encoding is not None:
        model.encoding_ = saved.encoding
    if saved.table is not None:
        model._table = saved.table
    model._commit(saved.learner, run, _whole(report.get("n_rows", 0), "n_rows"))
    return model


def _to_saved_tagger(model: SequenceTagger, params: dict[str, Any]) -> SavedTagger:
    from perceptrons.store.taggers import SavedTagger

    model._plan()
    features, columns = params["features"], params["columns"]
    if features is not None and not isinstance(features, str):
        params["features"] = [str(template) for template in features]
    params["columns"] = None if columns is None else [str(name) for name in columns]
    report = {
        "converged": model.converged_,
        "mistakes": model.mistakes_,
        "token_mistakes": model.token_mistakes_,
        "validation_errors": model.validation_errors_,
        "n_tokens": model._n_rows,
    }
    return SavedTagger(params, model._tagger, report)


def from_saved_tagger(saved: SavedTagger) -> Any:
    """Restore a tagger, and check its parameters."""
    from perceptrons.models import SequenceTagger

    params, report = dict(saved.params), saved.report
    if isinstance(params.get("rule"), dict):
        params["rule"] = rule_from(params["rule"])
    model = SequenceTagger(**params)
    model._validate_params()
    model._plan()
    run = Run(
        list(report["mistakes"]),
        token_mistakes=list(report["token_mistakes"]),
        validation_errors=list(report["validation_errors"]),
        converged=report.get("converged") is True,
    )
    model._become(saved.tagger, run, _whole(report.get("n_tokens", 0), "n_tokens"))
    return model


def _whole(value: Any, name: str) -> int:
    if type(value) is not int or value < 0:
        raise ValueError(f"{name} must be a whole number >= 0, got {value!r}")
    return value
