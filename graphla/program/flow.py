"""Flatten the syntax tree of a loop into steps: simple statements and jumps.

`flatten` turns a loop into a list of steps. Each step names the steps that may follow it, so the
tracer needs no stack of loops and conditions. Python helper functions that the loop calls are
inlined here. The rest of a step is evaluated from left to right without any jump:

- A condition with `and`, `or` or `not` is several `Test` steps.
- Elsewhere, `and`, `or`, `x if c else y` and a chained comparison become `Test` steps and
  assignments of a hidden name.
- A call of a helper function becomes the steps of its body, with other names for its variables,
  after assignments of the arguments to its parameters. Its result is a hidden name. What Python
  evaluates before the call is assigned to hidden names first, so a hidden name may also refer to
  an expression, a mask, or the left side of `<<`.
- `x := value` becomes an assignment before the rest of the statement.
- `assert c, text` is a `Test` and a place at which the loop is left.
- `a = b = value` remains one assignment with two targets.

Names. The user's local variables keep their names. All other names contain a character that is
not allowed in an identifier:

- `.1`, `.2`: hidden names. The steps assign them before they read them.
- `x@2`: the variable x of the second inlined call.
- `x@f`: the global or closure variable x of the helper function f (`x@f.1` if two helpers have
  this name).
"""

from __future__ import annotations

import ast
import builtins
import copy
import inspect
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import CodeType, FunctionType, MethodType, ModuleType, NoneType
from typing import Any, NoReturn

from graphla.expression import Operand
from graphla.program.reasons import NotCompilable, Reason, refuse
from graphla.program.source import Source, is_inlined, original, source_of

# --- steps ------------------------------------------------------------------------------------
# The attribute `line` of a step is the number of its line in `Loop.source`, from 1.


@dataclass(frozen=True, slots=True)
class Do:
    """Execute a simple statement, and continue with the step `next`.

    `node` is an `ast.Assign`, `AugAssign`, `AnnAssign` with a value, `Expr` or `Delete`. A
    constant in it may be any Python object that the tracer knows as a static value, such as None.
    """

    node: ast.stmt
    next: int
    line: int


@dataclass(frozen=True, slots=True)
class Test:
    """Continue with the step `then` if the expression is true, else with `otherwise`."""

    node: ast.expr
    then: int
    otherwise: int
    line: int


@dataclass(frozen=True, slots=True)
class Begin:
    """Evaluate `node`, which a `for` iterates over, and assign an iterator to a hidden name."""

    node: ast.expr
    iterator: str
    next: int
    line: int


@dataclass(frozen=True, slots=True)
class Next:
    """Assign the iterator's next item to the target, and continue with the step `body`.

    If there are no more items, leave the target unchanged, and continue with the step `done`.
    """

    target: ast.expr
    iterator: str
    body: int
    done: int
    line: int


@dataclass(frozen=True, slots=True)
class Jump:
    """Continue with the step `next`: a `break`, a `continue`, or the end of a round."""

    next: int
    line: int


@dataclass(frozen=True, slots=True)
class Leave:
    """Leave the loop at a place: an index of `Loop.places`."""

    place: int
    line: int


Step = Do | Test | Begin | Next | Jump | Leave


@dataclass(frozen=True, slots=True)
class Place:
    """A place at which the loop can be left, and the statement that Python executes next.

    `statement` is the `return` or `raise` statement that Python then executes. It is None at two
    places. Place 0 is the end of the loop, after which Python executes the loop's `else`. Place 1
    is a `break`, after which Python skips the `else`.

    If the statement is a `raise` in an inlined function, `helper` is the source of this function,
    and the statement uses the names of the steps. `origin` is the statement in the source, which
    may be an `assert`.
    """

    statement: ast.stmt | None
    helper: Source | None = None
    origin: ast.stmt | None = None


