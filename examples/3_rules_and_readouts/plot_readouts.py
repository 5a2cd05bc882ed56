"""
Which weights predict?
======================

A run has many weight vectors, and a readout decides which of them make predictions. You see the held-out error of four
readouts after each pass.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from perceptrons import Perceptron
from perceptrons.plots import MarginsDisplay

# %%
# Two data sets
# -------------
# The two classes of the first set overlap, and a tenth of its labels are random. The second set has ten classes,
# pictures of digits, and can be separated.

noisy = train_test_split(
    *make_classification(4000, 30, n_informative=10, class_sep=0.8, flip_y=0.1, random_state=0),
    test_size=0.5,
    random_state=0,
)
digits = train_test_split(*load_digits(return_X_y=True), test_size=0.5, random_state=0)

# %%
# Four readouts
# -------------
# All runs see the same rows in the same order, and make the same steps. Only the predictions differ.
#
# * ``"last"``: the weights after the last step;
# * ``"averaged"``: the mean of the weights over all examples of the run;
# * ``"voted"``: all weight vectors vote, each with the number of examples that it lasted;
# * ``"pocket"``: of the weights that were tried on all training rows, those with the fewest mistakes.
#
# :meth:`~perceptrons.Perceptron.fit` measures the error on ``X_val`` after each pass. The rows of ``X_val`` do not
# change the model here. Twenty passes are not meant to converge, so the program ignores the warning about it.

warnings.simplefilter("ignore", ConvergenceWarning)
PASSES = 20
looks = {"last": ("#D55E00", "-"), "averaged": ("#0072B2", "-"), "voted": ("#009E73", "--"), "pocket": ("#222222", ":")}
models = {}
figure, axes = plt.subplots(1, 2, figsize=(9.5, 4.2), layout="constrained")
for axis, name, (X, X_test, y, y_test) in zip(axes, ("overlapping classes", "digits"), (noisy, digits), strict=True):
    largest = np.bincount(y).argmax()
    print(f"{name}: always saying {largest} has a held-out error of {np.mean(y_test != largest):.1%}")
    for readout, (colour, line) in looks.items():
        model = Perceptron(readout=readout, max_iter=PASSES, tol=None)
        model = models[name, readout] = model.fit(X, y, X_val=X_test, y_val=y_test)
        errors = 100 * model.validation_errors_
        axis.plot(range(1, PASSES + 1), errors, line, color=colour, linewidth=2, label=readout)
        print(f"  {readout:9} training error {1 - model.score(X, y):6.1%}, held-out error {errors[-1] / 100:6.1%}")
    axis.set(title=name, xlabel="passes", xticks=range(0, PASSES + 1, 5), ylim=(0, None))
axes[0].set_ylabel("held-out error (%)")
axes[1].legend()

# %%
# The last weights follow the last few mistakes, so their error jumps up and down. Here the mean and the vote are better
# from the first pass on, and nearly equal. Voting keeps every weight vector, so predictions take longer. The pocket
# never gets worse on the training rows, but on overlapping classes one good weight vector is not as good as the mean of
# all.
#
# Why the mean is better
# ----------------------
# The margins of the held-out rows show it. With the last weights, more rows are far on the wrong side.
# :class:`~perceptrons.plots.MarginsDisplay` draws the distances from both boundaries.

X, X_test, y, y_test = noisy
shown = {readout: models["overlapping classes", readout] for readout in ("averaged", "last")}
MarginsDisplay.from_estimators(shown, X_test, y_test)

# %%
# :doc:`/choose/readouts` says which one to take, and :doc:`/learn/06-readouts` explains them.

plt.show()
