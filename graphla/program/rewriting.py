"""Rewrite a function so that each loop first tries to run its compiled form.

In the new function, a loop

    while test:
        body
    else:
        rest

is replaced by

    try:
        r = (a, b)                  # the variables that the loop may read
    except NameError:               # one of them has no value
        r = locals()
    r = loops[3](r)                 # runs the compiled loop, or returns None
    p = 1                           # place 1: skip the `else`
    if r is None:
        while test:
            body                    # its loops are replaced in the same way
        else:
            p = 0
    elif len(r) == 1:
        raise r[0].pop_error()
    else:
        p, b, c, u = r              # the place, and the variables that the loop assigns
        r = None
        if u is not None:           # some variables have no value, or an exception is raised
            if 'b' in u: del b
            ...
            if p < 0: raise u.pop_error()
    if p == 0:
        rest
    elif p == 2:
        return ...                  # a `return` or `raise` statement in the body

All new names contain a character that is not allowed in an identifier.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from types import CellType, CodeType, FunctionType
from typing import Any

from graphla.program.liveness import Liveness
from graphla.program.records import record
from graphla.program.source import Source, compile_function, parse, source_of
from graphla.program.steps import After
from graphla.program.syntax import read_names, stored_names, walk

RUNTIME = ".jit"
"""The closure variable of the new function whose value has the attributes `loops` and `locals`."""

NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)

BODIES = ("body", "orelse", "handlers", "finalbody", "cases")
"""The fields of `ast` statements that hold nested statements."""


@record
class Site:
    """A loop of a function.

    Attributes:
        node: the loop in the source.
        outer: the index of the innermost loop around it, or -1.
        inputs: the local variables that the loop may read.
        outputs: the local variables that it may assign and that Python may read afterwards.
        statements: the `return`, `raise` and `assert` statements in the loop, which may leave it.
        after: the names that Python may read after the loop.
        is_guarded: whether the loop is inside a `try` or `with` statement of the function, which
            may handle its exceptions.
    """

    node: ast.For | ast.While
    outer: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    statements: tuple[ast.stmt, ...]
    after: After
    is_guarded: bool


def find_sites(function: FunctionType) -> list[Site]:
    """Return the loops of a function, outer loops first, except loops of nested functions."""
    source = source_of(function)
    liveness = Liveness(source.node)
    liveness.block(source.node.body, frozenset(), (frozenset(), frozenset()))
    sites: list[Site] = []

    def visit(node: ast.AST, outer: int, is_guarded: bool) -> None:
        if isinstance(node, ast.For | ast.While):
            sites.append(_site(source, node, outer, is_guarded, liveness.after[id(node)]))
            inner = len(sites) - 1
            for each in node.body:
                visit(each, inner, is_guarded)
            for each in node.orelse:
                visit(each, outer, is_guarded)
            return
        is_guarded = is_guarded or isinstance(node, ast.Try | ast.TryStar | ast.With)
        for each in _children(node):
            visit(each, outer, is_guarded)

    for each in source.node.body:
        visit(each, -1, False)
    return sites


def _site(
    source: Source,
    node: ast.For | ast.While,
    outer: int,
    is_guarded: bool,
    outside: frozenset[str] | None,
) -> Site:
    """Return the `Site` of a loop. `outside` contains the names that may be read after the loop, or
    is None if they are unknown."""
    local, shared = source.local, source.shared
    stored = stored_names(node) & local
    if outside is None:
        outside = _names_read_outside(source.node, node)
    statements = tuple(
        each
        for part in node.body
        for each in _own_nodes(part)
        if isinstance(each, ast.Return | ast.Raise | ast.Assert)
    )
    always = local if source.captured else (local & outside) | shared
    read_later = always.union(*map(read_names, statements))
    after = After(
        always=stored & always,
        at_return=stored & (always if is_guarded or source.captured else shared),
        is_repeated=outer >= 0,
    )
    liveness = Liveness(node, at_return=after.at_return, at_raise=after.always)
    live = liveness.rounds(node, after.always, after.always) | shared
    return Site(
        node=node,
        outer=outer,
        inputs=tuple(sorted(live & (local | frozenset(source.free)))),
        outputs=tuple(sorted(stored & (read_later | live if outer >= 0 else read_later))),
        statements=statements,
        after=after,
        is_guarded=is_guarded,
    )


def _names_read_outside(function: ast.AST, loop: ast.For | ast.While) -> frozenset[str]:
    """Return the names that a function reads outside of a loop, or in the loop's `else`."""
    head = [loop.target, loop.iter] if isinstance(loop, ast.For) else [loop.test]
    inside = {id(each) for part in (*head, *loop.body) for each in walk(part)}
    found: set[str] = set()
    for each in walk(function):
        if id(each) in inside:
            continue
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Store):
            found.add(each.id)
        elif isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
            found.add(each.target.id)
    return frozenset(found)


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements directly in a statement, unless it defines a function or a class."""
    if not isinstance(node, NESTED):
        for name in BODIES:
            yield from getattr(node, name, ())


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a statement and all statements in it, without entering functions and classes."""
    yield node
    for each in _children(node):
        yield from _own_nodes(each)


