"""Run a program on dictionaries of entries, as the oracle of the interpreter and the compilers.

Vector operations are computed by tests/oracle.py. Scalar functions are computed by evaluating their
text in `ir.SCALAR_FUNCTIONS`. An entry is a NumPy scalar, `OneOf` several legal values, or
`UNDEFINED`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import oracle
from oracle import INDEX, SELECT, UNARY, UNDEFINED, OneOf, Table, cast, lift
from strategies import agrees, same

import graphla as gl
from graphla.program import ir
from graphla.program.running import Outcome
from semirings.dtypes import BOOL, DataType

LEAST, MOST = -(1 << 63), (1 << 63) - 1


class Unspecified(Exception):
    """The outcome depends on a value that an implementation may choose, or on rounding."""


class Fault(Exception):
    """An exception that the program raises, given by its name."""


@dataclass
class Expected:
    """The expected outcome of a program, in which tables represent the vectors."""

    exit: int
    fault: str | None  # the name of the exception
    line: int
    scalars: dict[str, Any]
    slots: dict[int, Table]
    stacks: dict[int, list[Table]]
    rounds: int  # the number of executed blocks, counting repeated executions


def run(case: Any) -> Expected:
    """Run the program of a case (see programs.py) on its tables."""
    return _Machine(case).run()


def compare(outcome: Outcome, expected: Expected) -> None:
    """Assert that an engine's outcome is the expected one.

    The messages of faults are not compared.
    """
    fault = None if outcome.fault is None else (outcome.fault[0], outcome.fault[2])
    assert fault == (None if expected.fault is None else (expected.fault, expected.line))
    assert outcome.exit == expected.exit
    if fault is None:
        assert outcome.scalars.keys() == expected.scalars.keys()
    else:  # an engine may also report variables that have no value yet
        assert outcome.scalars.keys() >= expected.scalars.keys()
    for name, value in expected.scalars.items():
        got = outcome.scalars[name]
        assert type(got) is type(value), f"{name} is {got!r}, not {value!r}"
        is_close = type(value) is float and math.isclose(got, value, rel_tol=1e-12)
        is_nan = value != value and got != got
        assert got == value or is_nan or is_close, f"{name} is {got!r}, not {value!r}"
    assert outcome.slots.keys() == expected.slots.keys()
    for index, table in expected.slots.items():
        same(gl.Vector._of(outcome.slots[index]), table)
    assert outcome.stacks.keys() == expected.stacks.keys()
    for index, tables in expected.stacks.items():
        assert len(outcome.stacks[index]) == len(tables), f"stack {index} has another length"
        for store, table in zip(outcome.stacks[index], tables, strict=True):
            same(gl.Vector._of(store), table)


@dataclass
class _Where:
    """A mask, for `oracle.write`."""

    allowed: frozenset[int]

    def allows(self, key: oracle.Key) -> bool:
        return key[0] in self.allowed


class _Machine:
    def __init__(self, case: Any) -> None:
        self.case, self.program = case, case.program
        self.slots = {each.index: self.empty(each.dtype, each.dim) for each in case.program.slots}
        for slot, table in zip(case.program.inputs, case.vectors, strict=True):
            self.slots[slot.index] = table
        pairs = zip(case.program.scalars, case.scalars, strict=True)
        self.variables = {variable.name: value for variable, value in pairs}
        self.stacks = {k: list(tables) for k, tables in enumerate(case.stacks)}

    def run(self) -> Expected:
        number, rounds, line = 0, 0, 0
        while True:
            rounds += 1
            assert rounds < 10_000, "the program does not end"
            block = self.program.blocks[number]
            for instruction in block.instructions:
                line = instruction.line
                try:
                    getattr(self, type(instruction).__name__)(instruction)
                except Fault as fault:
                    kind = str(fault)
                    scalars, slots = self.variables, self.slots
                    return Expected(-1, kind, line, scalars, slots, self.stacks, rounds)
            end = block.end
            if isinstance(end, ir.Exit):
                names = self.program.exits[end.number].names.values()
                held = [each.name for each in names if isinstance(each, ir.Var)]
                scalars = {name: self.variables[name] for name in held}
                indices = [each.index for each in names if isinstance(each, ir.Slot)]
                slots = {index: self.slots[index] for index in indices}
                return Expected(end.number, None, 0, scalars, slots, self.stacks, rounds)
            if isinstance(end, ir.Branch):
                number = end.then if self.scalar(end.condition) else end.otherwise
            else:
                number = end.target

    def size(self, dim: ir.Dim) -> int:
        return self.case.dims[dim.index]

    def empty(self, dtype: DataType, dim: ir.Dim) -> Table:
        return Table((self.size(dim), 1), dtype.np_type, {})

    # --- scalars --------------------------------------------------------------------------------

    def scalar(self, x: ir.Scalar) -> Any:
        if isinstance(x, ir.Constant):
            return x.value
        if isinstance(x, ir.Size):
            return self.size(x.dim)
        if isinstance(x, ir.Var):
            return self.variables[x.name]
        if isinstance(x, ir.Element):
            return number(self.case.arrays[x.array.index][self.scalar(x.index)])
        return call(x.function, [self.scalar(argument) for argument in x.arguments])

    def Let(self, x: ir.Let) -> None:
        values = [self.scalar(value) for value in x.values]
        for variable, value in zip(x.variables, values, strict=True):
            self.variables[variable.name] = value

    def Fault(self, x: ir.Fault) -> None:
        if self.scalar(x.condition):
            raise Fault(x.kind)

    # --- expressions ----------------------------------------------------------------------------

    def mask(self, mask: ir.Mask | None, size: int) -> _Where | None:
        return None if mask is None else _Where(frozenset(self.selected(mask, size)))

    def selected(self, mask: ir.Mask, size: int) -> set[int]:
        if isinstance(mask, ir.MaskOf):
            entries = self.slots[mask.slot.index].entries
            return {i for (i, _), x in entries.items() if not mask.by_value or is_true(x)}
        if isinstance(mask, ir.NotMask):
            return set(range(size)) - self.selected(mask.mask, size)
        left, right = self.selected(mask.left, size), self.selected(mask.right, size)
        return left & right if isinstance(mask, ir.AndMask) else left | right

    def vector(self, x: Any, dim: ir.Dim) -> Table:
        """Return the value of a vector expression."""
        found = self._vector(x, dim)
        assert found.dtype == x.dtype.np_type, f"{x} has dtype {found.dtype}"
        entries = {key: simplify(value) for key, value in found.entries.items()}
        return Table(found.shape, found.dtype, entries)

    def _vector(self, x: Any, dim: ir.Dim) -> Table:
        if isinstance(x, ir.Entry):
            return self.slots[x.slot.index]
        if isinstance(x, ir.Empty):
            return self.empty(x.dtype, dim)
        if isinstance(x, ir.Full):
            value = fit(self.scalar(x.value), x.dtype)
            return oracle.filled((self.size(dim), 1), value, x.dtype.np_type)
        if isinstance(x, ir.Gather):
            source = self.slots[x.slot.index]
            places = self.places(x.indices, source.shape[0])
            return oracle.extract(source, places, [0])
        if isinstance(x, ir.Product):
            return self.product(x, dim)
        if isinstance(x, ir.MatrixReduction):
            lines: dict[oracle.Key, list[Any]] = {}
            for (i, _), value in sorted(self.matrix(x).entries.items()):
                lines.setdefault((i, 0), []).append(value)
            entries = {key: collapse(x.monoid, values) for key, values in lines.items()}
            return Table((self.size(dim), 1), x.monoid.return_type.np_type, entries)
        a = self.vector(x.x, dim)
        dtype = x.dtype.np_type
        return Table(a.shape, dtype, dict(self.entries(x, a, dim)))

    def entries(self, x: Any, a: Table, dim: ir.Dim) -> Iterable[tuple[oracle.Key, Any]]:
        """Return the entries of an entry-wise expression whose first operand is `a`."""
        items = a.entries.items()
        if isinstance(x, ir.Cast):
            return [(key, cast(value, x.dtype.np_type)) for key, value in items]
        if isinstance(x, ir.Apply):
            dtype, function = UNARY[x.op.name](x.op.type.np_type)
            return [(key, lift(function, cast(value, dtype))) for key, value in items]
        if isinstance(x, ir.ApplyIndex):
            thunk, dtype = fit(self.scalar(x.thunk), x.op.thunk_type), x.dtype.np_type
            function = INDEX[x.op.name]
            return [(key, cast(lift(function, *wide(key), thunk), dtype)) for key, _ in items]
        if isinstance(x, ir.Select):
            thunk = fit(self.scalar(x.thunk), x.op.thunk_type)
            return [item for item in items if chooses(x.op, item, thunk)]
        if isinstance(x, ir.Restrict):
            chosen = self.selected(x.mask, a.shape[0])
            return [(key, value) for key, value in items if key[0] in chosen]
        op = binary(x.op)
        if isinstance(x, ir.ApplyLeft):
            s = fit(self.scalar(x.scalar), x.op.type) if x.op.reads_x else x.op.type.np_type.type(0)
            return [(key, op(s, value, *key, *key)) for key, value in items]
        if isinstance(x, ir.ApplyRight):
            t = x.op.type2
            s = fit(self.scalar(x.scalar), t) if x.op.reads_y else t.np_type.type(0)
            return [(key, op(value, s, *key, *key)) for key, value in items]
        one, other = a.entries, self.vector(x.y, dim).entries
        both = [(k, op(one[k], other[k], *k, *k)) for k in one.keys() & other.keys()]
        if isinstance(x, ir.Intersection):
            return both
        if isinstance(x, ir.Union):
            alone = {**one, **other}.items()
            return [*((k, cast(value, x.dtype.np_type)) for k, value in alone), *both]
        left, right = self.scalar(x.left), self.scalar(x.right)
        left = fit(left, x.op.type) if x.op.reads_x else x.op.type.np_type.type(0)
        right = fit(right, x.op.type2) if x.op.reads_y else x.op.type2.np_type.type(0)
        keys = one.keys() | other.keys()
        return [(k, op(one.get(k, left), other.get(k, right), *k, *k)) for k in keys]

    def matrix(self, x: ir.Product | ir.MatrixReduction) -> Table:
        table = self.case.matrices[x.matrix.index]
        return oracle.transpose(table) if x.is_transposed else table

    def product(self, x: ir.Product, dim: ir.Dim) -> Table:
        op = binary(x.semiring.binaryop)
        u, terms = self.slots[x.u.index].entries, {}
        for (i, j), a in sorted(self.matrix(x).entries.items()):
            if x.side == "vxm" and (i, 0) in u:
                terms.setdefault((j, 0), []).append(op(u[i, 0], a, 0, i, i, j))
            elif x.side == "mxv" and (j, 0) in u:
                terms.setdefault((i, 0), []).append(op(a, u[j, 0], i, j, j, 0))
        monoid = x.semiring.monoid
        entries = {key: collapse(monoid, values) for key, values in terms.items()}
        return Table((self.size(dim), 1), monoid.return_type.np_type, entries)

    def places(self, slot: ir.Slot, size: int) -> list[int]:
        """Return the indices stored in a slot, which must be full."""
        table = self.slots[slot.index]
        if len(table.entries) < table.shape[0]:
            raise Fault("InvalidValue")
        indices = [int(certain(table.entries[i, 0])) for i in range(table.shape[0])]
        if not all(-size <= i < size for i in indices):
            raise Fault("IndexOutOfBound")
        return [i % size for i in indices]

    # --- instructions ---------------------------------------------------------------------------

    def store(self, slot: ir.Slot, table: Table) -> None:
        entries = {key: simplify(value) for key, value in table.entries.items()}
        self.slots[slot.index] = Table(table.shape, table.dtype, entries)

    def Write(self, x: ir.Write) -> None:
        T, C = self.vector(x.source, x.target.dim), self.slots[x.target.index]
        accum = None if x.accum is None else x.accum.name
        mask: Any = self.mask(x.mask, C.shape[0])
        self.store(x.target, oracle.write(C, T, mask, accum, x.replace))

    def Scatter(self, x: ir.Scatter) -> None:
        C, dtype = self.slots[x.target.index], x.target.dtype
        places = self.places(x.indices, C.shape[0])
        if isinstance(x.source, ir.Slot):
            A = self.slots[x.source.index]
        else:
            value = fit(self.scalar(x.source), dtype)
            A = oracle.filled((len(places), 1), value, dtype.np_type)
        accum, joins = None, False
        if x.accum is not None:
            accum, joins = x.accum.name, can_join(x.accum, dtype)
        if not joins and len(set(places)) < len(places):
            raise Fault("DuplicateEntry")
        terms: dict[oracle.Key, list[Any]] = {}
        for (k, _), value in sorted(A.entries.items()):
            terms.setdefault((places[k], 0), []).append(value)
        if joins:
            monoid = getattr(gl.monoid, str(accum))[dtype]
            T = Table(
                C.shape, C.dtype, {k: collapse(monoid, values) for k, values in terms.items()}
            )
        else:
            T = Table(C.shape, A.dtype, {key: value for key, (value,) in terms.items()})
        mask: Any = self.mask(x.mask, C.shape[0])
        region = [(i, 0) for i in places]
        self.store(x.target, oracle.write(C, T, mask, accum, x.replace, region))

    def position(self, index: ir.Scalar, slot: ir.Slot) -> int:
        i, size = self.scalar(index), self.size(slot.dim)
        if not -size <= i < size:
            raise Fault("IndexOutOfBound")
        return i % size

    def SetElement(self, x: ir.SetElement) -> None:
        value = self.scalar(x.value)
        i = self.position(x.index, x.target)
        C, dtype = self.slots[x.target.index], x.target.dtype
        T = Table(C.shape, dtype.np_type, {(i, 0): fit(value, dtype)})
        accum = None if x.accum is None else x.accum.name
        self.store(x.target, oracle.write(C, T, None, accum, False, [(i, 0)]))

    def DeleteElement(self, x: ir.DeleteElement) -> None:
        i, C = self.position(x.index, x.target), self.slots[x.target.index]
        entries = {key: value for key, value in C.entries.items() if key != (i, 0)}
        self.slots[x.target.index] = Table(C.shape, C.dtype, entries)

    def Count(self, x: ir.Count) -> None:
        self.variables[x.variable.name] = len(self.slots[x.slot.index].entries)

    def Reduce(self, x: ir.Reduce) -> None:
        dim = next(iter(dims_of(x.source)))
        items = sorted(self.vector(x.source, dim).entries.items())
        values = [value for _, value in items]
        value = certain(collapse(x.monoid, values)) if values else x.monoid.identity
        self.variables[x.variable.name] = number(value)
        if x.is_present is not None:
            self.variables[x.is_present.name] = bool(values)

    def ReadElement(self, x: ir.ReadElement) -> None:
        i, C = self.position(x.index, x.slot), self.slots[x.slot.index]
        is_present = (i, 0) in C.entries
        value = C.entries[i, 0] if is_present else C.dtype.type(0)
        self.variables[x.variable.name] = number(certain(value))
        self.variables[x.is_present.name] = is_present

    def IsEqual(self, x: ir.IsEqual) -> None:
        one, other = self.slots[x.left.index].entries, self.slots[x.right.index].entries
        pairs = [(one[k], other[k]) for k in one.keys() & other.keys()]
        same_values = all(certain(a) == certain(b) for a, b in pairs)
        self.variables[x.variable.name] = one.keys() == other.keys() and bool(same_values)

    def Clear(self, x: ir.Clear) -> None:
        self.slots[x.slot.index] = self.empty(x.slot.dtype, x.slot.dim)

    def Move(self, x: ir.Move) -> None:
        tables = [self.slots[source.index] for source in x.sources]
        for target, table in zip(x.targets, tables, strict=True):
            self.slots[target.index] = table

    def Append(self, x: ir.Append) -> None:
        self.stacks[x.stack.index].append(self.slots[x.slot.index])

    def item(self, stack: ir.Stack, index: int) -> Table:
        tables = self.stacks[stack.index]
        if not -len(tables) <= index < len(tables):
            raise Fault("IndexError")
        return tables[index]

    def Pop(self, x: ir.Pop) -> None:
        self.slots[x.slot.index] = self.item(x.stack, -1)
        self.stacks[x.stack.index].pop()

    def Peek(self, x: ir.Peek) -> None:
        self.slots[x.slot.index] = self.item(x.stack, self.scalar(x.index))

    def ClearStack(self, x: ir.ClearStack) -> None:
        self.stacks[x.stack.index] = []

    def Length(self, x: ir.Length) -> None:
        self.variables[x.variable.name] = len(self.stacks[x.stack.index])


# --- values -------------------------------------------------------------------------------------


def simplify(value: Any) -> Any:
    """Merge equal choices of a value. Return UNDEFINED if more than 12 choices remain."""
    if not isinstance(value, OneOf):
        return value
    flat: list[Any] = []
    for choice in value:
        flat.extend(choice if isinstance(choice, OneOf) else [choice])
    if any(choice is UNDEFINED for choice in flat):
        return UNDEFINED
    distinct = {repr(choice): choice for choice in flat}
    if len(distinct) == 1:
        return flat[0]
    return UNDEFINED if len(distinct) > 12 else OneOf(distinct.values())


def certain(value: Any) -> Any:
    """Return a value that the program uses. Raise Unspecified if it has several choices."""
    value = simplify(value)
    if value is UNDEFINED or isinstance(value, OneOf):
        raise Unspecified
    return value


def is_true(value: Any) -> bool:
    return bool(certain(value))


def number(value: Any) -> Any:
    """Return a NumPy scalar as a Python number. An int must fit in INT64."""
    value = value.item()
    if type(value) is int and not LEAST <= value <= MOST:
        raise Fault("OverflowError")
    return value


def fit(value: Any, dtype: DataType) -> Any:
    """Return a Python number as a scalar of `dtype`, into which it must fit."""
    np_type = dtype.np_type
    if np_type.kind in "iu" and not isinstance(value, bool):
        info = np.iinfo(np_type)
        if value != value or math.isinf(value) or not info.min <= math.trunc(value) <= info.max:
            raise Fault("OverflowError")
        return np_type.type(math.trunc(value))
    with np.errstate(all="ignore"):
        entry = np_type.type(value)
    if np_type.kind == "f" and np.isinf(entry) and not math.isinf(value):
        raise Fault("OverflowError")
    return entry


def call(function: str, values: list[Any]) -> Any:
    """Return the value of a scalar function, by evaluating its text in `SCALAR_FUNCTIONS`."""
    is_int = type(values[0]) is int
    if is_int and function in ("pow", "lshift") and values[1] > 64:
        # Do not let Python compute a very large number. The result overflows, unless x is 0, or x
        # is 1 or -1 in pow. In these cases, the result depends only on the parity of the exponent.
        is_small = values[0] == 0 or (function == "pow" and abs(values[0]) == 1)
        values = [values[0], 64 + values[1] % 2]
        if not is_small:
            raise Fault("OverflowError")
    names = ("c", "x", "y") if function == "where" else ("x", "y")
    scope = dict(zip(names, values, strict=False))
    try:
        found = eval(_code(ir.SCALAR_FUNCTIONS[function]), {"math": math} | scope)
    except (OverflowError, ZeroDivisionError, ValueError) as error:
        raise Fault(type(error).__name__) from None
    if isinstance(found, complex):
        raise Fault("ValueError")
    if type(found) is int and not LEAST <= found <= MOST:
        raise Fault("OverflowError")
    return found


@cache
def _code(text: str) -> Any:
    return compile(text, text, "eval")


# --- operators ----------------------------------------------------------------------------------

USER: dict[str, Callable[[np.dtype], Callable[..., Any]]] = {
    "mix": lambda t: lambda x, y: t.type(x) * t.type(3) - t.type(y),
}
"""The functions of the operators that programs.py defines, by the dtype of their result."""


@cache
def binary(op: Any) -> oracle.Op:
    """Return the oracle's operator for a typed binary operator."""
    left, right = op.type.np_type, op.type2.np_type
    if op.name in USER:
        dtype = op.return_type.np_type
        return oracle.Op(op.name, left, right, dtype, USER[op.name](dtype))
    found = oracle.binary(op.name, left, right)
    assert found.dtype == op.return_type.np_type, f"{op!r} returns {found.dtype}"
    return found


