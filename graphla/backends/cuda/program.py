"""Run the kernel of a compiled loop by one cooperative launch. Kernels: printed by
program/cuda_text.py.

The host waits for the end of the loop, by polling (see `persistent`). If the memory of a stack is
full, the kernel leaves with its state; the host then enlarges the memory, and launches the kernel
again, which goes on where it left.

The kernel and the host exchange the state of the program by words of 8 bytes in host memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from threading import local
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda import persistent, program_products
from graphla.backends.cuda.hot_columns import Hubs
from graphla.backends.cuda.launch import EACH, NULL, UNREAD
from graphla.backends.cuda.program_products import (
    ARRAYS,
    number_of_chunks,
    pull_form,
    push_form,
)
from graphla.backends.requests import Level
from graphla.backends.tuning import current
from graphla.compilers.cuda import load_text
from graphla.compilers.declarations import Packed, Struct, enumeration
from graphla.formats import (
    AnyVector,
    Array,
    BitmapVector,
    Csr,
    FullVector,
    SparseVector,
    is_iso,
    remember,
)


@dataclass(frozen=True, slots=True)
class ProgramTuning:
    """Sizes that compiled loops use."""

    # Threads per block; one block runs on each multiprocessor. A thread then has 128 registers; with
    # 64, sweeps would store what they load in local memory, and so wait for one load at a time.
    block: int = 512
    stack_entries: int = 2  # entries that a stack can hold at first, as a multiple of its dimension
    stack_items: int = 1 << 16  # vectors that a stack can hold at first
    records: int = 1 << 16  # maximum number of products that a trace records


TUNING = ProgramTuning()

FRAME = Struct("program.cuh", "Frame")
RECORDS = Struct("persistent.cuh", "Records")
LACKS_ROOM = enumeration("program.cuh", "ProgramStatus").LACKS_ROOM
COUNT_WORDS, COUNT_RING = enumeration("program.cuh", "CountShape")
State = enumeration("program.cuh", "StateWord")
SCALAR_FAULTS = enumeration("program_scalars.cuh", "ScalarFault")

ALIGNMENT = 128
"""The alignment in bytes of presence flags, queues and the counts of a vector."""


# --- what a kernel needs ------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SlotPlace:
    """A slot: the index of its first word, its dimension and dtype, and whether it has a queue."""

    at: int
    dim: int
    dtype: np.dtype[Any]
    has_queue: bool


@dataclass(frozen=True, slots=True)
class StackPlace:
    """A stack: the index of its first word, its dimension and dtype."""

    at: int
    dim: int
    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True)
class Layout:
    """The layout of the state of a program.

    `dims`, `arrays` and `inputs` are indices of first words. `saves` has the index of a stack for
    each number that the kernel reports when this stack lacks room.
    """

    size: int
    dims: int
    arrays: int
    slots: tuple[SlotPlace, ...]
    inputs: tuple[int, ...]
    stacks: tuple[StackPlace, ...]
    saves: tuple[int, ...]
    folds: int


@dataclass(frozen=True, slots=True)
class Form:
    """A form of a matrix, as a kernel reads it: for pulls or for pushes.

    `columns` is the other form if it makes pulls faster (see `pull_form`).
    """

    a: Csr
    is_pulled: bool
    is_read: bool
    hubs: Hubs | None = None
    columns: Csr | None = None


@dataclass(frozen=True, slots=True)
class Loop:
    """The kernel of a loop: its text, the name of its template, and a description."""

    text: str
    entry: str
    what: str
    block: int
    layout: Layout


@dataclass(slots=True)
class _StackMemory:
    indices: Array
    values: Array
    ends: Array


class _Words(local):
    """Words of host memory that a thread's launches read and write, one launch after another."""

    def __init__(self) -> None:
        self.memory: Any = None
        self.room = 0

    def take(self, count: int) -> tuple[int, Array]:
        """Return the address of `count` words, and the words."""
        if count > self.room:
            self.room = max(256, 1 << count.bit_length())
            self.memory = xp.cuda.alloc_pinned_memory(8 * self.room)
        return self.memory.ptr, np.frombuffer(self.memory, np.uint64, count)


_words = _Words()


# --- a run --------------------------------------------------------------------------------------


