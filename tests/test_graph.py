"""Test Graph, and test that each algorithm gives the same results on a Graph as on its Matrix."""

from __future__ import annotations

import copy
import doctest
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
from graphla.ladder.paths import Paths

FRIENDS = [("ann", "bob"), ("bob", "eve"), ("joe", "eve"), ((1, 2), (1, 2))]
InvalidValue, IndexOutOfBound = gl.exceptions.InvalidValue, gl.exceptions.IndexOutOfBound

labels = st.one_of(
    st.text("abcé ", max_size=3),
    st.tuples(st.integers(0, 3), st.integers(0, 3)),
    st.integers(-3, 9),
    st.frozensets(st.integers(0, 2)),
)


@st.composite
def labeled(draw: st.DrawFn, *, directed: bool | None = None) -> tuple[Graph, gl.Matrix]:
    """Draw a graph of 1 to 7 vertices with labels of any kind, and its matrix.

    The graph and the matrix do not share their storage. In shared storage, an operation on the
    graph could build a form such as CSC. Later, a product with the matrix might then use another
    direction, and round sums differently.
    """
    names = draw(st.lists(labels, min_size=1, max_size=7, unique=True))
    n, is_directed = len(names), draw(st.booleans()) if directed is None else directed
    pairs = [(i, j) for i in range(n) for j in range(n) if is_directed or i <= j]
    ends = draw(st.lists(st.sampled_from(pairs), unique=True, max_size=14))
    weights = [draw(st.integers(0, 4)) / 4 for _ in ends]
    places = {end: w for end, w in zip(ends, weights, strict=True)}
    if not is_directed:
        places |= {(j, i): w for (i, j), w in places.items()}
    i, j = np.array(list(places), int).reshape(-1, 2).T
    values = np.array(list(places.values()), float)
    A, B = (gl.Matrix.from_coo(i, j, values, nrows=n, ncols=n) for _ in range(2))
    return Graph(A, directed=is_directed, labels=names), B


# --- basic properties -----------------------------------------------------------------------------


def test_a_graph_from_edges_lists_its_vertices_in_order_of_appearance():
    G = Graph.from_edges(FRIENDS, labels=["zoe"])
    assert G.labels == ("zoe", "ann", "bob", "eve", "joe", (1, 2))
    assert list(G) == list(G.labels) and len(G) == G.nvertices == 6
    assert G.nedges == 4 and G.self_loops == 1 and not G.directed
    assert "ann" in G and (1, 2) in G and "ann" not in Graph.from_edges([])
    assert [1] not in G
    assert G.vertex("bob") == 2
    assert repr(G).startswith("Graph of 6 vertices, 4 undirected edges, BOOL")


def test_vertices_numbered_from_zero_are_their_own_labels():
    G = Graph.from_edges([(2, 0, 1.5), (0, 1, 2)], directed=True)
    assert G.labels == range(3) and not G.has_names
    assert G.matrix.to_dicts() == {0: {1: 2.0}, 2: {0: 1.5}}
    assert Graph.from_edges([(1, 2), (2, 3)]).labels == (1, 2, 3)
    assert Graph(gl.Matrix(int, 2, 2), labels=[0, 1]).labels == range(2)
    arrays = Graph.from_edges(np.array([[5, 6], [6, 7]]), labels=np.array([7]))
    assert arrays.labels == (7, 5, 6) and all(type(each) is int for each in arrays)
    assert Graph(gl.Matrix(int, 2, 2), labels=np.array(["a", "b"])).labels == ("a", "b")
    assert 2 in G and 3 not in G and True not in G and "0" not in G


def test_the_last_of_several_parallel_edges_is_kept_unless_duplicates_are_combined():
    edges = [("a", "b", 3), ("b", "a", 1), ("a", "b", 2)]
    assert Graph.from_edges(edges).matrix.to_dicts() == {0: {1: 2}, 1: {0: 2}}
    assert Graph.from_edges(edges, directed=True).matrix.to_dicts() == {0: {1: 2}, 1: {0: 1}}
    assert Graph.from_edges(edges, dup_op="plus", dtype=float).matrix[0, 1].value == 6.0


def test_a_graph_detects_whether_its_edges_are_directed():
    A = gl.Matrix.from_coo([0, 1], [1, 0], [1, 2], nrows=3, ncols=3)
    assert not Graph(A).directed and Graph(A, directed=True).directed
    B = gl.Matrix.from_coo([0], [1], 1, nrows=2, ncols=2)
    assert Graph(B).directed and not Graph(B).is_symmetric and Graph(A).is_symmetric
    with pytest.raises(InvalidValue, match="directed is False, but some edge"):
        Graph(B, directed=False)
    both = Graph(B, labels="ab").to_undirected()
    assert not both.directed and both.matrix.to_dicts() == {0: {1: 1}, 1: {0: 1}}
    assert Graph(A, directed=True).to_undirected().matrix.to_dicts() == {0: {1: 1}, 1: {0: 1}}


def test_arguments_that_do_not_describe_a_graph_are_rejected():
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


