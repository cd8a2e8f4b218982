"""Operations that have not run yet (`Expression`), and the targets of `<<` (`Updater`).

An expression keeps the storage that its operands had when it was created, so later changes of the
operands do not affect it. It is computed once, when its value is read or it is used as an operand.
In `C(mask) << expression`, it is computed under the mask.

This module does not import Matrix, Vector and Scalar; `graphla.sparse` stores their expression
classes in the list `classes` here.
"""

from __future__ import annotations

from time import perf_counter
from typing import Any, ClassVar, Generic, NoReturn, TypeVar

import numpy as np

from graphla.backends import default_device
from graphla.operations import assignment
from graphla.operations.entrywise import cast
from graphla.operations.moving import on_device
from graphla.operations.operation import (
    DeviceScope,
    MemoryFreed,
    Operation,
    device_of,
    note,
    perform,
    refuse_mixed,
    run,
)
from graphla.operations.values import as_type, fit, is_on_card, is_scalar
from graphla.operations.write import write
from graphla.settings import config, recorders
from graphla.stores import ScalarStore, VectorStore
from semirings.dtypes import DataType, lookup_dtype
from semirings.exceptions import DimensionMismatch, DuplicateEntry

Axis = int | np.ndarray | None

Noun = TypeVar("Noun")
"""The class of an expression's result: Matrix, Vector or Scalar."""


class Replace:
    """The class of the flag `replace`: `C(mask, replace) << x` deletes entries outside the mask."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "replace"

    def __reduce__(self) -> str:
        return "replace"


replace = Replace()


class Operand:
    """An operand: a Matrix, Vector or Scalar, or an Expression that yields one of these."""

    __slots__ = ("__weakref__", "_store")
    ndim: ClassVar[int]
    _store: Any  # the storage of the entries; None in an expression that is not computed yet
    __array_ufunc__ = None  # makes np.int64(3) + A call A.__radd__

    def _read(self) -> Any:
        """Return the object that stores the entries of this operand.

        A later change of the operand replaces this object, so the returned object stays the same.
        """
        return self._store

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each dimension."""
        return self._read().shape

    @property
    def dtype(self) -> DataType:
        """The `DataType` of the entries."""
        return self._read().dtype

    @property
    def device(self) -> str:
        """The device of the entries: "cpu", or a GPU such as "cuda:0"."""
        return self._read().device


