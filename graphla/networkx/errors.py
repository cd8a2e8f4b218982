"""Translate exceptions of graphla into those of NetworkX.

The functions of this package raise NetworkX's exceptions where they know the cause. Any other
exception of graphla becomes NotImplementedError, so that NetworkX can run the call itself.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any

import networkx as nx

from graphla.algorithms import ConvergenceError, NoPath
from graphla.graph import Graph
from semirings.exceptions import DeviceFault, DeviceUnavailable, GraphblasException, Panic


def translate_errors(function: Callable[..., Any], graphs: Mapping[str, int]) -> Callable[..., Any]:
    """Return the function with graphla's exceptions translated into those of NetworkX.

    The function raises NotImplementedError for a graph that NetworkX did not convert, such as a
    view of the nodes, which some functions of NetworkX also accept.

    Args:
        function: a function of this package.
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
            raise NotImplementedError(f"graphla rejects the call: {error}") from error

    return call
