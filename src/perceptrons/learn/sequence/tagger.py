"""A tagger: features, labels and a sequence learner, trained in passes or from a stream. No scikit-learn here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from perceptrons import rules
from perceptrons.data.files import DataError
from perceptrons.data.token.sequences import Sequences
from perceptrons.learn.readouts import OVER_STRUCTURES
from perceptrons.learn.sequence.iob1 import IOB1, beginnings, closed, decoded, encoded
from perceptrons.learn.sequence.labels import Labels, in_order
from perceptrons.learn.sequence.learner import Codes, Corpus, SequenceLearner
from perceptrons.learn.sequence.schemes import SCHEMES, Break, first_break, nearly, obeys, parts, recognised
from perceptrons.learn.state import Floats

BEAM_UPDATES = ("max_violation", "early")  # where to step, with a beam
MODERATE = 1e-30, 1e30  # with feature values in this range, no sum can overflow


# Chosen by benchmarks/tagger_defaults.py. One step meets the constraints of several best labellings, if the rule can.
RULE, K_BEST = rules.PA1(0.01), 3


def usual_k_best(rule: Any, beam: int | None) -> int:
    """The default number of best labellings whose constraints one step meets."""
    return K_BEST if isinstance(rule, rules.PA | rules.PA1 | rules.PA2) and beam is None else 1


class Plan(NamedTuple):
    """How a tagger learns and searches: its parameters."""

    rule: Any
    readout: str = "averaged"
    order: int = 1
    scheme: str | None = "auto"
    beam: int | None = None
    update: str = "max_violation"
    k_best: int = 1
    eta: float = 1.0

    def check(self) -> Plan:
        """Raise an error for parameters that cannot be combined."""
        rules.refuse_other_kinds(self.rule, "sequences", "steps are differences of counts, Δφ, and this rule's are not")
        rules.refuse_label(self.rule, "sequences")
        if self.readout not in OVER_STRUCTURES:
            raise ValueError(
                f"readout must be {' or '.join(map(repr, OVER_STRUCTURES))}, got {self.readout!r}: other readouts "
                "would have to search every sequence once for each of many hypotheses"
            )
        if self.scheme not in (None, "auto", *SCHEMES):
            raise ValueError(f"scheme must be 'auto', None or one of {', '.join(SCHEMES)}, got {self.scheme!r}")
        if self.k_best > 1 and not isinstance(self.rule, rules.PA | rules.PA1 | rules.PA2):
            raise ValueError(
                f"k_best={self.k_best} needs a rule that can meet several constraints in one step: "
                f"rule must be 'pa', 'pa1' or 'pa2', got {self.rule}"
            )
        if self.k_best > 1 and self.beam is not None:
            raise ValueError("k_best and beam cannot be combined, because k_best needs exact search: use beam=None")
        return self


class Tagger:
    """A map from tokens to labels: a vocabulary of features and, after training, a learner.

    Labels come in and go out in the user's scheme. For IOB1, the learner sees BIO: `_inside` and `_outside` convert.
    """

    def __init__(self, vocabulary: Any, plan: Plan) -> None:
        self.vocabulary, self.plan = vocabulary, plan.check()
        self.learner: SequenceLearner | None = None  # set once labels are known
        self.candidates: tuple[str, ...] = SCHEMES  # schemes that all sequences of a stream have obeyed
        self.given_up: Break | None = None  # where the last labels learned broke a scheme that "auto" gave up for them

    @property
    def labels(self) -> list[Any]:
        """Labels by code, in training and in predictions; for IOB1, some may never be predicted."""
        return self.learner.labels if self.learner is not None else []

    @property
    def classes(self) -> list[Any]:
        """Labels that may be predicted."""
        if self.scheme != IOB1:
            return self.labels
        never = set(beginnings(self.labels)) - set(self.fitted.touching)
        return [label for label in self.labels if label not in never]

    @property
    def scheme(self) -> str | None:
        """The scheme in use."""
        return self.learner.scheme if self.learner is not None else None

    # -- the codec ----------------------------------------------------------------------------------------------------

    def own(self, labels: Labels, bounds: npt.NDArray[np.uint64]) -> Labels:
        """Right labels in the scheme of this tagger, if they are in IOB1 or BIO and the tagger in the other one."""
        if self.scheme == IOB1:
            inside = encoded(labels, bounds)
            return Labels(decoded(inside.codes, bounds, inside.names), inside.names)
        if self.scheme == "BIO" and recognised(labels.codes, bounds, labels.names) == IOB1:
            return encoded(labels, bounds)
        return labels

    def _inside(self, labels: Labels, bounds: npt.NDArray[np.uint64]) -> Labels:
        """Labels in the form that the learner learns."""
        return encoded(labels, bounds) if self.scheme == IOB1 else labels

    def _outside(self, codes: Codes, bounds: npt.NDArray[np.uint64]) -> Codes:
        """Labels that the learner found, in the user's form."""
        return outside(self.fitted, codes, bounds)

    def _constrain(self, learner: SequenceLearner, scheme: str | None, labels: Sequence[Any]) -> None:
        """Make a learner search by a scheme; `labels` are those that training has had so far."""
        learner.constrain(scheme, beginnings(labels) if scheme == IOB1 else ())

    def new_learner(self, labels: list[Any]) -> SequenceLearner:
        """An untrained learner."""
        plan = self.plan
        learner = SequenceLearner(labels, self.vocabulary.n_features, plan.order, plan.readout)
        self.adopt(learner)
        return learner

    def adopt(self, learner: SequenceLearner) -> None:
        """Make a learner continue with the plan."""
        plan = self.plan
        learner.adopt(rule=plan.rule, eta=plan.eta, beam=plan.beam, early=plan.update == "early", k_best=plan.k_best)

    def _check_scheme(self, labels: Labels, bounds: npt.NDArray[np.uint64]) -> None:
        """Raise an error for labels that break the scheme set by the user."""
        scheme = self.plan.scheme
        if scheme in (None, "auto"):
            return
        legal = obeys(labels.codes, bounds, labels.names, str(scheme))
        if not legal.all():
            number = int(np.argmin(legal))
            found = recognised(labels.codes, bounds, labels.names)
            raise Disobeyed(str(scheme), number, labels.shown(bounds, number), found)

    # -- learning -----------------------------------------------------------------------------------------------------

    def prepare(self, X: Any, y: Callable[[npt.NDArray[np.uint64]], Labels]) -> Corpus:
        """Make a corpus of X with labels y, and a new learner for it."""
        sequences = self.vocabulary.sequences(X, grow=True)
        labels = y(sequences.bounds)
        Corpus(sequences, labels.codes).check("X")
        self._check_scheme(labels, sequences.bounds)
        scheme = self.plan.scheme
        if scheme == "auto":
            scheme = recognised(labels.codes, sequences.bounds, labels.names)
            self.given_up = nearly(labels.codes, sequences.bounds, labels.names) if scheme is None else None
        self.begin(labels.names, scheme)
        return Corpus(sequences, self._inside(labels, sequences.bounds).codes)

    def begin(self, labels: list[Any], scheme: str | None) -> None:
        """Make a new learner for labels in a scheme."""
        self.candidates = (scheme,) if scheme is not None else ()
        learner = self.new_learner(closed(labels) if scheme == IOB1 else labels)
        self._constrain(learner, scheme, labels)
        self.learner = learner

    def held_out(self, X: Any, y: Callable[[npt.NDArray[np.uint64]], Labels]) -> Corpus:
        """Make a corpus to measure errors on; labels that the learner does not know count as errors."""
        sequences = self.vocabulary.sequences(X, grow=False)
        labels = self._inside(self.own(y(sequences.bounds), sequences.bounds), sequences.bounds)
        corpus = Corpus(sequences, labels.among(self.labels))
        corpus.check("held-out sequences")
        return corpus

    def watch(self, corpus: Corpus) -> Callable[[], float]:
        """A function that returns the share of tokens that the tagger currently labels wrong."""
        return lambda: wrong_tokens(self.fitted, corpus) / corpus.sequences.n_tokens

    def learn_once(
        self, X: Any, y: Callable[[npt.NDArray[np.uint64]], Labels], announced: Sequence[Any], plan: Plan
    ) -> int:
        """Learn from sequences once, in their order; return the number of sequences labelled wrong.

        Features and labels exist from the first sequence that has them, and a label scheme is in use as long as all
        sequences so far obey it. So how a stream is cut into calls does not change the result.
        """
        mark, candidates, known, old = self.vocabulary.mark(), self.candidates, self.learner, self.plan
        before = None
        try:
            sequences = self.vocabulary.sequences(X, grow=True)
            labels = y(sequences.bounds)
            self._check_scheme(labels, sequences.bounds)
            names = in_order([*announced, *labels.names], sequences.bounds, [], "y", self.classes)
            self.plan = plan
            learner = self.new_learner(sorted(set(announced))) if known is None else known
            if known is not None and self._may_overflow(known, sequences.values):
                before = known.snapshot()
            learner.add_features(self.vocabulary.n_features)
            self.adopt(learner)
            self.learner = learner
        except BaseException:
            self._back(mark, candidates, known, old, before)
            raise
        try:
            return self._learn_segments(learner, sequences, labels, names, announced)
        except ValueError:
            self._back(mark, candidates, known, old, before)
            raise

    def _back(
        self, mark: Any, candidates: tuple[str, ...], learner: SequenceLearner | None, plan: Plan, before: Any
    ) -> None:
        """Restore the state before `learn_once`."""
        if learner is not None and before is not None:
            learner.restore(before)
        self.vocabulary.back_to(mark)
        self.learner, self.candidates, self.plan = learner, candidates, plan
        if learner is not None:
            self.adopt(learner)

    def _learn_segments(
        self, learner: SequenceLearner, examples: Sequences, labels: Labels, known: list[Any], announced: Sequence[Any]
    ) -> int:
        """Learn up to the next new label or change of scheme, adapt the learner, continue."""
        count, bounds = examples.n_sequences, examples.bounds
        since = dict.fromkeys([*self.classes, *announced], -1)  # the first sequence with each label
        tokens = np.full(len(labels.names), examples.n_tokens)
        tokens[labels.codes[::-1]] = np.arange(examples.n_tokens)[::-1]
        for name, token in zip(labels.names, tokens.tolist(), strict=True):
            since.setdefault(name, int(np.searchsorted(bounds, token, side="right")) - 1)
        until = dict.fromkeys(self.candidates, count)  # the first sequence that breaks each scheme
        for scheme in self.candidates:
            legal = obeys(labels.codes, bounds, labels.names, scheme)
            until[scheme] = count if legal.all() else int(np.argmin(legal))
        undecided, in_use = bool(self.candidates), learner.scheme
        inside = encoded(labels, bounds) if self.plan.scheme == IOB1 or IOB1 in self.candidates else labels
        cuts = sorted({0, *(at for at in [*since.values(), *until.values()] if 0 <= at < count)})
        wrong = 0
        for begin, end in zip(cuts, [*cuts[1:], count], strict=True):
            current = [name for name in known if since[name] <= begin]
            self.candidates = tuple(each for each in self.candidates if until[each] > begin)
            in_force = self._in_force(current)
            in_use = in_force or in_use
            inner = closed(current) if in_force == IOB1 else sorted({*current, *self.labels})
            if inner != self.labels:
                learner.add_labels(inner)
            if in_force != learner.scheme or in_force == IOB1:
                self._constrain(learner, in_force, current)
            tokens_of = slice(int(bounds[begin]), int(bounds[end]))
            codes = np.zeros(examples.n_tokens, dtype=np.uint32)
            learned = inside if in_force == IOB1 else labels
            codes[tokens_of] = Labels(learned.codes[tokens_of], learned.names).among(inner)
            part = examples._replace(bounds=bounds[begin : end + 1])
            wrong += learner.learn(part, codes, np.arange(end - begin, dtype=np.uint32))
        self.given_up = None
        if self.plan.scheme == "auto" and undecided and not self.candidates:
            found = labels.codes, bounds, labels.names
            self.given_up = nearly(*found) if in_use is None else first_break(*found, in_use)
        return wrong

    def _may_overflow(self, learner: SequenceLearner, values: npt.NDArray[np.float64] | None) -> bool:
        """Whether sums could overflow. Usually they cannot, and no copy of the weights is needed."""
        low, high = MODERATE
        sizes = np.abs(values[values != 0.0]) if values is not None else np.empty(0)
        small = learner.totals.sq_norm < high
        moderate = low < sizes.min(initial=1.0) and sizes.max(initial=1.0) < high
        # PA steps with η > 1 overshoot, and can grow without bound.
        short = low < self.plan.eta <= (1.0 if rules.demands(self.plan.rule) == 1.0 else high)
        return not (small and moderate and short) or type(self.plan.rule).__module__ != rules.__name__

    def _in_force(self, labels: list[Any]) -> str | None:
        if self.plan.scheme != "auto":
            return self.plan.scheme
        # Only sequences with entities in IOB1 leave it alone among the candidates.
        marked = self.candidates == (IOB1,) or any(parts(label)[0] in ("B", "U", "S") for label in labels)
        return self.candidates[0] if marked and self.candidates else None

    # -- prediction ---------------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> tuple[Codes, npt.NDArray[np.uint64]]:
        """Numbers of labels, and where sequences begin and end."""
        sequences = self.vocabulary.sequences(X, grow=False)
        return self._outside(self.fitted.predict(sequences), sequences.bounds), sequences.bounds

    def k_best(self, X: Any, k: int) -> tuple[Codes, Floats, npt.NDArray[np.uint64]]:
        """The k best labellings as (k, tokens), their scores as (sequences, k), and where sequences begin and end."""
        sequences = self.vocabulary.sequences(X, grow=False)
        codes, scores = self.fitted.k_best(sequences, k)
        return np.stack([self._outside(line, sequences.bounds) for line in codes]), scores, sequences.bounds

    @property
    def fitted(self) -> SequenceLearner:
        """The learner, which must exist."""
        assert self.learner is not None
        return self.learner


def outside(learner: SequenceLearner, codes: Codes, bounds: npt.NDArray[np.uint64]) -> Codes:
    """Labels that a learner found, in the user's form."""
    return decoded(codes, bounds, learner.labels) if learner.scheme == IOB1 else codes


def wrong_tokens(learner: SequenceLearner, corpus: Corpus) -> int:
    """Number of tokens that a learner labels wrong, in the user's form."""
    bounds = corpus.sequences.bounds
    found, right = (outside(learner, codes, bounds) for codes in (learner.predict(corpus.sequences), corpus.codes))
    return int(np.count_nonzero(found != right))


class Disobeyed(DataError):
    """The error for a sequence that breaks the scheme set by the user; `found` is the scheme that all labels obey."""

    def __init__(self, scheme: str, number: int, shown: str, found: str | None) -> None:
        remedy = "correct it, or set scheme=None" if found is None else f"the labels are {found}: set scheme={found!r}"
        super().__init__(f"sequence {number} does not obey scheme={scheme!r}: {shown}"[:300] + f"; {remedy}")
        self.scheme, self.number, self.shown, self.found = scheme, number, shown, found

    def __reduce__(self) -> Any:
        return Disobeyed, (self.scheme, self.number, self.shown, self.found)
