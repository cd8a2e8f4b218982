"""C⟨M⟩ = A ⊕.⊗ B, computed only at the entries of M.

There are two methods: one dot product per entry of M, or a product by rows of B. The GPU first
counts the steps of both methods, and then the method with fewer steps is used.

Kernels: spgemm_plan.cu, spgemm_dot.cu, spgemm_masked.cu.

The host waits once for the number of steps. If B is transposed for dot products, the host waits a
second time. Finally the host waits for the number of entries of the result.
"""

from __future__ import annotations

from dataclasses import dataclass

import cupy as xp

from graphla.backends.cuda.launch import BLOCK, WARP, blocks, csr, size, tiles, to_numbers
from graphla.backends.cuda.select import keep
from graphla.backends.cuda.spgemm_terms import Terms, terms_of
from graphla.backends.cuda.transpose import transpose
from graphla.backends.tuning import current
from graphla.compilers.cuda import NOTHING, load
from graphla.formats import Array, Csr
from semirings.structures import TypedSemiring


@dataclass(frozen=True)
class SpgemmMaskedTuning:
    """The sizes of tiles and tables, and the costs of the two methods.

    The kernels read the first two fields.
    """

    warps: int = 4
    """Number of warps per block."""
    rows_tile: int = 512
    """Maximum number of entries of the pattern in a tile, for a product by rows of B."""
    dot_tile: int = 256
    """Maximum number of entries of the pattern in a tile, for dot products."""
    table_bits: int = 10
    """log2 of the number of slots in a hash table. A row of A that fills at most half of the table
    is hashed; a longer row is searched. With 11 instead of 10, counting the triangles of a
    Kronecker graph of scale 18 took 1.2 times as long, because half as many warps fit on a
    multiprocessor."""
    tiles: int = 1 << 14
    """Number of tiles needed to keep a large GPU busy. If there would be fewer tiles than this,
    shorter tiles are used."""
    transposing: int = 32
    """The cost of transposing B for dot products, as a number of steps per entry of B."""
    per_entry: int = 16
    """The assumed minimum number of steps of a dot product."""
    few: int = 1 << 10
    """If A, B and the pattern have at most this many entries each, the steps are not counted.

    Counting the steps would take longer than a product of such small matrices by either method.
    """


TUNING = SpgemmMaskedTuning()


def product(
    a: Csr, b: Csr | None, semiring: TypedSemiring, pattern: Csr, bt: Csr | None
) -> Csr | None:
    """Return the product of A and B at the entries of `pattern`.

    `b` is B in CSR, or None if only `bt`, the transpose of B, is available. In the latter case,
    return None if a product by rows of B would take fewer steps than dot products.
    """
    tuning = current(TUNING)
    if b is None:
        assert bt is not None
        dots = _dot_steps(a, bt, pattern)
        is_expensive = dots > tuning.per_entry * (a.nvals + bt.nvals)
        if is_expensive and dots > 2 * _all_terms(a, bt) + tuning.transposing * bt.nvals:
            return None
        return _at_pattern("dots", a, bt, semiring, pattern)
    if max(a.nvals, b.nvals, pattern.nvals) <= tuning.few:
        return _at_pattern("rows" if bt is None else "dots", a, bt or b, semiring, pattern)
    rows, dots = _steps(a, b, pattern, bt)
    if bt is None:
        price = tuning.transposing * b.nvals
        if rows <= price + tuning.per_entry * pattern.nvals:
            return _at_pattern("rows", a, b, semiring, pattern)
        bt = transpose(b)
        dots = _dot_steps(a, bt, pattern)
    if dots < rows:
        return _at_pattern("dots", a, bt, semiring, pattern)
    return _at_pattern("rows", a, b, semiring, pattern)


# --- counting steps -----------------------------------------------------------------------------


def _steps(a: Csr, b: Csr, pattern: Csr, bt: Csr | None) -> tuple[int, int]:
    """Return the number of steps of the product by rows of B, and the number of steps of all dot
    products.

    If `bt` (the transpose of B) is None, the steps of the dot products are not counted, and the
    second number is 0.
    """
    steps = xp.zeros(2, xp.uint64)
    _count_row_steps(a, b, pattern, steps[:1])
    if bt is not None:
        _count_dot_steps(a, bt, pattern, steps[1:])
    rows, dots = to_numbers(steps)
    return rows, dots


