"""Matrix Market files (.mtx), checked against the standard line by line.

The reader accepts `coordinate` and `array`; `general`, `symmetric` and `skew-symmetric`; `pattern`,
`integer` and `real`. A line such as `%%GraphBLAS type int8_t` gives the dtype, which must be able
to hold every value. Without this line, pattern is BOOL, integer is INT64 (UINT64 if a value needs
it) and real is FP64. A file without a header starts with its size line and is `real general`.
Comments and blank lines are allowed anywhere below the header. Duplicate entries raise an error
unless `dup_op` combines them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from graphla.formats import is_iso
from graphla.io.entries import MIRROR, Rows, assemble, by_rows, first_duplicate, has_symmetry
from graphla.io.files import NumberOutOfRange, ParseError, TextReader, replacing
from graphla.io.table import LineOf, line_of_row, lines_of, number_rows, shorten
from graphla.sparse import Matrix
from semirings.dtypes import ALL, BOOL, FP64, INT64, UINT64, DataType
from semirings.exceptions import DuplicateEntry, InvalidValue

LIMIT = 2**31  # dimensions must be less than this

_ENGINES = ("auto", "scipy", "fmm", "fast_matrix_market")
_FIELDS = ("pattern", "integer", "unsigned-integer", "real")
_TYPE_NAMES = {
    {"FP32": "float", "FP64": "double", "BOOL": "bool"}.get(t.name, f"{t.np_type.name}_t"): t
    for t in ALL
}
_ENTRIES_PER_WRITE = 1 << 18


def mmread(source: Any, engine: str = "auto", *, dup_op: Any = None, name: Any = None) -> Matrix:
    """Return the matrix in a Matrix Market file.

    Args:
        source: a path (plain or compressed) or a file object.
        engine: must be "auto", or one of python-graphblas's names "scipy", "fmm" and
            "fast_matrix_market"; all of them select the same parser.
        dup_op: an operator that combines the values of duplicate entries; in a symmetric file,
            (i, j) and (j, i) are the same position. Without it, duplicates raise ParseError.
        name: the name of the matrix.

    Returns:
        A Matrix; the file defines its dtype.

    Raises:
        ParseError: the file is malformed; the error names the file and the line.
        InvalidValue: `engine` is unknown.

    Examples:
        >>> import io
        >>> from graphla.io import mmread
        >>> text = "%%MatrixMarket matrix coordinate integer general\\n2 2 1\\n1 2 5\\n"
        >>> mmread(io.StringIO(text)).to_dict()
        {(0, 1): 5}

    References:
        https://math.nist.gov/MatrixMarket/formats.html
    """
    if engine not in _ENGINES:
        raise InvalidValue(f"engine is {engine!r}, but should be one of {', '.join(_ENGINES)}")
    with TextReader(source) as text:
        header = _read_header(text)
        try:
            return _read_body(text, header, dup_op, name)
        except NumberOutOfRange as error:
            if header.is_declared or header.dtype is not INT64:
                raise
            first = error
        _read_header(text.again())
        try:
            return _read_body(text, replace(header, dtype=UINT64), dup_op, name)
        except ParseError:
            raise first from None


def mmwrite(
    target: Any,
    matrix: Any,
    engine: str = "auto",
    *,
    comment: str = "",
    field: str | None = None,
    precision: int | None = None,
    symmetry: str | None = None,
) -> None:
    """Write a Matrix Market file, with the dtype in a line `%%GraphBLAS type`.

    Args:
        target: a path or a file object. The file at a path is compressed if the path ends in .gz,
            .bz2 or .xz; an existing file is replaced only after everything is written.
        matrix: a Matrix, or a Vector, which is written as n x 1.
        engine: must be "auto", or one of python-graphblas's names "scipy", "fmm" and
            "fast_matrix_market"; all of them select the same writer.
        comment: the text of comment lines.
        field: "pattern" writes no values; "integer" and "real" must match the dtype. The default is
            "pattern" if all values are 1, stored as a single element; otherwise the field of the
            dtype.
        precision: the number of significant digits of a float; by default as many as are needed to
            read exactly the same value.
        symmetry: "general" writes all entries; "symmetric" and "skew-symmetric" write half of them.
            The default is "symmetric" if the matrix is symmetric.

    Raises:
        InvalidValue: `engine`, `field` or `symmetry` is unknown or does not fit the matrix.
    """
    if engine not in _ENGINES:
        raise InvalidValue(f"engine is {engine!r}, but should be one of {', '.join(_ENGINES)}")
    A = by_rows(matrix)
    dtype: DataType = matrix.dtype
    field = _field_to_write(field, dtype, A.values)
    symmetry = _symmetry_to_write(symmetry, dtype, A)
    type_name = next(text for text, known in _TYPE_NAMES.items() if known is dtype)
    nvals = _count_stored(A, symmetry)
    lines = [
        f"%%MatrixMarket matrix coordinate {field} {symmetry}",
        f"%%GraphBLAS type {type_name}",
    ]
    lines += [f"% {line}" for line in comment.splitlines()]
    lines += [f"{A.shape[0]} {A.shape[1]} {nvals}"]
    with replacing(target) as out:
        out.write(("\n".join(lines) + "\n").encode())
        for first in range(0, A.columns.size, _ENTRIES_PER_WRITE):
            part = slice(first, min(first + _ENTRIES_PER_WRITE, A.columns.size))
            i, j = A.numbers(part) + 1, A.columns[part].astype(np.int64) + 1
            entries = [i, j] if field == "pattern" else [i, j, A.values[part]]
            if symmetry != "general":
                entries = [array[i >= j] for array in entries]
            out.write(lines_of(entries, " ", precision))


@dataclass(frozen=True, slots=True)
class _Header:
    is_array: bool
    field: str
    symmetry: str
    dtype: DataType
    is_declared: bool  # whether a %%GraphBLAS line gave the dtype
    nrows: int
    ncols: int
    nvals: int  # number of entries in the file
    lines: int  # number of lines up to and including the size line


def _read_header(text: TextReader) -> _Header:
    line = _next_line(text)
    if line.lower().startswith("%%matrixmarket"):
        form, field, symmetry = _banner(line, text)
        declared, line = _type_line(text, field, symmetry)
    elif not line:
        raise text.error("the file is empty", 1)
    elif line.startswith("%"):
        raise text.error(
            f"the file starts with {shorten(line)}, but should start with a header "
            "'%%MatrixMarket matrix ...' or, without one, with its size line"
        )
    else:
        size = line.split()
        form = "array" if len(size) == 2 else "coordinate"
        field, symmetry, declared = "real", "general", None
    if not line:
        raise text.error("the file ends before its size line")
    nrows, ncols, nvals = _sizes(line, form, symmetry, text)
    natural = {"pattern": BOOL, "integer": INT64, "unsigned-integer": UINT64, "real": FP64}[field]
    return _Header(
        is_array=form == "array",
        field=field,
        symmetry=symmetry,
        dtype=declared or natural,
        is_declared=declared is not None,
        nrows=nrows,
        ncols=ncols,
        nvals=nvals,
        lines=text.line,
    )


def _next_line(text: TextReader) -> str:
    """Return the next nonblank line, without white space at its ends; "" at the end of the text."""
    while line := text.readline():
        if stripped := line.decode("latin-1").strip():
            return stripped
    return ""


def _banner(line: str, text: TextReader) -> tuple[str, str, str]:
    words = line.lower().split()
    if len(words) != 5 or words[0] != "%%matrixmarket":
        raise text.error(
            f"the header is {shorten(line)}, but should be "
            "'%%MatrixMarket matrix FORMAT FIELD SYMMETRY'"
        )
    _, thing, form, field, symmetry = words
    _one_of("the object", thing, ("matrix",), text)
    _one_of("the format", form, ("coordinate", "array"), text)
    if field == "complex":
        raise text.error("the field is complex, and no dtype here holds complex values")
    _one_of("the field", field, _FIELDS, text)
    if symmetry == "hermitian":
        raise text.error(f"the symmetry is hermitian, which {field} values cannot be")
    _one_of("the symmetry", symmetry, tuple(MIRROR), text)
    if field == "pattern" and form == "array":
        raise text.error("the format is array with the field pattern, which leaves nothing to read")
    if field in ("pattern", "unsigned-integer") and symmetry == "skew-symmetric":
        raise text.error(f"the symmetry is skew-symmetric, which {field} values cannot be")
    return form, field, symmetry


def _one_of(what: str, word: str, known: tuple[str, ...], text: TextReader) -> None:
    if word not in known:
        raise text.error(f"{what} is {shorten(word)}, but should be {' or '.join(known)}")


def _type_line(text: TextReader, field: str, symmetry: str) -> tuple[DataType | None, str]:
    """Return the dtype declared in a comment (or None) and the first line after the comments."""
    declared = None
    while True:
        line = _next_line(text)
        if not line.startswith("%"):
            return declared, line
        words = line.split()
        if words[0].lower() != "%%graphblas" or words[1:2] != ["type"]:
            continue
        type_name = " ".join(words[2:])
        if type_name not in _TYPE_NAMES:
            known = ", ".join(_TYPE_NAMES)
            raise text.error(f"the type is {shorten(type_name)}, but should be one of {known}")
        if declared not in (None, _TYPE_NAMES[type_name]):
            raise text.error(f"the type is {type_name}, but an earlier line says {declared}")
        declared = _TYPE_NAMES[type_name]
        if symmetry == "skew-symmetric" and declared.kind in "bu":
            raise text.error(f"the type is {type_name}, which a skew-symmetric matrix cannot have")


def _sizes(line: str, form: str, symmetry: str, text: TextReader) -> tuple[int, int, int]:
    words = line.split()
    names = ("rows", "columns", "entries") if form == "coordinate" else ("rows", "columns")
    if len(words) != len(names) or not all(w.isascii() and w.isdigit() for w in words):
        raise text.error(f"the size line is {shorten(line)}, but should be: {' '.join(names)}")
    if any(len(word) > 18 for word in words):
        raise text.error(f"the size line is {shorten(line)}, which is beyond any file")
    sizes = [int(word) for word in words]
    for size, what in zip(sizes[:2], names, strict=False):
        if size >= LIMIT:
            raise text.error(f"there are {size} {what}, but should be fewer than 2^31")
    nrows, ncols = sizes[:2]
    if symmetry != "general" and nrows != ncols:
        raise text.error(f"the matrix is {symmetry}, but has {nrows} rows and {ncols} columns")
    if form == "coordinate":
        return nrows, ncols, sizes[2]
    half = {"general": nrows * ncols, "symmetric": nrows * (nrows + 1) // 2}
    return nrows, ncols, half.get(symmetry, nrows * (nrows - 1) // 2)


def _read_body(text: TextReader, header: _Header, dup_op: Any, name: Any) -> Matrix:
    if header.is_array:
        return _read_array(text, header, name)
    return _read_coordinates(text, header, dup_op, name)


def _read_coordinates(text: TextReader, header: _Header, dup_op: Any, name: Any) -> Matrix:
    parts = _read_rows(text, header)
    i, j = _join(parts, "row", np.int32), _join(parts, "column", np.int32)
    i, j = np.subtract(i, 1, out=i), np.subtract(j, 1, out=j)
    np_type = header.dtype.np_type
    if header.field == "pattern":
        values = np.broadcast_to(np_type.type(1), i.shape)
    else:
        values = _join(parts, "value", np_type)
    parts.clear()
    try:
        return assemble(
            i,
            j,
            values,
            header.dtype,
            (header.nrows, header.ncols),
            symmetry=header.symmetry,
            dup_op=dup_op,
            name=name,
        )
    except DuplicateEntry:
        k = first_duplicate(i, j, header.symmetry)
        line = line_of_row(text, k, header.lines, ("%",))
        place = f"({i[k] + 1}, {j[k] + 1})"
        if header.symmetry != "general":
            place += f" of a {header.symmetry} matrix"
        problem = f"entry {place} is given twice, and no dup_op says how to join its values"
        raise text.error(problem, line) from None


def _read_rows(text: TextReader, header: _Header) -> list[Any]:
    """Read the entries below the size line, and check their positions, values and count."""
    parts, count = [], 0
    for part, line_of in number_rows(text, _layout(header)):
        if count + part.size > header.nvals:
            line = line_of(header.nvals - count)
            raise text.error(f"there are more entries than the {header.nvals} announced", line)
        if not header.is_array:
            _refuse(part["row"], 1, header.nrows, "row", text, line_of)
            _refuse(part["column"], 1, header.ncols, "column", text, line_of)
        if header.dtype is BOOL and header.field != "pattern":
            _refuse(part["value"], 0, 1, "value of type bool", text, line_of)
        if header.symmetry == "skew-symmetric":
            _refuse_not_skew(part, header, text, line_of)
        parts.append(part)
        count += part.size
    if count < header.nvals:
        raise text.error(f"the file ends after {count} of the {header.nvals} entries announced")
    return parts


def _layout(header: _Header) -> np.dtype[Any]:
    place = [] if header.is_array else [("row", np.int64), ("column", np.int64)]
    parsed = np.dtype(np.int64) if header.dtype is BOOL else header.dtype.np_type
    return np.dtype(place if header.field == "pattern" else [*place, ("value", parsed)])


def _refuse(column: Any, low: int, high: int, what: str, text: TextReader, line_of: LineOf) -> None:
    if column.min() < low or column.max() > high:
        k = int(np.argmax((column < low) | (column > high)))
        raise text.error(f"the {what} is {column[k]}, outside of {low} to {high}", line_of(k))


def _refuse_not_skew(part: Any, header: _Header, text: TextReader, line_of: LineOf) -> None:
    values = part["value"]
    if header.dtype.is_integer:
        least = np.iinfo(header.dtype.np_type).min
        if (bad := values == least).any():
            k = int(np.argmax(bad))
            problem = f"the value is {least}, whose negative does not fit {header.dtype}"
            raise text.error(problem, line_of(k))
    if not header.is_array and (bad := (part["row"] == part["column"]) & (values != 0)).any():
        k = int(np.argmax(bad))
        problem = f"the value is {values[k]} on the diagonal, where a skew-symmetric matrix has 0"
        raise text.error(problem, line_of(k))


def _join(parts: list[Any], field: str, np_type: Any) -> Any:
    if not parts:
        return np.empty(0, np_type)
    return np.concatenate([part[field] for part in parts], dtype=np_type, casting="unsafe")


def _read_array(text: TextReader, header: _Header, name: Any) -> Matrix:
    values = _join(_read_rows(text, header), "value", header.dtype.np_type)
    if header.symmetry == "general":
        return Matrix.from_dense(values.reshape(header.ncols, header.nrows).T, name=name)
    n, skew = header.nrows, header.symmetry == "skew-symmetric"
    dense = np.zeros((n, n), values.dtype)
    j, i = np.triu_indices(n, k=int(skew))  # the lower triangle, column by column
    dense[i, j] = values
    dense[j, i] = -values if skew else values
    return Matrix.from_dense(dense, name=name)


def _field_to_write(field: str | None, dtype: DataType, values: Any) -> str:
    natural = "real" if dtype.is_float else "integer"
    if field is None:
        return "pattern" if is_iso(values) and values[0] == 1 else natural
    if field not in ("pattern", natural):
        raise InvalidValue(
            f"field is {field!r}, but should be 'pattern' or {natural!r} for {dtype}"
        )
    return field


def _symmetry_to_write(symmetry: str | None, dtype: DataType, A: Rows) -> str:
    if symmetry is None:
        return "symmetric" if has_symmetry(A, "symmetric") else "general"
    if symmetry not in MIRROR:
        raise InvalidValue(f"symmetry is {symmetry!r}, but should be {' or '.join(MIRROR)}")
    if symmetry == "skew-symmetric" and dtype.kind in "bu":
        raise InvalidValue(f"symmetry is {symmetry!r}, which a matrix of {dtype} cannot be")
    if not has_symmetry(A, symmetry):
        raise InvalidValue(f"symmetry is {symmetry!r}, but the matrix is not")
    return symmetry


def _count_stored(A: Rows, symmetry: str) -> int:
    """Return the number of entries that the file lists.

    If `symmetry` is "general", these are all entries, otherwise those on and below the diagonal.
    """
    if symmetry == "general":
        return A.columns.size
    return int(np.count_nonzero(A.numbers(slice(0, A.columns.size)) >= A.columns))
