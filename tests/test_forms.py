"""Test that each storage form is built only once, and that shared arrays are not overwritten."""

import sys
import threading
from dataclasses import replace
from weakref import ref

import numpy as np
import pytest

from graphla.backends import backend
from graphla.formats import (
    BitmapVector,
    Csr,
    FullVector,
    SparseVector,
    VectorMask,
    is_iso,
    remember,
)
from graphla.stores import MatrixStore, ScalarStore, VectorStore, take_in_place
from semirings.dtypes import BOOL, INT64

needs_counts = pytest.mark.skipif(
    sys.implementation.name != "cpython" or not getattr(sys, "_is_gil_enabled", lambda: True)(),
    reason="references are not counted here, so that nothing is written in place",
)


class Noun:
    """A minimal stand-in for a Vector: an object whose `_store` holds the entries."""

    def __init__(self, forms):
        self._store = forms


def bitmap_noun():
    present = np.array([True, False, True, False])
    return Noun(VectorStore("cpu", INT64, BitmapVector(4, present, np.arange(4), 2)))


def full_noun():
    return Noun(VectorStore("cpu", INT64, FullVector(4, np.arange(4))))


def sparse(size, indices, values, is_sorted=True):
    return SparseVector(size, np.array(indices, np.int32), np.array(values), is_sorted)


# --- forms --------------------------------------------------------------------------------------


def test_each_storage_form_is_built_only_once():
    v = VectorStore("cpu", INT64, sparse(4, [3, 1], [30, 10], False))
    assert v.sparse(sorted=False).indices.tolist() == [3, 1]
    assert v.sparse().indices.tolist() == [1, 3]
    assert v.sparse() is v.sparse(sorted=False)
    assert v.bitmap() is v.bitmap()
    assert v.full() is None
    assert (v.size, v.nvals) == (4, 2)


def test_a_vector_with_every_entry_has_only_the_full_form():
    v = VectorStore("cpu", INT64, sparse(3, [2, 0, 1], [2, 0, 1], False))
    full = v.dense()
    assert isinstance(full, FullVector)
    assert full.values.tolist() == [0, 1, 2]
    assert v.any_form is full
    assert v.bitmap().present.all()
    assert v.sparse().values.tolist() == [0, 1, 2]
    assert not v.has_sparse


@pytest.mark.parametrize("size", [0, 3])
def test_an_empty_vector_has_no_entries_in_any_form(size):
    v = VectorStore.empty("cpu", INT64, size)
    assert (v.size, v.nvals, v.bitmap().nvals) == (size, 0, 0)
    assert (v.full() is None) == (size > 0)
    mask = VectorStore.empty("cpu", INT64, size).mask(True, False)
    assert mask is not None
    assert mask.nvals == 0


@pytest.mark.parametrize("complement", [False, True])
@pytest.mark.parametrize("structural", [False, True])
@pytest.mark.parametrize("how", ["sparse", "unsorted", "bitmap", "full", "both"])
@pytest.mark.parametrize("values", [[1, 0, 2], [0, 0, 0], [1, 1, 1]])
@pytest.mark.parametrize("iso", [False, True])
def test_each_kind_of_mask_selects_the_correct_indices(how, structural, complement, values, iso):
    size, indices = (3, [0, 1, 2]) if how == "full" else (5, [0, 2, 4])
    values = np.array(values)
    values = np.broadcast_to(values[:1], 3) if iso else values
    table = dict(zip(indices, values.tolist(), strict=True))
    v = SparseVector(size, np.array(indices, np.int32), values)
    if how == "unsorted":
        v = SparseVector(size, v.indices[::-1], v.values[::-1], False)
    forms = VectorStore("cpu", INT64, v)
    if how in ("full", "bitmap"):
        forms = VectorStore("cpu", INT64, forms.dense())
    elif how == "both":
        forms.bitmap()
    mask = forms.mask(structural, complement)
    want = {i for i in range(size) if (i in table and (structural or bool(table[i]))) != complement}
    assert lets_through(mask, size) == want


