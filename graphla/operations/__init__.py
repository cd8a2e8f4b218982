"""The GraphBLAS operations: compute a result T from stored operands, and write it to the output."""

from graphla.operations.broadcast import broadcast_add, broadcast_mult, broadcast_union
from graphla.operations.comparing import same_entries
from graphla.operations.entrywise import (
    apply,
    apply_index,
    apply_left,
    apply_right,
    ewise_add,
    ewise_mult,
    ewise_union,
    select,
)
from graphla.operations.indexing import (
    diag,
    extract_column,
    extract_matrix,
    extract_row,
    extract_vector,
    from_diag,
    matrix_element,
    outer,
    reposition_matrix,
    reposition_vector,
    transpose,
    vector_element,
)
from graphla.operations.masking import restrict
from graphla.operations.products import inner, kronecker, mxm, mxv, power, vxm
from graphla.operations.reductions import reduce_columnwise, reduce_rowwise, reduce_scalar

__all__ = [
    "apply",
    "apply_index",
    "apply_left",
    "apply_right",
    "broadcast_add",
    "broadcast_mult",
    "broadcast_union",
    "diag",
    "ewise_add",
    "ewise_mult",
    "ewise_union",
    "extract_column",
    "extract_matrix",
    "extract_row",
    "extract_vector",
    "from_diag",
    "inner",
    "kronecker",
    "matrix_element",
    "mxm",
    "mxv",
    "outer",
    "power",
    "reduce_columnwise",
    "reduce_rowwise",
    "reduce_scalar",
    "reposition_matrix",
    "reposition_vector",
    "restrict",
    "same_entries",
    "select",
    "transpose",
    "vector_element",
    "vxm",
]
