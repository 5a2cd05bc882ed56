"""Find the cluster that an estimator works on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from distributed import Client, get_client, get_worker, worker_client


@contextmanager
def client_of(given: Any) -> Iterator[Client]:
    """The client that was given, or the current one. In a task, other tasks get the thread meanwhile."""
    if given is not None:
        if not isinstance(given, Client):
            raise TypeError(f"client must be a distributed.Client or None, got {type(given).__name__}")
        if given.asynchronous:
            raise ValueError("client is asynchronous: pass one that was made with asynchronous=False")
        yield given
        return
    if in_task():
        with worker_client() as client:
            yield client
        return
    try:
        client = get_client()
    except ValueError:
        raise ValueError("there is no Dask client: make one with distributed.Client(), or pass client=") from None
    yield client


def in_task() -> bool:
    """Whether this is a task of a worker."""
    try:
        get_worker()
    except ValueError:
        return False
    return True
