"""The log of a model: every accepted request, in SQLite, on the disk before it is answered.

The database is in WAL mode with ``synchronous=FULL``, so a commit is one fsync. A row holds a group of requests that
one commit served, or one large request in pieces.

SQLite does not notice a flipped bit, so every row of every table has a checksum, commits are numbered, and a mark
outside of the database says how many there were. A log that ends before its mark is `lost`: it can be read, and nothing
is written until its owner has chosen a position to go on from.

Positions count requests from 1. A rollback marks rows as undone and deletes nothing.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from zlib import crc32

from msgspec import DecodeError, json

from perceptrons.serve.errors import Damaged
from perceptrons.serve.model.mark import MARK, Mark, Reached
from perceptrons.serve.model.records import Group, Kept, Row, checksum_of, n_examples_of, part_of, seal

VERSION = 2
PAGE = 1 << 12  # bytes of a page of the database
PIECE = 1 << 20  # bytes of a large body in one row
CHECKPOINT = 4 << 20  # bytes in the write-ahead file after which they move to the database

SCHEMA = (
    "CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL, checksum INTEGER NOT NULL)",
    """CREATE TABLE log(
    entry INTEGER PRIMARY KEY, number INTEGER NOT NULL,
    first INTEGER NOT NULL, last INTEGER NOT NULL, examples INTEGER NOT NULL,
    kind TEXT NOT NULL, settings TEXT NOT NULL, body BLOB NOT NULL, checksum INTEGER NOT NULL,
    undone INTEGER NOT NULL
)""",
    "CREATE UNIQUE INDEX log_by_position ON log(first) WHERE undone = 0 AND first > 0",
    "CREATE TABLE pieces(entry INTEGER, number INTEGER, body BLOB NOT NULL, PRIMARY KEY(entry, number))",
    """CREATE TABLE answers(
    key TEXT PRIMARY KEY, digest BLOB NOT NULL, position INTEGER NOT NULL, status INTEGER NOT NULL,
    answer BLOB NOT NULL, checksum INTEGER NOT NULL
) WITHOUT ROWID""",
    """CREATE TABLE pending(
    id TEXT PRIMARY KEY, x BLOB NOT NULL, given TEXT NOT NULL, made REAL NOT NULL, checksum INTEGER NOT NULL
) WITHOUT ROWID""",
    """CREATE TABLE snapshots(
    position INTEGER PRIMARY KEY, file TEXT NOT NULL, facts TEXT NOT NULL, checksum INTEGER NOT NULL
)""",
)
SEALED = {  # what the checksum of a row covers, in tables that are checked as a whole when the log is opened
    "meta": "name, value",
    "answers": "key, digest, position, status, answer",
    "pending": "id, x, given, made",
    "snapshots": "position, file, facts",
}


class Log:
    """The database of one model. One thread writes at a time; the caller sees to that."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        if not self.path.exists():
            raise Damaged(f"{self.path} is missing")
        self.ahead = 0  # bytes in the write-ahead file, about
        self.lost: str | None = None  # why nothing may be written, if acknowledged requests are missing
        self._writer: sqlite3.Connection | None = None
        self._mark: Mark | None = None
        self.answers = self._connected()  # for the thread of the event loop
        try:
            self._check()
            self._compare()
            if self.lost is None:
                self._open()
        except sqlite3.Error as error:
            self.close()
            raise Damaged(f"{path} cannot be read: {error}. Restore a copy of its folder") from error
        except BaseException:
            self.close()
            raise

    @classmethod
    def create(cls, path: str | os.PathLike[str], settings: dict[str, Any]) -> Log:
        """Make a new database with these settings of the model."""
        with sqlite3.connect(path) as connection:
            connection.execute(f"PRAGMA page_size={PAGE}")
            for statement in SCHEMA:
                connection.execute(statement)
            facts = {"version": VERSION, "settings": settings, "rollbacks": 0, "commits": 0}
            for name, value in facts.items():
                _set_meta(connection, name, json.encode(value).decode())
        connection.close()
        os.chmod(path, 0o600)
        Mark.create(Path(path).parent / MARK)
        return cls(path)

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection that writes."""
        if self._writer is None:
            raise Damaged(self.lost or f"{self.path} is closed")
        return self._writer

    def _open(self) -> None:
        """Open the connection that writes."""
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=10.0)
        self._writer = connection
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA wal_autocheckpoint=0")  # `checkpoint` is called after answers have been sent
        connection.execute(f"PRAGMA journal_size_limit={16 * CHECKPOINT}")
        connection.execute("PRAGMA trusted_schema=OFF")

    def _check(self) -> None:
        """Raise `Damaged` if a bit is wrong anywhere but in requests, which are checked when they are read."""
        with self.reading() as connection:
            found = connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid").fetchall()
            version = self.meta("version", connection) if found else None
            if version != VERSION:
                raise Damaged(
                    f"{self.path} has version {version} of the log format, but this perceptrons reads {VERSION}"
                )
            trouble = connection.execute("PRAGMA integrity_check(1)").fetchone()[0]
            if [sql for (sql,) in found] != list(SCHEMA) or trouble != "ok":
                raise Damaged(f"{self.path} is damaged ({trouble}): restore a copy of its folder")
            for table, fields in SEALED.items():
                for *row, checksum in connection.execute(f"SELECT {fields}, checksum FROM {table}"):
                    if seal(*row) != checksum:
                        raise Damaged(
                            f"{self.path} is damaged: {row[0]!r:.80} among {table} does not match its checksum. "
                            "Restore a copy of its folder"
                        )

    def _compare(self) -> None:
        """Compare with the mark what the log has, and take up its numbers."""
        with self.reading() as connection:
            noted = self.meta("commits", connection)
            newest = connection.execute("SELECT max(number) FROM log").fetchone()[0]
        self.commits = max(noted, newest or 0)  # the number of the last commit
        self.tail = self.last  # the last position
        path = self.path.parent / MARK
        try:
            self._mark = Mark(path)
            reached = self._mark.read()
        except FileNotFoundError:
            reached = None
        remedy = f"Restore a copy of its folder, or roll back to position {self.tail} to go on from there"
        if reached is None:
            self.lost = f"{path}, which says how long the log must be, is missing or damaged. {remedy}"
        elif self.commits < reached.commits or (self.commits == reached.commits and self.tail != reached.position):
            self.lost = (
                f"{self.path} has lost requests: it ends at position {self.tail} (commit {self.commits}), but position "
                f"{reached.position} (commit {reached.commits}) was acknowledged. {remedy}"
            )

    def go_on(self) -> None:
        """Go on with a log that has lost requests. What is left of its write-ahead file stays in a copy."""
        if self.lost is None:
            return
        ahead = Path(f"{self.path}-wal")
        if ahead.exists():
            shutil.copyfile(ahead, f"{ahead}.lost-{time.time_ns()}")
        if self._mark is None or self._mark.read() is None:
            (self.path.parent / MARK).unlink(missing_ok=True)
            Mark.create(self.path.parent / MARK)
            self._mark = Mark(self.path.parent / MARK)
        self.commits = max(self.commits, (self._mark.read() or Reached(0, 0)).commits)
        self._open()
        self.lost = None

    def close(self) -> None:
        """Close the connections; the last one to close moves the write-ahead file into the database."""
        for connection in (self.answers, self._writer):
            with suppress(sqlite3.Error):
                if connection is not None:
                    connection.close()
        if self._mark is not None:
            self._mark.close()
        self._writer = self._mark = None

    def _connected(self) -> sqlite3.Connection:
        """A connection that only reads, so that it never waits for the one that writes, and changes no file."""
        address = f"{self.path.absolute().as_uri()}?mode=ro"
        return sqlite3.connect(address, uri=True, check_same_thread=False, timeout=10.0, isolation_level=None)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """A connection for one reader, who sees one state of the log, the newest, from the first statement on.

        Everybody has a connection of their own: one that reads slowly does not keep an old state in front of others.
        """
        connection = self._connected()
        try:
            connection.execute("BEGIN")
            yield connection
        finally:
            connection.close()

    # -- writing ----------------------------------------------------------------------------------------------

    def append(self, group: Group) -> None:
        """Write a group in one transaction; all of it is on the disk when this returns, or nothing of it."""
        learns = bool(group.lines) or group.large is not None
        if group.entry == 0 and self.connection.in_transaction:
            raise RuntimeError("a commit began while another one was open")
        if learns and group.first_position != self.tail + 1:
            raise RuntimeError(f"position {group.first_position} would follow position {self.tail}")
        row = Row(group.first, group.last, group.examples, "json", "", b"\n".join(group.lines))
        self.ahead += 4 * PAGE  # pages of the table and the index, at least
        if group.is_plain:  # a statement of its own is a transaction, and takes Python's lock only once
            self._insert(row, self.commits + 1)
            self._done(group.last)
            return
        with self._transaction(group.last if learns else self.tail) as number:
            write = self.connection.execute
            if group.lines:
                self._insert(row, number)
            if group.large is not None:
                row = group.large
                write(
                    "UPDATE log SET number=?, first=?, last=?, examples=?, checksum=? WHERE entry=?",
                    (number, *row[:3], checksum_of(row, number, group.crc), group.entry),
                )
            for answer in group.answers:
                write("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)", (*answer, seal(*answer)))
            for each in group.pending:
                if isinstance(each, str):
                    write("DELETE FROM pending WHERE id=?", (each,))
                else:
                    write("INSERT OR REPLACE INTO pending VALUES (?, ?, ?, ?, ?)", (*each, seal(*each)))

    @contextmanager
    def _transaction(self, tail: int) -> Iterator[int]:
        """A commit with a number of its own, after which the last position is `tail`; all of it is done, or nothing."""
        number = self.commits + 1
        try:
            if not self.connection.in_transaction:  # `stage` has begun one for a large body
                self.connection.execute("BEGIN IMMEDIATE")
            yield number
            _set_meta(self.connection, "commits", str(number))
            self.connection.execute("COMMIT")
        except BaseException:
            self.cancel()
            raise
        self._done(tail)

    def _done(self, tail: int) -> None:
        """After a commit: count it, and raise the mark."""
        self.commits, self.tail = self.commits + 1, tail
        assert self._mark is not None
        self._mark.write(Reached(self.commits, self.tail))

    def probe(self) -> None:
        """Write something, to see whether the disk takes it."""
        _set_meta(self.connection, "probe", "0" * (1 << 16))

    def _insert(self, row: Row, number: int, undone: int = 0) -> None:
        self.ahead += len(row.body)
        self.connection.execute(
            "INSERT INTO log(number, first, last, examples, kind, settings, body, checksum, undone) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (number, *row, checksum_of(row, number, crc32(row.body)), undone),
        )

    def stage(self, kind: str, settings: str, body: memoryview) -> tuple[int, int]:
        """Write a large body without committing; returns the number of its row, and the CRC of the body.

        The row has no position and no checksum until `append` sets them.
        """
        self.connection.execute("BEGIN IMMEDIATE")
        cursor = self.connection.execute(
            "INSERT INTO log(number, first, last, examples, kind, settings, body, checksum, undone) "
            "VALUES (0, 0, 0, 0, ?, ?, x'', 0, 0)",
            (kind, settings),
        )
        entry, crc = int(cursor.lastrowid or 0), 0
        for number, begin in enumerate(range(0, len(body), PIECE)):
            piece = body[begin : begin + PIECE]
            crc = crc32(piece, crc)
            self.connection.execute("INSERT INTO pieces VALUES (?, ?, ?)", (entry, number, piece))
        self.ahead += len(body)
        return entry, crc

    def cancel(self) -> None:
        """Undo a transaction that has not been committed."""
        with suppress(sqlite3.Error):
            if self._writer is not None and self._writer.in_transaction:
                self._writer.execute("ROLLBACK")

    def checkpoint(self) -> None:
        """Move committed pages from the write-ahead file to the database if there are many; failing is no loss."""
        if self.ahead >= CHECKPOINT:
            with suppress(sqlite3.Error):
                self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
                self.ahead = 0
            if self._mark is not None:
                self._mark.sync()

    # -- snapshots, rollback, trimming ------------------------------------------------------------------------

    def note_snapshot(self, position: int, file: str, facts: dict[str, Any]) -> None:
        """Note a snapshot that is complete on the disk."""
        row = position, file, json.encode(facts).decode()
        with self._transaction(self.tail):
            self.connection.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?, ?)", (*row, seal(*row)))

    def snapshots(self, to: int | None = None) -> list[tuple[int, str, dict[str, Any]]]:
        """Position, file and facts of all snapshots up to a position, the newest first."""
        with self.reading() as connection:
            found = connection.execute(
                "SELECT position, file, facts FROM snapshots WHERE ? IS NULL OR position <= ? ORDER BY position DESC",
                (to, to),
            ).fetchall()
        return [(position, file, json.decode(facts)) for position, file, facts in found]

    def trim(self, position: int) -> None:
        """Delete the log up to a position that has a snapshot, and forget older snapshots."""
        with self._transaction(self.tail):
            execute = self.connection.execute
            execute("DELETE FROM pieces WHERE entry IN (SELECT entry FROM log WHERE last <= ?)", (position,))
            execute("DELETE FROM log WHERE last <= ?", (position,))
            execute("DELETE FROM answers WHERE position <= ? AND position > 0", (position,))
            execute("DELETE FROM snapshots WHERE position < ?", (position,))

    def undo(self, position: int, answer: tuple[str, bytes, int, int, bytes] | None = None) -> None:
        """Mark everything after a position as undone, and forget snapshots after it.

        answer: to the request with a key that asked for it.
        """
        self.go_on()
        with self._transaction(position) as number:
            execute = self.connection.execute
            undone = self.meta("rollbacks", self.connection) + 1
            _set_meta(self.connection, "rollbacks", str(undone))
            cut = execute(
                "SELECT entry, first, last, examples, kind, settings, body FROM log "
                "WHERE undone = 0 AND first <= ? AND last > ?",
                (position, position),
            ).fetchone()
            if cut is not None:  # a group, in the middle of which the position lies
                self._split(cut[0], Row(*cut[1:]), position, number, undone)
            execute("UPDATE log SET undone=? WHERE undone = 0 AND first > ?", (undone, position))
            execute("DELETE FROM snapshots WHERE position > ?", (position,))
            if answer is not None:
                execute("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)", (*answer, seal(*answer)))

    def _split(self, entry: int, row: Row, position: int, number: int, undone: int) -> None:
        """Replace a group by two: one up to the position, and the rest, which is undone."""
        lines, at = row.body.split(b"\n"), position - row.first + 1
        self.connection.execute("DELETE FROM log WHERE entry=?", (entry,))
        for first, part, mark in ((row.first, lines[:at], 0), (position + 1, lines[at:], undone)):
            examples = sum(n_examples_of(line) for line in part)
            part_row = Row(first, first + len(part) - 1, examples, row.kind, row.settings, b"\n".join(part))
            self._insert(part_row, number, mark)

    # -- reading ----------------------------------------------------------------------------------------------

    def meta(self, name: str, connection: sqlite3.Connection | None = None) -> Any:
        """A fact about the model: version, settings, rollbacks or commits."""
        try:
            found = (connection or self.answers).execute("SELECT value FROM meta WHERE name=?", (name,)).fetchone()
            if found is None:
                raise Damaged(f"{self.path} is damaged: it has no {name}. Restore a copy of its folder")
            return json.decode(found[0])
        except (sqlite3.DatabaseError, DecodeError) as error:
            raise Damaged(f"{self.path} is damaged: its {name} cannot be read ({error}). Restore a copy") from error

    @property
    def last(self) -> int:
        """The last position, or 0 if the log is empty."""
        with self.reading() as connection:
            found = connection.execute("SELECT max(last) FROM log WHERE undone = 0").fetchone()[0]
            newest = connection.execute("SELECT max(position) FROM snapshots").fetchone()[0]
        return max(found or 0, newest or 0)

    @property
    def begin(self) -> int:
        """The first position that the log still has, or will have."""
        with self.reading() as connection:
            found = connection.execute("SELECT min(first) FROM log WHERE undone = 0 AND first > 0").fetchone()[0]
        return int(found or self.last + 1)

    @property
    def examples(self) -> int:
        """Number of examples in the log."""
        with self.reading() as connection:
            found = connection.execute("SELECT sum(examples) FROM log WHERE undone = 0").fetchone()[0]
        return int(found or 0)

    @property
    def n_bytes(self) -> int:
        """Bytes on the disk."""
        total = 0
        for ending in ("", "-wal"):
            with suppress(OSError):
                total += os.path.getsize(f"{self.path}{ending}")
        return total

    def rows(self, after: int = 0, to: int | None = None) -> Iterator[Row]:
        """Requests after a position, up to another, in order; lines of groups that lie outside are left out.

        Raises `Damaged` if a row does not match its checksum, or if rows are missing.
        """
        end, position = to if to is not None else 2**62, after
        try:
            with self.reading() as connection:
                found = connection.execute(
                    "SELECT entry, number, first, last, examples, kind, settings, body, checksum FROM log "
                    "WHERE undone = 0 AND first > 0 AND last > ? AND first <= ? ORDER BY first",
                    (after, end),
                )
                for entry, number, *rest, checksum in found:
                    row = Row(*rest)
                    self._check_order(row, position)
                    body = row.body
                    if row.kind != "json":
                        pieces = connection.execute("SELECT body FROM pieces WHERE entry=? ORDER BY number", (entry,))
                        body = b"".join(piece for (piece,) in pieces)
                    if checksum_of(row, number, crc32(body)) != checksum:
                        raise Damaged(
                            f"{self.path} is damaged: the requests at positions {row.first} to {row.last} do not match "
                            f"their checksum. Roll back to position {row.first - 1} to go on without them, or restore "
                            "a copy"
                        )
                    yield part_of(row._replace(body=body), after, end)
                    position = row.last
        except sqlite3.DatabaseError as error:
            raise Damaged(f"{self.path} cannot be read after position {position}: {error}") from error

    def _check_order(self, row: Row, position: int) -> None:
        """Raise an error if requests are missing before a row, or are there twice."""
        if row.first > position + 1:
            raise Damaged(f"{self.path}: the requests at positions {position + 1} to {row.first - 1} are missing")
        if row.last < row.first or (row.kind != "json" and row.first <= position):
            raise Damaged(f"{self.path}: the requests at position {row.first} are there twice")

    def answer(self, key: str) -> Kept | None:
        """The first answer to a request with this key."""
        found = self.answers.execute("SELECT digest, status, answer FROM answers WHERE key=?", (key,)).fetchone()
        return None if found is None else Kept(*found)

    def pending(self) -> list[tuple[str, bytes, Any, float]]:
        """Predictions that wait for their labels: id, x, what was predicted, when; the oldest first."""
        with self.reading() as connection:
            found = connection.execute("SELECT id, x, given, made FROM pending ORDER BY made").fetchall()
        return [(id, x, json.decode(given), made) for id, x, given, made in found]


def _set_meta(connection: sqlite3.Connection, name: str, value: str) -> None:
    connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", (name, value, seal(name, value)))
