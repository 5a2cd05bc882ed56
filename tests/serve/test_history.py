"""The log: every position of it can be restored, exported and replayed; damage hurts as little as possible."""

import json
import signal
import sqlite3
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from itertools import pairwise

import numpy as np
import pytest

pytest.importorskip("msgspec", reason="the server needs the extra 'serve'")
pytest.importorskip("uvicorn", reason="the server needs the extra 'serve'")

from perceptrons import KernelPerceptron, Perceptron


def examples(n, seed=0):
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n, 3)).round(3).tolist()
    return [(x, "b" if x[0] > random.normal() else "a") for x in rows]


def labelled(part):
    return [{"x": x, "y": y} for x, y in part]


def fill(remote, stream):
    """Learn a stream in requests of all kinds; returns after how many examples each position is."""
    ends, at = [0], 0
    for size in (1, 1, 5, 1, 120, 2, 1, 150, 1, 3):
        part = stream[at : at + size]
        if size == 1:
            remote.learn(*part[0])
        elif size == 150:
            body = "\n".join(json.dumps(each) for each in labelled(part))
            remote.do("learn", body.encode(), kind="application/x-ndjson")
        else:
            remote.do("learn", {"examples": labelled(part)})
        at += size
        ends.append(at)
    return ends


def database(server, remote, writes=False):
    """The database of a model, beside the server or after its end."""
    path = (server.folder / "models" / remote.name / "log.sqlite").absolute().as_uri()
    return closing(sqlite3.connect(path + ("" if writes else "?mode=ro"), uri=True, isolation_level=None))


CASES = {
    "averaged": (
        {"estimator": "Perceptron", "params": {"readout": "averaged"}},
        lambda: Perceptron(readout="averaged"),
    ),
    "arow, scaled": (
        {"estimator": "Perceptron", "params": {"rule": "arow", "scale": "online"}},
        lambda: Perceptron(rule="arow", scale="online"),
    ),
    "kernel with budget": (
        {"estimator": "KernelPerceptron", "params": {"gamma": 1.0, "budget": 9, "policy": "random"}},
        lambda: KernelPerceptron(gamma=1.0, budget=9, policy="random"),
    ),
}


@pytest.mark.parametrize(("settings", "make"), CASES.values(), ids=CASES.keys())
def test_every_position_can_be_restored(server, web, content, learned, settings, make):
    def model_at(position):
        model = make()
        if not isinstance(model, KernelPerceptron):
            return learned(model, stream[: ends[position]])
        for begin, end in pairwise(ends[: position + 1]):  # sums over kernels depend on how rows come together
            if end - begin == 1:
                learned(model, stream[begin:end])
            else:
                model.partial_fit(np.array([x for x, _ in stream[begin:end]]), [y for _, y in stream[begin:end]])
        return model

    stream = examples(400)
    remote = web.create(**settings)
    ends = fill(remote, stream)
    last = len(ends) - 1
    for position in range(last, 0, -1):
        expected = model_at(position)
        if position % 2:  # looking at a position changes nothing
            assert remote.content(position) == content(expected)
            answer = remote.do("replay", {"position": position, "examples": [{"x": x} for x, _ in stream[-9:]]})
            assert answer["predictions"] == [expected.predict_one(x) for x, _ in stream[-9:]]
            counts = answer["n_seen"], answer["n_mistakes"], answer["n_updates"]
            assert counts == (expected.n_seen_, expected.n_mistakes_, expected.n_updates_)
        state = remote.do("rollback", {"position": position})
        assert (state["position"], state["n_seen"], state["examples_logged"]) == (
            position,
            ends[position],
            ends[position],
        )
        assert remote.content() == content(expected)
    remote.learn(*stream[-1])  # learning goes on
    assert remote.content() == content(learned(make(), [stream[0], stream[-1]]))
    with database(server, remote) as found:  # what was undone is still there
        undone, kept = (
            found.execute(f"SELECT sum(examples) FROM log WHERE undone {sign} 0").fetchone()[0] for sign in (">", "=")
        )
    assert (undone, kept) == (ends[-1] - 1, 2)
    state = remote.do("rollback", {"position": 0})
    assert state["n_seen"] == 0 and state["classes"] == []
    assert "nothing has been learned" in web.refused(409, "GET", f"{remote.path}/file")
    for wrong in (-1, 1, 10**30):
        assert remote.refused(422, "rollback", {"position": wrong})
        assert remote.refused(422, "replay", {"position": wrong})


