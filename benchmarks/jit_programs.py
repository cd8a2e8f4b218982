"""Graph algorithms as a user would write them: loops of plain statements, for `gl.jit` to compile.

The functions are not decorated, so that each of them can run with and without `gl.jit`. They call
no algorithm of the library. Each function is also correct without `gl.jit`, on the CPU and on a
GPU. `jit.py` measures them, and tests compare them with NetworkX and with the library.

Unless a function says otherwise, A is square, and an entry A(i, j) is an edge i -> j.
"""

from __future__ import annotations

import math
from typing import Any

from graphla import Matrix, Vector, binary, indexunary, monoid, replace, semiring, unary
from graphla.semiring import (
    any_pair,
    any_secondi,
    max_second,
    min_first,
    min_plus,
    min_second,
    plus_first,
    plus_pair,
    plus_second,
    plus_times,
)

DAMPING = 0.85

# --- breadth-first search and its variants --------------------------------------------------------


def bfs(A: Matrix, source: int) -> Vector:
    """Return the parent of each vertex that the source reaches; the source is its own parent."""
    n = A.nrows
    parent, frontier = Vector(int, n), Vector(int, n)
    parent[source] = frontier[source] = source
    while frontier.nvals:
        frontier(~parent.S, replace) << any_secondi(frontier @ A)
        parent(frontier.S) << frontier
    return parent


def bfs_renamed(graph: Matrix, s: int) -> Vector:
    """Like `bfs`, but all variables have other names."""
    tree, queue = Vector(int, graph.nrows), Vector(int, graph.nrows)
    queue[s] = s
    tree[s] = s
    while queue.nvals > 0:
        queue(~tree.S, replace) << any_secondi(queue @ graph)
        tree(queue.S) << queue
    return tree


def bfs_reordered(A: Matrix, source: int) -> Vector:
    """Like `bfs`, but each round first records the parents and then takes a step."""
    n = A.nrows
    parent, frontier = Vector(int, n), Vector(int, n)
    frontier[source] = source
    while frontier.nvals:
        parent(frontier.S) << frontier
        frontier(~parent.S, replace) << any_secondi(frontier @ A)
    return parent


def bfs_mxv(A: Matrix, source: int) -> Vector:
    """Like `bfs`, but each round multiplies the transpose by a column vector."""
    n = A.nrows
    parent, frontier = Vector(int, n), Vector(int, n)
    parent[source] = frontier[source] = source
    while frontier.nvals:
        frontier(~parent.S, replace) << any_secondi(A.T @ frontier)
        parent(frontier.S) << frontier
    return parent


def bfs_blocked(A: Matrix, source: int, blocked: Vector) -> Vector:
    """Like `bfs`, but the search enters no vertex at which `blocked` has an entry."""
    n = A.nrows
    parent, frontier = Vector(int, n), Vector(int, n)
    parent[source] = frontier[source] = source
    while frontier.nvals:
        frontier(~parent.S & ~blocked.S, replace) << any_secondi(frontier @ A)
        parent(frontier.S) << frontier
    return parent


def bfs_with_levels(A: Matrix, source: int) -> tuple[Vector, Vector]:
    """Return the level and the parent of each vertex that the source reaches."""
    n = A.nrows
    level, parent, frontier = Vector(int, n), Vector(int, n), Vector(int, n)
    parent[source] = frontier[source] = source
    level[source] = depth = 0
    while frontier.nvals:
        depth += 1
        frontier(~parent.S, replace) << any_secondi(frontier @ A)
        parent(frontier.S) << frontier
        level(frontier.S) << depth
    return level, parent


def bfs_with_visits(A: Matrix, source: int) -> tuple[Vector, Vector]:
    """Return the parents, and for each vertex the number of rounds in the frontier (always 1)."""
    n = A.nrows
    parent, frontier, visits = Vector(int, n), Vector(int, n), Vector(int, n)
    parent[source] = frontier[source] = source
    while frontier.nvals:
        visits(frontier.S, binary.plus) << 1
        frontier(~parent.S, replace) << any_secondi(frontier @ A)
        parent(frontier.S) << frontier
    return parent, visits


