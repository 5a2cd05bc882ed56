"""DaskPerceptron and DaskPassiveAggressiveClassifier on a cluster."""

import pickle
import warnings

import dask.array as da
import numpy as np
import pytest
import scipy.sparse as sp
from distributed import Client, LocalCluster
from mixing_cases import cut, noisy, trained
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from perceptrons import PassiveAggressiveClassifier, Perceptron, load, rules, save
from perceptrons.dask import DaskPassiveAggressiveClassifier, DaskPerceptron
from perceptrons.data import source
from perceptrons.learn.shards.crew import Here
from perceptrons.learn.shards.rows import SourceShard
from perceptrons.learn.shards.task import from_shards
from perceptrons.store.onnx import export_onnx

SETTINGS = {"readout": "averaged", "max_iter": 5, "tol": None, "random_state": 3}


@pytest.fixture(scope="module")
def rows():
    return noisy(0, 600, 5, 3)


def on_dask(X, y, size=100):
    return da.from_array(X, chunks=(size, -1)), da.from_array(y, chunks=size)


# -- the same result everywhere ---------------------------------------------------------------------------------------


def test_the_result_is_that_of_mixing_without_a_cluster(threads, rows):
    X, y = rows
    model = DaskPerceptron(**SETTINGS, client=threads).fit(*on_dask(X, y))
    task, run = trained(Perceptron(**SETTINGS), cut(X, y, [100] * 6))
    assert np.array_equal(model.coef_, task.learner.weights[:-1].T)
    assert np.array_equal(model.shard_mistakes_, task.material.mistakes)
    assert model.mistakes_.tolist() == run.mistakes
    assert model.margin_bound_ == task.learner.margin_bound
    assert (model.n_seen_, model.n_updates_) == (3000, task.learner.totals.updates)


def test_workers_make_no_difference(rows, processes):
    """One, two or four workers, threads or processes: the same bits."""
    found = [DaskPerceptron(**SETTINGS, client=processes).fit(*on_dask(*rows)).coef_]
    for n_workers, n_threads in ((1, 1), (4, 2)):
        with (
            LocalCluster(
                processes=False, n_workers=n_workers, threads_per_worker=n_threads, dashboard_address=":0"
            ) as cluster,
            Client(cluster) as client,
        ):
            found.append(DaskPerceptron(**SETTINGS, client=client).fit(*on_dask(*rows)).coef_)
    assert np.array_equal(found[0], found[1]) and np.array_equal(found[0], found[2])


def test_one_shard_is_the_local_estimator(threads, rows):
    X, y = rows
    for local, on_cluster in (
        (Perceptron, DaskPerceptron),
        (PassiveAggressiveClassifier, DaskPassiveAggressiveClassifier),
    ):
        settings = {"max_iter": 6, "tol": None, "random_state": 1}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            one = on_cluster(**settings, n_shards=1).fit(*on_dask(X, y))
            assert np.array_equal(one.coef_, local(**settings).fit(X, y).coef_)
        assert one.shard_mistakes_.shape == (6, 1)


# -- what fit takes ---------------------------------------------------------------------------------------------------


def test_blocks_of_any_kind(threads, rows):
    """Columns in several blocks, labels in other blocks, sparse blocks, NumPy labels: the same model."""
    X, y = rows
    expected = DaskPerceptron(**SETTINGS).fit(*on_dask(X, y)).coef_
    dX, dy = on_dask(X, y)
    sparse = dX.map_blocks(sp.csr_matrix, dtype=X.dtype)
    for other, labels in (
        (dX.rechunk((100, 2)), dy.rechunk(70)),
        (sparse, dy),
        (dX, y),
        (dX, dy[:, np.newaxis][:, 0]),
    ):
        np.testing.assert_allclose(DaskPerceptron(**SETTINGS).fit(other, labels).coef_, expected, rtol=1e-12)


def test_blocks_of_unknown_sizes(threads, rows):
    """Rows that are chosen by a mask: their number is known only to the workers."""
    X, y = rows
    dX, dy = on_dask(X, y)
    some = X[:, 0] > 0
    model = DaskPerceptron(**SETTINGS).fit(dX[dX[:, 0] > 0], dy[dX[:, 0] > 0])
    assert model.n_seen_ == 5 * some.sum()
    assert np.array_equal(model.predict(dX[dX[:, 0] > 0]).compute(), model.to_local().predict(X[some]))
    with pytest.raises(ValueError, match=r"block \d of X: Found input variables with inconsistent numbers"):
        DaskPerceptron(**SETTINGS).fit(dX[dX[:, 0] > 0], dy)


