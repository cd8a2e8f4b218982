from __future__ import annotations

import math

import numpy as np
import pytest
from graphs import Edges, graphs
from hypothesis import given
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import (
    NotBipartite,
    attribute_assortativity,
    average_neighbor_degree,
    complement,
    constraint,
    degree_assortativity,
    density,
    effective_size,
    efficiency,
    global_efficiency,
    is_bipartite,
    local_efficiency,
    numeric_assortativity,
    overall_reciprocity,
    projected_graph,
    reciprocity,
    rich_club,
    triadic_census,
    two_color,
    voterank,
)

nx = pytest.importorskip("networkx")
bipartite = nx.algorithms.bipartite
undirected = graphs(undirected=True)
simple = graphs(undirected=True, loops=False)
directed = graphs(undirected=False)
positive = st.integers(1, 12).map(lambda k: k / 4)
DIRECTIONS = st.sampled_from(["in", "out", "in+out"])


def agree(found, expected):
    """Assert that a Vector equals NetworkX's dictionary, ignoring its None and NaN values."""
    values = found.to_dict()
    expected = {v: x for v, x in expected.items() if x is not None and not math.isnan(x)}
    assert values.keys() == expected.keys()
    assert np.allclose([values[v] for v in expected], list(expected.values()), atol=1e-12)


def two_sided(graph):
    """Return the graph with only the edges between an even and an odd vertex."""
    kept = [((i, j), w) for i, j, w in graph if (i + j) % 2]
    ends, weights = tuple(end for end, _ in kept), tuple(w for _, w in kept)
    return Edges(graph.n, ends, weights, graph.undirected, graph.dtype)


@given(graphs() | graphs().map(two_sided))
def test_two_coloring_matches_networkx(graph):
    A, G = graph.matrix(), graph.networkx()
    assert is_bipartite(A) == bipartite.is_bipartite(G)
    if is_bipartite(A):
        colors = two_color(A).to_dense()
        assert all(colors[i] != colors[j] for i, j in graph.ends)
        if graph.undirected:
            assert dict(enumerate(colors.tolist())) == bipartite.color(G)
    else:
        with pytest.raises(NotBipartite, match="A has a cycle of odd length") as error:
            two_color(A)
        u, v = error.value.edge
        assert G.has_edge(u, v) or G.has_edge(v, u)


@given(graphs(), st.data())
def test_projections_match_networkx(graph, data):
    graph = two_sided(graph)
    A, G, nodes = graph.matrix(), graph.networkx(), range(0, graph.n, 2)
    by_measure = {
        None: bipartite.projected_graph(G, nodes),
        "collaboration": bipartite.collaboration_weighted_projected_graph(G, nodes),
        "jaccard": bipartite.overlap_weighted_projected_graph(G, nodes),
        "overlap": bipartite.overlap_weighted_projected_graph(G, nodes, jaccard=False),
        "common": bipartite.generic_weighted_projected_graph(G, nodes),
    }
    for measure, expected in by_measure.items():
        found = projected_graph(A, nodes, measure).to_dicts()
        assert {(u, v) for u in found for v in found[u]} == set(expected.to_directed().edges)
        if measure is not None and expected.edges:
            for u, v, weight in expected.to_directed().edges(data="weight"):
                assert found[u][v] == pytest.approx(weight)


@given(graphs())
def test_the_complement_and_the_density_match_networkx(graph):
    A, G = graph.matrix(), graph.networkx()
    expected = nx.complement(G).to_directed()
    assert {tuple(end) for end in complement(A).to_edgelist()[0].tolist()} == set(expected.edges)
    assert density(A, directed=G.is_directed()) == pytest.approx(nx.density(G))


@given(directed, st.data())
def test_reciprocity_matches_networkx(graph, data):
    A, G = graph.matrix(), graph.networkx()
    nodes = data.draw(st.lists(st.integers(0, graph.n - 1), max_size=5))
    agree(reciprocity(A), nx.reciprocity(G, list(G)))
    agree(reciprocity(A, nodes), nx.reciprocity(G, nodes))
    assert reciprocity(A, 0) == pytest.approx(nx.reciprocity(G, [0])[0])
    if graph.ends:
        assert overall_reciprocity(A) == pytest.approx(nx.overall_reciprocity(G))
    else:
        with pytest.raises(ValueError, match="A has no edges, so their reciprocity"):
            overall_reciprocity(A)


