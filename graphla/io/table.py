"""Parse text files with columns of numbers; an error names the first invalid line."""

from __future__ import annotations

import io
import re
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphla.io.files import NumberOutOfRange, ParseError, TextReader

NumberRows = Any  # a NumPy structured array with one field per column
LineOf = Callable[[int], int]


@dataclass(frozen=True, slots=True)
class _Layout:
    dtype: np.dtype[Any]
    separator: str | None = None  # None means any white space
    columns: tuple[int, ...] | None = None

    def fields(self, line: str) -> list[str]:
        """Return the fields of the line at the positions in `columns`, which must all exist."""
        found = line.split(self.separator)
        return found if self.columns is None else [found[column] for column in self.columns]

    def lacks_fields(self, line: str) -> str:
        """Return an error message if the line has the wrong number of fields, otherwise ""."""
        count, names = len(line.split(self.separator)), self.dtype.names or ()
        needed = len(names) if self.columns is None else max(self.columns) + 1
        if count == needed or (self.columns is not None and count > needed):
            return ""
        return f"{count} fields where {needed} are expected ({', '.join(names)})"


def number_rows(
    text: TextReader,
    dtype: np.dtype,
    *,
    separator: str | None = None,
    comments: tuple[str, ...] = ("%",),
    columns: tuple[int, ...] | None = None,
) -> Iterator[tuple[NumberRows, LineOf]]:
    """Yield blocks of rows of `dtype`, each with a function that maps a row to its line number.

    Each line consists of exactly the fields of `dtype`. If `columns` is given, the fields are at
    these positions, and other fields are ignored. Blank lines and lines that start with one of
    `comments` are skipped. NumPy's `loadtxt` parses the numbers; it rejects fields with other text.
    """
    layout = _Layout(dtype, separator, columns)
    comment = comment_lines(comments)
    while block := text.block():
        first_line = text.line - block.count(b"\n") + block.endswith(b"\n")
        if any(mark.encode() in block for mark in comments) or (separator and b"\n " in block):
            block = comment.sub(b"", block)

        def line_of(k: int, block: bytes = block, first_line: int = first_line) -> int:
            return first_line + _line_index(block, k)

        try:
            part = _parse(block, layout)
        except ValueError:
            raise _first_error(block, first_line, layout, text.name) from None
        _refuse_overflow(part, block, line_of, layout, text)
        if part.size:
            yield part, line_of


def comment_lines(comments: tuple[str, ...]) -> re.Pattern[bytes]:
    """Return a pattern that matches the text of comment lines and blank lines.

    The pattern does not match the end of such a line, so removing the text does not change the
    numbering of the lines.
    """
    marks = "|".join(re.escape(mark) for mark in comments) or "(?!)"
    return re.compile(rf"^[ \t]*(?:(?:{marks})[^\n]*|[ \t]\r?$)".encode(), re.MULTILINE)


def line_of_row(text: TextReader, k: int, after: int, comments: tuple[str, ...]) -> int:
    """Read the file again, and return the line number of row k.

    Only the lines after line `after` are counted. Blank lines and comment lines are not rows.
    """
    comment = comment_lines(comments)
    text.again()
    while line := text.readline():
        if text.line > after and not line.isspace() and not comment.match(line):
            if k == 0:
                return text.line
            k -= 1
    return text.line


def lines_of(columns: Sequence[Any], separator: str, precision: int | None = None) -> bytes:
    """Return the text of a table, with one line per row.

    A float is written with `precision` digits, or, if `precision` is None, with the fewest digits
    from which it can be restored.
    """
    texts = [_texts(column, precision) for column in columns]
    lines = [separator.join(fields) for fields in zip(*texts, strict=True)]
    return ("\n".join(lines) + "\n").encode() if lines else b""


