"""The terms mult(A(i, k), B(k, j)) of matrix products, in the form that the kernels read."""

from __future__ import annotations

from typing import Any, NamedTuple

import cupy as xp
import numpy as np

from graphla.backends.cuda.launch import Read, read, repeat_value
from graphla.compilers import cuda_ops
from graphla.compilers.cuda import load
from graphla.formats import Array, Csr, is_iso
from semirings.structures import TypedSemiring


class Terms(NamedTuple):
    """The values from which terms are computed.

    If all sums are known to be equal, `constant` is a one-element array with their common value;
    otherwise it is None.
    """

    spec: tuple[Any, ...]
    dtype: np.dtype[Any]
    x: Read
    y: Read
    constant: Array | None

    @property
    def has_values(self) -> bool:
        """Whether sums have to be computed."""
        return self.constant is None

    def room(self, count: int, *, is_filled: bool = True) -> Array:
        """Return an array to which a kernel writes `count` sums.

        If all sums are known to be equal, the kernel computes no sums, and the array has length 0.
        If `is_filled` is True, the kernel writes every element, so the array is not initialized.
        Otherwise all elements are zero.
        """
        make = xp.ndarray if is_filled else xp.zeros
        return make(count if self.has_values else 0, self.dtype)

    def values(self, sums: Array, count: int) -> Array:
        """Return `count` sums as an array. If all of them are known to be equal, their value is
        stored only once."""
        return sums if self.constant is None else repeat_value(self.constant, count)


def terms_of(a: Csr, b: Csr, semiring: TypedSemiring) -> Terms:
    """Return the `Terms` of the product of A and B; `b` may also be Bᵗ."""
    op, monoid = semiring.binaryop, semiring.monoid
    spec, dtype = (cuda_ops.matrix_matrix, semiring), monoid.type.np_type
    x, y = read(a.values, op.reads_x), read(b.values, op.reads_y)
    varies = (op.reads_x and not is_iso(a.values)) or (op.reads_y and not is_iso(b.values))
    if op.is_positional or varies or not (monoid.is_any or monoid.is_idempotent):
        return Terms(spec, dtype, x, y, None)
    constant = xp.empty(1, dtype)
    load("spgemm_plan.cu", "one_term", spec, *x[1:], *y[1:])(1, 1, x[0], y[0], constant)
    return Terms(spec, dtype, x, y, constant)