class Expression(Operand, Generic[Noun]):
    """T = operation(operands).

    Represent an operation that has not run yet. The shape and dtype of T are known and checked.

    Expressions are created by operations such as `A.mxm(B)` or `A @ B`, not by calling this class.

    Args:
        operation: the operation; None in `A @ B`, `A & B` and `A | B` without an operator.
        args: the storage of the operands, and the typed operator.
        shape: the shape of the result.
        dtype: the dtype of the result.
        region: for `C[I, J]`, the target C and the selected axes, which an assignment needs.
        device: the device of the result; by default the device of the operands.

    Raises:
        DeviceMismatch: the operands are on different devices.
    """

    __slots__ = (
        "_args",
        "_device",
        "_dtype",
        "_operation",
        "_origin",
        "_region",
        "_scalar",
        "_shape",
    )
    noun: ClassVar[type]
    _args: Any
    _scalar: Any  # the scalar as passed by the caller, if the expression is op(A, scalar)
    _origin: Any  # the matrix that is transposed, if the expression is a transpose

    def __init__(
        self,
        operation: Operation | None,
        args: tuple[Any, ...],
        shape: tuple[int, ...],
        dtype: DataType | None,
        region: tuple[Any, tuple[Axis, ...]] | None = None,
        device: str | None = None,
    ):
        self._operation = operation
        self._args = args
        self._shape = shape
        self._dtype = dtype
        self._region = region
        self._store: Any = None
        self._device = device_of(args) if device is None else device

    @property
    def device(self) -> str:
        """The device of the result, which is also the device of the operands."""
        if self._operation is None:
            self._resolve()
        return self._device

    @property
    def shape(self) -> tuple[int, ...]:
        """The size of each dimension of the result."""
        return self._shape

    @property
    def dtype(self) -> DataType:
        """The dtype of the result."""
        dtype = self._dtype
        return self._resolve()._dtype if dtype is None else dtype  # pyright: ignore[reportReturnType]

    def _output_mask(self, input_mask: Any) -> Any:
        """Convert a mask with the shape of A to a mask for A[I, J]."""
        raise TypeError("input_mask is for a part of a Matrix or Vector, as in A[I, J]")

    def new(
        self,
        dtype: Any = None,
        *,
        mask: Any = None,
        input_mask: Any = None,
        name: str | None = None,
    ) -> Noun:
        """C⟨mask⟩ = T.

        Compute the expression into a new Matrix, Vector or Scalar.

        Args:
            dtype: the dtype of the result; by default the dtype of the expression.
            mask: a mask with the shape of the result; only the selected elements are computed.
            input_mask: for T = A[I, J] only, a mask with the shape of A that selects the entries
                that may be read.
            name: the name of the result.

        Returns:
            A new Matrix, Vector or Scalar.

        Raises:
            TypeError: `mask` and `input_mask` are both given, or `input_mask` is given and T is
                not of the form A[I, J].
            DimensionMismatch: the mask has another shape.
            OutOfMemory: the result does not fit in memory.
        """
        if input_mask is not None:
            if mask is not None:
                raise TypeError("mask and input_mask cannot both be given")
            mask = self._output_mask(input_mask)
        if mask is None:
            forms = self._compute()
            if dtype is not None:
                forms = perform("cast", cast, forms, lookup_dtype(dtype))
            return self.noun._of(forms, name)  # pyright: ignore[reportAttributeAccessIssue]
        result = self._empty(dtype, name)
        result(mask) << self
        return result

    def dup(
        self, dtype: Any = None, *, clear: bool = False, mask: Any = None, name: str | None = None
    ) -> Noun:
        """Compute the expression into a new Matrix, Vector or Scalar, like `new`.

        Args:
            dtype: the dtype of the result; by default the dtype of the expression.
            clear: if True, return an empty result of the same shape without computing anything.
            mask: a mask with the shape of the result; only the selected elements are computed.
            name: the name of the result.

        Returns:
            A new Matrix, Vector or Scalar.

        Raises:
            DimensionMismatch: the mask has another shape.
        """
        return self._empty(dtype, name) if clear else self.new(dtype, mask=mask, name=name)

    def _empty(self, dtype: Any, name: str | None) -> Any:
        """Return an empty Matrix, Vector or Scalar with the shape of the result."""
        args = (self.dtype if dtype is None else dtype, *self._shape)
        # `config.set` takes as long as the rest of a small operation, so use it only if necessary.
        if self.device == default_device():
            return self.noun(*args, name=name)
        with config.set(device=self.device):
            return self.noun(*args, name=name)

    def _read(self) -> Any:
        forms = self._store
        if forms is None:
            if not config.autocompute:
                raise TypeError(
                    f"{self._described()}; write .new() to compute it, as config.autocompute is "
                    "False"
                )
            forms = self._compute()
        return forms

    def _compute(self) -> Any:
        """Return the storage. The first call computes it, even if `config.autocompute` is off."""
        forms = self._store
        if forms is None:
            operation = self._operation or self._resolve()._operation
            forms = self._store = run(operation, self._args, self._device)  # pyright: ignore[reportArgumentType]
            self._args = ()
        return forms

    @property
    def _is_computed(self) -> bool:
        return self._store is not None

    def _described(self) -> str:
        """Return a line like `VectorExpression of size 3, INT64: mxv, not yet computed`."""
        kind, size = type(self).__name__, describe(self._shape)
        if self._operation is None:
            symbol = self._args[0]
            return (
                f"{kind} of {size}: A {symbol} B, waiting for an operator, as in op(A {symbol} B)"
            )
        return f"{kind} of {size}, {self._dtype}: {self._operation.name}, not yet computed"

    def _resolve(self) -> Expression:
        """Give an expression A @ B, A & B or A | B without an operator its default operator.

        Return this expression.
        """
        if self._operation is not None:
            return self
        symbol, left, right, default = self._args
        resolved = default(symbol, left, right)
        self._operation, self._args = resolved._operation, resolved._args
        self._dtype, self._device = resolved._dtype, resolved._device
        return self

    def __call__(self, *args: Any, **options: Any) -> Assigner:
        """C(I, J)⟨mask, replace⟩ = accum(C(I, J), x): `C[I, J](mask, accum, replace) << x`.

        Return an object whose `<<` writes the region with a mask of the region's shape.

        Args:
            *args: a mask, an accumulator and `replace`, in any order.
            **options: the same options as keyword arguments: `mask`, `accum` and `replace`.

        Raises:
            TypeError: this expression is not of the form C[I, J].
        """
        if self._region is None:
            raise TypeError(f"{self!r} cannot be assigned to; only `C(...)` and `C[...](...)` can")
        target, axes = self._region
        return Assigner(target(*args, **options), axes, submask=True)

    def __lshift__(self, x: Any) -> None:
        """C(I, J) = x.

        Assign to a region.

        Args:
            x: a Matrix, Vector, Scalar or expression with the shape of the region, an array, or a
                number.

        Raises:
            TypeError: this expression is not of the form C[I, J], or `x` has the wrong type.
            DimensionMismatch: `x` has another shape.
            DeviceMismatch: `x` is on another device.
            DuplicateEntry: an index occurs twice in I or J.
        """
        if self._region is None:
            raise TypeError(
                "an expression cannot be assigned to; write `C << expression`, or `C[I, J] << x`"
            )
        target, axes = self._region
        # Drop this expression's references to the storage of the target. Otherwise the storage
        # could not be overwritten in place.
        self._args, self._store = (), None
        self._operation = _gone
        assign(target, axes, x, None, None, False)

    update = __lshift__

    def __reduce__(self) -> NoReturn:
        raise TypeError("an expression cannot be pickled or copied; do so with `expression.new()`")


