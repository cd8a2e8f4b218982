"""Pass operands to kernels, choose the size of a grid, and return numbers from the GPU to the
host."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import cycle
from threading import local
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.tuning import current
from graphla.compilers.cuda import NOTHING, load
from graphla.compilers.declarations import Constant, Packed, Struct, enumeration
from graphla.formats import Array, Csr, SparseVector, is_iso, remember

BLOCK, WIDEST_BLOCK = enumeration("device.cuh", "BlockShape")
"""Threads per block: the default, and the number for the widest blocks."""

WARP = enumeration("device.cuh", "WarpShape").WARP_LANES
"""Number of threads in a warp."""

STEPS = enumeration("rows.cuh", "TileShape").STEPS
"""Number of tile entries per thread."""

UNREAD, ISO, EACH = enumeration("device.cuh", "Kept")

DENSE, LISTED, BY_ROWS = enumeration("rows.cuh", "Where")

INT32, INT64 = np.dtype(np.int32), np.dtype(np.int64)
INT32_END = 1 << 31

NULL = Constant(np.uint64(0))
"""The pointer to pass for an array that a kernel does not read."""

FALSE, TRUE = Constant(np.bool_(False)), Constant(np.bool_(True))

Read = tuple[Any, np.dtype[Any], int]
NOT_READ: Read = (NULL, np.dtype(np.int8), UNREAD)


def read(values: Array, is_read: bool = True) -> Read:
    """Return how a kernel reads an array of values: the array, its dtype, and a code.

    The code (`Kept` in device.cuh) is EACH for one value per entry, ISO for a single value that all
    entries share, or UNREAD if the kernel does not read the values.
    """
    if not is_read:
        return NOT_READ
    return (values, values.dtype, ISO if is_iso(values) else EACH)


@dataclass(frozen=True, slots=True)
class Card:
    """The properties of a GPU that determine how kernels are launched."""

    multiprocessors: int
    shared: int  # maximum number of bytes of shared memory per block
    is_cooperative: bool  # whether all blocks of a launch may wait for one another in a barrier
    has_clusters: bool


def card() -> Card:
    """Return the properties of the current GPU."""
    return _card(xp.cuda.runtime.getDevice())


@cache
def _card(device: int) -> Card:
    attributes = xp.cuda.Device(device).attributes
    return Card(
        multiprocessors=attributes["MultiProcessorCount"],
        shared=attributes["MaxSharedMemoryPerBlockOptin"],
        is_cooperative=bool(attributes["CooperativeLaunch"]),
        has_clusters=int(xp.cuda.Device(device).compute_capability) >= 90,
    )


def repeat_value(value: Array, size: int) -> Array:
    """Return an array of `size` elements with stride 0, all of which are the element of `value`."""
    return xp.broadcast_to(value, (size,))


def blocks(items: int, block: int = BLOCK) -> int:
    """Return the number of blocks for a launch with one thread per item, but at most 16 times the
    number of blocks that the GPU can run at once.

    If there are more items than threads, each thread of the kernel takes several items:
    `for (i64 k = thread_in_grid(); k < n; k += threads_in_grid())`.
    """
    if 0 < items <= block:
        return 1
    return min(-(-items // block), 16 * card().multiprocessors * (2048 // block))


def tiles(entries: int) -> int:
    """Return the number of blocks for a launch with one block per tile.

    The number is limited as in `blocks`.
    """
    return blocks(-(-entries // STEPS))


NO_ROWS = Constant(np.int64(-1))
"""The value -1, which kernels of rows.cuh get as the number of rows if the operand is a vector."""

Places = tuple[Any, Any, Any, int, np.dtype[Any]]
NO_PLACES: Places = (NULL, NO_ROWS, NULL, DENSE, np.dtype(np.int32))


def places(a: Any) -> Places:
    """Return the arguments from which the kernels of rows.cuh compute the positions of entries.

    The tuple holds indptr, nrows (-1 for a vector), indices, a code for the storage format (`Where`
    in rows.cuh) and the dtype of indptr.
    """
    if isinstance(a, Csr):
        return a.indptr, np.int64(a.nrows), a.indices, BY_ROWS, a.indptr.dtype
    if isinstance(a, SparseVector):
        return NULL, NO_ROWS, a.indices, LISTED, np.dtype(np.int32)
    return NO_PLACES


CSR = Struct("device.cuh", "Csr")


def csr(a: Csr, values: Any = NULL) -> Packed:
    """Pack a matrix as the `Csr` of device.cuh; `values` is the first result of `read`."""
    if values is a.values:
        return remember(a, "with values", lambda: _csr(a, values))
    return remember(a, "pattern", lambda: _csr(a, NULL)) if values is NULL else _csr(a, values)


def _csr(a: Csr, values: Any) -> Packed:
    return CSR(indptr=a.indptr, indices=a.indices, values=values, nrows=a.nrows, ncols=a.ncols)


def offset_dtype(nvals: int) -> np.dtype[Any]:
    """Return the dtype of indptr for `nvals` entries."""
    return np.dtype(np.int32 if nvals < INT32_END else np.int64)


def rows_of(a: Csr) -> Array:
    """Return the row of each entry, as int32."""
    rows = xp.empty(a.nvals, xp.int32)
    if a.nvals:
        kernel = load("rows.cu", "rows_of_entries", NOTHING, a.indptr.dtype)
        kernel(tiles(a.nvals), BLOCK, a.indptr, size(a.nrows), rows, size(a.nvals))
    return rows


class _Zeros(local):
    """The counters that a thread has allocated but not used yet, for each device and stream.

    All of them are 0.
    """

    def __init__(self) -> None:
        self.left: dict[tuple[int, int], tuple[Array, int]] = {}


_zeros = _Zeros()


@dataclass(frozen=True)
class CounterTuning:
    """The number of counters that are allocated together."""

    batch: int = 512
    """Number of counters per allocation (4 KB). An allocation is freed once no counter in it is
    used."""


TUNING = CounterTuning()


def counter() -> Array:
    """Return a counter in device memory that is 0: an int64 array without dimensions.

    Most calls launch no kernel, because the counters are allocated in batches.
    """
    stream = (xp.cuda.runtime.getDevice(), xp.cuda.get_current_stream().ptr)
    zeros, left = _zeros.left.get(stream, (None, 0))
    if not left:
        left = current(TUNING).batch
        zeros = xp.zeros(left, xp.int64)
    _zeros.left[stream] = zeros, left - 1
    # Creating the array from its address takes less time than `zeros[left - 1]`.
    return xp.ndarray((), INT64, zeros.data + 8 * (left - 1))  # pyright: ignore


def counters(count: int) -> Array:
    """Return `count` zeroed counters (int64) in one contiguous array."""
    stream = (xp.cuda.runtime.getDevice(), xp.cuda.get_current_stream().ptr)
    zeros, left = _zeros.left.get(stream, (None, 0))
    if left < count:
        left = max(current(TUNING).batch, count)
        zeros = xp.zeros(left, xp.int64)
    _zeros.left[stream] = zeros, left - count
    return zeros[left - count : left]  # pyright: ignore[reportOptionalSubscript]


ANSWERS = 256
"""Number of `Answer` objects per thread; a thread uses its objects in round-robin order.

