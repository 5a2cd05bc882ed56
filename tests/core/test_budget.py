"""Budget policies against their slow twins, and what theory says of them."""

import naive_budget
import numpy as np
import pytest
from naive import Naive

from perceptrons.core.counters import MISTAKES, OVERFLOW, SEEN, TAU, UPDATES
from perceptrons.core.kernel import budget
from perceptrons.core.kernel.budget import (
    DAMAGE,
    PROJECTIONS,
    RADIUS,
    RESIDUAL,
    USED,
    Forgetron,
    Projectron,
    ProjectronPP,
    Random,
)
from perceptrons.core.linear.readouts import Last
from perceptrons.core.rule import How
from perceptrons.learn.state import Course, Totals
from perceptrons.rules import PA1, Plain

SEED = 2**63 + 5
PLAIN = Plain()


def rbf(X, gamma=1.0, bias=0.0):
    return np.exp(-gamma * ((X[:, np.newaxis] - X) ** 2).sum(axis=2)) + bias


class Run:
    """The compiled policy on a stream of which all kernel values are known, block by block."""

    def __init__(self, policy, B, classes=2, rule=PLAIN, eta0=1.0, tie_positive=False):
        self.policy, self.how = policy, How(rule, Last(), eta0, 0.0, tie_positive, 0.0)
        self.alpha = np.zeros(B) if classes == 2 else np.zeros((B, classes))
        self.rows, self.born = np.zeros(B, dtype=np.intp), np.zeros(B)  # numbers of the rows kept
        self.table = np.zeros((0, 0) if isinstance(policy, Random) else (B, B))
        self.factor = np.zeros((B, B) if isinstance(policy, Projectron | ProjectronPP) else (0, 0))
        self.memory, self.totals, self.course = np.zeros(budget.SIZE), Totals().array, Course().array

    @property
    def used(self):
        return int(self.memory[USED])

    def block(self, gram, y, weight, start, stop):
        m, source = self.used, np.arange(len(self.rows))
        columns = np.concatenate([self.rows[:m], np.arange(start, stop)])
        self.predicted = np.full(stop - start, -1, dtype=np.int32)
        budget.learn(
            np.ascontiguousarray(gram[start:stop, columns]), np.diagonal(gram)[start:stop].copy(),
            y[start:stop].astype(np.uint8), weight[start:stop], self.how, self.policy, self.alpha, source, self.born,
            self.table, self.factor, self.memory, self.totals, self.course, self.predicted,
        )  # fmt: skip
        self.rows[: self.used] = columns[source[: self.used]]
        return self

    def learn(self, gram, y, weight=None, block=64):
        weight = np.ones(len(y)) if weight is None else weight
        starts = range(0, len(y), block)
        blocks = [self.block(gram, y, weight, i, min(len(y), i + block)).predicted for i in starts]
        self.predicted = np.concatenate(blocks)
        return self


def agree(run, twin, gram, y, weight=None, block=64, atol=1e-9):
    """Learn the same stream with both, and compare everything."""
    weight = np.ones(len(y)) if weight is None else weight
    guesses = [twin.learn(i, int(label), w) for i, (label, w) in enumerate(zip(y, weight, strict=True))]
    run.learn(gram, y, weight, block)
    np.testing.assert_array_equal(run.predicted, guesses)
    assert [run.totals[i] for i in (SEEN, MISTAKES, UPDATES)] == [twin.seen, twin.mistakes, twin.updates]
    assert run.memory[PROJECTIONS] == twin.projections
    assert run.totals[TAU] == pytest.approx(twin.sum_tau)
    assert run.used == len(twin.support) == twin.most <= len(run.rows)
    order = np.argsort(run.born[: run.used]) if isinstance(run.policy, Forgetron) else slice(None)
    np.testing.assert_array_equal(run.rows[: run.used][order], [i for i, _ in twin.support])
    if run.used:
        np.testing.assert_allclose(run.alpha[: run.used][order], [a for _, a in twin.support], rtol=1e-9, atol=atol)
    if run.table.size:
        kept = run.rows[: run.used]
        np.testing.assert_array_equal(run.table[: run.used, : run.used], gram[np.ix_(kept, kept)])


