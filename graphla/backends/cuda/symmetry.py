"""Compare a matrix with its transpose using a 128-bit fingerprint. Kernel: symmetry.cu.

The host waits once for the fingerprint. If the values are not symmetric, it waits again, for the
fingerprint of the pattern alone.
"""

from __future__ import annotations

from secrets import randbits
from typing import Any

import numpy as np

from graphla.backends.cuda.launch import (
    BLOCK,
    EACH,
    NULL,
    UNREAD,
    counters,
    size,
    tiles,
    to_numbers,
)
from graphla.backends.requests import Symmetry
from graphla.compilers.cuda import NOTHING, load
from graphla.formats import Csr, is_iso, nan_bits

_key = tuple(np.uint64(randbits(64)) for _ in range(3))
"""The random key of this process. The key is secret, so that nobody can construct a matrix for
which the result is wrong."""


def find_symmetry(a: Csr) -> Symmetry:
    """Return whether a square matrix has the same pattern as its transpose, and whether it also has
    the same values."""
    if not a.nvals:
        return Symmetry(True, True)
    has_values = not is_iso(a.values)
    is_same, is_missing = _compare(a, has_values)
    if is_same or is_missing or not has_values:
        return Symmetry(is_same, is_same)
    return Symmetry(_compare(a, False)[0], False)


def _compare(a: Csr, reads: bool) -> tuple[bool, bool]:
    """Return whether the matrix equals its transpose, and whether a missing counterpart was found.

    The counterpart of an entry (i, j) is the entry (j, i). If a counterpart is missing, the first
    result is False. The kernel looks up the counterparts of a few entries only; the second result
    is True if one of these counterparts is missing.
    """
    bits: Any = a.values.view(f"u{a.values.itemsize}") if reads else NULL
    dtype, kept = (bits.dtype, EACH) if reads else (np.dtype(np.uint8), UNREAD)
    kernel = load("symmetry.cu", "compare_transposed", NOTHING, a.indptr.dtype, dtype, kept)
    numbers = size(a.nrows), size(a.nvals), *map(np.uint64, nan_bits(a.values.dtype))
    sums = counters(4)
    kernel(tiles(a.nvals), BLOCK, a.indptr, a.indices, bits, *numbers, *_key, sums)
    found = to_numbers(sums)
    return not any(found), bool(found[2])
