"""Text and HTML for a Matrix or Vector: a header line, and the entries in its upper left corner."""

from __future__ import annotations

from html import escape
from typing import Any

from graphla.expression import Expression

CORNER = 8  # number of rows and columns shown; looking up each entry has a fixed cost


def text(x: Any) -> str:
    """Return a headline like `Matrix 3 x 4, FP64, 2 entries`, and below it the first entries of x.

    The entries are those in the upper left corner. If x is an expression that has not been
    computed, return a description of its operation instead.
    """
    if isinstance(x, Expression) and not x._is_computed:
        return x._described()
    head, cells = _headline(x), _cells(x)
    if not cells:
        return head
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = (
        "  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    )
    return "\n".join([head, *("  " + line for line in lines)])


def html(x: Any, title: str | None = None) -> str:
    """Return an HTML table for a notebook, with `title` or the first line of `text` as headline."""
    if isinstance(x, Expression) and not x._is_computed:
        return f"<div>{escape(x._described())}</div>"
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in _cells(x)
    )
    return f"<div>{escape(title or _headline(x))}<table>{body}</table></div>"


def _headline(x: Any) -> str:
    nvals = x.nvals
    entries = "1 entry" if nvals == 1 else f"{nvals} entries"
    name = f" {x._name!r}" if getattr(x, "_name", None) else ""
    size = f"size {x.size}" if x.ndim == 1 else f"{x.nrows} x {x.ncols}"
    place = "" if x.device == "cpu" else f", on {x.device}"
    return f"{type(x).__name__}{name} {size}, {x.dtype}, {entries}{place}"


def _cells(x: Any) -> list[list[str]]:
    if x.device != "cpu":
        x = _corner(x)
    return _vector_cells(x) if x.ndim == 1 else _matrix_cells(x)


def _corner(x: Any) -> Any:
    """Copy the part of x that is displayed, its upper left corner, to the host."""
    shown = x[tuple(slice(0, CORNER) for _ in x.shape) if x.ndim == 2 else slice(0, CORNER)]
    return _Shown(shown.new().to("cpu"), x)


class _Shown:
    """The displayed upper left corner of a Matrix or Vector."""

    def __init__(self, corner: Any, whole: Any) -> None:
        self.get, self.ndim, self.shape = corner.get, corner.ndim, whole.shape
        self.size = self.nrows = whole.shape[0]
        self.ncols = whole.shape[-1]
        self.axis_labels = getattr(whole, "axis_labels", None)
        self.value_labels = getattr(whole, "value_labels", None)


def _vector_cells(v: Any) -> list[list[str]]:
    shown = min(v.size, CORNER)
    if not shown:
        return []
    more = [".."] if v.size > shown else []
    head = [str(label) for label in _labels(v)[0][:shown]]
    return [head + more, [_cell(v, v.get(i)) for i in range(shown)] + more]


def _matrix_cells(a: Any) -> list[list[str]]:
    rows, columns = min(a.nrows, CORNER), min(a.ncols, CORNER)
    if not rows or not columns:
        return []
    right = [".."] if a.ncols > columns else []
    row_labels, column_labels = _labels(a)
    lines = [["", *(str(label) for label in column_labels[:columns]), *right]]
    for i in range(rows):
        lines.append([str(row_labels[i]), *(_cell(a, a.get(i, j)) for j in range(columns)), *right])
    if a.nrows > rows:
        lines.append([".."] * len(lines[0]))
    return lines


def _labels(x: Any) -> tuple[Any, ...]:
    """Return the labels of each dimension, or the indices if there are none."""
    axes = getattr(x, "axis_labels", None)
    return tuple(map(range, x.shape)) if axes is None else tuple(axis.names for axis in axes)


def _cell(x: Any, value: Any) -> str:
    """Return the text for one value of x; a vertex of a Graph is shown by its label."""
    if value is None:
        return ""
    labels = getattr(x, "value_labels", None)
    if labels is not None:
        return str(labels.of([value])[0])
    return f"{value:.6g}" if isinstance(value, float) else str(value)
