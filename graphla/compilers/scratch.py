"""Keep scratch arrays for compiled loops. Each thread keeps its arrays for its next call.

A caller takes an array, and gives it back after the loop has cleared it. After an error the array
is dropped, so that no later call sees leftover values.
"""

from __future__ import annotations

from threading import local
from typing import Any

import numpy as np

MOST = 1 << 26
"""Arrays with more bytes than this are not kept for the next call.

It is cheap to allocate a large array of zeros, because only the pages that are touched cost time.
"""


class _Kept(local):
    def __init__(self) -> None:
        self.arrays: dict[tuple[str, Any], np.ndarray] = {}
        self.bits: dict[Any, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}


_kept = _Kept()


def take(name: str, size: int, dtype: Any) -> np.ndarray:
    """Return the array that was last given back under this name and dtype, or a new array of zeros.

    The array has at least `size` elements. They are all zero if the callers that use this name
    clear the array before they give it back.
    """
    array = _kept.arrays.pop((name, dtype), None)
    if array is None or array.size < size:
        array = np.zeros(size, dtype)
    return array


def take_bits(size: int, dtype: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a two-level bit map of `size` bits (see `loops/marks`) and an array with a value for
    each bit."""
    words = (size + 63) >> 6
    kept = _kept.bits.pop(dtype, None)
    if kept is None or kept[2].size < size:
        summary = np.zeros((words + 63) >> 6, np.uint64)
        kept = np.zeros(words, np.uint64), summary, np.zeros(size, dtype)
    return kept


def give_bits(kept: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    """Keep a cleared bit map and its values for the next `take_bits`."""
    if kept[2].nbytes <= MOST:
        _kept.bits[kept[2].dtype] = kept


def give(name: str, array: np.ndarray) -> None:
    """Keep a cleared array for the next `take`."""
    if array.nbytes <= MOST:
        _kept.arrays[name, array.dtype] = array
