"""What is wrong with a request is told in a sentence. No request raises an error, and the page goes on after it."""

import json

import msgspec
import numpy as np
import pytest
from lab_cases import choice, decoded, kernel_choice, points, scene

from perceptrons.lab import limits, messages
from perceptrons.lab.answers import Session
from perceptrons.lab.messages import Choice, Look, Named, Read, Scene, Show, Write

X, y = points(12, 2, 2, 0)
THREE = points(12, 2, 3, 0)
FINE = {"rows": X.tolist(), "labels": y.tolist(), "classes": [0, 1]}


def ask(session, request):
    return decoded(session.answer(request))[0]


def sent(request):
    """A request as a page sends it: text, which the server decodes."""
    return messages.decoder.decode(json.dumps(request))


def shown(**changes):
    return {"do": "show", "id": 1, "scene": {**FINE, **changes}}


def model(**choices):
    return shown(models=[choices])


def assert_goes_on(session):
    head, arrays = decoded(session.answer(Show(5, scene(X, y))))
    assert "error" not in head and "error" not in head["models"][0] and len(arrays["0.path"]) > 1
    assert "error" not in ask(session, Look(6, 0, 1, (0.0, 1.0, 0.0, 1.0), (3, 3)))


# -- what the server cannot decode ------------------------------------------------------------------------------------

UNREADABLE = {
    "nothing": "",
    "not JSON": "show me",
    "half": json.dumps(shown())[:-1],
    "a list": "[1, 2]",
    "a number": "7",
    "null": "null",
    "no kind": '{"id": 1}',
    "unknown kind": '{"do": "delete", "id": 1}',
    "no id": json.dumps({"do": "set", "name": "and"}),
    "unknown field": json.dumps({**shown(), "more": 1}),
    "unknown field of a scene": json.dumps(shown(colour="red")),
    "unknown field of a model": json.dumps(model(alpha=1)),
    "unknown estimator": json.dumps(model(estimator="SVC")),
    "unknown order": json.dumps(model(order="best")),
    "NaN": json.dumps(shown(rows=[[float("nan"), 1.0]])),
    "infinity": json.dumps(shown(rows=[[float("inf"), 1.0]])),
    "too large a number": json.dumps(shown()).replace("[[", "[[1e999, 1], [", 1),
    "text for a number": json.dumps(shown(rows=[["1", "2"]])),
    "fraction for a label": json.dumps(shown(labels=[0.5])),
    "passes": json.dumps(model(max_iter=1.5)),
    "rows": json.dumps(shown(rows=7)),
    "deep": json.dumps(shown()).replace('"rows": [', '"rows": ' + "[" * 5000, 1),
    "size": json.dumps({"do": "look", "id": 1, "model": 0, "at": 0, "view": [0, 1, 0, 1], "size": [3]}),
    "content": json.dumps({"do": "read", "id": 1, "content": "not base64 !"}),
}


@pytest.mark.parametrize("text", UNREADABLE.values(), ids=UNREADABLE)
def test_unreadable_requests_have_one_kind_of_error(text):
    with pytest.raises(msgspec.DecodeError) as error:
        messages.decoder.decode(text)
    assert str(error.value)


# -- what makes no scene ----------------------------------------------------------------------------------------------

BAD_SCENES = {
    "too many points": (shown(rows=[[0.0, 0.0]] * 1001, labels=[0] * 1001), "1,000"),
    "labels": (shown(labels=[0]), "12 points, but 1 labels"),
    "coordinates": (shown(rows=[[1.0]] * 12), "1 coordinate, expected 2"),
    "too far": (shown(rows=[[1e13, 0.0]] * 12), "too far away"),
    "no features": (shown(names=[]), "1 to 64 features"),
    "many features": (shown(names=["x"] * 65), "1 to 64 features"),
    "label above": (shown(labels=[2] * 12), "not one of the classes"),
    "label below": (shown(labels=[-1] * 12), "not one of the classes"),
    "unsorted": (shown(classes=[1, 0]), "sorted"),
    "equal": (shown(classes=["a", "a"]), "different"),
    "mixed": (shown(classes=[1, "a"]), "sorted"),
    "one class": (shown(classes=[1]), "2 to 6 classes"),
    "many classes": (shown(classes=list(range(7))), "2 to 6 classes"),
    "fractions": (shown(classes=[0.5, 1.5]), "discrete"),
    "no models": (shown(models=[]), "one or two models"),
    "many models": (shown(models=[{}] * 3), "one or two models"),
    "held out": (shown(held_out=0.95), "between 0 and 0.9"),
    "held out below": (shown(held_out=-0.1), "between 0 and 0.9"),
    "no passes": (model(max_iter=0), "at least 1"),
    "passes": (model(max_iter=limits.VISITS), "at most 8,333 passes"),
    "huge": (model(max_iter=10**30), "at most 8,333 passes"),
    "seed": (model(random_state=-1), "seed"),
    "large seed": (model(random_state=2**32), "seed"),
    "rule": (model(rule="svm"), "rule must be one of"),
    "readout": (model(readout="best"), "readout must be one of"),
    "kernel": (model(kernel="precomputed"), "kernel must be one of"),
    "policy": (model(policy="oldest"), "policy must be one of"),
}


