"""Communities by the Louvain method: move vertices to raise the modularity, then merge communities.

The method is due to V. Blondel et al. (2008), and for directed graphs to N. Dugué and A. Perez
(2015). Each vertex moves to the neighboring community that raises the modularity the most, until no
move raises it. Then the communities become the vertices of the next level, whose matrix is SᵀLS,
where S is the membership matrix. On the CPU the vertices move one by one; when a vertex moves, its
neighbors enter a queue (as in V. Traag, 2015). In a large graph, batches of random vertices first
choose their moves simultaneously, so that all threads take part. On a GPU many vertices move
simultaneously, in rounds; `definition` computes the same rounds with matrix products.

Invariants, at the start of each level:
- L is symmetric and has integer values (`community_weights.scale_to_integers`), so that sums are
  exact in any order;
- out and into hold the total weight of the outgoing and incoming edges of each vertex of the level;
- labels maps each vertex of A to the vertex of the level that contains it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from graphla import agg
from graphla.algorithms._shared import community_weights, hashed_random, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms._shared.membership import lookup, renumber, selection, vertex_numbers
from graphla.operations.accelerate import (
    Contraction,
    Gains,
    MoveCommunities,
    Rounds,
    accelerated,
)
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid, select
from semirings.semiring import any_second, min_first, plus_first, plus_second

LEVELS = 100
"""Maximum number of levels. A level usually halves the number of vertices, so this is ample."""
MARGIN = 1e-12
"""The minimum gain of a move, divided by the degree of the vertex. It exceeds rounding errors."""
ROUNDS = 100
"""The maximum number of rounds on one level."""
PATIENCE, RISE, SHARE = 2, 1e-4, 2e-3
"""Stopping criteria for a level of the Louvain method.