def _refuse_gone(*_: Any) -> NoReturn:
    raise TypeError("C[I, J] was assigned to; write C[I, J] again to read it")


_gone = Operation("gone", _refuse_gone)

classes: list[Any] = []
"""The expression classes of results with 0, 1 and 2 dimensions."""


def hand_in(scalar: type[Expression], vector: type[Expression], matrix: type[Expression]) -> None:
    """Store the classes of scalar, vector and matrix expressions in the list `classes`."""
    classes[:] = [scalar, vector, matrix]


def expression(
    operation: Operation,
    args: tuple[Any, ...],
    shape: tuple[int, ...],
    dtype: DataType,
    region: tuple[Any, tuple[Axis, ...]] | None = None,
) -> Any:
    """Return an expression for an operation.

    The number of dimensions of `shape` determines the class of the expression.
    """
    return classes[len(shape)](operation, args, shape, dtype, region)


class Updater:
    """The result of `C(mask, accum, replace)`.

    The statements `C(...) << x` and `C(...)[I, J] = x` write x to C, or to a region of it, under
    the mask.

    Args:
        target: C.
        mask: the mask, or None.
        accum: the typed accumulator, or None. If it is the operator of a monoid on the dtype of C,
            it also combines the values that `C(accum)[I, J] << x` assigns to the same position.
        replace: whether entries outside the mask are deleted.

    Examples:
        >>> from graphla import Vector, binary
        >>> w, q = Vector.from_dense([5, 5, 5]), Vector.from_dense([2, 0, 2])
        >>> w(binary.min)[q] << Vector.from_dense([3, 9, 1])
        >>> w.to_dict()
        {0: 5, 1: 5, 2: 1}
    """

    __slots__ = ("_accum", "_mask", "_replace", "_target")

    def __init__(self, target: Any, mask: Any, accum: Any, replace: bool):
        self._target = target
        self._mask = mask
        self._accum = accum
        self._replace = replace

    def __lshift__(self, x: Any) -> None:
        """C⟨mask, replace⟩ = accum(C, x).

        Write `x` to the target.

        Args:
            x: a Matrix, Vector, Scalar or expression of the target's shape, an array, or a number.

        Raises:
            TypeError: `x` has the wrong type.
            DimensionMismatch: `x` or the mask has another shape.
            DeviceMismatch: `x` or the mask is on another device.
        """
        update(self._target, x, self._mask, self._accum, self._replace)

    update = __lshift__

    def __getitem__(self, key: Any) -> Assigner:
        return Assigner(self, self._target._axes(key), submask=False)

    def __setitem__(self, key: Any, x: Any) -> None:
        target = self._target
        assign(target, target._axes(key), x, self._mask, self._accum, self._replace)

    def __delitem__(self, key: Any) -> None:
        target = self._target
        assign(target, target._axes(key), nothing, self._mask, None, self._replace)

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("C(...) only says how to write; it cannot be compared")

    def __bool__(self) -> NoReturn:
        raise TypeError("C(...) only says how to write; it is neither true nor false")

    __hash__ = None  # pyright: ignore[reportAssignmentType]