def bfs_with_waits(A: Matrix, source: int) -> tuple[Vector, Vector]:
    """Return the parents, and for each vertex the number of rounds before the search reached it."""
    n = A.nrows
    parent, frontier, waits = Vector(int, n), Vector(int, n), Vector(int, n)
    parent[source] = frontier[source] = source
    while frontier.nvals:
        waits(~parent.S, binary.plus) << 1
        frontier(~parent.S, replace) << any_secondi(frontier @ A)
        parent(frontier.S) << frontier
    return parent, waits


def bfs_with_paths(A: Matrix, source: int) -> tuple[Vector, Vector]:
    """Return the levels, and for each vertex the number of shortest paths from the source."""
    n = A.nrows
    level, paths, frontier = Vector(int, n), Vector(int, n), Vector(int, n)
    frontier[source] = 1
    depth = 0
    while frontier.nvals:
        level(frontier.S) << depth
        paths(frontier.S) << frontier
        frontier(~level.S, replace) << plus_first(frontier @ A)
        depth += 1
    return level, paths


least_left = semiring.register_anonymous(monoid.min, binary.register_anonymous(lambda x, y: x))
one_longer = semiring.register_anonymous(monoid.any, binary.register_anonymous(lambda x, y: x + 1))


def bfs_own_semiring(A: Matrix, source: int) -> Vector:
    """Like `bfs`, but with a user-defined semiring. Each parent is the smallest possible one."""
    n = A.nrows
    parent, frontier = Vector(int, n), Vector(int, n)
    parent[source] = frontier[source] = source
    while frontier.nvals:
        frontier << indexunary.rowindex(frontier)
        frontier(~parent.S, replace) << least_left(frontier @ A)
        parent(frontier.S) << frontier
    return parent


def bfs_levels(A: Matrix, source: int) -> Vector:
    """Return the level of each vertex that the source reaches."""
    n = A.nrows
    level, frontier = Vector(int, n), Vector(bool, n)
    frontier[source] = True
    depth = 0
    while frontier.nvals:
        level(frontier.S) << depth
        frontier(~level.S, replace) << any_pair(frontier @ A)
        depth += 1
    return level


def bfs_levels_own_semiring(A: Matrix, source: int) -> Vector:
    """Like `bfs_levels`, but a user-defined semiring counts the levels."""
    n = A.nrows
    level, frontier = Vector(int, n), Vector(int, n)
    level[source] = frontier[source] = 0
    while frontier.nvals:
        frontier(~level.S, replace) << one_longer(frontier @ A)
        level(frontier.S) << frontier
    return level


def bfs_of_many(A: Matrix, sources: list[int]) -> Vector:
    """Return, for each vertex, how many of the sources reach it. There is one search per source."""
    n = A.nrows
    reached, level, frontier = Vector(int, n), Vector(int, n), Vector(bool, n)
    for source in sources:
        level.clear()
        frontier.clear()
        frontier[source] = True
        depth = 0
        while frontier.nvals:
            level(frontier.S) << depth
            frontier(~level.S, replace) << any_pair(frontier @ A)
            depth += 1
        reached(level.S, binary.plus) << 1
    return reached


# --- shortest paths -------------------------------------------------------------------------------


def shortest_paths(A: Matrix, source: int) -> Vector:
    """Return the distance of each vertex from the source. Each round relaxes all edges.

    The values of A are lengths; no cycle has a negative length.
    """
    distance = Vector(A.dtype, A.nrows)
    distance[source] = 0
    while True:
        before = distance.dup()
        distance(binary.min) << min_plus(distance @ A)
        if distance.isequal(before):
            return distance


def shortest_paths_by_frontier(A: Matrix, source: int) -> Vector:
    """Like `shortest_paths`, but only vertices with a changed distance pass their distance on."""
    n = A.nrows
    distance, frontier = Vector(A.dtype, n), Vector(A.dtype, n)
    distance[source] = frontier[source] = 0
    longer = Vector(bool, n)
    while frontier.nvals:
        frontier << min_plus(frontier @ A)
        longer << binary.ge(frontier & distance)
        frontier(~longer.V, replace) << frontier
        distance(frontier.S) << frontier
    return distance


# --- ranks and centralities -----------------------------------------------------------------------


