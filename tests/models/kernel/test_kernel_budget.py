"""Budgets: never more support vectors than were allowed, in bounded memory, and still learning."""

import pickle
import time

import numpy as np
import pytest
import scipy.sparse as sp
from kernel_cases import RULES, close, rings
from naive_budget import Forgetron, Projectron, ProjectronPP
from sklearn.exceptions import ConvergenceWarning
from training_cases import textbook_kernel

POLICIES = ["random", "forgetron", "projectron", "projectron++"]
MANY = [policy for policy in POLICIES if policy != "forgetron"]  # any number of classes

TWINS = {"forgetron": Forgetron, "projectron": Projectron, "projectron++": ProjectronPP}


def gaussian(bias):
    return lambda x, z: np.exp(-np.sum((x - z) ** 2)) + bias


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("policy", TWINS)
def test_policies_do_what_their_twins_do(policy, n_classes):
    if policy == "forgetron" and n_classes == 3:
        pytest.skip("two classes only")
    X, y = rings(300, gap=-0.5)
    y = y + (n_classes - 2) * (X[:, 0] > 0) * y
    for fit_intercept, threshold, passes in ((True, 0.1, 1), (False, 0.02, 1), (True, 0.3, 3)):
        options = {} if policy == "forgetron" else {"threshold": threshold}
        twin = TWINS[policy](gaussian(fit_intercept), budget=12, classes=n_classes, **options)
        model = textbook_kernel(gamma=1.0, budget=12, policy=policy, fit_intercept=fit_intercept, shuffle=False)
        model.set_params(max_iter=passes, n_iter_no_change=passes, **options)
        guesses = [twin.learn(x, label) for _ in range(passes) for x, label in zip(X, y, strict=True)]
        if passes == 1:
            np.testing.assert_array_equal(model.predict_then_learn(X, y, classes=range(n_classes)), guesses)
        else:
            model.fit(X, y)
        assert (model.n_seen_, model.n_mistakes_, model.n_updates_) == (twin.seen, twin.mistakes, twin.updates)
        assert len(model.support_) <= 12
        scores = model.decision_function(X)
        np.testing.assert_allclose(scores, [twin.score(x) for x in X], rtol=1e-6, atol=1e-6)
        assert twin.most == 12 or threshold == 0.3  # the budget mattered


def test_a_random_row_makes_room():
    """The others keep their coefficients, and in the long run every row is as likely to go as any other."""
    X, y = rings(600, gap=-0.9)
    model, ages = textbook_kernel(gamma=1.0, budget=6, policy="random"), []
    before = {}
    for i in range(600):
        updates = model.n_updates_ if i else 0
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
        now = dict(zip(model.support_.tolist(), model.dual_coef_[0], strict=True))
        gone = set(before) - set(now)
        assert set(now) - set(before) == ({i} if model.n_updates_ > updates else set())
        assert all(now[j] == before[j] for j in set(now) & set(before))
        assert len(gone) == int(len(before) == 6 and i in now)
        ages += [sorted(before).index(j) for j in gone]
        before = now
    assert len(ages) > 100
    assert np.bincount(ages, minlength=6).min() > len(ages) / 6 / 2


@pytest.mark.parametrize("policy", POLICIES)
def test_the_budget_is_kept_at_every_row(policy):
    X, y = rings(150, gap=-0.5)
    model = textbook_kernel(gamma=1.0, budget=7, policy=policy, threshold=0.01)
    for i in range(150):
        model.partial_fit(X[i : i + 1], y[i : i + 1], classes=[0, 1])
        assert len(model.support_) <= 7
        np.testing.assert_array_equal(model.support_vectors_, X[model.support_])
        assert model.dual_coef_.shape == (1, len(model.support_))
    assert len(model.support_) == 7 and model.n_seen_ == 150
    assert model.n_support_.sum() == 7


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("layout", [np.asarray, sp.csr_array], ids=["dense", "csr"])
def test_chunks_change_nothing(policy, layout):
    X, y = rings(700, gap=-0.3)
    fits = []
    for cuts in ([], [1, 2, 40, 256, 257], list(range(50, 700, 50))):
        model = textbook_kernel(gamma=1.0, budget=20, policy=policy, random_state=3)
        for rows, labels in zip(np.split(X, cuts), np.split(y, cuts), strict=True):
            model.partial_fit(layout(rows), labels, classes=[0, 1])
        fits.append(model)
    for model in fits[1:]:
        np.testing.assert_array_equal(model.support_, fits[0].support_)
        assert (model.n_mistakes_, model.n_updates_) == (fits[0].n_mistakes_, fits[0].n_updates_)
        close(model.dual_coef_, fits[0].dual_coef_)
        close(model.decision_function(X), fits[0].decision_function(X))


