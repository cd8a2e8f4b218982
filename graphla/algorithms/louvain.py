"""Communities by Louvain's method: moves that raise the modularity, on ever smaller graphs.

V. Blondel, J.-L. Guillaume, R. Lambiotte and E. Lefebvre, *Fast Unfolding of Communities in Large
Networks*, 2008; for directed graphs N. Dugué and A. Perez, *Directed Louvain*, 2015. Vertices move
to the community around them that raises the modularity most, until none does; then communities
become the vertices of the next level, by the product SᵀLS with their membership S. On the CPU the
vertices move one by one; when a vertex moves, its neighbors enter a queue (as in V. Traag, *Faster
Unfolding of Communities*, 2015). On a GPU many vertices move at once, in rounds; `definition`
computes the same rounds with matrix products.

Invariants, at the head of each level:
- L is symmetric, of whole numbers (`weights.whole`), so that sums are exact in any order;
- out and into are what the edges out of and into each vertex of the level weigh;
- labels has, for each vertex of A, the vertex of the level that it has become part of.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from graphla import agg
from graphla.algorithms import arguments, chance, weights
from graphla.algorithms.modularity import membership
from graphla.backends import backend
from graphla.backends.requests import CommunityMoves, Gains, Rounds
from graphla.formats import Array
from graphla.operations.operation import perform
from graphla.sparse import Matrix, Vector
from graphla.stores import MatrixForms
from semirings import binary, monoid, select
from semirings.semiring import min_first, plus_first

LEVELS = 100
"""More than there are: a level has mostly less than half the vertices of the one before."""
MARGIN = 1e-12
"""What a move must gain, as a share of the edges of its vertex: more than rounding feigns."""
ROUNDS = 100
"""The greatest number of rounds on one level."""
PATIENCE, RISE, SHARE = 2, 1e-4, 2e-3
"""A level ends after PATIENCE rounds in a row that raise the modularity by at most RISE, or by at
most SHARE of what all rounds of the level have raised it by."""


@arguments.of_graph(gives=("",))
def louvain(
    A: Matrix,
    weight: Any = True,
    resolution: float = 1,
    threshold: float = 1e-7,
    max_level: int | None = None,
    seed: Any = None,
    *,
    directed: bool | None = None,
) -> Vector:
    """l(i) = the least vertex of the community of i, found by moves that raise the modularity.

    Weights are the values of A, nowhere below 0, or 1 each if `weight` is False; `resolution` above
    1 makes communities smaller. The last level is `max_level`, or the first to raise the modularity
    by no more than `threshold`. `seed` (None means 0) determines the order in which vertices move.
    On the CPU, one seed gives the same result with and without Numba. On a GPU, where many vertices
    move at once, it gives a different result of about the same modularity. For `directed` see
    `modularity`.

    >>> from graphla import Matrix, binary
    >>> from graphla.algorithms import louvain
    >>> A = Matrix.from_coo([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], 1, nrows=6, ncols=6)
    >>> louvain(binary.any(A | A.T).new()).to_dense().tolist()
    [0, 0, 0, 3, 3, 3]
    """
    return _by_levels(A, weight, resolution, threshold, max_level, seed, directed, moved)


@arguments.of_graph(gives=("",))
def definition(
    A: Matrix, weight: Any = True, max_level: int | None = None, seed: Any = None
) -> Vector:
    """Return the communities that a GPU finds, computed with products on any device."""
    return _by_levels(A, weight, 1, 1e-7, max_level, seed, None, in_rounds)


def _by_levels(
    A: Matrix,
    weight: Any,
    resolution: float,
    threshold: float,
    max_level: int | None,
    seed: Any,
    directed: bool | None,
    move: Callable[[Matrix, Vector, Vector, float, int], Array],
) -> Vector:
    """Return the least vertex of each vertex's community; `move` finds one level's communities."""
    n, drawn = A.nrows, chance.seeded(seed)
    numbers = Vector.from_dense(backend(A.device).xp.arange(n))
    resolution = arguments.real("resolution", resolution, low=0)
    threshold = arguments.real("threshold", threshold, low=0)
    last = LEVELS if max_level is None else arguments.count("max_level", max_level, least=1)
    L, out, into, total = _linked(A, arguments.weighs("weight", weight), directed)
    if not total:
        return numbers
    labels, factor = None, resolution / (2 * total)
    before = _quality(L, out, into, factor)
    for k in range(last):
        community = move(L, out, into, factor, chance.mixed(drawn + k))
        community, parts = perform("number", _numbered, L._forms, community)
        if parts == L.nrows:
            break
        S = membership(community, parts, L.device)
        # L = SᵀLS: each entry falls to the communities of its ends, where weights add up
        i, j, w = perform("follow", _ends, L._forms, community)
        L = Matrix.from_coo(i, j, w, nrows=parts, ncols=parts, dup_op=binary.plus)
        # out = out S, into = into S
        is_directed = into is not out
        out = plus_first(out @ S).new()
        into = plus_first(into @ S).new() if is_directed else out
        # l(i) = the community of l(i)
        labels = (
            community
            if labels is None
            else perform("follow", _followed, L._forms, community, labels)
        )
        quality = _quality(L, out, into, factor)
        if quality - before <= threshold * total:
            break
        before = quality
    if labels is None:
        return numbers
    # least = the least i of each community
    least = min_first(numbers @ membership(labels, L.nrows, L.device)).new()
    return least[labels].new()


def moved(L: Matrix, out: Vector, into: Vector, factor: float, seed: int) -> Array:
    """Return the community of each vertex of a level after moves that raise the modularity."""
    degrees = out.to_dense(copy=False), into.to_dense(copy=False)
    return perform("move", _moved, L._forms, degrees, factor, seed)


def in_rounds(L: Matrix, out: Vector, into: Vector, factor: float, seed: int) -> Array:
    """The same with all vertices at once: in each round about half of those who would gain move.

    The state of the greatest modularity is kept.
    """
    L, n, xp = select.offdiag(L).new(), L.nrows, backend(L.device).xp
    degrees = out.to_dense(copy=False), into.to_dense(copy=False)
    rounds = _rounds(seed)
    community = kept = xp.arange(n, dtype=xp.int32)
    gains = Gains(rounds, float(degrees[0].sum()))
    for stream in rounds.streams:
        totals = [xp.bincount(community, each, n) for each in degrees]
        wished, inside = wishes(L, degrees, totals, community, factor)
        quality = float(inside) - 2 * factor * float((totals[0] * totals[1]).sum())
        if gains.is_best(quality):
            kept = community
        wants = wished != community
        if not gains.patience or not wants.any():
            break
        coin = chance.stream(xp, n, stream) >> np.uint64(63) != 0
        community = xp.where(wants & coin, wished, community)
    return kept


def wishes(
    L: Matrix, degrees: tuple[Array, Array], totals: list[Array], community: Array, factor: float
) -> tuple[Array, Any]:
    """Where each vertex gains most, its own community if nowhere; and what links all to their own.

    gain(i, c) = L(i, c) - factor·(out(i)·into(c) + into(i)·out(c)), without i itself.
    """
    n, xp = L.nrows, backend(L.device).xp
    (out, into), (outs, intos) = degrees, totals
    # C = L plus.first S: what links each vertex to each community
    i, c, linked = plus_first(L @ membership(community, n, L.device)).new().to_coo(copy=False)
    own = c == community[i]
    gain = linked - factor * (
        out[i] * (intos[c] - xp.where(own, into[i], 0))
        + into[i] * (outs[c] - xp.where(own, out[i], 0))
    )
    stay = -factor * (out * (intos[community] - into) + into * (outs[community] - out))
    stay[i[own]] = gain[own]
    # the first c of the greatest gain(i, c), of those that are not i's own
    away = Matrix.from_coo(i[~own], c[~own], gain[~own], "FP64", nrows=n, ncols=n)
    most = away.reduce_rowwise(monoid.max).new().to_dense(-math.inf, copy=False)
    first = away.reduce_rowwise(agg.argmax).new().to_dense(0, copy=False)
    better = most > stay + MARGIN * (out + into)
    return xp.where(better, first.astype(np.int32), community), linked[own].sum()


def _linked(A: Matrix, weight: bool, directed: bool | None) -> tuple[Matrix, Vector, Vector, float]:
    """L = (A + Aᵀ) / 2 in whole numbers; what the edges out of and into each vertex weigh; and what
    all do."""
    if weight:
        arguments.nonnegative(A)
    B, is_symmetric = weights.of_edges(A, weight)
    if is_symmetric if directed is None else not directed:
        B = weights.with_loops_twice(B)
    B, total = weights.whole(B)
    out = Vector.from_scalar(0.0, A.nrows)
    # out = B plus, into = Bᵀ plus: one vector if B = Bᵀ
    out(binary.plus) << B.reduce_rowwise(monoid.plus)
    into = out
    if not is_symmetric:
        into = Vector.from_scalar(0.0, A.nrows)
        into(binary.plus) << B.reduce_columnwise(monoid.plus)
    return B if is_symmetric else weights.both_ways(B), out, into, total


def _quality(L: Matrix, out: Vector, into: Vector, factor: float) -> float:
    """Σ L(c, c) - 2·factor·Σ out(c)·into(c): the modularity, times the sum of all weights."""
    inside = L.diag().reduce(monoid.plus).get(0)
    return float(inside - 2 * factor * binary.times(out & into).new().reduce(monoid.plus).get(0))


def _moved(l: MatrixForms, degrees: tuple[Array, Array], factor: float, seed: int) -> Array:
    do = backend(l.device)
    words = partial(chance.words, do.xp, l.nrows, seed)
    request = CommunityMoves(l.csr, *degrees, factor, MARGIN, words, _rounds(seed))
    return do.move_communities(request)


def _rounds(seed: int) -> Rounds:
    streams = (chance.beginning(chance.mixed(seed + k)) for k in range(ROUNDS))
    return Rounds(tuple(streams), PATIENCE, RISE, SHARE)


def _numbered(l: MatrixForms, community: Array) -> tuple[Array, int]:
    """The communities that there are, numbered 0, 1, ... in their order; and how many."""
    xp = backend(l.device).xp
    there = xp.zeros(l.nrows, bool)
    there[community] = True
    numbers = xp.cumsum(there) - 1
    return numbers[community].astype(np.int32), int(numbers[-1]) + 1


def _ends(l: MatrixForms, community: Array) -> tuple[Array, Array, Array]:
    """The communities of both ends of each entry, and its value."""
    rows = backend(l.device).row_of_entry(l.csr)
    return community[rows], community[l.csr.indices], l.csr.values


def _followed(_: MatrixForms, community: Array, labels: Array) -> Array:
    return community[labels]
