"""Imports point one way, so that the architecture can be seen from the folders; and heavy ones are put off."""

import ast
import inspect
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path

import pytest

import perceptrons

PACKAGE = Path(perceptrons.__file__).parent
# Each folder and the folders that it may import.
ALLOWED = {
    "rules": set(),
    "shown": set(),
    "core": {"rules"},
    "data": {"core", "rules", "shown"},
    "learn": {"core", "data", "rules", "shown"},
    "metrics": {"learn"},
    "solver": {"learn", "core", "data", "rules", "shown"},
    "models": {"solver", "metrics", "learn", "core", "data", "rules", "shown"},
    "structures": {"learn", "core", "rules"},
    "theory": {"solver", "models", "learn", "core", "data", "rules", "shown"},
    "river": {"models", "rules"},
    "dask": {"models", "learn", "data", "rules", "shown"},
    "plots": {"theory", "solver", "models", "learn", "core", "data", "rules", "shown"},
    "store": {"models", "learn", "core", "data", "rules", "shown"},
    "client": {"rules"},
    "serve": {"store", "models", "learn", "core", "data", "rules", "shown"},
    "lab": {"plots", "theory", "solver", "models", "learn", "core", "data", "rules", "shown"},
    "cli": {
        "dask",
        "lab",
        "metrics",
        "serve",
        "plots",
        "theory",
        "solver",
        "store",
        "models",
        "learn",
        "core",
        "data",
        "rules",
        "shown",
    },
}


@cache
def parsed(path):
    """The syntax tree of a file.

    Python 3.11.7 raises SystemError if another thread formats a traceback at the same time, which parses code, too.
    """
    for _ in range(9):
        with suppress(SystemError):
            return ast.parse(path.read_text())
    return ast.parse(path.read_text())


def imported(path):
    """The parts of the package that a file imports; its public names come from the models."""
    for node in ast.walk(parsed(path)):
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
    files = [path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or path.stem in ("rules", "shown")]
    assert len(files) > 10
    for path in files:
        place = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        wrong = set(imported(path)) - ALLOWED[place] - {place}
        assert not wrong, f"{path} must not import {wrong}"


def test_only_models_and_what_stands_above_them_know_scikit_learn():
    knowing = ("models", "theory", "plots", "store", "dask", "serve", "lab", "cli")
    for path in PACKAGE.rglob("*.py"):
        if path.relative_to(PACKAGE).parts[0] not in knowing:
            assert "import sklearn" not in path.read_text() and "from sklearn" not in path.read_text(), path


def test_importing_the_package_loads_nothing_heavy():
    heavy = ("numba", "sklearn", "scipy", "numpy", "matplotlib")
    code = f"import perceptrons, sys; print([m for m in {heavy} if m in sys.modules])"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "[]"


def test_public_names():
    assert {"Perceptron", "PassiveAggressiveClassifier", "PassiveAggressiveRegressor"} <= set(dir(perceptrons))
    with pytest.raises(AttributeError, match="has no attribute 'Perzeptron'"):
        getattr(perceptrons, "Perz" + "eptron")


# -- limits that keep the code readable -------------------------------------------------------------------------------

SOURCES = sorted(PACKAGE.rglob("*.py"))


def test_folders_have_at_most_18_files():
    tests = Path(__file__).parent
    for folder in {path.parent for path in [*SOURCES, *tests.rglob("*.py")]}:
        assert len([path for path in folder.iterdir() if path.is_file()]) <= 18, folder


def test_functions_have_at_most_70_lines():
    for path in SOURCES:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                assert node.end_lineno - node.lineno < 70, f"{path}: {node.name}"


def test_only_readouts_know_which_readout_they_are():
    names = {"Last", "Averaged", "Voted", "Pocket"}
    for path in SOURCES:
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", None) in ("isinstance", "issubclass"):
                asked = {each.id for each in ast.walk(node.args[1]) if isinstance(each, ast.Name)}
                assert not asked & names or path.name == "readouts.py", path


def test_estimators_have_at_most_three_own_classes_above_scikit_learns():
    """What all estimators share, what learners of labels share, and what classifiers share."""
    from perceptrons import models

    for name in models.__all__:
        own = [each for each in getattr(models, name).__mro__[1:] if each.__module__.startswith("perceptrons")]
        assert len(own) <= 3, (name, own)


def test_public_methods_are_documented():
    """`help()` of every public method says what it takes and what it returns."""
    from perceptrons import models

    for name in models.__all__:
        for attribute in dir(getattr(models, name)):
            function = getattr(getattr(models, name), attribute)
            if attribute.startswith("_") or not callable(function):
                continue
            if not (getattr(function, "__module__", None) or "").startswith("perceptrons"):
                continue
            text = function.__doc__ or ""
            code = inspect.unwrap(function).__code__
            takes = code.co_argcount > 1 or code.co_flags & 0x08
            assert "Returns\n" in text and ("Parameters\n" in text or not takes), f"{name}.{attribute}"
