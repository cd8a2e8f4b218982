"""Test calls on graphs without nodes or edges, on multigraphs, and with unusual values."""

from __future__ import annotations

import math
from typing import Any

import networkx as nx
import numpy as np
import pytest

import graphla as gl
from graphla.networkx.selections import VERSION
from tests.networkx_backend.agreement import (
    as_lists,
    assert_agree,
    backends,
    call,
    difference,
    needs,
)
from tests.networkx_backend.drawn import KINDS, SIMPLE

set_edge_attributes: Any = nx.set_edge_attributes


def reason_of(name: str, *args: Any, **kwargs: Any) -> str:
    """Return why graphla rejects a call."""
    with pytest.raises(NotImplementedError) as caught:
        backends._registered_algorithms[name](*args, backend="graphla", **kwargs)
    return str(caught.value.__cause__ or caught.value)


# --- graphs without nodes or edges --------------------------------------------------------------


@pytest.mark.parametrize("kind", KINDS)
def test_the_attribute_assortativity_of_a_graph_without_edges_is_zero(kind: Any) -> None:
    for G in (kind(), nx.empty_graph(2, create_using=kind)):
        assert_agree("attribute_assortativity_coefficient", G, "color")
    G = nx.path_graph(2, create_using=kind)
    assert_agree("attribute_assortativity_coefficient", G, "color", [])


@pytest.mark.parametrize("kind", KINDS)
def test_structural_hole_measures_are_undefined_for_a_graph_without_nodes(kind: Any) -> None:
    for name in ("constraint", "effective_size"):
        assert_agree(name, kind())


def test_directed_laplacian_matrices_are_undefined_for_a_graph_without_nodes() -> None:
    for name in ("directed_laplacian_matrix", "directed_combinatorial_laplacian_matrix"):
        for walk in (None, "random", "pagerank"):
            assert_agree(name, nx.DiGraph(), walk_type=walk)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("node", [None, 99, "absent", (1, 2)])
def test_a_node_that_is_not_in_the_graph_counts_as_an_isolate_as_in_networkx(
    kind: Any, node: Any
) -> None:
    assert_agree("is_isolate", nx.path_graph(3, create_using=kind), node)


# --- multigraphs --------------------------------------------------------------------------------


def test_bipartite_clustering_counts_parallel_edges_once() -> None:
    G = nx.MultiGraph([(0, 3), (0, 3), (0, 4), (1, 3), (1, 4), (1, 4), (2, 4), (2, 5)])
    for name in ("latapy_clustering", "bipartite_average_clustering"):
        for mode in ("dot", "min", "max"):
            assert_agree(name, G, mode=mode)
    assert_agree("robins_alexander_clustering", G)
    assert_agree("node_redundancy", G, [0, 1])
    assert_agree("node_redundancy", nx.MultiGraph([(0, 1), (0, 1)]))
    assert_agree("node_redundancy", G, [5, "absent"])


def test_the_modularity_spectrum_of_a_multigraph_is_undefined() -> None:
    for kind in KINDS[2:]:
        assert_agree("modularity_spectrum", kind([(0, 1), (0, 1)]))


def test_structural_hole_measures_of_unsupported_multigraphs_are_rejected() -> None:
    G = nx.MultiGraph([(0, 1), (0, 1), (1, 2), (2, 2), (0, 2)])
    assert "multigraph" in reason_of("effective_size", G)
    assert "multigraph" in reason_of("effective_size", G, [0])
    assert ("self-loops" if VERSION >= (3, 5) else "multigraph") in reason_of("constraint", G)


def test_networkx_computes_the_independent_sets_of_graphs_with_self_loops() -> None:
    assert "self-loops" in reason_of("maximal_independent_set", nx.Graph([(0, 0)]))


def test_networkx_counts_the_triads_of_some_nodes_of_a_graph_with_self_loops() -> None:
    G = nx.DiGraph([(0, 1), (1, 1), (1, 2)])
    assert_agree("triadic_census", G)
    assert "self-loops" in reason_of("triadic_census", G, [0])


def test_the_reciprocity_of_an_undirected_graph_is_zero() -> None:
    G = nx.path_graph(3)
    assert_agree("reciprocity", G)
    assert_agree("overall_reciprocity", G)
    assert "undirected" in reason_of("reciprocity", G, [0])
    assert "keys" in reason_of("reciprocity", nx.MultiDiGraph([(0, 1), (0, 1), (1, 0)]))
    for kind in SIMPLE:
        assert isinstance(assert_agree("overall_reciprocity", kind()), nx.NetworkXError)
    assert call("reciprocity", nx.DiGraph([(0, 1), (1, 0)]), backend="graphla") == 1


# --- unusual weights ----------------------------------------------------------------------------

WEIGHTED = {
    "adjacency_spectrum": (),
    "betweenness_centrality": (),
    "constraint": (),
    "cut_size": ([0, 1],),
    "degree_mixing_dict": (),
    "hyper_wiener_index": (),
    "modularity": ([{0, 1}, {2, 3}],),
    "single_source_bellman_ford": (0,),
    "volume": ([0],),
}


