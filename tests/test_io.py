"""Test round trips and error messages of SciPy, NetworkX, edge lists, .npz and pickle."""

from __future__ import annotations

import io
import pickle
import re
import tempfile
import time
import zipfile
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from data_files import DATA, corrupted, files, needs_data
from devices import DEVICE
from hypothesis import assume, given
from hypothesis import strategies as st
from oracle import Table
from strategies import DTYPES, columns, matrix, same, symmetric, tables, vector

import graphla as gl
from graphla import formats, memory
from graphla import io as gio
from graphla.cli import main
from graphla.io import ParseError, edgelist
from graphla.io import files as io_files

FORMATS = ["bsr", "csr", "csc", "coo", "lil", "dia", "dok"]


def exactly(A, B) -> None:
    """Assert that shape, dtype, indices and the bits of every value are equal."""
    assert type(A) is type(B)
    assert (A.shape, A.dtype) == (B.shape, B.dtype)
    for one, other in zip(A.to_coo(), B.to_coo(), strict=True):
        assert np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(other).tobytes()


def is_iso(A) -> bool:
    return formats.is_iso(A._read().csr.values)


# --- SciPy --------------------------------------------------------------------------------------
@given(tables(), st.sampled_from(["csr", "csc", "coo"]))
def test_a_scipy_round_trip_keeps_every_entry(table: Table, form: str):
    A = matrix(table)
    S = gio.to_scipy_sparse(A, form)
    assert S.format == form
    assert S.shape == table.shape
    assert S.nnz == len(table.entries)
    same(gio.from_scipy_sparse(S), table)
    same(gio.from_scipy_sparse(getattr(sp, f"{form}_matrix")(S)), table)


@given(tables(), st.sampled_from(FORMATS))
def test_every_scipy_format_gives_the_same_entries(table: Table, form: str):
    assume(0 not in table.shape)
    S = gio.to_scipy_sparse(matrix(table), form)
    assert S.format == form
    dense = np.zeros(table.shape, table.dtype)
    for at, value in table.entries.items():
        dense[at] = value
    assert np.array_equal(S.toarray(), dense, equal_nan=table.dtype.kind == "f")
    if not (table.dtype.kind == "f" and np.isnan(dense).any()):
        back = gio.from_scipy_sparse(S)
        assert np.array_equal(gio.to_scipy_sparse(back).toarray(), dense)


@given(columns())
def test_a_vector_is_exported_as_a_row_but_as_a_column_in_csc_format(table: Table):
    v = vector(table)
    n = table.shape[0]
    assert gio.to_scipy_sparse(v).shape == (1, n)
    assert gio.to_scipy_sparse(v, "csc").shape == (n, 1)
    assert gio.to_scipy_sparse(v).nnz == v.nvals
    if n:
        places, values = v.to_coo()
        same(gio.from_scipy_sparse(sp.coo_array((values, (places,)), shape=(n,))), table)


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.skipif(DEVICE != "cpu", reason="from the host to a card there is one copy")
def test_sorted_int32_arrays_are_not_copied(form):
    S: Any = sp.random_array((50, 40), density=0.1, format=form, rng=0)
    S.sort_indices()
    A = gio.from_scipy_sparse(S)
    back = gio.to_scipy_sparse(A, form, copy=False)
    for array in ("data", "indices", "indptr"):
        assert np.shares_memory(getattr(back, array), getattr(S, array))
        with pytest.raises(ValueError, match="read-only"):
            getattr(back, array)[0] = 1
    free = gio.to_scipy_sparse(A, form)
    free.data[:] = free.indices[:] = 0
    assert (back != S).nnz == 0


def test_unsorted_arrays_are_copied_before_they_are_sorted():
    S = sp.csr_array((np.array([1.0, 2.0]), np.array([3, 1]), np.array([0, 2])), shape=(1, 4))
    A = gio.from_scipy_sparse(S)
    assert A.to_dicts() == {0: {1: 2.0, 3: 1.0}}
    assert S.indices.tolist() == [3, 1]


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_duplicates_in_a_scipy_matrix_are_rejected_unless_the_argument_dup_op_combines_them(form):
    S = {
        "csr": sp.csr_array((np.array([1, 2]), np.array([1, 1]), np.array([0, 2, 2])), (2, 2)),
        "csc": sp.csc_array((np.array([1, 2]), np.array([0, 0]), np.array([0, 0, 2])), (2, 2)),
        "coo": sp.coo_array((np.array([1, 2]), (np.array([0, 0]), np.array([1, 1]))), (2, 2)),
    }[form]
    with pytest.raises(gl.exceptions.DuplicateEntry, match="dup_op"):
        gio.from_scipy_sparse(S)
    assert gio.from_scipy_sparse(S, dup_op="plus").to_dicts() == {0: {1: 3}}
    assert S.nnz == 2


def test_only_scipy_arrays_with_known_dtypes_are_accepted():
    with pytest.raises(gl.exceptions.InvalidValue, match="A is a ndarray"):
        gio.from_scipy_sparse(np.eye(3))
    with pytest.raises((TypeError, ValueError)):
        gio.from_scipy_sparse(sp.csr_array(np.eye(3, dtype=complex)))
    with pytest.raises(gl.exceptions.InvalidValue, match="A has 3 dimensions"):
        gio.from_scipy_sparse(sp.coo_array(np.ones((2, 1, 2))))
    for format in ("xyz", None):
        with pytest.raises(gl.exceptions.InvalidValue, match=f"format is {format!r}"):
            gio.to_scipy_sparse(gl.generators.path(3), format)  # pyright: ignore


