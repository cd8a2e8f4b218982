"""Tests of Louvain communities and of modularity."""

from __future__ import annotations

from fractions import Fraction
from importlib import import_module
from itertools import pairwise

import numpy as np
import pytest
from graphs import graphs, halves
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import louvain, modularity
from graphla.algorithms._shared.membership import selection
from graphla.backends.cpu.communities import MovesTuning, contract
from graphla.backends.cpu.operands import PartsTuning
from graphla.backends.tuning import using
from graphla.formats import Csr
from graphla.operations import hashed_random
from semirings.semiring import plus_first

louvain_file = import_module("graphla.algorithms.louvain")
weighted = graphs(weights=st.integers(1, 4)) | graphs(weights=halves, dtype="FP32")
resolutions = st.sampled_from([0.5, 1, 2.0])


@st.composite
def with_labels(draw, edges):
    graph = draw(edges)
    return graph, draw(st.lists(st.integers(-2, 5), min_size=graph.n, max_size=graph.n))


def parts(labels) -> list[set[int]]:
    """Return the set of vertices with each label."""
    labels = np.asarray(labels)
    return [set(np.flatnonzero(labels == each).tolist()) for each in np.unique(labels)]


# --- modularity ---------------------------------------------------------------------------------


@settings(max_examples=60)
@given(with_labels(weighted), resolutions, st.booleans())
def test_modularity_matches_networkx(labeled, resolution, weight):
    nx = pytest.importorskip("networkx")
    (graph, labels), name = labeled, "weight" if weight else None
    assume(sum(graph.weights) if weight else graph.ends)
    A, G, groups = graph.matrix(), graph.networkx(), parts(labels)
    expected = nx.community.modularity(G, groups, name, resolution)
    told = {"directed": not graph.undirected}
    vector = gl.Vector.from_dense(labels)
    for communities in (vector, dict(enumerate(map(str, labels))), groups):
        found = modularity(A, communities, name, resolution, **told)
        assert isinstance(found, float)
        assert found == pytest.approx(expected, abs=1e-12)
    if graph.undirected:
        assert modularity(A, vector, name, resolution) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("communities", "message"),
    [
        ([{0}, {1}], "communities lacks vertex 2, but should have each once"),
        ([{0, 1, 2}, {1}], "communities has a vertex twice, but should have each once"),
        ({0: 1, 1: 1}, "communities has 2 vertices and not 2, but should have a label for each"),
        (gl.Vector(int, 3), "communities has 0 labels, but should have one for each of the 3"),
    ],
)
def test_communities_that_do_not_partition_the_vertices_are_rejected(communities, message):
    A = gl.Matrix.from_coo([0], [1], True, nrows=3, ncols=3)
    with pytest.raises(ValueError, match=message):
        modularity(A, communities)


def test_modularity_accepts_negative_weights():
    nx = pytest.importorskip("networkx")
    A = gl.Matrix.from_coo([0, 1, 1, 2], [1, 0, 2, 1], [3.0, 3.0, -1.0, -1.0])
    expected = nx.community.modularity(gl.io.to_networkx(A, directed=False), [{0, 1}, {2}])
    assert modularity(A, [{0, 1}, {2}]) == pytest.approx(expected)


def test_modularity_rejects_a_graph_without_edges():
    with pytest.raises(ValueError, match="A has no edge of any weight, but modularity needs one"):
        modularity(gl.Matrix(bool, 2, 2), gl.Vector.from_dense([0, 1]))


# --- moves --------------------------------------------------------------------------------------

NEAR = Fraction(1, 10**9)
"""Rounding may reverse the order of two gains whose difference is smaller than this."""


class Exact:
    """The exact gain of a move in a graph, computed from the definition of modularity Q."""

    def __init__(self, graph, resolution):
        self.n, self.resolution = graph.n, Fraction(resolution)
        self.links = {*graph.ends, *((j, i) for i, j in graph.ends)}
        self.weight = [[Fraction(0)] * graph.n for _ in range(graph.n)]
        for i, j, w in graph:
            self.weight[i][j] = Fraction(w) * (2 if graph.undirected and i == j else 1)
        self.out = [sum(row) for row in self.weight]
        self.into = [sum(column) for column in zip(*self.weight, strict=True)]
        self.total = sum(self.out)

    def modularity(self, community):
        """Q = Σ A(i, j)/m - resolution·out(i)·into(j)/m², over pairs i, j in the same community.

        Here m is the sum of all A(i, j), out(i) is the sum of the weights of the edges out of i,
        and into(j) is the sum of the weights of the edges into j.
        """
        pairs = [(i, j) for i, c in enumerate(community) for j, d in enumerate(community) if c == d]
        inside = sum(self.weight[i][j] for i, j in pairs)
        by_chance = sum(self.out[i] * self.into[j] for i, j in pairs)
        return inside / self.total - self.resolution * by_chance / self.total**2

    def neighbors(self, v):
        return [j for j in range(self.n) if j != v and (v, j) in self.links]

    def gains(self, community, v):
        """Return the modularity gain of moving v, for each adjacent community."""
        before = self.modularity(community)
        around = dict.fromkeys(community[j] for j in self.neighbors(v))
        moves = {c: [*community[:v], c, *community[v + 1 :]] for c in around}
        return {c: self.modularity(after) - before for c, after in moves.items()}


