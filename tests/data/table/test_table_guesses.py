"""Guesses about tables as people write them: how the file is written, and what its columns hold."""

import csv
import io
import random
import sys
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from naive_tables import named, write

from perceptrons.core.parse.records import quoting, same_width
from perceptrons.data import DataError, source
from perceptrons.data.source import detect_format
from perceptrons.data.table import csv_blocks
from perceptrons.data.table.dialects.dialect import CsvDialect
from perceptrons.data.table.dialects.guessing import guessed
from perceptrons.data.table.dialects.header import distinct
from perceptrons.data.table.dialects.numerals import parsed
from perceptrons.data.table.tables import TableSource

WORDS = [
    "the",
    "parcel",
    "came",
    "late",
    "and",
    "was",
    "broken",
    "but",
    "they",
    "answered",
    "fast",
    "so",
    "I",
    "would",
    "buy",
    "there",
    "again",
]


def dialect(text, named=(), usual=",", **known):
    content = text if isinstance(text, bytes) else text.encode()
    return guessed(memoryview(content), True, known, usual, named)


def lines(rows, delimiter=",", end="\n"):
    return end.join(delimiter.join(map(str, row)) for row in rows) + end


def kinds(tmp_path, content, target="y", **settings):
    made = TableSource(write(tmp_path / "a.csv", content), format="csv", target=target, **settings)
    return {guess.column: guess.kind for guess in made.look()}


# -- numbers as people write them ---------------------------------------------------


@given(st.integers(-(10**12), 10**12), st.integers(0, 99), st.sampled_from([".", ","]), st.sampled_from("$€£ "))
def test_numbers_with_groups_and_money(whole, cents, decimal, money):
    group = "," if decimal == "." else "."
    text = f"{abs(whole):,}".replace(",", group) + f"{decimal}{cents:02}"
    expected = float(f"{abs(whole)}.{cents:02}")
    for form, sign in ((text, 1), (f"{money}{text}", 1), (f"-{money}{text}", -1), (f"({text})", -1), (f"{text} %", 1)):
        assert parsed(form, decimal) == sign * expected


@pytest.mark.parametrize(
    "text", ["", "1,20", "1,2000", "12 apples", "1.2.3", "--1", "(3", "$", "1,200'300", "0x1", "१"]
)
def test_what_is_not_a_number(text):
    assert parsed(text) is None


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_plain_numbers_are_read_as_python_reads_them(number):
    assert parsed(repr(number)) == number
    assert parsed(repr(number).replace(".", ","), ",") == number


# -- how files are written ----------------------------------------------------------


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
def test_delimiters(mark):
    rows = [["a", "b c", "y"]] + [[i, f"word {i % 3}", i % 2] for i in range(9)]
    assert dialect(lines(rows, mark)).delimiter == mark
    assert dialect(lines(rows, mark), usual="\t").delimiter == mark


def test_commas_in_cells_do_not_delimit():
    numbers = [[f"{i},5", f"{i},25", i % 2] for i in range(9)]
    found = dialect(lines(numbers, ";"))
    assert (found.delimiter, found.decimal, found.header) == (";", ",", False)
    assert dialect("text;y\nyes, sir;1\nno, sir;0\nwell;1\n").delimiter == ";"
    assert dialect('a,y\n"1;2",0\n"3;4",1\n').delimiter == ","
    assert dialect("y\n1\n0\n").delimiter == ","


def test_decimal_commas_and_groups_of_three():
    assert dialect('a,y\n"1,200",0\n"12,345",1\n').decimal == "."
    assert dialect('a,y\n"1,2",0\n"12,345",1\n').decimal == ","
    assert dialect("a;y\n1,200;0\n2,345;1\n").decimal == ","
    assert dialect("a;y\n1.5;0\n2;1\n").decimal == "."
    assert dialect("a;y\n1.200,5;0\nNA;1\n").decimal == ","


def test_headers():
    assert dialect("a,y\n1,0\n2,1\n").header
    assert not dialect("1,0\n2,1\n").header
    assert not dialect("39, State-gov, 77516, <=50K\n50, Private, 83311, >50K\n").header
    assert dialect("job,label\nnurse,yes\nsmith,no\n").header
    assert dialect(",0,1,2\n0,5,6,7\n1,5,7,8\n").header and dialect("0,1,2\n5,6,7\n5,7,8\n").header
    assert not dialect(lines([["e", "x", "s"], ["p", "b", "y"]] * 9)).header
    assert dialect("2019,y\n1,0\n2,1\n", named=["y"]).header
    assert not dialect("ham,hello there\nspam,win a prize\n", named=["0"]).header
    assert dialect("a,y\n").header and not dialect("1,2\n").header
    assert dialect("").header


