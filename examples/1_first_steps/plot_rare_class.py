"""
A rare class
============

One row in fifty belongs to the class that matters. Class weights and uneven margins find more of these rows, and pay
for it with false alarms.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import PrecisionRecallDisplay, precision_score, recall_score
from sklearn.model_selection import train_test_split

from perceptrons import Perceptron
from perceptrons.rules import Uneven

# %%
# Rows
# ----
# The two classes overlap. A model that never predicts the rare class has a small error, but it is useless.

X, y = make_classification(10_000, weights=[0.98], class_sep=0.8, n_informative=4, flip_y=0.005, random_state=0)
X, X_test, y, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
print(f"{y_test.sum()} of {len(y_test)} test rows are in the rare class")

# %%
# Three models
# ------------
# With ``class_weight="balanced"``, the steps of rare rows are longer: both classes have the same total weight. The rule
# :class:`perceptrons.rules.Uneven` asks for a larger margin in the rare class, so rare rows also make steps when they
# are right, but not by enough. Each model makes ten passes over the rows, in the same order each time.

models = {
    "plain": Perceptron(readout="averaged"),
    "balanced weights": Perceptron(readout="averaged", class_weight={0: 1.0, 1: 49.0}),
    "uneven margins": Perceptron(readout="averaged", rule=Uneven(beta_positive=100.0, beta_negative=0.0)),
}
