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


_kept = _Kept()


def take(name: str, size: int, dtype: Any) -> np.ndarray:
    """At least `size` elements, all zero or (a name that says so) of any value."""
    array = _kept.arrays.pop((name, dtype), None)
    if array is None or array.size < size:
        array = np.zeros(size, dtype)
    return array


def give(name: str, array: np.ndarray) -> None:
    """Back for the next `take`, clean."""
    if array.nbytes <= MOST:
        _kept.arrays[name, array.dtype] = array
