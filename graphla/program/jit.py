"""`gl.jit`: run each loop of a function as one program.

The decorator returns a function whose loops first call a `_Loop` (see `rewriting`). At the first
call with values of new types, `_Loop` flattens and traces the loop, and an engine compiles the
program. Later calls with values of the same types only collect the arguments, run the program, and
write the results back.
"""

from __future__ import annotations

import ast
import builtins
import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from contextvars import ContextVar
from enum import Enum
from functools import wraps
from time import perf_counter
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, TypeVar, overload

import numpy as np

from graphla.backends import default_device
from graphla.compilers.numba import NotReady, without_compiling
from graphla.expression import Operand
from graphla.operations.accelerate.searches import record_levels
from graphla.program import ir, printing, running
from graphla.program.flow import flatten, locate
from graphla.program.keys import Description, Same
from graphla.program.reasons import NotCompilable, Reason, refuse
from graphla.program.rewriting import Site, find_sites, rewrite
from graphla.program.running import Arguments, Binding, Engine, Outcome, Path
from graphla.program.source import JITTED, Source, source_of
from graphla.program.steps import Home, Leave, Loop, Place, Reads
from graphla.program.stored_programs import Left, StoredPrograms, Unchanged
from graphla.settings import current, forced_direction, recorders
from graphla.sparse.vector import Vector
from semirings import exceptions
from semirings.dtypes import BOOL, FP64, DataType
from semirings.exceptions import GraphblasException

F = TypeVar("F", bound=Callable[..., Any])

IN_PYTHON = (
    "runs as Python, because its operands are small, config.compiled is False, or Numba is not "
    "installed. If it is compiled, it becomes:"
)

PLAIN = 50
"""On the CPU, the first calls of a library function run as Python if the matrix has fewer than
PLAIN * `config.compile_threshold` entries, because that takes less time than a compilation."""

PRICE = 2.0
"""The approximate time of a compilation in seconds, including the import of Numba."""

MOST_PROGRAMS = 64
"""The maximum number of programs kept per loop. Before a further program, all are dropped."""


@overload
def jit(function: F, *, fallback: bool = False) -> F: ...
@overload
def jit(function: None = None, *, fallback: bool = False) -> Callable[[F], F]: ...
def jit(function: Any = None, *, fallback: bool = False) -> Any:
    """Compile the loops of a function. Each loop runs as one program.

    The compiled function returns the same results as the original. On a GPU, each loop with graphla
    statements becomes one cooperative launch. On the CPU it becomes loops compiled by Numba. On the
    CPU, the loop runs as Python if Numba is not installed, if `config.compiled` is False, or if the
    operands are small.

    A loop without graphla statements runs as Python, and so does all code outside of loops. If
    loops are nested, the outermost loop that can be compiled is compiled. If an outer loop cannot
    be compiled, a warning names the statement that prevents it. The first call with arguments of
    new dtypes compiles the loop. Global variables are read again at each call.

    `f.explain(*args)` runs the function on copies of the vectors, and returns a text that shows
    which loops were compiled and how.

    Args:
        function: a Python function, whose source must be available.
        fallback: whether loops that cannot be compiled always run as Python, with a warning. By
            default, the call raises an error if no loop with graphla statements can be compiled.

    Returns:
        A function with the same signature, or a decorator if `function` is not given.

    Raises:
        NotCompilable: the function is a generator or a coroutine, or has no source. At a call: no
            loop with graphla statements can be compiled.
        TypeError: `function` is not a Python function.

    Examples:
        >>> import graphla as gl
        >>> from graphla import Vector, replace
        >>> from graphla.semiring import any_secondi
        >>> @gl.jit
        ... def bfs(A, source):
        ...     n = A.nrows
        ...     parent, frontier = Vector(int, n), Vector(int, n)
        ...     parent[source] = frontier[source] = source
        ...     while frontier.nvals:
        ...         frontier(~parent.S, replace) << any_secondi(frontier @ A)
        ...         parent(frontier.S) << frontier
        ...     return parent
        >>> bfs(gl.Matrix.from_coo([0, 1], [1, 2], 1, nrows=3, ncols=3), 0).to_dict()
        {0: 0, 1: 0, 2: 1}
    """
    if function is None:
        return lambda each: jit(each, fallback=fallback)
    if isinstance(function, (classmethod, staticmethod)):
        return type(function)(jit(function.__func__, fallback=fallback))
    if not isinstance(function, FunctionType):
        raise TypeError(f"function must be a Python function, not {type(function).__name__}")
    if hasattr(function, JITTED):
        return function
    inner = getattr(function, "__wrapped__", None)
    if isinstance(inner, FunctionType):
        return _below_decorator(function, inner, fallback)
    if function.__code__.co_flags & (
        inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
    ):
        if not fallback:
            refuse(Reason.GENERATOR, None, name=function.__qualname__)
        text = f"{function.__qualname__} is a generator or a coroutine, so Python runs it"
        _warn(text, function.__code__.co_filename, function.__code__.co_firstlineno)
        return function
    return _Function(function, fallback).wrapper


