"""Test that public docstrings follow the Google format and agree with the code.

`PUBLIC` lists the public objects, and each test runs once per object. Sections have the format of
Sphinx's napoleon: a heading at the left margin, and indented entries `name: text`.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import doctest
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from typing import Any, get_overloads

import numpy as np
import pytest

import graphla as gl
from graphla import algorithms, expression, graph, ladder, plans, settings, sparse
from graphla.graph import views
from semirings import operators as op
from semirings import structures

pytestmark = pytest.mark.cpu


def members(owner: Any, prefix: str) -> dict[str, Any]:
    """Return the functions and classes that a module lists in `__all__`."""
    listed = {f"{prefix}.{name}": getattr(owner, name) for name in owner.__all__}
    return {name: thing for name, thing in listed.items() if callable(thing)}


def parts(*classes: type) -> dict[str, Any]:
    """Return the given classes and their public members, keyed by public names.

    A member that several classes inherit from the same base class is returned only once.
    """
    found: dict[str, Any] = {}
    seen: set[Any] = set()
    for each in classes:
        found[each.__name__] = each
        for name in dir(each):
            thing = getattr(each, name) if callable(getattr(each, name)) else vars_of(each)[name]
            ours = plain(thing) if callable(thing) or isinstance(thing, property) else None
            if name[0] == "_" or not getattr(ours, "__module__", "").startswith("graphla"):
                continue
            if ours not in seen:
                found[f"{each.__name__}.{name}"] = thing
            seen.add(ours)
    return found


def vars_of(cls: type) -> dict[str, Any]:
    """Return the raw attributes of a class and its bases, without applying descriptors."""
    return {name: thing for base in reversed(cls.__mro__) for name, thing in vars(base).items()}


def functions(owner: Any, prefix: str) -> dict[str, Any]:
    """Return the public functions that a module defines."""
    return {
        f"{prefix}.{name}": thing
        for name, thing in vars(owner).items()
        if inspect.isfunction(thing) and thing.__module__ == owner.__name__ and name[0] != "_"
    }


def plain(thing: Any) -> Any:
    """Return the function behind a decorator, a property or a class method."""
    if isinstance(thing, property):
        thing = thing.fget
    return inspect.unwrap(getattr(thing, "__func__", thing))


PUBLIC: dict[str, Any] = {
    **members(algorithms, "algorithms"),
    "closure": gl.closure,
    **parts(
        *(gl.Matrix, gl.Vector, gl.Scalar, gl.Graph, gl.Recorder),
        *(sparse.MatrixExpression, sparse.VectorExpression, sparse.ScalarExpression),
        *(sparse.Mask, expression.Updater, expression.InputMasked, expression.Assigner),
        *(graph.LabelledVector, graph.LabelledMatrix, graph.Labels, views.NodeView, views.EdgeView),
        *(gl.agg.Aggregator, gl.agg.TypedAggregator, plans.PlanReport, gl.datasets.Dataset),
        *(settings.Config, settings.Event, gl.io.ParseError),
    ),
    **{each.__name__: each for each in (op.UnaryOp, op.BinaryOp, op.IndexUnaryOp)},
    **{each.__name__: each for each in (structures.Monoid, structures.Semiring)},
    **{f"io.{name}": getattr(gl.io, name) for name in gl.io.__all__ if name.islower()},
    **functions(gl.generators, "generators"),
    **functions(gl.datasets, "datasets"),
    **functions(gl.agg, "agg"),
    **functions(gl.dtypes, "dtypes"),
    **{
        f"{owner.__name__}.{name}": getattr(owner, name)
        for owner in (gl.unary, gl.binary, gl.monoid, gl.semiring, gl.indexunary, gl.select)
        for name in ("from_string", "register_anonymous", "register_new")
    },
    "draw": gl.draw,
    "spy": gl.spy,
    "direction": gl.direction,
    **members(ladder, "ladder"),
    "ladder.Paths.sssp": ladder.Paths.sssp,
    "ladder.Prepared.bfs": ladder.Prepared.bfs,
}
"""Public functions, methods, properties and classes, keyed by their public names."""

ANY = re.compile(
    # an entry as a Python number, or a default value of any type
    r"(Matrix|Vector|Scalar)(Expression)?\.get"
    # a Matrix or a Vector, depending on the file or array
    r"|io\.(read|read_npz|from_\w+_sparse)"
    # objects of other libraries, which have no type information
    r"|io\.to_\w+"
    # typed and untyped operators of many classes; functions that create operators from parameters
    r"|semirings\.\w+\.(from_string|register_\w+)|agg\.\w+"
    # a NumPy or CuPy array
    r"|Vector\.to_dense"
    # labels of any type, or arguments that contain labels
    r"|Labels\.(vertices|pairs|number_keys|of)|Labelled\w+\.to"
)
"""Functions whose return annotation may be Any; a comment gives the reason for each."""

WITHOUT_EXAMPLES = {"algorithms.NoPath", "algorithms.ConvergenceError"}
"""Objects that need no example because the examples of other objects show them."""

UNREACHABLE = {name: {"DuplicateEntry"} for name in ("Updater.update", "InputMasked.update")}
"""For each function, the errors that its helpers can raise only for other callers.

