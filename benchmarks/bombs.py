"""Files that are made to fill the memory: 10 GB in a few megabytes. A child process reads each of them.

    python benchmarks/bombs.py [name …]

Prints the peak memory, the time and the answer of each. Exits with 1 if one takes more than 600 MB, or ends with
anything but rows or a clear error.
"""

from __future__ import annotations

import bz2
import gzip
import io
import os
import struct
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import parquet

SIZE, MOST = 10_000_000_000, 600  # bytes of a bomb, and megabytes that reading it may take
BLOCK = 1 << 24
CHILD = """
import sys
from perceptrons.data import read_conll, source
path, kind = sys.argv[1:]
try:
    if kind == "conll":
        print(read_conll(path))
    else:
        settings = {} if kind in ("svmlight", "numpy") else {"target": "y", "text": ["s"] if "text" in path else ()}
        print(sum(len(batch.rows) for batch in source(path, format=kind, cache=False, **settings).batches()), "rows")
except ValueError as error:
    print(f"error: {error}")
"""


def zstd(content: bytes) -> bytes:
    """Compress a block as a frame of its own."""
    return bytes(pa.compress(content, "zstd", asbytes=True))


CODECS: dict[str, Callable[[bytes], bytes]] = {"gz": gzip.compress, "bz2": bz2.compress, "zst": zstd}
Bombs = dict[str, tuple[str, Callable[[], bytes]]]  # by name: the format, and a function that makes the content