def foreign_graphs() -> list[tuple[Any, str]]:
    """Return the same graph as objects of other libraries, with the functions that convert them."""
    nx, sparse = pytest.importorskip("networkx"), pytest.importorskip("scipy.sparse")

    class Roads(nx.DiGraph):
        pass

    return [
        (nx.Graph([(0, 1)]), "Graph.from_networkx"),
        (Roads([(0, 1)]), "Graph.from_networkx"),
        (sparse.csr_array(np.eye(2)), "Graph.from_scipy"),
        (sparse.coo_matrix(np.eye(2)), "Graph.from_scipy"),
        (np.eye(2), "Graph.from_numpy"),
    ]


def test_the_error_about_a_graph_of_another_library_explains_how_to_convert_the_graph():
    for foreign, convert in foreign_graphs():
        name = type(foreign).__name__
        problem = rf"A must be .* not a \w+\.{name}; convert it by {convert}\(A\)"
        for find in (algorithms.bfs, algorithms.sssp, gl.ladder.bfs):
            with pytest.raises(TypeError, match=problem):
                find(foreign, 0)
        with pytest.raises(TypeError, match=problem):
            algorithms.pagerank(foreign)
        with pytest.raises(TypeError, match=rf"; convert it by {convert}\(matrix\)"):
            Graph(foreign)
    pandas = pytest.importorskip("pandas")
    with pytest.raises(TypeError, match=r"; convert it by Graph.from_pandas\(A\)"):
        algorithms.pagerank(pandas.DataFrame({"source": [0], "target": [1]}))


def test_a_graph_is_immutable():
    A = gl.Matrix.from_coo([0, 1], [1, 0], [1, 1], nrows=2, ncols=2)
    G = Graph(A)
    A[0, 0] = 7
    G.matrix[1, 1] = 7
    G.out_degrees[0] = 7
    assert G.matrix.to_dicts() == {0: {1: 1}, 1: {0: 1}}
    assert G.out_degrees.to_dict() == {0: 1, 1: 1}
    with pytest.raises(AttributeError):
        G.directed = True  # pyright: ignore[reportAttributeAccessIssue]


@given(labeled())
def test_degrees_agree_with_networkx_and_a_networkx_round_trip_keeps_the_graph(drawn):
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


def test_a_graph_can_be_pickled_and_copied_and_moved_and_written_to_a_file_without_loss(tmp_path):
    G = Graph.from_edges(FRIENDS)
    for same in (pickle.loads(pickle.dumps(G)), copy.copy(G), copy.deepcopy(G), G.to("cpu")):
        assert same.labels == G.labels and same.matrix.to_dict() == G.matrix.to_dict()
        assert same.directed == G.directed
    (tmp_path / "friends.txt").write_text("bob ann 3\nann carol 4\n")
    named = Graph.read(tmp_path / "friends.txt", named=True)
    assert named.directed and algorithms.sssp(named, "bob").distances.to_dict() == {
        "bob": 0,
        "ann": 3,
        "carol": 7,
    }
    gl.io.write(tmp_path / "a.npz", G.matrix)
    assert Graph.read(tmp_path / "a.npz").nedges == G.nedges


@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("name", ["plain.txt", "plain.csv", "plain.edges.gz"])
def test_a_text_edge_list_is_directed_unless_declared_undirected(tmp_path, name, named):
    path = tmp_path / name
    gl.io.write(path, gl.Matrix.from_coo([0, 1, 2], [1, 2, 2], [5, 6, 7], nrows=3, ncols=3))
    labels = ["0", "1", "2"] if named else [0, 1, 2]
    one_way = [(labels[0], labels[1], 5), (labels[1], labels[2], 6), (labels[2], labels[2], 7)]
    options: dict[str, Any] = {"named": named} | ({"header": True} if ".csv" in name else {})
    for directed in (None, True, False):
        G = Graph.read(path, directed=directed, **options)
        expected = Graph.from_edges(one_way, directed=directed is not False, labels=labels)
        assert G.directed == expected.directed == (directed is not False)
        assert list(G.labels) == labels
        assert G.matrix.isequal(expected.matrix)


def test_the_header_of_a_file_decides_whether_edges_are_directed(tmp_path):
    A = gl.Matrix.from_coo([0, 1], [1, 2], [5, 6], nrows=3, ncols=3)
    both = gl.binary.any(A | A.T).new()
    for name in ("a.mtx", "a.npz"):
        gl.io.write(tmp_path / name, A)
        assert Graph.read(tmp_path / name).directed
        assert Graph.read(tmp_path / name, directed=True).matrix.isequal(A)
        with pytest.raises(InvalidValue, match="directed is False, but some edge"):
            Graph.read(tmp_path / name, directed=False)
        gl.io.write(tmp_path / name, both)
        for directed in (None, True, False):
            G = Graph.read(tmp_path / name, directed=directed)
            assert G.directed == bool(directed) and G.matrix.isequal(both)


def test_symmetry_is_detected_once_per_matrix():
    A = gl.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
    algorithms.triangle_count(A)
    assert A._store.is_symmetric and A.T.new()._store.is_symmetric


# --- labels ---------------------------------------------------------------------------------------


def test_copies_of_results_keep_the_labels_and_computed_results_have_no_labels():
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