class InputMasked:
    """The result of `C(input_mask=M, ...)`; its `<<` writes a part A[I, J] of a matrix A to C.

    M is a mask with the shape of A; it selects the entries of A that may be read.

    Args:
        target: C.
        input_mask: M.
        accum: the typed accumulator, or None.
        replace: whether entries outside the mask are deleted.
    """

    __slots__ = ("_accum", "_mask", "_replace", "_target")

    def __init__(self, target: Any, input_mask: Any, accum: Any, replace: bool):
        self._target = target
        self._mask = input_mask
        self._accum = accum
        self._replace = replace

    def __lshift__(self, x: Any) -> None:
        """C⟨M(I, J), replace⟩ = accum(C, A(I, J)).

        Write a part of A to the target.

        Args:
            x: an expression A[I, J] that is not computed yet.

        Raises:
            TypeError: `x` is not such an expression.
            DimensionMismatch: the shapes of M and A differ, or those of A[I, J] and C.
            DeviceMismatch: A, M and C are not on the same device.
        """
        if not isinstance(x, Expression):
            raise TypeError("input_mask is for a part of a Matrix or Vector, as in A[I, J]")
        update(self._target, x, x._output_mask(self._mask), self._accum, self._replace)

    update = __lshift__
    __eq__ = Updater.__eq__
    __bool__ = Updater.__bool__
    __hash__ = None  # pyright: ignore[reportAssignmentType]


class Assigner:
    """The result of `C(mask)[I, J]` or `C[I, J](mask)`; its `<<` writes to a region of C.

    Args:
        updater: C(mask, accum, replace).
        axes: the selected rows and columns, or indices.
        submask: whether the mask has the shape of the region; if False, it has the shape of C.
    """

    __slots__ = ("_axes", "_submask", "_updater")

    def __init__(self, updater: Updater, axes: tuple[Axis, ...], *, submask: bool):
        self._updater = updater
        self._axes = axes
        self._submask = submask

    def __lshift__(self, x: Any) -> None:
        """C⟨mask, replace⟩(I, J) = accum(C(I, J), x).

        Write `x` to the region. If an index occurs twice in I or J, `accum` also combines the
        values of `x` that are assigned to the same position.

        Args:
            x: a Matrix, Vector, Scalar or expression with the shape of the region, an array, or a
                number.

        Raises:
            TypeError: `x` has the wrong type.
            DimensionMismatch: `x` or the mask has another shape.
            DeviceMismatch: `x` or the mask is on another device.
            DuplicateEntry: an index occurs twice in I or J, and either `accum` is not the operator
                of a commutative monoid on the dtype of C, or `replace` is given with a mask of the
                region.
        """
        updater = self._updater
        assign(
            updater._target,
            self._axes,
            x,
            updater._mask,
            updater._accum,
            updater._replace,
            submask=self._submask,
        )

    update = __lshift__
    __eq__ = Updater.__eq__
    __bool__ = Updater.__bool__
    __hash__ = None  # pyright: ignore[reportAssignmentType]


def update(target: Any, x: Any, mask: Any, accum: Any, replace: bool) -> None:
    """C⟨mask, replace⟩ = accum(C, x). Run the statement `C(mask, accum, replace) << x`."""
    ndim = target.ndim
    if not isinstance(x, Operand) or x.ndim != ndim:
        assign(target, (None,) * ndim, x, mask, accum, replace)
        return
    pending: Any = x  # x may be an expression that is not computed yet
    if ndim:
        forms: Any = x._store
        shape = pending._shape if forms is None else forms.shape
        if shape != target._store.shape:
            raise DimensionMismatch(
                f"the output has {describe(target.shape)}, but the expression has {describe(shape)}"
            )
        if forms is None and pending._operation is None:
            pending._resolve()
        device = pending._device if forms is None else forms.device
        del forms  # another reference to this storage would prevent the in-place write below
        if device != target._store.device:
            refuse_mixed(target.device, device, "the output and the expression")
    # The parent of the mask is computed first, because it may be the expression x itself.
    parent = () if mask is None else (mask.parent._store or mask.parent._read(),)
    for is_last_try in (False, True):
        t, lowered, device = x._store, None, target._store.device
        operation = None if t is not None else pending._operation or pending._resolve()._operation
        # If the result of an expression is a scalar, its operands may be on a different device from
        # the target.
        if operation is not None and not ndim:
            device = pending._device
        name, operands = ("write", (t,)) if operation is None else (operation.name, pending._args)
        try:
            with DeviceScope(name, operands + parent, device) as running:
                # The target can be written in place only if nothing else refers to its storage. The
                # local variable `operands` may refer to this storage, so we delete the variable.
                # `running` keeps no reference either.
                del operands
                if mask is not None:
                    lowered = mask._read(target._store.shape, device)
                honors_mask = lowered is None
                if operation is not None:
                    compute = operation.record if recorders() else operation.compute
                    if operation.honors_mask:
                        t, honors_mask = compute(*pending._args, lowered), True
                    else:
                        t = compute(*pending._args)
                    if lowered is None or not operation.honors_mask:
                        pending._store, pending._args = t, ()
                parent = ()
                running.writes(target, t)
                write[ndim](target, t, lowered, accum, replace, honors_mask)
                return
        except MemoryFreed:
            if is_last_try:
                raise