def pagerank(A: Matrix, start: Vector, degree: Vector, tolerance: float) -> Vector:
    """Return the PageRank of each vertex, iterated from the ranks `start`, which add up to 1.

    `degree` holds the number of out-edges of each vertex that has out-edges. The iteration stops
    when the ranks change by less than `tolerance` in total.
    """
    n = A.nrows
    share = binary.truediv(DAMPING, degree).new()
    rank, before = start.dup(), Vector(float, n)
    change = math.inf
    while change >= tolerance:
        rank, before = before, rank
        rank << plus_first(binary.times(before & share) @ A)
        rest = 1 - rank.reduce(monoid.plus).get(0)
        rank(binary.plus) << rest / n
        change = unary.abs(binary.minus(rank & before)).reduce(monoid.plus).get(0)
    return rank


def pagerank_with_new(A: Matrix, start: Vector, degree: Vector, tolerance: float) -> Vector:
    """Like `pagerank`, but each round creates new vectors, with statements in infix notation."""
    n = A.nrows
    rank = start
    change = 1.0
    while change >= tolerance:
        share = binary.truediv(rank & degree).new()
        following = (DAMPING * plus_first(share @ A)).new()
        rest = (1 - following.reduce().get(0)) / n
        following(binary.plus) << rest
        change = unary.abs(following - rank).reduce().get(0)
        rank = following
    return rank


plus_right = semiring.register_anonymous(monoid.plus, binary.register_anonymous(lambda x, y: y))


def pagerank_mxv(A: Matrix, start: Vector, degree: Vector, tolerance: float) -> Vector:
    """Like `pagerank`, but with the transpose, a user-defined semiring, and a helper function."""
    n = A.nrows
    ranks, last, given = start.dup(), Vector(float, n), Vector(float, n)
    while True:
        given << binary.truediv(ranks & degree)
        last << plus_right(A.T @ given)
        last << last * DAMPING
        last(binary.plus) << (1 - total(last)) / n
        change = total(unary.abs(binary.minus(ranks & last)))
        ranks, last = last, ranks
        if change < tolerance:
            return ranks


def total(x: Any) -> float:
    """Return Σ x(i)."""
    return x.reduce(monoid.plus).get(0)


def pagerank_rounds(A: Matrix, start: Vector, degree: Vector, rounds: int) -> Vector:
    """Like `pagerank`, but with a fixed number of rounds."""
    n = A.nrows
    rank, following = start.dup(), Vector(float, n)
    for _ in range(rounds):
        following << plus_first(binary.truediv(rank & degree) @ A)
        following << binary.times(following, DAMPING)
        rest = 1 - following.reduce(monoid.plus).get(0)
        following(binary.plus) << rest / n
        rank, following = following, rank
    return rank


def eigenvector(A: Matrix, tolerance: float, max_iter: int) -> Vector:
    """Return an eigenvector x with x + xA = λx and Euclidean norm 1, by power iteration.

    The iteration stops after `max_iter` rounds, or when x changes by less than `tolerance` in
    total.
    """
    n = A.nrows
    x, following = Vector(float, n), Vector(float, n)
    x << 1 / n
    for _ in range(max_iter):
        following << x
        following(binary.plus) << plus_first(x @ A)
        length = math.sqrt(binary.times(following & following).reduce(monoid.plus).get(0))
        following << binary.truediv(following, length)
        change = unary.abs(binary.minus(following & x)).reduce(monoid.plus).get(0)
        x, following = following, x
        if change < tolerance:
            break
    return x


def eigenvector_mxv(A: Matrix, tolerance: float, max_iter: int) -> Vector:
    """Like `eigenvector`, but with the transpose, and a counter of rounds."""
    n, rounds, change = A.nrows, 0, math.inf
    x = Vector(float, n)
    x << 1 / n
    while rounds < max_iter and change >= tolerance:
        y = plus_second(A.T @ x).new()
        y << binary.plus(y | x)
        y << y / math.sqrt(dot(y, y))
        change = total(unary.abs(binary.minus(y & x)))
        x = y
        rounds += 1
    return x


def katz(A: Matrix, alpha: float, tolerance: float, max_iter: int) -> Vector:
    """Return the vector x for which x = αxA + 1."""
    n = A.nrows
    x = Vector(float, n)
    x << 0
    for _ in range(max_iter):
        before = x.dup()
        x << 1
        x(binary.plus) << plus_first(binary.times(alpha, before) @ A)
        if unary.abs(binary.minus(x & before)).reduce(monoid.plus).get(0) < tolerance:
            break
    return x


