"""
A model for programs without Python
===================================

Export a model as an ONNX file and run it with ONNX Runtime, which does not need this library. You see that labels and
scores are the same as in Python, up to rounding, for digits and for a table with categories.
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
# :func:`~perceptrons.store.export_onnx` writes the file. Its graph takes rows in float32 and returns labels and scores.

X, X_test, y, y_test = train_test_split(*load_digits(return_X_y=True), random_state=0)
model = Perceptron().fit(X, y)
export_onnx(model, path / "digits.onnx")
session = onnxruntime.InferenceSession(path / "digits.onnx", providers=["CPUExecutionProvider"])
print("takes", [(each.name, each.type) for each in session.get_inputs()])
print("gives", [(each.name, each.type) for each in session.get_outputs()])

labels, scores = session.run(["label", "scores"], {"X": X_test.astype(np.float32)})
print(f"training error {1 - model.score(X, y):.1%}, held-out error in Python {1 - model.score(X_test, y_test):.1%}")
print(f"held-out error in ONNX Runtime {np.mean(labels != y_test):.1%}")
differ = np.abs(scores - model.decision_function(X_test)).max()
print(f"the same labels: {(labels == model.predict(X_test)).all()}, largest difference of scores {differ:.0e}")

# %%
# Each dot is a score of one class for one held-out row: ten for each. The pictures are the first held-out rows, with
# the labels from ONNX Runtime.

figure = plt.figure(figsize=(9, 4), layout="constrained")
left, right = figure.subfigures(1, 2)
axis = left.subplots()
axis.plot(model.decision_function(X_test).ravel(), scores.ravel(), ".", color="#0072B2", markersize=3)
axis.axline((0, 0), slope=1, color="#222222", linewidth=0.8)
axis.set(xlabel="score in Python", ylabel="score in ONNX Runtime")
for axis, row, label in zip(right.subplots(3, 5).flat, X_test, labels, strict=False):
    axis.imshow(row.reshape(8, 8), cmap="gray_r")
    axis.set(title=label, xticks=[], yticks=[])

# %%
# A table
# -------
# A model of a table takes its columns as they are: numbers, and categories as text. Scaling and encoding are part of
# the graph. Each column is an input of its own, with one value in a row.

rng = np.random.default_rng(0)
age, town = rng.integers(18, 80, 1000), rng.choice(["Leeds", "York", "Hull"], 1000)
stays = np.where((age - 45) / 15 + (town == "York") + rng.normal(0, 0.5, 1000) > 0.5, "yes", "no")
for name, rows in {"customers.csv": slice(0, 500), "new.csv": slice(500, 1000)}.items():
    with open(path / name, "w", newline="") as file:
        table = csv.writer(file)
        table.writerows([["age", "town", "stays"], *zip(age[rows], town[rows], stays[rows], strict=True)])
customers = source(path / "customers.csv", target="stays")
model = Perceptron().partial_fit(customers)
export_onnx(model, path / "stays.onnx")

session = onnxruntime.InferenceSession(path / "stays.onnx", providers=["CPUExecutionProvider"])
print("takes", [(each.name, each.type) for each in session.get_inputs()])
(labels,) = session.run(["label"], {"age": age[500:, None].astype(float), "town": town[500:, None].astype(object)})
new = source(path / "new.csv", target="stays", like=model.encoding_)
print(f"training error {1 - model.score(customers):.1%}, held-out error in Python {1 - model.score(new):.1%}")
print(f"held-out error in ONNX Runtime {np.mean(labels != stays[500:]):.1%}")
print(f"always the more frequent label {1 - max(np.mean(stays[500:] == 'yes'), np.mean(stays[500:] == 'no')):.1%}")

# %%
# Missing values are NaN and empty text.

some = {"age": np.array([[30.0], [61.0], [np.nan]]), "town": np.array([["York"], ["Hull"], [""]], dtype=object)}
for years, place, label in zip(some["age"][:, 0], some["town"][:, 0], session.run(["label"], some)[0], strict=True):
    print(f"age {years}, town {place!r}: {label}")
folder.cleanup()

# %%
# More: :doc:`/reference/formats`.

plt.show()