def test_quotes():
    assert dialect('a,y\n"x, y",0\n"u",1\n').quotes
    assert dialect('a,y\n"two\nlines",0\n"u",1\n').quotes
    assert not dialect('a\ty\n"big\t0\nplain\t1\nsmall"\t0\n').quotes
    assert not dialect('a,y\n"u,0\nv,1\n').quotes
    assert dialect('a\ty\n"x\ty"\t0\n"u"\t1\n', usual="\t").quotes
    assert not dialect("a\ty\nx\t0\n", usual="\t").quotes and dialect("a,y\nx,0\n").quotes
    assert dialect('a,y\n"x" and "y, z",0\n', usual=",").quotes is True


cell = st.text(st.sampled_from('ab",;\n '), max_size=4)


@given(st.lists(st.tuples(cell, cell), min_size=1, max_size=6), st.booleans())
def test_quotes_that_a_writer_makes(rows, everywhere):
    """Python's writer closes every quote at the end of a cell."""
    file = io.StringIO(newline="")
    csv.writer(file, quoting=csv.QUOTE_ALL if everywhere else csv.QUOTE_MINIMAL, lineterminator="\n").writerows(rows)
    opened, odd, breaks, left_open = quoting(np.frombuffer(file.getvalue().encode(), np.uint8), ord(","), ord('"'))
    quoted = [cell for row in rows for cell in row if everywhere or set(cell) & set(',"\n')]
    assert (opened, odd, breaks, left_open) == (len(quoted), 0, sum(cell.count("\n") for cell in quoted), -1)


@given(st.lists(st.text(st.sampled_from("a,\r"), max_size=4), min_size=1, max_size=6))
def test_lines_of_the_same_width(lines):
    text = "\n".join([*lines, ""])
    widths = {line.count(",") for line in lines if line.strip("\r")}
    assert same_width(np.frombuffer(text.encode(), np.uint8), ord(",")) == (len(widths) == 1)


def test_what_is_known_is_not_guessed():
    known = {"delimiter": ",", "quotes": True, "header": True, "decimal": "."}
    assert dialect('1;"2\n3,5;4\n', **known) == CsvDialect(**known)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "utf-16"])
@pytest.mark.parametrize("block", [64, 1 << 22])
def test_encodings(tmp_path, monkeypatch, encoding, block):
    for name in ("BEGINNING", "BLOCK"):
        monkeypatch.setattr(csv_blocks, name, block)
    rows = [["größe", "Straße", "y"]] + [[i % 4, ["Köln", "Bremen"][i % 2], i % 2] for i in range(20)]
    paths = write(tmp_path / "a.csv", lines(rows, end="\r\n").encode(encoding))
    made = TableSource(paths, format="csv", target="y")
    assert made.encoding.columns == [] and list(made.batches())
    assert made.encoding.columns == ["größe", "Straße"]
    assert made.encoding.seen == [("Straße", "Köln"), ("Straße", "Bremen")]
    assert bool(made.notes) == (not encoding.startswith("utf-8"))
    told = TableSource(paths, format="csv", target="y", encoding=encoding)
    assert named(told) == named(made) and not told.notes


def test_a_wrong_byte_in_utf8_is_replaced(tmp_path):
    text = "name,y\nMüller,0\nJürgen,1\nKöhn\xff,0\n".encode().replace("\xff".encode(), b"\xff")
    made = TableSource(write(tmp_path / "a.csv", text), format="csv", target="y")
    assert [*named(made)[0]] == [{"name=Müller": 1.0}, {"name=Jürgen": 1.0}, {"name=Köhn\ufffd": 1.0}]


def test_wrong_bytes_in_a_column_that_is_dropped_do_not_matter(tmp_path):
    made = TableSource(write(tmp_path / "a.csv", b"a,b,y\n1,\xff,0\n2,\xfe,1\n"), format="csv", target="y", drop=["b"])
    assert named(made)[0] == [{"a": 1.0}, {"a": 2.0}] and not made.notes


