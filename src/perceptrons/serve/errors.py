"""Requests that the server refuses: a status and a sentence."""

from __future__ import annotations


class Refused(Exception):
    """A request is refused, and nothing has changed.

    Parameters
    ----------
    status : int
        The HTTP status.
    message : str
        What is wrong, what was expected, and what to do.
    retry_after : int, optional
        Seconds after which the client may try again.
    """

    def __init__(self, status: int, message: str, retry_after: int | None = None) -> None:
        super().__init__(message)
        self.status, self.message, self.retry_after = status, message, retry_after


class Damaged(Exception):
    """The log or the snapshots of a model cannot be used; the message says which record, and what to do."""
