"""Verify that the stand-in for CuPy accepts and rejects the same calls as CuPy."""

from __future__ import annotations

import json
import operator
import subprocess
import sys
from enum import IntEnum
from importlib.machinery import PathFinder

import numpy as np
import pytest

from . import SimulatorFault, cupy, machine
from .cupy import functions, special
from .cupy.cuda import Device, memory, runtime
from .kernels import kernel, run

X = np.array([3, 1, 2], np.int32)


@pytest.fixture(autouse=True)
def one_device():
    machine.reset()
    yield
    machine.reset()


# --- rejections -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.asarray(x),
        lambda x: np.array(x),
        lambda x: x + X,
        lambda x: X + x,
        lambda x: x + X[0:1].reshape(()),
        lambda x: x < [1, 2, 3],
        lambda x: np.add(X, x),
        lambda x: cupy.sum(X),
        lambda x: cupy.concatenate([x, X]),
        lambda x: cupy.where(X > 1, x, x),
        lambda x: operator.index(x[0]),
        lambda x: range(x[0]),
        lambda x: cupy.zeros(x[0]),
        lambda x: cupy.arange(x[0]),
        lambda x: cupy.repeat(x, x),
        lambda x: cupy.sum(x, where=x > 0),
        lambda x: x.min(out=x[0]),
        lambda x: cupy.unique(x, sorted=False),
        lambda x: x.__setitem__(slice(None), X),
        lambda x: hash(x),
        lambda x: iter(x[0]),
    ],
)
def test_calls_that_cupy_rejects_raise_a_type_error(call):
    with pytest.raises(TypeError):
        call(cupy.asarray(X))


def test_functions_and_options_that_the_simulated_cupy_lacks_raise_errors():
    with pytest.raises(AttributeError, match="no 'insert'"):
        cupy.insert
    with pytest.raises(NotImplementedError):
        cupy.multiply.at(cupy.asarray(X), cupy.asarray(X), 1)
    with pytest.raises(ValueError, match="stable"):
        cupy.sort(cupy.asarray(X), kind="quicksort")
    with pytest.raises(AttributeError):
        cupy.lexsort((cupy.asarray(X), cupy.asarray(X)))
    with pytest.raises(ValueError, match="Unsupported dtype"):
        cupy.asarray(np.array(["a"]))


def test_an_index_out_of_bounds_raises_an_error_although_cupy_wraps_the_index_around():
    x = cupy.asarray(X)
    for index in (cupy.array([0, 3]), cupy.array([-4])):
        with pytest.raises(IndexError):
            x[index]
        with pytest.raises(IndexError):
            x[index] = 0
        with pytest.raises(IndexError):
            cupy.take(x, index)


# --- results ------------------------------------------------------------------------------------


def test_scalar_results_are_arrays_of_dimension_zero():
    x = cupy.asarray(X)
    for each in (x[0], x.sum(), cupy.max(x), x[0] + 1, cupy.count_nonzero(x), x.any()):
        assert isinstance(each, cupy.ndarray)
        assert each.shape == ()
    assert int(x[0]) == x[0].item() == 3
    assert bool(x.any())
    assert x.tolist() == [3, 1, 2]


def test_views_share_memory_and_copies_do_not():
    x = cupy.arange(12, dtype=np.int32)
    row = x.reshape(3, 4)[1]
    row[2] = 100
    assert int(x[6]) == 100
    assert row.base is x
    assert row.data.ptr == x.data.ptr + 16
    assert row[2].base is x
    x[6] = 5
    assert int(row[2]) == 5
    for copy in (x.copy(), x + 0, x[cupy.array([0])], x.astype(np.int64), cupy.sort(x)):
        copy[0] = 77
    assert int(x[0]) == 0


def test_numpy_functions_dispatch_to_the_simulated_cupy():
    x = cupy.asarray(X)
    assert isinstance(np.sqrt(x), cupy.ndarray)
    assert isinstance(np.int32(2) * x, cupy.ndarray)
    assert isinstance(np.cumsum(x), cupy.ndarray)
    assert np.concatenate([x, x]).tolist() == [3, 1, 2] * 2


def test_operators_compute_what_numpy_computes():
    x, y = cupy.asarray(X), cupy.asarray(X[::-1].copy())
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "lt", "eq", "xor", "lshift"):
        ours = getattr(operator, name)
        assert np.array_equal(ours(x, y).get(), ours(X, X[::-1]))
        assert np.array_equal(ours(x, 2).get(), ours(X, 2))
        assert np.array_equal(ours(2, x).get(), ours(2, X))
    x += 1
    assert x.tolist() == [4, 2, 3]
    assert (-x).tolist() == [-4, -2, -3]


def test_a_broadcast_array_has_zero_strides():
    x = cupy.broadcast_to(cupy.asarray(X[:1]), (5,))
    assert x.strides == (0,)
    assert x.tolist() == [3] * 5


def test_a_scatter_with_equal_indices_may_keep_any_of_the_values():
    seen = set()
    for seed in range(30):
        machine.seed = seed
        x = cupy.zeros(1, np.int32)
        x[cupy.zeros(4, np.int64)] = cupy.arange(4, dtype=np.int32)
        seen.add(int(x[0]))
    assert seen == {0, 1, 2, 3}


def test_the_ufunc_methods_at_and_reduceat_combine_values():
    x = cupy.zeros(3, np.int32)
    cupy.add.at(x, cupy.array([0, 0, 2]), cupy.asarray(X))
    assert x.tolist() == [4, 0, 2]
    assert cupy.add.reduceat(cupy.asarray(X), cupy.array([0, 2])).tolist() == [4, 2]