# --- arguments of all writers -------------------------------------------------------------------
WRITERS = {
    "scipy": lambda A, path: gio.to_scipy_sparse(A),
    "mtx": lambda A, path: gio.write(path / "a.mtx", A),
    "npz": lambda A, path: gio.write(path / "a.npz", A),
    "csv": lambda A, path: gio.write(path / "a.csv", A),
    "networkx": lambda A, path: gio.to_networkx(A),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize("thing", [None, np.eye(2), gl.Scalar(int), sp.eye_array(2)])
def test_every_writer_rejects_objects_other_than_matrices_and_creates_no_file(
    write, thing, tmp_path
):
    with pytest.raises(gl.exceptions.InvalidValue, match=r"(A|m) is a .*, but should be a Matrix"):
        write(thing, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_writing_an_expression_writes_its_result(write, tmp_path):
    v = gl.Vector.from_coo([0, 2], [1.5, 2.5], size=4)
    A = v.diag()
    for expression in (v + v, A @ A, A.T):
        if write is WRITERS["networkx"] and expression.ndim == 1:
            continue
        found, expected = write(expression, tmp_path), write(expression.new(), tmp_path / "..")
        if write is WRITERS["scipy"]:
            assert (found != expected).nnz == 0
    for path in tmp_path.iterdir():
        assert path.read_bytes() == (tmp_path / ".." / path.name).read_bytes()


# --- NetworkX -----------------------------------------------------------------------------------
def random_graph(kind, seed: int):
    rng = np.random.default_rng(seed)
    G = kind()
    G.add_nodes_from("abcdefg")
    for u, v, w in zip(*rng.choice(list("abcdefg"), (2, 15)), rng.integers(1, 9, 15), strict=True):
        G.add_edge(str(u), str(v), **({"weight": int(w)} if w > 3 else {}))
    return G


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
@pytest.mark.parametrize("seed", range(5))
def test_reading_a_networkx_graph_gives_the_adjacency_matrix_that_networkx_computes(kind, seed):
    G = random_graph(kind, seed)
    for nodelist in (None, list("gfedcba"), list("ace")):
        A = gio.from_networkx(G, nodelist)
        expected = nx.to_numpy_array(G, nodelist, nonedge=0)
        assert np.array_equal(gio.to_scipy_sparse(A).toarray(), expected)
        assert A.dtype == "INT64"
    unweighted = gio.from_networkx(G, weight=None, dtype=bool)
    assert unweighted.dtype == "BOOL"
    assert is_iso(unweighted)


@given(tables(st.integers(0, 5).map(lambda n: (n, n))))
def test_a_networkx_round_trip_keeps_every_entry(table: Table):
    A = matrix(table)
    G = gio.to_networkx(A)
    assert isinstance(G, nx.DiGraph)
    assert list(G) == list(range(A.nrows))
    assert G.number_of_edges() == A.nvals
    if A.nrows:
        same(gio.from_networkx(G, range(A.nrows), A.dtype), table)


@given(symmetric())
def test_an_undirected_networkx_round_trip_keeps_every_entry(table: Table):
    A = matrix(table)
    G = gio.to_networkx(A, directed=False)
    assert not G.is_directed()
    assert G.number_of_edges() == sum(i <= j for i, j in table.entries)
    same(gio.from_networkx(G, range(A.nrows), A.dtype), table)


def test_networkx_conversions_use_the_given_node_names_and_reject_invalid_arguments():
    A = gl.Matrix.from_coo([0], [1], [2.5], nrows=2, ncols=2)
    G = gio.to_networkx(A, "cost", nodelist=["x", "y"])
    assert list(G.edges(data=True)) == [("x", "y", {"cost": 2.5})]
    assert list(gio.to_networkx(A, None).edges(data=True)) == [(0, 1, {})]
    with pytest.raises(gl.exceptions.InvalidValue, match="not symmetric"):
        gio.to_networkx(A, directed=False)
    with pytest.raises(gl.exceptions.DimensionMismatch, match="2 x 3"):
        gio.to_networkx(gl.Matrix(int, 2, 3))
    with pytest.raises(gl.exceptions.DimensionMismatch, match="nodelist has 1"):
        gio.to_networkx(A, nodelist=["x"])
    with pytest.raises(gl.exceptions.InvalidValue, match="nodelist"):
        gio.from_networkx(G, ["x", "x"])
    with pytest.raises(gl.exceptions.InvalidValue, match="nodelist"):
        gio.from_networkx(G, ["x", "z"])
    with pytest.raises(gl.exceptions.InvalidValue, match="G is a list"):
        gio.from_networkx([(1, 2)])
    G.add_edge("y", "x", cost="much")
    with pytest.raises(gl.exceptions.DomainMismatch, match=r"cost of edge \('y', 'x'\) is 'much'"):
        gio.from_networkx(G, weight="cost")
    for cost in (300, np.int64(300), np.float64(np.nan)):
        G.add_edge("y", "x", cost=cost)
        problem = re.escape(f"cost of edge ('y', 'x') is {cost!r}, not INT8")
        with pytest.raises(gl.exceptions.DomainMismatch, match=problem):
            gio.from_networkx(G, weight="cost", dtype="INT8")
    G.add_edge("y", "x", cost=1j)
    with pytest.raises(gl.exceptions.DomainMismatch, match="is 1j"):
        gio.from_networkx(G, weight="cost")
    with pytest.raises(
        gl.exceptions.InvalidValue, match="multigraph_weight is 'least', but must be"
    ):
        gio.from_networkx(G, multigraph_weight="least")
    assert gio.from_networkx(nx.Graph()).shape == (0, 0)
    assert gio.from_networkx(nx.empty_graph(3)).shape == (3, 3)


# --- edge lists ---------------------------------------------------------------------------------
def edges(written: str, **options):
    return gio.read_edgelist(io.StringIO(written), **options)


def listed(A, **options) -> str:
    file = io.BytesIO()
    gio.write_edgelist(file, A, **options)
    return file.getvalue().decode()


@given(
    tables(st.integers(0, 6).map(lambda n: (n, n))),
    st.sampled_from([" ", "\t", ",", ";", "|"]),
    st.booleans(),
    st.integers(0, 1),
)
def test_an_edge_list_round_trip_keeps_every_entry(table, separator, header, base):
    A = matrix(table)
    written = listed(A, separator=separator, header=header, base=base, weights=True)
    n, dtype = A.nrows, A.dtype
    seen = None if separator in " \t,;" else separator
    B = edges(written, n=n, dtype=dtype, base=base, separator=seen)
    if A.nvals or header:
        same(B, table)


@given(symmetric(np.dtype(np.int32)))
def test_an_undirected_edge_list_contains_each_edge_once(table):
    A = matrix(table)
    written = listed(A, directed=False, weights=True)
    assert written.count("\n") == sum(i <= j for i, j in table.entries)
    if table.entries:
        same(edges(written, directed=False, n=A.nrows, dtype=A.dtype), table)


@pytest.mark.parametrize(
    "written",
    [
        "0 1 5\n1 2 -3\n",
        "# comment\n%comment\n\n0\t1\t5\n  1 2   -3",
        "source,target,weight\n0,1,5\n1,2,-3\n",
        '"from";"to";"cost"\n0; 1; 5\n\n1; 2; -3\n',
        "\ufeff0,1,5\r\n1,2,-3\r\n",
    ],
)
def test_the_separators_and_headers_and_comments_of_an_edge_list_are_recognized(written):
    A = edges(written)
    assert A.shape == (3, 3)
    assert A.dtype == "INT64"
    assert A.to_dicts() == {0: {1: 5}, 1: {2: -3}}


def test_an_edge_list_is_read_as_its_options_specify():
    written = "1 x 2 0.5\n2 y 3 1.5\n"
    A = edges(written, columns=(2, 0, 3), base=1, n=5)
    assert A.shape == (5, 5)
    assert A.dtype == "FP64"
    assert A.to_dicts() == {1: {0: 0.5}, 2: {1: 1.5}}
    assert edges("0 1 2\n", dtype="FP32").dtype == "FP32"
    assert edges("0 1 2\n1 0 2.5\n").to_dicts() == {0: {1: 2.0}, 1: {0: 2.5}}
    assert edges("0 1 1\n1 0 0\n", dtype=bool).to_dicts() == {0: {1: True}, 1: {0: False}}
    assert edges("").shape == edges("# nothing\n").shape == (0, 0)
    assert edges("", n=3).shape == (3, 3)


def test_duplicate_unweighted_edges_are_merged_or_counted():
    A = edges("0 1\n0 1\n1 2\n")
    assert A.dtype == "BOOL"
    assert A.nvals == 2
    assert is_iso(A)
    assert edges("0 1\n1 0\n0 1\n", dtype=int, dup_op="plus").to_dicts() == {0: {1: 2}, 1: {0: 1}}
    B = edges("0 1\n1 0\n2 2\n", directed=False)
    assert B.to_dicts() == {0: {1: True}, 1: {0: True}, 2: {2: True}}


@pytest.mark.parametrize(
    ("written", "options", "line", "problem"),
    [
        ("0 1\n2\n", {}, 2, "has 1 fields where 2"),
        ("0 1\n1 2 3\n", {}, 2, "has 3 fields where 2"),
        ("# c\n0 1 2 3\n", {}, 2, "has 4 fields where 2 or 3"),
        ("0 1\n\n# c\n0 x\n", {}, 4, "target is 'x', which is not an integer"),
        ("0 1 w\n", {}, 1, "weight is 'w', which is not a number"),
        ("0 1 1\n0 2 1e999\n", {}, 2, "too large"),
        ("0 1\n-1 2\n", {}, 2, "the source is -1"),
        ("0 1\n", {"base": 1}, 1, "the source is 0, outside of 1"),
        ("0 1\n0 7\n", {"n": 7}, 2, "the target is 7, outside of 0 to 6"),
        ("0 1\n0 2147483647\n", {}, 2, "the target is 2147483647, outside of 0 to 2147483646"),
        ("0 1\n", {"columns": (0, 7)}, 1, "has 2 fields where 8 are expected"),
        ("0 1 2\n3 4\n", {"columns": (1, 2)}, 2, "has 2 fields where 3 are expected"),
        ("0 1 300\n", {"dtype": "INT8"}, 1, "outside int8"),
        ("0 1 2\n", {"dtype": bool}, 1, "not 0 or 1"),
        ("0 1 5\n1 2 3\n0 1 6\n", {}, 3, "listed before"),
        ("0 1 5\n# c\n1 0 3\n", {"directed": False}, 3, "u v and v u are one edge"),
        ("a,b\n0,1\nc,d\n", {}, 3, "source is 'c'"),
        ("0,1\n , \n", {}, 2, "not an integer"),
        ("0 1 18446744073709551615\n", {}, 1, "outside int64"),
    ],
)
def test_the_error_about_an_invalid_edge_list_names_the_line(written, options, line, problem):
    with pytest.raises(ParseError) as caught:
        edges(written, **options)
    assert problem in caught.value.problem
    assert caught.value.line == line


@pytest.mark.parametrize(
    ("written", "line", "problem"),
    [
        ("1 2147483646\n", 1, "the target is 2147483646, but the file has 1 edge"),
        ("1 2\n# c\n100000000 2\n0 1\n", 3, "the source is 100000000, but the file has 3 edges"),
        ("0 1\n0 1048577\n", 2, "the target is 1048577"),
        ("0 1\n0 2147483648\n", 2, "the target is 2147483648"),
        ("0 1\n-1 2\n", 2, "the source is -1"),
        ("0 1\n18446744073709551615 1\n", 2, "source is '18446744073709551615'"),
        ("0 1\n1 ann\n", 2, "target is 'ann'"),
        ("0 1 0.5\nann 1 2\n", 2, "source is 'ann'"),
    ],
)
def test_vertex_numbers_that_are_not_indices_are_rejected_with_the_advice_to_use_labels(
    written, line, problem, tmp_path, capsys
):
    path = tmp_path / "edges.txt"
    path.write_text(written)
    with pytest.raises(ParseError) as caught:
        gl.Graph.read(path)
    assert caught.value.problem.startswith(problem)
    assert caught.value.line == line
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert "named=True" in str(caught.value) and "--labels" not in str(caught.value)
    assert main(["info", str(path)]) == 1
    printed = capsys.readouterr().err
    assert f"line {line}: {problem}" in printed
    assert "--labels" in printed and "named=True" not in printed
    assert gl.Graph.read(path, named=True).nedges == written.count("\n") - written.count("#")
    assert main(["info", str(path), "--labels"]) == 0


@pytest.mark.parametrize(
    ("written", "options", "advice"),
    [
        ("1 2\n2 3\n", {"n": 3}, "base=1 is for vertices counted from 1"),
        ("0 1\n1 2\n", {"n": 3, "base": 1}, "base=0 is for vertices counted from 0"),
        ("1 2\n2 0\n", {"base": 1}, "base=0 is for vertices counted from 0"),
        ("1 2\n2 4\n", {"n": 3}, "outside of 0 to 2"),
        ("1 2\n2 4\n", {"n": 3, "base": 1}, "outside of 1 to 3"),
    ],
)
def test_an_error_about_a_vertex_out_of_range_by_one_suggests_the_other_value_of_base(
    written, options, advice
):
    with pytest.raises(ParseError) as caught:
        edges(written, **options)
    assert str(caught.value).endswith(advice)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    if "for vertices" in advice:
        base = 1 - options.get("base", 0)
        assert edges(written, n=3, base=base).nvals == 2


@given(
    st.integers(1, 40),
    st.sampled_from([-1, 0, 1]),
    st.booleans(),
)
def test_the_largest_allowed_vertex_number_depends_on_the_number_of_edges(count, beyond, is_few):
    least = edgelist.SPARSE_FROM if is_few else edgelist.VERTICES_PER_EDGE * 20_000
    count = count if is_few else 20_000
    largest = least + beyond
    written = "0 1\n" * (count - 1) + f"{largest} 0\n"
    if largest > max(edgelist.SPARSE_FROM, edgelist.VERTICES_PER_EDGE * count):
        with pytest.raises(ParseError, match=rf"line {count}: the source is {largest}"):
            edges(written)
    else:
        assert edges(written).nrows == largest + 1
    assert edges(written, n=largest + 1).nrows == largest + 1


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"base": 2}, "base"),
        ({"separator": ", "}, "separator"),
        ({"separator": "\n"}, "separator"),
        ({"separator": "é"}, "separator"),
        ({"separator": 5}, "separator"),
        ({"columns": (0, 1.5)}, "columns"),
        ({"columns": (0,)}, "columns"),
        ({"n": -1}, "n"),
        ({"n": 2.5}, "n"),
        ({"n": 2**31}, "n"),
    ],
)
def test_wrong_options_of_an_edge_list_are_rejected(options, name):
    with pytest.raises(gl.exceptions.InvalidValue, match=f"{name} is"):
        edges("0 1\n", **options)