def assign(
    target: Any,
    axes: tuple[Axis, ...],
    x: Any,
    mask: Any,
    accum: Any,
    replace: bool,
    *,
    submask: bool = False,
) -> None:
    """C⟨mask, replace⟩(I, J) = accum(C(I, J), x).

    If `submask` is True, the mask has the shape of the region C(I, J); otherwise it has the shape
    of C.
    """
    shape, device, sizes = target._store.shape, target._store.device, target._store.shape
    if sizes and not (axes[0] is None and axes[-1] is None):
        axes = tuple([on_device(i, device) if is_on_card(i) else i for i in axes])
        pairs = zip(axes, shape, strict=True)
        sizes = tuple(n if i is None else i.size for i, n in pairs if not isinstance(i, int))
    value = _value(target, x, sizes)
    if value.device != device:
        refuse_mixed(device, value.device, "the output and what is assigned to it")
    is_joined = False
    for place, name in zip(axes, ("index",) if len(axes) == 1 else ("row", "column"), strict=False):
        if place is not None and not isinstance(place, int):
            with DeviceScope("assign", (), device):
                partial = replace and submask and mask is not None
                is_joined |= _joins(place, name, target, accum, partial)
    start = perf_counter() if recorders() else None
    if mask is not None and submask and not sizes:
        raise TypeError("an assign to one element takes no submask: write C(mask)[i, j] << s")
    if target.ndim == 0:
        how = _assign_scalar
    elif target.ndim == 1:
        how = _assign_vector
    elif len(sizes) == 1 and (mask is None or mask.ndim == 1):
        how = _assign_line
    else:
        how = _assign_matrix
    operands = (value,) if mask is None else (value, mask.parent._store or mask.parent._read())
    for is_last_try in (False, True):
        try:
            with DeviceScope("assign", operands, device) as running:
                lowered = None
                if mask is not None:
                    lowered = mask._read(_mask_shape(axes, shape, sizes, mask, submask), device)
                running.writes(target)
                confined = submask and lowered is not None
                how(target, axes, value, lowered, accum, replace, confined, is_joined)
                break
        except MemoryFreed:
            if is_last_try:
                raise
    if start is not None:
        note("assign", (value, accum), target._store.nvals, perf_counter() - start)


def _assign_scalar(target: Any, axes: Any, value: Any, mask: Any, *how: Any) -> None:
    accum, replace, _, _ = how
    write[0](target, value, None, accum, replace, True)


def _assign_vector(
    target: Any,
    axes: tuple[Any, ...],
    value: Any,
    mask: Any,
    accum: Any,
    replace: bool,
    submask: bool,
    is_joined: bool,
) -> None:
    place = axes[0]
    if isinstance(place, int):
        if mask is None and accum is None:
            assignment.set_vector_element(target, place, value.value)
            return
        place = np.asarray([place])
    write_part: Any = assignment.subassign_vector if submask else assignment.assign_vector
    write_part(target, place, value, mask, accum, replace, is_joined)


def _assign_line(
    target: Any,
    axes: tuple[Any, ...],
    value: Any,
    mask: Any,
    accum: Any,
    replace: bool,
    submask: bool,
    is_joined: bool,
) -> None:
    """Assign to a row or a column under a vector mask."""
    write_line: Any = assignment.assign_column
    if isinstance(axes[0], int):
        write_line = assignment.assign_row
    write_line(target, *axes, value, mask, accum, replace, submask, is_joined)


