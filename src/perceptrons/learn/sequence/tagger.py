"""A tagger: features, labels and a learner of sequences, trained in passes or from a stream. No scikit-learn here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perceptrons import rules
from perceptrons.core.linear.readouts import MISTAKES, SEEN, SQ_NORM
from perceptrons.core.sequence.steps import WRONG_TOKENS
from perceptrons.data.files import DataError
from perceptrons.data.token.sequences import Sequences, spans
from perceptrons.learn.fit import Run, orders_of, train
from perceptrons.learn.sequence.labels import Labels, in_order
from perceptrons.learn.sequence.learner import Codes, SequenceLearner
from perceptrons.learn.sequence.schemes import SCHEMES, obeys, parts, recognised

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
        if self.readout not in READOUTS:
            raise ValueError(
                f"readout must be {' or '.join(map(repr, READOUTS))}, got {self.readout!r}: a vote, or a pocket, would "
                "take a search through every sequence for each of many hypotheses"
            )
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


class Corpus:
    """Sequences with their labels, as the material of a training run."""

    unit, held_out_unit = "sequences", "tokens"

    def __init__(self, examples: Sequences, codes: Codes) -> None:
        self.examples, self.codes = examples, codes
        self.order = np.arange(examples.n_sequences, dtype=np.uint32)
        self.n_rows = examples.n_sequences
        self.wrong_tokens: list[int] = []  # of each pass
        self.interrupted = False  # heard at the end of a pass

    def begin(self, learner: Any) -> None:
        """Before the first pass."""

    def at_once(self, learner: Any) -> int:
        return 1

    def learn(
        self, learner: Any, number: int, lines: int, seed: int | None, tol: float | None, *, last: bool
    ) -> list[int]:
        if self.interrupted:
            raise KeyboardInterrupt
        before = learner.counts.copy()
        try:
            learner.learn(self.examples, self.codes, orders_of(self.order, 1, seed, number)[0])
        except KeyboardInterrupt:
            if learner.counts[SEEN] - before[SEEN] < self.n_rows:
                raise
            self.interrupted = True  # the pass is done, and counts
        done = learner.counts - before
        self.wrong_tokens.append(int(done[WRONG_TOKENS]))
        return [int(done[MISTAKES])]

    def confirms(self, learner: Any) -> bool:
        return bool(learner.confirms(self.examples, self.codes))

    def split(self, share: float, random: np.random.RandomState) -> tuple[Corpus, Corpus]:
        """Two parts of the sequences: without and with this share of them, chosen at random."""
        held = max(1, round(share * self.n_rows))
        if held >= self.n_rows:
            raise ValueError(f"{self.n_rows} sequences are too few to hold out a share of {share:g}")
        chosen = random.permutation(self.n_rows)
        first, second = (self.take(np.sort(part)) for part in (chosen[held:], chosen[:held]))
        for part in (first, second):
            part.check("both parts of the sequences, learned from and held out,")
        return first, second

    def check(self, name: str) -> None:
        """Refuse a corpus without tokens."""
        if self.examples.n_tokens == 0:
            raise DataError(f"{name} must have tokens, got none")

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

    def new_learner(self, labels: list[Any]) -> SequenceLearner:
        """A learner that has seen nothing."""
        plan = self.plan
        learner = SequenceLearner(labels, self.vocabulary.n_features, plan.order, plan.readout == "averaged")
        self.adopt(learner)
        return learner

    def adopt(self, learner: SequenceLearner) -> None:
        """Have a learner go on by the plan."""
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
        corpus = Corpus(examples, labels.codes)
        corpus.check("X")
        self._check_scheme(labels, examples.bounds)
        self.learner = self.new_learner(labels.names)
        scheme = self.plan.scheme
        if scheme == "auto":
            scheme = recognised(labels.codes, examples.bounds, labels.names)
        self.candidates = (scheme,) if scheme is not None else ()
        self.learner.constrain(scheme)
        return corpus

    def held_out(self, X: Any, y: Callable[[npt.NDArray[np.uint64]], Labels]) -> Corpus:
        """Sequences to take errors on; labels that the learner does not know are never predicted."""
        examples = self.vocabulary.sequences(X, grow=False)
        corpus = Corpus(examples, y(examples.bounds).among(self.labels))
        corpus.check("held-out sequences")
        return corpus

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
        if corpus.interrupted:
            raise KeyboardInterrupt

    def learn_once(
        self, X: Any, y: Callable[[npt.NDArray[np.uint64]], Labels], announced: Sequence[Any], plan: Plan
    ) -> int:
        """Learn from sequences, once, in their order; returns how many were labelled wrong.

        Features, and labels, exist from the first sequence on that has them; and a scheme of labels is in force as
        long as all sequences so far obey it. So cutting a stream into other chunks changes nothing.
        """
        mark, candidates, learner, old = self.vocabulary.mark(), self.candidates, self.learner, self.plan
        before = None
        try:
            examples = self.vocabulary.sequences(X, grow=True)
            labels = y(examples.bounds)
            self._check_scheme(labels, examples.bounds)
            known = in_order([*announced, *labels.names], examples.bounds, [], "y", self.labels)
            self.plan = plan
            if learner is None:
                self.learner = self.new_learner(sorted(set(announced)))
            elif self._may_overflow(examples.values):
                before = learner.snapshot()
            self.learner.grow(self.vocabulary.n_features)
            self.adopt(self.learner)
        except BaseException:
            self._back(mark, candidates, learner, old, before)
            raise
        try:
            return self._learn_segments(examples, labels, known, announced)
        except ValueError:
            self._back(mark, candidates, learner, old, before)
            raise

    def _back(self, mark: Any, candidates: tuple[str, ...], learner: Any, plan: Plan, before: Any) -> None:
        """Be as before."""
        if before is not None:
            learner.restore(before)
        self.vocabulary.back_to(mark)
        self.learner, self.candidates, self.plan = learner, candidates, plan
        if learner is not None:
            self.adopt(learner)

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
            tokens_of = slice(int(bounds[begin]), int(bounds[end]))
            codes = np.zeros(examples.n_tokens, dtype=np.uint32)
            codes[tokens_of] = Labels(labels.codes[tokens_of], labels.names).among(current)
            part = examples._replace(bounds=bounds[begin : end + 1])
            wrong += self.learner.learn(part, codes, np.arange(end - begin, dtype=np.uint32))
        return wrong

    def _may_overflow(self, values: npt.NDArray[np.float64] | None) -> bool:
        """Whether sums could leave the range of floats: most often they cannot, and no copy of weights is needed."""
        low, high = MODERATE
        sizes = np.abs(values[values != 0.0]) if values is not None else np.empty(0)
        small = self.learner.counts[SQ_NORM] < high
        moderate = low < sizes.min(initial=1.0) and sizes.max(initial=1.0) < high
        # Steps of PA that go further than the rule says go too far, and then further.
        short = low < self.plan.eta <= (1.0 if rules.demands(self.plan.rule) == 1.0 else high)
        return not (small and moderate and short) or type(self.plan.rule).__module__ != rules.__name__

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
