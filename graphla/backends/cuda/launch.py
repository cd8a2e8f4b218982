"""How operands are handed to kernels, how large a grid is, and how the host waits for a number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from itertools import cycle
from threading import local
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.tuning import current
from graphla.compilers.cuda import NOTHING, load
from graphla.compilers.declarations import Packed, Struct, enumeration
from graphla.formats import Array, Csr, SparseVector, is_iso, remember

BLOCK, WIDEST_BLOCK = enumeration("device.cuh", "BlockShape")
"""Threads of a block: of kernels that have no number of their own, and of the widest blocks."""

WARP = enumeration("device.cuh", "WarpShape").WARP_LANES
"""Threads of a warp."""

STEPS = enumeration("rows.cuh", "TileShape").STEPS
"""Entries of a tile for each of its threads."""

UNREAD, ISO, EACH = enumeration("device.cuh", "Kept")

DENSE, LISTED, BY_ROWS = enumeration("rows.cuh", "Where")

INT32_END = 1 << 31

NULL = np.uint64(0)
"""Stands for an array that a kernel does not read."""

Read = tuple[Any, np.dtype[Any], int]
NOT_READ: Read = (NULL, np.dtype(np.int8), UNREAD)


def read(values: Array, is_read: bool = True) -> Read:
    """The pointer, dtype and `Kept` of values, as `Values` of device.cuh takes them."""
    if not is_read:
        return NOT_READ
    return (values, values.dtype, ISO if is_iso(values) else EACH)


@dataclass(frozen=True, slots=True)
class Card:
    """What a card has, as far as launches depend on it."""

    multiprocessors: int
    shared: int  # bytes of shared memory that a block may ask for
    is_cooperative: bool  # whether all blocks of a launch may wait for one another
    has_clusters: bool


def card() -> Card:
    """Return what the current card has."""
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
    """Return `size` times the one element of `value`, iso."""
    return xp.broadcast_to(value, (size,))


def blocks(items: int, block: int = BLOCK) -> int:
    """A grid of a thread for each item, as far as the card runs them in a few waves.

    Kernels stride over the rest: `for (i64 k = thread_in_grid(); k < n; k += threads_in_grid())`.
    """
    return min(-(-items // block), 16 * card().multiprocessors * (2048 // block))


def tiles(entries: int) -> int:
    """A grid of a block for each tile of entries, as `blocks`."""
    return blocks(-(-entries // STEPS))


Places = tuple[Any, np.int64, Any, int, np.dtype[Any]]
NO_PLACES: Places = (NULL, np.int64(-1), NULL, DENSE, np.dtype(np.int32))


def places(a: Any) -> Places:
    """indptr, nrows (-1 for a vector), indices, `Where`, indptr's dtype: as rows.cuh takes them."""
    if isinstance(a, Csr):
        return a.indptr, np.int64(a.nrows), a.indices, BY_ROWS, a.indptr.dtype
    if isinstance(a, SparseVector):
        return NULL, np.int64(-1), a.indices, LISTED, np.dtype(np.int32)
    return NO_PLACES


CSR = Struct("device.cuh", "Csr")


def csr(a: Csr, values: Any = NULL) -> Packed:
    """A matrix as kernels take it: `Csr` of device.cuh, with values as `read` gives them."""
    if values is a.values:
        return remember(a, "with values", lambda: _csr(a, values))
    return remember(a, "pattern", lambda: _csr(a, NULL)) if values is NULL else _csr(a, values)


def _csr(a: Csr, values: Any) -> Packed:
    return CSR(indptr=a.indptr, indices=a.indices, values=values, nrows=a.nrows, ncols=a.ncols)


def offset_dtype(nvals: int) -> np.dtype[Any]:
    """The dtype of the indptr of so many entries."""
    return np.dtype(np.int32 if nvals < INT32_END else np.int64)


def rows_of(a: Csr) -> Array:
    """The row of each entry, int32."""
    rows = xp.empty(a.nvals, xp.int32)
    if a.nvals:
        kernel = load("rows.cu", "rows_of_entries", NOTHING, a.indptr.dtype)
        kernel(tiles(a.nvals), BLOCK, a.indptr, size(a.nrows), rows, size(a.nvals))
    return rows


class _Zeros(local):
    """Zeros to count in, made many at a time: of each thread, for each stream of each card."""

    def __init__(self) -> None:
        self.left: dict[tuple[int, int], tuple[Array, int]] = {}


_zeros = _Zeros()


@dataclass(frozen=True)
class CounterTuning:
    """How counters are allocated."""

    batch: int = 512
    """Counters allocated at a time: 4 KB, which stay allocated while one of them is in use."""


TUNING = CounterTuning()


def counter() -> Array:
    """A zero (int64, 0-d) in device memory for a kernel to count in; mostly at no launch."""
    stream = (xp.cuda.runtime.getDevice(), xp.cuda.get_current_stream().ptr)
    zeros, left = _zeros.left.get(stream, (None, 0))
    if not left:
        left = current(TUNING).batch
        zeros = xp.zeros(left, xp.int64)
    _zeros.left[stream] = zeros, left - 1
    return zeros[left - 1]  # pyright: ignore[reportOptionalSubscript]


def counters(count: int) -> Array:
    """So many zeros (int64), side by side."""
    stream = (xp.cuda.runtime.getDevice(), xp.cuda.get_current_stream().ptr)
    zeros, left = _zeros.left.get(stream, (None, 0))
    if left < count:
        left = max(current(TUNING).batch, count)
        zeros = xp.zeros(left, xp.int64)
    _zeros.left[stream] = zeros, left - count
    return zeros[left - count : left]  # pyright: ignore[reportOptionalSubscript]


ANSWERS = 256
"""Answers of each thread. A launch that was interrupted may still store into its own."""


class Answer:
    """Two words of the host's memory: pass `pointer` to a kernel that stores one or two values.

    This takes half the time of a copy from the device's memory.
    """

    __slots__ = ("_words", "address", "pointer")

    def __init__(self, words: Any, address: int) -> None:
        self._words = words
        self.address = address  # for a field of a struct
        self.pointer = np.uint64(address)

    def wait(self) -> int:
        """Wait for the current stream, and return the first word as an integer."""
        xp.cuda.get_current_stream().synchronize()
        return int(self._words[0])

    def value(self, word: int, dtype: np.dtype[Any]) -> Any:
        """Return a word as a NumPy scalar, after `wait`."""
        return self._words[word : word + 1].view(dtype)[0]


class _Answers(local):
    """The answers of a thread, which take turns."""

    def __init__(self) -> None:
        # With unified addresses what is pinned has one address for the host and every card.
        self.memory = xp.cuda.alloc_pinned_memory(16 * ANSWERS)
        words = np.frombuffer(self.memory, np.int64, 2 * ANSWERS).reshape(-1, 2)
        self.turns = cycle([Answer(each, self.memory.ptr + 16 * k) for k, each in enumerate(words)])


_answers: _Answers | None = None


def next_answer() -> Answer:
    """Return an answer of this thread that no launch is using."""
    global _answers
    if _answers is None:
        _answers = _Answers()
    return next(_answers.turns)


def number(scalar: Array) -> int:
    """A number that the device has computed: the host waits for it."""
    return int(scalar)


def to_numbers(array: Array) -> list[int]:
    """A few numbers that the device has computed: the host waits for them, once."""
    return array.tolist()


def size(n: int) -> np.int64:
    """A size as kernels take it."""
    return np.int64(n)
