"""What an algorithm asks of its arguments, each refused in one sentence where it does not hold."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import wraps
from numbers import Integral, Real
from typing import Any, Concatenate, NoReturn, ParamSpec, TypeVar

import numpy as np

from graphla.backends import backend, placed
from graphla.graph import Graph
from graphla.graph.facts import is_symmetric
from graphla.graph.labelled import labelled
from graphla.graph.labels import at, called
from graphla.operations.operation import perform, refuse_mixed
from graphla.operations.values import exact_array, has_integers, is_on_card
from graphla.settings import config
from graphla.sparse import Matrix, MatrixExpression, Vector, VectorExpression
from graphla.sparse.foreign import class_name, conversion
from graphla.sparse.placing import found
from graphla.stores import MatrixForms, VectorForms
from semirings import select, unary
from semirings.dtypes import DataType, lookup_dtype
from semirings.exceptions import DimensionMismatch, IndexOutOfBound, InvalidValue

P = ParamSpec("P")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class OfGraph:
    """What `of_graph` is told about an algorithm."""

    vertices: tuple[str, ...]
    pairs: tuple[str, ...]
    keyed: tuple[str, ...]
    gives: tuple[str, ...]
    rows: str
    undirected: bool
    lengths: str


def of_graph(
    *,
    vertices: tuple[str, ...] = (),
    pairs: tuple[str, ...] = (),
    keyed: tuple[str, ...] = (),
    gives: tuple[str, ...] = (),
    rows: str = "",
    undirected: bool = False,
    lengths: str = "",
) -> Callable[[Callable[Concatenate[Matrix, P], T]], Callable[Concatenate[Matrix | Graph, P], T]]:
    """An algorithm of a graph A: a square Matrix, what computes one, or a Graph. It gets a Matrix,
    and the device of A as that of its vectors. Under a Graph, arguments and results are labelled:

    - vertices: the parameters that are a vertex, or several;
    - pairs: those that are a list of pairs of vertices;
    - keyed: those that map vertices to something;
    - gives: the results whose values are vertices: "" the only or first one, fields, or positions;
    - rows: the parameter that says which vertices the rows of a Matrix are, if not all;
    - undirected: only a graph whose edges lead both ways has it: others are refused;
    - lengths: the parameter that decides whether the algorithm reads the values of A along a path
      or a tree, or "A" if it always does. If it does, a Graph whose parallel edges were summed is
      refused.

    A parameter `directed` that is not given, or None, is what the Graph says.
    """
    told = OfGraph(vertices, pairs, keyed, gives, rows, undirected, lengths)
    named = {*vertices, *pairs}

    def decorate(
        algorithm: Callable[Concatenate[Matrix, P], T],
    ) -> Callable[Concatenate[Matrix | Graph, P], T]:
        signature = inspect.signature(algorithm)

        def bind(*args: Any, **options: Any) -> inspect.BoundArguments:
            try:
                return signature.bind(*args, **options)
            except TypeError as error:  # which lacks the name of the algorithm
                raise TypeError(f"{algorithm.__name__}() {error}") from None

        @wraps(algorithm)
        def run(*args: Any, **options: Any) -> Any:
            if not args and "A" in options:
                args = (options.pop("A"),)
            if not args:
                return algorithm(*args, **options)  # which misses it
            given = args[0]
            if not isinstance(given, Graph):
                A = adjacency(given)
                if undirected:
                    symmetric(A)
                if named and any(map(is_otherwise, (*args[1:], *options.values()))):
                    bound = bind(A, *args[1:], **options)
                    for name, value in bound.arguments.items():
                        if name in named:
                            bound.arguments[name] = as_list(value)
                    return _beside(A, algorithm, bound.args[1:], bound.kwargs)
                return _beside(A, algorithm, args[1:], options)
            if undirected and given.directed:
                raise InvalidValue(
                    f"A is a directed Graph, but {algorithm.__name__} is of undirected ones: "
                    f"A.to_undirected() forgets the directions"
                )
            bound = bind(*args, **options)
            asked, labels = bound.arguments, given._labels
            if lengths and given.multigraph_weight == "sum":
                weight = asked.get(lengths, signature.parameters[lengths].default)
                if lengths == "A" or weighs(lengths, weight):
                    refuse_summed(algorithm.__name__)
            for name, value in asked.items():
                if name in named and is_on_card(value):
                    value = as_list(value)
                if name in keyed and (isinstance(value, Mapping) or name not in vertices):
                    asked[name] = labels.keyed(name, value)
                elif name in vertices:
                    asked[name] = labels.vertices(name, value)
                elif name in pairs:
                    asked[name] = labels.pairs(name, value)
            if "directed" in signature.parameters and asked.get("directed") is None:
                asked["directed"] = given.directed
            with at(labels):
                found = _beside(given._matrix, algorithm, bound.args[1:], bound.kwargs)
            chosen = asked.get(rows) if rows else None
            return labelled(found, labels, gives, None if chosen is None else labels.at(chosen))

        run.of_graph = told  # pyright: ignore[reportAttributeAccessIssue]
        run.__signature__ = _for_users(signature)  # pyright: ignore[reportAttributeAccessIssue]
        return run

    return decorate


def refuse_summed(name: str) -> NoReturn:
    """Refuse a Graph whose parallel edges were summed, for the algorithm of that name."""
    raise InvalidValue(
        f"A has parallel edges whose weights were summed, but {name} needs the weight of one edge: "
        'Graph.from_networkx(G, multigraph_weight="min") keeps the least ("max" the greatest)'
    )


def _beside(A: Matrix, algorithm: Any, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """The algorithm, with its vectors where A is."""
    if not config.autocompute:  # this setting applies only to the user's own statements
        with config.set(autocompute=True):
            return _beside(A, algorithm, args, options)
    here = config.device
    if A.device == here or (here != "cpu" and A.device == placed(here)):  # `set` takes a while
        return algorithm(A, *args, **options)
    with config.set(device=A.device):
        return algorithm(A, *args, **options)


def _for_users(signature: inspect.Signature) -> inspect.Signature:
    """The signature, with a first parameter that may be a Graph."""
    A, *others = signature.parameters.values()
    return signature.replace(parameters=[A.replace(annotation="Matrix | Graph"), *others])


def adjacency(A: Any) -> Matrix:
    """A, or what it computes, as the adjacency matrix of a graph, which is square."""
    if not isinstance(A, Matrix):
        if not isinstance(A, MatrixExpression):
            raise TypeError(
                f"A must be a graphla.Matrix or Graph, not a {class_name(A)}"
                f"{conversion('A', A, to_graph=True)}"
            )
        A = A.new()
    nrows, ncols = A.shape
    if nrows != ncols:
        raise DimensionMismatch(
            f"A has {nrows} rows and {ncols} columns, but an adjacency matrix is square"
        )
    return A


def is_otherwise(given: Any) -> bool:
    """Whether it is a set, a generator, or the like, without places; or an array on a card."""
    is_loose = isinstance(given, Iterable) and not hasattr(given, "__getitem__")
    return is_loose or is_on_card(given)


def as_list(given: Any) -> Any:
    """Such a one as a list, or as an array of NumPy's; all else as it is."""
    if not is_otherwise(given):
        return given
    if not is_on_card(given):
        return list(given)
    device, (array,) = found(given)
    return backend(device).to_host(array)


