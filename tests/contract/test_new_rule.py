"""A rule is one class in one file: a copy of the package with one more rule has it everywhere."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import perceptrons

RULE = '''

@register("clipped", limit="largest step")
class Clipped(NamedTuple):
    """A step of τ = min(limit, ℓ)."""

    limit: float = 0.5

    def tau(self, margin: float, sq_norm: float, weight: float) -> float:
        return weight * min(self.limit, max(0.0, 1.0 - margin))

    def check(self) -> None:
        require(self.limit > 0, "limit", "> 0", self.limit)
'''


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A package with the rule, and a file to learn from."""
    folder = tmp_path_factory.mktemp("with-rule")
    source = Path(perceptrons.__file__).parent
    shutil.copytree(source, folder / "perceptrons", ignore=shutil.ignore_patterns("__pycache__"))
    rules = folder / "perceptrons" / "rules.py"
    text = rules.read_text()
    at = text.index("def require(")
    rules.write_text(text[:at].rstrip() + RULE + "\n\n" + text[at:])
    (folder / "rows.svm").write_text("1 0:2 1:1\n-1 0:-1 1:3\n1 0:3 1:-1\n-1 0:-2 1:0.5\n")
    return folder


def command(folder, *args):
    env = {**os.environ, "PYTHONPATH": str(folder)}
    line = [sys.executable, "-m", "perceptrons", *map(str, args)]
    return subprocess.run(line, env=env, cwd=folder, capture_output=True, text=True)


def test_the_command_line_has_its_parameter(folder):
    asked = command(folder, "train", "--help")
    assert "--limit" in asked.stdout and "clipped: largest step" in " ".join(asked.stdout.split())
    args = ["train", "rows.svm", "-m", "m.perceptron", "--rule", "clipped", "--no-shuffle", "--passes", 1]
    done = command(folder, *args, "--limit", 0.125, "--readout", "last", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["params"]["rule"] == {"rule": "clipped", "limit": 0.125}
    shown = command(folder, "inspect", "m.perceptron")
    assert "clipped (limit=0.125)" in shown.stdout
    code = (
        "import numpy as np, perceptrons\n"
        "from perceptrons.rules import Clipped\n"
        "model = perceptrons.load('m.perceptron')\n"
        "assert model.rule == Clipped(limit=0.125) and model.get_params()['rule__limit'] == 0.125\n"
        "w = np.zeros(3)\n"  # the formula in plain Python: steps of min(limit, ℓ)
        "for x, y in (([2, 1], 1), ([-1, 3], -1), ([3, -1], 1), ([-2, 0.5], -1)):\n"
        "    x = np.array([*x, 1.0])\n"
        "    w += y * min(0.125, max(0.0, 1.0 - y * w @ x)) * x\n"
        "np.testing.assert_allclose([*model.coef_[0], *model.intercept_], w)\n"
    )
    env = {**os.environ, "PYTHONPATH": str(folder)}
    subprocess.run([sys.executable, "-c", code], env=env, cwd=folder, check=True)


def test_wrong_and_idle_parameters_are_refused(folder):
    args = ["train", "rows.svm", "-m", "n.perceptron"]
    wrong = command(folder, *args, "--rule", "clipped", "--limit", -1)
    assert wrong.returncode == 2 and "limit must be > 0, got -1.0" in wrong.stderr
    idle = command(folder, *args, "--rule", "pa1", "--limit", 1)
    assert idle.returncode == 2 and "--limit needs --rule clipped" in idle.stderr
    assert not (folder / "n.perceptron").exists()


def test_a_parameter_must_be_described():
    from typing import NamedTuple

    from perceptrons.rules import RULES, register

    class Bare(NamedTuple):
        limit: float = 1.0

        def tau(self, margin, sq_norm, weight):
            return 0.0

    with pytest.raises(TypeError, match="must describe each parameter: see limit"):
        register("bare")(Bare)
    assert "bare" not in RULES