def test_a_label_may_be_a_tuple_of_other_labels():
    G = Graph.from_edges([(0, (0, 1)), ((0, 1), 1)])
    assert algorithms.reachable(G, (0, 1), cutoff=0).to_dict() == {(0, 1): True}
    assert algorithms.reachable(G, [0, 1], cutoff=0).to_dict() == {0: True, 1: True}
    assert algorithms.reachable(G, {1}, cutoff=0).to_dict() == {1: True}
    assert algorithms.jaccard(G, [(0, 1)]).to_dict() == {(0, 1): 1.0}
    assert algorithms.jaccard(G, [((0, 1), 1)]).to_dict() == {((0, 1), 1): 0.0}


def test_the_error_about_an_unknown_label_names_the_label():
    G = Graph.from_edges(FRIENDS)
    for wrong in ("zoe", ["ann", "zoe"], 0):
        with pytest.raises(IndexOutOfBound, match=r"source has ('zoe'|0), which is not a label"):
            algorithms.bfs(G, wrong)
    with pytest.raises(IndexOutOfBound, match="personalization has 'zoe'"):
        algorithms.pagerank(G, personalization={"zoe": 1})
    with pytest.raises(TypeError, match="source"):
        algorithms.bfs(G)  # pyright: ignore[reportCallIssue]
    with pytest.raises(TypeError, match="unexpected"):
        algorithms.bfs(G, "ann", depth=3)  # pyright: ignore[reportCallIssue]


def test_algorithms_for_undirected_graphs_reject_a_directed_graph():
    G = Graph.from_edges(FRIENDS, directed=True)
    with pytest.raises(InvalidValue, match="A is a directed Graph, but triangle_count needs an"):
        algorithms.triangle_count(G)
    assert algorithms.triangle_count(G.to_undirected()) == 0


def test_algorithms_use_the_directedness_of_the_graph():
    A = gl.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], 1, nrows=3, ncols=3)
    once = algorithms.betweenness(Graph(A), normalized=False).to_dict()
    twice = algorithms.betweenness(Graph(A, directed=True), normalized=False).to_dict()
    assert (once[1], twice[1]) == (1.0, 2.0)


# --- graphs from arrays and tables ----------------------------------------------------------------


@st.composite
def dense(draw: st.DrawFn) -> np.ndarray:
    """Draw square arrays with up to 5 rows, mostly zeros; the dtype is FP64, INT32 or BOOL."""
    n, kind = draw(st.integers(0, 5)), draw(st.sampled_from(["f8", "i4", "?"]))
    some = st.sampled_from([0, 0, 0, 1, -2, 0.5, -0.0, float("nan")] if kind == "f8" else [0, 0, 1])
    return np.array(draw(st.lists(some, min_size=n * n, max_size=n * n)), kind).reshape(n, n)


def known(edges: Any) -> list[Any]:
    """Return the edges; their weights are text, because NaN is not equal to itself."""
    return sorted((u, v, str(float(w))) for u, v, w in edges)


@given(dense(), st.data())
def test_a_graph_from_a_dense_array_equals_that_of_networkx(array, data):
    nx = pytest.importorskip("networkx")
    names = [f"v{k}" for k in range(len(array))]
    G = Graph.from_numpy(array, directed=True, labels=names)
    there = nx.from_numpy_array(array, create_using=nx.DiGraph, nodelist=names)
    assert list(G) == list(there) and G.matrix.dtype == gl.dtypes.lookup_dtype(array.dtype)
    found = [
        (u, v, w) for u, row in G.labelled(G.matrix).to_dicts().items() for v, w in row.items()
    ]
    assert known(found) == known(there.edges(data="weight"))
    kept = data.draw(st.sampled_from([0, 1, -2, float("nan")]))
    is_edge = array == array if kept != kept else array != kept
    A = Graph.from_numpy(array, directed=True, nonedge=kept).matrix
    assert sorted(A.to_dict()) == [tuple(place) for place in np.argwhere(is_edge).tolist()]


@given(dense(), st.sampled_from(["csr", "csc", "coo", "lil", "dok", "dia", "bsr"]))
def test_every_stored_entry_of_a_sparse_array_is_an_edge(array, format):
    sparse = pytest.importorskip("scipy.sparse")
    i, j = (array != 0).nonzero()
    S = sparse.coo_array((array[i, j] * 0, (i, j)), shape=array.shape)  # each stored value is 0
    S = S if format in ("lil", "dok", "dia", "bsr") else S.asformat(format)
    G = Graph.from_scipy(S, directed=True)
    assert sorted(G.matrix.to_dict()) == list(zip(i.tolist(), j.tolist(), strict=True))
    T = sparse.csr_array(array).asformat(format)
    stored = T.tocoo()  # "bsr" also stores the zeros inside its blocks
    found = Graph.from_scipy(T).matrix.to_dict()
    assert known((i, j, w) for (i, j), w in found.items()) == known(
        zip(stored.row.tolist(), stored.col.tolist(), stored.data.tolist(), strict=True)
    )


