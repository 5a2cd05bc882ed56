"""A recording is the run of `fit`: every position follows from the one before it by the rule's formula."""

import numpy as np
import pytest
from lab_cases import (
    COVER,
    KERNEL_COVER,
    METRIC,
    PARAMS,
    POLICIES,
    SCALE,
    choice,
    kernel_choice,
    order_of,
    points,
    scene,
)
from naive import Naive, augmented, tau
from naive_budget import Forgetron, Projectron, ProjectronPP, Random
from naive_kernel import kernel
from naive_shapes import TINY, alpha_and_c, scaled_step

from perceptrons import rules
from perceptrons.lab.looking import Looker
from perceptrons.lab.recording import fitted, record, training_errors
from perceptrons.lab.scene import estimator_of, held_out, rows_of
from perceptrons.plots.plane import choose

EXACT = ("perceptron", "margin", "uneven")  # on small integers
TWINS = {"random": Random, "forgetron": Forgetron, "projectron": Projectron, "projectron++": ProjectronPP}
ORDERS = ("given", "shuffled", "sorted")
GAUSSIAN = {"kernel": "rbf", "gamma": 0.4}
QUADRATIC = {"kernel": "poly", "gamma": 1.0, "degree": 2, "coef0": 1.0}


def close(ours, theirs, tolerance=1e-9):
    size = np.abs(theirs).max() if np.size(theirs) else 0.0
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * max(size, 1e-300))


class Replay:
    """The formulas, applied to the recorded hypotheses. With a kernel, a hypothesis has a coefficient for each row."""

    def __init__(self, made, recording):
        self.made, self.recording, rows = made, recording, recording.rows
        self.rule, self.params = made.rule, rules.RULES[made.rule](**made.params)._asdict()
        self.codes = np.unique(rows.y, return_inverse=True)[1]
        self.judge = Naive(made.rule, classes=range(self.codes.max() + 1), tie=made.tie)
        if made.estimator == "Perceptron":
            self.features = self.directions = augmented(rows.X, made.fit_intercept)
        else:
            shape = {"gamma": made.gamma, "degree": made.degree, "coef0": made.coef0}
            self.features = kernel(made.kernel, rows.X, rows.X, **shape) + made.fit_intercept
            self.directions = np.eye(len(rows.X))
        prior = np.full(self.features.shape[1], self.params.get("a", 1.0))
        self.precision = [np.diag(prior) for _ in recording.path[0]]  # Σ⁻¹ of each weight vector
        self.k = 0  # steps so far

    def order(self):
        path, n_iter = self.recording.path, self.recording.model.n_iter_
        drawn = None
        if self.made.init == "random":
            drawn = path.shape[2] if path.shape[1] == 1 else path.shape[:0:-1]
        return order_of(self.made, len(self.codes), n_iter, drawn)

    def step(self, w, i, margin, mistake, moves):
        """The hypothesis after row i, None if it stays; and what is recorded of the step."""
        m = TINY if margin <= 0 and not mistake else margin
        x, z = self.features[i], np.zeros_like(w)
        for line, sign in moves:
            z[line] = sign * self.directions[i]
        if self.rule in SCALE:
            after = scaled_step(self.rule, w.ravel(), z.ravel(), m, self.k, **self.params)
            return None if after is None else after.reshape(w.shape), {}, None
        if self.rule in METRIC:
            sigma = {line: np.linalg.inv(self.precision[line]) for line, _ in moves}
            v = sum(x @ sigma[line] @ x for line, _ in moves)
            alpha, c = alpha_and_c(self.rule, m, v, **self.params)
            along = np.zeros_like(w)
            for line, sign in moves:
                along[line] = sign * sigma[line] @ x
            noted = {"tau": self.made.eta0 * alpha, "second": c, "variance": v}
            return (w + self.made.eta0 * alpha * along if alpha else None), noted, c
        if self.rule == "uneven":
            t = float(m <= self.params["beta_positive" if moves[0][1] > 0 else "beta_negative"])
        else:
            t = tau(self.rule, m, len(moves) * (x @ self.directions[i]), **self.params)
        return (w + self.made.eta0 * t * z if t else None), {"tau": self.made.eta0 * t}, None

    def check(self, tolerance):
        """Compare all updates and positions. Return the sum of mistakes, and the sum of hypotheses over examples."""
        found, columns = self.recording, self.recording.columns
        w, mistakes, total = found.path[0], 0, np.zeros_like(found.path[0])
        for t, i in enumerate(self.order(), 1):
            code = int(self.codes[i])
            margin, rival = self.judge.margin(w, self.features[i], code)
            mistake = self.judge.wrong(w, self.features[i], code)
            moves = [(0, 2 * code - 1)] if rival is None else [(code, 1), (rival, -1)]
            after, noted, c = self.step(w, i, margin, mistake, moves)
            mistakes += mistake
            if self.k < len(columns["seen"]) and columns["seen"][self.k] == t:
                if found.readout is not None and found.learner.readout.sums and t > 1:
                    close(found.readout[self.k], total / (t - 1), tolerance)  # the mean up to this example
                assert columns["update"][self.k] == self.k + 1 and columns["row"][self.k] == found.rows.at[i]
                assert columns["code"][self.k] == code and columns["mistake"][self.k] == mistake
                assert columns["rival"][self.k] == (1 - code if rival is None else rival)
                close(columns["before"][self.k], margin, tolerance * 10 + 1e-12)
                after = w if after is None else after  # a step as long as a rounding error
                close(found.path[self.k + 1], after, tolerance)
                reached = self.judge.margin(after, self.features[i], code)[0]
                np.testing.assert_allclose(columns["after"][self.k], reached, rtol=1e-6, atol=1e-6)
                for name, value in noted.items():
                    close(columns[name][self.k], value, max(tolerance, 1e-7))
                for line, _ in moves if c else []:
                    gain = c * np.outer(self.features[i], self.features[i])
                    full = self.params.get("covariance") == "full"
                    self.precision[line] += gain if full else np.diag(np.diag(gain))
                w, self.k = found.path[self.k + 1], self.k + 1
                squares = (w * w).sum() if self.features is self.directions else np.sum((w @ self.features) * w)
                np.testing.assert_allclose(columns["sq_norm"][self.k - 1], squares, rtol=1e-8, atol=1e-9)
            elif after is not None:
                close(after, w)  # no step, or one as long as a rounding error
            total += w
        assert self.k == len(columns["seen"]) == len(found.path) - 1
        return mistakes, total