@pytest.mark.parametrize("policy", POLICIES)
def test_a_long_stream_takes_bounded_memory(policy):
    X, y = rings(100_000, gap=-0.1)
    model, sizes = textbook_kernel(gamma=1.0, budget=30, policy=policy), []
    for begin in range(0, 100_000, 5000):
        model.partial_fit(X[begin : begin + 5000], y[begin : begin + 5000], classes=[0, 1])
        assert len(model.support_) <= 30
        sizes.append(len(pickle.dumps(model)))
    assert model.n_seen_ == 100_000
    assert max(sizes) < 100_000  # 100 kB: some matrices of 30 × 30
    assert len(model.support_) == 30 or policy.startswith("projectron")
    assert model.n_mistakes_ < 40_000


@pytest.mark.parametrize("policy", POLICIES)
def test_policies_learn_what_is_not_linear(policy):
    """A coin makes 1,000 mistakes on these 2,000 rows, and a tenth or so of them cannot be told."""
    X, y = rings(2000, gap=-0.1)
    model = textbook_kernel(gamma=1.0, budget=10, policy=policy).partial_fit(X, y)
    assert len(model.support_) == 10
    assert model.n_mistakes_ < (350 if policy.startswith("projectron") else 800)
    clear, labels = rings(500)
    fitted = textbook_kernel(gamma=1.0, budget=30, policy=policy).fit(clear, labels)
    assert fitted.score(*rings(1000, seed=1)) > 0.95 and len(fitted.support_) <= 30


@pytest.mark.parametrize("policy", MANY)
def test_several_classes(policy):
    X, y = rings(1500)
    y = y + (X[:, 0] > 0) * y
    model = textbook_kernel(gamma=1.0, budget=40, policy=policy)
    for i in range(0, 1000, 100):
        model.partial_fit(X[i : i + 100], y[i : i + 100])
        assert len(model.support_) <= 40
    assert model.dual_coef_.shape == (3, len(model.support_))
    assert model.score(X[1000:], y[1000:]) > 0.6
    K = np.exp(-((X[:50, None] - model.support_vectors_[None]) ** 2).sum(axis=2))
    close(model.decision_function(X[:50]), K @ model.dual_coef_.T + model.intercept_)


@pytest.mark.parametrize("policy", POLICIES)
def test_a_budget_that_is_not_reached_changes_nothing(policy):
    """With a threshold of 0 a projectron projects nothing but rows that its own span holds already."""
    X, y = rings(60)
    plain = textbook_kernel(gamma=5.0).partial_fit(X, y)
    model = textbook_kernel(gamma=5.0, budget=60, policy=policy, threshold=0.0).partial_fit(X, y)
    if policy == "projectron++":  # it steps on rows within the margin, too
        assert model.n_updates_ >= model.n_mistakes_
    elif policy != "forgetron":
        close(model.decision_function(X), plain.decision_function(X))
        assert model.n_mistakes_ == plain.n_mistakes_
    assert len(model.support_) < 60


@pytest.mark.parametrize("rule", RULES)
def test_random_works_with_every_rule(rule):
    X, y = rings(400, gap=0.0)
    for labels in (y, y + (X[:, 0] > 0) * y):
        model = textbook_kernel(gamma=1.0, rule=rule, budget=25, policy="random").partial_fit(X, labels)
        assert len(model.support_) == 25
        assert model.n_mistakes_ < 250
    seeds = [
        textbook_kernel(gamma=1.0, rule=rule, budget=10, policy="random", random_state=seed).partial_fit(X, y)
        for seed in (1, 1, 2)
    ]
    supports = [model.support_.tolist() for model in seeds]
    assert supports[0] == supports[1] != supports[2]


