"""Tests of the arguments that `closure` rejects, and of the evaluation method that it chooses."""

from __future__ import annotations

import numpy as np
import pytest
from devices import DEVICE
from scipy import sparse

import graphla as gl
from graphla.exceptions import DimensionMismatch, DomainMismatch, InvalidValue
from graphla.traversal.laws import evaluation
from semirings import binary, monoid, semiring

A = gl.Matrix.from_coo([0, 1], [1, 2], [3, 4], nrows=3, ncols=3)
x = gl.Vector.from_coo([0], [0], size=3)


def refused(kind, message, *args, **options):
    with pytest.raises(kind, match=message):
        gl.closure(*args, **options)


def test_a_matrix_that_is_not_square_is_rejected():
    refused(
        DimensionMismatch, "A has 2 rows and 3 columns, but", x, gl.Matrix(int, 2, 3), "min_plus"
    )


def test_a_start_vector_of_the_wrong_size_is_rejected():
    refused(DimensionMismatch, "x has size 2, but A has 3 rows", gl.Vector(int, 2), A, "min_plus")


def test_arguments_that_are_not_a_vector_or_a_matrix_are_rejected():
    refused(TypeError, "x must be a graphla.Vector, not a list", [0], A, "min_plus")
    refused(TypeError, "A must be a graphla.Matrix, not a numpy.ndarray", x, np.eye(3), "min_plus")
    refused(TypeError, "A must be a graphla.Matrix, not a Vector", x, x, "min_plus")
    refused(TypeError, "convert it by Matrix.from_dense", x, np.eye(3), "min_plus")
    refused(TypeError, "convert it by graphla.io.from_sci", x, sparse.eye_array(3), "min_plus")
    refused(TypeError, "not a Graph; A.matrix is one", x, gl.Graph(A), "min_plus")


def test_an_operator_that_is_not_a_semiring_is_rejected():
    refused(TypeError, "op must be a semiring", x, A, monoid.min)
    refused(InvalidValue, "nonsense", x, A, "nonsense")


def test_semirings_with_the_monoid_any_are_rejected():
    refused(InvalidValue, "the monoid any, under which a closure has no least", x, A, "any_plus")


@pytest.mark.parametrize("name", ["plus_times", "bor_band", "lxor_land", "times_first"])
def test_a_monoid_that_does_not_return_an_operand_is_rejected(name):
    refused(InvalidValue, "a closure needs one that picks one of its operands", x, A, name)


def test_a_user_defined_monoid_must_be_declared_idempotent():
    mine = monoid.register_anonymous(binary.register_anonymous(lambda a, b: a, "mine"), 0)
    op = semiring.register_anonymous(mine, binary.plus)
    refused(InvalidValue, "registered with is_idempotent=True", x, A, op)


def test_a_semiring_whose_products_are_not_valid_operands_is_rejected():
    refused(
        DomainMismatch, "whose products are BOOL but whose first operand is INT64", x, A, "max_eq"
    )


@pytest.mark.parametrize(
    ("cutoff", "kind"), [(-1, ValueError), (1.5, TypeError), (True, TypeError), ("2", TypeError)]
)
def test_an_invalid_cutoff_is_rejected(cutoff, kind):
    refused(kind, "cutoff", x, A, "min_plus", cutoff=cutoff)


def test_the_argument_name_limit_is_accepted_as_the_former_name_of_cutoff():
    with pytest.warns(FutureWarning, match="limit is now called cutoff"):
        found = gl.closure(x, A, "min_plus", limit=1).values
    assert found.isequal(gl.closure(x, A, "min_plus", cutoff=1).values)
    with pytest.raises(TypeError, match="cutoff and limit are one argument"):
        gl.closure(x, A, "min_plus", cutoff=1, limit=1)


def test_a_value_of_parents_that_is_neither_true_nor_false_is_rejected():
    refused(
        TypeError, "parents must be True or False, not 'least'", x, A, "min_plus", parents="least"
    )


