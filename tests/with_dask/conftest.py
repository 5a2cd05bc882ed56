"""Clusters for the tests. Without Dask, which is optional, these tests are skipped."""

import logging
from pathlib import Path

import pytest

pytest.importorskip("distributed", reason="Dask is not installed, which perceptrons.dask needs")


def pytest_collection_modifyitems(items):
    """Warnings about sockets that Dask itself leaves to the garbage collector are no errors."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"))
            item.add_marker(pytest.mark.filterwarnings("ignore::ResourceWarning"))


@pytest.fixture(scope="session")
def threads():
    """A client of two workers that are threads of this process."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="session")
def processes(semaphores):
    """A client of two workers that are processes of one thread each."""
    import dask
    from distributed import Client, LocalCluster

    dask.config.set({"distributed.deploy.lost-worker-timeout": "1 hour"})  # a worker may die again before it is back
    quiet = logging.CRITICAL  # tests kill workers, and make tasks fail
    logging.getLogger("distributed").setLevel(quiet)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=quiet) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client