def _dot_steps(a: Csr, bt: Csr, pattern: Csr) -> int:
    steps = xp.zeros(1, xp.uint64)
    _count_dot_steps(a, bt, pattern, steps)
    return to_numbers(steps)[0]


def _count_dot_steps(a: Csr, bt: Csr, pattern: Csr, steps: Array) -> None:
    parts = (pattern.indptr.dtype, a.indptr.dtype, bt.indptr.dtype)
    kernel = load("spgemm_plan.cu", "count_dot_steps", NOTHING, *parts)
    kernel(
        tiles(pattern.nvals),
        BLOCK,
        *(pattern.indptr, size(pattern.nrows), pattern.indices, size(pattern.nvals)),
        *(a.indptr, bt.indptr, steps),
    )


def _count_row_steps(a: Csr, b: Csr, pattern: Csr, steps: Array) -> None:
    parts = (pattern.indptr.dtype, a.indptr.dtype, b.indptr.dtype)
    kernel = load("spgemm_plan.cu", "count_row_steps", NOTHING, *parts)
    kernel(
        tiles(a.nvals),
        BLOCK,
        *(a.indptr, size(a.nrows), a.indices, size(a.nvals)),
        *(b.indptr, pattern.indptr, size(current(TUNING).rows_tile), steps),
    )


def _all_terms(a: Csr, bt: Csr) -> int:
    """Return the number of terms of the product A B without a mask, where `bt` is Bᵗ.

    For each k, the number of entries in column k of A, times the number of entries in column k of
    Bᵗ, is added to the result.
    """
    in_a = _in_columns(a)
    in_b = in_a if bt.indices is a.indices else _in_columns(bt)
    total = xp.zeros(1, xp.uint64)
    kernel = load("spgemm_plan.cu", "add_products", NOTHING)
    kernel(blocks(a.ncols), BLOCK, in_a, in_b, size(a.ncols), total)
    return to_numbers(total)[0]


def _in_columns(a: Csr) -> Array:
    """Return the number of entries in each column of a matrix."""
    counts = xp.zeros(a.ncols, xp.int32)
    kernel = load("spgemm_plan.cu", "count_in_columns", NOTHING)
    kernel(blocks(a.nvals), BLOCK, a.indices, size(a.nvals), counts)
    return counts


# --- the products -------------------------------------------------------------------------------


def _at_pattern(way: str, a: Csr, b: Csr, semiring: TypedSemiring, pattern: Csr) -> Csr:
    """Return the product of A and B at those entries of the pattern that have a term.

    If `way` is "dots", `b` is the transpose of B, and the kernel computes dot products. Otherwise
    `b` is B, and the kernel reads the rows of B.
    """
    terms = terms_of(a, b, semiring)
    sums = terms.room(pattern.nvals, is_filled=False)
    present = xp.zeros(pattern.nvals, bool)
    _launch(way, a, b, terms, pattern, sums, present)
    ncols = b.nrows if way == "dots" else b.ncols
    values = terms.values(sums, pattern.nvals)
    return keep(Csr(a.nrows, ncols, pattern.indptr, pattern.indices, values), present)


def _launch(
    way: str, a: Csr, b: Csr, terms: Terms, pattern: Csr, sums: Array, present: Array
) -> None:
    tuning = current(TUNING)
    (x, *x_type), (y, *y_type) = terms.x, terms.y
    parts = (a.indptr.dtype, *x_type, b.indptr.dtype, *y_type, pattern.indptr.dtype)
    if way == "dots":
        most, file, name = tuning.dot_tile, "spgemm_dot.cu", "dot_products"
        parts = (*parts, tuning.table_bits)
    else:
        most, file, name = tuning.rows_tile, "spgemm_masked.cu", "masked_rows"
    kernel = load(file, name, terms.spec, *parts, terms.has_values, constants=tuning)
    tile = min(most, max(WARP, pattern.nvals // tuning.tiles))
    kernel(
        blocks(-(-pattern.nvals // tile) * WARP, tuning.warps * WARP),
        tuning.warps * WARP,
        *(csr(a, x), csr(b, y), csr(pattern), size(pattern.nvals), size(tile), sums, present),
    )
