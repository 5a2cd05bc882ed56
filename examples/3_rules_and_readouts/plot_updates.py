"""
Update by update
================

Watch the boundary turn. You see every update of a small run: the row that made it, and the boundary before and after.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import Perceptron
from perceptrons.plots import BoundaryDisplay
from perceptrons.theory import trace

# %%
# A small run
# -----------
# Twenty rows in two classes, without a bias, so that the boundary goes through the origin and is always at right angles
# to w. :func:`perceptrons.theory.trace` trains and records each update.

rng = np.random.default_rng(3)
print()
