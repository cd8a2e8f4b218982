"""Hints for objects of other libraries that are given where a Matrix or a Graph is needed."""

from __future__ import annotations

from typing import Any

_TO_GRAPH = {
    "networkx": "Graph.from_networkx",
    "scipy": "Graph.from_scipy",
    "cupyx": "Graph.from_scipy",
    "numpy": "Graph.from_numpy",
    "cupy": "Graph.from_numpy",
    "pandas": "Graph.from_pandas",
}
_TO_MATRIX = {
    "networkx": "graphla.io.from_networkx",
    "scipy": "graphla.io.from_scipy_sparse",
    "cupyx": "graphla.io.from_scipy_sparse",
    "numpy": "Matrix.from_dense",
    "cupy": "Matrix.from_dense",
}


def conversion(name: str, value: Any, *, to_graph: bool) -> str:
    """Return how to convert `value`, as the end of an error message; "" where it is unknown.

    The class of the value tells its library, which is not imported.
    """
    functions = _TO_GRAPH if to_graph else _TO_MATRIX
    for each in type(value).__mro__:
        library, _, rest = each.__module__.partition(".")
        if library == "scipy" and not rest.startswith("sparse"):
            continue
        if library == "graphla" and each.__name__ == "Graph":
            return f"; {name}.matrix is one"
        if library in functions:
            missing = ", 0" if functions[library] == "Matrix.from_dense" else ""
            return f"; convert it by {functions[library]}({name}{missing})"
    return ""