def test_labels_in_a_file_are_numbered_in_order_of_appearance():
    written = "# friends\nAda Bob 2\nBob Čeněk 3\nAda Čeněk 0.5\n"
    A, labels = gio.read_labelled_edgelist(io.StringIO(written))
    assert labels == ["Ada", "Bob", "Čeněk"]
    assert A.to_dicts() == {0: {1: 2.0, 2: 0.5}, 1: {2: 3.0}}
    quoted = 'from,to\n"New York, NY",Boston\nBoston,"a ""b"""\n'
    A, labels = gio.read_labelled_edgelist(io.StringIO(quoted), header=True, directed=False)
    assert labels == ["New York, NY", "Boston", 'a "b"']
    assert A.nvals == 4
    A, labels = gio.read_labelled_edgelist(io.StringIO("10000000000 7\n7 x y\n".replace(" y", "")))
    assert labels == ["10000000000", "7", "x"]
    A, labels = gio.read_labelled_edgelist(io.StringIO("New York\tLos Angeles\n"))
    assert labels == ["New York", "Los Angeles"]
    assert gio.read_labelled_edgelist(io.StringIO(""))[1] == []


@pytest.mark.parametrize(
    ("written", "line", "problem"),
    [
        ("a b 1\nb c\n", 2, "has 2 fields where 3"),
        ("a b 1\n\nb c x\n", 3, "weight is 'x', which is not a number"),
        ("a b 1\n# c\na b 2\n", 3, "listed before"),
        ('a,b\nb,"c"d\nd,e\n', 2, "cannot be split"),
    ],
)
def test_the_error_about_an_invalid_edge_list_with_labels_names_the_line(written, line, problem):
    with pytest.raises(ParseError) as caught:
        gio.read_labelled_edgelist(io.StringIO(written))
    assert problem in caught.value.problem
    assert caught.value.line == line


