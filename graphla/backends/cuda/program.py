"""Run the kernel of a compiled loop in one cooperative launch. The module `program/cuda_text.py`
generates the source of the kernels.

The host waits for the end of the loop by polling (see `persistent`). If the memory of a stack is
full, the kernel stores its state and ends. The host then enlarges the memory and launches the
kernel again, which resumes where it stopped.

The kernel and the host exchange the state of the program as 8-byte words in host memory.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from threading import local
from typing import Any

import cupy as xp
import numpy as np
from cupy.cuda.function import CPointer

from graphla.backends.cuda import persistent, program_products
from graphla.backends.cuda.hot_columns import Hubs
from graphla.backends.cuda.launch import EACH, NULL, UNREAD, card
from graphla.backends.cuda.program_products import (
    number_of_chunks,
    pull_form,
    push_form,
)
from graphla.backends.requests import Level
from graphla.backends.tuning import current
from graphla.compilers.cuda import Kernel, Loading, is_compiled, may_link
from graphla.compilers.declarations import Packed, Struct, enumeration
from graphla.compilers.nvrtc import CompilationFailed
from graphla.formats import (
    AnyVector,
    Arena,
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
    """Sizes and limits for compiled loops."""

    # Threads per block, a power of two; one block runs on each multiprocessor. With this size a
    # thread has 128 registers. With 64 registers, a sweep spills each loaded value to local memory,
    # and therefore waits for one load before it issues the next.
    block: int = 512
    # If all matrices have at most `cluster_rows` rows and columns and at most `cluster_entries`
    # entries, the grid is one cluster of `cluster` blocks, because the barrier of a cluster is
    # faster.
    cluster_rows: int = 1 << 13
    cluster_entries: int = 1 << 17
    cluster: int = 16
    stack_entries: int = 2  # initial capacity of a stack, in entries per unit of its dimension
    stack_items: int = 1 << 16  # initial capacity of a stack, in vectors
    records: int = 1 << 16  # maximum number of products that a trace records
    # While the whole kernel is being compiled, a loop uses a kernel that is linked from separately
    # compiled parts, if the driver can link them. Each product is a part. If the program has at
    # least `sweeps_from` sweeps, each sweep is a part, too.
    sweeps_from: int = 8
    # For tests and measurements: whether kernels always consist of parts, even if they are compiled
    # as a whole.
    is_in_parts: bool = False
    # If a run needs at most this many bytes, all of its memory is one allocation, which saves
    # several microseconds. The results of the run then share this memory.
    most_joined: int = 1 << 18


TUNING = ProgramTuning()

FRAME = Struct("program_machine.cuh", "Frame")
LACKS_ROOM = enumeration("program_machine.cuh", "ProgramStatus").LACKS_ROOM
COUNT_WORDS, COUNT_RING = enumeration("program_machine.cuh", "CountShape")
State = enumeration("program_machine.cuh", "StateWord")
IN_WORDS = enumeration("program.cuh", "InputKind").IN_WORDS
SCALAR_FAULTS = enumeration("program_scalars.cuh", "ScalarFault")

VOTES_BYTES = 8
"""The number of bytes of dynamic shared memory for the votes of the blocks if the grid is one
cluster."""

_refusing: set[int] = set()
"""The devices that could not launch a cluster of `ProgramTuning.cluster` blocks."""


def cluster_for(forms: Iterable[Csr]) -> int:
    """Return the number of blocks of the cluster that runs a loop, or 1 if the loop runs without
    clusters."""
    tuning, sizes = current(TUNING), [(max(a.nrows, a.ncols), a.nvals) for a in forms]
    is_small = all(n <= tuning.cluster_rows and m <= tuning.cluster_entries for n, m in sizes)
    may_launch = card().has_clusters and xp.cuda.runtime.getDevice() not in _refusing
    return tuning.cluster if sizes and is_small and may_launch else 1


def refusals() -> int:
    """Return the number of devices for which `refuse_clusters` was called.

    A result of `cluster_for` may be cached as long as the matrices, the tuning, the device and this
    number stay the same.
    """
    return len(_refusing)


def refuse_clusters() -> None:
    """Record that the current GPU cannot launch clusters of this size."""
    _refusing.add(xp.cuda.runtime.getDevice())


ALIGNMENT = 128
"""The alignment in bytes of the presence flags, the queue and the counts of a vector."""


# --- the layout of a program's state, and the operands of its kernel ----------------------------


@dataclass(frozen=True, slots=True)
class SlotPlace:
    """A slot: the index of its first word in the state, the index of its dimension, its dtype, and
    whether it has a queue."""

    at: int
    dim: int
    dtype: np.dtype[Any]
    has_queue: bool


@dataclass(frozen=True, slots=True)
class StackPlace:
    """A stack: the index of its first word in the state, the index of its dimension, and its
    dtype."""

    at: int
    dim: int
    dtype: np.dtype[Any]


@dataclass(frozen=True, slots=True)
class Layout:
    """The positions of the parts of a program's state, which is an array of words.

    `dims` and `arrays` are the indices of the first words of the dimensions and of the arrays.
    `inputs` contains the index of the first word of each input. The append operations of the
    program are numbered from 1; operation k appends to stack number `saves[k - 1]`.
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
    """A matrix in the form that a kernel reads, for pulls or for pushes.

    `columns` is the matrix by columns, if it makes pulls faster (see `pull_form`).
    """

    a: Csr
    is_pulled: bool
    is_read: bool
    hubs: Hubs | None = None
    columns: Csr | None = None


