"""
Kernels side by side
====================

Two half moons cannot be separated by a line. You see the boundaries of six kernels on the same rows, and why training
errors do not tell you which kernel to take.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from perceptrons import KernelPerceptron
from perceptrons.plots import BoundaryDisplay

# %%
# Six kernels
# -----------
# :class:`~perceptrons.KernelPerceptron` runs the perceptron in the feature space of a kernel. The names and parameters
# of kernels are those of scikit-learn. Each model has the plain rule, makes at most 100 passes (the default), and the
# pocket readout keeps the best weights that it tried. Some models cannot separate the rows, so the program ignores the
# warning that says so.
#
# The rings mark training rows on the wrong side. A model without any has a margin, drawn as dashed lines. Between these
# lines, a point is closer to the boundary, in the space of the kernel, than every training row.

warnings.simplefilter("ignore", ConvergenceWarning)
X, y = make_moons(150, noise=0.2, random_state=0)
X_test, y_test = make_moons(2000, noise=0.2, random_state=1)
kernels = {
    "linear": {"kernel": "linear"},
    "poly, degree 2": {"kernel": "poly", "degree": 2, "gamma": 1.0, "coef0": 1.0},
    "poly, degree 5": {"kernel": "poly", "degree": 5, "gamma": 1.0, "coef0": 1.0},
    "rbf, γ = 1": {"kernel": "rbf", "gamma": 1.0},
    "rbf, γ = 100": {"kernel": "rbf", "gamma": 100.0},
    "laplacian, γ = 1": {"kernel": "laplacian", "gamma": 1.0},
}
figure, axes = plt.subplots(2, 3, figsize=(9.5, 6), layout="constrained", sharex=True, sharey=True)
print(f"{'':18}training error  held-out error  support rows")
for axis, (name, settings) in zip(axes.flat, kernels.items(), strict=True):
    model = KernelPerceptron(**settings, rule="perceptron", readout="pocket").fit(X, y)
    errors = 1 - model.score(X, y), 1 - model.score(X_test, y_test)
    print(f"{name:18}{errors[0]:14.1%}{errors[1]:16.1%}{len(model.support_):14}")
    BoundaryDisplay.from_estimator(model, X, y, ax=axis)
    axis.get_legend().remove()
    axis.set(title=f"{name}: {errors[1]:.1%} held out", xlabel="", ylabel="")

# %%
# How wide should the kernel be?
# ------------------------------
# The parameter γ of the Gaussian kernel says how soon two rows stop being similar. With a large γ, a row is similar
# only to itself. The training error falls to 0, and the model learns the rows by heart. Held-out rows show where to
# stop.

gammas = np.logspace(-2, 4, 19)
trained, held_out, support = [], [], []
for gamma in gammas:
    model = KernelPerceptron(gamma=gamma, rule="perceptron", readout="pocket").fit(X, y)
    trained.append(100 * (1 - model.score(X, y)))
    held_out.append(100 * (1 - model.score(X_test, y_test)))
    support.append(len(model.support_))
best = int(np.argmin(held_out))
print(f"smallest held-out error {held_out[best]:.1f}% at γ = {gammas[best]:.2g}, with {support[best]} support rows")

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained")
left.plot(gammas, trained, "s--", color="#D55E00", label="training error")
left.plot(gammas, held_out, "o-", color="#0072B2", label="held-out error")
left.set(xscale="log", xlabel="γ", ylabel="error (%)", ylim=(-1, None))
left.legend()
right.plot(gammas, support, "o-", color="#009E73")
right.axhline(len(y), color="#222222", linestyle=":", label="all training rows")
right.set(xscale="log", xlabel="γ", ylabel="support rows", ylim=(0, None))
right.legend()

# %%
# (The smallest held-out error in this picture is a little too good, because the same rows chose γ. A fair estimate
# needs a third set of rows.) :doc:`/choose/kernels` says how to choose a kernel, and :doc:`/learn/07-kernels` explains
# them.

plt.show()