@pytest.mark.parametrize("name", [pytest.param(name, marks=needs(name)) for name in WEIGHTED])
@pytest.mark.parametrize("weight", [math.inf, -math.inf, math.nan, 2**61, 1e200])
def test_weights_whose_sums_might_overflow_are_rejected(name: str, weight: float) -> None:
    G = nx.cycle_graph(4)
    set_edge_attributes(G, weight, "weight")
    options = {} if name == "adjacency_spectrum" else {"weight": "weight"}
    assert "sums of weights might overflow" in reason_of(name, G, *WEIGHTED[name], **options)


def test_sums_of_long_distances_do_not_overflow() -> None:
    G = nx.cycle_graph(5)
    set_edge_attributes(G, 2**53, "weight")
    for name in ("wiener_index", "schultz_index", "gutman_index"):
        assert_agree(name, G, "weight")


@needs("hyper_wiener_index")
def test_sums_of_squared_distances_do_not_overflow() -> None:
    G = nx.cycle_graph(5)
    set_edge_attributes(G, 2**53, "weight")
    assert_agree("hyper_wiener_index", G, "weight")


def test_flow_values_that_floats_would_round_are_rejected() -> None:
    G = nx.DiGraph([(0, 1, {"capacity": 1e100}), (1, 2, {"capacity": 3.0}), (0, 2)])
    assert "rounded" in reason_of("maximum_flow", G, 0, 1)


# --- iterators ----------------------------------------------------------------------------------

TAKE_NODES: dict[str, tuple[Any, ...]] = {
    "average_neighbor_degree": ("out", "out"),
    "degree_assortativity_coefficient": ("out", "in", "weight"),
    "multi_source_dijkstra_path": (),
    "node_redundancy": (),
    "projected_graph": (),
    "to_numpy_array": (),
}


@pytest.mark.parametrize("name", TAKE_NODES)
def test_iterators_are_rejected_and_not_consumed(name: str) -> None:
    nodes = iter([0, 1])
    assert "iterator" in str(call(name, nx.path_graph(3), *TAKE_NODES[name], nodes,
                                  backend="graphla"))  # fmt: skip
    assert list(nodes) == [0, 1]


def test_an_iterator_of_communities_is_accepted_unless_the_call_is_rejected() -> None:
    G = nx.path_graph(3)
    found = call("modularity", G, nx.connected_components(G), backend="graphla")
    assert found == call("modularity", G, [{0, 1, 2}], backend="networkx")
    set_edge_attributes(G, "text", "weight")
    parts = iter([{0}, {1, 2}])
    assert "text" in reason_of("modularity", G, parts)
    assert list(parts) == [{0}, {1, 2}]


def test_scores_that_count_nodes_are_integers() -> None:
    G = nx.path_graph(4)
    for v in G:
        G.nodes[v]["community"] = 1
    scores = assert_agree("cn_soundarajan_hopcroft", G, [(0, 2), (0, 3)])
    assert [type(score) for _, _, score in scores] == [int, int]


# --- invalid seeds and cutoffs ------------------------------------------------------------------


def test_a_numpy_generator_as_the_seed_is_rejected_and_not_consumed() -> None:
    G: Any = nx.path_graph(5)
    functions: list[tuple[Any, dict[str, int]]] = [
        (nx.betweenness_centrality, {"k": 2}),
        (nx.edge_betweenness_centrality, {"k": 2}),
        (nx.maximal_independent_set, {}),
    ]
    for function, options in functions:
        seed, same = (np.random.RandomState(3) for _ in range(2))
        with pytest.raises(NotImplementedError) as caught:
            function(G, seed=seed, backend="graphla", **options)
        assert "NumPy" in str(caught.value.__cause__)
        assert seed.randint(1 << 30) == same.randint(1 << 30)


def test_a_nan_cutoff_is_rejected_before_a_generator_is_returned() -> None:
    G = nx.path_graph(3)
    for name in ("all_pairs_shortest_path", "all_pairs_dijkstra"):
        assert "NaN" in reason_of(name, G, cutoff=math.nan)
    assert "NaN" in reason_of("bfs_edges", G, 0, False, math.nan)


# --- graphla graphs as arguments of NetworkX functions -------------------------------------------


@pytest.mark.parametrize("dtype", ["BOOL", "INT8", "UINT64", "FP32", "FP64"])
def test_a_call_on_a_graphla_graph_returns_the_same_result_as_on_the_networkx_graph(
    dtype: str,
) -> None:
    values = [1] * 8 if dtype == "BOOL" else [2, 3, 4, 5, 2, 3, 4, 5]
    ends = [0, 1, 2, 0, 1, 2, 3, 2], [1, 2, 3, 2, 0, 1, 2, 0]
    values[3] = values[7]
    A = gl.Matrix.from_coo(*ends, values, nrows=4, ncols=4, dtype=dtype)
    A = gl.binary.plus(A | A.T).new().dup(dtype)
    G = gl.Graph(A, directed=False)
    H = G.to_networkx(None if dtype == "BOOL" else True)
    parts = [{0, 1}, {2, 3}]
    calls: list[tuple[str, Any]] = [
        ("inter_community_edges", (parts,)),
        ("inter_community_non_edges", (parts,)),
        ("adjacency_spectrum", ()),
        ("laplacian_spectrum", ()),
        ("to_numpy_array", ()),
        ("to_pandas_edgelist", ()),
    ]
    for name, args in calls:
        expected = call(name, H, *args, backend="networkx")
        found = as_lists(backends._registered_algorithms[name](G, *args))
        assert difference(expected, found) is None, name
