"""What the server answers equals what the library's estimators do when they are called directly, bit for bit."""

import json

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("msgspec", reason="the server needs the extra 'serve'")
pytest.importorskip("uvicorn", reason="the server needs the extra 'serve'")

from perceptrons import (
    KernelPerceptron,
    PassiveAggressiveClassifier,
    PassiveAggressiveRegressor,
    Perceptron,
    TableClassifier,
    load,
)
from perceptrons.data import source
from perceptrons.rules import AROW, PA1

NDJSON, SVMLIGHT, CSV = "application/x-ndjson", "text/x-svmlight", "text/csv"


def stream(kind, labels, n=30, seed=0):
    """Examples whose label depends on their features, with some noise."""
    random = np.random.default_rng(seed)
    found = []
    for values in np.round(random.normal(size=(n, 4)), 3).tolist():
        k = int(values[0] + values[1] > 0) + int(len(labels) > 2 and values[2] > 0.5)
        if kind == "dicts":
            x = {"a": values[0], "b": values[1], "sort": "xyz"[int(abs(values[2])) % 3], f"new{len(found) // 8}": 1}
        elif kind == "rows":
            x = values
        else:
            where = sorted(random.choice(50, 3, replace=False).tolist())
            x = [[*where, 50], [*values[:3], 1.0]]
        found.append((x, labels[k] if random.random() > 0.1 else labels[0]))
    return found


def as_one(x):
    """An example as the library takes it."""
    return tuple(x) if isinstance(x, list) and isinstance(x[0], list) else x


def exactly(found, expected):
    """Compare values and their types."""
    return type(found) is type(expected) and found == expected


TWO, THREE, BOOLS = ["ham", "spam"], [1, 2, 3], [False, True]
CASES = {
    "perceptron, dicts": ("Perceptron", {}, Perceptron, "dicts", TWO),
    "perceptron, rows, 3 classes": ("Perceptron", {}, Perceptron, "rows", THREE),
    "perceptron, pairs": ("Perceptron", {}, Perceptron, "pairs", BOOLS),
    "arow": ("Perceptron", {"rule": "arow"}, lambda: Perceptron(rule="arow"), "dicts", ["a", "b", "c"]),
    "pa1 with C": (
        "Perceptron",
        {"rule": {"rule": "pa1", "C": 0.1}},
        lambda: Perceptron(rule=PA1(C=0.1)),
        "pairs",
        THREE,
    ),
    "averaged": ("Perceptron", {"readout": "averaged"}, lambda: Perceptron(readout="averaged"), "dicts", TWO),
    "voted": ("Perceptron", {"readout": "voted"}, lambda: Perceptron(readout="voted"), "rows", TWO),
    "scaled online": ("Perceptron", {"scale": "online"}, lambda: Perceptron(scale="online"), "dicts", TWO),
    "full covariance (in a thread)": (
        "Perceptron",
        {"rule": {"rule": "arow", "covariance": "full"}},
        lambda: Perceptron(rule=AROW(covariance="full")),
        "rows",
        TWO,
    ),
    "passive-aggressive": (
        "PassiveAggressiveClassifier",
        {"C": 0.5},
        lambda: PassiveAggressiveClassifier(C=0.5),
        "rows",
        TWO,
    ),
    "regression": (
        "PassiveAggressiveRegressor",
        {"C": 0.5, "epsilon": 0.2},
        lambda: PassiveAggressiveRegressor(C=0.5, epsilon=0.2),
        "rows",
        [-1.5, 2.5],
    ),
    "kernel": ("KernelPerceptron", {"gamma": 0.5}, lambda: KernelPerceptron(gamma=0.5), "rows", TWO),
    "kernel with budget": (
        "KernelPerceptron",
        {"gamma": 0.5, "budget": 5, "policy": "random"},
        lambda: KernelPerceptron(gamma=0.5, budget=5, policy="random"),
        "rows",
        THREE,
    ),
}


