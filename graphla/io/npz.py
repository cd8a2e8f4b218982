"""`.npz` files: zip archives of NumPy arrays.

A Matrix is written in the layout of `scipy.sparse.save_npz` (`format` "csr", `shape`, `indptr`,
`indices`, `data`), and a Vector in the layout of a one-dimensional COO array (`coords`), so SciPy
can read both. The additional key `symmetric`, which SciPy ignores, records whether a Matrix is
known to be symmetric.

The reader accepts these files, all other files written by `save_npz`, and lists of edges: `src`,
`dst` (vertices from 0), `n`, `directed` and, optionally, `weight`. Each undirected edge is listed
once.
"""

from __future__ import annotations

import io
import zipfile
import zlib
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np

from graphla import memory
from graphla.io.entries import assemble, by_rows, has_symmetry, held_once
from graphla.io.files import ParseError, is_file_object, is_of_system, name_of, replacing
from graphla.io.scipy_sparse import from_scipy_sparse
from graphla.sparse import Matrix, Vector
from graphla.sparse.vector import ReadableVector
from semirings.dtypes import lookup_dtype
from semirings.exceptions import OutOfMemory

_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    ValueError,  # graphla also raises it if the arrays do not form a matrix
    TypeError,
    IndexError,
    AttributeError,
    OverflowError,
    NotImplementedError,
    SyntaxError,
    UnicodeError,
)


def read_npz(source: Any, *, dup_op: Any = None, name: Any = None) -> Any:
    """Return the Matrix or Vector in a `.npz` file.

    The file may have been written by `write_npz` or `scipy.sparse.save_npz`. It may also contain a
    graph as the arrays `src`, `dst`, `n`, `directed` and, optionally, `weight`. Nothing in the file
    is executed.

    Args:
        source: a path or a file object.
        dup_op: an operator that combines the values of duplicate entries; without it, duplicates
            raise ParseError.
        name: the name of the result.

    Returns:
        A Matrix, or a Vector for a one-dimensional array.

    Raises:
        ParseError: the file is not a `.npz` file of a matrix, vector or graph.
        OutOfMemory: the arrays do not fit in memory.
    """
    held = io.BytesIO(source.read()) if is_file_object(source) else source
    try:
        _refuse_unreadable(held, name_of(source))
        return _read(held, dup_op, name)
    except OutOfMemory:
        raise
    except MemoryError as error:
        raise OutOfMemory(f"{name_of(source)}: {error}") from error
    except (*_DAMAGE, OSError) as error:
        if is_of_system(error):
            raise
        raise ParseError(
            f"this is no .npz file of a graph ({_describe(error)})", name_of(source)
        ) from error


def write_npz(target: Any, A: Matrix | Vector, *, compressed: bool = True) -> None:
    """Write a `.npz` file that `read_npz` and `scipy.sparse.load_npz` read.

    Args:
        target: a path, which is replaced only after everything is written, or a file object.
        A: a Matrix or Vector; the file has the same dtype.
        compressed: whether to compress the arrays.
    """
    if isinstance(A, ReadableVector):
        indices, values = A.to_coo()
        arrays: dict[str, Any] = {"format": b"coo", "shape": (A.size,), "data": values}
        arrays["coords"] = np.asarray(indices)[np.newaxis]
    else:
        rows = by_rows(A)
        arrays = {"format": b"csr", "shape": rows.shape, "data": rows.values}
        arrays |= {"indptr": rows.indptr, "indices": rows.columns}
        arrays["symmetric"] = has_symmetry(rows, "symmetric")
    arrays["_is_array"] = True
    with replacing(target) as out:
        (np.savez_compressed if compressed else np.savez)(out, **arrays)


def _refuse_unreadable(source: Any, file: str) -> None:
    """Raise an error if a file is not a zip archive, or if its arrays do not fit in memory."""
    with Path(source).open("rb") if not is_file_object(source) else nullcontext(source) as stream:
        if stream.read(6) == b"\x93NUMPY":
            raise ValueError("it holds one array")
        stream.seek(0)
        if not zipfile.is_zipfile(stream):
            raise ValueError("it is not a zip archive")
        with zipfile.ZipFile(stream) as archive:
            size = sum(member.file_size for member in archive.infolist())
        memory.require(size, f"the arrays of {file}")
        stream.seek(0)


def _read(source: Any, dup_op: Any, name: Any) -> Any:
    with np.load(source, allow_pickle=False) as arrays:
        if "src" in arrays and "dst" in arrays:
            return _from_edges(arrays, dup_op, name)
        if "format" not in arrays:
            raise ValueError(f"it holds {', '.join(arrays.files) or 'nothing'}")
        for key in ("shape", "coords", "indptr", "indices", "row", "col", "offsets"):
            if key in arrays and arrays[key].size and arrays[key].dtype.kind not in "iu":
                raise ValueError(f"{key} must be integers, but are {arrays[key].dtype}")
        if len(arrays["shape"]) == 1:
            return _vector(arrays, dup_op, name)
        symmetric = bool(arrays.get("symmetric", False))
    if hasattr(source, "seek"):
        source.seek(0)
    return _matrix(source, symmetric, dup_op, name)


def _vector(arrays: Any, dup_op: Any, name: Any) -> Vector:
    (indices,), values, (size,) = arrays["coords"], arrays["data"], arrays["shape"].tolist()
    dtype, values = lookup_dtype(values.dtype), held_once(values)
    return Vector.from_coo(indices, values, dtype, size=size, dup_op=dup_op, name=name)


def _matrix(source: Any, symmetric: bool, dup_op: Any, name: Any) -> Any:
    from scipy import sparse

    S = sparse.load_npz(source)
    if S.format in ("csr", "csc"):
        S.check_format(full_check=True)
    A = from_scipy_sparse(S, dup_op=dup_op, name=name)
    rows = by_rows(A)
    if not symmetric or not has_symmetry(rows, "symmetric"):
        return A
    arrays = (rows.indptr, rows.columns, rows.values)
    return Matrix.from_csr(*arrays, A.dtype, ncols=A.ncols, symmetric=True, copy=False, name=name)


def _from_edges(arrays: Any, dup_op: Any, name: Any) -> Matrix:
    u, v, n, directed = (arrays[key] for key in ("src", "dst", "n", "directed"))
    if n.ndim or n.dtype.kind not in "iu":
        raise ValueError("n is no integer")
    if directed.ndim or directed.dtype.kind not in "biu":
        raise ValueError("directed is neither true nor false")
    for key, ends in (("src", u), ("dst", v)):
        if ends.ndim != 1 or ends.dtype.kind not in "iu":
            raise ValueError(f"{key} is no list of integers")
    w = arrays["weight"] if "weight" in arrays.files else np.broadcast_to(True, u.shape)
    dtype = lookup_dtype(w.dtype)
    symmetry, size = "general" if directed else "symmetric", int(n)
    return assemble(u, v, w, dtype, (size, size), symmetry=symmetry, dup_op=dup_op, name=name)


def _describe(error: Exception) -> str:
    if "allow_pickle" in str(error):
        return "it holds Python objects, which are never loaded: that could run code"
    return str(error.args[0]) if isinstance(error, KeyError) else str(error)
