"""The learner: weights and counts as one state, the order of rows, stopping, and readouts. No scikit-learn here."""

from perceptrons.learn.budget import POLICIES, BudgetLearner
from perceptrons.learn.examples import Examples
from perceptrons.learn.feature_space import KERNELS, FeatureSpace
from perceptrons.learn.kernel import KernelLearner
from perceptrons.learn.learner import Learner
from perceptrons.learn.progress import Progress, unconverged
from perceptrons.learn.readout import READOUTS
from perceptrons.learn.training import Run, train

__all__ = [
    "KERNELS",
    "POLICIES",
    "READOUTS",
    "BudgetLearner",
    "Examples",
    "FeatureSpace",
    "KernelLearner",
    "Learner",
    "Progress",
    "Run",
    "train",
    "unconverged",
]
