"""Test that measures of structure, assortativity and bipartite graphs agree with NetworkX."""

from __future__ import annotations

import inspect
import random
from typing import Any

import networkx as nx
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla.networkx import backend, selections
from tests.networkx_backend.agreement import assert_agree, backends, call, difference
from tests.networkx_backend.drawn import (
    DIRECTED,
    KINDS,
    SIMPLE,
    UNDIRECTED,
    weighted_graphs,
    with_nodes,
)

# Run fewer examples, because each of them calls many functions.
few = settings(max_examples=settings().max_examples // 3)
positive: st.SearchStrategy[Any] = st.integers(1, 5) | st.sampled_from([0.5, 1.25, 3.0])
weights = st.sampled_from([None, "weight"])
DIRECTIONS = st.sampled_from(["in", "out", "in+out"])


def node_lists(G: Any, *, unique: bool = True) -> st.SearchStrategy[Any]:
    return st.lists(st.sampled_from(list(G)), unique=unique, max_size=6)


def without_loops(G: Any) -> Any:
    G.remove_edges_from(list(nx.selfloop_edges(G)))
    return G


@st.composite
def bipartite_graphs(draw: st.DrawFn, kinds: Any = KINDS) -> Any:
    """Draw a graph without odd cycles, and the nodes of one side."""
    G = draw(weighted_graphs(kinds))
    top = draw(node_lists(G))
    G.remove_edges_from([(u, v) for u, v in G.edges() if (u in top) == (v in top)])
    return G, top


# --- assortativity ------------------------------------------------------------------------------


@few
@given(weighted_graphs(SIMPLE), DIRECTIONS, DIRECTIONS, weights, st.data())
def test_average_neighbor_degrees_agree_with_networkx(
    G: Any, source: str, target: str, weight: Any, data: st.DataObject
) -> None:
    nodes = data.draw(st.none() | node_lists(G) | st.sampled_from([*G, "absent"]))
    assert_agree("average_neighbor_degree", G, source, target, nodes, weight)
    assert_agree("average_degree_connectivity", G, source, target, nodes, weight)
    default = assert_agree("average_neighbor_degree", G)
    assert isinstance(default, dict) and list(default) == list(G)
    assert_agree("average_degree_connectivity", G)


@few
@given(weighted_graphs(KINDS), st.sampled_from(["in", "out"]), st.sampled_from(["in", "out"]),
       weights, st.data())  # fmt: skip
def test_degree_mixing_and_assortativity_agree_with_networkx(
    G: Any, x: str, y: str, weight: Any, data: st.DataObject
) -> None:
    nodes = data.draw(st.none() | node_lists(G))
    assert_agree("degree_mixing_dict", G, x, y, weight, nodes)
    assert_agree("degree_mixing_dict", G, x, y, weight, nodes, normalized=True)
    found = call("degree_mixing_dict", G, x, y, weight, nodes, backend="graphla")
    mapping = {value: k for k, value in enumerate(found)}
    if mapping:
        assert_agree("degree_mixing_matrix", G, x, y, weight, nodes, mapping=mapping)
    # With few pairs, NetworkX's rounding decides whether a variance is 0.
    assume(sum(len(row) for row in found.values()) > 3)
    assert_agree("degree_assortativity_coefficient", G, x, y, weight, nodes, tolerance=1e-6)
    assert_agree("degree_pearson_correlation_coefficient", G, x, y, weight, nodes, tolerance=1e-6)


@few
@given(weighted_graphs(KINDS), st.data())
def test_attribute_mixing_and_assortativity_agree_with_networkx(
    G: Any, data: st.DataObject
) -> None:
    nodes = data.draw(st.none() | node_lists(G))
    colors = data.draw(st.lists(st.sampled_from("rgb"), min_size=len(G), max_size=len(G)))
    sizes = data.draw(st.lists(st.integers(1, 4), min_size=len(G), max_size=len(G)))
    nx.set_node_attributes(G, dict(zip(G, colors, strict=True)), "color")
    nx.set_node_attributes(G, dict(zip(G, sizes, strict=True)), "size")
    assert_agree("node_attribute_xy", G, "color", nodes)
    assert_agree("attribute_mixing_dict", G, "color", nodes, normalized=True)
    mapping = {"r": 0, "g": 1, "b": 2}
    if G.size() and nodes is None:
        assert_agree("attribute_mixing_matrix", G, "color", nodes, mapping)
    pairs = set(call("node_attribute_xy", G, "size", nodes, backend="networkx"))
    if len({x for x, _ in pairs}) > 1 and len({y for _, y in pairs}) > 1:
        assert_agree("attribute_assortativity_coefficient", G, "size", nodes, tolerance=1e-6)
        assert_agree("numeric_assortativity_coefficient", G, "size", tolerance=1e-6)
    G = G.copy()
    del G.nodes[next(iter(G))]["size"]
    assert_agree("numeric_assortativity_coefficient", G, "size")


# --- bipartite graphs ---------------------------------------------------------------------------


@few
@given(bipartite_graphs() | with_nodes(weighted_graphs(KINDS)).map(lambda d: (d[0], d[1:])))
def test_the_two_sides_of_a_bipartite_graph_agree_with_networkx(drawn: Any) -> None:
    G, top = drawn
    for name in ("is_bipartite", "color", "sets"):
        assert_agree(name, G)
    for name in ("sets", "density", "is_bipartite_node_set"):
        assert_agree(name, G, list(top))
    assert_agree("is_bipartite_node_set", G, [*top, *top[:1]])


@few
@given(bipartite_graphs())
def test_bipartite_centralities_agree_with_networkx(drawn: Any) -> None:
    G, top = drawn
    assert_agree("bipartite_degree_centrality", G, top)
    assert_agree("bipartite_closeness_centrality", G, top)
    assert_agree("bipartite_closeness_centrality", G, top, normalized=False)
    if not G.is_multigraph():
        assert_agree("bipartite_betweenness_centrality", G, top)


@few
@given(bipartite_graphs([nx.Graph]), st.sampled_from(["dot", "min", "max", "mean"]))
def test_bipartite_clustering_agrees_with_networkx(drawn: Any, mode: str) -> None:
    G, top = drawn
    for nodes in (None, top):
        assert_agree("latapy_clustering", G, nodes, mode)
        assert_agree("bipartite_average_clustering", G, nodes, mode)
        assert_agree("node_redundancy", G, nodes)
    assert_agree("node_redundancy", G, [v for v, d in G.degree() if d > 1])
    assert_agree("robins_alexander_clustering", G)


@given(weighted_graphs([nx.Graph]).map(without_loops))
def test_robins_alexander_clustering_of_graphs_with_odd_cycles_agrees_with_networkx(G: Any) -> None:
    assert_agree("robins_alexander_clustering", G)


@few
@given(bipartite_graphs(SIMPLE))
def test_bipartite_projections_agree_with_networkx(drawn: Any) -> None:
    G, top = drawn
    for name in (
        "projected_graph",
        "weighted_projected_graph",
        "collaboration_weighted_projected_graph",
        "overlap_weighted_projected_graph",
        "generic_weighted_projected_graph",
    ):
        assert_agree(name, G, top)
    assert_agree("weighted_projected_graph", G, top, ratio=True)
    assert_agree("overlap_weighted_projected_graph", G, top, jaccard=False)

    def joined(H: Any, u: Any, v: Any) -> Any:
        return f"{u}-{v}" if H.degree(u) > 1 else H.size("weight")

    assert_agree("generic_weighted_projected_graph", G, top, joined)


def test_a_projection_keeps_the_attributes_of_nodes_and_of_the_graph() -> None:
    G: Any = nx.Graph([("a", 1), ("b", 1)], name="letters")
    nx.set_node_attributes(G, {"a": 5, "b": 7, 1: 9}, "size")
    H = assert_agree("projected_graph", G, ["b", "a"])
    assert list(nx.projected_graph(G, ["b", "a"], backend="graphla")) == ["b", "a"]
    assert H.graph == {"name": "letters"}
    # NetworkX does not ask backends to preserve node attributes in this function.
    assert_agree("weighted_projected_graph", G, ["a", "b"])
    nx.set_node_attributes(G, {"a": 6}, "size")
    assert_agree("collaboration_weighted_projected_graph", G, ["b", "a"])


# --- distances ----------------------------------------------------------------------------------

DISTANCES = ("diameter", "radius", "periphery", "center", "barycenter", "eccentricity",
             "wiener_index", "harmonic_diameter")  # fmt: skip


def options_of(name: str, **options: Any) -> dict[str, Any]:
    """Return the options that the installed version of NetworkX supports."""
    known = inspect.signature(backends._registered_algorithms[name].orig_func).parameters
    return {key: value for key, value in options.items() if key in known}


@few
@given(weighted_graphs(KINDS, positive), weights, st.data())
def test_eccentricities_and_sums_of_distances_agree_with_networkx(
    G: Any, weight: Any, data: st.DataObject
) -> None:
    parts = nx.weakly_connected_components(G) if G.is_directed() else nx.connected_components(G)
    if data.draw(st.booleans()):
        G = G.subgraph(max(parts, key=len)).copy()
    for name in DISTANCES:
        assert_agree(name, G, **options_of(name, weight=weight))
    nodes = data.draw(node_lists(G) | st.sampled_from([*G, "absent"]))
    assert_agree("eccentricity", G, nodes, weight=weight)
    if weight is None or selections.VERSION >= (3, 5):
        # With `usebounds`, NetworkX 3.4 can return a wrong radius if edges have weights.
        for name in DISTANCES[:4]:
            assert_agree(name, G, usebounds=True, weight=weight)
    if not G.is_directed() and not G.is_multigraph():
        for name in ("hyper_wiener_index", "schultz_index", "gutman_index"):
            if name in backends._registered_algorithms:
                assert_agree(name, G, weight=weight)


@few
@given(weighted_graphs(SIMPLE, positive))
def test_eccentricities_with_a_weight_function_agree_with_networkx(G: Any) -> None:
    def length(u: Any, v: Any, data: Any) -> Any:
        return None if u == v else data.get("weight", 2) + (str(u) < str(v))

    for name in ("eccentricity", "harmonic_diameter", *DISTANCES[:4]):
        assert_agree(name, G, **options_of(name, weight=length))


@pytest.mark.parametrize("name", DISTANCES)
def test_distance_measures_of_small_graphs_agree_with_networkx(name: str) -> None:
    for G in (nx.Graph(), nx.DiGraph(), nx.path_graph(1), nx.path_graph(4)):
        assert_agree(name, G)
    G = nx.Graph([(3, 2), (2, 1), (1, 0)])
    G.add_nodes_from([0])
    assert_agree(name, G)


def test_results_computed_from_given_eccentricities_or_distances_agree_with_networkx() -> None:
    G = nx.path_graph(5)
    e = {0: 4, 1: 3, 2: 2, 3: 3, 4: 4}
    for name in ("diameter", "radius", "periphery", "center"):
        assert_agree(name, G, e)
    lengths = dict(nx.shortest_path_length(G))
    for name in ("eccentricity", "barycenter", "harmonic_diameter"):
        assert_agree(name, G, sp=lengths)
    assert_agree("eccentricity", G, sp=[1] * 5)
    assert_agree("barycenter", G, sp=lengths, weight="weight")


# --- structure ----------------------------------------------------------------------------------


@few
@given(weighted_graphs(SIMPLE).map(without_loops))
def test_complements_and_matchings_agree_with_networkx(G: Any) -> None:
    assert_agree("complement", G)
    if not G.is_directed():
        assert_agree("maximal_matching", G)
        assert_agree("rich_club_coefficient", G, normalized=False)
        assert_agree("greedy_color", G)
        colors = call("greedy_color", G, "random_sequential", backend="graphla")
        assert all(colors[u] != colors[v] for u, v in G.edges())


@few
@given(weighted_graphs(KINDS[:2]), st.booleans())
def test_reversed_graphs_agree_with_networkx(G: Any, has_all: bool) -> None:
    nx.set_node_attributes(G, {v: {"list": [v]} for v in G})
    G.graph["name"] = "a graph"
    expected = call("reverse", G, backend="networkx")
    C = backend.convert_from_nx(G, preserve_edge_attrs=has_all, preserve_node_attrs=has_all)
    found = call("reverse", C)
    assert difference(expected, found) is None
    if G.is_directed():
        assert list(backend.convert_to_nx(found).edges) == list(expected.edges)
        assert difference(G, call("reverse", found)) is None


def test_a_reversed_graphla_graph_has_the_same_weight_on_each_reversed_edge() -> None:
    G = gl.Graph.from_edges([(0, 1, 5), (0, 2, 7), (1, 0, 3), (2, 1, 4)], directed=True)
    H = backend.convert_to_nx(call("reverse", G))
    expected = [(0, 1, 3), (1, 0, 5), (1, 2, 4), (2, 0, 7)]
    assert sorted(H.edges(data="weight")) == expected


def test_a_reversed_graph_has_its_own_copies_of_the_attributes() -> None:
    G = nx.DiGraph([(0, 1, {"list": []})])
    H = backend.convert_to_nx(call("reverse", G, backend="graphla"))
    H[1][0]["list"].append(1)
    assert G[0][1]["list"] == []


def test_graphs_whose_reverse_would_lose_attributes_are_rejected() -> None:
    G = nx.DiGraph([(0, 1)])
    C = backend.convert_from_nx(G)
    G.remove_edge(0, 1)
    assert isinstance(call("reverse", C), NotImplementedError)
    view = nx.DiGraph([(0, 1)]).subgraph([0, 1])
    assert isinstance(call("reverse", view, backend="graphla"), NotImplementedError)
    for arguments in ((G, False), (nx.MultiDiGraph(G),)):
        with pytest.raises(NotImplementedError):
            backend.can_run("reverse", arguments, {})


@few
@given(with_nodes(weighted_graphs(UNDIRECTED)))
def test_local_and_global_efficiency_agree_with_networkx(drawn: Any) -> None:
    G, u, v = drawn
    assert_agree("efficiency", G, u, v)
    assert_agree("global_efficiency", G)
    assert_agree("local_efficiency", without_loops(G))


@few
@given(weighted_graphs(DIRECTED), st.data())
def test_reciprocity_and_the_triadic_census_agree_with_networkx(
    G: Any, data: st.DataObject
) -> None:
    nodes = data.draw(node_lists(G))
    assert_agree("triadic_census", G)
    if not nx.number_of_selfloops(G):  # NetworkX miscounts the triads of some nodes
        assert_agree("triadic_census", G, nodes)
    assert_agree("triadic_census", G, [*nodes, "absent"])
    if not G.is_multigraph():
        assert_agree("overall_reciprocity", G)
        assert_agree("reciprocity", G)
        assert_agree("reciprocity", G, [*nodes, "absent"])
        for node in nodes:
            assert_agree("reciprocity", G, node)


@few
@given(weighted_graphs(SIMPLE, positive), weights, st.data())
def test_structural_hole_measures_agree_with_networkx(
    G: Any, weight: Any, data: st.DataObject
) -> None:
    nodes = data.draw(node_lists(G))
    assert_agree("constraint", G, nodes, weight)
    if selections.VERSION >= (3, 5):
        assert_agree("effective_size", G, nodes, weight)
    G = without_loops(G.copy())
    assert_agree("effective_size", G, nodes, weight)
    assert_agree("constraint", G, None, weight)
    if not G.is_directed():
        assert_agree("effective_size", G)


@few
@given(weighted_graphs(KINDS), st.none() | st.integers(-1, 9))
def test_voterank_agrees_with_networkx(G: Any, count: Any) -> None:
    assert_agree("voterank", G, count)


@few
@given(weighted_graphs(KINDS), st.data())
def test_functions_of_node_sets_agree_with_networkx_or_return_valid_sets(
    G: Any, data: st.DataObject
) -> None:
    nodes = data.draw(node_lists(G))
    assert_agree("is_dominating_set", G, [*nodes, "absent"])
    assert_agree("s_metric", G)
    if G.is_directed():
        return
    without_loops(G)
    expected, found = (
        call("maximal_independent_set", G, nodes, random.Random(7), backend=backend)
        for backend in ("networkx", "graphla")
    )
    if isinstance(expected, Exception):
        assert type(found) is type(expected)
        return
    assert set(nodes) <= set(found) and len(set(found)) == len(found)
    assert not G.subgraph(found).size()
    assert nx.is_dominating_set(G, found)


def test_a_normalized_rich_club_coefficient_uses_the_edge_swaps_of_networkx() -> None:
    G = nx.karate_club_graph()
    assert_agree("rich_club_coefficient", G, Q=2, seed=5)
    assert_agree("rich_club_coefficient", nx.path_graph(3))
    assert_agree("rich_club_coefficient", nx.Graph([(0, 0), (0, 1)]), normalized=False)


def test_a_rejected_call_does_not_change_the_seed() -> None:
    seed = random.Random(1)
    state = seed.getstate()
    with pytest.raises(nx.NetworkXUnfeasible):
        nx.maximal_independent_set(nx.path_graph(3), [0, 1], seed, backend="graphla")
    assert seed.getstate() == state


@pytest.mark.parametrize(
    "name",
    [
        *("average_neighbor_degree", "degree_assortativity_coefficient", "degree_mixing_dict"),
        *("is_bipartite", "latapy_clustering", "robins_alexander_clustering", "sets", "color"),
        *("complement", "constraint", "effective_size", "global_efficiency", "local_efficiency"),
        *("maximal_matching", "greedy_color", "rich_club_coefficient", "voterank", "s_metric"),
        *DISTANCES,
    ],
)
def test_a_graphla_graph_needs_no_conversion(name: str) -> None:
    G = gl.Graph.from_edges([("a", 1), (1, "b"), ("b", 2), (2, "c"), ("b", 3)])
    options: dict[str, Any] = {"Q": 1, "seed": 1} if name == "rich_club_coefficient" else {}
    expected = call(name, G.to_networkx(), backend="networkx", **options)
    assert difference(expected, call(name, G, backend="graphla", **options)) is None
