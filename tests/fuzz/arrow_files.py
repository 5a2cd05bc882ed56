"""Malformed Arrow files and streams."""

import io

import pyarrow as pa
import pyarrow.feather
from damage import damaged, fit, written
from damaged_tables import settings, table

from perceptrons.data import source


def content_of(random, made):
    sink, kind = io.BytesIO(), random.integers(4)
    codec = ["lz4", "zstd", "uncompressed"][random.integers(3)]
    if kind == 0:
        pa.feather.write_feather(made, sink, compression=codec, chunksize=7)
    else:
        options = pa.ipc.IpcWriteOptions(compression=None if codec == "uncompressed" else codec)
        new = pa.ipc.new_stream if kind == 1 else pa.ipc.new_file
        with new(sink, made.schema, options=options) as writer:
            writer.write_table(made, max_chunksize=[None, 3][random.integers(2)])
    return sink.getvalue()


def case(random, folder):
    made = table(random)
    content = damaged(random, content_of(random, made))
    path = written(random, folder / "a.arrow", content)
    chosen = settings(random)
    n = sum(len(batch.rows) for batch in source(path, cache=False, **chosen).batches())
    assert n <= 1 << 20
    if n and random.random() < 0.05:
        fit(source(path, cache=False, **chosen))
