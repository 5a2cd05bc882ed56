"""The reference has every public name, and docstrings have what users need: parameters, results, errors, examples."""

import ast
import importlib
import inspect
import re
import textwrap
from pathlib import Path

import pytest

from perceptrons import rules

docscrape = pytest.importorskip("numpydoc.docscrape")
for package in ("matplotlib", "distributed", "river"):
    pytest.importorskip(package)

API = Path(__file__).parents[2] / "docs" / "reference" / "api.md"
PARTS = ("theory", "plots", "data", "store", "structures", "dask", "river", "client")
HARMLESS = {"AssertionError", "NotImplementedError", "StopIteration"}  # raised for programmers

PUBLIC = {
    module: [name for name in importlib.import_module(module).__all__ if name != "__version__"]
    for module in ("perceptrons", *(f"perceptrons.{part}" for part in PARTS))
}
PUBLIC["perceptrons.rules"] = [kind.__name__ for kind in rules.RULES.values()]
PUBLIC["perceptrons.metrics.entities"] = ["EntityReport", "Scores"]  # what `SequenceTagger.report` returns
THINGS = {
    f"{module}.{name}": getattr(importlib.import_module(module), name) for module in PUBLIC for name in PUBLIC[module]
}
FUNCTIONS = [path for path, thing in THINGS.items() if inspect.isfunction(thing)]
CLASSES = [path for path, thing in THINGS.items() if inspect.isclass(thing)]


def test_the_reference_lists_public_names_and_nothing_else():
    listed, module = [], None
    for line in API.read_text().splitlines():
        if found := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
            module = found.group(1)
        elif found := re.fullmatch(r"   (\w+)", line):
            listed.append(f"{module}.{found.group(1)}")
    assert sorted(listed) == sorted(THINGS)


# -- docstrings -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", FUNCTIONS)
def test_functions_are_documented(path):
    doc = parsed(THINGS[path])
    refuse([*faults_of_any(doc, example=True), *faults_of_function(THINGS[path], doc, parameters_of(THINGS[path]))])


@pytest.mark.parametrize("path", CLASSES)
def test_classes_are_documented(path):
    kind, doc = THINGS[path], parsed(THINGS[path])
    said, attributes = names_in(doc, "Parameters"), names_in(doc, "Attributes")
    taken = parameters_of(kind) if takes_parameters(kind) else []
    fields = getattr(kind, "__dataclass_fields__", getattr(kind, "_fields", ()))  # may be documented as attributes
    known = {*said, *(name for name in attributes if name in fields)}
    faults = [f"parameter {name} is not documented" for name in taken if name not in known]
    faults += [f"there is no parameter {name}" for name in said if name not in taken]
    refuse([*faults_of_any(doc, example=True), *faults])


@pytest.mark.parametrize("path", CLASSES)
def test_methods_and_properties_are_documented(path):
    faults = []
    for name, member, function in members(THINGS[path]):
        doc = parsed(member if isinstance(member, property) else function)
        found = list(faults_of_any(doc, example=False))
        if not isinstance(member, property):
            first = 0 if isinstance(member, staticmethod) else 1
            found += faults_of_function(function, doc, parameters_of(function)[first:])
        faults += [f"{name}: {fault}" for fault in found]
    refuse(faults)


def refuse(faults):
    assert not faults, "\n".join(faults)


def parsed(thing):
    return docscrape.NumpyDocString(inspect.getdoc(thing) or "")


def names_in(doc, section):
    """Names in a section; an entry may have several."""
    return [name.lstrip("*") for entry in doc[section] for name in (entry.name or entry.type).split(", ")]


def parameters_of(thing):
    return list(inspect.signature(thing).parameters)


def takes_parameters(kind):
    """Whether the class can be called with parameters that this package defines."""
    if inspect.isabstract(kind):
        return False
    made = [inspect.getattr_static(kind, name) for name in ("__init__", "__new__")]
    modules = [getattr(each, "__module__", None) or "" for each in made]  # those of built-in types have none
    return hasattr(kind, "_fields") or any(module.startswith("perceptrons") for module in modules)


def members(kind):
    """Public methods and properties of a class that this package defines, each with its function."""
    for name in dir(kind):
        member = inspect.getattr_static(kind, name)
        # Of a property, a method that exists only sometimes, and a class method.
        function = next((getattr(member, at) for at in ("fget", "fn", "__func__") if hasattr(member, at)), member)
        if not name.startswith("_") and inspect.isfunction(function) and function.__module__.startswith("perceptrons"):
            yield name, member, function


def faults_of_any(doc, *, example):
    """What is missing in any docstring."""
    summary = " ".join(doc["Summary"])
    if not summary.endswith("."):
        yield f"the summary must end with a full stop: {summary!r}"
    if example and ">>> " not in "\n".join(doc["Examples"]):
        yield "Examples are missing"


def faults_of_function(function, doc, parameters):
    """What is missing in the docstring of a function or method."""
    said = names_in(doc, "Parameters")
    yield from (f"parameter {name} is not documented" for name in parameters if name not in said)
    yield from (f"there is no parameter {name}" for name in said if name not in parameters)
    result = inspect.unwrap(function).__annotations__.get("return")
    if result not in (None, "None") and not doc["Returns"] and not doc["Yields"]:
        yield f"Returns is missing: {result}"
    if result in (None, "None") and doc["Returns"]:
        yield "Returns is there, but nothing is returned"
    if raises(function) and not doc["Raises"]:
        yield "Raises is missing"


def raises(function):
    """Whether the function itself raises an error that users see."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(inspect.unwrap(function))))
    raised = [node.exc for node in ast.walk(tree) if isinstance(node, ast.Raise) and node.exc is not None]
    kinds = [node.func if isinstance(node, ast.Call) else node for node in raised]
    return any(getattr(kind, "id", None) not in HARMLESS for kind in kinds)
