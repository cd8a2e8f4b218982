"""Look up indices in a mask."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.formats import Array, VectorMask

LOOKUPS = 8
"""If a mask of size n is a list and at least n / LOOKUPS indices are looked up in it, the list is
first expanded to an array with one flag per index."""


def presence(mask: VectorMask) -> Array:
    """Return the mask as one flag per index, without applying the complement."""
    if mask.present is not None:
        return mask.present
    present = np.zeros(mask.size, bool)
    present[mask.indices] = True
    return present


def flag_allowed(mask: VectorMask) -> Array:
    """Return, for each index, whether the mask allows it, after applying any complement."""
    there = presence(mask)
    return ~there if mask.complement else there


def look_up_indices(mask: VectorMask, indices: Array) -> Array:
    """Return, for each of `indices`, whether the mask allows it."""
    listed = mask.indices
    if mask.present is None and mask.is_sorted and indices.size * LOOKUPS < mask.size:
        inside = is_among(listed, indices)
    else:
        inside = presence(mask)[indices]
    return ~inside if mask.complement else inside


def is_among(listed: Any, keys: Array) -> Array:
    """Return for each key whether the sorted array `listed` contains the key."""
    if not listed.size:
        return np.zeros(keys.size, bool)
    return listed[listed.searchsorted(keys).clip(max=listed.size - 1)] == keys
