"""Run a program with the library's own operations.

The interpreter defines the meaning of a program. The tests compare the results of the engines with
the results of the interpreter. It is slow, because it does not fuse statements and stores the
result of each part of an expression.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from graphla.expression import Operand, update
from graphla.operations.entrywise import cast
from graphla.program import ir
from graphla.program.checking import find_dim
from graphla.program.running import Arguments, Outcome
from graphla.sparse import expressions
from graphla.sparse.mask import Mask
from graphla.sparse.vector import Vector
from graphla.stores import MatrixStore, VectorStore
from semirings.dtypes import BOOL, FP64, INT64, DataType

LEAST, MOST = -(1 << 63), (1 << 63) - 1
"""The range of INT64. An int outside of it raises OverflowError."""


def run(program: ir.Program, arguments: Arguments) -> Outcome:
    """Run the program. The stores in `arguments` do not change."""
    state = _State(program, arguments)
    block, line = program.blocks[0], 0
    try:
        while True:
            for instruction in block.instructions:
                line = instruction.line
                _run[type(instruction)](state, instruction)
            end = block.end
            if isinstance(end, ir.Exit):
                return state.outcome(end.number, None)
            if isinstance(end, ir.Branch):
                target = end.then if state.scalar(end.condition) else end.otherwise
            else:
                target = end.target
            block = program.blocks[target]
    except _Fault as fault:
        return state.outcome(-1, (*fault.args, line))
    except (ArithmeticError, ValueError, IndexError) as error:
        return state.outcome(-1, (type(error).__name__, str(error), line))


class _Fault(Exception):
    """Raised for a fault of the program, with the name of an exception and its message."""


class _State:
    """The values of all slots, variables and stacks.

    Each slot has its own Vector object, so a write can change the object in place. If the object
    shares arrays with an argument or a copy, `graphla.stores` copies the arrays before the write.
    """

    def __init__(self, program: ir.Program, arguments: Arguments) -> None:
        self.program, self.arguments = program, arguments
        self.slots = {slot.index: self.empty(slot.dtype, slot.dim) for slot in program.slots}
        for slot, store in zip(program.inputs, arguments.vectors, strict=True):
            self.slots[slot.index] = Vector._of(store)
        self.variables: dict[str, Any] = {}
        for variable, value in zip(program.scalars, arguments.scalars, strict=True):
            self.variables[variable.name] = value
        pairs = zip(program.stacks, arguments.stacks, strict=True)
        self.stacks = {stack.index: list(stores) for stack, stores in pairs}

    def outcome(self, number: int, fault: tuple[str, str, int] | None) -> Outcome:
        if fault is not None:
            slots, scalars = self.slots.keys(), dict(self.variables)
        else:
            names = self.program.exits[number].names.values()
            slots = {each.index for each in names if isinstance(each, ir.Slot)}
            used = {each.name for each in names if isinstance(each, ir.Var)}
            scalars = {name: self.variables[name] for name in used}
        stores = {index: self.slots[index]._read() for index in slots}
        return Outcome(number, fault, scalars, stores, self.stacks)

    def empty(self, dtype: Any, dim: ir.Dim) -> Vector:
        arguments = self.arguments
        return Vector._of(VectorStore.empty(arguments.device, dtype, arguments.dims[dim.index]))

    def set(self, variable: ir.Var, value: Any) -> None:
        """Assign a Python number. Raise OverflowError for an int outside INT64."""
        self.variables[variable.name] = _checked(value, variable.dtype)

    # --- expressions ----------------------------------------------------------------------------

    def scalar(self, x: ir.Scalar) -> Any:
        """Return the value of a scalar expression as a Python bool, int or float."""
        if isinstance(x, ir.Constant):
            return x.value
        if isinstance(x, ir.Size):
            return self.arguments.dims[x.dim.index]
        if isinstance(x, ir.Var):
            return self.variables[x.name]
        if isinstance(x, ir.Element):
            array = self.arguments.arrays[x.array.index]
            return _checked(array[self.scalar(x.index)].item(), x.dtype)
        values = [self.scalar(argument) for argument in x.arguments]
        return _checked(functions[x.function](*values), x.dtype)

    def mask(self, mask: ir.Mask) -> Mask:
        """Return the library's `Mask` for a mask of the program."""
        if isinstance(mask, ir.MaskOf):
            return Mask(self.slots[mask.slot.index], structure=not mask.by_value)
        if isinstance(mask, ir.NotMask):
            return ~self.mask(mask.mask)
        left, right = self.mask(mask.left), self.mask(mask.right)
        return left & right if isinstance(mask, ir.AndMask) else left | right

    def source(self, x: ir.VectorExpression, dim: ir.Dim) -> Operand:
        """Return the source of a write: a Vector, or an unevaluated product, which can use the mask
        of the write."""
        if isinstance(x, ir.Product):
            u, matrix = self.slots[x.u.index]._read(), self._matrix(x)
            factors = (u, matrix) if x.side == "vxm" else (matrix, u)
            return expressions.product(*factors, x.semiring)
        if isinstance(x, ir.MatrixReduction):
            return expressions.reduce_rowwise(self._matrix(x), x.monoid)
        return Vector._of(self.store(x, dim))

    def _matrix(self, x: ir.Product | ir.MatrixReduction) -> MatrixStore:
        matrix = self.arguments.matrices[x.matrix.index]
        return matrix.T if x.is_transposed else matrix

    def store(self, x: ir.VectorExpression, dim: ir.Dim) -> VectorStore:
        """Return the result of an entry-wise expression: a vector of size `dim`."""
        if isinstance(x, ir.Entry):
            return self.slots[x.slot.index]._read()
        if isinstance(x, ir.Gather):
            return self.slots[x.slot.index][self.slots[x.indices.index]]._compute()
        if isinstance(x, ir.Empty):
            return self.empty(x.dtype, dim)._read()
        if isinstance(x, ir.Full):
            vector = self.empty(x.dtype, dim)
            vector << self.scalar(x.value)
            return vector._read()
        if isinstance(x, ir.Cast):
            return cast(self.store(x.x, dim), x.dtype)
        assert not isinstance(x, (ir.Product, ir.MatrixReduction))
        return self._entrywise(x, self.store(x.x, dim), dim)._compute()

    def _entrywise(self, x: Any, a: VectorStore, dim: ir.Dim) -> Any:
        """Return the library's expression for an operation x. `a` is the result of its operand
        `x.x`."""
        if isinstance(x, ir.Apply):
            return expressions.apply(a, x.op, None, None)
        if isinstance(x, ir.ApplyIndex):
            return expressions.apply_index(a, x.op, self.scalar(x.thunk))
        if isinstance(x, ir.ApplyLeft):
            return expressions.apply(a, x.op, self.scalar(x.scalar), None)
        if isinstance(x, ir.ApplyRight):
            return expressions.apply(a, x.op, None, self.scalar(x.scalar))
        if isinstance(x, ir.Select):
            return expressions.select(a, x.op, self.scalar(x.thunk))
        if isinstance(x, ir.Restrict):
            return expressions.select(a, self.mask(x.mask), None)
        b = self.store(x.y, dim)
        if isinstance(x, ir.Union):
            return expressions.ewise_add(a, b, x.op)
        if isinstance(x, ir.Intersection):
            return expressions.ewise_mult(a, b, x.op)
        assert isinstance(x, ir.UnionDefaults)
        left, right = self.scalar(x.left), self.scalar(x.right)
        return expressions.ewise_union(a, b, x.op, left, right)

    # --- instructions ---------------------------------------------------------------------------

    def let(self, x: ir.Let) -> None:
        """Evaluate all expressions, and then assign them to scalars."""
        values = [self.scalar(value) for value in x.values]
        for variable, value in zip(x.variables, values, strict=True):
            self.set(variable, value)

    def count(self, x: ir.Count) -> None:
        """Count entries."""
        self.set(x.variable, self.slots[x.slot.index].nvals)

    def reduce(self, x: ir.Reduce) -> None:
        """Reduce the entries of an expression. Without entries, the result is the identity."""
        dim = find_dim(x.source)
        assert dim is not None
        a = self.store(x.source, dim)
        value = expressions.reduce_scalar(a, x.monoid, True)._compute().value
        self.set(x.variable, (x.monoid.identity if value is None else value).item())
        if x.is_present is not None:
            self.set(x.is_present, value is not None)

    def read_element(self, x: ir.ReadElement) -> None:
        """Read one element. If there is no such entry, the result is 0."""
        value = self.slots[x.slot.index].get(self.scalar(x.index))
        self.set(x.variable, x.variable.dtype.np_type.type(0).item() if value is None else value)
        self.set(x.is_present, value is not None)

    def is_equal(self, x: ir.IsEqual) -> None:
        """Compare two vectors."""
        left, right = self.slots[x.left.index], self.slots[x.right.index]
        self.set(x.variable, left.isequal(right))

    def write(self, x: ir.Write) -> None:
        """Write an expression, following the GraphBLAS write rule."""
        mask = None if x.mask is None else self.mask(x.mask)
        source = self.source(x.source, x.target.dim)
        update(self.slots[x.target.index], source, mask, x.accum, x.replace)

    def scatter(self, x: ir.Scatter) -> None:
        """Write to the positions in a vector of indices."""
        target, indices = self.slots[x.target.index], self.slots[x.indices.index]
        mask = None if x.mask is None else self.mask(x.mask)
        source: Any = x.source
        source = self.slots[source.index] if isinstance(source, ir.Slot) else self.scalar(source)
        target(mask=mask, accum=x.accum, replace=x.replace)[indices] << source

    def set_element(self, x: ir.SetElement) -> None:
        """Write one element."""
        target, index = self.slots[x.target.index], self.scalar(x.index)
        value = self.scalar(x.value)
        if x.accum is None:
            target[index] = value
        else:
            target(accum=x.accum)[index] << value

    def delete_element(self, x: ir.DeleteElement) -> None:
        """Delete one element."""
        del self.slots[x.target.index][self.scalar(x.index)]

    def clear(self, x: ir.Clear) -> None:
        """Delete all entries."""
        self.slots[x.slot.index].clear()

    def move(self, x: ir.Move) -> None:
        """Exchange the contents of slots."""
        vectors = [self.slots[source.index] for source in x.sources]
        for target, vector in zip(x.targets, vectors, strict=True):
            self.slots[target.index] = vector

    def append(self, x: ir.Append) -> None:
        """Append a copy of a vector to a stack."""
        self.stacks[x.stack.index].append(self.slots[x.slot.index]._read())

    def pop(self, x: ir.Pop) -> None:
        """Remove the last vector of a stack."""
        self.slots[x.slot.index] = Vector._of(self.stacks[x.stack.index].pop())

    def peek(self, x: ir.Peek) -> None:
        """Copy a vector of a stack."""
        store = self.stacks[x.stack.index][self.scalar(x.index)]
        self.slots[x.slot.index] = Vector._of(store)

    def length(self, x: ir.Length) -> None:
        """Count the vectors in a stack."""
        self.set(x.variable, len(self.stacks[x.stack.index]))

    def clear_stack(self, x: ir.ClearStack) -> None:
        """Remove all vectors of a stack."""
        self.stacks[x.stack.index].clear()

    def fault(self, x: ir.Fault) -> None:
        """End the program if the condition is true."""
        if self.scalar(x.condition):
            raise _Fault(x.kind, x.text)