def test_data_frames(threads, rows):
    dd, pd = pytest.importorskip("dask.dataframe"), pytest.importorskip("pandas")
    X, y = rows
    names = [f"f{j}" for j in range(5)]
    frame = dd.from_pandas(pd.DataFrame(X, columns=names).assign(label=np.array(["a", "b", "c"])[y]), npartitions=6)
    model = DaskPerceptron(**SETTINGS).fit(frame[names], frame["label"])
    assert model.feature_names_in_.tolist() == names and model.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(model.coef_, DaskPerceptron(**SETTINGS).fit(*on_dask(X, y)).coef_, rtol=1e-12)
    guesses = model.predict(frame[names])
    assert hasattr(guesses, "dask")
    assert guesses.compute().tolist() == model.to_local().predict(pd.DataFrame(X, columns=names)).tolist()
    assert model.score(frame[names], frame["label"]) == pytest.approx(
        model.to_local().score(pd.DataFrame(X, columns=names), np.array(["a", "b", "c"])[y])
    )


def test_files(threads, tmp_path, rows):
    X, y = rows
    text = "".join(
        f"{label} " + " ".join(f"{j}:{x:.17g}" for j, x in enumerate(row)) + "\n"
        for row, label in zip(X, y, strict=True)
    )
    (tmp_path / "rows.svm").write_text(text)
    model = DaskPerceptron(**SETTINGS, n_shards=4).fit(source(tmp_path / "rows.svm"))
    parts = source(tmp_path / "rows.svm").shards(4)
    task = from_shards(
        Perceptron(**SETTINGS)._request(),
        Here([SourceShard(p) for p in parts]),
        "mistakes",
        source=source(tmp_path / "rows.svm"),
    )
    task.run()
    assert np.array_equal(model.coef_, task.learner.weights[:-1].T)
    assert model.score(source(tmp_path / "rows.svm")) > 0.6


def test_tables_keep_their_encoding(threads, tmp_path):
    lines = [f"{i % 40},{'abc'[i % 3]},{'yes' if i % 40 > 20 or i % 3 == 1 else 'no'}" for i in range(300)]
    (tmp_path / "t.csv").write_text("\n".join(["age,job,label", *lines]) + "\n")
    data = source(tmp_path / "t.csv", target="label")
    model = DaskPerceptron(**SETTINGS, n_shards=3).fit(data)
    local = model.to_local()
    assert local.encoding_.seen == [("job", "a"), ("job", "b"), ("job", "c")]
    assert local.score(source(tmp_path / "t.csv", like=local.encoding_)) > 0.9


def test_a_rule_of_ones_own_travels(processes, rows):
    class Capped(rules.NamedTuple):
        most: float = 0.5

        def tau(self, margin, sq_norm, weight):
            return min(self.most, max(0.0, 1.0 - margin)) * weight

    X, y = rows
    model = DaskPerceptron(rule=Capped(), max_iter=3, tol=None, client=processes)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert model.fit(*on_dask(X, y == 0)).n_updates_ > 0


@pytest.mark.parametrize("weight", [True, False])
def test_weights_and_held_out_rows(threads, rows, weight):
    X, y = rows
    dX, dy = on_dask(X, y)
    w = da.from_array(np.where(y == 1, 5.0, 1.0), chunks=100) if weight else None
    model = DaskPerceptron(**SETTINGS).fit(dX, dy, sample_weight=w, X_val=dX[:200], y_val=dy[:200])
    assert len(model.validation_errors_) == 5
    assert model.validation_errors_[-1] == pytest.approx(1 - model.score(dX[:200], dy[:200]))
    if weight:
        by_class = DaskPerceptron(**SETTINGS, class_weight={1: 5.0}).fit(dX, dy)
        assert np.array_equal(model.coef_, by_class.coef_)


def test_early_stopping_and_warm_start(threads, rows):
    X, y = rows
    early = DaskPerceptron(early_stopping=True, n_iter_no_change=2, rule="pa1", random_state=0).fit(*on_dask(X, y))
    assert early.n_iter_ - 1 - int(np.argmin(early.validation_errors_)) <= 2
    warm = DaskPerceptron(**SETTINGS, warm_start=True).fit(*on_dask(X, y))
    seen = warm.n_seen_
    assert warm.fit(*on_dask(X, y)).n_seen_ == 2 * seen


# -- what comes out ---------------------------------------------------------------------------------------------------


