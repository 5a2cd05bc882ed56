"""Files that would fill the memory or the disk, and files that are damaged: a clear error, and nothing else."""

import bz2
import gzip
import io
import struct
import sys
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from damage import DAMAGES
from naive_tables import numbered
from svmlight_cases import read

from perceptrons import Perceptron
from perceptrons.data import DataError, cache_writer, files, read_conll, source, whole
from perceptrons.data.table import csv_blocks
from perceptrons.data.table.arrow.sizes import Table
from perceptrons.data.token.template_vocabulary import TemplateVocabulary

LONG = r"the line that begins here is longer than 0 MB: end"


@pytest.fixture
def short(monkeypatch):
    """A row may take 100 bytes."""
    monkeypatch.setattr(files, "LONGEST", 100)


@pytest.fixture
def little(monkeypatch):
    """Compressed data may take 1000 bytes, or twice their size."""
    monkeypatch.setattr(whole, "ALWAYS", 1000)
    monkeypatch.setattr(whole, "GROWTH", 2)


def rows(path, **settings):
    return sum(len(batch.rows) for batch in source(path, cache=False, **settings).batches())


# -- text -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compress", [bytes, gzip.compress, bz2.compress])
@pytest.mark.parametrize("block", [7, 50])
def test_svmlight_lines_are_limited(path, short, compress, block):
    line = b"1 1:" + b"1" * 95 + b"\n"  # with its line feed 100 bytes
    for text, error in [
        (b"1 1:1\n" + line, None),
        (b"1 1:1\n" + line[:-1], None),
        (b"1 1:1\n" + b"1" + line, f"{path}:2:1: {LONG}"),
        (b"1 1:1\n\n" + b" " * 5000, f"{path}:3:1: {LONG}"),
        (b"1 1:1\nx\n" + b"1" * 5000, f"{path}:2:1: 'x' is not a label"),
    ]:
        path.write_bytes(compress(text))
        found = read([path], block=block)[1]
        assert found is None if error is None else found.startswith(error)


def test_svmlight_overflow_after_blank_lines_that_end_by_carriage_returns(path):
    path.write_bytes(b"\r\n1 1:1\r\n\r\n 2 1:1e200\r\n")
    assert read([path])[1].startswith(f"{path}:4:2: '2' begins a row whose squared length overflows")


@pytest.mark.parametrize("index", ["9223372036854775808", "18446744073709551617", "0" * 30 + "9" * 5000])
@pytest.mark.parametrize("n_features", [None, 5])
def test_svmlight_indices_beyond_64_bits_are_too_large(path, index, n_features):
    path.write_text(f"1 1:1 {index}:1\n")
    assert read([path], n_features=n_features)[1].endswith("has an index of 2^63 or more: renumber the features")


def test_conll_is_limited(tmp_path, monkeypatch, little):
    path = tmp_path / "a.txt.gz"
    path.write_bytes(gzip.compress(b"a b\n" * 300))
    with pytest.raises(DataError, match=r"gz expands like a file that is made to fill the memory: .*decompress"):
        read_conll(path)
    path.write_bytes(b"a b\n" * 300)
    assert read_conll(path).n_tokens == 300  # it takes what it takes on the disk
    monkeypatch.setattr(whole, "memory", lambda: 10_000)
    with pytest.raises(DataError, match=r"a\.txt\.gz needs over .* GB of memory, more than the 1e-05 GB"):
        read_conll(path)
    monkeypatch.setattr(whole, "memory", lambda: 2_000)
    with pytest.raises(DataError, match=r"needs over 2.4e-06 GB of memory"):
        read_conll(path)
    monkeypatch.setattr(files, "LONGEST", 100)
    monkeypatch.setattr(whole, "CHUNK", 50)
    path.write_bytes(b"a b\n\n" + b"a" * 101)
    with pytest.raises(DataError, match=rf"a\.txt\.gz:3: {LONG}"):
        read_conll(path)


