"""Reading and writing by the extension of the file's name."""

from __future__ import annotations

from typing import Any

from graphla.io.edgelist import read_edgelist, write_edgelist
from graphla.io.files import name_of
from graphla.io.matrix_market import mmread, mmwrite
from graphla.io.npz import read_npz, write_npz
from graphla.sparse import Matrix, Vector
from semirings.exceptions import InvalidValue

_FORMATS = {
    "mtx": (mmread, mmwrite),
    "npz": (read_npz, write_npz),
    **dict.fromkeys(
        ("csv", "tsv", "txt", "edges", "edgelist", "el"), (read_edgelist, write_edgelist)
    ),
}
EXTENSIONS = tuple(f".{extension}" for extension in _FORMATS)


def read(path: Any, **options: Any) -> Any:
    """The Matrix or Vector in a file, by `mmread`, `read_npz` or `read_edgelist`, with options.

    The extension tells which: .mtx, .npz, or .csv .tsv .txt .edges .edgelist .el; text may be
    compressed, as in .mtx.gz.
    """
    reader, _ = _FORMATS[_extension(path)]
    return reader(path, **options)


def is_edgelist(path: Any) -> bool:
    """Return whether `read` takes the file for a text edge list."""
    return _FORMATS[_extension(path)][0] is read_edgelist


def write(path: Any, A: Matrix | Vector, **options: Any) -> None:
    """The file = A, by `mmwrite`, `write_npz` or `write_edgelist`, as the extension tells."""
    _, writer = _FORMATS[_extension(path)]
    writer(path, A, **options)


def _extension(path: Any) -> str:
    words = name_of(path).lower().rsplit("/", 1)[-1].split(".")
    if words[-1] in ("gz", "bz2", "xz") and words[-2:-1] != ["npz"]:
        words.pop()
    if len(words) < 2 or words[-1] not in _FORMATS:
        raise InvalidValue(
            f"path is {name_of(path)!r}, but should end in one of {', '.join(EXTENSIONS)}, "
            "the text formats also with .gz"
        )
    return words[-1]
