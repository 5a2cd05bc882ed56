"""A cluster on which things go wrong: workers die or come late, fits run side by side, clients go away, files break."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings
from contextlib import suppress

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from mixing_cases import noisy
from sklearn.exceptions import ConvergenceWarning

from perceptrons.dask import DaskPerceptron
from perceptrons.data import source
from perceptrons.data.files import DataError

TIME_LIMIT = 120.0  # seconds, after which a fit hangs


@pytest.fixture(autouse=True)
def time_limit():
    """Fail instead of hanging."""

    def alarm(*_):
        raise TimeoutError("it hangs")

    before = signal.signal(signal.SIGALRM, alarm)
    signal.setitimer(signal.ITIMER_REAL, TIME_LIMIT)
    yield
    signal.setitimer(signal.ITIMER_REAL, 0.0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        yield


def block(seed, n, d):
    return np.random.default_rng(seed).standard_normal((n, d))


def lazy_rows(n_blocks=8, n=2000, d=400):
    """Rows that workers make themselves, and make again when they are lost."""
    parts = [da.from_delayed(dask.delayed(block, pure=True)(k, n, d), (n, d), dtype=float) for k in range(n_blocks)]
    X = da.concatenate(parts)
    return X, X[:, :4].sum(axis=1) > 0


SETTINGS = {"max_iter": 12, "tol": None, "readout": "averaged"}


def pids_of(client):
    """The processes of both workers, once they answer: Dask does not replace a worker that dies while it starts."""
    while True:
        client.wait_for_workers(2)
        with suppress(OSError):
            found = client.run(os.getpid)
            if len(found) == 2:
                return list(found.values())
        time.sleep(0.1)


def test_killed_workers_change_nothing(processes):
    """A worker dies at a random moment of the fit: the same bits come out."""
    X, y = lazy_rows()
    model = DaskPerceptron(**SETTINGS, client=processes)
    model.fit(X, y)
    begun = time.perf_counter()
    expected = model.fit(X, y).coef_
    usual, random = time.perf_counter() - begun, np.random.default_rng(0)
    for share in (0.05, 0.3, 0.6, 0.95):
        killer = threading.Timer(share * usual, os.kill, [random.choice(pids_of(processes)), signal.SIGKILL])
        killer.start()
        found = DaskPerceptron(**SETTINGS, client=processes).fit(X, y)
        killer.join()
        assert np.array_equal(found.coef_, expected)
        assert np.array_equal(found.shard_mistakes_, model.shard_mistakes_)


def test_weights_that_are_lost_with_all_workers(processes):
    """All workers die in the middle of an epoch: the epoch is asked for again."""
    X, y = lazy_rows()
    expected = DaskPerceptron(**SETTINGS, client=processes).fit(X, y).coef_

    pids = pids_of(processes)

    def kill_all():
        for pid in pids:
            os.kill(pid, signal.SIGKILL)

    killer = threading.Timer(0.5, kill_all)
    killer.start()
    assert np.array_equal(DaskPerceptron(**SETTINGS, client=processes).fit(X, y).coef_, expected)
    killer.join()


def test_a_worker_that_joins_later_and_more_workers_than_shards():
    X, y = lazy_rows(3, 500, 20)
    with (
        LocalCluster(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        expected = DaskPerceptron(**SETTINGS, client=client).fit(X, y).coef_
        joiner = threading.Timer(0.05, cluster.scale, [5])
        joiner.start()
        assert np.array_equal(DaskPerceptron(**SETTINGS, client=client).fit(X, y).coef_, expected)
        joiner.join()
        client.wait_for_workers(5)
        assert np.array_equal(DaskPerceptron(**SETTINGS, client=client).fit(X, y).coef_, expected)


def test_two_fits_at_once(threads):
    X, y = lazy_rows(4, 300, 20)
    expected = [DaskPerceptron(**SETTINGS, random_state=k, client=threads).fit(X, y).coef_ for k in range(3)]
    found = [None] * 3

    def fit(k):
        found[k] = DaskPerceptron(**SETTINGS, random_state=k, client=threads).fit(X, y).coef_

    running = [threading.Thread(target=fit, args=[k]) for k in range(3)]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))


def test_a_client_that_goes_away(processes):
    """A fit that was submitted and published is fetched by another client later."""
    X, y = lazy_rows(4, 300, 20)
    expected = DaskPerceptron(**SETTINGS, client=processes).fit(X, y).coef_
    with Client(processes.scheduler.address, set_as_default=False) as first:
        first.publish_dataset(fit=DaskPerceptron(**SETTINGS, client=first).submit(X, y))
    with Client(processes.scheduler.address, set_as_default=False) as second:
        model = second.get_dataset("fit").result(timeout=60)
        second.unpublish_dataset("fit")
    assert np.array_equal(model.coef_, expected) and model.to_local().coef_.shape == (1, 20)


def test_submitted_fits_need_no_thread_of_their_own():
    """As many fits as there are threads are submitted: they do not wait for each other."""
    X, y = lazy_rows(3, 100, 5)
    with (
        LocalCluster(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        futures = [DaskPerceptron(**SETTINGS, random_state=k, client=client).submit(X, y) for k in range(3)]
        models = client.gather(futures)
        assert np.array_equal(
            models[1].coef_, DaskPerceptron(**SETTINGS, random_state=1, client=client).fit(X, y).coef_
        )


def test_ctrl_c_keeps_the_epochs_that_are_finished(threads):
    X, y = lazy_rows(4, 300, 20)
    model = DaskPerceptron(max_iter=100_000, tol=None, readout="averaged", client=threads)
    main = threading.main_thread().ident
    interrupt = threading.Timer(1.5, signal.pthread_kill, [main, signal.SIGINT])
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    interrupt.join()
    n = model.n_iter_
    assert 0 < n < 100_000 and len(model.shard_mistakes_) == n
    expected = DaskPerceptron(max_iter=n, tol=None, readout="averaged", client=threads).fit(X, y)
    assert np.array_equal(model.coef_, expected.coef_)


def test_a_shard_that_cannot_be_read(threads, tmp_path):
    """The error names the file and its line, at once, and the cluster goes on."""
    lines = ["1 1:2\n", "0 1:-3\n"] * 400
    lines[611] = "1 a:3\n"
    (tmp_path / "rows.svm").write_text("".join(lines))
    with pytest.raises(DataError, match=r"rows.svm:612:3: 'a:3' is not index:value"):
        DaskPerceptron(n_shards=4, client=threads).fit(source(tmp_path / "rows.svm"))
    lines[611] = "1 1:3\n"
    (tmp_path / "rows.svm").write_text("".join(lines))
    assert DaskPerceptron(n_shards=4, client=threads).fit(source(tmp_path / "rows.svm")).converged_


def test_files_that_workers_do_not_have(threads, tmp_path):
    path = tmp_path / "rows.svm"
    path.write_text("1 1:2\n0 1:-3\n" * 40)
    data = source(path)
    shards = data.shards

    def gone(n):
        found = shards(n)
        path.unlink()
        return found

    data.shards = gone
    with pytest.raises(
        DataError, match=r"No such file or directory, on the machine .* all workers must be able to read"
    ):
        DaskPerceptron(n_shards=2, client=threads).fit(data)


def test_a_step_that_overflows_leaves_the_model_unchanged(threads):
    X, y = noisy(0, 200, 3, 2)
    model = DaskPerceptron(**SETTINGS, client=threads)
    model.fit(da.from_array(X, chunks=(50, 3)), da.from_array(y, chunks=50))
    before = model.coef_
    with pytest.raises(ValueError, match="overflow"):
        model.set_params(eta0=1e308).fit(da.from_array(X, chunks=(50, 3)), da.from_array(y, chunks=50))
    assert np.array_equal(model.coef_, before)


def test_no_workers_at_all(monkeypatch):
    from perceptrons.dask import crew

    monkeypatch.setattr(crew, "PATIENCE", 0.5)
    X, y = lazy_rows(2, 50, 3)
    with (
        LocalCluster(processes=False, n_workers=0, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
        pytest.raises(TimeoutError, match="the cluster has had no workers for"),
    ):
        DaskPerceptron(client=client).fit(X, y)


def test_without_dask_the_error_names_the_extra():
    program = textwrap.dedent(
        """
        import sys
        sys.modules["distributed"] = None
        try:
            import perceptrons.dask
        except ImportError as error:
            print(error)
        """
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert 'pip install "perceptrons[dask]"' in found.stdout
