"""Print a program as text. A line looks like this:

    frontier⟨¬parent.S, replace⟩ = any_secondi[INT64, FP64](frontier @ A)

Slots and variables have the user's names. A second slot with the name `frontier` is printed as
`frontier#2`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from graphla.program import ir

_SYMBOLS = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "pow": "**",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
    "eq": "==",
    "ne": "!=",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
}


def text(program: ir.Program) -> str:
    """Return a program as text: its arguments, then its blocks, with the user's lines."""
    return "\n".join(_Printer(program).lines())


class _Printer:
    def __init__(self, program: ir.Program):
        self.program = program
        self.slots = _names((slot.index, slot.name) for slot in program.slots)
        self.stacks = _names((stack.index, stack.name) for stack in program.stacks)
        self.matrices = _names((each.index, each.name) for each in program.matrices)
        self.arrays = _names((each.index, each.name) for each in program.arrays)

    def lines(self) -> Iterable[str]:
        program = self.program
        yield f"program {program.name}"
        for each in program.matrices:
            known = [name for name in ("is_iso", "is_symmetric") if getattr(each, name)]
            extra = "".join(f", {name.removeprefix('is_')}" for name in known)
            size = f"n{each.rows.index} x n{each.columns.index}"
            yield f"  matrix {self.matrices[each.index]}: {each.dtype}, {size}{extra}"
        for each in program.arrays:
            yield f"  array {self.arrays[each.index]}: {each.dtype}, n{each.dim.index}"
        for slot in program.slots:
            kind = "vector" if slot in program.inputs else "new vector"
            yield f"  {kind} {self.slots[slot.index]}: {slot.dtype}, n{slot.dim.index}"
        for each in program.stacks:
            yield f"  list {self.stacks[each.index]}: vectors of {each.dtype}, n{each.dim.index}"
        for each in program.scalars:
            yield f"  number {each.name}: {each.dtype}"
        for k, block in enumerate(program.blocks):
            yield f"block {k}"
            line = 0
            for each in block.instructions:
                if each.line and each.line != line and each.line <= len(program.source):
                    line = each.line
                    yield f"  # {program.source[line - 1].strip()}"
                yield f"  {self.instruction(each)}"
            yield f"  {self.end(block.end)}"
        for k, each in enumerate(program.exits):
            names = ", ".join(f"{name} = {self.value(x)}" for name, x in each.names.items())
            yield f"exit {k}, at place {each.place}: {names or 'nothing'}"

    def value(self, x: Any) -> str:
        if isinstance(x, ir.Slot):
            return self.slots[x.index]
        if isinstance(x, ir.Stack):
            return self.stacks[x.index]
        return repr(x.value) if isinstance(x, ir.Same) else self.scalar(x)

    def end(self, end: ir.End) -> str:
        if isinstance(end, ir.Jump):
            return f"go to block {end.target}"
        if isinstance(end, ir.Branch):
            condition = self.scalar(end.condition)
            return f"if {condition} go to block {end.then}, else to block {end.otherwise}"
        return f"leave by exit {end.number}"

    # --- scalars

    def scalar(self, x: ir.Scalar) -> str:
        if isinstance(x, ir.Constant):
            return repr(x.value)
        if isinstance(x, ir.Size):
            return f"n{x.dim.index}"
        if isinstance(x, ir.Var):
            return x.name
        if isinstance(x, ir.Element):
            return f"{self.arrays[x.array.index]}[{self.scalar(x.index)}]"
        symbol = _SYMBOLS.get(x.function)
        parts = [self.scalar(each) for each in x.arguments]
        if symbol is not None:
            return f"({parts[0]} {symbol} {parts[1]})"
        return f"{x.function}({', '.join(parts)})"

    # --- vectors

    def mask(self, mask: ir.Mask) -> str:
        if isinstance(mask, ir.MaskOf):
            return f"{self.slots[mask.slot.index]}.{'V' if mask.by_value else 'S'}"
        if isinstance(mask, ir.NotMask):
            return f"¬{self.mask(mask.mask)}"
        sign = "&" if isinstance(mask, ir.AndMask) else "|"
        return f"({self.mask(mask.left)} {sign} {self.mask(mask.right)})"

    def vector(self, x: ir.VectorExpression) -> str:
        if isinstance(x, ir.Entry):
            return self.slots[x.slot.index]
        if isinstance(x, ir.Cast):
            return f"{x.dtype}({self.vector(x.x)})"
        if isinstance(x, ir.Full):
            return f"{x.dtype}({self.scalar(x.value)})"
        if isinstance(x, ir.Empty):
            return "nothing"
        if isinstance(x, ir.Gather):
            return f"{self.slots[x.slot.index]}[{self.slots[x.indices.index]}]"
        if isinstance(x, ir.Product):
            matrix = self.matrices[x.matrix.index] + ("ᵀ" if x.is_transposed else "")
            u = self.slots[x.u.index]
            left, right = (u, matrix) if x.side == "vxm" else (matrix, u)
            return f"{_operator(x.semiring)}({left} @ {right})"
        if isinstance(x, ir.MatrixReduction):
            matrix = self.matrices[x.matrix.index] + ("ᵀ" if x.is_transposed else "")
            return f"{_operator(x.monoid)} of each row of {matrix}"
        return self.entrywise(x)

    def entrywise(self, x: Any) -> str:
        inner = self.vector(x.x)
        if isinstance(x, ir.Restrict):
            return f"{inner}⟨{self.mask(x.mask)}⟩"
        op = _operator(x.op)
        if isinstance(x, ir.Apply):
            return f"{op}({inner})"
        if isinstance(x, ir.ApplyLeft):
            return f"{op}({self.scalar(x.scalar)}, {inner})"
        if isinstance(x, ir.ApplyRight):
            return f"{op}({inner}, {self.scalar(x.scalar)})"
        if isinstance(x, ir.ApplyIndex):
            return f"{op}({inner}, {self.scalar(x.thunk)})"
        if isinstance(x, ir.Select):
            return f"select {op}({inner}, {self.scalar(x.thunk)})"
        sign = "&" if isinstance(x, ir.Intersection) else "|"
        both = f"{op}({inner} {sign} {self.vector(x.y)})"
        if isinstance(x, ir.UnionDefaults):
            return f"{both}, missing entries are {self.scalar(x.left)} and {self.scalar(x.right)}"
        return both

    # --- instructions

    def instruction(self, x: ir.Instruction) -> str:
        return _instructions[type(x)](self, x)

    def target(self, x: ir.Write | ir.Scatter) -> str:
        options = [] if x.mask is None else [self.mask(x.mask)]
        options += [] if x.accum is None else [_operator(x.accum)]
        options += ["replace"] if x.replace else []
        return self.slots[x.target.index] + (f"⟨{', '.join(options)}⟩" if options else "")

    def let(self, x: ir.Let) -> str:
        left = ", ".join(each.name for each in x.variables)
        return f"{left} = {', '.join(map(self.scalar, x.values))}"

    def reduce(self, x: ir.Reduce) -> str:
        present = f", {x.is_present.name}" if x.is_present is not None else ""
        return f"{x.variable.name}{present} = {_operator(x.monoid)} of {self.vector(x.source)}"

    def read(self, x: ir.ReadElement) -> str:
        place = f"{self.slots[x.slot.index]}[{self.scalar(x.index)}]"
        return f"{x.variable.name}, {x.is_present.name} = {place}"

    def write(self, x: ir.Write) -> str:
        return f"{self.target(x)} = {self.vector(x.source)}"

    def scatter(self, x: ir.Scatter) -> str:
        source = self.value(x.source)
        return f"{self.target(x)}[{self.slots[x.indices.index]}] = {source}"

    def set_element(self, x: ir.SetElement) -> str:
        accum = "" if x.accum is None else f"⟨{_operator(x.accum)}⟩"
        target = f"{self.slots[x.target.index]}{accum}[{self.scalar(x.index)}]"
        return f"{target} = {self.scalar(x.value)}"

    def move(self, x: ir.Move) -> str:
        left = ", ".join(self.slots[each.index] for each in x.targets)
        return f"{left} = {', '.join(self.slots[each.index] for each in x.sources)} (exchanged)"

    def fault(self, x: ir.Fault) -> str:
        return f"if {self.scalar(x.condition)} raise {x.kind}({x.text!r})"


