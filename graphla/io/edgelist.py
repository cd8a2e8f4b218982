"""Edge lists: a text file with a line `source target` or `source target weight` for each edge."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np

from graphla.formats import is_iso
from graphla.io.entries import assemble, by_rows, first_duplicate, has_symmetry
from graphla.io.files import (
    CountsFromOne,
    CountsFromZero,
    NotIndices,
    NumberOutOfRange,
    ParseError,
    TextReader,
    name_of,
    replacing,
)
from graphla.io.table import LineOf, comment_lines, line_of_row, lines_of, number_rows, shorten
from graphla.sparse import Matrix
from semirings.dtypes import BOOL, FP64, INT64, DataType, lookup_dtype
from semirings.exceptions import DuplicateEntry, InvalidValue

COMMENTS = ("#", "%")
MOST = 2**31 - 1  # the maximum number of vertices; dimensions are less than 2^31

HEADERS = {
    ("source", "target"),
    ("source", "destination"),
    ("source", "dest"),
    ("sourceid", "targetid"),
    ("sourcenode", "targetnode"),
    ("src", "dst"),
    ("src", "dest"),
    ("srcid", "dstid"),
    ("from", "to"),
    ("fromid", "toid"),
    ("fromnode", "tonode"),
    ("fromnodeid", "tonodeid"),
    ("sender", "receiver"),
    ("follower", "followee"),
}
"""Titles of the source and target columns, in lower case without spaces and underscores."""

NUMBERED_HEADERS = {
    (f"{noun}{one}", f"{noun}{two}")
    for noun in ("node", "vertex", "id", "entity")
    for one, two in (("1", "2"), ("a", "b"))
}
"""Pairs of column titles that could also be the names of two vertices.

