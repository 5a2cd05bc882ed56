"""
Can a line separate the classes?
================================

Decide with a proof whether a line separates two classes. You see what proves a yes, a line with its margin, and what
proves a no, a point that both classes surround.
"""

from fractions import Fraction

import matplotlib.pyplot as plt
import numpy as np

from perceptrons.theory import separability

# %%
# Two verdicts
# ------------
# The rows on the left are two clouds. On the right, the blue cloud has moved closer to the other one.
# :func:`~perceptrons.theory.separability` decides each case in exact arithmetic, and says what proves the verdict.

rng = np.random.default_rng(283)
y = np.repeat([-1, 1], 25)
apart = rng.normal(0, 0.7, size=(50, 2)) + np.where(y == 1, 2.2, 0.0)[:, np.newaxis]
mixed = apart - np.where(y == 1, 0.8, 0.0)[:, np.newaxis]
verdicts = [separability(apart, y), separability(mixed, y)]
print(verdicts[0])
print()
print(verdicts[1])

# %%
# Check them
# ----------
# You need not trust the solver. :meth:`~perceptrons.theory.Separability.check` verifies a proof with independent code,
# and raises an error if it does not hold for the rows. You can also verify a no yourself. Each row of the proof has a
# multiplier, a fraction. For each class, the multipliers sum to ½, and the rows times their multipliers add up to the
# same vector. Fractions make these sums exact. Twice this vector is the point where the hulls of the classes meet.

print("checked:", verdicts[0].check(apart, y), verdicts[1].check(mixed, y))
no = verdicts[1]
sums, vectors = {-1: 0, 1: 0}, {-1: 0, 1: 0}
for row, multiplier in zip(no.support, no.weights, strict=True):
    print(f"row {row:2} of class {y[row]:+}: {float(multiplier):.4f}")
    sums[y[row]] += multiplier
    vectors[y[row]] += multiplier * np.array([Fraction(value) for value in mixed[row]])
print(f"sums of the multipliers: {sums[-1]} and {sums[1]}")
print(f"the same vector, exactly: {(vectors[-1] == vectors[1]).all()}")

# %%
# See them
# --------
# Left: the dashed lines are as far from the line as the closest rows. No line keeps a larger distance, because the rows
# with a ring hold it in place. Right: the rows with a ring cannot be separated. Without any
# one of them, the others can be. The segments between rows of the same class meet at the cross, and a line that
# separates the classes would have the cross on both of its sides.

colours = {-1: "#D55E00", 1: "#0072B2"}
figure, axes = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained", sharex=True, sharey=True)
for axis, X, verdict in zip(axes, (apart, mixed), verdicts, strict=True):
    for sign, mark in ((-1, "o"), (1, "^")):
        axis.scatter(*X[y == sign].T, s=30, color=colours[sign], marker=mark)
    axis.scatter(*X[verdict.support].T, s=130, facecolors="none", edgecolors="#222222", linewidths=1.5)
    axis.set(aspect="equal", xlabel="feature 0")
axes[0].set(ylabel="feature 1", xlim=(-2, 4.4), ylim=(-2, 4.4))

yes, across = verdicts[0], np.array([-5.0, 5.0])
for distance, line in ((0.0, "-"), (-yes.margin, "--"), (yes.margin, "--")):
    axes[0].plot(across, (distance - yes.intercept - yes.coef[0] * across) / yes.coef[1], line, color="#222222")
axes[0].set_title(f"separable, margin {yes.margin:.3f}")

for sign in (-1, 1):
    few = mixed[no.support[y[no.support] == sign]]
    axes[1].fill(*few.T, facecolor=(colours[sign], 0.2), edgecolor=colours[sign], linewidth=1.5)
axes[1].plot(*no.point, "X", color="#222222", markersize=9)
axes[1].set_title("not separable")

# %%
# Where the verdict changes
# -------------------------
# Here the blue cloud moves in small steps. The margin shrinks until the hulls of the two classes touch.

shifts = np.linspace(0.0, 0.8, 81)
moved = [separability(apart - np.where(y == 1, shift, 0.0)[:, np.newaxis], y) for shift in shifts]
margin = [verdict.margin if verdict.separable else 0.0 for verdict in moved]
first = next(shift for shift, verdict in zip(shifts, moved, strict=True) if not verdict.separable)

figure, axis = plt.subplots(figsize=(7, 3.4), layout="constrained")
axis.plot(shifts, margin, color="#0072B2", linewidth=2)
axis.axvspan(first, shifts[-1], color="#D55E00", alpha=0.15)
axis.text((first + shifts[-1]) / 2, max(margin) / 2, "not separable", ha="center", color="#D55E00")
axis.set(
    xlabel="how far the blue cloud has moved, in each feature",
    ylabel="largest margin",
    xlim=(0, shifts[-1]),
    ylim=(0, None),
)

# %%
# If the hulls touch, the classes are not separable. If they almost touch, they are. The verdict is exact, however small
# the gap is.

for gap in (0.0, 2.0**-1000):
    print(separability([[0, 0], [2, 0], [1, gap], [1, 3]], [0, 0, 1, 1]))

# %%
# :doc:`/guides/proofs` has more questions that proofs answer, and :doc:`/learn/03-separability` explains the geometry.

plt.show()
