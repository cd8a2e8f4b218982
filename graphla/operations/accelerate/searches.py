"""The request for a breadth-first search, which chooses the matrix formats and the plan to use.

Pull needs the columns of the matrix (CSC). The first search of a matrix checks whether its pattern
is symmetric; if so, CSR serves both directions. Otherwise (in a directed graph) a search can only
push until CSC exists. For each matrix, graphla adds up the time that pull could have saved. Once
this sum exceeds the cost of building CSC, CSC is built.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, Literal

import numpy as np

from graphla.backends import backend, requests
from graphla.backends.requests import FOREVER, BfsResult, Level, Meanwhile
from graphla.formats import Array, BitmapVector, Csr, VectorMask, quick_dataclass
from graphla.operations.accelerate.request import lift
from graphla.operations.operation import perform
from graphla.settings import Event, config, forced_direction, record, recorders
from graphla.stores import MatrixStore, VectorStore
from semirings.dtypes import INT32, DataType

Parents = Literal[None, "any", "least"]

SHALLOW = 64
"""If a search has at most this many levels, we assume that it reaches most vertices within a few
levels, and that pull is faster than push in these levels.
"""
SPARED = 0.75
"""In a search with at most SHALLOW levels, pull is assumed to leave this fraction of the entries
unread."""


@quick_dataclass
class Search:
    """The request for a breadth-first search: f⟨¬p, r⟩ = f any.secondi A, until f is empty.

    The vector f has an entry at each vertex that the last step reached, and p at each vertex that
    any step has reached. The r stands for "replace". `starts` holds the distinct start vertices: it
    is an INT32 array on the host, or a Vector with an entry at each start vertex. `levels` is the
    dtype of the levels, or None if no levels are requested. Apart from the start vertices, the
    search visits only vertices that the mask selects.
    """

    A: Any
    starts: Any
    levels: DataType | None
    parents: Parents
    limit: int | None
    mask: Any

    def run(self) -> tuple[Any, Any]:
        """Return the levels and the parents, each as a Vector or None."""
        a, mask, starts = self.A._read(), self.mask, self.starts
        lowered = parent = given = None
        if mask is not None:
            lowered, parent = lower(mask, a.nrows, a.device), mask.parent._read()
        if not isinstance(starts, np.ndarray):
            given = starts._read()
        levels, parents = perform("bfs", self._search, a, lowered, given, parent)
        return lift(self.A, levels), lift(self.A, parents)

    def _search(
        self, a: MatrixStore, mask: VectorMask | None, given: VectorStore | None, _: Any
    ) -> tuple[VectorStore | None, VectorStore | None]:
        starts = self.starts if given is None else given.sparse(sorted=False).indices
        if not starts.size:
            empty = VectorStore.empty
            levels = self.levels and empty(a.device, self.levels, a.nrows)
            return levels, empty(a.device, INT32, a.nrows) if self.parents else None
        reached, made = _Count(), []

        def make(levels: Array | None, parents: Array | None, present: Array) -> None:
            def store(values: Array | None, dtype: DataType) -> VectorStore | None:
                if values is None:
                    return None
                found = BitmapVector(a.nrows, present, values, reached)
                return VectorStore(a.device, dtype, found)

            made.extend((store(levels, self.levels or INT32), store(parents, INT32)))

        tree = search(
            a,
            starts,
            mask=mask,
            limit=self.limit,
            levels=None if self.levels is None else self.levels.np_type,
            parents=self.parents,
            meanwhile=make,
        )
        if not made:
            make(tree.levels, tree.parents, tree.present)
        reached.value = tree.reached
        levels, parents = made[-2:]
        return levels, parents


class _Count:
    """The number of reached vertices, which is set at the end of the search."""

    __slots__ = ("value",)
    array = None  # None, because the count is not in device memory

    def __int__(self) -> int:
        return self.value


def search(
    a: MatrixStore,
    starts: Array,
    *,
    mask: VectorMask | None,
    limit: int | None,
    levels: Any,
    parents: Parents,
    record: Callable[[list[Level], float], None] | None = None,
    meanwhile: Meanwhile | None = None,
) -> BfsResult:
    """Run a breadth-first search from the vertices `starts`, of which there is at least one. Return
    the levels and parents of the reached vertices."""
    do, towards = backend(a.device), forced_direction()
    a.find_symmetry()
    out, into = _patterns(a, towards)
    plan = None if into is None else a.plan_now()
    if parents == "any" and config.deterministic:
        parents = "least"
    begin = perf_counter()
    tree = do.bfs(
        requests.Search(
            out,
            into,
            starts,
            mask,
            FOREVER if limit is None else min(limit, FOREVER),
            levels,
            parents,
            towards,
            plan,
            bool(recorders()),
            meanwhile,
        )
    )
    seconds = perf_counter() - begin
    if plan is not None:
        a.record_traversal(seconds)
    elif towards == "auto" and tree.depth <= SHALLOW:
        a.add_loss(SPARED * do.costs.push_entry * a.nvals * tree.reached / a.nrows)
    if recorders():
        (record or _record_bfs)(tree.trace, seconds)
    return tree


def lower(mask: Any, size: int, device: str) -> VectorMask | None:
    """Convert a mask of vertices to a VectorMask, or to None if it selects all vertices."""
    if mask.ndim != 1:
        raise TypeError(
            "mask is that of a Matrix, but must be that of a Vector: which vertices may be reached"
        )
    return mask._lower((size,), device)


def _patterns(a: MatrixStore, towards: str) -> tuple[Csr, Csr | None]:
    """Return the pattern of the matrix in CSR form and in CSC form. If the CSC form does not exist
    and should not be built now, return None instead of it."""
    out, into = a.patterns()
    if into is None and (towards == "pull" or (towards == "auto" and _has_paid(a))):
        into = a.csc
    return out, into


def _has_paid(a: MatrixStore) -> bool:
    """Return whether it is worth building CSC now: without it, the searches of this matrix so far
    have lost as much time as building it would take, because they could only push."""
    costs = backend(a.device).costs
    return a.add_loss(0.0) >= costs.transpose_start + costs.transpose_entry * max(a.nvals, a.nrows)


def _record_bfs(trace: list[Level], seconds: float) -> None:
    record_levels("bfs", "any_secondi", "level", trace, seconds)


def record_levels(
    operation: str, semiring: str, what: str, trace: list[Level], seconds: float
) -> None:
    """Record one event per level or round in `trace`; if there is none, one event that says so."""
    for k, level in enumerate(trace):
        reason = f"{what} {k}"
        record(Event(operation, semiring, level.direction, reason, *level[1:]))
    if not trace:
        record(Event(operation, semiring, "", f"no {what}", 0, 0, seconds))
