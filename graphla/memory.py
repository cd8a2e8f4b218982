"""Measure the memory available on the host, and raise an error for work that needs more.

Linux kills a process that touches more memory than is available, instead of raising an error. So
large arrays whose size depends on a file or an argument are checked before they are allocated.
"""

from __future__ import annotations

import ctypes
import os
import sys
from contextlib import suppress
from pathlib import Path

from semirings.exceptions import OutOfMemory

SMALL = 1 << 26
"""Requests for fewer bytes than this are not checked, because a check can take 0.4 ms."""


def require(needed: int, what: str) -> None:
    """Raise OutOfMemory if `what` needs more bytes than the host has available."""
    if needed < SMALL:
        return
    free = available()
    if free is not None and needed > free:
        raise OutOfMemory(f"{what} need {needed:,} bytes of memory, but {free:,} are available")


def require_offsets(count: int, lines: str, nvals: int = 0) -> None:
    """Raise OutOfMemory if the row or column offsets of a matrix do not fit in memory.

    `count` is the number of rows or columns (`lines` states which), and `nvals` is the number of
    entries.
    """
    bytes_each = 4 if nvals < 1 << 31 else 8
    require(bytes_each * (count + 1), f"the offsets of a matrix with {count:,} {lines}")


def available() -> int | None:
    """Return the number of bytes that this process can still use without swapping; None if unknown.

    This is the minimum of three numbers: the available memory of the system, the memory that the
    control groups of the process still allow, and the unused part of the address space limit.
    """
    if sys.platform == "win32":
        return _windows()
    found = [_system(), _address_space()]
    if sys.platform == "linux":
        found += _control_groups()
    return min((free for free in found if free is not None), default=None)


def _system() -> int | None:
    """Return MemAvailable, or all physical memory if the system does not report MemAvailable."""
    with suppress(OSError, StopIteration, ValueError):
        lines = Path("/proc/meminfo").read_text().splitlines()
        line = next(line for line in lines if line.startswith("MemAvailable:"))
        return int(line.split()[1]) * 1024
    with suppress(OSError, ValueError, AttributeError):
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return None


def _address_space() -> int | None:
    """Return the number of bytes that the limit on the address space still allows.

    The limit is RLIMIT_AS (`ulimit -v`). If there is none, return None.
    """
    import resource

    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit == resource.RLIM_INFINITY:
        return None
    with suppress(OSError, ValueError, IndexError):
        used = int(Path("/proc/self/statm").read_text().split()[0])
        return max(limit - used * resource.getpagesize(), 0)
    return limit


def _control_groups() -> list[int]:
    """Return a list with one number for each control group of this process that has a memory limit.

    The number is how many more bytes the group may use. A container is usually such a group.
    """
    found = []
    with suppress(OSError, ValueError, IndexError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            if controllers == "":
                root, names = Path("/sys/fs/cgroup"), ("memory.max", "memory.current")
            elif "memory" in controllers.split(","):
                root = Path("/sys/fs/cgroup/memory")
                names = ("memory.limit_in_bytes", "memory.usage_in_bytes")
            else:
                continue
            group = root / path.lstrip("/")
            for folder in (group, *group.parents):
                found += _left_by(folder, *names)
                if folder == root:
                    break
    return found


def _left_by(folder: Path, limit: str, usage: str) -> list[int]:
    with suppress(OSError, ValueError, StopIteration):
        # The file contains "max" if there is no limit; then int() raises ValueError, and the group
        # is skipped.
        most = int((folder / limit).read_text())
        used = int((folder / usage).read_text())
        lines = (folder / "memory.stat").read_text().splitlines()
        inactive = next(line for line in lines if line.startswith("inactive_file "))
        # The inactive file cache counts as available memory, because the kernel can drop it.
        return [max(most - used + int(inactive.split()[1]), 0)]
    return []


def _windows() -> int | None:
    class Status(ctypes.Structure):
        _fields_ = (
            ("length", ctypes.c_ulong),
            ("load", ctypes.c_ulong),
            ("total", ctypes.c_ulonglong),
            ("available", ctypes.c_ulonglong),
            ("others", ctypes.c_ulonglong * 5),
        )

    status = Status(length=ctypes.sizeof(Status))
    kernel = getattr(ctypes, "windll").kernel32  # noqa: B009 - the name exists on Windows alone
    return status.available if kernel.GlobalMemoryStatusEx(ctypes.byref(status)) else None
