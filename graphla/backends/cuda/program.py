"""Run the kernel of a compiled loop by one cooperative launch. Kernels: printed by
program/cuda_text.py.

The host waits for the end of the loop, by polling (see `persistent`). If the memory of a stack is
full, the kernel leaves with its state; the host then enlarges the memory, and launches the kernel
again, which goes on where it left.

The kernel and the host exchange the state of the program by words of 8 bytes in host memory.
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
    """Sizes that compiled loops use."""

    # Threads per block, a power of two; one block runs on each multiprocessor. A thread has 128
    # registers. With 64, a sweep stores what it loads in local memory, and so it waits for one load
    # at a time.
    block: int = 512
    # If all matrices have at most this many rows and columns, and this many entries, the grid is
    # one cluster of `cluster` blocks, because the barrier of a cluster is fast.
    cluster_rows: int = 1 << 13
    cluster_entries: int = 1 << 17
    cluster: int = 16
    stack_entries: int = 2  # entries that a stack can hold at first, as a multiple of its dimension
    stack_items: int = 1 << 16  # vectors that a stack can hold at first
    records: int = 1 << 16  # maximum number of products that a trace records
    # Until a kernel is compiled, a loop runs with parts of it, if the driver can link them.
    # Products are parts. Sweeps are also parts if there are at least this many.
    sweeps_from: int = 8
    # For tests and measurements: whether all kernels consist of parts, even if these are not
    # linked.
    is_in_parts: bool = False
    # If a run needs at most this many bytes, they are allocated at once, which saves several
    # microseconds. The results of the run then share this memory.
    most_joined: int = 1 << 18


TUNING = ProgramTuning()

FRAME = Struct("program_machine.cuh", "Frame")
LACKS_ROOM = enumeration("program_machine.cuh", "ProgramStatus").LACKS_ROOM
COUNT_WORDS, COUNT_RING = enumeration("program_machine.cuh", "CountShape")
State = enumeration("program_machine.cuh", "StateWord")
IN_WORDS = enumeration("program.cuh", "InputKind").IN_WORDS
SCALAR_FAULTS = enumeration("program_scalars.cuh", "ScalarFault")

VOTES_BYTES = 8
"""The number of bytes of shared memory for the votes of the blocks of a cluster."""

_refusing: set[int] = set()
"""The devices that could not launch a cluster of `ProgramTuning.cluster` blocks."""


def cluster_for(forms: Iterable[Csr]) -> int:
    """Return the number of blocks of the cluster that runs a loop, or 1 if it needs the grid."""
    tuning, sizes = current(TUNING), [(max(a.nrows, a.ncols), a.nvals) for a in forms]
    is_small = all(n <= tuning.cluster_rows and m <= tuning.cluster_entries for n, m in sizes)
    may_launch = card().has_clusters and xp.cuda.runtime.getDevice() not in _refusing
    return tuning.cluster if sizes and is_small and may_launch else 1


def refusals() -> int:
    """Return the number of devices that could not launch a cluster.

    The result of `cluster_for` for the same matrices, tuning and device changes only if this number
    changes.
    """
    return len(_refusing)


def refuse_clusters() -> None:
    """Record that the current GPU cannot launch clusters of this size."""
    _refusing.add(xp.cuda.runtime.getDevice())


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


StackPart = SparseVector | tuple[Arena, int, int]
"""A vector of a stack, or (arena, first, last) for the vectors first to last - 1 of an arena."""


@dataclass(slots=True)
class _StackMemory:
    indices: Array
    values: Array
    ends: Array


class _Words(local):
    """Words of host memory to which a thread's launches write, one launch after another."""

    def __init__(self) -> None:
        self.memory: Any = None
        self.room = 0

    def take(self, count: int) -> tuple[int, Any]:
        """Return the address of `count` words, and the words."""
        if count > self.room:
            self.room = max(256, 1 << count.bit_length())
            self.memory = xp.cuda.alloc_pinned_memory(8 * self.room)
            self.view = np.frombuffer(self.memory, np.uint64, self.room).data
        return self.memory.ptr, self.view[:count]


_words = _Words()


class _State(CPointer):
    """Words that are passed to a kernel as a struct."""

    def __init__(self, words: Sequence[int]):
        self.memory = memory = array("Q", words)  # keeps the words alive
        super().__init__(memory.buffer_info()[0])
        self.size = 8 * len(words)


