"""Text of CSV files in other encodings than UTF-8."""

from __future__ import annotations

import codecs
import io
import re
from typing import Any

from perceptrons.data import files
from perceptrons.data.files import DataError

CHUNK = 1 << 20  # bytes
BOM = codecs.BOM_UTF8
WIDE = {codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}


class Recoded(io.RawIOBase):
    """A stream of text in any encoding, as UTF-8."""

    def __init__(self, stream: Any, begin: bytes, encoding: str, where: str) -> None:
        self.stream, self.encoding, self.where = stream, encoding, where
        self.decoder = codecs.getincrementaldecoder(encoding)("strict")
        self.begin, self.ready, self.ended = begin, memoryview(b""), False

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self.ready and not self.ended:
            content, self.begin = self.begin + self.stream.read(CHUNK), b""
            self.ended = not content
            try:
                text = self.decoder.decode(content, final=self.ended)
            except UnicodeError as error:
                what = f"the text is not {self.encoding}: {error}"
                raise DataError(
                    f"{self.where}: {what}. Name its encoding with encoding='latin-1', for instance"
                ) from None
            self.ready = memoryview(text.removeprefix("\ufeff").encode("utf-8", "replace"))
        size = min(len(buffer), len(self.ready))
        buffer[:size] = self.ready[:size]
        self.ready = self.ready[size:]
        return size


def decoded(stream: files.Stream, encoding: str | None, where: str, notes: set[str]) -> tuple[Any, memoryview]:
    """Find the encoding of a file.

    Parameters
    ----------
    stream : files.Stream
    encoding : str, optional
        Its encoding, if it is known.
    where : str
        The file, for messages.
    notes : set of str
        What was guessed is added to it.

    Returns
    -------
    content : stream
        The text in UTF-8, or in an encoding that `to_text` recognises.
    begin : memoryview
        The bytes before it.
    """
    begin = stream.read(len(BOM))
    if begin == BOM:
        return stream, memoryview(b"")
    if encoding is None and begin[:2] in WIDE:
        encoding = WIDE[begin[:2]]
        notes.add(f"{where} is read as UTF-16")
    if encoding is None or codecs.lookup(encoding).name == "utf-8":
        return stream, memoryview(begin)
    return Recoded(stream, begin, encoding, where), memoryview(b"")


def to_text(content: bytes, notes: set[str]) -> str:
    """Decode text that should be UTF-8, but may be Windows-1252, or damaged.

    Parameters
    ----------
    content : bytes
    notes : set of str
        What was guessed is added to it.

    Returns
    -------
    str

    Examples
    --------
    >>> to_text(b"M\\xfcller", set()), to_text("Müller Jürß".encode() + b"\\xff", set())
    ('Müller', 'Müller Jürß\ufffd')
    """
    try:
        return content.decode()
    except UnicodeDecodeError:
        text = content.decode("utf-8", "surrogateescape")
    wrong = len(re.findall("[\udc80-\udcff]", text))
    if len(re.findall("[^\0-\x7f]", text)) > 2 * wrong:  # more letters are right than wrong
        notes.add("some bytes are not UTF-8, and are replaced: if all should be read, name the encoding with encoding")
        return content.decode("utf-8", "replace")
    notes.add("the text is not UTF-8, and is read as Windows-1252: if that is wrong, name the encoding with encoding")
    try:
        return content.decode("cp1252")
    except UnicodeDecodeError:  # it leaves some bytes without a meaning
        return content.decode("latin-1")
