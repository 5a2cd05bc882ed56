"""Requests with a key are learned once, and labels that come later are learned with what was predicted before."""

import json
import signal
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

pytest.importorskip("msgspec", reason="the server needs the extra 'serve'")
pytest.importorskip("uvicorn", reason="the server needs the extra 'serve'")

from perceptrons import Perceptron

SVMLIGHT = "text/x-svmlight"
BOTH = [([1.0, 0.0], "a"), ([0.0, 1.0], "b")] * 2
LARGE = b"".join(b"%d 0:%d 3:1\n" % (i % 2, i) for i in range(300))
REQUESTS = {
    "learn": ("learn", {"x": [1.0, 2.0], "y": "a"}, None),
    "predict-learn": ("predict-learn", {"x": [1.0, 2.0], "y": "b"}, None),
    "few": ("learn", {"examples": [{"x": [1.0, 2.0], "y": "a"}] * 20}, None),
    "large": ("learn", {"examples": [{"x": [1.0, 2.0], "y": "a"}] * 200}, None),
    "csv": ("learn", b"y,a\n" + b"a,1\nb,2\n" * 50, "text/csv"),
}


def at_once(server, n, method, path, body, **settings):
    """The answers to a request that is sent n times at once."""

    def send(_):
        web = server.web()
        answer = web.call(method, path, body, **settings)
        return answer.status, answer.body

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(send, range(n)))


@pytest.mark.parametrize(("verb", "body", "kind"), REQUESTS.values(), ids=REQUESTS.keys())
def test_a_key_is_learned_once(server, web, verb, body, kind):
    remote = web.create()
    if kind is None:
        remote.learn_all(BOTH)
    path, before = f"{remote.path}/{verb}", remote.state()["n_seen"]
    first, *others = at_once(server, 6, "POST", path, body, kind=kind, key="once")
    assert first[0] == 200 and set(others) == {first}
    n_seen = remote.state()["n_seen"]
    assert remote.do(verb, body, kind=kind, key="once") == web.call("POST", path, body, kind=kind, key="once").json
    assert "another request" in remote.refused(
        409, verb, b"y,a\na,7\n" if kind else {"x": [5.0, 5.0], "y": "a"}, kind=kind, key="once"
    )
    assert "another request" in remote.refused(409, "learn", LARGE, kind=SVMLIGHT, key="once")
    assert remote.state()["n_seen"] == n_seen > before
    learned = remote.do(verb, body, kind=kind, key="twice")  # another key learns the same again
    assert remote.state()["n_seen"] == 2 * n_seen - before and learned["position"] == remote.state()["position"]


def test_a_key_of_a_kernel_model_is_learned_once(server, web):
    remote = web.create("KernelPerceptron")
    remote.learn_all(BOTH)
    answers = at_once(server, 8, "POST", f"{remote.path}/learn", {"x": [1.0, 3.0], "y": "b"}, key="once")
    assert remote.state()["n_seen"] == 5
    assert set(answers) == {(200, answers[0][1])}


def test_a_key_must_have_a_length(web):
    remote = web.create()
    for key in ("", "k" * 256):
        assert "255" in remote.refused(400, "learn", {"x": [1.0], "y": 1}, key=key)
    remote.learn([1.0], 1, key="k" * 255)


def test_a_model_is_created_once(server, web):
    body = {"estimator": "Perceptron"}
    assert web.call("POST", "/v1/models/one", body, key="k").status == 201
    assert web.call("POST", "/v1/models/one", body, key="k").status == 200
    assert web.refused(409, "POST", "/v1/models/one", body, key="other")
    assert web.refused(409, "POST", "/v1/models/one", {"estimator": "Perceptron", "window": 5}, key="k")


