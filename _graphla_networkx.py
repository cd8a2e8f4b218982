"""What NetworkX reads about the backend `graphla` when it is imported.

`import networkx` imports this module, so it uses the standard library alone. It holds the table of
the functions that graphla answers. `graphla.networkx` resolves the names of their implementations
when they are first called; the documentation and the tests read the same table.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple


class Function(NamedTuple):
    """A function of NetworkX that graphla answers.

    Attributes:
        target: the implementation: "module.function" in the package `graphla.networkx`.
        cost: the class of cost, a key of `graphla.networkx.costs.LEAST_EDGES`. It decides from
            which size on a graph is converted.
        rule: the function in `graphla.networkx.rules` that refuses arguments which graphla does
            not support; "" if there is none.
        note: the differences from NetworkX as sentences; "" if there are none.
    """

    target: str
    cost: str
    rule: str = ""
    note: str = ""


FUNCTIONS: dict[str, Function] = {
    # --- centrality -----------------------------------------------------------------------------
    "pagerank": Function(
        "centrality.pagerank",
        "iterations",
        "attribute_weight",
        "The result agrees with NetworkX within the tolerance `tol`.",
    ),
    # --- clustering -----------------------------------------------------------------------------
    "triangles": Function("clustering.triangles", "products"),
    # --- components -----------------------------------------------------------------------------
    "connected_components": Function("components.connected_components", "linear"),
    # --- paths ----------------------------------------------------------------------------------
    "shortest_path_length": Function("paths.shortest_path_length", "linear", "attribute_weight"),
    # --- traversal ------------------------------------------------------------------------------
    "bfs_edges": Function("traversal.bfs_edges", "linear", "bfs_edges"),
}
"""The functions by their names in NetworkX's dispatch, sorted by family, then by name."""

_AUTOCONFIG = {
    "NETWORKX_BACKEND_PRIORITY_ALGOS": "graphla",
    "NETWORKX_FALLBACK_TO_NX": "True",
    "NETWORKX_CACHE_CONVERTED_GRAPHS": "True",
}


def get_info() -> dict[str, Any]:
    """Return the description of the backend in the form that NetworkX defines.

    If the environment variable `GRAPHLA_AUTOCONFIG` is "True", also give graphla priority for
    algorithms, enable the fallback to NetworkX, and enable the cache of converted graphs. A
    variable that the user has set keeps its value.
    """
    if os.environ.get("GRAPHLA_AUTOCONFIG", "").strip().lower() == "true":
        _configure()
    return {
        "backend_name": "graphla",
        "project": "graphla",
        "package": "graphla",
        "short_summary": "Graph algorithms as sparse matrix operations, on CPUs and GPUs.",
        "default_config": {"device": None, "min_edges": None},
        "functions": {name: _described(each) for name, each in FUNCTIONS.items()},
    }


def _described(function: Function) -> dict[str, str]:
    return {"additional_docs": function.note} if function.note else {}


def _configure() -> None:
    """Set the environment variables that NetworkX reads after `get_info`."""
    for name, value in _AUTOCONFIG.items():
        # NetworkX reads NETWORKX_BACKEND_PRIORITY only if the variable for algorithms is not set.
        if name.endswith("_ALGOS") and "NETWORKX_BACKEND_PRIORITY" in os.environ:
            continue
        os.environ.setdefault(name, value)
