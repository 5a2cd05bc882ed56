"""The log of a model: every accepted request, in SQLite, on the disk before it is answered.

The database is in WAL mode with ``synchronous=FULL``, so a commit is one fsync. A row holds a group of requests that
one commit served, or one large request in pieces. Each row has a checksum: SQLite does not notice a flipped bit.

Positions count requests from 1. A rollback marks rows as undone and deletes nothing.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from zlib import crc32

from msgspec import json

from perceptrons.serve.errors import Damaged
from perceptrons.serve.model.records import Group, Kept, Row, checksum_of, n_examples_of, part_of

VERSION = 1
PAGE = 1 << 12  # bytes of a page of the database
PIECE = 1 << 20  # bytes of a large body in one row
CHECKPOINT = 4 << 20  # bytes in the write-ahead file after which they move to the database

SCHEMA = """
CREATE TABLE meta(name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE log(
    entry INTEGER PRIMARY KEY,
    first INTEGER NOT NULL, last INTEGER NOT NULL, examples INTEGER NOT NULL,
    kind TEXT NOT NULL, settings TEXT NOT NULL, body BLOB NOT NULL, checksum INTEGER NOT NULL,
    undone INTEGER NOT NULL DEFAULT 0
);
CREATE UNIQUE INDEX log_by_position ON log(first) WHERE undone = 0 AND first > 0;
CREATE TABLE pieces(entry INTEGER, number INTEGER, body BLOB NOT NULL, PRIMARY KEY(entry, number));
CREATE TABLE answers(
    key TEXT PRIMARY KEY, digest BLOB NOT NULL, position INTEGER NOT NULL, status INTEGER NOT NULL, answer BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE pending(id TEXT PRIMARY KEY, x BLOB NOT NULL, given TEXT NOT NULL, made REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE snapshots(position INTEGER PRIMARY KEY, file TEXT NOT NULL, facts TEXT NOT NULL);
"""


class Log:
    """The database of one model. One thread writes at a time; the caller sees to that."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self.connection = self._open()
        self.ahead = 0  # bytes in the write-ahead file, about
        try:
            self.answers = self._connected()  # for the thread of the event loop
            version = self.meta("version")
            if version != VERSION:
                raise Damaged(f"{path} has version {version} of the log format, but this perceptrons reads {VERSION}")
            self.tail = self.last  # the last position
        except sqlite3.Error as error:
            self.connection.close()
            raise Damaged(f"{path} cannot be read: {error}") from error
        except Damaged:
            self.connection.close()
            raise

    @classmethod
    def create(cls, path: str | os.PathLike[str], settings: dict[str, Any]) -> Log:
        """Make a new database with these settings of the model."""
        with sqlite3.connect(path) as connection:
            connection.execute(f"PRAGMA page_size={PAGE}")
            connection.executescript(SCHEMA)
            facts = {"version": VERSION, "settings": settings, "rollbacks": 0}
            connection.executemany(
                "INSERT INTO meta VALUES (?, ?)", [(name, json.encode(value).decode()) for name, value in facts.items()]
            )
        connection.close()
        os.chmod(path, 0o600)
        return cls(path)

    def _open(self) -> sqlite3.Connection:
        if not self.path.exists():
            raise Damaged(f"{self.path} is missing")
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False, timeout=10.0)
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA wal_autocheckpoint=0")  # `checkpoint` is called after answers have been sent
        connection.execute(f"PRAGMA journal_size_limit={16 * CHECKPOINT}")
        connection.execute("PRAGMA trusted_schema=OFF")
        return connection

    def close(self) -> None:
        """Close the connections; the last one to close moves the write-ahead file into the database."""
        for connection in (self.answers, self.connection):
            with suppress(sqlite3.Error):
                connection.close()

    def _connected(self) -> sqlite3.Connection:
        """A connection that only reads, so that it never waits for the one that writes."""
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
        write = self.connection.execute
        if group.entry == 0 and self.connection.in_transaction:
            raise RuntimeError("a commit began while another one was open")
        if (group.lines or group.large is not None) and group.first_position != self.tail + 1:
            raise RuntimeError(f"position {group.first_position} would follow position {self.tail}")
        try:
            if group.is_plain:  # a statement of its own is a transaction, and takes Python's lock only once
                self._insert(Row(group.first, group.last, group.examples, "json", "", b"\n".join(group.lines)))
                self._done(group)
                return
            if not self.connection.in_transaction:  # `stage` has begun one for a large body
                write("BEGIN IMMEDIATE")
            if group.lines:
                body = b"\n".join(group.lines)
                self._insert(Row(group.first, group.last, group.examples, "json", "", body))
            if group.large is not None:
                row = group.large
                write(
                    "UPDATE log SET first=?, last=?, examples=? WHERE entry=?",
                    (row.first, row.last, row.examples, group.entry),
                )
            if group.answers:
                self.connection.executemany("INSERT INTO answers VALUES (?, ?, ?, ?, ?)", group.answers)
            for each in group.pending:
                if isinstance(each, str):
                    write("DELETE FROM pending WHERE id=?", (each,))
                else:
                    write("INSERT OR REPLACE INTO pending VALUES (?, ?, ?, ?)", each)
            write("COMMIT")
        except BaseException:
            self.cancel()
            raise
        self._done(group)

    def _done(self, group: Group) -> None:
        self.ahead += 4 * PAGE  # pages of the table and the index, at least
        if group.lines or group.large is not None:
            self.tail = group.last

    def probe(self) -> None:
        """Write something, to see whether the disk takes it."""
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES ('probe', hex(zeroblob(?)))", (1 << 15,))

    def _insert(self, row: Row) -> int:
        self.ahead += len(row.body)
        checksum = checksum_of(row.kind, row.settings, row.body)
        cursor = self.connection.execute(
            "INSERT INTO log(first, last, examples, kind, settings, body, checksum) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (*row, checksum),
        )
        return int(cursor.lastrowid or 0)

    def stage(self, kind: str, settings: str, body: memoryview) -> int:
        """Write a large body without committing; returns the number of its row, which has no position yet.

        Positions of staged rows are 0 until `append` sets them.
        """
        self.connection.execute("BEGIN IMMEDIATE")
        entry = self._insert(Row(0, 0, 0, kind, settings, b""))
        checksum = checksum_of(kind, settings, b"")
        for number, begin in enumerate(range(0, len(body), PIECE)):
            piece = body[begin : begin + PIECE]
            checksum = crc32(piece, checksum)
            self.connection.execute("INSERT INTO pieces VALUES (?, ?, ?)", (entry, number, piece))
        self.connection.execute("UPDATE log SET checksum=? WHERE entry=?", (checksum, entry))
        self.ahead += len(body)
        return entry

    def cancel(self) -> None:
        """Undo a transaction that has not been committed."""
        with suppress(sqlite3.Error):
            if self.connection.in_transaction:
                self.connection.execute("ROLLBACK")

    def checkpoint(self) -> None:
        """Move committed pages from the write-ahead file to the database if there are many; failing is no loss."""
        if self.ahead >= CHECKPOINT:
            with suppress(sqlite3.Error):
                self.connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchall()
                self.ahead = 0

    # -- snapshots, rollback, trimming ------------------------------------------------------------------------

    def note_snapshot(self, position: int, file: str, facts: dict[str, Any]) -> None:
        """Note a snapshot that is complete on the disk."""
        text = json.encode(facts).decode()
        self.connection.execute("INSERT OR REPLACE INTO snapshots VALUES (?, ?, ?)", (position, file, text))

    def snapshots(self, to: int | None = None) -> list[tuple[int, str, dict[str, Any]]]:
        """Position, file and facts of all snapshots up to a position, the newest first."""
        with self.reading() as connection:
            found = connection.execute(
                "SELECT position, file, facts FROM snapshots WHERE ? IS NULL OR position <= ? ORDER BY position DESC",
                (to, to),
            ).fetchall()
        return [(position, file, json.decode(facts)) for position, file, facts in found]

    def trim(self, position: int) -> list[str]:
        """Delete the log up to a position that has a snapshot, and older snapshots; returns the files of these."""
        execute = self.connection.execute
        try:
            execute("BEGIN IMMEDIATE")
            execute("DELETE FROM pieces WHERE entry IN (SELECT entry FROM log WHERE last <= ?)", (position,))
            execute("DELETE FROM log WHERE last <= ?", (position,))
            execute("DELETE FROM answers WHERE position <= ? AND position > 0", (position,))
            files = execute("SELECT file FROM snapshots WHERE position < ?", (position,)).fetchall()
            execute("DELETE FROM snapshots WHERE position < ?", (position,))
            execute("COMMIT")
        except BaseException:
            self.cancel()
            raise
        return [file for (file,) in files]

    def undo(self, position: int, answer: tuple[str, bytes, int, int, bytes] | None = None) -> list[str]:
        """Mark everything after a position as undone; returns the files of snapshots after it.

        answer: to the request with a key that asked for it.
        """
        execute = self.connection.execute
        try:
            execute("BEGIN IMMEDIATE")
            number = self.meta("rollbacks", self.connection) + 1
            execute("UPDATE meta SET value=? WHERE name='rollbacks'", (str(number),))
            cut = execute(
                "SELECT entry, first, last, examples, kind, settings, body FROM log "
                "WHERE undone = 0 AND first <= ? AND last > ?",
                (position, position),
            ).fetchone()
            if cut is not None:  # a group, in the middle of which the position lies
                self._split(cut[0], Row(*cut[1:]), position)
            execute("UPDATE log SET undone=? WHERE undone = 0 AND first > ?", (number, position))
            files = execute("SELECT file FROM snapshots WHERE position > ?", (position,)).fetchall()
            execute("DELETE FROM snapshots WHERE position > ?", (position,))
            if answer is not None:
                execute("INSERT INTO answers VALUES (?, ?, ?, ?, ?)", answer)
            execute("COMMIT")
        except BaseException:
            self.cancel()
            raise
        self.tail = position
        return [file for (file,) in files]

    def _split(self, entry: int, row: Row, position: int) -> None:
        """Replace a group by two: one up to the position, and the rest."""
        lines, at = row.body.split(b"\n"), position - row.first + 1
        self.connection.execute("DELETE FROM log WHERE entry=?", (entry,))
        for first, part in ((row.first, lines[:at]), (position + 1, lines[at:])):
            examples = sum(n_examples_of(line) for line in part)
            self._insert(Row(first, first + len(part) - 1, examples, row.kind, row.settings, b"\n".join(part)))

    # -- reading ----------------------------------------------------------------------------------------------

    def meta(self, name: str, connection: sqlite3.Connection | None = None) -> Any:
        """A fact about the model: version, settings or rollbacks."""
        try:
            found = (connection or self.connection).execute("SELECT value FROM meta WHERE name=?", (name,)).fetchone()
        except sqlite3.DatabaseError as error:
            raise Damaged(f"{self.path} cannot be read: {error}") from error
        if found is None:
            raise Damaged(f"{self.path} has no {name}")
        return json.decode(found[0])

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
                    "SELECT entry, first, last, examples, kind, settings, body, checksum FROM log "
                    "WHERE undone = 0 AND first > 0 AND last > ? AND first <= ? ORDER BY first",
                    (after, end),
                )
                for entry, *rest, checksum in found:
                    row = Row(*rest)
                    self._check_order(row, position)
                    body, actual = row.body, checksum_of(row.kind, row.settings, row.body)
                    if row.kind != "json":
                        pieces = connection.execute("SELECT body FROM pieces WHERE entry=? ORDER BY number", (entry,))
                        body = b"".join(piece for (piece,) in pieces)
                        actual = crc32(body, actual)
                    if actual != checksum:
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