@pytest.mark.parametrize("name", ["a.npy.gz", "a.parquet.gz", "a.arrow.gz"])
def test_copies_are_limited(tmp_path, monkeypatch, little, name):
    path = tmp_path / name
    path.write_bytes(gzip.compress(bytes(5000)))
    with pytest.raises(DataError, match="expands like a file that is made to fill the memory"):
        rows(path)
    monkeypatch.setattr(whole, "ALWAYS", 1 << 20)
    monkeypatch.setattr(whole, "free_space", lambda file: 8000)
    with pytest.raises(DataError, match=r"more than 1/2 of the free space in .*: set TMPDIR"):
        rows(path)


def test_closed_standard_input(monkeypatch):
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(DataError, match="standard input is closed: name a file, or pipe the data in"):
        rows("-", format="svmlight")


# -- CSV --------------------------------------------------------------------------------------------------------------

TABLES = [
    "a,b,y\n1,2,0\n" + "\ufeffx,y,1\n" * 9,
    "a,y\nu,1\nv,0\n" + "\ufeffx,1\nu,0\n" * 9,
    "\n" * 300 + "a,y\n" + "\r\n" * 300 + "1,0\n" * 20,
    "a,b,y\n" + "1,2,0\n" * 9 + "1,x,0\nx,2,0\n",  # Arrow finds the fault of the first column first
    "a,b,y\n" + "1,2,0\n" * 9 + "1,,0\n1,2\n",  # and rows with too few columns before that
    "a,b,y\n" + "1,2,0\n" * 9 + "1,2,z\n" + "1,2,0\n" * 20 + '1,"2\n',
]


@pytest.mark.parametrize("table", TABLES)
def test_csv_does_not_depend_on_blocks(tmp_path, monkeypatch, table):
    path = tmp_path / "a.csv"
    path.write_text(table)
    monkeypatch.setattr(csv_blocks, "BEGINNING", 16)
    found = set()
    for block in (1, 7, 16, 40, 1000):
        monkeypatch.setattr(csv_blocks, "BLOCK", block)
        try:
            made = source(path, target="y", cache=False)
            found.add(repr((numbered(made.batches()), made.encoding.feature_names)))
        except DataError as error:
            found.add(str(error))
    assert len(found) == 1


def test_csv_rows_and_labels_are_limited(tmp_path, short, monkeypatch):
    path = tmp_path / "a.csv"
    monkeypatch.setattr(csv_blocks, "BLOCK", 64)
    row = "1" * 96 + ",234\n"
    for text, line in [(row, None), ("1" + row, 2), ("2,1\n" * 9 + "\n12" + row, 12)]:
        path.write_text("a,y\n" + text)
        if line is None:
            assert rows(path, target="y") == 1
            continue
        with pytest.raises(DataError, match=rf"a\.csv:{line}: the row that begins here is longer than 0 MB"):
            rows(path, target="y")
    path.write_text('"a' + '""' * 140_000 + '",y\n1,2\n')
    monkeypatch.setattr(files, "LONGEST", 1 << 20)
    with pytest.raises(DataError, match=r"a\.csv:1: the names of the columns cannot be read: field larger"):
        rows(path, target="y")
    path.write_text(f"a,y\n1,x\n2,{'l' * 257}\n3,z\n")
    what = r"a\.csv:3: column 'y': the label has 257 characters, expected at most 256: is this the column of labels\?"
    with pytest.raises(DataError, match=what):
        rows(path, target="y")


# -- NumPy ------------------------------------------------------------------------------------------------------------


def header(descr="'<f8'", shape="(2, 2)", fortran="False", version=1):
    text = f"{{'descr': {descr}, 'fortran_order': {fortran}, 'shape': {shape}, }}\n".encode()
    return b"\x93NUMPY" + bytes([version, 0]) + len(text).to_bytes(2 * version, "little") + text


