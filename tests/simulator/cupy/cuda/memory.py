"""A stand-in for cupy.cuda.memory."""

from __future__ import annotations

import ctypes
from typing import Any

from ...machine import Memory, local, machine


class OutOfMemoryError(MemoryError):
    """An error with the same message as CuPy's OutOfMemoryError."""

    def __init__(self, size: int, total: int, limit: int = 0):
        text = f"Out of memory allocating {size:,} bytes (allocated so far: {total:,} bytes"
        text += f", limit set to: {limit:,} bytes)." if limit else ")."
        super().__init__(text)
        self._size, self._total, self._limit = size, total, limit


class UnownedMemory:
    """Memory that another library has allocated."""


class MemoryPointer:
    """A pointer into device memory."""

    def __init__(self, mem: Any, offset: int):
        self.mem = mem
        self.ptr = (mem.ptr + offset) if mem is not None and mem.ptr else 0

    @property
    def device_id(self) -> int:
        return self.mem.device_id

    def __int__(self) -> int:
        return self.ptr

    def __add__(self, offset: int) -> MemoryPointer:
        return MemoryPointer(self.mem, self.ptr - self.mem.ptr + offset)


def alloc(size: int) -> MemoryPointer:
    """Allocate memory on the current device."""
    device = machine.devices[local.device]
    if device.used + size > device.memory:
        raise OutOfMemoryError(size, device.used, device.memory)
    return MemoryPointer(Memory(size), 0)


class MemoryPool:
    """A memory pool that reports the memory in use and caches nothing."""

    def used_bytes(self) -> int:
        return machine.devices[local.device].used

    def total_bytes(self) -> int:
        return machine.devices[local.device].used

    def free_bytes(self) -> int:
        return 0

    def free_all_blocks(self, stream: Any = None) -> None:
        """Do nothing; the pool has no free memory."""

    def set_limit(self, size: int | None = None, fraction: float | None = None) -> None:
        device = machine.devices[local.device]
        device.memory = size or int((fraction or 1) * (1 << 32))

    def get_limit(self) -> int:
        return machine.devices[local.device].memory


class PinnedMemoryPool:
    """A pool of pinned memory, which is ordinary host memory here."""

    def n_free_blocks(self) -> int:
        return 0

    def free_all_blocks(self) -> None:
        """Do nothing; the pool has no free blocks."""


class _Pinned:
    """An array of bytes; `ptr` is its address, which kernels may use."""

    ptr = property(ctypes.addressof)
    mem = property(lambda self: self)

    def size(self) -> int:
        return len(self)  # type: ignore[arg-type]


def alloc_pinned_memory(size: int) -> Any:
    """Return host memory that NumPy can access."""
    return type("PinnedMemoryPointer", (_Pinned, ctypes.c_ubyte * size), {})()


default_pool = MemoryPool()
default_pinned_pool = PinnedMemoryPool()
