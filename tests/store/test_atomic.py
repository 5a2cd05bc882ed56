"""At every moment the old or the new file is there, whole, and nothing else stays."""

import os
import signal
import stat
import subprocess
import sys
import time

import numpy as np
import pytest

from perceptrons import load, save
from perceptrons.data.atomic import replaced
from perceptrons.store.format import read_file

OTHER = 65534  # a user who is not this one
posix = pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
WRITER = """
import sys
import numpy as np
from perceptrons.store.format import write_file
for number in range(10**9):
    write_file(sys.argv[1], {"number": number}, {"w": np.full(200_000, float(number))})
    print(number, flush=True)
"""


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL")
def test_a_killed_writer_leaves_a_whole_file(path):
    random = np.random.default_rng(1)
    for _ in range(8):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE) as writer:
            writer.stdout.readline()
            time.sleep(0.1 * random.random())
            writer.send_signal(signal.SIGKILL)
            said = [0, *map(int, writer.stdout.read().split())]
        settings, tensors = read_file(path)
        assert (tensors["w"] == settings["number"]).all()
        assert settings["number"] in (said[-1], said[-1] + 1)  # the last one that was finished, or is there already
        assert len(list(path.parent.iterdir())) <= 2  # the file, and one that the killed process was writing


def test_what_a_killed_writer_left_is_removed_but_not_what_another_is_writing(small, path):
    left = path.with_name(f".{path.name}.0123456789abcdef.tmp")
    left.write_bytes(b"half")
    other = path.with_name(".other.perceptron.0123456789abcdef.tmp")
    other.write_bytes(b"of another file")
    with replaced(path) as file:
        file.write(b"slow")
        save(small, path)  # meanwhile
        assert os.path.exists(file.name) and not left.exists() and other.exists()
        assert load(path).n_seen_ == small.n_seen_
    assert path.read_bytes() == b"slow"  # the last one wins
    assert sorted(path.parent.iterdir()) == sorted([other, path])


@posix
def test_only_what_this_program_made_is_removed(path, stranger):
    words = ["0123", "0123456789ABCDEF", "0123456789abcdefg", "notes of mine, tmp", "x.0123456789abcdef"]
    others = [path.with_name(f".{path.name}.{word}.tmp") for word in words]
    for other in others:
        other.write_bytes(b"precious")
    names = iter(path.with_name(f".{path.name}.{number:016x}.tmp") for number in range(9))
    link, folder, pipe = next(names), next(names), next(names)
    link.symlink_to(others[0])
    folder.mkdir()
    os.mkfifo(pipe)  # nobody writes to it: opening it would wait forever
    foreign = next(names)
    foreign.write_bytes(b"half, of another user")
    stranger(foreign)
    with replaced(path) as file:
        file.write(b"new")
    assert set(path.parent.iterdir()) == {path, *others, link, folder, pipe, foreign}
    assert all(other.read_bytes() == b"precious" for other in others)


@posix
def test_a_link_of_another_user_is_not_followed(path, stranger):
    victim, link, own = (path.with_name(name) for name in ("victim", "link", "own"))
    victim.write_bytes(b"precious")
    link.symlink_to(victim.name)
    own.symlink_to(link.name)
    stranger(link)
    for name in (link, own, f"{link}/"):
        with pytest.raises(OSError, match=r"is a link that another user made: name the file"), replaced(name):
            pass
    assert victim.read_bytes() == b"precious" and set(path.parent.iterdir()) == {victim, link, own}


@posix
def test_a_link_of_another_user_on_the_way_is_followed_only_where_few_can_make_links(path, stranger):
    secret, shared = path.with_name("secret"), path.with_name("shared")
    secret.mkdir()
    shared.mkdir()
    link = shared / "results"
    link.symlink_to(secret)
    stranger(link)
    with replaced(link / "model") as file:
        file.write(b"new")
    shared.chmod(0o1777)
    with pytest.raises(OSError, match="is a link that another user made"), replaced(link / "model"):
        pass
    assert [each.read_bytes() for each in secret.iterdir()] == [b"new"]