def as_path(model, recording):
    """The weights that predict, in the shape of a position."""
    if not recording.kernel:
        return np.column_stack([model.coef_, model.intercept_])
    placed = np.zeros((len(model.dual_coef_), len(recording.rows.X)))
    for j, row in enumerate(model.support_):
        placed[:, row] += model.dual_coef_[:, j]
    return placed


def assert_is_the_fit(made, shown, recording):
    """The same counts and bits as `fit`, and what is true of every recording."""
    rows = recording.rows
    model = estimator_of(made).fit(rows.X, rows.y, X_val=rows.X_val, y_val=rows.y_val)
    for name in ("n_seen_", "n_mistakes_", "n_updates_", "n_iter_", "converged_"):
        assert getattr(model, name) == getattr(recording.model, name)
    np.testing.assert_array_equal(model.mistakes_, recording.model.mistakes_)
    np.testing.assert_array_equal(model.validation_errors_, recording.model.validation_errors_)
    assert recording.columns["update"].tolist() == list(range(1, model.n_updates_ + 1))
    lasts = recording.lasts()
    assert len(lasts) == len(recording.path) and lasts.sum() == model.n_seen_
    assert lasts[0] >= 0 and (lasts[1:] >= 1).all()
    if made.readout == "last":
        np.testing.assert_array_equal(recording.path[-1], as_path(model, recording))
    elif made.readout != "voted":
        np.testing.assert_array_equal(recording.readout[-1], as_path(model, recording))
    assert (recording.readout is None) == (made.readout in ("last", "voted"))
    errors = training_errors(made, rows)
    assert len(errors) == model.n_iter_ and np.isclose(errors[-1], 1 - model.score(rows.X, rows.y))
    learned = ~held_out(shown)
    assert sorted(rows.at) == np.flatnonzero(learned).tolist()
    np.testing.assert_array_equal(np.array(shown.rows)[rows.at], rows.X)
    assert_looks_like(model, shown, recording)
    return model