def test_bytes_that_are_not_text_are_rejected():
    with pytest.raises(ParseError, match="line 2: the line is not UTF-8"):
        gio.read_labelled_edgelist(io.BytesIO(b"a b\nc \xff\n"))


@given(
    st.lists(
        st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "Zs"]), min_size=1),
        min_size=4,
        max_size=4,
        unique=True,
    ),
    st.sampled_from([",", ";", "\t"]),
)
def test_written_labels_can_be_read_back(labels, separator):
    A = gl.Matrix.from_coo([0, 1, 2, 3], [1, 2, 3, 0], [1, 2, 3, 4])
    try:
        written = listed(A, separator=separator, header=False, labels=labels)
    except gl.exceptions.InvalidValue as error:
        assert "labels" in str(error)
        return
    B, found = gio.read_labelled_edgelist(io.BytesIO(written.encode()), separator=separator)
    assert found == labels
    exactly(B, A)


HEADERS = [
    "source,target",
    "Source,Target",
    "src\tdst",
    "from;to",
    "from_node_id to_node_id",
    '"Source ID","Target ID"',
    "node1,node2",
    "source,target,weight",
    "ann,bob,cost",
    "x,y,Distance (km)",
]


@pytest.mark.parametrize("header", HEADERS)
def test_the_header_of_an_edge_list_with_labels_is_recognized(header):
    separator = next((mark for mark in "\t;," if mark in header), " ")
    weight = separator + "2" if header.count(separator) == 2 or header.startswith("x,") else ""
    written = f"# friends\n{header}\nann{separator}bob{weight}\nbob{separator}eve{weight}\n"
    A, labels = gio.read_labelled_edgelist(io.StringIO(written))
    assert labels == ["ann", "bob", "eve"]
    assert A.to_dicts() == {0: {1: 2 if weight else True}, 1: {2: 2 if weight else True}}
    B, labels = gio.read_labelled_edgelist(io.StringIO(written), header=True)
    exactly(A, B)
    assert labels == ["ann", "bob", "eve"]


