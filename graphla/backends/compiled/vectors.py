"""What is done to dense vectors, index by index: the host side of `loops/write`."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends.compiled.parts import (
    allowed_by,
    even_parts,
    spread,
    values_of,
)
from graphla.kernels import specialise
from graphla.kernels.compiled import load
from graphla.storage import BitmapVector, DenseVector, FullVector, SparseVector, VectorMask
from semirings.dtypes import lookup_dtype
from semirings.operators import TypedBinaryOp

EVERYWHERE = np.ones(1, np.bool_)
EVERYWHERE.flags.writeable = False


def write(
    c: BitmapVector,
    t: DenseVector,
    mask: VectorMask | None,
    accum: TypedBinaryOp | None,
    replace: bool,
    dtype: Any,
    in_place: bool,
    threads: int,
) -> BitmapVector:
    """w⟨mask, replace⟩ = accum(w, t), of numpy dtype `dtype`; in w's own arrays if `in_place`."""
    size = c.size
    present = c.present if in_place else c.present.copy()
    values = c.values if in_place and c.values.dtype == dtype else c.values.astype(dtype)
    t_present, there = (EVERYWHERE, 0) if isinstance(t, FullVector) else (t.present, 1)
    t_values, step = values_of(t.values)
    allowed, mask_step, forbidden = allowed_by(mask)
    arrays = (t_present, t_values, allowed, present, values)
    loop = load("write.write", (specialise.accumulating, accum, lookup_dtype(dtype)), arrays)
    steps = (there, step, mask_step, forbidden, int(replace))
    counts = spread(loop, arrays, steps, even_parts(size, size, threads), threads)
    return BitmapVector(size, present, values, sum(counts))


def to_sparse(v: BitmapVector) -> SparseVector:
    """The entries alone, in order."""
    indices, values = np.empty(v.nvals, np.int32), np.empty(v.nvals, v.values.dtype)
    taken, step = values_of(v.values)
    arrays = (v.present, taken, indices, values)
    load("write.to_list", (specialise.nothing,), arrays)(*arrays, step)
    return SparseVector(v.size, indices, values)