def collapse(monoid: Any, values: list[Any]) -> Any:
    """Reduce one or more values with a typed monoid.

    Raise Unspecified if the result depends on the order of the values.
    """
    dtype = monoid.return_type.np_type
    values = [cast(value, dtype) for value in values]
    if dtype.kind == "f" and len(values) > 1 and monoid.name in ("plus", "times"):
        require_exact(monoid.name, [certain(value) for value in values], dtype)
    if monoid.name == "any":
        return simplify(OneOf(values))
    op, found = binary(monoid.binaryop), values[0]
    for value in values[1:]:
        found = simplify(op(found, value))
    return found


def require_exact(name: str, values: list[Any], dtype: np.dtype) -> None:
    """Raise Unspecified unless reducing the floats gives the same bits in any order."""
    finite = [float(value) for value in values]
    if not all(map(math.isfinite, finite)):
        if name == "times":
            raise Unspecified
        return
    bits = np.finfo(dtype).nmant
    if name == "plus":
        total = sum(map(abs, finite))
        if total * 16 >= 2.0**bits or any(value * 16 % 1 for value in finite):
            raise Unspecified
        return
    significant = [math.frexp(value)[0] for value in finite]
    lengths = [_bits(part) for part in significant]
    exponents = [abs(math.frexp(value)[1]) for value in finite]
    if sum(lengths) > bits or sum(exponents) > 60:
        raise Unspecified