@dataclass(frozen=True, slots=True)
class _Places:
    """Where the memory of a run is, for certain dimensions.

    `slots` has, for each slot: the index of its first word, the number of bytes of its values, the
    offset of its flags, the offset of its queue or -1, and the offset of its counts. The flags are
    in one block of memory. The other offsets refer to a block of memory for the kernel alone, the
    scratch memory, of `size` bytes.

    If a run needs little memory, a single block has all of it: first the flags, then the scratch
    memory, then the values of each slot. `values` has their offsets from the start of the scratch
    memory. The block has `joined` bytes; this is 0 if each slot has its own memory for its values.

    `state` is the state of a program at its start, with the dimensions only. `needed` is the number
    of bytes of a run, without its inputs.
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
    """A loop that can run: its kernel and the forms of the matrices that it reads.

    `text` is the program with the kernel `entry`; `what` describes it. `print_parts` returns the
    same program with parts, and their number. The parts are compiled sooner, and run until the
    kernel of `text` is ready. `block` is the number of threads per block. If `cluster` is above 1,
    the grid is one cluster of this many blocks.
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
        # While threads compile the kernel, load the kernels that prepare the matrices.
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
        """If the whole kernel has been compiled meanwhile, use it."""
        whole = self._whole  # another thread may call this, too
        if whole is None or not whole.is_done():
            return
        with suppress(CompilationFailed):  # the parts then run in all calls
            self._use(whole())
        self._whole = None

    def _use(self, kernel: Kernel) -> None:
        self.blocks = self.cluster
        if self.cluster == 1:
            self.blocks = persistent.grid(kernel, self.block, self.shared, each=1)
        self.kernel = kernel

    def places(self, dims: tuple[int, ...]) -> _Places:
        """Return where the memory of a run with these dimensions is."""
        known = self._places.get(dims)
        if known is None:
            if len(self._places) > MOST_SIZES:
                self._places.clear()
            known = self._places[dims] = self._find_places(dims)
        return known

    def lacking(self, dims: tuple[int, ...]) -> tuple[int, int] | None:
        """Return the bytes that a run needs and those that are available, if it needs more."""
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
"""The number of registers of a multiprocessor, on which one block runs."""

MOST_REGISTERS = 255
"""The maximum number of registers of a thread."""

LARGE = 1 << 30
"""A run that needs fewer bytes than this does not ask the driver how much memory is free."""

MOST_SIZES = 64
"""Number of dimensions for which a loop keeps the places of its memory."""


# --- a run --------------------------------------------------------------------------------------


class Run:
    """One run of a loop.

    `state` has the words of the program. Fill in those of the scalars, call `launch`, and read the
    results.
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
        self.kept: list[Any] = []  # inputs that the kernel reads
        self.stacks: list[_StackMemory] = []
        self.enlarged: list[int] = []  # the index of a stack for each time that it was enlarged
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
        values = self.values = {}  # for each address of flags, the memory of the values
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
        """Return the words of an input vector. A dict has at most one entry."""
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
            # The kernel never writes to the memory of a stack to which it does not append.
            arena, _, length = first
            memory = _StackMemory(arena.indices, arena.values, arena.ends)
            top = arena.top if length == arena.count else arena.bounds()[length]
        else:
            memory, length, top = self._join(place, parts)
        self.stacks.append(memory)
        self._set_stack(place, memory)
        self.state[place.at + 5 : place.at + 8] = [length, top, length]

    def _join(self, place: StackPlace, parts: Sequence[StackPart]) -> tuple[_StackMemory, int, int]:
        """Copy vectors to new memory. Return it, the number of vectors, and that of entries."""
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
            # The kernel does not store the dimensions and the addresses of the arrays.
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
        """Return the size of the vector in a slot, and a function that returns its form."""
        place, state, memory = self.layout.slots[number], self.state, self.flags
        n, flags = self.dims[place.dim], state[place.at + 1]
        taken = n, place.dtype, *self.values[flags], memory, flags - memory.ptr
        return n, partial(_make_form, *taken, state[place.at + 4])

    def stack(self, number: int) -> tuple[int, Arena]:
        """Return how many items a stack has kept since the start of the run, and all of its items.

        The kept items are the first items of the arena.
        """
        place, memory = self.layout.stacks[number], self.stacks[number]
        length, top, lowest = self.state[place.at + 5 : place.at + 8]
        return lowest, Arena(memory.indices, memory.values, memory.ends, length, top)

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


def _make_form(
    n: int,
    dtype: np.dtype[Any],
    values: Any,
    values_begin: int,
    flags: Any,
    flags_begin: int,
    entries: int,
) -> AnyVector:
    """Return the form of a vector. Its values and its flags begin at offsets in two blocks."""
    array = xp.ndarray((n,), dtype, values + values_begin if values_begin else values)
    if n and entries == n:
        return FullVector(n, array)
    return BitmapVector(n, xp.ndarray((n,), np.bool_, flags + flags_begin), array, entries)


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


class _Parts:
    """Parts of one block of memory."""

    def __init__(self) -> None:
        self.size = 0

    def add(self, size: int) -> int:
        """Add a part of `size` bytes, and return its offset."""
        begin = self.size
        self.size += max(-(-size // ALIGNMENT), 1) * ALIGNMENT
        return begin
