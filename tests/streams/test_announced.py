"""Classes that are announced before their first example, as in `partial_fit`."""

import numpy as np
import pytest
from stream_cases import CASES, assert_equal_bits, everything, growing

from perceptrons import KernelPerceptron, PassiveAggressiveRegressor, Perceptron

ALL = ["ant", "bee", "cat", "dog"]


@pytest.mark.parametrize("case", [name for name in CASES if CASES[name][1] is not None])
def test_equal_to_partial_fit(case):
    """All classes with the first example, and an example of a class that was not announced later."""
    make, n_classes = CASES[case]
    stream, announced = growing(3, 40, 12, n_classes), ALL[-n_classes:][:2]
    model, many, expected = make(), make(), make()
    for i, each in enumerate(stream):
        classes = announced if i in (0, 20) else None
        model.learn_one(each.x, each.y, classes=classes)
        expected.partial_fit(each.X, [each.y], classes)
        assert set(announced) <= set(model.classes_)
    assert_equal_bits(model, expected)
    dicts = [each for each in stream if isinstance(each.x, dict)]
    many.learn_many([each.x for each in dicts], [each.y for each in dicts], classes=announced)
    loop = make()
    for i, each in enumerate(dicts):
        loop.learn_one(each.x, each.y, classes=None if i else announced)
    assert_equal_bits(many, loop)


def test_the_first_example_is_learned():
    for make in (Perceptron, lambda: KernelPerceptron(budget=3)):
        assert make().learn_one({"a": 1.0}, "yes").n_updates_ == 0
        model = make().learn_one({"a": 1.0}, "yes", classes=["no", "yes"])
        assert (model.n_updates_, model.predict_one({"a": 1.0})) == (1, "yes")


@pytest.mark.parametrize("classes", [[1, 2], ["no", None], [["no", "yes"]]], ids=str)
def test_classes_that_are_refused(classes):
    model = Perceptron().learn_one({"a": 1.0}, "no").learn_one({"b": 1.0}, "yes")
    before = everything(model)
    for call in (model.learn_one, lambda x, y, classes: model.learn_many([x], [y], classes=classes)):
        with pytest.raises(ValueError):
            call({"late": 1.0}, "no", classes=classes)
    assert everything(model) == before


def test_values_have_no_classes():
    model = PassiveAggressiveRegressor()
    with pytest.raises(ValueError, match="classes must be None: PassiveAggressiveRegressor predicts numbers"):
        model.learn_one({"a": 1.0}, 1.0, classes=[1.0, 2.0])
    with pytest.raises(ValueError, match="classes must be None"):
        model.learn_many([{"a": 1.0}], [1.0], classes=np.ones(2))
    assert model.predict_one({"a": 1.0}) is None