@given(simple)
def test_the_rich_club_coefficient_matches_networkx(graph):
    expected = nx.rich_club_coefficient(graph.networkx(), normalized=False)
    found = rich_club(graph.matrix())
    assert dict(enumerate(found.tolist())) == pytest.approx(expected)


def test_the_rich_club_coefficient_rejects_self_loops():
    with pytest.raises(ValueError, match="A has a self-loop at vertex 1, but the rich-club"):
        rich_club(gl.Matrix.from_coo([1], [1], True, nrows=2, ncols=2))


@given(graphs(loops=False) | graphs())
def test_efficiency_matches_networkx(graph):
    A, G = graph.matrix(), graph.networkx()
    lengths = [
        length
        for _, targets in nx.all_pairs_shortest_path_length(G)
        for length in targets.values()
        if length
    ]
    pairs = graph.n * (graph.n - 1)
    expected = sum(1 / length for length in lengths) / pairs if pairs else 0
    assert global_efficiency(A) == pytest.approx(expected)
    if graph.undirected:
        G.remove_edges_from(list(nx.selfloop_edges(G)))
        assert local_efficiency(A) == pytest.approx(nx.local_efficiency(G))


@given(simple)
def test_each_way_to_compute_local_efficiency_gives_the_same_result(graph):
    A, before = graph.matrix(), (efficiency.ENTRIES, efficiency.DENSE)
    whole = local_efficiency(A)
    try:
        for limits in ((5, before[1]), (before[0], 0), (5, 0)):
            efficiency.ENTRIES, efficiency.DENSE = limits
            assert local_efficiency(A) == pytest.approx(whole)
    finally:
        efficiency.ENTRIES, efficiency.DENSE = before


@given(graphs(weights=positive, dtype="FP64"), DIRECTIONS, DIRECTIONS, st.data())
def test_average_neighbor_degrees_match_networkx(graph, source, target, data):
    A, G = graph.matrix(), graph.networkx()
    nodes = data.draw(st.none() | st.lists(st.integers(0, graph.n - 1), max_size=5))
    if graph.undirected:
        source = target = "out"
    for weight in (None, "weight"):
        found = average_neighbor_degree(
            A, source, target, nodes, weight, directed=not graph.undirected
        )
        agree(found, nx.average_neighbor_degree(G, source, target, nodes, weight))


@given(
    graphs(weights=positive, dtype="FP64"),
    st.sampled_from(["in", "out"]),
    st.sampled_from(["in", "out"]),
    st.data(),
)
def test_degree_assortativity_matches_networkx(graph, x, y, data):
    A, G = graph.matrix(), graph.networkx()
    nodes = data.draw(st.none() | st.lists(st.integers(0, graph.n - 1), min_size=1, max_size=9))
    for weight in (None, "weight"):
        found = degree_assortativity(A, x, y, weight, nodes, directed=not graph.undirected)
        pairs = list(nx.node_degree_xy(G, x, y, weight, nodes))
        expected = correlate(pairs)
        assert found == pytest.approx(expected, abs=1e-9, nan_ok=True)


def correlate(pairs):
    """Return the correlation of the pairs of numbers, or NaN if the correlation is undefined."""
    a, b = zip(*pairs, strict=True) if pairs else ((), ())
    if len(set(a)) < 2 or len(set(b)) < 2:
        return math.nan
    return np.corrcoef(a, b)[0, 1]


@given(graphs(), st.data())
def test_assortativity_by_attribute_matches_networkx(graph, data):
    A, G = graph.matrix(), graph.networkx()
    values = data.draw(st.lists(st.integers(-2, 2), min_size=graph.n, max_size=graph.n))
    nodes = data.draw(st.none() | st.lists(st.integers(0, graph.n - 1), min_size=1, max_size=9))
    nx.set_node_attributes(G, dict(enumerate(values)), "value")
    v = gl.Vector.from_dense(np.array(values))
    pairs = list(nx.node_attribute_xy(G, "value", nodes))
    if nodes is not None:
        # NetworkX does not restrict the second vertex of a pair to `nodes`.
        H = G.subgraph(nodes)
        pairs = list(nx.node_attribute_xy(H, "value"))
    found = numeric_assortativity(A, v, nodes)
    assert found == pytest.approx(correlate(pairs), abs=1e-9, nan_ok=True)
    H = G if nodes is None else G.subgraph(nodes)
    if len(set(values)) > 1 and H.size() and not math.isnan(found):
        expected = nx.attribute_assortativity_coefficient(H, "value")
        assert attribute_assortativity(A, v, nodes) == pytest.approx(expected, abs=1e-9)


