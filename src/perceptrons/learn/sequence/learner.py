"""The learner of sequences: weights of features and of histories, counts, and which labels may follow which."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.linear.readouts import AVERAGED, MISTAKES, OVERFLOW, QUIET, SEEN, TAU, UPDATES
from perceptrons.core.sequence import passes as sequences
from perceptrons.core.sequence.beam import Beam
from perceptrons.core.sequence.lattice import LANES, First, Lists, Second, Viterbi, Zeroth
from perceptrons.core.sequence.passes import How, Work
from perceptrons.core.sequence.steps import FREE, SIZE, SQ_RADIUS, TOKENS, USED_ROWS, WRONG_TOKENS
from perceptrons.data.arrays import readonly
from perceptrons.data.token.sequences import Sequences
from perceptrons.learn.hypotheses import overflow
from perceptrons.learn.sequence.schemes import allowed
from perceptrons.rules import Margin, demands

Floats = npt.NDArray[np.float64]
Codes = npt.NDArray[np.uint32]
ORDERS = (Zeroth(), First(), Second())
PART = 1_000_000  # tokens that a kernel is given at once
SMALL = 4  # sequences with fewer features than rows over it are read out by themselves


class SequenceLearner:
    """Weights that score a sequence with its labels, learned by stepping from wrong labels towards the right ones.

    `w` has a row for each history and for each feature that has been part of a step, and a column for each label; see
    `perceptrons.core.sequence.passes`. `kept` is Σ t·δ_t over the steps δ_t made at sequence number t, for the mean of
    all hypotheses.
    """

    tallies = SEEN, MISTAKES, UPDATES, TOKENS, WRONG_TOKENS  # counts of what was done, whatever hypothesis is kept
    origin = None  # where a run starts: from zeros
    burn_in = 0.0
    plan = ""

    def __init__(self, labels: list[Any], n_features: int, order: int, averaged: bool) -> None:
        self.labels, self.order, self.averaged = labels, order, averaged
        self.scheme: str | None = None
        self.counts: Floats = np.zeros(SIZE)
        self.rows: Codes = np.zeros(n_features, dtype=np.uint32)
        width = padded(len(labels))
        self.counts[USED_ROWS] = 1 + n_links(order, width)
        self.w, self.kept = self._zeros(self.used + n_features, width)
        self._read: tuple[Floats, Floats] | None = None  # weights and links of the readout, until the next step
        self.links = self._links(self.w)

    def adopt(
        self, *, rule: Any, eta: float = 1.0, beam: int | None = None, early: bool = False, k_best: int = 1
    ) -> None:
        """How to go on: the rule, the length of steps, the search."""
        self.rule, self.eta = rule, float(eta)
        self._beam = beam, early
        self._k = k_best

    @property
    def search(self) -> Any:
        """How the best labels are looked for; no beam is wider than there are states to keep."""
        width, early = self._beam
        if self._k > 1:
            return Lists(self._k)
        return Viterbi() if width is None else Beam(min(width, self.w.shape[1] ** max(1, self.order)), early)

    # -- room ---------------------------------------------------------------------------------------------------------

    @property
    def used(self) -> int:
        """Rows of w that are in use."""
        return int(self.counts[USED_ROWS])

    def _zeros(self, height: int, width: int) -> tuple[Floats, Floats]:
        """Room for weights and sums. What is not touched takes no memory: rows are used from the first on."""
        return np.zeros((height, width)), np.zeros((height if self.averaged else 0, width))

    def grow(self, n_features: int) -> None:
        """Make room for features that have come up. Interrupted, it has changed nothing."""
        if n_features <= len(self.rows):
            return
        rows = np.zeros(max(n_features, len(self.rows) * 3 // 2), dtype=np.uint32)
        rows[: len(self.rows)] = self.rows
        width, used = self.w.shape[1], self.used
        w, kept = self._zeros(1 + n_links(self.order, width) + len(rows), width)
        w[:used] = self.w[:used]
        kept[:used] = self.kept[:used]
        self.w, self.kept, self.rows = w, kept, rows

    def add_labels(self, labels: list[Any]) -> None:
        """Make room for labels that have come up; `labels` are all, in order, those that were known among them.

        Interrupted, it has changed nothing.
        """
        number = {label: code for code, label in enumerate(labels)}
        codes = np.array([number[label] for label in self.labels], dtype=np.intp)
        known = np.arange(len(codes))
        old, new, used = self.w.shape[1], padded(len(labels)), self.used
        first, shift = 1 + n_links(self.order, old), n_links(self.order, new) - n_links(self.order, old)
        origins, histories = (1 + links_of(self.order, n, at) for n, at in ((old, known), (new, codes)))
        w, kept = self._zeros(len(self.w) + shift, new)
        for here, there in ((self.w, w), (self.kept, kept)):
            if len(here):
                there[np.ix_(histories, codes)] = here[np.ix_(origins, known)]
                there[first + shift : used + shift, codes] = here[first:used, known]
        rows, counts = self.rows.copy(), self.counts.copy()
        rows[rows != 0] += np.uint32(shift)
        counts[USED_ROWS] += shift
        self.labels, self.w, self.kept, self.rows, self.counts = labels, w, kept, rows, counts
        self.constrain(self.scheme)

    # -- what may follow what -----------------------------------------------------------------------------------------

    def constrain(self, scheme: str | None) -> None:
        """Allow what a scheme of labels allows; None allows everything."""
        self.scheme, self._read = scheme, None
        self.links = self._links(self.w)

    def _links(self, w: Floats) -> Floats:
        """The weights of histories as search reads them: −∞ for what is not allowed."""
        size, width = len(self.labels), w.shape[1]
        links = w[1 : 1 + n_links(self.order, width)].copy()
        mask = np.full((width + 2, width), -np.inf)
        if self.scheme is None:
            mask[:size, :size] = 0.0
            mask[width:, :size] = 0.0
        else:
            start, follows, stop = allowed([str(label) for label in self.labels], self.scheme)
            mask[:size, :size][follows] = 0.0
            mask[width, :size][start] = 0.0
            mask[width + 1, :size][stop] = 0.0
        links[: width + 2] += mask
        if self.order == 2:
            pairs = links[width + 2 :].reshape(width + 1, width, width)
            pairs += links[:width]
        return links

    # -- learning -----------------------------------------------------------------------------------------------------

    def learn(self, examples: Sequences, codes: Codes, order: npt.NDArray[np.uint32]) -> int:
        """One pass in this order; returns how many sequences were labelled wrong."""
        before, self._read = self.counts.copy(), None
        # A perceptron with margin looks for what is closest to being preferred; others for what is preferred.
        augmented, search, marker = isinstance(self.rule, Margin), self.search, ORDERS[self.order]
        how = How(self.rule, demands(self.rule), marker, search, augmented, self.eta, self.averaged)
        work = room(examples, search, self.order, self.w.shape[1], learning=True)
        kernel = sequences.learn.for_rule(self.rule)
        size = max(1, PART * examples.n_sequences // max(1, examples.n_tokens))
        for begin in range(0, max(1, len(order)), size):  # in parts: Ctrl-C is heard between them
            kernel(
                *(examples.indices, examples.values, examples.indptr, examples.bounds, codes),
                *(order[begin : begin + size], how, self.rows, self.w, self.kept, self.links, self.counts, work),
            )
            if self.counts[OVERFLOW]:
                at, self.counts[OVERFLOW] = int(self.counts[OVERFLOW]) - 1, 0.0
                raise overflow(f"at sequence {at}")
        self.counts[QUIET] = self.counts[UPDATES] == before[UPDATES]
        return int(self.counts[MISTAKES] - before[MISTAKES])

    def confirms(self, examples: Sequences, codes: Codes) -> bool:
        """Whether the hypothesis in force labels everything right."""
        return bool((self._labels(self.search, examples, self.rows, self.w, self.links) == codes).all())

    def converge(self) -> None:
        """A pass made no mistake."""

    def gives_up(self, tol: float) -> bool:
        """Whether the margin is proved to be below tol, relative to the longest step."""
        return self.margin_bound <= tol * self.radius

    @property
    def margin_bound(self) -> float:
        """No hypothesis has a larger margin: ‖w‖/Στ, rounded outward.

        w = Σ τ·Δφ, so u·w ≥ γ·Στ for a unit u that has the margin γ on all Δφ. Each of k updates rounds w by
        at most ε·‖w‖ ≤ ε·R·Στ, the sum Στ by ε of itself.
        """
        total = float(self.counts[TAU])
        if total == 0.0:
            return float("inf")
        w = self.w[: self.used]
        w, epsilon, roundings = w[w != 0.0], np.finfo(np.float64).eps, self.counts[UPDATES] + 4
        squares = np.sort(np.square(w / total))  # in whatever order rows are: a model file may have another
        length = np.sqrt(squares.sum()) * (1 + (w.size + roundings) * epsilon)
        return float(length + 2 * roundings * epsilon * self.radius)

    @property
    def radius(self) -> float:
        """R: the length of the longest difference stepped along."""
        return float(np.sqrt(self.counts[SQ_RADIUS]))

    @property
    def state(self) -> str:
        """For lines of progress."""
        return f"{int(self.counts[UPDATES]):,} updates"

    def snapshot(self) -> Any:
        """All that learning changes."""
        used = self.used
        kept = self.kept[:used].copy()
        return self.labels, self.scheme, self.w[:used].copy(), kept, self.rows.copy(), self.counts.copy()

    def restore(self, snapshot: Any) -> None:
        """Back to where a snapshot was taken."""
        self.labels, scheme, w, kept, rows, self.counts = snapshot
        self.w, self.kept = self._zeros(len(w) + len(rows), w.shape[1])
        self.w[: len(w)], self.rows = w, rows
        self.kept[: len(kept)] = kept
        self.constrain(scheme)

    # -- the readout --------------------------------------------------------------------------------------------------

    def readout(self) -> tuple[Floats, Floats]:
        """The weights that predict, and their links."""
        if self._read is None:
            w = self._mean(slice(self.used))
            self._read = w, self._links(w)
        return self._read

    def _mean(self, rows: Any) -> Floats:
        """Rows of the readout. Averaged: the mean over all sequences after their steps, ((T + 1)·w − Σ t·δ_t)/T."""
        total = self.counts[AVERAGED]
        if not self.averaged or not total:
            return np.asarray(self.w[rows])
        return np.asarray(((total + 1) * self.w[rows] - self.kept[rows]) / total)

    def _reading(self, examples: Sequences) -> tuple[Sequences, Codes, Floats, Floats]:
        """Sequences as the readout sees them: their features, the rows of features, weights and links.

        In a stream, few sequences come between two steps: then only their weights are read out.
        """
        if self._read is not None or SMALL * len(examples.indices) > self.used:
            w, links = self.readout()
            return examples, self.rows, w, links
        features, indices = np.unique(examples.indices, return_inverse=True)
        own = self.rows[features]
        first, there = 1 + n_links(self.order, self.w.shape[1]), own != 0
        rows = np.zeros(len(features), dtype=np.uint32)
        rows[there] = np.arange(first, first + np.count_nonzero(there))
        w = self._mean(np.concatenate([np.arange(first), own[there]]))
        return examples._replace(indices=readonly(indices.astype(np.uint32))), rows, w, self._links(w)

    def state_weights(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], Floats]:
        """Features, labels and weights of the readout, where they are not 0."""
        features = np.flatnonzero(self.rows)
        weights = self.readout()[0][self.rows[features]]
        at, labels = np.nonzero(weights)
        return features[at], labels, weights[at, labels]

    def transition_weights(self) -> Floats:
        """Weights of the readout of each label after another; the last row is START, the last column STOP."""
        size, w = len(self.labels), self.readout()[0]
        start, stop = (1 + self.w.shape[1] + more for more in (0, 1))
        found = np.zeros((size + 1, size + 1))
        found[:size, :size], found[size, :size], found[:size, size] = (
            w[1 : 1 + size, :size],
            w[start, :size],
            w[stop, :size],
        )
        return found

    def predict(self, examples: Sequences) -> Codes:
        """The number of the best label of each token."""
        search = Viterbi() if isinstance(self.search, Lists) else self.search
        return self._labels(search, *self._reading(examples))

    def _labels(self, search: Any, examples: Sequences, rows: Codes, w: Floats, links: Floats) -> Codes:
        out = np.zeros(examples.n_tokens, dtype=np.uint32)
        sequences.tag(
            *(examples.indices, examples.values, examples.indptr, examples.bounds, ORDERS[self.order], search),
            *(rows, w, links, room(examples, search, self.order, w.shape[1]), out),
        )
        return out

    def k_best(self, examples: Sequences, k: int) -> tuple[Codes, Floats]:
        """The k best labellings of each sequence: labels (k, tokens) and scores (sequences, k), −∞ for none."""
        examples, rows, w, links = self._reading(examples)
        out = np.zeros((k, examples.n_tokens), dtype=np.uint32)
        scores = np.empty((examples.n_sequences, k))
        sequences.tag_lists(
            *(examples.indices, examples.values, examples.indptr, examples.bounds, ORDERS[self.order], Lists(k)),
            *(rows, w, links, room(examples, Lists(k), self.order, w.shape[1]), out, scores),
        )
        return out, scores


def room(examples: Sequences, search: Any, order: int, width: int, learning: bool = False) -> Work:
    """Room for a pass over these sequences."""
    longest = int(np.diff(examples.bounds).max(initial=0))
    entries = int(np.diff(examples.indptr[examples.bounds]).max(initial=0))
    widest = int(np.diff(examples.indptr[int(examples.bounds[0]) : int(examples.bounds[-1]) + 1]).max(initial=0))
    states, k, marks, groups = width ** max(1, order), 1, (1, 1), 1
    if isinstance(search, Beam):
        states = padded(search.width + 1)
        marks, groups = (longest, 3 * states + 1), states if order == 2 else 2
    elif isinstance(search, Lists):
        states, k = states * search.k, search.k
        marks = longest + 1, states
    # Twice the places that differences can take: two for each feature, six for each token and the end.
    places = 1 << (2 * k * (2 * entries + 6 * longest + 6)).bit_length() if learning else 0
    return Work(
        emit=np.empty((longest, width)),
        delta=np.empty((longest + 1, states)),
        marks=np.zeros(marks, dtype=np.uint32),
        room=np.empty((groups, width)),
        near=np.empty(widest + LANES, dtype=np.uint32),
        paths=np.zeros((k, longest), dtype=np.uint32),
        keys=np.full(places, FREE, dtype=np.uint64),
        changes=np.empty((places, k)),
        used=np.empty(places, dtype=np.uint32),
        small=np.zeros((4 + k, k)),
    )


def padded(n: int) -> int:
    """Columns for so many labels, or beginnings: whole vectors."""
    return -(-max(1, n) // LANES) * LANES


def n_links(order: int, width: int) -> int:
    """Rows of histories: labels, START, STOP; of second order also pairs."""
    return width + 2 + (width + 1) * width * (order == 2)


def links_of(order: int, width: int, codes: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """The rows of the histories that are made of these labels: they themselves, START, STOP, and pairs."""
    rows = [codes, np.array([width, width + 1])]
    if order == 2:
        before = np.append(codes, width)
        rows.append((width + 2 + before[:, None] * width + codes).ravel())
    return np.concatenate(rows)
