"""Bad input changes nothing, and the error says what is wrong."""

import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from stream_cases import assert_equal_bits, everything

from perceptrons import KernelPerceptron, PassiveAggressiveClassifier, PassiveAggressiveRegressor, Perceptron

NAN, INF = float("nan"), float("inf")
# What is wrong with an example, and words of the error.
EXAMPLES = {
    "NaN": ({"a": 1.0, "b": NAN}, "the feature 'b' of x is NaN"),
    "infinity": ({"a": -INF, "b": 1.0}, "the feature 'a' of x is infinite"),
    "NaN of a new feature": ({"late": NAN}, "the feature 'late' of x is NaN"),
    "NaN of a decimal": ({"late": Decimal("nan")}, "the feature 'late' of x"),
    "None": ({"late": 1.0, "b": None}, "the feature 'b' of x must be a number or text, got None"),
    "a list": ({"late": [1.0]}, "the feature 'late' of x must be a number or text.* Flatten it: .*'late.0'"),
    "bytes": ({"late": b"1.0"}, "the feature 'late' of x must be a number or text"),
    "complex": ({"late": 1 + 2j}, "the feature 'late' of x must be a number or text"),
    "an array": ({"late": np.ones(1)}, "the feature 'late' of x must be a number or text"),
    "a dict": ({"late": {"b": 1}}, "the feature 'late' of x must be a number or text.* Flatten it: .*'late.b'"),
    "a key that is a tuple": ({("late", 1.5): 1.0}, "names of features must be text"),
    "a key that is None": ({None: 1.0}, "names of features must be text"),
    "a key that is a number": ({1.5: 1.0}, "names of features must be text"),
    "a key that is a truth value": ({True: 1.0}, "names of features must be text"),
    "a key that is bytes": ({b"a": 1.0}, "names of features must be text"),
    "two keys with one name": ({"a": 1.0, "job=cook": 1.0, "job": "cook"}, "'job=cook' occurs twice"),
    "two keys with one new name": ({"late=b": 1.0, "late": "b"}, "'late=b' occurs twice"),
    "a number and its text": ({7: 1.0, "7": 2.0}, "'7' occurs twice"),
    "too long a row": ({"a": 1e200, "late": 1e200}, "overflows"),
    "too large a whole number": ({"late": 10**400}, "'late' of x is too large"),
    "a row with NaN": ([1.0, NAN, 2.0], "NaN"),
    "a row with infinity": (np.array([1.0, INF, 2.0]), "infinity"),
    "a row with None": ([1.0, None, 2.0], "."),
    "a row with too large a whole number": ([1.0, 10**400, 2.0], "too large for float64"),
    "a row of text": (["a", "b", "c"], "x must be one example.* got text: .* Give categories names"),
    "a text": ("abc", r"x must be one example.* got str. .*Counter\("),
    "a number": (3.0, "x must be one example.* got float. .*give it a name"),
    "nothing": (None, "x must be one example.* got NoneType"),
    "bytes instead of an example": (b"abc", "x must be one example.* got bytes"),
    "a set": ({1.0, 2.0, 3.0}, r"x must be one example.* got set. .*dict.fromkeys\(x, 1\)"),
    "a generator": (iter([1.0, 2.0, 3.0]), r"x must be one example.* got list_iterator. Pass dict\(x\)"),
    "a list of dicts": ([{"a": 1.0}], "x must be one example.* got list. For several dicts, use learn_many"),
    "a pair of dicts": (
        ({"a": 1.0}, {"b": 1.0}),
        "x must be one example.* got tuple. For several dicts, use learn_many",
    ),
    "a data frame": (pd.DataFrame({"a": [1.0]}), "x must be one example.* got DataFrame. .*learn_many"),
    "a sparse matrix that is a dict": (sp.dok_matrix(np.eye(3)), "x must be one example.* dok_matrix. Of a sparse"),
    "a sparse matrix": (sp.csr_matrix(np.eye(3)), r"x must be one example.* csr_matrix. .*\(x.indices, x.data\)"),
    "a complex row": (np.array([1j, 0, 0]), "[Cc]omplex"),
    "two rows": (np.ones((1, 3)), r"x must be one example.* got shape \(1, 3\)"),
    "nested lists": ([[1.0, 2.0, 3.0]], "x must be one example"),
    "a ragged row": ([1.0, [2.0, 3.0], 4.0], "x must be one example.* different lengths"),
    "too short a row": ([1.0, 2.0], "x has 2 features, but .* is expecting 3 features as input"),
    "too wide a row": (np.ones(4), "x has 4 features, but .* is expecting 3 features as input"),
    "an empty row": ([], "x has 0 features, but .* is expecting 3 features as input"),
    "a pair of other lengths": (([0, 1], [1.0]), r"as many indices as values.*\(2,\) and \(1,\)"),
    "a pair of matrices": ((np.zeros((1, 1), dtype=int), np.ones((1, 1))), "as many indices as values"),
    "an index below 0": (([0, -1], [1.0, 2.0]), "must be 0 or more and below .*, got -1"),
    "an index that is a float": (([0.0, 1.0], [1.0, 2.0]), "indices of a pair must be whole numbers, got float64"),
    "an index that is text": ((["a"], [1.0]), "indices of a pair must be whole numbers"),
    "an index that is a truth value": (([True], [1.0]), "indices of a pair must be whole numbers, got bool"),
    "a huge index": (([2**40], [1.0]), "must be 0 or more and below .*, got 1099511627776"),
    "an index beyond int64": (([2**70], [1.0]), "indices of a pair must be"),
    "a pair with NaN": (([0, 5], [1.0, NAN]), "NaN"),
    "a pair with infinity": (([1], [INF]), "infinity|infinite"),
    "a pair of text": (([0], ["a"]), "values of a pair must be numbers"),
    "a pair of None": (([0], [None]), "values of a pair must be numbers"),
    "a complex pair": (([0], [1j]), "values of a pair must be numbers"),
    "a ragged pair": (([0, [1]], [1.0, 2.0]), "."),
    "too long a pair": (([0, 9], [1e200, 1.0]), "overflows"),
}


