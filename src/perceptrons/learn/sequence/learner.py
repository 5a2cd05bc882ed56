"""The sequence learner: weights of features and of histories, counts, and which labels may follow each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from perceptrons.core.sequence import passes
from perceptrons.core.sequence.beam import Beam
from perceptrons.core.sequence.lanes import LANES
from perceptrons.core.sequence.lattice import Lists, Viterbi
from perceptrons.core.sequence.markov import First, Second, Zeroth
from perceptrons.core.sequence.passes import How, Work
from perceptrons.core.sequence.steps import FREE
from perceptrons.data.arrays import readonly
from perceptrons.data.files import DataError
from perceptrons.data.token.sequences import Sequences, spans
from perceptrons.learn.learner import EPSILON, Learner, Order, overflow, words_of_structures
from perceptrons.learn.readouts import READOUTS, mean_of
from perceptrons.learn.sequence import mixing
from perceptrons.learn.sequence.iob1 import allowed_in
from perceptrons.learn.sequence.weights import Pages, Positions, entries, fill, whole, zeros
from perceptrons.learn.state import FIXED, Floats, Kind, State
from perceptrons.rules import Margin, demands

Codes = npt.NDArray[np.uint32]
MARKOV = (Zeroth(), First(), Second())  # by order
PART = 1_000_000  # maximum number of tokens per call of a compiled pass
WEIGHTS = ("w", "kept")  # the arrays with one number per row and label
BY_LABEL = Kind()  # weights, or their sums
PAGES = Kind(degree=0, by_class=False)  # one row per history and feature
SMALL = 4  # sequences with fewer features than rows/SMALL are read out by themselves


class Corpus:
    """Sequences with the numbers of their labels: the examples of a sequence learner."""

    def __init__(self, sequences: Sequences, codes: Codes) -> None:
        self.sequences, self.codes = sequences, codes

    def __len__(self) -> int:
        return self.sequences.n_sequences

    def order(self) -> Order:
        return np.arange(len(self), dtype=np.uint32)

    def take(self, order: npt.NDArray[Any]) -> Corpus:
        """Copy some of the sequences."""
        return Corpus(self.sequences.take(order), self.codes[spans(self.sequences.bounds, order)[0]])

    def split(self, held: npt.NDArray[np.bool_]) -> tuple[Corpus, Corpus]:
        parts = self.take(np.flatnonzero(~held)), self.take(np.flatnonzero(held))
        for part in parts:
            part.check("both parts of the sequences, learned from and held out,")
        return parts

    def check(self, name: str) -> None:
        """Raise an error if there are no tokens."""
        if self.sequences.n_tokens == 0:
            raise DataError(f"{name} must have tokens, got none")


class SequenceLearner(Learner[Corpus]):
    """A learner of weights that score a sequence with its labels; steps go from wrong labels to the right ones.

    The array `w` has one row per history and per feature that has been part of a step, and one column per label; with
    many labels its rows are cut into pages, see `perceptrons.core.sequence.passes`. `rows` has the row of each feature.
    `kept` is Σ t·δ_t, where δ_t is the step made at sequence number t, for the mean of all hypotheses.
    """

    words = words_of_structures("sequences", "tokens", found="labels")

    @property
    def one_by_one(self) -> bool:
        return True  # token mistakes are recorded for each pass

    def __init__(self, labels: list[Any], n_features: int, markov: int, readout: str) -> None:
        self.labels, self.markov = labels, markov
        self.readout = READOUTS[readout]()
        self.scheme: str | None = None
        self.touching: tuple[Any, ...] = ()  # for IOB1: see `allowed_in`
        self.state = State()
        self.course.used_rows, self.course.used_lines = 1 + n_links(markov, self.width), 1
        self.state.hold("rows", np.zeros(n_features, dtype=np.uint32), FIXED)
        for name, array in zeros(self.used + n_features, self.width, self.readout.sums).items():
            self.state.hold(name, array, PAGES if name == "pages" else BY_LABEL)
        self._read: tuple[Floats, Floats] | None = None  # weights and links of the readout, until the next step
        self.links = self._links(self.state["w"], self.pages)

    def adopt(
        self, *, rule: Any, eta: float = 1.0, beam: int | None = None, early: bool = False, k_best: int = 1
    ) -> None:
        """Continue with this rule, step scale and search."""
        self.rule, self.eta = rule, float(eta)
        self._beam = beam, early
        self._k = k_best

    @property
    def search(self) -> Any:
        """How to search for the best labels; a beam is at most as wide as the number of states."""
        width, early = self._beam
        if self._k > 1:
            return Lists(self._k)
        return Viterbi() if width is None else Beam(min(width, self.width ** max(1, self.markov)), early)

    # -- room ---------------------------------------------------------------------------------------------------------

    @property
    def used(self) -> int:
        """Number of rows of w in use."""
        return int(self.course.used_rows)

    @property
    def first_row(self) -> int:
        """Number of the first row of a feature, after those of histories."""
        return 1 + n_links(self.markov, self.width)

    @property
    def width(self) -> int:
        """Number of labels, padded."""
        return padded(len(self.labels))

    @property
    def pages(self) -> Pages:
        """Where the weights of each row are; None if rows are whole."""
        return self.state.get("pages")

    @property
    def lines(self) -> int:
        """Number of lines of w in use."""
        return self.used if self.pages is None else int(self.course.used_lines)

    def entries(self, rows: npt.NDArray[Any]) -> tuple[Positions, Positions, Floats]:
        """What is not 0 in some rows of w and of sums: positions in `rows`, labels, and a line of values for each."""
        return entries([self.state[name] for name in WEIGHTS[: 1 + self.readout.sums]], self.pages, rows)

    def with_entries(self, shape: tuple[int, int], rows: Positions, labels: Positions, values: Floats) -> State:
        """A copy of the state with these entries in w and in sums; `shape` is its number of rows and of labels."""
        state = self.state.copy(slice(0)).with_arrays(**zeros(*shape, self.readout.sums))
        arrays = [state[name] for name in WEIGHTS[: len(values)]]
        state.course.used_lines = fill(arrays, state.get("pages"), rows, labels, values)
        return state

    def add_features(self, n_features: int) -> None:
        """Make room for new features. An interruption changes nothing."""
        state = self.state
        if n_features <= len(state["rows"]):
            return
        rows = np.zeros(max(n_features, len(state["rows"]) * 3 // 2), dtype=np.uint32)
        rows[: len(state["rows"])] = state["rows"]
        self.state = state.with_arrays(rows=rows, **self._enlarged(state, len(rows)))

    def _enlarged(self, state: State, n_features: int) -> dict[str, Any]:
        """The weights of a state in larger arrays."""
        room = zeros(1 + n_links(self.markov, self.width) + n_features, self.width, self.readout.sums)
        used = int(state.course.used_rows)
        lines = used if room["pages"] is None else int(state.course.used_lines)
        for name, n in (("w", lines), ("kept", lines if self.readout.sums else 0), ("pages", used)):
            if room[name] is not None:
                room[name][:n] = state[name][:n]
        return room

    def add_labels(self, labels: list[Any]) -> None:
        """Make room for new labels; `labels` are all labels, known and new, in order.

        An interruption changes nothing.
        """
        number = {label: code for code, label in enumerate(labels)}
        codes = np.array([number[label] for label in self.labels], dtype=np.intp)
        known = np.arange(len(codes))
        old, new, used = self.width, padded(len(labels)), self.used
        first, shift = 1 + n_links(self.markov, old), n_links(self.markov, new) - n_links(self.markov, old)
        there = np.arange(used) + shift  # the new numbers of rows
        there[1 + links_of(self.markov, old, known)] = 1 + links_of(self.markov, new, codes)
        at, label, values = self.entries(np.arange(used))
        rows = self.state["rows"].copy()
        rows[rows != 0] += np.uint32(shift)
        state = self.with_entries((first + shift + len(rows), new), there[at], codes[label], values)
        state = state.with_arrays(rows=rows)
        state.course.used_rows += shift
        vars(self).update(labels=labels, state=state)
        self.constrain(self.scheme, self.touching)

    # -- allowed transitions ------------------------------------------------------------------------------------------

    def constrain(self, scheme: str | None, touching: tuple[Any, ...] = ()) -> None:
        """Allow only the transitions of a label scheme; None allows all. For `touching` see `allowed_in`."""
        self.scheme, self.touching, self._read = scheme, touching, None
        self.links = self._links(self.state["w"], self.pages)

    def replace_state(self, state: State) -> None:
        """Go on with other weights for the same labels. An interruption changes nothing."""
        links = self._links(state["w"], state.get("pages"))
        vars(self).update(state=state, links=links, _read=None)

    def _links(self, w: Floats, pages: Pages) -> Floats:
        """The weights of histories for the search: −∞ for transitions that are not allowed."""
        size, width = len(self.labels), self.width
        links = whole(w, pages, slice(1, 1 + n_links(self.markov, width)))
        mask = np.full((width + 2, width), -np.inf)
        if self.scheme is None:
            mask[:size, :size] = 0.0
            mask[width:, :size] = 0.0
        else:
            start, follows, stop = allowed_in([str(label) for label in self.labels], self.scheme, self.touching)
            mask[:size, :size][follows] = 0.0
            mask[width, :size][start] = 0.0
            mask[width + 1, :size][stop] = 0.0
        links[: width + 2] += mask
        if self.markov == 2:
            pairs = links[width + 2 :].reshape(width + 1, width, width)
            pairs += links[:width]
        return links

    # -- learning -----------------------------------------------------------------------------------------------------

    def once(self, examples: Corpus, order: Order, *, last: bool = False) -> int:
        return self.learn(examples.sequences, examples.codes, order)

    def learn(self, sequences: Sequences, codes: Codes, order: Order) -> int:
        """Make one pass in this order; return the number of sequences labelled wrong."""
        mistakes, updates, self._read = self.totals.mistakes, self.totals.updates, None
        # The margin rule adds costs to scores in the search; other rules do not.
        augmented, search, markov = isinstance(self.rule, Margin), self.search, MARKOV[self.markov]
        how = How(self.rule, demands(self.rule), markov, search, augmented, self.eta, self.readout.sums)
        work = room(sequences, search, self.markov, self.width, learning=True)
        one_pass = passes.learn.for_rule(self.rule)
        state, (totals, course) = self.state, (self.totals.array, self.course.array)
        size = max(1, PART * sequences.n_sequences // max(1, sequences.n_tokens))
        for begin in range(0, max(1, len(order)), size):  # in parts: Ctrl-C works between them
            one_pass(
                *(sequences.indices, sequences.values, sequences.indptr, sequences.bounds, codes),
                *(order[begin : begin + size], how, state["rows"], self.pages, state["w"], state["kept"]),
                *(self.links, totals, course, work),
            )
            if self.course.overflow:
                at, self.course.overflow = int(self.course.overflow) - 1, 0.0
                margin, cost, sq_norm = work.small[0, 0], work.small[1, 0], work.small[4, 0]
                asked = float(margin - how.target * (cost - 1.0)), float(sq_norm), 1.0
                raise overflow(f"at sequence {at}", self.rule, *asked)
        self.course.quiet = self.totals.updates == updates
        return int(self.totals.mistakes - mistakes)

    def warm_up(self, examples: Corpus, held_out: Corpus | None) -> None:
        """Compile everything that passes call, without learning, so that passes can be timed."""
        nothing, before = examples.order()[:0], self.state.copy(slice(0))
        self.learn(examples.sequences, examples.codes, nothing)
        self.totals.array[:], self.course.array[:] = before.totals.array, before.course.array
        self.confirms(examples.take(nothing))
        if held_out is not None:
            self.predict(held_out.sequences.take(nothing))

    def confirms(self, examples: Corpus) -> bool:
        state = self.state
        found = self._labels(self.search, examples.sequences, state["rows"], self.pages, state["w"], self.links)
        return bool((found == examples.codes).all())

    def hull_point(self, total: float) -> tuple[float, float]:
        w = self.state["w"][: self.lines]
        w = w[w != 0.0]
        squares = np.sort(np.square(w / total))  # sorted: the order of rows may differ in a model file
        return float(np.sqrt(squares.sum())) * (1 + w.size * EPSILON), 0.0

    @property
    def status(self) -> str:
        return f"{int(self.totals.updates):,} updates"

    def snapshot(self) -> Any:
        copied = self.state.copy(slice(self.lines))
        pages = None if self.pages is None else self.pages[: self.used].copy()
        return self.labels, (self.scheme, self.touching), copied.with_arrays(pages=pages)

    def restore(self, snapshot: Any) -> None:
        self.labels, constraint, copied = snapshot
        self.state = self.roomy(copied)
        self.constrain(*constraint)

    def roomy(self, state: State) -> State:
        """A copy of a state for the same labels, with room for all features."""
        return state.copy(slice(0)).with_arrays(**self._enlarged(state, len(state["rows"])))

    @property
    def current(self) -> Floats:
        """The weights of the current hypothesis."""
        return self.state["w"]

    # -- shards -------------------------------------------------------------------------------------------------------

    refuse_shards, template, send, received = mixing.refuse, mixing.template, mixing.send, mixing.received
    part, mix, reader, send_weights = mixing.part, mixing.mix, mixing.reader, mixing.send_weights
    going_on, take_over, whole = mixing.going_on, mixing.take_over, property(mixing.whole)

    # -- the readout --------------------------------------------------------------------------------------------------

    def reading(self) -> tuple[Floats, Floats]:
        """The weights of the readout, and their links."""
        if self._read is None:
            w = self._mean(slice(self.lines))
            self._read = w, self._links(w, self.pages)
        return self._read

    def _mean(self, lines: Any) -> Floats:
        """Lines of the readout's weights."""
        w: Floats = self.state["w"][lines]
        total = self.totals.averaged
        if not self.readout.sums or not total:
            return w
        return mean_of(w, total + 1.0, self.state["kept"][lines], total)

    def watch(self, examples: Corpus) -> Callable[[], float]:
        """A function that returns the share of tokens that the readout currently labels wrong."""
        return lambda: float(np.mean(self.predict(examples.sequences) != examples.codes))

    def _reading(self, examples: Sequences) -> tuple[Sequences, Codes, Pages, Floats, Floats]:
        """What prediction needs: the sequences, the rows of their features, pages, weights and links.

        In a stream, there are few sequences between two steps; then only their weights are read out.
        """
        if self._read is not None or SMALL * len(examples.indices) > self.used:
            w, links = self.reading()
            return examples, self.state["rows"], self.pages, w, links
        features, indices = np.unique(examples.indices, return_inverse=True)
        own = self.state["rows"][features]
        first, there = 1 + n_links(self.markov, self.width), own != 0
        rows = np.zeros(len(features), dtype=np.uint32)
        rows[there] = np.arange(first, first + np.count_nonzero(there))
        lines, pages = np.concatenate([np.arange(first), own[there]]), None
        if self.pages is not None:
            pages = self.pages[lines]
            lines = np.concatenate([[0], pages[pages != 0]])
            pages[pages != 0] = np.arange(1, len(lines))
        w = self._mean(lines)
        return examples._replace(indices=readonly(indices.astype(np.uint32))), rows, pages, w, self._links(w, pages)

    def state_weights(self) -> tuple[npt.NDArray[np.intp], npt.NDArray[np.intp], Floats]:
        """Features, labels and weights of the readout, for weights that are not 0."""
        features = np.flatnonzero(self.state["rows"])
        at, labels, weights = entries([self.reading()[0]], self.pages, self.state["rows"][features])
        return features[at], labels, weights[0]

    def transition_weights(self) -> Floats:
        """Weights of the readout for transitions between labels; the last row is START, the last column STOP."""
        size, width = len(self.labels), self.width
        w = whole(self.reading()[0], self.pages, slice(1, 3 + width))
        found = np.zeros((size + 1, size + 1))
        found[:size, :size], found[size, :size], found[:size, size] = w[:size, :size], w[width, :size], w[-1, :size]
        return found

    def predict(self, examples: Sequences) -> Codes:
        """The number of the best label of each token."""
        search = Viterbi() if isinstance(self.search, Lists) else self.search
        return self._labels(search, *self._reading(examples))

    def _labels(self, search: Any, examples: Sequences, rows: Codes, pages: Pages, w: Floats, links: Floats) -> Codes:
        out = np.zeros(examples.n_tokens, dtype=np.uint32)
        passes.tag(
            *(examples.indices, examples.values, examples.indptr, examples.bounds, MARKOV[self.markov], search),
            *(rows, pages, w, links, room(examples, search, self.markov, self.width), out),
        )
        return out

    def k_best(self, examples: Sequences, k: int) -> tuple[Codes, Floats]:
        """The k best labellings of each sequence: labels (k, tokens) and scores (sequences, k), −∞ if fewer exist."""
        examples, rows, pages, w, links = self._reading(examples)
        out = np.zeros((k, examples.n_tokens), dtype=np.uint32)
        scores = np.empty((examples.n_sequences, k))
        passes.tag_lists(
            *(examples.indices, examples.values, examples.indptr, examples.bounds, MARKOV[self.markov], Lists(k)),
            *(rows, pages, w, links, room(examples, Lists(k), self.markov, self.width), out, scores),
        )
        return out, scores