@pytest.mark.parametrize("request_, word", BAD_SCENES.values(), ids=BAD_SCENES)
def test_scenes_that_cannot_be_shown(request_, word):
    session = Session()
    for do in ("show", "write"):
        head = ask(session, sent({**request_, "do": do}))
        if do == "show" or word != "discrete":
            assert head["id"] == 1 and word in head["error"] and "models" not in head
    assert_goes_on(session)


OTHER_REQUESTS = {
    "look before show": (Look(1, 0, 0, (0.0, 1.0, 0.0, 1.0), (3, 3)), "not been shown"),
    "another model": (Look(1, 9, 0, (0.0, 1.0, 0.0, 1.0), (3, 3)), "not been shown"),
    "unknown set": (Named(1, "../and"), "there is no set"),
    "no file": (Read(1), "no file to read"),
    "empty table": (Read(1, text=" \n"), "empty"),
    "no table": (Read(1, content=bytes(range(256))), "not text"),
    "no such column": (Read(1, text="1,2,a\n3,4,b\n", target="z"), "does not exist"),
    "no such model": (Write(1, scene(X, y), 1), "does not exist"),
    "model below": (Write(1, scene(X, y), -1), "does not exist"),
    "parameter": (Write(1, scene(X, y, Choice(params={"beta": 1.0}))), "no parameter 'beta'"),
}


@pytest.mark.parametrize("request_, word", OTHER_REQUESTS.values(), ids=OTHER_REQUESTS)
def test_other_requests_that_cannot_be_answered(request_, word):
    session = Session()
    assert word in ask(session, request_)["error"]
    assert_goes_on(session)


@pytest.mark.parametrize("estimator", ["Perceptron", "KernelPerceptron"])
@pytest.mark.parametrize("readout", ["last", "voted", "averaged"])
def test_looks_at_nowhere(estimator, readout):
    session = Session()
    head, arrays = decoded(session.answer(Show(1, scene(X, y, choice(readout=readout, estimator=estimator)))))
    view, size, end = (0.0, 1.0, 0.0, 1.0), (3, 3), len(arrays["0.update"])
    for at, grid in ((-1, size), (end + 1, size), (10**30, size), (0, (1, 5)), (0, (-3, -3)), (0, (10**20, 10**20))):
        assert len(ask(session, Look(2, 0, at, view, grid))["error"]) > 20
    for far in (1e200, 1e308):  # told, or answered with what floats have
        session.answer(Look(2, 0, end, (-far, far, -far, far), size))
    assert "error" not in ask(session, Look(2, 0, end, view, size)) and "error" not in head


def test_the_last_scene_is_forgotten_with_an_error():
    """A look is never about another scene than the page shows."""
    session = Session()
    session.answer(Show(1, scene(X, y)))
    assert "error" in ask(session, sent(shown(classes=[1, 0])))
    assert "not been shown" in ask(session, Look(2, 0, 0, (0.0, 1.0, 0.0, 1.0), (3, 3)))["error"]


# -- models that the library refuses ----------------------------------------------------------------------------------

