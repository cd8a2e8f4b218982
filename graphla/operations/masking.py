"""Apply a mask to a vector or matrix, or convert a mask to a vector or matrix."""

from __future__ import annotations

from typing import Any

from graphla.backends import backend
from graphla.formats import MatrixMask, VectorMask
from graphla.operations.assignment import Box, assign_matrix, assign_vector
from graphla.operations.operation import Operation
from graphla.stores import MatrixStore, ScalarStore, VectorStore
from semirings.dtypes import DataType


def masked_pattern(
    mask: VectorMask | MatrixMask | None, beside: VectorStore | MatrixStore, dtype: DataType
) -> Any:
    """Return a matrix or vector C that is true where the mask allows, and has no other entries.

    The matrix or vector `beside` determines the shape and the device of C.
    """
    device = beside.device
    true = ScalarStore(device, dtype, dtype.np_type.type(1))
    if isinstance(beside, VectorStore):
        owner = Box(VectorStore.empty(device, dtype, beside.size))
        assign_vector(owner, None, true, mask, None, False)  # pyright: ignore[reportArgumentType]
    else:
        owner = Box(MatrixStore.empty(device, dtype, beside.nrows, beside.ncols))
        assign_matrix(owner, None, None, true, mask, None, False)  # pyright: ignore
    return owner._store


def _restrict(forms: Any, mask: VectorMask | MatrixMask | None, parent: Any) -> Any:
    """Return the entries that the mask allows; `forms` is the store of a matrix or a vector.

    If the mask is None, return `forms`. The argument `parent` is the store whose arrays the mask
    uses. This function does not read `parent`; it is an argument so that the `DeviceScope` makes
    the current stream wait for these arrays.
    """
    if mask is None:
        return forms
    do, dtype = backend(forms.device), forms.dtype
    if isinstance(forms, VectorStore):
        v = forms.any_form
        return VectorStore(
            forms.device,
            dtype,
            do.write_vector(v, v, mask, None, True, dtype.np_type),  # pyright: ignore
        )
    a = forms.csr
    return MatrixStore(
        forms.device,
        dtype,
        do.write_matrix(a, a, mask, None, True, dtype.np_type),  # pyright: ignore
    )


restrict = Operation("select", _restrict)
