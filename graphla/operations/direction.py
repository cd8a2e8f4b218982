"""Choose between push and pull for a matrix-vector product, and give the reason.

Push scatters the products of each entry of u. The number of matrix entries that it reads is the sum
of the degrees of the vertices with an entry in u. Pull gathers each output that the mask allows
from a row of the matrix. If a sum may stop early, a pull reads a row only up to the first entry
whose column has an entry in u. On average this happens after nvals / reached entries, where `nvals`
is the number of all matrix entries, and `reached` the number of those whose column has an entry in
u. The backend provides the costs per entry, per row and per launch (`Backend.costs`).

The choice takes time proportional to the number of entries of u or of the mask, not to n. So it is
cheap even in a search with a thousand levels of few vertices. Reading a number from a GPU makes the
host wait. So numbers are read from the GPU only if the numbers that the host already has do not
suffice for the choice.

A pull needs the matrix stored by rows, and a push needs it stored by columns. If the faster
direction needs a form of the matrix that does not exist yet, we use the other direction and add up
its extra costs. Once they reach the cost of building the missing form, we build this form (as in
the ski rental problem).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from graphla.backends import Backend, Costs, backend
from graphla.formats import VectorMask
from graphla.settings import current, forced_direction
from graphla.stores import MatrixStore, VectorStore
from semirings.structures import TypedSemiring

Choice = tuple[Any, ...]
"""A tuple of the direction, a format string that explains the choice, and the numbers to insert."""

SURE = 1.25
"""Some of the numbers that determine the costs of push and pull are only on the GPU. The host
chooses a direction without reading these numbers if, for all of their possible values, the
direction costs at most SURE times as much as the other direction.
"""


def choose(
    m: MatrixStore, u: VectorStore, semiring: TypedSemiring, mask: VectorMask | None
) -> Choice:
    """Choose the direction for the product w = m ⊕.⊗ u, and return it with the reason."""
    forced = forced_direction()
    if forced != "auto":
        return forced, "forced"
    settings, do, monoid = current(), backend(m.device), semiring.monoid
    costs = do.costs
    if settings.push_cost is not None:
        costs = _by_entries(costs, settings.push_cost)
    if settings.deterministic and monoid.type.is_float:
        return _fixed(costs, u)
    nvals = m.nvals
    has_csr, has_csc = m.held
    if nvals < costs.small:
        if has_csr and u.has_dense:
            return "pull", "small: rows and a dense vector at hand"
        if has_csc and u.has_sparse:
            return "push", "small: columns and a sparse vector at hand"
    each = costs.push_first if monoid.is_any else costs.push_entry
    stops = _stops_early(semiring)
    if costs.push_start and has_csr and u.known_nvals == u.size:
        whole = costs.pull_start + costs.pull_row * m.nrows + nvals
        if whole <= costs.push_start + each * nvals:
            return "pull", "a full vector: pull {:,.0f} at most", whole
    if costs.push_start and has_csc and has_csr and u.has_sparse:
        most = costs.push_start + each * min(nvals, u.nvals * do.longest_row(m.csc))
        least = costs.pull_start + costs.pull_row * _count_visited(m, mask)
        whole = least + nvals * (costs.stopping if stops else 1.0)
        if mask is None and not stops:
            least = whole
        if most <= SURE * least:
            return "push", "push {:,.0f} at most, pull {:,.0f} at least", most, least
        if whole <= SURE * costs.push_start:
            start = costs.push_start
            return "pull", "pull {:,.0f} at most, push {:,.0f} at least", whole, start
    entries, reached = u.nvals, nvals
    # `reached` is the number of entries of m whose column has an entry in u. If the columns of m
    # and the indices of u are available, it is counted; otherwise it is estimated by the mean
    # degree.
    if entries < u.size:
        counts = has_csc and u.has_sparse
        sparse = u.sparse(sorted=False).indices if counts else None
        reached = do.count_edges(m.csc, sparse) if counts else nvals * (entries / u.size)
    push = costs.push_start + each * reached
    pull = _price_of_pull(do, costs, m, has_csr, reached, stops, mask)
    if push <= pull:
        if has_csc:
            return "push", "push {:,.0f} <= pull {:,.0f}", push, pull
        return _unless_paid("push", "pull", push, pull, m, costs)
    if has_csr:
        return "pull", "pull {:,.0f} < push {:,.0f}", pull, push
    return _unless_paid("pull", "push", push, pull, m, costs)


@lru_cache(maxsize=64)
def _by_entries(costs: Costs, cost: float) -> Costs:
    """Return the costs to use if `config.push_cost` is set to `cost`.

    Each entry that a push reads costs `cost`, compared with 1 for an entry that a pull reads.
    Start-up costs are ignored.
    """
    return costs._replace(
        push_entry=cost,
        push_first=cost,
        push_ordered=cost,
        push_start=0.0,
        pull_start=0.0,
        small=min(costs.small, 4096),
    )


def _fixed(costs: Costs, u: VectorStore) -> Choice:
    """Choose the direction only from the size of u and the number of its entries.

    This function is used if `config.deterministic` is set. The direction affects how the result is
    rounded, so the choice must not depend on which forms of the matrix have been built.
    """
    push = costs.push_ordered * u.nvals
    if push <= u.size:
        return "push", "deterministic: push {:,.0f} <= {:,}", push, u.size
    return "pull", "deterministic: push {:,.0f} > {:,}", push, u.size


def _unless_paid(
    wanted: str, available: str, push: float, pull: float, m: MatrixStore, costs: Costs
) -> Choice:
    """Choose between two directions if the faster one needs a form of the matrix that is missing.

    `wanted` is the faster direction, and `available` is the other direction. `wanted` is chosen
    once the total extra cost of using `available` reaches the cost of building the missing form.
    """
    lines = m.ncols if wanted == "push" else m.nrows
    price = costs.transpose_start + costs.transpose_entry * max(m.nvals, lines)
    paid = m.add_loss(abs(push - pull))
    if paid >= price:
        return wanted, "push {:,.0f}, pull {:,.0f}: worth the other form by now", push, pull
    reason = "push {:,.0f}, pull {:,.0f}: the other form costs {:,.0f}, of which {:,.0f} is paid"
    return available, reason, push, pull, price, paid


def _price_of_pull(
    do: Backend,
    costs: Costs,
    m: MatrixStore,
    has_csr: bool,
    reached: float,
    stops: bool,
    mask: VectorMask | None,
) -> float:
    """Return the expected cost of a pull. It depends on how many entries the pull reads and how
    many rows it visits.

    `reached` is the number of entries of m whose column has an entry in u. If `stops` is true, a
    pull may stop reading a row early, and reads about nvals / reached entries of each row.
    """
    nrows, nvals = m.nrows, m.nvals
    left = visited = nrows
    filled = do.nonempty_rows(m.csr) if has_csr else nrows
    if mask is not None:
        listed = mask.nvals
        if listed is None:  # unknown; assume half of all rows
            listed = mask.size // 2 if mask.indices is None else mask.indices.size
        left = int(listed)
        if mask.complement:
            # In a search, a complemented mask forbids the vertices that are reached. A vertex with
            # an empty row is never reached, so such a mask allows all empty rows.
            left = nrows - left
            left = max(left - (nrows - filled), 0) if stops else left * filled / max(nrows, 1)
        elif mask.indices is not None:
            visited = mask.indices.size
    left = min(left, filled)
    entries = left * nvals / max(filled, 1)
    if stops:
        entries = costs.stopping * min(entries, left * nvals / max(reached, 1))
    elif mask is not None and not mask.complement and mask.indices is not None and has_csr:
        entries = do.count_edges(m.csr, mask.indices)
    return costs.pull_start + costs.pull_row * visited + entries


def _count_visited(m: MatrixStore, mask: VectorMask | None) -> int:
    """Return the number of rows that a pull visits, including rows that the mask excludes."""
    if mask is None or mask.complement or mask.indices is None:
        return m.nrows
    return mask.indices.size


@lru_cache(maxsize=4096)
def _stops_early(semiring: TypedSemiring) -> bool:
    monoid = semiring.monoid
    return monoid.is_any or (monoid.type.kind == "b" and monoid.terminal is not None)
