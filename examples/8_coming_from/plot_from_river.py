"""
Coming from River
=================

Feed the same examples to River's models and to those of :mod:`perceptrons.river`. Two pairs learn the same weights.
Then you see what differs: several classes, text in examples, and more rules.
"""

import matplotlib.pyplot as plt
import numpy as np
from river import linear_model, multiclass, stream
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.preprocessing import scale
from sklearn.utils import shuffle

import perceptrons
from perceptrons.river import PassiveAggressiveClassifier, Perceptron

# %%
# The same weights
# ----------------
# In a stream, River's ``Perceptron`` and :class:`perceptrons.river.Perceptron` make the same steps. So do both
# passive-aggressive classifiers without a bias. (The rows are scaled in advance, to leave scalers out.) With a bias,
# the steps differ a little: the bias is the weight of a constant feature 1, which counts here in the length of an
# example, and in River does not.

data = load_breast_cancer()
X, y = shuffle(scale(data.data), data.target == 0, random_state=0)
pairs = {
    "perceptron": (linear_model.Perceptron(), Perceptron()),
    "PA-I without a bias": (
        linear_model.PAClassifier(C=0.1, mode=1, learn_intercept=False),
        PassiveAggressiveClassifier(C=0.1, fit_intercept=False),
    ),
    "PA-I with a bias": (linear_model.PAClassifier(C=0.1, mode=1), PassiveAggressiveClassifier(C=0.1)),
}
print(f"{'wrong predictions':21}{'River':>6}{'here':>6}   largest difference of weights")
for name, models in pairs.items():
    wrong = np.zeros(2, int)
    for x, label in stream.iter_array(X, y, feature_names=list(data.feature_names)):
        for i, model in enumerate(models):
            wrong[i] += model.predict_one(x) != label
            model.learn_one(x, bool(label))
    river, ours = models
    weights = zip(ours.estimator.feature_names_in_, ours.estimator.coef_[0], strict=True)
    print(f"{name:21}{wrong[0]:6}{wrong[1]:6}   {max(abs(river.weights[key] - weight) for key, weight in weights):.3f}")
print(f"always benign: {y.sum()} of {len(y)} wrong")

# %%
# Several classes
# ---------------
# River needs ``OneVsRestClassifier``, which trains one model for each class. Here all classes are learned together, and
# an example is one call. Other rules and readouts are parameters.

X, y = shuffle(*load_digits(return_X_y=True), random_state=0)
models = {
    "River, one against the rest": multiclass.OneVsRestClassifier(linear_model.Perceptron()),
    "here": Perceptron(),
    'here, readout="averaged"': Perceptron(readout="averaged"),
    'here, rule="arow"': Perceptron(rule="arow"),
}
wrong = {name: [] for name in models}
for x, label in stream.iter_array(X, y):
    for name, model in models.items():
        wrong[name].append(model.predict_one(x) != label)
        model.learn_one(x, int(label))
for name, found in wrong.items():
    print(f"{name:28} progressive error {np.mean(found):.1%}")
print(f"{'always the most frequent':28} progressive error {1 - np.bincount(y).max() / len(y):.1%}")

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
seen = np.arange(1, len(y) + 1)
for (name, found), colour in zip(wrong.items(), ("#D55E00", "#222222", "#009E73", "#0072B2"), strict=True):
    axis.plot(seen, 100 * np.cumsum(found) / seen, color=colour, label=name)
axis.set(xlim=(20, len(y)), ylim=(0, 60), xlabel="examples", ylabel="progressive error (%)")
axis.legend()

# %%
# Text, new classes, and what was learned
# ---------------------------------------
# Text in an example is a category, so there is no need for an encoder. A class may be new at any time. Outside of
# River, :class:`~perceptrons.Perceptron` has the same methods, and its ``learn_one`` returns the model. Its default
# readout is the mean of the weights; as the models for River do, this one predicts with the last weights.

model = perceptrons.Perceptron(readout="last")
mail = [
    ({"links": 3, "from": "bank"}, "spam"),
    ({"links": 0, "from": "Eva"}, "ham"),
    ({"links": 1, "from": "shop"}, "ads"),
]
for x, label in mail * 5:
    model.learn_one(x, label)
print(model.classes_, model.n_mistakes_, "mistakes")
print(model.explain_one({"links": 2, "from": "bank"}))

# %%
# ============================================  =========================================================
# River                                         here
# ============================================  =========================================================
# ``linear_model.Perceptron()``                 ``perceptrons.river.Perceptron()``
# ``linear_model.PAClassifier(C, mode=1)``      ``PassiveAggressiveClassifier(C)``
# ``linear_model.PAClassifier(C, mode=2)``      ``PassiveAggressiveClassifier(C, loss="squared_hinge")``
# ``linear_model.PARegressor(C, mode=1, eps)``  ``PassiveAggressiveRegressor(C, epsilon)``
# ``learn_intercept``                           ``fit_intercept``
# ``OneVsRestClassifier(model)``                nothing to set
# ``StandardScaler() | model``                  the same, or ``scale="online"``
# ``model.weights``, ``model.intercept``        ``model.estimator.coef_``, ``model.estimator.intercept_``
# ``pickle.dump``                               ``save(model.estimator, path)``, which stores no code
# the first prediction is False                 the first prediction is None
# ============================================  =========================================================
#
# More: :doc:`/guides/streams`.

plt.show()
