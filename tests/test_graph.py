"""The Graph: what it is, and that each algorithm on it is that on its Matrix, under the labels."""

from __future__ import annotations

import copy
import inspect
import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla import Graph, algorithms
from graphla.cli.catalogue import ALGORITHMS, Algorithm
from graphla.graph import LabelledMatrix, LabelledVector

FRIENDS = [("ann", "bob"), ("bob", "eve"), ("joe", "eve"), ((1, 2), (1, 2))]
InvalidValue, IndexOutOfBound = gl.exceptions.InvalidValue, gl.exceptions.IndexOutOfBound

labels = st.one_of(
    st.text("abcé ", max_size=3),
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
    st.integers(-3, 9),
    st.frozensets(st.integers(0, 2)),
)


@st.composite
def labelled(draw: st.DrawFn, *, directed: bool | None = None) -> tuple[Graph, gl.Matrix]:
    """A graph of 1 to 7 vertices with labels of any kind, and its matrix."""
    names = draw(st.lists(labels, min_size=1, max_size=7, unique=True))
    n, is_directed = len(names), draw(st.booleans()) if directed is None else directed
    pairs = [(i, j) for i in range(n) for j in range(n) if is_directed or i <= j]
    ends = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=14))
    weights = [draw(st.integers(0, 4)) / 4 for _ in ends]
    places = {end: w for end, w in zip(ends, weights, strict=True)}
    if not is_directed:
        places |= {(j, i): w for (i, j), w in places.items()}
    i, j = np.array(list(places), int).reshape(-1, 2).T
    A = gl.Matrix.from_coo(i, j, np.array(list(places.values()), float), nrows=n, ncols=n)
    return Graph(A, directed=is_directed, labels=names), A


# --- what a Graph is ------------------------------------------------------------------------------


def test_a_graph_of_edges_has_its_vertices_in_the_order_in_which_they_come():
    G = Graph.from_edges(FRIENDS, labels=["zoe"])
    assert G.labels == ("zoe", "ann", "bob", "eve", "joe", (1, 2))
    assert list(G) == list(G.labels) and len(G) == G.nvertices == 6
    assert G.nedges == 4 and G.self_loops == 1 and not G.directed
    assert "ann" in G and (1, 2) in G and "ann" not in Graph.from_edges([])
    assert [1] not in G
    assert G.vertex("bob") == 2
    assert repr(G).startswith("Graph of 6 vertices, 4 undirected edges, BOOL")


def test_vertices_that_are_numbers_from_0_are_their_own_labels():
    G = Graph.from_edges([(2, 0, 1.5), (0, 1, 2)], directed=True)
    assert G.labels == range(3) and not G.has_names
    assert G.matrix.to_dicts() == {0: {1: 2.0}, 2: {0: 1.5}}
    assert Graph.from_edges([(1, 2), (2, 3)]).labels == (1, 2, 3)
    assert Graph(gl.Matrix(int, 2, 2), labels=[0, 1]).labels == range(2)
    arrays = Graph.from_edges(np.array([[5, 6], [6, 7]]), labels=np.array([7]))
    assert arrays.labels == (7, 5, 6) and all(type(each) is int for each in arrays)
    assert Graph(gl.Matrix(int, 2, 2), labels=np.array(["a", "b"])).labels == ("a", "b")
    assert 2 in G and 3 not in G and True not in G and "0" not in G


def test_of_an_edge_that_comes_twice_the_last_counts_unless_they_are_joined():
    edges = [("a", "b", 3), ("b", "a", 1), ("a", "b", 2)]
    assert Graph.from_edges(edges).matrix.to_dicts() == {0: {1: 2}, 1: {0: 2}}
    assert Graph.from_edges(edges, directed=True).matrix.to_dicts() == {0: {1: 2}, 1: {0: 1}}
    assert Graph.from_edges(edges, dup_op="plus", dtype=float).matrix[0, 1].value == 6.0


