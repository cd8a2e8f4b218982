"""Parquet and Feather files with one row per edge, and columns for source, target and weight."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graphla.io.edgelist import (
    HEADERS,
    MOST,
    NUMBERED_HEADERS,
    check_vertices,
    count_edges,
    is_too_sparse,
    normalize_title,
    out_of_range,
)
from graphla.io.entries import assemble, first_duplicate
from graphla.io.files import (
    NotIndices,
    ParseError,
    import_optional,
    is_file_object,
    is_of_system,
    name_of,
)
from graphla.sparse import Matrix
from semirings.dtypes import BOOL, lookup_dtype
from semirings.exceptions import DuplicateEntry, InvalidValue

WEIGHTS = ("weight", "w", "value", "cost", "distance", "length", "capacity")
"""Possible titles of the weight column, in lower case without spaces and underscores."""


def read_edge_table(
    source: Any,
    format: str,
    *,
    directed: bool = True,
    columns: Sequence[int | str] | None = None,
    base: int = 0,
    n: int | None = None,
    dtype: Any = None,
    dup_op: Any = None,
    name: Any = None,
) -> Matrix:
    """Return A with A(u, v) = w for every row (u, v, w) of a Parquet or Feather file.

    Args:
        source: a path or a file object.
        format: "parquet" or "feather".
        directed: if False, each row stands for both directions, so A is symmetric.
        columns: names or positions of the source column, the target column and, optionally, the
            weight column. By default, these are the columns with known titles, such as source,
            target and weight. If no title is known, the table must have two or three columns, and
            all of them are used.
        base: the number of the first vertex in the file, 0 or 1; this vertex becomes vertex 0.
        n: the number of vertices; by default as in `read_edgelist`.
        dtype: the dtype of the values; by default the dtype of the weight column, or BOOL without
            weights.
        dup_op: an operator that combines the weights of duplicate edges; without it, a duplicate
            raises ParseError. In a table without weights, duplicates are ignored.
        name: the name of the matrix.

    Returns:
        A square Matrix.

    Raises:
        NotIndices: the vertices are strings, or numbers far larger than the number of edges.
        ParseError: the file cannot be read as a table of edges.
        PackageMissing: pyarrow is not installed.

    Examples:
        >>> import io
        >>> import pyarrow
        >>> from graphla.io import read_edge_table
        >>> from pyarrow import parquet
        >>> file = io.BytesIO()
        >>> parquet.write_table(pyarrow.table({"src": [0, 1], "dst": [1, 2], "km": [7, 5]}), file)
        >>> read_edge_table(io.BytesIO(file.getvalue()), "parquet").to_dict()
        {(0, 1): 7, (1, 2): 5}

    References:
        https://arrow.apache.org/docs/python/parquet.html
    """
    check_vertices(base, n)
    file = name_of(source)
    u, v, w = _read_columns(source, format, columns)
    ends = [_indices(end, field, file, base, n) for end, field in ((u, "source"), (v, "target"))]
    if n is None:
        largest = max((int(end.max()) for end in ends if end.size), default=-1)
        if is_too_sparse(largest + base, ends[0].size):
            problem = f"a vertex is {largest + base}, but {count_edges(ends[0].size)}"
            raise NotIndices(problem, file)
        n = largest + 1
    return _build(file, ends, w, n, directed, dtype, dup_op, name)


def read_labelled_edge_table(
    source: Any,
    format: str,
    *,
    directed: bool = True,
    columns: Sequence[int | str] | None = None,
    dtype: Any = None,
    dup_op: Any = None,
    name: Any = None,
) -> tuple[Matrix, list[Any]]:
    """Return A and labels: A(i, j) = w for every row (labels[i], labels[j], w).

    Args:
        source: a path or a file object.
        format: "parquet" or "feather".
        directed: if False, each row stands for both directions, so A is symmetric.
        columns: names or positions of the source column, the target column and, optionally, the
            weight column; by default as in `read_edge_table`.
        dtype: the dtype of the values; by default the dtype of the weight column, or BOOL without
            weights.
        dup_op: an operator that combines the weights of duplicate edges, as in
            `read_edge_table`.
        name: the name of the matrix.

    Returns:
        A square Matrix, and its labels: strings or integers, in order of first appearance.

    Raises:
        ParseError: the file cannot be read as a table of edges.
        PackageMissing: pyarrow is not installed.
    """
    pa = _pyarrow(format)
    file = name_of(source)
    u, v, w = _read_columns(source, format, columns)
    kinds = [end.type for end in (u, v)]
    if all(map(pa.types.is_integer, kinds)):
        kind = pa.uint64() if pa.uint64() in kinds else pa.int64()
    elif all(_is_text(pa, kind) for kind in kinds):
        kind = pa.large_string()
    else:
        types = " and ".join(map(str, kinds))
        raise ParseError(
            f"the vertices are of type {types}, but labels are texts or integers", file
        )
    try:
        both = pa.chunked_array([*u.cast(kind).chunks, *v.cast(kind).chunks], kind)
    except pa.ArrowInvalid as error:
        raise ParseError(f"the vertices do not fit one type ({error})", file) from error
    encoded = both.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    codes = encoded.indices.to_numpy(zero_copy_only=False).reshape(2, -1)
    # first[c] is the first position at which the code c occurs.
    _, first = np.unique(codes.T.ravel(), return_index=True)
    order = np.argsort(first)
    number = np.empty(order.size, np.int32)
    number[order] = np.arange(order.size)
    labels = encoded.dictionary.take(pa.array(order)).to_pylist()
    ends = [number[codes[0]], number[codes[1]]]
    return _build(file, ends, w, len(labels), directed, dtype, dup_op, name), labels


def _pyarrow(format: str) -> Any:
    return import_optional("pyarrow", "tables", f"reading {format} files")


def _is_text(pa: Any, kind: Any) -> bool:
    is_dictionary = pa.types.is_dictionary(kind)
    value = kind.value_type if is_dictionary else kind
    is_view = getattr(pa.types, "is_string_view", lambda _: False)(value)
    return pa.types.is_string(value) or pa.types.is_large_string(value) or is_view


def _read_columns(
    source: Any, format: str, columns: Sequence[int | str] | None
) -> tuple[Any, Any, Any]:
    """Return the columns for source, target and weight; if there are no weights, weight is None."""
    pa = _pyarrow(format)
    file = name_of(source)
    is_object = is_file_object(source)
    if not is_object:
        Path(file).open("rb").close()  # unlike pyarrow's, its error names the file
    held = pa.BufferReader(source.read()) if is_object else pa.OSFile(file, "rb")
    with held:
        try:
            if format == "parquet":
                from pyarrow import parquet

                table = parquet.ParquetFile(held)
                names = _choose(table.schema_arrow.names, columns, file)
                table = table.read(columns=names)
            else:
                from pyarrow import feather

                table = feather.read_table(held)
                names = _choose(table.column_names, columns, file)
            found = [table.column(name) for name in names]
            # A damaged file may contain offsets that are out of range. Reading them would crash the
            # process.
            for column in found:
                column.validate(full=True)
        except (pa.ArrowException, OSError, KeyError, UnicodeError) as error:
            if is_of_system(error):
                raise
            raise ParseError(f"this is not a {format} file ({error})", file) from error
    for name, column in zip(names, found, strict=True):
        if column.null_count:
            row = column.is_null().index(True).as_py()
            raise ParseError(f"column {name} has no value in row {row}", file)
    return found[0], found[1], found[2] if len(found) == 3 else None


def _choose(names: list[str], columns: Sequence[int | str] | None, file: str) -> list[str]:
    """Return the names of the source column, the target column and, if any, the weight column."""
    if columns is not None:
        if isinstance(columns, str) or len(columns) not in (2, 3):
            raise InvalidValue(
                f"columns is {columns!r}, but should be two or three names or positions"
            )
        for column in columns:
            if column not in (names if isinstance(column, str) else range(len(names))):
                known = ", ".join(names)
                raise InvalidValue(f"columns has {column!r}, but {file} has the columns {known}")
        return [c if isinstance(c, str) else names[c] for c in columns]
    names = [name for name in names if not name.startswith("__index_level_")]  # of pandas
    titles = [normalize_title(name) for name in names]
    for one, first in enumerate(titles):
        for other, second in enumerate(titles):
            if (first, second) in HEADERS or (first, second) in NUMBERED_HEADERS:
                weights = [k for k, title in enumerate(titles) if title in WEIGHTS]
                if not weights and len(names) == 3:
                    weights = [3 - one - other]
                return [names[k] for k in (one, other, *weights[:1])]
    if len(names) in (2, 3):
        return names
    problem = f"the columns are {', '.join(names)}; `columns` says which are source and target"
    raise ParseError(problem, file)


def _indices(column: Any, field: str, file: str, base: int, n: int | None) -> np.ndarray:
    """Return a column of vertex numbers as zero-based indices."""
    if not str(column.type).startswith(("int", "uint")):
        problem = f"the {field} is of type {column.type}, but indices are integers"
        raise NotIndices(problem, file)
    vertices = column.to_numpy()
    limit = MOST if n is None else n
    bad = (vertices < base) | (vertices >= limit + base)
    if bad.any():
        row = int(np.argmax(bad))
        raise out_of_range(f"{field} in row {row}", int(vertices[row]), base, limit)(file, None)
    return (vertices - base).astype(np.int32)


def _build(
    file: str,
    ends: list[np.ndarray],
    weights: Any,
    n: int,
    directed: bool,
    dtype: Any,
    dup_op: Any,
    name: Any,
) -> Matrix:
    u, v = ends
    wanted = BOOL if dtype is None else lookup_dtype(dtype)
    if weights is None:
        w: Any = wanted.np_type.type(1)
        if dup_op is not None:
            w = np.broadcast_to(w, u.shape)
    else:
        wanted, w = _values(weights, dtype, file)
    symmetry = "general" if directed else "symmetric"
    try:
        return assemble(u, v, w, wanted, (n, n), symmetry=symmetry, dup_op=dup_op, name=name)
    except DuplicateEntry:
        row = first_duplicate(u, v, symmetry)
        problem = f"row {row} lists an edge again, and no dup_op says how to join the weights"
        if not directed:
            problem += " (directed is False, so u v and v u are one edge)"
        raise ParseError(problem, file) from None


def _values(column: Any, dtype: Any, file: str) -> tuple[Any, np.ndarray]:
    values = column.to_numpy()
    if values.dtype.kind not in "biuf" or (values.dtype.itemsize == 2 and values.dtype.kind == "f"):
        raise ParseError(f"the weights are of type {column.type}, but should be numbers", file)
    if dtype is None:
        return lookup_dtype(values.dtype), np.ascontiguousarray(values)
    wanted = lookup_dtype(dtype)
    with np.errstate(all="ignore"):
        cast = values.astype(wanted.np_type)
    if wanted.kind in "biu" and (bad := cast != values).any():
        row = int(np.argmax(bad))
        raise ParseError(
            f"the weight in row {row} is {values[row]}, which {wanted} does not hold", file
        )
    return wanted, cast