def _texts(column: Any, precision: int | None) -> list[str]:
    if column.dtype == bool:
        column = column.view(np.uint8) if column.strides[0] else column.astype(np.uint8)
    if column.dtype.kind == "f" and precision is not None:
        return [f"{value:.{precision}g}" for value in column.tolist()]
    if column.dtype == np.float32:
        # `tolist` alone would convert the values to float64, whose text has more digits.
        return column.astype("U16").tolist()
    return list(map(repr, column.tolist())) if column.dtype.kind in "iuf" else column.tolist()


def _parse(block: bytes, layout: _Layout) -> NumberRows:
    if not block or block.isspace():
        return np.empty(0, layout.dtype)
    with warnings.catch_warnings():
        # Older NumPy versions only warn if an integer has a decimal point.
        warnings.simplefilter("error")
        try:
            return np.loadtxt(
                io.BytesIO(block),
                layout.dtype,
                comments=None,
                delimiter=layout.separator,
                usecols=layout.columns,
                encoding="latin-1",
                ndmin=1,
            )
        except Warning as warning:
            raise ValueError(str(warning)) from None


def _first_error(block: bytes, first_line: int, layout: _Layout, file: str) -> ParseError:
    lines, start = block.split(b"\n"), 0
    while len(lines) > 1:
        half = len(lines) // 2
        if _parses(b"\n".join(lines[:half]), layout):
            lines, start = lines[half:], start + half
        else:
            lines = lines[:half]
    return _explain(lines[0].decode("latin-1"), first_line + start, layout, file)


def _parses(block: bytes, layout: _Layout) -> bool:
    try:
        _parse(block, layout)
    except ValueError:
        return False
    return True


def _explain(line: str, number: int, layout: _Layout, file: str) -> ParseError:
    if lack := layout.lacks_fields(line):
        return ParseError(f"{shorten(line)} has {lack}", file, number)
    fields, names = layout.fields(line), layout.dtype.names or ()
    good = [
        _is_number(field, layout.dtype[name]) for field, name in zip(fields, names, strict=True)
    ]
    k = good.index(False) if False in good else -1
    field, name, kind = fields[k], names[k], layout.dtype[names[k]]
    if kind.kind == "f":
        return ParseError(f"{name} is {shorten(field)}, which is not a number", file, number)
    if not re.fullmatch(r"[+-]?[0-9]+", field.strip(), re.ASCII):
        return ParseError(f"{name} is {shorten(field)}, which is not an integer", file, number)
    bounds = np.iinfo(kind)
    problem = f"{name} is {shorten(field)}, outside {kind} ({bounds.min} to {bounds.max})"
    return NumberOutOfRange(problem, file, number)


def _is_number(field: str, kind: np.dtype[Any]) -> bool:
    one = _Layout(np.dtype([("number", kind)]))
    return bool(field.strip()) and _parses(field.encode("latin-1"), one)


def shorten(text: str) -> str:
    """Return the text in quotes, shortened if necessary."""
    text = text.strip()
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _line_index(block: bytes, k: int) -> int:
    for index, line in enumerate(block.split(b"\n")):
        if line and not line.isspace():
            if k == 0:
                return index
            k -= 1
    raise IndexError(k)


def _refuse_overflow(
    part: NumberRows, block: bytes, line_of: LineOf, layout: _Layout, text: TextReader
) -> None:
    """Raise an error for a number such as 1e999, which must not be read as infinity."""
    floats = [name for name in part.dtype.names if part.dtype[name].kind == "f"]
    found = {name: np.isinf(part[name]) for name in floats}
    count = sum(int(np.count_nonzero(mask)) for mask in found.values())
    if not count or count == block.lower().count(b"inf"):
        return
    lines = [line for line in block.split(b"\n") if line and not line.isspace()]
    for name, mask in found.items():
        column = part.dtype.names.index(name)
        for k in np.flatnonzero(mask).tolist():
            field = layout.fields(lines[k].decode("latin-1"))[column]
            if "inf" not in field.lower():
                problem = f"{name} is {shorten(field)}, too large for {part.dtype[name]}"
                raise NumberOutOfRange(problem, text.name, line_of(k))
