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
import __future__

import ast
import copy
import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import or_
from types import CellType, CodeType, FunctionType
from typing import Any

from graphla.program.flow import After, flatten, read_names, stored_names
from graphla.program.reasons import NotCompilable
from graphla.program.source import Source, class_of, source_of

RUNTIME = ".jit"
"""The closure variable of the new function that has the attributes `loops` and `locals`."""

NESTED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


@dataclass(frozen=True, slots=True)
class Site:
    """A loop of a function.

    Attributes:
        node: the loop in the source.
        outer: the index of the innermost loop around it, or -1.
        inputs: the local variables that the loop may read.
        outputs: the local variables that it may assign and that Python may read afterwards.
        statements: the statements in the loop at which it may be left: `return`, `raise`, `assert`.
        after: what Python may read after the loop.
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
    """Return the loops of a function, outer loops first, without those of inner functions."""
    source = source_of(function)
    sites: list[Site] = []

    def visit(node: ast.AST, outer: int, is_guarded: bool) -> None:
        if isinstance(node, ast.For | ast.While):
            sites.append(_site(function, source, node, outer, is_guarded))
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
    function: FunctionType,
    source: Source,
    node: ast.For | ast.While,
    outer: int,
    is_guarded: bool,
) -> Site:
    local, shared = source.local, source.shared
    stored = stored_names(node) & local
    parts = (*((node.target, node.iter) if isinstance(node, ast.For) else (node.test,)), *node.body)
    outside = None if is_guarded else _names_after_loops(source)[id(node)]
    if outside is None:
        outside = _names_read_outside(source.node, parts)
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
    try:
        live = flatten(node, function, {}, after).live[0] | shared
    except NotCompilable:
        live = frozenset[str]().union(*map(read_names, parts)) | (stored & always)
    return Site(
        node=node,
        outer=outer,
        inputs=tuple(sorted(live & (local | frozenset(source.free)))),
        outputs=tuple(sorted(stored & (read_later | live if outer >= 0 else read_later))),
        statements=statements,
        after=after,
        is_guarded=is_guarded,
    )


def _names_read_outside(function: ast.AST, parts: tuple[ast.AST, ...]) -> frozenset[str]:
    """Return the names that a function reads or deletes outside of some parts of it."""
    inside = {id(each) for part in parts for each in ast.walk(part)}
    found: set[str] = set()
    for each in ast.walk(function):
        if id(each) in inside:
            continue
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Store):
            found.add(each.id)
        elif isinstance(each, ast.AugAssign) and isinstance(each.target, ast.Name):
            found.add(each.target.id)
    return frozenset(found)


@lru_cache(maxsize=64)
def _names_after_loops(source: Source) -> dict[int, frozenset[str] | None]:
    """Return the names that may be read after each loop, by the loop's id.

    The value is None for a loop inside a `try`, `with` or `match` statement.
    """
    liveness = _Liveness(source.node)
    liveness.block(source.node.body, frozenset(), (frozenset(), frozenset()))
    return liveness.after


class _Liveness:
    """Finds the names that a function may read after each of its loops.

    Each method returns the names that are live before some statements. `live` are the names that
    are live after the statements, and `exits` the names that are live after a `break` and after a
    `continue`.
    """

    def __init__(self, function: ast.AST):
        loops = [each for each in ast.walk(function) if isinstance(each, ast.For | ast.While)]
        self.after: dict[int, frozenset[str] | None] = {id(each): None for each in loops}

    def block(
        self,
        statements: list[ast.stmt],
        live: frozenset[str],
        exits: tuple[frozenset[str], frozenset[str]],
    ) -> frozenset[str]:
        for each in reversed(statements):
            live = self.statement(each, live, exits)
        return live

    def statement(
        self, node: ast.stmt, live: frozenset[str], exits: tuple[frozenset[str], frozenset[str]]
    ) -> frozenset[str]:
        if isinstance(node, ast.Break | ast.Continue):
            return exits[isinstance(node, ast.Continue)]
        if isinstance(node, ast.Return | ast.Raise):
            return read_names(node)
        if isinstance(node, ast.If):
            either = self.block(node.body, live, exits) | self.block(node.orelse, live, exits)
            return read_names(node.test) | either
        if isinstance(node, ast.For | ast.While):
            return self.loop(node, live, exits)
        targets: list[ast.expr] = []
        if isinstance(node, ast.Assign | ast.Delete):
            targets = node.targets
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets = [node.target]
        elif not isinstance(node, ast.Expr | ast.AugAssign | ast.Assert | ast.Pass):
            live = live.union(*exits)  # a compound statement: any part of it may run
        return (live - _assigned(targets)) | read_names(node)

    def loop(
        self,
        node: ast.For | ast.While,
        live: frozenset[str],
        exits: tuple[frozenset[str], frozenset[str]],
    ) -> frozenset[str]:
        done = self.block(node.orelse, live, exits)
        self.after[id(node)] = (self.after[id(node)] or frozenset()) | live | done
        head = done
        while True:
            body = self.block(node.body, head, (live, head))
            if isinstance(node, ast.For):
                new = head | (body - _assigned([node.target])) | read_names(node.target)
            else:
                new = head | body | read_names(node.test)
            if new == head:
                return head | read_names(node.iter) if isinstance(node, ast.For) else head
            head = new


def _assigned(targets: list[ast.expr]) -> frozenset[str]:
    """Return the names that an assignment to these targets always replaces."""
    return frozenset(
        each.id
        for target in targets
        for each in ast.walk(target)
        if isinstance(each, ast.Name) and not isinstance(each.ctx, ast.Load)
    )


def _children(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the children of a node, except those in inner functions and classes."""
    if not isinstance(node, NESTED):
        yield from ast.iter_child_nodes(node)


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all nodes below it, except those in inner functions and classes."""
    yield node
    for each in _children(node):
        yield from _own_nodes(each)


class _Rewriter(ast.NodeTransformer):
    """Replaces the loops of a function. `number` maps the id of a loop's node to its index."""

    def __init__(self, sites: list[Site], number: dict[int, int]):
        self.sites = sites
        self.number = number

    def visit_FunctionDef(self, node: Any) -> Any:
        return node

    visit_AsyncFunctionDef = visit_ClassDef = visit_Lambda = visit_FunctionDef

    def visit_While(self, node: Any) -> Any:
        k = self.number[id(node)]
        site = self.sites[k]
        rest = self.body(node.orelse)
        node.body, node.orelse = self.body(node.body), []
        r, p, u, jit = (_named(name) for name in (f".r{k}", f".p{k}", f".u{k}", RUNTIME))
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

    visit_For = visit_While

    def body(self, statements: list[ast.stmt]) -> list[ast.stmt]:
        new: list[ast.stmt] = []
        for each in statements:
            changed = self.visit(each)
            new.extend(changed if isinstance(changed, list) else [changed])
        return new


