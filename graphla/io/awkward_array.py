"""Convert to and from Awkward Array, in the layout of python-graphblas.

An array has the fields `indices` and `values`. For a Vector they hold one element per entry; for a
Matrix they hold one list per row ("csr") or column ("csc"). The formats "hypercsr" and "hypercsc"
store only rows or columns that have entries; the field `offset_labels` holds their numbers. The
parameters `format` and `shape` complete the description.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.io.entries import forms_of
from graphla.sparse import Matrix, Vector
from semirings.exceptions import InvalidValue

FORMATS = ("csr", "csc", "hypercsr", "hypercsc")


def to_awkward(A: Any, format: str | None = None) -> Any:
    """Return the entries of A as an `awkward.Array`.

    Args:
        A: a Matrix, a Vector, or an expression that yields one.
        format: "csr" (the default), "csc", "hypercsr" or "hypercsc" for a Matrix; "vec" for a
            Vector.

    Returns:
        An array with the fields `indices` and `values`, and in the two hyper formats also
        `offset_labels`. Its arrays are copies in host memory.

    Raises:
        ImportError: Awkward Array is not installed.
        InvalidValue: A cannot be stored in this format.
    """
    ak = _awkward()
    forms_of(A)
    known = ("vec",) if A.ndim == 1 else FORMATS
    format = known[0] if format is None else str(format).lower()
    if format not in known:
        raise InvalidValue(f"format is {format!r}, but should be one of {', '.join(known)}")
    said = {"format": format, "shape": list(A.shape)}
    if format == "vec":
        indices, values = A.to_coo()
        fields = [_whole(ak, indices), _numbers(ak, values)]
        return ak.Array(_record(ak, fields, ["indices", "values"], said))
    if format in ("csr", "csc"):
        indptr, indices, values = A.to_csr() if format == "csr" else A.to_csc()
        record = _record(ak, [_whole(ak, indices), _numbers(ak, values)], ["indices", "values"])
        return ak.Array(_lists(ak, indptr, record, said))
    labels, indptr, indices, values = A.to_dcsr() if format == "hypercsr" else A.to_dcsc()
    parts = [_lists(ak, indptr, part) for part in (_whole(ak, indices), _numbers(ak, values))]
    names = ["indices", "values", "offset_labels"]
    return ak.Array(_record(ak, [*parts, _whole(ak, labels)], names, said))


def from_awkward(A: Any, *, name: str | None = None) -> Matrix | Vector:
    """Return the Matrix or Vector in an `awkward.Array` with the layout of `to_awkward`.

    Args:
        A: an array with the fields of `to_awkward` and the parameters `format` and `shape`.
        name: the name of the result.

    Returns:
        A Matrix, or a Vector for an array of one dimension.

    Raises:
        ImportError: Awkward Array is not installed.
        TypeError: A is not an `awkward.Array`.
        InvalidValue: a field or a parameter is missing or wrong.
    """
    ak = _awkward()
    if not isinstance(A, ak.Array):
        raise TypeError(f"A is a {type(A).__name__}, but should be an awkward.Array")
    said: Any = A.layout.parameters
    for key in ("format", "shape"):
        if key not in said:
            raise InvalidValue(f"A has no parameter {key!r}; ak.with_parameter sets it")
    format, shape = said["format"], list(said["shape"])
    known = ("vec",) if len(shape) == 1 else FORMATS
    if len(shape) not in (1, 2) or format not in known:
        raise InvalidValue(
            f"A has format {format!r} and shape {shape}, which do not fit each other"
        )
    # In the hyper formats, python-graphblas nests the fields in `data`.
    fields = A.data if "data" in A.fields else A
    for field, of in (("indices", fields), ("values", fields), ("offset_labels", A)):
        if field not in of.fields and (field != "offset_labels" or format.startswith("hyper")):
            raise InvalidValue(f"A has no field {field!r}, which {format} needs")
    if format == "vec":
        indices, values = ak.to_numpy(A.indices), ak.to_numpy(A.values)
        return Vector.from_coo(indices, values, size=shape[0], name=name)
    counts = ak.to_numpy(ak.num(fields.values))
    indptr = np.concatenate([[0], np.cumsum(counts)])
    indices, values = (ak.to_numpy(ak.flatten(part)) for part in (fields.indices, fields.values))
    sizes = {"nrows": shape[0], "ncols": shape[1], "name": name}
    if not format.startswith("hyper"):
        build = Matrix.from_csr if format == "csr" else Matrix.from_csc
        return build(indptr, indices, values, **sizes)
    labels = ak.to_numpy(A.offset_labels)
    build = Matrix.from_dcsr if format == "hypercsr" else Matrix.from_dcsc
    return build(labels, indptr, indices, values, **sizes)


def _awkward() -> Any:
    try:
        import awkward  # pyright: ignore[reportMissingImports]
    except ImportError:
        raise ImportError("to_awkward and from_awkward need: pip install awkward") from None
    return awkward


def _whole(ak: Any, indices: Any) -> Any:
    return ak.contents.NumpyArray(np.ascontiguousarray(indices, np.int64))


def _numbers(ak: Any, values: Any) -> Any:
    return ak.contents.NumpyArray(np.ascontiguousarray(values))


def _record(ak: Any, contents: list[Any], names: list[str], said: Any = None) -> Any:
    return ak.contents.RecordArray(contents, names, parameters=said)


def _lists(ak: Any, indptr: Any, content: Any, said: Any = None) -> Any:
    """Return an array of lists, one list per row or column."""
    offsets = ak.index.Index64(np.asarray(indptr, np.int64))
    return ak.contents.ListOffsetArray(offsets, content, parameters=said)