def test_a_position_inside_of_a_group_can_be_restored(server, web, content, learned):
    remote, stream = web.create(), examples(120)

    def send(part):
        own = server.web().model(remote.name)
        own.learn_all(part)

    with ThreadPoolExecutor(8) as pool:  # requests that come together are one row of the log
        list(pool.map(send, [stream[i::8] for i in range(8)]))
    with database(server, remote) as found:
        groups = found.execute("SELECT first, last FROM log WHERE last > first").fetchall()
    assert groups, "no two requests shared a commit"
    first, last = groups[-1]
    log = [(each["x"], each["y"]) for each in remote.log()]
    assert sorted(log) == sorted(stream)
    for position in (last - 1, first):
        assert remote.content(position) == content(learned(Perceptron(), log[:position]))
        remote.do("rollback", {"position": position})
        assert remote.content() == content(learned(Perceptron(), log[:position]))
        assert [each["position"] for each in remote.log()] == list(range(1, position + 1))
    with database(server, remote) as found:
        assert found.execute("SELECT sum(examples) FROM log").fetchone()[0] == 120


def test_the_log_is_exported_line_by_line(web):
    remote = web.create()
    remote.learn({"a": 1}, "x")
    web.ok("POST", f"{remote.path}/learn", b'{\n  "x": {"a": 2},\n  "y": "\\n"\n}')
    remote.do("predict-learn", {"x": {"b": 1}, "y": "x", "id": "mine"})
    remote.do("learn", {"examples": [{"x": {"a": 3}, "y": "x"}, {"x": {"a": 4}, "y": "z"}]})
    remote.do("learn", b"y,a\nx,5\nz,6\n", kind="text/csv")
    lines = remote.log()
    assert [line.pop("position") for line in lines] == [1, 2, 3, 4, 5]
    assert lines[:2] == [{"x": {"a": 1}, "y": "x"}, {"x": {"a": 2}, "y": "\n"}]
    assert lines[2] == {"x": {"b": 1}, "y": "x", "id": "mine", "given": lines[2]["given"]}
    assert lines[3] == {"examples": [{"x": {"a": 3}, "y": "x"}, {"x": {"a": 4}, "y": "z"}]}
    assert lines[4] == {"format": "csv", "settings": {}, "examples": 2, "body": "y,a\nx,5\nz,6\n"}
    assert [line["position"] for line in remote.log("?after=1&to=3")] == [2, 3]
    assert remote.log("?after=5") == remote.log("?after=99") == []
    assert web.refused(400, "GET", f"{remote.path}/log?after=x")


@pytest.mark.parametrize("query", ["?after=-5", "?to=99999999999999999999"])
def test_positions_that_cannot_be_are_refused(web, query):
    remote = web.create()
    remote.learn([1.0], 1)
    answer = web.call("GET", f"{remote.path}/log{query}")
    assert answer.status in (400, 422) or [json.loads(line)["position"] for line in answer.body.splitlines()] == [1]


# -- snapshots --------------------------------------------------------------------------------------------------------


def snapshots(server, remote):
    return sorted((server.folder / "models" / remote.name).glob("snapshot-*"))


def test_a_restart_finds_everything(serve, tmp_path, content, learned):
    stream, server = examples(400), serve(tmp_path)
    remote = server.web().create(snapshot_every=130)
    ends = fill(remote, stream)
    expected, state = content(learned(Perceptron(), stream[: ends[-1]])), remote.state()
    for how in (signal.SIGKILL, signal.SIGTERM, signal.SIGTERM):
        assert server.stop(how) in (0, -how)
        server = server.again()
        remote = remote.on(server)
        assert remote.content() == expected
        now = remote.state()
        assert all(now[name] == state[name] for name in ("n_seen", "position", "window", "drift", "classes", "durable"))
        assert now["snapshot"] >= state["snapshot"] > 0
    assert now["snapshot"] == now["position"]  # a server that stops writes what it would have to learn again
    for position in (1, 4, 7):
        assert remote.content(position) == content(learned(Perceptron(), stream[: ends[position]]))


def test_a_damaged_snapshot_is_passed_over(serve, tmp_path, content, learned):
    stream, server = examples(30), serve(tmp_path)
    remote = server.web().create(params={"rule": "arow"})
    for i, (x, y) in enumerate(stream, 1):
        remote.learn(x, y)
        if i in (10, 20):
            assert remote.do("snapshot", {}) == {"position": i}
    before = remote.content()
    assert before == content(learned(Perceptron(rule="arow"), stream))
    for damaged in (1, 2):  # the newest; then both
        server.stop(signal.SIGKILL)
        path = snapshots(server, remote)[-damaged]
        content_now = bytearray(path.read_bytes())
        content_now[-1] ^= 1
        path.write_bytes(content_now)
        server = server.again()
        remote = remote.on(server)
        assert remote.content() == before
        assert remote.state()["snapshot"] == [20, 10, 0][damaged]


