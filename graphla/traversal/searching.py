"""A breadth-first search: which forms of the matrix and which plan it gets, and what is told of it.

Pull reads the matrix by columns. The first search of a matrix checks whether its pattern is
symmetric; if so, the matrix by rows serves both directions. Otherwise, while the form by columns is
missing (a directed graph), a search only pushes. The time that pull could have saved is added to
the matrix's account, and the form is made once the account exceeds its cost.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter
from typing import Any, Literal

from graphla.backends import backend
from graphla.backends.requests import FOREVER, BfsResult, Level, Meanwhile, Search
from graphla.formats import Array, Csr, VectorMask
from graphla.settings import Event, config, forced_direction, record, recorders
from graphla.stores import MatrixForms

Parents = Literal[None, "any", "least"]

SHALLOW = 64
"""Levels up to which a search is thought to meet most vertices at once, where pull pays."""
SPARED = 0.75
"""The part of the entries that pull then spares."""


def search(
    a: MatrixForms,
    starts: Array,
    *,
    mask: VectorMask | None,
    limit: int | None,
    levels: Any,
    parents: Parents,
    tell: Callable[[list[Level], float], None] | None = None,
    meanwhile: Meanwhile | None = None,
) -> BfsResult:
    """The levels and parents of all that edges lead to from `starts`, of which there is one."""
    do, towards = backend(a.device), forced_direction()
    a.find_symmetry()
    out, into = _patterns(a, towards)
    plan = None if into is None else a.plan_now()
    if parents == "any" and config.deterministic:
        parents = "least"
    begin = perf_counter()
    tree = do.bfs(
        Search(
            out,
            into,
            starts,
            mask=mask,
            limit=FOREVER if limit is None else min(limit, FOREVER),
            levels=levels,
            parents=parents,
            direction=towards,
            plan=plan,
            traced=bool(recorders()),
            meanwhile=meanwhile,
        )
    )
    seconds = perf_counter() - begin
    if plan is not None:
        a.spend(seconds)
    elif towards == "auto" and tree.depth <= SHALLOW:
        a.owe(SPARED * do.costs.push_entry * a.nvals * tree.reached / a.nrows)
    if recorders():
        (tell or _tell)(tree.trace, seconds)
    return tree


def lower(mask: Any, size: int, device: str) -> VectorMask | None:
    """A mask of vertices in storage; None where it lets all through."""
    if mask.ndim != 1:
        raise TypeError(
            "mask is that of a Matrix, but must be that of a Vector: which vertices may be reached"
        )
    return mask._lower((size,), device)


def _patterns(a: MatrixForms, towards: str) -> tuple[Csr, Csr | None]:
    """Return the matrix by rows, and by columns if that form exists or should be made now."""
    out, into = a.patterns()
    if into is None and (towards == "pull" or (towards == "auto" and _has_paid(a))):
        into = a.csc
    return out, into


def _has_paid(a: MatrixForms) -> bool:
    """Return whether searches have lost as much time without the form by columns as it costs."""
    costs = backend(a.device).costs
    return a.owe(0.0) >= costs.transpose_start + costs.transpose_entry * max(a.nvals, a.nrows)


def _tell(trace: list[Level], seconds: float) -> None:
    tell("bfs", "any_secondi", "level", trace, seconds)


def tell(operation: str, semiring: str, what: str, trace: list[Level], seconds: float) -> None:
    """One event a level, or a round; one for all where none ran."""
    for k, level in enumerate(trace):
        reason = f"{what} {k}"
        record(Event(operation, semiring, level.direction, reason, *level[1:]))
    if not trace:
        record(Event(operation, semiring, "", f"no {what}", 0, 0, seconds))
