"""Push or pull: which way a matrix-vector product is cheaper, and why.

Push scatters along the entries of u: it touches as many matrix entries as the degrees of u's
entries add up to. Pull gathers the outputs that the mask leaves; for a monoid that may stop early
it expects to look at neighbours only until it meets one that u holds: as many as there are entries
for each that u reaches. What an entry, a row and a start cost either way, each backend says
(`Backend.costs`). The rule costs O(entries of u or of the mask), never O(n), so that a thousand
small levels stay cheap; on a device where reading a number means waiting for it, it asks for one
only where what it knows without leaves the matter open.

A direction that needs the form of the matrix which is not there yet must pay for making it. Like
one who rents skis until the rent paid reaches the price, we take the other direction, and keep
account of what that costs more, until the account would have bought the form.
"""

from __future__ import annotations

from functools import lru_cache

from graphla.backends import Backend, Costs, backend
from graphla.formats import VectorMask
from graphla.settings import config, forced_direction
from graphla.stores import MatrixForms, VectorForms
from semirings.structures import TypedSemiring

Choice = tuple[str, str]

SURE = 1.25
"""What is known without asking the device settles a choice that loses no more than this."""


def choose(
    m: MatrixForms, u: VectorForms, semiring: TypedSemiring, mask: VectorMask | None
) -> Choice:
    """The direction of w(o) = ⊕ over k of m(o, k) ⊗ u(k), and the reason."""
    forced = forced_direction()
    if forced != "auto":
        return forced, "forced"
    if config.deterministic and semiring.monoid.type.is_float:
        return _fixed(m, u)
    do = backend(m.device)
    costs = _costs(do)
    if m.nvals < costs.small:
        if m.has_csr and u.has_dense:
            return "pull", "small: rows and a dense vector at hand"
        if m.has_csc and u.has_sparse:
            return "push", "small: columns and a sparse vector at hand"
    first = semiring.monoid.is_any
    each = costs.push_first if first else costs.push_entry
    if costs.push_start and m.has_csr and u.known_nvals == u.size:
        whole = costs.pull_start + costs.pull_row * m.nrows + m.nvals
        if whole <= costs.push_start + each * m.nvals:
            return "pull", f"a full vector: pull {whole:,.0f} at most"
    if costs.push_start and m.has_csc and m.has_csr and u.has_sparse:
        stops = _stops_early(semiring)
        most = costs.push_start + each * min(m.nvals, u.nvals * do.longest(m.csc))
        least = costs.pull_start + costs.pull_row * _visited(m, mask)
        whole = least + m.nvals * (costs.stopping if stops else 1.0)
        if mask is None and not stops:
            least = whole
        if most <= SURE * least:
            return "push", f"push {most:,.0f} at most, pull {least:,.0f} at least"
        if whole <= SURE * costs.push_start:
            return "pull", f"pull {whole:,.0f} at most, push {costs.push_start:,.0f} at least"
    reached = _pushed(do, m, u)
    push = costs.push_start + each * reached
    pull = costs.pull_start + _pulled(do, m, reached, semiring, mask)
    if push <= pull:
        if m.has_csc:
            return "push", f"push {push:,.0f} <= pull {pull:,.0f}"
        return _unless_paid("push", "pull", push, pull, m, costs)
    if m.has_csr:
        return "pull", f"pull {pull:,.0f} < push {push:,.0f}"
    return _unless_paid("pull", "push", push, pull, m, costs)


def _costs(do: Backend) -> Costs:
    """As the backend says; `config.push_cost`, where it is set, decides by entries alone."""
    cost = config.push_cost
    return do.costs if cost is None else _by_entries(do.costs, cost)


@lru_cache(maxsize=64)
def _by_entries(costs: Costs, cost: float) -> Costs:
    return costs._replace(
        push_entry=cost,
        push_first=cost,
        push_ordered=cost,
        push_start=0.0,
        pull_start=0.0,
        small=min(costs.small, 4096),
    )


def _fixed(m: MatrixForms, u: VectorForms) -> Choice:
    """A choice by the sizes of the operands, whatever forms they have: sums of floats show it."""
    push = _costs(backend(m.device)).push_ordered * u.nvals
    if push <= u.size:
        return "push", f"deterministic: push {push:,.0f} <= {u.size:,}"
    return "pull", f"deterministic: push {push:,.0f} > {u.size:,}"


def _unless_paid(
    wanted: str, at_hand: str, push: float, pull: float, m: MatrixForms, costs: Costs
) -> Choice:
    """The wanted direction, once what it would have saved has paid for the form that it needs."""
    lines = m.ncols if wanted == "push" else m.nrows
    price = costs.transpose_start + costs.transpose_entry * max(m.nvals, lines)
    paid = m.owe(abs(push - pull))
    both = f"push {push:,.0f}, pull {pull:,.0f}"
    if paid >= price:
        return wanted, f"{both}: worth the other form by now"
    return at_hand, f"{both}: the other form costs {price:,.0f}, of which {paid:,.0f} is paid"


def _pushed(do: Backend, m: MatrixForms, u: VectorForms) -> float:
    """How many entries push would scatter; their mean number where counting is no cheap matter."""
    nvals = u.nvals
    if nvals == u.size:
        return m.nvals
    if m.has_csc and u.has_sparse:
        return do.reached(m.csc, u.sparse(sorted=False).indices)
    return m.nvals * (nvals / u.size)


def _pulled(
    do: Backend, m: MatrixForms, reached: float, semiring: TypedSemiring, mask: VectorMask | None
) -> float:
    """What pull would cost: the entries it expects to gather, and the rows it visits.

    Of all entries of m, `reached` meet one of u: a search that stops looks at as many on its way.
    """
    nrows, nvals, costs = m.nrows, m.nvals, _costs(do)
    left = nrows
    if mask is not None:
        listed = _listed(mask)
        left = nrows - listed if mask.complement else listed
    filled = do.filled(m.csr) if m.has_csr else nrows
    stops = _stops_early(semiring)
    if mask is not None and mask.complement:
        # A search never finds rows without entries: in the end they are all that is left.
        left = max(left - (nrows - filled), 0) if stops else left * filled / max(nrows, 1)
    left = min(left, filled)
    entries = left * nvals / max(filled, 1)
    if stops:
        entries = costs.stopping * min(entries, left * nvals / max(reached, 1))
    elif mask is not None and not mask.complement and mask.indices is not None and m.has_csr:
        entries = do.reached(m.csr, mask.indices)
    return costs.pull_row * _visited(m, mask) + entries


def _visited(m: MatrixForms, mask: VectorMask | None) -> int:
    """How many rows pull looks at, if only to see that the mask leaves them out."""
    if mask is None or mask.complement or mask.indices is None:
        return m.nrows
    return mask.indices.size


def _stops_early(semiring: TypedSemiring) -> bool:
    monoid = semiring.monoid
    return monoid.is_any or (monoid.type.kind == "b" and monoid.terminal is not None)


def _listed(mask: VectorMask) -> int:
    """How many indices the mask says; about half, where nobody has counted."""
    if mask.nvals is not None:
        return int(mask.nvals)
    return mask.size // 2 if mask.indices is None else mask.indices.size