def test_old_parts_of_the_log_are_deleted_if_asked_to(server, web, content, learned):
    stream, remote = examples(60), web.create(keep=5)
    for i, (x, y) in enumerate(stream[:30], 1):
        remote.learn(x, y, key=f"k{i}")
        if i in (10, 20, 30):
            remote.do("snapshot", {})
    assert remote.state()["oldest"] == 20 and remote.state()["examples_logged"] == 10
    assert [path.name[:21] for path in snapshots(server, remote)] == ["snapshot-000000000020", "snapshot-000000000030"]
    for verb in ("rollback", "replay"):
        assert "between 20 and 30" in remote.refused(422, verb, {"position": 19})
    assert web.refused(422, "GET", f"{remote.path}/file?position=19")
    assert remote.content(25) == content(learned(Perceptron(), stream[:25]))
    assert [line["position"] for line in remote.log("?after=20")] == list(range(21, 31))
    remote.do("rollback", {"position": 20})
    remote.learn_all(stream[40:])
    assert remote.content() == content(learned(Perceptron(), stream[:20] + stream[40:]))


def test_a_log_without_its_beginning_is_exported(web):
    remote = web.create(keep=1)
    for x, y in examples(9):
        remote.learn(x, y)
        remote.do("snapshot", {})
    positions = [line["position"] for line in remote.log()]
    assert positions == list(range(remote.state()["oldest"] + 1, 10))


def test_a_snapshot_of_what_was_undone_meanwhile_is_not_kept(serve, tmp_path):
    server = serve(tmp_path)
    remote = server.web().create(params={"rule": "arow"}, classes=[0, 1, 2, 3])
    remote.learn([[1], [1.0]], 1)
    remote.learn([[1_000_000], [1.0]], 2)  # a snapshot of this takes a while
    other = server.web()
    other.ok("GET", remote.path)
    other.http.request("POST", f"{remote.path}/snapshot", b"{}")
    remote.do("rollback", {"position": 1})
    remote.learn([[1], [5.0]], 3)
    other.http.getresponse().read()
    assert remote.state()["n_features"] == 2
    server.stop(signal.SIGKILL)
    assert remote.on(server.again()).state()["n_features"] == 2


# -- damage -----------------------------------------------------------------------------------------------------------


