"""Training on a cluster: options that verbs share, and the client. Dask is imported only if it is needed."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from perceptrons.cli.training.shared import refuse_given
from perceptrons.learn.shards.counts import BY_MISTAKES, MIXINGS

if TYPE_CHECKING:
    from distributed import Client

GROUP = {"Cluster": ("workers", "scheduler", "shards", "mixing")}  # for the help
OPTIONS = [
    click.option(
        "--workers", type=click.IntRange(1), metavar="N", help="Learn in this many processes of this machine, by Dask."
    ),
    click.option(
        "--scheduler",
        metavar="ADDRESS",
        help="Learn on a running Dask cluster, such as tcp://host:8786. Its workers must be able to read the files.",
    ),
    click.option(
        "--shards",
        type=click.IntRange(1),
        metavar="N",
        help="Number of parts of the data, at most; the result depends on it, but not on the number of workers.  "
        "[default: 8, but parts of 1 to 256 MB]",
    ),
    click.option(
        "--mixing",
        type=click.Choice(MIXINGS),
        default=BY_MISTAKES,
        help="How much the weights of a shard count in the mixture after each pass: by its updates, or all equally.",
    ),
]
WAIT = 10  # seconds for a scheduler to answer


def is_wanted(given: dict[str, Any]) -> bool:
    """Whether options ask for a cluster."""
    return given["workers"] is not None or given["scheduler"] is not None


def check(given: dict[str, Any]) -> None:
    """Refuse options that do not go together."""
    if given["workers"] is not None and given["scheduler"] is not None:
        raise click.UsageError("--workers starts processes, --scheduler names a running cluster: choose one of them")
    if not is_wanted(given):
        refuse_given(dict.fromkeys(("shards", "mixing"), "--workers or --scheduler"))


@contextmanager
def connected(given: dict[str, Any]) -> Iterator[Client]:
    """A client of the cluster that options ask for. Processes that were started for it end with it."""
    try:
        from distributed import Client, LocalCluster
    except ImportError:
        option = "--workers" if given["workers"] is not None else "--scheduler"
        raise click.ClickException(
            f'{option} needs Dask, which is not installed: pip install "perceptrons[dask]"'
        ) from None
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    if given["scheduler"] is not None:
        try:
            client = Client(given["scheduler"], timeout=WAIT)
        except (OSError, ValueError) as error:
            raise click.ClickException(
                f"no Dask scheduler answers at {given['scheduler']}: {error}. Start one with `dask scheduler`"
            ) from error
        with client:
            yield client
        return
    try:
        with _without_interrupts():
            cluster = LocalCluster(
                n_workers=given["workers"],
                threads_per_worker=1,
                processes=True,
                dashboard_address=":0",  # a free port
                scheduler_kwargs={"dashboard": False},
                silence_logs=logging.CRITICAL,
            )
    except RuntimeError as error:
        raise click.ClickException(
            f"--workers: processes cannot be started here ({_cause(error)}). "
            "Train without it, or name a running cluster with --scheduler"
        ) from error
    with cluster, Client(cluster) as client:
        yield client


def _cause(error: BaseException) -> BaseException:
    """The first of the errors that led to this one."""
    before = error.__cause__ or error.__context__
    return error if before is None else _cause(before)


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """Start processes that leave Ctrl-C to this one: it goes to all processes of a terminal."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