@pytest.mark.parametrize(
    ("first", "labels"),
    [
        ("ann,bob", ["ann", "bob", "c"]),
        # `node2` occurs again in a later row, so the first row is an edge and not a header
        ("node1,node2", ["node1", "node2", "c"]),
        ("source,ann", ["source", "ann", "node2", "c"]),
        ("ann,bob,3", ["ann", "bob", "c"]),
        ("ann,bob,nan", ["ann", "bob", "c"]),
    ],
)
def test_the_first_edge_of_an_edge_list_with_labels_is_not_mistaken_for_a_header(first, labels):
    weight = ",1" * (first.count(",") - 1)
    second = "bob" if "bob" in first else "node2"
    written = f"{first}\n{second},c{weight}\n"
    assert gio.read_labelled_edgelist(io.StringIO(written))[1] == labels


def test_the_header_argument_decides_whether_the_first_line_is_a_header():
    written = "source,target\nann,bob\n"
    assert gio.read_labelled_edgelist(io.StringIO(written), header=False)[1][0] == "source"
    written = "ann,bob\nbob,eve\n"
    assert gio.read_labelled_edgelist(io.StringIO(written), header=True)[1] == ["bob", "eve"]
    with pytest.raises(gl.exceptions.InvalidValue, match="header is 'no'"):
        gio.read_labelled_edgelist(io.StringIO(written), header="no")  # pyright: ignore
    with pytest.raises(gl.exceptions.InvalidValue, match="header is 0"):
        edges("0 1\n", header=0)


NAMES = st.one_of(
    st.sampled_from(["source", "target", "weight", "from", "to", "node1", "node2", "a,b", "a;b"]),
    st.sampled_from(["1", "-7", "nan", "2.5", "", " ", "a b", '"a"', "#a", "a\tb", "\ufeffa"]),
    st.text(st.characters(codec="utf-8"), max_size=3),
    st.integers(-3, 3),
)