def lets_through(mask, size):
    if mask is None:
        return set(range(size))
    said = []
    if mask.present is not None:
        said.append(set(np.flatnonzero(mask.present).tolist()))
    if mask.indices is not None:
        said.append(set(mask.indices.tolist()))
        assert not mask.is_sorted or sorted(said[-1]) == mask.indices.tolist()
    assert said
    assert all(each == said[0] for each in said)
    assert mask.nvals in (None, len(said[0]))
    return set(range(size)) - said[0] if mask.complement else said[0]


def csr():
    indptr, indices = np.array([0, 2, 2], np.int32), np.array([0, 2], np.int32)
    return Csr(2, 3, indptr, indices, np.array([5, 0]))


def test_a_matrix_and_its_transpose_share_the_forms_that_either_builds():
    A = MatrixStore("cpu", INT64, csr())
    B = A.T
    assert (B.nrows, B.ncols, B.nvals) == (3, 2, 2)
    assert B.csc is A.csr
    assert not A.has_csc
    assert not B.has_csr
    assert B.csr is A.csc
    assert A.has_csc
    assert A.T.T.csr is A.csr
    assert not A.is_symmetric


def test_a_symmetric_matrix_stores_only_one_format():
    a = Csr(1, 1, np.array([0, 1], np.int32), np.array([0], np.int32), np.array([1]))
    A = MatrixStore("cpu", INT64, a, a)
    assert A.is_symmetric
    assert A.T.csr is a


def test_a_value_mask_of_a_matrix_drops_false_entries():
    A = MatrixStore("cpu", INT64, csr())
    assert A.mask(True, False).pattern is A.csr
    assert A.mask(False, True).pattern.indices.tolist() == [0]
    assert A.mask(False, True).complement


def test_an_empty_matrix_and_an_empty_scalar_have_no_entries():
    A = MatrixStore.empty("cpu", INT64, 0, 3)
    assert (A.nrows, A.ncols, A.nvals, A.csc.nrows) == (0, 3, 0, 3)
    assert ScalarStore("cpu", BOOL).nvals == 0
    assert ScalarStore("cpu", BOOL, np.False_).nvals == 1


def test_a_storage_form_is_built_only_once_even_if_several_threads_request_it():
    a = backend("cpu").transpose(csr())
    A = MatrixStore("cpu", INT64, None, a)
    start, made = threading.Barrier(4), []

    def ask():
        start.wait()
        made.append(A.csr)

    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(each is A.csr for each in made)


# --- in-place writes to a vector ----------------------------------------------------------------


@needs_counts
@pytest.mark.parametrize("make", [bitmap_noun, full_noun])
def test_a_vector_without_other_references_is_written_in_place(make):
    noun = make()
    taken = take_in_place(noun)
    assert taken is not None
    assert taken.values.tolist() == [0, 1, 2, 3]


@needs_counts
def test_a_vector_is_written_in_place_after_its_other_forms_were_released():
    noun = bitmap_noun()
    noun._store.sparse()
    noun._store.mask(True, True)
    noun._store.mask(False, False)
    assert take_in_place(noun) is not None
    assert not noun._store.has_sparse
    noun = full_noun()
    noun._store.sparse()
    noun._store.bitmap()
    assert take_in_place(noun) is not None


def through_a_mask(noun):
    return noun._store.mask(True, False)


def through_a_value_mask_of_bools(noun):
    noun._store = VectorStore("cpu", BOOL, FullVector(4, np.ones(4, bool)))
    return noun._store.mask(False, False)


def through_a_generator(noun):
    def holding():
        forms = noun._store
        yield
        yield forms

    running = holding()
    next(running)
    return running


seen_by = {
    "a second noun": lambda noun: Noun(noun._store),
    "an expression": lambda noun: (noun._store,),
    "a kept storage": lambda noun: noun._store.any_form,
    "an exported array": lambda noun: noun._store.any_form.values,
    "a view": lambda noun: noun._store.any_form.values[1:],
    "a view of a view": lambda noun: noun._store.any_form.values[1:][1:].reshape(1, 2),
    "another dtype's view": lambda noun: noun._store.any_form.values.view(np.uint8),
    "a buffer": lambda noun: memoryview(noun._store.any_form.values),
    "an iterator": lambda noun: iter(noun._store.any_form.values),
    "a suspended generator": through_a_generator,
    "a closure": lambda noun: (lambda forms: lambda: forms)(noun._store),
}