def test_a_rollback_with_a_key_happens_once(web):
    remote = web.create()
    remote.learn_all(BOTH)
    assert remote.do("rollback", {"position": 2}, key="back")["position"] == 2
    remote.learn_all(BOTH)
    assert remote.do("rollback", {"position": 2}, key="back")["position"] == 6  # a late repetition undoes nothing
    assert remote.refused(409, "rollback", {"position": 1}, key="back")
    assert remote.state()["position"] == 6


def test_keys_and_labels_survive_a_restart(serve, tmp_path, content, learned):
    server = serve(tmp_path)
    remote = server.web().create()
    requests = [
        ("learn", {"x": [1.0, 0.0], "y": 1}, {}),
        ("learn", {"x": [0.0, 1.0], "y": 0}, {}),
        ("learn", LARGE.replace(b"3:1", b"1:1"), {"kind": SVMLIGHT}),
        ("predict-learn", {"x": [1.0, 1.0], "y": 0}, {}),
        ("label", {"id": "first", "y": 1}, {}),
    ]
    for id in ("first", "second"):
        remote.predict([2.0, 1.0], id=id)
    answers = [remote.do(verb, body, key=f"k{i}", **more) for i, (verb, body, more) in enumerate(requests)]
    before, n_seen = remote.content(), remote.state()["n_seen"]
    server.stop(signal.SIGKILL)
    remote = remote.on(server.again())
    assert remote.content() == before
    assert [remote.do(verb, body, key=f"k{i}", **more) for i, (verb, body, more) in enumerate(requests)] == answers
    assert remote.state()["n_seen"] == n_seen and remote.state()["pending"] == 1
    assert remote.do("label", {"id": "second", "y": 0})["prediction"] is None
    assert remote.refused(404, "label", {"id": "second", "y": 0})
    assert remote.content() != before


# -- labels that come later -------------------------------------------------------------------------------------------


def test_a_label_counts_the_prediction_that_was_told(web, content, learned):
    remote, model = web.create(), learned(Perceptron(), BOTH)
    remote.learn_all(BOTH)
    given = remote.predict([1.0, 0.1], id="late")
    assert given == model.predict_one([1.0, 0.1]) == "a"
    change = [([1.0, 0.1], "b")] * 3  # now the model would predict the other label
    remote.learn_all(change)
    assert learned(model, change).predict_one([1.0, 0.1]) == "b"
    window = remote.state()["window"]["mistakes"]
    assert remote.do("label", {"id": "late", "y": "b"}) == {"prediction": "a", "mistake": True, "position": 8}
    learned(model, [([1.0, 0.1], "b")])
    assert remote.state()["window"]["mistakes"] == window + 1  # what the client was told was wrong
    assert remote.counts == (8, model.n_mistakes_, model.n_updates_)
    assert remote.content() == content(model)
    assert remote.log()[-1] == {"position": 8, "x": [1.0, 0.1], "y": "b", "id": "late", "given": "a"}
    assert "no prediction with the id 'late'" in remote.refused(404, "label", {"id": "late", "y": "b"})


def test_a_prediction_with_an_id_is_made_once(web):
    remote = web.create()
    remote.learn_all(BOTH)
    assert remote.predict([1.0, 0.0], id="i") == "a"
    remote.learn_all([([1.0, 0.0], "b")] * 5)
    assert remote.predict([1.0, 0.0]) == "b"
    assert remote.predict([1.0, 0.0], id="i") == "a"  # as it was told before
    assert "waiting for its label" in remote.refused(409, "predict", {"x": [9.0, 0.0], "id": "i"})
    assert remote.state()["pending"] == 1
    assert remote.refused(422, "predict", {"x": [1.0, 0.0], "id": "i" * 256})
    assert remote.refused(422, "predict", {"x": [1.0, 0.0], "id": ""})
    assert remote.refused(422, "predict", {"x": [1.0, 0.0], "id": "j", "y": "a"})
    assert remote.refused(422, "predict", {"examples": [{"x": [1.0, 0.0], "id": "j"}]})


