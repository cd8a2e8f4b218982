"""Components for NetworkX."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from graphla import algorithms
from graphla.graph import Graph
from graphla.networkx.graphs import groups, structure


def connected_components(G: Graph) -> Iterator[set[Any]]:
    """Answer `networkx.connected_components`."""
    labels = algorithms.connected_components(structure(G).matrix).to_dense()
    return map(set, groups(G, np.asarray(labels)))