@settings(max_examples=60)
@given(with_labels(weighted), resolutions)
def test_each_vertex_chooses_the_move_with_the_largest_modularity_gain_in_each_round(
    labeled, resolution
):
    graph, labels = labeled
    assume(sum(graph.weights))
    exact, community = Exact(graph, resolution), np.unique(labels, return_inverse=True)[1].tolist()
    L, out, into, total = louvain_file.links_and_degrees(graph.matrix(), True, not graph.undirected)
    S = selection(gl.Vector.from_dense(community), graph.n)
    totals = (plus_first(out @ S).new(), plus_first(into @ S).new())
    G = plus_first(gl.select.offdiag(L).new() @ S).new()
    wished = louvain_file.wishes(G, S, (out, into), totals, resolution / (2 * total)).to_dict()
    for v, own in enumerate(community):
        wish = wished.get(v, own)
        gains = exact.gains(community, v) | {community[v]: 0}
        assert gains[wish] >= max(gains.values()) - NEAR


def one_by_one(exact, order):
    """Move each vertex of a queue to the community with the largest gain; return all labels.

    Reject an example in which rounding may change a choice.
    """
    community, queue = list(range(exact.n)), list(order)
    while queue:
        v = queue.pop(0)
        gains = exact.gains(community, v)
        gains.pop(community[v], None)
        best = max(gains, key=gains.__getitem__, default=community[v])
        most = gains.get(best, 0)
        assume(not 0 < most < NEAR)
        if most <= 0:
            continue
        for c, gain in gains.items():
            assume(c == best or most - gain > NEAR)
        community[v] = best
        queue += [j for j in exact.neighbors(v) if community[j] != best and j not in queue]
    return community


@pytest.mark.cpu
@settings(max_examples=60)
@given(graphs(weights=st.integers(1, 10**6)), resolutions, st.integers(0, 3))
def test_a_vertex_that_moves_alone_chooses_the_largest_modularity_gain(graph, resolution, seed):
    assume(graph.ends)
    order = np.argsort(hashed_random.words(graph.n, hashed_random.mix(seed)))
    expected = one_by_one(Exact(graph, resolution), order.tolist())
    found = louvain(graph.matrix(), True, resolution, 0, 1, seed, directed=not graph.undirected)
    assert sorted(parts(found.to_dense()), key=min) == sorted(parts(expected), key=min)


# --- communities --------------------------------------------------------------------------------


def verify_labels(labels: gl.Vector, n: int) -> None:
    """Verify that the label of each community is the smallest vertex in it."""
    assert labels.dtype == "INT64"
    found = labels.to_dense().tolist()
    assert len(found) == n
    for part in parts(found):
        assert found[min(part)] == min(part)


@settings(max_examples=40)
@given(weighted, resolutions)
def test_no_level_reduces_the_modularity(graph, resolution):
    A, directed = graph.matrix(), not graph.undirected
    assume(sum(graph.weights))
    labels = [gl.Vector.from_dense(range(graph.n))]
    for level in (1, None):
        found = louvain(A, True, resolution, 0, level, directed=directed)
        verify_labels(found, graph.n)
        labels.append(found)
    quality = [modularity(A, each, True, resolution, directed=directed) for each in labels]
    for before, after in pairwise(quality):
        assert after >= before - 1e-9


@pytest.mark.parametrize("directed", [False, True])
def test_the_modularity_of_the_communities_is_close_to_that_of_networkx(directed):
    nx = pytest.importorskip("networkx")
    ours, theirs = [], []
    for seed in range(4):
        for G in (
            nx.planted_partition_graph(6, 20, 0.5, 0.03, seed=seed, directed=directed),
            nx.gnp_random_graph(120, 0.05, seed=seed, directed=directed),
        ):
            A = gl.io.from_networkx(G)
            labels = louvain(A, directed=directed, seed=seed)
            ours.append(modularity(A, labels, directed=directed))
            best = nx.community.louvain_communities(G, seed=seed)
            theirs.append(nx.community.modularity(G, best))
    assert np.mean(ours) >= 0.97 * np.mean(theirs)
    assert min(np.array(ours) / theirs) >= 0.9


