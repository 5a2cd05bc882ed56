"""Estimators that learn from files give what they give for arrays, in memory that does not grow with the file."""

import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import dump_svmlight_file

from perceptrons import KernelPerceptron, PassiveAggressiveClassifier, Perceptron, load, save
from perceptrons.data import DataError, cache, source
from perceptrons.data.svmlight import SvmlightSource
from perceptrons.learn import targets
from perceptrons.learn.holdout import chosen
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.stream import Stream, summary

N, D = 400, 30


def rows(n_classes, seed=0, n=N):
    """Small integers, so that sums are exact in any order; not separable."""
    random = np.random.default_rng(seed)
    X = sp.random_array((n, D), density=0.2, rng=random, format="csr")
    X.data = random.integers(-4, 5, X.data.size).astype(float)
    X.eliminate_zeros()
    y = random.integers(0, n_classes, n).astype(float)
    return X, y


def written(path, X, y):
    dump_svmlight_file(X, y, str(path), zero_based=True)
    return path


def blocks(path, size=2000, **settings):
    """The file in many batches."""
    made = SvmlightSource([str(path)], block=size, **settings)
    assert len(list(made.batches())) > 3
    return made


def same(one, other, X):
    assert np.array_equal(one.decision_function(X), other.decision_function(X))
    assert one.mistakes_.tolist() == other.mistakes_.tolist()
    assert one.n_seen_ == other.n_seen_ and one.n_updates_ == other.n_updates_
    assert one.margin_bound_ == other.margin_bound_
    assert one.classes_.tolist() == other.classes_.tolist() and one.n_features_in_ == other.n_features_in_
    assert one.converged_ == other.converged_


@pytest.fixture(scope="module", params=[2, 3], ids=["two classes", "three classes"])
def data(request, tmp_path_factory):
    X, y = rows(request.param)
    return written(tmp_path_factory.mktemp("sources") / "rows.svm", X, y), X, y


@pytest.mark.parametrize("readout", ["last", "averaged", "voted"])
@pytest.mark.parametrize("passes", [1, 3])
def test_files_equal_arrays(data, readout, passes):
    path, X, y = data
    settings = {"readout": readout, "max_iter": passes, "tol": None, "shuffle": False}
    same(Perceptron(**settings).fit(blocks(path)), Perceptron(**settings).fit(X, y), X)


def test_the_pocket_reads_a_file_into_memory(tmp_path):
    X, y = rows(2)
    X = np.ascontiguousarray(X.toarray())
    np.save(tmp_path / "rows.npy", np.column_stack([X, y]))
    settings = {"readout": "pocket", "max_iter": 2, "tol": None}
    same(Perceptron(**settings).fit(source(tmp_path / "rows.npy")), Perceptron(**settings).fit(X, y), X)


@pytest.mark.parametrize(
    "settings",
    [{"init": "random"}, {"class_weight": "balanced"}, {"class_weight": {0.0: 2.0}}, {"fit_intercept": False}],
    ids=str,
)
def test_files_equal_arrays_with_other_settings(data, settings):
    path, X, y = data
    model = Perceptron(max_iter=2, shuffle=False, **settings)
    one, other = model.fit(blocks(path)).decision_function(X), model.fit(X, y).decision_function(X)
    assert np.allclose(one, other, rtol=1e-12, atol=1e-9)


def test_passive_aggressive_classifiers_learn_from_files(data):
    path, X, y = data
    model = PassiveAggressiveClassifier(max_iter=2, shuffle=False, average=True, random_state=0)
    one, other = model.fit(blocks(path)).coef_, model.fit(X, y).coef_
    assert np.array_equal(one, other)


def test_a_file_that_can_be_separated_converges(tmp_path):
    X, _ = rows(2)
    y = np.where(X.sum(axis=1) > 0.5, 1.0, -1.0)
    path = written(tmp_path / "sums.svm", X, y)
    for settings in ({}, {"shuffle": False}, {"rule": "margin"}):
        model = Perceptron(readout="last", **settings).fit(source(path))
        assert model.converged_ and model.mistakes_[-1] == 0 and model.score(source(path)) == 1.0


def test_classes_and_features_may_turn_up_late(tmp_path):
    X, y = rows(3)
    order = np.argsort(y, kind="stable")
    X, y = X[order].tolil(), y[order]
    X[:300, 20:] = 0.0
    X = X.tocsr()
    path = written(tmp_path / "sorted.svm", X, y)
    settings = {"max_iter": 2, "shuffle": False, "readout": "averaged"}
    same(Perceptron(**settings).fit(blocks(path)), Perceptron(**settings).fit(X, y), X)
    same(Perceptron(readout="voted").partial_fit(blocks(path)), Perceptron(readout="voted").partial_fit(X, y), X)