@pytest.mark.parametrize(
    "content, message",
    [
        (header(shape="(2, 99999999)"), "each row of the array takes 762 MB, expected at most 64 MB"),
        (header("'<U100000000'"), "each row of the array takes 762 MB"),
        (header(shape="(-2, 2)"), r"has the shape \(-2, 2\), expected sizes of at least 0"),
        (header(shape="(2, 10**30)"), "the header of the array is damaged"),
        (header("'<f8', 'a': ((("), "the header of the array is damaged"),
        (header(r"'\N{'"), "the header of the array is damaged"),
        (header(shape="(2L, 2"), "the header of the array is damaged"),
        (b"\x93NUMPY\2\0\xff\xff\xff\xff{", "the header of the array has more than 10,000 bytes"),
        (header(shape="(99999999999, 2)"), "ends before its 99999999999 rows are complete"),
        (header(shape="(99999999999, 2)", fortran="True"), "ends before its 99999999999 rows are complete"),
    ],
)
def test_damaged_headers(tmp_path, content, message):
    path = tmp_path / "a.npy"
    path.write_bytes(content + bytes(20))
    with pytest.raises(DataError, match=message):
        rows(path)


CSR = {"data": np.ones(2), "indices": np.array([0, 1]), "indptr": np.array([0, 1, 2]), "shape": np.array([2, 2])}


@pytest.mark.parametrize(
    "arrays, message",
    [
        (CSR | {"indptr": np.array([2, 3, 4]), "data": np.ones(4), "indices": np.array([0, 1] * 2)}, "begin at 2"),
        (CSR | {"indices": np.array([0, 0.5])}, r"indices has type float64 and shape \(2,\)"),
        (CSR | {"indptr": np.array([0, 1.5, 2])}, "indptr has type float64"),
        (CSR | {"shape": np.array([2.5, 2])}, "shape has type float64"),
        (CSR | {"shape": np.array([2, 2, 2])}, "does not hold a valid CSR matrix of"),
        (CSR | {"data": np.array(1.0), "indices": np.array(1)}, r"data has type float64 and shape \(\)"),
        (CSR | {"format": np.array([b"csr"] * 2)}, "format has type .* expected a short text"),
        ({"X": np.ones((1, 1)), "y": np.array(["l" * 257])}, "labels of type <U257 are too long: at most 256"),
        ({"X": np.ones((1, 1)), "y": np.array([0x110000], "u4").view("U1")}, "row 1: the label is not Unicode text"),
        ({"X": np.full((1, 1), np.longdouble("1e4000"))}, "row 1, column 0: got inf"),
    ],
)
def test_arrays_that_do_not_fit(tmp_path, arrays, message):
    path = tmp_path / "a.npz"
    np.savez(path, **arrays)
    with pytest.raises(DataError, match=message):
        rows(path)


