"""Blocks, several files, compression, pipes and standard input give the same svmlight rows."""

import bz2
import gzip
import io
import json
import os
import random
import threading

import naive_svmlight as naive
import pyarrow
import pytest
from svmlight_cases import BIG, SAMPLE, as_bytes, check, joined, read

from perceptrons.data import source
from perceptrons.data.files import DataError
from perceptrons.data.svmlight import SvmlightSource

SIZES = [*range(1, 80), *range(80, 270, 20)]  # the longest line has 74 bytes, the file 220


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n", b"\n\n\n", b"\n#", b" \t"])
def test_every_size_of_block_gives_the_same_rows(path, end):
    for block in SIZES:
        check(path, SAMPLE + end, block)


@pytest.mark.parametrize("bad", [b"x", b"1 1:1 a:3", b"1 2:1 2:1", b"1 1:1e200", b"1 3:1\r\r"])
@pytest.mark.parametrize("line", [0, 3, 9])
def test_every_size_of_block_gives_the_same_error(path, bad, line):
    lines = SAMPLE.split(b"\n")
    data = b"\n".join([*lines[:line], bad, *lines[line:]])
    path.write_bytes(data)
    [whole] = {read([path], block=block)[1] for block in SIZES}
    assert whole.startswith(f"{path}:{line + 1}:")
    check(path, data)


def test_batches_are_cut_at_the_ends_of_lines_and_bounded(path):
    line = b"1 1:2 3:4\n"
    path.write_bytes(line * 300)
    for block in (1, 9, 10, 11, 64, 999, 2999, 5000):
        sizes = [len(batch.y) for batch in read([path], block=block)[0]]
        assert sum(sizes) == 300 and max(sizes) <= 1 + block // len(line)


def test_batches_before_the_error_are_delivered(path):
    path.write_bytes(b"1 1:2 3:4\n" * 1000 + b"1 1:2 3;4\n" + b"1 1:2 3:4\n" * 1000)
    batches, error = read([path], block=100)
    assert error.startswith(f"{path}:1001:7: '3;4' ")
    assert 980 <= sum(len(batch.y) for batch in batches) <= 1000


def test_a_long_file_has_the_right_line_numbers(path):
    """Long enough for several threads, whatever a block is cut into."""
    rng = random.Random(0)
    lines = [f"{rng.choice('+-')}1 {rng.randint(0, 99)}:{rng.random():.3} 100:1" for _ in range(100_000)]
    check(path, "\n".join(lines).encode(), 1 << 18)
    for block in (1 << 18, BIG):
        for bad in (0, 33_333, 99_999):
            damaged = [*lines[:bad], "1 5", *lines[bad + 1 :], "a:1"]
            path.write_text("\n".join(damaged))
            assert read([path], block=block)[1].startswith(f"{path}:{bad + 1}:3: '5' ")


def zstd(data):
    return pyarrow.compress(data, "zstd", asbytes=True)


COMPRESSIONS = [(".gz", gzip.compress), (".bz2", bz2.compress), (".zst", zstd)]


@pytest.mark.parametrize(("ending", "compress"), COMPRESSIONS)
def test_compressed_files_are_read_as_plain_ones(path, ending, compress):
    packed = path.with_name("packed.svm" + ending)
    data = SAMPLE + b"\n" + b"1 1:2 3:4\n" * 500
    path.write_bytes(data)
    packed.write_bytes(compress(data))
    for block in (50, 1000, BIG):
        plain, _ = read([path], block=block)
        got, error = read([packed], block=block)
        assert error is None
        assert [joined([batch]) for batch in got] == [joined([batch]) for batch in plain]
        packed_bad = packed.with_name("bad.svm" + ending)
        packed_bad.write_bytes(compress(data + b"\n1  1:x"))
        line = data.count(b"\n") + 2
        assert read([packed_bad], block=block)[1].startswith(f"{packed_bad}:{line}:4: '1:x' ")


@pytest.mark.parametrize(("ending", "compress"), COMPRESSIONS)
def test_a_compressed_file_that_breaks_off_is_an_error(path, ending, compress):
    packed = path.with_name("broken.svm" + ending)
    packed.write_bytes(compress(b"1 1:2 3:4\n" * 500)[:-9])
    assert read([packed])[1].startswith(f"{packed}")


