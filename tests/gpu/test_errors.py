"""Test that the messages of GPU errors, and of errors about a missing GPU, suggest what to do."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from typing import Any

import cupy
import numpy as np
import pytest
from devices import has_card

import graphla as gl
from graphla.compilers import faults
from graphla.program.reasons import NotCompilable
from semirings.exceptions import DeviceFault, OutOfMemory

simulated = pytest.mark.skipif(has_card(), reason="shows on a simulated card alone")


@pytest.fixture(autouse=True)
def on_cuda() -> Iterator[None]:
    with gl.config.set(device="cuda"):
        yield


def square(n: int = 40) -> gl.Matrix:
    i = np.arange(n)
    rows, columns = np.concatenate([i, i, i]), np.concatenate([(i + 1) % n, (i * 7) % n, i])
    values = np.arange(1.0, 3 * n + 1)
    return gl.Matrix.from_coo(rows, columns, values, nrows=n, ncols=n, dup_op="plus")


def test_an_out_of_memory_error_reports_the_sizes_and_leaves_the_operands_intact():
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


def count_to_10(u: gl.Vector) -> gl.Vector:
    v = u.dup()
    for k in range(10):
        v << gl.binary.plus(v, k)
    return v


def double_10_times(u: gl.Vector) -> gl.Vector:
    v = u.dup()
    for _ in range(10):
        v << gl.binary.times(v, 2)
    return v


def test_a_compiled_loop_reports_an_out_of_memory_error_in_the_same_way_as_an_operation():
    pool = cupy.get_default_memory_pool()
    u = gl.Vector.from_scalar(1.0, 1 << 20)
    jitted: Any = gl.jit(count_to_10)
    before = pool.get_limit()
    pool.free_all_blocks()
    pool.set_limit(size=pool.used_bytes() + (1 << 22))
    try:
        with pytest.raises(OutOfMemory, match=r"count_to_10.*ran out of memory on cuda:0.*bytes"):
            jitted(u)
    finally:
        pool.set_limit(size=before)
    assert jitted(u).isequal(count_to_10(u))


@simulated  # a real GPU has too much memory for this test
def test_a_compiled_loop_that_needs_too_much_memory_is_rejected_unless_fallback_is_set():
    u: Any = gl.Vector.from_coo([5, 7], [1.0, 2.0], size=(1 << 31) - 1)
    with pytest.raises(NotCompilable, match=r"need 19,[\d,]+ bytes, and [\d,]+ are available"):
        gl.jit(double_10_times)(u)
    jitted: Any = gl.jit(double_10_times, fallback=True)
    with pytest.warns(UserWarning, match="are available"):
        assert jitted(u).to_dict() == {5: 1024.0, 7: 2048.0}


@simulated
def test_a_compiled_loop_reports_a_failed_launch_in_the_same_way_as_an_operation():
    from simulator import machine

    u, jitted = gl.Vector.from_dense(np.ones(40)), gl.jit(count_to_10)
    jitted(u)
    machine.failure, machine.fails_in = cupy.cuda.runtime.CUDARuntimeError(700), -1
    try:
        with pytest.raises(
            DeviceFault, match=r"count_to_10, line \d+ on cuda:0 .*must be restarted"
        ):
            jitted(u)
    finally:
        machine.fails_in, machine.failure = 0, None
        faults.seen.fault = faults.seen.operation = ""


@simulated
def test_a_permanent_gpu_failure_is_reported_once_and_later_uses_of_the_gpu_are_rejected():
    from simulator import machine

    A, v, w = square(), gl.Vector.from_dense(np.ones(40)), gl.Vector(int, 5)
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
            for use in (
                lambda: A.mxv(v).new(),
                lambda: gl.Vector(int, 5),
                lambda: w.__setitem__(1, 2),
            ):
                with pytest.raises(DeviceFault, match="no GPU can be used any more"):
                    use()
            with gl.config.set(device="cpu"):
                assert square().nvals == A._store.csr.nvals  # a GPU fault leaves the CPU usable
            faults.seen.fault = faults.seen.operation = ""
    finally:
        machine.fails_in, machine.failure = 0, None
        faults.seen.fault = faults.seen.operation = ""


@pytest.mark.gpu
@pytest.mark.parametrize("debug", [False, True])
def test_a_fault_on_a_real_gpu_is_reported(debug: bool):
    said = run_apart(
        f"""
        import numpy as np, cupy, graphla as gl
        from graphla.compilers.cuda import NOTHING, load
        from graphla.operations.operation import DeviceScope
        from semirings.exceptions import DeviceFault
        gl.config.debug = {debug}
        v = gl.Vector.from_dense(np.ones(1000)).to("cuda")
        bad = load("apply.cu", "cast_values", NOTHING, np.dtype(np.float64), np.dtype(np.float32))
        try:
            with DeviceScope("test", (v._store,)):
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
    assert first.startswith("test on cuda:0: the kernel cast_values of apply.cu") == debug


# --- tests of missing software or hardware, each in a separate process ----------------------------


def run_apart(program: str, **environment: str) -> str:
    """Run a program in another process without the simulator, and return its output."""
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


def test_graphla_without_cupy_runs_on_the_cpu_and_explains_how_to_install_cupy():
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


def test_importing_graphla_uses_neither_a_gpu_nor_cupy():
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
def test_the_cpu_is_the_default_without_a_gpu_and_the_error_about_cuda_names_what_is_missing():
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
def test_a_gpu_hidden_by_cuda_visible_devices_is_reported_as_hidden():
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
def test_cuda_is_the_default_if_there_is_a_gpu():
    said = run_apart("import graphla as gl; print(gl.config.device, gl.Vector(int, 2).device)")
    assert said == "cuda cuda:0\n"
