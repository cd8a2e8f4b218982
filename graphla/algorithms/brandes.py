"""What vertices and edges carry of the shortest paths from some sources: Brandes' dependencies.

U. Brandes, *A Faster Algorithm for Betweenness Centrality*, 2001, and, of edges and samples, *On
Variants of Shortest-Path Betweenness Centrality and their Generic Computation*, 2008. The loop of
many sources at once, a row each, is LAGraph's; devices have loops of their own beside it, and a
property test holds these to it.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from graphla.algorithms import arguments, iterations
from graphla.algorithms.sssp import sssp
from graphla.backends import backend
from graphla.backends.traversals import Dependencies
from graphla.formats import Array, Csr, FullVector
from graphla.graph.labels import called
from graphla.operations.operation import Running
from graphla.settings import config
from graphla.sparse import Matrix, Vector
from graphla.stores import MatrixForms, VectorForms
from graphla.traversal import many
from semirings import binary, monoid, select, unary
from semirings.dtypes import FP64, INT64
from semirings.exceptions import InvalidValue
from semirings.semiring import any_first, any_plus, any_second, plus_first, plus_second, plus_times

BATCH = 64
"""Sources whose rows the algebra takes together."""
COST = 4
"""Cost of one source, in searches."""


class Carried(NamedTuple):
    """What vertices and edges carry of the shortest paths from some sources."""

    totals: Vector  # full; nothing of paths from or to the vertex itself
    edges: Any  # a Matrix on the pattern of A, or None
    reached: Any  # a full Vector, or None: how many sources reach each vertex, itself apart
    counts: Array  # how many vertices each source reaches, itself among them


def carry(
    A: Matrix,
    sources: np.ndarray,
    *,
    is_weighted: bool = False,
    of_edges: bool = False,
    reach: bool = False,
) -> Carried:
    """By the loop of the device, or, where it has none, as the algebra says.

    A card's loop adds up with atomics, in an order that changes from run to run; products need not.
    """
    a, n = A._read(), A.nrows
    may_round = is_weighted and not arguments.is_floating(A) and not _fits(A)
    if may_round or (config.deterministic and a.device != "cpu"):
        return definition(A, sources, is_weighted=is_weighted, of_edges=of_edges)
    with Running("betweenness", (a,)) as running:
        do = backend(a.device)
        csr = a.csr
        total: Dependencies | None = None
        for part in many.batches(A, sources.size, "betweenness", cost=COST):
            begin = perf_counter()
            found = do.dependencies(
                csr,
                do.asarray(sources[part], np.int32),
                is_weighted=is_weighted,
                of_edges=of_edges,
                reach=reach,
                plan=None if a.device == "cpu" else a.plan_now(),
            )
            if found is None:
                break
            a.spend(perf_counter() - begin)
            total = found if total is None else _sum(do.xp, total, found)
        if total is not None:

            def full(values: Array | None, dtype: Any) -> Any:
                if values is None:
                    return None
                forms = VectorForms(a.device, dtype, FullVector(n, values))
                return Vector._of(running.gives(forms))

            edges = None
            if total.edges is not None:
                values = Csr(n, n, csr.indptr, csr.indices, total.edges)
                edges = Matrix._of(running.gives(MatrixForms(a.device, FP64, values)))
            totals, reached = full(total.totals, FP64), full(total.reached, INT64)
            return Carried(totals, edges, reached, total.counts)
    return definition(A, sources, is_weighted=is_weighted, of_edges=of_edges)


def refuse_lost(A: Matrix, sources: np.ndarray) -> None:
    """Refuse an edge u -> v of floating-point weight w > 0 with d(u) + w = d(u) = d(v).

    Such an edge lies on shortest paths, but both of its ends have the same distance. An edge of
    this kind and its opposite would form a cycle of shortest paths.
    """
    if not arguments.is_floating(A) or not A.nvals:
        return
    least, greatest = arguments.extent(A)
    # No edge can be lost if the least weight exceeds twice the spacing of numbers at the longest
    # distance.
    if float(least) > A.nrows * float(greatest) * 2.0**-52:
        return
    for source in sources.tolist():
        tight, nearer = _tight(A, sssp(A, source))
        lost = select.offdiag(tight.dup(mask=~nearer.S)).new()
        if lost.nvals:
            i, j = arguments.first_entry(lost)
            raise InvalidValue(
                f"A has weight {A[i, j].value} on edge {called(i)} -> {called(j)}, too small to "
                f"change the distance from {called(source)} that it is added to, so that the "
                "number of shortest paths is not defined"
            )


def _fits(A: Matrix) -> bool:
    """Return whether FP64 holds the integer lengths of all paths exactly."""
    return not A.nvals or A.nrows * int(arguments.extent(A)[1]) <= 2**53


def _sum(xp: Any, first: Dependencies, other: Dependencies) -> Dependencies:
    """Add two batches' dependencies in the arrays of the first, and join their counts."""
    totals, edges, reached, _ = first
    totals += other.totals
    if edges is not None:
        edges += other.edges
    if reached is not None:
        reached += other.reached
    counts = xp.concatenate((first.counts, other.counts))
    return Dependencies(totals, edges, reached, counts)


