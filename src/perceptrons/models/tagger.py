"""The perceptron that labels sequences: parts of speech, chunks, names."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import _fit_context
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from perceptrons import rules
from perceptrons.data.token.template_sets import columns_of, resolve, suited
from perceptrons.data.token.templates import Template
from perceptrons.data.token.tokens import Tokens
from perceptrons.data.token.vocabulary import NameVocabulary, TemplateVocabulary
from perceptrons.learn.fit import InMemory, Material, Run
from perceptrons.learn.holdout import split
from perceptrons.learn.sequence.labels import Labels, labels_in, labels_of
from perceptrons.learn.sequence.schemes import SCHEMES, Break
from perceptrons.learn.sequence.tagger import BEAM_UPDATES, RULE, Plan, Tagger, usual_k_best
from perceptrons.metrics.entities import EntityReport, entity_report
from perceptrons.models.base import Online
from perceptrons.models.guard import reading
from perceptrons.models.learned import tagged
from perceptrons.models.learned.tagged import Labellings, cut
from perceptrons.models.parameters import COMMON, documented

Bounds = npt.NDArray[np.uint64]
USUAL = ("word", "pos", "chunk", "ner")  # columns in the order of CoNLL files
SHARED = ("rule", "eta0", "max_iter", "tol", "shuffle", "random_state", "early_stopping", "validation_fraction")


@documented
@dataclass(kw_only=True, eq=False, repr=False)
class SequenceTagger(Online):
    """Sequence labeller: the structured perceptron over chains (Collins 2002).

    Problem: find weights w such that the right labels y of each sequence x score higher than all others. The score
    ``w·φ(x, y)`` adds up the weights of each token's features with its label, and of each label with the one before
    (`order`), including the start and the end. Update, when the best labels ŷ are not the right ones:
    ``w += φ(x, y) − φ(x, ŷ)``; other rules step further or earlier.

    Guarantee, for the rule "perceptron": if some unit u has ``u·(φ(x, y) − φ(x, y′)) ≥ γ`` for all wrong y′, and no
    such difference is longer than R, there are at most ``(R/γ)²`` updates, in any order. The number of possible
    labellings does not matter. With a beam, the same holds for beginnings of sequences: a step is made only where a
    wrong beginning scores at least as high as the right one, because without such a violation the proof fails (Huang,
    Fayong & Guo 2012).

    The interface is that of `sklearn_crfsuite.CRF`, with `partial_fit` for streams.

    Parameters
    ----------
    features : None, {"chunking", "pos", "ner", "ner-words", "crf++"} or list of templates, default=None
        Templates that make features, such as ``"word[-1] & word[0]"`` or
        ``perceptrons.data.column("word")[0].suffix(3)``, or the name of a ready set; tokens are then strings, or tuples
        of `columns`. The set "ner" is "ner-words" if tokens have no column pos. With None, tokens are their own
        features: dicts such as ``{"word": "the", "is_upper": False, "bias": 1.0}``, or lists of strings.
    columns : list of str, optional
        Names of the members of a token, for instance ``["word", "pos"]``. By default, the columns that the templates
        use, in the order word, pos, chunk, ner; required if the templates use several columns with other names.
    rule : {"perceptron", "margin", "pa", "pa1", "pa2"} or rule object, default=PA1(C=0.01)
        When to step and how far. "perceptron" steps when labels are wrong. "margin" searches for the highest score plus
        `beta` for each wrong label, so steps go on until the right labels win by `beta` for each label that differs, or
        until `fit` ends with a pass without mistakes. "pa", "pa1" and "pa2" are MIRA: the smallest step after which the
        right labels beat those predicted by the number of wrong ones. The default makes about 4 % fewer errors than
        "perceptron", whose passes are 4 times faster.
    readout : {"averaged", "last"}, default="averaged"
        Which weights make predictions: their mean over all sequences processed, or the final ones. The mean predicts
        better after a few passes, before training converges.
    order : {0, 1, 2}, default=1
        Number of previous labels that a label depends on.
    scheme : {"auto", None, "BIO", "BILOU", "BIOES", "IOB1"}, default="auto"
        Scheme that says which labels may follow each other. "auto" recognises a scheme that all training labels obey,
        and warns if a few sequences break it.
        Labels that the scheme forbids are never predicted, unless it forbids all labellings of a sequence.
        Labels in IOB1, as in CoNLL-2003, are learned as BIO and predicted as IOB1.
    beam : int or None, default=None
        Number of beginnings that the search keeps at each token. None: exact search (Viterbi).
    update : {"max_violation", "early"}, default="max_violation"
        With a beam: whether to step where the right beginning is furthest behind, or where it falls off the beam.
    k_best : int or None, default=None
        With a "pa" rule: number of best labellings whose constraints one step meets together (k-best MIRA, McDonald
        et al. 2005), each with at most C in "pa1". Labellings with the same features as the right one are no
        constraint. None: 3, or 1 with other rules or a beam.
    {shared: eta0}
    max_iter : int, default=10
        Maximum number of passes over the data. A few passes of averaging are the usual method, so there is no warning
        when training ends here. A pass without a mistake ends it earlier.
    tol : float or None, default=None
        Stop when the margin γ is proved to be smaller than `tol` times R, the length of the longest step. Checked after
        each pass, from pass `n_iter_no_change` on. None turns this off.
    {shared: shuffle}
    random_state : int, RandomState or None, default=0
        Seed for shuffling and for the choice of held-out sequences.
    early_stopping : bool, default=False
        Whether to stop when the error on held-out sequences has not fallen for `n_iter_no_change` passes, and to go
        back to the best hypothesis.
    validation_fraction : float, default=0.1
        Share of sequences that `early_stopping` holds out, unless `fit` is given `X_val` and `y_val`.
    n_iter_no_change : int, default=5
        Number of passes without a smaller held-out error after which `early_stopping` stops. Also the smallest number
        of passes before `tol` ends training: a model may still improve on sequences that cannot be separated.
    {shared: verbose}

    Attributes
    ----------
    classes_ : list
        Sorted labels.
    scheme_ : str or None
        Scheme in use. With "IOB1", the weights below are those of labels in BIO.
    n_features_, num_attributes_ : int
        Number of distinct features seen.
    attributes_ : list of str
        Their names.
    state_features_ : dict
        Non-zero weights by feature and label: ``{("word:the", "DET"): 1.5, …}``.
    transition_features_ : dict
        Non-zero weights by label and next label: ``{("DET", "NOUN"): 2.5, …}``.
    start_features_, end_features_ : dict
        Non-zero weights of the first and of the last label of a sequence, by label.
    {shared: n_iter_ converged_}
    mistakes_, token_mistakes_ : ndarray of shape (`n_iter_`,)
        Number of sequences, and of tokens, labelled wrong in each pass.
    validation_errors_ : ndarray
        Share of held-out tokens labelled wrong after each pass; empty if none were held out.
    n_seen_, n_mistakes_, n_updates_ : int
        Number of sequences processed, sequences labelled wrong and steps, over all passes and calls.
    margin_bound_ : float
        Proved upper bound on γ: no weights of length 1 separate the right labels of all sequences seen from all others
        by more. With a beam, the bound is about beginnings of sequences too.

    References
    ----------
    Collins 2002; McDonald et al. 2005; Crammer et al. 2006; Huang, Fayong & Guo 2012.

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

    features: Any = field(default=None, kw_only=False)
    columns: Any = None
    rule: Any = RULE
    readout: str = "averaged"
    order: int = 1
    scheme: str | None = "auto"
    beam: int | None = None
    update: str = "max_violation"
    k_best: int | None = None
    eta0: float = 1.0
    max_iter: int = 10
    tol: float | None = None
    shuffle: bool = True
    random_state: Any = 0
    early_stopping: bool = False
    validation_fraction: float = 0.1
    n_iter_no_change: int = 5
    verbose: int = 0

    _tagger: Tagger = field(init=False)  # set by fitting
    _unit: ClassVar[str] = "tokens"  # what plots of mistakes count
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{name: COMMON[name] for name in SHARED},
        "features": [None, str, "array-like"],
        "columns": [None, "array-like"],
        "readout": [str],  # checked by the plan
        "order": [Interval(Integral, 0, 2, closed="both")],
        "scheme": [StrOptions({"auto", *SCHEMES}), None],
        "beam": [Interval(Integral, 1, None, closed="left"), None],
        "update": [StrOptions(set(BEAM_UPDATES))],
        "k_best": [Interval(Integral, 1, None, closed="left"), None],
        "n_iter_no_change": COMMON["n_iter_no_change"],
        "verbose": ["verbose"],
    }

    # -- parameters --------------------------------------------------------------------------------------------------

    def _plan(self) -> Plan:
        rule = rules.resolve(self.rule)
        k_best = usual_k_best(rule, self.beam) if self.k_best is None else int(self.k_best)
        return Plan(
            rule, self.readout, int(self.order), self.scheme, self.beam, self.update, k_best, float(self.eta0)
        ).check()

    def _new(self, X: Any, y: Any = None) -> Tagger:
        """An untrained tagger for these tokens."""
        features = self._features(X, y)
        return Tagger(NameVocabulary() if features is None else TemplateVocabulary(features), self._plan())

    def _features(self, X: Any, y: Any) -> Any:
        """The features, and for "ner" those that tokens have columns for."""
        if isinstance(X, Tokens):
            return suited(self.features, [name for name in X.columns if not isinstance(y, str) or name != y])
        if self.columns is not None:
            return suited(self.features, self.columns)
        listed = X if isinstance(X, Sequence) else ()
        words = any(isinstance(sentence[0], str) for sentence in listed if isinstance(sentence, Sequence) and sentence)
        return suited(self.features, ["word"] if words else USUAL)

    def _given(self, tagger: Tagger, X: Any) -> Any:
        """X in the form that the vocabulary needs."""
        if isinstance(tagger.vocabulary, NameVocabulary):
            if isinstance(X, Tokens):
                raise TypeError(
                    "X has tokens in columns, but there are no templates to make features from them: "
                    'set features, for instance SequenceTagger(features="chunking")'
                )
            return X
        return X if isinstance(X, Tokens) else Tokens.of(X, self._columns(tagger.vocabulary.columns))

    def _columns(self, needed: list[str]) -> list[str]:
        """Names of the members of a token."""
        if self.columns is not None:
            return list(self.columns)
        if len(needed) > 1 and not set(needed) <= set(USUAL):
            raise ValueError(
                f"the templates use {', '.join(needed)}: set columns to the order in which tokens have them, "
                f"for instance columns={needed!r}"
            )
        return needed if len(needed) == 1 else [name for name in USUAL if name in needed]

    def _labels(self, X: Any, y: Any, name: str = "y") -> Callable[[Bounds], Labels]:
        """A function from the bounds of sequences to their labels; y may be the name of a column of X."""
        if isinstance(X, Tokens) and isinstance(y, str):
            if self.features is not None and y in columns_of(self._features(X, y)):
                raise ValueError(f"the templates use the column {y!r}, which has the labels: remove it from them")
            labels = labels_in(X, y)
            return lambda bounds: labels
        return lambda bounds: labels_of(y, bounds, name)

    # -- learning -----------------------------------------------------------------------------------------------------

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(
        self, X: Any, y: Any, X_val: Any = None, y_val: Any = None, *, X_dev: Any = None, y_dev: Any = None
    ) -> Self:
        """Learn from sequences, pass after pass.

        Parameters
        ----------
        X : list of sequences, or Tokens
            A sequence is a list of tokens, see `features`. `perceptrons.data.read_conll` reads `Tokens` from files.
        y : list of label sequences, or str
            The labels of each token; or the name of the column of `Tokens` that has them.
        X_val, y_val : optional
            Held-out sequences and their labels. The error on them is measured after each pass (`validation_errors_`);
            `early_stopping` uses them instead of a fraction of X.
        X_dev, y_dev : optional
            Other names for `X_val` and `y_val`, those of `sklearn_crfsuite.CRF.fit`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a parameter is out of range, parameters do not combine, a sequence does not have one label per token, or
            labels break the `scheme` that was given.
        """
        with self._guard.learning:
            tagger = self._fit(X, y, *held_out_of(X_val, y_val, X_dev, y_dev))
        warn_of(tagger.given_up, stacklevel=4)
        return self

    def _fit(self, X: Any, y: Any, X_val: Any, y_val: Any, name: str) -> Tagger:
        """Learn a tagger and become it; `name` is that of `y_val` in errors."""
        tagger = self._new(X, y)
        corpus = tagger.prepare(self._given(tagger, X), self._labels(X, y))
        random = check_random_state(self.random_state)
        held_out = None
        if X_val is not None:
            held_out = tagger.held_out(self._given(tagger, X_val), self._labels(X_val, y_val, name))
        elif self.early_stopping:
            corpus, held_out = split(corpus, self.validation_fraction, int(random.randint(2**31)), "sequences")
        watched = None if held_out is None else tagger.watch(held_out)
        self._learn(tagger, InMemory(corpus), corpus.sequences.n_tokens, random, watched)
        return tagger

    def _learn(
        self, tagger: Tagger, material: Material[Any], n_tokens: int, random: Any, watched: Callable[[], float] | None
    ) -> None:
        """Make passes over `n_tokens` tokens each, and become the tagger; for `_fit`."""
        learner = tagger.fitted
        seed = int(random.randint(2**31)) if self.shuffle else None
        run = self._fit_examples(learner, material, seed, watched)
        if run.learned:
            self._guard.change(lambda: self._become(tagger, run, n_tokens))
        self._conclude(learner, run, stacklevel=5)

    @_fit_context(prefer_skip_nested_validation=True)
    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:
        """Learn from these sequences once, in their order. How a stream is cut into calls does not change the result.

        New features and labels may appear in any call. A label can be predicted from its first sequence on, or from the
        call that has it in `classes`.

        Parameters
        ----------
        X, y
            As for `fit`.
        classes : list of labels, optional
            Labels that exist from now on. Other labels exist from their first sequence on.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            As for `fit`. Also if `order`, `readout`, `scheme` or `features` have changed since the first call, or with
            ``early_stopping=True``.
        """
        warn_of(
            self._guard.change(lambda: self._learn_once(X, y, [] if classes is None else list(classes))), stacklevel=4
        )
        return self

    def _learn_once(self, X: Any, y: Any, announced: list[Any]) -> Break | None:
        """Learn from sequences once; returns where their labels break the label scheme, if it is given up."""
        self._refuse_early_stopping()
        tagger = self._tagger if hasattr(self, "_tagger") else self._new(X, y)
        plan = self._plan()
        same = [name for name in ("order", "readout", "scheme") if getattr(plan, name) == getattr(tagger.plan, name)]
        if getattr(tagger.vocabulary, "templates", None) in self._templates():
            same.append("features")
        for name in ("order", "readout", "scheme", "features"):
            if name not in same:
                raise ValueError(f"{name} was changed after learning had begun: call fit, or change it back")
        before = (0.0, 0.0)
        if tagger.learner is not None:
            totals = tagger.learner.totals
            before = totals.wrong_tokens, totals.tokens
        mistakes = tagger.learn_once(self._given(tagger, X), self._labels(X, y), announced, plan)
        totals = tagger.fitted.totals
        wrong, tokens = int(totals.wrong_tokens - before[0]), int(totals.tokens - before[1])
        self._become(tagger, Run(mistakes=[mistakes], token_mistakes=[wrong], stop="stream"), tokens)
        return tagger.given_up

    def _templates(self) -> list[list[Template] | None]:
        """What the features may stand for."""
        return [None if self.features is None else resolve(suited(self.features, there)) for there in (USUAL, ())]

    def _become(self, tagger: Tagger, run: Run, n_tokens: int) -> None:
        """Become the fitted model; `n_tokens` is the number of tokens in each pass."""
        self._tagger = tagger
        self.token_mistakes_ = np.array(run.token_mistakes[: run.n_iter], dtype=np.int64)
        self._commit(tagger.fitted, run, n_tokens)

    # -- prediction ---------------------------------------------------------------------------------------------------

    def _ready(self) -> Tagger:
        check_is_fitted(self)
        return self._tagger

    @reading
    def predict(self, X: Any) -> list[list[Any]]:
        """Predict the labels of each sequence.

        Parameters
        ----------
        X : list of sequences, or Tokens
            The sequences, as for `fit`.

        Returns
        -------
        list of lists of labels
            One label per token. NumPy makes an array of it with one list per sequence, as `cross_val_predict` needs.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted.
        """
        tagger = self._ready()
        codes, bounds = tagger.predict(self._given(tagger, X))
        return Labellings(cut(tagger.labels, codes, bounds))

    def predict_single(self, xseq: Any) -> list[Any]:
        """Predict the labels of one sequence.

        Parameters
        ----------
        xseq : list of tokens
            The sequence.

        Returns
        -------
        list of labels
            One per token.
        """
        return self.predict([xseq])[0]

    @reading
    def predict_k_best(self, X: Any, k: int = 5) -> list[list[tuple[list[Any], float]]]:
        """Find the `k` best labellings of each sequence. The search is exact even if `beam` is set.

        Parameters
        ----------
        X : list of sequences, or Tokens
            The sequences, as for `fit`.
        k : int, default=5
            Number of labellings per sequence.

        Returns
        -------
        list of lists of pairs (labels, score)
            Best first; fewer than `k` if a sequence has fewer labellings.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted.
        ValueError
            If `k` is not a whole number ≥ 1.
        """
        if not isinstance(k, Integral) or k < 1:
            raise ValueError(f"k must be a whole number >= 1, got {k!r}")
        tagger = self._ready()
        codes, scores, bounds = tagger.k_best(self._given(tagger, X), int(k))
        lists = [cut(tagger.labels, line, bounds) for line in codes]
        return [
            [(lists[j][i], float(score)) for j, score in enumerate(scores[i]) if score > -np.inf]
            for i in range(len(scores))
        ]

    @reading
    def score(self, X: Any, y: Any) -> float:
        """Compute the share of tokens whose label is predicted correctly.

        Parameters
        ----------
        X, y
            As for `fit`. Labels in BIO are read as IOB1 if the model predicts IOB1, and the other way round.

        Returns
        -------
        float
            From 0 to 1.

        Raises
        ------
        sklearn.exceptions.NotFittedError
            If the model is not fitted.
        ValueError
            If there are no tokens, or a sequence does not have one label per token.
        """
        tagger = self._ready()
        codes, bounds = tagger.predict(self._given(tagger, X))
        right = tagger.own(self._labels(X, y)(bounds), bounds).among(tagger.labels)
        if not len(codes):
            raise ValueError("X has no tokens: there is nothing to score")
        return float(np.mean(right == codes))

    @reading
    def report(self, X: Any, y: Any) -> EntityReport:
        """Compute precision, recall and F1 by entity, as conlleval and seqeval count them.

        Parameters
        ----------
        X, y
            As for `score`.

        Returns
        -------
        perceptrons.metrics.entities.EntityReport
            Print it, or read its members.
        """
        tagger = self._ready()
        codes, bounds = tagger.predict(self._given(tagger, X))
        labels = tagger.own(self._labels(X, y)(bounds), bounds)
        return entity_report(labels.codes, labels.names, codes, tagger.labels, bounds)

    # -- reports ------------------------------------------------------------------------------------------------------

    @property
    @reading
    def classes_(self) -> list[Any]:
        """Sorted labels."""
        return list(self._ready().classes)

    @property
    @reading
    def scheme_(self) -> str | None:
        """Scheme in use, or None."""
        return self._ready().scheme

    @property
    @reading
    def n_features_(self) -> int:
        """Number of distinct features seen."""
        return int(self._ready().vocabulary.n_features)

    attributes_, num_attributes_ = property(tagged.attributes_), property(tagged.num_attributes_)
    state_features_, transition_features_ = property(tagged.state_features_), property(tagged.transition_features_)
    start_features_, end_features_ = property(tagged.start_features_), property(tagged.end_features_)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_tagger") and bool(self._tagger.labels)


def held_out_of(X_val: Any, y_val: Any, X_dev: Any, y_dev: Any) -> tuple[Any, Any, str]:
    """Held-out sequences and labels, by either pair of names, and the name of the labels."""
    pairs = {"val": (X_val, y_val), "dev": (X_dev, y_dev)}
    given = [end for end, pair in pairs.items() if any(each is not None for each in pair)]
    if len(given) == 2:
        raise ValueError("X_dev and y_dev are other names for X_val and y_val: pass one pair")
    end = given[0] if given else "val"
    X, y = pairs[end]
    if (X is None) != (y is None):
        raise ValueError(f"X_{end} and y_{end} go together: pass both or neither")
    return X, y, f"y_{end}"


def warn_of(given_up: Break | None, stacklevel: int) -> None:
    """Warn that the labels break a scheme."""
    if given_up is not None:
        scheme = given_up.scheme
        warnings.warn(
            f"{given_up}: from now on any label may follow any other. Correct these labels, or set scheme=None to "
            f"allow them, or scheme={scheme!r} to make them an error.",
            UserWarning,
            stacklevel=stacklevel,
        )
