"""Convert Python and NumPy values to entries: find their dtype, or check that they fit a dtype."""

from __future__ import annotations

from functools import cache
from numbers import Integral
from typing import Any

import numpy as np

from graphla.backends import backend
from graphla.backends.values import is_any
from graphla.formats import FullVector
from semirings.dtypes import BOOL, FP64, INT64, UINT64, DataType, lookup_dtype
from semirings.primitives import to_integer

DLPACK_CUDA = 2
"""DLPack's code for the memory of an NVIDIA GPU."""

WIDE = 1 << 63
"""The smallest positive integer that does not fit in INT64."""

Scalar = bool | int | float | np.generic


def is_scalar(value: Any) -> bool:
    """Return whether `value` is a single Python or NumPy number or Boolean."""
    return isinstance(value, (int, float, np.generic)) or (
        isinstance(value, np.ndarray) and value.ndim == 0
    )


def is_on_card(value: Any) -> bool:
    """Return whether `value` is an array, of any library, in the memory of a GPU.

    The vectors and matrices of graphla do not count, although they support DLPack. They are
    recognized because their `__array_ufunc__` is None.
    """
    if isinstance(value, (np.ndarray, list, tuple)) or is_scalar(value):
        return False
    if getattr(value, "__array_ufunc__", True) is None:
        return False
    if hasattr(value, "__cuda_array_interface__"):
        return True
    place = getattr(value, "__dlpack_device__", None)
    return place is not None and int(place()[0]) == DLPACK_CUDA


def dtype_of(value: Any, beside: DataType | None = None) -> DataType:
    """Return the dtype of a scalar.

    `beside` is a dtype. A Python number gets this dtype if a number of its kind (Boolean, integer
    or float) can have it.

    >>> from semirings.dtypes import INT8
    >>> dtype_of(1, INT8), dtype_of(1.5, INT8), dtype_of(np.int16(1), INT8)
    (INT8, FP64, INT16)
    """
    if isinstance(value, (np.generic, np.ndarray)):
        return lookup_dtype(value.dtype)
    kind = BOOL if isinstance(value, bool) else INT64 if isinstance(value, int) else FP64
    if beside is None or kind is beside:
        return kind
    if kind is FP64:
        return beside if beside.kind == "f" else FP64
    return INT64 if kind is INT64 and beside is BOOL else beside


@cache
def limits(np_type: np.dtype[Any]) -> tuple[int, int]:
    """Return the minimum and the maximum value of an integer dtype."""
    info = np.iinfo(np_type)
    return int(info.min), int(info.max)


@cache
def _greatest(np_type: np.dtype[Any]) -> float:
    return float(np.finfo(np_type).max)


def as_type(value: Any, dtype: DataType) -> Any:
    """Cast a NumPy scalar.

    An integer that does not fit wraps around. A float that becomes an integer is clipped.
    """
    if value.dtype == dtype.np_type:
        return value
    if value.dtype.kind == "f" and dtype.is_integer:
        return to_integer(value, dtype.np_type.type)[()]
    with np.errstate(all="ignore"):
        return value.astype(dtype.np_type)


def fit(value: Any, dtype: DataType, name: str = "value") -> Any:
    """Return `value` as a NumPy scalar of `dtype`; raise an error if it does not fit.

    >>> fit(300, lookup_dtype("INT8"))
    Traceback (most recent call last):
    OverflowError: value is 300, which does not fit INT8 (-128 to 127)
    """
    np_type = dtype.np_type
    kind = np_type.kind
    if type(value) is int or (isinstance(value, np.integer) and kind in "iu"):
        if kind in "iu":
            least, most = limits(np_type)
            if not least <= value <= most:
                raise OverflowError(_sentence(name, value, dtype))
        elif kind == "f" and abs(value) > _greatest(np_type):
            raise OverflowError(_sentence(name, value, dtype))
        return np_type.type(value)
    if isinstance(value, np.ndarray):
        value = value[()]
    if kind in "iu" and isinstance(value, (float, np.floating)):
        least, most = limits(np_type)
        if not least - 1 < float(value) < most + 1:
            raise OverflowError(_sentence(name, value, dtype))
    with np.errstate(all="ignore"):
        entry = np_type.type(value)
    if kind == "f" and np.isinf(entry) and np.isfinite(value):
        raise OverflowError(_sentence(name, value, dtype))
    return entry