def jit_if_large(function: F) -> F:
    """Compile the loops of a function of the library, whose first argument is a Matrix.

    Like `jit`, but a call with a small matrix never waits for a compilation: if the matrix has
    fewer than `config.compile_threshold` entries and rows, the loops run as Python, unless an
    earlier call has compiled them for the same types, or the cache on disk has them. On the CPU,
    this also holds for a matrix with up to PLAIN times as many entries, until the calls that ran as
    Python have taken as long as a compilation. The rule holds even if `config.compiled` is True.
    All compiled functions of the library follow it.
    """
    compiled = _Function(function, fallback=False, always_waits=False)  # pyright: ignore[reportArgumentType]
    return compiled.wrapper  # pyright: ignore[reportReturnType]


def _below_decorator(function: FunctionType, inner: FunctionType, fallback: bool) -> FunctionType:
    """Return a copy of the wrapper `function` that another decorator created around `inner`.

    The copy calls the compiled `inner`.
    """
    compiled = jit(inner, fallback=fallback)
    cells = [
        CellType(compiled) if _contents(cell) is inner else cell
        for cell in function.__closure__ or ()
    ]
    if all(new is old for new, old in zip(cells, function.__closure__ or (), strict=True)):
        raise TypeError(
            f"gl.jit cannot reach the function that {function.__qualname__} calls; write @gl.jit "
            "below the other decorator"
        )
    made = FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        tuple(cells),
    )
    made.__kwdefaults__ = function.__kwdefaults__
    made.__dict__.update(function.__dict__)
    for name in ("__module__", "__qualname__", "__doc__", "__annotations__"):
        setattr(made, name, getattr(function, name))
    made.__wrapped__ = compiled  # pyright: ignore[reportFunctionMemberAccess]
    made.explain = compiled.explain  # pyright: ignore[reportFunctionMemberAccess]
    return made