@st.composite
def labeled_graphs(draw):
    """Draw a matrix and its vertex labels.

    No vertex is isolated, because an edge list cannot store isolated vertices.
    """
    labels = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    ends = st.integers(0, len(labels) - 1)
    pairs = draw(st.lists(st.tuples(ends, ends), min_size=1, max_size=6, unique=True))
    kept = sorted({end for pair in pairs for end in pair})
    pairs = [(kept.index(u), kept.index(v)) for u, v in pairs]
    weight = draw(st.sampled_from([st.just(True), st.integers(-9, 9), st.floats()]))
    values = np.array([draw(weight) for _ in pairs])
    rows, columns = zip(*pairs, strict=True)
    n = len(kept)
    A = gl.Matrix.from_coo(rows, columns, values, nrows=n, ncols=n)
    return A, [labels[k] for k in kept]


@given(labeled_graphs(), st.sampled_from([".txt", ".csv", ".tsv", ".csv.gz"]))
def test_a_labeled_graph_is_unchanged_after_writing_and_reading(graph, extension):
    A, labels = graph
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{extension}"
        try:
            gio.write(path, A, labels=labels)
        except gl.exceptions.InvalidValue as error:
            assert "labels holds" in str(error)
            assert not path.exists()
            return
        B, found = gio.read_labelled_edgelist(path)
        G = gl.Graph.read(path, named=True, directed=True)
    number = {str(label): k for k, label in enumerate(labels)}
    order = [number[label] for label in found]
    assert sorted(order) == list(range(A.nrows))
    assert G.labels == tuple(found)
    expected = A[order, order].new()
    for one, other in zip(B.to_coo(), expected.to_coo(), strict=True):
        assert np.array_equal(one, other, equal_nan=True)


@given(tables(st.integers(1, 6).map(lambda n: (n, n))), st.sampled_from([".txt", ".csv", ".tsv"]))
def test_an_unlabeled_graph_is_unchanged_after_writing_and_reading(table, extension):
    A = matrix(table)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"a{extension}"
        gio.write(path, A, weights=True)
        if A.nvals or extension != ".txt":
            same(gio.read(path, n=A.nrows, dtype=A.dtype), table)


GOOD = [
    "# friends\n0 1 5\n1 2 -3\n\n2 3 10\n",
    "source,target,weight\n0,1,0.5\n1,2,inf\n3,0,1e3\n",
    "0\t1\n1\t2\n5\t0\n",
]


@given(st.sampled_from(GOOD), st.data())
def test_a_corrupted_edge_list_is_either_read_or_rejected_with_a_line_number(good, data):
    written = corrupted(good, data)
    assume(
        not re.search(r"\d{5}", written)
    )  # no vertex number may be so large that the graph exceeds the memory
    for read in (gio.read_edgelist, lambda file: gio.read_labelled_edgelist(file)[0]):
        try:
            A = read(io.StringIO(written))
        except ParseError as error:
            assert error.line is not None
            assert 0 <= error.line <= written.count("\n") + 1
        else:
            assert A.nrows == A.ncols
            assert A.nvals <= written.count("\n") + 1


def test_reading_an_edge_list_in_blocks_gives_the_same_result(monkeypatch):
    A = gl.generators.uniform(60, 300, weights=(0.0, 1.0), symmetric=False)
    written = "# c\n" + listed(A).replace("\n7 ", "\n\n# c\n7 ")
    monkeypatch.setattr(io_files, "BLOCK", 50)
    exactly(edges(written, n=60), A)
    B, _ = gio.read_labelled_edgelist(io.StringIO(written))
    assert B.nvals == A.nvals
    with pytest.raises(ParseError) as caught:
        edges(written + "1 2 x\n", n=60)
    assert caught.value.line == written.count("\n") + 1


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz", "a.mtx"])
def test_a_progress_bar_shows_how_much_of_a_file_has_been_read(name, tmp_path, monkeypatch, capsys):
    pytest.importorskip("tqdm")
    path = tmp_path / name
    gio.write(path, gl.generators.uniform(100, 1000, symmetric=False))
    monkeypatch.setattr(io_files, "BLOCK", 1000)
    monkeypatch.setattr("graphla.progress.DELAY", 1e-9)
    with gl.config.set(progress=True), io_files.TextReader(path) as text:
        text.block()
        time.sleep(0.11)  # sleep longer than the interval between two updates of tqdm
        text.block()
        shown = capsys.readouterr().err
        assert f"reading {name}:" in shown and "%" in shown and "B/s" in shown
        assert text.again().block()
    with gl.config.set(progress=True):
        assert gio.read(path).nvals > 0


def test_the_edge_list_writer_rejects_wrong_arguments():
    A = gl.Matrix.from_coo([0], [1], [2.5], nrows=2, ncols=2)
    for options, name in [
        ({"directed": False}, "directed is False"),
        ({"base": 3}, "base is 3"),
        ({"separator": ""}, "separator is ''"),
        ({"labels": ["a"]}, "labels has 1"),
        ({"labels": ["a b", "c"]}, "labels holds 'a b'"),
        ({"labels": ["#a", "c"]}, "labels holds '#a'"),
    ]:
        with pytest.raises(gl.exceptions.InvalidValue, match=name):
            listed(A, **options)


