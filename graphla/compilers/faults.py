"""Explain GPU errors: out of memory, and faults after which every CUDA call fails.

A fault, such as an out-of-bounds store, is reported by the next CUDA call, not by the call that
caused it. So each launch is recorded. With `config.debug` the host waits for each kernel, so that
it can name the kernel that failed.
"""

from __future__ import annotations

from traceback import clear_frames
from typing import Any

import cupy
from cupy.cuda import memory, runtime

from semirings.exceptions import DeviceFault, OutOfMemory

STICKY = frozenset({214, 220, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719, 721, 999})
"""CUDA error codes after which every call fails. The driver and the runtime use the same
numbers."""

NO_MEMORY = 2


class _Seen:
    """The most recent launch and operation of this process, and the fault that has occurred, if
    any. After a fault, the process can use no GPU."""

    def __init__(self) -> None:
        self.launched = ""
        self.operation = ""
        self.fault = ""


seen = _Seen()


def refuse_after_fault() -> None:
    """Raise DeviceFault if a fault has occurred, because the process must then be restarted."""
    if seen.fault:
        raise DeviceFault(f"no GPU can be used any more in this process: {seen.fault}")


def culprit(error: Any, kernel: str) -> Exception:
    """Return the exception to raise for a CUDA error in a kernel.

    If all later CUDA calls will fail too, return a DeviceFault that names the kernel. Otherwise
    return the error itself.
    """
    if getattr(error, "status", None) not in STICKY:
        return error
    seen.fault = f"the kernel {kernel} failed ({error}); the process must be restarted"
    return DeviceFault(seen.fault)


def explain(error: BaseException, name: str, device: str) -> Exception | None:
    """Return an exception that explains an error that CuPy raised during an operation.

    Return None if the original error should be raised.
    """
    status = getattr(error, "status", None)
    # DeviceFault comes from a kernel that the host waited for; the name of the operation is still
    # missing.
    if isinstance(error, DeviceFault) and not seen.operation:
        seen.operation, seen.fault = name, f"{name} on {device}: {seen.fault}"
        return DeviceFault(seen.fault)
    if isinstance(error, MemoryError) or status == NO_MEMORY:
        clear_frames(error.__traceback__)  # frees device memory to which the stack frames refer
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
