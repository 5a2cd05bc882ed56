"""Mixed batches have every row once, in an order that depends on the seed and the pass alone."""

import numpy as np
import pytest

from perceptrons import Perceptron
from perceptrons.data import arrays, source
from perceptrons.data.mixing import PIECES, mixed_pieces, read_groups, whole_batches
from perceptrons.data.svmlight import SvmlightSource
from perceptrons.learn.fit import Passes
from perceptrons.learn.linear.learner import LinearLearner
from perceptrons.learn.stream import Stream
from perceptrons.rules import resolve


@pytest.mark.parametrize("starts", [[0, 5], [0, 1000, 1001, 5000], [0, 64, 128]])
def test_pieces_have_every_row_once(starts):
    groups = mixed_pieces(starts, 3, 1)
    rows = np.concatenate([starts[b] + np.arange(begin, end) for group in groups for b, begin, end in group])
    assert sorted(rows.tolist()) == list(range(starts[-1])) and len(groups) == len(starts) - 1
    assert groups == mixed_pieces(starts, 3, 1)
    assert len(groups) == 1 or groups != mixed_pieces(starts, 3, 2) != mixed_pieces(starts, 4, 2)


def test_every_mixed_batch_has_rows_of_the_whole_file():
    for group in mixed_pieces(list(range(0, 10_001, 1000)), 0, 0):
        assert len(group) == PIECES and len({piece.batch for piece in group}) >= 8


@pytest.mark.parametrize("groups", [mixed_pieces, whole_batches])
@pytest.mark.parametrize("sparse", [True, False])
def test_groups_are_the_rows_of_the_file(tmp_path, sparse, groups):
    path = tmp_path / ("rows.svm" if sparse else "rows.npz")
    X = np.arange(1.0, 4001).reshape(2000, 2)
    if sparse:
        path.write_text("".join(f"{i % 2} 0:{a:g} 1:{b:g}\n" for i, (a, b) in enumerate(X)))
        made = SvmlightSource([str(path)], block=4000)
        made.caching = str(tmp_path)
    else:
        np.savez(path, X=X, y=np.arange(2000) % 2)
        made = source(path, cache=tmp_path)
    kept = made.again()
    for _ in kept.batches():
        pass
    seen = []
    for batch, numbers in read_groups(kept, groups(kept.starts, 1, 0), lambda batch, numbers: (batch, numbers)):
        found = batch.rows.matrix()
        assert np.array_equal(found.toarray() if sparse else found, X[numbers])
        assert np.array_equal(batch.y, numbers % 2)
        assert np.array_equal(batch.rows.sq_norm, (X[numbers] ** 2).sum(axis=1))
        seen += numbers.tolist()
    assert sorted(seen) == list(range(2000))


def test_joined_rows_equal_the_whole(tmp_path):
    import scipy.sparse as sp

    whole = sp.random_array((30, 7), density=0.3, rng=np.random.default_rng(0), format="csr")
    parts = [arrays.as_rows(whole[a:b]) for a, b in [(0, 1), (1, 1 + 9), (10, 30)]]
    assert np.array_equal(arrays.Rows.joined(parts).matrix().toarray(), whole.toarray())


def test_a_sorted_file_is_learned_as_well_as_a_shuffled_one(tmp_path):
    random = np.random.default_rng(2)
    y = np.repeat([0, 1, 2], 2000)
    X = random.standard_normal((6000, 3)) + 1.5 * np.eye(3)[y]
    errors = []
    for order in (np.arange(6000), random.permutation(6000)):
        path = tmp_path / "rows.svm"
        path.write_text(
            "".join(f"{c} 0:{a:g} 1:{b:g} 2:{d:g}\n" for c, (a, b, d) in zip(y[order], X[order], strict=True))
        )
        made = SvmlightSource([str(path)], block=1 << 14)
        made.caching = str(tmp_path)
        model = Perceptron(readout="averaged", max_iter=6, tol=None).fit(made)
        errors.append(1 - model.score(X, y))
    assert errors[0] < errors[1] + 0.02


@pytest.mark.parametrize("is_sorted", [True, False])
def test_only_sorted_files_are_mixed_row_by_row(tmp_path, is_sorted):
    y = np.repeat([0, 1], 2000)
    order = np.arange(4000) if is_sorted else np.random.default_rng(3).permutation(4000)
    path = tmp_path / "rows.svm"
    path.write_text("".join(f"{c} 0:{k % 7 + 1} 1:1\n" for k, c in enumerate(y[order])))
    made = SvmlightSource([str(path)], block=4000)
    made.caching = str(tmp_path)
    stream = Stream(made.again())
    rows, _ = stream.settle(False)
    learner = LinearLearner(resolve("perceptron"), "last", n_features=rows.n_features, n_classes=2, dense=False)
    stream.learn(learner, 0, 1, Passes(2, seed=1))
    edges = np.array(stream.source.starts)
    spans = [
        len(set(np.searchsorted(edges, examples.row_numbers, side="right").tolist()))
        for _, examples, _ in stream._examples(1, 1)
    ]
    assert len(spans) == len(edges) - 1 > 3
    assert min(spans) > 3 if is_sorted else set(spans) == {1}