@given(st.lists(st.sampled_from(["a", "b", "", "a.1", "unnamed_0"]), min_size=1, max_size=8))
def test_names_become_distinct_and_first_ones_stay(names):
    found = distinct(names)
    assert len(set(found)) == len(found) and "" not in found
    for j, name in enumerate(names):
        assert found[j] == name if name and name not in names[:j] else found[j] not in names


# -- what columns hold --------------------------------------------------------------


def test_roles_of_columns(tmp_path):
    draw = random.Random(0)
    rows = [["id", "uid", "when", "day", "note", "zip", "price", "share", "n", "job", "flag", "void", "y"]]
    for i in range(60):
        words = '"' + " ".join(draw.choices(WORDS, k=6)) + '"'
        when = f"{draw.randint(1, 28):02}.03.2024 12:{draw.randint(10, 59)}"
        numbers = [f'"${draw.randint(1, 9)},{draw.randint(100, 999)}"', f"{draw.randint(0, 99)}%", draw.randint(0, 9)]
        who = [draw.choice(["nurse", "smith"]), draw.choice(["true", "false"]), "", i % 2]
        rows.append([i + 7, f"u{i}", when, "2024-01-02", words, draw.choice(["01234", "99501"]), *numbers, *who])
    expected = ["id", "id", "date", "date", "text", "category", "number", "number", "number", "category", "flag"]
    found = kinds(tmp_path, lines(rows))
    assert found == dict(zip(rows[0], [*expected, "empty", "label"], strict=True))
    kept = {"numeric": ["id"], "categorical": ["uid", "day"], "text": ["job"], "drop": ["n"]}
    changed = {"id": "number", "uid": "category", "day": "category", "job": "text", "n": "ignored"}
    assert kinds(tmp_path, lines(rows), **kept) == found | changed
    few = kinds(tmp_path, lines(rows), features=["id", "uid", "n"])
    assert {name: few[name] for name in ("id", "uid", "n")} == {"id": "number", "uid": "category", "n": "number"}
    assert kinds(tmp_path, lines([row[:1] + row[-1:] for row in rows])) == {"id": "number", "y": "label"}


def test_few_rows_do_not_show_that_values_are_different(tmp_path):
    rows = [["id", "c", "y"]] + [[i, f"v{i}", i % 2] for i in range(9)]
    assert kinds(tmp_path, lines(rows)) == {"id": "number", "c": "category", "y": "label"}


def test_numbers_are_numbers_however_they_are_written(tmp_path, monkeypatch):
    for name in ("BEGINNING", "BLOCK"):
        monkeypatch.setattr(csv_blocks, name, 256)
    plain = [float(i * 37 % 5000) for i in range(400)]
    forms = [str, lambda x: f"${x:,.2f}", lambda x: f"{x:,.0f} €", lambda x: f" {x} "]
    text = "a,y\n" + "".join(f'"{forms[i // 100](x)}",{i % 2}\n' for i, x in enumerate(plain))
    made = TableSource(write(tmp_path / "a.csv", text), format="csv", target="y")
    assert np.vstack([batch.rows.values for batch in made.batches()])[:, 0].tolist() == plain


@pytest.mark.parametrize(
    "mark", ["", " ", "      ", " " * 20, "NA", " ?", "?", "-", "null", "#N/A", "None", "none", "nan"]
)
def test_cells_that_are_missing(tmp_path, mark):
    text = f"a,c,y\n1,u,0\n{mark},{mark},1\n3,u,0\n4,v,1\n"
    made = TableSource(write(tmp_path / "a.csv", text), format="csv", target="y")
    rows = named(made)[0]
    assert rows[3] == {"a": 4.0, "c=v": 1.0} and rows[1]["a=(missing)"] == 1.0 and "a" not in rows[1]
    assert made.counts.missing["a"] == 1 and made.counts.rows == 4
    assert ("c=(missing)" in rows[1]) == (mark not in ("-", "none", "None"))


def test_told_marks_of_missing_cells(tmp_path):
    text = "a,c,y\n1,u,0\nwho,who,1\n3,u,0\n?,v,1\nNA,NA,0\n"
    made = TableSource(write(tmp_path / "a.csv", text), format="csv", target="y", na=["who"])
    rows = named(made)[0]
    assert rows[1] == {"a=(missing)": 1.0, "c=(missing)": 1.0} and rows[3] == {"a=(missing)": 1.0, "c=v": 1.0}
    assert rows[4] == {"a=(missing)": 1.0, "c=NA": 1.0}  # what is told is all that is missing in categories


