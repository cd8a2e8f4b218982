"""Test that a Graph whose weights have a name rejects any other name for the weights."""

from __future__ import annotations

import pickle

import networkx as nx
import pandas as pd
import pytest

from graphla import Graph
from graphla.algorithms import closeness, pagerank, sssp
from semirings.exceptions import InvalidValue

pytestmark = pytest.mark.cpu


def roads() -> nx.Graph:
    return nx.Graph([("a", "b", {"length": 3}), ("b", "c", {"length": 5})])


def table() -> pd.DataFrame:
    return pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"], "length": [3, 5]})


GRAPHS = {
    "from_networkx": lambda: Graph.from_networkx(roads(), weight="length"),
    "from_pandas": lambda: Graph.from_pandas(table(), weight="length"),
}


@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS)
def test_a_graph_keeps_the_name_of_its_weights(make):
    G = make()
    others = [G.to("cpu"), G.subgraph("abc"), G.to_undirected(), G.transpose]
    others += [G.add_edges([("c", "d", 1)]), pickle.loads(pickle.dumps(G))]
    assert {each.weight_name for each in (G, *others)} == {"length"}
    assert list(G.edges(data=True)) == [("a", "b", {"length": 3}), ("b", "c", {"length": 5})]
    assert nx.utils.graphs_equal(G.to_networkx(), roads())


@pytest.mark.parametrize("make", GRAPHS.values(), ids=GRAPHS)
def test_the_error_about_a_misspelled_weight_suggests_the_known_name(make):
    G, said = make(), "is 'lenght', but the values of the graph are 'length'"
    with pytest.raises(InvalidValue, match=f"weight {said}"):
        sssp(G, "a", weight="lenght")
    with pytest.raises(InvalidValue, match=f"weight {said}"):
        pagerank(G, weight="lenght")
    with pytest.raises(InvalidValue, match=f"distance {said}"):
        closeness(G, distance="lenght")
    with pytest.raises(InvalidValue, match=f"data {said}"):
        G.edges(data="lenght")
    assert sssp(G, "a", weight="length").distances.to_dict() == {"a": 0, "b": 3, "c": 8}


def test_a_graph_whose_weights_have_no_name_accepts_any_name():
    G = Graph.from_edges([("a", "b", 3)])
    assert G.weight_name is None and Graph(G.matrix).weight_name is None
    assert Graph.from_networkx(roads(), weight=None).weight_name is None
    assert sssp(G, "a", weight="length").distances.to_dict() == {"a": 0, "b": 3}
    assert G.to_networkx().edges["a", "b"] == {"weight": 3}
    assert G.to_networkx(None).edges["a", "b"] == {} == G.to_networkx(False).edges["a", "b"]


def test_a_graph_read_from_a_file_with_attributes_keeps_the_name_of_its_weights(tmp_path):
    path = tmp_path / "roads.graphml"
    nx.write_graphml(roads(), path)
    G = Graph.read(path, weight="length")
    assert G.weight_name == "length" and Graph.read(path).weight_name == "weight"
    assert list(G.edges(data="length")) == [("a", "b", 3), ("b", "c", 5)]


def test_the_function_from_networkx_rejects_a_weight_that_no_edge_has():
    said = "weight is 'lenght', but no edge has this attribute: the edges have 'length'"
    with pytest.raises(InvalidValue, match=said):
        Graph.from_networkx(roads(), weight="lenght")
    with pytest.raises(InvalidValue, match="no edge has this attribute: None counts 1 per edge"):
        Graph.from_networkx(nx.path_graph(3), weight="length")
    assert Graph.from_networkx(nx.empty_graph(3), weight="length").nedges == 0
    # The default attribute, "weight", need not exist.
    assert Graph.from_networkx(nx.path_graph(3)).nedges == 2
    some = nx.Graph([("a", "b", {"length": 3}), ("b", "c")])
    assert Graph.from_networkx(some, weight="length").has_edge("b", "c")
