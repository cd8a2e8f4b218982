"""Measure the power that a GPU draws while it works, with the library NVML.

The library comes with the driver, so nothing needs to be installed. Recent GPUs count the joules
that they have used since the driver was loaded. The counter is updated only about every 100 ms, so
a thread samples it during the work. The power is computed from two updates of the counter.
"""

from __future__ import annotations

import ctypes
import sys
import time
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from threading import Event, Thread
from typing import Any

REGION = 0.28
"""Minimum time between the first and the last update of the energy counter, in seconds."""
PATIENCE = 2.0
"""Maximum time in seconds for which the work is repeated until the counter has been updated often
enough."""
_INTERVAL = 0.004

Joules = Callable[[], float | None]


def watts(work: Callable[[], Any], joules: Joules | None) -> float | None:
    """Return the mean power in watts that the GPU draws while work() is called repeatedly.

    The result is None if the power cannot be measured.
    """
    if joules is None or joules() is None:
        return None
    samples, done = list[tuple[float, float]](), Event()
    watch = Thread(target=_watch, args=(joules, samples, done), daemon=True)
    watch.start()
    try:
        begin = time.perf_counter()
        while True:
            work()
            spent = time.perf_counter() - begin
            if spent > PATIENCE or (spent > REGION and _spans(samples) >= REGION):
                break
    finally:
        done.set()
        watch.join()
    return between_steps(samples)


def between_steps(samples: list[tuple[float, float]]) -> float | None:
    """Return the mean power in watts from the first to the last update of the counter.

    The samples are pairs of a time and a value of the counter. If the counter was updated less than
    twice, the result is None.
    """
    steps = _steps(samples)
    if len(steps) < 2:
        return None
    (begin, first), (end, last) = steps[0], steps[-1]
    return (last - first) / (end - begin)


def _steps(samples: list[tuple[float, float]]) -> list[tuple[float, float]]:
    known = samples[: len(samples)]  # a copy, because the list may grow meanwhile
    return [now for before, now in pairwise(known) if now[1] > before[1]]


def _spans(samples: list[tuple[float, float]]) -> float:
    steps = _steps(samples)
    return steps[-1][0] - steps[0][0] if steps else 0.0


def _watch(joules: Joules, samples: list[tuple[float, float]], done: Event) -> None:
    while True:
        told = joules()
        if told is not None:
            samples.append((time.perf_counter(), told))
        if done.wait(_INTERVAL):
            return


def counter(device: str) -> Joules | None:
    """Return a function that reads a device's energy counter, or None if there is no such
    counter."""
    library = None if device == "cpu" else _library()
    if library is None:
        return None
    from cupy.cuda import runtime

    card, found = ctypes.c_void_p(), ctypes.c_ulonglong()
    bus = runtime.deviceGetPCIBusId(int(device.partition(":")[2] or 0))
    if library.nvmlDeviceGetHandleByPciBusId_v2(bus.encode(), ctypes.byref(card)):
        return None

    def joules() -> float | None:
        failed = library.nvmlDeviceGetTotalEnergyConsumption(card, ctypes.byref(found))
        return None if failed else found.value / 1000

    return None if joules() is None else joules


@cache
def _library() -> Any:
    """Return the initialized NVML library, or None if it is missing."""
    try:
        library = ctypes.CDLL("nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1")
        return None if library.nvmlInit_v2() else library
    except (OSError, AttributeError):
        return None
