"""The scikit-learn estimators: parameters and validation around a learner."""

from perceptrons.models.kernel import KernelPerceptron
from perceptrons.models.passive_aggressive import PassiveAggressiveClassifier
from perceptrons.models.perceptron import Perceptron
from perceptrons.models.regressor import PassiveAggressiveRegressor
from perceptrons.models.structured import StructuredPerceptron
from perceptrons.models.tagger import SequenceTagger

__all__ = [
    "KernelPerceptron",
    "PassiveAggressiveClassifier",
    "PassiveAggressiveRegressor",
    "Perceptron",
    "SequenceTagger",
    "StructuredPerceptron",
]
