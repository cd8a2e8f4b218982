"""Test that machine code is loaded without Numba, and only if it is intact and suits the CPU."""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from graphla.compilers import machine_code, numba, numba_ops

pytestmark = [
    pytest.mark.skipif(not numba.is_installed(), reason="Numba is not installed"),
    pytest.mark.skipif(
        not machine_code.is_supported(), reason="Numba loads loops on this platform"
    ),
]
ROOT = Path(__file__).parent.parent

LOOPS = """
import json
import os
import sys

import numpy as np

import graphla as gl
from graphla import algorithms

if "elsewhere" in sys.argv:  # on this machine, loops are loaded by Numba
    os.uname = lambda: os.uname_result(("Linux", "name", "6.1", "1", "riscv64"))


@gl.jit
def count_paths(A, source, rounds):
    paths = gl.Vector(float, A.nrows)
    paths[source] = 1.0
    for _ in range(rounds):
        paths << gl.semiring.plus_times(A @ paths)
    return paths


gl.config.compiled = True
A = gl.generators.grid(40, 30).dup(dtype=float)
found = [algorithms.core_numbers(A).to_dense(), algorithms.pagerank(A).to_dense()]
if "elsewhere" not in sys.argv:
    paths = count_paths(A, 7, 5)
    assert paths.isequal(count_paths.__wrapped__(A, 7, 5))
    found.append(paths.to_dense(fill_value=0))
print(json.dumps([np.asarray(x, float).tobytes().hex() for x in found]))
print("numba" in sys.modules)
"""


