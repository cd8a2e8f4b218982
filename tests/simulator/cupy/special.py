"""CuPy functions that differ from NumPy's functions or that NumPy lacks."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import allocate, ndarray, on_device, unwrap, wrap
from .cuda import stream as streams
from .functions import created, lifted, refuse_subclass

_host_searchsorted = lifted["searchsorted"]


def array(
    obj: Any,
    dtype: Any = None,
    copy: bool = True,
    order: Any = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> ndarray:
    """Return an array on the current device from a device array, a host array or nested lists."""
    if isinstance(obj, ndarray):
        if not copy and obj.ndim >= ndmin and (dtype is None or obj.dtype == np.dtype(dtype)):
            return obj
        streams.copies(obj._memory)
        obj = obj._host
    elif isinstance(obj, (list, tuple)):
        obj = _to_host(obj)
    values = np.array(obj, dtype=dtype, ndmin=ndmin, order=order)
    result = ndarray._of(on_device(values))
    streams.writes(result._memory)
    return result


def _to_host(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_to_host(each) for each in value]
    return value.get() if isinstance(value, ndarray) else value


def asarray(
    a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, blocking: bool = False
) -> ndarray:
    """Return the array itself if it needs no conversion."""
    if isinstance(a, ndarray) and not copy and (dtype is None or a.dtype == np.dtype(dtype)):
        return a
    return array(a, dtype, order=order or "K")


def ascontiguousarray(a: Any, dtype: Any = None) -> ndarray:
    result = asarray(a, dtype)
    return result if result.flags.c_contiguous else result.copy("C")


def copy(a: ndarray, order: Any = "K") -> ndarray:
    return array(a, order=order)


def asnumpy(
    a: Any, stream: Any = None, order: Any = "C", out: Any = None, *, blocking: bool = True
) -> np.ndarray:
    """Return a copy on the host."""
    if isinstance(a, ndarray):
        return a.get(stream, order, out, blocking)
    return np.asarray(a, order=order)


def empty(shape: Any, dtype: Any = float, order: Any = "C") -> ndarray:
    """Return an uninitialized array."""
    if isinstance(shape, ndarray):
        raise TypeError("empty: an array of the device is no number")
    return ndarray._of(allocate(shape, dtype, order))


def empty_like(
    prototype: Any, dtype: Any = None, order: Any = "K", subok: Any = None, shape: Any = None
) -> ndarray:
    """Return an uninitialized array."""
    host = prototype._host if isinstance(prototype, ndarray) else np.asarray(prototype)
    return empty(host.shape if shape is None else shape, host.dtype if dtype is None else dtype)


def get_array_module(*args: Any) -> Any:
    """Return cupy if any argument is a CuPy array, otherwise numpy."""
    from .. import cupy

    return cupy if any(isinstance(each, ndarray) for each in args) else np


def lexsort(keys: Any) -> ndarray:
    """Sort by the rows of an array, the last row first; like CuPy, reject a tuple."""
    if not isinstance(keys, ndarray):
        raise AttributeError(f"{type(keys).__name__!r} object has no attribute 'ndim'")
    return lifted["lexsort"](keys)


def repeat(a: Any, repeats: Any, axis: Any = None) -> ndarray:
    """Repeat elements; like CuPy, reject an array of repeat counts."""
    if isinstance(repeats, (ndarray, np.ndarray)):
        raise TypeError("repeats must be int or sequence of ints")
    return lifted["repeat"](a, repeats, axis)


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> ndarray:
    if not isinstance(a, ndarray):
        raise NotImplementedError("Only int or ndarray are supported for a")
    if not isinstance(v, (ndarray, int, float, np.generic)):
        raise NotImplementedError("Only int or ndarray are supported for a")
    return _host_searchsorted(a, v, side, sorter)


def _stable_only(name: str) -> Any:
    def call(a: Any, axis: Any = -1, kind: Any = None) -> ndarray:
        if kind not in (None, "stable"):
            raise ValueError(f"kind can only be None or 'stable', not {kind!r}")
        if not isinstance(a, ndarray):
            raise TypeError(f"Unsupported type {type(a)}")
        return lifted[name](a, axis, kind="stable")

    call.__name__ = call.__qualname__ = name
    return call


def take(a: Any, indices: Any, axis: Any = None, out: Any = None) -> ndarray:
    """Return the elements at indices. Reject an index out of bounds; CuPy would wrap it around."""
    if isinstance(indices, np.ndarray):
        indices = array(indices)
    return lifted["take"](a, indices, axis, out)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None and y is None:
        return lifted["nonzero"](condition)
    return lifted["where"](condition, x, y)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> ndarray:
    ends = {"prepend": prepend, "append": append}
    given = {key: unwrap(each) for key, each in ends.items() if each is not None}
    return wrap(np.diff(unwrap(a), n, axis, **given))


def bincount(x: Any, weights: Any = None, minlength: Any = None) -> ndarray:
    return lifted["bincount"](x, weights, 0 if minlength is None else minlength)


def copyto(dst: ndarray, src: Any, casting: str = "same_kind", where: Any = None) -> None:
    refuse_subclass(src)
    lifted["copyto"](dst, src, casting, True if where is None else where)


def sum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> Any:
    return lifted["sum"](a, axis, dtype, out, keepdims)


def arange(start: Any, stop: Any = None, step: Any = 1, dtype: Any = None) -> ndarray:
    if stop is None:
        start, stop = 0, start
    return created["arange"](start, stop, step, dtype=dtype)


sort, argsort = _stable_only("sort"), _stable_only("argsort")
SPECIAL = {
    each.__name__: each
    for each in (
        *(array, asarray, ascontiguousarray, copy, asnumpy, empty, empty_like, get_array_module),
        *(lexsort, repeat, searchsorted, sort, argsort, take, where, diff, bincount, copyto),
        *(sum, arange),
    )
}
