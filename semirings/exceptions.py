"""What can go wrong, by python-graphblas's names; each is also the built-in that it resembles."""

from __future__ import annotations


class GraphblasException(Exception):
    """Any error of graphla or semirings that has a name in GraphBLAS."""


class NoValue(GraphblasException):
    """There is no entry at the place that was asked for."""


class UninitializedObject(GraphblasException):
    """An object was used before it was made."""


class InvalidObject(GraphblasException):
    """An object is not in a state that can be used."""


class NullPointer(GraphblasException):
    """Something needed was not given."""


class InvalidValue(GraphblasException, ValueError):
    """A value is not one that the argument may have."""


class DuplicateEntry(InvalidValue):
    """Two entries have the same place, and no operator says how to join them."""


class InvalidIndex(GraphblasException, IndexError):
    """A scalar index lies outside of the object."""


class DomainMismatch(GraphblasException, TypeError):
    """A dtype is not one that the operation is defined on."""


class DimensionMismatch(GraphblasException, ValueError):
    """Two shapes do not fit."""


class DeviceMismatch(GraphblasException, ValueError):
    """Operands lie on different devices."""


class DeviceUnavailable(GraphblasException, RuntimeError):
    """A device cannot be used here: something that it needs is missing."""


class DeviceFault(GraphblasException, RuntimeError):
    """A GPU has failed for good: the process must be started anew."""


class EmptyObject(GraphblasException, ValueError):
    """An object without entries was asked for a value."""


class OutputNotEmpty(GraphblasException, ValueError):
    """The output of a build already has entries."""


class OutOfMemory(GraphblasException, MemoryError):
    """There is not enough memory for the result."""


class InsufficientSpace(GraphblasException, ValueError):
    """An array is too small for what it should receive."""


class IndexOutOfBound(GraphblasException, IndexError):
    """An index in an array of indices lies outside of the object."""


class NotImplementedException(GraphblasException, NotImplementedError):
    """A case that the standard has and this library does not."""


class UdfParseError(GraphblasException, ValueError):
    """A function given as an operator cannot be traced."""


class Panic(GraphblasException, RuntimeError):
    """An error inside the library: a bug."""
