"""What a model file holds of a TableClassifier or TableRegressor, besides the linear model inside it."""

from __future__ import annotations

from typing import Any

from perceptrons.data.table.description import TREATED, Description
from perceptrons.data.table.roles import Guess
from perceptrons.store.values import rule_from

TABLES = {"TableClassifier": "Perceptron", "TableRegressor": "PassiveAggressiveRegressor"}  # and the models inside


def facts(
    estimator: str, params: dict[str, Any], columns: list[str], named: bool, described: Description
) -> dict[str, Any]:
    """What is saved of a model for tables.

    Parameters
    ----------
    estimator : {"TableClassifier", "TableRegressor"}
    params : dict
        Its parameters by name.
    columns : list of str
        The columns of X.
    named : bool
        Whether these are names, not numbers.
    described : Description
        How columns are treated. Examples of cells are not saved.

    Returns
    -------
    dict
        Numbers, text, and lists and dicts of them, except for the rule.
    """
    guesses = [[each.column, each.kind, each.why, int(each.missing)] for each in described.guesses]
    told = {"name": described.name, "sampled": int(described.sampled), "guesses": guesses}
    return {"estimator": estimator, "params": params, "columns": list(columns), "named": named, **told}


def facts_of(model: Any) -> dict[str, Any]:
    """What is saved of a fitted model for tables."""
    params = {name: _plain(value) for name, value in model.get_params(deep=False).items()}
    named = hasattr(model, "feature_names_in_")
    return facts(type(model).__name__, params, model._columns, named, model._description)


def _plain(value: Any) -> Any:
    """Lists in place of arrays and indexes of column names."""
    return value.tolist() if hasattr(value, "tolist") and getattr(value, "ndim", 0) > 0 else value


def table_model(found: dict[str, Any], model: Any) -> Any:
    """Restore a model for tables around its linear model, from what a file says, and check it."""
    from perceptrons import models
    from perceptrons.models.table.frames import note_names

    name, params, columns = found.get("estimator"), found.get("params"), found.get("columns")
    if TABLES.get(str(name)) != type(model).__name__ or not hasattr(model, "encoding_"):
        raise ValueError(f"a {type(model).__name__} is not the model inside a {name!r:.100}")
    if not isinstance(params, dict) or not isinstance(columns, list) or not _texts(columns):
        raise ValueError("params of a table must be an object, and its columns a list of names")
    if isinstance(params.get("rule"), dict):
        params = {**params, "rule": rule_from(params["rule"])}
    made = getattr(models, str(name))(**params)
    made._validate_params()
    note_names(made, columns, named=found.get("named") is True)
    made._description = _described(found)
    made.model_ = model
    del model._table
    made._model(made.encoding_)  # its rule is checked, too
    return made


def _described(found: dict[str, Any]) -> Description:
    """How columns were treated in training."""
    guesses, name, sampled = found.get("guesses"), found.get("name"), found.get("sampled")
    if not isinstance(guesses, list) or not isinstance(name, str) or type(sampled) is not int:
        raise ValueError("guesses of a table must be a list, with a name and a number of rows")
    for each in guesses:
        fits = isinstance(each, list) and len(each) == 4 and _texts(each[:3]) and type(each[3]) is int
        if not fits or each[1] not in TREATED:
            raise ValueError(f"a guess must be a column, its kind, a reason and a count, got {each!r:.100}")
    return Description(name, [Guess(*each) for each in guesses], sampled)


def _texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
