"""Test that all kernels and operators compile for all architectures within their resource limits.

NVRTC compiles instances of each kernel (`instances.py`). Their resource usage must stay within the
limits in `resources.json`, which `make resources` writes.

`make test` compiles a few instances of each kernel for one architecture, and one further instance
for the oldest or the newest architecture. `make test-full` compiles instances for all four
architectures, which together contain every pair of parameter values. The tests need NVRTC, but
neither a GPU nor CuPy.
"""

from __future__ import annotations

import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from campaign import Resources, compile_all, table
from instances import (
    BINARY,
    HOT,
    KERNELS,
    MAIN,
    OPERATORS_OF,
    OTHERS,
    Instance,
    Kernel,
    in_the_sources,
    typed,
)
from toolkit import Nvrtc
from toolkit import nvrtc as installed

import graphla as gl
from graphla.backends.cuda.program import ProgramTuning
from graphla.backends.tuning import using
from graphla.compilers import cuda_ops, nvrtc
from graphla.program import cuda as engine
from semirings import binary, indexunary, monoid, select, semiring, unary
from semirings.dtypes import ALL, BOOL, FP32, DataType
from semirings.exceptions import GraphblasException

sys.path.append(str(Path(__file__).parents[1] / "program"))
import handmade  # pyright: ignore[reportMissingImports]


@pytest.fixture(scope="module")
def toolkit() -> Nvrtc:
    return _toolkit(13)


def _toolkit(major: int) -> Nvrtc:
    found = installed(major)
    if found is None:
        wheel = "nvidia-cuda-nvrtc" + ("-cu12" if major == 12 else "")
        if os.environ.get("CI"):
            pytest.fail(f"NVRTC of CUDA {major} is not installed: pip install {wheel}")
        pytest.skip(f"NVRTC of CUDA {major} is not installed: pip install {wheel}")
    return found


def test_the_campaign_lists_every_kernel_and_all_its_parameters():
    ours = {(kernel.file, kernel.name) for kernel in KERNELS}
    assert ours == in_the_sources().keys()
    unsaid = [
        f"{k.label}: {x}" for k in KERNELS for x, domain in k.parameters.items() if not domain
    ]
    assert not unsaid, "instances.py says of no parameter of this name what it may be"
    named = {(file, name) for file, names in OPERATORS_OF.items() for name in names}
    assert named <= ours, "a kernel that is no more"
    assert {name for _, name in ours} >= HOT


# --- kernels --------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.label)
def test_a_few_instances_of_each_kernel_compile_within_the_resource_limits(
    toolkit: Nvrtc, kernel: Kernel
):
    _check(toolkit, kernel.few(), table())


@pytest.mark.parametrize(
    "architecture",
    [OTHERS[0], *(pytest.param(x, marks=pytest.mark.full) for x in OTHERS[1:-1]), OTHERS[-1]],
)
@pytest.mark.parametrize("file", sorted({kernel.file for kernel in KERNELS}))
def test_each_kernel_compiles_for_other_architectures(toolkit: Nvrtc, file: str, architecture: str):
    """Omit `-default-device` for the oldest architecture, since old NVRTC versions lack it."""
    options = tuple(
        option
        for option in nvrtc.OPTIONS
        if option != "-default-device" or architecture != OTHERS[0]
    )
    kernels = [kernel for kernel in KERNELS if kernel.file == file]
    _check(toolkit, [kernel.elsewhere(architecture) for kernel in kernels], table(), options)


def test_the_default_compiler_options_include_the_flag_default_device():
    assert "-default-device" in nvrtc.OPTIONS


@pytest.mark.full
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.label)
def test_instances_that_cover_every_pair_of_parameters_compile_within_the_limits(
    toolkit: Nvrtc, kernel: Kernel
):
    _check(toolkit, kernel.campaign(), table())


def _check(
    toolkit: Nvrtc,
    instances: list[Instance],
    limits: dict[str, dict[str, Resources]],
    options: tuple[str, ...] = nvrtc.OPTIONS,
) -> None:
    wrong = []
    for each, taken in compile_all(toolkit, instances, options):
        if each.kernel.is_hot and each.architecture == MAIN and (taken.stack or taken.spills):
            wrong.append(f"{each.label} is hot, yet takes {taken}")
        most = limits.get(each.kernel.label, {}).get(each.architecture)
        excess = ["not in the table"] if most is None else taken.beyond(most)
        wrong += [f"{each.label} for {each.architecture}: {words}" for words in excess]
    more = [f"and {len(wrong) - 9} more"] * (len(wrong) > 9)
    assert not wrong, "\n".join([*wrong[:9], *more, "`make resources` writes the table anew"])


@pytest.mark.full
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.label)
def test_each_kernel_compiles_with_cuda_12(kernel: Kernel):
    assert list(compile_all(_toolkit(12), kernel.covering()))


def test_all_parts_of_a_compiled_loop_compile_and_each_function_belongs_to_exactly_one_part(
    toolkit: Nvrtc,
):
    with gl.config.set(device="cuda"), using(ProgramTuning(is_in_parts=True, sweeps_from=1)):
        a = gl.Matrix.from_coo([0, 1], [1, 0], True, nrows=2, ncols=2)
        text = engine.show(handmade.pagerank(), (a._read(),))
    count = max(map(int, re.findall(r"GRAPHLA_PART [!=]= (\d+)", text)))
    flags = (*nvrtc.OPTIONS, "-rdc=true", "-maxrregcount=128", "--ptxas-options=-v")
    kernel, found = "graphla::run_loop<0>", []
    for k in range(count + 1):
        names, options = (() if k else (kernel,)), (*flags, f"-DGRAPHLA_PART={k}")
        log = nvrtc.compile_instances(toolkit, text, names, MAIN, "a loop", options)[2]
        functions = re.findall(
            r"Function properties for _ZN7graphla\d+(called_pull|called_push|sweep_\d+_)", log
        )
        assert bool(functions) == bool(k)
        found += functions
    assert len(found) == len(set(found)) == 2 + len(set(re.findall(r"sweep_\d+_\(", text)))


