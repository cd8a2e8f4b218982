"""Translate statements that create, change or read vectors to instructions.

The methods mirror `graphla.sparse.noun` and `graphla.expression`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphla.expression import Replace, describe
from graphla.program import ir
from graphla.program.notation import MASKS, NUMBERS, VECTORS, Notation
from graphla.program.reasons import Reason, refuse
from graphla.program.values import (
    FALSE,
    NONE,
    TRUE,
    Infix,
    Number,
    OptionalNumber,
    PendingVector,
    Static,
    Target,
    Typed,
    VectorObject,
    View,
    scalar_kind,
)
from graphla.sparse.operators import accumulator
from semirings.dtypes import BOOL, FP64, INT64, DataType, lookup_dtype, unify
from semirings.exceptions import DimensionMismatch


class Writer(Notation):
    """Translates the notation's statements."""

    # --- new vectors ------------------------------------------------------------------------------

    def new_vector(self, dtype: DataType, dim: ir.Dim) -> VectorObject:
        """Return a new Vector object without entries."""
        slot = self.allocate(dtype, dim, self.hint)
        self.emit(ir.Clear(slot, self.line))
        return self.add_object(slot)

    def new(self, x: Any, dtype: Any, mask: Any, node: Any) -> VectorObject:
        """Return a new Vector object with the entries that the mask selects."""
        found = self.term(x, node)
        wanted = found.term.dtype if dtype is None else self.lookup(dtype, node)
        lowered = None
        if mask is not None:
            lowered = self.lower_mask(self.as_mask(mask, node), found.dim, node)
        slot = self.allocate(wanted, found.dim, self.hint)
        self.emit(ir.Write(slot, lowered, None, lowered is not None, found.term, self.line))
        return self.add_object(slot)

    def new_of_mask(
        self, x: Any, dtype: Any, complement: bool, mask: Any, node: Any
    ) -> VectorObject:
        """Return a new Vector object that is True at the positions that the mask selects."""
        joined = x if mask is None else self.join_masks("&", x, mask, node)
        joined = self.invert_mask(joined) if complement else joined
        dim = self.mask_dim(joined)
        lowered = self.lower_mask(joined, dim, node)
        wanted = BOOL if dtype is None else self.lookup(dtype, node)
        slot = self.allocate(wanted, dim, self.hint)
        full = ir.Full(TRUE, BOOL)
        self.emit(ir.Write(slot, lowered, None, True, full, self.line))
        return self.add_object(slot)

    def lookup(self, dtype: Any, node: Any) -> DataType:
        """Return the dtype that a known object denotes, such as `int` or "FP32"."""
        with self.checks(node):
            return lookup_dtype(dtype)

    def from_scalar(self, value: Any, dim: ir.Dim, dtype: Any, node: Any) -> VectorObject:
        """Return a new Vector object with the value at every index."""
        self.require_value(value, node)
        own = value.dtype if isinstance(value, Typed) else value.scalar.dtype
        wanted = own if dtype is None else self.lookup(dtype, node)
        slot = self.allocate(wanted, dim, self.hint)
        self.emit(ir.Write(slot, None, None, False, self.full(value, wanted, node), self.line))
        return self.add_object(slot)

    # --- statements -------------------------------------------------------------------------------

    def full(self, value: Any, dtype: DataType, node: Any) -> ir.VectorExpression:
        """Return the term that has the value of a scalar at each position."""
        if isinstance(value, Typed) and not value.is_numpy:
            if not self.decide(value.present):
                return ir.Empty(dtype)
            return ir.Full(value.scalar, value.dtype)
        self.require_value(value, node)
        return ir.Full(self.fit_scalar(value, dtype, "value", node), dtype)

    def target(
        self, x: VectorObject, args: list[Any], options: dict[str, Any], node: Any
    ) -> Target:
        """Return `w(mask, accum, replace)`."""
        mask, accum = options.pop("mask", None), options.pop("accum", None)
        replaces = self.static(options.pop("replace", Static(False)), node)
        if options:
            if "input_mask" in options:
                refuse(Reason.OPERATION, node, name="an input_mask")
            self.fails(node, "TypeError", f"C(...) got an unexpected argument {min(options)!r}")
        mask, accum = (None if x == NONE else x for x in (mask, accum))
        for arg in args:
            if isinstance(arg, (*MASKS, *VECTORS, View)):
                if mask is not None:
                    self.fails(node, "TypeError", "C(...) was given two masks")
                mask = arg
            elif isinstance(arg, Static) and isinstance(arg.value, Replace):
                replaces = True
            elif accum is not None:
                self.fails(node, "TypeError", "C(...) was given two accumulators")
            else:
                accum = arg
        if mask is not None:
            mask = self.as_mask(mask, node)
        elif replaces:
            text = "replace=True needs a mask: it deletes what lies outside of the mask"
            self.fails(node, "TypeError", text)
        typed = None
        if accum is not None:
            op = self.static(accum, node)
            with self.checks(node):
                typed = accumulator(op, self.slot_of(x).dtype)
        return Target(x, mask, typed, bool(replaces))

    def write(self, target: Target, value: Any, node: Any) -> None:
        """Execute `target << value`."""
        value = self.settle(value, target.vector)
        if target.index is not None:
            self.assign(target, value, node)
            return
        into = self.slot_of(target.vector)
        if isinstance(value, Infix) and value.dim is None:
            value = self.by_default(value, node)
        if isinstance(value, VECTORS):
            found = self.term(value, node)
            source = found.term
            if found.dim != into.dim:
                with self.checks(node):
                    raise DimensionMismatch(
                        f"the output has {describe((self.sizes[into.dim.index],))}, but the "
                        f"expression has {describe((self.sizes[found.dim.index],))}"
                    )
        elif isinstance(value, NUMBERS):
            source = self.full(value, into.dtype, node)
        elif value is None:
            source = ir.Empty(into.dtype)
        elif isinstance(value, (*MASKS, View, Target)):
            text = f"cannot assign {self.kind(value)} to a region: a scalar or a Vector is needed"
            self.fails(node, "TypeError", text)
        else:
            refuse(Reason.PYTHON_OBJECT, node, kind=f"a {self.kind(value)} that is assigned")
        mask = None
        if target.mask is not None:
            mask = self.lower_mask(target.mask, into.dim, node)
        into = self.prepare_write(target.vector, node)
        self.emit(ir.Write(into, mask, target.accum, target.replace, source, self.line))

    def assign(self, target: Target, value: Any, node: Any) -> None:
        """Execute `w[i] = value`, `w(accum)[i] << value` or `w(...)[q] << value`.

        `value` is None for `del w[i]`.
        """
        if isinstance(target.index, VECTORS):
            self.scatter(target, value, node)
            return
        index = self.index(target.index, node)
        if target.mask is not None:
            refuse(Reason.OPERATION, node, name="an assignment to one element under a mask")
        into = self.slot_of(target.vector)
        if value is not None and not isinstance(value, NUMBERS):
            text = f"cannot assign {self.kind(value)} to one element: a scalar is needed"
            self.fails(node, "TypeError", text)
        if isinstance(value, Typed) and not value.is_numpy:
            if not self.decide(value.present):
                if target.accum is not None:
                    return
                value = None
            elif not np.can_cast(value.dtype.np_type, into.dtype.np_type, "safe"):
                refuse(Reason.OPERATION, node, name=f"a cast of a Scalar to {into.dtype}")
        if value is None:
            into = self.prepare_write(target.vector, node)
            self.emit(ir.DeleteElement(into, index, self.line))
            return
        self.require_value(value, node)
        scalar = self.fit_scalar(value, into.dtype, "value", node)
        into = self.prepare_write(target.vector, node)
        self.emit(ir.SetElement(into, index, scalar, target.accum, self.line))

    def scatter(self, target: Target, value: Any, node: Any) -> None:
        """Execute `w(mask, accum, replace)[q] << value`."""
        indices = self.indices(target.index, node)
        into = self.slot_of(target.vector)
        source: ir.Slot | ir.Scalar
        if isinstance(value, VECTORS):
            found = self.term(value, node)
            if found.dim != indices.dim:
                with self.checks(node):
                    raise DimensionMismatch(
                        "the region assigned to has "
                        f"{describe((self.sizes[indices.dim.index],))}, but the value has "
                        f"{describe((self.sizes[found.dim.index],))}"
                    )
            source = self.materialize(found.term, found.dim)
        elif isinstance(value, NUMBERS) and not (isinstance(value, Typed) and not value.is_numpy):
            self.require_value(value, node)
            source = self.fit_scalar(value, into.dtype, "value", node)
        else:
            refuse(
                Reason.OPERATION, node, name="an assignment of this value by a Vector of indices"
            )
        mask = None
        if target.mask is not None:
            mask = self.lower_mask(target.mask, into.dim, node)
        into = self.prepare_write(target.vector, node)
        how = (mask, target.accum, target.replace)
        self.emit(ir.Scatter(into, indices, *how, source, self.line))

    def indices(self, x: Any, node: Any) -> ir.Slot:
        """Return a slot that stores a Vector of indices."""
        dtype = self.dtype_of(x, node)
        if not dtype.is_integer:
            text = f"index must be a Vector of integers, not of {dtype}"
            self.fails(node, "TypeError", text)
        return self.slot(x, node)

    def gather(self, x: Any, q: Any, node: Any) -> PendingVector:
        """Return p[q]."""
        indices = self.indices(q, node)
        return PendingVector(ir.Gather(self.slot(x, node), indices), indices.dim)

    def index(self, x: Any, node: Any) -> ir.Scalar:
        """Return the index of one element."""
        if isinstance(x, Number | OptionalNumber) and x.scalar.dtype is INT64:
            self.require_value(x, node)
            return x.scalar
        if isinstance(x, Typed) and x.dtype.is_integer:
            self.require_value(x, node)
            return x.scalar
        text = f"index must be an integer, slice or list of integers, not {self.kind(x)}"
        return self.fails(node, "TypeError", text)

    def element(self, x: Any, index: Any, node: Any) -> Typed:
        """Return the Scalar x[index]."""
        slot = self.slot(x, node)
        position = self.index(index, node)
        value = self.temporary(scalar_kind(slot.dtype))
        present = self.temporary(BOOL)
        self.emit(ir.ReadElement(value, present, slot, position, self.line))
        return Typed(value, present, slot.dtype, False)

    def count(self, x: Any, node: Any) -> Number:
        """Return x.nvals."""
        slot = self.slot(x, node)
        variable = self.temporary(INT64)
        self.emit(ir.Count(variable, slot, self.line))
        return Number(variable)

    def is_equal(self, a: Any, b: Any, check_dtype: bool, node: Any) -> Number:
        """Return a.isequal(b)."""
        if not isinstance(b, VECTORS):
            kind = self.kind(b)
            text = f"a Vector can be compared with another one, not with {kind}"
            self.fails(node, "TypeError", text)
        one, other = self.term(a, node), self.term(b, node)
        dtypes = one.term.dtype, other.term.dtype
        if one.dim != other.dim or (check_dtype and dtypes[0] is not dtypes[1]):
            return Number(FALSE)
        common = unify(*dtypes)
        if {each.kind for each in dtypes} == {"i", "u"} and common is FP64:
            name = f"a comparison of {dtypes[0]} with {dtypes[1]}"
            refuse(Reason.OPERATION, node, name=name)
        left, right = (
            self.materialize(
                x.term if x.term.dtype is common else ir.Cast(self.operand(x, node).term, common),
                x.dim,
            )
            for x in (one, other)
        )
        variable = self.temporary(BOOL)
        self.emit(ir.IsEqual(variable, left, right, self.line))
        return Number(variable)

    def clear(self, x: VectorObject, node: Any) -> None:
        """Execute x.clear()."""
        self.emit(ir.Clear(self.prepare_write(x, node), self.line))
