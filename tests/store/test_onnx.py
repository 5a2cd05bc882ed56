"""The exported graph gives the labels and scores of the model, as onnxruntime computes them."""

import copy
import subprocess
import sys
from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest

from perceptrons import KernelPerceptron, Perceptron, save
from perceptrons.data import source
from perceptrons.learn.kernel.feature_space import KERNELS
from perceptrons.store import export_onnx, read

TEXT = np.array(["a", "bé", "日"])
LABELS = [
    TEXT,
    TEXT.astype(object),
    np.array([-3, 5, 70]),
    np.array([1, 2, 9], dtype=np.uint8),
    np.array([-1.0, 0.0, 2.0]),
    np.array([-1, 0, 2], dtype=np.float32),
    np.array([False, True]),
]
FEW = {"max_iter": 3, "random_state": 0}


def run(path, X):
    """Labels and scores by onnxruntime, and what it says about them."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert [entry.name for entry in session.get_outputs()] == ["label", "scores"]
    return session.run(["label", "scores"], {"X": X.astype(np.float32)})


def agree(model, path, X):
    export_onnx(model, path)
    onnx.checker.check_model(str(path), full_check=True)
    label, scores = run(path, X)
    expected = model.decision_function(X.astype(np.float32).astype(np.float64))
    assert scores.dtype == np.float64 and scores.shape == expected.shape
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-9 * (1 + np.abs(expected).max()))
    assert label.tolist() == model.predict(X.astype(np.float32).astype(np.float64)).tolist()
    return label


@pytest.mark.parametrize("labels", LABELS, ids=lambda labels: str(labels.dtype))
def test_labels_of_all_types(labels, data, small, path):
    X = data[0]
    model = copy.deepcopy(small)
    model.classes_ = labels[:2]
    label = agree(model, path, X)
    assert label.dtype == (object if labels.dtype.kind in "UO" else labels.dtype)
    assert len(set(label.tolist())) == 2


def test_several_classes_and_readouts(data, path):
    X, two, three = data
    agree(Perceptron(rule="pa2", **FEW).fit(X, TEXT[three]), path, X)
    agree(Perceptron(rule="pa1", readout="averaged", **FEW).fit(X, two), path, X)
    agree(Perceptron(readout="pocket", fit_intercept=False, **FEW).fit(X, two), path, X)


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel(kernel, data, csr, path):
    X, two, three = (part.copy() for part in data)
    X[7] = 0.0
    own = {"kernel": kernel, "gamma": 0.3, "degree": 3, "coef0": 0.5, **FEW}
    agree(KernelPerceptron(**own, readout="averaged").fit(X, two), path, X)
    model = KernelPerceptron(**own, fit_intercept=False).fit(csr(X), TEXT[three])
    agree(model, path, X)
    save(model, path)
    saved = read(path)  # as a command does, without the estimator
    export_onnx(saved, path)
    assert run(path, X)[0].tolist() == model.predict(X.astype(np.float32).astype(np.float64)).tolist()


def test_budgets_pockets_and_float32_rows(data, path):
    X, two, three = data
    agree(KernelPerceptron(budget=8, policy="random", **FEW).fit(X, three), path, X)
    agree(KernelPerceptron(readout="pocket", **FEW).fit(X, two), path, X)
    narrow = X.astype(np.float32)
    model = KernelPerceptron(**FEW).fit(X, two)
    support = model._learner.sealed  # as if it had learned from float32 rows, for which passes would be compiled anew
    support.pieces = [replace(piece, values=piece.values.astype(np.float32)) for piece in support.pieces]
    export_onnx(model, path)
    label, scores = run(path, narrow)
    expected = model.decision_function(narrow)
    np.testing.assert_allclose(scores, expected, atol=1e-5 * np.abs(expected).max())
    sure = np.abs(expected) > 1e-4
    assert sure.sum() > 50 and (label[sure] == model.predict(narrow)[sure]).all()


@pytest.mark.parametrize("tie", ["mistake", "positive"])
def test_ties(tie, data, path):
    X, two, three = data
    zero = np.zeros((2, 5))
    for estimator, y in ((Perceptron(rule="pa1"), two), (Perceptron(rule="pa2"), three)):
        model = estimator.set_params(tie=tie, fit_intercept=False, **FEW).fit(X, TEXT[y])
        label = agree(model, path, zero)
        assert label[0] == ("bé" if tie == "positive" and y is two else "a")


def test_one_class_and_no_update(data, path):
    X, _, _ = data
    for estimator in (Perceptron(), KernelPerceptron(gamma=1.0)):
        model = estimator.partial_fit(X, ["only"] * 60)
        assert set(agree(model, path, X)) == {"only"}


def test_refused(data, path):
    X, two, _ = data
    voted = Perceptron(readout="voted", **FEW).fit(X, two)
    table = KernelPerceptron(kernel="precomputed", **FEW).fit(X @ X.T, two)
    dates = Perceptron(rule="pa1", **FEW).fit(X, np.array(["2020", "2021"], dtype="M8[Y]")[two])
    wide = KernelPerceptron(**FEW).fit(X, two)
    empty = KernelPerceptron(gamma=1.0).partial_fit(X, ["only"] * 60)  # it has no support row
    wide.n_features_in_ = empty.n_features_in_ = 2**40
    for model, text in (
        (voted, "readout='voted' cannot be exported"),
        (table, "kernel='precomputed' cannot be exported"),
        (KernelPerceptron(kernel=lambda A, B: A @ B.T, **FEW).fit(X, two), "kernel=<function .* cannot be exported"),
        (dates, r"datetime64\[Y\] cannot be exported"),
        (wide, "more than an ONNX file holds"),
        (empty, "more than an ONNX file holds"),
    ):
        with pytest.raises(ValueError, match=text):
            export_onnx(model, path)
        assert not path.exists()


def test_without_onnx_the_error_names_the_extra(small, path):
    save(small, path)
    code = (
        "import sys; sys.modules['onnx'] = None\n"
        "from perceptrons.store import export_onnx, read\n"
        "export_onnx(read(sys.argv[1]), sys.argv[1] + '.onnx')"
    )
    run = subprocess.run([sys.executable, "-c", code, str(path)], capture_output=True, text=True)
    assert "pip install 'perceptrons[onnx]'" in run.stderr
    assert list(path.parent.iterdir()) == [path]


# -- columns of tables ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """A table with numbers of wild scales, missing cells, categories and booleans."""
    random = np.random.default_rng(4)
    n = 300
    columns = {
        "age": np.where(random.random(n) < 0.1, "", random.integers(18, 90, n).astype(str)),
        "income": (1e6 * random.lognormal(size=n)).round(2).astype(str),
        "job": random.choice(["nurse", "smith", "bé", ""], n),
        "own": random.choice(["true", "false"], n),
        "label": random.choice(["x", "y", "z"], n),
        "y": random.choice(["low", "high", "none"], n),
    }
    path = tmp_path_factory.mktemp("table") / "table.csv"
    lines = [",".join(columns), *(",".join(row) for row in zip(*columns.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n")
    return path, columns


def cells(encoding, columns, session):
    """The columns of a table as the inputs of a graph."""
    given = {}
    for entry in session.get_inputs():
        values = columns[entry.name.removesuffix(" (column)")]
        if entry.type == "tensor(double)":
            values = np.array([float(text) if text else np.nan for text in values])
        elif entry.type == "tensor(bool)":
            values = values == "true"
        else:
            values = values.astype(object)
        given[entry.name] = values[:, np.newaxis]
    return given


@pytest.mark.parametrize("scale", ["auto", "none"])
@pytest.mark.parametrize(
    "model", [Perceptron(readout="averaged", **FEW), KernelPerceptron(**FEW)], ids=["linear", "kernel"]
)
def test_graphs_of_tables_take_columns(table, path, model, scale):
    file, columns = table
    model = copy.deepcopy(model).fit(source(file, target="y", scale=scale))
    export_onnx(model, path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert {entry.name for entry in session.get_inputs()} == {"age", "income", "job", "own", "label (column)"}
    label, scores = session.run(["label", "scores"], cells(model.encoding_, columns, session))
    again = source(file, like=model.encoding_)
    expected = model.decision_function(again)
    np.testing.assert_allclose(scores, expected, rtol=1e-6, atol=1e-6 * (1 + np.abs(expected).max()))
    assert (label == model.predict(again)).mean() > 0.99  # scores may tie


def test_unknown_categories_have_no_feature_in_the_graph(table, path, tmp_path):
    file, columns = table
    model = Perceptron(readout="averaged", **FEW).fit(source(file, target="y"))
    export_onnx(model, path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    other = {name: values[:5].copy() for name, values in columns.items()}
    other["job"][:] = "pilot"
    new = tmp_path / "new.csv"
    rows = zip(*other.values(), strict=True)
    new.write_text("\n".join([",".join(other), *(",".join(row) for row in rows)]) + "\n")
    _, scores = session.run(["label", "scores"], cells(model.encoding_, other, session))
    np.testing.assert_allclose(scores, model.decision_function(source(new, like=model.encoding_)), rtol=1e-6)


def test_hashed_columns_leave_encoded_features_as_input(table, path):
    file, _ = table
    model = Perceptron(readout="averaged", **FEW).fit(source(file, target="y", text=["job"], text_bits=4))
    export_onnx(model, path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    assert [(entry.name, entry.shape[1]) for entry in session.get_inputs()] == [("X", model.n_features_in_)]


def test_a_constant_in_place_of_missing_numbers_is_one_in_the_graph(table, path):
    file, columns = table
    model = Perceptron(readout="averaged", **FEW).fit(source(file, target="y", missing=7.0))
    export_onnx(model, path)
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    _, scores = session.run(["label", "scores"], cells(model.encoding_, columns, session))
    np.testing.assert_allclose(scores, model.decision_function(source(file, like=model.encoding_)), rtol=1e-6)
