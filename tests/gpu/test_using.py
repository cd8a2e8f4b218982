"""Using a GPU: devices, streams, arrays in and out, errors; on a card or a simulated one."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cupy
import numpy as np
import pytest
from devices import has_card

import graphla as gl
from graphla.io import from_scipy_sparse, to_cupyx_sparse, to_scipy_sparse
from graphla.kernels import faults
from semirings.exceptions import DeviceFault, DeviceMismatch, DeviceUnavailable, OutOfMemory

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


def test_a_noun_is_made_on_the_current_card_and_says_which():
    assert square().device == "cuda:0" and gl.Vector(int, 3).device == "cuda:0"
    assert (square() @ square()).new(dtype=float).device == "cuda:0"
    assert ", on cuda:0" in repr(square())
    with gl.config.set(device="cpu"):
        assert square().device == "cpu"


def test_to_moves_entries_and_keeps_them():
    A = square()
    v = A.reduce_rowwise().new()
    for x in (A, A.T.new(), v, v.select(">", 100).new(), gl.Vector(int, 4), gl.Matrix(bool, 0, 3)):
        there = x.to("cpu")
        assert there.device == "cpu" and there.dtype is x.dtype
        back = there.to("cuda")
        assert back.device == "cuda:0" and back.isequal(x, check_dtype=True)
    assert A.to("cuda:0").isequal(A)


def test_equal_values_are_moved_as_one():
    A = gl.Matrix.from_coo([0, 1], [1, 0], 2.5).to("cpu").to("cuda")
    assert A.to_csr(copy=False)[2].strides == (0,)


def test_a_symmetric_matrix_stays_one_object():
    A = gl.Matrix.from_coo([0, 1], [1, 0], [2, 2], symmetric=True)
    assert A.to("cpu")._forms.is_symmetric and A.to("cpu").to("cuda")._forms.is_symmetric


@pytest.mark.parametrize("device", ["gpu", "cuda:", "cuda:x", "CPU", "", None, 0])
def test_a_name_that_is_none_is_refused(device: Any):
    with pytest.raises(ValueError, match="must be"):
        square().to(device)


def test_a_card_that_is_not_there_is_refused_by_name():
    with pytest.raises(DeviceUnavailable, match=r"cuda:99.* is not there"):
        square().to("cuda:99")


def test_mixed_devices_are_refused_by_name():
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
    ):
        with pytest.raises(DeviceMismatch, match=r"cuda:0.*cpu|cpu.*cuda:0"):
            result: Any = mixed()
            result.new()


def test_a_scalar_goes_with_any_device():
    s = gl.Scalar.from_value(2.0)
    with gl.config.set(device="cpu"):
        v = gl.Vector.from_dense([1.0, 2.0])
    assert (v * s).new().to_dense().tolist() == [2.0, 4.0]


def test_an_algorithm_runs_where_its_graph_is():
    from graphla.algorithms import bfs, connected_components, pagerank

    A = square()
    expected = bfs(A.to("cpu"), 0).levels
    with gl.config.set(device="cpu"):
        levels = bfs(A, 0).levels
        assert levels.device == "cuda:0" and levels.to("cpu").isequal(expected)
        assert connected_components(A).device == "cuda:0"
        assert pagerank(A).device == "cuda:0"


def test_each_operation_runs_on_the_card_of_its_operands(two_cards: None):
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


# --- arrays in and out --------------------------------------------------------------------------


def test_arrays_of_a_card_are_read_there_whatever_the_default():
    i, j, x = cupy.asarray([2, 0, 1]), cupy.asarray([1, 0, 1]), cupy.asarray([3.0, 1.0, 2.0])
    with gl.config.set(device="cpu"):
        A = gl.Matrix.from_coo(i, j, x)
        assert A.device == "cuda:0" and A.to_dicts() == {0: {0: 1.0}, 1: {1: 2.0}, 2: {1: 3.0}}
        assert gl.Vector.from_coo(i, [1, 2, 3]).to_dict() == {2: 1, 0: 2, 1: 3}
        assert gl.Vector.from_coo(i, 1.5).to_dict() == {0: 1.5, 1: 1.5, 2: 1.5}


def test_a_vector_shares_an_array_of_the_card_if_it_may():
    x = cupy.arange(5.0)
    shared = gl.Vector.from_dense(x, copy=False)
    assert shared.to_dense(copy=False).data.ptr == x.data.ptr
    copied = gl.Vector.from_dense(x)
    assert copied.to_dense(copy=False).data.ptr != x.data.ptr
    shared[0] = 9.0  # not into the giver's array
    assert x.tolist() == [0, 1, 2, 3, 4] and shared[0].new().value == 9


def test_coordinates_in_order_are_not_shared_with_the_giver():
    i, x = cupy.asarray([0, 2], np.int32), cupy.asarray([1.0, 2.0])
    v = gl.Vector.from_coo(i, x, size=4)
    x[0], i[0] = 7, 1
    assert v.to_dict() == {0: 1.0, 2: 2.0}


def test_arrays_with_gaps_are_read_as_they_are():
    x, edges = cupy.arange(10.0), cupy.asarray([[3, 1], [0, 2], [2, 2], [1, 0]])
    for part in (x[::2], x[::-1], x[1::3], cupy.asarray(edges, float)[:, 1]):
        for copy in (False, True):
            v = gl.Vector.from_dense(part, copy=copy)
            assert v.apply(gl.unary.ainv).new().to_dense().tolist() == (-part).tolist()
    a = gl.Matrix.from_coo(edges[::-1, 0], edges[::-1, 1], x[:8][::-2], nrows=4, ncols=3)
    there = {(3, 1): 1.0, (0, 2): 3.0, (2, 2): 5.0, (1, 0): 7.0}
    assert a.isequal(gl.Matrix.from_coo(*zip(*there, strict=True), list(there.values())))
    indptr, indices = cupy.asarray([0, 9, 1, 9, 3, 9]), cupy.asarray([2, 9, 0, 9, 2, 9], "int32")
    for copy in (False, True):
        b = gl.Matrix.from_csr(indptr[::2], indices[::2], x[:6:2], ncols=3, copy=copy)
        assert b.reduce_columnwise("plus").new().to_dict() == {0: 2.0, 2: 4.0}


def test_csr_is_shared_if_it_may_and_sorted_if_it_must():
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
def test_wrong_indices_on_a_card_are_refused(indices: list[Any], error: type[Exception]):
    with pytest.raises(error, match=r"indices|given more than once"):
        gl.Vector.from_coo(cupy.asarray(indices), cupy.asarray([1, 2]), size=4)


def test_values_on_a_card_that_do_not_fit_are_refused():
    with pytest.raises(OverflowError, match="does not fit INT8"):
        gl.Vector.from_dense(cupy.asarray([1, 300]), dtype="INT8")


def test_dlpack_goes_both_ways():
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


def test_any_array_with_the_cuda_array_interface_is_taken():
    x = cupy.arange(4.0)

    class Foreign:
        __cuda_array_interface__ = x.__cuda_array_interface__

    if SIMULATED:
        pytest.skip("the look-alike of CuPy knows its own arrays alone")
    v = gl.Vector.from_dense(Foreign(), copy=False)
    assert v.to_dense(copy=False).data.ptr == x.data.ptr


def test_scipy_crosses_by_one_transfer():
    from scipy import sparse

    S = sparse.random_array((20, 30), density=0.2, format="csr", rng=np.random.default_rng(1))
    A = from_scipy_sparse(S)
    assert A.device == "cuda:0"
    assert (to_scipy_sparse(A) != S).nnz == 0 and (to_scipy_sparse(A, "csc") != S).nnz == 0


@pytest.mark.gpu
def test_cupyx_matrices_are_shared():
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


def test_pickles_hold_no_card():
    A, v = square(), gl.Vector.from_dense([1.0, 2.0])
    for x in (A, v, A.T.new(), gl.Scalar.from_value(3)):
        again = pickle.loads(pickle.dumps(x))
        assert again.device == "cuda:0" and again.isequal(x)
    with gl.config.set(device="cpu"):
        assert pickle.loads(pickle.dumps(A)).device == "cpu"


def test_index_arrays_of_a_card_are_subscripts():
    v = gl.Vector.from_dense(np.arange(5.0))
    assert v[cupy.asarray([3, 1])].new().to_dense().tolist() == [3, 1]
    v[:2] = cupy.asarray([8.0, 9.0])
    assert v.to_dense().tolist() == [8, 9, 2, 3, 4]


# --- streams ------------------------------------------------------------------------------------


def loop(A: gl.Matrix, rounds: int) -> list[float]:
    """Products by rows and by columns, writes in place, masks, a transpose."""
    v = gl.Vector.from_dense(np.ones(A.nrows))
    frontier = gl.Vector.from_coo([0, 3], [1.0, 1.0], size=A.nrows)
    for _ in range(rounds):
        v << gl.semiring.min_plus(A @ v)
        frontier(v.S, gl.replace) << gl.semiring.min_plus(frontier @ A)
        v(frontier.S, accum=gl.binary.plus) << frontier
        v[0] = 1.0
    return v.to_dense(0.0).tolist()


def test_four_threads_on_four_streams_share_one_matrix():
    rounds = 3 if SIMULATED else 50
    expected = loop(square().to("cpu").to("cuda"), rounds)
    for _ in range(2 if SIMULATED else 20):
        A = square()

        def work(_: int, A: gl.Matrix = A) -> list[float]:
            with gl.config.set(device="cuda"), cupy.cuda.Stream(non_blocking=True) as stream:
                found = loop(A, rounds)
                stream.synchronize()
            return found

        with ThreadPoolExecutor(4) as pool:
            for found in pool.map(work, range(4)):
                assert found == expected


def test_a_vector_made_on_one_stream_is_read_and_changed_on_others():
    one, two = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    with one:
        A = square()
        v = gl.Vector.from_dense(np.ones(40))
    with two:
        w = A.mxv(v).new()
        v(w.S) << w  # not in place: the memory is in the order of the other stream
        del w
    with one:
        v[0] = 1.0
        u = (v + v).new()
    total = u.reduce().new().value
    del u, v
    with two:
        again = gl.Vector.from_dense(np.ones(40))
        assert again.reduce().new().value == 40
    rows = A.to("cpu").reduce_rowwise().new()
    assert total == 2 * (rows.reduce().new().value - rows[0].new().value + 1)


def test_what_shares_memory_with_another_streams_matrix_outlives_it():
    one, two = cupy.cuda.Stream(non_blocking=True), cupy.cuda.Stream(non_blocking=True)
    with one:
        A = square()
    with two:
        B = A.apply(gl.unary.ainv).new()  # shares where its entries are
        del A
        total = B.reduce_scalar().new().value
        C = (B @ B).new()
        del B
    with one:
        square()
    assert total == -float(np.arange(1.0, 121).sum()) and C.nvals > 0


def test_stamps_are_one_on_one_stream():
    A = square()
    A.T.new()
    assert len(A._forms.stamps) == 1 and A._forms.stamps[0].event is None


# --- errors -------------------------------------------------------------------------------------


def test_out_of_memory_says_how_much_and_leaves_all_intact():
    pool = cupy.get_default_memory_pool()
    A = square()
    entries = A.to_dicts()
    before = pool.get_limit()
    pool.free_all_blocks()
    pool.set_limit(size=pool.used_bytes() + (1 << 20))
    try:
        with pytest.raises(OutOfMemory, match=r"ran out of memory on cuda:0.*bytes.*free") as told:
            gl.Vector.from_scalar(1.0, 1 << 20).apply(gl.unary.exp).new()[::-1].new()
        assert "operands are as they were" in str(told.value)
        assert A.to_dicts() == entries and (A @ A).new().nvals > 0
    finally:
        pool.set_limit(size=before)


@simulated
def test_a_card_that_fails_for_good_is_named_once_and_then_refuses():
    from simulator import machine

    A, v = square(), gl.Vector.from_dense(np.ones(40))
    machine.failure = cupy.cuda.runtime.CUDARuntimeError(700)
    try:
        for debug in (False, True):
            machine.fails_in = 1
            with gl.config.set(debug=debug), pytest.raises(DeviceFault) as told:
                A.mxv(v).new().to_dense(0)
            text = str(told.value)
            assert "must be restarted" in text and ".cu" in text, text
            assert text.startswith("mxv on cuda:0: the kernel pull" if debug else "to_dense on")
            machine.fails_in = 0
            with pytest.raises(DeviceFault, match="no GPU can be used any more"):
                A.mxv(v).new()
            with gl.config.set(device="cpu"):
                assert square().nvals == A._forms.csr.nvals  # the CPU goes on
            faults.seen.fault = faults.seen.operation = ""
    finally:
        machine.fails_in, machine.failure = 0, None
        faults.seen.fault = faults.seen.operation = ""


@pytest.mark.gpu
@pytest.mark.parametrize("debug", [False, True])
def test_a_fault_of_a_card_is_named(debug: bool):
    said = run_apart(
        f"""
        import numpy as np, cupy, graphla as gl
        from graphla.kernels.cuda import NOTHING, load
        from graphla.operations.operation import Running
        from semirings.exceptions import DeviceFault
        gl.config.debug = {debug}
        v = gl.Vector.from_dense(np.ones(1000)).to("cuda")
        bad = load("map.cu", "cast_values", NOTHING, np.dtype(np.float64), np.dtype(np.float32))
        try:
            with Running("test", (v._forms,)):
                bad(4, 256, np.uint64(1 << 20), v.to_dense(copy=False), np.int64(1000))
            (v + v).new().to_dense()
        except DeviceFault as error:
            print(error)
        try:
            (v + v).new()
        except DeviceFault as error:
            print(error)
        """
    )
    first, second = said.strip().split("\n")
    assert "must be restarted" in first and second.startswith("no GPU can be used any more")
    assert first.startswith("test on cuda:0: the kernel cast_values of map.cu") == debug


# --- what is missing ----------------------------------------------------------------------------


def run_apart(program: str, **environment: str) -> str:
    """What another process says; without the simulator."""
    told = {k: v for k, v in os.environ.items() if not k.startswith("GRAPHLA_")}
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        env={**told, **environment},
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "cupy":
            raise ModuleNotFoundError("No module named 'cupy'", name="cupy")
sys.meta_path.insert(0, Blocked())
"""


