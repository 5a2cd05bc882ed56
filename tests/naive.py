"""Slow twins of what the library compiles: the perceptron in plain Python, one example after the other.

Nothing here is clever. Every hypothesis is kept in a list, and what a readout means is computed from that list by
its definition. Rows carry the constant feature: x̃ = (x, 1) with a bias and (x, 0) without, so that a hypothesis
is one vector (w, b) for two classes and one a class for more.
"""

from __future__ import annotations

from math import inf
from typing import NamedTuple

import numpy as np


def tau(rule, margin, sq_norm, weight=1.0, beta=1.0, C=1.0):
    """How far the step goes, 0 for none. `sq_norm` is ‖x̃‖², doubled for several classes."""
    if rule == "perceptron":
        return weight if margin <= 0 else 0.0
    if rule == "margin":
        return weight if margin <= beta else 0.0
    loss = max(0.0, 1.0 - margin)  # the hinge loss ℓ
    if loss == 0 or sq_norm == 0:  # a row of zeros has no direction to step in
        return 0.0
    if rule == "pa":
        return loss / sq_norm
    if rule == "pa1":
        return min(C * weight, loss / sq_norm)
    if rule == "pa2":
        return loss / (sq_norm + 1 / (2 * C * weight))
    raise ValueError(rule)


def augmented(X, fit_intercept=True):
    """Rows with the constant feature of the bias: 1, or 0 without one."""
    X = np.asarray(X, dtype=float)
    return np.column_stack([X, np.full(len(X), float(fit_intercept))])


class Step(NamedTuple):
    """What one example did."""

    after: np.ndarray  # the hypothesis in force after the example
    margin: float
    mistake: bool
    updated: bool


