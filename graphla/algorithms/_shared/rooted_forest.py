"""Root a spanning forest, number its vertices in preorder, and reduce values over its subtrees.

Each tree edge is stored as two arcs, one per direction. An Euler tour takes each arc once: after
the arc u -> v, it takes the arc of v that follows v -> u. Pointer jumping finds the number of arcs
that remain after each arc, in O(log n) rounds for trees of any depth (R. Tarjan and U. Vishkin,
1985).
"""

from __future__ import annotations

from typing import NamedTuple

from graphla.algorithms._shared.membership import lookup, rank_entries, vertex_numbers
from graphla.algorithms.components import connected_components
from graphla.algorithms.spanning_forest import find_forest
from graphla.program.jit import jit_if_large
from graphla.sparse import Matrix, Vector
from semirings import binary, indexunary, monoid, select, unary

SHIFT = 1 << 31
"""A pair of numbers below 2^31 is stored as one INT64 number: first * SHIFT + second."""


class RootedForest(NamedTuple):
    """The result of `root_forest`. All vectors are full, and their dtype is INT64.

    Attributes:
        parent: the parent of each vertex; a root is its own parent.
        order: the vertices in preorder. Each vertex comes before its descendants, which follow it
            without a gap.
        number: the position of each vertex in `order`.
        size: the number of vertices in the subtree of each vertex, including the vertex.
    """

    parent: Vector
    order: Vector
    number: Vector
    size: Vector


def root_forest(A: Matrix) -> RootedForest:
    """Find a spanning forest of a symmetric matrix, and root each tree.

    A has at least one row, and fewer than 2^30.
    """
    T, n = _join_trees(A), A.nrows
    # Number the arcs, row by row; back(k) is the number of the opposite arc.
    K = rank_entries(T)
    indptr, heads, numbers = K.T.new().to_csr(copy=False)
    back, arcs = Vector.from_dense(numbers), 2 * n
    # In the tour, s(back(k)) follows k. Here s(k) is the next arc of the same row; the first arc
    # follows the last one.
    s = binary.plus(indexunary.rowindex(back).new(), 1).new()
    s[K.reduce_rowwise(monoid.max).new()] << K.reduce_rowwise(monoid.min)
    follower, rest = lookup(back, s).dup("INT32"), Vector.from_scalar(1, arcs, "INT32")
    # The tour begins with the first arc of vertex n, and so ends with the opposite of its last arc.
    end = int(back[arcs - 1].value)
    follower[end], rest[end] = end, 0
    _jump(T, follower, rest, arcs.bit_length())
    # P(u, v) = position of u -> v in the tour * SHIFT + v
    position = binary.minus(arcs - 1, rest.dup("INT64")).new()
    pair = binary.plus(
        binary.times(position, SHIFT) & Vector.from_dense(heads, dtype="INT64")
    ).new()
    P = Matrix.from_csr(indptr, heads, pair.to_dense(copy=False), ncols=n + 1)
    # The tour enters v just before it takes the first arc of v, and leaves v by the last one, which
    # leads to the parent of v. Two arcs are taken for each vertex below v.
    first, last = (
        P.reduce_rowwise(extreme).new()[:n].new() for extreme in (monoid.min, monoid.max)
    )
    first = binary.floordiv(first, SHIFT).new()
    parent, own = binary.band(last, SHIFT - 1).new(), vertex_numbers(A)
    arcs_below = binary.minus(binary.floordiv(last, SHIFT) & first).new()
    size = binary.plus(binary.floordiv(arcs_below, 2), 1).new()
    # The roots are the children of vertex n.
    root = binary.eq(parent, n).new()
    parent(root.V) << own
    order, number = first.argsort(), Vector("INT64", n)
    number[order] << own
    return RootedForest(parent, order, number, size)


def subtree_extremes(
    A: Matrix, forest: RootedForest, least: Vector, most: Vector
) -> tuple[Vector, Vector]:
    """Return the minimum of `least` and the maximum of `most` over the subtree of each vertex.

    A subtree is an interval of the preorder. The minimum over an interval is the minimum over two
    shorter intervals, whose lengths are the largest power of 2 that fits.
    """
    order, number = forest.order, forest.number
    least, most, size = lookup(order, least), lookup(order, most), lookup(order, forest.size)
    least, most = _fold_intervals(A, size, vertex_numbers(A), least, most)
    return lookup(number, least), lookup(number, most)


def _join_trees(A: Matrix) -> Matrix:
    """Return a spanning forest of A, joined by vertex n to a single tree.

    Vertex n has an edge to one vertex of each tree. The result is symmetric, and all its values are
    stored as one value.
    """
    n = A.nrows
    U = find_forest(select.triu(unary.one["BOOL"](A), 1).new())
    roots = binary.eq(connected_components(U) & vertex_numbers(A)).new().select("==", True).new()
    U.resize(n + 1, n + 1)
    roots.resize(n + 1)
    joint = Vector.from_coo([n], True, size=n + 1)
    # U = U ⊕ r eᵀ, where r(i) is true at a vertex of each tree, and e is true at n
    U = binary.lor(U | roots.outer(joint, binary.land).new()).new()
    return unary.one["BOOL"](binary.lor(U | U.T)).new()


@jit_if_large
def _jump(T: Matrix, follower: Vector, rest: Vector, rounds: int) -> None:
    """Replace rest(k) by the sum of `rest` over the list that begins with k.

    The last element of the list follows itself, and its `rest` is 0. T has one entry per element.
    """
    for _ in range(rounds):
        # r(k) = r(k) + r(f(k)); f(k) = f(f(k))
        rest << binary.plus(rest & rest[follower])
        follower << follower[follower]


@jit_if_large
def _fold_intervals(
    A: Matrix, size: Vector, index: Vector, least: Vector, most: Vector
) -> tuple[Vector, Vector]:
    """Return the minimum of least(i), ..., least(i + size(i) - 1), and the maximum of `most`.

    `index` holds 0, 1, ...
    """
    n, width = size.size, 1
    low, high = least.dup(), most.dup()
    # At the start of each round, least(i) is the minimum of elements i to i + width - 1, or to the
    # last element. low(i) is correct if size(i) < width.
    while width <= n:
        # low(i) = least(i) min least(i + size(i) - width), where size(i) >= width
        start = binary.max(binary.plus(index & binary.minus(size, width)) & index).new()
        is_long = binary.ge(size, width).new()
        low(is_long.V) << binary.min(least & least[start])
        high(is_long.V) << binary.max(most & most[start])
        start << binary.min(binary.plus(index, width), n - 1)
        least << binary.min(least & least[start])
        most << binary.max(most & most[start])
        width *= 2
    return low, high