def test_changing_a_sparse_array_does_not_change_a_graph_created_from_the_array():
    sparse = pytest.importorskip("scipy.sparse")
    S = sparse.csr_array(np.array([[0.0, 1], [2, 0]]))
    G = Graph.from_scipy(S, labels="ab")
    S.data[:] = 7
    assert G.labelled(G.matrix).to_dict() == {("a", "b"): 1.0, ("b", "a"): 2.0}
    twice = sparse.coo_array(([1, 2], ([0, 0], [1, 1])), shape=(2, 2))
    with pytest.raises(gl.exceptions.DuplicateEntry, match="give dup_op"):
        Graph.from_scipy(twice)
    assert Graph.from_scipy(twice, dup_op="max").matrix.to_dict() == {(0, 1): 2}
    with pytest.raises(InvalidValue, match="A has 1 dimensions, but an adjacency matrix has two"):
        Graph.from_scipy(sparse.coo_array(np.array([0, 1])))
    with pytest.raises(gl.exceptions.DimensionMismatch, match="2 rows and 3 columns"):
        Graph.from_scipy(sparse.csr_array((2, 3)))
    with pytest.raises(InvalidValue, match="A is a list, but should be an array of scipy"):
        Graph.from_scipy([[0]])
    with pytest.raises(gl.exceptions.DimensionMismatch, match="2 rows and 3 columns"):
        Graph.from_numpy(np.ones((2, 3)))
    with pytest.raises(InvalidValue, match="must have 2 dimensions"):
        Graph.from_numpy(np.ones(3))


mixed = st.one_of(st.integers(0, 4), st.sampled_from(["a", "b"]))


@given(st.data(), st.booleans(), st.booleans())
def test_a_graph_from_an_edge_table_equals_that_of_networkx(data, directed, weighted):
    nx, pd = pytest.importorskip("networkx"), pytest.importorskip("pandas")
    ends = st.sampled_from([st.integers(0, 4), st.sampled_from("abc"), mixed])
    sources, targets = data.draw(ends), data.draw(ends)
    rows = data.draw(st.lists(st.tuples(sources, targets, st.integers(0, 8)), max_size=12))
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    table = pd.DataFrame({"u": columns[0], "v": columns[1], "w": columns[2]})
    weight = "w" if weighted else None
    G = Graph.from_pandas(table, "u", "v", weight, directed=directed, dtype=None if rows else int)
    kind = nx.DiGraph if directed else nx.Graph
    there = nx.from_pandas_edgelist(table, "u", "v", weight, create_using=kind)
    assert G.directed == directed
    expected = {*there} == {*range(len(there))} and {*map(type, there)} <= {int}
    assert list(G) == (sorted(there) if expected else list(there))
    assert {*map(type, G)} <= {int, str}
    assert G.matrix.to_dense(0).tolist() == (
        nx.to_numpy_array(there, nodelist=list(G), weight="w").tolist() if len(there) else []
    )


def test_tables_that_do_not_describe_edges_are_rejected():
    pd = pytest.importorskip("pandas")
    table = pd.DataFrame({"source": [1, 2], "target": ["a", None], "w": ["x", "y"]})
    with pytest.raises(InvalidValue, match="source is 'from', but the columns of the table are 's"):
        Graph.from_pandas(table, "from")
    with pytest.raises(InvalidValue, match="column 'target' has no label in row 1"):
        Graph.from_pandas(table)
    with pytest.raises(gl.exceptions.DomainMismatch, match="weight is 'w', a column of"):
        Graph.from_pandas(table, target="source", weight="w")
    with pytest.raises(TypeError, match=r"table must be a pandas\.DataFrame, not a list"):
        Graph.from_pandas([(0, 1)])
    twice = pd.DataFrame([["a", "b", "c"]], columns=["source", "target", "target"])
    with pytest.raises(InvalidValue, match="target is 'target', but the table has several"):
        Graph.from_pandas(twice)
    G = Graph.from_pandas(table[:1], labels=["z"])
    assert G.labels == ("z", 1, "a") and G.nedges == 1
    days = pd.to_datetime(["2026-01-01", "2026-01-02"])
    dates = Graph.from_pandas(pd.DataFrame({"source": days[:1], "target": days[1:]}))
    assert dates.labels == tuple(days)


# --- tests of the views of vertices and edges -----------------------------------------------------


def pairs_of(G: Graph, there: Any) -> set[Any]:
    """Return edges for a comparison with NetworkX; undirected edges become unordered pairs."""
    return {(u, v) if G.directed else frozenset((u, v)) for u, v in there}


