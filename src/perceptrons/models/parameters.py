"""Parameters and attributes that estimators share: what is allowed, and what their documentation says, once."""

from __future__ import annotations

import re
from numbers import Integral, Real
from typing import Any, TypeVar

from sklearn.utils._param_validation import Interval, StrOptions

from perceptrons.learn.readouts import READOUTS

T = TypeVar("T", bound=type)

COMMON: dict[str, Any] = {
    "rule": "no_validation",  # rules.resolve says what is wrong with it
    "readout": [StrOptions(set(READOUTS))],
    "fit_intercept": ["boolean"],
    "eta0": [Interval(Real, 0, None, closed="neither")],
    "max_iter": [Interval(Integral, 1, None, closed="left")],
    "tol": [Interval(Real, 0, None, closed="left"), None],
    "shuffle": ["boolean"],
    "random_state": ["random_state"],
    "tie": [StrOptions({"mistake", "positive"})],
    "early_stopping": ["boolean"],
    "validation_fraction": [Interval(Real, 0, 1, closed="neither")],
    "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
    "class_weight": [StrOptions({"balanced"}), dict, None],
    "warm_start": ["boolean"],
    "verbose": ["verbose"],
}

DOCUMENTATION = """
    rule : str or rule object, default="perceptron"
        How far a step goes: "perceptron", "margin", "pa", "pa1", "pa2" or an object such as
        ``perceptrons.rules.PA1(C=0.1)``. Its parameters can be searched as ``rule__C``.
    readout : {"last", "averaged", "voted", "pocket"}, default="last"
        Which hypothesis predicts: the final one; the mean over all examples processed; all of them by vote, each
        weighted by how long it lasted; or the one with the fewest training mistakes. The default is the one that the
        convergence theorem is about; "averaged" usually errs less on new rows that cannot be separated.
    fit_intercept : bool, default=True
        Whether to learn a bias b.
    eta0 : float, default=1.0
        Scale of every step. From zero weights, with the rule "perceptron", it changes no prediction.
    max_iter : int, default=10_000_000
        Maximum number of passes over the data. By default `tol` ends training long before.
    tol : float or None, default=1e-3
        Stop when the margin is proved to be smaller than `tol` times R, the length of the longest row. Checked after
        each pass. None: never.
    shuffle : bool, default=True
        Whether each pass visits the rows in a new random order.
    random_state : int, RandomState or None, default=0
        Seed for all that is random: the order of passes, the choice of held-out rows, a random start.
    tie : {"mistake", "positive"}, default="mistake"
        What a score of 0 means, in training and in prediction: a mistake for either label; or a prediction of
        `classes_[1]` (with several classes, of the first of the best).
    early_stopping : bool, default=False
        Whether to stop when the error on held-out rows has not fallen for `n_iter_no_change` passes, and to go back to
        the best hypothesis.
    validation_fraction : float, default=0.1
        Share of rows that `early_stopping` holds out, unless `fit` is given `X_val` and `y_val`. The same data, share
        and seed hold out the same rows in every estimator, from arrays and from files.
    n_iter_no_change : int, default=5
        Patience of `early_stopping`, in passes.
    class_weight : dict, "balanced" or None, default=None
        Weights of classes, multiplied with `sample_weight`. A weight scales the step, or C for PA-I and PA-II; plain PA
        takes none.
    warm_start : bool, default=False
        Whether `fit` continues from the last fit.
    verbose : int, default=0
        1 reports progress now and then, 2 after each pass.
    classes_ : ndarray of shape (n_classes,)
        Sorted labels; `classes_[1]` is the positive one of two.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Bias. Not with the voted readout.
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of the features. Not with the voted readout.
    converged_ : bool
        Whether `fit` ended with a pass without a mistake. Always False after `partial_fit`: a stream has no end.
    n_iter_ : int
        Number of passes of the last `fit`.
    mistakes_ : ndarray of shape (n_iter_,)
        Mistakes in each pass.
    validation_errors_ : ndarray
        Error on held-out examples after each pass; empty if none were held out.
    n_seen_, n_mistakes_, n_updates_ : int
        Examples processed, mistakes and steps made, over all passes and calls.
    margin_bound_ : float
        Proved upper bound on the margin of the rows seen, in the space with the constant feature.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the features, if X had names that are all strings.
    encoding_ : perceptrons.data.table.encoding.Encoding
        How the columns of a table became features, if the model was fitted on a table. Other tables are read in the
        same way with ``source(..., like=model.encoding_)``.
"""


def _paragraphs(text: str) -> dict[str, str]:
    """Entries of a numpydoc section by their first name."""
    entries = re.split(r"\n(?=    \w)", text.strip("\n"))
    return {re.split(r"[ ,]", entry.strip())[0]: entry for entry in entries}


SHARED = _paragraphs(DOCUMENTATION)


def documented(cls: T) -> T:
    """Replace lines such as ``{shared: rule readout}`` in the docstring of a class by what is said there of each."""
    if cls.__doc__:
        cls.__doc__ = re.sub(
            r"^    \{shared: ([\w ]+)\}$",
            lambda found: "\n".join(SHARED[name] for name in found.group(1).split()),
            cls.__doc__,
            flags=re.MULTILINE,
        )
    return cls