def hits_by_powers(A: Matrix, tolerance: float, max_iter: int) -> tuple[Vector, Vector]:
    """Return hubs and authorities, computed by the power method. Each vector adds up to 1.

    The rounds end when the hubs change by less than `tolerance` in total, or after `max_iter`
    rounds.
    """
    n = A.nrows
    hubs, authorities, before = Vector(float, n), Vector(float, n), Vector(float, n)
    hubs << 1 / n
    for _ in range(max_iter):
        before << hubs
        authorities << plus_times(hubs @ A)
        authorities << authorities / authorities.reduce().get(0)
        hubs << plus_times(A @ authorities)
        hubs << hubs / hubs.reduce().get(0)
        if unary.abs(hubs - before).reduce().get(0) < tolerance:
            break
    return hubs, authorities


def dot(x: Vector, y: Vector) -> float:
    """Return Σ x(i) y(i)."""
    return binary.times(x & y).reduce(monoid.plus).get(0)


def largest_eigenvalue(a: float, b: float, c: float, d: float, e: float, f: float) -> float:
    """Return the largest eigenvalue of the symmetric matrix [[a, d, e], [d, b, f], [e, f, c]].

    The roots of the cubic polynomial are computed with cosines.
    """
    middle = (a + b + c) / 3
    x, y, z = a - middle, b - middle, c - middle
    size = math.sqrt((x * x + y * y + z * z + 2 * (d * d + e * e + f * f)) / 6)
    if size == 0:
        return middle
    x, y, z, d, e, f = x / size, y / size, z / size, d / size, e / size, f / size
    half = (x * (y * z - f * f) - d * (d * z - e * f) + e * (d * f - e * y)) / 2
    return middle + 2 * size * math.cos(math.acos(max(-1.0, min(1.0, half))) / 3)


def hits(A: Matrix, tolerance: float, max_iter: int) -> tuple[Vector, Vector]:
    """Return hubs and authorities in fewer rounds than the power method. Each vector adds up to 1.

    This is LOBPCG (A. Knyazev, 2001): each round takes the linear combination of the hubs, their
    residual and the last step that has the largest Rayleigh quotient of AAᵀ. The iteration stops
    when the length of the residual is below `tolerance` times the eigenvalue, or after `max_iter`
    rounds. A must have at least one entry.
    """
    n = A.nrows
    ones = Vector(float, n)
    ones << 1.0
    # The three directions h (hubs), r (residual) and p (last step), and their products with AAᵀ.
    h, r, p = Vector(float, n), Vector(float, n), Vector(float, n)
    Mh, Mr, Mp = Vector(float, n), Vector(float, n), Vector(float, n)
    h << plus_times(A @ plus_times(ones @ A))
    h << h / math.sqrt(dot(h, h))
    Mh << plus_times(A @ plus_times(h @ A))
    has_step = False
    for _ in range(max_iter):
        theta = dot(h, Mh)
        r << Mh - theta * h
        error = math.sqrt(dot(r, r))
        if error < tolerance * theta:
            break
        r << r / error
        Mr << plus_times(A @ plus_times(r @ A))
        # Make p orthogonal to h and r, twice because of rounding, and scale it to length 1.
        length = 0.0
        if has_step:
            for _ in range(2):
                along_h, along_r = dot(p, h), dot(p, r)
                p << p - along_h * h - along_r * r
                Mp << Mp - along_h * Mh - along_r * Mr
            length = math.sqrt(dot(p, p))
        hr, rr = dot(h, Mr), dot(r, Mr)
        hp = rp = pp = 0.0
        if length > 1e-12:
            p << p / length
            Mp << Mp / length
            hp, rp, pp = dot(h, Mp), dot(r, Mp), dot(p, Mp)
        # The best combination is h + along_r r + along_p p.
        top = largest_eigenvalue(theta, rr, pp, hr, hp, rp)
        along_r, along_p = hr / (top - rr), 0.0
        if length > 1e-12:
            determinant = (top - rr) * (top - pp) - rp * rp
            along_r = (hr * (top - pp) + hp * rp) / determinant
            along_p = (hp * (top - rr) + hr * rp) / determinant
            p << along_p * p + along_r * r
            Mp << along_p * Mp + along_r * Mr
        else:
            p << along_r * r
            Mp << along_r * Mr
        has_step = True
        h << h + p
        Mh << Mh + Mp
        length = math.sqrt(dot(h, h))
        h << h / length
        Mh << Mh / length
        length = math.sqrt(dot(p, p))
        p << p / length
        Mp << Mp / length
    authorities = plus_times(h @ A).new()
    hubs = plus_times(A @ authorities).new()
    return (hubs / hubs.reduce().get(0)).new(), (authorities / authorities.reduce().get(0)).new()


