"""Models of files, whose features were scaled, go on with single examples."""

import numpy as np
import pandas as pd
import pytest
from stream_cases import bits, differing

from perceptrons import Perceptron
from perceptrons.data import source


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    jobs = rng.choice(["cook", "nurse", "pilot"], 60)
    kinds = ["yes" if k % 3 else "no" for k in range(60)]
    ages, pays = rng.normal(40, 10, 60).round(2), rng.normal(5000, 900, 60).round(1)
    lines = [",".join(map(str, line)) for line in zip(ages, pays, jobs, kinds, strict=True)]
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["age,pay,job,kind", *lines]) + "\n")
    return path


def fitted(table):
    return Perceptron(max_iter=3, tol=None, readout="averaged").fit(source(table, target="kind"))


def test_rows_equal_partial_fit(table):
    one, many = fitted(table), fitted(table)
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(40, 10, 20), rng.normal(5000, 900, 20), rng.integers(0, 2, (20, 3))])
    X = X[:, : one.n_features_in_]
    for row, label in zip(X, ["yes", "no"] * 10, strict=True):
        frame = pd.DataFrame(row[np.newaxis], columns=many.feature_names_in_)  # frames go the way of batches
        assert one.predict_one(row) == many.predict(frame)[0]
        assert one.score_one(row) == many.decision_function(frame)[0]
        one.learn_one(row, label)
        many.partial_fit(frame, [label])
    assert differing(bits(one), bits(many)) == []


def test_dicts_are_rows_of_the_table(table):
    """A number that a dict does not have is missing, and counts as the mean: on the scale of training it is 0."""
    one, other = fitted(table), fitted(table)
    names, centre = list(one.feature_names_in_), one._learner.scaling.centre
    rng = np.random.default_rng(2)
    for k in range(20):
        x = {"age": float(rng.normal(40, 10)), "pay": float(rng.normal(5000, 900)), "job": "nurse"}
        if k % 4 == 0:
            del x["pay"]
        row = np.zeros(len(names))
        row[: len(centre)] = centre
        row[names.index("age")], row[names.index("job=nurse")] = x["age"], 1.0
        row[names.index("pay")] = x.get("pay", row[names.index("pay")])
        assert one.score_one(x) == pytest.approx(other.score_one(row), rel=1e-9, abs=1e-9)
        one.learn_one(x, "yes" if k % 2 else "no")
        other.learn_one(row, "yes" if k % 2 else "no")
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=1e-9, atol=1e-12)


def test_pairs_of_centred_features_are_dense(table):
    """An index that a pair does not have is 0, which is far from the mean."""
    model = fitted(table)
    row = np.zeros(model.n_features_in_)
    row[0] = 41.0
    assert model.score_one((np.array([0]), np.array([41.0]))) == pytest.approx(model.score_one(row))
