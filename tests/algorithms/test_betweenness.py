"""Compare the betweenness of vertices and edges with NetworkX and with its definition."""

from __future__ import annotations

import random

import numpy as np
import pytest
from devices import DEVICE, has_card
from graphs import Edges, graphs, magnitudes, tenths, with_order
from hypothesis import given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import betweenness, edge_betweenness
from graphla.algorithms.betweenness import definition, sum_dependencies

quarters = st.integers(1, 8).map(lambda k: k / 4)
WEIGHTS = (None, "INT64"), (st.integers(1, 4), "INT64"), (quarters, "FP64")


def drawn():
    """Draw graphs without weights, with integer weights, or with floats whose sums are exact."""
    return st.sampled_from(WEIGHTS).flatmap(lambda kind: graphs(weights=kind[0], dtype=kind[1]))


@settings(max_examples=50)
@given(drawn(), st.booleans(), st.booleans(), st.booleans())
def test_betweenness_matches_networkx(graph, normalized, endpoints, weighted):
    nx = pytest.importorskip("networkx")
    weight = "weight" if weighted else None
    options = {"normalized": normalized, "endpoints": endpoints, "weight": weight}
    expected = nx.betweenness_centrality(graph.networkx(), **options)
    found = betweenness(graph.matrix(), directed=not graph.undirected, **options)
    assert found.to_dict() == pytest.approx(expected, abs=1e-12)


@settings(max_examples=50)
@given(drawn(), st.booleans(), st.booleans())
def test_edge_betweenness_matches_networkx(graph, normalized, weighted):
    nx = pytest.importorskip("networkx")
    weight = "weight" if weighted else None
    options = {"normalized": normalized, "weight": weight}
    expected = nx.edge_betweenness_centrality(graph.networkx(), **options)
    found = edge_betweenness(graph.matrix(), directed=not graph.undirected, **options)
    assert found.nvals == len(graph.ends)
    values = {(i, j): x for i, row in found.to_dicts().items() for j, x in row.items()}
    assert {end: values[end] for end in expected} == pytest.approx(expected, abs=1e-12)
    if graph.undirected:
        assert found.isclose(found.T.new())


@settings(max_examples=50)
@given(
    st.sampled_from([tenths, magnitudes]).flatmap(
        # no self-loops, because NetworkX counts paths through self-loops with tiny weights
        lambda w: graphs(weights=w, dtype="FP64", loops=False)
    )
)
def test_betweenness_with_rounded_lengths_matches_networkx_or_is_rejected(graph):
    nx = pytest.importorskip("networkx")
    G = graph.networkx()
    lengths = dict(nx.all_pairs_dijkstra_path_length(G))
    lost = any(
        u != v and d[u] + w == d[u] == d[v] for d in lengths.values() for u, v, w in graph if u in d
    )
    if lost:
        with pytest.raises(ValueError, match="too small to change the distance"):
            betweenness(graph.matrix(), weight=True)
        return
    options = {"normalized": False, "weight": "weight"}
    expected = nx.betweenness_centrality(G, **options)
    found = betweenness(graph.matrix(), directed=not graph.undirected, **options)
    assert found.to_dict() == pytest.approx(expected, abs=1e-12)
    expected = nx.edge_betweenness_centrality(G, **options)
    found = edge_betweenness(graph.matrix(), directed=not graph.undirected, **options)
    assert {end: found[end].value for end in expected} == pytest.approx(expected, abs=1e-12)


@settings(max_examples=20)
@given(graphs(weights=st.integers(2**54, 2**54 + 3)))
def test_integer_lengths_beyond_2_to_the_53_are_exact(graph):
    nx = pytest.importorskip("networkx")
    options = {"normalized": False, "weight": "weight"}
    expected = nx.betweenness_centrality(graph.networkx(), **options)
    found = betweenness(graph.matrix(), directed=not graph.undirected, **options)
    assert found.to_dict() == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("directed", [False, True])
def test_a_weight_too_small_to_change_a_distance_is_rejected(directed):
    G = gl.Graph.from_edges([("a", "b", 1e20), ("b", "c", 1.0)], directed=directed)
    with pytest.raises(ValueError, match=r"A has weight 1\.0 on edge 'b' -> 'c', too small to"):
        betweenness(G, weight=True)
    assert betweenness(G, weight=True, sources=["b"]).nvals == 3


@settings(max_examples=50)
@given(drawn(), st.data())
def test_device_loops_give_the_same_betweenness_as_the_definition(graph, data):
    sources = data.draw(st.lists(st.integers(0, graph.n - 1), unique=True))
    A, chosen = graph.matrix(), np.array(sorted(sources), np.int64)
    options = {"is_weighted": data.draw(st.booleans()), "of_edges": data.draw(st.booleans())}
    one, other = (
        sum_dependencies(A, chosen, reach=True, **options),
        definition(A, chosen, **options),
    )
    assert one.totals.isclose(other.totals, abs_tol=1e-12)
    assert one.reached.isequal(other.reached)
    assert one.counts.tolist() == other.counts.tolist()
    if one.edges is not None:
        assert one.edges.isclose(other.edges, abs_tol=1e-12)


