"""Compare the entries of two operands of the same shape."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends import backend
from graphla.backends.values import are_all
from graphla.stores import MatrixStore, ScalarStore, VectorStore


def same_entries(a: Any, b: Any, tolerance: tuple[float, float] | None) -> bool:
    """Return whether both operands have the same pattern, and equal or close values.

    `tolerance` holds the relative and the absolute tolerance; None requires equal values.
    """
    if a is b and tolerance is None and a.dtype.kind != "f":
        return True
    if a.nvals != b.nvals:
        return False
    if isinstance(a, ScalarStore):
        return a.value is None or _same_values(np.asarray(a.value), b.value, tolerance)
    if isinstance(a, VectorStore):
        v, w = a.sparse(), b.sparse()
    else:
        assert isinstance(a, MatrixStore)
        by_rows = a.has_csr or b.has_csr
        v, w = (a.csr, b.csr) if by_rows else (a.csc, b.csc)
        if not _same_places(v.indptr, w.indptr):
            return False
    if not _same_places(v.indices, w.indices):
        return False
    x, y = (_exact(a.device, each) for each in (v, w))
    return _same_values(x, y, tolerance)


def _exact(device: str, a: Any) -> Any:
    """Return the values of `a`, cast to FP64 if they are FP32 values on a GPU.

    In FP32, CuPy treats subnormal numbers as zero.
    """
    is_flushed = device != "cpu" and a.values.dtype == np.float32
    return backend(device).cast(a, np.float64).values if is_flushed else a.values


def _same_places(x: Any, y: Any) -> bool:
    return x is y or (x.shape == y.shape and are_all(x == y))


def _same_values(x: Any, y: Any, tolerance: tuple[float, float] | None) -> bool:
    if tolerance is None:
        if {x.dtype.kind, y.dtype.kind} == {"i", "u"}:  # CuPy casts INT64 and UINT64 to FP64
            x, y = (x, y) if x.dtype.kind == "i" else (y, x)
            return are_all((x >= 0) & (x.astype(np.uint64) == y))
        return are_all(x == y)
    relative, absolute = tolerance
    with np.errstate(all="ignore"):
        x, y = x.astype(np.float64), y.astype(np.float64)
        allowed = np.maximum(relative * np.maximum(abs(x), abs(y)), absolute)
        return are_all((x == y) | (abs(x - y) <= allowed))
