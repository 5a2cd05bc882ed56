"""
On a cluster
============

Cut the rows into shards that learn side by side, and mix their weights after each epoch. You see how many mistakes the
shards make, and what mixing costs compared with one machine.
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
# threads: ``Client("tcp://scheduler:8786")`` would be a real one, and nothing else would change.

rng = np.random.default_rng(0)
hidden = rng.normal(size=200)


def rows(n):
    """Make rows; one label in fifty is wrong."""
    X = rng.normal(size=(n, 200))
    return X, (X @ hidden > 0) ^ (rng.random(n) < 0.02)


X, y = rows(8000)
X_test, y_test = rows(4000)
blocks, labels = da.from_array(X, chunks=(1000, -1)), da.from_array(y, chunks=1000)
print(blocks)

# %%
# Train
# -----
# In each epoch, every shard makes one pass from the same weights, and then the weights of all shards are mixed.
# :class:`perceptrons.dask.DaskPerceptron` has the parameters of :class:`perceptrons.Perceptron`, and ``n_shards``. With
# one shard, it learns the same as on one machine.

settings = {"readout": "averaged", "max_iter": 10, "tol": None, "random_state": 0}
models = {"one machine": Perceptron(**settings).fit(X, y)}
with Client(processes=False, n_workers=1, threads_per_worker=2, dashboard_address=":0") as client:
    for n_shards in (1, 2, 8):
        models[f"{n_shards} shards"] = DaskPerceptron(n_shards=n_shards, **settings).fit(blocks, labels).to_local()