def test_a_label_that_cannot_be_learned_leaves_the_prediction_waiting(web):
    remote = web.create()
    remote.learn_all(BOTH)
    remote.predict([1.0, 0.0], id="i")
    assert remote.refused(422, "label", {"id": "i", "y": 7})
    assert remote.state()["pending"] == 1
    assert remote.do("label", {"id": "i", "y": "b"})["mistake"]


def test_an_id_that_is_used_again_at_once_still_waits_after_a_restart(serve, tmp_path):
    server = serve(tmp_path)
    remote = server.web().create()
    remote.learn_all(BOTH)
    learn, label, predict = server.web(), server.web(), server.web()
    for web in (learn, label, predict):
        web.ok("GET", remote.path)
    waiting = 0
    for i in range(20):  # the first keeps the log busy, so that the other two share the next commit
        remote.predict([1.0, float(i)], id=f"{i}")
        for web, verb, body in (
            (learn, "learn", b'{"x": [1.0, 0.0], "y": "a"}'),
            (label, "label", b'{"id": "%d", "y": "b"}' % i),
            (predict, "predict", b'{"x": [2.0, 0.0], "id": "%d"}' % i),
        ):
            web.http.request("POST", f"{remote.path}/{verb}", body)
        statuses = [web.http.getresponse() for web in (learn, label, predict)]
        for each in statuses:
            each.read()
        waiting += statuses[2].status == 200
    assert waiting and remote.state()["pending"] == waiting
    server.stop(signal.SIGKILL)
    assert remote.on(server.again()).state()["pending"] == waiting


@pytest.fixture(scope="module")
def hasty(serve, tmp_path_factory):
    """A server on which predictions wait for their labels for one second, and at most five."""
    return serve(tmp_path_factory.mktemp("hasty"), "--pending-hours", 1 / 3600, "--max-pending", 5)


def test_predictions_that_wait_too_long_expire(hasty):
    remote = hasty.web().create()
    remote.learn_all(BOTH)
    remote.predict([1.0, 0.0], id="i")
    time.sleep(1.05)
    assert "has expired" in remote.refused(404, "label", {"id": "i", "y": "a"})
    time.sleep(1.0)
    assert remote.state()["pending"] == 0


def test_too_many_waiting_predictions_are_refused(hasty):
    web = hasty.web()
    remote = web.create()
    for i in range(5):
        remote.predict([1.0], id=f"{i}")
    answer = web.call("POST", f"{remote.path}/predict", {"x": [1.0], "id": "5"})
    assert answer.status == 429 and int(answer.headers["Retry-After"]) > 0
    assert remote.predict([1.0]) is None  # others are answered
    remote.do("label", {"id": "0", "y": 1})
    remote.predict([1.0], id="5")


def test_an_id_that_has_expired_can_be_used_again(hasty):
    remote = hasty.web().create()
    remote.learn_all(BOTH)
    for i in range(4):  # at different moments: the server looks for expired predictions once a second
        remote.predict([1.0, 0.0], id=f"{i}")
        time.sleep(0.25)
    for i in range(4):
        time.sleep(0.25 if i else 0.05)
        remote.predict([1.0, 0.0], id=f"{i}")
        remote.do("label", {"id": f"{i}", "y": "a"})


def test_predictions_that_expire_while_a_large_body_is_refused(serve, tmp_path):
    server = serve(tmp_path, "--pending-hours", 0.25 / 3600)
    remote = server.web().create("KernelPerceptron")
    remote.learn_all([([1.0] * 20, 0), ([0.0] * 20, 1)])
    rows, labels = np.random.default_rng(0).normal(size=(6000, 20)).round(2).tolist(), [0, 1] * 3000
    labels[-1] = "text"  # only learning finds this
    body = "\n".join(json.dumps({"x": x, "y": y}) for x, y in zip(rows, labels, strict=True)).encode()
    before = remote.content()
    remote.predict([1.0] * 20, id="late")
    time.sleep(0.2)
    assert remote.refused(422, "learn", body, kind="application/x-ndjson")
    assert remote.content() == before
    server.stop(signal.SIGKILL)
    remote = remote.on(server.again())
    assert remote.state()["broken"] is None
    assert remote.content() == before


