"""The shape of what forms hold."""

from __future__ import annotations

from typing import Any

from graphla.stores import MatrixForms, VectorForms


def shape_of(forms: Any) -> tuple[int, ...]:
    """The size of each dimension."""
    if isinstance(forms, VectorForms):
        return (forms.size,)
    return (forms.nrows, forms.ncols) if isinstance(forms, MatrixForms) else ()
