"""Run a whole traversal in one launch, wait for its end, and handle Ctrl-C.

Kernels: those that include persistent.cuh. All blocks of such a launch must be resident on the GPU
at the same time, so the grid has as many blocks as the GPU can hold. When the kernel ends, it
writes to words of host memory. The host waits for the traversal by polling these words. So it can
handle an interrupt at once, by asking the kernel to stop.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from threading import local
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda.launch import card
from graphla.backends.tuning import current
from graphla.compilers.cuda import Kernel
from graphla.compilers.declarations import Struct, enumeration
from graphla.formats import Array
from semirings.exceptions import DeviceUnavailable

FINISHED, STOPPED, FAULT = enumeration("persistent.cuh", "Status")
STOP, STATUS, RESULTS, WORDS = enumeration("persistent.cuh", "Host")
LAUNCH = Struct("persistent.cuh", "Launch")

NOT_READY = 600  # the value of cudaErrorNotReady

CONTROL = enumeration("persistent.cuh", "ControlShape").CONTROL_WORDS
"""Number of control words of a launch, in device memory. They are zero when the launch starts. The
first word is the ticket counter: at barriers it counts the blocks that have arrived. The kernel may
use the other words for any purpose."""


@dataclass(frozen=True)
class PersistentTuning:
    """How the host waits for launches, and the maximum size of a grid."""

    tickets: int = 0  # initial value of the ticket counter, which wraps around at 2^32
    # number of clock ticks (about a third of a millisecond) between two reads of the host's word
    patience: int = 1 << 19
    most_blocks: int = 1 << 16  # maximum number of blocks in a grid, even if the GPU can hold more
    launches: int = 128  # number of launches whose counters are zeroed together
    spin: float = 300e-6  # seconds for which the host polls without a pause
    nap: float = 20e-6  # seconds between two polls after `spin` seconds
    check: float = 1e-3  # seconds between two checks for an error of the GPU


TUNING = PersistentTuning()


class _Words:
    """Words of host memory. The kernel launches of one stream write their results there, one launch
    after another."""

    def __init__(self) -> None:
        self.memory = xp.cuda.alloc_pinned_memory(8 * WORDS)
        # With unified addressing, pinned memory has one address for the host and every GPU.
        self.address = self.memory.ptr
        self.words = np.frombuffer(self.memory, np.uint64, WORDS)
        self.words[:] = 0
        self.view = self.words.data
        self.zeros: Array = None
        self.first = 0
        self.left = 0
        self.launches = count(1)

    def control(self, tuning: PersistentTuning) -> int:
        """Return the device address of the control words for one launch. They are all 0, except
        that the ticket counter starts at the tuning parameter `tickets`."""
        if not self.left:
            self.left = tuning.launches
            self.zeros = xp.zeros((self.left, CONTROL), xp.uint64)
            self.first = self.zeros.data.ptr
        self.left -= 1
        if tuning.tickets:
            self.zeros[self.left, 0] = tuning.tickets << 32
        # computing the address is faster than slicing the array
        return self.first + 8 * CONTROL * self.left


class _Kept(local):
    def __init__(self) -> None:
        self.words: dict[tuple[int, int], _Words] = {}


_kept = _Kept()


class Refused(Exception):
    """Raised if the GPU cannot run the kernel's blocks in a cluster of this size."""


