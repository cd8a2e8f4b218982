"""Find the folder in which compiled loops and kernels are kept for later processes."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import warnings
from contextlib import suppress
from functools import cache
from pathlib import Path


@cache
def cache_folder() -> Path:
    """Return the folder for compiled code: GRAPHLA_CACHE_DIR if it is set, otherwise the user's
    cache folder.

    If this process cannot write to that folder, or if another user can write to it, return a
    private folder of this process instead. Numba's index files are pickles, so a user who can write
    to the folder can run code in this process.
    """
    named = os.environ.get("GRAPHLA_CACHE_DIR")
    try:
        folder = Path(named or _user_cache() / "graphla")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = folder.resolve()
        with tempfile.TemporaryFile(dir=folder):
            danger = _danger(folder)
    except (OSError, RuntimeError):  # RuntimeError means that the user has no home folder
        return private_folder()
    if danger and named:
        warnings.warn(
            f"GRAPHLA_CACHE_DIR is ignored: {danger}, so another user could place code there; this "
            "process keeps its compiled code in a private folder",
            RuntimeWarning,
            stacklevel=2,
        )
    return private_folder() if danger else folder


def _danger(folder: Path) -> str | None:
    """Return the reason why another user could change the folder or a file in it, or None."""
    if os.name != "posix":
        return None
    if danger := _why_unsafe(folder):
        return danger
    for path in folder.parents:  # in a sticky folder such as /tmp, only owners can rename entries
        if danger := _why_unsafe(path, but=stat.S_ISVTX):
            return danger
    for place in (folder, folder / "__pycache__"):
        with suppress(FileNotFoundError), os.scandir(place) as entries:
            for entry in entries:  # there may be thousands, and Path objects would be slow
                if danger := _why_unsafe(entry):
                    return danger
    return None


def _why_unsafe(path: Path | os.DirEntry[str], but: int = 0) -> str | None:
    """Return the reason why another user could change the file or folder at `path`, or None if no
    other user could.

    A path is safe if this user or root owns it, and if no other user can write to it. The second
    condition does not apply if the mode of the path has the bit given as `but`, such as the sticky
    bit.
    """
    try:
        state = path.stat()
    except FileNotFoundError:  # another process has just removed it
        return None
    if state.st_uid not in (0, os.geteuid()):
        return f"{os.fspath(path)} belongs to another user"
    is_open = state.st_mode & 0o002 or (state.st_mode & 0o020 and not _is_own(state.st_gid))
    if not is_open or state.st_mode & but:
        return None
    return f"{os.fspath(path)} is writable by other users"


def _is_own(gid: int) -> bool:
    """Return whether the group is this user's private group, with no other member."""
    import grp
    import pwd

    try:
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(gid)
    except KeyError:
        return False
    is_primary = gid == user.pw_gid and group.gr_name == user.pw_name
    return is_primary and set(group.gr_mem) <= {user.pw_name}


def _user_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


@cache
def private_folder() -> Path:
    """Return a folder that only this process uses, and that is removed when the process ends."""
    _private.append(tempfile.TemporaryDirectory(prefix="graphla-", ignore_cleanup_errors=True))
    return Path(_private[0].name)


_private: list[tempfile.TemporaryDirectory] = []
"""The private folder of this process; it is removed when the interpreter ends."""
