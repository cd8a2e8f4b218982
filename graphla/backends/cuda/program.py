"""Run a compiled loop on a GPU by one cooperative launch. Kernels: printed by program/cuda_text.py.

The host waits for the end of the loop, by polling (see `persistent`). If the memory of a stack is
full, the kernel leaves with its state; the host then enlarges the memory, and launches the kernel
again, which goes on where it left.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from threading import local
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda import persistent, program_products
from graphla.backends.cuda.hot_columns import Hubs
from graphla.backends.cuda.launch import EACH, ISO, NULL, UNREAD
from graphla.backends.cuda.program_products import (
    ARRAYS,
    hubs_for,
    number_of_chunks,
    pull_form,
    push_form,
)
from graphla.backends.cuda.reduce import reduce_rows
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
from graphla.program import ir
from graphla.program.cuda_text import (
    EXIT,
    FAULT,
    KERNEL,
    LINE,
    NEEDED,
    PRODUCTS,
    RESUME,
    SCALAR_FAULTS,
    FormKey,
    FormType,
    Options,
    Text,
    form_keys,
    print_kernel,
    words_of,
)
from graphla.program.plan import Multiply, Plan, Save, plan
from graphla.program.running import Arguments, Outcome
from graphla.settings import current as settings
from graphla.settings import forced_direction, recorders
from graphla.stores import MatrixStore, VectorStore
from semirings.dtypes import BOOL, FP64, INT64, DataType, lookup_dtype


@dataclass(frozen=True, slots=True)
class ProgramTuning:
    """Sizes that compiled loops use."""

    block: int = 1024  # threads per block; one block runs on each multiprocessor
    stack_entries: int = 2  # entries that a stack can hold at first, as a multiple of its dimension
    stack_items: int = 1 << 16  # vectors that a stack can hold at first
    records: int = 1 << 16  # maximum number of products that a trace records


TUNING = ProgramTuning()

FRAME = Struct("program.cuh", "Frame")
RECORDS = Struct("persistent.cuh", "Records")
LACKS_ROOM = enumeration("program.cuh", "ProgramStatus").LACKS_ROOM
COUNT_WORDS, COUNT_RING = enumeration("program.cuh", "CountShape")
LINE_BYTES = 128
"""The alignment of presence flags and of the counts of a vector."""

FAULTS = {
    "EXCEEDS_64_BITS": ("OverflowError", "an integer in a compiled loop exceeds 64 bits"),
    "DIVIDES_BY_ZERO": ("ZeroDivisionError", "division by zero"),
    "NEGATIVE_SHIFT": ("ValueError", "negative shift count"),
    "OUT_OF_DOMAIN": ("ValueError", "math domain error"),
    "OUT_OF_RANGE": ("OverflowError", "math range error"),
    "NAN_TO_INT": ("ValueError", "cannot convert float NaN to integer"),
    "INFINITY_TO_INT": ("OverflowError", "cannot convert float infinity to integer"),
    "ZERO_TO_NEGATIVE_POWER": ("ZeroDivisionError", "zero to a negative power"),
    "INDEX_OUT_OF_RANGE": ("IndexOutOfBound", "an index is out of range"),
    "POP_FROM_EMPTY_LIST": ("IndexError", "pop from empty list"),
    "LIST_INDEX_OUT_OF_RANGE": ("IndexError", "list index out of range"),
    "COMPLEX_POWER": ("ValueError", "a power in a compiled loop is a complex number"),
}
"""The exceptions of the faults in `ScalarFault`."""

_SCALAR_FAULTS = {
    number: FAULTS[name]
    for name, number in vars(enumeration("program_scalars.cuh", "ScalarFault")).items()
    if name in FAULTS
}


def run(program: ir.Program, arguments: Arguments) -> Outcome:
    """Run the program. The stores in `arguments` do not change."""
    full = tuple(
        slot
        for slot, store in zip(program.inputs, arguments.vectors, strict=True)
        if store.known_nvals == store.size
    )
    planned = _plan(_ById(program), full, settings().deterministic)
    return _Run(planned, arguments).outcome()


class _ById:
    """A key for a program. Programs are compared by identity, which is quick."""

    __slots__ = ("program",)

    def __init__(self, program: ir.Program) -> None:
        self.program = program

    def __hash__(self) -> int:
        return id(self.program)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _ById) and other.program is self.program


@lru_cache(maxsize=256)
def _plan(key: _ById, full: tuple[ir.Slot, ...], is_deterministic: bool) -> _Planned:
    return _Planned(plan(key.program, full, is_deterministic=is_deterministic), is_deterministic)


class _Planned:
    """A plan, and the kernels that are printed for it."""

    def __init__(self, of: Plan, is_deterministic: bool) -> None:
        self.plan, self.is_deterministic = of, is_deterministic
        steps = [step for block in of.blocks for step in block.steps]
        self.products = [step for step in steps if isinstance(step, Multiply)]
        self.forms = list(
            dict.fromkeys(k for step in self.products for k in form_keys(step.product))
        )
        self.reads = {
            k
            for step in self.products
            if _reads_matrix(step.product)
            for k in form_keys(step.product)
        }
        self.peeks = self._pulls(lambda step: step.product.semiring.monoid.is_any)
        self.full = self._pulls(_takes_hubs)
        self.layout = words_of(of)
        self._texts: dict[Any, Text] = {}

    def _pulls(self, test: Callable[[Multiply], bool]) -> dict[FormKey, DataType]:
        """Return the pull forms all of whose products pass a test, with the dtype of a vector."""
        found: dict[FormKey, list[Multiply]] = {}
        for step in self.products:
            found.setdefault(form_keys(step.product)[0], []).append(step)
        return {
            key: steps[0].product.u.dtype
            for key, steps in found.items()
            if all(map(test, steps)) and len({step.product.u.dtype for step in steps}) == 1
        }

    def text(self, options: Options) -> Text:
        """Return the kernel for these options."""
        key = (tuple(options.forms.items()), options.direction, options.block, options.hubs)
        if key not in self._texts:
            self._texts[key] = print_kernel(self.plan, options)
        return self._texts[key]


def _reads_matrix(product: ir.Product) -> bool:
    op = product.semiring.binaryop
    return op.reads_x if product.side == "mxv" else op.reads_y


def _takes_hubs(step: Multiply) -> bool:
    """Return whether a pull for this step adds up all terms, with the values of a full vector."""
    monoid, op = step.product.semiring.monoid, step.product.semiring.binaryop
    reads_u = op.reads_y if step.product.side == "mxv" else op.reads_x
    is_search = monoid.is_any or (monoid.type is BOOL and monoid.terminal is not None)
    return step.product.u in step.full and reads_u and not is_search


def kernel_text(
    program: ir.Program, matrices: tuple[MatrixStore, ...], full: tuple[ir.Slot, ...] = ()
) -> str:
    """Return the text of the kernel for a program."""
    planned = _plan(_ById(program), full, settings().deterministic)
    return _Forms(planned, matrices).text.text


class _Forms:
    """The forms of the matrices of a run, and the kernel for them."""

    def __init__(self, planned: _Planned, matrices: tuple[MatrixStore, ...]) -> None:
        self.tuning = tuning = current(TUNING)
        self.csrs: dict[FormKey, Csr] = {}
        kinds: dict[FormKey, FormType] = {}
        hubs: dict[FormKey, Hubs] = {}
        for key in planned.forms:
            a = self.csrs[key] = getattr(matrices[key[0]], key[1])
            kinds[key] = _type_of(a, key in planned.reads)
            found = hubs_for(a, planned.full[key].np_type) if key in planned.full else None
            if found is not None:
                hubs[key] = found
        self.text = planned.text(
            Options(
                kinds,
                forced_direction(),
                planned.is_deterministic,
                tuning.block,
                frozenset(hubs),
            )
        )
        self.shared = max((each.shared for each in hubs.values()), default=0)
        self.packed = [
            self._pack(planned, key, matrices[key[0]], kinds[key].kept, hubs.get(key))
            for key in self.text.forms
        ]

    def _pack(
        self, planned: _Planned, key: FormKey, store: MatrixStore, kept: int, hubs: Hubs | None
    ) -> Packed:
        """Return a form of a matrix as a kernel argument. It is cached with the matrix."""
        _, name, way = key
        a = self.csrs[key]
        values = NULL if kept == UNREAD else a.values
        tuning = current(program_products.TUNING)
        if way == "push":
            return remember(a, ("push form", kept, tuning), lambda: push_form(a, values))
        if hubs is not None:  # the array of hubs belongs to a stream
            return pull_form(a, values, hubs=hubs)
        if key in planned.peeks and kept != EACH:
            columns = store.csr if name == "csc" else store.csc
            return remember(
                a, ("peek form", kept, tuning), lambda: pull_form(a, values, columns=columns)
            )
        return remember(a, ("pull form", kept, tuning), lambda: pull_form(a, values))


def _type_of(a: Csr, is_read: bool) -> FormType:
    offset = "i32" if a.indptr.dtype == np.int32 else "i64"
    if not is_read:
        return FormType(offset, "i8", UNREAD)
    kept = ISO if is_iso(a.values) else EACH
    return FormType(offset, lookup_dtype(a.values.dtype).c_type, kept)


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


@dataclass(slots=True)
class _StackMemory:
    """The memory of a stack."""

    indices: Array
    values: Array
    ends: Array


class _Run:
    """One run of a program."""

    def __init__(self, planned: _Planned, arguments: Arguments) -> None:
        self.plan, self.arguments, self.layout = planned.plan, arguments, planned.layout
        self.program = planned.plan.program
        self.forms = forms = _Forms(planned, arguments.matrices)
        self.text, self.tuning = forms.text, forms.tuning
        what = f"the loop of {self.program.name}"
        self.kernel = load_text(self.text.text, f"graphla::{KERNEL}<0>", what)
        self.blocks = persistent.grid(self.kernel, self.tuning.block, forms.shared, each=1)
        self.is_traced = bool(recorders())
        self.kept: list[Any] = []  # arrays that the kernel reads
        self.values: dict[int, Array] = {}  # by the address of the presence flags
        self.state: list[int] = [0] * self.layout.size
        self.stacks: dict[ir.Stack, _StackMemory] = {}
        self._fill_state()

    # --- memory ---------------------------------------------------------------------------------

    def _dim(self, dim: ir.Dim) -> int:
        return self.arguments.dims[dim.index]

    def _fill_state(self) -> None:
        """Allocate the memory of slots and stacks, and write the program's initial state."""
        layout, state, arguments = self.layout, self.state, self.arguments
        state[layout.dims : layout.dims + len(arguments.dims)] = arguments.dims
        for k, array in enumerate(arguments.arrays):
            self.kept.append(xp.asarray(array))
            state[layout.arrays + k] = self.kept[-1].data.ptr
        for variable, value in zip(self.program.scalars, arguments.scalars, strict=True):
            state[layout.variables[variable]] = _bits(value, variable.dtype)
        self._allocate()
        inputs = [*arguments.vectors, *map(self._reduction, self.plan.reductions)]
        for at, store in zip(layout.inputs.values(), inputs, strict=True):
            state[at : at + 5] = self._input(store.at_hand)
        for stack, stores in zip(self.program.stacks, arguments.stacks, strict=True):
            self._fill_stack(stack, stores)

    def _allocate(self) -> None:
        """Allocate the memory of the slots, and the memory that only the kernel uses."""
        plan, state, layout = self.plan, self.state, self.layout
        dims = self.arguments.dims
        flags = [_round_up(dims[slot.dim.index]) for slot in plan.slots]
        self.flags = xp.empty(sum(flags), bool)
        ring = 8 * COUNT_WORDS * COUNT_RING
        pulled = [a for key, a in self.forms.csrs.items() if key[2] == "pull"]
        chunks = number_of_chunks(pulled)
        scratch = _Scratch()
        self.counts = scratch.add(ring * len(plan.slots))
        self.zeros = scratch.add(_round_up(4 * (chunks + 2)))
        self.sums, self.has = scratch.add(8 * chunks), scratch.add(chunks)
        self.partials = scratch.add(32 * self.blocks * plan.folds)
        queues = [
            scratch.add(4 * dims[slot.dim.index]) if slot in plan.queued else -1
            for slot in plan.slots
        ]
        self.scratch = scratch.allocate()
        flag, first = self.flags.data.ptr, _first_line(self.scratch)
        for k, (slot, size, queue) in enumerate(zip(plan.slots, flags, queues, strict=True)):
            values = xp.empty(dims[slot.dim.index], slot.dtype.np_type)
            self.values[flag] = values
            at = layout.slots[slot]
            state[at : at + 4] = (
                *(values.data.ptr, flag, first + queue if queue >= 0 else 0),
                first + self.counts + ring * k,
            )
            flag += size

    def _reduction(self, x: ir.MatrixReduction) -> VectorStore:
        """Return the reduction of a matrix, which does not change while the program runs."""
        store = self.arguments.matrices[x.matrix.index]
        store = store.T if x.is_transposed else store
        storage = reduce_rows(store.csr, x.monoid)
        return VectorStore(store.device, x.dtype, storage)

    def _input(self, v: AnyVector) -> tuple[int, ...]:
        """Return the words of an input vector."""
        values = v.values
        self.kept.append(v)
        step = 0 if is_iso(values) else 1
        at = values.data.ptr if values.size else 0
        if isinstance(v, SparseVector):
            return (v.indices.data.ptr or LINE_BYTES, 0, at, step, v.nvals)
        present = v.present.data.ptr if isinstance(v, BitmapVector) else 0
        return (0, present, at, step, v.size)

    def _fill_stack(self, stack: ir.Stack, stores: tuple[VectorStore, ...]) -> None:
        n, dtype = self._dim(stack.dim), stack.dtype.np_type
        forms = [store.sparse(sorted=False) for store in stores]
        ends = np.cumsum([0, *(v.nvals for v in forms)])
        room = max(2 * int(ends[-1]), self.tuning.stack_entries * n, 1)
        items = max(2 * len(forms), self.tuning.stack_items)
        memory = _StackMemory(
            xp.empty(room, xp.int32), xp.empty(room, dtype), xp.empty(items, xp.int64)
        )
        for begin, v in zip(ends.tolist(), forms, strict=False):
            memory.indices[begin : begin + v.nvals] = v.indices
            memory.values[begin : begin + v.nvals] = v.values
        memory.ends[: len(forms)] = xp.asarray(ends[1:])
        self._set_stack(stack, memory)
        at = self.layout.stacks[stack]
        self.state[at + 5 : at + 7] = [len(forms), int(ends[-1])]

    def _set_stack(self, stack: ir.Stack, memory: _StackMemory) -> None:
        self.stacks[stack] = memory
        at = self.layout.stacks[stack]
        self.state[at : at + 5] = (
            *(memory.indices.data.ptr, memory.values.data.ptr, memory.ends.data.ptr),
            *(memory.values.size, memory.ends.size),
        )

    def _enlarge(self) -> None:
        """Enlarge the memory of the stack that lacks room."""
        number = self.state[RESUME] - 1
        steps = (step for block in self.plan.blocks for step in block.steps)
        saves = (step for step in steps if isinstance(step, Save))
        stack = next(step.stack for step in saves if step.number == number)
        at, old = self.layout.stacks[stack], self.stacks[stack]
        length, top = self.state[at + 5 : at + 7]
        room = max(2 * old.values.size, 2 * (top + self.state[NEEDED]))
        new = _StackMemory(
            xp.empty(room, xp.int32),
            xp.empty(room, stack.dtype.np_type),
            xp.empty(2 * max(old.ends.size, length), xp.int64),
        )
        new.indices[:top] = old.indices[:top]
        new.values[:top] = old.values[:top]
        new.ends[:length] = old.ends[:length]
        self._set_stack(stack, new)

    # --- launch ---------------------------------------------------------------------------------

    def outcome(self) -> Outcome:
        """Launch the kernel until the program ends, and return its outcome."""
        frame = self._frame()
        status = self._launch(frame)
        while status == LACKS_ROOM:
            self._enlarge()
            status = self._launch(frame)
        state = self.state
        fault = self._fault(state[FAULT], state[LINE]) if status == persistent.FAULT else None
        return self._outcome(-1 if fault else state[EXIT], fault)

    def _frame(self) -> Packed:
        room = self.tuning.records if self.is_traced else 0
        self.records = xp.empty(4 * room, xp.uint64) if room else None
        address, self.words = _words.take(self.layout.size)
        first = _first_line(self.scratch)
        zeros = first + self.zeros
        return FRAME(
            words=address,
            partials=first + self.partials,
            flags=self.flags,
            counts=first + self.counts,
            zeros=zeros,
            flag_words=self.flags.size // 8,
            count_words=len(self.plan.slots) * COUNT_WORDS * COUNT_RING,
            zero_words=(self.sums - self.zeros) // 8,
            arrays=ARRAYS(
                sums=first + self.sums, has=first + self.has, arrived=zeros + 8, turns=zeros
            ),
            records=RECORDS(at=self.records, room=room),
        )

    def _launch(self, frame: Packed) -> int:
        """Launch the kernel once, and return its status."""
        self.words[:] = np.array(self.state, np.uint64)
        (status,) = persistent.run(
            self.kernel,
            self.blocks,
            self.tuning.block,
            frame,
            *self.forms.packed,
            results=0,
            shared=self.forms.shared,
            as_struct=True,
        )
        self.state = self.words.tolist()
        return status

    # --- results --------------------------------------------------------------------------------

    def _fault(self, number: int, line: int) -> tuple[str, str, int]:
        if number >= SCALAR_FAULTS:
            return self.text.faults[number - SCALAR_FAULTS]
        return (*_SCALAR_FAULTS[number], line)

    def _outcome(self, number: int, fault: tuple[str, str, int] | None) -> Outcome:
        program, layout = self.program, self.layout
        if fault is not None:
            names: list[Any] = [*program.slots, *program.stacks, *layout.variables]
        else:
            names = list(program.exits[number].names.values())
        return Outcome(
            number,
            fault,
            {each.name: self._scalar(each) for each in names if isinstance(each, ir.Var)},
            {each.index: self._slot(each) for each in names if isinstance(each, ir.Slot)},
            {each.index: self._stack(each) for each in names if isinstance(each, ir.Stack)},
            self._trace(),
        )

    def _scalar(self, variable: ir.Var) -> bool | int | float:
        word = self.state[self.layout.variables[variable]]
        if variable.dtype is BOOL:
            return bool(word & 1)
        code = "d" if variable.dtype is FP64 else "q"
        return struct.unpack(code, struct.pack("Q", word))[0]

    def _slot(self, slot: ir.Slot) -> VectorStore:
        at, n = self.layout.slots[slot], self._dim(slot.dim)
        _, flags, _, _, entries = self.state[at : at + 5]
        values = self.values[flags]
        storage: AnyVector
        if n and entries == n:
            storage = FullVector(n, values)
        else:
            begin = flags - self.flags.data.ptr
            storage = BitmapVector(n, self.flags[begin : begin + n], values, entries)
        return VectorStore(self.arguments.device, slot.dtype, storage)

    def _stack(self, stack: ir.Stack) -> list[VectorStore]:
        at, memory, n = self.layout.stacks[stack], self.stacks[stack], self._dim(stack.dim)
        length = self.state[at + 5]
        ends = [0, *memory.ends[:length].tolist()]
        return [
            VectorStore(
                self.arguments.device,
                stack.dtype,
                SparseVector(n, memory.indices[begin:end], memory.values[begin:end], False),
            )
            for begin, end in pairwise(ends)
        ]

    def _trace(self) -> list[Level]:
        if self.records is None:
            return []
        count = min(self.state[PRODUCTS], self.tuning.records - 1)
        rows = xp.asnumpy(self.records[: 4 * (count + 1)]).reshape(-1, 4).tolist()
        return [
            Level(("push", "pull")[way], frontier, edges, (after[3] - time) * 1e-9)
            for (way, frontier, edges, time), after in pairwise(rows)
        ]


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
        return xp.empty(self.size + LINE_BYTES, xp.uint8)


def _first_line(memory: Array) -> int:
    """Return the first aligned address in an array."""
    return -(-memory.data.ptr // LINE_BYTES) * LINE_BYTES


def _round_up(size: int) -> int:
    """Return a size that is a multiple of LINE_BYTES, and at least that."""
    return max(-(-size // LINE_BYTES), 1) * LINE_BYTES


def _bits(value: bool | int | float, dtype: DataType) -> int:
    if dtype is BOOL or dtype is INT64:
        return int(value) & 0xFFFFFFFFFFFFFFFF
    return struct.unpack("Q", struct.pack("d", value))[0]