def grid(kernel: Kernel, block: int, shared: int = 0, each: int = 32, cluster: int = 1) -> int:
    """Return the number of blocks that can be resident on the GPU at the same time.

    At most `each` blocks per multiprocessor are counted. If the blocks form clusters, fewer may
    fit; `run` finds out how many.
    """
    fit = kernel.resident(block, shared) if card().is_cooperative else 0
    if not fit:
        why = "holds none of its blocks" if card().is_cooperative else "has no such launch"
        raise DeviceUnavailable(
            f"{kernel.what} needs all its blocks on the card at a time (a cooperative launch), "
            f"and this card {why}: {block} threads with {shared:,} bytes of shared memory each"
        )
    blocks = min(min(fit, each) * card().multiprocessors, current(TUNING).most_blocks)
    return max(blocks // cluster, 1) * cluster


def run(
    kernel: Kernel,
    blocks: int,
    block: int,
    *args: Any,
    results: int,
    shared: int = 0,
    cooperative: bool = True,
    cluster: int = 1,
    meanwhile: Callable[[], None] | None = None,
    as_struct: bool = False,
) -> list[int]:
    """Launch a kernel and wait; return its status and the numbers that it reports.

    If `as_struct` is true, the first parameter of the kernel is a `Launch`. Otherwise the first
    five parameters are the fields of `Launch`.

    `blocks` must be at most `grid(...)`, unless the blocks do not wait for one another or form a
    single cluster (then set `cooperative` to False). An interrupt stops the kernel and is raised
    again. With several clusters, the launch has as many blocks as the GPU accepts. `Refused` is
    raised if the GPU accepts no cluster of this size. `meanwhile` is called between the launch and
    the wait.
    """
    stream = xp.cuda.get_current_stream()
    place = (xp.cuda.runtime.getDevice(), stream.ptr)
    kept = _kept.words.get(place)
    if kept is None:
        kept = _kept.words[place] = _Words()
    launch = next(kept.launches) & 0xFFFFFFFF or next(kept.launches) & 0xFFFFFFFF
    view, told = kept.view, range(STATUS, RESULTS + results)
    view[STOP] = 0
    tuning = current(TUNING)
    control = kept.control(tuning)
    head: tuple[Any, ...]
    if as_struct:
        packed = LAUNCH(
            control=control,
            host=kept.address,
            patience=tuning.patience,
            tickets=tuning.tickets,
            number=launch,
        )
        head = (packed,)
    else:
        head = (np.uint64(control), np.uint32(tuning.tickets), np.uint64(kept.address))
        head = (*head, np.uint32(launch), np.int64(tuning.patience))
    try:
        if cluster == 1:
            kernel(blocks, block, *head, *args, shared=shared, cooperative=cooperative)
        elif not cooperative:  # all blocks form one cluster, so they run at the same time
            try:
                kernel(blocks, block, *head, *args, shared=shared)
            except xp.cuda.driver.CUDADriverError as error:
                raise Refused(str(error)) from error
        else:
            _launch_clusters(kernel, blocks, cluster, block, *head, *args, shared=shared)
        if meanwhile is not None:
            meanwhile()
        _wait(view, told, launch, stream)
    except BaseException:
        view[STOP] = 1
        stream.synchronize()  # raises an error if the GPU has failed
        raise
    return [view[k] & 0xFFFFFFFF for k in told]


_taken: dict[tuple[Kernel, int], int] = {}
"""The number of blocks that the GPU accepted in an earlier launch that used clusters. The key is
the kernel and the number of bytes of shared memory."""


def _launch_clusters(
    kernel: Kernel, blocks: int, cluster: int, block: int, *args: Any, shared: int
) -> None:
    """Launch as many blocks in clusters as the GPU accepts.

    The GPU can hold fewer blocks at a time if they form clusters. CuPy has no function that returns
    their number. A launch with too many blocks fails, so we try smaller grids until one succeeds.
    """
    taken = _taken.get((kernel, shared))
    for fewer in range(taken or blocks, 0, -cluster):
        try:
            if taken is None and cluster > 8:
                kernel.widen()
            kernel(fewer, block, *args, shared=shared, cooperative=True)
        except xp.cuda.driver.CUDADriverError as error:
            if "TOO_LARGE" not in str(error):
                raise Refused(str(error)) from error
        else:
            _taken[kernel, shared] = fewer
            return
    raise Refused(f"{kernel.what} in clusters of {cluster}")


def _wait(view: memoryview, told: range, launch: int, stream: Any) -> None:
    """Wait until the launch has written all its results to host memory.

    The high half of each word then contains the number of the launch. `told` are the indices of
    these words in `view`.
    """
    begin = time.perf_counter()
    asked, tuning = begin, current(TUNING)
    for k in told:
        while view[k] >> 32 != launch:
            now = time.perf_counter()
            if now - asked > tuning.check:
                asked = now
                _check(stream, view, told, launch)
            if now - begin > tuning.spin:
                time.sleep(tuning.nap)


def _check(stream: Any, view: memoryview, told: range, launch: int) -> None:
    """Raise the GPU's error, or an error if the launch has ended without a report."""
    if xp.cuda.runtime.streamQuery(stream.ptr) != NOT_READY:
        stream.synchronize()  # raises the GPU's error
        if any(view[k] >> 32 != launch for k in told):
            raise RuntimeError("a traversal ended and told nothing")
