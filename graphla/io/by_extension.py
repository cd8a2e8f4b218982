"""Read and write files in a format that is given by name or by the file extension."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from graphla.io.dimacs import read_dimacs
from graphla.io.edge_table import read_edge_table, read_labelled_edge_table
from graphla.io.edgelist import read_edgelist, read_labelled_edgelist, write_edgelist
from graphla.io.files import is_file_object, name_of
from graphla.io.matrix_market import mmread, mmwrite
from graphla.io.metis import read_metis
from graphla.io.networkx_files import read_networkx_file
from graphla.io.npz import read_npz, write_npz
from graphla.sparse import Matrix, Vector
from semirings.exceptions import InvalidValue

COMPRESSED = ("gz", "bz2", "xz")


@dataclass(frozen=True, slots=True)
class Format:
    """A file format, and the functions that read and write it.

    Attributes:
        extensions: the extensions of file names, without the dot.
        read: the reader; None if files of this format always have labels.
        read_labelled: the reader that also returns labels, or None.
        write: the writer, or None.
        is_text: whether this is a text format, whose files may be compressed.
    """

    extensions: tuple[str, ...]
    read: Callable[..., Any] | None = None
    read_labelled: Callable[..., tuple[Matrix, Sequence[Any]]] | None = None
    write: Callable[..., None] | None = None
    is_text: bool = True


def _networkx(format: str) -> Format:
    return Format((format,), read_labelled=partial(read_networkx_file, format=format))


def _table(format: str, *extensions: str) -> Format:
    read = partial(read_edge_table, format=format)
    read_labelled = partial(read_labelled_edge_table, format=format)
    return Format((format, *extensions), read, read_labelled, is_text=False)


FORMATS = {
    "mtx": Format(("mtx",), mmread, write=mmwrite),
    "npz": Format(("npz",), read_npz, write=write_npz, is_text=False),
    "edgelist": Format(
        ("csv", "tsv", "txt", "edges", "edgelist", "el"),
        read_edgelist,
        read_labelled_edgelist,
        write_edgelist,
    ),
    "graphml": _networkx("graphml"),
    "gexf": _networkx("gexf"),
    "gml": _networkx("gml"),
    "json": _networkx("json"),
    "parquet": _table("parquet", "pq"),
    "feather": _table("feather", "arrow"),
    "metis": Format(("metis", "graph"), read_metis),
    "dimacs": Format(("dimacs", "gr", "col"), read_dimacs),
}
_BY_EXTENSION = {extension: name for name, each in FORMATS.items() for extension in each.extensions}
EXTENSIONS = tuple(f".{extension}" for extension in _BY_EXTENSION)
WRITTEN = tuple(f".{e}" for each in FORMATS.values() if each.write for e in each.extensions)


def read(path: Any, *, format: str | None = None, **options: Any) -> Any:
    """Return the Matrix or Vector in a file.

    Args:
        path: the path of the file, or a file object.
        format: a key of FORMATS or an extension. By default the extension of the path decides: .mtx
            (Matrix Market); .npz; .csv .tsv .txt .edges .edgelist .el (edge lists); .graphml .gexf
            .gml .json (node-link), which need NetworkX; .parquet .pq .feather .arrow (edge tables),
            which need pyarrow; .metis .graph (METIS); .gr .col .dimacs (DIMACS). Text files may be
            compressed, as in .mtx.gz.
        **options: further arguments of the reader: `mmread`, `read_npz`, `read_edgelist`,
            `read_networkx_file`, `read_edge_table`, `read_metis` or `read_dimacs`.

    Returns:
        The Matrix or Vector. `Graph.read` and `read_labelled` also return the labels of vertices.

    Raises:
        InvalidValue: the format is unknown.
        ParseError: the file is malformed.
        PackageMissing: the format needs a package that is not installed.

    Examples:
        >>> import io
        >>> import graphla as gl
        >>> gl.io.read(io.StringIO("0 1\\n1 2\\n"), format="edgelist").nvals
        2
    """
    found = FORMATS[format_of(path, format)]
    if found.read is not None:
        return found.read(path, **options)
    assert found.read_labelled is not None
    return found.read_labelled(path, **options)[0]


def read_labelled(
    path: Any, *, format: str | None = None, **options: Any
) -> tuple[Matrix, Sequence[Any]]:
    """Return the Matrix in a file, and the label of each vertex.

    Args:
        path: the path of the file, or a file object. A file with an unknown extension is read as an
            edge list.
        format: a key of FORMATS or an extension, as in `read`.
        **options: further arguments of the reader, as in `read`.

    Returns:
        The Matrix, and the label of each row.

    Raises:
        InvalidValue: the format is unknown or has no labels: Matrix Market, .npz, METIS, DIMACS.
        ParseError: the file is malformed.
        PackageMissing: the format needs a package that is not installed.

    Examples:
        >>> import io
        >>> import graphla as gl
        >>> A, labels = gl.io.read_labelled(io.StringIO("ann bob\\n"), format="edgelist")
        >>> labels
        ['ann', 'bob']
    """
    name = _find(path, format) or ("edgelist" if format is None else format_of(path, format))
    found = FORMATS[name]
    if found.read_labelled is None:
        raise InvalidValue(f"{name_of(path)} is a file of format {name}, which has no labels")
    return found.read_labelled(path, **options)


def write(path: Any, A: Matrix | Vector, *, format: str | None = None, **options: Any) -> None:
    """Write A to a file with `mmwrite`, `write_npz` or `write_edgelist`.

    Args:
        path: the path of the file, or a file object.
        A: a Matrix or Vector.
        format: a key of FORMATS or an extension; by default the extension of the path decides.
        **options: further arguments of the writer.

    Raises:
        InvalidValue: the format is unknown or cannot be written.
    """
    name = format_of(path, format)
    writer = FORMATS[name].write
    if writer is None:
        raise InvalidValue(
            f"path is {name_of(path)!r}, but graphla reads {name} files and does not write them; "
            f"it writes {', '.join(WRITTEN)}"
        )
    if format in ("csv", "tsv"):
        options.setdefault("separator", "," if format == "csv" else "\t")
    writer(path, A, **options)


def format_of(path: Any, format: str | None = None) -> str:
    """Return the key in FORMATS for a format, or for the extension of a path.

    Args:
        path: the path of a file, or a file object.
        format: a key of FORMATS or an extension; by default the extension of the path decides.

    Returns:
        A key of FORMATS.

    Raises:
        InvalidValue: the format is unknown.

    Examples:
        >>> from graphla.io import format_of
        >>> format_of("roads.csv.gz"), format_of("roads", "gr")
        ('edgelist', 'dimacs')
    """
    found = _find(path, format)
    if found is not None:
        return found
    if format is not None:
        known = ", ".join((*FORMATS, *(e for e in _BY_EXTENSION if e not in FORMATS)))
        raise InvalidValue(f"format is {format!r}, but should be one of {known}")
    problem = f"path is {name_of(path)!r}"
    if is_file_object(path):
        raise InvalidValue(f"{problem}, whose name has no known extension: pass format=")
    raise InvalidValue(
        f"{problem}, but should end in one of {', '.join(EXTENSIONS)}, "
        "the text formats also with .gz; for another name, pass the format"
    )


def is_edgelist(path: Any, format: str | None = None) -> bool:
    """Return whether the file is an edge list or an edge table, whose readers accept `directed`.

    A file in an unknown format is treated as an edge list, as in `read_labelled`.

    Args:
        path: the path of a file, or a file object.
        format: a key of FORMATS or an extension; by default the extension of the path decides.

    Returns:
        True or False.
    """
    return _find(path, format) in (None, "edgelist", "parquet", "feather")


def has_labels(path: Any, format: str | None = None) -> bool:
    """Return whether files of this format always name their vertices.

    Args:
        path: the path of a file, or a file object.
        format: a key of FORMATS or an extension; by default the extension of the path decides.

    Returns:
        True or False.
    """
    found = _find(path, format)
    return found is not None and FORMATS[found].read is None


def _find(path: Any, format: str | None) -> str | None:
    if format is not None:
        return format if format in FORMATS else _BY_EXTENSION.get(str(format).lower().lstrip("."))
    words = name_of(path).lower().rsplit("/", 1)[-1].split(".")
    is_compressed = words[-1] in COMPRESSED
    if is_compressed:
        words.pop()
    found = _BY_EXTENSION.get(words[-1]) if len(words) > 1 else None
    return None if found and is_compressed and not FORMATS[found].is_text else found
