"""
On a cluster
============

Cut the rows into shards that learn side by side, and mix their weights after each epoch. You see how many mistakes the
shards make, and how that compares with one machine.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client

from perceptrons import Perceptron
from perceptrons.dask import DaskPerceptron

# %%
# Rows on a cluster
# -----------------
# A Dask array consists of blocks, which lie on the workers of a cluster. Here the cluster is this process, with two
# threads. With ``Client("tcp://scheduler:8786")`` it would be a real one, and nothing else would change. The rows can
# be separated: a hyperplane labels them, and rows close to it are left out.

rng = np.random.default_rng(0)
hidden = rng.normal(size=50)
X = rng.normal(size=(6000, 50)).astype(np.float32)
score = X @ hidden / np.linalg.norm(hidden)
X, y = X[np.abs(score) > 0.1], score[np.abs(score) > 0.1] > 0
X, X_test, y, y_test = X[:4000], X[4000:], y[:4000], y[4000:]
blocks, labels = da.from_array(X, chunks=(500, -1)), da.from_array(y, chunks=500)
print(blocks)

# %%
# Train
# -----
# In each epoch, every shard makes one pass from the same weights, and then the weights of all shards are mixed.
# :class:`~perceptrons.dask.DaskPerceptron` has the parameters of :class:`~perceptrons.Perceptron`, and ``n_shards``.
# With ``readout="last"``, training ends after an epoch without a mistake. The mean of the weights, the default, may end
# it before, when more epochs no longer change its predictions.

settings = {"readout": "last", "random_state": 0}
models = {"one machine": Perceptron(**settings).fit(X, y)}
with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0"):
    for n in (1, 2, 8):
        models[f"{n} shard{'s' * (n > 1)}"] = DaskPerceptron(n_shards=n, **settings).fit(blocks, labels)

print(f"{'':12}{'epochs':>7}{'mistakes':>9}{'training error':>15}{'held-out error':>15}")
for name, model in models.items():
    errors = f"{1 - model.score(X, y):15.1%}{1 - model.score(X_test, y_test):15.1%}"
    print(f"{name:12}{model.n_iter_:7}{model.n_mistakes_:9,}{errors}")
print("one shard learned what one machine learned:", (models["1 shard"].coef_ == models["one machine"].coef_).all())

# %%
# What shards cost
# ----------------
# The shards of an epoch run at the same time. But none of them sees what the others learn in it, so together they make
# more mistakes. The theorem allows S shards S times as many as one machine. The number of epochs is a matter of luck.
# ``shard_mistakes_`` counts mistakes by epoch and shard.

print("mistakes of the 8 shards in the first three epochs:")
print(models["8 shards"].shard_mistakes_[:3])

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained", width_ratios=[3, 2])
colours = dict(zip(models, ("#BBBBBB", "#222222", "#0072B2", "#D55E00"), strict=True))
for name, model in models.items():
    width = 5 if name == "one machine" else 1.5
    left.plot(np.arange(1, model.n_iter_ + 1), model.mistakes_, color=colours[name], linewidth=width, label=name)
left.set(xlabel="epoch", ylabel="mistakes in the epoch", yscale="symlog", ylim=(0, None), xlim=(1, None))
left.legend()
right.bar(list(models), [model.n_mistakes_ for model in models.values()], color=list(colours.values()))
right.tick_params("x", rotation=45)
right.set(ylabel="mistakes in all")

# %%
# An ordinary model
# -----------------
# The model that leaves the cluster can be saved, exported, and taught more.

print(models["8 shards"].to_local())

# %%
# More: :doc:`/guides/clusters`.

plt.show()
