"""How a result may differ from NetworkX's and still be right.

Each name of a function maps to a relation between the result of NetworkX and that of graphla. A
function that is not listed must return an equal result (see `agreement.difference`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from networkx_backend.agreement import difference

Check = Callable[[Any, Any, dict[str, Any]], Any]
"""Takes NetworkX's result, graphla's, and the arguments by name; returns a problem or None."""


def in_any_order(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
    """Accept lists with the same elements, which are hashable or are sets."""
    bags = [sorted(map(_key, each), key=repr) for each in (expected, found)]
    return None if bags[0] == bags[1] else f"expected {expected!r} in any order, found {found!r}"


def of_one_seed(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
    """Accept any result of the same type: a seed gives one result, but not NetworkX's."""
    return None if type(expected) is type(found) else f"expected {expected!r}, found {found!r}"


def within(tolerance: float) -> Check:
    """Accept numbers that differ by less than a tolerance, or by the argument `tol` of the call."""

    def check(expected: Any, found: Any, arguments: dict[str, Any]) -> Any:
        tol = arguments.get("tol")
        n = max(1, len(expected)) if isinstance(expected, Mapping) else 1
        bound = tolerance if tol is None else max(2 * n * tol, 1e-9)
        if not isinstance(expected, Mapping) or not isinstance(found, Mapping):
            return difference(expected, found, bound)
        if expected.keys() != found.keys():
            return f"expected the keys {list(expected)}, found {list(found)}"
        far = [key for key in expected if not abs(expected[key] - found[key]) <= bound]
        return f"values of {far} differ by more than {bound}" if far else None

    return check


def _key(part: Any) -> Any:
    unordered = isinstance(part, Iterable) and not isinstance(part, str | bytes | tuple)
    return sorted(map(repr, part)) if unordered else repr(part)


CONTRACTS: dict[str, Check] = {
    "connected_components": in_any_order,
    "pagerank": within(1e-6),
}
