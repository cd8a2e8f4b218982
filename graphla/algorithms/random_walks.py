"""Random walks: sequences of vertices in which each step follows a random edge.

In a uniform or weighted walk, each step depends only on the weights of the edges. A node2vec walk
(A. Grover and J. Leskovec, 2016) also considers the previous vertex. After the step u -> v, the
weight of the step v -> x is multiplied by a factor: 1/p if x = u, 1 if there is an edge u -> x, and
1/q otherwise. The step v -> x is drawn with a probability proportional to the weight of the edge.
Let f be the factor of this step: the step is accepted with probability f / max(1, 1/p, 1/q), and
otherwise another step is drawn. After a few attempts, the step is drawn from the exact
probabilities of all out-edges.

Random numbers come from a hash of the seed, the walk, the step and the attempt. Weights are scaled
to integers row by row, so their sums are exact, and the walks are the same on every device.

Invariants, at the start of each step:
- last holds the last vertex of each walk, or -1 if the walk has ended;
- before holds the previous vertex of each walk, or -1 at the first step.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from graphla.algorithms._shared import hashed_random, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.operations.moving import send
from graphla.sparse import Matrix
from semirings import monoid
from semirings.exceptions import InvalidValue

SCALE = 1 << 30
"""The largest integer weight of each row. Sums over 2^33 edges fit in 64 bits."""
ATTEMPTS = 8
"""Number of attempts to draw a step before the probabilities of all out-edges are computed."""
EDGES = 1 << 24
"""Approximate number of out-edges that are processed at once."""
MORE_ATTEMPTS = 64
"""Maximum number of attempts. After ATTEMPTS attempts, drawing continues only while the out-edges
of the last vertices of the remaining walks number more than EDGES."""


@graph_algorithm(vertices=("nodes",))
def random_walks(
    A: Matrix,
    nodes: Any = None,
    length: int = 10,
    weight: bool | str | None = None,
    seed: int | np.random.Generator | None = None,
) -> list[list[int]]:
    """``P(v, x) = A(v, x) / Σ A(v, ·)`` is the probability of the step from v to x.

    Walk at random from the given vertices.

    A walk ends early at a vertex without out-edges. Each step takes O(log m) time per walk.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        nodes: the start of each walk: a vertex, or a list of vertices, which may contain a vertex
            several times; None means one walk from each vertex.
        length: the maximum number of steps, at least 0.
        weight: if None or False, all out-edges of a vertex are equally likely; if True, or the name
            of an edge attribute as in NetworkX, their probabilities are proportional to the values
            of A, which must be above 0.
        seed: determines the walks: None (the same as 0), a non-negative integer, or a
            `numpy.random.Generator`. The same seed gives the same walks on every device.

    Returns:
        list[list[int]]: the vertices of each walk, at most `length` + 1, in the order of `nodes`.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If a vertex is not in the graph.
        InvalidValue: If a weight is not above 0 or not finite, or if `length` or `seed` is
            negative.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import random_walks
        >>> A = Matrix.from_coo([0, 1, 2], [1, 2, 3], 1, nrows=4, ncols=4)
        >>> random_walks(A, [0, 2], 2)
        [[0, 1, 2], [2, 3]]

    References:
        K. Pearson, *The Problem of the Random Walk*, 1905.
    """
    return _walk(A, nodes, length, weight, seed, 1.0, 1.0)


@graph_algorithm(vertices=("nodes",))
def node2vec_walks(
    A: Matrix,
    nodes: Any = None,
    length: int = 10,
    p: float = 1,
    q: float = 1,
    weight: bool | str | None = None,
    seed: int | np.random.Generator | None = None,
) -> list[list[int]]:
    """``P(x | u, v) ∝ A(v, x) · (1/p if x = u, 1 if A(u, x) exists, else 1/q)``.

    Walk at random from the given vertices, with a bias that depends on the previous vertex.

    A small p favors steps back, and a small q favors steps away from the previous vertex. A walk
    ends early at a vertex without out-edges. Each step takes O(log m) time per walk if p and q are
    close to 1, and O(d log m) time otherwise, where d is the number of out-edges.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        nodes: the start of each walk: a vertex, or a list of vertices, which may contain a vertex
            several times; None means one walk from each vertex.
        length: the maximum number of steps, at least 0.
        p: the return parameter, above 0.
        q: the in-out parameter, above 0.
        weight: if None or False, all weights are equal; if True, or the name of an edge attribute
            as in NetworkX, the values of A are the weights, which must be above 0.
        seed: determines the walks: None (the same as 0), a non-negative integer, or a
            `numpy.random.Generator`. The same seed gives the same walks on every device.

    Returns:
        list[list[int]]: the vertices of each walk, at most `length` + 1, in the order of `nodes`.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        IndexOutOfBound: If a vertex is not in the graph.
        InvalidValue: If a weight, `p` or `q` is not above 0 or not finite, or if `length` or `seed`
            is negative.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import node2vec_walks
        >>> cycle = Matrix.from_coo([0, 1, 2, 1, 2, 0], [1, 2, 0, 0, 1, 2], 1)
        >>> node2vec_walks(cycle, [0, 1], 4, p=1e9, seed=1)  # hardly ever a step back
        [[0, 1, 2, 0, 1], [1, 0, 2, 1, 0]]

    References:
        A. Grover and J. Leskovec, *node2vec: Scalable Feature Learning for Networks*, 2016.
    """
    p, q = (validation.real(name, x, low=0) for name, x in (("p", p), ("q", q)))
    for name, x in (("p", p), ("q", q)):
        if not 0 < x < np.inf:
            raise InvalidValue(f"{name} is {x}, but must be above 0 and finite")
    return _walk(A, nodes, length, weight, seed, 1 / p, 1 / q)


class _Steps(NamedTuple):
    """The out-edges of each vertex, their weights, and the factors of node2vec."""

    indptr: Any
    columns: Any
    sums: Any  # int64[m + 1]: prefix sums of the scaled weights; None if all weights are equal
    keys: Any  # the number row * n + column of each edge, in ascending order
    n: int
    back: float
    away: float


def _walk(
    A: Matrix,
    nodes: Any,
    length: int,
    weight: bool | str | None,
    seed: int | np.random.Generator | None,
    back: float,
    away: float,
) -> list[list[int]]:
    """Return walks in which steps back have the factor `back`, and steps away have `away`."""
    length = validation.count("length", length, least=0)
    is_weighted, drawn = validation.weighs("weight", weight), hashed_random.seed_number(seed)
    listed = [nodes] if nodes is not None and not np.iterable(nodes) else nodes
    starts = validation.vertices("nodes", listed, A.nrows)
    if is_weighted:
        validation.positive(A)
        if A.nvals and not np.isfinite(float(A.reduce_scalar(monoid.max).get(0))):
            raise InvalidValue("A has an infinite weight, but must have finite weights")
    steps = _read_steps(A, is_weighted, back, away)
    last = send(starts, A.device)
    before, walks = np.full_like(last, -1), [last]
    for k in range(length):
        word = hashed_random.mix(drawn + k)
        if back == away == 1 or not k:
            found = _step(steps, last, word)
        else:
            found = _biased_step(steps, before, last, word)
        before, last = last, found
        walks.append(last)
    rows = send(np.stack(walks, axis=1), "cpu").tolist()
    return [row[: row.index(-1)] if row[-1] < 0 else row for row in rows]


def _read_steps(A: Matrix, is_weighted: bool, back: float, away: float) -> _Steps:
    n = A.nrows
    indptr, columns, values = A.to_csr(copy=False)
    indptr, columns, sums = indptr.astype(np.int64), columns.astype(np.int64), None
    rows = A.to_coo(columns=False, values=False, copy=False)[0].astype(np.int64)
    if is_weighted:
        # Each weight becomes an integer from 1 to SCALE, relative to the largest weight of its row.
        most = A.dup("FP64").reduce_rowwise(monoid.max).new().to_dense(1.0, copy=False)
        scaled = np.rint(values.astype(np.float64) / most[rows] * SCALE)
        whole = np.maximum(scaled, 1).astype(np.int64)
        sums = np.concatenate((np.zeros_like(whole, shape=1), whole.cumsum()))
    return _Steps(indptr, columns, sums, rows * n + columns, n, back, away)


def _step(steps: _Steps, last: Any, word: int) -> Any:
    """Draw the next vertex of each walk, using only the weights; -1 means that the walk ends."""
    found = np.full_like(last, -1)
    walks = _find_continuing(steps, last)
    found[walks] = _draw(steps, last[walks], _uniform(last, word)[walks])
    return found


def _biased_step(steps: _Steps, before: Any, last: Any, word: int) -> Any:
    """Draw the next vertex of each walk, using the factors of node2vec; -1 ends the walk."""
    found, greatest = np.full_like(last, -1), max(1.0, steps.back, steps.away)
    walks = _find_continuing(steps, last)
    for k in range(MORE_ATTEMPTS):
        v = last[walks]
        if k >= ATTEMPTS and (steps.indptr[v + 1] - steps.indptr[v]).sum() <= EDGES:
            break
        first, second = (hashed_random.mix(word + 2 * k + i) for i in (1, 2))
        x = _draw(steps, v, _uniform(last, first)[walks])
        factor = _factors(steps, before[walks], x)
        takes = _uniform(last, second)[walks] * greatest < factor
        found[walks[takes]] = x[takes]
        walks = walks[~takes]
        if not walks.size:
            return found
    draws = _uniform(last, hashed_random.mix(word))
    for some in _batches(steps, last, walks):
        found[some] = _draw_exactly(steps, before[some], last[some], draws[some])
    return found


def _draw(steps: _Steps, v: Any, draws: Any) -> Any:
    """Return a random out-neighbor of each vertex v, given a random number from 0 to 1 for each."""
    first, end = steps.indptr[v], steps.indptr[v + 1]
    if steps.sums is None:
        return steps.columns[first + _random_below(end - first, draws)]
    least = steps.sums[first]
    target = least + _random_below(steps.sums[end] - least, draws)
    return steps.columns[np.searchsorted(steps.sums, target, side="right") - 1]


def _draw_exactly(steps: _Steps, before: Any, v: Any, draws: Any) -> Any:
    """Like `_draw`, but with the factors of node2vec, which are computed for all out-edges of v."""
    first = steps.indptr[v]
    counts = steps.indptr[v + 1] - first
    ends = counts.cumsum()
    each = np.arange(int(ends[-1]), like=v)
    walk = np.searchsorted(ends, each, side="right")
    edge = each + (first - ends + counts)[walk]
    factors = _factors(steps, before[walk], steps.columns[edge])
    weights = SCALE if steps.sums is None else steps.sums[edge + 1] - steps.sums[edge]
    scaled = np.rint(weights * (factors / max(1.0, steps.back, steps.away)))
    sums = np.maximum(scaled, 1).astype(np.int64).cumsum()
    sums = np.concatenate((np.zeros_like(sums, shape=1), sums))
    least = sums[ends - counts]
    target = least + _random_below(sums[ends] - least, draws)
    return steps.columns[edge[np.searchsorted(sums, target, side="right") - 1]]


def _factors(steps: _Steps, before: Any, x: Any) -> Any:
    """Return the factor of a step to each vertex x, given the previous vertices."""
    key = before * steps.n + x
    place = np.minimum(np.searchsorted(steps.keys, key), steps.keys.size - 1)
    near = np.where(steps.keys[place] == key, 1.0, steps.away)
    return np.where(before == x, steps.back, near)


def _batches(steps: _Steps, last: Any, walks: Any) -> Iterator[Any]:
    """Yield batches of walks whose last vertices together have roughly EDGES out-edges or fewer."""
    if not walks.size:
        return
    v = last[walks]
    ends = send((steps.indptr[v + 1] - steps.indptr[v]).cumsum(), "cpu")
    cuts = np.searchsorted(ends, np.arange(EDGES, int(ends[-1]), EDGES))
    for i, j in pairwise([0, *np.unique(cuts).tolist(), walks.size]):
        if i < j:
            yield walks[i:j]


def _find_continuing(steps: _Steps, last: Any) -> Any:
    """Return the walks whose last vertex has an out-edge."""
    v = np.maximum(last, 0)
    return np.flatnonzero((last >= 0) & (steps.indptr[v + 1] > steps.indptr[v]))


def _uniform(like: Any, word: int) -> Any:
    """Return a random number from 0 to 1, with 53 bits, for each walk."""
    words = hashed_random.stream(like.size, hashed_random.first_counter(word), like)
    return (words >> np.uint64(11)).astype(np.float64) * 2.0**-53


def _random_below(limit: Any, draws: Any) -> Any:
    """Return a random integer below each limit."""
    return np.minimum((draws * limit).astype(np.int64), limit - 1)