def test_whether_edges_have_a_direction_is_found_out():
    A = gl.Matrix.from_coo([0, 1], [1, 0], [1, 2], nrows=3, ncols=3)
    assert not Graph(A).directed and Graph(A, directed=True).directed
    B = gl.Matrix.from_coo([0], [1], 1, nrows=2, ncols=2)
    assert Graph(B).directed and not Graph(B).is_symmetric and Graph(A).is_symmetric
    with pytest.raises(InvalidValue, match="directed is False, but some edge"):
        Graph(B, directed=False)
    both = Graph(B, labels="ab").to_undirected()
    assert not both.directed and both.matrix.to_dicts() == {0: {1: 1}, 1: {0: 1}}
    assert Graph(A, directed=True).to_undirected().matrix.to_dicts() == {0: {1: 1}, 1: {0: 1}}


def test_what_is_no_graph_is_refused():
    A = gl.Matrix(int, 2, 2)
    with pytest.raises(TypeError, match=r"matrix must be a graphla\.Matrix, not a list"):
        Graph([[0]])
    with pytest.raises(gl.exceptions.DimensionMismatch, match="2 rows and 3 columns"):
        Graph(gl.Matrix(int, 2, 3))
    with pytest.raises(gl.exceptions.DimensionMismatch, match="3 labels for 2 vertices"):
        Graph(A, labels="abc")
    with pytest.raises(InvalidValue, match="labels has 'a' twice"):
        Graph(A, labels="aa")
    with pytest.raises(InvalidValue, match="None"):
        Graph(A, labels=["a", None])
    with pytest.raises(TypeError, match=r"a label is \[1\] \(a list\), which is not hashable"):
        Graph(A, labels=["a", [1]])  # pyright: ignore[reportArgumentType]
    with pytest.raises(InvalidValue, match=r"edge 1 is .*, but should be"):
        Graph.from_edges([("a", "b", 1), ("b", "c")])
    with pytest.raises(TypeError, match="not hashable"):
        Graph.from_edges([("a", ["b"])])


def test_a_graph_does_not_change():
    A = gl.Matrix.from_coo([0, 1], [1, 0], [1, 1], nrows=2, ncols=2)
    G = Graph(A)
    A[0, 0] = 7
    G.matrix[1, 1] = 7
    G.out_degrees[0] = 7
    assert G.matrix.to_dicts() == {0: {1: 1}, 1: {0: 1}}
    assert G.out_degrees.to_dict() == {0: 1, 1: 1}
    with pytest.raises(AttributeError):
        G.directed = True  # pyright: ignore[reportAttributeAccessIssue]


@given(labelled())
def test_degrees_are_those_of_networkx_and_it_goes_there_and_back(drawn):
    nx = pytest.importorskip("networkx")
    G, A = drawn
    there = G.to_networkx()
    assert type(there) is (nx.DiGraph if G.directed else nx.Graph)
    assert G.degrees.to_dict() == dict(there.degree())
    assert G.nedges == there.number_of_edges() and len(G) == len(there)
    assert G.self_loops == nx.number_of_selfloops(there)
    if G.directed:
        assert G.in_degrees.to_dict() == dict(there.in_degree())
        assert G.out_degrees.to_dict() == dict(there.out_degree())
        assert G.transpose.out_degrees.to_dict() == dict(there.in_degree())
    back = Graph.from_networkx(there)
    assert back.labels == G.labels and back.directed == G.directed
    assert (
        back.matrix.to_dict()
        == A.to_dict()
        == {(i, j): x for i, row in A.to_dicts().items() for j, x in row.items()}
    )


def test_a_graph_may_be_pickled_copied_moved_and_read(tmp_path):
    G = Graph.from_edges(FRIENDS)
    for same in (pickle.loads(pickle.dumps(G)), copy.copy(G), copy.deepcopy(G), G.to("cpu")):
        assert same.labels == G.labels and same.matrix.to_dict() == G.matrix.to_dict()
        assert same.directed == G.directed
    (tmp_path / "friends.txt").write_text("bob ann 3\nann carol 4\n")
    named = Graph.read(tmp_path / "friends.txt", named=True)
    assert named.directed and algorithms.sssp(named, "bob").to_dict() == {
        "bob": 0,
        "ann": 3,
        "carol": 7,
    }
    gl.io.write(tmp_path / "a.npz", G.matrix)
    assert Graph.read(tmp_path / "a.npz").nedges == G.nedges


def test_symmetry_is_found_once_for_all_who_ask_the_same_matrix():
    A = gl.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
    algorithms.triangle_count(A)
    assert A._forms.is_symmetric and A.T.new()._forms.is_symmetric