# --- .npz ---------------------------------------------------------------------------------------
@given(tables(), st.booleans())
def test_an_npz_round_trip_keeps_every_entry(table: Table, compressed: bool):
    A = matrix(table)
    file = io.BytesIO()
    gio.write_npz(file, A, compressed=compressed)
    exactly(gio.read_npz(io.BytesIO(file.getvalue())), A)
    theirs = sp.load_npz(io.BytesIO(file.getvalue()))
    assert theirs.shape == table.shape
    assert theirs.nnz == A.nvals


@given(columns())
def test_an_npz_round_trip_keeps_a_vector(table: Table):
    v = vector(table)
    file = io.BytesIO()
    gio.write_npz(file, v)
    exactly(gio.read_npz(io.BytesIO(file.getvalue())), v)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_npz_files_written_by_scipy_are_read(form, kind, tmp_path):
    S = getattr(sp, f"{form}_{kind}")(sp.random_array((6, 8), density=0.3, rng=1))
    sp.save_npz(tmp_path / "a.npz", S)
    A = gio.read_npz(tmp_path / "a.npz")
    assert np.array_equal(gio.to_scipy_sparse(A).toarray(), S.toarray())


def test_an_unweighted_graph_read_from_an_npz_file_is_still_iso_valued_and_symmetric(tmp_path):
    A = gl.generators.kronecker(6)
    for name in ("a.npz", "a.mtx", "a.mtx.gz"):
        gio.write(tmp_path / name, A)
        B = gio.read(tmp_path / name)
        exactly(B, A)
        assert is_iso(B)
        assert B._store.is_symmetric


def test_a_symmetry_flag_that_contradicts_the_entries_is_ignored():
    file = io.BytesIO()
    S = {"format": b"csr", "shape": (2, 2), "indptr": [0, 1, 1], "indices": [1], "data": [1.0]}
    np.savez(file, **S, symmetric=True)
    file.seek(0)
    assert gio.read_npz(file).T.to_dicts() == {1: {0: 1.0}}


BROKEN = {
    "no format": {"data": [1.0]},
    "indices": {
        "format": b"csr",
        "shape": (2, 2),
        "indptr": [0, 1, 1],
        "indices": [5],
        "data": [1],
    },
    "indptr": {"format": b"csr", "shape": (2, 2), "indptr": [0, 9, 1], "indices": [0], "data": [1]},
    "lengths": {"format": b"csr", "shape": (2, 2), "indptr": [0, 1, 1], "indices": [0], "data": []},
    "missing": {"format": b"csr", "shape": (2, 2), "indices": [0], "data": [1]},
    "kind": {"format": b"xyz", "shape": (2, 2)},
    "objects": {"format": b"csr", "shape": (1, 1), "data": np.array([{}], object)},
    "complex": {"format": b"csr", "shape": (1, 1), "indptr": [0, 1], "indices": [0], "data": [1j]},
    "vector": {"format": b"coo", "shape": (3,), "coords": [[7]], "data": [1]},
    "edge": {"src": [0], "dst": [5], "n": 3, "directed": True},
    "edge twice": {"src": [0, 1], "dst": [1, 0], "n": 3, "directed": False},
    "negative": {"src": [-1], "dst": [1], "n": 3, "directed": True},
    "weights": {"src": [0], "dst": [1], "n": 3, "directed": True, "weight": [1, 2]},
    "no n": {"src": [0], "dst": [1], "directed": True},
}


def test_the_error_about_an_incomplete_npz_graph_names_what_is_missing(tmp_path):
    whole = {"src": [0], "dst": [1], "n": 2, "directed": True}
    for wrong, problem in [
        ({"n": None}, "n is not a file in the archive"),
        ({"n": 2.5}, "n is no integer"),
        ({"directed": "no"}, "directed is neither true nor false"),
    ]:
        arrays = {key: value for key, value in (whole | wrong).items() if value is not None}
        np.savez(tmp_path / "a.npz", **arrays)
        with pytest.raises(ParseError, match=problem):
            gio.read_npz(tmp_path / "a.npz")
    with (tmp_path / "a.npz").open("wb") as file:
        np.save(file, [1, 2])
    with pytest.raises(ParseError, match="it holds one array"):
        gio.read_npz(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"0 1\n1 2\n", "it is not a zip archive"),
        (b"", "it is not a zip archive"),
        (pickle.dumps([1, 2]), "it is not a zip archive"),
    ],
)
def test_the_error_about_a_file_that_is_not_an_archive_does_not_suggest_allow_pickle(
    data, problem, tmp_path
):
    (tmp_path / "a.npz").write_bytes(data)
    for source in (tmp_path / "a.npz", io.BytesIO(data)):
        with pytest.raises(ParseError, match=problem) as caught:
            gio.read_npz(source)
        assert "pickle" not in str(caught.value)


def test_the_error_about_pickled_objects_in_an_archive_does_not_suggest_allow_pickle(tmp_path):
    np.savez(tmp_path / "a.npz", src=np.array([{}], object), dst=[1], n=2, directed=True)
    with pytest.raises(ParseError, match="Python objects, which are never loaded") as caught:
        gio.read_npz(tmp_path / "a.npz")
    assert "allow_pickle" not in str(caught.value)


