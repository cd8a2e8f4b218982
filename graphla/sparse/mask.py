"""Masks, which select where a statement may write: `v.S`, `v.V`, and complements with `~`."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, NoReturn

from graphla.expression import Operand, Replace, describe, expression
from graphla.operations.masking import masked_pattern
from graphla.operations.operation import Operation, perform, refuse_mixed
from graphla.sparse.operators import accumulator
from semirings.dtypes import BOOL, DataType, lookup_dtype
from semirings.exceptions import DimensionMismatch

if TYPE_CHECKING:
    from graphla.sparse import Matrix, Vector

_pattern = Operation("mask", masked_pattern)


class Mask:
    """A view of a Matrix or Vector that selects where a statement may write.

    `A.S` and `A.V` create masks; `~`, `&` and `|` combine them. A mask is evaluated when it is
    used, so it reflects later changes of the Matrix or Vector.

    Args:
        parent: the Matrix, Vector or expression.
        structure: True selects all elements with an entry; False selects those whose entry is true.
        complement: whether to select the other elements instead.

    Examples:
        >>> from graphla import Vector
        >>> v, w = Vector.from_dict({0: 1, 2: 0}, size=3), Vector(int, 3)
        >>> w(~v.S) << 7
        >>> w.to_dict(), v.V.new().to_dict()
        ({1: 7}, {0: True})
    """

    __slots__ = ("complement", "ndim", "parent", "structure")

    def __init__(self, parent: Any, *, structure: bool, complement: bool = False):
        self.parent = parent
        self.ndim = parent.ndim
        self.structure = structure
        self.complement = complement

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape that an output must have for this mask."""
        return self.parent.shape

    @property
    def value(self) -> bool:
        """Whether the mask depends on the values of entries; the opposite of `structure`."""
        return not self.structure

    def __invert__(self) -> Mask:
        """Return the mask that selects the other elements."""
        mask = object.__new__(Mask)
        mask.parent, mask.ndim = self.parent, self.ndim
        mask.structure, mask.complement = self.structure, not self.complement
        return mask

    def __and__(self, other: Any) -> Mask:
        """Return the mask of the elements that both masks select."""
        return self._join(other, "and")

    __rand__ = __and__

    def __or__(self, other: Any) -> Mask:
        """Return the mask of the elements that at least one mask selects."""
        return self._join(other, "or")

    __ror__ = __or__

    def new(
        self,
        dtype: Any = None,
        *,
        complement: bool = False,
        mask: Any = None,
        name: str | None = None,
    ) -> Matrix | Vector:
        """C(i, j) = true where this mask selects (i, j).

        Return the selected elements as a Matrix or Vector.

        Args:
            dtype: the dtype of the result; BOOL by default.
            complement: whether to select the other elements instead.
            mask: a second mask of the same shape; the result contains only elements that it
                selects, too.
            name: the name of the result.

        Returns:
            A Matrix or Vector with an entry at each selected element.

        Raises:
            DimensionMismatch: `mask` has a different shape.
        """
        joined = self if mask is None else self & mask
        if complement:
            joined = ~joined
        return joined._as_true(BOOL if dtype is None else lookup_dtype(dtype)).new(name=name)

    def _read(self, shape: tuple[int, ...], device: str) -> Any:
        """Return the storage of the mask, or None if the mask selects all elements.

        `shape` and `device` are those of the output of the operation. The mask must have the same
        shape and device; otherwise an error is raised.

        The caller must have entered `DeviceScope`.
        """
        forms = self.parent._store or self.parent._read()
        own = forms.shape
        if forms.device != device:
            refuse_mixed(device, forms.device, "the output and its mask")
        if shape == own:
            return forms.mask(self.structure, self.complement)
        if len(shape) != self.ndim:
            raise TypeError(
                f"the mask is a {('Vector', 'Matrix')[self.ndim - 1]}, but it should be a "
                f"{('one element', 'Vector', 'Matrix')[len(shape)]} of {describe(shape)}"
            )
        raise DimensionMismatch(
            f"the mask has {describe(own)}, but it should have {describe(shape)}"
        )

    def _lower(self, shape: tuple[int, ...], device: str) -> Any:
        """Call `_read` in a `DeviceScope`, and return its result."""
        return perform("mask", lambda _: self._read(shape, device), self.parent._read())

    def _diagonal(self, k: int) -> Mask:
        """Return diagonal k of this matrix mask as a vector mask."""
        parent = self.parent.diag(k)
        return Mask(parent, structure=self.structure, complement=self.complement)

    def _join(self, other: Any, how: str) -> Mask:
        other = as_mask(other)
        if other.shape != self.shape:
            raise DimensionMismatch(
                f"the masks have {describe(self.shape)} and {describe(other.shape)}, "
                "which should be the same"
            )
        if how == "or":  # De Morgan's law: x or y = not (not x and not y)
            return ~((~self)._join(~other, "and"))
        if self.complement and other.complement:
            either = (~self)._as_true() + (~other)._as_true()
            return Mask(either, structure=True, complement=True)
        first, second = (other, self) if self.complement else (self, other)
        return Mask(first._as_true().new(mask=second), structure=True)

    def _as_true(self, dtype: DataType = BOOL) -> Any:
        """Return the expression that is true at the selected elements."""
        forms, shape = self.parent._read(), self.shape
        lowered = self._lower(shape, forms.device)
        return expression(_pattern, (lowered, forms, dtype), shape, dtype)

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("masks cannot be compared; compare `mask.new()` with `.isequal`")

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __bool__(self) -> NoReturn:
        raise TypeError("a mask is neither true nor false; ask the matrix for its `.nvals`")

    def _repr_html_(self) -> str:
        return f"<div>{escape(repr(self))}</div>"

    def __repr__(self) -> str:
        kind = "Vector" if self.ndim == 1 else "Matrix"
        return (
            f"<mask {'~' * self.complement}{kind}.{'S' if self.structure else 'V'}, "
            f"{describe(self.shape)}>"
        )


