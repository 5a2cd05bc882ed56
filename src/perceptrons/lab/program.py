"""The program that makes a fit of the lab with the library."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptrons.lab.messages import Choice, Scene
from perceptrons.lab.scene import estimator_of, held_out, parameters

WIDTH = 100  # of lines


def program(scene: Scene, choice: Choice) -> str:
    """Write a program that fits the model of a scene, and prints what the page shows.

    >>> text = program(Scene([[0.0, 1.0], [1.0, 0.0]], [0, 1], [-1, 1]), Choice(fit_intercept=False))
    >>> print("\\n".join(line for line in text.splitlines() if line.startswith("model")))
    model = Perceptron(fit_intercept=False, max_iter=100, shuffle=False).fit(X, y)
    """
    y = [scene.classes[code] for code in scene.labels]
    lines = ["import numpy as np", f"from perceptrons import {choice.estimator}"]
    arguments = _arguments(choice)
    rule = parameters(choice)["rule"]
    if not isinstance(rule, str):
        lines.append(f"from perceptrons.rules import {type(rule).__name__}")
    lines += ["from perceptrons.theory import mistake_bound, separability", ""]
    lines += [_array("X", scene.rows), _array("y", y)]
    data, rows = "X, y", "X, y"
    if scene.held_out:
        n = len(scene.rows)
        lines.append(f"held_out = np.isin(np.arange({n}), {np.flatnonzero(held_out(scene)).tolist()})")
        data = "X, y, X_val=X_val, y_val=y_val"
        lines.append("X, X_val, y, y_val = X[~held_out], X[held_out], y[~held_out], y[held_out]")
        lines.append("known = np.isin(y_val, y)  # a model knows no class that it has not learned")
        lines.append("X_val, y_val = X_val[known], y_val[known]")
    if choice.order == "sorted":
        lines += ['order = np.argsort(y, kind="stable")  # by class', "X, y = X[order], y[order]"]
    lines += ["", f"model = {choice.estimator}({arguments}).fit({data})", ""]
    return "\n".join(lines + _report(choice, rows, scene.held_out > 0)) + "\n"


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


def _array(name: str, values: Any) -> str:
    """An assignment of an array, in lines that are not too long."""
    if not values:
        return f"{name} = np.empty((0, 2))"
    parts, text = [], ""
    for each in values:
        more = f"{each!r}, "
        if len(text) + len(more) > WIDTH - 4:
            parts.append(text.rstrip())
            text = ""
        text += more
    parts.append(text.rstrip(", "))
    if len(parts) == 1:
        return f"{name} = np.array([{parts[0]}])"
    return f"{name} = np.array([\n    " + "\n    ".join(parts) + "\n])"


def _report(choice: Choice, rows: str, held_out: bool) -> list[str]:
    """Lines that print what was learned and what is proved."""
    voted = choice.readout == "voted"
    lines = [] if voted else ['print("b =", model.intercept_)']
    if not voted:
        weights = "coef_" if choice.estimator == "Perceptron" else "dual_coef_"
        name = "w" if choice.estimator == "Perceptron" else "alpha"
        lines.insert(0, f'print("{name} =", model.{weights})')
    lines.append('print("passes:", model.n_iter_, "mistakes:", model.n_mistakes_, "updates:", model.n_updates_)')
    lines.append('print("converged:", model.converged_)')
    lines.append(f'print("training error:", 1 - model.score({rows}))')
    if held_out:
        lines.append('print("held-out error:", 1 - model.score(X_val, y_val))')
    lines.append("print(separability(X, y))")
    if choice.estimator == "Perceptron" and choice.rule == "perceptron":
        lines.append(f"print(mistake_bound(X, y, fit_intercept={choice.fit_intercept}))")
    return lines
