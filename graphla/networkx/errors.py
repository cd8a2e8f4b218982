"""Exceptions of graphla as those of NetworkX.

A function of the adapter raises NetworkX's exceptions itself where it knows the cause. Any other
refusal becomes NotImplementedError, so that NetworkX can answer the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import networkx as nx

from graphla.algorithms import ConvergenceError, NoPath
from graphla.graph import Graph
from semirings.exceptions import DeviceFault, DeviceUnavailable, GraphblasException, Panic


def translated(function: Callable[..., Any], graphs: Mapping[str, int]) -> Callable[..., Any]:
    """Return the function with graphla's exceptions replaced with those of NetworkX.

    The function raises NotImplementedError for a graph that NetworkX did not convert, such as a
    view of the nodes, which some functions of NetworkX also accept.

    Args:
        function: a function of the adapter.
        graphs: the parameters that are graphs or lists of graphs, with their positions.

    Returns:
        A function with the same signature.
    """

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        for name, place in graphs.items():
            given = args[place] if place < len(args) else kwargs.get(name)
            if not isinstance(given, Graph | list | None):
                raise NotImplementedError(f"graphla does not read a {type(given).__name__}")
        try:
            return function(*args, **kwargs)
        except NoPath as error:
            raise nx.NetworkXNoPath(str(error)) from error
        except ConvergenceError as error:
            raise nx.PowerIterationFailedConvergence(error.rounds) from error
        except (DeviceFault, DeviceUnavailable, Panic):
            raise
        except (GraphblasException, OverflowError) as error:
            raise NotImplementedError(f"graphla refuses the call: {error}") from error

    return call