def assert_looks_like(model, shown, recording):
    """At the last position, a look tells the scores and the predictions of the model."""
    X, last = np.array(shown.rows), len(recording.path) - 1
    plane = choose(X, list(shown.names), None, None, 2)
    looker = Looker(recording, plane, X)
    view, size = (-3.75, 3.25, -2.875, 3.125), (5, 4)  # exact in floats, so that on integers ties are true ties
    scores, predicted = looker.look(last, view, size)
    across, up = np.meshgrid(np.linspace(*view[:2], size[0]), np.linspace(*view[2:], size[1]))
    grid = plane.lift(np.column_stack([across.ravel(), up.ravel()])[:, : len(plane.directions)])
    np.testing.assert_allclose(
        scores if len(scores) > 1 else scores[0], model.decision_function(grid).T, rtol=1e-7, atol=1e-9
    )
    np.testing.assert_array_equal(model.classes_[predicted], model.predict(X))


def recorded(made, n_classes, seed, **how):
    X, y = points(15, how.pop("d", 2), n_classes, seed, **how)
    shown = scene(X, y, made, held_out=0.2)
    return shown, record(made, rows_of(shown, made))


# -- linear models ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule, readout, n_classes", COVER)
def test_linear(rule, readout, n_classes):
    for seed, order in enumerate(ORDERS):
        for integers in {False, rule in EXACT}:
            made = choice(rule, readout, order=order, random_state=seed)
            shown, recording = recorded(made, n_classes, seed, integers=integers)
            model = assert_is_the_fit(made, shown, recording)
            mistakes, total = Replay(made, recording).check(0.0 if integers and readout != "averaged" else 1e-8)
            assert mistakes == model.n_mistakes_
            if readout == "averaged":
                close(recording.readout[-1], total / model.n_seen_)


def test_every_rule_is_recorded():
    assert {rule for rule, _, _ in COVER} == set(rules.RULES) and set(PARAMS) <= set(rules.RULES)


OTHERS = {
    "random start": {"init": "random", "order": "shuffled"},
    "ties": {"tie": "positive"},
    "no bias": {"fit_intercept": False},
    "short steps": {"eta0": 0.25},
    "one feature": {"d": 1},
    "five features": {"d": 5},
    "one pass": {"max_iter": 1},
    "no tol": {"tol": None, "max_iter": 12},
    "separable": {"separable": True, "max_iter": 100},
}


@pytest.mark.parametrize("name", OTHERS)
@pytest.mark.parametrize("rule, readout", [("perceptron", "averaged"), ("perceptron", "pocket"), ("arow", "last")])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_other_choices(name, rule, readout, n_classes):
    how = dict(OTHERS[name])
    kept = {key: how.pop(key) for key in ("d", "separable") if key in how}
    if (rule, n_classes) == ("arow", 3):
        readout = "averaged"
    made = choice(rule, readout, **how)
    shown, recording = recorded(made, n_classes, 5, integers=rule != "arow" and "separable" not in kept, **kept)
    model = assert_is_the_fit(made, shown, recording)
    mistakes, _ = Replay(made, recording).check(1e-8)
    assert mistakes == model.n_mistakes_ and model.converged_ == (model.mistakes_[-1] == 0)
    if name == "random start":
        assert recording.path[0].any()


