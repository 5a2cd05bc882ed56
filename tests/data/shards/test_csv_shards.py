"""Shards of CSV files begin at records, whatever quotes and line breaks there are."""

import bz2
import codecs
import gzip
import random

import pytest
from shard_cases import check, check_copies, rows_of, words_of

from perceptrons.data import source
from perceptrons.data.files import DataError
from perceptrons.data.shards import table_cuts
from perceptrons.data.shards.joining import joined_encoding
from perceptrons.data.table import csv_blocks
from perceptrons.data.table.dialects.dialect import CsvDialect

NUMBERS = (1, 2, 7, 100)


@pytest.fixture(autouse=True, params=[37, 1 << 20])
def blocks(request, monkeypatch):
    """Small blocks, so that records cross them."""
    monkeypatch.setattr(csv_blocks, "BLOCK", request.param)
    monkeypatch.setattr(table_cuts, "CHUNK", request.param)
    return request.param


def table(rows, *, end="\n", quoted=True, seed=0, header="age,job,note,y\n"):
    """A table with numbers, categories and missing cells; quoted cells have delimiters, quotes and line breaks."""
    rng = random.Random(seed)
    jobs = ["cook", "nurse", "teacher", "", "Müller", "日本"]
    jobs += ['"a, ""b"""', f'"two{end}lines"', f'"{end}{end},{end}"', '"x"'] if quoted else []
    made = []
    for _ in range(rows):
        age = rng.choice(["1", "2.5", "-3", "", "NA"])
        made.append(f"{age},{rng.choice(jobs)},{rng.choice(jobs)},{rng.choice(['yes', 'no'])}{end}")
        if rng.random() < 0.1:
            made.append(end)
    return header.replace("\n", end) + "".join(made)


def opened(path, **settings):
    return source(path, **{"target": "y", "cache": False, **settings})


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("quoted", [True, False])
def test_every_row_is_in_one_shard(tmp_path, end, quoted):
    path = tmp_path / "rows.csv"
    for last in ("", end * 3, "7,cook,,no"):
        path.write_bytes((table(60, end=end, quoted=quoted) + last).encode())
        for n in NUMBERS:
            shards = check(lambda: opened(path), n)
            assert len(shards) == n or n == 100


@pytest.mark.parametrize("settings", [{"quotes": False}, {"quotes": True}, {"quotes": True, "na": ["cook"]}])
def test_with_and_without_quotes(tmp_path, settings):
    path = tmp_path / "rows.csv"
    path.write_text(table(50, quoted=settings["quotes"]))
    for n in NUMBERS:
        assert len(check(lambda: opened(path, **settings), n)) >= min(n, 7)


def test_a_byte_order_mark_no_header_and_tabs(tmp_path):
    path = tmp_path / "rows.tsv"
    text = table(40, quoted=False, header="").replace(",", "\t")
    for mark in (b"", codecs.BOM_UTF8):
        path.write_bytes(mark + text.encode())
        for n in NUMBERS:
            check(lambda: opened(path, target="3", header=False), n)
            check(lambda: opened(path, target="3"), n)


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252", "utf-8"])
def test_other_encodings_are_not_cut(tmp_path, encoding):
    path = tmp_path / "rows.csv"
    path.write_bytes(table(40).replace("日本", "é").encode(encoding))
    told = {} if encoding in ("utf-16", "cp1252") else {"encoding": encoding}
    shards = check(lambda: opened(path, **told), 3)
    assert len(shards) == (3 if encoding == "utf-8" else 1)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, bz2.compress])
def test_several_files(tmp_path, pack):
    header = "age,job,note,y\n"
    turned = "y,age,job,note\n" + "no,1,cook,x\nyes,2,smith,\n" * 20
    texts = [header, table(30, seed=1), table(50, seed=2), header, turned, table(1, seed=3)]
    for k, text in enumerate(texts):
        (tmp_path / f"{k}.csv").write_bytes(pack(text.encode()) if k != 2 else text.encode())
    for n in NUMBERS:
        check(lambda: opened(tmp_path / "*.csv"), n)


@pytest.mark.parametrize(
    "settings", [{"text": ["note"], "text_bits": 9}, {"text": ["note"], "text_bits": 5, "hash_bits": 6}, {"missing": 0}]
)
def test_words_and_hashes(tmp_path, settings):
    path = tmp_path / "rows.csv"
    path.write_text(table(60))
    for n in NUMBERS:
        check(lambda: opened(path, **settings), n)


