"""Check that no other user can write a folder or a file.

Machine code on disk is run as it is, and code that Numba calls is kept in pickles, which can run anything. Both are
read only from places that nobody but the current user and root can change. The rules are those of ssh for its keys.
"""

from __future__ import annotations

import os
import stat
from functools import cache


def is_private(folder: str) -> bool:
    """Tell whether only this user and root can change the folder, the folders above it, and the links on the way.

    Sticky folders above it, such as /tmp, may be open to everyone: nobody can rename or remove there what belongs to
    somebody else. The answer is always True where permissions are not those of POSIX.
    """
    if os.name != "posix":
        return True
    try:
        return is_own(folder) and _is_reached_safely(os.path.abspath(folder))
    except OSError:
        return False


def _is_reached_safely(path: str) -> bool:
    """Go from the root to the folder, through every link, and tell whether no other user can replace a part."""
    here, ahead = "/", _parts(path)
    safe = _is_safe(here, os.stat(here), above=True)
    while safe and ahead:
        part = ahead.pop()
        if part == "..":
            here = os.path.dirname(here)
            continue
        step = os.path.join(here, part)
        status = os.lstat(step)
        safe = _is_safe(step, status, above=True)
        if stat.S_ISLNK(status.st_mode):  # not in a loop of links: `is_own` would have failed
            target = os.readlink(step)
            here = "/" if target.startswith("/") else here
            ahead += _parts(target)
        else:
            here = step
    return safe


def _parts(path: str) -> list[str]:
    """List the parts of a path, the last one first."""
    return [part for part in reversed(path.split("/")) if part not in ("", ".")]


def is_own(place: str | int) -> bool:
    """Tell whether only this user and root can write a file or folder, given as a path or a descriptor."""
    return os.name != "posix" or _is_safe(place, os.stat(place))


def _is_safe(place: str | int, status: os.stat_result, above: bool = False) -> bool:
    """Judge one part of a path; `above`: a link, or a folder on the way to the one in use."""
    mode = status.st_mode
    if status.st_uid not in (0, os.geteuid()):
        return False
    if stat.S_ISLNK(mode) or (above and mode & stat.S_ISVTX):
        return True
    if mode & stat.S_IWOTH:
        return False
    return not mode & stat.S_IWGRP or (_has_no_other_member(status.st_gid) and not _has_list(place))


@cache  # a list of users may be long
def _has_no_other_member(group: int) -> bool:
    """Tell whether this is the user's private group. Many systems give every user one, and let it write by default."""
    try:
        import grp
        import pwd

        user, members = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except (ImportError, KeyError):
        return False
    if (members.gr_gid, members.gr_name) != (user.pw_gid, user.pw_name) or set(members.gr_mem) - {user.pw_name}:
        return False
    return all(other.pw_uid == user.pw_uid for other in pwd.getpwall() if other.pw_gid == group)


def _has_list(place: str | int) -> bool:
    """Tell whether an access control list names others who may write. (The mode shows them as the group.)"""
    try:
        return bool(os.getxattr(place, "system.posix_acl_access"))
    except (AttributeError, OSError):  # not Linux; no list
        return False
