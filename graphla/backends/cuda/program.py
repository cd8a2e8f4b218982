"""Run a compiled loop on a GPU by one cooperative launch. Kernels: printed by program/cuda_text.py.

The host waits for the end of the loop, by polling (see `persistent`). If the memory of a stack is
full, the kernel leaves with its state; the host then enlarges the memory, and launches the kernel
again, which goes on where it left.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from threading import local
from typing import Any

import cupy as xp
import numpy as np

from graphla.backends.cuda import persistent
from graphla.backends.cuda.launch import EACH, ISO, NULL, UNREAD
from graphla.backends.cuda.program_products import arrays, pull_form, push_form
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
)
from graphla.program.plan import Multiply, Plan, plan
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
        self.products = [
            step.product
            for block in of.blocks
            for step in block.steps
            if isinstance(step, Multiply)
        ]
        self._texts: dict[Any, Text] = {}

    def text(self, forms: dict[FormKey, FormType], direction: str, block: int) -> Text:
        """Return the kernel for these forms of the matrices."""
        key = (tuple(forms.items()), direction, block)
        if key not in self._texts:
            options = Options(forms, direction, self.is_deterministic, block)
            self._texts[key] = print_kernel(self.plan, options)
        return self._texts[key]


def kernel_text(
    program: ir.Program, matrices: tuple[MatrixStore, ...], full: tuple[ir.Slot, ...] = ()
) -> str:
    """Return the text of the kernel for a program."""
    planned = _plan(_ById(program), full, settings().deterministic)
    forms = {key: kind for key, (_, kind) in _find_forms(planned.products, matrices).items()}
    return planned.text(forms, forced_direction(), current(TUNING).block).text


def _find_forms(
    products: list[ir.Product], matrices: tuple[MatrixStore, ...]
) -> dict[FormKey, tuple[Csr, FormType]]:
    """Return the forms of the matrices that the products read."""
    found: dict[FormKey, tuple[Csr, FormType]] = {}
    for product in products:
        op = product.semiring.binaryop
        reads = op.reads_x if product.side == "mxv" else op.reads_y
        for key in form_keys(product):
            index, name, _ = key
            a = getattr(matrices[index], name)
            before = found.get(key)
            if before is not None and before[1].kept != UNREAD:
                continue
            kept = UNREAD if not reads else ISO if is_iso(a.values) else EACH
            values = lookup_dtype(a.values.dtype).c_type if reads else "i8"
            offset = "i32" if a.indptr.dtype == np.int32 else "i64"
            found[key] = a, FormType(offset, values, kept)
    return found


class _Words(local):
    """Words of host memory that a thread's launches read and write, one launch after another."""

    def __init__(self) -> None:
        self.memory: Any = None
        self.room = 0

    def take(self, count: int) -> tuple[Any, Array]:
        """Return the address of `count` words, and the words."""
        if count > self.room:
            self.room = max(256, 1 << count.bit_length())
            self.memory = xp.cuda.alloc_pinned_memory(8 * self.room)
        return self.memory.ptr, np.frombuffer(self.memory, np.uint64, count)


_words = _Words()


@dataclass(slots=True)
class _Buffers:
    """The memory of a slot."""

    values: Array
    present: Array


@dataclass(slots=True)
class _StackMemory:
    """The memory of a stack."""

    indices: Array
    values: Array
    ends: Array