def test_louvain_finds_planted_communities():
    nx = pytest.importorskip("networkx")
    G = nx.planted_partition_graph(5, 30, 0.6, 0.01, seed=1)
    labels = louvain(gl.io.from_networkx(G)).to_dense()
    assert labels.tolist() == [v // 30 * 30 for v in range(150)]


@settings(max_examples=20)
@given(graphs(undirected=True))
def test_an_isolated_vertex_is_a_community_of_its_own(graph):
    A = graph.matrix()
    A.resize(graph.n + 1, graph.n + 1)
    labels = louvain(A).to_dense()
    assert (labels == graph.n).sum() == 1
    joined = {i for i, j in graph.ends if i != j}
    for part in parts(labels):
        assert len(part) == 1 or part <= joined


def two_graphs():
    """Return a graph with equal weights, and a graph with self-loops and different weights."""
    A = gl.generators.kronecker(6, symmetric=True, seed=3)
    B = gl.binary.plus(gl.unary.one["FP32"](A) | A.diag().diag()).new()
    return A, gl.binary.plus(B, 0.2).new()


def test_the_gpu_finds_the_same_communities_as_the_algebraic_definition():
    for A in two_graphs():
        expected = louvain_file.definition(A.to("cpu"), seed=1)
        if A.device == "cpu":
            assert modularity(A, louvain(A, seed=1)) >= 0.9 * modularity(A, expected)
        else:
            assert louvain(A, seed=1).to("cpu").isequal(expected)


@pytest.mark.cpu
@pytest.mark.parametrize("seed", [0, 2])
def test_a_seed_gives_the_same_communities_with_and_without_numba(seed):
    pytest.importorskip("numba")
    for A in two_graphs():
        for directed in (False, True):
            answers = []
            for compiled in (False, True, "auto"):
                with gl.config.set(compiled=compiled):
                    answers.append(louvain(A, seed=seed, directed=directed))
            assert answers[0].isequal(answers[1])
            assert answers[0].isequal(answers[2])


@pytest.mark.cpu
@pytest.mark.parametrize("directed", [False, True])
def test_moves_in_batches_give_equal_communities_for_any_number_of_threads_and_without_numba(
    directed,
):
    pytest.importorskip("numba")
    for A in two_graphs():
        answers = []
        for compiled, threads in ((False, 1), (True, 1), (True, 2), (True, 4), (True, 4)):
            with (
                gl.config.set(compiled=compiled, threads=threads, deterministic=threads == 4),
                using(MovesTuning(smallest=8, fewest=5, most=5, few=100), PartsTuning(parallel=1)),
            ):
                answers.append(louvain(A, seed=1, directed=directed))
        assert all(each.isequal(answers[0]) for each in answers)


@pytest.mark.cpu
@settings(max_examples=40)
@given(weighted, resolutions, st.integers(1, 4), st.integers(0, 3))
def test_after_moves_in_batches_no_single_move_increases_the_modularity(
    graph, resolution, batches, rounds
):
    assume(sum(graph.weights))
    directed = not graph.undirected
    with using(MovesTuning(smallest=1, fewest=batches, most=batches, rounds=rounds, few=1000)):
        found = louvain(graph.matrix(), True, resolution, 0, 1, directed=directed)
    exact, community = Exact(graph, resolution), found.to_dense().tolist()
    for v in range(graph.n):
        assert max(exact.gains(community, v).values(), default=0) <= NEAR


@pytest.mark.parametrize("n", [0, 1, 3])
def test_each_vertex_of_a_graph_without_edges_is_a_community(n):
    assert louvain(gl.Matrix(bool, n, n)).to_dense().tolist() == list(range(n))
    loops = gl.Vector.from_dense(np.ones(n)).diag()
    assert louvain(loops).to_dense().tolist() == list(range(n))


def test_invalid_arguments_are_rejected():
    A = gl.Matrix.from_coo([0, 1], [1, 0], [1.0, -1.0])
    with pytest.raises(ValueError, match="resolution is -1, but must lie between 0 and inf"):
        louvain(A, resolution=-1)
    with pytest.raises(ValueError, match="max_level is 0, but must be at least 1"):
        louvain(A, max_level=0)
    with pytest.raises(ValueError, match=r"A has weight -1\.0 on edge 1 -> 0, but must have none"):
        louvain(A)
    assert louvain(A, weight=False).to_dense().tolist() == [0, 0]


@pytest.mark.parametrize("threads", [1, 3])
def test_contracting_a_matrix_wrongly_declared_symmetric_does_not_write_out_of_bounds(
    threads,
):
    pytest.importorskip("numba")
    dense = np.zeros((6, 6))
    dense[:4, 4:] = np.arange(1.0, 9.0).reshape(4, 2)
    dense[0, 1] = dense[1, 0] = 9.0
    indptr = np.append(0, np.cumsum((dense != 0).sum(1))).astype(np.int32)
    columns = dense.nonzero()[1].astype(np.int32)
    links = Csr(6, 6, indptr, columns, dense[dense != 0])
    labels = np.array([0, 0, 1, 2, 3, 3])
    with gl.config.set(compiled=True, threads=threads), using(PartsTuning(parallel=0)):
        found = contract(links, labels, 4)
    got = np.zeros((4, 4))
    got[np.arange(4).repeat(np.diff(found.indptr)), found.indices] = found.values
    members = np.eye(4)[labels]
    np.testing.assert_array_equal(got, members.T @ dense @ members)
