"""The structured perceptron: definitions, theorems, and search that is not exact."""

import naive_structures as naive
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from structured_cases import AlwaysWrong, Classes, EarlyUpdate, Greedy, Orders, points, tastes

from perceptrons import Perceptron, StructuredPerceptron
from perceptrons.rules import PA1, PA2, Margin, along_rows
from perceptrons.structures import Ranking

# -- definitions ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["array", "dict", "sparse"])
@pytest.mark.parametrize(("rule", "readout"), [("perceptron", "averaged"), (Margin(2.0), "last")])
def test_several_classes_are_a_structure(rule, readout, form):
    X, y = points()
    settings = {"rule": rule, "readout": readout, "max_iter": 4, "shuffle": False, "tol": None}
    flat = Perceptron(fit_intercept=False, tie="positive", **settings).fit(X, y)
    model = StructuredPerceptron(Classes(form=form), **settings).fit(list(X), y)
    if form == "dict":
        weights = [[model.weights_[label, j] for j in range(4)] for label in range(3)]
    else:
        weights = model.weights_.reshape(3, 4)
    np.testing.assert_array_equal(weights, flat.coef_)
    assert model.mistakes_.tolist() == flat.mistakes_.tolist()
    assert (model.n_seen_, model.n_mistakes_, model.n_updates_) == (flat.n_seen_, flat.n_mistakes_, flat.n_updates_)
    assert model.predict(X) == flat.predict(X).tolist()
    assert model.score(X, y) == flat.score(X, y) and model.loss(X, y) == pytest.approx(1 - flat.score(X, y))
    assert model.margin_bound_ == pytest.approx(flat.margin_bound_)


@pytest.mark.parametrize("rule", along_rows(even=True))
@pytest.mark.parametrize("eta0", [1.0, 0.25])
def test_against_the_twin(rule, eta0):
    X, Y, _ = tastes(noise=1.0)
    twin = naive.Naive(Orders(), 4, rule, eta0=eta0, beta=0.7, C=0.3)
    given = {"margin": Margin(0.7), "pa1": PA1(0.3), "pa2": PA2(0.3)}.get(rule, rule)
    models = [
        StructuredPerceptron(Ranking(), rule=given, readout=readout, eta0=eta0, shuffle=False, max_iter=3).fit(X, Y)
        for readout in ("last", "averaged")
    ]
    for _ in range(3):
        for x, y in zip(X, Y, strict=True):
            twin.learn(x, y)
    for model, expected in zip(models, (twin.w, twin.averaged), strict=True):
        np.testing.assert_allclose(model.weights_, expected, atol=1e-9)
        assert model.n_updates_ == len(twin.steps) > 5
        assert model.n_mistakes_ == twin.mistakes == model.mistakes_.sum()
        assert model.margin_bound_ == pytest.approx(np.linalg.norm(twin.w) / sum(twin.steps))
        assert model.n_search_errors_ == 0 and model.n_seen_ == 120


def test_chunks_of_a_stream_make_one_pass():
    X, Y, _ = tastes(noise=1.0)
    whole = StructuredPerceptron(Ranking(), max_iter=1, shuffle=False).fit(X, Y)
    parts = StructuredPerceptron(Ranking())
    for begin in range(0, 40, 7):
        parts.partial_fit(X[begin : begin + 7], Y[begin : begin + 7])
    np.testing.assert_array_equal(parts.weights_, whole.weights_)
    assert parts.n_updates_ == whole.n_updates_ and parts.n_seen_ == 40 and not parts.converged_


def test_orders_of_passes_are_drawn_by_the_seed():
    X, Y, _ = tastes(noise=1.0)
    one, same, other = (StructuredPerceptron(Ranking(), random_state=seed).fit(X, Y).weights_ for seed in (1, 1, 2))
    assert (one == same).all() and (one != other).any()


