"""Model files of version 0.1.0 still load, predict what they predicted, and go on learning.

`old/told.json` holds what each model said when it was loaded, and after it had learned more. Predictions of classes
are digits, the numbers of classes. Only scores of the first rows are kept, and they are compared with a tolerance:
another processor adds numbers in another order.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from perceptrons import load
from perceptrons.data import source

OLD = Path(__file__).parent / "old"
TOLD = json.loads((OLD / "told.json").read_text(encoding="utf-8"))
TAGGERS = [name for name in TOLD["models"] if name.startswith("tagger")]
CLASSIFIERS = [name for name in TOLD["models"] if name not in ("table", *TAGGERS)]
COUNTS = ("n_seen_", "n_mistakes_", "n_updates_", "converged_")
SENTENCES = [
    "Ada/B-PER Lovelace/I-PER met/O Charles/B-PER Babbage/I-PER",
    "They/O met/O in/O London/B-LOC",
    "Charles/B-PER left/O",
    "Ada/B-PER left/O London/B-LOC",
]
WORDS, LABELS = ([[token.split("/")[part] for token in line.split()] for line in SENTENCES] for part in (0, 1))


def assert_told(model, told):
    """Compare counts and the margin bound; infinity is noted as null."""
    assert [getattr(model, name) for name in COUNTS] == [told[name.strip("_")] for name in COUNTS]
    assert model.mistakes_.tolist() == told["mistakes"]
    bound = np.inf if told["margin_bound"] is None else told["margin_bound"]
    assert model.margin_bound_ == pytest.approx(bound, rel=1e-9)


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classifiers(name):
    told, model = TOLD["models"][name], load(OLD / f"{name}.perceptron")
    X = np.array(TOLD["X"])
    rows = X @ X.T if name == "precomputed" else sp.csr_array(X) if told["sparse"] else X
    y = model.classes_[TOLD["codes"][str(len(told["classes"]))]]
    assert [str(label) for label in model.classes_.tolist()] == told["classes"]
    for when in ("then", "later"):
        if when not in told:
            continue
        if when == "later":
            model.partial_fit(rows[20:], y[20:])
        expected = model.classes_[[int(digit) for digit in told[when]["predicted"]]]
        np.testing.assert_array_equal(model.predict(rows), expected)
        scores = model.decision_function(rows)[:10]
        np.testing.assert_allclose(scores, told[when]["scores"], rtol=1e-9, atol=1e-12)
        assert_told(model, told[when])


@pytest.mark.parametrize("name", TAGGERS)
def test_taggers(name):
    told, model = TOLD["models"][name], load(OLD / f"{name}.perceptron")
    X = WORDS
    if name == "tagger-named":
        X = [[{"w": word, "len": len(word), "title": word.istitle()} for word in words] for words in WORDS]
    assert model.predict(X) == told["then"]["predicted"]
    assert_told(model, told["then"])
    model.partial_fit(X[1:], LABELS[1:])
    assert model.predict(X) == told["later"]["predicted"]
    assert_told(model, told["later"])


def test_a_table():
    model = load(OLD / "table.perceptron")
    assert (
        model.predict(source(OLD / "mail.csv", like=model.encoding_)).tolist() == TOLD["models"]["table"]["predicted"]
    )