def test_shuffling_is_by_seed_whether_or_not_there_is_a_cache(tmp_path):
    X, y = rows(2, n=3000)
    path = written(tmp_path / "rows.svm", X, y)

    def fit(seed):
        made = blocks(path, 8000)
        made.caching = str(tmp_path)
        return Perceptron(max_iter=4, tol=None, random_state=seed).fit(made).coef_

    first = fit(1)
    assert len(list(tmp_path.glob("*.cache"))) == 1
    assert np.array_equal(first, fit(1))
    assert not np.array_equal(first, fit(2))
    in_order = Perceptron(max_iter=4, tol=None, shuffle=False).fit(X, y).coef_
    assert not np.array_equal(first, in_order)


def test_rows_held_out_do_not_depend_on_batches():
    whole = chosen(0, 10_000, 0.2, 7)
    assert np.array_equal(whole, np.concatenate([chosen(0, 3000, 0.2, 7), chosen(3000, 7000, 0.2, 7)]))
    assert 0.18 < whole.mean() < 0.22
    assert not np.array_equal(whole, chosen(0, 10_000, 0.2, 8))


def test_early_stopping_holds_rows_out(data):
    path, X, y = data
    model = Perceptron(max_iter=6, tol=None, early_stopping=True, validation_fraction=0.25).fit(blocks(path))
    assert len(model.validation_errors_) == model.n_iter_
    assert model.n_seen_ < 0.9 * N * model.n_iter_
    wrong = 1 - model.score(X, y)
    assert 0 < min(model.validation_errors_) <= max(model.validation_errors_) <= 1 and wrong < 1


def test_another_source_to_validate_on(data, tmp_path):
    path, X, y = data
    other = written(tmp_path / "other.svm", *rows(len(np.unique(y)), seed=1))
    model = Perceptron(max_iter=2, tol=None, shuffle=False).fit(blocks(path), X_val=source(other))
    X_val, y_val = rows(len(np.unique(y)), seed=1)
    again = Perceptron(max_iter=2, tol=None, shuffle=False).fit(X, y, X_val=X_val, y_val=y_val)
    assert model.validation_errors_.tolist() == again.validation_errors_.tolist()
    assert model.validation_errors_[-1] == pytest.approx(1 - model.score(source(other)))


@pytest.mark.parametrize("readout", ["averaged", "voted"])
def test_a_stream_from_a_file_equals_chunks(data, readout):
    path, X, y = data
    one = Perceptron(readout=readout).partial_fit(blocks(path))
    other = Perceptron(readout=readout)
    for begin in range(0, N, 70):
        other.partial_fit(X[begin : begin + 70], y[begin : begin + 70])
    assert np.array_equal(one.decision_function(X), other.decision_function(X))
    one.partial_fit(blocks(path))
    other.partial_fit(X, y)
    assert np.array_equal(one.decision_function(X), other.decision_function(X))
    predicted = Perceptron(readout=readout).predict_then_learn(blocks(path))
    assert np.array_equal(predicted, Perceptron(readout=readout).predict_then_learn(X, y))


def test_a_fault_in_the_middle_of_a_file_changes_nothing(tmp_path):
    X, y = rows(2)
    path = written(tmp_path / "rows.svm", X, y)
    model = Perceptron(readout="averaged").partial_fit(X, y)
    before = model.decision_function(X)
    with open(path, "a") as file:
        file.write("1 3:x\n")
    for learn in (model.partial_fit, model.fit):
        with pytest.raises(DataError, match=rf"rows.svm:{N + 1}:3: '3:x' is not index:value"):
            learn(blocks(path))
        assert np.array_equal(model.decision_function(X), before) and model.n_seen_ == N
    fresh = Perceptron()
    with pytest.raises(DataError):
        fresh.partial_fit(blocks(path))
    assert not hasattr(fresh, "classes_")
    assert not list(tmp_path.glob("*.cache")) and not list(tmp_path.glob(".*"))


def test_predictions_from_files(data):
    path, X, y = data
    model = Perceptron(readout="averaged", max_iter=2).fit(X, y)
    assert np.array_equal(model.decision_function(blocks(path)), model.decision_function(X))
    assert np.array_equal(model.predict(blocks(path)), model.predict(X))
    assert model.score(blocks(path)) == model.score(X, y)
    narrow = Perceptron(max_iter=2).fit(X[:, :10], y)  # what a model has never seen, it cannot weigh
    assert np.array_equal(narrow.predict(blocks(path)), narrow.predict(X[:, :10]))