class _Rewriter:
    """Replaces the loops of a function. `number` maps the id of a loop's node to its index."""

    def __init__(self, sites: list[Site], number: dict[int, int]):
        self.sites = sites
        self.number = number

    def body(self, statements: list[Any]) -> list[Any]:
        return [new for each in statements for new in self.statement(each)]

    def statement(self, node: Any) -> list[Any]:
        """Return the statements that replace a statement or a clause such as `except`."""
        if isinstance(node, ast.For | ast.While):
            return self.loop(node)
        if not isinstance(node, NESTED):
            for name in BODIES:
                if hasattr(node, name):
                    setattr(node, name, self.body(getattr(node, name)))
        return [node]

    def loop(self, node: Any) -> list[Any]:
        """Return the statements that replace a loop, as the module's docstring shows."""
        k = self.number[id(node)]
        site = self.sites[k]
        rest = self.body(node.orelse)
        node.body, node.orelse = self.body(node.body), []
        r, p, u, jit = (_encode(name) for name in (f".r{k}", f".p{k}", f".u{k}", RUNTIME))
        inputs = "".join(f"{name}, " for name in site.inputs)
        outputs = "".join(f"{name}, " for name in site.outputs)
        deletions = "".join(f"\n        if {x!r} in {u}: del {x}" for x in site.outputs)
        new = _statements(
            f"""
try: {r} = ({inputs})
except NameError: {r} = {jit}.locals()
{r} = {jit}.loops[{k}]({r})
{p} = 1
if {r} is None: pass
elif {r}.__len__() == 1: raise {r}[0].pop_error()
else:
    {p}, {outputs}{u} = {r}
    {r} = None
    if {u} is not None:{deletions}
        if {p} < 0: raise {u}.pop_error()
""",
            node,
        )
        new[-1].body = [node]  # pyright: ignore[reportAttributeAccessIssue]
        cases = [(2 + j, [_leave(each)]) for j, each in enumerate(site.statements)]
        if rest:
            node.orelse = _statements(f"{p} = 0", node)
            cases.insert(0, (0, rest))
        following: list[ast.stmt] = []
        for place, body in reversed(cases):
            test: Any = _statements(f"if {p} == {place}: pass", node)[0]
            test.body, test.orelse = body, following
            following = [test]
        return [*new, *following]


def _leave(node: ast.stmt) -> ast.stmt:
    """Return the statement that Python executes when the loop is left at `node`."""
    if not isinstance(node, ast.Assert):
        return node
    kind: ast.expr = ast.Name("AssertionError", ast.Load())
    error = ast.Call(kind, [node.msg], []) if node.msg is not None else kind
    return ast.fix_missing_locations(ast.copy_location(ast.Raise(error, None), node))


_PREFIX = "GRAPHLA_JIT_"


def _encode(name: str) -> str:
    """Return an identifier that encodes a name. `_statements` decodes it."""
    return name if name.isidentifier() else _PREFIX + name.encode().hex()


def _statements(text: str, at: ast.stmt) -> list[ast.stmt]:
    """Parse statements, decode their names, and set their positions to a loop's first line."""
    tree = ast.parse(text)
    for node in walk(tree):
        if isinstance(node, ast.Name) and node.id.startswith(_PREFIX):
            node.id = bytes.fromhex(node.id.removeprefix(_PREFIX)).decode()
        if hasattr(node, "lineno"):
            place: Any = node
            place.lineno = place.end_lineno = at.lineno
            place.col_offset = place.end_col_offset = at.col_offset
    return tree.body


def rewrite(function: FunctionType, sites: list[Site], runtime: Any) -> FunctionType:
    """Return a copy of a function whose loops first call the items of `runtime.loops`.

    The copy has the same globals, closure variables, defaults and line numbers.
    """
    source = source_of(function)
    code = function.__code__
    node = parse(source.lines, code)
    copied = {
        id(old): id(new)
        for old, new in zip(walk(source.node), walk(node), strict=True)
        if isinstance(old, ast.For | ast.While)
    }
    number = {copied[id(site.node)]: k for k, site in enumerate(sites)}
    node.body = _Rewriter(sites, number).body(node.body)
    new = compile_function(node, code, RUNTIME)
    new = _qualify(new, new.co_qualname, code.co_qualname)
    cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
    cells[RUNTIME] = CellType(runtime)
    made = FunctionType(
        new,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells[name] for name in new.co_freevars),
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__qualname__ = function.__qualname__
    made.__module__ = function.__module__
    made.__doc__ = function.__doc__
    return made


def _qualify(code: CodeType, before: str, after: str) -> CodeType:
    """Replace a prefix in the qualified names of a function and of everything that it defines."""

    def change(x: Any) -> Any:
        if isinstance(x, CodeType):
            return _qualify(x, before, after)
        # A class stores its qualified name as a constant.
        is_name = isinstance(x, str) and x.startswith(f"{before}.<locals>.")
        return after + x.removeprefix(before) if is_name else x

    name = after + code.co_qualname.removeprefix(before)
    return code.replace(co_qualname=name, co_consts=tuple(map(change, code.co_consts)))