These functions assign to all indices, so no index can occur twice.
"""

NEED_EXAMPLES = ("algorithms.", "closure", "draw", "spy", "direction", "Graph.from_")
"""Prefixes of objects that must have examples; the example of a class covers its methods."""

HELPERS = (
    "graphla.algorithms",
    "graphla.ladder",
    "graphla.operations.operation",
    "graphla.sparse.mask",
)
"""Packages of helper functions. If a public function calls a helper, the errors that the helper
raises count as errors of the public function."""

SECTIONS = ("Args", "Attributes", "Returns", "Yields", "Raises", "Examples", "References")


# --- reading --------------------------------------------------------------------------------------


def docstring(thing: Any) -> str:
    return inspect.cleandoc(thing.__doc__ or "")


def sections(thing: Any) -> dict[str, str]:
    """Return the text below each heading of a docstring, keyed by the heading."""
    pieces = re.split(rf"^({'|'.join(SECTIONS)}):$", docstring(thing), flags=re.MULTILINE)
    return dict(zip(pieces[1::2], map(textwrap.dedent, pieces[2::2]), strict=True))


def entries(text: str) -> dict[str, str]:
    """Return the entries `name: text` of a section, including continuation lines."""
    found = re.findall(r"^(\*{0,2}[\w.]+)(?: \([^)]*\))?:((?:.*\n?)(?:^ +.*\n?)*)", text, re.M)
    return {name: " ".join(words.split()) for name, words in found}


def parameters(thing: Any) -> list[str]:
    """Return the parameter names as they are written in the Args section, without self."""
    marks = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    listed = inspect.signature(plain(thing)).parameters.values()
    return [marks.get(each.kind, "") + each.name for each in listed if each.name not in _SELF]


_SELF = ("self", "cls")


def is_function(thing: Any) -> bool:
    return callable(thing) and not isinstance(thing, type)


def public(choose: Callable[[Any], bool]) -> Callable[[Callable[[str], None]], Any]:
    """Return a decorator that runs a test on each public object for which `choose` is true.

    The objects of one module or class form one test case. If the test fails, a note added to the
    error names the object.
    """
    owners: dict[str, list[str]] = {}
    for name, thing in PUBLIC.items():
        if choose(thing):
            owners.setdefault(name.partition(".")[0], []).append(name)

    def decorate(test: Callable[[str], None]) -> Any:
        def run(owner: str) -> None:
            for name in owners[owner]:
                try:
                    test(name)
                except Exception as error:
                    error.add_note(name)
                    raise

        run.__name__ = test.__name__
        return pytest.mark.parametrize("owner", owners)(run)

    return decorate


# --- finding errors -------------------------------------------------------------------------------


def errors(thing: Any) -> set[type[BaseException]]:
    """Return the errors in the `raise` statements of a function and of its helpers."""
    found: set[type[BaseException]] = set()
    options = getattr(thing, "graph_options", None)
    if options is not None:  # the algorithm's decorator checks the graph and the labels
        found |= {TypeError, gl.exceptions.DimensionMismatch}
        found |= {gl.exceptions.InvalidValue} if options.undirected or options.lengths else set()
        found |= {gl.exceptions.IndexOutOfBound} if options.vertices or options.pairs else set()
    waiting, seen = [plain(thing)], set()
    while waiting:
        function = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
        nodes = [node for part in getattr(tree, "body", []) for node in ast.walk(part)]
        caught = {id(each) for node in nodes for each in _caught(node)}
        for node in nodes:
            if isinstance(node, ast.Raise) and node.exc is not None:
                found |= _raised(node.exc, function)
            elif isinstance(node, ast.Call) and id(node) not in caught:
                called = _resolve(node.func, function)
                if inspect.isfunction(called) and _is_helper(called, function):
                    waiting.append(called)
    return found


def _caught(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes in the body of a `try` statement that has `except` clauses."""
    if isinstance(node, ast.Try) and node.handlers:
        for statement in node.body:
            yield from ast.walk(statement)


