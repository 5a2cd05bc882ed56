"""A recording is the run of `fit`: every position follows from the one before it by the rule's formula."""

import numpy as np
import pytest
from lab_cases import COVER, KERNEL_COVER, PARAMS, POLICIES, choice, kernel_choice, order_of, points, scene
from lab_replay import Replay, close
from naive import Naive, augmented
from naive_budget import Forgetron, Projectron, ProjectronPP, Random

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
            # Contradicting rows make the variances of CW vanish, and then rounding errors decide.
            shown, recording = recorded(made, n_classes, seed, integers=integers, separable=rule == "cw")
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
    assert (np.diff(errors) <= 0).all() and errors[-1] < errors[0]
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
    kept = list(rows.X)
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


FITTED = [choice("arow"), choice("shifting", "pocket"), kernel_choice(), kernel_choice("pa1", "averaged")]


@pytest.mark.parametrize("made", [*FITTED, kernel_choice(readout="voted")])
def test_without_notes_there_is_the_last_position(made):
    X, y = points(15, 2, 2, 0)
    shown = scene(X, y, made, held_out=0.2)
    found, whole = fitted(made, rows_of(shown, made)), record(made, rows_of(shown, made))
    assert not found.complete and len(found.path) == 1
    np.testing.assert_array_equal(found.path[-1], whole.path[-1])
    if made.readout != "voted":
        np.testing.assert_array_equal(found.readout[-1], (whole.path if whole.readout is None else whole.readout)[-1])
    assert_looks_like(whole.model, shown, found)


# -- long runs --------------------------------------------------------------------------------------------------------

LONG = [choice("arow", "averaged"), choice("perceptron", "pocket"), kernel_choice("pa1", "averaged", **GAUSSIAN)]
LONG += [kernel_choice("perceptron", "pocket", **QUADRATIC), kernel_choice(budget=4, policy="random", **GAUSSIAN)]


@pytest.mark.parametrize("made", LONG)
@pytest.mark.parametrize("n_watched", [0, 29])
def test_later_passes_are_one_update_each(made, n_watched, monkeypatch):
    _, whole = recorded(made, 2, 6)
    monkeypatch.setattr("perceptrons.lab.recording.WATCHED", n_watched)
    _, part = recorded(made, 2, 6)
    n, ends = len(whole.rows.X), whole.columns["seen"]
    watched = n_watched // n * n
    first = (ends <= watched).sum()
    later = slice(first, None)
    assert (part.columns["row"][later] == -1).all() and np.isnan(part.columns["before"][later]).all()
    assert (np.unique((ends[later] - 1) // n) + 1).tolist() == (part.columns["seen"][later] / n).tolist()
    for name in ("update", "seen", "row", "code", "rival", "mistake", "before", "after", "tau"):
        np.testing.assert_array_equal(part.columns[name][:first], whole.columns[name][:first])
    assert part.columns["update"][later].tolist() == [(ends <= seen).sum() for seen in part.columns["seen"][later]]
    close(part.path, whole.path[[0, *part.columns["update"]]])
    assert part.lasts().sum() == part.model.n_seen_
    if made.readout == "averaged":
        after = np.repeat(whole.path, whole.lasts().astype(int), axis=0)  # the hypothesis after each example
        means = [after[: seen - n].mean(axis=0) for seen in part.columns["seen"][later] if seen > n]
        close(part.readout[first or 1 : -1], means)  # at the begin of each later pass
    if made.readout != "last":
        np.testing.assert_array_equal(part.readout[-1], whole.readout[-1])
