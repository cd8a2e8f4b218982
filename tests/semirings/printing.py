"""Run typed operators on arrays as NumPy, C++ and Numba functions, with suitable operands."""

from __future__ import annotations

import ctypes
import itertools
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from semirings import binary, indexunary, select, unary
from semirings.dtypes import BOOL, DataType
from semirings.trace import cuda_prelude, numba_prelude

UNDEFINED = "shift,integer-divide-by-zero,signed-integer-overflow,float-cast-overflow,bool"
FLAGS = ["-std=c++17", "-O1", "-ffp-contract=off", "-fPIC", f"-fsanitize={UNDEFINED}"]


@dataclass(frozen=True)
class Case:
    """A typed operator, the name of its printed function, and the dtypes of its parameters."""

    typed: Any
    symbol: str
    parameters: dict[str, DataType]

    @property
    def label(self) -> str:
        return f"{self.symbol.partition('_')[2]}[{self.typed.type.name}]"


def names(module: ModuleType) -> list[str]:
    """Return the names of the operators in a module of the catalog."""
    return [
        name
        for name in dir(module)
        if not name.startswith("_") and hasattr(getattr(module, name), "types")
    ]


def cases(dtype: DataType) -> list[Case]:
    """Return a case for every built-in operator that takes values of the dtype."""
    found = [
        (module, name, getattr(module, name))
        for module in (unary, binary, indexunary, select)
        for name in names(module)
    ]
    for module in (unary, binary):
        own = {op for op in vars(module.numpy).values() if op.name.startswith("numpy.")}
        found += [(module, op.name.replace(".", "_"), op) for op in own]
    return [case for each in found if (case := _case(*each, dtype)) is not None]


def _case(module: ModuleType, name: str, op: Any, dtype: DataType) -> Case | None:
    if dtype not in op.types:
        return None
    typed = op[dtype]
    if typed.type != dtype:
        return None
    symbol = f"{module.__name__.rpartition('.')[2]}_{name}"
    return Case(typed, symbol, dict(typed.parameters))


def operands(case: Case, seed: int, size: int) -> tuple[np.ndarray, ...]:
    """Return the operands of the test: all combinations of boundary values, then random values.
    Arguments that are indices get random values from the whole range of indices."""
    rng = np.random.default_rng(seed)
    valued = {name: dtype for name, dtype in case.parameters.items() if name in _VALUES}
    tables = [edges(dtype) for dtype in valued.values()]
    grids = (grid.ravel() for grid in np.meshgrid(*tables, indexing="ij"))
    columns = {
        name: np.concatenate([grid, random_values(rng, dtype, size)])
        for (name, dtype), grid in zip(valued.items(), grids, strict=True)
    }
    length = len(columns["x"])
    return tuple(
        columns[name] if name in columns else _positions(rng, length) for name in case.parameters
    )


_VALUES = ("x", "y", "thunk")


def _positions(rng: np.random.Generator, size: int) -> np.ndarray:
    return rng.integers(0, 2**31, size) >> rng.integers(0, 32, size)