@pytest.fixture(params=CASES.values(), ids=CASES.keys())
def case(request, web):
    """A model on the server, the same from the library, and a stream."""
    estimator, params, make, kind, labels = request.param
    return web.create(estimator, params), make(), stream(kind, labels)


def test_requests_one_by_one_equal_the_library(case, content):
    remote, model, examples = case
    assert remote.predict(examples[0][0]) is None
    for i, (x, y) in enumerate(examples):
        expected = model.predict_one(as_one(x))
        if i % 3 == 0:
            assert exactly(remote.predict(x), expected)
        before = getattr(model, "n_mistakes_", 0)
        model.learn_one(as_one(x), y)
        if i % 3 == 1:
            answer = remote.do("predict-learn", {"x": x, "y": y})
            assert exactly(answer["prediction"], expected)
            told = expected is not None and (abs(expected - y) > 0.2 if isinstance(y, float) else expected != y)
            assert answer["mistake"] == told and answer["position"] == i + 1
        else:
            assert remote.learn(x, y) == {"position": i + 1, "learned": 1, "mistakes": model.n_mistakes_ - before}
    assert remote.counts == (model.n_seen_, model.n_mistakes_, model.n_updates_)
    state = remote.state()
    assert state["classes"] == (model.classes_.tolist() if hasattr(model, "classes_") else None)
    assert (state["n_features"], state["examples_logged"]) == (model.n_features_in_, len(examples))
    assert remote.content() == content(model)


def test_many_predictions_and_scores_equal_the_library(case):
    remote, model, examples = case
    for x, y in examples[:20]:
        model.learn_one(as_one(x), y)
    remote.do("learn", {"examples": [{"x": x, "y": y} for x, y in examples[:20]]})
    body = {"examples": [{"x": x} for x, _ in examples[20:]]}
    answer = remote.do("predict?scores=true", body)
    assert answer["predictions"] == [model.predict_one(as_one(x)) for x, _ in examples[20:]]
    for found, (x, _) in zip(answer["scores"], examples[20:], strict=True):
        score = model.score_one(as_one(x))
        expected = {str(label): each for label, each in score.items()} if isinstance(score, dict) else score
        assert found == pytest.approx(expected, rel=1e-12)
        assert remote.do("predict?scores=true", {"x": x})["score"] == found
    assert remote.state()["position"] == 1  # predictions changed nothing


def test_explanations_equal_the_library(case):
    remote, model, examples = case
    x = examples[0][0]
    if isinstance(model, KernelPerceptron) or getattr(model, "readout", "") == "voted":
        remote.learn_all(examples)
        assert "of features" in remote.refused(422, "explain", {"x": x})
        return
    assert "nothing has been learned" in remote.refused(409, "explain", {"x": x})
    for each, y in examples:
        model.learn_one(as_one(each), y)
    remote.learn_all(examples)
    unknown = {**x, "never seen": 1} if isinstance(x, dict) else x
    answer, told = remote.do("explain", {"x": unknown}), model.explain_one(as_one(unknown))
    assert [tuple(term.values()) for term in answer["contributions"]] == [tuple(each) for each in told]
    assert answer["unknown"] == list(told.unknown) == (["never seen"] if isinstance(x, dict) else [])
    total = answer["intercept"] + sum(term["contribution"] for term in answer["contributions"])
    assert answer["score"] == pytest.approx(total) == pytest.approx(told.score)
    assert (answer["label"], answer["against"]) == (told.label, told.against)


def test_classes_that_are_known_beforehand_are_learned_from_the_first_example(web, content):
    remote, model = web.create(classes=["no", "yes"]), Perceptron()
    model.learn_one({"a": 1.0}, "yes", classes=["no", "yes"])
    assert remote.learn({"a": 1.0}, "yes")["mistakes"] == model.n_mistakes_ == 1
    assert remote.content() == content(model)


# -- bodies with many examples ----------------------------------------------------------------------------------------


def as_json(examples):
    return json.dumps({"examples": [{"x": x, "y": y} for x, y in examples]}).encode()


