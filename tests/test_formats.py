"""Formats that graphla reads: DIMACS, METIS, tables, and those of NetworkX."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracle import Table
from strategies import same, symmetric, tables

import graphla as gl
from graphla import io as gio
from graphla.io import ParseError
from graphla.io import files as io_files

pytestmark = pytest.mark.cpu

SQUARE = st.integers(0, 6).map(lambda n: (n, n))
COMMENTS = st.lists(st.sampled_from(["", "c", "c a b 1", " c 3"]), max_size=3)


def by_lines(read: Any, lines: list[str], **options: Any) -> gl.Matrix:
    return read(io.StringIO("\n".join(lines) + "\n"), **options)


# --- DIMACS ---------------------------------------------------------------------------------------
@given(tables(SQUARE, np.dtype(np.int64)), COMMENTS, st.sampled_from([10, 1 << 20]))
def test_a_dimacs_graph_of_arcs_has_each_arc_with_its_length(table: Table, comments, block):
    n = table.shape[0]
    lines = [f"a {u + 1} {v + 1} {w}" for (u, v), w in table.entries.items()]
    problem = f"p sp {n} {len(lines)}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(io_files, "BLOCK", block)
        A = by_lines(gio.read_dimacs, [*comments, problem, *comments, *lines, *comments])
    same(A, table)


@given(symmetric(np.dtype(np.int64)), st.sampled_from(["edge", "col"]), st.booleans())
def test_a_dimacs_graph_of_edges_has_each_edge_both_ways(table: Table, kind, is_twice):
    n = table.shape[0]
    lines = [f"e {u + 1} {v + 1}" for u, v in table.entries if is_twice or u <= v]
    lines = [f"n {v + 1} 3" for v in range(n)] + lines
    A = by_lines(gio.read_dimacs, ["c graph", f"p {kind} {n} 999", *lines])
    assert A.dtype == "BOOL" and A.shape == (n, n)
    assert A.to_dict() == dict.fromkeys(table.entries, True)
    assert A._forms.is_symmetric


def test_dimacs_takes_real_lengths_and_joins_arcs_listed_twice():
    lines = ["p sp 2 2", "a 1 2 1.5", "a 1 2 0.5"]
    assert by_lines(gio.read_dimacs, lines, dup_op="min").to_dicts() == {0: {1: 0.5}}
    assert by_lines(gio.read_dimacs, [*lines[:2], "a 2 1 3"], dtype="FP32").dtype == "FP32"


@pytest.mark.parametrize(
    ("written", "line", "problem"),
    [
        ("", 1, "no line p sp or p edge"),
        ("c only\n", 1, "no line p sp or p edge"),
        ("a 1 2 3\n", 1, "the first should be p sp VERTICES ARCS or"),
        ("p cnf 3 1\n", 1, "'p cnf 3 1', but"),
        ("p sp 3 x\n", 1, "'p sp 3 x', but"),
        ("p sp 4294967296 1\n", 1, "fewer than 2^31"),
        ("p sp 3 1\na 1 2\n", 2, "has 2 fields where 3"),
        ("p sp 3 1\nc\n1 2 3\n", 3, "does not start with the letter a"),
        ("p sp 3 1\na 1 2 4\n2 3 4", 3, "does not start with the letter a"),
        ("p sp 3 1\na 0 2 3\n", 2, "the source is 0, outside of 1 to 3"),
        ("p edge 3 1\nc\ne 1 4\n", 3, "the target is 4, outside of 1 to 3"),
        ("p sp 3 1\ne 1 2 3\n", 2, "4 fields where 3"),
        ("p sp 3 2\na 1 2 3\n", 2, "there are 1 arcs, but line 1 announces 2"),
        ("p sp 3 2\na 1 2 3\nc\na 1 2 4\n", 4, "listed before"),
        ("p sp 3 1\na 1 2 far\n", 2, "weight is 'far'"),
    ],
)
def test_the_line_of_a_dimacs_file_that_is_wrong_is_named(written, line, problem):
    with pytest.raises(ParseError) as caught:
        gio.read_dimacs(io.StringIO(written))
    assert problem in str(caught.value)
    assert caught.value.line == line
    assert "base" not in str(caught.value)


# --- METIS ----------------------------------------------------------------------------------------
@st.composite
def metis_files(draw: st.DrawFn) -> tuple[list[str], Table, bool]:
    """The lines of a METIS file, the graph, and whether its edges have weights."""
    table = draw(symmetric(np.dtype(np.int64)))
    n = table.shape[0]
    entries = {place: w for place, w in table.entries.items() if place[0] != place[1]}
    has_sizes, ncon, is_weighted = draw(st.booleans()), draw(st.integers(0, 2)), draw(st.booleans())
    form = f"{int(has_sizes)}{int(ncon > 0)}{int(is_weighted)}".lstrip("0")
    header = f"{n} {len(entries) // 2} {form or '0' * bool(ncon > 1)}"
    header += f" {ncon}" if ncon > 1 or (ncon and draw(st.booleans())) else ""
    lines = [draw(st.sampled_from(["% comment", "%"])), header]
    for row in range(n):
        fields = [7] * (has_sizes + ncon)
        for (u, v), w in sorted(entries.items()):
            if u == row:
                fields += [v + 1, w] if is_weighted else [v + 1]
        lines += draw(st.sampled_from([[], ["% between"]]))
        lines.append(" ".join(map(str, fields)))
    return lines, Table(table.shape, table.dtype, entries), is_weighted


@given(metis_files(), st.sampled_from([10, 1 << 20]))
def test_a_metis_graph_has_each_edge_both_ways_with_its_weight(file, block):
    lines, table, is_weighted = file
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(io_files, "BLOCK", block)
        A = by_lines(gio.read_metis, lines)
    if is_weighted:
        same(A, table)
    else:
        assert A.dtype == "BOOL" and A.shape == table.shape
        assert A.to_dict() == dict.fromkeys(table.entries, True)
    assert A._forms.is_symmetric


@pytest.mark.parametrize(
    ("written", "line", "problem"),
    [
        ("", 0, "the header is ''"),
        ("3\n", 1, "the header is '3', but should be: VERTICES EDGES"),
        ("3 1 2\n", 1, "the format is 2"),
        ("3 1 1 2\n", 1, "vertices have 2 weights, but the format 1 has none"),
        ("99999999999 1\n", 1, "fewer than 2^31"),
        ("2 1\n2\n3\n", 3, "the neighbor is 3, outside of 1 to 2"),
        ("2 1\n%\n0\n1\n", 3, "the neighbor is 0, outside of 1 to 2"),
        ("2 1\n2\nx\n", 3, "holds 'x', which is not an integer"),
        ("2 1 1\n2 5\n1\n", 3, "the line has 1 numbers, not pairs"),
        ("2 1 10\n3 2\n\n", 3, "the line has 0 numbers, not 1 and then neighbors"),
        ("2 1\n2\n1\n1\n", 4, "more than 2 vertices"),
        ("2 2\n2\n1\n", 3, "there are 2 neighbors, but 2 edges have 4"),
        ("3 1\n2\n\n2\n", 4, "not listed at both of its ends"),
        ("2 1 1\n2 5\n1 6\n", 3, "with two weights"),
        ("2 1 1\n2 99999999999999999999\n1 6\n", 2, "beyond 64 bits"),
        ("2 2 1\n2 5 2 5\n1 5 1 5\n", None, "vertex 1 has the neighbor 2 twice"),
    ],
)
def test_the_line_of_a_metis_file_that_is_wrong_is_named(written, line, problem):
    with pytest.raises(ParseError) as caught:
        gio.read_metis(io.StringIO(written))
    assert problem in str(caught.value)
    assert caught.value.line in (line, 3 if line is None else line)


def test_metis_counts_neighbors_where_empty_lines_at_the_end_are_lost():
    assert by_lines(gio.read_metis, ["4 1", "2", "1"]).to_dict() == {(0, 1): True, (1, 0): True}
