"""Print the code of vector statements, except for products.

Most statements are one region that changes its targets in place. If an expression reads other
elements of the target, its result is stored in a temporary slot before the target is written. If
the result replaces the whole target, the code then exchanges the temporary slot and the target.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from graphla.backends.cpu.loops import program as words
from graphla.program import ir
from graphla.program.numba_covers import (
    Choose,
    Update,
    find_covers,
    find_covers_of_mask,
    find_covers_of_updates,
    find_dim,
    find_gathers,
    find_operands,
)
from graphla.program.numba_operators import both, guard, indent, literal, numpy_name
from graphla.program.numba_products import print_matrix_reduction, print_product
from graphla.program.numba_regions import Region
from semirings.dtypes import BOOL, UINT64

if TYPE_CHECKING:
    from graphla.program.numba_text import Printer

MOST_UPDATES = 8
"""The largest number of updates that run as one region."""

# --- writes ---------------------------------------------------------------------------------------


def _print_write(printer: Printer, x: ir.Write) -> None:
    """Print a write that is not joined with other writes."""
    target, source, mask = x.target, x.source, x.mask
    printer.text.written.add(target.index)
    is_product = isinstance(source, (ir.Product, ir.MatrixReduction))
    if is_product or any(g.slot.index == target.index for g in find_gathers(source)):
        out = printer.temporary(source.dtype, target.dim)
        is_whole = x.accum is None and (mask is None or x.replace) and source.dtype is target.dtype
        replaced = target if is_whole else None
        if isinstance(source, ir.Product):
            print_product(printer, source, out, replaced, mask, x.line)
        elif isinstance(source, ir.MatrixReduction):
            print_matrix_reduction(printer, source, out, replaced, mask, x.line)
        else:
            _evaluate(printer, source, out, replaced, mask, x.line)
        if is_whole:
            return
        source = ir.Entry(out)
    print_updates(printer, [Update(target, mask, x.accum, x.replace, source, x.line)])


def _evaluate(
    printer: Printer,
    source: Any,
    out: ir.Slot,
    target: ir.Slot | None,
    mask: ir.Mask | None,
    line: int,
) -> None:
    """Print code that computes an expression in a temporary slot. If `target` is given, the code
    then exchanges the two slots."""
    _check_gathers(printer, source, line)
    allowed = [] if mask is None else find_covers_of_mask(mask)
    region = Region(printer, "gather", line, out.dim, find_covers(source) + allowed)
    has, value = region.emit(source)
    if mask is not None:
        has = both(region.mask(mask, "i"), has)
    region.result(out, has, value)
    if target is not None:
        region.fields[words.TARGET] = region.at(target)
    region.launch()


def _check_gathers(printer: Printer, source: Any, line: int) -> None:
    for gather in find_gathers(source):
        _check_indices(printer, gather.indices, gather.slot.dim, line)


def _check_indices(printer: Printer, indices: ir.Slot, dim: ir.Dim, line: int) -> None:
    region = Region(printer, "check", line, indices.dim, [], words.WHOLE)
    values, size = region.values(indices), region.size(dim)
    region.whole_body = [f"check_indices(w, at_{region.token(indices)}, {values}, n, {size})"]
    region.launch()


def join_updates(printer: Printer, instructions: list[ir.Instruction]) -> list[Update]:
    """Return the first instructions that can run as one region: see `print_updates`.

    The result is empty if the first instruction is not an update. An operand that may fault is
    evaluated before the region, so only the first update may have such an operand.
    """
    writes: list[Update] = []
    for x in instructions[:MOST_UPDATES]:
        if not isinstance(x, ir.Write) or isinstance(
            x.source, (ir.Product, ir.MatrixReduction, ir.Empty)
        ):
            break
        update = Update(x.target, x.mask, x.accum, x.replace, x.source, x.line)
        if find_gathers(x.source):
            break
        if writes:
            if x.target.dim != writes[0].target.dim or _may_fail(printer, x.source):
                break
            before, own = find_covers_of_updates(writes), find_covers_of_updates([update])
            joined = find_covers_of_updates([*writes, update])
            # Do not join a statement that visits only some indices with one that visits all.
            if joined is None or bool(joined) != bool(before) or bool(joined) != bool(own):
                break
        writes.append(update)
    return writes


def _may_fail(printer: Printer, x: Any) -> bool:
    """Return whether an operand of an expression may fault."""
    printer.may_fail = False
    for scalar, dtype in find_operands(x):
        printer.fit(scalar, dtype)
    return printer.may_fail


def print_updates(printer: Printer, writes: list[Update]) -> None:
    """Print writes that change slots in place. At each index they run one after another.

    The expressions and masks read each slot only at the index that is written.
    """
    first = writes[0]
    for x in writes:
        printer.text.written.add(x.target.index)
        _check_gathers(printer, x.source, x.line)
    if len(writes) == 1 and isinstance(first.source, ir.Empty) and first.mask is first.accum:
        printer.clear(first.target)
        return
    name = "_".join(dict.fromkeys(printer.slots[x.target.index] for x in writes))
    covers = find_covers_of_updates(writes) or []
    region = Region(printer, name, first.line, first.target.dim, covers)
    region.fields[words.FINISH] = words.UPDATE
    region.read_lines = [x.line for x in writes]
    region.targets = list({x.target.index: x.target for x in writes}.values())
    for k, target in enumerate(region.targets):
        if [x.target for x in writes].count(target) > 1:
            region.rewritten.add(k)
            if region.cover:
                # Record whether index i was listed at first: one update may remove the entry, and
                # the next update may add it again.
                region.body.append(f"listed{k} = {region.present(target)}[i]")
    for x in writes:
        region.body += _update_lines(region, x, region.targets.index(x.target))
    region.launch()


def _update_lines(region: Region, x: Update, k: int) -> list[str]:
    """Return the lines that update target number k of a region."""
    source, target, accum, operators = x.source, x.target, x.accum, region.operators
    values, present = region.values(target), region.present(target)
    has, value = region.emit(source)
    new = operators.cast(value, source.dtype, target.dtype)
    adds = [f"is_new = not {present}[i]", f"{values}[i] = {new}", f"{present}[i] = True"]
    if region.cover:
        adds += [f"if grows{k}:", f"    {region.list(target)}[end{k}] = np.int32(i)"]
        is_unlisted = f"not listed{k}" if k in region.rewritten else "is_new"
        adds.append(f"    end{k} += np.uint64({is_unlisted})")
        adds += [f"listed{k} = True"] if k in region.rewritten else []
    adds.append(f"added{k} += np.int64(is_new)")
    removes = [f"if {present}[i]:", f"    {present}[i] = False", f"    removed{k} += 1"]
    if accum is None:
        lines = guard(has, adds)
        if has != "True":
            lines = [*lines, "else:", *indent(removes)] if has != "False" else removes
    else:
        old = region.value(target, "i"), target.dtype
        joined = operators.binary(accum, old, (value, source.dtype))
        joined = operators.cast(joined, accum.return_type, target.dtype)
        lines = [f"if {present}[i]:", f"    {values}[i] = {joined}", "else:", *indent(adds)]
        lines = guard(has, lines)
    if x.mask is not None:
        lines = [f"if {region.mask(x.mask, 'i')}:", *indent(lines or ["pass"])]
        if x.replace:
            lines += ["else:", *indent(removes)]
    return lines


# --- scatters -------------------------------------------------------------------------------------


def _print_scatter(printer: Printer, x: ir.Scatter) -> None:
    target, indices, dtype, operators = x.target, x.indices, x.target.dtype, printer.operators
    u = x.source if isinstance(x.source, ir.Slot) else None
    # As in `expression.assign`, `joins` tells whether values with equal indices are combined. If
    # not, equal indices cause a fault.
    joins = x.accum is not None and x.accum.type is dtype and x.accum.monoid is not None
    if not joins and x.accum is not None:
        dtype = x.accum.type2
    if not joins and u is not None:
        dtype = u.dtype
    _check_indices(printer, indices, target.dim, x.line)
    out = printer.temporary(dtype, target.dim)
    cover = [frozenset((u.index,))] if u is not None and joins else []
    region = Region(printer, "scatter", x.line, indices.dim, cover, words.WHOLE)
    region.fields |= {words.FINISH: words.SCATTER, words.OUT: region.at(out)}
    region.head.append("removed = np.int64(0)")
    values, present, listed = region.values(out), region.present(out), region.list(out)
    if u is not None:
        has, value = region.emit(ir.Entry(u))
        value = operators.cast(value, u.dtype, dtype)
    else:
        scalar: Any = x.source
        has, value = "True", region.operand(scalar, dtype)
    region.body.append(f"o = wrap({region.values(indices)}[i], {region.size(target.dim)})")
    new = [f"    {listed}[np.uint64(added)] = np.int32(o)", "    added += 1"]
    new += [f"    {present}[o] = True", f"    {values}[o] = {value}"]
    flags = None
    if joins and x.accum is not None:
        old = region.value(out, "o"), dtype
        joined = operators.binary(x.accum, old, (value, dtype), "o")
        joined = operators.cast(joined, x.accum.return_type, dtype)
        lines = [f"if {present}[o]:", f"    {values}[o] = {joined}", "else:", *new]
    else:
        flags = printer.temporary(BOOL, target.dim, "flags")
        region.fields[words.SPARE] = region.at(flags)
        has_flag, flag_list = region.present(flags), region.list(flags)
        region.body += [
            f"if {has_flag}[o]:",
            "    w[FAULT], w[FAULT_A] = -1 - DUPLICATE, np.int64(o)",
            "    break",
            f"{has_flag}[o] = True",
            f"{flag_list}[np.uint64(removed)] = np.int32(o)",
            "removed += 1",
        ]
        lines = ["if True:", *new]
        printer.clear(flags)
    region.body += guard(has, lines)
    zero = printer.integer("0")
    region.ending = [f"store_counts(part, {zero}, added, removed, w)"]
    printer.clear(out)
    region.launch()
    source: Any = ir.Entry(out)
    if flags is not None and x.accum is None:
        source = Choose(flags, out, target, target.dtype)
    print_updates(printer, [Update(target, x.mask, x.accum, x.replace, source, x.line)])


# --- reductions -----------------------------------------------------------------------------------


def _print_is_equal(printer: Printer, x: ir.IsEqual) -> None:
    left, right = x.left, x.right
    region = Region(printer, "compare", x.line, left.dim, [frozenset((left.index,))])
    region.fields[words.FINISH] = words.COUNT
    has_left, has_right = region.present(left), region.present(right)
    u, v = region.values(left), region.values(right)
    region.body = [
        f"if {has_left}[i] != {has_right}[i] or ({has_left}[i] and {u}[i] != {v}[i]):",
        "    added += 1",
        "    break",
    ]
    region.launch()
    nvals = f"{printer.count(left)} == {printer.count(right)}"
    printer.say(f"{printer.store(x.variable)} = {nvals} and w[TOTAL] == 0")


def _print_reduce(printer: Printer, x: ir.Reduce) -> None:
    _check_gathers(printer, x.source, x.line)
    monoid, dtype = x.monoid, x.monoid.type
    identity = 0 if monoid.is_any or monoid.identity is None else monoid.identity
    start = literal(identity, dtype)
    dim, cover = find_dim(x.source), find_covers(x.source)
    region = Region(printer, "reduce", x.line, dim, cover, words.BY_STRETCHES)
    has, value = region.emit(x.source)
    value = region.operators.cast(value, x.source.dtype, dtype)
    add = region.operators.call(monoid.binaryop, ("total", dtype), ("v", dtype))
    add = [f"v = {value}", f"total = {add} if found else v", "found = True"]
    region.body += guard(has, add)
    if monoid.is_any:
        region.body += ["if found:", "    break"]
    elif monoid.terminal is not None and not dtype.is_float:
        stop = literal(monoid.terminal, dtype)
        region.body += [f"if found and total == {stop}:", "    break"]
    region.totals = dtype, start
    array, place = ("r", "REAL_TOTAL") if dtype.is_float else ("w", "TOTAL")
    kind = "np.float64" if dtype.is_float else "np.int64"
    fold = [
        "count = (w[SIZE] + np.int64(STRETCH) - 1) // np.int64(STRETCH)",
        f"totals = view(w[PARTIALS], count, {numpy_name(dtype)})",
        "has_total = view(w[HAS_PARTIAL], count, np.bool_)",
        f"found, total = False, {start}",
        "for s in range(count):",
        "    if has_total[s]:",
        f"        v = totals[s]{' != 0' if dtype is BOOL else ''}",
        *indent(indent(add[1:])),
        f"w[FOUND], {array}[{place}] = found, {kind}(total)",
        "return GOES_ON",
    ]
    region.fields |= {words.FINISH: words.REDUCTION}
    region.fields[words.FOLD] = printer.add_function("fold", fold, [], [])
    region.launch()
    total = f"{array}[{place}]"
    printer.may_fail = False
    if dtype is UINT64:
        printer.say(f"signed_new = signed(w, np.uint64({total}))")
        printer.check_fault(x.line)
        total = "signed_new"
    printer.say(f"{printer.store(x.variable)} = {total}")
    if x.is_present is not None:
        printer.say(f"{printer.store(x.is_present)} = w[FOUND]")


# --- single entries -------------------------------------------------------------------------------


def _find_index(printer: Printer, slot: ir.Slot, index: ir.Scalar, line: int) -> None:
    """Set the variable `i` to a valid index."""
    (text,) = printer.scalars([index], line)
    printer.say(f"i = position(w, np.int64({text}), {printer.dim(slot.dim)})")
    printer.check_fault(line)


def _print_read_element(printer: Printer, x: ir.ReadElement) -> None:
    _find_index(printer, x.slot, x.index, x.line)
    printer.say(f"found = {printer.present(x.slot)}[i] != 0")
    printer.may_fail = False
    value = printer.python(f"{printer.values(x.slot)}[i]", x.slot.dtype)
    zero = {"b": "False", "f": "0.0"}.get(x.slot.dtype.kind, "0")
    new = printer.fresh()
    printer.say(f"{new} = {value} if found else {zero}")
    if printer.may_fail:
        printer.check_fault(x.line)
    printer.say(f"{printer.store(x.variable)}, {printer.store(x.is_present)} = {new}, found")


def _print_set_element(printer: Printer, x: ir.SetElement) -> None:
    slot, dtype, operators = x.target, x.target.dtype, printer.operators
    printer.text.written.add(slot.index)
    printer.may_fail = False
    operand = dtype if x.accum is None else x.accum.type2
    value, number = printer.fit(x.value, operand), printer.fresh()
    printer.say(f"{number} = {value}")
    if printer.may_fail:
        printer.check_fault(x.line)
    _find_index(printer, slot, x.index, x.line)
    new = operators.cast(number, operand, dtype)
    values = printer.values(slot)
    if x.accum is not None:
        old = f"({values}[i] != 0)" if dtype is BOOL else f"{values}[i]"
        joined = operators.binary(x.accum, (old, dtype), (number, operand))
        joined = operators.cast(joined, x.accum.return_type, dtype)
        new = f"{joined} if {printer.present(slot)}[i] else {new}"
    printer.say(f"{values}[i] = {new}")
    printer.say(f"insert(w, {printer.place(slot)}, i, {printer.dim(slot.dim)})")


def _print_delete_element(printer: Printer, x: ir.DeleteElement) -> None:
    printer.text.written.add(x.target.index)
    _find_index(printer, x.target, x.index, x.line)
    printer.say(f"remove(w, {printer.place(x.target)}, i, {printer.dim(x.target.dim)})")


# --- whole vectors and stacks ---------------------------------------------------------------------


def _print_clear(printer: Printer, x: ir.Clear) -> None:
    printer.text.written.add(x.slot.index)
    printer.clear(x.slot)


def _print_move(printer: Printer, x: ir.Move) -> None:
    """Exchange pairs of slots until each slot stores what it should."""
    # Maps the index of each slot to the slot whose original contents it stores now.
    stored = {slot.index: slot for slot in x.targets}
    for target, source in zip(x.targets, x.sources, strict=True):
        printer.text.written.add(target.index)
        holder = next(slot for slot in x.targets if stored[slot.index].index == source.index)
        if holder.index != target.index:
            printer.say(f"exchange(w, {printer.place(target)}, {printer.place(holder)})")
            stored[holder.index], stored[target.index] = stored[target.index], source


def _print_item(printer: Printer, function: str, x: ir.Append | ir.Pop | ir.Peek) -> None:
    """Print a region that copies a slot's entries to a stack, or a stack's item to a slot."""
    region = Region(printer, function, x.line, x.slot.dim, [], words.WHOLE)
    stack = region.define("stack", region.place(printer.text.stacks[x.stack.index]))
    dtype, values = numpy_name(x.stack.dtype), region.values(x.slot)
    region.define("items", f"array(w, {stack}, STACK_VALUES, w[{stack} + ROOM], {dtype})")
    call = f"{function}({stack}, at_{region.token(x.slot)}, n, {values}, items, w, r)"
    region.whole_body = [f"return {call}"]
    region.launch()


def _print_append(printer: Printer, x: ir.Append) -> None:
    _print_item(printer, "append_item", x)


def _print_pop(printer: Printer, x: ir.Pop) -> None:
    _print_item_of(printer, x, "-1")
    printer.say(f"remove_item(w, {printer.stack(x.stack)}, w[ITEM])")


def _print_peek(printer: Printer, x: ir.Peek) -> None:
    (index,) = printer.scalars([x.index], x.line)
    _print_item_of(printer, x, index)


def _print_item_of(printer: Printer, x: ir.Pop | ir.Peek, index: str) -> None:
    """Print lines that copy an item of a stack to a slot."""
    printer.text.written.add(x.slot.index)
    printer.say(f"w[ITEM] = find_item(w, {printer.stack(x.stack)}, np.int64({index}))")
    printer.check_fault(x.line)
    _print_item(printer, "read_item", x)


def _print_clear_stack(printer: Printer, x: ir.ClearStack) -> None:
    printer.say(f"remove_item(w, {printer.stack(x.stack)}, np.int64(0))")


PRINT: dict[type, Callable[[Printer, Any], None]] = {
    ir.Write: _print_write,
    ir.Scatter: _print_scatter,
    ir.Reduce: _print_reduce,
    ir.IsEqual: _print_is_equal,
    ir.ReadElement: _print_read_element,
    ir.SetElement: _print_set_element,
    ir.DeleteElement: _print_delete_element,
    ir.Clear: _print_clear,
    ir.Move: _print_move,
    ir.Append: _print_append,
    ir.Pop: _print_pop,
    ir.Peek: _print_peek,
    ir.ClearStack: _print_clear_stack,
}
"""The function that prints each kind of statement on vectors."""