def _raised(node: ast.expr, function: Any) -> set[type[BaseException]]:
    """Return the class of a raised error.

    If a function creates the error, the class is the function's return annotation.
    """
    thing = _resolve(node.func if isinstance(node, ast.Call) else node, function)
    if inspect.isfunction(thing):
        thing = thing.__globals__.get(str(thing.__annotations__.get("return")))
    return {thing} if isinstance(thing, type) and issubclass(thing, BaseException) else set()


def _resolve(node: ast.expr, function: Any) -> Any:
    """Return the object that a name or module attribute refers to inside a function."""
    if isinstance(node, ast.Name):
        return function.__globals__.get(node.id, getattr(builtins, node.id, None))
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        owner = function.__globals__.get(node.value.id)
        return getattr(owner, node.attr, None) if inspect.ismodule(owner) else None
    return None


def _is_helper(called: Any, function: Any) -> bool:
    """Return whether a called function is a private helper of the caller."""
    if any(called is thing or called is plain(thing) for thing in PUBLIC.values()):
        return False
    if called.__name__ == "definition":
        return False
    return called.__module__ == function.__module__ or called.__module__.startswith(HELPERS)


def error_class(name: str) -> Any:
    for owner in (gl.exceptions, algorithms, gl.io, builtins):
        if hasattr(owner, name):
            return getattr(owner, name)
    return None


# --- tests ----------------------------------------------------------------------------------------


@public(lambda thing: True)
def test_a_docstring_begins_with_a_summary_line(name):
    first, *rest = docstring(PUBLIC[name]).split("\n")
    assert first.endswith("."), first
    assert not rest or not rest[0], "the second line must be blank"


@public(is_function)
def test_the_args_section_lists_the_parameters_of_the_signature(name):
    thing = PUBLIC[name]
    args = entries(sections(thing).get("Args", ""))
    assert list(args) == parameters(thing)
    assert all(args.values()), [each for each in args if not args[each]]


@public(lambda thing: isinstance(thing, type) and "__init__" in vars(thing))
def test_the_args_section_of_a_class_lists_the_parameters_of_its_constructor(name):
    thing = PUBLIC[name]
    if parameters(thing.__init__):
        heading = "Attributes" if is_dataclass(thing) else "Args"
        assert list(entries(sections(thing).get(heading, ""))) == parameters(thing.__init__)


@public(lambda thing: True)
def test_docstring_sections_are_in_the_order_of_the_style_guide(name):
    order = ("Args", "Attributes", "Returns", "Yields", "Raises", "Examples", "References")
    found = [order.index(title) for title in sections(PUBLIC[name]) if title in order]
    assert found == sorted(found)


@public(is_function)
def test_a_function_that_returns_a_value_has_a_returns_section(name):
    returned = inspect.signature(plain(PUBLIC[name])).return_annotation
    if returned not in (None, "None"):
        assert sections(PUBLIC[name]).keys() & {"Returns", "Yields"}


@public(is_function)
def test_the_return_annotation_is_a_specific_type(name):
    thing = plain(PUBLIC[name])
    for each in get_overloads(thing) or [thing]:
        returned = inspect.signature(each).return_annotation
        is_any = returned in (Any, "Any", "_Any", inspect.Signature.empty)
        assert not is_any or ANY.fullmatch(name)


@public(is_function)
def test_the_raises_section_lists_the_errors_that_the_code_raises(name):
    thing = PUBLIC[name]
    described = entries(sections(thing).get("Raises", ""))
    unknown = [each for each in described if error_class(each) is None]
    assert not unknown and all(described.values())
    classes = tuple(error_class(each) for each in described)
    missing = {each.__name__ for each in errors(thing) if not issubclass(each, classes)}
    assert missing <= UNREACHABLE.get(name, set())