def _assign_matrix(
    target: Any,
    axes: tuple[Axis, ...],
    value: Any,
    mask: Any,
    accum: Any,
    replace: bool,
    submask: bool,
    is_joined: bool,
) -> None:
    i, j = axes
    if isinstance(i, int) and isinstance(j, int) and mask is None and accum is None:
        assignment.set_matrix_element(target, i, j, value.value)
        return
    if isinstance(value, VectorStore):
        row = assignment.indexing.as_row(value)
        value = row if isinstance(i, int) else row.T
    rows, columns = (np.asarray([k]) if isinstance(k, int) else k for k in axes)
    write_part: Any = assignment.subassign_matrix if submask else assignment.assign_matrix
    write_part(target, rows, columns, value, mask, accum, replace, is_joined)


nothing = object()


def _value(target: Any, x: Any, sizes: tuple[int, ...]) -> Any:
    """Return the storage of a value that is assigned to a region of these sizes.

    The value has the shape of the region, or is a scalar.
    """
    dtype = target._store.dtype
    if is_scalar(x):
        return ScalarStore(target._store.device, dtype, fit(x, dtype))
    if x is nothing:
        return ScalarStore(target.device, dtype)
    if isinstance(x, Operand):
        read = x._compute if isinstance(x, Expression) else x._read
        if x.ndim == 0:
            value = read().value
            return ScalarStore(
                target.device, dtype, None if value is None else as_type(value, dtype)
            )
    elif sizes and (isinstance(x, (list, tuple, range, np.ndarray)) or is_on_card(x)):
        with config.set(device=target.device):
            x = classes[len(sizes)].noun.from_dense(x)
    else:
        raise TypeError(
            f"cannot assign {type(x).__name__} to {_region(sizes)}: a scalar or {_fitting(sizes)} "
            "is needed"
        )
    if x.ndim != len(sizes):
        kind = "Vector" if x.ndim == 1 else "Matrix"
        raise TypeError(
            f"cannot assign a {kind} to {_region(sizes)}: a scalar or {_fitting(sizes)} is needed"
        )
    if x.shape != sizes:
        raise DimensionMismatch(
            f"the region assigned to has {describe(sizes)}, but the value has {describe(x.shape)}"
        )
    return x._compute() if isinstance(x, Expression) else x._read()


def _mask_shape(
    axes: tuple[Axis, ...],
    shape: tuple[int, ...],
    sizes: tuple[int, ...],
    mask: Any,
    submask: bool,
) -> tuple[int, ...]:
    """Return the shape that a mask with this number of dimensions must have for this region."""
    if submask:
        return sizes
    if mask.ndim == 1 and len(shape) == 2:
        if len(sizes) != 1:
            raise TypeError(
                "a Vector mask is for a row or a column of a Matrix, as in C(m)[i, :] << x; "
                "elsewhere the mask must be a Matrix"
            )
        return (shape[1],) if isinstance(axes[0], int) else (shape[0],)
    return shape


def _joins(indices: Any, name: str, target: Any, accum: Any, is_confined: bool) -> bool:
    """Return whether `accum` must combine values that are assigned to the same index.

    Raise an error if an index occurs twice and `accum` cannot combine its values. `is_confined` is
    True if both a mask of the region and `replace` are given. If an index occurs twice, such a
    statement could both keep and delete the same entry.
    """
    if assignment.is_increasing(indices):
        return False
    dtype = target._store.dtype
    can_join = accum is not None and accum.type is dtype and accum.monoid is not None
    # For a vector, combining the values is as fast as looking for equal indices.
    if can_join and not is_confined and target.ndim == 1:
        return True
    index = assignment.first_duplicate(indices)
    if index is None or (can_join and not is_confined):
        return index is not None
    if accum is None:
        why = "the indices of an assign must differ, unless accum is a monoid such as plus"
    elif not can_join:
        why = f"only a commutative, associative monoid on {dtype} joins values, not {accum!r}"
    else:
        why = "with replace and a mask of the region, the indices must differ"
    raise DuplicateEntry(f"{name} {index} occurs twice in what is assigned to; {why}")


def describe(shape: tuple[int, ...]) -> str:
    """Return a shape in words: `size 7`, or `shape 3 x 4`."""
    if not shape:
        return "one value"
    if len(shape) == 1:
        return f"size {shape[0]}"
    return "shape " + " x ".join(map(str, shape))


def _region(sizes: tuple[int, ...]) -> str:
    if not sizes:
        return "one element"
    return f"a region of {describe(sizes)}"


def _fitting(sizes: tuple[int, ...]) -> str:
    return ("a Scalar", "a Vector", "a Matrix")[len(sizes)] + " of that size" * bool(sizes)
