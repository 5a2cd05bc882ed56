"""Shards of Parquet and Arrow files: row groups, record batches, and whole files."""

import gzip

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet
from shard_cases import check, check_copies, rows_of

from perceptrons.data import source

KINDS = ["parquet", "arrow", "stream"]


def made(rows, seed=0, **columns):
    random = np.random.default_rng(seed)
    words = np.array(["cook", "nurse", "Müller", "日本", None, ""], dtype=object)
    table = {
        "age": pa.array(random.integers(0, 9, rows) / 2, mask=random.random(rows) < 0.2),
        "job": pa.array(words[random.integers(0, 6, rows)], pa.string()),
        "town": pa.array(words[random.integers(0, 6, rows)], pa.string()).dictionary_encode(),
        "flag": pa.array(random.random(rows) < 0.5),
        "y": pa.array(random.integers(0, 3, rows)),
    }
    return pa.table(table | columns)


def write(table, path, kind, at_once=7):
    if kind == "parquet":
        parquet.write_table(table, path, row_group_size=at_once)
        return
    new = pa.ipc.new_file if kind == "arrow" else pa.ipc.new_stream
    with new(str(path), table.schema) as writer:
        writer.write_table(table, at_once)


def opened(path, **settings):
    return source(path, **{"target": "y", "cache": False, **settings})


def named(folder, kind, name="rows"):
    return folder / f"{name}.{'parquet' if kind == 'parquet' else 'arrow'}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rows", [1, 50, 200])
def test_every_row_is_in_one_shard(tmp_path, kind, rows):
    path = named(tmp_path, kind)
    write(made(rows), path, kind)
    for n in (1, 2, 3, 7, 100):
        shards = check(lambda: opened(path), n)
        groups = -(-rows // 7)
        assert len(shards) == 1 if kind == "stream" else len(shards) <= min(n, groups)
        if kind != "stream" and rows == 200 and n < 10:
            assert len(shards) == n
            sizes = [sum(len(batch.rows) for batch in shard.batches()) for shard in shards]
            assert max(sizes) - min(sizes) <= 14


@pytest.mark.parametrize("kind", KINDS)
def test_several_files(tmp_path, kind):
    write(made(100), named(tmp_path, kind, "a"), kind)
    write(made(0), named(tmp_path, kind, "b"), kind)
    write(made(60, 1).select(["y", "town", "job", "flag", "age"]), named(tmp_path, kind, "c"), kind)
    packed = named(tmp_path, kind, "d")
    packed.write_bytes(gzip.compress(named(tmp_path, kind, "a").read_bytes()))
    write(made(0), named(tmp_path, kind, "e"), kind)
    write(made(80, 2), named(tmp_path, kind, "f"), kind)
    paths = [named(tmp_path, kind, name) for name in "eacbdf"]
    for n in (1, 2, 5, 50):
        check(lambda: opened(paths), n)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "settings", [{"hash_bits": 5}, {"text": ["job"], "text_bits": 8}, {"features": ["flag"]}, {"missing": 0}]
)
def test_settings(tmp_path, kind, settings):
    write(made(90), named(tmp_path, kind), kind)
    for n in (2, 5):
        check(lambda: opened(named(tmp_path, kind), **settings), n)


@pytest.mark.parametrize("kind", KINDS)
def test_errors_name_the_row_of_the_file(tmp_path, kind):
    for row in (8, 50, 99):
        labels = np.arange(100) % 3
        gone = np.arange(100) == row
        write(made(100, y=pa.array(labels, mask=gone)), named(tmp_path, kind), kind)
        for n in (1, 3, 20):
            check(lambda: opened(named(tmp_path, kind)), n)
        errors = [rows_of([shard])[1] for shard in opened(named(tmp_path, kind)).shards(5)]
        [error] = [error for error in errors if error is not None]
        assert f": row {row + 1}: " in error


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_and_different_files(tmp_path, kind):
    good, path = named(tmp_path, kind, "a"), named(tmp_path, kind, "b")
    write(made(60), good, kind)
    content = good.read_bytes()
    for damaged in (content[:-20], content[:50], b"", b"x" * 400, content[:300] + bytes(100) + content[400:]):
        path.write_bytes(damaged)
        for n in (1, 3):
            check(lambda: opened(path), n)
            check(lambda: opened([good, path]), n)
    for other in (made(60).drop_columns(["job"]), made(60, age=pa.array(["x"] * 60))):
        write(other, path, kind)
        for n in (1, 2, 6):
            check(lambda: opened([good, path]), n)


@pytest.mark.parametrize("kind", KINDS)
def test_copies_of_shards(tmp_path, kind):
    paths = [named(tmp_path, kind, name) for name in "ab"]
    for seed, path in enumerate(paths):
        write(made(60, seed), path, kind)
    check_copies(lambda: opened(paths, cache=str(tmp_path / "copies")), 2)
