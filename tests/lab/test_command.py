"""The command `perceptrons lab`: its address, its file, its errors, and Ctrl-C."""

import os
import shlex
import socket
import subprocess
import time

import pytest
from lab_cases import choice, kernel_choice
from lab_server import COMMAND, QUIET, asked, show, started, welcomed

QUICK = 8.0  # seconds, on a machine that is busy with other tests
LONG = {  # each computes for some seconds
    "kernel": kernel_choice("pa1", "averaged", max_iter=100, tol=None, order="shuffled"),
    "voted": choice(readout="voted", max_iter=100, tol=None),
}


def failed(*arguments):
    """What the command says before it ends with exit code 2."""
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, timeout=120)
    assert done.returncode == 2 and done.stdout == "" and "Traceback" not in done.stderr
    return done.stderr


# -- errors -----------------------------------------------------------------------------------------------------------


def test_files_that_cannot_be_opened(tmp_path):
    assert failed("missing.csv") == "error: missing.csv: No such file or directory\n"
    assert failed(str(tmp_path)) == f"error: {tmp_path}: Is a directory\n"


def test_a_port_that_is_in_use():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        said = failed("--port", str(port))
    assert said.startswith(f"error: cannot listen on port {port}: ") and "in use" in said and "--port" in said
    assert said.count("\n") == 1


def test_a_port_that_does_not_exist():
    assert "70000" in failed("--port", "70000")


# -- what it begins with ----------------------------------------------------------------------------------------------


def test_a_file_to_begin_with(tmp_path):
    path = tmp_path / "points.csv"
    path.write_text("x1,x2,kind\n1,2,a\n3,4,b\n")
    with started(str(path)) as lab, lab.talk() as talk:
        assert welcomed(talk, file=str(path))
        head = asked(talk, {"do": "read", "id": 2})
        assert head["values"] == [[1.0, 2.0], [3.0, 4.0]] and head["labels"] == ["a", "b"]
        path.unlink()
        assert "points.csv" in asked(talk, {"do": "read", "id": 3})["error"]
        assert asked(talk, show())["id"] == 4


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_the_scene_of_an_old_address_is_kept(host):
    fragment = "v1.eJyrVkrLz1eyUkpKLFKqBQAd-gQ0~a=%C3%A4&b"
    with started(f"http://{host}:40001/?token=of-an-earlier-start#{fragment}") as lab:
        assert lab.parts.fragment == fragment and "of-an-earlier-start" not in lab.address
        assert lab.get(f"/?{lab.parts.query}")[0] == 200
    with started(f"http://{host}:40001/?token=of-an-earlier-start") as lab:
        assert "#" not in lab.address


def test_a_port_can_be_chosen():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with started("--port", str(port)) as lab:
        assert lab.port == port


def test_a_browser_is_opened(tmp_path):
    script, told = tmp_path / "browser", tmp_path / "browser.address"
    script.write_text('#!/bin/sh\nprintf %s "$1" > "$0.part" && mv "$0.part" "$0.address"\n')
    script.chmod(0o755)
    command = [each for each in COMMAND if each != "--no-browser"]
    with started(command=command, env={**os.environ, "BROWSER": f"{shlex.quote(str(script))} %s"}) as lab:
        end = time.monotonic() + 60
        while not told.exists() and time.monotonic() < end:
            time.sleep(0.02)
        assert told.read_text() == lab.address


# -- Ctrl-C -----------------------------------------------------------------------------------------------------------


def assert_ends(lab):
    code, seconds, said = lab.stop()
    assert code == 130 and seconds < QUICK and said == QUIET


def test_stops_with_open_pages():
    with started() as lab, lab.talk() as talk, lab.talk() as other:
        assert welcomed(talk) and welcomed(other)
        assert_ends(lab)


@pytest.mark.parametrize("name", LONG)
def test_stops_while_it_computes(name):
    with started() as lab, lab.talk() as talk:
        welcomed(talk)
        talk.send(show(LONG[name], n=1000, n_classes=6, text=True))
        time.sleep(0.5)
        assert_ends(lab)


def test_stops_before_it_is_ready():
    with started() as lab:
        assert_ends(lab)