class Run:
    """One run of a loop.

    `state` has the words of the program. Fill in those of the scalars, call `launch`, and read the
    results.
    """

    def __init__(
        self,
        loop: Loop,
        forms: Sequence[Form],
        dims: Sequence[int],
        arrays: Sequence[np.ndarray],
        inputs: Sequence[AnyVector],
        stacks: Sequence[Sequence[SparseVector]],
        is_traced: bool,
    ) -> None:
        self.layout, self.dims, self.tuning = loop.layout, dims, current(TUNING)
        self.block, self.forms = loop.block, forms
        self.kernel = load_text(loop.text, loop.entry, loop.what)
        self.shared = max((each.hubs.shared for each in forms if each.hubs), default=0)
        self.blocks = persistent.grid(self.kernel, self.block, self.shared, each=1)
        self.is_traced = is_traced
        self.kept: list[Any] = []  # arrays that the kernel reads
        self.values: list[Array] = []
        self.owner: dict[int, int] = {}  # for each address of flags, the index of the values
        self.state: list[int] = [0] * self.layout.size
        self.stacks: list[_StackMemory] = []
        layout, state = self.layout, self.state
        state[layout.dims : layout.dims + len(dims)] = dims
        for k, array in enumerate(arrays):
            self.kept.append(xp.asarray(array))
            state[layout.arrays + k] = self.kept[-1].data.ptr
        self._allocate()
        for at, v in zip(layout.inputs, inputs, strict=True):
            state[at : at + 5] = self._input(v)
        for place, vectors in zip(layout.stacks, stacks, strict=True):
            self._fill_stack(place, vectors)

    def _allocate(self) -> None:
        """Allocate the memory of the slots, and the memory that only the kernel uses."""
        layout, state, dims = self.layout, self.state, self.dims
        sizes = [_round_up(dims[slot.dim]) for slot in layout.slots]
        self.flags = xp.empty(sum(sizes), bool)
        ring = 8 * COUNT_WORDS * COUNT_RING
        chunks = number_of_chunks([each.a for each in self.forms if each.is_pulled])
        scratch = _Scratch()
        self.counts = scratch.add(ring * len(layout.slots))
        self.zeros = scratch.add(4 * (chunks + 2))
        self.sums, self.has = scratch.add(8 * chunks), scratch.add(chunks)
        self.partials = scratch.add(32 * self.blocks * layout.folds)
        queues = [
            scratch.add(4 * dims[slot.dim]) if slot.has_queue else -1 for slot in layout.slots
        ]
        self.scratch = scratch.allocate()
        flag, self.first = self.flags.data.ptr, _first_line(self.scratch)
        first = self.first
        for k, (slot, size, queue) in enumerate(zip(layout.slots, sizes, queues, strict=True)):
            values = xp.empty(dims[slot.dim], slot.dtype)
            self.owner[flag] = k
            self.values.append(values)
            state[slot.at : slot.at + 4] = (
                *(values.data.ptr, flag, first + queue if queue >= 0 else 0),
                first + self.counts + ring * k,
            )
            flag += size

    def _input(self, v: AnyVector) -> tuple[int, ...]:
        """Return the words of an input vector."""
        values = v.values
        self.kept.append(v)
        step = 0 if is_iso(values) else 1
        at = values.data.ptr if values.size else 0
        if isinstance(v, SparseVector):
            return (v.indices.data.ptr or ALIGNMENT, 0, at, step, v.nvals)
        present = v.present.data.ptr if isinstance(v, BitmapVector) else 0
        return (0, present, at, step, v.size)

    # --- stacks ---------------------------------------------------------------------------------

    def _fill_stack(self, place: StackPlace, vectors: Sequence[SparseVector]) -> None:
        ends = np.cumsum([0, *(v.nvals for v in vectors)])
        top, length = int(ends[-1]), len(vectors)
        room = max(2 * top, self.tuning.stack_entries * self.dims[place.dim], 1)
        memory = _make_stack(room, max(2 * length, self.tuning.stack_items), place.dtype)
        for begin, v in zip(ends.tolist(), vectors, strict=False):
            memory.indices[begin : begin + v.nvals] = v.indices
            memory.values[begin : begin + v.nvals] = v.values
        memory.ends[:length] = xp.asarray(ends[1:])
        self.stacks.append(memory)
        self._set_stack(place, memory)
        self.state[place.at + 5 : place.at + 8] = [length, top, length]

    def _set_stack(self, place: StackPlace, memory: _StackMemory) -> None:
        self.state[place.at : place.at + 5] = (
            *(memory.indices.data.ptr, memory.values.data.ptr, memory.ends.data.ptr),
            *(memory.values.size, memory.ends.size),
        )

    def _enlarge(self) -> None:
        """Enlarge the memory of the stack that lacks room."""
        state = self.state
        number = self.layout.saves[state[State.STATE_RESUME] - 1]
        place, old = self.layout.stacks[number], self.stacks[number]
        length, top = state[place.at + 5 : place.at + 7]
        room = max(2 * old.values.size, 2 * (top + state[State.STATE_NEEDED]))
        new = _make_stack(room, 2 * max(old.ends.size, length), place.dtype)
        new.indices[:top] = old.indices[:top]
        new.values[:top] = old.values[:top]
        new.ends[:length] = old.ends[:length]
        self.stacks[number] = new
        self._set_stack(place, new)

    # --- launch ---------------------------------------------------------------------------------

    def launch(self) -> int:
        """Launch the kernel until the program ends, and return its status."""
        frame, packed = self._frame(), [_pack(each) for each in self.forms]
        words = self.words[1]
        while True:
            words[:] = np.array(self.state, np.uint64)
            (status,) = persistent.run(
                self.kernel,
                self.blocks,
                self.block,
                frame,
                *packed,
                results=0,
                shared=self.shared,
                as_struct=True,
            )
            self.state = words.tolist()
            if status != LACKS_ROOM:
                return status
            self._enlarge()

    def _frame(self) -> Packed:
        room = self.tuning.records if self.is_traced else 0
        self.records = xp.empty(4 * room, xp.uint64) if room else None
        self.words = _words.take(self.layout.size)
        first = self.first
        zeros = first + self.zeros
        return FRAME(
            words=self.words[0],
            partials=first + self.partials,
            flags=self.flags,
            counts=first + self.counts,
            zeros=zeros,
            flag_words=self.flags.size // 8,
            count_words=len(self.layout.slots) * COUNT_WORDS * COUNT_RING,
            zero_words=(self.sums - self.zeros) // 8,
            arrays=ARRAYS(
                sums=first + self.sums, has=first + self.has, arrived=zeros + 8, turns=zeros
            ),
            records=RECORDS(at=self.records, room=room),
        )

    # --- results --------------------------------------------------------------------------------

    def vector(self, number: int) -> AnyVector:
        """Return the vector in a slot."""
        place = self.layout.slots[number]
        n = self.dims[place.dim]
        _, flags, _, _, entries = self.state[place.at : place.at + 5]
        values = self.values[self.owner[flags]]
        if n and entries == n:
            return FullVector(n, values)
        begin = flags - self.flags.data.ptr
        return BitmapVector(n, self.flags[begin : begin + n], values, entries)

    def stack(self, number: int) -> list[SparseVector | None]:
        """Return the vectors of a stack; None stands for an item that it had from the start."""
        place, memory = self.layout.stacks[number], self.stacks[number]
        n, (length, _, lowest) = self.dims[place.dim], self.state[place.at + 5 : place.at + 8]
        ends = [0, *memory.ends[:length].tolist()]
        return [
            None
            if k < lowest
            else SparseVector(n, memory.indices[begin:end], memory.values[begin:end], False)
            for k, (begin, end) in enumerate(pairwise(ends))
        ]

    def levels(self) -> list[Level]:
        """Return the trace: a record for each product."""
        if self.records is None:
            return []
        count = min(self.state[State.STATE_PRODUCTS], self.tuning.records - 1)
        rows = xp.asnumpy(self.records[: 4 * (count + 1)]).reshape(-1, 4).tolist()
        return [
            Level(("push", "pull")[way], frontier, edges, (after[3] - time) * 1e-9)
            for (way, frontier, edges, time), after in pairwise(rows)
        ]


