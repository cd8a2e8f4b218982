"""Reachability: which vertices a path leads to, whatever its length.

It is the least r with r = r ∨ rA and r true at the sources: a closure over truth values. Of all
vertices at once it is the transitive closure, R = I ∨ A ∨ A² ∨ ..., a row for each.
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
    """r = r lor.first A, until it rests: true at each vertex that the source reaches, itself too.

    An edge i -> j is an entry A(i, j), whatever its value. `source` is a vertex, or several, as in
    `bfs`; `cutoff` is the greatest number of edges; vertices off the `mask` are not passed. Of A.T
    it is what leads to the source.

    >>> from graphla import Matrix
    >>> from graphla.algorithms import reachable
    >>> A = Matrix.from_coo([0, 1, 3], [1, 2, 0], 1, nrows=4, ncols=4)
    >>> reachable(A, 1).to_dict()
    {1: True, 2: True}
    """
    cutoff = None if cutoff is None else validation.count("cutoff", cutoff, least=0)
    # r(s) = true
    start = validation.starts(source, A, True, "BOOL")
    # r = r ⊕ rA ⊕ rA² ...
    return closure(start, A, lor_first, mask=mask, cutoff=cutoff).values


@graph_algorithm()
def transitive_closure(A: Matrix, reflexive: bool | None = False) -> Matrix:
    """R = A ∨ A² ∨ A³ ∨ ...: true where a path of an edge or more leads from i to j.

    - reflexive: False: i reaches itself by a cycle alone, of which an edge that leads both ways is
      one; True: every vertex reaches itself; None: only by a self-loop, as in A. (NetworkX takes
      False for None where its graph is undirected.)

    Searches run from all vertices, 64 of them in the bits of a word. The result may hold n²
    entries: of one vertex, or some, ask `reachable`.

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
        # l(i) = ∨ over j of R(i, j) ∧ A(j, i): who comes back
        loops = R.dup(mask=A.T.new().S).reduce_rowwise(monoid.lor).new()
    # R = (R without its diagonal) ∨ diag(l)
    return binary.lor(select.offdiag(R) | loops.diag()).new()


def definition(A: Matrix) -> Matrix:
    """R = R ∨ R², until it rests, from I ∨ A: the reflexive closure by repeated squaring."""
    identity = Vector.from_scalar(True, A.nrows, bool).diag()
    R, entries = binary.lor(unary.one["BOOL"](A) | identity).new(), -1
    while R.nvals > entries:
        entries = R.nvals
        R << lor_pair(R @ R)
    return R
