"""skl2onnx converts the classifiers, alone and in pipelines, without registration; onnxruntime predicts as they do."""

import subprocess
import sys

import numpy as np
import onnxruntime
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from perceptrons import KernelPerceptron, PassiveAggressiveClassifier, Perceptron
from perceptrons.learn.kernel.feature_space import KERNELS
from perceptrons.store import register_onnx

skl2onnx = pytest.importorskip("skl2onnx")
LABELS = (
    np.array(["a", "bé", "日"]),
    np.array([-3, 5, 70]),
    np.array([1, 2, 9], dtype=np.uint8),
    np.array([-1.0, 0, 2]),
)
FEW = {"max_iter": 3, "random_state": 0}
CLASSIFIERS = (
    Perceptron(**FEW),
    Perceptron(readout="averaged", rule="pa1", fit_intercept=False, **FEW),
    Perceptron(readout="pocket", **FEW),
    PassiveAggressiveClassifier(average=True, **FEW),
    KernelPerceptron(gamma=0.3, **FEW),
)


def run(made, X):
    session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
    (given,) = session.get_inputs()
    assert [output.name for output in session.get_outputs()] == ["label", "scores"]
    return session.run(["label", "scores"], {given.name: X})


def agree(model, X, n_classes, **keywords):
    """Labels are equal, and scores up to the rounding to the type of the input."""
    label, scores = run(skl2onnx.to_onnx(model, X[:1], **keywords), X)
    assert label.tolist() == model.predict(X.astype(np.float64)).tolist()
    expected = model.decision_function(X.astype(np.float64))
    if n_classes == 2:
        expected = np.column_stack([-expected, expected])
    assert scores.dtype == X.dtype
    error = 1e-6 if X.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(scores, expected.reshape(len(X), -1), atol=error * (1 + np.abs(expected).max()))


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_models_and_labels(estimator, n_classes, data):
    X, y = data[0], data[n_classes - 1]
    for labels in LABELS:
        model = estimator.fit(X, labels[y])
        agree(model, X.astype(np.float32), n_classes)
        agree(model, X, n_classes, options={"zipmap": False})
    if n_classes == 2:
        agree(estimator.fit(X, y == 1), X, n_classes)


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel(kernel, data):
    X, two, _ = data
    agree(KernelPerceptron(kernel=kernel, gamma=0.3, coef0=0.5, **FEW).fit(X, two), X, 2)


def test_pipelines(data):
    X, two, three = data
    for y, n_classes in ((two, 2), (three, 3)):
        pipeline = make_pipeline(StandardScaler(), Perceptron(**FEW)).fit(X, LABELS[0][y])
        kind = skl2onnx.common.data_types.DoubleTensorType
        label, scores = run(skl2onnx.convert_sklearn(pipeline, initial_types=[("rows", kind([None, 5]))]), X)
        assert label.tolist() == pipeline.predict(X).tolist() and scores.shape == (len(X), n_classes)


@pytest.mark.parametrize("tie", ["mistake", "positive"])
def test_ties(tie, data):
    X, two, three = data
    zero = np.zeros((2, 5))
    for y, n_classes in ((two, 2), (three, 3)):
        model = Perceptron(tie=tie, fit_intercept=False, **FEW).fit(X, LABELS[0][y])
        agree(model, zero, n_classes)
        expected = "bé" if tie == "positive" and n_classes == 2 else "a"
        assert run(skl2onnx.to_onnx(model, zero), zero)[0].tolist() == [expected, expected]


def test_meta_estimators_once_registered(data):
    X, two, _ = data
    register_onnx()
    search = GridSearchCV(Perceptron(**FEW), {"rule": ["perceptron", "pa1"]}, cv=2).fit(X, two)
    calibrated = CalibratedClassifierCV(Perceptron(readout="averaged", **FEW), cv=2).fit(X, two)
    for model in (search, calibrated):
        made = skl2onnx.to_onnx(model, X[:1], options={"zipmap": False})
        session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])
        label, scores = session.run(None, {"X": X})
        assert label.tolist() == model.predict(X).tolist()
    np.testing.assert_allclose(scores, calibrated.predict_proba(X), atol=1e-6)


def test_refused(data):
    X, two, _ = data
    dates = np.array(["2020", "2021"], dtype="M8[Y]")
    for model, options, text in (
        (Perceptron(readout="voted", **FEW).fit(X, two), {}, "readout='voted' cannot be exported"),
        (Perceptron(**FEW).fit(X, dates[two]), {}, r"datetime64\[Y\] cannot be converted"),
        (Perceptron(**FEW).fit(X, two), {"target_opset": 12}, "needs opset 13 or later, got target_opset=12"),
    ):
        with pytest.raises(ValueError, match=text):
            skl2onnx.to_onnx(model, X[:1], **options)


def test_skl2onnx_is_not_imported_before_it_asks():
    code = "import perceptrons.models, perceptrons.store.onnx, sys; print({'onnx', 'skl2onnx'} & set(sys.modules))"
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert out.strip() == "set()"