@given(labeled())
def test_the_vertex_and_edge_views_equal_those_of_networkx(drawn):
    nx = pytest.importorskip("networkx")
    G, A = drawn
    there = (nx.DiGraph if G.directed else nx.Graph)()
    there.add_nodes_from(G.labels)
    for (i, j), w in A.to_dict().items():
        there.add_edge(G.labels[i], G.labels[j], weight=w)
    assert list(G.nodes) == list(G.nodes()) == list(there.nodes) and len(G.nodes) == len(there)
    assert len(G.edges) == len(list(G.edges)) == there.number_of_edges()
    assert pairs_of(G, G.edges) == pairs_of(G, there.edges)
    assert pairs_of(G, G.edges()) == pairs_of(G, ((u, v) for u, v, _ in G.edges(data=True)))
    for u, v, w in G.edges(data="weight"):
        assert there[u][v] == {"weight": w} and (u, v, w) in G.edges(data="weight")
        assert (u, v, {"weight": w}) in G.edges(data=True) and (u, v, w + 1) not in G.edges("w")
    assert all((u, v, there[u][v]) == (u, v, data) for u, v, data in G.edges(data=True))
    for u in [*G.labels, "?", None, [0]]:
        assert (u in G.nodes) == (u in G)
        for v in [*G.labels, "?", None, [0]]:
            known = u in G and v in G and there.has_edge(u, v)
            assert G.has_edge(u, v) == ((u, v) in G.edges) == known
    for v in G:
        assert set(G.neighbors(v)) == set(there.neighbors(v))
        assert G.neighbors(v) == sorted(G.neighbors(v), key=G.vertex)


def test_the_views_of_a_graph_behave_like_sets():
    G = Graph.from_edges(FRIENDS)
    assert G.nodes & {"ann", "zoe"} == {"ann"} and G.nodes - {"ann"} == {
        "bob",
        "eve",
        "joe",
        (1, 2),
    }
    assert ("bob", "ann") in G.edges and ["bob", "ann"] not in G.edges
    assert ("ann", "bob", True) not in G.edges and ("ann", "bob", True) in G.edges(data="weight")
    assert repr(G.nodes) == "NodeView(['ann', 'bob', 'eve', 'joe', (1, 2)])"
    assert repr(Graph.from_edges([("ann", "bob")]).edges) == "EdgeView([('ann', 'bob')])"
    assert repr(Graph(gl.Matrix(bool, 12, 12)).nodes) == (
        "NodeView([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, ... of 12])"
    )
    with pytest.raises(IndexOutOfBound, match="label has 'zoe', which is not a label of the graph"):
        G.neighbors("zoe")
    with pytest.raises(TypeError, match="data must be True, False or a name, not 1"):
        G.edges(data=1)  # pyright: ignore[reportArgumentType]
    empty = Graph.from_edges([])
    assert list(empty.nodes) == list(empty.edges) == [] and len(empty.edges) == 0


def test_edge_views_produce_long_lists_of_edges_in_batches(monkeypatch):
    import graphla.graph.views as views

    monkeypatch.setattr(views, "PART", 3)
    edges = [(k, (k + 1) % 10, k) for k in range(10)]
    G = Graph.from_edges(edges, directed=True)
    assert sorted(G.edges(data="weight")) == edges
    assert sorted(Graph.from_edges(edges).edges) == sorted((*sorted(e[:2]),) for e in edges)


# --- derived graphs -------------------------------------------------------------------------------


def same_as_networkx(G: Graph, there: Any) -> None:
    """Assert that both graphs have the same vertices, edges, weights and direction."""
    assert (set(G), G.directed) == (set(there), there.is_directed())
    found = {(u, v): w for u, v, w in G.edges(data="weight")}
    assert len(found) == there.number_of_edges()
    assert all(there[u][v]["weight"] == w for (u, v), w in found.items())
    if not G.directed:
        assert G.matrix.isequal(G.matrix.T.new())


@given(labeled(), st.data())
def test_a_subgraph_equals_that_of_networkx(drawn, data):
    pytest.importorskip("networkx")
    G, _ = drawn
    chosen = data.draw(st.lists(st.sampled_from(G.labels), max_size=8))
    H = G.subgraph(chosen)
    assert list(H) == [v for v in G if v in chosen]
    same_as_networkx(H, G.to_networkx().subgraph(chosen))
    whole = G.subgraph(x for x in G)
    assert whole.labels == G.labels and whole.matrix.isequal(G.matrix)


@given(labeled(), st.data(), st.booleans())
def test_adding_edges_gives_the_same_graph_as_networkx(drawn, data, weighted):
    pytest.importorskip("networkx")
    G, before = drawn
    ends = st.sampled_from([*G.labels, "new", ("n", "e", "w")])
    weights = st.integers(-8, 8).map(lambda k: k / 4)
    edges = data.draw(st.lists(st.tuples(ends, ends, weights), max_size=8))
    there = G.to_networkx()
    if weighted:
        there.add_weighted_edges_from(edges)
    else:
        edges = [edge[:2] for edge in edges]
        there.add_edges_from(edges)
        for _, _, of_edge in there.edges(data=True):
            of_edge.setdefault("weight", 1)
    H = G.add_edges(iter(edges))
    assert list(H) == list(there) and G.matrix.isequal(before)
    same_as_networkx(H, there)


@given(labeled(), st.data())
def test_removing_edges_gives_the_same_graph_as_networkx(drawn, data):
    pytest.importorskip("networkx")
    G, before = drawn
    there = G.to_networkx()
    edges = data.draw(st.lists(st.sampled_from(list(G.edges)), max_size=8)) if G.nedges else []
    if not G.directed:
        edges = [edge[::-1] if data.draw(st.booleans()) else edge for edge in edges]
    there.remove_edges_from(edges)
    H = G.remove_edges(edges)
    assert list(H) == list(G) and G.matrix.isequal(before)
    same_as_networkx(H, there)


