"""Convert subscripts in Python and NumPy notation to the indices that they select."""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.backends import streams
from graphla.expression import Operand
from graphla.operations.moving import on_host
from graphla.operations.operation import DeviceScope, refuse_mixed
from graphla.operations.values import exact_array, has_integers, is_on_card
from graphla.sparse.placing import extremes
from semirings.exceptions import IndexOutOfBound, InvalidValue

Axis = int | np.ndarray | None
"""The indices that a subscript selects on one axis.

An int selects one index, and the result then lacks this axis. An array of int64 numbers lists the
indices. None stands for all indices in order. If an array or a Vector of indices is on a GPU, it is
not copied to the host.
"""


def vector_axis(key: Any, size: int, device: str) -> Axis:
    """Return the indices of a vector on `device` that `key` selects."""
    if type(key) is int and 0 <= key < size:
        return key
    if key is Ellipsis:
        return None
    if type(key) is tuple:
        raise TypeError(f"a Vector takes one index, not the tuple {key!r}")
    return axis(key, size, "index", device)


def matrix_axes(key: Any, nrows: int, ncols: int, device: str) -> tuple[Axis, Axis]:
    """Return the rows and the columns of a matrix on `device` that `key` selects."""
    if key is Ellipsis:
        return None, None
    if type(key) is not tuple or len(key) != 2:
        raise TypeError(f"a Matrix takes two indices, as in A[i, j] or A[i, :], not {_show(key)}")
    return axis(key[0], nrows, "row", device), axis(key[1], ncols, "column", device)


def axis(key: Any, size: int, name: str, device: str) -> Axis:
    """Return the indices that `key` selects on an axis; negative indices count from its end.

    If `key` is a Vector, it must be on `device`.
    """
    if isinstance(key, slice):
        return _slice(key, size)
    if isinstance(key, Operand):
        if key.ndim == 1:
            return _values_of(key, size, name, device)
        key = _index_of(key, name)
    elif is_on_card(key):
        key = streams("cuda").adopt(key)
        if key.ndim:
            with DeviceScope("index", (), f"cuda:{key.device.id}"):
                return _check_key(key, size, name)
        key = on_host(key)
    if isinstance(key, np.ndarray) and key.ndim == 0:
        key = key[()]
    if isinstance(key, (int, np.integer)) and not isinstance(key, bool):
        return position(int(key), size, name)
    return _indices(key, size, name)


def position(i: int, size: int, name: str) -> int:
    """Return an index on an axis of length `size`; a negative i counts from its end."""
    if not -size <= i < size:
        raise IndexOutOfBound(f"{name} {i} is out of range: the size is {size}")
    return i + size if i < 0 else i


def length(axis: Axis, size: int) -> int:
    """Return the number of selected indices on an axis of length `size`; 1 for an int."""
    if axis is None:
        return size
    return 1 if isinstance(axis, int) else axis.size


def _slice(key: slice, size: int) -> Axis:
    try:
        start, stop, step = key.indices(size)
    except TypeError:
        raise TypeError(f"the bounds of a slice must be integers, not {key!r}") from None
    if start == 0 and stop == size and step == 1:
        return None
    return np.arange(start, stop, step, dtype=np.int64)


def _values_of(key: Operand, size: int, name: str, device: str) -> np.ndarray:
    """Return the values of a full Vector of integers as indices."""
    if not key.dtype.is_integer:
        raise TypeError(f"{name} must be a Vector of integers, not of {key.dtype}{_MASK_HINT}")
    forms = key._read()
    if forms.device != device:
        refuse_mixed(device, forms.device, "what is indexed and the Vector of its indices")
    with DeviceScope("index", (forms,)):
        missing = forms.size - forms.nvals
        if missing:
            raise InvalidValue(
                f"{name} must be a Vector with an entry at each position, but {missing} of its "
                f"{forms.size} positions {'has' if missing == 1 else 'have'} no entry"
            )
        return _check_key(forms.dense().values, size, name)


_MASK_HINT = "; to choose by a mask write `C(mask.S) << x` or `x.dup(mask=mask.S)`"


def _index_of(key: Operand, name: str) -> int:
    if key.ndim:
        raise TypeError(
            f"{name} must be an integer, slice or list of integers, not a "
            f"{'Vector' if key.ndim == 1 else 'Matrix'}{_MASK_HINT}"
        )
    return key.__index__()  # pyright: ignore[reportAttributeAccessIssue]


def _indices(key: Any, size: int, name: str) -> np.ndarray:
    if isinstance(key, (str, bytes, float, bool, np.bool_, tuple)) or key is None:
        raise TypeError(f"{name} must be an integer, slice or list of integers, not {_show(key)}")
    if not isinstance(key, np.ndarray):
        try:
            key = list(key)
        except TypeError:
            raise TypeError(
                f"{name} must be an integer, slice or list of integers, not {_show(key)}"
            ) from None
        key = [_index_of(k, name) if isinstance(k, Operand) else k for k in key]
        key = exact_array(key) if key else np.asarray(key, np.int64)
        if has_integers(key):
            worst = max(key.flat, key=abs)
            raise IndexOutOfBound(f"{name} {worst} is out of range: the size is {size}")
    return _check_key(key, size, name)


def _check_key(key: Any, size: int, name: str) -> Any:
    """Check an array of indices, and return them as int64 numbers from 0 to size - 1.

    Negative indices count from the end. The array must have one dimension and contain integers in
    the range -size to size - 1. A nonempty array is always copied.
    """
    if key.ndim != 1 or key.dtype.kind not in "iu":
        raise TypeError(
            f"{name} must be a list or 1-d array of integers, not a {key.ndim}-d array of "
            f"{key.dtype}"
        )
    if key.size:
        least, most = extremes(key)
        if least < -size or most >= size:
            worst = most if most >= size else least
            raise IndexOutOfBound(f"{name} {worst} is out of range: the size is {size}")
        key = key.astype(np.int64)
        if least < 0:
            key = np.where(key < 0, key + size, key)
    return key.astype(np.int64, copy=False)


def _show(key: Any) -> str:
    text = repr(key)
    return text if len(text) <= 40 else f"a {type(key).__name__}"
