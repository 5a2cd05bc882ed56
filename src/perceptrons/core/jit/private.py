"""Check that no other user can write a folder or a file.

Machine code on disk is run as it is, and Numba's cache holds pickles, which can run anything. Both are read only from
places that nobody but the current user and root can change. The rules are those of ssh for its keys.
"""

from __future__ import annotations

import os
import stat
from functools import cache

COMPILED = (".nbi", ".nbc")  # the endings of Numba's files


@cache  # the answer is needed for every compiled function, and there are few folders
def is_private(folder: str) -> bool:
    """Tell whether only this user and root can change the folder, Numba's files in it, and the folders above it.

    Sticky folders above it, such as /tmp, may be open to everyone: nobody can rename or remove there what belongs to
    somebody else. The answer is always True where permissions are not those of POSIX.
    """
    if os.name != "posix":
        return True
    try:
        if not (is_own(os.stat(folder)) and _is_reached_safely(os.path.abspath(folder))):
            return False
        with os.scandir(folder) as entries:
            return all(is_own(entry.stat()) for entry in entries if entry.name.endswith(COMPILED))
    except OSError:
        return False


def _is_reached_safely(path: str) -> bool:
    """Tell whether no other user can replace the folder at this path, a folder above it, or a link on the way."""
    status, above = os.lstat(path), os.path.dirname(path)
    if not is_own(status, above=True):
        return False
    if stat.S_ISLNK(status.st_mode) and not _is_reached_safely(os.path.realpath(path)):
        return False
    return above == path or _is_reached_safely(above)


def is_own(status: os.stat_result, above: bool = False) -> bool:
    """Tell whether only this user and root can write a file or folder; `above`: a folder that holds the one in use."""
    mode = status.st_mode
    if status.st_uid not in (0, os.geteuid()):
        return False
    if stat.S_ISLNK(mode) or (above and mode & stat.S_ISVTX):
        return True
    return not mode & stat.S_IWOTH and (not mode & stat.S_IWGRP or _has_no_other_member(status.st_gid))


def _has_no_other_member(group: int) -> bool:
    """Tell whether this is the user's private group. Many systems give every user one, and let it write by default."""
    try:
        import grp
        import pwd

        user, members = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except (ImportError, KeyError):
        return False
    same = (members.gr_gid, members.gr_name) == (user.pw_gid, user.pw_name)
    return same and not set(members.gr_mem) - {user.pw_name}