def test_device_loops_give_the_same_dependencies_on_one_source_as_the_definition():
    """The random graph has vertices without a neighbor on the next level."""
    A = gl.generators.uniform(200, 400, seed=1)
    for source in range(5):
        chosen = np.array([source])
        found, expected = sum_dependencies(A, chosen, reach=True), definition(A, chosen)
        assert found.totals.isclose(expected.totals)
        assert found.reached.isequal(expected.reached)
        assert found.counts.tolist() == expected.counts.tolist()


@settings(max_examples=20)
@given(graphs(), st.booleans(), st.booleans(), st.integers(0, 3), st.data())
def test_betweenness_from_sampled_sources_is_scaled_as_in_networkx(
    graph, normalized, endpoints, seed, data
):
    nx = pytest.importorskip("networkx")
    k = data.draw(st.integers(1, graph.n))
    chosen = np.random.default_rng(seed).choice(graph.n, k, replace=False).tolist()

    class Told(random.Random):
        def sample(self, population, k, *, counts=None):
            return chosen

    options = {"normalized": normalized, "endpoints": endpoints}
    expected = nx.betweenness_centrality(graph.networkx(), k, seed=Told(), **options)
    options["directed"] = not graph.undirected
    found = betweenness(graph.matrix(), k, seed=seed, **options)
    assert found.to_dict() == pytest.approx(expected, abs=1e-12, nan_ok=True)
    del options["endpoints"]
    expected = nx.edge_betweenness_centrality(graph.networkx(), k, normalized, seed=Told())
    found = edge_betweenness(graph.matrix(), k, seed=seed, **options)
    assert {end: found[end].value for end in expected} == pytest.approx(expected, abs=1e-12)


@settings(max_examples=20)
@given(with_order(graphs()))
def test_relabeled_vertices_keep_their_betweenness(ordered):
    graph, order = ordered
    one = betweenness(graph.matrix()).to_dense()
    other = betweenness(graph.relabeled(order).matrix()).to_dense()
    assert np.allclose(other[order], one, atol=1e-12)


@settings(max_examples=20)
@given(graphs())
def test_the_reverse_graph_has_the_same_betweenness(graph):
    A = graph.matrix()
    assert betweenness(A).isclose(betweenness(A.T.new()), abs_tol=1e-12)
    assert edge_betweenness(A).isclose(edge_betweenness(A.T.new()).T.new(), abs_tol=1e-12)


@settings(max_examples=20)
@given(graphs())
def test_an_isolated_vertex_does_not_change_betweenness(graph):
    more = Edges(graph.n + 1, graph.ends, graph.weights, graph.undirected, graph.dtype)
    one = betweenness(graph.matrix(), normalized=False).to_dense()
    other = betweenness(more.matrix(), normalized=False).to_dense()
    assert np.allclose(other[:-1], one)
    assert other[-1] == 0


@pytest.mark.parametrize("n", [0, 1, 2])
def test_betweenness_is_zero_for_up_to_two_vertices(n):
    assert betweenness(gl.Matrix(bool, n, n)).to_dense().tolist() == [0.0] * n
    assert edge_betweenness(gl.Matrix(bool, n, n)).nvals == 0


def test_betweenness_rejects_invalid_arguments():
    A = gl.Matrix.from_coo([0, 1], [1, 2], [1, 0], nrows=3, ncols=3)
    with pytest.raises(ValueError, match="k is 4, but there are 3 vertices"):
        betweenness(A, 4)
    with pytest.raises(ValueError, match="k and sources both say"):
        betweenness(A, 1, sources=[0])
    with pytest.raises(ValueError, match="A has weight 0 on edge 1 -> 2, but must have weights"):
        betweenness(A, weight=True)
    with pytest.raises(TypeError, match="weight must be True, False, None or a name, not 3"):
        edge_betweenness(A, weight=3)  # pyright: ignore[reportArgumentType]


@pytest.mark.skipif(DEVICE == "cpu", reason="on the CPU, sums have one order")
def test_betweenness_in_deterministic_mode_is_bitwise_reproducible(monkeypatch):
    rng = np.random.default_rng(1)
    i, j = rng.integers(0, 40, (2, 200))
    A = gl.Matrix.from_coo(i, j, True, nrows=40, ncols=40, dup_op="any")
    found = set()
    for seed in range(4):
        if not has_card():
            from simulator import machine

            monkeypatch.setattr(machine, "seed", seed)
        with gl.config.set(deterministic=True):
            edges = edge_betweenness(A).to_coo()[2].tobytes()
            found.add((betweenness(A).to_dense().tobytes(), edges))
    assert len(found) == 1
