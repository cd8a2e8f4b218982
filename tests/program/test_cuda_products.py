"""Test that products inside a persistent kernel compute the correct entries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from devices import fewer, has_cuda, use_cuda
from hypothesis import given
from hypothesis import strategies as st

if not has_cuda():
    pytest.skip("neither a card nor g++", allow_module_level=True)
use_cuda()

import cupy  # noqa: E402
from cupy.cuda.function import Module  # noqa: E402

import graphla as gl  # noqa: E402
from graphla.backends.cuda import persistent, program_products  # noqa: E402
from graphla.backends.cuda.hot_columns import HotColumnsTuning  # noqa: E402
from graphla.backends.cuda.launch import EACH, UNREAD, read  # noqa: E402
from graphla.backends.cuda.program_products import ProgramProductsTuning  # noqa: E402
from graphla.backends.tuning import using  # noqa: E402
from graphla.compilers import cuda_ops, nvrtc  # noqa: E402
from graphla.compilers.cuda import Kernel  # noqa: E402
from graphla.compilers.declarations import Struct, enumeration  # noqa: E402
from graphla.formats import Csr  # noqa: E402
from semirings import semiring as catalog  # noqa: E402

VECTOR = Struct("program_operands.cuh", "Vector")
QUEUE_ROOM, _ = enumeration("program_work.cuh", "ProductShape")
IN_BITMAP, IN_FULL, WITH_HUBS, _ = enumeration("gathering.cuh", "Held")

KERNEL = """
#include "program_products.cuh"
namespace graphla {
/// Computes out = A u once per decimal digit of `directions`, from the last digit on. The digits 1
/// and 2 push, and 2 sets the values of `out` to the identity before. The digits 3 to 5 pull.
template <class Op, class Offset, class A, int KEPT_A, class U, int KEPT_U, int HELD>
__global__ void __launch_bounds__(256)
    multiply(Launch launch, ProductForm<Offset, A> columns, ProductForm<Offset, A> rows,
             ProductArrays arrays, Vector<U> u, Vector<typename Op::Z> out, const bool *flags,
             i32 directions, const Offset *degrees) {
  SHARED(ProductRoom, room, 1);
  Grid grid(launch);
  u32 pulls = 0;
  prepare_room(room);
  const auto allowed = [&](i32 o) { return !flags || flags[o]; };
  const WithQueue<Offset> queueing{degrees};
  for (; directions; directions /= 10) {
    const i32 direction = directions % 10;
    for (i64 i = thread_in_grid(); i < rows.lines; i += threads_in_grid()) {
      out.present[i] = direction >= 3 && !IS_SEARCH<Op>;
      if (direction == 2) out.values[i] = Op::identity();
    }
    if (thread_in_grid() == 0) *out.counts = Counts{0, 0, 0};
    grid.meet();
    Work work(grid, arrays, room, pulls += direction >= 3);
    if (direction == 1)
      push_product<Op, KEPT_A, KEPT_U, false>(columns, u, out, allowed, queueing, work);
    if (direction == 2)
      push_product<Op, KEPT_A, KEPT_U, true>(columns, u, out, allowed, queueing, work);
    if (direction == 3)
      pull_product<Op, KEPT_A, KEPT_U, IN_BITMAP>(rows, u, out, allowed, queueing, work);
    if (direction == 4)
      pull_product<Op, KEPT_A, KEPT_U, HELD>(rows, u, out, allowed, WithoutQueue{}, work);
    grid = work.grid;
    grid.meet();
  }
  if (is_last_block(grid) && threadIdx.x == 0) tell_host(launch, HOST_STATUS, FINISHED);
}
template <class Op, class Offset, class A, class U>
__global__ void choose(ProductForm<Offset, A> columns, Vector<U> u, i64 rows, i64 left,
                       bool *pushes) {
  *pushes = should_push<Op>(columns, u, rows, left);
}
}
"""

_circle = gl.binary.register_anonymous(lambda x, y: x + y + x * y, "circle")
OWN = gl.semiring.register_anonymous(
    gl.monoid.register_anonymous(_circle, 0), gl.binary.plus, "circle_plus"
)
"""A semiring whose monoid cannot be applied by a hardware instruction."""

SEMIRINGS = (
    "plus_times FP64",
    "plus_first INT8",
    "min_plus INT64",
    "max_second UINT16",
    "lor_land BOOL",
    "lxor_land BOOL",
    "any_secondi INT64",
    "any_pair BOOL",
    "min_firstj INT64",
    "min_second INT64",
    "min_first INT32",
    "circle_plus INT16",
)


def typed(name: str) -> Any:
    which, dtype = name.split()
    return OWN[dtype] if which == "circle_plus" else getattr(catalog, which)[dtype]


@cache
def kernel_for(
    name: str,
    semiring: Any,
    side: Any,
    *types: Any,
    first_is_result: bool = False,
    is_index: bool = False,
) -> Kernel:
    struct = cuda_ops.matrix_vector(semiring, side).replace("struct Op {", "struct Plain {", 1)
    op = "OfIndex<Plain, Plain::U>" if is_index else "Plain"
    op = f"FirstTerm<{op}>" if first_is_result else op
    text = '#include "program_products.cuh"\nnamespace graphla {\n'
    text += f"{struct}\ntypedef {op} Op;\n}}\n{KERNEL}"
    architecture = f"sm_{cupy.cuda.Device().compute_capability}"
    expression = nvrtc.instance(name, types)
    code, symbol, _ = nvrtc.compile_program(text, expression, architecture, name)
    module = Module()
    module.load(code)
    return Kernel(module, module.get_function(symbol), name)


def padded(flags: np.ndarray) -> Any:
    """Return the flags on the device, in an array whose length is a multiple of 4."""
    room = cupy.zeros(-(-flags.size // 4) * 4, bool)
    room[: flags.size] = cupy.asarray(flags)
    return room


@dataclass(frozen=True, repr=False)
class Case:
    """The operands of a product. `a` has a row for each output.

    If `first_is_result` is true, each output is its first term. If `is_index` is true, the value of
    u at each index is the index itself, and the product does not read the values of u.
    """

    semiring: Any
    side: str
    a: Csr
    u: np.ndarray
    present: np.ndarray
    allowed: np.ndarray | None
    first_is_result: bool = False
    is_index: bool = False

    def __repr__(self) -> str:
        a = self.a
        of = f"{self.first_is_result}, {self.is_index}, {self.u.dtype}"
        return f"{self.semiring} {self.side}, {a.nrows} x {a.ncols}, {a.nvals}, {of}"


def csr(rows: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: Any, offset: Any) -> Csr:
    order = np.lexsort((columns, rows))
    indptr = np.searchsorted(rows[order], np.arange(shape[0] + 1)).astype(offset)
    values = values if values.size and values.strides[0] == 0 else values[order]
    return Csr(shape[0], shape[1], indptr, columns[order].astype(np.int32), values)


def terms_of(case: Case) -> dict[int, list[Any]]:
    """Return the terms of each output, in order of the columns."""
    op, a = case.semiring.binaryop, case.a
    dtype = case.semiring.monoid.type.np_type
    terms: dict[int, list[Any]] = {}
    for o in range(a.nrows):
        if case.allowed is not None and not case.allowed[o]:
            continue
        for p in range(a.indptr[o], a.indptr[o + 1]):
            k = int(a.indices[p])
            if not case.present[k]:
                continue
            x, y = (a.values[p], case.u[k]) if case.side == "mxv" else (case.u[k], a.values[p])
            x, y = np.asarray(x), np.asarray(y)
            if op.is_positional:
                i, j = (o, 0) if case.side == "mxv" else (0, o)
                z = op.numpy(x, np.int64(i), np.int64(k), y, np.int64(k), np.int64(j))
            else:
                z = op.numpy(x, y)
            terms.setdefault(o, []).append(np.asarray(z).astype(dtype).reshape(-1)[0])
    return terms


def folded(semiring: Any, terms: list[Any]) -> Any:
    total = terms[0]
    for each in terms[1:]:
        total = np.asarray(semiring.monoid.binaryop.numpy(np.asarray(total), np.asarray(each)))
    return total.item()


def on_device(form: Csr, is_read: bool) -> tuple[Csr, Any]:
    """Return a copy of the matrix on the device, and how a kernel reads its values."""
    values = form.values
    if values.size and values.strides[0] == 0:
        there = cupy.broadcast_to(cupy.asarray(values[:1].copy()), values.shape)
    else:
        there = cupy.asarray(values)
    indptr, indices = cupy.asarray(form.indptr), cupy.asarray(form.indices)
    return Csr(form.nrows, form.ncols, indptr, indices, there), read(there, is_read)


@dataclass(frozen=True)
class Layout:
    """How the operands of a product are stored, and the size of the grid."""

    blocks: int
    is_listed: bool  # whether u has a queue
    held: int  # how u is stored (enum Held) if the digit of `directions` is 4
    peeks: bool = True


def multiplied(case: Case, directions: int, layout: Layout) -> Any:
    """Run the kernel. Return the entries of the result, its queue and its counts."""
    a, op = case.a, case.semiring.binaryop
    rows = np.repeat(np.arange(a.nrows), np.diff(a.indptr))
    by_columns = csr(a.indices, rows, a.values, (a.ncols, a.nrows), a.indptr.dtype)
    reads = (op.reads_x, op.reads_y) if case.side == "mxv" else (op.reads_y, op.reads_x)
    reads = reads[0], reads[1] and not case.is_index
    along, a_read = on_device(a, reads[0])
    across, b_read = on_device(by_columns, reads[0])
    hubs = None
    if layout.held == WITH_HUBS and not (case.first_is_result or case.is_index):
        hubs = program_products.hubs_for(along, case.u.dtype)
    queue = np.flatnonzero(case.present).astype(np.int32)
    np.random.default_rng(0).shuffle(queue)
    counts = np.array([queue.size, queue.size if layout.is_listed else 0, 0], np.uint64)
    operand = VECTOR(
        values=cupy.asarray(case.u),
        present=None if case.present.all() and directions % 10 == 4 else padded(case.present),
        queue=cupy.asarray(queue) if layout.is_listed else None,
        counts=cupy.asarray(counts).view(np.uint8),
    )
    present = cupy.empty(-(-a.nrows // 4) * 4, bool)
    values = cupy.empty(a.nrows, case.semiring.monoid.type.np_type)
    out_queue, out_counts = cupy.empty(a.nrows, np.int32), cupy.empty(3, np.uint64)
    kernel = kernel_for(
        "multiply",
        *(case.semiring, case.side, a.indptr.dtype, a_read[1], a_read[2]),
        *(case.u.dtype, EACH if reads[1] else UNREAD),
        IN_FULL if hubs is None else WITH_HUBS,
        first_is_result=case.first_is_result,
        is_index=case.is_index,
    )
    shared = 0 if hubs is None else hubs.shared
    (status,) = persistent.run(
        kernel,
        min(persistent.grid(kernel, 64, shared), layout.blocks),
        64,
        program_products.push_form(across, b_read[0]),
        program_products.pull_form(
            along, a_read[0], hubs=hubs, columns=across if layout.peeks else None
        ),
        program_products.arrays([along]),
        operand,
        VECTOR(values=values, present=present, queue=out_queue, counts=out_counts.view(np.uint8)),
        None if case.allowed is None else cupy.asarray(case.allowed),
        np.int32(directions),
        along.indptr,
        results=0,
        shared=shared,
        as_struct=True,
    )
    assert status == persistent.FINISHED
    there, results = present.get()[: a.nrows], values.get()
    found = {int(i): results[i].item() for i in there.nonzero()[0]}
    return found, out_queue.get(), out_counts.get().tolist()


LARGE = HotColumnsTuning(slots=4, entries=1, samples=100, share=0.0)
"""Settings under which even small matrices have hot columns."""


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    semiring = typed(draw(st.sampled_from(SEMIRINGS)))
    side = draw(st.sampled_from(("mxv", "vxm")))
    nrows, ncols = draw(st.sampled_from(((1, 1), (3, 5), (40, 33), (70, 200), (5, 300), (300, 9))))
    there = rng.random((nrows, ncols)) < draw(st.sampled_from((0.0, 0.05, 0.4)))
    there[rng.random(nrows) < 0.1] = True
    there[:, rng.random(ncols) < 0.1] = True
    rows, columns = there.nonzero()
    op = semiring.binaryop
    types = (op.type, op.type2) if side == "mxv" else (op.type2, op.type)
    values = rng.integers(0, 4, rows.size).astype(types[0].np_type)
    if draw(st.booleans()) and rows.size:
        values = np.broadcast_to(values[:1].copy(), rows.shape)
    a = csr(rows, columns, values, (nrows, ncols), draw(st.sampled_from((np.int32, np.int64))))
    u = rng.integers(0, 4, ncols).astype(types[1].np_type)
    present = rng.random(ncols) < draw(st.sampled_from((0.02, 0.3, 1.0)))
    allowed = rng.random(nrows) < 0.5 if draw(st.booleans()) else None
    is_index = ncols < 128 and draw(st.booleans())
    if is_index:
        u = np.arange(ncols).astype(u.dtype)
    case = Case(semiring, side, a, u, present, allowed, is_index=is_index)
    firsts = all(folded(semiring, each) == each[0] for each in terms_of(case).values())
    first_is_result = firsts and semiring.monoid.name in ("min", "max") and draw(st.booleans())
    return replace(case, first_is_result=first_is_result)


def check(case: Case, directions: int, layout: Layout, terms: dict[int, list[Any]]) -> None:
    """Run the products, and compare the last result with the terms that define it."""
    found, queue, counts = multiplied(case, directions, layout)
    assert found.keys() == terms.keys()
    for o, value in found.items():
        if case.semiring.monoid.is_any:
            assert value in [each.item() for each in terms[o]]
        else:
            assert value == folded(case.semiring, terms[o])
    assert counts[0] == len(terms)
    if int(str(directions)[0]) != 4:
        degrees = np.diff(case.a.indptr)
        if len(terms) <= QUEUE_ROOM:
            assert sorted(queue[: counts[1]]) == sorted(terms)
        assert len(set(queue[: counts[1]])) == counts[1]
        assert counts[2] == sum(int(degrees[o]) for o in terms)


@fewer(2)
@given(cases(), st.data())
def test_push_and_pull_compute_the_entries_that_the_terms_define(case, data):
    chunk = data.draw(st.sampled_from((1, 5, 40, 1024)))
    layout = Layout(
        data.draw(st.sampled_from((1, 3, 7))),
        data.draw(st.booleans()),
        data.draw(st.sampled_from((IN_FULL, WITH_HUBS))),
        data.draw(st.booleans()),
    )
    terms = terms_of(case)
    check_from = data.draw(st.sampled_from((0, 1 << 21)))
    tuning = ProgramProductsTuning(push_chunk=chunk, pull_chunk=chunk, check=check_from)
    with using(tuning, LARGE):
        for directions in (1, 2, 3, 312, 3133, 33):
            check(case, directions, layout, terms)
        if case.present.all():
            check(case, 4, layout, terms)
            check(case, 4414, layout, terms)


@pytest.mark.parametrize("chunk", [5, 40, 1024])
@pytest.mark.parametrize("is_index", [False, True])
@pytest.mark.parametrize("share", [0.02, 0.1, 0.6])
def test_a_pull_that_stops_at_the_first_term_returns_the_least_term(chunk, is_index, share):
    rng = np.random.default_rng(round(100 * share))
    there = rng.random((90, 500)) < rng.random((90, 1)) ** 3
    rows, columns = there.nonzero()
    a = csr(rows, columns, np.ones(rows.size, np.int64), there.shape, np.int32)
    u = np.arange(500) if is_index else np.sort(rng.integers(0, 900, 500))
    present, allowed = rng.random(500) < share, rng.random(90) < 0.9
    case = Case(typed("min_second INT64"), "mxv", a, u, present, allowed, True, is_index)
    terms = terms_of(case)
    with using(ProgramProductsTuning(push_chunk=chunk, pull_chunk=chunk)):
        for directions in (1, 2, 3, 33, 312):
            check(case, directions, Layout(3, True, IN_FULL), terms)


@pytest.mark.parametrize("name", ["any_secondi INT64", "plus_times FP64"])
@pytest.mark.parametrize("directions", [1, 3])
def test_a_queue_is_not_valid_if_a_block_finds_more_outputs_than_it_queues(name, directions):
    n = QUEUE_ROOM + 1000
    semiring = typed(name)
    values = np.ones(n, semiring.binaryop.type.np_type)
    a = csr(np.arange(n), np.zeros(n, int), values, (n, 2), np.int32)
    u = np.ones(2, semiring.binaryop.type2.np_type)
    case = Case(semiring, "mxv", a, u, np.array([True, False]), None)
    layout = Layout(1, True, IN_FULL)
    check(case, directions, layout, terms_of(case))
    assert multiplied(case, directions, layout)[2][1] == QUEUE_ROOM


def test_the_floats_that_a_pull_computes_are_bitwise_equal_for_every_grid_size():
    rng = np.random.default_rng(5)
    there = rng.random((40, 700)) < rng.random((40, 1))
    rows, columns = there.nonzero()
    a = csr(rows, columns, rng.random(rows.size), there.shape, np.int32)
    case = Case(typed("plus_times FP64"), "mxv", a, rng.random(700), np.ones(700, bool), None)
    with using(ProgramProductsTuning(pull_chunk=100)):
        found = [
            multiplied(case, directions, Layout(blocks, True, IN_FULL))[0]
            for directions in (3, 4)
            for blocks in (1, 2, 7)
        ]
    assert all(each == found[0] for each in found)


@pytest.mark.parametrize("name", ["any_secondi INT64", "min_plus INT64"])
@pytest.mark.parametrize(
    ("entries", "queued", "edges", "left", "pushes"),
    [
        (1, 1, 10, 1000, True),
        (900, 900, 9000, 1000, False),
        (900, 900, 9000, 0, False),
        (900, 1, 10, 1000, False),  # the queue is not valid, and most edges are not counted
    ],
)
def test_a_product_with_few_edges_pushes(name, entries, queued, edges, left, pushes):
    """In CSR form, the matrix has 1,000 rows with 10 entries each."""
    indptr, indices = np.arange(0, 10_001, 10), np.tile(np.arange(10), 1000)
    values, semiring = np.ones(10_000, bool), typed(name)
    columns, a_read = on_device(Csr(1000, 1000, indptr, indices.astype(np.int32), values), False)
    u = VECTOR(
        values=cupy.zeros(1000, np.int64),
        present=cupy.zeros(1000, bool),
        queue=cupy.zeros(1000, np.int32),
        counts=cupy.asarray(np.array([entries, queued, edges], np.uint64)).view(np.uint8),
    )
    found = cupy.zeros(1, bool)
    kernel = kernel_for("choose", semiring, "vxm", indptr.dtype, a_read[1], np.dtype(np.int64))
    form = program_products.push_form(columns, a_read[0])
    kernel(1, 1, form, u, np.int64(1000), np.int64(left), found)
    assert bool(found[0]) == pushes


@pytest.mark.parametrize("gap", [None, 3])
@pytest.mark.parametrize("directions", [3, 333])
def test_a_pull_skips_presence_flags_only_if_u_fills_all_columns(gap, directions):
    """The last 20 columns are empty, and u has more entries than there are nonempty columns."""
    rng = np.random.default_rng(2)
    there = rng.random((50, 60)) < 0.3
    there[:, 40:] = False
    rows, columns = there.nonzero()
    values = rng.integers(1, 4, rows.size).astype(float)
    a, present = csr(rows, columns, values, there.shape, np.int32), np.ones(60, bool)
    present[50 if gap is None else gap] = False
    case = Case(typed("plus_times FP64"), "mxv", a, rng.integers(1, 4, 60) * 1.0, present, None)
    with using(ProgramProductsTuning(check=0, pull_chunk=7)):
        check(case, directions, Layout(3, False, IN_FULL), terms_of(case))


def test_long_rows_are_divided_into_chunks_in_the_order_of_the_rows():
    lengths = np.array([3, 0, 9, 1, 12, 4, 5])
    rows = np.repeat(np.arange(7), lengths)
    columns = np.concatenate([np.arange(n) for n in lengths])
    a = csr(rows, columns, np.ones(rows.size), (7, 12), np.int32)
    on_card = Csr(7, 12, *map(cupy.asarray, (a.indptr, a.indices, a.values)))
    chunks = program_products._chunks_of(on_card, 4)
    assert chunks.lines.tolist() == [2, 2, 2, 4, 4, 4, 6, 6]
    assert chunks.numbers.tolist() == [0, 1, 2, 0, 1, 2, 0, 1]
