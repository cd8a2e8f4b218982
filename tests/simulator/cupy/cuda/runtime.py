"""A stand-in for cupy.cuda.runtime."""

from __future__ import annotations

import ctypes
from typing import Any, ClassVar

from ...machine import local, machine
from . import stream as streams


class CUDARuntimeError(RuntimeError):
    """A stand-in for CuPy's error of the same name."""

    words: ClassVar = {
        1: ("cudaErrorInvalidValue", "invalid argument"),
        100: ("cudaErrorNoDevice", "no CUDA-capable device is detected"),
        700: ("cudaErrorIllegalAddress", "an illegal memory access was encountered"),
        101: ("cudaErrorInvalidDevice", "invalid device ordinal"),
    }

    def __init__(self, status: int):
        self.status = status
        super().__init__(": ".join(self.words[status]))


memcpyHostToHost, memcpyHostToDevice, memcpyDeviceToHost, memcpyDeviceToDevice = range(4)
is_hip = False


def getDevice() -> int:
    return local.device


def getDeviceCount() -> int:
    return len(machine.devices)


def setDevice(device: int) -> None:
    if not 0 <= device < len(machine.devices):
        raise CUDARuntimeError(101)
    local.device = device


def runtimeGetVersion() -> int:
    return 13000


def driverGetVersion() -> int:
    return 13000


def deviceSynchronize() -> None:
    streams.host_waits_for_all()
    machine.raise_faults()


def streamSynchronize(stream: int) -> None:
    streams.host_waits(stream)
    machine.raise_faults()


def streamQuery(stream: int) -> int:
    """Return the status of a failed GPU, or 0 for an intact GPU.

    No work is ever pending. This function never raises an error.
    """
    if machine.failure is not None and machine.fails_in < 0:
        return getattr(machine.failure, "status", 999)
    return 0


def memcpy(dst: int, src: int, size: int, kind: int) -> None:
    """Copy bytes after the host has waited for the null stream."""
    streams.host_waits(0)
    ctypes.memmove(dst, src, size)


def memcpyAsync(dst: int, src: int, size: int, kind: int, stream: int) -> None:
    """Copy bytes without checking the order of streams, because only the pointers are known."""
    ctypes.memmove(dst, src, size)


def memset(ptr: int, value: int, size: int) -> None:
    ctypes.memset(ptr, value, size)


def memsetAsync(ptr: int, value: int, size: int, stream: int) -> None:
    ctypes.memset(ptr, value, size)


def deviceCanAccessPeer(device: int, peer: int) -> int:
    return 0


def memGetInfo() -> tuple[int, int]:
    card = machine.devices[local.device]
    return (card.memory - card.used, card.memory)


def getDeviceProperties(device: int) -> dict[str, Any]:
    card = machine.devices[device]
    return {
        "name": b"simulated card",
        "totalGlobalMem": card.memory,
        "multiProcessorCount": card.multiprocessors,
        "major": card.compute_capability[0],
        "minor": card.compute_capability[1],
        "sharedMemPerBlock": card.shared_limit,
        "warpSize": 32,
        "maxThreadsPerBlock": 1024,
        "maxThreadsPerMultiProcessor": card.threads_per_multiprocessor,
        "l2CacheSize": 4 << 20,
    }
