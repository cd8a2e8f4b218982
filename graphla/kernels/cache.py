"""The folder where compiled loops and kernels are kept between processes."""

from __future__ import annotations

import os
import sys
import tempfile
from functools import cache
from pathlib import Path


@cache
def cache_folder() -> Path:
    """Where compiled loops are kept: GRAPHLA_CACHE_DIR, or the user's cache folder.

    If it cannot be written, a folder of this process alone.
    """
    try:
        folder = Path(os.environ.get("GRAPHLA_CACHE_DIR") or _user_cache() / "graphla")
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return folder.resolve()
    except (OSError, RuntimeError):  # the latter where the user has no home
        return private_folder()


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
