"""Compute the least solution of x = x ⊕ xA in the fastest way that the laws of ⊕ and ⊗ allow.

1. A breadth-first search computes levels, and a table maps each level to a value. This method is
   used if all starting values are equal, A is iso-valued, and ⊗ never improves a value. Paths with
   fewer edges then give better values.
2. Otherwise, if ⊗ distributes over ⊕ and the number of rounds is not limited, improved entries are
   multiplied in any order. If, in addition, ⊗ never improves a value and ⊕ is min or max, near
   entries are multiplied before far entries.
3. In all other cases, entries are multiplied in rounds. Each round reads values from one buffer and
   writes new values to another buffer.

Integer products that overflow are omitted. If ⊗ never improves a value, an omission changes the
result only if a reachable vertex has no other path, so that this vertex gets no value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any, NoReturn

import numpy as np

from graphla.backends import BfsResult, Closure, ClosureResult, EarlyStop, backend
from graphla.formats import BitmapVector, SparseVector, VectorMask, is_iso
from graphla.operations.accelerate.searches import record_levels, search
from graphla.settings import config, forced_direction, recorders
from graphla.sparse import Matrix, Vector
from graphla.stores import MatrixStore, VectorStore
from graphla.traversal import definition
from graphla.traversal.cycles import ROUNDED, EndlessCycle, endless, rounded_cycle
from graphla.traversal.laws import ROUNDS, Evaluation, evaluation
from semirings import monoid
from semirings.overflow import overflowing
from semirings.printing import simple_ufunc
from semirings.structures import TypedSemiring

FOREVER = 2**31 - 1
PATIENCE = 1024
"""Number of rounds after which a possibly endless closure of a large matrix is first checked."""
FEW = 64


@dataclass(frozen=True, slots=True)
class Task:
    """A closure whose operands have been checked, have the semiring's types, and are not empty."""

    x: VectorStore
    a: MatrixStore
    op: TypedSemiring
    mask: VectorMask | None
    limit: int | None
    parents: bool
    delta: float | None
    mask_noun: Any
    enough: EarlyStop | None = None

    @property
    def do(self) -> Any:
        """The backend (the module of functions) for the device on which A is stored."""
        return backend(self.a.device)


def evaluate(task: Task) -> ClosureResult:
    """x ⊕ xA ⊕ xA² ..."""
    op = task.op
    low, high = _extent(task)
    way = ROUNDS if op.is_positional else evaluation(op, task.a, low, high)
    if way.distributes and low == high and way.never_improves and is_iso_valued(task):
        return _by_search(task, low)
    closed = _solve(task, way)
    if closed.overflowed:
        _refuse_overflow(task, way, closed)
    elif _ran_off(task, way, closed, (low, high)):
        _look_for_cycle(task)
    return closed


def _extent(task: Task) -> tuple[Any, Any]:
    """Return the minimum and the maximum value of x; NaN if a value is NaN."""
    x, do, dtype = task.x, task.do, task.x.dtype
    v = x.sparse(sorted=False) if x.has_sparse else x.any_form
    if is_iso(v.values) or (isinstance(v, SparseVector) and v.nvals <= FEW):
        values = do.to_host(v.values[:1] if is_iso(v.values) else v.values)
        return values.min(), values.max()
    present = v.present if isinstance(v, BitmapVector) else None
    return tuple(do.reduce(v.values, m[dtype], present) for m in (monoid.min, monoid.max))  # pyright: ignore[reportReturnType]


def is_iso_valued(task: Task) -> bool:
    """Return whether all values of A are equal, or ⊗ ignores them."""
    a = task.a
    return not task.op.binaryop.reads_y or is_iso((a.csr if a.has_csr else a.csc).values)


# --- as a search ----------------------------------------------------------------------------------


