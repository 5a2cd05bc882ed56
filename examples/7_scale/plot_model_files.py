"""
Model files
===========

Save models and load them again. You see that a loaded model goes on predicting and learning like the original, that
``load`` notices a flipped bit in the file, and how large the files are.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from perceptrons import KernelPerceptron, Perceptron, load, save
from perceptrons.store import ModelFileError

folder = tempfile.TemporaryDirectory()
path = Path(folder.name)
X, X_test, y, y_test = train_test_split(*load_digits(return_X_y=True), random_state=0)

# %%
# Save, load, learn on
# --------------------
# :func:`~perceptrons.save` writes one file: weights, counts, classes and parameters, and no code.
# :func:`~perceptrons.load` reads it and executes nothing. Here a model is saved in the middle of a stream. The loaded
# model and the original then both learn the rest.

original = Perceptron(rule="arow").partial_fit(X[:700], y[:700])
save(original, path / "digits.perceptron")
loaded = load(path / "digits.perceptron")
print(loaded, "has seen", loaded.n_seen_, "rows")
for model in (original, loaded):
    model.partial_fit(X[700:], y[700:])
same = np.array_equal(original.decision_function(X_test), loaded.decision_function(X_test))
print(f"the same scores after {loaded.n_seen_} rows, bit for bit: {same}")
print(f"training error {1 - loaded.score(X, y):.1%}, held-out error {1 - loaded.score(X_test, y_test):.1%}")

# %%
# A flipped bit
# -------------
# Files have checksums. Each of 300 copies of the file has one flipped bit, at a random place.

content = (path / "digits.perceptron").read_bytes()
rng = np.random.default_rng(0)
noticed = 0
for place in rng.integers(len(content) * 8, size=300):
    damaged = bytearray(content)
    damaged[place // 8] ^= 1 << (place % 8)
    (path / "damaged.perceptron").write_bytes(damaged)
    try:
        load(path / "damaged.perceptron")
    except ModelFileError as error:
        noticed, message = noticed + 1, str(error)
print(f"noticed: {noticed} of 300")
print("for instance:", message.replace(str(path), ""))

# %%
# What a file holds
# -----------------
# The size of a file depends on what a model needs to learn on. AROW keeps a variance for each weight, the mean needs a
# sum for each weight, and votes need all updates. A kernel perceptron keeps rows.

models = {
    "last": Perceptron(readout="last"),
    "averaged": Perceptron(),
    "arow, last": Perceptron(rule="arow", readout="last"),
    "arow, averaged": Perceptron(rule="arow"),
    "voted": Perceptron(readout="voted"),
    "kernel, voted": KernelPerceptron(gamma=0.001, rule="perceptron", readout="voted"),
}
sizes = {}
for name, model in models.items():
    save(model.partial_fit(X, y), path / "model.perceptron")
    again = load(path / "model.perceptron")
    assert np.array_equal(again.predict(X_test), model.predict(X_test))
    sizes[name] = (path / "model.perceptron").stat().st_size / 1000
    print(f"{name:17} {sizes[name]:7.1f} kB, held-out error after one pass {1 - again.score(X_test, y_test):.1%}")

figure, axis = plt.subplots(figsize=(7, 3.8), layout="constrained")
bars = axis.barh(list(sizes), list(sizes.values()), color="#0072B2")
axis.bar_label(bars, fmt=" {:.0f} kB")
axis.axvline(X.nbytes / 1000, color="#D55E00", linestyle="--", label="the training rows")
axis.set(xlabel="size of the model file (kB)", xlim=(0, 750))
axis.invert_yaxis()
axis.legend(loc="upper center")
folder.cleanup()

# %%
# More: :doc:`/reference/formats`.

plt.show()