class Naive:
    """A perceptron that remembers everything."""

    def __init__(
        self,
        rule="perceptron",
        *,
        eta0=1.0,
        fit_intercept=True,
        tie="mistake",
        classes=(),
        coef=None,
        intercept=None,
        **params,
    ):
        self.rule, self.params = rule, params
        self.eta0, self.fit_intercept, self.tie = eta0, fit_intercept, tie
        self.classes = sorted(classes)
        self.coef, self.intercept = coef, intercept  # weights to start from; None for zeros
        self.w = None  # made with the first example, which says how many features there are
        self.steps = []
        self.sum_tau = 0.0  # Στ
        self.mistakes = []  # in each pass of fit
        self.converged = False

    @property
    def n_seen(self):
        return len(self.steps)

    @property
    def n_mistakes(self):
        return sum(step.mistake for step in self.steps)

    @property
    def n_updates(self):
        return sum(step.updated for step in self.steps)

    # -- one example ------------------------------------------------------------------------------------------

    def margin(self, w, x, label):
        """m and the strongest wrong class. Two classes: y·a(x). Several: score_y − max of the others."""
        if len(self.classes) == 1:
            return inf, None  # with one class nothing can be a mistake
        right, scores = self.classes.index(label), w @ x
        if len(self.classes) == 2:
            return (scores[0] if right == 1 else -scores[0]), None
        wrong = [r for r in range(len(scores)) if r != right]
        rival = max(wrong, key=lambda r: scores[r])  # max keeps the first of equals
        return scores[right] - scores[rival], rival

    def guess(self, w, x):
        """The class that the hypothesis predicts."""
        scores = w @ x
        if len(self.classes) == 2:
            positive = scores[0] >= 0 if self.tie == "positive" else scores[0] > 0
            return self.classes[int(positive)]
        return self.classes[int(np.argmax(scores))]  # argmax keeps the first of equals

    def wrong(self, w, x, label):
        """Whether this is a mistake: a margin of 0 is one, unless ties are predictions like any other."""
        if self.tie == "positive":
            return self.guess(w, x) != label
        return bool(self.margin(w, x, label)[0] <= 0)

    def learn(self, x, label, weight=1.0):
        """Receive x̃, predict, receive the label, update. Returns the prediction (None before any class is known)."""
        if self.w is None:
            self.start(len(x))
        guess = self.guess(self.w, x) if self.classes else None
        self.meet(label)
        margin, rival = self.margin(self.w, x, label)
        mistake = self.wrong(self.w, x, label)
        sq_norm = x @ x if rival is None else 2 * (x @ x)
        t = tau(self.rule, margin, sq_norm, weight, **self.params)
        if self.rule == "perceptron" and not mistake:
            t = 0.0  # a tie that was predicted right
        if t > 0:
            w = self.w.copy()
            if rival is None:
                w[0] += self.eta0 * t * (x if label == self.classes[1] else -x)
            else:
                w[self.classes.index(label)] += self.eta0 * t * x
                w[rival] -= self.eta0 * t * x
            self.w = w
            self.sum_tau += t
        self.steps.append(Step(self.w, margin, mistake, t > 0))
        return guess

    def start(self, length):
        """The hypothesis before the first example."""
        self.w = np.zeros((len(self.classes) if len(self.classes) > 2 else 1, length))
        if self.coef is not None:
            self.w[:, :-1] = self.coef
        if self.intercept is not None:
            self.w[:, -1] = self.intercept
        self.first = self.w

    def meet(self, label):
        """A class exists from its first example on. The past is told as if it had been there, with zero weights."""
        if label in self.classes:
            return
        before, self.classes = self.classes, sorted([*self.classes, label])

        def grown(w):
            if len(self.classes) <= 2:
                return w  # with one class nothing was learned
            lines = [-w[0] / 2, w[0] / 2] if len(before) == 2 else list(w)
            lines.insert(self.classes.index(label), np.zeros(w.shape[1]))
            return np.array(lines)

        self.w, self.first = grown(self.w), grown(self.first)
        self.steps = [step._replace(after=grown(step.after)) for step in self.steps]

    # -- many examples ----------------------------------------------------------------------------------------

    def partial_fit(self, X, y, weight=None):
        """Every row once, in order; rows of weight 0 are left out. Returns the predictions made on the way."""
        rows = augmented(X, self.fit_intercept)
        weight = np.ones(len(rows)) if weight is None else weight
        return [self.learn(*example) for example in zip(rows, y, weight, strict=True) if example[2] > 0]

    def fit(self, X, y, max_iter, weight=None):
        """Pass after pass in the order of the rows, until one makes no mistake and all rows are right after it."""
        self.classes = sorted(set(y))
        weight = np.ones(len(y)) if weight is None else np.asarray(weight)
        self.examples = list(zip(augmented(X, self.fit_intercept), y, weight, strict=True))
        for _ in range(max_iter):
            before = self.n_mistakes
            self.partial_fit(X, y, weight)
            self.mistakes.append(self.n_mistakes - before)
            if self.mistakes[-1] == 0 and self.errors(self.w) == 0:
                self.converged = True
                break
        return self

    def errors(self, w):
        """Mistakes of a hypothesis on all training rows; with weights, a row counts as many times as it weighs."""
        return sum(weight for x, label, weight in self.examples if self.wrong(w, x, label))

    # -- readouts ---------------------------------------------------------------------------------------------

    def last(self):
        return self.w

    def averaged(self, after=0):
        """Mean of the hypotheses over every example processed, but for the first `after` of them."""
        return np.mean([step.after for step in self.steps[after:]], axis=0)

    def pocket(self):
        """The hypothesis with the fewest training mistakes among those tried (Gallant 1990, with ratchet).

        A hypothesis is tried once, when its run of right answers is longer than every run before it.
        """
        best, tried = self.first, True  # the pocket starts with it: there is nothing to compare
        run = longest = 0
        for step in self.steps:
            if step.updated:
                run, tried = 0, False  # a new hypothesis
            elif step.mistake:
                run = 0
            else:
                run += 1
            if run > longest:
                longest = run
                if not tried:
                    tried = True
                    if self.errors(step.after) < self.errors(best):
                        best = step.after
        return self.w if self.converged else best

    def votes(self, X):
        """Votes for each class: one an example, by the hypothesis in force after it."""
        ballots = np.zeros((len(X), len(self.classes)))
        for i, x in enumerate(augmented(X, self.fit_intercept)):
            for step in self.steps:
                ballots[i, self.classes.index(self.guess(step.after, x))] += 1
        return ballots

    def decision_function(self, X, readout):
        """Scores, in one column for two classes. Voted: shares of votes, for less against for two classes."""
        if readout == "voted":
            votes = self.votes(X)
            return (votes[:, 1:] - votes[:, :1] if len(self.classes) == 2 else votes) / len(self.steps)
        return augmented(X, self.fit_intercept) @ getattr(self, readout)().T

    def predict(self, X, readout):
        """The class with most votes, ties to the first; or the class that the one hypothesis predicts."""
        if readout == "voted":
            return np.array([self.classes[int(np.argmax(row))] for row in self.votes(X)])
        w = getattr(self, readout)()
        return np.array([self.guess(w, x) for x in augmented(X, self.fit_intercept)])


def standardised(X, learned=None):
    """Columns of X as z = (x − mean)/(standard deviation), both over the rows `learned`; constant columns become 0."""
    X = np.asarray(X, dtype=float)
    known = X if learned is None else X[learned]
    mean = [sum(column) / len(known) for column in known.T.tolist()]
    spread = [
        (sum((x - m) ** 2 for x in column) / len(known)) ** 0.5
        for column, m in zip(known.T.tolist(), mean, strict=True)
    ]
    return np.array(
        [[(x - m) / s if s > 0 else 0.0 for x, m, s in zip(row, mean, spread, strict=True)] for row in X.tolist()]
    )


def root_mean_squares(X):
    """√(mean of x²) over the values of each column that are not 0; 1 for a column of zeros."""
    columns = [[x for x in column if x != 0] for column in np.asarray(X, dtype=float).T.tolist()]
    return np.array([(sum(x * x for x in column) / len(column)) ** 0.5 if column else 1.0 for column in columns])