def test_a_graph_derived_from_another_graph_keeps_the_labels_and_properties():
    G = Graph.from_edges([(0, 1), (1, 2)], directed=True)
    assert G.subgraph([1, 2]).labels == (1, 2) and G.subgraph(2).labels == (2,)
    assert G.subgraph([]).labels == range(0) and G.subgraph(np.array([0, 1])).labels == range(2)
    assert G.add_edges([(3, 4)]).labels == range(5) and G.add_edges([]).labels == range(3)
    assert G.add_edges([(0, "a")]).labels == (0, 1, 2, "a")
    assert G.add_edges([(0, 2, 0.5)]).matrix.to_dict() == {(0, 1): 1, (0, 2): 0.5, (1, 2): 1}
    assert G.add_edges([(0, 2)]).matrix.dtype == "BOOL"
    assert Graph.from_edges([(True, 0)], labels=[0, 1]).labels == range(2)
    nx = pytest.importorskip("networkx")
    summed = Graph.from_networkx(nx.MultiGraph([("a", "b"), ("a", "b"), ("b", "c")]))
    for made in (
        summed.subgraph("ab"),
        summed.add_edges([("c", "d")]),
        summed.remove_edges([("b", "c")]),
    ):
        assert made.multigraph_weight == "sum"


def test_missing_edges_and_vertices_are_rejected():
    G = Graph.from_edges(FRIENDS, directed=True)
    with pytest.raises(IndexOutOfBound, match="labels has 'zoe', which is not a label"):
        G.subgraph(["ann", "zoe"])
    with pytest.raises(InvalidValue, match=r"edges has \('bob', 'ann'\), which is not an edge"):
        G.remove_edges([("ann", "bob"), ("bob", "ann")])
    with pytest.raises(IndexOutOfBound, match="edges has 'zoe', which is not a label of the graph"):
        G.remove_edges([("ann", "zoe")])
    with pytest.raises(InvalidValue, match="edge 1 is"):
        G.add_edges([("a", "b"), ("a", "b", 1)])
    with pytest.raises(InvalidValue, match="None"):
        G.add_edges([("a", None)])
    with pytest.raises(TypeError, match="not hashable"):
        G.add_edges([("a", ["b"])])


def test_a_graph_is_displayed_as_a_table_with_its_labels():
    G = Graph.from_edges([("<a>", "b", 3)])
    shown = G._repr_html_()
    assert shown.startswith("<div>Graph of 2 vertices, 1 undirected edge, INT64")
    assert "<td>&lt;a&gt;</td><td></td><td>3</td>" in shown
    assert Graph.from_edges([])._repr_html_().startswith("<div>Graph of 0 vertices")
    large = Graph(gl.Matrix(bool, 1000, 1000))
    assert "<td>..</td>" in large._repr_html_()


def test_vertex_and_edge_views_are_displayed_as_tables():
    G = Graph.from_edges([("<a>", "b", 3), ("b", "c", 4)])
    nodes, edges, weighted = (
        view._repr_html_() for view in (G.nodes, G.edges, G.edges(data="weight"))
    )
    assert nodes.startswith("<div>NodeView of 3<table><tr><td>&lt;a&gt;</td></tr>")
    assert "<tr><td>b</td><td>c</td></tr></table>" in edges
    assert "<tr><td>b</td><td>c</td><td>4</td></tr></table>" in weighted
    many = Graph(gl.Matrix(bool, 1000, 1000)).nodes._repr_html_()
    assert many.count("<tr>") == 11
    assert "<td>... of 1000</td>" in many


DOCUMENTED = {"Graph": Graph.__doc__} | {
    name: member.__doc__ for name, member in vars(Graph).items() if ">>>" in str(member.__doc__)
}


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_docstring_example_of_each_method_prints_the_shown_output(name):
    text = DOCUMENTED[name] or ""
    for library in ("networkx", "pandas", "scipy"):
        if f"import {library}" in text or f"from {library}" in text:
            pytest.importorskip(library)
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    said: list[str] = []
    doctest.DocTestRunner().run(test, out=said.append)
    assert not said, "".join(said)


# --- parallel edges -------------------------------------------------------------------------------


def multigraphs(*, directed: bool | None = None):
    """Draw NetworkX multigraphs with 1 to 5 vertices; some edges have integer weights."""
    nx = pytest.importorskip("networkx")

    @st.composite
    def build(draw: st.DrawFn) -> Any:
        is_directed = draw(st.booleans()) if directed is None else directed
        G = nx.MultiDiGraph() if is_directed else nx.MultiGraph()
        G.add_nodes_from("abcde"[: draw(st.integers(1, 5))])
        ends = st.sampled_from(list(G))
        for u, v, w in draw(st.lists(st.tuples(ends, ends, st.integers(0, 9)), max_size=12)):
            G.add_edge(u, v, **({"weight": w} if w else {}))
        return G

    return build()


def has_parallel_edges(G: Any) -> bool:
    pairs = [(u, v) if G.is_directed() else frozenset((u, v)) for u, v in G.edges()]
    return len(set(pairs)) < len(pairs)