def room(examples: Sequences, search: Any, markov: int, width: int, learning: bool = False) -> Work:
    """Working memory for a pass over these sequences."""
    longest = int(np.diff(examples.bounds).max(initial=0))
    entries = int(np.diff(examples.indptr[examples.bounds]).max(initial=0))
    widest = int(np.diff(examples.indptr[int(examples.bounds[0]) : int(examples.bounds[-1]) + 1]).max(initial=0))
    states, k, marks, groups = width ** max(1, markov), 1, (1, 1), 1
    if isinstance(search, Beam):
        states = padded(search.width + 1)
        marks, groups = (longest, 3 * states + 1), states if markov == 2 else 2
    elif isinstance(search, Lists):
        states, k = states * search.k, search.k
        marks = longest + 1, states
    # Twice the maximum number of differences: two per feature, six per token and for the end.
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
    """Round a number of labels, or beginnings, up to whole vectors."""
    return -(-max(1, n) // LANES) * LANES


def n_links(markov: int, width: int) -> int:
    """Number of histories: labels, START, STOP; with second order also pairs."""
    return width + 2 + (width + 1) * width * (markov == 2)


def links_of(markov: int, width: int, codes: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """The histories made of these labels: the labels, START, STOP, and with second order their pairs."""
    rows = [codes, np.array([width, width + 1])]
    if markov == 2:
        before = np.append(codes, width)
        rows.append((width + 2 + before[:, None] * width + codes).ravel())
    return np.concatenate(rows)
