"""Shards of svmlight files have the rows of the files, and say the same about errors."""

import bz2
import gzip
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from shard_cases import check, check_copies, rows_of
from svmlight_cases import SAMPLE

from perceptrons.data import source
from perceptrons.data.files import DataError
from perceptrons.data.shards import cutting
from perceptrons.data.shards.cutting import Place, cut
from perceptrons.data.svmlight import SvmlightSource


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\n\n\n", b"\n# nothing\n", "\n1 1:2 # ü€\n".encode()])
@pytest.mark.parametrize("block", [7, 64, 1 << 22])
def test_shards_have_the_rows_of_a_file(tmp_path, end, block):
    path = tmp_path / "rows.svm"
    path.write_bytes(SAMPLE.replace(b"\n", b"\r\n") + end if end == b"\r\n" else SAMPLE + end)
    for n in (1, 2, 3, 7, 100, 10_000):
        check(lambda: SvmlightSource([str(path)], block=block), n)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_files_are_cut_or_grouped(tmp_path, pack):
    rng = random.Random(1)
    lines = [f"{k % 3} {rng.randint(0, 9)}:{rng.random()} 50:1\n".encode() for k in range(400)]
    contents = [b"", b"".join(lines[:300]), b"# no rows", b"".join(lines[300:310]), b"", b"".join(lines[310:]), b""]
    for k, content in enumerate(contents):
        (tmp_path / f"part-{k}.svm").write_bytes(pack(content) if k != 3 else content)
    for n in (1, 2, 3, 5, 20):
        shards = check(lambda: source(tmp_path / "part-*.svm", cache=False), n)
        assert len(shards) == n or (pack is not bytes and len(shards) <= 7)
    named = [str(tmp_path / "part-1.svm")] * 2
    shards = SvmlightSource(named).shards(3)
    assert len(shards) == (3 if pack is bytes else 2) and rows_of(shards) == rows_of([SvmlightSource(named)])


def test_shards_have_similar_sizes(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_bytes(b"1 1:2 3:4\n" * 10_000)
    sizes = [shard.n_bytes for shard in SvmlightSource([str(path)]).shards(16)]
    assert len(sizes) == 16 and max(sizes) - min(sizes) <= 20


def test_large_shards_have_the_batches_of_the_file(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_bytes(b"1 1:2 3:4\n" * 10_000)
    whole = SvmlightSource([str(path)], block=1000)
    shards = whole.shards(10)
    assert len(shards) == 10 and all(shard.spans[0].begin % 1000 == 0 for shard in shards)
    sizes = [len(batch.rows) for shard in shards for batch in shard.batches()]
    assert sizes == [len(batch.rows) for batch in whole.batches()]


@pytest.mark.parametrize("bad", [b"x", b"1 1:1 a:3", b"1 2:1 2:1", b"1 1:1e200"])
@pytest.mark.parametrize("block", [8, 1 << 22])
def test_errors_name_the_line_of_the_file(tmp_path, bad, block):
    path = tmp_path / "rows.svm"
    lines = SAMPLE.split(b"\n")
    for line in (0, 3, len(lines) - 1):
        path.write_bytes(b"\n".join([*lines[:line], bad, *lines[line:]]))
        for n in (1, 2, 3, 50):
            check(lambda: SvmlightSource([str(path)], block=block), n)
        errors = [rows_of([shard])[1] for shard in SvmlightSource([str(path)], block=block).shards(4)]
        [error] = [error for error in errors if error is not None]
        assert error.startswith(f"{path}:{line + 1}:")


def test_a_line_that_is_too_long_is_refused_in_its_shard(tmp_path, monkeypatch):
    monkeypatch.setattr("perceptrons.data.files.LONGEST", 1000)
    path = tmp_path / "rows.svm"
    path.write_bytes(b"1 1:2\n" * 50 + b"1 1:2" + b" " * 5000 + b"\n" + b"1 1:2\n" * 50)
    for n in (2, 5, 20):
        check(lambda: SvmlightSource([str(path)], block=300), n)


def test_settings_belong_to_every_shard(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_bytes(b"1 1:2 3:4\n" * 100)
    whole = source(path, cache=str(tmp_path / "copies"), scale="standard", zero_based=False, n_features=2)
    for number, shard in enumerate(whole.shards(3), 1):
        assert (shard.caching, shard.scale) == (whole.caching, "standard")
        assert shard.name == f"{path} (shard {number} of 3)"
        assert {batch.rows.n_features for batch in shard.batches()} == {2}
        assert shard.shards(5) == [shard]
    assert whole.spans is None and whole.bytes_done == 0


def test_copies_of_shards(tmp_path):
    path = tmp_path / "rows.svm"
    path.write_bytes(b"1 1:2 3:4\n0 2:2.5\n" * 100)
    check_copies(lambda: source(path, cache=str(tmp_path / "copies")), 3)
    cached = source(path, cache=str(tmp_path / "copies")).again()
    assert [shard.signature() for shard in cached.shards(3)] == [shard.signature() for shard in source(path).shards(3)]


def test_streams_are_refused():
    with pytest.raises(DataError, match=r"standard input can be read only once.*write it to a file"):
        SvmlightSource(["-"]).shards(2)


def test_the_number_of_shards(tmp_path, monkeypatch):
    path = tmp_path / "rows.svm"
    path.write_bytes(b"1 1:2 3:4\n" * 1000)
    made = SvmlightSource([str(path)])
    assert len(made.shards()) == 1
    monkeypatch.setattr(cutting, "SMALLEST", 1000)
    assert len(made.shards()) == 8
    monkeypatch.setattr(cutting, "SMALLEST", 3000)
    assert len(made.shards()) == 3
    monkeypatch.setattr(cutting, "LARGEST", 999)
    assert len(made.shards()) == 11
    with pytest.raises(ValueError, match="at least 1, got 0"):
        made.shards(0)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=6), st.integers(1, 40), st.integers(1, 9))
def test_cuts_cover_every_byte_once(sizes, n, unit):
    """Each file can be cut at multiples of `unit`."""

    def snap(file, offset, usual):
        at = -(-offset // unit)
        return Place(at, min(sizes[file], at * unit))

    at, shards = (0, 0), cut(sizes, n, snap)
    assert 1 <= len(shards) <= n
    for shard in shards:
        for file, (begin, end, n_bytes) in shard.items():
            while at[0] < file:  # the file before must be complete
                assert at[1] is None or sizes[at[0]] == at[1] == 0
                at = (at[0] + 1, 0)
            assert begin == at[1]
            at = (file, end)
            assert n_bytes == (sizes[file] if end is None else end * unit) - begin * unit
    assert at == (len(sizes) - 1, None)
    assert len(shards) == 1 or all(sum(span.n_bytes for span in shard.values()) > 0 for shard in shards)
