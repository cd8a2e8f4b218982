"""Print the result of a command as a table, and save it to a file."""

from __future__ import annotations

import errno
import math
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO, Any

import numpy as np

from graphla import io
from graphla.io.files import replacing
from graphla.io.table import lines_of
from graphla.sparse import Matrix, Vector
from semirings.exceptions import InvalidValue

OUTPUTS = (".csv", ".csv.gz", ".tsv", ".tsv.gz", ".npz", ".mtx", ".mtx.gz")

_PLURALS = {"vertex": "vertices", "entry": "entries", "community": "communities"}
_ROWS_PER_WRITE = 1 << 18


@dataclass(frozen=True, slots=True)
class Top:
    """A table with the most interesting rows of a result, such as those with the highest values."""

    title: str
    header: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of a command.

    The screen shows `facts` and `top`. An output file contains the other fields.
    """

    facts: list[tuple[str, str]]
    # vectors by column name; all of them have entries at the same indices
    columns: dict[str, Vector] = field(default_factory=dict)
    top: Top | None = None
    total: tuple[str, Any] | None = None
    # a column name, and a matrix with a value for each edge or each pair of vertices
    pairs: tuple[str, Matrix] | None = None
    listed: tuple[str, list[Any]] | None = None  # a column name, and a list of vertex labels
    edges: int | None = None  # number of traversed edges, for computing the speed


def number(value: Any, noun: str = "") -> str:
    """Return a number as text, such as 1,234 or 0.00123457.

    If a noun is given, it follows the number: 1 vertex, 2 vertices.
    """
    is_float = isinstance(value, float | np.floating)
    text = _decimal(float(value)) if is_float else f"{int(value):,}"
    if not noun:
        return text
    return f"{text} {noun if value == 1 else plural(noun)}"


def _decimal(value: float) -> str:
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "infinity" if value > 0 else "-infinity"
    return f"{value:,.0f}" if 1e6 <= abs(value) < 1e15 else f"{value:,.6g}"


def share(part: int, whole: int) -> str:
    """Return a percentage such as 12.3%. Only exact results are shown as 0.0% or 100.0%."""
    if 0 < part < whole * 0.0005:
        return "less than 0.1%"
    if whole * 0.9995 <= part < whole:
        return "more than 99.9%"
    return f"{part / max(whole, 1):.1%}"


def plural(noun: str) -> str:
    """Return the plural of a noun."""
    return _PLURALS.get(noun, noun + "s")


def show(facts: Sequence[tuple[str, str]], top: Top | None, out: IO[str]) -> None:
    """Print the facts (pairs of a name and a text) in two aligned columns, then the table `top`."""
    width = max((len(name) for name, _ in facts), default=0)
    for name, text in facts:
        print(f"{name:<{width}}  {text}", file=out)
    if top is None or not top.rows:
        return
    rows = [top.header, *top.rows]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    print(f"\n{top.title}", file=out)
    for row in rows:
        cells = (f"{cell:>{size}}" for cell, size in zip(row, widths, strict=True))
        print("  " + "  ".join(cells), file=out)


def check_output(path: str) -> None:
    """Raise an error for an unknown file extension, before any work is done."""
    if path != "-" and not path.lower().endswith(OUTPUTS):
        raise InvalidValue(f"--output is {path!r}, but should end in one of {', '.join(OUTPUTS)}")


def save(answer: Answer, path: str) -> None:
    """Save the answer to a file with one row per value; `-` means CSV on standard output."""
    name = path.lower()
    if name.endswith((".mtx", ".mtx.gz")):
        _save_matrix(answer, path)
        return
    table = _table(answer)
    if path == "-" and sys.stdout is None:
        raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard output")
    with replacing(sys.stdout if path == "-" else path) as out:
        if name.endswith(".npz"):
            np.savez_compressed(out, **table)
        else:
            _save_text(table, out, "\t" if name.endswith((".tsv", ".tsv.gz")) else ",")


def _table(answer: Answer) -> dict[str, Any]:
    """Return the columns of the file to write, keyed by name.

    Depending on which field of the answer is set, the columns hold the vertices and their values in
    each result, pairs of vertices and their values, a list of vertices, or a single number.
    """
    if answer.columns:
        first = next(iter(answer.columns.values()))
        table = {"vertex": _name_vertices(first.to_coo(values=False)[0], _labels(first))}
        for name, vector in answer.columns.items():
            named = getattr(vector, "value_labels", None)
            table[name] = _name_vertices(vector.to_coo()[1], named and named.names)
        return table
    if answer.pairs is not None:
        name, pairs = answer.pairs
        rows, columns, values = pairs.to_coo()
        rows_of, columns_of = _labels(pairs) or (None, None)
        return {
            "source": _name_vertices(rows, rows_of),
            "target": _name_vertices(columns, columns_of),
            name: values,
        }
    name, values = answer.listed or _total(answer)
    return {name: np.array(values if isinstance(values, list) else [values])}


def _labels(found: Any) -> Any:
    return getattr(found, "labels", None)


def _name_vertices(vertices: Any, labels: Any) -> Any:
    """Return the names of the vertices, or their numbers if they have no names."""
    if labels is None or isinstance(labels, range):
        return vertices
    return np.array([str(name) for name in labels])[vertices]


def _total(answer: Answer) -> tuple[str, Any]:
    if answer.total is None:
        raise InvalidValue("--output is given, but the result has nothing to save")
    return answer.total


def _save_text(table: dict[str, Any], out: IO[bytes], separator: str) -> None:
    out.write((separator.join(table) + "\n").encode())
    columns = [_quote(column, separator) for column in table.values()]
    for first in range(0, columns[0].size, _ROWS_PER_WRITE):
        part = slice(first, first + _ROWS_PER_WRITE)
        out.write(lines_of([column[part] for column in columns], separator))


def _quote(column: Any, separator: str) -> Any:
    """Return strings as CSV fields: a field with a separator or a quotation mark is quoted.

    A column of numbers is returned unchanged.
    """
    if column.dtype.kind != "U":
        return column
    special = (separator, '"')
    return np.array(
        [
            '"' + text.replace('"', '""') + '"' if any(mark in text for mark in special) else text
            for text in column.tolist()
        ]
    )


def _save_matrix(answer: Answer, path: str) -> None:
    """Save the answer as a matrix in a Matrix Market file.

    If the answer has pairs of vertices, the matrix has an entry for each pair. Otherwise, it has a
    row for each vertex and a column for each result.
    """
    if answer.pairs is not None:
        io.mmwrite(path, answer.pairs[1], comment=answer.pairs[0])
        return
    if not answer.columns:
        (name, values) = next(iter(_table(answer).items()))
        if values.dtype.kind == "U":
            raise InvalidValue(
                f"--output is {path}, but a .mtx file cannot hold names; use .csv or .npz"
            )
        rows, columns = np.arange(values.size), np.zeros(values.size, int)
        A = Matrix.from_coo(rows, columns, values, nrows=values.size, ncols=1)
        io.mmwrite(path, A, comment=name)
        return
    entries = [vector.to_coo() for vector in answer.columns.values()]
    rows = np.concatenate([vertices for vertices, _ in entries])
    columns = np.repeat(np.arange(len(entries)), [vertices.size for vertices, _ in entries])
    values = np.concatenate([values for _, values in entries])
    n = next(iter(answer.columns.values())).size
    A = Matrix.from_coo(rows, columns, values, nrows=n, ncols=len(entries))
    io.mmwrite(path, A, comment="columns: " + ", ".join(answer.columns))
