"""Read GraphML, GEXF, GML and node-link JSON files with NetworkX.

The nodes of the graph become vertex labels.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from graphla.io.entries import assemble
from graphla.io.files import ParseError, TextReader, import_optional
from graphla.io.networkx_graph import _weights
from graphla.sparse import Matrix
from semirings.dtypes import lookup_dtype
from semirings.exceptions import DomainMismatch, DuplicateEntry


def read_networkx_file(
    source: Any,
    format: str,
    *,
    weight: str | None = "weight",
    dtype: Any = None,
    dup_op: Any = None,
    name: Any = None,
) -> tuple[Matrix, list[Hashable]]:
    """Return the matrix of a graph in a GraphML, GEXF, GML or node-link JSON file, and its nodes.

    Args:
        source: a path (plain or compressed) or a file object.
        format: "graphml", "gexf", "gml" or "json".
        weight: the edge attribute that becomes the value of an edge. The value is 1 if an edge
            lacks the attribute, or if `weight` is None.
        dtype: the dtype of the values; by default, NumPy chooses it.
        dup_op: an operator that combines the values of parallel edges; without it, parallel edges
            raise ParseError.
        name: the name of the matrix.

    Returns:
        The matrix, symmetric if the graph is undirected, and the node of each row.

    Raises:
        ParseError: the file does not hold a graph in this format, or holds parallel edges.
        DomainMismatch: a value is not a number of the dtype.
        PackageMissing: NetworkX is not installed.

    Examples:
        >>> import io
        >>> from graphla.io import read_networkx_file
        >>> nodes, links = '[{"id": "a"}, {"id": "b"}]', '[{"source": "a", "target": "b"}]'
        >>> text = f'{{"nodes": {nodes}, "links": {links}}}'
        >>> read_networkx_file(io.StringIO(text), "json")[1]
        ['a', 'b']

    References:
        https://networkx.org/documentation/stable/reference/readwrite/index.html
    """
    nx = import_optional("networkx", "networkx", f"reading {format} files")
    with TextReader(source) as text:
        data = text.read()
    try:
        G = _READERS[format](nx, data)
    except Exception as error:  # NetworkX's readers raise many kinds of exceptions
        problem = f"this is not a {format} file of a graph ({error})"
        raise ParseError(problem, text.name, _line(error)) from error
    nodes: list[Hashable] = list(G)
    number = {node: k for k, node in enumerate(nodes)}
    edges = G.edges(data=weight, default=1) if weight is not None else ((*e, 1) for e in G.edges())
    edges = list(edges)
    try:
        values = _weights(edges, dtype, weight)
    except DomainMismatch as error:
        raise DomainMismatch(f"{text.name}: {error}") from None
    i, j = (np.array([number[edge[k]] for edge in edges], np.int32) for k in (0, 1))
    n, symmetry = len(nodes), "general" if G.is_directed() else "symmetric"
    options: dict[str, Any] = {"symmetry": symmetry, "dup_op": dup_op, "name": name}
    try:
        return assemble(i, j, values, lookup_dtype(values.dtype), (n, n), **options), nodes
    except DuplicateEntry:
        problem = "the graph has parallel edges, and no dup_op says how to join their values"
        raise ParseError(problem, text.name) from None


def _line(error: Exception) -> int | None:
    """Return the line number in the error of an XML or JSON parser, or None if it has none."""
    position = getattr(error, "position", None)
    return position[0] if isinstance(position, tuple) else getattr(error, "lineno", None)


def _read_gml(nx: Any, data: bytes) -> Any:
    try:
        return nx.read_gml(io.BytesIO(data))
    except nx.NetworkXError as error:
        if "label" not in str(error):
            raise
        # Name the nodes by their ids instead of their labels, because GML nodes may lack labels.
        return nx.read_gml(io.BytesIO(data), label="id")


def _read_json(nx: Any, data: bytes) -> Any:
    found = json.loads(data)
    known = found if isinstance(found, dict) else {}
    key = "links" if "links" in known else "edges"
    if not isinstance(known.get("nodes"), list) or not isinstance(known.get(key), list):
        raise ValueError("it has no lists `nodes` and `links` or `edges`")
    try:
        return nx.node_link_graph(found, edges=key)
    except TypeError:  # before NetworkX 3.4
        return nx.node_link_graph(found, link=key)


_READERS: dict[str, Callable[[Any, bytes], Any]] = {
    "graphml": lambda nx, data: nx.read_graphml(io.BytesIO(data)),
    "gexf": lambda nx, data: nx.read_gexf(io.BytesIO(data)),
    "gml": _read_gml,
    "json": _read_json,
}
