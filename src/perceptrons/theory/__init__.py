"""Theory that computes: margins, separability with certificates, bounds, the trace of a run."""

from perceptrons.theory.bounds import MistakeBound, mistake_bound
from perceptrons.theory.certificate import CertificateError
from perceptrons.theory.margins import augment, margins
from perceptrons.theory.separability import Separability, separability

__all__ = ["CertificateError", "MistakeBound", "Separability", "augment", "margins", "mistake_bound", "separability"]