def _contents(cell: CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # the variable has no value yet
        return None


def _warn(text: str, file: str, line: int) -> None:
    warnings.warn_explicit(text, UserWarning, file, line)


_report: ContextVar[list[str] | None] = ContextVar("graphla_report", default=None)
"""The descriptions of loops that `explain` collects while it runs; None while it does not run."""


class _Function:
    """A function under `gl.jit`. Its first call rewrites it.

    The rewritten function calls the items of `loops`. If `always_waits` is True, calls with small
    operands also wait for a compilation.
    """

    locals = staticmethod(locals)

    def __init__(self, function: FunctionType, fallback: bool, *, always_waits: bool = True):
        self.function = function
        self.fallback = fallback
        self.always_waits = always_waits
        self.loops: list[_Loop] = []
        self.rewritten: FunctionType | None = None
        self.spent = 0.0  # total seconds of the calls in which no loop ran as a program

        @wraps(function)
        def wrapper(*args: Any, **options: Any) -> Any:
            if not running.may_compile():
                return function(*args, **options)
            if always_waits:
                return (self.rewritten or self.rewrite())(*args, **options)
            begin, before = perf_counter(), self.count_runs()
            device, entries = args[0].device, max(args[0].nvals, args[0].nrows)
            may_run = self.rewritten or running.may_be_cached(device)
            if may_run or not self.is_too_early(device, entries):
                found = (self.rewritten or self.rewrite())(*args, **options)
            else:
                found = function(*args, **options)
            if self.count_runs() == before:
                self.spent += perf_counter() - begin
            return found

        setattr(wrapper, JITTED, function)
        wrapper.explain = self.explain  # pyright: ignore[reportAttributeAccessIssue]
        self.wrapper = wrapper

    def count_runs(self) -> int:
        """Return how many times loops of the function have run as programs."""
        return sum(loop.runs for loop in self.loops)

    def is_too_early(self, device: str, entries: int) -> bool:
        """Return whether it is too early for a library function to wait for a compilation.

        It is always too early for fewer than `config.compile_threshold` entries. On the CPU, it is
        also too early for fewer than PLAIN times this number of entries, until the calls that ran
        as Python have taken as long as a compilation takes. So the compilation roughly doubles the
        total time of these calls at worst.
        """
        threshold = current().compile_threshold
        is_cheap = device == "cpu" and self.spent < PRICE
        return entries < threshold * (PLAIN if is_cheap else 1)

    def rewrite(self) -> FunctionType:
        """Return the rewritten function, whose loops call the items of `loops`."""
        function = self.function
        try:
            source = source_of(function)
        except NotCompilable as error:
            if not self.fallback:
                raise
            _warn(str(error), function.__code__.co_filename, function.__code__.co_firstlineno)
            self.rewritten = function
            return function
        sites = find_sites(function)
        self.loops = [_Loop(self, source, site, number) for number, site in enumerate(sites)]
        self.rewritten = rewrite(function, sites, self) if sites else function
        return self.rewritten

    def explain(self, *args: Any, **options: Any) -> str:
        """Run the function on copies of its vectors. Return which loops were compiled, and how."""
        copies: dict[int, Any] = {}

        def duplicate(x: Any) -> Any:
            if type(x) is Vector:
                return copies.setdefault(id(x), x.dup())
            if id(x) not in copies and type(x) in (list, tuple, dict):
                items = x.values() if type(x) is dict else x
                new = [duplicate(each) for each in items]
                if any(one is not other for one, other in zip(items, new, strict=True)):
                    copies[id(x)] = type(x)(zip(x, new, strict=True) if type(x) is dict else new)
            return copies.get(id(x), x)

        rewritten = self.rewritten or self.rewrite()
        report: list[str] = []
        token = _report.set(report)
        try:
            rewritten(*map(duplicate, args), **{name: duplicate(x) for name, x in options.items()})
        finally:
            _report.reset(token)
        if not self.loops:
            return f"{self.function.__name__} has no loops."
        return "\n\n".join(dict.fromkeys(report)) or f"No loop of {self.function.__name__} ran."

    def refuse(self, loop: _Loop, error: NotCompilable) -> None:
        """Warn that a loop is not compiled, or raise an error if no loop is compiled.

        No error is raised if an inner or later loop has not run yet, because that loop may still
        be compiled.
        """
        loop.state = State.FAILED
        following = self.loops[self.loops.index(loop) + 1 :]
        may_compile = any(each.state is State.COMPILED for each in self.loops) or any(
            each.state is State.NEW for each in following
        )
        if not (self.fallback or may_compile):
            raise error.with_traceback(None)
        if not loop.has_warned:
            loop.has_warned = True
            line = loop.site.node.lineno
            what = f"the loop in line {line} of {self.function.__qualname__} runs as Python: "
            _warn(what + str(error), loop.source.file, line)


class _Unusual:
    """The unusual end of a loop: some variables have no value, or an exception was raised."""

    __slots__ = ("error", "missing")

    def __init__(self, missing: frozenset[str], error: BaseException | None):
        self.missing = missing
        self.error = error

    def __contains__(self, name: str) -> bool:
        return name in self.missing

    def pop_error(self) -> BaseException:
        """Return the exception, and drop the reference to it.

        The traceback will contain the frame that refers to this object, so keeping the reference
        would create a reference cycle.
        """
        error, self.error = self.error, None
        assert error is not None
        return error


class State(Enum):
    """The outcome of the most recent run of a loop."""

    NEW = "it has not run"
    PYTHON = "it has no statements of graphla"
    COMPILED = "it was compiled"
    FAILED = "it could not be compiled"


class _Loop:
    """A loop of a function under `gl.jit`, and its programs."""

    def __init__(self, owner: _Function, source: Source, site: Site, number: int):
        self.owner = owner
        self.stored_programs = StoredPrograms(owner.function, source, number, site.node.lineno)
        self.source = source
        self.site = site
        self.shapes: list[_Shape] = []
        self.runs = 0  # number of runs as a program
        self.errors: dict[Any, NotCompilable] = {}  # maps a description to the error of flattening
        self.state = State.NEW
        self.has_warned = False
        read = {each.id for each in ast.walk(site.node) if isinstance(each, ast.Name)}
        self.outside = tuple(sorted(read - source.local - set(source.free)))

    def __call__(self, given: Any) -> tuple[Any, ...] | None:
        """Run the loop. `given` contains the values of `site.inputs`, or is a dict of all locals.

        Return the place at which the loop was left, the values of `site.outputs`, and an `_Unusual`
        or None. After a fault, return a tuple with only an `_Unusual`. Return None if Python must
        run the loop.
        """
        inputs = self.site.inputs
        if type(given) is dict:
            names = {name: given[name] for name in inputs if name in given}
        else:
            names = dict(zip(inputs, given, strict=True))
        if self.errors:
            at, key = self.describe(names)
            if key in self.errors:
                return self.refuse(self.errors[key], at)
        for shape in self.shapes:
            functions = shape.reads.functions(self.owner.function, names)
            if functions is not None:
                try:
                    return shape(names, functions)
                except (NotOnDisk, ir.LacksBlocks):
                    self.drop(shape)
                    return self.flatten(names)
        return self.restore(names) if running.may_store() else self.flatten(names)

    def restore(self, names: dict[str, Any]) -> tuple[Any, ...] | None:
        """Run the loop with a program from the cache on disk. If there is none, flatten the
        loop."""
        for reads in self.stored_programs.find_reads(self.owner.function, names):
            shape = _Shape(self, reads)
            functions = reads.functions(self.owner.function, names)
            if functions is None:
                continue
            self.shapes.append(shape)
            try:
                return shape(names, functions)
            except (NotOnDisk, ir.LacksBlocks):
                self.drop(shape)
        return self.flatten(names)

    def drop(self, shape: _Shape) -> None:
        """Forget a shape, unless another thread has already forgotten it."""
        with suppress(ValueError):
            self.shapes.remove(shape)

    def find_steps(self, names: dict[str, Any]) -> Loop:
        """Flatten the loop with the helper functions to which its names refer now."""
        return flatten(self.site.node, self.owner.function, names, self.site.after)

    def flatten(self, names: dict[str, Any]) -> tuple[Any, ...] | None:
        """Flatten the loop with the helper functions to which its names refer now, and run it."""
        try:
            loop = self.find_steps(names)
        except NotCompilable as error:
            at, key = self.describe(names)
            self.errors[key] = error
            return self.refuse(error, at)
        if len(self.shapes) >= MOST_PROGRAMS:
            self.shapes.clear()
        live, outside = loop.live[0], tuple(loop.outside.items())
        inputs = tuple(name for name in self.site.inputs if name in live)
        shape = _Shape(self, Reads(inputs, outside, loop.helpers, loop.attributes), loop)
        self.shapes.append(shape)
        functions = shape.reads.functions(self.owner.function, names)
        assert functions is not None
        return shape(names, functions)

    def describe(self, names: Mapping[str, Any]) -> tuple[Description, Any]:
        """Describe the values that the loop reads, except those that only helper functions read."""
        found = self.owner.function.__globals__
        known = {**names, **{name: found[name] for name in self.outside if name in found}}
        values = [*known.values()]
        for node in ast.walk(self.site.node):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                value = known.get(node.value.id)
                if not isinstance(value, (Operand, ModuleType)):
                    values.append(getattr(value, node.attr, None))
        at = Description()
        return at, at.of_all(values)

    def refuse(self, error: NotCompilable, at: Description) -> None:
        """Report that the loop cannot be flattened."""
        if not at.has_graphla:
            self.run_in_python()
        elif (
            _report.get() is not None
            or running.engine_for(at.device or default_device(), at.entries) is not None
        ):
            self.fail(error)

    def fail(self, error: NotCompilable) -> None:
        """Report that the loop is not compiled."""
        self.say(f"runs as Python: {error}")
        if error.code is Reason.FAILS:
            self.state = State.PYTHON
        elif _report.get() is None:
            self.owner.refuse(self, error)

    def run_in_python(self) -> None:
        """Report that the loop runs as Python, because it has no statements of graphla."""
        self.say("has no statements of graphla, so Python runs it.")
        self.state = State.PYTHON

    def say(self, text: str) -> None:
        """Add to the report of `explain`."""
        report = _report.get()
        if report is not None:
            line = self.site.node.lineno
            report.append(f"The loop in line {line} of {self.source.name} {text}")


class NotOnDisk(Exception):
    """Raised if the cache on disk has no program for a call, so that the loop must be traced."""


class _Shape:
    """A loop with inlined helper functions, and the programs compiled from it for different types.

    If the cache on disk holds some of the programs, `loop` is None, and all programs are read from
    the cache.
    """

    def __init__(self, owner: _Loop, reads: Reads, loop: Loop | None = None):
        self.owner = owner
        self.reads = reads
        self.loop = loop
        self.cases: dict[Any, list[_Case]] = {}
        self.refused: dict[Any, NotCompilable] = {}
        self.is_stored = False
        self.absent: set[Any] = set()  # keys of programs that the cache lacks
        self.inputs = reads.inputs
        self.homes = tuple(
            (name, _finder(home, self.code_of(home))) for name, home in reads.outside
        )
        self.inlined = frozenset(helper.code for helper in reads.helpers)

    def __call__(
        self, names: dict[str, Any], functions: list[FunctionType]
    ) -> tuple[Any, ...] | None:
        """Run the loop, and return the result of `_Case.run`, or None if Python must run it."""
        values = {name: names[name] for name in self.inputs if name in names}
        for name, find in self.homes:
            try:
                values[name] = find(names, functions)
            except (KeyError, ValueError):
                continue
        parts = [*values.values()]
        for home in self.reads.attributes:
            try:
                parts.append(home.find(names, functions))
            except (KeyError, ValueError, AttributeError):
                parts.append(None)
        at = Description(self.inlined)
        description = at.of_all(parts)
        if not at.has_graphla:
            return self.owner.run_in_python()
        device = at.device or default_device()
        explains = _report.get() is not None
        if explains and self.loop is None:
            raise NotOnDisk
        engine = running.engine_for(device, at.entries, may_be_small=not explains)
        if at.is_mixed or (engine is None and not explains):
            return None
        has_all = len(values) == len(self.inputs) + len(self.homes)
        settings = current()
        how = device, settings.device, settings.deterministic, forced_direction()
        key = description, has_all or tuple(values), how
        cases = self.cases.get(key, ())
        waits = explains or self.waits_for(device, at.entries)
        is_compiled = waits or any(engine in case.engines for case in cases)
        if not is_compiled and (key in self.absent or not running.may_be_cached(device)):
            return None
        try:
            if not is_compiled:
                with without_compiling():
                    return self.find(key, cases, values).run(engine, device, values, names)  # pyright: ignore
            case = self.find(key, cases, values)
            if explains:
                explain = getattr(running.engine_to_explain(device), "explain", lambda _: "")
                how = "is compiled:" if engine is not None else IN_PYTHON
                self.owner.say(f"{how}\n{printing.text(case.program)}{explain(case.program)}")
            self.owner.state = State.COMPILED
            return None if engine is None else case.run(engine, device, values, names)
        except NotReady:
            self.absent.add(key)
            return None
        except NotCompilable as error:
            self.refused[key] = error
            self.locate(error, names)
            return self.owner.fail(error) if is_compiled else None

    def waits_for(self, device: str, entries: int) -> bool:
        """Return whether a call with operands of this size waits for the loop to be compiled."""
        if self.owner.owner.always_waits:
            return running.engine_for(device, entries) is not None
        return not self.owner.owner.is_too_early(device, entries)

    def code_of(self, home: Home) -> CodeType:
        """Return the code of the function that owns a home."""
        helpers = self.reads.helpers
        return (
            helpers[home.owner - 1].code if home.owner > 0 else self.owner.owner.function.__code__
        )

    def find(self, key: Any, cases: Sequence[_Case], values: dict[str, Any]) -> _Case:
        """Return the program for these values. Trace the loop if there is none yet."""
        for case in cases:
            if case.fits(values):
                return case
        error = self.refused.get(key)
        if error is not None:
            raise error
        if len(self.cases) + len(self.refused) > MOST_PROGRAMS:
            self.cases.clear()
            self.refused.clear()
        stored_programs = self.owner.stored_programs
        name = stored_programs.name_of(self.reads, key) if running.may_store() else ""
        if self.loop is None:
            found = stored_programs.load(name, lambda path: _content(_getter(path)(values)))
            if found is None:
                raise NotOnDisk
            case = _Case(self, values, *found)
        else:
            from graphla.program.tracing import trace

            program, binding = trace(self.loop, values)
            case = _Case(self, values, program, binding)
            case.entry = name
            case.packed = stored_programs.pack(
                name, program, binding, case.exits, lambda path: _content(_getter(path)(values))
            )
        self.cases.setdefault(key, []).append(case)
        return case

    def find_steps(self, names: dict[str, Any]) -> Loop:
        """Return the steps of the loop."""
        return self.owner.find_steps(names) if self.loop is None else self.loop

    def locate(self, error: NotCompilable, names: dict[str, Any]) -> None:
        """Add the file, the line and the statement to an error of the tracer or of an engine."""
        if error.file is None:
            loop = self.find_steps(names)
            step = None if error.node is None else loop.step_of(error.node)
            line = loop.steps[0].line if step is None else step.line
            locate(error, *loop.where(line))


def _finder(
    home: Home, code: CodeType
) -> Callable[[Mapping[str, Any], Sequence[FunctionType]], Any]:
    """Return a function that finds the same value as `home.find`, but faster. `code` is the code of
    the function `home.owner`."""
    name, owner = home.name, home.owner
    if home.is_default or home.attributes or owner < 0 or name in code.co_freevars:
        return home.find

    def find(names: Mapping[str, Any], functions: Sequence[FunctionType]) -> Any:
        found = functions[owner].__globals__
        return found[name] if name in found else home.find(names, functions)

    return find


Getter = Callable[[Mapping[str, Any]], Any]


def _getter(path: Path) -> Getter:
    """Return a function that finds the value at a path."""
    name, *rest = path
    if not rest:
        return lambda values: values[name]
    if len(rest) == 1 and rest[0].isidentifier():
        return lambda values: getattr(values[name], rest[0])

    def get(values: Mapping[str, Any]) -> Any:
        value: Any = values[name]
        for each in rest:
            if each == "len()":
                value = len(value)
            else:
                value = value[int(each)] if each.isdecimal() else getattr(value, each)
        return value

    return get


def _number(dtype: DataType) -> Callable[[Any], Any]:
    """Return the function that converts a value to a Python number of this dtype."""
    return bool if dtype is BOOL else float if dtype is FP64 else int


def _find_same(x: ir.Same, values: Mapping[str, Any]) -> Any:
    """Return the object to which a `Same` refers in this call."""
    return x.value if x.path is None else _getter(x.path)(values)


def _content(value: Any) -> Any:
    """Return a key for a value. Keys are equal only if the values have equal contents and types."""
    if isinstance(value, (tuple, list)):
        return type(value), tuple(map(_content, value))
    if isinstance(value, dict):
        return dict, tuple((_content(key), _content(item)) for key, item in value.items())
    if type(value) in (bool, int, float, str):
        return type(value), repr(value)
    return Same(value)


def _store(operand: Operand) -> Any:
    return operand._read()


class _Case:
    """The program of a loop for one combination of types."""

    def __init__(
        self,
        shape: _Shape,
        values: Mapping[str, Any],
        program: ir.Program,
        binding: Binding,
        exits: list[Left] | None = None,
    ):
        self.shape = shape
        self.entry = ""  # the name of the entry in the cache on disk for programs with these types
        self.packed: Any = None  # the item to store in this entry after an engine's first run
        self.program = program
        self.binding = binding
        self.dims = [_getter(path) for path in binding.dims]
        self.matrices = [_getter(path) for path in binding.matrices]
        self.arrays = [
            (_getter(path), each.dtype.np_type)
            for path, each in zip(binding.arrays, program.arrays, strict=True)
        ]
        self.scalars = [
            (_getter(path), _number(each.dtype))
            for path, each in zip(binding.scalars, program.scalars, strict=True)
        ]
        self.vectors = [_getter(path) for path in binding.vectors]
        self.stacks = [_getter(path) if path else lambda _: [] for path in binding.stacks]
        self.fixed = [(_getter(path), _content(_getter(path)(values))) for path in binding.fixed]
        if exits is None:
            exits = [self.leaving(each, values) for each in program.exits]
        self.exits = exits
        self.engines: set[Engine] = set()  # the engines that have compiled the program

    def fits(self, values: Mapping[str, Any]) -> bool:
        """Return whether the values equal the constants with which the program was traced."""
        return not self.fixed or all(_content(get(values)) == x for get, x in self.fixed)

    def leaving(self, leaving: ir.LoopExit, values: Mapping[str, Any]) -> Left:
        """Return what the rewritten function needs to know about an exit."""
        site, loop = self.shape.owner.site, self.shape.loop
        assert loop is not None
        place = loop.places[leaving.place]
        number = leaving.place
        if place.origin is not None and place.helper is None:
            number = 2 + next(k for k, x in enumerate(site.statements) if x is place.origin)
        names = dict(leaving.names)
        live = frozenset[str]().union(
            *(
                live
                for step, live in zip(loop.steps, loop.live, strict=True)
                if isinstance(step, Leave) and step.place == leaving.place
            )
        )
        return Left(
            place=number,
            raises=place.helper is not None,
            outputs=tuple(
                names.get(name) if name in names or name in loop.assigned else Unchanged(name)
                for name in site.outputs
            ),
            slots=tuple({x.index for x in names.values() if isinstance(x, ir.Slot)}),
            missing=frozenset(
                name
                for name in live.intersection(site.outputs).difference(names)
                if name in loop.assigned or name not in values
            ),
        )

    def is_repeated_after(self, kind: str) -> bool:
        """Return whether Python runs the loop again, from the start, after a fault.

        The function may handle the exception and continue with the values that its variables have
        at that time. An OverflowError is excluded: in Python, the statement might not raise it,
        because Python's integers are not limited to 64 bits.
        """
        if kind == ir.REPEAT:
            return True
        return self.shape.owner.site.is_guarded and kind != "OverflowError"

    def run(
        self, engine: Engine, device: str, values: Mapping[str, Any], names: dict[str, Any]
    ) -> tuple[Any, ...] | None:
        """Run the program and write the results back. Return None if Python must run the loop.

        `names` are the values of the local variables when the loop begins, and `values` also
        contains the globals and the closure variables.
        """
        objects = [get(values) for get in self.vectors]
        lists = [get(values) for get in self.stacks]
        arguments = Arguments(
            device,
            tuple([int(get(values)) for get in self.dims]),
            tuple([_store(get(values)) for get in self.matrices]),
            tuple([np.ascontiguousarray(get(values), dtype) for get, dtype in self.arrays]),
            tuple([convert(get(values)) for get, convert in self.scalars]),
            tuple([_store(each) for each in objects]),
            tuple([tuple([item._store for item in each]) for each in lists]),
        )
        if recorders():
            start = perf_counter()
            outcome = running.run(engine, self.program, arguments)
            name = self.program.name
            record_levels(name, "", "product", outcome.trace, perf_counter() - start)
        else:
            outcome = running.run(engine, self.program, arguments)
        self.engines.add(engine)
        if self.packed is not None:
            self.store()
        self.shape.owner.runs += 1
        for name in dict.fromkeys(outcome.enlarged):
            count = outcome.enlarged.count(name)
            times = "once" if count == 1 else f"{count} times"
            self.shape.owner.say(f"left to enlarge the memory of {name} {times}, and went on.")
        if outcome.fault is not None and self.is_repeated_after(outcome.fault[0]):
            return None
        for k, stack in enumerate(self.program.stacks):
            _write_list(lists[k], arguments.stacks[k], outcome.stacks[stack.index])
        if outcome.fault is not None:
            return self.fail(outcome, objects, names)
        left = self.exits[outcome.exit]
        vectors = self.write(outcome, left.slots, objects)
        outputs = [
            vectors[each.index]
            if type(each) is ir.Slot
            else outcome.scalars[each.name]
            if type(each) is ir.Var
            else lists[each.index]
            if type(each) is ir.Stack
            else _find_same(each, values)
            if type(each) is ir.Same
            else values.get(each.name)
            if type(each) is Unchanged
            else None
            for each in left.outputs
        ]
        if left.raises:
            place = self.shape.find_steps(names).places[self.program.exits[outcome.exit].place]
            error = self.execute_raise(place, values, outcome, vectors, lists)
            return (-1, *outputs, _Unusual(left.missing, error))
        return (left.place, *outputs, _Unusual(left.missing, None) if left.missing else None)

    def store(self) -> None:
        """Store the program in the cache on disk, now that an engine has compiled it."""
        packed, self.packed = self.packed, None
        shape = self.shape
        stored_programs = shape.owner.stored_programs
        stored_programs.store(self.entry, packed)
        if not shape.is_stored:
            shape.is_stored = True
            stored_programs.store_reads(shape.reads)

    def write(self, outcome: Outcome, slots: Any, objects: list[Any]) -> dict[int, Vector]:
        """Return the Vector objects of the slots. Existing objects are changed in place."""
        origins = self.binding.origins
        found: dict[int, Vector] = {}
        for index in slots:
            store = outcome.slots[index]
            name = origins.get(index)
            number = -1 if name is None else int(outcome.scalars[name])
            if number < 0:
                found[index] = Vector._of(store)
            else:
                vector = found[index] = objects[number]
                if vector._store is not store:
                    vector._store = store
        return found

    def fail(self, outcome: Outcome, objects: list[Any], names: dict[str, Any]) -> tuple[Any, ...]:
        """Write back the vectors' entries at the time of the fault, and return the exception."""
        assert outcome.fault is not None
        self.write(outcome, self.binding.origins, objects)
        kind, text, line = outcome.fault
        cls = getattr(exceptions, kind, None) or getattr(builtins, kind, None)
        error = (cls or GraphblasException)(text)
        source, number = self.shape.find_steps(names).where(line)
        raised = ast.Raise(ast.Name("error", ast.Load()), None)
        _raise(raised, {"error": error}, source, number, error)
        return (_Unusual(frozenset(), error),)

    def execute_raise(
        self,
        place: Place,
        values: Mapping[str, Any],
        outcome: Outcome,
        vectors: Mapping[int, Vector],
        lists: list[Any],
    ) -> BaseException:
        """Return the exception that a helper's `raise` statement raises."""
        namespace = dict(values)
        leaving = self.program.exits[outcome.exit]
        for name, each in leaving.names.items():
            if isinstance(each, ir.Slot):
                namespace[name] = vectors[each.index]
            elif isinstance(each, ir.Var):
                namespace[name] = outcome.scalars[each.name]
            elif isinstance(each, ir.Stack):
                namespace[name] = lists[each.index]
            elif isinstance(each, ir.Same):
                namespace[name] = _find_same(each, values)
        assert place.helper is not None
        assert place.statement is not None
        line = place.statement.lineno
        return _raise(place.statement, namespace, place.helper, line, None)


def _write_list(items: list[Any], before: tuple[Any, ...], after: list[Any]) -> None:
    """Write the vectors on a program's stack to the user's list.

    Items at the start of the list that the program has not changed remain the same objects.
    """
    pairs = enumerate(zip(before, after, strict=False))
    kept = next((k for k, (x, y) in pairs if x is not y), min(len(before), len(after)))
    if kept < max(len(before), len(after)):
        items[kept:] = Vector._of_each(after[kept:])


def _raise(
    statement: ast.stmt,
    names: dict[str, Any],
    source: Source,
    line: int,
    error: BaseException | None,
) -> BaseException:
    """Execute a `raise` statement as if it stood on the given line. Return the exception."""
    try:
        exec(_code_at(statement, source, line), names)
    except BaseException as raised:
        if error is not None and raised is not error:
            raise
        trace = raised.__traceback__
        return raised.with_traceback(trace and trace.tb_next)
    raise AssertionError("the statement did not raise an exception")


def _code_at(statement: ast.stmt, source: Source, line: int) -> CodeType:
    tree = ast.Module([statement], [])
    for node in ast.walk(tree):
        if isinstance(node, (ast.expr, ast.stmt)):
            node.lineno = node.end_lineno = line
            node.col_offset = node.end_col_offset = 0
    code = compile(tree, source.file, "exec")
    return code.replace(co_name=source.name, co_qualname=source.name)
