"""Compiled code on disk: a second process compiles nothing, edits are noticed, others cannot put code there."""

import os
import pickle
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import numba
import pytest

import perceptrons
from perceptrons.core.jit.compiled import Compiled
from perceptrons.core.jit.private import is_private

SOURCE = Path(perceptrons.__file__).parents[1]
FIT = """
import numpy as np, scipy.sparse as sp, warnings
from perceptrons import Perceptron
from perceptrons.core import random, rows
from perceptrons.core.linear import passes
warnings.simplefilter("ignore")
X = np.array([[2.0, 1.0], [-1.0, 3.0], [0.0, -2.0], [-3.0, 0.0]])
for readout in ("last", "averaged"):
    for data in (X, sp.csr_array(X)):
        Perceptron(max_iter=3, readout=readout).fit(data, [1, 1, 0, 0]).predict(data)
model = Perceptron(max_iter=3, shuffle=False).fit(X, [1, 1, 0, 0])
functions = (passes.learn, passes.decide, random.shuffle, rows.survey)
print(sum(sum(function.cached.stats.cache_misses.values()) for function in functions), model.coef_.tolist())
"""
RULE = """
from typing import NamedTuple
class Half(NamedTuple):
    def tau(self, margin, sq_norm, weight):
        return {length} if margin <= 0.0 else 0.0
import numpy as np
from perceptrons import Perceptron
X = np.array([[2.0, 4.0]])
print(Perceptron(rule=Half(), fit_intercept=False).partial_fit(X, [1], classes=[0, 1]).coef_.tolist())
"""


def run(code, cwd, **environment):
    """What a fresh process prints, with the package in `cwd`."""
    env = {**os.environ, "PYTHONPATH": str(cwd), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    env.pop("NUMBA_CACHE_DIR", None) if "NUMBA_CACHE_DIR" not in environment else None
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=env, cwd=cwd)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def copy_of_package(folder):
    shutil.copytree(SOURCE / "perceptrons", folder / "perceptrons", ignore=shutil.ignore_patterns("__pycache__"))
    return folder


def test_a_second_process_compiles_nothing_and_an_edit_is_noticed(tmp_path):
    folder = copy_of_package(tmp_path)
    first, weights = run(FIT, folder).split(" ", 1)
    assert int(first) > 0
    assert run(FIT, folder) == f"0 {weights}"
    # The formula is in another file than the function that it is compiled into.
    rules = folder / "perceptrons" / "rules.py"
    rules.write_text(
        rules.read_text().replace("return weight if margin <= 0.0", "return 3.0 * weight if margin <= 0.0")
    )
    misses, edited = run(FIT, folder).split(" ", 1)
    assert int(misses) > 0
    assert edited != weights


def test_no_folder_to_write_in_is_no_failure(tmp_path):
    # Numba looks beside the source, then in the home folder; here neither can be made.
    folder = copy_of_package(tmp_path)
    blocked = folder / "blocked"
    blocked.write_text("a file where a folder would be needed")
    (folder / "perceptrons" / "core" / "linear" / "__pycache__").write_text("likewise")
    environment = {"HOME": str(blocked), "XDG_CACHE_HOME": str(blocked / "cache"), "NUMBA_CACHE_DIR": ""}
    code = (
        "import numpy as np\n"
        "from perceptrons import Perceptron\n"
        "from perceptrons.core.linear import passes\n"
        "assert passes.learn.cached is passes.learn.fresh\n"
        "print(Perceptron().fit(np.array([[1.0], [-1.0]]), [1, 0]).predict(np.array([[5.0]]))[0])"
    )
    assert run(code, folder, **environment) == "1"


def test_a_rule_of_the_users_is_compiled_as_it_stands_now(tmp_path):
    # Were it kept on disk, the second process would still step by the first formula.
    folder = copy_of_package(tmp_path)
    assert run(RULE.format(length=0.5), folder) == "[[1.0, 2.0]]"
    assert run(RULE.format(length=0.25), folder) == "[[0.5, 1.0]]"


# -- folders that others can write --------------------------------------------------------------------------------

as_root = pytest.mark.skipif(getattr(os, "geteuid", int)() != 0, reason="only root can give folders away")
posix = pytest.mark.skipif(os.name != "posix", reason="other systems have other permissions")


def double(x):
    return 2 * x


class Evil:
    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def spoiled(folder, above):
    """Compile `double` in a cache whose index is then replaced by a pickle that runs code when it is read."""
    assert Compiled(double).cached(2) == 4
    (index,) = folder.rglob("*.nbi")
    index.write_bytes(pickle.dumps(Evil(above / "ran")))
    return index


