"""The parameters of an algorithm as options of its command, and the options as its arguments."""

from __future__ import annotations

import csv
from argparse import SUPPRESS, Namespace
from inspect import Parameter
from pathlib import Path
from typing import Any

from graphla.cli.catalogue.entry import Algorithm
from graphla.graph import Graph
from semirings.exceptions import InvalidValue

_PREFIX = "own "  # of the names under which argparse keeps them
_SWITCHES = ("weight", "distance")  # what may be a name in NetworkX is here: by the values or not

WORDS = {
    "alpha": "how likely one follows an edge, or how far influence reaches",
    "beta": "what each vertex has by itself",
    "center": "leave out the source itself",
    "communities": "the part of each vertex: a file with a line `vertex,part`, or a=1,b=2,...",
    "count_zeros": "leave vertices of value 0 out of the mean",
    "cutoff": "stop this far away",
    "dangling": "where a vertex without out-edges leads: a file of `vertex,weight`, or a=1,b=2,...",
    "delta": "how far above the least distance is multiplied at once (default: by the weights)",
    "distance": "the values of the edges are their lengths",
    "ebunch": "the pairs to ask for: u:v,u:w,... (default: all)",
    "endpoints": "count the ends of paths too",
    "ignore_nan": "leave out edges whose weight is not a number",
    "k": "how many: samples, or the degree that the result is to have",
    "max_iter": "give up after this many rounds",
    "max_level": "stop after this many levels",
    "maximum": "of greatest weight, not of least",
    "method": "how to compute",
    "nbunch": "only of these vertices: u,v,...",
    "nodes": "only of these vertices: u,v,...",
    "normalized": "give the values as they are counted, not scaled",
    "nstart": "where to start from: a file of `vertex,value`, or a=1,b=2,...",
    "personalization": "where a jump leads: a file of `vertex,weight`, or a=1,b=2,...",
    "radius": "how far to go",
    "reflexive": "whether a vertex reaches itself",
    "resolution": "above 1 for smaller parts, below for larger",
    "seed": "of the random choices",
    "source": "the vertex to start from",
    "sources": "the vertices to start from: u,v,...",
    "strategy": "in which order to go through the vertices",
    "target": "the vertex to end at",
    "threshold": "stop when a level gains less than this",
    "tol": "the change to stop at",
    "u": "only of this vertex",
    "v": "only of these vertices: u,v,...",
    "vertices": "only of these vertices: u,v,...",
    "weight": "the values of the edges are their weights",
    "wf_improved": "as if what reaches a vertex were the whole graph",
}


def words_of(algorithm: Algorithm, name: str) -> str:
    """What is said of a parameter."""
    return algorithm.words.get(name) or WORDS.get(name, "")


def add(group: Any, algorithm: Algorithm) -> None:
    """An option for each parameter: `--max-iter N`, `--weight`, or `--no-weight`."""
    for name, parameter in algorithm.parameters.items():
        flag, words, told = name.replace("_", "-"), words_of(algorithm, name), {}
        if _is_switch(name, parameter):
            turned_off = bool(parameter.default)
            flag = f"no-{flag}" if turned_off else flag
            told = {"action": "store_const", "const": not turned_off}
            if turned_off and name in _SWITCHES:
                words = "let each edge count 1, whatever its value"
        elif parameter.default is Parameter.empty and name in ("source", "sources"):
            words += ", counted from 0" * (name == "source") + " (default: 0)"
        elif _is_required(name, parameter):
            told = {"required": True}
        elif parameter.default is not None:
            words += f" (default: {parameter.default})"
        if "action" not in told:
            told |= {"type": _kind(algorithm, name, parameter)}
            is_vertex = name in algorithm.told.vertices and name not in algorithm.told.keyed
            told |= {"metavar": "VERTEX" if is_vertex else flag[:1].upper()}
        group.add_argument(f"--{flag}", dest=_PREFIX + name, default=SUPPRESS, help=words, **told)


def example(algorithm: Algorithm) -> str:
    """The plainest command: the graph, and what must be said besides."""
    words = [f"graphla {algorithm.name} friends.txt"]
    for name, parameter in algorithm.parameters.items():
        if _is_required(name, parameter):
            is_keyed, is_vertex = (
                name in x for x in (algorithm.told.keyed, algorithm.told.vertices)
            )
            value = f"{name}.csv" if is_keyed else "7" if is_vertex else "3"
            words.append(f"--{name.replace('_', '-')} {value}")
    return " ".join(words)


def arguments(algorithm: Algorithm, graph: Graph, options: Namespace) -> dict[str, Any]:
    """What the options give the function; what they do not say it has by default."""
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
        elif name in algorithm.told.keyed and name in given:
            given[name] = _mapping(graph, name, given[name])
        elif name in algorithm.told.vertices and name in given:
            given[name] = _vertices(graph, name, given[name])
        elif name in algorithm.told.pairs and name in given:
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
    told = algorithm.told
    if name in (*told.keyed, *told.vertices, *told.pairs):
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
    """One vertex, or u,v,... as a list."""
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
            f"--{name} is {text!r}, but vertices are numbers (names with --labels)"
        ) from None


def _mapping(graph: Graph, name: str, text: str) -> dict[Any, float]:
    """{vertex: number}, of a=1,b=2 or of a file of such rows, as --output writes it."""
    if not text:
        raise InvalidValue(f"--{name} is '', but should be a file or a=1,b=2,...")
    if "=" in text:
        rows = [each.rsplit("=", 1) for each in text.split(",")]
    else:
        with Path(text).open(newline="") as file:
            rows = [row[:2] for row in csv.reader(file)][1:]
    if any(len(row) != 2 for row in rows):
        raise InvalidValue(f"--{name} is {text!r}, but should hold pairs of vertex and number")
    return {_vertices(graph, name, vertex): _value(graph, name, x) for vertex, x in rows}


def _value(graph: Graph, name: str, text: str) -> float:
    """A number, or the number of a vertex that is named."""
    try:
        return _number(text)
    except ValueError:
        if text not in graph:
            raise InvalidValue(
                f"--{name} has {text!r}, which is neither number nor vertex"
            ) from None
        return graph.vertex(text)