def _by_search(task: Task, start: Any) -> ClosureResult:
    """Run a breadth-first search, and map the level of each vertex to its value.

    The value at level d is v(d), where v(0) is the starting value and v(d + 1) = v(d) ⊗ a. Here a
    is the common value of all entries of A.
    """
    op, a, do = task.op, task.a, task.do
    weight = weight_of(task)
    rest, _ = values_by_level(op, start, weight, 1)
    is_constant = bool(rest[0] == rest[1])
    tree = _reach(task, None if is_constant else np.dtype(np.int32), task.parents)
    n, dtype = a.nrows, op.return_type.np_type
    depth = 0 if is_constant else tree.depth
    table, fitting = values_by_level(op, start, weight, depth)
    if fitting <= depth:
        refuse_value(task, int((tree.present & (tree.levels == fitting)).argmax()))
    if is_constant:
        values = np.broadcast_to(task.x.sparse(sorted=False).values[:1], (n,))
    elif tree.levels is not None and np.array_equal(table, np.arange(depth + 1)):
        values = tree.levels if dtype == np.int32 else tree.levels.astype(dtype)
    else:
        assert tree.levels is not None
        values = do.asarray(table)[np.where(tree.present, tree.levels, 0)]
    found = BitmapVector(n, tree.present, values, tree.reached)
    return ClosureResult(found, tree.parents, tree.depth, tree.trace)


def _reach(task: Task, levels: Any, parents: bool) -> BfsResult:
    """Run a breadth-first search from the entries of x, and return its result."""
    record = partial(record_levels, "closure", str(task.op), "level")
    return search(
        task.a,
        task.x.sparse(sorted=False).indices,
        mask=task.mask,
        limit=task.limit,
        levels=levels,
        parents="any" if parents else None,
        record=record,
    )


def weight_of(task: Task) -> np.ndarray:
    """Return the common value of A's entries, on the host."""
    op = task.op
    weight = task.a.extent(op.type2)[0] if op.binaryop.reads_y else 0
    return np.array([weight], op.type2.np_type)


def values_by_level(
    op: TypedSemiring, start: Any, weight: np.ndarray, depth: int
) -> tuple[np.ndarray, int]:
    """Return the values at the levels 0 to `depth`, and the number of levels before an overflow.

    The values are v(0) = start and v(d + 1) = v(d) ⊗ weight.
    """
    dtype = op.return_type.np_type
    ufunc = simple_ufunc(op.binaryop.expression, ("x", "y"))
    table = np.full(depth + 1, start, dtype)
    if ufunc is not None and op.type is op.type2 is op.return_type:
        table[1:] = weight
        with np.errstate(all="ignore"):
            table = ufunc.accumulate(table, dtype=dtype)
    else:
        for d in range(depth):
            value = op.binaryop.numpy(table[d : d + 1].astype(op.type.np_type), weight)
            table[d + 1] = value.astype(dtype)[0]
            if table[d + 1] == table[d]:
                table[d + 1 :] = table[d]
                break
    fits_not = overflowing(op.binaryop)
    if fits_not is None or not depth:
        return table, depth + 1
    lost = fits_not.numpy(table[:-1].astype(op.type.np_type), weight)
    return table, int(lost.argmax()) + 1 if lost.any() else depth + 1


# --- closures that run until no value improves, or for a number of rounds -------------------------


def _solve(task: Task, way: Evaluation) -> ClosureResult:
    """Run until x converges; raise an error if a cycle improves values forever."""
    turns, patience = FOREVER, min(PATIENCE, task.a.nrows + FEW)
    if not way.never_improves and task.limit is None:
        turns = patience
    closed, rounded = _run(task, way, turns), 0
    while not closed.settled:
        if closed.parents is not None:
            _refuse_endless(task, closed)
        turns = patience if rounded else min(2 * turns, FOREVER)
        x = VectorStore(task.a.device, task.x.dtype, closed.values)
        further = _run(replace(task, x=x, parents=True), way, turns)
        if not further.settled and rounded_cycle(further, task.op, task.a.device):
            rounded += max(further.depth, 1)
            if rounded > ROUNDED * patience:
                _refuse_rounded(task, further)
        closed = replace(
            further,
            parents=_merge_parents(task, closed.parents, further.parents),
            overflowed=closed.overflowed or further.overflowed,
        )
    if task.parents and task.limit is None and not way.never_improves:
        _refuse_rounded(task, closed)
    return closed


def _merge_parents(task: Task, before: Any, after: Any) -> Any:
    """Return the parents of all vertices after one more run of the closure.

    `before` holds the parents before this run, and `after` holds the parents that the run returned.
    If the run did not improve the value of a vertex v, then after[v] = v, and the result for v is
    before[v].
    """
    if before is None:
        return after
    vertices = np.arange(after.size, dtype=after.dtype, like=after)
    return np.where(after == vertices, before, after)


