"""The table of CuPy functions that the stand-in supports. To add a missing function, add a line.

Each line is the signature of a CuPy function. The stand-in calls the NumPy function with the same
name; CuPy functions that differ from NumPy's functions are in `special.py`.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from .arrays import ndarray, unwrap, wrap
from .cuda import stream as streams

TABLE = """
all(a, axis=None, out=None, keepdims=False)
amax(a, axis=None, out=None, keepdims=False)
amin(a, axis=None, out=None, keepdims=False)
any(a, axis=None, out=None, keepdims=False)
append(arr, values, axis=None)
argmax(a, axis=None, dtype=None, out=None, keepdims=False)
argmin(a, axis=None, dtype=None, out=None, keepdims=False)
argpartition(a, kth, axis=-1)
argsort(a, axis=-1, kind=None)
argwhere(a)
around(a, decimals=0, out=None)
array_equal(a1, a2, equal_nan=False)
atleast_1d(*arys)
bincount(x, weights=None, minlength=None)
broadcast_arrays(*args)
broadcast_to(array, shape)
choose(a, choices, out=None, mode='raise')
clip(a, a_min, a_max, out=None)
column_stack(tup)
compress(condition, a, axis=None, out=None)
concatenate(tup, axis=0, out=None, *, dtype=None, casting='same_kind')
copyto(dst, src, casting='same_kind', where=None)
count_nonzero(a, axis=None)
cumprod(a, axis=None, dtype=None, out=None)
cumsum(a, axis=None, dtype=None, out=None)
delete(arr, indices, axis=None)
diag(v, k=0)
diff(a, n=1, axis=-1, prepend=None, append=None)
digitize(x, bins, right=False)
dot(a, b, out=None)
expand_dims(a, axis)
extract(condition, a)
flatnonzero(a)
flip(a, axis=None)
hstack(tup, *, dtype=None, casting='same_kind')
isin(element, test_elements, assume_unique=False, invert=False)
lexsort(keys)
linspace(start, stop, num=50, endpoint=True, retstep=False, dtype=None, axis=0)
matmul(a, b, out=None)
max(a, axis=None, out=None, keepdims=False)
mean(a, axis=None, dtype=None, out=None, keepdims=False)
median(a, axis=None, out=None, overwrite_input=False, keepdims=False)
min(a, axis=None, out=None, keepdims=False)
moveaxis(a, source, destination)
nonzero(a)
partition(a, kth, axis=-1)
place(arr, mask, vals)
prod(a, axis=None, dtype=None, out=None, keepdims=False)
ptp(a, axis=None, out=None, keepdims=False)
put(a, ind, v, mode='wrap')
putmask(a, mask, values)
ravel(a, order='C')
repeat(a, repeats, axis=None)
reshape(a, newshape, order='C')
roll(a, shift, axis=None)
round(a, decimals=0, out=None)
searchsorted(a, v, side='left', sorter=None)
sort(a, axis=-1, kind=None)
split(ary, indices_or_sections, axis=0)
squeeze(a, axis=None)
stack(tup, axis=0, out=None, *, dtype=None, casting='same_kind')
std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False)
sum(a, axis=None, dtype=None, out=None, keepdims=False)
swapaxes(a, axis1, axis2)
take(a, indices, axis=None, out=None)
take_along_axis(a, indices, axis)
tile(A, reps)
trace(a, offset=0, axis1=0, axis2=1, dtype=None, out=None)
transpose(a, axes=None)
tril(m, k=0)
triu(m, k=0)
unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, \
equal_nan=True)
packbits(a, axis=None, bitorder='big')
unpackbits(a, axis=None, bitorder='big')
unravel_index(indices, dims, order='C')
var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False)
vdot(a, b)
vstack(tup, *, dtype=None, casting='same_kind')
where(condition, x=None, y=None)
allclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False)
may_share_memory(a, b, max_work=None)
shares_memory(a, b, max_work=None)
isclose(a, b, rtol=1e-05, atol=1e-08, equal_nan=False)
nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None)
"""

UFUNCS = """
abs absolute add arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_and bitwise_invert
bitwise_left_shift bitwise_not bitwise_or bitwise_right_shift bitwise_xor cbrt ceil conj conjugate
copysign cos cosh deg2rad degrees divide divmod equal exp exp2 expm1 fabs float_power floor
floor_divide fmax fmin fmod frexp gcd greater greater_equal hypot invert isfinite isinf isnan lcm
ldexp left_shift less less_equal log log10 log1p log2 logaddexp logaddexp2 logical_and logical_not
logical_or logical_xor maximum minimum mod modf multiply negative nextafter not_equal positive power
rad2deg radians reciprocal remainder right_shift rint sign signbit sin sinh sqrt square subtract tan
tanh true_divide trunc
"""

CREATION = """
zeros(shape, dtype=float, order='C')
ones(shape, dtype=float, order='C')
full(shape, fill_value, dtype=None, order='C')
eye(N, M=None, k=0, dtype=float, order='C')
identity(n, dtype=float)
arange(start, stop=None, step=1, dtype=None)
zeros_like(a, dtype=None, order='K', subok=None, shape=None)
ones_like(a, dtype=None, order='K', subok=None, shape=None)
full_like(a, fill_value, dtype=None, order='K', subok=None, shape=None)
"""

IN_PLACE = {"copyto": 0, "put": 0, "putmask": 0, "place": 0}
NO_OUT = ("sum", "prod", "max", "min", "amax", "amin")
"""Functions that do not accept `out`. (With CUB, CuPy 14.2 mistakes `out` for the dtype and raises
an error.)
"""

HOST_WAITS = ("bincount", "nonzero", "flatnonzero", "argwhere", "unique", "extract", "isin")
"""Functions whose result size depends on the data, so the host must wait for the device."""

NAMES = """
bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128
intp uintp dtype newaxis pi inf nan e iinfo finfo result_type promote_types can_cast issubdtype
isscalar integer floating number generic signedinteger unsignedinteger bool_ inexact
"""


def _signature(line: str) -> tuple[str, inspect.Signature]:
    name, _, rest = line.partition("(")
    scope: dict[str, Any] = {}
    exec(f"def {name}({rest}: pass", scope)
    return name, inspect.signature(scope[name])


def _lift(name: str, signature: inspect.Signature) -> Any:
    function = getattr(np, name)

    def call(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments  # rejects arguments unknown to CuPy
        out = given.get("out")
        if name in NO_OUT and out is not None:
            raise TypeError(f"{name}: CuPy 14.2 fails with `out` on a card")
        args = tuple(unwrap(each) for each in args)
        kwargs = {key: unwrap(each) for key, each in kwargs.items()}
        if name in HOST_WAITS:
            streams.host_waits(None)
        with np.errstate(all="ignore"):
            result = function(*args, **kwargs)
        if isinstance(out, ndarray):
            streams.writes(out._memory)
            return out
        if name in IN_PLACE:
            streams.writes(next(iter(given.values()))._memory)
            return None
        return wrap(np.bool_(result) if isinstance(result, bool) else _as_array(result))

    call.__name__ = call.__qualname__ = name
    return call


def _as_array(result: Any) -> Any:
    return np.asarray(result) if isinstance(result, (int, float)) else result


def _create(name: str, signature: inspect.Signature) -> Any:
    function = getattr(np, name)

    def call(*args: Any, **kwargs: Any) -> ndarray:
        given = signature.bind(*args, **kwargs).arguments
        refuse_subclass(given.get("fill_value"))
        numbers = [each for key, each in given.items() if key not in ("a", "fill_value")]
        if any(isinstance(each, ndarray) for each in numbers):
            raise TypeError(f"{name}: an array of the device is no number")
        kwargs = {key: unwrap(each) for key, each in kwargs.items() if key != "subok"}
        return wrap(np.asarray(function(*(unwrap(each) for each in args), **kwargs)))

    call.__name__ = call.__qualname__ = name
    return call


def refuse_subclass(value: Any) -> None:
    """Reject an instance of a subclass such as `IntEnum`, as CuPy's `copyto` does."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, np.generic)
    if is_number and type(value) not in (bool, int, float):
        raise TypeError("can_cast() does not support Python ints, floats, and complex")