def _bits(part: float) -> int:
    """Return the number of significant bits of a number between 1/2 and 1."""
    return int(abs(part) * 2**53).bit_length() - _zeros(int(abs(part) * 2**53)) if part else 0


def _zeros(x: int) -> int:
    return (x & -x).bit_length() - 1


def chooses(op: Any, item: tuple[oracle.Key, Any], thunk: Any) -> bool:
    """Return whether a typed select operator selects an entry."""
    key, value = item
    if op.name.startswith("value"):
        value = cast(certain(value), op.type.np_type)
    return bool(lift(SELECT[op.name], value, *wide(key), thunk))


def wide(key: oracle.Key) -> tuple[np.int64, np.int64]:
    """Return both indices of a position as NumPy int64, so that sums of indices wrap around."""
    return np.int64(key[0]), np.int64(key[1])


def can_join(accum: Any, dtype: DataType) -> bool:
    """Return whether the dtype has a monoid whose operator is the accumulator."""
    if accum.type is not dtype:
        return False
    if accum.name in ("lor", "land", "lxor", "eq"):
        return dtype is BOOL
    bitwise = dtype.is_integer and accum.name in ("band", "bor", "bxor")
    return bitwise or accum.name in ("plus", "times", "min", "max", "any")


def dims_of(x: Any) -> list[ir.Dim]:
    """Return the dims of the slots that determine the size of an expression."""
    if isinstance(x, ir.Entry):
        return [x.slot.dim]
    if isinstance(x, ir.Gather):
        return [x.indices.dim]
    parts = [getattr(x, name) for name in ("x", "y") if hasattr(x, name)]
    return [dim for part in parts for dim in dims_of(part)]


__all__ = ["Expected", "Fault", "Unspecified", "agrees", "compare", "run"]
