"""Monoids (an operator and its identity) and semirings (a monoid and an operator)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from semirings import printing
from semirings.dtypes import BOOL, INT64, DataType, lookup_dtype
from semirings.exceptions import DomainMismatch
from semirings.operators import BinaryOp, Operator, Typed, TypedBinaryOp, named
from semirings.trace import Symbol

Values = Any  # a scalar, a mapping from dtype to scalar, or a function of the DataType


class TypedMonoid(Typed):
    """⟨⊕, 0⟩ on one dtype."""

    opclass = "Monoid"

    def __init__(self, monoid: Monoid, binaryop: TypedBinaryOp, identity: Any, terminal: Any):
        super().__init__(monoid, (binaryop.return_type,))
        self.monoid = monoid
        self.binaryop = binaryop
        self.type2 = self.return_type = self.type
        self.identity = identity
        self.terminal = terminal
        self.is_idempotent = monoid.is_idempotent
        self.is_any = monoid.is_any

    @cached_property
    def ufunc(self) -> np.ufunc | None:
        """The NumPy ufunc that computes ⊕, or None if NumPy has none.

        Pass `dtype=` to its methods, because np.add widens integers.
        """
        return printing.simple_ufunc(self.binaryop.expression, ("x", "y"))

    @cached_property
    def joining(self) -> TypedBinaryOp:
        """The operator ⊕, with this monoid as its `monoid`.

        Each operator has at most one `monoid`. If the operator has another monoid or none, the
        result is a copy of the operator.
        """
        if self.binaryop.monoid is self:
            return self.binaryop
        op = object.__new__(TypedBinaryOp)
        vars(op).update(vars(self.binaryop), _monoid=self)
        return op

    @property
    def is_commutative(self) -> bool:
        """Whether x ⊕ y = y ⊕ x."""
        return self.monoid.is_commutative

    def _evaluate(self, *args: Any) -> Any:
        return self.binaryop._evaluate(*args)

    def trace(self, *args: Any) -> Symbol:
        """Return the symbol for ⊕ applied to the arguments, which are symbols."""
        return self.binaryop.trace(*args)


class Monoid(Operator):
    """⟨⊕, 0⟩: an associative and commutative operator, and its identity on each dtype.

    `monoid.register_new` and `monoid.register_anonymous` create monoids.

    Args:
        name: the name.
        binaryop: ⊕.
        identity: a number, a mapping from dtype to number, or a function of the `DataType`. The
            monoid is only defined on dtypes that have an identity.
        terminal: a value z with x ⊕ z = z for all x, in the same form as `identity`; None if no
            such value exists.
        is_idempotent: whether x ⊕ x = x for every x.
        is_any: whether ⊕ may return either operand.
        on: the dtype to which all operands are cast. If it is None, operands keep their dtypes.
        is_anonymous: whether the monoid is not registered in a module; pickle then stores its
            constructor arguments instead of its name.

    Raises:
        TypeError: `identity` or `terminal` has the wrong type.
    """

    opclass = "Monoid"
    kind = "monoid"

    def __init__(
        self,
        name: str,
        binaryop: BinaryOp,
        identity: Values,
        terminal: Values = None,
        *,
        is_idempotent: bool = False,
        is_any: bool = False,
        on: DataType | None = None,
        is_anonymous: bool = False,
    ):
        _check_values("identity", identity)
        if terminal is not None:
            _check_values("terminal", terminal)
        super().__init__(name, is_anonymous=is_anonymous)
        self.binaryop = binaryop
        self.is_idempotent = is_idempotent
        self.is_any = is_any
        self._identity = identity
        self._terminal = terminal
        self._on = on

    @property
    def _domain(self) -> tuple[DataType, ...]:
        return self.binaryop._domain

    @property
    def identities(self) -> dict[DataType, Any]:
        """A dictionary that maps each supported dtype to the identity."""
        return {dtype: self[dtype].identity for dtype in self.types}

    @property
    def is_commutative(self) -> bool:
        """Whether x ⊕ y = y ⊕ x. This is always True; the kernels rely on it."""
        return True

    @property
    def commutes_to(self) -> Monoid:
        """The monoid itself, because ⊕ is commutative."""
        return self

    def _typed(self, *dtypes: DataType) -> TypedMonoid:
        asked = dtypes[0] if len(dtypes) == 1 else self.binaryop[dtypes].return_type
        dtype = self._on or asked
        known = self._cache.get(dtype)
        if known is None:
            known = self._cache[dtype] = self._make(dtype)
        return known

    def _make(self, dtype: DataType) -> TypedMonoid:
        binaryop = self.binaryop[dtype]
        identity = _value(self._identity, dtype)
        if binaryop.return_type is not dtype or identity is None:
            raise DomainMismatch(f"{self!r} is not defined on {dtype}")
        return TypedMonoid(self, binaryop, identity, _value(self._terminal, dtype))

    def _evaluate(self, *args: Any) -> Any:
        return self.binaryop._evaluate(*args)

    def trace(self, *args: Any) -> Symbol:
        """Return the symbol for ⊕ applied to the arguments, which are symbols."""
        return self.binaryop.trace(*args)

    def _recipe(self) -> dict[str, Any]:
        return super()._recipe() | {
            "binaryop": self.binaryop,
            "identity": self._identity,
            "terminal": self._terminal,
            "is_idempotent": self.is_idempotent,
            "is_any": self.is_any,
            "on": self._on,
        }


def _check_values(what: str, values: Values) -> None:
    scalars = (
        [x for x in values.values() if x is not None] if isinstance(values, Mapping) else [values]
    )
    if not callable(values) and not all(isinstance(x, Real | np.bool_) for x in scalars):
        raise TypeError(
            f"{what} is {values!r}, but it should be a number, a mapping from dtype to number, "
            "or a function of the dtype"
        )


def _value(values: Values, dtype: DataType) -> Any:
    """Return the value that `values` gives for a dtype, or None if the dtype cannot hold it."""
    value = values
    if isinstance(values, Mapping):
        value = next((each for key, each in values.items() if lookup_dtype(key) is dtype), None)
    elif isinstance(values, Callable):
        value = values(dtype)
    if value is None:
        return None
    try:
        scalar = dtype.np_type.type(value)
    except (OverflowError, ValueError):
        return None
    is_same = scalar == value or value != value
    return scalar if is_same else None


class TypedSemiring(Typed):
    """⟨⊕, ⊗, 0⟩ on one pair of dtypes. The result of ⊗ is cast to the dtype of ⊕."""

    opclass = "Semiring"

    def __init__(self, semiring: Semiring, monoid: TypedMonoid, binaryop: TypedBinaryOp):
        super().__init__(semiring, (binaryop.type, binaryop.type2))
        self.semiring = semiring
        self.monoid = monoid
        self.binaryop = binaryop
        self.type2 = binaryop.type2
        self.return_type = monoid.return_type
        self.is_positional = binaryop.is_positional

    @property
    def is_commutative(self) -> bool:
        """Whether both ⊕ and ⊗ are commutative."""
        return self.semiring.is_commutative

    @property
    def commutes_to(self) -> TypedSemiring | None:
        """The semiring with the operands of ⊗ swapped."""
        flipped = self.semiring.commutes_to
        return None if flipped is None else flipped[self.type2, self.type]

    def _evaluate(self, *args: Any) -> Any:
        return self.semiring._evaluate(*args)


class Semiring(Operator):
    """⟨⊕, ⊗, 0⟩: a monoid ⟨⊕, 0⟩ for addition, and a binary operator ⊗ for multiplication.

    `semiring.register_new` and `semiring.register_anonymous` create semirings.

    Args:
        name: the name.
        monoid: ⊕.
        binaryop: ⊗.
        is_anonymous: whether the semiring is not registered in a module; pickle then stores its
            constructor arguments instead of its name.

    Examples:
        >>> from semirings import semiring
        >>> semiring.min_plus["FP64"].monoid.identity
        np.float64(inf)
    """

    opclass = "Semiring"
    kind = "semiring"

    def __init__(
        self, name: str, monoid: Monoid, binaryop: BinaryOp, *, is_anonymous: bool = False
    ):
        super().__init__(name, is_anonymous=is_anonymous)
        self.monoid = monoid
        self.binaryop = binaryop
        self.is_positional = binaryop.is_positional

    @property
    def _domain(self) -> tuple[DataType, ...]:
        return self.binaryop._domain

    @property
    def is_commutative(self) -> bool:
        """Whether both ⊕ and ⊗ are commutative."""
        return self.monoid.is_commutative and self.binaryop.is_commutative

    @property
    def commutes_to(self) -> Semiring | None:
        """The semiring with the operands of ⊗ swapped, or None if it is not registered.

        If ⊗' is ⊗ with swapped operands, A ⊕.⊗ B equals (Bᵀ ⊕.⊗' Aᵀ)ᵀ.
        """
        if self.is_commutative:
            return self
        flipped = self.binaryop.commutes_to
        if flipped is None or self.monoid.is_anonymous:
            return None
        return named("semiring", f"{self.monoid.name}_{flipped.name}")

    def _typed(self, *dtypes: DataType) -> TypedSemiring:
        multiply = self.binaryop[dtypes if len(dtypes) == 2 else dtypes[0]]
        known = self._cache.get((multiply.type, multiply.type2))
        if known is None:
            known = TypedSemiring(self, self._monoid_of(multiply), multiply)
            self._cache[multiply.type, multiply.type2] = known
        return known

    def _monoid_of(self, multiply: TypedBinaryOp) -> TypedMonoid:
        """Return the monoid ⊕ on the result dtype of ⊗.

        If the semiring counts pairs of BOOL entries, return the monoid on INT64 instead.
        """
        is_count = self.monoid.name in ("plus", "times") and multiply.name == "pair"
        return self.monoid[INT64 if is_count and multiply.type is BOOL else multiply.return_type]

    def _recipe(self) -> dict[str, Any]:
        return super()._recipe() | {"monoid": self.monoid, "binaryop": self.binaryop}
