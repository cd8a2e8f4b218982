"""The exceptions, named as in python-graphblas; each also derives from a similar built-in one."""

from __future__ import annotations


class GraphblasException(Exception):
    """Any error of graphla or semirings that has a name in GraphBLAS."""


class NoValue(GraphblasException):
    """There is no entry at the requested position."""


class UninitializedObject(GraphblasException):
    """An object was used before it was initialized."""


class InvalidObject(GraphblasException):
    """An object is not in a state that can be used."""


class NullPointer(GraphblasException):
    """A required argument is missing."""


class InvalidValue(GraphblasException, ValueError):
    """The value of an argument is not allowed."""


class DuplicateEntry(InvalidValue):
    """Two entries have the same position, and no operator to join them was given."""


class InvalidIndex(GraphblasException, IndexError):
    """A scalar index is out of range."""


class DomainMismatch(GraphblasException, TypeError):
    """The operation is not defined on a dtype."""


class DimensionMismatch(GraphblasException, ValueError):
    """Two shapes do not match."""


class DeviceMismatch(GraphblasException, ValueError):
    """The operands are on different devices."""


class DeviceUnavailable(GraphblasException, RuntimeError):
    """A device cannot be used here: something that it needs is missing."""


class DeviceFault(GraphblasException, RuntimeError):
    """A GPU has failed permanently; the process must be restarted."""


class EmptyObject(GraphblasException, ValueError):
    """A value of an object without entries was requested."""


class OutputNotEmpty(GraphblasException, ValueError):
    """The output of a build already has entries."""


class OutOfMemory(GraphblasException, MemoryError):
    """There is not enough memory for the result."""


class InsufficientSpace(GraphblasException, ValueError):
    """An array is too small for the data to be written."""


class IndexOutOfBound(GraphblasException, IndexError):
    """An index in an array of indices is out of range."""


class NotImplementedException(GraphblasException, NotImplementedError):
    """The GraphBLAS standard defines this case, but this library does not support it."""


class UdfParseError(GraphblasException, ValueError):
    """A user's function cannot be traced as an operator."""


class Panic(GraphblasException, RuntimeError):
    """An error inside the library: a bug."""