class _Run:
    """One run of a program."""

    def __init__(self, planned: _Planned, arguments: Arguments) -> None:
        self.plan, self.arguments = planned.plan, arguments
        self.program = planned.plan.program
        self.tuning = current(TUNING)
        found = _find_forms(planned.products, arguments.matrices)
        self.forms = {key: a for key, (a, _) in found.items()}
        kinds = {key: kind for key, (_, kind) in found.items()}
        self.text = planned.text(kinds, forced_direction(), self.tuning.block)
        self.layout = self.text.words
        what = f"the loop of {self.program.name}"
        self.kernel = load_text(self.text.text, f"graphla::{KERNEL}<0>", what)
        self.blocks = persistent.grid(self.kernel, self.tuning.block, each=1)
        self.matrices = [self._pack(key, kinds[key]) for key in self.text.forms]
        self.is_traced = bool(recorders())
        self.kept: list[Any] = []  # arrays that the kernel reads
        self.state = np.zeros(self.layout.size, np.uint64)
        self.buffers: dict[int, _Buffers] = {}  # by the address of the values
        self.stacks: dict[ir.Stack, _StackMemory] = {}
        self._fill_state()

    def _pack(self, key: FormKey, kind: FormType) -> Packed:
        """Return a form of a matrix as a kernel argument."""
        a = self.forms[key]
        values = NULL if kind.kept == UNREAD else a.values
        return pull_form(a, values) if key[2] == "pull" else push_form(a, values)

    # --- memory ---------------------------------------------------------------------------------

    def _dim(self, dim: ir.Dim) -> int:
        return self.arguments.dims[dim.index]

    def _fill_state(self) -> None:
        """Allocate the memory of slots and stacks, and write the program's initial state."""
        layout, state, arguments = self.layout, self.state, self.arguments
        for k, dim in enumerate(arguments.dims):
            state[layout.dims + k] = dim
        for k, array in enumerate(arguments.arrays):
            self.kept.append(xp.asarray(array))
            state[layout.arrays + k] = self.kept[-1].data.ptr
        for variable, value in zip(self.program.scalars, arguments.scalars, strict=True):
            state[layout.variables[variable]] = _bits(value, variable.dtype)
        self._allocate_slots()
        inputs = [*arguments.vectors, *map(self._reduction, self.plan.reductions)]
        for (_, at), store in zip(layout.inputs.items(), inputs, strict=True):
            state[at : at + 5] = self._input(store.at_hand)
        for stack, stores in zip(self.program.stacks, arguments.stacks, strict=True):
            self._fill_stack(stack, stores)

    def _allocate_slots(self) -> None:
        plan, layout = self.plan, self.layout
        slots = plan.slots
        sizes = [_round_up(self._dim(slot.dim)) for slot in slots]
        flags = xp.empty(sum(sizes), bool)
        queued = sum(_round_up(4 * self._dim(s.dim)) for s in slots if s in plan.queued)
        queues = xp.empty(queued, xp.uint8)
        ring = COUNT_WORDS * COUNT_RING
        counts = xp.zeros(ring * (len(slots) + 1), xp.uint64)
        first = -(-counts.data.ptr // (8 * ring)) * 8 * ring
        self.flags, self.counts = flags, counts
        self.kept.append(queues)
        flag, queue = 0, queues.data.ptr
        for k, (slot, size) in enumerate(zip(slots, sizes, strict=True)):
            n = self._dim(slot.dim)
            values = xp.empty(n, slot.dtype.np_type)
            present = flags[flag : flag + n]
            self.buffers[flags.data.ptr + flag] = _Buffers(values, present)
            words = (values.data.ptr, flags.data.ptr + flag, 0, first + 8 * ring * k)
            at = layout.slots[slot]
            self.state[at : at + 4] = words
            if slot in plan.queued:
                self.state[at + 2] = queue
                queue += _round_up(4 * n)
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
        self.state[at + 5 : at + 7] = len(forms), int(ends[-1])

    def _set_stack(self, stack: ir.Stack, memory: _StackMemory) -> None:
        self.stacks[stack] = memory
        at = self.layout.stacks[stack]
        self.state[at : at + 5] = (
            *(memory.indices.data.ptr, memory.values.data.ptr, memory.ends.data.ptr),
            *(memory.values.size, memory.ends.size),
        )

    def _enlarge(self) -> None:
        """Enlarge the memory of the stack that lacks room."""
        number = int(self.state[RESUME]) - 1
        stack = next(
            step.stack
            for block in self.plan.blocks
            for step in block.steps
            if getattr(step, "stack", None) is not None and getattr(step, "number", -1) == number
        )
        at, old = self.layout.stacks[stack], self.stacks[stack]
        length, top = (int(x) for x in self.state[at + 5 : at + 7])
        room = max(2 * old.values.size, 2 * (top + int(self.state[NEEDED])))
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
        while True:
            status = self._launch(self._frame())
            if status != LACKS_ROOM:
                break
            self._enlarge()
        state = self.state
        fault = None
        if status == persistent.FAULT:
            fault = self._fault(int(state[FAULT]), int(state[LINE]))
        return self._outcome(-1 if fault else int(state[EXIT]), fault)

    def _frame(self) -> Packed:
        blocks, plan, tuning = self.blocks, self.plan, self.tuning
        self.partials = xp.empty(max(1, 4 * blocks * plan.folds), xp.uint64)
        self.records = xp.empty(4 * tuning.records if self.is_traced else 0, xp.uint64)
        self.kept += [self.partials, self.records]
        address, self.words = _words.take(self.layout.size)
        return FRAME(
            words=address,
            partials=self.partials,
            flags=self.flags,
            flag_words=self.flags.size // 8,
            counts=self.counts,
            arrays=arrays([a for key, a in self.forms.items() if key[2] == "pull"]),
            records=RECORDS(at=self.records, room=tuning.records if self.is_traced else 0),
        )

    def _launch(self, frame: Packed) -> int:
        """Launch the kernel once, and return its status."""
        self.words[:] = self.state
        (status,) = persistent.run(
            self.kernel,
            self.blocks,
            self.tuning.block,
            frame,
            *self.matrices,
            results=0,
            as_struct=True,
        )
        self.state = self.words.copy()
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
        word = int(self.state[self.layout.variables[variable]])
        if variable.dtype is BOOL:
            return bool(word & 1)
        code = "d" if variable.dtype is FP64 else "q"
        return struct.unpack(code, struct.pack("Q", word))[0]

    def _slot(self, slot: ir.Slot) -> VectorStore:
        at = self.layout.slots[slot]
        _, present, _, _, entries = (int(x) for x in self.state[at : at + 5])
        n, entries = self._dim(slot.dim), min(entries, self._dim(slot.dim))
        buffers = self.buffers[present]
        storage: AnyVector
        if n and entries == n:
            storage = FullVector(n, buffers.values)
        else:
            storage = BitmapVector(n, buffers.present, buffers.values, entries)
        return VectorStore(self.arguments.device, slot.dtype, storage)

    def _stack(self, stack: ir.Stack) -> list[VectorStore]:
        at, memory, n = self.layout.stacks[stack], self.stacks[stack], self._dim(stack.dim)
        length = int(self.state[at + 5])
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
        if not self.is_traced:
            return []
        count = min(int(self.state[PRODUCTS]), self.tuning.records - 1)
        rows = xp.asnumpy(self.records[: 4 * (count + 1)]).reshape(-1, 4).tolist()
        return [
            Level(("push", "pull")[way], frontier, edges, (after[3] - time) * 1e-9)
            for (way, frontier, edges, time), after in pairwise(rows)
        ]


def _round_up(size: int) -> int:
    """Return a size that is a multiple of LINE_BYTES, and at least that."""
    return max(-(-size // LINE_BYTES), 1) * LINE_BYTES


def _bits(value: bool | int | float, dtype: DataType) -> int:
    if dtype is BOOL or dtype is INT64:
        return int(value) & 0xFFFFFFFFFFFFFFFF
    return struct.unpack("Q", struct.pack("d", value))[0]