def test_roles_in_parquet(tmp_path):
    n = 50
    notes = [" ".join(random.Random(i).choices(WORDS, k=7)) for i in range(n)]
    table = pa.table(
        {
            "id": range(n),
            "x": [float(i % 7) for i in range(n)],
            "note": notes,
            "day": pa.array([i * 1000 for i in range(n)], pa.date32()),
            "void": pa.nulls(n),
            "y": [i % 2 for i in range(n)],
        }
    )
    pa.parquet.write_table(table, tmp_path / "a.parquet")
    made = TableSource([str(tmp_path / "a.parquet")], format="parquet", target="y")
    kept = {guess.column: guess.kind for guess in made.look()}
    assert kept == {"id": "id", "x": "number", "note": "text", "day": "date", "void": "empty", "y": "label"}
    assert made.encoding.columns == ["x", "note"] and sum(len(batch.rows) for batch in made.batches()) == n


# -- reading once, and again --------------------------------------------------------


def test_a_look_at_a_stream_takes_nothing_away(tmp_path, monkeypatch):
    for name in ("BEGINNING", "BLOCK"):
        monkeypatch.setattr(csv_blocks, name, 64)
    text = "a;c;y\n" + "".join(f"{i % 5},5;v{i % 3};{i % 2}\n" for i in range(50))
    paths = write(tmp_path / "a.csv", text)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(text.encode()))))
    piped = TableSource(["-"], format="csv", target="y")
    assert [guess.kind for guess in piped.look()] == ["number", "category", "label"] == [g.kind for g in piped.look()]
    assert named(piped) == named(TableSource(paths, format="csv", target="y"))


@pytest.mark.parametrize("header", [True, False])
def test_an_encoding_knows_how_its_files_were_written(tmp_path, header):
    rows = [[f"{i % 4},5", f'"{i % 3}', i % 2] for i in range(9)]
    head = [["size", "word", "y"]] if header else []
    target = "y" if header else "2"
    trained = source(write(tmp_path / "a.csv", lines(head + rows, ";").encode()), target=target)
    expected = named(trained)
    encoding = type(trained.encoding).from_state(*trained.encoding.state())
    assert encoding.dialect == CsvDialect(";", header, False, ",")
    new = source(
        write(tmp_path / "b.csv", lines(head + rows[:1], ";").encode()), like=encoding
    )  # too few rows to guess
    assert named(new)[0] == expected[0][:1]
    other = lines([[cell.replace(",", ".") if isinstance(cell, str) else cell for cell in row] for row in rows], "\t")
    moved = source(write(tmp_path / "c.tsv", lines(head, "\t") * header + other), like=encoding, decimal=".")
    assert named(moved)[0] == expected[0]


def test_categories_that_training_has_not_seen_are_counted(tmp_path):
    trained = source(write(tmp_path / "a.csv", "job,sex,y\nnurse,f,0\nsmith,m,1\nnurse,f,1\n"), target="y")
    list(trained.batches())
    rows = "job,sex\nnurse,f\npilot,x\nbaker,m\n,f\npilot,f\n"
    new = source(write(tmp_path / "b.csv", rows), like=trained.encoding)
    list(new.batches())
    counts = new.counts
    assert (counts.rows, counts.unseen_rows, counts.unseen) == (5, 3, {"job": 3, "sex": 1})
    assert counts.examples == {"job": ["pilot", "baker"], "sex": ["x"]} and counts.missing == {"job": 1}
    assert trained.counts.unseen_rows == 0


@pytest.mark.parametrize(
    ("text", "format"),
    [
        ("ham\tHello, you\nspam\tWin, win\nham\tOk\n", "tsv"),
        ("1, 2, x\n3, 4, y\n5, 6, z\n", "csv"),
        ("a;b\n1,5;2\n3;4\n", "csv"),
        ("+1 1:0.5 3:2\n-1 2:1\n", "svmlight"),
    ],
)
def test_files_without_an_ending_are_known_by_their_lines(tmp_path, text, format):
    path = tmp_path / "adult.data"
    path.write_text(text)
    assert detect_format(str(path)) == format
    path.write_text("some prose\nwithout cells\nof any kind\n")
    with pytest.raises(DataError, match="not clear"):
        detect_format(str(path))
