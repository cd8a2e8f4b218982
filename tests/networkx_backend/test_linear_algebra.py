"""Test that matrices and their eigenvalues agree with those of NetworkX."""

from __future__ import annotations

import warnings
from typing import Any

import networkx as nx
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tests.networkx_backend.agreement import assert_agree, call, difference
from tests.networkx_backend.weighted_graphs import KINDS, weighted_graphs

weights = st.sampled_from([None, "weight"])


def draw_nodes(G: Any, data: st.DataObject) -> Any:
    nodes = st.lists(st.sampled_from([*G, "absent"]), max_size=4)
    return data.draw(st.none() | st.permutations([*G]) | nodes)


@given(weighted_graphs(weights=st.integers(-3, 9)), weights, st.data())
def test_adjacency_and_laplacian_matrices_agree_with_networkx(
    G: Any, weight: Any, data: st.DataObject
) -> None:
    nodelist = draw_nodes(G, data)
    for name in ("adjacency_matrix", "laplacian_matrix"):
        found = assert_agree(name, G, nodelist, weight=weight)
        expected = call(name, G, nodelist, weight=weight, backend="networkx")
        assert isinstance(found, Exception) or found.dtype == expected.dtype
    if not G.is_multigraph() or weight is None:
        assert_agree("incidence_matrix", G, None, None, data.draw(st.booleans()), weight)


@given(weighted_graphs(), st.data())
def test_incidence_matrices_of_a_list_of_edges_agree_with_networkx(
    G: Any, data: st.DataObject
) -> None:
    edges = st.lists(st.sampled_from([*G.edges, ("absent", "absent")])) | st.none()
    nodelist = data.draw(st.permutations([*G]))
    assert_agree("incidence_matrix", G, nodelist, data.draw(edges), dtype=int)


@given(weighted_graphs(), weights, st.data())
def test_normalized_laplacian_and_modularity_matrices_agree_with_networkx(
    G: Any, weight: Any, data: st.DataObject
) -> None:
    nodelist = draw_nodes(G, data)
    assert_agree("normalized_laplacian_matrix", G, nodelist, weight=weight)
    if not nodelist or "absent" in nodelist or G.subgraph(nodelist).size():
        assume(nodelist is not None or G.size())
        if not G.is_multigraph():
            prefix = "directed_" if G.is_directed() else ""
            assert_agree(f"{prefix}modularity_matrix", G, nodelist, weight)


@given(
    weighted_graphs((nx.DiGraph,), least=3),
    weights,
    st.sampled_from([None, "pagerank", "lazy", "random", "drunk"]),
)
def test_directed_laplacian_matrices_agree_with_networkx(G: Any, weight: Any, walk: Any) -> None:
    if walk in ("lazy", "random"):
        assume(nx.is_strongly_connected(G) and (walk == "lazy" or nx.is_aperiodic(G)))
    for name in ("directed_laplacian_matrix", "directed_combinatorial_laplacian_matrix"):
        assert_agree(name, G, None, weight, walk, 0.9)
    assert_agree("directed_laplacian_matrix", G, None, weight, "pagerank", 1.5)


@pytest.mark.parametrize("kind", KINDS)
def test_graph_spectra_agree_with_networkx(kind: Any) -> None:
    G = kind(nx.gnp_random_graph(9, 0.5, seed=4))
    nx.set_edge_attributes(G, {e: k % 4 + 1 for k, e in enumerate(G.edges)}, "weight")
    names = ["laplacian_spectrum", "normalized_laplacian_spectrum", "adjacency_spectrum"]
    if not G.is_multigraph():
        names.append("modularity_spectrum")
    for name in names:
        expected, found = (call(name, G, backend=each) for each in ("networkx", "graphla"))
        order = [
            sorted(x.round(8).tolist(), key=lambda z: (z.real, z.imag)) for x in (expected, found)
        ]
        assert difference(expected.shape, found.shape) is None
        assert order[0] == pytest.approx(order[1], abs=1e-6)


def test_the_exception_of_networkx_is_raised_for_matrices_of_an_empty_graph() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in ("adjacency_matrix", "laplacian_matrix", "normalized_laplacian_matrix"):
            assert isinstance(assert_agree(name, nx.Graph()), nx.NetworkXError)
