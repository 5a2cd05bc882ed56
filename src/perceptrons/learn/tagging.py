"""A tagger: features, labels and a learner of sequences, trained in passes or from a stream. No scikit-learn here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perceptrons import rules
from perceptrons.core.steps import WRONG_TOKENS
from perceptrons.data.files import DataError
from perceptrons.data.sequences import Sequences, spans
from perceptrons.data.tokens import Tokens
from perceptrons.learn.schemes import SCHEMES, obeys, parts, recognised
from perceptrons.learn.sequences import Codes, SequenceLearner
from perceptrons.learn.training import Run, orders_of, train

READOUTS = ("averaged", "last")
UPDATES = ("max_violation", "early")
MODERATE = 1e-30, 1e30  # values of features between which no sum can leave the range of floats


class Plan(NamedTuple):
    """How a tagger learns and searches: what its parameters mean together."""

    rule: Any
    readout: str = "averaged"
    order: int = 1
    scheme: str | None = "auto"
    beam: int | None = None
    update: str = "max_violation"
    k_best: int = 1
    eta: float = 1.0

    def check(self) -> Plan:
        """Refuse what does not go together."""
        if self.scheme not in (None, "auto", *SCHEMES):
            raise ValueError(f"scheme must be 'auto', None or one of {', '.join(SCHEMES)}, got {self.scheme!r}")
        if self.k_best > 1 and not isinstance(self.rule, rules.PA | rules.PA1 | rules.PA2):
            raise ValueError(
                f"k_best={self.k_best} asks for the smallest step that meets several constraints: "
                f"it goes with the rules pa, pa1 and pa2, got {self.rule}"
            )
        if self.k_best > 1 and self.beam is not None:
            raise ValueError("k_best and beam do not go together: the k best sequences are searched for exactly")
        return self


class Labels(NamedTuple):
    """A label for each token: `names[codes[i]]` for token i. Names are sorted."""

    codes: Codes
    names: list[Any]

    def among(self, names: Sequence[Any]) -> Codes:
        """Numbers of the labels in another list, which is as large as its length for those that it does not have."""
        number = {name: code for code, name in enumerate(names)}
        return np.array([number.get(name, len(names)) for name in self.names], dtype=np.uint32)[self.codes]


def labels_of(y: Any, bounds: npt.NDArray[np.uint64], name: str = "y") -> Labels:
    """The labels of sequences, whose lengths must be these."""
    if isinstance(y, str | bytes) or not isinstance(y, Iterable):
        raise DataError(f"{name} must be a list of label sequences, got {y!r}"[:200])
    sequences = [list(each) if not isinstance(each, str) else each for each in y]
    lengths = np.diff(bounds).astype(np.int64)
    if len(sequences) != len(lengths):
        raise DataError(f"X has {len(lengths)} sequences, {name} has {len(sequences)}")
    for number, (each, length) in enumerate(zip(sequences, lengths.tolist(), strict=True)):
        if isinstance(each, str):
            raise DataError(f"sequence {number} of {name} must be a list of labels, got the string {each!r}"[:200])
        if len(each) != length:
            raise DataError(f"sequence {number} has {length} tokens in X and {len(each)} labels in {name}")
    flat = list(chain.from_iterable(sequences))
    try:
        names = sorted(set(flat))
    except TypeError as error:
        raise DataError(f"labels of {name} must be of one kind, such as strings: {error}") from error
    if any(each is None or each != each for each in names):
        raise DataError(f"labels of {name} must not be missing, got {names!r}"[:200])
    codes = {each: code for code, each in enumerate(names)}
    return Labels(np.fromiter(map(codes.__getitem__, flat), dtype=np.uint32, count=len(flat)), names)


def labels_in(tokens: Tokens, column: str) -> Labels:
    """The labels that are in a column."""
    codes, types = tokens.labels(column)
    names = sorted(types)
    number = {name: code for code, name in enumerate(names)}
    return Labels(np.array([number[name] for name in types], dtype=np.uint32)[codes], names)


class Corpus:
    """Sequences with their labels, as the material of a training run."""

    def __init__(self, examples: Sequences, codes: Codes) -> None:
        self.examples, self.codes = examples, codes
        self.order = np.arange(examples.n_sequences, dtype=np.uint32)
        self.n_rows = examples.n_sequences
        self.wrong_tokens: list[int] = []  # of each pass

    def begin(self, learner: Any) -> None:
        """Before the first pass."""

    def at_once(self, learner: Any) -> int:
        return 1

    def learn(
        self, learner: Any, number: int, lines: int, seed: int | None, tol: float | None, *, last: bool
    ) -> list[int]:
        before = learner.counts[WRONG_TOKENS]
        mistakes = learner.learn(self.examples, self.codes, orders_of(self.order, 1, seed, number)[0])
        self.wrong_tokens.append(int(learner.counts[WRONG_TOKENS] - before))
        return [mistakes]

    def confirms(self, learner: Any) -> bool:
        return bool(learner.confirms(self.examples, self.codes))

    def split(self, share: float, random: np.random.RandomState) -> tuple[Corpus, Corpus]:
        """Two parts of the sequences: without and with this share of them, chosen at random."""
        held = max(1, round(share * self.n_rows))
        if held >= self.n_rows:
            raise ValueError(f"{self.n_rows} sequences are too few to hold out a share of {share:g}")
        chosen = random.permutation(self.n_rows)
        first, second = (self.take(np.sort(part)) for part in (chosen[held:], chosen[:held]))
        return first, second

    def take(self, order: npt.NDArray[Any]) -> Corpus:
        return Corpus(self.examples.take(order), self.codes[spans(self.examples.bounds, order)[0]])


class Tagger:
    """What maps tokens to labels: a vocabulary of features and, once it has learned, a learner."""

    def __init__(self, vocabulary: Any, plan: Plan) -> None:
        self.vocabulary, self.plan = vocabulary, plan.check()
        self.learner: Any = None
        self.candidates: tuple[str, ...] = SCHEMES  # that all sequences of a stream have obeyed

    @property
    def labels(self) -> list[Any]:
        return self.learner.labels if self.learner is not None else []

    def _new_learner(self, labels: list[Any]) -> SequenceLearner:
        plan = self.plan
        learner = SequenceLearner(labels, self.vocabulary.n_features, plan.order, plan.readout == "averaged")
        self._adopt(learner)
        return learner

    def _adopt(self, learner: SequenceLearner) -> None:
        plan = self.plan
        learner.adopt(rule=plan.rule, eta=plan.eta, beam=plan.beam, early=plan.update == "early", k_best=plan.k_best)

    def _check_scheme(self, labels: Labels, bounds: npt.NDArray[np.uint64]) -> None:
        """Refuse labels that break a scheme which was asked for."""
        scheme = self.plan.scheme
        if scheme in (None, "auto"):
            return
        legal = obeys(labels.codes, bounds, labels.names, str(scheme))
        if not legal.all():
            number = int(np.argmin(legal))
            broken = labels.codes[int(bounds[number]) : int(bounds[number + 1])]
            text = " ".join(str(labels.names[code]) for code in broken)
            raise DataError(
                f"sequence {number} does not obey scheme={scheme!r}: {text}"[:300] + "; correct it, or give scheme=None"
            )

    # -- learning -----------------------------------------------------------------------------------------------------

    def prepare(self, X: Any, y: Callable[[npt.NDArray[np.uint64]], Labels]) -> Corpus:
        """The corpus of X with labels y, for a learner that begins anew."""
        examples = self.vocabulary.sequences(X, grow=True)
        labels = y(examples.bounds)
        if examples.n_tokens == 0:
            raise DataError("X has no tokens: there is nothing to learn from")
        self._check_scheme(labels, examples.bounds)
        self.learner = self._new_learner(labels.names)
        scheme = self.plan.scheme
        if scheme == "auto":
            scheme = recognised(labels.codes, examples.bounds, labels.names)
        self.candidates = (scheme,) if scheme is not None else ()
        self.learner.constrain(scheme)
        return Corpus(examples, labels.codes)

    def held_out(self, X: Any, y: Callable[[npt.NDArray[np.uint64]], Labels]) -> Corpus:
        """Sequences to take errors on; labels that the learner does not know are never predicted."""
        examples = self.vocabulary.sequences(X, grow=False)
        return Corpus(examples, y(examples.bounds).among(self.labels))

    def train(
        self, corpus: Corpus, run: Run, *, seed: int | None, max_iter: int, tol: float | None, held_out: Corpus | None,
        patience: int | None, report: Callable[[Any, Run], None] | None = None,
    ) -> None:  # fmt: skip
        """Pass after pass, keeping `run` up to date."""
        error = None
        if held_out is not None:
            kept = held_out

            def error() -> float:
                return float(np.mean(self.learner.predict(kept.examples) != kept.codes))

        train(
            self.learner,
            corpus,
            run,
            seed=seed,
            max_iter=max_iter,
            tol=tol,
            held_out=error,
            patience=patience,
            report=report,
            one_by_one=True,
        )

    def learn_once(self, X: Any, y: Callable[[npt.NDArray[np.uint64]], Labels], announced: Sequence[Any] = ()) -> int:
        """Learn from sequences, once, in their order; returns how many were labelled wrong.

        Features, and labels, exist from the first sequence on that has them; and a scheme of labels is in force as
        long as all sequences so far obey it. So cutting a stream into other chunks changes nothing.
        """
        mark, grown = self.vocabulary.mark(), False
        try:
            examples = self.vocabulary.sequences(X, grow=True)
            labels = y(examples.bounds)
            self._check_scheme(labels, examples.bounds)
            known = sorted({*self.labels, *announced, *labels.names})
            grown = True
        finally:
            if not grown:
                self.vocabulary.back_to(mark)
        first, candidates = self.learner is None, self.candidates
        if first:
            self.learner = self._new_learner(sorted(set(announced)))
        before = self.learner.snapshot() if self._may_overflow(examples.values) else None
        self._adopt(self.learner)
        self.learner.grow(self.vocabulary.n_features)
        try:
            return self._learn_segments(examples, labels, known, announced)
        except ValueError:
            if before is not None:
                self.learner.restore(before)
            self.vocabulary.back_to(mark)
            self.learner, self.candidates = None if first else self.learner, candidates
            raise

    def _learn_segments(self, examples: Sequences, labels: Labels, known: list[Any], announced: Sequence[Any]) -> int:
        """Learn up to where a label or the scheme changes, make room, go on."""
        count, bounds = examples.n_sequences, examples.bounds
        since = dict.fromkeys([*self.labels, *announced], -1)  # the first sequence that has a label
        tokens = np.full(len(labels.names), examples.n_tokens)
        tokens[labels.codes[::-1]] = np.arange(examples.n_tokens)[::-1]
        for name, token in zip(labels.names, tokens.tolist(), strict=True):
            since.setdefault(name, int(np.searchsorted(bounds, token, side="right")) - 1)
        until = dict.fromkeys(self.candidates, count)  # the first sequence that breaks a scheme
        for scheme in self.candidates:
            legal = obeys(labels.codes, bounds, labels.names, scheme)
            until[scheme] = count if legal.all() else int(np.argmin(legal))
        cuts = sorted({0, *(at for at in [*since.values(), *until.values()] if 0 <= at < count)})
        wrong = 0
        for begin, end in zip(cuts, [*cuts[1:], count], strict=True):
            current = [name for name in known if since[name] <= begin]
            if current != self.labels:
                self.learner.add_labels(current)
            self.candidates = tuple(each for each in self.candidates if until[each] > begin)
            in_force = self._in_force(current)
            if in_force != self.learner.scheme:
                self.learner.constrain(in_force)
            order = np.arange(begin, end, dtype=np.uint32)
            wrong += self.learner.learn(examples, labels.among(current), order)
        return wrong

    def _may_overflow(self, values: npt.NDArray[np.float64] | None) -> bool:
        """Whether sums could leave the range of floats: most often they cannot, and no copy of weights is needed."""
        low, high = MODERATE
        sizes = np.abs(values) if values is not None and len(values) else np.ones(1)
        moderate = low < sizes.min() and sizes.max() < high and low < self.plan.eta < high
        return not moderate or type(self.plan.rule).__module__ != rules.__name__

    def _in_force(self, labels: list[Any]) -> str | None:
        if self.plan.scheme != "auto":
            return self.plan.scheme
        marked = any(parts(label)[0] in ("B", "U", "S") for label in labels)
        return self.candidates[0] if marked and self.candidates else None

    # -- prediction ---------------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> tuple[Codes, npt.NDArray[np.uint64]]:
        """Numbers of labels, and where sequences begin and end."""
        examples = self.vocabulary.sequences(X, grow=False)
        return self.learner.predict(examples), examples.bounds