def test_a_compressed_file_with_other_bytes_in_it_is_an_error(path):
    random.seed(0)
    lines = "".join(f"1 1:{random.random()}\n" for _ in range(2000)).encode()
    packed, content = path.with_name("damaged.svm.gz"), bytearray(gzip.compress(lines))
    content[len(content) // 2 : len(content) // 2 + 20] = b"\xff" * 20
    packed.write_bytes(content)
    assert read([packed])[1].startswith(f"{packed} starts like a compressed file but cannot be decompressed")


@pytest.mark.parametrize("n_features", [-1, 0, 1 << 32])
def test_numbers_of_columns_that_cannot_be(path, n_features):
    with pytest.raises(DataError, match=f"n_features must lie between 1 and 4,294,967,295, got {n_features}"):
        SvmlightSource([str(path)], n_features=n_features)


def test_pipes_under_a_name_come_by_once(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def write():
        pipe.write_bytes(SAMPLE)

    with pytest.raises(DataError, match="pipe: its format is not clear: set format to one of"):
        source(pipe)  # nothing has been read
    writer = threading.Thread(target=write)
    writer.start()
    made = source(pipe, format="svmlight").again(often=False)
    for _ in range(2):  # from a copy the second time
        assert joined(list(made.batches())) == as_bytes(*naive.parse(SAMPLE))
    writer.join()
    with pytest.raises(DataError, match="pipe can be read only once: write it to a file"):
        next(made.source.batches())


def test_standard_input(monkeypatch):
    def pipe(data):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(data))))

    pipe(SAMPLE)
    batches, error = read(["-"], block=40)
    assert error is None and joined(batches) == as_bytes(*naive.parse(SAMPLE))
    pipe(SAMPLE + b"\n1 x")
    assert read(["-"], block=40)[1].startswith("standard input:10:3: 'x' ")


@pytest.mark.parametrize("block", [1, 40, BIG])
def test_several_files_follow_each_other(path, block):
    texts = [b"1 0:1 9:1", b"", b"# nothing", SAMPLE, b"-1 5:1\n2 3:1\n"]
    paths = [path.with_name(f"part{i}.svm") for i in range(len(texts))]
    for part, data in zip(paths, texts, strict=True):
        part.write_bytes(data)
    batches, error = read(paths, block=block)
    assert error is None and joined(batches) == as_bytes(*naive.parse(b"\n".join(texts)))
    assert batches[-1].rows.n_features == naive.WIDEST  # the width is that of all files
    paths[-1].write_bytes(b"-1 5:1\n2 3:1:1\n")
    batches, error = read(paths, block=block)
    assert error.startswith(f"{paths[-1]}:2:3: '3:1:1' ")
    assert sum(len(batch.y) for batch in batches) >= 6


@pytest.mark.parametrize("data", [b"", b"\n", b"\r", b"\r\n\r\n", b" \t ", b"#", b"# 1 1:1\n  # 2 2:2", b"\n\n#\n"])
def test_files_without_rows(path, data):
    for block in (1, BIG):
        check(path, data, block)
    assert sum(len(batch.rows) for batch in read([path])[0]) == 0


def test_every_reading_starts_anew(path):
    path.write_bytes(SAMPLE)
    source = SvmlightSource([str(path)], block=60)
    first = [joined([batch]) for batch in source.batches()]
    widths = [batch.rows.n_features for batch in source.batches()]
    abandoned = source.batches()
    next(abandoned)
    assert [joined([batch]) for batch in source.batches()] == first
    assert len(first) > 2
    assert widths[-1] == naive.WIDEST
    assert source.name == str(path) and source.n_bytes == source.bytes_done == len(SAMPLE)


def test_an_error_comes_again_at_every_reading(path):
    path.write_bytes(SAMPLE + b"\nx")
    source = SvmlightSource([str(path)], block=60)
    for _ in range(2):
        with pytest.raises(DataError, match=r"train\.svm:10:1: 'x' "):
            list(source.batches())


def test_rows_are_read_only(path):
    path.write_bytes(SAMPLE)
    [batch], _ = read([path])
    for array in batch.rows.arrays:
        assert not array.flags.writeable


def test_settings_are_part_of_the_signature(path):
    path.write_bytes(SAMPLE)
    signatures = [
        SvmlightSource([str(path)], **settings).signature()
        for settings in ({}, {"zero_based": False}, {"n_features": 3}, {"n_features": 4})
    ]
    assert all(a != b for i, a in enumerate(signatures) for b in signatures[:i])
    assert SvmlightSource([str(path)]).signature() == signatures[0]
    assert json.loads(json.dumps(signatures)) == signatures
