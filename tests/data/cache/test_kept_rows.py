"""Few rows stay in memory, many in a copy; copies stay below a limit, and what prevents them does not end training."""

import io
import os
import re
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from perceptrons import Perceptron
from perceptrons.data import DataError, cache, cache_file, cache_limit, source
from perceptrons.data.cache import Cached
from perceptrons.data.svmlight import SvmlightSource

posix = pytest.mark.skipif(os.name == "nt", reason="permissions of POSIX")
LINES = [f"{i % 3} {i % 7}:{i}.5 {7 + i % 5}:{'0.1' if i % 2 else '-3'} {i // 40 + 20}:1" for i in range(500)]


@pytest.fixture
def path(tmp_path):
    file = tmp_path / "rows.svm"
    file.write_text("\n".join(LINES))
    return file


@pytest.fixture
def home(tmp_path, monkeypatch):
    """An empty folder for caches."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "perceptrons" / "rows"


def plain(path):
    return SvmlightSource([str(path)], block=1000)


def content(batches):
    """All that is in batches, bit by bit."""
    return [
        (rows.n_features, *(array.tobytes() for array in (*rows.arrays, rows.sq_norm, y)), rows.values.dtype)
        for rows, y in batches
    ]


def learned(path, caching, **settings):
    made = plain(path)
    made.caching = caching
    return Perceptron(readout="averaged", max_iter=4, tol=None, random_state=1, **settings).fit(made)


# -- in memory --------------------------------------------------------------------------------------------------------


def test_few_rows_stay_in_memory(path, home):
    expected = content(plain(path).batches())
    made = Cached(plain(path))
    assert not made.ready and content(made.batches()) == expected
    assert made.ready and made.table is None and content(made.batches()) == expected
    assert made.bytes_done == made.n_bytes == path.stat().st_size
    assert content(made.batches([3, 0, 5])) == [expected[number] for number in (3, 0, 5)]
    assert made.starts[0] == 0 and made.starts[-1] == 500 and len(made.starts) == len(expected) + 1
    assert not home.exists() and not Cached(plain(path)).ready


def test_rows_that_outgrow_the_memory_go_on_into_a_copy(path, home, tmp_path):
    expected = content(plain(path).batches())
    sizes = [batch.n_bytes for batch in plain(path).batches()]
    copies = set()
    for memory in (0, sizes[0], sum(sizes[:3]) + 1, sum(sizes) - 1):
        made = Cached(plain(path))
        made.memory = memory
        assert content(made.batches()) == expected and made.table is not None and content(made.batches()) == expected
        copies.add(Path(made.path).read_bytes())
        os.unlink(made.path)
    assert len(copies) == 1  # the same copy, wherever it began
    made = Cached(plain(path))
    made.memory = sum(sizes)
    assert content(made.batches()) == expected and made.table is None and made.ready


def test_models_do_not_depend_on_where_rows_are_kept(path, home, tmp_path):
    in_memory, copied, again = learned(path, True), learned(path, str(tmp_path)), learned(path, str(tmp_path))
    assert not home.exists() and len(list(tmp_path.glob("*.cache"))) == 1
    assert np.array_equal(in_memory.coef_, copied.coef_) and np.array_equal(copied.coef_, again.coef_)
    assert in_memory.mistakes_.tolist() == copied.mistakes_.tolist()
    in_order = [learned(path, caching, shuffle=False).coef_ for caching in (True, False, str(tmp_path))]
    assert np.array_equal(in_order[0], in_order[1]) and np.array_equal(in_order[0], in_order[2])


def test_a_file_that_changes_while_it_is_read_is_not_kept(path, home):
    made = Cached(plain(path))
    for number, _ in enumerate(made.batches()):
        if number == 2:
            os.utime(path, ns=(1, 1))
    assert not made.ready


def test_rows_in_memory_outlive_their_file(path, home):
    made = Cached(plain(path))
    expected = content(made.batches())
    path.unlink()
    assert content(made.batches()) == expected


def test_a_table_in_memory_knows_its_columns(tmp_path, home):
    file = tmp_path / "table.csv"
    file.write_text("job,age,y\nteacher,40,1\nnurse,30,0\nteacher,20,1\n")
    made = source(file, target="y").again()
    for _ in range(2):
        [(rows, _)] = made.batches()
        assert made.encoding.feature_names == ["age", "job=teacher", "job=nurse"]
        assert rows.matrix().toarray().tolist() == [[40, 1, 0], [30, 0, 1], [20, 1, 0]]


def test_a_short_stream_needs_no_file(path, home, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(path / "nowhere"))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(path.read_bytes()))))
    made = Cached(SvmlightSource(["-"], block=1000))
    assert content(made.batches()) == content(made.batches()) == content(plain(path).batches())


# -- where there is no place ------------------------------------------------------------------------------------------


@posix
@pytest.mark.parametrize("named", [False, True])
def test_without_any_place_every_pass_parses(path, tmp_path, home, monkeypatch, named):
    expected = content(plain(path).batches())
    monkeypatch.setattr(cache, "MEMORY", 0)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    (tmp_path / "home").write_text("a file, not a folder")
    made = Cached(plain(path), str(tmp_path / "home") if named else None)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        assert content(made.batches()) == expected and not made.ready
        assert content(made.batches()) == expected  # and no further warning
    *about_folder, about_file = [str(each.message) for each in told]
    assert re.search(r"a temporary file in .*nowhere: cannot keep a copy of the rows .* parses all", about_file)
    assert len(about_folder) == named and all("home cannot hold a copy of the rows: " in each for each in about_folder)
    assert sorted(os.listdir(tmp_path)) == ["home", "rows.svm"]
    with pytest.warns(UserWarning, match="cannot keep a copy"):
        model = learned(path, True)
    assert model.n_seen_ == 4 * 500


@posix
@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files without a name")
def test_a_killed_process_leaves_nothing_behind(path, tmp_path):
    folder = tmp_path / "copies"
    folder.mkdir(mode=0o700)
    try:
        os.close(os.open(folder, os.O_TMPFILE | os.O_RDWR))
    except OSError:
        pytest.skip("this file system has no files without a name")
    code = (
        "import sys\nfrom perceptrons.data.cache import Cached\nfrom perceptrons.data.svmlight import SvmlightSource\n"
        "batches = Cached(SvmlightSource([sys.argv[1]], block=1000), sys.argv[2]).batches()\n"
        "for _ in range(5): next(batches)\nprint('half', flush=True)\nsys.stdin.read()\n"
    )
    words = [sys.executable, "-c", code, str(path), str(folder)]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout.read(4) == b"half"
        process.kill()
    assert os.listdir(folder) == []


def test_where_files_need_names_copies_are_made_as_well(path, tmp_path, monkeypatch):
    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    made = Cached(plain(path), str(tmp_path))
    batches = made.batches()
    next(batches)
    assert any(name.endswith(".tmp") for name in os.listdir(tmp_path))
    batches.close()
    assert os.listdir(tmp_path) == ["rows.svm"]
    assert content(made.batches()) == content(plain(path).batches()) and made.table is not None


# -- the limit --------------------------------------------------------------------------------------------------------


def copies_of(path, folder, names):
    """Make copies of files with these names, one after the other."""
    made = {}
    for name in names:
        file = path.with_name(f"{name}.svm")
        file.write_text(path.read_text())
        made[name] = Cached(plain(file), str(folder))
        list(made[name].batches())
    return made


def test_the_copies_that_nobody_has_read_for_longest_go_first(path, tmp_path, monkeypatch):
    folder = tmp_path / "copies"
    made = copies_of(path, folder, "abc")
    size = Path(made["a"].path).stat().st_size
    for age, name in ((3, "a"), (2, "b"), (1, "c")):
        os.utime(made[name].path, (1, Path(path).stat().st_mtime - age))
    assert Cached(plain(tmp_path / "a.svm"), str(folder)).ready  # read again
    note = folder / f"notes.{'0' * 16}.cache"
    note.write_text("not a copy")
    monkeypatch.setenv(cache_limit.SETTING, str(3 * size + 100))
    copies_of(path, folder, "d")
    left = {Path(each.path).name for name, each in made.items() if os.path.exists(each.path)}
    assert left == {Path(made[name].path).name for name in "ac"} and note.exists()
    assert sum(each.stat().st_size for each in folder.glob("*.svm.*.cache")) <= 3 * size
    monkeypatch.setenv(cache_limit.SETTING, f"{size / 1024} KB")
    copies_of(path, folder, "e")
    assert [each.name[:5] for each in folder.glob("*.svm.*.cache")] == ["e.svm"]
    assert content(made["b"].batches()) == content(plain(path).batches())  # who reads it still has it


@posix
def test_a_copy_beyond_the_limit_serves_one_run(path, tmp_path, monkeypatch):
    folder = tmp_path / "copies"
    [kept] = copies_of(path, folder, "a").values()
    monkeypatch.setenv(cache_limit.SETTING, str(cache_file.PAGE))
    [made] = copies_of(path, folder, "b").values()
    assert made.ready and content(made.batches()) == content(made.batches([*range(len(made.starts) - 1)]))
    assert os.listdir(folder) == [os.path.basename(kept.path)]


def test_the_limit_is_a_number_of_bytes(monkeypatch, tmp_path, path):
    for given, expected in (("500", 500), ("1.5k", 1536), ("2 GB", 2 << 30), ("3TiB", 3 << 40), ("0", 0), (" ", None)):
        monkeypatch.setenv(cache_limit.SETTING, given)
        assert cache_limit.limit_given() == expected
    for wrong in ("much", "-1", "10%", "1e9", "5 X"):
        monkeypatch.setenv(cache_limit.SETTING, wrong)
        with pytest.raises(
            DataError, match=f"CACHE_LIMIT must be a number of bytes such as 500M or 20G, got '{wrong}'"
        ):
            Cached(plain(path))
    monkeypatch.delenv(cache_limit.SETTING)
    assert cache_limit.limit_given() is None
    with cache.open_folder(str(tmp_path), make=True) as folder:
        assert cache_limit.most_bytes(folder, None) > 0 == cache_limit.most_bytes(folder, 0)
