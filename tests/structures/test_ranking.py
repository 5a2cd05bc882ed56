"""Ranking: search by sorting finds what trying all orders finds."""

import naive_structures as naive
import numpy as np
import pytest

from perceptrons import StructuredPerceptron
from perceptrons.rules import along_rows
from perceptrons.structures import Ranking


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_against_all_orders(n):
    random = np.random.RandomState(n)
    ranking = Ranking()
    for _ in range(20):
        x, w, y = random.randint(-5, 6, (n, 3)), random.normal(size=3), random.permutation(n).tolist()
        scale = random.choice([0.0, 0.5, 3.0])
        scores = {tuple(order): w @ naive.order_features(x, order) for order in naive.orders(n)}
        losses = {order: naive.spearman_loss(y, order) for order in scores}
        for order in list(scores)[:10]:
            np.testing.assert_allclose(ranking.features(x, order), naive.order_features(x, order), atol=1e-12)
            assert ranking.loss(y, order) == pytest.approx(losses[order])
        assert scores[tuple(ranking.argmax(x, w))] == pytest.approx(max(scores.values()))
        found = tuple(ranking.augmented(x, w, y, scale))
        most = max(score + scale * losses[order] for order, score in scores.items())
        assert scores[found] + scale * losses[found] == pytest.approx(most)


@pytest.mark.parametrize("rule", along_rows(even=True))
def test_a_hidden_taste_is_found(rule):
    random = np.random.RandomState(0)
    taste = np.array([1.0, -2.0, 0.5])
    X = [random.normal(size=(random.randint(2, 9), 3)) for _ in range(120)]
    Y = [np.argsort(-(x @ taste)).tolist() for x in X]
    model = StructuredPerceptron(Ranking(), rule=rule, max_iter=20, random_state=0).fit(X[:80], Y[:80])
    assert model.n_search_errors_ == 0
    assert model.loss(X[80:], Y[80:]) < 0.01
    cosine = model.weights_ @ taste / np.linalg.norm(model.weights_) / np.linalg.norm(taste)
    assert cosine > 0.98


def test_refusals():
    with pytest.raises(ValueError, match="must have each number from 0 to 1 once, got \\[1, 1\\]"):
        Ranking().features(np.eye(2), [1, 1])
    with pytest.raises(ValueError, match=r"candidates must be a matrix with at least one row, got shape \(3,\)"):
        Ranking().argmax(np.ones(3), np.ones(3))