def test_without_cupy_all_else_works_and_cuda_says_how_to_get_it():
    said = run_apart(
        BLOCKED
        + textwrap.dedent(
            """
            import graphla as gl
            v = gl.Vector.from_dense([1.0, 2.0])
            assert gl.config.device == "cpu" and v.device == "cpu" and (v + v).new().nvals == 2
            try:
                v.to("cuda")
            except RuntimeError as error:
                print(type(error).__name__, error)
            """
        )
    )
    assert said.startswith("DeviceUnavailable") and "CuPy is not installed" in said
    assert 'pip install "graphla[cuda13]"' in said


def test_import_asks_for_no_card_and_no_cupy():
    said = run_apart(
        """
        import sys, graphla as gl
        gl.config.device = "cpu"
        v = gl.Vector.from_dense([1.0, 2.0])
        print("cupy" in sys.modules, gl.Vector(int, 3).device)
        """
    )
    assert said == "False cpu\n"


@pytest.mark.skipif(has_card(), reason="there is a card")
def test_without_a_card_the_default_is_the_cpu_and_cuda_says_what_is_missing():
    said = run_apart(
        """
        import sys, graphla as gl
        v = gl.Vector.from_dense([1.0, 2.0])
        print(v.device, "cupy" in sys.modules)
        try:
            v.to("cuda")
        except gl.exceptions.DeviceUnavailable as error:
            print(error)
        """
    )
    first, second = said.strip().split("\n")
    assert first == "cpu False"
    assert '"cuda" cannot be used' in second and ("driver" in second or "CuPy" in second)