def definition(
    A: Matrix, sources: np.ndarray, *, is_weighted: bool = False, of_edges: bool = False
) -> Carried:
    """The same as algebra: of weights source by source, else a batch of them at a time."""
    n = A.nrows
    totals, reached = iterations.full(0.0, n), iterations.full(0, n, int)
    edges, counts = None, np.zeros(sources.size, np.int64)
    if of_edges:
        # E = 0 on the pattern of A
        edges = A.apply(unary.one).new(FP64).apply(binary.times, right=0.0).new()
    for part in many.batches(A, sources.size, "betweenness", 1 if is_weighted else BATCH):
        some = sources[part]
        if not some.size:
            break
        if is_weighted:
            paths, shares, carried = _along_weights(A, int(some[0]), edges)
        else:
            paths, shares, carried = _level_by_level(A, some, edges)
        own = Matrix.from_coo(np.arange(some.size), some, True, nrows=some.size, ncols=n)
        # δ = σ ∘ s, but at the sources
        each = binary.times(paths & shares).new(mask=~own.S)
        totals(binary.plus) << each.reduce_columnwise(monoid.plus)
        others = paths.apply(unary.one).new(INT64, mask=~own.S)
        reached(binary.plus) << others.reduce_columnwise(monoid.plus)
        counted = others.reduce_rowwise(monoid.plus).new()
        counts[part] = 1 + counted.to("cpu").to_dense(0)
        if edges is not None and carried is not None:
            edges(binary.plus) << carried
    return Carried(totals, edges, reached, counts)


def _level_by_level(
    A: Matrix, sources: np.ndarray, edges: Matrix | None
) -> tuple[Matrix, Matrix, Matrix | None]:
    """For each source (a row): the number of paths to v, and Σ of what each such path carries on.

    Invariants: after round d, P has the vertices at most d edges away, and levels[d], of their
    pattern, those d away; in the second loop W(v) is what each path to v carries, 1 for v itself.
    """
    rows, n = sources.size, A.nrows
    P = Matrix.from_coo(np.arange(rows), sources, 1.0, FP64, nrows=rows, ncols=n)
    frontier, levels = P.dup(), []
    while frontier.nvals:
        levels.append(frontier)
        # F⟨¬P, r⟩ = F plus.first A
        following = plus_first["FP64"](frontier @ A).new(mask=~P.S)
        # P = P + F
        P(binary.plus) << following
        frontier = following
    # shares = 0 on the pattern of P; one path = 1 / P
    shares, one = P.apply(binary.times, right=0.0).new(), P.apply(unary.minv).new()
    carried = None
    for nearer, farther in zip(levels[-2::-1], levels[:0:-1], strict=True):
        # W⟨levels[d]⟩ = 1 / P + shares
        W = binary.plus(one & shares).new(mask=farther.S)
        # shares⟨levels[d - 1]⟩ = W plus.first Aᵀ
        shares(nearer.S, binary.plus) << plus_first["FP64"](W @ A.T)
        if edges is not None:
            # E⟨A⟩ = E + P⟨levels[d - 1]⟩ᵀ plus.times W: levels[d - 1] has the paths as its values
            along = plus_times(nearer.T @ W).new(mask=edges.S)
            carried = along if carried is None else binary.plus(carried | along).new()
    return P, shares, carried


def _along_weights(
    A: Matrix, source: int, edges: Matrix | None
) -> tuple[Matrix, Matrix, Matrix | None]:
    """The same for one source, by T: the edges u → v that a shortest path ends with."""
    n = A.nrows
    tight, nearer = _tight(A, sssp(A, source))
    T = tight.dup(mask=nearer.S)
    # σ = s + sT + sT² ...
    term = Vector.from_coo([source], 1.0, FP64, size=n)
    sigma = term.dup()
    while term.nvals:
        term = plus_first["FP64"](term @ T).new()
        sigma(binary.plus) << term
    # share = Tc + T²c ..., where c = 1 / σ
    one = sigma.apply(unary.minv).new()
    share, term = sigma.apply(binary.times, right=0.0).new(), one
    while term.nvals:
        term = plus_second["FP64"](T @ term).new()
        share(binary.plus) << term
    carried = None
    if edges is not None:
        # E(u, v) = σ(u) (1 / σ(v) + share(v)) on T
        left = plus_first["FP64"](sigma.diag() @ T).new()
        carried = plus_times(left @ binary.plus(one & share).new().diag()).new()
    return _row(sigma), _row(share), carried


def _tight(A: Matrix, d: Vector) -> tuple[Matrix, Matrix]:
    """Return two Boolean matrices: where d(u) + A(u, v) = d(v), and where d(u) < d(v)."""
    D, dtype = d.diag(), d.dtype
    # S(u, v) = d(u) + A(u, v)
    begin, end = any_first[dtype](D @ A).new(), any_second[dtype](A @ D).new()
    S = any_plus[dtype](D @ A).new()
    nearer = select.valueeq(binary.lt(begin & end).new(), True).new()
    tight = select.valueeq(binary.eq(S & end).new(), True).new()
    return tight, nearer


def _row(x: Vector) -> Matrix:
    indices, values = x.to_coo()
    return Matrix.from_coo(np.zeros(x.nvals, int), indices, values, nrows=1, ncols=x.size)