def vertex(source: Any, n: int, name: str = "source") -> int:
    """`source` as one of the vertices 0..n-1."""
    if isinstance(source, bool) or not isinstance(source, Integral):
        raise TypeError(f"{name} must be an integer, not {source!r} ({type(source).__name__})")
    if n == 0:
        raise IndexOutOfBound(f"{name} is {source}, but the graph has no vertex")
    if not 0 <= int(source) < n:
        raise IndexOutOfBound(f"{name} is {source}, but the vertices are 0 to {n - 1}")
    return int(source)


def vertices(name: str, given: Any, n: int) -> np.ndarray:
    """`given` as a list of the vertices 0..n-1, int64; all of them for None."""
    if given is None:
        return np.arange(n)
    try:
        places = exact_array(given)
    except (TypeError, ValueError):  # lists of different lengths, or a Vector
        places = np.empty((0, 0))
    is_whole = places.dtype.kind in "iu" or not places.size or has_integers(places)
    if places.ndim != 1 or not is_whole:
        raise TypeError(f"{name} must be a list of integers, not {given!r}")
    wrong = places[(places < 0) | (places >= n)]
    if wrong.size:
        which = f"the vertices are 0 to {n - 1}" if n else "the graph has no vertex"
        raise IndexOutOfBound(f"{name} has {wrong[0]}, but {which}")
    return places.astype(np.int64)


def distinct(name: str, given: Any, n: int) -> np.ndarray:
    """The same, each vertex once, in order."""
    listed = vertices(name, given, n)
    return listed if given is None else np.unique(listed)


def one_of(name: str, value: Any, names: tuple[str, ...]) -> DataType:
    """`value` as one of a few dtypes."""
    dtype = lookup_dtype(value)
    if dtype.name not in names:
        raise InvalidValue(f"{name} is {dtype.name}, but must be {' or '.join(names)}")
    return dtype


def sources(source: Any, A: Matrix, name: str = "source") -> tuple[Any, tuple[VectorForms, ...]]:
    """`source`, one vertex or several, as distinct int32, and the operands that these belong to.

    An array of NumPy's, or, of a Vector with an entry at each, of the device.
    """
    if type(source) is int:
        return np.array((vertex(source, A.nrows, name),), np.int32), ()
    if isinstance(source, VectorExpression):
        source = source.new()
    if isinstance(source, Vector):
        if source.size != A.nrows:
            raise DimensionMismatch(f"{name} has size {source.size}, but A has {A.nrows} vertices")
        if source.device != A.device:
            refuse_mixed(A.device, source.device, f"A and {name}")
        listed = perform("sources", VectorForms.sparse, source._forms, False)
        return listed.indices, (source._forms,)
    if isinstance(source, (list, tuple, range)) or (isinstance(source, np.ndarray) and source.ndim):
        return np.unique(vertices(name, source, A.nrows)).astype(np.int32), ()
    return np.array([vertex(source, A.nrows, name)], np.int32), ()


