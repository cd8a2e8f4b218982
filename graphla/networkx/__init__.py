"""The backend `graphla` for NetworkX. Only NetworkX imports this package.

NetworkX finds the object `backend` through an entry point, converts its graphs with it, and calls
the functions of the table `_graphla_networkx.FUNCTIONS` as attributes of `backend`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import networkx as nx
from networkx.utils import backends

from _graphla_networkx import FUNCTIONS
from graphla.graph import Graph
from graphla.networkx import costs, graphs, rules
from graphla.networkx.errors import translate_errors

config: Any = nx.config
dispatch: Any = backends


class Backend:
    """The interface that NetworkX expects of a backend.

    Each function of the table is an attribute, which is looked up when it is first used.
    """

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in FUNCTIONS:
            raise AttributeError(f"the backend graphla has no function {name!r}")
        module, function = FUNCTIONS[name].target.rsplit(".", 1)
        implementation = getattr(import_module(f"graphla.networkx.{module}"), function)
        found = translate_errors(implementation, dispatch._registered_algorithms[name].graphs)
        setattr(self, name, found)
        return found

    def convert_from_nx(
        self,
        graph: Any,
        *,
        edge_attrs: Mapping[Any, Any] | None = None,
        node_attrs: Mapping[Any, Any] | None = None,
        preserve_edge_attrs: bool = False,
        preserve_node_attrs: bool = False,
        preserve_graph_attrs: bool = False,
        name: str | None = None,
        graph_name: str | None = None,
    ) -> Graph:
        """Convert a NetworkX graph.

        Args:
            graph: the graph; a graphla Graph is returned unchanged.
            edge_attrs: the names and defaults of the edge attributes to keep.
            node_attrs: the names and defaults of the node attributes to keep.
            preserve_edge_attrs: whether to keep all edge attributes.
            preserve_node_attrs: whether to keep all node attributes.
            preserve_graph_attrs: not used; graph attributes are always kept.
            name: the name of the called function.
            graph_name: the name of the argument.

        Returns:
            A NetworkXGraph.

        Raises:
            NotImplementedError: the object is not a NetworkX graph.
        """
        if isinstance(graph, Graph):
            return graph
        if not isinstance(graph, nx.Graph):
            raise NotImplementedError(f"graphla does not read a {type(graph).__name__}")
        return graphs.convert(
            graph,
            edge_attrs,
            node_attrs,
            preserve_edge_attrs is True,
            preserve_node_attrs is True,
            config.backends.graphla.device,
        )

    def convert_to_nx(self, result: Any, *, name: str | None = None) -> Any:
        """Convert a Graph to a NetworkX graph.

        Args:
            result: the result of a function; an object that is not a Graph is returned unchanged.
            name: the name of the called function.

        Returns:
            The NetworkX graph.
        """
        return graphs.to_networkx(result) if isinstance(result, Graph) else result

    def can_run(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Return whether graphla supports the arguments, or the reason why it does not.

        Args:
            name: the name of the function.
            args: its positional arguments.
            kwargs: its keyword arguments.

        Returns:
            True, or a sentence that states the reason.

        Raises:
            NotImplementedError: graphla does not support the arguments. If the user passed
                `backend="graphla"`, NetworkX shows the message of this exception, whereas it would
                not show a returned reason. Otherwise raising has the same effect as returning the
                reason.
        """
        rule = FUNCTIONS[name].rule
        reason = rules.always(name, args, kwargs)
        if reason is None and rule:
            reason = getattr(rules, rule)(args, kwargs)
        if reason is None:
            return True
        if dispatch._dispatchable._is_testing:
            return reason
        raise NotImplementedError(f"graphla does not support this call of {name}: {reason}")

    def should_run(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool | str:
        """Return whether graphla is likely to be faster, or the reason why it is not.

        Args:
            name: the name of the function.
            args: its positional arguments.
            kwargs: its keyword arguments.

        Returns:
            True, or a sentence that states the reason.
        """
        return costs.should_run(FUNCTIONS[name].cost, args, kwargs)


backend = Backend()
