"""Problems for `StructuredPerceptron`, ready to use and to learn from: each is one file."""

from perceptrons.structures.projective_parsing import ProjectiveParsing, best_tree, is_projective
from perceptrons.structures.ranking import Ranking

__all__ = ["ProjectiveParsing", "Ranking", "best_tree", "is_projective"]