def test_warm_start_goes_on_with_a_file(data):
    path, X, y = data
    settings = {"max_iter": 1, "shuffle": False, "warm_start": True, "readout": "averaged"}
    one, other = Perceptron(**settings).fit(X, y), Perceptron(**settings).fit(X, y)
    same(one.fit(blocks(path)), other.fit(X, y), X)
    few = Perceptron(max_iter=1, warm_start=True).fit(X[:, :10], y)
    with pytest.raises(ValueError, match="X has 30 features, but the model is expecting 10"):
        few.fit(blocks(path))


def test_kernels_read_a_source_into_memory_or_stream_it(data):
    path, X, y = data
    model = KernelPerceptron(gamma=0.1, max_iter=2, shuffle=False)
    one, other = model.fit(blocks(path)).decision_function(X), model.fit(X, y).decision_function(X)
    assert np.array_equal(one, other)
    one = KernelPerceptron(gamma=0.1, budget=20).partial_fit(blocks(path))
    other = KernelPerceptron(gamma=0.1, budget=20).partial_fit(X, y)
    assert np.allclose(one.decision_function(X), other.decision_function(X), rtol=1e-9, atol=1e-9)


def test_what_a_source_cannot_be_asked(data, tmp_path):
    path, X, y = data
    with pytest.raises(ValueError, match="has its own labels"):
        Perceptron().fit(source(path), y)
    with pytest.raises(ValueError, match="sample_weight cannot be used"):
        Perceptron().fit(source(path), sample_weight=np.ones(N))
    with pytest.raises(ValueError, match="X_val must be a source"):
        Perceptron().fit(source(path), X_val=X, y_val=y)
    one = tmp_path / "one.svm"
    one.write_text("1 2:3\n1 4:5\n")
    with pytest.raises(ValueError, match=r"greater than one; got 1 class: 1\.0"):
        Perceptron().fit(source(one))
    one.write_text("# nothing\n")
    for ask in (Perceptron().fit, Perceptron().partial_fit, Perceptron(max_iter=1).fit(X, y).predict):
        with pytest.raises(ValueError, match=r"one.svm has no rows"):
            ask(source(one))
    one.write_text("1 2:3\n2.5 4:5\n")
    with pytest.raises(ValueError, match="Unknown label type: continuous"):
        Perceptron().fit(source(one))
    few = np.array([[1.0, 2.0], [3.0, 4.0]])
    np.save(tmp_path / "few.npy", few)
    with pytest.raises(ValueError, match="X has 1 features, but the model is expecting 30"):
        Perceptron(max_iter=1).fit(X, y).predict(source(tmp_path / "few.npy"))


def test_a_summary_counts_rows_of_classes(data):
    path, _, y = data
    found = summary(blocks(path))
    assert found.n_rows == N and found.n_features == D
    assert found.classes.tolist() == np.unique(y).tolist()
    assert found.counts == dict(enumerate(np.bincount(y.astype(int)).tolist()))


def test_memory_is_bounded_by_batches_not_by_the_file(tmp_path, monkeypatch):
    monkeypatch.setattr(cache, "MEMORY", 1 << 17)
    X, y = rows(2, n=2000)
    text = written(tmp_path / "rows.svm", X, y).read_bytes()
    block, peaks = 1 << 15, []
    for times in (10, 80):  # the numbers of a file take more room than its text
        path = tmp_path / f"{times}.svm"
        path.write_bytes(text * times)
        made = SvmlightSource([str(path)], block=block)
        made.caching = True
        tracemalloc.start()
        model = Perceptron(readout="averaged", max_iter=3, tol=None).fit(made)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert model.n_seen_ == 3 * times * 2000
    assert peaks[1] - peaks[0] < 0.25 * 70 * len(text)


def test_a_table_is_read_as_the_model_learned_it(tmp_path):
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("job,age,y\n" + "nurse,30,a\nteacher,40,b\n" * 20)
    test.write_text("age,job\n40,teacher\n30,nurse\n50,pilot\n")
    model = Perceptron().fit(source(train, target="y"))
    assert model.feature_names_in_.tolist() == ["age", "job=nurse", "job=teacher"]
    assert model.predict(source(test, like=model.encoding_)).tolist()[:2] == ["b", "a"]
    assert model.score(source(train, target="y")) == 1.0  # the same order of categories
    train.write_text("job,age,y\n" + "teacher,40,b\nnurse,30,a\n" * 20)
    with pytest.raises(ValueError, match="has other features than the model was trained on"):
        model.score(source(train, target="y"))
    assert model.score(source(train, like=model.encoding_)) == 1.0
    words = Perceptron().fit(source(train, target="y", text=["job"], text_bits=10))
    assert words.n_features_in_ == 1 + 2**10 and not hasattr(words, "feature_names_in_")
    assert words.score(source(train, like=words.encoding_)) == 1.0


