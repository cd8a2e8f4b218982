"""Tests of graphs with one vertex of high degree: their time and memory are not quadratic."""

from __future__ import annotations

import numpy as np
import pytest

import graphla as gl
from graphla.algorithms import (
    local_efficiency,
    lowest_common_ancestors,
    node2vec_walks,
    transitive_reduction,
)

pytestmark = pytest.mark.cpu
LEAVES = 50_000


def star(*, directed: bool) -> gl.Matrix:
    """Return a graph with edges from vertex 0 to all others."""
    hub, leaves = np.zeros(LEAVES, np.int64), np.arange(1, LEAVES + 1)
    rows = hub if directed else np.append(hub, leaves)
    columns = leaves if directed else np.append(leaves, hub)
    return gl.Matrix.from_coo(rows, columns, 1.0, nrows=LEAVES + 1, ncols=LEAVES + 1)


def test_the_local_efficiency_of_a_star_is_zero() -> None:
    assert local_efficiency(star(directed=False)) == 0


def test_the_hub_is_the_lowest_common_ancestor_of_two_leaves() -> None:
    pairs = [(1, 2), (3, 3), (LEAVES, 0)]
    assert lowest_common_ancestors(star(directed=True), pairs).tolist() == [0, 3, 0]


def test_the_transitive_reduction_of_a_star_keeps_all_edges() -> None:
    A = star(directed=True)
    found = transitive_reduction(A)
    assert found.isequal(A)
    found[0, 1] = 5.0
    assert A[0, 1].value == 1.0


def test_walks_that_must_leave_a_hub_alternate_between_the_hub_and_leaves() -> None:
    walks = np.array(node2vec_walks(star(directed=False), length=3, p=0.5, q=2, seed=1))
    assert ((walks[1:, ::2] > 0) & (walks[1:, 1::2] == 0)).all()
