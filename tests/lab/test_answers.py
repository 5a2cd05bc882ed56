"""Answers are those of the library, called directly on the same rows; what cannot be answered is explained."""

import json

import numpy as np
import pytest
from lab_cases import COVER, KERNEL_COVER, POLICIES, choice, decoded, kernel_choice, number, points, scene

import perceptrons
from perceptrons import rules
from perceptrons.lab import limits, messages, sets
from perceptrons.lab.answers import SKETCHED, Session, welcome
from perceptrons.lab.messages import Look, Named, Read, Show
from perceptrons.theory import mistake_bound, separability, trace

VIEW = (-3.75, 3.25, -2.875, 3.125)  # of a grid that is exact in floats


def ask(session, request):
    return decoded(session.answer(request))


def library(made):
    """The estimator of a model, as a user writes it."""
    settings = {"rule": rules.RULES[made.rule](**made.params), "readout": made.readout, "eta0": made.eta0}
    settings |= {"fit_intercept": made.fit_intercept, "tie": made.tie, "max_iter": made.max_iter, "tol": made.tol}
    settings |= {"shuffle": made.order == "shuffled", "random_state": made.random_state}
    if made.estimator == "Perceptron":
        return perceptrons.Perceptron(init=made.init, **settings)
    settings |= {name: getattr(made, name) for name in ("kernel", "gamma", "degree", "coef0", "budget", "threshold")}
    return perceptrons.KernelPerceptron(policy=made.policy, **settings)


def learned(shown, made, held):
    """The rows that a model learns, in its order, with their numbers; and those that are held out."""
    X, y = np.array(shown.rows), np.array(shown.classes)[shown.labels]
    at = np.setdiff1d(np.arange(len(y)), held)
    at = at[np.argsort(y[at], kind="stable")] if made.order == "sorted" else at
    beside = [i for i in sorted(held) if y[i] in y[at]]
    return X, y, at, ({"X_val": X[beside], "y_val": y[beside]} if beside else {})


def assert_same(told, value):
    """A value of an answer is that of the library, to the last bit; infinite numbers are text."""
    value = np.asarray(value)
    if value.dtype.kind == "f":
        told = np.array([number(each) for each in np.ravel(np.array(told, dtype=object))]).reshape(value.shape)
    np.testing.assert_array_equal(told, value)


def assert_shows(shown, made, head, facts, arrays):
    """Facts and arrays of one model, compared with a fit, its trace and its bound."""
    X, y, at, beside = learned(shown, made, head["held_out"])
    model = library(made).fit(X[at], y[at], **beside)
    counts = ("converged", "n_iter", "n_seen", "n_mistakes", "n_updates", "mistakes")
    for name in (*counts, "validation_errors", "classes"):
        assert_same(facts[name], getattr(model, f"{name}_"))
    assert number(facts["margin_bound"]) == model.margin_bound_ and facts["n_rows"] == len(at)
    assert facts["training_error"] == 1 - model.score(X[at], y[at])
    expected = 1 - model.score(beside["X_val"], beside["y_val"]) if beside else None
    assert facts["validation_error"] == expected
    if not facts["by_vote"]:
        assert_same(facts["intercept"], model.intercept_)
    if facts["kernel"]:
        assert facts["support"] == at[model.support_].tolist()
        assert made.kernel not in ("rbf", "poly", "sigmoid", "laplacian") or facts["gamma"] == model.gamma_
    elif not facts["by_vote"]:
        assert_same(facts["coef"], model.coef_)
        np.testing.assert_array_equal(
            arrays["readout" if made.readout != "last" else "path"][-1],
            np.column_stack([model.coef_, model.intercept_]),
        )
    if not facts["kernel"] and rules.kind_of(rules.RULES[made.rule]) == "tau" and made.readout != "pocket":
        run = trace(library(made), X[at], y[at], **beside)
        for ours, theirs in (("seen", run.seen), ("row", at[run.row]), ("before", run.margin_before), ("tau", run.tau)):
            np.testing.assert_array_equal(arrays[ours], theirs)
        lines = run.weights if run.weights.ndim == 3 else run.weights[:, :, np.newaxis]
        start = arrays["path"][:1]
        np.testing.assert_array_equal(arrays["path"], np.concatenate([start, lines.transpose(0, 2, 1)]))
        assert facts["proof"]["gamma"] == run.margin and facts["proof"]["growth"] == run.growth
    if "bound" in facts.get("bound", {}):
        about = {"X": X[at]}
        if facts["kernel"]:
            about = {"K": model.kernel_matrix(X[at]), "K_error": model.kernel_error(X[at])}
        rule = rules.RULES[made.rule](**made.params)
        found = mistake_bound(y=y[at], rule=rule, fit_intercept=made.fit_intercept, **about)
        assert number(facts["bound"]["bound"]) == found.bound and facts["bound"]["text"] == str(found)
    return model


