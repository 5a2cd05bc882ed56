"""Small Arrow tables with columns of many types."""

import decimal

import pyarrow as pa

WORDS = ["u", "v w", "", "näh", "x" * 40]


def column(random, n):
    """A column of a random type, sometimes with missing values."""
    numbers = random.integers(0, 5, n)
    words = [WORDS[k] for k in numbers]
    nulls = random.random() < 0.2
    mask = random.random(n) < 0.2 if nulls else None

    def made(values, type=None):
        return pa.array(values, type, mask=mask)

    kind = int(random.integers(11)) if random.random() < 0.9 else int(random.integers(13))
    return [
        lambda: made(numbers),
        lambda: made(numbers.astype("f4")),
        lambda: made(random.standard_normal(n)),
        lambda: made(words),
        lambda: made(words, pa.large_string()),
        lambda: pa.array(words).dictionary_encode(),
        lambda: made(numbers > 2),
        lambda: made([decimal.Decimal(int(k)) / 4 for k in numbers], pa.decimal128(9, 2)),
        lambda: pa.nulls(n),
        lambda: made(words).cast(pa.string_view()),
        lambda: pa.array(numbers.astype("i1")).dictionary_encode(),
        lambda: made([[int(k)] * int(k) for k in numbers], pa.list_(pa.int32())),
        lambda: made([{"k": int(k), "s": "t"} for k in numbers]),
    ][kind]()


def table(random, views=True):
    """A table with a target y."""
    n = int(random.choice([0, 1, 5, 40, 40]))
    names = ["a", "b", "c", "d", "é"][: random.integers(1, 6)]
    if random.random() < 0.02:
        names = ["b", "b"]
    columns = [column(random, n) for _ in names]
    if not views:
        columns = [each.cast(pa.string()) if each.type == pa.string_view() else each for each in columns]
    labels = [random.integers(0, 2, n), ["p" if k else "q" for k in random.integers(0, 2, n)]][random.integers(2)]
    made = pa.Table.from_arrays(
        [*columns, pa.array(labels, pa.string() if isinstance(labels, list) else None)], [*names, "y"]
    )
    return made.replace_schema_metadata({"pandas": '{"index_columns": []}'}) if random.random() < 0.2 else made


def settings(random):
    """Settings for reading it."""
    found = {"target": "y"}
    if random.random() < 0.8:
        found["missing"] = 0
    if random.random() < 0.3:
        found["text"] = ["a"]
        found["text_bits"] = 4
    if random.random() < 0.2:
        found["hash_bits"] = 4
    if random.random() < 0.1:
        found["categorical"] = ["a"]
    return found
