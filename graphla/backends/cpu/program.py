"""Run a program that `graphla.program.numba_text` has generated: provide memory and threads, and
report faults.

The function `run` of the program runs until it finishes, or until it needs something from this
module, such as memory (see `loops/program`). This module then provides what is needed, and calls
`run` again, which continues where it stopped.
"""

from __future__ import annotations

import ctypes
import math
import operator
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import local
from time import perf_counter
from typing import Any

import numpy as np

from graphla.backends.cpu.loops import program as words
from graphla.backends.cpu.operands import between, even_parts, row_parts, values_of
from graphla.backends.cpu.spmspv import output_parts
from graphla.backends.requests import Level
from graphla.backends.tuning import current
from graphla.compilers.numba import Loop, load_program
from graphla.compilers.threads import apart, run
from graphla.formats import AnyVector, Array, BitmapVector, Csr, FullVector, SparseVector
from semirings.dtypes import ALL, DataType


@dataclass(frozen=True, slots=True)
class Phase:
    """A loop of a generated program. If several threads share a phase, they wait for each other at
    its end.

    Attributes:
        block: the number of the program's block that contains the loop.
        kind: "push", "pull", "reduce" or another name.
        lines: the line numbers in the user's function.
        dim: the number of the dimension that bounds the indices.
        covers: sets of slots. The loop has to visit only the entries of the slots of one set.
        u: the slot whose entries a push visits, or None.
    """

    block: int
    kind: str
    lines: tuple[int, ...]
    dim: int
    covers: tuple[frozenset[int], ...]
    u: int | None


@dataclass(slots=True)
class Layout:
    """A generated program, and the places at which a run stores its state. A place is a position in
    the run's array of integers or in its array of floats."""

    source: str = ""
    library: str = ""  # the module whose names the source needs
    initial: Array = field(default_factory=lambda: np.zeros(0, np.int64))
    """The array of integers at the start of a run."""
    floats: int = 0  # length of the array of floats
    codes: list[tuple[int, int]] = field(default_factory=list)
    """A pair (place, number of the region) for each word that holds the address of a region."""
    dims: int = 0  # place of the first dimension
    slots: dict[int, int] = field(default_factory=dict)  # place of each slot, by the slot's index
    temporaries: list[tuple[int, DataType, int]] = field(default_factory=list)
    """A triple (place, dtype, index of the dimension) for each slot that the generated program adds
    for intermediate results."""
    scalars: dict[str, tuple[bool, int]] = field(default_factory=dict)
    """Maps the name of each scalar variable to a pair: whether it is a float, and its place."""
    matrices: list[int] = field(default_factory=list)
    arrays: list[int] = field(default_factory=list)
    stacks: dict[int, int] = field(default_factory=dict)
    phases: list[Phase] = field(default_factory=list)
    written: set[int] = field(default_factory=set)  # the indices of slots that the program changes
    firsts: set[tuple[int, int]] = field(default_factory=set)
    """The pairs (matrix, form) for which the program reads the array FIRSTS. Form 0 is CSR, and
    form 1 is CSC."""
    faults: list[tuple[str, str]] = field(default_factory=list)
    """The kind and the text of each `ir.Fault`, in the order of their numbers."""


Code = tuple[list[Loop], list[int]]
"""The functions of the library and of a program, and their addresses. The last function is
`run`."""


@dataclass(frozen=True, slots=True)
class ProgramTuning:
    """Limits that decide how the statements of a program run, measured on two cores."""

    # A statement over n indices visits only the e entries of its operands if e * sparse <= n. If
    # the operands already have lists of their entries, e <= near suffices.
    sparse: int = 8
    near: int = 1 << 18  # see `sparse`
    wide: int = 1 << 17  # threads share a statement that visits more indices than this
    wide_list: int = 1 << 17  # the same limit for a statement that visits a list of entries
    wide_product: int = 1 << 19  # threads share a product that reads more matrix entries than this
    # Even a single thread divides more work than this into parts, because Ctrl-C takes effect only
    # between parts.
    grain: int = 1 << 22
    # If a result of size n has a list of its entries, and at most n / listed entries, it becomes a
    # sparse vector.
    listed: int = 8
    room: int = 1 << 12  # initial capacity of a stack, in entries
    items: int = 64  # initial capacity of a stack, in vectors
    pool: int = 1 << 26  # maximum size of the arrays that are kept for the next program, in bytes
    # If the matrix entries and the dimensions add up to at least this number, the program runs in
    # another thread, so that the main thread can react to Ctrl-C.
    apart: int = 1 << 18


