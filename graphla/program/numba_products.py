"""Print matrix-vector products: a region that pushes, one that pulls, and the choice between
them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from graphla.backends.cpu.loops import program as words
from graphla.program import ir
from graphla.program.numba_covers import find_covers_of_mask
from graphla.program.numba_operators import guard, indent, literal
from graphla.program.numba_regions import Region

if TYPE_CHECKING:
    from graphla.program.numba_text import Printer

ROW = "for p in range(np.uint64(indptr[i]), np.uint64(indptr[i + ONE])):"
"""The first line of a loop over the entries of row i."""


def print_product(
    printer: Printer,
    x: ir.Product,
    out: ir.Slot,
    target: ir.Slot | None,
    mask: ir.Mask | None,
    line: int,
) -> None:
    """Print code that computes a product in the temporary slot `out`. If `target` is given, the
    code then exchanges the two slots."""
    # An output is a row of CSR (form 0) or of CSC (form 1).
    pull, push = (0, 1) if (x.side == "mxv") != x.is_transposed else (1, 0)
    text, monoid = printer.text, x.semiring.monoid
    matrix = text.matrices[x.matrix.index]
    stops = monoid.is_any or (monoid.type.kind == "b" and monoid.terminal is not None)
    statements = []
    for region in (
        _push(printer, x, push, out, mask, line),
        _pull(printer, x, pull, out, mask, line),
    ):
        region.fields[words.OUT] = text.slots[out.index]
        region.fields[words.TARGET] = -1 if target is None else text.slots[target.index]
        statements.append(region.record())
    fields = {
        words.U: text.slots[x.u.index],
        words.U_DIM: text.dims + x.u.dim.index,
        words.OUT_DIM: text.dims + out.dim.index,
        words.MATRIX: matrix,
        words.PUSH_FORM: matrix + push * words.FORM_FIELDS,
        words.PULL_FORM: matrix + pull * words.FORM_FIELDS,
        words.PUSHING: statements[0],
        words.PULLING: statements[1],
        words.STOPS: int(stops),
        words.IS_FLOAT: int(monoid.type.is_float),
        words.IS_WIDE: int(printer.offsets[x.matrix.index][push] == "int64"),
    }
    product = printer.constant([fields[k] for k in range(words.PRODUCT_FIELDS)])
    size = printer.dim(out.dim)
    allowed = size if mask is None else _count_allowed(printer, mask, size)
    printer.begin_segment()
    printer.say(f"w[ALLOWED] = {allowed}")
    printer.call("MULTIPLY", product)


def _count_allowed(printer: Printer, mask: ir.Mask, size: str) -> str:
    """Return an expression for the number of indices that a mask allows, or an estimate."""
    if isinstance(mask, ir.MaskOf):
        return printer.count(mask.slot)
    if isinstance(mask, ir.NotMask):
        return f"({size} - {_count_allowed(printer, mask.mask, size)})"
    left = _count_allowed(printer, mask.left, size)
    right = _count_allowed(printer, mask.right, size)
    if isinstance(mask, ir.AndMask):
        return f"smaller({left}, {right})"
    return f"smaller({left} + {right}, {size})"


def _term(x: ir.Product, region: Region, o: str) -> str:
    """Return an expression for the product of matrix entry p and the entry k of u."""
    op = x.semiring.binaryop
    # If the operator is commutative, products with the matrix on either side are printed in the
    # same way, so that they share a region.
    matrix_first = x.side == "mxv" or op.commutes_to is op
    is_read = (op.reads_x, op.reads_y) if matrix_first else (op.reads_y, op.reads_x)
    first = (region.weight(x.matrix), x.matrix.dtype) if is_read[0] else ("0", None)
    second = (region.value(x.u, "k"), x.u.dtype) if is_read[1] else ("0", None)
    zero = ("0", None)
    places = ((o, None), ("k", None)), (("k", None), zero)
    if not matrix_first:
        first, second = second, first
        places = (zero, ("k", None)), (("k", None), (o, None))
    if op.is_positional:
        call = region.operators.call(op, first, *places[0], second, *places[1])
    else:
        call = region.operators.call(op, first, second)
    return region.operators.cast(call, op.return_type, x.semiring.monoid.type)


def _push(printer: Printer, x: ir.Product, form: int, out: ir.Slot, mask: Any, line: int) -> Region:
    """Add the products of each entry of u to the outputs."""
    u, monoid, dtype = x.u, x.semiring.monoid, x.semiring.monoid.type
    region = Region(printer, "push", line, out.dim, [], words.BY_OUTPUTS)
    region.fields |= {words.FINISH: words.LISTED_RESULT, words.CLEARS: 1}
    region.fields |= {words.WORK: words.EDGES, words.SPARE: region.at(u)}
    region.pushed = u.index
    region.matrix(x.matrix, form)
    listed_u = region.list(u)
    term = _term(x, region, "o")
    values, present, listed = region.values(out), region.present(out), region.list(out)
    allowed = "True" if mask is None else region.mask(mask, "o")
    if monoid.is_any:
        # To avoid a branch, the loop writes every value: it may overwrite an output's earlier
        # value, and it may write to an output that the mask forbids, whose value is never read.
        lines = [
            f"allowed = {allowed}",
            f"is_new = allowed & (not {present}[o])",
            f"{values}[o] = {term}",
            f"{present}[o] |= allowed",
            f"{listed}[end if is_new else np.uint64(n)] = np.int32(o)",
            "end += np.uint64(is_new)",
        ]
        if mask is None:
            lines[0:2] = [f"is_new = not {present}[o]"]
            lines[2] = f"{present}[o] = True"
    else:
        add = region.operators.call(monoid.binaryop, (region.value(out, "o"), dtype), ("v", dtype))
        lines = [
            f"v = {term}",
            f"if {present}[o]:",
            f"    {values}[o] = {add}",
            "else:",
            f"    {present}[o] = True",
            f"    {values}[o] = v",
            f"    {listed}[end] = np.int32(o)",
            "    end += ONE",
        ]
        lines = guard(allowed, lines)
    region.whole_body = [
        "end = np.uint64(first)",
        f"for t in range(np.uint64(w[at_{region.token(u)} + LENGTH])):",
        f"    k = np.uint64({listed_u}[t])",
        "    begin, stop = np.uint64(indptr[k]), np.uint64(indptr[k + ONE])",
        "    if first > 0:",
        "        begin = bisect(indices, begin, stop, np.uint64(first))",
        "    if last < n:",
        "        stop = bisect(indices, begin, stop, np.uint64(last))",
        "    for p in range(begin, stop):",
        "        o = np.uint64(indices[p])",
        *indent(indent(lines)),
        "added = np.int64(end) - first",
        *region.counts(),
    ]
    return region


def _pull(printer: Printer, x: ir.Product, form: int, out: ir.Slot, mask: Any, line: int) -> Region:
    """Sum the products of each row of the matrix that the mask allows."""
    u, monoid, dtype = x.u, x.semiring.monoid, x.semiring.monoid.type
    cover = [] if mask is None else find_covers_of_mask(mask)
    region = Region(printer, "pull", line, out.dim, cover, words.BY_ROWS)
    region.fields[words.WORK] = printer.text.matrices[x.matrix.index] + words.ENTRIES_OF
    region.matrix(x.matrix, form)
    has_u = region.present(u)
    op = x.semiring.binaryop
    term = _term(x, region, "i")
    reads_matrix = op.reads_x if x.side == "mxv" else op.reads_y
    if monoid.is_any and not cover and (x.matrix.is_iso or not reads_matrix):
        printer.text.firsts.add((x.matrix.index, form))
        _pull_any(x, out, region, term, "" if mask is None else f" & {region.mask(mask, 'i')}")
        return region
    identity = 0 if monoid.is_any or monoid.identity is None else monoid.identity
    has_identity = not monoid.is_any and monoid.identity is not None
    add = region.operators.call(monoid.binaryop, ("total", dtype), ("v", dtype))
    if not monoid.is_any and not has_identity:
        add = f"{add} if found else v"
    ends = []
    if monoid.is_any:
        ends = ["break"]
    elif monoid.terminal is not None and not dtype.is_float:
        ends = [f"if total == {literal(monoid.terminal, dtype)}:", "    break"]
    inner = [f"v = {term}", "total = v" if monoid.is_any else f"total = {add}", "found = True"]
    inner += ends
    lines = [
        "if w[COVERS] != 0:",
        f"    {ROW}",
        "        k = np.uint64(indices[p])",
        *indent(indent(inner)),
        "else:",
        f"    {ROW}",
        "        k = np.uint64(indices[p])",
        f"        if {has_u}[k]:",
        *indent(indent(indent(inner))),
    ]
    region.body += [f"found, total = False, {literal(identity, dtype)}"]
    region.body += guard("True" if mask is None else region.mask(mask, "i"), lines)
    region.result(out, "found", "total")
    return region


def _pull_any(x: ir.Product, out: ir.Slot, region: Region, term: str, allowed: str) -> None:
    """Print a pull that needs only one product for each output.

    The loop processes blocks of rows. First it lists the rows that the mask allows. Then it reads
    one column of each, which is enough for most rows. These steps have no branch, so that memory
    accesses overlap. Finally, it searches the other rows. To avoid a branch, the second step also
    writes the indices of rows without a result to the list of the output, but always to the list's
    last element, which is spare.
    """
    values, present, has_u = region.values(out), region.present(out), region.present(x.u)
    listed = region.list(out)
    region.define("firsts", "array(w, form, FIRSTS, n, np.int32)")
    region.whole_body = [
        "rest = rest_of(part, w)",
        "end, spare = np.uint64(first), np.uint64(n)",
        "for begin in range(np.uint64(first), np.uint64(last), BLOCK):",
        "    stop = begin + BLOCK if begin + BLOCK < np.uint64(last) else np.uint64(last)",
        "    size, left = np.uint64(0), np.uint64(0)",
        "    for i in range(begin, stop):",
        "        rest[size] = np.int32(i)",
        f"        size += np.uint64((firsts[i] >= 0){allowed})",
        "    for t in range(size):",
        "        i = np.uint64(rest[t])",
        "        k = np.uint64(firsts[i])",
        f"        found = {has_u}[k]",
        f"        {values}[i] = {term}",
        f"        {present}[i] = found",
        f"        {listed}[end if found else spare] = np.int32(i)",
        "        end += np.uint64(found)",
        "        rest[left] = np.int32(i)",
        "        left += np.uint64(not found)",
        "    for t in range(left):",
        "        i = np.uint64(rest[t])",
        f"        {ROW}",
        "            k = np.uint64(indices[p])",
        f"            if {has_u}[k]:",
        f"                {values}[i] = {term}",
        f"                {present}[i] = True",
        f"                {listed}[end] = np.int32(i)",
        "                end += ONE",
        "                break",
        "added = np.int64(end) - first",
        *region.counts(),
    ]
    region.fields |= {words.DIVISION: words.BY_INDICES, words.WORK: words.ALLOWED}
    region.fields |= {words.FINISH: words.LISTED_RESULT, words.CLEARS: 1}


def print_matrix_reduction(
    printer: Printer,
    x: ir.MatrixReduction,
    out: ir.Slot,
    target: ir.Slot | None,
    mask: ir.Mask | None,
    line: int,
) -> None:
    """Print code that reduces the rows of a matrix into a temporary slot, as `print_product` does
    for a product."""
    monoid, dtype = x.monoid, x.monoid.type
    cover = [] if mask is None else find_covers_of_mask(mask)
    region = Region(printer, "rows", line, out.dim, cover, words.BY_ROWS)
    region.matrix(x.matrix, int(x.is_transposed))
    region.fields[words.WORK] = printer.text.matrices[x.matrix.index] + words.ENTRIES_OF
    value = region.operators.cast(region.weight(x.matrix), x.matrix.dtype, dtype)
    add = region.operators.call(monoid.binaryop, ("total", dtype), ("v", dtype))
    lines = [
        ROW,
        f"    v = {value}",
        f"    total = {add} if found else v",
        "    found = True",
        *(["    break"] if monoid.is_any else []),
    ]
    region.body += [f"found, total = False, {literal(0, dtype)}"]
    region.body += guard("True" if mask is None else region.mask(mask, "i"), lines)
    region.result(out, "found", "total")
    if target is not None:
        region.fields[words.TARGET] = printer.text.slots[target.index]
    region.launch()
