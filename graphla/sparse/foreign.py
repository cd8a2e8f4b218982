"""Hints for error messages when an object from another library is passed as a Matrix or Graph."""

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


def class_name(value: Any) -> str:
    """Return the name of the class of `value`, after the name of the library that defines it.

    Built-in classes and classes of graphla are named without a library.

    >>> from fractions import Fraction
    >>> class_name(2), class_name(Fraction(1, 2))
    ('int', 'fractions.Fraction')
    """
    library, name = type(value).__module__.partition(".")[0], type(value).__name__
    return name if library in ("builtins", "graphla", "__main__") else f"{library}.{name}"


def conversion(name: str, value: Any, *, to_graph: bool) -> str:
    """Return the part of an error message that shows how to convert `value`, if this is known.

    Otherwise return "". The user passed `value` as the argument that is called `name`. The library
    is recognized by the class of `value`, without importing the library.
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