@posix
def test_links_that_lead_nowhere(path):
    path.symlink_to("target")
    with replaced(path) as file:
        file.write(b"new")
    assert path.is_symlink() and path.with_name("target").read_bytes() == b"new"
    loop = path.with_name("loop")
    loop.symlink_to("loop")
    with pytest.raises(OSError, match="loop"), replaced(loop):
        pass


@posix
def test_permissions_that_another_user_chose_are_not_kept(path, stranger):
    path.write_bytes(b"planted")
    path.chmod(0o666)
    stranger(path)
    umask = os.umask(0o022)
    try:
        with replaced(path) as file:
            file.write(b"new")
    finally:
        os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o644 and path.read_bytes() == b"new"


@posix
def test_what_is_written_is_never_more_open_than_the_old_file(path):
    path.write_bytes(b"secret")
    path.chmod(0o4600)
    umask = os.umask(0)
    try:
        with replaced(path) as file:
            assert stat.S_IMODE(os.fstat(file.fileno()).st_mode) == 0o600
    finally:
        os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@posix
def test_the_group_is_kept_or_has_no_more_rights_than_everybody(path, monkeypatch):
    groups = [OTHER] if os.geteuid() == 0 else [group for group in os.getgroups() if group != os.getegid()]
    if not groups:
        pytest.skip("this user has only one group")

    def save(group):
        path.write_bytes(b"old")
        os.chown(path, -1, group)
        path.chmod(0o664)
        with replaced(path):
            pass
        return path.stat().st_gid, stat.S_IMODE(path.stat().st_mode)

    assert save(groups[0]) == (groups[0], 0o664)

    def refused(*args):
        raise PermissionError

    monkeypatch.setattr(os, "fchown", refused)
    assert save(groups[0]) == (os.getegid(), 0o644)


def test_a_name_may_be_as_long_as_the_file_system_allows(path):
    long = path.with_name("m" * 255)
    left = long.with_name(f".{long.name[:50]}.0123456789abcdef.tmp")
    left.write_bytes(b"half")
    with replaced(long) as file:
        file.write(b"new")
    assert long.read_bytes() == b"new" and not left.exists()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may list every folder")
def test_a_folder_that_cannot_be_listed(path):
    path.parent.chmod(0o300)
    try:
        with replaced(path) as file:
            file.write(b"new")
        assert path.read_bytes() == b"new"
    finally:
        path.parent.chmod(0o700)


def test_an_error_leaves_the_old_file_and_nothing_else(path):
    path.write_bytes(b"old")
    for error in (RuntimeError, KeyboardInterrupt):
        with pytest.raises(error), replaced(path) as file:
            file.write(b"new")
            raise error
        assert path.read_bytes() == b"old" and list(path.parent.iterdir()) == [path]


@posix
def test_permissions_and_links_are_kept(small, path):
    save(small, path)
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    path.chmod(0o640)
    link = path.with_name("link")
    link.symlink_to(path.name)
    save(small, link)
    assert link.is_symlink() and stat.S_IMODE(path.stat().st_mode) == 0o640
    assert load(link).n_seen_ == small.n_seen_


def test_folders_that_are_not_there_and_things_that_are_no_files(small, tmp_path):
    with pytest.raises(FileNotFoundError):
        save(small, tmp_path / "nowhere" / "m")
    with pytest.raises(FileNotFoundError):
        load(tmp_path / "m")
    with pytest.raises(OSError, match="not a regular file"):
        save(small, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_is_told_by_the_name_asked_for(tmp_path):
    target = tmp_path / "nowhere" / "model"
    with pytest.raises(FileNotFoundError) as error, replaced(target):
        pass
    assert error.value.filename == str(target)
