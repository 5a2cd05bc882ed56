"""The learner: weights and counts as one state, the order of rows, stopping, and readouts. No scikit-learn here."""

from perceptrons.learn.examples import Examples
from perceptrons.learn.learner import Learner
from perceptrons.learn.progress import Progress, unconverged
from perceptrons.learn.readout import READOUTS
from perceptrons.learn.training import Run, train

__all__ = ["READOUTS", "Examples", "Learner", "Progress", "Run", "train", "unconverged"]
