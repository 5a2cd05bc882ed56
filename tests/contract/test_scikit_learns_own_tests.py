"""scikit-learn's own tests of Perceptron and PassiveAggressiveClassifier, with the classes of this package."""

import importlib

import pytest

import perceptrons

# Tests that these classes do not pass, and why. README.md lists the differences for users.
DIFFERENT = {
    "test_perceptron_l1_ratio": "there are no penalties",
    "test_classifier_accuracy[average]": "private attributes of the mean: `coef_` is the mean itself",
    "test_classifier_partial_fit[average]": "private attributes of the mean: `coef_` is the mean itself",
    "test_classifier_correctness": "the bias counts in ‖x‖², and is not damped for sparse rows",
    "test_passive_aggressive_classifier_vs_sgd": "another random order, and the bias counts in ‖x‖²",
}
OURS = ("Perceptron", "PassiveAggressiveClassifier")


def borrowed(name):
    """The tests of a module of scikit-learn, which now find the classes of this package."""
    try:
        module = importlib.import_module(f"sklearn.linear_model.tests.{name}")
    except ImportError:  # not installed with scikit-learn, or gone together with the class
        return
    for ours in OURS:
        if hasattr(module, ours):
            setattr(module, ours, getattr(perceptrons, ours))
    for test in dir(module):
        if test.startswith("test_") and not {"regressor", "deprecation"} & set(test.split("_")):
            yield test, getattr(module, test)


globals().update(
    {test: function for name in ("test_perceptron", "test_passive_aggressive") for test, function in borrowed(name)}
)


@pytest.fixture(autouse=True)
def differences(request):
    """Expect the differences, and notice when one has gone."""
    name, params = request.node.originalname, getattr(getattr(request.node, "callspec", None), "params", {})
    reason = DIFFERENT.get(name) or (params.get("average") is True and DIFFERENT.get(f"{name}[average]"))
    if reason:
        request.applymarker(pytest.mark.xfail(reason=reason, strict=True))


def test_there_are_some():
    if next(borrowed("test_perceptron"), None) is None:
        pytest.skip("scikit-learn was installed without its tests")
    assert "test_perceptron_correctness" in globals()
