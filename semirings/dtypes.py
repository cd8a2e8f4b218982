"""The eleven supported dtypes, and the promotion of two dtypes to a common one."""

from __future__ import annotations

from itertools import count
from typing import Any

import numpy as np

_numbers = count()


class DataType:
    """One of the eleven types of entries, with its names in GraphBLAS, NumPy and C.

    A DataType equals each key that `lookup_dtype` maps to it: `INT64 == "INT64" == np.int64`. The
    hash of a DataType is the hash of its name. There are exactly eleven DataType objects.

    Args:
        name: the name in GraphBLAS, such as "INT64".
        np_type: the NumPy dtype.
        c_type: the type in C++.

    Examples:
        >>> from semirings.dtypes import INT64
        >>> INT64 == "int64", INT64.bits, INT64.is_integer
        (True, 64, True)
    """

    __slots__ = ("_hash", "c_type", "name", "np_type", "number")

    name: str
    np_type: np.dtype[Any]
    c_type: str
    number: int  # a number that identifies the dtype

    def __init__(self, name: str, np_type: Any, c_type: str):
        object.__setattr__(self, "name", name)
        object.__setattr__(self, "np_type", np.dtype(np_type))
        object.__setattr__(self, "c_type", c_type)
        object.__setattr__(self, "_hash", hash(name))
        object.__setattr__(self, "number", next(_numbers))

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a DataType is frozen, so {name} cannot be set")

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if isinstance(other, DataType):
            return self.name == other.name
        try:
            return lookup_dtype(other) is self
        except (TypeError, ValueError):
            return False

    def __hash__(self) -> int:
        return self._hash  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return lookup_dtype, (self.name,)

    @property
    def kind(self) -> str:
        """The code that NumPy uses for the kind of the values: "b", "i", "u" or "f"."""
        return self.np_type.kind

    @property
    def is_integer(self) -> bool:
        """Whether this is one of the eight integer types, which do not include BOOL."""
        return self.np_type.kind in "iu"

    @property
    def is_float(self) -> bool:
        """Whether this is FP32 or FP64."""
        return self.np_type.kind == "f"

    @property
    def bits(self) -> int:
        """The number of bits of a value in memory."""
        return self.np_type.itemsize * 8


BOOL = DataType("BOOL", np.bool_, "bool")
INT8 = DataType("INT8", np.int8, "signed char")
INT16 = DataType("INT16", np.int16, "short")
INT32 = DataType("INT32", np.int32, "int")
INT64 = DataType("INT64", np.int64, "long long")
UINT8 = DataType("UINT8", np.uint8, "unsigned char")
UINT16 = DataType("UINT16", np.uint16, "unsigned short")
UINT32 = DataType("UINT32", np.uint32, "unsigned int")
UINT64 = DataType("UINT64", np.uint64, "unsigned long long")
FP32 = DataType("FP32", np.float32, "float")
FP64 = DataType("FP64", np.float64, "double")

SIGNED = (INT8, INT16, INT32, INT64)
UNSIGNED = (UINT8, UINT16, UINT32, UINT64)
INTEGERS = SIGNED + UNSIGNED
FLOATS = (FP32, FP64)
ALL = (BOOL, *INTEGERS, *FLOATS)

_BY_NUMPY = {dtype.np_type: dtype for dtype in ALL}
_KNOWN: dict[Any, DataType] = {
    **{dtype.name: dtype for dtype in ALL},
    **{dtype.np_type.name: dtype for dtype in ALL},
    **{dtype.np_type.type: dtype for dtype in ALL},
    **_BY_NUMPY,
    bool: BOOL,
    int: INT64,
    float: FP64,
    "int": INT64,
    "float": FP64,
}


def lookup_dtype(key: Any) -> DataType:
    """Return the DataType for a name, a NumPy type or a Python type.

    Args:
        key: a DataType; a name such as "INT64", "int64" or "int"; a NumPy dtype of any byte order;
            or `bool`, `int` or `float`.

    Returns:
        The DataType.

    Raises:
        ValueError: `key` does not denote one of the eleven dtypes.

    Examples:
        >>> from semirings.dtypes import lookup_dtype
        >>> lookup_dtype("INT64") is lookup_dtype(int) is lookup_dtype("int64")
        True
    """
    if type(key) is DataType:
        return key
    try:
        return _KNOWN[key]
    except (KeyError, TypeError):
        pass
    found = None
    if isinstance(key, str):
        found = _KNOWN.get(key.upper())
    if found is None and key is not None and not isinstance(key, DataType):
        try:
            found = _BY_NUMPY.get(np.dtype(key).newbyteorder("="))
        except (TypeError, ValueError, AttributeError):
            found = None
    if found is None:
        names = ", ".join(dtype.name for dtype in ALL)
        raise ValueError(f"dtype is {key!r}, but it should be one of {names}, or name one of them")
    return found


def unify(
    a: Any, b: Any, *, is_left_scalar: bool = False, is_right_scalar: bool = False
) -> DataType:
    """Return the common dtype of two dtypes, by the promotion rules of NumPy 2.

    Args:
        a: a dtype, as in `lookup_dtype`.
        b: the other dtype.
        is_left_scalar: whether `a` stands for a Python scalar (bool, int or float), which has no
            fixed dtype. If so, the result is `b` if the kind of `b` can hold such scalars.
        is_right_scalar: whether `b` stands for a Python scalar.

    Returns:
        The DataType; INT64 and UINT64 give FP64.

    Raises:
        ValueError: `a` or `b` is not a dtype.

    Examples:
        >>> from semirings.dtypes import unify
        >>> unify("INT8", "INT32"), unify("INT8", float, is_right_scalar=True)
        (INT32, FP64)
    """
    left, right = lookup_dtype(a), lookup_dtype(b)
    if left is right:
        return left
    if is_left_scalar and not is_right_scalar and _yields(left, right):
        return right
    if is_right_scalar and not is_left_scalar and _yields(right, left):
        return left
    return _BY_NUMPY[np.promote_types(left.np_type, right.np_type)]


def _yields(scalar: DataType, other: DataType) -> bool:
    """Return whether an operation on a Python scalar uses the dtype of its other operand.

    `scalar` is the dtype of the Python type, and `other` is the dtype of the other operand. The
    result is True for a float if `other` is a floating-point dtype, for an int if `other` is not
    BOOL, and for a bool in all cases.
    """
    if scalar.kind == "f":
        return other.kind == "f"
    return scalar.kind == "b" or other.kind != "b"


def float_of(dtype: DataType) -> DataType:
    """Return the floating-point dtype in which functions of values of this dtype are computed.

    Args:
        dtype: the dtype of the values.

    Returns:
        `dtype` itself if it is a floating-point dtype. Otherwise FP32 if `dtype` has at most 16
        bits, and FP64 if `dtype` has more bits.
    """
    if dtype.is_float:
        return dtype
    return FP32 if dtype.bits <= 16 else FP64