def test_predictions_are_lazy_and_equal_to_local_ones(threads, rows):
    X, y = rows
    dX, dy = on_dask(X, y)
    model = DaskPerceptron(**SETTINGS).fit(dX, dy)
    local = model.to_local()
    assert type(local) is Perceptron and local.get_params() == Perceptron(**SETTINGS).get_params()
    for method in ("predict", "decision_function"):
        lazy = getattr(model, method)(dX)
        assert isinstance(lazy, da.Array) and lazy.chunks[0] == dX.chunks[0]
        assert np.array_equal(lazy.compute(), getattr(local, method)(X))
        assert np.array_equal(getattr(model, method)(X), getattr(local, method)(X))
    assert model.score(dX, dy) == pytest.approx(local.score(X, y))
    two = DaskPerceptron(**SETTINGS).fit(dX, dy == 0)
    assert two.decision_function(dX).compute().shape == (600,)
    with pytest.raises(ValueError, match="X has 3 features, but DaskPerceptron is expecting 5 features"):
        model.predict(dX[:, :3])
    arow = DaskPerceptron(rule="arow", max_iter=2, tol=None).fit(dX, dy == 0)
    assert np.array_equal(arow.predict_proba(dX).compute(), arow.to_local().predict_proba(X))


def test_models_are_saved_exported_pickled_cloned_and_go_on(threads, rows, tmp_path):
    X, y = rows
    model = DaskPerceptron(**SETTINGS, client=threads).fit(*on_dask(X, y))
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert type(again) is Perceptron and np.array_equal(again.coef_, model.coef_)
    export_onnx(model.to_local(), tmp_path / "m.onnx")
    session = pytest.importorskip("onnxruntime").InferenceSession(tmp_path / "m.onnx")
    assert np.array_equal(session.run(None, {session.get_inputs()[0].name: X.astype(np.float32)})[0], model.predict(X))
    copied = pickle.loads(pickle.dumps(model))
    assert copied.client is None and np.array_equal(copied.predict(X), model.predict(X))
    assert clone(model).client is threads and not hasattr(clone(model), "coef_")
    local = model.to_local()
    before = model.coef_.copy()
    local.partial_fit(X, y)
    assert np.array_equal(again.partial_fit(X, y).coef_, local.coef_)
    assert np.array_equal(model.coef_, before)  # the copy is its own


def test_the_warning_says_what_is_proved(threads):
    X, y = noisy(0, 400, 3, 2)
    with pytest.warns(ConvergenceWarning, match=r"DaskPerceptron stopped after \d+ passes by tol=0.3"):
        model = DaskPerceptron(tol=0.3).fit(*on_dask(X, y))
    assert model.margin_bound_ <= 0.3 * model._learner.radius and not model.converged_


# -- errors -----------------------------------------------------------------------------------------------------------


def test_errors_say_what_to_do(threads, rows):
    X, y = rows
    dX, dy = on_dask(X, y)
    with pytest.raises(TypeError, match="X must be a Dask array, a Dask data frame or a source, got ndarray"):
        DaskPerceptron().fit(X, y)
    with pytest.raises(ValueError, match="X has 600 rows, but y has 599"):
        DaskPerceptron().fit(dX, dy[:599])
    with pytest.raises(ValueError, match=r"X must have two axes, rows and features, got an array of shape \(600,\)"):
        DaskPerceptron().fit(dX[:, 0], dy)
    with pytest.raises(ValueError, match="requires y to be passed"):
        DaskPerceptron().fit(dX)
    with pytest.raises(ValueError, match="readout='voted' cannot learn from shards"):
        DaskPerceptron(readout="voted").fit(dX, dy)
    with pytest.raises(ValueError, match="The 'mixing' parameter of DaskPerceptron must be"):
        DaskPerceptron(mixing="mean").fit(dX, dy)
    with pytest.raises(NotFittedError):
        DaskPerceptron().to_local()
    broken = X.copy()
    broken[333, 2] = np.nan
    with pytest.raises(ValueError, match="block 3 of X: Input X contains NaN at row 33, column 2"):
        DaskPerceptron().fit(*on_dask(broken, y))
    with pytest.raises(ValueError, match="number of classes has to be greater than one; got 1 class"):
        DaskPerceptron().fit(dX, da.zeros(600, chunks=100))


def test_a_failed_fit_changes_nothing(threads, rows):
    X, y = rows
    model = DaskPerceptron(**SETTINGS).fit(*on_dask(X, y))
    before = model.coef_
    with pytest.raises(ValueError):
        model.fit(*on_dask(np.where(X > 3, np.inf, X), y))
    assert np.array_equal(model.coef_, before) and model.shard_mistakes_.shape == (5, 6)


def test_without_a_client(rows):
    from distributed import default_client

    try:
        default_client()
    except ValueError:
        with pytest.raises(ValueError, match="there is no Dask client: make one with"):
            DaskPerceptron().fit(*on_dask(*rows))
