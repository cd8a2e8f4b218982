"""Pull and push on CUDA match the CPU for every kind of mask, vector and semiring."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
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

import graphla as gl  # noqa: E402
from graphla.backends import backend  # noqa: E402
from graphla.backends.cuda import hot_columns, matvec, spmspv, spmv  # noqa: E402
from graphla.backends.cuda.launch import card  # noqa: E402
from graphla.backends.tuning import using  # noqa: E402
from graphla.formats import BitmapVector, Csr, FullVector, SparseVector, VectorMask  # noqa: E402
from semirings import semiring as catalog  # noqa: E402

SEMIRINGS = (
    "plus_times FP32",
    "min_plus INT64",
    "min_plus INT8",
    "lor_land BOOL",
    "land_lor BOOL",
    "any_secondi FP32",
    "any_pair FP32",
    "any_first INT64",
    "plus_pair INT64",
    "times_plus INT8",
    "min_firsti INT64",
    "bxor_band UINT16",
    "circle_plus INT32",
    "circle_plus INT16",
)


_circle = gl.binary.register_anonymous(lambda x, y: x + y + x * y, "circle")
OWN = gl.semiring.register_anonymous(
    gl.monoid.register_anonymous(_circle, 0), gl.binary.plus, "circle_plus"
)
"""A semiring whose monoid cannot be applied by a hardware instruction."""


def typed(name: str) -> Any:
    which, dtype = name.split()
    return OWN[dtype] if which == "circle_plus" else getattr(catalog, which)[dtype]


def values_of(rng: np.random.Generator, dtype: Any, count: int, iso: bool) -> np.ndarray:
    values = rng.integers(0, 4, count).astype(dtype)
    return np.broadcast_to(values[:1].copy(), (count,)) if iso and count else values


def csr(
    rng: np.random.Generator,
    shape: tuple[int, int],
    density: float,
    dtype: Any,
    iso: bool,
    offset: Any,
) -> Csr:
    """Return a random matrix in which some rows are full."""
    nrows, ncols = shape
    there = rng.random(shape) < density
    there[rng.random(nrows) < 0.1] = True
    indptr = np.concatenate(([0], there.sum(1).cumsum())).astype(offset)
    indices = there.nonzero()[1].astype(np.int32)
    return Csr(nrows, ncols, indptr, indices, values_of(rng, dtype, indices.size, iso))


def on_device(storage: Any) -> Any:
    """Copy a storage to the GPU. If all its values are equal and stored once, the copy also stores
    the value once.
    """
    if storage is None:
        return None

    def moved(x: Any) -> Any:
        if not isinstance(x, np.ndarray):
            return x
        if x.size and x.strides[0] == 0:
            return cupy.broadcast_to(cupy.asarray(x[:1].copy()), x.shape)
        return cupy.asarray(x)

    fields = [getattr(storage, name) for name in type(storage).__dataclass_fields__]
    return type(storage)(*map(moved, fields))


def entries(v: Any) -> dict[int, Any]:
    """Return the entries of a vector on either device."""
    get = cupy.asnumpy if isinstance(getattr(v, "indices", v.values), cupy.ndarray) else np.asarray
    if isinstance(v, SparseVector):
        indices, values = get(v.indices), get(v.values)
        found = dict(zip(indices.tolist(), values.tolist(), strict=True))
        assert len(found) == indices.size, "an output is listed twice"
        return found
    present, values = get(v.present), get(v.values)
    assert present.sum() == int(v.count)
    return {int(i): values[i].item() for i in present.nonzero()[0]}


def mask_of(rng: np.random.Generator, size: int, kind: str) -> VectorMask | None:
    if kind == "none":
        return None
    flags = rng.random(size) < 0.5
    listed = flags.nonzero()[0].astype(np.int32)
    rng.shuffle(listed)
    complement = kind.startswith("not")
    if kind.endswith("flags"):
        return VectorMask(size, flags, None, complement)
    return VectorMask(size, None, listed, complement, False, listed.size)


def allowed(mask: VectorMask | None, size: int) -> np.ndarray:
    flags = np.ones(size, bool)
    if mask is not None:
        flags = np.zeros(size, bool) if mask.present is None else mask.present.copy()
        if mask.present is None:
            flags[mask.indices] = True
        flags ^= mask.complement
    return flags


def check(ours: Any, theirs: Any, semiring: Any) -> None:
    ours, theirs = entries(ours), entries(theirs)
    assert ours.keys() == theirs.keys()
    if not semiring.monoid.is_any:
        assert ours == theirs  # sums of small integers are exact even as floats


def check_any(
    found: Any, a: Csr, u: np.ndarray, present: np.ndarray, semiring: Any, side: str
) -> None:
    """Check that each value of a product under the monoid `any` is one of its terms."""
    op = semiring.binaryop
    for o, value in entries(found).items():
        places = [p for p in range(a.indptr[o], a.indptr[o + 1]) if present[a.indices[p]]]
        terms = []
        for p in places:
            k = int(a.indices[p])
            x, y = (a.values[p], u[k]) if side == "mxv" else (u[k], a.values[p])
            x, y = np.asarray(x), np.asarray(y)
            if op.is_positional:
                i, j = (o, 0) if side == "mxv" else (0, o)
                terms.append(op.numpy(x, np.int64(i), np.int64(k), y, np.int64(k), np.int64(j)))
            else:
                terms.append(op.numpy(x, y))
        dtype = semiring.monoid.type.np_type
        assert value in [np.asarray(t).astype(dtype).reshape(-1)[0].item() for t in terms]


class Case(tuple[Any, ...]):
    """Operands of a product, with a short repr for failing tests."""

    def __repr__(self) -> str:
        semiring, side, a, u, present, mask = self
        kinds = f"{a.values.dtype} {a.indptr.dtype} {a.nrows} x {a.ncols}, {u.dtype}"
        return (
            f"{semiring} {side}, {kinds}, {a.nvals} and {present.sum()} entries, {mask is not None}"
        )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    name = draw(st.sampled_from(SEMIRINGS))
    semiring, side = typed(name), draw(st.sampled_from(("mxv", "vxm")))
    shape = draw(
        st.sampled_from(((1, 1), (3, 5), (40, 33), (70, 700), (5, 900), (3, 2300), (300, 9)))
    )
    op = semiring.binaryop
    types = (op.type, op.type2) if side == "mxv" else (op.type2, op.type)
    iso = draw(st.booleans())
    a_dtype, u_dtype = (t.np_type for t in types)
    if op.is_positional and draw(st.booleans()):
        a_dtype = u_dtype = np.dtype(np.int8)
    offset = draw(st.sampled_from((np.int32, np.int64)))
    a = csr(rng, shape, draw(st.sampled_from((0.0, 0.05, 0.4))), a_dtype, iso, offset)
    u = values_of(rng, u_dtype, shape[1], draw(st.booleans()))
    present = rng.random(shape[1]) < draw(st.sampled_from((0.02, 0.3, 1.0)))
    kinds = ("none", "flags", "not flags", "list", "not list")
    return Case(
        (semiring, side, a, u, present, mask_of(rng, shape[0], draw(st.sampled_from(kinds))))
    )


LARGE = hot_columns.HotColumnsTuning(slots=4, entries=1, samples=100, share=0.0)
"""Settings under which even small matrices have hot columns."""


@fewer(2)
@given(case=cases(), large=st.booleans())
def test_a_pull_product_gives_the_same_result_as_on_the_cpu(case: Case, large: bool) -> None:
    semiring, side, a, u, present, mask = case
    v = BitmapVector(u.size, present, u, int(present.sum()))
    v = FullVector(u.size, u) if present.all() else v
    wanted = backend("cpu").pull(a, v, semiring, side, mask)
    with using(LARGE if large else hot_columns.TUNING):
        ours = spmv.pull(on_device(a), on_device(v), semiring, side, on_device(mask))
    check(ours, wanted, semiring)
    if semiring.monoid.is_any:
        check_any(ours, a, u, present, semiring, side)


@given(seed=st.integers(0, 2**32), bits=st.integers(1, 4), samples=st.sampled_from((1, 50, 10**6)))
def test_each_cache_slot_holds_the_most_frequent_sampled_column_that_maps_to_it(
    seed: int, bits: int, samples: int
) -> None:
    rng = np.random.default_rng(seed)
    a = csr(rng, (30, int(rng.integers(70, 300))), 0.2, np.float32, False, np.int32)
    a = Csr(a.nrows, a.ncols, a.indptr, np.minimum(a.indices, a.indices[::-1]), a.values)
    with using(replace(LARGE, slots=1 << bits, samples=samples)):
        found = hot_columns.hubs_of(on_device(a), cupy.zeros(a.ncols, np.float32))
    if a.ncols > a.nvals:
        assert found is None
        return
    assert found is not None and found.bits == bits
    columns = found.tags.get().astype(np.int64) << bits | np.arange(1 << bits)
    assert columns.max() < a.ncols
    if samples >= a.nvals:  # the sample contains every entry
        counts = np.bincount(a.indices, minlength=a.ncols)
        slots = np.arange(a.ncols) % (1 << bits)
        assert all(counts[c] == counts[slots == s].max() for s, c in enumerate(columns))


def test_hub_columns_with_too_few_entries_are_not_cached() -> None:
    rng = np.random.default_rng(4)
    a = csr(rng, (300, 400), 0.3, np.float32, False, np.int32)
    u = cupy.zeros(400, np.float32)
    for share, there in ((0.001, True), (0.5, False)):
        with using(replace(LARGE, share=share)):
            assert (hot_columns.hubs_of(on_device(a), u) is not None) == there


def test_each_stream_has_its_own_cache_of_hub_columns() -> None:
    rng = np.random.default_rng(5)
    a = on_device(csr(rng, (300, 400), 0.3, np.float32, False, np.int32))
    u = cupy.zeros(400, np.float32)
    cupy.cuda.get_current_stream().synchronize()
    with using(LARGE):
        here = hot_columns.hubs_of(a, u)
        with cupy.cuda.Stream(non_blocking=True) as stream:
            there = hot_columns.hubs_of(a, u)
            assert there is not here and hot_columns.hubs_of(a, u) is there
        stream.synchronize()
        assert hot_columns.hubs_of(a, u) is here


@pytest.mark.parametrize("deterministic", [False, True])
@fewer(2)
@given(case=cases(), small=st.booleans())
def test_a_push_product_gives_the_same_result_as_on_the_cpu(
    deterministic: bool, case: Case, small: bool
) -> None:
    semiring, side, rows, u, present, mask = case
    a = backend("cpu").transpose(rows)
    indices = present.nonzero()[0].astype(np.int32)
    np.random.default_rng(indices.size).shuffle(indices)
    iso = u.size and u.strides[0] == 0
    v = SparseVector(u.size, indices, u[: indices.size] if iso else u[indices], False)
    wanted = backend("cpu").push(a, v, semiring, side, mask)
    large = spmspv.SpmspvTuning(small=0, modest=0)
    with gl.config.set(deterministic=deterministic), using(spmspv.TUNING if small else large):
        ours = spmspv.push(on_device(a), on_device(v), semiring, side, on_device(mask))
    check(ours, wanted, semiring)
    if semiring.monoid.is_any:
        check_any(ours, rows, u, present, semiring, side)


@pytest.mark.parametrize("name", ["plus_times FP32", "min_plus INT64", "lxor_land BOOL"])
@pytest.mark.parametrize("full", [True, False])
@given(seed=st.integers(0, 2**32), large=st.booleans(), masked=st.booleans())
def test_pulled_rows_of_any_length_give_the_same_results_as_on_the_cpu(
    name: str, full: bool, seed: int, large: bool, masked: bool
) -> None:
    """Row lengths: 0, a few, the longest unsplit length, and lengths of several chunks."""
    rng, semiring = np.random.default_rng(seed), typed(name)
    dtype = semiring.binaryop.type.np_type
    sizes = rng.choice(
        [0, 1, 3, 40, spmv.TUNING.middle + 1, spmv.TUNING.chunk + 1, 2500, 9000],
        rng.integers(1, 60),
        p=[0.45, 0.2, 0.15, 0.1, 0.03, 0.03, 0.02, 0.02],
    )
    ncols = 9000
    indptr = np.concatenate(([0], sizes.cumsum())).astype(np.int32)
    parts = [np.sort(rng.choice(ncols, size, replace=False)) for size in sizes]
    indices = np.concatenate([*parts, np.empty(0)]).astype(np.int32)
    a = Csr(sizes.size, ncols, indptr, indices, values_of(rng, dtype, indices.size, False))
    values, present = values_of(rng, dtype, ncols, False), rng.random(ncols) < 0.5
    v = (
        FullVector(ncols, values)
        if full
        else BitmapVector(ncols, present, values, int(present.sum()))
    )
    mask = mask_of(rng, sizes.size, "flags") if masked else None
    wanted = backend("cpu").pull(a, v, semiring, "mxv", mask)
    with using(LARGE, spmv.SpmvTuning(many=0)) if large else nullcontext():
        ours = spmv.pull(on_device(a), on_device(v), semiring, "mxv", on_device(mask))
    check(ours, wanted, semiring)


def bits(v: Any) -> dict[int, bytes]:
    """Return the entries of a vector of floats as bytes."""
    return {i: np.float32(x).tobytes() for i, x in entries(v).items()}


@pytest.mark.parametrize("length", [128, 129, 1025])
def test_the_bits_of_a_row_product_do_not_depend_on_the_other_rows_of_its_warp(length: int) -> None:
    rng, semiring = np.random.default_rng(length), catalog.plus_times["FP32"]
    values = rng.random((9, length), np.float32)
    u = on_device(FullVector(length, rng.random(length, np.float32)))

    def product(rows: np.ndarray) -> dict[int, bytes]:
        indptr = np.arange(0, rows.size + 1, length, dtype=np.int32)
        indices = np.tile(np.arange(length, dtype=np.int32), len(rows))
        a = Csr(len(rows), length, indptr, indices, rows.ravel())
        return bits(spmv.pull(on_device(a), u, semiring, "mxv", None))

    with using(spmv.SpmvTuning(many=0)):
        crowd = product(values)
        assert crowd == {i: product(values[i : i + 1])[0] for i in range(9)}


@pytest.mark.parametrize("many", [0, 1 << 20])
def test_the_queue_has_room_for_a_long_row_and_all_medium_rows(many: int) -> None:
    """Test both cases in which medium rows are queued. If `many` is 0, they are always queued. If
    `many` is 2^20, they are queued because this matrix has a long row."""
    rng, semiring = np.random.default_rng(7), catalog.plus_times["INT64"]
    sizes = np.repeat([spmv.TUNING.chunk + 9, spmv.TUNING.middle + 9], [1, 299])
    indptr = np.concatenate(([0], sizes.cumsum())).astype(np.int32)
    indices = np.concatenate([np.arange(size) for size in sizes]).astype(np.int32)
    a = Csr(sizes.size, sizes.max(), indptr, indices, rng.integers(0, 9, indices.size))
    u = FullVector(a.ncols, rng.integers(0, 9, a.ncols))
    with using(spmv.SpmvTuning(many=many)):
        ours = spmv.pull(on_device(a), on_device(u), semiring, "mxv", None)
    check(ours, backend("cpu").pull(a, u, semiring, "mxv", None), semiring)


@fewer(2)
@given(seed=st.integers(0, 2**32), sizes=st.sampled_from(((30, 200), (4, 9000), (300, 40))))
def test_deterministic_products_are_bitwise_equal_for_any_grid_size(seed: int, sizes: Any) -> None:
    rng, semiring = np.random.default_rng(seed), catalog.plus_times["FP32"]
    a = csr(rng, sizes, 0.3, np.float32, False, np.int32)
    noise = rng.random(a.nvals, np.float32)
    a = Csr(a.nrows, a.ncols, a.indptr, a.indices, noise)
    u = rng.random(a.ncols).astype(np.float32)
    listed = rng.permutation(a.ncols)[: max(1, a.ncols // 2)].astype(np.int32)
    columns, v = backend("cpu").transpose(a), SparseVector(a.ncols, listed, u[listed], False)
    found = []
    for grid, order in ((1, None), (3, np.argsort(listed)), (64, None)):
        w = v if order is None else SparseVector(v.size, listed[order], v.values[order])
        few = matvec.MatvecTuning(few_blocks=grid / card().multiprocessors)
        hot = LARGE if grid == 3 else hot_columns.TUNING
        with gl.config.set(deterministic=True), using(few, hot):
            pushed = spmspv.push(on_device(columns), on_device(w), semiring, "mxv", None)
            pulled = spmv.pull(
                on_device(a), on_device(FullVector(u.size, u)), semiring, "mxv", None
            )
            masked = VectorMask(a.nrows, np.arange(a.nrows) % 2 == 0, None, False)
            rows = spmv.pull(
                on_device(a), on_device(FullVector(u.size, u)), semiring, "mxv", on_device(masked)
            )
        found.append((bits(pushed), bits(pulled), bits(rows)))
    assert found[0] == found[1] == found[2]


@given(seed=st.integers(0, 2**32))
def test_a_deterministic_product_with_the_any_monoid_returns_the_first_entry(seed: int) -> None:
    rng, semiring = np.random.default_rng(seed), catalog.any_secondi["FP32"]
    a = csr(rng, (40, 300), 0.2, np.float32, False, np.int32)
    present = rng.random(300) < 0.2
    listed = rng.permutation(present.nonzero()[0]).astype(np.int32)
    u = np.ones(300, np.float32)
    wanted = {}
    for o in range(a.nrows):
        meets = [int(k) for k in a.indices[a.indptr[o] : a.indptr[o + 1]] if present[k]]
        if meets:
            wanted[o] = meets[0]
    bitmap = BitmapVector(300, present, u, listed.size)
    sparse = SparseVector(300, listed, u[: listed.size], False)
    with gl.config.set(deterministic=True):
        pulled = spmv.pull(on_device(a), on_device(bitmap), semiring, "mxv", None)
        pushed = spmspv.push(
            on_device(backend("cpu").transpose(a)), on_device(sparse), semiring, "mxv", None
        )
    assert entries(pulled) == wanted == entries(pushed)


def test_operands_without_entries_give_an_empty_product() -> None:
    semiring, ones = catalog.plus_times["FP32"], np.ones(1, np.float32)
    for shape in ((0, 0), (0, 3), (3, 0), (2, 2)):
        a = Csr(*shape, np.zeros(shape[0] + 1, np.int32), np.empty(0, np.int32), ones[:0])
        v = FullVector(shape[1], np.ones(shape[1], np.float32))
        assert entries(spmv.pull(on_device(a), on_device(v), semiring, "mxv", None)) == {}
        s = SparseVector(shape[0], np.arange(min(shape[0], 1), dtype=np.int32), ones[: shape[0]])
        assert entries(spmspv.push(on_device(a), on_device(s), semiring, "mxv", None)) == {}


def test_a_sparse_mask_on_a_huge_vector_allocates_no_dense_array() -> None:
    semiring, n = catalog.plus_times["FP32"], 1000
    rng = np.random.default_rng(1)
    a = csr(rng, (n, 20), 0.5, np.float32, False, np.int32)
    v, listed = FullVector(20, np.ones(20, np.float32)), np.array([700, 3, 9], np.int32)
    mask = VectorMask(n, None, listed, False, False, 3)
    wanted = backend("cpu").pull(a, v, semiring, "mxv", mask)
    with using(matvec.MatvecTuning(huge=100)):
        ours = spmv.pull(on_device(a), on_device(v), semiring, "mxv", on_device(mask))
    assert isinstance(ours, SparseVector) and entries(ours) == entries(wanted)


def test_pushing_a_few_edges_into_a_huge_vector_allocates_no_dense_array() -> None:
    a = gl.Matrix.from_coo([0, 1, 1, 3], [5, 5, 990, 7], [1.0, 2.0, 3.0, 4.0], nrows=4, ncols=1000)
    u = gl.Vector.from_coo([1, 3], [2.0, 3.0], size=4)
    columns, v = on_device(a._store.csr), on_device(u._store.sparse())
    with pytest.MonkeyPatch.context() as patch, using(matvec.MatvecTuning(huge=100)):
        patch.setattr(spmspv, "_cells", None)
        w = spmspv.push(columns, v, catalog.plus_times["FP64"], "vxm", None)
    assert isinstance(w, SparseVector)
    assert w.indices.tolist() == [5, 7, 990] and w.values.tolist() == [4.0, 12.0, 6.0]


@given(
    seed=st.integers(0, 2**32),
    count=st.sampled_from((1, 3, 1000, 3000)),
    part=st.sampled_from((1, 700, 1024)),
    parts=st.sampled_from((1, 2, 300, 1024)),
)
def test_edge_counts_are_correct_for_any_division_into_parts(
    seed: int, count: int, part: int, parts: int
) -> None:
    """The counts may exceed 2^32 here, because the kernel reads only the offsets and no edges."""
    rng = np.random.default_rng(seed)
    a = csr(rng, (500, 60), 0.1, np.float32, True, np.int64)
    stretched = a.indptr * int(rng.integers(1, 1 << 24))
    a = on_device(Csr(a.nrows, a.ncols, stretched, a.indices, a.values))
    rows = rng.integers(0, 500, count).astype(np.int32)
    wanted = (stretched[rows + 1] - stretched[rows]).cumsum()
    listed = cupy.asarray(rows)
    with using(matvec.MatvecTuning(part=part, parts=parts)):
        assert matvec.count_edges(a, listed) == wanted[-1]
        ends, total = matvec.measured.take(a, listed)
        assert ends is not None
        assert total == wanted[-1] and (ends.get() == wanted).all()
        assert matvec.measured.take(a, listed) == (None, 0)
        assert (matvec.edge_ends(a, listed).get() == wanted).all()


def test_the_direction_rule_reads_the_edge_count_only_if_the_count_affects_the_choice() -> None:
    """With short columns and few entries, push is chosen without counting the edges."""
    n = 400
    rows = np.arange(n - 1)
    with gl.config.set(device="cuda"):
        A = gl.Matrix.from_coo([*rows, *rows + 1], [*rows + 1, *rows], 1, nrows=n, ncols=n)
        B, u = A.T.new(), gl.Vector.from_coo([5, 9], 1, size=n)
        B._read().csc, B._read().csr
    cheap = matvec.costs._replace(small=0, push_start=1.0, pull_start=1.0)
    with pytest.MonkeyPatch.context() as patch, gl.Recorder() as recorder:
        patch.setattr(backend("cuda"), "costs", cheap)
        catalog.plus_times(B @ u).new()
        with gl.config.set(push_cost=1e6):
            catalog.plus_times(B @ u).new()
        with gl.config.set(deterministic=True, push_cost=1e6):
            catalog.plus_times["FP32"](B @ u).new()
    ways = [(event.direction, event.reason.split()[0]) for event in recorder.events]
    assert ways[0][0] == "push" and "at most" in recorder.events[0].reason
    assert ways[1][0] == "pull" and ways[2] == ("pull", "deterministic:")
