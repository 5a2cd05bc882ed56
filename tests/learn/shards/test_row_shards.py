"""Shards of arrays and files: what is learned does not depend on how they are held, moved or sent. No cluster."""

import pickle
import warnings
from itertools import pairwise

import numpy as np
import pytest
import scipy.sparse as sp
from mixing_cases import crew_of, cut, lines, noisy, task_of, trained

from perceptrons import PassiveAggressiveClassifier, Perceptron, load, save
from perceptrons.data import source
from perceptrons.data.arrays import as_rows
from perceptrons.learn.shards import rows as rows_of_shards
from perceptrons.learn.shards import work
from perceptrons.learn.shards.crew import FAN_IN, Here, tree
from perceptrons.learn.shards.part import added, part_of, sent_of
from perceptrons.learn.shards.rows import ArrayShard, SourceShard
from perceptrons.learn.shards.task import Beside, from_shards


def weights(task):
    return task.learner.weights


# -- parts ------------------------------------------------------------------------------------------------------------


def test_sums_do_not_depend_on_how_parts_are_sent():
    """Parts with few keys, many keys and no keys add up to the same bits; few keys take few bytes."""
    random = np.random.default_rng(0)
    for _ in range(50):
        size = int(random.integers(1, 60))
        parts, dense = [], np.zeros((2, size))
        for number in range(int(random.integers(1, 7))):
            keys = np.flatnonzero(random.random(size) < random.choice([0.05, 0.5, 1.0]))
            values = random.standard_normal((2, len(keys)))
            parts.append(
                part_of(
                    size,
                    keys,
                    {"moved": values[0], "sums": values[1]},
                    numbers={"seen": float(len(keys))},
                    mistakes={number: number},
                )
            )
            dense[:, keys] += values
        total = added(parts)
        moved = np.stack([total.on(np.zeros(size), name) for name in ("moved", "sums")])
        assert np.array_equal(moved, dense)
        assert total.numbers["seen"] == sum(part.numbers["seen"] for part in parts)
        assert total.mistakes == {number: number for number in range(len(parts))}
    few = part_of(10**6, np.array([5, 70]), {"moved": np.ones(2)}, numbers={})
    assert few.n_bytes == 2 * (4 + 8)


@pytest.mark.parametrize("layout", ["C", "F"])
def test_sent_arrays_arrive(layout):
    random = np.random.default_rng(0)
    for share in (0.0, 0.1, 1.0):
        w = np.asarray(random.standard_normal((30, 3)) * (random.random((30, 3)) < share), order=layout)
        sent = pickle.loads(pickle.dumps(sent_of(True, w=w)))
        arrived = sent.whole("w", layout)
        assert np.array_equal(arrived, w) and not arrived.flags.writeable  # shards share it
        assert arrived.flags.f_contiguous == w.flags.f_contiguous


@pytest.mark.parametrize("n", [1, 2, 4, 5, 17, 64, 100])
def test_the_tree_adds_every_part_once(n):
    groups = [[k] for k in range(n)]
    for level in tree(n):
        assert all(1 <= len(group) <= FAN_IN for group in level)
        groups = [[k for j in group for k in groups[j]] for group in level]
    assert groups == [list(range(n))]


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("rule", ["perceptron", "arow"])
def test_features_that_occur_are_enough(monkeypatch, n_classes, rule):
    """Where features are very many, a shard looks only at those that may have changed: the same bits."""
    X, y = noisy(1, 150, 40, n_classes)
    X[np.random.default_rng(1).random(X.shape) < 0.95] = 0.0
    model = Perceptron(rule=rule, readout="averaged", max_iter=3, tol=None)
    parts = [(0, 50), (50, 110), (110, 150)]

    def run():
        shards = [ArrayShard(as_rows(sp.csr_matrix(X[a:b])), y[a:b]) for a, b in parts]
        task = from_shards(model._request(), Here(shards), "mistakes")
        task.run()
        return task.learner, [shard.touched for shard in shards]

    every, nothing = run()
    monkeypatch.setattr(rows_of_shards, "MANY", 10)
    some, touched = run()
    assert nothing == [None] * 3
    assert all(set(t) == set(np.flatnonzero(X[a:b].any(axis=0))) for t, (a, b) in zip(touched, parts, strict=True))
    for name in every.state:
        assert np.array_equal(every.state[name], some.state[name])