def as_lines(examples):
    return b"\n\n".join(json.dumps({"x": x, "y": y}).encode() for x, y in examples)


def as_svmlight(examples):
    return "".join(
        f"{y} " + " ".join(f"{i}:{v!r}" for i, v in zip(*x, strict=True)) + "\n" for x, y in examples
    ).encode()


def as_csv(examples):
    names = sorted({name for x, _ in examples for name in x})
    lines = [",".join([*names, "y"])]
    lines += [",".join([*(str(x.get(name, "")) for name in names), str(y)]) for x, y in examples]
    return "\n".join(lines).encode()


BODIES = {
    "few": ("application/json", as_json, "dicts", TWO, 60),
    "few rows": ("application/json", as_json, "rows", THREE, 60),
    "few pairs": ("application/json", as_json, "pairs", TWO, 60),
    "JSON": ("application/json", as_json, "dicts", TWO, 1300),
    "NDJSON": (NDJSON, as_lines, "rows", THREE, 1300),
    "NDJSON, pairs": (NDJSON, as_lines, "pairs", TWO, 300),
    "svmlight": (SVMLIGHT, as_svmlight, "pairs", [0, 1, 2], 1300),
    "CSV": (CSV, as_csv, "dicts", TWO, 300),
}


def sorted_if_csv(kind, examples):
    """In CSV, the order of columns is the order in which features get their numbers."""
    if kind == CSV:
        return [({name: x[name] for name in sorted(x)}, y) for x, y in examples]
    return examples


@pytest.mark.parametrize("verb", ["learn", "predict-learn"])
@pytest.mark.parametrize(("kind", "write", "sort", "labels", "n"), BODIES.values(), ids=BODIES.keys())
def test_a_body_equals_its_examples_one_by_one(web, content, learned, kind, write, sort, labels, n, verb):
    first, second = stream(sort, labels, 10, seed=1), stream(sort, labels, n, seed=2)
    if sort == "pairs" and kind == SVMLIGHT:
        first, second = ([(x, float(y)) for x, y in part] for part in (first, second))
    first, second = sorted_if_csv(kind, first), sorted_if_csv(kind, second)
    readout = "averaged" if verb == "learn" else "last"
    remote, model = web.create(params={"readout": readout}), learned(Perceptron(readout=readout), first)
    remote.learn_all(first)
    guesses, mistakes = [], -model.n_mistakes_
    for x, y in second:
        guesses.append(model.predict_one(as_one(x)))
        model.learn_one(as_one(x), y)
    mistakes += model.n_mistakes_
    answer = remote.do(verb, write(second), kind=kind)
    if verb == "learn":
        assert answer == {"position": 11, "learned": n, "mistakes": mistakes}
    else:
        wrong = sum(guess != y for guess, (_, y) in zip(guesses, second, strict=True))
        assert answer == {"predictions": guesses, "mistakes": wrong, "position": 11}
    assert remote.counts == (model.n_seen_, model.n_mistakes_, model.n_updates_)
    assert remote.content() == content(model)
    expected = [model.predict_one(as_one(x)) for x, _ in second[:5]]
    assert remote.do("predict", write(second[:5]), kind=kind)["predictions"] == expected
    after = stream(sort, labels, 5, seed=3)
    remote.learn_all(after)
    assert remote.content() == content(learned(model, after))  # learning goes on


def test_regression_in_bulk(web, content, learned):
    examples = [(x, x[0] - 2 * x[1]) for x, _ in stream("rows", TWO, 150)]
    remote = web.create("PassiveAggressiveRegressor")
    assert remote.do("learn", as_json(examples))["learned"] == 150
    found, expected = remote.content(), content(learned(PassiveAggressiveRegressor(), examples))
    for each in (found, expected):
        del each["learner"]["unit"]["mean"]  # of the labels of the last call
    assert found == expected


