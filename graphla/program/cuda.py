"""The engine that runs programs on GPUs. Each program is printed as a CUDA kernel."""

from __future__ import annotations

import struct
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import cupy as xp
import numpy as np

from graphla.backends.cuda import persistent, program_products
from graphla.backends.cuda import program as machine
from graphla.backends.cuda.hot_columns import Hubs
from graphla.backends.cuda.launch import EACH, ISO, UNREAD
from graphla.backends.cuda.persistent import FAULT
from graphla.backends.cuda.program_products import hubs_for
from graphla.backends.cuda.reduce import reduce_rows
from graphla.backends.cuda.streams import Stamp
from graphla.backends.tuning import current
from graphla.compilers import disk_cache, nvrtc
from graphla.formats import AnyVector, Csr, is_iso
from graphla.program import ir
from graphla.program.cuda_layout import (
    KERNEL,
    SCALAR_FAULTS,
    FormKey,
    FormType,
    HostInfo,
    Options,
    Text,
    Words,
)
from graphla.program.fingerprints import NoContent
from graphla.program.reasons import Reason, refuse
from graphla.program.running import Arguments, Outcome
from graphla.program.storing import Codec
from graphla.settings import current as settings
from graphla.settings import forced_direction, recorders
from graphla.stores import MatrixStore, StackStore, VectorStore
from semirings.dtypes import BOOL, FP64, INT64, DataType, lookup_dtype

if TYPE_CHECKING:
    from graphla.program.plan_steps import Plan

FAULTS = {
    "EXCEEDS_64_BITS": ("OverflowError", "an integer in a compiled loop exceeds 64 bits"),
    "DIVIDES_BY_ZERO": ("ZeroDivisionError", "division by zero"),
    "NEGATIVE_SHIFT": ("ValueError", "negative shift count"),
    "OUT_OF_DOMAIN": ("ValueError", "math domain error"),
    "OUT_OF_RANGE": ("OverflowError", "math range error"),
    "NAN_TO_INT": ("ValueError", "cannot convert float NaN to integer"),
    "INFINITY_TO_INT": ("OverflowError", "cannot convert float infinity to integer"),
    "ZERO_TO_NEGATIVE_POWER": ("ZeroDivisionError", "zero to a negative power"),
    "INDEX_OUT_OF_RANGE": ("IndexOutOfBound", "index {index} is out of range: the size is {size}"),
    "POP_FROM_EMPTY_LIST": ("IndexError", "pop from empty list"),
    "LIST_INDEX_OUT_OF_RANGE": ("IndexError", "list index out of range"),
    "DOES_NOT_FIT": ("OverflowError", "a number does not fit into the dtype of the vector"),
    "COMPLEX_POWER": ("ValueError", "a power in a compiled loop is a complex number"),
}
"""For each fault in `ScalarFault` (program_scalars.cuh), the exception that is raised for it."""

_SCALAR_FAULTS = {
    number: FAULTS[name] for name, number in vars(machine.SCALAR_FAULTS).items() if name in FAULTS
}


def run(program: ir.Program, arguments: Arguments) -> Outcome:
    """Run the program. The stores in `arguments` do not change."""
    dims = arguments.dims
    full = tuple(
        [
            slot
            for slot, store in zip(program.inputs, arguments.vectors, strict=True)
            if store.known_nvals == store.size
        ]
    )
    planned = _plan(program, full, settings().deterministic)
    text, loop = planned.specialize(arguments.matrices)
    if lacking := loop.lacking(dims):
        needed, free = lacking
        refuse(Reason.TOO_LARGE, None, size=f"{needed:,}", limit=f"{free:,}")
    work = machine.Run(
        loop,
        dims,
        arguments.arrays,
        [
            *map(_read_input, arguments.vectors),
            *[_reduce(each, arguments) for each in planned.host_info.reductions],
        ],
        [_join_items(stores) for stores in arguments.stacks],
        bool(recorders()),
    )
    state, variables = work.state, text.words.variables
    for variable, value in zip(program.scalars, arguments.scalars, strict=True):
        state[variables[variable]] = _bits(value, variable.dtype)
    try:
        is_fault = work.launch() == FAULT
    except persistent.Refused:
        machine.refuse_clusters()
        return run(program, arguments)
    return _outcome(planned, arguments, text, work, is_fault)


