"""Communities by the Leiden method: like those of the Louvain method, but always connected.

The method is due to V. Traag, L. Waltman and N. J. van Eck (2019). Vertices move to raise the
modularity, as in the Louvain method. Then each community is refined: it is divided into parts in
which the vertices are well connected. The parts, not the communities, become the vertices of the
next level. At the start of this level, the parts of a community form a community again, but each
part can move to another community. So a later level can divide a community that an earlier level
found. A vertex joins the part with the largest gain, not a random part.

On the CPU one vertex after another joins a part. On a GPU, and in `definition`, many vertices join
in each round (see `refine_in_rounds`). At the end each community is replaced by its connected
components, which raises the modularity or leaves it unchanged.

Invariants, at the start of each level:
- L, out and into are as in the module `louvain`;
- labels maps each vertex of A to the vertex of the level that contains it;
- start maps each vertex of the level to its community, or is None on the first level;
- the vertices of A that are in the same vertex of the level are connected.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial, reduce
from typing import Any

import numpy as np

from graphla import agg
from graphla.algorithms._shared import hashed_random, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.algorithms._shared.membership import lookup, renumber, selection, vertex_numbers
from graphla.algorithms.components import connected_components
from graphla.algorithms.louvain import (
    LEVELS,
    MARGIN,
    ROUNDS,
    links_and_degrees,
    merge,
    move_in_rounds,
    move_vertices,
    sum_by_community,
)
from graphla.graph.cached_properties import has_symmetric_values
from graphla.operations.accelerate import RefineCommunities, accelerated
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid, select
from semirings.semiring import any_first, plus_first

ITERATIONS = 2
"""Number of runs of the method; each starts from the communities of the previous run."""

Move = Callable[[Matrix, Vector, Vector, float, int, Vector | None], Vector]
Refine = Callable[[Matrix, Vector, Vector, Vector, float, int], Vector]


@graph_algorithm(gives=("",))
def leiden(
    A: Matrix,
    weight: bool | str | None = True,
    resolution: float = 1,
    max_level: int | None = None,
    seed: int | np.random.Generator | None = None,
    *,
    directed: bool | None = None,
) -> Vector:
    """``l(i)`` is the smallest vertex in i's community; communities are connected.

    Find communities of high modularity by the Leiden method.

    Each level moves vertices between communities to raise the modularity, divides the communities
    into well-connected parts, and merges each part into one vertex of the next level. Each
    community of the result is connected (in a directed graph, weakly connected). Takes about O(m)
    time per round. On the CPU, results for the same seed are identical with and without Numba, and
    for any number of threads. On a GPU, where many vertices move at once, the results differ from
    those on the CPU but have about the same modularity.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        weight: if True, or the name of an edge attribute as in NetworkX, the values of A, which
            must be at least 0, are used; if None or False, each edge counts as 1.
        resolution: the resolution γ of the modularity, at least 0; values above 1 favor smaller
            communities.
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
        >>> from graphla.algorithms import leiden
        >>> A = Matrix.from_coo([0, 0, 1, 2, 3, 3, 4], [1, 2, 2, 3, 4, 5, 5], 1, nrows=6, ncols=6)
        >>> leiden(binary.any(A | A.T).new()).to_dense().tolist()
        [0, 0, 0, 3, 3, 3]

    References:
        V. Traag, L. Waltman and N. J. van Eck, *From Louvain to Leiden: Guaranteeing Well-Connected
            Communities*, 2019.
    """
    found = levels(A, weight, resolution, max_level, seed, directed)
    return reduce(lambda _, labels: labels, found, vertex_numbers(A))


@graph_algorithm(gives=("",))
def definition(
    A: Matrix,
    weight: bool | str | None = True,
    max_level: int | None = None,
    seed: int | np.random.Generator | None = None,
) -> Vector:
    """Compute the same communities as a GPU does, but with matrix products and on any device."""
    rounds = move_in_rounds, refine_in_rounds
    found = levels(A, weight, 1, max_level, seed, None, *rounds)
    return reduce(lambda _, labels: labels, found, vertex_numbers(A))


def levels(
    A: Matrix,
    weight: bool | str | None = True,
    resolution: float = 1,
    max_level: int | None = None,
    seed: int | np.random.Generator | None = None,
    directed: bool | None = None,
    move: Move = move_vertices,
    refine: Refine | None = None,
) -> Iterator[Vector]:
    """Yield the communities after each level.

    Each vertex is labeled with the smallest vertex of its community. `move` moves the vertices of
    one level, and `refine` divides its communities; the default is `refine_communities`. Other
    parameters are as in `leiden`. All arguments are checked before the first level is requested.
    """
    drawn = hashed_random.seed_number(seed)
    resolution = validation.real("resolution", resolution, low=0)
    last = LEVELS if max_level is None else validation.count("max_level", max_level, least=1)
    L, out, into, total = links_and_degrees(A, validation.weighs("weight", weight), directed)
    if not total:
        return iter(())
    steps = move, refine or refine_communities
    return _refine_levels(A, (L, out, into), resolution / (2 * total), last, drawn, *steps)


def _refine_levels(
    A: Matrix,
    level: tuple[Matrix, Vector, Vector],
    factor: float,
    last: int,
    seed: int,
    move: Move,
    refine: Refine,
) -> Iterator[Vector]:
    """Yield the communities after each level, until no part has more than one vertex."""
    start, found, k = None, vertex_numbers(A), 0
    for _ in range(ITERATIONS):
        (L, out, into), labels = level, None
        while k < last:
            word = hashed_random.mix(seed + k)
            community, count = renumber(move(L, out, into, factor, word, start))
            whole = community if labels is None else lookup(labels, community)
            found = connected_components(inside(A, whole))
            yield found
            k += 1
            if count == L.nrows:
                break
            divided = refine(L, out, into, community, factor, hashed_random.mix(word))
            divided, parts = renumber(divided)
            if parts == L.nrows:
                break
            # start(divided(i)) = community(i)
            start = _of_parts(community, divided, parts)
            L, out, into = merge(L, out, into, divided, parts)
            # l(i) = divided(l(i))
            labels = divided if labels is None else lookup(labels, divided)
        start = renumber(found)[0]


def refine_communities(
    L: Matrix, out: Vector, into: Vector, community: Vector, factor: float, seed: int
) -> Vector:
    """Divide each community into connected parts, and return the part of each vertex."""
    request = RefineCommunities(L, out, into, community, factor, MARGIN, seed)
    rounds = partial(refine_in_rounds, L, out, into, community, factor, seed)
    return accelerated(request, rounds)


def refine_in_rounds(
    L: Matrix, out: Vector, into: Vector, community: Vector, factor: float, seed: int
) -> Vector:
    """Like `refine_communities`, but many vertices join parts in each round.

    In a round, about half of the vertices that form a part by themselves may join another part. A
    vertex joins a part only if this part may not itself join another part in this round. So a part
    never loses a vertex, and each part is connected. A part is named by its first vertex.
    """
    N, n = inside(select.offdiag(L).new(), community), L.nrows
    outs, intos = (sum_by_community(x, community, n) for x in (out, into))
    wholes = [lookup(community, x).to_dense(copy=False) for x in (outs, intos)]
    degrees = [x.to_dense(copy=False) for x in (out, into)]
    # cut(v) = the weight between v and the rest of its community
    cut, part = _row_sums(N), vertex_numbers(L)
    for k in range(ROUNDS):
        S = selection(part)
        # G = NS: the weight between each vertex and each part of its community
        G = plus_first(N @ S).new()
        # cuts(p) = the weight between part p and the rest of its community
        inner = binary.minus(cut & _row_sums(G.dup(mask=S.S))).new()
        cuts, *sums = (_sum_by_part(x, S) for x in (inner, out, into))
        expected = _expected(sums, [x - y for x, y in zip(wholes, sums, strict=True)], factor)
        sizes = _sum_by_part(Vector.from_scalar(1.0, n), S)
        wished = _choose_parts(G, sizes == 1, cuts >= expected, degrees, sums, factor)
        if not wished.nvals:
            break
        coins = hashed_random.coins(L, hashed_random.first_counter(hashed_random.mix(seed + k)))
        joins = coins.to_dense(copy=False) & (sizes == 1)
        v, target = wished.to_coo(copy=False)
        may = joins[v] & ~joins[target]
        labels = part.to_dense(copy=False).copy()
        labels[v[may]] = target[may]
        part = Vector.from_dense(labels, copy=False)
    return part


def _choose_parts(
    G: Matrix, is_alone: Any, is_connected: Any, degrees: Any, sums: Any, factor: float
) -> Vector:
    """Return the part with the largest gain for each vertex that should join a part."""
    v, p, weight = G.to_coo(copy=False)
    gain = weight - _expected([x[v] for x in degrees], [x[p] for x in sums], factor)
    least = MARGIN * (degrees[0] + degrees[1])[v]
    may = is_alone[v] & is_connected[v] & is_connected[p] & (v != p) & (gain > least)
    shape: dict[str, Any] = {"nrows": G.nrows, "ncols": G.ncols}
    # wished(v) = the first part p with the largest gain(v, p)
    return Matrix.from_coo(v[may], p[may], gain[may], **shape).reduce_rowwise(agg.argmax).new()


def _expected(some: Any, others: Any, factor: float) -> Any:
    """Return the expected weight between two sets, given the weights (out, into) of each set."""
    return factor * (some[0] * others[1] + some[1] * others[0])


def _row_sums(N: Matrix) -> Vector:
    """Return the sum of each row as a full Vector."""
    x = Vector.from_scalar(0.0, N.nrows)
    x(binary.plus) << N.reduce_rowwise(monoid.plus)
    return x


def _sum_by_part(x: Vector, S: Matrix) -> Any:
    """Return xS, the sums of x over the parts, as an array; 0 for a part without vertices."""
    return plus_first(x @ S).new().to_dense(0, copy=False)


def _of_parts(labels: Vector, divided: Vector, parts: int) -> Vector:
    """Return, for each part, the label that its vertices share."""
    if labels.device == "cpu":
        found = np.empty(parts, np.int64)
        found[divided.to_dense(copy=False)] = labels.to_dense(copy=False)
        return Vector.from_dense(found, copy=False)
    return any_first(labels @ selection(divided, parts)).new()


def inside(L: Matrix, community: Vector) -> Matrix:
    """Return the entries of L whose row and column are in the same community."""
    labels = community.to_dense(copy=False)
    indptr, columns, values = L.to_csr(copy=False)
    rows = L.to_coo(columns=False, values=False, copy=False)[0]
    kept = labels[rows] == labels[columns]
    before = np.concatenate((np.zeros_like(indptr, shape=1), kept.cumsum(dtype=indptr.dtype)))
    shape: dict[str, Any] = {"ncols": L.ncols, "symmetric": has_symmetric_values(L)}
    return Matrix.from_csr(before[indptr], columns[kept], values[kept], copy=False, **shape)
