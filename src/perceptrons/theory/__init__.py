"""Theory that computes: margins, separability with certificates, bounds on mistakes, the trace of a run."""

from perceptrons.theory.bounds import MistakeBound, mistake_bound
from perceptrons.theory.certificate import CertificateError
from perceptrons.theory.margins import augment, margins
from perceptrons.theory.results import KernelSeparability, Separability
from perceptrons.theory.separability import separability
from perceptrons.theory.trace import Trace, trace

__all__ = [
    "CertificateError",
    "KernelSeparability",
    "MistakeBound",
    "Separability",
    "Trace",
    "augment",
    "margins",
    "mistake_bound",
    "separability",
    "trace",
]