class ufunc:
    """An elementwise function."""

    def __init__(self, name: str):
        self._ufunc = getattr(np, name)
        self.__name__ = self.name = name
        self.nin, self.nout = self._ufunc.nin, self._ufunc.nout

    def __call__(
        self,
        *args: Any,
        out: Any = None,
        where: Any = True,
        dtype: Any = None,
        casting: str = "same_kind",
    ) -> Any:
        if len(args) == self.nin + 1 and out is None:
            args, out = args[:-1], args[-1]
        if len(args) != self.nin:
            raise TypeError(f"Wrong number of arguments for {self.name}")
        for each in args:
            if not isinstance(each, (ndarray, np.generic, int, float, complex, bool)):
                raise TypeError(f"Unsupported type {type(each)}")
        if isinstance(out, tuple):
            (out,) = out
        if out is not None and not isinstance(out, ndarray):
            raise TypeError("Output arguments type must be cupy.ndarray")
        options: dict[str, Any] = {} if dtype is None else {"dtype": dtype}
        if where is not True:
            options["where"] = unwrap(where)
        with np.errstate(all="ignore"):
            if out is None:
                return wrap(self._ufunc(*map(unwrap, args), casting=casting, **options))
            self._ufunc(*map(unwrap, args), out=out._host, casting=casting, **options)
        out._on_current_device()
        streams.writes(out._memory)
        return out

    def at(self, a: ndarray, indices: Any, b: Any = None) -> None:
        if self.name not in (
            *("add", "subtract", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor"),
        ):
            raise NotImplementedError(f"`{self.name}.at` is not supported yet")
        streams.writes(a._memory)
        self._ufunc.at(unwrap(a), unwrap(indices), unwrap(b))

    def reduce(
        self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None, keepdims: bool = False
    ) -> Any:
        if self.name not in ("add", "multiply"):
            raise NotImplementedError(f"`{self.name}.reduce` is not supported yet")
        return wrap(np.asarray(self._ufunc.reduce(unwrap(array), axis, dtype, keepdims=keepdims)))

    def accumulate(self, array: Any, axis: Any = 0, dtype: Any = None, out: Any = None) -> Any:
        if self.name not in ("add", "multiply"):
            raise NotImplementedError(f"`{self.name}.accumulate` is not supported yet")
        return wrap(self._ufunc.accumulate(unwrap(array), axis, dtype))

    def reduceat(
        self, array: Any, indices: Any, axis: Any = 0, dtype: Any = None, out: Any = None
    ) -> Any:
        if self.name != "add":
            raise NotImplementedError(f"`{self.name}.reduceat` is not supported yet")
        return wrap(self._ufunc.reduceat(unwrap(array), unwrap(indices), axis, dtype))

    def outer(self, a: Any, b: Any) -> Any:
        return wrap(self._ufunc.outer(unwrap(a), unwrap(b)))


ufuncs = {name: ufunc(name) for name in UFUNCS.split()}
lifted = {
    name: _lift(name, signature) for name, signature in map(_signature, TABLE.strip().split("\n"))
}
created = {
    name: _create(name, signature)
    for name, signature in map(_signature, CREATION.strip().split("\n"))
}
names = {name: getattr(np, name) for name in NAMES.split()}