def trained(model):
    """A model with three features: a, b, job=cook."""
    values = isinstance(model, PassiveAggressiveRegressor)
    for x, y in ({"a": 1.0, "b": -2.0}, 1.0), ({"b": 1.5, "job": "cook"}, 2.0), ({"a": -1.0}, 1.0):
        model.learn_one(x, y if values else {1.0: "no", 2.0: "yes"}[y])
    return model


@pytest.mark.parametrize("bad", EXAMPLES)
def test_examples(bad):
    x, message = EXAMPLES[bad]
    for make in (lambda: Perceptron(readout="averaged"), PassiveAggressiveRegressor):
        model = trained(make())
        before, names = everything(model), list(model.feature_names_in_)
        y = 1.0 if isinstance(model, PassiveAggressiveRegressor) else "yes"
        with pytest.raises((ValueError, TypeError), match=re.compile(message, re.DOTALL)):
            model.learn_one(x, y)
        assert everything(model) == before and list(model.feature_names_in_) == names
        model.learn_one({"late": 1.0}, y)  # a name that was refused gets its number now
        assert_equal_bits(model, trained(make()).learn_one({"late": 1.0}, y))
        assert model.feature_names_in_.tolist() == [*names, "late"]


WIDTHS = ("too short a row", "too wide a row", "an empty row")


@pytest.mark.parametrize("bad", [name for name in EXAMPLES if name not in WIDTHS])
def test_examples_for_models_that_have_learned_nothing(bad):
    x, message = EXAMPLES[bad]
    for model in (Perceptron(), KernelPerceptron(budget=3)):
        before = everything(model)
        with pytest.raises((ValueError, TypeError), match=re.compile(message, re.DOTALL)):
            model.learn_one(x, "yes")
        assert everything(model) == before
        assert model.predict_one({"a": 1.0}) is None


# Unknown names are ignored in prediction, so these are fine, or another error comes first.
IGNORED = ("NaN of a new feature", "NaN of a decimal", "too large a whole number")
HIDDEN = ("two keys with one new name", "a number and its text", "too long a row", "too long a pair", *IGNORED)


