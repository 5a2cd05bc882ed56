"""Slow twins of the structured perceptron over sequences, written from its formulas.

A sequence is a list of tokens, a token a dict of features and their values, and a labelling a tuple of labels. Weights
are a dict from features of labellings to numbers. The best labelling is found by looking at all of them. Every
hypothesis is kept, and what a readout means is computed from that list. Labels are numbered in their sorted order.
"""

from __future__ import annotations

from collections import Counter
from itertools import pairwise, product

START, STOP = "start", "stop"
NEAR = 1e-9  # scores that are closer than this, but not equal, may come in either order after rounding


# -- schemes of labels ------------------------------------------------------------------------------------------------


def obeys(labels, scheme, whole=True):
    """Whether labels are legal, read from left to right; `whole`: nothing follows, so that nothing may be left open."""
    if scheme is None:
        return True
    if scheme == "IOB1":
        return obeys_iob1(labels)
    last, single = {"BIO": (None, None), "BILOU": ("L", "U"), "BIOES": ("E", "S")}[scheme]
    entity = None  # type of the entity that may or must go on
    for label in labels:
        prefix, _, kind = str(label).partition("-")
        if prefix in ("I", last):
            if entity != kind:
                return False
            entity = kind if prefix == "I" else None
        elif prefix in ("B", "O", single):
            if entity is not None and scheme != "BIO":
                return False
            entity = kind if prefix == "B" else None
        else:
            return False
    return entity is None or scheme == "BIO" or not whole


def obeys_iob1(labels):
    """B only where the token before belongs to an entity of the same type; I and O anywhere."""
    before = None  # type of the entity that the token before belongs to
    for label in labels:
        prefix, _, kind = str(label).partition("-")
        if prefix not in ("B", "I", "O") or (prefix == "B" and before != kind):
            return False
        before = None if prefix == "O" else kind
    return True


def converted(labels, scheme):
    """Labels of BIO or IOB1 in one of these schemes: where an entity begins, B in BIO; in IOB1 only if it must."""
    found, before = [], None
    for label in labels:
        prefix, _, kind = str(label).partition("-")
        if prefix == "B" or (prefix == "I" and before != kind):
            label = ("B" if scheme == "BIO" or before == kind else "I") + label[1:]
        found.append(label)
        before = kind if prefix in ("B", "I") else None
    return found


# -- entities ---------------------------------------------------------------------------------------------------------


def entities(labels):
    """The set of (type, first token, last token), by the rules of conlleval.pl; L counts as E and U as S."""
    found, begun = set(), None
    previous, previous_kind = "O", ""
    for t, label in enumerate([*labels, "O"]):
        tag, _, kind = label.partition("-")
        tag, kind = {"L": "E", "U": "S"}.get(tag, tag), kind or "_"
        ended = (previous, tag) in {(a, b) for a in "BI" for b in "BSO"} or previous in ("E", "S")
        ended = ended or (previous != "O" and previous_kind != kind)
        if ended:
            found.add((previous_kind, begun, t - 1))
        starts = tag in ("B", "S") or (previous, tag) in {(a, b) for a in "ESO" for b in "EI"}
        if starts or (tag != "O" and previous_kind != kind):
            begun = t
        previous, previous_kind = tag, kind
    return found


def ratios(correct, predicted, support):
    """Precision, recall and F1."""
    precision = correct / predicted if predicted else 0
    recall = correct / support if support else 0
    return precision, recall, 2 * precision * recall / (precision + recall) if correct else 0


def entity_scores(gold, predicted):
    """Precision, recall, F1 by type, and the micro, macro and weighted averages under None, "macro" and "weighted"."""
    ours = {(i, *entity) for i, labels in enumerate(gold) for entity in entities(labels)}
    theirs = {(i, *entity) for i, labels in enumerate(predicted) for entity in entities(labels)}
    counts = {None: (len(ours & theirs), len(theirs), len(ours))}
    for kind in sorted({entity[1] for entity in ours | theirs}):
        of_kind = [{entity for entity in some if entity[1] == kind} for some in (ours & theirs, theirs, ours)]
        counts[kind] = tuple(map(len, of_kind))
    scores = {kind: ratios(*numbers) for kind, numbers in counts.items()}
    kinds = [kind for kind in counts if kind is not None]
    scores["macro"] = tuple(sum(scores[k][i] for k in kinds) / max(1, len(kinds)) for i in range(3))
    total = max(1, len(ours))
    scores["weighted"] = tuple(sum(scores[k][i] * counts[k][2] for k in kinds) / total for i in range(3))
    return scores


# -- scores of labellings ---------------------------------------------------------------------------------------------


