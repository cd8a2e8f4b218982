"""The decorator `graph_algorithm`, which lets a matrix algorithm accept Graphs and labels."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeAlias, TypeVar

import numpy as np

from graphla.algorithms._shared.validation import (
    PLAIN_TYPES,
    adjacency,
    as_list,
    is_loose,
    symmetric,
    weighs,
)
from graphla.graph import Graph
from graphla.graph.labelled import labelled
from graphla.graph.labels import naming_scope
from graphla.operations.moving import default_device
from graphla.operations.values import is_on_card
from graphla.settings import config, current
from graphla.sparse import Matrix
from graphla.sparse.readable_matrix import ReadableMatrix
from semirings.exceptions import InvalidValue

_NAMED = ("weight", "distance")
"""The parameters that may be the name of an edge attribute."""

GraphLike: TypeAlias = ReadableMatrix | Graph
"""Anything that an algorithm accepts as a graph: a Graph, a Matrix, or a Matrix expression."""

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GraphOptions:
    """The options of `graph_algorithm`; its docstring describes them."""

    vertices: tuple[str, ...] = ()
    pairs: tuple[str, ...] = ()
    keyed: tuple[str, ...] = ()
    gives: tuple[str, ...] = ()
    rows: str = ""
    undirected: bool = False
    lengths: str = ""
    plain: bool = False


def graph_algorithm(
    **options: Any,
) -> Callable[[Callable[Concatenate[Matrix, P], T]], Callable[Concatenate[GraphLike, P], T]]:
    """Return a decorator for an algorithm whose first parameter A is a square Matrix.

    The decorated function takes a Matrix, a Matrix expression, or a Graph. The algorithm receives
    the Matrix, and creates its vectors on the device of A. If A is a Graph, arguments and results
    refer to vertices by their labels. The options describe the algorithm:

    - vertices: the parameters that hold a vertex or several vertices;
    - pairs: the parameters that hold a list of pairs of vertices;
    - keyed: the parameters that map vertices to values;
    - gives: the parts of the result whose values are vertices: the name of a field, the position in
      a tuple, or "" for the first or only part;
    - rows: the parameter that lists which vertex each row of the resulting Matrix stands for, if
      the Matrix does not have one row for every vertex;
    - undirected: whether the algorithm requires an undirected graph;
    - lengths: the parameter that decides whether the values of A are used as edge lengths of paths
      or trees, or "A" if they are always used. If they are used, a Graph whose parallel edges were
      summed is rejected with an error;
    - plain: whether the resulting Matrix gets no labels, because some of its indices are not
      vertices.

    If the argument `directed` is missing or None, it is taken from the Graph.
    """
    spec = GraphOptions(**options)

    def decorate(
        algorithm: Callable[Concatenate[Matrix, P], T],
    ) -> Callable[Concatenate[GraphLike, P], T]:
        signature = inspect.signature(algorithm)

        @wraps(algorithm)
        def run(*args: Any, **options: Any) -> Any:
            if not args and "A" in options:
                args = (options.pop("A"),)
            if not args:
                return algorithm(*args, **options)  # A is missing, so this call raises a TypeError
            given, *others = args
            if isinstance(given, Graph):
                return _run_on_graph(algorithm, spec, signature, given, others, options)
            return _run_on_matrix(algorithm, spec, signature, given, others, options)

        run.graph_options = spec  # pyright: ignore[reportAttributeAccessIssue]
        run.__signature__ = _signature_for_users(signature)  # pyright: ignore[reportAttributeAccessIssue]
        return run

    return decorate


def refuse_summed(name: str) -> NoReturn:
    """Raise the error for a Graph whose parallel edges were summed.

    The message contains `name`, the name of the algorithm.
    """
    raise InvalidValue(
        f"A has parallel edges whose weights were summed, but {name} needs the weight of one edge: "
        'Graph.from_networkx(G, multigraph_weight="min") keeps the least ("max" the greatest)'
    )


def _run_on_matrix(
    algorithm: Any,
    spec: GraphOptions,
    signature: inspect.Signature,
    given: Any,
    others: list[Any],
    options: dict[str, Any],
) -> Any:
    """Call the algorithm with a Matrix.

    Vertices that are given as a set, a generator or a GPU array are first converted to a list.
    """
    A = adjacency(given)
    if spec.undirected:
        symmetric(A)
    has_lists = spec.vertices or spec.pairs
    values = (*others, *options.values())
    # Most arguments have a plain type, and testing for plain types is faster than calling
    # `is_loose` for each argument.
    if has_lists and not PLAIN_TYPES.issuperset(map(type, values)) and any(map(is_loose, values)):
        bound = _bind(algorithm, signature, A, others, options)
        for name, value in bound.arguments.items():
            if name in spec.vertices or name in spec.pairs:
                bound.arguments[name] = as_list(value)
        return _call(algorithm, A, bound.args[1:], bound.kwargs)
    return _call(algorithm, A, others, options)


def _run_on_graph(
    algorithm: Any,
    spec: GraphOptions,
    signature: inspect.Signature,
    graph: Graph,
    others: list[Any],
    options: dict[str, Any],
) -> Any:
    """Call the algorithm with the Matrix of a Graph, and label its results."""
    if spec.undirected and graph.directed:
        raise InvalidValue(
            f"A is a directed Graph, but {algorithm.__name__} needs an undirected one: "
            f"A.to_undirected() drops the directions"
        )
    bound = _bind(algorithm, signature, graph, others, options)
    arguments, labels = bound.arguments, graph._labels
    for name in _NAMED:
        graph.check_weight(name, arguments.get(name))
    if spec.lengths and graph.multigraph_weight == "sum":
        name = spec.lengths
        if name == "A" or weighs(name, arguments.get(name, signature.parameters[name].default)):
            refuse_summed(algorithm.__name__)
    for name, value in arguments.items():
        arguments[name] = _as_numbers(spec, labels, name, value)
    if "directed" in signature.parameters and arguments.get("directed") is None:
        arguments["directed"] = graph.directed
    with naming_scope(labels):
        found = _call(algorithm, graph._matrix, bound.args[1:], bound.kwargs)
    if spec.plain:
        return found
    chosen = arguments.get(spec.rows) if spec.rows else None
    return labelled(found, labels, spec.gives, None if chosen is None else labels.select(chosen))


def _as_numbers(spec: GraphOptions, labels: Any, name: str, value: Any) -> Any:
    """Replace the labels in one argument with the numbers of their vertices."""
    if (name in spec.vertices or name in spec.pairs) and is_on_card(value):
        value = as_list(value)
    if name in spec.keyed and (isinstance(value, Mapping) or name not in spec.vertices):
        return labels.number_keys(name, value)
    if name in spec.vertices:
        return labels.vertices(name, value)
    return labels.pairs(name, value) if name in spec.pairs else value


def _bind(
    algorithm: Any,
    signature: inspect.Signature,
    A: Any,
    others: list[Any],
    options: dict[str, Any],
) -> inspect.BoundArguments:
    """Bind arguments to parameters; a TypeError names the algorithm."""
    try:
        return signature.bind(A, *others, **options)
    except TypeError as error:
        raise TypeError(f"{algorithm.__name__}() {error}") from None


def _call(algorithm: Any, A: Matrix, args: Any, options: dict[str, Any]) -> Any:
    """Call the algorithm on A. The vectors that it creates are on the device of A."""
    directed = options.get("directed")
    if directed is not None and not isinstance(directed, (bool, np.bool_)):
        raise TypeError(f"directed must be True, False or None, not {directed!r}")
    if not current().autocompute:  # the setting must not affect the algorithm's statements
        with config.set(autocompute=True):
            return _call(algorithm, A, args, options)
    device = A._store.device
    if device == default_device():  # `config.set` is slow
        return algorithm(A, *args, **options)
    with config.set(device=device):
        return algorithm(A, *args, **options)


def _signature_for_users(signature: inspect.Signature) -> inspect.Signature:
    """Return the signature with `Matrix | Graph` as the annotation of the first parameter."""
    A, *others = signature.parameters.values()
    return signature.replace(parameters=[A.replace(annotation="Matrix | Graph"), *others])
