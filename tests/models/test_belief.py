"""Probabilities of rules with a covariance: Φ(s/√v) for two classes, the largest of normal scores for several."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import dump_svmlight_file
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import cross_val_predict, cross_val_score

from perceptrons import KernelPerceptron, PassiveAggressiveClassifier, Perceptron, load, save
from perceptrons.data import source
from perceptrons.learn.linear import belief
from perceptrons.learn.state import Growth
from perceptrons.rules import AROW, RULES, kind_of

METRIC = [name for name, rule in RULES.items() if kind_of(rule) == "metric"]


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # few passes do not converge
        yield


def rows(n_classes, n=120, d=5, seed=0):
    random = np.random.default_rng(seed)
    X = random.normal(size=(n, d)) * (1 + np.arange(d))
    y = (X[:, :n_classes] + 3 * random.normal(size=(n, n_classes))).argmax(axis=1)
    return X, np.array(["ash", "birch", "cedar", "dogwood"])[y]


def of_scores(model, X):
    """Means and variances of scores by dense matrices, with the constant of the bias as the last feature."""
    learner, covariance = model._learner, getattr(model._learner.rule, "covariance", "")
    X = np.column_stack([X, np.full(len(X), learner.bias)])
    kept = learner.state[learner.shape.key]
    n_scores = model.coef_.shape[0]
    variances = []
    for number in range(n_scores):
        if covariance == "full":
            root = kept if n_scores == 1 else kept[number]
            sigma = root @ root.T
        else:
            sigma = np.diag(kept if n_scores == 1 else kept[:, number])
        variances.append(np.einsum("ij,jk,ik->i", X, sigma, X))
    return X[:, :-1] @ model.coef_.T + model.intercept_, np.column_stack(variances)


def by_quad(s, v):
    """P(score c is the largest) by SciPy's adaptive quadrature."""
    sd, found = np.sqrt(v), []
    for c in range(len(s)):

        def density(t, c=c):
            others = np.delete((t - s) / sd, c)
            return norm.cdf(others).prod() * norm.pdf((t - s[c]) / sd[c]) / sd[c]

        ends = np.sort(
            np.concatenate([s[c] + sd[c] * np.array([-9, 0, 9]), np.clip(s, s[c] - 9 * sd[c], s[c] + 9 * sd[c])])
        )
        found.append(sum(quad(density, a, b, epsabs=1e-10)[0] for a, b in pairwise(ends)))
    return np.array(found)


def by_drawing(s, v, n=400_000):
    """P(score c is the largest) as a frequency."""
    drawn = s + np.sqrt(v) * np.random.default_rng(1).standard_normal((n, len(s)))
    return np.bincount(drawn.argmax(axis=1), minlength=len(s)) / n


# -- the formulas -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("readout", ["last", "averaged"])
@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_two_classes_are_the_formula(covariance, readout):
    X, y = rows(2)
    model = Perceptron(rule=AROW(covariance=covariance), readout=readout, max_iter=2).fit(X, y)
    s, v = of_scores(model, X)
    second = norm.cdf(s[:, 0] / np.sqrt(v[:, 0]))
    found = model.predict_proba(X)
    np.testing.assert_allclose(found, np.column_stack([1 - second, second]), atol=1e-12)
    np.testing.assert_array_equal(model.classes_[found.argmax(axis=1)], model.predict(X))
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(found))
    np.testing.assert_allclose(model.predict_proba(sp.csr_array(X)), found, atol=1e-12)


@pytest.mark.parametrize("covariance", ["diagonal", "full"])
def test_several_classes_are_the_largest_of_normal_scores(covariance):
    X, y = rows(4)
    model = Perceptron(rule=AROW(covariance=covariance), readout="averaged", max_iter=1).fit(X, y)
    found, (s, v) = model.predict_proba(X), of_scores(model, X)
    assert model.classes_.tolist() == sorted(set(y.tolist())) and found.shape == (len(X), 4)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
    for i in range(5):
        np.testing.assert_allclose(found[i], by_quad(s[i], v[i]), atol=1e-5)


@pytest.mark.parametrize("seed", range(8))
def test_the_largest_of_normal_scores_of_any_variances(seed):
    random = np.random.default_rng(seed)
    n_classes = [3, 3, 4, 5, 8, 12, 26, 40][seed]
    s = random.normal(size=n_classes) * [0, 1, 10][seed % 3]
    v = 10.0 ** random.uniform(-2 * seed, 2, size=n_classes)
    found = belief.largest(s[np.newaxis], v[np.newaxis])[0]
    assert found.sum() == pytest.approx(1, abs=1e-12) and (found >= 0).all()
    np.testing.assert_allclose(found, by_drawing(s, v), atol=5 * 0.5 / np.sqrt(400_000))
    if n_classes < 6 and v.max() < 1e4 * v.min():
        np.testing.assert_allclose(found, by_quad(s, v), atol=1e-5)


def test_two_scores_have_a_closed_form():
    random = np.random.default_rng(0)
    s, v = random.normal(size=(200, 2)), 10.0 ** random.uniform(-12, 3, size=(200, 2))
    second = norm.cdf((s[:, 1] - s[:, 0]) / np.sqrt(v.sum(axis=1)))
    np.testing.assert_allclose(belief.largest(s, v), np.column_stack([1 - second, second]), atol=1e-7)
    np.testing.assert_allclose(belief.largest(7 - 3 * s, 9 * v)[:, ::-1], belief.largest(s, v), atol=1e-7)