A pair in the first line is an edge, not a header, if one of the two names recurs in a later line.
"""

SPARSE_FROM = 1 << 20
"""Vertex numbers up to this limit are accepted regardless of the number of edges."""

VERTICES_PER_EDGE = 64
"""Maximum number of vertices per edge. Without `n`, a vertex number raises an error if it exceeds
both SPARSE_FROM and VERTICES_PER_EDGE times the number of edges. Such a number is probably an
identifier, not an index, and a matrix needs memory for every index up to the largest."""

_EDGES_PER_WRITE = 1 << 18


def read_edgelist(
    source: Any,
    *,
    directed: bool = True,
    separator: str | None = None,
    comments: Sequence[str] = COMMENTS,
    header: bool | None = None,
    columns: Sequence[int] | None = None,
    base: int = 0,
    n: int | None = None,
    dtype: Any = None,
    dup_op: Any = None,
    name: Any = None,
) -> Matrix:
    """A(u, v) = w for every line `u v w`, or true for every line `u v`.

    Read an edge list whose vertices are indices.

    Args:
        source: a path (plain or compressed) or a file object.
        directed: if False, each line stands for both directions, so A is symmetric.
        separator: one character. By default the first line decides: comma, semicolon or any white
            space.
        comments: the texts that start a comment line.
        header: whether the first line names the columns; by default this is detected.
        columns: positions of source, target and, optionally, weight in a line. By default a line
            has two or three fields, in this order.
        base: the number of the first vertex in the file, 0 or 1; this vertex becomes vertex 0.
        n: the number of vertices; by default one more than the largest vertex number in the file,
            which must not exceed the larger of SPARSE_FROM and VERTICES_PER_EDGE times the number
            of edges.
        dtype: the dtype of the values; by default BOOL without weights, INT64 if all weights are
            integers, and FP64 otherwise.
        dup_op: an operator that combines the weights of duplicate edges; without it, a duplicate
            raises ParseError. In a file without weights, duplicates are ignored.
        name: the name of the matrix.

    Returns:
        A Matrix with `n` rows and columns.

    Raises:
        ParseError: the file is malformed; the error names the file and the line.
        NotIndices: the vertices are names, or numbers far larger than the number of edges;
            `read_labelled_edgelist` reads them.
        InvalidValue: `base` or `n` is not allowed.

    Examples:
        >>> import io
        >>> from graphla.io import read_edgelist
        >>> read_edgelist(io.StringIO("0 1 5\\n1 2 7\\n")).to_dict()
        {(0, 1): 5, (1, 2): 7}
    """
    check_vertices(base, n)
    comments = tuple(comments)
    with TextReader(source) as text:
        form = _look(text, separator, comments, header, columns, labelled=False)
        return read_numbers(
            text, form, comments, base, n, directed=directed, dtype=dtype, dup_op=dup_op, name=name
        )


def check_vertices(base: Any, n: Any) -> None:
    """Raise an error if `base` or `n` is invalid."""
    if base not in (0, 1):
        raise InvalidValue(f"base is {base!r}, but should be 0 or 1")
    if n is not None and not (isinstance(n, Integral) and 0 <= int(n) <= MOST):
        raise InvalidValue(f"n is {n!r}, but should be a whole number from 0 to {MOST}")


def read_numbers(
    text: TextReader,
    form: Form,
    comments: tuple[str, ...],
    base: int,
    n: int | None,
    *,
    directed: bool,
    dtype: Any,
    dup_op: Any,
    name: Any,
) -> Matrix:
    """Return the matrix of an edge list whose vertices are numbers.

    The edges begin after the first `form.skip` lines of the text.
    """
    wanted = lookup_dtype(dtype) if dtype is not None else INT64 if form.weighted else BOOL
    limit = MOST if n is None else n
    try:
        u, v, w = _read_columns(text, form, comments, wanted, base, limit)
    except ParseError as error:
        is_final = dtype is not None or not form.weighted
        if is_final or isinstance(error, NumberOutOfRange | NotIndices):
            raise
        # A weight may have a decimal point, so retry with FP64. If the error has another cause, the
        # retry raises it again.
        wanted = FP64
        u, v, w = _read_columns(text, form, comments, wanted, base, limit)
    if n is None:
        n = _count_vertices(text, form, comments, u, v, base)
    return _build(text, form, comments, (u, v, w), wanted, n, directed, dup_op, name)


def read_labelled_edgelist(
    source: Any,
    *,
    directed: bool = True,
    separator: str | None = None,
    comments: Sequence[str] = COMMENTS,
    header: bool | None = None,
    columns: Sequence[int] | None = None,
    dtype: Any = None,
    dup_op: Any = None,
    name: Any = None,
) -> tuple[Matrix, list[str]]:
    """A(i, j) = w for every line `labels[i] labels[j] w`.

    Read an edge list whose vertices are labels.

    Vertices are numbered in the order in which their labels first appear. A label is any text
    without the separator. If the separator is not white space, a label in quotes may be any text.
    If the first line has a tab, the separator is a tab. With header=None, the first line is a
    header if it contains a known pair of titles (HEADERS, NUMBERED_HEADERS), or if its weight field
    is not a number.

    Args:
        source: a path (plain or compressed) or a file object.
        directed: if False, each line stands for both directions, so A is symmetric.
        separator: one character; by default the first line decides.
        comments: the texts that start a comment line.
        header: whether the first line names the columns; by default this is detected.
        columns: positions of source, target and, optionally, weight in a line.
        dtype: the dtype of the values, as in `read_edgelist`.
        dup_op: an operator that combines the weights of duplicate edges, as in
            `read_edgelist`.
        name: the name of the matrix.

    Returns:
        A Matrix, and the label of each row.

    Raises:
        ParseError: the file is malformed; the error names the file and the line.
        InvalidValue: `separator` or `columns` is not allowed.

    Examples:
        >>> import io
        >>> from graphla.io import read_labelled_edgelist
        >>> A, labels = read_labelled_edgelist(io.StringIO("ann bob\\nbob eve\\n"))
        >>> labels, A.nvals
        (['ann', 'bob', 'eve'], 2)
    """
    comments = tuple(comments)
    with TextReader(source) as text:
        form = _look(text, separator, comments, header, columns, labelled=True)
        numbers, u, v, weights = _read_labels(text, form, comments)
        if any(name in numbers for name in form.doubtful):
            form = replace(form, skip=form.skip - 1)
            numbers, u, v, weights = _read_labels(text, form, comments)
        wanted = lookup_dtype(dtype) if dtype is not None else INT64 if form.weighted else BOOL
        w = wanted.np_type.type(1)
        if form.weighted:
            wanted, w = _weights(weights, wanted, dtype is None, text)
        edges = (np.array(u, np.int32), np.array(v, np.int32), w)
        lines = [line for _, line in weights]
        A = _build(text, form, comments, edges, wanted, len(numbers), directed, dup_op, name, lines)
        return A, list(numbers)


def write_edgelist(
    target: Any,
    A: Any,
    *,
    directed: bool = True,
    separator: str | None = None,
    header: bool | None = None,
    weights: bool | None = None,
    base: int = 0,
    labels: Sequence[Any] | None = None,
) -> None:
    """Write a line `u v A(u, v)` for every entry of A.

    The file stores neither the number of vertices nor the dtype; pass them to `read_edgelist`.

    Args:
        target: a path or a file object. The file at a path is compressed if the path ends in .gz,
            .bz2 or .xz; an existing file is replaced only after everything is written.
        A: a square Matrix.
        directed: if False, each edge of a symmetric A is written once.
        separator: one character; by default a comma if the name ends in .csv or .csv.gz, a tab
            for .tsv, and otherwise a space.
        header: whether to write a line of column names. By default it is written if the separator
            is a comma or a tab, or if the first line of labels would otherwise be misread.
        weights: whether to write values. By default they are written, unless all values are 1
            and A stores them as a single element.
        base: the number of the first vertex in the file, 0 or 1.
        labels: the label of each vertex, which is written instead of its number.

    Raises:
        InvalidValue: `directed` is False but A is not symmetric, `base` is not allowed, or a label
            could not be read back.
    """
    if base not in (0, 1):
        raise InvalidValue(f"base is {base!r}, but should be 0 or 1")
    rows = by_rows(A)
    if not directed and not has_symmetry(rows, "symmetric"):
        raise InvalidValue("directed is False, but A is not symmetric")
    separator = _separator_to_write(separator, target)
    weights = not (is_iso(rows.values) and rows.values[0] == 1) if weights is None else weights
    names = None if labels is None else _labels_to_write(labels, rows.shape, separator)
    if header is None:
        header = separator in (",", "\t")
        if not header and names is not None and rows.columns.size:
            u = int(np.argmax(rows.indptr[1:] > 0))
            first = [labels[u], labels[int(rows.columns[0])]]  # pyright: ignore
            written = [names[u], names[int(rows.columns[0])]]
            header = not _is_read_back(first, written + ["1"] * weights, separator)
    with replacing(target) as out:
        if header:
            titles = ("source", "target", "weight") if weights else ("source", "target")
            out.write((separator.join(titles) + "\n").encode())
        for first in range(0, rows.columns.size, _EDGES_PER_WRITE):
            part = slice(first, min(first + _EDGES_PER_WRITE, rows.columns.size))
            v = rows.columns[part].astype(np.int64)
            fields = [rows.numbers(part), v, rows.values[part]]
            if not directed:
                once = fields[0] <= fields[1]
                fields = [field[once] for field in fields]
            ends = [end + base if names is None else names[end] for end in fields[:2]]
            out.write(lines_of([*ends, fields[2]] if weights else ends, separator))


@dataclass(frozen=True, slots=True)
class Form:
    """The layout of an edge list, which is detected from its first line."""

    separator: str | None  # None means any white space
    # The positions of the source, the target and, if there is one, the weight in a line. None means
    # that a line has exactly `width` fields: source, target and any weight, in this order.
    columns: tuple[int, ...] | None
    width: int
    weighted: bool
    skip: int  # number of lines before the first edge
    # The first two fields of the first line, if this line is treated as a header but could also be
    # an edge; otherwise empty.
    doubtful: tuple[str, ...] = ()


def _look(
    text: TextReader,
    separator: str | None,
    comments: tuple[str, ...],
    header: bool | None,
    columns: Sequence[int] | None,
    labelled: bool,
) -> Form:
    if separator is not None and not _separates(separator, ascii_only=not labelled):
        kind = "character" if labelled else "ASCII character"
        raise InvalidValue(f"separator is {separator!r}, but should be one {kind}, no line end")
    if header is not None and not isinstance(header, bool):
        raise InvalidValue(f"header is {header!r}, but should be True, False or None")
    if columns is not None and not (len(columns) in (2, 3) and all(map(_is_position, columns))):
        raise InvalidValue(f"columns is {columns!r}, but should be two or three positions from 0")
    comment = comment_lines(comments)
    while (line := text.readline()) and (line.isspace() or comment.match(line)):
        pass
    first = line.decode("utf-8", "replace").strip(" \r\n")
    if separator is None:
        marks = "\t,;" if labelled else ",;"  # a label may contain a comma, so look for tabs first
        separator = next((mark for mark in marks if mark in first), None)
    if separator == " " or (separator == "\t" and not labelled):
        separator = None
    fields = first.split(separator)
    if labelled and separator is not None:
        fields = next((found for _, found in _split([first], separator, text, text.line)), [])
    doubtful: tuple[str, ...] = ()
    if header is None and not labelled:
        header = bool(line) and all(_is_title(field) for field in fields)
    elif header is None:
        titles = fields if columns is None else [fields[c] for c in columns if c < len(fields)]
        header, is_doubtful = _names_columns(titles)
        doubtful = tuple(titles[:2]) if is_doubtful else ()
    width = len(fields) if line else 2
    if columns is None and width not in (2, 3):
        problem = f"{shorten(first)} has {width} fields where 2 or 3 are expected"
        raise text.error(f"{problem}; `columns` or `separator` may say how to read it")
    weighted = (width if columns is None else len(columns)) == 3
    chosen = None if columns is None else tuple(columns)
    skip = text.line - bool(line) + header
    return Form(separator, chosen, width, weighted, skip, doubtful)


def _separates(separator: Any, *, ascii_only: bool) -> bool:
    is_one = isinstance(separator, str) and len(separator) == 1 and separator not in "\r\n"
    return is_one and (separator.isascii() or not ascii_only)


def _is_position(column: Any) -> bool:
    return isinstance(column, Integral) and int(column) >= 0


def _is_title(field: str) -> bool:
    return re.match(r"""\s*["']?[A-Za-z_]""", field) is not None