The level ends after PATIENCE consecutive rounds that each raise the modularity by at most RISE, or
by at most SHARE times the total gain on the level.
"""

LARGE = 1 << 16
"""If a matrix on the CPU has fewer entries than this, NumPy computes the sums of its entries."""


@graph_algorithm(gives=("",))
def louvain(
    A: Matrix,
    weight: bool | str | None = True,
    resolution: float = 1,
    threshold: float = 1e-7,
    max_level: int | None = None,
    seed: int | np.random.Generator | None = None,
    *,
    directed: bool | None = None,
) -> Vector:
    """``l(i)`` is the smallest vertex in i's community; communities have high modularity.

    Find communities by the Louvain method.

    Each vertex moves to the neighboring community that raises the modularity the most; then the
    communities become the vertices of the next level. Takes about O(m) time per round. On the CPU,
    results for the same seed are identical with and without Numba, and for any number of threads.
    On a GPU, where many vertices move at once, the results differ from those on the CPU but have
    about the same modularity.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        weight: if True, or the name of an edge attribute as in NetworkX, the values of A, which
            must be at least 0, are used; if None or False, each edge counts as 1.
        resolution: the resolution γ of the modularity, at least 0; values above 1 favor smaller
            communities.
        threshold: stop after the first level that raises the modularity by no more than this value,
            which must be at least 0.
        max_level: the maximum number of levels, at least 1; None means no limit.
        seed: determines the order in which vertices move: None (the same as 0), a non-negative
            integer, or a `numpy.random.Generator`. The same seed gives the same result on the same
            device.
        directed: whether the graph is directed. If None, a Graph uses its own `directed` flag, and
            a Matrix counts as undirected if it is symmetric. In an undirected graph each self-loop
            counts twice, as in NetworkX.

    Returns:
        Vector: the labels, a full Vector of size n and dtype INT64; each is the smallest vertex of
            its community.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If a weight is negative or NaN, if the sum of the weights is not finite, or if
            another argument is out of range.

    Examples:
        >>> from graphla import Matrix, binary
        >>> from graphla.algorithms import louvain
        >>> A = Matrix.from_coo([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], 1, nrows=6, ncols=6)
        >>> louvain(binary.any(A | A.T).new()).to_dense().tolist()
        [0, 0, 0, 3, 3, 3]

    References:
        V. Blondel, J.-L. Guillaume, R. Lambiotte and E. Lefebvre, *Fast Unfolding of Communities in
            Large Networks*, 2008.
        N. Dugué and A. Perez, *Directed Louvain*, 2015.
        V. Traag, *Faster Unfolding of Communities*, 2015.
    """
    return _find_communities(
        A, weight, resolution, threshold, max_level, seed, directed, move_vertices
    )


@graph_algorithm(gives=("",))
def definition(
    A: Matrix,
    weight: bool | str | None = True,
    max_level: int | None = None,
    seed: int | np.random.Generator | None = None,
) -> Vector:
    """Compute the same communities as a GPU does, but with matrix products and on any device."""
    return _find_communities(A, weight, 1, 1e-7, max_level, seed, None, move_in_rounds)


def _find_communities(
    A: Matrix,
    weight: bool | str | None,
    resolution: float,
    threshold: float,
    max_level: int | None,
    seed: int | np.random.Generator | None,
    directed: bool | None,
    move: Callable[[Matrix, Vector, Vector, float, int], Vector],
) -> Vector:
    """Run all levels, and label each vertex with the smallest vertex of its community."""
    found = levels(A, weight, resolution, threshold, max_level, seed, directed, move)
    labels = None
    for labels in found:  # noqa: B007
        pass
    return vertex_numbers(A) if labels is None else name_by_smallest(labels, A.nrows)


def levels(
    A: Matrix,
    weight: bool | str | None = True,
    resolution: float = 1,
    threshold: float = 1e-7,
    max_level: int | None = None,
    seed: int | np.random.Generator | None = None,
    directed: bool | None = None,
    move: Callable[[Matrix, Vector, Vector, float, int], Vector] | None = None,
) -> Iterator[Vector]:
    """Yield the communities after each level that merges vertices.

    Each vertex is labeled with the number of its community, counted from 0. `move` moves the
    vertices of one level; the default is `move_vertices`. Other parameters are as in `louvain`. All
    arguments are checked before the first level is requested.
    """
    drawn = hashed_random.seed_number(seed)
    resolution = validation.real("resolution", resolution, low=0)
    threshold = validation.real("threshold", threshold, low=0)
    last = LEVELS if max_level is None else validation.count("max_level", max_level, least=1)
    L, out, into, total = links_and_degrees(A, validation.weighs("weight", weight), directed)
    if not total:
        return iter(())
    factor = resolution / (2 * total)
    return _merge_levels(
        (L, out, into), factor, threshold * total, last, drawn, move or move_vertices
    )


def _merge_levels(
    level: tuple[Matrix, Vector, Vector],
    factor: float,
    least: float,
    last: int,
    seed: int,
    move: Callable[[Matrix, Vector, Vector, float, int], Vector],
) -> Iterator[Vector]:
    """Yield the communities after each level, until a level gains at most `least`.

    `level` consists of L, out and into.
    """
    L, out, into = level
    labels, before = None, quality_of(L, out, into, factor)
    for k in range(last):
        community = move(L, out, into, factor, hashed_random.mix(seed + k))
        community, parts = renumber(community)
        if parts == L.nrows:
            break
        L, out, into = merge(L, out, into, community, parts)
        # l(i) = community(l(i))
        labels = community if labels is None else lookup(labels, community)
        yield labels
        quality = quality_of(L, out, into, factor)
        if quality - before <= least:
            break
        before = quality


def merge(
    L: Matrix, out: Vector, into: Vector, community: Vector, parts: int
) -> tuple[Matrix, Vector, Vector]:
    """Merge the vertices of each community into one vertex. Return the new L, out and into."""
    # L = SᵀLS, where S(i, c) exists if vertex i is in community c
    merged = accelerated(Contraction(L, community, parts), partial(_contract, L, community, parts))
    # out = out S
    outs = sum_by_community(out, community, parts)
    # into = into S
    intos = outs if into is out else sum_by_community(into, community, parts)
    return merged, outs, intos


def name_by_smallest(labels: Vector, parts: int) -> Vector:
    """Replace each label, a number below `parts`, by the smallest vertex with this label."""
    if labels.device == "cpu":
        community = labels.to_dense(copy=False)
        # If several values are assigned to one element, NumPy keeps the last value.
        smallest = np.empty(parts, np.int64)
        smallest[community[::-1]] = np.arange(labels.size)[::-1]
        return Vector.from_dense(smallest[community], copy=False)
    S = selection(labels, parts)
    # least = the smallest vertex in each community
    least = min_first(vertex_numbers(S) @ S).new()
    return lookup(labels, least)


def sum_by_community(x: Vector, community: Vector, parts: int) -> Vector:
    """Return the sum of the values x(i) of the vertices i in each community."""
    if x.device == "cpu":
        labels, values = (v.to_dense(copy=False) for v in (community, x))
        return Vector.from_dense(np.bincount(labels, values, parts), copy=False)
    return plus_first(x @ selection(community, parts)).new()


def _contract(L: Matrix, community: Vector, parts: int) -> Matrix:
    """Return SᵀLS, where S is the membership matrix of the communities."""
    return contract(L, selection(community, parts))


def contract(L: Matrix, S: Matrix) -> Matrix:
    """``SᵀLS``: add each entry of L to the entry for the communities of its row and column."""
    return plus_first(plus_second(S.T @ L).new() @ S).new()


def move_vertices(
    L: Matrix, out: Vector, into: Vector, factor: float, seed: int, start: Vector | None = None
) -> Vector:
    """Move the vertices of one level to raise the modularity, and return their communities.

    Initially the communities are those of `start`; None makes each vertex its own community.
    """
    rounds = None if L.device == "cpu" else _rounds(seed)  # only a GPU moves vertices in rounds
    request = MoveCommunities(L, out, into, factor, MARGIN, seed, rounds, start)
    return accelerated(request, partial(move_in_rounds, L, out, into, factor, seed, start))


def move_in_rounds(
    L: Matrix, out: Vector, into: Vector, factor: float, seed: int, start: Vector | None = None
) -> Vector:
    """Like `move_vertices`, but in rounds; each moves about half of the vertices that would gain.

    Return the communities of the round with the highest modularity.
    """
    L, rounds = select.offdiag(L).new(), _rounds(seed)
    start = vertex_numbers(L) if start is None else start
    community = best = start.dup("INT32")
    gains = Gains(rounds, float(out.reduce(monoid.plus).get(0)))
    for first in rounds.streams:
        S = selection(community)
        # outs = out S, intos = into S: the total weight of the edges out of and into each community
        outs, intos = plus_first(out @ S).new(), plus_first(into @ S).new()
        # G = LS: the total weight of the edges between each vertex and each community
        G = plus_first(L @ S).new()
        inside = G.dup(mask=S.S).reduce_scalar(monoid.plus).get(0)
        balance = float(binary.times(outs & intos).new().reduce(monoid.plus).get(0))
        if gains.is_best(float(inside or 0) - 2 * factor * balance):
            best = community
        wished = wishes(G, S, (out, into), (outs, intos), factor)
        if not gains.patience or not wished.nvals:
            break
        # Vertex i moves to community wished(i) if wished has an entry i and the random bit of i
        # is true.
        moves = wished.dup(mask=hashed_random.coins(L, first).V)
        community = community.dup()
        community(moves.S) << moves
    return best


def wishes(
    G: Matrix,
    S: Matrix,
    degrees: tuple[Vector, Vector],
    totals: tuple[Vector, Vector],
    factor: float,
) -> Vector:
    """Return the best new community of each vertex. Vertices that should stay have no entry.

    The best community c is the one with the largest gain. The gain of vertex i in community c is
    G(i, c) - factor·(out(i)·into(c) + into(i)·out(c)). Here G(i, c) is the total weight of the
    edges between i and c, `factor` is the resolution divided by twice the sum of all weights, and
    out and into are the total weights of the edges out of and into a vertex or a community; out(c)
    and into(c) exclude vertex i.
    """
    (out, into), (outs, intos) = degrees, totals
    # stay(i) = the gain of i in its own community, with i excluded from the community's totals
    own_intos = binary.minus(any_second(S @ intos).new() & into).new()
    own_outs = binary.minus(any_second(S @ outs).new() & out).new()
    shares = binary.plus(binary.times(out & own_intos).new() & binary.times(into & own_outs).new())
    stay = binary.times(shares.new(), -factor).new()
    stay(binary.plus) << G.dup(mask=S.S).reduce_rowwise(monoid.plus)
    # gain⟨¬S⟩ = G - factor·(out(i)·intos(c) + into(i)·outs(c))
    away = G.dup(mask=~S.S)
    to_intos = binary.times(out & binary.second(away & intos).new()).new()
    to_outs = binary.times(into & binary.second(away & outs).new()).new()
    shares = binary.times(binary.plus(to_intos & to_outs).new(), factor).new()
    gain = binary.minus(away & shares).new()
    # wished(i) = the first community c with the largest gain(i, c), if this gain exceeds stay(i)
    # by a margin
    least = binary.plus(stay & binary.times(binary.plus(out & into).new(), MARGIN).new()).new()
    better = binary.gt(gain.reduce_rowwise(monoid.max).new() & least).new()
    return gain.reduce_rowwise(agg.argmax).new("INT32", mask=better.V)


def links_and_degrees(
    A: Matrix, weight: bool, directed: bool | None
) -> tuple[Matrix, Vector, Vector, float]:
    """Return L, out, into and the total weight.

    L is (A + Aᵀ) / 2, scaled to integers. The vectors out and into hold the scaled weights of the
    edges out of and into each vertex.
    """
    if weight:
        validation.nonnegative(A)
    B, is_symmetric = community_weights.edge_weights(A, weight)
    if is_symmetric if directed is None else not directed:
        B = community_weights.double_loops(B)
    B, total = community_weights.scale_to_integers(B)
    if B.device == "cpu" and B.nvals < LARGE:
        rows, columns, weights = B.to_coo(copy=False)
        sums = [np.bincount(x, weights, A.nrows) for x in (rows, columns)[: 2 - is_symmetric]]
        out, into = Vector.from_dense(sums[0], copy=False), Vector.from_dense(sums[-1], copy=False)
        into = out if is_symmetric else into
        return B if is_symmetric else community_weights.symmetrize(B), out, into, total
    out = Vector.from_scalar(0.0, A.nrows)
    # out and into are the row and column sums of B; they share one vector if B is symmetric
    out(binary.plus) << B.reduce_rowwise(monoid.plus)
    into = out
    if not is_symmetric:
        into = Vector.from_scalar(0.0, A.nrows)
        into(binary.plus) << B.reduce_columnwise(monoid.plus)
    return B if is_symmetric else community_weights.symmetrize(B), out, into, total


def quality_of(L: Matrix, out: Vector, into: Vector, factor: float) -> float:
    """Return Σ L(c, c) - 2·factor·Σ out(c)·into(c): the modularity times the sum of all weights.

    Both sums run over the vertices c of the matrix L, each of which stands for a community.
    `factor` is the resolution divided by twice the sum of all weights.
    """
    if L.device == "cpu" and L.nvals < LARGE:
        rows, columns, weights = L.to_coo(copy=False)
        of_out, of_into = (x.to_dense(copy=False) for x in (out, into))
        # All sums are sums of integers, which are exact in any order.
        inside = float(weights[rows == columns].sum())
        return inside - 2 * factor * float((of_out * of_into).sum())
    inside = L.diag().reduce(monoid.plus).get(0)
    return float(inside - 2 * factor * binary.times(out & into).new().reduce(monoid.plus).get(0))


def _rounds(seed: int) -> Rounds:
    """Return a hash seed for each round of a level, and the stopping criteria for the level."""
    streams = (hashed_random.first_counter(hashed_random.mix(seed + k)) for k in range(ROUNDS))
    return Rounds(tuple(streams), PATIENCE, RISE, SHARE)
