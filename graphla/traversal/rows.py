"""Compute the closure of a Matrix X: row i of the result is the closure of row i of X.

If X has at most one entry per row, and paths with fewer edges give better values (see
`evaluation`), the backend runs breadth-first searches for all rows together. A table then maps the
level of each vertex to its value. For distances (min.plus), the backend may have one loop for all
rows. Otherwise the closures of the rows are computed one after another.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from graphla.backends import Level, MultiSearch, backend
from graphla.backends.values import are_all
from graphla.formats import Array, BitmapVector, Csr, SparseVector, is_iso
from graphla.operations.accelerate.searches import lower
from graphla.operations.entrywise import cast
from graphla.operations.operation import DeviceScope, refuse_mixed
from graphla.settings import forced_direction, recorders
from graphla.sparse import Matrix
from graphla.sparse.mask import as_mask
from graphla.stores import MatrixStore, VectorStore
from graphla.traversal import many
from graphla.traversal.evaluation import (
    Task,
    evaluate,
    is_iso_valued,
    refuse_value,
    values_by_level,
    weight_of,
)
from graphla.traversal.laws import evaluation
from semirings import monoid
from semirings.dtypes import INT32, DataType
from semirings.exceptions import DimensionMismatch
from semirings.structures import TypedSemiring


class _Row(NamedTuple):
    """The entries of one row of the result, and the parents if parents are requested."""

    indices: Array
    values: Array
    parents: Array


def closure_of_rows(
    x: Matrix, A: Matrix, op: TypedSemiring, *, mask: Any, limit: int | None, parents: bool
) -> tuple[Matrix, Matrix | None]:
    """X⟨m⟩ = X ⊕ XA ⊕ XA² ...: row i is the closure of row i of X; the mask applies to each row."""
    if x.ncols != A.nrows:
        raise DimensionMismatch(f"x has {x.ncols} columns, but A has {A.nrows} rows")
    if x.device != A.device:
        refuse_mixed(x.device, A.device, "x and A")
    noun = None if mask is None else as_mask(mask)
    lowered = None if noun is None else lower(noun, x.ncols, x.device)
    starts, a = x._read(), A._read()
    read = (starts, a) if noun is None else (starts, a, noun.parent._read())
    with DeviceScope("closure", read) as running:
        starts = cast(starts, op.return_type)
        if not starts.nvals:
            given = Matrix._of(running.gives(starts))
            return given, given.dup("INT32") if parents else None
        task = Task(_row(starts, 0), a, op, lowered, limit, parents, None, noun)
        if not parents and _is_search(task, starts.csr):
            found = _search_rows(task, starts.csr)
            running.gives(found._store)
            return found, None
        found = None if parents else _find_distances(task, starts)
        if found is not None:
            return Matrix._of(running.gives(found)), None
        closed = [_close_row(replace(task, x=_row(starts, i))) for i in range(starts.nrows)]
        values = running.gives(_stack_rows(closed, 1, task, op.return_type))
        if not parents:
            return Matrix._of(values), None
        return Matrix._of(values), Matrix._of(running.gives(_stack_rows(closed, 2, task, INT32)))


# --- one breadth-first search for all rows --------------------------------------------------------


def _is_search(task: Task, starts: Csr) -> bool:
    """Return whether breadth-first searches can compute the closures of all rows.

    This is the case if X has at most one entry per row, all entries of X are equal, all entries of
    A are equal, and ⊗ never improves a value. Paths with fewer edges then give better values.
    """
    op, do = task.op, task.do
    has_one = are_all(starts.indptr[1:] - starts.indptr[:-1] <= 1)
    if not has_one or op.is_positional or not task.a.nvals or not is_iso_valued(task):
        return False
    dtype, values = op.return_type, starts.values
    if is_iso(values):
        low = high = do.to_host(values[:1])[0]
    else:
        low, high = (do.reduce(values, m[dtype]) for m in (monoid.min, monoid.max))
    if low != high:
        return False
    way = evaluation(op, task.a, low, high)
    return way.distributes and way.never_improves


def _search_rows(task: Task, starts: Csr) -> Matrix:
    """Run a search for each entry of X, and map the level of each vertex to its value.

    The value at level d is v(d), where v(0) is the common value of all entries of X, and
    v(d + 1) = v(d) ⊗ a. Here a is the common value of all entries of A.
    """
    op, do, a = task.op, task.do, task.a
    rows = (starts.indptr[1:] > starts.indptr[:-1]).nonzero()[0]
    start = do.to_host(starts.values[:1])[0]

    def search(a: MatrixStore, out: Csr, into: Csr | None, mask: Any) -> Array:
        request = MultiSearch(
            out,
            into,
            starts.indices,
            task.mask,
            a.nrows if task.limit is None else min(task.limit, a.nrows),
            np.dtype(np.int32),
            None if into is None else a.plan_now(),
            traced=bool(recorders()),
        )
        found = do.multi_source_bfs(request)
        trace.extend(found.trace)
        return found.levels

    trace: list[Level] = []
    levels = many.run("closure", Matrix._of(a), starts.indices.size, None, search, trace)
    weight, depth = weight_of(task), max(int(levels.max()), 0)
    table, fitting = values_by_level(op, start, weight, depth)
    if fitting <= depth:
        refuse_value(task, int((levels == fitting).any(axis=0).argmax()))
    by_level = do.asarray(table)
    found = many.as_matrix(levels, a.device, by_level.__getitem__, op.return_type)
    if rows.size == starts.nrows:
        return found
    # A row that is empty in X is also empty in the result.
    ends = found._store.csr.indptr
    whole = np.zeros_like(ends, shape=starts.nrows + 1)
    whole[rows + 1] = np.diff(ends)
    forms = found._store.csr
    spread = Csr(
        starts.nrows,
        starts.ncols,
        whole.cumsum(dtype=whole.dtype),
        forms.indices,
        forms.values,
    )
    return Matrix._of(MatrixStore(a.device, op.return_type, spread, None))


# --- distances from all rows ----------------------------------------------------------------------


def _find_distances(task: Task, starts: MatrixStore) -> MatrixStore | None:
    """Return the closures of all rows under min.plus, computed by one loop of the backend.

    Return None if the semiring is not min.plus or its dtypes differ; if there is a mask, a limit, a
    recorder, a negative value or a forced pull; if a sum might overflow; or if the backend has no
    such loop.
    """
    op, a = task.op, task.a
    is_plain = task.mask is None and task.limit is None and forced_direction() != "pull"
    if not is_plain or op.monoid.name != "min" or op.binaryop.name != "plus" or not a.nvals:
        return None
    if not (op.return_type == op.type2 == a.dtype) or recorders():
        return None
    low, high = starts.extent(op.return_type)
    if evaluation(op, a, low, high).how != "near_far" or low < 0:
        return None
    if op.return_type.is_integer:
        longest = int(high) + a.nrows * int(a.extent(op.type2)[1])
        if longest > np.iinfo(op.return_type.np_type).max:
            return None
    found = task.do.distances(a.csr, starts.csr)
    return None if found is None else MatrixStore(a.device, op.return_type, found, None)


# --- the closure of one row -----------------------------------------------------------------------


def _row(x: MatrixStore, i: int) -> VectorStore:
    """Return row i as a vector."""
    csr = x.csr
    begin, end = (int(each) for each in backend(x.device).to_host(csr.indptr[i : i + 2]))
    part = SparseVector(csr.ncols, csr.indices[begin:end], csr.values[begin:end])
    return VectorStore(x.device, x.dtype, part)


def _close_row(task: Task) -> _Row:
    """Return the closure of one row."""
    do, x = task.do, task.x
    if not x.nvals or not task.a.nvals or task.limit == 0:
        v = x.sparse()
        return _Row(v.indices, v.values, v.indices)
    closed = evaluate(task)
    sparse = do.to_sparse(closed.values)
    if not task.parents:
        return _Row(sparse.indices, sparse.values, sparse.indices)
    of = BitmapVector(x.size, closed.values.present, closed.parents, closed.values.count)
    return _Row(sparse.indices, sparse.values, do.to_sparse(of).values)


def _stack_rows(rows: list[_Row], which: int, task: Task, dtype: DataType) -> MatrixStore:
    """Return the matrix that consists of the given rows.

    Its entries are the values of the rows if `which` is 1, or the parents if `which` is 2.
    """
    n = task.x.size
    ends = np.cumsum([0] + [row.indices.size for row in rows])
    narrow = np.int32 if ends[-1] < 2**31 else np.int64
    values = np.concatenate([row[which] for row in rows])
    indices = np.concatenate([row.indices for row in rows])
    csr = Csr(len(rows), n, task.do.asarray(ends.astype(narrow)), indices, values)
    return MatrixStore(task.a.device, dtype, csr, None)
