"""Describe the values that a loop reads. Calls with equal descriptions share a program.

A description is hashable. It records the dtypes, which sizes are equal, which names refer to the
same object, which matrices are iso-valued or known to be symmetric, and the widths of indices. It
contains neither sizes nor numbers. An anonymous operator is described by its function. A function
is described by its code and by the values of its global and closure variables, including numbers.
For an inlined function the code is enough, because the loop itself reads these values. If a
function or an operator reads a vector, a matrix or an array, this object is described by its
identity, because the function or operator may contain its numbers as constants. Any other object is
also described by its identity.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from graphla.expression import Expression, Operand
from graphla.formats import is_iso
from graphla.program.source import LIBRARIES
from graphla.sparse.mask import Mask
from graphla.sparse.matrix import Matrix
from graphla.sparse.scalar import Scalar
from graphla.sparse.vector import Vector
from graphla.stores import MatrixStore, ScalarStore, StackStore, VectorStore
from semirings.dtypes import DataType
from semirings.operators import Operator, Typed

WORD = 1 << 63
"""An int outside [-WORD, WORD) does not fit INT64."""

DEEP = 4
"""At this depth of nesting, the parts of functions, tuples and operators are described by
identity."""


class Same:
    """A wrapper that makes an object hashable and compares it by identity."""

    __slots__ = ("value",)

    def __init__(self, value: Any):
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is Same and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


class Description:
    """Collects the sizes and objects that the descriptions of one call share.

    Attributes:
        device: the device of the first vector or matrix, or "".
        is_mixed: whether the values are on two devices.
        entries: the largest of the numbers of entries and of rows of all matrices, and of the sizes
            of all vectors.
        has_graphla: whether the values include a vector, a matrix, a Scalar, or one of their
            classes.
        inlined: the code objects of the inlined functions.
        objects: the index assigned to each vector, matrix and list, by the id of the object.
        sizes: the index assigned to each different size.
        depth: the number of functions, operators and tuples around the value.
        is_read: whether the value is read by a function or an operator that is being described.
    """

    __slots__ = (
        "depth",
        "device",
        "entries",
        "has_graphla",
        "inlined",
        "is_mixed",
        "is_read",
        "objects",
        "sizes",
    )

    def __init__(self, inlined: Container[CodeType] = ()) -> None:
        self.inlined = inlined
        self.device = ""
        self.is_mixed = False
        self.entries = 0
        self.has_graphla = False
        self.objects: dict[int, int] = {}
        self.sizes: dict[int, int] = {}
        self.depth = 0
        self.is_read = False

    def of_all(self, values: Sequence[Any]) -> tuple[Any, ...]:
        """Return the descriptions of several values.

        Vectors and matrices are described first, because the description of an int records whether
        the int equals one of their sizes. The description of a list records whether one of its
        items is one of these vectors.
        """
        parts = [_FIRST[type(x)](self, x) if type(x) in _FIRST else None for x in values]
        return tuple(
            [self.of(x) if part is None else part for x, part in zip(values, parts, strict=True)]
        )

    def of(self, value: Any) -> Any:
        """Return the description of a value."""
        kind = type(value)
        describe = _describe.get(kind)
        if describe is None:
            describe = _describe[kind] = _find(kind)
        return describe(self, value)

    def vector(self, value: Any, store: VectorStore) -> Any:
        """Return the description of a vector."""
        objects = self.objects
        number = objects.setdefault(id(value), len(objects))
        return (number, *self.kind_of_vector(store))

    def kind_of_vector(self, store: VectorStore | StackStore) -> tuple[str, int, int]:
        """Return the description of a vector without its identity."""
        sizes = self.sizes
        size, device = store.size, store.device
        if device != self.device:
            self.meet(device)
        if size > self.entries:
            self.entries = size
        return "vector", store.dtype.number, sizes.setdefault(size, len(sizes))

    def find_known(self, items: list[int]) -> tuple[int, ...]:
        """Add the ids of the vectors of a list to `objects`.

        Return the positions of the vectors that `objects` already contained: they have another
        name, or also occur earlier in the list.
        """
        objects = self.objects
        first = len(objects)
        new = dict(zip(items, range(first, first + len(items)), strict=True))
        if len(new) == len(items) and objects.keys().isdisjoint(new):
            objects.update(new)
            return ()
        shared = []
        for k, item in enumerate(items):
            known = len(objects)
            if objects.setdefault(item, known) < known:
                shared.append(k)
        return tuple(shared)

    def matrix(self, value: Any, store: MatrixStore) -> Any:
        """Return the description of a matrix."""
        self.meet(store.device)
        sizes, objects, nrows, ncols = self.sizes, self.objects, store.nrows, store.ncols
        self.entries = max(self.entries, store.nvals, nrows)
        has_symmetric_pattern = nrows == ncols and store.find_symmetry()
        form = store.any_form
        return (
            "matrix",
            objects.setdefault(id(value), len(objects)),
            store.dtype.number,
            sizes.setdefault(nrows, len(sizes)),
            sizes.setdefault(ncols, len(sizes)),
            is_iso(form.values),
            has_symmetric_pattern and store.is_symmetric,
            has_symmetric_pattern,
            form.indptr.dtype.num,
        )

    def meet(self, device: str) -> None:
        """Record the device of a vector or a matrix."""
        self.has_graphla = True
        if device != self.device:
            self.is_mixed = self.is_mixed or bool(self.device)
            self.device = device

    def of_parts(self, values: Any) -> Any:
        """Return the descriptions of the values to which an object refers. They contain the values
        of numbers."""
        if self.depth >= DEEP:
            return tuple(map(Same, values))
        self.depth += 1
        try:
            return tuple(map(self.of, values))
        finally:
            self.depth -= 1

    def of_read(self, values: Any) -> Any:
        """Return the descriptions of the values that a function or an operator reads."""
        before, self.is_read = self.is_read, True
        try:
            return self.of_parts(values)
        finally:
            self.is_read = before


def _operand(at: Description, value: Any) -> Any:
    store = value._read()
    if isinstance(store, VectorStore):
        found = type(value), at.vector(value, store)
    elif isinstance(store, MatrixStore):
        origin = getattr(value, "_origin", None) if isinstance(value, Expression) else None
        found = type(value), at.matrix(value, store), origin is not None
    else:
        assert isinstance(store, ScalarStore)
        at.has_graphla = True
        found = type(value), store.dtype.number, store.value is None
    return Same(value) if at.is_read else found


def _vector(at: Description, value: Any) -> Any:
    found = at.vector(value, value._store)
    return Same(value) if at.is_read else found


def _matrix(at: Description, value: Any) -> Any:
    found = at.matrix(value, value._store)
    return Same(value) if at.is_read else found


def _mask(at: Description, value: Any) -> Any:
    return type(value), value.structure, value.complement, at.of(value.parent)


def _int(at: Description, value: Any) -> Any:
    if at.depth:
        return int, value, "constant"
    # The int may equal one of the sizes, as in `Vector(int, n)`. The sizes of vectors and matrices
    # are known here, because `of_all` describes these first.
    return (int, at.sizes.get(value)) if -WORD <= value < WORD else (int, "large")


def _number(at: Description, value: Any) -> Any:
    return (type(value), repr(value)) if at.depth else type(value)


def _none(_: Description, value: Any) -> Any:
    return None


def _constant(_: Description, value: Any) -> Any:
    return type(value), value


def _identity(at: Description, value: Any) -> Any:
    return Same(value)


def _itself(at: Description, value: Any) -> Any:
    """Return the object itself as its description, because its class compares by identity."""
    if value is Vector or value is Matrix or value is Scalar:
        at.has_graphla = True
    return value


def _dict(at: Description, value: Any) -> Any:
    return (dict, at.of_parts(value), at.of_parts(value.values())) if at.depth else Same(value)


def _list(at: Description, value: Any) -> Any:
    if at.depth:
        return type(value), at.of_parts(value)
    kinds = set(map(type, value))
    if kinds <= _NUMBERS:
        size = len(value)
        at.sizes.setdefault(size, len(at.sizes))
        return type(value), frozenset(kinds), at.sizes[size], size == 0, _same_list(at, value)
    if kinds == {Vector}:
        kinds_of_items, last = set(), None
        # A list may have thousands of items. Consecutive items of one stack are described once.
        for each in value:
            store = each._store
            if store.stack is None or store.stack is not last:
                kinds_of_items.add(at.kind_of_vector(store.stack or store))
                last = store.stack
        shared = at.find_known(list(map(id, value)))
        return type(value), frozenset(kinds_of_items), shared, _same_list(at, value)
    if isinstance(value, tuple):
        return tuple, at.of_parts(value)
    return Same(value)


def _same_list(at: Description, value: Any) -> int | None:
    """Return the index of a list object in `objects`, or None for a tuple. Equal indices show that
    two names refer to the same list."""
    return at.objects.setdefault(id(value), len(at.objects)) if type(value) is list else None


def _array(at: Description, value: Any) -> Any:
    if at.is_read:
        return Same(value)
    sizes = at.sizes
    shape = tuple(sizes.setdefault(size, len(sizes)) for size in value.shape)
    return type(value), value.dtype, shape


def _function(at: Description, value: FunctionType) -> Any:
    if value.__module__ and value.__module__.partition(".")[0] in LIBRARIES:
        return value
    code = value.__code__
    if code in at.inlined:
        return code
    names = value.__globals__
    # Names that are not globals are builtins.
    present = tuple([name for name in names_in(code) if name in names])
    defaults, attributes = value.__kwdefaults__ or {}, value.__dict__
    return (
        *(code, present, tuple(defaults), tuple(attributes)),
        at.of_read(_in_cells(value)),
        at.of_read([names[name] for name in present]),
        at.of_read(value.__defaults__ or ()),
        at.of_read(defaults.values()),
        at.of_read(attributes.values()),
    )


def _method(at: Description, value: MethodType) -> Any:
    return at.of(value.__func__), Same(value.__self__)


def _builtin(at: Description, value: BuiltinFunctionType) -> Any:
    # Each call may pass another list, so a method of a list is described by the list's index.
    number = at.objects.get(id(value.__self__)) if type(value.__self__) is list else None
    return (type(value), value) if number is None else (type(value), number, value.__name__)


def _operator(at: Description, value: Operator) -> Any:
    if not value.is_anonymous:
        return value  # operators are compared by identity
    recipe = value._recipe()
    return type(value), tuple(recipe), at.of_read(recipe.values())


def _typed(at: Description, value: Typed) -> Any:
    return type(value), at.of(value.op), value._dtypes


def _in_cells(function: FunctionType) -> Iterator[Any]:
    """Yield the values of a function's closure variables."""
    for cell in function.__closure__ or ():
        try:
            yield cell.cell_contents
        except ValueError:  # the variable has no value yet
            yield None


