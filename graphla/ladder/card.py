"""The base class of the rungs that run on a GPU. A rung is one implementation of a search.

The class stores the levels and the counters, and counts the kernel launches. As in the literature,
the loop over levels runs on the host. Each level costs a kernel launch and a wait: the host copies
a few counters to pinned memory, and decides from them whether to continue.
"""

from __future__ import annotations

from typing import Any

import cupy as xp
import numpy as np
from cupy.cuda import runtime

from graphla.backends.cuda.launch import BLOCK, blocks
from graphla.compilers.cuda import Kernel
from graphla.formats import Array, Csr
from graphla.ladder.rung import Rung, Search
from graphla.stores import MatrixStore

STRIP = 256
"""Number of levels whose counters are set to zero at a time."""


class Counters:
    """The int64 counters of a level. The kernels of the level increment them, and the host reads
    them at the end of the level."""

    def __init__(self, each: int) -> None:
        self._zeros = xp.zeros((STRIP, each), xp.int64)
        self._bytes = 8 * each
        self._pinned = xp.cuda.alloc_pinned_memory(self._bytes)
        self._view = np.frombuffer(self._pinned, np.int64, each)
        self._level = STRIP

    def next(self) -> np.uint64:
        """Return the address of the counters for the next level. These counters have been set to
        zero."""
        self._level += 1
        if self._level >= STRIP:
            self._level = 0
            stream = xp.cuda.get_current_stream().ptr
            runtime.memsetAsync(self._zeros.data.ptr, 0, self._zeros.nbytes, stream)
        return np.uint64(self._zeros.data.ptr + self._bytes * self._level)

    def read(self) -> list[int]:
        """Wait for the kernels of this level, and return its counters."""
        place = self._zeros.data.ptr + self._bytes * self._level
        kind, stream = runtime.memcpyDeviceToHost, xp.cuda.get_current_stream()
        runtime.memcpyAsync(self._pinned.ptr, place, self._bytes, kind, stream.ptr)
        stream.synchronize()
        return self._view.tolist()


class CardRung(Rung):
    """A rung (an implementation of a search) that runs on a GPU.

    Its kernels use several counters per level; their number is the parameter `each`.
    """

    def __init__(self, a: MatrixStore, each: int = 1, dtype: Any = xp.int32) -> None:
        super().__init__(a)
        self.counters = Counters(each)
        self.levels = xp.empty(self.n, dtype)
        self.launches = 0

    def begin(self, source: int) -> None:
        """Mark all vertices as unreached, except the source, which is at level 0."""
        self.launches = 0
        stream, place = xp.cuda.get_current_stream().ptr, self.levels.data.ptr
        each = self.levels.itemsize
        runtime.memsetAsync(place, 0xFF, self.levels.nbytes, stream)
        runtime.memsetAsync(place + each * source, 0, each, stream)

    def launch(self, kernel: Kernel, threads: int, *args: Any, block: int = BLOCK) -> None:
        """Launch the kernel with about `threads` threads, rounded up to whole blocks.

        The number of blocks is limited (see `blocks`). If there are fewer threads than items, the
        grid-stride loop of the kernel gives each thread several items.
        """
        self.launches += 1
        kernel(blocks(threads, block), block, *args)

    def found(self, depth: int) -> Search:
        """Return the result of the finished search."""
        return Search(self.levels, depth, self.launches)


def nbytes(*arrays: Array | Csr) -> int:
    """Return the total number of bytes of the arguments.

    Each argument is an array or a CSR matrix. The values of a matrix are not counted.
    """
    return sum(
        x.indptr.nbytes + x.indices.nbytes if isinstance(x, Csr) else x.nbytes for x in arrays
    )
