"""METIS files: a line `VERTICES EDGES [FORMAT [WEIGHTS]]`, then the neighbors of each vertex.

The three digits of FORMAT are flags, with leading zeros omitted. They define the line of a vertex:
the first digit adds the size of the vertex, the second its WEIGHTS weights (1 by default), and the
last a weight after each neighbor. So 1 means edge weights, 10 vertex weights, 11 both, and 100
vertex sizes. The reader skips sizes and weights of vertices. Vertices are numbered from 1, and each
edge is listed at both endpoints. A line that starts with % is a comment. An empty line is a vertex
without neighbors.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphla.io.edgelist import MOST
from graphla.io.entries import assemble, by_rows, has_symmetry
from graphla.io.files import TextReader
from graphla.io.table import shorten
from graphla.sparse import Matrix
from semirings.dtypes import BOOL, INT64, lookup_dtype
from semirings.exceptions import DuplicateEntry


def read_metis(source: Any, *, dtype: Any = None, name: Any = None) -> Matrix:
    """Return the symmetric matrix of a METIS file: A(u - 1, v - 1) is the weight of edge {u, v}.

    Args:
        source: a path (plain or compressed) or a file object.
        dtype: the dtype of the values; by default INT64 if the edges have weights, otherwise BOOL.
        name: the name of the matrix.

    Returns:
        A symmetric Matrix.

    Raises:
        ParseError: the file is malformed; the error names the file and, if known, the line.

    Examples:
        >>> import io
        >>> from graphla.io import read_metis
        >>> read_metis(io.StringIO("3 2\\n2\\n1 3\\n2\\n")).to_dicts()
        {0: {1: True}, 1: {0: True, 2: True}, 2: {1: True}}

    References:
        G. Karypis, METIS manual 5.1.0, section 4.1.1.
    """
    with TextReader(source) as text:
        head = _read_header(text)
        rows, columns, weights = _read_neighbors(text, head)
        entries, loops = columns.size, int(np.count_nonzero(rows == columns))
        if entries not in (2 * head.edges, 2 * head.edges - loops):
            problem = f"there are {entries} neighbors, but {head.edges} edges have {2 * head.edges}"
            raise text.error(problem)
        wanted = lookup_dtype(dtype) if dtype is not None else INT64 if head.is_weighted else BOOL
        values = weights.astype(wanted.np_type) if head.is_weighted else wanted.np_type.type(1)
        try:
            A = assemble(rows, columns, values, wanted, (head.vertices, head.vertices))
        except DuplicateEntry as error:
            u, v = map(int, re.findall(r"\d+", str(error))[:2])
            problem = f"vertex {u + 1} has the neighbor {v + 1} twice"
            raise text.error(problem, None) from None
        kept = by_rows(A)
        if not has_symmetry(kept, "symmetric"):
            problem = "an edge is not listed at both of its ends, or with two weights"
            raise text.error(problem)
        arrays = (kept.indptr, kept.columns, kept.values)
        options: dict[str, Any] = {"ncols": A.ncols, "symmetric": True, "name": name}
        return Matrix.from_csr(*arrays, A.dtype, **options, copy=False)


@dataclass(frozen=True, slots=True)
class _Header:
    vertices: int
    edges: int
    is_weighted: bool  # whether a weight follows each neighbor
    skip: int  # how many numbers precede the first neighbor in the line of a vertex


def _read_header(text: TextReader) -> _Header:
    while (line := text.readline()) and (line.isspace() or line.lstrip().startswith(b"%")):
        pass
    words = line.decode("latin-1").split()
    expected = "VERTICES EDGES [FORMAT [WEIGHTS]]"
    if len(words) not in (2, 3, 4) or not all(re.fullmatch("[0-9]{1,18}", w) for w in words):
        raise text.error(f"the header is {shorten(' '.join(words))}, but should be: {expected}")
    flags = words[2].zfill(3) if len(words) > 2 else "000"
    if len(flags) > 3 or not set(flags) <= {"0", "1"}:
        raise text.error(f"the format is {words[2]}, but should be up to three digits 0 or 1")
    vertices, edges = int(words[0]), int(words[1])
    if vertices > MOST:
        raise text.error(f"there are {vertices} vertices, but should be fewer than 2^31")
    weights = int(words[3]) if len(words) > 3 else int(flags[1])
    if weights and flags[1] == "0":
        raise text.error(f"vertices have {weights} weights, but the format {words[2]} has none")
    return _Header(vertices, edges, flags[2] == "1", int(flags[0]) + weights)


def _read_neighbors(text: TextReader, head: _Header) -> tuple[Any, Any, Any]:
    """Return the vertex, the neighbor (both zero-based) and the weight of each entry."""
    step = 1 + head.is_weighted
    counts, columns, weights = [], [np.empty(0, np.int32)], [np.empty(0, np.int64)]
    while block := text.block():
        line = text.line - block.count(b"\n") + block.endswith(b"\n") - 1
        numbers: list[int] = []
        lines = []  # pairs of a line number and the count of numbers up to the end of this line
        for words in block.removesuffix(b"\n").split(b"\n"):
            line += 1
            if words.lstrip().startswith(b"%"):
                continue
            fields = words.split()
            if len(counts) == head.vertices:
                if fields:
                    raise text.error(f"there are more than {head.vertices} vertices", line)
                continue
            found = fields[head.skip :]
            if len(fields) < head.skip or len(found) % step:
                expected = f"{head.skip} and then " if head.skip else ""
                expected += "pairs of neighbor and weight" if head.is_weighted else "neighbors"
                raise text.error(f"the line has {len(fields)} numbers, not {expected}", line)
            try:
                numbers += map(_integer, fields[head.skip :])
            except ValueError as error:
                raise text.error(f"the line holds {error}, which is not an integer", line) from None
            counts.append(len(found) // step)
            lines.append((line, len(numbers)))
        try:
            pairs = np.array(numbers, np.int64).reshape(-1, step)
        except OverflowError:
            k = next(k for k, number in enumerate(numbers) if abs(number) >= 1 << 63)
            raise text.error(f"{numbers[k]} is beyond 64 bits", _line_of(lines, k)) from None
        ends = pairs[:, 0]
        if (bad := (ends < 1) | (ends > head.vertices)).any():
            k = int(np.argmax(bad))
            problem = f"the neighbor is {ends[k]}, outside of 1 to {head.vertices}"
            raise text.error(problem, _line_of(lines, k * step))
        columns.append((ends - 1).astype(np.int32))
        weights.append(pairs[:, -1])
    # The file may lack empty lines at its end: the last vertices then have no neighbors. The caller
    # checks the total number of neighbors.
    rows = np.repeat(np.arange(len(counts), dtype=np.int32), counts)
    return rows, np.concatenate(columns), np.concatenate(weights)


def _integer(word: bytes) -> int:
    if not re.fullmatch(rb"[+-]?[0-9]+", word):
        raise ValueError(shorten(word.decode("latin-1")))
    return int(word)


def _line_of(lines: list[tuple[int, int]], k: int) -> int:
    """Return the number of the line that contains value k of a block of text.

    For each line, `lines` holds its line number and the number of values up to its end.
    """
    return next(line for line, end in lines if k < end)
