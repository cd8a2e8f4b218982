"""Print the products of a plan as CUDA code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from graphla.program import ir
from graphla.program.cuda_code import convert
from graphla.program.cuda_layout import FormKey, FormType, form_keys
from graphla.program.patterns import reads_values
from graphla.program.plan_steps import Multiply
from semirings.dtypes import BOOL

if TYPE_CHECKING:
    from graphla.program.cuda_text import Printer


@dataclass(frozen=True)
class Product:
    """The C++ types of a product. Two products with equal types share their code."""

    op: str
    kept: str
    held: str
    u: str
    mask: str
    queueing: str
    is_preset: str
    forms: tuple[FormType, FormType]


def product_of(printer: Printer, step: Multiply) -> Product:
    """Return the C++ types for the product of a step."""
    product = step.product
    rows, columns = (printer.options.forms[key] for key in form_keys(product))
    reads_a, reads_u = reads_values(product)
    held = "IN_FULL" if product.u in step.full else "IN_BITMAP"
    if form_keys(product)[0] in printer.options.hubs:
        held = "WITH_HUBS"
    key = _queue_form(printer, step)
    op = printer.operators.product(product)
    if reads_u and step.terms.reads_index:
        op, reads_u = f"OfIndex<{op}, {product.u.dtype.c_type}>", False
    return Product(
        f"FirstTerm<{op}>" if step.terms.first_is_result else op,
        f"{rows.kept if reads_a else 'UNREAD'}, {'EACH' if reads_u else 'UNREAD'}",
        held,
        product.u.dtype.c_type,
        printer.operators.mask(*_mask(printer, step.mask)[:2]),
        f"WithQueue<{printer.options.forms[key].offset}>" if key else "WithoutQueue",
        "true" if step.out in printer.plan.presets else "false",
        (rows, columns),
    )


def print_product(printer: Printer, step: Multiply) -> None:
    """Print code that computes a product."""
    out, product, kind = printer.out, step.product, product_of(printer, step)
    rows, columns = map(printer.form, form_keys(product))
    u, n = printer.name(product.u), printer.size(step.out.dim)
    out(f"const {kind.mask} allowed{{{', '.join(_mask(printer, step.mask)[2])}}};")
    key = _queue_form(printer, step)
    out(f"const {kind.queueing} queueing{{{f'{printer.form(key)}.indptr' if key else ''}}};")
    is_ordered = printer.options.is_deterministic and product.semiring.monoid.type.is_float
    # A push of a full vector reads all entries, as a pull does, and also needs atomics.
    is_whole = step.mask is None and product.u in step.full
    direction = printer.options.direction
    if is_ordered or (is_whole and direction == "auto"):
        direction = "pull"
    choice = f"should_push<{kind.op}>({columns}, {u}, {n}, {_most(printer, step.mask, n)})"
    choice = {"auto": choice, "push": "true", "pull": "false"}[direction]
    out(f"const bool pushes = {choice};")
    out(f"machine.note(pushes, {u}, u64({rows}.entries));")
    given = f"slots, {printer.place(product.u)}, {printer.place(step.out)}, allowed, queueing"
    given += ", machine.product_call(room)"
    way = "called_" if kind in printer.shared else ""
    how = f"{kind.op}, {kind.kept}"
    push = f"{way}push<{how}, {kind.is_preset}, {kind.u}>"
    pull = f"{way}pull<{how}, {kind.held}, {kind.u}>"
    if printer.is_in_parts:
        pairs = (("pull", pull), ("push", push))
        for (name, function), form in zip(pairs, kind.forms, strict=True):
            if direction in ("auto", name):
                pointer = f"const ProductForm<{form.offset}, {form.values}> *"
                types = f"{pointer}, const u64 *, u32, u32, {kind.mask}, {kind.queueing}"
                printer.product_parts[f"__device__ u32 {function}({types}, ProductCall)"] = None
    push = f"machine.follow({push}(&{columns}, {given}));"
    pull = f"machine.follow({pull}(&{rows}, {given}));"
    if direction == "auto":
        out(f"if (pushes) {push}")
        out(f"else {pull}")
    else:
        out(push if direction == "push" else pull)


def _mask(printer: Printer, mask: ir.Mask | None) -> tuple[str, tuple[str, ...], list[str]]:
    """Return a C++ expression that reads from memory whether a mask selects position i.

    Also return the declarations of the fields that the expression reads, and the values of
    these fields.
    """
    if mask is None:
        return "true", (), []
    fields: list[str] = []
    values: list[str] = []

    def read(value: str, kind: str) -> str:
        if value not in values:
            fields.append(f"const {kind} *at_{len(fields)}")
            values.append(value)
        return f"at_{values.index(value)}[i]"

    def test(mask: ir.Mask) -> str:
        if isinstance(mask, ir.MaskOf):
            slot, dtype = printer.name(mask.slot), mask.slot.dtype
            flag = read(f"{slot}.present", "bool")
            if mask.slot in printer.plan.growing and not mask.by_value:
                also = read(f"flags_at(slots, {printer.also(mask.slot)})", "bool")
                return f"(load_cached(&{flag}) | {also})"
            if not mask.by_value:
                return flag
            return f"({flag} && {convert(BOOL, read(f'{slot}.values', dtype.c_type), dtype)})"
        if isinstance(mask, ir.NotMask):
            return f"!{test(mask.mask)}"
        sign = "&&" if isinstance(mask, ir.AndMask) else "||"
        return f"({test(mask.left)} {sign} {test(mask.right)})"

    only = mask.mask if isinstance(mask, ir.NotMask) else mask
    if not isinstance(only, ir.MaskOf) or only.by_value:
        return test(mask), tuple(fields), values
    # The mask `u.S` of a slot u and its complement `~u.S` use the same struct, so that products
    # under either of them share their code.
    condition = f"bool({test(only)}) != is_complement"
    if printer.plan.growing and only.slot not in printer.plan.growing:
        fields.append("const bool *at_1")
        values.append(values[0])
        condition = "bool((load_cached(&at_0[i]) | at_1[i])) != is_complement"
    is_complement = "true" if only is not mask else "false"
    return condition, (*fields, "bool is_complement"), [*values, is_complement]


def _most(printer: Printer, mask: ir.Mask | None, n: str) -> str:
    """Return a C++ expression for an upper bound on the number of positions in a mask.

    If sweeps are still adding entries to a vector, the result is an estimate.
    """
    if isinstance(mask, ir.MaskOf):
        count = f"entries_of({printer.name(mask.slot)})"
        if mask.slot in printer.plan.growing:
            most = f"{printer.also(mask.slot)}most"
            count = f"({most} < 0 ? {count} : least({n}, {most}))"
        return count
    if isinstance(mask, ir.NotMask):
        inner = mask.mask
        if isinstance(inner, ir.MaskOf) and not inner.by_value:
            return f"({n} - {_most(printer, inner, n)})"
        if isinstance(inner, ir.OrMask):
            left, right = ir.NotMask(inner.left), ir.NotMask(inner.right)
            return f"least({_most(printer, left, n)}, {_most(printer, right, n)})"
        return n
    if isinstance(mask, ir.AndMask):
        return f"least({_most(printer, mask.left, n)}, {_most(printer, mask.right, n)})"
    if isinstance(mask, ir.OrMask):
        return f"least({n}, {_most(printer, mask.left, n)} + {_most(printer, mask.right, n)})"
    return n


def _queue_form(printer: Printer, step: Multiply) -> FormKey | None:
    """Return the matrix form whose row lengths are the degrees of a product's outputs, or None if
    the output slot has no queue."""
    if step.out not in printer.plan.queued:
        return None
    if step.out in printer.plan.pushing:
        return form_keys(printer.plan.pushing[step.out])[1]
    return form_keys(step.product)[0]  # each row or column of this form is an output
