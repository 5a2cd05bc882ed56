"""The classifier for tables as they are."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar, Self

from sklearn.base import ClassifierMixin
from sklearn.utils._param_validation import Interval
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from perceptrons.data.batches import Source
from perceptrons.learn.linear.defaults import for_columns
from perceptrons.models.parameters import COMMON
from perceptrons.models.perceptron import Perceptron
from perceptrons.models.table.base import Array, TableModel, documented, of_model


def believes(model: TableClassifier) -> bool:
    """Whether a model has probabilities; otherwise the error of the linear model says why not."""
    made = model.model_ if hasattr(model, "model_") else model._model(None)
    return bool(made.predict_proba)


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class TableClassifier(ClassifierMixin, TableModel):
    """Linear classifier for tables as they are: pandas, Polars or Arrow, with categories, text and missing cells.

    It learns what ``perceptrons train`` learns from a CSV file of the same rows, with the same weights. Numbers are
    centred and divided by their standard deviation; each category is a feature, and so is each word of a text; dates
    and row numbers are dropped. Strings are read like the cells of a CSV file: they may be numbers such as "$1,200",
    or marks for missing values. `describe` tells how each column is treated, and why.

    Parameters
    ----------
    rule : str, rule object or None, default=None
        When to step and how far; see `perceptrons.rules`. None: ``Margin(beta=20)``, or ``PA1(C=2)`` if there is text.
    readout : {"last", "averaged", "voted", "pocket"}, default="averaged"
        Which weight vector makes predictions; see `Perceptron`.
    {shared: max_iter}
    tol : float or None, default=None
        As for `Perceptron`. None: all passes are made, unless training converges.
    {shared: fit_intercept}
    intercept_scaling : float or None, default=None
        Value of the constant feature whose weight is the bias. None: 1; 0.1 for tables of text only.
    class_weight : dict, "balanced" or None, default=None
        Weights of classes. A weight scales the step, or C for PA-I and PA-II.
    {shared: shuffle random_state early_stopping validation_fraction n_iter_no_change verbose drop numeric missing na}
    {shared: hash_bits ngrams text_bits weighting scale}

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Sorted class labels.
    model_ : Perceptron
        The linear model of the features that the columns became, with everything that it tells.
    {shared: encoding_ n_features_in_ feature_names_in_ n_iter_ n_seen_}

    See Also
    --------
    TableRegressor : Predicts numbers.
    Perceptron : For arrays and sparse matrices.

    Examples
    --------
    >>> import pandas as pd
    >>> from perceptrons import TableClassifier
    >>> trips = pd.DataFrame({"km": [1, 300, 2, None, 600], "when": ["day", "day", "night", "night", "day"]})
    >>> model = TableClassifier().fit(trips, ["bike", "train", "bike", "bike", "train"])
    >>> model.predict(pd.DataFrame({"km": [3, 500], "when": ["night", "?"]}))
    array(['bike', 'train'], dtype='<U5')
    >>> print(model.describe())
    the data frame
    column  treated as  because            examples     missing of 5
    km      number      whole numbers      1; 300; 2               1
    when    category    2 different words  day; night              0
    target  label       2 different values bike; train             0
    """

    intercept_scaling: float | None = None
    class_weight: Any = None

    classes_ = of_model("classes_", "Sorted class labels.")
    _values = False
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **TableModel._parameter_constraints,
        "intercept_scaling": [Interval(Real, 0, None, closed="neither"), None],
        "class_weight": COMMON["class_weight"],
    }

    def _usual(self, encoding: Any) -> dict[str, Any]:
        return for_columns(encoding)

    def _made(self, usual: dict[str, Any], common: dict[str, Any]) -> Perceptron:
        scaling = usual.get("intercept_scaling", 1.0) if self.intercept_scaling is None else self.intercept_scaling
        own = {"readout": self.readout, "intercept_scaling": scaling, "class_weight": self.class_weight}
        return Perceptron(**common, **own)

    def partial_fit(self, X: Any, y: Any = None, classes: Any = None) -> Self:
        """Learn from these rows once, in their order.

        The first call decides how columns are treated, and which categories have a feature.

        Parameters
        ----------
        X : DataFrame, pyarrow.Table, array-like or Source
            Rows with the columns of the first call.
        y : array-like of shape (n_samples,), or str
            Labels, or the name of their column in X.
        classes : array-like, optional
            Classes that exist from now on. Other classes exist from their first example on.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As for `fit`. Also if the columns are not those of the first call.
        """
        return self._learn_once(X, y, classes=classes)

    def decision_function(self, X: Any) -> Array:
        """Compute the score of each row.

        Parameters
        ----------
        X : DataFrame, pyarrow.Table, array-like or Source
            Rows with the columns of training.

        Returns
        -------
        ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, one number per row, positive for `classes_[1]`; otherwise one column per class.

        Raises
        ------
        sklearn.exceptions.NotFittedError, ValueError
            As for `predict`.
        """
        read = self._read(X)
        found: Array = self.model_.decision_function(read)
        return found

    @available_if(believes)
    def predict_proba(self, X: Any) -> Array:
        """Compute the model's own belief in each class; see `Perceptron.predict_proba`.

        Parameters
        ----------
        X : DataFrame, pyarrow.Table, array-like or Source
            Rows with the columns of training.

        Returns
        -------
        ndarray of shape (n_samples, n_classes)
            Probabilities, in the order of `classes_`.

        Raises
        ------
        AttributeError
            If the rule keeps no covariance.
        sklearn.exceptions.NotFittedError, ValueError
            As for `predict`.
        """
        read = self._read(X)
        found: Array = self.model_.predict_proba(read)
        return found

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Compute the accuracy: the share of rows that are predicted correctly.

        Parameters
        ----------
        X : DataFrame, pyarrow.Table, array-like or Source
            Rows with the columns of training.
        y : array-like of shape (n_samples,), or str
            True labels, or the name of their column in X. A source has its own.
        sample_weight : array-like of shape (n_samples,), optional
            Weights of the rows; 1 by default.

        Returns
        -------
        float
            From 0 to 1.

        Raises
        ------
        sklearn.exceptions.NotFittedError, ValueError
            As for `predict`.
        """
        check_is_fitted(self)
        if isinstance(X, Source):
            return float(self.model_.score(X, y, sample_weight))
        return float(super().score(X, X[y] if isinstance(y, str) else y, sample_weight))