TUNING = ProgramTuning()


@dataclass(slots=True)
class Matrix:
    """A matrix that a program reads. Form 0 is CSR, and form 1 is CSC."""

    nvals: int
    is_iso: bool  # whether the program was printed for a matrix whose entries share one value
    held: tuple[Csr | None, Csr | None]  # CSR and CSC; None if the form has not been built yet
    make: Callable[[int], Csr]  # returns a form, and builds it first if necessary
    # Returns, for each row of a form, a column in which the row has an entry, or -1 if it is empty.
    firsts: Callable[[int, Csr], Array]


@dataclass(slots=True)
class Input:
    """The arguments of a call of a program."""

    dims: tuple[int, ...]
    matrices: list[Matrix]
    arrays: tuple[Array, ...]
    scalars: dict[str, Any]
    vectors: dict[int, AnyVector]  # initial contents of slots, by the slot's index
    stacks: dict[int, list[AnyVector]]
    slots: dict[int, tuple[DataType, int]]  # dtype and dimension of each slot
    stack_types: dict[int, tuple[DataType, int]]
    is_fixed: bool
    forced: int  # PUSH or PULL if all products must use it, otherwise 0
    is_traced: bool
    threads: int


class _Pool(local):
    """Arrays that later programs in this thread can reuse for their slots, keyed by size and dtype.

    The elements of Boolean arrays are all False; other arrays contain arbitrary values.
    """

    def __init__(self) -> None:
        self.arrays: dict[tuple[int, Any], list[Array]] = {}

    def take(self, size: int, dtype: Any) -> Array:
        kept = self.arrays.get((size, dtype))
        if kept:
            return kept.pop()
        return np.zeros(size, dtype) if dtype == _flag else np.empty(size, dtype)

    def give(self, arrays: list[Array]) -> None:
        """Put `arrays` into the pool for the next program. The pool keeps older arrays only if
        their sizes occur in `arrays`."""
        kept: dict[tuple[int, Any], list[Array]] = {}
        sizes = {array.size for array in arrays}
        total, most = 0, current(TUNING).pool
        for array in arrays:
            total += array.nbytes
            if total <= most:
                kept.setdefault((array.size, array.dtype), []).append(array)
        for key, held in self.arrays.items():
            if key[0] in sizes and total <= most:
                kept.setdefault(key, []).extend(held[:8])
        self.arrays = kept


_AFTER_HEAD = object.__basicsize__
"""Offset in bytes of the data pointer in NumPy's array object. NumPy's ABI fixes this layout: the
pointer follows the header of the Python object."""


def address_of(array: Array) -> int:
    """Return the address of the first element. This takes a fifth of the time that reading
    `__array_interface__` would take."""
    return _read_address(id(array) + _AFTER_HEAD).value


_read_address = ctypes.c_ssize_t.from_address
_flag, _int32 = np.dtype(np.bool_), np.dtype(np.int32)
_pool = _Pool()