def starts(source: Any, A: Matrix, value: Any, dtype: Any) -> Vector:
    """x(s) = value, at each of the vertices that `source` says, beside A."""
    with config.set(device=A.device):
        if isinstance(source, (Vector, VectorExpression)):
            sources(source, A)
            x = Vector(dtype, A.nrows)
            x(source.S) << value
            return x
        return Vector.from_coo(sources(source, A)[0], value, dtype, size=A.nrows)


def count(name: str, value: Any, least: int) -> int:
    """`value` as an integer of at least `least`."""
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise TypeError(f"{name} must be an integer, not {value!r} ({type(value).__name__})")
    if value < least:
        raise InvalidValue(f"{name} is {value}, but must be at least {least}")
    return int(value)


def real(name: str, value: Any, low: float, high: float = math.inf) -> float:
    """`value` as a number with low <= value <= high."""
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(f"{name} must be a number, not {value!r} ({type(value).__name__})")
    if not low <= float(value) <= high:
        raise InvalidValue(f"{name} is {value}, but must lie between {low:g} and {high:g}")
    return float(value)


def weighs(name: str, weight: Any) -> bool:
    """Whether the values of A are asked for: by True, or by a name, as NetworkX has it."""
    if weight is None or isinstance(weight, (bool, np.bool_)):
        return bool(weight)
    if isinstance(weight, str):
        return True
    raise TypeError(f"{name} must be True, False, None or a name, not {weight!r}")


def numbers(A: Matrix) -> None:
    """Refuse an edge whose weight is not a number."""
    if not A.nvals or not is_floating(A):
        return
    least = extent(A)[0]
    if least != least:
        i, j = first_entry(select.valueeq(A.apply(unary.isnan), True).new())
        raise InvalidValue(
            f"A has weight nan on edge {called(i)} -> {called(j)}, but must have numbers"
        )


def nonnegative(A: Matrix) -> None:
    """Refuse an edge whose weight is below zero, or not a number."""
    if A.dtype.name.startswith("U") or A.dtype == "BOOL" or not A.nvals:
        return
    if extent(A)[0] >= 0:  # not where it is NaN
        return
    wrong = select.valuelt(A, 0).new()
    if not wrong.nvals and is_floating(A):
        wrong = select.valueeq(A.apply(unary.isnan), True).new()
    if wrong.nvals:
        i, j = first_entry(wrong)
        raise InvalidValue(
            f"A has weight {A[i, j].value} on edge {called(i)} -> {called(j)}, "
            f"but must have none below 0"
        )


def positive(A: Matrix) -> None:
    """Refuse an edge whose weight is not above zero."""
    nonnegative(A)
    if not A.nvals or extent(A)[0] > 0:
        return
    i, j = first_entry(select.valueeq(A, 0).new())
    raise InvalidValue(
        f"A has weight 0 on edge {called(i)} -> {called(j)}, but must have weights above 0"
    )


def at_most(A: Matrix, most: int) -> None:
    """Refuse an edge of greater weight."""
    if not A.nvals or extent(A)[1] <= most:
        return
    wrong = select.valuegt(A, most).new()
    if wrong.nvals:
        i, j = first_entry(wrong)
        raise InvalidValue(
            f"A has weight {A[i, j].value} on edge {called(i)} -> {called(j)}, "
            f"but at most {most} fits"
        )


def within_unit(A: Matrix) -> None:
    """Refuse an edge whose weight is not a probability."""
    nonnegative(A)
    at_most(A, 1)


def symmetric(A: Matrix) -> None:
    """Refuse an edge i -> j without its j -> i."""
    if is_symmetric(A):
        return
    i, j = first_entry(A.dup(mask=~A.T.new().S))
    raise InvalidValue(
        f"A has an edge {i} -> {j} but none {j} -> {i}, and must be symmetric: "
        f"binary.any(A | A.T) forgets the directions"
    )


def is_floating(A: Matrix) -> bool:
    """Whether the weights of A are floating-point numbers."""
    return A.dtype.name.startswith("FP")


def extent(A: Matrix) -> tuple[Any, Any]:
    """Return the least and the greatest weight of A, which has at least one edge."""
    return perform("extent", MatrixForms.extent, A._forms, A.dtype)


def first_entry(A: Matrix) -> tuple[int, int]:
    """Return the row and the column of the first entry of A, which has at least one."""
    rows, columns, _ = A.to_coo(values=False)
    return int(rows[0]), int(columns[0])
