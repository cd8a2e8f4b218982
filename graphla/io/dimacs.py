"""DIMACS files: graphs for shortest paths (.gr), and for coloring and cliques (.col).

A file for shortest paths has a line `p sp N ARCS`, followed by directed arcs `a FROM TO LENGTH`. A
file for coloring has a line `p edge N EDGES` or `p col N EDGES`, followed by undirected edges
`e U V`; lines `n VERTEX VALUE` are skipped. Lines `c ...` are comments. Vertices are numbered from
1. The file must contain exactly ARCS arcs. The number of edges is not checked, because many
published files count each edge twice.
"""

from __future__ import annotations

import re
from typing import Any, Self

from graphla.io.edgelist import MOST, Form, read_numbers
from graphla.io.files import CountsFromZero, ParseError, TextReader
from graphla.io.table import shorten
from graphla.sparse import Matrix

_KINDS = {"sp": "a", "edge": "e", "col": "e"}


def read_dimacs(source: Any, *, dtype: Any = None, dup_op: Any = None, name: Any = None) -> Matrix:
    """Return the matrix of a DIMACS file: A(u - 1, v - 1) = w for `a u v w`, or true for `e u v`.

    Args:
        source: a path (plain or compressed) or a file object.
        dtype: the dtype of the values; by default BOOL for edges, INT64 for arcs if all lengths are
            integers, and FP64 otherwise.
        dup_op: an operator that combines the lengths of duplicate arcs; without it, a duplicate
            raises ParseError.
        name: the name of the matrix.

    Returns:
        A matrix of N rows and columns, symmetric if the file holds edges.

    Raises:
        ParseError: the file is malformed; the error names the file and the line.

    Examples:
        >>> import io
        >>> from graphla.io import read_dimacs
        >>> read_dimacs(io.StringIO("c roads\\np sp 3 2\\na 1 2 7\\na 2 3 5\\n")).to_dicts()
        {0: {1: 7}, 1: {2: 5}}

    References:
        http://www.diag.uniroma1.it/challenge9/format.shtml
    """
    with _Lines(source) as text:
        kind, n, count = _read_problem(text)
        text.letter = _KINDS[kind]
        is_sp = kind == "sp"
        form = Form(None, None, 3 if is_sp else 2, is_sp, text.line)
        comments = ("c",) if is_sp else ("c", "n")
        options = {"directed": is_sp, "dtype": dtype, "dup_op": dup_op, "name": name}
        try:
            A = read_numbers(text, form, comments, 1, n, **options)
        except CountsFromZero as error:
            raise ParseError(*error.args) from None
        if is_sp and text.count != count:
            raise text.error(f"there are {text.count} arcs, but line {form.skip} announces {count}")
        return A


class _Lines(TextReader):
    """Reads the lines after the problem line, without the letter at the start of each line.

    `count` is the number of lines that began with this letter.
    """

    letter = ""
    count = 0

    def again(self) -> Self:
        self.count = 0
        return super().again()

    def block(self) -> bytes:
        block = super().block()
        if bare := re.search(rb"^[ \t]*[-+.0-9]", block, re.MULTILINE):
            line = self.line - block.count(b"\n", bare.start()) + block.endswith(b"\n")
            raise self.error(f"the line does not start with the letter {self.letter}", line)
        start = rf"^[ \t]*{self.letter}[ \t]+".encode()
        block, found = re.subn(start, b"", block, flags=re.MULTILINE)
        self.count += found
        return block


def _read_problem(text: TextReader) -> tuple[str, int, int]:
    """Read the lines up to and including the problem line.

    Return the kind of the problem, the number of vertices and the number of edges.
    """
    while line := text.readline():
        words = line.decode("latin-1").split()
        if not words or words[0].startswith("c"):
            continue
        expected = "p sp VERTICES ARCS or p edge VERTICES EDGES"
        is_size = len(words) == 4 and all(re.fullmatch("[0-9]{1,18}", word) for word in words[2:])
        if words[0] != "p" or not is_size or words[1] not in _KINDS:
            problem = f"the line is {shorten(' '.join(words))}, but the first should be {expected}"
            raise text.error(problem)
        n, count = int(words[2]), int(words[3])
        if n > MOST:
            raise text.error(f"there are {n} vertices, but should be fewer than 2^31")
        return words[1], n, count
    raise text.error("the file has no line p sp or p edge", max(text.line, 1))