def _read_input(store: VectorStore) -> AnyVector | dict[int, Any]:
    """Return a form of an input vector, or a dict of its entries if the host knows that the vector
    has at most one entry."""
    entries = store.host_entries
    return store.any_form if entries is None or len(entries) > 1 else entries


def _join_items(stores: tuple[VectorStore, ...]) -> list[machine.StackPart]:
    """Return the parts of a list of vectors. Vectors that are consecutive items of one stack in
    device memory are one part."""
    parts: list[machine.StackPart] = []
    stack: Any = None
    first = last = 0  # the items of `stack` that are not in `parts` yet
    for store in stores:
        if store.stack is stack and stack is not None and store.item == last:
            last += 1
            continue
        if stack is not None:
            parts.append((stack.ready(), first, last))
        stack = store.stack
        if stack is None:
            parts.append(store.sparse(sorted=False))
        else:
            first, last = store.item, store.item + 1
    if stack is not None:
        parts.append((stack.ready(), first, last))
    return parts


def explain(program: ir.Program) -> str:
    """Return a description of the kernel's steps and barriers, and of how vectors are stored."""
    return f"\n{_plan(program, (), settings().deterministic).plan}"


def show(
    program: ir.Program, matrices: tuple[MatrixStore, ...], full: tuple[ir.Slot, ...] = ()
) -> str:
    """Return the source of the kernel. Each input in `full` has an entry at every position."""
    planned = _plan(program, full, settings().deterministic)
    return planned.print(matrices)[0].text


_plans: dict[tuple[int, tuple[ir.Slot, ...], bool], _Planned] = {}
"""The plans. Their keys contain the id of the program. `_Planned` keeps the program alive, so that
no other program gets this id."""

MOST_PLANS = 256
"""The maximum number of cached plans. When it is reached, all plans are dropped."""


def _plan(program: ir.Program, full: tuple[ir.Slot, ...], is_deterministic: bool) -> _Planned:
    key = (id(program), full, is_deterministic)
    known = _plans.get(key)
    if known is None:
        planned = _Planned(program, full, is_deterministic)
        if len(_plans) >= MOST_PLANS:
            _plans.clear()
        known = _plans[key] = planned
    return known


_codec = Codec(
    *(HostInfo, Text, Words, ir.MatrixReduction),
    *(machine.Layout, machine.SlotPlace, machine.StackPlace),
)


