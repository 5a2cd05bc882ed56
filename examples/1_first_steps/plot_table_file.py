"""
A table with numbers, words and gaps
====================================

Train on a CSV file as it is: with numbers, categories and missing values. Save the model, load it, and let it read new
rows. The picture shows what each value adds to the score.
"""

import csv
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from perceptrons import Perceptron, load, save
from perceptrons.data import source

# %%
# Write a table
# -------------
# Each row is a customer: who stays, and who leaves? One income in ten and one town in twenty are missing.

rng = np.random.default_rng(0)
folder = tempfile.TemporaryDirectory()
path = Path(folder.name)


def write(name, n_rows):
    """Write a table of random customers."""
    age, income = rng.integers(18, 80, n_rows), rng.normal(40_000, 12_000, n_rows).round()
    town, plan = rng.choice(["Leeds", "York", "Hull"], n_rows), rng.choice(["basic", "plus"], n_rows)
    wish = (age - 49) / 20 + (income - 40_000) / 15_000 + (town == "York") + (plan == "plus") - 1
    stays = np.where(wish + rng.normal(0, 0.5, n_rows) > 0, "yes", "no")
    gaps, blanks = rng.random(n_rows) < 0.1, rng.random(n_rows) < 0.05
    with open(path / name, "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["age", "income", "town", "plan", "stays"])
        table.writerows(zip(age, np.where(gaps, "", income), np.where(blanks, "", town), plan, stays, strict=True))


write("customers.csv", 2000)
write("new.csv", 1000)
print(*(path / "customers.csv").read_text().splitlines()[:6], sep="\n")

# %%
# Train, save, load
# -----------------
# :func:`~perceptrons.data.source` finds out which columns are numbers and which are categories. For training, numbers
# are centred and divided by their standard deviation. A missing number counts as the mean of its column, and a feature
# of its own marks it. A missing category is a category. Training ends when the error on a tenth of the rows, which is
# set aside, has stopped falling.

model = Perceptron(early_stopping=True, tol=None)
model.fit(source(path / "customers.csv", target="stays"))
save(model, path / "stays.perceptron")

again = load(path / "stays.perceptron")
new = source(path / "new.csv", target="stays", like=again.encoding_)
print(f"training error {1 - again.score(source(path / 'customers.csv', target='stays', like=again.encoding_)):.1%}")
print(f"error on new rows {1 - again.score(new):.1%}")
print("first predictions:", *again.predict(new)[:5])

# %%
# What speaks for staying
# -----------------------
# ``feature_weights`` has the weight of each category, and the weight of each number per unit. To compare them, the
# picture multiplies the weights of numbers by a typical difference: 10 years, and an income of 10,000.

weights = again.feature_weights()
print(weights)
step = {"age": ("10 years of age", 10), "income": ("10,000 of income", 10_000)}
bars = [(step.get(name, (name, 1))[0], weight * step.get(name, (name, 1))[1]) for name, _, weight in weights]
names, values = zip(*sorted(bars, key=lambda bar: bar[1]), strict=True)
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.barh(names, values, color=["#D55E00" if value < 0 else "#0072B2" for value in values])
axes.axvline(0, color="#222222", linewidth=1)
axes.set(xlabel="added to the score (left: leaves, right: stays)")
folder.cleanup()

# %%
# :doc:`/guides/files` has the other formats, and the options for reading them.

plt.show()