def test_svmlight_counts_from_one_if_asked_to(web, content, learned):
    examples = [([[0, 2], [1.0, 2.0]], 1.0), ([[1], [3.0]], -1.0)]
    remote = web.create()
    remote.do("learn?zero_based=false", b"1 1:1 3:2\n-1 2:3\n", kind=SVMLIGHT)
    assert remote.content() == content(learned(Perceptron(), examples))
    assert "not for bodies" in remote.refused(400, "learn?target=a", b"1 1:1\n", kind=SVMLIGHT)


def test_csv_names_its_column_of_labels(web, content, learned):
    remote = web.create()
    body = b'size,"the colour",is\r\n1.5,"red, dark",yes\r\n,blue,no\r\n'
    remote.do("learn?target=is", body, kind=CSV)
    examples = [({"size": 1.5, "the colour": "red, dark"}, "yes"), ({"the colour": "blue"}, "no")]
    assert remote.content() == content(learned(Perceptron(), examples))
    assert "no column 'y'" in remote.refused(422, "learn", body, kind=CSV)


def unlearnable(x, y, sort):
    """An example whose fault only learning finds: its squared length overflows."""
    return {"dicts": {"a": 1e300}, "rows": [1e300] * 4, "pairs": [[0], [1e300]]}[sort], y


def mislabelled(x, y, sort):
    """An example with a label of another type."""
    return x, 5 if isinstance(y, str) else "text"


@pytest.mark.parametrize("spoiled", [unlearnable, mislabelled, None])
@pytest.mark.parametrize(("kind", "write", "sort", "labels", "n"), BODIES.values(), ids=BODIES.keys())
def test_a_fault_at_the_end_of_a_body_changes_nothing(web, kind, write, sort, labels, n, spoiled):
    if spoiled is mislabelled and kind in (SVMLIGHT, CSV):
        pytest.skip("in this format, all labels are of one type")
    remote = web.create(params={"rule": "arow"})
    first = stream(sort, labels, 10, seed=1)
    if kind == SVMLIGHT:
        first = [(x, float(y)) for x, y in first]
    remote.learn_all(first)
    before = remote.file(), remote.state()
    *examples, last = stream(sort, labels, n)
    body = write([*examples, spoiled(*last, sort)]) if spoiled else write([*examples, last]) + b"\n{"
    answer = web.call("POST", f"{remote.path}/learn", body, kind=kind)
    assert answer.status in (400, 422), answer.body
    assert (remote.file(), remote.state()) == before
    assert len(remote.log()) == 10
    assert remote.learn(*first[0])["position"] == 11


FAULTS = {
    "no JSON": (400, b"{"),
    "no object": (422, b"[]"),
    "no x": (422, {"y": 1}),
    "unknown field": (422, {"x": [1.0], "y": 1, "weight": 2}),
    "no label": (422, {"x": [1.0, 2.0]}),
    "label null": (422, {"x": [1.0, 2.0], "y": None}),
    "missing value": (422, {"x": [1.0, None], "y": 1}),
    "too short": (422, {"x": [1.0], "y": 1}),
    "text in a row": (422, {"x": [1.0, "a"], "y": 1}),
    "label of another type": (422, {"x": [1.0, 2.0], "y": "a"}),
    "overflow": (422, {"x": [1e300, 1e300], "y": 1}),
    "infinite": (422, b'{"x": [1e999, 1], "y": 1}'),
    "huge integer": (422, {"x": [10**400, 1], "y": 1}),
    "negative index": (422, {"x": [[-1], [1.0]], "y": 1}),
    "huge index": (422, {"x": [[2**70], [1.0]], "y": 1}),
    "unequal pair": (422, {"x": [[0, 1], [1.0]], "y": 1}),
    "nested": (422, {"x": [[[1.0]], [[1.0]]], "y": 1}),
    "no examples": (422, {"examples": []}),
    "mixed kinds": (422, {"examples": [{"x": [1.0, 2.0], "y": 0}, {"x": {"a": 1}, "y": 1}]}),
    "not UTF-8": (400, b'{"x": {"\xff": 1}, "y": 1}'),
    "half a surrogate": (400, b'{"x": {"\\ud800": 1}, "y": 1}'),
}


