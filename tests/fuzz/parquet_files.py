"""Malformed Parquet files."""

import io

from damage import damaged, fit, written
from damaged_tables import settings, table
from pyarrow import parquet

from perceptrons.data import source


def content_of(random, made):
    sink = io.BytesIO()
    parquet.write_table(
        made,
        sink,
        compression=["snappy", "zstd", "gzip", "none", "lz4", "brotli"][random.integers(6)],
        row_group_size=[7, 1000][random.integers(2)],
        use_dictionary=bool(random.integers(2)),
        data_page_version=["1.0", "2.0"][random.integers(2)],
        data_page_size=[16, 1 << 20][random.integers(2)],
        write_page_checksum=random.random() < 0.2,
        store_schema=random.random() < 0.7,
    )
    return sink.getvalue()


def case(random, folder):
    made = table(random, views=False)
    content = damaged(random, content_of(random, made))
    path = written(random, folder / "a.parquet", content)
    chosen = settings(random)
    n = sum(len(batch.rows) for batch in source(path, cache=False, **chosen).batches())
    assert n <= 1 << 20
    if n and random.random() < 0.05:
        fit(source(path, cache=False, **chosen))
