"""The places where a mask lets through, as a vector or matrix of trues."""

from __future__ import annotations

from typing import Any

from graphla.backends import backend
from graphla.formats import MatrixMask, VectorMask
from graphla.operations.assignment import Held, assign_matrix, assign_vector
from graphla.operations.operation import Operation
from graphla.stores import MatrixForms, ScalarForms, VectorForms
from semirings.dtypes import DataType


def masked_pattern(
    mask: VectorMask | MatrixMask | None, beside: VectorForms | MatrixForms, dtype: DataType
) -> Any:
    """C⟨mask⟩ = true, as large as `beside`."""
    device = beside.device
    true = ScalarForms(device, dtype, dtype.np_type.type(1))
    if isinstance(beside, VectorForms):
        owner = Held(VectorForms.empty(device, dtype, beside.size))
        assign_vector(owner, None, true, mask, None, False)  # pyright: ignore[reportArgumentType]
    else:
        owner = Held(MatrixForms.empty(device, dtype, beside.nrows, beside.ncols))
        assign_matrix(owner, None, None, true, mask, None, False)  # pyright: ignore
    return owner._forms


def _restrict(forms: Any, mask: VectorMask | MatrixMask | None, parent: Any) -> Any:
    """T⟨mask⟩: the entries of T where the mask lets through, which is a view of its parent."""
    if mask is None:
        return forms
    do, dtype = backend(forms.device), forms.dtype
    if isinstance(forms, VectorForms):
        v = forms.at_hand
        return VectorForms(
            forms.device,
            dtype,
            do.write_vector(v, v, mask, None, True, dtype.np_type),  # pyright: ignore
        )
    a = forms.csr
    return MatrixForms(
        forms.device,
        dtype,
        do.write_matrix(a, a, mask, None, True, dtype.np_type),  # pyright: ignore
    )


restrict = Operation("select", _restrict)