def names_in(code: CodeType) -> Iterator[str]:
    """Yield the names that a function reads, including those of functions that it defines."""
    yield from code.co_names
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from names_in(each)


_NUMBERS = frozenset((bool, int, float))

_FIRST = {Vector: _vector, Matrix: _matrix}

_exact: dict[type, Callable[[Description, Any], Any]] = {
    **_FIRST,
    Mask: _mask,
    bool: _number,
    int: _int,
    float: _number,
    str: _constant,
    bytes: _constant,
    type(None): _none,
    dict: _dict,
    range: _constant,
    DataType: _constant,
    list: _list,
    tuple: _list,
    np.ndarray: _array,
    FunctionType: _function,
    MethodType: _method,
    BuiltinFunctionType: _builtin,
    ModuleType: _itself,
    type: _itself,
    CodeType: _constant,
}
_by_class = ((Operand, _operand), (Operator, _operator), (Typed, _typed), (np.generic, _number))
_describe = dict(_exact)


def _find(kind: type) -> Callable[[Description, Any], Any]:
    """Return the function that describes the values of a type."""
    is_plain = kind.__eq__ is object.__eq__ and kind.__hash__ is object.__hash__
    other = _itself if is_plain else _identity
    return next((how for base, how in _by_class if issubclass(kind, base)), other)