@dataclass(frozen=True, slots=True)
class Home:
    """Where a value is found at each call of the user's function.

    Attributes:
        owner: the index in `Loop.functions` of the function that has the name as a closure
            variable, a global or a builtin, or as a parameter with a default; -1 for a local
            variable of the user's function.
        name: the name that the owner uses.
        is_default: whether it is the default of a parameter.
        attributes: attributes of the value with this name, such as ("A", "x") in `self.A.x`.
    """

    owner: int
    name: str
    is_default: bool = False
    attributes: tuple[str, ...] = ()

    def find(self, names: Mapping[str, Any], functions: Sequence[FunctionType]) -> Any:
        """Return the current value.

        Raise KeyError, ValueError or AttributeError if there is none.
        """
        if self.owner < 0:
            value = names[self.name]
        else:
            value = _value_of(functions[self.owner], self.name, self.is_default)
        for name in self.attributes:
            value = getattr(value, name)
        return value


def _value_of(function: FunctionType, name: str, is_default: bool) -> Any:
    """Return the value of a name outside a function, or the default of one of its parameters."""
    code = function.__code__
    if is_default:
        by_name = function.__kwdefaults__ or {}
        if name in by_name:
            return by_name[name]
        defaults = function.__defaults__ or ()
        return defaults[code.co_varnames.index(name) - code.co_argcount + len(defaults)]
    if name in code.co_freevars:
        cells = function.__closure__ or ()
        return cells[code.co_freevars.index(name)].cell_contents
    found = function.__globals__
    return found[name] if name in found else vars(builtins)[name]


@dataclass(frozen=True, slots=True)
class Helper:
    """A function whose calls are inlined: where it is found, and its code."""

    home: Home
    code: CodeType

    def find(self, names: Mapping[str, Any], functions: Sequence[FunctionType]) -> Any:
        """Return the function, or None if its name now refers to a function with other code."""
        try:
            value = self.home.find(names, functions)
        except (KeyError, ValueError, AttributeError):
            return None
        value = original(value.__func__ if isinstance(value, MethodType) else value)
        return value if getattr(value, "__code__", None) is self.code else None


@dataclass(frozen=True, slots=True)
class Part:
    """The lines of one function in `Loop.source`; `start` is the number of lines before them."""

    start: int
    source: Source


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop as steps. Step 0 comes first.

    Attributes:
        name: the name of the function and the line of the loop, for messages.
        steps: the steps.
        live: for each step, the names whose values this step or a later one may read, in the state
            before the step. A name that Python reads after the loop is live at a `Leave`. Names in
            `outside` are not listed.
        places: where the loop can be left.
        outside: the names that the steps read and never assign and that are not local variables of
            the user's function: globals, closure variables and builtins, both of the user's
            function and of the helpers. The argument `names` of `trace` has a value for each of
            them that exists. A local variable that has no value before the loop is missing from
            `names`.
        source: the lines of the user's function, then those of the inlined helpers.
        parts: the functions to which the lines in `source` belong.
        helpers: the inlined functions. `Home.owner` is 0 for the user's function and k for
            `helpers[k - 1]`.
        attributes: the dotted names that the steps read and whose root is not a vector, a matrix or
            a module of this library.
    """

    name: str
    steps: tuple[Step, ...]
    live: tuple[frozenset[str], ...]
    places: tuple[Place, ...]
    outside: Mapping[str, Home]
    source: tuple[str, ...]
    parts: tuple[Part, ...]
    helpers: tuple[Helper, ...]
    attributes: tuple[Home, ...]

    @property
    def assigned(self) -> frozenset[str]:
        """The names that the steps assign or delete."""
        written = [_written(root) for step in self.steps for root in _roots(step)]
        return frozenset[str]().union(*written)

    def functions(self, user: FunctionType, names: Mapping[str, Any]) -> list[FunctionType] | None:
        """Return the user's function and the helpers, or None if a helper has been replaced."""
        found = [user]
        for helper in self.helpers:
            function = helper.find(names, found)
            if function is None:
                return None
            found.append(function)
        return found

    def where(self, line: int) -> tuple[Source, int]:
        """Return the function that contains a line, and the number of the line in its file."""
        part = next(part for part in reversed(self.parts) if part.start < line or not part.start)
        return part.source, part.source.first + line - part.start - 1

    def step_of(self, node: ast.AST) -> Step | None:
        """Return the step that contains a node of the syntax tree, or None."""
        for step in self.steps:
            for root in _roots(step):
                if any(each is node for each in ast.walk(root)):
                    return step
        return None