@pytest.mark.parametrize("keyed", [False, True], ids=["short", "usual"])  # a key goes the usual way, see `web.short`
@pytest.mark.parametrize(("status", "body"), FAULTS.values(), ids=FAULTS.keys())
def test_a_faulty_example_changes_nothing(web, status, body, keyed):
    remote = web.create()
    remote.learn_all([([1.0, 2.0], 0), ([2.0, 1.0], 1)])
    before = remote.file(), remote.state()
    answer = web.call("POST", f"{remote.path}/learn", body, key="fault" if keyed else None)
    if status == 400:
        assert answer.status in (400, 422)
    else:
        assert answer.status == status
    assert len(answer.json["error"]) > 5
    assert (remote.file(), remote.state()) == before
    remote.learn([1.0, 1.0], 0, key="fault" if keyed else None)  # a refused request does not use up its key


@pytest.mark.parametrize("kind", ["application/json", NDJSON])
@pytest.mark.parametrize("keyed", [False, True], ids=["short", "usual"])
def test_deep_nesting_is_refused(web, kind, keyed):
    remote = web.create()
    body = b'{"x": ' + b"[" * 20_000 + b"]" * 20_000 + b', "y": 1}'
    answer = web.call("POST", f"{remote.path}/learn", body, kind=kind, key="deep" if keyed else None)
    assert answer.status in (400, 422)


def test_another_type_of_body_is_refused(web):
    remote = web.create()
    assert "text/csv" in remote.refused(415, "learn", b"<x/>", kind="text/xml")
    assert "application/json" in remote.refused(415, "label", b"a,b", kind=CSV)
    assert "no parameter 'colour'" in remote.refused(400, "learn?colour=red", {"x": [1.0], "y": 1})


# -- models that exist already ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [lambda: Perceptron(rule="arow"), lambda: KernelPerceptron(budget=5)])
def test_an_uploaded_model_goes_on_learning(web, saved, content, make):
    examples = stream("rows", TWO, 60)
    X, y = np.array([x for x, _ in examples[:30]]), [y for _, y in examples[:30]]
    model = make().fit(X, y)
    web.ok("POST", "/v1/models/uploaded?window=50", saved(model), kind="application/octet-stream")
    state = web.ok("GET", "/v1/models/uploaded")
    assert (state["n_features"], state["classes"], state["window"]["size"]) == (4, TWO, 50)
    for x, y in examples[30:]:
        assert web.ok("POST", "/v1/models/uploaded/predict", {"x": x})["prediction"] == model.predict_one(x)
        web.ok("POST", "/v1/models/uploaded/learn", {"x": x, "y": y})
        model.learn_one(x, y)
    assert web.model("uploaded").content() == content(model)
    web.ok("DELETE", "/v1/models/uploaded")
    assert web.refused(404, "GET", "/v1/models/uploaded")


def test_a_damaged_model_file_is_refused(web, saved, learned):
    content = bytearray(saved(learned(Perceptron(), stream("rows", TWO))))
    content[-3] ^= 1
    error = web.refused(422, "POST", "/v1/models/broken", bytes(content), kind="application/octet-stream")
    assert "model file" in error and "/" not in error.split()[0]
    assert web.refused(404, "GET", "/v1/models/broken")


