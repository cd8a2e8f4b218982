"""Define the words in which a kernel and the host exchange a program's state, and kernel
options."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from graphla.program import ir
from graphla.program.records import record
from semirings.dtypes import DataType

if TYPE_CHECKING:
    from graphla.program.plan_steps import Plan

KERNEL = "run_loop"
"""The name of the kernel."""

SCALAR_FAULTS = 16  # `SCALAR_FAULTS` in program_scalars.cuh

# --- the state of a program ---------------------------------------------------------------------

HEADER = 8
"""Number of words at the beginning of the state; see `StateWord` in program_machine.cuh."""

VECTOR = ("values", "present", "queue", "counts", "entries")
INPUT = ("indices", "present", "values", "step", "count")
STACK = ("indices", "values", "ends", "room", "items", "length", "top", "lowest")


@record
class Words:
    """The index at which each item begins in the words of a program's state."""

    dims: int
    arrays: int
    variables: dict[ir.Var, int]
    slots: dict[ir.Slot, int]
    inputs: dict[ir.Slot, int]
    stacks: dict[ir.Stack, int]
    size: int


def words_of(plan: Plan) -> Words:
    """Return the layout of the state of a program."""
    program = plan.program
    dims = HEADER
    arrays = dims + program.dims
    at = arrays + len(program.arrays)
    variables: dict[ir.Var, int] = {}
    for each in (*program.variables, *program.scalars):
        if each not in variables:
            variables[each], at = at, at + 1
    places: list[dict[Any, int]] = []
    given = (*program.inputs, *plan.reduction_slots)
    for items, fields in ((plan.slots, VECTOR), (given, INPUT), (program.stacks, STACK)):
        places.append({})
        for each in items:
            places[-1][each], at = at, at + len(fields)
    slots, inputs, stacks = places
    return Words(dims, arrays, variables, slots, inputs, stacks, at)


# --- what the kernel is specialized for ---------------------------------------------------------


FormKey = tuple[int, str, str]
"""A form of a matrix: the index of the matrix, "csr" or "csc", and "pull" or "push"."""


@record
class FormType:
    """The C++ types of one form of a matrix, and how its values are stored (`Kept`)."""

    offset: str
    values: str
    kept: int


@record
class Options:
    """What a kernel is specialized for, in addition to its plan.

    `forms` contains the types of the matrix forms that products read (see `form_keys`).
    `direction` is "auto", "push" or "pull".
    """

    forms: dict[FormKey, FormType]
    direction: str
    is_deterministic: bool
    block: int
    hubs: frozenset[FormKey] = frozenset()  # the forms whose pulls use the mode WITH_HUBS
    cluster: int = 1  # if it is above 1, the grid is one cluster of this many blocks
    # If None, the kernel is compiled as a whole. Otherwise products are compiled as separate parts,
    # and so are sweeps if the kernel contains at least this many sweeps.
    sweeps_from: int | None = None


@record
class Text:
    """A printed kernel.

    `faults` contains (kind, text, line, dim) of each fault of the program. For a fault in a vector,
    `text` is a format string that names indices and the size of dimension `dim`. For other faults,
    `dim` is -1. `parts` is the number of parts of the program, in addition to the kernel (see
    `compilers.cuda.Loading`).
    """

    text: str
    words: Words
    forms: list[FormKey]
    block: int
    faults: list[tuple[str, str, int, int]] = field(default_factory=list)
    parts: int = 0


@record
class HostInfo:
    """What the host needs to know about a plan.

    Attributes:
        forms: the forms of the matrices that the products read.
        reads: the forms whose values a product reads.
        peeks: maps a pull form to the dtype of the vectors that the products multiply with this
            form. It contains a form if all of these products use the monoid ANY.
        hubs: like `peeks`, but contains a form if all products with this form multiply a full
            vector and add up all terms.
        layout: a `graphla.backends.cuda.program.Layout` with the layout of the state.
        reductions: the reductions of matrices, which are computed before the program starts.
    """

    forms: list[FormKey]
    reads: set[FormKey]
    peeks: dict[FormKey, DataType]
    hubs: dict[FormKey, DataType]
    layout: Any
    reductions: tuple[ir.MatrixReduction, ...]


def form_keys(product: ir.Product) -> tuple[FormKey, FormKey]:
    """Return the forms of the matrix that a pull and a push of a product read."""
    is_flipped = product.is_transposed != (product.side == "vxm")
    pull, push = ("csc", "csr") if is_flipped else ("csr", "csc")
    return (product.matrix.index, pull, "pull"), (product.matrix.index, push, "push")