def test_masks_of_the_wrong_size_or_type_are_rejected():
    wide = gl.Vector(bool, 4)
    refused(DimensionMismatch, "the mask has", x, A, "min_plus", mask=wide.S)
    refused(TypeError, "mask is that of a Matrix", x, A, "min_plus", mask=A.S)
    refused(TypeError, "say whether its structure", x, A, "min_plus", mask=gl.Vector(int, 3))
    refused(TypeError, "a mask must be like", x, A, "min_plus", mask=[True, False, True])


def test_a_boolean_vector_is_accepted_as_a_mask():
    truth = gl.Vector.from_dense([False, True, False])
    assert gl.closure(x, A, "min_plus", mask=truth).values.to_dict() == {0: 0, 1: 3}


@pytest.mark.skipif(DEVICE != "cuda", reason="needs a CPU and a GPU")
def test_operands_on_two_devices_are_rejected():
    with pytest.raises(gl.exceptions.DeviceMismatch, match="x and A are on"):
        gl.closure(x.to("cpu"), A, "min_plus")
    with pytest.raises(gl.exceptions.DeviceMismatch, match="mask"):
        gl.closure(x, A, "min_plus", mask=x.to("cpu").S)


# --- the choice of the evaluation method ----------------------------------------------------


def how(name, weights, start=(0, 0), dtype=None):
    values = np.array(weights, dtype)
    n = len(weights)
    B = gl.Matrix.from_coo(np.arange(n), np.arange(n), values, nrows=n, ncols=n)
    op = getattr(semiring, name)[B.dtype]
    low, high = np.array(start, B.dtype.np_type)
    return tuple(evaluation(op, B._store, low, high))


NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("name", "weights", "expected"),
    [
        ("min_plus", [0, 3], ("near_far", True)),
        ("min_plus", [-1, 3], ("improving", False)),
        ("min_plus", [0.0, INF], ("near_far", True)),
        ("min_plus", [1.0, NAN], ("rounds", False)),
        ("min_plus", [1.0, -INF], ("rounds", False)),
        ("max_plus", [0, -3], ("near_far", True)),
        ("max_plus", [0, 3], ("improving", False)),
        ("max_times", [0.5, 1.0], ("near_far", True)),
        ("max_times", [0.5, 1.5], ("improving", False)),
        ("max_times", [0.5, -0.5], ("rounds", False)),
        ("min_times", [1, 4], ("near_far", True)),
        ("max_min", [-7, 7], ("near_far", True)),
        ("min_max", [-7.0, NAN], ("improving", False)),
        ("lor_land", [True, False], ("improving", True)),
        ("min_first", [1, 2], ("improving", True)),
        ("min_second", [1, 2], ("improving", False)),
        ("min_truediv", [1.0, 2.0], ("rounds", False)),
    ],
)
def test_the_laws_of_a_semiring_determine_the_evaluation_method(name, weights, expected):
    assert how(name, weights) == expected


def test_a_start_value_outside_the_domain_of_a_law_changes_the_evaluation_method():
    assert how("max_times", [0.5, 1.0], start=(-1.0, 1.0)) == ("rounds", False)
    assert how("min_plus", [0.5, 1.0], start=(-INF, 1.0)) == ("rounds", False)
    assert how("min_truediv", [0.5, 2.0], start=(1.0, 1.0)) == ("improving", False)


def test_a_recorder_records_each_round():
    # Use NumPy, because a compiled loop may divide the work into rounds differently.
    with gl.Recorder() as recorder, gl.config.set(compiled=False):
        gl.closure(x, A, "min_plus")
    heard = [event for event in recorder.events if event.operation == "closure"]
    assert len(heard) >= 2
    assert all(event.semiring == "semiring.min_plus[INT64]" for event in heard)
    assert [event.nvals_in for event in heard[:2]] == [1, 1]
    assert "round 0" in str(recorder)