# --- labels in, labels out ------------------------------------------------------------------------


def test_results_keep_their_labels_when_copied_and_are_plain_when_computed_with():
    G = Graph.from_edges(FRIENDS)
    found = algorithms.connected_components(G)
    expected = {"ann": "ann", "bob": "ann", "eve": "ann", "joe": "ann", (1, 2): (1, 2)}
    for same in (found, pickle.loads(pickle.dumps(found)), copy.copy(found), found.to("cpu")):
        assert isinstance(same, LabelledVector) and isinstance(same, gl.Vector)
        assert same.to_dict() == expected
    assert type(found.dup()) is gl.Vector
    assert repr(found).splitlines()[1].split() == ["ann", "bob", "eve", "joe", "(1,", "2)"]
    pairs = algorithms.all_pairs_lengths(G, ["bob", (1, 2)])
    assert isinstance(pairs, LabelledMatrix)
    assert pairs.to_dicts()["bob"] == {"ann": 1, "bob": 0, "eve": 1, "joe": 2}
    assert pairs.to_dict()[(1, 2), (1, 2)] == 0
    assert repr(pairs).splitlines()[2].split() == ["bob", "1", "0", "1", "2"]
    assert pairs.to_dicts("columnwise")["joe"] == {"bob": 2}
    assert pickle.loads(pickle.dumps(pairs)).to_dict() == pairs.to_dict()


def test_a_label_may_look_like_a_list_of_labels():
    G = Graph.from_edges([(0, (0, 1)), ((0, 1), 1)])
    assert algorithms.reachable(G, (0, 1), cutoff=0).to_dict() == {(0, 1): True}
    assert algorithms.reachable(G, [0, 1], cutoff=0).to_dict() == {0: True, 1: True}
    assert algorithms.reachable(G, {1}, cutoff=0).to_dict() == {1: True}
    assert algorithms.jaccard(G, [(0, 1)]).to_dict() == {(0, 1): 1.0}
    assert algorithms.jaccard(G, [((0, 1), 1)]).to_dict() == {((0, 1), 1): 0.0}


def test_labels_that_are_none_are_refused_by_name():
    G = Graph.from_edges(FRIENDS)
    for wrong in ("zoe", ["ann", "zoe"], 0):
        with pytest.raises(IndexOutOfBound, match=r"source has ('zoe'|0), which is no label"):
            algorithms.bfs(G, wrong)
    with pytest.raises(IndexOutOfBound, match="personalization has 'zoe'"):
        algorithms.pagerank(G, personalization={"zoe": 1})
    with pytest.raises(TypeError, match="source"):
        algorithms.bfs(G)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="unexpected"):
        algorithms.bfs(G, "ann", depth=3)  # pyright: ignore[reportCallIssue]


def test_a_directed_graph_is_refused_where_edges_lead_both_ways():
    G = Graph.from_edges(FRIENDS, directed=True)
    with pytest.raises(InvalidValue, match="A is a directed Graph, but triangle_count is of"):
        algorithms.triangle_count(G)
    assert algorithms.triangle_count(G.to_undirected()) == 0


def test_what_depends_on_directions_asks_the_graph():
    A = gl.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
    once = algorithms.betweenness(Graph(A), normalized=False).to_dict()
    twice = algorithms.betweenness(Graph(A, directed=True), normalized=False).to_dict()
    assert (once[1], twice[1]) == (1.0, 2.0)


# --- every algorithm ------------------------------------------------------------------------------


def test_the_table_has_a_line_for_each_algorithm_and_words_for_each_option():
    from graphla.cli.options import words_of

    functions = [
        name for name in algorithms.__all__ if inspect.isfunction(getattr(algorithms, name))
    ]
    assert sorted(each.function for each in ALGORITHMS) == sorted(functions)
    assert len({each.name for each in ALGORITHMS}) == len(ALGORITHMS)
    for each in ALGORITHMS:
        assert all(words_of(each, name) for name in each.parameters), each.name


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda each: each.function)
@settings(max_examples=12)
@given(data=st.data())
def test_an_algorithm_of_a_graph_is_that_of_its_matrix_under_the_labels(algorithm, data):
    G, A = data.draw(labelled(directed=False if algorithm.told.undirected else None))
    numbered, named = _arguments(data.draw, algorithm, G)
    expected, problem = _tried(algorithm, A, numbered | _direction(algorithm, G))
    found, other = _tried(algorithm, G, named)
    assert type(other) is type(problem)
    rows = numbered.get(algorithm.told.rows)
    told = _under(G.labels, expected, algorithm.told.gives, rows)
    assert _read(found) == _read(told)


