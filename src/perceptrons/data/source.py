"""Open examples in files of any format."""

from __future__ import annotations

import os
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
OF_CSV = ("delimiter", "header", "quotes", "decimal", "encoding")  # settings that data frames do not have
SCALES = ("auto", "standard", "none")
FORMATS = sorted(set(ENDINGS.values()))
LINE = re.compile(rb"\s*[-+.\deE]+(\s+qid:\d+)?(\s+\d+:[-+.\deE]+)+\s*(#.*)?$")


def source(
    data: Data | Any,
    *,
    format: str | None = None,
    cache: str | os.PathLike[str] | bool = True,
    scale: str = "auto",
    **settings: Any,
) -> Source:
    """Open examples in files, which may be larger than memory, for `fit`, `partial_fit`, `predict` and `score`.

    Parameters
    ----------
    data : str, path, list of them, or data frame
        Files, or globs such as ``part-*.svm.gz``, plain or compressed by gzip, bzip2 or zstd; "-" is standard input.
        Or a data frame of pandas, Polars or Arrow.
    format : {"svmlight", "csv", "tsv", "parquet", "arrow", "numpy"}, optional
        By default, the ending of the name decides, or else the first lines.
    cache : bool, str or path, default=True
        Whether training in several passes parses files only once. Up to 64 MB of parsed rows stay in memory. More rows
        are kept in a binary copy in ``~/.cache/perceptrons/rows`` (``$XDG_CACHE_HOME`` replaces ``~/.cache``). If you
        name a folder, the copy is always there. Only you can read it. It is used as long as the files keep their sizes
        and times, and you can delete it at any time. A copy is removed if its files have changed or nobody has read it
        for 30 days. The oldest are removed if all take more than a tenth of the disk, or ``$PERCEPTRONS_CACHE_LIMIT``,
        such as 20G. If no copy can be written, a warning says so, and every pass parses the files again, as with False.
    scale : {"auto", "standard", "none"}, default="auto"
        Whether training brings numbers to one scale. The model remembers the scale, and takes rows as they are.
        "auto": columns of tables are centred and divided by their standard deviation; features of svmlight and NumPy
        files are scaled if the largest has over 100 times the size of the smallest, and always for regressors, which
        also scale y. "standard": all numbers are scaled. Sparse features keep their zeros; text is never scaled.
    **settings
        Settings of the format, such as `target`, the column of labels. `Source` lists them in its notes. What you leave
        out for a table is guessed from its first rows.

    Returns
    -------
    Source
        ``batches()`` reads batches of rows and labels; ``arrays()`` reads everything into memory.

    Raises
    ------
    DataError
        If no file matches, or the format is not clear.
    TypeError
        If the format has no such setting.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from perceptrons import Perceptron
    >>> from perceptrons.data import source
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "and.svm"
    ...     _ = path.write_text("-1 1:0 2:0\\n-1 1:1\\n-1 2:1\\n+1 1:1 2:1\\n")
    ...     Perceptron().fit(source(path)).predict(source(path))
    array([-1., -1., -1.,  1.])
    """
    if scale not in SCALES:
        raise DataError(f"scale must be one of {', '.join(SCALES)}, got {scale!r}")
    if is_frame(data):
        if format is not None:
            raise DataError(f"a data frame has no format: leave out format={format!r}")
        made = _made("frame", data, settings, scale)
    else:
        made = _of_files(files.expand(data), format, settings, scale)
    made.caching = cache if isinstance(cache, bool) else os.fspath(cache)
    return made


def is_frame(data: Any) -> bool:
    """Whether an object is a data frame: of pandas, or with Arrow's interface for tables."""
    known = ("iloc", "__arrow_c_stream__", "__arrow_c_array__")
    return any(hasattr(data, name) for name in known) and hasattr(data, "columns")


def _of_files(paths: list[str], format: str | None, settings: dict[str, Any], scale: str) -> Source:
    """Make the source of files, which must have the same format."""
    formats = {format or detect_format(path) for path in paths}
    if len(formats) > 1:
        raise DataError(f"all files must have the same format, got {' and '.join(sorted(formats))}")
    found = formats.pop()
    if found not in FORMATS:
        raise DataError(f"format must be one of {', '.join(FORMATS)}, got {found!r}")
    made = _made(found, paths, settings, scale)
    made.paths = paths
    return made


def _made(format: str, data: Any, settings: dict[str, Any], scale: str) -> Source:
    """Make the source of a format, importing only what it needs. data: paths, or a data frame."""
    make: Any
    if format == "svmlight":
        from perceptrons.data.svmlight import SvmlightSource as make
    elif format == "numpy":
        from perceptrons.data.numpy_files import NumpySource as make
    else:
        from perceptrons.data.table.tables import TableSource as make

        settings = {"format": format, **settings}
        if settings.get("like") is None:
            settings["scale"] = "none" if scale == "none" else "standard"
    names = set(make.__init__.__annotations__) - set(OF_CSV if format == "frame" else ())
    unknown = sorted(set(settings) - names)
    if unknown:
        known = ", ".join(sorted(names - {"paths", "return", "format", "block"}))
        raise TypeError(f"a source of format {format} has no setting {unknown[0]!r}: its settings are {known}")
    if format == "frame":
        from perceptrons.data.table.arrow.frames import FrameSource as make
    made: Source = make(data, **settings)
    if made.encoding is None:
        made.scale = scale
    return made


def detect_format(path: str) -> str:
    """Detect the format of a file by the ending of its name, or by its first lines: svmlight, TSV or CSV.

    Of standard input, the bytes that have arrived so far decide; they will be read again.
    """
    ending = ENDINGS.get(files.extension(path))
    if ending is not None:
        return ending
    unknown = f"{files.display([path])}: its format is not clear: set format to one of {', '.join(FORMATS)}"
    if path == files.STDIN:
        begin = files.peek()
    elif files.is_stream(path):  # its first line could not be read again
        raise DataError(unknown)
    else:
        with files.open_binary(path) as stream:
            begin = stream.read(1 << 16)
    lines = [line for line in begin.splitlines() if line.strip()]
    data = [line for line in lines if not line.lstrip().startswith(b"#")]
    if data and LINE.match(data[0]):
        return "svmlight"
    if len(lines) > 2 and b"\0" not in b"".join(lines):
        for mark, format in ((b"\t", "tsv"), (b",", "csv"), (b";", "csv"), (b"|", "csv")):
            if min(line.count(mark) for line in lines[:-1]) > 0:  # the last line may be cut
                return format
    raise DataError(unknown)