def test_archives_that_are_damaged(tmp_path, little, monkeypatch):
    path = tmp_path / "a.npz"
    X = np.asfortranarray(np.arange(900.0).reshape(90, 10))
    np.savez_compressed(path, X=X)
    with pytest.raises(DataError, match="save it in C order"):
        rows(path)
    monkeypatch.setattr(whole, "GROWTH", 100)
    np.testing.assert_array_equal(source(path, cache=False).arrays()[0], X)
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\1\2") + 8] = 1
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"X\.npy' is encrypted"):
        rows(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("X.npy", b"")
    with pytest.raises(DataError, match="X is compressed by a method that NumPy does not use"):
        rows(path)
    entry = b"PK\1\2" + bytes(42)
    size = len(entry * 50_000).to_bytes(4, "little")
    path.write_bytes(b"PK\3\4" + entry * 50_000 + b"PK\5\6" + bytes(4) + b"PQPQ" + size + b"\4" + bytes(5))
    with pytest.raises(DataError, match="a part of the archive has more than 1 MB"):
        rows(path)


# -- Arrow and Parquet ------------------------------------------------------------------------------------------------

WORDS = [f"word{k}" for k in range(20)]


def written(path, table, **settings):
    if path.suffix == ".parquet":
        pa.parquet.write_table(table, path, **settings)
        return path
    with pa.ipc.new_file(path, table.schema, options=pa.ipc.IpcWriteOptions(**settings)) as writer:
        writer.write_table(table)
    return path


def test_arrow_buffers_are_checked_before_they_are_used(tmp_path):
    table = pa.table({"s": WORDS, "c": pa.array(WORDS).dictionary_encode(), "y": [0, 1] * 10})
    path = written(tmp_path / "a.arrow", table)
    content = path.read_bytes()
    offsets = np.arange(21, dtype=np.int32) * 5 + np.maximum(np.arange(21) - 10, 0).astype(np.int32)
    codes = np.arange(20, dtype=np.int32).tobytes()
    assert offsets.tobytes() in content and codes in content
    for name, old in {"s": offsets.tobytes(), "c": codes}.items():
        path.write_bytes(content.replace(old, old[:16] + b"\0\0\0\x70" + old[20:]))
        with pytest.raises(DataError, match=r"a\.arrow: row 1: the file is damaged here or in the rows that follow: "):
            rows(path, target="y", features=[name])


def test_bits_flipped_in_arrow_files(tmp_path):
    """Without the check of buffers, some of these crash the process."""
    table = pa.table({"s": WORDS, "x": np.arange(20.0), "y": [0, 1] * 10})
    path = tmp_path / "a.arrow"
    content = written(path, table).read_bytes()
    random = np.random.default_rng(0)
    for _ in range(200):
        path.write_bytes(DAMAGES[0](random, bytearray(content)))
        try:
            assert rows(path, target="y") <= 20
        except DataError as error:
            assert "a.arrow" in str(error)


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_arrow_and_parquet_are_limited(tmp_path, little, monkeypatch, codec):
    table = pa.table({"s": ["x" * 5000], "x": [1.0], "y": [1]})
    arrow = written(tmp_path / "a.arrow", table, compression=codec)
    parquet = written(tmp_path / "a.parquet", table, compression=codec, use_dictionary=False)
    for path in (arrow, parquet):
        with pytest.raises(DataError, match=r"expands like a file .*: write it again without compression"):
            rows(path, target="y")
    stream = tmp_path / "stream.arrow"
    with pa.ipc.new_stream(stream, table.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
        writer.write_table(table)
    with pytest.raises(DataError, match=r"expands like a file .*: write it again without compression"):
        rows(stream, target="y")
    monkeypatch.setattr(whole, "ALWAYS", 1 << 20)
    monkeypatch.setattr(files, "LONGEST", 4999)
    for path in (arrow, parquet, stream):
        with pytest.raises(DataError, match="row 1: column 's': the text is longer than 0 MB: shorten it"):
            rows(path, target="y")
    monkeypatch.setattr(whole, "memory", lambda: 5000)
    with pytest.raises(DataError, match=r"a\.arrow needs over .* GB of memory"):
        rows(arrow, target="y")


@pytest.mark.parametrize("type", [pa.dictionary(pa.int32(), pa.string()), pa.string_view()])
def test_texts_that_share_a_string_are_cut_into_small_pieces(tmp_path, monkeypatch, type):
    words = pa.array(["a b", "c " * 2000] * 10)
    column = words.dictionary_encode() if pa.types.is_dictionary(type) else words.cast(type)
    path = written(tmp_path / "a.arrow", pa.table({"s": column, "y": [0, 1] * 10}))
    table = source(path, target="y", text=["s"], cache=False)
    expected = table.arrays()[0].toarray()
    monkeypatch.setattr(files, "LONGEST", 12_000)
    assert max(len(batch.rows) for batch in table._parsed()) == 3
    np.testing.assert_array_equal(table.arrays()[0].toarray(), expected)


def test_text_in_parquet_that_is_not_unicode(tmp_path):
    column = pa.array([b"ok", b"\xff"]).view(pa.string())
    path = written(tmp_path / "a.parquet", pa.table({"s": column, "y": [0, 1]}))
    with pytest.raises(DataError, match=r"row 1: the file is damaged .*UTF8"):
        rows(path, target="y")


def test_nothing_is_written_to_standard_error(tmp_path, capfd):
    path = tmp_path / "a.csv.zst"
    packed = pa.compress(b"a,y\n" + b"1,\xff\n1\n" * 500, "zstd", asbytes=True)
    for content in (packed, packed[:-9], packed + b"rest"):
        path.write_bytes(content)
        with pytest.raises(DataError):
            rows(path, target="y")
    table = pa.parquet.ParquetFile(written(tmp_path / "a.parquet", pa.table({"x": [1.0], "y": [0]}))).read()
    sink = io.BytesIO()
    pa.parquet.write_table(table, sink)
    for end in range(0, len(sink.getvalue()), 50):
        (tmp_path / "a.parquet").write_bytes(sink.getvalue()[:end])
        with pytest.raises(DataError):
            rows(tmp_path / "a.parquet", target="y")
    assert capfd.readouterr().err == ""


# -- what small files make large ---------------------------------------------------------------------------------------


def test_columns_of_csv_files_are_limited(tmp_path, monkeypatch):
    monkeypatch.setattr("perceptrons.data.table.dialects.header.MOST_COLUMNS", 4)
    path = tmp_path / "a.csv"
    path.write_text("a,b,c,y\n1,2,3,0\n")
    assert rows(path, target="y") == 1
    path.write_text("1,2,3,4,0\n")
    for header in (True, False):
        with pytest.raises(DataError, match=r"a\.csv:1: the first row has 5 columns, expected at most 4: save wide"):
            rows(path, target="4", header=header)


def test_long_labels_of_npz_files_are_refused_before_they_are_read(tmp_path):
    np.savez(tmp_path / "a.npz", X=np.zeros((3, 1)), y=np.zeros(3, "S5000"))
    with pytest.raises(DataError, match=r"labels of type \|S5000 are too long"):
        rows(tmp_path / "a.npz")


def test_what_is_read_into_memory_must_fit_there(tmp_path, monkeypatch):
    path = tmp_path / "a.svm"
    path.write_text("1 1:1\n" * 1000)
    assert source(path).arrays()[0].shape == (1000, 2)
    monkeypatch.setattr(whole, "memory", lambda: 1000)
    with pytest.raises(DataError, match=r"a\.svm needs over .* more than the 1e-06 GB of memory of this machine"):
        source(path).arrays()


def test_a_copy_takes_half_of_the_free_space_at_most(tmp_path, monkeypatch):
    path = tmp_path / "a.svm"
    path.write_text("".join(f"{k % 2} {k % 7}:1\n" for k in range(3000)))
    expected = Perceptron(max_iter=3, shuffle=False).fit(source(path, cache=False)).coef_
    monkeypatch.setattr(cache_writer, "free_space", lambda file: 10_000)
    with pytest.warns(UserWarning, match="it would take more than half of the free space"):
        model = Perceptron(max_iter=3, shuffle=False).fit(source(path, cache=str(tmp_path / "copies"), block=500))
    assert model.coef_.tolist() == expected.tolist()
    assert not list((tmp_path / "copies").iterdir())


def test_arrow_buffers_that_share_their_bytes_count_once(tmp_path, little):
    """Many columns that point to one compressed buffer take far more memory than disk."""
    sink, n = pa.BufferOutputStream(), 300
    batch = pa.record_batch([pa.array(np.arange(n) % 7 * 1.0)] * 20, names=[f"c{j}" for j in range(20)])
    with pa.ipc.new_stream(sink, batch.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as writer:
        writer.write_batch(batch)
    content = bytearray(sink.getvalue().to_pybytes())
    first = 8 + struct.unpack_from("<I", content, 4)[0]  # the schema has no body
    size = struct.unpack_from("<I", content, first + 4)[0]
    message = Table.root(bytes(content[first + 8 : first + 8 + size]))
    records = message.table(2)
    buffers = records.structs(2, "<qq")
    at = records.place(2)
    at += records.number("<I", at) + 4 + first + 8
    offset, length = buffers[1]
    for number in range(1, len(buffers), 2):
        struct.pack_into("<qq", content, at + 16 * number, offset, length)
    body = -(-(offset + length) // 8) * 8
    struct.pack_into("<q", content, first + 8 + message.place(3), body)
    path = tmp_path / "a.arrow"
    path.write_bytes(bytes(content[: first + 8 + size + body]) + b"\xff\xff\xff\xff\0\0\0\0")
    with pytest.raises(DataError, match="expands like a file that is made to fill the memory"):
        rows(path, target="c0")


def test_many_templates_are_refused_soon():
    with pytest.raises(DataError, match="there are 20,000 templates, expected at most 10,000"):
        TemplateVocabulary([f"word[{k % 200}] & word[{k // 200}]" for k in range(20_000)])