@given(directed)
def test_the_triadic_census_matches_networkx(graph):
    G = graph.networkx()
    assert triadic_census(graph.matrix()) == nx.triadic_census(G)


@given(graphs(weights=positive, dtype="FP64", loops=False) | graphs(), st.data())
def test_constraint_and_effective_size_match_networkx(graph, data):
    A, G = graph.matrix(), graph.networkx()
    nodes = data.draw(st.lists(st.integers(0, graph.n - 1), max_size=5))
    # The function effective_size of NetworkX 3.6 has three faults. Without `nodes`, it divides the
    # weight of an edge by the largest weight at the wrong vertex. With `nodes`, it returns NaN for
    # vertices without out-edges, and counts the self-loops of undirected graphs twice.
    sources = [v for v in G if set(G[v]) - {v}]
    for weight in (None, "weight"):
        expected = nx.constraint(G, weight=weight)
        agree(constraint(A, weight=weight), expected)
        agree(constraint(A, nodes, weight), {v: expected[v] for v in nodes})
        if graph.undirected and not weight and nx.number_of_selfloops(G):
            agree(effective_size(A, sources), {v: nx.effective_size(G)[v] for v in sources})
        else:
            agree(effective_size(A, sources, weight), nx.effective_size(G, sources, weight))
        others = sum(bool(set(nx.all_neighbors(G, v)) - {v}) for v in G)
        assert effective_size(A, weight=weight).nvals == others


@given(graphs(), st.none() | st.integers(0, 5))
def test_voterank_matches_networkx(graph, count):
    found = voterank(graph.matrix(), count, directed=not graph.undirected)
    assert found == nx.voterank(graph.networkx(), count)


def test_results_use_the_vertex_labels_of_the_graph():
    edges = [("a", "b"), ("b", "c"), ("c", "d"), ("b", "e")]
    G = gl.Graph.from_edges(edges)
    H = nx.Graph(edges)
    assert two_color(G).to_dict() == bipartite.color(H)
    assert voterank(G) == nx.voterank(H)
    assert projected_graph(G, ["a", "c"]).to_dicts() == {"a": {"c": True}, "c": {"a": True}}
    assert constraint(G, ["b"]).to_dict() == pytest.approx(nx.constraint(H, ["b"]))
    weights = dict(zip("abcde", range(5), strict=True))
    nx.set_node_attributes(H, weights, "w")
    expected = nx.numeric_assortativity_coefficient(H, "w")
    assert numeric_assortativity(G, weights) == pytest.approx(expected)
    with pytest.raises(NotBipartite, match="'a' -> 'a'"):
        two_color(gl.Graph.from_edges([("a", "a")]))


@pytest.mark.parametrize("n", [0, 1, 2])
def test_structural_measures_accept_graphs_without_edges(n):
    A = gl.Matrix(bool, n, n)
    assert two_color(A).to_dense().tolist() == [0] * n
    assert complement(A).nvals == n * (n - 1)
    assert density(A) == global_efficiency(A) == local_efficiency(A) == 0
    assert rich_club(A).size == constraint(A).nvals == effective_size(A).nvals == 0
    assert triadic_census(A) == dict.fromkeys(triadic_census(A), 0)
    assert voterank(A) == []
    assert math.isnan(degree_assortativity(A))
    assert average_neighbor_degree(A).to_dense().tolist() == [0] * n


def test_invalid_arguments_are_rejected():
    A = gl.Matrix(bool, 3, 3)
    with pytest.raises(ValueError, match="source is 'up', but must be in or out or in"):
        average_neighbor_degree(A, "up")
    with pytest.raises(ValueError, match=r"x is 'in[+]out', but must be out or in"):
        degree_assortativity(A, "in+out")
    with pytest.raises(ValueError, match="measure is 'sum', but must be None or common"):
        projected_graph(A, [0], "sum")
    with pytest.raises(ValueError, match="number_of_nodes is -1, but must be at least 0"):
        voterank(A, -1)
    with pytest.raises(ValueError, match="values has no value for some vertex with edges"):
        numeric_assortativity(gl.Matrix.from_coo([0], [1], 1, nrows=3, ncols=3), {0: 1})
