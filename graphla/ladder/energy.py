"""What a card draws while it works, told by the driver's own library (NVML).

The library comes with the driver, so that nothing is to be installed. Cards of today count the
joules they have taken since the driver was loaded; this counter advances in steps of up to 100 ms,
so it is read all the while that work goes on, and the watts are those between two of its steps.
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
"""Seconds of work at least, between the first step of the counter and the last."""
PATIENCE = 2.0
"""Seconds after which the counter is taken to stand still."""
_INTERVAL = 0.004

Joules = Callable[[], float | None]


def watts(work: Callable[[], Any], joules: Joules | None) -> float | None:
    """Those of the card while work() is called again and again; None where nobody tells them."""
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
    """Watts of (seconds, joules): from the first step of the joules to the last."""
    steps = _steps(samples)
    if len(steps) < 2:
        return None
    (begin, first), (end, last) = steps[0], steps[-1]
    return (last - first) / (end - begin)


def _steps(samples: list[tuple[float, float]]) -> list[tuple[float, float]]:
    known = samples[: len(samples)]  # it grows meanwhile
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
    """What reads the joules that a device has taken so far; None where it does not tell them."""
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
    """NVML, made ready; None where there is none."""
    try:
        library = ctypes.CDLL("nvml.dll" if sys.platform == "win32" else "libnvidia-ml.so.1")
        return None if library.nvmlInit_v2() else library
    except (OSError, AttributeError):
        return None
