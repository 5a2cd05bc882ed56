"""What the log of a model holds: rows of requests, first answers, predictions that wait."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple
from zlib import crc32

from msgspec import json


class Row(NamedTuple):
    """Requests of the log, from position `first` to `last`.

    kind: "json" for one request a line; otherwise the format of one large body. settings: of that format, as JSON.
    """

    first: int
    last: int
    examples: int
    kind: str
    settings: str
    body: bytes


class Waits(NamedTuple):
    """A prediction that waits for its label: x and what was predicted as JSON, and the time."""

    id: str
    x: bytes
    given: str
    made: float


class Kept(NamedTuple):
    """The first answer to a request with a key. digest: of the request."""

    digest: bytes
    status: int
    answer: bytes


@dataclass
class Group:
    """Requests that one commit serves."""

    first: int = 0
    lines: list[bytes] = field(default_factory=list)
    examples: int = 0
    answers: list[tuple[str, bytes, int, int, bytes]] = field(default_factory=list)
    pending: list[Waits | str] = field(default_factory=list)  # predictions that wait from now on, ids that no longer do
    large: Row | None = None  # without its body, which `Log.stage` has written
    entry: int = 0  # the row that `Log.stage` has written
    crc: int = 0  # of the body of that row

    @property
    def is_plain(self) -> bool:
        """Whether it has only lines."""
        return bool(self.lines) and not (self.answers or self.pending or self.large)

    @property
    def first_position(self) -> int:
        """The position of its first request."""
        return self.first if self.large is None else self.large.first

    @property
    def last(self) -> int:
        """The position of its last request."""
        return self.first + len(self.lines) - 1 if self.large is None else self.large.last


def checksum_of(row: Row, number: int, crc: int) -> int:
    """The checksum of a row of the log. number: of its commit. crc: of its body, which may be in pieces."""
    facts = f"{number} {row.first} {row.last} {row.examples} {row.kind}\n{row.settings}"
    return crc32(facts.encode(), crc)


def seal(*fields: str | bytes | float) -> int:
    """The checksum of a row of another table."""
    return crc32(repr(fields).encode())


def n_examples_of(line: bytes) -> int:
    """The number of examples of one request."""
    found = json.decode(line)
    return len(found["examples"]) if "examples" in found else 1


def part_of(row: Row, after: int, to: int) -> Row:
    """The part of a row that lies after a position and not beyond another."""
    if row.kind != "json" or (row.first > after and row.last <= to):
        return row
    lines = row.body.split(b"\n")[max(0, after + 1 - row.first) : to - row.first + 1]
    first = max(row.first, after + 1)
    return row._replace(
        first=first, last=first + len(lines) - 1, examples=sum(map(n_examples_of, lines)), body=b"\n".join(lines)
    )
