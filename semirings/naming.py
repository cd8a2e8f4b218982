"""Look up operators by name, and register new names."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from semirings.exceptions import InvalidValue, NotImplementedException

user_operators: set[tuple[str, str]] = set()
"""The kind and the name of each operator that the user registered."""


def find(names: Mapping[str, Any], kind: str, signs: Mapping[str, str], text: Any) -> Any:
    """Return the operator with a name such as `plus`, `PLUS` or `+`. `plus[INT64]` is typed."""
    if not isinstance(text, str):
        raise TypeError(f"the name of a {kind} operator should be a string, but it is {text!r}")
    base, dtypes = split(text)
    found = _look_up(names, signs.get(base, base))
    if getattr(found, "opclass", None) is None:
        found = _look_up(names, base.lower())
    if getattr(found, "opclass", None) is None:
        raise InvalidValue(f"{text!r} names no {kind} operator; dir(semirings.{kind}) lists them")
    return found if dtypes is None else found[dtypes]


def _look_up(names: Mapping[str, Any], name: str) -> Any:
    """Return the object with this name, or None if there is none. The name may contain dots."""
    first, *rest = name.split(".")
    found = names.get(first)
    for part in rest:
        found = getattr(found, part, None)
    return found


@lru_cache(maxsize=1024)
def split(text: str) -> tuple[str, Any]:
    """Split an operator name such as `first[INT64, FP64]` into the base name and the dtypes.

    The second result is a tuple of strings for several dtypes, a string for a single dtype, and
    None for a name without dtypes.
    """
    match = re.fullmatch(r"(.+?)\s*(?:\[(.*)\])?", text.strip())
    if match is None:
        raise InvalidValue(f"{text!r} should be a name, as 'plus', or typed, as 'plus[INT64]'")
    base, inside = match.groups()
    if inside is None:
        return base, None
    dtypes = tuple(part.strip().strip("'\"") for part in inside.split(","))
    return base, dtypes[0] if len(dtypes) == 1 else dtypes


def name_of(func: Any, name: str | None) -> str:
    """Return the given name; if it is None, return the name of the function."""
    if not callable(func):
        raise TypeError(f"func is {func!r}, but it should be a Python function")
    return name or getattr(func, "__name__", type(func).__name__)


def refuse_udt(is_udt: bool) -> None:
    """Raise an error if `is_udt` is True, because user-defined dtypes are not supported."""
    if is_udt:
        raise NotImplementedException(
            f"is_udt is {is_udt!r}, but must be False: there are no user-defined dtypes"
        )


def refuse_lazy(kind: str, lazy: bool) -> None:
    """Raise an error if `lazy` is True: a monoid or semiring looks up its parts immediately."""
    if lazy:
        raise NotImplementedException(
            f"lazy is {lazy!r}, but must be False: a {kind} looks up its parts at once"
        )


def register(names: dict[str, Any], kind: str, name: str, op: Any) -> None:
    """Register an operator under a new name, which may contain dots."""
    if not isinstance(name, str) or not all(map(str.isidentifier, name.split("."))):
        raise InvalidValue(f"name is {name!r}, but it should be made of identifiers and dots")
    *groups, last = name.split(".")
    user_operators.add((kind, name))
    for group in groups:
        inner = names.setdefault(group, SimpleNamespace())
        if not isinstance(inner, SimpleNamespace):
            raise InvalidValue(f"semirings.{kind}.{group} is taken by {inner!r}")
        names = vars(inner)
    if last in names:
        raise InvalidValue(f"semirings.{kind}.{name} is taken by {names[last]!r}")
    names[last] = op