StackPart = SparseVector | tuple[Arena, int, int]
"""A part of a stack: one vector, or a tuple (arena, first, last) for the vectors `first` to `last`
- 1 of an arena."""


@dataclass(slots=True)
class _StackMemory:
    indices: Array
    values: Array
    ends: Array


class _Words(local):
    """Words of host memory to which all launches of one host thread write, one launch after
    another."""

    def __init__(self) -> None:
        self.memory: Any = None
        self.room = 0

    def take(self, count: int) -> tuple[int, Any]:
        """Return the address of `count` words, and a view of these words."""
        if count > self.room:
            self.room = max(256, 1 << count.bit_length())
            self.memory = xp.cuda.alloc_pinned_memory(8 * self.room)
            self.view = np.frombuffer(self.memory, np.uint64, self.room).data
        return self.memory.ptr, self.view[:count]


_words = _Words()


class _State(CPointer):
    """The words of a program's state, which are passed to the kernel as a struct."""

    def __init__(self, words: Sequence[int]):
        self.memory = memory = array("Q", words)  # the attribute keeps the words alive
        super().__init__(memory.buffer_info()[0])
        self.size = 8 * len(words)


@dataclass(frozen=True, slots=True)
class _Places:
    """Sizes and offsets of the memory that a run with given dimensions needs.

    A run needs `flags` bytes for the flags of all slots, `size` bytes of scratch memory, which only
    the kernel uses, and memory for the values of each slot.

    `slots` contains a tuple for each slot. Its elements are the index of the slot's first word in
    the state, the number of bytes of its values, the offset of its flags in the memory for flags,
    and the offsets of its queue (or -1) and of its counts in the scratch memory. The fields
    `counts`, `zeros`, `sums`, `has` and `partials` are also offsets in the scratch memory.

    If a run needs little memory, a single block of `joined` bytes contains first the flags, then
    the scratch memory, and then the values of each slot. `values` contains the offset of each
    slot's values from the start of the scratch memory. If a run needs more memory, `joined` is 0,
    and the flags, the scratch memory and the values of each slot are in separate blocks.

    `state` is the state of the program at its start, in which only the dimensions are filled in.
    `needed` is the number of bytes that a run needs in addition to its inputs.
    """

    state: list[int]
    needed: int
    slots: tuple[tuple[int, int, int, int, int], ...]
    flags: int
    counts: int
    zeros: int
    sums: int
    has: int
    partials: int
    size: int
    values: tuple[int, ...]
    joined: int


