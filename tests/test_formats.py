"""Test DIMACS and METIS files, edge tables, and the formats that NetworkX reads."""

from __future__ import annotations

import doctest
import gzip
import io
import json
import sys
from importlib import import_module
from typing import Any

import networkx as nx
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
def test_reading_a_dimacs_file_with_arcs_gives_each_arc_with_its_length(
    table: Table, comments, block
):
    n = table.shape[0]
    lines = [f"a {u + 1} {v + 1} {w}" for (u, v), w in table.entries.items()]
    problem = f"p sp {n} {len(lines)}"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(io_files, "BLOCK", block)
        A = by_lines(gio.read_dimacs, [*comments, problem, *comments, *lines, *comments])
    same(A, table)


@given(symmetric(np.dtype(np.int64)), st.sampled_from(["edge", "col"]), st.booleans())
def test_reading_a_dimacs_file_with_edges_gives_each_edge_in_both_directions(
    table: Table, kind, is_twice
):
    n = table.shape[0]
    lines = [f"e {u + 1} {v + 1}" for u, v in table.entries if is_twice or u <= v]
    lines = [f"n {v + 1} 3" for v in range(n)] + lines
    A = by_lines(gio.read_dimacs, ["c graph", f"p {kind} {n} 999", *lines])
    assert A.dtype == "BOOL" and A.shape == (n, n)
    assert A.to_dict() == dict.fromkeys(table.entries, True)
    assert A._store.is_symmetric


def test_a_dimacs_file_may_have_floating_point_lengths_and_duplicate_arcs():
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
def test_the_error_about_an_invalid_dimacs_file_names_the_line(written, line, problem):
    with pytest.raises(ParseError) as caught:
        gio.read_dimacs(io.StringIO(written))
    assert problem in str(caught.value)
    assert caught.value.line == line
    assert "base" not in str(caught.value)


# --- METIS ----------------------------------------------------------------------------------------
@st.composite
def metis_files(draw: st.DrawFn) -> tuple[list[str], Table, bool]:
    """Draw the lines of a METIS file, its graph, and whether its edges have weights."""
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
def test_reading_a_metis_file_gives_each_edge_in_both_directions_with_its_weight(file, block):
    lines, table, is_weighted = file
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(io_files, "BLOCK", block)
        A = by_lines(gio.read_metis, lines)
    if is_weighted:
        same(A, table)
    else:
        assert A.dtype == "BOOL" and A.shape == table.shape
        assert A.to_dict() == dict.fromkeys(table.entries, True)
    assert A._store.is_symmetric


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
def test_the_error_about_an_invalid_metis_file_names_the_line(written, line, problem):
    with pytest.raises(ParseError) as caught:
        gio.read_metis(io.StringIO(written))
    assert problem in str(caught.value)
    assert caught.value.line in (line, 3 if line is None else line)


def test_a_metis_file_may_omit_the_empty_lines_at_its_end():
    assert by_lines(gio.read_metis, ["4 1", "2", "1"]).to_dict() == {(0, 1): True, (1, 0): True}


# --- tests of formats that NetworkX reads ---------------------------------------------------------
def node_link(G: nx.Graph, key: str) -> dict[str, Any]:
    return {
        "directed": G.is_directed(),
        "multigraph": G.is_multigraph(),
        "nodes": [{"id": node} for node in G],
        key: [{"source": u, "target": v, **data} for u, v, data in G.edges(data=True)],
    }


def write_networkx(G: nx.Graph, format: str) -> bytes:
    """Return the bytes of a file that stores the graph G in a format.

    NetworkX writes all formats except JSON, which this function writes itself.
    """
    if format == "json":
        return json.dumps(node_link(G, "links")).encode()
    file = io.BytesIO()
    getattr(nx, f"write_{format}")(G, file)
    return file.getvalue()


NETWORKX = ["graphml", "gexf", "gml", "json"]


@st.composite
def named_graphs(draw: st.DrawFn) -> nx.Graph:
    """Draw NetworkX graphs with named nodes, with or without weights, without parallel edges."""
    G = draw(st.sampled_from([nx.Graph, nx.DiGraph]))()
    nodes = draw(st.lists(st.sampled_from(["ann", "bob", "a b", "Čeněk", "x,y", "7"]), unique=True))
    G.add_nodes_from(nodes)
    weights = draw(st.sampled_from([st.none(), st.integers(-3, 9), st.sampled_from([0.5, 2.5])]))
    if nodes:
        for _ in range(draw(st.integers(0, 8))):
            u, v = draw(st.sampled_from(nodes)), draw(st.sampled_from(nodes))
            weight = draw(weights)
            G.add_edge(u, v, **({} if weight is None else {"weight": weight}))
    return G


