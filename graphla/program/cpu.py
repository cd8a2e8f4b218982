"""The engine that runs programs on the CPU. Numba compiles them."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from graphla import memory
from graphla.backends.cpu import program as machine
from graphla.backends.cpu.loops import program as words
from graphla.backends.cpu.spmv import first_of_rows
from graphla.compilers import disk_cache
from graphla.formats import Csr
from graphla.program import ir
from graphla.program.reasons import Reason, refuse
from graphla.program.running import Arguments, Outcome
from graphla.program.storing import Codec
from graphla.settings import config, current, forced_direction, recorders
from graphla.stores import MatrixStore, VectorStore

MOST_PROGRAMS = 256
"""The maximum number of programs whose text is kept."""

BYTES_OF_ENTRY = 5
"""Bytes that a slot needs per index, in addition to the value: a flag and an element of the list of
entries."""

_layouts: dict[tuple, tuple[ir.Program, machine.Layout]] = {}
_names = {np.dtype(name): name for name in ("int32", "int64")}
"""The names of the dtypes of `indptr`. NumPy would compute a dtype's attribute `name` again at each
access."""
_FORCED = {"push": words.PUSH, "pull": words.PULL}


def run(program: ir.Program, arguments: Arguments, load: Any = machine.load) -> Outcome:
    """Run the program. If it raises an exception, the arguments are left unchanged.

    Raise NotCompilable if an operator cannot be translated for Numba, or if there is too little
    memory. `load` compiles the printed program.
    """
    forms = [
        _forms(matrix, store) for matrix, store in _pairs(program.matrices, arguments.matrices)
    ]
    layout = _layout(program, tuple(_offsets(held) for held in forms))
    _check_memory(program, layout, arguments.dims)
    loop = load(layout, program.name)
    work = machine.Machine(layout, _input(program, arguments, forms), loop)
    began = perf_counter()
    work.run()
    for number, _ in layout.firsts:
        arguments.matrices[number].record_traversal(perf_counter() - began)
    outcome = _outcome(program, arguments, layout, work)
    work.release()
    return outcome


def explain(program: ir.Program) -> str:
    """Return a description of the compiled loops, and of how the vectors are stored."""
    from graphla.program.numba_text import print_program

    layout = print_program(program, [("int32", "int32")] * len(program.matrices))
    names = {slot.index: slot.name for slot in program.slots}
    wide, most = machine.TUNING.wide, machine.TUNING.wide_product
    found = [
        f"loops; threads divide a loop over more than {wide:,} indices, and a product that reads "
        f"more than {most:,} edges, and join after it"
    ]
    block = -1
    for phase, following in zip(layout.phases, [*layout.phases[1:], None], strict=True):
        if phase.kind == "push" and following is not None and following.kind == "pull":
            continue
        if phase.block != block:
            block = phase.block
            found.append(f"block {block}")
        lines = [program.source[line - 1].strip() for line in phase.lines if line]
        fused = f"{len(lines)} statements" if len(lines) > 1 else "1 statement"
        found.append(f"  {_domain(phase, names)}, {fused}")
        found += [f"    # {line}" for line in lines]
    pushed = {phase.u for phase in layout.phases}
    listed = {index for phase in layout.phases for cover in phase.covers for index in cover}
    for slot in program.slots:
        how, why = "a bitmap with a list of its entries", "a product pushes them"
        if slot.index not in pushed:
            why = "a loop visits only them while they are few"
            if slot.index not in listed:
                how, why = "a bitmap", "no loop visits its entries only"
        found.append(f"vector {slot.name}: {how}, because {why}")
    return "\n" + "\n".join(found)


def _domain(phase: machine.Phase, names: dict[int, str]) -> str:
    """Return a description of a kind of loop, and of the indices that the loop visits."""
    if phase.kind == "pull":
        kind = "push or pull, by the numbers of edges and of allowed outputs"
    else:
        kind = "reduction" if phase.kind == "reduce" else "loop"
    covers = [" and ".join(names.get(x, "temporary") for x in sorted(x)) for x in phase.covers]
    if not covers or phase.kind == "pull":
        return f"{kind}, n{phase.dim} indices"
    return f"{kind}, the entries of {' or of '.join(covers)} while they are few, else n{phase.dim}"


def _check_memory(program: ir.Program, layout: machine.Layout, dims: tuple[int, ...]) -> None:
    """Raise NotCompilable if the arrays of the slots do not fit in memory."""
    kinds = [(slot.dtype, slot.dim.index) for slot in program.slots]
    kinds += [(dtype, dim) for _, dtype, dim in layout.temporaries]
    size = sum(dims[dim] * (dtype.np_type.itemsize + BYTES_OF_ENTRY) for dtype, dim in kinds)
    if size >= memory.SMALL:
        limit = memory.available()
        if limit is not None and size > limit:
            refuse(Reason.TOO_LARGE, None, size=f"{size:,}", limit=f"{limit:,}")


def _pairs(names: Any, values: Any) -> Any:
    return zip(names, values, strict=True)


def _forms(matrix: ir.MatrixArgument, store: MatrixStore) -> tuple[Csr | None, Csr | None]:
    """Return the CSR and the CSC of a matrix, or None for a form that does not exist."""
    if store.is_symmetric:
        return store.csr, store.csr
    return store.csr if store.has_csr else None, store.csc if store.has_csc else None


def _offsets(held: tuple[Csr | None, Csr | None]) -> tuple[str, str]:
    """Return the dtypes of `indptr` in CSR and in CSC. A form that does not exist will be computed
    from the other form, and then has an `indptr` of the same dtype."""
    csr, csc = (form or other for form, other in (held, held[::-1]))
    return _names[csr.indptr.dtype], _names[csc.indptr.dtype]  # pyright: ignore[reportOptionalMemberAccess]


def _matrix(
    store: MatrixStore, held: tuple[Csr | None, Csr | None], is_iso: bool
) -> machine.Matrix:
    def make(which: int) -> Csr:
        return store.csc if which else store.csr

    def firsts(which: int, form: Csr) -> Any:
        if store.nrows == store.ncols:
            plan = (store if which else store.T).plan_now()
            if plan is not None:
                return plan.first
        return first_of_rows(form, config.threads)

    return machine.Matrix(store.nvals, is_iso, held, make, firsts)


def _layout(program: ir.Program, offsets: tuple[tuple[str, str], ...]) -> machine.Layout:
    """Return the printed program. It is printed only once per combination of `indptr` dtypes."""
    key = id(program), offsets
    known = _layouts.get(key)
    if known is None:
        layout = _find_layout(program, offsets)
        if len(_layouts) >= MOST_PROGRAMS:
            del _layouts[next(iter(_layouts))]
        known = _layouts[key] = program, layout
    return known[1]


_codec = Codec(machine.Layout, machine.Phase)


def _find_layout(program: ir.Program, offsets: tuple[tuple[str, str], ...]) -> machine.Layout:
    """Return the printed program from the cache on disk. If it is not there, print it."""
    name = program.key and disk_cache.name_of("layout", program.key, offsets)
    known = disk_cache.load(name) if isinstance(program, ir.ProgramHeader) else None
    if known:
        return _codec.unpack(known)
    from graphla.program.numba_text import print_program

    layout = print_program(program, offsets)
    if name:
        disk_cache.store(name, _codec.pack(layout))
    return layout


def _input(
    program: ir.Program, arguments: Arguments, forms: list[tuple[Csr | None, Csr | None]]
) -> machine.Input:
    matrices = [
        _matrix(store, held, matrix.is_iso)
        for matrix, store, held in zip(program.matrices, arguments.matrices, forms, strict=True)
    ]
    return machine.Input(
        dims=arguments.dims,
        matrices=matrices,
        arrays=arguments.arrays,
        scalars={v.name: value for v, value in _pairs(program.scalars, arguments.scalars)},
        vectors={
            slot.index: store.any_form for slot, store in _pairs(program.inputs, arguments.vectors)
        },
        stacks={
            stack.index: [store.any_form for store in stores]
            for stack, stores in _pairs(program.stacks, arguments.stacks)
        },
        slots={slot.index: (slot.dtype, slot.dim.index) for slot in program.slots},
        stack_types={stack.index: (stack.dtype, stack.dim.index) for stack in program.stacks},
        is_fixed=current().deterministic,
        forced=_FORCED.get(forced_direction(), 0),
        is_traced=bool(recorders()),
        threads=config.threads,
    )


def _outcome(
    program: ir.Program, arguments: Arguments, layout: machine.Layout, work: machine.Machine
) -> Outcome:
    """Return the `Outcome` of a program that has ended."""
    fault = work.fault()
    number = -1 if fault is not None else int(work.w[words.AT])
    used = program.slots if fault else program.exits[number].names.values()
    originals = {slot.index: store for slot, store in _pairs(program.inputs, arguments.vectors)}
    slots, stacks = {}, {}
    for slot in used:
        if isinstance(slot, ir.Slot) and slot.index not in slots:
            if slot.index in originals and slot.index not in layout.written:
                slots[slot.index] = originals[slot.index]
            else:
                vector = work.vector(layout.slots[slot.index], arguments.dims[slot.dim.index])
                slots[slot.index] = VectorStore(arguments.device, slot.dtype, vector)
    for stack, given in _pairs(program.stacks, arguments.stacks):
        items = work.items(layout.stacks[stack.index], arguments.dims[stack.dim.index])
        stacks[stack.index] = [
            given[k] if vector is None else VectorStore(arguments.device, stack.dtype, vector)
            for k, vector in enumerate(items)
        ]
    kept = (*program.scalars, *program.variables)
    if not fault:
        held = {each.name for each in used if isinstance(each, ir.Var)}
        kept = [v for v in kept if v.name in held]
    scalars = {v.name: work.scalar(v.name, v.dtype) for v in kept}
    names = {layout.stacks[stack.index]: stack.name for stack in program.stacks}
    enlarged = tuple(names[place] for place in work.enlarged)
    return Outcome(number, fault, scalars, slots, stacks, list(work.trace), enlarged)
