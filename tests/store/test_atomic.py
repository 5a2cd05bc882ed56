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
    left = path.with_name(f".{path.name}.0123.tmp")
    left.write_bytes(b"half")
    other = path.with_name(".other.perceptron.0123.tmp")
    other.write_bytes(b"of another file")
    with replaced(path) as file:
        file.write(b"slow")
        save(small, path)  # meanwhile
        assert os.path.exists(file.name) and not left.exists() and other.exists()
        assert load(path).n_seen_ == small.n_seen_
    assert path.read_bytes() == b"slow"  # the last one wins
    assert sorted(path.parent.iterdir()) == sorted([other, path])


def test_an_error_leaves_the_old_file_and_nothing_else(path):
    path.write_bytes(b"old")
    for error in (RuntimeError, KeyboardInterrupt):
        with pytest.raises(error), replaced(path) as file:
            file.write(b"new")
            raise error
        assert path.read_bytes() == b"old" and list(path.parent.iterdir()) == [path]


@pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
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
