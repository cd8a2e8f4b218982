"""Test that a write changes a vector in place on the device if no other object uses its arrays.
Such a write does not compute the number of entries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NoReturn

import cupy as xp
import numpy as np
import pytest

from graphla import Matrix, Vector, binary, config, replace
from graphla.backends import backend
from graphla.formats import BitmapVector, Counted, FullVector
from graphla.operations import assignment, moving
from graphla.stores import VectorStore, take_in_place
from semirings.dtypes import INT64, lookup_dtype
from semirings.exceptions import DuplicateEntry, IndexOutOfBound

do = backend("cuda")


class Noun:
    def __init__(self, forms: VectorStore) -> None:
        self._store = forms


def bitmap_noun() -> Noun:
    present = xp.asarray(np.array([True, False, True, False]))
    storage = BitmapVector(4, present, xp.arange(4), Counted(xp.asarray(np.int64(2))))
    return Noun(VectorStore("cuda", INT64, storage))


def full_noun() -> Noun:
    return Noun(VectorStore("cuda", INT64, FullVector(4, xp.arange(4))))


@pytest.mark.parametrize("make", [bitmap_noun, full_noun])
def test_a_vector_can_be_overwritten_if_no_other_object_uses_its_arrays(make):
    noun = make()
    assert take_in_place(noun) is not None
    noun._store.sparse()
    noun._store.mask(True, True)
    assert take_in_place(noun) is not None


def over_the_same_memory(noun: Any) -> Any:
    values = noun._store.any_form.values
    return xp.ndarray(4, values.dtype, memptr=values.data)


seen_by = {
    "a second noun": lambda noun: Noun(noun._store),
    "a kept storage": lambda noun: noun._store.any_form,
    "an exported array": lambda noun: noun._store.any_form.values,
    "a view": lambda noun: noun._store.any_form.values[1:],
    "a view of a view": lambda noun: noun._store.any_form.values[1:][1:],
    "another array over its memory": over_the_same_memory,
}


@pytest.mark.parametrize("make", [bitmap_noun, full_noun])
@pytest.mark.parametrize("who", seen_by)
def test_a_vector_is_not_overwritten_if_another_object_uses_its_arrays(make, who):
    noun = make()
    holder = seen_by[who](noun)
    assert take_in_place(noun) is None
    del holder


@pytest.mark.parametrize(
    "values", [lambda: xp.arange(8)[:4], lambda: xp.broadcast_to(xp.arange(1), (4,))]
)
def test_an_array_that_does_not_own_its_memory_is_not_overwritten(values):
    assert take_in_place(Noun(VectorStore("cuda", INT64, FullVector(4, values())))) is None


def test_a_search_writes_in_place_without_reading_the_number_of_entries():
    n = 50
    reached, frontier = (Vector.from_coo([0], [0], int, size=n) for _ in range(2))
    reached, frontier = reached.to("cuda"), frontier.to("cuda")
    places = []
    for step in range(1, 6):
        frontier(~reached.S, replace) << Vector.from_coo([step], [step], int, size=n).to("cuda")
        reached(frontier.S) << frontier
        places.append(reached._store.any_form.present.data.ptr)
        assert reached._store.known_nvals is None
    assert len(set(places[1:])) == 1
    assert reached.nvals == 6
    assert reached.to_coo()[1].tolist() == list(range(6))


def test_elements_are_set_and_deleted_in_place():
    v = Vector.from_coo([1, 3], [10, 30], int, size=5).to("cuda")
    v[2] = 20
    place = v._store.any_form.values.data.ptr
    v[4], v[1] = 40, 11
    del v[3]
    assert v._store.any_form.values.data.ptr == place
    assert (v.nvals, v.get(3), v[1].value, v.get(4)) == (3, None, 11, 40)
    w = v.dup()
    v[0] = 5
    assert 0 not in w and v.get(0) == 5


def test_index_arrays_on_the_device_select_and_assign_entries():
    A = Matrix.from_coo([0, 1, 2, 2], [1, 2, 0, 2], [1, 2, 3, 4], nrows=3, ncols=3).to("cuda")
    order = xp.asarray(np.array([2, -3, 1], np.int32))
    B = A[order, order].new()
    assert B.isequal(A[[2, 0, 1], [2, 0, 1]].new())
    v = Vector.from_coo([0, 2], [5, 6], size=3).to("cuda")
    assert v[order].new().to_dict() == {0: 6, 1: 5}
    v[order[:2]] << 9
    assert v.to_dict() == {0: 9, 2: 9}
    with pytest.raises(IndexOutOfBound, match="index 3 is out of range"):
        v[xp.asarray([3])]
    with pytest.raises(DuplicateEntry, match="index 1 occurs twice"):
        v[xp.asarray([1, 0, 1])] << 1
    w = v.to("cpu")
    w[order[:2]] << 8
    assert w[order].new().to_dict() == {0: 8, 1: 8}


def test_a_vector_of_indices_is_not_copied_to_the_host(monkeypatch):
    def refuse(array: Any) -> NoReturn:
        raise AssertionError("indices were copied to the host")

    q = Vector.from_dense(np.arange(500)[::-1] // 2).to("cuda")
    even, v = (
        Vector.from_dense(np.arange(0, 1000, 2)[::-1]).to("cuda"),
        Vector(int, 1000).to("cuda"),
    )
    monkeypatch.setattr(moving, "on_host", refuse)
    monkeypatch.setattr(assignment, "on_host", refuse)
    v[even] << q
    v(binary.plus)[q] << 1
    part = v[q].new()
    monkeypatch.undo()
    expected = np.zeros(1000, int)
    expected[::2] = np.arange(500) // 2
    np.add.at(expected, np.arange(500) // 2, 1)
    assert part.to_dense().tolist() == expected[np.arange(500)[::-1] // 2].tolist()


@pytest.fixture
def on_gpu() -> Iterator[None]:
    """Create vectors on the GPU."""
    with config.set(device="cuda"):
        yield


@pytest.mark.usefixtures("on_gpu")
@pytest.mark.parametrize("size", [1, 2, 50])
def test_writing_to_a_vector_whose_value_array_is_shared_changes_no_other_vector(size):
    first, other = Vector("INT64", size), Vector("INT64", size)
    for w in (first, other):
        w << 5
    for shown in (first.to_coo(copy=False)[1], first.to_dense(copy=False)):
        # Write through another array, because the simulator does not allow shown[0] = 7.
        xp.ndarray(1, shown.dtype, memptr=shown.data)[0] = 7
    third = Vector("INT64", size)
    third << 5
    third[0] = 8
    third += 1
    later = Vector("INT64", size)
    later << 5
    assert other.to_dense(copy=True).tolist() == later.to_dense(copy=True).tolist() == [5] * size


@pytest.mark.usefixtures("on_gpu")
def test_constants_with_different_dtypes_or_bit_patterns_are_distinguished():
    for value, dtype in ((0.0, "FP64"), (-0.0, "FP64"), (0, "INT64"), (False, "BOOL"), (0, "FP32")):
        w = Vector(dtype, 3)
        w << value
        kept = w.to_dense(copy=True)
        assert kept.dtype == lookup_dtype(dtype).np_type
        assert np.signbit(kept.astype(float)).tolist() == [np.signbit(float(value))] * 3