@pytest.mark.parametrize("bad", [name for name in EXAMPLES if name not in HIDDEN])
def test_examples_in_prediction(bad):
    x, message = EXAMPLES[bad]
    model = trained(Perceptron())
    before = everything(model)
    for ask in (model.predict_one, model.score_one, model.explain_one):
        if bad == "a huge index" or bad == "a pair with NaN":
            continue  # beyond what the model knows
        with pytest.raises((ValueError, TypeError), match=re.compile(message, re.DOTALL)):
            ask(x)
    assert everything(model) == before


def test_missing_values_of_unknown_features_in_prediction():
    """None and NaN alike: the feature is ignored, whatever its value would be. Of known features, both are errors."""
    for make in (Perceptron, lambda: Perceptron(readout="averaged"), lambda: KernelPerceptron(budget=3)):
        model = trained(make())
        for missing in (None, NAN):
            assert model.predict_one({"a": 3.0, "late": missing}) == model.predict_one({"a": 3.0})
            assert model.score_one({"late": missing, "a": 3.0}) == model.score_one({"a": 3.0})
            assert model.predict_many([{"a": 3.0, "late": missing}]) == model.predict_many([{"a": 3.0}])
            for call in (model.predict_one, model.score_one, lambda x, m=model: m.learn_one(x, "no")):
                with pytest.raises(ValueError, match="'a' of x"):
                    call({"a": missing})


LABELS = {
    "a list": [1, 2],
    "a dict": {},
    "a set": {1},
    "NaN": NAN,
    "None": None,
    "infinity": INF,
    "an array": np.ones(2),
    "a number among text": 3,
    "a fraction": 0.5,
}


@pytest.mark.parametrize("bad", LABELS)
@pytest.mark.parametrize("make", [Perceptron, PassiveAggressiveClassifier, lambda: KernelPerceptron(budget=3)])
def test_labels(make, bad):
    model = trained(make())
    before = everything(model) if not isinstance(model, KernelPerceptron) else model.dual_coef_.tolist()
    with pytest.raises((ValueError, TypeError)):
        model.learn_one({"a": 1.0, "late": 2.0}, LABELS[bad])
    after = everything(model) if not isinstance(model, KernelPerceptron) else model.dual_coef_.tolist()
    assert after == before
    assert "late" not in list(model.feature_names_in_)


@pytest.mark.parametrize("y", [["no"], ("no", "yes"), np.array(["no"]), pd.Series(["no"]), {}, None], ids=repr)
def test_labels_that_are_not_one(y):
    for model in (trained(Perceptron()), Perceptron(), KernelPerceptron(budget=3)):
        with pytest.raises(ValueError, match=f"y must be one label, got {'None' if y is None else type(y).__name__}"):
            model.learn_one({"a": 1.0}, y)
    with pytest.raises(ValueError, match="y must be one number"):
        trained(PassiveAggressiveRegressor()).learn_one({"a": 1.0}, y)
    assert trained(Perceptron()).learn_one({"a": 1.0}, np.array("no")).n_seen_ == 4  # one label all the same


@pytest.mark.parametrize("X", [[{"a": 1.0}], ({"a": 1.0}, {"b": 1.0}), {"a": 1.0}], ids=repr)
def test_dicts_instead_of_arrays(X):
    for model in (trained(Perceptron()), trained(KernelPerceptron(budget=3)), trained(PassiveAggressiveRegressor())):
        y = [1.0] * len(X) if isinstance(model, PassiveAggressiveRegressor) else ["no"] * len(X)
        for call in (
            lambda m=model, y=y: m.fit(X, y),
            lambda m=model, y=y: m.partial_fit(X, y),
            lambda m=model: m.predict(X),
        ):
            with pytest.raises(ValueError, match=r"(?s)got (a dict|dicts)\. .*learn_many.*learn_one.*predict_many"):
                call()


def test_text_for_a_model_of_numbers():
    model = Perceptron().learn_one({"a": 1.0}, 0).learn_one({"a": -1.0}, 1)
    before = everything(model)
    with pytest.raises(ValueError, match="labels do not match: known classes are 0, 1"):
        model.learn_one({"late": 1.0}, "spam")
    assert everything(model) == before


@pytest.mark.parametrize("y", [NAN, INF, None, "much", [1.0, 2.0], 1j, 10**400], ids=lambda y: str(y)[:9])
def test_values(y):
    model = trained(PassiveAggressiveRegressor())
    before = everything(model)
    with pytest.raises((ValueError, TypeError)):
        model.learn_one({"a": 1.0, "late": 2.0}, y)
    assert everything(model) == before


