"""Define the steps of a loop: the simple statements and jumps into which `flow` divides the loop.

The user's local variables keep their names in the steps. All other names contain a character that
is not allowed in an identifier:

- `.1`, `.2`: hidden names. The steps assign them before they read them.
- `x@2`: the variable x of the second inlined call.
- `x@f`: the global or closure variable x of the helper function f (`x@f.1` if two helpers have
  this name).

The attribute `line` of a step is the number of its line in `Loop.source`, from 1.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType, FunctionType, MethodType
from typing import Any

from graphla.program.records import record
from graphla.program.source import Source, original
from graphla.program.syntax import walk, written_names


@record
class Do:
    """Execute a simple statement, and continue with the step `next`.

    `node` is an `ast.Assign`, `AugAssign`, `AnnAssign` with a value, `Expr` or `Delete`. A constant
    in `node` may be any Python object that the tracer can treat as a `Static`, such as None.
    """

    node: ast.stmt
    next: int
    line: int


@record
class Test:
    """Continue with the step `then` if the expression is true, else with `otherwise`."""

    node: ast.expr
    then: int
    otherwise: int
    line: int


@record
class Begin:
    """Evaluate the iterable of a `for`, and assign an iterator over it to a hidden name."""

    node: ast.expr
    iterator: str
    next: int
    line: int


@record
class Next:
    """Assign the iterator's next item to the target, and continue with the step `body`.

    If there are no more items, leave the target unchanged, and continue with the step `done`.
    """

    target: ast.expr
    iterator: str
    body: int
    done: int
    line: int


@record
class Jump:
    """Continue with the step `next`, as at a `break`, a `continue` or the end of the loop body."""

    next: int
    line: int


@record
class Leave:
    """Leave the loop. `place` is an index of `Loop.places`."""

    place: int
    line: int


Step = Do | Test | Begin | Next | Jump | Leave


@record
class Place:
    """A place at which the loop can be left, and the statement that Python executes next.

    Place 0 is the end of the loop: Python then executes the loop's `else`. Place 1 is a `break`:
    Python then skips the `else`. At both places, `statement` is None. At all other places,
    `statement` is the `return` or `raise` statement that Python then executes.

    If the statement is a `raise` in an inlined function, `helper` is the source of this function,
    and the names in the statement are those that the steps use. `origin` is the statement in the
    source, which may be an `assert`.
    """

    statement: ast.stmt | None
    helper: Source | None = None
    origin: ast.stmt | None = None


@record
class Home:
    """The place at which each call of the user's function finds a value.

    Attributes:
        owner: the index in `Loop.functions` of the function in which the name is a closure
            variable, a global, a builtin, or a parameter with a default; -1 if the name is a local
            variable of the user's function.
        name: the name in the source of this function.
        is_default: whether the value is the default of a parameter.
        attributes: the attributes to look up, such as ("A", "x") for `self.A.x`.
    """

    owner: int
    name: str
    is_default: bool = False
    attributes: tuple[str, ...] = ()

    @property
    def holder(self) -> Home:
        """The home of the object to which the last attribute belongs."""
        return Home(self.owner, self.name, self.is_default, self.attributes[:-1])

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
    """Return the value that a function reads by `name`: a closure variable, a global or a built-in.

    If `is_default`, `name` is a parameter of the function, and the result is its default value.
    """
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


@record
class Helper:
    """A function whose calls are inlined.

    Attributes:
        home: where the function is found.
        code: the function's code.
        is_method: whether it is a method, bound to the object at `home.holder`.
    """

    home: Home
    code: CodeType
    is_method: bool = False

    def find(self, names: Mapping[str, Any], functions: Sequence[FunctionType]) -> Any:
        """Return the function, or None if its name now refers to a function with other code."""
        try:
            value = self.home.find(names, functions)
            holder = self.home.holder.find(names, functions)
        except (KeyError, ValueError, AttributeError):
            return None
        if isinstance(value, MethodType) != self.is_method:
            return None
        if self.is_method:
            if value.__self__ is not holder:
                return None
            value = value.__func__
        value = original(value)
        return value if getattr(value, "__code__", None) is self.code else None


@record
class Part:
    """The lines of one function in `Loop.source`. `start` is the number of lines before them."""

    start: int
    source: Source


@record
class Loop:
    """A loop as steps. Step 0 comes first.

    Attributes:
        name: the name of the function and the line of the loop, for messages.
        steps: the steps.
        live: for each step, the names that are live before it: this step or a later one may read
            their values. A name that Python may read after the loop is live at a `Leave`. Names in
            `outside` are omitted.
        places: where the loop can be left.
        outside: maps the globals, closure variables and builtins that the steps read to their
            homes, both for the user's function and for the helpers. The steps never assign these
            names. The argument `names` of `trace` contains their values, except for names that do
            not exist. The argument `names` also lacks the local variables that have no value before
            the loop.
        source: the lines of the user's function, then those of the inlined helpers.
        parts: the functions to which the lines in `source` belong.
        helpers: the inlined functions. `Home.owner` is 0 for the user's function and k for
            `helpers[k - 1]`.
        attributes: the dotted names that the steps read, except those whose root is a vector, a
            matrix, or a module whose attributes do not change.
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
        return written_names(*(root for step in self.steps for root in roots(step)))

    def where(self, line: int) -> tuple[Source, int]:
        """Return the function that contains a line, and the number of the line in its file."""
        part = next(part for part in reversed(self.parts) if part.start < line or not part.start)
        return part.source, part.source.first + line - part.start - 1

    def step_of(self, node: ast.AST) -> Step | None:
        """Return the step that contains a node of the syntax tree, or None."""
        for step in self.steps:
            for root in roots(step):
                if any(each is node for each in walk(root)):
                    return step
        return None


@record
class Reads:
    """What a loop reads, in the order in which the values are described.

    Attributes:
        inputs: the local variables that are live before the first step.
        outside, helpers, attributes: as in `Loop`; `outside` contains pairs.
    """

    inputs: tuple[str, ...]
    outside: tuple[tuple[str, Home], ...]
    helpers: tuple[Helper, ...]
    attributes: tuple[Home, ...]

    def functions(self, user: FunctionType, names: Mapping[str, Any]) -> list[FunctionType] | None:
        """Return the user's function and the helpers, or None if a helper has been replaced."""
        found = [user]
        for helper in self.helpers:
            function = helper.find(names, found)
            if function is None:
                return None
            found.append(function)
        return found


def roots(step: Step) -> Iterator[ast.AST]:
    """Yield the syntax trees of a step."""
    if isinstance(step, Do | Test | Begin):
        yield step.node
    elif isinstance(step, Next):
        yield step.target


def successors(step: Step) -> tuple[int, ...]:
    """Return the steps that may follow a step."""
    if isinstance(step, Test):
        return step.then, step.otherwise
    if isinstance(step, Next):
        return step.body, step.done
    return () if isinstance(step, Leave) else (step.next,)


@record
class After:
    """The names that Python may read after the loop.

    Attributes:
        always: the names that may be read after any exit.
        at_return: the names that may be read after a `return` in the loop, in addition to the names
            in the `return` statement.
        is_repeated: whether this loop is inside an outer loop, which may run it again in Python.
    """

    always: frozenset[str]
    at_return: frozenset[str]
    is_repeated: bool