def repeated(codec: str, begin: bytes, unit: bytes) -> bytes:
    """A compressed file: a beginning, and a unit repeated to SIZE bytes. Compressed parts can stand in a row."""
    compress = CODECS[codec]
    block = unit * (BLOCK // len(unit))
    return compress(begin) + compress(block) * (SIZE // len(block))


def text_bombs() -> Bombs:
    """Endless lines, line feeds alone, and short rows without end."""
    units = {
        "svmlight-blanks.gz": (b"1 ", b" "),
        "svmlight-feeds.gz": (b"", b"\n"),
        "svmlight-colons.gz": (b"1 1", b":"),
        "svmlight-rows.zst": (b"", b"1 1:1 2:1 3:1 4:1 5:1 6:1 7:1 8:1\n"),
        "csv-feeds.gz": (b"a,y\n", b"\n"),
        "csv-quote.gz": (b'a,y\n"', b"\n"),
        "csv-header.gz": (b"", b"a,"),
        "csv-rows.zst": (b"a,y\n", b"1.25,1\n3.5,0\n"),
        "conll-feeds.gz": (b"", b"\n"),
    }
    for codec in CODECS:
        units[f"svmlight-line.{codec}"] = b"1 ", b"1"
        units[f"csv-line.{codec}"] = b"a,y\n1,", b"1"
        units[f"conll-line.{codec}"] = b"a b\n", b"a"
        units[f"conll-rows.{codec}"] = b"", b"a b\n"
    made: Bombs = {}
    for name, (begin, unit) in units.items():
        made[name] = name.split("-")[0], partial(repeated, name.split(".")[-1], begin, unit)
    made["csv-label.csv"] = "csv", lambda: b"a,y\n1," + b"l" * 2_000_000 + b"\n" + b"1,x\n" * 500_000
    return made


def header(dtype: str, shape: tuple[int, ...], fortran: bool = False) -> bytes:
    """The beginning of a .npy file."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": dtype, "fortran_order": fortran, "shape": shape})
    return file.getvalue()


def deflated(begin: bytes, size: int) -> tuple[bytes, int, int]:
    """A deflate stream of a beginning and zeros: its bytes, the size and the CRC-32 of what it holds."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    block, crc = bytes(BLOCK), zlib.crc32(begin)
    head = packer.compress(begin) + packer.flush(zlib.Z_FULL_FLUSH)  # what follows does not depend on it
    body = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    for _ in range(size // BLOCK):
        crc = zlib.crc32(block, crc)
    return head + body * (size // BLOCK) + packer.flush(), len(begin) + size // BLOCK * BLOCK, crc


def npz(*members: tuple[str, bytes, int]) -> bytes:
    """An archive with one deflated bomb a member, written by hand: `zipfile` would take minutes."""
    content, directory = b"", b""
    for name, begin, size in members:
        packed, plain, crc = deflated(begin, size)
        sizes = struct.pack("<QQ", plain, len(packed))
        extra = struct.pack("<HH", 1, len(sizes)) + sizes
        fields = struct.pack("<HHHHHIIIHH", 45, 0, 8, 0, 33, crc, 2**32 - 1, 2**32 - 1, len(name), len(extra))
        at = len(content)
        content += b"PK\3\4" + fields + name.encode() + extra + packed
        directory += b"PK\1\2" + struct.pack("<H", 45) + fields + struct.pack("<HHHII", 0, 0, 0, 0, at)
        directory += name.encode() + extra
    n = len(members)
    end = struct.pack("<HHHHIIH", 0, 0, n, n, len(directory), len(content), 0)
    return content + directory + b"PK\5\6" + end


def numpy_bombs() -> Bombs:
    """Arrays with giant rows, in Fortran order, with long headers, and with many rows."""
    rows = SIZE // 80
    giant, many, fortran = header("<f8", (2, SIZE // 16)), header("<f8", (rows, 10)), header("<f8", (rows, 10), True)
    long, text = b"\x93NUMPY\2\0\xff\xff\xff\xff", header("<U99999999", (25,))
    made: Bombs = {}
    for name, begin in {"row": giant, "fortran": fortran, "rows": many, "header": long, "text": text}.items():
        made[f"npy-{name}.gz"] = "numpy", partial(repeated, "gz", begin, b"\0")
        made[f"npz-{name}.npz"] = "numpy", partial(npz, ("X.npy", begin, SIZE + BLOCK))
    labels = ("X.npy", header("<f8", (25, 1)), BLOCK), ("y.npy", text, SIZE)
    made["npz-labels.npz"] = "numpy", partial(npz, *labels)
    made["npz-directory.npz"] = "numpy", lambda: b"PK\3\4" + many_members(10**7)
    return made


def many_members(n: int) -> bytes:
    """The end of an archive with a table of contents of n empty members."""
    entry = b"PK\1\2" + bytes(42)
    end = struct.pack("<HHHHIIH", 0, 0, n % 2**16, n % 2**16, n * len(entry), 4, 0)
    return entry * n + b"PK\5\6" + end


def ipc(table: pa.Table, times: int) -> bytes:
    """An Arrow file with compressed buffers."""
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        for _ in range(times):
            writer.write_table(table)
    return sink.getvalue()


def parquet_of(table: pa.Table, times: int, **settings: object) -> bytes:
    """A Parquet file with compressed pages."""
    sink = io.BytesIO()
    with parquet.ParquetWriter(sink, table.schema, compression="zstd", **settings) as writer:
        for _ in range(times):
            writer.write_table(table, row_group_size=2**30)
    return sink.getvalue()


def giant_string() -> pa.Table:
    """One row with a string of 1 GB."""
    return pa.table({"s": pa.array(["x" * 2**30], pa.large_string()), "y": [0]})


def zeros() -> pa.Table:
    """A gigabyte of zeros."""
    return pa.table({"s": np.zeros(2**27), "y": np.zeros(2**27, np.int64)})


def repeated_text() -> pa.Table:
    """A thousand rows that share one string of 10 MB."""
    words = pa.DictionaryArray.from_arrays(pa.array(np.zeros(1000, np.int32)), ["x " * 5_000_000])
    return pa.table({"s": words, "y": [0, 1] * 500})


def table_bombs() -> Bombs:
    """Giant strings and giant batches, compressed inside of the file or around it."""
    made: Bombs = {"parquet-packed.gz": ("parquet", partial(repeated, "gz", b"PAR1", b"\0"))}
    made["arrow-packed.gz"] = "arrow", partial(repeated, "gz", b"ARROW1\0\0", b"\0")
    for name, table in {"string": giant_string, "zeros": zeros}.items():
        made[f"arrow-{name}.arrow"] = "arrow", lambda table=table: ipc(table(), 10)
        made[f"parquet-{name}.parquet"] = "parquet", lambda table=table: parquet_of(table(), 10, use_dictionary=False)
    for name in ("categories", "text"):
        made[f"arrow-{name}.arrow"] = "arrow", lambda: ipc(repeated_text(), 1)
        made[f"parquet-{name}.parquet"] = "parquet", lambda: parquet_of(repeated_text(), 1, store_schema=False)
    return made


def main(names: list[str]) -> int:
    """Make and read all bombs, or those with these words in their names; returns the exit code."""
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, (kind, make) in (text_bombs() | numpy_bombs() | table_bombs()).items():
            if names and not any(word in name for word in names):
                continue
            path = Path(folder) / name
            child = os.fork()  # the peak memory of a process counts that of the one which started it
            if child == 0:
                path.write_bytes(make())
                os._exit(0)
            os.waitpid(child, 0)
            bad += not read(path, kind)
            path.unlink()
    return 1 if bad else 0


def read(path: Path, kind: str) -> bool:
    """Read a bomb in a child process, and print what happened; returns whether that is good."""
    begun = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen([sys.executable, "-c", CHILD, str(path), kind], stdout=out, stderr=subprocess.STDOUT)
        _, status, used = os.wait4(child.pid, 0)
        out.seek(0)
        answer = out.read().strip()
    megabytes, seconds = used.ru_maxrss / 1000, time.perf_counter() - begun
    good = status == 0 and megabytes <= MOST and "\n" not in answer and answer != ""
    size = path.stat().st_size / 1e6
    answer = answer.splitlines()[-1].replace(str(path.parent) + os.sep, "") if answer else f"status {status}"
    print(
        f"{'' if good else 'BAD '}{path.name} ({size:.1f} MB): {megabytes:.0f} MB, {seconds:.1f} s: {answer}",
        flush=True,
    )
    return good


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