def _names_columns(titles: Sequence[str]) -> tuple[bool, bool]:
    """Return whether the fields of the first line are a header, and whether this is uncertain.

    A header such as "node1,node2" is uncertain, because the line could also be an edge.
    """
    pair = tuple(map(normalize_title, titles[:2]))
    if len(titles) == 3:
        weight = titles[2].strip().lower()
        if weight and not re.match(r"[+-]?(\.?[0-9]|nan$|inf$|infinity$)", weight):
            return True, False
    return pair in HEADERS or pair in NUMBERED_HEADERS, pair in NUMBERED_HEADERS


def normalize_title(title: str) -> str:
    """Return the title of a column in lower case, without spaces and punctuation."""
    return re.sub(r"[^a-z0-9]", "", title.lower())


def _skip(text: TextReader, lines: int) -> None:
    text.again()
    while text.line < lines and text.readline():
        pass


def _read_columns(
    text: TextReader, form: Form, comments: tuple[str, ...], dtype: DataType, base: int, n: int
) -> tuple[Any, Any, Any]:
    _skip(text, form.skip)
    layout: list[Any] = [("source", np.int64), ("target", np.int64)]
    if form.weighted:
        layout.append(("weight", np.int64 if dtype is BOOL else dtype.np_type))
    ends: tuple[list[Any], list[Any]] = ([], [])
    weights = []
    options: dict[str, Any] = {"separator": form.separator, "columns": form.columns}
    for part, line_of in _edges(number_rows(text, np.dtype(layout), comments=comments, **options)):
        for kept, field in zip(ends, ("source", "target"), strict=True):
            column = part[field]
            if column.min() < base or column.max() >= n + base:
                k = int(np.argmax((column < base) | (column >= n + base)))
                raise out_of_range(field, int(column[k]), base, n)(text.name, line_of(k))
            kept.append((column - base).astype(np.int32))
        if form.weighted:
            if dtype is BOOL and (bad := (part["weight"] & ~1) != 0).any():
                k = int(np.argmax(bad))
                problem = f"the weight of type BOOL is {part['weight'][k]}, not 0 or 1"
                raise text.error(problem, line_of(k))
            weights.append(part["weight"].astype(dtype.np_type))
    u, v = (np.concatenate(kept) if kept else np.empty(0, np.int32) for kept in ends)
    if not form.weighted:
        return u, v, dtype.np_type.type(1)
    return u, v, np.concatenate(weights) if weights else np.empty(0, dtype.np_type)


