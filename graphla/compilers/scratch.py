"""Arrays that loops use and leave as they found them, kept by each thread for its next call.

Taken while in use and given back when clean: after an error they are simply forgotten, so that no
later call can meet marks left behind.
"""

from __future__ import annotations

from threading import local
from typing import Any

import numpy as np

MOST = 1 << 26
"""An array of more bytes is not kept: fresh zeros are mapped lazily, and cost what is touched."""


class _Kept(local):
    def __init__(self) -> None:
        self.arrays: dict[tuple[str, Any], np.ndarray] = {}
        self.bits: dict[Any, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}


_kept = _Kept()


def take(name: str, size: int, dtype: Any) -> np.ndarray:
    """At least `size` elements, all zero or (a name that says so) of any value."""
    array = _kept.arrays.pop((name, dtype), None)
    if array is None or array.size < size:
        array = np.zeros(size, dtype)
    return array


def take_bits(size: int, dtype: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a two-level bit map of `size` bits (see `loops/marks`), and a value for each bit."""
    words = (size + 63) >> 6
    kept = _kept.bits.pop(dtype, None)
    if kept is None or kept[2].size < size:
        summary = np.zeros((words + 63) >> 6, np.uint64)
        kept = np.zeros(words, np.uint64), summary, np.zeros(size, dtype)
    return kept


def give_bits(kept: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    """Keep a bit map, now empty, and its values for the next `take_bits`."""
    if kept[2].nbytes <= MOST:
        _kept.bits[kept[2].dtype] = kept


def give(name: str, array: np.ndarray) -> None:
    """Back for the next `take`, clean."""
    if array.nbytes <= MOST:
        _kept.arrays[name, array.dtype] = array