_run = {
    ir.Let: _State.let,
    ir.Count: _State.count,
    ir.Reduce: _State.reduce,
    ir.ReadElement: _State.read_element,
    ir.IsEqual: _State.is_equal,
    ir.Write: _State.write,
    ir.Scatter: _State.scatter,
    ir.SetElement: _State.set_element,
    ir.DeleteElement: _State.delete_element,
    ir.Clear: _State.clear,
    ir.Move: _State.move,
    ir.Append: _State.append,
    ir.Pop: _State.pop,
    ir.Peek: _State.peek,
    ir.Length: _State.length,
    ir.ClearStack: _State.clear_stack,
    ir.Fault: _State.fault,
}


# --- scalar functions ---------------------------------------------------------------------------


def _checked(value: Any, dtype: DataType) -> Any:
    """Return the Python number. Raise OverflowError for an int outside INT64."""
    if type(value) is int and not LEAST <= value <= MOST:
        raise OverflowError("an integer in a compiled loop exceeds 64 bits")
    assert type(value) is kinds[dtype], f"{value!r} is not of {dtype}"
    return value


kinds = {BOOL: bool, INT64: int, FP64: float}
"""The Python type for each dtype of scalars."""


def _power(x: Any, y: Any) -> Any:
    if type(x) is int and abs(x) > 1 and y > 63:
        raise OverflowError("an integer in a compiled loop exceeds 64 bits")
    value = x**y
    if isinstance(value, complex):
        raise ValueError("a power in a compiled loop is a complex number")
    return value


