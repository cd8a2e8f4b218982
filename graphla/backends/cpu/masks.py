"""Which indices and entries a mask lets through."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends.cpu.layout import keys_of
from graphla.formats import Array, Csr, MatrixMask, VectorMask

LOOKUPS = 8
"""A mask's list is spread out to all indices where at least size / LOOKUPS are asked about."""


def presence(mask: VectorMask) -> Array:
    """The mask as one flag for each index, before its complement is taken."""
    if mask.present is not None:
        return mask.present
    present = np.zeros(mask.size, bool)
    present[mask.indices] = True
    return present


def allowed_vertices(mask: VectorMask) -> Array:
    """Return one flag for each index: whether the mask lets it through."""
    there = presence(mask)
    return ~there if mask.complement else there


def allowed(mask: VectorMask, indices: Array) -> Array:
    """Whether the mask lets each index through."""
    listed = mask.indices
    if mask.present is None and mask.is_sorted and indices.size * LOOKUPS < mask.size:
        inside = _is_among(listed, indices)
    else:
        inside = presence(mask)[indices]
    return ~inside if mask.complement else inside


def allowed_entries(mask: MatrixMask, a: Csr) -> Array:
    """Whether the mask lets each entry of a through."""
    pattern = mask.pattern
    if pattern.indices is a.indices and pattern.indptr is a.indptr:
        return np.full(a.nvals, not mask.complement)
    if not a.nvals or not pattern.nvals:
        return np.full(a.nvals, mask.complement)
    inside = _is_among(keys_of(pattern), keys_of(a))
    return ~inside if mask.complement else inside


def _is_among(listed: Any, keys: Array) -> Array:
    """Whether each key is in the increasing list."""
    if not listed.size:
        return np.zeros(keys.size, bool)
    return listed[listed.searchsorted(keys).clip(max=listed.size - 1)] == keys