def jobs(path, order, n=60):
    """A table whose classes are told by a column of categories, which turn up in this order."""
    path.write_text(
        "age,job,y\n" + "".join(f"{i % 7},{order[i % 3]},{int(order[i % 3] == 'nurse')}\n" for i in range(n))
    )
    return path


def test_features_of_tables_are_never_mixed_up(tmp_path):
    one = jobs(tmp_path / "one.csv", ["nurse", "smith", "baker"])
    two = jobs(tmp_path / "two.csv", ["baker", "smith", "nurse"])
    other = "has other features than the model was trained on"
    with pytest.raises(ValueError, match=f"two.csv {other}"):
        Perceptron(early_stopping=True).fit(source(one, target="y"), X_val=source(two, target="y"))
    for model in (Perceptron(warm_start=True), Perceptron(warm_start=True, readout="pocket")):
        model.fit(source(one, target="y"))
        weights = model.coef_
        with pytest.raises(ValueError, match=other):
            model.fit(source(two, target="y"))
        if model.readout != "pocket":
            model.fit(source(two, like=model.encoding_))
            weights = model.coef_
            with pytest.raises(ValueError, match=other):
                model.partial_fit(source(two, target="y"))
        with pytest.raises(ValueError, match=other):
            model.predict(source(two, target="y"))
        assert np.array_equal(model.coef_, weights)
        assert model.score(source(two, like=model.encoding_)) == 1.0
        assert model.feature_names_in_.tolist() == ["age", "job=nurse", "job=smith", "job=baker"]


@pytest.mark.parametrize(
    "learn",
    [
        lambda model, x: model.learn_one(x, 1),
        lambda model, x: model.learn_one({"age": 3, "job": "nurse"}, 1).learn_one(x, 1),  # by the short way
        lambda model, x: model.learn_many([x], [1]),
        lambda model, x: model.learn_one(([9], [1.0]), 1),
    ],
)
def test_a_model_of_a_table_keeps_the_features_of_its_columns(tmp_path, learn):
    """As in predictions, other columns and new categories are left out. Otherwise its file could not be read."""
    path = jobs(tmp_path / "jobs.csv", ["nurse", "smith", "baker"])
    model = Perceptron().fit(source(path, target="y"))
    seen = model.n_seen_
    learn(model, {"age": 50, "job": "pilot", "pay": 3.0})
    assert model.n_features_in_ == model.coef_.shape[1] == 4 and model.n_seen_ > seen
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    assert np.array_equal(again.coef_, model.coef_)
    assert np.array_equal(again.predict(source(path, like=again.encoding_)), model.predict(source(path, target="y")))


def test_a_stream_from_the_copy_of_a_table_knows_its_columns(tmp_path):
    path = jobs(tmp_path / "jobs.csv", ["nurse", "smith", "baker"])
    Perceptron().fit(source(path, target="y", cache=tmp_path))  # leaves a copy
    before = sorted(tmp_path.iterdir())
    assert len(before) == 2
    model = Perceptron().partial_fit(source(path, target="y", cache=tmp_path))
    assert model.encoding_.columns == ["age", "job"] and len(model.feature_names_in_) == model.n_features_in_ == 4
    model.partial_fit(source(path, like=model.encoding_))
    assert model.n_seen_ == 120 and sorted(tmp_path.iterdir()) == before  # one pass makes no copy


def test_learning_from_a_source_while_an_error_is_handled(data):
    model = Perceptron()
    try:
        raise ValueError("of someone else's")
    except ValueError:
        model.partial_fit(source(data[0]))
    assert model.n_seen_ == N


def test_an_interrupted_first_pass_leaves_a_model_that_knows_its_columns(tmp_path, monkeypatch):
    path = jobs(tmp_path / "jobs.csv", ["nurse", "smith", "baker"])
    learn = LinearLearner.once
    model = Perceptron()

    def interrupted(*args, **others):
        learn(*args, **others)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(LinearLearner, "once", interrupted)
        model.fit(source(path, target="y"))
    assert [each.name for each in tmp_path.iterdir()] == ["jobs.csv"]
    save(model, tmp_path / "model")
    assert load(tmp_path / "model").score(source(path, like=model.encoding_)) > 0.5

    def at_once(*args):
        raise KeyboardInterrupt

    model = Perceptron()
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(targets, "encode", at_once)  # before anything is learned
        model.fit(source(path, target="y"))
    assert model.n_features_in_ == 4 and model.n_seen_ == 0


