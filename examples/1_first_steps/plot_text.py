"""
Short messages
==============

Tell messages about parcels from messages about meals, and read from the weights which words decide.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from perceptrons import Perceptron

# %%
# Messages
# --------
# The program writes its own messages. Some words belong to one topic, and others occur in both. A message such as
# "hello, the order was late today" can be about either topic, so no model can be right every time.

THINGS = {"meal": ["soup", "pizza", "wine", "table", "order"], "parcel": ["box", "courier", "label", "door", "order"]}
STATES = {
    "meal": ["cold", "salty", "tasty", "late", "wrong", "fine"],
    "parcel": ["open", "lost", "heavy", "late", "wrong", "fine"],
}
OPENINGS, ENDS = ["hello", "good morning", "thank you", "please help"], ["today", "again", "this time", "as always"]
rng = np.random.default_rng(0)
labels = rng.choice(["meal", "parcel"], 600)
messages = []
for label in labels:
    opening, thing, state, end = (str(rng.choice(words)) for words in (OPENINGS, THINGS[label], STATES[label], ENDS))
    messages.append(f"{opening}, the {thing} was {state} {end}")
for label, message in zip(labels[:4], messages[:4], strict=True):
    print(f"{label:7} {message}")

# %%
# Train
# -----
# ``TfidfVectorizer`` turns a message into one number for each of its words. Rare words count more, and all rows have
# the length 1. Beside such short rows the constant feature of the bias would be large, so ``intercept_scaling`` makes
# it smaller. Half of the messages are held out. Training ends when the error on a tenth of the other half, which is set
# aside, has stopped falling.

train, test, y, y_test = train_test_split(messages, labels, test_size=0.5, random_state=0)
perceptron = Perceptron(intercept_scaling=0.1, early_stopping=True, tol=None)
model = make_pipeline(TfidfVectorizer(), perceptron).fit(train, y)
print(f"training error {1 - model.score(train, y):.1%}, held-out error {1 - model.score(test, y_test):.1%}")
new = ["good morning, the courier lost my box", "the soup was tasty as always"]
print(dict(zip(new, model.predict(new).tolist(), strict=True)))

# %%
# Which words decide
# ------------------
# ``feature_weights`` lists the largest weights by name. With two classes there is one weight for each word: a positive
# weight speaks for the second class, ``parcel``, and a negative one for ``meal``.

weights = model[-1].feature_weights(model[:-1].get_feature_names_out(), top=14)
print(weights)

ordered = sorted(weights, key=lambda entry: entry[2])
names, values = [entry[0] for entry in ordered], [entry[2] for entry in ordered]
figure, axes = plt.subplots(figsize=(7, 5), layout="constrained")
axes.barh(names, values, color=["#D55E00" if value < 0 else "#0072B2" for value in values])
axes.axvline(0, color="#222222", linewidth=1)
axes.set(xlabel="weight (left: for meal, right: for parcel)", title="the 14 words with the largest weights")

# %%
# :doc:`/choose/scaling` says more about the length of rows and the constant of the bias.

plt.show()
