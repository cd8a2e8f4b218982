"""Flatten the syntax tree of a loop into steps: simple statements and jumps.

`flatten` turns a loop into a list of steps. Each step names the steps that may follow it, so the
tracer needs no stack of loops and conditions. Python helper functions that the loop calls are
inlined here. One step is evaluated from left to right, without jumps, so `flatten` splits every
statement that needs jumps:

- A condition with `and`, `or` or `not` becomes several `Test` steps.
- Elsewhere, `and`, `or`, `x if c else y` and a chained comparison become `Test` steps and
  assignments of a hidden name.
- A call of a helper function becomes assignments of the arguments to its parameters, and the steps
  of its body. Its local variables get new names, and its result gets a hidden name. Values that
  Python evaluates before the call are assigned to hidden names first. So a hidden name may refer
  to an expression, a mask, or the left side of `<<`, too.
- `x := value` becomes an assignment before the rest of the statement.
- `assert c, text` becomes a `Test`, and a `Leave` for the case that `c` is false.
- `a = b = value` remains one assignment with two targets.

`graphla.program.steps` describes the names in the steps.
"""

from __future__ import annotations

import ast
import copy
import inspect
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import CodeType, FunctionType, MethodType, ModuleType, NoneType
from typing import Any, NoReturn

from graphla.expression import Operand
from graphla.program.liveness import live_names, uses_of
from graphla.program.reasons import NotCompilable, Reason, refuse
from graphla.program.source import Source, is_inlined, original, source_of
from graphla.program.steps import (
    After,
    Begin,
    Do,
    Helper,
    Home,
    Jump,
    Leave,
    Loop,
    Next,
    Part,
    Place,
    Step,
    Test,
)
from graphla.program.syntax import (
    children,
    copy_node,
    read_names,
    stored_names,
    walk,
    written_names,
)


def flatten(
    loop: ast.For | ast.While, function: FunctionType, names: Mapping[str, Any], after: After
) -> Loop:
    """Return the steps of a loop.

    Args:
        loop: the loop's syntax tree, a part of `source_of(function).node`.
        function: the user's function.
        names: the values that local variables have when the loop begins. They determine which calls
            are inlined.
        after: the names that Python may read after the loop.

    Raises:
        NotCompilable: the loop contains a statement that no compiled loop can contain.
    """
    return _Flattener(function, names).run(loop, after)


@dataclass(slots=True)
class _Scope:
    """A function whose statements are being flattened.

    Attributes:
        function: the function.
        source: its source.
        start: the number of lines before it in `Loop.source`.
        local: the new name of each of its local variables.
        outside: the suffix that the steps add to the names of its globals and closure variables;
            "" for the user's function.
        stored: the new names of the local variables that the steps assign.
        owner: the index of the function in `Loop.functions`.
        static: maps each parameter whose argument is a function, or another object that is not
            data, to the home of the argument.
        result: the hidden name for the result of an inlined call, or None if it is not used.
        end: the label after an inlined call, or None in the user's function.
    """

    function: FunctionType
    source: Source
    start: int
    local: dict[str, str]
    outside: str
    stored: frozenset[str]
    owner: int = 0
    static: dict[str, Home] = field(default_factory=dict)
    result: str | None = None
    end: int | None = None
    loops: list[tuple[int, int]] = field(default_factory=list)
    """For each loop around the current statement, the labels for `break` and `continue`."""
    traits: dict[int, tuple[ast.AST, int]] = field(default_factory=dict)
    """Cached results of `_Flattener.traits`, by the id of the expression."""


_TOO_MANY = 20_000
"""The maximum number of steps of a loop after inlining. A longer loop is not compiled."""

_CONSTANT = ("graphla", "semirings", "math", "builtins", "numpy")
"""Packages whose attributes are assumed not to change."""

_INPUT_OUTPUT = (print, input, open)

_WHOLE = ("graphla.algorithms", "graphla.traversal", "graphla.io", "graphla.generators")
"""Packages whose functions run whole algorithms. A compiled loop cannot call them."""

_JUMPS = 1
"""The trait of an expression that requires other steps before it can be evaluated."""

_EFFECTS = 2
"""The trait of an expression that assigns a name, or calls a function that is inlined."""

_MUTATES = 4
"""The trait of an expression that refers to a method in `_MUTATORS`."""

_MUTATORS = {"append", "pop", "clear", "extend", "insert", "update", "build", "resize"}

