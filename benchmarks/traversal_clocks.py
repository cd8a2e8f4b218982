"""What a call takes: between events on a card, and on the wall."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter, sleep
from typing import Any, Protocol

ROUNDS = 3
PAUSE = 0.1  # seconds between contenders, in which OpenMP's threads come to rest
HEAD_START = 250_000  # nanoseconds that a card is kept busy while Python gets going

SPIN = """
extern "C" __global__ void spin(long long nanoseconds) {
    long long begin, now;
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(begin));
    do asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)); while (now - begin < nanoseconds);
}
"""


@dataclass
class Times:
    """Milliseconds of each call, on the device and on the wall, and what it was given."""

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


class Clock(Protocol):
    """Measures a call, and a call on many inputs."""

    def once(self, call: Callable[[], Any]) -> tuple[float, float]:
        """Milliseconds on the device and on the wall."""
        ...


def times(
    clock: Clock, call: Callable[[Any], Any], inputs: list[Any], rounds: int = ROUNDS
) -> Times:
    """Each input in turn, so many times; the first call of a round does not count."""
    found = Times()
    for _ in range(rounds):
        call(inputs[0])
        for each in inputs:
            found.add(*clock.once(lambda each=each: call(each)), each)
    return found


def in_turns(
    clock: Clock, contenders: dict[str, Callable[[Any], Any]], inputs: list[Any], rounds: int
) -> dict[str, Times]:
    """Each contender on all inputs in a row, by turns."""
    found = {name: Times() for name in contenders}
    for _ in range(rounds):
        for name, call in contenders.items():
            sleep(PAUSE)
            found[name].add_all(times(clock, call, inputs, 1))
    return found


class Wall:
    """The CPU has one clock."""

    def once(self, call: Callable[[], Any]) -> tuple[float, float]:
        """Milliseconds until the call returns, twice."""
        begin = perf_counter()
        result = call()
        wall = 1e3 * (perf_counter() - begin)
        del result
        return wall, wall


class Card:
    """Events on the current stream.

    The first is recorded behind a kernel that keeps the card busy, so that the call's work lies
    ready when its turn comes; the second behind the last kernel that the call launches. Between
    them is what the card does for the call, and what it waits for the host in the midst of it.
    """

    def __init__(self) -> None:
        import cupy

        from graphla.compilers.cuda import Kernel

        self.cupy, self.kernel = cupy, Kernel
        self.begin, self.end = cupy.cuda.Event(), cupy.cuda.Event()
        self.spin = cupy.RawKernel(SPIN, "spin")

    def once(self, call: Callable[[], Any]) -> tuple[float, float]:
        """Milliseconds on the card, then in a call of its own on the wall."""
        self.idle()
        start = perf_counter()
        result = call()
        self.idle()
        wall = 1e3 * (perf_counter() - start)
        del result
        self.spin((1,), (1,), (self.cupy.int64(HEAD_START),))
        self.begin.record()
        self.end.record()
        with self._each_launch_recorded():
            result = call()
        self.idle()
        del result
        return self.cupy.cuda.get_elapsed_time(self.begin, self.end), wall

    def idle(self) -> None:
        """Until the card has done all."""
        self.cupy.cuda.Device().synchronize()

    @contextmanager
    def _each_launch_recorded(self) -> Iterator[None]:
        launch = self.kernel.__call__

        def recorded(kernel: Any, *args: Any, **options: Any) -> None:
            launch(kernel, *args, **options)
            self.end.record()

        patched: Any = self.kernel
        patched.__call__ = recorded
        try:
            yield
        finally:
            patched.__call__ = launch