def test_pinned_memory_is_accessible_from_the_host():
    pinned = cupy.cuda.alloc_pinned_memory(8)
    host = np.frombuffer(pinned, np.int64, 1)
    host[0] = 7
    x = cupy.zeros(1, np.int64)
    runtime.memcpy(x.data.ptr, pinned.ptr, 8, runtime.memcpyHostToDevice)
    assert x.tolist() == [7]


def test_a_kernel_writes_into_pinned_memory():
    text = "template <int> __global__ void tell(unsigned long long *host) { host[1] = 9; }"
    pinned = cupy.cuda.alloc_pinned_memory(16)
    host = np.frombuffer(pinned, np.uint64, 2).data
    run(kernel(text, "tell<0>"), 1, 1, np.uint64(pinned.ptr))
    assert host[1] == 9


def test_querying_a_stream_returns_a_status_and_raises_no_error():
    assert runtime.streamQuery(cupy.cuda.get_current_stream().ptr) == 0
    machine.failure, machine.fails_in = runtime.CUDARuntimeError(700), -1
    try:
        assert runtime.streamQuery(0) == 700
    finally:
        machine.failure, machine.fails_in = None, 0


# --- tests of devices and memory ----------------------------------------------------------------


class Filling(IntEnum):
    """An integer enumeration; CuPy does not accept its members as fill values."""

    ONE = 1


def test_filling_an_array_with_an_enumeration_is_rejected():
    for fill in (
        lambda: cupy.full(3, Filling.ONE, np.int32),
        lambda: cupy.copyto(cupy.zeros(3), Filling.ONE),
    ):
        with pytest.raises(TypeError, match="can_cast"):
            fill()
    assert cupy.full(3, int(Filling.ONE), np.int32).tolist() == [1, 1, 1]


def test_arrays_on_two_devices_cannot_be_combined():
    machine.reset(devices=2)
    x = cupy.asarray(X)
    with Device(1):
        y = cupy.asarray(X)
        assert y.device == Device(1)
        for call in (lambda: x + y, lambda: cupy.sort(x), lambda: cupy.concatenate([y, x])):
            with pytest.raises(ValueError, match="Array device must be same as the current device"):
                call()
        assert cupy.asarray(x.copy()).device == Device(1)
    assert runtime.getDevice() == 0
    assert runtime.getDeviceCount() == 2
    with pytest.raises(runtime.CUDARuntimeError, match="invalid device ordinal"):
        Device(2).use()


def test_running_out_of_device_memory_raises_the_error_of_cupy():
    machine.devices[0].memory = machine.devices[0].used + 1000
    x = cupy.zeros(600, np.int8)
    with pytest.raises(
        memory.OutOfMemoryError, match=r"Out of memory allocating 600 bytes \(alloc"
    ):
        cupy.zeros(600, np.int8)
    del x
    cupy.zeros(600, np.int8)


def test_the_simulated_cupy_accepts_empty_arrays():
    x = cupy.zeros((0, 3), np.int32)
    assert x.data.ptr == 0
    assert x.sum().item() == 0
    assert (x + 1).shape == (0, 3)


# --- tests that compare the stand-in with CuPy ------------------------------------------------

PROBE = """
import cupy, inspect, json, sys
from cupy.cuda import driver, function, nvrtc
wanted = json.loads(sys.stdin.read())
missing = [name for name in wanted["names"] if not hasattr(cupy, name)]
missing += [f"ndarray.{name}" for name in wanted["methods"] if not hasattr(cupy.ndarray, name)]
for module, names in wanted["modules"].items():
    real = eval(module)
    missing += [f"{module}.{name}" for name in names if not hasattr(real, name)]
for name, parameters in wanted["signatures"].items():
    real = inspect.signature(getattr(cupy, name)).parameters
    missing += [f"{name}({each})" for each in parameters if each not in real]
print(json.dumps(missing))
"""


@pytest.mark.skipif(PathFinder.find_spec("cupy") is None, reason="CuPy is not installed")
def test_the_real_cupy_has_every_name_that_the_simulated_cupy_has():
    lines = f"{functions.TABLE}\n{functions.CREATION}".strip().split("\n")
    signatures = dict(functions._signature(line) for line in lines if line)
    variadic = {"matmul"}
    wanted = {
        "names": [*functions.names, *functions.ufuncs, *functions.lifted, *special.SPECIAL],
        "methods": [name for name in vars(cupy.ndarray) if not name.startswith("_")],
        "modules": {
            f"cupy.cuda.{each}": _public(getattr(cupy.cuda, each))
            for each in ("runtime", "driver", "nvrtc", "Stream", "Event", "Device", "MemoryPool")
        },
        "signatures": {
            name: list(signature.parameters)
            for name, signature in signatures.items()
            if name not in variadic
        },
    }
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROBE],
        input=json.dumps(wanted),
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == []


def _public(module: object) -> list[str]:
    ours = {
        "functions",
        "CUDADriverError",
        "CUDARuntimeError",
        "CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES",
    }
    return [
        name
        for name, each in vars(module).items()
        if not name.startswith("_")
        and name not in ours
        and (name[0].islower() and callable(each) and getattr(each, "__module__", "") is not None)
        and getattr(each, "__module__", "").startswith("simulator")
    ]


def test_a_kernel_runs_only_on_its_own_device():
    machine.reset(devices=2)
    from .kernels import kernel, run

    text = "template <int> __global__ void zero(int *x) { x[threadIdx.x] = 0; }"
    zero = kernel(text, "zero<0>")
    x = cupy.asarray(X)
    run(zero, 1, 3, x)
    with Device(1):
        y = cupy.asarray(X)
        with pytest.raises(RuntimeError, match="CUDA_ERROR_INVALID_CONTEXT"):
            run(zero, 1, 3, y)
    with pytest.raises(SimulatorFault, match="lies on device 1"):
        run(zero, 1, 3, y)
