"""A stand-in for cupy.cuda."""

from . import device, driver, function, memory, nvrtc, pinned_memory, runtime, stream
from .device import Device
from .function import Function, Module
from .memory import MemoryPointer, MemoryPool, PinnedMemoryPool, alloc, alloc_pinned_memory
from .stream import Event, Stream, get_current_stream, get_elapsed_time

__all__ = [
    "Device",
    "Event",
    "Function",
    "MemoryPointer",
    "MemoryPool",
    "Module",
    "PinnedMemoryPool",
    "Stream",
    "alloc",
    "alloc_pinned_memory",
    "device",
    "driver",
    "function",
    "get_current_stream",
    "get_device_id",
    "get_elapsed_time",
    "is_available",
    "memory",
    "nvrtc",
    "pinned_memory",
    "runtime",
    "stream",
]


def is_available() -> bool:
    return runtime.getDeviceCount() > 0


def get_device_id() -> int:
    return runtime.getDevice()