# -- asking for labels ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("labels", [["a", "b"], ["a", "b", "c"]])
def test_the_server_asks_with_the_probability_of_the_paper(web, labels):
    remote = web.create()
    for i in range(12):
        remote.learn([float(i % 3), float(i % 5), 1.0], labels[i % len(labels)])
    asked = 0
    for b in (0.5, 1.0, 3.0):
        for i in range(20):
            answer = remote.do(f"predict?ask=true&scores=true&b={b}", {"x": [i / 7, 1.0, -0.3]})
            scores = answer["score"]
            if isinstance(scores, dict):
                best, second = sorted(scores.values(), reverse=True)[:2]
                margin = best - second
            else:
                margin = abs(scores)
            assert answer["ask_probability"] == pytest.approx(b / (b + margin))
            asked += answer["ask"]
    assert 0 < asked < 60
    assert remote.refused(400, "predict?ask=true&b=0", {"x": [1.0, 1.0, 1.0]})
    assert remote.refused(400, "predict?ask=maybe", {"x": [1.0, 1.0, 1.0]})


def test_regression_does_not_ask(web):
    remote = web.create("PassiveAggressiveRegressor")
    remote.learn([1.0], 2.0)
    assert "classifiers" in remote.refused(422, "predict?ask=true", {"x": [1.0]})


@pytest.mark.parametrize(
    "verb, body",
    [
        ("learn", {"x": {"f": 1}, "y": "7"}),
        ("predict-learn", {"x": {"f": 1}, "y": "7"}),
        ("predict-learn", {"x": {"f": 1}, "y": True}),
        ("label", {"id": "waits", "y": "7"}),
        ("learn", {"examples": [{"x": {"f": 1}, "y": 2.0}, {"x": {"f": 1}, "y": "7"}]}),
        ("learn", {"examples": [{"x": {"f": 1}, "y": "7"}, {"x": {"f": 2}, "y": "8"}]}),
    ],
)
@pytest.mark.parametrize("rule", ["pa1", "arow"])
def test_a_regressor_learns_from_numbers_only(web, verb, body, rule):
    remote = web.create("PassiveAggressiveRegressor", {"rule": rule})
    remote.learn({"f": 2}, 3.0)
    remote.predict({"f": 1}, id="waits")
    before = remote.content(), remote.counts, remote.log()
    assert remote.refused(422, verb, body)
    assert (remote.content(), remote.counts, remote.log()) == before
    assert remote.do("label", {"id": "waits", "y": 7})["position"] == 2  # it has not lost its id
    again = remote.do("replay", {"position": 2})
    assert (again["n_seen"], again["n_updates"]) == (2, remote.counts[2])


def test_labels_have_a_length(web):
    remote = web.create()
    remote.learn({"a": 1}, "l" * 255)
    for body in ({"x": {"a": 1}, "y": "l" * 256}, {"examples": [{"x": {"a": 1}, "y": "l" * 256}]}):
        assert "255" in remote.refused(422, "learn", body)
    assert remote.counts[0] == 1


@pytest.mark.parametrize(
    "classes, wrong",
    [
        ([True, False], 7),
        ([True, False], 1),
        ([True, False], "true"),
        ([0, 1], True),
        (["a", "b"], 1),
        ([1, 2], "1"),
    ],
)
def test_labels_are_of_the_kind_of_the_classes(web, classes, wrong):
    remote = web.create(classes=classes)
    for y in classes:
        remote.learn({"a": 1}, y)
    for verb in ("learn", "predict-learn"):
        remote.refused(422, verb, {"x": {"a": 1}, "y": wrong})
        remote.refused(422, verb, {"examples": [{"x": {"a": 1}, "y": wrong}]})
    assert remote.state()["classes"] == sorted(classes) and remote.counts[0] == 2