def as_mask(x: Any) -> Mask:
    """Return x if it is a mask; convert a BOOL Matrix, Vector or expression to its value mask."""
    if isinstance(x, Mask):
        return x
    if isinstance(x, Operand) and x.ndim:
        if x.dtype is not BOOL:
            raise TypeError(
                f"a mask was given as a {'Vector' if x.ndim == 1 else 'Matrix'} of {x.dtype}; "
                "say whether its structure (`.S`) or its values (`.V`) should count"
            )
        return Mask(x, structure=False)
    raise TypeError(f"a mask must be like A.S, A.V, ~A.S or ~A.V, not {type(x).__name__}")


def output_options(
    args: tuple[Any, ...], mask: Any, accum: Any, replace: bool, ndim: int, dtype: DataType
) -> tuple[Mask | None, Any, bool]:
    """Return the mask, the accumulator and `replace` from the arguments of `C(...)`."""
    for arg in args:
        if isinstance(arg, Mask) or (isinstance(arg, Operand) and arg.ndim):
            if mask is not None:
                raise TypeError("C(...) was given two masks")
            mask = arg
        elif isinstance(arg, Replace):
            replace = True
        elif accum is not None:
            raise TypeError("C(...) was given two accumulators")
        else:
            accum = arg
    if mask is not None:
        if ndim == 0:
            raise TypeError("a Scalar takes no mask")
        if type(mask) is not Mask:
            mask = as_mask(mask)
        if mask.ndim > ndim:
            raise TypeError("the mask of a Vector must be a Vector, not a Matrix")
    elif replace:
        raise TypeError("replace=True needs a mask: it deletes what lies outside of the mask")
    if accum is not None:
        accum = accumulator(accum, dtype)
    return mask, accum, bool(replace)
