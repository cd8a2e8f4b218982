"""Turn the parameters of an algorithm into command-line options, and options into arguments."""

from __future__ import annotations

import csv
from argparse import SUPPRESS, Namespace
from inspect import Parameter
from pathlib import Path
from typing import Any

from graphla.cli.catalogue.entry import Algorithm
from graphla.graph import Graph
from semirings.exceptions import InvalidValue

_PREFIX = "own "  # prefix of the attributes in which argparse stores an algorithm's options
# In NetworkX, these parameters name an edge attribute. On the command line, they are options
# without an argument that decide whether the values of the edges are used.
_SWITCHES = ("weight", "distance")

WORDS = {
    "beta": "the constant that is added to the centrality of each vertex",
    "center": "exclude the center vertex itself",
    "communities": "the communities: a file with lines `vertex,community`, or a=1,b=2,...",
    "count_zeros": "exclude vertices with value 0 from the mean",
    "cutoff": "stop at this distance",
    "dangling": (
        "targets of jumps from vertices without out-edges: a file with lines "
        "`vertex,weight`, or a=1,b=2,..."
    ),
    "delta": "the bucket width of delta-stepping (default: chosen from the weights)",
    "distance": "use the edge values as lengths",
    "ebunch": "compute results for these pairs of vertices only: u:v,u:w,... (default: all)",
    "endpoints": "count the endpoints of paths as well",
    "ignore_nan": "ignore edges whose weight is NaN",
    "max_iter": "the maximum number of rounds",
    "max_level": "stop after this many levels",
    "maximum": "find the maximum weight instead of the minimum",
    "method": "the algorithm to use",
    "nbunch": "compute results for these vertices only: u,v,...",
    "nodes": "compute results for these vertices only: u,v,...",
    "normalized": "do not normalize the result",
    "nstart": "the start values: a file with lines `vertex,value`, or a=1,b=2,...",
    "personalization": "jump targets: a file with lines `vertex,weight`, or a=1,b=2,...",
    "radius": "the maximum distance from the center vertex",
    "reflexive": "count each vertex as reachable from itself",
    "resolution": "values above 1 favor small communities, values below 1 favor large ones",
    "seed": "the seed of the random number generator",
    "source": "the vertex to start from",
    "sources": "the vertices to start from: u,v,...",
    "strategy": "the order in which vertices are processed",
    "synchronous": "let all vertices change at once in every round",
    "target": "the vertex at which the path ends",
    "threshold": "stop when a level increases the modularity by less than this",
    "tol": "stop when a round changes the result by less than this",
    "u": "compute the result for this vertex only",
    "v": "compute results for these vertices only: u,v,...",
    "weight": "use the edge values as weights",
    "wf_improved": "do not scale by the fraction of the graph that reaches the vertex",
}


def words_of(algorithm: Algorithm, name: str) -> str:
    """Return the help text of a parameter."""
    return algorithm.words.get(name) or WORDS.get(name, "")


def add(group: Any, algorithm: Algorithm) -> None:
    """Add an option for each parameter, for example `--max-iter M`, `--weight` or `--no-weight`."""
    for name, parameter in algorithm.parameters.items():
        flag, words, settings = name.replace("_", "-"), words_of(algorithm, name), {}
        if _is_switch(name, parameter):
            turned_off = bool(parameter.default)
            flag = f"no-{flag}" if turned_off else flag
            settings = {"action": "store_const", "const": not turned_off}
            if turned_off and name in _SWITCHES:
                words = "count each edge as 1, regardless of its value"
        elif parameter.default is Parameter.empty and name in ("source", "sources"):
            words += ", counted from 0" * (name == "source") + " (default: 0)"
        elif _is_required(name, parameter):
            settings = {"required": True}
        elif parameter.default is not None:
            words += f" (default: {parameter.default})"
        if "action" not in settings:
            settings |= {"type": _kind(algorithm, name, parameter)}
            given = algorithm.graph_options
            is_vertex = name in given.vertices and name not in given.keyed
            settings |= {"metavar": "VERTEX" if is_vertex else flag[:1].upper()}
        group.add_argument(
            f"--{flag}", dest=_PREFIX + name, default=SUPPRESS, help=words, **settings
        )


