"""The perceptron that labels sequences: taggers of parts of speech, chunks and names."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, _fit_context
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions

from perceptrons import rules
from perceptrons.core.sequence.steps import SIZE, TOKENS, WRONG_TOKENS
from perceptrons.data.token.template_sets import resolve
from perceptrons.data.token.templates import Template
from perceptrons.data.token.tokens import Tokens
from perceptrons.data.token.vocabulary import NameVocabulary, TemplateVocabulary
from perceptrons.learn.fit import Run
from perceptrons.learn.report import Progress, stopped
from perceptrons.learn.sequence.labels import Labels, labels_in, labels_of
from perceptrons.learn.sequence.tagger import UPDATES as WHERE
from perceptrons.learn.sequence.tagger import Plan, Tagger
from perceptrons.models.rule_parameters import COMMON, RuleParameters
from perceptrons.models.tagged import Bounds, Tagged

USUAL = ("word", "pos", "chunk", "ner")  # columns in the order in which files of CoNLL have them
SHARED = ("rule", "eta0", "max_iter", "tol", "shuffle", "random_state", "early_stopping", "validation_fraction")


class SequenceTagger(Tagged, RuleParameters, BaseEstimator):
    """Labels the tokens of sequences: the structured perceptron over chains (Collins 2002).

    Problem: find weights w under which the right labels y of each sequence x score higher than all others, where a
    labelling scores ``w·φ(x, y)``: the weights of each token's features with its label, and of each label with the
    one before (`order`), the start and the end included. Update, when the best labels ŷ are not the right ones: ``w
    += φ(x, y) − φ(x, ŷ)``; other rules step further or earlier.

    Guarantee, for the rule "perceptron": if some unit u has ``u·(φ(x, y) − φ(x, y′)) ≥ γ`` for all wrong y′, and no
    such difference is longer than R, there are at most ``(R/γ)²`` updates, in any order. How many labellings there are
    does not enter. With a beam, beginnings of sequences count as sequences do: steps are made only where the model
    prefers a wrong beginning to the right one, because without such a violation the proof fails (Huang, Fayong & Guo
    2012).

    It has the interface of `sklearn_crfsuite.CRF`, and learns from streams as well: `partial_fit`.

    Parameters
    ----------
    features : None, {"chunking", "pos", "ner", "crf++"} or list of templates, default=None
        None: tokens come with their features, as dicts such as ``{"word": "the", "is_upper": False, "bias": 1.0}`` or
        lists of strings. Else tokens are strings, or tuples of `columns`, and features are made by templates such as
        ``"word[-1] & word[0]"`` or ``perceptrons.data.column("word")[0].suffix(3)``, or by a ready set of them.
    columns : list of str, optional
        What the members of a token are, for instance ``["word", "pos"]``. By default the columns that the templates
        name, those of word, pos, chunk, ner in this order; other names must be given if there are several.
    rule : str or rule object, default="perceptron"
        How far a step goes. "perceptron"; "margin" looks for the labels with the highest score plus `beta` for each
        wrong one, so that right labels must win by their distance; "pa", "pa1", "pa2" are MIRA: the smallest step
        that makes the right labels win by as many as are wrong.
    readout : {"averaged", "last"}, default="averaged"
        Which hypothesis predicts: the mean over all sequences processed, or the final one.
    order : {0, 1, 2}, default=1
        How many labels before a label it is scored with.
    scheme : {"auto", None, "BIO", "BILOU", "BIOES"}, default="auto"
        Labels that may follow each other. "auto" recognises a scheme that all training labels obey. What a scheme
        forbids is never predicted, unless all labellings of a sequence are forbidden.
    beam : int or None, default=None
        None: exact search (Viterbi). Else so many beginnings are kept at each token.
    update : {"max_violation", "early"}, default="max_violation"
        With a beam: whether a step is made where the right beginning is furthest behind, or where it falls off the
        beam.
    k_best : int, default=1
        With a "pa" rule: a step meets the constraints of the `k_best` best labellings together (k-best MIRA, McDonald
        et al. 2005), each by at most C in "pa1". Labellings with the same features as the right one make no
        constraint.
    eta0 : float, default=1.0
        Scales every step.
    max_iter : int, default=10
        The largest number of passes. A pass without a mistake ends training before. Ten are usual for the averaged
        readout, and no warning follows when they have been made.
    tol : float or None, default=None
        Stop when the margin is proved to be smaller than `tol` relative to the longest step. None: never.
    shuffle : bool, default=True
        Whether each pass has a new random order.
    random_state : int, RandomState or None, default=None
    early_stopping : bool, default=False
        Stop when the error on held-out sequences has not fallen for `n_iter_no_change` passes, and keep the best
        hypothesis.
    validation_fraction : float, default=0.1
        Share of sequences held out for it, unless `fit` is given X_val and y_val.
    n_iter_no_change : int, default=5
    verbose : int, default=0

    Attributes
    ----------
    classes_ : list of labels, sorted
    scheme_ : the scheme in force, or None
    n_features_ : int
        Distinct features seen.
    n_iter_ : int
        Passes made.
    converged_ : bool
        Whether the last pass made no mistake.
    mistakes_, token_mistakes_ : arrays
        Sequences and tokens labelled wrong in each pass, at the time.
    validation_errors_ : array
        Share of held-out tokens labelled wrong after each pass.
    n_seen_, n_mistakes_, n_updates_ : int
        Sequences processed, those labelled wrong at the time, and steps, over all passes and calls.
    margin_bound_ : float
        Proved: no weights of length 1 prefer the right labels by more, for all sequences seen; with a beam, for all
        their beginnings too.

    Examples
    --------
    >>> from perceptrons import SequenceTagger
    >>> X = [["the", "cat", "sleeps"], ["a", "dog", "barks"], ["the", "dog", "sleeps"]]
    >>> y = [["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"], ["DET", "NOUN", "VERB"]]
    >>> tagger = SequenceTagger(features="pos", random_state=0).fit(X, y)
    >>> tagger.predict([["a", "cat", "barks"]])
    [['DET', 'NOUN', 'VERB']]
    >>> tagger.converged_, tagger.classes_
    (True, ['DET', 'NOUN', 'VERB'])
    """

    _unit = "tokens"  # what pictures of mistakes count
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: COMMON[name] for name in SHARED},
        "features": [None, str, "array-like"],
        "columns": [None, "array-like"],
        "readout": [str],  # the plan says what is wrong with it
        "order": [Interval(Integral, 0, 2, closed="both")],
        "scheme": [StrOptions({"auto", "BIO", "BILOU", "BIOES"}), None],
        "beam": [Interval(Integral, 1, None, closed="left"), None],
        "update": [StrOptions(set(WHERE))],
        "k_best": [Interval(Integral, 1, None, closed="left")],
        "n_iter_no_change": COMMON["n_iter_no_change"],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        features: Any = None,
        *,
        columns: Any = None,
        rule: Any = "perceptron",
        readout: str = "averaged",
        order: int = 1,
        scheme: str | None = "auto",
        beam: int | None = None,
        update: str = "max_violation",
        k_best: int = 1,
        eta0: float = 1.0,
        max_iter: int = 10,
        tol: float | None = None,
        shuffle: bool = True,
        random_state: Any = None,
        early_stopping: bool = False,
        validation_fraction: float = 0.1,
        n_iter_no_change: int = 5,
        verbose: int = 0,
    ) -> None:
        self.features = features
        self.columns = columns
        self.rule = rule
        self.readout = readout
        self.order = order
        self.scheme = scheme
        self.beam = beam
        self.update = update
        self.k_best = k_best
        self.eta0 = eta0
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.random_state = random_state
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.verbose = verbose

    # -- what the parameters mean -------------------------------------------------------------------------------------

    def _plan(self) -> Plan:
        rule = rules.resolve(self.rule)
        return Plan(
            rule, self.readout, int(self.order), self.scheme, self.beam, self.update, int(self.k_best), float(self.eta0)
        ).check()

    def _new(self) -> Tagger:
        """A tagger that has seen nothing."""
        return Tagger(NameVocabulary() if self.features is None else TemplateVocabulary(self.features), self._plan())

    def _given(self, tagger: Tagger, X: Any) -> Any:
        """X as the vocabulary takes it."""
        if isinstance(tagger.vocabulary, NameVocabulary):
            if isinstance(X, Tokens):
                raise TypeError(
                    "X has tokens in columns, and there are no templates to make features of them: "
                    'give features, for instance SequenceTagger(features="chunking")'
                )
            return X
        return X if isinstance(X, Tokens) else Tokens.of(X, self._columns(tagger.vocabulary.columns))

    def _columns(self, needed: list[str]) -> list[str]:
        """What the members of a token are."""
        if self.columns is not None:
            return list(self.columns)
        if len(needed) > 1 and not set(needed) <= set(USUAL):
            raise ValueError(
                f"the templates name {', '.join(needed)}: say in which order tokens have them, "
                f"for instance columns={needed!r}"
            )
        return needed if len(needed) == 1 else [name for name in USUAL if name in needed]

    def _labels(self, X: Any, y: Any, name: str = "y") -> Callable[[Bounds], Labels]:
        """What makes labels of y, once the lengths of sequences are known; the name of a column of X is enough."""
        if isinstance(X, Tokens) and isinstance(y, str):
            if self.features is not None and y in TemplateVocabulary(self.features).columns:
                raise ValueError(
                    f"features are made of the column {y!r}, which has the labels: leave it out of templates"
                )
            labels = labels_in(X, y)
            return lambda bounds: labels
        return lambda bounds: labels_of(y, bounds, name)

    # -- learning -----------------------------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any, X_val: Any = None, y_val: Any = None) -> Self:
        """Learn from sequences, pass after pass.

        Parameters
        ----------
        X : list of sequences, or Tokens
            A sequence is a list of tokens, see `features`. `perceptrons.data.read_conll` reads `Tokens` from files.
        y : list of label sequences; or the name of the column of `Tokens` that has them
        X_val, y_val : held-out sequences and their labels, optional
            The error on them after each pass is in `validation_errors_`, and what `early_stopping` looks at.

        Returns
        -------
        self
        """
        if (X_val is None) != (y_val is None):
            raise ValueError("X_val and y_val go together: give both or neither")
        tagger = self._new()
        corpus = tagger.prepare(self._given(tagger, X), self._labels(X, y))
        random = check_random_state(self.random_state)
        held_out = None
        if X_val is not None:
            held_out = tagger.held_out(self._given(tagger, X_val), self._labels(X_val, y_val, "y_val"))
        elif self.early_stopping:
            corpus, held_out = corpus.split(self.validation_fraction, random)
        run = Run()
        try:
            tagger.train(
                corpus,
                run,
                seed=random.randint(2**31) if self.shuffle else None,
                max_iter=self.max_iter,
                tol=self.tol,
                held_out=held_out,
                patience=self.n_iter_no_change if self.early_stopping else None,
                report=Progress(type(self).__name__, corpus, self.verbose > 1) if self.verbose else None,
            )
        except KeyboardInterrupt:
            if run.n_iter:
                self._commit(tagger, run, corpus.wrong_tokens, corpus.examples.n_tokens)
            raise
        self._commit(tagger, run, corpus.wrong_tokens, corpus.examples.n_tokens)
        if run.stop in ("margin", "stuck"):
            text = stopped(type(self).__name__, "sequences", tagger.learner, run, self.tol)
            warnings.warn(text, ConvergenceWarning, stacklevel=3)
        return self

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn from these sequences, once, in their order. Cutting a stream into other chunks changes nothing.

        Features and labels that are new are learned; a label can be predicted from its first sequence on, or from
        when it is announced in `classes`.
        """
        tagger = self._tagger if hasattr(self, "_tagger") else self._new()
        plan = self._plan()
        same = [name for name in ("order", "readout", "scheme") if getattr(plan, name) == getattr(tagger.plan, name)]
        if self._templates() == getattr(tagger.vocabulary, "templates", None):
            same.append("features")
        for name in ("order", "readout", "scheme", "features"):
            if name not in same:
                raise ValueError(f"{name} was changed after learning had begun: call fit, or change it back")
        before, scheme = np.zeros(SIZE), None
        if tagger.learner is not None:
            before, scheme = tagger.learner.counts.copy(), tagger.learner.scheme
        announced = [] if classes is None else list(classes)
        mistakes = tagger.learn_once(self._given(tagger, X), self._labels(X, y), announced, plan)
        wrong, tokens = (tagger.learner.counts - before)[[WRONG_TOKENS, TOKENS]].astype(int).tolist()
        self._commit(tagger, Run(mistakes=[mistakes], stop="stream"), [wrong], tokens)
        if scheme is not None and tagger.learner.scheme is None:
            warnings.warn(
                f"labels have come that do not obey {scheme}: from here on everything may be predicted. "
                f"Give scheme={scheme!r} to have such labels refused.",
                UserWarning,
                stacklevel=3,
            )
        return self

    def _templates(self) -> list[Template] | None:
        return None if self.features is None else resolve(self.features)

    def _commit(self, tagger: Tagger, run: Run, wrong_tokens: list[int], n_tokens: int) -> None:
        """Become the fitted model; `n_tokens` is the number of tokens in each pass."""
        self._tagger, self._n_rows = tagger, n_tokens
        self.n_iter_, self.converged_ = run.n_iter, run.converged
        self.mistakes_ = np.array(run.mistakes, dtype=np.int64)
        self.token_mistakes_ = np.array(wrong_tokens[: run.n_iter], dtype=np.int64)
        self.validation_errors_ = np.array(run.validation_errors)