class _Planned:
    """A plan, and the kernels that are printed for it.

    `host_info` and the kernels may come from the cache on disk. The plan is computed only if one of
    them is not there.
    """

    def __init__(
        self, program: ir.Program, full: tuple[ir.Slot, ...], is_deterministic: bool
    ) -> None:
        self.program, self.is_deterministic, self.full = program, is_deterministic, full
        # Identifies the plan in the cache on disk; () if the plan is not stored.
        self.key: tuple[Any, ...] = ()
        if program.key:
            self.key = program.key, tuple([slot.index for slot in full]), is_deterministic
        self.host_info: HostInfo = self._from_disk("host_info", (), self._find_host_info)
        try:
            # A kernel from disk fits only the layout with which it was printed.
            self.key = self.key and (*self.key, _codec.pack(self.host_info))
        except NoContent:  # the plan contains a reduction with a user-defined monoid
            self.key = ()
        self._texts: dict[Any, Text] = {}
        self._loops: dict[Any, tuple[Text, machine.Loop, Any]] = {}
        self._refs: dict[Any, list[weakref.ref[Csr]]] = {}
        self._results: dict[int, _Results] = {}

    @cached_property
    def plan(self) -> Plan:
        """The plan. Raise LacksBlocks if the program is only a `ProgramHeader`."""
        from graphla.program.plan import plan

        return plan(self.program, self.full, is_deterministic=self.is_deterministic)

    def _find_host_info(self) -> HostInfo:
        from graphla.program.host_info import find_host_info

        return find_host_info(self.plan)

    def _from_disk(self, kind: str, parts: tuple[Any, ...], make: Callable[[], Any]) -> Any:
        """Return the value of make(), or load it from the cache on disk.

        The value is loaded only if the program is a `ProgramHeader`, which itself comes from the
        cache. Otherwise the value is computed, and stored for other processes. So all parts of a
        kernel were computed by the same process.
        """
        if not self.key:
            return make()
        name = disk_cache.name_of(kind, self.key, parts)
        known = disk_cache.load(name) if isinstance(self.program, ir.ProgramHeader) else None
        if known is not None:
            return _codec.unpack(known)
        made = make()
        with suppress(NoContent):
            disk_cache.store(name, _codec.pack(made))
        return made

    def specialize(self, matrices: tuple[MatrixStore, ...]) -> tuple[Text, machine.Loop]:
        """Return the kernel for these matrices, and the loop that runs it.

        Both are cached as long as the forms of the matrices exist.
        """
        csrs = [getattr(matrices[number], name) for number, name, _ in self.host_info.forms]
        stream = xp.cuda.get_current_stream().ptr if self.host_info.hubs else 0
        tunings = current(machine.TUNING), current(program_products.TUNING)
        device, refusals = xp.cuda.runtime.getDevice(), machine.refusals()
        key = (*map(id, csrs), *map(id, tunings), device, stream, forced_direction(), refusals)
        known = self._loops.get(key)
        if known is None:
            cluster = machine.cluster_for(csrs)
            text, forms = self.print(matrices)
            what, entry = f"the loop of {self.program.name}", f"graphla::{KERNEL}<0>"

            def print_parts() -> tuple[str, int]:
                printed = self._text(matrices, is_in_parts=True)
                return printed.text, printed.parts

            loop = machine.Loop(
                *(
                    text.text,
                    print_parts,
                    entry,
                    what,
                    text.block,
                    cluster,
                    self.host_info.layout,
                    forms,
                )
            )
            known = self._loops[key] = text, loop, tunings  # the key contains the ids of `tunings`

            def drop(_: Any) -> None:
                self._loops.pop(key, None)
                self._refs.pop(key, None)

            self._refs[key] = [weakref.ref(a, drop) for a in csrs]
        known[1].improve()
        return known[0], known[1]

    def print(self, matrices: tuple[MatrixStore, ...]) -> tuple[Text, list[machine.Form]]:
        """Return the kernel for these matrices, and the forms that it reads."""
        text = self._text(matrices)
        csrs = {key: getattr(matrices[key[0]], key[1]) for key in self.host_info.forms}
        hubs = self._hubs(csrs)
        return text, [self._form(key, csrs[key], matrices, hubs.get(key)) for key in text.forms]

    def _hubs(self, csrs: dict[FormKey, Csr]) -> dict[FormKey, Hubs]:
        found = (
            (key, hubs_for(csrs[key], dtype.np_type)) for key, dtype in self.host_info.hubs.items()
        )
        return {key: each for key, each in found if each is not None}

    def _text(self, matrices: tuple[MatrixStore, ...], *, is_in_parts: bool = False) -> Text:
        csrs = {key: getattr(matrices[key[0]], key[1]) for key in self.host_info.forms}
        kinds = {key: _type_of(a, key in self.host_info.reads) for key, a in csrs.items()}
        hubs = frozenset(self._hubs(csrs))
        tuning, cluster = current(machine.TUNING), machine.cluster_for(csrs.values())
        is_in_parts = is_in_parts or tuning.is_in_parts
        options = Options(
            *(kinds, forced_direction(), self.is_deterministic, tuning.block, hubs),
            *(cluster, tuning.sweeps_from if is_in_parts else None),
        )
        key = (
            *(tuple(kinds.items()), options.direction, options.block, tuple(sorted(hubs))),
            *(cluster, options.sweeps_from),
        )
        if key not in self._texts:

            def make() -> tuple[Text, str]:
                from graphla.program.cuda_text import print_kernel

                text = print_kernel(self.plan, options)
                return text, nvrtc.digest(text.text)

            text, digest = self._from_disk("kernel", key, make)
            nvrtc.set_digest(text.text, digest)
            self._texts[key] = text
        return self._texts[key]

    def _form(
        self, key: FormKey, a: Csr, matrices: tuple[MatrixStore, ...], hubs: Hubs | None
    ) -> machine.Form:
        number, name, way = key
        columns = None
        if key in self.host_info.peeks:
            columns = matrices[number].csr if name == "csc" else matrices[number].csc
        return machine.Form(a, way == "pull", key in self.host_info.reads, hubs, columns)


def _type_of(a: Csr, is_read: bool) -> FormType:
    offset = "i32" if a.indptr.dtype == np.int32 else "i64"
    if not is_read:
        return FormType(offset, "i8", UNREAD)
    kept = ISO if is_iso(a.values) else EACH
    return FormType(offset, lookup_dtype(a.values.dtype).c_type, kept)