def out_of_range(field: str, vertex: int, base: int, n: int) -> Callable[..., ParseError]:
    """Return a function that creates the error for a vertex that is out of range.

    The function takes the name of the file and the number of the line. Vertices of the file must be
    in base..base + n - 1.
    """
    problem = f"the {field} is {vertex}, outside of {base} to {n + base - 1}"
    if vertex == 0:
        return partial(CountsFromZero, problem)
    if n == MOST:
        return partial(NotIndices, problem)
    return partial(CountsFromOne if base == 0 and vertex == n else ParseError, problem)


def _edges(rows: Iterator[tuple[Any, LineOf]]) -> Iterator[tuple[Any, LineOf]]:
    """Yield the given parsed lines; convert an error about the number of a vertex to NotIndices.

    Such an error means that the vertex is a name, or that the number is huge.
    """
    try:
        yield from rows
    except ParseError as error:
        is_vertex = error.problem.startswith(("source is", "target is"))
        raise NotIndices(*error.args) if is_vertex else error from None


def _count_vertices(
    text: TextReader, form: Form, comments: tuple[str, ...], u: Any, v: Any, base: int
) -> int:
    """Return the number of vertices: one more than the largest index.

    Raise NotIndices if the largest index is so large, compared with the number of edges, that the
    vertices are probably not indices.
    """
    if not u.size:
        return 0
    largest = int(max(u.max(), v.max()))
    if not is_too_sparse(largest + base, u.size):
        return largest + 1
    k = int(np.argmax(np.maximum(u, v)))
    field = "source" if u[k] == largest else "target"
    problem = f"the {field} is {largest + base}, but {count_edges(u.size)}"
    raise NotIndices(problem, text.name, line_of_row(text, k, form.skip, comments))


