"""Push or pull: which way a matrix-vector product is cheaper, and why.

Push scatters along the entries of u: it touches as many matrix entries as the degrees of u's
entries add up to. Pull gathers the outputs that the mask leaves, and for a monoid that may stop
early it expects to look at one in `density` neighbours only. The rule costs O(entries of u or of
the mask), never O(n), so that a thousand small levels stay cheap.
"""

from __future__ import annotations

from typing import Any

from graphla.forms import MatrixForms, VectorForms
from graphla.settings import forced_direction
from graphla.storage import VectorMask
from semirings.structures import TypedSemiring

# In units of one entry gathered by pull; measured by benchmarks/direction.py.
PUSH_ENTRY = 2.0  # one entry scattered by push
PULL_ROW = 1.0  # one row visited by pull, whatever it holds
TRANSPOSE_ENTRY = 8.0  # one entry of the other form of the matrix, where it must be built first
SMALL = 4096  # a matrix of fewer entries: what is at hand is what is quickest

Choice = tuple[str, str]


def choose(
    m: MatrixForms, u: VectorForms, semiring: TypedSemiring, mask: VectorMask | None
) -> Choice:
    """The direction of w(o) = (+) over k of m(o, k) u(k), and the reason."""
    forced = forced_direction()
    if forced != "auto":
        return forced, "forced"
    nvals = m.nvals
    if nvals < SMALL and m.has_csr and u.has_dense:
        return "pull", "small, and at hand by rows"
    if nvals < SMALL and m.has_csc and u.has_sparse:
        return "push", "small, and at hand by columns"
    push = PUSH_ENTRY * _degrees(m.csc if m.has_csc else None, m, u)
    pull = _pull_cost(m, u, semiring, mask)
    if push <= pull:
        if m.has_csc or not m.has_csr:
            return "push", f"push {push:,.0f} <= pull {pull:,.0f}"
        return _unless_paid("push", "pull", pull - push, m, push, pull)
    if m.has_csr:
        return "pull", f"pull {pull:,.0f} < push {push:,.0f}"
    return _unless_paid("pull", "push", push - pull, m, push, pull)


def _unless_paid(
    wanted: str, at_hand: str, excess: float, m: MatrixForms, push: float, pull: float
) -> Choice:
    """The wanted direction once what it would have saved has paid for the form that it needs."""
    price = TRANSPOSE_ENTRY * m.nvals
    paid = m.owe(excess)
    costs = f"push {push:,.0f}, pull {pull:,.0f}"
    if paid >= price:
        return wanted, f"{costs}: the other form pays by now"
    return at_hand, f"{costs}: the other form would cost {price:,.0f}, of which {paid:,.0f} is paid"


def _degrees(columns: Any, m: MatrixForms, u: VectorForms) -> float:
    """How many entries of m push would touch."""
    if u.nvals == u.size:
        return m.nvals
    if columns is None or not u.has_sparse:
        return m.nvals * (u.nvals / max(u.size, 1))
    return _entries(columns, u.sparse(sorted=False).indices)


def _pull_cost(
    m: MatrixForms, u: VectorForms, semiring: TypedSemiring, mask: VectorMask | None
) -> float:
    """How many entries of m pull would touch, with what its rows cost in themselves."""
    nrows = m.nrows
    rows = nrows if mask is None else _rows_left(mask)
    per_row = m.nvals / max(nrows, 1)
    entries = rows * per_row
    if mask is not None and not mask.complement and mask.indices is not None and m.has_csr:
        entries = _entries(m.csr, mask.indices)
    if _stops_early(semiring):
        entries = min(entries, rows * min(per_row, u.size / max(u.nvals, 1)))
    return PULL_ROW * (rows if mask is None or mask.complement is False else nrows) + entries


def _stops_early(semiring: TypedSemiring) -> bool:
    monoid = semiring.monoid
    return monoid.is_any or (monoid.type.kind == "b" and monoid.terminal is not None)


def _rows_left(mask: VectorMask) -> int:
    listed = mask.nvals
    if listed is None:
        listed = mask.size // 2 if mask.indices is None else mask.indices.size
    return mask.size - listed if mask.complement else listed


def _entries(a: Any, rows: Any) -> int:
    """How many entries the given rows hold."""
    indptr = a.indptr
    if rows.size <= 8:
        return sum(int(indptr[i + 1]) - int(indptr[i]) for i in rows.tolist())
    return int((indptr[rows + 1] - indptr[rows]).sum())
