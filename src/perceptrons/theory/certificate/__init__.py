"""Certificates, and code that checks them in exact arithmetic. It shares nothing with the solver that found them."""

from perceptrons.theory.certificate.checks import Certificate
from perceptrons.theory.certificate.points import CertificateError

__all__ = ["Certificate", "CertificateError"]