@pytest.mark.gpu
def test_a_hidden_card_is_said_to_be_hidden():
    said = run_apart(
        """
        import graphla as gl
        v = gl.Vector.from_dense([1.0, 2.0])
        try:
            v.to("cuda")
        except gl.exceptions.DeviceUnavailable as error:
            print(v.device, error)
        """,
        CUDA_VISIBLE_DEVICES="",
    )
    assert said.startswith("cpu") and "CUDA_VISIBLE_DEVICES" in said


@pytest.mark.gpu
def test_where_a_card_is_cuda_is_the_default():
    said = run_apart("import graphla as gl; print(gl.config.device, gl.Vector(int, 2).device)")
    assert said == "cuda cuda:0\n"


def test_arrays_of_a_card_may_be_strided_and_subnormal():
    x = cupy.arange(10.0)[::3]
    assert gl.Vector.from_dense(x, copy=False).to_dense().tolist() == [0, 3, 6, 9]
    square = cupy.arange(6.0).reshape(2, 3)
    assert gl.Matrix.from_dense(square.T).to_dense().tolist() == square.T.tolist()
    v = gl.Vector.from_coo(cupy.arange(8)[::2], cupy.arange(8.0)[1::2], size=9)
    assert v.to_dict() == {0: 1, 2: 3, 4: 5, 6: 7}
    tiny = cupy.asarray([0.0, 1e-45, 1.0], np.float32)
    assert gl.Vector.from_dense(tiny, 0).nvals == 2
    small = gl.Vector.from_dense(cupy.asarray([1e-45, 1.0]), dtype="FP32")
    assert small.to_dense().tolist() == np.float32([1e-45, 1.0]).tolist()
    one = gl.Vector.from_coo([0, 1, 2], cupy.broadcast_to(cupy.asarray([2.5]), (3,)))
    assert one.to_dict() == {0: 2.5, 1: 2.5, 2: 2.5}
    rows = np.broadcast_to(np.int32(1), (3,))
    for i in (rows, cupy.broadcast_to(cupy.asarray([1], np.int32), (3,))):
        A = gl.Matrix.from_coo(i, [0, 1, 2], 1.0)
        assert A.to_dicts() == {1: {0: 1, 1: 1, 2: 1}}
        B = gl.Matrix.from_csr([0, 1, 2, 3], i, 1.0, copy=False)
        assert B.to_dicts() == {0: {1: 1}, 1: {1: 1}, 2: {1: 1}}
