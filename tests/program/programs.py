"""Draw random programs of the intermediate representation, with random arguments.

A test of an engine draws a `Case`, runs its program with `case.arguments()`, and compares the
outcome with that of `dictionary_engine.run(case)`:

    @given(cases())
    def test_the_engine_agrees_with_dictionaries(case):
        assume_outcome(case, engine.run)

Each program terminates, because every loop has a counter. Some slots are *loose*: their values may
depend on a choice of the implementation (the monoid any, or a cast of a float to an integer type
with too small a range). A program reads only the structure of a loose slot, so the control flow of
the program does not depend on such values.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import dictionary_engine
import numpy as np
from dictionary_engine import Expected, Unspecified
from hypothesis import assume
from hypothesis import strategies as st
from oracle import BINARY, INDEX, SELECT, UNARY, Table
from strategies import DTYPES, matrix, vector

import graphla as gl
from graphla.formats import is_iso
from graphla.program import ir
from graphla.program.checking import check, scalar_dtype
from graphla.program.running import Arguments, Outcome
from graphla.settings import config
from graphla.sparse.operators import (
    accumulator,
    binary_of,
    index_of,
    monoid_of,
    semiring_of,
    unary_of,
)
from semirings.dtypes import BOOL, FP64, INT64, DataType, lookup_dtype
from semirings.exceptions import DomainMismatch

FEATURES = frozenset(
    ["any", "arrays", "faults", "float", "gather", "math", "nested", "scatter", "stacks", "wide"]
)
"""Parts of the intermediate representation that `cases(without=...)` can leave out.

