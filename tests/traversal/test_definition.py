"""Compare the definition of closures with rounds on dictionaries and with NetworkX."""

from __future__ import annotations

from itertools import pairwise

import pytest
from algorithms.graphs import graphs, with_source
from algorithms.verifiers import verify_bfs
from cases import SELECTING, Case, as_mask, cases, masks, quarters, ways, wild
from hypothesis import given
from hypothesis import strategies as st
from model import agree
from model import closure as on_dictionaries

import graphla as gl
from graphla.algorithms.bfs import definition as search_by_definition
from graphla.traversal import definition
from semirings import semiring


def run(case: Case, **options):
    return definition.closure(case.x, case.graph.matrix(), case.op, **options)


@given(cases(), st.data())
def test_the_definition_gives_the_same_result_as_following_all_edges_in_each_round(case, data):
    allowed = data.draw(masks(case.graph.n))
    limit = data.draw(st.none() | st.integers(0, 4))
    mask = as_mask(allowed, case.graph.n, data.draw(ways))
    expected = on_dictionaries(
        case.graph, case.starts, case.op, mask=allowed, limit=500 if limit is None else limit
    )
    got = run(case, mask=mask, limit=limit)
    assert agree(got.values.to_dict(), expected.values)
    assert got.values.dtype == case.op.return_type
    assert got.lost.to_dict().keys() == expected.lost


@given(cases(), st.integers(0, 4))
def test_multiplying_only_changed_entries_gives_the_same_result_in_each_round(case, limit):
    assert agree(
        run(case, limit=limit).values.to_dict(),
        run(case, limit=limit, only_changed=False).values.to_dict(),
    )


@given(cases(SELECTING, ["FP64", "FP32"], weights=wild, starts=wild))
def test_closures_with_infinities_and_nan_converge(case):
    expected = on_dictionaries(case.graph, case.starts, case.op)
    assert agree(run(case).values.to_dict(), expected.values)


@given(cases())
def test_parents_lead_back_to_a_start_vertex_and_each_value_follows_from_that_of_the_parent(case):
    values, parents, *_ = run(case, parents=True)
    assert parents is not None
    values, parents = values.to_dict(), parents.to_dict()
    weights = {(u, v): w for u, v, w in case.graph}
    assert parents.keys() == values.keys()
    for v, u in parents.items():
        if u == v and values[v] == case.starts.get(v):
            continue
        term = case.op.binaryop(
            case.op.return_type.np_type.type(values[u]),
            case.op.type2.np_type.type(weights[u, v]),
        )
        # The value of u may have improved after u became the parent of v. So the term need not
        # equal the value of v, but ⊕ must still choose the value of v.
        assert case.op.monoid(term, case.op.return_type.np_type.type(values[v])) == values[v]


def test_the_parent_is_the_smallest_vertex_with_the_best_term_of_a_round():
    A = gl.Matrix.from_coo([0, 0, 1, 2], [1, 2, 3, 3], 1, nrows=4, ncols=4)
    x = gl.Vector.from_coo([0], [0], size=4)
    _, parents, *_ = definition.closure(x, A, semiring.min_plus["INT64"], parents=True)
    assert parents is not None and parents.to_dict() == {0: 0, 1: 0, 2: 0, 3: 1}


@given(with_source(graphs(weights=quarters, dtype="FP64")))
def test_closures_over_common_semirings_match_networkx(rooted):
    nx = pytest.importorskip("networkx")
    graph, source = rooted
    A, G = graph.matrix(), graph.networkx()

    def solve(name, start):
        x = gl.Vector.from_coo([source], [start], size=graph.n)
        op = getattr(semiring, name)["FP64"]
        return definition.closure(x, A, op).values.to_dict()

    assert solve("min_plus", 0.0) == dict(nx.single_source_dijkstra_path_length(G, source))
    widest, narrowest = solve("max_min", float("inf")), solve("min_max", -float("inf"))
    for v in nx.node_connected_component(G, source) if graph.undirected else ():
        if v == source:
            continue
        for best, extreme in ((widest, max), (narrowest, min)):
            tree = (nx.maximum_spanning_tree if extreme is max else nx.minimum_spanning_tree)(G)
            path = nx.shortest_path(tree, source, v)
            along = [tree.edges[e]["weight"] for e in pairwise(path)]
            assert best[v] == (min(along) if extreme is max else max(along))
    reached = {source, *nx.descendants(G, source)}
    assert solve("min_plus", 0.0).keys() == widest.keys() == narrowest.keys() == reached


@given(with_source(graphs()), st.none() | st.integers(0, 4))
def test_the_definition_of_bfs_gives_valid_levels_and_parents(rooted, limit):
    graph, source = rooted
    start = gl.Vector.from_coo([source], [1], size=graph.n)
    levels, parents = (w.to_dict() for w in search_by_definition(graph.matrix(), start))
    verify_bfs(graph, source, levels, parents)
    limited = search_by_definition(graph.matrix(), start, cutoff=limit)[0].to_dict()
    assert limited == {v: k for v, k in levels.items() if limit is None or k <= limit}


@given(graphs(), st.data())
def test_a_search_from_several_vertices_avoids_vertices_outside_the_mask(graph, data):
    starts = data.draw(st.sets(st.integers(0, graph.n - 1)))
    allowed = data.draw(masks(graph.n))
    x = gl.Vector.from_coo(sorted(starts), 0, size=graph.n)
    mask = as_mask(allowed, graph.n, data.draw(ways))
    levels, parents = search_by_definition(graph.matrix(), x, mask=mask)
    expected = on_dictionaries(
        graph, dict.fromkeys(starts, 0), semiring.min_plus["INT64"], mask=allowed
    )
    weighed = {v: level for v, level in levels.to_dict().items()}
    assert weighed == expected.values
    for v, u in parents.to_dict().items():
        assert (u == v) if v in starts else (weighed[u] + 1 == weighed[v])
