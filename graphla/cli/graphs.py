"""Read the graph that the command line names: a file or a dataset."""

from __future__ import annotations

import errno
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graphla import datasets, io, memory
from graphla.graph import Graph
from graphla.sparse import Matrix
from semirings.exceptions import DimensionMismatch, DuplicateEntry, InvalidValue

EDGE_LISTS = " ".join(f".{extension}" for extension in io.FORMATS["edgelist"].extensions)
# A lower bound on the memory that a graph needs per vertex: for row and column offsets and a few
# vectors.
_BYTES_PER_VERTEX = 32
_TABLE_OPTIONS = ("labels", "base", "columns")
_OPTIONS = {
    "edgelist": (*_TABLE_OPTIONS, "separator", "header"),
    "parquet": _TABLE_OPTIONS,
    "feather": _TABLE_OPTIONS,
    **{name: ("labels",) for name, each in io.FORMATS.items() if each.read is None},
}


def read(options: Namespace) -> Graph:
    """Return the graph `options.graph`, without directions or weights if so requested."""
    A, labels = read_matrix(options)
    if not isinstance(A, Matrix):
        raise InvalidValue(f"{options.graph} holds a vector, but a graph is a square matrix")
    if A.nrows != A.ncols:
        raise DimensionMismatch(
            f"{options.graph} has {A.nrows} rows and {A.ncols} columns, but a graph is square"
        )
    if A.device == "cpu":
        what = f"the {A.nrows:,} vertices of {options.graph}"
        memory.require(_BYTES_PER_VERTEX * A.nrows, what)
    if options.unweighted:
        rows, columns, _ = A.to_coo(values=False)
        A = Matrix.from_coo(rows, columns, True, nrows=A.nrows, ncols=A.ncols)
    graph = Graph(A, labels=labels)
    return graph.to_undirected() if options.undirected else graph


def read_to_convert(options: Namespace) -> tuple[Any, Sequence[str] | None]:
    """Return the vector or matrix in `options.graph`, and its labels (None if there are none)."""
    if options.undirected or options.unweighted:
        graph = read(options)
        return graph.matrix, graph.labels if graph.has_names else None
    return read_matrix(options)


def read_matrix(options: Namespace) -> tuple[Any, Sequence[str] | None]:
    """Return the contents of `options.graph`, and its labels.

    The labels are None unless the options request them or the format always has them.
    """
    name, path = options.graph, Path(options.graph)
    if not name:
        raise InvalidValue("GRAPH is empty, but should be a file or a dataset")
    if name == "-":
        if options.format is None:
            raise InvalidValue("GRAPH is - (standard input), so --format must be given")
        if sys.stdin is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF), "standard input")
        return _read_file(sys.stdin.buffer, io.format_of(name, options.format), options)
    if options.format is None and not path.exists():
        if name in datasets.names():
            return _read_dataset(name, options), None
        if path.name == name and not path.suffix:
            known = ", ".join(datasets.names())
            raise InvalidValue(f"{name!r} is neither a file nor a dataset; datasets are {known}")
    return _read_file(path, io.format_of(path, options.format), options)


def _read_dataset(name: str, options: Namespace) -> Matrix:
    _refuse_options(name, (), options)
    if options.duplicates is not None:
        raise InvalidValue(f"--duplicates is for files only, not for the dataset {name}")
    return datasets.load(name)


def _read_file(source: Any, format: str, options: Namespace) -> tuple[Any, Sequence[str] | None]:
    """Return the contents of a path or a file object, and its labels or None."""
    given = _refuse_options(options.graph, _OPTIONS.get(format, ()), options)
    given["format"] = format
    if options.duplicates is not None:
        if format == "metis":
            raise InvalidValue("--duplicates does not apply to METIS files")
        given["dup_op"] = options.duplicates
    is_labelled = given.pop("labels", False) or io.FORMATS[format].read is None
    try:
        if not is_labelled:
            return io.read(source, **given), None
        A, labels = io.read_labelled(source, **given)
        return A, [str(label) for label in labels]
    except (DuplicateEntry, io.ParseError) as error:
        raise InvalidValue(_in_options(error)) from error


def _refuse_options(name: str, known: Sequence[str], options: Namespace) -> dict[str, Any]:
    """Return a dict of the edge-list options that the user has set.

    Raise an error if one of these options is not in `known`, the options that apply to the input
    `name`.
    """
    given = {}
    for option in _OPTIONS["edgelist"]:
        value = vars(options)[option]
        if value is None or (value is False and option == "labels"):
            continue
        if option not in known:
            raise InvalidValue(f"--{option} is for edge lists ({EDGE_LISTS}), not for {name}")
        given[option] = value
    return given


def _in_options(error: Exception) -> str:
    """Return the message of the error, with advice on options instead of Python arguments."""
    problem = str(error)
    if isinstance(error, io.ParseError) and error.option:
        return f"{problem.removesuffix(error.advice)} ({error.option})"
    return f"{problem} (--duplicates min, for example)" if "dup_op" in problem else problem
