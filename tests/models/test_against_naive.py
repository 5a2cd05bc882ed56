"""The linear estimators do what `naive` does: the same hypotheses, counts, scores and predictions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from naive import Naive
from scipy import sparse

from perceptrons import PassiveAggressiveClassifier, Perceptron
from perceptrons.rules import PA, PA1, PA2, Margin, Plain

RULES = {
    "perceptron": Plain(),
    "margin": Margin(beta=2.0),
    "pa": PA(),
    "pa1": PA1(C=0.1),
    "pa2": PA2(C=0.3),
}
READOUTS = ["last", "averaged", "voted", "pocket"]
STREAMING = ["last", "averaged", "voted"]
NAMES = np.array(["ant", "bee", "cat", "dog"])
PASSES = 4


def csr(X, index_type, dtype=np.float64):
    X = sparse.csr_matrix(X.astype(dtype))
    X.indices, X.indptr = X.indices.astype(index_type), X.indptr.astype(index_type)
    return X


LAYOUTS = {
    "float64": lambda X: X,
    "float32": lambda X: X.astype(np.float32),
    "csr-int32": lambda X: csr(X, np.int32),
    "csr-int64": lambda X: csr(X, np.int64),
    "csr-float32": lambda X: csr(X, np.int32, np.float32),
}


def data(rule, n_classes, seed=0, n=16):
    """Rows, labels that no hypothesis explains, and rows to be asked about.

    The first two rules add and subtract whole rows, so on small integers their every sum is exact and their ties are
    true ties. So is the mean over 16 rows, or 32 or 64. PA divides: a tie of its sums would fall either way, so its
    rows have digits that keep it off ties. All numbers are of single precision, so that every layout holds the same.
    """
    random = np.random.default_rng(seed)
    X = random.integers(-2, 3, size=(n, 4)).astype(np.float64)
    Q = random.integers(-3, 4, size=(40, 4)).astype(np.float64)
    if rule.startswith("pa"):
        X, Q = (np.where(A == 0, 0, A + random.normal(size=A.shape) / 4) for A in (X, Q))
        X, Q = (A.astype(np.float32).astype(np.float64) for A in (X, Q))
    y = NAMES[:n_classes][random.permutation(np.arange(n) % n_classes)]
    return X, y, Q


def pair(rule, readout="last", fit_intercept=True, classes=(), start=None, **settings):
    """An estimator and its twin."""
    model = Perceptron(
        rule=RULES[rule], readout=readout, fit_intercept=fit_intercept, shuffle=False, tol=None, **settings
    )
    settings.pop("max_iter", None)
    twin = Naive(
        rule, fit_intercept=fit_intercept, classes=classes, **(start or {}), **RULES[rule]._asdict(), **settings
    )
    return model, twin


def close(ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


def assert_same(model, twin, Q, layout="float64"):
    """Equal counts, weights, scores and predictions; bit by bit where the sums are exact."""
    exact_mean = twin.n_seen & (twin.n_seen - 1) == 0  # division by a power of two
    exact = not twin.rule.startswith("pa") and (model.readout != "averaged" or exact_mean)
    check = np.testing.assert_array_equal if exact else close
    assert (model.n_seen_, model.n_mistakes_) == (twin.n_seen, twin.n_mistakes)
    # A row that PA has just brought to a margin of 1 may, when met again, lack a rounding error or not.
    either = sum(abs(step.margin - 1) < 1e-9 for step in twin.steps) if twin.rule.startswith("pa") else 0
    assert abs(model.n_updates_ - twin.n_updates) <= either
    np.testing.assert_array_equal(model.classes_, twin.classes)
    if model.readout != "voted":
        w = getattr(twin, model.readout)()
        check(model.coef_, w[:, :-1])
        check(model.intercept_, w[:, -1])
    scores = twin.decision_function(Q, model.readout)
    queries = LAYOUTS[layout](Q)
    check(model.decision_function(queries), scores[:, 0] if len(twin.classes) == 2 else scores)
    best = np.sort(scores, axis=1)
    lead = np.abs(scores[:, 0]) if len(twin.classes) == 2 else best[:, -1] - best[:, -2]
    clear = exact | (lead > 1e-9)  # rounding may push an inexact tie to either side
    np.testing.assert_array_equal(model.predict(queries)[clear], twin.predict(Q, model.readout)[clear])


def assert_same_fit(model, twin, X, y, Q, layout="float64", weight=None, **start):
    twin.fit(X, y, model.max_iter, weight)
    model.fit(LAYOUTS[layout](X), y, sample_weight=weight, **start)
    np.testing.assert_array_equal(model.mistakes_, twin.mistakes)
    assert (model.n_iter_, model.converged_) == (len(twin.mistakes), twin.converged)
    assert_same(model, twin, Q, layout)


def test_the_data_are_worth_it():
    """They must meet every branch: ties after the first example, steps cut off by C and not, and a pocket in use."""
    for n_classes in (2, 3):
        X, y, Q = data("perceptron", n_classes)
        twin = Naive().fit(X, y, PASSES)
        assert sum(step.margin == 0 for step in twin.steps) > 3
        assert (twin.decision_function(Q, "last") == 0).any()
        assert twin.errors(twin.first) > twin.errors(twin.pocket())
        assert (twin.pocket() != twin.last()).any()
        X, y, _ = data("pa1", n_classes)
        twin = Naive("pa1", C=RULES["pa1"].C).fit(X, y, PASSES)
        assert RULES["pa1"].C * 0.5 * twin.n_updates < twin.sum_tau < RULES["pa1"].C * twin.n_updates


# -- every rule with every readout ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("rule", RULES)
def test_fit(rule, readout, n_classes):
    for fit_intercept in (True, False):
        for seed in range(3):
            model, twin = pair(rule, readout, fit_intercept, max_iter=PASSES)
            assert_same_fit(model, twin, *data(rule, n_classes, seed))


# Layouts are chosen by row verbs, so it takes no full product: each layout meets each rule, each readout and both
# numbers of classes.
COVER = [
    (layout, rule, READOUTS[(i + j) % 4], 2 + (i // 2 + j) % 2)
    for j, layout in enumerate(["float32", "csr-int32", "csr-int64"])
    for i, rule in enumerate(RULES)
    if layout != "csr-int64" or rule in ("perceptron", "pa1")  # wide indices: where they are read, not what is learned
] + [("csr-float32", "perceptron", "last", 2), ("csr-float32", "pa1", "averaged", 3)]


@pytest.mark.parametrize(("layout", "rule", "readout", "n_classes"), COVER)
def test_layouts(layout, rule, readout, n_classes):
    for fit_intercept in (True, False):
        model, twin = pair(rule, readout, fit_intercept, max_iter=PASSES)
        assert_same_fit(model, twin, *data(rule, n_classes), layout=layout)
        if readout != "pocket":
            X, y, Q = data(rule, n_classes)
            model, twin = pair(rule, readout, fit_intercept)
            twin.partial_fit(X, y)
            assert_same(model.partial_fit(LAYOUTS[layout](X), y), twin, Q, layout)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", RULES)
def test_convergence_ends_the_passes(rule, n_classes):
    """On rows that can be separated, and with the pocket, which then holds the final hypothesis."""
    X, _, Q = data(rule, n_classes, n=24)
    W = np.array([[3, 1, -2, 2], [-2, 3, 1, 1], [-1, -4, 1, -3]])[:n_classes]
    scores = np.sort(X @ W.T, axis=1)
    clear = scores[:, -1] > scores[:, -2]
    X, y = X[clear], NAMES[(X @ W.T).argmax(axis=1)][clear]
    for readout in READOUTS:
        model, twin = pair(rule, readout, fit_intercept=False, max_iter=1000)
        assert_same_fit(model, twin, X, y, Q)
        assert model.converged_ and 1 < model.n_iter_ < 1000
        assert model.mistakes_[-1] == 0


# -- settings -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", RULES)
def test_eta0(rule, n_classes):
    for readout in READOUTS:
        model, twin = pair(rule, readout, eta0=0.25, max_iter=PASSES)
        assert_same_fit(model, twin, *data(rule, n_classes))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", RULES)
def test_tie_positive(rule, n_classes):
    """Rows of zeros and opposite rows make ties even for PA."""
    for readout in READOUTS:
        for fit_intercept in (True, False):
            X, y, Q = data(rule, n_classes)
            X[1:6] = 0
            Q[:3] = 0
            model, twin = pair(rule, readout, fit_intercept, tie="positive", max_iter=PASSES)
            assert_same_fit(model, twin, X, y, Q)


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("rule", RULES)
def test_rows_of_zeros(rule, readout):
    """Without a bias they are mistakes for ever; PA cannot step there, and does not divide by zero."""
    for seed in range(3):
        X, y, Q = data(rule, 2, seed)
        X[np.random.default_rng(seed).random(len(y)) < 0.3] = 0
        for fit_intercept in (True, False):
            model, twin = pair(rule, readout, fit_intercept, max_iter=PASSES)
            assert_same_fit(model, twin, X, y, Q)


def test_a_mistake_without_a_step_ends_a_run_of_right_answers():
    """The first hypothesis, (1, 0), is right twice in a row. The second, (1, 1), is right once, wrong on the row of
    zeros, and right twice: no longer a run, so the pocket does not try it."""
    X = np.array([[1, 0], [-1, 0], [1, 0], [0, 1], [1, 0], [0, 0], [1, 0], [0, -1]], dtype=float)
    y = np.array(["bee", "ant", "bee", "bee", "bee", "bee", "bee", "ant"])
    model, twin = pair("pa", "pocket", fit_intercept=False, max_iter=1)
    assert_same_fit(model, twin, X, y, X)


# Weights make other variants of the compiled pass: each rule that takes them, each readout, both numbers of classes.
WEIGHTED = [
    ("perceptron", "last", 2),
    ("margin", "averaged", 3),
    ("pa1", "voted", 2),
    ("pa2", "pocket", 3),
    ("perceptron", "pocket", 3),
    ("margin", "voted", 3),
    ("pa1", "last", 3),
    ("pa2", "averaged", 2),
]


@pytest.mark.parametrize(("rule", "readout", "n_classes"), WEIGHTED)
def test_sample_weight(rule, readout, n_classes):
    """Weights scale the step or C. An example counts once in means and votes whatever its weight; 0 leaves it out."""
    for seed in range(6):
        X, y, Q = data(rule, n_classes, seed)
        weight = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 8.0], size=len(y))
        model, twin = pair(rule, readout, max_iter=PASSES)
        assert_same_fit(model, twin, X, y, Q, weight=weight)
        if readout != "pocket":
            model, twin = pair(rule, readout, classes=NAMES[:n_classes])
            twin.partial_fit(X, y, weight)
            assert_same(model.partial_fit(X, y, classes=NAMES[:n_classes], sample_weight=weight), twin, Q)


@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
def test_class_weight(rule):
    """It multiplies the weights of examples."""
    X, y, Q = data(rule, 2)
    weight = np.random.default_rng(1).choice([0.5, 1.0, 2.0], size=len(y))
    model, twin = pair(rule, max_iter=PASSES)
    model.set_params(class_weight={"ant": 2.0, "bee": 0.25})
    twin.fit(X, y, PASSES, weight * np.where(y == "ant", 2.0, 0.25))
    assert_same(model.fit(X, y, sample_weight=weight), twin, Q)


def test_pa_refuses_weights():
    X, y, _ = data("pa", 2)
    with pytest.raises(ValueError, match="weight"):
        Perceptron(rule="pa").fit(X, y, sample_weight=np.full(len(y), 2.0))
    with pytest.raises(ValueError, match="weight"):
        Perceptron(rule="pa").partial_fit(X, y, sample_weight=np.full(len(y), 2.0))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
def test_start_weights(rule, n_classes):
    """The start counts among the hypotheses of a mean or a vote for as long as it is in force."""
    lines = 1 if n_classes == 2 else n_classes
    random = np.random.default_rng(2)
    X, y, Q = data(rule, n_classes)
    for readout in READOUTS:
        coef = random.integers(-3, 4, size=(lines, X.shape[1])).astype(float)
        intercept = random.integers(-3, 4, size=lines).astype(float)
        model, twin = pair(rule, readout, start={"coef": coef, "intercept": intercept}, max_iter=PASSES)
        assert_same_fit(model, twin, X, y, Q, coef_init=coef, intercept_init=intercept)
        model, twin = pair(rule, readout, start={"intercept": intercept}, max_iter=1)
        assert_same_fit(model, twin, X, y, Q, intercept_init=intercept)


@pytest.mark.parametrize("readout", ["last", "averaged", "voted"])
def test_warm_start_goes_on(readout):
    X, y, Q = data("perceptron", 2)
    model, twin = pair("perceptron", readout, max_iter=2)
    model.set_params(warm_start=True).fit(X, y).fit(X, y)
    assert_same(model, twin.fit(X, y, max_iter=4), Q)
    np.testing.assert_array_equal(model.mistakes_, twin.mistakes[2:])


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", RULES)
def test_margin_bound_is_the_length_of_the_mean_step(rule, n_classes):
    """‖w‖/Στ, the step of w taken without η; a bound found earlier in the run may be better still."""
    X, y, _ = data(rule, n_classes)
    for fit_intercept in (True, False):
        model, twin = pair(rule, "last", fit_intercept, eta0=0.5, max_iter=PASSES)
        twin.fit(X, y, PASSES)
        bound = np.linalg.norm(twin.w) / (0.5 * twin.sum_tau)
        assert 0 < model.fit(X, y).margin_bound_ <= bound * (1 + 1e-9)


# -- streams ------------------------------------------------------------------------------------------------------

STREAMS = [
    ("perceptron", "averaged"),
    ("perceptron", "voted"),
    ("margin", "voted"),
    ("pa", "voted"),
    ("pa1", "last"),
    ("pa2", "averaged"),
]
TIES = st.sampled_from(["mistake", "positive"])
CUTS = st.sets(st.integers(1, 15), max_size=6).map(sorted)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("rule", "readout"), STREAMS)
@given(cuts=CUTS, seed=st.integers(0, 1000), fit_intercept=st.booleans())
@settings(max_examples=20, deadline=None)
def test_chunks_with_classes_announced(rule, readout, n_classes, cuts, seed, fit_intercept):
    X, y, Q = data(rule, n_classes, seed)
    model, twin = pair(rule, readout, fit_intercept, classes=NAMES[:n_classes])
    twin.partial_fit(X, y)
    for rows, labels in zip(np.split(X, cuts), np.split(y, cuts), strict=True):
        model.partial_fit(rows, labels, classes=NAMES[:n_classes])
    assert_same(model, twin, Q)


@pytest.mark.parametrize(("rule", "readout"), STREAMS)
@given(cuts=CUTS, seed=st.integers(0, 1000), arrivals=st.permutations(range(4)), tie=TIES)
@settings(max_examples=40, deadline=None)
def test_chunks_with_classes_that_appear_later(rule, readout, cuts, seed, arrivals, tie):
    """One class, then two, then more: whether a class is first met inside a chunk or at its start."""
    X, _, Q = data(rule, 4, seed)
    y = NAMES[late(arrivals, seed)]
    model, twin = pair(rule, readout, tie=tie)
    twin.partial_fit(X, y)
    for rows, labels in zip(np.split(X, cuts), np.split(y, cuts), strict=True):
        model.partial_fit(rows, labels)
    assert_same(model, twin, Q)


def late(arrivals, seed):
    """Codes of 16 labels, the k-th class first met at row 0, 3, 8, 12."""
    random = np.random.default_rng(seed)
    known = np.searchsorted([0, 3, 8, 12], np.arange(16), side="right")
    codes = random.integers(known)
    codes[[0, 3, 8, 12]] = range(4)
    return np.array(arrivals)[codes]


@pytest.mark.parametrize(("rule", "readout"), [("perceptron", "averaged"), ("pa1", "last")])
@given(cuts=CUTS, seed=st.integers(0, 1000))
@settings(max_examples=15, deadline=None)
def test_chunks_with_weights(rule, readout, cuts, seed):
    X, y, Q = data(rule, 2, seed)
    weight = np.random.default_rng(seed).choice([0.0, 0.5, 2.0], size=len(y))
    weight[[0, *cuts]] = 1  # a chunk without any weight has a test of its own
    model, twin = pair(rule, readout, classes=NAMES[:2])
    twin.partial_fit(X, y, weight)
    for rows, labels, weights in zip(*(np.split(part, cuts) for part in (X, y, weight)), strict=True):
        model.partial_fit(rows, labels, classes=NAMES[:2], sample_weight=weights)
    assert_same(model, twin, Q)


def test_a_chunk_without_weight_changes_nothing():
    """Rows of weight 0 are left out, and cutting a stream into other chunks changes nothing: so they may be a chunk."""
    X, y, Q = data("perceptron", 2)
    weight = np.repeat([1.0, 0.0, 1.0], [6, 4, 6])
    model, twin = pair("perceptron", classes=NAMES[:2])
    twin.partial_fit(X, y, weight)
    for part in (slice(6), slice(6, 10), slice(10, 16)):
        model.partial_fit(X[part], y[part], classes=NAMES[:2], sample_weight=weight[part])
    assert_same(model, twin, Q)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", RULES)
def test_partial_fit_goes_on_after_fit(rule, n_classes):
    X, y, Q = data(rule, n_classes)
    for readout in STREAMING:
        model, twin = pair(rule, readout, max_iter=2)
        twin.fit(X, y, 2)
        twin.partial_fit(X[:5], y[:5])
        assert_same(model.fit(X, y).partial_fit(X[:5], y[:5]), twin, Q)
        assert not model.converged_


@pytest.mark.parametrize("tie", ["mistake", "positive"])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", ["perceptron", "pa1"])
def test_predict_then_learn(rule, n_classes, tie):
    """Predictions are those of the hypothesis before each row, whatever the readout; it learns like partial_fit."""
    X, y, Q = data(rule, n_classes)
    for readout in STREAMING:
        model, twin = pair(rule, readout, classes=NAMES[:n_classes], tie=tie)
        for begin, end in ((0, 7), (7, 8), (8, 16)):
            expected = twin.partial_fit(X[begin:end], y[begin:end])
            got = model.predict_then_learn(X[begin:end], y[begin:end], classes=NAMES[:n_classes])
            np.testing.assert_array_equal(got, expected)
        assert_same(model, twin, Q)


@given(cuts=CUTS, seed=st.integers(0, 1000), arrivals=st.permutations(range(4)))
@settings(max_examples=40, deadline=None)
def test_predict_then_learn_with_classes_that_appear_later(cuts, seed, arrivals):
    """No prediction names a class before its first label was received. (The first row has no class to choose.)"""
    X, _, Q = data("perceptron", 4, seed)
    y = NAMES[late(arrivals, seed)]
    model, twin = pair("perceptron", "averaged")
    expected = twin.partial_fit(X, y)
    got = [
        model.predict_then_learn(rows, labels)
        for rows, labels in zip(np.split(X, cuts), np.split(y, cuts), strict=True)
    ]
    assert np.concatenate(got)[1:].tolist() == expected[1:]
    assert_same(model, twin, Q)


# -- PassiveAggressiveClassifier ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(("loss", "rule"), [("hinge", "pa1"), ("squared_hinge", "pa2")])
def test_passive_aggressive(loss, rule, n_classes):
    X, y, Q = data(rule, n_classes)
    C = RULES[rule].C
    for average in (False, True, 1, 7):
        model = PassiveAggressiveClassifier(C=C, loss=loss, average=average, shuffle=False, tol=None, max_iter=3)
        twin = Naive(rule, C=C).fit(X, y, max_iter=3)
        expected = twin.averaged(after=average if average > 1 else 0) if average else twin.last()
        model.fit(X, y)
        close(np.column_stack([model.coef_, model.intercept_]), expected)
        reference = Perceptron(
            rule=RULES[rule], readout="averaged" if average else "last", shuffle=False, tol=None, max_iter=3
        ).fit(X, y)
        if average in (False, 1):
            np.testing.assert_array_equal(model.coef_, reference.coef_)
            np.testing.assert_array_equal(model.decision_function(Q), reference.decision_function(Q))
        assert (model.n_seen_, model.n_updates_) == (reference.n_seen_, reference.n_updates_)


@pytest.mark.parametrize("announced", [True, False])
@given(cuts=CUTS, after=st.integers(2, 15))
@settings(max_examples=30, deadline=None)
def test_a_mean_that_begins_later_does_so_in_any_chunks(announced, cuts, after):
    """Examples count from the first one, also while only one class is known."""
    X, y, _ = data("pa1", 2)
    y[:4] = "ant"
    classes = NAMES[:2] if announced else None
    model = PassiveAggressiveClassifier(C=0.1, average=after)
    twin = Naive("pa1", C=0.1, classes=NAMES[:2] if announced else ())
    twin.partial_fit(X, y)
    for rows, labels in zip(np.split(X, cuts), np.split(y, cuts), strict=True):
        model.partial_fit(rows, labels, classes=classes)
    close(np.column_stack([model.coef_, model.intercept_]), twin.averaged(after))


def test_before_a_mean_begins_the_last_hypothesis_predicts():
    X, y, _ = data("pa1", 2)
    model = PassiveAggressiveClassifier(C=0.1, average=17).partial_fit(X, y, classes=NAMES[:2])
    twin = Naive("pa1", C=0.1, classes=NAMES[:2])
    twin.partial_fit(X, y)
    close(np.column_stack([model.coef_, model.intercept_]), twin.last())


def test_the_pocket_counts_mistakes_by_their_weights():
    """On data where counting every mistake as one would keep another hypothesis."""
    telling = 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        X, y = random.integers(-3, 4, size=(40, 2)).astype(float), random.integers(2, size=40)
        weight = np.where(y == 1, 1.0, 0.0625)
        twin = Naive("perceptron").fit(X, y, 6, weight)
        model = Perceptron(readout="pocket", shuffle=False, tol=None, max_iter=6).fit(X, y, weight)
        ours = np.append(model.coef_[0], model.intercept_)
        np.testing.assert_array_equal(ours, np.ravel(twin.pocket()))
        twin.examples = [(x, label, 1.0) for x, label, _ in twin.examples]
        telling += not np.array_equal(ours, np.ravel(twin.pocket()))
    assert telling > 0
