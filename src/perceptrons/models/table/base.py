"""What the estimators for tables share: a table becomes a source, and a linear model learns from it."""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
from sklearn.base import BaseEstimator, _fit_context
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from perceptrons import rules
from perceptrons.data.batches import Source
from perceptrons.data.source import SCALES, source
from perceptrons.data.table.description import Description
from perceptrons.data.table.settings import WEIGHTINGS
from perceptrons.data.table.tables import TableSource
from perceptrons.learn.linear.defaults import PASSES, READOUT
from perceptrons.learn.plain import flattened, restored
from perceptrons.models.base import rule_with, with_rule
from perceptrons.models.learned.explanation import Explanation, explain_row
from perceptrons.models.learned.feature_weights import FeatureWeights
from perceptrons.models.parameters import COMMON, entries, with_entries
from perceptrons.models.table import frames

Array = np.ndarray[Any, Any]
T = TypeVar("T", bound=type)
COLUMNS: dict[str, Any] = {  # settings of sources
    **{name: ["array-like", None] for name in ("drop", "numeric", "categorical", "text", "na")},
    "missing": [StrOptions({"mean", "error"}), Real, dict],
    "hash_bits": [Interval(Integral, 1, 28, closed="both"), None],
    "ngrams": [Interval(Integral, 1, 8, closed="both")],
    "text_bits": [Interval(Integral, 1, 28, closed="both")],
    "weighting": [StrOptions(set(WEIGHTINGS))],
    "scale": [StrOptions(set(SCALES))],
}


def documented(cls: T) -> T:
    """Let a docstring have entries of `TableModel`, which it names in lines such as ``{shared: max_iter drop}``."""
    cls.__doc__ = with_entries(cls.__doc__, entries(TableModel.__doc__))
    return cls


def of_model(name: str, text: str) -> property:
    """An attribute of the fitted linear model."""
    return property(lambda self: getattr(self.model_, name), doc=text)