def _pack(form: Form) -> Packed:
    """Return a form of a matrix as a kernel argument. It is cached with the matrix."""
    a = form.a
    values = a.values if form.is_read else NULL
    kept = UNREAD if not form.is_read or is_iso(a.values) else EACH

    def cached(way: str, make: Callable[[], Packed]) -> Packed:
        key = (way, form.is_read, current(program_products.TUNING))
        return remember(a, key, make)

    if not form.is_pulled:
        return cached("push form", lambda: push_form(a, values))
    if form.hubs is not None:  # the array of hubs belongs to a stream
        return pull_form(a, values, hubs=form.hubs)
    if form.columns is not None and kept != EACH:
        return cached("peek form", lambda: pull_form(a, values, columns=form.columns))
    return cached("pull form", lambda: pull_form(a, values))


def _make_stack(room: int, items: int, dtype: np.dtype[Any]) -> _StackMemory:
    return _StackMemory(xp.empty(room, xp.int32), xp.empty(room, dtype), xp.empty(items, xp.int64))


class _Scratch:
    """Parts of one block of memory."""

    def __init__(self) -> None:
        self.size = 0

    def add(self, size: int) -> int:
        """Add a part of `size` bytes, and return its offset."""
        begin = self.size
        self.size += _round_up(size)
        return begin

    def allocate(self) -> Array:
        """Return memory for all parts. The first begins at `_first_line`."""
        return xp.empty(self.size + ALIGNMENT, xp.uint8)


def _first_line(memory: Array) -> int:
    """Return the first aligned address in an array."""
    return -(-memory.data.ptr // ALIGNMENT) * ALIGNMENT


def _round_up(size: int) -> int:
    """Return a size that is a multiple of ALIGNMENT, and at least that."""
    return max(-(-size // ALIGNMENT), 1) * ALIGNMENT
