"""Compiled code on disk: a second process compiles nothing, an edit is noticed, and no folder is no failure."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import perceptrons

SOURCE = Path(perceptrons.__file__).parents[1]
FIT = """
import numpy as np, scipy.sparse as sp, warnings
from perceptrons import Perceptron
from perceptrons.core import rows
from perceptrons.core.linear import passes
warnings.simplefilter("ignore")
X = np.array([[2.0, 1.0], [-1.0, 3.0], [0.0, -2.0], [-3.0, 0.0]])
for readout in ("last", "averaged"):
    for data in (X, sp.csr_array(X)):
        Perceptron(max_iter=3, readout=readout).fit(data, [1, 1, 0, 0]).predict(data)
model = Perceptron(max_iter=3, shuffle=False).fit(X, [1, 1, 0, 0])
kernels = (passes.learn, passes.decide, passes.shuffle, rows.survey)
print(sum(sum(kernel.cached.stats.cache_misses.values()) for kernel in kernels), model.coef_.tolist())
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
    # The formula is in another file than the kernel that it is compiled into.
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
    (folder / "perceptrons" / "core" / "__pycache__").write_text("likewise")
    environment = {"HOME": str(blocked), "XDG_CACHE_HOME": str(blocked / "cache"), "NUMBA_CACHE_DIR": ""}
    code = (
        "import numpy as np\n"
        "from perceptrons import Perceptron\n"
        "from perceptrons.core import passes\n"
        "assert passes.learn.cached is passes.learn.fresh\n"
        "print(Perceptron().fit(np.array([[1.0], [-1.0]]), [1, 0]).predict(np.array([[5.0]]))[0])"
    )
    assert run(code, folder, **environment) == "1"


def test_a_rule_of_the_users_is_compiled_as_it_stands_now(tmp_path):
    # Were it kept on disk, the second process would still step by the first formula.
    folder = copy_of_package(tmp_path)
    assert run(RULE.format(length=0.5), folder) == "[[1.0, 2.0]]"
    assert run(RULE.format(length=0.25), folder) == "[[0.5, 1.0]]"