@pytest.mark.parametrize("covariance", rules.CHOICES["covariance"])
def test_covariances(covariance):
    made = choice("arow")
    made.params = {"r": 0.5, "covariance": covariance}
    shown, recording = recorded(made, 2, 0, d=3)
    assert_is_the_fit(made, shown, recording)
    Replay(made, recording).check(1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_pocket_never_gets_worse(n_classes):
    """At each position it holds a hypothesis of the path so far, whose training errors do not rise."""
    made = choice("perceptron", "pocket", max_iter=10, order="shuffled")
    _, recording = recorded(made, n_classes, 1, integers=True)
    slow, rows = Naive(classes=range(n_classes)), recording.rows
    slow.examples = list(zip(augmented(rows.X), rows.y, np.ones(len(rows.y)), strict=True))
    errors = [slow.errors(kept) for kept in recording.readout]
    assert (np.diff(errors) <= 0).all() and len(set(errors)) > 2
    for k, kept in enumerate(recording.readout):
        assert (recording.path[: k + 1] == kept).all(axis=(1, 2)).any()


# -- kernels ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule, readout, n_classes", KERNEL_COVER)
def test_kernels(rule, readout, n_classes):
    for seed, order in enumerate(ORDERS):
        integers = rule in EXACT and seed == 0
        made = kernel_choice(rule, readout, order=order, random_state=seed, **(QUADRATIC if integers else GAUSSIAN))
        shown, recording = recorded(made, n_classes, seed, integers=integers)
        model = assert_is_the_fit(made, shown, recording)
        mistakes, total = Replay(made, recording).check(0.0 if integers and readout != "averaged" else 1e-8)
        assert mistakes == model.n_mistakes_
        if readout == "averaged":
            close(recording.readout[-1], total / model.n_seen_)


@pytest.mark.parametrize("name", ["linear", "sigmoid", "cosine", "laplacian"])
def test_other_kernels(name):
    made = kernel_choice(kernel=name, gamma=0.3, coef0=0.5, fit_intercept=name != "linear")
    shown, recording = recorded(made, 2, 4)
    assert_is_the_fit(made, shown, recording)
    Replay(made, recording).check(1e-8)


@pytest.mark.parametrize("policy, n_classes", POLICIES)
@pytest.mark.parametrize("order", ORDERS)
def test_budgets(policy, n_classes, order):
    made = kernel_choice(budget=4, policy=policy, order=order, random_state=3, **GAUSSIAN)
    shown, recording = recorded(made, n_classes, 2)
    model = assert_is_the_fit(made, shown, recording)
    rows, columns = recording.rows, recording.columns
    settings = {"threshold": made.threshold} if policy.startswith("projectron") else {}
    if policy == "random":
        settings["seed"] = int(np.random.RandomState(made.random_state).randint(2**31))
    slow = TWINS[policy](lambda x, z: np.exp(-made.gamma * ((x - z) @ (x - z))) + 1.0, 4, n_classes, **settings)
    numbers = {id(x): i for i, x in enumerate(rows.X)}
    kept = [x for x in rows.X]
    numbers, k = {id(x): i for i, x in enumerate(kept)}, 0
    for t, i in enumerate(order_of(made, len(kept), model.n_iter_), 1):
        margin, direction, _ = slow.judge(kept[i], int(rows.y[i]))
        updates = slow.updates
        slow.learn(kept[i], int(rows.y[i]))
        if slow.updates == updates:
            continue
        assert columns["seen"][k] == t and columns["row"][k] == rows.at[i] and columns["code"][k] == rows.y[i]
        assert columns["mistake"][k] == (margin <= 0) and np.isnan(columns["tau"][k])
        close(columns["before"][k], margin)
        close(columns["after"][k], slow.judge(kept[i], int(rows.y[i]))[0])
        if n_classes > 2:
            assert columns["rival"][k] == np.argmin(direction)
        placed = np.zeros((len(kept), 1 if n_classes == 2 else n_classes))
        for x, coef in slow.support:
            placed[numbers[id(x)]] += coef
        k += 1
        close(recording.path[k].T, placed)
    assert k == model.n_updates_ and slow.mistakes == model.n_mistakes_
    assert len(model.support_) <= 4 < model.n_updates_


# -- without notes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("made", [choice("arow"), choice("shifting", "pocket"), kernel_choice(), kernel_choice("pa1")])
def test_without_notes_there_is_the_last_position(made):
    X, y = points(15, 2, 2, 0)
    shown = scene(X, y, made, held_out=0.2)
    found, whole = fitted(made, rows_of(shown, made)), record(made, rows_of(shown, made))
    assert not found.complete and len(found.path) == 1
    np.testing.assert_array_equal(found.path[-1], whole.path[-1])
    np.testing.assert_array_equal(found.readout[-1], (whole.path if whole.readout is None else whole.readout)[-1])
    assert_looks_like(whole.model, shown, found)