def graphs() -> Iterator[Any]:
    """Yield graphs with four vertices, and arguments that some algorithms reject."""
    i, j = [0, 1, 1, 2, 2, 3, 3, 0], [1, 0, 2, 1, 3, 2, 0, 3]
    for value in (1, 0, -1, 5, 0.5, np.nan, -np.inf, np.inf, 1e308, 2**62, True):
        yield gl.Matrix.from_coo(i, j, value, nrows=4, ncols=4)
    yield gl.Matrix.from_coo(i, j, np.arange(8), nrows=4, ncols=4)
    yield gl.Matrix.from_coo([0, 1, 2], [1, 2, 0], -1, nrows=4, ncols=4)
    yield gl.Matrix.from_coo([0, 1], [1, 1], 2.5, nrows=4, ncols=4)
    yield from (gl.Matrix(int, n, n) for n in (0, 1, 4))
    yield from (gl.Matrix(int, 2, 3), gl.Vector(int, 4), [[0, 1], [1, 0]], None)
    yield gl.Graph.from_edges([(0, 1), (1, 2), (2, 3)], directed=True)


RIGHT: dict[str, Any] = {"source": 0, "sources": [0], "target": 3, "n": 0, "k": 3}
RIGHT |= {"communities": [{0, 1}, {2, 3}], "weight": True, "distance": True, "max_iter": 9}
RIGHT |= {"nodes": [0], "values": {0: 1.0, 1: 2.0, 2: 1.0, 3: 0.0}}
WRONG: tuple[Any, ...] = (-1, 99, 0.5, "least", [0, 99], {0: 1.0}, gl.Vector(bool, 3))


def calls(thing: Any) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield calls with valid arguments, and calls with exactly one wrong argument."""
    _, *others = inspect.signature(thing).parameters.values()
    needed = {each.name: RIGHT[each.name] for each in others if each.default is each.empty}
    for A in graphs():
        yield A, needed
        yield A, {each.name: RIGHT[each.name] for each in others if each.name in RIGHT}
    cycle = gl.Matrix.from_coo([0, 1, 1, 2, 2, 0], [1, 0, 2, 1, 0, 2], 2, nrows=4, ncols=4)
    for each in others:
        for value in WRONG:
            yield cycle, needed | {each.name: value}


@public(lambda thing: hasattr(thing, "graph_options"))
def test_every_error_raised_for_invalid_input_is_documented(name):
    thing = PUBLIC[name]
    described = entries(sections(thing)["Raises"])
    expected = tuple(error_class(each) for each in described)
    for A, given in calls(thing):
        with np.errstate(all="ignore"), contextlib.suppress(*expected):
            thing(A, **given)


@public(lambda thing: hasattr(thing, "_fields"))
def test_every_public_field_is_described(name):
    thing = PUBLIC[name]
    assert list(entries(sections(thing).get("Attributes", ""))) == list(thing._fields)


@public(is_function)
def test_docstring_examples_show_the_actual_output(name):
    text = sections(PUBLIC[name]).get("Examples", "")
    assert ">>>" in text or name in WITHOUT_EXAMPLES or not name.startswith(NEED_EXAMPLES)
    for library in ("networkx", "pandas", "scipy"):
        if f"import {library}" in text or f"from {library}" in text:
            pytest.importorskip(library)
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    said: list[str] = []
    doctest.DocTestRunner().run(test, out=said.append)
    assert not said, "".join(said)


@public(is_function)
def test_no_docstring_merely_refers_to_another_docstring(name):
    text = docstring(PUBLIC[name])
    found = re.findall(r"[Aa]s `\w+` otherwise|[Oo]therwise as `\w+`|[Ee]lse as `\w+`", text)
    assert not found


# --- tests of the functions above, which check docstrings -----------------------------------------


def sample(x: int, *rest: int, **more: int) -> int:
    """Return x.

    Args:
        x: a number.
        *rest: more numbers,
            on two lines.
        **more: options.

    Returns:
        int: x itself.
    """
    if x < 0:
        raise ValueError("x is below 0")
    return x


def test_sections_and_entries_are_parsed_as_napoleon_parses_them():
    assert list(sections(sample)) == ["Args", "Returns"]
    args = entries(sections(sample)["Args"])
    assert args == {"x": "a number.", "*rest": "more numbers, on two lines.", "**more": "options."}
    assert list(args) == parameters(sample)


def test_raise_statements_are_found_in_a_function_and_in_its_helpers():
    assert errors(sample) == {ValueError}
    assert gl.exceptions.InvalidValue in errors(algorithms.katz)  # `validation.real` raises it
    # `katz` raises this error, but a helper function creates it.
    assert algorithms.ConvergenceError in errors(algorithms.katz)