# -- random scenes ----------------------------------------------------------------------------------------------------


def drawn(random):
    """Two models for the same number of classes, which is drawn, too."""
    n_classes = int(random.integers(2, 4))
    models = []
    for _ in range(2):
        how = {"order": str(random.choice(["given", "shuffled", "sorted"])), "random_state": int(random.integers(99))}
        how |= {"fit_intercept": bool(random.integers(3)), "tie": str(random.choice(["mistake", "positive"]))}
        how |= {"tol": [1e-3, None][random.integers(2)], "max_iter": int(random.integers(1, 25))}
        kinds = [[(*each, None) for each in COVER], [(*each, "kernel") for each in KERNEL_COVER]]
        kinds.append([("perceptron", policy, c, "budget") for policy, c in POLICIES])
        of = [each for each in kinds[random.integers(3)] if each[2] == n_classes]
        rule, readout, _, kind = of[random.integers(len(of))]
        if kind is None:
            made = choice(rule, readout, init=str(random.choice(["zeros", "random"])), **how)
            made.eta0 = 0.5 if rule in ("perceptron", "pa", "arow") and random.integers(3) == 0 else 1.0
        elif kind == "budget":
            made = kernel_choice(rule, gamma=0.4, budget=5, policy=readout, **how)
        else:
            kernel = str(random.choice(["rbf", "poly", "linear", "laplacian", "sigmoid", "cosine"]))
            made = kernel_choice(rule, readout, kernel=kernel, gamma=0.5, **how)
        models.append(made)
    return n_classes, models


@pytest.mark.parametrize("seed", range(60))
def test_scenes_are_answered_as_by_the_library(seed, monkeypatch):
    monkeypatch.setattr("perceptrons.lab.proofs.PATIENCE", 600.0)  # seconds: a fresh clone compiles in the first proof
    random = np.random.default_rng(seed)
    n_classes, models = drawn(random)
    d, integers = (1, 2, 2, 5)[seed % 4], bool(random.integers(2))
    X, y = points(int(random.integers(6, 22)), d, n_classes, seed, integers=integers, separable=seed % 5 == 0 and d > 1)
    shown, session = scene(X, y, *models, held_out=[0.0, 0.2][random.integers(2)]), Session()
    head, arrays = ask(session, Show(seed, shown))
    assert head["id"] == seed and head["whole"] and "error" not in head
    assert len(head["held_out"]) == round(shown.held_out * len(y))
    kept = np.setdiff1d(np.arange(len(y)), head["held_out"])
    for verdict, bias in zip(head["verdicts"], (True, False), strict=True):
        found = separability(X[kept], y[kept], fit_intercept=bias)
        assert verdict["separable"] == found.separable and verdict["margin"] == found.margin
        assert verdict["support"] == kept[found.support].tolist()
    assert np.shape(head["plane"]["points"]) == (len(y), min(d, 2)) or d == 1
    for k, (made, facts) in enumerate(zip(models, head["models"], strict=True)):
        assert "error" not in facts, facts
        mine = {name.split(".", 1)[1]: array for name, array in arrays.items() if name.startswith(f"{k}.")}
        model = assert_shows(shown, made, head, facts, mine)
        position = len(mine["update"])
        looked, seen = ask(session, Look(7, k, position, VIEW, (5, 4)))
        assert looked["at"] == position
        np.testing.assert_array_equal(model.classes_[seen["predicted"]], model.predict(X))
        if d == 2:
            grid = np.stack(np.meshgrid(np.linspace(*VIEW[:2], 5), np.linspace(*VIEW[2:], 4)), axis=-1).reshape(-1, 2)
            scores = model.decision_function(grid)
            told = seen["scores"][0] if n_classes == 2 else seen["scores"].T
            np.testing.assert_allclose(told, scores, 1e-7, 1e-9)
    again, few = ask(session, Show(8, shown, whole=False))
    assert not again["whole"] and again["held_out"] == head["held_out"] and again["verdicts"] == head["verdicts"]
    for told, facts in zip(again["models"], head["models"], strict=True):
        for name in ("converged", "n_iter", "n_mistakes", "n_updates", "intercept", "coef", "training_error"):
            assert told.get(name) == facts.get(name)
    for name, array in few.items():
        whole = arrays[name if name in arrays else name.replace("readout", "path")]
        assert len(array) in (0, 1, len(whole))  # nothing, the last position, or all
        np.testing.assert_array_equal(array, whole[len(whole) - len(array) :])