@given(st.data(), st.sampled_from(["sum", "min", "max"]))
def test_parallel_edges_are_combined_as_requested_and_the_graph_records_the_method(data, how):
    nx = pytest.importorskip("networkx")
    there = data.draw(multigraphs())
    G = Graph.from_networkx(there, multigraph_weight=how)
    join = {"sum": sum, "min": min, "max": max}[how]
    expected = nx.to_numpy_array(there, multigraph_weight=join, nonedge=0)
    assert G.matrix.to_dense(0).tolist() == expected.tolist()
    matrix = gl.io.from_networkx(there, multigraph_weight=how)
    assert matrix.isequal(G.matrix)
    assert G.multigraph_weight == (how if has_parallel_edges(there) else None)


@given(st.data())
def test_path_lengths_that_use_the_lightest_of_parallel_edges_agree_with_networkx(data):
    nx = pytest.importorskip("networkx")
    there = data.draw(multigraphs())
    G = Graph.from_networkx(there, multigraph_weight="min")
    expected = nx.single_source_dijkstra_path_length(there, "a")
    assert algorithms.sssp(G, "a").distances.to_dict() == expected
    G = Graph.from_networkx(there)
    if has_parallel_edges(there):
        with pytest.raises(InvalidValue, match=r'sssp .*multigraph_weight="min"'):
            algorithms.sssp(G, "a")
    else:
        assert algorithms.sssp(G, "a").distances.to_dict() == expected
    levels = nx.single_source_shortest_path_length(there, "a")
    assert algorithms.sssp(G, "a", weight=None).distances.to_dict() == levels


def test_derived_graphs_record_that_the_weights_of_parallel_edges_were_summed():
    nx = pytest.importorskip("networkx")
    edges = [("a", "b", 3), ("a", "b", 5), ("b", "c", 1)]
    there = nx.MultiDiGraph()
    there.add_weighted_edges_from(edges)
    G = Graph.from_networkx(there)
    copies = [pickle.loads(pickle.dumps(G)), copy.copy(G), copy.deepcopy(G), G.to("cpu")]
    for same in [G, *copies, G.transpose, G.to_undirected()]:
        assert same.multigraph_weight == "sum"
        with pytest.raises(InvalidValue, match="A has parallel edges whose weights were summed"):
            algorithms.sssp(same, "a")
    assert algorithms.pagerank(G).nvals == 3
    assert Graph.from_networkx(nx.Graph(there)).multigraph_weight is None
    assert Graph.from_networkx(there, weight=None, dtype=bool).multigraph_weight is None
    with pytest.raises(InvalidValue, match="multigraph_weight is 'mean', but must be \"sum\""):
        Graph.from_networkx(there, multigraph_weight="mean")
    assert gl.ladder.sssp(Graph.from_networkx(there, multigraph_weight="min"), "a").nvals == 3
    with pytest.raises(InvalidValue, match="sssp needs the weight of one edge"):
        gl.ladder.sssp(G, "a")
    with pytest.raises(InvalidValue, match="Paths needs the weight of one edge"):
        Paths(G)
    assert Paths(G, weight=None).sssp(0).nvals == 3


# Algorithms that need the weights of individual edges, with arguments that make them read these
# weights.
PATHS_NEED = {
    "all_parents": {"source": "a", "weight": "weight"},
    "all_shortest_paths": {"source": "a", "target": "b", "weight": "weight"},
    "dag_longest_path": {},
    "dag_longest_path_length": {},
    "shortest_paths": {"source": "a", "weight": "weight"},
    "all_pairs_lengths": {"weight": "weight"},
    "astar_path": {"source": "a", "target": "b"},
    "average_path_length": {"weight": "weight"},
    "bellman_ford": {"source": "a"},
    "betweenness": {"weight": "weight"},
    "center": {"weight": "weight"},
    "closeness": {"distance": "weight"},
    "diameter": {"weight": "weight"},
    "eccentricity": {"weight": "weight"},
    "edge_betweenness": {"weight": "weight"},
    "harmonic": {"distance": "weight"},
    "minimax_path": {"source": "a"},
    "most_reliable_path": {"source": "a"},
    "negative_cycle": {},
    "neighborhood": {"n": "a", "distance": "weight"},
    "path_count": {"source": "a", "weight": "weight"},
    "periphery": {"weight": "weight"},
    "radius": {"weight": "weight"},
    "shortest_path": {"source": "a", "target": "b", "weight": "weight"},
    "shortest_path_length": {"source": "a", "target": "b", "weight": "weight"},
    "spanning_forest": {},
    "sssp": {"source": "a"},
    "widest_path": {"source": "a"},
}