class Loop:
    """A loop that is ready to run: its kernel and the forms of the matrices that it reads.

    `text` is the source of the program, `entry` is the name of its kernel, and `what` names the
    kernel in error messages. `print_parts` returns the same program as source that is divided into
    parts, and the number of parts. Compiling the parts in parallel takes less time, so the parts
    are used until the kernel of `text` is ready. `block` is the number of threads per block. If
    `cluster` is above 1, the grid is one cluster of this many blocks.
    """

    def __init__(
        self,
        text: str,
        print_parts: Callable[[], tuple[str, int]],
        entry: str,
        what: str,
        block: int,
        cluster: int,
        layout: Layout,
        forms: Sequence[Form],
    ) -> None:
        self.layout, self.block, self.cluster = layout, block, cluster
        early = None
        if may_link() and not is_compiled(text, entry):
            in_parts, parts = print_parts()
            if parts:
                registers = min(REGISTERS // block, MOST_REGISTERS)
                early = Loading(in_parts, entry, what, parts, registers)
        self._whole: Loading | None = Loading(text, entry, what)
        # `_pack` runs the kernels that prepare the matrices. Meanwhile other threads compile the
        # kernel of the loop.
        self.packed = [_pack(each) for each in forms]
        self.chunks = number_of_chunks([each.a for each in forms if each.is_pulled])
        self.shared = max((each.hubs.shared for each in forms if each.hubs), default=VOTES_BYTES)
        try:
            kernel = (early or self._whole)()
        except (RuntimeError, CompilationFailed):  # this driver cannot link the parts
            kernel = self._whole()
        self._use(kernel)
        self.improve()
        self._places: dict[tuple[int, ...], _Places] = {}

    def improve(self) -> None:
        """Use the whole kernel instead of the kernel that consists of parts, if its compilation has
        finished."""
        whole = self._whole  # another thread may change `_whole` at the same time
        if whole is None or not whole.is_done():
            return
        with suppress(CompilationFailed):  # otherwise keep the kernel made of parts
            self._use(whole())
        self._whole = None

    def _use(self, kernel: Kernel) -> None:
        self.blocks = self.cluster
        if self.cluster == 1:
            self.blocks = persistent.grid(kernel, self.block, self.shared, each=1)
        self.kernel = kernel

    def places(self, dims: tuple[int, ...]) -> _Places:
        """Return the sizes and offsets of the memory of a run with these dimensions."""
        known = self._places.get(dims)
        if known is None:
            if len(self._places) >= MOST_SIZES:
                self._places.clear()
            known = self._places[dims] = self._find_places(dims)
        return known

    def lacking(self, dims: tuple[int, ...]) -> tuple[int, int] | None:
        """Return None if there is enough free memory for a run. Otherwise return the number of
        bytes that the run needs, and the number of free bytes."""
        needed = self.places(dims).needed
        if needed < LARGE:
            return None
        free = xp.cuda.runtime.memGetInfo()[0] + xp.get_default_memory_pool().free_bytes()
        return (needed, free) if needed > free else None

    def _find_places(self, dims: tuple[int, ...]) -> _Places:
        layout, flags, scratch = self.layout, _Parts(), _Parts()
        ring = 8 * COUNT_WORDS * COUNT_RING
        counts = scratch.add(ring * len(layout.slots))
        zeros, sums = scratch.add(4 * (self.chunks + 2)), scratch.add(8 * self.chunks)
        has = scratch.add(self.chunks)
        partials = scratch.add(32 * self.blocks * layout.folds)
        slots = tuple(
            (
                slot.at,
                dims[slot.dim] * slot.dtype.itemsize,
                flags.add(dims[slot.dim]),
                scratch.add(4 * dims[slot.dim]) if slot.has_queue else -1,
                counts + ring * k,
            )
            for k, slot in enumerate(layout.slots)
        )
        state = [0] * layout.size
        state[layout.dims : layout.dims + len(dims)] = dims
        needed = flags.size + scratch.size + sum(size for _, size, *_ in slots)
        size = scratch.size
        values = tuple([scratch.add(size) for _, size, *_ in slots])
        is_joined = needed <= current(TUNING).most_joined
        joined = flags.size + ALIGNMENT + scratch.size if is_joined else 0
        own = (flags.size, counts, zeros, sums, has, partials, size, values, joined)
        return _Places(state, needed, slots, *own)


REGISTERS = 1 << 16
"""The number of registers of a multiprocessor. One block runs on each multiprocessor."""

MOST_REGISTERS = 255
"""The maximum number of registers that a thread can have."""

LARGE = 1 << 30
"""If a run needs fewer bytes than this, it starts without a query for the amount of free memory."""

MOST_SIZES = 64
"""Maximum number of memory layouts (`_Places`) that a loop caches. There is one layout per
combination of dimensions."""


# --- a run --------------------------------------------------------------------------------------


class Run:
    """One run of a loop.

    `state` contains the words of the program's state. Set the words of the scalars, call `launch`,
    and read the results.
    """

    def __init__(
        self,
        loop: Loop,
        dims: tuple[int, ...],
        arrays: Sequence[np.ndarray],
        inputs: Sequence[AnyVector | dict[int, np.generic]],
        stacks: Sequence[Sequence[StackPart]],
        is_traced: bool,
    ) -> None:
        self.loop, self.layout, self.dims = loop, loop.layout, dims
        self.tuning, self.is_traced = current(TUNING), is_traced
        self.arrays = [xp.asarray(array) for array in arrays]
        self.kept: list[Any] = []  # keeps the inputs alive while the kernel reads them
        self.stacks: list[_StackMemory] = []
        self.enlarged: list[int] = []  # the index of the stack, for each enlargement
        layout = self.layout
        places = self.places = loop.places(dims)
        state = self.state = places.state.copy()
        state[layout.arrays : layout.arrays + len(arrays)] = [a.data.ptr for a in self.arrays]
        alloc = xp.cuda.alloc
        self.flags = alloc(places.joined or places.flags)
        self.scratch = self.flags if places.joined else alloc(places.size + ALIGNMENT)
        flags = self.flags.ptr
        begin = flags + places.flags if places.joined else self.scratch.ptr
        self.first = first = -(-begin // ALIGNMENT) * ALIGNMENT
        # from the address of a slot's flags to the memory and the offset of its values
        values = self.values = {}
        for k, (at, size, flag, queue, counts) in enumerate(places.slots):
            if places.joined:
                address = first + places.values[k]
                values[flags + flag] = self.flags, address - flags
            else:
                memory = alloc(size or ALIGNMENT)
                address = memory.ptr
                values[flags + flag] = memory, 0
            listed = first + queue if queue >= 0 else 0
            state[at : at + 4] = (address, flags + flag, listed, first + counts)
        for at, v in zip(layout.inputs, inputs, strict=True):
            state[at : at + 5] = self._input(v)
        for number, parts in enumerate(stacks):
            self._fill_stack(number, parts)

    def _input(self, v: AnyVector | dict[int, np.generic]) -> tuple[int, ...]:
        """Return the five words that describe an input vector. A dict is a vector with at most one
        entry."""
        if isinstance(v, dict):
            for i, value in v.items():
                return (IN_WORDS, i, int.from_bytes(value.tobytes(), "little"), 1, 1)
            return (IN_WORDS, 0, 0, 1, 0)
        values = v.values
        self.kept.append(v)
        step = 0 if is_iso(values) else 1
        at = values.data.ptr if values.size else 0
        if isinstance(v, SparseVector):
            return (v.indices.data.ptr or ALIGNMENT, 0, at, step, v.nvals)
        present = v.present.data.ptr if isinstance(v, BitmapVector) else 0
        return (0, present, at, step, v.size)

    # --- stacks ---------------------------------------------------------------------------------

    def _fill_stack(self, number: int, parts: Sequence[StackPart]) -> None:
        place, layout = self.layout.stacks[number], self.layout
        first = parts[0] if len(parts) == 1 else None
        if type(first) is tuple and first[1] == 0 and number not in layout.saves:
            # The program never appends to this stack, so the kernel does not write to its memory.
            # So the stack can use the arena's memory without a copy.
            arena, _, length = first
            memory = _StackMemory(arena.indices, arena.values, arena.ends)
            top = arena.top if length == arena.count else arena.bounds()[length]
        else:
            memory, length, top = self._join(place, parts)
        self.stacks.append(memory)
        self._set_stack(place, memory)
        self.state[place.at + 5 : place.at + 8] = [length, top, length]

    def _join(self, place: StackPlace, parts: Sequence[StackPart]) -> tuple[_StackMemory, int, int]:
        """Copy vectors to new memory. Return the memory, the number of vectors and the number of
        entries."""
        ends, pieces = [0], []
        for part in parts:
            top = ends[-1]
            if isinstance(part, tuple):
                arena, first, last = part
                bounds = arena.bounds()[first : last + 1]
                begin = bounds[0]
                ends += [top - begin + end for end in bounds[1:]]
                cut = slice(begin, bounds[-1])
                pieces.append((arena.indices[cut], arena.values[cut]))
            else:
                ends.append(top + part.nvals)
                pieces.append((part.indices, part.values))
        top, length = ends[-1], len(ends) - 1
        room = max(2 * top, self.tuning.stack_entries * self.dims[place.dim], 1)
        memory = _make_stack(room, max(2 * length, self.tuning.stack_items), place.dtype)
        begin = 0
        for indices, values in pieces:
            end = begin + indices.size
            memory.indices[begin:end] = indices
            memory.values[begin:end] = values
            begin = end
        memory.ends[:length] = xp.asarray(np.array(ends[1:], np.int64))
        return memory, length, top

    def _set_stack(self, place: StackPlace, memory: _StackMemory) -> None:
        self.state[place.at : place.at + 5] = (
            *(memory.indices.data.ptr, memory.values.data.ptr, memory.ends.data.ptr),
            *(memory.values.size, memory.ends.size),
        )

    def _enlarge(self) -> None:
        """Enlarge the memory of the stack that was full when the kernel ended."""
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
        self.enlarged.append(number)

    # --- launch ---------------------------------------------------------------------------------

    def launch(self) -> int:
        """Launch the kernel until the program ends, and return its status."""
        loop, layout = self.loop, self.layout
        address, words = _words.take(layout.size)
        frame = self._frame(address)
        while True:
            state = _State(self.state)
            (status,) = persistent.run(
                loop.kernel,
                loop.blocks,
                loop.block,
                frame,
                state,
                *loop.packed,
                results=0,
                shared=loop.shared,
                cluster=loop.cluster,
                as_struct=True,
            )
            before, self.state = self.state, words.tolist()
            if status != LACKS_ROOM:
                return status
            # The kernel does not return the dimensions and the addresses of the arrays, so restore
            # these words.
            given = slice(layout.dims, layout.arrays + len(self.arrays))
            self.state[given] = before[given]
            self._enlarge()

    def _frame(self, address: int) -> Packed:
        places, first = self.places, self.first
        room = self.tuning.records if self.is_traced else 0
        self.records = xp.empty(4 * room, xp.uint64) if room else None
        return FRAME(
            state=address,
            partials=first + places.partials,
            flags=self.flags.ptr,
            counts=first + places.counts,
            zeros=first + places.zeros,
            sums=first + places.sums,
            has=first + places.has,
            records=self.records,
            flag_words=places.flags // 8,
            count_words=len(places.slots) * COUNT_WORDS * COUNT_RING,
            zero_words=(places.sums - places.zeros) // 8,
            record_room=room,
        )

    # --- results --------------------------------------------------------------------------------

    def vector(self, number: int) -> tuple[int, Callable[[], AnyVector]]:
        """Return the size of the vector in a slot, and a function that returns the vector."""
        place, state, memory = self.layout.slots[number], self.state, self.flags
        n, flags = self.dims[place.dim], state[place.at + 1]
        taken = n, place.dtype, *self.values[flags], memory, flags - memory.ptr
        return n, partial(_make_form, *taken, state[place.at + 4])

    def stack(self, number: int) -> tuple[int, Arena]:
        """Return the number k of initial vectors of a stack that the run has not removed, and an
        arena with all current vectors of the stack.

        The first k vectors of the arena are these initial vectors.
        """
        place, memory = self.layout.stacks[number], self.stacks[number]
        length, top, lowest = self.state[place.at + 5 : place.at + 8]
        return lowest, Arena(memory.indices, memory.values, memory.ends, length, top)

    def levels(self) -> list[Level]:
        """Return the trace: one record per product."""
        if self.records is None:
            return []
        count = min(self.state[State.STATE_PRODUCTS], self.tuning.records - 1)
        rows = xp.asnumpy(self.records[: 4 * (count + 1)]).reshape(-1, 4).tolist()
        return [
            Level(("push", "pull")[way], frontier, edges, (after[3] - time) * 1e-9)
            for (way, frontier, edges, time), after in pairwise(rows)
        ]


def _make_form(
    n: int,
    dtype: np.dtype[Any],
    values: Any,
    values_begin: int,
    flags: Any,
    flags_begin: int,
    entries: int,
) -> AnyVector:
    """Return a vector whose values and flags are at given offsets in two blocks of memory."""
    array = xp.ndarray((n,), dtype, values + values_begin if values_begin else values)
    if n and entries == n:
        return FullVector(n, array)
    return BitmapVector(n, xp.ndarray((n,), np.bool_, flags + flags_begin), array, entries)


def _pack(form: Form) -> Packed:
    """Return a form of a matrix as a kernel argument. A form without hubs is cached with the
    matrix."""
    a = form.a
    values = a.values if form.is_read else NULL
    kept = UNREAD if not form.is_read or is_iso(a.values) else EACH

    def cached(way: str, make: Callable[[], Packed]) -> Packed:
        key = (way, form.is_read, current(program_products.TUNING))
        return remember(a, key, make)

    if not form.is_pulled:
        return cached("push form", lambda: push_form(a, values))
    if form.hubs is not None:  # not cached, because the array of hubs belongs to a stream
        return pull_form(a, values, hubs=form.hubs)
    if form.columns is not None and kept != EACH:
        return cached("peek form", lambda: pull_form(a, values, columns=form.columns))
    return cached("pull form", lambda: pull_form(a, values))


def _make_stack(room: int, items: int, dtype: np.dtype[Any]) -> _StackMemory:
    return _StackMemory(xp.empty(room, xp.int32), xp.empty(room, dtype), xp.empty(items, xp.int64))


class _Parts:
    """Divides one block of memory into aligned parts. `size` is the total number of bytes of the
    parts so far."""

    def __init__(self) -> None:
        self.size = 0

    def add(self, size: int) -> int:
        """Add a part of `size` bytes, and return its offset."""
        begin = self.size
        self.size += max(-(-size // ALIGNMENT), 1) * ALIGNMENT
        return begin
