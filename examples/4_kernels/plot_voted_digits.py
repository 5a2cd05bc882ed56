"""
Voted digits
============

Read digits with polynomial kernels, as in the paper that introduced the voted perceptron. You see the held-out error of
the last weights and of the vote, after one pass and after ten.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from perceptrons import KernelPerceptron

# %%
# Degrees
# -------
# The kernel (1 + x·x′)^p has as features all products of at most p pixels. Freund & Schapire (1999) used it to read
# larger pictures of digits. A run keeps every weight vector, and they vote. Each has one vote for every row that
# it lasted. Some runs end before they have converged, so the program ignores the warning.

warnings.simplefilter("ignore", ConvergenceWarning)
digits = load_digits()
X, X_test, y, y_test = train_test_split(digits.data / 16, digits.target, test_size=0.5, random_state=0)
degrees = [1, 2, 3, 4, 5, 6, 8]
plain = {"kernel": "poly", "gamma": 1.0, "coef0": 1.0, "rule": "perceptron"}
errors = {}
for readout in ("last", "voted"):
    for passes in (1, 10):
        models = [
            KernelPerceptron(**plain, degree=degree, readout=readout, max_iter=passes, tol=None).fit(X, y)
            for degree in degrees
        ]
        errors[readout, passes] = [(1 - model.score(X, y), 1 - model.score(X_test, y_test)) for model in models]

print(f"baseline (always the most frequent digit): {np.mean(y_test != np.bincount(y).argmax()):.1%}")
print("held-out error (training error)")
print(f"{'degree':>22}" + "".join(f"{degree:>14}" for degree in degrees))
for (readout, passes), pairs in errors.items():
    cells = "".join(f"{f'{held_out:.1%} ({trained:.1%})':>14}" for trained, held_out in pairs)
    print(f"{readout:6}{passes:2} {'passes' if passes > 1 else 'pass':6}{'':7}{cells}")

# %%
# The vote helps most where the run has not converged: after one pass, and with small degrees. After ten passes with a
# high degree, there is hardly a difference. These runs make few mistakes after the first passes, so the weight vectors
# with many votes are close to the last one.

figure, axis = plt.subplots(figsize=(7.5, 4.4), layout="constrained")
looks = {("last", 1): ("#D55E00", "s--"), ("last", 10): ("#D55E00", "s-")}
looks |= {("voted", 1): ("#0072B2", "o--"), ("voted", 10): ("#0072B2", "o-")}
for (readout, passes), pairs in errors.items():
    colour, line = looks[readout, passes]
    name = f"{readout}, {passes} pass{'es' if passes > 1 else ''}"
    axis.plot(degrees, [100 * held_out for _, held_out in pairs], line, color=colour, label=name)
axis.set(xlabel="degree of the kernel", ylabel="held-out error (%)", ylim=(0, None), xticks=degrees)
axis.grid(alpha=0.3)
axis.legend()

# %%
# What a kernel model knows
# -------------------------
# A kernel model has no weights for pixels. It has the rows that it learned from, each with a coefficient. These rows
# have the largest coefficients for their own digit: they are the hardest pictures of the training set.

model = KernelPerceptron(**plain, degree=4).fit(X, y)
print(f"converged: {model.converged_}, {len(model.support_)} of {len(y)} rows are support rows")
own = np.array([model.dual_coef_[y[row], place] for place, row in enumerate(model.support_)])
hardest = model.support_[np.argsort(-own)[:10]]
figure, axes = plt.subplots(2, 5, figsize=(7.5, 3.6), layout="constrained")
for axis, row in zip(axes.flat, hardest, strict=True):
    axis.imshow(X[row].reshape(8, 8), cmap="gray_r")
    axis.set(title=f"a {y[row]}", xticks=[], yticks=[])

# %%
# :doc:`/learn/06-readouts` explains the vote, and :doc:`/learn/07-kernels` explains kernels.

plt.show()
