"""How much disk space all copies of rows may take, and which of them go first."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import NamedTuple

from perceptrons.data.atomic import Folder, remove_left_behind
from perceptrons.data.cache_file import MAGIC, is_stale
from perceptrons.data.files import DataError

NAME = r"[^/]*\.[0-9a-f]{16}\.cache"  # of a copy
SETTING = "PERCEPTRONS_CACHE_LIMIT"  # environment variable
PART = 10  # by default copies may take 1/PART of the disk
UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}  # powers of 2


class Kept(NamedTuple):
    """A copy in the folder."""

    read: int  # when it was last read, in nanoseconds
    size: int
    name: str


def limit_given() -> int | None:
    """The number of bytes in PERCEPTRONS_CACHE_LIMIT, such as 500M or 20G; None if it is not set."""
    given = os.environ.get(SETTING, "").strip()
    if not given:
        return None
    found = re.fullmatch(r"(\d{1,15}(?:\.\d*)?) *([KMGT]?)I?B?", given.upper())
    if found is None:
        raise DataError(f"{SETTING} must be a number of bytes such as 500M or 20G, got {given!r}")
    return int(float(found[1]) * 2 ** UNITS[found[2]])


def most_bytes(folder: Folder, given: int | None) -> int:
    """The number of bytes that all copies in a folder may take; by default a part of the disk.

    Parameters
    ----------
    folder : Folder
    given : int or None
        What the user chose.

    Returns
    -------
    int
    """
    if given is not None:
        return given
    if not hasattr(os, "statvfs"):
        return 1 << 62
    found = os.statvfs(folder.place)
    return found.f_blocks * found.f_frsize // PART


def remove_needless(folder: Folder, name: str, given: int | None) -> None:
    """Remove copies that nobody needs, what killed processes left behind, and the copies that are beyond the limit.

    Of the latter, those go first that nobody has read for the longest time. A process that reads from a removed copy
    has opened it, so that its rows stay.

    Parameters
    ----------
    folder : Folder
    name : str
        The copy in use, which stays.
    given : int or None
        The limit that the user chose.
    """
    remove_left_behind(folder, NAME)
    with suppress(OSError):
        room, others = most_bytes(folder, given), list[Kept]()
        for other in filter(re.compile(NAME).fullmatch, folder.names()):
            with suppress(OSError), folder.read(other) as file:
                state = os.fstat(file.fileno())
                ours = file.read(len(MAGIC)) == MAGIC
                file.seek(0)
                if other == name:
                    room -= state.st_size
                elif ours and is_stale(file):
                    folder.remove(other)
                elif ours:
                    others.append(Kept(state.st_mtime_ns, state.st_size, other))
        room -= sum(kept.size for kept in others)
        for kept in sorted(others):
            if room >= 0:
                break
            with suppress(OSError):
                folder.remove(kept.name)
                room += kept.size
