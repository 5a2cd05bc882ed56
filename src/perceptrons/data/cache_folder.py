"""The folder where copies of rows are kept: one that nobody but this user can write."""

from __future__ import annotations

import os
from contextlib import suppress

from perceptrons.core.jit.private import is_own
from perceptrons.data.atomic import POSIX, Folder, check_links


def open_folder(named: str | None, *, make: bool) -> Folder:
    """Open the folder for copies.

    Parameters
    ----------
    named : str or None
        A folder that the user chose. If others can write it, copies are kept in a folder of the user's own inside it.
        By default copies are kept in `perceptrons/rows` in the user's folder for caches.
    make : bool
        Whether to make the folder if it does not exist.

    Returns
    -------
    Folder

    Raises
    ------
    OSError
        If there is no such folder and it is not to be made, or if it cannot be used.
    """
    return _usual(make) if named is None else _chosen(named, make)


def _usual(make: bool) -> Folder:
    """The folder in the user's folder for caches, by the rules of the XDG Base Directory Specification."""
    caches = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(caches):
        caches = os.path.expanduser(os.path.join("~", ".cache"))
    if not os.path.isabs(caches):
        raise FileNotFoundError("this user has no home")
    path = os.path.join(caches, "perceptrons", "rows")
    if make:
        _make(path)
    return _own(Folder(path))


def _chosen(named: str, make: bool) -> Folder:
    """The folder that the user chose, or a folder of the user's own inside it."""
    check_links(os.fspath(named))
    path = os.path.realpath(named)
    if make:
        os.makedirs(path, 0o700, exist_ok=True)
    folder = Folder(path)
    if is_own(folder.place):
        return folder
    with folder:
        own = f"perceptrons-{os.geteuid()}"
        if make:
            with suppress(FileExistsError):
                folder.make(own)
        try:
            return _own(Folder(own, above=folder))
        except OSError as error:
            what = f"other users can write it, and {own} in it is not a folder that only you can write"
            raise PermissionError(error.errno, what) from error


def _own(folder: Folder) -> Folder:
    """The same folder, if nobody but this user and root can write it."""
    if not is_own(folder.place):
        with folder:
            raise PermissionError(f"others can write {folder.path}")
    return folder


def _make(path: str) -> None:
    """Make a folder and those above it, for this user only, but not in a folder of somebody else's.

    With sudo, the home may be that of another user, who could not use or remove folders of root.
    """
    if os.path.isdir(path):
        return
    above = os.path.dirname(path)
    _make(above)
    if POSIX and os.stat(above).st_uid not in (0, os.geteuid()):
        raise PermissionError(f"{above} belongs to another user")
    with suppress(FileExistsError):  # another process was faster
        os.mkdir(path, 0o700)