def test_an_archive_too_large_for_memory_is_rejected_before_the_archive_is_read(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("src.npy", b"")
    data = bytearray((tmp_path / "a.npz").read_bytes())
    place = data.index(b"PK\x01\x02") + 24  # where the archive stores the uncompressed size
    data[place : place + 4] = (2**32 - 2).to_bytes(4, "little")
    with pytest.raises((gl.exceptions.OutOfMemory, ParseError)) as caught:
        gio.read_npz(io.BytesIO(data))
    free = memory.available()
    is_short = free is not None and free < 2**32 - 2
    assert isinstance(caught.value, gl.exceptions.OutOfMemory) is is_short


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia", "bsr"])
def test_indices_that_are_floats_are_rejected_in_every_layout(form, tmp_path):
    S = sp.eye_array(4, format=form)
    sp.save_npz(tmp_path / "a.npz", S)
    with np.load(tmp_path / "a.npz") as loaded:
        whole = dict(loaded)
    for key in whole.keys() - {"format", "data", "_is_array"}:
        np.savez(tmp_path / "b.npz", **{**whole, key: whole[key] + 0.5})
        with pytest.raises(ParseError, match=f"{key} must be integers, but are float64"):
            gio.read_npz(tmp_path / "b.npz")


@pytest.mark.parametrize("name", BROKEN)
def test_the_error_about_a_broken_npz_file_names_the_file(name, tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, **BROKEN[name])
    with pytest.raises(ParseError) as caught:
        gio.read_npz(path)
    assert caught.value.file == str(path)


@given(st.data())
def test_a_damaged_npz_file_is_either_read_or_rejected(data):
    file = io.BytesIO()
    gio.write_npz(file, gl.generators.uniform(5, 6, weights=(1, 9)))
    whole = bytearray(file.getvalue())
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(whole)))
    for damaged in (whole, whole[:cut]):
        try:
            assert isinstance(gio.read_npz(io.BytesIO(bytes(damaged))), gl.Matrix | gl.Vector)
        except ParseError as error:
            assert error.file == "<file object>"


def test_an_npz_file_with_a_wrong_offset_of_its_zip_directory_is_rejected(tmp_path):
    path = tmp_path / "a.npz"
    gio.write_npz(path, gl.generators.uniform(5, 6))
    data = bytearray(path.read_bytes())
    # The last record of a zip file contains the offset of the central directory.
    start = int.from_bytes(data[-6:-2], "little")
    data[-6:-2] = (start + 10).to_bytes(4, "little")
    path.write_bytes(data)
    with pytest.raises(ParseError, match=r"no \.npz file of a graph"):
        gio.read_npz(path)


GRAPHS = [
    pytest.param(path, marks=[pytest.mark.full] if "road-" in path.name else [], id=path.stem)
    for path in files(DATA, "*.npz")
]


@needs_data
@pytest.mark.parametrize("path", GRAPHS)
def test_every_available_graph_file_is_read(path: Path):
    if path.name == "lagraph_expected.npz":
        with pytest.raises(ParseError, match="it holds"):
            gio.read(path)
        return
    with np.load(path) as arrays:
        n, m = int(arrays["n"]), arrays["src"].size
        directed, weighted = bool(arrays["directed"]), "weight" in arrays
    A = gio.read(path)
    assert A.shape == (n, n)
    assert A.nvals == (m if directed else 2 * m)
    assert A.dtype == ("INT32" if weighted else "BOOL")
    assert A._store.is_symmetric is not directed


# --- tests of file extensions and of pickling ---------------------------------------------------
@pytest.mark.parametrize(
    "name", ["a.mtx", "a.mtx.gz", "a.npz", "a.csv", "A.TSV", "a.edges.gz", "b.c.txt"]
)
def test_the_file_extension_determines_the_format(name, tmp_path):
    A = gl.Matrix.from_coo([0, 1, 2], [1, 2, 0], [1.5, 2.5, -1.0])
    gio.write(tmp_path / name, A)
    exactly(gio.read(tmp_path / name), A)
    exactly(gio.read(str(tmp_path / name)), A)
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("name", ["a", "a.xls", "a.gz", ".mtx2", "a.npz.gz", "a.parquet.gz"])
def test_an_unknown_file_extension_is_rejected(name):
    for use in (gio.read, lambda path: gio.write(path, gl.generators.path(3))):
        with pytest.raises(gl.exceptions.InvalidValue, match="path is"):
            use(name)


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_pickling_keeps_matrices_and_vectors_of_every_dtype(dtype):
    values = np.array([0, 1, 1], dtype)
    for A in (
        gl.Matrix.from_coo([0, 1, 1], [1, 0, 2], values, nrows=3, ncols=4),
        gl.Vector.from_coo([0, 3, 4], values, size=6),
        gl.Matrix(dtype, 2, 3),
    ):
        exactly(pickle.loads(pickle.dumps(A)), A)


def test_parse_errors_can_be_pickled():
    error = ParseError("it is wrong", "a.mtx", 7)
    copy = pickle.loads(pickle.dumps(error))
    assert str(copy) == str(error) == "a.mtx, line 7: it is wrong"
    assert (copy.file, copy.line) == ("a.mtx", 7)