def run(program: Path, *arguments: str, **environment: str) -> list[str]:
    """Return the lines that a program prints in a new process."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    command = [sys.executable, str(program), *arguments]
    done = subprocess.run(command, env=variables, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and not done.stderr, done.stderr
    return done.stdout.split("\n")[:-1]


def test_a_new_process_runs_cached_loops_without_numba_and_gets_the_same_results(
    tmp_path: Path,
) -> None:
    program = tmp_path / "loops.py"
    program.write_text(LOOPS)
    filled, _ = run(program)
    loaded, has_imported = run(program)
    assert has_imported == "False"
    by_numba, has_imported = run(program, "elsewhere")
    assert has_imported == "True"
    assert json.loads(filled) == json.loads(loaded)
    assert json.loads(loaded)[:2] == json.loads(by_numba)


NUMBERS = {"float32", "float64", "int32", "int64", "uint8", "uint64"}
FUNCTIONS = {"copysign", "floor", "fmod", "sqrt"}


def test_a_process_ends_without_reading_freed_memory(tmp_path: Path) -> None:
    program = tmp_path / "loops.py"
    program.write_text(LOOPS)
    # With these settings, the allocator immediately sets all bits of freed memory to 1.
    filled = {"MALLOC_PERTURB_": "255", "GLIBC_TUNABLES": "glibc.malloc.tcache_count=0"}
    for _ in range(2):  # the first run may compile loops
        run(program, PYTHONMALLOC="malloc", **filled)


def test_no_loop_of_the_library_creates_an_array() -> None:
    for file in numba.LOOPS.glob("*.py"):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
        names = {f.attr for f in called if isinstance(f, ast.Attribute) and is_numpy(f.value)}
        wrong = names - NUMBERS - FUNCTIONS
        assert not wrong or file.stem == "placeholder_ops", f"{file.name} calls np.{wrong}"


def is_numpy(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id == "np"


# --- files ----------------------------------------------------------------------------------------


def compile_call(symbol: str) -> bytes:
    """Return an object whose function calls `symbol`, a function without parameters."""
    from llvmlite import binding, ir

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    pointer, word = ir.IntType(8).as_pointer(), ir.IntType(64)
    module = ir.Module()
    head = ir.FunctionType(pointer, [pointer, pointer, word])
    builder = ir.IRBuilder(ir.Function(module, head, machine_code.ENTRY).append_basic_block())
    called = ir.Function(module, ir.FunctionType(pointer, []), symbol)
    builder.ret(builder.call(called, []))
    target = binding.Target.from_default_triple()
    machine = target.create_target_machine(reloc="static", codemodel="jitdefault", jit=True)
    return machine.emit_object(binding.parse_assembly(str(module)))


def compile_nothing() -> bytes:
    from llvmlite import binding

    machine = binding.Target.from_default_triple().create_target_machine()
    return machine.emit_object(binding.parse_assembly(""))


@pytest.fixture
def names() -> Iterator[list[str]]:
    """Names of loops whose files are deleted after the test."""
    names = [f"test_{os.getpid()}_{k}" for k in range(2)]
    yield names
    for name in names:
        machine_code._path(name).unlink(missing_ok=True)


def test_a_file_of_machine_code_is_used_only_if_the_file_is_complete_and_has_its_original_name(
    names: list[str],
) -> None:
    first, second = names
    addresses = machine_code.store(first, [(compile_call("PyDict_New"), compile_nothing())] * 2)
    assert addresses is not None and len(set(addresses)) == 2
    assert [machine_code.make_function(first, each)() for each in addresses] == [{}, {}]
    addresses = machine_code.load(first)
    assert addresses is not None and not machine_code.is_refused(first)
    assert [machine_code.make_function(first, each)() for each in addresses] == [{}, {}]

    path = machine_code._path(first)
    shutil.copy(path, machine_code._path(second))
    assert machine_code.load(second) is None
    whole = path.read_bytes()
    for damaged in (b"", whole[:20], whole[:40], whole[:-1], whole[:99] + b"\x07" + whole[100:]):
        path.write_bytes(damaged)
        assert machine_code.load(first) is None and not machine_code.is_refused(first)


def test_numba_compiles_a_loop_whose_cached_code_has_an_undefined_symbol(names: list[str]) -> None:
    code = compile_call("numba_function_that_does_not_exist")
    assert machine_code.store(names[0], [(code, compile_nothing())]) is None
    assert machine_code.is_refused(names[0]) and machine_code.load(names[0]) is None
    assert not machine_code.is_refused(names[1])


# --- arguments ------------------------------------------------------------------------------------

INDPTR, INDICES = np.array([0, 2, 2, 3], np.int32), np.array([2, 0, 1], np.int32)


def find_hubs() -> machine_code.Loop:
    arrays = [INDPTR, INDICES, np.empty(3, np.int32)]
    return numba.load("plan.find_hubs", (numba_ops.nothing,), arrays)


def read_only() -> np.ndarray:
    array = np.empty(3, np.int32)
    array.flags.writeable = False
    return array


def test_a_loop_accepts_subclasses_of_numpy_arrays_and_numpy_integers(tmp_path: Path) -> None:
    expected, found = np.empty(3, np.int32), np.memmap(tmp_path / "x", np.int32, "w+", shape=3)
    loop = find_hubs()
    assert loop(INDPTR, INDICES, expected, 0, 3) is None
    loop(INDPTR, INDICES, found, np.int64(0), np.uint8(3))
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(
    "out",
    [
        np.empty(3, np.int64),
        np.empty(3, np.uint32),
        np.empty(3, np.float32),
        np.empty(3, ">i4"),
        np.empty((3, 1), np.int32),
        np.empty(6, np.int32)[::2],
        np.empty(13, np.uint8)[1:].view(np.int32),
        read_only(),
        [0, 0, 0],
        None,
        3,
    ],
)
def test_a_loop_rejects_an_array_of_another_dtype_or_layout(out: object) -> None:
    with pytest.raises(TypeError):
        find_hubs()(INDPTR, INDICES, out, 0, 3)


def test_a_loop_rejects_a_wrong_number_of_arguments_and_arguments_of_a_wrong_type_or_range() -> (
    None
):
    loop, out = find_hubs(), np.empty(3, np.int32)
    for rest in ((), (0,), (0, 3, 3), (0, None), (0, INDPTR), (0, 3.0)):
        with pytest.raises(TypeError):
            loop(INDPTR, INDICES, out, *rest)
    with pytest.raises(OverflowError):
        loop(INDPTR, INDICES, out, 0, 1 << 70)
