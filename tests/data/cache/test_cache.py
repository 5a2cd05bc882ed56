"""The binary copy of a source: the same rows, only for the files that it was made of, whole or not at all."""

import errno
import io
import os
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from perceptrons.data import DataError, cache, cache_file, source
from perceptrons.data.cache import Cached
from perceptrons.data.svmlight import SvmlightSource

LINES = [f"{i % 3} {i % 7}:{i}.5 {7 + i % 5}:{'0.1' if i % 2 else '-3'}" for i in range(500)]


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "rows.svm"
    file.write_text("\n".join(LINES))
    return file


def cached(path):
    return Cached(SvmlightSource([str(path)], block=1000), str(path.parent))


def content(batches):
    """All that is in batches, bit by bit."""
    return [
        (rows.n_features, *(array.tobytes() for array in (*rows.arrays, rows.sq_norm, y)), rows.values.dtype)
        for rows, y in batches
    ]


def caches(folder):
    return sorted(Path(folder).glob("*.cache"))


def test_the_copy_has_the_same_batches(path):
    plain = content(SvmlightSource([str(path)], block=1000).batches())
    assert len(plain) > 5
    copy = cached(path)
    assert copy.table is None and content(copy.batches()) == plain  # while it is made
    assert copy.table is not None and content(copy.batches()) == plain
    again = cached(path)
    assert again.table is not None and content(again.batches()) == plain
    order = [3, 0, 5]
    assert content(again.batches(order)) == [plain[number] for number in order]
    assert again.starts[:2] == [0, len(next(again.batches()).rows)] and again.starts[-1] == 500


def test_arrays_of_other_kinds(tmp_path):
    X = np.arange(12.0).reshape(4, 3)
    for y in (np.array(["ä", "b", "ä", "c"]), np.array([True, False, True, True]), np.array([1, 2, 3, 1])):
        np.savez(tmp_path / "rows.npz", X=X, y=y)
        made = source(tmp_path / "rows.npz", cache=tmp_path).again()
        first, second = ([(rows.values.copy(), y) for rows, y in made.batches()] for _ in range(2))
        assert np.array_equal(np.vstack([x for x, _ in second]), X)
        assert np.array_equal(np.concatenate([labels for _, labels in second]), y)
        assert [labels.dtype for _, labels in first] == [labels.dtype for _, labels in second]
        for copy in caches(tmp_path):
            copy.unlink()


def test_values_that_float32_holds_take_half_the_room(tmp_path):
    sizes = []
    for number in ("0.5", "0.1"):
        file = tmp_path / f"{number}.svm"
        file.write_text("".join(f"1 {' '.join(f'{j}:{number}' for j in range(50))}\n" for _ in range(100)))
        copy = Cached(SvmlightSource([str(file)]), str(tmp_path))
        rows = [batch.rows.values for batch in (list(copy.batches()) and copy.batches())]
        assert all(values.dtype == np.float64 and (values == float(number)).all() for values in rows)
        sizes.append(os.path.getsize(copy.path))
    assert sizes[0] < 0.75 * sizes[1]


def test_it_belongs_to_the_files_as_they_are(path):
    copy = cached(path)
    list(copy.batches())
    state = path.stat()
    path.write_text(path.read_text().replace("0.1", "0.2"))
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert cached(path).table is not None  # same size, same time: nothing tells
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns + 1))
    assert cached(path).table is None
    path.write_text(path.read_text() + "\n1 1:1")
    os.utime(path, ns=(state.st_atime_ns, state.st_mtime_ns))
    assert cached(path).table is None
    other = Cached(SvmlightSource([str(path)], block=1000, zero_based=False))
    assert other.path != copy.path  # other settings, other rows


def test_a_file_that_changes_while_it_is_read_leaves_no_copy(path):
    copy = cached(path)
    for number, _ in enumerate(copy.batches()):
        if number == 2:
            os.utime(path, ns=(1, 1))
    assert copy.table is None and not caches(path.parent)


