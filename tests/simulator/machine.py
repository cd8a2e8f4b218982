"""The simulated machine: its devices, their memory, and kernel launches."""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
import zlib
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from . import toolchain


class SimulatorFault(RuntimeError):
    """A fault that a GPU may hide, such as a race, an out-of-bounds store or a deadlock."""


@dataclass
class Device:
    """A simulated GPU with few multiprocessors."""

    id: int
    multiprocessors: int = 4
    threads_per_multiprocessor: int = 2048
    shared_limit: int = 48 << 10
    shared_limit_optin: int = 227 << 10
    memory: int = 1 << 32
    used: int = 0
    compute_capability: tuple[int, int] = (9, 0)

    @property
    def attributes(self) -> dict[str, int]:
        """The device attributes, under the names that CuPy uses."""
        return {
            "MaxThreadsPerBlock": 1024,
            "MaxBlockDimX": 1024,
            "MaxBlockDimY": 1024,
            "MaxBlockDimZ": 64,
            "MaxGridDimX": 2**31 - 1,
            "MaxGridDimY": 65535,
            "MaxGridDimZ": 65535,
            "MaxSharedMemoryPerBlock": self.shared_limit,
            "MaxSharedMemoryPerBlockOptin": self.shared_limit_optin,
            "MaxSharedMemoryPerMultiprocessor": self.shared_limit_optin + 1024,
            "MaxThreadsPerMultiProcessor": self.threads_per_multiprocessor,
            "MaxBlocksPerMultiprocessor": 32,
            "MultiProcessorCount": self.multiprocessors,
            "WarpSize": 32,
            "CooperativeLaunch": 1,
            "ConcurrentManagedAccess": 1,
            "L2CacheSize": 4 << 20,
            "MaxRegistersPerBlock": 65536,
            "MaxRegistersPerMultiprocessor": 65536,
            "ClockRate": 1_000_000,
            "MemoryClockRate": 1_000_000,
            "GlobalMemoryBusWidth": 256,
        }


@dataclass
class Machine:
    """The devices, the state of the simulation, and the seed of all schedules."""

    devices: list[Device] = field(default_factory=lambda: [Device(0)])
    seed: int = field(default_factory=lambda: int(os.environ.get("GRAPHLA_SIMULATOR_SEED", "0")))
    timeout: float = field(
        default_factory=lambda: float(os.environ.get("GRAPHLA_SIMULATOR_TIMEOUT", "120"))
    )
    faults: list[str] = field(default_factory=list)  # faults for which no exception could be raised
    failure: Exception | None = None  # the exception that a permanently failed GPU raises
    fails_in: int = 0  # number of launches until the GPU fails; 0 means that it never fails
    strict_streams: bool = True  # if true, only events and host waits order the work of two streams
    new_track: Any = None  # function that creates a Track for new memory; stream.py sets it
    freed: Any = None  # function that checks the Track of freed memory; stream.py sets it

    def reset(self, devices: int = 1, seed: int | None = None) -> None:
        """Restore the initial state, with `devices` devices; arrays keep their memory."""
        used = [each.used for each in self.devices]
        self.devices = [Device(k) for k in range(devices)]
        for each, amount in zip(self.devices, used, strict=False):
            each.used = amount
        self.faults.clear()
        if seed is not None:
            self.seed = seed
        local.device = 0

    def raise_faults(self) -> None:
        """Raise a SimulatorFault if faults were found since the last call."""
        if self.failure is not None and self.fails_in < 0:
            raise self.failure
        if self.faults:
            text = "; ".join(self.faults)
            self.faults.clear()
            raise SimulatorFault(text)


class _Local(threading.local):
    device = 0


machine = Machine()
local = _Local()
lock = threading.RLock()


class _Launch(ctypes.Structure):
    _fields_ = (
        ("kernel", ctypes.c_char_p),
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("dynamic_bytes", ctypes.c_uint64),
        ("shared_limit", ctypes.c_uint64),
        ("seed", ctypes.c_uint64),
        ("resident", ctypes.c_uint64),
        ("entry", ctypes.c_void_p),
        ("arguments", ctypes.c_void_p),
        ("timeout", ctypes.c_double),
    )


@cache
def library() -> Any:
    """Return the simulator's C++ library. Its symbols are global, so that programs find them."""
    loaded = ctypes.CDLL(str(toolchain.runtime()), mode=ctypes.RTLD_GLOBAL)
    loaded.simulator_launch.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    loaded.simulator_allocate.argtypes = [ctypes.c_size_t, ctypes.c_uint64]
    loaded.simulator_allocate.restype = ctypes.c_void_p
    loaded.simulator_free.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    return loaded


def launch(
    kernel: str,
    entry: int,
    grid: tuple[int, int, int],
    block: tuple[int, int, int],
    arguments: Any,
    salt: int,
    shared: int,
    shared_limit: int,
    cooperative: bool,
) -> None:
    """Run a grid until all its threads have ended, or raise SimulatorFault.

    The schedule depends on the seed of the machine, on the kernel and its launch size, and on
    `salt`, a digest of the arguments. It does not depend on earlier launches, so a failing
    Hypothesis example fails again.
    """
    with lock:
        machine.raise_faults()
        if machine.fails_in:
            machine.fails_in -= 2 if machine.fails_in == 1 else 1
        seed = zlib.crc32(f"{machine.seed} {kernel} {grid} {block} {salt}".encode())
        blocks, threads = grid[0] * grid[1] * grid[2], block[0] * block[1] * block[2]
        resident = blocks if cooperative else max(1, min((1, 2, 3, 8)[seed % 4], 4096 // threads))
        what = _Launch(
            *(kernel.encode(), (ctypes.c_uint * 3)(*grid), (ctypes.c_uint * 3)(*block)),
            *(shared, shared_limit, seed, resident, entry),
            *(ctypes.cast(arguments, ctypes.c_void_p), machine.timeout),
        )
        text = ctypes.create_string_buffer(8192)
        if library().simulator_launch(ctypes.byref(what), text, len(text)):
            raise SimulatorFault(text.value.decode(errors="replace"))


def _free(pointer: int, size: int, device: Device, track: Any) -> None:
    device.used -= size
    if machine.strict_streams:
        machine.freed(track)
    text = ctypes.create_string_buffer(512)
    if library().simulator_free(pointer, text, len(text)):
        machine.faults.append(f"{text.value.decode()} (found when it was freed)")


class Memory:
    """A block of device memory, freed together with the last array that uses it."""

    def __init__(self, size: int):
        self.size = size
        self.device = machine.devices[local.device]
        self.device_id = self.device.id
        self.ptr = 0
        self.track = machine.new_track()
        if size:
            self.ptr = library().simulator_allocate(size, machine.seed * 7919 + size)
            if not self.ptr:
                raise MemoryError("the host has no memory for the simulated device")
            self.device.used += size
            finalizer = weakref.finalize(self, _free, self.ptr, size, self.device, self.track)
            finalizer.atexit = False

    @property
    def __array_interface__(self) -> dict[str, Any]:
        return {
            "shape": (self.size,),
            "typestr": "|u1",
            "data": (self.ptr, False),
            "version": 3,
        }
