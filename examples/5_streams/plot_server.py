"""
A server that learns, with late labels
======================================

Start ``perceptrons serve``, ask it for predictions, and send the labels when they are known. A faulty program then
sends wrong labels. You see the server's alarm, and a rollback that undoes the harm.
"""

import subprocess
import sys
import tempfile
from contextlib import contextmanager

import matplotlib.pyplot as plt
import numpy as np

from perceptrons.client import Client

# %%
# Parcels
# -------
# Will a parcel be late? That depends on distance, weight and carrier. More parcels are set aside to test the model.

rng = np.random.default_rng(0)


def parcels(n):
    """Make parcels, and tell which were late."""
    km, kg, carrier = rng.exponential(2, n).round(1), rng.exponential(1, n).round(1), rng.choice(["a", "b", "c"], n)
    late = km + kg + 2 * (carrier == "b") + rng.normal(0, 0.3, n) > 3.2
    X = [{"km": float(a), "kg": float(b), "carrier": str(c)} for a, b, c in zip(km, kg, carrier, strict=True)]
    return X, np.where(late, "late", "on time").tolist()


X, y = parcels(600)
X_test, y_test = parcels(1000)
print(X[0], y[0])


def error(predictions):
    """Compute the share of wrong predictions of the parcels that were set aside."""
    return np.mean(np.array(predictions) != y_test)


# %%
# Start and stop
# --------------
# In a terminal, you would type ``perceptrons serve models/``. Here a program starts the server on a free port of this
# machine, reads the address from the server's first line, and stops the server at the end, whatever happens.


@contextmanager
def server(folder):
    """Run a server for the models in a folder, and give a client of it."""
    command = [sys.executable, "-m", "perceptrons", "serve", folder, "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            with Client(process.stdout.readline().split()[0]) as client:
                yield client
        finally:
            process.terminate()


# %%
# Predict now, label later
# ------------------------
# The server first learns 400 parcels of the past, 20 in a request. Then parcels are predicted as they come.
# :meth:`~perceptrons.client.Model.predict` with an ``id`` makes the server keep the example, and
# :meth:`~perceptrons.client.Model.label` sends its label, here 10 parcels later. From parcel 440 on, a faulty program
# reports the opposite of the truth. The server watches the rate of mistakes. When it reports a drift, we stop, and go
# back to the last position of the log with a true label (:meth:`~perceptrons.client.Model.rollback`).

opposite = {"late": "on time", "on time": "late"}
wrong = []  # of each 20 parcels
with tempfile.TemporaryDirectory() as folder, server(folder) as client:
    model = client.create("parcels", "Perceptron", rule="pa1", classes=["late", "on time"])
    for i in range(0, 400, 20):
        wrong.append(model.learn_many(X[i : i + 20], y[i : i + 20])["mistakes"])
    print(f"after 400 parcels: held-out error {error(model.predict_many(X_test)):.1%}")

    found = []
    for i in range(400, 600):
        model.predict(X[i], id=f"parcel-{i}")
        if (known := i - 10) >= 400:
            answer = model.label(f"parcel-{known}", y[known] if known < 440 else opposite[y[known]])
            found.append(answer["mistake"])
            if known == 439:
                good = answer["position"]
            if len(found) % 20 == 0 and (drift := model.state()["drift"])["found"]:
                break
    wrong += np.reshape(found, (-1, 20)).sum(axis=1).tolist()
    print(f"alarm after parcel {known}: {drift['rate']:.0%} of the last {drift['examples']} predictions were wrong")
    print(f"with wrong labels: held-out error {error(model.predict_many(X_test)):.1%}")

    model.rollback(good)
    print(f"after the rollback to position {good}: held-out error {error(model.predict_many(X_test)):.1%}")
    for i in range(known + 1, 600, 20):
        wrong.append(model.learn_many(X[i : i + 20], y[i : i + 20])["mistakes"])
    print(f"after 600 parcels: held-out error {error(model.predict_many(X_test)):.1%}")
print(f"always 'on time': held-out error {error(['on time'] * len(y_test)):.1%}")

# %%
# What the server saw
# -------------------
# The server counts a prediction as wrong if it differs from the label that was sent, true or not. Each example was in a
# log on the disk before its request was answered. That is why the server could go back.

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
axis.stairs(wrong, np.arange(0, 601, 20), color="#0072B2", fill=True)
axis.axvspan(440, known + 1, color="#F5D5BF", zorder=0, label="wrong labels")
axis.axvline(known + 1, color="#D55E00", label="alarm and rollback")
axis.set(xlabel="parcels with a known label", ylabel="wrong predictions, of 20", ylim=(0, 20), xlim=(0, 600))
axis.set_yticks(range(0, 21, 5))
axis.legend(loc="upper left")

# %%
# More: :doc:`/guides/server`.

plt.show()
