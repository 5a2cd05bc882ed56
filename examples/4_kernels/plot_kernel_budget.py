"""
A kernel on a budget
====================

A kernel perceptron keeps every row on which it makes a mistake, so it grows without end on a noisy stream. You see four
ways to keep at most 20 rows. Two of them make about as few mistakes as the model that keeps hundreds.
"""

# sphinx_gallery_thumbnail_number = 2

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from perceptrons import KernelPerceptron

# %%
# A stream
# --------
# The rows arrive one after another. The model predicts each one before it learns from it, so every mistake is a mistake
# on a new row. :meth:`~perceptrons.KernelPerceptron.predict_then_learn` does both. The policy says what happens when
# the budget is full: ``"random"`` removes a random old row, ``"forgetron"`` shrinks all coefficients and removes the
# oldest row. ``"projectron"`` and ``"projectron++"`` remove nothing. They express a step by the rows that are already
# there. Rule and readout are those that models with a budget have by default. Always saying the same class would be
# wrong half of the time.

X, y = make_moons(5000, noise=0.25, random_state=0)
settings = {
    "no budget": {},
    "random": {"budget": 20, "policy": "random"},
    "forgetron": {"budget": 20, "policy": "forgetron"},
    "projectron": {"budget": 20, "policy": "projectron"},
    "projectron++": {"budget": 20, "policy": "projectron++"},
}
chunk = 100
models, wrong, kept = {}, {}, {}
for name, setting in settings.items():
    model = models[name] = KernelPerceptron(gamma=1.0, rule="perceptron", readout="last", random_state=0, **setting)
    wrong[name], kept[name] = [], []
    for start in range(0, len(y), chunk):
        part = slice(start, start + chunk)
        wrong[name].extend(model.predict_then_learn(X[part], y[part]) != y[part])
        kept[name].append(len(model.support_))

print(f"{'':14}rows kept  wrong predictions")
for name in models:
    print(f"{name:14}{kept[name][-1]:9}{np.mean(wrong[name]):19.1%}")

# %%
# Mistakes and memory
# -------------------
# The models that throw rows away make about twice as many mistakes, because they forget what these rows taught them.
# The projectrons do not even need all 20 rows.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
looks = [("#222222", "-"), ("#E69F00", "--"), ("#D55E00", "--"), ("#009E73", "-."), ("#0072B2", "-")]
for name, (colour, line) in zip(models, looks, strict=True):
    left.plot(np.cumsum(wrong[name]), line, color=colour, label=name)
    right.plot(np.arange(1, len(kept[name]) + 1) * chunk, kept[name], line, color=colour, label=name)
left.set(xlabel="rows seen", ylabel="mistakes so far")
right.set(xlabel="rows seen", ylabel="rows kept", yscale="log")
right.set_yticks([5, 20, 100, 500], ["5", "20", "100", "500"])
right.minorticks_off()
left.legend()

# %%
# Which rows are kept?
# --------------------
# The projectron++ keeps a row only if the rows it has cannot stand in for it. So its rows are spread over the moons.
# The kernel is wide (γ = 1), so a few rows are enough. A narrow kernel needs a larger budget.

figure, axes = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained", sharex=True, sharey=True)
across, up = np.meshgrid(np.linspace(-2, 3, 200), np.linspace(-1.7, 2.2, 150))
for axis, name in zip(axes, ("no budget", "projectron++"), strict=True):
    model = models[name]
    scores = model.decision_function(np.column_stack([across.ravel(), up.ravel()])).reshape(across.shape)
    axis.contourf(across, up, scores, levels=[-np.inf, 0, np.inf], colors=["#D55E00", "#0072B2"], alpha=0.12)
    axis.contour(across, up, scores, levels=[0], colors="#222222")
    for label, colour, mark in ((0, "#D55E00", "o"), (1, "#0072B2", "^")):
        axis.scatter(*X[y == label][:500].T, s=4, color=colour, alpha=0.3)
        mine = model.support_vectors_[y[model.support_] == label]
        axis.scatter(*mine.T, s=60, color=colour, marker=mark, edgecolors="#222222")
    axis.set(title=f"{name}: {len(model.support_)} rows")

# %%
# :doc:`/choose/kernels` says which budget and policy to take, and :doc:`/guides/streams` has more about streams.

plt.show()
