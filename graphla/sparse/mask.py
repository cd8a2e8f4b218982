"""Where a statement may write: `v.S` (where v has entries), `v.V` (where they are true), `~`."""

from __future__ import annotations

from typing import Any, NoReturn

from graphla.expression import Operand, Replace, describe, expression
from graphla.operations.masking import masked_pattern
from graphla.operations.operation import Operation, perform, refuse_mixed
from graphla.sparse.operators import accumulator
from semirings.dtypes import BOOL, DataType, lookup_dtype
from semirings.exceptions import DimensionMismatch

_pattern = Operation("mask", masked_pattern)


class Mask:
    """A view of a Matrix or Vector: what it lets through is what that holds when it is used."""

    __slots__ = ("complement", "ndim", "parent", "structure")

    def __init__(self, parent: Any, *, structure: bool, complement: bool = False):
        self.parent = parent
        self.ndim = parent.ndim
        self.structure = structure
        self.complement = complement

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the output that it fits."""
        return self.parent.shape

    @property
    def value(self) -> bool:
        """Whether the values matter: the opposite of `structure`."""
        return not self.structure

    def __invert__(self) -> Mask:
        """The places where this mask does not let through."""
        mask = object.__new__(Mask)
        mask.parent, mask.ndim = self.parent, self.ndim
        mask.structure, mask.complement = self.structure, not self.complement
        return mask

    def __and__(self, other: Any) -> Mask:
        """Where both masks let through."""
        return self._join(other, "and")

    __rand__ = __and__

    def __or__(self, other: Any) -> Mask:
        """Where either mask lets through."""
        return self._join(other, "or")

    __ror__ = __or__

    def new(
        self,
        dtype: Any = None,
        *,
        complement: bool = False,
        mask: Any = None,
        name: str | None = None,
    ) -> Any:
        """C = true wherever this mask (and `mask`) lets through; elsewhere with `complement`."""
        joined = self if mask is None else self & mask
        if complement:
            joined = ~joined
        return joined._as_true(BOOL if dtype is None else lookup_dtype(dtype)).new(name=name)

    def _read(self, shape: tuple[int, ...], device: str) -> Any:
        """Return the mask in storage for an output of this shape; None if it lets all through.

        The caller has entered `DeviceScope`.
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
        """Enter `DeviceScope`, and return what `_read` returns."""
        return perform("mask", lambda _: self._read(shape, device), self.parent._read())

    def _diagonal(self, k: int) -> Mask:
        """The mask that a matrix mask is on its diagonal k."""
        parent = self.parent.diag(k)
        return Mask(parent, structure=self.structure, complement=self.complement)

    def _join(self, other: Any, how: str) -> Mask:
        other = as_mask(other)
        if other.shape != self.shape:
            raise DimensionMismatch(
                f"the masks have {describe(self.shape)} and {describe(other.shape)}, "
                "which should be the same"
            )
        if how == "or":  # by De Morgan
            return ~((~self)._join(~other, "and"))
        if self.complement and other.complement:
            either = (~self)._as_true() + (~other)._as_true()
            return Mask(either, structure=True, complement=True)
        first, second = (other, self) if self.complement else (self, other)
        return Mask(first._as_true().new(mask=second), structure=True)

    def _as_true(self, dtype: DataType = BOOL) -> Any:
        """True wherever it lets through."""
        forms, shape = self.parent._read(), self.shape
        lowered = self._lower(shape, forms.device)
        return expression(_pattern, (lowered, forms, dtype), shape, dtype)

    def __eq__(self, other: object) -> NoReturn:
        raise TypeError("masks cannot be compared; compare `mask.new()` with `.isequal`")

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def __bool__(self) -> NoReturn:
        raise TypeError("a mask is neither true nor false; ask the matrix for its `.nvals`")

    def __repr__(self) -> str:
        kind = "Vector" if self.ndim == 1 else "Matrix"
        return (
            f"<mask {'~' * self.complement}{kind}.{'S' if self.structure else 'V'}, "
            f"{describe(self.shape)}>"
        )


def as_mask(x: Any) -> Mask:
    """x as a mask: itself, or the true values of a BOOL Matrix, Vector or expression."""
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
    """The mask, accumulator and replace of `C(...)`, in any order or by keyword."""
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
