"""Ready-made problems for `StructuredPerceptron`. Each is one file, and an example for problems of your own."""

from perceptrons.structures.projective_parsing import ProjectiveParsing, best_tree, is_projective
from perceptrons.structures.ranking import Ranking

__all__ = ["ProjectiveParsing", "Ranking", "best_tree", "is_projective"]
