"""Shards beside the source that they are cut from: together they have the same rows, or the same error."""

import json
import pickle

import numpy as np

from perceptrons.data.files import DataError
from perceptrons.data.shards.joining import joined_encoding

SMALL = 20_000  # bytes of a pickled shard of a small table


def rows_of(sources):
    """All rows, each with its features, values and label; and the error that ended them."""
    found = []
    try:
        for source in sources:
            for rows, y in source.batches():
                labels = [None] * len(rows) if y is None else [(label, type(label)) for label in y.tolist()]
                if rows.indptr is None:
                    found += zip(map(bytes, np.ascontiguousarray(rows.values)), labels, strict=True)
                    continue
                for i, label in enumerate(labels):
                    part = slice(int(rows.indptr[i]), int(rows.indptr[i + 1]))
                    found.append((rows.indices[part].tobytes(), rows.values[part].tobytes(), label))
    except DataError as error:
        return found, str(error)
    return found, None


def words_of(encoding):
    """The words behind the hashes of an encoding."""
    features, texts = encoding.lexicon.named(encoding.text_bits)
    return dict(zip(features.tolist(), texts, strict=True))


def sent(shards):
    """Shards as another process gets them."""
    dumps = [pickle.dumps(shard) for shard in shards]
    assert max(map(len, dumps)) < SMALL
    return [pickle.loads(dump) for dump in dumps]


def check(make, n):
    """Demand that shards have the rows of the source. Returns the shards."""
    serial, source = make(), make()
    whole, error = rows_of([serial])
    try:
        shards = sent(source.shards(n))
    except DataError as refused:
        assert str(refused) == error
        return []
    assert 1 <= len(shards) <= n and all(type(shard) is type(source) for shard in shards)
    rows, refused = rows_of(shards)
    assert refused == error
    if shards[0].numbers_as_read and error is None:
        joined = joined_encoding([shard.encoding for shard in shards])
        assert joined == serial.encoding and words_of(joined) == words_of(serial.encoding)
        complete = sent(shard.reading_like(joined) for shard in shards)
        assert not any(shard.numbers_as_read for shard in complete)
        for shard, again in zip(shards, complete, strict=True):
            assert not joined.agrees(shard.encoding) or rows_of([shard]) == rows_of([again])
            assert shard.signature() != again.signature()
        rows = rows_of(complete)[0]
        assert all(shard.encoding == joined for shard in complete)
    if error is None:
        assert rows == whole
    elif not shards[0].numbers_as_read:
        assert rows[: len(whole)] == whole[: len(rows)]
    assert sum(shard.n_bytes for shard in shards) == source.n_bytes
    assert all(shard.bytes_done == shard.n_bytes for shard in shards) or error is not None
    signatures = {json.dumps(shard.signature(), sort_keys=True) for shard in shards}
    assert len(signatures) == len(shards)
    assert all(json.loads(json.dumps(shard.signature())) == shard.signature() for shard in shards)
    return shards


def check_copies(make, n):
    """Demand that each shard keeps a copy of its own, which is found again. `make` gives a source with a folder."""
    shards = make().shards(n)
    first = [shard.again() for shard in shards]
    rows = rows_of(first)
    second = [shard.again() for shard in make().shards(n)]
    assert len({each.path for each in first}) == len(shards) > 1
    assert all(each.ready for each in second) and [each.path for each in second] == [each.path for each in first]
    assert rows == rows_of(second)
    assert rows == rows_of([make()]) or make().shards(n)[0].numbers_as_read
