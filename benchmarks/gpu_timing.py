"""Measuring on a GPU: device time by events, wall time beside it, contenders by turns."""

from __future__ import annotations

import platform
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any

import cupy

import graphla as gl

ROUNDS = 3
REPEATS = 5


@dataclass
class Times:
    """Milliseconds of each call: on the device between two events, and on the wall until idle."""

    device: list[float]
    wall: list[float]

    def __str__(self) -> str:
        return f"{median(self.device):9.3f} ms device {median(self.wall):9.3f} ms wall"


def once(call: Callable[[], Any]) -> tuple[float, float]:
    """Device and wall milliseconds of one call; the stream is idle before and after."""
    begin, end = cupy.cuda.Event(), cupy.cuda.Event()
    cupy.cuda.Device().synchronize()
    start = perf_counter()
    begin.record()
    result = call()
    end.record()
    end.synchronize()
    wall = 1e3 * (perf_counter() - start)
    del result
    return cupy.cuda.get_elapsed_time(begin, end), wall


def in_turns(
    contenders: dict[str, Callable[..., Any]], inputs: list[Any], repeats: int = REPEATS
) -> dict[str, Times]:
    """Each contender on each input, in rows of all inputs, by turns; its first call is warm-up."""
    times = {name: Times([], []) for name in contenders}
    for _ in range(ROUNDS):
        for name, call in contenders.items():
            call(inputs[0])
            for _ in range(repeats):
                for each in inputs:
                    device, wall = once(lambda call=call, each=each: call(each))
                    times[name].device.append(device)
                    times[name].wall.append(wall)
    return times


def report(title: str, times: dict[str, Times], unit: str = "", work: float | None = None) -> None:
    """A row each: medians, the ratio of device times to the first, and work done per second."""
    print(f"\n{title}")
    first = median(next(iter(times.values())).device)
    for name, each in times.items():
        line = f"  {name:<46}{each}{median(each.device) / first:7.2f} x"
        if work:
            line += f"{work / median(each.device) / 1e6:9.2f} G{unit}/s"
        print(line, flush=True)


def machine() -> str:
    """The card, driver, CUDA and versions."""
    card = cupy.cuda.runtime.getDeviceProperties(0)
    driver, runtime = cupy.cuda.runtime.driverGetVersion(), cupy.cuda.runtime.runtimeGetVersion()
    return (
        f"{card['name'].decode()}, {card['multiProcessorCount']} multiprocessors; "
        f"driver for CUDA {driver // 1000}.{driver % 1000 // 10}, CUDA {runtime // 1000}."
        f"{runtime % 1000 // 10}; graphla {gl.__version__}, CuPy {cupy.__version__}, "
        f"Python {platform.python_version()}"
    )