# --- operators ------------------------------------------------------------------------------------

KINDS = {  # maps each probe kernel to the structs that it tests
    "probe_map": (cuda_ops.mapping, cuda_ops.bound_operator),
    "probe_join": (cuda_ops.entry_by_entry,),
    "probe_order": (cuda_ops.comparison,),
    "probe_write": (cuda_ops.accumulation,),
    "probe_fold": (cuda_ops.reduction,),
    "probe_vector": (cuda_ops.matrix_vector,),
    "probe_matrix": (cuda_ops.matrix_matrix,),
}
PROBES = """
#include "atomics.cuh"
namespace graphla {
template <class Op>
__global__ void probe_map(typename Op::X x, typename Op::THUNK thunk, typename Op::Z *z) {
  *z = Op::call(x, 1, 2, thunk);
}
template <class Op>
__global__ void probe_join(typename Op::X x, typename Op::Y y, typename Op::Z *z) {
  *z = Op::call(x, y, 1, 2);
}
template <class Op>
__global__ void probe_order(typename Op::X x, typename Op::X y, bool *z) {
  *z = Op::before(x, y);
}
template <class Op>
__global__ void probe_write(double c, int t, typename Op::Z *z) {
  *z = Op::accumulate(c, t, 1, 2);
}
template <class Op>
__global__ void probe_fold(typename Op::Z *z) {
  atomic_fold<Op>(z, Op::add(Op::identity(), Op::terminal()));
}
template <class Op>
__global__ void probe_vector(typename Op::A a, typename Op::U u, typename Op::Z *z) {
  *z = Op::fold(Op::term(a, u, 1, 2), a, u, 1, 2);
}
template <class Op>
__global__ void probe_matrix(typename Op::X x, typename Op::Y y, typename Op::Z *z) {
  *z = Op::fold(Op::term(x, y, 1, 2, 3), x, y, 1, 2, 3);
}
}
"""


def _names(module: Any) -> list[str]:
    public = (name for name in dir(module) if not name.startswith("_"))
    return [name for name in public if hasattr(getattr(module, name), "types")]


def _specs(dtype: DataType) -> list[tuple[Any, ...]]:
    """Return the generator function and its arguments for every struct of each operator."""

    def every(*modules: Any) -> list[Any]:
        found = (typed(module, name, dtype) for module in modules for name in _names(module))
        return [op for op in found if op is not None]

    binaries, rings = every(binary), every(semiring)
    return [
        *((cuda_ops.mapping, op) for op in every(unary, indexunary, select)),
        *((cuda_ops.bound_operator, op, side) for op in binaries for side in ("left", "right")),
        *((cuda_ops.entry_by_entry, op) for op in binaries),
        *(
            (cuda_ops.comparison, op)
            for op in binaries
            if op.return_type is BOOL and not op.is_positional
        ),
        *((cuda_ops.accumulation, op, dtype) for op in (None, *binaries)),
        *((cuda_ops.reduction, op) for op in every(monoid)),
        *((cuda_ops.matrix_vector, op, side) for op in rings for side in ("mxv", "vxm")),
        *((cuda_ops.matrix_matrix, op) for op in rings),
    ]


@pytest.mark.parametrize("probe", KINDS)
@pytest.mark.parametrize("dtype", ALL, ids=str)
def test_every_operator_struct_compiles_for_each_dtype(toolkit: Nvrtc, dtype: DataType, probe: str):
    specs = [spec for spec in _specs(dtype) if spec[0] in KINDS[probe]]
    text, instances = [PROBES, "namespace graphla {"], []
    for k, (write, *operators) in enumerate(specs):
        text += [f"namespace place_{k} {{", f'#line 1 "{cuda_ops.describe((write, *operators))}"']
        text += [write(*operators), "}"]
        instances.append(f"graphla::{probe}<graphla::place_{k}::Op>")
    text.append("}")
    what = f"{probe} of {dtype.name}"
    assert instances
    # The compiler need not optimize, because the test does not run the code.
    options = (*nvrtc.OPTIONS, "-Ofc=max")
    nvrtc.compile_instances(toolkit, "\n".join(text), instances, "compute_90", what, options)


def test_a_compile_error_names_the_file_and_the_operator_and_the_dtype(toolkit: Nvrtc):
    kernel = next(kernel for kernel in KERNELS if kernel.name == "combine_dense")
    first = {name: values[0] for name, values in kernel.factors().items()}
    row = {**first, "operator": "plus", "dtype": FP32}
    wrong = (cuda_ops.entry_by_entry, binary.plus["FP32"])  # this struct has no `accumulate`
    each = replace(kernel.instance(row), spec=wrong)
    with pytest.raises(GraphblasException) as caught:
        list(compile_all(toolkit, [each]))
    for words in (r"dense\.cu\(\d+\): error", r"combine_dense", r"plus\[FP32\]", "sm_"):
        assert re.search(words, str(caught.value))


def test_all_binary_operators_of_the_compile_campaign_exist():
    assert set(BINARY) <= set(_names(binary))