def _roots(step: Step) -> Iterator[ast.AST]:
    """Yield the syntax trees of a step."""
    if isinstance(step, Do | Test | Begin):
        yield step.node
    elif isinstance(step, Next):
        yield step.target


# --- flattening ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class After:
    """Which names Python may read after the loop.

    Attributes:
        always: the names that may be read after any exit.
        at_return: the names that may be read after a `return` in the loop, in addition to the names
            in the `return` statement.
        is_repeated: whether an outer loop in Python may run this loop again.
    """

    always: frozenset[str]
    at_return: frozenset[str]
    is_repeated: bool


def flatten(
    loop: ast.For | ast.While, function: FunctionType, names: Mapping[str, Any], after: After
) -> Loop:
    """Return the steps of a loop.

    Args:
        loop: the loop's syntax tree, a part of `source_of(function).node`.
        function: the user's function.
        names: the values that local variables have when the loop begins. They decide which calls
            are inlined.
        after: the names that are read after the loop.

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
        outside: the suffix of the names of globals and closure variables; "" in the user's
            function.
        stored: the new names of the local variables that the steps assign.
        owner: the index of the function in `Loop.functions`.
        static: where the value of a parameter is found, for each parameter whose value is a
            function or another object that is not data.
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


_TOO_MANY = 20_000
"""The maximum number of steps of a loop after inlining. A longer loop is not compiled."""

_CONSTANT = ("graphla", "semirings", "math", "builtins", "numpy")
"""Modules whose attributes do not change."""

_INPUT_OUTPUT = (print, input, open)

_WHOLE = ("graphla.algorithms", "graphla.traversal", "graphla.io", "graphla.generators")
"""Packages whose functions run whole algorithms, so a compiled loop cannot call them."""

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
def _located(node: ast.stmt, scope: _Scope) -> Iterator[None]:
    """Add the file and the line of a statement to a NotCompilable that its flattening raises."""
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
        # The steps in the order of the source. Their targets are labels, which `link` replaces.
        # After a `Do` or `Begin`, the next step in the list follows.
        self.code: list[Step] = []
        self.labels: dict[int, int] = {}  # the position in `code` of each label
        self.hidden = 0
        self.calls = 0
        self.active: list[CodeType] = []
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
        with _located(loop, scope):
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
        live = _live(steps, left, self.outside)
        if after.is_repeated:
            again = live[0] & stored
            live = _live(steps, [names | again for names in left], self.outside)
        used = {name for step in steps for root in _roots(step) for name in read_names(root)}
        used |= {name for names in reads for name in names}
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
        ast.fix_missing_locations(node)
        self.code.append(Do(node, -1, self.line(at, scope)))

    def jump(self, label: int, node: ast.AST, scope: _Scope) -> None:
        self.code.append(Jump(label, self.line(node, scope)))

    def assign(self, name: str, value: ast.expr, at: ast.AST, scope: _Scope) -> None:
        self.do(ast.Assign([ast.Name(name, ast.Store())], value), at, scope)

    def new_hidden_name(self) -> str:
        self.hidden += 1
        return f".{self.hidden}"

    def add_lines(self, source: Source) -> int:
        """Add the lines of a function to those of the loop, and return where they start."""
        for part in self.parts:
            if part.source is source:
                return part.start
        start = len(self.lines)
        self.parts.append(Part(start, source))
        self.lines.extend(source.lines)
        return start

    def link(self) -> tuple[Step, ...]:
        """Replace labels by steps, and drop jumps and the steps that are never reached."""

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
        """Return the name that the steps use for a name in the source."""
        known = scope.local.get(name)
        if known is not None:
            return known
        flat = name + scope.outside
        self.outside[flat] = Home(scope.owner, name)
        return flat

    def target_name(self, node: ast.Name, scope: _Scope) -> str:
        if node.id not in scope.source.local:
            refuse(Reason.OUTER_NAME, node)
        return scope.local[node.id]

    def home(self, node: ast.expr | None, scope: _Scope) -> Home | None:
        """Return where the value of a dotted name is found, or None if the loop may change it."""
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
        function = original(value.__func__ if isinstance(value, MethodType) else value)
        return (function, home) if home and is_inlined(function) else None

    # --- expressions

    def has_jumps(self, node: ast.AST, scope: _Scope) -> bool:
        """Return whether an expression needs steps of its own before its evaluation."""
        return any(
            isinstance(each, ast.BoolOp | ast.IfExp | ast.NamedExpr)
            or (isinstance(each, ast.Compare) and len(each.ops) > 1)
            or self.helper(each, scope) is not None
            for each in ast.walk(node)
        )

    def has_effects(self, node: ast.AST, scope: _Scope) -> bool:
        """Return whether the steps of an expression may change what the rest of the statement
        reads."""
        every = [*ast.walk(node)]
        if any(isinstance(x, ast.NamedExpr) or self.helper(x, scope) is not None for x in every):
            return True
        changes = any(isinstance(x, ast.Attribute) and x.attr in _MUTATORS for x in every)
        return changes and self.has_jumps(node, scope)

    def lower(self, node: ast.expr, scope: _Scope) -> ast.expr:
        """Add the steps that an expression needs, and return the expression without jumps."""
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
        """Reject the call of a function for input or output, or of a whole algorithm."""
        home = self.home(node.func, scope)
        value = home and self.value(home)
        if any(value is each for each in _INPUT_OUTPUT):
            refuse(Reason.INPUT_OUTPUT, node)
        module = getattr(value, "__module__", None) or ""
        if isinstance(value, FunctionType) and module.startswith(_WHOLE) and not is_inlined(value):
            refuse(Reason.CALL, node)

    def rebuild(self, node: Any, scope: _Scope) -> Any:
        """Return a copy of an expression whose operands are lowered."""
        new = copy.copy(node)
        slots: list[tuple[Any, Any, ast.expr]] = []
        for name, value in ast.iter_fields(node):
            if name == "func" and isinstance(value, ast.Attribute):
                # The lookup of a method changes nothing, so only its object is an operand.
                self.record_attribute(value, scope)
                new.func = copy.copy(value)
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
                        items[k] = copy.copy(item)
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
        """Return whether the evaluation of later expressions cannot change the value."""
        root = value
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name):
            if root.id in self.outside:
                return True
            assigned = {
                scope.local.get(each.target.id)
                for node in later
                for each in ast.walk(node)
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
        """Return a lambda whose free names are the names of the steps."""
        args = node.args
        stars = [each for each in (args.vararg, args.kwarg) if each is not None]
        own = {each.arg for each in (*args.posonlyargs, *args.args, *args.kwonlyargs, *stars)}
        return self.rename(node, scope, own)

    def rename(self, node: Any, scope: _Scope, own: Container[str] = ()) -> Any:
        """Return a copy in which all names, except those in `own`, are the names of the steps."""
        new = copy.deepcopy(node)
        for each in ast.walk(new):
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
                isinstance(y, ast.Name) and not _assigns(y.id, node.comparators[k + 1 :])
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
        """Add the steps that continue at one of two labels, depending on a condition."""
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
        with _located(node, scope):
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
        target: Any = copy.copy(node.target)
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
            new = copy.copy(node)
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
        """Add the steps of a loop. `done` is the label of its `else`, and `end` follows a break."""
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
        """Add the step that leaves the loop, after which Python executes the statement."""
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
        """Add the steps of a call of a Python function."""
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
        """Return the index of a helper in `Loop.functions`; add it if it is new."""
        helper = Helper(home, function.__code__)
        if helper not in self.helpers:
            self.helpers.append(helper)
            self.functions.append(function)
        return self.helpers.index(helper) + 1

    def shared_cells(self, function: FunctionType) -> list[str]:
        """Return the closure variables of a function that are variables of the user's function."""
        if function.__code__ not in self.user.__code__.co_consts:
            return []
        own = self.user.__code__.co_cellvars
        return [name for name in function.__code__.co_freevars if name in own]

    def suffix(self, owner: int) -> str:
        """Return the suffix of the names of a helper's globals. Each helper has its own."""
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
            for name in ast.walk(part)
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
            # Record where a function or an object is found: the loop may call the parameter, or
            # read its attributes.
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