def example(algorithm: Algorithm) -> str:
    """Return the shortest valid command, with a graph and the required options."""
    words = [f"graphla {algorithm.name} friends.txt"]
    for name, parameter in algorithm.parameters.items():
        if _is_required(name, parameter):
            is_keyed, is_vertex = (
                name in x for x in (algorithm.graph_options.keyed, algorithm.graph_options.vertices)
            )
            value = f"{name}.csv" if is_keyed else "7" if is_vertex else "3"
            words.append(f"--{name.replace('_', '-')} {value}")
    return " ".join(words)


def arguments(algorithm: Algorithm, graph: Graph, options: Namespace) -> dict[str, Any]:
    """Return the arguments that the user has given as options. The others keep their defaults."""
    given = {
        name: value
        for name in algorithm.parameters
        if (value := vars(options).get(_PREFIX + name)) is not None
    }
    for name, parameter in algorithm.parameters.items():
        is_missing = parameter.default is Parameter.empty and name not in given
        if is_missing and name in ("source", "sources"):
            given[name] = graph.labels[0] if len(graph) and graph.has_names else 0
            given[name] = [given[name]] if name == "sources" else given[name]
        elif name in algorithm.graph_options.keyed and name in given:
            given[name] = _mapping(graph, name, given[name])
        elif name in algorithm.graph_options.vertices and name in given:
            given[name] = _vertices(graph, name, given[name])
        elif name in algorithm.graph_options.pairs and name in given:
            pairs = [pair.split(":") for pair in given[name].split(",")]
            if any(len(pair) != 2 for pair in pairs):
                raise InvalidValue(f"--{name} is {given[name]!r}, but should be u:v,u:w,...")
            given[name] = [tuple(_vertices(graph, name, v) for v in pair) for pair in pairs]
    return algorithm.fixed | given


def _is_required(name: str, parameter: Parameter) -> bool:
    return parameter.default is Parameter.empty and name not in ("source", "sources")


def _is_switch(name: str, parameter: Parameter) -> bool:
    return name in _SWITCHES or isinstance(parameter.default, bool)


def _kind(algorithm: Algorithm, name: str, parameter: Parameter) -> Any:
    graph_options = algorithm.graph_options
    if name in (*graph_options.keyed, *graph_options.vertices, *graph_options.pairs):
        return str
    default, annotation = parameter.default, str(parameter.annotation)
    if isinstance(default, str):
        return str
    if isinstance(default, float) or "float" in annotation:
        return float
    return int if isinstance(default, int) or "int" in annotation else _number


def _number(text: str) -> float:
    return int(text) if text.lstrip("-").isdecimal() else float(text)


def _vertices(graph: Graph, name: str, text: str) -> Any:
    """Convert the text of an option to a vertex, or `u,v,...` to a list of vertices."""
    if text in graph:
        return text
    if "," in text:
        return [_vertices(graph, name, each) for each in text.split(",")]
    if graph.has_names:
        raise InvalidValue(f"--{name} is {text!r}, but no vertex has this label")
    try:
        return int(text)
    except ValueError:
        raise InvalidValue(
            f"--{name} is {text!r}, but without --labels, vertices are numbers"
        ) from None


def _mapping(graph: Graph, name: str, text: str) -> dict[Any, float]:
    """Return a dict from vertices to numbers.

    The option is either text like a=1,b=2 or the name of a file in the format that --output writes.
    """
    if not text:
        raise InvalidValue(f"--{name} is empty, but should be a file or a=1,b=2,...")
    if "=" in text:
        rows = [each.rsplit("=", 1) for each in text.split(",")]
    else:
        with Path(text).open(newline="") as file:
            rows = [row[:2] for row in csv.reader(file)][1:]
    if any(len(row) != 2 for row in rows):
        raise InvalidValue(f"--{name} is {text!r}, but should hold vertex-number pairs")
    return {_vertices(graph, name, vertex): _value(graph, name, x) for vertex, x in rows}


def _value(graph: Graph, name: str, text: str) -> float:
    """Convert a string to a number. If it is not a number, return the vertex with this label."""
    try:
        return _number(text)
    except ValueError:
        if text not in graph:
            raise InvalidValue(
                f"--{name} has {text!r}, which is neither a number nor a vertex"
            ) from None
        return graph.vertex(text)
