"""Compiled code on disk: a second process compiles nothing, edits are noticed, others cannot put code there."""

import os
import shutil
import struct
import subprocess
import sys
from itertools import product
from pathlib import Path

import pytest

import perceptrons
from perceptrons.core.jit import private
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
    return (done.stdout + done.stderr).strip()


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


def package_without_a_folder(tmp_path):
    """A copy of the package, and an environment: machine code can be kept neither beside the source nor at home."""
    folder = copy_of_package(tmp_path)
    blocked = folder / "blocked"
    blocked.write_text("a file where a folder would be needed")
    (folder / "perceptrons" / "core" / "jit" / "__pycache__").write_text("likewise")
    return folder, {"HOME": str(blocked), "XDG_CACHE_HOME": str(blocked / "cache"), "TMPDIR": str(blocked)}


def test_no_folder_to_write_in_is_no_failure(tmp_path):
    folder, environment = package_without_a_folder(tmp_path)
    code = (
        "import numpy as np\n"
        "from perceptrons import Perceptron\n"
        "print(Perceptron().fit(np.array([[1.0], [-1.0]]), [1, 0]).predict(np.array([[5.0]]))[0])"
    )
    out = run(code, folder, **environment)
    assert out.startswith("1") and out.count("compiles anew in every process") == 1  # not once for every function


@pytest.mark.skipif(os.name != "posix", reason="other systems give every user a home")
def test_code_of_a_user_without_a_home_is_in_the_temporary_folder(tmp_path):
    folder, environment = package_without_a_folder(tmp_path)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    temporary.chmod(0o1777)
    environment["TMPDIR"] = str(temporary)
    first, weights = run(FIT, folder, **environment).split(" ", 1)
    assert int(first) > 0 and run(FIT, folder, **environment) == f"0 {weights}"
    (own,) = temporary.iterdir()
    own.chmod(0o777)
    assert "other users can write to" in run(FIT, folder, **environment)


def test_a_rule_of_the_users_is_compiled_as_it_stands_now(tmp_path):
    # Were it kept on disk, the second process would still step by the first formula.
    folder = copy_of_package(tmp_path)
    assert run(RULE.format(length=0.5), folder) == "[[1.0, 2.0]]"
    assert run(RULE.format(length=0.25), folder) == "[[0.5, 1.0]]"


# -- folders that others can write --------------------------------------------------------------------------------

as_root = pytest.mark.skipif(getattr(os, "geteuid", int)() != 0, reason="only root can give folders away")
posix = pytest.mark.skipif(os.name != "posix", reason="other systems have other permissions")


@posix
def test_a_package_that_others_can_write_keeps_its_code_at_home(tmp_path):
    folder, home = copy_of_package(tmp_path / "shared"), tmp_path / "home"
    folder.chmod(0o777)
    code = "from perceptrons.core import random; import numpy as np\n"
    code += "random.shuffle(np.zeros((1, 1), np.uint32), np.uint64(1), np.uint64(1))"
    run(code, folder, XDG_CACHE_HOME=str(home))
    (file,) = home.rglob("*.native")
    assert not list(folder.rglob("*.native"))
    file.unlink()
    home.chmod(0o777)
    assert "other users can write to" in run(code, folder, XDG_CACHE_HOME=str(home), TMPDIR=str(folder))
    assert not list(tmp_path.rglob("*.native"))


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
    assert is_private(str(folder)) == is_private(str(link)) == private
    assert not is_private(str(tmp_path / "missing"))


@posix
def test_a_link_in_a_folder_of_others_is_not_followed(tmp_path):
    folder, public = tmp_path / "folder", tmp_path / "public"
    folder.mkdir(mode=0o700)
    public.mkdir(mode=0o755)
    (public / "link").symlink_to("../folder")
    (tmp_path / "first").symlink_to("folder/../public/link")  # a chain: the second link can be replaced
    assert is_private(str(tmp_path / "first"))
    public.chmod(0o777)
    assert is_private(str(folder))
    assert not is_private(str(public / "link")) and not is_private(str(tmp_path / "first"))


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="only Linux")
def test_a_list_of_others_who_may_write_is_noticed(tmp_path, monkeypatch):
    monkeypatch.setattr(private, "_has_no_other_member", lambda group: True)
    tmp_path.chmod(0o770)
    assert is_private(str(tmp_path))
    # The owner, the user 65533, the group, the mask, others: tag, permissions, id.
    entries = [(1, 7, 2**32 - 1), (2, 7, 65533), (4, 0, 2**32 - 1), (16, 7, 2**32 - 1), (32, 0, 2**32 - 1)]
    try:
        content = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
        os.setxattr(tmp_path, "system.posix_acl_access", content)
    except OSError:
        pytest.skip("the file system has no access control lists")
    assert not is_private(str(tmp_path))


PRIVACY = """
import grp, os, pwd
from types import SimpleNamespace as Entry
from perceptrons.core.jit.private import is_private
groups = {1: ("me", []), 2: ("team", []), 3: ("me", ["me", "you"]), 5: ("me", [])}
grp.getgrgid = lambda gid: Entry(gr_gid=gid, gr_name=groups[gid][0], gr_mem=groups[gid][1])
pwd.getpwall = lambda: [Entry(pw_uid=65533, pw_gid=5), pwd.getpwuid(0)]
"""


@as_root
def test_owners_and_groups(tmp_path, open_to_others):
    """Folders of this user and of root will do. A group may write if it is the private group of this user."""
    me, you = 65534, 65533
    code, expected = PRIVACY + f"os.seteuid({me})\n", []
    for uid, gid, mode in product((0, me, you), (1, 2, 3, 4, 5), (0o755, 0o775)):
        folder = tmp_path / f"{uid}-{gid}-{mode:o}"
        folder.mkdir()
        os.chown(folder, uid, gid)
        folder.chmod(mode)
        # Group 1 is private, 2 has another name, 3 another member, 4 does not exist, 5 is also another user's first.
        code += f"pwd.getpwuid = lambda uid: Entry(pw_name='me', pw_gid={gid}, pw_uid={me})\n"
        code += f"print(is_private({str(folder)!r}))\n"
        expected.append(str(uid != you and (mode == 0o755 or gid == 1)))
    assert run(code, SOURCE).split() == expected


def test_the_digest_covers_all_sources():
    """It looks two folders deep: deeper ones would go unnoticed."""
    core = Path(perceptrons.__file__).parent / "core"
    assert all(len(path.relative_to(core).parts) <= 2 for path in core.rglob("*.py"))