# -- theorems -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_novikoff_for_structures(seed):
    X, Y, taste = tastes(seed=seed)
    steps = [
        naive.order_features(x, y) - naive.order_features(x, other)
        for x, y in zip(X, Y, strict=True)
        for other in naive.orders(len(y))
        if other != y
    ]
    gamma, R = min(step @ taste for step in steps), max(map(np.linalg.norm, steps))
    assert gamma > 0
    model = StructuredPerceptron(Ranking(), max_iter=10_000, random_state=seed).fit(X, Y)
    assert model.converged_ and model.mistakes_[-1] == 0 and (model.mistakes_[:-1] > 0).all()
    assert 0 < model.n_updates_ <= (R / gamma) ** 2
    assert model.margin_bound_ >= gamma
    last = StructuredPerceptron(Ranking(), readout="last", max_iter=10_000, random_state=seed).fit(X, Y)
    assert last.score(X, Y) == 1.0


def test_margins_are_kept_for_each_unit_of_loss():
    X, Y, _ = tastes(12)
    rule = Margin(0.5)
    model = StructuredPerceptron(Ranking(), rule=rule, readout="last", max_iter=5000, shuffle=False).fit(X, Y)
    assert model.converged_ and model.score(X, Y) == 1.0
    while True:  # converged is without a mistake; the rule goes on until all margins are wide
        updates = model.n_updates_
        model.partial_fit(X, Y)
        if model.n_updates_ == updates:
            break
    for x, y in zip(X, Y, strict=True):
        for other in naive.orders(len(y)):
            step = naive.order_features(x, y) - naive.order_features(x, other)
            assert other == y or model.weights_ @ step > 0.5 * naive.spearman_loss(y, other) - 1e-9


def test_what_cannot_be_separated_is_given_up():
    X = [np.array([[1.0], [0.0]])] * 2
    with pytest.warns(ConvergenceWarning, match=r"by tol=0\.1: either the structures are not separable"):
        model = StructuredPerceptron(Ranking(), tol=0.1, max_iter=1000).fit(X, [[0, 1], [1, 0]])
    assert model.n_iter_ < 100 and not model.converged_ and model.margin_bound_ < 0.2


# -- search that is not exact ---------------------------------------------------------------------------------


def test_no_step_without_a_violation():
    # Pushing 0 up and 1 down would go on in every pass, because the search never finds 0.
    with pytest.warns(ConvergenceWarning, match="2 passes: the last one made mistakes but no step"):
        model = StructuredPerceptron(AlwaysWrong(2), max_iter=50).fit(np.ones((3, 1)), [0, 0, 0])
    assert model.n_updates_ == 1 and model.n_search_errors_ == 5 and model.n_mistakes_ == 6
    assert np.linalg.norm(model._learner.space.w) == pytest.approx(np.sqrt(2))


def test_early_update_goes_on_where_whole_sequences_are_no_violation():
    random = np.random.RandomState(6)
    hidden = {("token", token, label): random.normal() for token in "pqrs" for label in "ab"}
    hidden |= {("link", *pair): 2 * random.normal() for pair in ("aa", "ab", "ba", "bb")}
    X = ["".join(random.choice(list("pqrs"), random.randint(3, 8))) for _ in range(30)]
    Y = [Greedy().argmax(x, hidden) for x in X]
    early = StructuredPerceptron(EarlyUpdate(), readout="last", max_iter=50, random_state=0).fit(X, Y)
    assert early.converged_ and early.n_search_errors_ == 0 and early.predict(X) == Y
    with pytest.warns(ConvergenceWarning, match="mistakes but no step"):
        whole = StructuredPerceptron(Greedy(), readout="last", max_iter=50, random_state=0).fit(X, Y)
    assert not whole.converged_ and whole.n_search_errors_ > 0 and whole.score(X, Y) < 1.0
    with pytest.raises(ValueError, match=r"rule='margin' adds the loss to scores, which problem\.violation"):
        clone(early).set_params(rule="margin").fit(X, Y)


@pytest.mark.parametrize("seed", range(3))
def test_rounding_is_no_search_error(seed):
    random = np.random.RandomState(seed)
    X, y = random.normal(size=(60, 5)) * 10.0 ** random.randint(-3, 4, 5), random.randint(3, size=60)
    for form in ("array", "dict"):
        model = StructuredPerceptron(Classes(form=form), rule="pa", max_iter=5, random_state=0).fit(X, y)
        assert model.n_search_errors_ == 0 and model.n_updates_ == model.n_mistakes_ > 100
