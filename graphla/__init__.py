"""graphla: graph algorithms as sparse matrix operations over semirings.

parent, frontier = Vector(int, n), Vector(int, n)
parent[s] = frontier[s] = s
while frontier.nvals:
    frontier(~parent.S, replace) << any_secondi(frontier @ A)  # f<!p, r> = f any.secondi A
    parent(frontier.S) << frontier
"""

from __future__ import annotations

# This import comes first, because `launch` handles Ctrl-C while the command imports other modules.
from graphla import launch as launch

# isort: split
from importlib import import_module
from typing import TYPE_CHECKING, Any

from graphla import (
    agg,
    binary,
    dtypes,
    exceptions,
    indexunary,
    monoid,
    op,
    select,
    semiring,
    unary,
)
from graphla.expression import replace
from graphla.settings import Recorder, config, direction
from graphla.sparse import Matrix, Scalar, Vector
from graphla.traversal import closure

if TYPE_CHECKING:
    from graphla import algorithms, datasets, generators, io, ladder
    from graphla.drawing import draw, spy
    from graphla.graph import Graph
    from graphla.program.jit import jit

__version__ = "0.1.0"

__all__ = [
    "Graph",
    "Matrix",
    "Recorder",
    "Scalar",
    "Vector",
    "agg",
    "algorithms",
    "binary",
    "closure",
    "config",
    "datasets",
    "direction",
    "draw",
    "dtypes",
    "exceptions",
    "generators",
    "indexunary",
    "io",
    "jit",
    "ladder",
    "monoid",
    "op",
    "replace",
    "select",
    "semiring",
    "spy",
    "unary",
]

_on_first_use = ("algorithms", "datasets", "generators", "graph", "io", "ladder")
_FROM = {"Graph": "graph", "draw": "drawing", "jit": "program.jit", "spy": "drawing"}


def __getattr__(name: str) -> Any:
    if name in _on_first_use:
        return import_module(f"graphla.{name}")
    if name in _FROM:
        return getattr(import_module(f"graphla.{_FROM[name]}"), name)
    raise AttributeError(f"module 'graphla' has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