@given(named_graphs(), st.sampled_from(NETWORKX))
def test_a_file_written_by_networkx_keeps_its_edges_and_uses_its_nodes_as_labels(G, format):
    file = io.BytesIO(write_networkx(G, format))
    A, labels = gio.read_labelled(file, format=format)
    assert labels == list(G)
    expected = {(u, v): d.get("weight", 1) for u, v, d in G.to_directed().edges(data=True)}
    assert {(labels[i], labels[j]): w for (i, j), w in A.to_dict().items()} == expected
    assert A.nrows == len(G)
    assert A._store.is_symmetric or G.is_directed()
    file.seek(0)
    found = gl.Graph.read(file, format=format)
    assert found.labels == tuple(labels) or not found.has_names
    assert found.matrix.isequal(A)
    file.seek(0)
    assert gio.read(file, format=format, weight=None).to_dict() == dict.fromkeys(A.to_dict(), 1)


@pytest.mark.parametrize("format", NETWORKX)
def test_parallel_edges_in_a_file_are_rejected_unless_they_are_combined(format, tmp_path):
    G = nx.MultiGraph([("a", "b", {"weight": 3}), ("a", "b", {"weight": 5})])
    path = tmp_path / f"a.{format}.gz"
    path.write_bytes(gzip.compress(write_networkx(G, format)))
    with pytest.raises(ParseError, match=r"parallel edges.*dup_op"):
        gio.read(path)
    assert gio.read(path, dup_op="min").to_dict() == {(0, 1): 3, (1, 0): 3}
    assert gl.Graph.read(path, dup_op="plus").matrix.to_dict() == {(0, 1): 8, (1, 0): 8}


@pytest.mark.parametrize(
    ("format", "written", "line"),
    [
        ("graphml", "", 1),
        ("graphml", "<graphml>\n<graph></a>\n", 2),
        ("graphml", "<html/>", None),
        ("gexf", "<gexf>\n</graph>", 2),
        ("gexf", "<gexf/>", None),
        ("gml", "graph [", None),
        ("gml", "0 1\n", None),
        ("json", "", 1),
        ("json", '{"nodes": [],\n"links": [}', 2),
        ("json", "[1]", None),
        ("json", '{"nodes": [{"id": 1}], "links": [{"source": 1}]}', None),
        ("json", '{"nodes": 3, "links": []}', None),
    ],
)
def test_the_error_about_a_file_that_networkx_cannot_read_names_the_file(
    format, written, line, tmp_path
):
    path = tmp_path / f"a.{format}"
    path.write_text(written)
    with pytest.raises(ParseError, match=f"this is not a {format} file of a graph") as caught:
        gio.read(path)
    assert (caught.value.file, caught.value.line) == (str(path), line)


def test_weights_in_a_file_must_be_numbers(tmp_path):
    G = nx.Graph([("a", "b", {"weight": "much", "cost": 2})])
    path = tmp_path / "a.graphml"
    path.write_bytes(write_networkx(G, "graphml"))
    with pytest.raises(gl.exceptions.DomainMismatch, match=r"a.graphml: weight of edge .*'much'"):
        gl.Graph.read(path)
    assert gl.Graph.read(path, weight="cost").matrix.to_dict() == {(0, 1): 2, (1, 0): 2}


def test_gml_without_node_labels_and_json_with_an_edges_key_can_be_read():
    file = io.StringIO("graph [\nnode [ id 4 ]\nnode [ id 7 ]\nedge [ source 4 target 7 ]\n]\n")
    assert gio.read_labelled(file, format="gml")[1] == [4, 7]
    written = json.dumps(node_link(nx.path_graph(3), "edges"))
    assert gio.read(io.StringIO(written), format="json").nvals == 4


@pytest.mark.parametrize(
    ("name", "package", "extra"),
    [
        ("a.graphml", "networkx", "networkx"),
        ("a.json", "networkx", "networkx"),
        ("a.parquet", "pyarrow", "tables"),
        ("a.feather", "pyarrow", "tables"),
    ],
)
def test_the_error_about_a_missing_package_explains_how_to_install_the_package(
    name, package, extra, monkeypatch
):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(gio.PackageMissing, match=rf"needs {package}: pip .*graphla\[{extra}\]"):
        gl.Graph.read(name)


# --- tables ---------------------------------------------------------------------------------------
def table_file(columns: dict[str, Any], format: str) -> io.BytesIO:
    """Return a Parquet or Feather file with these columns."""
    pa = pytest.importorskip("pyarrow")
    file = io.BytesIO()
    with pytest.MonkeyPatch.context() as patch:  # pyarrow warns if pandas is old
        patch.delenv("PYTHONWARNINGS", raising=False)
        table = pa.table(columns)
        if format == "parquet":
            from pyarrow import parquet

            parquet.write_table(table, file, row_group_size=2)
        else:
            from pyarrow import feather

            feather.write_feather(table, file, chunksize=2)
    file.seek(0)
    return file


