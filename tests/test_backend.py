"""Compare operations of the NumPy backend, on each storage form, with dictionaries of entries."""

import tracemalloc
from typing import Any

import numpy as np
import pytest
from devices import DEVICE
from hypothesis import given, settings
from hypothesis import strategies as st

import graphla as gl
from graphla.backends import backend
from graphla.backends.cpu.layout import SortTuning
from graphla.backends.cpu.spgemm import SpgemmTuning
from graphla.backends.cpu.spmv import SpmvTuning
from graphla.backends.cpu.terms import TermsTuning
from graphla.backends.tuning import using
from graphla.backends.values import are_all, count_true, is_any
from graphla.formats import (
    BitmapVector,
    Csr,
    FullVector,
    MatrixMask,
    SparseVector,
    VectorMask,
    is_iso,
)
from graphla.settings import config
from semirings import binary, indexunary, monoid, select, semiring, unary
from semirings.exceptions import DuplicateEntry

do = backend("cpu")
sizes = st.integers(0, 7)
quick = settings(max_examples=60, deadline=None)


@pytest.fixture(autouse=True, scope="module")
def without_compiled_loops():
    with config.set(compiled=False):
        yield


# --- converting dictionaries --------------------------------------------------------------------


@st.composite
def tables(draw, size, dtype: Any = np.int64, ncols=None):
    """Draw a dictionary of entries: {i: value}, or {(i, j): value} if ncols is given."""
    places = (
        [(i, j) for i in range(size) for j in range(ncols)] if ncols is not None else range(size)
    )
    chosen = draw(st.lists(st.sampled_from(list(places)), unique=True)) if len(places) else []
    values = st.booleans() if dtype == np.bool_ else st.integers(-3, 3)
    is_iso = draw(st.booleans())
    one = draw(values)
    return {place: dtype(one if is_iso else draw(values)) for place in chosen}


def values_of(entries, dtype):
    values = np.array(list(entries), dtype)
    if values.size > 1 and (values == values[0]).all():
        return np.broadcast_to(values[:1], values.shape)
    return values


def vector(size, table, how, dtype: Any = np.int64) -> Any:
    """Return the table as a sorted, unsorted or bitmap vector, or full if no entry is missing."""
    indices = np.array(sorted(table), np.int32)
    values = values_of((table[int(i)] for i in indices), dtype)
    v = SparseVector(size, indices, values)
    if how == "unsorted":
        return SparseVector(size, indices[::-1].copy(), values[::-1].copy(), indices.size < 2)
    if how == "bitmap" or (how == "full" and len(table) < size):
        return do.to_bitmap(v)
    return FullVector(size, values) if how == "full" else v


def matrix(nrows, ncols, table, dtype: Any = np.int64):
    rows = np.array([i for i, _ in table], np.int64)
    columns = np.array([j for _, j in table], np.int64)
    return do.build_matrix(nrows, ncols, rows, columns, values_of(table.values(), dtype), None)


def vector_mask(size, table, how, complement):
    v = vector(size, table, how, np.bool_)
    if isinstance(v, SparseVector):
        return VectorMask(size, None, v.indices, complement, v.is_sorted)
    return VectorMask(size, do.to_bitmap(v).present, None, complement)


def table_of(a):
    """Check the invariants of a stored matrix or vector, and return a dict of its entries."""
    if isinstance(a, Csr):
        assert a.indptr.size == a.nrows + 1
        assert a.indptr[0] == 0
        assert a.indptr[-1] == a.indices.size == a.values.size
        assert a.indices.dtype == np.int32
        rows = np.arange(a.nrows).repeat(np.diff(a.indptr))
        places = list(zip(rows.tolist(), a.indices.tolist(), strict=True))
        assert places == sorted(set(places))
        assert all(0 <= j < a.ncols for _, j in places)
        return dict(zip(places, a.values.tolist(), strict=True))
    if isinstance(a, SparseVector):
        assert a.indices.dtype == np.int32
        assert a.indices.size == a.values.size
        places = a.indices.tolist()
        assert len(set(places)) == len(places)
        assert not a.is_sorted or places == sorted(places)
        return dict(zip(places, a.values.tolist(), strict=True))
    if isinstance(a, FullVector):
        assert a.values.size == a.size
        return dict(enumerate(a.values.tolist()))
    assert a.nvals == a.present.sum()
    assert a.present.size == a.values.size == a.size
    return {i: x for i, x in enumerate(a.values.tolist()) if a.present[i]}