@dataclass(kw_only=True, eq=False, repr=False)
class TableModel(BaseEstimator, metaclass=ABCMeta):
    """A linear model of a table as it is. Subclasses say what it predicts.

    The docstrings of subclasses copy the entries below.

    Parameters
    ----------
    max_iter : int or None, default=None
        Maximum number of passes over the rows. None: 10; 5 for classes of tables with text.
    fit_intercept : bool, default=True
        Whether to learn a bias.
    shuffle : bool, default=True
        Whether each pass visits the rows in a new random order.
    random_state : int, RandomState or None, default=0
        Seed for shuffling and for the choice of held-out rows.
    early_stopping : bool, default=False
        Whether to stop when the error on held-out rows has not fallen for `n_iter_no_change` passes, and to go back to
        the best pass.
    validation_fraction : float, default=0.1
        Share of rows that `early_stopping` holds out.
    n_iter_no_change : int, default=5
        Passes to wait for a smaller held-out error.
    verbose : int, default=0
        1 reports progress now and then, 2 after each pass.
    drop : list of str, optional
        Columns to leave out.
    numeric, categorical, text : list of str, optional
        Columns to treat as numbers, as categories and as text. The others are guessed; `describe` tells how.
    missing : {"mean", "error"}, float or dict, default="mean"
        What replaces missing numbers. "mean": the mean of the column, with one more feature that marks the row; a
        number, or numbers by column; "error": missing cells are refused.
    na : list of str, optional
        Strings that count as missing, in place of "NA", "?" and the like.
    hash_bits : int, optional
        Hash all categories into 2^hash_bits features. By default, each category has its own.
    ngrams : int, default=1
        The most neighbouring words of a text that make one feature.
    text_bits : int, default=18
        Words are hashed into 2^text_bits features for each column of text.
    weighting : {"tfidf", "binary", "counts"}, default="tfidf"
        How words count: more if few texts have them; all equally; or as often as they occur.
    scale : {"auto", "standard", "none"}, default="auto"
        Whether numbers are centred and divided by their standard deviation. "auto" does so.

    Attributes
    ----------
    encoding_ : perceptrons.data.table.encoding.Encoding
        How the columns become features.
    n_features_in_ : int
        Number of columns in X.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Names of the columns, if X had names.
    n_iter_ : int
        Number of passes of the last `fit`.
    n_seen_, n_mistakes_, n_updates_ : int
        Number of rows processed, mistakes and steps, over all passes and calls.
    """

    rule: Any = None
    readout: str = READOUT
    max_iter: int | None = None
    tol: float | None = None
    fit_intercept: bool = True
    shuffle: bool = True
    random_state: Any = 0
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    verbose: int = 0
    drop: Any = None
    numeric: Any = None
    categorical: Any = None
    text: Any = None
    missing: Any = "mean"
    na: Any = None
    hash_bits: int | None = None
    ngrams: int = 1
    text_bits: int = 18
    weighting: str = "tfidf"
    scale: str = "auto"

    _values: ClassVar[bool]  # whether it predicts values, not classes
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: COMMON[name] for name in ("rule", "readout", "tol", "fit_intercept", "shuffle", "random_state")},
        **{name: COMMON[name] for name in ("early_stopping", "validation_fraction", "n_iter_no_change", "verbose")},
        "max_iter": [*COMMON["max_iter"], None],
        **COLUMNS,
    }

    model_: Any = field(init=False)  # set by fitting, like everything below
    _columns: list[str] = field(init=False)
    _description: Description = field(init=False)

    encoding_ = of_model("encoding_", "How the columns become features.")
    coef_ = of_model("coef_", "Weights of the features that the columns became.")
    intercept_ = of_model("intercept_", "Bias.")
    converged_ = of_model("converged_", "Whether `fit` ended with a pass without a mistake.")
    n_iter_ = of_model("n_iter_", "Number of passes of the last `fit`.")
    mistakes_ = of_model("mistakes_", "Number of mistakes in each pass.")
    validation_errors_ = of_model("validation_errors_", "Error on held-out rows after each pass.")
    margin_bound_ = of_model("margin_bound_", "Proved upper bound on the margin of the rows seen.")
    n_seen_ = of_model("n_seen_", "Number of rows processed, over all passes and calls.")
    n_mistakes_ = of_model("n_mistakes_", "Number of mistakes, over all passes and calls.")
    n_updates_ = of_model("n_updates_", "Number of steps, over all passes and calls.")

    def __getstate__(self) -> dict[str, Any]:
        """Plain data for pickles, and for skops: no types of this package, except estimators."""
        plain: dict[str, Any] = flattened(super().__getstate__())
        return plain

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(restored(state))

    @abstractmethod
    def _usual(self, encoding: Any) -> dict[str, Any]:
        """The defaults for these columns, as `perceptrons train` has them."""

    @abstractmethod
    def _made(self, usual: dict[str, Any], common: dict[str, Any]) -> Any:
        """A linear model with these defaults and parameters."""

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters of this estimator.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of the rule, as ``rule__C``.

        Returns
        -------
        dict
            Parameters by name.
        """
        params: dict[str, Any] = super().get_params(deep=False)
        return with_rule(self.rule, params) if deep else params

    def set_params(self, **params: Any) -> Self:
        """Set parameters of this estimator. ``rule__C=0.1`` replaces the rule by a new one.

        Parameters
        ----------
        **params : dict
            Parameters by name.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the estimator or its rule has no parameter of this name.
        """
        super().set_params(**{name: value for name, value in params.items() if not name.startswith("rule__")})
        if any(name.startswith("rule__") for name in params):
            self.rule = rule_with(self.rule, params)
        return self

    # -- learning ---------------------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn from all rows, as ``perceptrons train`` learns from a file.

        Parameters
        ----------
        X : DataFrame, pyarrow.Table, array-like or Source
            A table of pandas, Polars or Arrow, with columns of numbers, categories, text, dates and missing cells. The
            columns of arrays are called x0, x1, …. A source of a table (`perceptrons.data.source`) has its own
            settings about columns.
        y : array-like of shape (n_samples,), or str
            What to predict, or the name of its column in X. A source has its own.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, a column cannot be a feature, or y has missing values.
        """
        fresh = self._copied()
        read = fresh._opened(X, y)
        fresh._description = read.describe()
        fresh.model_ = fresh._model(read.encoding)
        try:
            fresh.model_.fit(read)
        finally:
            self._adopt(fresh)
        return self

    def _learn_once(self, X: Any, y: Any, **given: Any) -> Self:
        """Learn from these rows once, in their order."""
        if hasattr(self, "model_"):
            self.model_.partial_fit(self._opened(X, y, like=self.encoding_), **given)
            return self
        self._validate_params()
        fresh = self._copied()
        read = fresh._opened(X, y)
        fresh._description = read.describe()
        fresh.model_ = fresh._model(read.encoding)
        try:
            fresh.model_.partial_fit(read, **given)
        finally:
            self._adopt(fresh)
        return self

    def _adopt(self, fresh: Self) -> None:
        """Become a copy that has learned something, even if Ctrl-C stopped it."""
        if hasattr(fresh.model_, "encoding_"):
            self.__dict__.update(vars(fresh))

    def _copied(self) -> Self:
        """A copy to work on, so that an error leaves this model unchanged."""
        fresh = type(self).__new__(type(self))
        fresh.__dict__.update(self.__dict__)
        return fresh

    def _opened(self, X: Any, y: Any, like: Any = None) -> Any:
        """The source of these rows; with `like`, of rows that have the features of the model."""
        if isinstance(X, Source):
            if y is not None:
                raise ValueError("a source has its own labels: do not pass y")
            if not isinstance(X, TableSource):
                raise ValueError(f"{X.name} is not a table: use Perceptron for numbered features")
            if like is None:
                if self._values:
                    X.for_values()
                frames.note_names(self, [each.column for each in X.look() if each.kind not in ("label", "value")])
            return X
        target = None if like is None else like.target
        table, found = frames.features_of(self, X, y if isinstance(y, str) else target, reset=like is None)
        table, target = frames.with_target(self, table, found, y, target, classes=not self._values)
        if like is not None:
            return source(table, target=target, like=like)
        given = {name: getattr(self, name) for name in COLUMNS if getattr(self, name) is not None}
        return source(table, target=target, regression=self._values, **given)

    def _model(self, encoding: Any) -> Any:
        """The untrained linear model for a table with these columns; None: for those that are not known."""
        usual = self._usual(encoding)
        rule = usual.get("rule", "perceptron") if self.rule is None else self.rule
        if self.rule is None:
            kind = rules.RULES[rule]
            rule = kind(**{name: usual[name] for name in kind._fields if name in usual})
        common = ("tol", "fit_intercept", "shuffle", "random_state", "early_stopping", "validation_fraction")
        params = {name: getattr(self, name) for name in (*common, "n_iter_no_change", "verbose")}
        params["max_iter"] = usual.get("passes", PASSES) if self.max_iter is None else self.max_iter
        made = self._made(usual, {"rule": rules.resolve(rule), **params})
        made._warns = False  # few passes are the method
        return made

    # -- prediction -------------------------------------------------------------------------------------------

    def _read(self, X: Any) -> Any:
        """The source of rows to predict."""
        check_is_fitted(self)
        if isinstance(X, Source):
            return X
        encoding = self.encoding_
        table, _ = frames.features_of(self, X, encoding.target, reset=False)
        return source(table, like=encoding, cache=False)

    def predict(self, X: Any) -> Array:
        """Predict the class, or the value, of each row.

        Parameters
        ----------
        X : DataFrame, pyarrow.Table, array-like or Source
            Rows with the columns of training; a column of labels is left out. Categories that training has not seen
            count for nothing.

        Returns
        -------
        ndarray of shape (n_samples,)

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted.
        ValueError
            If the columns are not those of training, or a cell does not fit to its column.
        """
        read = self._read(X)
        found: Array = self.model_.predict(read)
        return found

    # -- what it tells ----------------------------------------------------------------------------------------

    def describe(self) -> Description:
        """Tell how the columns are treated, and why: the table that ``perceptrons train --dry-run`` prints.

        Returns
        -------
        Description
            Print it, or show it in a notebook. A fitted model shows it there, too.
        """
        check_is_fitted(self)
        return self._description

    def explain(self, X: Any, row: int = 0, label: Any = None) -> Explanation:
        """List what each column, or word of a column of text, contributes to the score of a row.

        Parameters
        ----------
        X : DataFrame, pyarrow.Table, array-like or Source
            Rows with the columns of training.
        row : int, default=0
            Position of the row in X.
        label : label, optional
            The class whose score is explained. By default, for two classes ``classes_[1]``; for more, the predicted
            class against the runner-up. Not in regression.

        Returns
        -------
        Explanation
            The contributions, the largest first. With the intercept, they add up to the score, or the predicted value.

        Raises
        ------
        sklearn.exceptions.NotFittedError, ValueError
            As for `predict`. Also ValueError if X has no such row.
        """
        read = self._read(X)
        first = 0
        for batch in read.batches():
            if first <= row < first + len(batch.rows):
                return explain_row(self.model_, batch.rows.part(row - first, row - first + 1), read.encoding, label)
            first += len(batch.rows)
        raise ValueError(f"X has {first} rows, counted from 0: there is no row {row}")

    def feature_weights(self, top: int | None = None) -> FeatureWeights:
        """List the weights of the features that the columns became, such as ``job=nurse``, the largest first.

        Parameters
        ----------
        top : int, optional
            Number of features for each class. By default, all whose weight is not 0.

        Returns
        -------
        FeatureWeights
        """
        check_is_fitted(self)
        found: FeatureWeights = self.model_.feature_weights(top=top)
        return found

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        """What notebooks show: the parameters, and of a fitted model how columns are treated."""
        found: dict[str, str] = super()._repr_mimebundle_(**kwargs)
        if hasattr(self, "_description"):
            found["text/plain"] += f"\n{self._description}"
            if "text/html" in found:
                found["text/html"] += self._description._repr_html_()
        return found

    def _repr_html_inner(self) -> str:
        return self._repr_mimebundle_()["text/html"]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        return tags