def _reduce(x: ir.MatrixReduction, arguments: Arguments) -> Any:
    """Return the reduction of a matrix. The matrix does not change while the program runs."""
    store = arguments.matrices[x.matrix.index]
    return reduce_rows((store.T if x.is_transposed else store).csr, x.monoid)


# --- results ------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Results:
    """The results of an exit of a program, and where they are in the state of the program.

    `scalars` contains the name, the index of the word and the dtype of each scalar. `slots`
    contains the index of each slot, its index in the layout, and its dtype. `stacks` contains the
    index of each stack, its index in the layout, the index of its dimension, and its dtype.
    """

    scalars: list[tuple[str, int, DataType]]
    slots: list[tuple[int, int, DataType]]
    stacks: list[tuple[int, int, int, DataType]]


def _find_results(planned: _Planned, words: Words, number: int) -> _Results:
    """Return the results of an exit. If `number` is -1, return those after a fault, which include
    all variables."""
    program = planned.program
    if number < 0:
        names: list[Any] = [*program.slots, *program.stacks, *words.variables]
    else:
        names = list(dict.fromkeys(program.exits[number].names.values()))
    slots, stacks = list(words.slots), list(words.stacks)
    return _Results(
        [(x.name, words.variables[x], x.dtype) for x in names if isinstance(x, ir.Var)],
        [(x.index, slots.index(x), x.dtype) for x in names if isinstance(x, ir.Slot)],
        [
            (x.index, stacks.index(x), x.dim.index, x.dtype)
            for x in names
            if isinstance(x, ir.Stack)
        ],
    )


def _outcome(
    planned: _Planned, arguments: Arguments, text: Text, work: machine.Run, is_fault: bool
) -> Outcome:
    state, fault = work.state, None
    number = state[machine.State.STATE_EXIT]
    if is_fault:
        number, fault = -1, _fault(text, work)
    results = planned._results.get(number)
    if results is None:
        results = planned._results[number] = _find_results(planned, text.words, number)
    device, stamps, make = arguments.device, (Stamp(),), VectorStore.of_maker
    stacks: dict[int, list[VectorStore]] = {}
    for index, k, size, dtype in results.stacks:
        lowest, arena = work.stack(k)
        made = StackStore(device, dtype, arguments.dims[size], arena, stamps)
        new = VectorStore.items_of(made, lowest, arena.count)
        stacks[index] = [*arguments.stacks[index][:lowest], *new]
    return Outcome(
        number,
        fault,
        {name: _number(state[at], dtype) for name, at, dtype in results.scalars},
        {index: make(device, dtype, *work.vector(k), stamps) for index, k, dtype in results.slots},
        stacks,
        work.levels(),
        tuple([planned.program.stacks[k].name for k in work.enlarged]),
    )


def _fault(text: Text, work: machine.Run) -> tuple[str, str, int]:
    number = work.state[machine.State.STATE_FAULT]
    if number >= SCALAR_FAULTS:
        kind, message, line, dim = text.faults[number - SCALAR_FAULTS]
        if dim >= 0:  # `Machine::describe_fault` has stored the indices
            highest, lowest = (work.state[word] for word in _INDEX_WORDS)
            message = message.format(
                index=-lowest if lowest and not highest else highest,
                size=work.dims[dim],
                missing=highest,
                have="has" if highest == 1 else "have",
            )
        return kind, message, line
    kind, message = _SCALAR_FAULTS[number]
    if kind == "IndexOutOfBound":
        index = _number(work.state[machine.State.STATE_NEEDED], INT64)
        message = message.format(index=index, size=work.state[machine.State.STATE_EXIT])
    return kind, message, work.state[machine.State.STATE_LINE]


_INDEX_WORDS = machine.State.STATE_NEEDED, machine.State.STATE_EXIT


def _number(word: int, dtype: DataType) -> bool | int | float:
    if dtype is BOOL:
        return bool(word & 1)
    if dtype is FP64:
        return struct.unpack("d", struct.pack("Q", word))[0]
    return word - (1 << 64) if word >> 63 else word


def _bits(value: bool | int | float, dtype: DataType) -> int:
    if dtype is FP64:
        return struct.unpack("Q", struct.pack("d", value))[0]
    return int(value) & 0xFFFFFFFFFFFFFFFF