@pytest.mark.parametrize("make", [bitmap_noun, full_noun])
@pytest.mark.parametrize("who", seen_by)
def test_a_vector_that_is_referenced_elsewhere_is_not_written_in_place(make, who):
    noun = make()
    holder = seen_by[who](noun)
    assert take_in_place(noun) is None
    del holder


def test_a_bitmap_that_a_mask_uses_is_not_written_in_place():
    noun = bitmap_noun()
    mask = noun._store.mask(True, True)
    assert isinstance(mask, VectorMask)
    assert take_in_place(noun) is None


def test_an_imported_array_is_not_overwritten_while_the_caller_holds_it():
    given = np.arange(4)
    noun = Noun(VectorStore("cpu", INT64, FullVector(4, given)))
    assert take_in_place(noun) is None


@pytest.mark.parametrize(
    "values",
    [np.arange(8)[:4], np.broadcast_to(np.array([1]), 4), np.frombuffer(bytes(32), np.int64)],
    ids=["a view", "iso", "a buffer of another"],
)
def test_an_array_that_does_not_own_its_memory_is_not_overwritten(values):
    storage = FullVector(4, values.view())
    assert take_in_place(Noun(VectorStore("cpu", INT64, storage))) is None


def test_a_read_only_array_is_not_overwritten():
    noun = full_noun()
    noun._store.any_form.values.flags.writeable = False
    assert take_in_place(noun) is None


def test_a_vector_that_another_thread_reads_is_not_written_in_place():
    noun, reading, done = bitmap_noun(), threading.Event(), threading.Event()

    def read():
        values = noun._store.any_form.values
        reading.set()
        done.wait()
        del values

    thread = threading.Thread(target=read)
    thread.start()
    reading.wait()
    assert take_in_place(noun) is None
    done.set()
    thread.join()


def test_a_sparse_vector_is_not_written_in_place():
    assert take_in_place(Noun(VectorStore("cpu", INT64, sparse(4, [1], [2])))) is None


@needs_counts
def test_an_interrupted_write_leaves_a_consistent_vector():
    noun = bitmap_noun()
    noun._store.sparse()
    taken = take_in_place(noun)
    assert isinstance(taken, BitmapVector)
    taken.values[1] = 9
    taken.present[1] = True
    # Simulate a write that was interrupted here: the vector never receives the new storage form.
    assert noun._store.nvals == 3
    assert noun._store.sparse().indices.tolist() == [0, 1, 2]
    assert noun._store.any_form.nvals == 3


def test_repeated_merges_into_a_sparse_vector_make_the_vector_dense():
    size = 1000
    noun = Noun(VectorStore.empty("cpu", INT64, size))
    do, went_dense = backend("cpu"), None
    for i in range(size):
        base = noun._store.base_for_write(1)
        if isinstance(base, BitmapVector):
            went_dense = i
            break
        t = sparse(size, [i], [i])
        written = do.write_vector(
            base, t, VectorMask(size, None, t.indices, False), None, False, int
        )
        noun._store = noun._store.successor(written)
    assert went_dense is not None
    assert 10 < went_dense < 50


def test_a_huge_empty_vector_stays_sparse():
    v = VectorStore.empty("cpu", INT64, (1 << 31) - 1)
    assert isinstance(v.base_for_write(1 << 31), SparseVector)


def test_conversions_between_forms_keep_iso_values():
    values = np.broadcast_to(np.array([7]), 2)
    v = VectorStore("cpu", INT64, SparseVector(4, np.array([3, 1], np.int32), values, False))
    assert is_iso(v.sparse().values)
    assert is_iso(v.bitmap().values)


def test_cached_properties_of_a_matrix_are_computed_once_and_freed_with_the_matrix():
    def matrix() -> Csr:
        return Csr(1, 1, *np.zeros((3, 2), np.int32))

    found = []
    a, b = matrix(), matrix()
    for _ in range(2):
        for holder in (a, b):
            for key in ("longest", "rows"):
                assert remember(holder, key, lambda key=key: found.append(key) or len(found)) < 5
    assert found == ["longest", "rows", "longest", "rows"]
    held = matrix()
    gone = ref(held)
    remember(a, "held", lambda held=held: held)
    del held
    assert gone() is not None
    del a
    assert gone() is None
    assert replace(b, nrows=2).nrows == 2 and b.nrows == 1