def damage(server, remote, position):
    """Flip one bit in the row of the log that holds a position."""
    with database(server, remote, writes=True) as found:
        entry, body = found.execute(
            "SELECT entry, body FROM log WHERE first <= ? AND last >= ?", (position, position)
        ).fetchone()
        changed = bytearray(body)
        changed[len(changed) // 2] ^= 1
        found.execute("UPDATE log SET body=? WHERE entry=?", (bytes(changed), entry))


def test_a_damaged_log_stops_only_its_model(serve, tmp_path, content, learned):
    stream, server = examples(12), serve(tmp_path)
    web = server.web()
    remote, other = web.create(), web.create()
    for each in (remote, other):
        each.learn_all(stream)
    server.stop(signal.SIGKILL)
    damage(server, remote, 8)
    server = server.again()
    remote, other = remote.on(server), other.on(server)
    assert "position" in remote.state()["broken"]
    for verb, body in (("learn", {"x": stream[0][0], "y": "a"}), ("predict", {"x": stream[0][0]})):
        error = remote.refused(503, verb, body)
        assert "damaged" in error and "Roll back to position 7" in error
    assert "positions 8 to 8" in remote.log()[-1]["error"]
    assert remote.web.refused(503, "GET", "/v2/health/ready")
    assert other.content() == content(learned(Perceptron(), stream))
    other.learn(*stream[0])
    assert remote.refused(409, "rollback", {"position": 8})
    assert remote.do("rollback", {"position": 7})["broken"] is None
    assert remote.content() == content(learned(Perceptron(), stream[:7]))
    remote.learn_all(stream[7:])
    server.stop(signal.SIGKILL)
    assert remote.on(server.again()).content() == content(learned(Perceptron(), stream))


def test_predictions_wait_for_their_labels_while_a_log_is_damaged(serve, tmp_path):
    stream, server = examples(5), serve(tmp_path)
    remote = server.web().create()
    remote.learn_all(stream)
    remote.predict(stream[0][0], id="waits")
    server.stop(signal.SIGKILL)
    damage(server, remote, 5)
    remote = remote.on(server.again())
    remote.do("rollback", {"position": 4})
    assert remote.do("label", {"id": "waits", "y": "a"})["position"] == 5


def test_a_log_that_is_no_database_stops_only_its_model(serve, tmp_path):
    server = serve(tmp_path)
    web = server.web()
    remote, other = web.create(), web.create()
    for each in (remote, other):
        each.learn_all(examples(3))
    server.stop(signal.SIGKILL)
    (server.folder / "models" / remote.name / "log.sqlite").write_bytes(b"nothing" * 5000)
    server = server.again()
    assert other.on(server).state()["n_seen"] == 3
    assert remote.name in server.err.read_text()


def test_a_flipped_bit_in_the_write_ahead_file_is_told_and_the_evidence_stays(serve, tmp_path, content, learned):
    """SQLite ends the file silently at such a bit. The mark says how far it went."""
    stream, server = examples(12), serve(tmp_path)
    remote, other = server.web().create(), server.web().create()
    for each in (remote, other):
        each.learn_all(stream)
    server.stop(signal.SIGKILL)
    ahead = server.folder / "models" / remote.name / "log.sqlite-wal"
    damaged = bytearray(ahead.read_bytes())
    damaged[len(damaged) // 2] ^= 4
    ahead.write_bytes(damaged)
    server = server.again()
    remote, other = remote.on(server), other.on(server)
    told = remote.state()["broken"]
    assert "has lost requests" in told and "position 12 (commit 12) was acknowledged" in told
    assert told in remote.refused(503, "learn", {"x": stream[0][0], "y": "a"})
    assert other.content() == content(learned(Perceptron(), stream))
    assert ahead.read_bytes() == bytes(damaged)  # nothing has been written
    last = int(told.split("ends at position ")[1].split()[0])
    assert 0 < last < 12
    assert remote.do("rollback", {"position": last})["broken"] is None
    assert [path.read_bytes() for path in ahead.parent.glob("log.sqlite-wal.lost-*")] == [bytes(damaged)]
    assert remote.content() == content(learned(Perceptron(), stream[:last]))
    remote.learn_all(stream[last:])
    server.stop(signal.SIGKILL)
    assert remote.on(server.again()).content() == content(learned(Perceptron(), stream))


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE pending SET x=CAST(replace(CAST(x AS TEXT), '1', '3') AS BLOB)",
        "UPDATE answers SET key='other'",
        "UPDATE meta SET value=replace(value, 'Perceptron', 'Perceptroo') WHERE name='settings'",
        "UPDATE meta SET value='{' WHERE name='settings'",
        "UPDATE snapshots SET position=2",
    ],
)
def test_a_changed_fact_is_told_and_stops_only_its_model(serve, tmp_path, change):
    server = serve(tmp_path)
    remote, other = server.web().create(), server.web().create()
    for each in (remote, other):
        each.learn({"a": 1.0}, "a", key=f"{each.name}")
        each.do("snapshot", {})
        each.predict({"a": 1.0}, id="waits")
    server.stop(signal.SIGKILL)
    with database(server, remote, writes=True) as found:
        found.execute(change)
    server = server.again()
    error = remote.on(server).refused(503, "predict", {"x": {"a": 1.0}})
    assert str(server.folder / "models" / remote.name / "log.sqlite") in error and "damaged" in error
    other.on(server).learn({"a": 1.0}, "b")


def test_a_snapshot_that_has_gone_is_written_again(serve, tmp_path, content, learned):
    """And the log is trimmed only up to one that can be read."""
    stream, server = examples(6), serve(tmp_path)
    remote = server.web().create(keep=0)
    remote.learn_all(stream)
    assert remote.do("snapshot", {}) == {"position": 6}
    (gone,) = snapshots(server, remote)
    gone.unlink()
    assert remote.do("snapshot", {}) == {"position": 6}
    assert len(snapshots(server, remote)) == 1
    server.stop(signal.SIGKILL)
    assert remote.on(server.again()).content() == content(learned(Perceptron(), stream))


def test_a_log_is_not_trimmed_up_to_a_snapshot_that_cannot_be_read(serve, tmp_path, content, learned):
    stream, server = examples(30), serve(tmp_path)
    remote = server.web().create(keep=5)
    remote.learn_all(stream[:10])
    remote.do("snapshot", {})
    assert remote.state()["oldest"] == 0
    (first,) = snapshots(server, remote)
    first.write_bytes(first.read_bytes()[:-1])
    remote.learn_all(stream[10:])
    remote.do("snapshot", {})
    assert remote.state()["oldest"] == 0  # it would be 10
    assert remote.content(12) == content(learned(Perceptron(), stream[:12]))