@pytest.mark.parametrize("name", PATHS_NEED)
def test_path_algorithms_reject_summed_parallel_edges(name):
    nx = pytest.importorskip("networkx")
    there, find = nx.MultiGraph(), getattr(algorithms, name)
    there.add_weighted_edges_from([("a", "b", 0.25), ("a", "b", 0.5)])
    with pytest.raises(InvalidValue, match=f"but {name} needs the weight of one edge"):
        find(Graph.from_networkx(there), **PATHS_NEED[name])
    options = {k: v for k, v in PATHS_NEED[name].items() if k not in ("weight", "distance")}
    reads_always = options == PATHS_NEED[name]
    if not reads_always:
        find(Graph.from_networkx(there), **options)
    try:
        find(Graph.from_networkx(there, multigraph_weight="max"), **PATHS_NEED[name])
    except InvalidValue as error:
        assert "needs the weight of one edge" not in str(error)
    except algorithms.HasCycle:
        assert name.startswith("dag")


def test_every_algorithm_that_reads_lengths_is_tested_with_parallel_edges():
    for name in algorithms.__all__:
        told = getattr(getattr(algorithms, name), "graph_options", None)
        assert (told is not None and bool(told.lengths)) == (name in PATHS_NEED), name


# --- every algorithm ------------------------------------------------------------------------------


def test_the_table_of_commands_lists_algorithms_and_describes_each_option():
    from graphla.cli.options import words_of

    assert {each.function for each in ALGORITHMS} <= set(algorithms.__all__)
    assert len({each.name for each in ALGORITHMS}) == len(ALGORITHMS)
    for each in ALGORITHMS:
        assert all(words_of(each, name) for name in each.parameters), each.name


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=lambda each: each.function)
@settings(max_examples=12)
@given(data=st.data())
def test_algorithms_return_the_same_results_for_a_graph_as_for_its_matrix(algorithm, data):
    G, A = data.draw(labeled(directed=False if algorithm.graph_options.undirected else None))
    numbered, named = _arguments(data.draw, algorithm, G)
    expected, problem = _tried(algorithm, A, numbered | _direction(algorithm, G))
    found, other = _tried(algorithm, G, named)
    assert type(other) is type(problem)
    rows = numbered.get(algorithm.graph_options.rows)
    told = _under(G.labels, expected, algorithm.graph_options.gives, rows)
    assert _read(found) == _read(told)


def _direction(algorithm: Algorithm, G: Graph) -> dict[str, Any]:
    asks = "directed" in inspect.signature(algorithm.run).parameters
    return {"directed": G.directed} if asks else {}


def _arguments(draw: Any, algorithm: Algorithm, G: Graph) -> tuple[dict, dict]:
    """Draw arguments of an algorithm.

    Return them in two versions: the first identifies vertices by number, the second by label.
    """
    numbered, named = dict(algorithm.fixed), dict(algorithm.fixed)
    vertices = st.integers(0, len(G) - 1)
    for name, parameter in algorithm.parameters.items():
        is_needed = parameter.default is inspect.Parameter.empty
        if name in algorithm.graph_options.keyed:
            if is_needed or draw(st.booleans()):
                values = draw(st.lists(st.integers(0, 2), min_size=len(G), max_size=len(G)))
                values = values if is_needed else [float(1 + x) for x in values]
                numbered[name] = dict(enumerate(values))
                named[name] = dict(zip(G.labels, values, strict=True))
        elif name in algorithm.graph_options.pairs:
            pairs = st.lists(st.tuples(vertices, vertices), unique=True, max_size=4)
            given = draw(st.none() | pairs)
            numbered[name], named[name] = given, _names(G.labels, given)
        elif name in algorithm.graph_options.vertices:
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
    """Convert the result of an algorithm on a Matrix to the form of its result on a Graph.

    Vectors and matrices become dictionaries whose keys are labels.
    """
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
        columns = labels if found.ncols == len(labels) else range(found.ncols)
        return {
            (labels[of[i]], columns[j]): x
            for i, row in found.to_dicts().items()
            for j, x in row.items()
        }
    return _names(labels, found) if isinstance(found, list) else found


def _read(found: Any) -> Any:
    if isinstance(found, tuple | list):
        return [_read(part) for part in found]
    if isinstance(found, np.ndarray):
        return found.tolist()
    if hasattr(found, "to_dict"):
        found = found.to_dict()
    if isinstance(found, dict):
        return {key: _read(value) for key, value in found.items()}
    return "nan" if found != found else found  # NaN equals NaN


WITHOUT_CUPY = """
import sys
sys.modules["cupy"] = None  # as where it is not installed
import graphla as gl

gl.config.device = "cpu"
G = gl.Graph.from_edges([("a", "b"), ("b", "c")], directed=True)
print(G.to_undirected().nedges, G.transpose.nedges, gl.algorithms.bfs(G, "a").levels.to_dict())
"""


def test_a_graph_on_the_cpu_does_not_import_cupy():
    ran = subprocess.run([sys.executable, "-c", WITHOUT_CUPY], capture_output=True, text=True)
    assert ran.stdout.strip() == "2 2 {'a': 0, 'b': 1, 'c': 2}", ran.stderr


def test_the_text_of_a_result_shows_labels_where_values_are_vertices():
    G = Graph.from_edges([("ann", "bob"), ("eve", "joe")])
    least = algorithms.connected_components(G)
    for shown in (repr(least), least._repr_html_()):
        assert shown.count("ann") == 3 and shown.count("eve") == 3
    assert "None" not in repr(algorithms.bfs(G, "ann").parents)
