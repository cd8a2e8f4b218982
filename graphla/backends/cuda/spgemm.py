"""Matrix-matrix products over any semiring, with and without a mask.

Under a mask the entries of C are computed one by one at its places (`spgemm_masked.py`). Without
one, or under its complement, C is computed row by row (`spgemm_unmasked.py`).

Waits: see those two.
"""

from __future__ import annotations

import cupy as xp

from graphla.backends.cuda import spgemm_masked, spgemm_unmasked
from graphla.formats import Csr, MatrixMask
from semirings.structures import TypedSemiring


def mxm(
    a: Csr, b: Csr | None, semiring: TypedSemiring, mask: MatrixMask | None, bt: Csr | None
) -> Csr | None:
    """C⟨mask⟩ = A ⊕.⊗ B; None where B is there by columns alone, and by rows would serve better."""
    ncols = bt.nrows if b is None else b.ncols  # pyright: ignore[reportOptionalMemberAccess]
    dtype = semiring.monoid.type.np_type
    is_empty = not a.nvals or not (b or bt).nvals  # pyright: ignore[reportOptionalMemberAccess]
    if is_empty or (mask is not None and not mask.complement and not mask.pattern.nvals):
        indptr = xp.zeros(a.nrows + 1, xp.int32)
        return Csr(a.nrows, ncols, indptr, xp.empty(0, xp.int32), xp.empty(0, dtype))
    if mask is not None and not mask.complement:
        return spgemm_masked.product(a, b, semiring, mask.pattern, bt)
    if b is None:
        return None
    outside = mask.pattern if mask is not None and mask.pattern.nvals else None
    return spgemm_unmasked.product(a, b, semiring, outside)