def _direction(algorithm: Algorithm, G: Graph) -> dict[str, Any]:
    asks = "directed" in inspect.signature(algorithm.run).parameters
    return {"directed": G.directed} if asks else {}


def _arguments(draw: Any, algorithm: Algorithm, G: Graph) -> tuple[dict, dict]:
    """What is asked, by the numbers of vertices and by their labels."""
    numbered, named = dict(algorithm.fixed), dict(algorithm.fixed)
    vertices = st.integers(0, len(G) - 1)
    for name, parameter in algorithm.parameters.items():
        is_needed = parameter.default is inspect.Parameter.empty
        if name in algorithm.told.keyed:
            if is_needed or draw(st.booleans()):
                values = draw(st.lists(st.integers(0, 2), min_size=len(G), max_size=len(G)))
                values = values if is_needed else [float(1 + x) for x in values]
                numbered[name] = dict(enumerate(values))
                named[name] = dict(zip(G.labels, values, strict=True))
        elif name in algorithm.told.pairs:
            pairs = st.lists(st.tuples(vertices, vertices), unique=True, max_size=4)
            given = draw(st.none() | pairs)
            numbered[name], named[name] = given, _names(G.labels, given)
        elif name in algorithm.told.vertices:
            if is_needed and name != "sources":
                given = draw(vertices)
            else:
                lists = st.lists(vertices, unique=True, min_size=1)
                given = draw(lists if is_needed else st.none() | lists)
            numbered[name], named[name] = given, _names(G.labels, given)
        elif name == "k" and is_needed:
            numbered[name] = named[name] = draw(st.integers(2, 4))
    return numbered, named


def _names(labels: Any, given: Any) -> Any:
    if given is None:
        return None
    if isinstance(given, list | tuple):
        return type(given)(_names(labels, each) for each in given)
    return labels[given]


def _tried(algorithm: Algorithm, graph: Any, options: dict[str, Any]) -> tuple[Any, Any]:
    try:
        return algorithm.run(graph, **options), None
    except (gl.exceptions.GraphblasException, ValueError, ZeroDivisionError) as error:
        return None, error


def _under(labels: Any, found: Any, gives: tuple[str, ...], rows: Any) -> Any:
    """The dicts that a result of the Matrix is under the labels."""
    if isinstance(found, tuple):
        fields = getattr(found, "_fields", [str(k) for k in range(len(found))])
        return [
            _under(labels, part, ("",) if name in gives else (), rows)
            for name, part in zip(fields, found, strict=True)
        ]
    if isinstance(found, gl.Vector):
        items = found.to_dict().items()
        return {labels[i]: labels[x] if "" in gives else x for i, x in items}
    if isinstance(found, gl.Matrix):
        of = list(range(len(labels))) if rows is None else rows
        return {
            (labels[of[i]], labels[j]): x
            for i, row in found.to_dicts().items()
            for j, x in row.items()
        }
    return _names(labels, found) if isinstance(found, list) else found


def _read(found: Any) -> Any:
    if isinstance(found, tuple | list):
        return [_read(part) for part in found]
    if isinstance(found, np.ndarray):
        return found.tolist()
    return found.to_dict() if hasattr(found, "to_dict") else found


WITHOUT_CUPY = """
import sys
sys.modules["cupy"] = None  # as where it is not installed
import graphla as gl

gl.config.device = "cpu"
G = gl.Graph.from_edges([("a", "b"), ("b", "c")], directed=True)
print(G.to_undirected().nedges, G.transpose.nedges, gl.algorithms.bfs(G, "a").levels.to_dict())
"""


def test_a_graph_on_the_cpu_needs_no_cupy():
    ran = subprocess.run([sys.executable, "-c", WITHOUT_CUPY], capture_output=True, text=True)
    assert ran.stdout.strip() == "2 2 {'a': 0, 'b': 1, 'c': 2}", ran.stderr