# --- liveness -----------------------------------------------------------------------------------


def read_names(node: ast.AST | None) -> frozenset[str]:
    """Return the names that must have a value: the names that a node reads or deletes."""
    if node is None:
        return frozenset()
    own: set[str] = set()
    names: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Store):
            names.add(each.id)
        elif isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
            names.add(each.target.id)
        elif isinstance(each, ast.arg):
            own.add(each.arg)  # the parameter of a lambda
    return frozenset(names - own)


def stored_names(loop: ast.For | ast.While) -> frozenset[str]:
    """Return the names that a loop, without its `else`, assigns or deletes."""
    head = loop.target if isinstance(loop, ast.For) else loop.test
    return frozenset[str]().union(*(_written(part) for part in (head, *loop.body)))


def _assigns(name: str, nodes: Sequence[ast.expr]) -> bool:
    """Return whether one of the expressions assigns a name by `:=`."""
    return any(
        isinstance(each, ast.NamedExpr) and each.target.id == name
        for node in nodes
        for each in ast.walk(node)
    )


def _written(node: ast.AST) -> frozenset[str]:
    """Return the names that a part of the syntax tree assigns or deletes."""
    return frozenset(
        each.id
        for each in ast.walk(node)
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
    )


def _live(
    steps: tuple[Step, ...], left: list[frozenset[str]], outside: Iterable[str]
) -> tuple[frozenset[str], ...]:
    """Return the names that are live before each step. `left` has the live names of each place."""
    empty: frozenset[str] = frozenset()
    ignored = frozenset(outside)
    before: list[list[int]] = [[] for _ in steps]
    uses: list[tuple[frozenset[str], frozenset[str]]] = []  # names read, names written
    for k, step in enumerate(steps):
        for each in successors(step):
            before[each].append(k)
        if isinstance(step, Do):
            uses.append((read_names(step.node), _written(step.node)))
        elif isinstance(step, Test):
            uses.append((read_names(step.node), empty))
        elif isinstance(step, Begin):
            uses.append((read_names(step.node), frozenset((step.iterator,))))
        elif isinstance(step, Next):
            uses.append((read_names(step.target) | {step.iterator}, _written(step.target)))
        else:
            uses.append((left[step.place] if isinstance(step, Leave) else empty, empty))
    live = [empty] * len(steps)
    waiting = [*range(len(steps))]
    while waiting:
        k = waiting.pop()
        step, (read, written) = steps[k], uses[k]
        if isinstance(step, Next):
            # The target is assigned only if there is another item.
            after = (live[step.body] - written) | live[step.done]
        else:
            after = empty.union(*(live[each] for each in successors(step))) - written
        now = (after | read) - ignored
        if now != live[k]:
            live[k] = now
            waiting.extend(before[k])
    return tuple(live)


def successors(step: Step) -> tuple[int, ...]:
    """Return the steps that may follow a step."""
    if isinstance(step, Test):
        return step.then, step.otherwise
    if isinstance(step, Next):
        return step.body, step.done
    return () if isinstance(step, Leave) else (step.next,)
