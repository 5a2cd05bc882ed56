"""Malformed CSV files: the same rows or the same error wherever blocks end."""

from damage import damaged, fit, written
from naive_tables import numbered

from perceptrons.data import DataError, source
from perceptrons.data.table import csv_blocks

CELLS = ["1", "2.5", "-3e4", " 7 ", "", "NA", "nan", "inf", "1e200", "x", "yes", "true", "false", '"a b"', '"a,b"', "'",
         '"x\ny"', '"x""y"', '"', 'a"b', "2020-01-01", "\ufeff", "\ufeffx", "é", "\0", "1e400", "9" * 20]  # fmt: skip
ENDS = ["\n", "\n", "\n", "\r\n", "\r", "\n\n", "\r\n\r\n"]
SIMPLE = ["1", "2.5", "x", '"a b"', "7", "true"]


def text(random):
    """A table with some strange cells."""
    n, odd = int(random.integers(1, 5)), random.random() < 0.5
    kinds = [CELLS if odd else [SIMPLE[k]] for k in random.integers(len(SIMPLE), size=n)]
    lines = [",".join(["a", "b", "c", "d"][:n]) + ",y"] if random.random() < 0.95 else []
    for _ in range(random.integers(0, 30)):
        cells = [
            CELLS[random.integers(len(CELLS))] if random.random() < 0.02 else k[random.integers(len(k))] for k in kinds
        ]
        lines.append(",".join([*cells, str(random.integers(2))]))
    end = ENDS[random.integers(len(ENDS))]
    return (["", "", "\ufeff", "\n\n", "\r\n"][random.integers(5)] + end.join(lines) + end).encode()


def outcome(path, block, **settings):
    """All rows, labels and features; or the error."""
    before, csv_blocks.BLOCK = csv_blocks.BLOCK, block
    try:
        table = source(path, cache=False, target="y", **settings)
        return repr(numbered(table.batches())), table.encoding.feature_names
    except DataError as error:
        return str(error)
    finally:
        csv_blocks.BLOCK = before


def case(random, folder):
    path = written(random, folder / "a.csv", damaged(random, text(random), 0.6))
    settings = {}
    if random.random() < 0.3:
        settings["missing"] = 0
    if random.random() < 0.1:
        settings["quotes"] = False
    if random.random() < 0.2:
        settings["text"] = ["a"]
        settings["text_bits"] = 4
    if random.random() < 0.1:
        settings["hash_bits"] = 4
    before, csv_blocks.BEGINNING = csv_blocks.BEGINNING, [16, 64, 256, 1 << 16][random.integers(4)]
    try:
        found = [outcome(path, block, **settings) for block in (int(random.integers(1, 100)), 1 << 16)]
        assert found[0] == found[1], found
        if random.random() < 0.05:
            fit(source(path, cache=False, target="y", **settings))
    finally:
        csv_blocks.BEGINNING = before
