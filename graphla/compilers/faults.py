"""Errors of a GPU in words: out of memory, and those after which CUDA answers nothing any more.

The latter (a store out of bounds, say) show at whatever call comes next, not at the one that is to
blame; so each launch is noted, and `config.debug` waits for each kernel and names the culprit.
"""

from __future__ import annotations

from traceback import clear_frames
from typing import Any

import cupy
from cupy.cuda import memory, runtime

from semirings.exceptions import DeviceFault, OutOfMemory

STICKY = frozenset({214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 999})
"""Statuses that CUDA gives for good, by the same numbers from its driver and its runtime."""

NO_MEMORY = 2


class _Seen:
    """What the process knows of its launches and of the fault that ended them."""

    def __init__(self) -> None:
        self.launched = ""
        self.operation = ""
        self.fault = ""


seen = _Seen()


def refuse_after_fault() -> None:
    """Says again that the process must be started anew."""
    if seen.fault:
        raise DeviceFault(f"no GPU can be used any more in this process: {seen.fault}")


def culprit(error: Any, kernel: str) -> Exception:
    """The fault of a kernel that was waited for; anything else as it was."""
    if getattr(error, "status", None) not in STICKY:
        return error
    seen.fault = f"the kernel {kernel} failed ({error}); the process must be restarted"
    return DeviceFault(seen.fault)


def explain(error: BaseException, name: str, device: str) -> Exception | None:
    """What a user should read for an error of CuPy's inside an operation; None to let it be."""
    status = getattr(error, "status", None)
    if isinstance(error, DeviceFault) and not seen.operation:  # of a kernel that was waited for
        seen.operation, seen.fault = name, f"{name} on {device}: {seen.fault}"
        return DeviceFault(seen.fault)
    if isinstance(error, MemoryError) or status == NO_MEMORY:
        clear_frames(error.__traceback__)  # what they hold is memory of the device
        return OutOfMemory(_shortage(error, name, device))
    if status not in STICKY:
        return None
    last = f"; the last kernel launched was {seen.launched}" if seen.launched else ""
    seen.operation = name
    seen.fault = (
        f"{name} on {device} met a GPU that had failed ({error}){last}; the process must be "
        "restarted, and graphla.config.debug = True then names the kernel to blame"
    )
    return DeviceFault(seen.fault)


def _shortage(error: Any, name: str, device: str) -> str:
    if not isinstance(error, memory.OutOfMemoryError):
        return f"{name} ran out of memory: {error}"
    asked, limit = getattr(error, "_size", None), getattr(error, "_limit", 0)
    free, total = runtime.memGetInfo()
    kept = cupy.get_default_memory_pool().free_bytes()
    wanted = f"asked for {asked:,} bytes" if asked is not None else str(error)
    held = f", {kept:,} more wait in CuPy's pool" if kept else ""
    limited = f", and the pool is limited to {limit:,} bytes" if limit else ""
    return (
        f"{name} ran out of memory on {device}: it {wanted}, but {free:,} of {total:,} are free"
        f"{held}{limited}; its operands are as they were"
    )