def test_a_model_of_a_table_takes_tables(web, saved, content, tmp_path):
    table = "age,job,y\n" + "".join(
        f"{20 + i},{'cook' if i % 3 else 'smith'},{'a' if i % 2 else 'b'}\n" for i in range(40)
    )
    (tmp_path / "table.csv").write_text(table)
    model = Perceptron().fit(source(tmp_path / "table.csv", target="y"))
    assert hasattr(model, "encoding_")
    web.ok("POST", "/v1/models/table", saved(model), kind="application/octet-stream")
    more = "age,job,y\n31,cook,b\n35,smith,a\n22,smith,a\n"
    (tmp_path / "more.csv").write_text(more)
    answer = web.ok("POST", "/v1/models/table/predict-learn", more.encode(), kind=CSV)
    rows = source(tmp_path / "more.csv", like=model.encoding_)
    assert answer["predictions"] == model.predict_then_learn(rows).tolist()
    assert web.model("table").content() == content(model)
    before = web.ok("GET", "/v1/models/table")
    assert web.refused(422, "POST", "/v1/models/table/learn", b"age,job,y\n31,cook,b\n32,cook\n", kind=CSV)
    assert web.ok("GET", "/v1/models/table") == before


def test_a_model_for_tables_learns_and_stays_one(web, saved, tmp_path):
    rows = pd.DataFrame({"age": range(20, 60), "job": ["cook", "smith"] * 20, "y": ["a", "b", "b", "a"] * 10})
    model = TableClassifier().fit(rows, "y")
    web.ok("POST", "/v1/models/frames", saved(model), kind="application/octet-stream")
    more = pd.DataFrame({"age": [31, 35, 22], "job": ["cook", "smith", "smith"], "y": ["b", "a", "a"]})
    answer = web.ok("POST", "/v1/models/frames/learn", more.to_csv(index=False).encode(), kind=CSV)
    assert answer["learned"] == 3
    (tmp_path / "served").write_bytes(web.model("frames").file())
    again = load(tmp_path / "served")
    assert type(again) is TableClassifier and again.n_seen_ == model.n_seen_ + 3
    model.partial_fit(more, "y")
    np.testing.assert_array_equal(again.coef_, model.coef_)


# -- creating ---------------------------------------------------------------------------------------------------------

WRONG = {
    "estimator": {"estimator": "Nothing"},
    "no learner of streams": {"estimator": "SequenceTagger"},
    "rule": {"params": {"rule": "nope"}},
    "parameter of a rule": {"params": {"rule": {"rule": "pa1", "C": "x"}}},
    "value": {"params": {"eta0": -1.0}},
    "parameter": {"params": {"depth": 3}},
    "early stopping": {"params": {"early_stopping": True}},
    "precomputed kernel": {"estimator": "KernelPerceptron", "params": {"kernel": "precomputed"}},
    "window": {"window": 0},
    "keep": {"keep": -1},
    "snapshot_every": {"snapshot_every": 0},
    "delta": {"delta": 1.0},
    "unknown": {"colour": "red"},
    "no classes": {"classes": []},
    "classes of two types": {"classes": ["a", 1]},
    "classes in regression": {"estimator": "PassiveAggressiveRegressor", "classes": [1, 2]},
}


@pytest.mark.parametrize("body", WRONG.values(), ids=WRONG.keys())
def test_a_model_with_wrong_settings_is_not_created(web, body, request):
    path = f"/v1/models/{request.node.callspec.id.replace(' ', '-')}"
    assert len(web.refused(422, "POST", path, body)) > 10
    assert web.refused(404, "GET", path)


def test_models_are_listed_and_deleted(server, web):
    remote = web.create(params={"rule": "arow"}, window=7, keep=3)
    remote.learn([1.0], 0)
    (listed,) = (each for each in web.ok("GET", "/v1/models")["models"] if each["name"] == remote.name)
    assert listed == remote.state()
    assert (listed["params"], listed["window"]["size"], listed["keep"]) == ({"rule": "arow"}, 7, 3)
    assert "already" in web.refused(409, "POST", remote.path, {})
    web.ok("DELETE", remote.path)
    for method, path in (("GET", ""), ("DELETE", ""), ("POST", "/learn"), ("GET", "/log"), ("GET", "/file")):
        assert remote.name in web.refused(404, method, remote.path + path, {"x": [1.0], "y": 0})
    assert [path.name for path in (server.folder / "models").iterdir() if remote.name in path.name] == []
    assert web.create(name=remote.name).counts == (0, 0, 0)