# -- arrays -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule, readout", [("perceptron", "last"), ("pa1", "averaged"), ("arow", "averaged")])
def test_one_shard_is_the_local_estimator(rule, readout):
    X, y = noisy(0, 300, 5, 3)
    model = Perceptron(rule=rule, readout=readout, max_iter=7, tol=None, random_state=4)
    task, run = trained(model, [(X, y)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        local = model.fit(X, y)
    assert np.array_equal(weights(task), local._learner.weights)
    assert run.mistakes == local.mistakes_.tolist()


def test_dense_and_sparse_rows_learn_the_same():
    X, y = noisy(0, 300, 30, 2)
    X[np.random.default_rng(1).random(X.shape) < 0.9] = 0.0
    model = Perceptron(readout="averaged", max_iter=4, tol=None)
    dense, _ = trained(model, cut(X, y, [100, 120, 80]))
    sparse = from_shards(
        model._request(),
        Here([ArrayShard(as_rows(sp.csr_matrix(X[a:b])), y[a:b]) for a, b in ((0, 100), (100, 220), (220, 300))]),
        "mistakes",
    )
    sparse.run()
    np.testing.assert_allclose(weights(sparse), weights(dense), rtol=1e-10, atol=1e-12)


def test_shards_that_lack_something():
    """A shard of one class only, one without some feature, and an empty one."""
    X, y = noisy(0, 200, 6, 3)
    first = np.flatnonzero(y == 0)
    rest = np.flatnonzero(y != 0)
    X[rest[:50], 2] = 0.0
    shards = [(X[first], y[first]), (X[rest[:50]], y[rest[:50]]), (X[:0], y[:0]), (X[rest[50:]], y[rest[50:]])]
    with pytest.warns(UserWarning, match="shard 0 of X has no row of class 1"):
        task = task_of(Perceptron(readout="averaged", max_iter=5, tol=None), shards)
    task.run()
    assert task.targets.classes.tolist() == [0, 1, 2]
    assert task.material.mistakes[0][2] == 0
    assert task.learner.totals.seen == 5 * 200
    guesses = task.learner.predict(task.learner.decide(as_rows(X)))
    assert np.mean(guesses != y) < 0.4


def test_sorted_rows_are_noticed():
    X, y = noisy(0, 200, 6, 2)
    order = np.argsort(y)
    with pytest.warns(UserWarning, match="has no row of class .: X seems to be sorted"):
        task_of(Perceptron(), cut(X[order], y[order], [50] * 4))


def test_one_class_in_all_shards_is_refused():
    with pytest.raises(ValueError, match="number of classes has to be greater than one"):
        trained(Perceptron(), [(np.ones((3, 2)), [1, 1, 1]), (np.ones((2, 2)), [1, 1])])


def test_no_rows_are_refused():
    with pytest.raises(ValueError, match="X has no rows"):
        trained(Perceptron(), [(np.ones((0, 2)), []), (np.ones((0, 2)), [])])


def test_weights_of_rows_and_classes_count():
    """A weight of 2 is two equal rows, if they are in one shard and next to each other, for the plain rule from 0."""
    X, y = noisy(2, 60, 3, 2)
    weight = np.where(np.arange(60) % 3 == 0, 2.0, 1.0)
    model = Perceptron(max_iter=1, tol=None, shuffle=False, class_weight={0: 1.0, 1: 3.0})
    task = task_of(model, cut(X, y, [30, 30]), weights=[weight[:30], weight[30:]])
    task.run()
    moved, updates = [], []
    for part in (slice(0, 30), slice(30, 60)):
        w, k = np.zeros(4), 0
        for x, label, c in zip(X[part], y[part], weight[part], strict=True):
            x, sign = np.append(x, 1.0), 2 * label - 1
            if sign * (w @ x) <= 0:
                w, k = w + c * (3.0 if label else 1.0) * sign * x, k + 1
        moved.append(w)
        updates.append(k)
    by_hand = (updates[0] * moved[0] + updates[1] * moved[1]) / sum(updates)
    np.testing.assert_allclose(task.learner.current, by_hand, rtol=1e-12)


def test_the_same_rows_are_held_out_as_on_one_machine():
    X, y = noisy(0, 400, 4, 2)
    model = Perceptron(early_stopping=True, validation_fraction=0.2, n_iter_no_change=3, random_state=3, max_iter=30)
    task, run = trained(model, cut(X, y, [150, 90, 160]))
    assert task.material.n_rows == 320
    assert len(run.validation_errors) == run.n_iter
    assert run.stop in ("validation", "converged", "max_iter")
    # With one shard, the local estimator holds out the same rows and learns the same.
    _, alone = trained(model, [(X, y)])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert model.fit(X, y).validation_errors_.tolist() == alone.validation_errors


def test_separate_held_out_rows():
    X, y = noisy(0, 300, 4, 3)
    held = crew_of(cut(X[200:], np.where(np.arange(100) == 7, 9, y[200:]), [60, 40]))
    model = Perceptron(max_iter=3, tol=None)
    task = from_shards(
        model._request(),
        crew_of(cut(X[:200], y[:200], [90, 110])),
        "mistakes",
        beside=lambda encoding: Beside(held, "X_val"),
    )
    with pytest.warns(UserWarning, match="1 row has a label in X_val that training has not seen"):
        run = task.run()
    guesses = task.learner.predict(task.learner.decide(as_rows(X[200:])))
    wrong = guesses != y[200:]
    wrong[7] = True
    assert run.validation_errors[-1] == pytest.approx(wrong.mean())


def test_averages_begin_after_n_examples():
    """average=n: the mean is over the epochs that begin after n examples."""
    X, y = noisy(0, 100, 3, 2)
    shards = cut(X, y, [60, 40])
    late = PassiveAggressiveClassifier(average=150, max_iter=4, tol=None, random_state=0)
    task, _ = trained(late, shards)
    means = []
    plain = PassiveAggressiveClassifier(average=True, max_iter=4, tol=None, random_state=0)
    other = task_of(plain, shards)
    for epoch in range(4):
        other.material.learn(other.learner, epoch, 1, other.passes)
        means.append(other.learner.weights.copy())
    assert task.learner.totals.averaged == 200
    np.testing.assert_allclose(weights(task), (400 * means[3] - 200 * means[1]) / 200, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("readout", ["voted", "pocket"])
def test_readouts_that_cannot_be_mixed_are_refused(readout):
    with pytest.raises(ValueError, match=f"readout='{readout}' cannot learn from shards: .* Use 'averaged'"):
        trained(Perceptron(readout=readout), cut(*noisy(0, 20, 2, 2), [10, 10]))


def test_mixed_models_go_on_and_are_saved(tmp_path):
    """The mixed learner is an ordinary one: it learns on, and its bound survives a model file."""
    X, y = noisy(0, 200, 4, 2)
    model = Perceptron(readout="averaged", max_iter=5, tol=None)
    task, run = trained(model, cut(X, y, [100, 100]))
    model.n_features_in_ = 4
    model._become(model, task.learner, task.targets, run, 200)
    save(model, tmp_path / "m")
    again = load(tmp_path / "m")
    assert again.margin_bound_ == model.margin_bound_
    assert again._learner.totals.mixed > 0
    assert np.array_equal(again.partial_fit(X, y).coef_, model.partial_fit(X, y).coef_)


# -- files ------------------------------------------------------------------------------------------------------------


def written(folder, X, y, n_files):
    for k, (a, b) in enumerate(pairwise(np.linspace(0, len(y), n_files + 1).astype(int))):
        text = [
            " ".join([str(label), *(f"{j + 1}:{x:.17g}" for j, x in enumerate(row) if x)]) + "\n"
            for row, label in zip(X[a:b], y[a:b], strict=True)
        ]
        (folder / f"part-{k}.svm").write_text("".join(text))
    return source(str(folder / "part-*.svm"))


def test_files_learn_as_arrays_do(tmp_path):
    X, y = noisy(0, 240, 5, 3)
    whole = written(tmp_path, X, y, 3)
    model = Perceptron(readout="averaged", max_iter=4, tol=None, shuffle=False)
    shards = [SourceShard(part) for part in whole.shards(3)]
    task = from_shards(model._request(), Here(shards), "mistakes", source=whole)
    task.run()
    sizes = np.diff(task.material.plan.starts)
    arrays, _ = trained(model, cut(np.column_stack([np.zeros(240), X]), y, sizes))
    np.testing.assert_allclose(lines(weights(task)), lines(weights(arrays)), rtol=1e-9, atol=1e-12)


def test_a_shard_is_made_anew_elsewhere(tmp_path):
    X, y = noisy(0, 240, 5, 2)
    whole = written(tmp_path, X, y, 3)
    model = Perceptron(max_iter=3, tol=None)
    shards = [SourceShard(part) for part in whole.shards(3)]
    task = from_shards(model._request(), Here(shards), "mistakes")
    task.material.learn(task.learner, 0, 1, task.passes)
    moved = [pickle.loads(pickle.dumps(shard)) for shard in shards]
    assert all(len(pickle.dumps(shard)) < 10_000 for shard in shards)
    other = from_shards(model._request(), Here(moved), "mistakes")
    for epoch in range(2):
        other.material.learn(other.learner, epoch, 1, task.passes)
    task.material.learn(task.learner, 1, 1, task.passes)
    assert np.array_equal(weights(task), weights(other))


@pytest.mark.parametrize("is_sorted", [False, True])
def test_a_shard_that_was_lost_is_read_in_the_same_order(tmp_path, is_sorted):
    """A shard of many batches that has only its files, in the middle of training: the same bits."""
    X, y = noisy(0, 240, 5, 2)
    order = np.argsort(y, kind="stable") if is_sorted else np.arange(240)
    whole = written(tmp_path, X[order], y[order], 1)
    parts = whole.shards(2)
    for part in parts:
        part.block = 2000
    model = Perceptron(readout="averaged", max_iter=3, tol=None)
    crew = Here([SourceShard(part) for part in parts])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some rows are sorted
        task = from_shards(model._request(), crew, "mistakes", source=whole)
    task.material.learn(task.learner, 0, 1, task.passes)
    sent = task.learner.send()

    def learned(shard):
        return work.learned(shard, 1, sent, task.material.plan, 1, task.passes, "mistakes")

    known, anew = learned(crew.shards[1]), learned(SourceShard(parts[1]))
    assert len(crew.shards[1].read().starts) > 5
    assert known.mistakes == anew.mistakes
    assert np.array_equal(known.on(np.zeros(known.size), "sums"), anew.on(np.zeros(known.size), "sums"))


def test_features_on_one_scale(tmp_path):
    """Sizes that are far apart are scaled by statistics of all shards, without the rows that are held out."""
    X, y = noisy(0, 300, 4, 2)
    X *= [1.0, 1e4, 1.0, 1e-3]
    whole = written(tmp_path, X, y, 3)
    model = Perceptron(readout="averaged", early_stopping=True, max_iter=5, random_state=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        local = model.fit(source(str(tmp_path / "part-*.svm")))
        shards = [SourceShard(part) for part in whole.shards(3)]
        task = from_shards(model._request(), Here(shards), "mistakes", source=whole)
        task.run()
    np.testing.assert_allclose(task.learner.scaling.spread, local._learner.scaling.spread, rtol=1e-12)
    assert local._learner.scaling.spread.max() > 1000


def test_tables_with_categories_and_text(tmp_path):
    """Shards of a table have the features of the whole table, and learn its scale and the rarity of its words."""
    random = np.random.default_rng(0)
    jobs, words = ["cook", "nurse", "pilot", "clerk"], ["spam", "ham", "eggs", "free", "win"]
    table = ["age,job,note,label"]
    for i in range(200):
        age = "" if i % 17 == 0 else str(int(random.integers(18, 80)))
        job = jobs[int(random.integers(0, min(4, 1 + i // 40)))]  # new ones appear late
        note = " ".join(random.choice(words, 3))
        table.append(f"{age},{job},{note},{'yes' if 'free' in note or job == 'pilot' else 'no'}")
    path = tmp_path / "t.csv"
    path.write_text("\n".join(table) + "\n")
    settings = {"target": "label", "text": ["note"], "text_bits": 8}
    model = Perceptron(readout="averaged", max_iter=6, tol=None, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        local = model.fit(source(path, **settings))
        read = source(path, **settings)
        parts = read.shards(4)
        assert len(parts) == 4
        task = from_shards(model._request(), Here([SourceShard(part) for part in parts]), "mistakes", source=read)
        task.run()
    mine, theirs = task.learner.scaling, local._learner.scaling
    assert task.n_features == local.n_features_in_
    np.testing.assert_allclose(mine.centre, theirs.centre, rtol=1e-12)
    np.testing.assert_allclose(mine.spread, theirs.spread, rtol=1e-12)
    assert np.array_equal(mine.rarity.weights, theirs.rarity.weights)
    assert read.encoding.seen == local.encoding_.seen
    rows = local._learner.scaled(source(path, like=local.encoding_).joined()[0], local.encoding_)
    mine, theirs = (learner.predict(learner.decide(rows)) for learner in (task.learner, local._learner))
    assert np.mean(mine == theirs) > 0.9
