"""Files with one token a line, described but not read: they may be too large for the memory of one machine."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from perceptrons.data import files
from perceptrons.data.files import Data
from perceptrons.data.token.conll import read_conll
from perceptrons.data.token.conll_shards import ConllShard, conll_shards
from perceptrons.data.token.tokens import Tokens


@dataclass(frozen=True)
class ConllSource:
    """Files of sentences, and how to read them. `conll_source` makes it.

    Attributes
    ----------
    paths : list of str
        The files.
    columns : list of str
        Names of the columns.
    name : str
        The files, for messages.
    """

    paths: list[str]
    given: list[str] | None = None  # names of the columns in the files
    separator: str | None = None
    conllu: bool | None = None
    names: Mapping[str, str] = field(default_factory=dict)  # new names of columns by those in the files

    @property
    def name(self) -> str:
        """The files, for messages."""
        return files.display(self.paths)

    @property
    def columns(self) -> list[str]:
        """Names of the columns. The first token of the files decides, if they were not given."""
        read = self.shards(1)[0].layout.read
        return [self.names.get(name, name) for name in read]

    def shards(self, n: int | None = None, only: Sequence[str] | None = None) -> list[ConllShard]:
        """Cut the files into shards of whole sentences, which several processes can read.

        Parameters
        ----------
        n : int, optional
            Maximum number of shards. By default 8, but shards have at least 1 MB and at most 256 MB.
        only : list of str, optional
            The columns to read, by their new names; others take neither time nor memory.

        Returns
        -------
        list of ConllShard
            At least one; some may have no sentences.
        """
        wanted = None if only is None else [self._old(name) for name in only]
        found = conll_shards(
            self.paths, self.given, only=wanted, separator=self.separator, conllu=self.conllu, more=False, n=n
        )
        read = found[0].layout.read
        names = tuple((old, new) for old, new in self.names.items() if old in read)
        return [shard._replace(names=names) for shard in found]

    def read(self) -> Tokens:
        """Read all sentences into memory.

        Returns
        -------
        Tokens
        """
        tokens = read_conll(self.paths, self.given, separator=self.separator, conllu=self.conllu)
        return tokens.renamed(self.names)

    def _old(self, name: str) -> str:
        """The name of a column in the files."""
        return next((old for old, new in self.names.items() if new == name), name)


def conll_source(
    paths: Data,
    columns: Sequence[str] | None = None,
    *,
    separator: str | None = None,
    conllu: bool | None = None,
    rename: Mapping[str, str] | None = None,
) -> ConllSource:
    """Describe files with one token per line and blank lines between sentences, for several processes to read.

    Parameters
    ----------
    paths : str, path or list of them
        Files, plain or compressed, or globs. All processes must be able to read them by the same names.
    columns, separator, conllu
        As for `perceptrons.data.read_conll`.
    rename : dict of str to str, optional
        New names of columns by old names, for instance ``{"form": "word"}``.

    Returns
    -------
    ConllSource
        It is small, and can be sent to other processes. `read` reads all sentences into memory.

    Raises
    ------
    DataError
        If no file matches. Whether the files can be read shows when they are.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
    ...     _ = file.write("the DT\\ncat NN\\n\\nthe DT\\n")
    ...     file.flush()
    ...     source = conll_source(file.name, rename={"tag": "pos"})
    ...     source.columns, source.read()
    (['word', 'pos'], <2 sentences, 3 tokens, columns word, pos>)
    """
    found = [path if files.is_stream(path) else os.path.abspath(path) for path in files.expand(paths)]
    given = None if columns is None else list(columns)
    return ConllSource(found, given, separator, conllu, dict(rename or {}))
