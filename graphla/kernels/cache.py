"""The folder where compiled loops and kernels are kept between processes."""

from __future__ import annotations

import os
import stat
import sys
import tempfile
import warnings
from functools import cache
from pathlib import Path


@cache
def cache_folder() -> Path:
    """Return where compiled code is kept: GRAPHLA_CACHE_DIR, or the user's cache folder.

    If this process cannot write there, or another user can, the folder is one of this process
    alone. A user who can write into the folder can run code here: Numba's index files are pickles.
    """
    named = os.environ.get("GRAPHLA_CACHE_DIR")
    try:
        folder = Path(named or _user_cache() / "graphla")
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        folder = folder.resolve()
        with tempfile.TemporaryFile(dir=folder):
            danger = _danger(folder)
    except (OSError, RuntimeError):  # the latter where the user has no home
        return private_folder()
    if danger and named:
        warnings.warn(
            f"GRAPHLA_CACHE_DIR is ignored: {danger}, so that code could be placed there; this "
            "process keeps what it compiles in a folder of its own",
            RuntimeWarning,
            stacklevel=2,
        )
    return private_folder() if danger else folder


def _danger(folder: Path) -> str | None:
    """Return why another user could change a file of the folder, or the folder itself."""
    if os.name != "posix":
        return None
    for path in (folder, *folder.iterdir(), *(folder / "__pycache__").glob("*")):
        if danger := _why_unsafe(path):
            return danger
    for path in folder.parents:  # in a sticky folder, as /tmp is, nobody renames what others own
        if danger := _why_unsafe(path, but=stat.S_ISVTX):
            return danger
    return None


def _why_unsafe(path: Path, but: int = 0) -> str | None:
    """Return why another user could change the path, unless its mode has the bit `but`."""
    try:
        state = path.stat()
    except FileNotFoundError:  # another process has just removed it
        return None
    if state.st_uid not in (0, os.geteuid()):
        return f"{path} belongs to another user"
    is_open = state.st_mode & 0o002 or (state.st_mode & 0o020 and not _is_own(state.st_gid))
    if not is_open or state.st_mode & but:
        return None
    return f"{path} is writable by other users"


def _is_own(gid: int) -> bool:
    """Whether the group is one of this user alone, as many systems give to each user."""
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
    """A folder of this process alone, removed when it ends."""
    _private.append(tempfile.TemporaryDirectory(prefix="graphla-", ignore_cleanup_errors=True))
    return Path(_private[0].name)


_private: list[tempfile.TemporaryDirectory] = []
"""Removed when the interpreter ends."""
