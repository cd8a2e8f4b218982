"""Pairs of vertices: read them from an argument, and sum over their common neighbors."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.algorithms._shared import common_neighbors, validation
from graphla.operations.operation import refuse_mixed
from graphla.operations.values import exact_array
from graphla.sparse import Matrix
from semirings import binary
from semirings.exceptions import DimensionMismatch
from semirings.semiring import plus_first, plus_pair


def read(ebunch: Any, A: Matrix) -> Matrix:
    """Return a Matrix that is true at each pair (u, v) of `ebunch`."""
    n = A.nrows
    if isinstance(ebunch, Matrix):
        if ebunch.shape != A.shape:
            raise DimensionMismatch(f"ebunch has shape {ebunch.shape}, but A has {A.shape}")
        if ebunch.device != A.device:
            refuse_mixed(A.device, ebunch.device, "A and ebunch")
        return common_neighbors.pattern(ebunch)
    if not np.iterable(ebunch):
        raise TypeError(f"ebunch must be a list of pairs of vertices, not {ebunch!r}")
    try:
        pairs = exact_array(ebunch if isinstance(ebunch, np.ndarray) else list(ebunch))
    except (TypeError, ValueError):  # `ebunch` cannot be converted to an array
        pairs = np.asarray(None)
    if pairs.size == 0:
        return Matrix(bool, n, n)
    if pairs.ndim != 2 or pairs.shape[1] != 2:
        raise TypeError(f"ebunch must be a list of pairs of vertices, not {ebunch!r}")
    u, v = validation.vertices("ebunch", pairs.ravel(), n).reshape(-1, 2).T
    return Matrix.from_coo(u, v, True, nrows=n, ncols=n, dup_op=binary.any)


def count_common(N: Matrix, pairs: Matrix) -> Matrix:
    """Return the number of common neighbors of each pair in `pairs`; pairs without any have 0.

    As a formula: C⟨pairs⟩ = N plus.pair Nᵀ.
    """
    F = common_neighbors.orient_pairs(pairs, common_neighbors.degrees(N))
    return _at_pairs(plus_pair["INT64"](N @ N.T).new(mask=F.S), pairs)


def sum_common(W: Matrix, N: Matrix, pairs: Matrix) -> Matrix:
    """Return the sum of W(u, w) over the common neighbors w of each pair u, v in `pairs`.

    A pair without common neighbors has the sum 0. N is the symmetric pattern of the graph. W has
    the same pattern, and all entries of a column of W are equal. As a formula: C⟨pairs⟩ = W
    plus.first Nᵀ.
    """
    F = common_neighbors.orient_pairs(pairs, common_neighbors.degrees(N))
    return _at_pairs(plus_first["FP64"](W @ N.T).new(mask=F.S), pairs)


def _at_pairs(found: Matrix, pairs: Matrix) -> Matrix:
    """Return, for each pair (u, v), found(u, v) or found(v, u), or 0 if both are absent."""
    C = common_neighbors.pattern(pairs, found.dtype.np_type.type(0))
    # C⟨pairs⟩ += found(u, v), or found(v, u)
    C(pairs.S, binary.plus) << binary.first(found | found.T)
    return C


def concatenate(blocks: list[Matrix]) -> Matrix:
    """Stack matrices vertically. They must have equal numbers of columns."""
    if len(blocks) == 1:
        return blocks[0]
    counts, columns, values = zip(
        *(
            (common_neighbors.degrees(each), *each.to_coo(rows=False, copy=False)[1:])
            for each in blocks
        ),
        strict=True,
    )
    indptr = np.concatenate(counts).cumsum()
    shape: dict[str, Any] = {"ncols": blocks[0].ncols, "copy": False}
    return Matrix.from_csr(
        np.concatenate((indptr[:1] * 0, indptr)),
        np.concatenate(columns),
        np.concatenate(values),
        **shape,
    )
