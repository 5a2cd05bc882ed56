"""
The convergence proof at work
=============================

Record every update of a run, and measure both halves of the proof that it must stop. You see the reason for
convergence as three curves, and what happens to rows for which no separator exists.
"""

# sphinx_gallery_thumbnail_number = 2

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from perceptrons import Perceptron
from perceptrons.plots import BoundaryDisplay, ProofDisplay
from perceptrons.theory import trace

# %%
# Record a run
# ------------
# :func:`~perceptrons.theory.trace` trains as ``fit`` does, and notes every update. The rows lie on both sides of a line
# through the origin, so no bias is needed. Rows closer to it than 0.05 are left out.

rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(200, 2))
distance = X @ [0.6, 0.8]
X, y = X[np.abs(distance) > 0.05], np.sign(distance[np.abs(distance) > 0.05]).astype(int)
run = trace(Perceptron(fit_intercept=False, random_state=1), X, y)
print(run)

# %%
# The table has one line for each update: which row made it, its margin before and after, and the weights.

columns = ["update", "pass", "row", "label", "margin_before", "margin_after", "w[0]", "w[1]"]
print(run.to_frame()[columns].head(8).round(3).to_string(index=False))

# %%
# The two halves of the proof
# ---------------------------
# Let w* be a separator of length 1 with margin γ, and R the length of the longest row. Each update moves w along w* by
# at least γ, so after k updates w has come k·γ far. But each update adds at most R² to the squared length of w, so w
# is no longer than √k·R. Both can hold for (R/γ)² updates at most. :class:`~perceptrons.plots.ProofDisplay` draws what
# was measured beside what is proved.

ProofDisplay.from_trace(run)

# %%
# The result
# ----------
# This is the final boundary. The theorem promises that training stops with no errors on these rows. It does not promise
# a large margin, and it says nothing about new rows.

BoundaryDisplay.from_estimator(run.model, X, y)
new = rng.uniform(-1, 1, size=(5000, 2))
print(f"training error {1 - run.model.score(X, y):.1%}", end=", ")
print(f"error on 5,000 new rows {1 - run.model.score(new, np.sign(new @ [0.6, 0.8]).astype(int)):.1%}")

# %%
# When there is no separator
# --------------------------
# Now one label is wrong. The proof read backwards says that no separator has a margin above ‖w‖/k. This number falls as
# the updates go on. When it is below ``tol`` times R, training gives up. What it has proved still holds: no separator
# has a larger margin.

y[0] = -y[0]
with warnings.catch_warnings():
    warnings.simplefilter("ignore", ConvergenceWarning)  # as expected
    endless = trace(Perceptron(fit_intercept=False, random_state=1), X, y)
print(endless)
ProofDisplay.from_trace(endless)

# %%
# :doc:`/learn/04-convergence` has the proof line by line.

plt.show()
