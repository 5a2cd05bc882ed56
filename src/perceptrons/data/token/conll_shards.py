"""Cut files with one token a line into shards of whole sentences, which several processes can read."""

from __future__ import annotations

import os
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise
from typing import NamedTuple

from perceptrons.data import files
from perceptrons.data.files import Data, DataError
from perceptrons.data.shards.cutting import usual_number
from perceptrons.data.token.conll import BOM, Layout, checked, layout_of, parsed, text_of
from perceptrons.data.token.tokens import Tokens
from perceptrons.data.whole import Span

BLANK = re.compile(rb"[ \t]*\r?\n")


class ConllShard(NamedTuple):
    """Consecutive sentences of files. It is small, and may be sent to another process that has the files."""

    spans: tuple[Span, ...]
    layout: Layout
    names: tuple[tuple[str, str], ...] = ()  # columns to rename, with their new names

    @property
    def name(self) -> str:
        """The files, and the bytes of the first one if it was cut, for messages."""
        first = self.spans[0]
        whole = not first.begin and first.end is None
        cut = "" if whole else f" (bytes {first.begin:,} to {first.end or first.size:,})"
        return files.display([first.name + cut, *(span.name for span in self.spans[1:])])

    def read(self) -> Tokens:
        """Read the sentences.

        Returns
        -------
        Tokens
            Without `lines`.
        """
        tokens = parsed(*text_of(self.spans), self.layout)
        return Tokens(tokens.columns, tokens.bounds).renamed(dict(self.names))


def conll_shards(
    paths: Data,
    columns: Sequence[str] | None = None,
    *,
    only: Sequence[str] | None = None,
    separator: str | None = None,
    conllu: bool | None = None,
    more: bool = False,
    n: int | None = None,
) -> list[ConllShard]:
    """Cut the files that `read_conll` reads into shards.

    All shards together have the sentences of `read_conll`, in the same order, and the same columns. Plain files are cut
    at blank lines, so that no sentence is divided. Compressed files are not cut.

    Parameters
    ----------
    paths, columns, only, separator, conllu, more
        As for `read_conll`, but paths must be files that can be read again. Default names of columns depend on the
        first token of all files.
    n : int, optional
        Maximum number of shards; there are fewer if files cannot be cut so often. By default 8, but shards have at
        least 1 MB and at most 256 MB.

    Returns
    -------
    list of ConllShard
        At least one; some may have no sentences.
    """
    found = files.expand(paths)
    is_conllu = checked(found, columns, separator, conllu)
    for path in found:
        if files.is_stream(path):
            name = files.display([path])
            raise DataError(f"{name} can be read only once, and shards are read one by one: write it to a file first")
    if n is not None and n < 1:
        raise DataError(f"n must be >= 1, got {n}")
    layout = layout_of(_lines(found), columns, only, separator, is_conllu, more)
    sizes = list(map(files.size, found))
    edges = _edges(found, sizes, n or usual_number(sum(sizes)))
    return [ConllShard(tuple(_spans(found, sizes, *two)), layout) for two in pairwise(edges)]


Edge = tuple[int, int]  # the number of a file, and a position in it


def _edges(paths: list[str], sizes: list[int], n: int) -> list[Edge]:
    """Where shards begin and end: near the n-th parts of all bytes."""
    ends = list(accumulate(sizes))
    edges, last = [(0, 0)], (len(paths), 0)
    for k in range(1, n):
        at = ends[-1] * k // n
        f, offset = edges[-1]
        if f == len(paths) or at <= ends[f] - sizes[f] + offset:
            continue  # a long sentence or a compressed file reaches beyond it
        f = bisect_right(ends, at)
        edge = _edge(paths[f], sizes[f], at - ends[f] + sizes[f])
        edges.append((f, edge) if edge < sizes[f] else (f + 1, 0))
    return list(dict.fromkeys([*edges, last]))


def _edge(path: str, size: int, at: int) -> int:
    """Where a shard may begin: after the next blank line, or at the nearer end of a compressed file."""
    if at == 0 or files.is_compressed(path):
        return 0 if 2 * at < size else size
    with open(path, "rb") as file:
        file.seek(at)
        line = file.readline(files.LONGEST)
        while line.endswith(b"\n"):  # not at the end, or in a line that is too long
            line = file.readline(files.LONGEST)
            if BLANK.fullmatch(line):
                return file.tell()
    return size


def _spans(paths: list[str], sizes: list[int], begin: Edge, end: Edge) -> Iterator[Span]:
    """The parts of files between two edges."""
    for f in range(begin[0], end[0] + (end[1] > 0)):
        first = begin[1] if f == begin[0] else 0
        last = end[1] if f == end[0] else None
        yield Span(os.path.abspath(paths[f]), files.display([paths[f]]), first, last, sizes[f])


def _lines(paths: list[str]) -> Iterator[bytes]:
    """The lines of all files; a line that is too long is cut."""
    for path in paths:
        with files.open_binary(path) as stream:
            line = stream.readline(files.LONGEST).removeprefix(BOM)
            while line:
                yield line
                line = stream.readline(files.LONGEST)
