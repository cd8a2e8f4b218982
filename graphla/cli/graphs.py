"""The graph that a command line names: a file or a dataset, read as its options say."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphla import datasets, io
from graphla.graph import Graph
from graphla.sparse import Matrix
from semirings.exceptions import DimensionMismatch, DuplicateEntry, InvalidValue

EDGE_LISTS = (".csv", ".tsv", ".txt", ".el", ".edgelist", ".edges")
_EDGE_LIST_OPTIONS = ("base", "separator", "columns", "header")


def read(options: Namespace) -> Graph:
    """The graph of `options.graph`, made undirected or unweighted where the options say so."""
    A, labels = read_matrix(options)
    if not isinstance(A, Matrix):
        raise InvalidValue(f"{options.graph} holds a vector, but a graph is a square matrix")
    if A.nrows != A.ncols:
        raise DimensionMismatch(
            f"{options.graph} has {A.nrows} rows and {A.ncols} columns, but a graph is square"
        )
    if options.unweighted:
        rows, columns, _ = A.to_coo(values=False)
        A = Matrix.from_coo(rows, columns, True, nrows=A.nrows, ncols=A.ncols)
    graph = Graph(A, labels=labels)
    return graph.to_undirected() if options.undirected else graph


def read_to_convert(options: Namespace) -> tuple[Any, Sequence[str] | None]:
    """What `options.graph` holds, a vector or a matrix of any shape too, and its labels."""
    if options.undirected or options.unweighted:
        graph = read(options)
        return graph.matrix, graph.labels if graph.has_names else None
    return read_matrix(options)


def read_matrix(options: Namespace) -> tuple[Any, Sequence[str] | None]:
    """What `options.graph` holds, and its labels if the options ask for them."""
    name = options.graph
    path = Path(name)
    if not name:
        raise InvalidValue("GRAPH is empty, but should be a file or a dataset")
    given = {
        key: vars(options)[key] for key in _EDGE_LIST_OPTIONS if vars(options)[key] is not None
    }
    if (given or options.labels) and not is_edge_list(name):
        option = "labels" if options.labels else next(iter(given))
        raise InvalidValue(f"--{option} is for edge lists ({' '.join(EDGE_LISTS)}), not for {name}")
    if not path.exists() and name in datasets.names():
        if options.duplicates is not None:
            raise InvalidValue(f"--duplicates is for files, not for the dataset {name}")
        return datasets.load(name), None
    if not path.exists() and path.name == name and not path.suffix:
        raise InvalidValue(
            f"{name!r} is neither a file nor a dataset; datasets are {', '.join(datasets.names())}"
        )
    if options.duplicates is not None:
        given["dup_op"] = options.duplicates
    try:
        if options.labels:
            return io.read_labelled_edgelist(path, **given)
        return io.read(path, **given), None
    except (DuplicateEntry, io.ParseError) as error:
        raise InvalidValue(_in_options(error)) from error


def is_edge_list(name: str) -> bool:
    """Whether a file of that name holds an edge list."""
    return name.lower().removesuffix(".gz").endswith(EDGE_LISTS)


def _in_options(error: Exception) -> str:
    """The error's message, with the option that takes a file with this problem."""
    problem = str(error)
    if isinstance(error, io.ParseError) and error.option:
        return f"{problem.removesuffix(error.advice)} ({error.option})"
    return f"{problem} (--duplicates min, for example)" if "dup_op" in problem else problem
