"""A look-alike of cupy.cuda.runtime."""

from __future__ import annotations

from typing import Any, ClassVar

from ...machine import local, machine


class CUDARuntimeError(RuntimeError):
    """As CuPy's."""

    words: ClassVar = {
        1: ("cudaErrorInvalidValue", "invalid argument"),
        100: ("cudaErrorNoDevice", "no CUDA-capable device is detected"),
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
    machine.raise_faults()


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
