"""ForceAtlas2: positions of vertices at which attraction and repulsion are in balance.

M. Jacomy, T. Venturini, S. Heymann and M. Bastian (2014) described the method. Adjacent vertices
attract each other, all pairs of vertices repel each other, and gravity keeps components together.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from graphla.algorithms._shared import hashed_random, power_iteration, validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.graph.cached_properties import degrees, is_symmetric, loops
from graphla.operations.accelerate import Forces, accelerated
from graphla.sparse import Matrix, Vector
from semirings import binary, monoid, unary
from semirings.exceptions import DimensionMismatch, InvalidValue

BLOCK = 1 << 24
"""Number of pairs of vertices that the definition processes at once."""

FINITE = -sys.float_info.max, sys.float_info.max

STILL = 1e-10
"""The iteration stops when the absolute changes of all coordinates add up to less than this."""

Given = Vector | Mapping[Any, float] | None


@graph_algorithm(keyed=("node_mass", "node_size"))
def forceatlas2_layout(
    A: Matrix,
    pos: Sequence[Vector] | None = None,
    *,
    max_iter: int = 100,
    jitter_tolerance: float = 1.0,
    scaling_ratio: float = 2.0,
    gravity: float = 1.0,
    distributed_action: bool = False,
    strong_gravity: bool = False,
    node_mass: Given = None,
    node_size: Given = None,
    weight: bool | str | None = None,
    linlog: bool = False,
    seed: int | np.random.Generator | None = None,
    dim: int = 2,
    directed: bool | None = None,
) -> tuple[Vector, ...]:
    """``p(i) += s(i)·(Σ A(i, j) (p(j) - p(i)) + Σ r m(i) m(j) (p(i) - p(j)) / d(i, j)²)``.

    Compute positions of the vertices at which attraction and repulsion are in balance.

    d(i, j) is the distance between two vertices, m holds the masses, and r is `scaling_ratio`. The
    first sum goes over the edges, and the second over all pairs of vertices. s(i) is the speed of a
    vertex, which decreases if the vertex swings, that is, if its force keeps changing. Gravity also
    pulls each vertex to the center. A round takes O(n²) time.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels.
        pos: the initial coordinates: a list with one full Vector of size n per dimension, such as
            the result of `spectral_layout`. None means random coordinates.
        max_iter: the maximum number of rounds, at least 0.
        jitter_tolerance: how far vertices may swing in a round, at least 0.
        scaling_ratio: the strength of the repulsion.
        gravity: the strength of the gravity.
        distributed_action: whether to divide the attraction of a vertex by its mass.
        strong_gravity: whether the gravity grows with the distance from the center.
        node_mass: the masses: a Vector of size n or a mapping from vertex to positive number. The
            default mass of a vertex is its degree plus 1.
        node_size: the radii of the vertices: a Vector of size n or a mapping from vertex to number.
            If given, the radii are subtracted from distances, and the default radius is 1.
        weight: if None or False, each edge counts as 1; if True, or the name of an edge attribute
            as in NetworkX, the values of A are used.
        linlog: whether the attraction grows with the logarithm of the distance.
        seed: determines the random positions: None (the same as 0), a non-negative integer, or a
            `numpy.random.Generator`.
        dim: the number of dimensions, at least 1, unless `pos` is given.
        directed: whether the graph is directed. If None, a Graph uses its own `directed` flag, and
            a Matrix counts as undirected if it is symmetric. It determines the default masses.

    Returns:
        tuple[Vector, ...]: one full Vector of size n and dtype FP64 per dimension, with the
            coordinate of each vertex.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Vector has a size other than n or is not full.
        IndexOutOfBound: If a mapping has a key that is not a vertex.
        DeviceMismatch: If A and a Vector are not on the same device.
        InvalidValue: If a mass is not above 0, or if another argument is out of range or not
            finite.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import forceatlas2_layout
        >>> path = Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1)
        >>> x, y = forceatlas2_layout(path)
        >>> x.size, y.nvals
        (3, 3)

    References:
        M. Jacomy, T. Venturini, S. Heymann and M. Bastian, *ForceAtlas2, a Continuous Graph Layout
            Algorithm for Handy Network Visualization*, 2014.
    """
    n = A.nrows
    max_iter = validation.count("max_iter", max_iter, least=0)
    tolerance = validation.real("jitter_tolerance", jitter_tolerance, 0, FINITE[1])
    scaling = validation.real("scaling_ratio", scaling_ratio, *FINITE)
    gravity = validation.real("gravity", gravity, *FINITE)
    points = _initial_positions(pos, n, validation.count("dim", dim, least=1), seed)
    mass = _masses(A, node_mass, directed)
    size = None
    if node_size is not None:
        size = _with_default("node_size", node_size, np.ones(n))
    W = A.dup("FP64") if validation.weighs("weight", weight) else unary.one["FP64"](A).new()
    speed = efficiency = swing = traction = 1.0
    for _ in range(max_iter if n else 0):
        request = Forces(W, points, mass, size, scaling, linlog)
        pull, push = accelerated(request, partial(definition, request))
        if distributed_action:
            pull /= mass[:, None]
        move = pull + push - gravity * mass[:, None] * _offsets_from_center(points, strong_gravity)
        swing += float(mass @ _lengths(points - move))
        traction += float(mass @ _lengths(points + move)) / 2
        speed, efficiency = _next_speed(n, swing, traction, speed, efficiency, tolerance)
        force = _lengths(move)
        factor = speed / (1 + np.sqrt(speed * mass * force))
        if size is not None:
            # With radii, the speed is divided by 10, and no vertex moves farther than 10 per
            # round.
            with np.errstate(divide="ignore"):
                factor = np.minimum(0.1 * factor, 10 / force)
        move *= factor[:, None]
        points += move
        if np.abs(move).sum() < STILL:
            break
    return tuple(Vector.from_dense(np.ascontiguousarray(x)) for x in points.T)


def definition(system: Forces) -> tuple[np.ndarray, np.ndarray]:
    """Return the attraction and the repulsion of each vertex as two arrays of shape (n, dim).

    The vertices are processed in blocks. Full matrices hold the differences between the coordinates
    of the vertices of a block (rows) and of all vertices (columns).
    """
    A, points, (n, dim) = system.A, system.points, system.points.shape
    axes = [Vector.from_dense(np.ascontiguousarray(x)) for x in points.T]
    pull, push = np.zeros((n, dim)), np.zeros((n, dim))
    # D(i, j) = x(j) - x(i) for each edge
    edges = [
        binary.minus(binary.second(A & x).new() & binary.first(x & A).new()).new() for x in axes
    ]
    L = A
    if system.is_log:
        d = _distances(edges)
        # L(i, j) = A(i, j) log(1 + d) / d, where d > 0
        stretched = binary.truediv(unary.log1p(d).new() & d).new().dup(mask=d.V)
        L = binary.times(A & stretched).new()
    for k, D in enumerate(edges):
        pull[:, k] = _row_sums(binary.times(L & D).new())
    m = Vector.from_dense(system.mass)
    r = None if system.size is None else Vector.from_dense(system.size)
    step = max(1, BLOCK // max(n, 1))
    for first in range(0, n, step):
        rows = slice(first, min(first + step, n))
        # E(i, j) = x(i) - x(j) for each other vertex j
        apart = [
            x[rows].new().outer(x, binary.minus).new().select("offdiag", first).new() for x in axes
        ]
        d = _distances(apart)
        if r is not None:
            d = binary.minus(d & r[rows].new().outer(r, binary.plus).new()).new()
        masses = m[rows].new().outer(m).new()
        F = binary.truediv(masses & binary.times(d & d).new()).new()
        for k, E in enumerate(apart):
            push[rows, k] = system.scaling * _row_sums(binary.times(F & E).new())
    return pull, push


def _distances(differences: list[Matrix]) -> Matrix:
    """Return √Σ D², summed over the dimensions, where D holds the differences in one dimension."""
    total = None
    for D in differences:
        square = binary.times(D & D).new()
        total = square if total is None else binary.plus(total & square).new()
    assert total is not None
    return unary.sqrt(total).new()


def _row_sums(A: Matrix) -> np.ndarray:
    return A.reduce_rowwise(monoid.plus).new().to("cpu").to_dense(0.0)


def _lengths(vectors: np.ndarray) -> np.ndarray:
    """Return the length of each row."""
    return np.sqrt((vectors * vectors).sum(axis=1))


def _offsets_from_center(points: np.ndarray, strong: bool) -> np.ndarray:
    """Return the positions relative to their mean, scaled to length 1 unless `strong` is set."""
    outward = points - points.mean(axis=0)
    if strong:
        return outward
    lengths = _lengths(outward)[:, None]
    return np.divide(outward, lengths, out=np.zeros_like(outward), where=lengths > 0)


def _next_speed(
    n: int, swing: float, traction: float, speed: float, efficiency: float, tolerance: float
) -> tuple[float, float]:
    """Return the speed and the speed efficiency of the next round."""
    best = 0.05 * math.sqrt(n)
    jitter = tolerance * max(math.sqrt(best), min(10.0, best * traction / n**2))
    if swing > 2.0 * traction:
        if efficiency > 0.05:
            efficiency *= 0.5
        jitter = max(jitter, tolerance)
    target = jitter * efficiency * traction / swing if swing else math.inf
    if swing > jitter * traction:
        if efficiency > 0.05:
            efficiency *= 0.7
    elif speed < 1000:
        efficiency *= 1.3
    return speed + min(target - speed, 0.5 * speed), efficiency


def _initial_positions(pos: Any, n: int, dim: int, seed: Any) -> np.ndarray:
    """Return the initial coordinates as an array of shape (n, dim)."""
    if pos is None:
        return np.random.default_rng(hashed_random.seed_number(seed)).random((n, dim))
    if not isinstance(pos, Sequence) or not all(isinstance(x, Vector) for x in pos):
        raise TypeError("pos must be a list of Vectors, one per dimension")
    axes = list(pos)
    for x in axes:
        if x.size != n or x.nvals != n:
            raise DimensionMismatch(
                f"pos has a Vector with {x.nvals} entries and size {x.size}, but there are {n} "
                "vertices"
            )
    if not axes:
        raise InvalidValue("pos has no Vector, but a position needs at least one dimension")
    return np.column_stack([x.to("cpu").to_dense().astype(float) for x in axes])


def _masses(A: Matrix, given: Given, directed: bool | None) -> np.ndarray:
    """Return the mass of each vertex."""
    ends = degrees(A).to("cpu").to_dense(0) + 1.0
    if not is_symmetric(A) if directed is None else directed:
        ends += degrees(A.T.new()).to("cpu").to_dense(0)
    else:
        ends += loops(A).to("cpu").to_dense(0)
    mass = ends if given is None else _with_default("node_mass", given, ends)
    if not (mass > 0).all():
        raise InvalidValue(f"node_mass has {mass.min()}, but a mass must be above 0")
    return mass


def _with_default(name: str, given: Any, default: np.ndarray) -> np.ndarray:
    """Return the given value of each vertex, or the default for vertices without a value."""
    some = power_iteration.as_vector(name, given, default.size)
    places, values = some.to("cpu").to_coo()
    default[places] = values
    return default
