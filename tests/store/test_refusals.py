"""What cannot be saved is refused before anything is written; and starting costs no heavy imports."""

import ast
import copy
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline

from perceptrons import KernelPerceptron, Perceptron, load, save, store
from perceptrons.rules import RULES, Plain


class Mine(NamedTuple):
    """A rule of one's own."""

    def tau(self, margin: float, sq_norm: float, weight: float) -> float:
        return weight if margin <= 0.0 else 0.0


class Child(Perceptron):
    pass


def refused(model, path, error, text):
    path.write_bytes(b"old")
    with pytest.raises(error, match=text):
        save(model, path)
    assert path.read_bytes() == b"old" and list(path.parent.iterdir()) == [path]


def test_rules_of_ones_own(small, path, monkeypatch):
    refused(copy.deepcopy(small).set_params(rule=Mine()), path, ValueError, "rule Mine cannot be saved")
    model = copy.deepcopy(small)
    model._learner.rule = Mine()
    refused(model, path, ValueError, "hold no code")
    monkeypatch.setitem(RULES, "mine", Mine)
    refused(copy.deepcopy(small).set_params(rule="mine"), path, ValueError, "rule must be one of perceptron, margin")
    assert issubclass(RULES["perceptron"], Plain)


def test_kernels_of_ones_own(data, path):
    model = KernelPerceptron(kernel=lambda A, B: A @ B.T, max_iter=2).fit(data[0], data[1])
    refused(model, path, ValueError, "kernel=<function .* is a function")


def test_random_states_and_odd_parameters(small, path):
    state = np.random.RandomState(0)
    refused(copy.deepcopy(small).set_params(random_state=state), path, ValueError, "is a RandomState")
    refused(
        copy.deepcopy(small).set_params(class_weight={1: Decimal(1)}),
        path,
        ValueError,
        "class_weight=.* cannot be saved",
    )
    refused(copy.deepcopy(small).set_params(eta0=-1), path, ValueError, "eta0")


def test_other_models(small, path):
    refused(Perceptron(), path, NotFittedError, "not fitted")
    refused(make_pipeline(small), path, TypeError, "got Pipeline; of a pipeline, save the last step")
    refused(Child(max_iter=1), path, TypeError, "got Child")
    refused("model", path, TypeError, "got str")


def test_odd_classes_and_numbers(small, path):
    for classes in (np.array([b"a", b"b"]), np.array([1, "a"], dtype=object), np.array([1, 2], dtype=complex)):
        model = copy.deepcopy(small)
        model.classes_ = classes
        refused(model, path, ValueError, "classes of type .* cannot be saved")
    model = copy.deepcopy(small)
    model._learner.state["w"][1] = np.nan
    refused(model, path, ValueError, "NaN or infinite numbers in 'w'")


def test_sums_that_overflow(small, path):
    """What is saved can be loaded: ‖w‖² that is added up step by step is only an estimate, Στ is part of a proof."""
    model = copy.deepcopy(small)
    for wrong in (np.inf, -np.inf, np.nan):
        model._learner.totals.sq_norm = wrong
        save(model, path)
        assert np.isfinite(load(path)._learner.totals.sq_norm)
    model._learner.totals.sum_tau = np.inf
    refused(model, path, ValueError, "the model cannot be saved: its sum_tau overflows float64")


def test_a_full_disk_leaves_the_old_file(small, path):
    resource = pytest.importorskip("resource")
    code = (
        "import resource, signal, sys\n"
        "import numpy as np\n"
        "from perceptrons.store.format import write_file\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        "write_file(sys.argv[1], {}, {'w': np.zeros(100_000)})\n"
    )
    assert resource.RLIMIT_FSIZE is not None
    path.write_bytes(b"old")
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert "OSError" in run.stderr and run.returncode == 1
    assert path.read_bytes() == b"old" and list(path.parent.iterdir()) == [path]


def test_nothing_in_the_package_can_execute_a_file():
    files = list(Path(store.__file__).parent.glob("*.py"))
    assert len(files) > 5
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module] if isinstance(node, ast.ImportFrom) else []
            names += [node.id] if isinstance(node, ast.Name) else []
            wrong = {"pickle", "marshal", "shelve", "joblib", "eval", "exec", "compile", "__import__"}
            assert not wrong & set(names), file


def test_reading_and_writing_import_nothing_heavy(small, path):
    save(small, path)
    code = (
        "import sys; from perceptrons.store import read, write; saved = read(sys.argv[1]); write(saved, sys.argv[1]);"
        "print([m for m in ('sklearn', 'scipy.sparse', 'pyarrow', 'onnx', 'pandas') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_write_takes_what_read_returns(tmp_path):
    with pytest.raises(TypeError, match=r"saved must be what `read` returns, got Perceptron; use `save`"):
        store.write(Perceptron(), tmp_path / "model")
    assert not (tmp_path / "model").exists()
