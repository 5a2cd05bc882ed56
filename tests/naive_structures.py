"""Slow twins of learning over structures: all structures are tried, and every hypothesis is kept."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
from naive import tau


class Naive:
    """A structured perceptron over problems whose structures can be listed: problem.all(x), features as arrays."""

    def __init__(self, problem, n_features, rule="perceptron", *, eta0=1.0, beta=1.0, C=1.0):
        self.problem, self.rule, self.eta0, self.beta, self.C = problem, rule, eta0, beta, C
        self.w = np.zeros(n_features)
        self.hypotheses, self.steps, self.mistakes = [], [], 0

    def best(self, x, added=lambda y: 0.0):
        """The first of the structures with the largest score + what is added to it."""
        return max(self.problem.all(x), key=lambda y: self.w @ self.problem.features(x, y) + added(y))

    def learn(self, x, y):
        problem = self.problem
        self.mistakes += self.best(x) != y
        if self.rule == "margin":
            found = self.best(x, lambda other: self.beta * problem.loss(y, other))
        else:
            found = self.best(x)
        direction = problem.features(x, y) - problem.features(x, found)
        if found != y and direction.any():
            margin, cost, sq_norm = self.w @ direction, problem.loss(y, found), direction @ direction
            if self.rule == "margin":
                length = 1.0 if margin <= self.beta * cost else 0.0
            elif self.rule == "perceptron":
                length = 1.0 if margin <= 0 else 0.0
            elif self.rule == "pa":
                length = max(0.0, cost - margin) / sq_norm
            elif self.rule == "pa1":
                length = min(self.C, max(0.0, cost - margin) / sq_norm)
            elif self.rule == "pa2":
                length = max(0.0, cost - margin) / (sq_norm + 1 / (2 * self.C))
            else:
                raise ValueError(self.rule)
            if cost == 1.0:
                assert length == tau(self.rule, margin, sq_norm, beta=self.beta, C=self.C)
            self.w = self.w + self.eta0 * length * direction
            if length:
                self.steps.append(self.eta0 * length)
        self.hypotheses.append(self.w)

    @property
    def averaged(self):
        return np.mean(self.hypotheses, axis=0)


def is_tree(heads):
    """Whether these heads are a tree with one root: every word gets to 0."""
    for word in range(1, len(heads) + 1):
        steps = 0
        while word and steps <= len(heads):
            word, steps = heads[word - 1], steps + 1
        if word:
            return False
    return list(heads).count(0) == 1


def is_projective(heads):
    """Whether every word between a head and its word is below that head."""

    def below(word, head):
        while word and word != head:
            word = heads[word - 1]
        return word == head

    for word, head in enumerate(heads, 1):
        for between in range(min(word, head) + 1, max(word, head)):
            if not below(between, head):
                return False
    return True


def trees(n):
    """All projective trees of n words."""
    return [heads for heads in map(list, product(range(n + 1), repeat=n)) if is_tree(heads) and is_projective(heads)]


def tree_score(scores, heads):
    return sum(scores[head][word] for word, head in enumerate(heads, 1))


def orders(n):
    return list(map(list, permutations(range(n))))


def order_features(x, y):
    """The mean of x_i − x_j over all pairs with i before j."""
    pairs = [x[i] - x[j] for place, i in enumerate(y) for j in y[place + 1 :]]
    return np.mean(pairs, axis=0) if pairs else np.zeros(x.shape[1])


def spearman_loss(y, y_hat):
    """(1 − ρ)/2, ρ by its definition as a correlation of places."""
    if len(y) < 2:
        return 0.0
    return (1 - np.corrcoef(np.argsort(y), np.argsort(y_hat))[0, 1]) / 2