There are many objects because an interrupted launch may still write to its answer after later
launches have started.
"""


WORDS = 8
"""Number of 8-byte words in an answer."""


class Answer:
    """Host memory to which a kernel writes up to 8 values; pass `pointer` to the kernel.

    Reading a value this way takes half the time of a copy from device memory.
    """

    __slots__ = ("_memory", "address", "pointer")

    def __init__(self, words: Any, address: int) -> None:
        self._memory = words
        self.address = address  # the value of `pointer` as an int, for use in structs
        self.pointer = Constant(np.uint64(address))

    def wait(self) -> int:
        """Wait for the current stream, then return the first word of the answer as an integer."""
        xp.cuda.get_current_stream().synchronize()
        return int(self._memory[0])

    def numbers(self, count: int) -> list[int]:
        """Wait for the current stream, and return the first `count` words as integers."""
        xp.cuda.get_current_stream().synchronize()
        return self._memory[:count].tolist()

    def value(self, word: int, dtype: np.dtype[Any]) -> Any:
        """Return a word as a NumPy scalar. Call `wait` first."""
        return self._memory[word : word + 1].view(dtype)[0]


class _Answers(local):
    """The `Answer` objects of one thread, which the thread reuses in round-robin order."""

    def __init__(self) -> None:
        # With unified addressing, pinned memory has one address for the host and every GPU.
        self.memory = xp.cuda.alloc_pinned_memory(8 * WORDS * ANSWERS)
        words = np.frombuffer(self.memory, np.int64, WORDS * ANSWERS).reshape(-1, WORDS)
        first, each = self.memory.ptr, 8 * WORDS
        self.turns = cycle([Answer(row, first + each * k) for k, row in enumerate(words)])


_answers: _Answers | None = None


def next_answer() -> Answer:
    """Return the least recently used answer of this thread."""
    global _answers
    if _answers is None:
        _answers = _Answers()
    return next(_answers.turns)


UNCOUNTED = -1
"""The value of a word of `_CountWords` until a kernel stores a count in the word."""

Word = tuple[memoryview, int, int]
"""A word of host memory: the memory block, the position in this block, and the address."""


class _CountWords:
    """Words of host memory to which kernels write counts. All threads and GPUs share these
    words."""

    def __init__(self) -> None:
        self.free: deque[Word] = deque()
        # Words that the host no longer reads, but to which a launch may still write.
        self.late: deque[Word] = deque()

    def more(self) -> Word:
        """Return a word to which no running kernel may still write.

        This moves words from `late` to `free` or, if there are none, allocates memory. Call it only
        when `free` is empty.
        """
        for _ in range(len(self.late)):
            words, k, _ = word = self.late.popleft()
            (self.late if words[k] == UNCOUNTED else self.free).append(word)
        if not self.free:
            # With unified addressing, pinned memory has one address for the host and every GPU.
            memory = xp.cuda.alloc_pinned_memory(8 * ANSWERS)
            words = np.frombuffer(memory, np.int64, ANSWERS).data
            self.free.extend((words, k, memory.ptr + 8 * k) for k in range(ANSWERS))
        return self.free.popleft()


_count_words = _CountWords()


class PendingCount:
    """A count that a kernel stores in host memory and that the host may read at any later time.

    Pass `address` to the kernel, which stores the count there as an int64. `int(count)` waits until
    the kernel has done so.
    """

    __slots__ = ("_device", "_word", "address")

    def __init__(self) -> None:
        try:
            word = _count_words.free.popleft()
        except IndexError:
            word = _count_words.more()
        words, k, self.address = self._word = word
        words[k] = UNCOUNTED
        self._device = xp.cuda.runtime.getDevice()

    def __int__(self) -> int:
        words, k, _ = self._word
        if words[k] == UNCOUNTED:
            xp.cuda.get_current_stream().synchronize()
        # If the count is still missing, the kernel runs on another stream or another GPU. So wait
        # for all streams of the GPU that was current when this object was created.
        if words[k] == UNCOUNTED:
            xp.cuda.Device(self._device).synchronize()
        return words[k]

    def __del__(self, free: Any = _count_words.free, late: Any = _count_words.late) -> None:
        # `_word` does not exist if `__init__` failed for lack of memory.
        word = getattr(self, "_word", None)
        if word is not None:
            words, k, _ = word
            (late if words[k] == UNCOUNTED else free).append(word)


class OutputBuffer:
    """Memory for the indices and the values of up to `most` entries, in one allocation.

    Call the object to create the arrays once the number of entries is known.
    """

    __slots__ = ("_dtype", "_memory", "_start", "indices", "values")

    def __init__(self, most: int, dtype: np.dtype[Any]) -> None:
        self._dtype = dtype
        self._start = most * dtype.itemsize + 3 & ~3  # byte offset of the indices
        self._memory = memory = xp.cuda.alloc(self._start + 4 * most)
        self.values: int = memory.ptr
        self.indices: int = self.values + self._start

    def __call__(self, entries: int) -> tuple[Array, Array]:
        """Return the arrays of the indices and the values of `entries` entries."""
        memory = self._memory
        indices = xp.ndarray(entries, INT32, memory + self._start)
        return indices, xp.ndarray(entries, self._dtype, memory)


def number(scalar: Array) -> int:
    """Return a number from device memory; the host waits until it is computed."""
    return int(scalar)


def to_numbers(array: Array) -> list[int]:
    """Return a few numbers from device memory; the host waits once."""
    return array.tolist()


def flag(is_set: bool) -> Constant:
    """Return a Boolean argument of a kernel."""
    return TRUE if is_set else FALSE


@lru_cache(maxsize=4096)
def int32(n: int) -> Constant:
    """Return `n` as an int32 argument of a kernel."""
    return Constant(np.int32(n))


@lru_cache(maxsize=4096)
def size(n: int) -> Constant:
    """Return `n` as int64, the type of size parameters in kernels."""
    return Constant(np.int64(n))