TABLES = ["parquet", "feather"]


@given(tables(SQUARE), st.sampled_from(TABLES), st.booleans(), st.integers(0, 1))
def test_an_edge_table_round_trip_keeps_every_entry(table: Table, format, is_extended, base):
    u = np.array([u + base for u, _ in table.entries], np.int64)
    v = np.array([v + base for _, v in table.entries], np.uint32)
    columns: dict[str, Any] = {
        "src": u,
        "dst": v,
        "Cost": np.array([*table.entries.values()], table.dtype),
    }
    if is_extended:
        columns = {"id": u[::-1], "note": [str(k) for k in u], **columns}
    n = table.shape[0]
    same(gio.read(table_file(columns, format), format=format, n=n, base=base), table)
    chosen = [*columns][-3:-1]
    file = table_file(columns, format)
    A = gio.read(file, format=format, n=n, base=base, columns=chosen, dtype="INT8")
    assert A.dtype == "INT8" and A.to_dict() == dict.fromkeys(table.entries, 1)


@given(
    st.lists(st.tuples(*[st.sampled_from(["ann", "bob", "x,y", "eve"])] * 2), unique=True),
    st.sampled_from(TABLES),
    st.booleans(),
)
def test_the_labels_of_an_edge_table_are_numbered_in_order_of_appearance(
    pairs, format, are_numbers
):
    known: dict[Any, Any] = {"ann": 10**12, "bob": -7, "x,y": 3, "eve": 2**63 - 1}
    pairs = [(known[u], known[v]) for u, v in pairs] if are_numbers else pairs
    kind = np.int64 if are_numbers else np.str_
    u, v = (np.array([pair[k] for pair in pairs], kind) for k in (0, 1))
    file = table_file({"a": u, "b": v}, format)
    A, labels = gio.read_labelled(file, format=format)
    assert labels == list(dict.fromkeys(end for pair in pairs for end in pair))
    assert {(labels[i], labels[j]) for i, j in A.to_dict()} == set(pairs)
    file.seek(0)
    G = gl.Graph.read(file, format=format, named=True, directed=True)
    assert (G.nedges, G.directed) == (len(pairs), True)


def test_an_edge_table_may_be_undirected_and_may_contain_categories():
    pa = pytest.importorskip("pyarrow")
    names = pa.array(["a", "b", "a"]).dictionary_encode()
    file = table_file({"from": names, "to": pa.array(["b", "c", "c"])}, "parquet")
    G = gl.Graph.read(file, format="parquet", named=True, directed=False)
    assert (G.labels, G.nedges, G.directed) == (("a", "b", "c"), 3, False)


@pytest.mark.parametrize(
    ("columns", "options", "problem"),
    [
        ({"a": ["x"], "b": ["y"]}, {}, "the source is of type string, but indices .*named=True"),
        ({"a": [1.5], "b": [2]}, {}, "the source is of type double"),
        ({"a": [1], "b": [2**40]}, {}, "the target in row 0 is 1099511627776, .*named=True"),
        (
            {"a": [1], "b": [2**31 - 2]},
            {},
            "a vertex is 2147483646, but the file has 1 edge.*named",
        ),
        ({"a": [0, 1], "b": [1, -1]}, {}, "the target in row 1 is -1"),
        ({"a": [0, 3], "b": [1, 1]}, {"n": 3}, "the source in row 1 is 3, outside.*base=1"),
        ({"a": [0, None], "b": [1, 2]}, {}, "column a has no value in row 1"),
        ({"a": [0], "b": [1], "c": ["x"]}, {}, "the weights are of type string"),
        ({"a": [0], "b": [1], "c": [1], "d": [2]}, {}, "columns are a, b, c, d; `columns` says"),
        ({"a": [0]}, {}, "the columns are a;"),
        ({"a": [0], "b": [1]}, {"columns": ("a", "z")}, "columns has 'z', but"),
        ({"a": [0], "b": [1]}, {"columns": (0, 2)}, "columns has 2, but"),
        ({"a": [0], "b": [1]}, {"columns": "ab"}, "columns is 'ab'"),
        ({"a": [0, 0], "b": [1, 1], "c": [2, 3]}, {}, "row 1 lists an edge again.*dup_op"),
        ({"a": [0], "b": [1], "c": [300]}, {"dtype": "INT8"}, "the weight in row 0 is 300"),
        ({"a": [0], "b": [1]}, {"base": 2}, "base is 2"),
    ],
)
@pytest.mark.parametrize("format", TABLES)
def test_the_error_about_an_invalid_edge_table_states_the_problem_and_its_location(
    columns, options, problem, format
):
    file = table_file(columns, format)
    with pytest.raises(gl.exceptions.InvalidValue, match=problem):
        gio.read(file, format=format, **options)


