"""Reachability: the vertices that can be reached by a path of any length.

The result is a closure over truth values: the least r with r = r ∨ rA that is true at the sources.
For all vertices at once it is the transitive closure R = I ∨ A ∨ A² ∨ ..., with one row per vertex.
"""

from __future__ import annotations

from typing import Any

from graphla.algorithms._shared import validation
from graphla.algorithms._shared.graph_algorithm import graph_algorithm
from graphla.sparse import Mask, Matrix, Vector
from graphla.traversal import closure, many
from semirings import binary, monoid, select, unary
from semirings.exceptions import InvalidValue
from semirings.semiring import lor_first, lor_pair


@graph_algorithm(vertices=("source",))
def reachable(
    A: Matrix, source: Any, *, cutoff: int | None = None, mask: Mask | Vector | None = None
) -> Vector:
    """``r = r lor (r lor.first A)``, until r does not change.

    Find the vertices that can be reached from the source, including the source itself.

    Takes O(n + m) time. Pass `A.T` instead of A to find the vertices from which the source can be
    reached.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.
        source: one vertex; several vertices as a list, an array or a set; or a Vector with an entry
            at each source.
        cutoff: the maximum number of edges in a path; None means no limit.
        mask: a mask of size n, such as `~forbidden.S`, or a Vector of truth values. Apart from the
            sources, the search visits only vertices that the mask selects.

    Returns:
        Vector: a Vector of size n and dtype BOOL, true at the reached vertices and without entries
            elsewhere.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square, or a Vector or mask has a size other than n.
        IndexOutOfBound: If a source is not a vertex of the graph.
        DeviceMismatch: If A and a Vector or mask are not on the same device.
        InvalidValue: If `cutoff` is negative.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import reachable
        >>> A = Matrix.from_coo([0, 1, 3], [1, 2, 0], 1, nrows=4, ncols=4)
        >>> reachable(A, 1).to_dict()
        {1: True, 2: True}
    """
    cutoff = None if cutoff is None else validation.count("cutoff", cutoff, least=0)
    # r(s) = true
    start = validation.starts(source, A, True, "BOOL")
    # r = r ⊕ rA ⊕ rA² ⊕ ...
    return closure(start, A, lor_first, mask=mask, cutoff=cutoff).values


@graph_algorithm()
def transitive_closure(A: Matrix, reflexive: bool | None = False) -> Matrix:
    """``R = A ∨ A² ∨ A³ ∨ ...``, over truth values.

    Find all pairs of vertices joined by a path with at least one edge.

    Searches run from all vertices, 64 at once, each using one bit of a 64-bit word. They take O(n m
    / 64) time in the best case. The result may hold n² entries; for the vertices reached from a
    single vertex call `reachable`.

    Args:
        A: the graph, with n vertices and m edges: a `Graph`, or a square Matrix or Matrix
            expression with an entry A(i, j) for each edge i -> j. If A is a Graph, arguments and
            results refer to vertices by their labels. The values of A are ignored.
        reflexive: which diagonal entries R(i, i) are true: if True, all of them; if False, those of
            vertices on a cycle (the two directions of an undirected edge form a cycle); if None,
            only those of self-loops of A. For an undirected graph, NetworkX treats False like None.

    Returns:
        Matrix: a Matrix of shape (n, n) and dtype BOOL, true at (i, j) if a path leads from i to j,
            and without entries elsewhere.

    Raises:
        TypeError: If A is neither a Matrix nor a Graph, or another argument has the wrong type.
        DimensionMismatch: If A is not square.
        InvalidValue: If `reflexive` is not True, False or None.

    Examples:
        >>> from graphla import Matrix
        >>> from graphla.algorithms import transitive_closure
        >>> A = Matrix.from_coo([0, 1, 2], [1, 2, 1], 1, nrows=3, ncols=3)
        >>> transitive_closure(A).to_dicts()
        {0: {1: True, 2: True}, 1: {1: True, 2: True}, 2: {1: True, 2: True}}
    """
    if reflexive not in (True, False, None):
        raise InvalidValue(f"reflexive must be True, False or None, not {reflexive!r}")
    # R = I ∨ A ∨ A² ∨ ...
    R = many.pairs(A)
    if reflexive:
        return R
    if reflexive is None:
        loops = unary.one["BOOL"](A.diag()).new()
    else:
        # l(i) = ∨ over j of R(i, j) ∧ A(j, i): the vertices on a cycle
        loops = R.dup(mask=A.T.new().S).reduce_rowwise(monoid.lor).new()
    # R = (R without its diagonal) ∨ diag(l)
    return binary.lor(select.offdiag(R) | loops.diag()).new()


def definition(A: Matrix) -> Matrix:
    """``R = R ∨ R²`` until R no longer changes, starting with R = I ∨ A.

    Return the reflexive transitive closure of A.
    """
    identity = Vector.from_scalar(True, A.nrows, bool).diag()
    R, entries = binary.lor(unary.one["BOOL"](A) | identity).new(), -1
    while R.nvals > entries:
        entries = R.nvals
        R << lor_pair(R @ R)
    return R
