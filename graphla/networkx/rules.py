"""Rules that refuse arguments before NetworkX converts the graph.

A rule takes the positional and the keyword arguments of a call and returns the reason for a refusal
as a sentence, or None. It must be fast and must not consume an iterator or a random generator.
"""

from __future__ import annotations

from typing import Any


def argument(
    args: tuple[Any, ...], kwargs: dict[str, Any], position: int, name: str, default: Any = None
) -> Any:
    """Return one argument of a call.

    Args:
        args: the positional arguments.
        kwargs: the keyword arguments.
        position: the position of the parameter.
        name: the name of the parameter.
        default: its default.

    Returns:
        The argument.
    """
    return args[position] if len(args) > position else kwargs.get(name, default)


def attribute_weight(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Refuse a callable `weight`.

    Args:
        args: the positional arguments.
        kwargs: the keyword arguments.

    Returns:
        The reason, or None.
    """
    weight = kwargs.get("weight")
    if callable(weight) or any(map(callable, args[1:])):
        return "the weight is a function, but graphla reads the name of an edge attribute"
    return None


def distance(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Refuse a callable `distance`.

    Args:
        args: the positional arguments.
        kwargs: the keyword arguments.

    Returns:
        The reason, or None.
    """
    if callable(argument(args, kwargs, 2, "distance")):
        return "the distance is a function, but graphla reads the name of an edge attribute"
    return None


def sort_neighbors(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Refuse `sort_neighbors`, which is a function.

    Args:
        args: the positional arguments.
        kwargs: the keyword arguments.

    Returns:
        The reason, or None.
    """
    if kwargs.get("sort_neighbors") is not None or any(map(callable, args[1:])):
        return "sort_neighbors is a function, but graphla keeps the order of the graph"
    return None


def forceatlas2_layout(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str | None:
    """Refuse `store_pos_as`.

    Args:
        args: the positional arguments.
        kwargs: the keyword arguments.

    Returns:
        The reason, or None.
    """
    if kwargs.get("store_pos_as") is not None:
        return "store_pos_as changes the graph, but graphla works on a copy"
    return None