forms = st.sampled_from(["sorted", "unsorted", "bitmap", "full"])


# --- conversions between forms, and construction from entries -----------------------------------


@quick
@given(st.data(), sizes, forms)
def test_conversions_between_forms_keep_the_entries(data, size, how):
    table = data.draw(tables(size))
    v = vector(size, table, how)
    assert table_of(v) == table_of(do.to_sparse(v)) == table_of(do.to_bitmap(v)) == table
    assert do.sort(do.to_sparse(v)).is_sorted
    cast = do.cast(v, np.dtype(np.int8))
    assert cast.values.dtype == np.int8
    assert table_of(cast) == table
    assert is_iso(cast.values) == is_iso(v.values)


@quick
@given(st.data(), sizes, sizes)
def test_transposing_swaps_rows_and_columns(data, nrows, ncols):
    table = data.draw(tables(nrows, ncols=ncols))
    a = do.transpose(matrix(nrows, ncols, table))
    assert (a.nrows, a.ncols) == (ncols, nrows)
    assert table_of(a) == {(j, i): x for (i, j), x in table.items()}


folds = {
    "plus": lambda x, y: x + y,
    "minus": lambda x, y: x - y,
    "first": lambda x, y: x,
    "second": lambda x, y: y,
    "min": min,
}


def sorted_by_scipy(always: bool):
    return using(SortTuning(scipy=0) if always else SortTuning())


@pytest.mark.parametrize("large", [False, True])
@pytest.mark.parametrize("name", folds)
@quick
@given(st.data())
def test_building_from_entries_folds_duplicates_from_the_left(large, name, data):
    places = data.draw(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), max_size=30))
    values = [data.draw(st.integers(-5, 5)) for _ in places]
    want = {}
    for place, x in zip(places, values, strict=True):
        want[place] = folds[name](want[place], x) if place in want else x
    i = np.array([i for i, _ in places], np.int64)
    j = np.array([j for _, j in places], np.int64)
    dup_op = getattr(binary, name)["INT64"]
    with sorted_by_scipy(large):
        got = do.build_matrix(3, 3, i, j, np.array(values, np.int64), dup_op)
    assert table_of(got) == want
    got = do.build_vector(9, i * 3 + j, np.array(values, np.int64), dup_op)
    assert table_of(got) == {i * 3 + j: x for (i, j), x in want.items()}


@pytest.mark.parametrize("width", [3, 60, 20_000])
@pytest.mark.parametrize("name", folds)
def test_building_combines_duplicates_that_lie_in_different_parts_of_the_input(name, width):
    random = np.random.default_rng(width)
    i, j = random.integers(0, width, (2, 50_000))
    values = random.integers(-5, 6, i.size)
    want = {}
    for place, x in zip(zip(i.tolist(), j.tolist(), strict=True), values.tolist(), strict=True):
        want[place] = folds[name](want[place], x) if place in want else x
    got = do.build_matrix(width, width, i, j, values, getattr(binary, name)["INT64"])
    assert table_of(got) == want