def test_numbers_are_the_same_in_every_shard(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,b,y\n" + "".join(f"{k},$1{k % 10}.5,{k % 3}\n" for k in range(100)))
    for shard in check(lambda: opened(path), 5):
        assert not shard.numbers_as_read and shard.encoding.label == "int64"
    path.write_text("a,b,y\n" + "".join(f"{k},1,{k % 3}.0\n" for k in range(90)) + "1,2,1\n2,3,2\n" * 5)
    for shard in check(lambda: opened(path), 5):
        assert shard.encoding.label == "float64"


def test_labels_have_the_type_of_the_first_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(csv_blocks, "BEGINNING", 100)
    path = tmp_path / "rows.csv"
    lines = [f"{k},{k % 3}\n" for k in range(100)]
    for at in (40, 99):
        path.write_text("a,y\n" + "".join([*lines[:at], "1,1.5\n", *lines[at:]]))
        for n in (2, 6):
            check(lambda: opened(path), n)
        assert f"{path}:{at + 2}: column 'y'" in rows_of(opened(path).shards(6))[1]


def test_values_to_predict(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("a,y\n" + "".join(f"{k},{k * 1.5}\n" for k in range(90)))

    def make():
        made = opened(path)
        made.for_values()
        return made

    for shard in check(make, 4):
        shard.for_values()
        assert shard.settings.regression and shard.encoding.label == "float64"


def test_a_model_reads_shards_of_new_files(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(table(30, seed=1))
    known = opened(path)
    assert rows_of([known])[1] is None
    path.write_text(table(60, seed=2).replace("nurse", "smith"))
    for n in NUMBERS:
        for shard in check(lambda: opened(path, like=known.encoding, target=None), n):
            assert not shard.numbers_as_read


@pytest.mark.parametrize(
    "bad",
    ["1,cook,x\n", "old,cook,x,yes\n", '1,"cook,x,yes\n', "1,cook,x,\n", "inf,cook,x,yes\n", "1,a,b,c,d\n"],
)
def test_errors_name_the_line_of_the_file(tmp_path, bad):
    path = tmp_path / "rows.csv"
    lines = [f'{k},"a{chr(10)}b",x,{"yes" if k % 2 else "no"}\n' for k in range(60)]
    for at in (1, 30, 60):
        path.write_text("age,job,note,y\n" + "".join([*lines[:at], bad, *lines[at:]]))
        for n in (1, 2, 5, 40):
            check(lambda: opened(path, quotes=True, numeric=["age"]), n)


def test_errors_of_later_files_name_the_first(tmp_path):
    (tmp_path / "a.csv").write_text(table(40))
    (tmp_path / "b.csv").write_text(table(40, header="age,job,remark,y\n"))
    paths = [tmp_path / "a.csv", tmp_path / "b.csv"]
    assert "differ from those of " + str(paths[0]) in rows_of([opened(paths)])[1]
    for n in (2, 5):
        check(lambda: opened(paths), n)
        assert rows_of(opened(paths).shards(n)[-1:])[1] == rows_of([opened(paths)])[1]
    (tmp_path / "b.csv").write_text("")
    for n in (1, 3):
        check(lambda: opened(paths), n)
    with pytest.raises(DataError, match="has no column 'z'"):
        opened(paths, target="z").shards(2)


def test_copies_of_shards(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(table(60))
    check_copies(lambda: opened(path, cache=str(tmp_path / "copies")), 4)
    check_copies(lambda: opened(path, cache=str(tmp_path / "copies"), hash_bits=5, missing=0), 4)
    first = opened(path, cache=str(tmp_path / "copies"), text=["note"], text_bits=9).shards(3)
    assert rows_of([shard.again() for shard in first])[1] is None
    kept = [shard.again() for shard in first]
    complete = first[2].reading_like(first[0].encoding).again()
    assert complete.path != kept[2].path and not complete.ready


def test_words_of_copies_are_joined(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(table(60))
    shards = opened(path, cache=str(tmp_path / "copies"), text=["note"], text_bits=12).shards(3)
    assert rows_of([shard.again() for shard in shards])[1] is None
    noted, kept = joined_encoding([each.encoding for each in shards]), [shard.again().encoding for shard in shards]
    assert not any(each.lexicon.noted for each in kept) and any(each.lexicon.words for each in kept)
    mixed = joined_encoding([kept[0], *(each.encoding for each in shards[1:])])
    assert words_of(joined_encoding(kept)) == words_of(mixed) == words_of(noted) != {}


@pytest.mark.parametrize("seed", range(30))
def test_tables_of_any_kind(tmp_path, seed):
    rng = random.Random(seed)

    def cell():
        if rng.random() < 0.7:
            return "".join(rng.choice("ab1é ") for _ in range(rng.randint(0, 4)))
        inner = ["a", "b", ",", '""', "\n", "\r\n", "\r", " "]
        whole = "".join(rng.choice(inner) for _ in range(rng.randint(0, 6)))
        return f'"{whole}"' if rng.random() < 0.9 else whole  # which is mostly an error

    end = rng.choice(["\n", "\r\n", "\r"])
    ends = [*[end] * 9, "\n", "\r", "\r\n", end * 2]
    rows = [f"{rng.choice(['1', '', '-3.5'])},{cell()},{rng.choice('uv')}{rng.choice(ends)}" for _ in range(30)]
    text = rng.choice(["", "\ufeff"]) + "num,job,y" + end + "".join(rows)
    path = tmp_path / "rows.csv"
    path.write_bytes((text.rstrip("\r\n") if rng.random() < 0.3 else text).encode())
    told = {"quotes": True} if rng.random() < 0.6 else {}
    for n in (2, 5, 40):
        check(lambda: opened(path, categorical=["job"], **told), n)


def test_a_source_that_was_read_before_gives_the_same_shards(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text(table(60))
    fresh, used = opened(path), opened(path)
    assert rows_of([used])[1] is None
    shards = used.shards(3)
    assert [shard.signature() for shard in fresh.shards(3)] == [shard.signature() for shard in shards]
    assert not any(shard.encoding.seen for shard in shards) and used.encoding.seen
    assert rows_of([fresh]) == rows_of([used])
    assert shards[1].shards(2) == [shards[1]]


def test_records_begin_where_the_dialect_says(tmp_path):
    path = tmp_path / "rows.csv"
    text = table(80).encode()
    path.write_bytes(text)
    dialect, starts = CsvDialect(), []
    for k in range(dialect.walk(text, 1 << 30)[0] + 1):
        starts.append(dialect.walk(text, k)[1])
    records = table_cuts.Records(str(path), dialect, len(text))
    for offset in range(0, len(text), 11):
        at, before = records.place(offset)
        assert at == before <= offset and (at in starts or text[at] == ord("\n"))  # or at a blank line
    with pytest.raises(DataError, match="standard input"):
        source("-", format="csv", target="y").shards(2)