REFUSED = {
    "voted with a covariance": (choice("arow", "voted"), 2, "votes"),
    "voted with a scale": (choice("romma", "voted"), 2, "votes"),
    "uneven margins": (choice("uneven"), 3, "3 classes"),
    "forgetron": (kernel_choice(budget=3, policy="forgetron"), 3, "two classes"),
    "forgetron with steps": (kernel_choice(budget=3, policy="forgetron", eta0=0.5), 2, "eta0"),
    "covariance in a kernel's space": (kernel_choice("arow"), 2, "kernels"),
    "scale in a kernel's space": (kernel_choice("alma"), 2, "kernels"),
    "averaged budget": (kernel_choice(readout="averaged", budget=3), 2, "budget"),
    "rule on a budget": (kernel_choice("pa1", budget=3), 2, "projectron++"),
    "no budget at all": (kernel_choice(budget=0), 2, "'budget'"),
    "C": (Choice(rule="pa1", params={"C": -1.0}), 2, "C must be > 0"),
    "text": (Choice(rule="pa1", params={"C": "x"}), 2, "C must be a number"),
    "covariance": (Choice(rule="arow", params={"covariance": "half"}), 2, "'diagonal' or 'full'"),
    "parameter": (Choice(rule="pa1", params={"beta": 1.0}), 2, "no parameter 'beta'"),
    "eta0": (choice(eta0=0.0), 2, "eta0"),
    "tol": (choice(tol=-1.0), 2, "tol"),
    "gamma": (kernel_choice(gamma=-1.0), 2, "gamma"),
    "degree": (kernel_choice(kernel="poly", degree=-1), 2, "degree"),
    "huge degree": (kernel_choice(kernel="poly", degree=10**30), 2, "overflows"),
    "huge steps": (choice(eta0=1e308), 2, "overflow"),
    "huge steps in a kernel's space": (kernel_choice(eta0=1e308), 2, "overflow"),
}


@pytest.mark.parametrize("made, n_classes, word", REFUSED.values(), ids=REFUSED)
def test_a_model_that_is_refused_leaves_the_other(made, n_classes, word):
    rows, labels = (X, y) if n_classes == 2 else THREE
    for place in (0, 1):
        for whole in (True, False):
            models, session = [choice(), choice()], Session()
            models[place] = made
            head, arrays = decoded(session.answer(Show(1, scene(rows, labels, *models), whole=whole)))
            assert word in head["models"][place]["error"] and len(head["verdicts"]) == 2
            assert "\n" not in head["models"][place]["error"] and set(head["models"][place]) == {"error"}
            assert "error" not in head["models"][1 - place] and len(arrays[f"{1 - place}.path"]) > 1
            assert not any(name.startswith(f"{place}.") for name in arrays)
            view = (0.0, 1.0, 0.0, 1.0)
            assert "error" in ask(session, Look(2, place, 0, view, (3, 3)))
            assert "error" not in ask(session, Look(2, 1 - place, 0, view, (3, 3)))


def test_points_that_teach_nothing():
    for rows, labels in (([], []), ([[1.0, 2.0]], [0]), ([[1.0, 2.0]] * 3, [1] * 3)):
        head = ask(Session(), Show(1, Scene(rows, labels, [0, 1], models=[choice(), choice()])))
        assert [set(told) for told in head["models"]] == [{"error"}] * 2 and head["verdicts"] == []
        assert all(told["error"].startswith("Add points") for told in head["models"])


@pytest.mark.parametrize("scale", [1e11, 1e-150, 1e-300, 1e-310, 1e-320, 0.0])
@pytest.mark.parametrize("made", [choice(), choice("pa"), choice("arow"), choice("romma"), kernel_choice()])
def test_points_of_any_size_are_answered(scale, made):
    head = ask(Session(), Show(1, scene(scale * X, y, made, Choice(fit_intercept=False))))
    assert "error" not in head
    for told in head["models"]:
        assert "error" not in told or len(told["error"]) > 20


# -- how answers are written ------------------------------------------------------------------------------------------


def test_arrays_are_sent_bit_by_bit():
    random = np.random.default_rng(0)
    arrays = {
        "odd": random.normal(size=(3, 1, 5)),
        "numbers": np.array([[1, -2, 3]], dtype=np.int64),
        "flags": np.array([True, False, True]),
        "special": np.array([np.nan, np.inf, -np.inf, -0.0, 5e-324]),
        "none": np.empty((0, 3)),
        "small": np.arange(5, dtype=np.uint8),
        "turned": np.asfortranarray(random.normal(size=(4, 3))),
        "float32": random.normal(size=3).astype(np.float32),
    }
    head, found = decoded(messages.encoded({"id": 3, "text": "ä\"'\n"}, arrays))
    assert head == {"id": 3, "text": "ä\"'\n"} and list(found) == list(arrays)
    for name, array in arrays.items():
        expected = np.ascontiguousarray(array, dtype="<f8" if array.dtype.kind == "f" else "<i4")
        assert found[name].tobytes() == expected.tobytes() and found[name].shape == array.shape


def test_numbers_of_heads_are_plain():
    value = {"a": np.float64(0.1), "b": np.array([[1, 2]]), "c": (np.inf, -np.inf, np.nan), "d": np.bool_(True)}
    told = messages.plain(value)
    assert told == {"a": 0.1, "b": [[1, 2]], "c": ["inf", "-inf", "NaN"], "d": True}
    json.dumps(told, allow_nan=False)