def test_votes_go_back_to_the_best_hypotheses(tmp_path):
    X, y = rows(2)
    path = written(tmp_path / "rows.svm", X, y)
    settings = {"readout": "voted", "tol": None, "random_state": 0, "early_stopping": True, "n_iter_no_change": 3}
    for seed in range(20):
        settings["random_state"] = seed
        model = Perceptron(max_iter=12, **settings).fit(blocks(path))
        errors = model.validation_errors_.tolist()
        best = len(errors) - errors[::-1].index(min(errors))
        if best < len(errors):
            break
    assert best < len(errors)
    again = Perceptron(max_iter=best, **settings).fit(blocks(path))
    assert np.array_equal(model.decision_function(X), again.decision_function(X))


def test_weights_of_classes_that_turn_up_late_or_count_for_nothing(tmp_path):
    X, y = rows(3)
    order = np.argsort(y == 2, kind="stable")
    path = written(tmp_path / "rows.svm", X[order], y[order])
    settings = {"rule": "pa1", "max_iter": 2, "shuffle": False, "tol": None}
    weighted = Perceptron(class_weight={2: 3.0}, **settings)
    same(weighted.fit(blocks(path)), Perceptron(class_weight={2: 3.0}, **settings).fit(X[order], y[order]), X)
    model = Perceptron(class_weight={2: 0.0}, early_stopping=True, **settings).fit(blocks(path))
    assert 0 < model._n_rows < np.count_nonzero(y != 2)
    model = Perceptron(class_weight="balanced", warm_start=True, **settings).fit(blocks(path))
    two = written(tmp_path / "two.svm", X[y != 1], y[y != 1])
    with pytest.raises(ValueError, match=r"'balanced' needs rows of every class, but class 1\.0 has none"):
        model.fit(source(two))


@pytest.mark.parametrize("readout", ["averaged", "pocket"])
def test_labels_to_validate_on_that_training_has_not_seen_count_as_wrong(data, tmp_path, readout):
    path, X, y = data
    known = written(tmp_path / "known.svm", X[:30], y[:30])
    strange = written(tmp_path / "strange.svm", X[:40], [*y[:30], *[7.0] * 10])
    fit = {"max_iter": 2, "readout": readout, "early_stopping": False}
    with pytest.warns(UserWarning, match=r"10 rows have labels in .*strange.svm that training has not seen \(7.0\)"):
        model = Perceptron(**fit).fit(source(path), X_val=source(strange))
    other = Perceptron(**fit).fit(source(path), X_val=source(known))
    expected = [(30 * error + 10) / 40 for error in other.validation_errors_]
    np.testing.assert_allclose(model.validation_errors_, expected)


def test_a_file_that_changes_between_passes(tmp_path, monkeypatch):
    X, y = rows(2)
    path = written(tmp_path / "rows.svm", X, y)
    first = Perceptron(max_iter=3, tol=None).fit(source(path, cache=tmp_path))
    learn, calls = Stream.learn, []

    def changed(*args, **others):
        found = learn(*args, **others)
        calls.append(1)
        path.write_text("1 1000000:1\n" * 500)
        for copy in tmp_path.glob("*.cache"):  # which may be deleted at any time
            copy.unlink()
        return found

    monkeypatch.setattr(Stream, "learn", changed)
    again = Perceptron(max_iter=3, tol=None).fit(source(path, cache=tmp_path))
    same(again, first, X)  # from the copy
    written(path, X, y)
    with pytest.raises(ValueError, match="X has 1000001 features, but the model is expecting 30"):
        Perceptron(max_iter=3, tol=None).fit(source(path, cache=False))


def test_a_last_batch_without_a_step_does_not_end_the_passes(tmp_path):
    X, y = rows(2)
    easy = np.zeros((200, D + 1))
    easy[:, D] = 5.0
    X = sp.csr_array(sp.vstack([sp.hstack([X, np.zeros((N, 1))]), easy]))
    y = np.concatenate([y, np.ones(200)])
    path = written(tmp_path / "rows.svm", X, y)
    settings = {"max_iter": 4, "tol": None, "shuffle": False}
    model = Perceptron(**settings).fit(blocks(path))
    assert model.n_iter_ == 4
    same(model, Perceptron(**settings).fit(X, y), X)