def _run(task: Task, way: Evaluation, turns: int) -> ClosureResult:
    op, a, towards = task.op, task.a, forced_direction()
    is_exact = config.deterministic and task.parents and a.device != "cpu"
    if op.is_positional or towards == "pull" or is_exact:
        return _by_products(task, turns)
    begin = perf_counter()
    request = Closure(
        a.csr,
        task.x.any_form,
        op,
        how=way.how if task.limit is None else "rounds",
        mask=task.mask,
        limit=FOREVER if task.limit is None else min(task.limit, FOREVER),
        turns=turns,
        parents=task.parents,
        delta=task.delta,
        traced=bool(recorders()),
        enough=task.enough,
    )
    closed = task.do.closure(request)
    if recorders():
        record_levels("closure", str(op), "round", closed.trace, perf_counter() - begin)
    return closed


def _by_products(task: Task, turns: int) -> ClosureResult:
    """Compute the closure with matrix products, as its definition states.

    This method is slower than the kernel or loop of the backend. It is used only where the kernel
    and the loop cannot be used: for positional operators, for a forced pull direction, and for
    deterministic parents on a GPU.
    """
    limit = turns if task.limit is None else task.limit
    x, a = Vector._of(task.x), Matrix._of(task.a)
    with config.set(autocompute=True):
        values, parents, changed, lost, rounds = definition.closure(
            x, a, task.op, mask=task.mask_noun, limit=limit, parents=task.parents
        )
    settled = task.limit is not None or not changed.nvals
    found = None
    if parents is not None:
        parents = parents.dup("INT32")
        found = parents._store.bitmap().values
    return ClosureResult(values._store.bitmap(), found, rounds, [], bool(lost.nvals), settled)


# --- closures without a solution ------------------------------------------------------------------


def _refuse_endless(task: Task, closed: ClosureResult) -> None:
    cycle = endless(closed, task.a.csr, task.op, task.a.device)
    if cycle is not None:
        raise EndlessCycle(
            f"A has a cycle through vertex {cycle[0]} that goes on improving under {task.op!r}, so "
            "that its closure has no end (give a limit, or other values)",
            cycle,
        )


def _refuse_rounded(task: Task, closed: ClosureResult) -> None:
    """Raise an error if the parents contain a cycle.

    At this point, earlier checks have excluded cycles that improve values even if sums are exact.
    So if the parents contain a cycle, it improves values only because sums are rounded.
    """
    cycle = rounded_cycle(closed, task.op, task.a.device)
    if cycle is not None:
        _refuse_endless(task, closed)
        raise EndlessCycle(
            f"A has a cycle through vertex {cycle[0]} around which rounded sums improve under "
            f"{task.op!r}, though its weights do not",
            cycle,
            is_rounded=True,
        )


def _look_for_cycle(task: Task) -> None:
    """Raise an error if a cycle improves values until they overflow.

    The function runs the rounds again with parents, which reveal the cycle before values overflow.
    """
    turns = 2
    while task.limit is None:
        closed = _run(replace(task, parents=True), ROUNDS, turns)
        if closed.parents is not None:
            _refuse_endless(task, closed)
        if closed.overflowed or closed.settled:
            return
        turns *= 2


def _ran_off(task: Task, way: Evaluation, closed: ClosureResult, extent: tuple[Any, Any]) -> bool:
    """Return whether a value became infinite although x and A are finite."""
    op, v = task.op, closed.values
    if way.never_improves or not op.return_type.is_float:
        return False
    best = task.do.reduce(v.values, op.monoid, v.present)
    given = (*extent, *task.a.extent(op.type2))
    return bool(np.isinf(best)) and bool(np.isfinite(given).all())


def _refuse_overflow(task: Task, way: Evaluation, closed: ClosureResult) -> None:
    """Raise an error if the result may be wrong because products overflowed and were omitted.

    If ⊗ never improves a value, the result is wrong only if a reachable vertex has no value.
    """
    if way.never_improves:
        tree = _reach(task, None, False)
        if tree.reached > closed.values.nvals:
            refuse_value(task, int((tree.present & ~closed.values.present).argmax()))
        return
    _look_for_cycle(task)
    raise OverflowError(
        f"the closure under {task.op!r} has a product that {task.op.return_type} does not hold"
    )


def refuse_value(task: Task, v: int) -> NoReturn:
    """Raise OverflowError: the value of vertex v does not fit the dtype."""
    raise OverflowError(
        f"the closure under {task.op!r} has a value at {v} that {task.op.return_type} does not hold"
    )