POLICIES = {
    "random": (Random(np.uint64(SEED)), naive_budget.Random, {"seed": SEED}),
    "forgetron": (Forgetron(), naive_budget.Forgetron, {}),
    "projectron": (Projectron(0.1), naive_budget.Projectron, {"threshold": 0.1}),
    "projectron++": (ProjectronPP(0.1), naive_budget.ProjectronPP, {"threshold": 0.1}),
}


def noisy(n, seed=0, classes=2):
    """Points of the plane, labelled by a nonlinear concept; a tenth of the labels are random."""
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, 2))
    y = (X[:, 0] * X[:, 1] > 0).astype(int) if classes == 2 else np.digitize(X[:, 0] + X[:, 1] ** 2, [0, 1.5])
    wrong = random.random(n) < 0.1
    y[wrong] = random.integers(0, classes, wrong.sum())
    return X, y


def pair(name, gram, B, **options):
    policy, twin, params = POLICIES[name]
    rule = {"rule": "pa1", "C": 0.5} if isinstance(options.get("rule"), PA1) else {}
    return Run(policy, B, **options), twin(lambda i, j: gram[i, j], B, **{**options, **rule, **params})


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize(("B", "bias", "tie_positive"), [(12, 0.0, False), (12, 1.0, True), (1, 0.0, False)])
def test_two_classes(name, B, bias, tie_positive):
    X, y = noisy(300)
    gram = rbf(X, bias=bias)
    weight = np.random.default_rng(1).choice([0.0, 1.0] if name == "forgetron" else [0.0, 0.5, 1.0, 3.0], len(y))
    agree(*pair(name, gram, B, tie_positive=tie_positive), gram, y, weight)


@pytest.mark.parametrize("name", ["random", "projectron", "projectron++"])
@pytest.mark.parametrize(("B", "tie_positive"), [(20, False), (1, True)])
def test_several_classes(name, B, tie_positive):
    X, y = noisy(300, classes=3)
    gram = rbf(X, bias=1.0)
    rule = {"rule": PA1(0.5)} if name == "random" else {}
    weight = np.random.default_rng(1).choice([0.0, 0.5, 1.0, 3.0], len(y))
    run, twin = pair(name, gram, B, classes=3, tie_positive=tie_positive, eta0=0.5, **rule)
    agree(run, twin, gram, y, weight)


@pytest.mark.parametrize("name", POLICIES)
def test_blocks_do_not_matter(name):
    X, y = noisy(300)
    one, other = (Run(POLICIES[name][0], 12).learn(rbf(X), y, block=block) for block in (300, 7))
    for array in ("alpha", "rows", "born", "table", "factor", "memory", "totals", "predicted"):
        np.testing.assert_array_equal(getattr(one, array), getattr(other, array))


@pytest.mark.parametrize("name", POLICIES)
def test_the_budget_is_never_exceeded_and_is_used(name):
    X, y = noisy(120)
    run, used = Run(POLICIES[name][0], 5), []
    for i in range(len(y)):
        run.block(rbf(X), y, np.ones(len(y)), i, i + 1)
        used.append(run.used)
    assert max(used) == 5
    assert np.all(np.diff(used) >= 0)


@pytest.mark.parametrize("name", POLICIES)
def test_equal_rows_and_rows_of_zeros(name):
    random = np.random.default_rng(0)
    X = random.integers(-1, 2, size=(200, 2)).astype(float)  # nine different rows, one of them zero
    y = random.integers(0, 2, 200)
    gram = X @ X.T
    run, twin = pair(name, gram, 8)
    agree(run, twin, gram, y)
    if "projectron" in name:
        assert run.used <= 2  # the rows kept are independent