def edges(dtype: DataType) -> np.ndarray:
    """Return boundary values: 0, 1, extremes and values near them; for floats also NaN and inf."""
    t = dtype.np_type
    if dtype is BOOL:
        return np.array([False, True])
    if t.kind == "f":
        info = np.finfo(t)
        most, least, tiny = float(info.max), float(info.tiny), float(info.smallest_subnormal)
        values = [0, 0.5, 1, 1.5, 2, 2.5, 3, 0.1, 170.5, 1e-4, 127, 128, 255, 256, 65535.7]
        values += [2.0**31, 2.0**63, 2.0**64, float(info.eps), most, least, tiny, np.inf, np.nan]
        return np.array([sign * value for value in values for sign in (1, -1)], t)
    info, bits = np.iinfo(t), 8 * t.itemsize
    values = [0, 1, 2, 3, 5, 7, 10, 61, 62, 63, bits - 1, bits, bits + 1, 2 ** (bits // 2), 100]
    values += [int(info.max), int(info.min), int(info.max) - 1, int(info.min) + 1, info.max // 2]
    values += [-value for value in values]
    return np.array(sorted({v for v in values if info.min <= v <= info.max}), t)


def random_values(rng: np.random.Generator, dtype: DataType, size: int) -> np.ndarray:
    """Return random values of all magnitudes."""
    t = dtype.np_type
    raw = rng.integers(0, 256, size * t.itemsize, np.uint8)
    if t.kind == "b":
        return raw < 128
    if t.kind == "f":
        scattered, near = raw.view(t), rng.normal(0, 4, size).astype(t)
        return np.where(rng.random(size) < 0.5, near, scattered)
    return raw.view(t) >> rng.integers(0, 8 * t.itemsize, size).astype(t)


# C++, compiled by g++


def cpp_source(chosen: Iterable[Case]) -> str:
    """Return a C++ source with each operator and a loop that applies it to arrays."""
    return "\n".join([cuda_prelude, _CPP_HEAD, *(_cpp_function(case) for case in chosen)])


# The sanitizer calls these handlers on undefined behavior; their data starts with the location.
_CPP_HEAD = """
struct SourceLocation { const char *file; unsigned line; unsigned column; };
extern "C" { unsigned undefined_count = 0; unsigned undefined_lines[256]; }
static void record(void *data) {
  if (undefined_count < 256) undefined_lines[undefined_count] = ((SourceLocation *)data)->line;
  undefined_count += 1;
}
""" + "\n".join(
    f'extern "C" void __ubsan_handle_{name}(void *data, ...) {{ record(data); }}'
    for name in (
        "add_overflow",
        "sub_overflow",
        "mul_overflow",
        "negate_overflow",
        "divrem_overflow",
        "shift_out_of_bounds",
        "float_cast_overflow",
        "load_invalid_value",
    )
)


def _cpp_function(case: Case) -> str:
    letters = list(case.parameters)
    arrays = ", ".join(
        f"const {dtype.c_type} *{letter}"
        for dtype, letter in zip(case.parameters.values(), letters, strict=True)
    )
    call = ", ".join(f"{letter}[k]" for letter in letters)
    result = case.typed.return_type.c_type
    return (
        f"{case.typed.source_cuda(case.symbol)}\n"
        f'extern "C" void run_{case.symbol}(long long n, {arrays}, {result} *out) {{\n'
        f"  for (long long k = 0; k < n; ++k) out[k] = {case.symbol}({call});\n"
        f"}}\n"
    )


class Library:
    """A loaded library of operators compiled by g++; it records undefined behavior."""

    def __init__(self, chosen: Iterable[Case], folder: Path):
        self.source = cpp_source(chosen)
        path = folder / "operators.cpp"
        path.write_text(self.source)
        _run("g++", *FLAGS, "-c", str(path), "-o", str(path.with_suffix(".o")))
        _run("g++", "-shared", str(path.with_suffix(".o")), "-o", str(path.with_suffix(".so")))
        self.loaded = ctypes.CDLL(str(path.with_suffix(".so")))

    def run(self, case: Case, *arrays: np.ndarray) -> np.ndarray:
        """Apply the operator to each row of the arrays."""
        out = np.zeros(len(arrays[0]), case.typed.return_type.np_type)
        kept = [np.ascontiguousarray(array) for array in (*arrays, out)]
        pointers = [array.ctypes.data_as(ctypes.c_void_p) for array in kept]
        self.loaded[f"run_{case.symbol}"](ctypes.c_longlong(len(out)), *pointers)
        return kept[-1]

    def undefined(self) -> list[str]:
        """Return the source lines whose behavior was undefined since the last call."""
        count = ctypes.c_uint.in_dll(self.loaded, "undefined_count")
        lines = (ctypes.c_uint * 256).in_dll(self.loaded, "undefined_lines")
        text = self.source.splitlines()
        places = sorted({lines[k] for k in range(min(count.value, 256))})
        count.value = 0
        return [text[line - 1].strip() for line in places]


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr[:4000]}"


# Numba


def numba_module(chosen: list[Case], folder: Path) -> ModuleType:
    """Return a module with the operators and a function `run_<group>` per group, for Numba."""
    from numba import njit

    lines = [numba_prelude]
    for case in chosen:
        lines += ["@inlined", case.typed.source_numba(case.symbol), ""]
    for k, group in enumerate(numba_groups(chosen)):
        lines += _numba_loop(f"run_{k}", group)
    source = "\n".join(lines)
    path = folder / "operators.py"
    path.write_text(source)
    module = ModuleType("operators")
    module.__dict__["inlined"] = njit(nogil=True, error_model="numpy")
    exec(compile(source, str(path), "exec"), module.__dict__)
    return module


def numba_groups(chosen: list[Case]) -> list[list[Case]]:
    """Group operators with the same parameters, at most 12 per compiled loop."""
    groups: list[list[Case]] = []
    for _, alike in itertools.groupby(sorted(chosen, key=_parameter_names), key=_parameter_names):
        cases_alike = list(alike)
        groups += [cases_alike[k : k + 12] for k in range(0, len(cases_alike), 12)]
    return groups


def _parameter_names(case: Case) -> tuple[str, ...]:
    return tuple(f"{name} {dtype}" for name, dtype in case.parameters.items())


def _numba_loop(name: str, group: list[Case]) -> list[str]:
    letters = list(group[0].parameters)
    outs = [f"out{k}" for k in range(len(group))]
    call = ", ".join(f"{letter}[k]" for letter in letters)
    return [
        "@inlined",
        f"def {name}({', '.join(letters + outs)}):",
        "    for k in range(len(x)):",
        *(
            f"        {out}[k] = {case.symbol}({call})"
            for out, case in zip(outs, group, strict=True)
        ),
        "",
    ]


# Comparison


def differences(
    case: Case, arrays: tuple[np.ndarray, ...], expected: np.ndarray, got: np.ndarray
) -> Iterator[str]:
    """Yield at most three messages about operands for which `expected` and `got` differ.

    Differences up to the operator's tolerance (`ulps`) are ignored.
    """
    wrong = ulps_apart(expected, got) > case.typed.ulps
    # Near the zeros of lgamma, the absolute error is small, but the relative error is not.
    if case.typed.name == "lgamma":
        with np.errstate(all="ignore"):
            apart = np.abs(expected - got) / np.finfo(expected.dtype).eps
        wrong &= ~((np.abs(expected) < 1) & (apart <= case.typed.ulps))
    for k in np.flatnonzero(wrong)[:3]:
        row = ", ".join(repr(array[k].item()) for array in arrays)
        yield f"{case.label}({row}): {expected[k]!r} in NumPy, {got[k]!r} printed"


def ulps_apart(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the distance in ulps: 0 for two NaNs, infinite for other different special values."""
    if x.dtype.kind != "f":
        return np.where(x == y, 0.0, np.inf)
    steps = np.abs(_rank(x) - _rank(y)).astype(np.float64)
    is_zero = (x == 0) & (y == 0) & (np.signbit(x) != np.signbit(y))
    is_special = is_zero | (~(np.isfinite(x) & np.isfinite(y)) & (x != y))
    return np.where(np.isnan(x) & np.isnan(y), 0.0, np.where(is_special, np.inf, steps))


def _rank(x: np.ndarray) -> np.ndarray:
    """Map floats to integers in the same order, in a type that can hold their differences."""
    integer = np.int32 if x.dtype.itemsize == 4 else np.int64
    bits = x.view(integer).astype(np.longdouble)
    return np.where(np.signbit(x), np.longdouble(np.iinfo(integer).min) - bits, bits)
