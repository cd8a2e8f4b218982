"""Tests of devices, input and output arrays, and errors, on a real or a simulated GPU."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from typing import Any

import cupy
import numpy as np
import pytest
from devices import has_card

import graphla as gl
from graphla.expression import expression
from graphla.io import from_scipy_sparse, to_cupyx_sparse, to_scipy_sparse
from graphla.operations.operation import Operation
from graphla.operations.reductions import reduce_scalar
from semirings.exceptions import DeviceMismatch, DeviceUnavailable

SIMULATED = not has_card()
simulated = pytest.mark.skipif(not SIMULATED, reason="shows on a simulated card alone")


@pytest.fixture(autouse=True)
def on_cuda() -> Iterator[None]:
    with gl.config.set(device="cuda"):
        yield


@pytest.fixture
def two_cards() -> Iterator[None]:
    if not SIMULATED:
        if cupy.cuda.runtime.getDeviceCount() < 2:
            pytest.skip("needs two cards")
        yield
        return
    from simulator import machine

    machine.reset(devices=2)
    yield
    machine.reset()


def square(n: int = 40) -> gl.Matrix:
    i = np.arange(n)
    rows, columns = np.concatenate([i, i, i]), np.concatenate([(i + 1) % n, (i * 7) % n, i])
    values = np.arange(1.0, 3 * n + 1)
    return gl.Matrix.from_coo(rows, columns, values, nrows=n, ncols=n, dup_op="plus")


# --- devices ------------------------------------------------------------------------------------


def test_a_new_object_is_on_the_current_gpu_and_reports_this_device():
    assert square().device == "cuda:0" and gl.Vector(int, 3).device == "cuda:0"
    assert (square() @ square()).new(dtype=float).device == "cuda:0"
    assert ", on cuda:0" in repr(square())
    with gl.config.set(device="cpu"):
        assert square().device == "cpu"


def test_a_scalar_on_another_gpu_does_not_change_the_gpu_of_a_result(two_cards):
    with gl.config.set(device="cuda:1"):
        v = gl.Vector.from_coo([0, 2], [3, 4], size=5)
    seen = []

    def compute(w: Any) -> Any:
        seen.append(cupy.cuda.runtime.getDevice())
        return reduce_scalar.compute(w, gl.monoid.plus[w.dtype], True)

    for device in ("cpu", "cuda:0"):
        with gl.config.set(device=device):
            s = gl.Scalar(int)
        s << expression(Operation("where", compute), (v._store,), (), v.dtype)
        assert s.value == 7 and s.device == device
    assert seen == [1, 1]


def test_moving_to_another_device_keeps_all_entries():
    A = square()
    v = A.reduce_rowwise().new()
    for x in (A, A.T.new(), v, v.select(">", 100).new(), gl.Vector(int, 4), gl.Matrix(bool, 0, 3)):
        there = x.to("cpu")
        assert there.device == "cpu" and there.dtype is x.dtype
        back = there.to("cuda")
        assert back.device == "cuda:0" and back.isequal(x, check_dtype=True)
    assert A.to("cuda:0").isequal(A)


def test_a_moved_iso_valued_matrix_still_stores_its_value_only_once():
    A = gl.Matrix.from_coo([0, 1], [1, 0], 2.5).to("cpu").to("cuda")
    assert A.to_csr(copy=False)[2].strides == (0,)


def test_a_symmetric_matrix_remains_symmetric_after_a_move():
    A = gl.Matrix.from_coo([0, 1], [1, 0], [2, 2], symmetric=True)
    assert A.to("cpu")._store.is_symmetric and A.to("cpu").to("cuda")._store.is_symmetric


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "CPU", "", None, 0])
def test_an_invalid_device_name_is_rejected(device: Any):
    with pytest.raises(ValueError, match="must be"):
        square().to(device)


def test_the_error_about_a_gpu_that_does_not_exist_names_the_gpu():
    with pytest.raises(DeviceUnavailable, match=r"cuda:99.* is not there"):
        square().to("cuda:99")


def test_operands_on_different_devices_are_rejected():
    A = square()
    B, v = A.to("cpu"), gl.Vector.from_dense(np.ones(40))
    mask = v.to("cpu")
    for mixed in (
        lambda: A @ B,
        lambda: A + B,
        lambda: (A & B).new(),
        lambda: A.isequal(B),
        lambda: B << A,
        lambda: B.update(A @ A),
        lambda: v(mask.S) << A.mxv(v),
        lambda: v.__setitem__(slice(None), mask),
        lambda: v.dup(mask=mask.S),
        lambda: v.select(mask.S),
        lambda: v.S & mask.S,
        lambda: v[gl.Vector.from_dense([0, 1]).to("cpu")],
    ):
        with pytest.raises(DeviceMismatch, match=r"cuda:0.*cpu|cpu.*cuda:0"):
            result: Any = mixed()
            result.new()


def test_a_scalar_can_be_combined_with_any_device():
    s = gl.Scalar.from_value(2.0)
    with gl.config.set(device="cpu"):
        v = gl.Vector.from_dense([1.0, 2.0])
    assert (v * s).new().to_dense().tolist() == [2.0, 4.0]


def test_an_algorithm_runs_on_the_device_of_its_graph():
    from graphla.algorithms import bfs, connected_components, pagerank

    A = square()
    expected = bfs(A.to("cpu"), 0).levels
    with gl.config.set(device="cpu"):
        levels = bfs(A, 0).levels
        assert levels.device == "cuda:0" and levels.to("cpu").isequal(expected)
        assert connected_components(A).device == "cuda:0"
        assert pagerank(A).device == "cuda:0"


def test_each_operation_runs_on_the_gpu_of_its_operands(two_cards: None):
    A = square()
    B = A.to("cuda:1")
    assert B.device == "cuda:1" and cupy.cuda.runtime.getDevice() == 0
    assert (B @ B).new().to("cpu").isequal((A @ A).new().to("cpu"))
    v = gl.Vector.from_dense(np.arange(40.0)).to("cuda:1")
    v(v.S) << B.mxv(v)
    v[3] = 7
    v[[1, 2]] = 5
    assert v[3].new().value == 7 and v.nvals == 40 and "cuda:1" in repr(v)
    assert B.T.new().device == "cuda:1" and B.to_csr(copy=False)[0].device.id == 1
    assert cupy.cuda.runtime.getDevice() == 0
    with pytest.raises(DeviceMismatch, match=r"cuda:0.*cuda:1"):
        A + B
    with gl.config.set(device="cuda:1"):
        assert gl.Vector.from_coo([1], [2.0], size=3).device == "cuda:1"
    with cupy.cuda.Device(1):
        assert gl.Vector.from_dense([1.0]).device == "cuda:1"
        assert A.nvals == A.to("cpu").nvals


# --- tests of input and output arrays -----------------------------------------------------------


def test_arrays_on_a_gpu_stay_on_this_gpu_regardless_of_the_default_device():
    i, j, x = cupy.asarray([2, 0, 1]), cupy.asarray([1, 0, 1]), cupy.asarray([3.0, 1.0, 2.0])
    with gl.config.set(device="cpu"):
        A = gl.Matrix.from_coo(i, j, x)
        assert A.device == "cuda:0" and A.to_dicts() == {0: {0: 1.0}, 1: {1: 2.0}, 2: {1: 3.0}}
        assert gl.Vector.from_coo(i, [1, 2, 3]).to_dict() == {2: 1, 0: 2, 1: 3}
        assert gl.Vector.from_coo(i, 1.5).to_dict() == {0: 1.5, 1: 1.5, 2: 1.5}


def test_a_vector_shares_an_array_on_the_gpu_only_if_copy_is_false():
    x = cupy.arange(5.0)
    shared = gl.Vector.from_dense(x, copy=False)
    assert shared.to_dense(copy=False).data.ptr == x.data.ptr
    copied = gl.Vector.from_dense(x)
    assert copied.to_dense(copy=False).data.ptr != x.data.ptr
    shared[0] = 9.0  # this must not change x
    assert x.tolist() == [0, 1, 2, 3, 4] and shared[0].new().value == 9


def test_sorted_coordinates_are_not_shared_with_the_caller():
    i, x = cupy.asarray([0, 2], np.int32), cupy.asarray([1.0, 2.0])
    v = gl.Vector.from_coo(i, x, size=4)
    x[0], i[0] = 7, 1
    assert v.to_dict() == {0: 1.0, 2: 2.0}


def test_arrays_with_strides_are_read_correctly():
    x, edges = cupy.arange(10.0), cupy.asarray([[3, 1], [0, 2], [2, 2], [1, 0]])
    for part in (x[::2], x[::-1], x[1::3], cupy.asarray(edges, float)[:, 1]):
        for copy in (False, True):
            v = gl.Vector.from_dense(part, copy=copy)
            assert v.apply(gl.unary.ainv).new().to_dense().tolist() == (-part).tolist()
    a = gl.Matrix.from_coo(edges[::-1, 0], edges[::-1, 1], x[:8][::-2], nrows=4, ncols=3)
    there = {(3, 1): 1.0, (0, 2): 3.0, (2, 2): 5.0, (1, 0): 7.0}
    rows, columns = zip(*there, strict=True)
    assert a.isequal(gl.Matrix.from_coo(rows, columns, list(there.values())))
    indptr, indices = cupy.asarray([0, 9, 1, 9, 3, 9]), cupy.asarray([2, 9, 0, 9, 2, 9], "int32")
    for copy in (False, True):
        b = gl.Matrix.from_csr(indptr[::2], indices[::2], x[:6:2], ncols=3, copy=copy)
        assert b.reduce_columnwise("plus").new().to_dict() == {0: 2.0, 2: 4.0}


def test_sorted_csr_arrays_are_shared_and_unsorted_csr_arrays_are_sorted():
    indptr, indices = cupy.asarray([0, 2, 3], np.int32), cupy.asarray([0, 2, 1], np.int32)
    values = cupy.asarray([1.0, 2.0, 3.0])
    A = gl.Matrix.from_csr(indptr, indices, values, ncols=3, copy=False)
    for mine, theirs in zip(A.to_csr(copy=False), (indptr, indices, values), strict=True):
        assert mine.data.ptr == theirs.data.ptr
    B = gl.Matrix.from_csr(indptr, indices[::-1].copy(), values, ncols=3)
    assert B.to_dicts() == {0: {1: 1.0, 2: 2.0}, 1: {0: 3.0}}


@pytest.mark.parametrize(
    ("indices", "error"),
    [([0, -1], IndexError), ([0, 9], IndexError), ([0.0, 1.0], TypeError), ([1, 1], ValueError)],
)
def test_invalid_indices_on_a_gpu_are_rejected(indices: list[Any], error: type[Exception]):
    with pytest.raises(error, match=r"indices|given more than once"):
        gl.Vector.from_coo(cupy.asarray(indices), cupy.asarray([1, 2]), size=4)


def test_values_on_a_gpu_that_do_not_fit_in_the_dtype_are_rejected():
    with pytest.raises(OverflowError, match="does not fit INT8"):
        gl.Vector.from_dense(cupy.asarray([1, 300]), dtype="INT8")


def test_arrays_are_exchanged_through_dlpack_in_both_directions():
    v = gl.Vector.from_dense([1.0, 2.0, 3.0])
    assert v.__dlpack_device__() == (2, 0) and v.to("cpu").__dlpack_device__() == (1, 0)
    assert np.from_dlpack(v.to("cpu")).tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match="fill_value"):
        gl.Vector.from_coo([0], [1], size=2).__dlpack__()
    if not SIMULATED:
        x = cupy.from_dlpack(v)
        assert x.data.ptr == v.to_dense(copy=False).data.ptr

        class Foreign:
            __dlpack__, __dlpack_device__ = x.__dlpack__, x.__dlpack_device__

        w = gl.Vector.from_dense(Foreign(), copy=False)
        assert w.to_dense(copy=False).data.ptr == x.data.ptr and w.isequal(v)


def test_arrays_with_the_cuda_array_interface_are_accepted():
    x = cupy.arange(4.0)

    class Foreign:
        __cuda_array_interface__ = x.__cuda_array_interface__

    if SIMULATED:
        pytest.skip("the look-alike of CuPy knows its own arrays alone")
    v = gl.Vector.from_dense(Foreign(), copy=False)
    assert v.to_dense(copy=False).data.ptr == x.data.ptr


def test_scipy_matrices_are_converted_to_gpu_matrices_and_back():
    from scipy import sparse

    S = sparse.random_array((20, 30), density=0.2, format="csr", rng=np.random.default_rng(1))
    A = from_scipy_sparse(S)
    assert A.device == "cuda:0"
    assert (to_scipy_sparse(A) != S).nnz == 0 and (to_scipy_sparse(A, "csc") != S).nnz == 0


@pytest.mark.gpu
def test_a_conversion_from_or_to_a_cupyx_matrix_shares_memory():
    from cupyx.scipy import sparse

    S = sparse.random(20, 30, 0.2, format="csr")
    S.sum_duplicates()
    A = from_scipy_sparse(S)
    assert A.to_csr(copy=False)[2].data.ptr == S.data.data.ptr
    T = to_cupyx_sparse(A, copy=False)
    assert T.data.data.ptr == S.data.data.ptr
    assert abs(to_cupyx_sparse(A, "csc") - S).sum() == 0 == abs(to_cupyx_sparse(A, "coo") - S).sum()
    assert from_scipy_sparse(S.tocoo()).isequal(A) and from_scipy_sparse(S.tocsc()).isequal(A)
    with pytest.raises(TypeError, match="INT64"):
        to_cupyx_sparse(A.dup(int))


def test_unpickled_objects_are_on_the_current_device():
    A, v = square(), gl.Vector.from_dense([1.0, 2.0])
    for x in (A, v, A.T.new(), gl.Scalar.from_value(3)):
        again = pickle.loads(pickle.dumps(x))
        assert again.device == "cuda:0" and again.isequal(x)
    with gl.config.set(device="cpu"):
        assert pickle.loads(pickle.dumps(A)).device == "cpu"


def test_index_arrays_on_a_gpu_can_be_used_as_subscripts():
    v = gl.Vector.from_dense(np.arange(5.0))
    assert v[cupy.asarray([3, 1])].new().to_dense().tolist() == [3, 1]
    v[:2] = cupy.asarray([8.0, 9.0])
    assert v.to_dense().tolist() == [8, 9, 2, 3, 4]


def test_strided_arrays_and_subnormal_values_on_a_gpu_are_read_exactly():
    x = cupy.arange(10.0)[::3]
    assert gl.Vector.from_dense(x, copy=False).to_dense().tolist() == [0, 3, 6, 9]
    square = cupy.arange(6.0).reshape(2, 3)
    assert gl.Matrix.from_dense(square.T).to_dense().tolist() == square.T.tolist()
    v = gl.Vector.from_coo(cupy.arange(8)[::2], cupy.arange(8.0)[1::2], size=9)
    assert v.to_dict() == {0: 1, 2: 3, 4: 5, 6: 7}
    tiny = cupy.asarray([0.0, 1e-45, 1.0], np.float32)
    assert gl.Vector.from_dense(tiny, 0).nvals == 2
    small = gl.Vector.from_dense(cupy.asarray([1e-45, 1.0]), dtype="FP32")
    assert small.to_dense().tolist() == np.array([1e-45, 1.0], np.float32).tolist()
    one = gl.Vector.from_coo([0, 1, 2], cupy.broadcast_to(cupy.asarray([2.5]), (3,)))
    assert one.to_dict() == {0: 2.5, 1: 2.5, 2: 2.5}
    rows = np.broadcast_to(np.int32(1), (3,))
    for i in (rows, cupy.broadcast_to(cupy.asarray([1], np.int32), (3,))):
        A = gl.Matrix.from_coo(i, [0, 1, 2], 1.0)
        assert A.to_dicts() == {1: {0: 1, 1: 1, 2: 1}}
        B = gl.Matrix.from_csr([0, 1, 2, 3], i, 1.0, copy=False)
        assert B.to_dicts() == {0: {1: 1}, 1: {1: 1}, 2: {1: 1}}


def test_strided_arrays_stay_on_their_gpu(two_cards: None):
    with cupy.cuda.Device(1):
        x = cupy.arange(6.0)[::2]
    for copy in (False, True):
        v = gl.Vector.from_dense(x, copy=copy)
        assert v.device == "cuda:1" and v.to_dense().tolist() == [0, 2, 4]


@pytest.mark.parametrize("xp", [np, cupy])
def test_any_nonzero_byte_of_a_boolean_array_counts_as_true(xp: Any):
    v = gl.Vector.from_dense(xp.asarray([0, 2, 1, 255, 0], np.uint8).view(bool))
    falses = v.apply(gl.unary.lnot).new()
    assert v.device == "cuda:0" and falses.to_dense().tolist() == [1, 0, 0, 0, 1]
    assert v.dup(dtype=int).to_dense().tolist() == [0, 1, 1, 1, 0]
    w = gl.Vector(float, 5)
    w(v.V) << 7.0
    assert w.nvals == 3 and w.to_dict() == {1: 7.0, 2: 7.0, 3: 7.0}
    u = gl.Vector.from_coo([4, 0, 2], xp.asarray([2, 0, 4], np.uint8).view(bool), size=5)
    assert u.reduce("lxor").value == 0
    assert u.apply(gl.unary.lnot).new().to_dict() == {4: 0, 0: 1, 2: 0}