def test_without_weights_and_predictions():
    X, y = noisy(50)
    gram, with_all = rbf(X), Run(Random(np.uint64(1)), 60).learn(rbf(X), y)
    run = Run(Random(np.uint64(1)), 60)
    arrays = run.alpha, np.arange(60), run.born, run.table, run.factor, run.memory, run.totals, run.course
    budget.learn(gram, np.ones(50), y.astype(np.uint8), None, run.how, run.policy, *arrays, None)
    np.testing.assert_array_equal(run.alpha, with_all.alpha)
    np.testing.assert_array_equal(run.totals, with_all.totals)


def test_a_budget_of_all_rows_is_no_budget():
    X, y = noisy(200)
    gram = rbf(X)
    alpha = np.zeros(200)
    for i in range(200):
        y_i = 2 * y[i] - 1
        alpha[i] = y_i if y_i * (gram[i] @ alpha) <= 0 else 0
    for policy in (Random(np.uint64(0)), Forgetron()):
        run = Run(policy, 200).learn(gram, y)
        assert run.rows[: run.used].tolist() == np.flatnonzero(alpha).tolist()
        np.testing.assert_array_equal(run.alpha[: run.used], alpha[alpha != 0])


def test_overflow_is_reported_where_it_happens():
    X, y = noisy(20)
    gram = rbf(X)
    gram[11] = gram[:, 11] = np.inf
    for policy, _, _ in POLICIES.values():
        run = Run(policy, 5).learn(gram, y)
        assert run.course[OVERFLOW] == 12
        assert run.totals[SEEN] == 11
        assert np.all(np.isfinite(run.alpha))


@pytest.mark.parametrize("name", POLICIES)
def test_kernels_that_are_not_positive_do_no_harm(name):
    X, y = noisy(300)
    run = Run(POLICIES[name][0], 12).learn(np.tanh(X @ X.T - 1), y)
    assert run.course[OVERFLOW] == 0
    assert np.all(np.isfinite(run.alpha))
    assert run.used > 1
    if "projectron" in name:
        assert np.diagonal(run.table)[: run.used].min() > 0


# -- Forgetron ------------------------------------------------------------------------------------------------


def test_shrinkage_is_the_largest_that_is_allowed():
    random = np.random.default_rng(0)
    grid = np.linspace(0, 1, 20_001)[1:]
    shrunk = set()
    for _ in range(500):
        delta, slack = 10 ** random.uniform(-3, 0.5), 10 ** random.uniform(-2, 1)
        mu = random.choice([delta / 2, random.uniform(-5, 5), delta / 2 * (1 + 1e-9 * random.normal())])

        def cost(phi, delta=delta, mu=mu):
            return naive_budget.damage(delta, mu, phi)

        phi = budget.shrinkage(delta, mu, slack)
        assert 0 < phi <= 1
        assert cost(phi) <= slack * (1 + 1e-12)
        allowed = grid[cost(grid) <= slack]
        assert allowed.size == 0 or allowed[-1] <= phi + 1e-12
        assert phi == 1 or cost(phi) == pytest.approx(slack)
        shrunk.add((phi < 1, np.sign(delta - 2 * mu)))
    assert shrunk >= {(True, 1), (True, -1), (False, 1), (False, -1), (True, 0)}
    assert budget.shrinkage(0.0, 3.0, 0.5) == 1


@pytest.mark.parametrize("scale", [0.25, 1.0, 8.0])
def test_forgetron_keeps_its_damage_within_bounds(scale):
    X, y = noisy(300)
    gram = scale * rbf(X)
    run = Run(Forgetron(), 8)
    for i in range(len(y)):
        before, alpha, mistakes = run.memory[DAMAGE], run.alpha.copy(), run.totals[MISTAKES]
        run.block(gram, y, np.ones(len(y)), i, i + 1)
        assert run.memory[DAMAGE] <= 15 / 32 * run.totals[MISTAKES]
        if run.totals[MISTAKES] == mistakes:
            np.testing.assert_array_equal(run.alpha, alpha)
            assert run.memory[DAMAGE] == before
    assert run.memory[RADIUS] == max(1.0, scale)
    assert np.abs(run.alpha).min() < 1  # something was shrunk