def test_scores_that_do_not_vary():
    assert belief.two_sided(np.array([0.0, 2.0, -2.0]), np.zeros(3)).tolist() == [[0.5, 0.5], [0, 1], [1, 0]]
    s = np.array([[1.0, 1.0, 0.0], [1.0, 2.0, 3.0], [0.0, 0.0, 0.0], [0.0, 1.0, 1e-9]])
    v = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [1e200, 1e-200, 0.0]])
    expected = [[0.5, 0.5, 0], [0, 0, 1], [0.5, 0.25, 0.25], [0.5, 0.5, 0]]
    np.testing.assert_allclose(belief.largest(s, v), expected, atol=1e-7)
    assert belief.largest(s[:0], v[:0]).shape == (0, 3)


def test_blocks_change_nothing(monkeypatch):
    random = np.random.default_rng(0)
    s, v = random.normal(size=(50, 6)), 10.0 ** random.uniform(-4, 1, size=(50, 6))
    whole = belief.largest(s, v)
    monkeypatch.setattr(belief, "BLOCK", 100)
    np.testing.assert_allclose(belief.largest(s, v), whole, atol=1e-14)


def test_rows_without_evidence_are_even():
    X, y = rows(3)
    for n_classes in (2, 3):
        kept = np.isin(y, np.unique(y)[:n_classes])
        model = Perceptron(rule="arow", fit_intercept=False, max_iter=1).fit(X[kept], y[kept])
        np.testing.assert_allclose(model.predict_proba(np.zeros((1, 5))), 1 / n_classes)


def test_a_third_class_keeps_the_belief_of_two():
    """w becomes +w/2 and −w/2, and v two halves: the difference of two scores is what the score was."""
    X, y = rows(2)
    model = Perceptron(rule="arow").partial_fit(X, y)
    before = model.predict_proba(X)
    model._learner.make_room(Growth(3, np.arange(2)))
    s, v = of_scores(model, X)
    np.testing.assert_allclose(belief.largest(s[:, :2], v[:, :2]), before, atol=1e-7)
    one = Perceptron(rule="arow").partial_fit(X[:1], y[:1])
    assert one.predict_proba(X[:3]).tolist() == [[1.0]] * 3


# -- who has them -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", METRIC)
def test_rules_with_a_covariance_have_them_before_and_after_fit(name):
    model = Perceptron(rule=name, max_iter=1)
    assert hasattr(model, "predict_proba") and hasattr(model, "predict_log_proba")


def test_others_say_what_to_do():
    X, y = rows(2)
    for model in (Perceptron(), Perceptron(max_iter=1).fit(X, y), Perceptron(rule="romma"), Perceptron(rule="odd")):
        assert not hasattr(model, "predict_proba") and not hasattr(model, "predict_log_proba")
    with pytest.raises(AttributeError, match="no attribute 'predict_proba'") as error:
        _ = Perceptron(rule="pa1").predict_proba
    told = str(error.value.__cause__)
    assert "PA1" in told and "CalibratedClassifierCV" in told and "'arow'" in told
    assert not hasattr(PassiveAggressiveClassifier(), "predict_proba")
    assert not hasattr(KernelPerceptron(), "predict_proba")


# -- with scikit-learn, files and sources -----------------------------------------------------------------------------


def test_scikit_learn_uses_them():
    X, y = rows(3)
    model = Perceptron(rule="arow", max_iter=2)
    found = cross_val_predict(model, X, y, method="predict_proba", cv=3)
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert roc_auc_score(y, found, multi_class="ovr") > 0.5 and np.isfinite(log_loss(y, found))
    for scoring in ("roc_auc_ovr", "neg_log_loss"):
        assert np.isfinite(cross_val_score(model, X, y, scoring=scoring, cv=3)).all()
    two = y != "cedar"
    assert (cross_val_score(model, X[two], y[two] == "ash", scoring="neg_brier_score", cv=3) < 0).all()
    scored = cross_val_score(Perceptron(max_iter=2), X[two], y[two], scoring="roc_auc", cv=3)  # by decision_function
    assert np.isfinite(scored).all()
    calibrated = CalibratedClassifierCV(model, cv=3).fit(X, y)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_sources_and_model_files(n_classes, tmp_path):
    X, y = rows(n_classes)
    codes = np.unique(y, return_inverse=True)[1]
    dump_svmlight_file(X, codes, str(tmp_path / "rows.svm"), zero_based=True)
    with (tmp_path / "rows.csv").open("w") as file:  # features of tables are scaled
        file.write("a,b,c,d,e,kind\n")
        file.writelines(",".join(map(str, [*line, label])) + "\n" for line, label in zip(X.tolist(), y, strict=True))
    plain = source(tmp_path / "rows.svm")
    model = Perceptron(rule="arow", max_iter=1, shuffle=False).fit(plain)
    np.testing.assert_array_equal(model.predict_proba(plain), model.predict_proba(plain.arrays()[0]))
    table = source(tmp_path / "rows.csv", target="kind")
    model = Perceptron(rule="arow", max_iter=1).fit(table)
    assert model._learner.scaling is not None
    found = model.predict_proba(table)
    np.testing.assert_array_equal(
        found.argmax(axis=1), (model.classes_[:, np.newaxis] == model.predict(table)).argmax(0)
    )
    save(model, tmp_path / "m.perceptron")
    np.testing.assert_array_equal(load(tmp_path / "m.perceptron").predict_proba(table), found)
    np.testing.assert_allclose(model.normalized().predict_proba(table), found, atol=1e-9)
