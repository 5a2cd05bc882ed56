"""One way to examples, whatever file they are in."""

from __future__ import annotations

import re
from typing import Any

from perceptrons.data import files
from perceptrons.data.batches import Source
from perceptrons.data.files import Data, DataError

ENDINGS = {
    ".svm": "svmlight",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".npy": "numpy",
    ".npz": "numpy",
}
FORMATS = sorted(set(ENDINGS.values()))
LINE = re.compile(rb"\s*[-+.\deE]+(\s+qid:\d+)?(\s+\d+:[-+.\deE]+)+\s*(#.*)?$")


def source(data: Data, *, format: str | None = None, cache: str | bool = True, **settings: Any) -> Source:
    """Examples in files that may be larger than memory, for `fit`, `partial_fit`, `predict` and `score`.

    Parameters
    ----------
    data : str, path, or list of them
        Files, or globs such as "part-*.svm.gz"; "-" is standard input. Files compressed by gzip, bzip2 or zstd are
        recognised by their content.
    format : {"svmlight", "csv", "tsv", "parquet", "arrow", "numpy"}, optional
        By default told by the name's ending, or by a first line that looks like svmlight.
    cache : bool or str, default=True
        Where training in several passes keeps a binary copy of the rows, parsed once: beside the first file, or in a
        folder. It is used as long as the files have the same sizes and times, and can be deleted at any time. False:
        files are parsed in every pass.
    **settings
        Of the format. svmlight: `zero_based`, `n_features`. Tables: `target`, `features`, `drop`, `categorical`,
        `hash_bits`, `text`, `ngrams`, `text_bits`, `missing`, `delimiter`, `header`, `quotes`, `like`. numpy: `target`,
        `labels`. See `SvmlightSource`, `TableSource`, `NumpySource`.

    Returns
    -------
    Source
        ``batches()`` gives batches of rows and labels, from the beginning each time; ``arrays()`` all in memory.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from perceptrons import Perceptron
    >>> from perceptrons.data import source
    >>> folder = tempfile.TemporaryDirectory()
    >>> path = pathlib.Path(folder.name) / "and.svm"
    >>> _ = path.write_text("-1 1:0 2:0\\n-1 1:1\\n-1 2:1\\n+1 1:1 2:1\\n")
    >>> model = Perceptron().fit(source(path))
    >>> model.converged_, model.predict(source(path))
    (True, array([-1., -1., -1.,  1.]))
    >>> folder.cleanup()
    """
    paths = files.expand(data)
    kinds = {format or told(path) for path in paths}
    if len(kinds) > 1:
        raise DataError(f"files of one format are expected, got {' and '.join(sorted(kinds))}")
    kind = kinds.pop()
    if kind not in FORMATS:
        raise DataError(f"format must be one of {', '.join(FORMATS)}, got {kind!r}")
    made = _made(kind, paths, settings)
    made.caching = cache
    made.paths = paths
    return made


def _made(kind: str, paths: list[str], settings: dict[str, Any]) -> Source:
    """The source of this format. Each is imported when it is asked for."""
    make: Any
    if kind == "svmlight":
        from perceptrons.data.svmlight import SvmlightSource as make
    elif kind == "numpy":
        from perceptrons.data.numpy_files import NumpySource as make
    else:
        from perceptrons.data.table.tables import TableSource as make

        settings = {"format": kind, **settings}
    unknown = sorted(set(settings) - set(make.__init__.__annotations__))
    if unknown:
        known = ", ".join(sorted(set(make.__init__.__annotations__) - {"paths", "return", "format", "block"}))
        raise TypeError(f"a source of format {kind} has no setting {unknown[0]!r}; it has {known}")
    made: Source = make(paths, **settings)
    return made


def told(path: str) -> str:
    """The format of a file, by its ending or its first line."""
    ending = ENDINGS.get(files.kind(path))
    if ending is not None:
        return ending
    if files.is_stream(path):  # looking at its beginning would take it away
        name = files.display([path])
        raise DataError(f"{name} has no ending that tells its format: say which of {', '.join(FORMATS)}")
    with files.open_binary(path) as stream:
        for line in stream.read(1 << 16).splitlines():
            if line.strip() and not line.lstrip().startswith(b"#"):
                if LINE.match(line):
                    return "svmlight"
                break
    raise DataError(f"{path}: its ending does not tell the format: say which of {', '.join(FORMATS)}")