@pytest.mark.parametrize("size", [1 << 15, 1 << 18])
@pytest.mark.parametrize("dtype", [np.bool_, np.float32, np.float64])
def test_building_takes_at_most_three_times_the_memory_of_the_result(dtype, size):
    random = np.random.default_rng(size)
    i, j = random.integers(0, size // 16, (2, size))
    values = random.random(size).astype(dtype)
    given = (size // 16, size // 16, i, j, values, binary.second[dtype])
    # Import SciPy, so that the backend sorts with SciPy. Until then it would sort small matrices
    # with NumPy, which takes more memory.
    pytest.importorskip("scipy.sparse")
    do.build_matrix(*given)
    tracemalloc.start()
    a = do.build_matrix(*given)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 3 * (a.indptr.nbytes + a.indices.nbytes + a.values.nbytes)


@pytest.mark.parametrize("large", [False, True])
def test_building_reports_the_first_duplicate(large):
    i, j = np.array([3, 2, 0, 2, 3]), np.array([1, 4, 0, 4, 1])
    with sorted_by_scipy(large), pytest.raises(DuplicateEntry, match=r"\(2, 4\)"):
        do.build_matrix(5, 5, i, j, np.arange(5), None)
    with pytest.raises(DuplicateEntry, match="entry 2 "):
        do.build_vector(5, i, np.arange(5), None)


@pytest.mark.parametrize("large", [False, True])
def test_building_from_a_single_value_gives_an_iso_valued_result(large):
    one = np.broadcast_to(np.ones(1), 4)
    with sorted_by_scipy(large):
        a = do.build_matrix(3, 3, np.array([2, 0, 1, 0]), np.array([0, 2, 1, 0]), one, None)
        assert is_iso(a.values)
        assert is_iso(do.transpose(a).values)
    assert table_of(a) == {(0, 0): 1, (0, 2): 1, (1, 1): 1, (2, 0): 1}


@pytest.mark.parametrize("size", [1, 2, 5, 64, 1001])
@pytest.mark.parametrize("name", ["plus", "hypot", "max"])
def test_a_fold_over_many_values_equals_a_sequential_fold(size, name):
    values = np.arange(size, dtype=np.float64)
    folded = do.build_vector(3, np.ones(size, int), values, getattr(binary, name)["FP64"])
    want = (
        np.sqrt((values**2).sum())
        if name == "hypot"
        else getattr(np, "sum" if name == "plus" else name)(values)
    )
    assert folded.values == pytest.approx([want])


# --- entrywise operations -----------------------------------------------------------------------


def joined(a, b, op, left=None, right=None):
    """Return the union of two dictionaries; `op` combines the values of common keys."""
    both = {p: op(a[p], b[p]) for p in a.keys() & b.keys()}
    only_a = {p: a[p] if right is None else op(a[p], right) for p in a.keys() - b.keys()}
    only_b = {p: b[p] if left is None else op(left, b[p]) for p in b.keys() - a.keys()}
    return both | only_a | only_b


@pytest.mark.parametrize("filled", [False, True])
@quick
@given(st.data(), sizes, st.none() | sizes)
def test_unions_and_intersections_agree_with_the_dictionary_model(filled, data, size, ncols):
    a, b = (data.draw(tables(size, ncols=ncols)) for _ in range(2))
    make = (
        (lambda t: vector(size, t, "sorted"))
        if ncols is None
        else (lambda t: matrix(size, ncols, t))
    )
    op = binary.minus["INT64"]
    fills = {"left": 10, "right": 20} if filled else {}
    got = do.union(make(a), make(b), op, *fills.values())
    assert table_of(got) == joined(a, b, lambda x, y: x - y, **fills)
    got = do.intersection(make(a), make(b), op)
    assert table_of(got) == {p: a[p] - b[p] for p in a.keys() & b.keys()}
    shared = make(a)
    assert set(table_of(do.union(shared, shared, op)).values()) <= {0}


@quick
@given(st.data(), sizes, sizes)
def test_apply_and_select_agree_with_the_dictionary_model(data, nrows, ncols):
    a, v = data.draw(tables(nrows, ncols=ncols)), data.draw(tables(nrows))
    A = matrix(nrows, ncols, a)
    assert table_of(do.apply(A, unary.ainv["INT64"])) == {p: -x for p, x in a.items()}
    got = do.apply_bound(A, binary.minus["INT64"], 2, "left")
    assert table_of(got) == {p: 2 - x for p, x in a.items()}
    got = do.apply_bound(A, binary.minus["INT64"], 2, "right")
    assert table_of(got) == {p: x - 2 for p, x in a.items()}
    got = do.apply_index(A, indexunary.colindex["INT64"], 3)
    assert table_of(got) == {(i, j): j + 3 for i, j in a}
    got = do.select(A, select.tril["INT64"], -1)
    assert table_of(got) == {(i, j): x for (i, j), x in a.items() if j - i <= -1}
    for how in ("sorted", "bitmap", "full"):
        got = do.apply(vector(nrows, v, how), unary.abs["INT64"])
        assert table_of(got) == {i: abs(x) for i, x in v.items()}
    got = do.apply_index(vector(nrows, v, "sorted"), indexunary.rowindex["INT64"], 1)
    assert table_of(got) == {i: i + 1 for i in v}
    got = do.select(vector(nrows, v, "sorted"), select.valuegt["INT64"], 0)
    assert table_of(got) == {i: x for i, x in v.items() if x > 0}


@quick
@given(st.data(), sizes, sizes, st.sampled_from(["plus", "min", "times", "any"]))
def test_reductions_agree_with_the_dictionary_model(data, nrows, ncols, name):
    a = data.draw(tables(nrows, ncols=ncols))
    A, fold = matrix(nrows, ncols, a), getattr(monoid, name)["INT64"]
    rows = {i: [x for (k, _), x in a.items() if k == i] for i, _ in a}
    got = table_of(do.reduce_rows(A, fold))
    assert got.keys() == rows.keys()
    total = do.reduce(A.values, fold)
    if name == "any":
        assert all(got[i] in xs for i, xs in rows.items())
        assert not a or total in a.values()
    else:
        python = {"plus": sum, "min": min, "times": lambda xs: np.prod(xs, dtype=np.int64)}[name]
        assert got == {i: python(xs) for i, xs in rows.items()}
        assert total == (python(list(a.values())) if a else fold.identity)
    assert A.values.size == len(a)


@quick
@given(st.data(), sizes, sizes)
def test_extracted_regions_agree_with_the_dictionary_model(data, nrows, ncols):
    a, v = data.draw(tables(nrows, ncols=ncols)), data.draw(tables(nrows))
    some = [
        st.lists(st.integers(0, n - 1), max_size=9) if n else st.just([]) for n in (nrows, ncols)
    ]
    i, j = (data.draw(st.none() | indices) for indices in some)
    want = {
        (p, q): a[r, c]
        for p, r in enumerate(range(nrows) if i is None else i)
        for q, c in enumerate(range(ncols) if j is None else j)
        if (r, c) in a
    }
    arrays = [None if k is None else np.array(k, np.int64) for k in (i, j)]
    assert table_of(do.extract_matrix(matrix(nrows, ncols, a), *arrays)) == want
    for how in ("sorted", "unsorted", "bitmap", "full"):
        got = table_of(do.extract_vector(vector(nrows, v, how), arrays[0]))
        assert got == {p: v[r] for p, r in enumerate(range(nrows) if i is None else i) if r in v}


@settings(max_examples=30, deadline=None)
@given(st.data(), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3), st.integers(0, 3))
def test_kronecker_products_agree_with_the_dictionary_model(data, m, n, p, q):
    a, b = data.draw(tables(m, ncols=n)), data.draw(tables(p, ncols=q))
    got = do.kronecker(matrix(m, n, a), matrix(p, q, b), binary.minus["INT64"])
    want = {(i * p + k, j * q + l): x - y for (i, j), x in a.items() for (k, l), y in b.items()}
    assert table_of(got) == want


# --- products -----------------------------------------------------------------------------------

named = ["plus_times", "min_plus", "plus_pair", "min_first", "max_second", "times_minus"]
picking = ["any_secondi", "any_firstj", "any_pair", "any_second"]
truth = ["lor_land", "land_lor", "lxor_land"]


def numbers(name) -> Any:
    return np.bool_ if name in truth else np.int64


def mult(op, x, y, places):
    return (op.numpy(x, *places[:2], y, *places[2:]) if op.is_positional else op.numpy(x, y)).item()


def check(got, terms, ring):
    """Assert that each output is its terms combined by ⊕, or one of the terms if ⊕ is `any`."""
    assert got.keys() == terms.keys()
    for place, some in terms.items():
        if ring.monoid.is_any:
            assert got[place] in some
        else:
            folded = np.array(some[:1], ring.monoid.type.np_type)
            for x in some[1:]:
                folded = ring.monoid.binaryop.numpy(folded, np.array([x], folded.dtype))
            assert got[place] == folded[0]


@pytest.mark.parametrize("name", named + picking + truth)
@settings(max_examples=50, deadline=None)
@given(st.data(), st.integers(0, 5), st.integers(0, 5), st.sampled_from(["mxv", "vxm"]))
def test_each_element_of_a_push_or_pull_product_is_the_fold_of_its_terms(name, data, n, m, side):
    chunk, few = data.draw(st.sampled_from([(2, 0), (2, 99), (99, 0), (99, 99)]))
    dtype = numbers(name)
    ring = getattr(semiring, name)["BOOL" if dtype == np.bool_ else "INT64"]
    a, u = data.draw(tables(n, dtype, ncols=m)), data.draw(tables(m, dtype))
    masked, complement = data.draw(st.none() | tables(n, np.bool_)), data.draw(st.booleans())
    how = data.draw(forms)
    terms = {}
    for (o, k), x in sorted(a.items()):
        if k in u and (masked is None or (o in masked) != complement):
            if side == "mxv":
                z = mult(ring.binaryop, x, u[k], (o, k, k, 0))
            else:
                z = mult(ring.binaryop, u[k], x, (0, k, k, o))
            terms.setdefault(o, []).append(z)
    mask = None if masked is None else vector_mask(n, masked, how, complement)
    A = matrix(n, m, a, dtype)
    with using(TermsTuning(chunk), SpmvTuning(few)):
        for form in ("bitmap", "full"):
            w = do.pull(A, vector(m, u, form, dtype), ring, side, mask)
            check(table_of(w), terms, ring)
            assert w.values.dtype == ring.return_type.np_type
        for form in ("sorted", "unsorted"):
            w = do.push(do.transpose(A), vector(m, u, form, dtype), ring, side, mask)
            check(table_of(w), terms, ring)
            assert w.values.dtype == ring.return_type.np_type


@pytest.mark.parametrize("name", named + picking + truth)
@settings(max_examples=50, deadline=None)
@given(st.data(), st.integers(0, 4), st.integers(0, 4), st.integers(0, 4))
def test_each_element_of_a_matrix_product_is_the_fold_of_its_terms(name, data, n, m, l):
    chunk, dots = data.draw(st.sampled_from([2, 99])), data.draw(st.booleans())
    dtype = numbers(name)
    ring = getattr(semiring, name)["BOOL" if dtype == np.bool_ else "INT64"]
    a, b = data.draw(tables(n, dtype, ncols=m)), data.draw(tables(m, dtype, ncols=l))
    masked = data.draw(st.none() | tables(n, np.bool_, ncols=l))
    complement = data.draw(st.booleans())
    terms = {}
    for (i, k), x in sorted(a.items()):
        for (h, j), y in sorted(b.items()):
            if h == k and (masked is None or ((i, j) in masked) != complement):
                z = mult(ring.binaryop, x, y, (i, k, k, j))
                terms.setdefault((i, j), []).append(z)
    mask = None if masked is None else MatrixMask(matrix(n, l, masked, np.bool_), complement)
    A, B = matrix(n, m, a, dtype), matrix(m, l, b, dtype)
    with using(TermsTuning(chunk), SpgemmTuning(dot=0 if dots else 1000, board=chunk)):
        c = do.mxm(A, B, ring, mask, do.transpose(B))
    assert c is not None
    check(table_of(c), terms, ring)
    assert (c.nrows, c.ncols) == (n, l)
    assert c.values.dtype == ring.return_type.np_type


def test_a_product_whose_entries_all_have_the_value_one_is_iso_valued():
    one = np.broadcast_to(np.ones(1, bool), 3)
    A = do.build_matrix(3, 3, np.array([0, 1, 2]), np.array([1, 2, 0]), one, None)
    u = SparseVector(3, np.array([0, 1], np.int32), np.array([7, 8]))
    for w in (
        do.push(A, u, semiring.any_pair["INT64"], "vxm", None),
        do.pull(A, do.to_bitmap(u), semiring.any_pair["INT64"], "mxv", None),
    ):
        assert is_iso(w.values)


# --- write rule -----------------------------------------------------------------------------


def written(c, t, allows, accum, replace):
    """Return C after the statement C⟨mask, replace⟩ = accum(C, T), as GraphBLAS defines it.

    The function `allows` tells whether the mask allows a position.
    """
    z = t if accum is None else joined(c, t, accum)
    kept = {} if replace else {p: x for p, x in c.items() if not allows(p)}
    return kept | {p: x for p, x in z.items() if allows(p)}


accums = {
    None: None,
    "minus": lambda x, y: int(np.int8(np.int64(x) - np.int64(y))),
    "second": lambda x, y: y,
}


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("name", accums)
@settings(max_examples=150, deadline=None)
@given(st.data(), sizes, forms, forms, forms, st.booleans())
def test_writing_a_vector_obeys_the_graphblas_write_rule(
    name, replace, data, size, c_form, t_form, mask_form, complement
):
    c, t = data.draw(tables(size, np.int8)), data.draw(tables(size))
    masked = data.draw(st.none() | st.just(t) | tables(size, np.bool_))
    C, T = vector(size, c, c_form, np.int8), vector(size, t, t_form)
    mask = None if masked is None else vector_mask(size, masked, mask_form, complement)
    if masked is t and isinstance(T, SparseVector):
        mask = VectorMask(size, None, T.indices, complement, T.is_sorted)
    elif masked is t and isinstance(T, BitmapVector):
        mask = VectorMask(size, T.present, None, complement)
    accum = (
        None
        if name is None
        else getattr(binary, name)["INT8", "INT64"]
        if name == "second"
        else binary.minus["INT64"]
    )
    before = C.values.copy(), T.values.copy()

    def allows(i):
        return masked is None or (i in masked) != complement

    want = written(c, t, allows, accums[name], replace)
    got = do.write_vector(C, T, mask, accum, replace, np.dtype(np.int8))
    assert table_of(got) == want
    assert got.values.dtype == np.int8
    assert (C.values == before[0]).all()
    assert (T.values == before[1]).all()
    assert table_of(C) == c
    if not isinstance(C, SparseVector) and not is_iso(C.values):
        got = do.write_vector(C, T, mask, accum, replace, np.dtype(np.int8), in_place=True)
        assert table_of(got) == want
        assert table_of(T) == t


@pytest.mark.parametrize("replace", [False, True])
@pytest.mark.parametrize("name", accums)
@settings(max_examples=80, deadline=None)
@given(st.data(), st.integers(0, 4), st.integers(0, 4), st.booleans())
def test_writing_a_matrix_obeys_the_graphblas_write_rule(
    name, replace, data, nrows, ncols, complement
):
    c, t = data.draw(tables(nrows, np.int8, ncols)), data.draw(tables(nrows, np.int64, ncols))
    masked = data.draw(st.none() | tables(nrows, np.bool_, ncols))
    C, T = matrix(nrows, ncols, c, np.int8), matrix(nrows, ncols, t)
    mask = (
        None if masked is None else MatrixMask(matrix(nrows, ncols, masked, np.bool_), complement)
    )
    accum = None if name is None else getattr(binary, name)["INT64"]

    def allows(place):
        return masked is None or (place in masked) != complement

    got = do.write_matrix(C, T, mask, accum, replace, np.dtype(np.int8))
    assert table_of(got) == written(c, t, allows, accums[name], replace)
    assert got.values.dtype == np.int8
    assert table_of(C) == c


def test_writing_values_of_another_dtype_issues_no_warning():
    c = FullVector(2, np.zeros(2, np.int8))
    t = SparseVector(2, np.array([0, 1], np.int32), np.array([np.nan, 1e300]))
    do.write_vector(c, t, None, binary.second["INT8", "FP64"], False, np.dtype(np.int8))


def test_a_write_in_place_reuses_the_arrays_of_the_vector():
    c = BitmapVector(4, np.array([True, False, False, True]), np.arange(4), 2)
    t = SparseVector(4, np.array([1], np.int32), np.array([9]))
    mask = VectorMask(4, None, t.indices, False)
    got = do.write_vector(c, t, mask, None, False, np.dtype(np.int64), in_place=True)
    assert got.values is c.values
    assert isinstance(got, BitmapVector)
    assert got.present is c.present
    assert table_of(got) == {0: 0, 1: 9, 3: 3}


def test_a_union_is_correct_if_its_first_entry_occurs_only_in_the_smaller_operand():
    u = gl.Vector.from_coo([1, 2, 3, 4], [10, 20, 30, 40], size=500)
    v = gl.Vector.from_coo([0, 3], [1, 2], size=500)
    with gl.config.set(compiled=False):
        assert gl.binary.plus(u | v).new().to_dict() == {0: 1, 1: 10, 2: 20, 3: 32, 4: 40}
        assert gl.binary.minus(v | u).new().to_dict() == {0: 1, 1: 10, 2: 20, 3: -28, 4: 40}


@given(st.lists(st.booleans(), max_size=40))
def test_flags_are_reduced_as_in_python(flags: list[bool]) -> None:
    array = gl.Vector.from_dense(np.array(flags, bool)).to(DEVICE).to_dense(copy=False)
    assert is_any(array) is any(flags)
    assert are_all(array) is all(flags)
    assert int(count_true(array)) == sum(flags)