def test_the_labels_of_an_edge_table_must_have_one_type():
    with pytest.raises(ParseError, match="type string and int64, but labels are texts or integers"):
        gio.read_labelled(table_file({"a": ["x"], "b": [1]}, "parquet"), format="parquet")


@pytest.mark.parametrize("format", TABLES)
@pytest.mark.parametrize("data", [b"", b"0 1\n", b"PAR1", b"ARROW1\0\0"])
def test_the_error_about_a_file_that_is_not_a_table_names_the_file(data, format, tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / f"a.{format}"
    path.write_bytes(data)
    with pytest.raises(ParseError, match=f"this is not a {format} file") as caught:
        gio.read(path)
    assert caught.value.file == str(path)
    with pytest.raises(FileNotFoundError) as missing:
        gio.read(tmp_path / f"missing.{format}")
    assert missing.value.filename == str(tmp_path / f"missing.{format}")


# --- examples -------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    "name", ["by_extension", "dimacs", "edge_table", "metis", "networkx_files"]
)
def test_the_docstring_example_of_each_reader_prints_the_shown_output(name):
    if name == "edge_table":
        pytest.importorskip("pyarrow")
    found = doctest.testmod(import_module(f"graphla.io.{name}"))
    assert found.attempted > 0 and found.failed == 0


# --- choosing formats -----------------------------------------------------------------------------
def test_the_format_argument_overrides_the_file_extension(tmp_path):
    A = gl.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.5, 2.5, -1.0])
    for format in ("edgelist", "csv", "tsv", "txt", "mtx", "npz", ".npz"):
        gio.write(tmp_path / "data.bin", A, format=format)
        assert gio.read(tmp_path / "data.bin", format=format).isequal(A)
        with (tmp_path / "data.bin").open("rb") as file:
            assert gl.Graph.read(file, format=format).matrix.isequal(A)
    gio.write(tmp_path / "data.bin", A, format="csv")
    assert (tmp_path / "data.bin").read_text().startswith("source,target,weight\n0,1,1.5\n")
    for use in (lambda: gio.read("a.mtx", format="xls"), lambda: gio.write("a", A, format="xls")):
        with pytest.raises(
            gl.exceptions.InvalidValue, match="format is 'xls', but should be one of"
        ):
            use()
    with pytest.raises(gl.exceptions.InvalidValue, match=r"'<file object>'.*: pass format="):
        gio.read(io.BytesIO())


@pytest.mark.parametrize("damage", [b"\xff", b"\x7f"])
@pytest.mark.parametrize("format", TABLES)
def test_a_table_with_one_damaged_byte_is_either_read_or_rejected(format, damage):
    pa = pytest.importorskip("pyarrow")
    table = pa.table({"source": ["a", "b"], "target": ["b", "c"], "weight": [1, 2]})
    # Write a Feather file without compression, because decompression would detect the damage.
    if format == "feather":
        file = io.BytesIO()
        import_module("pyarrow.feather").write_feather(table, file, compression="uncompressed")
        whole = file.getvalue()
    else:
        whole = table_file(table, format).getvalue()
    for place in range(len(whole)):
        file = io.BytesIO(whole[:place] + damage + whole[place + 1 :])
        try:
            A, labels = gio.read_labelled(file, format=format)
            assert A.nrows == len(labels)
        except ParseError as error:
            assert error.file == "<file object>"


@pytest.mark.parametrize("extension", ["graphml", "gexf", "gml", "json", "parquet", "gr", "metis"])
def test_writing_a_format_that_can_only_be_read_is_rejected(extension, tmp_path):
    path = tmp_path / f"a.{extension}"
    with pytest.raises(gl.exceptions.InvalidValue, match=r"does not write them; it writes \.mtx"):
        gio.write(path, gl.generators.path(3))
    assert not path.exists()


@pytest.mark.parametrize("name", ["a.mtx", "a.npz", "a.gr", "a.metis"])
def test_labels_are_rejected_for_a_format_without_labels(name):
    with pytest.raises(gl.exceptions.InvalidValue, match="has no labels"):
        gl.Graph.read(name, named=True)


def test_a_file_with_an_unknown_extension_is_read_as_an_edge_list_if_labels_are_given(tmp_path):
    (tmp_path / "a.friends").write_text("ann bob\n")
    G = gl.Graph.read(tmp_path / "a.friends", named=True, directed=False)
    assert (G.labels, G.matrix.nvals) == (("ann", "bob"), 2)