_REFUSED: dict[type[ast.AST], str] = {
    ast.With: "a `with` statement",
    ast.Try: "a `try` statement",
    ast.TryStar: "a `try` statement",
    ast.Match: "a `match` statement",
    ast.FunctionDef: "the definition of a function",
    ast.AsyncFunctionDef: "the definition of a function",
    ast.ClassDef: "the definition of a class",
    ast.Import: "an `import` statement",
    ast.ImportFrom: "an `import` statement",
    ast.ListComp: "a comprehension",
    ast.SetComp: "a comprehension",
    ast.DictComp: "a comprehension",
    ast.GeneratorExp: "a generator expression",
}


@contextmanager
def _locating(node: ast.stmt, scope: _Scope) -> Iterator[None]:
    """Add the file and the line of a statement to a NotCompilable raised while it is flattened."""
    try:
        yield
    except NotCompilable as error:
        if error.file is None:
            locate(error, scope.source, getattr(error.node, "lineno", node.lineno))
        raise


def locate(error: NotCompilable, source: Source, line: int) -> None:
    """Add the file, the line and the statement to an error."""
    error.file, error.line = source.file, line
    error.statement = source.lines[line - source.first].strip()


class _Flattener:
    """Flattens one loop."""

    def __init__(self, function: FunctionType, names: Mapping[str, Any]):
        self.names = names
        # The steps in the order of the source. Their targets are labels, which `link` replaces by
        # indices of steps. A `Do` or `Begin` has no target yet, because the next step in the list
        # always follows it.
        self.code: list[Step] = []
        self.labels: dict[int, int] = {}  # the position in `code` of each label
        self.hidden = 0  # the number of hidden names
        self.calls = 0  # the number of inlined calls
        self.active: list[CodeType] = []  # the functions that are being inlined
        self.outside: dict[str, Home] = {}
        self.functions: list[FunctionType] = [function]
        self.helpers: list[Helper] = []
        self.attributes: dict[Home, None] = {}
        self.places = [Place(None), Place(None)]
        self.parts: list[Part] = []
        self.lines: list[str] = []
        self.user = function

    def run(self, loop: ast.For | ast.While, after: After) -> Loop:
        source = source_of(self.user)
        stored = stored_names(loop)
        self.user_stored = stored
        start = self.add_lines(source)
        scope = _Scope(
            self.user,
            source,
            start,
            {name: name for name in (*source.local, *source.free)},
            "",
            stored,
        )
        end, out = self.label(), self.label()
        with _locating(loop, scope):
            self.loop(loop, scope, end, out)
        line = self.line(loop, scope)
        self.mark(end)
        self.code.append(Leave(0, line))
        self.mark(out)
        self.code.append(Leave(1, line))
        steps = self.link()
        own = frozenset(scope.local)
        reads = [
            read_names(place.statement) if place.helper else read_names(place.statement) & own
            for place in self.places
        ]
        left = [
            names | (after.at_return if isinstance(place.statement, ast.Return) else after.always)
            for place, names in zip(self.places, reads, strict=True)
        ]
        uses = uses_of(steps)
        live = live_names(steps, uses, left, self.outside)
        if after.is_repeated:
            again = live[0] & stored
            live = live_names(steps, uses, [names | again for names in left], self.outside)
        used = frozenset[str]().union(*reads, *(names for names, _ in uses))
        return Loop(
            name=f"{source.name}, line {loop.lineno}",
            steps=steps,
            live=live,
            places=tuple(self.places),
            outside={name: home for name, home in self.outside.items() if name in used},
            source=tuple(self.lines),
            parts=tuple(self.parts),
            helpers=tuple(self.helpers),
            attributes=tuple(self.attributes),
        )

    # --- labels and steps

    def label(self) -> int:
        self.labels[len(self.labels)] = -1
        return len(self.labels) - 1

    def mark(self, label: int) -> None:
        self.labels[label] = len(self.code)

    def line(self, node: ast.AST, scope: _Scope) -> int:
        return scope.start + getattr(node, "lineno", scope.source.first) - scope.source.first + 1

    def do(self, node: ast.stmt, at: ast.AST, scope: _Scope) -> None:
        if len(self.code) > _TOO_MANY:
            refuse(Reason.SYNTAX, at, name=f"more than {_TOO_MANY:,} steps after inlining")
        ast.copy_location(node, at)
        self.code.append(Do(node, -1, self.line(at, scope)))

    def jump(self, label: int, node: ast.AST, scope: _Scope) -> None:
        self.code.append(Jump(label, self.line(node, scope)))

    def assign(self, name: str, value: ast.expr, at: ast.AST, scope: _Scope) -> None:
        self.do(ast.Assign([ast.Name(name, ast.Store())], value), at, scope)

    def new_hidden_name(self) -> str:
        self.hidden += 1
        return f".{self.hidden}"

    def add_lines(self, source: Source) -> int:
        """Add the lines of a function to `Loop.source`; return the number of lines before them."""
        for part in self.parts:
            if part.source is source:
                return part.start
        start = len(self.lines)
        self.parts.append(Part(start, source))
        self.lines.extend(source.lines)
        return start

    def link(self) -> tuple[Step, ...]:
        """Replace labels by indices of steps; drop jumps and unreachable steps."""

        def target(position: int) -> int:
            passed: set[int] = set()
            while isinstance(step := self.code[position], Jump) and position not in passed:
                passed.add(position)
                position = self.labels[step.next]
            return position

        def following(position: int) -> tuple[int, ...]:
            step = self.code[position]
            if isinstance(step, Do | Begin):
                return (target(position + 1),)
            if isinstance(step, Test):
                return target(self.labels[step.then]), target(self.labels[step.otherwise])
            if isinstance(step, Next):
                return target(self.labels[step.body]), target(self.labels[step.done])
            return (target(position),) if isinstance(step, Jump) else ()

        first = target(0)
        reached, waiting = {first}, [first]
        while waiting:
            for each in following(waiting.pop()):
                if each not in reached:
                    reached.add(each)
                    waiting.append(each)
        order = [first, *sorted(reached - {first})]
        number = {position: k for k, position in enumerate(order)}
        steps: list[Step] = []
        for position in order:
            step = self.code[position]
            to = [number[each] for each in following(position)]
            if isinstance(step, Do):
                step = Do(step.node, to[0], step.line)
            elif isinstance(step, Begin):
                step = Begin(step.node, step.iterator, to[0], step.line)
            elif isinstance(step, Test):
                step = Test(step.node, to[0], to[1], step.line)
            elif isinstance(step, Next):
                step = Next(step.target, step.iterator, to[0], to[1], step.line)
            elif isinstance(step, Jump):
                step = Jump(to[0], step.line)
            steps.append(step)
        return tuple(steps)

    # --- names

    def name(self, name: str, scope: _Scope) -> str:
        """Return the steps' name for a name in the source; record where the name is defined."""
        known = scope.local.get(name)
        if known is not None:
            return known
        flat = name + scope.outside
        self.outside[flat] = Home(scope.owner, name)
        return flat

    def target_name(self, node: ast.Name, scope: _Scope) -> str:
        """Return the name that the steps use for an assigned name. Reject a variable of an outer
        scope."""
        if node.id not in scope.source.local:
            refuse(Reason.OUTER_NAME, node)
        return scope.local[node.id]

    def home(self, node: ast.expr | None, scope: _Scope) -> Home | None:
        """Return the home of a dotted name, or None if the loop may change the name's value."""
        if isinstance(node, ast.Attribute):
            home = self.home(node.value, scope)
            return home and replace(home, attributes=(*home.attributes, node.attr))
        if not isinstance(node, ast.Name):
            return None
        flat = scope.local.get(node.id)
        if flat is None:
            return Home(scope.owner, node.id)
        if flat in scope.static:
            return scope.static[flat]
        return None if flat in scope.stored or flat not in self.names else Home(-1, flat)

    def value(self, home: Home) -> Any:
        """Return the value at `home`.

        Return None if there is no value, or if it is an attribute of a vector or another operand.
        """
        try:
            value = replace(home, attributes=()).find(self.names, self.functions)
            for name in home.attributes:
                if isinstance(value, Operand):
                    return None
                value = getattr(value, name)
        except (KeyError, ValueError, AttributeError):
            return None
        return value

    def helper(self, node: ast.AST, scope: _Scope) -> tuple[FunctionType, Home] | None:
        """Return the function whose body replaces a call, and where the function is found.

        Return None if the call is not inlined.
        """
        home = self.home(node.func, scope) if isinstance(node, ast.Call) else None
        value: Any = home and self.value(home)
        if home is not None and isinstance(value, MethodType):
            # In `x.f()`, the method f must be bound to x. Otherwise the call contains no expression
            # for the first argument of f.
            if not home.attributes or value.__self__ is not self.value(home.holder):
                return None
            value = value.__func__
        function = original(value)
        return (function, home) if home and is_inlined(function) else None

    # --- expressions

    def traits(self, node: ast.AST, scope: _Scope) -> int:
        """Return the sum of the traits that an expression or a part of it has."""
        known = scope.traits.get(id(node))
        if known is not None and known[0] is node:
            return known[1]
        found = 0
        if isinstance(node, ast.BoolOp | ast.IfExp):
            found = _JUMPS
        elif isinstance(node, ast.Compare):
            found = _JUMPS if len(node.ops) > 1 else 0
        elif isinstance(node, ast.Attribute):
            found = _MUTATES if node.attr in _MUTATORS else 0
        elif isinstance(node, ast.NamedExpr) or self.helper(node, scope) is not None:
            found = _JUMPS | _EFFECTS
        for each in children(node):
            found |= self.traits(each, scope)
        scope.traits[id(node)] = node, found
        return found

    def has_jumps(self, node: ast.AST, scope: _Scope) -> bool:
        """Return whether an expression requires other steps before it can be evaluated."""
        return bool(self.traits(node, scope) & _JUMPS)

    def has_effects(self, node: ast.AST, scope: _Scope) -> bool:
        """Return whether the steps of an expression may change what the rest of the statement
        reads."""
        found = self.traits(node, scope)
        return bool(found & _EFFECTS) or found & (_JUMPS | _MUTATES) == _JUMPS | _MUTATES

    def lower(self, node: ast.expr, scope: _Scope) -> ast.expr:
        """Add the steps that an expression requires, and return the expression without jumps."""
        if type(node) in _REFUSED:
            refuse(Reason.SYNTAX, node, name=_REFUSED[type(node)])
        if isinstance(node, ast.Await | ast.Yield | ast.YieldFrom):
            refuse(Reason.GENERATOR, node, name=scope.source.name)
        if isinstance(node, ast.Constant):
            return node
        if isinstance(node, ast.Name):
            return ast.copy_location(ast.Name(self.name(node.id, scope), node.ctx), node)
        if isinstance(node, ast.Attribute):
            self.record_attribute(node, scope)
        if isinstance(node, ast.Lambda):
            return self.lambda_(node, scope)
        if isinstance(node, ast.BoolOp):
            return self.bool_op(node, scope)
        if isinstance(node, ast.IfExp):
            return self.if_expression(node, scope)
        if isinstance(node, ast.Compare) and len(node.ops) > 1:
            return self.chain(node, scope)
        if isinstance(node, ast.NamedExpr):
            name = self.target_name(node.target, scope)
            self.assign(name, self.lower(node.value, scope), node, scope)
            return ast.copy_location(ast.Name(name, ast.Load()), node)
        if isinstance(node, ast.Call):
            self.check_call(node, scope)
        if self.helper(node, scope) is not None:
            result = self.new_hidden_name()
            self.inline(node, scope, result)  # pyright: ignore[reportArgumentType]
            return ast.copy_location(ast.Name(result, ast.Load()), node)
        return self.rebuild(node, scope)

    def check_call(self, node: ast.Call, scope: _Scope) -> None:
        """Reject a call to a function that performs input or output or runs a whole algorithm."""
        home = self.home(node.func, scope)
        value = home and self.value(home)
        if any(value is each for each in _INPUT_OUTPUT):
            refuse(Reason.INPUT_OUTPUT, node)
        module = getattr(value, "__module__", None) or ""
        if isinstance(value, FunctionType) and module.startswith(_WHOLE) and not is_inlined(value):
            refuse(Reason.CALL, node)

    def rebuild(self, node: Any, scope: _Scope) -> Any:
        """Return a copy of an expression whose operands are lowered."""
        new = copy_node(node)
        slots: list[tuple[Any, Any, ast.expr]] = []
        for name, value in ast.iter_fields(node):
            if name == "func" and isinstance(value, ast.Attribute):
                # In `x.f()`, only x is an operand: looking up f has no side effects, so `x.f` is
                # not a step.
                self.record_attribute(value, scope)
                new.func = copy_node(value)
                slots.append((new.func, "value", value.value))
            elif isinstance(value, ast.expr):
                slots.append((new, name, value))
            elif isinstance(value, list):
                items: list[Any] = list(value)
                setattr(new, name, items)
                for k, item in enumerate(items):
                    if isinstance(item, ast.expr):
                        slots.append((items, k, item))
                    elif isinstance(item, ast.keyword):
                        items[k] = copy_node(item)
                        slots.append((items[k], "value", item.value))
        lowered = self.lower_all([child for _, _, child in slots], scope)
        for (holder, key, _), child in zip(slots, lowered, strict=True):
            if isinstance(holder, list):
                holder[key] = child
            else:
                setattr(holder, key, child)
        return new

    def lower_all(self, nodes: list[ast.expr], scope: _Scope) -> list[ast.expr]:
        """Lower expressions in the order in which Python evaluates them.

        If a later expression has effects, the values before it are assigned to hidden names first.
        """
        last = max((k for k, x in enumerate(nodes) if self.has_effects(x, scope)), default=-1)
        lowered: list[ast.expr] = []
        for k, node in enumerate(nodes):
            value = self.lower(node, scope)
            if k < last and not self.is_constant(value, nodes[k + 1 :], scope):
                value = self.assign_to_hidden_name(value, node, scope)
            lowered.append(value)
        return lowered

    def is_constant(self, value: ast.expr, later: list[ast.expr], scope: _Scope) -> bool:
        """Return whether the evaluation of later expressions cannot change an expression's
        value."""
        root = value
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name):
            if root.id in self.outside:
                return True
            assigned = {
                scope.local.get(each.target.id)
                for node in later
                for each in walk(node)
                if isinstance(each, ast.NamedExpr)
            }
            return root is value and root.id not in assigned
        return isinstance(value, ast.Constant | ast.Lambda)

    def assign_to_hidden_name(self, value: ast.expr, at: ast.AST, scope: _Scope) -> ast.expr:
        """Assign a value to a hidden name, and return the name."""
        name = self.new_hidden_name()
        self.assign(name, value, at, scope)
        return ast.copy_location(ast.Name(name, ast.Load()), at)

    def lambda_(self, node: ast.Lambda, scope: _Scope) -> ast.expr:
        """Return a lambda whose free variables have the names that the steps use."""
        args = node.args
        stars = [each for each in (args.vararg, args.kwarg) if each is not None]
        own = {each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs, *stars)}
        return self.rename(node, scope, own)

    def rename(self, node: Any, scope: _Scope, own: Container[str] = ()) -> Any:
        """Return a copy of an expression in which each name, unless it is in `own`, is replaced by
        the name that the steps use."""
        new = copy.deepcopy(node)
        for each in walk(new):
            if isinstance(each, ast.Name) and each.id not in own:
                each.id = self.name(each.id, scope)
        return new

    def bool_op(self, node: ast.BoolOp, scope: _Scope) -> ast.expr:
        result, end = self.new_hidden_name(), self.label()
        for k, operand in enumerate(node.values):
            self.assign(result, self.lower(operand, scope), operand, scope)
            if k < len(node.values) - 1:
                go_on = self.label()
                then, otherwise = (go_on, end) if isinstance(node.op, ast.And) else (end, go_on)
                read = ast.copy_location(ast.Name(result, ast.Load()), operand)
                self.code.append(Test(read, then, otherwise, self.line(operand, scope)))
                self.mark(go_on)
        self.jump(end, node, scope)
        self.mark(end)
        return ast.copy_location(ast.Name(result, ast.Load()), node)

    def if_expression(self, node: ast.IfExp, scope: _Scope) -> ast.expr:
        result, then, otherwise, end = (
            self.new_hidden_name(),
            self.label(),
            self.label(),
            self.label(),
        )
        self.test(node.test, then, otherwise, scope)
        self.mark(then)
        self.assign(result, self.lower(node.body, scope), node.body, scope)
        self.jump(end, node, scope)
        self.mark(otherwise)
        self.assign(result, self.lower(node.orelse, scope), node.orelse, scope)
        self.jump(end, node, scope)
        self.mark(end)
        return ast.copy_location(ast.Name(result, ast.Load()), node)

    def chain(self, node: ast.Compare, scope: _Scope) -> ast.expr:
        """Lower `a < b < c`. The steps evaluate b once, and c only if `a < b` is true."""
        result, end = self.new_hidden_name(), self.label()
        left = node.left
        parts = [*zip(node.ops, node.comparators, strict=True)]
        for k, (op, right) in enumerate(parts):
            if k:
                x, y = left, self.lower(right, scope)
            else:
                x, y = self.lower_all([left, right], scope)
            is_kept = isinstance(y, ast.Constant) or (
                isinstance(y, ast.Name) and y.id not in written_names(*node.comparators[k + 1 :])
            )
            if k < len(parts) - 1 and not is_kept:
                x = self.assign_to_hidden_name(x, node, scope)
                y = self.assign_to_hidden_name(y, right, scope)
            self.assign(result, ast.Compare(x, [op], [y]), node, scope)
            if k < len(parts) - 1:
                go_on = self.label()
                read = ast.copy_location(ast.Name(result, ast.Load()), node)
                self.code.append(Test(read, go_on, end, self.line(node, scope)))
                self.mark(go_on)
            left = y
        self.jump(end, node, scope)
        self.mark(end)
        return ast.copy_location(ast.Name(result, ast.Load()), node)

    def test(self, node: ast.expr, then: int, otherwise: int, scope: _Scope) -> None:
        """Add the steps that evaluate a condition and continue at one of two labels."""
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            self.test(node.operand, otherwise, then, scope)
        elif isinstance(node, ast.BoolOp):
            for operand in node.values[:-1]:
                go_on = self.label()
                if isinstance(node.op, ast.And):
                    self.test(operand, go_on, otherwise, scope)
                else:
                    self.test(operand, then, go_on, scope)
                self.mark(go_on)
            self.test(node.values[-1], then, otherwise, scope)
        elif isinstance(node, ast.IfExp):
            yes, no = self.label(), self.label()
            self.test(node.test, yes, no, scope)
            self.mark(yes)
            self.test(node.body, then, otherwise, scope)
            self.mark(no)
            self.test(node.orelse, then, otherwise, scope)
        elif isinstance(node, ast.Constant):
            self.jump(then if node.value else otherwise, node, scope)
        else:
            value = self.lower(node, scope)
            self.code.append(Test(value, then, otherwise, self.line(node, scope)))

    # --- statements

    def statements(self, body: Iterable[ast.stmt], scope: _Scope) -> None:
        for each in body:
            self.statement(each, scope)

    def statement(self, node: ast.stmt, scope: _Scope) -> None:
        with _locating(node, scope):
            if type(node) in _REFUSED:
                refuse(Reason.SYNTAX, node, name=_REFUSED[type(node)])
            method = getattr(self, f"on_{type(node).__name__.lower()}", None)
            if method is None:
                refuse(Reason.SYNTAX, node, name=f"a statement of the kind {type(node).__name__}")
            method(node, scope)

    def on_pass(self, node: ast.Pass, scope: _Scope) -> None:
        pass

    def on_global(self, node: ast.Global, scope: _Scope) -> None:
        pass

    on_nonlocal = on_global

    def on_expr(self, node: ast.Expr, scope: _Scope) -> None:
        if self.helper(node.value, scope) is not None:
            self.inline(node.value, scope, None)  # pyright: ignore[reportArgumentType]
        elif not isinstance(node.value, ast.Constant):
            self.do(ast.Expr(self.lower(node.value, scope)), node, scope)

    def on_assign(self, node: ast.Assign, scope: _Scope) -> None:
        value = self.lower(node.value, scope)
        if any(self.has_jumps(target, scope) for target in node.targets):
            value = self.assign_to_hidden_name(value, node, scope)
        targets = [self.target(target, scope) for target in node.targets]
        self.do(ast.Assign(targets, value), node, scope)

    def on_annassign(self, node: ast.AnnAssign, scope: _Scope) -> None:
        if node.value is not None:
            self.on_assign(ast.copy_location(ast.Assign([node.target], node.value), node), scope)

    def on_augassign(self, node: ast.AugAssign, scope: _Scope) -> None:
        if isinstance(node.target, ast.Name):
            target: Any = self.target(node.target, scope)
            value = self.lower(node.value, scope)
        else:
            target, value = self.target_and_value(node, scope)
        self.do(ast.AugAssign(target, node.op, value), node, scope)

    def target_and_value(self, node: ast.AugAssign, scope: _Scope) -> tuple[Any, ast.expr]:
        target: Any = copy_node(node.target)
        fields = ("value",) if isinstance(target, ast.Attribute) else ("value", "slice")
        parts = [getattr(target, name) for name in fields]
        *lowered, value = self.lower_all([*parts, node.value], scope)
        for name, part in zip(fields, lowered, strict=True):
            setattr(target, name, part)
        return target, value

    def on_delete(self, node: ast.Delete, scope: _Scope) -> None:
        for each in node.targets:
            self.do(ast.Delete([self.target(each, scope)]), node, scope)

    def target(self, node: ast.expr, scope: _Scope) -> Any:
        """Lower the target of an assignment or of `del`."""
        if isinstance(node, ast.Name):
            name = self.target_name(node, scope)
            return ast.copy_location(ast.Name(name, node.ctx), node)
        if isinstance(node, ast.Tuple | ast.List):
            new = copy_node(node)
            new.elts = [self.target(each, scope) for each in node.elts]
            return new
        if isinstance(node, ast.Starred):
            return ast.copy_location(ast.Starred(self.target(node.value, scope), node.ctx), node)
        return self.rebuild(node, scope)

    def on_if(self, node: ast.If, scope: _Scope) -> None:
        then, otherwise, end = self.label(), self.label(), self.label()
        self.test(node.test, then, otherwise, scope)
        self.mark(then)
        self.statements(node.body, scope)
        self.jump(end, node, scope)
        self.mark(otherwise)
        self.statements(node.orelse, scope)
        self.jump(end, node, scope)
        self.mark(end)

    def on_while(self, node: ast.While, scope: _Scope) -> None:
        done, end = self.label(), self.label()
        self.loop(node, scope, done, end)
        self.mark(done)
        self.statements(node.orelse, scope)
        self.jump(end, node, scope)
        self.mark(end)

    on_for = on_while

    def loop(self, node: Any, scope: _Scope, done: int, end: int) -> None:
        """Add the steps of a loop, which ends at the label `done`, or at `end` after a `break`."""
        body, head = self.label(), self.label()
        if isinstance(node, ast.While):
            self.mark(head)
            self.test(node.test, body, done, scope)
        else:
            iterator, line = self.new_hidden_name(), self.line(node, scope)
            self.code.append(Begin(self.lower(node.iter, scope), iterator, -1, line))
            self.mark(head)
            if isinstance(node.target, ast.Name | ast.Tuple):
                target = self.target(node.target, scope)
                self.code.append(Next(target, iterator, body, done, line))
            else:
                item, store = self.new_hidden_name(), self.label()
                self.code.append(Next(ast.Name(item, ast.Store()), iterator, store, done, line))
                self.mark(store)
                read = ast.copy_location(ast.Name(item, ast.Load()), node.target)
                self.do(ast.Assign([self.target(node.target, scope)], read), node, scope)
                self.jump(body, node, scope)
        self.mark(body)
        scope.loops.append((end, head))
        self.statements(node.body, scope)
        scope.loops.pop()
        self.jump(head, node, scope)

    def on_break(self, node: ast.Break, scope: _Scope) -> None:
        self.jump(scope.loops[-1][0], node, scope)

    def on_continue(self, node: ast.Continue, scope: _Scope) -> None:
        self.jump(scope.loops[-1][1], node, scope)

    def on_return(self, node: ast.Return, scope: _Scope) -> None:
        if scope.end is None:
            self.leave(node, scope)
            return
        value = node.value or ast.copy_location(ast.Constant(None), node)
        if scope.result is not None:
            self.assign(scope.result, self.lower(value, scope), node, scope)
        elif not isinstance(value, ast.Constant | ast.Name):
            self.do(ast.Expr(self.lower(value, scope)), node, scope)
        self.jump(scope.end, node, scope)

    def on_raise(self, node: ast.Raise, scope: _Scope) -> None:
        self.leave(node, scope)

    def on_assert(self, node: ast.Assert, scope: _Scope) -> None:
        holds, fails = self.label(), self.label()
        self.test(node.test, holds, fails, scope)
        self.mark(fails)
        kind = ast.Name("AssertionError", ast.Load())
        error = ast.Call(kind, [node.msg], []) if node.msg is not None else kind
        statement = ast.copy_location(ast.Raise(error, None), node)
        self.leave(ast.fix_missing_locations(statement), scope, node)
        self.mark(holds)

    def leave(self, node: ast.stmt, scope: _Scope, origin: ast.stmt | None = None) -> None:
        """Add the step that leaves the loop. Python then executes the statement."""
        helper = None if scope.end is None else scope.source
        statement = node if helper is None else self.rename(node, scope)
        self.places.append(Place(statement, helper, origin or node))
        self.code.append(Leave(len(self.places) - 1, self.line(node, scope)))

    # --- calls of helper functions

    def record_attribute(self, node: ast.Attribute, scope: _Scope) -> None:
        """Record an attribute that the steps read.

        Attributes of vectors and other operands, and of modules in `_CONSTANT`, are not recorded.
        """
        home = self.home(node, scope)
        root = home and self.value(replace(home, attributes=()))
        if home is None or isinstance(root, Operand):
            return
        if not isinstance(root, ModuleType) or root.__name__.partition(".")[0] not in _CONSTANT:
            self.attributes[home] = None

    def inline(self, call: ast.Call, scope: _Scope, result: str | None) -> None:
        """Add the steps of a call that is inlined, and assign its result to the name `result`."""
        found = self.helper(call, scope)
        assert found is not None
        function, home = found
        code = function.__code__
        if code in self.active:
            refuse(Reason.RECURSION, call, name=code.co_name)
        if code.co_flags & (
            inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
        ):
            refuse(Reason.GENERATOR, call, name=code.co_name)
        if any(isinstance(x, ast.Starred) for x in call.args) or any(
            x.arg is None for x in call.keywords
        ):
            refuse(Reason.SYNTAX, call, name="a call with * or **")
        try:
            source = source_of(function)
        except NotCompilable as error:
            error.node = call
            raise
        self.calls += 1
        local = {name: f"{name}@{self.calls}" for name in source.local}
        stored = frozenset(local.values())
        for name in self.shared_cells(function):
            local[name] = name
            if name in self.user_stored:
                stored |= {name}
        owner = self.owner(function, home)
        inner = _Scope(
            function,
            source,
            self.add_lines(source),
            local,
            self.suffix(owner),
            stored,
            owner,
            result=result,
            end=self.label(),
        )
        receiver: list[ast.expr] = []
        if isinstance(self.value(home), MethodType):
            receiver = [call.func.value]  # pyright: ignore[reportAttributeAccessIssue]
        self.bind(call, receiver, inner, scope)
        self.active.append(code)
        self.statements(source.node.body, inner)
        self.active.pop()
        if result is not None:
            self.assign(result, ast.Constant(None), call, scope)
        assert inner.end is not None
        self.jump(inner.end, call, scope)
        self.mark(inner.end)

    def owner(self, function: FunctionType, home: Home) -> int:
        """Return the index of a helper in `Loop.functions`. Add the helper if it is new."""
        is_method = isinstance(self.value(home), MethodType)
        helper = Helper(home, function.__code__, is_method)
        if helper not in self.helpers:
            self.helpers.append(helper)
            self.functions.append(function)
        return self.helpers.index(helper) + 1

    def shared_cells(self, function: FunctionType) -> list[str]:
        """Return the closure variables that a function shares with the user's function."""
        if function.__code__ not in self.user.__code__.co_consts:
            return []
        own = self.user.__code__.co_cellvars
        return [name for name in function.__code__.co_freevars if name in own]

    def suffix(self, owner: int) -> str:
        """Return the suffix for the names of a helper's globals. No two helpers have the same
        suffix."""
        name = self.functions[owner].__name__
        same = sum(each.__name__ == name for each in self.functions[1:owner])
        return f"@{name}.{same}" if same else f"@{name}"

    def bind(self, call: ast.Call, bound: list[ast.expr], inner: _Scope, scope: _Scope) -> None:
        """Assign the arguments of a call to the parameters of the function."""
        args = inner.source.node.args
        plain = [each.arg for each in (*args.posonlyargs, *args.args)]
        given = [*bound, *call.args]
        nodes = [*given, *(each.value for each in call.keywords)]
        values = self.lower_all(nodes, scope)
        wanted: dict[str, tuple[ast.expr, ast.expr | None]] = {}
        for k, (value, node) in enumerate(zip(values, nodes, strict=True)):
            if k >= len(given):
                name = call.keywords[k - len(given)].arg
                allowed = {each.arg for each in (*args.args, *args.kwonlyargs)}
                if name not in allowed or name in wanted:
                    self.refuse_arguments(call, inner)
                wanted[name] = value, node  # pyright: ignore[reportArgumentType]
            elif k < len(plain):
                wanted[plain[k]] = value, node
            elif args.vararg is None:
                self.refuse_arguments(call, inner)
        if args.kwarg is not None:
            refuse(Reason.SYNTAX, call, name="a call of a function with a parameter `**`")
        if args.vararg is not None:
            rest = values[len(plain) : len(given)]
            wanted[args.vararg.arg] = ast.Tuple(rest, ast.Load()), None
        stored = {
            name.id
            for part in inner.source.node.body
            for name in walk(part)
            if isinstance(name, ast.Name) and not isinstance(name.ctx, ast.Load)
        }
        defaults = (
            {each.arg for each in args.kwonlyargs}
            & set(
                inner.function.__kwdefaults__ or {}  # pyright: ignore[reportAttributeAccessIssue]
            )
            | set(plain[len(plain) - len(inner.function.__defaults__ or ()) :])
        )
        for name in [*plain, *(each.arg for each in args.kwonlyargs)]:
            if name in wanted:
                value, node = wanted[name]
                home = self.home(node, scope)
            elif name in defaults:
                flat, home = f"{name}={inner.outside}", Home(inner.owner, name, is_default=True)
                value = ast.copy_location(ast.Name(flat, ast.Load()), call)
                self.outside[flat] = home
            else:
                self.refuse_arguments(call, inner)
            # The loop may call a parameter or read its attributes, so record where a function or
            # another object that is not data is found.
            if name not in stored and home is not None and not _is_data(self.value(home)):
                inner.static[inner.local[name]] = home
            self.assign(inner.local[name], value, call, scope)
        if args.vararg is not None:
            name = args.vararg.arg
            self.assign(inner.local[name], wanted[name][0], call, scope)

    def refuse_arguments(self, call: ast.Call, inner: _Scope) -> NoReturn:
        text = f"the arguments do not fit the parameters of {inner.source.name}"
        refuse(Reason.FAILS, call, kind="TypeError", text=text)


def _is_data(value: Any) -> bool:
    return isinstance(value, (Operand, bool, int, float, list, NoneType))