def fit_array(values: np.ndarray, dtype: DataType, name: str = "values") -> np.ndarray:
    """Return `values` as an array of `dtype`; an error names the first value that does not fit."""
    np_type = dtype.np_type
    if values.dtype == np_type:
        return values
    if not np.can_cast(values.dtype, np_type, "same_kind") or values.dtype.kind in "iuf":
        _refuse_first_unfit(values, dtype, name)
    # Use our own kernel for the cast, because CuPy's kernel flushes subnormals to zero.
    if is_on_card(values):
        flat = values if values.ndim == 1 else values.ravel()
        cast = backend("cuda").cast(FullVector(flat.size, flat), np_type)
        return cast.values.reshape(values.shape)
    with np.errstate(all="ignore"):
        return values.astype(np_type)


def array_of(values: Any, dtype: Any = None, name: str = "values") -> tuple[np.ndarray, DataType]:
    """Convert a sequence or an array to an array; also return the dtype of the entries.

    The result has the dtype `dtype`, or that of the values if `dtype` is None.
    """
    wanted = None if dtype is None else lookup_dtype(dtype)
    if isinstance(values, np.ma.MaskedArray):
        raise TypeError(f"{name} must not be a masked array; give its .compressed() or .filled(x)")
    is_array = isinstance(values, np.ndarray) or is_on_card(values)
    array = values if is_array else _as_array(values, wanted, name)
    if isinstance(array, np.ndarray):
        array = np.asarray(array)
    if array.size == 0 and not is_array:
        array = array.astype(np.float64 if wanted is None else wanted.np_type)
    if array.dtype.kind not in "biuf" or array.dtype.itemsize > 8 or array.dtype == np.float16:
        raise TypeError(
            f"{name} must be booleans, integers or floating numbers, but are {array.dtype}"
        )
    if wanted is None:
        wanted = lookup_dtype(array.dtype)
    return fit_array(array, wanted, name), wanted


def exact_array(values: Any) -> np.ndarray:
    """Return a list as an array; use dtype object if the list holds integers of 2^63 or more.

    `numpy.asarray` converts integers from 2^63 to 2^64 - 1 to floats if the list also holds smaller
    integers.
    """
    array = np.asarray(values)
    if isinstance(values, np.ndarray) or array.dtype.kind != "f" or not array.size:
        return array
    if abs(array).max() < WIDE:
        return array
    objects = np.asarray(values, object)
    return objects if has_integers(objects) else array


def has_integers(array: np.ndarray) -> bool:
    """Return whether the array has dtype object and holds only integers."""
    return array.dtype == object and all(isinstance(x, Integral) for x in array.flat)


def _as_array(values: Any, wanted: DataType | None, name: str) -> np.ndarray:
    try:
        array = exact_array(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise TypeError(f"{name} must be numbers, all in rows of one length: {error}") from None
    if not has_integers(array):
        return array
    least, most = min(array.flat), max(array.flat)
    worst = most if most >= WIDE else least
    if wanted is None:
        if least < 0 or most >= 2 * WIDE:
            rest = f" next to {least}" if least < 0 <= most < 2 * WIDE else ""
            raise OverflowError(f"{name} hold {worst}{rest}, which does not fit INT64 or UINT64")
        wanted = UINT64
    for value in (least, most):
        fit(value, wanted, name)
    return array.astype(wanted.np_type)


def _refuse_first_unfit(values: np.ndarray, dtype: DataType, name: str) -> None:
    np_type = dtype.np_type
    if values.size == 0 or np_type.kind == "b":
        return
    if np_type.kind in "iu":
        low, high = limits(np_type)
        if values.dtype.kind in "biu":
            least, most = int(values.min()), int(values.max())
            if least >= low and most <= high:
                return
            bad = (values > high) if most > high else (values < low)
        else:
            bad = ~((values > float(low) - 1) & (values < float(high) + 1))
            if np_type.itemsize == 8:  # float(low) - 1 rounds to float(low)
                bad &= values != low
    elif values.dtype.kind == "f" and values.dtype.itemsize > np_type.itemsize:
        bad = np.isfinite(values) & (np.abs(values) > np.finfo(np_type).max)
    else:
        return
    if is_any(bad):
        raise OverflowError(_sentence(name, values[bad][0], dtype))


def _sentence(name: str, value: Any, dtype: DataType) -> str:
    if dtype.np_type.kind in "iu":
        least, most = limits(dtype.np_type)
        return f"{name} is {value}, which does not fit {dtype} ({least} to {most})"
    return f"{name} is {value}, which does not fit {dtype}"