# --- betweenness ----------------------------------------------------------------------------------


def betweenness(A: Matrix, source: int) -> Vector:
    """Return the dependency of the source on each vertex: Σ σ(s, t | v) / σ(s, t) over all t.

    A list of frontiers is used as a stack. A vertex that lies on no shortest path between two other
    vertices has no entry or the entry 0.
    """
    n = A.nrows
    paths, frontier = Vector(float, n), Vector(float, n)
    frontier[source] = 1
    frontiers = []
    while frontier.nvals:
        paths(frontier.S) << frontier
        frontiers.append(frontier.dup())
        frontier(~paths.S, replace) << plus_first(frontier @ A)
    dependency, share = Vector(float, n), Vector(float, n)
    dependency << 0
    while len(frontiers) > 2:
        last = frontiers.pop()
        # share(w) = (1 + dependency(w)) / paths(w), for each vertex w of the last level
        share(last.S, replace) << binary.plus(dependency, 1)
        share << binary.truediv(share & last)
        # dependency(v) = paths(v) · Σ share(w) over the edges v -> w, for v one level earlier
        share(frontiers[-1].S, replace) << plus_second(A @ share)
        dependency(binary.plus) << binary.times(share & paths)
    return dependency


def betweenness_by_levels(A: Matrix, source: int) -> Vector:
    """Like `betweenness`, but the level of each vertex is recorded instead of the frontiers."""
    n = A.nrows
    level, paths, frontier = Vector(int, n), Vector(float, n), Vector(float, n)
    frontier[source] = 1
    depth = 0
    while frontier.nvals:
        level(frontier.S) << depth
        paths(frontier.S) << frontier
        frontier(~level.S, replace) << plus_first(frontier @ A)
        depth += 1
    dependency, here, share = Vector(float, n), Vector(int, n), Vector(float, n)
    dependency << 0
    for k in range(depth - 1, 1, -1):
        here << level.select("==", k)
        share(here.S, replace) << (dependency + 1) / paths
        here << level.select("==", k - 1)
        share(here.S, replace) << plus_second(A @ share)
        dependency(binary.plus) << share * paths
    return dependency


def betweenness_mxv(A: Matrix, source: int) -> Vector:
    """Like `betweenness`, but the products use the transpose, and the stack is read by index."""
    n = A.nrows
    sigma, queue = Vector(float, n), Vector(float, n)
    sigma[source] = queue[source] = 1
    stack = [queue.dup()]
    while stack[-1].nvals:
        queue(~sigma.S, replace) << plus_second(A.T @ queue)
        sigma(queue.S) << queue
        stack.append(queue.dup())
    delta, owed = Vector(float, n), Vector(float, n)
    delta << 0
    depth = len(stack) - 2
    while depth > 1:
        owed(stack[depth].S, replace) << binary.truediv((delta + 1) & sigma)
        depth -= 1
        owed(stack[depth].S, replace) << plus_first(owed @ A.T)
        owed << binary.times(owed & sigma)
        delta(owed.S, binary.plus) << owed
    return delta


def betweenness_of_many(A: Matrix, sources: list[int]) -> Vector:
    """Return the sum of the dependencies of several sources, one search after another."""
    n = A.nrows
    total, paths, frontier = Vector(float, n), Vector(float, n), Vector(float, n)
    dependency, share = Vector(float, n), Vector(float, n)
    total << 0
    for source in sources:
        paths.clear()
        frontier.clear()
        frontier[source] = 1
        frontiers = []
        while frontier.nvals:
            paths(frontier.S) << frontier
            frontiers.append(frontier.dup())
            frontier(~paths.S, replace) << plus_first(frontier @ A)
        dependency << 0
        for k in range(len(frontiers) - 1, 1, -1):
            share(frontiers[k].S, replace) << binary.plus(dependency, 1)
            share << binary.truediv(share & paths)
            share(frontiers[k - 1].S, replace) << plus_second(A @ share)
            dependency(binary.plus) << binary.times(share & paths)
        total(binary.plus) << dependency
    return total


