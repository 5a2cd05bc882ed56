"""Replace a file atomically: at every moment either the old file or the new one is complete.

The new file is written beside the old one, flushed to the disk, and renamed. A process that is killed leaves its
temporary file behind; the next one that saves there removes it. A lock, which ends with the process, shows whether a
temporary file is still being written.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import TracebackType
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # Windows does not remove open files, so they need no lock
    fcntl = None  # type: ignore[assignment]

POSIX = os.name == "posix"
# Whether files can be reached relative to an open folder.
RELATIVE = {os.open, os.stat, os.unlink, os.rename, os.mkdir} <= os.supports_dir_fd and os.listdir in os.supports_fd
# Never follow a link, and never wait for the other end of a pipe.
CAREFUL = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
LONGEST = 50  # characters of a name that its temporary file repeats: file systems limit names to 255 bytes
MOST_LINKS = 40  # that lead to one another, as in Linux


class Folder:
    """An open folder. Its files are those of this folder, even if another one takes its path meanwhile.

    Where a system cannot reach files relative to an open folder, they are reached by path.

    Parameters
    ----------
    path : str
        Of the folder itself, not of a link to it.
    above : Folder, optional
        The folder to find `path` in.
    """

    def __init__(self, path: str, above: Folder | None = None) -> None:
        self.path: str = path if above is None else os.path.join(above.path, path)
        self.handle: int | None = None
        if RELATIVE:
            within = None if above is None else above.handle
            flags = os.O_DIRECTORY | os.O_NOFOLLOW
            try:
                self.handle = os.open(path, flags | os.O_RDONLY, dir_fd=within)
            except PermissionError:  # a folder that cannot be listed may still be written
                if not hasattr(os, "O_PATH"):
                    raise
                self.handle = os.open(path, flags | os.O_PATH, dir_fd=within)

    def __enter__(self) -> Folder:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.handle is not None:
            os.close(self.handle)

    def _at(self, name: str) -> str:
        return os.path.join(self.path, name) if self.handle is None else name

    @property
    def place(self) -> str | int:
        """What functions of the system call this folder: its descriptor, or its path."""
        return self.path if self.handle is None else self.handle

    def names(self) -> list[str]:
        """The names of everything in the folder."""
        return os.listdir(self.place)

    def make(self, name: str) -> None:
        """Make a folder in this one, for this user only."""
        os.mkdir(self._at(name), 0o700, dir_fd=self.handle)

    def find(self, name: str) -> os.stat_result | None:
        """What has this name: a file, a link, or anything else; None if there is nothing."""
        try:
            return os.stat(self._at(name), dir_fd=self.handle, follow_symlinks=False)
        except FileNotFoundError:
            return None

    def create(self, name: str, mode: int) -> BinaryIO:
        """Make a new file, and open it for writing and reading."""

        def opener(_: str, flags: int) -> int:
            return os.open(self._at(name), flags, mode, dir_fd=self.handle)

        return open(os.path.join(self.path, name), "x+b", opener=opener)

    def read(self, name: str) -> BinaryIO:
        """Open a regular file that this user owns; raise an OSError for anything else."""

        def opener(_: str, flags: int) -> int:
            return os.open(self._at(name), flags | CAREFUL, dir_fd=self.handle)

        file = open(os.path.join(self.path, name), "rb", opener=opener)
        found = os.fstat(file.fileno())
        if stat.S_ISREG(found.st_mode) and is_mine(found):
            return file
        file.close()
        raise PermissionError(f"{os.path.join(self.path, name)} is not a regular file of this user")

    def rename(self, old: str, new: str) -> None:
        """Rename a file; it replaces the one that has the new name."""
        os.replace(self._at(old), self._at(new), src_dir_fd=self.handle, dst_dir_fd=self.handle)

    def remove(self, name: str) -> None:
        """Remove a file."""
        os.unlink(self._at(name), dir_fd=self.handle)

    def sync(self) -> None:
        """Flush names to the disk."""
        if self.handle is None:
            return
        with suppress(PermissionError):  # a folder that cannot be listed
            again = os.open(os.curdir, os.O_RDONLY | os.O_DIRECTORY, dir_fd=self.handle)
            try:
                os.fsync(again)
            finally:
                os.close(again)


def is_mine(status: os.stat_result) -> bool:
    """Tell whether a file or folder belongs to this user."""
    return not POSIX or status.st_uid == os.geteuid()


@contextmanager
def replaced(path: str | os.PathLike[str], *, durable: bool = True) -> Iterator[BinaryIO]:
    """Open a file that replaces the one at `path` when the block ends without an error.

    After an error the old file is unchanged. A file of this user keeps its permissions and its group; any other file
    is replaced by one with the usual permissions of new files.

    Parameters
    ----------
    path : str or path
        A link is followed, unless another user made it.
    durable : bool, default=True
        Wait until the new file is on the disk. Without this, a power failure may leave a damaged file.

    Yields
    ------
    binary file
    """
    check_links(os.fspath(path))
    target = os.path.realpath(path)  # replace the target of a link, not the link
    try:
        folder = Folder(os.path.dirname(target))
    except OSError as error:  # report the name that the caller gave
        raise OSError(error.errno, error.strerror, target) from None
    with folder, replaced_in(folder, os.path.basename(target), durable=durable) as file:
        yield file


@contextmanager
def replaced_in(folder: Folder, name: str, *, private: bool = False, durable: bool = True) -> Iterator[BinaryIO]:
    """Open a file that replaces the one of this name in a folder when the block ends without an error.

    Parameters
    ----------
    folder : Folder
    name : str
    private : bool, default=False
        Whether only this user may read the new file, whatever the permissions of the old one.
    durable : bool, default=True
        See `replaced`.

    Yields
    ------
    binary file
    """
    old = None if private else _old(folder, name)
    kept = old if old is not None and is_mine(old) else None
    remove_left_behind(folder, re.escape(name[:LONGEST]))
    with _temporary(folder, name, 0o600 if private or kept is not None else 0o666) as file:
        part = os.path.basename(file.name)
        try:
            yield file
            file.flush()
            if kept is not None and POSIX:
                _keep_permissions(file.fileno(), kept)
            if durable:
                os.fsync(file.fileno())
            if fcntl is None:  # Windows does not rename open files
                file.close()
            folder.rename(part, name)  # elsewhere the lock is still held, so that nobody removes it
        except BaseException:
            with suppress(OSError):  # the disk may be full
                file.close()  # Windows does not remove open files
            with suppress(OSError):
                folder.remove(part)
            raise
    if durable:
        folder.sync()


def check_target(path: str | os.PathLike[str]) -> None:
    """Raise an OSError if `replaced` would refuse this path, before long work is done for it.

    Parameters
    ----------
    path : str or path
        In a folder that exists.
    """
    check_links(os.fspath(path))
    folder, name = os.path.split(os.path.realpath(path))
    with Folder(folder) as opened:
        _old(opened, name)


def check_links(path: str) -> None:
    """Refuse a path with a link that another user made: it could lead to any file of this user's.

    On the way to the last part, links in folders that not everybody can write are trusted, as Linux does.

    Parameters
    ----------
    path : str
    """
    here, ahead, followed = os.sep, _parts(os.path.join(os.getcwd(), path)), 0
    while POSIX and ahead and followed < MOST_LINKS:
        part = ahead.pop()
        step = os.path.dirname(here) if part == os.pardir else os.path.join(here, part)
        if not os.path.islink(step):
            here = step
            continue
        open_to_all = os.stat(here).st_mode & stat.S_IWOTH
        if os.lstat(step).st_uid not in (0, os.geteuid()) and (open_to_all or not ahead):
            raise OSError(f"{step} is a link that another user made: name the file that you want to write")
        target = os.readlink(step)
        here = os.sep if os.path.isabs(target) else here
        ahead += _parts(target)
        followed += 1


def _parts(path: str) -> list[str]:
    """The parts of a path, the last one first."""
    return [part for part in reversed(path.split(os.sep)) if part not in ("", os.curdir)]


def _old(folder: Folder, name: str) -> os.stat_result | None:
    """The existing file, if any; refuse devices and pipes."""
    found = folder.find(name or os.curdir)
    if found is not None and not stat.S_ISREG(found.st_mode):
        raise OSError(f"{os.path.join(folder.path, name)} is not a regular file: save under another name")
    return found


def _keep_permissions(file: int, old: os.stat_result) -> None:
    """Give a file the group and the permissions of the one that it replaces."""
    mode = stat.S_IMODE(old.st_mode) & 0o777
    if old.st_gid != os.fstat(file).st_gid:
        try:
            os.fchown(file, -1, old.st_gid)
        except OSError:  # another group has no more rights than everybody
            mode = mode & ~0o070 | (mode & 0o007) << 3
    os.fchmod(file, mode)


@contextmanager
def _temporary(folder: Folder, name: str, mode: int) -> Iterator[BinaryIO]:
    """A new, locked file in the folder, to be renamed to `name`."""
    while True:
        part = f".{name[:LONGEST]}.{secrets.token_hex(8)}.tmp"
        try:
            file = folder.create(part, mode)
        except OSError as error:  # report the name that the caller gave
            raise OSError(error.errno, error.strerror, os.path.join(folder.path, name)) from None
        with file:
            if fcntl is not None:
                with suppress(OSError):  # some network drives have no locks
                    fcntl.flock(file, fcntl.LOCK_EX)
            if folder.find(part) is not None:  # another process may have removed it before it was locked
                yield file
                return


def remove_left_behind(folder: Folder, names: str) -> None:
    """Remove temporary files of this user whose writers have ended.

    Parameters
    ----------
    folder : Folder
    names : str
        A regular expression for the first `LONGEST` characters of the names that they would have got.
    """
    if fcntl is None:
        return
    pattern = re.compile(rf"\.{names}\.[0-9a-f]{{16}}\.tmp")
    with suppress(OSError):
        for name in filter(pattern.fullmatch, folder.names()):
            with suppress(OSError), folder.read(name) as file:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                folder.remove(name)
