"""Test conversions between graphs, arrays and tables against NetworkX."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import graphla as gl
from graphla.networkx import backend
from networkx_backend.agreement import assert_agree, backends, call, difference
from networkx_backend.test_conversion import nx_graphs

KINDS = (None, nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph)


@st.composite
def arrays(draw: st.DrawFn) -> np.ndarray:
    """Draw a small square array of integers, floats or booleans with many zeros."""
    n = draw(st.integers(0, 5))
    dtype = draw(st.sampled_from(["int64", "int8", "uint8", "float64", "float32", "bool"]))
    values = draw(st.lists(st.sampled_from([0, 0, 0, 1, 2, 3]), min_size=n * n, max_size=n * n))
    return np.array(values).reshape(n, n).astype(dtype)


@given(arrays(), st.sampled_from(KINDS), st.booleans(), st.sampled_from(["weight", "a", None]))
def test_the_graph_built_from_an_array_equals_that_of_networkx(
    A: np.ndarray, kind: Any, parallel: bool, name: Any
) -> None:
    options: dict[str, Any] = {"parallel_edges": parallel, "create_using": kind}
    assert_agree("from_numpy_array", A, edge_attr=name, **options)
    labels = [f"n{k}" for k in range(len(A))]
    assert_agree("from_numpy_array", A, edge_attr=name, nodelist=labels, **options)


@given(arrays(), st.sampled_from(KINDS), st.booleans(), st.sampled_from(["csr", "csc", "coo"]))
def test_the_graph_built_from_a_sparse_array_equals_that_of_networkx(
    A: np.ndarray, kind: Any, parallel: bool, form: str
) -> None:
    S = sparse.coo_array(A).asformat(form)
    options: dict[str, Any] = {"parallel_edges": parallel, "create_using": kind}
    assert_agree("from_scipy_sparse_array", S, **options)


@given(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("abc"), st.integers(0, 9))),
    st.sampled_from(KINDS),
    st.sampled_from([None, True, "km", ["km", "name"]]),
)
def test_the_graph_built_from_a_table_equals_that_of_networkx(
    rows: Any, kind: Any, attribute: Any
) -> None:
    table = pd.DataFrame(rows, columns=["source", "target", "km"])
    table["name"] = [f"road {k}" for k in range(len(rows))]
    assert_agree("from_pandas_edgelist", table, edge_attr=attribute, create_using=kind)


@pytest.mark.parametrize("kind", [nx.Graph, nx.MultiDiGraph])
def test_a_graph_passed_as_the_argument_create_using_receives_the_edges(kind: Any) -> None:
    G = kind([("old", "edge")], name="old")
    from_numpy: Any = nx.from_numpy_array
    found = from_numpy(np.array([[0, 5], [5, 0]]), create_using=G, backend="graphla")
    assert found is G
    expected = from_numpy(np.array([[0, 5], [5, 0]]), create_using=kind, backend="networkx")
    assert difference(expected, G) is None


@given(nx_graphs(), st.sampled_from([None, "weight", "length"]), st.data())
def test_the_array_built_from_a_graph_equals_that_of_networkx(
    G: Any, weight: Any, data: st.DataObject
) -> None:
    for _, _, attributes in G.edges(data=True):
        for name in list(attributes):
            attributes[name] = data.draw(st.integers(-3, 3))
    nodes = None
    # NetworkX has a bug: it raises an error if a multigraph has no edges between the chosen nodes.
    if not G.is_multigraph() and data.draw(st.booleans()):
        nodes = data.draw(st.permutations(list(G)))[: data.draw(st.integers(0, len(G)))]
    reduce = data.draw(st.sampled_from([sum, min, max, len]))
    options: dict[str, Any] = {"nodelist": nodes, "weight": weight}
    assert_agree("to_numpy_array", G, multigraph_weight=reduce, nonedge=7.0, **options)
    assert_agree("to_scipy_sparse_array", G, **options)
    assert_agree("to_pandas_adjacency", G, multigraph_weight=reduce, **options)
    assert_agree("to_pandas_edgelist", G)


@given(nx_graphs())
def test_isolates_and_self_loops_match_networkx(G: Any) -> None:
    for name in ("isolates", "number_of_isolates", "number_of_selfloops", "is_empty"):
        if name in backends._registered_algorithms:  # NetworkX 3.4 lacks the last two
            assert_agree(name, G)
    for node in [*G, "no such node", 99]:
        assert_agree("is_isolate", G, node)


def test_a_graphla_graph_is_converted_to_an_array() -> None:
    G: Any = gl.Graph.from_edges([("a", "b", 2), ("b", "c", 3)])
    expected = [[0, 2, 0], [2, 0, 3], [0, 3, 0]]
    assert nx.to_numpy_array(G).tolist() == expected
    assert nx.to_scipy_sparse_array(G).toarray().tolist() == expected
    assert nx.to_numpy_array(G, ["c", "b"]).tolist() == [[0, 3], [3, 0]]
    assert len(nx.to_pandas_edgelist(G)) == 2


def test_a_graph_built_from_arrays_needs_no_conversion_before_algorithms_run() -> None:
    A = sparse.csr_array(np.array([[0, 4, 0], [4, 0, 1], [0, 1, 0]]))
    from_scipy: Any = nx.from_scipy_sparse_array
    G: Any = from_scipy(A, backend="graphla")
    assert type(G).__mro__[1] is gl.Graph
    assert nx.shortest_path_length(G, 0, 2, weight="weight") == 5
    assert nx.utils.graphs_equal(G.to_networkx(), from_scipy(A, backend="networkx"))


@given(
    st.dictionaries(st.integers(0, 4) | st.sampled_from("ab"), st.lists(st.integers(0, 6))),
    st.sampled_from(KINDS),
)
def test_the_graph_built_from_neighbor_lists_equals_that_of_networkx(lists: Any, kind: Any) -> None:
    assert_agree("from_dict_of_lists", lists, kind)
    expected, found = (
        call("from_dict_of_lists", lists, kind, backend=each) for each in ("networkx", "graphla")
    )
    assert list(backend.convert_to_nx(found)) == list(expected)
    given = kind() if kind else nx.Graph([(7, 8)])
    assert call("from_dict_of_lists", lists, given, backend="graphla") is given
    assert difference(expected, given) is None


def test_the_value_none_is_not_accepted_as_a_node() -> None:
    assert isinstance(assert_agree("from_dict_of_lists", {0: [None]}), ValueError)
