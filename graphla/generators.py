"""Generated graphs: the same arguments and seed give the same matrix, on every platform.

By default they are symmetric and have no self-loops, and every edge has the value true (stored as
one element). `weights=(low, high)` draws a weight for each edge uniformly: integers from low to
high inclusive, or floats in [low, high).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from numbers import Integral, Real
from typing import Any

import numpy as np

from graphla.sparse import Matrix
from semirings.dtypes import BOOL, FP64, INT64, lookup_dtype
from semirings.exceptions import InvalidValue

LIMIT = 2**31  # the number of vertices is less than this

DRAWS = 64
"""Number of endpoints that `watts_strogatz` draws before it leaves an edge unchanged."""

_BLOCK = 1 << 16  # number of edges drawn per batch; changing it changes the generated graphs


def kronecker(
    scale: int,
    edge_factor: int = 16,
    A: float = 0.57,
    B: float = 0.19,
    C: float = 0.19,
    *,
    seed: int = 0,
    symmetric: bool = True,
    self_loops: bool = False,
    weights: tuple[float, float] | None = None,
    dtype: Any = None,
    name: Any = None,
) -> Matrix:
    """Return a Graph500 (R-MAT) graph: 2^scale vertices and edge_factor * 2^scale drawn edges.

    For each edge, pairs of one source bit and one target bit are drawn: (0, 0) with probability A,
    (0, 1) with B, (1, 0) with C, otherwise (1, 1). Then the vertices are renumbered at random.
    Duplicate edges and self-loops are dropped, so fewer edges remain: about 3.8 of 4.2 million at
    scale 18.

    Args:
        scale: the binary logarithm of the number of vertices, at most 30.
        edge_factor: the number of drawn edges per vertex.
        A: the probability of the bits (0, 0).
        B: the probability of the bits (0, 1).
        C: the probability of the bits (1, 0).
        seed: the seed of the random numbers.
        symmetric: whether each edge is stored in both directions.
        self_loops: whether edges from a vertex to itself are kept.
        weights: (low, high), the range of the edge weights: integers from low to high inclusive if
            both are integers, otherwise floats in [low, high). If None, every edge has the value
            1, stored as one element.
        dtype: the dtype of the values; by default BOOL, INT64 or FP64, depending on `weights`.
        name: the name of the Matrix.

    Returns:
        A Matrix with 2^scale rows and columns.

    Raises:
        InvalidValue: an argument is out of range, or A + B + C exceeds 1.

    Examples:
        >>> from graphla import generators
        >>> generators.kronecker(10).nrows
        1024

    References:
        D. Chakrabarti, Y. Zhan and C. Faloutsos, "R-MAT: A Recursive Model for Graph Mining", 2004;
        https://graph500.org
    """
    scale = _whole("scale", scale, 30)
    if not (_is_real(edge_factor) and 0 <= edge_factor < math.inf):
        raise InvalidValue(f"edge_factor is {edge_factor!r}, but should be a number from 0")
    odds = [odd for odd in (A, B, C) if _is_real(odd) and 0 <= odd <= 1]
    if len(odds) < 3 or sum(odds) > 1 + 1e-12:
        problem = f"A, B, C are {A!r}, {B!r}, {C!r}, but should be probabilities of sum <= 1"
        raise InvalidValue(problem)
    rng = _rng(seed)
    n, m = 1 << scale, int(edge_factor * (1 << scale))
    u, v = np.empty(m, np.int32), np.empty(m, np.int32)
    for first in range(0, m, _BLOCK):
        block = slice(first, min(first + _BLOCK, m))
        _draw_bits(rng, scale, (A, B, C), u[block], v[block])
    label = rng.permutation(n).astype(np.int32)
    u, v = label[u], label[v]
    if not self_loops:
        u, v = _without_loops(u, v)
    return _matrix(_keys(u, v, n, symmetric), n, symmetric, weights, dtype, rng, name)


def uniform(
    n: int,
    m: int,
    *,
    seed: int = 0,
    symmetric: bool = True,
    self_loops: bool = False,
    weights: tuple[float, float] | None = None,
    dtype: Any = None,
    name: Any = None,
) -> Matrix:
    """Return an Erdos-Renyi graph G(n, m): n vertices and exactly m edges, chosen uniformly.

    Args:
        n: the number of vertices.
        m: the number of distinct edges; in a symmetric graph, the number of connected pairs.
        seed: the seed of the random numbers.
        symmetric: whether each edge is stored in both directions.
        self_loops: whether edges from a vertex to itself are kept.
        weights: (low, high), the range of the edge weights: integers from low to high inclusive if
            both are integers, otherwise floats in [low, high). If None, every edge has the value
            1, stored as one element.
        dtype: the dtype of the values; by default BOOL, INT64 or FP64, depending on `weights`.
        name: the name of the Matrix.

    Returns:
        A Matrix with n rows and columns.

    Raises:
        InvalidValue: `n` or `m` is out of range.

    Examples:
        >>> from graphla import generators
        >>> generators.uniform(100, 300).nvals
        600
    """
    n = _size("n", n)
    pairs = n * (n - 1) // 2 if symmetric else n * (n - 1)
    possible = pairs + n if self_loops else pairs
    m = _whole("m", m, possible, ", all possible edges")
    rng = _rng(seed)
    # If m is at least half the number of possible edges, choose from a permutation of all of them.
    # The arrays then have n² elements, which is at most about 4 m.
    if m >= possible // 2:
        u, v = np.divmod(np.arange(n * n, dtype=np.int64), max(n, 1))
        wanted = (u >= v if symmetric else u >= 0) & ((u != v) | self_loops)
        keys = np.sort(rng.permutation(np.flatnonzero(wanted))[:m])
    else:
        keys = _distinct(rng, n, m, symmetric, self_loops)
    return _matrix(keys, n, symmetric, weights, dtype, rng, name)


def grid(
    *shape: int,
    drop: float = 0.0,
    seed: int = 0,
    symmetric: bool = True,
    weights: tuple[float, float] | None = None,
    dtype: Any = None,
    name: Any = None,
) -> Matrix:
    """Return a mesh in any number of dimensions: `grid(1000, 1000)` has 10^6 vertices.

    An edge connects each vertex with the next vertex along each axis. Vertices are numbered in
    row-major order: the last axis varies fastest.

    Args:
        *shape: the number of vertices along each axis.
        drop: the probability of dropping each edge.
        seed: the seed of the random numbers.
        symmetric: whether each edge is stored in both directions. If False, each edge leads to the
            vertex with the larger number.
        weights: (low, high), the range of the edge weights: integers from low to high inclusive if
            both are integers, otherwise floats in [low, high). If None, every edge has the value
            1, stored as one element.
        dtype: the dtype of the values; by default BOOL, INT64 or FP64, depending on `weights`.
        name: the name of the Matrix.

    Returns:
        A Matrix with prod(shape) rows and columns.

    Raises:
        InvalidValue: a size is out of range, or `drop` is not a probability.

    Examples:
        >>> from graphla import generators
        >>> generators.grid(2, 2).to_coo()[1].tolist()
        [1, 2, 0, 3, 0, 3, 1, 2]
    """
    sizes = tuple(_size("shape", size) for size in shape)
    n = _size("the product of shape", int(np.prod(sizes, dtype=object)))
    _check_probability("drop", drop)
    rng = _rng(seed)
    vertices = np.arange(n, dtype=np.int64).reshape(sizes)
    ends = ([], [])
    for axis in range(vertices.ndim):
        ends[0].append(np.delete(vertices, -1, axis).ravel() if vertices.shape[axis] else [])
        ends[1].append(np.delete(vertices, 0, axis).ravel() if vertices.shape[axis] else [])
    u, v = (np.concatenate([np.empty(0, np.int64), *end]).astype(np.int64) for end in ends)
    if drop:
        kept = rng.random(u.size) >= drop
        u, v = u[kept], v[kept]
    return _matrix(_keys(u, v, n, symmetric), n, symmetric, weights, dtype, rng, name)


def path(n: int, *, symmetric: bool = True, **options: Any) -> Matrix:
    """Return a path: the vertices 0 - 1 - 2 - ... - n-1 in a line.

    Args:
        n: the number of vertices.
        symmetric: whether each edge is stored in both directions. If False, each edge leads to the
            vertex with the larger number.
        **options: `drop`, `seed`, `weights`, `dtype` and `name`, as in `grid`.

    Returns:
        A Matrix with n rows and columns.

    Raises:
        InvalidValue: `n` is out of range.

    Examples:
        >>> from graphla import generators
        >>> generators.path(3, symmetric=False).to_dict()
        {(0, 1): True, (1, 2): True}
    """
    return grid(_size("n", n), symmetric=symmetric, **options)


def cycle(
    n: int,
    *,
    seed: int = 0,
    symmetric: bool = True,
    weights: tuple[float, float] | None = None,
    dtype: Any = None,
    name: Any = None,
) -> Matrix:
    """Return a cycle: the vertices 0 - 1 - 2 - ... - n-1 - 0 in a ring.

    Args:
        n: the number of vertices, at least 3.
        seed: the seed of the weights.
        symmetric: whether each edge is stored in both directions. If False,
            an edge leads from each vertex u to u + 1 (modulo n).
        weights: (low, high), the range of the edge weights: integers from low to high inclusive if
            both are integers, otherwise floats in [low, high). If None, every edge has the value
            1, stored as one element.
        dtype: the dtype of the values; by default BOOL, INT64 or FP64, depending on `weights`.
        name: the name of the Matrix.

    Returns:
        A Matrix with n rows and columns.

    Raises:
        InvalidValue: `n` is out of range.
    """
    if _size("n", n) < 3:
        raise InvalidValue(f"n is {n}, but a cycle should have 3 vertices or more")
    u = np.arange(n, dtype=np.int64)
    return _from_edges(u, (u + 1) % n, n, seed, symmetric, weights, dtype, name)


def star(
    n: int,
    *,
    seed: int = 0,
    symmetric: bool = True,
    weights: tuple[float, float] | None = None,
    dtype: Any = None,
    name: Any = None,
) -> Matrix:
    """Return a star: an edge joins vertex 0 with each of 1, 2, ..., n-1.

    Args:
        n: the number of vertices.
        seed: the seed of the weights.
        symmetric: whether each edge is stored in both directions. If False,
            edges lead away from vertex 0.
        weights: (low, high), the range of the edge weights: integers from low to high inclusive if
            both are integers, otherwise floats in [low, high). If None, every edge has the value
            1, stored as one element.
        dtype: the dtype of the values; by default BOOL, INT64 or FP64, depending on `weights`.
        name: the name of the Matrix.

    Returns:
        A Matrix with n rows and columns.

    Raises:
        InvalidValue: `n` is out of range.
    """
    v = np.arange(1, _size("n", n), dtype=np.int64)
    return _from_edges(np.zeros_like(v), v, n, seed, symmetric, weights, dtype, name)


def complete(
    n: int,
    *,
    seed: int = 0,
    symmetric: bool = True,
    weights: tuple[float, float] | None = None,
    dtype: Any = None,
    name: Any = None,
) -> Matrix:
    """Return a complete graph: an edge joins each pair of vertices.

    Args:
        n: the number of vertices.
        seed: the seed of the weights.
        symmetric: whether each edge is stored in both directions. If False, each edge leads to the
            vertex with the larger number.
        weights: (low, high), the range of the edge weights: integers from low to high inclusive if
            both are integers, otherwise floats in [low, high). If None, every edge has the value
            1, stored as one element.
        dtype: the dtype of the values; by default BOOL, INT64 or FP64, depending on `weights`.
        name: the name of the Matrix.

    Returns:
        A Matrix with n rows and columns.

    Raises:
        InvalidValue: `n` is out of range.
    """
    u, v = np.triu_indices(_size("n", n), k=1)
    return _from_edges(u, v, n, seed, symmetric, weights, dtype, name)


def binary_tree(
    n: int,
    *,
    seed: int = 0,
    symmetric: bool = True,
    weights: tuple[float, float] | None = None,
    dtype: Any = None,
    name: Any = None,
) -> Matrix:
    """Return a binary tree: an edge connects each vertex v > 0 with its parent (v - 1) // 2.

    Args:
        n: the number of vertices.
        seed: the seed of the weights.
        symmetric: whether each edge is stored in both directions. If False,
            edges lead from the parent to the child.
        weights: (low, high), the range of the edge weights: integers from low to high inclusive if
            both are integers, otherwise floats in [low, high). If None, every edge has the value
            1, stored as one element.
        dtype: the dtype of the values; by default BOOL, INT64 or FP64, depending on `weights`.
        name: the name of the Matrix.

    Returns:
        A Matrix with n rows and columns.

    Raises:
        InvalidValue: `n` is out of range.
    """
    v = np.arange(1, _size("n", n), dtype=np.int64)
    return _from_edges((v - 1) // 2, v, n, seed, symmetric, weights, dtype, name)


def caterpillar(
    spine: int,
    leaves: int,
    *,
    seed: int = 0,
    symmetric: bool = True,
    weights: tuple[float, float] | None = None,
    dtype: Any = None,
    name: Any = None,
) -> Matrix:
    """Return a caterpillar tree: a path whose vertices each have `leaves` neighbors with degree 1.

    The vertices of the path are 0, 1, ..., spine - 1 in order. The leaves of vertex v are the
    vertices from spine + v * leaves to spine + (v + 1) * leaves - 1. If `symmetric` is False, each
    edge of the path leads to the vertex with the larger number, and the other edges lead from the
    path to the leaves.

    Args:
        spine: the number of vertices of the path.
        leaves: the number of leaves of each vertex of the path.
        seed: the seed of the weights.
        symmetric: whether each edge is stored in both directions.
        weights: (low, high), the range of the edge weights; if None, every edge has the value 1.
        dtype: the dtype of the values.
        name: the name of the Matrix.

    Returns:
        A Matrix with spine * (1 + leaves) rows and columns.

    Raises:
        InvalidValue: a size is negative or not a whole number, or there are too many vertices.

    Examples:
        >>> from graphla import generators
        >>> generators.caterpillar(2, 1).to_coo()[1].tolist()
        [1, 2, 0, 3, 0, 1]
    """
    spine, leaves = _size("spine", spine), _size("leaves", leaves)
    n = _size("spine * (1 + leaves)", spine * (1 + leaves))
    v = np.arange(spine, dtype=np.int64)
    u = np.concatenate([v[:-1], np.repeat(v, leaves)])
    v = np.concatenate([v[1:], np.arange(spine, n, dtype=np.int64)])
    return _from_edges(u, v, n, seed, symmetric, weights, dtype, name)


def watts_strogatz(
    n: int,
    k: int,
    p: float,
    *,
    seed: int = 0,
    symmetric: bool = True,
    weights: tuple[float, float] | None = None,
    dtype: Any = None,
    name: Any = None,
) -> Matrix:
    """Return a small-world graph: a ring of n vertices with k neighbors each, partly rewired.

    Edges connect vertex u with u + 1, u + 2, ..., u + k / 2 (modulo n). With probability `p`, the
    other endpoint of such an edge is replaced by a vertex drawn uniformly from those that are
    neither neighbors of u in the original ring nor connected to u by an earlier rewiring. If 64
    draws find no such vertex, the edge stays unchanged. The graph has exactly n * k / 2 distinct
    edges. If `symmetric` is False, each edge leads away from u.

    Args:
        n: the number of vertices.
        k: the number of neighbors of each vertex in the ring, an even number less than n.
        p: the probability that an edge is rewired.
        seed: the seed of the random numbers.
        symmetric: whether each edge is stored in both directions.
        weights: (low, high), the range of the edge weights; if None, every edge has the value 1.
        dtype: the dtype of the values.
        name: the name of the Matrix.

    Returns:
        A Matrix with n rows and columns.

    Raises:
        InvalidValue: k is odd or not less than n, or p is not a probability.

    Examples:
        >>> from graphla import generators
        >>> A = generators.watts_strogatz(1000, 8, 0.1)
        >>> A.nvals
        8000

    References:
        D. Watts and S. Strogatz, "Collective Dynamics of Small-World Networks", 1998.
    """
    n = _size("n", n)
    k = _whole("k", k, max(n - 1, 0), ", the other vertices")
    if k % 2:
        raise InvalidValue(f"k is {k}, but should be even")
    _check_probability("p", p)
    rng = _rng(seed)
    u = np.tile(np.arange(n, dtype=np.int64), k // 2)
    v = (u + np.repeat(np.arange(1, k // 2 + 1, dtype=np.int64), n)) % max(n, 1)
    ring = _keys(u, v, n, symmetric)
    moving = np.flatnonzero(rng.random(u.size) < p)
    taken = np.empty(0, np.int64)  # the new keys of the edges that have been rewired, sorted
    for _ in range(DRAWS):
        if not moving.size:
            break
        ends = rng.integers(0, n, moving.size, np.int64)
        # If several draws give the same edge, only the first draw is used.
        keys, first = np.unique(_key(u[moving], ends, n, symmetric), return_index=True)
        is_free = ~(_contains(ring, keys) | _contains(taken, keys))
        is_free &= ends[first] != u[moving[first]]
        v[moving[first[is_free]]] = ends[first[is_free]]
        taken = np.sort(np.concatenate([taken, keys[is_free]]), kind="stable")
        moving = np.delete(moving, first[is_free])
    return _from_edges(u, v, n, rng, symmetric, weights, dtype, name)


def _size(what: str, n: Any) -> int:
    return _whole(what, n, LIMIT - 1)


def _whole(what: str, number: Any, most: int, which_is: str = "") -> int:
    """Return `number` as an int; it must be a whole number (int or float) from 0 to `most`."""
    if not _is_real(number) or not 0 <= number <= most or number != int(number):
        bound = "2^31 - 1" if most == LIMIT - 1 else most
        raise InvalidValue(
            f"{what} is {number!r}, but should be a whole number from 0 to {bound}{which_is}"
        )
    return int(number)


def _check_probability(what: str, p: Any) -> None:
    if not (_is_real(p) and 0 <= p <= 1):
        raise InvalidValue(f"{what} is {p!r}, but should be a probability")


def _is_real(x: Any) -> bool:
    return isinstance(x, Real)


def _rng(seed: Any) -> np.random.Generator:
    try:
        return np.random.default_rng(seed)
    except (TypeError, ValueError):
        raise InvalidValue(f"seed is {seed!r}, but should be a whole number from 0") from None


def _draw_bits(
    rng: np.random.Generator, scale: int, odds: tuple[float, float, float], u: Any, v: Any
) -> None:
    """Fill the arrays u and v with random vertices, drawn bit by bit from the highest bit down."""
    A, B, C = (np.float32(odd) for odd in np.cumsum(odds))
    u[:] = v[:] = 0
    draw = np.empty(u.size, np.float32)
    for _ in range(scale):
        rng.random(dtype=np.float32, out=draw)
        in_lower = draw >= B  # whether the next bit of u is 1
        in_right = (draw >= A) ^ in_lower ^ (draw >= C)  # whether the next bit of v is 1
        u += u
        u += in_lower
        v += v
        v += in_right


def _distinct(rng: np.random.Generator, n: int, m: int, symmetric: bool, self_loops: bool) -> Any:
    """Return the sorted keys of m random distinct edges.

    At least m edges are drawn, and the excess is dropped at random.
    """
    keys = np.empty(0, np.int64)
    while keys.size < m:
        u, v = rng.integers(0, n, (2, max(m + m // 8 - keys.size, 64)), np.int32)
        if not self_loops:
            u, v = _without_loops(u, v)
        # An edge between two vertices is drawn as (u, v) or as (v, u), but a loop only as (u, u).
        # All edges, including loops, must be equally probable, so only draws with u >= v are used.
        if symmetric and self_loops:
            u, v = u[u >= v], v[u >= v]
        keys = _once(np.concatenate([keys, _keys(u, v, n, symmetric)]))
    return np.delete(keys, rng.choice(keys.size, keys.size - m, replace=False))


def _without_loops(u: Any, v: Any) -> tuple[Any, Any]:
    kept = u != v
    return u[kept], v[kept]


def _from_edges(
    u: Any, v: Any, n: int, seed: Any, symmetric: bool, weights: Any, dtype: Any, name: Any
) -> Matrix:
    rng = _rng(seed)
    return _matrix(_keys(u, v, n, symmetric), n, symmetric, weights, dtype, rng, name)


def _keys(u: Any, v: Any, n: int, symmetric: bool) -> Any:
    """Return the sorted keys of the edges without duplicates."""
    return _once(_key(u, v, n, symmetric))


def _key(u: Any, v: Any, n: int, symmetric: bool) -> Any:
    """Return the key u * n + v of each edge; in a symmetric graph, u is the larger vertex."""
    if symmetric:
        u, v = np.maximum(u, v), np.minimum(u, v)
    keys = u.astype(np.int64)
    keys *= n
    keys += v
    return keys


def _once(keys: Any) -> Any:
    """Sort the keys in place, and return them without duplicates."""
    keys.sort()
    return keys[np.concatenate([[True], keys[1:] != keys[:-1]])] if keys.size else keys


def _contains(keys: Any, wanted: Any) -> Any:
    """Return which elements of `wanted` are in the sorted array `keys`."""
    return np.append(keys, -1)[np.searchsorted(keys, wanted)] == wanted


def _matrix(
    keys: Any,
    n: int,
    symmetric: bool,
    weights: tuple[float, float] | None,
    dtype: Any,
    rng: np.random.Generator,
    name: Any,
) -> Matrix:
    u, v = np.divmod(keys, max(n, 1))
    u, v = u.astype(np.int32), v.astype(np.int32)
    drawn, dtype = _weights(weights, keys.size, dtype, rng)
    if symmetric:
        off = u != v
        u, v = np.concatenate([u, v[off]]), np.concatenate([v, u[off]])
        if np.ndim(drawn):
            drawn = np.concatenate([drawn, drawn[off]])
    return Matrix.from_coo(u, v, drawn, dtype, nrows=n, ncols=n, symmetric=symmetric, name=name)


def _weights(
    weights: tuple[float, float] | None, m: int, dtype: Any, rng: np.random.Generator
) -> tuple[Any, Any]:
    """Return the weights of the m edges (a scalar if all weights are 1) and their dtype."""
    if weights is None:
        dtype = BOOL if dtype is None else lookup_dtype(dtype)
        return dtype.np_type.type(1), dtype
    low, high = _ends(weights)
    whole = isinstance(low, Integral) and isinstance(high, Integral)
    dtype = lookup_dtype(dtype) if dtype is not None else INT64 if whole else FP64
    if not whole and not dtype.is_float:
        raise InvalidValue(f"weights is {weights}, but should be two integers for {dtype}")
    if not dtype.is_float and not _fits(low, high, dtype):
        raise InvalidValue(f"weights is {weights}, but should be within {dtype}")
    if whole:
        drawn = rng.integers(int(low), int(high), m, endpoint=True)
    else:
        drawn = rng.uniform(float(low), float(high), m)
    return drawn.astype(dtype.np_type), dtype


def _ends(weights: Any) -> tuple[Any, Any]:
    pair: Any = tuple(weights) if isinstance(weights, Iterable) else ()
    are_two = len(pair) == 2 and all(_is_real(end) for end in pair)
    if not are_two or not 0 <= float(pair[1]) - float(pair[0]) < math.inf:
        raise InvalidValue(
            f"weights is {weights!r}, but should be (low, high), two finite numbers "
            "with low <= high"
        )
    return pair


def _fits(low: Any, high: Any, dtype: Any) -> bool:
    if dtype is BOOL:
        return low >= 0 and high <= 1
    bounds = np.iinfo(dtype.np_type)
    return bounds.min <= low and high <= min(bounds.max, np.iinfo(np.int64).max)
