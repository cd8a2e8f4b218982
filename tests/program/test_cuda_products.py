"""Products inside a persistent kernel have the entries that their terms define."""

from __future__ import annotations

from dataclasses import dataclass
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
from graphla.backends.cuda.launch import UNREAD, read  # noqa: E402
from graphla.backends.cuda.program_products import ProgramProductsTuning  # noqa: E402
from graphla.backends.tuning import using  # noqa: E402
from graphla.compilers import cuda_ops, nvrtc  # noqa: E402
from graphla.compilers.cuda import Kernel  # noqa: E402
from graphla.compilers.declarations import Struct, enumeration  # noqa: E402
from graphla.formats import Csr  # noqa: E402
from semirings import semiring as catalog  # noqa: E402

VECTOR = Struct("program_products.cuh", "Vector")
IN_BITMAP, IN_FULL, _ = enumeration("gathering.cuh", "Held")

KERNEL = """
#include "program_products.cuh"
namespace graphla {
/// Computes out = A u, repeatedly, by a push if direction is 0 or 1 and by a pull otherwise. If it
/// is 1, the values of `out` are the identity before.
template <class Op, class Offset, class A, int KEPT_A, class U, int KEPT_U>
__global__ void __launch_bounds__(256)
    multiply(Launch launch, ProductForm<Offset, A> columns, ProductForm<Offset, A> rows,
             ProductArrays arrays, Vector<U> u, Vector<typename Op::Z> out, const bool *flags,
             bool complement, i32 direction, i32 times, const Offset *degrees) {
  SHARED(u64, scratch, WARP + 1);
  Grid grid(launch);
  Work work{grid, arrays, scratch};
  const auto allowed = [&](i32 o) { return !flags || flags[o] != complement; };
  const WithQueue<Offset> queueing{degrees};
  for (i32 turn = 0; turn < times; ++turn) {
    for (i64 i = thread_in_grid(); i < rows.lines; i += threads_in_grid()) {
      out.present[i] = direction >= 2;
      if (direction == 1) out.values[i] = Op::identity();
    }
    if (thread_in_grid() == 0) *out.counts = Counts{0, 0, 0};
    grid.meet();
    if (direction == 0)
      push_product<Op, KEPT_A, KEPT_U, false>(columns, u, out, allowed, queueing, work);
    if (direction == 1)
      push_product<Op, KEPT_A, KEPT_U, true>(columns, u, out, allowed, queueing, work);
    if (direction == 2)
      pull_product<Op, KEPT_A, KEPT_U, IN_BITMAP>(rows, u, out, allowed, queueing, work);
    if (direction == 3)
      pull_product<Op, KEPT_A, KEPT_U, IN_FULL>(rows, u, out, allowed, WithoutQueue{}, work);
    grid.meet();
  }
  if (is_last_block(grid) && threadIdx.x == 0) tell_host(launch, HOST_STATUS, FINISHED);
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
    "circle_plus INT16",
)


def typed(name: str) -> Any:
    which, dtype = name.split()
    return OWN[dtype] if which == "circle_plus" else getattr(catalog, which)[dtype]


@cache
def kernel_for(semiring: Any, side: str, *types: Any) -> Kernel:
    struct = cuda_ops.matrix_vector(semiring, side)
    text = f'#include "atomics.cuh"\nnamespace graphla {{\n{struct}\n}}\n{KERNEL}'
    architecture = f"sm_{cupy.cuda.Device().compute_capability}"
    expression = nvrtc.instance("multiply", types)
    code, symbol, _ = nvrtc.compile_program(text, expression, architecture, "multiply")
    module = Module()
    module.load(code)
    return Kernel(module, module.get_function(symbol), "multiply")


def padded(flags: np.ndarray) -> Any:
    """Return the flags on the device, in an array whose length is a multiple of 4."""
    room = cupy.zeros(-(-flags.size // 4) * 4, bool)
    room[: flags.size] = cupy.asarray(flags)
    return room


@dataclass(frozen=True, repr=False)
class Case:
    """The operands of a product. `a` has a row for each output."""

    semiring: Any
    side: str
    a: Csr
    u: np.ndarray
    present: np.ndarray
    allowed: np.ndarray | None

    def __repr__(self) -> str:
        a = self.a
        return f"{self.semiring} {self.side}, {a.nrows} x {a.ncols}, {a.nvals}, {self.u.dtype}"


def csr(rows: np.ndarray, columns: np.ndarray, values: np.ndarray, shape: Any, offset: Any) -> Csr:
    order = np.lexsort((columns, rows))
    indptr = np.searchsorted(rows[order], np.arange(shape[0] + 1)).astype(offset)
    values = values if values.size and values.strides[0] == 0 else values[order]
    return Csr(*shape, indptr, columns[order].astype(np.int32), values)


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


def multiplied(case: Case, direction: int, blocks: int, times: int, listed: bool) -> Any:
    """Run the kernel. Return the entries of the result, its queue and its counts."""
    a, op = case.a, case.semiring.binaryop
    rows = np.repeat(np.arange(a.nrows), np.diff(a.indptr))
    by_columns = csr(a.indices, rows, a.values, (a.ncols, a.nrows), a.indptr.dtype)
    reads = (op.reads_x, op.reads_y) if case.side == "mxv" else (op.reads_y, op.reads_x)

    def moved(form: Csr) -> tuple[Csr, Any]:
        values = form.values
        if values.size and values.strides[0] == 0:
            values = cupy.broadcast_to(cupy.asarray(values[:1].copy()), values.shape)
        else:
            values = cupy.asarray(values)
        there = Csr(
            form.nrows, form.ncols, cupy.asarray(form.indptr), cupy.asarray(form.indices), values
        )
        return there, read(values, reads[0])

    (across, a_read), (along, b_read) = moved(by_columns), moved(a)
    forms = program_products.form(across, a_read[0]), program_products.form(along, b_read[0])
    z = case.semiring.monoid.type.np_type
    queue = np.flatnonzero(case.present).astype(np.int32)
    np.random.default_rng(0).shuffle(queue)
    counts = np.array([queue.size, queue.size if listed else 0, 0], np.uint64)
    u_kept = 2 if reads[1] else UNREAD
    operand = VECTOR(
        values=cupy.asarray(case.u),
        present=padded(case.present),
        queue=cupy.asarray(queue) if listed else None,
        counts=cupy.asarray(counts).view(np.uint8),
    )
    present, values = cupy.empty(-(-a.nrows // 4) * 4, bool), cupy.empty(a.nrows, z)
    out_queue, out_counts = cupy.empty(a.nrows, np.int32), cupy.empty(3, np.uint64)
    out = VECTOR(values=values, present=present, queue=out_queue, counts=out_counts.view(np.uint8))
    kernel = kernel_for(
        case.semiring, case.side, a.indptr.dtype, a_read[1], a_read[2], case.u.dtype, u_kept
    )
    degrees = along.indptr
    (status,) = persistent.run(
        kernel,
        min(persistent.grid(kernel, 64), blocks),
        64,
        *forms,
        program_products.arrays([across, along]),
        operand,
        out,
        None if case.allowed is None else cupy.asarray(case.allowed),
        np.bool_(False),
        np.int32(direction),
        np.int32(times),
        degrees,
        results=0,
        as_struct=True,
    )
    assert status == persistent.FINISHED
    there = present.get()[: a.nrows]
    found = {int(i): values.get()[i].item() for i in there.nonzero()[0]}
    return found, out_queue.get(), out_counts.get().tolist()


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
    return Case(semiring, side, a, u, present, allowed)


@fewer(2)
@given(cases(), st.data())
def test_push_and_pull_have_the_entries_that_the_terms_define(case, data):
    blocks, times = data.draw(st.sampled_from((1, 3, 7))), data.draw(st.sampled_from((1, 2)))
    listed = data.draw(st.booleans())
    tuning = ProgramProductsTuning(chunk=data.draw(st.sampled_from((1, 5, 40, 1024))))
    terms = terms_of(case)
    for direction in (0, 1, 2, 3):
        if direction == 3 and not case.present.all():
            continue
        with using(tuning):
            found, queue, counts = multiplied(case, direction, blocks, times, listed)
        assert found.keys() == terms.keys(), direction
        for o, value in found.items():
            if case.semiring.monoid.is_any:
                assert value in [each.item() for each in terms[o]], direction
            else:
                assert value == folded(case.semiring, terms[o]), (direction, o)
        assert counts[0] == len(terms)
        if direction < 3:
            assert sorted(queue[: counts[1]]) == sorted(terms)
            degrees = np.diff(case.a.indptr)
            assert counts[2] == sum(int(degrees[o]) for o in terms)
