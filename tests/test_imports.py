"""Imports point one way, so that the architecture can be seen from the folders; and heavy ones are put off."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import perceptrons

PACKAGE = Path(perceptrons.__file__).parent
# Each folder and the folders that it may import.
ALLOWED = {
    "rules": set(),
    "core": {"rules"},
    "data": {"core", "rules"},
    "learn": {"core", "data", "rules"},
    "metrics": {"learn"},
    "models": {"metrics", "learn", "core", "data", "rules"},
    "structures": {"learn", "core", "rules"},
    "theory": {"models", "learn", "core", "data", "rules"},
    "plots": {"theory", "models", "learn", "core", "data", "rules"},
    "store": {"models", "learn", "core", "data", "rules"},
    "cli": {"metrics", "plots", "theory", "store", "models", "learn", "core", "data", "rules"},
}


def imported(path):
    """The parts of the package that a file imports; its public names come from the models."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "perceptrons":
            for alias in node.names:
                if alias.name != "__version__":
                    yield alias.name if alias.name in ALLOWED else "models"
        names = [node.module] if isinstance(node, ast.ImportFrom) else []
        names += [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        for name in names:
            if name and name.startswith("perceptrons."):
                yield name.split(".")[1]


def test_imports_point_one_way():
    files = [path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.stem == "rules"]
    assert len(files) > 10
    for path in files:
        place = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        wrong = set(imported(path)) - ALLOWED[place] - {place}
        assert not wrong, f"{path} must not import {wrong}"


def test_only_models_and_what_stands_above_them_know_scikit_learn():
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).parts[0] not in ("models", "theory", "plots", "store", "cli"):
            assert "import sklearn" not in path.read_text() and "from sklearn" not in path.read_text(), path


def test_importing_the_package_loads_nothing_heavy():
    heavy = ("numba", "sklearn", "scipy", "numpy", "matplotlib")
    code = f"import perceptrons, sys; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_public_names():
    assert {"Perceptron", "PassiveAggressiveClassifier"} <= set(dir(perceptrons))
    with pytest.raises(AttributeError, match="has no attribute 'Perzeptron'"):
        getattr(perceptrons, "Perz" + "eptron")
