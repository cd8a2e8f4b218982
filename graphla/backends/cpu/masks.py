"""Find the indices and entries that a mask allows."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends.cpu.layout import keys_of
from graphla.formats import Array, Csr, MatrixMask, VectorMask

LOOKUPS = 8
"""From size / LOOKUPS queries on, a list is expanded to a flag per index before the lookups."""


def presence(mask: VectorMask) -> Array:
    """Return a presence flag for each index of the mask, without its complement."""
    if mask.present is not None:
        return mask.present
    present = np.zeros(mask.size, bool)
    present[mask.indices] = True
    return present


def allowed_vertices(mask: VectorMask) -> Array:
    """Return one flag for each index: whether the mask allows it."""
    there = presence(mask)
    return ~there if mask.complement else there


def allowed(mask: VectorMask, indices: Array) -> Array:
    """Return whether the mask allows each of the given indices."""
    listed = mask.indices
    if mask.present is None and mask.is_sorted and indices.size * LOOKUPS < mask.size:
        inside = _is_among(listed, indices)
    else:
        inside = presence(mask)[indices]
    return ~inside if mask.complement else inside


def allowed_entries(mask: MatrixMask, a: Csr) -> Array:
    """Return whether the mask allows each entry of a."""
    pattern = mask.pattern
    if pattern.indices is a.indices and pattern.indptr is a.indptr:
        return np.full(a.nvals, not mask.complement)
    if not a.nvals or not pattern.nvals:
        return np.full(a.nvals, mask.complement)
    inside = _is_among(keys_of(pattern), keys_of(a))
    return ~inside if mask.complement else inside


def _is_among(listed: Any, keys: Array) -> Array:
    """Return whether each key is in the increasing list."""
    if not listed.size:
        return np.zeros(keys.size, bool)
    return listed[listed.searchsorted(keys).clip(max=listed.size - 1)] == keys
