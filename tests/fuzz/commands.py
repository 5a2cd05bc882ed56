"""The verbs of the command line with hostile models and certificates: an error is one line, and never a traceback."""

import functools
import json
import tempfile
import warnings
from pathlib import Path

import numpy as np
from fuzz.models import ANY, command, pick, rows, spoiled
from hostile import changed, leaves

SENTENCES = "the O\ncat B-X\nsleeps O\n\nRome B-X\n\n"
TABLE = "n,c,t,y\n1,a,the cat 1,ham\n2,b,the 2,spam\n3,zz,über 3,eggs\n"


def write_data(folder):
    """Small files for all kinds of models."""
    X, two, three = rows()
    for name, y in (("two", two), ("three", three)):
        lines = [
            " ".join([str(label), *(f"{j}:{v}" for j, v in enumerate(x))])
            for x, label in zip(X.tolist(), y, strict=True)
        ]
        (folder / f"{name}.svm").write_text("\n".join(lines) + "\n")
    (folder / "t.csv").write_text(TABLE)
    (folder / "s.txt").write_text(SENTENCES)
    np.save(folder / "k.npy", np.column_stack([X @ X.T, two]))


@functools.cache
def certificates():
    """Good certificates: of separable rows, and of rows that are not."""
    found = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_data(folder)
        (folder / "apart.svm").write_text("0 0:1\n1 1:1\n")
        for data in ("apart.svm", "two.svm", "three.svm"):
            command("certify", folder / data, "--save", folder / "c.json", "--json", codes=(0, 1))
            found.append((data, json.loads((folder / "c.json").read_text())))
        (folder / "apart.svm").unlink()
    return found


def verb(random, kind, folder):
    """Arguments for a verb that takes this kind of model."""
    model = folder / "m.perceptron"
    if kind in ("tagger", "named", "beam", "lists"):
        data = folder / "s.txt"
        return pick(
            random,
            [
                ("tag", "predict", model, data),
                ("tag", "predict", model, data, "--json"),
                ("tag", "predict", model, data, "--k-best", 3),
                ("tag", "predict", model, data, "--tokens"),
                ("tag", "evaluate", model, data, "--columns", "word,tag", "--target", "tag"),
                ("tag", "evaluate", model, data, "--columns", "word,tag", "--target", "tag", "--json"),
                ("predict", model, data),
            ],
        )
    name = {"table": "t.csv", "precomputed": "k.npy"}.get(kind, pick(random, ["two.svm", "three.svm"]))
    data = folder / name
    choices = [
        ("predict", model, data),
        ("predict", model, data, "--scores"),
        ("predict", model, data, "--json"),
        ("evaluate", model, data),
        ("evaluate", model, data, "--json"),
        ("tag", "predict", model, data),
    ]
    if random.random() < 0.1:  # these take longer
        choices = [("export", model, "--onnx", folder / "m.onnx")]
    elif random.random() < 0.01:
        shape = pick(random, ["boundary", "mistakes", "margins", "proof"])
        choices = [("plot", model, data, "--kind", shape, "-o", folder / "m.svg")]
    return pick(random, choices)


def case(random, folder):
    """Run a verb with a hostile model, or check a hostile certificate."""
    write_data(folder)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if random.random() < 0.1:
            name, content = pick(random, certificates())
            for _ in range(random.integers(1, 3)):
                ways = list(leaves(content))[1:]
                content = changed(content, pick(random, ways), pick(random, ANY))
            (folder / "c.json").write_text(json.dumps(content))
            if name == "apart.svm":
                (folder / name).write_text("0 0:1\n1 1:1\n")
            command("certify", "--check", folder / "c.json", folder / name, codes=(0, 1, 2))
            return
        kind, content = spoiled(random)
        (folder / "m.perceptron").write_bytes(content)
        command(*verb(random, kind, folder))