def _leave(node: ast.stmt) -> ast.stmt:
    """Return the statement that Python executes when the loop is left at `node`."""
    if not isinstance(node, ast.Assert):
        return copy.deepcopy(node)
    kind: ast.expr = ast.Name("AssertionError", ast.Load())
    error = ast.Call(kind, [copy.deepcopy(node.msg)], []) if node.msg is not None else kind
    return ast.fix_missing_locations(ast.copy_location(ast.Raise(error, None), node))


_PREFIX = "GRAPHLA_JIT_"


def _named(name: str) -> str:
    """Return an identifier that encodes a name. `_statements` decodes it."""
    return name if name.isidentifier() else _PREFIX + name.encode().hex()


def _statements(text: str, at: ast.stmt) -> list[ast.stmt]:
    """Parse statements, and give them the position at which a loop begins."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
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
    node = copy.deepcopy(source.node)
    copied = {
        id(old): id(new)
        for old, new in zip(ast.walk(source.node), ast.walk(node), strict=True)
        if isinstance(old, ast.For | ast.While)
    }
    number = {copied[id(site.node)]: k for k, site in enumerate(sites)}
    node.body = _Rewriter(sites, number).body(node.body)
    node.decorator_list = []
    node.returns = None
    node.args = _without_values(node.args)
    outer = [name for name in code.co_freevars if name != "__class__"]
    factory: Any = ast.parse("def factory(): pass").body[0]
    factory.args.args = [ast.arg(name) for name in (RUNTIME, *outer)]
    inner: list[Any] = [node]
    if "__class__" in code.co_freevars:  # `super()` needs a class around the function
        inner = [ast.ClassDef(class_of(code), [], [], inner, [])]
        if "type_params" in ast.ClassDef._fields:
            inner[0].type_params = []
    # The name of the function, or of the class around it, must not become a local variable here.
    defined = {each.name for each in (node, *inner)}.difference(outer)
    factory.body = [*([ast.Global(sorted(defined))] if defined else []), *inner]
    module = ast.fix_missing_locations(ast.Module([factory], []))
    flags = code.co_flags & _FUTURE
    compiled = compile(module, code.co_filename, "exec", flags, dont_inherit=True)
    new = next(each for each in _codes(compiled) if each.co_name == code.co_name and _is_def(each))
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
    """Replace the beginning of the qualified names of a function and of all that it defines."""

    def change(x: Any) -> Any:
        if isinstance(x, CodeType):
            return _qualify(x, before, after)
        # A class stores its qualified name as a constant.
        is_name = isinstance(x, str) and x.startswith(f"{before}.<locals>.")
        return after + x.removeprefix(before) if is_name else x

    name = after + code.co_qualname.removeprefix(before)
    return code.replace(co_qualname=name, co_consts=tuple(map(change, code.co_consts)))


_FUTURE = reduce(or_, (getattr(__future__, x).compiler_flag for x in __future__.all_feature_names))
"""The bits of a code object's flags that `from __future__ import ...` sets."""


def _without_values(args: ast.arguments) -> ast.arguments:
    """Return the parameters without annotations and with empty defaults."""
    new = copy.deepcopy(args)
    for each in (*new.posonlyargs, *new.args, *new.kwonlyargs, new.vararg, new.kwarg):
        if each is not None:
            each.annotation = None
    new.defaults = [ast.Constant(None) for _ in new.defaults]
    new.kw_defaults = [each and ast.Constant(None) for each in new.kw_defaults]
    return new


def _codes(code: CodeType) -> Iterator[CodeType]:
    """Yield the code objects in a code object, outer ones first."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from _codes(each)


def _is_def(code: CodeType) -> bool:
    return bool(code.co_flags & inspect.CO_OPTIMIZED)
