"""Probabilities of classes in commands, and how good they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from perceptrons.cli import output
from perceptrons.learn.linear.belief import believes, with_belief
from perceptrons.learn.linear.values import ValueLearner
from perceptrons.store.saved import Saved


def refuse_without_belief(saved: Saved, path: str) -> None:
    """Raise an error if a model has no probabilities."""
    if isinstance(saved.learner, ValueLearner):
        raise ValueError(f"--proba needs a model of classes, but {path} predicts values: leave out --proba")
    if not believes(saved.learner):
        rule, names = type(saved.learner.rule).__name__, ", ".join(with_belief())
        raise ValueError(
            f"{path} has no probabilities: its rule {rule} keeps no covariance of the weights. Leave out --proba; or "
            f"train with --rule and one of {names}; or calibrate the scores in Python, with scikit-learn's "
            "CalibratedClassifierCV"
        )


class Quality:
    """How good probabilities are, on the rows whose class the model knows."""

    def __init__(self, n_classes: int) -> None:
        self.n_classes = n_classes
        self.n_rows, self.squares, self.logs = 0, 0.0, 0.0

    def add(self, codes: Any, found: Any) -> None:
        """Count a batch: numbers of classes, other labels having higher ones, and probabilities."""
        known = np.flatnonzero(codes < self.n_classes)
        p, right = found[known], codes[known]
        own = p[np.arange(len(known)), right]
        self.n_rows += len(known)
        self.squares += float(np.sum(p * p) + np.sum(1.0 - 2.0 * own))  # Σ_c (p_c − y_c)²
        self.logs -= float(np.sum(np.log(np.maximum(own, np.finfo(np.float64).eps))))

    def summary(self) -> dict[str, Any]:
        """The Brier score and the log loss, as scikit-learn defines them; null without rows."""
        halves = 2 if self.n_classes == 2 else 1  # of two classes, only the second counts
        rows = self.n_rows
        return {
            "brier_score": self.squares / halves / rows if rows else None,
            "log_loss": self.logs / rows if rows else None,
        }


def show(summary: dict[str, Any]) -> None:
    """Print the facts of `Quality`."""
    if summary["brier_score"] is not None:
        told = f"Brier score {summary['brier_score']:.4f}, log loss {summary['log_loss']:.4f}"
        output.say(f"probabilities: {told} (smaller is better)")