def _left_shift(x: int, y: int) -> int:
    if x and y > 63:
        raise OverflowError("an integer in a compiled loop exceeds 64 bits")
    return x << y if x else 0 << min(y, 0)


functions: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "floordiv": operator.floordiv,
    "mod": operator.mod,
    "pow": _power,
    "neg": operator.neg,
    "abs": abs,
    "invert": operator.invert,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "lshift": _left_shift,
    "rshift": operator.rshift,
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
    "not": operator.not_,
    "min": min,
    "max": max,
    "int": int,
    "float": float,
    "bool": bool,
    "round": round,
    "where": lambda c, x, y: x if c else y,
}
functions |= {
    name: getattr(math, name.removeprefix("math."))
    for name in ir.SCALAR_FUNCTIONS
    if name.startswith("math.")
}


def _choose(function: Callable[[int, int], int], most: int, x: int, y: int) -> int:
    """Return math.comb(x, y) or math.perm(x, y). With more than `most` factors, the result exceeds
    INT64."""
    factors = min(y, x - y) if function is math.comb else y
    if x >= 0 and most < factors <= x:
        raise OverflowError("an integer in a compiled loop exceeds 64 bits")
    return function(x, y)


functions["math.comb"] = lambda x, y: _choose(math.comb, 33, x, y)
functions["math.perm"] = lambda x, y: _choose(math.perm, 20, x, y)