# --- components, cores, independent sets ----------------------------------------------------------


def components(A: Matrix) -> Vector:
    """Return the smallest vertex of each vertex's component. A is symmetric.

    This is FastSV (Y. Zhang, A. Azad and Z. Hu, 2020): parent pointers form trees, and each round
    hooks trees onto the trees of neighbors.
    """
    n = A.nrows
    parent, least = Vector(int, n), Vector(int, n)
    parent << 0
    parent << indexunary.rowindex(parent)
    grandparent, before = parent.dup(), Vector(int, n)
    changed = True
    while changed:
        # least(i) is the minimum of grandparent(i) and of grandparent(j) for all neighbors j of i.
        least << grandparent
        least(binary.min) << min_second(A @ grandparent)
        parent(binary.min)[parent] << least
        parent(binary.min) << least
        before << grandparent
        grandparent << parent[parent]
        changed = not grandparent.isequal(before)
    return parent


def components_vxm(graph: Matrix) -> Vector:
    """Like `components`, but with vector-matrix products, other names, and reordered statements."""
    n = graph.nrows
    f, ids = Vector(int, n), Vector(int, n)
    ids << 0
    f << indexunary.rowindex(ids)
    gf, u = f.dup(), f.dup()
    while True:
        u(binary.min) << min_first(gf @ graph)
        f(binary.min) << u
        f(binary.min)[f] << u
        dup = gf
        gf = f[f].new()
        if gf.isequal(dup):
            return f
        u << gf


def components_by_labels(A: Matrix) -> tuple[Vector, Vector]:
    """Return the component's label for each vertex, and how often the label of the vertex changed.

    The smallest label spreads along edges. A is symmetric.
    """
    n = A.nrows
    label, changes, news = Vector(int, n), Vector(int, n), Vector(int, n)
    label << 0
    changes << 0
    label << indexunary.rowindex(label)
    news << label
    smaller = Vector(bool, n)
    while news.nvals:
        news << min_first(news @ A)
        smaller << binary.lt(news & label)
        news(smaller.V, replace) << news
        label(news.S) << news
        changes(news.S, binary.plus) << 1
    return label, changes


def core_numbers(A: Matrix, degree: Vector) -> Vector:
    """Return the core number of each vertex. A round removes all vertices of the smallest degree.

    A is symmetric and has no self-loops. `degree` holds an entry for each vertex.
    """
    n = A.nrows
    core, gone, left = Vector(int, n), Vector(int, n), degree.dup()
    k = 0
    while left.nvals:
        k = max(k, left.reduce(monoid.min).get(0))
        gone << left.select("<=", k)
        core(gone.S) << k
        left(~gone.S, replace) << left
        left(left.S, binary.minus) << plus_pair(gone @ A)
    return core


def core_numbers_by_frontier(A: Matrix, degree: Vector) -> Vector:
    """Like `core_numbers`, but after the first round of each k only changed vertices are tested.

    The minimum over all remaining vertices is needed only once for each k.
    """
    n = A.nrows
    core, gone, lost, left = Vector(int, n), Vector(int, n), Vector(int, n), degree.dup()
    while left.nvals:
        k = left.reduce(monoid.min).get(0)
        gone << left.select("<=", k)
        while gone.nvals:
            core(gone.S) << k
            lost(~core.S, replace) << plus_pair(gone @ A)
            gone << binary.minus(left & lost)
            left(gone.S) << gone
            gone << gone.select("<=", k)
        left(~core.S, replace) << left
    return core


def core_numbers_with_turns(A: Matrix, degree: Vector) -> tuple[Vector, Vector]:
    """Like `core_numbers`; also return the round in which each vertex is removed."""
    n = A.nrows
    core, removal, lost = Vector(int, n), Vector(int, n), Vector(int, n)
    remaining, leaving = degree.dup(), Vector(bool, n)
    k = turn = 0
    while remaining.nvals > 0:
        least = remaining.reduce(monoid.min).get(0)
        if least > k:
            k = least
        leaving << (remaining <= k)
        leaving(leaving.V, replace) << leaving
        removal(leaving.S) << turn
        remaining(~leaving.S, replace) << remaining
        core(leaving.S) << k
        lost(remaining.S, replace) << plus_pair(A @ leaving)
        remaining(lost.S) << binary.minus(remaining & lost)
        turn += 1
    return core, removal


