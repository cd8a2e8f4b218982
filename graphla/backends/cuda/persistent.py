"""Run a whole traversal in one launch, wait for its end, and handle Ctrl-C.

Kernels: those that include persistent.cuh. All blocks of such a launch must be resident on the GPU
at the same time, so the grid has as many blocks as the GPU can hold. When the kernel ends, it
writes its status and results to words of host memory. The host waits for the traversal by polling
these words. So the host can react to Ctrl-C at once, by asking the kernel to stop.
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
"""Number of control words of a launch, in device memory. The first word is the ticket counter,
which counts the blocks that have arrived at barriers. The other words are zero when the launch
starts, and the kernel may use them for any purpose."""


@dataclass(frozen=True)
class PersistentTuning:
    """How the host waits for launches, and the maximum size of a grid."""

    tickets: int = 0  # initial value of the ticket counter, which wraps around at 2^32
    # clock ticks between two reads of the stop word by the kernel (about a third of a millisecond)
    patience: int = 1 << 19
    most_blocks: int = 1 << 16  # maximum number of blocks in a grid, even if the GPU can hold more
    launches: int = 128  # number of launches whose control words are allocated and zeroed together
    spin: float = 300e-6  # seconds for which the host polls without a pause
    nap: float = 20e-6  # seconds between two polls after the first `spin` seconds
    check: float = 1e-3  # seconds between two checks for a GPU error


TUNING = PersistentTuning()


class _Words:
    """Words of host memory to which all launches on one stream write their results, one launch
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
        """Return the device address of new control words for one launch. All of them are 0, except
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
    """The GPU cannot run the kernel's blocks in clusters of the requested size."""


def grid(kernel: Kernel, block: int, shared: int = 0, each: int = 32, cluster: int = 1) -> int:
    """Return the number of blocks that can be resident on the GPU at the same time, but at most
    `each` blocks per multiprocessor.

    The result is a multiple of `cluster`. Fewer blocks may fit if they form clusters; `run` then
    finds their number by trial launches.
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

    If `as_struct` is true, the first parameter of the kernel must be a `Launch`. Otherwise its
    first five parameters must be `control`, `tickets`, `host`, `number` and `patience` (see
    `Launch`).

    `blocks` must not exceed the result of `grid`. There are two exceptions, in which `cooperative`
    must be False: blocks that do not wait for one another, and blocks that form a single cluster.
    After Ctrl-C, `run` stops the kernel, and then reraises KeyboardInterrupt. With several
    clusters, the launch has as many blocks as the GPU accepts. `Refused` is raised if the GPU
    accepts no cluster of this size. `meanwhile` is called between the launch and the wait.
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
        elif not cooperative:  # a single cluster: its blocks always run at the same time
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
        stream.synchronize()  # this raises an error if the GPU has failed
        raise
    return [view[k] & 0xFFFFFFFF for k in told]


_taken: dict[tuple[Kernel, int], int] = {}
"""The number of blocks that the GPU accepted in an earlier launch of a kernel with clusters. The
key contains the kernel and the number of bytes of shared memory per block."""


def _launch_clusters(
    kernel: Kernel, blocks: int, cluster: int, block: int, *args: Any, shared: int
) -> None:
    """Launch the kernel with as many blocks as the GPU accepts, in clusters.

    The GPU can hold fewer blocks at a time if they form clusters. CuPy has no function that returns
    this smaller number. A launch with too many blocks fails. So this function tries smaller and
    smaller grids until a launch succeeds.
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

    `told` contains the indices of the words in `view` to which the kernel writes results. A word
    has been written once its high half contains `launch`, the number of the launch.
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
    """Do nothing while the launch is running. After its end, raise the error that the GPU reports,
    or a RuntimeError if results are missing."""
    if xp.cuda.runtime.streamQuery(stream.ptr) != NOT_READY:
        stream.synchronize()  # this raises the GPU's error
        if any(view[k] >> 32 != launch for k in told):
            raise RuntimeError("a traversal ended and told nothing")
