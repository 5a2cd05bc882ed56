"""Tables encoded with dicts, from the definition; and batches as dicts, to compare."""

import csv
import io

import numpy as np

MIXED = [
    {"age": "39", "job": "teacher", "pay": "1.5", "smokes": "true", "y": "yes"},
    {"age": "0", "job": "nurse", "pay": "-2e3", "smokes": "false", "y": "no"},
    {"age": "7", "job": "teacher", "pay": "0", "smokes": "true", "y": "yes"},
    {"age": "8", "job": 'a,"b"\nc', "pay": "0.25", "smokes": "true", "y": "maybe"},
]


def text_of(rows, **options):
    """CSV, by Python's own writer."""
    file = io.StringIO(newline="")
    writer = csv.DictWriter(file, list(rows[0]), **options)
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue()


def numbered(batches):
    """Rows as dicts of index to value, and all labels."""
    rows, y = [], []
    for batch in batches:
        if batch.rows.indices is None:
            found = [dict(enumerate(line)) for line in batch.rows.values.tolist()]
        else:
            cut = batch.rows.indptr[1:-1].astype(int)
            parts = zip(np.split(batch.rows.indices, cut), np.split(batch.rows.values, cut), strict=True)
            found = [dict(zip(indices.tolist(), values.tolist(), strict=True)) for indices, values in parts]
            assert all(list(row) == sorted(row) for row in found)
        rows += [{j: x for j, x in row.items() if x != 0} for row in found]
        np.testing.assert_allclose(batch.rows.sq_norm, [sum(x * x for x in row.values()) for row in found])
        y += [] if batch.y is None else batch.y.tolist()
    return rows, y


def named(source):
    rows, y = numbered(source.batches())
    return [{source.encoding.feature_name(j): x for j, x in row.items()} for row in rows], y


def naive(rows, target, numbers, flags=()):
    """Names of features to values, from the definition; and one-hot names in the order of first sight."""
    found, order = [], {}
    for row in rows:
        features = {name: float(row[name]) for name in numbers if float(row[name]) != 0}
        for name, cell in row.items():
            if name not in numbers and name != target:
                category = f"{name}={cell.title() if name in flags else cell.strip(' ')}"
                features[category] = 1.0
                order[category] = None
        found.append(features)
    return found, list(order)


def write(path, content):
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return [str(path)]