def test_training_stops_when_passes_get_no_better():
    X, y = rings(300, gap=-0.8)
    for policy in POLICIES:
        begin = time.perf_counter()
        model = textbook_kernel(gamma=1.0, budget=10, policy=policy, n_iter_no_change=4, max_iter=500).fit(X, y)
        assert time.perf_counter() - begin < 10
        best = int(np.argmin(model.mistakes_))
        assert model.n_iter_ == 500 or model.n_iter_ == best + 5 or model.mistakes_[-1] == 0
        assert not model.converged_ or model.score(X, y) == 1
    clear, labels = rings(200, gap=1.0)
    easy = textbook_kernel(gamma=1.0, budget=50, policy="projectron").fit(clear, labels)
    assert easy.converged_ and easy.mistakes_[-1] == 0 and easy.score(clear, labels) == 1


REFUSED = {
    "averaged": ({"readout": "averaged"}, "readout"),
    "voted": ({"readout": "voted"}, "readout"),
    "pocket": ({"readout": "pocket"}, "readout"),
    "projectron with pa": ({"rule": "pa", "policy": "projectron"}, "rule"),
    "projectron++ with margin": ({"rule": "margin", "policy": "projectron++"}, "rule"),
    "forgetron with pa1": ({"rule": "pa1", "policy": "forgetron"}, "rule"),
    "forgetron with eta0": ({"eta0": 0.5, "policy": "forgetron"}, "eta0"),
    "forgetron with class weights": ({"class_weight": {0: 2.0}, "policy": "forgetron"}, "weight"),
    "policy": ({"policy": "oldest"}, "policy.*oldest"),
    "budget of none": ({"budget": 0}, "budget.*0"),
    "threshold": ({"threshold": -1.0}, "threshold.*-1"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_has_no_meaning_is_refused(case):
    X, y = rings(30)
    settings, message = REFUSED[case]
    model = textbook_kernel(**{"budget": 5, **settings})
    assert model._guard  # its locks are made when they are first used
    before = dict(vars(model))
    for learn in ("fit", "partial_fit") if hasattr(model, "partial_fit") else ("fit",):
        with pytest.raises(ValueError, match=message):
            getattr(model, learn)(X, y)
        assert vars(model) == before


def test_the_forgetron_knows_two_classes_and_no_weights():
    X, y = rings(30)
    forgetron = textbook_kernel(budget=5, policy="forgetron")
    with pytest.raises(ValueError, match="weight"):
        forgetron.fit(X, y, sample_weight=np.full(30, 2.0))
    with pytest.raises(ValueError, match="two classes"):
        forgetron.fit(X, np.arange(30) % 3)
    forgetron.partial_fit(X, y)
    scores = forgetron.decision_function(X)
    with pytest.raises(ValueError, match="two classes"):
        forgetron.partial_fit(X, np.arange(30) % 3)
    np.testing.assert_array_equal(forgetron.decision_function(X), scores)


@pytest.mark.parametrize("policy", ["random", "forgetron", "projectron", "projectron++"])
def test_giving_up_with_a_budget_is_said(policy):
    X, y = rings(300, gap=-0.3)
    with pytest.warns(ConvergenceWarning, match="budget") as caught:
        model = textbook_kernel(gamma=1.0, budget=5, policy=policy).fit(X, y)
    assert not model.converged_ and str(model.n_iter_) in str(caught[0].message)
    with pytest.warns(ConvergenceWarning, match="max_iter=3") as caught:
        textbook_kernel(gamma=1.0, budget=5, policy=policy, max_iter=3).fit(X, y)
    assert "averaged" not in str(caught[0].message)  # which a budget refuses


def test_a_budget_takes_the_memory_it_uses():
    X, y = rings(100)
    assert textbook_kernel(budget=10**6).fit(X, y).score(X, y) > 0.9


def test_a_budget_may_not_change_in_a_stream():
    X, y = rings(100, gap=-0.3)
    for before, after in ((20, 5), (None, 5), (20, None)):
        model = textbook_kernel(gamma=1.0, budget=before).partial_fit(X, y).set_params(budget=after)
        with pytest.raises(ValueError, match="budget was changed"):
            model.partial_fit(X, y)
