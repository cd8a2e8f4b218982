"""Compare the results of NetworkX and of the backend."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import networkx as nx
import numpy as np
import pytest
from networkx.utils import backends as nx_backends

from graphla.networkx.selections import VERSION

backends: Any = nx_backends
RELATIVE = 1e-9
ABSOLUTE = 1e-12


def call(
    function: str | Callable[..., Any], *args: Any, backend: str | None = None, **kwargs: Any
) -> Any:
    """Call a function of NetworkX, and return its result or its exception.

    `function` is a public function, or the name of a function that NetworkX dispatches. If the
    result is an iterator, it is converted to a list. The same holds for items of the result that
    are iterators. `args` must not contain iterators, because the function may be called again with
    the same arguments.
    """
    called = backends._registered_algorithms[function] if isinstance(function, str) else function
    try:
        with nx.config(warnings_to_ignore={"cache"}), warnings.catch_warnings():
            # NetworkX 3.4 warns that later versions will return different results.
            warnings.simplefilter("ignore", FutureWarning)
            return as_lists(called(*args, backend=backend, **kwargs))
    except Exception as error:
        return error


def needs(*names: str) -> pytest.MarkDecorator:
    """Return a mark that skips a test if NetworkX does not dispatch one of the functions."""
    missing = [name for name in names if name not in backends._registered_algorithms]
    return pytest.mark.skipif(bool(missing), reason=f"NetworkX {VERSION} lacks {missing}")


def as_lists(result: Any) -> Any:
    """Return the result with each iterator replaced with a list."""
    return [as_lists(item) for item in result] if isinstance(result, Iterator) else result


def assert_agree(
    function: str | Callable[..., Any], *args: Any, tolerance: float = RELATIVE, **kwargs: Any
) -> Any:
    """Assert that NetworkX and the backend return the same result, and return it."""
    expected = call(function, *args, backend="networkx", **kwargs)
    found = call(function, *args, backend="graphla", **kwargs)
    if (problem := difference(expected, found, tolerance)) is not None:
        raise AssertionError(f"{function}: {problem}")
    return found


def difference(expected: Any, found: Any, tolerance: float = RELATIVE, place: str = "") -> Any:
    """Return how `found` differs from `expected`, or None if they agree.

    Exceptions agree if they have the same type. The order of the keys of a dict does not matter,
    and is compared only by `same_order`. Floats may differ by the relative tolerance.
    """
    where = place or "the result"
    if hasattr(found, "__networkx_backend__") and not isinstance(found, nx.Graph):
        found = backends._load_backend("graphla").convert_to_nx(found)
    if isinstance(expected, BaseException) or isinstance(found, BaseException):
        if type(expected) is type(found):
            return None
        return f"{where}: expected {expected!r}, found {found!r}"
    if isinstance(expected, nx.Graph):
        return _graph_difference(expected, found, tolerance, where)
    if isinstance(found, np.generic):
        return f"{where} is a NumPy scalar"
    if type(expected).__name__ == "DataFrame":
        return _table_difference(expected, found, where)
    if isinstance(expected, np.ndarray) or hasattr(expected, "toarray"):
        return _array_difference(expected, found, tolerance, where)
    if isinstance(expected, Mapping):
        if not isinstance(found, Mapping) or expected.keys() != found.keys():
            return f"{where}: expected the keys {list(expected)}, found {found!r}"
        pairs = ((expected[key], found[key], f"{where}[{key!r}]") for key in expected)
        return next(filter(None, (difference(e, f, tolerance, w) for e, f, w in pairs)), None)
    if isinstance(expected, list | tuple):
        if type(found) is not type(expected) or len(found) != len(expected):
            return f"{where}: expected {expected!r}, found {found!r}"
        pairs = (
            (e, f, f"{where}[{k}]") for k, (e, f) in enumerate(zip(expected, found, strict=True))
        )
        return next(filter(None, (difference(e, f, tolerance, w) for e, f, w in pairs)), None)
    if isinstance(expected, bool | np.bool_) or isinstance(found, bool):
        return None if bool(expected) is found else f"{where}: expected {expected}, found {found!r}"
    if isinstance(expected, int | float | np.number) and isinstance(found, int | float):
        same = expected == found or (expected != expected and found != found)
        near = math.isclose(
            expected, found, rel_tol=tolerance, abs_tol=max(ABSOLUTE, tolerance * 1e-3)
        )
        return None if same or near else f"{where}: expected {expected!r}, found {found!r}"
    return None if expected == found else f"{where}: expected {expected!r}, found {found!r}"


def _graph_difference(expected: nx.Graph, found: Any, tolerance: float, where: str) -> Any:
    if type(expected) is not type(found) or set(expected) != set(found):
        return f"{where}: expected {expected}, found {found}"
    parts = {"nodes": "_node", "edges": "_adj", "attributes": "graph"}
    for part, name in parts.items():
        problem = difference(
            getattr(expected, name), getattr(found, name), tolerance, f"{part} of {where}"
        )
        if problem is not None:
            return problem
    return None


def _table_difference(expected: Any, found: Any, where: str) -> Any:
    """Compare two tables, whose columns may be in any order."""
    order = sorted(expected.columns, key=repr)
    same = set(found.columns) == set(order) and expected[order].equals(found[order])
    return None if same else f"{where}: expected {expected}, found {found}"


def _array_difference(expected: Any, found: Any, tolerance: float, where: str) -> Any:
    if type(expected) is not type(found) or expected.shape != found.shape:
        return f"{where}: expected {type(expected)}, found {found!r}"
    dense = [each.toarray() if hasattr(each, "toarray") else each for each in (expected, found)]
    if dense[0].dtype.names and dense[0].dtype == dense[1].dtype:
        fields = ([each[name] for each in dense] for name in dense[0].dtype.names)
        parts = (_array_difference(e, f, tolerance, where) for e, f in fields)
        return next(filter(None, parts), None)
    if dense[0].dtype.kind not in "biuf":
        return None if np.array_equal(*dense) else f"{where}: arrays differ"
    close = np.allclose(dense[1], dense[0], rtol=tolerance, atol=ABSOLUTE, equal_nan=True)
    return None if close else f"{where}: arrays differ"