_instructions: dict[type, Callable[[_Printer, Any], str]] = {
    ir.Let: _Printer.let,
    ir.Count: lambda p, x: f"{x.variable.name} = {p.value(x.slot)}.nvals",
    ir.Reduce: _Printer.reduce,
    ir.ReadElement: _Printer.read,
    ir.IsEqual: lambda p, x: f"{x.variable.name} = {p.value(x.left)}.isequal({p.value(x.right)})",
    ir.Write: _Printer.write,
    ir.Scatter: _Printer.scatter,
    ir.SetElement: _Printer.set_element,
    ir.DeleteElement: lambda p, x: f"del {p.value(x.target)}[{p.scalar(x.index)}]",
    ir.Clear: lambda p, x: f"{p.value(x.slot)}.clear()",
    ir.Move: _Printer.move,
    ir.Append: lambda p, x: f"{p.value(x.stack)}.append({p.value(x.slot)})",
    ir.Pop: lambda p, x: f"{p.value(x.slot)} = {p.value(x.stack)}.pop()",
    ir.Peek: lambda p, x: f"{p.value(x.slot)} = {p.value(x.stack)}[{p.scalar(x.index)}]",
    ir.Length: lambda p, x: f"{x.variable.name} = len({p.value(x.stack)})",
    ir.ClearStack: lambda p, x: f"{p.value(x.stack)}.clear()",
    ir.Fault: _Printer.fault,
}


def _operator(op: Any) -> str:
    """Return an operator's name with its dtypes, such as `plus[INT64]`."""
    return repr(op).partition(".")[2] or repr(op)


def _names(items: Iterable[tuple[int, str]]) -> dict[int, str]:
    """Return a unique name for each index. If a name is repeated, a number is appended to it."""
    seen: Counter[str] = Counter()
    found: dict[int, str] = {}
    for index, name in items:
        seen[name] += 1
        found[index] = name if seen[name] == 1 else f"{name}#{seen[name]}"
    return found
