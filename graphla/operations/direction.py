"""Push or pull: which way a matrix-vector product is cheaper, and why.

Push scatters along the entries of u: it touches as many matrix entries as the degrees of u's
entries add up to. Pull gathers the outputs that the mask leaves, and for a monoid that may stop
early it expects to look at one in `density` neighbours only. The rule costs O(entries of u or of
the mask), never O(n), so that a thousand small levels stay cheap.

A direction that needs the form of the matrix which is not there yet must pay for making it. Like
one who rents skis until the rent paid reaches the price, we take the other direction, and keep
account of what that costs more, until the account would have bought the form.
"""

from __future__ import annotations

from typing import Any

from graphla.forms import MatrixForms, VectorForms
from graphla.settings import config, forced_direction
from graphla.storage import VectorMask
from semirings.structures import TypedSemiring

# In units of one entry gathered by pull, as `config.push_cost` is; measured by
# benchmarks/direction.py.
PULL_ROW = 1.0  # one row visited by pull, whatever it holds
STOPPING = 0.6  # one entry expected of a pull that stops early: often it stops sooner
TRANSPOSE_ENTRY = 5.0  # one entry of the other form of the matrix, where it must be made first
SMALL = 4096  # a matrix of fewer entries: what is at hand is what is quickest

Choice = tuple[str, str]


def choose(
    m: MatrixForms, u: VectorForms, semiring: TypedSemiring, mask: VectorMask | None
) -> Choice:
    """The direction of w(o) = ⊕ over k of m(o, k) ⊗ u(k), and the reason."""
    forced = forced_direction()
    if forced != "auto":
        return forced, "forced"
    if m.nvals < SMALL:
        if m.has_csr and u.has_dense:
            return "pull", "small: rows and a dense vector at hand"
        if m.has_csc and u.has_sparse:
            return "push", "small: columns and a sparse vector at hand"
    push, pull = config.push_cost * _pushed(m, u), _pulled(m, u, semiring, mask)
    if push <= pull:
        if m.has_csc:
            return "push", f"push {push:,.0f} <= pull {pull:,.0f}"
        return _unless_paid("push", "pull", push, pull, m)
    if m.has_csr:
        return "pull", f"pull {pull:,.0f} < push {push:,.0f}"
    return _unless_paid("pull", "push", push, pull, m)


def _unless_paid(wanted: str, at_hand: str, push: float, pull: float, m: MatrixForms) -> Choice:
    """The wanted direction, once what it would have saved has paid for the form that it needs."""
    lines = m.ncols if wanted == "push" else m.nrows
    price, paid = TRANSPOSE_ENTRY * max(m.nvals, lines), m.owe(abs(push - pull))
    costs = f"push {push:,.0f}, pull {pull:,.0f}"
    if paid >= price:
        return wanted, f"{costs}: worth the other form by now"
    return at_hand, f"{costs}: the other form costs {price:,.0f}, of which {paid:,.0f} is paid"


def _pushed(m: MatrixForms, u: VectorForms) -> float:
    """How many entries push would scatter; their mean number where counting is no cheap matter."""
    nvals = u.nvals
    if nvals == u.size:
        return m.nvals
    if m.has_csc and u.has_sparse:
        return _entries(m.csc.indptr, u.sparse(sorted=False).indices)
    return m.nvals * (nvals / u.size)


def _pulled(
    m: MatrixForms, u: VectorForms, semiring: TypedSemiring, mask: VectorMask | None
) -> float:
    """What pull would cost: the entries it expects to gather, and the rows it visits."""
    nrows, nvals = m.nrows, m.nvals
    visited = left = nrows
    if mask is not None:
        listed = _listed(mask)
        left = nrows - listed if mask.complement else listed
        visited = nrows if mask.complement or mask.indices is None else listed
    entries = left * nvals / max(nrows, 1)
    if _stops_early(semiring):
        entries = STOPPING * min(entries, left * u.size / max(u.nvals, 1))
    elif mask is not None and not mask.complement and mask.indices is not None and m.has_csr:
        entries = _entries(m.csr.indptr, mask.indices)
    return PULL_ROW * visited + entries


def _stops_early(semiring: TypedSemiring) -> bool:
    monoid = semiring.monoid
    return monoid.is_any or (monoid.type.kind == "b" and monoid.terminal is not None)


def _listed(mask: VectorMask) -> int:
    """How many indices the mask says; about half, where nobody has counted."""
    if mask.nvals is not None:
        return int(mask.nvals)
    return mask.size // 2 if mask.indices is None else mask.indices.size


def _entries(indptr: Any, rows: Any) -> int:
    """How many entries the given rows hold."""
    if rows.size <= 8:
        return sum(int(indptr[i + 1]) - int(indptr[i]) for i in rows.tolist())
    return int((indptr[rows + 1] - indptr[rows]).sum())