@posix
@pytest.mark.parametrize("level", range(3))
def test_pickles_that_others_can_write_are_not_read(tmp_path, monkeypatch, caplog, level):
    folder = tmp_path / "cache"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(folder))
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(folder))  # Numba reads the environment only when it compiles
    index = spoiled(folder, tmp_path)
    (index, *index.parents)[level].chmod(0o777)
    is_private.cache_clear()
    compiled = Compiled(double)
    assert compiled.cached(2) == 4 and not (tmp_path / "ran").exists()
    if level == 2:  # the whole cache
        assert compiled.cached is compiled.fresh and "other users can write to" in caplog.text
    (index, *index.parents)[level].chmod(0o700)
    is_private.cache_clear()
    Compiled(double).cached(2)
    assert (tmp_path / "ran").exists()  # so reading it would have been noticed


@posix
def test_a_package_that_others_can_write_keeps_its_code_at_home(tmp_path):
    folder, home = copy_of_package(tmp_path / "shared"), tmp_path / "home"
    folder.chmod(0o777)
    code = "from perceptrons.core.linear import passes; print(passes.learn.cached.stats.cache_path)"
    assert Path(run(code, folder, XDG_CACHE_HOME=str(home))).is_relative_to(home / "perceptrons")
    home.chmod(0o777)
    assert run(code, folder, XDG_CACHE_HOME=str(home)) == "None"


@posix
@pytest.mark.parametrize(
    ("mode", "above", "private"),
    [
        (0o755, 0o755, True),
        (0o700, 0o1777, True),
        (0o700, 0o777, False),
        (0o702, 0o700, False),
        (0o1777, 0o700, False),
        (0o500, 0o500, True),
    ],
)
def test_private_folders(tmp_path, mode, above, private):
    folder = tmp_path / "above" / "folder"
    folder.mkdir(parents=True)
    folder.chmod(mode)
    folder.parent.chmod(above)
    link = tmp_path / "link"
    link.symlink_to(folder)
    is_private.cache_clear()
    assert is_private(str(folder)) == is_private(str(link)) == private
    assert not is_private(str(tmp_path / "missing"))


@posix
def test_a_link_in_a_folder_of_others_is_not_followed(tmp_path):
    (tmp_path / "folder").mkdir(mode=0o700)
    (tmp_path / "open").mkdir()
    (tmp_path / "open" / "link").symlink_to(tmp_path / "folder")
    (tmp_path / "open").chmod(0o777)
    is_private.cache_clear()
    assert is_private(str(tmp_path / "folder")) and not is_private(str(tmp_path / "open" / "link"))


PRIVACY = """
import grp, os, pwd
from types import SimpleNamespace as Entry
from perceptrons.core.jit.private import is_private
groups = {1: ("me", []), 2: ("team", []), 3: ("me", ["me", "you"])}
grp.getgrgid = lambda gid: Entry(gr_gid=gid, gr_name=groups[gid][0], gr_mem=groups[gid][1])
"""


@as_root
def test_owners_and_groups(tmp_path):
    """Folders of this user and of root will do. A group may write if it is the private group of this user."""
    me, you = 65534, 65533
    code, expected = PRIVACY + f"os.seteuid({me})\n", []
    for uid, gid, mode in product((0, me, you), (1, 2, 3, 4), (0o755, 0o775)):
        folder = tmp_path / f"{uid}-{gid}-{mode:o}"
        folder.mkdir()
        os.chown(folder, uid, gid)
        folder.chmod(mode)
        # Group 1 is private, 2 has another name, 3 another member, 4 does not exist.
        code += f"pwd.getpwuid = lambda uid: Entry(pw_name='me', pw_gid={gid})\nprint(is_private({str(folder)!r}))\n"
        expected.append(str(uid != you and (mode == 0o755 or gid == 1)))
    closed = [
        path for path in (tmp_path, *tmp_path.parents) if not path.stat().st_mode & 0o001
    ]  # pytest closes its own
    for path in closed:
        path.chmod(0o711)
    assert run(code, SOURCE).split() == expected
    for path in closed:
        path.chmod(0o700)


def test_the_digest_covers_all_sources():
    """It looks two folders deep: deeper ones would go unnoticed."""
    core = Path(perceptrons.__file__).parent / "core"
    assert all(len(path.relative_to(core).parts) <= 2 for path in core.rglob("*.py"))