def test_forgetron_does_not_depend_on_the_unit_of_long_rows():
    X, y = noisy(300)
    one, eight = (Run(Forgetron(), 8).learn(scale * rbf(X), y) for scale in (1.0, 8.0))
    np.testing.assert_array_equal(one.alpha, eight.alpha)
    assert one.memory[DAMAGE] == eight.memory[DAMAGE]


# -- projections ----------------------------------------------------------------------------------------------


def test_projections_are_least_squares():
    """Nearly dependent rows: γ is small and η is 0, so that rows enter until floats cannot tell them apart."""
    X, y = noisy(1500)
    gram = rbf(X, gamma=0.2)
    run, checked = Run(Projectron(0.0), 60), 0
    for i in range(len(y)):
        before, projections = run.alpha.copy(), run.memory[PROJECTIONS]
        run.block(gram, y, np.ones(len(y)), i, i + 1)
        if run.memory[PROJECTIONS] > projections:
            kept = run.rows[: run.used]
            K, k = gram[np.ix_(kept, kept)], gram[kept, i]
            d = ((run.alpha - before) * (2 * y[i] - 1))[: run.used]
            best = np.linalg.lstsq(K, k, rcond=None)[0]
            assert np.linalg.norm(K @ d - k) <= 1e-9 * np.linalg.norm(k)
            assert (d - best) @ K @ (d - best) <= 1e-9  # squared distance in the feature space
            checked += 1
    assert checked > 100
    assert run.used > 40
    assert run.memory[RESIDUAL] <= 1e-10
    L, K = np.tril(run.factor)[: run.used, : run.used], run.table[: run.used, : run.used]
    np.testing.assert_allclose(L @ L.T, K, rtol=0, atol=1e-14)
    assert np.linalg.eigvalsh(K)[0] > 1e-13


def test_projectron_of_threshold_0_is_the_perceptron():
    """With η = 0 a projection loses nothing: three rows span all linear functions, and make the perceptron's steps."""
    random = np.random.default_rng(0)
    X = random.normal(size=(400, 3))
    y = (X @ [1.0, -2.0, 0.5] + random.normal(size=400) > 0).astype(int)
    twin = Naive(fit_intercept=False, classes=[0, 1])
    twin.partial_fit(X, y)
    run = Run(Projectron(0.0), 10).learn(X @ X.T, y)
    assert run.used == 3
    assert run.totals[MISTAKES] == twin.n_mistakes > 20
    np.testing.assert_allclose(run.alpha[:3] @ X[run.rows[:3]], twin.w[0, :-1], atol=1e-10)


@pytest.mark.parametrize("policy", [Projectron, ProjectronPP])
def test_threshold_beyond_all_rows_keeps_none(policy):
    X, y = noisy(50)
    run = Run(policy(1e300), 5).learn(rbf(X), y)
    assert run.used == 0
    assert run.totals[MISTAKES] == run.memory[PROJECTIONS] == 50


def test_projectron_plus_plus_without_tolerance_projects_what_is_in_the_span():
    X = np.repeat(np.array([[1.0, 0.0], [0.0, 1.0]]), 2, axis=0)
    run = Run(ProjectronPP(0.0), 4, eta0=0.5).learn(X @ X.T, np.array([1, 1, 0, 0]), block=2)
    assert run.used == 2  # each row enters by a mistake with α = ±η₀; then m = 1/2, and τ = ℓ/‖P‖² = 1/2
    np.testing.assert_array_equal(run.alpha[:2], [0.75, -0.75])
    assert [run.totals[MISTAKES], run.totals[UPDATES], run.memory[PROJECTIONS]] == [2, 4, 2]
