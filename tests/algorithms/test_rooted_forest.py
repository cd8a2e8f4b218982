"""Tests of rooted spanning forests, and of reductions over their subtrees."""

from __future__ import annotations

import numpy as np
from graphs import graphs
from hypothesis import given
from hypothesis import strategies as st

import graphla as gl
from graphla.algorithms import connected_components
from graphla.algorithms._shared.rooted_forest import root_forest, subtree_extremes


@given(graphs(undirected=True), st.data())
def test_subtrees_are_intervals_of_the_preorder(graph, data):
    A = graph.matrix()
    forest = root_forest(A)
    parent, order, number, size = (v.to_dense() for v in forest)
    assert sorted(order.tolist()) == list(range(graph.n))
    assert number[order].tolist() == list(range(graph.n))
    edges, below = {*graph.ends}, {v: {v} for v in range(graph.n)}
    for v in order.tolist()[::-1]:
        if (u := int(parent[v])) != v:
            assert (u, v) in edges
            below[u] |= below[v]
    for v, members in below.items():
        assert sorted(number[[*members]]) == list(range(number[v], number[v] + size[v]))
    roots = np.count_nonzero(parent == np.arange(graph.n))
    assert roots == np.unique(connected_components(A).to_dense()).size
    drawn = data.draw(st.lists(st.integers(-9, 9), min_size=graph.n, max_size=graph.n))
    values = gl.Vector.from_dense(np.array(drawn, np.int64))
    least, most = subtree_extremes(A, forest, values, values)
    for v, members in below.items():
        assert least[v].value == min(drawn[u] for u in members)
        assert most[v].value == max(drawn[u] for u in members)
