"""Define the arguments and the outcome of a program, and choose the engine that runs it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any, Protocol

from graphla import cards
from graphla.compilers import numba
from graphla.operations.operation import DeviceScope, MemoryFreed
from graphla.program.records import record
from graphla.settings import current

if TYPE_CHECKING:
    import numpy as np

    from graphla.program.ir import Program
    from graphla.stores import MatrixStore, VectorStore

Number = bool | int | float

Path = tuple[str, ...]
"""Where a value is found at a call: a name in `names`, then attributes, such as ("A", "nrows").

An item may also be "len()", for the number of items of a list or an array, or the index of an item
of a tuple.
"""


@record
class Binding:
    """Where a call finds the arguments of a program; the same for all calls with the same types.

    Attributes:
        dims, matrices, arrays, scalars, vectors, stacks: the path of each argument, in the order of
            `Arguments`. Two vectors are never the same object: if several names refer to one
            vector, only one of the names has a path.
        origins: maps the index of a slot to the name of an INT64 variable of the program, for each
            slot that may store the entries of a Vector that existed before the loop. At an exit,
            and after a fault, this variable is k if the slot stores the entries of the object at
            `vectors[k]`, and -1 if the slot stores the entries of a new Vector. At each exit, every
            Vector from before the loop that the loop may change is stored in one of these slots.
            `LoopExit.names` also contains these variables and slots, under keys that are not
            identifiers.
        fixed: the paths of the values that are constants of the program. If one of these values
            changes, another program is needed.
    """

    dims: tuple[Path, ...]
    matrices: tuple[Path, ...]
    arrays: tuple[Path, ...]
    scalars: tuple[Path, ...]
    vectors: tuple[Path, ...]
    stacks: tuple[Path, ...]  # the path is () if the list does not exist before the loop
    origins: dict[int, str] = field(default_factory=dict)
    fixed: tuple[Path, ...] = ()


@record
class Arguments:
    """The arguments of a program. An engine changes none of the stores and arrays."""

    device: str
    dims: tuple[int, ...]
    matrices: tuple[MatrixStore, ...]
    arrays: tuple[np.ndarray, ...]
    scalars: tuple[Number, ...]
    vectors: tuple[VectorStore, ...]
    stacks: tuple[tuple[VectorStore, ...], ...]


@dataclass(slots=True)
class Outcome:
    """The result of a program.

    Attributes:
        exit: the index of the exit in `Program.exits`, or -1 after a fault.
        fault: the name of the exception, its message and the line in `Loop.source`, or None.
        scalars: the values of the scalar variables that the exit names, by `Var.name`. After a
            fault, the values of all variables.
        slots: the vectors in the slots that the exit names, by index of the slot. After a fault,
            the vectors in all slots.
        stacks: the vectors of the stacks, by index of the stack. If a vector was on the stack at
            the start and the program has not removed it, its store is the same object as in
            `Arguments`.
        trace: one record (direction, entries of u, edges, seconds) per product, if a `Recorder` is
            active.
        enlarged: the names of the stacks whose memory was enlarged, once per enlargement.
    """

    exit: int
    fault: tuple[str, str, int] | None
    scalars: dict[str, Number]
    slots: dict[int, VectorStore]
    stacks: dict[int, list[VectorStore]]
    trace: list[Any] = field(default_factory=list)
    enlarged: tuple[str, ...] = ()


class Engine(Protocol):
    """Runs programs on a device."""

    def run(self, program: Program, arguments: Arguments) -> Outcome:
        """Run the program. If this raises an exception, the arguments are unchanged."""
        ...


_MODULES = {"cpu": "graphla.program.cpu", "cuda": "graphla.program.cuda"}

_used: ContextVar[Engine | None] = ContextVar("graphla_engine", default=None)


@contextmanager
def use(engine: Engine) -> Iterator[None]:
    """Run all programs with this engine inside a `with` block."""
    token = _used.set(engine)
    try:
        yield
    finally:
        _used.reset(token)


def engine_for(device: str, entries: int, *, may_be_small: bool = False) -> Engine | None:
    """Return the engine for operands on a device, or None if the loop runs as Python.

    `entries` is the maximum of the operands' sizes: the entries and the rows of a matrix, and the
    size of a vector. If `may_be_small` is True and a program may be in the cache, small operands
    have an engine too.
    """
    used = _used.get()
    if used is not None:
        return used
    if device != "cpu":
        return _engine("cuda")
    settings = current()
    wanted = settings.compiled
    is_small = wanted == "auto" and entries < settings.compile_threshold
    if wanted is False or (is_small and not (may_be_small and may_be_cached(device))):
        return None
    if not numba.is_installed():
        if wanted is True:
            raise ImportError("config.compiled is True, but Numba is not there: pip install numba")
        return None
    return _engine("cpu")


def may_be_cached(device: str) -> bool:
    """Return whether programs for a device may be in memory or in the cache on disk."""
    return device == "cpu" and _used.get() is None and numba.may_load_program()


def may_store() -> bool:
    """Return whether programs are stored in the cache on disk. They are not stored inside `use`."""
    return _used.get() is None


def engine_to_explain(device: str) -> Engine | None:
    """Return the engine that would run a loop if its operands were large enough."""
    return _used.get() or _engine("cpu" if device == "cpu" else "cuda")


def may_compile() -> bool:
    """Return whether this machine may have an engine for some device."""
    return _used.get() is not None or numba.is_installed() or bool(cards.count())


@cache
def _engine(kind: str) -> Engine:
    return import_module(_MODULES[kind])  # pyright: ignore[reportReturnType]


def run(engine: Engine, program: Program, arguments: Arguments) -> Outcome:
    """Run a program as the library runs an operation.

    Errors of the device are raised as errors of graphla, and streams wait for each other. If memory
    runs out and graphla can free some, the program runs a second time.
    """
    try:
        return _run_in_scope(engine, program, arguments)
    except MemoryFreed:
        # The second attempt is made after this handler, because the exception refers to memory that
        # is freed only when the handler ends.
        pass
    return _run_in_scope(engine, program, arguments)


def _run_in_scope(engine: Engine, program: Program, arguments: Arguments) -> Outcome:
    operands = (*arguments.matrices, *arguments.vectors)
    for stores in arguments.stacks:
        # The scope makes the current stream wait for the stamps of its operands. If several stores
        # share a tuple of stamps, one of these stores is enough; `arguments` keeps the other stores
        # alive.
        operands += tuple({id(store.stamps): store for store in stores}.values())
    with DeviceScope(program.name, operands, arguments.device) as scope:
        outcome = engine.run(program, arguments)
        scope.gives((*outcome.slots.values(), *chain(*outcome.stacks.values())))
        return outcome
