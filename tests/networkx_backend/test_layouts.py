"""Test that ForceAtlas2 layouts agree with those of NetworkX."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.networkx_backend.agreement import call, needs
from tests.networkx_backend.weighted_graphs import weighted_graphs

pytestmark = needs("forceatlas2_layout")


@given(weighted_graphs(least=3), st.sampled_from([None, "weight"]), st.booleans())
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_the_positions_after_a_few_rounds_agree_with_networkx(
    G: Any, weight: Any, has_size: bool
) -> None:
    points = np.random.default_rng(1).permutation(2 * len(G)).reshape(-1, 2) * 0.7
    nodes = list(G)
    options: dict[str, Any] = {"max_iter": 3, "weight": weight, "node_mass": {nodes[0]: 2.0}}
    if has_size:
        options["node_size"] = {nodes[1]: 0.01}
    results = []
    for backend in ("networkx", "graphla"):
        pos = dict(zip(nodes, points.copy(), strict=True))
        results.append(call("forceatlas2_layout", G, pos, backend=backend, **options))
    expected, found = results
    assert list(found) == nodes
    bound = 1e-7 * max(1.0, np.abs([*expected.values()]).max())
    assert np.allclose([*found.values()], [*expected.values()], rtol=1e-7, atol=bound)


def test_random_start_positions_with_a_seed_agree_with_networkx() -> None:
    G = nx.path_graph(6)
    for pos in (None, {0: np.array([0.5, 2.0]), 1: np.array([1.5, -1.0])}):
        expected, found = (
            nx.forceatlas2_layout(G.copy(), pos, max_iter=0, seed=4, backend=backend)
            for backend in ("networkx", "graphla")
        )
        assert np.allclose([*found.values()], [*expected.values()])


def test_layouts_reject_positions_that_are_not_floats_and_the_argument_store_pos_as() -> None:
    G = nx.path_graph(3)
    with pytest.raises(NotImplementedError, match="store_pos_as"):
        nx.forceatlas2_layout(G, store_pos_as="pos", backend="graphla")
    with pytest.raises(NotImplementedError):
        nx.forceatlas2_layout(G, {v: np.array([v, 1]) for v in G}, seed=1, backend="graphla")
    assert nx.forceatlas2_layout(nx.Graph(), backend="graphla") == {}
