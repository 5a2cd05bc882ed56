"""Pictures of models, margins and proofs, as scikit-learn Display classes. They need matplotlib."""

from perceptrons.plots.boundary import BoundaryDisplay
from perceptrons.plots.margins import MarginsDisplay
from perceptrons.plots.mistakes import MistakesDisplay
from perceptrons.plots.proof import ProofDisplay

__all__ = ["BoundaryDisplay", "MarginsDisplay", "MistakesDisplay", "ProofDisplay"]
