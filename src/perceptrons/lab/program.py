"""The program that makes a fit of the lab with the library."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from perceptrons import rules
from perceptrons.lab.messages import Choice, Scene
from perceptrons.lab.proofs import KERNEL_ROWS
from perceptrons.lab.scene import Rows, estimator_of, held_out, parameters, rows_of
from perceptrons.learn.kernel.feature_space import FeatureSpace
from perceptrons.theory import theorems

WIDTH = 100  # of lines


def program(scene: Scene, choice: Choice) -> str:
    """Write a program that fits the model of a scene, and prints what the page shows.

    >>> text = program(Scene([[0.0, 1.0], [1.0, 0.0]], [0, 1], [-1, 1]), Choice(fit_intercept=False))
    >>> print("\\n".join(line for line in text.splitlines() if line.startswith(("from", "model"))))
    from perceptrons import Perceptron
    from perceptrons.theory import mistake_bound, separability
    model = Perceptron(readout='last', fit_intercept=False, max_iter=100, shuffle=False).fit(X, y)
    """
    rows, held = rows_of(scene, choice), held_out(scene)
    lines = [_array("X", scene.rows), _array("y", [scene.classes[code] for code in scene.labels])]
    data = "X, y"
    if held.any():
        lines.append(f"held_out = np.isin(np.arange({len(held)}), {np.flatnonzero(held).tolist()})")
    if rows.X_val is not None:
        lines.append("X, X_val, y, y_val = X[~held_out], X[held_out], y[~held_out], y[held_out]")
        data = "X, y, X_val=X_val, y_val=y_val"
        if len(rows.X_val) < held.sum():
            lines.append("known = np.isin(y_val, y)  # a model knows no class that it has not learned")
            lines.append("X_val, y_val = X_val[known], y_val[known]")
    elif held.any():
        lines.append("X, y = X[~held_out], y[~held_out]")
    if choice.order == "sorted":
        lines += ['order = np.argsort(y, kind="stable")  # by class', "X, y = X[order], y[order]"]
    lines += ["", f"model = {choice.estimator}({_arguments(choice)}).fit({data})", "", *_report(choice, rows)]
    return "\n".join([*_imports(choice, "\n".join(lines)), "", *lines]) + "\n"


def _imports(choice: Choice, text: str) -> list[str]:
    """The names that a program needs."""
    rule = parameters(choice)["rule"]
    lines = ["import numpy as np", f"from perceptrons import {choice.estimator}"]
    if not isinstance(rule, str):
        lines.append(f"from perceptrons.rules import {type(rule).__name__}")
    used = [name for name in ("mistake_bound", "separability") if re.search(rf"^print\({name}\(", text, re.MULTILINE)]
    return [*lines, f"from perceptrons.theory import {', '.join(used)}"]


def _arguments(choice: Choice) -> str:
    """The parameters that differ from the defaults, as Python writes them."""
    usual = type(estimator_of(choice))().get_params(deep=False)
    given = parameters(choice)
    if not _random(choice):
        given.pop("random_state")
    return ", ".join(f"{name}={value!r}" for name, value in given.items() if value != usual[name])


def _random(choice: Choice) -> bool:
    """Whether the fit depends on the seed."""
    drawn = choice.estimator == "KernelPerceptron" and choice.budget is not None and choice.policy == "random"
    started = choice.estimator == "Perceptron" and choice.init == "random"
    return choice.order == "shuffled" or started or drawn


def _array(name: str, values: list[Any]) -> str:
    """An assignment of an array, in lines that are not too long."""
    parts, text = [], ""
    for each in values:
        more = f"{each!r}, "
        if text and len(text) + len(more) > WIDTH - 4:
            parts.append(text.rstrip())
            text = ""
        text += more
    parts.append(text.rstrip(", "))
    if len(parts) == 1:
        return f"{name} = np.array([{parts[0]}])"
    return f"{name} = np.array([\n    " + "\n    ".join(parts) + "\n])"


def _report(choice: Choice, rows: Rows) -> list[str]:
    """Lines that print what was learned and what is proved."""
    kernel, lines = choice.estimator == "KernelPerceptron", []
    if choice.readout != "voted":
        lines.append('print("alpha =", model.dual_coef_)' if kernel else 'print("w =", model.coef_)')
        lines.append('print("b =", model.intercept_)')
    lines.append('print("passes:", model.n_iter_, "mistakes:", model.n_mistakes_, "updates:", model.n_updates_)')
    lines.append('print("converged:", model.converged_)')
    lines.append('print("training error:", 1 - model.score(X, y))')
    if rows.X_val is not None:
        lines.append('print("held-out error:", 1 - model.score(X_val, y_val))')
    lines.append("print(separability(X, y))")
    bias = "" if choice.fit_intercept else ", fit_intercept=False"
    about = "X, y"
    if kernel:
        space = FeatureSpace(choice.kernel, choice.gamma, choice.degree, choice.coef0)
        if not space.definite or len(rows.X) > KERNEL_ROWS:
            return lines  # nothing is proved, or it takes long
        about = "K=K, y=y, K_error=model.kernel_error(X)"
        lines += ["K = model.kernel_matrix(X)", f"print(separability({about}{bias}))"]
    if _is_bounded(choice, len(np.unique(rows.y))):
        rule = parameters(choice)["rule"]
        lines.append(f"print(mistake_bound({about}{bias}{'' if rule == 'perceptron' else f', rule={rule!r}'}))")
    return lines


def _is_bounded(choice: Choice, n_classes: int) -> bool:
    """Whether there is a bound on the mistakes of a model: a theorem for its rule, its start and its steps."""
    kernel = choice.estimator == "KernelPerceptron"
    other = choice.budget is not None if kernel else choice.init != "zeros"
    try:
        theorems.refuse(rules.RULES[choice.rule](**choice.params), n_classes, kernel, float(kernel))
    except ValueError:
        return False
    return choice.eta0 == 1.0 and not other and n_classes > 1