def is_too_sparse(largest: int, edges: int) -> bool:
    """Return whether a vertex number is too large to be an index, given the number of edges."""
    return largest > max(SPARSE_FROM, VERTICES_PER_EDGE * edges)


def count_edges(count: int) -> str:
    """Return the part of an error message that states the number of edges of a file."""
    return f"the file has {count} edge{'' if count == 1 else 's'}"


def _build(
    text: TextReader,
    form: Form,
    comments: tuple[str, ...],
    edges: tuple[Any, Any, Any],
    dtype: DataType,
    n: int,
    directed: bool,
    dup_op: Any,
    name: Any,
    lines: Sequence[int] | None = None,
) -> Matrix:
    u, v, w = edges
    symmetry = "general" if directed else "symmetric"
    if not form.weighted and dup_op is not None:
        w = np.broadcast_to(w, u.shape)
    try:
        return assemble(u, v, w, dtype, (n, n), symmetry=symmetry, dup_op=dup_op, name=name)
    except DuplicateEntry:
        k = first_duplicate(u, v, symmetry)
        line = lines[k] if lines else line_of_row(text, k, form.skip, comments)
        problem = "this edge is listed before, and no dup_op says how to join the weights"
        if not directed:
            problem += " (directed is False, so u v and v u are one edge)"
        raise text.error(problem, line) from None


def _read_labels(
    text: TextReader, form: Form, comments: tuple[str, ...]
) -> tuple[dict[str, int], list[int], list[int], list[tuple[str, int]]]:
    """Return the contents of an edge list with labels, in four parts.

    The first part is a dict from each label to the number of its vertex. The other parts are lists
    with one element per edge: its source, its target, and a tuple of its weight as text and its
    line number. The last list is empty if the edges have no weights.
    """
    numbers: dict[str, int] = {}
    u, v, weights = [], [], []
    _skip(text, form.skip)
    for line, fields in _records(text, form, comments):
        u.append(numbers.setdefault(fields[0], len(numbers)))
        v.append(numbers.setdefault(fields[1], len(numbers)))
        if form.weighted:
            weights.append((fields[2], line))
    return numbers, u, v, weights


