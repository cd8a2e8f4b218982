"""Build storage from coordinates, compressed and dense arrays, dicts, edges and scalars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sized
from typing import Any

import numpy as np

from graphla.backends import backend, default_device
from graphla.backends.values import are_all, as_contiguous, is_any
from graphla.expression import Operand
from graphla.formats import Csr, FullVector, SparseVector
from graphla.operations.moving import move_store
from graphla.operations.operation import DeviceScope
from graphla.operations.values import (
    array_of,
    dtype_of,
    exact_array,
    fit,
    has_integers,
    is_on_card,
    is_scalar,
)
from graphla.sparse.expressions import bound, dimension
from graphla.sparse.operators import binary_of
from graphla.sparse.placing import (
    could_hold,
    extremes,
    locate,
    own,
    put,
    put_indices,
    put_whole,
    shares,
)
from graphla.stores import MatrixStore, VectorStore
from semirings import binary
from semirings.dtypes import FP64, DataType, lookup_dtype
from semirings.exceptions import (
    DimensionMismatch,
    IndexOutOfBound,
    InvalidValue,
    OutputNotEmpty,
)


def vector_coo(indices: Any, values: Any, dtype: Any, size: int | None, dup_op: Any) -> VectorStore:
    """Return the storage of a vector v with v(indices[k]) = values[k]."""
    device, (indices, values) = locate(indices, values)
    with DeviceScope("build", (), device):
        places, size = _places(indices, size, "indices", "size")
        entries, wanted, dup = _entries(values, dtype, dup_op, {"indices": places})
        do = backend(device)
        v = do.build_vector(size, put_indices(device, places), put(device, entries), dup)
        if shares(values, v.values):
            v = SparseVector(size, v.indices, own(v.values))
        return VectorStore(device, wanted, v)


def matrix_coo(
    rows: Any,
    columns: Any,
    values: Any,
    dtype: Any,
    nrows: int | None,
    ncols: int | None,
    dup_op: Any,
    symmetric: bool,
) -> MatrixStore:
    """Return the storage of a matrix A with A(rows[k], columns[k]) = values[k]."""
    device, (rows, columns, values) = locate(rows, columns, values)
    with DeviceScope("build", (), device):
        i, nrows = _places(rows, nrows, "rows", "nrows")
        j, ncols = _places(columns, ncols, "columns", "ncols")
        entries, wanted, dup = _entries(values, dtype, dup_op, {"rows": i, "columns": j})
        if symmetric and nrows != ncols:
            raise DimensionMismatch(
                f"a symmetric matrix is square, but this one is {nrows} x {ncols}"
            )
        i, j = put_indices(device, i), put_indices(device, j)
        a = backend(device).build_matrix(nrows, ncols, i, j, put(device, entries), dup)
        if shares(values, a.values):
            a = Csr(nrows, ncols, a.indptr, a.indices, own(a.values))
        return MatrixStore(device, wanted, a, a if symmetric else None)


def vector_dense(values: Any, missing_value: Any, dtype: Any, copy: bool) -> VectorStore:
    """Return the storage of a vector whose entries are the values other than `missing_value`."""
    device, (values,) = locate(values, shared=not copy)
    with DeviceScope("build", (), device):
        array, wanted = _dense(values, dtype, 1)
        if missing_value is not None:
            there = _differs(array, missing_value)
            places = there.nonzero()[0].astype(np.int32)
            v = SparseVector(array.size, put(device, places), put(device, array[there]))
        else:
            if copy and could_hold(device, values) and shares(values, array):
                array = array.copy()
            v = FullVector(array.size, put(device, array))
        return VectorStore(device, wanted, v)


def matrix_dense(values: Any, missing_value: Any, dtype: Any) -> MatrixStore:
    """Return the storage of a matrix whose entries are the values other than `missing_value`."""
    device, (values,) = locate(values)
    with DeviceScope("build", (), device):
        array, wanted = _dense(values, dtype, 2)
        nrows, ncols = array.shape
        owner = device if is_on_card(array) else "cpu"
        if missing_value is None:
            there = np.ones_like(array, bool)
        else:
            there = _differs(array, missing_value)
        indptr = backend(owner).full(nrows + 1, 0, _offset_dtype(array.size))
        np.cumsum(there.sum(1), out=indptr[1:])
        indices = there.nonzero()[1].astype(np.int32)
        parts = (put(device, part) for part in (indptr, indices, array[there]))
        return MatrixStore(device, wanted, Csr(nrows, ncols, *parts))


def from_compressed(
    indptr: Any,
    indices: Any,
    values: Any,
    dtype: Any,
    shape: tuple[Any, Any],
    name: str,
    copy: bool,
) -> tuple[str, Csr, DataType]:
    """Build a matrix from compressed arrays. Return its device, its entries and its dtype.

    The entries are in CSR with sorted rows if `name` is "row". If `name` is "col", they are in CSC
    with sorted columns.
    """
    device, arrays = locate(indptr, indices, values, shared=not copy)
    with DeviceScope("build", (), device):
        return device, *_build_compressed(device, arrays, dtype, shape, name, copy)


def _build_compressed(
    device: str,
    arrays: list[Any],
    dtype: Any,
    shape: tuple[Any, Any],
    name: str,
    copy: bool,
) -> tuple[Csr, DataType]:
    indptr, indices, values = arrays
    nrows, ncols = shape
    offsets = _integers(indptr, "indptr")
    if offsets.ndim != 1 or not offsets.size:
        raise InvalidValue("indptr must hold at least one offset")
    nrows = offsets.size - 1 if nrows is None else dimension(nrows, f"n{name}s")
    if nrows != offsets.size - 1:
        raise DimensionMismatch(
            f"indptr has {offsets.size} offsets, but {nrows} {name}s need {nrows + 1}"
        )
    places, ncols = _places(indices, ncols, f"{name} indices", "the other dimension", 0)
    (falls,) = (offsets[1:] < offsets[:-1]).nonzero()
    if int(offsets[0]) != 0 or int(offsets[-1]) != places.size or falls.size:
        raise InvalidValue(
            f"indptr must rise from 0 to the number of entries, {places.size}; "
            + (f"it falls after {name} {falls[0]}" if falls.size else "it does not")
        )
    entries, wanted, _ = _entries(values, dtype, None, {"indices": places})
    in_order = _rises_in_rows(offsets, places)
    copies = copy and could_hold(device, indptr), copy and could_hold(device, indices)
    # The arrays must be contiguous, because compiled loops and kernels cannot read other arrays.
    offsets = as_contiguous(offsets.astype(_offset_dtype(places.size), copy=copies[0]))
    places = as_contiguous(places.astype(np.int32, copy=copies[1]))
    offsets, places = put_whole(device, offsets), put_whole(device, places)
    if copy and could_hold(device, values) and shares(values, entries):
        entries = own(entries)
    a = Csr(nrows, ncols, offsets, places, put(device, entries))
    if not in_order:
        do = backend(device)
        a = do.build_matrix(nrows, ncols, do.row_of_entry(a), a.indices, a.values, None)
    return a, wanted


def expand_lines(lines: Any, indptr: Any, name: str) -> tuple[np.ndarray, int]:
    """Return the row of each entry, and the number of rows, of a matrix that lists only some rows.

    The entries of row lines[k] are those from indptr[k] to indptr[k + 1] - 1. The number of rows is
    one more than the largest row in `lines`. The function also works for a matrix that lists only
    some columns; exchange rows and columns in this description.
    """
    lines, offsets = _integers(lines, name), _integers(indptr, "indptr")
    if offsets.size != lines.size + 1:
        raise DimensionMismatch(
            f"indptr has {offsets.size} offsets, but {name} lists {lines.size}, so it should "
            f"have {lines.size + 1}"
        )
    counts = np.diff(offsets.astype(np.int64))
    if int(offsets[0]) != 0 or is_any(counts < 0):
        k = int((counts < 0).argmax())
        fault = f"starts at {offsets[0]}" if int(offsets[0]) else f"falls after offset {k}"
        raise InvalidValue(f"indptr must rise from 0, but {fault}")
    return np.repeat(lines, counts), extremes(lines)[1] + 1


def shape_of_lists(lines: int, entries: int, outer: Any, inner: Any) -> tuple[Any, Any]:
    """Return the number of rows and the number of columns of a matrix that is given by its rows.

    `lines` is the smallest number of rows that the matrix can have, and `entries` is its number of
    entries. `outer` and `inner` are the numbers of rows and columns that the user gave, or None.

    The first result is `outer`, or `lines` if `outer` is None. The second result is `inner`. If
    `inner` is None, the second result is 0 for a matrix without entries, and otherwise None; the
    caller then takes the number of columns from the entries. For a matrix that is given by its
    columns, exchange rows and columns in this description.
    """
    return lines if outer is None else outer, 0 if inner is None and not entries else inner


def edges(edgelist: Any, values: Any) -> tuple[Any, Any, Any]:
    """Return rows, columns and values from a list or array of edges (i, j) or (i, j, value)."""
    if isinstance(edgelist, Mapping):
        raise TypeError(
            "edgelist must hold edges (i, j) or (i, j, value), not be a mapping; give its items as "
            "from_edgelist(list(d), list(d.values()))"
        )
    if isinstance(edgelist, np.ndarray):
        if edgelist.ndim != 2 or edgelist.shape[1] not in (2, 3):
            raise InvalidValue(
                f"edgelist must have 2 or 3 columns, but its shape is {edgelist.shape}"
            )
        parts = list(edgelist.T)
    else:
        edgelist = list(edgelist)
        width = _width(edgelist[0]) if edgelist else 2
        if width not in (2, 3):
            raise InvalidValue(f"item 0 is {edgelist[0]!r}, but it should have 2 or 3 parts")
        parts = columns_of(edgelist, width)
    if len(parts) == 3:
        if values is not None:
            raise TypeError("values are given twice: in the edgelist, and apart")
        values = parts.pop()
        if isinstance(edgelist, np.ndarray) and edgelist.dtype.kind == "f":
            parts = [_whole(part) for part in parts]
    return parts[0], parts[1], 1.0 if values is None else values


def columns_of(rows: Any, width: int) -> list[Any]:
    """Transpose a list of rows that must all have `width` elements."""
    rows = list(rows)
    for k, row in enumerate(rows):
        if _width(row) != width:
            raise InvalidValue(f"item {k} is {row!r}, but it should have {width} parts")
    return (
        [list(column) for column in zip(*rows, strict=True)] if rows else [[] for _ in range(width)]
    )


def _width(row: Any) -> int:
    return len(row) if isinstance(row, Sized) else 1


def from_nested(
    nested_dicts: Any, order: str, nrows: int | None, ncols: int | None
) -> tuple[Any, Any, Any, int | None, int | None]:
    """Return rows, columns, values and sizes from {row: {column: value}} or from a list of rows."""
    by_rows = is_rowwise(order)
    if not hasattr(nested_dicts, "items"):
        nested_dicts = dict(enumerate(nested_dicts))
    i, j, values = [], [], []
    for outer, line in nested_dicts.items():
        for inner, value in line.items():
            i.append(outer)
            j.append(inner)
            values.append(value)
    lines = max(extremes(_integers(nested_dicts, "nested_dicts"))[1] + 1, 0)
    inner_lines = None if i else 0
    if not by_rows:
        i, j, lines, inner_lines = j, i, inner_lines, lines
    return i, j, values, lines if nrows is None else nrows, inner_lines if ncols is None else ncols


def is_rowwise(order: str) -> bool:
    """Return True if `order` is "rowwise", and False if it is "columnwise"."""
    words = {"rowwise": True, "row": True, "columnwise": False, "column": False, "col": False}
    if order not in words:
        raise InvalidValue(f"order must be 'rowwise' or 'columnwise', not {order!r}")
    return words[order]


def scalar_and_dtype(value: Any, dtype: Any) -> tuple[Any, DataType]:
    """Return `value` as a scalar, and the dtype of the entries that are to hold it.

    This dtype is `dtype`, or the dtype of the value if `dtype` is None.
    """
    value, found = bound(value, FP64, "value") if isinstance(value, Operand) else (value, None)
    if found is None:
        if not is_scalar(value):
            raise TypeError(f"value must be a scalar, not {type(value).__name__}")
        found = dtype_of(value)
    return value, found if dtype is None else lookup_dtype(dtype)


def refuse_entries(noun: Any, clear: bool) -> None:
    """Raise an error if the output of `build` already has entries, unless `clear` is True."""
    if noun.nvals and not clear:
        raise OutputNotEmpty(
            f"build needs an empty output, but it has {noun.nvals} entries; give clear=True"
        )


def to_device(noun: Any, device: str) -> Any:
    """Return a copy with the same entries on a device."""
    copy = noun.dup()
    copy._store = move_store(copy._store, device)
    return copy


def restore_vector(cls: Any, dtype: str, size: int, indices: Any, values: Any, name: Any) -> Any:
    """Restore a pickled Vector; `indices` is None if the Vector is full."""
    values = _spread(values, size if indices is None else indices.size)
    v = FullVector(size, values) if indices is None else SparseVector(size, indices, values)
    return cls._of(move_store(VectorStore("cpu", lookup_dtype(dtype), v), default_device()), name)


def restore_matrix(cls: Any, dtype: str, csr: Any, csc: Any, symmetric: bool, name: Any) -> Any:
    """Restore a pickled Matrix."""
    rows, columns = (None if parts is None else _restore_form(*parts) for parts in (csr, csc))
    forms = MatrixStore("cpu", lookup_dtype(dtype), rows, rows if symmetric else columns)
    return cls._of(move_store(forms, default_device()), name)


def _restore_form(nrows: int, ncols: int, indptr: Any, indices: Any, values: Any) -> Csr:
    return Csr(nrows, ncols, indptr, indices, _spread(values, indices.size))


def _spread(values: np.ndarray, size: int) -> np.ndarray:
    """Return an array with one value per entry, from pickled values.

    If all values are equal, only one of them was pickled.
    """
    return values if values.size == size else np.broadcast_to(values, (size,))


def _places(
    places: Any, size: Any, name: str, of: str, least_size: int | None = None
) -> tuple[np.ndarray, int]:
    """Return the indices as an array, and the size of the vector or dimension that they refer to.

    If `size` is None, the size is one more than the largest index, or `least_size` if there are no
    indices. Raise an error if an index is not from 0 to size - 1, or if the size is unknown.
    """
    array = _integers(places, name)
    if array.ndim != 1:
        raise InvalidValue(f"{name} must be 1-d, but has {array.ndim} dimensions")
    if size is None and not array.size:
        size = least_size
    if size is None and not array.size:
        raise InvalidValue(f"{of} must be given, as there are no {name} to tell it")
    least, most = extremes(array)
    size = most + 1 if size is None and most < (1 << 31) - 1 else size
    size = dimension(most + 1 if size is None else size, of)
    if array.size and (least < 0 or most >= size):
        bad = least if least < 0 else most
        if not size:
            raise IndexOutOfBound(f"{name} hold {bad}, but {of} is 0")
        raise IndexOutOfBound(f"{name} hold {bad}, but should be from 0 to {size - 1}")
    return array, size


def _integers(values: Any, name: str) -> Any:
    if is_on_card(values):
        if values.dtype.kind not in "iu":
            raise TypeError(f"{name} must be integers, but are {values.dtype}")
        return values
    if not isinstance(values, (np.ndarray, range)):
        if not isinstance(values, Iterable) or isinstance(values, (Operand, str)):
            raise TypeError(f"{name} must be a list or array of integers, not {values!r}")
        values = list(values)
    array = exact_array(values)
    if array.size == 0:
        return array.astype(np.int64)
    if has_integers(array):
        worst = max(array.flat, key=abs)
        raise IndexOutOfBound(f"{name} hold {worst}, but should be less than 2^31")
    if array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be integers, but are {array.dtype}")
    return array


def _entries(
    values: Any, dtype: Any, dup_op: Any, places: dict[str, np.ndarray]
) -> tuple[np.ndarray, DataType, Any]:
    """Return the values as an array, the dtype of the entries, and an operator for this dtype.

    The operator combines the values of duplicate entries. It is None if duplicates must raise an
    error.
    """
    sizes = {name: array.size for name, array in places.items()}
    size = next(iter(sizes.values()))
    if (isinstance(values, Operand) and values.ndim == 0) or is_scalar(values):
        value, wanted = scalar_and_dtype(values, dtype)
        _refuse_lengths(sizes)
        one = np.broadcast_to(np.asarray(fit(value, wanted, "values")), (size,))
        return one, wanted, binary_of(binary.first if dup_op is None else dup_op, wanted, wanted)
    array, wanted = array_of(values, dtype)
    if array.ndim != 1:
        raise InvalidValue(f"values must be 1-d, but have {array.ndim} dimensions")
    _refuse_lengths({**sizes, "values": array.size})
    return array, wanted, None if dup_op is None else binary_of(dup_op, wanted, wanted)


def _refuse_lengths(sizes: dict[str, int]) -> None:
    if len(set(sizes.values())) > 1:
        told = ", ".join(f"{name} {size}" for name, size in sizes.items())
        raise InvalidValue(f"lengths must be the same, but are {told}")


def _dense(values: Any, dtype: Any, ndim: int) -> tuple[Any, DataType]:
    if isinstance(values, Operand):
        raise TypeError("values must be an array, not a graphla object; for a copy there is .dup()")
    array, wanted = array_of(values, dtype)
    if array.ndim != ndim:
        raise InvalidValue(
            f"values must have {ndim} dimension{'s' * (ndim > 1)}, but have {array.ndim}"
        )
    for size in array.shape:
        dimension(size, "size")
    return array, wanted


def _differs(array: np.ndarray, missing: Any) -> np.ndarray:
    missing, _ = bound(missing, FP64, "missing_value")
    # CuPy's comparison would treat subnormal numbers as zeros, so use our own kernel.
    if is_on_card(array) and missing == missing:
        flat, dtype = FullVector(array.size, array.ravel()), lookup_dtype(array.dtype)
        differs = binary_of(binary.ne, dtype, dtype_of(missing, dtype))
        there = backend("cuda").apply_bound(flat, differs, missing, "right")
        return there.values.reshape(array.shape)
    return array == array if missing != missing else array != missing


def _offset_dtype(nvals: int) -> Any:
    return np.int32 if nvals < 1 << 31 else np.int64


def _rises_in_rows(indptr: np.ndarray, indices: np.ndarray) -> bool:
    """Return whether the indices in each row of a CSR matrix are strictly increasing."""
    if indices.size < 2:
        return True
    rises = indices[1:] > indices[:-1]
    starts = indptr[1:-1].astype(np.int64)
    rises[starts[(starts > 0) & (starts < indices.size)] - 1] = True
    return are_all(rises)


def _whole(part: np.ndarray) -> np.ndarray:
    """Convert an array of floats to integer indices; raise an error for fractions."""
    with np.errstate(invalid="ignore"):
        whole = part.astype(np.int64)
    if not are_all(whole == part):
        raise TypeError("edgelist holds indices that are not whole numbers")
    return whole