def test_sketches_of_long_runs_are_short():
    X, y = points(40, 2, 2, 0)
    shown, session = scene(X, y, choice(max_iter=100, tol=None, order="shuffled")), Session()
    whole, sketch = (ask(session, Show(1, shown, whole=each))[1] for each in (True, False))
    n = len(whole["0.update"])
    assert n > SKETCHED >= len(sketch["0.update"]) and len(sketch["0.path"]) == len(sketch["0.update"]) + 1
    chosen = sketch["0.update"] - 1
    assert chosen[0] == 0 and chosen[-1] == n - 1
    for name in ("row", "before", "sq_norm"):
        np.testing.assert_array_equal(sketch[f"0.{name}"], whole[f"0.{name}"][chosen])
    np.testing.assert_array_equal(sketch["0.path"], whole["0.path"][[0, *chosen + 1]])


def test_positions_in_between_are_scored():
    X, y = points(12, 2, 3, 0)
    session = Session()
    _, arrays = ask(session, Show(1, scene(X, y, choice(), choice(readout="averaged"))))
    grid = np.stack(np.meshgrid(np.linspace(*VIEW[:2], 5), np.linspace(*VIEW[2:], 4)), axis=-1).reshape(-1, 2)
    for k, name in enumerate(("0.path", "1.readout")):
        for at in range(0, len(arrays[name]), 3):
            w = arrays[name][at]
            scores = w[:, :-1] @ grid.T + w[:, -1:]
            np.testing.assert_allclose(ask(session, Look(2, k, at, VIEW, (5, 4)))[1]["scores"], scores, 1e-12, 1e-12)


# -- named sets -------------------------------------------------------------------------------------------------------

GEOMETRY = {  # with a bias, through the origin; None where the description does not say
    "clouds": (True, None),
    "and": (True, False),
    "or": (True, False),  # the point 0 is on every line through it
    "xor": (False, False),
    "offset": (True, False),
    "thin": (True, True),
    "touching": (False, False),
    "noise": (False, False),
    "recency": (False, None),
    "moons": (False, None),
    "three": (True, None),
}


@pytest.mark.parametrize("name", sets.SETS)
def test_named_sets_are_as_described(name):
    session = Session()
    found, _ = ask(session, Named(1, name))
    assert len(found["rows"]) == len(found["labels"]) <= limits.ROWS
    kernel = kernel_choice(kernel="poly", max_iter=1000) if name == "xor" else kernel_choice(gamma=2.0, max_iter=1000)
    head, _ = ask(session, Show(2, scene(found["rows"], found["labels"], choice(max_iter=1000), kernel)))
    assert len(np.unique(found["labels"])) == (3 if name == "three" else 2)
    for verdict, expected in zip(head["verdicts"], GEOMETRY[name], strict=True):
        assert expected is None or verdict["separable"] == expected
    linear, curved = head["models"]
    assert linear["converged"] == GEOMETRY[name][0] or name == "thin"
    if name in ("xor", "moons"):
        assert curved["converged"] and curved["training_error"] == 0.0
    if name == "thin":  # two parallel lines, 0.12 apart in height, of slope 0.4
        assert head["verdicts"][0]["margin"] == pytest.approx(0.06 / np.hypot(1, 0.4), rel=0.02)
    if name == "touching":
        assert np.allclose(head["verdicts"][0]["point"], 0.0)


def test_averaging_helps_against_recency():
    found, _ = ask(Session(), Named(1, "recency"))
    models = [choice(readout=readout, order="sorted", max_iter=1) for readout in ("last", "averaged")]
    head, _ = ask(Session(), Show(2, scene(found["rows"], found["labels"], *models)))
    last, averaged = (facts["training_error"] for facts in head["models"])
    assert averaged < last
    assert found["labels"] == sorted(found["labels"])


def test_the_welcome_lists_what_there_is():
    told = messages.plain(welcome("a.csv"))
    assert [each["name"] for each in told["rules"]] == list(rules.RULES) and told["file"] == "a.csv"
    assert [each["name"] for each in told["sets"]] == list(sets.SETS)
    for each in told["rules"]:
        assert {part["name"]: part["default"] for part in each["parameters"]} == rules.RULES[each["name"]]()._asdict()
    json.dumps(told, allow_nan=False)


# -- tables -----------------------------------------------------------------------------------------------------------


def test_tables_are_read(tmp_path):
    (tmp_path / "a.csv").write_text("x,y,kind\n1.5,2,ä\n-3,0.1,b\n")
    expected = {"names": ["x", "y"], "values": [[1.5, 2.0], [-3.0, 0.1]], "labels": ["ä", "b"], "target": "kind"}
    requests = [Read(1, text="x,y,kind\n1.5,2,ä\n-3,0.1,b\n"), Read(1)]
    requests.append(Read(1, name="b.csv", content=(tmp_path / "a.csv").read_bytes()))
    for request in requests:
        head, _ = ask(Session(str(tmp_path / "a.csv")), request)
        assert expected.items() <= head.items()
    assert "no file" in ask(Session(), Read(1))[0]["error"]
    assert "nowhere.csv" in ask(Session("nowhere.csv"), Read(1))[0]["error"]