def phi(x, y, order, whole=True):
    """Features of the beginning y of a labelling of x, or of all of it."""
    found = Counter()
    for t, label in enumerate(y):
        for name, value in x[t].items():
            found["feature", name, label] += value
        if order >= 1:
            found["step", y[t - 1] if t else START, label] += 1
        if order == 2 and t >= 1:
            found["pair", y[t - 2] if t >= 2 else START, y[t - 1], label] += 1
    if whole and order >= 1 and y:
        found["step", y[-1], STOP] += 1
    return found


def dot(w, features):
    return sum(w.get(key, 0) * value for key, value in features.items())


def minus(ours, theirs):
    """Δφ, without what is zero."""
    both = {key: ours.get(key, 0) - theirs.get(key, 0) for key in {**ours, **theirs}}
    return {key: value for key, value in both.items() if value != 0}


def hamming(ours, theirs):
    return sum(a != b for a, b in zip(ours, theirs, strict=True))


class NaiveTagger:
    """A tagger that looks at everything and remembers everything."""

    def __init__(
        self,
        labels=(),
        rule="perceptron",
        order=1,
        scheme=None,
        beam=None,
        update="max_violation",
        k_best=1,
        eta0=1.0,
        beta=1.0,
        C=1.0,
    ):
        self.labels = sorted(labels)
        self.rule, self.beta, self.C, self.eta0 = rule, beta, C, eta0
        self.order, self.beam, self.update, self.k = order, beam, update, k_best
        schemes = ["BIO", "BILOU", "BIOES", "IOB1"]
        self.candidates = schemes if scheme == "auto" else None  # what all sequences have obeyed
        self.seen = set(labels)  # for IOB1: `labels` are those of BIO
        self.scheme = None if scheme == "auto" else scheme
        self.w = {}
        self.after = []  # the hypothesis in force after each sequence
        self.mistakes = []  # for each sequence whether it was one
        self.n_updates = 0
        self.wrong_tokens = 0
        self.close_calls = 0  # comparisons that rounding may turn

    # -- search ------------------------------------------------------------------------------------------------------

    def score(self, w, x, y, whole=True):
        return dot(w, phi(x, y, self.order, whole))

    def legal(self, y, whole=True):
        if self.scheme == "IOB1":  # BIO inside; outside no label that was never seen
            return obeys(y, "BIO", whole) and {*converted(y, "IOB1")} <= self.seen
        return obeys(y, self.scheme, whole)

    def shown(self, y):
        """Labels as the user has them."""
        return tuple(converted(y, "IOB1")) if self.scheme == "IOB1" else y

    def sorted(self, scored, ties, most=None):
        """Labellings by falling score; of equals the one first whose `ties` is smaller. `most` of them matter."""
        in_order = sorted(scored, key=lambda pair: (-pair[0], ties(pair[1])))
        self.close_calls += sum(0 < a[0] - b[0] < NEAR for a, b in pairwise(in_order[: most and most + 1]))
        return in_order

    def ranked(self, w, x, cost=None):
        """All legal labellings and their scores, the best first; of equals the smallest read from the last label."""
        every = [y for y in product(self.labels, repeat=len(x)) if self.legal(y)]
        scored = [(self.score(w, x, y) + (cost(y) if cost else 0), y) for y in every]
        return self.sorted(scored, lambda y: y[::-1], self.k)

    def beams(self, w, x, cost=None):
        """For each token the beginnings that end there and stay, with their scores, the best first."""
        size = 2 if self.order == 2 else 1  # labels that the future looks at
        kept, lists = [()], []
        for t in range(len(x)):
            whole = t == len(x) - 1  # then the stop counts
            longer = [y for y in ((*old, c) for old in kept for c in self.labels) if self.legal(y, whole)]
            scored = [(self.score(w, x, y, whole) + (cost(y) if cost else 0), y) for y in longer]
            merged = {}  # the best beginning of each state; of equals the one with the smaller label before the state
            for score, y in self.sorted(scored, lambda y: y[: len(y) - size][-1:]):
                merged.setdefault(y[-size:], (score, y))
            lists.append(self.sorted(merged.values(), lambda y: y[-size:][::-1])[: self.beam])
            kept = [y for _, y in lists[-1]]
        return lists

    def best(self, w, x, cost=None):
        if not x:
            return ()
        return (self.ranked(w, x, cost) if self.beam is None else self.beams(w, x, cost)[-1])[0][1]

    def k_best(self, x, k, readout="last"):
        """The k best labellings and their scores."""
        return [(score, self.shown(y)) for score, y in self.ranked(getattr(self, readout)(), x)[:k]]

    def violation(self, x, gold, cost=None):
        """Beginnings of gold and of its rival that a beam's step is made from: both empty if the best one is gold."""
        lists = self.beams(self.w, x, cost)
        if not x or lists[-1][0][1] == gold:
            return (), ()
        if self.update == "early":
            off = [t for t, kept in enumerate(lists) if gold[: t + 1] not in [y for _, y in kept]]
            t = off[0] if off else len(x) - 1
        else:
            behind = {}
            for t, kept in enumerate(lists):
                score, y = kept[0]
                if y != gold[: t + 1]:
                    own = self.score(self.w, x, gold[: t + 1], t == len(x) - 1)
                    behind[t] = score - own
            worst = max(behind.values())
            near = [value for value in behind.values() if worst - value < NEAR]  # the same labels follow, often
            self.close_calls += len(near) > 1 and any(value != int(value) for value in near)
            t = max(t for t, value in behind.items() if value == worst)
        return gold[: t + 1], lists[t][0][1]

    # -- learning ----------------------------------------------------------------------------------------------------

    def tau(self, loss, sq_norm):
        """The step of the rules that look at the loss; `loss` may be negative."""
        if loss <= 0 or sq_norm == 0:
            return 0.0
        if self.rule == "pa":
            return loss / sq_norm
        if self.rule == "pa1":
            return min(self.C, loss / sq_norm)
        return loss / (sq_norm + 1 / (2 * self.C))

    def learn(self, x, labels):
        """Receive a sequence, predict, receive its labels, update. A label exists from its first sequence on."""
        self.labels, gold = sorted({*self.labels, *labels}), tuple(labels)
        self.seen |= {*labels}
        if self.candidates is not None:
            self.candidates = [scheme for scheme in self.candidates if obeys(gold, scheme)]
            begins = any(str(label).partition("-")[0] in ("B", "U", "S") for label in self.labels)
            begins = begins or self.candidates == ["IOB1"]
            self.scheme = self.candidates[0] if begins and self.candidates else None
        if self.scheme == "IOB1":
            gold = tuple(converted(gold, "BIO"))
            both = [prefix + label[1:] for label in self.labels if label[0] in "BI" for prefix in "BI"]
            self.labels = sorted({*self.labels, *both})
            self.seen |= {label for label in both if label[0] == "I"}
        predicted = self.best(self.w, x)
        self.mistakes.append(predicted != gold)
        self.wrong_tokens += hamming(gold, predicted)

        def cost(y):
            return self.beta * hamming(gold[: len(y)], y)

        if self.beam is not None:
            pairs = [self.violation(x, gold, cost if self.rule == "margin" else None)]
        elif self.rule == "margin":
            pairs = [(gold, self.best(self.w, x, cost))]
        elif self.k > 1 and x:
            pairs = [(gold, y) for _, y in self.ranked(self.w, x)[: self.k]]
        else:
            pairs = [(gold, predicted)]
        deltas, losses = [], []
        for ours, theirs in pairs:
            whole = len(ours) == len(x)
            deltas.append(minus(phi(x, ours, self.order, whole), phi(x, theirs, self.order, whole)))
            losses.append(hamming(ours, theirs) - dot(self.w, deltas[-1]))  # L − m
        plain = self.rule in ("perceptron", "margin")
        taus = [1.0 if deltas[0] else 0.0] if plain else self.ascended(deltas, losses)
        if any(taus):
            self.w = dict(self.w)
            self.n_updates += 1
            for tau, delta in zip(taus, deltas, strict=True):
                for key, value in delta.items():
                    self.w[key] = self.w.get(key, 0) + self.eta0 * tau * value
        self.after.append(self.w)

    def ascended(self, deltas, losses):
        """Hildreth's method: each step in turn is the rule's own, given all others, until nothing moves."""
        taus = [0.0] * len(deltas)
        for _ in range(100_000 if len(deltas) > 1 else 1):
            before = list(taus)
            for i, delta in enumerate(deltas):
                gained = sum(taus[j] * dot(deltas[j], delta) for j in range(len(deltas)) if j != i)
                taus[i] = self.tau(losses[i] - gained, dot(delta, delta))
            if max(abs(a - b) for a, b in zip(before, taus, strict=True)) < 1e-13:
                break
        return taus

    def fit(self, X, Y, passes=1):
        """Pass after pass in the order of the sequences."""
        for _ in range(passes):
            for x, y in zip(X, Y, strict=True):
                self.learn(x, y)
        return self

    # -- readouts ----------------------------------------------------------------------------------------------------

    def last(self):
        return self.w

    def averaged(self):
        """Mean of the hypotheses over every sequence processed."""
        keys = {key for w in self.after for key in w}
        return {key: sum(w.get(key, 0) for w in self.after) / len(self.after) for key in keys}

    def predict(self, X, readout="last"):
        w = getattr(self, readout)()
        return [list(self.shown(self.best(w, x))) for x in X]