@pytest.mark.parametrize("weight", [-1.0, NAN, INF, "heavy", [1.0, 2.0], [[1.0]], 10**400], ids=lambda w: str(w)[:9])
@pytest.mark.parametrize("make", [Perceptron, PassiveAggressiveRegressor])
def test_sample_weights(make, weight):
    model = trained(make())
    before = everything(model)
    with pytest.raises((ValueError, TypeError), match=r"sample_weight|could not convert"):
        model.learn_one({"a": 1.0, "late": 2.0}, 1.0 if make is PassiveAggressiveRegressor else "no", weight)
    assert everything(model) == before


def test_rules_that_accept_no_weights():
    model = Perceptron(rule="pa").learn_one({"a": 1.0}, "no").learn_one({"a": -1.0}, "yes")
    before = everything(model)
    with pytest.raises(ValueError, match="does not accept sample_weight"):
        model.learn_one({"late": 1.0}, "no", 2.0)
    assert everything(model) == before


@pytest.mark.parametrize("readout", ["last", "averaged", "voted"])
def test_steps_that_overflow(readout):
    """Every row is finite, and so is its length, but w is not."""
    model = Perceptron(readout=readout, eta0=1e200).learn_one({"a": 1.0}, "no").learn_one({"a": -1.0}, "yes")
    model.learn_one({"a": 1.0}, "no")
    before = everything(model)
    with pytest.raises(ValueError, match=r"overflow|finite"):
        model.learn_one({"a": 1e150, "late": 1e150}, "yes" if model.score_one({"a": 1.0}) <= 0 else "no")
    assert everything(model) == before
    with pytest.raises(ValueError, match=r"overflow|finite"):
        model.learn_many([{"late": 1.0}, {"a": 1e150, "late": -1e150}], ["no", "yes"])
    assert everything(model) == before


# -- settings that a stream does not allow ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"class_weight": "balanced"}, "class_weight='balanced' needs all labels in advance"),
        ({"early_stopping": True}, "early_stopping should be False"),
        ({"eta0": -1.0}, "eta0"),
        ({"tie": "maybe"}, "tie"),
        ({"rule": "unheard of"}, "rule"),
        ({"rule": "arow", "readout": "voted"}, "does not combine"),
        ({"rule": "romma", "eta0": 0.5}, "eta0 must be 1"),
        ({"penalty": "l2"}, "penalty must be None"),
    ],
    ids=str,
)
def test_settings(settings, message):
    model = Perceptron(**settings)
    before = everything(model)
    for call in (lambda: model.learn_one({"a": 1.0}, "no"), lambda: model.learn_many([{"a": 1.0}], ["no"])):
        with pytest.raises(ValueError, match=message):
            call()
    assert everything(model) == before
    if "readout" in settings:
        return
    model = trained(Perceptron())
    before = {**everything(model), **{name: repr(value) for name, value in settings.items()}}
    with pytest.raises(ValueError):
        model.set_params(**settings).learn_one({"late": 1.0}, "no")
    after = everything(model)
    assert [name for name in before if after[name] != before[name] and not name.startswith("rule__")] == []


def test_the_pocket_compares_hypotheses_on_all_rows():
    model = Perceptron(readout="pocket")
    for call in (lambda: model.learn_one({"a": 1.0}, "no"), lambda: model.learn_many([{"a": 1.0}], ["no"])):
        with pytest.raises(AttributeError, match="cannot learn from a stream, because readout='pocket'"):
            call()
    assert model.predict_one({"a": 1.0}) is None


def test_a_label_that_is_an_array_without_dimensions():
    model = trained(Perceptron())
    before = everything(model)
    with pytest.raises(ValueError, match="1d array"):
        model.partial_fit(np.ones((1, 3)), np.array("yes"))
    assert everything(model) == before


def test_weights_of_new_features():
    """The weight is refused before there is room for the feature."""
    for weight in (10**400, -1.0, NAN):
        model = trained(Perceptron())
        before = everything(model)
        with pytest.raises(ValueError, match="sample_weight must be >= 0 and finite"):
            model.learn_one({"late": 1.0}, "yes", weight)
        assert everything(model) == before