def test_what_is_not_finished_is_not_there(path):
    for stop in (lambda: None, lambda: (_ for _ in ()).throw(RuntimeError)):
        batches = cached(path).batches()
        next(batches)
        try:
            stop()
            batches.close()
        except RuntimeError:
            batches.close()
        assert os.listdir(path.parent) == [path.name]
    path.write_text(path.read_text() + "\nx")
    with pytest.raises(DataError, match=r"rows.svm:501:1: 'x'"):
        list(cached(path).batches())
    assert os.listdir(path.parent) == [path.name]


def test_a_damaged_copy_is_made_anew(path):
    copy = cached(path)
    expected = content(copy.batches())
    whole = Path(copy.path).read_bytes()
    random = np.random.default_rng(0)
    damaged = [whole[:cut] for cut in (0, 10, len(whole) // 2, len(whole) - 1)]
    for place in random.integers(0, len(whole), 60).tolist():
        damaged.append(bytearray(whole))
        damaged[-1][place] ^= 1 << int(random.integers(8))
    noticed = 0
    for each in damaged:
        Path(copy.path).write_bytes(each)
        assert content(cached(path).batches()) == expected
        noticed += Path(copy.path).read_bytes() == whole
    assert noticed > 20  # the others are damaged between the batches


def test_damage_that_is_found_too_late_is_an_error_only_once(path):
    copy = cached(path)
    expected = content(copy.batches())
    whole = bytearray(Path(copy.path).read_bytes())
    whole[copy.table[2].at] ^= 1
    Path(copy.path).write_bytes(whole)
    with pytest.raises(DataError, match=r"rows\.svm\.\w+\.cache is damaged: a batch does not .*\. Run this again"):
        list(cached(path).batches([1, 2]))
    found = cached(path)
    batches = found.batches()
    next(batches)
    os.utime(path, ns=(1, 1))  # what follows in the file may be anything
    with pytest.raises(DataError, match="is damaged"):
        list(batches)
    assert content(cached(path).batches()) == expected


def test_where_it_lies(path, tmp_path):
    folder = tmp_path / "caches"
    made = source(path, cache=str(folder))
    assert made.again(often=False) is made and not folder.exists()
    list(made.again().batches())
    assert len(caches(folder)) == 1 and not caches(tmp_path)
    assert isinstance(source(path, cache=folder).again(often=False), Cached)  # there is one: use it
    assert source(path, cache=False).again().__class__ is SvmlightSource


def test_the_encoding_of_a_table_is_in_its_copy(tmp_path):
    file = tmp_path / "table.csv"
    file.write_text("job,age,y\nteacher,40,1\nnurse,30,0\nteacher,20,1\n")
    list(source(file, target="y", cache=tmp_path).again().batches())
    made = source(file, target="y", cache=tmp_path).again(often=False)
    assert isinstance(made, Cached)
    [(rows, y)] = made.batches()
    assert made.encoding.feature_names == ["age", "job=teacher", "job=nurse"]
    assert rows.matrix().toarray().tolist() == [[40, 1, 0], [30, 0, 1], [20, 1, 0]] and y.tolist() == [1, 0, 1]


def test_rows_stay_whatever_becomes_of_the_copy(path):
    copy = cached(path)
    expected = content(copy.batches())
    os.remove(copy.path)
    assert content(copy.batches()) == expected
    path.write_text("\n".join(LINES[:100]))  # another process trains on the file as it is now
    assert len(content(cached(path).batches())) < len(expected) and caches(path.parent) == [Path(copy.path)]
    assert content(copy.batches()) == expected


def test_a_full_disk_is_no_end_of_training(path, monkeypatch):
    expected = content(SvmlightSource([str(path)], block=1000).batches())
    write, calls = cache_file.put, []

    def full(*args):
        calls.append(1)
        if len(calls) > 30:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(*args)

    monkeypatch.setattr(cache_file, "put", full)
    copy = cached(path)
    with pytest.warns(UserWarning, match=r"rows.svm.*cache: cannot keep a copy .*: No space left on device"):
        assert content(copy.batches()) == expected
    done = len(calls)
    assert copy.table is None and content(copy.batches()) == expected and len(calls) == done  # tried once
    assert os.listdir(path.parent) == [path.name]
    monkeypatch.setattr(cache, "MEMORY", 0)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(path.read_bytes()))))
    with pytest.raises(DataError, match=r"No space left on device\. Free some space, or set TMPDIR"):
        list(Cached(SvmlightSource(["-"], block=1000)).batches())
