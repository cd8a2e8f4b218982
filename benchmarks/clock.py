"""Measure calls on the host and on a GPU, and describe the machine.

A clock measures one call. `Wall` measures host time, and `Events` measures GPU time. `KernelEvents`
also measures GPU time, but excludes the time that the host needs to start the call. `measure` and
`take_turns` repeat calls with any clock.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from time import perf_counter, sleep
from typing import Any, Protocol

import graphla as gl

ROUNDS = 3
REPEATS = 5
PAUSE = 0.1  # seconds to sleep before each measurement, so that OpenMP threads go idle
HEAD_START = 250_000  # nanoseconds for which the GPU is kept busy while the host starts a call

SPIN = """
extern "C" __global__ void spin(long long nanoseconds) {
    long long begin, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)); while (now - begin < nanoseconds);
}
"""


# --- clocks ---------------------------------------------------------------------------------------


class Clock(Protocol):
    """A clock that measures one call."""

    def once(self, call: Callable[[], Any]) -> tuple[float, float]:
        """Return the device time and the wall time of a call, in milliseconds."""
        ...


@dataclass(frozen=True)
class Wall:
    """A clock that reads only the host clock. It also reports the wall time as the device time."""

    frees: bool = False  # whether the time includes freeing the result

    def once(self, call: Callable[[], Any]) -> tuple[float, float]:
        """Return the wall time of a call in milliseconds twice: as the device and the wall time."""
        begin = perf_counter()
        result = call()
        if self.frees:
            del result
        wall = 1e3 * (perf_counter() - begin)
        return wall, wall


class Events:
    """A clock that records CUDA events before and after the whole call, and the wall time.

    The GPU is idle before and after the call.
    """

    def __init__(self) -> None:
        import cupy

        self.cupy = cupy
        self.begin, self.end = cupy.cuda.Event(), cupy.cuda.Event()

    def once(self, call: Callable[[], Any]) -> tuple[float, float]:
        """Return the GPU time and the wall time of a call, in milliseconds."""
        self.idle()
        start = perf_counter()
        self.begin.record()
        result = call()
        self.end.record()
        self.end.synchronize()
        wall = 1e3 * (perf_counter() - start)
        del result
        return self.elapsed(), wall

    def elapsed(self) -> float:
        """Return the milliseconds between the two events."""
        return self.cupy.cuda.get_elapsed_time(self.begin, self.end)

    def idle(self) -> None:
        """Wait until the GPU is idle."""
        self.cupy.cuda.Device().synchronize()


class KernelEvents(Events):
    """A clock that records CUDA events before the first and after the last kernel of a call.

    The first event follows a kernel that keeps the GPU busy, so that the work of the call is
    already queued when the GPU reaches the event. The second event follows the last kernel that the
    call launches. The time between the events includes the time that the GPU waits for the host
    during the call.
    """

    def __init__(self) -> None:
        super().__init__()
        from graphla.compilers.cuda import Kernel

        self.kernel = Kernel
        self.spin = self.cupy.RawKernel(SPIN, "spin")

    def once(self, call: Callable[[], Any]) -> tuple[float, float]:
        """Return the GPU time of a call and its wall time, in milliseconds.

        The two times are measured in two separate calls.
        """
        self.idle()
        start = perf_counter()
        result = call()
        self.idle()
        wall = 1e3 * (perf_counter() - start)
        del result
        self.spin((1,), (1,), (self.cupy.int64(HEAD_START),))
        self.begin.record()
        self.end.record()
        with self._record_each_launch():
            result = call()
        self.idle()
        del result
        return self.elapsed(), wall

    @contextmanager
    def _record_each_launch(self) -> Iterator[None]:
        launch = self.kernel.__call__

        def launch_and_record(kernel: Any, *args: Any, **options: Any) -> None:
            launch(kernel, *args, **options)
            self.end.record()

        patched: Any = self.kernel
        patched.__call__ = launch_and_record
        try:
            yield
        finally:
            patched.__call__ = launch


# --- repeated calls -------------------------------------------------------------------------------


@dataclass
class Times:
    """The device time, wall time and input of each measured call. Times are in milliseconds."""

    device: list[float] = field(default_factory=list)
    wall: list[float] = field(default_factory=list)
    inputs: list[Any] = field(default_factory=list)

    def add(self, device: float, wall: float, given: Any) -> None:
        self.device.append(device)
        self.wall.append(wall)
        self.inputs.append(given)

    def add_all(self, others: Times) -> None:
        self.device += others.device
        self.wall += others.wall
        self.inputs += others.inputs


def measure(
    clock: Clock, call: Callable[[Any], Any], inputs: list[Any], rounds: int = ROUNDS
) -> Times:
    """Measure `call` on each of the inputs, and repeat this `rounds` times.

    Each round begins with an additional call on the first input, which is not timed.
    """
    found = Times()
    for _ in range(rounds):
        call(inputs[0])
        for each in inputs:
            found.add(*clock.once(lambda each=each: call(each)), each)
    return found


def take_turns(
    clock: Clock,
    contenders: dict[str, Callable[[Any], Any]],
    inputs: list[Any],
    rounds: int = ROUNDS,
    repeats: int = REPEATS,
    pause: float = 0,
) -> dict[str, Times]:
    """Measure several functions, the contenders, in `rounds` rounds.

    In each round, each contender in turn makes an untimed call and then runs `repeats` times on all
    inputs, as in GAP. If the machine is slow for a while, this affects all contenders.
    """
    found = {name: Times() for name in contenders}
    for _ in range(rounds):
        for name, call in contenders.items():
            sleep(pause)
            found[name].add_all(measure(clock, call, inputs * repeats, 1))
    return found


def least(call: Callable[[], Any], trials: int = 5) -> float:
    """Return the time of the fastest of `trials` calls, in milliseconds, after one untimed call."""
    call()
    wall = Wall(frees=True)
    return min(wall.once(call)[1] for _ in range(trials))


def report(title: str, times: dict[str, Times], unit: str = "", work: float | None = None) -> None:
    """Print each contender's median times, their ratios to the first contender, and the work per
    second."""
    print(f"\n{title}")
    first = median(next(iter(times.values())).device)
    for name, each in times.items():
        device, wall = median(each.device), median(each.wall)
        line = f"  {name:<46}{device:9.3f} ms device {wall:9.3f} ms wall{device / first:7.2f} x"
        if work:
            line += f"{work / device / 1e6:9.2f} G{unit}/s"
        print(line, flush=True)


# --- the machine ----------------------------------------------------------------------------------


def describe_host(*libraries: str) -> str:
    """Describe the processor, its cores, and the versions of Python, graphla and `libraries`."""
    versions = ", ".join(f"{name} {_version(name)}" for name in libraries)
    return (
        f"{processor()}, {_cores()} cores; Python {platform.python_version()}, "
        f"graphla {gl.__version__}, {versions}"
    )


def describe_card() -> str:
    """Describe the GPU, its driver, and the versions of CUDA, graphla, CuPy and Python."""
    import cupy

    card = cupy.cuda.runtime.getDeviceProperties(0)
    driver, runtime = cupy.cuda.runtime.driverGetVersion(), cupy.cuda.runtime.runtimeGetVersion()
    return (
        f"{card['name'].decode()}, {card['multiProcessorCount']} multiprocessors; "
        f"driver for CUDA {driver // 1000}.{driver % 1000 // 10}, CUDA {runtime // 1000}."
        f"{runtime % 1000 // 10}; graphla {gl.__version__}, CuPy {cupy.__version__}, "
        f"Python {platform.python_version()}"
    )


def processor() -> str:
    """Return the name of the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(x.split(":")[1].strip() for x in lines if x.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or "unknown processor"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