class Machine:
    """The memory of one run of a program."""

    def __init__(self, layout: Layout, given: Input, code: Code) -> None:
        self.layout, self.given = layout, given
        functions, addresses = code
        own = len(words.ENTRIES)
        self.regions, self.loop = functions[own:-1], functions[-1]
        self.w, self.r = layout.initial.copy(), np.zeros(layout.floats)
        self.alive: dict[int, Array] = {}  # all arrays in use, by address
        self.addresses = self.keep(self.w), self.keep(self.r)
        self.own: set[int] = set()  # the addresses of the arrays that the next program may use
        self.forms: dict[int, Csr] = {}  # the forms that have been passed to the program, by place
        self.trace: list[Level] = []
        # The place of the enlarged stack for each enlargement, in order of time.
        self.enlarged: list[int] = []
        w, tuning = self.w, current(TUNING)
        w[words.SPARSE] = tuning.sparse
        w[words.WIDE], w[words.WIDE_LIST] = tuning.wide, tuning.wide_list
        w[words.WIDE_PRODUCT] = tuning.wide_product
        if given.threads == 1:
            w[words.WIDE] = w[words.WIDE_LIST] = w[words.WIDE_PRODUCT] = tuning.grain
        w[words.NEAR] = tuning.near
        w[words.FIXED], w[words.FORCED] = given.is_fixed, given.forced
        w[words.TRACED] = given.is_traced
        w[layout.dims : layout.dims + len(given.dims)] = given.dims
        w[words.CODE_OF : words.CODE_OF + own] = addresses[:own]
        for place, number in layout.codes:
            w[place] = addresses[own + number]
        self.make_room(1)
        stretches = max(given.dims, default=0) // int(words.STRETCH) + 2
        w[words.PARTIALS] = self.keep(np.zeros(stretches, np.int64))
        w[words.HAS_PARTIAL] = self.keep(np.zeros(stretches, bool))
        self.work = sum(given.dims)
        for index, (dtype, dim) in given.slots.items():
            vector = given.vectors.get(index)
            is_shared = index not in layout.written
            self.make_slot(layout.slots[index], dtype, given.dims[dim], vector, is_shared)
        for place, dtype, dim in layout.temporaries:
            self.make_slot(place, dtype, given.dims[dim], None, False)
        for number, matrix in enumerate(given.matrices):
            w[layout.matrices[number] + words.ENTRIES_OF] = matrix.nvals
            self.work += matrix.nvals
            for which, form in enumerate(matrix.held):
                if form is not None:
                    self.add_form(number, which, form)
        for place, array in zip(layout.arrays, given.arrays, strict=True):
            w[place] = self.keep(np.ascontiguousarray(array))
        for index, vectors in given.stacks.items():
            self.make_stack(layout.stacks[index], given.stack_types[index][0], vectors)
        for name, value in given.scalars.items():
            is_float, place = layout.scalars[name]
            (self.r if is_float else w)[place] = value

    def keep(self, array: Array) -> int:
        """Keep an array alive as long as this object exists. Return its address."""
        address = address_of(array)
        self.alive[address] = array
        return address

    # --- provide memory -------------------------------------------------------------------------

    def make_slot(
        self, place: int, dtype: DataType, n: int, vector: AnyVector | None, is_shared: bool
    ) -> None:
        """Allocate a slot, and store a vector in it. If `is_shared`, the program does not change
        the slot, so it may use the arrays of the vector itself."""
        w, count, is_listed = self.w, 0, True
        values, present = None, None
        listed, w[place + words.LIST] = self.take(n + 1, _int32)
        if vector is not None and not isinstance(vector, SparseVector):
            count = n if isinstance(vector, FullVector) else int(vector.count)
            is_listed = count == 0
            if is_shared and vector.values.flags.c_contiguous:
                values = vector.values
                w[place + words.VALUES] = self.keep(values)
            if is_shared and isinstance(vector, BitmapVector):
                present = vector.present
                w[place + words.PRESENT] = self.keep(present)
        if values is None:
            values, w[place + words.VALUES] = self.take(n, dtype.np_type)
            if not is_listed:
                values[:] = vector.values  # pyright: ignore[reportOptionalMemberAccess]
        if present is None:
            present, w[place + words.PRESENT] = self.take(n, _flag)
            if not is_listed:
                present[:] = getattr(vector, "present", True)
        if isinstance(vector, SparseVector):
            count = vector.indices.size
            values[vector.indices], present[vector.indices] = vector.values, True
            listed[:count] = vector.indices
        w[place + words.NVALS] = count
        w[place + words.LISTED] = words.EXACT if is_listed else 0
        w[place + words.LENGTH] = count if is_listed else 0

    def take(self, size: int, dtype: Any) -> tuple[Array, int]:
        """Return an array for a slot, and its address.

        The elements of a Boolean array are all False; those of other arrays are arbitrary.
        """
        array = _pool.take(size, dtype)
        address = self.keep(array)
        self.own.add(address)
        return array, address

    def release(self) -> None:
        """Put the arrays to which no result refers into the pool for the next program."""
        w, layout = self.w, self.layout
        places = [*layout.slots.values()]
        empty = {int(w[place + words.PRESENT]) for place in places if not w[place + words.NVALS]}
        arrays = []
        for address in self.own:
            array = self.alive[address]
            if array.dtype == _flag and address not in empty:
                array[:] = False
            arrays.append(array)
        _pool.give(arrays)

    def add_form(self, number: int, which: int, form: Csr) -> None:
        """Pass a form of a matrix to the program."""
        place = self.layout.matrices[number] + which * words.FORM_FIELDS
        self.forms[place] = form
        if (number, which) in self.layout.firsts:
            firsts = self.given.matrices[number].firsts(which, form)
            self.w[place + words.FIRSTS] = self.keep(firsts)
        self.w[place + words.INDPTR] = self.keep(form.indptr)
        self.w[place + words.INDICES] = self.keep(form.indices)
        is_iso = self.given.matrices[number].is_iso
        weights = values_of(form.values)[0] if is_iso else np.ascontiguousarray(form.values)
        self.w[place + words.WEIGHTS] = self.keep(weights)
        self.w[place + words.HELD] = 1

    def make_stack(self, place: int, dtype: DataType, vectors: list[AnyVector]) -> None:
        items = [_entries(vector) for vector in vectors]
        sizes = [indices.size for indices, _ in items]
        tuning = current(TUNING)
        room = max(tuning.room, 2 * sum(sizes))
        indices, values = np.empty(room, np.int32), np.empty(room, dtype.np_type)
        starts = np.zeros(max(tuning.items, 2 * len(items)) + 2, np.int64)
        starts[1 : len(items) + 1] = np.cumsum(sizes, dtype=np.int64)
        for k, (where, what) in enumerate(items):
            indices[starts[k] : starts[k + 1]] = where
            values[starts[k] : starts[k + 1]] = what
        self.w[place + words.STACK_COUNT] = self.w[place + words.LOWEST] = len(items)
        self.place_stack(place, indices, values, starts)

    def place_stack(self, place: int, indices: Array, values: Array, starts: Array) -> None:
        w = self.w
        w[place + words.STACK_INDICES] = self.keep(indices)
        w[place + words.STACK_VALUES] = self.keep(values)
        w[place + words.STACK_STARTS] = self.keep(starts)
        w[place + words.ROOM], w[place + words.STACK_ROOM] = indices.size, starts.size - 2

    def stack_arrays(self, place: int) -> tuple[Array, Array, Array]:
        fields = words.STACK_INDICES, words.STACK_VALUES, words.STACK_STARTS
        indices, values, starts = (self.alive[int(self.w[place + field])] for field in fields)
        return indices, values, starts

    def enlarge_stack(self) -> None:
        """Enlarge the arrays of the stack that has no room for another vector."""
        place, needed = int(self.w[words.STATEMENT]), int(self.w[words.NEEDED])
        old = self.stack_arrays(place)
        count = int(self.w[place + words.STACK_COUNT])
        used = int(old[2][count])
        room = max(needed, old[0].size if needed <= old[0].size else 2 * old[0].size)
        indices, values = np.empty(room, np.int32), np.empty(room, old[1].dtype)
        indices[:used], values[:used] = old[0][:used], old[1][:used]
        items = old[2].size - 2
        starts = np.zeros((items if count < items else 2 * items) + 2, np.int64)
        starts[: count + 1] = old[2][: count + 1]
        self.place_stack(place, indices, values, starts)
        self.enlarged.append(place)
        for array in old:
            del self.alive[address_of(array)]

    # --- run ------------------------------------------------------------------------------------

    def run(self) -> None:
        """Run the program until it finishes or a fault occurs."""
        if self.work >= current(TUNING).apart:
            apart(self.run_here, self.w, self.given.threads)
        else:
            self.run_here()

    def run_here(self) -> None:
        w, began = self.w, perf_counter()
        while True:
            self.loop(0, 0, 0, 0, *self.addresses)
            status = int(w[words.STATUS])
            if status == words.SPREAD:
                self.run_region()
            elif status == words.NEEDS_FORM:
                self.make_form()
            elif status == words.NEEDS_ROOM:
                self.enlarge_stack()
            elif status == words.RECORDS:
                began = self.record(began)
            elif status == words.GOES_ON:
                raise KeyboardInterrupt
            else:
                return

    def run_region(self) -> None:
        """Run the region of a statement in parts, in several threads if `threads` exceeds 1."""
        w, threads, statement = self.w, self.given.threads, int(self.w[words.STATEMENT])
        division, size = w[statement + words.DIVISION], int(w[words.SIZE])
        is_listed = w[words.DOMAIN] == words.IN_LISTS
        if division == words.BY_ROWS and not is_listed:
            parts = row_parts(self.forms[int(w[statement + words.FORM])].indptr, threads)
        elif division == words.BY_OUTPUTS:
            u = int(w[statement + words.SPARE])
            parts = output_parts(
                self.forms[int(w[statement + words.FORM])], self.listed(u), threads
            )
        elif division == words.BY_STRETCHES:
            stretch = int(words.STRETCH)
            cuts = even_parts(-(-size // stretch), size, threads)
            parts = [(first * stretch, min(last * stretch, size)) for first, last in cuts]
        else:
            count = max(2 * threads, -(-size // current(TUNING).grain))
            parts = between([size * part // count for part in range(count + 1)])
        parts = parts or between([0, size]) or [(0, 0)]
        self.make_room(len(parts))
        w[words.PARTS] = len(parts)
        region = self.regions[int(w[statement + words.NUMBER])]

        def call(part: int, first: int, last: int) -> None:
            region(first, last, part, statement, *self.addresses)

        run(call, [(k, *part) for k, part in enumerate(parts)], threads, w)

    def listed(self, place: int) -> Array:
        """Return the list of indices of a slot."""
        return self.alive[int(self.w[place + words.LIST])][: int(self.w[place + words.LENGTH])]

    def make_room(self, parts: int) -> None:
        """Allocate memory for the counts and the lists of the parts of a region."""
        w = self.w
        counts = self.alive.get(int(w[words.COUNTS]))
        if counts is None or counts.size < words.WIDTH * parts:
            w[words.COUNTS] = self.keep(np.empty(words.WIDTH * parts, np.int64))
            w[words.REST] = self.keep(np.empty(parts * int(words.ROW), np.int32))

    def make_form(self) -> None:
        """Build the form of a matrix that a product needs."""
        needed = int(self.w[words.NEEDED])
        for number, place in enumerate(self.layout.matrices):
            which = (needed - place) // words.FORM_FIELDS
            if which in (0, 1):
                self.add_form(number, which, self.given.matrices[number].make(which))

    def record(self, began: float) -> float:
        """Append a record of the product that began at the time `began` and has just ended. Return
        the current time, at which the next product begins."""
        now, w = perf_counter(), self.w
        direction = "push" if w[words.PUSHES] == words.PUSH else "pull"
        frontier, edges = int(w[words.FRONTIER]), int(w[words.EDGES])
        self.trace.append(Level(direction, frontier, edges, now - began))
        return now

    # --- results ----------------------------------------------------------------------------------

    def scalar(self, name: str, dtype: DataType) -> bool | int | float:
        is_float, place = self.layout.scalars[name]
        value = (self.r if is_float else self.w)[place].item()
        return bool(value) if dtype.kind == "b" else value

    def vector(self, place: int, n: int) -> AnyVector:
        """Return the vector in a slot. The result may share arrays with the slot."""
        w = self.w
        count = int(w[place + words.NVALS])
        values = self.alive[int(w[place + words.VALUES])]
        if count == n:
            self.own.discard(int(w[place + words.VALUES]))
            return FullVector(n, values)
        is_listed = w[place + words.LISTED] == words.EXACT
        if is_listed and count * current(TUNING).listed <= n:
            indices = self.alive[int(w[place + words.LIST])][:count].copy()
            is_sorted = bool((indices[1:] > indices[:-1]).all())
            return SparseVector(n, indices, values[indices], is_sorted)
        self.own -= {int(w[place + words.VALUES]), int(w[place + words.PRESENT])}
        return BitmapVector(n, self.alive[int(w[place + words.PRESENT])], values, count)

    def items(self, place: int, n: int) -> list[AnyVector | None]:
        """Return the items of a stack as vectors. An item that the stack has contained since the
        start of the run is returned as None, because the caller already has its vector."""
        indices, values, starts = self.stack_arrays(place)
        count, lowest = int(self.w[place + words.STACK_COUNT]), int(self.w[place + words.LOWEST])
        found: list[AnyVector | None] = [None] * lowest
        for k in range(lowest, count):
            where = slice(int(starts[k]), int(starts[k + 1]))
            listed = indices[where].copy()
            is_sorted = bool((listed[1:] > listed[:-1]).all())
            found.append(SparseVector(n, listed, values[where].copy(), is_sorted))
        return found

    def fault(self) -> tuple[str, str, int] | None:
        """Return the kind, the message and the line of the fault, or None if no fault occurred."""
        w, r = self.w, self.r
        code, line = int(w[words.FAULT]), int(w[words.LINE])
        if code == 0:
            return None
        a, b = int(w[words.FAULT_A]), int(w[words.FAULT_B])
        if code <= words.FIRST_FAULT:
            return (*self.layout.faults[words.FIRST_FAULT - code], line)
        if code < 0:
            return (*_STATEMENTS[-1 - code](a, b), line)
        is_float = code >= words.MATH or code in _OF_FLOATS
        x, y = (float(r[0]), float(r[1])) if is_float else (a, b)
        try:
            value = (_OF_FLOATS if is_float else _OF_INTS)[code](x, y)
        except (ArithmeticError, ValueError) as error:
            return type(error).__name__, str(error), line
        if isinstance(value, complex):
            return "ValueError", "a power in a compiled loop is a complex number", line
        return "OverflowError", f"{value} does not fit INT64", line


def _entries(vector: AnyVector) -> tuple[Array, Array]:
    if isinstance(vector, SparseVector):
        return vector.indices, vector.values
    if isinstance(vector, FullVector):
        return np.arange(vector.size, dtype=np.int32), vector.values
    indices = vector.present.nonzero()[0].astype(np.int32)
    return indices, vector.values[indices]


def load(layout: Layout, name: str) -> Code:
    """Compile a program, or load it from the cache."""
    return load_program(name, layout.source, layout.library)


# --- faults ---------------------------------------------------------------------------------------

_STATEMENTS: dict[int, Callable[[int, int], tuple[str, str]]] = {
    words.NOT_FULL: lambda missing, n: (
        "InvalidValue",
        f"index must be a Vector with an entry at each position, but {missing} of its {n} "
        f"positions {'has' if missing == 1 else 'have'} no entry",
    ),
    words.OUT_OF_RANGE: lambda index, size: (
        "IndexOutOfBound",
        f"index {index} is out of range: the size is {size}",
    ),
    words.OUT_OF_INT64: lambda index, size: (
        "IndexOutOfBound",
        f"index {index + (1 << 64)} is out of range: the size is {size}",
    ),
    words.DUPLICATE: lambda index, _: (
        "DuplicateEntry",
        f"index {index} occurs twice in what is assigned to; the indices of an assign must differ, "
        "unless accum is a monoid such as plus",
    ),
    words.NO_ITEM: lambda index, count: (
        "IndexError",
        "list index out of range" if count else "pop from empty list",
    ),
    words.BAD_INDEX: lambda index, size: (
        "IndexOutOfBound",
        f"index {index} is out of range: the size is {size}",
    ),
}
"""Maps each fault of a statement to a function that returns the fault's kind and message."""


def _refuse(value: float, number: float) -> None:
    """Raise the error for a scalar that does not fit a dtype; `number` is the code of the dtype."""
    dtype = next(each for each in ALL if each.number == int(number))
    range_ = ""
    if dtype.is_integer:
        limits = np.iinfo(dtype.np_type)
        range_ = f" ({limits.min} to {limits.max})"
    raise OverflowError(f"value is {value}, which does not fit {dtype}{range_}")


def _choose(function: Callable[[int, int], int], x: int, y: int) -> int:
    if x >= y >= 0:
        raise OverflowError(f"math.{function.__name__}({x}, {y}) does not fit INT64")
    return function(x, y)


_OF_INTS: dict[Any, Callable[[Any, Any], Any]] = {
    words.ADD: operator.add,
    words.SUB: operator.sub,
    words.MUL: operator.mul,
    words.FLOORDIV: operator.floordiv,
    words.MOD: operator.mod,
    words.POW: operator.pow,
    words.NEG: lambda x, _: -x,
    words.ABS: lambda x, _: abs(x),
    words.LSHIFT: operator.lshift,
    words.RSHIFT: operator.rshift,
    words.GCD: math.gcd,
    words.ISQRT: lambda x, _: math.isqrt(x),
    words.COMB: lambda x, y: _choose(math.comb, x, y),
    words.PERM: lambda x, y: _choose(math.perm, x, y),
    words.UNSIGNED: lambda x, _: x + (1 << 64),
    words.FIT_INT: _refuse,
}
_OF_FLOATS: dict[Any, Callable[[Any, Any], Any]] = {
    words.TRUEDIV: operator.truediv,
    words.FLOORDIV_FLOAT: operator.floordiv,
    words.MOD_FLOAT: operator.mod,
    words.POW_FLOAT: operator.pow,
    words.TO_INT: lambda x, _: int(x),
    words.ROUND: lambda x, _: round(x),
    words.FLOOR: lambda x, _: math.floor(x),
    words.CEIL: lambda x, _: math.ceil(x),
    words.FIT_FLOAT: _refuse,
    words.FIT_FP32: _refuse,
}
"""Maps the code of a function in `loops/program` to a Python function. Called with the operands of
the fault, the Python function raises the exception."""


def _unary(function: Callable[[float], float]) -> Callable[[float, float], float]:
    return lambda x, _: function(x)


for _k, _name in enumerate(words.MATH_NAMES):
    _function = getattr(math, _name)
    _is_binary = _name in ("atan2", "hypot", "fmod", "remainder")
    _OF_FLOATS[words.MATH + _k] = _function if _is_binary else _unary(_function)
