"""
Files larger than memory
========================

Learn from files batch by batch, and beside it from the same rows in one array. You see that memory grows with the
array, but not with the files.
"""

import tempfile
import tracemalloc
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import Perceptron
from perceptrons.data import source

# %%
# Write files
# -----------
# Sixteen NumPy files with 50,000 rows each are enough to see the point. CSV, Parquet, Arrow and
# svmlight files work in the same way, also compressed. The last column has the labels.

rng = np.random.default_rng(0)
hidden = rng.normal(size=30).astype(np.float32)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name)


def write(name):
    """Write a file of random rows with noisy labels."""
    X = rng.standard_normal((50_000, 30), dtype=np.float32)
    y = X @ hidden + rng.standard_normal(50_000, dtype=np.float32) > 0
    np.save(path / name, np.column_stack([X, y]))
    return path / name


parts, test = [write(f"part-{i:02}.npy") for i in range(16)], write("test.npy")
rows = source(parts, cache=False)
print(f"{rows.n_bytes / 1e6:.0f} MB in {len(rows.paths)} files")
sizes = [batch.n_bytes / 1e6 for batch in rows.batches()]
print(f"read in {len(sizes)} batches of {max(sizes):.1f} MB at most")

# %%
# One pass, measured
# ------------------
# :func:`~perceptrons.data.source` opens files, and estimators take it in place of X and y. ``tracemalloc``
# measures the memory that Python and NumPy allocate while a function runs.


def peak(work, *args):
    """Measure how many MB a function allocates at its peak."""
    tracemalloc.start()
    work(*args)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / 1e6


def in_batches(files):
    """Learn from files, batch by batch."""
    return Perceptron().partial_fit(source(files, cache=False))


def all_at_once(files):
    """Read everything into arrays, then learn."""
    X, y = source(files, cache=False).arrays()
    return Perceptron().partial_fit(X, y)


for work in (in_batches, all_at_once):
    work(parts[:1])  # code is loaded, once
counts = (1, 2, 4, 8, 12, 16)
sizes = [source(parts[:n]).n_bytes / 1e6 for n in counts]
peaks = {work: [peak(work, parts[:n]) for n in counts] for work in (in_batches, all_at_once)}

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
axis.plot(sizes, peaks[all_at_once], "s--", color="#D55E00", label="all rows in one array")
axis.plot(sizes, peaks[in_batches], "o-", color="#0072B2", label="in batches")
axis.set(xlabel="size of the files (MB)", ylabel="memory at the peak (MB)", xlim=(0, None), ylim=(0, None))
axis.legend()

# %%
# Only a few batches are in memory at the same time. The array takes about twice the size of the files at its peak,
# because it is put together from batches.
#
# The same model
# --------------
# Both ways learn from the same rows in the same order. Here both models are equal to the last bit.

model, other = in_batches(parts), all_at_once(parts)
print("the same weights:", (model.coef_ == other.coef_).all())
training, held_out = (1 - model.score(source(files, cache=False)) for files in (parts, [test]))
print(f"after one pass over {model.n_seen_:,} rows: training error {training:.1%}, held-out error {held_out:.1%}")
folder.cleanup()

# %%
# Several passes with ``fit`` take a source, too. With the default ``cache=True``, they parse files only once: up to 64
# MB of rows stay in memory, and more are kept in a binary copy on the disk.
#
# More: :doc:`/guides/files`.

plt.show()
