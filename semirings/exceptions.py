"""The exceptions, named as in python-graphblas; most also derive from a built-in exception."""

from __future__ import annotations

from typing import Any


class GraphblasException(Exception):
    """The base class of the exceptions of graphla and semirings."""


class NoValue(GraphblasException):
    """There is no entry at the given position."""


class UninitializedObject(GraphblasException):
    """An object was used before it was initialized."""


class InvalidObject(GraphblasException):
    """An object is in an invalid state and cannot be used."""


class NullPointer(GraphblasException):
    """A required argument is missing."""


class InvalidValue(GraphblasException, ValueError):
    """An argument has a value that is not allowed."""


class DuplicateEntry(InvalidValue):
    """Two entries have the same position, and no operator that combines them is given."""


class InvalidIndex(GraphblasException, IndexError):
    """A scalar index is out of range."""


class DomainMismatch(GraphblasException, TypeError):
    """An operation is not defined for a dtype."""


class DimensionMismatch(GraphblasException, ValueError):
    """Two shapes are not compatible."""


class DeviceMismatch(GraphblasException, ValueError):
    """Operands are on different devices."""


class DeviceUnavailable(GraphblasException, RuntimeError):
    """A device cannot be used, because the GPU, its driver or a Python package is missing."""


class DeviceFault(GraphblasException, RuntimeError):
    """A GPU has failed permanently; the process must be restarted."""


class EmptyObject(GraphblasException, ValueError):
    """The value of an object without entries was requested."""


class OutputNotEmpty(GraphblasException, ValueError):
    """The output of a build already has entries."""


class OutOfMemory(GraphblasException, MemoryError):
    """There is not enough memory for the result."""


class InsufficientSpace(GraphblasException, ValueError):
    """An array is too small for its contents."""


class IndexOutOfBound(GraphblasException, IndexError):
    """An index is out of range."""


class NotImplementedException(GraphblasException, NotImplementedError):
    """A part of the standard is not implemented here."""


class UdfParseError(GraphblasException, ValueError):
    """A Python function that is used as an operator cannot be traced."""


class Panic(GraphblasException, RuntimeError):
    """An internal error: a bug in the library."""


class NotCompilable(GraphblasException, TypeError):
    """A loop of a function under `gl.jit` cannot be compiled.

    Attributes:
        reason: why the loop cannot be compiled, as a sentence.
        instead: what to write instead.
        file: the file that contains the offending statement, or None.
        line: the number of the statement's line, or None.
        statement: the source of the statement, or None.
        code: the code of the reason. The documentation lists all codes.
    """

    def __init__(self, reason: str, instead: str, code: Any = None, node: Any = None):
        super().__init__(reason)
        self.reason = reason
        self.instead = instead
        self.code = code
        self.node = node
        self.file: str | None = None
        self.line: int | None = None
        self.statement: str | None = None

    def __str__(self) -> str:
        where = "" if self.file is None else f"{self.file}:{self.line}: "
        what = "" if self.statement is None else f"`{self.statement}`: "
        return f"{where}{what}{self.reason}; {self.instead}"