def independent_set(A: Matrix, priority: Vector) -> Vector:
    """Return a maximal independent set: true at its vertices, and no entries elsewhere.

    A is symmetric. `priority` holds a different positive number for each vertex. In each round, the
    candidates whose numbers are larger than those of all neighboring candidates join the set.
    """
    n = A.nrows
    chosen, beaten, winners, near = (Vector(bool, n) for _ in range(4))
    candidates, greatest = priority.dup(), Vector(int, n)
    while candidates.nvals:
        greatest(candidates.S, replace) << max_second(A @ candidates)
        beaten << binary.gt(greatest & candidates)
        winners(~beaten.V, replace) << binary.pair(candidates & candidates)
        chosen(winners.S) << True
        near(candidates.S, replace) << any_pair(winners @ A)
        candidates(~winners.S & ~near.S, replace) << candidates
    return chosen


max_left = semiring.register_anonymous(monoid.max, binary.register_anonymous(lambda x, y: x))


def independent_set_vxm(A: Matrix, priority: Vector) -> tuple[Vector, Vector]:
    """Like `independent_set`, but with a user-defined semiring and vector-matrix products.

    Also return, for each vertex, the number of rounds in which it was a candidate.
    """
    n = A.nrows
    chosen, near, waits = Vector(bool, n), Vector(bool, n), Vector(int, n)
    winners, best, candidates = Vector(int, n), Vector(int, n), priority.dup()
    while candidates.nvals:
        waits(candidates.S, binary.plus) << 1
        best(candidates.S, replace) << max_left(candidates @ A)
        # A candidate wins if its number is larger than those of all neighboring candidates.
        winners << candidates
        winners(best.S) << binary.minus(candidates & best)
        winners << winners.select(">=", 0)
        chosen(winners.S) << True
        near << any_pair(winners @ A)
        candidates(~near.S & ~winners.S, replace) << candidates
    return chosen, waits


scramble = indexunary.register_anonymous(
    # The square makes the values look random; adding i makes the values of all vertices differ.
    lambda x, i, j, turn: ((i % 65521 + 7919 * turn) % 65521) ** 2 % 65521 * 4294967296 + i + 1
)


def independent_set_by_turns(A: Matrix) -> Vector:
    """Like `independent_set`, but each round draws new random numbers: M. Luby's algorithm."""
    n = A.nrows
    chosen, greatest = Vector(bool, n), Vector(int, n)
    candidates = Vector(int, n)
    candidates << 0
    turn = 0
    while candidates.nvals:
        candidates << scramble(candidates, turn)
        greatest(candidates.S, replace) << max_second(A @ candidates)
        beaten = binary.gt(greatest & candidates).new()
        winners = candidates.dup(mask=~beaten.V)
        chosen(winners.S) << True
        near = any_pair(winners @ A).new(mask=candidates.S)
        candidates(~winners.S & ~near.S, replace) << candidates
        turn += 1
    return chosen


PROGRAMS: dict[str, Any] = {
    each.__name__: each
    for each in (
        *(bfs, bfs_renamed, bfs_reordered, bfs_mxv, bfs_blocked, bfs_with_levels),
        *(bfs_with_visits, bfs_with_waits, bfs_with_paths, bfs_own_semiring, bfs_levels),
        *(bfs_levels_own_semiring, bfs_of_many, shortest_paths, shortest_paths_by_frontier),
        *(pagerank, pagerank_with_new, pagerank_rounds, eigenvector, katz, hits_by_powers, hits),
        *(betweenness, betweenness_by_levels, betweenness_of_many, components),
        *(components_by_labels, core_numbers, core_numbers_by_frontier, independent_set),
        *(independent_set_by_turns, independent_set_vxm, pagerank_mxv, eigenvector_mxv),
        *(betweenness_mxv, components_vxm, core_numbers_with_turns),
    )
}
"""All programs by name."""