- any: the monoid any and loose slots.
- arrays: loops over an array.
- faults: statements that are likely to fault.
- float: entries of dtype FP32 or FP64.
- gather, scatter, stacks: the instructions that gather, scatter or use stacks.
- math: functions of the module `math` whose results may differ in the last bit.
- nested: expressions with more than one operation.
- wide: vectors with more than six elements.
"""

mix = gl.binary.register_anonymous(lambda x, y: x * 3 - y, "mix")
EXACT_MATH = ("math.sqrt", "math.floor", "math.ceil", "math.fabs", "math.isnan", "math.isfinite")
INEXACT_MATH = ("math.exp", "math.log", "math.sin", "math.cos", "math.atan", "math.tanh", "pow")
ACCUMS = ("plus", "minus", "times", "min", "max", "first", "second", "lor", "land")
JOINING = ("plus", "times", "min", "max")
MONOIDS = ("plus", "times", "min", "max", "lor", "land", "lxor")
MULTIPLIES = ("plus", "times", "min", "max", "first", "second", "pair", "minus", "land")
PLACED = ("firsti", "firstj", "secondi", "secondj")
OPERATORS = tuple(name for name in BINARY if name != "any")


@dataclass(frozen=True)
class Case:
    """A program and its arguments, with tables for vectors and matrices."""

    program: ir.Program
    dims: tuple[int, ...]
    matrices: tuple[Table, ...]
    layouts: tuple[str, ...]  # how each matrix is stored, see `make_matrix`
    arrays: tuple[np.ndarray, ...]
    scalars: tuple[Any, ...]
    vectors: tuple[Table, ...]
    stacks: tuple[tuple[Table, ...], ...]

    def arguments(self) -> Arguments:
        """Return new arguments on the default device. No two calls return the same arrays."""
        device = gl.Vector(bool, 1).device
        matrices = zip(self.matrices, self.layouts, strict=True)
        return Arguments(
            device,
            self.dims,
            tuple(make_matrix(*each)._read() for each in matrices),
            tuple(array.copy() for array in self.arrays),
            self.scalars,
            tuple(_store(table) for table in self.vectors),
            tuple(tuple(map(_store, tables)) for tables in self.stacks),
        )


def assume_outcome(
    case: Case, run: Callable[[ir.Program, Arguments], Outcome], most: int = 500
) -> Expected:
    """Assert that an engine and the dictionary engine have equal outcomes, and return the outcome.

    Reject the example if the outcome is not specified, or if the program runs more than `most`
    blocks.
    """
    check(case.program)
    try:
        expected = dictionary_engine.run(case)
    except Unspecified:
        assume(False)
        raise
    assume(expected.rounds <= most)
    dictionary_engine.compare(run(case.program, case.arguments()), expected)
    return expected


def make_matrix(table: Table, layout: str) -> gl.Matrix:
    """Return the table as a Matrix. Its values are stored once if `layout` is "iso"."""
    if layout != "iso" or not table.entries:
        return matrix(table, "coo" if layout == "iso" else layout)
    rows, columns = [i for i, _ in table.entries], [j for _, j in table.entries]
    value = next(iter(table.entries.values()))
    shape = dict(zip(("nrows", "ncols"), table.shape, strict=True))
    return gl.Matrix.from_coo(rows, columns, value, **shape)


def _store(table: Table) -> Any:
    return vector(table, "dense" if len(table.entries) == table.shape[0] else "coo")._read()


@st.composite
def cases(draw: st.DrawFn, without: Iterable[str] = (), statements: int = 14) -> Case:
    """Draw programs that do not use the features in `without`."""
    unknown = set(without) - FEATURES
    assert not unknown, f"there are no features {unknown}"
    return _Maker(draw, FEATURES - set(without), statements).case()


# --- values -------------------------------------------------------------------------------------


def make_value(rng: random.Random, dtype: np.dtype) -> Any:
    """Return a value, which is usually small."""
    if dtype.kind == "b":
        return np.bool_(rng.random() < 0.6)
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        if rng.random() < 0.05:
            return dtype.type(rng.choice([info.min, info.max]))
        return dtype.type(rng.randint(max(-3, int(info.min)), 5))
    if rng.random() < 0.05:
        return dtype.type(rng.choice([np.inf, -np.inf, np.nan]))
    return dtype.type(rng.randint(-12, 16) / 4 or 0.0)


def make_table(rng: random.Random, shape: tuple[int, int], dtype: np.dtype) -> Table:
    """Return an empty, sparse or full table."""
    density = rng.choice([0.0, 0.2, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0, 1.0])
    if shape[1] != 1:
        density = min(density, 12 / (max(shape) or 1))
    places = [(i, j) for i in range(shape[0]) for j in range(shape[1]) if rng.random() < density]
    return Table(shape, dtype, {place: make_value(rng, dtype) for place in places})


# --- programs -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Kind:
    """The kind of values in a slot. The values of an index slot are indices."""

    dtype: DataType
    dim: ir.Dim
    is_loose: bool = False
    is_index: bool = False


class _Maker:
    """Draws one program, statement by statement."""

    def __init__(self, draw: st.DrawFn, features: frozenset[str], statements: int) -> None:
        self.draw, self.features, self.left = draw, features, statements
        if "faults" in features and not self.chance(3):
            self.features = features - {"faults"}
        self.rng = random.Random(draw(st.integers(0, 1 << 32)))
        self.line = 0
        self.blocks: list[ir.Block] = [ir.Block([], ir.Exit(0))]
        self.current = 0
        self.exits: list[ir.LoopExit] = []
        self.counters: list[ir.Var] = []

    def pick(self, options: Iterable[Any]) -> Any:
        return self.draw(st.sampled_from(list(options)))

    def chance(self, part: int) -> bool:
        """Return True with a probability of 1 / part; shrinking makes it False."""
        return self.draw(st.integers(0, part - 1)) == part - 1

    def case(self) -> Case:
        self.make_dims()
        self.make_matrices()
        self.make_slots()
        self.make_scalars()
        self.make_arrays()
        start = [
            (variable, self.constant(variable.dtype))
            for variable in self.variables
            if variable not in self.scalar_arguments
        ]
        if start:
            variables, values = zip(*start, strict=True)
            self.add(ir.Let, variables, values)
        self.statements(0, None)
        while self.left > 0:
            self.add_loop(0, None)
            if self.chance(2):
                break
        self.end(ir.Exit(self.leave()))
        program = ir.Program(
            name="program",
            dims=len(self.dims),
            matrices=self.matrices,
            arrays=self.arrays,
            scalars=self.scalar_arguments,
            inputs=self.inputs,
            stacks=self.stacks,
            slots=self.slots,
            variables=(*self.variables, *self.counters),
            blocks=self.blocks,
            exits=self.exits,
            source=tuple(f"statement {k + 1}" for k in range(self.line)),
        )
        return Case(
            program,
            self.dims,
            self.tables,
            self.layouts,
            self.array_values,
            tuple(self.constant(each.dtype).value for each in self.scalar_arguments),
            tuple(self.table_for(slot) for slot in self.inputs),
            tuple(
                tuple(self.table_for(stack) for _ in range(self.pick([0, 0, 1, 2])))
                for stack in self.stacks
            ),
        )

    # --- the header -----------------------------------------------------------------------------

    def make_dims(self) -> None:
        sizes = [3, 4, 5, 6] * 2 + [1, 0] + [37] * 2 * ("wide" in self.features)
        self.dims = (self.pick(sizes), *([self.pick([2, 4, 1])] if self.chance(3) else []))

    def make_dtypes(self) -> list[DataType]:
        kinds = "biuf" if "float" in self.features else "biu"
        known = [lookup_dtype(dtype) for dtype in DTYPES if dtype.kind in kinds]
        return [INT64, *self.draw(st.lists(st.sampled_from(known), min_size=1, max_size=2))]

    def make_matrices(self) -> None:
        self.dtypes = self.make_dtypes()
        tables, layouts, arguments = [], [], []
        for index in range(self.pick([1, 1, 2])):
            last = len(self.dims) - 1
            rows, columns = (ir.Dim(self.pick([0, 0, last])) for _ in range(2))
            shape = (self.dims[rows.index], self.dims[columns.index])
            dtype = self.pick([BOOL, *self.dtypes])
            table = make_table(self.rng, shape, dtype.np_type)
            if rows == columns and self.chance(3):
                upper = {(i, j): x for (i, j), x in table.entries.items() if i <= j}
                mirror = {(j, i): x for (i, j), x in upper.items()}
                table = replace(table, entries={**upper, **mirror})
            layout = self.pick(["coo", "iso", "both", "transposed"])
            if layout == "iso" and table.entries:
                value = next(iter(table.entries.values()))
                table = replace(table, entries=dict.fromkeys(table.entries, value))
            store = make_matrix(table, layout)._read()
            values = (store.csr if store.has_csr else store.csc).values
            facts = bool(table.entries) and is_iso(values), bool(store.is_symmetric)
            arguments.append(ir.MatrixArgument(index, f"A{index}", dtype, rows, columns, *facts))
            tables.append(table)
            layouts.append(layout)
        self.matrices, self.tables = tuple(arguments), tuple(tables)
        self.layouts = tuple(layouts)

    def make_slots(self) -> None:
        kinds, loose = [], "any" in self.features
        for _ in range(self.pick([2, 3, 4])):
            dim = ir.Dim(self.pick([0, 0, len(self.dims) - 1]))
            is_loose = loose and self.chance(4)
            kinds.append(_Kind(self.pick([*self.dtypes, BOOL]), dim, is_loose))
        kinds.append(replace(self.pick(kinds)))  # so that the program can exchange two slots
        if self.features & {"gather", "scatter"} and self.chance(2):
            kinds += [_Kind(self.pick([INT64, lookup_dtype("INT32")]), ir.Dim(0), False, True)] * 2
        self.kinds = dict(enumerate(kinds))
        self.slots = tuple(
            ir.Slot(k, f"{'q' if kind.is_index else 'u'}{k}", kind.dtype, kind.dim)
            for k, kind in enumerate(kinds)
        )
        indices = [slot for slot in self.slots if self.kind(slot).is_index]
        others = [slot for slot in self.slots if slot not in indices]
        self.inputs = (*self.draw(st.permutations(others))[: self.pick([9, 9, 2])], *indices)
        self.stacks: tuple[ir.Stack, ...] = ()
        if "stacks" in self.features and self.chance(3):
            like = self.pick([slot for slot in others if not self.kind(slot).is_loose] or others)
            if not self.kind(like).is_loose:
                self.stacks = (ir.Stack(0, "levels", like.dtype, like.dim),)

    def kind(self, slot: ir.Slot) -> _Kind:
        return self.kinds[slot.index]

    def table_for(self, slot: ir.Slot | ir.Stack) -> Table:
        size, dtype = self.dims[slot.dim.index], slot.dtype.np_type
        if isinstance(slot, ir.Slot) and self.kind(slot).is_index:
            values = [self.rng.randrange(size) for _ in range(size)]
            if self.rng.random() < 0.5:
                values = self.rng.sample(range(size), size)
            return Table((size, 1), dtype, {(i, 0): dtype.type(x) for i, x in enumerate(values)})
        return make_table(self.rng, (size, 1), dtype)

    def make_scalars(self) -> None:
        names = {"i": INT64, "j": INT64, "x": FP64, "p": BOOL, "q": BOOL}
        self.variables = tuple(ir.Var(name, dtype) for name, dtype in names.items())
        self.inexact = ir.Var("t", FP64)
        if "math" in self.features:
            self.variables = (*self.variables, self.inexact)
        given = [each for each in self.variables[:4] if self.chance(3)]
        self.scalar_arguments = tuple(given)

    def make_arrays(self) -> None:
        self.arrays, self.array_values = (), ()
        if "arrays" in self.features and self.chance(4):
            dtype = self.pick([INT64, FP64, lookup_dtype("INT8"), BOOL])
            self.arrays = (ir.ArrayArgument(0, "numbers", dtype, ir.Dim(len(self.dims) - 1)),)
            size, np_type = self.dims[-1], dtype.np_type
            values = [make_value(self.rng, np_type) for _ in range(size)]
            self.array_values = (np.array(values, np_type),)

    # --- scalars --------------------------------------------------------------------------------

    def constant(self, dtype: DataType) -> ir.Constant:
        if dtype is BOOL:
            return ir.Constant(self.draw(st.booleans()), BOOL)
        if dtype is FP64:
            return ir.Constant(self.draw(st.integers(-8, 12)) / 4 or 0.0, FP64)
        return ir.Constant(self.draw(st.integers(-2, 6)), INT64)

    def variable(self, dtype: DataType) -> ir.Var:
        """Return a variable that the program may assign."""
        return self.pick([v for v in self.variables if v.dtype is dtype and v != self.inexact])

    def scalar(self, dtype: DataType, depth: int = 2) -> ir.Scalar:
        leaf = self.pick(["variable", "constant", "call"]) if depth else "variable"
        if leaf == "variable":
            if dtype is INT64 and self.chance(5):
                return ir.Size(self.pick([ir.Dim(k) for k in range(len(self.dims))]), INT64)
            return self.variable(dtype)
        return self.constant(dtype) if leaf == "constant" else self.call(dtype, depth - 1)

    def call(self, dtype: DataType, depth: int) -> ir.Scalar:
        faults = "faults" in self.features
        if dtype is BOOL:
            name = self.pick(
                ["lt", "eq", "ge", "and", "not", "or", "ne", "le", "gt", "xor", "bool"]
            )
            if name in ("and", "or", "xor"):
                kinds = [BOOL, BOOL]
            elif name == "not":
                kinds = [BOOL]
            else:
                kinds = [self.pick([INT64, FP64, BOOL])] * (1 if name == "bool" else 2)
        elif dtype is INT64:
            names = ["add", "sub", "min", "max", "neg", "abs", "where", "and", "or", "xor"]
            names += ["invert", "int_bool"]
            names += ["mul", "floordiv", "mod", "pow", "lshift", "rshift"] * faults
            names += ["int", "round", "math.floor", "math.ceil"] * faults
            name = self.pick(names)
            if name == "pow":
                base = self.scalar(INT64, depth)
                return ir.Call(name, (base, ir.Constant(self.pick([0, 1, 2, 3]), INT64)), INT64)
            kinds = [INT64] * (1 if name in ("neg", "abs", "invert") else 2)
            if name in ("int", "round", "math.floor", "math.ceil"):
                kinds = [FP64]
            if name == "int_bool":
                name, kinds = "int", [BOOL]
            if name == "where":
                kinds = [BOOL, INT64, INT64]
        else:
            names = ["add", "sub", "mul", "min", "max", "neg", "abs", "float", "where"]
            names += ["truediv", "floordiv", "mod", "math.sqrt"] * faults
            name = self.pick([*names, "math.fabs"])
            single = name in ("neg", "abs", "math.sqrt", "math.fabs")
            kinds = [FP64] * (1 if single else 2)
            if name == "float":
                kinds = [self.pick([INT64, BOOL])]
            if name == "where":
                kinds = [BOOL, FP64, FP64]
        return ir.Call(name, tuple(self.scalar(kind, depth) for kind in kinds), dtype)

    def operand(self, dtype: DataType) -> ir.Scalar:
        """Return a scalar operand for an operation with entries of this dtype."""
        wanted = [INT64, scalar_dtype(dtype)]
        if dtype.kind == "u" and "faults" not in self.features:
            return ir.Constant(self.draw(st.integers(0, 6)), INT64)
        return self.scalar(self.pick(wanted), 0) if self.chance(2) else self.small(wanted[1])

    def small(self, dtype: DataType) -> ir.Constant:
        """Return a constant >= 0, so that signed and unsigned dtypes can represent it."""
        found = self.constant(dtype)
        return replace(found, value=abs(found.value)) if dtype is not BOOL else found

    # --- expressions ----------------------------------------------------------------------------

    def slot(self, dim: ir.Dim | None = None, loose: bool = True, **options: Any) -> Any:
        """Pick a slot that has this dim and these properties; return None if there is none."""
        options = {"is_index": False} | options
        known = [
            slot
            for slot in self.slots
            if (dim is None or slot.dim == dim)
            and (loose or not self.kind(slot).is_loose)
            and all(getattr(self.kind(slot), key) == value for key, value in options.items())
        ]
        return self.pick(known) if known else None

    def mask(self, dim: ir.Dim, depth: int = 2) -> Any:
        form = self.pick(["of", "of", "not", "and", "or"]) if depth else "of"
        if form == "of":
            by_value = self.draw(st.booleans())
            slot = self.slot(dim, loose=not by_value)
            return None if slot is None else ir.MaskOf(slot, by_value)
        left = self.mask(dim, depth - 1)
        if left is None or form == "not":
            return left and ir.NotMask(left)
        right = self.mask(dim, depth - 1)
        return right and (ir.AndMask if form == "and" else ir.OrMask)(left, right)

    def expression(self, dim: ir.Dim, loose: bool, depth: int) -> Any:
        """Return an entry-wise expression that reads at least one slot, or None."""
        names = ["entry"]
        if depth:
            names += ["apply", "index", "left", "right", "union", "intersection", "select"]
            names += ["restrict", "defaults", "cast", "scalar"]
            names += ["gather"] * ("gather" in self.features)
        name = self.pick(names)
        if name == "entry":
            slot = self.slot(dim, loose)
            return slot and ir.Entry(slot)
        if name == "gather":
            indices = self.slot(dim, False, is_index=True)
            if indices is None and "faults" in self.features and self.chance(4):
                indices = self.slot(dim, False, dtype=INT64)
            slot = self.slot(None if self.chance(3) else dim, loose)
            return indices and slot and ir.Gather(slot, indices)
        a = self.expression(dim, loose, depth - 1)
        if a is None:
            return None
        if name in ("union", "intersection", "defaults"):
            b = self.expression(dim, loose, depth - 1)
            if name == "union" and self.chance(6):
                b = ir.Full(self.small(scalar_dtype(a.dtype)), a.dtype)
            return b and self.join(name, a, b)
        if name == "apply":
            op = self.typed(UNARY, lambda name: unary_of(name, a.dtype))
            return ir.Apply(op, a, op.return_type)
        if name == "index":
            op = index_of(getattr(gl.indexunary, self.pick(INDEX)), a.dtype, INT64)
            return ir.ApplyIndex(op, a, self.scalar(INT64, 0), op.return_type)
        if name == "select":
            return self.select(a, loose)
        if name == "restrict":
            mask = self.mask(dim)
            return mask and ir.Restrict(a, mask, a.dtype)
        if name == "cast":
            dtype = self.pick([*self.dtypes, BOOL])
            return ir.Cast(a, dtype) if loose or may_cast(a.dtype, dtype) else a
        return self.bind(a)

    def bind(self, a: Any) -> Any:
        scalar = self.operand(a.dtype)
        beside = dtype_beside(scalar.dtype, a.dtype)
        if self.draw(st.booleans()):
            op = self.typed((*OPERATORS, "mix"), lambda name: self.binary(name, beside, a.dtype))
            return ir.ApplyLeft(op, scalar, a, op.return_type)
        op = self.typed((*OPERATORS, "mix"), lambda name: self.binary(name, a.dtype, beside))
        return ir.ApplyRight(op, a, scalar, op.return_type)

    def join(self, name: str, a: Any, b: Any) -> Any:
        names = (*OPERATORS, *PLACED, "mix")
        if name == "defaults":
            left, right = self.operand(a.dtype), self.operand(b.dtype)
            types = (dtype_beside(left.dtype, a.dtype), dtype_beside(right.dtype, b.dtype))
            one, other = (
                lookup_dtype(np.promote_types(dtype.np_type, part.dtype.np_type))
                for dtype, part in zip(types, (a, b), strict=True)
            )
            op = self.typed(OPERATORS, lambda name: self.binary(name, one, other))
            return ir.UnionDefaults(op, a, b, left, right, op.return_type)
        op = self.typed(names, lambda name: self.binary(name, a.dtype, b.dtype))
        made = ir.Union if name == "union" else ir.Intersection
        if made is ir.Union and not all(may_cast(x.dtype, op.return_type) for x in (a, b)):
            made = ir.Intersection
        return made(op, a, b, op.return_type)

    def binary(self, name: str, left: DataType, right: DataType) -> Any:
        return binary_of(mix if name == "mix" else getattr(gl.binary, name), left, right)

    def typed(self, names: Iterable[str], find: Callable[[str], Any]) -> Any:
        """Return a typed operator that is defined on its dtypes."""
        names = list(names)
        first = self.draw(st.integers(0, len(names) - 1))
        for name in names[first:] + names[:first]:
            try:
                return find(name)
            except DomainMismatch:
                continue
        raise AssertionError("no operator is defined on these dtypes")

    def select(self, a: Any, loose: bool) -> Any:
        names = [name for name in SELECT if not (loose and name.startswith("value"))]
        name = self.pick(names)
        if name.startswith("value"):
            thunk = self.operand(a.dtype)
            dtype = dtype_beside(thunk.dtype, a.dtype)
        else:
            thunk, dtype = self.scalar(INT64, 0), INT64
        op = index_of(getattr(gl.select, name), a.dtype, dtype)
        return ir.Select(op, a, thunk, a.dtype)

    def product(self, dim: ir.Dim, loose: bool) -> Any:
        options = []
        for matrix_ in self.matrices:
            for side in ("vxm", "mxv"):
                for flip in (False, True):
                    rows, columns = matrix_.rows, matrix_.columns
                    if flip:
                        rows, columns = columns, rows
                    into, out = (rows, columns) if side == "vxm" else (columns, rows)
                    if out == dim:
                        options.append((matrix_, side, flip, into))
        if not options:
            return None
        matrix_, side, flip, into = self.pick(options)
        u = self.slot(into, loose)
        if u is None:
            return None
        left, right = (u.dtype, matrix_.dtype) if side == "vxm" else (matrix_.dtype, u.dtype)
        add = "any" if loose and self.chance(2) else self.pick(MONOIDS)
        multiplies = MULTIPLIES if self.chance(2) else (*PLACED, "pair", "first", "second")

        def find(name: str) -> Any:
            if name == "mix":
                made = gl.semiring.register_anonymous(getattr(gl.monoid, add), mix)
                return semiring_of(made, left, right)
            return semiring_of(f"{add}_{name}", left, right)

        names = [name for name in multiplies if hasattr(gl.semiring, f"{add}_{name}")]
        semiring = self.typed([*(names or ["second"]), "mix"], find)
        return ir.Product(u, matrix_, flip, semiring, side, semiring.return_type)

    def source(self, dim: ir.Dim, loose: bool) -> Any:
        names = ["product"] * 3 + ["expression"] * 6 + ["entry", "entry", "full", "rows", "empty"]
        name = self.pick(names)
        if name == "product":
            return self.product(dim, loose)
        if name == "rows":
            flips = [(each, flip) for each in self.matrices for flip in (False, True)]
            fits = [(a, flip) for a, flip in flips if (a.columns if flip else a.rows) == dim]
            if not fits:
                return None
            matrix_, flip = self.pick(fits)
            monoid = monoid_of(getattr(gl.monoid, self.pick(MONOIDS)), matrix_.dtype)
            return ir.MatrixReduction(matrix_, flip, monoid, monoid.return_type)
        if name == "empty":
            return ir.Empty(self.pick(self.dtypes))
        if name == "full":
            dtype = self.pick(self.dtypes)
            return ir.Full(self.operand(dtype), dtype)
        depth = 0 if name == "entry" else self.pick([1, 2, 3] if "nested" in self.features else [1])
        return self.expression(dim, loose, depth)

    # --- statements -----------------------------------------------------------------------------

    def add(self, make: Any, *args: Any) -> None:
        self.line += 1
        self.blocks[self.current].instructions.append(make(*args, line=self.line))

    def end(self, end: ir.End) -> None:
        self.blocks[self.current].end = end

    def open(self) -> int:
        """Append a block, and return its index."""
        self.blocks.append(ir.Block([], ir.Exit(0)))
        return len(self.blocks) - 1

    def leave(self) -> int:
        """Add a loop exit after which some variables and slots are live, and return its index."""
        slots = {slot.name: slot for slot in self.slots if not self.chance(5)}
        variables = {each.name: each for each in self.variables if not self.chance(3)}
        stacks = {stack.name: stack for stack in self.stacks}
        self.exits.append(ir.LoopExit(len(self.exits), {**slots, **variables, **stacks}))
        return len(self.exits) - 1

    def statements(self, depth: int, after: int | None) -> None:
        """Draw statements; `after` is the block after the innermost loop."""
        for _ in range(self.pick([1, 2, 3, 4, 6])):
            if self.left <= 0:
                return
            self.left -= 1
            self.statement(depth, after)

    def statement(self, depth: int, after: int | None) -> None:
        names = ["write"] * 6 + ["let", "reduce", "count", "element", "read", "move", "clear"]
        names += ["equal", "delete", "index", "loop", "loop", "if"]
        names += ["fault"] * ("faults" in self.features) + ["math"] * ("math" in self.features)
        names += ["scatter"] * 2 * ("scatter" in self.features) + ["stack"] * 2 * bool(self.stacks)
        name = self.pick(names)
        if name in ("loop", "if"):
            if depth < 3:
                getattr(self, f"add_{name}")(depth, after)
            return
        getattr(self, f"add_{name}")()

    def add_write(self) -> None:
        target = self.slot()
        if target is None:
            return
        is_loose = self.kind(target).is_loose
        source = self.source(target.dim, is_loose)
        if source is None or not (is_loose or may_cast(source.dtype, target.dtype)):
            source = ir.Entry(self.slot(target.dim, is_loose, dtype=target.dtype) or target)
        mask = self.mask(target.dim) if self.chance(2) else None
        accum = None
        if self.chance(2):
            names = (*ACCUMS, "any") if is_loose else ACCUMS
            accum = accumulator(getattr(gl.binary, self.pick(names)), target.dtype)
        replaces = mask is not None and self.draw(st.booleans())
        self.add(ir.Write, target, mask, accum, replaces, source)

    def add_let(self) -> None:
        free = [each for each in self.variables if each != self.inexact]
        chosen = self.draw(st.lists(st.sampled_from(free), min_size=1, max_size=2, unique=True))
        values = tuple(self.scalar(each.dtype) for each in chosen)
        self.add(ir.Let, tuple(chosen), values)

    def add_math(self) -> None:
        name = self.pick(INEXACT_MATH)
        arguments = (self.scalar(FP64, 0),)
        if name == "pow":
            arguments = (*arguments, ir.Constant(self.pick([2.0, 0.5, 3.0, -1.0]), FP64))
        self.add(ir.Let, (self.inexact,), (ir.Call(name, arguments, FP64),))

    def add_reduce(self) -> None:
        dim = ir.Dim(self.pick(range(len(self.dims))))
        source = self.expression(dim, False, self.pick([0, 1]))
        if source is None:
            return
        names = [
            name
            for name in MONOIDS
            if not (source.dtype.name == "UINT64" and name == "min")  # the identity exceeds INT64
        ]
        monoid = monoid_of(getattr(gl.monoid, self.pick(names)), source.dtype)
        is_present = self.variable(BOOL) if self.draw(st.booleans()) else None
        variable = self.variable(scalar_dtype(monoid.return_type))
        if variable != is_present:
            self.add(ir.Reduce, variable, is_present, monoid, source)

    def add_count(self) -> None:
        self.add(ir.Count, self.variable(INT64), self.slot() or self.slots[0])

    def place(self, slot: ir.Slot) -> ir.Scalar:
        """Return an index, which is usually in range."""
        size = self.dims[slot.dim.index]
        if size and not ("faults" in self.features and self.chance(8)):
            return ir.Constant(self.draw(st.integers(-size, size - 1)), INT64)
        return self.variable(INT64) if "faults" in self.features else ir.Constant(0, INT64)

    def add_element(self) -> None:
        target = self.slot()
        if target is None or (self.dims[target.dim.index] == 0 and "faults" not in self.features):
            return
        value = self.operand(target.dtype)
        if not self.kind(target).is_loose and not may_cast(value.dtype, target.dtype):
            return
        accum = None
        if self.chance(3):
            accum = accumulator(getattr(gl.binary, self.pick(ACCUMS)), target.dtype)
        self.add(ir.SetElement, target, self.place(target), value, accum)

    def add_delete(self) -> None:
        target = self.slot()
        if target and (self.dims[target.dim.index] or "faults" in self.features):
            self.add(ir.DeleteElement, target, self.place(target))

    def add_read(self) -> None:
        slot = self.slot(loose=False)
        if slot and (self.dims[slot.dim.index] or "faults" in self.features):
            variable, is_present = self.variable(scalar_dtype(slot.dtype)), self.variable(BOOL)
            if variable != is_present:
                self.add(ir.ReadElement, variable, is_present, slot, self.place(slot))

    def add_equal(self) -> None:
        left = self.slot(loose=False)
        if left:
            right = self.slot(left.dim, False, dtype=left.dtype)
            self.add(ir.IsEqual, self.variable(BOOL), left, right)

    def add_clear(self) -> None:
        slot = self.slot()
        if slot:
            self.add(ir.Clear, slot)

    def add_move(self) -> None:
        groups: dict[_Kind, list[ir.Slot]] = {}
        for slot in self.slots:
            groups.setdefault(self.kind(slot), []).append(slot)
        many = [group for group in groups.values() if len(group) > 1]
        if many:
            group = self.pick(many)
            self.add(ir.Move, tuple(group), tuple(self.draw(st.permutations(group))))

    def add_index(self) -> None:
        """Add a write to an index slot that leaves only valid indices in the slot."""
        target = self.slot(is_index=True)
        if target is None:
            return
        others = [slot for slot in self.slots if self.kind(slot) == self.kind(target)]
        form = self.pick(["copy", "min", "gather"])
        if form == "copy" or (form == "gather" and "gather" not in self.features):
            source: Any = ir.Entry(self.pick(others))
        elif form == "gather":
            source = ir.Gather(self.pick(others), self.pick(others))
        else:
            op = self.binary("min", target.dtype, target.dtype)
            x, y = ir.Entry(self.pick(others)), ir.Entry(self.pick(others))
            source = ir.Intersection(op, x, y, op.return_type)
        mask = self.mask(target.dim) if self.chance(3) else None
        self.add(ir.Write, target, mask, None, False, source)

    def add_scatter(self) -> None:
        indices, target = self.slot(is_index=True), self.slot(ir.Dim(0))
        if indices is None or target is None:
            return
        is_loose = self.kind(target).is_loose
        source: Any = self.slot(indices.dim, is_loose)
        if source is None or self.chance(4):
            source = self.operand(target.dtype)
        if not is_loose and not may_cast(source.dtype, target.dtype):
            return
        accum = None
        if "faults" not in self.features or not self.chance(4):
            accum = accumulator(getattr(gl.binary, self.pick(JOINING)), target.dtype)
        elif self.chance(2):
            accum = accumulator(getattr(gl.binary, self.pick(ACCUMS)), target.dtype)
        mask = self.mask(target.dim) if self.chance(3) else None
        replaces = mask is not None and self.draw(st.booleans())
        self.add(ir.Scatter, target, indices, mask, accum, replaces, source)

    def add_stack(self) -> None:
        (stack,) = self.stacks
        kind = _Kind(stack.dtype, stack.dim)
        slot = self.pick([slot for slot in self.slots if self.kind(slot) == kind])
        form = self.pick(["append", "append", "append", "pop", "peek", "length", "clear"])
        if form == "append":
            self.add(ir.Append, stack, slot)
        elif form == "clear":
            self.add(ir.ClearStack, stack)
        elif form == "length":
            self.add(ir.Length, self.variable(INT64), stack)
        elif "faults" in self.features:
            if form == "pop":
                self.add(ir.Pop, stack, slot)
            else:
                self.add(
                    ir.Peek, stack, self.pick([ir.Constant(-1, INT64), self.variable(INT64)]), slot
                )
        else:
            self.add(ir.Append, stack, slot)
            self.add(ir.Pop, stack, slot)

    def add_fault(self) -> None:
        condition = self.scalar(BOOL, 1)
        if self.chance(3):
            self.add(
                ir.Fault, condition, self.pick(["ValueError", "TypeError"]), "as the test says"
            )

    def condition(self) -> ir.Scalar:
        """Add an instruction that assigns a condition to a BOOL variable; return the variable.

        The instruction, and not the branch, raises the faults of the condition.
        """
        variable = self.variable(BOOL)
        self.add(ir.Let, (variable,), (self.scalar(BOOL),))
        return variable

    def add_if(self, depth: int, after: int | None) -> None:
        condition = self.condition()
        then, otherwise, behind = self.open(), self.open(), self.open()
        self.end(ir.Branch(condition, then, otherwise))
        for block in (then, otherwise):
            self.current = block
            if block == then or self.chance(2):
                self.statements(depth + 1, after)
            jump: ir.End = ir.Jump(behind)
            if block == then and after is not None and self.chance(3):
                jump = ir.Jump(after)  # break
            elif block == then and self.chance(6):
                jump = ir.Exit(self.leave())
            self.end(jump)
        self.current = behind

    def add_loop(self, depth: int, after: int | None) -> None:
        self.left -= 1
        counter = ir.Var(f"k{len(self.counters)}", INT64)
        self.counters.append(counter)
        self.add(ir.Let, (counter,), (ir.Constant(0, INT64),))
        head, body, behind = self.open(), self.open(), self.open()
        self.end(ir.Jump(head))
        self.current = head
        array = self.pick(self.arrays) if self.arrays and depth == 0 else None
        trips: ir.Scalar = ir.Constant(self.pick([2, 3, 1]), INT64)
        if array is not None:
            trips = ir.Size(array.dim, INT64)
        goes_on: ir.Scalar = ir.Call("lt", (counter, trips), BOOL)
        if self.chance(3):
            count = self.variable(INT64)
            self.add(ir.Count, count, self.slot() or self.slots[0])
            some = ir.Call("gt", (count, ir.Constant(0, INT64)), BOOL)
            goes_on = ir.Call("and", (goes_on, some), BOOL)
        self.end(ir.Branch(goes_on, body, behind))
        self.current = body
        if array is not None:
            dtype = scalar_dtype(array.dtype)
            element = ir.Element(array, counter, dtype)
            self.add(ir.Let, (self.variable(dtype),), (element,))
        self.statements(depth + 1, behind)
        one = ir.Constant(1, INT64)
        self.add(ir.Let, (counter,), (ir.Call("add", (counter, one), INT64),))
        self.end(ir.Jump(head))
        self.current = behind


def may_cast(source: DataType, target: DataType) -> bool:
    """Return whether each value can be cast with a defined result."""
    return not (source.is_float and target.is_integer)


def dtype_beside(scalar: DataType, beside: DataType) -> DataType:
    """Return the dtype that a Python number gets in an operation with entries of dtype `beside`."""
    if scalar is FP64:
        return beside if beside.is_float else FP64
    return INT64 if scalar is INT64 and beside is BOOL else beside


__all__ = ["FEATURES", "Case", "assume_outcome", "cases", "config", "make_matrix"]
