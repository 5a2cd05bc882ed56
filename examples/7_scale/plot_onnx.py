"""
A model for programs without Python
===================================

Export a model as an ONNX file and run it with ONNX Runtime, which has no idea of perceptrons. You see that labels and
scores are the same as in Python, for digits and for a table with categories.
"""

import csv
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from perceptrons import Perceptron
from perceptrons.data import source
from perceptrons.store import export_onnx

folder = tempfile.TemporaryDirectory()
path = Path(folder.name)

# %%
# Digits
# ------
# :func:`perceptrons.store.export_onnx` writes the file. Its graph takes rows in float32 and returns labels and scores.

X, X_test, y, y_test = train_test_split(*load_digits(return_X_y=True), random_state=0)
model = Perceptron(readout="averaged").fit(X, y)
export_onnx(model, path / "digits.onnx")
session = onnxruntime.InferenceSession(path / "digits.onnx", providers=["CPUExecutionProvider"])
print("takes", [(each.name, each.type) for each in session.get_inputs()])
print("gives", [(each.name, each.type) for each in session.get_outputs()])

labels, scores = session.run(["label", "scores"], {"X": X_test.astype(np.float32)})
print(f"training error {1 - model.score(X, y):.1%}, held-out error in Python {1 - model.score(X_test, y_test):.1%}")
print(f"held-out error in ONNX Runtime {np.mean(labels != y_test):.1%}")
differ = np.abs(scores - model.decision_function(X_test)).max()
print(f"the same labels: {(labels == model.predict(X_test)).all()}, largest difference of scores {differ:.0e}")
