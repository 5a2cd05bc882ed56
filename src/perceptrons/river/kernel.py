"""The kernel perceptron for River."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from perceptrons import models
from perceptrons.river.model import Classifier, like


@like(models.KernelPerceptron)
@dataclass(kw_only=True, eq=False, repr=False)
class KernelPerceptron(Classifier):
    """The perceptron in a kernel's feature space, on a budget, for River. See `perceptrons.KernelPerceptron`.

    Defaults differ from those of the estimator. Without a `budget`, memory and the time for an example grow with
    the stream. And `gamma` is a number, because a stream does not tell at its beginning how its features will vary.
    Rule and readout are those of the estimator with a budget.

    Parameters
    ----------
    kernel : {"linear", "poly", "rbf", "sigmoid", "cosine", "laplacian"} or callable, default="rbf"
        Values as in `sklearn.metrics.pairwise`. A callable takes two matrices of rows and returns the matrix of their
        kernel values.
    gamma : float, default=0.1
        γ of "rbf", "laplacian", "poly" and "sigmoid". For n features of variance 1, 1/n is a good start.
    {shared: degree coef0}
    rule : {"perceptron", "margin", "uneven", "pa", "pa1", "pa2"} or rule object, default="perceptron"
        When to step and how far; an object such as ``perceptrons.rules.PA1(C=0.1)`` has parameters. The policies of the
        projectrons and the Forgetron need "perceptron".
    readout : {"last", "averaged", "voted"}, default="last"
        Which hypothesis makes predictions. With a budget, only "last".
    {shared: fit_intercept eta0 tie class_weight}
    budget : int or None, default=200
        Maximum number of support rows, B. It bounds the memory, and the time for an example. None keeps every row that
        makes a step: for short streams.
    {shared: policy threshold}
    random_state : int, RandomState or None, default=0
        Seed of the policy "random".

    Attributes
    ----------
    {shared: estimator}

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from perceptrons.river import KernelPerceptron
    >>> model = preprocessing.StandardScaler() | KernelPerceptron(gamma=1.0)
    >>> evaluate.progressive_val_score(datasets.Bananas().take(1000), model, metrics.Accuracy())
    Accuracy: 8...%
    """

    kernel: Any = "rbf"
    gamma: Any = 0.1
    degree: int = 3
    coef0: float = 0.0
    rule: Any = "perceptron"
    readout: str = "last"
    fit_intercept: bool = True
    eta0: float = 1.0
    tie: str = "mistake"
    class_weight: Any = None
    budget: int | None = 200
    policy: str = "projectron++"
    threshold: float = 0.1
    random_state: Any = 0