def _records(
    text: TextReader, form: Form, comments: tuple[str, ...]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the fields (source, target, optional weight) of each line."""
    comment = comment_lines(comments)
    needed = form.width if form.columns is None else max(form.columns) + 1
    while block := text.block():
        first = text.line - block.count(b"\n") + block.endswith(b"\n")
        try:
            lines = comment.sub(b"", block).decode().split("\n")
        except UnicodeDecodeError as error:
            line = first + block[: error.start].count(b"\n")
            raise text.error("the line is not UTF-8 text", line) from None
        for line, fields in _split(lines, form.separator, text, first):
            if not fields:
                continue
            if len(fields) < needed or (form.columns is None and len(fields) != needed):
                problem = f"the line has {len(fields)} fields where {needed} are expected"
                raise text.error(problem, line)
            yield line, fields if form.columns is None else [fields[c] for c in form.columns]


def _split(
    lines: list[str], separator: str | None, text: TextReader, first: int
) -> Iterator[tuple[int, list[str]]]:
    if separator is None:
        yield from ((first + k, line.split()) for k, line in enumerate(lines))
        return
    reader = csv.reader(lines, delimiter=separator, skipinitialspace=True, strict=True)
    try:
        yield from ((first + reader.line_num - 1, fields) for fields in reader)
    except csv.Error as error:
        raise text.error(
            f"the line cannot be split ({error})", first + reader.line_num - 1
        ) from None


def _weights(
    weights: list[tuple[str, int]], dtype: DataType, may_be_float: bool, text: TextReader
) -> tuple[DataType, Any]:
    """Convert the weights from text to numbers. Return the dtype and the array of the numbers.

    The rules are the same as for a file whose vertices are numbers.
    """
    written = "\n".join(re.sub(r"\s", "?", field.strip()) or "?" for field, _ in weights)
    reader = TextReader(io.StringIO(written))
    parsed = np.dtype([("weight", np.int64 if dtype is BOOL else dtype.np_type)])
    try:
        parts = [part["weight"] for part, _ in number_rows(reader, parsed, comments=())]
    except ParseError as error:
        if may_be_float and dtype is INT64 and not isinstance(error, NumberOutOfRange):
            return _weights(weights, FP64, False, text)
        raise text.error(error.problem, weights[(error.line or 1) - 1][1]) from None
    found = np.concatenate(parts) if parts else np.empty(0, dtype.np_type)
    if dtype is BOOL and (bad := (found & ~1) != 0).any():
        k = int(np.argmax(bad))
        raise text.error(f"the weight of type BOOL is {found[k]}, not 0 or 1", weights[k][1])
    return dtype, found.astype(dtype.np_type, copy=False)


def _separator_to_write(separator: str | None, target: Any) -> str:
    if separator is not None:
        if not _separates(separator, ascii_only=False):
            raise InvalidValue(f"separator is {separator!r}, but should be one character")
        return separator
    name = name_of(target).lower().removesuffix(".gz")
    return "," if name.endswith(".csv") else "\t" if name.endswith(".tsv") else " "


def _is_read_back(labels: Sequence[Any], fields: list[str], separator: str) -> bool:
    """Return whether a file without a header is read back correctly if it begins with this line.

    The line must not be mistaken for a header, or be split into other fields. `labels` contains the
    two labels of the edge in the line, and `fields` the texts that are written for them.
    """
    seen = None if separator in " \t,;" else separator
    with TextReader(io.BytesIO((separator.join(fields) + "\n").encode())) as text:
        try:
            form = _look(text, seen, COMMENTS, None, None, labelled=True)
            _skip(text, form.skip)
            records = [found for _, found in _records(text, form, COMMENTS)]
        except ParseError:
            return False
    return [found[:2] for found in records] == [list(map(str, labels))]


def _labels_to_write(labels: Sequence[Any], shape: tuple[int, int], separator: str) -> Any:
    if len(labels) < max(shape):
        raise InvalidValue(f"labels has {len(labels)} labels, but A has {max(shape)} vertices")
    names = [str(label) for label in labels]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise InvalidValue(f"labels holds {twice!r} for two vertices, which would be read as one")
    return np.array([_label_to_write(name, separator) for name in names], object)


def _label_to_write(label: str, separator: str) -> str:
    written = label
    if not separator.isspace():
        line = io.StringIO()
        csv.writer(line, delimiter=separator, lineterminator="").writerow([label])
        written = line.getvalue()
    broken = "\n" in label or "\r" in label or not label.strip() or label != label.strip()
    broken |= any("\ud800" <= char <= "\udfff" for char in label)  # UTF-8 cannot encode surrogates
    if broken or label.startswith(COMMENTS) or (separator == " " and len(label.split()) > 1):
        raise InvalidValue(f"labels holds {label!r}, which could not be read back from the file")
    if separator == "\t" and ("\t" in label or '"' in label):
        raise InvalidValue(f"labels holds {label!r}, which could not be read back from the file")
    return written
