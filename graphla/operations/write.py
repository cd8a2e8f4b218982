"""The write rule, for every operation: C⟨mask, replace⟩ = accum(C, T).

Z = T, or the union of C and T under accum. C becomes Z where the mask allows it; elsewhere it keeps
its entries, unless `replace` deletes them. Each value of T is cast to the dtype of C.

An owner is an object with an attribute `_store`, which the write replaces.
`graphla.stores.take_in_place` decides whether a vector is overwritten in place.
"""

from __future__ import annotations

from typing import Any

from graphla.backends import backend
from graphla.formats import MatrixMask, VectorMask
from graphla.operations.entrywise import cast
from graphla.operations.values import as_type
from graphla.stores import MatrixStore, ScalarStore, VectorStore, take_in_place
from semirings.operators import TypedBinaryOp


def write_vector(
    owner: Any,
    t: VectorStore,
    mask: VectorMask | None,
    accum: TypedBinaryOp | None,
    replace: bool,
    honors_mask: bool,
) -> None:
    """Compute w⟨mask, replace⟩ = accum(w, t), where w is the vector in `owner`.

    If `honors_mask` is True, t has entries only at indices that the mask allows.
    """
    is_whole = accum is None and (mask is None or (honors_mask and replace))
    if is_whole or _is_overwritten(owner._store, mask, accum, replace, honors_mask):
        dtype = owner._store.dtype
        owner._store = t if t.dtype is dtype else cast(t, dtype)
        return
    # No local variable may refer to the store of the owner (the vector that is written); otherwise
    # `take_in_place` would assume that the store is shared, and would not overwrite it.
    if not owner._store.has_dense:
        entries = t.nvals if t.has_sparse else t.known_nvals
        owner._store.base_for_write(t.size if entries is None else entries)
    source = t.sparse(sorted=False) if t.has_sparse and not t.has_dense else t.any_form
    if not owner._store.has_dense and t.has_sparse:
        source = t.sparse()
    del t
    dtype = owner._store.dtype.np_type
    do = backend(owner._store.device)
    taken = take_in_place(owner)
    if taken is not None:
        written = do.write_vector(taken, source, mask, accum, replace, dtype, in_place=True)
    else:
        written = do.write_vector(owner._store.any_form, source, mask, accum, replace, dtype)
    owner._store = owner._store.successor(written)


def write_matrix(
    owner: Any,
    t: MatrixStore,
    mask: MatrixMask | None,
    accum: TypedBinaryOp | None,
    replace: bool,
    honors_mask: bool,
) -> None:
    """C⟨mask, replace⟩ = accum(C, T)."""
    c: MatrixStore = owner._store
    if _is_overwritten(c, mask, accum, replace, honors_mask):
        owner._store = cast(t, c.dtype)
        return
    written = backend(c.device).write_matrix(c.csr, t.csr, mask, accum, replace, c.dtype.np_type)
    owner._store = MatrixStore(c.device, c.dtype, written)


def write_scalar(
    owner: Any,
    t: ScalarStore,
    mask: None,
    accum: TypedBinaryOp | None,
    replace: bool,
    honors_mask: bool,
) -> None:
    """s = accum(s, t)."""
    s: ScalarStore = owner._store
    value = t.value
    if accum is not None and s.value is not None:
        value = (
            s.value
            if value is None
            else accum.numpy(as_type(s.value, accum.type), as_type(value, accum.type2))
        )
    if value is not None:
        value = as_type(value, s.dtype)
    owner._store = ScalarStore(s.device, s.dtype, value)


def _is_overwritten(c: Any, mask: Any, accum: Any, replace: bool, honors_mask: bool) -> bool:
    """Return whether the write rule makes the result equal to T, so that no entry of C remains."""
    if mask is None:
        return accum is None or c.known_nvals == 0
    return honors_mask and ((replace and accum is None) or c.known_nvals == 0)


write = (write_scalar, write_vector, write_matrix)
