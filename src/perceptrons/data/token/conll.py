"""Read tokens from files with one token a line: the columns of the CoNLL tasks, and CoNLL-U."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from perceptrons.core.parse import conll, interning
from perceptrons.data import files
from perceptrons.data.arrays import readonly
from perceptrons.data.files import Data, DataError
from perceptrons.data.token.tokens import Column, Lines, Tokens, check_names
from perceptrons.data.whole import Span, check_memory, lines_before, read_lines

CONLLU: tuple[str, ...] = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
USUAL = {1: ("word",), 2: ("word", "tag"), 3: ("word", "pos", "chunk"), 4: ("word", "pos", "chunk", "ner")}
FIELD = re.compile(rb"[^ \t]+")
DOCUMENT = re.compile(rb"^[ \t]*-DOCSTART-(?:[ \t][^\r\n]*)?(?=\r*$)", re.MULTILINE)  # a line that is skipped
COMMENT = re.compile(rb"#|[0-9]+[-.][0-9]+\t")  # in CoNLL-U: comments, ranges and empty nodes
BOM = b"\xef\xbb\xbf"
FEWEST_SLOTS = 1 << 12  # in a hash table of strings


class ColumnsError(DataError):
    """A line has the wrong number of columns."""


class Layout(NamedTuple):
    """How to read tokens from lines."""

    names: tuple[str, ...]  # of all columns
    read: tuple[str, ...]  # those to read, in the same order
    separator: int  # a byte, or `conll.BLANKS`
    conllu: bool
    more: bool  # further columns may follow
    width: int = 0  # with `more`: the number of columns that all lines must have; 0 if there are no tokens


class Part(NamedTuple):
    """The part of a text that comes from one file."""

    span: Span
    begin: int
    end: int

    def line(self, text: bytes, at: int) -> str:
        """The file and the number of the line at a position of the text, for messages."""
        before = lines_before(self.span) + text.count(b"\n", self.begin, at)
        return f"{self.span.name}:{before + 1}"


def read_conll(
    paths: Data,
    columns: Sequence[str] | None = None,
    *,
    only: Sequence[str] | None = None,
    separator: str | None = None,
    conllu: bool | None = None,
    more: bool = False,
) -> Tokens:
    """Read sentences from files with one token per line and blank lines between sentences.

    Lines that begin with -DOCSTART- are skipped.

    Parameters
    ----------
    paths : str, path or list of them
        Files, plain or compressed, or globs; "-" is standard input.
    columns : list of str, optional
        Names of the columns in the order of the file. The default depends on their number: word; word, tag; word, pos,
        chunk; word, pos, chunk, ner. In CoNLL-U the names are fixed, and `columns` picks the ones to read.
    only : list of str, optional
        The columns to read; others take neither time nor memory.
    separator : str, optional
        The character between columns, for instance a tab. By default any number of spaces and tabs.
    conllu : bool, optional
        Whether the files are CoNLL-U: ten columns; comments, ranges (3-4) and empty nodes (5.1) are skipped. By default
        this is the case if their names end in .conllu.
    more : bool, default=False
        Whether lines may have further columns after those named; all lines must have the same number.

    Returns
    -------
    Tokens
        The sentences. `lines` holds the text itself.

    Raises
    ------
    DataError
        If no file matches, a line has the wrong number of columns, a column of `only` does not exist, or the text is
        not UTF-8. The message names the file and the line.

    Examples
    --------
    >>> import tempfile
    >>> from perceptrons.data import read_conll
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("the DT\\ncat NN\\n\\nthe DT\\n")
    ...     file.flush()
    ...     tokens = read_conll(file.name, ["word", "pos"])
    >>> tokens, tokens[0]
    (<2 sentences, 3 tokens, columns word, pos>, [('the', 'DT'), ('cat', 'NN')])
    """
    found = files.expand(paths)
    is_conllu = checked(found, columns, separator, conllu)
    text, parts = text_of([Span.of(path) for path in found])
    return parsed(text, parts, layout_of(_lines(text, parts), columns, only, separator, is_conllu, more))


def checked(paths: list[str], columns: Sequence[str] | None, separator: str | None, conllu: bool | None) -> bool:
    """Refuse settings that files cannot be read with; tell whether the files are CoNLL-U."""
    is_conllu = [files.extension(path) == ".conllu" for path in paths] if conllu is None else [conllu]
    if len(set(is_conllu)) > 1:
        raise DataError("only some file names end in .conllu: read these files separately, or set conllu")
    if separator is not None and (len(separator) != 1 or not separator.isascii() or separator in "\r\n\0"):
        raise DataError(f"separator must be one ASCII character, got {separator!r}")
    if is_conllu[0] and separator not in (None, "\t"):
        raise DataError(f"separator must be a tab for CoNLL-U, got {separator!r}")
    if columns is not None:
        check_names(columns)
    return is_conllu[0]


def layout_of(
    lines: Iterable[bytes],
    columns: Sequence[str] | None,
    only: Sequence[str] | None,
    separator: str | None,
    conllu: bool,
    more: bool,
) -> Layout:
    """Decide how to read lines. Only the lines up to the first token are looked at, and only if they matter."""
    if conllu:
        only, names, separator = columns if only is None else only, CONLLU, "\t"
    else:
        names = tuple(columns or ())
    width = first_width(lines, separator, conllu) if more or (columns is None and not conllu) else 0
    if columns is None and not conllu:
        names = USUAL.get(max(1, width)) or ("word", *(f"column{k}" for k in range(2, width + 1)))
    if only is not None:
        check_names(only)
    for name in only or ():
        if name not in names:
            raise DataError(f"there is no column {name!r}: the columns are {', '.join(names)}")
    read = tuple(name for name in names if only is None or name in only)
    mark = conll.BLANKS if separator is None else ord(separator)
    return Layout(names, read, mark, conllu, more, width if more else 0)


def first_width(lines: Iterable[bytes], separator: str | None, conllu: bool) -> int:
    """The number of columns of the first token; 0 if there are no tokens."""
    between = b" \t" if separator is None else separator.encode()
    document = re.compile(rb"%s-DOCSTART-(?:[ \t%s]|$)" % (b"[ \t]*" if separator is None else b"", re.escape(between)))
    skipped = COMMENT if conllu else document
    for line in lines:
        bare = line.removesuffix(b"\n").removesuffix(b"\r")
        words = FIELD.findall(bare)
        if words and not skipped.match(bare):
            return len(words if separator is None else bare.split(between))
    return 0


def with_labels(lines: Lines, labels: Sequence[str], column: int | None = None) -> bytes:
    """Write labels into the text that tokens were read from.

    Appended labels are O in lines that begin with -DOCSTART-, because conlleval wants the same number of columns in all
    lines.

    Parameters
    ----------
    lines : Lines
        The text, as in `Tokens.lines`.
    labels : sequence of str
        One label per token.
    column : int, optional
        The column to replace, counted from 0. By default labels are appended as a last column.

    Returns
    -------
    bytes

    Examples
    --------
    >>> lines = Lines(b"the DT\\ncat NN\\n", np.array([0, 7], np.uint64), np.array([6, 13], np.uint64))
    >>> with_labels(lines, ["B-NP", "I-NP"])
    b'the DT B-NP\\ncat NN I-NP\\n'
    """
    if len(labels) != len(lines.begins):
        raise ValueError(f"expected one label for each of {len(lines.begins)} tokens, got {len(labels)} labels")
    text, at, between = lines.text, 0, b" "
    documents = column is None and b"-DOCSTART-" in text
    pieces: list[bytes] = []
    for begin, end, label in zip(lines.begins.tolist(), lines.ends.tolist(), labels, strict=True):
        line, gap = text[begin:end], text[at:begin]
        if column is None:
            between = b"\t" if b"\t" in line else b" "
            line += between + label.encode()
        else:
            fields = line.split(b"\t")
            fields[column] = label.encode()
            line = b"\t".join(fields)
        pieces += DOCUMENT.sub(rb"\g<0>" + between + b"O", gap) if documents else gap, line
        at = end
    rest = text[at:]
    return b"".join([*pieces, DOCUMENT.sub(rb"\g<0>" + between + b"O", rest) if documents else rest])


def text_of(spans: Sequence[Span]) -> tuple[bytes, list[Part]]:
    """Read lines of files into one padded text, and note where those of each file are."""
    pieces, parts, at = [], [], 0
    for span in spans:
        piece = read_lines(span)
        if not span.begin:
            piece = piece.removeprefix(BOM)
        if piece and not piece.endswith(b"\n"):
            piece += b"\n"
        parts.append(Part(span, at, at + len(piece)))
        if len(spans) > 1:
            piece += b"\n"  # a sentence does not continue in the next file
        pieces.append(piece)
        at += len(piece)
    return b"".join([*pieces, b"\n" * interning.PADDING]), parts


def _lines(text: bytes, parts: list[Part]) -> Iterator[bytes]:
    """The lines of all files."""
    for part in parts:
        at = part.begin
        while at < part.end:
            end = text.index(b"\n", at) + 1
            yield text[at:end]
            at = end


def parsed(text: bytes, parts: list[Part], layout: Layout) -> Tokens:
    """Find the tokens of a text."""
    names, read, separator, conllu, more, width = layout
    room = text.count(b"\n") - interning.PADDING + 1
    check_memory(2 * len(text) + room * (16 * len(read) + 24), parts[0].span.name)
    wanted = np.array([read.index(name) if name in read else conll.NOT_WANTED for name in names], dtype=np.uint32)
    begins, lengths = np.empty((len(read), room), dtype=np.uint64), np.empty((len(read), room), dtype=np.uint32)
    line_begins, line_ends = np.empty(room, dtype=np.uint64), np.empty(room, dtype=np.uint64)
    bounds, counts = np.zeros(room + 1, dtype=np.uint64), np.array([0, 0, width], dtype=np.uint64)
    whole = np.frombuffer(text, dtype=np.uint8)
    for part in parts:
        how = part.begin, part.end, separator, conllu, wanted, more
        why, line, k = conll.split(whole, *how, begins, lengths, line_begins, line_ends, bounds, counts)
        if why != conll.FINE:
            where = part.line(text, int(line))
            if why == conll.EMPTY:
                raise DataError(f"{where}: column {k + 1} ({names[k]}) is empty")
            if why == conll.WRONG_ID:
                given = text[int(line) : text.index(b"\t", int(line))].decode(errors="replace")
                raise DataError(f"{where}: id {given!r} is not a number, range (3-4) or empty node (5.1)")
            expected = f"{len(names)} ({', '.join(names)})" if why == conll.WRONG_COUNT else f"{counts[2]} as before"
            raise ColumnsError(f"{where}: {k} column{'s' if k != 1 else ''}, expected {expected}")
    n, n_sequences, _ = counts.tolist()
    columns = {}
    for row, name in enumerate(read):
        codes, homes = _interned(whole, begins[row, :n], lengths[row, :n])
        spans = begins[row, homes].tolist(), lengths[row, homes].tolist()
        try:
            types = [str(text[begin : begin + length], "utf-8") for begin, length in zip(*spans, strict=True)]
        except UnicodeDecodeError as error:
            raise DataError(_not_unicode(text, parts, name, *spans)) from error
        columns[name] = Column(readonly(codes), types)
    lines = Lines(text[: -interning.PADDING], readonly(line_begins[:n]), readonly(line_ends[:n]))
    return Tokens(columns, readonly(bounds[: n_sequences + 1]), lines)


def _interned(
    text: npt.NDArray[np.uint8], begins: npt.NDArray[np.uint64], lengths: npt.NDArray[np.uint32]
) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.uint64]]:
    """Number strings by first occurrence; also the first string that has each number."""
    codes, done, n = np.empty(len(begins), dtype=np.uint32), 0, 0
    slots, homes = np.zeros(FEWEST_SLOTS, dtype=np.uint64), np.empty(FEWEST_SLOTS // 2, dtype=np.uint64)
    while True:
        done, n = interning.intern(text, readonly(begins), readonly(lengths), done, n, slots, homes, codes)
        if done == len(begins):
            return codes, homes[: int(n)]
        smaller, slots = slots, np.zeros(4 * len(slots), dtype=np.uint64)
        interning.spread(smaller, slots)
        homes = np.concatenate([homes, np.empty(3 * len(homes), dtype=np.uint64)])


def _not_unicode(text: bytes, parts: list[Part], name: str, begins: list[int], lengths: list[int]) -> str:
    """Describe the first string that is not UTF-8."""
    for begin, length in zip(begins, lengths, strict=True):
        try:
            str(text[begin : begin + length], "utf-8")
        except UnicodeDecodeError:
            part = next(part for part in parts if part.begin <= begin < part.end)
            string = text[begin : begin + min(length, 40)]
            where = part.line(text, begin)
            return f"{where}: the {name} {string!r} is not UTF-8: convert the file, for instance with iconv"
    raise AssertionError("one string is not UTF-8")
