"""Define a stand-in for cupy.ndarray: a NumPy array in the memory of a simulated device.

The class is not a subclass of numpy.ndarray. NumPy refuses to convert objects of this class, as it
refuses to convert CuPy arrays.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..machine import Memory, local, machine
from .cuda import stream as streams
from .cuda.memory import MemoryPointer, OutOfMemoryError

Shape = int | tuple[int, ...]


def _owner(array: Any) -> Memory | None:
    while array is not None and not isinstance(array, Memory):
        array = getattr(array, "base", None)
    return array


def allocate(shape: Any, dtype: Any, order: Any = "C") -> np.ndarray:
    """Return an uninitialized NumPy array in new memory of the current device."""
    dtype = np.dtype(dtype)
    if dtype.kind not in "biufc":
        raise ValueError(f"Unsupported dtype {dtype}")
    shape = (int(shape),) if np.ndim(shape) == 0 else tuple(int(n) for n in shape)
    if any(n < 0 for n in shape):
        raise ValueError("Negative dimensions are not allowed")
    count = 1
    for n in shape:
        count *= n
    size = count * dtype.itemsize
    machine.raise_faults()
    device = machine.devices[local.device]
    if device.used + size > device.memory:
        raise OutOfMemoryError(size, device.used, device.memory)
    raw = np.asarray(Memory(size))
    result = raw.view(dtype).reshape(shape, order=order) if size else _nothing(raw, dtype, shape)
    if dtype.kind == "b":
        raw &= 1  # keep a random but valid boolean
    return result


def _nothing(raw: np.ndarray, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    return raw.view(dtype).reshape(shape)


def on_device(values: np.ndarray) -> np.ndarray:
    """Return a copy in memory of the current device."""
    order = "F" if values.flags.f_contiguous and not values.flags.c_contiguous else "C"
    result = allocate(values.shape, values.dtype, order)
    result[...] = values
    return result


def wrap(result: Any) -> Any:
    """Convert NumPy arrays to device arrays; a scalar becomes an array of dimension 0."""
    if isinstance(result, np.ndarray):
        return ndarray._of(result if _owner(result) is not None else _written(result))
    if isinstance(result, np.generic):
        return ndarray._of(_written(np.asarray(result)))
    if isinstance(result, tuple):
        items = [wrap(each) for each in result]
        return type(result)(*items) if hasattr(result, "_fields") else tuple(items)
    if isinstance(result, list):
        return [wrap(each) for each in result]
    return result


def _written(values: np.ndarray) -> np.ndarray:
    result = on_device(values)
    streams.writes(_owner(result))
    return result


def unwrap(value: Any) -> Any:
    """Return the NumPy array inside a device array; reject the arguments that CuPy rejects."""
    if isinstance(value, ndarray):
        value._on_current_device()
        streams.reads(value._memory)
        return value._host
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    if isinstance(value, (list, tuple)):
        return type(value)(unwrap(each) for each in value)
    return value


def _index(key: Any) -> Any:
    """Return an index for NumPy. Like CuPy, accept lists and NumPy arrays too."""
    if isinstance(key, tuple):
        return tuple(_index(each) for each in key)
    return key if isinstance(key, np.ndarray) else unwrap(key)


def _refuse_out_of_bounds(array: np.ndarray, key: Any) -> None:
    """Reject an index out of bounds; CuPy would wrap it around without an error."""
    keys = key if isinstance(key, tuple) else (key,)
    if any(each is Ellipsis for each in keys):
        return
    axis = 0
    for each in keys:
        if each is None:
            continue
        each = np.asarray(each) if isinstance(each, (list, np.ndarray)) else each
        if isinstance(each, np.ndarray) and each.dtype != bool and each.size:
            size = array.shape[axis]
            if each.max() >= size or each.min() < -size:
                raise IndexError(
                    f"an index is out of bounds for axis {axis} of size {size}: CuPy wraps"
                )
        axis += each.ndim if isinstance(each, np.ndarray) and each.dtype == bool else 1


def _is_basic(key: Any) -> bool:
    keys = key if isinstance(key, tuple) else (key,)
    return all(
        each is None
        or each is Ellipsis
        or isinstance(each, slice)
        or (isinstance(each, (int, np.integer)) and not isinstance(each, bool))
        for each in keys
    )


class _Flags:
    def __init__(self, flags: Any, owndata: bool):
        self.c_contiguous = flags.c_contiguous
        self.f_contiguous = flags.f_contiguous
        self.owndata = owndata
        self.fnc = flags.fnc
        self.forc = flags.forc

    def __getitem__(self, name: str) -> bool:
        return getattr(self, {"C_CONTIGUOUS": "c_contiguous", "F_CONTIGUOUS": "f_contiguous"}[name])


class ndarray:
    """An array in device memory."""

    __slots__ = ("__weakref__", "_base", "_host", "_memory")
    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, shape: Any, dtype: Any = float, memptr: Any = None, strides: Any = None):
        if memptr is None:
            self._host = allocate(shape, dtype)
        else:
            dtype = np.dtype(dtype)
            shape = (shape,) if isinstance(shape, int) else tuple(shape)
            self._host = np.ndarray(
                shape, dtype, np.asarray(memptr.mem), memptr.ptr - memptr.mem.ptr, strides
            )
        self._memory = _owner(self._host)
        self._base = None

    @classmethod
    def _of(cls, host: np.ndarray, base: ndarray | None = None) -> ndarray:
        self = cls.__new__(cls)
        self._host = host
        self._memory = _owner(host)
        self._base = base
        return self

    def _view(self, host: np.ndarray) -> ndarray:
        result = wrap(host)
        base = self if self._base is None else self._base
        result._base = base if result._memory is self._memory else None
        return result

    def _on_current_device(self) -> None:
        if self._memory is not None and self._memory.device_id != local.device:
            raise ValueError(
                "Array device must be same as the current device: array device = "
                f"{self._memory.device_id} while current = {local.device}"
            )

    # --- attributes

    shape = property(lambda self: self._host.shape)
    dtype = property(lambda self: self._host.dtype)
    size = property(lambda self: int(self._host.size))
    ndim = property(lambda self: self._host.ndim)
    nbytes = property(lambda self: self._host.nbytes)
    itemsize = property(lambda self: self._host.itemsize)
    strides = property(lambda self: self._host.strides)
    flags = property(lambda self: _Flags(self._host.flags, self._base is None))
    base = property(lambda self: self._base)
    T = property(lambda self: self._view(self._host.T))
    real = property(lambda self: self._view(self._host.real))
    imag = property(lambda self: self._view(self._host.imag))

    @property
    def data(self) -> MemoryPointer:
        """A pointer to the first element."""
        memory = self._memory
        if memory is None or not memory.size:
            return MemoryPointer(memory, 0)
        return MemoryPointer(memory, self._host.__array_interface__["data"][0] - memory.ptr)

    @property
    def device(self) -> Any:
        """The device on which the array is stored."""
        from .cuda.device import Device

        return Device(self._memory.device_id if self._memory is not None else local.device)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        contiguous = self._host.flags.c_contiguous
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "descr": self.dtype.descr,
            "stream": 1,
            "version": 3,
            "strides": None if contiguous else self.strides,
            "data": (self.data.ptr, False),
        }

    def __len__(self) -> int:
        return len(self._host)

    def __iter__(self) -> Iterator[ndarray]:
        if self.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[k] for k in range(len(self)))

    # --- transfers

    def get(
        self, stream: Any = None, order: Any = "C", out: Any = None, blocking: bool = True
    ) -> np.ndarray:
        """Return a copy on the host, after the host has waited for the stream."""
        machine.raise_faults()
        streams.reads(self._memory, stream)
        if blocking:
            streams.host_waits(stream)
        if out is None:
            return np.array(self._host, order="C" if order == "A" else order)
        out[...] = self._host
        return out

    def set(self, arr: np.ndarray, stream: Any = None) -> None:
        """Copy a host array into this array."""
        if not isinstance(arr, np.ndarray):
            raise TypeError("Only numpy.ndarray can be set to cupy.ndarray")
        if self.dtype != arr.dtype:
            raise TypeError(f"{arr.dtype} array cannot be set to {self.dtype} array")
        if self.shape != arr.shape:
            raise ValueError(f"Shape mismatch. Old shape: {self.shape}, new shape: {arr.shape}")
        streams.writes(self._memory, stream)
        self._host[...] = arr

    def item(self, *args: Any) -> Any:
        return self.get().item(*args)

    def tolist(self) -> Any:
        return self.get().tolist()

    def tobytes(self, order: Any = "C") -> bytes:
        return self.get().tobytes(order)

    def __bool__(self) -> bool:
        return bool(self.get())

    def __int__(self) -> int:
        return int(self.get())

    def __float__(self) -> float:
        return float(self.get())

    def __complex__(self) -> complex:
        return complex(self.get())

    def __repr__(self) -> str:
        return repr(self.get())

    def __str__(self) -> str:
        return str(self.get())

    def __format__(self, spec: str) -> str:
        return format(self.get(), spec)

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        raise TypeError(
            "Implicit conversion to a NumPy array is not allowed. "
            "Please use `.get()` to construct a NumPy array explicitly."
        )

    def __reduce__(self) -> Any:
        from . import array

        return array, (self.get(),)

    def __copy__(self) -> ndarray:
        return self.copy()

    def __deepcopy__(self, memo: Any) -> ndarray:
        return self.copy()

    # --- indexing

    def __getitem__(self, key: Any) -> ndarray:
        host = unwrap(self)
        key = _index(key)
        if _is_basic(key):
            keys = key if isinstance(key, tuple) else (key,)
            if not any(each is Ellipsis for each in keys):
                key = (*keys, Ellipsis)  # the ellipsis makes NumPy return an array, not a scalar
            return self._view(host[key])
        _refuse_out_of_bounds(host, key)
        return wrap(host[key])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._on_current_device()
        key = _index(key)
        if isinstance(value, np.ndarray) and value.ndim == 0:
            value = value[()]
        value = unwrap(value)
        if isinstance(value, (list, tuple)):
            raise ValueError("a sequence may not be assigned: CuPy refuses")
        streams.writes(self._memory)
        if _is_basic(key):
            self._host[key] = value
            return
        _refuse_out_of_bounds(self._host, key)
        if isinstance(key, np.ndarray) and key.dtype != bool and key.ndim == 1 and len(key):
            self._scatter(key, value)
        else:
            self._host[key] = value

    def _scatter(self, key: np.ndarray, value: Any) -> None:
        """Assign in a random order; at equal indices, any of the values may be kept."""
        salt = zlib.crc32(key.tobytes())
        order = np.random.default_rng((machine.seed, salt)).permutation(len(key))
        values = np.broadcast_to(value, (len(key), *self.shape[1:]))
        self._host[key[order]] = values[order].astype(self.dtype)

    def take(self, indices: Any, axis: Any = None, out: Any = None) -> ndarray:
        from . import take

        return take(self, indices, axis, out)

    def view(self, dtype: Any = None, type: Any = None) -> ndarray:
        return self._view(self._host.view() if dtype is None else self._host.view(dtype))

    def reshape(self, *shape: Any, order: Any = "C") -> ndarray:
        shape = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
        return self._view(unwrap(self).reshape(shape, order=order))

    def ravel(self, order: Any = "C") -> ndarray:
        return self._view(unwrap(self).ravel(order))

    def flatten(self, order: Any = "C") -> ndarray:
        return wrap(np.array(unwrap(self).flatten(order)))

    def transpose(self, *axes: Any) -> ndarray:
        return self._view(self._host.transpose(*axes))

    def swapaxes(self, axis1: int, axis2: int) -> ndarray:
        return self._view(self._host.swapaxes(axis1, axis2))

    def squeeze(self, axis: Any = None) -> ndarray:
        return self._view(self._host.squeeze(axis))

    def diagonal(self, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
        return self._view(self._host.diagonal(offset, axis1, axis2))

    # --- copies

    def copy(self, order: Any = "C") -> ndarray:
        """Return a copy on the current device; the array may be on any device."""
        streams.copies(self._memory)
        return ndarray._of(_written(np.array(self._host, order=order)))

    def astype(
        self,
        dtype: Any,
        order: Any = "K",
        casting: Any = None,
        subok: Any = None,
        copy: bool = True,
    ) -> ndarray:
        dtype = np.dtype(dtype)
        if casting is not None and not np.can_cast(self.dtype, dtype, casting):
            raise TypeError(
                f"Cannot cast array data from {self.dtype!r} to {dtype!r} "
                f"according to the rule '{casting}'"
            )
        if not copy and dtype == self.dtype:
            return self
        with np.errstate(all="ignore"):
            return ndarray._of(_written(unwrap(self).astype(dtype, order=order)))

    def fill(self, value: Any) -> None:
        value = unwrap(value)
        streams.writes(self._memory)
        self._host.fill(value or 0)  # CuPy fills the memory with zero bytes, so -0.0 becomes 0.0

    def sort(self, axis: int = -1, kind: Any = None) -> None:
        if kind not in (None, "stable"):
            raise ValueError(f"kind can only be None or 'stable', not {kind!r}")
        unwrap(self).sort(axis, kind=kind)
        streams.writes(self._memory)

    # --- NumPy's protocols; `install_methods` adds the arithmetic operators

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        from . import functions

        known = functions.ufuncs.get(ufunc.__name__)
        if known is None:
            return NotImplemented
        if "out" in kwargs:
            kwargs["out"] = kwargs["out"][0]
        if method == "__call__":
            return known(*inputs, **kwargs)
        if method in ("at", "reduce", "accumulate", "reduceat"):
            return getattr(known, method)(*inputs, **kwargs)
        return NotImplemented

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from .. import cupy

        for each in types:
            if each not in (ndarray, np.ndarray):
                return NotImplemented
        known = getattr(cupy, func.__name__, None)
        return NotImplemented if known is None else known(*args, **kwargs)


_BINARY = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "divmod": "divmod",
    "pow": "power",
    "lshift": "left_shift",
    "rshift": "right_shift",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "matmul": "matmul",
}
_COMPARISONS = {
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
}
_UNARY = {"neg": "negative", "pos": "positive", "abs": "absolute", "invert": "invert"}
_METHODS = (
    *("all", "any", "argmax", "argmin", "argsort", "clip", "compress", "cumprod", "cumsum", "dot"),
    *("max", "mean", "min", "nonzero", "prod", "ptp", "put", "repeat", "round", "std", "sum"),
    *("trace", "var", "choose", "argpartition", "conj", "searchsorted"),
)


def install_methods(lookup: Callable[[str], Any]) -> None:
    """Give ndarray the operators and methods that also exist as functions."""

    def binary(function: Any) -> tuple[Any, Any, Any]:
        def out_of(self: ndarray, other: Any) -> Any:
            return function(self, other)

        def reflected(self: ndarray, other: Any) -> Any:
            return function(other, self)

        def in_place(self: ndarray, other: Any) -> Any:
            return function(self, other, out=self)

        return out_of, reflected, in_place

    for name, function in _BINARY.items():
        out_of, reflected, in_place = binary(lookup(function))
        setattr(ndarray, f"__{name}__", out_of)
        setattr(ndarray, f"__r{name}__", reflected)
        if name not in ("divmod", "matmul"):
            setattr(ndarray, f"__i{name}__", in_place)
    for name, function in _COMPARISONS.items():
        setattr(ndarray, f"__{name}__", binary(lookup(function))[0])
    for name, function in _UNARY.items():
        setattr(ndarray, f"__{name}__", _method(lookup(function)))
    for name in _METHODS:
        setattr(ndarray, name, _method(lookup(name)))
    ndarray.__hash__ = None  # type: ignore[assignment]


def _method(function: Any) -> Any:
    return lambda self, *args, **kwargs: function(self, *args, **kwargs)
