"""What a server allows, and what the owner of a model chooses."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Limits of a server, with the command's options of the same names.

    Parameters
    ----------
    body : int
        Bytes of a request that learns or creates.
    question : int
        Bytes of a request that only reads, such as a prediction.
    features, classes : int
        Of one model.
    weights : int
        Features times classes of one model; each takes 8 bytes or more.
    models : int
        In the directory.
    pending : int
        Predictions of one model that wait for their labels.
    pending_seconds : float
        How long a prediction waits for its label.
    queue : int
        Requests of one model that wait for their commit, and bodies that wait to be learned.
    timeout : float
        Seconds in which a client must have sent its request, or taken the next part of the answer.
    """

    body: int = 256 << 20
    question: int = 1 << 20
    features: int = 1 << 20
    classes: int = 1000
    weights: int = 1 << 27
    models: int = 100
    pending: int = 100_000
    pending_seconds: float = 7 * 86400.0
    queue: int = 10_000
    timeout: float = 30.0
